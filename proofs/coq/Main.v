(* The statements proved here, in one place, and what they assume. Each holds over every
   field with decidable equality; two fields are built to show that the notion is not
   empty. Print Assumptions must answer "Closed under the global context" every time:
   no axiom, no admitted step, no named hypothesis. *)

Require Import List Permutation Ring Field QArith Qcanon Bool.
Import ListNotations.
From Heptane Require Import Fields Chaining Matrices FiveProducts Theorem1 Supports
  Unchained Schemes Blocks Levels Costs Shapes.

Definition rationals : field :=
  Field Qc (Q2Qc 0) (Q2Qc 1) Qcplus Qcmult Qcminus Qcopp Qcdiv Qcinv Qcft Qc_eq_dec.

Lemma two_elements_laws :
  field_theory false true xorb andb xorb (fun a => a) (fun a b => a && b) (fun a => a) eq.
Proof.
  split; [split | | |]; intros;
    repeat match goal with b : bool |- _ => destruct b end; try reflexivity; congruence.
Qed.

Definition two_elements : field :=
  Field bool false true xorb andb xorb (fun a => a) (fun a b => a && b) (fun a => a)
    two_elements_laws bool_dec.

Section Statements.
Variable K : field.
Notation scheme := (list (product2 K)).
Notation is_chaining2 := (is_chaining K (m2 K * m2 K) (product2 K) place value2 rho2 places).
Notation writes2 := (writes K (product2 K) place places).

Theorem brent_equations_mean_correct (s : scheme) : brent s <-> correct s.
Proof. exact (brent_correct K s). Qed.

Theorem winograd_1971 (s : scheme) : correct s -> (7 <= length s)%nat.
Proof. exact (winograd K s). Qed.

Theorem paper_lemma_1 (s : scheme) p q rest (k : K) :
  correct s -> length s = 7%nat -> Permutation s (p :: q :: rest) ->
  ~ forall i, entry (rho p) i = mul k (entry (rho q) i).
Proof. exact (lemma1 K s p q rest k). Qed.

Theorem paper_lemma_2 (s : scheme) : correct s -> length s = 7%nat ->
  independent K (m2 K * m2 K) (product2 K) value2 s.
Proof. exact (lemma2 K s). Qed.

Theorem paper_lemma_3 (s : scheme) cs o c : is_chaining2 s cs ->
  independent K (m2 K * m2 K) (product2 K) value2 s ->
  In c cs -> forced K (product2 K) place rho2 c o.
Proof.
  intros H I C.
  exact (writes_forced K _ _ _ _ _ places s cs o H I (all_in_places o) c C).
Qed.

Theorem paper_theorem_1 (s : scheme) cs : correct s -> length s = 7%nat ->
  is_chaining2 s cs -> (7 <= writes2 cs)%nat.
Proof. exact (theorem1 K s cs). Qed.

Theorem paper_theorem_1_is_sharp : exists (s : scheme) cs,
  correct s /\ length s = 7%nat /\ is_chaining2 s cs /\ writes2 cs = 7%nat.
Proof.
  exists (seven K), (seven_chaining K).
  exact (conj (seven_correct K)
    (conj eq_refl (conj (seven_is_chaining K) (seven_writes K)))).
Qed.

Theorem paper_lemma_4 (s : scheme) : correct s -> length s = 7%nat ->
  (12 <= unchained_writes K s)%nat.
Proof. exact (lemma4 K s). Qed.

Theorem paper_lemma_4_is_sharp : exists s : scheme,
  correct s /\ length s = 7%nat /\ unchained_writes K s = 12%nat.
Proof.
  exists (strassen K).
  exact (conj (strassen_correct K) (conj eq_refl (strassen_writes K))).
Qed.

(* Proportional coefficients are what the general bound must exclude. *)
Theorem textbook_needs_fewer_writes : exists (s : scheme) cs,
  correct s /\ length s = 8%nat /\ is_chaining2 s cs /\ writes2 cs = 4%nat.
Proof.
  exists (textbook K), (textbook_chaining K).
  exact (conj (proj1 (brent_correct K _) (textbook_brent K))
    (conj eq_refl (conj (textbook_is_chaining K) (textbook_writes K)))).
Qed.

Theorem four_is_always_needed (s : scheme) cs : correct s -> is_chaining2 s cs ->
  (4 <= writes2 cs)%nat.
Proof. exact (four_writes_always K s cs). Qed.

(* Two levels: the tensor product of two seven-product schemes multiplies 4x4 matrices, as
   2x2 matrices of 2x2 blocks, and none of its chainings has less than 49 writes. *)
Theorem two_levels_49 (s t : scheme) cs :
  correct s -> length s = 7%nat -> correct t -> length t = 7%nat ->
  is_chaining K _ _ _ (two_level_value K) (two_level_rho K) two_level_outputs
    (list_prod s t) cs ->
  (49 <= writes K _ _ two_level_outputs cs)%nat.
Proof. exact (two_level_writes K s t cs). Qed.

(* A scheme multiplies matrices of blocks, and its chainings do. *)
Theorem blocks_scheme (B : algebra K) (s : scheme) : correct s -> forall x y i,
  bsum K B (fun p => bscale (rho2 p i) (block_value K B x y p)) s = block_mul K B x y i.
Proof. intros H. apply blocks_correct. now apply brent_correct. Qed.

Theorem blocks_writes (B : algebra K) (s : scheme) cs : correct s -> length s = 7%nat ->
  is_chaining2 s cs -> forall x y i,
  block_written K B (product2 K) place (block_value K B x y) cs i = block_mul K B x y i.
Proof.
  intros H L C x y i. rewrite <- (blocks_scheme B s H).
  apply (blocks_chaining K B _ _ _ value2 rho2 places _ s cs i C (lemma2 K s H L)).
  apply all_in_places.
Qed.

End Statements.

Definition any_shape_bound := minimal_writes_bound.
Definition any_shape_telescope := telescope_chaining.
Definition any_shape_telescope_bound := telescope_bound.
Definition any_shape_cost := chaining_cost.
Definition any_shape_path_realised := path_realised.
Definition any_shape_edge := edge_matches.
Definition any_shape_outputs_bound := outputs_bound.
Definition tensor_products_not_proportional := tensor_none_proportional.
Definition any_shape_brent := brent_correct_nmp.
Definition any_shape_minimal_rank_bound := minimal_rank_bound.

Print Assumptions rationals.
Print Assumptions two_elements.
Print Assumptions brent_equations_mean_correct.
Print Assumptions winograd_1971.
Print Assumptions paper_lemma_1.
Print Assumptions paper_lemma_2.
Print Assumptions paper_lemma_3.
Print Assumptions paper_theorem_1.
Print Assumptions paper_theorem_1_is_sharp.
Print Assumptions paper_lemma_4.
Print Assumptions paper_lemma_4_is_sharp.
Print Assumptions textbook_needs_fewer_writes.
Print Assumptions four_is_always_needed.
Print Assumptions two_levels_49.
Print Assumptions blocks_scheme.
Print Assumptions blocks_writes.
Print Assumptions matrix_blocks_do_not_commute.
Print Assumptions any_shape_bound.
Print Assumptions any_shape_telescope.
Print Assumptions any_shape_telescope_bound.
Print Assumptions any_shape_cost.
Print Assumptions any_shape_path_realised.
Print Assumptions any_shape_edge.
Print Assumptions any_shape_brent.
Print Assumptions any_shape_minimal_rank_bound.
Print Assumptions any_shape_outputs_bound.
Print Assumptions tensor_products_not_proportional.
