(** N4, steps 2-6, for an abstract attention block: any heads with positive weights and bounded values send two
    sequences with targets 3 eps apart to nearly the same place. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Pigeonhole Choices Retrieval.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** ** The output of a head *)

Section Heads.
Variables (Token : Type) (T : nat).
Implicit Types (lambda v : Token -> 'I_T -> R) (X : 'I_T -> Token).

(** sum_t lambda(x(t), t) v(x(t), t) / sum_t lambda(x(t), t). *)
Definition head_output lambda v X : R :=
  (\Sum_t (lambda (X t) t * v (X t) t)) / \Sum_t lambda (X t) t.

Lemma head_output_bounded lambda v B X :
  (0 < T)%N -> (forall x t, 0 < lambda x t) -> (forall x t, Rabs (v x t) <= B) -> Rabs (head_output lambda v X) <= B.
Proof.
move=> T_gt0 pos bound.
have Q_pos : 0 < \Sum_t lambda (X t) t.
  apply: Rlt_le_trans (pos (X (Ordinal T_gt0)) (Ordinal T_gt0)) _.
  by apply: (@sum_term_le _ xpredT (fun t => lambda (X t) t)) => // t _; apply: Rlt_le.
rewrite /head_output /Rdiv Rabs_mult Rabs_inv (Rabs_pos_eq _ (Rlt_le _ _ Q_pos)).
apply: (Rmult_le_reg_r (\Sum_t lambda (X t) t)) => //; rewrite Rmult_assoc Rinv_l ?Rmult_1_r; last by lra.
apply: Rle_trans (sum_abs _ _) _; rewrite -sum_scale; apply: sum_le => t _.
rewrite Rabs_mult Rabs_pos_eq; last by apply: Rlt_le.
by rewrite Rmult_comm; apply: Rmult_le_compat_r; [apply: Rlt_le | exact: bound].
Qed.

(** N4 step 5. If Q >= Lambda > 0, |N'/Q'| <= B and the normalised numbers differ by at most a and q, the outputs
    differ by at most a + B q: y - y' = (Lambda Delta a - y' Lambda Delta q)/Q. *)
Lemma outputs_close (Lambda N N' Q Q' B a q : R) :
  0 < Lambda -> Lambda <= Q -> 0 < Q' -> Rabs (N' / Q') <= B ->
  Rabs (N - N') <= Lambda * a -> Rabs (Q - Q') <= Lambda * q -> Rabs (N / Q - N' / Q') <= a + B * q.
Proof.
move=> L_pos LQ Q'_pos y_le dN dQ; have Q_pos : 0 < Q by lra.
have -> : N / Q - N' / Q' = (N - N' - N' / Q' * (Q - Q')) / Q by field; lra.
rewrite /Rdiv Rabs_mult Rabs_inv (Rabs_pos_eq Q); last by lra.
apply: (Rmult_le_reg_r Q) => //; rewrite Rmult_assoc Rinv_l ?Rmult_1_r; last by lra.
have aq_ge0 : 0 <= Lambda * (a + B * q).
  have B_ge0 : 0 <= B by apply: Rle_trans y_le; exact: Rabs_pos.
  have := Rmult_le_compat_l _ _ _ B_ge0 (Rle_trans _ _ _ (Rabs_pos _) dQ); have := Rle_trans _ _ _ (Rabs_pos _) dN; lra.
have aq_pos : 0 <= a + B * q by apply: (Rmult_le_reg_l Lambda) => //; lra.
apply: (@Rle_trans _ ((a + B * q) * Lambda)); last by apply: Rmult_le_compat_l.
apply: Rle_trans (Rabs_triang _ _) _; rewrite Rabs_Ropp Rabs_mult.
have := Rmult_le_compat _ _ _ _ (Rabs_pos _) (Rabs_pos _) y_le dQ; lra.
Qed.

End Heads.

(** ** Two sequences far apart for the task and close for every head *)

