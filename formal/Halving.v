(** N12: the exact maximum of T numbers by a ReLU network of depth ceil(log2 T) + 1 with O(T) weights, whatever eps:
    one halving per hidden layer, max(a, b) = relu(a - b) + relu(b) - relu(-b). *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals Networks.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** ** Deep ReLU networks as data *)

(** A linear form in the entries of a vector: its non-zero weights, each with the index that it multiplies. *)
Definition form := seq (R * nat).
Definition apply (v : seq R) (phi : form) : R := \Sum_(e <- phi) (e.1 * nth 0 v e.2).

(** A network without biases: the hidden layers from the input on, each the list of its units, and the output. *)
Record network := Network { hidden : seq (seq form); out : form }.

Definition run (layers : seq (seq form)) (x : seq R) : seq R :=
  foldl (fun v layer => [seq relu (apply v phi) | phi <- layer]) x layers.
Definition value (N : network) (x : seq R) : R := apply (run (hidden N) x) (out N).

(** Depth counts the layers of weights; size counts the weights. *)
Definition depth (N : network) : nat := (size (hidden N)).+1.
Definition layer_weights (layer : seq form) : nat := sumn (map size layer).
Definition weights (N : network) : nat := (sumn (map layer_weights (hidden N)) + size (out N))%N.

(** ** Halving *)

Lemma max_by_relu a b : Rmax a b = relu (a - b) + relu b - relu (- b).
Proof. by rewrite /relu /Rmax; do 4?case: Rle_dec; lra. Qed.

Lemma self_by_relu b : b = relu b - relu (- b).
Proof. by rewrite /relu /Rmax; do 2?case: Rle_dec; lra. Qed.

Definition opp_form (phi : form) : form := [seq (- e.1, e.2) | e <- phi].

Lemma apply_opp v phi : apply v (opp_form phi) = - apply v phi.
Proof.
rewrite /apply big_map; elim: phi => [|e phi IH]; first by rewrite !big_nil; ring.
by rewrite !big_cons IH /=; ring.
Qed.

Lemma apply_cat v phi psi : apply v (phi ++ psi) = apply v phi + apply v psi.
Proof. exact: big_cat. Qed.

(** The maxima of neighbours. *)
Fixpoint pair_max (s : seq R) : seq R :=
  match s with
  | a :: b :: s' => Rmax a b :: pair_max s'
  | _ => s
  end.

(** One hidden layer that halves: the units that it needs for the values [phis], its first unit having number [k], and
    the linear forms of its units that give the maxima of neighbours. *)
Fixpoint halving_layer (phis : seq form) : seq form :=
  match phis with
  | phi :: psi :: phis' => (phi ++ opp_form psi) :: psi :: opp_form psi :: halving_layer phis'
  | [:: phi] => [:: phi; opp_form phi]
  | [::] => [::]
  end.

Fixpoint halved (phis : seq form) (k : nat) : seq form :=
  match phis with
  | _ :: _ :: phis' => [:: (1, k); (1, k.+1); (-1, k.+2)] :: halved phis' k.+3
  | [:: _] => [:: [:: (1, k); (-1, k.+1)]]
  | [::] => [::]
  end.

(** The network: [k] halving layers on top of the forms [phis]. *)
Fixpoint halving (k : nat) (phis : seq form) : network :=
  match k with
  | 0 => Network [::] (head [::] phis)
  | k'.+1 => let N := halving k' (halved phis 0) in Network (halving_layer phis :: hidden N) (out N)
  end.

Definition exact_max_network (T : nat) : network := halving (up_log 2 T) [seq [:: (1, t)] | t <- iota 0 T].

(* Induction on a list two members at a time. *)
Local Lemma pair_ind A (P : seq A -> Prop) :
  P [::] -> (forall a, P [:: a]) -> (forall a b s, P s -> P [:: a, b & s]) -> forall s, P s.
Proof.
move=> P0 P1 P2 s; suff [] : P s /\ forall a, P (a :: s) by [].
by elim: s => [|b s [Ps Pbs]]; split=> // a; apply: P2.
Qed.

