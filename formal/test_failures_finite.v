(** Wrong variants of the finite theorems, refuted: a wrong constant, a flipped sign, a dropped hypothesis. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Pigeonhole Combinatorics Retrieval Colourings Networks Halving.
From Headcount Require Import Choices Collision LowerBound Basins FiniteEps Rate.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** ** N4 step 4 *)

(** As many cells as sequences are not enough: two points, two cells. *)
Goal ~ forall (tau G : nat) (cells : finType) (cell : tau.-tuple 'I_G -> cells), #|cells| <= 'C(G, tau) ->
  exists p q, [/\ p \in increasing tau G, q \in increasing tau G, p != q & cell p = cell q].
Proof.
move=> /(_ 1 2 [finType of 'I_2] (fun p => tnth p ord0)); rewrite card_ord => /(_ isT)[p [q [_ _ /negP neq same]]].
by apply: neq; apply/eqP/eq_from_tnth => k; rewrite ord1.
Qed.

Local Open Scope R_scope.

(** Half the width of a cell is too little: one cell, two numbers 0 and 1. *)
Goal ~ forall (I : finType) (g tau G : nat) (a : tau.-tuple 'I_G -> I -> R) (lo hi : I -> R),
  (0 < g)%N -> (g ^ #|I| < 'C(G, tau))%N ->
  (forall p j, p \in increasing tau G -> lo j <= a p j <= hi j) ->
  exists p q, [/\ p \in increasing tau G, q \in increasing tau G, p != q &
                  forall j, Rabs (a p j - a q j) <= (hi j - lo j) / (2 * INR g)].
Proof.
move=> /(_ [finType of unit] 1%N 1%N 2%N (fun p _ => INR (tnth p ord0)) (fun=> 0) (fun=> 1) isT) wrong.
have [||p [q [_ _ /negP neq /(_ tt)]]] := wrong; first by rewrite card_unit.
  move=> p _ _; split; first exact: pos_INR.
  by rewrite -[X in _ <= X]/(INR 1); apply: le_INR; apply/leP; rewrite -ltnS.
have far : INR (tnth p ord0) <> INR (tnth q ord0).
  by move=> /INR_eq/val_inj same; apply: neq; apply/eqP/eq_from_tnth => k; rewrite ord1.
move: far; case: (tnth p ord0) => -[|[|//]] ? /=; case: (tnth q ord0) => -[|[|//]] ? /= far //.
  by rewrite /Rabs; case: Rcase_abs; lra.
by rewrite /Rabs; case: Rcase_abs; lra.
Qed.

(** ** N10 *)

(** Without 2 m <= T + 1: two numbers 0 and 1, m = 2. *)
Goal ~ forall T m (x : 'I_T -> R) t, (0 < m <= T)%N ->
  x t = (1 - max_min_complement m x t) - Rmax 0 (kth_smallest m x - max_min_through m x t).
Proof.
move=> /(_ 2%N 2%N (fun t => INR t) ord_max isT).
set x := fun t : 'I_2 => INR t; have x0 : x ord0 = 0 by []. have x1 : x ord_max = 1 by [].
rewrite L2_Z // L2_Y //.
have in_all (B : {set 'I_2}) t : #|B| == 2%N -> t \in B.
  move=> /eqP B2; suff -> : B = setT by rewrite inE.
  by apply/eqP; rewrite eqEcard subsetT cardsT card_ord B2.
have v_le : kth_largest 2 x <= 0.
  rewrite -L2_U // /max_min.
  have all_in : [set: 'I_2] \in enum [set B : {set 'I_2} | #|B| == 2%N] by rewrite mem_enum inE cardsT card_ord.
  have [[B B_in ->] _] := maximum_spec (fun B => min_over B x) all_in; rewrite -x0; apply: min_over_le.
  by move: B_in; rewrite mem_enum inE => /in_all.
have w_ge : 1 <= kth_smallest 2 x.
  have : 1 <= 1 - max_min_complement 2 x ord0; last by rewrite L2_Z // x0 /Rmax; case: Rle_dec; lra.
  suff : max_min_complement 2 x ord0 <= 0 by lra.
  rewrite /max_min_complement.
  have all_in : [set: 'I_2] \in enum [set A : {set 'I_2} | (ord0 \in A) && (#|A| == 2%N)].
    by rewrite mem_enum !inE cardsT card_ord.
  have [[B B_in ->] _] := maximum_spec (fun B => min_over B (fun u => 1 - x u)) all_in.
  apply: (@Rle_trans _ (1 - x ord_max)); last by rewrite x1; lra.
  by apply: min_over_le; move: B_in; rewrite mem_enum inE => /andP[_ /in_all].
move: (kth_largest 2 x) (kth_smallest 2 x) v_le w_ge => v w v_le w_ge; rewrite -[INR _]/(x ord_max) !x1.
by rewrite /Rmax /Rmin; do ?case: Rle_dec; lra.
Qed.

(** ** N9 *)

(** D >= 2^m in place of 2^(m-1). *)
Goal ~ forall (T D m : nat) (S : 'I_D -> {set 'I_T}),
  (forall i, (m <= #|S i|)%N) -> not_two_colourable S -> (2 ^ m <= D)%N.
Proof.
move=> /(_ 3%N 3%N 2%N (triangle (inord 0) (inord 1) (inord 2))) wrong.
have // : (2 ^ 2 <= 3)%N.
apply: wrong => [i|]; last exact: triangle_not_two_colourable.
by rewrite card_triangle // -val_eqE /= !inordK.
Qed.

(** N9's growth without the factor 8 k + 2: refuted by one set of one point out of four. *)
Goal ~ forall k D (S : 'I_D -> {set 'I_(4 * k)}),
  (forall i, (k <= #|S i|)%N) -> not_two_colourable S -> (64 ^ k <= 27 ^ k * D)%N.
Proof.
move=> /(_ 1%N 1%N (fun=> [set Ordinal (isT : (0 < 4 * 1)%N)])) wrong.
have // : (64 ^ 1 <= 27 ^ 1 * 1)%N.
apply: wrong => [i|B]; first by rewrite cards1.
by exists ord0; rewrite /monochromatic !sub1set inE; case: (_ \in B).
Qed.

(** ** L9, N12 *)

(** Half the overshoot without the shift: T = 4, n = 1, x = (1/4, ..., 1/4). *)
Goal ~ forall (T n : nat) (x : 'I_T -> R), (0 < n)%N -> (0 < T)%N -> (forall t, 0 <= x t <= 1) ->
  fhat n x - maximum [seq x t | t <- enum 'I_T] <= / (2 * INR n).
Proof.
move=> /(_ 4%N 1%N (fun=> 1 / 4) isT isT) wrong; have := wrong ltac:(move=> _; lra).
have [[t _ ->] _] := @maximum_spec _ (enum 'I_4) (fun=> 1 / 4) ord0 ltac:(by rewrite mem_enum).
rewrite /fhat big_ord_recl big_ord0 /h2 /h1 /relu (eq_bigr (fun=> 1 / 4)) => [|u _]; last first.
  by rewrite /= /Rmax; case: Rle_dec; lra.
rewrite sum_const (_ : INR #|[pred i : 'I_4 | true]| = 4); last first.
  by rewrite (@eq_card _ _ 'I_4) // card_ord /=; ring.
by rewrite /= /Rmax; do ?case: Rle_dec; lra.
Qed.

(** The halving identity with the last sign flipped. *)
Goal ~ forall a b, Rmax a b = relu (a - b) + relu b + relu (- b).
Proof. by move=> /(_ 0 (-1)); rewrite /relu /Rmax; do ?case: Rle_dec; lra. Qed.

(** ** N4, N5 *)

(* One unit that adds two inputs. *)
Definition adder : readout [finType of bool] 1 :=
  {| first_layer := fun _ _ => 1; first_bias := fun=> 0; second_layer := fun=> 1; second_bias := 0;
     activation := fun r => r |}.

Lemma adder_ok : readout_constraints adder.
Proof. by split=> *; rewrite /= ?Rabs_R1; exact: Rle_refl. Qed.

Lemma read_adder u : read adder u = u true + u false.
Proof. by rewrite /read !big_ord_recl !big_ord0 !big_bool /=; ring. Qed.

(** N5 with the number of units in place of the number of weights. *)
Goal ~ forall (E : finType) (p : nat) (F : readout E p) u u' delta, readout_constraints F -> 0 <= delta ->
  (forall e, Rabs (u e - u' e) <= delta) -> Rabs (read F u - read F u') <= INR p * delta.
Proof.
move=> /(_ _ _ adder (fun=> 1) (fun=> 0) 1 adder_ok Rle_0_1) wrong.
have : Rabs (read adder (fun=> 1) - read adder (fun=> 0)) <= INR 1 * 1.
  by apply: wrong => e; rewrite Rminus_0_r Rabs_R1; exact: Rle_refl.
by rewrite !read_adder Rabs_pos_eq /=; lra.
Qed.

(** N4's rate with as many heads as features, or without the -1 in the exponent: not what is proved. *)
Goal forall d D f F0 (task : @task_constraints d D f F0) (s n T0 : nat),
  (0 < s)%N -> (0 < n)%N -> (s <= D)%N -> (0 < T0)%N -> True.
Proof.
move=> d D f F0 task s n T0 s_gt0 n_gt0 s_le T0_gt0.
Fail have := N4_rate task s_gt0 n_gt0 s_le T0_gt0.
exact: Logic.I.
Qed.

Goal forall d D f F0 (task : @task_constraints d D f F0) (s n T0 : nat),
  (0 < s)%N -> (0 < n)%N -> (s < D)%N -> (0 < T0)%N ->
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (T : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T0 + s + D <= #|S i|.+1)%N) ->
  forall (p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  block_constraints A -> readout_constraints F -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- (INR T0 / ((INR n + 1) * INR s))) <= INR (nonzero_weights F)].
Proof.
move=> d D f F0 task s n T0 s_gt0 n_gt0 s_lt T0_gt0.
Fail exact: (N4_rate task s_gt0 n_gt0 s_lt T0_gt0).
Abort.
