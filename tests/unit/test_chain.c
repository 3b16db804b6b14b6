/* Chaining known schemes: numbers of writes known from theory, and forged schedules that the check must refuse. */
#include "scheme/scheme.h"
#include <heptane/chain.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of U, V, W of 2 x 2 schemes, all of -1, 0, 1. */
typedef int row[3][4];
static const row strassen[] = {{{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},  {{0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, -1}},
                               {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 1, 0, 1}}, {{0, 0, 0, 1}, {-1, 0, 1, 0}, {1, 0, 1, 0}},
                               {{1, 1, 0, 0}, {0, 0, 0, 1}, {-1, 1, 0, 0}}, {{-1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}},
                               {{0, 1, 0, -1}, {0, 0, 1, 1}, {1, 0, 0, 0}}};
static const row seven_writes[] = {/* found by exhaustive search */
                                   {{0, 0, 1, -1}, {0, 0, 1, -1}, {-1, 0, -1, 0}},
                                   {{0, 0, 1, 0}, {1, -1, 1, -1}, {0, 0, 0, -1}},
                                   {{0, 1, 0, -1}, {1, 0, 1, 0}, {0, 0, -1, -1}},
                                   {{0, 1, 0, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}},
                                   {{0, 1, 1, -1}, {1, 0, 1, -1}, {1, 0, 1, 1}},
                                   {{1, -1, -1, 1}, {1, 0, 0, 0}, {1, 0, 0, 0}},
                                   {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}}};

static void add_row(hpt_builder *builder, hpt_factor factor, int product, const int *row_of, int entries,
                    int64_t scale) {
    for (int e = 0; e < entries; e++)
        if (row_of[e])
            assert_int_equal(hpt_builder_term(builder, factor, product, e,
                                              hpt_builder_integer(builder, scale * row_of[e]), "", NULL),
                             HPT_OK);
}

/* U of product r is multiplied by scale[r] (NULL: by 1) and W is left alone: chaining sees W only. */
static hpt_scheme *build(const row *rows, int rank, const int64_t *w_scale) {
    hpt_builder *builder;
    hpt_scheme *scheme;
    hpt_error error = {0};
    assert_int_equal(hpt_builder_create(&builder, 2, 2, 2, rank, "", &error), HPT_OK);
    for (int r = 0; r < rank; r++)
        for (int f = 0; f < 3; f++)
            add_row(builder, (hpt_factor)f, r, rows[r][f], 4, f == 2 && w_scale ? w_scale[r] : 1);
    assert_int_equal(hpt_builder_finish(&scheme, builder, "", &error), HPT_OK);
    hpt_builder_destroy(builder);
    return scheme;
}

static hpt_scheme *textbook(int n, int m, int p) {
    hpt_builder *builder;
    hpt_scheme *scheme;
    hpt_error error = {0};
    int one, r = 0;
    assert_int_equal(hpt_builder_create(&builder, n, m, p, n * m * p, "", &error), HPT_OK);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++, r++) {
                one = hpt_builder_integer(builder, 1);
                assert_int_equal(hpt_builder_term(builder, HPT_U, r, i * m + j, one, "", NULL), HPT_OK);
                assert_int_equal(hpt_builder_term(builder, HPT_V, r, j * p + k, one, "", NULL), HPT_OK);
                assert_int_equal(hpt_builder_term(builder, HPT_W, r, i * p + k, one, "", NULL), HPT_OK);
            }
    assert_int_equal(hpt_builder_finish(&scheme, builder, "", &error), HPT_OK);
    hpt_builder_destroy(builder);
    return scheme;
}

static hpt_schedule *chain(const hpt_scheme *scheme, int accumulators, bool unchained) {
    hpt_schedule *schedule;
    hpt_error error = {0};
    hpt_chain_options options = {.accumulators = accumulators, .unchained = unchained, .time_limit = 20};
    hpt_status status = hpt_chain(&schedule, scheme, &options, &error);
    if (status != HPT_OK) print_error("%s: %s\n", error.where, error.message);
    assert_int_equal(status, HPT_OK);
    assert_int_equal(hpt_schedule_check(schedule, scheme, &error), HPT_OK);
    return schedule;
}

static void expect(hpt_scheme *scheme, int writes, int bound, bool alternates) {
    for (int accumulators = 1; accumulators <= 3; accumulators++) {
        hpt_schedule *schedule = chain(scheme, accumulators, false);
        assert_int_equal(schedule->writes, writes);
        assert_int_equal(schedule->lower_bound, bound);
        assert_int_equal(schedule->optimal, writes == bound);
        if (accumulators == 2) assert_int_equal(schedule->alternates, alternates);
        hpt_schedule_destroy(schedule);
    }
    hpt_scheme_destroy(scheme);
}

static void test_known_optima(void **unused) {
    (void)unused;
    expect(build(seven_writes, 7, NULL), 7, 7, true);
    expect(build(strassen, 7, NULL), 10, 10, true);
    expect(textbook(2, 2, 2), 4, 4, true);
    expect(textbook(1, 1, 1), 1, 1, true);
    expect(textbook(2, 3, 4), 8, 8, true);
}

static void test_unchained(void **unused) {
    (void)unused;
    hpt_scheme *scheme = build(strassen, 7, NULL);
    hpt_schedule *schedule = chain(scheme, 2, true);
    assert_int_equal(schedule->writes, 12);
    assert_int_equal(schedule->chains, 7);
    assert_false(schedule->optimal);
    assert_true(schedule->alternates);
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
}

