(** N8: the best error over all read-outs is half the largest collision gap.

    [A : X -> Y] is an attention block (encoder and heads fixed), [H : X -> R] the
    target, [F : Y -> R] a read-out; X and Y are arbitrary sets.  Suprema are
    least upper bounds; the infimum over F is a minimum. *)

From Coq Require Import Reals List Lra Lia Classical_Prop.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Cells ReadoutCapacity Softmax LogSumExp.
Import ListNotations.
Open Scope R_scope.

(** A supremum as a total function: right for non-empty bounded sets. *)
Definition supremum (E : R -> Prop) : R := real (Lub_Rbar E).

Lemma supremum_is_lub (E : R -> Prop) y b : E y -> (forall x, E x -> x <= b) -> is_lub E (supremum E).
Proof.
  intros Hy Hb. unfold supremum. destruct (Lub_Rbar_correct E) as [Hup Hleast].
  destruct (Lub_Rbar E) as [s | |] eqn:Es.
  - split; [exact Hup |]. intros c Hc. exact (Hleast c Hc).
  - exfalso. exact (Hleast b Hb).
  - exfalso. exact (Hup y Hy).
Qed.

Section ReadoutError.
Context {X Y : Type} (A : X -> Y) (H : X -> R).

(** The values |F(A(X)) - H(X)| and the sup error of a read-out. *)
Definition deviations (F : Y -> R) (y : R) : Prop := exists x, y = Rabs (F (A x) - H x).
Definition sup_error (F : Y -> R) (e : R) : Prop := is_lub (deviations F) e.

(** ** All Lipschitz read-outs *)

Section Lipschitz.
Variables (dist : Y -> Y -> R) (Lam : R).
Hypothesis dist_self : forall a, dist a a = 0.
Hypothesis dist_symmetric : forall a b, dist a b = dist b a.
Hypothesis dist_triangle : forall a b c, dist a c <= dist a b + dist b c.
Hypothesis Lam_nonneg : 0 <= Lam.

Definition lipschitz (F : Y -> R) : Prop := forall a b, Rabs (F a - F b) <= Lam * dist a b.

(** The McShane extension sup_X (H(X) - e - Lam |a - A(X)|). *)
Definition mcshane (e : R) (a : Y) : R := supremum (fun y => exists x, y = H x - e - Lam * dist a (A x)).

