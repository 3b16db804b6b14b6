(* An arbitrary commutative field with decidable equality, sums over lists, and the
   little linear algebra the proofs need: a homogeneous system with fewer equations
   than unknowns has a non-zero solution, for one, two and three equations.

   Everything in this folder is proved over such a field: the rationals, the reals,
   the finite fields, also GF(2). *)

Require Import List Permutation Ring Field.
Import ListNotations.

Record field := Field {
  carrier :> Type;
  zero : carrier;
  one : carrier;
  add : carrier -> carrier -> carrier;
  mul : carrier -> carrier -> carrier;
  sub : carrier -> carrier -> carrier;
  opp : carrier -> carrier;
  div : carrier -> carrier -> carrier;
  inv : carrier -> carrier;
  laws : field_theory zero one add mul sub opp div inv (@eq carrier);
  eq_dec : forall x y : carrier, {x = y} + {x <> y}
}.

Arguments zero {f}.
Arguments one {f}.
Arguments add {f}.
Arguments mul {f}.
Arguments sub {f}.
Arguments opp {f}.
Arguments div {f}.
Arguments inv {f}.
Arguments eq_dec {f}.

Declare Scope field_scope.
Delimit Scope field_scope with F.
Bind Scope field_scope with carrier.
Notation "0" := zero : field_scope.
Notation "1" := one : field_scope.
Notation "x + y" := (add x y) : field_scope.
Notation "x * y" := (mul x y) : field_scope.
Notation "x - y" := (sub x y) : field_scope.
Notation "- x" := (opp x) : field_scope.
Notation "-1" := (opp one) : field_scope.
Notation "x / y" := (div x y) : field_scope.

Section Fields.
Variable K : field.
Local Open Scope field_scope.
Add Field K_field : (laws K).
Implicit Types x y z : K.

Lemma one_nonzero : (1 : K) <> 0.
Proof. exact (F_1_neq_0 (laws K)). Qed.

Lemma minus_one_nonzero : - (1 : K) <> 0.
Proof.
  intros H. apply one_nonzero. transitivity (- - (1 : K)); [ring | rewrite H; ring].
Qed.

Lemma mul_zero x y : x * y = 0 -> x = 0 \/ y = 0.
Proof.
  intros H. destruct (eq_dec x 0) as [|N]; [now left | right].
  transitivity (x * y / x); [now field | rewrite H; now field].
Qed.

Lemma mul_zero_l x y : x * y = 0 -> x <> 0 -> y = 0.
Proof. intros H N. destruct (mul_zero x y H); tauto. Qed.

Lemma mul_nonzero x y : x <> 0 -> y <> 0 -> x * y <> 0.
Proof. intros A B H. destruct (mul_zero x y H); tauto. Qed.

Lemma mul_cancel x y z : x <> 0 -> x * y = x * z -> y = z.
Proof.
  intros N H. transitivity (x * y / x); [now field | rewrite H; now field].
Qed.

Lemma sub_zero x y : x - y = 0 -> x = y.
Proof. intros H. transitivity (x - y + y); [ring | rewrite H; ring]. Qed.

(* Sums over lists. *)

Definition sum {A : Type} (f : A -> K) (l : list A) : K :=
  fold_right (fun a s => f a + s) 0 l.

Lemma sum_perm A (f : A -> K) l m : Permutation l m -> sum f l = sum f m.
Proof.
  induction 1; simpl; try congruence.
  unfold sum in *; simpl; ring.
Qed.

Lemma sum_ext A (f g : A -> K) l :
  (forall a, In a l -> f a = g a) -> sum f l = sum g l.
Proof.
  induction l as [|a l IH]; intros H; simpl; [reflexivity|].
  rewrite (H a (or_introl eq_refl)), IH; [reflexivity|].
  intros b B. apply H. now right.
Qed.

Lemma sum_zero A (f : A -> K) l : (forall a, In a l -> f a = 0) -> sum f l = 0.
Proof.
  induction l as [|a l IH]; intros H; simpl; [reflexivity|].
  rewrite (H a (or_introl eq_refl)), IH; [ring|].
  intros b B. apply H. now right.
Qed.

Lemma sum_app A (f : A -> K) l m : sum f (l ++ m) = sum f l + sum f m.
Proof.
  induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring.
Qed.

Lemma sum_map A B (f : B -> K) (g : A -> B) l :
  sum f (map g l) = sum (fun a => f (g a)) l.
Proof.
  induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite IH.
Qed.

Lemma sum_flat_map A B (f : B -> K) (g : A -> list B) l :
  sum f (flat_map g l) = sum (fun a => sum f (g a)) l.
Proof.
  induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite sum_app, IH.
Qed.

Lemma sum_add A (f g : A -> K) l : sum (fun a => f a + g a) l = sum f l + sum g l.
Proof.
  induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring.
Qed.

Lemma sum_sub A (f g : A -> K) l : sum (fun a => f a - g a) l = sum f l - sum g l.
Proof.
  induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring.
Qed.

Lemma sum_scale A k (f : A -> K) l : sum (fun a => k * f a) l = k * sum f l.
Proof.
  induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring.
Qed.

(* Homogeneous systems, by elimination of the first unknown. *)

Lemma system_1_2 a b : exists x y, (x <> 0 \/ y <> 0) /\ a * x + b * y = 0.
Proof.
  destruct (eq_dec a 0) as [->|N].
  - exists 1, 0. split; [left; exact one_nonzero | ring].
  - exists (- b), a. split; [now right | ring].
Qed.

