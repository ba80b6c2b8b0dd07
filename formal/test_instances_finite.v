(** Nothing is proved about the empty set: instances that satisfy all hypotheses of the finite theorems. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Pigeonhole Combinatorics Retrieval Colourings.
From Headcount Require Import Collision LowerBound Basins FiniteEps Counting Rate.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** N4 step 4: two of the three increasing pairs out of three points share one of two cells. *)
Goal forall cell : 2.-tuple 'I_3 -> 'I_2,
  exists p q, [/\ p \in increasing 2 3, q \in increasing 2 3, p != q & cell p = cell q].
Proof. by move=> cell; apply: (@N4_pigeonhole 2 3 [finType of 'I_2]); rewrite card_ord. Qed.

(** N10 at m = T/4 = 1, T = 4. *)
Goal forall (x : 'I_4 -> R) t,
  x t = (1 - max_min_complement 1 x t) - Rmax 0 (kth_smallest 1 x - max_min_through 1 x t).
Proof. by move=> x t; apply: N10. Qed.

(** N9: one set of one point has no 2-colouring, and 2^0 = 1 set is enough. *)
Goal not_two_colourable (fun _ : 'I_1 => [set ord0 : 'I_1]).
Proof.
move=> B; exists ord0; rewrite /monochromatic !sub1set inE.
by case: (ord0 \in B).
Qed.

(** ** N4: tokens in [0,1], features x and 1 - x, outer map z_1 + z_2 *)

Section Task.

Definition feature (i : 'I_2) (x : cube 1) : R := if i == ord0 then sval x ord0 else 1 - sval x ord0.
Definition outer (u : {ffun 'I_2 -> R}) : R := u ord0 + u ord_max.

Lemma corner_in_cube (i : 'I_2) (j : 'I_1) : 0 <= (if i == ord0 then 0 else 1) <= 1.
Proof. by case: eqP; lra. Qed.
Definition corner (i : 'I_2) : cube 1 := exist _ (fun _ => if i == ord0 then 0 else 1) (corner_in_cube i).

Lemma feature_continuous i : continuous_on_cube (feature i).
Proof.
move=> x e e_pos; exists e => // y close; rewrite /feature; case: eqP => _; first exact: close.
have -> : 1 - sval y ord0 - (1 - sval x ord0) = - (sval y ord0 - sval x ord0) by ring.
by rewrite Rabs_Ropp; exact: close.
Qed.

Lemma feature01 i x : 0 <= feature i x <= 1.
Proof. by have := svalP x ord0; rewrite /feature; case: eqP => _; lra. Qed.

Lemma feature_unique i x : (exists j, sval x j <> sval (corner i) j) -> feature i (corner i) < feature i x.
Proof.
move=> [j]; rewrite ord1 /feature /=; have := svalP x ord0; case: eqP => _ x01 neq.
  by case: (Rle_lt_or_eq_dec _ _ (proj1 x01)) => // eq; case: neq; rewrite -eq.
by case: (Rle_lt_or_eq_dec _ _ (proj2 x01)) => [|eq]; [lra | case: neq; rewrite eq].
Qed.

Lemma corners_distinct (i i' : 'I_2) : i != i' -> exists j, sval (corner i) j <> sval (corner i') j.
Proof.
move=> neq; exists ord0 => /=; case: i neq => -[|[|//]] ?; case: i' => -[|[|//]] ? //= _; lra.
Qed.

Lemma outer_C1 : gradient_on_cube outer (fun _ _ => 1).
Proof.
split=> [i u e _ e_pos|i u e _ e_pos]; exists 1; try lra.
  move=> h _ _; rewrite (_ : outer (shift u i h) - outer u - h * 1 = 0).
    by rewrite Rabs_R0; apply: Rmult_le_pos; [lra | exact: Rabs_pos].
  by rewrite /outer !ffunE; case: i => -[|[|//]] ? /=; ring.
by move=> u' _ _; rewrite Rminus_diag_eq // Rabs_R0.
Qed.

Lemma task_ok : task_constraints feature outer.
Proof.
split; [exact: feature_continuous | exact: feature01 | exists corner].
split; [exact: feature_unique | exact: corners_distinct | exists (fun _ _ => 1)].
by split; [exact: outer_C1 | move=> i; lra].
Qed.

(** All hypotheses of N4 on the task hold, so it has a rho > 0, *)
Goal exists2 rho, 0 < rho & forall (T : nat) (S : 'I_2 -> {set 'I_T}), (forall i, (4 <= #|S i|)%N) ->
  forall (A : block (cube 1) T 1 1) F Lam, block_constraints A -> lipschitz_readout F Lam ->
  forall eps, 0 < eps -> (2 <= grid_points rho eps)%N ->
  (forall X, Rabs (F (attention A X) - retrieval feature S outer X) < eps) -> N4_bound 1 1 1 2 rho eps <= Lam.
Proof.
have [rho rho_pos bound] := N4_bound_holds task_ok.
exists rho => // T S S_large A F Lam A_ok F_ok eps eps_pos two close.
exact: (bound T 4%N S S_large 1%N 1%N A F Lam isT isT isT A_ok F_ok eps 2%N).
Qed.

(** and so do those of T2.2 with one head of dimension 1 and twelve positions. *)
Goal exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (p : nat) (A : block (cube 1) 12 1 1) (F : readout (coordinate 1 1) p),
  block_constraints A -> readout_constraints F -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (read F (attention A X) - retrieval feature (fun=> setT) outer X) < eps) ->
  c * Rpower eps (- published_exponent 1 1 (INR 12 / 4 - INR 1 - INR 2 + 1)) <= INR (nonzero_weights F)].
Proof.
apply: (T2_2 task_ok) => //; first by move=> i; rewrite cardsT card_ord.
by rewrite /=; lra.
Qed.

End Task.

(** A1 for a block and a read-out. *)
Goal exists (A : block (cube 1) 8 1 1) (F : readout (coordinate 1 1) 1), block_constraints A /\ readout_constraints F.
Proof.
exists {| encode := fun x t _ => if t == ord0 then 1 else 0; class_token := fun=> 5; beta := 100;
  W_Q := fun _ _ _ => 7; W_K := fun _ _ _ => 1; W_V := fun _ _ _ => 1; W_O := fun _ _ => 1 |}.
exists {| first_layer := fun _ _ => 1; first_bias := fun=> 3; second_layer := fun=> 1; second_bias := 0;
  activation := fun r => r |}.
have one : Rabs 1 <= 1 by rewrite Rabs_R1; lra.
split; split=> //; last by move=> *; right.
move=> x t.
apply: (@Rle_trans _ (INR #|coordinate 1 1| * 1)); last by rewrite card_prod !card_ord /=; lra.
by apply: sum_all_le => e /=; case: ifP => _; lra.
Qed.
