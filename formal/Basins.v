(** N4, step 1: in the basin of every minimum there are grid points with increasing values of the feature whose images
    under F_0 are 3 eps apart. Continuity of the features and of the gradient of F_0 is enough; no Hessian. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Retrieval Collision.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** ** Functions on cubes *)

(** The distance of two tokens is below delta in the sup norm. *)
Definition near d (delta : R) (x y : cube d) : Prop := forall j, Rabs (sval y j - sval x j) < delta.

(** Continuity on [0,1]^d. *)
Definition continuous_on_cube d (f : cube d -> R) : Prop :=
  forall x e, 0 < e -> exists2 delta, 0 < delta & forall y, near delta x y -> Rabs (f y - f x) < e.

(** The same vector with h added to its i-th coordinate. *)
Definition shift D (u : {ffun 'I_D -> R}) (i : 'I_D) (h : R) : {ffun 'I_D -> R} :=
  [ffun j => if j == i then u j + h else u j].

Definition in_cube D (u : {ffun 'I_D -> R}) : Prop := forall i, 0 <= u i <= 1.

(** F is of class C^1 on [0,1]^D with gradient dF: the partial derivatives (one-sided on the boundary) exist and are
    continuous. *)
Definition gradient_on_cube D (F : {ffun 'I_D -> R} -> R) (dF : 'I_D -> {ffun 'I_D -> R} -> R) : Prop :=
  (forall i u e, in_cube u -> 0 < e -> exists2 delta, 0 < delta &
     forall h, Rabs h < delta -> in_cube (shift u i h) -> Rabs (F (shift u i h) - F u - h * dF i u) <= e * Rabs h) /\
  (forall i u e, in_cube u -> 0 < e -> exists2 delta, 0 < delta &
     forall u', in_cube u' -> (forall j, Rabs (u' j - u j) < delta) -> Rabs (dF i u' - dF i u) < e).

(** Finitely many conditions that hold below some positive number hold below a common one. *)
Lemma common_bound (I : finType) (P : I -> R -> Prop) :
  (forall i r r', P i r -> 0 < r' <= r -> P i r') -> (forall i, exists2 r, 0 < r & P i r) ->
  exists2 r, 0 < r & forall i, P i r.
Proof.
move=> down some; have [i0 _|none] := pickP (fun _ : I => true); last first.
  by exists 1; [lra | move=> i; have := none i].
have ex i : exists r, 0 < r /\ P i r by have [r] := some i; exists r.
have [r r_ok] := fin_all_exists ex.
have [i _ least] := @argmin I xpredT r i0 isT.
exists (r i) => [|j]; first by have [] := r_ok i.
by have [_ Pj] := r_ok j; apply: down Pj _; split; [have [] := r_ok i | exact: least].
Qed.

(** A continuous function sees the coordinates only. *)
Lemma continuous_ext d (f : cube d -> R) x y :
  continuous_on_cube f -> (forall j, sval x j = sval y j) -> f x = f y.
Proof.
move=> f_cont same; have [|neq] := Req_dec (f x) (f y); first by [].
have [delta delta_pos close] := f_cont y (Rabs (f x - f y)) (Rabs_pos_lt _ (Rminus_eq_contra _ _ neq)).
have : near delta y x by move=> j; rewrite same Rminus_diag_eq // Rabs_R0.
by move/close; lra.
Qed.

(** ** Values of a continuous function on a segment *)

Section Segment.
Variables (d : nat) (a b : cube d).

Definition clamp (u : R) : R := Rmax 0 (Rmin u 1).

Lemma clamp01 u : 0 <= clamp u <= 1.
Proof. by rewrite /clamp /Rmax /Rmin; do 2!case: Rle_dec; lra. Qed.

Lemma clamp_id u : 0 <= u <= 1 -> clamp u = u.
Proof. by rewrite /clamp /Rmax /Rmin; do 2!case: Rle_dec; lra. Qed.

Lemma clamp_lipschitz u v : Rabs (clamp u - clamp v) <= Rabs (u - v).
Proof. by rewrite /clamp /Rmax /Rmin /Rabs; do ?case: Rle_dec; do ?case: Rcase_abs; lra. Qed.

Lemma segment_in_cube u j : 0 <= sval a j + clamp u * (sval b j - sval a j) <= 1.
Proof.
have [u0 u1] := clamp01 u; have [a0 a1] := svalP a j; have [b0 b1] := svalP b j.
have -> : sval a j + clamp u * (sval b j - sval a j) = (1 - clamp u) * sval a j + clamp u * sval b j by ring.
split; first by apply: Rplus_le_le_0_compat; apply: Rmult_le_pos; lra.
have : (1 - clamp u) * sval a j <= (1 - clamp u) * 1 by apply: Rmult_le_compat_l; lra.
have : clamp u * sval b j <= clamp u * 1 by apply: Rmult_le_compat_l; lra.
lra.
Qed.

(** The point a + u (b - a) of the segment, u in [0,1]. *)
Definition segment (u : R) : cube d :=
  exist _ (fun j => sval a j + clamp u * (sval b j - sval a j)) (segment_in_cube u).

Lemma segment_moves u v j : Rabs (sval (segment v) j - sval (segment u) j) <= Rabs (v - u).
Proof.
have -> : sval (segment v) j - sval (segment u) j = (clamp v - clamp u) * (sval b j - sval a j) by rewrite /=; ring.
rewrite Rabs_mult -[X in _ <= X]Rmult_1_r; apply: Rmult_le_compat; try exact: Rabs_pos.
  exact: clamp_lipschitz.
by have := svalP a j; have := svalP b j; move=> ? ?; apply: Rabs_le; lra.
Qed.

Lemma segment_continuous (f : cube d -> R) : continuous_on_cube f -> continuity (fun u => f (segment u)).
Proof.
move=> f_cont u e e_pos; have [delta d_pos close] := f_cont (segment u) e e_pos.
exists delta; split=> // v [_ uv]; apply: close => j; exact: Rle_lt_trans (segment_moves _ _ _) uv.
Qed.

(** On the way from a to the point at parameter u0 the function takes every value in between. *)
Lemma value_on_segment (f : cube d -> R) (u0 y : R) :
  continuous_on_cube f -> 0 < u0 -> f (segment 0) < y < f (segment u0) ->
  exists2 u, 0 <= u <= u0 & f (segment u) = y.
Proof.
move=> f_cont u0_pos y_between.
have cont : continuity (fun u => f (segment u) - y).
  by apply: continuity_minus; [exact: segment_continuous | apply: continuity_const].
have [u [u_range zero]] := IVT _ 0 u0 cont u0_pos ltac:(lra) ltac:(lra).
by exists u => //; lra.
Qed.

End Segment.

(** ** L6 in two-point form *)

Section TwoPoint.
Variables (D : nat) (F : {ffun 'I_D -> R} -> R) (dF : 'I_D -> {ffun 'I_D -> R} -> R) (z : {ffun 'I_D -> R}) (i : 'I_D).
Variable L : R.
Hypotheses (F_C1 : gradient_on_cube F dF) (z_cube : in_cube z) (z_lt1 : z i < 1) (L_slope : L < Rabs (dF i z)).

Lemma shift_in_cube h : 0 <= h <= 1 - z i -> in_cube (shift z i h).
Proof. by move=> h_range j; rewrite ffunE; case: eqP => [->|_]; [have := z_cube i; lra | exact: z_cube]. Qed.

Lemma shift_shift h h' : shift (shift z i h) i h' = shift z i (h + h').
Proof. by apply/ffunP => j; rewrite !ffunE; case: eqP => _ //; ring. Qed.

(** L6, two points: |F(z + h e_i) - F(z + h' e_i)| >= L |h - h'| for 0 <= h, h' < r, r small, any L < |d_i F(z)|. *)
Lemma two_point : exists2 r, 0 < r <= 1 - z i & forall h h', 0 <= h < r -> 0 <= h' < r ->
  L * Rabs (h - h') <= Rabs (F (shift z i h) - F (shift z i h')).
Proof.
have [partial dF_cont] := F_C1.
have [delta delta_pos close] := dF_cont i z (Rabs (dF i z) - L) z_cube ltac:(lra).
pose r := Rmin delta (1 - z i).
have [r_delta r_cube] : r <= delta /\ r <= 1 - z i by split; [exact: Rmin_l | exact: Rmin_r].
have r_pos : 0 < r by apply: Rmin_glb_lt; lra.
exists r => // h h' h_range h'_range.
have steep u : 0 < u < r -> L <= Rabs (dF i (shift z i u)).
  move=> u_range; have : Rabs (dF i (shift z i u) - dF i z) < Rabs (dF i z) - L.
    apply: close; first by apply: shift_in_cube; lra.
    move=> j; rewrite ffunE; case: eqP => _; last by rewrite Rminus_diag_eq // Rabs_R0.
    by rewrite Rplus_comm /Rminus Rplus_assoc Rplus_opp_r Rplus_0_r Rabs_pos_eq; lra.
  by rewrite /Rabs; do ?case: Rcase_abs; lra.
have derivative u : 0 < u < r -> derivable_pt_lim (fun u => F (shift z i u)) u (dF i (shift z i u)).
  move=> u_range e e_pos.
  have u_cube : in_cube (shift z i u) by apply: shift_in_cube; lra.
  have [eta eta_pos approx] := partial i (shift z i u) (e / 2) u_cube ltac:(lra).
  have room_pos : 0 < Rmin eta (Rmin u (r - u)) by do 2?apply: Rmin_glb_lt; lra.
  exists (mkposreal _ room_pos) => k k_neq0 /= k_small.
  have [k_eta k_u] : Rabs k < eta /\ Rabs k < Rmin u (r - u).
    by split; apply: Rlt_le_trans k_small _; [exact: Rmin_l | exact: Rmin_r].
  have k_range : 0 <= u + k <= 1 - z i.
    have := Rlt_le_trans _ _ _ k_u (Rmin_l _ _); have := Rlt_le_trans _ _ _ k_u (Rmin_r _ _).
    by rewrite /Rabs; case: Rcase_abs; lra.
  have := approx k k_eta; rewrite shift_shift => /(_ (shift_in_cube k_range)) le.
  have k_pos := Rabs_pos_lt _ k_neq0.
  apply: (Rmult_lt_reg_r (Rabs k)) => //; rewrite -Rabs_mult.
  have -> : ((F (shift z i (u + k)) - F (shift z i u)) / k - dF i (shift z i u)) * k
      = F (shift z i (u + k)) - F (shift z i u) - k * dF i (shift z i u) by field.
  have := Rmult_lt_0_compat _ _ e_pos k_pos; lra.
have inner u v : 0 < u < r -> 0 < v < r -> u < v -> L * (v - u) <= Rabs (F (shift z i v) - F (shift z i u)).
  move=> u_range v_range uv.
  have inside w : u <= w <= v -> derivable_pt_lim (fun u => F (shift z i u)) w (dF i (shift z i w)).
    by move=> w_in; apply: derivative; lra.
  have [w [-> w_range]] := MVT_cor2 _ (fun u => dF i (shift z i u)) u v uv inside.
  rewrite Rabs_mult (Rabs_pos_eq (v - u)); last by lra.
  by apply: Rmult_le_compat_r; [lra | apply: steep; lra].
(* towards the end point 0: F is continuous there *)
have shift0 : shift z i 0 = z by apply/ffunP => j; rewrite ffunE Rplus_0_r; case: eqP.
have outer v : 0 < v < r -> L * v <= Rabs (F (shift z i v) - F z).
  move=> v_range; apply: Rnot_lt_le => short; pose room := L * v - Rabs (F (shift z i v) - F z).
  have room_pos : 0 < room by rewrite /room; lra.
  have [eta eta_pos approx] := partial i z 1 z_cube Rlt_0_1.
  pose c := Rabs L + Rabs (dF i z) + 1; have c_pos : 0 < c by have := (Rabs_pos L, Rabs_pos (dF i z)) => -[]; rewrite /c; lra.
  pose u := Rmin (eta / 2) (Rmin (v / 2) (room / c / 2)).
  have u_pos : 0 < u by do 2?apply: Rmin_glb_lt; [| | have := Rdiv_lt_0_compat _ _ room_pos c_pos]; lra.
  have [u_eta [u_v u_room]] : u <= eta / 2 /\ u <= v / 2 /\ u <= room / c / 2.
    split; first exact: Rmin_l.
    by split; apply: Rle_trans (Rmin_r _ _) _; [exact: Rmin_l | exact: Rmin_r].
  have near : Rabs (F (shift z i u) - F z - u * dF i z) <= 1 * Rabs u.
    by apply: approx; [rewrite Rabs_pos_eq; lra | apply: shift_in_cube; lra].
  have far : L * (v - u) <= Rabs (F (shift z i v) - F (shift z i u)) by apply: inner; lra.
  have small : Rabs (F (shift z i u) - F z) <= (Rabs (dF i z) + 1) * u.
    rewrite (_ : F (shift z i u) - F z = (F (shift z i u) - F z - u * dF i z) + u * dF i z); last ring.
    apply: Rle_trans (Rabs_triang _ _) _; rewrite Rabs_mult (Rabs_pos_eq u) in near *; lra.
  have : Rabs (F (shift z i v) - F (shift z i u)) <= Rabs (F (shift z i v) - F z) + Rabs (F (shift z i u) - F z).
    rewrite [X in _ <= _ + X]Rabs_minus_sym.
    rewrite (_ : F (shift z i v) - F (shift z i u) = (F (shift z i v) - F z) + (F z - F (shift z i u))); last ring.
    exact: Rabs_triang.
  have cu : c * u < room.
    apply: Rle_lt_trans (Rmult_le_compat_l _ _ _ (Rlt_le _ _ c_pos) u_room) _.
    rewrite (_ : c * (room / c / 2) = room / 2); [lra | field; lra].
  have Lu : L * u <= Rabs L * u by apply: Rmult_le_compat_r; [lra | exact: Rle_abs].
  move: cu; rewrite /c /room; lra.
have ordered u v : 0 <= u < r -> 0 <= v < r -> u < v -> L * (v - u) <= Rabs (F (shift z i v) - F (shift z i u)).
  move=> u_range v_range uv; have [u_pos|u_0] : 0 < u \/ u = 0 by lra.
    by apply: inner; lra.
  by rewrite u_0 shift0 Rminus_0_r; apply: outer; lra.
have [lt|[->|gt]] := Rtotal_order h h'.
- by rewrite Rabs_minus_sym [X in _ <= X]Rabs_minus_sym (Rabs_pos_eq (h' - h)); [exact: ordered | lra].
- by rewrite !Rminus_diag_eq // Rabs_R0; lra.
- by rewrite (Rabs_pos_eq (h - h')); [exact: ordered | lra].
Qed.

End TwoPoint.

(** L6, two points, all coordinates at once: any L below the least |partial derivative|. *)
Theorem two_points (D : nat) (F : {ffun 'I_D -> R} -> R) (dF : 'I_D -> {ffun 'I_D -> R} -> R) (z : {ffun 'I_D -> R}) L :
  gradient_on_cube F dF -> in_cube z -> (forall i, z i < 1) -> (forall i, L < Rabs (dF i z)) ->
  exists2 r0, 0 < r0 & forall i h h', 0 <= h < r0 -> 0 <= h' < r0 ->
  L * Rabs (h - h') <= Rabs (F (shift z i h) - F (shift z i h')).
Proof.
move=> F_C1 z_cube z_lt1 slopes.
apply: (@common_bound _ (fun i r => forall h h', 0 <= h < r -> 0 <= h' < r ->
  L * Rabs (h - h') <= Rabs (F (shift z i h) - F (shift z i h')))).
  by move=> i r r' two r'_range h h' h_range h'_range; apply: two; lra.
move=> i; have [r r_range two] := two_point F_C1 z_cube (z_lt1 i) (slopes i).
by exists r; [lra | exact: two].
Qed.

(** ** The grid *)

Section Grid.
Variables (d D : nat) (f : 'I_D -> cube d -> R) (F0 : {ffun 'I_D -> R} -> R) (dF : 'I_D -> {ffun 'I_D -> R} -> R).
Variable xmin : 'I_D -> cube d.

Hypothesis D_gt1 : (1 < D)%N.
Hypothesis f_cont : forall i, continuous_on_cube (f i).
Hypothesis f01 : forall i x, 0 <= f i x <= 1.
(* A2.1 and A2.2 *)
Hypothesis unique_minimum : forall i x, (exists j, sval x j <> sval (xmin i) j) -> f i (xmin i) < f i x.
Hypothesis distinct : forall i i', i != i' -> exists j, sval (xmin i) j <> sval (xmin i') j.
(* A2.4 *)
Definition minima : {ffun 'I_D -> R} := [ffun i => f i (xmin i)].
Hypothesis F0_C1 : gradient_on_cube F0 dF.
Hypothesis slopes : forall i, dF i minima <> 0.

(* Some other feature. *)
Local Lemma another i : exists i' : 'I_D, i' != i.
Proof.
have /card_gt0P[i'] : (0 < #|predC1 i|)%N by rewrite -(leq_add2l #|pred1 i|) cardC card1 card_ord.
by exists i'.
Qed.

Local Lemma apart i i' : i' != i -> f i (xmin i) < f i (xmin i').
Proof. by move=> /distinct; exact: unique_minimum. Qed.

(* Near the other minima a feature stays above its own minimum. *)
Local Lemma gap : exists2 delta, 0 < delta & exists2 gamma, 0 < gamma &
  forall i i' x, i' != i -> near delta (xmin i') x -> f i (xmin i) + gamma < f i x.
Proof.
have [gamma gamma_pos gamma_le] : exists2 gamma, 0 < gamma & forall e : 'I_D * 'I_D, e.2 != e.1 ->
    f e.1 (xmin e.1) + 2 * gamma <= f e.1 (xmin e.2).
  apply: (@common_bound _ (fun (e : 'I_D * 'I_D) g => e.2 != e.1 -> f e.1 (xmin e.1) + 2 * g <= f e.1 (xmin e.2))).
    by move=> e g g' le g'_range neq; have := le neq; lra.
  case=> i i' /=; have [->|neq] := eqVneq i' i; first by exists 1; [lra | move=> /negP[]].
  by have := apart neq; exists ((f i (xmin i') - f i (xmin i)) / 2); [lra | move=> _; lra].
have [delta delta_pos close] : exists2 delta, 0 < delta & forall e : 'I_D * 'I_D, forall x,
    near delta (xmin e.2) x -> Rabs (f e.1 x - f e.1 (xmin e.2)) < gamma.
  apply: (@common_bound _ (fun (e : 'I_D * 'I_D) r => forall x, near r (xmin e.2) x ->
    Rabs (f e.1 x - f e.1 (xmin e.2)) < gamma)).
    move=> e r r' close r'_range x near_x; apply: close => j; apply: Rlt_le_trans (near_x j) _; lra.
  by move=> e; exact: f_cont.
exists delta => //; exists gamma => // i i' x neq near_x.
have := close (i, i') x near_x; have := gamma_le (i, i') neq => /=.
by rewrite /Rabs; case: Rcase_abs; lra.
Qed.

(* Near its own minimum a feature takes all values slightly above it. *)
Local Lemma values_near delta i : 0 < delta -> exists2 r, 0 < r & forall y, 0 < y < r ->
  exists2 x, near delta (xmin i) x & f i x = f i (xmin i) + y.
Proof.
move=> delta_pos; have [i' neq] := another i; have [j differ] := distinct neq.
pose path := segment (xmin i) (xmin i'); pose u0 := Rmin 1 (delta / 2).
have [u0_1 u0_delta] : u0 <= 1 /\ u0 <= delta / 2 by split; [exact: Rmin_l | exact: Rmin_r].
have u0_pos : 0 < u0 by apply: Rmin_glb_lt; lra.
have path0 k : sval (path 0) k = sval (xmin i) k by rewrite /= clamp_id; [ring | lra].
have start : f i (path 0) = f i (xmin i) by apply: (continuous_ext (f_cont i)).
have stop : f i (xmin i) < f i (path u0).
  apply: unique_minimum; exists j; rewrite /= clamp_id; last by lra.
  have [lt|[eq|gt]] := Rtotal_order (sval (xmin i') j) (sval (xmin i) j); last 2 first.
  - by case: differ.
  - by have := Rmult_lt_0_compat u0 (sval (xmin i') j - sval (xmin i) j) u0_pos ltac:(lra); lra.
  - by have := Rmult_lt_0_compat u0 (sval (xmin i) j - sval (xmin i') j) u0_pos ltac:(lra); lra.
exists (f i (path u0) - f i (xmin i)) => [|y y_range]; first lra.
have [|u u_range value_u] := @value_on_segment _ (xmin i) (xmin i') (f i) u0 (f i (xmin i) + y) (f_cont i) u0_pos.
  by rewrite -/path start; lra.
exists (path u) => // k; rewrite -path0.
by apply: Rle_lt_trans (segment_moves _ _ _ _ _) _; rewrite Rminus_0_r Rabs_pos_eq; lra.
Qed.

(** Step 1. There is rho > 0, which depends on the features and on F_0 only, such that for every eps > 0 every basin has
    G = floor(rho/(3 eps)) + 1 grid points: with increasing values of the feature, below its values at the points of the
    other basins, and with images under F_0 at least 3 eps apart. *)
Theorem N4_grid_points : exists2 rho, 0 < rho & forall eps (G : nat), 0 < eps -> INR G <= rho / (3 * eps) + 1 ->
  exists grid : 'I_D -> 'I_G -> cube d,
    [/\ forall i (j k : 'I_G), (j < k)%N -> f i (grid i j) < f i (grid i k),
        forall i (k : 'I_G) b, b.1 != i -> f i (grid i k) < f i (point xmin grid b) &
        forall i (j k : 'I_G), j != k ->
          3 * eps <= Rabs (target f F0 xmin i (grid i j) - target f F0 xmin i (grid i k))].
Proof.
have [delta delta_pos [gamma gamma_pos gap]] := gap.
have minima_cube : in_cube minima by move=> i; rewrite ffunE.
have minima_lt1 i : minima i < 1.
  by rewrite ffunE; have [i' neq] := another i; have := apart neq; have := f01 i (xmin i'); lra.
pose good (i : 'I_D) (r : R) := r <= gamma /\
  (forall y, 0 < y < r -> exists2 x, near delta (xmin i) x & f i x = f i (xmin i) + y) /\
  (forall h h', 0 < h < r -> 0 < h' < r ->
     Rabs (dF i minima) / 2 * Rabs (h - h') <= Rabs (F0 (shift minima i h) - F0 (shift minima i h'))).
have [r r_pos r_good] : exists2 r, 0 < r & forall i, good i r.
  apply: common_bound => [i r r' [r_gamma [values two]] r'_range|i].
    by split; [lra | split=> [y y_range|h h' h_range h'_range]; [apply: values; lra | apply: two; lra]].
  have [r1 r1_pos values] := values_near i delta_pos.
  have slope_pos := Rabs_pos_lt _ (@slopes i).
  have [r2 r2_range two] := @two_point _ F0 dF minima i (Rabs (dF i minima) / 2) F0_C1 minima_cube (minima_lt1 i) ltac:(lra).
  exists (Rmin gamma (Rmin r1 r2)); first by do 2?apply: Rmin_glb_lt; lra.
  have le_gamma := Rmin_l gamma (Rmin r1 r2); have le_r12 := Rmin_r gamma (Rmin r1 r2).
  have le_r1 := Rmin_l r1 r2; have le_r2 := Rmin_r r1 r2.
  by split=> //; split=> [y y_range|h h' h_range h'_range]; [apply: values; lra | apply: two; lra].
have [L L_pos L_le] : exists2 L, 0 < L & forall i, L <= Rabs (dF i minima) / 2.
  apply: (@common_bound _ (fun (i : 'I_D) L => L <= Rabs (dF i minima) / 2)) => [i L L' le L'_range|i]; first lra.
  by exists (Rabs (dF i minima) / 2); [have := Rabs_pos_lt _ (@slopes i); lra | right].
exists (L * (r / 2)) => [|eps G eps_pos G_le]; first by apply: Rmult_lt_0_compat; lra.
pose step := 3 * eps / L; have step_pos : 0 < step by apply: Rdiv_lt_0_compat; lra.
pose height (k : 'I_G) := r / 4 + INR k * step.
have height_range k : 0 < height k < r.
  have k_le : INR k <= L * (r / 2) / (3 * eps).
    by have := lt_INR _ _ (ltP (ltn_ord k)); have := le_INR _ _ (ltP (ltn_ord k)); rewrite S_INR; lra.
  have k_step : INR k * step <= r / 2.
    rewrite (_ : r / 2 = L * (r / 2) / (3 * eps) * step); last by rewrite /step; field; lra.
    by apply: Rmult_le_compat_r; lra.
  have := Rmult_le_pos _ _ (pos_INR k) (Rlt_le _ _ step_pos); rewrite /height; lra.
have pick i k : exists x, near delta (xmin i) x /\ f i x = f i (xmin i) + height k.
  by have [_ [values _]] := r_good i; have [x] := values _ (height_range k); exists x.
have [grid grid_ok] := fin_all_exists (fun i => fin_all_exists (pick i)).
exists grid; split=> [i j k jk|i k [i' b] /= neq|i j k jk].
- rewrite !(proj2 (grid_ok i _)) /height; have := lt_INR _ _ (ltP jk) => lt.
  by have := Rmult_lt_compat_r _ _ _ step_pos lt; lra.
- have [r_gamma _] := r_good i; rewrite (proj2 (grid_ok i k)); have h_range := height_range k.
  apply: (@Rlt_trans _ (f i (xmin i) + gamma)); first lra.
  apply: gap neq _; case: b => [k'|]; first by have [] := grid_ok i' k'.
  by move=> j; rewrite Rminus_diag_eq // Rabs_R0.
- have [_ [_ two]] := r_good i.
  have target_shift l : target f F0 xmin i (grid i l) = F0 (shift minima i (height l)).
    by congr F0; apply/ffunP => i'; rewrite !ffunE (proj2 (grid_ok i l)); case: eqP => [->|].
  rewrite !target_shift; apply: Rle_trans (two _ _ (height_range j) (height_range k)).
  apply: (@Rle_trans _ (L * step)); first by right; rewrite /step; field; lra.
  apply: Rmult_le_compat; [lra | lra | exact: L_le |].
  rewrite /height (_ : r / 4 + INR j * step - (r / 4 + INR k * step) = (INR j - INR k) * step); last by ring.
  rewrite Rabs_mult (Rabs_pos_eq step); last lra.
  rewrite -[X in X <= _]Rmult_1_l; apply: Rmult_le_compat_r; first lra.
  have [lt|gt|/val_inj eq] := ltngtP j k; last by rewrite eq eqxx in jk.
    by have := le_INR _ _ (ltP lt); rewrite S_INR => le; rewrite Rabs_minus_sym Rabs_pos_eq; lra.
  by have := le_INR _ _ (ltP gt); rewrite S_INR => le; rewrite Rabs_pos_eq; lra.
Qed.

End Grid.
