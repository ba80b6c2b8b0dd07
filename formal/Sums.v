(** Finite sums of reals over a list of indices of any type.

    [sum l f] is the sum of [f i] for [i] in [l], with repetitions. A finite
    index set is a list; the number of its elements is [length l]. *)

From Coq Require Import Reals List Lra Lia.
Open Scope R_scope.

Section Sums.
Context {I : Type}.
Implicit Types (l : list I) (f g : I -> R).

Fixpoint sum l f : R :=
  match l with
  | nil => 0
  | i :: l' => f i + sum l' f
  end.

Lemma sum_app l1 l2 f : sum (l1 ++ l2) f = sum l1 f + sum l2 f.
Proof. induction l1 as [| i l1 IH]; simpl; lra. Qed.

Lemma sum_ext l f g : (forall i, In i l -> f i = g i) -> sum l f = sum l g.
Proof.
  induction l as [| i l IH]; simpl; intros H; [reflexivity |].
  rewrite (H i (or_introl eq_refl)), IH; auto.
Qed.

Lemma sum_plus l f g : sum l (fun i => f i + g i) = sum l f + sum l g.
Proof. induction l as [| i l IH]; simpl; lra. Qed.

Lemma sum_minus l f g : sum l (fun i => f i - g i) = sum l f - sum l g.
Proof. induction l as [| i l IH]; simpl; lra. Qed.

Lemma sum_scal l c f : sum l (fun i => c * f i) = c * sum l f.
Proof. induction l as [| i l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_const l c : sum l (fun _ => c) = INR (length l) * c.
Proof.
  induction l as [| i l IH]; [simpl; ring |].
  cbn [sum length]. rewrite IH, S_INR. ring.
Qed.

Lemma sum_le l f g : (forall i, In i l -> f i <= g i) -> sum l f <= sum l g.
Proof.
  induction l as [| i l IH]; simpl; intros H; [lra |].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_nonneg l f : (forall i, In i l -> 0 <= f i) -> 0 <= sum l f.
Proof.
  intros H. replace 0 with (sum l (fun _ => 0)); [apply sum_le; exact H |].
  rewrite sum_const. ring.
Qed.

(** One term is at most the sum when no term is negative. *)
Lemma sum_term l f i : (forall i, In i l -> 0 <= f i) -> In i l -> f i <= sum l f.
Proof.
  induction l as [| j l IH]; simpl; intros H [].
  - subst j. pose proof (sum_nonneg l f (fun i Hi => H i (or_intror Hi))). lra.
  - pose proof (H j (or_introl eq_refl)).
    pose proof (IH (fun i Hi => H i (or_intror Hi)) H0). lra.
Qed.

Lemma sum_pos l f : l <> nil -> (forall i, In i l -> 0 < f i) -> 0 < sum l f.
Proof.
  destruct l as [| i l]; [easy | intros _ H]. simpl.
  pose proof (H i (or_introl eq_refl)).
  pose proof (sum_nonneg l f (fun i Hi => Rlt_le _ _ (H i (or_intror Hi)))). lra.
Qed.

Lemma sum_abs l f : Rabs (sum l f) <= sum l (fun i => Rabs (f i)).
Proof.
  induction l as [| i l IH]; simpl; [rewrite Rabs_R0; lra |].
  eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

End Sums.

Lemma sum_map {I J} (h : I -> J) l f : sum (map h l) f = sum l (fun i => f (h i)).
Proof. induction l as [| i l IH]; simpl; congruence. Qed.

Lemma sum_swap {I J} (l : list I) (k : list J) (f : I -> J -> R) :
  sum l (fun i => sum k (f i)) = sum k (fun j => sum l (fun i => f i j)).
Proof.
  induction l as [| i l IH]; simpl; [rewrite sum_const; ring |].
  rewrite IH, <- sum_plus. reflexivity.
Qed.
