(* Lemma 4: without chaining, every seven-product scheme for 2x2 matrices needs at least
   twelve writes, for its coefficient matrices have at least twelve non-zeros. The proof
   does not use de Groote's theorem: the facts of Supports.v and Lemma 1 leave no way to
   place eleven. *)

Require Import List Permutation Ring Field Bool Arith Lia.
Import ListNotations.
From Heptane Require Import Fields Chaining Matrices Supports Theorem1.

(* Which entries of a coefficient matrix are not zero. *)
Inductive pattern := Pattern (b11 b12 b21 b22 : bool).

Definition all_patterns : list pattern :=
  flat_map (fun a => flat_map (fun b => flat_map (fun c => map (fun d =>
    Pattern a b c d) [false; true]) [false; true]) [false; true]) [false; true].

Definition same_pattern (x y : pattern) : bool :=
  match x, y with
  | Pattern a b c d, Pattern e f g h => eqb a e && eqb b f && eqb c g && eqb d h
  end.

Lemma same_pattern_spec x y : same_pattern x y = true <-> x = y.
Proof.
  destruct x as [[] [] [] []], y as [[] [] [] []]; simpl; split; intros; congruence.
Qed.

Definition swap_rows_pattern (x : pattern) :=
  match x with Pattern a b c d => Pattern c d a b end.
Definition transpose_pattern (x : pattern) :=
  match x with Pattern a b c d => Pattern a c b d end.

Definition weight (x : pattern) : nat :=
  match x with Pattern a b c d => Nat.b2n a + Nat.b2n b + Nat.b2n c + Nat.b2n d end.
Definition row2_nonzero (x : pattern) : bool := match x with Pattern a b c d => c || d end.
Definition diagonal_nonzero (x : pattern) : bool := match x with Pattern a b c d => a || d end.
Definition diagonal_full (x : pattern) : bool := match x with Pattern a b c d => a && d end.

(* Counting only: no seven patterns that obey the conditions below have less than twelve
   places. nabcd is the number of products with the pattern ab/cd. *)
Lemma placement n0001 n0010 n0011 n0100 n0101 n0110 n0111
    n1000 n1001 n1010 n1011 n1100 n1101 n1110 n1111 :
  n0001 + n0010 + n0011 + n0100 + n0101 + n0110 + n0111 +
    n1000 + n1001 + n1010 + n1011 + n1100 + n1101 + n1110 + n1111 = 7 ->
  n1000 <= 1 -> n0100 <= 1 -> n0010 <= 1 -> n0001 <= 1 ->
  (* at most two within one row or one column *)
  n1000 + n0100 + n1100 <= 2 -> n0010 + n0001 + n0011 <= 2 ->
  n1000 + n0010 + n1010 <= 2 -> n0100 + n0001 + n0101 <= 2 ->
  (* at most three, or two next to a full diagonal, off the diagonal *)
  n0010 + n0100 + n0110 <= 3 -> n0001 + n1000 + n1001 <= 3 ->
  (1 <= n1001 + n1011 + n1101 + n1111 -> n0010 + n0100 + n0110 <= 2) ->
  (1 <= n0110 + n0111 + n1110 + n1111 -> n0001 + n1000 + n1001 <= 2) ->
  ~ (n1000 = 1 /\ n0100 = 1 /\ n0010 = 1 /\ n1001 = 2 /\ n0011 = 1 /\ n0101 = 1) ->
  ~ (n0010 = 1 /\ n0001 = 1 /\ n1000 = 1 /\ n0110 = 2 /\ n1100 = 1 /\ n0101 = 1) ->
  ~ (n0100 = 1 /\ n1000 = 1 /\ n0001 = 1 /\ n0110 = 2 /\ n0011 = 1 /\ n1010 = 1) ->
  ~ (n0001 = 1 /\ n0010 = 1 /\ n0100 = 1 /\ n1001 = 2 /\ n1100 = 1 /\ n1010 = 1) ->
  12 <= n1000 + n0100 + n0010 + n0001 +
    2 * (n1100 + n0011 + n1010 + n0101 + n1001 + n0110) +
    3 * (n1110 + n1101 + n1011 + n0111) + 4 * n1111.
