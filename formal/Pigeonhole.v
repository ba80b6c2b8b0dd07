(** The pigeonhole step of N4 (step 4): too few cells for all increasing sequences of grid points. *)

From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** The strictly increasing sequences of [tau] of the [G] grid points. *)
Definition increasing (tau G : nat) : {set tau.-tuple 'I_G} := [set p : tau.-tuple _ | sorted ltn (map val p)].

(** N4 step 4, counting. There are C(G, tau) strictly increasing sequences. *)
Lemma N4_sequences tau G : #|increasing tau G| = 'C(G, tau).
Proof. exact: card_ltn_sorted_tuples. Qed.

(** N4 step 4, abstract. A map from the strictly increasing tau-sequences into fewer than C(G, tau) cells
    identifies two of them. *)
Theorem N4_pigeonhole (tau G : nat) (cells : finType) (cell : tau.-tuple 'I_G -> cells) :
  #|cells| < 'C(G, tau) ->
  exists p q, [/\ p \in increasing tau G, q \in increasing tau G, p != q & cell p = cell q].
Proof.
rewrite -N4_sequences => few.
have : ~~ dinjectiveb cell (mem (increasing tau G)).
  apply/negP => /dinjectiveP inj; move: few.
  by rewrite -(card_in_imset inj) ltnNge max_card.
move=> /dinjectivePn[p p_inc [q /predD1P[/eqP q_neq q_inc] same]].
by exists p, q; rewrite eq_sym.
Qed.

(** N4 step 4. Each of [s] heads has [n + 1] numbers, each cut into [g] parts: that makes g^((n+1)s) cells, and if
    they are fewer than C(G, tau), two distinct strictly increasing sequences share a cell. *)
Theorem N4_pigeonhole_heads (n s g tau G : nat) (cell : tau.-tuple 'I_G -> {ffun 'I_s * 'I_n.+1 -> 'I_g}) :
  g ^ (n.+1 * s) < 'C(G, tau) ->
  exists p q, [/\ p \in increasing tau G, q \in increasing tau G, p != q & cell p = cell q].
Proof. by move=> few; apply: N4_pigeonhole; rewrite card_ffun card_prod !card_ord mulnC. Qed.

Local Open Scope R_scope.

(** A point of [0, g] lies in one of the g unit cells. *)
Lemma unit_cell (g : nat) (u : R) : (0 < g)%N -> 0 <= u <= INR g -> exists k : 'I_g, INR k <= u <= INR k + 1.
Proof.
elim: g => // -[_ _ /= u01|g IH _ u_range]; first by exists ord0 => /=; lra.
have [small|large] := Rle_lt_dec (INR g.+1) u.
  by exists ord_max; change (INR g.+1 <= u <= INR g.+1 + 1); rewrite -S_INR; lra.
have [|k k_cell] := IH isT; first lra.
by exists (widen_ord (leqnSn _) k).
Qed.

(** N4 step 4, with real numbers. If the finitely many numbers [a p j] of every increasing sequence [p] lie in
    [lo j, hi j], and g^(how many numbers) < C(G, tau), then two distinct increasing sequences have each of their
    numbers within (hi j - lo j) / g of one another. *)
Theorem N4_pigeonhole_real (I : finType) (g tau G : nat) (a : tau.-tuple 'I_G -> I -> R) (lo hi : I -> R) :
  (0 < g)%N -> (g ^ #|I| < 'C(G, tau))%N ->
  (forall p j, p \in increasing tau G -> lo j <= a p j <= hi j) ->
  exists p q, [/\ p \in increasing tau G, q \in increasing tau G, p != q &
                  forall j, Rabs (a p j - a q j) <= (hi j - lo j) / INR g].
Proof.
move=> g_gt0 few range; have g_pos : 0 < INR g by apply: lt_0_INR; apply/ltP.
have part p j : exists k : 'I_g, p \in increasing tau G ->
    INR k * ((hi j - lo j) / INR g) <= a p j - lo j <= (INR k + 1) * ((hi j - lo j) / INR g).
  case p_inc: (p \in _); last by exists (Ordinal g_gt0).
  have [a_lo a_hi] := range p j p_inc.
  have [flat|wide] := Rle_lt_dec (hi j - lo j) 0.
    have -> : hi j - lo j = 0 by lra.
    by exists (Ordinal g_gt0); rewrite /Rdiv !Rmult_0_l !Rmult_0_r; lra.
  pose c := (hi j - lo j) / INR g; have c_pos : 0 < c by exact: Rdiv_lt_0_compat.
  have gc : INR g * c = hi j - lo j by rewrite /c; field; lra.
  have uc : (a p j - lo j) / c * c = a p j - lo j by field; lra.
  have [||k [k_lo k_hi]] := @unit_cell g ((a p j - lo j) / c) => //.
    by split; apply: (Rmult_le_reg_r c) => //; lra.
  by exists k => _; rewrite -/c -uc; split; apply: Rmult_le_compat_r; lra.
have {part} [cell part] := fin_all_exists (fun p => fin_all_exists (part p)).
have [|p [q [p_inc q_inc neq /ffunP same]]] :=
  @N4_pigeonhole tau G [finType of {ffun I -> 'I_g}] (fun p => [ffun j => cell p j]).
  by rewrite card_ffun card_ord.
exists p, q; split=> // j; have := same j; rewrite !ffunE => same_j.
have := part p j p_inc; have := part q j q_inc; rewrite same_j => q_part p_part.
by apply: Rabs_le; lra.
Qed.
