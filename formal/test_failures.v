(** Wrong variants of the theorems must fail: either the negation is proved, or the proof of the
    right statement does not prove the wrong one ([Fail]). *)

From Coq Require Import Reals List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Headcount Require Import Sums Algebra Cells ReadoutCapacity Counting Softmax Gate Budget.
From Headcount Require Import LogSumExp ReadoutError Composition Density OuterMap.
From Headcount Require Selector.
Import ListNotations.
Open Scope R_scope.

(** ** Algebra *)

(** T2.2-24 with the sign of the first term flipped. *)
Goal ~ forall Q1 Q2 Q3 V1 V2 V3 : R, Q1 + Q3 <> 0 -> Q2 + Q3 <> 0 ->
  (Q1 * V1 + Q3 * V3) / (Q1 + Q3) - (Q2 * V2 + Q3 * V3) / (Q2 + Q3) =
  Q3 * (Q1 - Q2) * (V3 - V2) / ((Q1 + Q3) * (Q2 + Q3)) + Q1 * (V1 - V2) / (Q1 + Q3).
Proof. intros H. specialize (H 1 2 1 0 0 1 ltac:(lra) ltac:(lra)). lra. Qed.

(** T2.2-24 without non-zero denominators (division by zero gives 0 in this formalisation). *)
Goal ~ forall Q1 Q2 Q3 V1 V2 V3 : R, Q1 + Q3 <> 0 ->
  (Q1 * V1 + Q3 * V3) / (Q1 + Q3) - (Q2 * V2 + Q3 * V3) / (Q2 + Q3) =
  Q3 * (Q2 - Q1) * (V3 - V2) / ((Q1 + Q3) * (Q2 + Q3)) + Q1 * (V1 - V2) / (Q1 + Q3).
Proof.
  intros H. specialize (H 1 (-1) 1 0 0 1 ltac:(lra)).
  replace (-1 + 1) with 0 in H by ring. replace (1 + 1) with 2 in H by ring.
  rewrite (Rmult_0_r 2) in H. unfold Rdiv in H. rewrite !Rinv_0 in H. lra.
Qed.

(** The absolute value is a seminorm on one coordinate. *)
Lemma abs_seminorm : seminorm (fun x : unit -> R => Rabs (x tt)).
Proof. split; intros; [apply Rabs_triang | apply Rabs_mult]. Qed.

(** T2.2-40 with the constant 1/2 in place of 1: refuted at e = 4. *)
Goal ~ forall (N : (unit -> R) -> R) Q1 Q2 Q3 Q4 e V1 V2 V4,
  seminorm N -> 0 < Q1 -> 0 < Q2 -> 0 <= Q3 -> 0 < Q4 -> 0 <= e ->
  N V1 <= 1 -> N V2 <= 1 -> N V4 <= 1 ->
  Q1 + Q3 <= e / 4 * Q4 -> Q2 + Q3 <= e / 4 * Q4 ->
  N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= e / 8.
Proof.
  intros H. specialize (H _ 1 1 0 1 4 (fun _ => 1) (fun _ => -1) (fun _ => 0) abs_seminorm).
  unfold mix in H. rewrite !Rabs_R0, Rabs_R1, (Rabs_left (-1)), (Rabs_right _) in H by lra. lra.
Qed.

(** T2.2-31 with 7 in place of 6: refuted at sums of weights 101 and 100, values 1 and -1. *)
Goal ~ forall (N : (unit -> R) -> R) Q1 Q2 Q3 T0 e V2 V3,
  seminorm N -> 0 < Q1 -> 0 < Q2 -> 0 <= Q3 -> 1 <= T0 -> 0 <= e -> N V2 <= 1 -> N V3 <= 1 ->
  / (1 + e / (12 * T0 ^ 2)) <= (Q1 + Q3) / (Q2 + Q3) <= 1 + e / (12 * T0 ^ 2) ->
  N (fun i => Q3 * (Q2 - Q1) * (V3 i - V2 i) / ((Q1 + Q3) * (Q2 + Q3))) <= e / (7 * T0 ^ 2).
Proof.
  intros H. specialize (H _ 2 1 99 1 (12 / 100) (fun _ => -1) (fun _ => 1) abs_seminorm). cbv beta in H.
  rewrite Rabs_R1, (Rabs_left (-1)) in H by lra. rewrite Rabs_left in H by lra. lra.
Qed.

