/* Path covers: three ways to the optimum (all orders, subsets, branch and bound) on small random instances. */
#include "passes/cover/cover.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 24 };

typedef struct instance {
    int32_t n, join[MOST * MOST], end[MOST];
} instance;

static unsigned seed;

static void make(instance *x, int32_t n, int32_t highest) {
    x->n = n;
    for (int32_t r = 0; r < n; r++) {
        x->end[r] = 1 + rand() % highest;
        for (int32_t s = 0; s <= r; s++) x->join[r * n + s] = x->join[s * n + r] = s == r ? 0 : rand() % (highest + 2);
    }
}

/* As schemes make them: ternary vectors over `outputs` entries. */
static void make_scheme_like(instance *x, int32_t n, int32_t outputs) {
    int value[MOST][32];
    x->n = n;
    for (int32_t r = 0; r < n; r++) {
        x->end[r] = 0;
        while (x->end[r] == 0)
            for (int32_t c = x->end[r] = 0; c < outputs; c++) {
                value[r][c] = rand() % 3 ? 0 : rand() % 2 ? 1 : -1;
                x->end[r] += value[r][c] != 0;
            }
    }
    for (int32_t r = 0; r < n; r++)
        for (int32_t s = 0; s < n; s++) {
            int same = 0, opposite = 0;
            for (int32_t c = 0; c < outputs; c++) {
                same += value[r][c] == value[s][c];
                opposite += value[r][c] == -value[s][c];
            }
            x->join[r * n + s] = outputs - (same > opposite ? same : opposite);
        }
}

static hpt_cover_problem problem_of(const instance *x) {
    return (hpt_cover_problem){.count = x->n, .join = x->join, .end = x->end, .accumulators = 2, .seconds = 20};
}

static int32_t step_cost(const instance *x, int32_t r, int32_t s) {
    int32_t join = x->join[r * x->n + s];
    return join < x->end[r] ? join : x->end[r];
}

/* `order` holds `depth` products; the cheapest completion that beats `best`, else `best`. */
static int32_t every_order(const instance *x, int32_t *order, int32_t depth, int32_t cost, int32_t best) {
    if (depth > 0 && depth == x->n) {
        cost += x->end[order[depth - 1]];
        return cost < best ? cost : best;
    }
    for (int32_t r = 0; r < x->n; r++) {
        bool used = false;
        for (int32_t t = 0; t < depth; t++) used |= order[t] == r;
        if (used) continue;
        int32_t step = depth <= 0 ? 0 : step_cost(x, order[depth - 1], r);
        order[depth] = r;
        if (cost + step < best) best = every_order(x, order, depth + 1, cost + step, best);
    }
    return best;
}

static void assert_cover(const hpt_cover *cover, const instance *x) {
    hpt_cover_problem problem = problem_of(x);
    uint32_t seen = 0;
    for (int32_t t = 0; t < x->n; t++) seen |= 1u << cover->order[t];
    assert_int_equal(seen, (1u << x->n) - 1);
    assert_int_equal(cover->last[x->n - 1], 1);
    assert_int_equal(hpt_cover_cost(cover->order, cover->last, &problem), cover->cost);
}

static void test_three_ways_agree(void **unused) {
    (void)unused;
    for (int round = 0; round < 120; round++) {
        instance x;
        int32_t n = 1 + rand() % 7;
        if (round % 2)
            make(&x, n, 1 + rand() % 6);
        else
            make_scheme_like(&x, n, 4 + rand() % 5);
        hpt_cover_problem problem = problem_of(&x);
        hpt_cover cover;
        hpt_error error = {0};
        int32_t order[MOST], want = every_order(&x, order, 0, 0, INT32_MAX);
        uint8_t last[MOST];
        assert_int_equal(hpt_cover_solve(&cover, &problem, &error), HPT_OK);
        assert_cover(&cover, &x);
        assert_int_equal(cover.cost, want);
        assert_int_equal(cover.lower_bound, want);
        hpt_cover_clear(&cover);
        assert_int_equal(hpt_cover_subsets(order, last, &problem, &error), HPT_OK);
        assert_int_equal(hpt_cover_cost(order, last, &problem), want);
    }
}

static void test_branch_and_bound_agrees_with_subsets(void **unused) {
    (void)unused;
    for (int round = 0; round < 24; round++) {
        instance x;
        make_scheme_like(&x, 8 + rand() % 7, 4 + rand() % 10);
        hpt_cover_problem problem = problem_of(&x);
        hpt_bound_limits limits = {INT64_MAX, hpt_clock() + 30, NULL};
        hpt_bound_tree tree = {0};
        hpt_error error = {0};
        int32_t order[MOST], other[MOST], lower, cost;
        uint8_t last[MOST], other_last[MOST];
        for (int32_t t = 0; t < x.n; t++) other[t] = t, other_last[t] = 1;
        cost = hpt_cover_cost(other, other_last, &problem); /* a poor start: the search must find the rest */
        assert_int_equal(hpt_cover_subsets(order, last, &problem, &error), HPT_OK);
        assert_int_equal(hpt_bound_search(&lower, &tree, other, other_last, &cost, x.n, x.join, x.end, &limits, &error),
                         HPT_OK);
        assert_int_equal(cost, hpt_cover_cost(order, last, &problem));
        assert_int_equal(hpt_cover_cost(other, other_last, &problem), cost);
        assert_int_equal(lower, cost);
        hpt_bound_tree_clear(&tree);
    }
}

