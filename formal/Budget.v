(** N3: one dimension per head is enough, and an error budget that closes.

    A head with u(t) = clip(Psi(x(t)), 0, 1) on S and u(t) = 1 outside, score -u(t)
    and value u(t).  The outer function is bounded through the sup L_0 of the
    1-norm of its gradient. *)

From Coq Require Import Reals List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Softmax.
Import ListNotations.
Open Scope R_scope.

Definition clip (x : R) : R := Rmax 0 (Rmin x 1).

Lemma clip_range x : 0 <= clip x <= 1.
Proof. unfold clip, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma clip_id x : 0 <= x <= 1 -> clip x = x.
Proof. intros H. unfold clip, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma clip_contracts x y : Rabs (clip x - clip y) <= Rabs (x - y).
Proof. unfold clip, Rmax, Rmin, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra. Qed.

(** ** One head *)

Section OneHead.
Context {I : Type}.
Variables (beta : R) (S Sc : list I) (psi u : I -> R).
Hypothesis u_inside : forall t, In t S -> u t = clip (psi t).
Hypothesis u_outside : forall t, In t Sc -> u t = 1.

Definition covering_output : R := gibbs beta (S ++ Sc) u.

Lemma covering_min m : is_min S (fun t => clip (psi t)) m -> is_min (S ++ Sc) u m.
Proof.
  intros [(t0 & Hin & E) Hmin]. split.
  - exists t0. split; [apply in_or_app; auto | rewrite u_inside; auto].
  - intros t Ht. apply in_app_or in Ht as [Ht | Ht].
    + rewrite u_inside by exact Ht. auto.
    + rewrite u_outside by exact Ht. rewrite <- E. apply clip_range.
Qed.

(** N3: 0 <= ztilde - min_S clip(Psi) <= W((T-1)/e)/beta, T = |S| + |Sc|. *)
Theorem covering_gap m w : 0 < beta ->
  is_min S (fun t => clip (psi t)) m -> lambert ((INR (length (S ++ Sc)) - 1) / exp 1) w ->
  0 <= covering_output - m <= w / beta.
Proof. intros Hbeta Hm Hw. apply softmin_gap; auto using covering_min. Qed.

(** N3 for Psi with values in [0,1]: 0 <= ztilde - min_S Psi <= W((T-1)/e)/beta. *)
Corollary covering_gap_unclipped m w : 0 < beta -> (forall t, In t S -> 0 <= psi t <= 1) ->
  is_min S psi m -> lambert ((INR (length (S ++ Sc)) - 1) / exp 1) w ->
  0 <= covering_output - m <= w / beta.
Proof.
  intros Hbeta Hpsi [(t0 & Hin & E) Hmin]. apply covering_gap; [exact Hbeta |].
  split; [exists t0 | intros t Ht]; rewrite clip_id; auto.
Qed.

Lemma covering_output_range : S <> nil -> 0 <= covering_output <= 1.
Proof.
  intros HS. apply attention_between; [destruct S; easy |].
  intros t Ht. apply in_app_or in Ht as [Ht | Ht].
  - rewrite u_inside by exact Ht. apply clip_range.
  - rewrite u_outside by exact Ht. lra.
Qed.

(** With Psi within delta of f (values in [0,1]) on S: |ztilde - min_S f| <= delta + W((T-1)/e)/beta. *)
Lemma covering_error f zbar delta w : 0 < beta -> (forall t, In t S -> 0 <= f t <= 1) ->
  (forall t, In t S -> Rabs (f t - psi t) <= delta) -> is_min S f zbar ->
  lambert ((INR (length (S ++ Sc)) - 1) / exp 1) w ->
  Rabs (covering_output - zbar) <= delta + w / beta.
Proof.
  intros Hbeta Hf Hdelta Hz Hw.
  assert (Hclip : forall t, In t S -> Rabs (clip (psi t) - f t) <= delta).
  { intros t Ht. rewrite Rabs_minus_sym, <- (clip_id (f t)) by auto.
    eapply Rle_trans; [apply clip_contracts | auto]. }
  destruct (is_min_exists S (fun t => clip (psi t)) (is_min_nonempty _ _ _ Hz)) as (m & Hm).
  pose proof (covering_gap m w Hbeta Hm Hw) as Hgap.
  pose proof (is_min_close S _ f m zbar delta Hclip Hm Hz) as Hclose.
  apply Rabs_le_between in Hclose. apply Rabs_le. lra.
