(** The algebra of the lower bound: how far two attention outputs are apart.

    Vectors are functions [I -> R] on any set [I] of coordinates; [N] is any
    seminorm on them (the Euclidean norm, the sup norm, ...).  Notation of the
    claims: [Q1, Q2] weights on the positions where the two subsequences differ,
    [Q3] on those where they agree, [Q4] on all other positions of the full
    sequences; [V1 .. V4] the weighted averages of the values there; [e] stands
    for [eps^(k+1)]. *)

From Coq Require Import Reals List Lra Lia FunctionalExtensionality.
From Headcount Require Import Sums.
Open Scope R_scope.

(** ** Quotients, once and for all *)

Lemma div_le a b c : 0 < b -> a <= c * b -> a / b <= c.
Proof. intros Hb H. apply (Rmult_le_reg_r b); [lra |]. field_simplify; lra. Qed.

Lemma le_div a b c : 0 < b -> c * b <= a -> c <= a / b.
Proof. intros Hb H. apply (Rmult_le_reg_r b); [lra |]. field_simplify; lra. Qed.

Lemma div_nonneg a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. intros Ha Hb. apply le_div; lra. Qed.

Lemma le_of_div a b c : 0 < b -> a / b <= c -> a <= c * b.
Proof. intros Hb H. apply (Rmult_le_compat_r b) in H; [field_simplify in H |]; lra. Qed.

Lemma le_of_le_div a b c : 0 < b -> c <= a / b -> c * b <= a.
Proof. intros Hb H. apply (Rmult_le_compat_r b) in H; [field_simplify in H |]; lra. Qed.

(** ** Seminorms *)

Record seminorm {I} (N : (I -> R) -> R) : Prop := {
  triangle : forall x y, N (fun i => x i + y i) <= N x + N y;
  homogeneous : forall c x, N (fun i => c * x i) = Rabs c * N x }.

Section Seminorm.
Context {I : Type} (N : (I -> R) -> R) (HN : seminorm N).

Lemma norm_opp x : N (fun i => - x i) = N x.
Proof.
  replace (fun i => - x i) with (fun i => -1 * x i) by (extensionality i; ring).
  rewrite (homogeneous N HN), Rabs_left by lra. ring.
Qed.

Lemma norm_minus x y : N (fun i => x i - y i) <= N x + N y.
Proof. rewrite <- (norm_opp y). apply (triangle N HN x (fun i => - y i)). Qed.

Lemma norm_nonneg x : 0 <= N x.
Proof.
  pose proof (norm_minus x x) as H.
  replace (fun i => x i - x i) with (fun i => 0 * x i) in H by (extensionality i; ring).
  rewrite (homogeneous N HN), Rabs_R0 in H. lra.
Qed.

End Seminorm.

(** The norm that the claims write |.|: the Euclidean norm over the coordinates [l] is a seminorm. *)
Definition euclidean {I} (l : list I) (x : I -> R) : R := sqrt (sum l (fun i => x i ^ 2)).

Lemma sum_squares_nonneg {I} (l : list I) (x : I -> R) : 0 <= sum l (fun i => x i ^ 2).
Proof. apply sum_nonneg. intros i _. apply pow2_ge_0. Qed.

Lemma cauchy_schwarz {I} (l : list I) (x y : I -> R) :
  sum l (fun i => x i * y i) <= euclidean l x * euclidean l y.
Proof.
  set (A := sum l (fun i => x i ^ 2)). set (B := sum l (fun i => y i ^ 2)). set (C := sum l (fun i => x i * y i)).
  pose proof (sum_squares_nonneg l x : 0 <= A) as HA. pose proof (sum_squares_nonneg l y : 0 <= B) as HB.
  assert (parabola : forall t, 0 <= A - 2 * t * C + t ^ 2 * B).
  { intros t. replace (A - 2 * t * C + t ^ 2 * B) with (sum l (fun i => (x i - t * y i) ^ 2)).
    - apply (sum_squares_nonneg l (fun i => x i - t * y i)).
    - unfold A, B, C. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros. ring. }
  unfold euclidean. fold A B. rewrite <- sqrt_mult by assumption.
  destruct (Rle_lt_dec C 0) as [Hneg | Hpos]; [pose proof (sqrt_pos (A * B)); lra |].
  rewrite <- (sqrt_pow2 C) by lra. apply sqrt_le_1_alt. destruct (Rle_lt_or_eq_dec 0 B HB) as [HB' | HB'].
  - specialize (parabola (C / B)). apply Rmult_le_reg_r with (/ B); [apply Rinv_0_lt_compat; lra |].
    replace (A - 2 * (C / B) * C + (C / B) ^ 2 * B) with (A - C ^ 2 * / B) in parabola by (field; lra).
    replace (A * B * / B) with A by (field; lra). lra.
  - specialize (parabola ((A + 1) / (2 * C))). rewrite <- HB' in parabola.
    replace (A - 2 * ((A + 1) / (2 * C)) * C + ((A + 1) / (2 * C)) ^ 2 * 0) with (-1) in parabola by (field; lra). lra.
