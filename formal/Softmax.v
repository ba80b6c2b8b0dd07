(** How far a softmin lies above the minimum: T2.1-gibbs, N1 (sharp, with the Lambert function) and the
    log N bound.

    The Lambert function appears as a relation: [lambert z u] says u e^u = z. *)

From Coq Require Import Reals List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Cells.
Import ListNotations.
Open Scope R_scope.

Section Definitions.
Context {I : Type}.
Implicit Types (l : list I) (score value a : I -> R).

(** sum_t exp(beta rho(t)) v(t) / sum_t exp(beta rho(t)). *)
Definition attention (beta : R) l score value : R :=
  sum l (fun t => exp (beta * score t) * value t) / sum l (fun t => exp (beta * score t)).

(** The Gibbs mean sum a_t e^(-beta a_t) / sum e^(-beta a_t). *)
Definition gibbs (beta : R) l a : R := attention beta l (fun t => - a t) a.

Definition is_min l a (m : R) : Prop := (exists t, In t l /\ a t = m) /\ forall t, In t l -> m <= a t.

Lemma exp_sum_pos beta l score : l <> nil -> 0 < sum l (fun t => exp (beta * score t)).
Proof. intros H. apply sum_pos; [exact H |]. intros. apply exp_pos. Qed.

Lemma is_min_nonempty l a m : is_min l a m -> l <> nil.
Proof. intros [(t & Ht & _) _] ->. destruct Ht. Qed.

(** The minimum is 1-Lipschitz in the sup norm (L1.7). *)
Lemma is_min_close l a b m m' delta : (forall t, In t l -> Rabs (a t - b t) <= delta) ->
  is_min l a m -> is_min l b m' -> Rabs (m - m') <= delta.
