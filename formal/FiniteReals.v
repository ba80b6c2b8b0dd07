(** Finite sums, minima and maxima of real numbers: the few facts that the finite files share.
    Numbers are those of the standard library; finite types, sums and orders are mathcomp's. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** Linear arithmetic on mathcomp's natural numbers. *)
Ltac ssrlia :=
  intros; repeat match goal with
  | H : is_true (leq ?a ?b) |- _ =>
      lazymatch goal with _ : (a <= b)%coq_nat |- _ => fail | _ => have := elimT leP H; intro end
  end;
  try apply/leP; change addn with Nat.add in *; change muln with Nat.mul in *; change subn with Nat.sub in *; lia.

Local Open Scope R_scope.

(** ** Sums *)

Lemma RplusA : associative Rplus. Proof. by move=> x y z; rewrite Rplus_assoc. Qed.
Lemma Rplus0 : right_id 0 Rplus. Proof. exact: Rplus_0_r. Qed.
Lemma R0plus : left_id 0 Rplus. Proof. exact: Rplus_0_l. Qed.
Lemma RplusC : commutative Rplus. Proof. exact: Rplus_comm. Qed.
Lemma Rmult0 : right_zero 0 Rmult. Proof. exact: Rmult_0_r. Qed.
Lemma R0mult : left_zero 0 Rmult. Proof. exact: Rmult_0_l. Qed.
Lemma RmultDl : left_distributive Rmult Rplus. Proof. by move=> x y z; ring. Qed.
Lemma RmultDr : right_distributive Rmult Rplus. Proof. by move=> x y z; ring. Qed.

Canonical Rplus_law := Monoid.Law RplusA R0plus Rplus0.
Canonical Rplus_comlaw := Monoid.ComLaw RplusC.
Canonical Rmult_mul_law := Monoid.MulLaw R0mult Rmult0.
Canonical Rplus_add_law := Monoid.AddLaw RmultDl RmultDr.

Notation "\Sum_ ( i <- r ) F" := (\big[Rplus/0]_(i <- r) F)
  (at level 41, F at level 41, i, r at level 50, format "\Sum_ ( i  <-  r )  F") : R_scope.
Notation "\Sum_ i F" := (\big[Rplus/0]_i F) (at level 41, i at level 0, F at level 41, format "\Sum_ i  F") : R_scope.
Notation "\Sum_ ( i | P ) F" := (\big[Rplus/0]_(i | P%B) F)
  (at level 41, F at level 41, i at level 50, format "\Sum_ ( i  |  P )  F") : R_scope.
Notation "\Sum_ ( i < n ) F" := (\big[Rplus/0]_(i < n) F)
  (at level 41, F at level 41, i, n at level 50, format "\Sum_ ( i  <  n )  F") : R_scope.

Section Sums.
Variable I : finType.
Implicit Types (P : pred I) (F G : I -> R).

Lemma sum_le P F G : (forall i, P i -> F i <= G i) -> \Sum_(i | P i) F i <= \Sum_(i | P i) G i.
Proof. by move=> le; elim/big_ind2: _ => //; [lra | move=> *; lra]. Qed.

Lemma sum_ge0 P F : (forall i, P i -> 0 <= F i) -> 0 <= \Sum_(i | P i) F i.
Proof. by move=> ge0; elim/big_ind: _ => //; [lra | move=> *; lra]. Qed.

Lemma sum_scale P F c : \Sum_(i | P i) (c * F i) = c * \Sum_(i | P i) F i.
Proof. by rewrite big_distrr. Qed.

Lemma sum_opp P F : \Sum_(i | P i) (- F i) = - \Sum_(i | P i) F i.
Proof. by rewrite (eq_bigr (fun i => -1 * F i)) ?sum_scale => *; ring. Qed.

Lemma sum_sub P F G : \Sum_(i | P i) (F i - G i) = \Sum_(i | P i) F i - \Sum_(i | P i) G i.
Proof. by rewrite /Rminus big_split sum_opp. Qed.