Qed.

Lemma euclidean_seminorm {I} (l : list I) : seminorm (euclidean l).
Proof.
  split.
  - intros x y. pose proof (cauchy_schwarz l x y) as H. unfold euclidean in *.
    set (A := sum l (fun i => x i ^ 2)) in *. set (B := sum l (fun i => y i ^ 2)) in *.
    pose proof (sqrt_pos A) as PA. pose proof (sqrt_pos B) as PB.
    rewrite <- (sqrt_pow2 (sqrt A + sqrt B)) by lra. apply sqrt_le_1_alt.
    replace ((sqrt A + sqrt B) ^ 2) with (sqrt A * sqrt A + sqrt B * sqrt B + 2 * (sqrt A * sqrt B)) by ring.
    rewrite !sqrt_sqrt by (apply (sum_squares_nonneg l)).
    replace (sum l (fun i => (x i + y i) ^ 2)) with (A + B + 2 * sum l (fun i => x i * y i)); [lra |].
    unfold A, B. rewrite <- sum_scal, <- !sum_plus. apply sum_ext. intros. ring.
  - intros c x. unfold euclidean. rewrite <- (sqrt_pow2 (Rabs c)) by apply Rabs_pos.
    rewrite <- sqrt_mult by (try apply pow2_ge_0; apply (sum_squares_nonneg l)).
    f_equal. rewrite pow2_abs, <- sum_scal. apply sum_ext. intros. ring.
Qed.

(** The average of two averages [v], [v'] with weights [q], [q']. *)
Definition mix {I} (q : R) (v : I -> R) (q' : R) (v' : I -> R) : I -> R :=
  fun i => (q * v i + q' * v' i) / (q + q').

(** ** T2.2-24: the identity *)

(** (Q1V1+Q3V3)/(Q1+Q3) - (Q2V2+Q3V3)/(Q2+Q3)
    = Q3(Q2-Q1)(V3-V2)/((Q1+Q3)(Q2+Q3)) + Q1(V1-V2)/(Q1+Q3). *)
Lemma mix_difference {I} Q1 Q2 Q3 (V1 V2 V3 : I -> R) :
  Q1 + Q3 <> 0 -> Q2 + Q3 <> 0 ->
  (fun i => mix Q1 V1 Q3 V3 i - mix Q2 V2 Q3 V3 i) =
  (fun i => Q3 * (Q2 - Q1) * (V3 i - V2 i) / ((Q1 + Q3) * (Q2 + Q3))
            + Q1 * (V1 i - V2 i) / (Q1 + Q3)).
Proof. intros. extensionality i. unfold mix. field. auto. Qed.

(** ** T2.2-26 .. T2.2-40: the inequalities, with |V| <= Rad in place of 1 *)

Section TwoCases.
Context {I : Type} (N : (I -> R) -> R) (HN : seminorm N).
Variables (Q1 Q2 Q3 Q4 T0 Rad e : R) (V1 V2 V3 V4 : I -> R).
Hypotheses (HQ1 : 0 < Q1) (HQ2 : 0 < Q2) (HQ3 : 0 <= Q3) (HQ4 : 0 < Q4).
Hypotheses (HV1 : N V1 <= Rad) (HV2 : N V2 <= Rad) (HV3 : N V3 <= Rad) (HV4 : N V4 <= Rad).
Hypothesis He : 0 <= e.

(** The two terms of the identity, for the positions with weight [Q] and average [V]. *)
Let weight_term Q V := N (fun i => Q * (Q2 - Q1) * (V i - V2 i) / ((Q1 + Q) * (Q2 + Q))).
Let value_term Q := N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q)).

