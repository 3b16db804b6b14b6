(* Schemes of any shape: an n x m matrix times an m x p matrix. The Brent equations mean
   that the scheme is correct, and Chaining.v and Costs.v apply. *)

Require Import List Permutation Ring Field Arith Lia Bool.
Import ListNotations.
From Heptane Require Import Fields Chaining.

Section Shapes.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_shapes : (laws K).
Variables n m p : nat.

(* Matrices by place (row, column), from zero. *)
Definition matrix : Type := nat * nat -> K.
Definition grid (rows columns : nat) : list (nat * nat) :=
  list_prod (seq 0 rows) (seq 0 columns).

Record product_nmp := ProductNMP { factor_x : matrix; factor_y : matrix; coefficient : matrix }.

Definition form_on (places : list (nat * nat)) (a x : matrix) : K :=
  sum (fun i => a i * x i) places.

Definition value_nmp (q : product_nmp) (xy : matrix * matrix) : K :=
  form_on (grid n m) (factor_x q) (fst xy) * form_on (grid m p) (factor_y q) (snd xy).

Definition times (x y : matrix) : matrix := fun c =>
  sum (fun j => x (fst c, j) * y (j, snd c)) (seq 0 m).

Definition correct_nmp (s : list product_nmp) : Prop := forall x y c, In c (grid n p) ->
  sum (fun q => coefficient q c * value_nmp q (x, y)) s = times x y c.

Definition brent_right_nmp (a b c : nat * nat) : K :=
  if ((snd a =? fst b) && (fst c =? fst a) && (snd c =? snd b))%nat then 1 else 0.

Definition brent_nmp (s : list product_nmp) : Prop := forall a b c,
  In a (grid n m) -> In b (grid m p) -> In c (grid n p) ->
  sum (fun q => factor_x q a * factor_y q b * coefficient q c) s = brent_right_nmp a b c.

Lemma sum_single A (f : A -> K) a l : NoDup l -> In a l ->
  (forall b, In b l -> b <> a -> f b = 0) -> sum f l = f a.
Proof.
  intros N I Z. apply in_split in I as (l1 & l2 & ->).
  rewrite (sum_perm _ _ _ _ _ (Permutation_sym (Permutation_middle l1 l2 a))). simpl.
  rewrite sum_zero; [ring|]. intros b B. apply Z.
  - apply in_or_app. apply in_app_or in B. simpl. tauto.
  - intros ->. now apply (NoDup_remove_2 _ _ _ N).
Qed.

Lemma sum_exchange A B (f : A -> B -> K) l l' :
  sum (fun a => sum (f a) l') l = sum (fun b => sum (fun a => f a b) l) l'.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite sum_zero|]. now rewrite IH, sum_add.
Qed.

Lemma sum_grid (f : nat * nat -> K) rows columns : sum f (grid rows columns) =
  sum (fun i => sum (fun j => f (i, j)) (seq 0 columns)) (seq 0 rows).
Proof.
  unfold grid. induction (seq 0 rows) as [|i l IH]; simpl; [reflexivity|].
  now rewrite sum_app, sum_map, IH.
Qed.

Lemma in_grid i j rows columns : In (i, j) (grid rows columns) <-> (i < rows /\ j < columns)%nat.
Proof. unfold grid. rewrite in_prod_iff, !in_seq. lia. Qed.

Lemma brent_right_times x y c : In c (grid n p) ->
  sum (fun a => sum (fun b => x a * y b * brent_right_nmp a b c) (grid m p)) (grid n m) =
  times x y c.
Proof.
  destruct c as [u v]. intros C. apply in_grid in C as [U V].
  rewrite sum_grid, (sum_single _ _ u).
  - unfold times. apply sum_ext. intros j J. rewrite sum_grid, (sum_single _ _ j).
    + rewrite (sum_single _ _ v).
      * unfold brent_right_nmp. simpl. rewrite !Nat.eqb_refl. simpl. ring.
      * apply seq_NoDup.
      * apply in_seq. lia.
      * intros l _ N. unfold brent_right_nmp. simpl.
        rewrite (proj2 (Nat.eqb_neq v l)) by congruence. rewrite andb_false_r. ring.
    + apply seq_NoDup.
    + exact J.
    + intros k _ N. apply sum_zero. intros l _. unfold brent_right_nmp. simpl.
      rewrite (proj2 (Nat.eqb_neq j k)) by congruence. simpl. ring.
  - apply seq_NoDup.
  - apply in_seq. lia.
  - intros i _ N. apply sum_zero. intros j _. apply sum_zero. intros b _.
    unfold brent_right_nmp. simpl.
    rewrite (proj2 (Nat.eqb_neq u i)) by congruence. rewrite andb_false_r. simpl. ring.
Qed.

Definition unit_at (a : nat * nat) : matrix := fun b =>
  if ((fst a =? fst b) && (snd a =? snd b))%nat then 1 else 0.

Lemma form_unit places x a : NoDup places -> In a places -> form_on places x (unit_at a) = x a.
Proof.
  intros N I. unfold form_on. rewrite (sum_single _ _ a); try assumption.
  - unfold unit_at. rewrite !Nat.eqb_refl. simpl. ring.
  - intros [b1 b2] _ D. destruct a as [a1 a2]. unfold unit_at. simpl.
    destruct (Nat.eqb_spec a1 b1), (Nat.eqb_spec a2 b2); subst; simpl; try ring.
    now destruct D.
