(** N9: what the bound by balanced colourings amounts to. With T = 4 k positions and sets of m = k of them it grows like
    (64/27)^k, up to factors linear in k; and 2^(m-1) leaves no room for few features. *)

From Coq Require Import Reals Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Colourings.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* A sequence that rises up to r and falls from there on is largest at r. *)
Local Lemma peak (f : nat -> nat) r : (forall i, i < r -> f i <= f i.+1) -> (forall i, r <= i -> f i.+1 <= f i) ->
  forall i, f i <= f r.
Proof.
move=> up down i; have [ir|/ltnW ri] := leqP i r.
  suff rise k : k <= r -> f (r - k) <= f r by rewrite -(subKn ir) rise // leq_subr.
  elim: k => [|k IH] kr; first by rewrite subn0.
  apply: leq_trans (IH (ltnW kr)); rewrite (_ : r - k = (r - k.+1).+1); last by rewrite subnSK.
  by apply: up; rewrite ltn_subrL /= (leq_trans _ kr).
rewrite -(subnKC ri); elim: (i - r) => [|k IH]; first by rewrite addn0.
by rewrite addnS (leq_trans (down _ _)) ?leq_addr.
Qed.

(* The terms of (1 + 1)^(2r) are largest in the middle, those of (2 + 1)^(3k) at k. *)
Local Lemma central r i : 'C(r.*2, i) <= 'C(r.*2, r).
Proof.
apply: peak i => i le_i; rewrite -(leq_pmul2l (ltn0Sn i)) mul_bin_left leq_mul2r; apply/orP; right;
  rewrite -addnn; ssrlia.
Qed.

