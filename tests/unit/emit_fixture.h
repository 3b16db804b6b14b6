/* emit_fixture.h - schemes with hand-made chains for the tests of plan and emit; no reader, no search.
 *
 * A fixture is three integer factors (row-major, one row per product), and chains as lists of product numbers (from 1,
 * negative: scale -1), separated by 0. Writes follow from the definition: sigma_t = rho_t/lambda_t -
 * rho_t+1/lambda_t+1. Coefficients: Strassen 1969; the seven-write scheme and its chains are from the table of the
 * prototype of DESIGN section 5, checked against the Brent equations here.
 */
#ifndef HPT_EMIT_FIXTURE_H
#define HPT_EMIT_FIXTURE_H

#include "core.h"
#include "plan/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    const char *name;
    int n, m, p, rank;
    const int *u, *v, *w;
    const int *chains; /* ends with two zeros */
} fixture;

static const int one_[] = {1}, one_chain[] = {1, 0, 0};
static const fixture fixture_trivial = {"trivial", 1, 1, 1, 1, one_, one_, one_, one_chain};

static const int strassen_u[] = {1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, -1, 0, 1, 0, 0, 1, 0, -1};
static const int strassen_v[] = {1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, -1, -1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1};
static const int strassen_w[] = {1, 0, 0, 1, 0, 0, 1, -1, 0, 1, 0, 1, 1, 0, 1, 0, -1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0};
static const int strassen_chains[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0};
static const fixture fixture_strassen = {"strassen", 2, 2, 2, 7, strassen_u, strassen_v, strassen_w, strassen_chains};

static const int seven_u[] = {0, 0, 1, -1, 0, 0, 1, 0, 0, 1, 0, -1, 0, 1, 0, 0, 0, 1, 1, -1, 1, -1, -1, 1, 1, 0, 0, 0};
static const int seven_v[] = {0, 0, 1, -1, 1, -1, 1, -1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, -1, 1, 0, 0, 0, 0, 1, 0, 0};
static const int seven_w[] = {-1, 0, -1, 0, 0, 0, 0, -1, 0, 0, -1, -1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0};
static const int seven_chains[] = {4, 5, -3, -2, 0, 1, -6, 0, 7, 0, 0};
static const fixture fixture_seven = {"seven", 2, 2, 2, 7, seven_u, seven_v, seven_w, seven_chains};

static const int eight_u[] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,
                              0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
static const int eight_v[] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1,
                              1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1};
static const int eight_w[] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0,
                              0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1};
static const int eight_chains[] = {1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 0, 0};
static const fixture fixture_eight = {"textbook", 2, 2, 2, 8, eight_u, eight_v, eight_w, eight_chains};

static const fixture *const fixtures[] = {&fixture_trivial, &fixture_strassen, &fixture_seven, &fixture_eight};

/* The textbook scheme of any shape, every product a chain of its own; kept until the program ends. */
static inline const fixture *fixture_textbook(int n, int m, int p) {
    const int rank = n * m * p;
    int *u = calloc((size_t)(rank * n * m), sizeof *u), *v = calloc((size_t)(rank * m * p), sizeof *v);
    int *w = calloc((size_t)(rank * n * p), sizeof *w), *chains = calloc((size_t)(2 * rank + 2), sizeof *chains);
    fixture *f = calloc(1, sizeof *f);
    if (!u || !v || !w || !chains || !f) abort();
    for (int r = 0; r < rank; r++) {
        const int i = r / (m * p), k = r / p % m, j = r % p;
        u[r * n * m + i * m + k] = v[r * m * p + k * p + j] = w[r * n * p + i * p + j] = 1;
        chains[2 * r] = r + 1;
    }
    *f = (fixture){"large", n, m, p, rank, u, v, w, chains};
    static const fixture *kept[16];
    static size_t count;
    if (count == sizeof kept / sizeof kept[0]) abort();
    kept[count++] = f;
    return f;
}