Qed.

Lemma grid_NoDup rows columns : NoDup (grid rows columns).
Proof.
  unfold grid. generalize (seq_NoDup rows 0), (seq_NoDup columns 0).
  generalize (seq 0 rows), (seq 0 columns). intros l c L C.
  induction L as [|i l I L IH]; simpl; [constructor|].
  assert (D : NoDup (map (fun j => (i, j)) c)).
  { apply FinFun.Injective_map_NoDup; [|exact C]. intros a b E. congruence. }
  assert (F : forall a, In a (map (fun j => (i, j)) c) -> ~ In a (list_prod l c)).
  { intros a A B. apply in_map_iff in A as (j & <- & _). now apply in_prod_iff in B. }
  induction (map (fun j => (i, j)) c) as [|a d IHd]; simpl; [exact IH|].
  inversion D; subst. constructor.
  - rewrite in_app_iff. intros [A|A]; [contradiction|]. apply (F a); [now left | exact A].
  - apply IHd; [assumption|]. intros b B. apply F. now right.
Qed.

Theorem brent_correct_nmp s : brent_nmp s <-> correct_nmp s.
Proof.
  split.
  - intros H x y c C. rewrite <- (brent_right_times x y c C).
    transitivity (sum (fun a => sum (fun b => sum (fun q =>
      x a * y b * (factor_x q a * factor_y q b * coefficient q c)) s) (grid m p)) (grid n m)).
    + rewrite (sum_ext K _ _ (fun a => sum (fun q => sum (fun b =>
        x a * y b * (factor_x q a * factor_y q b * coefficient q c)) (grid m p)) s)).
      2: { intros a _. apply sum_exchange. }
      rewrite sum_exchange. apply sum_ext. intros q _. unfold value_nmp, form_on. simpl.
      symmetry. rewrite (sum_ext K _ _ (fun a => coefficient q c *
        sum (fun b => factor_y q b * y b) (grid m p) * (factor_x q a * x a))).
      * rewrite sum_scale. ring.
      * intros a _.
        rewrite (sum_ext K _ _ (fun b =>
          (coefficient q c * factor_x q a * x a) * (factor_y q b * y b))).
        -- rewrite sum_scale. ring.
        -- intros b _. ring.
    + apply sum_ext. intros a A. apply sum_ext. intros b B.
      now rewrite sum_scale, H.
  - intros H a b c A B C.
    transitivity (times (unit_at a) (unit_at b) c).
    + rewrite <- H by exact C. apply sum_ext. intros q _. unfold value_nmp. simpl.
      rewrite !form_unit; try assumption; try apply grid_NoDup. ring.
    + rewrite <- (brent_right_times _ _ c C). rewrite (sum_single _ _ a);
        [|apply grid_NoDup | exact A |].
      * rewrite (sum_single _ _ b); [|apply grid_NoDup | exact B |].
        -- unfold unit_at. rewrite !Nat.eqb_refl. simpl. ring.
        -- intros [k l] _ D. destruct b as [b1 b2]. unfold unit_at at 2. simpl.
           destruct (Nat.eqb_spec b1 k), (Nat.eqb_spec b2 l); subst; simpl; try ring.
           now destruct D.
      * intros [i j] _ D. apply sum_zero. intros d _. destruct a as [a1 a2].
        unfold unit_at at 1. simpl.
        destruct (Nat.eqb_spec a1 i), (Nat.eqb_spec a2 j); subst; simpl; try ring.
        now destruct D.
Qed.

(* A correct scheme is of minimal rank if no correct scheme of the shape is shorter. *)
Definition minimal_rank (s : list product_nmp) : Prop :=
  correct_nmp s /\ forall r, correct_nmp r -> (length s <= length r)%nat.

Notation outputs := (grid n p).
Notation coefficient_at := (fun (q : product_nmp) (c : nat * nat) => coefficient q c).

Lemma minimal_rank_minimal s : minimal_rank s ->
  minimal K (matrix * matrix) product_nmp (nat * nat) value_nmp coefficient_at outputs s.
Proof.
  intros [H M] r R.
  rewrite <- (map_length (fun x : product_nmp * (nat * nat -> K) =>
    ProductNMP (factor_x (fst x)) (factor_y (fst x)) (snd x)) r).
  apply M. intros x y c C. rewrite <- (H x y c C), sum_map.
  transitivity (result K (matrix * matrix) product_nmp (nat * nat) value_nmp coefficient_at
    s c (x, y)); [|reflexivity].
  now rewrite <- R.
Qed.

(* The general bound, for a scheme of minimal rank of any shape. *)
Theorem minimal_rank_bound s cs : minimal_rank s ->
  none_proportional K product_nmp (nat * nat) coefficient_at outputs s ->
  is_chaining K (matrix * matrix) product_nmp (nat * nat) value_nmp coefficient_at outputs s cs ->
  (length s <= writes K product_nmp (nat * nat) outputs cs)%nat.
Proof.
  intros M. apply minimal_writes_bound. now apply minimal_rank_minimal.
Qed.

End Shapes.
