(* The heart of the matter: on a three-dimensional space of matrices x, the trilinear form
   trace(x y z) is not a sum of five products. Winograd's bound and Lemma 1 both follow.

   The space is the kernel of <c, .>. The proof has two cases: c singular, c regular. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Matrices.

Section FiveProducts.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_five : (laws K).
Notation m2 := (m2 K).
Notation product2 := (product2 K).

Definition trace3 (x y z : m2) : K := dot (transpose (mmul y z)) x.

Definition triple (p : product2) (x y z : m2) : K :=
  dot (alpha p) x * dot (beta p) y * dot (rho p) z.

(* l computes trace(x y z) for all x with <c, x> = 0. *)
Definition computes_on (c : m2) (l : list product2) : Prop :=
  forall x y z, dot c x = 0 -> sum (fun p => triple p x y z) l = trace3 x y z.

(* The row vector v^T beta(p). *)
Definition left1 (v1 v2 : K) (p : product2) : K := v1 * e11 (beta p) + v2 * e21 (beta p).
Definition left2 (v1 v2 : K) (p : product2) : K := v1 * e12 (beta p) + v2 * e22 (beta p).

Lemma dot_outer v1 v2 z1 z2 p :
  dot (beta p) (outer v1 v2 z1 z2) = left1 v1 v2 p * z1 + left2 v1 v2 p * z2.
Proof. unfold dot, outer, left1, left2. simpl. ring. Qed.

Lemma computes_on_perm c l m : Permutation l m -> computes_on c l -> computes_on c m.
Proof. intros P H x y z C. now rewrite <- (H x y z C), (sum_perm _ _ _ _ _ P). Qed.

(* Two of the products are independent on the matrices y = v (.)^T. *)
Lemma pair_exists c l v1 v2 : computes_on c l -> v1 <> 0 \/ v2 <> 0 ->
  exists p q m, Permutation l (p :: q :: m) /\
    left1 v1 v2 p * left2 v1 v2 q - left1 v1 v2 q * left2 v1 v2 p <> 0.
Proof.
  intros H V.
  destruct (independent_pair K _ (left1 v1 v2) (left2 v1 v2) l) as [E|(z1 & z2 & Z & E)];
    [exact E | exfalso].
  destruct (dual_vector K v1 v2 V) as (w1 & w2 & W).
  destruct (dual_vector K z1 z2 Z) as (y1 & y2 & Y).
  destruct (system_1_2 K (e11 c * w1 + e12 c * w2) (e21 c * w1 + e22 c * w2))
    as (q1 & q2 & Q & C).
  destruct (dual_vector K q1 q2 Q) as (r1 & r2 & R).
  apply (one_nonzero K).
  transitivity (trace3 (outer q1 q2 w1 w2) (outer v1 v2 z1 z2) (outer y1 y2 r1 r2)).
  - transitivity ((w1 * v1 + w2 * v2) * (y1 * z1 + y2 * z2) * (r1 * q1 + r2 * q2)).
    + rewrite W, Y, R. ring.
    + unfold trace3, dot, transpose, mmul, outer. simpl. ring.
  - rewrite <- H.
    + apply sum_zero. intros p P. unfold triple. rewrite dot_outer, (E p P). ring.
    + rewrite <- C. unfold dot, outer. simpl. ring.
Qed.

(* With z chosen to kill all products but p and q. *)
Lemma two_left c p q m : computes_on c (p :: q :: m) -> (length m <= 3)%nat ->
  exists z, z <> zero2 /\
    forall x y, dot c x = 0 -> triple p x y z + triple q x y z = trace3 x y z.
Proof.
  intros H L.
  destruct (common_zero K (map rho m)) as (z & Z & N); [now rewrite map_length|].
  exists z. split; [exact Z|]. intros x y C. rewrite <- (H x y z C). simpl.
  rewrite (sum_zero K _ _ m); [ring|]. intros r R. unfold triple.
  rewrite (N (rho r)); [ring | now apply in_map].
Qed.

Lemma determinant_kills (f g f' g' x y : K) : f * g' - f' * g <> 0 ->
  f * x + g * y = 0 -> f' * x + g' * y = 0 -> x = 0 /\ y = 0.
Proof.
  intros D A B. split; apply (mul_zero_l K (f * g' - f' * g)); try exact D.
  - transitivity (g' * (f * x + g * y) - g * (f' * x + g' * y)); [ring|]. rewrite A, B. ring.
  - transitivity (f * (f' * x + g' * y) - f' * (f * x + g * y)); [ring|]. rewrite A, B. ring.
Qed.

(* First case: <c, x> vanishes on all x with x v = 0. *)
Lemma singular_case c l v1 v2 : computes_on c l -> length l = 5%nat ->
  v1 <> 0 \/ v2 <> 0 ->
  (forall p1 p2, dot c (outer p1 p2 (- v2) v1) = 0) -> False.
Proof.
  intros H L V C.
  destruct (pair_exists c l v1 v2 H V) as (p & q & m & P & D).
  assert (L' := Permutation_length P). rewrite L in L'. simpl in L'.
  destruct (two_left c p q m (computes_on_perm _ _ _ P H)) as (z & Z & E); [lia|].
  assert (N : forall p1 p2 y, trace3 (outer p1 p2 (- v2) v1) y z = 0).
  { intros p1 p2 y.
    set (x := outer p1 p2 (- v2) v1).
    set (a := dot (alpha p) x * dot (rho p) z). set (b := dot (alpha q) x * dot (rho q) z).
    assert (F : forall s t, a * (left1 v1 v2 p * s + left2 v1 v2 p * t) +
                            b * (left1 v1 v2 q * s + left2 v1 v2 q * t) = 0).
    { intros s t. rewrite <- !dot_outer.
      transitivity (trace3 x (outer v1 v2 s t) z).
      - rewrite <- E by apply C. unfold triple, a, b. ring.
      - unfold trace3, x, dot, outer, transpose, mmul. simpl. ring. }
    destruct (determinant_kills (left1 v1 v2 p) (left1 v1 v2 q) (left2 v1 v2 p)
      (left2 v1 v2 q) a b) as [A B].
    - intros G. apply D. rewrite <- G. ring.
    - rewrite <- (F 1 0). ring.
    - rewrite <- (F 0 1). ring.
    - rewrite <- E by apply C. unfold triple.
      transitivity (a * dot (beta p) y + b * dot (beta q) y); [unfold a, b; ring|].
      rewrite A, B. ring. }
  assert (V' : - v2 <> 0 \/ v1 <> 0).
  { destruct V as [V|V]; [now right | left]. intros G. apply V.
    transitivity (- - v2); [ring | rewrite G; ring]. }
  destruct (dual_vector K (- v2) v1 V') as (w1 & w2 & W).
  apply Z. apply m2_ext.
  assert (G : forall p1 p2 s t, (s * e11 z + t * e21 z) * p1 + (s * e12 z + t * e22 z) * p2 = 0).
  { intros p1 p2 s t. rewrite <- (N p1 p2 (outer w1 w2 s t)).
    transitivity ((w1 * - v2 + w2 * v1) *
      ((s * e11 z + t * e21 z) * p1 + (s * e12 z + t * e22 z) * p2)).
    - rewrite W. ring.
    - unfold trace3, dot, outer, transpose, mmul. simpl. ring. }
  intros i. destruct i; simpl.
  - rewrite <- (G 1 0 1 0). ring.
  - rewrite <- (G 0 1 1 0). ring.
  - rewrite <- (G 1 0 0 1). ring.
  - rewrite <- (G 0 1 0 1). ring.
Qed.

(* A functional that vanishes where <c, .> does is a multiple of it. *)
Lemma minors (c n : m2) i : (forall x, dot c x = 0 -> dot n x = 0) ->
  forall j, entry n j * entry c i = entry n i * entry c j.
Proof.
  intros H j. apply sub_zero.
  rewrite <- (H (combine (combine zero2 (entry c i) (unit2 j)) (- entry c j) (unit2 i))).
  - destruct i, j; unfold dot, combine; simpl; ring.
  - destruct i, j; unfold dot, combine; simpl; ring.
Qed.

(* entry i of transpose (y z), as a functional of y. *)
Definition entry_of_product (z : m2) (i : place) : m2 :=
  match i with
  | p11 => M (e11 z) (e21 z) 0 0
  | p12 => M 0 0 (e11 z) (e21 z)
  | p21 => M (e12 z) (e22 z) 0 0
  | p22 => M 0 0 (e12 z) (e22 z)
  end.

Lemma entry_of_product_ok z i y :
  dot (entry_of_product z i) y = entry (transpose (mmul y z)) i.
Proof. destruct i; unfold dot; simpl; ring. Qed.

Lemma regular_annihilator (y z : m2) : det z <> 0 ->
  (forall i, entry (transpose (mmul y z)) i = 0) -> y = zero2.
Proof.
  intros D H. generalize (H p11) (H p12) (H p21) (H p22). clear H.
  destruct y as [a b c d], z as [s t u v]. unfold det in D. simpl in *. intros A B C E.
  destruct (determinant_kills s u t v a b) as [-> ->].
  { intros G. apply D. rewrite <- G. ring. }
  { rewrite <- A. ring. }
  { rewrite <- C. ring. }
  destruct (determinant_kills s u t v c d) as [-> ->].
  { intros G. apply D. rewrite <- G. ring. }
  { rewrite <- B. ring. }
  { rewrite <- E. ring. }
  reflexivity.
Qed.

(* Second case: c is regular. Then y z = 0 for every y that p and q kill; but those y
   cannot all be of the form (.) z'^T, because p and q are independent on e1 (.)^T. *)
Lemma regular_case c l : computes_on c l -> length l = 5%nat -> det c <> 0 -> False.
Proof.
  intros H L DC.
  destruct (pair_exists c l 1 0 H (or_introl (one_nonzero K))) as (p & q & m & P & D).
  assert (L' := Permutation_length P). rewrite L in L'. simpl in L'.
  destruct (two_left c p q m (computes_on_perm _ _ _ P H)) as (z & Z & E); [lia|].
  assert (C0 : c <> zero2).
  { intros ->. apply DC. unfold det, zero2. simpl. ring. }
  destruct (m2_nonzero K c C0) as (i & Ci).
  assert (N : forall y, dot (beta p) y = 0 -> dot (beta q) y = 0 ->
    forall j, entry (transpose (mmul y z)) j * entry c i =
              entry (transpose (mmul y z)) i * entry c j).
  { intros y A B. apply minors. intros x X. fold (trace3 x y z).
    rewrite <- E by exact X. unfold triple. rewrite A, B. ring. }
  assert (S : det z = 0).
  { destruct (eq_dec (det z) 0) as [|G]; [assumption | exfalso].
    destruct (common_zero K [beta p; beta q; entry_of_product z i]) as (y & Y & O);
      [simpl; lia|].
    apply Y. apply (regular_annihilator y z G). intros j.
    apply (mul_zero_l K (entry c i)); [|exact Ci].
    transitivity (entry (transpose (mmul y z)) j * entry c i); [ring|].
    rewrite (N y); [|apply O; simpl; tauto ..].
    rewrite <- entry_of_product_ok, O by (simpl; tauto). ring. }
  assert (A : forall y, dot (beta p) y = 0 -> dot (beta q) y = 0 ->
    forall j, entry (transpose (mmul y z)) j = 0).
  { intros y Yp Yq. assert (R := N y Yp Yq). clear N.
    set (n := transpose (mmul y z)) in *.
    assert (Dn : det n = 0).
    { transitivity (det y * det z); [|rewrite S; ring].
      unfold n, det, transpose, mmul. simpl. ring. }
    assert (I : entry n i = 0).
    { assert (Q : entry n i * entry n i = 0).
      { apply (mul_zero_l K (det c)); [|exact DC].
        transitivity (entry c i * entry c i * det n); [|rewrite Dn; ring].
        transitivity ((entry n i * entry c p11) * (entry n i * entry c p22) -
                      (entry n i * entry c p12) * (entry n i * entry c p21)).
        - unfold det. simpl. ring.
        - rewrite <- !R. unfold det. simpl. ring. }
      destruct (mul_zero K _ _ Q); assumption. }
    intros j. apply (mul_zero_l K (entry c i)); [|exact Ci].
    transitivity (entry n j * entry c i); [ring|]. rewrite R, I. ring. }
  assert (B : exists z1 z2, (z1 <> 0 \/ z2 <> 0) /\
    forall y, dot (beta p) y = 0 -> dot (beta q) y = 0 ->
      e11 y * z1 + e12 y * z2 = 0 /\ e21 y * z1 + e22 y * z2 = 0).
  { destruct (m2_nonzero K z Z) as (j & Zj).
    destruct j; simpl in Zj;
    [ exists (e11 z), (e21 z) | exists (e12 z), (e22 z)
    | exists (e11 z), (e21 z) | exists (e12 z), (e22 z) ];
    (split; [tauto|]; intros y Yp Yq;
     first [ exact (conj (A y Yp Yq p11) (A y Yp Yq p12))
           | exact (conj (A y Yp Yq p21) (A y Yp Yq p22)) ]). }
  destruct B as (z1 & z2 & Z12 & B).
  destruct (dual_vector K z1 z2 Z12) as (w1 & w2 & W).
  destruct (system_2_3 K
    (dot (beta p) (outer 1 0 w1 w2)) (dot (beta p) (outer 0 1 w1 w2))
    (dot (beta p) (outer 1 0 (- z2) z1))
    (dot (beta q) (outer 1 0 w1 w2)) (dot (beta q) (outer 0 1 w1 w2))
    (dot (beta q) (outer 1 0 (- z2) z1))) as (s1 & s2 & t & ST & F & G).
  set (y := M (s1 * w1 - t * z2) (s1 * w2 + t * z1) (s2 * w1) (s2 * w2)).
  destruct (B y) as [Y1 Y2].
  { rewrite <- F. unfold y, dot, outer. simpl. ring. }
  { rewrite <- G. unfold y, dot, outer. simpl. ring. }
  assert (s1 = 0).
  { rewrite <- Y1. transitivity (s1 * (w1 * z1 + w2 * z2)); [rewrite W; ring|].
    unfold y. simpl. ring. }
  assert (s2 = 0).
  { rewrite <- Y2. transitivity (s2 * (w1 * z1 + w2 * z2)); [rewrite W; ring|].
    unfold y. simpl. ring. }
  subst s1 s2.
  assert (T : t <> 0) by tauto.
  destruct (determinant_kills (left1 1 0 p) (left2 1 0 p) (left1 1 0 q) (left2 1 0 q)
    (- z2) z1 D) as [U1 U2].
  - rewrite <- dot_outer. apply (mul_zero_l K t); [|exact T].
    etransitivity; [|exact F]. ring.
  - rewrite <- dot_outer. apply (mul_zero_l K t); [|exact T].
    etransitivity; [|exact G]. ring.
  - destruct Z12 as [G'|G']; apply G'; [exact U2|].
    transitivity (- - z2); [ring | rewrite U1; ring].
Qed.

Theorem five_products_impossible c l : length l = 5%nat -> ~ computes_on c l.
Proof.
  intros L H. destruct (eq_dec (det c) 0) as [D|D]; [|now apply (regular_case c l)].
  destruct c as [a b d e]. unfold det in D. simpl in D. apply sub_zero in D.
  destruct (eq_dec a 0) as [A|A]; [destruct (eq_dec b 0) as [B|B];
    [destruct (eq_dec d 0) as [C|C]; [destruct (eq_dec e 0) as [F|F]|]|]|].
  - apply (singular_case _ l 1 0 H L); [left; exact (one_nonzero K)|].
    intros. subst. unfold dot, outer. simpl. ring.
  - apply (singular_case _ l d e H L); [now right|].
    intros. subst. unfold dot, outer. simpl. ring.
  - apply (singular_case _ l d e H L); [now left|].
    intros. subst. unfold dot, outer. simpl. ring.
  - apply (singular_case _ l a b H L); [now right|].
    intros. unfold dot, outer. simpl. transitivity (p2 * (a * e - b * d)); [ring|].
    rewrite D. ring.
  - apply (singular_case _ l a b H L); [now left|].
    intros. unfold dot, outer. simpl. transitivity (p2 * (a * e - b * d)); [ring|].
    rewrite D. ring.
Qed.

End FiveProducts.

Arguments computes_on {K}.