Lemma Rad_nonneg : 0 <= Rad.
Proof. pose proof (norm_nonneg N HN V1). lra. Qed.

Lemma two_radii V : N V <= Rad -> N (fun i => V i - V2 i) <= 2 * Rad.
Proof. intros. pose proof (norm_minus N HN V V2). lra. Qed.

Lemma weight_term_eq Q V : 0 <= Q ->
  weight_term Q V = Q / (Q2 + Q) * (Rabs (Q2 - Q1) * N (fun i => V i - V2 i) / (Q1 + Q)).
Proof.
  intros HQ. unfold weight_term.
  replace (fun i => _) with (fun i => Q / (Q2 + Q) / (Q1 + Q) * (Q2 - Q1) * (V i - V2 i))
    by (extensionality i; field; lra).
  rewrite (homogeneous N HN), Rabs_mult, Rabs_right; [field; lra |].
  apply Rle_ge. do 2 (apply div_nonneg; [| lra]). exact HQ.
Qed.

Lemma weight_term_le Q V : 0 <= Q ->
  weight_term Q V <= N (fun i => (Q2 - Q1) * (V i - V2 i)) / (Q1 + Q).
Proof.
  intros HQ. rewrite weight_term_eq, (homogeneous N HN) by exact HQ.
  set (b := Rabs (Q2 - Q1) * _ / _).
  assert (0 <= b).
  { apply div_nonneg; [| lra]. apply Rmult_le_pos; [apply Rabs_pos | apply (norm_nonneg N HN)]. }
  assert (Q / (Q2 + Q) <= 1) by (apply div_le; lra).
  apply (Rmult_le_compat_r b) in H0; lra.
Qed.

Lemma value_term_eq Q : 0 <= Q ->
  value_term Q = Q1 / (Q1 + Q) * N (fun i => V1 i - V2 i).
Proof.
  intros HQ. unfold value_term.
  replace (fun i => _) with (fun i => Q1 / (Q1 + Q) * (V1 i - V2 i)) by (extensionality i; field; lra).
  rewrite (homogeneous N HN), Rabs_right; [reflexivity |].
  apply Rle_ge, div_nonneg; lra.
Qed.

Lemma outputs_le_terms Q V : 0 <= Q ->
  N (fun i => mix Q1 V1 Q V i - mix Q2 V2 Q V i) <= weight_term Q V + value_term Q.
Proof. intros HQ. rewrite mix_difference by lra. apply (triangle N HN). Qed.

Lemma value_le_terms Q V : 0 <= Q ->
  value_term Q <= N (fun i => mix Q1 V1 Q V i - mix Q2 V2 Q V i) + weight_term Q V.
Proof.
  intros HQ. unfold value_term.
  replace (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q)) with
    (fun i => (mix Q1 V1 Q V i - mix Q2 V2 Q V i)
              - Q * (Q2 - Q1) * (V i - V2 i) / ((Q1 + Q) * (Q2 + Q)))
    by (extensionality i; unfold mix; field; lra).
  apply (norm_minus N HN).
Qed.

(** *** Case (2a): the sums of weights have a ratio near 1 *)
Section CaseA.
Hypothesis HT0 : 1 <= T0.
Let kappa := e / (12 * T0 ^ 2).
Hypothesis ratio : / (1 + kappa) <= (Q1 + Q3) / (Q2 + Q3) <= 1 + kappa.
(** Condition (1): the weighted averages differ by at most e/(3 T0). *)
Hypothesis averages : N (fun i => mix Q1 V1 Q3 V3 i - mix Q2 V2 Q3 V3 i) <= e / (3 * T0).
(** T2.2-count3: the other positions contain the maximal weight of the head. *)
Hypothesis maximal : (Q1 + Q3) / T0 <= Q4.

Lemma kappa_nonneg : 0 <= kappa.
Proof. apply div_nonneg; [exact He | nra]. Qed.

Lemma weights_close : Rabs (Q2 - Q1) <= kappa * (Q1 + Q3).
Proof.
  pose proof kappa_nonneg as Hk. destruct ratio as [lower upper].
  apply le_of_div in upper; [| lra]. apply le_of_le_div in lower; [| lra].
  apply (Rmult_le_compat_r (1 + kappa)) in lower; [| lra]. field_simplify in lower; [| lra].
  apply Rabs_le. split; [| lra].
  destruct (Rle_lt_dec (Q2 + Q3) (Q1 + Q3)); nra.