Proof.
  intros T S1 S2 S3 S4 R1 R2 C1 C2 D A FD FA N1 N2 N3 N4.
  destruct (Compare_dec.le_lt_dec 12 (n1000 + n0100 + n0010 + n0001 +
    2 * (n1100 + n0011 + n1010 + n0101 + n1001 + n0110) +
    3 * (n1110 + n1101 + n1011 + n0111) + 4 * n1111)) as [|W]; [assumption | exfalso].
  assert (S : n1000 + n0100 + n0010 + n0001 >= 3) by (clear FD FA N1 N2 N3 N4; lia).
  assert (C : n1000 = 1 /\ n0100 = 1 /\ n0010 = 1 /\ n0001 = 1 \/
    n1000 = 1 /\ n0100 = 1 /\ n0010 = 1 /\ n0001 = 0 \/
    n1000 = 1 /\ n0100 = 1 /\ n0010 = 0 /\ n0001 = 1 \/
    n1000 = 1 /\ n0100 = 0 /\ n0010 = 1 /\ n0001 = 1 \/
    n1000 = 0 /\ n0100 = 1 /\ n0010 = 1 /\ n0001 = 1)
    by (clear - S S1 S2 S3 S4; lia).
  destruct C as [C|[C|[C|[C|C]]]]; destruct C as (-> & -> & -> & ->).
  - clear N1 N2 N3 N4. lia.
  - clear N2 N3 N4. lia.
  - clear N1 N2 N4. lia.
  - clear N1 N3 N4. lia.
  - clear N1 N2 N3. lia.
Qed.

Section Unchained.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_unchained : (laws K).
Notation m2 := (m2 K).
Notation product2 := (product2 K).
Implicit Types (s l : list product2) (p q : product2) (x y : pattern).

Definition pattern_of p : pattern :=
  Pattern (nonzero (e11 (rho p))) (nonzero (e12 (rho p)))
          (nonzero (e21 (rho p))) (nonzero (e22 (rho p))).

(* The writes of a scheme without chaining: one for each non-zero coefficient. *)
Definition unchained_writes s : nat :=
  list_sum (map (fun p => nonzeros K place places (rho2 p)) s).

(* Sums over the products of a number that depends on the pattern alone. *)
Definition count (h : pattern -> nat) s : nat := list_sum (map (fun p => h (pattern_of p)) s).
Definition number x s : nat := count (fun y => Nat.b2n (same_pattern x y)) s.
Definition counted (f : pattern -> bool) s : nat := count (fun y => Nat.b2n (f y)) s.

Lemma count_cons h p s : count h (p :: s) = (h (pattern_of p) + count h s)%nat.
Proof. reflexivity. Qed.

Lemma count_by_pattern h s :
  count h s = list_sum (map (fun x => h x * number x s)%nat all_patterns).
Proof.
  unfold all_patterns. simpl.
  induction s as [|p s IH]; [unfold number, count; simpl; ring|].
  unfold number in *. rewrite count_cons, IH, !count_cons. clear IH.
  destruct (pattern_of p) as [[] [] [] []]; simpl; ring.
Qed.

Lemma count_perm h s l : Permutation s l -> count h s = count h l.
Proof. induction 1; unfold count in *; simpl; lia. Qed.

Lemma counted_filter f (g : product2 -> bool) s : (forall p, g p = f (pattern_of p)) ->
  length (filter g s) = counted f s.
Proof.
  intros E. unfold counted, count. induction s as [|p s IH]; simpl; [reflexivity|].
  rewrite (E p). destruct (f (pattern_of p)); simpl; lia.
Qed.

Lemma filter_counted f (g : product2 -> bool) s :
  (forall p, g p = true -> f (pattern_of p) = true) ->
  (length (filter g s) <= counted f s)%nat.
Proof.
  intros E. unfold counted, count. induction s as [|p s IH]; simpl; [lia|].
  assert (E' := E p). destruct (g p); simpl; [rewrite E' by reflexivity; simpl; lia | lia].
Qed.

Lemma counted_extract f s : (1 <= counted f s)%nat ->
  exists p l, Permutation s (p :: l) /\ f (pattern_of p) = true.
