(** The outer map: L6 and the error of the memoriser (T2.3-end). *)

From Coq Require Import Reals List Lra.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Softmax Budget.
Import ListNotations.
Open Scope R_scope.

(** ** L6 *)

(** z moved by delta in the coordinate i. *)
Definition shift {K} (same : K -> K -> bool) (z : K -> R) (i : K) (delta : R) : K -> R :=
  fun j => if same i j then z j + delta else z j.

(** L6: if F_0 is differentiable at z along each coordinate (within the cube, where z may lie on a face)
    and no partial derivative vanishes (A2.4), there are r_0, L_0 > 0 with
    |F_0(z + delta e_i) - F_0(z)| >= L_0 |delta| for all i and |delta| < r_0, z + delta e_i in the cube. *)
Theorem outer_map_moves {K} (same : K -> K -> bool) (coordinates : list K) (F0 : (K -> R) -> R) (z partial : K -> R) :
  (forall i, In i coordinates -> forall eps, 0 < eps -> exists eta, 0 < eta /\
     forall delta, Rabs delta < eta -> cube (shift same z i delta) ->
     Rabs (F0 (shift same z i delta) - F0 z - partial i * delta) <= eps * Rabs delta) ->
  (forall i, In i coordinates -> partial i <> 0) ->
  exists r0 L0, 0 < r0 /\ 0 < L0 /\ forall i, In i coordinates ->
  forall delta, Rabs delta < r0 -> cube (shift same z i delta) ->
  L0 * Rabs delta <= Rabs (F0 (shift same z i delta) - F0 z).
Proof.
  induction coordinates as [| i l IH]; intros Hdiff Hpartial.
  - exists 1, 1. repeat split; try lra. intros i [].
  - destruct IH as (r & L & Hr & HL & H); [intros; apply Hdiff; simpl; auto | intros; apply Hpartial; simpl; auto |].
    assert (Hp : 0 < Rabs (partial i)) by (apply Rabs_pos_lt, Hpartial; simpl; auto).
    destruct (Hdiff i (or_introl eq_refl) (Rabs (partial i) / 2)) as (eta & Heta & Hi); [lra |].
    exists (Rmin r eta), (Rmin L (Rabs (partial i) / 2)).
    split; [apply Rmin_pos; lra | split; [apply Rmin_pos; lra |]].
    intros j [<- | Hj] delta Hdelta Hcube; pose proof (Rabs_pos delta).
    + specialize (Hi delta (Rlt_le_trans _ _ _ Hdelta (Rmin_r _ _)) Hcube).
      set (D := F0 (shift same z i delta) - F0 z) in *.
      assert (Rabs (partial i) * Rabs delta <= Rabs D + Rabs (partial i) / 2 * Rabs delta).
      { rewrite <- Rabs_mult. replace (partial i * delta) with (D + - (D - partial i * delta)) by ring.
        eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp. lra. }
      apply Rle_trans with (Rabs (partial i) / 2 * Rabs delta); [apply Rmult_le_compat_r; [lra | apply Rmin_r] | lra].
    + specialize (H j Hj delta (Rlt_le_trans _ _ _ Hdelta (Rmin_l _ _)) Hcube).
      eapply Rle_trans; [| exact H]. apply Rmult_le_compat_r; [assumption | apply Rmin_l].
Qed.

(** ** T2.3-end *)

(** T2.3-end repaired: F_1 within eps of every f_i(x(t)), F_2 within eps of the minima of F_1's values, F_3
    within eps of F_0, F_0 with Lipschitz constant L for the sup norm: the composed network is within
    (2 L + 1) eps. *)
Theorem memoriser_error {K I} (coordinates : list K) (S : K -> list I) (f u : K -> I -> R)
    (zbar m y : K -> R) (F0 F3 : (K -> R) -> R) L eps : 0 <= L -> 0 <= eps ->
  (forall z w delta, close coordinates z w delta -> Rabs (F0 z - F0 w) <= L * delta) ->
  (forall i t, In i coordinates -> In t (S i) -> Rabs (u i t - f i t) <= eps) ->
  (forall i, In i coordinates -> is_min (S i) (f i) (zbar i)) ->
  (forall i, In i coordinates -> is_min (S i) (u i) (m i)) ->
  (forall i, In i coordinates -> Rabs (y i - m i) <= eps) ->
  Rabs (F3 y - F0 y) <= eps ->
  Rabs (F3 y - F0 zbar) <= (2 * L + 1) * eps.
Proof.
  intros HL Heps HF0 Hu Hz Hm Hy H3.
  assert (Hclose : close coordinates y zbar (2 * eps)).
  { intros i Hi.
    pose proof (is_min_close (S i) (u i) (f i) (m i) (zbar i) eps (fun t => Hu i t Hi) (Hm i Hi) (Hz i Hi)).
    specialize (Hy i Hi). replace (y i - zbar i) with ((y i - m i) + (m i - zbar i)) by ring.
    eapply Rle_trans; [apply Rabs_triang | lra]. }
  specialize (HF0 y zbar (2 * eps) Hclose).
  replace (F3 y - F0 zbar) with ((F3 y - F0 y) + (F0 y - F0 zbar)) by ring.
  eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

(** T2.3-end as published (error L eps) is false: one token, f = 1/2, F_0(z) = z, L = 1; F_1 and F_2 and F_3
    each err by eps, in the same direction: the error is 3 eps = (2 L + 1) eps. *)
Theorem published_memoriser_false eps : 0 < eps ->
  let f := 1 / 2 in let u := f + eps in let y := u + eps in let F3 (z : R) := z + eps in
  Rabs (u - f) <= eps /\ Rabs (y - u) <= eps /\ (forall z, Rabs (F3 z - z) <= eps) /\
  Rabs (F3 y - f) = (2 * 1 + 1) * eps /\ 1 * eps < Rabs (F3 y - f).
Proof.
  intros Heps f u y F3. unfold F3, y, u.
  assert (E : Rabs (f + eps + eps + eps - f) = (2 * 1 + 1) * eps).
  { replace (f + eps + eps + eps - f) with (3 * eps) by ring. rewrite Rabs_right; lra. }
  rewrite E. repeat split; try lra.
  - replace (f + eps - f) with eps by ring. rewrite Rabs_right; lra.
  - replace (f + eps + eps - (f + eps)) with eps by ring. rewrite Rabs_right; lra.
  - intros z. replace (z + eps - z) with eps by ring. rewrite Rabs_right; lra.
Qed.