Lemma sum_abs P F : Rabs (\Sum_(i | P i) F i) <= \Sum_(i | P i) Rabs (F i).
Proof.
elim/big_ind2: _ => [|x1 x2 y1 y2 le1 le2|i _]; rewrite ?Rabs_R0; [lra | | lra].
by apply: Rle_trans (Rabs_triang _ _) _; lra.
Qed.

Lemma sum_const P c : \Sum_(i | P i) c = INR #|[pred i | P i]| * c.
Proof.
rewrite big_const; elim: #|_| => [|k IH] /=; first by rewrite /=; ring.
by rewrite IH -/(INR k.+1) S_INR; ring.
Qed.

Lemma sum_le_const P F c : (forall i, P i -> F i <= c) -> \Sum_(i | P i) F i <= INR #|[pred i | P i]| * c.
Proof. by move=> le; rewrite -sum_const; exact: sum_le. Qed.

Lemma sum_all_le F c : (forall i, F i <= c) -> \Sum_i F i <= INR #|I| * c.
Proof. by move=> le; rewrite (@eq_card _ I [pred i | true]) //; exact: sum_le_const. Qed.

(** One term of a sum of non-negative terms is at most the sum. *)
Lemma sum_term_le P F i : P i -> (forall j, P j -> 0 <= F j) -> F i <= \Sum_(j | P j) F j.
Proof.
move=> Pi ge0; rewrite (bigD1 i) //=.
have : 0 <= \Sum_(j | P j && (j != i)) F j by apply: sum_ge0 => j /andP[/ge0].
lra.
Qed.

End Sums.

