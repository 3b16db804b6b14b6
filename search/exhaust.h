/* exhaust.h - every ternary scheme of a small shape and rank, by methods that do not share their argument. Promises:
 *   - `lift`: all decompositions over GF(2) by backtracking (gf2.c), then all choices of signs (lift.c). Complete
 * because a ternary scheme over Z reduces modulo 2 to one with the same supports. README.md has the argument.
 *   - `orbit` (2x2x2:7 only): the images of Strassen's scheme with ternary lines (orbit.c). Complete by de Groote.
 *   - `bases` (a side of 1 and the minimal rank): bases of rank-one matrices with ternary duals (bases.c).
 *   - work is cut into tasks of equal meaning on every machine, so that shards and checkpoints merge exactly.
 */
#ifndef HPT_EXHAUST_H
#define HPT_EXHAUST_H

#include "ternary.h"

typedef struct hpt_gf2_task { /* the alphas of one task: a multiset of vectors over GF(2) */
    uint8_t alpha[HPT_TERNARY_RANK];
} hpt_gf2_task;

typedef struct hpt_exhaust_options {
    int32_t threads;        /* 0: as many as there are processors */
    int32_t shard, shards;  /* this part, 1 .. shards */
    const char *checkpoint; /* NULL: none; read if it exists, written as work proceeds and when interrupted */
    const hpt_progress *progress;
} hpt_exhaust_options;

typedef struct hpt_exhaust_result {
    bool complete;            /* every task of this shard was done */
    int64_t tasks, done;      /* of this shard */
    int64_t modulo2;          /* decompositions over GF(2) among them */
    hpt_ternary_list schemes; /* a set */
} hpt_exhaust_result;

/* HPT_INTERRUPTED (with the partial result) after SIGINT; HPT_TOO_LARGE where the shape is out of reach. */
hpt_status hpt_exhaust_lift(hpt_exhaust_result *out, const hpt_ternary_shape *shape, const hpt_exhaust_options *options,
                            hpt_error *error);
/* The shards of one search, as their checkpoint files hold them: all must be complete and belong together. */
hpt_status hpt_exhaust_merge(hpt_exhaust_result *out, hpt_ternary_shape *shape, const char *const *files, int32_t count,
                             hpt_error *error);
hpt_status hpt_exhaust_orbit(hpt_ternary_list *out, hpt_error *error);
hpt_status hpt_exhaust_bases(hpt_ternary_list *out, const hpt_ternary_shape *shape, hpt_error *error);

/* ---- the parts ---- */
/* gf2.c: the tasks in order, malloc'd; and the decompositions of one of them, added to `out` (plus masks only). */
hpt_status hpt_gf2_tasks(hpt_gf2_task **out, int64_t *count, const hpt_ternary_shape *shape,
                         const hpt_progress *progress, hpt_error *error);
hpt_status hpt_gf2_solve(hpt_ternary_list *out, const hpt_gf2_task *task, const hpt_ternary_shape *shape,
                         const hpt_progress *progress, hpt_error *error);
/* lift.c: all choices of signs of a decomposition over GF(2) that make it one over Z. */
hpt_status hpt_lift_signs(hpt_ternary_list *out, const hpt_ternary_product *modulo2, const hpt_ternary_shape *shape,
                          hpt_error *error);

/* ---- what a set of schemes looks like ---- */
typedef struct hpt_classification {
    int64_t orbits;               /* under signed-permutation sandwiches and the role symmetries that keep the shape */
    int32_t *orbit;               /* malloc'd: number of each scheme's orbit, in order of first member */
    int32_t *chained, *unchained; /* malloc'd: writes of each */
} hpt_classification;
hpt_status hpt_classify(hpt_classification *out, const hpt_ternary_list *set, const hpt_ternary_shape *shape,
                        bool whole, hpt_error *error);
void hpt_classification_clear(hpt_classification *c);

#endif
