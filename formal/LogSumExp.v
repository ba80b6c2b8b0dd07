(** N7: minima from log-sum-exp, with one uniform head. *)

From Coq Require Import Reals List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Headcount Require Import Sums Algebra Softmax.
Import ListNotations.
Open Scope R_scope.

(** N7: min - log|S|/beta <= -(1/beta) log sum_S e^(-beta a) <= min. *)
Theorem log_sum_exp_between {I} beta (l : list I) a m : 0 < beta -> is_min l a m ->
  m - ln (INR (length l)) / beta <= - ln (sum l (fun t => exp (- (beta * a t)))) / beta <= m.
Proof.
  intros Hbeta Hm. pose proof (is_min_nonempty l a m Hm) as Hl. destruct Hm as [(t0 & Hin & Ht0) Hmin].
  assert (HN : 0 < INR (length l)) by (apply lt_0_INR; destruct l; [easy | simpl; lia]).
  set (Z := sum l (fun t => exp (- (beta * a t)))).
  assert (Hlow : exp (- (beta * m)) <= Z).
  { rewrite <- Ht0. apply (sum_term l (fun t => exp (- (beta * a t)))); [| exact Hin].
    intros. apply Rlt_le, exp_pos. }
  assert (Hup : Z <= INR (length l) * exp (- (beta * m))).
  { unfold Z. rewrite <- sum_const. apply sum_le. intros t Ht. specialize (Hmin t Ht).
    destruct Hmin as [Hlt | <-]; [left | right; reflexivity].
    apply exp_increasing, Ropp_lt_contravar, Rmult_lt_compat_l; assumption. }
  pose proof (exp_pos (- (beta * m))) as He.
  apply ln_le in Hup; [| lra]. apply ln_le in Hlow; [| exact He].
  rewrite ln_exp in Hlow. rewrite ln_mult, ln_exp in Hup by assumption. split.
  - apply le_div; [exact Hbeta |]. replace ((m - ln (INR (length l)) / beta) * beta) with
      (beta * m - ln (INR (length l))) by (field; lra). lra.
  - apply div_le; [exact Hbeta |]. lra.
Qed.

(** N7, the head: uniform attention over T positions, values D^(-1/2) e^(-beta f_i(x(t))) for t in S_i and 0
    elsewhere give u_i with -(1/beta) log(sqrt(D) T u_i) between z_i - log|S_i|/beta and z_i. *)
Theorem uniform_head_reads_minimum {I} beta (S Sc : list I) (f value : I -> R) z (D : nat) :
  0 < beta -> (0 < D)%nat -> is_min S f z ->
  (forall t, In t S -> value t = exp (- (beta * f t)) / sqrt (INR D)) -> (forall t, In t Sc -> value t = 0) ->
  let T := INR (length (S ++ Sc)) in
  let u := sum (S ++ Sc) value / T in
  z - ln (INR (length S)) / beta <= - ln (sqrt (INR D) * T * u) / beta <= z.
Proof.
  intros Hbeta HD Hz Hin Hout T u. pose proof (is_min_nonempty _ _ _ Hz) as Hne.
  assert (HT : 0 < T) by (apply lt_0_INR; rewrite app_length; destruct S; [easy | simpl; lia]).
  pose proof (sqrt_lt_R0 _ (lt_0_INR _ HD)) as Hs.
  replace (sqrt (INR D) * T * u) with (sum S (fun t => exp (- (beta * f t)))).
  - apply log_sum_exp_between; assumption.
  - unfold u. rewrite sum_app, (sum_ext Sc value (fun _ => 0)), sum_const by exact Hout.
    rewrite (sum_ext S value (fun t => / sqrt (INR D) * exp (- (beta * f t)))), sum_scal
      by (intros t Ht; rewrite Hin by exact Ht; unfold Rdiv; ring).
    field. lra.
Qed.

(** N7, budget: read-outs y_i within 0.1234/beta of -(1/beta) log Z_i, Z_i = sum_(S_i) e^(-beta f_i), |S_i| <= T,
    beta = D (log T/2 + 0.1234)/eps: the sum of the y_i + log T/(2 beta) is within eps of the sum of the z_i. *)
Theorem log_sum_exp_budget {K I} (features : list K) (S : K -> list I) (f : K -> I -> R) (z y : K -> R)
    (T : nat) beta eps : (1 < T)%nat -> 0 < eps -> features <> nil ->
  (forall i, In i features -> is_min (S i) (f i) (z i)) ->
  (forall i, In i features -> (length (S i) <= T)%nat) ->
  (forall i, In i features ->
     Rabs (y i - - ln (sum (S i) (fun t => exp (- (beta * f i t)))) / beta) <= 1234 / 10000 / beta) ->
  beta = INR (length features) * (ln (INR T) / 2 + 1234 / 10000) / eps ->
  Rabs (sum features (fun i => y i + ln (INR T) / (2 * beta)) - sum features z) <= eps.
Proof.
  intros HT Heps Hne Hz Hlen Hy Hbeta.
  assert (Hlog : 0 < ln (INR T)) by (rewrite <- ln_1; apply ln_increasing; [lra | apply (lt_INR 1), HT]).
  assert (HD : 0 < INR (length features)) by (apply lt_0_INR; destruct features; [easy | simpl; lia]).
  assert (Hb : 0 < beta) by (rewrite Hbeta; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat |]; lra).
  rewrite <- sum_minus. eapply Rle_trans; [apply sum_abs |].
  replace eps with (INR (length features) * ((ln (INR T) / 2 + 1234 / 10000) / beta))
    by (rewrite Hbeta; field; repeat split; lra).
  rewrite <- sum_const. apply sum_le. intros i Hi.
  pose proof (log_sum_exp_between beta (S i) (f i) (z i) Hb (Hz i Hi)) as B. specialize (Hy i Hi).
  assert (Hln : ln (INR (length (S i))) / beta <= ln (INR T) / beta).
  { apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Hb |].
    pose proof (is_min_nonempty _ _ _ (Hz i Hi)). specialize (Hlen i Hi).
    apply ln_le; [apply lt_0_INR; destruct (S i); [easy | simpl; lia] | apply le_INR, Hlen]. }
  apply Rabs_le_between in Hy. set (w := - ln (sum (S i) _) / beta) in *.
  replace (ln (INR T) / (2 * beta)) with (ln (INR T) / beta / 2) by (field; lra).
  replace ((ln (INR T) / 2 + 1234 / 10000) / beta) with (ln (INR T) / beta / 2 + 1234 / 10000 / beta) by (field; lra).
  apply Rabs_le. lra.
Qed.