Qed.

End OneHead.

(** ** The outer function *)

Section Outer.
Context {K : Type}.
Variables (coordinates : list K) (F0 : (K -> R) -> R) (gradient : (K -> R) -> K -> R) (L0 : R).

Definition cube (z : K -> R) : Prop := forall i, 0 <= z i <= 1.
Definition close (z w : K -> R) (delta : R) : Prop := forall i, In i coordinates -> Rabs (z i - w i) <= delta.
Definition segment (z w : K -> R) (t : R) : K -> R := fun i => z i + t * (w i - z i).

(** F_0 of class C^1 on the cube [0,1]^D, as far as it is used: continuous there, and inside every
    segment of the cube the chain rule holds with the given gradient. *)
Definition continuous_on_cube : Prop := forall z, cube z -> forall eps, 0 < eps ->
  exists eta, 0 < eta /\ forall w, cube w -> close w z eta -> Rabs (F0 w - F0 z) <= eps.
Definition chain_rule : Prop := forall z w, cube z -> cube w -> forall t, 0 < t < 1 ->
  is_derive (fun s => F0 (segment z w s)) t
            (sum coordinates (fun i => gradient (segment z w t) i * (w i - z i))).
(** L_0 = sup |grad F_0|_1. *)
Definition gradient_bound : Prop := forall z, cube z -> sum coordinates (fun i => Rabs (gradient z i)) <= L0.

Lemma segment_in_cube z w t : cube z -> cube w -> 0 <= t <= 1 -> cube (segment z w t).
Proof. intros Hz Hw Ht i. specialize (Hz i). specialize (Hw i). unfold segment. nra. Qed.

(** |F_0(z) - F_0(w)| <= L_0 |z - w|_inf on the cube: no factor D. *)
Theorem outer_lipschitz z w delta : continuous_on_cube -> chain_rule -> gradient_bound ->
  cube z -> cube w -> close z w delta -> 0 <= delta -> Rabs (F0 z - F0 w) <= L0 * delta.
Proof.
  intros Hcont Hchain Hgrad Hz Hw Hclose Hdelta.
  assert (HL0 : 0 <= L0).
  { eapply Rle_trans; [| exact (Hgrad z Hz)]. apply sum_nonneg. intros. apply Rabs_pos. }
  set (h s := F0 (segment z w s)).
  assert (inner : forall a b, 0 < a -> a < b -> b < 1 -> Rabs (h b - h a) <= L0 * delta).
  { intros a b Ha Hab Hb.
    destruct (MVT_gen h a b (fun t => sum coordinates (fun i => gradient (segment z w t) i * (w i - z i))))
      as (c & Hc & E).
    - intros t. rewrite Rmin_left, Rmax_right by lra. intros Ht. apply Hchain; auto; lra.
    - intros t. rewrite Rmin_left, Rmax_right by lra. intros Ht. apply continuity_pt_filterlim.
      apply @ex_derive_continuous. eexists. apply Hchain; auto; lra.
    - rewrite Rmin_left, Rmax_right in Hc by lra. rewrite E, Rabs_mult, (Rabs_right (b - a)) by lra.
      assert (Hsum : Rabs (sum coordinates (fun i => gradient (segment z w c) i * (w i - z i))) <= L0 * delta).
      { eapply Rle_trans; [apply sum_abs |].
        apply Rle_trans with (delta * sum coordinates (fun i => Rabs (gradient (segment z w c) i))).
        - rewrite <- sum_scal. apply sum_le. intros i Hi. rewrite Rabs_mult, Rmult_comm.
          apply Rmult_le_compat_r; [apply Rabs_pos |]. rewrite Rabs_minus_sym. apply Hclose, Hi.
        - rewrite Rmult_comm. apply Rmult_le_compat_r; [exact Hdelta |].
          apply Hgrad, segment_in_cube; auto; lra. }
      pose proof (Rabs_pos (sum coordinates (fun i => gradient (segment z w c) i * (w i - z i)))). nra. }
  apply le_epsilon. intros eps Heps.
  destruct (Hcont z Hz (eps / 2)) as (eta1 & He1 & H1); [lra |].
  destruct (Hcont w Hw (eps / 2)) as (eta2 & He2 & H2); [lra |].
  set (a := Rmin (/ 4) (Rmin eta1 eta2)).
  assert (Ha : 0 < a /\ a <= / 4 /\ a <= eta1 /\ a <= eta2).
  { unfold a. repeat split.
    - repeat apply Rmin_pos; lra.
    - apply Rmin_l.
    - eapply Rle_trans; [apply Rmin_r | apply Rmin_l].
    - eapply Rle_trans; [apply Rmin_r | apply Rmin_r]. }
  assert (move : forall i, Rabs (w i - z i) <= 1).
  { intros i. specialize (Hz i). specialize (Hw i). apply Rabs_le. lra. }
  assert (E1 : Rabs (h a - F0 z) <= eps / 2).
  { apply H1; [apply segment_in_cube; auto; lra |]. intros i _. unfold segment.
    replace (z i + a * (w i - z i) - z i) with (a * (w i - z i)) by ring.
    rewrite Rabs_mult, (Rabs_right a) by lra. specialize (move i). pose proof (Rabs_pos (w i - z i)). nra. }
  assert (E2 : Rabs (h (1 - a) - F0 w) <= eps / 2).
  { apply H2; [apply segment_in_cube; auto; lra |]. intros i _. unfold segment.
    replace (z i + (1 - a) * (w i - z i) - w i) with (- (a * (w i - z i))) by ring.
    rewrite Rabs_Ropp, Rabs_mult, (Rabs_right a) by lra. specialize (move i). pose proof (Rabs_pos (w i - z i)). nra. }
  pose proof (inner a (1 - a)) as E3. specialize (E3 ltac:(lra) ltac:(lra) ltac:(lra)).
  apply Rabs_le_between in E1. apply Rabs_le_between in E2. apply Rabs_le_between in E3. apply Rabs_le. lra.
