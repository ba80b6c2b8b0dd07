(** N4 step 5: two sequences in one cell have nearly equal attention outputs.

    For one head and one coordinate of its values: [Lambda] is the maximal
    weight, [a = sum lambda v / Lambda] and [q = sum lambda / Lambda] over the
    free positions, [C] and [K] the sums of lambda v and lambda over all others,
    [Q = Lambda q + K] the whole denominator, [y = (Lambda a + C) / Q] the output. *)

From Coq Require Import Reals List Lra Lia.
From Headcount Require Import Sums Algebra.
Open Scope R_scope.

(** y_1 - y_2 = (Lambda Delta a - y_2 Lambda Delta q) / Q. *)
Lemma output_difference Lambda a1 a2 q1 q2 C K :
  let Q1 := Lambda * q1 + K in let Q2 := Lambda * q2 + K in
  let y1 := (Lambda * a1 + C) / Q1 in let y2 := (Lambda * a2 + C) / Q2 in
  Q1 <> 0 -> Q2 <> 0 -> y1 - y2 = (Lambda * (a1 - a2) - y2 * (Lambda * (q1 - q2))) / Q1.
Proof. intros. subst y1 y2 Q1 Q2. field. auto. Qed.

(** A weighted average with positive weights is bounded like the values. *)
Lemma average_bound {P} (l : list P) lambda v B :
  l <> nil -> (forall p, In p l -> 0 < lambda p) -> (forall p, In p l -> Rabs (v p) <= B) ->
  Rabs (sum l (fun p => lambda p * v p) / sum l lambda) <= B.
Proof.
  intros Hl Hpos Hv. pose proof (sum_pos l lambda Hl Hpos) as HQ.
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ _)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, HQ).
  apply div_le; [exact HQ |]. eapply Rle_trans; [apply sum_abs |].
  rewrite <- sum_scal. apply sum_le. intros p Hp. specialize (Hpos p Hp). specialize (Hv p Hp).
  rewrite Rabs_mult, (Rabs_right (lambda p)) by lra. nra.
Qed.

Section OneHead.
Context {Position Token : Type}.
Variables (lambda v : Token -> Position -> R) (free rest : list Position).
Variables (z1 z2 w1 w2 : Position -> Token) (E tau g : nat) (Lambda : R).
Let everywhere := free ++ rest.

Definition weight_sum (l : list Position) (x : Position -> Token) := sum l (fun p => lambda (x p) p).
Definition value_sum (l : list Position) (x : Position -> Token) :=
  sum l (fun p => lambda (x p) p * v (x p) p).
Definition head_output x := value_sum everywhere x / weight_sum everywhere x.

(** Weights are positive, values bounded by sqrt(E). *)
Hypothesis weights_positive : forall x p, 0 < lambda x p.
Hypothesis values_bounded : forall x p, Rabs (v x p) <= sqrt (INR E).
(** T2.2-W: a free position holds z_1, z_2 or, where these agree, one common token;
    all other positions hold the same token in both sequences. *)
Hypothesis free_tokens : forall p, In p free ->
  (w1 p = z1 p /\ w2 p = z2 p) \/ (z1 p = z2 p /\ w1 p = w2 p).
Hypothesis rest_tokens : forall p, In p rest -> w1 p = w2 p.
(** One of the other positions holds a token of maximal weight [Lambda]. *)
Hypothesis maximal_inside : exists p, In p rest /\ lambda (w1 p) p = Lambda.
(** The n+1 numbers of z_1 and z_2 lie in one cell: the ranges [-sqrt(E) tau, sqrt(E) tau] and
    (0, tau] are cut into g parts. *)
Hypothesis g_positive : (0 < g)%nat.
Hypothesis same_value_cell :
  Rabs (value_sum free z1 / Lambda - value_sum free z2 / Lambda) <= 2 * sqrt (INR E) * INR tau / INR g.
Hypothesis same_weight_cell :
  Rabs (weight_sum free z1 / Lambda - weight_sum free z2 / Lambda) <= INR tau / INR g.

Lemma free_difference (f : Token -> Position -> R) :
  sum free (fun p => f (w1 p) p) - sum free (fun p => f (w2 p) p) =
  sum free (fun p => f (z1 p) p) - sum free (fun p => f (z2 p) p).
Proof.
  rewrite <- !sum_minus. apply sum_ext. intros p Hp.
  destruct (free_tokens p Hp) as [[-> ->] | [-> ->]]; ring.
Qed.

Lemma rest_equal (f : Token -> Position -> R) :
  sum rest (fun p => f (w1 p) p) = sum rest (fun p => f (w2 p) p).