Qed.

Lemma weights_times_values V : N V <= Rad ->
  N (fun i => (Q2 - Q1) * (V i - V2 i)) / (Q1 + Q3) <= Rad * e / (6 * T0 ^ 2).
Proof.
  intros HV. rewrite (homogeneous N HN).
  replace (Rad * e / (6 * T0 ^ 2)) with (kappa * (2 * Rad)) by (unfold kappa; field; lra).
  apply div_le; [lra |].
  replace (kappa * (2 * Rad) * (Q1 + Q3)) with (kappa * (Q1 + Q3) * (2 * Rad)) by ring.
  apply Rmult_le_compat; auto using Rabs_pos, norm_nonneg, weights_close, two_radii.
Qed.

(** T2.2-26 (eq 26-30), Rad for 1:
    |Q4(Q2-Q1)(V4-V2)/((Q1+Q4)(Q2+Q4))| <= |(Q2-Q1)(V4-V2)|/(Q1+Q4)
    <= T0 |(Q2-Q1)(V4-V2)|/(Q1+Q3) <= Rad e/(6 T0). *)
Lemma case_2a_weight_outside :
  let d := N (fun i => (Q2 - Q1) * (V4 i - V2 i)) in
  N (fun i => Q4 * (Q2 - Q1) * (V4 i - V2 i) / ((Q1 + Q4) * (Q2 + Q4))) <= d / (Q1 + Q4) /\
  d / (Q1 + Q4) <= T0 * (d / (Q1 + Q3)) /\
  T0 * (d / (Q1 + Q3)) <= Rad * e / (6 * T0).
Proof.
  intros d. pose proof (norm_nonneg N HN (fun i => (Q2 - Q1) * (V4 i - V2 i)) : 0 <= d) as Hd.
  split; [apply weight_term_le; lra | split].
  - apply div_le; [lra |]. apply le_of_div in maximal; [| lra].
    replace (T0 * (d / (Q1 + Q3)) * (Q1 + Q4)) with (d * (T0 * (Q1 + Q4) / (Q1 + Q3))) by (field; lra).
    rewrite <- (Rmult_1_r d) at 1. apply Rmult_le_compat_l; [exact Hd |]. apply le_div; nra.
  - replace (Rad * e / (6 * T0)) with (T0 * (Rad * e / (6 * T0 ^ 2))) by (field; lra).
    apply Rmult_le_compat_l; [lra | exact (weights_times_values V4 HV4)].
Qed.

(** T2.2-31 (eq 31), Rad for 1: the same with Q3, V3, at most Rad e/(6 T0^2) <= Rad e/(6 T0). *)
Lemma case_2a_weight_inside :
  N (fun i => Q3 * (Q2 - Q1) * (V3 i - V2 i) / ((Q1 + Q3) * (Q2 + Q3))) <= Rad * e / (6 * T0 ^ 2) /\
  Rad * e / (6 * T0 ^ 2) <= Rad * e / (6 * T0).
Proof.
  split.
  - eapply Rle_trans; [apply (weight_term_le Q3 V3 HQ3) | exact (weights_times_values V3 HV3)].
  - pose proof Rad_nonneg. pose proof (Rmult_le_pos _ _ H He). apply div_le; [nra |].
    replace (Rad * e / (6 * T0) * (6 * T0 ^ 2)) with (Rad * e * T0) by (field; lra). nra.
Qed.

(** T2.2-32 (eq 32), Rad for 1: |Q1(V1-V2)/(Q1+Q3)| <= Rad e/(6 T0^2) + e/(3 T0) <= (Rad + 2) e/(6 T0). *)
Lemma case_2a_value_inside :
  N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) <= Rad * e / (6 * T0 ^ 2) + e / (3 * T0) /\
  Rad * e / (6 * T0 ^ 2) + e / (3 * T0) <= (Rad + 2) * e / (6 * T0).
Proof.
  pose proof (value_le_terms Q3 V3 HQ3). pose proof case_2a_weight_inside.
  replace ((Rad + 2) * e / (6 * T0)) with (Rad * e / (6 * T0) + e / (3 * T0)) by (field; lra).
  unfold weight_term, value_term in *. lra.
Qed.

