(** Finite combinatorics: order statistics as maxima of minima over subsets (L2), the exact selector (N10),
    and colourings (N9). *)

From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** ** L2 in any totally ordered set

    [lower] and [upper] are the minimum and maximum of two values; [v m] is the m-th entry of the sequence of values
    sorted downwards. Reversing the order turns it into the m-th entry of the sequence sorted upwards. *)

Section OrderStatistics.
Variables (V : Type) (le : rel V) (lower upper : V -> V -> V) (a0 : V).
Hypotheses (le_total : total le) (le_trans : transitive le) (le_anti : antisymmetric le).
Hypotheses (lowerE : forall a b, lower a b = if le a b then a else b).
Hypotheses (upperE : forall a b, upper a b = if le a b then b else a).

Local Lemma le_refl a : le a a. Proof. by case/orP: (le_total a a). Qed.
Local Hint Resolve le_refl : core.
Local Lemma not_le a b : ~~ le a b -> le b a. Proof. by case/orP: (le_total a b) => ->. Qed.

(** The maximum over the subsets [B] satisfying [family] of the minimum of [x] over [B]. *)
Definition max_of_mins T (x : 'I_T -> V) (family : {set {set 'I_T}}) : V :=
  extreme upper a0 [seq extreme lower a0 [seq x u | u <- enum B] | B : {set 'I_T} <- enum family].

(** The m-th largest value, counted from 1. *)
Definition largest T (x : 'I_T -> V) (m : nat) : V :=
  nth a0 (sort (fun a b => le b a) [seq x t | t <- enum 'I_T]) m.-1.

Local Lemma min_le (I : eqType) (x : I -> V) s u : u \in s -> le (extreme lower a0 (map x s)) (x u).
Proof.
have lower_l a b : le (lower a b) a by rewrite lowerE; case: ifP => // /negbT/not_le.
have lower_r a b : le (lower a b) b by rewrite lowerE; case: ifP.
case: s => //= t s; elim: s => [|r s IH] /=; first by rewrite mem_seq1 => /eqP ->.
rewrite !in_cons => /or3P[u_t|/eqP ->|u_s] //; apply: (le_trans (lower_r _ _)); apply: IH.
  by rewrite in_cons u_t.
by rewrite in_cons u_s orbT.
Qed.

Local Lemma min_ge (I : eqType) (x : I -> V) s a :
  s != [::] -> (forall u, u \in s -> le a (x u)) -> le a (extreme lower a0 (map x s)).
Proof.
case: s => //= t s _; elim: s => [|r s IH] ge /=; first by apply: ge; rewrite mem_head.
rewrite lowerE; case: ifP => _; first by apply: ge; rewrite !in_cons eqxx orbT.
by apply: IH => u; rewrite in_cons => /orP[u_t|u_s]; apply: ge; rewrite !in_cons ?u_t ?u_s ?orbT.
Qed.

Local Lemma max_eq (I : eqType) (x : I -> V) s a :
  (exists2 u, u \in s & le a (x u)) -> (forall u, u \in s -> le (x u) a) -> extreme upper a0 (map x s) = a.
Proof.
have upper_l b c : le b (upper b c) by rewrite upperE; case: ifP.
have upper_r b c : le c (upper b c) by rewrite upperE; case: ifP => // /negbT/not_le.
case: s => [|t s] /= [u u_in le_u] ge; first by [].
apply: le_anti; apply/andP; split.
  elim: s ge {u_in} => [|r s IH] ge /=; first by apply: ge; rewrite mem_head.
  rewrite upperE; case: ifP => _; last by apply: ge; rewrite !in_cons eqxx orbT.
  by apply: IH => w; rewrite in_cons => /orP[w_t|w_s]; apply: ge; rewrite !in_cons ?w_t ?w_s ?orbT.
apply: (le_trans le_u); elim: s u_in {ge} => [|r s IH] /=; first by rewrite mem_seq1 => /eqP ->.
rewrite !in_cons => /or3P[u_t|/eqP ->|u_s] //; apply: le_trans (upper_r _ _); apply: IH.
  by rewrite in_cons u_t.
by rewrite in_cons u_s orbT.
Qed.

(** A value [a] is the maximum of minima if one set of the family has all its values above [a] and
    each set has one value below [a]. *)
Local Lemma max_of_mins_eq T (x : 'I_T -> V) (family : {set {set 'I_T}}) a :
  (exists A u, [/\ A \in family, u \in A & forall t, t \in A -> le a (x t)]) ->
  (forall A, A \in family -> exists2 u, u \in A & le (x u) a) ->
  max_of_mins x family = a.
Proof.
move=> [A [u [A_in u_A ge]]] le_a; apply: max_eq.
  exists A; first by rewrite mem_enum.
  apply: min_ge => [|t]; last by rewrite mem_enum; apply: ge.
  by apply/eqP => enum0; move: u_A; rewrite -mem_enum enum0.
move=> B; rewrite mem_enum => /le_a[w w_B]; apply: le_trans.
by apply: min_le; rewrite mem_enum.
Qed.

Section Ranking.
Variables (T m : nat) (x : 'I_T -> V).
Hypotheses (m_gt0 : 0 < m) (m_le : m <= T).

(* The positions, sorted downwards by value; [rank t] is the place of position t. *)
Let s := sort (fun i j => le (x j) (x i)) (enum 'I_T).
Let rank t := index t s.
Let top k : {set 'I_T} := [set t in take k s].

Local Lemma mem_s t : t \in s. Proof. by rewrite mem_sort mem_enum. Qed.
Local Lemma size_s : size s = T. Proof. by rewrite size_sort size_enum_ord. Qed.
Local Lemma rank_lt t : rank t < T. Proof. by rewrite -size_s index_mem mem_s. Qed.

Local Lemma card_top k : k <= T -> #|top k| = k.
Proof.
by move=> kT; rewrite cardsE (card_uniqP _) ?size_takel ?size_s // take_uniq // sort_uniq enum_uniq.
Qed.

Local Lemma in_top k t : k <= T -> (t \in top k) = (rank t < k).
Proof. by move=> kT; rewrite inE in_take_leq ?size_s. Qed.

Local Lemma by_rank i j t0 : i <= j < T -> le (x (nth t0 s j)) (x (nth t0 s i)).
Proof.
move=> /andP[ij jT]; apply: (sorted_leq_nth (leT := fun i j => le (x j) (x i))) => //.
- by move=> b a c ab bc; apply: le_trans bc ab.
- by apply: sort_sorted => a b; exact: le_total.
- by rewrite inE size_s (leq_ltn_trans ij).
- by rewrite inE size_s.
Qed.

Local Lemma by_rank_of t u : rank t <= rank u -> le (x u) (x t).
Proof. by move=> tu; rewrite -(nth_index t (mem_s t)) -[X in x X](nth_index t (mem_s u)) by_rank ?tu ?rank_lt. Qed.

Local Lemma largestE t0 k : 0 < k <= T -> largest x k = x (nth t0 s k.-1).
Proof.
by move=> /andP[k0 kT]; rewrite /largest sort_map (nth_map t0) // size_sort size_enum_ord (leq_trans _ kT) ?prednK.
Qed.

Let t0 := Ordinal (leq_trans m_gt0 m_le).
Local Lemma vE : largest x m = x (nth t0 s m.-1). Proof. by apply: largestE; rewrite m_gt0. Qed.
Local Lemma m1T : m.-1 < T. Proof. by rewrite prednK. Qed.

Local Lemma above t : rank t < m -> le (largest x m) (x t).
Proof.
move=> tm; rewrite vE -(nth_index t0 (mem_s t)); apply: by_rank.
by rewrite m1T andbT -ltnS prednK.
Qed.

Local Lemma below t : m.-1 <= rank t -> le (x t) (largest x m).
Proof. by move=> mt; rewrite vE -(nth_index t0 (mem_s t)) by_rank ?mt ?rank_lt. Qed.

(* A set of m positions holds one that is not among the m - 1 largest. *)
Local Lemma one_below (A : {set 'I_T}) : m <= #|A| -> exists2 u, u \in A & le (x u) (largest x m).
Proof.
move=> Am; have /subsetPn[u uA u_top] : ~~ (A \subset top m.-1).
  apply/negP => /subset_leq_card; rewrite card_top ?(ltnW m1T) // leqNgt.
  by rewrite (leq_trans _ Am) // prednK.
by exists u => //; apply: below; move: u_top; rewrite in_top ?(ltnW m1T) // -leqNgt.
Qed.

(** L2, first identity. U = max over m-subsets B of the minimum over B is the m-th largest value v_m (1 <= m <= T). *)
Theorem L2_U_generic : max_of_mins x [set B : {set 'I_T} | #|B| == m] = largest x m.
Proof.
apply: max_of_mins_eq => [|A]; last by rewrite inE => /eqP Am; apply: one_below; rewrite Am.
have in_topm : rank (nth t0 s m.-1) < m.
  by rewrite /rank index_uniq ?size_s ?sort_uniq ?enum_uniq // prednK.
exists (top m), (nth t0 s m.-1); rewrite inE card_top ?eqxx ?in_top //.
by split=> // t; rewrite in_top // => /above.
Qed.

(** L2, second identity. Y_t = max over m-subsets A containing t of the minimum over A is min{x_t, v_m}. *)
Theorem L2_Y_generic t :
  max_of_mins x [set A : {set 'I_T} | (t \in A) && (#|A| == m)] = lower (x t) (largest x m).
Proof.
apply: max_of_mins_eq => [|A]; last first.
  rewrite inE => /andP[tA /eqP Am]; have [|u uA u_le] := @one_below A; first by rewrite Am.
  rewrite lowerE; case: ifP => _; last by exists u.
  by exists t.
have [tm|mt] := ltnP (rank t) m.
  exists (top m), t; rewrite inE card_top ?eqxx ?in_top // andbT; split=> // u; rewrite in_top // => /above um.
  by apply: le_trans um; rewrite lowerE; case: ifP.
have tm1 : m.-1 <= rank t by rewrite (leq_trans (leq_pred m)).
exists (t |: top m.-1), t; split; rewrite ?setU11 //.
  by rewrite inE setU11 cardsU1 card_top ?in_top ?(ltnW m1T) // -leqNgt tm1 add1n prednK /=.
move=> u; rewrite lowerE (below tm1) => /setU1P[-> //|]; rewrite in_top ?(ltnW m1T) // => um.
by apply: by_rank_of; rewrite (leq_trans (ltnW um)).
Qed.

End Ranking.

End OrderStatistics.

(** The m-th smallest value is at most the m-th largest when 2 m <= T + 1. *)
Lemma smallest_le_largest V (le : rel V) a0 T (x : 'I_T -> V) m :
  total le -> transitive le -> 0 < m -> m.*2 <= T.+1 ->
  le (largest (fun a b => le b a) a0 x m) (largest le a0 x m).
Proof.
move=> le_total le_trans m0 mT.
have m_le : m <= T by rewrite -ltnS (leq_trans _ mT) // -addnn -addn1 leq_add2l.
pose ge a b := le b a.
have ge_total : total ge by move=> a b; exact: le_total.
have ge_trans : transitive ge by move=> b a c ab bc; apply: le_trans bc ab.
pose s := sort (fun i j => ge (x j) (x i)) (enum 'I_T).
have card_low : #|[set t in take m.-1 s]| = m.-1.
  by rewrite (card_top ge x) // (leq_trans (leq_pred m)).
have [|u] := one_below a0 le_total le_trans x m0 m_le (A := ~: [set t in take m.-1 s]).
  rewrite cardsCs setCK card_ord card_low -(leq_add2r m.-1) subnK ?(leq_trans (leq_pred m)) //.
  by rewrite -ltnS -addnS prednK // addnn.
rewrite !inE in_take_leq ?size_sort ?size_enum_ord ?(leq_trans (leq_pred m)) // -leqNgt => low.
by apply: le_trans; apply: (below a0 ge_total ge_trans m0 m_le low).
Qed.

(** ** L2 for real numbers *)

Local Open Scope R_scope.

Definition Rleb (a b : R) : bool := Rle_dec a b.
Lemma RlebP a b : reflect (a <= b) (Rleb a b). Proof. by rewrite /Rleb; case: Rle_dec => ?; constructor. Qed.

Lemma Rleb_total : total Rleb.
Proof. by move=> a b; case: (RlebP a b) => //= ?; apply/RlebP; lra. Qed.
Lemma Rleb_trans : transitive Rleb.
Proof. by move=> b a c /RlebP ab /RlebP bc; apply/RlebP; lra. Qed.
Lemma Rleb_anti : antisymmetric Rleb.
Proof. by move=> a b /andP[/RlebP ab /RlebP ba]; lra. Qed.
Lemma RminE a b : Rmin a b = if Rleb a b then a else b.
Proof. by rewrite /Rmin /Rleb; case: Rle_dec. Qed.
Lemma RmaxE a b : Rmax a b = if Rleb a b then b else a.
Proof. by rewrite /Rmax /Rleb; case: Rle_dec. Qed.

Section Selector.
Variables (T m : nat) (x : 'I_T -> R).

(** v_m and w_m: the m-th entries of the values sorted downwards and upwards. *)
Definition kth_largest : R := nth 0 (sort (fun a b => Rleb b a) [seq x t | t <- enum 'I_T]) m.-1.
Definition kth_smallest : R := nth 0 (sort Rleb [seq x t | t <- enum 'I_T]) m.-1.

(** U; Y_t; Z_t: maxima over the m-subsets (containing t) of minima of x (of 1 - x). *)
Definition max_min : R := maximum [seq min_over B x | B <- enum [set B : {set 'I_T} | #|B| == m]].
Definition max_min_through (t : 'I_T) : R :=
  maximum [seq min_over A x | A : {set 'I_T} <- enum [set A : {set 'I_T} | (t \in A) && (#|A| == m)]].
Definition max_min_complement (t : 'I_T) : R :=
  maximum [seq min_over A (fun u => 1 - x u)
          | A : {set 'I_T} <- enum [set A : {set 'I_T} | (t \in A) && (#|A| == m)]].

Hypotheses (m_gt0 : (0 < m)%N) (m_le : (m <= T)%N).

(** L2 (here for 1 <= m <= T; the paper has m = T/4). U = v_m. *)
Theorem L2_U : max_min = kth_largest.
Proof. exact: (L2_U_generic 0 Rleb_total Rleb_trans Rleb_anti RminE RmaxE x m_gt0 m_le). Qed.

(** L2. Y_t = min{x_t, v_m}. *)
Theorem L2_Y t : max_min_through t = Rmin (x t) kth_largest.
Proof. exact: (L2_Y_generic 0 Rleb_total Rleb_trans Rleb_anti RminE RmaxE x m_gt0 m_le). Qed.

(* The reversed order, and what 1 - x does to it. *)
Let geb_total : total (fun a b => Rleb b a). Proof. by move=> a b; exact: Rleb_total. Qed.
Let geb_trans : transitive (fun a b => Rleb b a). Proof. by move=> b a c ab bc; apply: Rleb_trans bc ab. Qed.
Let geb_anti : antisymmetric (fun a b => Rleb b a). Proof. by move=> a b; rewrite andbC => /Rleb_anti. Qed.
Let maxE a b : Rmax a b = if Rleb b a then a else b. Proof. by rewrite Rmax_comm RmaxE. Qed.
Let minE a b : Rmin a b = if Rleb b a then b else a. Proof. by rewrite Rmin_comm RminE. Qed.

Let kth_smallestE : kth_smallest = largest (fun a b => Rleb b a) 1 x m.
Proof. by apply: set_nth_default; rewrite size_sort size_map size_enum_ord prednK. Qed.

Let max_of_complements (family : {set {set 'I_T}}) :
  1 - maximum [seq min_over A (fun u => 1 - x u) | A : {set 'I_T} <- enum family] = max_of_mins Rmax Rmin 1 x family.
Proof.
have compl op op' I (s : seq I) (F : I -> R) : (forall a b, op' (1 - a) (1 - b) = 1 - op a b) ->
    extreme op' 0 [seq 1 - F i | i <- s] = 1 - extreme op 1 [seq F i | i <- s].
  by move=> morph; case: s => [|i s] /=; [ring | elim: s => //= j s ->].
have min_compl a b : Rmin (1 - a) (1 - b) = 1 - Rmax a b by rewrite /Rmin /Rmax; do 2!case: Rle_dec; lra.
have max_compl a b : Rmax (1 - a) (1 - b) = 1 - Rmin a b by rewrite /Rmin /Rmax; do 2!case: Rle_dec; lra.
rewrite /min_over (eq_map (fun A => compl _ _ _ (enum (A : {set 'I_T})) x min_compl)) (compl _ _ _ _ _ max_compl).
have twice a : 1 - (1 - a) = a by ring.
exact: twice.
Qed.

(** L2. 1 - Z_t = max{x_t, w_m}. *)
Theorem L2_Z t : 1 - max_min_complement t = Rmax (x t) kth_smallest.
Proof.
rewrite kth_smallestE -(L2_Y_generic 1 geb_total geb_trans geb_anti maxE minE x m_gt0 m_le).
exact: max_of_complements.
Qed.

(** L2, for the other threshold: 1 - max over m-subsets B of min over B of 1 - x is w_m. *)
Theorem L2_W :
  1 - maximum [seq min_over B (fun u => 1 - x u) | B <- enum [set B : {set 'I_T} | #|B| == m]] = kth_smallest.
Proof.
rewrite kth_smallestE -(L2_U_generic 1 geb_total geb_trans geb_anti maxE minE x m_gt0 m_le).
exact: max_of_complements.
Qed.

(** w_m <= v_m when 2 m <= T + 1; under L2's hypotheses (m = T/4) this holds. *)
Lemma smallest_le_largest_real : (m.*2 <= T.+1)%N -> kth_smallest <= kth_largest.
Proof. by move=> mT; apply/RlebP; exact: (smallest_le_largest 0 x Rleb_total Rleb_trans m_gt0 mT). Qed.

(** N10 (exact selector). x_t = (1 - Z_t) - max{0, w_m - Y_t}: every coordinate is recovered from maxima of minima over
    m-subsets without any limit, whenever 1 <= m and 2 m <= T + 1. *)
Theorem N10 t : (m.*2 <= T.+1)%N -> x t = (1 - max_min_complement t) - Rmax 0 (kth_smallest - max_min_through t).
Proof.
move=> /smallest_le_largest_real wv; rewrite L2_Z L2_Y.
by rewrite /Rmin /Rmax; do 3!case: Rle_dec; lra.
Qed.

End Selector.