Lemma system_2_3_pivot a b c d e f : a <> 0 ->
  exists x y z, (x <> 0 \/ y <> 0 \/ z <> 0) /\
    a * x + b * y + c * z = 0 /\ d * x + e * y + f * z = 0.
Proof.
  intros N.
  destruct (system_1_2 (e - d * b / a) (f - d * c / a)) as (y & z & NZ & H).
  exists (- (b * y + c * z) / a), y, z. repeat split; [tauto | now field |].
  rewrite <- H. now field.
Qed.

Lemma system_2_3 a b c d e f :
  exists x y z, (x <> 0 \/ y <> 0 \/ z <> 0) /\
    a * x + b * y + c * z = 0 /\ d * x + e * y + f * z = 0.
Proof.
  destruct (eq_dec a 0) as [->|N]; [|now apply system_2_3_pivot].
  destruct (eq_dec d 0) as [->|N].
  - exists 1, 0, 0. repeat split; [left; exact one_nonzero | ring | ring].
  - destruct (system_2_3_pivot d e f 0 b c N) as (x & y & z & H). exists x, y, z. tauto.
Qed.

Lemma system_3_4_pivot a b c d a' b' c' d' a'' b'' c'' d'' : a <> 0 ->
  exists x y z t, (x <> 0 \/ y <> 0 \/ z <> 0 \/ t <> 0) /\
    a * x + b * y + c * z + d * t = 0 /\
    a' * x + b' * y + c' * z + d' * t = 0 /\
    a'' * x + b'' * y + c'' * z + d'' * t = 0.
Proof.
  intros N.
  destruct (system_2_3 (b' - a' * b / a) (c' - a' * c / a) (d' - a' * d / a)
    (b'' - a'' * b / a) (c'' - a'' * c / a) (d'' - a'' * d / a))
    as (y & z & t & NZ & H & H').
  exists (- (b * y + c * z + d * t) / a), y, z, t.
  repeat split; [tauto | now field | rewrite <- H; now field | rewrite <- H'; now field].
Qed.

Lemma system_3_4 a b c d a' b' c' d' a'' b'' c'' d'' :
  exists x y z t, (x <> 0 \/ y <> 0 \/ z <> 0 \/ t <> 0) /\
    a * x + b * y + c * z + d * t = 0 /\
    a' * x + b' * y + c' * z + d' * t = 0 /\
    a'' * x + b'' * y + c'' * z + d'' * t = 0.
Proof.
  destruct (eq_dec a 0) as [->|N]; [|now apply system_3_4_pivot].
  destruct (eq_dec a' 0) as [->|N].
  - destruct (eq_dec a'' 0) as [->|N].
    + exists 1, 0, 0, 0. repeat split; [left; exact one_nonzero | ring ..].
    + destruct (system_3_4_pivot a'' b'' c'' d'' 0 b c d 0 b' c' d' N)
        as (x & y & z & t & H).
      exists x, y, z, t. tauto.
  - destruct (system_3_4_pivot a' b' c' d' 0 b c d a'' b'' c'' d'' N)
      as (x & y & z & t & H).
    exists x, y, z, t. tauto.
Qed.

(* Among plane vectors, either two at different places are independent, or one
   non-zero vector is orthogonal to them all. *)
Lemma independent_pair A (f g : A -> K) l :
  (exists a b m, Permutation l (a :: b :: m) /\ f a * g b - f b * g a <> 0) \/
  (exists x y, (x <> 0 \/ y <> 0) /\ forall a, In a l -> f a * x + g a * y = 0).
Proof.
  induction l as [|a l IH].
  - right. exists 1, 0. split; [left; exact one_nonzero | intros a []].
  - destruct IH as [(b & c & m & P & D)|(x & y & NZ & H)].
    { left. exists b, c, (a :: m). split; [|exact D].
      rewrite P. rewrite perm_swap. apply perm_skip, perm_swap. }
    destruct (eq_dec (f a * x + g a * y) 0) as [E|N].
    { right. exists x, y. split; [exact NZ|]. intros b [<-|B]; [exact E | now apply H]. }
    destruct (Forall_Exists_dec (fun b => f b = 0 /\ g b = 0)) with (l := l) as [Z|Z].
    { intros b. destruct (eq_dec (f b) 0), (eq_dec (g b) 0); tauto. }
    + right. exists (g a), (- f a). split.
      * destruct (eq_dec (g a) 0) as [E|]; [right | now left].
        intros E'. apply N. rewrite E. replace (f a) with (- - f a) by ring.
        rewrite E'. ring.
      * rewrite Forall_forall in Z. intros b [<-|B]; [ring|].
        destruct (Z b B) as [-> ->]. ring.
    + left. apply Exists_exists in Z. destruct Z as (b & B & NB).
      apply in_split in B as (l1 & l2 & ->).
      exists a, b, (l1 ++ l2). split.
      { apply perm_skip, Permutation_sym, Permutation_middle. }
      intros D. apply sub_zero in D. apply NB.
      assert (E : f b * x + g b * y = 0) by (apply H, in_elt).
      split; apply (mul_zero_l (f a * x + g a * y)); try exact N.
      * transitivity (f a * (f b * x + g b * y) - y * (f a * g b - f b * g a)); [ring|].
        rewrite E, D. ring.
      * transitivity (g a * (f b * x + g b * y) + x * (f a * g b - f b * g a)); [ring|].
        rewrite E, D. ring.
Qed.

(* A non-zero plane vector has a partner with scalar product one. *)
Lemma dual_vector x y : x <> 0 \/ y <> 0 -> exists x' y', x' * x + y' * y = 1.
Proof.
  intros [N|N]; [exists (1 / x), 0 | exists 0, (1 / y)]; now field.
Qed.

End Fields.

Arguments sum {K A}.