(** T2.2-46 in the Euclidean norm without sqrt(E): refuted by one head of dimension 2 and W_O of ones. *)
Goal ~ forall (w : bool -> bool -> R) (delta : bool -> R) e, 0 <= e -> (forall j c, Rabs (w j c) <= 1) ->
  sqrt (sum [true; false] (fun c => delta c ^ 2)) <= e ->
  sqrt (sum [true; false] (fun j => sum [true; false] (fun c => w j c * delta c) ^ 2)) <= sqrt 2 * e.
Proof.
  intros H. specialize (H (fun _ _ => 1) (fun _ => 1) (sqrt 2) (sqrt_pos 2)). cbn [sum] in H.
  rewrite sqrt_sqrt in H by lra. assert (wrong : sqrt 8 <= 2).
  - replace 8 with ((1 * 1 + (1 * 1 + 0)) ^ 2 + ((1 * 1 + (1 * 1 + 0)) ^ 2 + 0)) by ring.
    apply H; [intros; rewrite Rabs_R1; lra |]. right. f_equal. ring.
  - apply (Rmult_le_compat (sqrt 8) 2 (sqrt 8) 2) in wrong; try apply sqrt_pos; try exact wrong.
    rewrite sqrt_sqrt in wrong; lra.
Qed.

(** T2.2-36 without T2.2-count3 (the other positions contain the maximal weight). *)
Goal ~ forall (N : (unit -> R) -> R) Q1 Q2 Q3 Q4 T0 e V1 V2 V3 V4,
  seminorm N -> 0 < Q1 -> 0 < Q2 -> 0 <= Q3 -> 0 < Q4 -> 1 <= T0 -> 0 <= e ->
  N V1 <= 1 -> N V2 <= 1 -> N V3 <= 1 -> N V4 <= 1 ->
  / (1 + e / (12 * T0 ^ 2)) <= (Q1 + Q3) / (Q2 + Q3) <= 1 + e / (12 * T0 ^ 2) ->
  N (fun i => mix Q1 V1 Q3 V3 i - mix Q2 V2 Q3 V3 i) <= e / (3 * T0) ->
  N (fun i => mix Q1 V1 Q4 V4 i - mix Q2 V2 Q4 V4 i) <= e.
Proof.
  (* one differing position of weight 1 among common ones of weight 99: the averages differ by 2/100,
     without the common ones by almost 2 *)
  intros H. specialize (H _ 1 1 99 (1 / 99) 1 (6 / 100) (fun _ => 1) (fun _ => -1) (fun _ => 0) (fun _ => 0)
    abs_seminorm). unfold mix in H.
  rewrite !Rabs_R0, Rabs_R1, (Rabs_left (-1)), !Rabs_right in H by lra. lra.
Qed.

(** T2.2-Q4 as published, Q4 >= (Q1 + Q2)/T0: refuted with all free weights maximal. *)
Goal ~ forall Q1 Q2 Q3 Q4 T0, 0 < T0 -> 0 <= Q3 -> (Q1 + Q3) / T0 <= Q4 -> (Q2 + Q3) / T0 <= Q4 ->
  (Q1 + Q2) / T0 <= Q4.
Proof. intros H. specialize (H 1 1 0 1 1). lra. Qed.

(** T2.2-46 as published, s e: refuted with one head of dimension 2 and W_O of ones. *)
Goal ~ forall (heads coordinates : list nat) (w delta : nat -> nat -> R) e,
  (forall h c, Rabs (w h c) <= 1) ->
  (forall h, In h heads -> sqrt (sum coordinates (fun c => delta h c ^ 2)) <= e) ->
  Rabs (sum heads (fun h => sum coordinates (fun c => w h c * delta h c))) <= INR (length heads) * e.
Proof.
  intros H. specialize (H [0%nat] [0%nat; 1%nat] (fun _ _ => 1) (fun _ _ => 1) (sqrt 2)).
  assert (Hs : sqrt 2 < 2) by (rewrite <- (sqrt_pow2 2) at 2 by lra; apply sqrt_lt_1; lra).
  assert (W : forall h c : nat, Rabs 1 <= 1) by (intros; rewrite Rabs_R1; lra).
  specialize (H W). simpl in H. rewrite Rabs_right in H by lra.
  assert (1 * 1 + (1 * 1 + 0) + 0 <= 1 * sqrt 2); [apply H; intros; right; f_equal; ring | lra].
Qed.

