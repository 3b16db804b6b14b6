(* 2x2 matrices and the schemes that multiply them. *)

Require Import List Permutation Ring Field Bool Arith Lia.
Import ListNotations.
From Heptane Require Import Fields.

Record m2 (K : field) := M { e11 : K; e12 : K; e21 : K; e22 : K }.
Arguments M {K}.
Arguments e11 {K}.
Arguments e12 {K}.
Arguments e21 {K}.
Arguments e22 {K}.

(* The four places of a 2x2 matrix. *)
Inductive place := p11 | p12 | p21 | p22.
Definition places := [p11; p12; p21; p22].

Definition row (i : place) := match i with p11 | p12 => 1 | _ => 2 end.
Definition column (i : place) := match i with p11 | p21 => 1 | _ => 2 end.

Section Matrices.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_matrices : (laws K).
Notation m2 := (m2 K).

Definition entry (x : m2) (i : place) : K :=
  match i with p11 => e11 x | p12 => e12 x | p21 => e21 x | p22 => e22 x end.

Definition zero2 : m2 := M 0 0 0 0.

Definition unit2 (i : place) : m2 :=
  match i with
  | p11 => M 1 0 0 0 | p12 => M 0 1 0 0 | p21 => M 0 0 1 0 | p22 => M 0 0 0 1
  end.

(* The linear functional <a, x>. *)
Definition dot (a x : m2) : K :=
  e11 a * e11 x + e12 a * e12 x + e21 a * e21 x + e22 a * e22 x.

Definition mmul (x y : m2) : m2 := M
  (e11 x * e11 y + e12 x * e21 y) (e11 x * e12 y + e12 x * e22 y)
  (e21 x * e11 y + e22 x * e21 y) (e21 x * e12 y + e22 x * e22 y).

Definition combine (x : m2) (k : K) (y : m2) : m2 := M
  (e11 x + k * e11 y) (e12 x + k * e12 y) (e21 x + k * e21 y) (e22 x + k * e22 y).

Definition det (x : m2) : K := e11 x * e22 x - e12 x * e21 x.

Definition transpose (x : m2) : m2 := M (e11 x) (e21 x) (e12 x) (e22 x).
Definition swap_rows (x : m2) : m2 := M (e21 x) (e22 x) (e11 x) (e12 x).

(* The matrix (a, b)^T (c, d), of rank one. *)
Definition outer (a b c d : K) : m2 := M (a * c) (a * d) (b * c) (b * d).

Lemma m2_ext (x y : m2) : (forall i, entry x i = entry y i) -> x = y.
Proof.
  destruct x, y. intros H.
  generalize (H p11), (H p12), (H p21), (H p22). simpl. congruence.
Qed.

Lemma m2_zero_dec (x : m2) : {x = zero2} + {x <> zero2}.
Proof.
  destruct x as [a b c d]. unfold zero2.
  destruct (eq_dec a 0) as [->|]; [|right; congruence].
  destruct (eq_dec b 0) as [->|]; [|right; congruence].
  destruct (eq_dec c 0) as [->|]; [|right; congruence].
  destruct (eq_dec d 0) as [->|]; [left; reflexivity | right; congruence].
Qed.

Lemma m2_nonzero (x : m2) : x <> zero2 -> exists i, entry x i <> 0.
Proof.
  intros N.
  destruct (eq_dec (entry x p11) 0) as [A|]; [|now exists p11].
  destruct (eq_dec (entry x p12) 0) as [B|]; [|now exists p12].
  destruct (eq_dec (entry x p21) 0) as [C|]; [|now exists p21].
  destruct (eq_dec (entry x p22) 0) as [D|]; [|now exists p22].
  exfalso. apply N. destruct x; simpl in *. now subst.
Qed.

(* Three linear functionals have a common non-zero zero. *)
Lemma common_zero (l : list m2) : (length l <= 3)%nat ->
  exists x, x <> zero2 /\ forall a, In a l -> dot a x = 0.
Proof.
  assert (H : forall a b c, exists x, x <> zero2 /\ dot a x = 0 /\ dot b x = 0 /\ dot c x = 0).
  { intros a b c.
    destruct (system_3_4 K (e11 a) (e12 a) (e21 a) (e22 a) (e11 b) (e12 b) (e21 b) (e22 b)
      (e11 c) (e12 c) (e21 c) (e22 c)) as (x & y & z & t & N & H).
    exists (M x y z t). split; [|exact H]. intros E. injection E. intros; subst; tauto. }
  destruct l as [|a [|b [|c [|d l]]]]; simpl; intros L; try lia.
  - destruct (H zero2 zero2 zero2) as (x & N & _). exists x. split; [exact N | intros b []].
  - destruct (H a a a) as (x & N & A & _). exists x. split; [exact N|].
    now intros b [<-|[]].
  - destruct (H a b b) as (x & N & A & B & _). exists x. split; [exact N|].
    now intros c [<-|[<-|[]]].
  - destruct (H a b c) as (x & N & A & B & C). exists x. split; [exact N|].
    now intros d [<-|[<-|[<-|[]]]].
Qed.

(* The sum over l of three factors, one of which kills every term. *)
Lemma sum_killed A (f g h : A -> K) l : (forall a, In a l -> h a = 0) ->
  sum (fun a => f a * g a * h a) l = 0.
