(** Counting and exponents: T2.2-count4, the exponents of T2.2 and of N4, the arithmetic of C1. *)

From Coq Require Import Reals List Lra Lia Psatz ZArith.
From Headcount Require Import Sums Algebra Cells ReadoutCapacity.
Open Scope R_scope.

Lemma Rpower_pos a b : 0 < Rpower a b.
Proof. apply exp_pos. Qed.

(** eps^a written with x = - ln eps. *)
Lemma Rpower_opp_exp eps a : Rpower eps (- a) = exp (a * - ln eps).
Proof. unfold Rpower. f_equal. ring. Qed.

(** ** T2.2: the exponent k and the count *)

(** k = T_0/((n+1)s + 1) - 1. *)
Definition published_exponent (n s : nat) (T0 : R) : R := T0 / ((INR n + 1) * INR s + 1) - 1.

(** N4: k = T_0/((n+1)s) - 1. *)
Definition sharpened_exponent (n s : nat) (T0 : R) : R := T0 / ((INR n + 1) * INR s) - 1.

Lemma published_exponent_eq n s T0 :
  let k := published_exponent n s T0 in T0 = (k + 1) * INR n * INR s + (k + 1) * INR s + (k + 1).
Proof.
  intros k. unfold k, published_exponent. field. pose proof (pos_INR n). pose proof (pos_INR s). nra.
Qed.

(** T2.2-count4, first half: T_0 >= (k+1) n s + (k+1) s + 1 if (and only if) k >= 0. *)
Theorem count4 n s T0 :
  let k := published_exponent n s T0 in
  0 <= k <-> (k + 1) * INR n * INR s + (k + 1) * INR s + 1 <= T0.
Proof. intros k. pose proof (published_exponent_eq n s T0) as E. fold k in E. cbv zeta in E. lra. Qed.

(** An exponential beats a power. *)
Lemma exp_beats_power (a C : R) (m : nat) : 0 < a -> 0 < C ->
  exists x0, 0 < x0 /\ forall x, x0 < x -> C * x ^ m < exp (a * x).
Proof.
  intros Ha HC. pose proof (pos_INR m). set (c := a / (INR m + 1)).
  assert (Hc : 0 < c) by (apply Rdiv_lt_0_compat; lra).
  assert (Hcm : 0 < c ^ S m) by (apply pow_lt, Hc).
  exists (C / c ^ S m). split; [apply Rdiv_lt_0_compat; assumption |]. intros x Hx.
  assert (Hx0 : 0 < x) by (pose proof (Rdiv_lt_0_compat _ _ HC Hcm); lra).
  assert (Hxm : 0 < x ^ m) by (apply pow_lt, Hx0).
  apply Rlt_le_trans with (c ^ S m * x ^ S m).
  - replace (c ^ S m * x ^ S m) with (c ^ S m * x * x ^ m) by (simpl; ring).
    apply Rmult_lt_compat_r; [exact Hxm |]. apply (Rmult_lt_compat_r (c ^ S m)) in Hx; [| exact Hcm].
    unfold Rdiv in Hx. rewrite Rmult_assoc, Rinv_l in Hx; lra.
  - rewrite <- Rpow_mult_distr.
    assert (E : exp (a * x) = exp (c * x) ^ S m).
    { assert (power : forall y i, exp y ^ i = exp (INR i * y)).
      { intros y i. induction i as [| i IH]; [rewrite Rmult_0_l, exp_0; reflexivity |].
        rewrite <- tech_pow_Rmult, IH, <- exp_plus, S_INR. f_equal. ring. }
      rewrite power, S_INR. f_equal. unfold c. field. lra. }
    rewrite E. apply pow_incr. split; [apply Rmult_le_pos; lra |].
    pose proof (exp_ineq1_le (c * x)). lra.
Qed.

(** T2.2-count4, second half: if T_0 > 0 (so k > -1), then for every constant C the number eps^-T_0 of
    subsequences exceeds C (-log eps)^s / eps^((k+1)(n+1)s) cells for all small eps. *)