Lemma sum_ord_le n (F : 'I_n -> R) c : (forall i, F i <= c) -> \Sum_i F i <= INR n * c.
Proof. by move=> le; rewrite -[n in INR n]card_ord; exact: sum_all_le. Qed.

Lemma sum_recr (F : nat -> R) k : \Sum_(j < k.+1) F j = \Sum_(j < k) F j + F k.
Proof. exact: big_ord_recr. Qed.

Lemma abs_le_inv a b : Rabs a <= b -> - b <= a <= b.
Proof. by rewrite /Rabs; case: Rcase_abs; lra. Qed.

(** Non-zero numbers, as a test. *)
Definition nonzero (r : R) : bool := ~~ Req_EM_T r 0.

(** ** Extreme points of a real function on a finite set *)

(** A real function on a non-empty finite set has a maximiser. *)
Lemma argmax (I : finType) (P : pred I) (F : I -> R) i0 :
  P i0 -> exists2 i, P i & forall j, P j -> F j <= F i.
Proof.
move=> Pi0.
suff [i Pi max_i] : exists2 i, P i & forall j, j \in enum P -> F j <= F i.
  by exists i => // j Pj; apply: max_i; rewrite mem_enum.
have : forall j, j \in enum P -> P j by move=> j; rewrite mem_enum.
elim: (enum P) => [_|k s IH sub]; first by exists i0.
have [|i Pi max_i] := IH; first by move=> j js; apply: sub; rewrite in_cons js orbT.
have Pk : P k by apply: sub; rewrite mem_head.
have [le|lt] := Rle_lt_dec (F k) (F i).
  by exists i => // j; rewrite in_cons => /orP[/eqP -> //|]; exact: max_i.
exists k => // j; rewrite in_cons => /orP[/eqP ->|/max_i]; lra.
Qed.

Lemma argmin (I : finType) (P : pred I) (F : I -> R) i0 :
  P i0 -> exists2 i, P i & forall j, P j -> F i <= F j.
Proof.
move=> Pi0; have [i Pi max_i] := argmax (fun i => - F i) Pi0.
by exists i => // j /max_i; lra.
Qed.

(** ** Minimum and maximum of a list *)

(** [extreme op a0 s] combines the members of [s] with [op]; [a0] is the (never used) value of the empty list. *)
Definition extreme V (op : V -> V -> V) (a0 : V) (s : seq V) : V := if s is a :: s' then foldr op a s' else a0.

Notation minimum := (extreme Rmin 0).
Notation maximum := (extreme Rmax 0).

(** [minimum] and [maximum] over a list of indices are a least and a greatest value on it. *)
Lemma minimum_spec (I : eqType) (s : seq I) (F : I -> R) i0 : i0 \in s ->
  (exists2 i, i \in s & minimum (map F s) = F i) /\ forall i, i \in s -> minimum (map F s) <= F i.
Proof.
case: s => // j s _; rewrite [minimum _]/=; elim: s => [|k s /= [[i i_in eq_i] least]] /=.
  by split=> [|i]; [exists j; rewrite ?mem_seq1 | rewrite mem_seq1 => /eqP ->; right].
have sub l : l \in j :: s -> l \in [:: j, k & s] by rewrite !in_cons => /orP[->|->]; rewrite ?orbT.
rewrite eq_i in least *; split=> [|l].
  by rewrite /Rmin; case: Rle_dec => _; [exists k; rewrite ?in_cons ?eqxx ?orbT | exists i; auto].
rewrite !in_cons => /or3P[/eqP ->|/eqP ->|l_in]; last 1 first.
- by apply: Rle_trans (Rmin_r _ _) (least _ _); rewrite in_cons l_in orbT.
- by apply: Rle_trans (Rmin_r _ _) (least _ _); rewrite mem_head.
- exact: Rmin_l.
Qed.

Lemma maximum_spec (I : eqType) (s : seq I) (F : I -> R) i0 : i0 \in s ->
  (exists2 i, i \in s & maximum (map F s) = F i) /\ forall i, i \in s -> F i <= maximum (map F s).
Proof.
move=> i0_in.
have -> : maximum (map F s) = - minimum (map (fun i => - F i) s).
  case: s i0_in => // j s _ /=; elim: s => [|k s IH] /=; first by ring.
  by rewrite IH Ropp_Rmin !Ropp_involutive.
have [[i i_in ->] least] := minimum_spec (fun i => - F i) i0_in.
by split=> [|j /least]; [exists i; rewrite ?Ropp_involutive | lra].
Qed.

(** The minimum of a real function over a set of a finite type. *)
Definition min_over (I : finType) (B : {set I}) (F : I -> R) : R := minimum [seq F i | i <- enum B].

Lemma min_over_le (I : finType) (B : {set I}) (F : I -> R) i : i \in B -> min_over B F <= F i.
Proof. by rewrite -mem_enum => iB; have [_] := minimum_spec F iB; apply. Qed.

Lemma min_over_attained (I : finType) (B : {set I}) (F : I -> R) i0 :
  i0 \in B -> exists2 i, i \in B & min_over B F = F i.
Proof.
by rewrite -mem_enum => i0B; have [[i]] := minimum_spec F i0B; rewrite mem_enum => iB eq_i; exists i.
Qed.

(** A value attained on [B] and least on it is the minimum. *)
Lemma min_over_eq (I : finType) (B : {set I}) (F : I -> R) i :
  i \in B -> (forall j, j \in B -> F i <= F j) -> min_over B F = F i.
Proof.
move=> iB least; apply: Rle_antisym; first exact: min_over_le.
by have [j jB ->] := min_over_attained F iB; exact: least.
Qed.

(** ** Rounding up *)

(** A real r >= 0 has a ceiling among the natural numbers. *)
Lemma ceiling (r : R) : 0 <= r -> exists n : nat, r <= INR n < r + 1.
Proof.
move=> r_ge0; have ex : exists n : nat, Rle_dec r (INR n).
  have [up_gt _] := archimed r; exists (Z.to_nat (up r)); case: Rle_dec => // not_le; exfalso; apply: not_le.
  rewrite INR_IZR_INZ Z2Nat.id; first by lra.
  by apply: le_IZR; lra.
case: (ex_minnP ex) => n; case: Rle_dec => // r_le _ least; exists n; split=> //.
case: n r_le least => [|n] r_le least; first by rewrite /=; lra.
rewrite S_INR; have [le|] := Rle_lt_dec r (INR n); last lra.
by have := least n; case: Rle_dec => // _ /(_ isT); rewrite ltnn.
Qed.