Qed.

(** N3, budget: |Phi(ztilde) - F_0(zbar)| <= |Phi(ztilde) - F_0(ztilde)| + |F_0(ztilde) - F_0(zbar)|
    <= delta_0 + L_0 |ztilde - zbar|_inf; Phi need only be accurate on the cube. *)
Theorem error_budget (Phi : (K -> R) -> R) ztilde zbar delta delta0 :
  continuous_on_cube -> chain_rule -> gradient_bound ->
  (forall z, cube z -> Rabs (Phi z - F0 z) <= delta0) ->
  cube ztilde -> cube zbar -> close ztilde zbar delta -> 0 <= delta ->
  Rabs (Phi ztilde - F0 zbar) <= Rabs (Phi ztilde - F0 ztilde) + Rabs (F0 ztilde - F0 zbar) /\
  Rabs (Phi ztilde - F0 ztilde) + Rabs (F0 ztilde - F0 zbar) <= delta0 + L0 * delta.
Proof.
  intros Hcont Hchain Hgrad HPhi Hz Hzbar Hclose Hdelta. split.
  - replace (Phi ztilde - F0 zbar) with ((Phi ztilde - F0 ztilde) + (F0 ztilde - F0 zbar)) by ring.
    apply Rabs_triang.
  - apply Rplus_le_compat; [auto | apply outer_lipschitz; auto].
Qed.

(** N3, closed: D heads of dimension 1, T positions, delta = eps/(4 L_0),
    beta >= 4 L_0 W((T-1)/e)/eps, delta_0 < eps/2: the error is below eps. *)
Theorem covering_heads_reach_eps {I} (Phi : (K -> R) -> R) (S Sc : K -> list I) (f psi u : K -> I -> R)
    (zbar : K -> R) (T : nat) (beta eps delta delta0 w : R) :
  continuous_on_cube -> chain_rule -> gradient_bound -> 0 < L0 -> 0 < eps ->
  (forall z, cube z -> Rabs (Phi z - F0 z) <= delta0) -> delta0 < eps / 2 ->
  (forall i, length (S i ++ Sc i) = T) ->
  (forall i t, In t (S i) -> 0 <= f i t <= 1) ->
  (forall i t, In t (S i) -> Rabs (f i t - psi i t) <= delta) -> delta = eps / (4 * L0) ->
  (forall i t, In t (S i) -> u i t = clip (psi i t)) -> (forall i t, In t (Sc i) -> u i t = 1) ->
  (forall i, is_min (S i) (f i) (zbar i)) ->
  lambert ((INR T - 1) / exp 1) w -> 0 < beta -> 4 * L0 * w / eps <= beta ->
  Rabs (Phi (fun i => covering_output beta (S i) (Sc i) (u i)) - F0 zbar) < eps.