Proof. apply sum_ext. intros p Hp. rewrite rest_tokens; auto. Qed.

(** N4 step 5: common tokens cancel, and the coordinate differs by at most 3 sqrt(E) tau / g. *)
Theorem same_cell_outputs_close :
  Rabs (head_output w1 - head_output w2) <= 3 * sqrt (INR E) * INR tau / INR g.
Proof.
  destruct maximal_inside as (p & Hp & HLambda).
  assert (HL : 0 < Lambda) by (rewrite <- HLambda; auto).
  assert (Hg : 0 < INR g) by (apply lt_0_INR; exact g_positive).
  assert (Hnil : everywhere <> nil) by (unfold everywhere; destruct free, rest; easy).
  set (K := weight_sum rest w1). set (C := value_sum rest w1).
  assert (HK : Lambda <= K).
  { rewrite <- HLambda. unfold K, weight_sum.
    apply (sum_term rest (fun p => lambda (w1 p) p)); [intros; apply Rlt_le |]; auto. }
  assert (Hfree : forall x, 0 <= weight_sum free x) by (intros; apply sum_nonneg; intros; apply Rlt_le; auto).
  assert (split : forall x, K = weight_sum rest x -> C = value_sum rest x ->
    head_output x = (Lambda * (value_sum free x / Lambda) + C) / (Lambda * (weight_sum free x / Lambda) + K)).
  { intros x EK EC. rewrite EK, EC. unfold head_output, everywhere, value_sum, weight_sum.
    rewrite !sum_app. f_equal; field_simplify; lra. }
  pose proof (average_bound everywhere (fun p => lambda (w2 p) p) (fun p => v (w2 p) p) (sqrt (INR E))
    Hnil (fun p _ => weights_positive _ p) (fun p _ => values_bounded _ p)) as Hy.
  fold (weight_sum everywhere w2) (value_sum everywhere w2) (head_output w2) in Hy.
  pose proof (split w1 eq_refl eq_refl) as E1.
  pose proof (split w2 (rest_equal lambda) (rest_equal (fun x p => lambda x p * v x p))) as E2.
  pose proof (output_difference Lambda (value_sum free w1 / Lambda) (value_sum free w2 / Lambda)
    (weight_sum free w1 / Lambda) (weight_sum free w2 / Lambda) C K) as D. cbv zeta in D.
  assert (positive : forall x, 0 < Lambda * (weight_sum free x / Lambda) + K).
  { intros x. replace (Lambda * (weight_sum free x / Lambda)) with (weight_sum free x) by (field; lra).
    pose proof (Hfree x). lra. }
  rewrite <- E1, <- E2 in D. rewrite D by apply Rgt_not_eq, positive.
  replace (value_sum free w1 / Lambda - value_sum free w2 / Lambda) with
    (value_sum free z1 / Lambda - value_sum free z2 / Lambda)
    by (unfold Rdiv; rewrite <- !Rmult_minus_distr_r; f_equal; symmetry;
        exact (free_difference (fun x p => lambda x p * v x p))).
  replace (weight_sum free w1 / Lambda - weight_sum free w2 / Lambda) with
    (weight_sum free z1 / Lambda - weight_sum free z2 / Lambda)
    by (unfold Rdiv; rewrite <- !Rmult_minus_distr_r; f_equal; symmetry; exact (free_difference lambda)).
  set (da := value_sum free z1 / Lambda - _) in *. set (dq := weight_sum free z1 / Lambda - _) in *.
  set (Q := Lambda * _ + K). assert (HQ : Lambda <= Q).
  { unfold Q. replace (Lambda * (weight_sum free w1 / Lambda)) with (weight_sum free w1) by (field; lra).
    pose proof (Hfree w1). lra. }
  unfold Rdiv at 1. rewrite Rabs_mult, (Rabs_right (/ Q)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat; lra).
  apply div_le; [lra |]. eapply Rle_trans; [apply Rabs_triang |].
  rewrite Rabs_Ropp, !Rabs_mult, (Rabs_right Lambda) by lra.
  pose proof (Rabs_pos da). pose proof (Rabs_pos dq). pose proof (sqrt_pos (INR E)) as Hs.
  assert (H1 : Rabs (head_output w2) * Rabs dq <= sqrt (INR E) * (INR tau / INR g))
    by (apply Rmult_le_compat; auto using Rabs_pos).
  replace (3 * sqrt (INR E) * INR tau / INR g) with
    (2 * sqrt (INR E) * INR tau / INR g + sqrt (INR E) * (INR tau / INR g)) by (field; lra).
  set (A := 2 * _ * _ / _) in *. set (B := sqrt (INR E) * _) in *.
  assert (0 <= Rabs (head_output w2) * Rabs dq) by (apply Rmult_le_pos; auto using Rabs_pos).
  apply Rle_trans with (Lambda * (A + B)); [nra |]. rewrite Rmult_comm. apply Rmult_le_compat_l; lra.
