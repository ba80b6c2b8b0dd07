(** N4 in full: from the hypotheses on the task to the number of parameters of the read-out, at every eps. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Retrieval Collision LowerBound Basins.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** E^(3/2). *)
Lemma power_three_halves (x : R) : 0 < x -> Rpower x (3 / 2) = x * sqrt x.
Proof.
by move=> x_pos; rewrite (_ : 3 / 2 = 1 + / 2); [rewrite Rpower_plus Rpower_1 // Rpower_sqrt | lra].
Qed.

(** The hypotheses on the task: A2.1, A2.2, A2.4 with continuous features f_i: [0,1]^d -> [0,1] and F_0 of class C^1 on
    [0,1]^D. *)
Record task_constraints d D (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R) : Prop := TaskConstraints {
  features_continuous : forall i, continuous_on_cube (f i);
  features01 : forall i x, 0 <= f i x <= 1;
  minimisers : exists xmin : 'I_D -> cube d,
    [/\ forall i x, (exists j, sval x j <> sval (xmin i) j) -> f i (xmin i) < f i x,
        forall i i', i != i' -> exists j, sval (xmin i) j <> sval (xmin i') j &
        exists dF, gradient_on_cube F0 dF /\ forall i, dF i [ffun j => f j (xmin j)] <> 0] }.

Section FiniteEps.
Variables (d D : nat) (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R).
Hypothesis task : task_constraints f F0.

(** N4 (finite-eps lower bound), for every Lipschitz read-out.

    Task: f_i: [0,1]^d -> [0,1] continuous, each with a unique global minimum (A2.1) at x^(i), the x^(i) pairwise
    distinct (A2.2), F_0 of class C^1 on [0,1]^D with no zero coordinate of its gradient at the vector of minima (A2.4).
    Then there is rho > 0, depending on the f_i and F_0 only, such that the following holds for all T and all sets S_i
    with at least m positions.

    Model: the block of DEF-H with s heads of dimension n, 0 < s < D, |P|_2 <= 1, entries of W_V and W_O in [-1,1] (no
    condition on W_Q, W_K, the class token and the scale), and a read-out with Lipschitz constant Lam for the sup norm.

    For every eps > 0, every G <= rho/(3 eps) + 1 (so G = floor(rho/(3 eps)) + 1 is allowed) and every tau with
    1 <= tau <= m - s - D + 1 and tau <= G, a model within less than eps of the task has
    Lam >= eps/(3 E^(3/2) tau) (ceil(C(G,tau)^(1/((n+1)s))) - 1), E = n s. *)
Theorem N4_lipschitz : exists2 rho, 0 < rho &
  forall (T m : nat) (S : 'I_D -> {set 'I_T}), (forall i, (m <= #|S i|)%N) ->
  forall (s n : nat) (A : block (cube d) T s n) (F : (coordinate s n -> R) -> R) (Lam : R),
  (0 < s)%N -> (0 < n)%N -> (s < D)%N -> block_constraints A -> lipschitz_readout F Lam ->
  forall (eps : R) (G tau c : nat), 0 < eps -> INR G <= rho / (3 * eps) + 1 ->
  (0 < tau)%N -> (tau + s + D <= m.+1)%N -> (tau <= G)%N ->
  (let root := Rpower (INR 'C(G, tau)) (/ INR (n.+1 * s)) in root <= INR c < root + 1) ->
  (forall X : 'I_T -> cube d, Rabs (F (attention A X) - retrieval f S F0 X) < eps) ->
  eps / (3 * Rpower (INR (n * s)) (3 / 2) * INR tau) * (INR c - 1) <= Lam.
Proof.
have [f_cont f01 [xmin [unique distinct [dF [F0_C1 slopes]]]]] := task.
have xmin_min i x : f i (xmin i) <= f i x.
  have [/forallP same|] := boolP [forall j, Req_EM_T (sval x j) (sval (xmin i) j) : bool].
    by right; apply: continuous_ext => // j; have := same j; case: Req_EM_T.
  by rewrite negb_forall => /existsP[j]; case: Req_EM_T => // neq _; apply/Rlt_le/unique; exists j.
have [D_gt1|D_le1] := ltnP 1 D; last first.
  by exists 1; [lra | move=> *; exfalso; ssrlia].
have [rho rho_pos grids] := N4_grid_points D_gt1 f_cont f01 unique distinct F0_C1 slopes.
exists rho => // T m S S_large s n A F Lam s_gt0 n_gt0 s_lt A_ok F_ok eps G tau c eps_pos G_le tau_gt0 tau_le tauG ceil.
have [grid [increasing basins steps]] := grids eps G eps_pos G_le.
rewrite power_three_halves; last by apply: lt_0_INR; apply/ltP; rewrite muln_gt0 n_gt0.
move=> approximates.
exact: (N4_grid S_large xmin_min increasing basins steps A_ok F_ok s_gt0 n_gt0 s_lt tau_gt0 tau_le).
Qed.

(** N4 (finite-eps lower bound). The same with a two-layer read-out with 1-Lipschitz activation and weights in [-1,1]
    (biases and width free): it has at least eps/(3 E^(3/2) tau) (ceil(C(G,tau)^(1/((n+1)s))) - 1) non-zero first-layer
    weights. *)
Theorem N4 : exists2 rho, 0 < rho &
  forall (T m : nat) (S : 'I_D -> {set 'I_T}), (forall i, (m <= #|S i|)%N) ->
  forall (s n p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  (0 < s)%N -> (0 < n)%N -> (s < D)%N -> block_constraints A -> readout_constraints F ->
  forall (eps : R) (G tau c : nat), 0 < eps -> INR G <= rho / (3 * eps) + 1 ->
  (0 < tau)%N -> (tau + s + D <= m.+1)%N -> (tau <= G)%N ->
  (let root := Rpower (INR 'C(G, tau)) (/ INR (n.+1 * s)) in root <= INR c < root + 1) ->
  (forall X : 'I_T -> cube d, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  eps / (3 * Rpower (INR (n * s)) (3 / 2) * INR tau) * (INR c - 1) <= INR (nonzero_weights F).
Proof.
have [rho rho_pos bound] := N4_lipschitz; exists rho => // T m S S_large s n p A F s_gt0 n_gt0 s_lt A_ok F_ok.
exact: (bound T m S S_large s n A (read F) _ s_gt0 n_gt0 s_lt A_ok (read_moves F_ok)).
Qed.

End FiniteEps.