Proof.
  intros Hcont Hchain Hgrad HL0 Heps HPhi Hdelta0 HT Hf Hpsi Hdelta Hin Hout Hmin Hw Hbeta Hbeta'.
  set (ztilde := fun i => covering_output beta (S i) (Sc i) (u i)).
  assert (Hwb : w / beta <= eps / (4 * L0)).
  { apply div_le; [exact Hbeta |]. replace (eps / (4 * L0) * beta) with (beta * eps / (4 * L0)) by (field; lra).
    apply le_div; [lra |]. apply le_of_div in Hbeta'; lra. }
  assert (Hclose : close ztilde zbar (eps / (2 * L0))).
  { intros i _. replace (eps / (2 * L0)) with (delta + eps / (4 * L0)) by (rewrite Hdelta; field; lra).
    apply Rle_trans with (delta + w / beta); [| lra].
    apply (covering_error beta (S i) (Sc i) (psi i) (u i)) with (f := f i); auto. rewrite HT. exact Hw. }
  assert (Hz : cube ztilde).
  { intros i. apply (covering_output_range beta (S i) (Sc i) (psi i)); auto.
    exact (is_min_nonempty _ _ _ (Hmin i)). }
  assert (Hzbar : cube zbar).
  { intros i. destruct (Hmin i) as [(t & Ht & <-) _]. auto. }
  destruct (error_budget Phi ztilde zbar (eps / (2 * L0)) delta0) as [H1 H2]; auto.
  - apply Rlt_le, Rdiv_lt_0_compat; lra.
  - replace (L0 * (eps / (2 * L0))) with (eps / 2) in H2 by (field; lra). lra.
Qed.

End Outer.

(** T2.1-end as published is false: the second inequality of
    |Phi(ztilde) - F_0(zbar)| <= |Phi(ztilde) - Phi(zbar)| + |Phi(zbar) - F_0(zbar)|
    <= L_0 |ztilde - zbar|_1 + delta_0 treats Phi as L_0-Lipschitz. Here F_0(z) = z, L_0 = 1, one coordinate. *)
Theorem published_end_false :
  exists (F0 Phi : (unit -> R) -> R) (ztilde zbar : unit -> R) (delta0 : R),
  continuous_on_cube [tt] F0 /\ chain_rule [tt] F0 (fun _ _ => 1) /\ gradient_bound [tt] (fun _ _ => 1) 1 /\
  cube ztilde /\ cube zbar /\ (forall z, cube z -> Rabs (Phi z - F0 z) <= delta0) /\
  1 * Rabs (ztilde tt - zbar tt) < Rabs (Phi ztilde - Phi zbar) /\
  1 * Rabs (ztilde tt - zbar tt) + delta0 < Rabs (Phi ztilde - Phi zbar) + Rabs (Phi zbar - F0 zbar).
Proof.
  exists (fun z => z tt), (fun z => 3 * z tt - 1), (fun _ => 1), (fun _ => 0), 1.
  split; [| split; [| split; [| split; [| split; [| split; [| split]]]]]].
  - intros z _ eps Heps. exists eps. split; [exact Heps |]. intros w _ Hw. apply Hw. simpl. auto.
  - intros z w _ _ t _. unfold segment. simpl. auto_derive; [exact I | ring].
  - intros z _. simpl. rewrite Rabs_R1. lra.
  - intros i. lra.
  - intros i. lra.
  - intros z Hz. specialize (Hz tt). apply Rabs_le. lra.
  - rewrite !Rabs_right by lra. lra.
  - rewrite (Rabs_right (1 - 0)), (Rabs_right (3 * 1 - 1 - (3 * 0 - 1))), (Rabs_left (3 * 0 - 1 - 0)) by lra. lra.
Qed.
