(* What the places of the zeros of the coefficient matrices must obey, for any scheme that
   multiplies 2x2 matrices. Three facts, used by Lemma 4:
     - an invertible combination of the outputs takes at least four products;
     - at most two of seven coefficient matrices have a zero second row;
     - one pattern of zeros, the nilpotent one, does not occur. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Matrices FiveProducts.

Section Supports.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_supports : (laws K).
Notation m2 := (m2 K).
Notation product2 := (product2 K).
Implicit Types (s l m : list product2) (p r : product2) (x y c : m2).

Definition term c x y p : K := dot c (rho p) * dot (alpha p) x * dot (beta p) y.

Lemma nonzero_spec (a : K) : nonzero a = false <-> a = 0.
Proof. unfold nonzero. destruct (eq_dec a 0); split; intros; congruence. Qed.

Lemma filter_split A (f : A -> bool) (l : list A) :
  Permutation l (filter f l ++ filter (fun a => negb (f a)) l).
Proof.
  induction l as [|a l IH]; simpl; [reflexivity|]. destruct (f a); simpl.
  - now apply perm_skip.
  - now apply Permutation_cons_app.
Qed.

Lemma sum_filter A (f : A -> bool) (g : A -> K) (l : list A) :
  (forall a, In a l -> f a = false -> g a = 0) -> sum g (filter f l) = sum g l.
Proof.
  induction l as [|a l IH]; intros H; simpl; [reflexivity|].
  assert (E := H a (or_introl eq_refl)).
  assert (H' : forall b, In b l -> f b = false -> g b = 0) by (intros; apply H; simpl; tauto).
  destruct (f a); simpl; rewrite (IH H'); [reflexivity|]. rewrite E by reflexivity. ring.
Qed.

(* <c, x y> is a non-degenerate form if c is invertible. *)
Lemma regular_form c y : det c <> 0 -> (forall x, dot c (mmul x y) = 0) -> y = zero2.
Proof.
  intros D H. generalize (H (unit2 p11)) (H (unit2 p12)) (H (unit2 p21)) (H (unit2 p22)).
  destruct y as [a b d e]. unfold dot. simpl. intros A B C E.
  destruct (determinant_kills K (e11 c) (e12 c) (e21 c) (e22 c) a b) as [-> ->].
  - intros G. apply D. rewrite <- G. unfold det. ring.
  - rewrite <- A. ring.
  - rewrite <- C. ring.
  - destruct (determinant_kills K (e11 c) (e12 c) (e21 c) (e22 c) d e) as [-> ->].
    + intros G. apply D. rewrite <- G. unfold det. ring.
    + rewrite <- B. ring.
    + rewrite <- E. ring.
    + reflexivity.
Qed.

(* The products with a non-zero <c, rho>: all that a combination of the outputs uses. *)
Definition used c s := filter (fun p => nonzero (dot c (rho p))) s.

Lemma used_sum c s x y : correct s -> sum (term c x y) (used c s) = dot c (mmul x y).
Proof.
  intros H. rewrite <- (correct_dot K s c x y H). apply sum_filter.
  intros p _ E. apply nonzero_spec in E. unfold term. rewrite E. ring.
Qed.

Lemma regular_needs_four c s : correct s -> det c <> 0 -> (4 <= length (used c s))%nat.
Proof.
  intros H D. destruct (Compare_dec.le_lt_dec 4 (length (used c s))) as [|L];
    [assumption | exfalso].
  destruct (common_zero K (map beta (used c s))) as (y & Y & Z); [rewrite map_length; lia|].
  apply Y, (regular_form c y D). intros x. rewrite <- (used_sum c s x y H).
  apply sum_zero. intros p P. unfold term. rewrite (Z (beta p)); [ring | now apply in_map].
Qed.

(* The second fact. Row-2 outputs come from the products that touch row 2. *)
Definition touches_row2 p : bool := orb (nonzero (e21 (rho p))) (nonzero (e22 (rho p))).

Lemma untouched p : touches_row2 p = false -> e21 (rho p) = 0 /\ e22 (rho p) = 0.
Proof.
  unfold touches_row2. intros E. apply Bool.orb_false_iff in E as [A B].
  now rewrite !nonzero_spec in *.
Qed.

Lemma row2_sum s x y (u1 u2 : K) : correct s ->
  sum (term (outer 0 1 u1 u2) x y) (filter touches_row2 s) =
  dot (outer 0 1 u1 u2) (mmul x y).
Proof.
  intros H. rewrite <- (correct_dot K s _ x y H). apply sum_filter.
  intros p _ E. apply untouched in E as [A B]. unfold term, dot at 1, outer. simpl.
  rewrite A, B. ring.
Qed.

(* If at most four products touch row 2, their factors ignore row 1 of x. *)
Lemma row2_factors s r (q1 q2 : K) : correct s -> (length (filter touches_row2 s) <= 4)%nat ->
  In r (filter touches_row2 s) -> dot (alpha r) (outer 1 0 q1 q2) = 0.
Proof.
  intros H L R. assert (S := fun x y u1 u2 => row2_sum s x y u1 u2 H).
  apply in_split in R as (l1 & l2 & E). rewrite E in *.
  rewrite app_length in L. simpl in L.
  destruct (common_zero K (map beta (l1 ++ l2))) as (y & Y & Z).
  { rewrite map_length, app_length. lia. }
  assert (T : forall x u1 u2,
    term (outer 0 1 u1 u2) x y r = dot (outer 0 1 u1 u2) (mmul x y)).
  { intros x u1 u2. rewrite <- S.
    rewrite (sum_perm _ _ _ _ _ (Permutation_sym (Permutation_middle l1 l2 r))). simpl.
    rewrite (sum_zero K _ _ (l1 ++ l2)); [ring|]. intros p P. unfold term.
    rewrite (Z (beta p)); [ring | now apply in_map]. }
  assert (U : exists x u1 u2, dot (outer 0 1 u1 u2) (mmul x y) <> 0).
  { destruct (m2_nonzero K y Y) as (j & N). destruct j; simpl in N.
    - exists (unit2 p21), 1, 0. intros G. apply N. rewrite <- G. unfold dot. simpl. ring.
    - exists (unit2 p21), 0, 1. intros G. apply N. rewrite <- G. unfold dot. simpl. ring.
    - exists (unit2 p22), 1, 0. intros G. apply N. rewrite <- G. unfold dot. simpl. ring.
    - exists (unit2 p22), 0, 1. intros G. apply N. rewrite <- G. unfold dot. simpl. ring. }
  destruct U as (x & u1 & u2 & U).
  assert (V := T (outer 1 0 q1 q2) u1 u2). rewrite <- T in U. unfold term in U, V.
  set (a := dot (outer 0 1 u1 u2) (rho r)) in *. set (b := dot (beta r) y) in *.
  apply (mul_zero_l K (a * b)).
  - transitivity (dot (outer 0 1 u1 u2) (mmul (outer 1 0 q1 q2) y)).
    + rewrite <- V. ring.
    + unfold dot, mmul, outer. simpl. ring.
  - intros G. apply U. transitivity (a * b * dot (alpha r) x); [ring | rewrite G; ring].
Qed.

Lemma outer_units_zero y :
  (forall q1 q2 u1 u2, dot (outer 1 0 u1 u2) (mmul (outer 1 0 q1 q2) y) = 0) -> y = zero2.
Proof.
  intros H. apply m2_ext. intros i. destruct i; simpl.
  - etransitivity; [|exact (H 1 0 1 0)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H 1 0 0 1)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H 0 1 1 0)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H 0 1 0 1)]. unfold dot. simpl. ring.
