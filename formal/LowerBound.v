(** N4: the lower bound at finite eps for the attention block of DEF-H under A1, assembled. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Retrieval Collision.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** ** DEF-H: one layer of s heads of dimension n; the embedding has the coordinates (head, coordinate) *)

Section Block.
Variables (Token : Type) (T s n : nat).
Definition coordinate := [finType of 'I_s * 'I_n].

(** Encoder, class token, softmax scale, query, key and value matrices of every head, and the output matrix. *)
Record block := Block {
  encode : Token -> 'I_T -> coordinate -> R;
  class_token : coordinate -> R;
  beta : R;
  W_Q : 'I_s -> 'I_n -> coordinate -> R;
  W_K : 'I_s -> 'I_n -> coordinate -> R;
  W_V : 'I_s -> 'I_n -> coordinate -> R;
  W_O : coordinate -> coordinate -> R }.

Variable A : block.

Definition score (i : 'I_s) (x : Token) (t : 'I_T) : R :=
  \Sum_c ((\Sum_e (W_Q A i c e * class_token A e)) * \Sum_e (W_K A i c e * encode A x t e)).
Definition weight (i : 'I_s) (x : Token) (t : 'I_T) : R := exp (beta A * score i x t).
Definition value (i : 'I_s) (c : 'I_n) (x : Token) (t : 'I_T) : R := \Sum_e (W_V A i c e * encode A x t e).

(** What the read-out sees: c0 + W_O Concat_i (the weighted averages). *)
Definition attention (X : 'I_T -> Token) (e : coordinate) : R :=
  class_token A e + \Sum_a (W_O A e a * head_output (weight a.1) (value a.1 a.2) X).

(** A1.1 and A1.3 for the block. *)
Definition block_constraints : Prop :=
  [/\ forall x t, \Sum_e (encode A x t e * encode A x t e) <= 1,
      forall i c e, Rabs (W_V A i c e) <= 1 & forall e a, Rabs (W_O A e a) <= 1].

Lemma value_bounded i c x t : block_constraints -> Rabs (value i c x t) <= sqrt (INR (n * s)).
Proof.
move=> [unit_norm small_V _]; set E := INR (n * s).
have E_card : E = INR #|coordinate| by rewrite card_prod !card_ord mulnC.
have E_pos : 0 < E by rewrite E_card; apply: lt_0_INR; apply/ltP/card_gt0P; exists (i, c).
have root_pos := sqrt_lt_R0 _ E_pos; have root_sq := sqrt_sqrt _ (Rlt_le _ _ E_pos).
set q := sqrt E in root_pos root_sq *.
apply: Rle_trans (sum_abs _ _) _.
have bound e : Rabs (W_V A i c e * encode A x t e) <= (q * (encode A x t e * encode A x t e) + / q) / 2.
  set u := encode A x t e; have : Rabs (W_V A i c e * u) <= Rabs u.
    rewrite Rabs_mult -[X in _ <= X]Rmult_1_l; apply: Rmult_le_compat_r; [exact: Rabs_pos | exact: small_V].
  have square : 0 <= / q * ((q * Rabs u - 1) * (q * Rabs u - 1)).
    by apply: Rmult_le_pos; [apply: Rlt_le; exact: Rinv_0_lt_compat | exact: Rle_0_sqr].
  have uu : Rabs u * Rabs u = u * u by rewrite -Rabs_mult Rabs_pos_eq //; exact: Rle_0_sqr.
  have -> : q * (u * u) + / q = / q * ((q * Rabs u - 1) * (q * Rabs u - 1)) + 2 * Rabs u.
    by rewrite -uu; field; lra.
  lra.
apply: Rle_trans (sum_le (fun e _ => bound e)) _.
have -> : \Sum_e ((q * (encode A x t e * encode A x t e) + / q) / 2)
    = q / 2 * (\Sum_e (encode A x t e * encode A x t e)) + E * (/ q / 2).
  rewrite -sum_scale E_card -[in RHS](@eq_card _ (predT : pred coordinate)) // -sum_const -big_split.
  by apply: eq_bigr => e _ /=; field; lra.
have -> : E * (/ q / 2) = q / 2 by rewrite -root_sq; field; lra.
have := Rmult_le_compat_l (q / 2) _ _ ltac:(lra) (unit_norm x t); lra.
Qed.

(** T2.2-V repaired: |v|_2 <= sqrt(n E) = n sqrt(s). *)
Lemma value_norm i x t : block_constraints -> sqrt (\Sum_c (value i c x t * value i c x t)) <= INR n * sqrt (INR s).
Proof.
move=> ok; have [n_ge0 s_ge0] := (pos_INR n, pos_INR s).
have -> : INR n * sqrt (INR s) = sqrt (INR n * INR (n * s)).
  by rewrite mult_INR -Rmult_assoc sqrt_mult ?sqrt_square //; apply: Rmult_le_pos.
apply: sqrt_le_1_alt; apply: sum_ord_le => c; have := @value_bounded i c x t ok.
move=> le; rewrite -(sqrt_sqrt (INR (n * s))); last exact: pos_INR.
rewrite -[X in X <= _]Rabs_pos_eq; last exact: Rle_0_sqr.
by rewrite Rabs_mult; apply: Rmult_le_compat => //; exact: Rabs_pos.
Qed.

End Block.

(** T2.2-V as published, |v| <= 1, is false already for one coordinate: one head of dimension 2, the unit vector
    (3/5, 4/5) as encoded token, W_V of ones. *)
Theorem published_values_false : ~ forall (Token : Type) (T s n : nat) (A : block Token T s n) i c x t,
  block_constraints A -> (forall i c e, Rabs (W_Q A i c e) <= 1) -> (forall i c e, Rabs (W_K A i c e) <= 1) ->
  Rabs (value A i c x t) <= 1.
Proof.
pose A := {| encode := fun (_ : unit) (_ : 'I_1) (e : coordinate 1 2) => if e.2 == ord0 then 3 / 5 else 4 / 5;
  class_token := fun=> 0; beta := 1; W_Q := fun _ _ _ => 0; W_K := fun _ _ _ => 0; W_V := fun _ _ _ => 1;
  W_O := fun _ _ => 1 |}.
move=> /(_ _ _ _ _ A ord0 ord0 tt ord0) wrong.
have sum2 (F : coordinate 1 2 -> R) : \Sum_e F e = F (ord0, ord0) + F (ord0, ord_max).
  rewrite (eq_bigr (fun e => F (e.1, e.2))) => [|[] //].
  rewrite -(pair_bigA _ (fun i c => F (i, c))) big_ord_recl big_ord0 !big_ord_recl big_ord0 /= !Rplus_0_r.
  by congr (_ + F (_, _)); apply: val_inj.
have : Rabs (value A ord0 ord0 tt ord0) <= 1.
  by apply: wrong => [|i c e|i c e]; rewrite ?Rabs_R0; try lra; split=> [x t|i c e|e a]; rewrite ?sum2 /= ?Rabs_R1; lra.
by rewrite /value sum2 /= Rabs_pos_eq; lra.
Qed.

(** ** Read-outs *)

(** A read-out with Lipschitz constant Lam for the sup norm. *)
Definition lipschitz_readout (E : finType) (F : (E -> R) -> R) (Lam : R) : Prop :=
  forall u u' delta, 0 <= delta -> (forall e, Rabs (u e - u' e) <= delta) -> Rabs (F u - F u') <= Lam * delta.

(** A1.2: a two-layer network. *)

Record readout (E : finType) (p : nat) := Readout {
  first_layer : 'I_p -> E -> R; first_bias : 'I_p -> R;
  second_layer : 'I_p -> R; second_bias : R;
  activation : R -> R }.

Section ReadOut.
Variables (E : finType) (p : nat) (F : readout E p).

Definition read (u : E -> R) : R :=
  \Sum_k (second_layer F k * activation F (\Sum_e (first_layer F k e * u e) + first_bias F k)) + second_bias F.

(** The number of non-zero first-layer weights. *)
Definition nonzero_weights : nat := #|[set a : 'I_p * E | nonzero (first_layer F a.1 a.2)]|.

(** A1.2 and A1.3 for the read-out. *)
Definition readout_constraints : Prop :=
  [/\ forall a b, Rabs (activation F a - activation F b) <= Rabs (a - b),
      forall k e, Rabs (first_layer F k e) <= 1 & forall k, Rabs (second_layer F k) <= 1].

(** N5. A two-layer read-out has the number of its non-zero first-layer weights as a Lipschitz constant. *)
Lemma read_moves : readout_constraints -> lipschitz_readout read (INR nonzero_weights).
Proof.
move=> [lipschitz small_1 small_2] u u' delta delta_ge0 close.
pose cost (k : 'I_p) (e : E) : R := if nonzero (first_layer F k e) then delta else 0.
have unit_move k : Rabs (second_layer F k * activation F (\Sum_e (first_layer F k e * u e) + first_bias F k)
    - second_layer F k * activation F (\Sum_e (first_layer F k e * u' e) + first_bias F k)) <= \Sum_e cost k e.
  rewrite -Rmult_minus_distr_l Rabs_mult -[X in _ <= X]Rmult_1_l.
  apply: Rmult_le_compat; try exact: Rabs_pos; first exact: small_2.
  apply: Rle_trans (lipschitz _ _) _.
  have -> : \Sum_e (first_layer F k e * u e) + first_bias F k - (\Sum_e (first_layer F k e * u' e) + first_bias F k)
      = \Sum_e (first_layer F k e * (u e - u' e)).
    have -> : \Sum_e (first_layer F k e * (u e - u' e))
        = \Sum_e (first_layer F k e * u e) - \Sum_e (first_layer F k e * u' e).
      by rewrite -sum_sub; apply: eq_bigr => e _; ring.
    ring.
  apply: Rle_trans (sum_abs _ _) _; apply: sum_le => e _; rewrite Rabs_mult /cost /nonzero.
  case: Req_EM_T => [zero|_] /=; first by rewrite zero Rabs_R0 Rmult_0_l; right.
  by rewrite -[X in _ <= X]Rmult_1_l; apply: Rmult_le_compat; try exact: Rabs_pos.
have -> : read u - read u' = \Sum_k (second_layer F k * activation F (\Sum_e (first_layer F k e * u e) + first_bias F k)
    - second_layer F k * activation F (\Sum_e (first_layer F k e * u' e) + first_bias F k)).
  by rewrite /read sum_sub; ring.
apply: Rle_trans (sum_abs _ _) _; apply: Rle_trans (sum_le (fun k _ => unit_move k)) _.
rewrite pair_bigA -big_mkcond sum_const /nonzero_weights cardsE; exact: Rle_refl.
Qed.

End ReadOut.

(** ** N4 *)

Section LowerBound.
Variables (Token : Type) (D T s n m tau G : nat).

(* The task: sets with at least m positions, features with a minimum each, G grid points in every basin. *)
Variables (S : 'I_D -> {set 'I_T}) (f : 'I_D -> Token -> R) (F0 : {ffun 'I_D -> R} -> R).
Variables (xmin : 'I_D -> Token) (grid : 'I_D -> 'I_G -> Token) (eps : R).
Hypothesis S_large : forall i, (m <= #|S i|)%N.
Hypothesis xmin_min : forall i x, f i (xmin i) <= f i x.
Hypothesis grid_increasing : forall i (j k : 'I_G), (j < k)%N -> f i (grid i j) < f i (grid i k).
Hypothesis basins_apart : forall i (k : 'I_G) b, b.1 != i -> f i (grid i k) < f i (point xmin grid b).
Hypothesis grid_steps : forall i (j k : 'I_G), j != k ->
  3 * eps <= Rabs (target f F0 xmin i (grid i j) - target f F0 xmin i (grid i k)).

(* The model: a block under A1.1 and A1.3 with fewer heads than features, and any Lipschitz read-out. *)
Variables (A : block Token T s n) (F : (coordinate s n -> R) -> R) (Lam : R).
Hypotheses (A_ok : block_constraints A) (F_lipschitz : lipschitz_readout F Lam).
Hypotheses (s_gt0 : (0 < s)%N) (n_gt0 : (0 < n)%N) (s_lt : (s < D)%N).
Hypotheses (tau_gt0 : (0 < tau)%N) (tau_le : (tau + s + D <= m.+1)%N).
Hypothesis approximates : forall X, Rabs (F (attention A X) - retrieval f S F0 X) < eps.

Let E := INR (n * s).

Local Lemma Lam_ge0 : 0 <= Lam.
Proof.
have := F_lipschitz (u := fun=> 0) (u' := fun=> 0) Rle_0_1; rewrite Rmult_1_r => le; apply: Rle_trans (le _).
  exact: Rabs_pos.
by move=> e; rewrite Rminus_0_r Rabs_R0; exact: Rle_0_1.
Qed.

(** N4, for every number g of parts with g^((n+1)s) < C(G, tau): the read-out has Lipschitz constant at least
    eps g / (3 E^(3/2) tau). *)
Theorem N4_counting (g : nat) : (g ^ (n.+1 * s) < 'C(G, tau))%N ->
  eps / (3 * (E * sqrt E) * INR tau) * INR g <= Lam.
Proof.
have [->|g_gt0 few] := posnP g; first by move=> _; rewrite Rmult_0_r; exact: Lam_ge0.
have E_pos : 0 < E by apply: lt_0_INR; apply/ltP; rewrite muln_gt0 n_gt0.
have root_pos := sqrt_lt_R0 _ E_pos.
have tau_pos : 0 < INR tau by apply: lt_0_INR; apply/ltP.
have g_pos : 0 < INR g by apply: lt_0_INR; apply/ltP.
have weight_pos i x t : 0 < weight A i x t by exact: exp_pos.
have value_le i c x t : Rabs (value A i c x t) <= sqrt E by exact: value_bounded.
have [X [X' [far near]]] := N4_collision S_large xmin_min grid_increasing basins_apart grid_steps
  weight_pos value_le s_gt0 s_lt tau_le g_gt0 few.
pose delta := E * (3 * sqrt E * INR tau / INR g).
have delta_pos : 0 < delta.
  apply: Rmult_lt_0_compat => //; apply: Rdiv_lt_0_compat => //.
  by apply: Rmult_lt_0_compat => //; lra.
have close e : Rabs (attention A X e - attention A X' e) <= delta.
  have [_ _ small_O] := A_ok.
  rewrite (_ : attention A X e - attention A X' e = \Sum_a (W_O A e a *
    (head_output (weight A a.1) (value A a.1 a.2) X - head_output (weight A a.1) (value A a.1 a.2) X'))); last first.
    rewrite (eq_bigr (fun a => W_O A e a * head_output (weight A a.1) (value A a.1 a.2) X
      - W_O A e a * head_output (weight A a.1) (value A a.1 a.2) X')) => [|a _]; last by ring.
    by rewrite sum_sub /attention; ring.
  apply: Rle_trans (sum_abs _ _) _; rewrite /delta {1}/E mulnC.
  have -> : (s * n)%N = #|coordinate s n| by rewrite card_prod !card_ord.
  apply: sum_all_le => a; rewrite Rabs_mult -[X in _ <= X]Rmult_1_l.
  by apply: Rmult_le_compat; try exact: Rabs_pos; [exact: small_O | exact: near].
have moves := F_lipschitz (Rlt_le _ _ delta_pos) close.
have gap : eps < Lam * delta.
  have := approximates X; have := approximates X'; move: moves far; rewrite /Rabs; do 4!case: Rcase_abs; lra.
apply: (Rmult_le_reg_r (delta)) => //; apply: Rlt_le; apply: Rle_lt_trans gap; right.
by rewrite /delta; field; repeat split; lra.
Qed.

(** N4. With q = (n+1) s and c = ceil(C(G, tau)^(1/q)): the read-out of a model with sup error < eps has Lipschitz
    constant at least eps / (3 E^(3/2) tau) (c - 1). *)
Theorem N4_grid (c : nat) : (tau <= G)%N ->
  let root := Rpower (INR 'C(G, tau)) (/ INR (n.+1 * s)) in root <= INR c < root + 1 ->
  eps / (3 * (E * sqrt E) * INR tau) * (INR c - 1) <= Lam.
Proof.
move=> tauG root c_ceil; have root_pos : 0 < root by exact: exp_pos.
case: c c_ceil => [|g] [c_lo c_hi]; first by move: c_lo; rewrite /=; lra.
rewrite S_INR in c_hi *; rewrite (_ : INR g + 1 - 1 = INR g); last by ring.
have [->|g_gt0] := posnP g; first by rewrite Rmult_0_r; exact: Lam_ge0.
apply: N4_counting; apply/ltP/INR_lt.
have INR_exp k : INR (g ^ k)%N = INR g ^ k.
  by elim: k => // k IH; rewrite expnS -multE mult_INR IH.
have g_pos : 0 < INR g by apply: lt_0_INR; apply/ltP.
have q_pos : 0 < INR (n.+1 * s) by apply: lt_0_INR; apply/ltP; rewrite muln_gt0.
have C_pos : 0 < INR 'C(G, tau) by apply: lt_0_INR; apply/ltP; rewrite bin_gt0.
have <- : Rpower root (INR (n.+1 * s)) = INR 'C(G, tau).
  by rewrite /root Rpower_mult Rinv_l ?Rpower_1 //; lra.
by rewrite INR_exp -Rpower_pow //; apply: Rlt_Rpower_l => //; lra.
Qed.

End LowerBound.
