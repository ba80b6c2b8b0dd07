(** T2.2 (too few heads) as a theorem about the block of DEF-H: N4's finite bound, its rate as eps -> 0, and the
    published exponent. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require ReadoutCapacity.
From Headcount Require Import FiniteReals Retrieval LowerBound Basins FiniteEps Counting Binomials.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

Section Rate.
Variables (d D : nat) (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R).
Hypothesis task : task_constraints f F0.

(** N4 with G = floor(rho/(3 eps)) + 1, as the number [N4_bound], for every Lipschitz read-out. *)
Theorem N4_bound_holds : exists2 rho, 0 < rho &
  forall (T m : nat) (S : 'I_D -> {set 'I_T}), (forall i, (m <= #|S i|)%N) ->
  forall (s n : nat) (A : block (cube d) T s n) (F : (coordinate s n -> R) -> R) (Lam : R),
  (0 < s)%N -> (0 < n)%N -> (s < D)%N -> block_constraints A -> lipschitz_readout F Lam ->
  forall (eps : R) (tau : nat), 0 < eps -> (0 < tau)%N -> (tau + s + D <= m.+1)%N -> (tau <= grid_points rho eps)%N ->
  (forall X, Rabs (F (attention A X) - retrieval f S F0 X) < eps) ->
  N4_bound n s (n * s) tau rho eps <= Lam.
Proof.
have [rho rho_pos bound] := N4_lipschitz task.
exists rho => // T m S S_large s n A F Lam s_gt0 n_gt0 s_lt A_ok F_ok eps tau eps_pos tau_gt0 tau_le tauG close.
rewrite N4_bound_eq //; set root := Rpower (INR 'C(_, _)) _; have root_pos : 0 < root by exact: exp_pos.
have [c_lo c_hi] := ceiling_spec root.
have [c c_eq] : exists c, INR c = ceiling root.
  exists (Z.to_nat (- Int_part (- root))); rewrite INR_IZR_INZ Z2Nat.id ?opp_IZR //.
  by apply: le_IZR; rewrite opp_IZR; rewrite /ceiling in c_lo; lra.
have powers : (INR n + 1) * INR s = INR (n.+1 * s) by rewrite -multE mult_INR S_INR.
rewrite -c_eq; have [_ G_le] := grid_points_spec rho eps rho_pos eps_pos.
apply: (bound T m S S_large s n A F Lam s_gt0 n_gt0 s_lt A_ok F_ok eps _ tau c eps_pos G_le tau_gt0 tau_le tauG) => //.
by rewrite -powers -/root c_eq.
Qed.

(** N4, rate, for every Lipschitz read-out. For T_0 >= 1 there are c, eps_0 > 0 such that, whenever all
    |S_i| >= T_0 + s + D - 1 and 0 < s < D, the read-out of every model within eps < eps_0 has Lipschitz constant at
    least c eps^-(T_0/((n+1)s) - 1). *)
Theorem N4_rate_lipschitz (s n T0 : nat) : (0 < s)%N -> (0 < n)%N -> (s < D)%N -> (0 < T0)%N ->
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (T : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T0 + s + D <= #|S i|.+1)%N) ->
  forall (A : block (cube d) T s n) (F : (coordinate s n -> R) -> R) (Lam : R),
  block_constraints A -> lipschitz_readout F Lam -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (F (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- sharpened_exponent n s (INR T0)) <= Lam].
Proof.
move=> s_gt0 n_gt0 s_lt T0_gt0; have [rho rho_pos bound] := N4_bound_holds.
have E_gt0 : (0 < n * s)%N by rewrite muln_gt0 n_gt0.
have [c [eps0 [c_pos [eps0_pos rate]]]] := N4_exponent n s (n * s) T0 rho (ltP s_gt0) (ltP E_gt0) (ltP T0_gt0) rho_pos.
exists c, eps0; split=> // T S S_large A F Lam A_ok F_ok eps eps_range close.
have [/leP T0_G c_le] := rate eps eps_range; apply: Rle_trans c_le _.
have m_eq : (T0 + s + D).-1.+1 = (T0 + s + D)%N by rewrite prednK // addn_gt0 addn_gt0 T0_gt0.
apply: (bound T (T0 + s + D).-1 S _ s n A F Lam s_gt0 n_gt0 s_lt A_ok F_ok eps T0) => //.
- by move=> i; rewrite -ltnS m_eq.
- by case: eps_range.
- by rewrite m_eq.
Qed.

(** N4, rate: a two-layer read-out has at least c eps^-(T_0/((n+1)s) - 1) non-zero first-layer weights. *)
Theorem N4_rate (s n T0 : nat) : (0 < s)%N -> (0 < n)%N -> (s < D)%N -> (0 < T0)%N ->
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (T : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T0 + s + D <= #|S i|.+1)%N) ->
  forall (p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  block_constraints A -> readout_constraints F -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- sharpened_exponent n s (INR T0)) <= INR (nonzero_weights F)].
Proof.
move=> s_gt0 n_gt0 s_lt T0_gt0; have [c [eps0 [c_pos eps0_pos rate]]] := N4_rate_lipschitz s_gt0 n_gt0 s_lt T0_gt0.
exists c, eps0; split=> // T S S_large p A F A_ok F_ok.
exact: (rate T S S_large A (read F) _ A_ok (read_moves F_ok)).
Qed.

(** A read-out of any depth (see ReadoutCapacity), its inputs numbered, read at the output [j]. *)
Definition deep_read (E : finType) (layers : list ReadoutCapacity.layer) (j : nat) (u : E -> R) : R :=
  ReadoutCapacity.run (List.seq 0 #|E|) layers 
    (fun i => if (insub i : option 'I_#|E|) is Some k then u (enum_val k) else 0) j.

(** N4 and N5, rate for ell >= 2 layers: with k = floor(ell/2) a read-out with weights in [-1,1] and 1-Lipschitz
    activations has M >= c eps^-((T_0/((n+1)s) - 1)/k) non-zero weights. *)
Theorem N4_rate_deep (s n T0 ell : nat) : (0 < s)%N -> (0 < n)%N -> (s < D)%N -> (0 < T0)%N -> (1 < ell)%N ->
  let k := Nat.div ell 2 in
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (T : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T0 + s + D <= #|S i|.+1)%N) ->
  forall (A : block (cube d) T s n) (layers : list ReadoutCapacity.layer) (j : nat),
  let inputs := List.seq 0 #|coordinate s n| in
  let M := List.fold_right Nat.add 0%N (ReadoutCapacity.sizes inputs layers) in
  block_constraints A -> length layers = ell -> (forall L, List.In L layers -> ReadoutCapacity.admissible L) ->
  List.In j (ReadoutCapacity.outputs inputs layers) -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (deep_read layers j (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- (sharpened_exponent n s (INR T0) / INR k)) <= INR M].
Proof.
move=> s_gt0 n_gt0 s_lt T0_gt0 ell_gt1 k.
have [c [eps0 [c_pos eps0_pos rate]]] := N4_rate_lipschitz s_gt0 n_gt0 s_lt T0_gt0.
have k_gt0 : (0 < k)%coq_nat by apply: Nat.div_str_pos; move/ltP: ell_gt1; lia.
have k_pos := lt_0_INR _ k_gt0; set E := #|coordinate s n|.
have E_pos : 0 < INR E by apply: lt_0_INR; apply/ltP; rewrite /E card_prod !card_ord muln_gt0 s_gt0.
exists (INR k * Rpower (c / INR E) (/ INR k)), eps0; split=> //.
  by apply: Rmult_lt_0_compat => //; exact: exp_pos.
move=> T S S_large A layers j inputs M A_ok len adm j_out eps eps_range close.
set kappa := sharpened_exponent n s (INR T0).
pose count := ReadoutCapacity.paths inputs layers (fun=> 1) j.
have long : (2 <= length layers)%coq_nat by rewrite len; apply/ltP.
have lipschitz : lipschitz_readout (deep_read (E := coordinate s n) layers j) count.
  move=> u u' delta delta_ge0 near.
  apply: (proj1 (ReadoutCapacity.deep_capacity _ _ _ _ delta _ long adm _ j_out)) => i _ /=.
  by case: insubP => [a _ _|_]; [exact: near | rewrite Rminus_0_r Rabs_R0].
have zero_le i : List.In i inputs -> Rabs (0 - 0) <= 0 by rewrite Rminus_0_r Rabs_R0; move=> _; right.
have [_] := ReadoutCapacity.deep_capacity inputs layers (fun=> 0) (fun=> 0) 0 j long adm zero_le j_out.
rewrite -/count len -/k -/M List.seq_length -/E => count_le.
have rate_le := Rle_trans _ _ _ (rate T S S_large A _ _ A_ok lipschitz eps eps_range close) count_le.
set x := c / INR E * Rpower eps (- kappa).
have x_pos : 0 < x by apply: Rmult_lt_0_compat; [exact: Rdiv_lt_0_compat | exact: exp_pos].
have x_le : x <= (INR M / INR k) ^ k.
  apply: (Rmult_le_reg_l (INR E)) => //; apply: Rle_trans rate_le; right; rewrite /x -/kappa; field; lra.
have M_pos : 0 < INR M / INR k.
  case: (Rle_lt_or_eq_dec 0 (INR M / INR k)) => // [|zero].
    by apply: Rmult_le_pos; [exact: pos_INR | apply: Rlt_le; exact: Rinv_0_lt_compat].
  by move: x_le; rewrite -zero pow_i //; lra.
have root_le : Rpower x (/ INR k) <= INR M / INR k.
  have <- : Rpower ((INR M / INR k) ^ k) (/ INR k) = INR M / INR k.
    by rewrite -Rpower_pow // Rpower_mult Rinv_r ?Rpower_1 //; lra.
  by apply: Rle_Rpower_l; [apply: Rlt_le; exact: Rinv_0_lt_compat | split].
have -> : INR k * Rpower (c / INR E) (/ INR k) * Rpower eps (- (kappa / INR k)) = INR k * Rpower x (/ INR k).
  rewrite /x -Rpower_mult_distr ?Rpower_mult; [|exact: Rdiv_lt_0_compat | exact: exp_pos].
  by rewrite (_ : - kappa * / INR k = - (kappa / INR k)); [ring | rewrite /Rdiv; ring].
have -> : INR M = INR k * (INR M / INR k) by field; lra.
by apply: Rmult_le_compat_l => //; lra.
Qed.

(** T2.2. Under A1 and A2 (continuous f_i and no Hessian are enough), |S_i| >= T/4, 0 < s < D and T/4 - s - D + 1 > 0,
    with k = (T/4 - s - D + 1)/((n+1)s + 1) - 1 there are c, eps_0 > 0 such that every model with s heads of dimension n
    within eps < eps_0 has at least c/eps^k non-zero first-layer weights in its read-out, so M = Omega(1/eps^k). *)
Theorem T2_2 (s n T : nat) (S : 'I_D -> {set 'I_T}) : (0 < s)%N -> (0 < n)%N -> (s < D)%N ->
  (forall i, (T <= 4 * #|S i|)%N) -> 0 < INR T / 4 - INR s - INR D + 1 ->
  let k := published_exponent n s (INR T / 4 - INR s - INR D + 1) in
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  block_constraints A -> readout_constraints F -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- k) <= INR (nonzero_weights F)].
Proof.
move=> s_gt0 n_gt0 s_lt S_large T_large k.
(* m = ceil(T/4) *)
have [m T_m S_m] : exists2 m, (T <= 4 * m)%N & forall i, (m <= #|S i|)%N.
  exists ((T + 3) %/ 4)%N; have := divn_eq (T + 3) 4; have : ((T + 3) %% 4 < 4)%N by rewrite ltn_pmod.
    by move: ((T + 3) %/ 4)%N ((T + 3) %% 4)%N => q r r_lt eq_T; ssrlia.
  move: ((T + 3) %/ 4)%N ((T + 3) %% 4)%N => q r r_lt eq_T i; have := S_large i; ssrlia.
have T_m_real : INR T / 4 <= INR m.
  have := le_INR _ _ (leP T_m); rewrite -multE mult_INR (_ : INR 4 = 4); [lra | rewrite /=; ring].
have sD_m : (s + D <= m)%N.
  apply/leP/INR_le; rewrite -plusE plus_INR; apply: Rnot_lt_le => lt.
  have : (m < s + D)%coq_nat by apply: INR_lt; rewrite plus_INR.
  by move=> /le_INR; rewrite S_INR plus_INR; lra.
pose T0 := (m.+1 - (s + D))%N.
have T0_gt0 : (0 < T0)%N by rewrite subn_gt0 ltnS.
have T0_real : INR T / 4 - INR s - INR D + 1 <= INR T0.
  by rewrite /T0 -minusE minus_INR ?S_INR -?plusE ?plus_INR; [lra | apply/leP; rewrite plusE leqW].
have [c [eps0 [c_pos eps0_pos rate]]] := N4_rate s_gt0 n_gt0 s_lt T0_gt0.
exists c, (Rmin eps0 1); split=> // [|p A F A_ok F_ok eps eps_range close].
  by apply: Rmin_glb_lt; lra.
have [eps_pos eps_lt] := eps_range.
have eps_lt0 := Rlt_le_trans _ _ _ eps_lt (Rmin_l _ _); have eps_lt1 := Rlt_le_trans _ _ _ eps_lt (Rmin_r _ _).
apply: Rle_trans (rate T S _ p A F A_ok F_ok eps _ close) => //; last first.
  have T0_eq : (T0 + (s + D) = m.+1)%N by rewrite subnK // leqW.
  by move=> i; have := S_m i; move: T0_eq; rewrite -!addnA => T0_eq; ssrlia.
apply: Rmult_le_compat_l; first lra.
have ln_neg : ln eps < 0 by rewrite -ln_1; exact: ln_increasing.
have k_le : k <= sharpened_exponent n s (INR T0).
  have s_pos : 0 < INR s by apply: lt_0_INR; apply/ltP.
  have q_pos : 0 < (INR n + 1) * INR s by apply: Rmult_lt_0_compat; have := pos_INR n; lra.
  rewrite /k /published_exponent /sharpened_exponent; apply: Rplus_le_compat_r.
  apply: Rmult_le_compat => //; first lra.
    by apply: Rlt_le; apply: Rinv_0_lt_compat; lra.
  by apply: Rinv_le_contravar; lra.
have := Rmult_le_compat_l (- ln eps) _ _ ltac:(lra) k_le => le.
have exponents : - k * ln eps <= - sharpened_exponent n s (INR T0) * ln eps by lra.
by case: (Rle_lt_or_eq_dec _ _ exponents) => [lt|eq]; [exact/Rlt_le/exp_increasing | rewrite /Rpower eq; right].
Qed.

End Rate.
