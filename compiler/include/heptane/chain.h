/* heptane/chain.h - chaining a scheme's products with the fewest writes, and the schedule that kernels execute.
 *
 * A chain accumulates scaled products lambda_t P(r_t) in one accumulator; after product t the prefix sum S_t is written
 * into output block uv with weight sigma_t,uv = rho_uv(r_t)/lambda_t - rho_uv(r_t+1)/lambda_t+1 where that is not zero
 * (the last product's successor is zero). Writes = number of non-zero sigmas. A schedule interleaves the chains over
 * the target's accumulators so that none is used twice running where that can be. Source: the paper, section 4; DESIGN
 * section 2.
 *
 * Numbers are exact: `text` is the scheme's own notation, `value` the nearest double. Products and output blocks count
 * from 0 here (c = u * p + v, row-major), from 1 in everything a person reads.
 */
#ifndef HEPTANE_CHAIN_H
#define HEPTANE_CHAIN_H

#include <heptane/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpt_number {
    const char *text;
    double value;
} hpt_number;

typedef struct hpt_write {
    int32_t c;         /* output block */
    hpt_number weight; /* sigma */
    bool first;        /* first touch of this block in schedule order: a store; later ones are reduce-adds */
} hpt_write;

typedef struct hpt_step { /* one product, in execution order */
    int32_t product;
    int32_t accumulator; /* 0 .. accumulators - 1 */
    int32_t chain;       /* which chain it belongs to, in order of first step */
    bool fresh;          /* starts its chain: the accumulator is overwritten */
    hpt_number scale;    /* lambda: the product is multiplied by it before it is accumulated */
    int32_t write_count;
    const hpt_write *writes; /* after this product */
} hpt_step;

typedef struct hpt_schedule {
    int32_t n, m, p, rank;
    char scheme_hash[65];
    int32_t accumulators;
    int32_t chains;
    int32_t step_count; /* = rank */
    const hpt_step *steps;
    int32_t writes;      /* total */
    int32_t lower_bound; /* proved: no chaining of this scheme needs fewer */
    bool optimal;        /* writes == lower_bound */
    bool alternates;     /* no accumulator is used twice running (trivially false with one accumulator and rank > 1) */
    const char *method;  /* "none", "subset dynamic programming", "branch and bound", ... */
    void *owner;         /* arena; freed by hpt_schedule_destroy */
} hpt_schedule;

typedef struct hpt_chain_options {
    int32_t accumulators; /* 1 .. 8; 0 means 2 */
    bool unchained;       /* every product is its own chain */
    double time_limit;    /* seconds; 0 means 60 */
    bool any;             /* any chaining with so many writes will do: no choice among equals, which takes longest */
} hpt_chain_options;

/* Needs a real ring and no zero factor (HPT_UNSUPPORTED otherwise). Deterministic for equal inputs unless the time
 * limit was reached. The schedule is independent of the scheme afterwards. */
hpt_status hpt_chain(hpt_schedule **out, const hpt_scheme *scheme, const hpt_chain_options *options, hpt_error *error);
/* Evaluates the schedule symbolically and compares it with the scheme's rho exactly; HPT_INTERNAL if they differ.
 * Shares no code with the search that made it. */
hpt_status hpt_schedule_check(const hpt_schedule *schedule, const hpt_scheme *scheme, hpt_error *error);
void hpt_schedule_destroy(hpt_schedule *schedule); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