Local Lemma nth_unit (pre s : seq R) k : nth 0 (pre ++ s) (k + size pre) = nth 0 s k.
Proof. by rewrite nth_cat ltnNge leq_addl addnK. Qed.

(** One layer halves: its units, read by the new forms, give the maxima of neighbours. *)
Lemma halving_step (v : seq R) (phis : seq form) :
  [seq apply [seq relu (apply v psi) | psi <- halving_layer phis] phi | phi <- halved phis 0]
  = pair_max [seq apply v phi | phi <- phis].
Proof.
suff main pre : [seq apply (pre ++ [seq relu (apply v psi) | psi <- halving_layer phis]) phi
                 | phi <- halved phis (size pre)] = pair_max [seq apply v phi | phi <- phis] by exact: (main [::]).
elim/pair_ind: phis pre => [|phi|phi psi phis IH] pre //=.
  rewrite {1}/apply !big_cons big_nil /= (nth_unit pre _ 0) (nth_unit pre _ 1) /= apply_opp.
  by rewrite [in RHS](self_by_relu (apply v phi)); congr (_ :: _); ring.
congr (_ :: _).
  rewrite {1}/apply !big_cons big_nil /= (nth_unit pre _ 0) (nth_unit pre _ 1) (nth_unit pre _ 2) /=.
  by rewrite apply_cat !apply_opp max_by_relu /Rminus; ring.
have := IH (pre ++ [seq relu (apply v chi) | chi <- [:: phi ++ opp_form psi; psi; opp_form psi]]).
by rewrite size_cat addn3 -catA.
Qed.

Lemma size_halved phis k : size (halved phis k) = uphalf (size phis).
Proof. by elim/pair_ind: phis k => [|phi|phi psi phis IH] k //=; rewrite IH. Qed.

Lemma maximum_cons a (s : seq R) : (0 < size s)%N -> maximum (a :: s) = Rmax a (maximum s).
Proof.
have swap x y z : Rmax x (Rmax y z) = Rmax y (Rmax x z) by rewrite !Rmax_assoc (Rmax_comm x).
by case: s => // b s _ /=; elim: s => [|c s IH] /=; [exact: Rmax_comm | rewrite swap IH swap].
Qed.

Lemma maximum_pair_max s : maximum (pair_max s) = maximum s.
Proof.
elim/pair_ind: s => [|a|a b s IH] //; case: s IH => [|c s] IH; first by rewrite /= Rmax_comm.
have nonempty : (0 < size (pair_max (c :: s)))%N by case: s {IH}.
by rewrite -[pair_max _]/(Rmax a b :: pair_max (c :: s)) maximum_cons // IH !(@maximum_cons _ (_ :: _)) // Rmax_assoc.
Qed.

(** [k] halvings compute the maximum of at most 2^k forms. *)
Lemma value_halving k phis x : (0 < size phis <= 2 ^ k)%N ->
  value (halving k phis) x = maximum [seq apply x phi | phi <- phis].
Proof.
elim: k phis x => [|k IH] phis x /andP[nonempty small]; first by case: phis nonempty small => [|phi []].
rewrite -maximum_pair_max -halving_step -IH // size_halved.
by rewrite leq_uphalf_double -mul2n -expnS small andbT; case: (size phis) nonempty.
Qed.

(** ** Size, depth, weights *)

Definition short (phi : form) : bool := (size phi <= 3)%N.

Lemma layer_weights_halving (phis : seq form) : all short phis ->
  (layer_weights (halving_layer phis) <= 6 * size phis)%N.
Proof.
rewrite /layer_weights /short; elim/pair_ind: phis => [|phi|phi psi phis IH] //=; rewrite ?size_cat ?size_map.
  by case/andP=> phi_le _; ssrlia.
by case/and3P=> phi_le psi_le /IH le_IH; ssrlia.
Qed.

Lemma halved_small (phis : seq form) k : all short (halved phis k).
Proof. by elim/pair_ind: phis k => [|phi|phi psi phis IH] k //=. Qed.

Lemma weights_halving n (phis : seq form) : size phis = n.+1 -> all short phis ->
  (weights (halving (up_log 2 n.+1) phis) <= 18 * n + 3)%N.
