(** Nothing is proved about the empty set: for each theorem with many hypotheses, an instance that
    satisfies all of them. *)

From Coq Require Import Reals List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Cells ReadoutCapacity Counting Softmax Gate Budget.
From Headcount Require Import ReadoutError Composition.
Import ListNotations.
Open Scope R_scope.

Lemma abs_is_seminorm : seminorm (fun x : unit -> R => Rabs (x tt)).
Proof. split; intros; [apply Rabs_triang | apply Rabs_mult]. Qed.

(** T2.2-26 .. 36: case (2a), with different weights and different averages. *)
Goal let V (x : R) := fun _ : unit => x in
  let N := fun x : unit -> R => Rabs (x tt) in
  N (fun i => mix 1 (V (1 / 2)) 2 (V (1 / 3)) i - mix (7 / 6) (V (1 / 3)) 2 (V (1 / 3)) i) <= 1 / (3 * 1) /\
  / (1 + 1 / (12 * 1 ^ 2)) <= (1 + 2) / (7 / 6 + 2) <= 1 + 1 / (12 * 1 ^ 2) /\ (1 + 2) / 1 <= 3 /\
  N (fun i => mix 1 (V (1 / 2)) 3 (V 1) i - mix (7 / 6) (V (1 / 3)) 3 (V 1) i) <= 1.
Proof.
  intros V N. assert (H1 : N (fun i => mix 1 (V (1 / 2)) 2 (V (1 / 3)) i - mix (7 / 6) (V (1 / 3)) 2 (V (1 / 3)) i)
                     <= 1 / (3 * 1)) by (unfold N, mix, V; apply Rabs_le; lra).
  split; [exact H1 | split; [lra | split; [lra |]]].
  apply (case_2a_published N abs_is_seminorm 1 (7 / 6) 2 3 1 1 (V (1 / 2)) (V (1 / 3)) (V (1 / 3)) (V 1));
    try exact H1; try lra.
  - unfold N, V. apply Rabs_le. lra.
  - unfold N, V. apply Rabs_le. lra.
  - unfold N, V. apply Rabs_le. lra.
  - unfold N, V. apply Rabs_le. lra.
Qed.

(** T2.2-40: case (2b). *)
Goal let V (x : R) := fun _ : unit => x in
  Rabs (mix 1 (V 1) 16 (V 0) tt - mix 1 (V (-1)) 16 (V 0) tt) <= 1.
Proof.
  intros V. destruct (case_2b_published (fun x => Rabs (x tt)) 1 1 0 16 1 (V 1) (V (-1)) (V 0)); try lra;
    try exact abs_is_seminorm; apply Rabs_le; unfold V; lra.
Qed.

(** N4 step 5: one free position, one other that holds the maximal weight, two parts. *)
Goal let lambda (_ _ : bool) := 1 in
  let v (x _ : bool) := if x then 1 / 2 else 1 / 4 in
  Rabs (head_output lambda v [false] [true] (fun _ => true) - head_output lambda v [false] [true] (fun p => p))
  <= 3 * sqrt (INR 1) * INR 1 / INR 2.
Proof.
  intros lambda v. assert (E1 : INR 1 = 1) by reflexivity. assert (E2 : INR 2 = 2) by (simpl; ring).
  apply (same_cell_outputs_close lambda v [false] [true] (fun _ => true) (fun p => p) _ _ 1 1 2 1).
  - intros. unfold lambda. lra.
  - intros [] p; unfold v; rewrite E1, sqrt_1; apply Rabs_le; lra.
  - intros p _. left. auto.
  - intros p [<- | []]. reflexivity.
  - exists true. split; [left |]; reflexivity.
  - lia.
  - unfold value_sum, lambda, v. cbn [sum]. rewrite E1, E2, sqrt_1. apply Rabs_le. lra.
  - unfold weight_sum, lambda. cbn [sum]. rewrite E1, E2. apply Rabs_le. lra.
Qed.

(** L4, N5: F(v) = v_0 on R^2 has one non-zero weight; a gap of 1 at distance 1 needs one. *)
Goal let F := two_layer [0%nat] [0%nat; 1%nat] (fun _ i => match i with O => 1 | _ => 0 end) (fun _ => 1)
    (fun _ => 0) 0 (fun _ x => x) in
  let v1 (i : nat) := match i with O => 1 | _ => 0 end in
  1 <= Rabs (F v1 - F (fun _ => 0)) /\
  nnz [0%nat] [0%nat; 1%nat] (fun _ i => match i with O => 1 | _ => 0 end) = 1%nat.
Proof.
  intros F v1. split.
  - unfold F, two_layer, v1. cbn [sum]. rewrite Rabs_right; lra.
  - unfold nnz. simpl. destruct (Req_EM_T 1 0); [lra |]. destruct (Req_EM_T 0 0); [reflexivity | lra].
Qed.

(** N5, ell layers: the identity with four layers of one unit; M = 4, bound (4/2)^2. *)
Goal let L := {| nodes := [0%nat]; weight := fun _ _ => 1; bias := fun _ => 0; activation := fun _ x => x |} in
  let layers := [L; L; L; L] in
  Rabs (run [0%nat] layers (fun _ => 1) 0%nat - run [0%nat] layers (fun _ => 0) 0%nat)
  <= paths [0%nat] layers (fun _ => 1) 0%nat * 1 /\
  fold_right Nat.add 0%nat (sizes [0%nat] layers) = 4%nat /\ paths [0%nat] layers (fun _ => 1) 0%nat = 1.
