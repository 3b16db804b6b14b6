/* bound.h - lower bounds for path covers that anybody can check. Promises:
 *   - add a depot; an edge {r, depot} costs end(r), an edge {r, s} costs join(r, s). Path covers of cost c are exactly
 * the spanning trees of cost c in which every product has degree at most two (each path hangs on the depot by its end).
 *   - so for any multipliers pi_r >= 0, (minimum spanning tree under cost + pi_a + pi_b) - 2 sum pi is a lower bound
 *     (Held and Karp's, with trees rooted at a depot without a degree limit). All arithmetic is in integers,
 *     multipliers in units of 1/HPT_BOUND_SCALE.
 *   - a bound tree branches on an edge: first the subtree where it is forbidden, then the one where it is forced. A
 *     forced edge forbids every third edge at a product and every edge that would close a cycle with forced ones.
 *     A leaf carries multipliers that prove the bound under what is forced and forbidden there.
 */
#ifndef HPT_BOUND_H
#define HPT_BOUND_H

#include "core/core.h"

enum { HPT_BOUND_SCALE = 1024 };

typedef struct hpt_bound_node { /* in preorder */
    int32_t a, b;               /* the edge branched on, b == count is the depot; a < 0: a leaf */
    size_t multipliers;         /* a leaf's first multiplier in hpt_bound_tree.multipliers */
} hpt_bound_node;

typedef struct hpt_bound_tree {
    int32_t count; /* products */
    int32_t bound; /* what it proves */
    hpt_bound_node *nodes;
    size_t node_count, node_capacity;
    int32_t *multipliers; /* count per leaf */
    size_t multiplier_count, multiplier_capacity;
} hpt_bound_tree;

void hpt_bound_tree_clear(hpt_bound_tree *tree);

typedef struct hpt_bound_limits {
    int64_t nodes;   /* stop after so many */
    double deadline; /* CLOCK_MONOTONIC seconds */
    const hpt_progress *progress;
} hpt_bound_limits;

/* Branch and bound. `order`, `last` and `*cost` hold a cover on entry and a better one on return if one was found.
 * Returns HPT_OK also when a limit was reached; then *lower < *cost. */
hpt_status hpt_bound_search(int32_t *lower, hpt_bound_tree *tree, int32_t *order, uint8_t *last, int32_t *cost,
                            int32_t count, const int32_t *join, const int32_t *end, const hpt_bound_limits *limits,
                            hpt_error *error);

#endif