static void test_any_cover_costs_the_same(void **unused) {
    (void)unused;
    for (int round = 0; round < 10; round++) {
        instance x;
        make_scheme_like(&x, 6 + rand() % 14, 4 + rand() % 12);
        hpt_cover_problem problem = problem_of(&x);
        hpt_cover nice, any;
        hpt_error error = {0};
        assert_int_equal(hpt_cover_solve(&nice, &problem, &error), HPT_OK);
        problem.any = true;
        assert_int_equal(hpt_cover_solve(&any, &problem, &error), HPT_OK);
        assert_cover(&any, &x);
        assert_int_equal(any.cost, nice.cost);
        assert_int_equal(any.lower_bound, nice.lower_bound);
        hpt_cover_clear(&any);
        hpt_cover_clear(&nice);
    }
}

static void test_interruption_leaves_an_honest_cover(void **unused) {
    (void)unused;
    volatile int interrupted = 1;
    const hpt_progress progress = {NULL, NULL, &interrupted};
    instance x;
    make_scheme_like(&x, 20, 12);
    hpt_cover_problem problem = problem_of(&x);
    hpt_error error = {0};
    hpt_cover cover, whole;
    int32_t order[MOST];
    uint8_t last[MOST];
    assert_int_equal(hpt_cover_solve(&whole, &problem, &error), HPT_OK);
    problem.progress = &progress;
    assert_int_equal(hpt_cover_subsets(order, last, &problem, &error), HPT_INTERRUPTED);
    assert_int_equal(hpt_cover_solve(&cover, &problem, &error), HPT_OK);
    assert_cover(&cover, &x);
    assert_true(cover.lower_bound <= whole.cost && whole.cost <= cover.cost);
    hpt_cover_clear(&cover);
    hpt_cover_clear(&whole);
}

static void test_limits_stay_honest(void **unused) {
    (void)unused;
    for (int round = 0; round < 10; round++) {
        instance x;
        make_scheme_like(&x, 13, 9);
        hpt_cover_problem problem = problem_of(&x);
        hpt_bound_limits limits = {round, hpt_clock() + 30, NULL};
        hpt_bound_tree tree = {0};
        hpt_error error = {0};
        int32_t order[MOST], other[MOST], lower, cost;
        uint8_t last[MOST], other_last[MOST];
        for (int32_t t = 0; t < x.n; t++) other[t] = t, other_last[t] = 1;
        cost = hpt_cover_cost(other, other_last, &problem);
        assert_int_equal(hpt_cover_subsets(order, last, &problem, &error), HPT_OK);
        int32_t want = hpt_cover_cost(order, last, &problem);
        assert_int_equal(hpt_bound_search(&lower, &tree, other, other_last, &cost, x.n, x.join, x.end, &limits, &error),
                         HPT_OK);
        assert_true(lower <= want && want <= cost);
        hpt_bound_tree_clear(&tree);
    }
}

static void test_alternation(void **unused) {
    (void)unused;
    int32_t group[8];
    assert_true(hpt_cover_alternates(group, (int32_t[]){4, 2, 1}, 3, 2));
    assert_true(group[0] != group[1] && group[1] == group[2]);
    assert_false(hpt_cover_alternates(group, (int32_t[]){5, 2}, 2, 2));
    assert_false(hpt_cover_alternates(group, (int32_t[]){7}, 1, 2));
    assert_true(hpt_cover_alternates(group, (int32_t[]){4, 3, 3}, 3, 3));
    assert_false(hpt_cover_alternates(group, (int32_t[]){6, 2, 2}, 3, 3));
    assert_true(hpt_cover_alternates(group, (int32_t[]){1}, 1, 1));
}

static void test_prefers_short_prefix_sums_among_equals(void **unused) {
    (void)unused;
    instance x = {.n = 7}; /* joining and ending cost the same everywhere: all covers are equal */
    for (int32_t i = 0; i < 49; i++) x.join[i] = 1;
    for (int32_t i = 0; i < 7; i++) x.end[i] = 1;
    hpt_cover_problem problem = problem_of(&x);
    hpt_cover cover;
    hpt_error error = {0};
    assert_int_equal(hpt_cover_solve(&cover, &problem, &error), HPT_OK);
    assert_int_equal(cover.cost, 7);
    int32_t length[7], paths = 0, run = 0;
    for (int32_t t = 0; t < 7; t++) {
        run++;
        if (cover.last[t]) length[paths++] = run, run = 0;
    }
    assert_int_equal(paths, 7); /* then every write is the first of its path */
    assert_true(hpt_cover_alternates(NULL, length, paths, 2));
    hpt_cover_clear(&cover);
}

int main(void) {
    const char *given = getenv("HEPTANE_TEST_SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 10) : 1;
    printf("seed %u (HEPTANE_TEST_SEED)\n", seed);
    srand(seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_ways_agree),
        cmocka_unit_test(test_branch_and_bound_agrees_with_subsets),
        cmocka_unit_test(test_limits_stay_honest),
        cmocka_unit_test(test_any_cover_costs_the_same),
        cmocka_unit_test(test_interruption_leaves_an_honest_cover),
        cmocka_unit_test(test_alternation),
        cmocka_unit_test(test_prefers_short_prefix_sums_among_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