(** N4 step 5 with y_1 in place of y_2 in the identity. *)
Goal forall Lambda a1 a2 q1 q2 C K : R,
  let Q1 := Lambda * q1 + K in let Q2 := Lambda * q2 + K in
  let y1 := (Lambda * a1 + C) / Q1 in let y2 := (Lambda * a2 + C) / Q2 in
  Q1 <> 0 -> Q2 <> 0 -> y1 - y2 = (Lambda * (a1 - a2) - y1 * (Lambda * (q1 - q2))) / Q1.
Proof. intros. subst y1 y2 Q1 Q2. Fail (field; auto). Abort.

(** N4 step 5 with Lambda larger than every weight on the other positions (hypothesis dropped): two
    sequences of one free position, in one of 10 cells as Lambda = 100, with outputs 1 and -1. *)
Goal exists (lambda v : bool -> unit -> R) (z1 z2 : unit -> bool) (Lambda : R),
  (forall x p, 0 < lambda x p) /\ (forall x p, Rabs (v x p) <= sqrt (INR 1)) /\
  (forall x p, lambda x p <= Lambda) /\
  Rabs (value_sum lambda v [tt] z1 / Lambda - value_sum lambda v [tt] z2 / Lambda)
    <= 2 * sqrt (INR 1) * INR 1 / INR 10 /\
  Rabs (weight_sum lambda [tt] z1 / Lambda - weight_sum lambda [tt] z2 / Lambda) <= INR 1 / INR 10 /\
  ~ Rabs (head_output lambda v [tt] [] z1 - head_output lambda v [tt] [] z2)
    <= 3 * sqrt (INR 1) * INR 1 / INR 10.
Proof.
  exists (fun _ _ => 1), (fun (x : bool) _ => if x then 1 else -1), (fun _ => true), (fun _ => false), 100.
  unfold head_output, value_sum, weight_sum. cbn [sum app].
  replace (INR 1) with 1 by reflexivity. replace (INR 10) with 10 by (simpl; ring). rewrite sqrt_1.
  repeat split; intros; try destruct x; try (apply Rabs_le); try lra.
  intros H. apply Rabs_le_between in H. lra.
Qed.

(** N4 step 5 with the constant 1/2 in place of 3, all hypotheses kept. *)
Goal exists (lambda v : bool -> bool -> R) (w1 w2 : bool -> bool),
  (forall x p, 0 < lambda x p) /\ (forall x p, Rabs (v x p) <= sqrt (INR 1)) /\
  w1 true = w2 true /\ lambda (w1 true) true = 1 /\
  Rabs (value_sum lambda v [false] w1 / 1 - value_sum lambda v [false] w2 / 1)
    <= 2 * sqrt (INR 1) * INR 1 / INR 1 /\
  Rabs (weight_sum lambda [false] w1 / 1 - weight_sum lambda [false] w2 / 1) <= INR 1 / INR 1 /\
  ~ Rabs (head_output lambda v [false] [true] w1 - head_output lambda v [false] [true] w2)
    <= / 2 * sqrt (INR 1) * INR 1 / INR 1.
Proof.
  exists (fun _ _ => 1), (fun (x : bool) _ => if x then 1 else -1), (fun _ => true), (fun p => p).
  unfold head_output, value_sum, weight_sum. cbn [sum app].
  replace (INR 1) with 1 by reflexivity. rewrite sqrt_1.
  repeat split; intros; try destruct x; try (apply Rabs_le); try lra.
  intros H. apply Rabs_le_between in H. lra.
Qed.

(** ** Read-out capacity and counting *)

(** N5: the constant 1 cannot be lowered to 1/2 (one ReLU-free unit of weight 1). *)
Goal ~ forall units inputs U W shift offset sigma v1 v2 delta,
  (forall j i, Rabs (U j i) <= 1) -> (forall j, Rabs (W j) <= 1) -> (forall j, one_lipschitz (sigma j)) ->
  (forall i, In i inputs -> Rabs (v1 i - v2 i) <= delta) ->
  Rabs (two_layer units inputs U W shift offset sigma v1 - two_layer units inputs U W shift offset sigma v2)
  <= INR (nnz units inputs U) * delta / 2.
