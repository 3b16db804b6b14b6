(* Schemes and chainings applied to blocks. Blocks form a module over K with a bilinear
   product, for example matrices over K; the product need be neither commutative nor
   associative. What was checked for scalars holds for blocks. *)

Require Import List Permutation Ring Field.
Import ListNotations.
From Heptane Require Import Fields Chaining Matrices.

Record algebra (K : field) := Algebra {
  block :> Type;
  bzero : block;
  badd : block -> block -> block;
  bscale : K -> block -> block;
  bmul : block -> block -> block;
  badd_zero_l : forall x, badd bzero x = x;
  badd_comm : forall x y, badd x y = badd y x;
  badd_assoc : forall x y z, badd x (badd y z) = badd (badd x y) z;
  bscale_one : forall x, bscale one x = x;
  bscale_zero : forall x, bscale zero x = bzero;
  bscale_scale : forall k m x, bscale k (bscale m x) = bscale (mul k m) x;
  bscale_add_l : forall k m x, bscale (add k m) x = badd (bscale k x) (bscale m x);
  bscale_add_r : forall k x y, bscale k (badd x y) = badd (bscale k x) (bscale k y);
  bmul_add_l : forall x y z, bmul (badd x y) z = badd (bmul x z) (bmul y z);
  bmul_add_r : forall x y z, bmul x (badd y z) = badd (bmul x y) (bmul x z);
  bmul_scale_l : forall k x y, bmul (bscale k x) y = bscale k (bmul x y);
  bmul_scale_r : forall k x y, bmul x (bscale k y) = bscale k (bmul x y)
}.
Arguments bzero {K a}.
Arguments badd {K a}.
Arguments bscale {K a}.
Arguments bmul {K a}.

Section Blocks.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_blocks : (laws K).
Variable B : algebra K.
Infix "++" := (@badd K B).
Infix "**" := (@bscale K B) (at level 35, right associativity).

Lemma badd_zero_r (x : B) : x ++ bzero = x.
Proof. now rewrite badd_comm, badd_zero_l. Qed.

Lemma bscale_bzero k : k ** bzero = bzero.
Proof.
  rewrite <- (bscale_zero K B bzero), bscale_scale. f_equal. ring.
Qed.

Lemma badd_shuffle (x y z t : B) : (x ++ y) ++ (z ++ t) = (x ++ z) ++ (y ++ t).
Proof.
  rewrite <- !badd_assoc. f_equal. rewrite !badd_assoc. f_equal. apply badd_comm.
Qed.

Definition bsum {A : Type} (f : A -> B) (l : list A) : B :=
  fold_right (fun a s => f a ++ s) bzero l.

Lemma bsum_ext A (f g : A -> B) l : (forall a, In a l -> f a = g a) -> bsum f l = bsum g l.
Proof.
  induction l as [|a l IH]; intros H; simpl; [reflexivity|].
  rewrite (H a (or_introl eq_refl)), IH; [reflexivity|]. intros b I. apply H. now right.
Qed.

Lemma bsum_zero A (l : list A) : bsum (fun _ => bzero) l = bzero.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite IH, badd_zero_l. Qed.

Lemma bsum_add A (f g : A -> B) l : bsum (fun a => f a ++ g a) l = bsum f l ++ bsum g l.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite badd_zero_l|].
  now rewrite IH, badd_shuffle.
Qed.

Lemma bsum_scale A k (f : A -> B) l : bsum (fun a => k ** f a) l = k ** bsum f l.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite bscale_bzero|].
  now rewrite IH, bscale_add_r.
Qed.

Lemma bsum_coefficients A (f : A -> K) (x : B) l : bsum (fun a => f a ** x) l = sum f l ** x.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite bscale_zero|].
  now rewrite IH, bscale_add_l.
Qed.

Lemma bsum_exchange A C (f : A -> C -> B) l m :
  bsum (fun a => bsum (f a) m) l = bsum (fun c => bsum (fun a => f a c) l) m.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite bsum_zero|]. now rewrite IH, bsum_add.
Qed.

Lemma bsum_perm A (f : A -> B) l m : Permutation l m -> bsum f l = bsum f m.
Proof.
  induction 1; simpl; try congruence.
  now rewrite badd_assoc, (badd_comm K B (f y)), <- badd_assoc.
Qed.

Lemma bmul_sum_l A (f : A -> B) y l : bmul (bsum f l) y = bsum (fun a => bmul (f a) y) l.
Proof.
  induction l as [|a l IH]; simpl; [|now rewrite bmul_add_l, IH].
  now rewrite <- (bscale_zero K B bzero), bmul_scale_l, !bscale_zero.
Qed.

Lemma bmul_sum_r A (f : A -> B) x l : bmul x (bsum f l) = bsum (fun a => bmul x (f a)) l.
Proof.
  induction l as [|a l IH]; simpl; [|now rewrite bmul_add_r, IH].
  now rewrite <- (bscale_zero K B bzero), bmul_scale_r, !bscale_zero.
Qed.

(* Matrices of blocks, and a scheme on them. *)
Definition block_matrix := place -> B.