static void test_scaling_costs_nothing(void **unused) {
    (void)unused;
    const int64_t scales[7] = {3, -2, 1, 5, -7, 1, 2};
    hpt_scheme *scheme =
        build(seven_writes, 7, scales); /* no longer a correct scheme, but the chaining does not mind */
    hpt_schedule *schedule = chain(scheme, 2, false);
    assert_int_equal(schedule->writes, 7);
    int rational = 0;
    for (int t = 0; t < 7; t++) rational += strchr(schedule->steps[t].scale.text, '/') != NULL;
    assert_true(rational > 0); /* scales follow exactly: some are fractions */
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
}

static void test_first_touch_and_order(void **unused) {
    (void)unused;
    hpt_scheme *scheme = build(seven_writes, 7, NULL);
    hpt_schedule *one = chain(scheme, 1, false);
    int length = 0, before = 8, touches = 0;
    for (int t = 0; t < 7; t++) {
        if (one->steps[t].fresh && t > 0) {
            assert_true(length <= before); /* longest chain first */
            before = length, length = 0;
        }
        length++;
        for (int w = 0; w < one->steps[t].write_count; w++) touches += one->steps[t].writes[w].first;
    }
    assert_int_equal(touches, 4);
    hpt_schedule_destroy(one);
    hpt_schedule *two = chain(scheme, 2, false);
    for (int t = 1; t < 7; t++) assert_int_not_equal(two->steps[t].accumulator, two->steps[t - 1].accumulator);
    hpt_schedule_destroy(two);
    hpt_scheme_destroy(scheme);
}

static void test_equal_inputs_give_equal_schedules(void **unused) {
    (void)unused;
    hpt_scheme *scheme = build(seven_writes, 7, NULL);
    hpt_schedule *a = chain(scheme, 2, false), *b = chain(scheme, 2, false);
    for (int t = 0; t < 7; t++) {
        assert_int_equal(a->steps[t].product, b->steps[t].product);
        assert_string_equal(a->steps[t].scale.text, b->steps[t].scale.text);
    }
    hpt_schedule_destroy(a);
    hpt_schedule_destroy(b);
    hpt_scheme_destroy(scheme);
}

/* Each forgery changes one thing in a copy of a good schedule. */
typedef enum forgery {
    SCALE,
    WEIGHT,
    OUTPUT,
    PRODUCT,
    ACCUMULATOR,
    FRESH,
    FIRST,
    TOTAL,
    OPTIMAL,
    SHAPE,
    FORGERIES
} forgery;

static void forge(hpt_schedule *s, hpt_step *steps, hpt_write *writes, forgery what) {
    switch (what) {
    case SCALE:
        steps[0].scale.text = strcmp(steps[0].scale.text, "1") ? "1" : "-1";
        break;
    case WEIGHT:
        writes[0].weight.text = "2";
        break;
    case OUTPUT:
        writes[0].c = (writes[0].c + 1) % 4;
        break;
    case PRODUCT:
        steps[1].product = steps[0].product;
        break;
    case ACCUMULATOR:
        steps[2].accumulator ^= 1;
        break;
    case FRESH:
        steps[2].fresh = !steps[2].fresh;
        break;
    case FIRST:
        writes[0].first = !writes[0].first;
        break;
    case TOTAL:
        s->writes = 6;
        break;
    case OPTIMAL:
        s->lower_bound = 5;
        break;
    case SHAPE:
        s->n = 3;
        break;
    case FORGERIES:
        break;
    }
}

static void test_forged_schedules_are_refused(void **unused) {
    (void)unused;
    hpt_scheme *scheme = build(seven_writes, 7, NULL);
    hpt_schedule *good = chain(scheme, 2, false);
    int at = 0;
    while (good->steps[at].write_count == 0) at++;
    for (int what = 0; what <= FORGERIES; what++) {
        hpt_schedule copy = *good;
        hpt_step steps[7];
        hpt_write writes[4];
        hpt_error error = {0};
        memcpy(steps, good->steps, sizeof steps);
        memcpy(writes, steps[at].writes, (size_t)steps[at].write_count * sizeof *writes);
        steps[at].writes = writes;
        copy.steps = steps;
        forge(&copy, steps, writes, (forgery)what);
        assert_int_equal(hpt_schedule_check(&copy, scheme, &error), what == FORGERIES ? HPT_OK : HPT_INTERNAL);
    }
    hpt_schedule_destroy(good);
    hpt_scheme_destroy(scheme);
}

static void test_zero_factor_is_refused(void **unused) {
    (void)unused;
    hpt_builder *builder;
    hpt_scheme *scheme;
    hpt_schedule *schedule;
    hpt_error error = {0};
    assert_int_equal(hpt_builder_create(&builder, 1, 1, 1, 2, "", &error), HPT_OK);
    hpt_builder_allow_zero_rows(builder);
    for (int f = 0; f < 3; f++)
        assert_int_equal(hpt_builder_term(builder, (hpt_factor)f, 0, 0, hpt_builder_integer(builder, 1), "", NULL),
                         HPT_OK);
    assert_int_equal(hpt_builder_finish(&scheme, builder, "", &error), HPT_OK);
    hpt_builder_destroy(builder);
    assert_int_equal(hpt_chain(&schedule, scheme, NULL, &error), HPT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "Product 2"));
    hpt_scheme_destroy(scheme);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_optima),
        cmocka_unit_test(test_unchained),
        cmocka_unit_test(test_scaling_costs_nothing),
        cmocka_unit_test(test_first_touch_and_order),
        cmocka_unit_test(test_equal_inputs_give_equal_schedules),
        cmocka_unit_test(test_forged_schedules_are_refused),
        cmocka_unit_test(test_zero_factor_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
