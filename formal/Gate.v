(** The position gate: N2, the counterexamples to the published gate, and T2.1-14 .. T2.1-18.

    Scores are -a_t on the positions [S] and -a_t - g on the positions [Sc]
    outside; the head's output [ztilde] should be the minimum of [a] over [S]. *)

From Coq Require Import Reals List Lra Lia Psatz.
From Headcount Require Import Sums Algebra Softmax.
Import ListNotations.
Open Scope R_scope.

Section Gate.
Context {I : Type}.
Variables (beta g : R) (S Sc : list I) (a r : I -> R).
Hypothesis beta_positive : 0 < beta.
Hypothesis gate_on : forall t, In t S -> r t = 0.
Hypothesis gate_off : forall t, In t Sc -> r t = - g.
Hypothesis a_range : forall t, In t (S ++ Sc) -> 0 <= a t <= 1.

Definition gated_output : R := attention beta (S ++ Sc) (fun t => - a t + r t) a.

Let w t := exp (beta * - a t).
Let A := sum S w.
Let B := exp (- (beta * g)) * sum Sc w.
Let X := sum S (fun t => w t * a t).
Let Y := exp (- (beta * g)) * sum Sc (fun t => w t * a t).

Lemma gated_output_eq : gated_output = (X + Y) / (A + B).
Proof.
  unfold gated_output, attention, X, Y, A, B, w. rewrite !sum_app. f_equal; f_equal.
  - apply sum_ext. intros t Ht. rewrite gate_on by exact Ht. do 2 f_equal. ring.
  - rewrite <- sum_scal. apply sum_ext. intros t Ht. rewrite gate_off, <- Rmult_assoc, <- exp_plus by exact Ht.
    do 2 f_equal. ring.
  - apply sum_ext. intros t Ht. rewrite gate_on by exact Ht. f_equal. ring.
  - rewrite <- sum_scal. apply sum_ext. intros t Ht. rewrite gate_off, <- exp_plus by exact Ht. f_equal. ring.
Qed.

Lemma outside_nonneg : 0 <= Y /\ Y <= B.
Proof.
  pose proof (exp_pos (- (beta * g))) as He. unfold Y, B. split.
  - apply Rmult_le_pos; [lra |]. apply sum_nonneg. intros t Ht. unfold w.
    pose proof (exp_pos (beta * - a t)). destruct (a_range t (in_or_app _ _ _ (or_intror Ht))). nra.
  - apply Rmult_le_compat_l; [lra |]. apply sum_le. intros t Ht. unfold w.
    pose proof (exp_pos (beta * - a t)). destruct (a_range t (in_or_app _ _ _ (or_intror Ht))). nra.
Qed.

(** T2.1-14 (any gate): the output is at most the Gibbs mean on S plus
    e^(-beta g) sum_Sc a e^(-beta a) / sum_S e^(-beta a). *)
Lemma gated_output_upper : S <> nil ->
  gated_output <= gibbs beta S a
    + exp (- (beta * g)) * sum Sc (fun t => a t * exp (beta * - a t)) / sum S (fun t => exp (beta * - a t)).
Proof.
  intros HS. pose proof (exp_sum_pos beta S (fun t => - a t) HS : 0 < A) as HA.
  destruct outside_nonneg as [HY HYB]. assert (HX : 0 <= X).
  { apply sum_nonneg. intros t Ht. unfold w. pose proof (exp_pos (beta * - a t)).
    destruct (a_range t (in_or_app _ _ _ (or_introl Ht))). nra. }
  rewrite gated_output_eq. unfold gibbs, attention.
  replace (exp (- (beta * g)) * sum Sc (fun t => a t * exp (beta * - a t))) with Y
    by (unfold Y, w; f_equal; apply sum_ext; intros; ring).
  change ((X + Y) / (A + B) <= X / A + Y / A). replace (X / A + Y / A) with ((X + Y) / A) by (field; lra).
  apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra.
Qed.

(** The weight that leaks outside S, relative to the weight of the minimum. *)
Lemma leak m : is_min S a m -> B <= INR (length Sc) * exp (- (beta * (g - 1))) * A.
Proof.
  intros [(t0 & Hin & Ht0) Hmin].
  assert (Hm : m <= 1).
  { rewrite <- Ht0. apply a_range. apply in_or_app. left. exact Hin. }
  assert (HA : exp (- beta * m) <= A).
  { replace (- beta * m) with (beta * - a t0) by (rewrite Ht0; ring).
    apply (sum_term S w); [intros; apply Rlt_le, exp_pos | exact Hin]. }
  assert (HB : sum Sc w <= INR (length Sc) * 1).
  { rewrite <- sum_const. apply sum_le. intros t Ht. unfold w. rewrite <- exp_0.
    destruct (a_range t (in_or_app _ _ _ (or_intror Ht))).
    destruct (Req_dec (a t) 0) as [-> |]; [right; f_equal; ring | left; apply exp_increasing; nra]. }
  assert (HE : exp (- (beta * g)) <= exp (- (beta * (g - 1))) * exp (- beta * m)).
  { rewrite <- exp_plus. destruct (Req_dec m 1) as [-> |]; [right; f_equal; ring | left; apply exp_increasing; nra]. }
  pose proof (exp_pos (- (beta * g))). pose proof (exp_pos (- (beta * (g - 1)))).
  pose proof (pos_INR (length Sc)). unfold B.
  apply Rle_trans with (exp (- (beta * g)) * INR (length Sc)); [apply Rmult_le_compat_l; lra |].
  rewrite Rmult_comm, Rmult_assoc. apply Rmult_le_compat_l; [assumption |].
  eapply Rle_trans; [exact HE |]. apply Rmult_le_compat_l; lra.
Qed.

(** N2: |ztilde - min_S a| <= W((|S|-1)/e)/beta + |Sc| e^(-beta (g-1)). The lower error is the leak
    alone. (The bound holds for every g; it tends to 0 as beta grows iff g > 1.) *)
Theorem gated_output_near_min m u :
  is_min S a m -> lambert ((INR (length S) - 1) / exp 1) u ->
  let tail := INR (length Sc) * exp (- (beta * (g - 1))) in
  m - tail <= gated_output <= m + u / beta + tail /\
  Rabs (gated_output - m) <= u / beta + tail.
Proof.
  intros Hm Hu tail. pose proof (is_min_nonempty S a m Hm) as HS.
  pose proof (exp_sum_pos beta S (fun t => - a t) HS : 0 < A) as HA.
  destruct outside_nonneg as [HY HYB]. pose proof (leak m Hm) as HB. fold tail in HB.
  destruct (softmin_gap beta S a m u beta_positive Hm Hu) as [Hlow Hup].
  unfold gibbs, attention in Hlow, Hup. change (0 <= X / A - m) in Hlow. change (X / A - m <= u / beta) in Hup.
  assert (E : X = X / A * A) by (field; lra). set (q := X / A) in *.
  assert (Hm01 : 0 <= m <= 1).
  { destruct Hm as [(t0 & Hin & Ht0) _]. rewrite <- Ht0. apply a_range, in_or_app. left. exact Hin. }
  assert (Htail : 0 <= tail) by (apply Rmult_le_pos; [apply pos_INR | apply Rlt_le, exp_pos]).
  assert (Hu0 : 0 <= u / beta) by lra.
  assert (bounds : m - tail <= gated_output <= m + u / beta + tail).
  { rewrite gated_output_eq, E. split.
    - apply le_div; [lra |]. assert (m * A <= q * A) by (apply Rmult_le_compat_r; lra). nra.
    - apply div_le; [lra |]. assert (q * A <= (m + u / beta) * A) by (apply Rmult_le_compat_r; lra).
      assert (0 <= (m + u / beta + tail) * B) by (apply Rmult_le_pos; lra). nra. }
  split; [exact bounds |]. apply Rabs_le. lra.
Qed.

End Gate.

(** ** The published gate g = 1 fails *)

(** T = 4, S = {1}, a = 1 on S and 0 elsewhere, gate -1 off S. *)
Definition bad_score (t : nat) : R := match t with 1%nat => 1 | _ => 0 end.
Definition bad_gate (t : nat) : R := match t with 1%nat => 0 | _ => -1 end.

(** N2, counterexample: with g = 1 the output is 1/4, the minimum 1, for every beta. *)
Theorem unit_gate_fails beta :
  gated_output beta [1%nat] [2%nat; 3%nat; 4%nat] bad_score bad_gate = 1 / 4 /\
  is_min [1%nat] bad_score 1.
Proof.
  split.
  - unfold gated_output, attention. simpl. replace (-0 + -1) with (- (1) + 0) by ring.
    pose proof (exp_pos (beta * (- (1) + 0))). field. lra.
  - split; [exists 1%nat; simpl; auto |]. intros t [<- | []]. simpl. lra.
Qed.

(** The same as a task: d = 1, f(x) = 4 (x - 1/2)^2, X = (0, 1/2, 1/2, 1/2). *)
Corollary unit_gate_fails_quadratic beta :
  let f x := 4 * (x - 1 / 2) ^ 2 in
  let X (t : nat) := match t with 1%nat => 0 | _ => 1 / 2 end in
  gated_output beta [1%nat] [2%nat; 3%nat; 4%nat] (fun t => f (X t)) bad_gate = 1 / 4 /\
  is_min [1%nat] (fun t => f (X t)) 1.
Proof.
  assert (E0 : 4 * (0 - 1 / 2) ^ 2 = 1) by field. assert (E2 : 4 * (1 / 2 - 1 / 2) ^ 2 = 0) by field.
  intros f X. unfold f, X. destruct (unit_gate_fails beta) as [H1 H2]. split.
  - rewrite <- H1. unfold gated_output, attention. cbn [sum app]. rewrite E0, E2. reflexivity.
  - split; [exists 1%nat; simpl; auto |]. intros t [<- | []]. rewrite E0. lra.
Qed.

(** So the lower half of T2.1-15 (which is that of T2.1-16) is false as published. *)
Theorem published_lower_half_false :
  ~ forall (I : Type) (beta : R) (S Sc : list I) (a r : I -> R) m, 1 <= beta ->
    (forall t, In t S -> r t = 0) -> (forall t, In t Sc -> r t = - (1)) ->
    (forall t, In t (S ++ Sc) -> 0 <= a t <= 1) -> is_min S a m ->
    m <= gated_output beta S Sc a r.
Proof.
  intros H. destruct (unit_gate_fails 1) as [E Hm].
  specialize (H nat 1 [1%nat] [2%nat; 3%nat; 4%nat] bad_score bad_gate 1 (Rle_refl 1)).
  rewrite E in H. assert (1 <= 1 / 4); [apply H | lra].
  - intros t [<- | []]. reflexivity.
  - intros t [<- | [<- | [<- | []]]]; simpl; lra.
  - intros t [<- | [<- | [<- | [<- | []]]]]; simpl; lra.
  - exact Hm.
Qed.

(** T2.1-17 as published is false: with the published gate, delta = 0 and T = 4 the error stays 3/4, but
    C_T (1/beta + e^-beta) tends to 0. *)
Theorem published_17_false :
  exists beta0, forall beta, beta0 < beta ->
  Rmax (4 / exp 1) 4 * (1 / beta + exp (- beta)) <
  Rabs (gated_output beta [1%nat] [2%nat; 3%nat; 4%nat] bad_score bad_gate - 1).
Proof.
  exists 16. intros beta Hbeta. destruct (unit_gate_fails beta) as [-> _].
  rewrite (Rabs_left (1 / 4 - 1)) by lra.
  pose proof (exp_ineq1_le 1). rewrite Rmax_right by (apply div_le; [apply exp_pos | lra]).
  assert (H1 : 1 / beta < 1 / 16).
  { unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_lt_contravar; [nra | exact Hbeta]. }
  assert (H2 : exp (- beta) < 1 / 16); [| lra].
  rewrite exp_Ropp. unfold Rdiv. rewrite Rmult_1_l. pose proof (exp_ineq1_le beta).
  apply Rinv_lt_contravar; [nra | lra].
Qed.

(** T2.1-leak as published is false: sum_S e^(-beta a) may be below 1, and for every beta > 1 the second
    term of T2.1-14 may exceed e^(-beta) |Sc|. *)
Theorem published_leak_false beta : 1 < beta -> exists (a : bool -> R),
  (forall t, 0 <= a t <= 1) /\ sum [true] (fun t => exp (beta * - a t)) < 1 /\
  exp (- beta) * INR 1 <
  exp (- beta) * sum [false] (fun t => a t * exp (beta * - a t)) / sum [true] (fun t => exp (beta * - a t)).
Proof.
  intros Hbeta. exists (fun t : bool => if t then 1 else / beta).
  assert (Hinv : 0 < / beta < 1).
  { split; [apply Rinv_0_lt_compat; lra |]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
  split; [intros []; lra | split].
  - simpl. rewrite Rplus_0_r. apply Rlt_le_trans with (exp 0); [apply exp_increasing | rewrite exp_0]; lra.
  - simpl. rewrite !Rplus_0_r. replace (beta * - (1)) with (- beta) by ring.
    replace (beta * - / beta) with (- (1)) by (field; lra).
    pose proof (exp_pos (- beta)).
    replace (exp (- beta) * (/ beta * exp (- (1))) / exp (- beta)) with (/ beta * exp (- (1))) by (field; lra).
    rewrite Rmult_1_r. (* beta e < e^beta *)
    assert (H1 : beta < exp (beta - 1)).
    { pose proof (exp_ineq1 (beta - 1)). lra. }
    replace (exp (- beta)) with (/ exp (beta - 1) * exp (- (1))) by (rewrite <- exp_Ropp, <- exp_plus; f_equal; ring).
    apply Rmult_lt_compat_r; [apply exp_pos |]. apply Rinv_lt_contravar; [| exact H1].
    apply Rmult_lt_0_compat; [lra | apply exp_pos].
Qed.

(** ** The repaired bounds *)

Section Repaired.
Context {I : Type}.
Variables (beta g : R) (S Sc : list I) (a r : I -> R) (m u : R).
Hypothesis beta_positive : 0 < beta.
Hypothesis gate_on : forall t, In t S -> r t = 0.
Hypothesis gate_off : forall t, In t Sc -> r t = - g.
Hypothesis a_range : forall t, In t (S ++ Sc) -> 0 <= a t <= 1.
Hypothesis minimum : is_min S a m.
Hypothesis lambert_value : lambert ((INR (length S) - 1) / exp 1) u.
Let T := INR (length (S ++ Sc)).

Lemma min_range : 0 <= m <= 1.
Proof. destruct minimum as [(t & Ht & <-) _]. apply a_range, in_or_app. left. exact Ht. Qed.

(** T2.1-leak repaired: sum_S e^(-beta a) >= e^(-beta min a) >= e^(-beta), and the attention that falls
    outside S is at most |Sc| e^(-beta (g-1)). *)
Theorem repaired_leak :
  exp (- (beta * m)) <= sum S (fun t => exp (beta * - a t)) /\ exp (- beta) <= exp (- (beta * m)) /\
  sum Sc (fun t => exp (beta * (- a t + r t))) / sum (S ++ Sc) (fun t => exp (beta * (- a t + r t)))
  <= INR (length Sc) * exp (- (beta * (g - 1))).
Proof.
  pose proof min_range as Hm. pose proof (is_min_nonempty S a m minimum) as HS.
  pose proof (exp_sum_pos beta S (fun t => - a t) HS) as HA.
  pose proof (leak beta g S Sc a beta_positive a_range m minimum) as HB.
  split; [| split].
  - destruct minimum as [(t0 & Hin & Ht0) _]. rewrite <- Ht0.
    replace (- (beta * a t0)) with (beta * - a t0) by ring.
    apply (sum_term S (fun t => exp (beta * - a t))); [intros; apply Rlt_le, exp_pos | exact Hin].
  - destruct (Req_dec m 1) as [-> |]; [right; f_equal; ring | left; apply exp_increasing; nra].
  - rewrite sum_app.
    rewrite (sum_ext Sc _ (fun t => exp (- (beta * g)) * exp (beta * - a t)))
      by (intros t Ht; rewrite gate_off, <- exp_plus by exact Ht; f_equal; ring).
    rewrite (sum_ext S _ (fun t => exp (beta * - a t)))
      by (intros t Ht; rewrite gate_on by exact Ht; f_equal; ring).
    rewrite sum_scal. assert (0 <= exp (- (beta * g)) * sum Sc (fun t => exp (beta * - a t))).
    { apply Rmult_le_pos; [apply Rlt_le, exp_pos |]. apply sum_nonneg. intros. apply Rlt_le, exp_pos. }
    assert (0 <= INR (length Sc) * exp (- (beta * (g - 1))))
      by (apply Rmult_le_pos; [apply pos_INR | apply Rlt_le, exp_pos]).
    apply div_le; nra.
Qed.

(** T2.1-17 repaired: if a is within delta of f on S and zbar = min_S f, then
    |ztilde - zbar| <= delta + W((|S|-1)/e)/beta + |Sc| e^(-beta (g-1)). *)
Theorem repaired_17 (f : I -> R) zbar delta :
  (forall t, In t S -> Rabs (f t - a t) <= delta) -> is_min S f zbar ->
  Rabs (gated_output beta S Sc a r - zbar) <= delta + u / beta + INR (length Sc) * exp (- (beta * (g - 1))).
Proof.
  intros Hf Hz.
  destruct (gated_output_near_min beta g S Sc a r beta_positive gate_on gate_off a_range m u minimum lambert_value)
    as [_ H].
  assert (Ha : forall t, In t S -> Rabs (a t - f t) <= delta) by (intros; rewrite Rabs_minus_sym; auto).
  pose proof (is_min_close S a f m zbar delta Ha minimum Hz).
  replace (gated_output beta S Sc a r - zbar) with ((gated_output beta S Sc a r - m) + (m - zbar)) by ring.
  eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

(** *** Gate 2 *)
Hypothesis gate_2 : g = 2.

(** T2.1-15 with gate 2: min - T e^(-beta) <= ztilde <= min + (|S|-1)/(e beta) + T e^(-beta). *)
Lemma repaired_15_gate_2 :
  m - T * exp (- beta) <= gated_output beta S Sc a r
  <= m + (INR (length S) - 1) / (exp 1 * beta) + T * exp (- beta).
Proof.
  pose proof (is_min_nonempty S a m minimum) as HS.
  destruct (gated_output_near_min beta g S Sc a r beta_positive gate_on gate_off a_range m u minimum lambert_value)
    as [H _].
  rewrite gate_2 in H. replace (beta * (2 - 1)) with beta in H by ring.
  pose proof (lambert_le_self _ u (count_nonneg S HS) lambert_value) as Hle.
  apply (Rmult_le_compat_r (/ beta)) in Hle; [| apply Rlt_le, Rinv_0_lt_compat, beta_positive].
  assert (Htail : INR (length Sc) * exp (- beta) <= T * exp (- beta)).
  { apply Rmult_le_compat_r; [apply Rlt_le, exp_pos |]. apply le_INR. rewrite app_length. lia. }
  pose proof (exp_pos 1).
  replace ((INR (length S) - 1) / (exp 1 * beta)) with ((INR (length S) - 1) / exp 1 * / beta) by (field; lra).
  fold (u / beta) in Hle. lra.
Qed.

(** T2.1-16 repaired: with gate 2, |ztilde - min| <= T (1/beta + e^(-beta)); and max(T/e, T) = T. *)
Theorem repaired_16 :
  Rabs (gated_output beta S Sc a r - m) <= T * (1 / beta + exp (- beta)) /\ Rmax (T / exp 1) T = T.
Proof.
  destruct repaired_15_gate_2 as [Hlow Hup].
  pose proof (exp_ineq1_le 1) as He. pose proof (exp_pos (- beta)).
  assert (HT : 0 <= T) by apply pos_INR.
  pose proof (Rinv_0_lt_compat beta beta_positive). assert (0 < 1 / beta) by lra.
  assert (Hgap : (INR (length S) - 1) / (exp 1 * beta) <= T * (1 / beta)).
  { replace ((INR (length S) - 1) / (exp 1 * beta)) with ((INR (length S) - 1) / exp 1 * (1 / beta)) by (field; lra).
    apply Rmult_le_compat_r; [lra |]. apply div_le; [lra |].
    assert (INR (length S) <= T) by (apply le_INR; rewrite app_length; lia). nra. }
  split; [apply Rabs_le; nra |]. apply Rmax_right, div_le; [apply exp_pos | nra].
Qed.

(** T2.1-18 repaired: every parameter as printed (C_T = T), gate 2 in place of 1. *)
Theorem gate_2_error (f : I -> R) zbar delta eps L0 D : 0 < eps -> 0 < L0 -> 0 < D ->
  1 <= beta -> 4 * T * L0 * D / eps <= beta -> ln (4 * T * L0 * D / eps) <= beta -> delta = eps / (4 * L0 * D) ->
  (forall t, In t S -> Rabs (f t - a t) <= delta) -> is_min S f zbar ->
  Rabs (gated_output beta S Sc a r - zbar) <= (1 / 4 + 1 / (2 * exp 1)) * eps / (L0 * D) /\
  (1 / 4 + 1 / (2 * exp 1)) * eps / (L0 * D) < eps / (2 * L0 * D).
Proof.
  intros Heps HL HD Hb1 Hb2 _ Hdelta Hf Hz. pose proof (is_min_nonempty S a m minimum) as HS.
  pose proof (exp_pos 1) as He. assert (He2 : 2 < exp 1) by (apply (exp_ineq1 1); lra).
  assert (HLD : 0 < L0 * D) by (apply Rmult_lt_0_compat; lra). set (q := eps / (L0 * D)).
  assert (Hq : 0 < q) by (apply Rdiv_lt_0_compat; lra).
  replace ((1 / 4 + 1 / (2 * exp 1)) * eps / (L0 * D)) with (q / 4 + q / exp 1 / 2) by (unfold q; field; lra).
  replace (eps / (2 * L0 * D)) with (q / 2) by (unfold q; field; lra).
  replace (eps / (4 * L0 * D)) with (q / 4) in Hdelta by (unfold q; field; lra).
  assert (Hqe : 0 < q / exp 1) by (apply Rdiv_lt_0_compat; lra). split.
  - pose proof (repaired_17 f zbar delta Hf Hz) as H. rewrite gate_2, Hdelta in H.
    replace (beta * (2 - 1)) with beta in H by ring.
    pose proof (lambert_le_self _ u (count_nonneg S HS) lambert_value) as Hu.
    assert (Htail : exp (- beta) <= 1 / exp 1 * / beta).
    { (* beta <= e^(beta - 1) *)
      pose proof (exp_ineq1_le (beta - 1)) as Hx. replace (1 + (beta - 1)) with beta in Hx by ring.
      replace (beta - 1) with (beta + - (1)) in Hx by ring. rewrite exp_plus, exp_Ropp in Hx.
      rewrite exp_Ropp. pose proof (exp_pos beta) as Hb. apply Rmult_le_reg_r with (exp beta * beta); [nra |].
      replace (/ exp beta * (exp beta * beta)) with beta by (field; lra).
      replace (1 / exp 1 * / beta * (exp beta * beta)) with (exp beta * / exp 1) by (field; lra). exact Hx. }
    assert (Hcount : T = INR (length S) + INR (length Sc)) by (unfold T; rewrite app_length, plus_INR; reflexivity).
    assert (Hinv : 0 < / beta) by (apply Rinv_0_lt_compat; lra).
    assert (Hshare : T * / beta <= q / 4).
    { apply le_of_div in Hb2; [| exact Heps]. apply Rmult_le_reg_r with (4 * (L0 * D) * beta); [nra |].
      replace (T * / beta * (4 * (L0 * D) * beta)) with (4 * T * L0 * D) by (field; lra).
      replace (q / 4 * (4 * (L0 * D) * beta)) with (beta * eps) by (unfold q; field; lra). exact Hb2. }
    assert (Hgap : u / beta + INR (length Sc) * exp (- beta) <= T * / beta * / exp 1).
    { pose proof (pos_INR (length Sc)). rewrite Hcount.
      assert (H1 : u / beta <= (INR (length S) - 1) / exp 1 * / beta) by (apply Rmult_le_compat_r; lra).
      assert (H2 : INR (length Sc) * exp (- beta) <= INR (length Sc) * (1 / exp 1 * / beta))
        by (apply Rmult_le_compat_l; assumption).
      assert (0 < / exp 1 * / beta) by (apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat |]; lra).
      replace ((INR (length S) + INR (length Sc)) * / beta * / exp 1) with
        ((INR (length S) - 1) / exp 1 * / beta + INR (length Sc) * (1 / exp 1 * / beta) + / exp 1 * / beta)
        by (field; lra). lra. }
    assert (T * / beta * / exp 1 <= q / 4 * / exp 1)
      by (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat |]; lra).
    replace (q / 4 * / exp 1) with (q / exp 1 / 4) in * by (field; lra). lra.
  - assert (q / exp 1 < q / 2); [| lra]. apply Rmult_lt_compat_l; [exact Hq |]. apply Rinv_lt_contravar; lra.