Theorem count4_collision n s T0 C : 0 < T0 -> 0 < C ->
  let k := published_exponent n s T0 in
  exists eps0, 0 < eps0 /\ forall eps, 0 < eps < eps0 ->
  C * (- ln eps) ^ s * Rpower eps (- ((k + 1) * (INR n + 1) * INR s)) < Rpower eps (- T0).
Proof.
  intros HT HC k. pose proof (published_exponent_eq n s T0) as E. fold k in E. cbv zeta in E.
  assert (Hk : 0 < k + 1).
  { unfold k, published_exponent. pose proof (pos_INR n). pose proof (pos_INR s).
    assert (0 < T0 / ((INR n + 1) * INR s + 1)); [apply Rdiv_lt_0_compat; nra | lra]. }
  clearbody k. destruct (exp_beats_power (k + 1) C s Hk HC) as (x0 & Hx0 & H).
  exists (exp (- x0)). split; [apply exp_pos |]. intros eps [Heps Hlt].
  assert (Hx : x0 < - ln eps).
  { apply (ln_increasing eps _ Heps) in Hlt. rewrite ln_exp in Hlt. lra. }
  specialize (H _ Hx). rewrite !Rpower_opp_exp.
  replace (T0 * - ln eps) with ((k + 1) * - ln eps + (k + 1) * (INR n + 1) * INR s * - ln eps)
    by (rewrite E; ring).
  rewrite exp_plus. apply Rmult_lt_compat_r; [apply exp_pos | exact H].
Qed.

(** T2.2-end: read-out inputs c eps^(k+1) apart and an output gap of eps need eps^-k / c weights. *)
Theorem published_rate units inputs U W shift offset sigma v1 v2 c eps k :
  (forall j i, Rabs (U j i) <= 1) -> (forall j, Rabs (W j) <= 1) -> (forall j, one_lipschitz (sigma j)) ->
  0 < c -> 0 < eps -> (forall i, In i inputs -> Rabs (v1 i - v2 i) <= c * Rpower eps (k + 1)) ->
  eps <= Rabs (two_layer units inputs U W shift offset sigma v1 -
               two_layer units inputs U W shift offset sigma v2) ->
  Rpower eps (- k) / c <= INR (nnz units inputs U).
Proof.
  intros HU HW Hs Hc Heps Hd Hgap.
  replace (Rpower eps (- k) / c) with (eps / (c * Rpower eps (k + 1))).
  - eapply two_layer_weights; eauto. apply Rmult_lt_0_compat; [exact Hc | apply Rpower_pos].
  - rewrite Rpower_Ropp, Rpower_plus, Rpower_1 by exact Heps. pose proof (Rpower_pos eps k). field. lra.
Qed.

(** N6: the exponent is positive iff T > 4((n+2)s + D). *)
Theorem exponent_positive n s D T :
  0 < published_exponent n s (T / 4 - INR s - D + 1) <-> 4 * ((INR n + 2) * INR s + D) < T.
Proof.
  unfold published_exponent. pose proof (pos_INR n). pose proof (pos_INR s).
  set (p := (INR n + 1) * INR s + 1). assert (Hp : 0 < p) by (unfold p; nra). split; intros Hk.
  - assert (H1 : 1 <= (T / 4 - INR s - D + 1) / p) by lra.
    assert (H2 : 1 < (T / 4 - INR s - D + 1) / p) by lra.
    apply (Rmult_lt_compat_r p) in H2; [| exact Hp]. unfold Rdiv in H2 at 1.
    rewrite Rmult_assoc, Rinv_l in H2 by lra. unfold p in H2. lra.
  - assert (1 < (T / 4 - INR s - D + 1) / p); [| lra].
    apply (Rmult_lt_reg_r p); [exact Hp |]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    unfold p. lra.
Qed.

(** ** N4: the bound and its exponent *)

(** The ceiling of a real number. *)
Definition ceiling (x : R) : R := - IZR (Int_part (- x)).

