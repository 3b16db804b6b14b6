(* Three concrete schemes, over any field:
     seven     seven products with a chaining of seven writes, so Theorem 1 is sharp;
     strassen  Strassen's scheme of 1969, twelve non-zeros, so Lemma 4 is sharp;
     textbook  eight products with a chaining of four writes: two coefficient matrices are
               equal, and the bound of one write per product does not hold. *)

Require Import List Permutation Ring Field Lia.
Import ListNotations.
From Heptane Require Import Fields Chaining Costs Matrices Theorem1 Unchained.

Section Schemes.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field_schemes : (laws K).
Notation m2 := (m2 K).
Notation product2 := (product2 K).
Notation is_chaining2 := (is_chaining K (m2 * m2) product2 place value2 rho2 places).
Notation writes2 := (writes K product2 place places).

Lemma zero_test A (a b : A) : (if eq_dec (0 : K) 0 then a else b) = a.
Proof. now destruct (eq_dec (0 : K) 0). Qed.
Lemma one_test A (a b : A) : (if eq_dec (1 : K) 0 then a else b) = b.
Proof. destruct (eq_dec (1 : K) 0) as [E|]; [now destruct (one_nonzero K)|reflexivity]. Qed.
Lemma minus_one_test A (a b : A) : (if eq_dec (- (1 : K)) 0 then a else b) = b.
Proof.
  destruct (eq_dec (- (1 : K)) 0) as [E|]; [now destruct (minus_one_nonzero K)|reflexivity].
Qed.

Ltac count_nonzeros :=
  unfold writes, unchained_writes, nonzeros; simpl;
  rewrite ?zero_test, ?one_test, ?minus_one_test; reflexivity.

(* A step from a matrix of write coefficients. *)
Definition step2 (p : product2) (k : K) (w : m2) : step K product2 place :=
  Step K product2 place p k (entry w).

(* The seven products of a scheme found by exhaustive search over -1, 0, 1. *)
Definition s1 : product2 := Product (M 0 0 1 (-1)) (M 0 0 1 (-1)) (M (-1) 0 (-1) 0).
Definition s2 : product2 := Product (M 0 0 1 0) (M 1 (-1) 1 (-1)) (M 0 0 0 (-1)).
Definition s3 : product2 := Product (M 0 1 0 (-1)) (M 1 0 1 0) (M 0 0 (-1) (-1)).
Definition s4 : product2 := Product (M 0 1 0 0) (M 0 0 0 1) (M 1 1 1 1).
Definition s5 : product2 := Product (M 0 1 1 (-1)) (M 1 0 1 (-1)) (M 1 0 1 1).
Definition s6 : product2 := Product (M 1 (-1) (-1) 1) (M 1 0 0 0) (M 1 0 0 0).
Definition s7 : product2 := Product (M 1 0 0 0) (M 0 1 0 0) (M 0 1 0 0).
Definition seven : list product2 := [s1; s2; s3; s4; s5; s6; s7].

Theorem seven_brent : brent seven.
Proof. intros a b c. destruct a, b, c; unfold brent_right; simpl; ring. Qed.

Theorem seven_correct : correct seven.
Proof. apply brent_correct, seven_brent. Qed.

(* Chains of four, two and one products. *)
Definition seven_chaining : chaining K product2 place :=
  [ [ step2 s4 1 (M 0 1 0 0); step2 s5 1 (M 1 0 0 0);
      step2 s3 (-1) (M 0 0 1 0); step2 s2 (-1) (M 0 0 0 1) ];
    [ step2 s1 1 (M 0 0 (-1) 0); step2 s6 (-1) (M (-1) 0 0 0) ];
    [ step2 s7 1 (M 0 1 0 0) ] ].