Proof.
  intros H [(t0 & Ht0 & <-) Hm] [(t1 & Ht1 & <-) Hm'].
  pose proof (H t0 Ht0) as H0. pose proof (H t1 Ht1) as H1. specialize (Hm t1 Ht1). specialize (Hm' t0 Ht0).
  apply Rabs_le_between in H0. apply Rabs_le_between in H1. apply Rabs_le. lra.
Qed.

Lemma is_min_exists l a : l <> nil -> exists m, is_min l a m.
Proof.
  induction l as [| t [| t' l] IH]; intros Hne; [easy | |].
  - exists (a t). split; [exists t; simpl; auto |]. intros s [<- | []]. lra.
  - destruct IH as (m & (t0 & Hin & E) & Hm); [easy |]. destruct (Rle_lt_dec (a t) m).
    + exists (a t). split; [exists t; simpl; auto |]. intros s [<- | Hs]; [lra |]. specialize (Hm s Hs). lra.
    + exists m. split; [exists t0; simpl in *; auto |]. intros s [<- | Hs]; [lra | auto].
Qed.

(** An average lies between bounds of the values. *)
Lemma attention_between beta l score value lower upper : l <> nil ->
  (forall t, In t l -> lower <= value t <= upper) -> lower <= attention beta l score value <= upper.
Proof.
  intros Hl H. pose proof (exp_sum_pos beta l score Hl) as HQ. unfold attention. split.
  - apply le_div; [exact HQ |]. rewrite <- sum_scal. apply sum_le. intros t Ht.
    specialize (H t Ht). pose proof (exp_pos (beta * score t)). nra.
  - apply div_le; [exact HQ |]. rewrite <- sum_scal. apply sum_le. intros t Ht.
    specialize (H t Ht). pose proof (exp_pos (beta * score t)). nra.
Qed.

End Definitions.

(** ** The Lambert function *)

Definition lambert (z u : R) : Prop := u * exp u = z.

Lemma lambert_nonneg z u : 0 <= z -> lambert z u -> 0 <= u.
Proof. unfold lambert. intros Hz H. pose proof (exp_pos u). nra. Qed.

(** For z >= 0 exactly one real u satisfies u e^u = z. *)
Theorem lambert_exists_unique z : 0 <= z -> exists! u, lambert z u.
Proof.
  intros Hz.
  assert (increasing : forall u v, 0 <= u < v -> u * exp u < v * exp v).
  { intros u v [Hu Huv]. pose proof (exp_increasing u v Huv). pose proof (exp_pos u). nra. }
  assert (root : exists u, lambert z u).
  { destruct (IVT_cor (fun u => u * exp u - z) 0 z) as (u & _ & Hu).
    - intros x. apply continuity_pt_minus; [| apply continuity_pt_const; easy].
      apply continuity_pt_mult; [apply continuity_pt_id | apply derivable_continuous_pt, derivable_pt_exp].
    - exact Hz.
    - rewrite exp_0. assert (0 <= z * exp z - z); [| nra].
      pose proof (exp_ineq1_le z). nra.
    - exists u. unfold lambert. lra. }
  destruct root as (u & Hu). exists u. split; [exact Hu |]. intros v Hv.
  pose proof (lambert_nonneg z u Hz Hu). pose proof (lambert_nonneg z v Hz Hv). unfold lambert in *.
  destruct (Rtotal_order u v) as [Huv | [E | Huv]]; [| exact E |].
  - pose proof (increasing u v (conj H Huv)). lra.
  - pose proof (increasing v u (conj H0 Huv)). lra.
Qed.

(** The value for N numbers: u e^u = (N-1)/e, that is N - 1 = u e^(1+u). *)
Lemma lambert_count N u : lambert ((N - 1) / exp 1) u -> N - 1 = u * exp (1 + u).
Proof.
  unfold lambert. intros H. pose proof (exp_pos 1). rewrite exp_plus.
  replace (u * (exp 1 * exp u)) with (exp 1 * (u * exp u)) by ring. rewrite H. field. lra.
Qed.

Lemma count_nonneg {I} (l : list I) : l <> nil -> 0 <= (INR (length l) - 1) / exp 1.
Proof.
  intros Hl. apply div_nonneg; [| apply exp_pos]. destruct l; [easy |].
  cbn [length]. rewrite S_INR. pose proof (pos_INR (length l)). lra.
Qed.

(** ** N1: the sharp gap *)

(** N1, bound: for any numbers (in [0,1] or not), beta > 0, u e^u = (N-1)/e, the Gibbs mean exceeds the
    minimum by at most u/beta. *)
Theorem softmin_gap {I} beta (l : list I) a m u :
  0 < beta -> is_min l a m -> lambert ((INR (length l) - 1) / exp 1) u ->
  0 <= gibbs beta l a - m <= u / beta.
Proof.
  intros Hbeta Hmin Hu. pose proof (is_min_nonempty l a m Hmin) as Hl.
  pose proof (lambert_nonneg _ u (count_nonneg l Hl) Hu) as Hu0. apply lambert_count in Hu.
  destruct Hmin as [(t0 & Hin & Ht0) Hmin]. pose proof (exp_sum_pos beta l (fun t => - a t) Hl) as HQ.
  unfold gibbs, attention. split.
  - assert (m <= sum l (fun t => exp (beta * - a t) * a t) / sum l (fun t => exp (beta * - a t))); [| lra].
    apply le_div; [exact HQ |]. rewrite <- sum_scal. apply sum_le. intros t Ht.
    specialize (Hmin t Ht). pose proof (exp_pos (beta * - a t)). nra.
  - assert (sum l (fun t => exp (beta * - a t) * a t) / sum l (fun t => exp (beta * - a t)) <= m + u / beta);
      [| lra].
    apply div_le; [exact HQ |].
    (* with y = beta (a - m): the claim is sum (y - u) e^-y <= 0; each term is at most e^-(1+u), the minimal one -u *)
    set (term := fun t => exp (beta * - a t) * (beta * (a t - m) - u)).
    assert (Hterm : forall t, term t <= exp (- (beta * m)) * exp (- (1 + u))).
    { intros t. unfold term. rewrite <- exp_plus.
      replace (exp (- (beta * m) + - (1 + u))) with
        (exp (beta * - a t) * exp (beta * (a t - m) - u - 1)) by (rewrite <- exp_plus; f_equal; ring).
      apply Rmult_le_compat_l; [apply Rlt_le, exp_pos |].
      pose proof (exp_ineq1_le (beta * (a t - m) - u - 1)). lra. }
    assert (Htotal : sum l term <= 0).
    { destruct (in_split t0 l Hin) as (l1 & l2 & ->). rewrite app_length in Hu. cbn [length] in Hu.
      rewrite sum_app. cbn [sum].
      pose proof (sum_le l1 term _ (fun t _ => Hterm t)) as H1.
      pose proof (sum_le l2 term _ (fun t _ => Hterm t)) as H2. rewrite sum_const in H1, H2.
      assert (E : term t0 = exp (- (beta * m)) * - u).
      { unfold term. rewrite Ht0. f_equal; [f_equal |]; ring. }
      rewrite plus_INR, S_INR in Hu.
      assert (E' : (INR (length l1) + INR (length l2)) * exp (- (1 + u)) = u).
      { replace (INR (length l1) + INR (length l2)) with (u * exp (1 + u)) by lra.
        rewrite Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. ring. }
      rewrite E, <- E'. lra. }
    assert (E : sum l term = beta * sum l (fun t => exp (beta * - a t) * a t)
                             - (beta * m + u) * sum l (fun t => exp (beta * - a t))).
    { rewrite <- !sum_scal, <- sum_minus. apply sum_ext. intros. unfold term. ring. }
    rewrite E in Htotal. apply (Rmult_le_reg_l beta); [exact Hbeta |].
    replace (beta * ((m + u / beta) * sum l (fun t => exp (beta * - a t)))) with
      ((beta * m + u) * sum l (fun t => exp (beta * - a t))) by (field; lra). lra.
Qed.

(** The numbers 0, y/beta, ..., y/beta. *)
Definition one_below (y beta : R) (t : nat) : R := match t with O => 0 | _ => y / beta end.

(** N1, attainment: if beta >= 1 + u, the numbers 0, (1+u)/beta, ..., (1+u)/beta of [0,1] have the gap
    u/beta. *)
Theorem softmin_gap_attained beta N u :
  (1 <= N)%nat -> lambert ((INR N - 1) / exp 1) u -> 1 + u <= beta ->
  let a := one_below (1 + u) beta in
  (forall t, 0 <= a t <= 1) /\ is_min (seq 0 N) a 0 /\ gibbs beta (seq 0 N) a = u / beta.
Proof.
  intros HN Hu Hbeta a. destruct N as [| N]; [lia |].
  assert (Hcount := count_nonneg (seq 0 (S N)) ltac:(discriminate)). rewrite seq_length in Hcount.
  pose proof (lambert_nonneg _ u Hcount Hu) as Hu0. apply lambert_count in Hu. rewrite S_INR in Hu.
  assert (Ha : forall t, 0 <= a t <= 1).
  { intros [| t]; unfold a; simpl; [lra |]. split; [apply div_nonneg | apply div_le]; lra. }
  split; [exact Ha | split].
  - split; [exists 0%nat; split; [left |]; reflexivity | intros; apply Ha].
  - unfold gibbs, attention. cbn [seq sum].
    assert (const : forall f : nat -> R, (forall t, (0 < t)%nat -> f t = f 1%nat) -> sum (seq 1 N) f = INR N * f 1%nat).
    { intros f Hf. rewrite <- (seq_length N 1) at 2. rewrite <- sum_const. apply sum_ext.
      intros t Ht. apply in_seq in Ht. apply Hf. lia. }
    rewrite !const by (intros [| t]; [lia | reflexivity]). unfold a. simpl one_below.
    replace (beta * - ((1 + u) / beta)) with (- (1 + u)) by (field; lra).
    rewrite Ropp_0, !Rmult_0_r, exp_0. pose proof (exp_pos (- (1 + u))).
    assert (E : INR N * exp (- (1 + u)) = u).
    { replace (INR N) with (u * exp (1 + u)) by lra.
      rewrite Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. ring. }
    replace (INR N * (exp (- (1 + u)) * ((1 + u) / beta))) with
      (INR N * exp (- (1 + u)) * ((1 + u) / beta)) by ring.
    rewrite E. field. lra.
Qed.

(** The gaps that N numbers of [0,1] can have. *)
Definition softmin_gaps (beta : R) (N : nat) (gap : R) : Prop :=
  exists a m, (forall t, (t < N)%nat -> 0 <= a t <= 1) /\ is_min (seq 0 N) a m /\
  gap = gibbs beta (seq 0 N) a - m.

(** N1: for beta >= 1 + W((N-1)/e) the largest gap is exactly W((N-1)/e)/beta, and it is attained. *)
Corollary softmin_gap_sharp beta N u :
  (1 <= N)%nat -> lambert ((INR N - 1) / exp 1) u -> 1 + u <= beta ->
  is_lub (softmin_gaps beta N) (u / beta) /\ softmin_gaps beta N (u / beta).
Proof.
  intros HN Hu Hbeta. destruct (softmin_gap_attained beta N u HN Hu Hbeta) as (Ha & Hmin & E).
  assert (attained : softmin_gaps beta N (u / beta)).
  { exists (one_below (1 + u) beta), 0. split; [auto | split; [exact Hmin |]]. rewrite E. ring. }
  split; [| exact attained]. split; [| intros b Hb; apply Hb, attained].
  intros gap (a & m & _ & Hm & ->). rewrite <- (seq_length N 0) in Hu.
  apply softmin_gap; [| exact Hm | exact Hu].
  pose proof (lambert_nonneg _ u (count_nonneg _ (is_min_nonempty _ _ _ Hm)) Hu). lra.
Qed.

(** ** Weaker forms *)

(** The Lambert value is at most log N ... *)
Lemma lambert_le_log N u : 1 <= N -> lambert ((N - 1) / exp 1) u -> u <= ln N.
Proof.
  intros HN Hu. assert (Hz : 0 <= (N - 1) / exp 1) by (apply div_nonneg; [lra | apply exp_pos]).
  pose proof (lambert_nonneg _ u Hz Hu). apply lambert_count in Hu. rewrite exp_plus in Hu.
  rewrite <- (ln_exp u). apply ln_le; [apply exp_pos |].
  (* e^u (1 - u) <= 1, and e >= 1 *)
  pose proof (exp_ineq1_le (- u)). pose proof (exp_pos u). pose proof (exp_ineq1_le 1).
  assert (E : exp u * exp (- u) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (exp u * (1 - u) <= 1) by (rewrite <- E; apply Rmult_le_compat_l; lra).
  assert (0 <= u * exp u * (exp 1 - 1)) by (apply Rmult_le_pos; [apply Rmult_le_pos |]; lra). lra.
Qed.

(** ... and at most (N-1)/e. *)
Lemma lambert_le_self z u : 0 <= z -> lambert z u -> u <= z.
Proof.
  intros Hz Hu. pose proof (lambert_nonneg z u Hz Hu). unfold lambert in Hu.
  pose proof (exp_ineq1_le u). nra.
Qed.

(** The folklore bound beside N1: the gap is at most log(N)/beta. *)
Corollary softmin_gap_log {I} beta (l : list I) a m :
  0 < beta -> is_min l a m -> gibbs beta l a - m <= ln (INR (length l)) / beta.
Proof.
  intros Hbeta Hm. pose proof (is_min_nonempty l a m Hm) as Hl.
  destruct (lambert_exists_unique _ (count_nonneg l Hl)) as (u & Hu & _).
  destruct (softmin_gap beta l a m u Hbeta Hm Hu) as [_ H]. eapply Rle_trans; [exact H |].
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Hbeta |]. apply lambert_le_log; [| exact Hu].
  destruct l; [easy |]. cbn [length]. rewrite S_INR. pose proof (pos_INR (length l)). lra.
Qed.

(** T2.1-gibbs: for beta >= 1 (here for beta > 0) the Gibbs mean on S is at most
    min_S a + (|S|-1)/(e beta). *)
Corollary softmin_gap_published {I} beta (l : list I) a m :
  0 < beta -> is_min l a m -> gibbs beta l a <= m + (INR (length l) - 1) / (exp 1 * beta).
Proof.
  intros Hbeta Hm. pose proof (is_min_nonempty l a m Hm) as Hl.
  destruct (lambert_exists_unique _ (count_nonneg l Hl)) as (u & Hu & _).
  destruct (softmin_gap beta l a m u Hbeta Hm Hu) as [_ H].
  pose proof (lambert_le_self _ u (count_nonneg l Hl) Hu) as Hle. pose proof (exp_pos 1).
  apply (Rmult_le_compat_r (/ beta)) in Hle; [| apply Rlt_le, Rinv_0_lt_compat, Hbeta].
  replace ((INR (length l) - 1) / (exp 1 * beta)) with ((INR (length l) - 1) / exp 1 * / beta) by (field; lra).
  unfold Rdiv in H at 1. lra.
Qed.

(** T2.1-gibbs, its reason: sup over 0 <= b <= 1 of b e^(-beta b) is 1/(e beta), for beta >= 1. *)
Lemma gibbs_term_sup beta : 1 <= beta ->
  is_lub (fun y => exists b, 0 <= b <= 1 /\ y = b * exp (- (beta * b))) (1 / (exp 1 * beta)).
Proof.
  intros Hbeta. pose proof (exp_pos 1). split.
  - intros y (b & Hb & ->). apply le_div; [nra |].
    replace (b * exp (- (beta * b)) * (exp 1 * beta)) with (beta * b * exp (1 - beta * b))
      by (unfold Rminus; rewrite exp_plus; ring).
    pose proof (exp_ineq1_le (beta * b - 1)). pose proof (exp_pos (1 - beta * b)).
    assert (E : exp (beta * b - 1) * exp (1 - beta * b) = 1).
    { rewrite <- exp_plus. replace (beta * b - 1 + (1 - beta * b)) with 0 by ring. apply exp_0. }
    apply Rle_trans with (exp (beta * b - 1) * exp (1 - beta * b)); [apply Rmult_le_compat_r |]; lra.
  - intros c Hc. apply Hc. exists (/ beta). split.
    + split; [apply Rlt_le, Rinv_0_lt_compat; lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
    + rewrite Rinv_r, exp_Ropp by lra. field. lra.
Qed.
