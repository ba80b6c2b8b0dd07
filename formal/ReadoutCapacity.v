(** L4 and N5: how far a read-out can move its output, and so how many weights it needs.

    Weights are at most 1 in magnitude, activations are 1-Lipschitz (they may
    differ from unit to unit), biases are arbitrary.  Nodes are numbered; a layer
    is given by the list of its nodes. *)

From Coq Require Import Reals List Lra Lia Psatz.
From Headcount Require Import Sums Algebra Cells.
Import ListNotations.
Open Scope R_scope.

Definition one_lipschitz (f : R -> R) := forall x y, Rabs (f x - f y) <= Rabs (x - y).

(** 1 for a non-zero weight, 0 for a zero one. *)
Definition nonzero (x : R) : R := if Req_EM_T x 0 then 0 else 1.

(** The number of non-zero entries of a matrix. *)
Definition nnz (rows columns : list nat) (w : nat -> nat -> R) : nat :=
  length (filter (fun ji => if Req_EM_T (w (fst ji) (snd ji)) 0 then false else true)
                 (list_prod rows columns)).

Lemma nonzero_range x : 0 <= nonzero x <= 1.
Proof. unfold nonzero. destruct (Req_EM_T x 0); lra. Qed.

Lemma weight_le_nonzero x y : Rabs x <= 1 -> Rabs (x * y) <= nonzero x * Rabs y.
Proof.
  intros H. rewrite Rabs_mult. pose proof (Rabs_pos y). unfold nonzero.
  destruct (Req_EM_T x 0) as [-> |]; [rewrite Rabs_R0 | apply Rmult_le_compat_r]; lra.
Qed.

Lemma nnz_eq rows columns w :
  INR (nnz rows columns w) = sum rows (fun j => sum columns (fun i => nonzero (w j i))).
Proof.
  assert (count : forall (p : nat * nat -> R) l,
    INR (length (filter (fun x => if Req_EM_T (p x) 0 then false else true) l)) =
    sum l (fun x => nonzero (p x))).
  { intros p l. induction l as [| x l IH]; [reflexivity |]. cbn [filter sum]. unfold nonzero at 1.
    destruct (Req_EM_T (p x) 0); [| cbn [length]; rewrite S_INR]; lra. }
  unfold nnz. rewrite (count (fun ji => w (fst ji) (snd ji))).
  induction rows as [| j rows IH]; [reflexivity |].
  cbn [list_prod sum]. rewrite sum_app, sum_map, IH. reflexivity.
Qed.

(** ** Two layers *)

Section TwoLayers.
Variables (units inputs : list nat) (U : nat -> nat -> R) (W shift : nat -> R) (offset : R).
Variable sigma : nat -> R -> R.
Hypothesis U_bounded : forall j i, Rabs (U j i) <= 1.
Hypothesis W_bounded : forall j, Rabs (W j) <= 1.
Hypothesis sigma_lipschitz : forall j, one_lipschitz (sigma j).

(** F(v) = offset + sum_j W_j sigma_j (sum_i U_ji v_i + shift_j). *)
Definition two_layer (v : nat -> R) : R :=
  offset + sum units (fun j => W j * sigma j (sum inputs (fun i => U j i * v i) + shift j)).

Lemma two_layer_moves v1 v2 :
  Rabs (two_layer v1 - two_layer v2)
  <= sum units (fun j => sum inputs (fun i => nonzero (U j i) * Rabs (v1 i - v2 i))).
Proof.
  unfold two_layer. replace (_ - _) with
    (sum units (fun j => W j * sigma j (sum inputs (fun i => U j i * v1 i) + shift j)) -
     sum units (fun j => W j * sigma j (sum inputs (fun i => U j i * v2 i) + shift j))) by ring.
  rewrite <- sum_minus. eapply Rle_trans; [apply sum_abs |]. apply sum_le. intros j _.
  rewrite <- Rmult_minus_distr_l, Rabs_mult.
  assert (H : forall x y, Rabs (W j) * Rabs (sigma j x - sigma j y) <= Rabs (x - y)).
  { intros x y. pose proof (sigma_lipschitz j x y). pose proof (Rabs_pos (sigma j x - sigma j y)).
    specialize (W_bounded j). pose proof (Rabs_pos (W j)). nra. }
  eapply Rle_trans; [apply H |].
  replace (_ + _ - _) with (sum inputs (fun i => U j i * v1 i) - sum inputs (fun i => U j i * v2 i)) by ring.
  rewrite <- sum_minus. eapply Rle_trans; [apply sum_abs |]. apply sum_le. intros i _.
  rewrite <- Rmult_minus_distr_l. apply weight_le_nonzero, U_bounded.