Definition block_mul (x y : block_matrix) : block_matrix := fun i =>
  match i with
  | p11 => bmul (x p11) (y p11) ++ bmul (x p12) (y p21)
  | p12 => bmul (x p11) (y p12) ++ bmul (x p12) (y p22)
  | p21 => bmul (x p21) (y p11) ++ bmul (x p22) (y p21)
  | p22 => bmul (x p21) (y p12) ++ bmul (x p22) (y p22)
  end.

Definition form (a : m2 K) (x : block_matrix) : B := bsum (fun i => entry a i ** x i) places.

Definition block_value (x y : block_matrix) (p : product2 K) : B :=
  bmul (form (alpha p) x) (form (beta p) y).

Theorem blocks_correct s : brent s -> forall x y i,
  bsum (fun p => rho2 p i ** block_value x y p) s = block_mul x y i.
Proof.
  intros H x y i.
  transitivity (bsum (fun a => bsum (fun b =>
    brent_right K a b i ** bmul (x a) (y b)) places) places).
  - transitivity (bsum (fun p => bsum (fun a => bsum (fun b =>
      (entry (alpha p) a * entry (beta p) b * entry (rho p) i) ** bmul (x a) (y b))
      places) places) s).
    + apply bsum_ext. intros p _. unfold block_value, form.
      rewrite bmul_sum_l, <- bsum_scale. apply bsum_ext. intros a _.
      rewrite bmul_sum_r, <- bsum_scale. apply bsum_ext. intros b _.
      rewrite bmul_scale_l, bmul_scale_r, !bscale_scale. f_equal. unfold rho2. ring.
    + rewrite bsum_exchange. apply bsum_ext. intros a _.
      rewrite bsum_exchange. apply bsum_ext. intros b _.
      now rewrite bsum_coefficients, H.
  - destruct i; unfold brent_right; simpl;
      now rewrite ?bscale_one, ?bscale_zero, ?badd_zero_l, ?badd_zero_r.
Qed.

(* A chaining, accumulating blocks. *)
Section Chains.
Variables T P O : Type.
Variable value : P -> T -> K.
Variable rho : P -> O -> K.
Variable outputs : list O.
Variable block_value : P -> B.

Fixpoint block_run (acc : B) (c : chain K P O) (o : O) : B :=
  match c with
  | [] => bzero
  | x :: rest =>
      let prefix := acc ++ scale K P O x ** block_value (product K P O x) in
      (write K P O x o ** prefix) ++ block_run prefix rest o
  end.

Definition block_written (cs : chaining K P O) (o : O) : B :=
  bsum (fun c => block_run bzero c o) cs.

Lemma block_run_expand c o : forall acc, block_run acc c o =
  (sum (fun x => write K P O x o) c ** acc) ++
  bsum (fun x => fst x ** block_value (snd x)) (expand K P O c o).
Proof.
  induction c as [|x c IH]; intros acc; simpl.
  - now rewrite bscale_zero, badd_zero_l.
  - rewrite IH, badd_assoc, <- bscale_add_l, bscale_add_r, bscale_scale, <- badd_assoc.
    do 3 f_equal. ring.
Qed.

Theorem blocks_chaining s cs o :
  is_chaining K T P O value rho outputs s cs -> independent K T P value s -> In o outputs ->
  block_written cs o = bsum (fun p => rho p o ** block_value p) s.
Proof.
  intros HC HI HO. assert (HE := expand_rho K T P O value rho outputs s cs o HC HI HO).
  destruct HC as (HP & _). rewrite <- (bsum_perm _ _ _ _ HP). clear HP.
  unfold block_written. induction cs as [|c cs IH]; simpl; [reflexivity|].
  rewrite IH by (intros d D; apply HE; now right).
  rewrite block_run_expand, bscale_bzero, badd_zero_l, map_app.
  assert (App : forall l m, bsum (fun p => rho p o ** block_value p) (app l m) =
    bsum (fun p => rho p o ** block_value p) l ++ bsum (fun p => rho p o ** block_value p) m).
  { clear. induction l as [|p l IH]; intros m; simpl; [now rewrite badd_zero_l|].
    now rewrite IH, badd_assoc. }
  rewrite App. f_equal. rewrite <- (expand_products K P O c o).
  assert (HC := HE c (or_introl eq_refl)). clear - HC.
  induction (expand K P O c o) as [|x l IH]; simpl; [reflexivity|].
  rewrite (HC x (or_introl eq_refl)), IH; [reflexivity|]. intros y Y. apply HC. now right.
Qed.
End Chains.

End Blocks.

(* An example of blocks that do not commute: 2x2 matrices themselves. *)
Section Example.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_example : (laws K).

Definition matrix_blocks : algebra K.
Proof.
  refine (Algebra K (m2 K) zero2 (fun x y => combine x 1 y) (fun k x => combine zero2 k x)
    mmul _ _ _ _ _ _ _ _ _ _ _ _);
  intros; apply m2_ext; intros []; simpl; ring.
Defined.

Theorem matrix_blocks_do_not_commute : exists x y : matrix_blocks, bmul x y <> bmul y x.
Proof.
  exists (unit2 p12), (unit2 p21). intros E. apply (one_nonzero K).
  assert (E' := f_equal e11 E). simpl in E'.
  etransitivity; [|etransitivity; [exact E'|]]; ring.
Qed.
End Example.
