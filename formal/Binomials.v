(** The binomial coefficient of the standard library (a real number) is that of the counting files. *)

From Coq Require Import Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import Counting.

Lemma fact_eq (n : nat) : Factorial.fact n = n`!.
Proof. by elim: n => // n IH; rewrite factS -IH. Qed.

Lemma binomial_eq (G tau : nat) : (tau <= G)%N -> Binomial.C G tau = INR 'C(G, tau).
Proof.
move=> tau_G; rewrite /Binomial.C minusE.
have -> : INR (Factorial.fact G) = (INR 'C(G, tau) * (INR (Factorial.fact tau) * INR (Factorial.fact (G - tau))))%R.
  by rewrite -!mult_INR !fact_eq !multE bin_fact.
by field; split; apply: INR_fact_neq_0.
Qed.

(** N4's bound in terms of the number of strictly increasing sequences, and its exponent
    T_0/((n+1)s) - 1: see [N4_exponent]. *)
Theorem N4_bound_eq (n s E tau : nat) (rho eps : R) : (tau <= grid_points rho eps)%N ->
  N4_bound n s E tau rho eps =
  Rmult (eps / (3 * Rpower (INR E) (3 / 2) * INR tau))%R
        (ceiling (Rpower (INR 'C(grid_points rho eps, tau)) (/ ((INR n + 1) * INR s))) - 1)%R.
Proof. by move=> tau_G; rewrite /N4_bound binomial_eq. Qed.