Proof.
  unfold counted, count. induction s as [|p s IH]; simpl; [lia|].
  destruct (f (pattern_of p)) eqn:E; simpl; intros H.
  - exists p, s. split; [reflexivity | exact E].
  - destruct (IH H) as (q & l & P & Q). exists q, (p :: l).
    split; [rewrite P; apply perm_swap | exact Q].
Qed.

Lemma extract x s : (1 <= number x s)%nat ->
  exists p l, Permutation s (p :: l) /\ pattern_of p = x.
Proof.
  intros H. destruct (counted_extract (same_pattern x) s H) as (p & l & P & E).
  exists p, l. split; [exact P|]. symmetry. now apply same_pattern_spec.
Qed.

Lemma unchained_weight s : unchained_writes s = count weight s.
Proof.
  unfold unchained_writes, count. f_equal. apply map_ext. intros p.
  unfold pattern_of, nonzeros, rho2, places, weight, nonzero. simpl.
  now destruct (eq_dec (e11 (rho p)) 0), (eq_dec (e12 (rho p)) 0),
    (eq_dec (e21 (rho p)) 0), (eq_dec (e22 (rho p)) 0).
Qed.

Lemma nonzero_true (a : K) : nonzero a = true -> a <> 0.
Proof. unfold nonzero. destruct (eq_dec a 0); congruence. Qed.

Lemma nonzero_false (a : K) : nonzero a = false -> a = 0.
Proof. apply nonzero_spec. Qed.

(* Symmetries. *)
Lemma count_swap_rows h s :
  count h (map swap_rows_product s) = count (fun x => h (swap_rows_pattern x)) s.
Proof. unfold count. now rewrite map_map. Qed.

Lemma count_transpose h s :
  count h (map transpose_product s) = count (fun x => h (transpose_pattern x)) s.
Proof. unfold count. now rewrite map_map. Qed.

(* The conditions on the numbers of patterns. *)
Section Conditions.
Variable s : list product2.
Hypothesis H : correct s.
Hypothesis L : length s = 7%nat.

Lemma total : count (fun _ => 1%nat) s = 7%nat.
Proof. rewrite <- L. unfold count. clear. induction s; simpl; congruence. Qed.