Qed.

Lemma outer_row2_zero y :
  (forall x u1 u2, dot (outer 0 1 u1 u2) (mmul x y) = 0) -> y = zero2.
Proof.
  intros H. apply m2_ext. intros i. destruct i; simpl.
  - etransitivity; [|exact (H (unit2 p21) 1 0)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H (unit2 p21) 0 1)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H (unit2 p22) 1 0)]. unfold dot. simpl. ring.
  - etransitivity; [|exact (H (unit2 p22) 0 1)]. unfold dot. simpl. ring.
Qed.

Theorem row2_touched s : correct s -> length s = 7%nat ->
  (5 <= length (filter touches_row2 s))%nat.
Proof.
  intros H L.
  destruct (Compare_dec.le_lt_dec 5 (length (filter touches_row2 s))) as [|B];
    [assumption | exfalso].
  set (rest := filter (fun p => negb (touches_row2 p)) s).
  assert (P := filter_split _ touches_row2 s). fold rest in P.
  assert (L' := Permutation_length P). rewrite app_length in L'.
  destruct (Compare_dec.le_lt_dec (length (filter touches_row2 s)) 3) as [B3|B4].
  - destruct (common_zero K (map beta (filter touches_row2 s))) as (y & Y & Z);
      [now rewrite map_length|].
    apply Y, outer_row2_zero. intros x u1 u2. rewrite <- (row2_sum s x y u1 u2 H).
    apply sum_zero. intros p Q. unfold term. rewrite (Z (beta p)); [ring | now apply in_map].
  - destruct (common_zero K (map beta rest)) as (y & Y & Z); [rewrite map_length; lia|].
    apply Y, outer_units_zero. intros q1 q2 u1 u2.
    rewrite <- (correct_dot K s _ _ y H), (sum_perm _ _ _ _ _ P), sum_app.
    rewrite sum_zero, sum_zero; [ring | |].
    + intros p Q. rewrite (Z (beta p)); [ring | now apply in_map].
    + intros p Q. rewrite (row2_factors s p q1 q2 H); [ring | lia | exact Q].
Qed.

(* The third fact. Seven coefficient matrices of these forms, written row by row with N
   for a place that is not zero, are not those of a scheme:
     a = N0/00, b = 0N/00, c = 00/N0, d = e = N0/0N, f = 00/NN, g = 0N/0N.
   Here the functionals that vanish on b and d are a pencil with a nilpotent quotient. *)
Theorem nilpotent_pattern (a b c d e f g : product2) : correct [a; b; c; d; e; f; g] ->
  e12 (rho a) = 0 -> e21 (rho a) = 0 -> e22 (rho a) = 0 ->
  e11 (rho b) = 0 -> e21 (rho b) = 0 -> e22 (rho b) = 0 ->
  e11 (rho c) = 0 -> e12 (rho c) = 0 -> e22 (rho c) = 0 ->
  e12 (rho d) = 0 -> e21 (rho d) = 0 -> e11 (rho d) <> 0 -> e22 (rho d) <> 0 ->
  e12 (rho e) = 0 -> e21 (rho e) = 0 ->
  e11 (rho f) = 0 -> e12 (rho f) = 0 ->
  e11 (rho g) = 0 -> e21 (rho g) = 0 -> False.
Proof.
  intros H a2 a3 a4 b1 b3 b4 c1 c2 c4 d2 d3 d1 d4 eb ec f1 f2 g1 g3.
  (* Output 21 uses c and f alone. *)
  assert (F : forall x y, e21 (rho c) * dot (alpha c) x * dot (beta c) y +
    e21 (rho f) * dot (alpha f) x * dot (beta f) y = e21 (mmul x y)).
  { intros x y. assert (E := H x y p21). unfold rho2, value2 in E. simpl in E.
    rewrite a3, b3, d3, ec, g3 in E. simpl. rewrite <- E. ring. }
  (* This invertible combination of outputs 11 and 22 uses a, e, f, g alone. *)
  set (t := M (e22 (rho d)) 0 0 (- e11 (rho d))).
  assert (G : forall x y, term t x y a + term t x y e + term t x y f + term t x y g =
    dot t (mmul x y)).
  { intros x y. rewrite <- (correct_dot K _ t x y H). simpl. unfold term.
    replace (dot t (rho b)) with (0 : K) by (unfold dot, t; simpl; rewrite b1, b4; ring).
    replace (dot t (rho c)) with (0 : K) by (unfold dot, t; simpl; rewrite c1, c4; ring).
    replace (dot t (rho d)) with (0 : K) by (unfold dot, t; simpl; ring).
    ring. }
  (* The factors of f see row 2 of x and column 1 of y only. *)
  assert (A : forall q1 q2, dot (alpha f) (outer 1 0 q1 q2) = 0).
  { intros q1 q2.
    destruct (system_1_2 K (e11 (beta c)) (e21 (beta c))) as (u1 & u2 & U & Z).
    destruct (dual_vector K u1 u2 U) as (w1 & w2 & W).
    assert (Zc : dot (beta c) (outer u1 u2 1 0) = 0).
    { etransitivity; [|exact Z]. unfold dot, outer. simpl. ring. }
    assert (E := F (outer 1 0 q1 q2) (outer u1 u2 1 0)).
    assert (E' := F (outer 0 1 w1 w2) (outer u1 u2 1 0)). rewrite Zc in E, E'.
    set (k := e21 (rho f) * dot (beta f) (outer u1 u2 1 0)).
    apply (mul_zero_l K k).
    - transitivity (e21 (mmul (outer 1 0 q1 q2) (outer u1 u2 1 0))).
      + rewrite <- E. unfold k. ring.
      + simpl. ring.
    - intros N. apply (one_nonzero K). rewrite <- W.
      transitivity (e21 (mmul (outer 0 1 w1 w2) (outer u1 u2 1 0))); [simpl; ring|].
      rewrite <- E'. transitivity (k * dot (alpha f) (outer 0 1 w1 w2)).
      + unfold k. ring.
      + rewrite N. ring. }
  assert (B : forall q1 q2, dot (beta f) (outer q1 q2 0 1) = 0).
  { intros q1 q2.
    destruct (system_1_2 K (e21 (alpha c)) (e22 (alpha c))) as (u1 & u2 & U & Z).
    destruct (dual_vector K u1 u2 U) as (w1 & w2 & W).
    assert (Zc : dot (alpha c) (outer 0 1 u1 u2) = 0).
    { etransitivity; [|exact Z]. unfold dot, outer. simpl. ring. }
    assert (E := F (outer 0 1 u1 u2) (outer q1 q2 0 1)).
    assert (E' := F (outer 0 1 u1 u2) (outer w1 w2 1 0)). rewrite Zc in E, E'.
    set (k := e21 (rho f) * dot (alpha f) (outer 0 1 u1 u2)).
    apply (mul_zero_l K k).
    - transitivity (e21 (mmul (outer 0 1 u1 u2) (outer q1 q2 0 1))).
      + rewrite <- E. unfold k. ring.
      + simpl. ring.
    - intros N. apply (one_nonzero K). rewrite <- W.
      transitivity (e21 (mmul (outer 0 1 u1 u2) (outer w1 w2 1 0))); [simpl; ring|].
      rewrite <- E'. transitivity (k * dot (beta f) (outer w1 w2 1 0)).
      + unfold k. ring.
      + rewrite N. ring. }
  destruct (common_zero K [alpha a; alpha e; alpha g]) as (x & X & Z); [simpl; lia|].
  assert (G' : forall y, term t x y f = dot t (mmul x y)).
  { intros y. rewrite <- G. unfold term.
    rewrite (Z (alpha a)), (Z (alpha e)), (Z (alpha g)) by (simpl; tauto). ring. }
  assert (T : - e11 (rho d) <> 0).
  { intros N. apply d1. transitivity (- - e11 (rho d)); [ring | rewrite N; ring]. }
  assert (R : forall q1 q2, e21 x * q1 + e22 x * q2 = 0).
  { intros q1 q2. apply (mul_zero_l K (- e11 (rho d))); [|exact T].
    transitivity (dot t (mmul x (outer q1 q2 0 1))).
    - unfold dot, t, outer, mmul. simpl. ring.
    - rewrite <- G'. unfold term. rewrite B. ring. }
  assert (x3 : e21 x = 0) by (etransitivity; [|exact (R 1 0)]; ring).
  assert (x4 : e22 x = 0) by (etransitivity; [|exact (R 0 1)]; ring).
  assert (X1 : x = outer 1 0 (e11 x) (e12 x)).
  { destruct x as [v1 v2 v3 v4]. unfold outer. simpl in *. subst. f_equal; ring. }
  assert (Q : forall q1 q2, e11 x * q1 + e12 x * q2 = 0).
  { intros q1 q2. apply (mul_zero_l K (e22 (rho d))); [|exact d4].
    transitivity (dot t (mmul x (outer q1 q2 1 0))).
    - unfold dot, t, outer, mmul. simpl. rewrite x3, x4. ring.
    - rewrite <- G'. unfold term. rewrite X1, A. ring. }
  apply X. rewrite X1. unfold outer, zero2.
  assert (x1 : e11 x = 0) by (etransitivity; [|exact (Q 1 0)]; ring).
  assert (x2 : e12 x = 0) by (etransitivity; [|exact (Q 0 1)]; ring).
  rewrite x1, x2. f_equal; ring.
Qed.

End Supports.

Arguments used {K}.
Arguments touches_row2 {K}.