Lemma ceiling_spec x : x <= ceiling x < x + 1.
Proof. unfold ceiling. pose proof (base_Int_part (- x)). lra. Qed.

(** G = floor(rho/(3 eps)) + 1. *)
Definition grid_points (rho eps : R) : nat := S (Z.to_nat (Int_part (rho / (3 * eps)))).

Lemma grid_points_spec rho eps : 0 < rho -> 0 < eps ->
  rho / (3 * eps) < INR (grid_points rho eps) <= rho / (3 * eps) + 1.
Proof.
  intros Hr He. unfold grid_points. set (x := rho / (3 * eps)).
  assert (Hx : 0 < x) by (apply Rdiv_lt_0_compat; lra).
  destruct (base_Int_part x) as [H1 H2].
  assert (Hz : (0 <= Int_part x)%Z).
  { apply Z.lt_succ_r, lt_IZR. rewrite succ_IZR. lra. }
  rewrite S_INR, INR_IZR_INZ, Z2Nat.id by exact Hz. lra.
Qed.

(** N4: eps/(3 E^(3/2) tau) (ceil(C(G,tau)^(1/((n+1)s))) - 1). *)
Definition N4_bound (n s E tau : nat) (rho eps : R) : R :=
  eps / (3 * Rpower (INR E) (3 / 2) * INR tau) *
  (ceiling (Rpower (C (grid_points rho eps) tau) (/ ((INR n + 1) * INR s))) - 1).

(** N4 step 4: the largest admissible number g of parts, ceil(x^(1/p)) - 1 with x = C(G,tau) and
    p = (n+1)s, leaves fewer than x cells: g^p < x. *)
Lemma parts_leave_fewer_cells (g p : nat) (x : R) : (0 < p)%nat -> 0 < x ->
  INR g <= ceiling (Rpower x (/ INR p)) - 1 -> INR g ^ p < x.