Lemma none_empty : number (Pattern false false false false) s = 0%nat.
Proof.
  destruct (number _ s) eqn:E; [reflexivity | exfalso].
  destruct (extract (Pattern false false false false) s) as (p & l & P & E'); [lia|].
  injection E' as A B C D. apply nonzero_false in A, B, C, D.
  apply (seven_all_nonzero K s H L p).
  - apply (Permutation_in _ (Permutation_sym P)). now left.
  - intros i _. unfold rho2. now destruct i.
Qed.

(* Two matrices with one non-zero entry, at the same place, would be proportional. *)
Lemma singles_differ x : weight x = 1%nat -> (number x s <= 1)%nat.
Proof.
  intros W. destruct (Compare_dec.le_lt_dec (number x s) 1) as [|B]; [assumption | exfalso].
  destruct (extract x s) as (p & l & P & E); [lia|].
  destruct (extract x l) as (q & m & Q & F).
  { unfold number in *. rewrite (count_perm _ _ _ P), count_cons, E in B.
    rewrite (proj2 (same_pattern_spec x x) eq_refl) in B. simpl in B. lia. }
  rewrite Q in P.
  set (at_x := fun r : product2 => match x with
    | Pattern true _ _ _ => e11 (rho r) | Pattern _ true _ _ => e12 (rho r)
    | Pattern _ _ true _ => e21 (rho r) | _ => e22 (rho r) end).
  apply (lemma1 K s p q m (at_x p / at_x q) H L P).
  unfold pattern_of in *. intros i. rewrite <- E in F. unfold at_x. clear at_x.
  destruct x as [a b c d]. injection E as Ea Eb Ec Ed. injection F as Fa Fb Fc Fd.
  rewrite Ea in Fa. rewrite Eb in Fb. rewrite Ec in Fc. rewrite Ed in Fd.
  destruct a, b, c, d; try discriminate;
  destruct i; simpl;
  repeat match goal with
  | E : nonzero _ = true |- _ => apply nonzero_true in E
  | E : nonzero _ = false |- _ => apply nonzero_false in E; rewrite E
  end; now field.
Qed.

Lemma row2_condition : (5 <= counted row2_nonzero s)%nat.
Proof.
  rewrite <- (counted_filter _ touches_row2); [now apply row2_touched|]. intros p. reflexivity.
Qed.

Lemma diagonal_four : (4 <= counted diagonal_nonzero s)%nat.
Proof.
  apply PeanoNat.Nat.le_trans with (length (used (M 1 0 0 1) s)).
  - apply regular_needs_four; [exact H|]. unfold det. simpl. intros E.
    apply (one_nonzero K). rewrite <- E. ring.
  - apply filter_counted. intros p N. apply nonzero_true in N. simpl.
    destruct (nonzero (e11 (rho p))) eqn:A; [reflexivity|].
    destruct (nonzero (e22 (rho p))) eqn:B; [reflexivity | exfalso].
    apply nonzero_false in A, B. apply N. unfold dot. simpl. rewrite A, B. ring.
Qed.

(* A full diagonal is orthogonal to an invertible diagonal, which takes four others. *)
Lemma diagonal_five : (1 <= counted diagonal_full s -> 5 <= counted diagonal_nonzero s)%nat.
Proof.
  intros F. destruct (counted_extract _ _ F) as (p & l & P & E).
  simpl in E. apply andb_true_iff in E as [A D].
  unfold counted. rewrite (count_perm _ _ _ P), count_cons. simpl. rewrite A. simpl.
  apply nonzero_true in A, D.
  set (c := M (e22 (rho p)) 0 0 (- e11 (rho p))).
  assert (U : (4 <= length (used c (p :: l)))%nat).
  { apply regular_needs_four; [now apply (correct_perm K s)|].
    unfold det, c. simpl. intros G. apply (mul_nonzero K _ _ D A).
    transitivity (- (e22 (rho p) * - e11 (rho p) - 0 * 0)); [ring | rewrite G; ring]. }
  assert (Z : nonzero (dot c (rho p)) = false).
  { apply nonzero_spec. unfold dot, c. simpl. ring. }
  unfold used in U. simpl in U. rewrite Z in U.
  apply le_n_S. apply (PeanoNat.Nat.le_trans _ _ _ U).
  apply filter_counted. intros q N. apply nonzero_true in N. simpl.
  destruct (nonzero (e11 (rho q))) eqn:A'; [reflexivity|].
  destruct (nonzero (e22 (rho q))) eqn:B'; [reflexivity | exfalso].
  apply nonzero_false in A', B'. apply N. unfold dot, c. simpl. rewrite A', B'. ring.
Qed.

Lemma nilpotent_condition :
  ~ (number (Pattern true false false false) s = 1 /\
     number (Pattern false true false false) s = 1 /\
     number (Pattern false false true false) s = 1 /\
     number (Pattern true false false true) s = 2 /\
     number (Pattern false false true true) s = 1 /\
     number (Pattern false true false true) s = 1)%nat.
Proof.
  intros (Na & Nb & Nc & Nd & Nf & Ng).
  assert (Step : forall x l, (1 <= number x l)%nat ->
    exists p m, Permutation l (p :: m) /\ pattern_of p = x /\
    forall y, number y l = (Nat.b2n (same_pattern y x) + number y m)%nat).
  { intros x l E. destruct (extract x l E) as (p & m & P & E'). exists p, m.
    repeat split; try assumption. intros y. unfold number.
    now rewrite (count_perm _ _ _ P), count_cons, E'. }
  destruct (Step (Pattern true false false false) s) as (a & s1 & P1 & Ea & C1); [lia|].
  rewrite C1 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern false true false false) s1) as (b & s2 & P2 & Eb & C2); [lia|].
  rewrite C2 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern false false true false) s2) as (c & s3 & P3 & Ec & C3); [lia|].
  rewrite C3 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern true false false true) s3) as (d & s4 & P4 & Ed & C4); [lia|].
  rewrite C4 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern true false false true) s4) as (e & s5 & P5 & Ee & C5); [lia|].
  rewrite C5 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern false false true true) s5) as (f & s6 & P6 & Ef & C6); [lia|].
  rewrite C6 in Na, Nb, Nc, Nd, Nf, Ng. simpl in Na, Nb, Nc, Nd, Nf, Ng.
  destruct (Step (Pattern false true false true) s6) as (g & s7 & P7 & Eg & _); [lia|].
  rewrite P7 in P6. rewrite P6 in P5. rewrite P5 in P4. rewrite P4 in P3.
  rewrite P3 in P2. rewrite P2 in P1.
  assert (L' := Permutation_length P1). rewrite L in L'. simpl in L'.
  destruct s7; [|discriminate].
  assert (H' := correct_perm K _ _ P1 H).
  unfold pattern_of in *.
  injection Ea as Ea1 Ea2 Ea3 Ea4. injection Eb as Eb1 Eb2 Eb3 Eb4.
  injection Ec as Ec1 Ec2 Ec3 Ec4. injection Ed as Ed1 Ed2 Ed3 Ed4.
  injection Ee as Ee1 Ee2 Ee3 Ee4. injection Ef as Ef1 Ef2 Ef3 Ef4.
  injection Eg as Eg1 Eg2 Eg3 Eg4.
  apply (nilpotent_pattern K a b c d e f g H');
    first [ now apply nonzero_false | now apply nonzero_true ].
Qed.

End Conditions.

(* The conditions, for a scheme and its images, leave no solution with eleven non-zeros. *)
Theorem lemma4 s : correct s -> length s = 7%nat -> (12 <= unchained_writes s)%nat.
Proof.
  intros H L. rewrite unchained_weight.
  assert (Hs := swap_rows_correct K s H).
  assert (Ht := transpose_correct K s H).
  assert (Hts := swap_rows_correct K _ Ht).
  assert (Hst := transpose_correct K _ Hs).
  assert (Hsts := swap_rows_correct K _ Hst).
  assert (Ls : length (map swap_rows_product s) = 7%nat) by now rewrite !map_length.
  assert (Lt : length (map transpose_product s) = 7%nat) by now rewrite !map_length.
  assert (Lts : length (map swap_rows_product (map transpose_product s)) = 7%nat)
    by now rewrite !map_length.
  assert (Lsts : length (map swap_rows_product (map transpose_product
    (map swap_rows_product s))) = 7%nat) by now rewrite !map_length.
  assert (T := total s L).
  assert (Z := none_empty s H L).
  assert (S1 := singles_differ s H L (Pattern true false false false) eq_refl).
  assert (S2 := singles_differ s H L (Pattern false true false false) eq_refl).
  assert (S3 := singles_differ s H L (Pattern false false true false) eq_refl).
  assert (S4 := singles_differ s H L (Pattern false false false true) eq_refl).
  assert (R1 := row2_condition _ H L).
  assert (R2 := row2_condition _ Hs Ls).
  assert (R3 := row2_condition _ Ht Lt).
  assert (R4 := row2_condition _ Hts Lts).
  assert (D1 := diagonal_four _ H). assert (D2 := diagonal_four _ Hs).
  assert (F1 := diagonal_five _ H). assert (F2 := diagonal_five _ Hs).
  assert (N1 := nilpotent_condition _ H L).
  assert (N2 := nilpotent_condition _ Hs Ls).
  assert (N3 := nilpotent_condition _ Hts Lts).
  assert (N4 := nilpotent_condition _ Hsts Lsts).
  clear H Hs Ht Hts Hst Hsts L Ls Lt Lts Lsts.
  unfold number, counted in *. rewrite ?count_swap_rows, ?count_transpose in *.
  rewrite ?count_swap_rows in *.
  rewrite !count_by_pattern in *. simpl in *.
  rewrite !Nat.add_0_r in *.
  assert (P := placement
    (number (Pattern false false false true) s) (number (Pattern false false true false) s)
    (number (Pattern false false true true) s) (number (Pattern false true false false) s)
    (number (Pattern false true false true) s) (number (Pattern false true true false) s)
    (number (Pattern false true true true) s) (number (Pattern true false false false) s)
    (number (Pattern true false false true) s) (number (Pattern true false true false) s)
    (number (Pattern true false true true) s) (number (Pattern true true false false) s)
    (number (Pattern true true false true) s) (number (Pattern true true true false) s)
    (number (Pattern true true true true) s)).
  eapply Nat.le_trans; [apply P; clear P |];
    first [ clear N1 N2 N3 N4; lia | tauto ].
Qed.

End Unchained.