/* Number of Brent equations that fail. */
static inline int fixture_failing(const fixture *f) {
    int failing = 0;
    for (int a = 0; a < f->n * f->m; a++)
        for (int b = 0; b < f->m * f->p; b++)
            for (int c = 0; c < f->n * f->p; c++) {
                int sum = 0;
                for (int r = 0; r < f->rank; r++)
                    sum += f->u[r * f->n * f->m + a] * f->v[r * f->m * f->p + b] * f->w[r * f->n * f->p + c];
                failing += sum != (a % f->m == b / f->p && c / f->p == a / f->m && c % f->p == b % f->p);
            }
    return failing;
}

static inline hpt_row fixture_row(hpt_arena *arena, const int *dense, int count) {
    int32_t *index = hpt_arena_alloc(arena, (size_t)count, sizeof *index), found = 0;
    double *weight = hpt_arena_alloc(arena, (size_t)count, sizeof *weight);
    for (int i = 0; i < count; i++)
        if (dense[i]) index[found] = i, weight[found++] = dense[i];
    return (hpt_row){found, index, weight};
}

/* The schedule of the fixture's chains, one after another in accumulator 0. */
static inline hpt_schedule *fixture_schedule(hpt_arena *arena, const fixture *f) {
    const int outputs = f->n * f->p;
    hpt_schedule *schedule = hpt_arena_alloc(arena, 1, sizeof *schedule);
    hpt_step *steps = hpt_arena_alloc(arena, (size_t)f->rank, sizeof *steps);
    bool *touched = hpt_arena_alloc(arena, (size_t)outputs, sizeof *touched);
    *schedule = (hpt_schedule){.n = f->n,
                               .m = f->m,
                               .p = f->p,
                               .rank = f->rank,
                               .accumulators = 1,
                               .steps = steps,
                               .step_count = f->rank,
                               .method = "by hand",
                               .lower_bound = 1};
    memset(schedule->scheme_hash, '0', 64);
    int t = 0;
    for (const int *at = f->chains; *at; at++, schedule->chains++)
        for (const int *first = at; *at; at++, t++) {
            const int product = abs(*at) - 1, lambda = *at < 0 ? -1 : 1;
            const int next = abs(at[1]) - 1, next_lambda = at[1] < 0 ? -1 : 1;
            hpt_write *writes = hpt_arena_alloc(arena, (size_t)outputs, sizeof *writes);
            steps[t] = (hpt_step){.product = product,
                                  .chain = schedule->chains,
                                  .fresh = at == first,
                                  .scale = {lambda < 0 ? "-1" : "1", lambda},
                                  .writes = writes};
            for (int c = 0; c < outputs; c++) {
                const int d = f->w[product * outputs + c] * lambda;
                const int after = at[1] ? f->w[next * outputs + c] * next_lambda : 0;
                if (d == after) continue;
                writes[steps[t].write_count++] = (hpt_write){c, {"", d - after}, !touched[c]};
                touched[c] = true;
                schedule->writes++;
            }
        }
    return schedule;
}

static inline hpt_status fixture_plan(hpt_kernel_plan **out, const fixture *f, hpt_plan_request types,
                                      hpt_error *error) {
    hpt_arena *arena = hpt_arena_create();
    hpt_row *u = hpt_arena_alloc(arena, (size_t)f->rank, sizeof *u),
            *v = hpt_arena_alloc(arena, (size_t)f->rank, sizeof *v);
    for (int r = 0; r < f->rank; r++) {
        u[r] = fixture_row(arena, f->u + r * f->n * f->m, f->n * f->m);
        v[r] = fixture_row(arena, f->v + r * f->m * f->p, f->m * f->p);
    }
    types.name = f->name;
    types.u = u;
    types.v = v;
    types.schedule = fixture_schedule(arena, f);
    const hpt_status status = hpt_kernel_plan_make(out, &types, error);
    hpt_arena_destroy(arena);
    return status;
}

#endif
