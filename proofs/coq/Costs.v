(* The cost of a chaining as a path cover. Putting product q after product p costs
   edge p q m writes, where m is the ratio of their scales, free to choose for every edge;
   ending a chain after p costs the non-zeros of rho p. Chainings and path covers with
   ratios are the same thing, so the least number of writes is the least cost of a path
   cover, with the best ratio on each edge: outputs - max over m of #{ rho p = m rho q }. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Chaining.

Section Costs.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_costs : (laws K).

Variables T P O : Type.
Variable value : P -> T -> K.
Variable rho : P -> O -> K.
Variable outputs : list O.
Notation nonzeros := (nonzeros K O outputs).
Notation telescope := (telescope K P O rho).
Notation write := (write K P O).
Notation scale := (scale K P O).
Notation product := (product K P O).
Implicit Types (p q : P) (k m : K).

Definition edge p q m : nat := nonzeros (fun o => rho p o - m * rho q o).

(* A path: each product with the ratio to the next one (the last ratio is not used). *)
Fixpoint path_cost (c : list (P * K)) : nat :=
  match c with
  | [] => 0
  | (p, m) :: rest =>
      match rest with
      | [] => nonzeros (rho p)
      | (q, _) :: _ => edge p q m
      end + path_cost rest
  end.

(* From ratios to scales, the first scale being k. *)
Fixpoint scales k (c : list (P * K)) : list (P * K) :=
  match c with
  | [] => []
  | (p, m) :: rest => (p, k) :: scales (k / m) rest
  end.

(* From scales to ratios. *)
Fixpoint ratios (c : chain K P O) : list (P * K) :=
  match c with
  | [] => []
  | x :: rest =>
      (product x, match rest with [] => 1 | y :: _ => scale x / scale y end) :: ratios rest
  end.

Lemma nonzeros_same v w :
  (forall o, In o outputs -> v o = 0 <-> w o = 0) -> nonzeros v = nonzeros w.
Proof.
  unfold nonzeros. induction outputs as [|o l IH]; intros H; simpl; [reflexivity|].
  assert (E := H o (or_introl eq_refl)).
  assert (N := IH (fun i I => H i (or_intror I))).
  destruct (eq_dec (v o) 0), (eq_dec (w o) 0); simpl; tauto || lia.
Qed.

Lemma end_zero k (a : K) : k <> 0 -> a / k = 0 <-> a = 0.
Proof.
  intros N. split; intros E.
  - transitivity (a / k * k); [now field | rewrite E; ring].
  - rewrite E. now field.
Qed.

Lemma edge_zero k m (a b : K) : k <> 0 -> m <> 0 ->
  a / k - b / m = 0 <-> a - k / m * b = 0.
Proof.
  intros N M. rewrite <- (end_zero k (a - k / m * b) N).
  replace ((a - k / m * b) / k) with (a / k - b / m) by now field. reflexivity.
Qed.

(* Every path cover with non-zero ratios is realised, at its cost. *)
Theorem path_realised c : (forall x, In x c -> snd x <> 0) -> forall k, k <> 0 ->
  list_sum (map (fun x => nonzeros (write x)) (telescope (scales k c))) = path_cost c.
Proof.
  induction c as [|[p m] c IH]; intros H k N; [reflexivity|].
  assert (M := H _ (or_introl eq_refl)). simpl in M.
  assert (D : k / m <> 0).
  { intros E. apply N. apply (end_zero m k M). exact E. }
  simpl. rewrite (IH (fun x X => H x (or_intror X)) _ D). f_equal.
  destruct c as [|[q m'] c]; simpl; apply nonzeros_same; intros o _.
  - replace (rho p o / k - 0) with (rho p o / k) by ring. now apply end_zero.
  - rewrite (edge_zero _ _ _ _ N D). replace (k / (k / m)) with m by now field. reflexivity.
Qed.

Lemma scales_products c : forall k, map fst (scales k c) = map fst c.
Proof. induction c as [|[p m] c IH]; intros k; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma ratios_products c : map fst (ratios c) = map product c.
Proof. induction c as [|x c IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma ratios_nonzero c : (forall x, In x c -> scale x <> 0) ->
  forall y, In y (ratios c) -> snd y <> 0.
Proof.
  induction c as [|x c IH]; intros H y Y; [contradiction|].
  destruct Y as [<-|Y]; [|apply IH; [intros z Z; apply H; now right | exact Y]].
  assert (X := H x (or_introl eq_refl)). simpl.
  destruct c as [|z c]; [apply one_nonzero|].
  assert (Z := H z (or_intror (or_introl eq_refl))).
  intros E. apply X. now apply (end_zero (scale z)).
Qed.

Lemma chain_cost c : (forall x, In x c -> scale x <> 0) ->
  (forall o, In o outputs -> forced K P O rho c o) ->
  list_sum (map (fun x => nonzeros (write x)) c) = path_cost (ratios c).
Proof.
  induction c as [|x c IH]; intros H F; [reflexivity|].
  assert (X := H x (or_introl eq_refl)). simpl. rewrite IH.
  2: { intros y Y. apply H. now right. }
  2: { intros o I. now apply F. }
  f_equal. destruct c as [|y c]; simpl.
  - apply nonzeros_same. intros o I. destruct (F o I) as [-> _].
    unfold scaled, scaled_head.
    replace (rho (product x) o / scale x - 0) with (rho (product x) o / scale x) by ring.
    now apply end_zero.
  - assert (Y := H y (or_intror (or_introl eq_refl))).
    apply nonzeros_same. intros o I. destruct (F o I) as [-> _]. now apply edge_zero.
Qed.

(* Conversely the writes of any chaining are the cost of its path cover. *)
Theorem chaining_cost s cs :
  is_chaining K T P O value rho outputs s cs -> independent K T P value s ->
  writes K P O outputs cs = list_sum (map (fun c => path_cost (ratios c)) cs).
Proof.
  intros HC HI.
  assert (F : forall c, In c cs -> forall o, In o outputs -> forced K P O rho c o).
  { intros c C o I. now apply (writes_forced K T P O value rho outputs s cs). }
  destruct HC as (_ & H & _). unfold writes.
  induction cs as [|c cs IH]; simpl; [reflexivity|].
  rewrite map_app, list_sum_app, IH, chain_cost; [reflexivity | | | |].
  - intros x X. apply H. simpl. apply in_or_app. now left.
  - apply F. now left.
  - intros x X. apply H. simpl. apply in_or_app. now right.
  - intros d D. apply F. now right.
Qed.

(* The cost of an edge is the number of outputs less the matches of rho p and m rho q. *)
Theorem edge_matches p q m : (edge p q m +
  length (filter (fun o => if eq_dec (rho p o) (m * rho q o) then true else false) outputs)
  = length outputs)%nat.
Proof.
  unfold edge, Chaining.nonzeros. induction outputs as [|o l IH]; simpl; [reflexivity|].
  destruct (eq_dec (rho p o - m * rho q o) 0) as [E|E], (eq_dec (rho p o) (m * rho q o)) as [F|F];
    simpl; try lia.
  - destruct F. now apply sub_zero.
  - destruct E. rewrite F. ring.
Qed.

(* Whatever the scheme: an output that is not always zero is written at least once. *)
Lemma every_output_written (ws : list (O -> K)) outs :
  (forall o, In o outs -> exists w, In w ws /\ w o <> 0) ->
  (length outs <= list_sum (map (Chaining.nonzeros K O outs) ws))%nat.
Proof.
  induction outs as [|o outs IH]; intros H; simpl; [lia|].
  assert (E := IH (fun i I => H i (or_intror I))).
  destruct (H o (or_introl eq_refl)) as (w & W & N). clear H IH.
  assert (G : (1 + list_sum (map (Chaining.nonzeros K O outs) ws) <=
    list_sum (map (Chaining.nonzeros K O (o :: outs)) ws))%nat); [|lia].
  clear E. assert (S : forall v, (Chaining.nonzeros K O outs v <=
    Chaining.nonzeros K O (o :: outs) v)%nat).
  { intros v. unfold Chaining.nonzeros. simpl. destruct (eq_dec (v o) 0); simpl; lia. }
  induction ws as [|v ws IH]; [contradiction|].
  simpl. destruct W as [->|W]; [|specialize (IH W); specialize (S v); lia].
  assert (B : (list_sum (map (Chaining.nonzeros K O outs) ws) <=
    list_sum (map (Chaining.nonzeros K O (o :: outs)) ws))%nat).
  { clear IH. induction ws as [|u ws IH]; simpl; [lia|]. specialize (S u). lia. }
  unfold Chaining.nonzeros at 1 3. simpl. destruct (eq_dec (w o) 0); [contradiction|].
  simpl. unfold Chaining.nonzeros in B. simpl in B. unfold Chaining.nonzeros. simpl. lia.
Qed.

Lemma unwritten_run c o t : (forall x, In x c -> write x o = 0) ->
  forall acc, run K T P O value acc c o t = 0.
Proof.
  induction c as [|x c IH]; intros H acc; simpl; [reflexivity|].
  rewrite IH by (intros y Y; apply H; now right).
  rewrite (H x (or_introl eq_refl)). ring.
Qed.

Theorem outputs_bound s cs : is_chaining K T P O value rho outputs s cs ->
  (forall o, In o outputs -> exists t, result K T P O value rho s o t <> 0) ->
  (length outputs <= writes K P O outputs cs)%nat.
Proof.
  intros (_ & _ & H) N. unfold writes. rewrite <- (map_map write nonzeros).
  apply every_output_written. intros o I.
  destruct (Exists_dec (fun w : O -> K => w o <> 0) (map write (concat cs))) as [E|E].
  { intros w. destruct (eq_dec (w o) 0); tauto. }
  - apply Exists_exists in E as (w & W & D). now exists w.
  - exfalso. destruct (N o I) as (t & R). apply R. rewrite <- (H o t I).
    unfold written. apply sum_zero. intros c C. apply unwritten_run. intros x X.
    destruct (eq_dec (write x o) 0) as [|D]; [assumption | exfalso]. apply E.
    apply Exists_exists. exists (write x). split; [|exact D].
    apply in_map, in_concat. now exists c.
Qed.

End Costs.
