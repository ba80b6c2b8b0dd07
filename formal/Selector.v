(** N10 and L3: the smooth selector recovers a token within 0.277859/sqrt(q), so it converges uniformly. *)

From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Combinatorics Constants.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** The mean of N and Y with weights e^(q (N - w)^2) and e^(q (Y - v)^2). *)
Definition smooth_mean (q w v N Y : R) : R :=
  (exp (q * (N - w) ^ 2) * N + exp (q * (Y - v) ^ 2) * Y) / (exp (q * (N - w) ^ 2) + exp (q * (Y - v) ^ 2)).

(* Two values p (weight 1, off by d <= a) and x (weight e^(q a^2)). *)
Local Lemma mean_off (a d E : R) : 0 <= d <= a -> 1 <= E -> d / (1 + E) <= a / (1 + E).
Proof. by move=> da E1; apply: Rmult_le_compat_r; [apply/Rlt_le/Rinv_0_lt_compat; lra | lra]. Qed.

(** With N = max(x, w), Y = min(x, v) and w <= v the mean is within a/(1 + e^(q a^2)) of x for some a >= 0. *)
Lemma smooth_mean_close q w v x : 0 < q -> w <= v ->
  exists2 a, 0 <= a & Rabs (smooth_mean q w v (Rmax x w) (Rmin x v) - x) <= a / (1 + exp (q * a ^ 2)).
Proof.
move=> q_pos wv; have pos y := exp_pos y.
have ge1 a : 1 <= exp (q * a ^ 2).
  have := exp_ineq1_le (q * a ^ 2); have : 0 <= q * a ^ 2 by apply: Rmult_le_pos; [lra | exact: pow2_ge_0].
  lra.
have sq y z : q * (y - z) ^ 2 = q * (z - y) ^ 2 by ring.
have zero y : q * (y - y) ^ 2 = 0 by ring.
have [xw|xw] := Rle_lt_dec x w.
  exists (v - x); first lra.
  rewrite Rmax_right // Rmin_left; last lra.
  rewrite /smooth_mean zero exp_0 sq; set E := exp _; have E1 : 1 <= E := ge1 _.
  rewrite (_ : _ - x = (w - x) / (1 + E)); last by field; lra.
  rewrite Rabs_pos_eq; last by apply: Rmult_le_pos; [lra | apply/Rlt_le/Rinv_0_lt_compat; lra].
  by apply: mean_off => //; lra.
have [xv|xv] := Rle_lt_dec x v.
  exists 0; first lra.
  rewrite Rmax_left ?Rmin_left //; last lra.
  rewrite /smooth_mean; set E := exp _; set E' := exp _; have [E_pos E'_pos] : 0 < E /\ 0 < E' by split; exact: pos.
  rewrite (_ : _ - x = 0); last by field; lra.
  by rewrite Rabs_R0 /Rdiv Rmult_0_l; lra.
exists (x - w); first lra.
rewrite Rmax_left ?Rmin_right; try lra.
rewrite /smooth_mean zero exp_0; set E := exp _; have E1 : 1 <= E := ge1 _.
rewrite (_ : _ - x = - ((x - v) / (1 + E))); last by field; lra.
rewrite Rabs_Ropp Rabs_pos_eq; last by apply: Rmult_le_pos; [lra | apply/Rlt_le/Rinv_0_lt_compat; lra].
by apply: mean_off => //; lra.
Qed.

Section Selector.
Variables (T m : nat) (x : 'I_T -> R).
Hypotheses (m_gt0 : (0 < m)%N) (m_le : (m <= T)%N) (mT : (m.*2 <= T.+1)%N).

(** The selector of L3: the mean of 1 - Z_t and Y_t. *)
Definition smooth_selector (q : R) (t : 'I_T) : R :=
  smooth_mean q (kth_smallest m x) (kth_largest m x) (1 - max_min_complement m x t) (max_min_through m x t).

(** N10: it is within a/(1 + e^(q a^2)) <= 0.277859/sqrt(q) of x_t. *)
Theorem smooth_selector_close q t : 0 < q ->
  (exists2 a, 0 <= a & Rabs (smooth_selector q t - x t) <= a / (1 + exp (q * a ^ 2))) /\
  Rabs (smooth_selector q t - x t) <= 277859 / 1000000 / sqrt q.
Proof.
move=> q_pos; rewrite /smooth_selector L2_Z // L2_Y //.
have [a a_ge0 close] := smooth_mean_close (x t) q_pos (smallest_le_largest_real x m_gt0 mT).
split; first by exists a.
by apply: Rle_trans close _; have [upper _] := selector_error q q_pos; exact: upper.
Qed.

End Selector.

(** L3: it tends to x_t uniformly in the sequence and the position as q grows. *)
Theorem smooth_selector_converges (T m : nat) : (0 < m)%N -> (m <= T)%N -> (m.*2 <= T.+1)%N ->
  forall eps, 0 < eps -> exists q0, forall q, q0 < q -> forall (x : 'I_T -> R) t,
  Rabs (smooth_selector m x q t - x t) < eps.
Proof.
move=> m_gt0 m_le mT eps eps_pos; exists (/ (eps * eps)) => q q_large x t.
have ee_pos : 0 < eps * eps by apply: Rmult_lt_0_compat.
have q_pos : 0 < q by apply: Rlt_trans q_large; exact: Rinv_0_lt_compat.
have [_ close] := smooth_selector_close x m_gt0 m_le mT t q_pos; apply: Rle_lt_trans close _.
have root_pos := sqrt_lt_R0 q q_pos.
have root_large : / eps < sqrt q.
  rewrite -(sqrt_square (/ eps)); last by apply/Rlt_le/Rinv_0_lt_compat.
  by apply: sqrt_lt_1; [apply/Rlt_le/Rmult_lt_0_compat; exact: Rinv_0_lt_compat | lra | rewrite -Rinv_mult].
apply: (Rmult_lt_reg_r (sqrt q)) => //; rewrite (_ : _ / sqrt q * sqrt q = 277859 / 1000000); last by field; lra.
have : eps * / eps < eps * sqrt q by apply: Rmult_lt_compat_l.
by rewrite Rinv_r; lra.
Qed.