Proof.
  intros H. specialize (H [0%nat] [0%nat] (fun _ _ => 1) (fun _ => 1) (fun _ => 0) 0 (fun _ x => x)
    (fun _ => 1) (fun _ => 0) 1). rewrite nnz_eq in H. unfold two_layer, nonzero in H. simpl in H.
  destruct (Req_EM_T 1 0); [lra |]. rewrite !(Rabs_right 1), !Rabs_right in H by lra.
  assert (0 + (1 * (1 * 1 + 0 + 0) + 0) - (0 + (1 * (1 * 0 + 0 + 0) + 0)) <= (1 + 0 + 0) * 1 / 2);
    [apply H; try (intros; lra); intros j x y; lra | lra].
Qed.

(** N5 without the bound on the output weights. *)
Goal ~ forall units inputs U W shift offset sigma v1 v2 delta,
  (forall j i, Rabs (U j i) <= 1) -> (forall j, one_lipschitz (sigma j)) ->
  (forall i, In i inputs -> Rabs (v1 i - v2 i) <= delta) ->
  Rabs (two_layer units inputs U W shift offset sigma v1 - two_layer units inputs U W shift offset sigma v2)
  <= INR (nnz units inputs U) * delta.
Proof.
  intros H. specialize (H [0%nat] [0%nat] (fun _ _ => 1) (fun _ => 2) (fun _ => 0) 0 (fun _ x => x)
    (fun _ => 1) (fun _ => 0) 1). rewrite nnz_eq in H. unfold two_layer, nonzero in H. simpl in H.
  destruct (Req_EM_T 1 0); [lra |]. rewrite !(Rabs_right 1), !Rabs_right in H by lra.
  assert (0 + (2 * (1 * 1 + 0 + 0) + 0) - (0 + (2 * (1 * 0 + 0 + 0) + 0)) <= (1 + 0 + 0) * 1);
    [apply H; try (intros; lra); intros j x y; lra | lra].
Qed.

(** T2.2-count4: T_0 >= (k+1) n s + (k+1) s + 2 does not follow. *)
Goal ~ forall n s T0, let k := published_exponent n s T0 in
  0 <= k -> (k + 1) * INR n * INR s + (k + 1) * INR s + 2 <= T0.
Proof.
  intros H. specialize (H 0%nat 0%nat 1). unfold published_exponent in H. simpl in H.
  replace (1 / ((0 + 1) * 0 + 1) - 1) with 0 in H by field. lra.
Qed.

(** C1: the constant 1/11 > 5/56 is too large. *)
Goal ~ forall (D1 D2 : nat) (T : R), (1 <= D1 < D2)%nat -> INR D1 ^ 2 + INR D2 ^ 2 <= T / 11 ->
  INR (Nat.max D1 D2) < C1_exponent D1 D2 T.
Proof. intros H. specialize (H 1%nat 2%nat 55 ltac:(lia)). unfold C1_exponent in H. simpl in H. lra. Qed.

(** C1: the published constant does not give gamma = max(d, D_2) for d = 20. *)
Goal ~ forall (D1 D2 : nat) (T : R), (1 <= D1 < D2)%nat -> INR D1 ^ 2 + INR D2 ^ 2 <= T / 50 ->
  INR (Nat.max 20 D2) < C1_exponent D1 D2 T.
Proof.
  intros H. specialize (H 1%nat 2%nat 250 ltac:(lia)). unfold C1_exponent in H.
  replace (INR (Nat.max 20 2)) with 20 in H by (simpl; ring). simpl in H. lra.
Qed.

(** N6: "iff T > 4((n+1)s + D)" is wrong. *)
Goal ~ forall n s D T,
  0 < published_exponent n s (T / 4 - INR s - D + 1) <-> 4 * ((INR n + 1) * INR s + D) < T.
Proof.
  intros H. specialize (H 0%nat 1%nat 1 12). unfold published_exponent in H. simpl in H. lra.
Qed.

(** ** Softmax *)

(** N1 with W((N-2)/e): two numbers 0 and b > 0 have a positive gap. *)
Goal ~ forall beta (l : list nat) a m u, 0 < beta -> is_min l a m ->
  lambert ((INR (length l) - 2) / exp 1) u -> gibbs beta l a - m <= u / beta.
Proof.
  intros H. specialize (H 1 [0%nat; 1%nat] (fun t => INR t) 0 0 ltac:(lra)).
  assert (gibbs 1 [0%nat; 1%nat] (fun t => INR t) - 0 <= 0 / 1).
  - apply H.
    + split; [exists 0%nat; simpl; auto |]. intros t _. apply pos_INR.
    + unfold lambert. simpl. field. apply Rgt_not_eq, exp_pos.
  - assert (0 < gibbs 1 [0%nat; 1%nat] (fun t => INR t)); [| lra].
    unfold gibbs, attention. pose proof (exp_pos (1 * - INR 0)). pose proof (exp_pos (1 * - INR 1)).
    simpl in *. apply Rdiv_lt_0_compat; lra.