Proof.
  intros L layers. split; [| split].
  - apply (deep_capacity [0%nat] layers); [simpl; lia | | | left; reflexivity].
    + intros K HK. assert (K = L) as -> by (simpl in HK; intuition congruence).
      split; intros; unfold one_lipschitz; simpl; [rewrite Rabs_R1 |]; intros; lra.
    + intros. rewrite Rabs_right; lra.
  - unfold layers, sizes, nnz. simpl. destruct (Req_EM_T 1 0); [lra | reflexivity].
  - unfold layers, paths, nonzero. simpl. destruct (Req_EM_T 1 0); lra.
Qed.

(** N2 with gate 2: a = 0 and 1 on S, 1/2 outside. *)
Goal exists u, lambert ((INR (length [0%nat; 1%nat]) - 1) / exp 1) u /\
  let a (t : nat) := match t with 0%nat => 0 | 1%nat => 1 | _ => 1 / 2 end in
  let r (t : nat) := match t with 2%nat => - 2 | _ => 0 end in
  Rabs (gated_output 3 [0%nat; 1%nat] [2%nat] a r - 0) <= u / 3 + INR (length [2%nat]) * exp (- (3 * (2 - 1))).
Proof.
  destruct (lambert_exists_unique ((INR (length [0%nat; 1%nat]) - 1) / exp 1)) as (u & Hu & _).
  - apply (count_nonneg [0%nat; 1%nat]). discriminate.
  - exists u. split; [exact Hu |]. intros a r.
    apply (gated_output_near_min 3 2 [0%nat; 1%nat] [2%nat] a r); [lra | | | | | exact Hu].
    + intros t [<- | [<- | []]]; reflexivity.
    + intros t [<- | []]; reflexivity.
    + intros t [<- | [<- | [<- | []]]]; unfold a; lra.
    + split; [exists 0%nat; simpl; auto |]. intros t [<- | [<- | []]]; unfold a; lra.
Qed.

(** N3: one covering head, f = Psi = 0 and 1 on S, F_0 = z, Phi = z + 1/8, eps = 1, L_0 = 1. *)
Goal exists w beta, lambert ((INR 3 - 1) / exp 1) w /\ 0 < beta /\
  let psi (t : nat) := match t with 0%nat => 0 | _ => 1 end in
  Rabs (covering_output beta [0%nat; 1%nat] [2%nat] psi + 1 / 8 - 0) < 1.
Proof.
  destruct (lambert_exists_unique ((INR 3 - 1) / exp 1)) as (w & Hw & _).
  { apply (count_nonneg [0%nat; 1%nat; 2%nat]). discriminate. }
  assert (Hw0 : 0 <= w).
  { apply (lambert_nonneg ((INR 3 - 1) / exp 1)); [| exact Hw].
    apply (count_nonneg [0%nat; 1%nat; 2%nat]). discriminate. }
  exists w, (1 + 4 * w). split; [exact Hw | split; [lra |]]. intros psi.
  assert (Hpsi : forall t, 0 <= psi t <= 1) by (intros [| t]; unfold psi; lra).
  apply (covering_heads_reach_eps [tt] (fun z => z tt) (fun _ _ => 1) 1 (fun z => z tt + 1 / 8)
    (fun _ => [0%nat; 1%nat]) (fun _ => [2%nat]) (fun _ => psi) (fun _ => psi) (fun _ => psi) (fun _ => 0) 3
    (1 + 4 * w) 1 (1 / 4) (1 / 8) w); try lra; auto.
  - intros z _ eps Heps. exists eps. split; [exact Heps |]. intros x _ Hx. apply Hx. left. reflexivity.
  - intros z x _ _ t _. unfold segment. simpl. auto_derive; [trivial | ring].
  - intros z _. simpl. rewrite Rabs_R1. lra.
  - intros z _. apply Rabs_le. lra.
  - intros _ t _. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - intros _ t _. rewrite clip_id; auto.
  - intros _ t [<- | []]. reflexivity.
  - intros _. split; [exists 0%nat; simpl; auto |]. intros t _. apply Hpsi.
Qed.

(** N8: a block that forgets one bit of two; the best error over all read-outs is 1/2. *)
Goal let A (x : bool * bool) := fst x in
  let H (x : bool * bool) := (if fst x then 2 else 0) + (if snd x then 1 else 0) in
  is_lub (collision_gaps A H) 1.
Proof.
  intros A H. split.
  - intros g ([a b] & [a' b'] & E & ->). unfold A, H in *. simpl in *. subst a'.
    apply Rabs_le. destruct a, b, b'; lra.
  - intros c Hc. apply Hc. exists (true, true), (true, false). split; [reflexivity |].
    unfold H. simpl. rewrite Rabs_right; lra.
Qed.

(** N8, Lipschitz version: A the identity on {0, 1}, H = 3 x, Lam = 1; the best error is 1. *)
Goal let A (x : bool) := if x then 1 else 0 in let H (x : bool) := if x then 3 else 0 in
  is_lub (deficits A H (fun a b => Rabs (a - b)) 1) 2.
Proof.
  intros A H. split.
  - intros g (x & y & ->). apply Rmax_lub; [lra |].
    unfold A, H. destruct x, y; unfold Rabs; repeat destruct Rcase_abs; lra.
  - intros c Hc. apply Hc. exists true, false. unfold A, H. rewrite !Rabs_right, Rmax_right; lra.
Qed.

(** C1 with the sharp constant: D_1 = 1, D_2 = 2, T = 57. *)
Goal INR 1 ^ 2 + INR 2 ^ 2 < 5 / 56 * 57 /\ INR (Nat.max 1 2) < C1_exponent 1 2 57.
Proof.
  assert (H : INR 1 ^ 2 + INR 2 ^ 2 < 5 / 56 * 57) by (simpl; lra).
  split; [exact H |]. apply C1_arithmetic_sharp; [lia | exact H].
Qed.