Qed.

(** N5, two layers: the output moves by at most nnz(U) |v_1 - v_2|_inf. *)
Theorem two_layer_capacity v1 v2 delta :
  (forall i, In i inputs -> Rabs (v1 i - v2 i) <= delta) ->
  Rabs (two_layer v1 - two_layer v2) <= INR (nnz units inputs U) * delta.
Proof.
  intros H. eapply Rle_trans; [apply two_layer_moves |].
  rewrite nnz_eq, Rmult_comm, <- sum_scal. apply sum_le. intros j _.
  rewrite <- sum_scal. apply sum_le. intros i Hi. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [apply nonzero_range | auto].
Qed.

(** N5, two layers: at least B/|v_1 - v_2|_inf non-zero weights in the first layer. *)
Corollary two_layer_weights v1 v2 delta B :
  0 < delta -> (forall i, In i inputs -> Rabs (v1 i - v2 i) <= delta) ->
  B <= Rabs (two_layer v1 - two_layer v2) -> B / delta <= INR (nnz units inputs U).
Proof.
  intros Hd H HB. apply div_le; [exact Hd |]. pose proof (two_layer_capacity v1 v2 delta H). lra.
Qed.

(** L4, the step of its proof: width p gives |Delta F| <= p sqrt(n) |Delta v|_2. *)
Lemma two_layer_width v1 v2 :
  Rabs (two_layer v1 - two_layer v2)
  <= INR (length units) * (sqrt (INR (length inputs)) * sqrt (sum inputs (fun i => (v1 i - v2 i) ^ 2))).
Proof.
  eapply Rle_trans; [apply two_layer_moves |]. rewrite <- sum_const. apply sum_le. intros j _.
  eapply Rle_trans; [| apply l1_le_l2]. apply sum_le. intros i _.
  pose proof (nonzero_range (U j i)). pose proof (Rabs_pos (v1 i - v2 i)). nra.
Qed.

(** L4: if |v_1 - v_2|_2 <= A and |F(v_1) - F(v_2)| >= B > 0, the width p and the number of non-zero
    weights are both at least B/(A sqrt n); the number of weights is even at least B/A. *)
Theorem readout_capacity v1 v2 A B :
  0 < A -> 0 < B -> sqrt (sum inputs (fun i => (v1 i - v2 i) ^ 2)) <= A ->
  B <= Rabs (two_layer v1 - two_layer v2) ->
  B / (A * sqrt (INR (length inputs))) <= INR (length units) /\
  B / (A * sqrt (INR (length inputs))) <= INR (nnz units inputs U) /\
  B / A <= INR (nnz units inputs U).
Proof.
  intros HA HB Hdist Hgap.
  assert (weights : B / A <= INR (nnz units inputs U)).
  { apply (two_layer_weights v1 v2); [exact HA | | exact Hgap]. intros i Hi.
    eapply Rle_trans; [| exact Hdist]. rewrite <- (sqrt_pow2 (Rabs _)), pow2_abs by apply Rabs_pos.
    apply sqrt_le_1_alt, (sum_term inputs (fun i => (v1 i - v2 i) ^ 2)); [| exact Hi].
    intros; apply pow2_ge_0. }
  pose proof (two_layer_width v1 v2) as width. pose proof (pos_INR (length units)) as Hp.
  assert (Hn : 1 <= sqrt (INR (length inputs))).
  { rewrite <- sqrt_1. apply sqrt_le_1_alt. change 1 with (INR 1). apply le_INR.
    destruct inputs as [| i l]; [| simpl; lia]. simpl in width. rewrite sqrt_0 in width. lra. }
  assert (Hr : A <= A * sqrt (INR (length inputs))) by nra.
  split; [| split].
  - apply div_le; [lra |]. eapply Rle_trans; [exact Hgap |]. eapply Rle_trans; [exact width |].
    apply Rmult_le_compat_l; [exact Hp |]. rewrite (Rmult_comm A). apply Rmult_le_compat_l; lra.
  - eapply Rle_trans; [| exact weights]. apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra.
  - exact weights.
