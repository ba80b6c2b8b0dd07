(** Two numerical constants, by certified interval arithmetic: N10's selector error and N7's grid error. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Headcount Require Import Algebra.
Open Scope R_scope.

(** ** N10: max_a a/(1 + e^(q a^2)) *)

Lemma selector_constant_upper x : x / (1 + exp (x ^ 2)) <= 277859 / 1000000.
Proof.
  apply div_le; [pose proof (exp_pos (x ^ 2)); lra |].
  destruct (Rle_lt_dec x 0) as [Hneg | Hpos]; [pose proof (exp_pos (x ^ 2)); nra |].
  destruct (Rle_lt_dec x 4) as [Hsmall | Hlarge].
  - apply Rminus_le. interval with (i_bisect x, i_autodiff x, i_prec 60, i_depth 40).
  - pose proof (exp_ineq1_le (x ^ 2)). nra.
Qed.

(** N10: the smooth selector's error a/(1 + e^(q a^2)) is at most 0.277859/sqrt(q) (results.md rounds up
    to 0.27787), and some a exceeds 0.277858/sqrt(q). *)
Theorem selector_error q : 0 < q ->
  (forall a, a / (1 + exp (q * a ^ 2)) <= 277859 / 1000000 / sqrt q) /\
  (exists a, 277858 / 1000000 / sqrt q < a / (1 + exp (q * a ^ 2))).
Proof.
  intros Hq. pose proof (sqrt_lt_R0 q Hq) as Hs.
  assert (E : forall a, q * a ^ 2 = (sqrt q * a) ^ 2).
  { intros a. rewrite Rpow_mult_distr, pow2_sqrt by lra. reflexivity. }
  assert (scale : forall a, a / (1 + exp (q * a ^ 2)) = sqrt q * a / (1 + exp ((sqrt q * a) ^ 2)) / sqrt q).
  { intros a. rewrite E. pose proof (exp_pos ((sqrt q * a) ^ 2)). field. lra. }
  split.
  - intros a. rewrite scale. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Hs |].
    apply selector_constant_upper.
  - exists (8596 / 10000 / sqrt q). rewrite scale.
    replace (sqrt q * (8596 / 10000 / sqrt q)) with (8596 / 10000) by (field; lra).
    apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, Hs |]. interval.
Qed.

(** ** N7: -ln on a geometric grid of ratio e *)

(** The exponential lies below its chord on [0, 1]. *)
Lemma exp_below_chord y : 0 <= y <= 1 -> exp y <= 1 + y * (exp 1 - 1).
Proof.
  intros Hy. (* tangents at y, taken at 0 and at 1 *)
  assert (tangent : forall z, exp y * (1 + (z - y)) <= exp z).
  { intros z. replace (exp z) with (exp y * exp (z - y)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | apply exp_ineq1_le]. }
  pose proof (tangent 0) as T0. pose proof (tangent 1) as T1. rewrite exp_0 in T0.
  apply (Rmult_le_compat_l (1 - y)) in T0; [| lra]. apply (Rmult_le_compat_l y) in T1; [| lra]. lra.
Qed.

(** N7: between neighbouring grid points a and e a the chord of ln errs by at most 0.1234, always to the
    same side: 0 <= ln u - (ln a + (u/a - 1)/(e - 1)) <= 0.1234. *)
Theorem log_chord_error a u : 0 < a -> a <= u <= exp 1 * a ->
  0 <= ln u - (ln a + (u / a - 1) / (exp 1 - 1)) <= 1234 / 10000.
Proof.
  intros Ha Hu. set (t := u / a). assert (He : 2 < exp 1) by interval.
  assert (Ht : 1 <= t <= exp 1) by (split; [apply le_div | apply div_le]; lra).
  replace (ln u - (ln a + (t - 1) / (exp 1 - 1))) with (ln t - (t - 1) / (exp 1 - 1)).
  2: { unfold t, Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra). ring. }
  split.
  - assert (Hy : 0 <= ln t <= 1).
    { split; [rewrite <- ln_1; apply ln_le; lra |]. rewrite <- (ln_exp 1). apply ln_le; lra. }
    pose proof (exp_below_chord (ln t) Hy) as H. rewrite exp_ln in H by lra.
    assert ((t - 1) / (exp 1 - 1) <= ln t); [apply div_le |]; lra.
  - assert (Ht' : 1 <= t <= 272 / 100) by (assert (exp 1 <= 272 / 100) by interval; lra).
    clear -Ht'. interval with (i_bisect t, i_autodiff t, i_prec 60, i_depth 40).
Qed.