Proof.
elim/ltn_ind: n phis => -[|n] IH phis size_phis small.
  by rewrite up_log1 /weights /= add0n; case: phis size_phis small => [|phi phis] //= _ /andP[].
have := odd_double_half n.+1; rewrite up_log2S //.
have half_lt : (n.+1./2 < n.+1)%N by rewrite -divn2 ltn_Pdiv.
have size_half : size (halved phis 0) = n.+1./2.+1 by rewrite size_halved size_phis.
move: (n.+1./2) half_lt size_half => h half_lt size_half; have le_layer := layer_weights_halving small.
have := IH h half_lt _ size_half (halved_small phis 0); rewrite /weights /= => le_IH; rewrite size_phis in le_layer.
by rewrite -addnn; case: (odd _) => /= halves; ssrlia.
Qed.

Lemma depth_halving k phis : depth (halving k phis) = k.+1.
Proof. by rewrite /depth; elim: k phis => //= k IH phis; rewrite IH. Qed.

(** All weights 1 or -1. *)
Definition sign (r : R) : bool := Req_EM_T r 1 || Req_EM_T r (-1).
Definition unit_form (phi : form) : bool := all (fun e => sign e.1) phi.
Definition unit_weights (N : network) : bool := all (all unit_form) (hidden N) && unit_form (out N).

Lemma signP r : reflect (r = 1 \/ r = -1) (sign r).
Proof. by rewrite /sign; case: Req_EM_T => ?; case: Req_EM_T => ? /=; constructor; lra. Qed.

Lemma unit_weights_halving k phis : all unit_form phis -> unit_weights (halving k phis).
Proof.
have one : sign 1 by apply/signP; left.
have minus_one : sign (-1) by apply/signP; right.
have opp phi : unit_form phi -> unit_form (opp_form phi).
  by rewrite /unit_form all_map; apply: sub_all => e /signP /= e_sign; apply/signP; lra.
have new qs j : all unit_form (halved qs j).
  by elim/pair_ind: qs j => [|phi|phi psi qs IH] j //=; rewrite ?one ?minus_one ?IH.
elim: k phis => [|k IH] phis small.
  by rewrite /unit_weights /=; case: phis small => [|phi phis /andP[]].
have /andP[small_hidden small_out] := IH _ (new phis 0%N).
rewrite /unit_weights /= small_hidden small_out !andbT; elim/pair_ind: phis small {small_hidden small_out} => //=.
  by move=> phi /andP[phi_unit _]; rewrite phi_unit opp.
move=> phi psi phis' IH' /and3P[phi_unit psi_unit phis_unit].
by rewrite psi_unit opp // IH' // /unit_form all_cat -!/(unit_form _) phi_unit opp.
Qed.

(** N12 (exact maximum). For every T >= 1 there is a ReLU network of depth ceil(log2 T) + 1, with at most 18 T - 15
    weights, all of them 1 or -1, that computes the maximum of T real numbers exactly. *)
Theorem N12_exact_max (T : nat) : (0 < T)%N ->
  [/\ depth (exact_max_network T) = (up_log 2 T).+1, (weights (exact_max_network T) <= 18 * T - 15)%N,
      unit_weights (exact_max_network T) &
      forall x : seq R, size x = T -> value (exact_max_network T) x = maximum x].
Proof.
move=> T_gt0; rewrite /exact_max_network; set phis := map _ _.
have size_phis : size phis = T by rewrite size_map size_iota.
split; first exact: depth_halving.
- case: T T_gt0 @phis size_phis => // n _ phis size_phis.
  apply: leq_trans (weights_halving size_phis _) _; first by rewrite /phis all_map; apply/allP.
  by ssrlia.
- apply: unit_weights_halving; rewrite /phis all_map.
  by apply/allP => t _; rewrite /unit_form /= andbT; apply/signP; left.
- move=> x size_x; rewrite value_halving ?size_phis ?T_gt0 ?up_logP //; congr maximum.
  rewrite /phis -map_comp -[RHS](mkseq_nth 0) size_x; apply: eq_map => t /=.
  by rewrite /apply big_cons big_nil /=; ring.
Qed.