Qed.

(** N1, attainment without beta >= 1 + u: with two numbers and beta = 1 the maximiser leaves [0,1]. *)
Goal ~ forall beta N u, (1 <= N)%nat -> lambert ((INR N - 1) / exp 1) u -> 0 < beta ->
  forall t, 0 <= one_below (1 + u) beta t <= 1.
Proof.
  intros H. destruct (lambert_exists_unique ((INR 2 - 1) / exp 1)) as (u & Hu & _).
  - pose proof (exp_pos 1). apply div_nonneg; simpl; lra.
  - specialize (H 1 2%nat u ltac:(lia) Hu ltac:(lra) 1%nat). simpl in H.
    assert (0 < u); [| lra]. apply lambert_count in Hu. simpl in Hu. pose proof (exp_pos (1 + u)). nra.
Qed.

(** The Lambert value needs z >= 0 (or at least z >= -1/e): none exists at z = -1. *)
Goal ~ forall z, exists u, lambert z u.
Proof.
  intros H. destruct (H (-1)) as (u & Hu). unfold lambert in Hu.
  (* u e^u = -1 would give -u = e^-u >= 1 - u *)
  pose proof (exp_ineq1_le (- u)). pose proof (exp_pos u).
  assert (E : exp u * exp (- u) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (- u = exp (- u)) by nra. lra.
Qed.

(** T2.1-gibbs with |S| - 2 in place of |S| - 1. *)
Goal ~ forall beta (l : list nat) a m, 0 < beta -> is_min l a m ->
  gibbs beta l a <= m + (INR (length l) - 2) / (exp 1 * beta).
Proof.
  intros H. specialize (H 1 [0%nat; 1%nat] (fun t => INR t) 0 ltac:(lra)).
  assert (gibbs 1 [0%nat; 1%nat] (fun t => INR t) <= 0 + (INR 2 - 2) / (exp 1 * 1)).
  - apply H. split; [exists 0%nat; simpl; auto |]. intros t _. apply pos_INR.
  - replace ((INR 2 - 2) / (exp 1 * 1)) with 0 in H0
      by (simpl; field; apply Rgt_not_eq, exp_pos).
    assert (0 < gibbs 1 [0%nat; 1%nat] (fun t => INR t)); [| lra].
    unfold gibbs, attention. pose proof (exp_pos (1 * - INR 0)). pose proof (exp_pos (1 * - INR 1)).
    simpl in *. apply Rdiv_lt_0_compat; lra.
Qed.

(** N2 with e^(-beta g) in place of e^(-beta (g-1)): the counterexample's block refutes it at g = 1. *)
Goal ~ forall beta g (S Sc : list nat) a r m u, 0 < beta ->
  (forall t, In t S -> r t = 0) -> (forall t, In t Sc -> r t = - g) ->
  (forall t, In t (S ++ Sc) -> 0 <= a t <= 1) -> is_min S a m ->
  lambert ((INR (length S) - 1) / exp 1) u ->
  Rabs (gated_output beta S Sc a r - m) <= u / beta + INR (length Sc) * exp (- (beta * g)).
Proof.
  intros H. destruct (unit_gate_fails 16) as [E Hm].
  specialize (H 16 1 [1%nat] [2%nat; 3%nat; 4%nat] bad_score bad_gate 1 0 ltac:(lra)).
  rewrite E, (Rabs_left (1 / 4 - 1)) in H by lra.
  assert (- (1 / 4 - 1) <= 0 / 16 + INR 3 * exp (- (16 * 1))).
  - apply H; [| | | exact Hm |].
    + intros t [<- | []]. reflexivity.
    + intros t [<- | [<- | [<- | []]]]; simpl; lra.
    + intros t [<- | [<- | [<- | [<- | []]]]]; simpl; lra.
    + unfold lambert. simpl. field. apply Rgt_not_eq, exp_pos.
  - rewrite exp_Ropp in H0. pose proof (exp_ineq1_le (16 * 1)).
    assert (/ exp (16 * 1) <= / 16) by (apply Rinv_le_contravar; lra). simpl in H0. lra.
Qed.

(** N3 without u = 1 outside S (u = 0 there): the output falls below the minimum. *)
Goal ~ forall beta (S Sc : list nat) psi u m, 0 < beta ->
  (forall t, In t S -> u t = clip (psi t)) -> (forall t, In t Sc -> u t = 0) ->
  is_min S (fun t => clip (psi t)) m -> 0 <= covering_output beta S Sc u - m.
Proof.
  intros H. specialize (H 1 [1%nat] [0%nat] (fun _ => 1) (fun t => INR t) 1 ltac:(lra)).
  assert (E : clip 1 = 1) by (apply clip_id; lra).
  assert (0 <= covering_output 1 [1%nat] [0%nat] (fun t => INR t) - 1).
  - apply H.
    + intros t [<- | []]. simpl. lra.
    + intros t [<- | []]. reflexivity.
    + split; [exists 1%nat; simpl; auto |]. intros. lra.
  - assert (covering_output 1 [1%nat] [0%nat] (fun t => INR t) < 1); [| lra].
    unfold covering_output, gibbs, attention.
    pose proof (exp_pos (1 * - INR 0)). pose proof (exp_pos (1 * - INR 1)). simpl in *.
    apply (Rmult_lt_reg_r (exp (1 * - (1)) + (exp (1 * - 0) + 0))); [lra |]. field_simplify; lra.
Qed.

(** N3's budget with L_0/2 in place of L_0 (F_0 the identity on one coordinate). *)
Goal ~ forall (F0 : (unit -> R) -> R) gradient L0 z w delta,
  continuous_on_cube [tt] F0 -> chain_rule [tt] F0 gradient -> gradient_bound [tt] gradient L0 ->
  cube z -> cube w -> close [tt] z w delta -> 0 <= delta -> Rabs (F0 z - F0 w) <= L0 / 2 * delta.
Proof.
  intros H. specialize (H (fun z => z tt) (fun _ _ => 1) 1 (fun _ => 1) (fun _ => 0) 1).
  simpl in H. rewrite Rabs_right in H by lra. assert (1 - 0 <= 1 / 2 * 1); [apply H | lra].
  - intros z _ eps Heps. exists eps. split; [exact Heps |]. intros w _ Hw. apply Hw. left. reflexivity.
  - intros z w _ _ t _. unfold segment. simpl. auto_derive; [trivial | ring].
  - intros z _. simpl. rewrite Rabs_R1. lra.
  - intros i. lra.
  - intros i. lra.
  - intros i _. rewrite Rabs_right; lra.
  - lra.
Qed.

(** ** N8 and L8 *)

(** N8 with e in place of 2 e: one collision with gap 1 has best error 1/2. *)
Goal ~ forall (X Y : Type) (A : X -> Y) (H : X -> R) e,
  (exists F : Y -> R, forall x, Rabs (F (A x) - H x) <= e) ->
  forall x x', A x = A x' -> Rabs (H x - H x') <= e.
Proof.
  intros Wrong. specialize (Wrong bool unit (fun _ => tt) (fun b => if b then 1 else 0) (1 / 2)).
  simpl in Wrong. assert (Rabs (1 - 0) <= 1 / 2).
  - apply (Wrong ltac:(exists (fun _ => 1 / 2); intros []; apply Rabs_le; lra) true false eq_refl).
  - rewrite Rabs_right in *; lra.
Qed.

(** N8, Lipschitz version, without the term Lam |A(X) - A(X')|. *)
Goal ~ forall (X : Type) (A H : X -> R) Lam e,
  0 <= Lam -> (exists F, lipschitz (fun a b => Rabs (a - b)) Lam F /\ forall x, Rabs (F (A x) - H x) <= e) ->
  forall x x', Rabs (H x - H x') <= 2 * e.
Proof.
  intros Wrong. specialize (Wrong R (fun x => x) (fun x => x) 1 0 ltac:(lra)).
  assert (Rabs (1 - 0) <= 2 * 0).
  - apply Wrong. exists (fun a => a). split; [intros a b; lra |].
    intros x. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - rewrite Rabs_right in *; lra.
Qed.

(** N8, Lipschitz version, with Lam/2 for the distance on the read-out's side. *)
Goal ~ forall (X : Type) (A H : X -> R) Lam e, 0 <= Lam ->
  (forall x x', Rabs (H x - H x') - Lam * Rabs (A x - A x') <= 2 * e) ->
  exists F, lipschitz (fun a b => Rabs (a - b)) (Lam / 2) F /\ forall x, Rabs (F (A x) - H x) <= e.
Proof.
  intros Wrong. destruct (Wrong R (fun x => x) (fun x => x) 1 0) as (F & HF & He); [lra | intros; lra |].
  specialize (HF 1 0). pose proof (He 1) as H1. pose proof (He 0) as H0.
  apply Rabs_le_between in HF. rewrite (Rabs_right (1 - 0)) in HF by lra.
  apply Rabs_le_between in H1. apply Rabs_le_between in H0. lra.
Qed.

(** One pair certifies (gap - M distance)/2, not gap - M distance. *)
Goal ~ forall (X : Type) (A H : X -> R) Lam e x x',
  (exists F, lipschitz (fun a b => Rabs (a - b)) Lam F /\ forall z, Rabs (F (A z) - H z) <= e) ->
  Rabs (H x - H x') - Lam * Rabs (A x - A x') <= e.
Proof.
  intros Wrong. specialize (Wrong bool (fun _ => 0) (fun b => if b then 1 else 0) 0 (1 / 2) true false).
  simpl in Wrong. rewrite (Rabs_right (1 - 0)) in Wrong by lra.
  assert (1 - 0 - 0 * Rabs (0 - 0) <= 1 / 2); [apply Wrong | lra].
  exists (fun _ => 1 / 2). split.
  - intros a b. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - intros []; apply Rabs_le; lra.
Qed.

(** L8 with the factors in the wrong order: x + 1 and 2 x do not commute. *)
Goal ~ forall sigma d (first second : network) x j, first <> [] -> second <> [] ->
  evaluate sigma d (compose second first) x j =
  evaluate sigma (output_width d first) second (evaluate sigma d first x) j.
Proof.
  intros Wrong.
  specialize (Wrong (fun x => x) 1%nat [{| width := 1; matrix := fun _ _ => 1; offset := fun _ => 1 |}]
    [{| width := 1; matrix := fun _ _ => 2; offset := fun _ => 0 |}] (fun _ => 0) 0%nat ltac:(easy) ltac:(easy)).
  unfold evaluate, apply_affine in Wrong. simpl in Wrong. lra.
Qed.

(** L8 with 4 or 6 layers: the composed network has 5. *)
Goal forall first second third : network,
  length first = 2%nat -> length second = 3%nat -> length third = 2%nat ->
  length (compose first (compose second third)) <> 4%nat /\
  length (compose first (compose second third)) <> 6%nat.
Proof.
  intros [| a [| b [|]]] [| c [| d [| e [|]]]] [| f [| g [|]]]; simpl; intros; lia.
Qed.

(** ** Density and the outer map *)

(** L1.2 repaired without phi <= 1: another point with phi = 3 lies below the minimiser. *)
Goal ~ forall (p phi q : bool -> R) delta1 delta2,
  (forall x, p true <= p x) -> (forall x, 0 <= phi x) -> phi true = 1 -> q true = 0 ->
  (forall x, x <> true -> 0 < q x) -> 0 < delta1 -> 0 < delta2 ->
  forall x, x <> true -> bumped p phi q delta1 delta2 true < bumped p phi q delta1 delta2 x.
Proof.
  intros H. specialize (H (fun _ => 0) (fun b => if b then 1 else 3) (fun b => if b then 0 else 1 / 10) 1 1).
  assert (bumped (fun _ => 0) (fun b : bool => if b then 1 else 3) (fun b : bool => if b then 0 else 1 / 10) 1 1 true
          < bumped (fun _ => 0) (fun b : bool => if b then 1 else 3) (fun b : bool => if b then 0 else 1 / 10) 1 1
              false).
  - apply H; try lra; try reflexivity; try easy; try (intros []; try easy; lra).
  - unfold bumped in H0. lra.
Qed.

(** L6 without A2.4: a constant F_0 does not move. *)
Goal ~ forall (F0 : (unit -> R) -> R) (z : unit -> R),
  exists r0 L0, 0 < r0 /\ 0 < L0 /\ forall delta, Rabs delta < r0 ->
  cube (shift (fun _ _ => true) z tt delta) ->
  L0 * Rabs delta <= Rabs (F0 (shift (fun _ _ => true) z tt delta) - F0 z).
Proof.
  intros H. destruct (H (fun _ => 0) (fun _ => 0)) as (r0 & L0 & Hr & HL & H').
  set (d := Rmin (r0 / 2) 1). assert (Hd : 0 < d /\ d < r0 /\ d <= 1).
  { unfold d. repeat split; [apply Rmin_pos; lra | | apply Rmin_r].
    eapply Rle_lt_trans; [apply Rmin_l | lra]. }
  specialize (H' d). rewrite Rabs_right in H' by lra.
  assert (L0 * d <= Rabs (0 - 0)).
  - apply H'; [lra |]. intros []. unfold shift. lra.
  - rewrite Rminus_0_r, Rabs_R0 in H0. assert (0 < L0 * d) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(** N10's constant cannot be 0.277 and N7's chord error is not below 0.123. *)
Goal ~ forall x, x / (1 + exp (x ^ 2)) <= 277 / 1000.
Proof.
  intros H. specialize (H (8596 / 10000)).
  assert (277 / 1000 < 8596 / 10000 / (1 + exp ((8596 / 10000) ^ 2))) by interval. lra.
Qed.

Goal ~ forall a u, 0 < a -> a <= u <= exp 1 * a -> ln u - (ln a + (u / a - 1) / (exp 1 - 1)) <= 123 / 1000.
Proof.
  intros H. specialize (H 1 (172 / 100)). rewrite ln_1 in H.
  replace (172 / 100 / 1) with (172 / 100) in H by field. assert (2 < exp 1) by interval.
  assert (123 / 1000 < ln (172 / 100) - (0 + (172 / 100 - 1) / (exp 1 - 1))) by interval.
  specialize (H ltac:(lra) ltac:(lra)). lra.
Qed.

(** N7's budget with beta = D log T/(2 eps), the grid error left out. *)
Goal ~ forall (y z : unit -> R) (f : unit -> unit -> R) (T : nat) beta eps, (1 < T)%nat -> 0 < eps ->
  is_min [tt] (f tt) (z tt) ->
  Rabs (y tt - - ln (sum [tt] (fun t => exp (- (beta * f tt t)))) / beta) <= 1234 / 10000 / beta ->
  beta = ln (INR T) / 2 / eps ->
  Rabs (y tt + ln (INR T) / (2 * beta) - z tt) <= eps.
Proof.
  intros H. assert (Hlog : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  set (beta := ln 2 / 2). assert (Hb : 0 < beta) by (unfold beta; lra).
  specialize (H (fun _ => 1234 / 10000 / beta) (fun _ => 0) (fun _ _ => 0) 2%nat beta 1 ltac:(lia) ltac:(lra)).
  replace (INR 2) with 2 in H by (simpl; ring).
  assert (E : ln 2 / (2 * beta) = 1) by (unfold beta; field; lra). rewrite E in H.
  assert (P : 0 < 1234 / 10000 / beta) by (apply Rdiv_lt_0_compat; lra).
  rewrite (Rabs_right (1234 / 10000 / beta + 1 - 0)) in H by lra.
  assert (1234 / 10000 / beta + 1 - 0 <= 1); [apply H | lra].
  - split; [exists tt; simpl; auto |]. intros. lra.
  - cbn [sum]. rewrite Rmult_0_r, Ropp_0, exp_0, Rplus_0_r, ln_1.
    replace (1234 / 10000 / beta - - 0 / beta) with (1234 / 10000 / beta) by (field; lra).
    rewrite Rabs_right; lra.
  - unfold beta. field.
Qed.

(** N10: the smooth selector with 0.277 in place of 0.277859, refuted at q = 1, w = v = 0, x = -0.86; *)
Goal ~ forall q w v x, 0 < q -> w <= v ->
  Rabs (Selector.smooth_mean q w v (Rmax x w) (Rmin x v) - x) <= 277 / 1000 / sqrt q.
Proof.
  intros H. specialize (H 1 0 0 (- 86 / 100) ltac:(lra) ltac:(lra)). unfold Selector.smooth_mean in H.
  rewrite Rmax_right, Rmin_left, sqrt_1 in H by lra. apply (Rle_not_lt _ _ H). interval.
Qed.

(** and without w <= v, refuted at w = 1, v = 0, x = 0. *)
Goal ~ forall q w v x, 0 < q ->
  Rabs (Selector.smooth_mean q w v (Rmax x w) (Rmin x v) - x) <= 277859 / 1000000 / sqrt q.
Proof.
  intros H. specialize (H 1 1 0 0 ltac:(lra)). unfold Selector.smooth_mean in H.
  rewrite Rmax_right, Rmin_left, sqrt_1 in H by lra. apply (Rle_not_lt _ _ H). interval.
Qed.
