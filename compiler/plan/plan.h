/* plan.h - what a kernel needs to know about a scheme and its schedule, as plain tables. Promises:
 *   - everything the templates read about a scheme is in hpt_kernel_plan, and hpt_kernel_plan_json shows all of it
 * (--dump=plan).
 *   - operand forms are numbered slots without repetition, those that must be computed first, plain blocks (one block,
 *     weight 1) last: a kernel that reads plain blocks in place needs only the first `computed` slots in memory.
 *   - the scales lambda of the schedule are folded into the forms here; a step is just "multiply two slots".
 *   - outputs of one step that take the prefix sum with the same weight share one fill of the staging buffer.
 * Blocks, slots, fills and targets count from 0; for Y the rows are those of Y transposed (blocks of N), the columns
 * blocks of K, so that both operands look alike. Sources: DESIGN sections 2, 5 and 6.
 */
#ifndef HPT_PLAN_H
#define HPT_PLAN_H

#include "core.h"
#include <heptane/chain.h>
#include <jansson.h>

typedef enum hpt_type { HPT_TYPE_F16, HPT_TYPE_BF16, HPT_TYPE_F32 } hpt_type;
const char *hpt_type_name(hpt_type type);
bool hpt_type_find(hpt_type *out, const char *name);
/* Unit roundoff: half the distance from 1 to the next number. */
double hpt_type_roundoff(hpt_type type);
/* Into how many parts a kernel may cut a chain along K, each of which is added to outputs of this type. */
int hpt_type_parts(hpt_type type);

typedef struct hpt_row { /* one product's coefficients on one operand, entries rising */
    int32_t count;
    const int32_t *index;
    const double *weight;
} hpt_row;

typedef struct hpt_plan_request {
    const char *name;     /* of the scheme */
    const hpt_row *u, *v; /* rank rows each */
    const hpt_schedule *schedule;
    hpt_type x, y, c, forms;
    const hpt_type *sums; /* of output blocks until their last write; NULL: as c */
    bool x_transposed, y_untransposed;
} hpt_plan_request;

typedef struct hpt_form_term {
    int32_t row, col;
    double weight;
} hpt_form_term;

typedef struct hpt_slot { /* one operand form */
    int32_t count;
    hpt_form_term *terms;
    bool plain;
} hpt_slot;

typedef struct hpt_operand {
    int32_t rows, cols;
    int32_t slot_count, computed;
    hpt_slot *slots;
} hpt_operand;

typedef struct hpt_plan_step {
    int32_t product, accumulator, chain;
    bool fresh;
    int32_t x_slot, y_slot;
    int32_t first_fill, fill_count;
} hpt_plan_step;

typedef struct hpt_fill {
    double weight;
    int32_t first_target, target_count;
} hpt_fill;

typedef struct hpt_target_block {
    int32_t row, col;
    bool add;      /* reduce-add; otherwise a store, the block's first touch */
    int32_t index; /* writes that the same chain has made to this block before */
} hpt_target_block;

typedef struct hpt_plan_chain { /* steps of one chain; contiguous when there is one accumulator */
    int32_t first_step, steps;
} hpt_plan_chain;

typedef struct hpt_numerics {
    double growth;   /* max over outputs of sum over r of |rho| |alpha|_1 |beta|_1 */
    double expected; /* relative Frobenius error of N(0,1) data, root mean square model */
    double bound;    /* what a correct run stays within */
    double finished; /* the same where a finishing pass makes C of the sums, which rounds once more */
} hpt_numerics;

typedef struct hpt_kernel_plan {
    const char *name, *hash, *method;
    int32_t n, m, p, rank;
    int32_t accumulators, chains, writes, lower_bound;
    bool optimal, alternates, unit_weights; /* unit_weights: every write's weight is 1 or -1 */
    hpt_type x_type, y_type, c_type, forms_type, sums_type;
    bool x_transposed, y_untransposed;
    hpt_operand x, y;
    int32_t step_count, fill_count, target_count;
    hpt_plan_step *steps;
    hpt_fill *fills;
    hpt_target_block *targets;
    int32_t section_count;
    hpt_plan_chain *sections; /* longest first; runs of steps that start with a fresh one */
    hpt_numerics numerics;
    hpt_arena *arena;
} hpt_kernel_plan;

hpt_status hpt_kernel_plan_make(hpt_kernel_plan **out, const hpt_plan_request *request, hpt_error *error);
void hpt_kernel_plan_destroy(hpt_kernel_plan *plan); /* NULL is fine */
/* Fills plan->numerics from the request (numerics.c). */
hpt_status hpt_kernel_plan_numerics(hpt_kernel_plan *plan, const hpt_plan_request *request, hpt_error *error);
/* A new reference, NULL when out of memory. */
json_t *hpt_kernel_plan_json(const hpt_kernel_plan *plan);

#endif