Qed.

End Repaired.

(** Another repair of T2.1-18, with gate 1's own budget: with delta = eps/(6 L_0 D) and
    beta >= max(1, 6 C_T L_0 D/eps, log(6 C_T L_0 D/eps)) the bound delta + C_T (1/beta + e^(-beta)) is at
    most eps/(2 L_0 D). *)
Theorem repaired_18 beta eps L0 D CT : 0 < eps -> 0 < L0 -> 0 < D -> 0 < CT ->
  1 <= beta -> 6 * CT * L0 * D / eps <= beta -> ln (6 * CT * L0 * D / eps) <= beta ->
  eps / (6 * L0 * D) + CT * (1 / beta + exp (- beta)) <= eps / (2 * L0 * D).
Proof.
  intros Heps HL HD HCT Hb1 Hb2 Hb3. assert (Hbeta : 0 < beta) by lra.
  assert (HLD : 0 < L0 * D) by (apply Rmult_lt_0_compat; lra).
  set (q := eps / (6 * L0 * D)). assert (Hq : 0 < q) by (apply Rdiv_lt_0_compat; lra).
  assert (E : 6 * CT * L0 * D / eps = CT / q) by (unfold q; field; lra). rewrite E in *.
  replace (eps / (2 * L0 * D)) with (3 * q) by (unfold q; field; lra).
  assert (H1 : CT * (1 / beta) <= q).
  { replace (CT * (1 / beta)) with (CT / beta) by (field; lra). apply div_le; [exact Hbeta |].
    apply le_of_div in Hb2; [lra | exact Hq]. }
  assert (H2 : CT * exp (- beta) <= q).
  { rewrite exp_Ropp. apply div_le; [apply exp_pos |]. rewrite Rmult_comm. apply le_of_div; [exact Hq |].
    rewrite <- (exp_ln (CT / q)) by (apply Rdiv_lt_0_compat; lra).
    destruct Hb3 as [Hb3 | ->]; [left; apply exp_increasing, Hb3 | right; reflexivity]. }
  lra.
Qed.

(** T2.1-18 as published is false: with 4 in place of 6, eps = 4, L_0 = D = 1, C_T = 1, beta = 1 (so that
    every hypothesis holds with equality or log 1 = 0) the left side is 2 + 1/e > 2. *)
Theorem published_18_false : ~ forall beta eps L0 D CT : R, 0 < eps -> 0 < L0 -> 0 < D -> 1 <= CT ->
  1 <= beta -> 4 * CT * L0 * D / eps <= beta -> ln (4 * CT * L0 * D / eps) <= beta ->
  eps / (4 * L0 * D) + CT * (1 / beta + exp (- beta)) <= eps / (2 * L0 * D).
Proof.
  intros H. specialize (H 1 4 1 1 1). replace (4 * 1 * 1 * 1 / 4) with 1 in H by field. rewrite ln_1 in H.
  pose proof (exp_pos (- (1))). lra.
Qed.
