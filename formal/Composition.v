(** L8: networks compose by merging the two affine maps where they meet.

    An L-layer network is a list of L affine maps, with one activation [sigma]
    after each but the last. Its hidden widths are those of all maps but the last. *)

From Coq Require Import Reals List Lra Lia.
From Headcount Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Record affine := { width : nat; matrix : nat -> nat -> R; offset : nat -> R }.
Definition network := list affine.

Section Networks.
Variable sigma : R -> R.

Definition apply_affine (d : nat) (L : affine) (x : nat -> R) : nat -> R :=
  fun j => sum (seq 0 d) (fun i => matrix L j i * x i) + offset L j.

(** The value of a network on d inputs. *)
Fixpoint evaluate (d : nat) (net : network) (x : nat -> R) : nat -> R :=
  match net with
  | [] => x
  | [L] => apply_affine d L x
  | L :: rest => evaluate (width L) rest (fun j => sigma (apply_affine d L x j))
  end.

Fixpoint output_width (d : nat) (net : network) : nat :=
  match net with [] => d | L :: rest => output_width (width L) rest end.
Definition hidden_widths (net : network) : list nat := map width (removelast net).
Definition max_width (net : network) : nat := fold_right Nat.max 0%nat (hidden_widths net).

(** The affine map M after the affine map L. *)
Definition merge (L M : affine) : affine := {|
  width := width M;
  matrix := fun j i => sum (seq 0 (width L)) (fun k => matrix M j k * matrix L k i);
  offset := fun j => sum (seq 0 (width L)) (fun k => matrix M j k * offset L k) + offset M j |}.

Fixpoint compose (first second : network) : network :=
  match first with
  | [] => second
  | [L] => match second with [] => [L] | M :: rest => merge L M :: rest end
  | L :: rest => L :: compose rest second
  end.

Lemma evaluate_cons d L M rest x :
  evaluate d (L :: M :: rest) x = evaluate (width L) (M :: rest) (fun j => sigma (apply_affine d L x j)).
Proof. reflexivity. Qed.

Lemma evaluate_ext net : forall d x y, (forall i, x i = y i) -> forall j, evaluate d net x j = evaluate d net y j.
Proof.
  induction net as [| L rest IH]; intros d x y E j; [apply E |].
  assert (EL : forall j, apply_affine d L x j = apply_affine d L y j).
  { intros k. unfold apply_affine. f_equal. apply sum_ext. intros i _. rewrite E. reflexivity. }
  simpl. destruct rest; [apply EL |]. apply IH. intros i. rewrite EL. reflexivity.
Qed.

Lemma merge_eq d L M x j :
  apply_affine d (merge L M) x j = apply_affine (width L) M (apply_affine d L x) j.
Proof.
  unfold apply_affine, merge; cbn [matrix offset]. rewrite <- Rplus_assoc. f_equal.
  rewrite (sum_ext (seq 0 d) _ (fun i => sum (seq 0 (width L)) (fun k => matrix M j k * (matrix L k i * x i)))).
  - rewrite sum_swap, <- sum_plus. apply sum_ext. intros k _. rewrite sum_scal. ring.
  - intros i _. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros. ring.
Qed.

(** The composed network computes second after first, exactly. *)
Lemma compose_eq first : forall d second x j, first <> [] -> second <> [] ->
  evaluate d (compose first second) x j =
  evaluate (output_width d first) second (evaluate d first x) j.
Proof.
  induction first as [| L [| L' rest] IH]; intros d second x j H1 H2; [easy | |].
  - destruct second as [| M [| M' more]]; [easy | apply merge_eq |].
    change (compose [L] (M :: M' :: more)) with (merge L M :: M' :: more). rewrite !evaluate_cons.
    apply evaluate_ext. intros. rewrite merge_eq. reflexivity.
  - assert (Hne : compose (L' :: rest) second <> []) by (destruct rest; [destruct second |]; easy).
    change (compose (L :: L' :: rest) second) with (L :: compose (L' :: rest) second).
    destruct (compose (L' :: rest) second) as [| K tail] eqn:E; [easy |].
    rewrite evaluate_cons, <- E, IH by easy. reflexivity.
Qed.

Lemma compose_length first second : first <> [] -> second <> [] ->
  length (compose first second) = (length first + length second - 1)%nat.
Proof.
  induction first as [| L [| L' rest] IH]; intros H1 H2; [easy | |].
  - destruct second; [easy | simpl; lia].
  - change (compose (L :: L' :: rest) second) with (L :: compose (L' :: rest) second).
    cbn [length]. rewrite IH by easy. cbn [length]. lia.
Qed.

Lemma compose_hidden_widths first second : first <> [] -> second <> [] ->
  hidden_widths (compose first second) = hidden_widths first ++ hidden_widths second.
Proof.
  induction first as [| L [| L' rest] IH]; intros H1 H2; [easy | |].
  - destruct second as [| M [| M' more]]; easy.
  - assert (Hne : compose (L' :: rest) second <> []) by (destruct rest; [destruct second |]; easy).
    change (compose (L :: L' :: rest) second) with (L :: compose (L' :: rest) second).
    unfold hidden_widths in *. destruct (compose (L' :: rest) second) as [| K tail]; [easy |].
    change (removelast (L :: K :: tail)) with (L :: removelast (K :: tail)).
    change (removelast (L :: L' :: rest)) with (L :: removelast (L' :: rest)).
    simpl map. rewrite <- app_comm_cons. f_equal. apply IH; easy.
Qed.

Lemma compose_max_width first second : first <> [] -> second <> [] ->
  max_width (compose first second) = Nat.max (max_width first) (max_width second).
Proof.
  intros H1 H2. unfold max_width. rewrite compose_hidden_widths by assumption.
  induction (hidden_widths first) as [| w l IH]; [reflexivity | simpl; lia].
Qed.

(** L8: a 2-layer, then a 3-layer, then a 2-layer network compose exactly to one 5-layer network whose
    maximal width is the largest of theirs. *)
Theorem compose_2_3_2 (d : nat) (first second third : network) :
  length first = 2%nat -> length second = 3%nat -> length third = 2%nat ->
  exists net : network, length net = 5%nat /\
  (max_width net <= Nat.max (max_width first) (Nat.max (max_width second) (max_width third)))%nat /\
  forall x j, evaluate d net x j =
    evaluate (output_width (output_width d first) second) third
      (evaluate (output_width d first) second (evaluate d first x)) j.
Proof.
  intros L1 L2 L3.
  assert (N1 : first <> []) by (intros ->; discriminate).
  assert (N2 : second <> []) by (intros ->; discriminate).
  assert (N3 : third <> []) by (intros ->; discriminate).
  assert (N23 : compose second third <> []).
  { intros E. apply (f_equal (@length _)) in E. rewrite compose_length, L2, L3 in E by assumption. discriminate. }
  exists (compose first (compose second third)). split; [| split].
  - rewrite !compose_length by assumption. lia.
  - rewrite !compose_max_width by assumption. lia.
  - intros x j. rewrite !compose_eq by assumption. reflexivity.
Qed.

End Networks.
