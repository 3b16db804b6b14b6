(* Winograd's bound, Lemmas 1 and 2, and Theorem 1: every chaining of every seven-product
   scheme for 2x2 matrices needs at least seven writes. No hypothesis is left: neither
   Winograd's theorem nor de Groote's is assumed. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Chaining Matrices FiveProducts.

Section Theorem1.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_theorem1 : (laws K).
Notation m2 := (m2 K).
Notation product2 := (product2 K).
Implicit Types (s l m : list product2) (p q : product2) (k : K).

(* A decomposition of the trilinear form trace(x y z). The three factors can take any of
   the three places, in cyclic order. *)
Definition decomposes (l : list product2) : Prop :=
  forall x y z, sum (fun p => triple K p x y z) l = trace3 K x y z.

Definition alpha_first (p : product2) := Product (alpha p) (beta p) (transpose (rho p)).
Definition beta_first (p : product2) := Product (beta p) (transpose (rho p)) (alpha p).
Definition rho_first (p : product2) := Product (transpose (rho p)) (alpha p) (beta p).

Lemma alpha_first_decomposes s : correct s -> decomposes (map alpha_first s).
Proof.
  intros H x y z. rewrite sum_map.
  transitivity (dot (transpose z) (mmul x y)).
  - rewrite <- (correct_dot K s) by exact H. apply sum_ext. intros p _.
    unfold triple, dot. simpl. ring.
  - unfold trace3, dot. simpl. ring.
Qed.

Lemma beta_first_decomposes s : correct s -> decomposes (map beta_first s).
Proof.
  intros H x y z. rewrite sum_map.
  transitivity (dot (transpose y) (mmul z x)).
  - rewrite <- (correct_dot K s) by exact H. apply sum_ext. intros p _.
    unfold triple, dot. simpl. ring.
  - unfold trace3, dot. simpl. ring.
Qed.

Lemma rho_first_decomposes s : correct s -> decomposes (map rho_first s).
Proof.
  intros H x y z. rewrite sum_map.
  transitivity (dot (transpose x) (mmul y z)).
  - rewrite <- (correct_dot K s) by exact H. apply sum_ext. intros p _.
    unfold triple, dot. simpl. ring.
  - unfold trace3, dot. simpl. ring.
Qed.

Lemma decomposes_perm l m : Permutation l m -> decomposes l -> decomposes m.
Proof. intros P H x y z. now rewrite <- (H x y z), (sum_perm _ _ _ _ _ P). Qed.

Definition nothing : product2 := Product zero2 zero2 zero2.

Lemma seven_needed l : decomposes l -> (7 <= length l)%nat.
Proof.
  intros H. destruct (Compare_dec.le_lt_dec 7 (length l)) as [|L]; [assumption | exfalso].
  set (padded := l ++ repeat nothing (6 - length l)).
  assert (E : length padded = 6%nat).
  { unfold padded. rewrite app_length, repeat_length. lia. }
  assert (H' : decomposes padded).
  { intros x y z. unfold padded. rewrite sum_app, H, (sum_zero K _ _ (repeat _ _)); [ring|].
    intros p P. apply repeat_spec in P as ->. unfold triple, dot, nothing. simpl. ring. }
  destruct padded as [|p m]; [discriminate|]. injection E as E.
  apply (five_products_impossible K (alpha p) m E).
  intros x y z A. rewrite <- H'. simpl. unfold triple at 2. rewrite A. ring.
Qed.

Lemma first_factors l p q m k : decomposes l -> length l = 7%nat ->
  Permutation l (p :: q :: m) -> ~ forall i, entry (alpha p) i = k * entry (alpha q) i.
Proof.
  intros H L P E.
  assert (L' := Permutation_length P). rewrite L in L'. injection L' as L'.
  apply (five_products_impossible K (alpha q) m (eq_sym L')).
  intros x y z A. rewrite <- (decomposes_perm _ _ P H). simpl.
  assert (A' : dot (alpha p) x = 0).
  { transitivity (k * dot (alpha q) x); [|rewrite A; ring].
    unfold dot. rewrite (E p11 : e11 _ = _), (E p12 : e12 _ = _), (E p21 : e21 _ = _),
      (E p22 : e22 _ = _). simpl. ring. }
  unfold triple at 2 3. rewrite A, A'. ring.
Qed.

(* Winograd 1971: 2x2 matrices cannot be multiplied with fewer than seven products. *)
Theorem winograd s : correct s -> (7 <= length s)%nat.
Proof.
  intros H. rewrite <- (map_length alpha_first).
  now apply seven_needed, alpha_first_decomposes.
Qed.

(* Lemma 1: in a seven-product scheme no coefficient matrix is a multiple of another one,
   and none is zero (take k = 0). The same holds for the two families of factors. *)
Theorem lemma1 s p q l k : correct s -> length s = 7%nat -> Permutation s (p :: q :: l) ->
  ~ forall i, entry (rho p) i = k * entry (rho q) i.
Proof.
  intros H L P E.
  apply (first_factors (map rho_first s) (rho_first p) (rho_first q) (map rho_first l) k).
  - now apply rho_first_decomposes.
  - now rewrite map_length.
  - rewrite P. reflexivity.
  - intros i. destruct i; [apply (E p11) | apply (E p21) | apply (E p12) | apply (E p22)].
Qed.

Theorem lemma1_alpha s p q l k : correct s -> length s = 7%nat ->
  Permutation s (p :: q :: l) -> ~ forall i, entry (alpha p) i = k * entry (alpha q) i.
Proof.
  intros H L P E.
  apply (first_factors (map alpha_first s) (alpha_first p) (alpha_first q)
    (map alpha_first l) k).
  - now apply alpha_first_decomposes.
  - now rewrite map_length.
  - rewrite P. reflexivity.
  - exact E.
Qed.

Theorem lemma1_beta s p q l k : correct s -> length s = 7%nat ->
  Permutation s (p :: q :: l) -> ~ forall i, entry (beta p) i = k * entry (beta q) i.
Proof.
  intros H L P E.
  apply (first_factors (map beta_first s) (beta_first p) (beta_first q)
    (map beta_first l) k).
  - now apply beta_first_decomposes.
  - now rewrite map_length.
  - rewrite P. reflexivity.
  - exact E.
Qed.

Lemma all_in_places i : In i places.
Proof. destruct i; simpl; tauto. Qed.

Lemma seven_none_proportional s : correct s -> length s = 7%nat ->
  none_proportional K product2 place rho2 places s.
Proof.
  intros H L p q l P m _ E. apply (lemma1 s p q l m H L P).
  intros i. apply E, all_in_places.
Qed.

Lemma seven_minimal s : correct s -> length s = 7%nat ->
  minimal K (m2 * m2) product2 place value2 rho2 places s.
Proof.
  intros H L r R. rewrite L.
  rewrite <- (map_length (fun x : product2 * (place -> K) =>
    Product (alpha (fst x)) (beta (fst x))
      (M (snd x p11) (snd x p12) (snd x p21) (snd x p22))) r).
  apply winograd. intros x y i. rewrite <- (H x y i), sum_map.
  transitivity (result K (m2 * m2) product2 place value2 rho2 s i (x, y)); [|reflexivity].
  rewrite <- R by apply all_in_places. apply sum_ext. intros [p w] _. unfold rho2. now destruct i.
Qed.

Lemma seven_all_nonzero s : correct s -> length s = 7%nat ->
  all_nonzero K product2 place rho2 places s.
Proof.
  intros H L. apply (minimal_all_nonzero K (m2 * m2) product2 place value2 rho2).
  now apply seven_minimal.
Qed.

(* Lemma 2: the products of a seven-product scheme are linearly independent. *)
Theorem lemma2 s : correct s -> length s = 7%nat ->
  independent K (m2 * m2) product2 value2 s.
Proof.
  intros H L. apply (minimal_independent K (m2 * m2) product2 place value2 rho2 places).
  now apply seven_minimal.
Qed.

(* Theorem 1. *)
Theorem theorem1 s cs : correct s -> length s = 7%nat ->
  is_chaining K (m2 * m2) product2 place value2 rho2 places s cs ->
  (7 <= writes K product2 place places cs)%nat.
Proof.
  intros H L C. rewrite <- L. apply (writes_bound K (m2 * m2) product2 place value2 rho2).
  - now apply lemma2.
  - now apply seven_all_nonzero.
  - now apply seven_none_proportional.
  - exact C.
Qed.

End Theorem1.