Proof. intros H. apply sum_zero. intros a I. rewrite (H a I). ring. Qed.

(* One product of a scheme: <alpha, x> <beta, y>, added to the outputs with rho. *)
Record product2 := Product { alpha : m2; beta : m2; rho : m2 }.

Definition value2 (p : product2) (xy : m2 * m2) : K :=
  dot (alpha p) (fst xy) * dot (beta p) (snd xy).

Definition rho2 (p : product2) (i : place) : K := entry (rho p) i.

(* A scheme is correct if it computes the product of any two matrices. *)
Definition correct (s : list product2) : Prop := forall x y i,
  sum (fun p => rho2 p i * value2 p (x, y)) s = entry (mmul x y) i.

(* The Brent equations: for all places ij of x, kl of y, uv of xy,
   sum of alpha_ij beta_kl rho_uv = [j = k] [u = i] [v = l]. *)
Definition brent_right (a b c : place) : K :=
  if ((column a =? row b) && (row c =? row a) && (column c =? column b))%nat then 1 else 0.

Definition brent (s : list product2) : Prop := forall a b c,
  sum (fun p => entry (alpha p) a * entry (beta p) b * entry (rho p) c) s = brent_right a b c.

Lemma dot_unit x i : dot x (unit2 i) = entry x i.
Proof. destruct i; unfold dot; simpl; ring. Qed.

Theorem brent_correct s : brent s <-> correct s.
Proof.
  split.
  - intros H x y i.
    transitivity (sum (fun a => sum (fun b => entry x a * entry y b *
      sum (fun p => entry (alpha p) a * entry (beta p) b * entry (rho p) i) s) places) places).
    + clear H. induction s as [|p s IH]; simpl; [ring|].
      simpl in IH. rewrite IH. unfold rho2, value2, dot. simpl. ring.
    + rewrite (sum_ext K place _
        (fun a => sum (fun b => entry x a * entry y b * brent_right a b i) places)).
      * destruct i; unfold brent_right; simpl; ring.
      * intros a _. apply sum_ext. intros b _. now rewrite H.
  - intros H a b c.
    transitivity (entry (mmul (unit2 a) (unit2 b)) c).
    + rewrite <- H. apply sum_ext. intros p _. unfold rho2, value2. simpl.
      rewrite !dot_unit. ring.
    + destruct a, b, c; unfold brent_right; simpl; ring.
Qed.

Lemma correct_perm s s' : Permutation s s' -> correct s -> correct s'.
Proof. intros P H x y i. now rewrite <- (H x y i), (sum_perm _ _ _ _ _ P). Qed.

(* The number of non-zeros of a coefficient matrix. *)
Definition nonzero (x : K) : bool := if eq_dec x 0 then false else true.

(* Any combination of the outputs is computed by the same products. *)
Lemma correct_dot s c x y : correct s ->
  sum (fun p => dot c (rho p) * dot (alpha p) x * dot (beta p) y) s = dot c (mmul x y).
Proof.
  intros H. unfold dot at 4.
  rewrite <- (H x y p11 : _ = e11 _), <- (H x y p12 : _ = e12 _),
    <- (H x y p21 : _ = e21 _), <- (H x y p22 : _ = e22 _).
  rewrite <- !sum_scale, <- !sum_add. apply sum_ext. intros p _.
  unfold dot at 1, rho2, value2. simpl. ring.
Qed.

(* Two symmetries of schemes: exchange the rows of x and of xy; transpose. *)
Definition swap_rows_product (p : product2) :=
  Product (swap_rows (alpha p)) (beta p) (swap_rows (rho p)).
Definition transpose_product (p : product2) :=
  Product (transpose (beta p)) (transpose (alpha p)) (transpose (rho p)).

Lemma swap_rows_correct s : correct s -> correct (map swap_rows_product s).
Proof.
  intros H x y i.
  set (j := match i with p11 => p21 | p12 => p22 | p21 => p11 | p22 => p12 end).
  rewrite sum_map. transitivity (entry (mmul (swap_rows x) y) j).
  - rewrite <- H. apply sum_ext. intros p _. unfold rho2, value2, dot, j. destruct i; simpl; ring.
  - unfold j. destruct i; reflexivity.
Qed.

Lemma transpose_correct s : correct s -> correct (map transpose_product s).
Proof.
  intros H x y i.
  set (j := match i with p11 => p11 | p12 => p21 | p21 => p12 | p22 => p22 end).
  rewrite sum_map. transitivity (entry (mmul (transpose y) (transpose x)) j).
  - rewrite <- H. apply sum_ext. intros p _. unfold rho2, value2, dot, j. destruct i; simpl; ring.
  - unfold j. destruct i; simpl; ring.
Qed.

End Matrices.

Arguments entry {K}.
Arguments dot {K}.
Arguments mmul {K}.
Arguments combine {K}.
Arguments det {K}.
Arguments transpose {K}.
Arguments swap_rows {K}.
Arguments outer {K}.
Arguments zero2 {K}.
Arguments unit2 {K}.
Arguments nonzero {K}.
Arguments Product {K}.
Arguments alpha {K}.
Arguments beta {K}.
Arguments rho {K}.
Arguments value2 {K}.
Arguments rho2 {K}.
Arguments correct {K}.
Arguments brent {K}.
Arguments swap_rows_product {K}.
Arguments transpose_product {K}.