(** N8, Lipschitz version, for every e: some Lam-Lipschitz read-out is within e of the target
    everywhere iff |H(X) - H(X')| - Lam |A(X) - A(X')| <= 2 e for all X, X'. *)
Theorem lipschitz_readout_exists e :
  (exists F, lipschitz F /\ forall x, Rabs (F (A x) - H x) <= e) <->
  (forall x x', Rabs (H x - H x') - Lam * dist (A x) (A x') <= 2 * e).
Proof.
  split.
  - intros (F & HF & He) x x'. specialize (HF (A x) (A x')).
    pose proof (He x) as H1. pose proof (He x') as H2.
    replace (H x - H x') with ((F (A x) - F (A x')) - (F (A x) - H x) + (F (A x') - H x')) by ring.
    assert (Rabs ((F (A x) - F (A x')) - (F (A x) - H x) + (F (A x') - H x')) <= Lam * dist (A x) (A x') + e + e);
      [| lra].
    apply Rabs_le_between in HF. apply Rabs_le_between in H1. apply Rabs_le_between in H2. apply Rabs_le. lra.
  - intros Hgap. destruct (classic (inhabited X)) as [[x0] | none].
    2: { exists (fun _ => 0). split; [| intros x; destruct none; exact (inhabits x)].
         intros a b. rewrite Rminus_0_r, Rabs_R0. apply Rmult_le_pos; [exact Lam_nonneg |].
         pose proof (dist_triangle a b a) as T. rewrite dist_self, (dist_symmetric b a) in T. lra. }
    assert (HL : forall x x', H x - H x' <= 2 * e + Lam * dist (A x) (A x')).
    { intros x x'. specialize (Hgap x x'). pose proof (Rle_abs (H x - H x')). lra. }
    assert (Htri : forall a b c, Lam * dist a c <= Lam * dist a b + Lam * dist b c).
    { intros a b c. rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; auto. }
    assert (lub : forall a, is_lub (fun y => exists x, y = H x - e - Lam * dist a (A x)) (mcshane e a)).
    { intros a. apply (supremum_is_lub _ (H x0 - e - Lam * dist a (A x0)) (H x0 + e + Lam * dist a (A x0))).
      - exists x0. reflexivity.
      - intros y (x & ->). pose proof (HL x x0). pose proof (Htri (A x) a (A x0)) as T.
        rewrite (dist_symmetric (A x) a) in T. lra. }
    exists (mcshane e). split.
    + assert (one_side : forall a b, mcshane e a - mcshane e b <= Lam * dist a b).
      { intros a b. apply Rle_minus_l. destruct (lub a) as [_ least]. apply least.
        intros y (x & ->). destruct (lub b) as [upper _].
        specialize (upper _ (ex_intro _ x eq_refl)). pose proof (Htri b a (A x)) as T.
        rewrite (dist_symmetric b a) in T. lra. }
      intros a b. apply Rabs_le. pose proof (one_side a b). pose proof (one_side b a) as S.
      rewrite (dist_symmetric b a) in S. lra.
    + intros x. destruct (lub (A x)) as [upper least]. apply Rabs_le. split.
      * specialize (upper _ (ex_intro _ x eq_refl)). rewrite dist_self in upper. lra.
      * apply Rle_minus_l. apply least. intros y (x' & ->). pose proof (HL x' x) as L.
        rewrite (dist_symmetric (A x') (A x)) in L. lra.
Qed.

(** The positive parts ( |H(X) - H(X')| - Lam |A(X) - A(X')| )_+. *)
Definition deficits (g : R) : Prop :=
  exists x x', g = Rmax 0 (Rabs (H x - H x') - Lam * dist (A x) (A x')).

(** N8, Lipschitz version: inf over Lam-Lipschitz F of sup_X |F(A(X)) - H(X)| equals
    1/2 sup (|H(X) - H(X')| - Lam |A(X) - A(X')|)_+, and some F attains it. *)
Theorem best_lipschitz_error s : is_lub deficits s ->
  (exists F, lipschitz F /\ sup_error F (s / 2)) /\
  (forall F e, lipschitz F -> sup_error F e -> s / 2 <= e).
Proof.
  intros [upper least].
  assert (lower : forall F e, lipschitz F -> (forall x, Rabs (F (A x) - H x) <= e) -> s / 2 <= e).
  { intros F e HF He. assert (s <= 2 * e); [| lra]. apply least. intros g (x & x' & ->).
    apply Rmax_lub.
    - pose proof (He x). pose proof (Rabs_pos (F (A x) - H x)). lra.
    - apply lipschitz_readout_exists. exists F. auto. }
  split.
  - destruct (proj2 (lipschitz_readout_exists (s / 2))) as (F & HF & He).
    { intros x x'. specialize (upper _ (ex_intro _ x (ex_intro _ x' eq_refl))).
      pose proof (Rmax_r 0 (Rabs (H x - H x') - Lam * dist (A x) (A x'))). lra. }
    exists F. split; [exact HF |]. split.
    + intros y (x & ->). apply He.
    + intros b Hb. apply (lower F b HF). intros x. apply Hb. exists x. reflexivity.
  - intros F e HF [He _]. apply (lower F e HF). intros x. apply He. exists x. reflexivity.
Qed.

End Lipschitz.

(** ** All read-outs *)

(** N8, for every e: some read-out is within e of the target everywhere iff
    A(X) = A(X') implies |H(X) - H(X')| <= 2 e. *)
Theorem readout_exists e :
  (exists F : Y -> R, forall x, Rabs (F (A x) - H x) <= e) <->
  (forall x x', A x = A x' -> Rabs (H x - H x') <= 2 * e).
Proof.
  split.
  - intros (F & He) x x' E. pose proof (He x) as H1. pose proof (He x') as H2. rewrite E in H1.
    apply Rabs_le_between in H1. apply Rabs_le_between in H2. apply Rabs_le. lra.
  - intros Hgap. set (fibre a y := exists x, A x = a /\ y = H x - e).
    exists (fun a => supremum (fibre a)). intros x.
    assert (bound : forall y, fibre (A x) y -> y <= H x + e).
    { intros y (x' & E & ->). specialize (Hgap x' x E). apply Rabs_le_between in Hgap. lra. }
    destruct (supremum_is_lub (fibre (A x)) (H x - e) (H x + e)) as [upper least].
    + exists x. auto.
    + exact bound.
    + apply Rabs_le. pose proof (upper (H x - e) (ex_intro _ x (conj eq_refl eq_refl))).
      pose proof (least _ bound). lra.
Qed.

(** The collision gaps |H(X) - H(X')|, A(X) = A(X'). *)
Definition collision_gaps (g : R) : Prop := exists x x', A x = A x' /\ g = Rabs (H x - H x').

(** N8: inf_F sup_X |F(A(X)) - H(X)| = 1/2 sup { |H(X) - H(X')| : A(X) = A(X') }, and some F attains it. *)
Theorem best_error s : is_lub collision_gaps s ->
  (exists F, sup_error F (s / 2)) /\ (forall F e, sup_error F e -> s / 2 <= e).
Proof.
  intros [upper least].
  assert (lower : forall F e, (forall x, Rabs (F (A x) - H x) <= e) -> s / 2 <= e).
  { intros F e He. assert (s <= 2 * e); [| lra]. apply least. intros g (x & x' & E & ->).
    apply readout_exists; [exists F; exact He | exact E]. }
  split.
  - destruct (proj2 (readout_exists (s / 2))) as (F & He).
    { intros x x' E. specialize (upper _ (ex_intro _ x (ex_intro _ x' (conj E eq_refl)))). lra. }
    exists F. split.
    + intros y (x & ->). apply He.
    + intros b Hb. apply (lower F b). intros x. apply Hb. exists x. reflexivity.
  - intros F e [He _]. apply (lower F e). intros x. apply He. exists x. reflexivity.
Qed.

(** If the collision gaps are unbounded, every read-out has infinite sup error. *)
Corollary unbounded_gaps_no_readout : (forall b, exists g, collision_gaps g /\ b < g) ->
  forall F e, ~ sup_error F e.
Proof.
  intros Hunbounded F e [He _]. destruct (Hunbounded (2 * e)) as (g & (x & x' & E & ->) & Hg).
  assert (Rabs (H x - H x') <= 2 * e); [| lra]. apply readout_exists; [| exact E].
  exists F. intros y. apply He. exists y. reflexivity.
Qed.

End ReadoutError.

(** ** The error-capacity curve *)

(** N8 with N5: one pair X, X' with target gap and block outputs at most [distance] apart certifies
    error >= (gap - M distance)/2 for every two-layer read-out (as in A1) with M non-zero first-layer
    weights. *)
Theorem pair_certifies {X} (A : X -> nat -> R) (H : X -> R) units inputs U W shift offset sigma e x x' distance :
  (forall j i, Rabs (U j i) <= 1) -> (forall j, Rabs (W j) <= 1) -> (forall j, one_lipschitz (sigma j)) ->
  (forall z, Rabs (two_layer units inputs U W shift offset sigma (A z) - H z) <= e) ->
  (forall i, In i inputs -> Rabs (A x i - A x' i) <= distance) ->
  (Rabs (H x - H x') - INR (nnz units inputs U) * distance) / 2 <= e.
Proof.
  intros HU HW Hs He Hd.
  pose proof (two_layer_capacity units inputs U W shift offset sigma HU HW Hs (A x) (A x') distance Hd) as HF.
  pose proof (He x) as H1. pose proof (He x') as H2.
  apply Rabs_le_between in H1. apply Rabs_le_between in H2. apply Rabs_le_between in HF.
  assert (Rabs (H x - H x') <= 2 * e + INR (nnz units inputs U) * distance); [apply Rabs_le |]; lra.
Qed.

(** ** Two calibrations *)

(** The collision gaps of one covering head (weights e^(-beta a), values a in [0,1], target the minimum). *)
Definition covering_gaps (beta : R) (T : nat) (g : R) : Prop := exists a a' m m',
  (forall t, (t < T)%nat -> 0 <= a t <= 1) /\ (forall t, (t < T)%nat -> 0 <= a' t <= 1) /\
  is_min (seq 0 T) a m /\ is_min (seq 0 T) a' m' /\
  gibbs beta (seq 0 T) a = gibbs beta (seq 0 T) a' /\ g = Rabs (m - m').

(** N8, first calibration: its largest exact gap is exactly W((T-1)/e)/beta. *)
Theorem covering_head_gap beta T u : (1 <= T)%nat -> lambert ((INR T - 1) / exp 1) u -> 1 + u <= beta ->
  is_lub (covering_gaps beta T) (u / beta).
Proof.
  intros HT Hu Hbeta.
  assert (Hne : seq 0 T <> nil) by (destruct T; [lia | discriminate]).
  assert (Hu0 : 0 <= u).
  { apply (lambert_nonneg ((INR T - 1) / exp 1)); [| exact Hu]. rewrite <- (seq_length T 0). apply count_nonneg, Hne. }
  split.
  - intros g (a & a' & m & m' & _ & _ & Hm & Hm' & E & ->). rewrite <- (seq_length T 0) in Hu.
    pose proof (softmin_gap beta _ a m u ltac:(lra) Hm Hu).
    pose proof (softmin_gap beta _ a' m' u ltac:(lra) Hm' Hu). apply Rabs_le. lra.
  - intros b Hb. apply Hb. destruct (softmin_gap_attained beta T u HT Hu Hbeta) as (Ha & Hmin & Egap).
    assert (Hr : 0 <= u / beta <= 1) by (split; [apply div_nonneg | apply div_le]; lra).
    exists (one_below (1 + u) beta), (fun _ => u / beta), 0, (u / beta).
    split; [intros; apply Ha |]. split; [intros; exact Hr |]. split; [exact Hmin |]. split; [| split].
    + split; [exists 0%nat; split; [apply in_seq; lia | reflexivity] | intros; lra].
    + rewrite Egap. pose proof (attention_between beta (seq 0 T) (fun _ => - (u / beta)) (fun _ => u / beta)
        (u / beta) (u / beta) Hne (fun t _ => conj (Rle_refl _) (Rle_refl _))). unfold gibbs. lra.
    + rewrite Rminus_0_l, Rabs_Ropp, Rabs_right; lra.
Qed.

(** N8, second calibration (value hiding): one head, uniform attention over T positions, n = D values
    sum_(S_i) e^(-beta f_i)/T: two sequences with equal outputs have sums of minima at most
    D log(T)/beta apart. *)
Theorem value_hiding_gap {K I} (features : list K) beta (S : K -> list I) (f f' : K -> I -> R) (z z' : K -> R) T :
  0 < beta -> (forall i, In i features -> (length (S i) <= T)%nat) ->
  (forall i, In i features -> is_min (S i) (f i) (z i)) ->
  (forall i, In i features -> is_min (S i) (f' i) (z' i)) ->
  (forall i, In i features -> sum (S i) (fun t => exp (- (beta * f i t))) / INR T =
                              sum (S i) (fun t => exp (- (beta * f' i t))) / INR T) ->
  Rabs (sum features z - sum features z') <= INR (length features) * ln (INR T) / beta.
Proof.
  intros Hbeta HT Hz Hz' E. rewrite <- sum_minus. eapply Rle_trans; [apply sum_abs |].
  replace (INR (length features) * ln (INR T) / beta) with (INR (length features) * (ln (INR T) / beta))
    by (field; lra).
  rewrite <- sum_const. apply sum_le. intros i Hi.
  pose proof (is_min_nonempty _ _ _ (Hz i Hi)) as Hne. specialize (HT i Hi).
  assert (Hlen : (0 < length (S i))%nat) by (destruct (S i); [easy | simpl; lia]).
  assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia).
  pose proof (log_sum_exp_between beta (S i) (f i) (z i) Hbeta (Hz i Hi)) as B.
  pose proof (log_sum_exp_between beta (S i) (f' i) (z' i) Hbeta (Hz' i Hi)) as B'.
  specialize (E i Hi). apply (Rmult_eq_compat_r (INR T)) in E. unfold Rdiv in E.
  rewrite !Rmult_assoc, Rinv_l, !Rmult_1_r in E by lra. rewrite <- E in B'.
  assert (Hln : ln (INR (length (S i))) / beta <= ln (INR T) / beta).
  { apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Hbeta |].
    apply ln_le; [apply lt_0_INR; exact Hlen | apply le_INR, HT]. }
  apply Rabs_le. lra.
Qed.
