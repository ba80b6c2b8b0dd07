(** L9 and N12: the maximum of T numbers in [0,1] by a ReLU network of three layers, up to 1/n, and after a shift of
    the bias up to 1/(2n). *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

Definition relu (x : R) : R := Rmax 0 x.

(** A three-layer ReLU network with inputs I, hidden units J, then K, and one output. *)
Record three_layer (I J K : finType) := ThreeLayer {
  W1 : J -> I -> R; b1 : J -> R;
  W2 : K -> J -> R; b2 : K -> R;
  w3 : K -> R; b3 : R }.

Definition output (I J K : finType) (N : three_layer I J K) (x : I -> R) : R :=
  \Sum_k (w3 N k * relu (\Sum_j (W2 N k j * relu (\Sum_i (W1 N j i * x i) + b1 N j)) + b2 N k)) + b3 N.

(** The number of its parameters, zeros left out. *)
Definition parameters (I J K : finType) (N : three_layer I J K) : nat :=
  #|[set p : J * I | nonzero (W1 N p.1 p.2)]| + #|[set j | nonzero (b1 N j)]|
  + #|[set p : K * J | nonzero (W2 N p.1 p.2)]| + #|[set k | nonzero (b2 N k)]|
  + #|[set k | nonzero (w3 N k)]| + nonzero (b3 N).

Lemma nonzero0 (b : bool) r : nonzero (if b then r else 0) -> b.
Proof. by case: b => //; rewrite /nonzero; case: Req_EM_T. Qed.

Section Parameters.
Variables (I J K : finType) (N : three_layer I J K).

(** At most so many parameters, if the matrices have at most p and q entries that are not zero, the hidden biases b, c. *)
Lemma parameters_le p b q c :
  (#|[set e : J * I | nonzero (W1 N e.1 e.2)]| <= p)%N -> (#|[set j | nonzero (b1 N j)]| <= b)%N ->
  (#|[set e : K * J | nonzero (W2 N e.1 e.2)]| <= q)%N -> (#|[set k | nonzero (b2 N k)]| <= c)%N ->
  (parameters N <= p + b + q + c + #|K| + nonzero (b3 N))%N.
Proof. by move=> le_p le_b le_q le_c; rewrite !leq_add ?max_card. Qed.

(** The network x |-> 1 - N(1 - x). *)
Definition complement : three_layer I J K :=
  {| W1 := fun j i => - W1 N j i; b1 := fun j => b1 N j + \Sum_i W1 N j i; W2 := W2 N; b2 := b2 N;
     w3 := fun k => - w3 N k; b3 := 1 - b3 N |}.

Lemma output_complement x : output complement x = 1 - output N (fun i => 1 - x i).
Proof.
have first j : \Sum_i (- W1 N j i * x i) + (b1 N j + \Sum_i W1 N j i) = \Sum_i (W1 N j i * (1 - x i)) + b1 N j.
  have -> : \Sum_i (W1 N j i * (1 - x i)) = \Sum_i W1 N j i + \Sum_i (- W1 N j i * x i).
    by rewrite -big_split; apply: eq_bigr => i _ /=; ring.
  ring.
rewrite /output /=; set s := \Sum_k (w3 N k * _).
have -> : \Sum_k (- w3 N k * relu (\Sum_j (W2 N k j * relu (\Sum_i (- W1 N j i * x i)
    + (b1 N j + \Sum_i W1 N j i))) + b2 N k)) = - s.
  rewrite -sum_opp; apply: eq_bigr => k _; rewrite -Ropp_mult_distr_l; congr (- (_ * relu (_ + _))).
  by apply: eq_bigr => j _; rewrite first.
ring.
Qed.

Lemma nonzero_opp r : nonzero (- r) = nonzero r.
Proof. by rewrite /nonzero; case: Req_EM_T => ?; case: Req_EM_T => ? //; exfalso; lra. Qed.

End Parameters.

Section MaxNetwork.
Variables (T n : nat).

(** L9's network. Hidden units (t, i): relu(x_t - i/n); then for each level j the pair relu(sum_t h1(t,j)) and
    relu(sum_t h1(t,j) - 1/n), with output weights 1 and -1. *)
Definition max_network (shift : R) : three_layer [finType of 'I_T] [finType of 'I_T * 'I_n] [finType of 'I_n * bool] :=
  {| W1 := fun (j : 'I_T * 'I_n) (t : 'I_T) => if j.1 == t then 1 else 0;
     b1 := fun j : 'I_T * 'I_n => - (INR j.2 / INR n);
     W2 := fun (k : 'I_n * bool) (j : 'I_T * 'I_n) => if j.2 == k.1 then 1 else 0;
     b2 := fun k : 'I_n * bool => if k.2 then - / INR n else 0;
     w3 := fun k : 'I_n * bool => if k.2 then - 1 else 1;
     b3 := shift |}.

(** The same written out: h1, h2 and fhat as in the paper. *)
Definition h1 (x : 'I_T -> R) (t : 'I_T) (j : nat) : R := relu (x t - INR j / INR n).
Definition h2 (x : 'I_T -> R) (j : nat) : R := relu (\Sum_t h1 x t j) - relu (\Sum_t h1 x t j - / INR n).
Definition fhat (x : 'I_T -> R) : R := \Sum_(j < n) h2 x j.

Lemma output_max_network shift x : output (max_network shift) x = fhat x + shift.
Proof.
have pick (I : finType) (i : I) (F : I -> R) : \Sum_j ((if j == i then 1 else 0) * F j) = F i.
  by rewrite (bigD1 i) //= eqxx big1 => [|j /negbTE ->]; ring.
have level (j : 'I_n) : \Sum_p ((if p.2 == j then 1 else 0) *
    relu (\Sum_u ((if p.1 == u then 1 else 0) * x u) + - (INR p.2 / INR n))) = \Sum_t h1 x t j.
  rewrite (eq_bigr (fun p : 'I_T * 'I_n => (if p.2 == j then 1 else 0) * h1 x p.1 p.2)); last first.
    move=> p _; congr (_ * relu (_ + _)); rewrite -[RHS](pick _ p.1 x).
    by apply: eq_bigr => u _; rewrite eq_sym.
  rewrite -(pair_bigA _ (fun (t : 'I_T) (i : 'I_n) => (if i == j then 1 else 0) * h1 x t i)) /=.
  by apply: eq_bigr => t _; rewrite pick.
rewrite /output /=; congr (_ + _).
rewrite -(pair_bigA _ (fun (j : 'I_n) (b : bool) => (if b then - 1 else 1) *
  relu (\Sum_p ((if p.2 == j then 1 else 0) * relu (\Sum_u ((if p.1 == u then 1 else 0) * x u) + - (INR p.2 / INR n)))
        + (if b then - / INR n else 0)))) /=.
by apply: eq_bigr => j _; rewrite big_bool /= level /h2 Rplus_0_r /Rminus; ring.
Qed.

Hypothesis n_gt0 : (0 < n)%N.
Local Lemma n_pos : 0 < INR n. Proof. by apply: lt_0_INR; apply/ltP. Qed.

(** Hidden widths T n and 2 n. *)
Lemma max_network_widths :
  #|[finType of 'I_T * 'I_n]| = (T * n)%N /\ #|[finType of 'I_n * bool]| = (2 * n)%N.
Proof. by split; rewrite card_prod ?card_bool !card_ord // mulnC. Qed.

(** The weight matrices have T n and 2 T n entries that are not zero. *)
Lemma max_network_sparse shift :
  (#|[set p : 'I_T * 'I_n * 'I_T | nonzero (W1 (max_network shift) p.1 p.2)]| <= T * n)%N /\
  (#|[set p : ('I_n * bool) * ('I_T * 'I_n) | nonzero (W2 (max_network shift) p.1 p.2)]| <= 2 * (T * n))%N.
Proof.
have [cardJ _] := max_network_widths; rewrite -cardJ -card_bool -card_prod; split.
  rewrite (leq_trans _ (leq_imset_card (fun j : 'I_T * 'I_n => (j, j.1)) _)) // subset_leq_card //.
  apply/subsetP => -[[t i] u]; rewrite inE => /nonzero0/eqP /= <-; apply/imsetP; by exists (t, i).
rewrite (leq_trans _ (leq_imset_card (fun q : bool * ('I_T * 'I_n) => ((q.2.2, q.1), q.2)) _)) // subset_leq_card //.
apply/subsetP => -[[j b] [t i]]; rewrite inE => /nonzero0/eqP /= <-; apply/imsetP; by exists (b, (t, i)).
Qed.

(** The biases have T (n - 1) and n entries that are not zero. *)
Lemma max_network_biases shift :
  (#|[set j | nonzero (b1 (max_network shift) j)]| <= T * n.-1)%N /\
  (#|[set k | nonzero (b2 (max_network shift) k)]| <= n)%N.
Proof.
split.
  have -> : (T * n.-1)%N = #|setX [set: 'I_T] [set~ Ordinal n_gt0]| by rewrite cardsX cardsT cardsC1 !card_ord.
  apply/subset_leq_card/subsetP => -[t i]; rewrite !inE /=; apply: contraTneq => ->.
  by rewrite /nonzero /= /Rdiv Rmult_0_l Ropp_0; case: Req_EM_T.
have card_n : #|setX [set: 'I_n] [set true]| = n by rewrite cardsX cards1 muln1 cardsT card_ord.
by rewrite -[X in (_ <= X)%N]card_n; apply/subset_leq_card/subsetP => -[j b]; rewrite !inE /= => /nonzero0 ->.
Qed.

Section Error.
Variable x : 'I_T -> R.
Hypotheses (T_gt0 : (0 < T)%N) (x01 : forall t, 0 <= x t <= 1).
Local Notation M := (maximum [seq x t | t <- enum 'I_T]).

Local Lemma M_spec : (exists t, M = x t) /\ forall t, x t <= M.
Proof.
have [[t _ Mt] most] := @maximum_spec [eqType of 'I_T] (enum 'I_T) x (Ordinal T_gt0) (mem_enum _ _).
by split; [exists t | move=> u; apply: most; rewrite mem_enum].
Qed.

(* The j-th level adds at least min(1/n, relu(M - j/n)), and at most 1/n, nothing if M <= j/n. *)
Local Lemma level j :
  Rmin (/ INR n) (relu (M - INR j / INR n)) <= h2 x j <= (if Rlt_dec (INR j / INR n) M then / INR n else 0).
Proof.
have [[t Mt] most] := M_spec; have inv_pos := Rinv_0_lt_compat _ n_pos; have n_pos := n_pos.
have h1_ge0 u : 0 <= h1 x u j by rewrite /h1 /relu; exact: Rmax_l.
have sum_ge : relu (M - INR j / INR n) <= \Sum_u h1 x u j.
  by rewrite Mt; apply: (@sum_term_le _ xpredT (fun u => h1 x u j)).
have sum_pos : 0 <= \Sum_u h1 x u j by apply: sum_ge0.
have h2E : h2 x j = Rmin (/ INR n) (\Sum_u h1 x u j).
  by rewrite /h2 /relu /Rmin /Rmax; do 3!case: Rle_dec; lra.
rewrite h2E; split; first by apply: Rle_min_compat_l.
case: (Rlt_dec _ M) => /= [_|le]; first exact: Rmin_l.
rewrite (_ : \Sum_u h1 x u j = 0); first by rewrite /Rmin; case: Rle_dec; lra.
apply: big1 => u _; rewrite /h1 /relu /Rmax; case: Rle_dec => //; have := most u; lra.
Qed.

(** L9, error. On [0,1]^T the network overshoots only: 0 <= fhat - max_t x_t <= 1/n. *)
Theorem L9_overshoot : 0 <= fhat x - M <= / INR n.
Proof.
have [[t Mt] most] := M_spec; have inv_pos := Rinv_0_lt_compat _ n_pos; have n_pos := n_pos.
have M01 : 0 <= M <= 1 by rewrite Mt.
have step k : INR k.+1 / INR n = INR k / INR n + / INR n by rewrite S_INR; field; lra.
have lower k : Rmin M (INR k / INR n) <= \Sum_(j < k) h2 x j.
  elim: k => [|k IH]; first by rewrite big_ord0 /Rmin; case: Rle_dec; rewrite /Rdiv Rmult_0_l; lra.
  rewrite sum_recr step; have [+ _] := level k; move: IH.
  by rewrite /relu /Rmin /Rmax; do 5?case: Rle_dec; lra.
have upper k : \Sum_(j < k) h2 x j <= Rmin (M + / INR n) (INR k / INR n).
  elim: k => [|k IH]; first by rewrite big_ord0 /Rmin; case: Rle_dec; rewrite /Rdiv Rmult_0_l; lra.
  rewrite sum_recr step; have [_ +] := level k; move: IH.
  by rewrite /Rmin; case: (Rlt_dec _ M) => /= ?; do 2?case: Rle_dec; lra.
have nn : INR n / INR n = 1 by field; lra.
move: (lower n) (upper n); rewrite -/(fhat x) nn.
by rewrite /Rmin; do 2!case: Rle_dec; lra.
Qed.

(** N12 (halved form). With output bias -1/(2n): |fhat - 1/(2n) - max_t x_t| <= 1/(2n). *)
Theorem L9_halved : Rabs (output (max_network (- / (2 * INR n))) x - M) <= / (2 * INR n).
Proof.
have n_pos := n_pos; have half : / INR n = / (2 * INR n) + / (2 * INR n) by field; lra.
by rewrite output_max_network; apply: Rabs_le; have := L9_overshoot; lra.
Qed.

End Error.
End MaxNetwork.

Section ForEps.
Variables (T : nat) (eps : R).
Hypotheses (T_gt0 : (0 < T)%N) (eps01 : 0 < eps <= 1).

(* n = ceil(1/eps) levels. *)
Local Lemma levels : exists n : nat, [/\ 1 / eps <= INR n < 1 / eps + 1, (0 < n)%N & / INR n <= eps].
Proof.
have inv_ge1 : 1 <= 1 / eps by apply: (Rmult_le_reg_r eps); [lra | field_simplify; lra].
have [n [n_lo n_hi]] := @ceiling (1 / eps) ltac:(lra).
exists n; split=> //; first by apply/ltP; apply: INR_lt; rewrite /=; lra.
rewrite -[eps]Rinv_inv; apply: Rinv_le_contravar; first by apply: Rinv_0_lt_compat; lra.
by rewrite -[X in X <= _]Rmult_1_l.
Qed.

(* What they cost: (4 T + 3) n + c - d T parameters, d T more than c - 1. *)
Local Lemma cost n P c d : INR n < 1 / eps + 1 -> (P + d * T <= (4 * T + 3) * n + c)%N -> (c + 6 <= (6 + d) * T)%N ->
  INR P <= 14 * INR T / eps.
Proof.
move=> n_hi /leP/le_INR le_P /leP/le_INR small; have T_ge1 : 1 <= INR T by apply: (le_INR 1); apply/ltP.
have inv_ge1 : 1 <= 1 / eps by apply: (Rmult_le_reg_r eps); [lra | field_simplify; lra].
have numbers : [/\ INR 3 = 3, INR 4 = 4 & INR 6 = 6] by split; rewrite /=; ring.
have [three four six] := numbers; move: le_P small; rewrite -!plusE -!multE !(plus_INR, mult_INR) three four six.
move=> le_P small; rewrite (_ : 14 * INR T / eps = 14 * INR T * (1 / eps)); last by field; lra.
have : (4 * INR T + 3) * INR n <= (4 * INR T + 3) * (1 / eps + 1) by apply: Rmult_le_compat_l; lra.
have : (INR T * 10 - 3) * 1 <= (INR T * 10 - 3) * (1 / eps) by apply: Rmult_le_compat_l; lra.
by lra.
Qed.

(** L9. For eps in (0,1] and n = ceil(1/eps) the three-layer ReLU network fhat with hidden widths T n and 2 n and at most
    14 T/eps parameters computes the maximum of T numbers in [0,1] within 1/n <= eps. *)
Theorem L9 : exists n : nat, 1 / eps <= INR n < 1 / eps + 1 /\
  let N := max_network T n 0 in
    [/\ #|[finType of 'I_T * 'I_n]| = (T * n)%N /\ (T * n <= 2 * T * n)%N,
     #|[finType of 'I_n * bool]| = (2 * n)%N /\ (2 * n <= 2 * T * n)%N, INR (parameters N) <= 14 * INR T / eps,
     / INR n <= eps & forall x : 'I_T -> R, output N x = fhat n x /\
     ((forall t, 0 <= x t <= 1) -> Rabs (output N x - maximum [seq x t | t <- enum 'I_T]) <= / INR n)].
Proof.
have [n [n_ceil n_gt0 n_eps]] := levels; exists n; split=> // N; have [cardJ cardK] := max_network_widths T n.
have [sparse1 sparse2] := max_network_sparse T n 0; have [bias1 bias2] := max_network_biases T n_gt0 0.
split=> //.
- by split; rewrite // -mulnA leq_pmull.
- by split; rewrite // -mulnA leq_mul2l leq_pmull.
- apply: (@cost n _ 0 1); [lra | | by move: T_gt0; ssrlia].
  have b3_0 : nonzero (b3 N) = 0%N :> nat by rewrite /nonzero /=; case: Req_EM_T.
  have : (parameters N <= T * n + T * n.-1 + 2 * (T * n) + n + 2 * n + 0)%N.
    by apply: leq_trans (parameters_le sparse1 bias1 sparse2 bias2) _; rewrite -/N b3_0 cardK.
  have steps : (T * n.-1 + T = T * n)%N by rewrite -[in RHS](prednK n_gt0) mulnS addnC.
  by rewrite mulnDl -mulnA; move: (T * n)%N (T * n.-1)%N steps => *; ssrlia.
- move=> x; rewrite output_max_network Rplus_0_r; split=> // x01.
  by apply: Rabs_le; have := L9_overshoot n_gt0 T_gt0 x01; lra.
Qed.

(** L9, the same for the minimum. *)
Theorem L9_min : exists n : nat, 1 / eps <= INR n < 1 / eps + 1 /\
  exists N : three_layer [finType of 'I_T] [finType of 'I_T * 'I_n] [finType of 'I_n * bool],
    [/\ #|[finType of 'I_T * 'I_n]| = (T * n)%N /\ (T * n <= 2 * T * n)%N,
     #|[finType of 'I_n * bool]| = (2 * n)%N /\ (2 * n <= 2 * T * n)%N, INR (parameters N) <= 14 * INR T / eps,
     / INR n <= eps & forall x : 'I_T -> R, (forall t, 0 <= x t <= 1) ->
     Rabs (output N x - minimum [seq x t | t <- enum 'I_T]) <= / INR n].
Proof.
have [T1 | T_gt1] := leqP T 1.
  have [n [n_ceil [widths1 widths2 small n_eps close]]] := L9; exists n; split=> //.
  exists (max_network T n 0); split=> // x x01; have [_ /(_ x01)] := close x.
  have t0_in : Ordinal T_gt0 \in enum 'I_T by rewrite mem_enum.
  have [[t _ ->] _] := minimum_spec x t0_in; have [[u _ ->] _] := maximum_spec x t0_in.
  by have -> : u = t by apply: val_inj => /=; move: (ltn_ord t) (ltn_ord u) T1; ssrlia.
have [n [n_ceil n_gt0 n_eps]] := levels; exists n; split=> //; have [cardJ cardK] := max_network_widths T n.
have [sparse1 sparse2] := max_network_sparse T n 0; have [_ bias2] := max_network_biases T n_gt0 0.
pose N := complement (max_network T n 0).
have sparse1' : (#|[set e : _ * _ | nonzero (W1 N e.1 e.2)]| <= T * n)%N.
  by apply: leq_trans sparse1; apply: subset_leq_card; apply/subsetP => e; rewrite !inE nonzero_opp.
exists N; split=> //.
- by split; rewrite // -mulnA leq_pmull.
- by split; rewrite // -mulnA leq_mul2l leq_pmull.
- apply: (@cost n _ 1 0); [lra | | by ssrlia].
  have : (parameters N <= T * n + T * n + 2 * (T * n) + n + 2 * n + nonzero (b3 N))%N.
    by apply: leq_trans (parameters_le sparse1' (max_card _) sparse2 bias2) _; rewrite cardJ cardK.
  by have := leq_b1 (nonzero (b3 N)); rewrite mulnDl -mulnA; move: (T * n)%N (nat_of_bool _) => *; ssrlia.
- move=> x x01; pose y t := 1 - x t; have y01 t : 0 <= y t <= 1 by have := x01 t; rewrite /y; lra.
  have -> : output N x = 1 - fhat n y by rewrite output_complement output_max_network Rplus_0_r.
  have min_max : maximum [seq y t | t <- enum 'I_T] = 1 - minimum [seq x t | t <- enum 'I_T].
    have t0_in : Ordinal T_gt0 \in enum 'I_T by rewrite mem_enum.
    have [[t t_in ->] least] := minimum_spec x t0_in.
    have [[u u_in ->] most] := maximum_spec y t0_in.
    by have := most t t_in; have := least u u_in; rewrite /y; lra.
  by have := L9_overshoot n_gt0 T_gt0 y01; rewrite min_max => bounds; apply: Rabs_le; lra.
Qed.

End ForEps.
