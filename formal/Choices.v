(** N4, steps 2 and 3: two greedy choices. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** If each set has as many members as there are indices and forbidden elements together, distinct allowed
    representatives exist. *)
Lemma representatives (I U : finType) (l : seq I) (S : I -> {set U}) (X : {set U}) (u0 : U) :
  uniq l -> (forall i, i \in l -> size l + #|X| <= #|S i|) ->
  exists2 r : I -> U, {in l &, injective r} & forall i, i \in l -> r i \in S i :\: X.
Proof.
elim: l => [|i l IH] /=; first by exists (fun=> u0).
case/andP=> i_l uniq_l large.
have [|r r_inj r_in] := IH uniq_l.
  by move=> j jl; apply: leq_trans (large j _); rewrite ?in_cons ?jl ?orbT // addSn.
have /card_gt0P[u] : 0 < #|S i :\: (X :|: [set r j | j in l])|.
  rewrite cardsD subn_gt0; apply: leq_ltn_trans (subset_leq_card (subsetIr _ _)) _.
  apply: leq_trans (large i (mem_head _ _)); rewrite addSn ltnS addnC.
  by apply: leq_trans (leq_card_setU _ _) _; rewrite leq_add2l (leq_trans (leq_imset_card _ _)) ?card_size.
rewrite !inE negb_or -andbA => /and3P[u_X u_r u_S].
have fresh j : j \in l -> r j != u by move=> jl; apply: contraNneq u_r => <-; apply: imset_f.
exists (fun j => if j == i then u else r j) => [j k|j]; rewrite !in_cons.
  case: (eqVneq j i) => [->|_] /=; case: (eqVneq k i) => [->|_] //=.
  - by move=> _ kl /esym/eqP; rewrite (negbTE (fresh k kl)).
  - by move=> jl _ /eqP; rewrite (negbTE (fresh j jl)).
  - exact: r_inj.
by case: (eqVneq j i) => [-> _|_ /=]; [rewrite inE u_X | exact: r_in].
Qed.

Local Open Scope R_scope.

(** Heads in turn take the position and the token where their weight is largest among the positions not yet taken. On
    positions that nobody has taken, no token has more weight than theirs. *)
Lemma greedy_maxima (I U Q : finType) (l : seq I) (w : I -> Q -> U -> R) (q0 : Q) (u0 : U) :
  uniq l -> (size l <= #|U|)%N ->
  exists (y : I -> Q) (t : I -> U), {in l &, injective t} /\
    forall i, i \in l -> forall q u, u \notin [set t j | j in l] -> w i q u <= w i (y i) (t i).
Proof.
elim: l => [|i l IH] /=; first by exists (fun=> q0), (fun=> u0).
case/andP=> i_l uniq_l small.
have [y [t [t_inj t_max]]] := IH uniq_l (ltnW small).
have /card_gt0P[u u_free] : (0 < #|~: [set t j | j in l]|)%N.
  by rewrite cardsCs setCK subn_gt0 (leq_ltn_trans (leq_imset_card _ _)) // (leq_ltn_trans (card_size _)).
have := @argmax _ (fun e : Q * U => e.2 \in ~: [set t j | j in l]) (fun e => w i e.1 e.2) (q0, u) u_free.
case=> [[q v] /= v_free max_qv].
have fresh j : j \in l -> t j != v.
  by move=> jl; apply: contraTneq v_free => <-; rewrite inE negbK imset_f.
have other j : j \in l -> (j == i) = false by move=> jl; apply: contraNF i_l => /eqP <-.
exists (fun j => if j == i then q else y j), (fun j => if j == i then v else t j); split=> [j k|j]; rewrite !in_cons.
  case: (eqVneq j i) => [->|_] /=; case: (eqVneq k i) => [->|_] //=.
  - by move=> _ kl /esym/eqP; rewrite (negbTE (fresh k kl)).
  - by move=> jl _ /eqP; rewrite (negbTE (fresh j jl)).
  - exact: t_inj.
move=> j_in q' u' u'_free.
have u'_old : u' \notin [set t j | j in l].
  apply: contra u'_free => /imsetP[k kl ->]; apply/imsetP; exists k; first by rewrite in_cons kl orbT.
  by rewrite (other k kl).
case: (eqVneq j i) j_in => [-> _|_ /= jl]; first by apply: (max_qv (q', u')); rewrite inE.
exact: t_max.
Qed.