(** T2.2-33 (eq 33-35), Rad for 1:
    |Q1(V1-V2)/(Q1+Q4)| <= T0 |Q1(V1-V2)/(Q1+Q3)| <= Rad e/6 + e/3. *)
Lemma case_2a_value_outside :
  N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q4)) <= T0 * N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) /\
  T0 * N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) <= Rad * e / 6 + e / 3.
Proof.
  split.
  - pose proof (value_term_eq Q3 HQ3) as E3. pose proof (value_term_eq Q4 (Rlt_le _ _ HQ4)) as E4.
    unfold value_term in E3, E4. rewrite E3, E4, <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply (norm_nonneg N HN) |].
    apply div_le; [lra |]. apply le_of_div in maximal; [| lra].
    replace (T0 * (Q1 / (Q1 + Q3)) * (Q1 + Q4)) with (Q1 * (T0 * (Q1 + Q4) / (Q1 + Q3))) by (field; lra).
    rewrite <- (Rmult_1_r Q1) at 1. apply Rmult_le_compat_l; [lra |]. apply le_div; nra.
  - replace (Rad * e / 6 + e / 3) with (T0 * ((Rad + 2) * e / (6 * T0))) by (field; lra).
    apply Rmult_le_compat_l; [lra |]. destruct case_2a_value_inside. lra.
Qed.

(** T2.2-36 (eq 36-39), Rad for 1: in case (2a) the head's outputs on W_1 and W_2 differ by at
    most Rad e/(6 T0) + Rad e/6 + e/3 <= (Rad + 1) e/3. *)
Theorem case_2a :
  N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= Rad * e / (6 * T0) + Rad * e / 6 + e / 3 /\
  Rad * e / (6 * T0) + Rad * e / 6 + e / 3 <= (Rad + 1) * e / 3.
Proof.
  split.
  - pose proof (outputs_le_terms Q4 V4 (Rlt_le _ _ HQ4)).
    pose proof case_2a_weight_outside. pose proof case_2a_value_outside.
    unfold weight_term, value_term in *. simpl in *. lra.
  - assert (Rad * e / (6 * T0) <= Rad * e / 6); [| lra].
    pose proof Rad_nonneg. pose proof (Rmult_le_pos _ _ H He). apply div_le; [lra | nra].
Qed.
End CaseA.

(** T2.2-40 (eq 40-44), Rad for 1: in case (2b), where Q1 + Q3 and Q2 + Q3 are at most (e/4) Q4, the outputs
    differ by at most the two terms of the identity, these by at most (e/4)|V4-V2| + (e/4)|V1-V2| <= Rad e. *)
Theorem case_2b :
  Q1 + Q3 <= e / 4 * Q4 -> Q2 + Q3 <= e / 4 * Q4 ->
  let terms := N (fun i => Q4 * (Q2 - Q1) * (V4 i - V2 i) / ((Q1 + Q4) * (Q2 + Q4)))
               + N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q4)) in
  let bound := e / 4 * N (fun i => V4 i - V2 i) + e / 4 * N (fun i => V1 i - V2 i) in
  N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= terms /\ terms <= bound /\ bound <= Rad * e.
Proof.
  intros small1 small2 terms bound. pose proof (norm_nonneg N HN (fun i => V4 i - V2 i)).
  pose proof (norm_nonneg N HN (fun i => V1 i - V2 i)). split; [| split].
  - apply (outputs_le_terms Q4 V4). lra.
  - apply Rplus_le_compat.
    + change (weight_term Q4 V4 <= e / 4 * N (fun i => V4 i - V2 i)).
      eapply Rle_trans; [apply (weight_term_le Q4 V4); lra |].
      rewrite (homogeneous N HN). apply div_le; [lra |].
      replace (e / 4 * N (fun i => V4 i - V2 i) * (Q1 + Q4)) with
        (e / 4 * (Q1 + Q4) * N (fun i => V4 i - V2 i)) by ring.
      apply Rmult_le_compat_r; [assumption |]. apply Rabs_le. nra.
    + change (value_term Q4 <= e / 4 * N (fun i => V1 i - V2 i)).
      rewrite value_term_eq by lra. apply Rmult_le_compat_r; [assumption |]. apply div_le; nra.
  - pose proof (two_radii V4 HV4). pose proof (two_radii V1 HV1). unfold bound. nra.
