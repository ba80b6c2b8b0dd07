(** DEF-D: the generalized retrieval task. Tokens may be of any type and the maps arbitrary; the paper takes tokens in
    the cube [0,1]^d, features of class C^2 with values in [0,1], and an outer map of class C^1. *)

From Coq Require Import Reals.
From mathcomp Require Import all_ssreflect.
From Headcount Require Import FiniteReals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

(** The tokens of the paper: the points of [0,1]^d. *)
Definition cube (d : nat) := {x : 'I_d -> R | forall j, 0 <= x j <= 1}.

Section Retrieval.
Variables (Token : Type) (D T : nat) (f : 'I_D -> Token -> R) (S : 'I_D -> {set 'I_T}) (F0 : {ffun 'I_D -> R} -> R).

(** zbar_i(X) = min over t in S_i of f_i(x(t)). *)
Definition feature_minima (X : 'I_T -> Token) : {ffun 'I_D -> R} := [ffun i => min_over (S i) (fun t => f i (X t))].

(** H(X) = F_0(zbar_1, ..., zbar_D). *)
Definition retrieval (X : 'I_T -> Token) : R := F0 (feature_minima X).

End Retrieval.