Proof.
  intros Hp Hx Hg. pose proof (lt_0_INR p Hp). destruct (ceiling_spec (Rpower x (/ INR p))) as [_ Hc].
  replace x with (Rpower x (/ INR p) ^ p)
    by (rewrite <- Rpower_pow, Rpower_mult, Rinv_l, Rpower_1; auto using Rpower_pos; lra).
  pose proof (pos_INR g). assert (Hlt : INR g < Rpower x (/ INR p)) by lra.
  set (y := Rpower x (/ INR p)) in *. clearbody y. clear - Hp H0 Hlt.
  induction p as [| [| p] IH]; [lia | simpl; lra |].
  assert (IH' := IH ltac:(lia)). cbn [pow] in *. apply Rmult_le_0_lt_compat; auto.
  apply Rmult_le_pos; [| apply pow_le]; assumption.
Qed.

(** N4 steps 5-7: read-out inputs 3 E^(3/2) tau/g apart and an output gap above eps need at least
    eps g/(3 E^(3/2) tau) non-zero first-layer weights. *)
Theorem N4_weights units inputs U W shift offset sigma v1 v2 (E tau g : nat) eps :
  (forall j i, Rabs (U j i) <= 1) -> (forall j, Rabs (W j) <= 1) -> (forall j, one_lipschitz (sigma j)) ->
  (0 < E)%nat -> (0 < tau)%nat -> (0 < g)%nat ->
  (forall i, In i inputs -> Rabs (v1 i - v2 i) <= 3 * Rpower (INR E) (3 / 2) * INR tau / INR g) ->
  eps <= Rabs (two_layer units inputs U W shift offset sigma v1 -
               two_layer units inputs U W shift offset sigma v2) ->
  eps / (3 * Rpower (INR E) (3 / 2) * INR tau) * INR g <= INR (nnz units inputs U).
Proof.
  intros HU HW Hs HE Htau Hg Hd Hgap.
  pose proof (lt_0_INR _ HE). pose proof (lt_0_INR _ Htau). pose proof (lt_0_INR _ Hg).
  pose proof (Rpower_pos (INR E) (3 / 2)).
  replace (eps / (3 * Rpower (INR E) (3 / 2) * INR tau) * INR g) with
    (eps / (3 * Rpower (INR E) (3 / 2) * INR tau / INR g)) by (field; lra).
  eapply two_layer_weights; eauto. apply Rdiv_lt_0_compat; [nra | assumption].
Qed.

(** C(G,tau) >= (G/tau)^tau. *)
Lemma binomial_lower tau : forall G, (tau <= G)%nat -> (INR G / INR tau) ^ tau <= C G tau.
Proof.
  induction tau as [| tau IH]; intros G HG.
  - unfold C. rewrite Nat.sub_0_r. simpl. right. field. apply INR_fact_neq_0.
  - destruct G as [| G]; [lia |].
    assert (Htau : 0 < INR (S tau)) by (apply lt_0_INR; lia).
    assert (E : C (S G) (S tau) = INR (S G) / INR (S tau) * C G tau).
    { unfold C. replace (S G - S tau)%nat with (G - tau)%nat by lia.
      rewrite !fact_simpl, !mult_INR. pose proof (INR_fact_neq_0 tau). pose proof (INR_fact_neq_0 (G - tau)).
      field. repeat split; auto; lra. }
    rewrite E. cbn [pow]. apply Rmult_le_compat_l; [apply div_nonneg; [apply pos_INR | exact Htau] |].
    specialize (IH G ltac:(lia)). destruct tau as [| tau]; [simpl in *; exact IH |].
    eapply Rle_trans; [| exact IH]. apply pow_incr. split; [apply div_nonneg; [apply pos_INR | exact Htau] |].
    assert (Ht : 0 < INR (S tau)) by (apply lt_0_INR; lia).
    apply div_le; [exact Htau |]. apply (Rmult_le_reg_r (INR (S tau))); [exact Ht |].
    replace (INR G / INR (S tau) * INR (S (S tau)) * INR (S tau)) with (INR G * INR (S (S tau))) by (field; lra).
    assert (INR (S tau) <= INR G) by (apply le_INR; lia). rewrite (S_INR G), (S_INR (S tau)). nra.
Qed.

(** N4, consequence: with tau = T_0 the bound is at least c eps^-(T_0/((n+1)s) - 1) for all small eps,
    without a logarithm. *)
Theorem N4_exponent (n s E T0 : nat) (rho : R) :
  (0 < s)%nat -> (0 < E)%nat -> (0 < T0)%nat -> 0 < rho ->
  exists c eps0, 0 < c /\ 0 < eps0 /\ forall eps, 0 < eps < eps0 ->
  (T0 <= grid_points rho eps)%nat /\
  c * Rpower eps (- sharpened_exponent n s (INR T0)) <= N4_bound n s E T0 rho eps.
Proof.
  intros Hs HE HT Hrho.
  pose proof (lt_0_INR _ Hs) as Hs'. pose proof (lt_0_INR _ HE) as HE'. pose proof (lt_0_INR _ HT) as HT'.
  set (p := (INR n + 1) * INR s).
  assert (Hp : 0 < p) by (unfold p; pose proof (pos_INR n); nra).
  set (a := INR T0 / p). assert (Ha : 0 < a) by (apply Rdiv_lt_0_compat; lra).
  set (q := rho / (3 * INR T0)). assert (Hq : 0 < q) by (apply Rdiv_lt_0_compat; lra).
  set (b := 3 * Rpower (INR E) (3 / 2) * INR T0).
  assert (Hb : 0 < b) by (pose proof (Rpower_pos (INR E) (3 / 2)); apply Rmult_lt_0_compat; lra).
  exists (Rpower q a / (2 * b)), (q * Rpower 2 (- / a)).
  split; [apply Rdiv_lt_0_compat; [apply Rpower_pos | lra] |].
  split; [apply Rmult_lt_0_compat; [exact Hq | apply Rpower_pos] |]. intros eps [Heps Hlt].
  set (G := grid_points rho eps). destruct (grid_points_spec rho eps Hrho Heps) as [HG _]. fold G in HG.
  assert (Hratio : q / eps <= INR G / INR T0).
  { apply le_div; [exact HT' |]. replace (q / eps * INR T0) with (rho / (3 * eps)) by (unfold q; field; lra). lra. }
  assert (Htwo : Rpower 2 (/ a) < q / eps).
  { apply (Rmult_lt_reg_r eps); [exact Heps |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    rewrite Rpower_Ropp in Hlt. pose proof (Rpower_pos 2 (/ a)).
    apply (Rmult_lt_compat_l (Rpower 2 (/ a))) in Hlt; [| assumption].
    replace (Rpower 2 (/ a) * (q * / Rpower 2 (/ a))) with q in Hlt by (field; lra). exact Hlt. }
  assert (Hone : 1 < q / eps).
  { eapply Rlt_trans; [| exact Htwo]. rewrite <- (Rpower_O 2) by lra.
    apply Rpower_lt; [lra | apply Rinv_0_lt_compat, Ha]. }
  assert (HTG : (T0 <= G)%nat).
  { apply INR_le. apply Rlt_le. apply (Rmult_lt_reg_r (/ INR T0)); [apply Rinv_0_lt_compat, HT' |].
    rewrite Rinv_r by lra. fold (INR G / INR T0). lra. }
  split; [exact HTG |].
  assert (Hbin : Rpower (q / eps) a <= Rpower (C G T0) (/ p)).
  { replace a with (INR T0 * / p) by reflexivity. rewrite <- Rpower_mult, Rpower_pow by lra.
    apply Rle_Rpower_l; [left; apply Rinv_0_lt_compat, Hp |].
    split; [apply pow_lt; lra |]. eapply Rle_trans; [| apply binomial_lower, HTG].
    apply pow_incr. lra. }
  assert (Hbig : 2 <= Rpower (q / eps) a).
  { replace 2 with (Rpower (Rpower 2 (/ a)) a) by (rewrite Rpower_mult, Rinv_l, Rpower_1; lra).
    apply Rle_Rpower_l; [lra |]. split; [apply Rpower_pos | lra]. }
  unfold N4_bound. fold G p b. destruct (ceiling_spec (Rpower (C G T0) (/ p))) as [Hceil _].
  apply Rle_trans with (eps / b * (Rpower (q / eps) a / 2)).
  - right. unfold Rdiv at 4. rewrite <- Rpower_mult_distr by (auto using Rinv_0_lt_compat).
    replace (Rpower (/ eps) a) with (Rpower eps (- a)) 
      by (unfold Rpower; rewrite ln_Rinv by exact Heps; f_equal; ring).
    replace (- sharpened_exponent n s (INR T0)) with (1 + - a) by (unfold sharpened_exponent, a, p; ring).
    rewrite (Rpower_plus 1), Rpower_1 by exact Heps. field. lra.
  - apply Rmult_le_compat_l; [apply div_nonneg; lra | lra].
Qed.

(** ** C1: the sizes for which the two representations contradict each other *)

(** k of C1.2: T2.2 with n = 2, s = D_1, D = D_2. *)
Definition C1_exponent (D1 D2 : nat) (T : R) : R :=
  (T / 4 - INR D1 - INR D2 + 1) / (3 * INR D1 + 1) - 1.

Lemma C1_exponent_eq D1 D2 T :
  C1_exponent D1 D2 T = published_exponent 2 D1 (T / 4 - INR D1 - INR D2 + 1).
Proof. unfold C1_exponent, published_exponent. simpl (INR 2). do 2 f_equal. ring. Qed.

(** k > gamma iff T > 4((gamma + 1)(3 D_1 + 1) + D_1 + D_2 - 1); with gamma = max(d, D_2) this is the
    size condition that A3 needs for arbitrary C^1 functions. *)
Lemma C1_exponent_gt D1 D2 T gamma :
  gamma < C1_exponent D1 D2 T <-> 4 * ((gamma + 1) * (3 * INR D1 + 1) + INR D1 + INR D2 - 1) < T.
Proof.
  unfold C1_exponent. pose proof (pos_INR D1). set (p := 3 * INR D1 + 1).
  set (y := T / 4 - INR D1 - INR D2 + 1). assert (Hp : 0 < p) by (unfold p; lra).
  assert (E : y = y / p * p) by (field; lra). split; intros Hk.
  - assert (H1 : (gamma + 1) * p < y / p * p) by (apply Rmult_lt_compat_r; lra). unfold y in *. lra.
  - assert (H1 : (gamma + 1) * p < y / p * p) by (unfold y in *; lra).
    apply Rmult_lt_reg_r in H1; lra.
Qed.

(** C1.3 with the sharp constant: D_1^2 + D_2^2 < 5T/56 and D_1 < D_2 give k > max(D_1, D_2). *)
Theorem C1_arithmetic_sharp (D1 D2 : nat) (T : R) :
  (1 <= D1 < D2)%nat -> INR D1 ^ 2 + INR D2 ^ 2 < 5 / 56 * T ->
  INR (Nat.max D1 D2) < C1_exponent D1 D2 T.
Proof.
  intros [H1 H12] HT. rewrite Nat.max_r by lia. apply C1_exponent_gt.
  apply (le_INR 1) in H1. simpl in H1. apply (le_INR (S D1)) in H12. rewrite S_INR in H12.
  set (a := INR D1) in *. set (b := INR D2) in *.
  assert (60 * a * b + 80 * a + 40 * b <= 56 * (a ^ 2 + b ^ 2)); [| lra].
  replace b with (a + 1 + (b - a - 1)) by ring. set (t := b - a - 1). assert (0 <= t) by (unfold t; lra).
  assert (0 <= (a - 1) * (13 * a - 4)) by (apply Rmult_le_pos; lra). nra.
Qed.

(** C1.3 as published: D_1^2 + D_2^2 <= T/50 suffices for gamma <= max(D_1, D_2). *)
Corollary C1_arithmetic (D1 D2 : nat) (T gamma : R) :
  (1 <= D1 < D2)%nat -> INR D1 ^ 2 + INR D2 ^ 2 <= T / 50 -> gamma <= INR (Nat.max D1 D2) ->
  gamma < C1_exponent D1 D2 T.
Proof.
  intros HD HT Hgamma. pose proof (C1_arithmetic_sharp D1 D2 T HD).
  destruct HD as [H1 _]. apply (le_INR 1) in H1. simpl in H1. pose proof (pos_INR D2).
  assert (0 < T) by nra. assert (INR D1 ^ 2 + INR D2 ^ 2 < 5 / 56 * T) by lra. lra.
Qed.

(** The constant 5/56 cannot be enlarged, nor "<" replaced by "<=": D_1 = 1, D_2 = 2, T = 56 has
    D_1^2 + D_2^2 = 5T/56 and k = 2 = max(D_1, D_2). *)
Theorem C1_constant_is_sharp c : 5 / 56 <= c ->
  exists (D1 D2 T : nat), (1 <= D1 < D2)%nat /\ INR D1 ^ 2 + INR D2 ^ 2 <= c * INR T /\
  C1_exponent D1 D2 (INR T) = INR (Nat.max D1 D2).
Proof.
  intros Hc. exists 1%nat, 2%nat, 56%nat. split; [lia |]. split.
  - replace (INR 56) with 56 by (simpl; ring). simpl. lra.
  - unfold C1_exponent. replace (INR 56) with 56 by (simpl; ring). simpl. field.
Qed.

(** C1.3, end (eq 51): if k > gamma, then C/eps^gamma < C'/eps^k for all small eps. *)
Theorem C1_contradiction gamma k A B : gamma < k -> 0 < A -> 0 < B ->
  exists eps0, 0 < eps0 /\ forall eps, 0 < eps < eps0 -> A * Rpower eps (- gamma) < B * Rpower eps (- k).
Proof.
  intros Hk HA HB. exists (Rpower (B / A) (/ (k - gamma))). split; [apply Rpower_pos |]. intros eps [Heps Hlt].
  assert (HBA : 0 < B / A) by (apply Rdiv_lt_0_compat; lra).
  assert (H : Rpower eps (k - gamma) < B / A).
  { replace (B / A) with (Rpower (Rpower (B / A) (/ (k - gamma))) (k - gamma))
      by (rewrite Rpower_mult, Rinv_l, Rpower_1; lra).
    unfold Rpower at 1 2. apply exp_increasing, Rmult_lt_compat_l; [lra |]. apply ln_increasing; assumption. }
  replace (- gamma) with (k - gamma + - k) by ring. rewrite Rpower_plus.
  pose proof (Rpower_pos eps (- k)). rewrite <- Rmult_assoc. apply Rmult_lt_compat_r; [assumption |].
  apply (Rmult_lt_compat_l A) in H; [| exact HA]. replace (A * (B / A)) with B in H by (field; lra). exact H.
Qed.

(** ** T2.1-M: the parameter count with enough heads *)

(** With delta = c eps and delta_0 = c_0 eps, for 0 < eps <= 1:
    A D/delta^gamma_f + B/delta_0^gamma_0 + A_0 <= C/eps^gamma, gamma = max(gamma_f, gamma_0),
    C = A D/c^gamma_f + B/c_0^gamma_0 + A_0. *)
Theorem parameter_count (A B A0 D c c0 gf g0 : R) :
  0 <= A -> 0 <= B -> 0 <= A0 -> 0 <= D -> 0 < c -> 0 < c0 -> 0 <= gf -> 0 <= g0 ->
  let C := A * D / Rpower c gf + B / Rpower c0 g0 + A0 in
  forall eps, 0 < eps <= 1 ->
  A * D / Rpower (c * eps) gf + B / Rpower (c0 * eps) g0 + A0 <= C / Rpower eps (Rmax gf g0).
Proof.
  intros HA HB HA0 HD Hc Hc0 Hgf Hg0 C. unfold C. set (g := Rmax gf g0). intros eps [Heps Heps1].
  assert (power : forall e, e <= g -> 1 <= / Rpower eps g * Rpower eps e).
  { intros e He. rewrite <- Rpower_Ropp, <- Rpower_plus. unfold Rpower.
    assert (0 <= (- g + e) * ln eps).
    { assert (ln eps <= 0); [| nra]. rewrite <- ln_1.
      destruct Heps1 as [Hlt | ->]; [left; apply ln_increasing |]; lra. }
    pose proof (exp_ineq1_le ((- g + e) * ln eps)). lra. }
  assert (term : forall K k e, 0 <= K -> 0 < k -> e <= g ->
    K / Rpower (k * eps) e <= K / Rpower k e * / Rpower eps g).
  { intros K k e HK Hk He. rewrite <- Rpower_mult_distr by assumption.
    pose proof (Rpower_pos k e). pose proof (Rpower_pos eps e). specialize (power e He).
    assert (Hp : 0 <= K / Rpower k e) by (apply div_nonneg; assumption).
    replace (K / (Rpower k e * Rpower eps e)) with (K / Rpower k e * / Rpower eps e) by (field; lra).
    apply Rmult_le_compat_l; [exact Hp |]. apply (Rmult_le_reg_r (Rpower eps e)); [assumption |].
    rewrite Rinv_l; lra. }
  pose proof (term (A * D) c gf (Rmult_le_pos _ _ HA HD) Hc (Rmax_l _ _)).
  pose proof (term B c0 g0 HB Hc0 (Rmax_r _ _)).
  assert (A0 <= A0 * / Rpower eps g).
  { specialize (power 0 (Rle_trans _ _ _ Hgf (Rmax_l _ _))). rewrite Rpower_O in power by exact Heps. nra. }
  replace ((A * D / Rpower c gf + B / Rpower c0 g0 + A0) / Rpower eps g) with
    (A * D / Rpower c gf * / Rpower eps g + B / Rpower c0 g0 * / Rpower eps g + A0 * / Rpower eps g)
    by (unfold Rdiv; ring). lra.
Qed.
