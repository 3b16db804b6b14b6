/* chains.h - a scheme's rho as a path-cover problem, and a cover as chains with exact scales and writes. Promises:
 *   - join cost of r and s: outputs where rho(r) and mu rho(s) differ, for the mu that makes them agree most often;
 *     among equally good mu, 1 before -1 before the rest. End cost: non-zeros of rho(r).
 *   - scales are normalised per chain so that as many as possible are +-1, then as many as possible 1.
 */
#ifndef HPT_CHAINS_H
#define HPT_CHAINS_H

#include "numbers.h"
#include "passes/cover/cover.h"
#include <heptane/chain.h>

enum { HPT_CHAIN_PRODUCTS = 4096, HPT_CHAIN_VALUES = 2048 };

typedef struct hpt_chain_matrix { /* in the arena */
    int32_t count, outputs;
    int32_t *join, *end;
    int32_t *mu;    /* count x count: number id of rho(r) / rho(s) */
    uint8_t *odd;   /* mu is not +-1 */
    uint8_t *plain; /* A's form is one entry times +-1 */
    int32_t *rho;   /* count x outputs: number ids */
} hpt_chain_matrix;

hpt_status hpt_chain_matrix_build(hpt_chain_matrix *out, hpt_numbers *numbers, const hpt_scheme *scheme,
                                  hpt_arena *arena, hpt_error *error);

typedef struct hpt_chain_step { /* one product in its chain, number ids */
    int32_t product, scale;
    int32_t write_count;
    int32_t *output, *weight;
} hpt_chain_step;

typedef struct hpt_chain_list { /* in the arena; chain i is steps first[i] .. first[i + 1] - 1 */
    int32_t chains, count, writes;
    int32_t *first;
    hpt_chain_step *steps;
} hpt_chain_list;

hpt_status hpt_chain_list_build(hpt_chain_list *out, hpt_numbers *numbers, const hpt_chain_matrix *matrix,
                                const int32_t *order, const uint8_t *last, hpt_arena *arena, hpt_error *error);

/* schedule.c: interleaves the chains; *out lives in the arena, which it does not own yet. */
hpt_status hpt_schedule_build(hpt_schedule **out, const hpt_chain_list *list, const hpt_numbers *numbers,
                              const hpt_scheme *scheme, int32_t accumulators, hpt_arena *arena, hpt_error *error);

/* ---- the bound, and its certificate ---- */
typedef struct hpt_chain_proof {
    bool distinct; /* no two rho are proportional and none is zero, and the bound is the number of products */
    hpt_bound_tree tree;
} hpt_chain_proof;

/* chain.c: what hpt_chain does. With `proof` (NULL: not wanted) the bound comes from the tree alone, which may take
 * longer than dynamic programming; the caller clears proof->tree. */
hpt_status hpt_chain_with_proof(hpt_schedule **out, hpt_chain_proof *proof, const hpt_scheme *scheme,
                                const hpt_chain_options *options, const hpt_progress *progress, hpt_error *error);
/* certificate.c: the text that heptane-check reads. */
hpt_status hpt_chain_certify(hpt_text *out, const hpt_schedule *schedule, const hpt_chain_proof *proof,
                             const hpt_scheme *scheme, hpt_error *error);

#endif
