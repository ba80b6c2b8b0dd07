(** N9: density needs exponentially many retrieval coordinates. Families of sets without a 2-colouring that leaves no
    set monochromatic, and what they have to do with retrieving one coordinate of one token. *)

From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Combinatorics Retrieval.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** A colouring of [T] is the set [B] of its red points; [S] is monochromatic if it is all red or all blue. *)
Definition monochromatic T (S B : {set 'I_T}) : bool := (S \subset B) || (S \subset ~: B).

(** No colouring leaves every set of the family without one colour. *)
Definition not_two_colourable T D (S : 'I_D -> {set 'I_T}) : Prop :=
  forall B : {set 'I_T}, exists i, monochromatic (S i) B.

Section Counting.
Variables (T D m : nat) (S : 'I_D -> {set 'I_T}).
Hypotheses (large : forall i, m <= #|S i|) (no_colouring : not_two_colourable S).

(* Each of the colourings in Q makes one set monochromatic. *)
Local Lemma union_bound (Q : pred {set 'I_T}) :
  #|[set B | Q B]| <= \sum_(i < D) (#|[set B | Q B && (S i \subset B)]| + #|[set B | Q B && (S i \subset ~: B)]|).
Proof.
have count (P : pred {set 'I_T}) : \sum_(B in [set B | Q B]) P B = #|[set B | Q B && P B]|.
  by rewrite -sum1dep_card big_mkcondr; apply: eq_big => B; rewrite ?inE //; case: (P B).
rewrite -sum1_card.
apply: (@leq_trans (\sum_(B in [set B | Q B]) \sum_(i < D) ((S i \subset B) + (S i \subset ~: B)))).
  apply: leq_sum => B _; have [i] := no_colouring B.
  by rewrite (bigD1 i) //= => /orP[->|->]; rewrite ?addn1 ?addSn.
by rewrite exchange_big leq_sum // => i _; rewrite big_split /= !count.
Qed.

(* Complementation turns the red sets into the blue ones. *)
Local Lemma card_red (Q : pred {set 'I_T}) i :
  #|[set B | Q B && (S i \subset B)]| = #|[set B | Q (~: B) && (S i \subset ~: B)]|.
Proof.
by rewrite -[RHS](card_preimset _ (@setC_inj _)); apply: eq_card => B; rewrite !inE setCK.
Qed.

(** N9 (Erdos, property B). If D sets of at least m points have no 2-colouring without a monochromatic set,
    then D >= 2^(m-1). *)
Theorem N9_erdos : 2 ^ m.-1 <= D.
Proof.
have [->|m_gt0] := posnP m.
  by have [i _] := no_colouring set0; apply: leq_trans (ltn_ord i).
have mT : m <= T.
  by have [i _] := no_colouring set0; rewrite (leq_trans (large i)) // -[X in _ <= X]card_ord max_card.
have blue i : #|[set B | S i \subset ~: B]| <= 2 ^ (T - m).
  have -> : [set B | S i \subset ~: B] = powerset (~: S i) by apply/setP => B; rewrite !inE subsetC.
  by rewrite card_powerset leq_pexp2l // cardsCs setCK card_ord leq_sub2l.
have all_sets : #|[set B : {set 'I_T} | predT B]| = 2 ^ T.
  rewrite (_ : [set B | _] = powerset [set: 'I_T]) ?card_powerset ?cardsT ?card_ord //.
  by apply/setP => B; rewrite !inE subsetT.
have : 2 ^ T <= D * (2 * 2 ^ (T - m)).
  rewrite -all_sets (leq_trans (union_bound predT)) // -[X in X * _]card_ord -sum_nat_const leq_sum // => i _.
  by rewrite (card_red predT) mul2n -addnn; exact: leq_add (blue i) (blue i).
have -> : 2 ^ T = 2 ^ m.-1 * (2 * 2 ^ (T - m)) by rewrite -expnS -expnD -addSnnS prednK // subnKC.
by rewrite leq_pmul2r // muln_gt0 expn_gt0.
Qed.

(** N9, colourings with h red points: D (C(T-m, h) + C(T-m, T-h)) >= C(T, h). *)
Theorem N9_balanced h : 'C(T, h) <= D * ('C(T - m, h) + 'C(T - m, T - h)).
Proof.
have [Th|hT] := ltnP T h; first by rewrite bin_small.
have avoid i k : #|[set B : {set 'I_T} | (#|B| == k) && (S i \subset ~: B)]| <= 'C(T - m, k).
  rewrite (_ : [set B | _] = [set B : {set 'I_T} | B \subset ~: S i & #|B| == k]); last first.
    by apply/setP => B; rewrite !inE subsetC andbC.
  by rewrite cards_draws leq_bin2l // cardsCs setCK card_ord leq_sub2l.
have := union_bound (fun B => #|B| == h).
rewrite card_draws card_ord => /leq_trans -> //.
rewrite -[X in X * _]card_ord -sum_nat_const leq_sum // => i _; rewrite addnC leq_add //.
rewrite (card_red (fun B => #|B| == h)) 
  (_ : [set B | _] = [set B : {set 'I_T} | (#|B| == T - h) && (S i \subset ~: B)]) //.
apply/setP => B; rewrite !inE; congr (_ && _).
have BT : #|B| <= T by rewrite -[X in _ <= X]card_ord max_card.
have -> : #|~: B| = T - #|B| by rewrite cardsCs setCK card_ord.
by apply/eqP/eqP => [<-|->]; rewrite subKn.
Qed.

End Counting.

(** N9, balanced colourings of an even number of points: C(T, T/2) <= 2 D C(T-m, T/2-m). (For odd T and
    h = floor(T/2) the right-hand side is D (C(T-m, h) + C(T-m, h+1)), see N9_balanced; 2 D C(T-m, h-m) is wrong.) *)
Theorem N9_balanced_even T D m (S : 'I_D -> {set 'I_T}) :
  (forall i, m <= #|S i|) -> not_two_colourable S -> ~~ odd T -> m <= T./2 ->
  'C(T, T./2) <= 2 * D * 'C(T - m, T./2 - m).
Proof.
move=> large no_colouring even mT.
have TE : T = T./2 + T./2 by rewrite addnn -[LHS]odd_double_half (negbTE even).
have halves : T - T./2 = T./2 by rewrite {1}TE addnK.
have := N9_balanced large no_colouring T./2; rewrite halves addnn -mul2n mulnCA mulnA.
have -> : T - m = T./2 - m + T./2 by rewrite {1}TE addnBAC.
by rewrite -[in X in _ <= X -> _]bin_sub ?leq_addl // addnK.
Qed.

(** N9, large sets. If every set has more than ceil(T/2) points, some colouring leaves none monochromatic, so no D
    suffices. *)
Theorem N9_large_sets T D (S : 'I_D -> {set 'I_T}) : (forall i, uphalf T < #|S i|) -> ~ not_two_colourable S.
Proof.
move=> large no_colouring; have := N9_balanced large no_colouring T./2.
have TE : T = uphalf T + T./2 by rewrite uphalf_half -addnA addnn odd_double_half.
have [i _] := no_colouring set0.
have uT : uphalf T < T by rewrite (leq_trans (large i)) // -[X in _ <= X]card_ord max_card.
have h_gt0 : 0 < T./2 by rewrite -(ltn_add2l (uphalf T)) addn0 -TE.
have -> : T - T./2 = uphalf T by rewrite {1}TE addnK.
have -> : T - (uphalf T).+1 = T./2.-1 by rewrite {1}TE subnS addnC addnK.
have none k : T./2 <= k -> 'C(T./2.-1, k) = 0 by move=> hk; rewrite bin_small // prednK.
rewrite !none ?uphalf_half ?leq_addl // muln0 leqNgt bin_gt0.
by rewrite -[X in _ <= X]odd_double_half -addnn addnA leq_addl.
Qed.

(** ** The consequence for D-retrieval *)

Local Open Scope R_scope.

(** N9. If a D-retrieval task H is within less than 1/2 of the map X |-> c(x(t1)), where c takes the value 0 at one
    token and 1 at another, then the sets S_i have no 2-colouring without a monochromatic S_i. Features and outer map
    are arbitrary. *)
Theorem N9_retrieval (Token : Type) (D T : nat) (f : 'I_D -> Token -> R) (S : 'I_D -> {set 'I_T})
    (F0 : {ffun 'I_D -> R} -> R) (c : Token -> R) (t1 : 'I_T) (a b : Token) :
  c a = 0 -> c b = 1 ->
  (forall X : 'I_T -> Token, Rabs (retrieval f S F0 X - c (X t1)) < 1 / 2) ->
  not_two_colourable S.
Proof.
move=> ca cb close B; apply/existsP; rewrite -[X in is_true X]negbK negb_exists; apply/negP => /forallP bichromatic.
pose X (B : {set 'I_T}) t := if t \in B then b else a.
have minima (C : {set 'I_T}) i : ~~ monochromatic (S i) C ->
    min_over (S i) (fun t => f i (X C t)) = Rmin (f i a) (f i b).
  rewrite negb_or => /andP[/subsetPn[t tS tC] /subsetPn[u uS]]; rewrite inE negbK => uC.
  apply: Rle_antisym.
    have := min_over_le (fun t => f i (X C t)) tS; have := min_over_le (fun t => f i (X C t)) uS.
    by rewrite /X uC (negbTE tC) => le_b le_a; exact: Rmin_glb.
  have [w _ ->] := min_over_attained (fun t => f i (X C t)) tS.
  by rewrite /X; case: ifP => _; [exact: Rmin_r | exact: Rmin_l].
have same : retrieval f S F0 (X B) = retrieval f S F0 (X (~: B)).
  congr F0; apply/ffunP => i; rewrite !ffunE !minima ?bichromatic //.
  by rewrite /monochromatic setCK orbC; exact: bichromatic.
move: (close (X B)) (close (X (~: B))); rewrite same /X inE.
by case: (t1 \in B); rewrite /= ca cb => /Rabs_def2 ? /Rabs_def2 ?; lra.
Qed.

(** N9 (density needs exponential D). If H in F_D^{d,T} (d >= 1), with all |S_i| >= m, is within less than 1/2 of
    F(X) = x(t1)_j on X_T, then D >= 2^(m-1). *)
Theorem N9_density (d D T m : nat) (f : 'I_D -> cube d -> R) (S : 'I_D -> {set 'I_T}) (F0 : {ffun 'I_D -> R} -> R)
    (t1 : 'I_T) (j : 'I_d) :
  (forall i, (m <= #|S i|)%N) ->
  (forall X : 'I_T -> cube d, Rabs (retrieval f S F0 X - sval (X t1) j) < 1 / 2) ->
  (2 ^ m.-1 <= D)%N.
Proof.
move=> large close; apply: (N9_erdos large).
have corner (r : R) : 0 <= r <= 1 -> exists x : cube d, sval x j = r.
  by move=> r01; unshelve eexists; [exists (fun _ => r) | ].
have [[a ca] [b cb]] := (corner 0 ltac:(lra), corner 1 ltac:(lra)).
exact: (@N9_retrieval _ _ _ f S F0 (fun x => sval x j) t1 a b ca cb close).
Qed.

(** ** What the bound on the sizes cannot exclude *)

(** N9 and N10. When 2 m <= T + 1, the token at any position is a retrieval task exactly, with features x and 1 - x and
    all m-subsets as sets (D = 2 C(T, m)); for T = 2 m - 1 all the sets are larger than T/2. *)
Theorem N10_retrieval (T m : nat) (t : 'I_T) : (0 < m)%N -> (m.*2 <= T.+1)%N ->
  exists (D : nat) (f : 'I_D -> R -> R) (S : 'I_D -> {set 'I_T}) (F0 : {ffun 'I_D -> R} -> R),
    (forall i, #|S i| = m) /\ forall X : 'I_T -> R, retrieval f S F0 X = X t.
Proof.
move=> m_gt0 mT; have m_le : (m <= T)%N by rewrite -addnn in mT; ssrlia.
pose index := [finType of {B : {set 'I_T} | #|B| == m} * bool].
pose f (i : 'I_#|index|) (r : R) := if (enum_val i).2 then r else 1 - r.
pose S (i : 'I_#|index|) := val (enum_val i).1.
pose entry (z : {ffun 'I_#|index| -> R}) (b : bool) (B : {set 'I_T}) : R :=
  if insub B is Some B' then z (enum_rank (B', b)) else 0.
pose sets := enum [set B : {set 'I_T} | #|B| == m].
pose sets_t := enum [set A : {set 'I_T} | (t \in A) && (#|A| == m)].
exists #|index|, f, S, (fun z => 1 - maximum (map (entry z false) sets_t)
  - Rmax 0 (1 - maximum (map (entry z false) sets) - maximum (map (entry z true) sets_t))).
split=> [i|X]; first by apply/eqP; exact: (valP (enum_val i).1).
have entryE b (B : {set 'I_T}) : #|B| == m ->
    entry (feature_minima f S X) b B = min_over B (fun u => if b then X u else 1 - X u).
  by move=> Bm; rewrite /entry insubT ffunE /S /f enum_rankK.
rewrite [RHS](N10 X m_gt0 m_le t mT) -(L2_W X m_gt0 m_le) /retrieval /max_min_complement /max_min_through.
congr (1 - maximum _ - Rmax 0 (1 - maximum _ - maximum _)); apply/eq_in_map => B; rewrite mem_enum inE.
- by move=> /andP[_ Bm]; exact: (entryE false).
- by move=> Bm; exact: (entryE false).
- by move=> /andP[_ Bm]; exact: (entryE true).
Qed.

(** ** Where N9 is sharp: the triangle, three pairs out of three points *)

Section Triangle.
Local Close Scope R_scope.
Variables (T : nat) (a b c : 'I_T).

Definition triangle (i : 'I_3) : {set 'I_T} := tnth [tuple [set a; b]; [set b; c]; [set c; a]] i.

Lemma triangle_not_two_colourable : not_two_colourable triangle.
Proof.
have pair (u w : 'I_T) B : monochromatic [set u; w] B = (u \in B) && (w \in B) || (u \notin B) && (w \notin B).
  by rewrite /monochromatic !subUset !sub1set !inE.
move=> B; case aB: (a \in B); case bB: (b \in B); case cB: (c \in B).
- by exists (inord 0); rewrite /triangle (tnth_nth set0) inordK //= pair aB bB.
- by exists (inord 0); rewrite /triangle (tnth_nth set0) inordK //= pair aB bB.
- by exists (inord 2); rewrite /triangle (tnth_nth set0) inordK //= pair aB cB.
- by exists (inord 1); rewrite /triangle (tnth_nth set0) inordK //= pair bB cB.
- by exists (inord 1); rewrite /triangle (tnth_nth set0) inordK //= pair bB cB.
- by exists (inord 2); rewrite /triangle (tnth_nth set0) inordK //= pair aB cB.
- by exists (inord 0); rewrite /triangle (tnth_nth set0) inordK //= pair aB bB.
- by exists (inord 0); rewrite /triangle (tnth_nth set0) inordK //= pair aB bB.
Qed.

Lemma card_triangle i : a != b -> b != c -> c != a -> #|triangle i| = 2%N.
Proof.
by move=> ab bc ca; rewrite /triangle (tnth_nth set0); case: i => -[|[|[|//]]] ? /=; rewrite cards2 ?ab ?bc ?ca.
Qed.

End Triangle.

(** The balanced bound D >= C(T, h) / (2 C(T-m, h-m)), h = floor(T/2), is false for odd T: three pairs out of five
    points have no 2-colouring. *)
Theorem N9_balanced_odd_false : ~ forall (T D m : nat) (S : 'I_D -> {set 'I_T}), (forall i, (m <= #|S i|)%N) -> not_two_colourable S ->
  (m <= T./2)%N -> ('C(T, T./2) <= 2 * D * 'C(T - m, T./2 - m))%N.
Proof.
move=> /(_ 5%N 3%N 2%N (triangle (inord 0) (inord 1) (inord 2))) wrong.
have // : ('C(5, 2) <= 2 * 3 * 'C(5 - 2, 2 - 2))%N.
apply: wrong => // [i|]; last exact: triangle_not_two_colourable.
by rewrite card_triangle // -val_eqE /= !inordK.
Qed.

(** "If all |S_i| > T/2 no D suffices" is false for odd T: three pairs out of three points have no 2-colouring, *)
Theorem N9_half_false : ~ forall (T D : nat) (S : 'I_D -> {set 'I_T}), (forall i, (T < 2 * #|S i|)%N) -> ~ not_two_colourable S.
Proof.
move=> /(_ 3%N 3%N (triangle (inord 0) (inord 1) (inord 2))) wrong.
apply: wrong => [i|]; last exact: triangle_not_two_colourable.
by rewrite card_triangle // -val_eqE /= !inordK.
Qed.

(** and by N10 retrieval over the pairs of three points recovers a token exactly. *)
Theorem N9_half_retrieval_false : ~ forall (T D : nat) (f : 'I_D -> R -> R) (S : 'I_D -> {set 'I_T}) (F0 : {ffun 'I_D -> R} -> R) t,
  (forall i, (T < 2 * #|S i|)%N) -> exists X, 1 / 2 <= Rabs (retrieval f S F0 X - X t).
Proof.
have [D [f [S [F0 [card_S exact_task]]]]] := @N10_retrieval 3 2 ord0 isT isT.
move=> /(_ 3%N D f S F0 ord0) wrong; have [|X] := wrong; first by move=> i; rewrite card_S.
by rewrite exact_task Rminus_diag_eq // Rabs_R0; lra.
Qed.
