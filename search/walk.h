/* walk.h - random walks in the flip graph, from a scheme to schemes of lower rank and better cost. Promises:
 *   - every state is a correct scheme of the start's shape and ring: flips, reductions and plus transitions are
 * identities of tensors, and the result is checked against the Brent equations before it is handed out.
 *   - a walker is one stream of random numbers; walkers meet only between rounds of a fixed number of steps. So equal
 *     options with a limit on rounds give equal results, whatever the number of threads.
 * Moves: two products that share a factor a (up to sign) are flipped, a(x)b(x)c + a(x)b'(x)c' = a(x)(b + b')(x)c +
 * a(x)b'(x)(c' - c); a product that becomes zero, or two that agree in two factors, lower the rank; a walk that is
 * stuck splits two products into three (plus).
 */
#ifndef HPT_WALK_H
#define HPT_WALK_H

#include "ternary.h"

typedef enum hpt_objective {
    HPT_OBJECTIVE_RANK,
    HPT_OBJECTIVE_WRITES,
    HPT_OBJECTIVE_ADDITIONS,
    HPT_OBJECTIVE_GROWTH
} hpt_objective;

typedef struct hpt_walk_options {
    hpt_objective objective; /* what to lower once the rank is `rank` */
    int32_t rank;            /* aim at this rank; 0: as low as it gets */
    uint64_t seed;
    int32_t walkers; /* 0: 4 */
    int32_t threads; /* 0: as many as there are processors */
    int64_t rounds;  /* 0: no limit */
    double seconds;  /* 0: no limit */
    int64_t goal;    /* stop when the objective is no higher; < 0: no goal (with the rank objective: stop at `rank`) */
    const hpt_progress *progress;
} hpt_walk_options;

typedef struct hpt_walk_result {
    hpt_ternary_shape shape; /* rank: the best found */
    hpt_ternary_product products[HPT_TERNARY_RANK];
    int64_t value; /* of the objective */
    int64_t rounds, steps;
    bool reached; /* rank and goal */
} hpt_walk_result;

/* From `start`, or the textbook scheme of `shape` if NULL. HPT_INTERRUPTED after SIGINT, with the best so far. */
hpt_status hpt_walk(hpt_walk_result *out, const hpt_ternary_shape *shape, const hpt_ternary_product *start,
                    const hpt_walk_options *options, hpt_error *error);
/* writes: after chaining (upper bound); additions: without sharing; growth: the largest over the outputs of
 * sum |rho| |alpha|_1 |beta|_1. */
hpt_status hpt_objective_value(int64_t *value, hpt_objective objective, const hpt_ternary_product *products,
                               const hpt_ternary_shape *shape, hpt_error *error);
const char *hpt_objective_name(hpt_objective objective);

#endif
