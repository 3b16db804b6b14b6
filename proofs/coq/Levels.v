(* Two levels: the tensor product of two schemes. If the coefficients of both are neither
   zero nor proportional, and the products of both independent, the same holds for the
   tensor product, and so does the bound of one write per product. For two seven-product
   schemes for 2x2 that makes forty-nine writes at least, though forty-nine products are
   not the fewest for 4x4 matrices. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Chaining Matrices Theorem1 Blocks.

Section Levels.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_levels : (laws K).

Section Tensor.
Variables T1 P1 O1 T2 P2 O2 : Type.
Variable value1 : P1 -> T1 -> K.
Variable value2 : P2 -> T2 -> K.
Variable rho1 : P1 -> O1 -> K.
Variable rho2 : P2 -> O2 -> K.
Variable outputs1 : list O1.
Variable outputs2 : list O2.
Hypothesis P1_dec : forall p q : P1, {p = q} + {p <> q}.

Definition tensor_value (p : P1 * P2) (t : T1 * T2) : K :=
  value1 (fst p) (fst t) * value2 (snd p) (snd t).
Definition tensor_rho (p : P1 * P2) (o : O1 * O2) : K :=
  rho1 (fst p) (fst o) * rho2 (snd p) (snd o).
Notation tensor_outputs := (list_prod outputs1 outputs2).
Notation zero_on r p outs := (forall o, In o outs -> r p o = 0).

(* A list of coefficients for the products of a tensor product, as a list of rows. *)
Definition flatten (rows : list (P1 * list (K * P2))) : list (K * (P1 * P2)) :=
  flat_map (fun r => map (fun x => (fst x, (fst r, snd x))) (snd r)) rows.

Lemma rows_exist s1 s2 : forall l : list (K * (P1 * P2)), map snd l = list_prod s1 s2 ->
  exists rows, l = flatten rows /\ map fst rows = s1 /\
    forall r, In r rows -> map snd (snd r) = s2.
Proof.
  induction s1 as [|p s1 IH]; intros l E; simpl in E.
  - apply map_eq_nil in E as ->. exists []. repeat split. intros r [].
  - apply map_eq_app in E as (l1 & l2 & -> & E1 & E2).
    destruct (IH l2 E2) as (rows & -> & F & S).
    exists ((p, map (fun x => (fst x, snd (snd x))) l1) :: rows). simpl. repeat split.
    + f_equal. rewrite map_map. simpl. clear - E1. revert s2 E1.
      induction l1 as [|[k [p' q]] l1 IH]; intros [|q' s2] E; simpl in *; try discriminate;
        [reflexivity|].
      injection E as -> -> E. f_equal. now apply (IH s2).
    + now rewrite F.
    + intros r [<-|R]; [|now apply S]. simpl. rewrite map_map. simpl. clear - E1. revert s2 E1.
      induction l1 as [|[k [p' q]] l1 IH]; intros [|q' s2] E; simpl in *; try discriminate;
        [reflexivity|].
      injection E as -> -> E. f_equal. now apply IH.
Qed.

Theorem tensor_independent s1 s2 :
  independent K T1 P1 value1 s1 -> independent K T2 P2 value2 s2 ->
  independent K (T1 * T2) (P1 * P2) tensor_value (list_prod s1 s2).
Proof.
  intros H1 H2 l E Z x X.
  destruct (rows_exist s1 s2 l E) as (rows & -> & F & S).
  unfold flatten in X. apply in_flat_map in X as (r & R & X).
  apply in_map_iff in X as (y & <- & Y). simpl.
  apply (H2 (snd r) (S r R)); [|exact Y]. intros t2.
  set (row_sum := fun r : P1 * list (K * P2) =>
    sum (fun x => fst x * value2 (snd x) t2) (snd r)).
  apply (H1 (map (fun r => (row_sum r, fst r)) rows)) with (x := (row_sum r, fst r)).
  - rewrite map_map. exact F.
  - intros t1. rewrite <- (Z (t1, t2)), sum_map. unfold flatten. rewrite sum_flat_map.
    apply sum_ext. intros r' _. rewrite sum_map. unfold tensor_value, row_sum. simpl.
    transitivity (value1 (fst r') t1 * sum (fun x => fst x * value2 (snd x) t2) (snd r'));
      [ring|].
    rewrite <- sum_scale. apply sum_ext. intros. ring.
  - apply in_map_iff. now exists r.
Qed.

Lemma tensor_nonzero p q : ~ zero_on rho1 p outputs1 -> ~ zero_on rho2 q outputs2 ->
  ~ zero_on tensor_rho (p, q) tensor_outputs.
Proof.
  intros A B Z. apply A. intros o O. destruct (eq_dec (rho1 p o) 0) as [|N]; [assumption|].
  destruct B. intros o' O'. apply (mul_zero_l K (rho1 p o)); [|exact N].
  apply (Z (o, o')). now apply in_prod.
Qed.

Theorem tensor_all_nonzero s1 s2 :
  all_nonzero K P1 O1 rho1 outputs1 s1 -> all_nonzero K P2 O2 rho2 outputs2 s2 ->
  all_nonzero K (P1 * P2) (O1 * O2) tensor_rho tensor_outputs (list_prod s1 s2).
Proof.
  intros H1 H2 [p q] I. apply in_prod_iff in I as [I J].
  apply tensor_nonzero; [now apply H1 | now apply H2].
Qed.

Lemma nonzero_output P O (rho : P -> O -> K) outs p : ~ zero_on rho p outs ->
  exists o, In o outs /\ rho p o <> 0.
Proof.
  induction outs as [|o outs IH]; intros N; [destruct N; intros o []|].
  destruct (eq_dec (rho p o) 0) as [E|D]; [|exists o; simpl; tauto].
  destruct IH as (o' & I & D).
  - intros Z. apply N. intros o' [<-|I]; [exact E | now apply Z].
  - exists o'. simpl. tauto.
Qed.

(* If the products of two pairs of vectors are proportional, both pairs are. *)
Lemma tensor_proportional p q p' q' m : m <> 0 ->
  ~ zero_on rho1 p outputs1 -> ~ zero_on rho2 q outputs2 ->
  (forall o, In o tensor_outputs -> tensor_rho (p, q) o = m * tensor_rho (p', q') o) ->
  (exists k, k <> 0 /\ forall o, In o outputs1 -> rho1 p o = k * rho1 p' o) /\
  (exists k, k <> 0 /\ forall o, In o outputs2 -> rho2 q o = k * rho2 q' o).
Proof.
  intros M A B E.
  assert (E' : forall o1 o2, In o1 outputs1 -> In o2 outputs2 ->
    rho1 p o1 * rho2 q o2 = m * (rho1 p' o1 * rho2 q' o2)).
  { intros o1 o2 I J. apply (E (o1, o2)). now apply in_prod. }
  destruct (nonzero_output _ _ rho1 outputs1 p A) as (o1 & I1 & N1).
  destruct (nonzero_output _ _ rho2 outputs2 q B) as (o2 & I2 & N2).
  assert (N := mul_nonzero K _ _ N1 N2). rewrite (E' o1 o2 I1 I2) in N.
  assert (N1' : rho1 p' o1 <> 0) by (intros Z; apply N; rewrite Z; ring).
  assert (N2' : rho2 q' o2 <> 0) by (intros Z; apply N; rewrite Z; ring).
  split.
  - exists (m * rho2 q' o2 / rho2 q o2). split.
    + intros Z. apply (mul_nonzero K _ _ M N2').
      transitivity (m * rho2 q' o2 / rho2 q o2 * rho2 q o2); [now field | rewrite Z; ring].
    + intros o I. apply (mul_cancel K (rho2 q o2)); [exact N2|].
      transitivity (rho1 p o * rho2 q o2); [ring|]. rewrite (E' o o2 I I2). now field.
  - exists (m * rho1 p' o1 / rho1 p o1). split.
    + intros Z. apply (mul_nonzero K _ _ M N1').
      transitivity (m * rho1 p' o1 / rho1 p o1 * rho1 p o1); [now field | rewrite Z; ring].
    + intros o I. apply (mul_cancel K (rho1 p o1)); [exact N1|].
      rewrite (E' o1 o I1 I). now field.
Qed.

Lemma two_of_list A (s : list A) a b : In a s -> In b s -> a <> b ->
  exists l, Permutation s (a :: b :: l).
Proof.
  intros I J N. apply in_split in I as (l1 & l2 & ->).
  assert (P := Permutation_sym (Permutation_middle l1 l2 a)).
  apply (Permutation_in b P) in J. destruct J as [J|J]; [contradiction|].
  apply in_split in J as (l3 & l4 & E). exists (l3 ++ l4)%list.
  rewrite P, E. apply perm_skip, Permutation_sym, Permutation_middle.
Qed.

Lemma none_proportional_NoDup P O (rho : P -> O -> K) outs s :
  none_proportional K P O rho outs s -> NoDup s.
Proof.
  intros H. induction s as [|p s IH]; constructor.
  - intros I. apply in_split in I as (l1 & l2 & ->).
    apply (H p p (l1 ++ l2)%list) with (m := 1).
    + apply perm_skip, Permutation_sym, Permutation_middle.
    + apply one_nonzero.
    + intros. ring.
  - apply IH. intros q r l E m M Z. apply (H q r (p :: l)) with (m := m); try assumption.
    rewrite E. etransitivity; [apply perm_swap | apply perm_skip, perm_swap].
Qed.

Lemma prod_NoDup A B (l : list A) (m : list B) : NoDup l -> NoDup m -> NoDup (list_prod l m).
Proof.
  intros L M. induction L as [|a l N L IH]; simpl; [constructor|].
  assert (D : NoDup (map (fun b => (a, b)) m)).
  { apply FinFun.Injective_map_NoDup; [|exact M]. intros b c E. congruence. }
  assert (F : forall x, In x (map (fun b => (a, b)) m) -> ~ In x (list_prod l m)).
  { intros x X Y. apply in_map_iff in X as (b & <- & _). now apply in_prod_iff in Y. }
  induction (map (fun b => (a, b)) m) as [|x d IHd]; simpl; [exact IH|].
  inversion D; subst. constructor.
  - rewrite in_app_iff. intros [X|X]; [contradiction|]. apply (F x); [now left | exact X].
  - apply IHd; [assumption|]. intros y Y. apply F. now right.
Qed.

Theorem tensor_none_proportional s1 s2 :
  all_nonzero K P1 O1 rho1 outputs1 s1 -> all_nonzero K P2 O2 rho2 outputs2 s2 ->
  none_proportional K P1 O1 rho1 outputs1 s1 -> none_proportional K P2 O2 rho2 outputs2 s2 ->
  none_proportional K (P1 * P2) (O1 * O2) tensor_rho tensor_outputs (list_prod s1 s2).
Proof.
  intros Z1 Z2 H1 H2 [p q] [p' q'] l E m M F.
  assert (D : NoDup (list_prod s1 s2)).
  { apply prod_NoDup; eapply none_proportional_NoDup; eassumption. }
  assert (I : In (p, q) (list_prod s1 s2)).
  { apply (Permutation_in _ (Permutation_sym E)). now left. }
  assert (I' : In (p', q') (list_prod s1 s2)).
  { apply (Permutation_in _ (Permutation_sym E)). right. now left. }
  apply (Permutation_NoDup E) in D. inversion D as [|? ? N _]. subst.
  apply in_prod_iff in I as [Ip Iq]. apply in_prod_iff in I' as [Ip' Iq'].
  destruct (tensor_proportional p q p' q' m M (Z1 p Ip) (Z2 q Iq) F)
    as [(k1 & K1 & F1) (k2 & K2 & F2)].
  destruct (P1_dec p p') as [<-|Np].
  - destruct (two_of_list _ s2 q q' Iq Iq') as (r & R).
    + intros <-. apply N. now left.
    + exact (H2 q q' r R k2 K2 F2).
  - destruct (two_of_list _ s1 p p' Ip Ip' Np) as (r & R). exact (H1 p p' r R k1 K1 F1).
Qed.

End Tensor.

(* Two levels of 2x2: 4x4 matrices as matrices of 2x2 blocks. Products multiply scalars. *)
Notation m2 := (m2 K).
Notation blocks := (block_matrix K (matrix_blocks K)).
Notation product2 := (product2 K).

Definition two_level_value (pq : product2 * product2) (xy : blocks * blocks) : K :=
  value2 (snd pq) (form K (matrix_blocks K) (alpha (fst pq)) (fst xy),
                   form K (matrix_blocks K) (beta (fst pq)) (snd xy)).

Definition two_level_rho : product2 * product2 -> place * place -> K :=
  tensor_rho product2 place product2 place rho2 rho2.

Definition two_level_outputs := list_prod places places.

Lemma entry_bsum A (f : A -> m2) d (l : list A) :
  entry (bsum K (matrix_blocks K) f l) d = sum (fun a => entry (f a) d) l.
Proof.
  induction l as [|a l IH]; simpl; [now destruct d|]. rewrite <- IH. destruct d; simpl; ring.
Qed.

Lemma sum_prod A B (f : A * B -> K) l m :
  sum f (list_prod l m) = sum (fun a => sum (fun b => f (a, b)) m) l.
Proof.
  induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite sum_app, sum_map, IH.
Qed.

Theorem two_level_correct s1 s2 : correct s1 -> correct s2 -> forall x y c d,
  result K (blocks * blocks) (product2 * product2) (place * place) two_level_value
    two_level_rho (list_prod s1 s2) (c, d) (x, y) =
  entry (block_mul K (matrix_blocks K) x y c) d.
Proof.
  intros H1 H2 x y c d.
  rewrite <- (blocks_correct K (matrix_blocks K) s1 (proj2 (brent_correct K s1) H1)).
  rewrite entry_bsum. unfold result. rewrite sum_prod. apply sum_ext. intros p _.
  unfold two_level_rho, tensor_rho, two_level_value. simpl.
  transitivity (rho2 p c * entry (block_value K (matrix_blocks K) x y p) d).
  - unfold block_value. simpl. rewrite <- H2, <- sum_scale. apply sum_ext. intros. ring.
  - destruct d; simpl; ring.
Qed.

(* On matrices of the form x1 (.) x2 the products are products of the two levels'. *)
Definition kronecker (x1 x2 : m2) : blocks := fun a => combine zero2 (entry x1 a) x2.

Lemma dot_form a b x1 x2 :
  dot b (form K (matrix_blocks K) a (kronecker x1 x2)) = dot a x1 * dot b x2.
Proof. unfold dot, form, kronecker. simpl. ring. Qed.

Lemma two_level_independent s1 s2 :
  independent K (m2 * m2) product2 value2 s1 -> independent K (m2 * m2) product2 value2 s2 ->
  independent K (blocks * blocks) (product2 * product2) two_level_value (list_prod s1 s2).
Proof.
  intros H1 H2 l E Z.
  apply (tensor_independent _ _ _ _ value2 value2 s1 s2 H1 H2 l E).
  intros [[x1 y1] [x2 y2]]. rewrite <- (Z (kronecker x1 x2, kronecker y1 y2)).
  apply sum_ext. intros [k [p q]] _. unfold tensor_value, two_level_value, value2. simpl.
  rewrite !dot_form. ring.
Qed.

Lemma m2_dec : forall x y : m2, {x = y} + {x <> y}.
Proof. decide equality; apply eq_dec. Defined.

Lemma product2_dec : forall p q : product2, {p = q} + {p <> q}.
Proof. decide equality; apply m2_dec. Defined.

Theorem two_level_writes s1 s2 cs :
  correct s1 -> length s1 = 7%nat -> correct s2 -> length s2 = 7%nat ->
  is_chaining K (blocks * blocks) (product2 * product2) (place * place) two_level_value
    two_level_rho two_level_outputs (list_prod s1 s2) cs ->
  (49 <= writes K (product2 * product2) (place * place) two_level_outputs cs)%nat.
Proof.
  intros H1 L1 H2 L2 C.
  replace 49%nat with (length (list_prod s1 s2)) by (rewrite prod_length, L1, L2; reflexivity).
  apply (writes_bound K (blocks * blocks) (product2 * product2) (place * place)
    two_level_value two_level_rho); [| | |exact C].
  - apply two_level_independent; now apply lemma2.
  - apply tensor_all_nonzero; now apply seven_all_nonzero.
  - apply tensor_none_proportional;
      [exact product2_dec | | | |];
      first [now apply seven_all_nonzero | now apply seven_none_proportional].
Qed.

End Levels.