Qed.

End TwoLayers.

(** ** Any number of layers *)

Record layer := {
  nodes : list nat; weight : nat -> nat -> R; bias : nat -> R; activation : nat -> R -> R }.

Definition admissible (L : layer) :=
  (forall j i, Rabs (weight L j i) <= 1) /\ (forall j, one_lipschitz (activation L j)).

(** The values at the last nodes, starting from values [x] at the nodes [inputs]. *)
Fixpoint run (inputs : list nat) (layers : list layer) (x : nat -> R) : nat -> R :=
  match layers with
  | nil => x
  | L :: rest => run (nodes L) rest
      (fun j => activation L j (sum inputs (fun i => weight L j i * x i) + bias L j))
  end.

Fixpoint outputs (inputs : list nat) (layers : list layer) : list nat :=
  match layers with nil => inputs | L :: rest => outputs (nodes L) rest end.

(** The number of paths of non-zero weights ending in a node, if [c i] paths end in the input [i]. *)
Fixpoint paths (inputs : list nat) (layers : list layer) (c : nat -> R) : nat -> R :=
  match layers with
  | nil => c
  | L :: rest => paths (nodes L) rest (fun j => sum inputs (fun i => nonzero (weight L j i) * c i))
  end.

(** The number of non-zero weights of each layer. *)
Fixpoint sizes (inputs : list nat) (layers : list layer) : list nat :=
  match layers with
  | nil => nil
  | L :: rest => nnz (nodes L) inputs (weight L) :: sizes (nodes L) rest
  end.

Lemma moves_by_paths layers : forall inputs c x y delta,
  (forall L, In L layers -> admissible L) ->
  (forall i, In i inputs -> Rabs (x i - y i) <= c i * delta) ->
  forall j, In j (outputs inputs layers) ->
  Rabs (run inputs layers x j - run inputs layers y j) <= paths inputs layers c j * delta.
Proof.
  induction layers as [| L rest IH]; intros inputs c x y delta Hadm H j Hj; simpl in *; [auto |].
  apply IH; auto. intros i _. destruct (Hadm L (or_introl eq_refl)) as [Hw Hs].
  eapply Rle_trans; [apply Hs |].
  replace (_ + _ - _) with (sum inputs (fun k => weight L i k * x k) - sum inputs (fun k => weight L i k * y k))
    by ring.
  rewrite <- sum_minus. eapply Rle_trans; [apply sum_abs |].
  rewrite Rmult_comm, <- sum_scal. apply sum_le. intros k Hk. rewrite <- Rmult_minus_distr_l.
  eapply Rle_trans; [apply weight_le_nonzero, Hw |].
  specialize (H k Hk). destruct (nonzero_range (weight L i k)). nra.
Qed.

(** The product of the sizes of the second, fourth, ... layer. *)
Fixpoint even_product (s : list nat) : R :=
  match s with _ :: m :: rest => INR m * even_product rest | _ => 1 end.

Lemma even_product_nonneg s : 0 <= even_product s.
Proof.
  assert (H : forall n s, (length s <= n)%nat -> 0 <= even_product s); [| exact (H _ s (le_n _))].
  induction n as [| n IH]; intros [| a [| m t]] Hn; simpl in *; try lra; try lia.
  apply Rmult_le_pos; [apply pos_INR | apply IH; lia].
Qed.

(** A path is fixed by its first node and its edges in the layers 2, 4, ... *)
Lemma paths_le_even_product : forall n layers inputs c j,
  (length layers <= n)%nat -> (forall i, 0 <= c i) -> In j (outputs inputs layers) ->
  paths inputs layers c j <= even_product (sizes inputs layers) * sum inputs c.
