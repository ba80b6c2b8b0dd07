(** T2.2 (too few heads) as a theorem about the block of DEF-H: N4's finite bound, its rate as eps -> 0, and the
    published exponent. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Retrieval LowerBound Basins FiniteEps Counting Binomials.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** The hypotheses on the task: A2.1, A2.2, A2.4 with continuous features f_i: [0,1]^d -> [0,1] and F_0 of class C^1 on
    [0,1]^D. *)
Record task_constraints d D (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R) : Prop := TaskConstraints {
  features_continuous : forall i, continuous_on_cube (f i);
  features01 : forall i x, 0 <= f i x <= 1;
  minimisers : exists xmin : 'I_D -> cube d,
    [/\ forall i x, (exists j, sval x j <> sval (xmin i) j) -> f i (xmin i) < f i x,
        forall i i', i != i' -> exists j, sval (xmin i) j <> sval (xmin i') j &
        exists dF, gradient_on_cube F0 dF /\ forall i, dF i [ffun j => f j (xmin j)] <> 0] }.

Section Rate.
Variables (d D : nat) (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R).
Hypothesis task : task_constraints f F0.

(** N4 with G = floor(rho/(3 eps)) + 1, as the number [N4_bound]. *)
Theorem N4_bound_holds : exists2 rho, 0 < rho &
  forall (T m : nat) (S : 'I_D -> {set 'I_T}), (forall i, (m <= #|S i|)%N) ->
  forall (s n p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  (0 < s)%N -> (0 < n)%N -> (s < D)%N -> block_constraints A -> readout_constraints F ->
  forall (eps : R) (tau : nat), 0 < eps -> (0 < tau)%N -> (tau + s + D <= m.+1)%N -> (tau <= grid_points rho eps)%N ->
  (forall X, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  N4_bound n s (n * s) tau rho eps <= INR (nonzero_weights F).
Proof.
have [f_cont f01 [xmin [unique distinct [dF [F0_C1 slopes]]]]] := task.
have [rho rho_pos bound] := N4 f_cont f01 unique distinct F0_C1 slopes.
exists rho => // T m S S_large s n p A F s_gt0 n_gt0 s_lt A_ok F_ok eps tau eps_pos tau_gt0 tau_le tauG close.
rewrite N4_bound_eq //; set root := Rpower (INR 'C(_, _)) _; have root_pos : 0 < root by exact: exp_pos.
have [c_lo c_hi] := ceiling_spec root.
have [c c_eq] : exists c, INR c = ceiling root.
  exists (Z.to_nat (- Int_part (- root))); rewrite INR_IZR_INZ Z2Nat.id ?opp_IZR //.
  by apply: le_IZR; rewrite opp_IZR; rewrite /ceiling in c_lo; lra.
have powers : (INR n + 1) * INR s = INR (n.+1 * s) by rewrite -multE mult_INR S_INR.
rewrite -c_eq; have [_ G_le] := grid_points_spec rho eps rho_pos eps_pos.
apply: (bound T m S S_large s n p A F s_gt0 n_gt0 s_lt A_ok F_ok eps _ tau c eps_pos G_le tau_gt0 tau_le tauG) => //.
by rewrite -powers -/root c_eq.
Qed.

(** N4, rate. For T_0 >= 1 there are c, eps_0 > 0 such that, whenever all |S_i| >= T_0 + s + D - 1 and 0 < s < D, every
    model within eps < eps_0 has at least c eps^-(T_0/((n+1)s) - 1) non-zero first-layer weights in its read-out. *)
Theorem N4_rate (s n T0 : nat) : (0 < s)%N -> (0 < n)%N -> (s < D)%N -> (0 < T0)%N ->
  exists c eps0, [/\ 0 < c, 0 < eps0 &
  forall (T : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T0 + s + D <= #|S i|.+1)%N) ->
  forall (p : nat) (A : block (cube d) T s n) (F : readout (coordinate s n) p),
  block_constraints A -> readout_constraints F -> forall eps, 0 < eps < eps0 ->
  (forall X, Rabs (read F (attention A X) - retrieval f S F0 X) < eps) ->
  c * Rpower eps (- sharpened_exponent n s (INR T0)) <= INR (nonzero_weights F)].
Proof.
move=> s_gt0 n_gt0 s_lt T0_gt0; have [rho rho_pos bound] := N4_bound_holds.
have E_gt0 : (0 < n * s)%N by rewrite muln_gt0 n_gt0.
have [c [eps0 [c_pos [eps0_pos rate]]]] := N4_exponent n s (n * s) T0 rho (ltP s_gt0) (ltP E_gt0) (ltP T0_gt0) rho_pos.
exists c, eps0; split=> // T S S_large p A F A_ok F_ok eps eps_range close.
have [/leP T0_G c_le] := rate eps eps_range; apply: Rle_trans c_le _.
have m_eq : (T0 + s + D).-1.+1 = (T0 + s + D)%N by rewrite prednK // addn_gt0 addn_gt0 T0_gt0.
apply: (bound T (T0 + s + D).-1 S _ s n p A F s_gt0 n_gt0 s_lt A_ok F_ok eps T0) => //.
- by move=> i; rewrite -ltnS m_eq.
- by case: eps_range.
- by rewrite m_eq.
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
