(* Chains of products and the writes that they need, for any bilinear map: Lemma 3 and
   the general lower bound.

   Inputs are points of an arbitrary type T; a product p has a value at every input and a
   coefficient rho p o on every output o. A scheme is a list of products; it computes, at
   output o, the sum of rho p o * value p over its products. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields.

Section Chaining.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_chaining : (laws K).

Variables T P O : Type.
Variable value : P -> T -> K.
Variable rho : P -> O -> K.
Variable outputs : list O.

Definition result (s : list P) (o : O) (t : T) : K :=
  sum (fun p => rho p o * value p t) s.

(* The number of outputs at which a coefficient vector is not zero. *)
Definition nonzeros (w : O -> K) : nat :=
  length (filter (fun o => if eq_dec (w o) 0 then false else true) outputs).

(* One step of a chain: a product, accumulated with a scale, then the prefix sum so far
   is written into output o with coefficient write o (zero: not written). *)
Record step := Step { product : P; scale : K; write : O -> K }.
Definition chain := list step.
Definition chaining := list chain.

(* What the rest of a chain adds to output o when the accumulator holds acc. *)
Fixpoint run (acc : K) (c : chain) (o : O) (t : T) : K :=
  match c with
  | [] => 0
  | x :: rest =>
      let prefix := acc + scale x * value (product x) t in
      write x o * prefix + run prefix rest o t
  end.

Definition written (cs : chaining) (o : O) (t : T) : K :=
  sum (fun c => run 0 c o t) cs.

Definition writes (cs : chaining) : nat :=
  list_sum (map (fun x => nonzeros (write x)) (concat cs)).

(* A chaining of scheme s: the chains partition its products, scales are not zero, and
   the writes together compute what the scheme computes. *)
Definition is_chaining (s : list P) (cs : chaining) : Prop :=
  Permutation (map product (concat cs)) s /\
  (forall x, In x (concat cs) -> scale x <> 0) /\
  (forall o t, In o outputs -> written cs o t = result s o t).

(* Products are independent if only the zero combination of them vanishes everywhere. *)
Definition independent (s : list P) : Prop :=
  forall l : list (K * P), map snd l = s ->
  (forall t, sum (fun x => fst x * value (snd x) t) l = 0) ->
  forall x, In x l -> fst x = 0.

Definition all_nonzero (s : list P) : Prop :=
  forall p, In p s -> ~ forall o, In o outputs -> rho p o = 0.

(* No two products, at different places of the list, have proportional coefficients. *)
Definition none_proportional (s : list P) : Prop :=
  forall p q l, Permutation s (p :: q :: l) ->
  forall m, m <> 0 -> ~ forall o, In o outputs -> rho p o = m * rho q o.

Lemma independent_perm s s' : Permutation s s' -> independent s -> independent s'.
Proof.
  intros HP H l <- Z x X.
  apply Permutation_map_inv in HP as (m & -> & HP').
  apply (H m eq_refl).
  - intros t. now rewrite <- (Z t), (sum_perm _ _ _ _ _ HP').
  - now apply (Permutation_in x HP').
Qed.

(* The coefficient that a chain gives to each of its products at output o. *)
Fixpoint expand (c : chain) (o : O) : list (K * P) :=
  match c with
  | [] => []
  | x :: rest =>
      (scale x * (write x o + sum (fun y => write y o) rest), product x) :: expand rest o
  end.

Lemma run_expand c o t : forall acc,
  run acc c o t =
  acc * sum (fun x => write x o) c + sum (fun x => fst x * value (snd x) t) (expand c o).
Proof.
  induction c as [|x c IH]; intros acc; simpl; [ring|]. rewrite IH. ring.
Qed.

Lemma expand_products c o : map snd (expand c o) = map product c.
Proof. induction c as [|x c IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma flat_expand_products cs o :
  map snd (flat_map (fun c => expand c o) cs) = map product (concat cs).
Proof.
  induction cs as [|c cs IH]; simpl; [reflexivity|].
  now rewrite !map_app, expand_products, IH.
Qed.

(* In a chaining of independent products, the coefficient on each product is its rho. *)
Lemma expand_rho s cs o : is_chaining s cs -> independent s -> In o outputs ->
  forall c, In c cs -> forall x, In x (expand c o) -> fst x = rho (snd x) o.
Proof.
  intros (HP & _ & HW) HI HO c C x X.
  set (all := flat_map (fun c => expand c o) cs).
  set (rest := map (fun x => (fst x - rho (snd x) o, snd x)) all).
  assert (R : map snd rest = map product (concat cs)).
  { unfold rest. rewrite map_map. simpl. apply flat_expand_products. }
  apply sub_zero.
  apply (independent_perm _ _ (Permutation_sym HP) HI rest R)
    with (x := (fst x - rho (snd x) o, snd x)).
  - intros t. unfold rest. rewrite sum_map. simpl.
    transitivity (sum (fun x => fst x * value (snd x) t) all -
                  sum (fun x => rho (snd x) o * value (snd x) t) all).
    { rewrite <- sum_sub. apply sum_ext. intros. ring. }
    assert (E : sum (fun x => fst x * value (snd x) t) all = written cs o t).
    { unfold all, written. rewrite sum_flat_map. apply sum_ext. intros d _.
      rewrite run_expand. ring. }
    assert (E' : sum (fun x => rho (snd x) o * value (snd x) t) all = result s o t).
    { unfold result. rewrite <- (sum_perm _ _ _ _ _ HP), <- (flat_expand_products cs o).
      fold all. now rewrite sum_map. }
    rewrite E, E', (HW o t HO). ring.
  - unfold rest. apply in_map_iff. exists x. split; [reflexivity|].
    unfold all. apply in_flat_map. now exists c.
Qed.

(* d_t = rho(r_t) / lambda_t, and d after the end of the chain is zero. *)
Definition scaled (x : step) (o : O) : K := rho (product x) o / scale x.
Definition scaled_head (c : chain) (o : O) : K :=
  match c with [] => 0 | x :: _ => scaled x o end.

Fixpoint forced (c : chain) (o : O) : Prop :=
  match c with
  | [] => True
  | x :: rest => write x o = scaled x o - scaled_head rest o /\ forced rest o
  end.

(* Lemma 3: the writes of a chain are forced: w_t = d_t - d_{t+1}. *)
Lemma writes_forced s cs o : is_chaining s cs -> independent s -> In o outputs ->
  forall c, In c cs -> forced c o.
Proof.
  intros HC HI HO c C.
  assert (HE := expand_rho s cs o HC HI HO c C).
  assert (HS : forall x, In x c -> scale x <> 0).
  { intros x X. apply HC. apply in_concat. now exists c. }
  clear C. induction c as [|x c IH]; simpl; [exact I|].
  assert (HX := HS x (or_introl eq_refl)).
  split.
  - assert (E := HE _ (or_introl eq_refl)). simpl in E.
    assert (N : sum (fun y => write y o) c = scaled_head c o).
    { destruct c as [|y c]; simpl; [reflexivity|].
      assert (HY := HS y (or_intror (or_introl eq_refl))).
      assert (F := HE _ (or_intror (or_introl eq_refl))). simpl in F.
      unfold scaled. rewrite <- F. field. exact HY. }
    rewrite N in E. unfold scaled. rewrite <- E. field. exact HX.
  - apply IH.
    + intros y Y. apply HE. now right.
    + intros y Y. apply HS. now right.
Qed.

Lemma nonzeros_positive w : ~ (forall o, In o outputs -> w o = 0) -> (1 <= nonzeros w)%nat.
Proof.
  intros H. unfold nonzeros.
  destruct (filter _ outputs) as [|o l] eqn:E; simpl; [|lia].
  exfalso. apply H. intros o HO. destruct (eq_dec (w o) 0) as [|N]; [assumption|].
  assert (In o []); [|contradiction].
  rewrite <- E. apply filter_In. split; [exact HO|]. now destruct (eq_dec (w o) 0).
Qed.

Lemma chain_writes s c before after :
  all_nonzero s -> none_proportional s ->
  Permutation s (before ++ map product c ++ after) ->
  (forall x, In x c -> scale x <> 0) ->
  (forall o, In o outputs -> forced c o) ->
  (length c <= list_sum (map (fun x => nonzeros (write x)) c))%nat.
Proof.
  intros HN HP. revert before. induction c as [|x c IH]; intros before HS HL HF; simpl; [lia|].
  assert (B : (1 <= nonzeros (write x))%nat).
  { apply nonzeros_positive. intros Z.
    assert (D : forall o, In o outputs -> scaled x o = scaled_head c o).
    { intros o HO. destruct (HF o HO) as [E _]. apply sub_zero. now rewrite <- E, Z. }
    assert (HX := HL x (or_introl eq_refl)).
    destruct c as [|y c]; simpl in D.
    - apply (HN (product x)).
      + apply (Permutation_in _ (Permutation_sym HS)). simpl. apply in_elt.
      + intros o HO. transitivity (scaled x o * scale x); [unfold scaled; now field|].
        rewrite (D o HO). ring.
    - assert (HY := HL y (or_intror (or_introl eq_refl))).
      apply (HP (product x) (product y) (before ++ map product c ++ after)) with
        (m := scale x / scale y).
      + rewrite HS. simpl. rewrite <- !Permutation_middle. reflexivity.
      + intros E. apply HX. transitivity (scale x / scale y * scale y); [now field|].
        rewrite E. ring.
      + intros o HO. transitivity (scaled x o * scale x); [unfold scaled; now field|].
        rewrite (D o HO). unfold scaled. now field. }
  assert (length c <= list_sum (map (fun x => nonzeros (write x)) c))%nat; [|lia].
  apply (IH (before ++ [product x])).
  - rewrite HS. now rewrite <- app_assoc.
  - intros y Y. apply HL. now right.
  - intros o HO. now apply HF.
Qed.

(* The writes w_t = d_t - d_{t+1} are at least as many as the products, if coefficients
   are neither zero nor proportional to one another. *)
Lemma forced_bound s cs :
  all_nonzero s -> none_proportional s ->
  Permutation (map product (concat cs)) s ->
  (forall x, In x (concat cs) -> scale x <> 0) ->
  (forall c, In c cs -> forall o, In o outputs -> forced c o) ->
  (length s <= writes cs)%nat.
Proof.
  intros HN HP HM. rewrite <- (Permutation_length HM), map_length. unfold writes.
  apply Permutation_sym in HM. revert HM.
  assert (G : forall before,
    Permutation s (before ++ map product (concat cs)) ->
    (forall x, In x (concat cs) -> scale x <> 0) ->
    (forall c, In c cs -> forall o, In o outputs -> forced c o) ->
    (length (concat cs) <= list_sum (map (fun x => nonzeros (write x)) (concat cs)))%nat).
  2: exact (G []).
  induction cs as [|c cs IH]; intros before HM HL HF; simpl in *; [lia|].
  rewrite map_app in *. rewrite app_length, list_sum_app.
  assert (length c <= list_sum (map (fun x => nonzeros (write x)) c))%nat.
  { apply (chain_writes s c before (map product (concat cs))); try assumption.
    - intros x X. apply HL, in_or_app. now left.
    - apply HF. now left. }
  assert (length (concat cs) <= list_sum (map (fun x => nonzeros (write x)) (concat cs)))%nat.
  { apply (IH (before ++ map product c)).
    - now rewrite <- app_assoc.
    - intros x X. apply HL, in_or_app. now right.
    - intros d D. apply HF. now right. }
  lia.
Qed.

(* The general lower bound: if moreover the products are independent, then every chaining
   has those writes, and at least one for each product. *)
Theorem writes_bound s cs :
  independent s -> all_nonzero s -> none_proportional s ->
  is_chaining s cs -> (length s <= writes cs)%nat.
Proof.
  intros HI HN HP HC. apply forced_bound; try assumption; try apply HC.
  intros c C o HO. now apply (writes_forced s cs).
Qed.

(* The other direction: any order and any non-zero scales give a chaining, with the
   writes of Lemma 3. So the number of writes of the best chaining is a matter of
   orders and scales alone. *)
Fixpoint telescope (c : list (P * K)) : chain :=
  match c with
  | [] => []
  | (p, k) :: rest =>
      Step p k (fun o => rho p o / k -
        match rest with [] => 0 | (q, m) :: _ => rho q o / m end)
      :: telescope rest
  end.

Lemma telescope_products c : map product (telescope c) = map fst c.
Proof. induction c as [|[p k] c IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma telescope_tail c o : sum (fun x => write x o) (telescope c) =
  match c with [] => 0 | (p, k) :: _ => rho p o / k end.
Proof.
  induction c as [|[p k] c IH]; simpl; [reflexivity|]. rewrite IH. destruct c as [|[q m] c]; ring.
Qed.

Lemma telescope_run c o t : (forall x, In x c -> snd x <> 0) ->
  run 0 (telescope c) o t = sum (fun x => rho (fst x) o * value (fst x) t) c.
Proof.
  intros H. rewrite run_expand.
  replace (0 * sum (fun x => write x o) (telescope c)) with (0 : K) by ring.
  induction c as [|[p k] c IH]; simpl; [ring|].
  assert (HK := H _ (or_introl eq_refl)). simpl in HK.
  rewrite telescope_tail, <- IH by (intros x X; apply H; now right).
  destruct c as [|[q m] c].
  - simpl. now field.
  - assert (HQ := H _ (or_intror (or_introl eq_refl))). simpl in HQ. now field.
Qed.

Theorem telescope_chaining s (orders : list (list (P * K))) :
  Permutation (map fst (concat orders)) s ->
  (forall x, In x (concat orders) -> snd x <> 0) ->
  is_chaining s (map telescope orders).
Proof.
  intros HP HK. split; [|split].
  - replace (map product (concat (map telescope orders))) with (map fst (concat orders));
      [exact HP|].
    clear. induction orders as [|c cs IH]; simpl; [reflexivity|].
    now rewrite !map_app, telescope_products, <- IH.
  - clear HP. induction orders as [|c cs IH]; simpl; [intros _ []|].
    intros x X. apply in_app_or in X as [X|X].
    + assert (HC : forall y, In y c -> snd y <> 0).
      { intros y Y. apply HK. simpl. apply in_or_app. now left. }
      clear - X HC. induction c as [|[p k] c IH]; simpl in *; [contradiction|].
      destruct X as [<-|X]; simpl.
      * apply (HC (p, k)). now left.
      * apply IH; [assumption|]. intros y Y. apply HC. now right.
    + apply IH; [|exact X]. intros y Y. apply HK. simpl. apply in_or_app. now right.
  - intros o t _. unfold written, result. rewrite <- (sum_perm _ _ _ _ _ HP), !sum_map.
    clear HP. induction orders as [|c cs IH]; simpl; [reflexivity|].
    rewrite sum_app, IH, telescope_run; [reflexivity| |].
    + intros x X. apply HK. simpl. apply in_or_app. now left.
    + intros x X. apply HK. simpl. apply in_or_app. now right.
Qed.

Lemma telescope_forced c o : forced (telescope c) o.
Proof.
  induction c as [|[p k] c IH]; simpl; [exact I|]. split; [|exact IH].
  now destruct c as [|[q m] c].
Qed.

(* Dependent products have chainings with other writes too; but those with the writes
   above obey the bound all the same. *)
Theorem telescope_bound s (orders : list (list (P * K))) :
  all_nonzero s -> none_proportional s ->
  Permutation (map fst (concat orders)) s ->
  (forall x, In x (concat orders) -> snd x <> 0) ->
  (length s <= writes (map telescope orders))%nat.
Proof.
  intros HN HP HM HK. destruct (telescope_chaining s orders HM HK) as (HM' & HK' & _).
  apply forced_bound; try assumption.
  intros c C o _. apply in_map_iff in C as (d & <- & _). apply telescope_forced.
Qed.

(* Lemma 2, in general: if the products of a scheme are dependent, one of them can be
   dropped and its coefficients spread over the others. *)
Lemma dependent_drop s l x :
  map snd l = s -> In x l -> fst x <> 0 ->
  (forall t, sum (fun y => fst y * value (snd y) t) l = 0) ->
  exists rest : list (K * P),
    Permutation s (snd x :: map snd rest) /\
    forall o t, result s o t =
      sum (fun y => (rho (snd y) o - fst y / fst x * rho (snd x) o) * value (snd y) t) rest.
Proof.
  intros <- X N Z. apply in_split in X as (l1 & l2 & ->).
  exists (l1 ++ l2). split.
  - rewrite !map_app. simpl. apply Permutation_sym, Permutation_middle.
  - intros o t. unfold result. rewrite sum_map.
    rewrite (sum_perm _ _ _ _ _ (Permutation_sym (Permutation_middle l1 l2 x))). simpl.
    assert (E : value (snd x) t = - sum (fun y => fst y / fst x * value (snd y) t) (l1 ++ l2)).
    { apply (mul_cancel _ (fst x)); [exact N|].
      transitivity (- sum (fun y => fst y * value (snd y) t) (l1 ++ l2)).
      - apply sub_zero. rewrite <- (Z t).
        rewrite (sum_perm _ _ _ _ _ (Permutation_sym (Permutation_middle l1 l2 x))).
        simpl. ring.
      - transitivity (- (fst x * sum (fun y => fst y / fst x * value (snd y) t) (l1 ++ l2)));
          [|ring].
        rewrite <- sum_scale. f_equal. apply sum_ext. intros. now field. }
    rewrite E.
    transitivity (sum (fun y => rho (snd y) o * value (snd y) t) (l1 ++ l2) -
      rho (snd x) o * sum (fun y => fst y / fst x * value (snd y) t) (l1 ++ l2)); [ring|].
    rewrite <- sum_scale, <- sum_sub. apply sum_ext. intros. ring.
Qed.

(* A scheme is minimal if no shorter list of products, with whatever coefficients, gives
   the same result. Its products are independent (Lemma 2) and its coefficients not zero. *)
Definition minimal (s : list P) : Prop :=
  forall r : list (P * (O -> K)),
  (forall o t, In o outputs -> sum (fun x => snd x o * value (fst x) t) r = result s o t) ->
  (length s <= length r)%nat.

Theorem minimal_independent s : minimal s -> independent s.
Proof.
  intros H l E Z x X. destruct (eq_dec (fst x) 0) as [|N]; [assumption | exfalso].
  destruct (dependent_drop s l x E X N Z) as (rest & HP & R).
  set (spread := fun y : K * P =>
    (snd y, fun o => rho (snd y) o - fst y / fst x * rho (snd x) o)).
  assert (B := H (map spread rest)). rewrite map_length in B.
  apply Permutation_length in HP. simpl in HP. rewrite map_length in HP.
  assert (length s <= length rest)%nat; [|lia].
  apply B. intros o t _. rewrite R, sum_map. reflexivity.
Qed.

Theorem minimal_all_nonzero s : minimal s -> all_nonzero s.
Proof.
  intros H p I Z. apply in_split in I as (l1 & l2 & ->).
  assert (B := H (map (fun q => (q, rho q)) (l1 ++ l2))).
  rewrite map_length, !app_length in B. simpl in B.
  assert (length l1 + S (length l2) <= length l1 + length l2)%nat; [|lia].
  apply B. intros o t HO. rewrite sum_map. unfold result. simpl.
  rewrite (sum_perm _ _ _ _ _ (Permutation_sym (Permutation_middle l1 l2 p))). simpl.
  rewrite (Z o HO). ring.
Qed.

(* So for a minimal scheme of any shape: if no two coefficient vectors are proportional,
   every chaining needs at least one write per product. *)
Theorem minimal_writes_bound s cs :
  minimal s -> none_proportional s -> is_chaining s cs -> (length s <= writes cs)%nat.
Proof.
  intros H N C. apply writes_bound; try assumption.
  - now apply minimal_independent.
  - now apply minimal_all_nonzero.
Qed.

End Chaining.
