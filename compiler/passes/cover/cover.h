/* cover.h - minimum-cost path cover of R products, the combinatorial heart of chaining. Promises:
 *   - knows nothing of schemes: a symmetric matrix of joining costs and a vector of ending costs.
 *   - a path r_1 .. r_L costs join(r_1,r_2) + ... + join(r_L-1,r_L) + end(r_L); every product is on exactly one path.
 *   - cost and lower bound are honest: lower_bound <= optimum <= cost whatever the limits; equal means proved.
 *   - the proof is a tree of spanning-tree bounds (bound.h), so that a program without this code can check it.
 *   - deterministic: limits count steps, not seconds, unless the time limit itself is reached.
 * Among covers of equal cost it prefers, in this order: one that can alternate over the accumulators, few joins marked
 * odd, writes early in their paths (a long prefix sum is large, and so is the rounding error of writing it), and
 * products marked early at the front. That choice is by local search: good, not proved best.
 */
#ifndef HPT_COVER_H
#define HPT_COVER_H

#include "bound.h"

typedef struct hpt_cover_problem {
    int32_t count;
    const int32_t *join;  /* count x count, symmetric, >= 0; the diagonal is not read */
    const int32_t *end;   /* count, >= 0 */
    const uint8_t *odd;   /* count x count, symmetric: the join needs a scale that kernels do not like; may be NULL */
    const uint8_t *early; /* count: the product is better early; may be NULL */
    int32_t accumulators; /* >= 1 */
    double seconds;       /* time limit; <= 0: 60 */
    bool by_tree;         /* the bound must come from the tree: no dynamic programming */
    bool any;             /* any cover of the cost found will do */
    const hpt_progress *progress; /* may be NULL */
} hpt_cover_problem;

typedef struct hpt_cover {
    int32_t count;
    int32_t cost;
    int32_t lower_bound;
    int32_t *order; /* the products, path after path */
    uint8_t *last;  /* last[t]: a path ends after position t */
    const char *method;
    hpt_bound_tree tree; /* proves tree.bound <= optimum */
} hpt_cover;

/* Initialise with {0}; clear whether it succeeded or not. */
hpt_status hpt_cover_solve(hpt_cover *out, const hpt_cover_problem *problem, hpt_error *error);
void hpt_cover_clear(hpt_cover *cover);

/* True if paths of these lengths can be dealt to the accumulators so that none is used twice running; `group` (may be
 * NULL) receives the accumulator of each path, also when they cannot (then as level as found). */
bool hpt_cover_alternates(int32_t *group, const int32_t *length, int32_t paths, int32_t accumulators);

/* ---- the parts; each is used by hpt_cover_solve and tested by itself ---- */
/* cover_local.c: simulated annealing over orders, at most `sweeps` * count^2 moves, from the given order. Improves
 * (order, last). With `prefer` the secondary wishes count too. Stops at `deadline` on hpt_clock and
 * on an interruption. */
hpt_status hpt_cover_anneal(int32_t *order, uint8_t *last, const hpt_cover_problem *problem, int32_t sweeps,
                            bool prefer, uint64_t seed, double deadline, hpt_error *error);
int32_t hpt_cover_cost(const int32_t *order, const uint8_t *last, const hpt_cover_problem *problem);
/* cover_subset.c: exact by dynamic programming over subsets: count <= HPT_SUBSET_LIMIT, optimum <= 254. */
enum { HPT_SUBSET_LIMIT = 23 };
/* HPT_INTERRUPTED leaves (order, last) as it was. */
hpt_status hpt_cover_subsets(int32_t *order, uint8_t *last, const hpt_cover_problem *problem, hpt_error *error);

#endif