Theorem seven_is_chaining : is_chaining2 seven seven_chaining.
Proof.
  split; [|split].
  - simpl. unfold seven.
    apply (Permutation_cons_app [s1; s2; s3] [s5; s6; s7]).
    apply (Permutation_cons_app [s1; s2; s3] [s6; s7]).
    apply (Permutation_cons_app [s1; s2] [s6; s7]).
    apply (Permutation_cons_app [s1] [s6; s7]).
    reflexivity.
  - simpl. intros x X.
    repeat (destruct X as [<-|X]; [simpl; auto using one_nonzero, minus_one_nonzero |]).
    contradiction.
  - intros o [x y] _. unfold written, result, rho2, value2, dot. destruct o; simpl; ring.
Qed.

Theorem seven_writes : writes2 seven_chaining = 7%nat.
Proof. count_nonzeros. Qed.

Definition strassen : list product2 :=
  [ Product (M 1 0 0 1) (M 1 0 0 1) (M 1 0 0 1);
    Product (M 0 0 1 1) (M 1 0 0 0) (M 0 0 1 (-1));
    Product (M 1 0 0 0) (M 0 1 0 (-1)) (M 0 1 0 1);
    Product (M 0 0 0 1) (M (-1) 0 1 0) (M 1 0 1 0);
    Product (M 1 1 0 0) (M 0 0 0 1) (M (-1) 1 0 0);
    Product (M (-1) 0 1 0) (M 1 1 0 0) (M 0 0 0 1);
    Product (M 0 1 0 (-1)) (M 0 0 1 1) (M 1 0 0 0) ].

Theorem strassen_brent : brent strassen.
Proof. intros a b c. destruct a, b, c; unfold brent_right; simpl; ring. Qed.

Theorem strassen_correct : correct strassen.
Proof. apply brent_correct, strassen_brent. Qed.

Theorem strassen_writes : unchained_writes K strassen = 12%nat.
Proof. count_nonzeros. Qed.

(* The textbook product x_ik y_kj, for output ij. *)
Definition textbook_product (i k j : place) : product2 :=
  Product (unit2 i) (unit2 k) (unit2 j).

Definition textbook_chain (o a1 b1 a2 b2 : place) : chain K product2 place :=
  [ step2 (textbook_product a1 b1 o) 1 zero2; step2 (textbook_product a2 b2 o) 1 (unit2 o) ].

Definition textbook_chaining : chaining K product2 place :=
  [ textbook_chain p11 p11 p11 p12 p21; textbook_chain p12 p11 p12 p12 p22;
    textbook_chain p21 p21 p11 p22 p21; textbook_chain p22 p21 p12 p22 p22 ].

Definition textbook : list product2 := map (product K product2 place) (concat textbook_chaining).

Theorem textbook_brent : brent textbook.
Proof. intros a b c. destruct a, b, c; unfold brent_right; simpl; ring. Qed.

Theorem textbook_is_chaining : is_chaining2 textbook textbook_chaining.
Proof.
  split; [reflexivity | split].
  - simpl. intros x X.
    repeat (destruct X as [<-|X]; [simpl; auto using one_nonzero, minus_one_nonzero |]).
    contradiction.
  - intros o [x y] _. unfold written, result, rho2, value2, dot. destruct o; simpl; ring.
Qed.

Theorem textbook_writes : writes2 textbook_chaining = 4%nat.
Proof. count_nonzeros. Qed.

(* Four is the least for any scheme of any number of products: each output is written. *)
Theorem four_writes_always s cs : correct s -> is_chaining2 s cs -> (4 <= writes2 cs)%nat.
Proof.
  intros H C.
  apply (outputs_bound K (m2 * m2) product2 place value2 rho2 places s cs C).
  intros o _.
  exists (match o with p11 | p12 => unit2 p11 | _ => unit2 p21 end,
          match o with p11 | p21 => unit2 p11 | _ => unit2 p12 end).
  unfold result. rewrite H. intros E. apply (one_nonzero K).
  destruct o; simpl in E; etransitivity; [|exact E| |exact E| |exact E| |exact E]; ring.
Qed.

End Schemes.
