(** Density of the target class: the bump of L1.2 (as published and repaired), L1.4, the step of L1.7. *)

From Coq Require Import Reals List Lra.
From Headcount Require Import Sums Algebra Softmax.
Import ListNotations.
Open Scope R_scope.

(** L1.2: g = p - delta1 phi + delta2 phi q with q(x) = |x - xi|^2, on any set of points. *)
Section Bump.
Context {X : Type}.
Variables (p phi q : X -> R) (xi : X) (delta1 delta2 : R).
Hypothesis xi_minimises : forall x, p xi <= p x.
Hypothesis phi_range : forall x, 0 <= phi x <= 1.
Hypothesis phi_xi : phi xi = 1.
Hypothesis q_xi : q xi = 0.
Hypothesis q_positive : forall x, x <> xi -> 0 < q x.
Hypothesis delta1_positive : 0 < delta1.
Hypothesis delta2_positive : 0 < delta2.

Definition bumped (x : X) : R := p x - delta1 * phi x + delta2 * phi x * q x.

(** L1.2, first two lines: g(xi) = p(xi) - delta1, and g >= p where phi = 0. *)
Lemma bumped_at_minimiser : bumped xi = p xi - delta1.
Proof. unfold bumped. rewrite phi_xi, q_xi. ring. Qed.

Lemma bumped_off_support x : phi x = 0 -> p x <= bumped x.
Proof. intros E. unfold bumped. rewrite E. lra. Qed.

(** L1.2, third line, is false as published: g(x) > p(x) fails wherever phi > 0 and
    |x - xi|^2 < delta1/delta2, that is at all points near xi. *)
Theorem bumped_below x : 0 < phi x -> q x < delta1 / delta2 -> bumped x < p x.
Proof.
  intros Hphi Hq. unfold bumped. apply (Rmult_lt_compat_l delta2) in Hq; [| exact delta2_positive].
  replace (delta2 * (delta1 / delta2)) with delta1 in Hq by (field; lra). nra.
Qed.

(** L1.2, repaired: if 0 <= phi <= 1, then xi is still the unique global minimiser of g. *)
Theorem bumped_unique_minimiser x : x <> xi -> bumped xi < bumped x.
Proof.
  intros Hx. rewrite bumped_at_minimiser. unfold bumped. specialize (q_positive x Hx).
  specialize (xi_minimises x). destruct (phi_range x) as [H0 H1].
  destruct (Rle_lt_or_eq_dec 0 (phi x) H0) as [Hpos | E]; [| rewrite <- E; lra].
  assert (0 < delta2 * phi x * q x) by (repeat apply Rmult_lt_0_compat; assumption). nra.
Qed.

(** L1.4: |g - p| <= delta1 + delta2 (2r)^2, sharpened: at most the larger of the two. *)
Theorem bumped_close r x : (phi x <> 0 -> q x <= (2 * r) ^ 2) -> 0 <= q x ->
  Rabs (bumped x - p x) <= Rmax delta1 (delta2 * (2 * r) ^ 2) /\
  Rmax delta1 (delta2 * (2 * r) ^ 2) <= delta1 + delta2 * (2 * r) ^ 2.
Proof.
  intros Hsupp Hq. set (b := delta2 * (2 * r) ^ 2).
  assert (Hb : 0 <= b) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  split; [| apply Rmax_lub; lra]. unfold bumped.
  destruct (Req_dec (phi x) 0) as [E | E].
  - rewrite E. replace (_ - _) with 0 by ring. rewrite Rabs_R0. apply Rle_trans with delta1; [lra | apply Rmax_l].
  - specialize (Hsupp E). destruct (phi_range x) as [H0 H1].
    assert (0 <= delta2 * q x <= b) by (unfold b; split; [apply Rmult_le_pos | apply Rmult_le_compat_l]; lra).
    pose proof (Rmax_l delta1 b). pose proof (Rmax_r delta1 b). apply Rabs_le. split; nra.
Qed.

End Bump.

(** L1.2 as published is false: xi = 0 on the line, p = 0, phi = 1 on [-1, 1], delta1 = delta2 = 1. *)
Theorem published_bump_false : ~ forall (p phi q : R -> R) (delta1 delta2 : R),
  (forall x, p 0 <= p x) -> (forall x, 0 <= phi x <= 1) -> phi 0 = 1 -> (forall x, q x = x ^ 2) ->
  0 < delta1 -> 0 < delta2 -> forall x, x <> 0 -> 0 < phi x -> p x < bumped p phi q delta1 delta2 x.
Proof.
  intros H. specialize (H (fun _ => 0) (fun x => if Rle_dec (Rabs x) 1 then 1 else 0) (fun x => x ^ 2) 1 1).
  assert (E : Rabs (1 / 2) <= 1) by (rewrite Rabs_right; lra).
  assert (0 < bumped (fun _ => 0) (fun x => if Rle_dec (Rabs x) 1 then 1 else 0) (fun x => x ^ 2) 1 1 (1 / 2)).
  - apply H; try lra; [intros; lra | | | reflexivity |]; cbv beta.
    + intros x. destruct (Rle_dec (Rabs x) 1); lra.
    + rewrite Rabs_R0. destruct (Rle_dec 0 1); lra.
    + destruct (Rle_dec (Rabs (1 / 2)) 1); lra.
  - unfold bumped in H0. destruct (Rle_dec (Rabs (1 / 2)) 1); [lra | contradiction].
Qed.