Qed.

End OneHead.

(** ** The output matrix *)

(** Entries of W_O at most 1: a coordinate of W_O Delta is at most E times the largest of Delta. *)
Lemma output_matrix {I} (coordinates : list I) (w delta : I -> R) B :
  (forall c, In c coordinates -> Rabs (w c) <= 1) -> (forall c, In c coordinates -> Rabs (delta c) <= B) ->
  Rabs (sum coordinates (fun c => w c * delta c)) <= INR (length coordinates) * B.
Proof.
  intros Hw Hd. eapply Rle_trans; [apply sum_abs |]. rewrite <- sum_const. apply sum_le.
  intros c Hc. rewrite Rabs_mult. specialize (Hw c Hc). specialize (Hd c Hc).
  pose proof (Rabs_pos (w c)). pose proof (Rabs_pos (delta c)). nra.
Qed.

(** N4 step 5, end: after W_O every coordinate differs by at most 3 E^(3/2) tau / g. *)
Theorem same_cell_readout_inputs_close {I} (coordinates : list I) (w delta : I -> R) (E tau g : nat) :
  length coordinates = E -> (0 < E)%nat -> (0 < g)%nat ->
  (forall c, In c coordinates -> Rabs (w c) <= 1) ->
  (forall c, In c coordinates -> Rabs (delta c) <= 3 * sqrt (INR E) * INR tau / INR g) ->
  Rabs (sum coordinates (fun c => w c * delta c)) <= 3 * Rpower (INR E) (3 / 2) * INR tau / INR g.
Proof.
  intros HE Epos Hg Hw Hd. pose proof (lt_0_INR E Epos) as HE'. pose proof (lt_0_INR g Hg).
  replace (3 / 2) with (1 + / 2) by field. rewrite Rpower_plus, Rpower_1, Rpower_sqrt by lra.
  eapply Rle_trans; [apply output_matrix; eassumption |]. rewrite HE. right. field. lra.
Qed.

(** sum |x_c| <= sqrt(n) |x|_2. *)
Lemma l1_le_l2 {I} (l : list I) (x : I -> R) :
  sum l (fun c => Rabs (x c)) <= sqrt (INR (length l)) * sqrt (sum l (fun c => x c ^ 2)).