Qed.

End TwoCases.

(** *** The inequalities as published: |V| <= 1, e = eps^(k+1), with T2.2-count3 as a hypothesis *)
Section Published.
Context {I : Type} (N : (I -> R) -> R) (HN : seminorm N).
Variables (Q1 Q2 Q3 Q4 T0 e : R) (V1 V2 V3 V4 : I -> R).
Hypotheses (HQ1 : 0 < Q1) (HQ2 : 0 < Q2) (HQ3 : 0 <= Q3) (HQ4 : 0 < Q4) (HT0 : 1 <= T0) (He : 0 <= e).
Hypotheses (HV1 : N V1 <= 1) (HV2 : N V2 <= 1) (HV3 : N V3 <= 1) (HV4 : N V4 <= 1).
Hypothesis ratio : / (1 + e / (12 * T0 ^ 2)) <= (Q1 + Q3) / (Q2 + Q3) <= 1 + e / (12 * T0 ^ 2).
Hypothesis averages : N (fun i => mix Q1 V1 Q3 V3 i - mix Q2 V2 Q3 V3 i) <= e / (3 * T0).
Hypothesis maximal : (Q1 + Q3) / T0 <= Q4.

(** T2.2-26: ... <= e/(6 T0). *)
Corollary case_2a_weight_outside_published :
  let d := N (fun i => (Q2 - Q1) * (V4 i - V2 i)) in
  N (fun i => Q4 * (Q2 - Q1) * (V4 i - V2 i) / ((Q1 + Q4) * (Q2 + Q4))) <= d / (Q1 + Q4) /\
  d / (Q1 + Q4) <= T0 * (d / (Q1 + Q3)) /\ T0 * (d / (Q1 + Q3)) <= e / (6 * T0).
Proof.
  pose proof (case_2a_weight_outside N HN Q1 Q2 Q3 Q4 T0 1 e V2 V4) as H. rewrite Rmult_1_l in H. auto.
Qed.

(** T2.2-31: at most e/(6 T0). *)
Corollary case_2a_weight_inside_published :
  N (fun i => Q3 * (Q2 - Q1) * (V3 i - V2 i) / ((Q1 + Q3) * (Q2 + Q3))) <= e / (6 * T0).
Proof.
  pose proof (case_2a_weight_inside N HN Q1 Q2 Q3 T0 1 e V1 V2 V3) as H. rewrite Rmult_1_l in H.
  destruct H; auto. lra.
Qed.

(** T2.2-32: at most e/(6 T0) + e/(3 T0) = e/(2 T0). *)
Corollary case_2a_value_inside_published :
  N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) <= e / (6 * T0) + e / (3 * T0) /\
  e / (6 * T0) + e / (3 * T0) = e / (2 * T0).
Proof.
  split; [| field; lra]. replace (e / (6 * T0) + e / (3 * T0)) with ((1 + 2) * e / (6 * T0)) by (field; lra).
  destruct (case_2a_value_inside N HN Q1 Q2 Q3 T0 1 e V1 V2 V3); auto. lra.
Qed.

(** T2.2-33: at most e/2. *)
Corollary case_2a_value_outside_published :
  N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q4)) <= T0 * N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) /\
  T0 * N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q3)) <= e / 2.
Proof.
  pose proof (case_2a_value_outside N HN Q1 Q2 Q3 Q4 T0 1 e V1 V2 V3) as H.
  replace (1 * e / 6 + e / 3) with (e / 2) in H by field. auto.
Qed.