Proof.
  assert (row : forall inputs (c w : nat -> R), (forall i, 0 <= c i) ->
    sum inputs (fun i => nonzero (w i) * c i) <= sum inputs c).
  { intros inputs c w Hc. apply sum_le. intros i _. pose proof (nonzero_range (w i)). specialize (Hc i). nra. }
  assert (pos : forall inputs (c w : nat -> R), (forall i, 0 <= c i) -> 0 <= sum inputs (fun i => nonzero (w i) * c i)).
  { intros inputs c w Hc. apply sum_nonneg. intros i _. apply Rmult_le_pos; [apply nonzero_range | auto]. }
  induction n as [| n IH]; intros [| L1 [| L2 rest]] inputs c j Hn Hc Hj; simpl in Hn; try lia; simpl.
  1, 2: rewrite Rmult_1_l; apply sum_term; auto.
  - rewrite Rmult_1_l. auto.
  - set (c1 := fun j => sum inputs (fun i => nonzero (weight L1 j i) * c i)).
    set (c2 := fun j => sum (nodes L1) (fun i => nonzero (weight L2 j i) * c1 i)).
    assert (two_layers : sum (nodes L2) c2 <= INR (nnz (nodes L2) (nodes L1) (weight L2)) * sum inputs c).
    { rewrite nnz_eq, Rmult_comm, <- sum_scal. apply sum_le. intros k _. unfold c2.
      rewrite <- sum_scal. apply sum_le. intros i _. rewrite Rmult_comm.
      apply Rmult_le_compat_r; [apply nonzero_range | apply row, Hc]. }
    eapply Rle_trans; [apply (IH rest (nodes L2) c2 j); [lia | | exact Hj] |].
    + intros k. apply pos. intros i. apply pos, Hc.
    + rewrite (Rmult_comm (INR _)), Rmult_assoc.
      apply Rmult_le_compat_l; [apply even_product_nonneg | exact two_layers].
Qed.

(** *** Arithmetic and geometric mean *)

Lemma mean_inequality (A : R) : 0 < A -> forall l : list R, (forall x, In x l -> 0 <= x) ->
  fold_right Rmult 1 l <= A ^ length l * exp (sum l (fun x => x) / A - INR (length l)).