Section Collision.
Variables (Token : Type) (D T s n m tau G : nat).

(* The task: sets of positions, features, outer map. *)
Variables (S : 'I_D -> {set 'I_T}) (f : 'I_D -> Token -> R) (F0 : {ffun 'I_D -> R} -> R).
Hypothesis S_large : forall i, (m <= #|S i|)%N.

(* A2.1: a minimum of every feature; [xmin i] is x^(i). *)
Variable xmin : 'I_D -> Token.
Hypothesis xmin_min : forall i x, f i (xmin i) <= f i x.

(* Step 1. In the basin of every minimum there are G grid points with increasing values of the feature; *)
Variable grid : 'I_D -> 'I_G -> Token.
Hypothesis grid_increasing : forall i (j k : 'I_G), (j < k)%N -> f i (grid i j) < f i (grid i k).

(* the points of any other basin (its minimum and its grid points) have larger values of the feature; *)
Definition point (b : 'I_D * option 'I_G) : Token := if b.2 is Some j then grid b.1 j else xmin b.1.
Hypothesis basins_apart : forall i (k : 'I_G) b, b.1 != i -> f i (grid i k) < f i (point b).

(* and the images of the grid points under F_0, the other features at their minima, are 3 eps apart. *)
Variable eps : R.
Definition target (i : 'I_D) (x : Token) : R := F0 [ffun j => if j == i then f i x else f j (xmin j)].
Hypothesis grid_steps :
  forall i (j k : 'I_G), j != k -> 3 * eps <= Rabs (target i (grid i j) - target i (grid i k)).

(* The heads: positive weights, values in [-B, B], n of them per head. *)
Variables (lambda : 'I_s -> Token -> 'I_T -> R) (v : 'I_s -> 'I_n -> Token -> 'I_T -> R) (B : R).
Hypothesis lambda_pos : forall i x t, 0 < lambda i x t.
Hypothesis v_bounded : forall i c x t, Rabs (v i c x t) <= B.

Hypotheses (s_gt0 : (0 < s)%N) (s_lt : (s < D)%N) (tau_le : (tau + s + D <= m.+1)%N).

Section Sequences.
(* One basin i1, another one i2; positions t_j and tokens y_j of the heads' maxima; representatives r_i of the other
   sets; tau positions [free k] of S_i1 off all of these. *)
Variables (i1 i2 : 'I_D) (y : 'I_s -> 'I_D * option 'I_G) (t : 'I_s -> 'I_T) (r : 'I_D -> 'I_T) (free : 'I_tau -> 'I_T).
Hypotheses (i2_neq : i2 != i1) (y_off : forall j, (y j).1 != i1) (t_inj : injective t).
Hypothesis y_max :
  forall j b u, u \notin [set t j' | j' in 'I_s] -> lambda j (point b) u <= lambda j (point (y j)) (t j).
Hypotheses (r_inj : {in [pred i | i != i1] &, injective r}) (r_in : forall i, i != i1 -> r i \in S i).
Hypothesis r_off : forall i, i != i1 -> r i \notin [set t j | j in 'I_s].
Hypotheses (free_inj : injective free) (free_in : forall k, free k \in S i1).
Hypotheses (free_t : forall k, free k \notin [set t j | j in 'I_s]) (free_r : forall k i, i != i1 -> free k != r i).

(** Off the free positions: y_j at t_j, x^(i) at r_i, and x^(i2) elsewhere. *)
Definition common_point (u : 'I_T) : 'I_D * option 'I_G :=
  if [pick j | t j == u] is Some j then y j
  else if [pick i | (i != i1) && (r i == u)] is Some i then (i, None) else (i2, None).

(** The full sequence for [p]: its grid points where it differs from [p'], the common points elsewhere. *)
Definition sequence (p p' : tau.-tuple 'I_G) (u : 'I_T) : Token :=
  if [pick k | (free k == u) && (tnth p k != tnth p' k)] is Some k then grid i1 (tnth p k) else point (common_point u).

Lemma common_off u : (common_point u).1 != i1.
Proof.
rewrite /common_point; case: pickP => [j _|_]; first exact: y_off.
by case: pickP => [i /andP[]|].
Qed.

Lemma common_t j : common_point (t j) = y j.
Proof. by rewrite /common_point; case: pickP => [j' /eqP/t_inj ->|/(_ j)/eqP]. Qed.

Lemma common_r i : i != i1 -> common_point (r i) = (i, None).
Proof.
move=> i_i1; rewrite /common_point; case: pickP => [j /eqP tr|_].
  by have /negP[] := r_off i_i1; rewrite -tr imset_f.
case: pickP => [i' /andP[i'_i1 /eqP /r_inj ->]|/(_ i)] //.
by rewrite i_i1 eqxx.
Qed.

Lemma sequence_free p p' k :
  sequence p p' (free k) = if tnth p k == tnth p' k then point (common_point (free k)) else grid i1 (tnth p k).
Proof.
rewrite /sequence; case: pickP => [k' /andP[/eqP/free_inj -> /negbTE ->] //|/(_ k)].
by rewrite eqxx /= => /negbFE ->.
Qed.

Lemma sequence_off p p' u : (forall k, free k != u) -> sequence p p' u = point (common_point u).
Proof. by move=> off; rewrite /sequence; case: pickP => [k|] //; rewrite (negbTE (off k)). Qed.

Lemma sequence_t p p' j : sequence p p' (t j) = point (y j).
Proof.
rewrite sequence_off ?common_t // => k; apply/eqP => ft.
by have /negP[] := free_t k; rewrite ft imset_f.
Qed.

Lemma sequence_r p p' i : i != i1 -> sequence p p' (r i) = xmin i.
Proof. by move=> i_i1; rewrite sequence_off ?common_r // => k; exact: free_r. Qed.

(** Step 5, the common positions cancel: sums over the full sequences differ like the sums over the free positions. *)
Lemma sums_differ (phi : Token -> 'I_T -> R) p p' :
  \Sum_u phi (sequence p p' u) u - \Sum_u phi (sequence p' p u) u
  = \Sum_k phi (grid i1 (tnth p k)) (free k) - \Sum_k phi (grid i1 (tnth p' k)) (free k).
Proof.
rewrite -!sum_sub (bigID (mem [set free k | k in 'I_tau])) /= [X in _ + X]big1 ?Rplus_0_r; last first.
  move=> u u_off; rewrite !sequence_off ?Rminus_diag_eq // => k; apply: contra u_off => /eqP <-; exact: imset_f.
rewrite big_imset /=; last by move=> k k' _ _; exact: free_inj.
apply: eq_bigr => k _; rewrite !sequence_free eq_sym.
by case: eqP => // ->; ring.
Qed.

(** Step 5. If the normalised numbers of the free positions agree up to 2 B tau/g and tau/g, the outputs of the heads
    agree up to 3 B tau/g. *)
Lemma heads_close (g : nat) p p' j c :
  (0 < g)%N ->
  Rabs ((\Sum_k (lambda j (grid i1 (tnth p k)) (free k) * v j c (grid i1 (tnth p k)) (free k)))
        / lambda j (point (y j)) (t j)
      - (\Sum_k (lambda j (grid i1 (tnth p' k)) (free k) * v j c (grid i1 (tnth p' k)) (free k)))
        / lambda j (point (y j)) (t j)) <= 2 * B * INR tau / INR g ->
  Rabs ((\Sum_k lambda j (grid i1 (tnth p k)) (free k)) / lambda j (point (y j)) (t j)
      - (\Sum_k lambda j (grid i1 (tnth p' k)) (free k)) / lambda j (point (y j)) (t j)) <= INR tau / INR g ->
  Rabs (head_output (lambda j) (v j c) (sequence p p') - head_output (lambda j) (v j c) (sequence p' p))
    <= 3 * B * INR tau / INR g.
Proof.
move=> g_gt0 close_v close_1; set Lambda := lambda j _ _ in close_v close_1.
have Lambda_pos : 0 < Lambda by exact: lambda_pos.
have weight_ge X : X (t j) = point (y j) -> Lambda <= \Sum_u lambda j (X u) u.
  move=> Xt; rewrite /Lambda -Xt; apply: (@sum_term_le _ xpredT (fun u => lambda j (X u) u)) => // u _.
  exact: Rlt_le.
have T_gt0 : (0 < T)%N by apply: leq_trans (ltn_ord (t j)).
have scale a b c' : Rabs (a / Lambda - b / Lambda) <= c' -> Rabs (a - b) <= Lambda * c'.
  move=> le; have -> : a - b = Lambda * (a / Lambda - b / Lambda) by field; lra.
  by rewrite Rabs_mult Rabs_pos_eq; [apply: Rmult_le_compat_l; lra | lra].
have -> : 3 * B * INR tau / INR g = 2 * B * INR tau / INR g + B * (INR tau / INR g) by rewrite /Rdiv; ring.
apply: (@outputs_close Lambda) => //.
- exact/weight_ge/sequence_t.
- by apply: Rlt_le_trans Lambda_pos (weight_ge _ (sequence_t _ _ _)).
- exact: head_output_bounded.
- by rewrite (sums_differ (fun x u => lambda j x u * v j c x u)); exact: (scale _ _ _ close_v).
- by rewrite (sums_differ (lambda j)); exact: (scale _ _ _ close_1).
Qed.

(** Step 6. Other features sit at their minima; f_i1 has its minimum at the first position where p and p' differ. *)
Lemma minima_far p p' : p \in increasing tau G -> p' \in increasing tau G -> p != p' ->
  3 * eps <= Rabs (retrieval f S F0 (sequence p p') - retrieval f S F0 (sequence p' p)).
Proof.
move=> p_inc p'_inc neq.
have [k0 differ first] : exists2 k0, tnth p k0 != tnth p' k0 & forall k, tnth p k != tnth p' k -> (k0 <= k)%N.
  have [k differ] : exists k, tnth p k != tnth p' k.
    apply/existsP; apply: contraR neq; rewrite negb_exists => /forallP same.
    by apply/eqP/eq_from_tnth => k; apply/eqP; rewrite -[_ == _]negbK.
  by case: (@arg_minnP _ k (fun k => tnth p k != tnth p' k) val differ) => k0; exists k0.
have minima q q' : q \in increasing tau G -> (forall k, (tnth q k != tnth q' k) = (tnth p k != tnth p' k)) ->
    retrieval f S F0 (sequence q q') = target i1 (grid i1 (tnth q k0)).
  move=> q_inc same; congr F0; apply/ffunP => i; rewrite !ffunE.
  have [->|i_i1] := eqVneq i i1; last first.
    have := @min_over_eq _ (S i) (fun u => f i (sequence q q' u)) (r i).
    by rewrite sequence_r //; apply; [exact: r_in | move=> *; exact: xmin_min].
  have at_k0 : sequence q q' (free k0) = grid i1 (tnth q k0).
    by rewrite sequence_free; have := same k0; rewrite differ => /negbTE ->.
  rewrite -at_k0; apply: min_over_eq => // u _; rewrite at_k0.
  rewrite /sequence; case: pickP => [k /andP[_ k_differ]|_]; last by apply/Rlt_le/basins_apart/common_off.
  rewrite same in k_differ; have := first k k_differ; rewrite leq_eqVlt => /orP[/eqP/val_inj <-|k0k]; first by right.
  apply/Rlt_le/grid_increasing; move: q_inc; rewrite inE => /(sorted_ltn_nth ltn_trans 0%N).
  move=> /(_ k0 k); rewrite !inE size_map size_tuple !ltn_ord => /(_ isT isT k0k).
  by rewrite !(nth_map (tnth q k0)) ?size_tuple // -!tnth_nth.
rewrite !minima // => [|k]; first exact: grid_steps.
by rewrite eq_sym.
Qed.

End Sequences.

(** N4, steps 1-6. If g^((n+1)s) < C(G, tau), there are two sequences whose targets differ by at least 3 eps, although
    every coordinate of every head differs by at most 3 B tau/g. *)
Theorem N4_collision (g : nat) : (0 < g)%N -> (g ^ (n.+1 * s) < 'C(G, tau))%N ->
  exists X X' : 'I_T -> Token,
    3 * eps <= Rabs (retrieval f S F0 X - retrieval f S F0 X') /\
    forall j c, Rabs (head_output (lambda j) (v j c) X - head_output (lambda j) (v j c) X') <= 3 * B * INR tau / INR g.
Proof.
move=> g_gt0 few.
have j0 : 'I_s by exact: Ordinal s_gt0.
have i0 : 'I_D by exact: Ordinal (ltn_trans s_gt0 s_lt).
have mT : (m <= T)%N by rewrite (leq_trans (S_large i0)) // -[X in (_ <= X)%N]card_ord max_card.
have T_gt0 : (0 < T)%N by ssrlia.
(* step 2 *)
have [y [t [t_inj t_max]]] := @greedy_maxima _ _ _ (enum 'I_s) (fun j b u => lambda j (point b) u) (i0, None)
  (Ordinal T_gt0) (enum_uniq _) ltac:(by rewrite size_enum_ord card_ord; ssrlia).
have {}t_inj : injective t by move=> j j'; apply: t_inj; rewrite mem_enum.
have imt : [set t j | j in enum 'I_s] = [set t j | j in 'I_s].
  by apply/setP => u; apply/imsetP/imsetP => -[j _ ->]; exists j; rewrite ?mem_enum.
have card_t : (#|[set t j | j in 'I_s]| <= s)%N by rewrite (leq_trans (leq_imset_card _ _)) ?card_ord.
have [i1 y_off] : exists i1, forall j, (y j).1 != i1.
  have /card_gt0P[i1] : (0 < #|~: [set (y j).1 | j in 'I_s]|)%N.
    by rewrite cardsCs setCK card_ord subn_gt0 (leq_ltn_trans (leq_imset_card _ _)) ?card_ord.
  rewrite inE => i1_off; exists i1 => j; apply: contra i1_off => /eqP <-; exact: imset_f.
pose i2 := (y j0).1; have i2_neq : i2 != i1 by exact: y_off.
(* step 3 *)
pose others := enum [pred i | i != i1].
have size_others : (size others < D)%N.
  by rewrite -cardE -[X in (_ < X)%N](card_ord D) -(cardC (pred1 i1)) card1 addnC addn1 ltnS subset_leq_card.
have [|r r_inj r_in] := @representatives _ _ others S [set t j | j in 'I_s] (Ordinal T_gt0) (enum_uniq _).
  by move=> i _; have := S_large i; ssrlia.
have in_others i : (i \in others) = (i != i1) by rewrite mem_enum.
pose taken := [set t j | j in 'I_s] :|: [set r i | i in others].
have card_taken : (#|taken| <= s + size others)%N.
  apply: leq_trans (leq_card_setU _ _) _; apply: leq_add => //.
  exact: leq_trans (leq_imset_card _ _) (card_size _).
have card_free : (tau <= #|S i1 :\: taken|)%N.
  have := cardsID taken (S i1); have := subset_leq_card (subsetIr (S i1) taken); have := S_large i1; ssrlia.
pose free (k : 'I_tau) := nth (Ordinal T_gt0) (enum (S i1 :\: taken)) k.
have free_mem k : free k \in S i1 :\: taken.
  by rewrite -mem_enum mem_nth // -cardE (leq_trans _ card_free).
have free_inj : injective free.
  by move=> k k' /eqP; rewrite nth_uniq ?enum_uniq -?cardE ?(leq_trans _ card_free) // => /eqP/val_inj.
have free_t k : free k \notin [set t j | j in 'I_s].
  by have := free_mem k; rewrite !inE negb_or -andbA => /and3P[].
have free_r k i : i != i1 -> free k != r i.
  move=> i_i1; have := free_mem k; rewrite !inE negb_or -andbA => /and3P[_ + _]; apply: contra => /eqP ->.
  by apply: imset_f; rewrite in_others.
have free_S k : free k \in S i1 by have := free_mem k; rewrite inE => /andP[].
(* step 4 *)
pose Lambda j := lambda j (point (y j)) (t j).
pose numbers (p : tau.-tuple 'I_G) (e : 'I_s * option 'I_n) : R := match e.2 with
  | Some c => (\Sum_k (lambda e.1 (grid i1 (tnth p k)) (free k) * v e.1 c (grid i1 (tnth p k)) (free k))) / Lambda e.1
  | None => (\Sum_k lambda e.1 (grid i1 (tnth p k)) (free k)) / Lambda e.1
  end.
pose hi (e : 'I_s * option 'I_n) : R := if e.2 is Some _ then B * INR tau else INR tau.
pose lo (e : 'I_s * option 'I_n) : R := if e.2 is Some _ then - (B * INR tau) else 0.
have small j k p : lambda j (grid i1 (tnth p k)) (free k) <= Lambda j.
  have -> : grid i1 (tnth p k) = point (i1, Some (tnth p k)) by [].
  by apply: t_max; rewrite ?mem_enum // imt.
have Lambda_pos j : 0 < Lambda j by exact: lambda_pos.
have range p e : p \in increasing tau G -> lo e <= numbers p e <= hi e.
  case: e => j [c|] _; rewrite /lo /hi /numbers /=; have L := Lambda_pos j.
    apply: abs_le_inv; rewrite /Rdiv Rabs_mult Rabs_inv (Rabs_pos_eq (Lambda j)); last by lra.
    apply: (Rmult_le_reg_r (Lambda j)) => //; rewrite Rmult_assoc Rinv_l ?Rmult_1_r; last by lra.
    rewrite (_ : B * INR tau * Lambda j = INR tau * (Lambda j * B)); last by ring.
    apply: Rle_trans (sum_abs _ _) _; apply: sum_ord_le => k; rewrite Rabs_mult.
    have pos := lambda_pos j (grid i1 (tnth p k)) (free k).
    rewrite Rabs_pos_eq; last exact: Rlt_le.
    by apply: Rmult_le_compat => //; [exact: Rlt_le | exact: Rabs_pos].
  split.
    apply: Rmult_le_pos; last by apply: Rlt_le; exact: Rinv_0_lt_compat.
    by apply: sum_ge0 => k _; apply: Rlt_le.
  apply: (Rmult_le_reg_r (Lambda j)) => //; rewrite /Rdiv Rmult_assoc Rinv_l ?Rmult_1_r; last by lra.
  exact: sum_ord_le.
(* steps 5 and 6 *)
have [|p [p' [p_inc p'_inc neq close]]] := N4_pigeonhole_real g_gt0 _ range.
  by rewrite card_prod card_option !card_ord mulnC.
exists (sequence i1 i2 y t r free p p'), (sequence i1 i2 y t r free p' p); split=> [|j c].
  apply: minima_far => //.
  - by move=> i i' i_i1 i'_i1; apply: r_inj; rewrite in_others.
  - by move=> i; rewrite -in_others => /r_in; rewrite inE => /andP[].
  - by move=> i; rewrite -in_others => /r_in; rewrite inE => /andP[].
apply: heads_close => //.
  by have := close (j, Some c); rewrite /hi /lo /= (_ : 2 * B * INR tau = B * INR tau - - (B * INR tau)) //; ring.
by have := close (j, None); rewrite /hi /lo /= Rminus_0_r.
Qed.


End Collision.