(** T2.2-36: the head's outputs on W_1 and W_2 differ by at most e. *)
Corollary case_2a_published : N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= e.
Proof. destruct (case_2a N HN Q1 Q2 Q3 Q4 T0 1 e V1 V2 V3 V4); auto. lra. Qed.

End Published.

(** T2.2-40 as published: with |V| <= 1 they differ by at most the two terms, these by at most e, in case (2b). *)
Corollary case_2b_published {I} (N : (I -> R) -> R) Q1 Q2 Q3 Q4 e V1 V2 V4 :
  seminorm N -> 0 < Q1 -> 0 < Q2 -> 0 <= Q3 -> 0 < Q4 -> 0 <= e ->
  N V1 <= 1 -> N V2 <= 1 -> N V4 <= 1 ->
  Q1 + Q3 <= e / 4 * Q4 -> Q2 + Q3 <= e / 4 * Q4 ->
  let terms := N (fun i => Q4 * (Q2 - Q1) * (V4 i - V2 i) / ((Q1 + Q4) * (Q2 + Q4)))
               + N (fun i => Q1 * (V1 i - V2 i) / (Q1 + Q4)) in
  N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= terms /\ terms <= e.
Proof.
  intros. destruct (case_2b N H Q1 Q2 Q3 Q4 1 e V1 V2 V4) as [outputs [small bounded]]; auto.
  split; [exact outputs |]. unfold terms. lra.
Qed.

(** ** T2.2-V: averages of values are bounded like the values *)

Lemma norm_sum {I P} (N : (I -> R) -> R) (l : list P) (v : P -> I -> R) : seminorm N ->
  N (fun i => sum l (fun p => v p i)) <= sum l (fun p => N (v p)).
Proof.
  intros HN. induction l as [| p l IH]; cbn [sum].
  - replace (fun _ : I => 0) with (fun i : I => 0 * 0) by (extensionality i; ring).
    rewrite (homogeneous N HN 0 (fun _ => 0)), Rabs_R0. lra.
  - eapply Rle_trans; [apply (triangle N HN) |]. lra.
Qed.

(** T2.2-V: if |v| <= Rad on the positions [l] and the weights are positive, |V| <= Rad for
    V = sum lambda v / sum lambda. *)
Lemma average_norm {I P} (N : (I -> R) -> R) (l : list P) (lambda : P -> R) (v : P -> I -> R) Rad :
  seminorm N -> l <> nil -> (forall p, In p l -> 0 < lambda p) -> (forall p, In p l -> N (v p) <= Rad) ->
  N (fun i => sum l (fun p => lambda p * v p i) / sum l lambda) <= Rad.
Proof.
  intros HN Hl Hpos Hv. pose proof (sum_pos l lambda Hl Hpos) as HQ.
  replace (fun i => _) with (fun i => / sum l lambda * sum l (fun p => lambda p * v p i))
    by (extensionality i; field; lra).
  rewrite (homogeneous N HN), Rabs_right by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, HQ).
  rewrite Rmult_comm. apply div_le; [exact HQ |].
  eapply Rle_trans; [apply (norm_sum N l (fun p i => lambda p * v p i) HN) |].
  rewrite <- sum_scal. apply sum_le. intros p Hp. specialize (Hpos p Hp). specialize (Hv p Hp).
  rewrite (homogeneous N HN), Rabs_right by lra. nra.
Qed.

(** ** T2.2-count3 and T2.2-Q4: the maximal weight dominates the free positions *)

(** T2.2-count3, with the maximum [Lambda] taken over all positions: if every weight on the free
    positions is at most [Lambda], one of the weights on the other positions, then
    Q4 >= (1/T0) sum_t lambda(z(t),t), T0 the number of free positions. *)
Lemma maximal_weight_dominates {P} (free rest : list P) (free_weight rest_weight : P -> R) Lambda t :
  (forall p, In p free -> free_weight p <= Lambda) ->
  (forall p, In p rest -> 0 <= rest_weight p) ->
  In t rest -> rest_weight t = Lambda -> free <> nil ->
  sum free free_weight / INR (length free) <= sum rest rest_weight.
Proof.
  intros Hfree Hrest Ht E Hne.
  assert (0 < INR (length free)) by (apply lt_0_INR; destruct free; [easy | simpl; lia]).
  apply div_le; [lra |]. eapply Rle_trans; [exact (sum_le free _ (fun _ => Lambda) Hfree) |].
  rewrite sum_const, Rmult_comm. apply Rmult_le_compat_r; [lra |].
  rewrite <- E. apply sum_term; assumption.
Qed.

(** T2.2-Q4 repaired: Q4 >= (Q1 + Q2)/(2 T0) (published without the 2; see test_failures.v). *)
Lemma Q4_lower Q1 Q2 Q3 Q4 T0 :
  0 < T0 -> 0 <= Q3 -> (Q1 + Q3) / T0 <= Q4 -> (Q2 + Q3) / T0 <= Q4 -> (Q1 + Q2) / (2 * T0) <= Q4.
Proof.
  intros HT H3 H1 H2. apply le_of_div in H1, H2; [| exact HT ..]. apply div_le; nra.
Qed.