Local Lemma third k i : 'C(3 * k, i) * 2 ^ (3 * k - i) <= 'C(3 * k, k) * 2 ^ (3 * k - k).
Proof.
apply: (peak (f := fun i => 'C(3 * k, i) * 2 ^ (3 * k - i))) i => i le_i.
  have -> : 3 * k - i = (3 * k - i.+1).+1 by ssrlia.
  rewrite expnS mulnA leq_mul2r; apply/orP; right.
  rewrite -(leq_pmul2l (ltn0Sn i)) mul_bin_left mulnCA [X in _ <= X]mulnC leq_mul2l.
  by apply/orP; right; ssrlia.
have [small|large] := ltnP i (3 * k); last by rewrite bin_small.
have -> : 3 * k - i = (3 * k - i.+1).+1 by ssrlia.
rewrite expnS mulnA leq_mul2r; apply/orP; right.
rewrite -(leq_pmul2l (ltn0Sn i)) mul_bin_left [X in _ <= X]mulnCA mulnC leq_mul2l.
by apply/orP; right; ssrlia.
Qed.

(* A sum lies between one of its terms and the number of terms times the largest. *)
Local Lemma power_of_two n : 2 ^ n = \sum_(i < n.+1) 'C(n, i).
Proof. by rewrite -[2]/(1 + 1) expnDn; apply: eq_bigr => i _; rewrite !exp1n !muln1. Qed.

Local Lemma power_of_three n : 3 ^ n = \sum_(i < n.+1) 'C(n, i) * 2 ^ (n - i).
Proof. by rewrite -[3]/(2 + 1) expnDn; apply: eq_bigr => i _; rewrite exp1n muln1. Qed.

Local Lemma sum_most n (F : 'I_n -> nat) b : (forall i, F i <= b) -> \sum_i F i <= n * b.
Proof. by move=> le; rewrite -[n in n * b]card_ord -sum_nat_const; apply: leq_sum. Qed.

Local Lemma sum_one n (F : 'I_n -> nat) i : F i <= \sum_j F j.
Proof. by rewrite (bigD1 i) //= leq_addr. Qed.

Local Lemma fourth_powers k : 16 ^ k = 2 ^ (k.*2).*2 /\ 27 ^ k = 3 ^ (3 * k) /\ 4 ^ k = 2 ^ (3 * k - k).
Proof.
have two : 3 * k - k = 2 * k by ssrlia.
by rewrite two -!mul2n mulnA !expnM.
Qed.

(** The bound C(4k, 2k) / (2 C(3k, k)) of N9 for T = 4 k and m = k lies between (64/27)^k / (8 k + 2) and
    (3 k + 1) (64/27)^k / 2. *)
Theorem N9_growth k :
  64 ^ k * 'C(3 * k, k) <= (4 * k + 1) * (27 ^ k * 'C(4 * k, 2 * k)) /\
  27 ^ k * 'C(4 * k, 2 * k) <= (3 * k + 1) * (64 ^ k * 'C(3 * k, k)).
Proof.
have [p16 [p27 p4]] := fourth_powers k; have -> : 64 ^ k = 16 ^ k * 4 ^ k by rewrite -expnMn.
have -> : 4 * k = (k.*2).*2 by rewrite -!mul2n mulnA.
have -> : 2 * k = k.*2 by rewrite mul2n.
set n := (k.*2).*2 in p16 *; set b := 'C(n, k.*2); set c := 'C(3 * k, k).
have b_low : 16 ^ k <= n.+1 * b by rewrite p16 power_of_two; apply: sum_most => i; exact: central.
have b_high : b <= 16 ^ k.
  have lt : k.*2 < n.+1 by rewrite ltnS /n -[X in _ <= X]addnn leq_addr.
  by rewrite p16 power_of_two; exact: (sum_one (fun i : 'I_n.+1 => 'C(n, i)) (Ordinal lt)).
have c_high : 4 ^ k * c <= 27 ^ k.
  have lt : k < (3 * k).+1 by ssrlia.
  rewrite p27 power_of_three p4 mulnC.
  exact: (sum_one (fun i : 'I_(3 * k).+1 => 'C(3 * k, i) * 2 ^ (3 * k - i)) (Ordinal lt)).
have c_low : 27 ^ k <= (3 * k).+1 * (4 ^ k * c).
  by rewrite p27 power_of_three p4 [2 ^ _ * c]mulnC; apply: sum_most => i; exact: third.
rewrite !addn1; split.
- by rewrite -mulnA (leq_trans (leq_mul b_low c_high)) // -mulnA leq_mul2l [b * _]mulnC leqnn orbT.
- have -> : 16 ^ k * 4 ^ k * c = 4 ^ k * c * 16 ^ k by rewrite [16 ^ k * _]mulnC -mulnA [16 ^ k * c]mulnC mulnA.
  by rewrite mulnA; exact: leq_mul.
Qed.

(** So D sets of at least k out of 4 k positions without a 2-colouring number at least (64/27)^k / (8 k + 2), *)
Theorem N9_growth_features k D (S : 'I_D -> {set 'I_(4 * k)}) :
  (forall i, k <= #|S i|) -> not_two_colourable S -> 64 ^ k <= (8 * k + 2) * 27 ^ k * D.
Proof.
move=> large none; have half : (4 * k)./2 = 2 * k by rewrite -[4]/(2 * 2) -mulnA mul2n doubleK.
have even : ~~ odd (4 * k) by rewrite -[4]/(2 * 2) -mulnA mul2n odd_double.
have := N9_balanced_even large none even; rewrite half => /(_ ltac:(by rewrite leq_pmull)).
have -> : 4 * k - k = 3 * k by ssrlia.
have -> : 2 * k - k = k by ssrlia.
set b := 'C(4 * k, 2 * k); set c := 'C(3 * k, k) => b_le; have [low _] := N9_growth k; rewrite -/b -/c in low.
have c_pos : 0 < c by rewrite bin_gt0; ssrlia.
rewrite -(leq_pmul2r c_pos); apply: leq_trans low _.
apply: (leq_trans (leq_mul (leqnn _) (leq_mul (leqnn _) b_le))).
have -> : 8 * k + 2 = (4 * k + 1) * 2 by ssrlia.
by move: (27 ^ k) => p; rewrite -!mulnA leq_mul2l; apply/orP; right; rewrite [p * (2 * _)]mulnCA.
Qed.

(** and D < T/4 - (n+2) s, where T2.2 says something, is excluded already by D >= 2^(m-1). *)
Theorem N9_excludes T D m n s (S : 'I_D -> {set 'I_T}) :
  (forall i, m <= #|S i|) -> T <= 4 * m -> not_two_colourable S -> T <= 4 * (D + (n + 2) * s).
Proof.
move=> large Tm none; have many := N9_erdos large none.
have : m <= 2 ^ m.-1 by case: m {large Tm many} => //= m; exact: ltn_expl.
by move=> le; move: ((n + 2) * s) => r; have := leq_trans le many; ssrlia.
Qed.