Proof.
  set (n := INR (length l)). set (S := sum l (fun c => x c ^ 2)).
  assert (Hn : 0 <= n) by apply pos_INR.
  assert (HS : 0 <= S) by (apply sum_nonneg; intros; nra).
  assert (H : forall t, 0 < t -> t * sum l (fun c => Rabs (x c)) <= (S + n * t ^ 2) / 2).
  { intros t Ht. rewrite <- sum_scal. unfold n, S. rewrite <- sum_const, <- sum_plus.
    apply le_div; [lra |]. rewrite Rmult_comm, <- sum_scal. apply sum_le. intros c _.
    pose proof (pow2_ge_0 (Rabs (x c) - t)). rewrite <- (pow2_abs (x c)). simpl in *. nra. }
  assert (H0 : 0 <= sum l (fun c => Rabs (x c))) by (apply sum_nonneg; intros; apply Rabs_pos).
  rewrite <- sqrt_mult by assumption. rewrite <- (sqrt_pow2 _ H0). apply sqrt_le_1; [nra | nra |].
  pose proof (Rmult_le_pos _ _ Hn HS).
  set (A := sum l (fun c => Rabs (x c))) in *. destruct (Rle_lt_or_eq_dec 0 n Hn) as [Hn' | E].
  - destruct (Rle_lt_or_eq_dec 0 A H0) as [HA | <-]; [| lra].
    specialize (H (A / n) ltac:(apply Rdiv_lt_0_compat; lra)).
    replace (A / n * A) with (A ^ 2 / n) in H by (field; lra).
    replace (n * (A / n) ^ 2) with (A ^ 2 / n) in H by (field; lra).
    assert (H2 : A ^ 2 / n <= S) by lra. apply le_of_div in H2; lra.
  - assert (EA : A = 0); [| rewrite EA; lra]. unfold A, n in *. destruct l; [reflexivity |].
    cbn [length] in E. rewrite S_INR in E. pose proof (pos_INR (length l)). lra.
Qed.

(** T2.2-46 (eq 45-48) repaired: s heads of dimension n whose outputs differ by at most e in the
    Euclidean norm change every input of F by at most s sqrt(n) e (published: s e; see
    test_failures.v). *)
Theorem readout_inputs_close {H I} (heads : list H) (coordinates : list I) (w delta : H -> I -> R) e :
  (forall h c, Rabs (w h c) <= 1) ->
  (forall h, In h heads -> sqrt (sum coordinates (fun c => delta h c ^ 2)) <= e) ->
  Rabs (sum heads (fun h => sum coordinates (fun c => w h c * delta h c)))
  <= INR (length heads) * (sqrt (INR (length coordinates)) * e).
Proof.
  intros Hw Hd. eapply Rle_trans; [apply sum_abs |]. rewrite <- sum_const. apply sum_le.
  intros h Hh. eapply Rle_trans; [apply sum_abs |].
  apply Rle_trans with (sum coordinates (fun c => Rabs (delta h c))).
  - apply sum_le. intros c _. rewrite Rabs_mult. specialize (Hw h c).
    pose proof (Rabs_pos (delta h c)). nra.
  - eapply Rle_trans; [apply l1_le_l2 |]. apply Rmult_le_compat_l; [apply sqrt_pos | auto].
Qed.

Lemma euclidean_le {I} (l : list I) (x : I -> R) B :
  0 <= B -> (forall i, In i l -> Rabs (x i) <= B) -> euclidean l x <= sqrt (INR (length l)) * B.
Proof.
  intros HB Hx. rewrite <- (sqrt_pow2 B HB) at 1. rewrite <- sqrt_mult by (try apply pow2_ge_0; apply pos_INR).
  apply sqrt_le_1_alt. rewrite <- sum_const. apply sum_le. intros i Hi. specialize (Hx i Hi).
  pose proof (Rabs_pos (x i)). rewrite <- (pow2_abs (x i)). nra.
Qed.

(** T2.2-46 repaired, in the Euclidean norm: with E = n s inputs of F their distance is at most
    sqrt(E) s sqrt(n) e = n s^(3/2) e. *)
Theorem readout_inputs_close_euclidean {H I J} (heads : list H) (coordinates : list I) (inputs : list J)
    (w : J -> H -> I -> R) (delta : H -> I -> R) (n s : nat) e :
  length heads = s -> length coordinates = n -> length inputs = (n * s)%nat -> (0 < s)%nat -> 0 <= e ->
  (forall j h c, Rabs (w j h c) <= 1) ->
  (forall h, In h heads -> sqrt (sum coordinates (fun c => delta h c ^ 2)) <= e) ->
  sqrt (sum inputs (fun j => sum heads (fun h => sum coordinates (fun c => w j h c * delta h c)) ^ 2))
  <= sqrt (INR (n * s)) * (INR s * (sqrt (INR n) * e)) /\
  sqrt (INR (n * s)) * (INR s * (sqrt (INR n) * e)) = INR n * Rpower (INR s) (3 / 2) * e.
Proof.
  intros Hs Hn HE s_pos He Hw Hd. pose proof (lt_0_INR s s_pos). pose proof (pos_INR n). split.
  - rewrite <- HE. apply euclidean_le.
    + apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; [apply sqrt_pos | exact He].
    + intros j _. rewrite <- Hs, <- Hn. apply readout_inputs_close; auto.
  - replace (3 / 2) with (1 + / 2) by field. rewrite Rpower_plus, Rpower_1, Rpower_sqrt by lra.
    rewrite mult_INR, sqrt_mult by lra. rewrite <- (sqrt_sqrt (INR n)) at 3 by lra. ring.
Qed.

(** N4, the bound on the values: rows of W_V with entries at most 1 and |P|_2 <= 1 give values of
    magnitude at most sqrt(E). *)
Lemma value_bound {I} (embedding : list I) (w P : I -> R) :
  (forall c, In c embedding -> Rabs (w c) <= 1) -> sqrt (sum embedding (fun c => P c ^ 2)) <= 1 ->
  Rabs (sum embedding (fun c => w c * P c)) <= sqrt (INR (length embedding)).
Proof.
  intros Hw HP. eapply Rle_trans; [apply sum_abs |].
  apply Rle_trans with (sum embedding (fun c => Rabs (P c))).
  - apply sum_le. intros c Hc. rewrite Rabs_mult. specialize (Hw c Hc). pose proof (Rabs_pos (P c)). nra.
  - eapply Rle_trans; [apply l1_le_l2 |]. pose proof (sqrt_pos (INR (length embedding))). nra.
Qed.