Proof.
  intros HA l. induction l as [| x l IH]; intros Hl.
  - simpl. replace (0 / A - 0) with 0 by (field; lra). rewrite exp_0. lra.
  - cbn [fold_right length sum pow]. rewrite S_INR.
    replace ((x + sum l (fun x => x)) / A - (INR (length l) + 1)) with
      (x / A - 1 + (sum l (fun x => x) / A - INR (length l))) by (field; lra).
    rewrite exp_plus.
    pose proof (exp_ineq1_le (x / A - 1)).
    assert (Hx : x <= A * exp (x / A - 1)).
    { apply Rle_trans with (A * (x / A)); [right; field; lra | apply Rmult_le_compat_l; lra]. }
    assert (IH' := IH (fun y Hy => Hl y (or_intror Hy))). specialize (Hl x (or_introl eq_refl)).
    assert (0 <= A ^ length l * exp (sum l (fun x => x) / A - INR (length l)))
      by (apply Rmult_le_pos; [apply pow_le; lra | apply Rlt_le, exp_pos]).
    apply Rle_trans with (x * (A ^ length l * exp (sum l (fun x => x) / A - INR (length l)))).
    + apply Rmult_le_compat_l; assumption.
    + apply Rle_trans with ((A * exp (x / A - 1)) * (A ^ length l * exp (sum l (fun x => x) / A - INR (length l))));
        [apply Rmult_le_compat_r; assumption | right; ring].
Qed.

Lemma mean_inequality_bound (l : list R) S : (0 < length l)%nat -> (forall x, In x l -> 0 <= x) ->
  sum l (fun x => x) <= S -> fold_right Rmult 1 l <= (S / INR (length l)) ^ length l.
Proof.
  intros Hk Hl HS. pose proof (lt_0_INR _ Hk) as Hk'.
  assert (HS0 : 0 <= S) by (pose proof (sum_nonneg l (fun x => x) Hl); lra).
  destruct (Rle_lt_or_eq_dec 0 S HS0) as [HS' | <-].
  - assert (HA : 0 < S / INR (length l)) by (apply Rdiv_lt_0_compat; lra).
    eapply Rle_trans; [exact (mean_inequality _ HA l Hl) |].
    rewrite <- (Rmult_1_r ((S / INR (length l)) ^ length l)) at 2.
    apply Rmult_le_compat_l; [apply pow_le; lra |]. rewrite <- exp_0.
    assert (sum l (fun x => x) / (S / INR (length l)) - INR (length l) <= 0) as [H | ->]; [| | lra].
    + assert (sum l (fun x => x) / (S / INR (length l)) <= INR (length l)); [| lra].
      apply div_le; [exact HA |]. replace (INR (length l) * (S / INR (length l))) with S by (field; lra). lra.
    + left. apply exp_increasing, H.
  - destruct l as [| x l]; [simpl in Hk; lia |]. simpl in HS |- *.
    pose proof (Hl x (or_introl eq_refl)).
    pose proof (sum_nonneg l (fun x => x) (fun y Hy => Hl y (or_intror Hy))).
    replace x with 0 by lra. unfold Rdiv. rewrite !Rmult_0_l. lra.
Qed.

Lemma even_product_le s : (2 <= length s)%nat ->
  let k := (length s / 2)%nat in
  even_product s <= (INR (fold_right Nat.add 0%nat s) / INR k) ^ k.
Proof.
  assert (H : forall n s, (length s <= n)%nat -> exists l : list R,
    length l = (length s / 2)%nat /\ (forall x, In x l -> 0 <= x) /\
    even_product s = fold_right Rmult 1 l /\ sum l (fun x => x) <= INR (fold_right Nat.add 0%nat s)).
  { induction n as [| n IH]; intros [| a [| m t]] Hn; simpl in Hn; try lia;
      try (exists nil; cbn; repeat split; try easy; try lra; apply pos_INR).
    destruct (IH t ltac:(lia)) as (l & E & Hl & Ep & Hs). exists (INR m :: l). repeat split.
    - simpl length at 1. rewrite E. replace (length (a :: m :: t)) with (length t + 1 * 2)%nat by (simpl; lia).
      rewrite Nat.div_add by lia. lia.
    - intros x [<- | Hx]; [apply pos_INR | auto].
    - simpl. congruence.
    - simpl. rewrite !plus_INR. pose proof (pos_INR a). lra. }
  intros H2 k. destruct (H _ s (le_n _)) as (l & E & Hl & -> & Hs). subst k. rewrite <- E.
  apply mean_inequality_bound; auto. rewrite E. apply Nat.div_str_pos. lia.
Qed.

(** N5, ell layers: with M non-zero weights in all, a network on E inputs has at most
    E (M/floor(ell/2))^floor(ell/2) paths to an output, and moves by at most that times |Delta|_inf. *)
Theorem deep_capacity inputs layers x y delta j :
  let ell := length layers in let k := (ell / 2)%nat in
  let M := fold_right Nat.add 0%nat (sizes inputs layers) in
  let count := paths inputs layers (fun _ => 1) j in
  (2 <= ell)%nat -> (forall L, In L layers -> admissible L) ->
  (forall i, In i inputs -> Rabs (x i - y i) <= delta) -> In j (outputs inputs layers) ->
  Rabs (run inputs layers x j - run inputs layers y j) <= count * delta /\
  count <= INR (length inputs) * (INR M / INR k) ^ k.
Proof.
  intros ell k M count Hell Hadm Hd Hj. split.
  - apply moves_by_paths; auto. intros i Hi. rewrite Rmult_1_l. auto.
  - eapply Rle_trans; [apply (paths_le_even_product ell); auto; intros; lra |].
    rewrite sum_const, Rmult_1_r, Rmult_comm. apply Rmult_le_compat_l; [apply pos_INR |].
    assert (E : length (sizes inputs layers) = ell).
    { unfold ell. clear. revert inputs. induction layers as [| L rest IH]; intros; simpl; congruence. }
    unfold k. rewrite <- E. apply even_product_le. lia.
Qed.

(** N5, even depth: there a path is fixed by its edges in the layers 1, 3, ..., so the factor E is not needed: at most
    (M/f)^f paths for ell = 2 f. *)
Fixpoint odd_product (s : list nat) : R :=
  match s with m :: _ :: rest => INR m * odd_product rest | _ => 1 end.

Lemma odd_product_rotated s : Nat.Even (length s) -> odd_product s = even_product (0%nat :: s).
Proof.
  assert (H : forall n s, (length s <= n)%nat -> Nat.Even (length s) -> odd_product s = even_product (0%nat :: s)).
  { induction n as [| n IH]; intros [| a [| m t]] Hn Heven; cbn [length] in *; try lia; try reflexivity.
    - destruct Heven as [k Hk]. lia.
    - cbn [odd_product]. rewrite IH; [| lia | destruct Heven as [k Hk]; exists (k - 1)%nat; lia].
      destruct t; reflexivity. }
  intros Heven. exact (H _ s (le_n _) Heven).
Qed.

Lemma paths_le_odd_product : forall n layers inputs c B j, (length layers <= n)%nat -> Nat.Even (length layers) ->
  0 <= B -> (forall i, 0 <= c i <= B) -> In j (outputs inputs layers) ->
  paths inputs layers c j <= odd_product (sizes inputs layers) * B.
Proof.
  induction n as [| n IH]; intros [| L1 [| L2 rest]] inputs c B j Hn Heven HB Hc Hj; cbn [length] in Hn, Heven; try lia;
    try (destruct Heven as [k Hk]; lia); simpl; try (rewrite Rmult_1_l; apply Hc).
  set (c1 := fun j => sum inputs (fun i => nonzero (weight L1 j i) * c i)).
  set (N1 := INR (nnz (nodes L1) inputs (weight L1))).
  assert (first : forall k, 0 <= sum (nodes L1) (fun i => nonzero (weight L2 k i) * c1 i) <= N1 * B).
  { intros k. assert (c1_pos : forall i, 0 <= c1 i).
    { intros i. apply sum_nonneg. intros i' _. pose proof (nonzero_range (weight L1 i i')). specialize (Hc i'). nra. }
    split; [apply sum_nonneg; intros i _; pose proof (nonzero_range (weight L2 k i)); specialize (c1_pos i); nra |].
    unfold N1. rewrite nnz_eq, Rmult_comm, <- sum_scal. apply sum_le. intros i _.
    pose proof (nonzero_range (weight L2 k i)). apply Rle_trans with (c1 i); [specialize (c1_pos i); nra |].
    unfold c1. rewrite <- sum_scal. apply sum_le. intros i' _.
    pose proof (nonzero_range (weight L1 i i')). specialize (Hc i'). nra. }
  replace (N1 * odd_product (sizes (nodes L2) rest) * B) with (odd_product (sizes (nodes L2) rest) * (N1 * B)) by ring.
  apply IH; [lia | destruct Heven as [k Hk]; exists (k - 1)%nat; lia | | exact first | exact Hj].
  apply Rmult_le_pos; [apply pos_INR | exact HB].
Qed.

Theorem deep_capacity_even inputs layers f j : length layers = (2 * f)%nat -> (0 < f)%nat ->
  In j (outputs inputs layers) ->
  paths inputs layers (fun _ => 1) j <= (INR (fold_right Nat.add 0%nat (sizes inputs layers)) / INR f) ^ f.
Proof.
  intros Hell Hf Hj.
  assert (E : length (sizes inputs layers) = (2 * f)%nat).
  { rewrite <- Hell. clear. revert inputs. induction layers as [| L rest IH]; intros; simpl; congruence. }
  eapply Rle_trans.
  - apply (paths_le_odd_product _ layers inputs _ 1 j (le_n _)); [exists f; exact Hell | lra | intros; lra | exact Hj].
  - rewrite Rmult_1_r, odd_product_rotated by (exists f; exact E).
    pose proof (even_product_le (0%nat :: sizes inputs layers)) as H. cbn [length fold_right] in H. rewrite E in H.
    replace (S (2 * f) / 2)%nat with f in H; [apply H; lia |].
    rewrite <- (Nat.div_unique (S (2 * f)) 2 f 1); lia.
Qed.

(** N5, the bound of T2.2 with ell layers: an output gap eps on inputs C eps^(kappa+1) apart needs
    M >= c eps^(-kappa/floor(ell/2)), c = floor(ell/2) (E C)^(-1/floor(ell/2)). *)
Theorem deep_weights inputs layers x y j eps C kappa :
  let k := (length layers / 2)%nat in
  let M := fold_right Nat.add 0%nat (sizes inputs layers) in
  (2 <= length layers)%nat -> (forall L, In L layers -> admissible L) -> In j (outputs inputs layers) ->
  (0 < length inputs)%nat -> 0 < eps -> 0 < C ->
  (forall i, In i inputs -> Rabs (x i - y i) <= C * Rpower eps (kappa + 1)) ->
  eps <= Rabs (run inputs layers x j - run inputs layers y j) ->
  INR k * Rpower (INR (length inputs) * C) (- / INR k) * Rpower eps (- (kappa / INR k)) <= INR M.
Proof.
  intros k M Hell Hadm Hj HE Heps HC Hd Hgap.
  destruct (deep_capacity inputs layers x y _ j Hell Hadm Hd Hj) as [H1 H2]. fold k M in H2.
  assert (Hk : (0 < k)%nat) by (apply Nat.div_str_pos; lia).
  pose proof (lt_0_INR _ Hk) as Hk'. pose proof (lt_0_INR _ HE) as HE'.
  set (d := C * Rpower eps (kappa + 1)) in *.
  assert (Hpow : forall a b, 0 < Rpower a b) by (intros; apply exp_pos).
  assert (Hdpos : 0 < d) by (apply Rmult_lt_0_compat; auto).
  set (E := INR (length inputs)) in *.
  assert (H3 : eps / (E * d) <= (INR M / INR k) ^ k).
  { apply div_le; [apply Rmult_lt_0_compat; lra |].
    apply (Rmult_le_compat_r d) in H2; lra. }
  assert (HM : 0 < INR M / INR k).
  { destruct (Rle_lt_or_eq_dec 0 (INR M / INR k)) as [| E0]; [apply div_nonneg; auto using pos_INR | assumption |].
    rewrite <- E0, pow_i in H3 by exact Hk.
    pose proof (Rdiv_lt_0_compat eps (E * d) Heps ltac:(apply Rmult_lt_0_compat; lra)). lra. }
  rewrite <- Rpower_pow in H3 by exact HM.
  replace (eps / (E * d)) with (Rpower (E * C) (-1) * Rpower eps (- kappa)) in H3.
  2: { unfold d. change (-1) with (- (1)). rewrite !Rpower_Ropp, Rpower_plus, !Rpower_1 by nra.
       field. repeat split; apply Rgt_not_eq; first [apply Hpow | lra]. }
  assert (H4 : Rpower (E * C) (- / INR k) * Rpower eps (- (kappa / INR k)) <= INR M / INR k).
  { replace (INR M / INR k) with (Rpower (Rpower (INR M / INR k) (INR k)) (/ INR k))
      by (rewrite Rpower_mult, Rinv_r, Rpower_1; lra).
    replace (Rpower (E * C) (- / INR k) * Rpower eps (- (kappa / INR k))) with
      (Rpower (Rpower (E * C) (-1) * Rpower eps (- kappa)) (/ INR k)).
    + apply Rle_Rpower_l; [left; apply Rinv_0_lt_compat, Hk' |].
      split; [apply Rmult_lt_0_compat; apply Hpow | exact H3].
    + rewrite <- Rpower_mult_distr, !Rpower_mult by apply Hpow. f_equal; f_equal; field; lra. }
  apply (Rmult_le_compat_l (INR k)) in H4; [| lra].
  replace (INR k * (INR M / INR k)) with (INR M) in H4 by (field; lra). lra.
Qed.
