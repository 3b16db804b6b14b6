/* Searching: methods that must agree, moves that must keep the tensor, results that must not depend on threads. */
#include "search/exhaust.h"
#include "search/flip.h"
#include "search/walk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void search_all(hpt_exhaust_result *out, hpt_ternary_shape shape) {
    const hpt_exhaust_options options = {2, 1, 1, NULL, NULL};
    hpt_error error = {0};
    assert_int_equal(hpt_exhaust_lift(out, &shape, &options, &error), HPT_OK);
    assert_true(out->complete);
    for (size_t i = 0; i < out->schemes.count; i++)
        assert_true(hpt_ternary_check(hpt_ternary_list_at(&out->schemes, i), &shape));
}

static void test_seven_products_two_ways(void **unused) {
    (void)unused;
    const hpt_ternary_shape shape = {2, 2, 2, 7, false};
    hpt_exhaust_result all;
    hpt_ternary_list orbit = {0};
    hpt_classification classes;
    hpt_error error = {0};
    search_all(&all, shape);
    assert_int_equal(all.modulo2, 36);        /* 6^3 / 6 */
    assert_int_equal(all.schemes.count, 288); /* 12^3 / 6 */
    assert_int_equal(hpt_exhaust_orbit(&orbit, &error), HPT_OK);
    assert_true(hpt_ternary_list_equal(&all.schemes, &orbit));
    assert_int_equal(hpt_classify(&classes, &all.schemes, &shape, true, &error), HPT_OK);
    assert_int_equal(classes.orbits, 3);
    int seven = 0, twelve = 0;
    for (size_t i = 0; i < all.schemes.count; i++) {
        assert_true(classes.chained[i] >= 7 && classes.unchained[i] >= 12); /* Theorem 1 and Lemma 4 */
        seven += classes.chained[i] == 7;
        twelve += classes.unchained[i] == 12;
    }
    assert_int_equal(seven, 192);
    assert_int_equal(twelve, 96);
    hpt_classification_clear(&classes);
    hpt_ternary_list_clear(&orbit);
    hpt_ternary_list_clear(&all.schemes);
}

static void test_six_products_are_not_enough(void **unused) {
    (void)unused;
    hpt_exhaust_result none;
    search_all(&none, (hpt_ternary_shape){2, 2, 2, 6, false});
    assert_int_equal(none.schemes.count, 0);
}

static void test_shapes_with_a_side_of_one(void **unused) {
    (void)unused;
    static const int shapes[][3] = {{1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {1, 3, 1},
                                    {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {1, 1, 4}};
    for (size_t i = 0; i < HPT_COUNT(shapes); i++) {
        const int *s = shapes[i];
        hpt_ternary_shape shape = {s[0], s[1], s[2], s[0] * s[1] * s[2], false};
        hpt_exhaust_result all;
        hpt_ternary_list bases = {0};
        hpt_error error = {0};
        search_all(&all, shape);
        assert_int_equal(hpt_exhaust_bases(&bases, &shape, &error), HPT_OK);
        assert_true(all.schemes.count > 0);
        assert_true(hpt_ternary_list_equal(&all.schemes, &bases));
        hpt_ternary_list_clear(&bases);
        hpt_ternary_list_clear(&all.schemes);
    }
}

static void test_shards_merge_exactly(void **unused) {
    (void)unused;
    hpt_ternary_shape shape = {2, 2, 2, 7, false}, merged;
    hpt_exhaust_result whole, part, joined;
    hpt_error error = {0};
    char names[3][64];
    const char *files[3];
    search_all(&whole, shape);
    for (int i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "/tmp/heptane-shard-%d-%d", (int)getpid(), i);
        unlink(names[i]);
        files[i] = names[i];
        hpt_exhaust_options options = {1, i + 1, 3, names[i], NULL};
        assert_int_equal(hpt_exhaust_lift(&part, &shape, &options, &error), HPT_OK);
        hpt_ternary_list_clear(&part.schemes);
        assert_int_equal(hpt_exhaust_lift(&part, &shape, &options, &error),
                         HPT_OK); /* resumed: nothing is left to do */
        assert_true(part.complete && part.done == part.tasks);
        hpt_ternary_list_clear(&part.schemes);
    }
    assert_int_equal(hpt_exhaust_merge(&joined, &merged, files, 3, &error), HPT_OK);
    assert_true(joined.complete);
    assert_int_equal(joined.modulo2, whole.modulo2);
    assert_true(hpt_ternary_list_equal(&joined.schemes, &whole.schemes));
    hpt_ternary_list_clear(&joined.schemes);
    assert_int_equal(hpt_exhaust_merge(&joined, &merged, files, 2, &error), HPT_OK);
    assert_false(joined.complete); /* a shard is missing */
    hpt_ternary_list_clear(&joined.schemes);
    files[2] = files[0];
    assert_int_equal(hpt_exhaust_merge(&joined, &merged, files, 3, &error), HPT_LIES);
    for (int i = 0; i < 3; i++) unlink(names[i]);
    hpt_ternary_list_clear(&whole.schemes);
}

static void test_interruption_and_resumption(void **unused) {
    (void)unused;
    hpt_ternary_shape shape = {2, 2, 2, 7, false};
    volatile int interrupted = 1;
    hpt_progress progress = {NULL, NULL, &interrupted};
    char name[64];
    snprintf(name, sizeof name, "/tmp/heptane-resume-%d", (int)getpid());
    unlink(name);
    hpt_exhaust_options options = {1, 1, 1, name, &progress};
    hpt_exhaust_result part;
    hpt_error error = {0};
    assert_int_equal(hpt_exhaust_lift(&part, &shape, &options, &error), HPT_INTERRUPTED);
    assert_false(part.complete);
    hpt_ternary_list_clear(&part.schemes);
    interrupted = 0;
    assert_int_equal(hpt_exhaust_lift(&part, &shape, &options, &error), HPT_OK);
    assert_true(part.complete);
    assert_int_equal(part.schemes.count, 288);
    hpt_ternary_list_clear(&part.schemes);
    shape.rank = 6; /* another search may not resume from it */
    assert_int_equal(hpt_exhaust_lift(&part, &shape, &options, &error), HPT_LIES);
    unlink(name);
}

static void test_moves_keep_the_tensor(void **unused) {
    (void)unused;
    for (int modulo2 = 0; modulo2 < 2; modulo2++) {
        hpt_flip_state s = {.shape = {2, 3, 2, 12, modulo2 == 1}, .random = 12345};
        hpt_ternary_textbook(s.products, &s.shape);
        for (int step = 0; step < 3000; step++) {
            int32_t i, j;
            if (step % 7 == 6)
                hpt_flip_sandwich(&s);
            else if (step % 40 == 39 && s.shape.rank < 16)
                hpt_flip_plus(&s);
            else if (hpt_flip_step(&s, &i, &j) && !hpt_flip_reduce(&s, i) && j < s.shape.rank)
                hpt_flip_reduce(&s, j);
            if (step % 10 == 0) assert_true(hpt_ternary_check(s.products, &s.shape));
        }
        assert_true(s.shape.rank <= 16);
    }
}

static void walk_to(int n, int m, int p, int rank, bool modulo2) {
    const hpt_ternary_shape shape = {n, m, p, n * m * p, modulo2};
    const hpt_walk_options options = {.rank = rank, .seed = 1, .walkers = 2, .threads = 2, .rounds = 200, .goal = -1};
    hpt_walk_result best, again;
    hpt_error error = {0};
    assert_int_equal(hpt_walk(&best, &shape, NULL, &options, &error), HPT_OK);
    assert_true(best.reached);
    assert_int_equal(best.shape.rank, rank);
    assert_true(hpt_ternary_check(best.products, &best.shape));
    hpt_walk_options one = options;
    one.threads = 1;
    assert_int_equal(hpt_walk(&again, &shape, NULL, &one, &error), HPT_OK);
    assert_memory_equal(best.products, again.products, (size_t)rank * sizeof *best.products);
}

static void test_walks_reach_known_ranks(void **unused) {
    (void)unused;
    for (int modulo2 = 0; modulo2 < 2; modulo2++) {
        walk_to(2, 2, 2, 7, modulo2);
        walk_to(2, 2, 3, 11, modulo2);
        walk_to(2, 3, 3, 15, modulo2);
        walk_to(3, 3, 3, 23, modulo2);
    }
}

static void test_walks_lower_writes(void **unused) {
    (void)unused;
    const hpt_ternary_shape shape = {2, 2, 2, 8, false};
    const hpt_walk_options options = {
        .objective = HPT_OBJECTIVE_WRITES, .rank = 7, .seed = 1, .walkers = 2, .rounds = 60, .goal = 7};
    hpt_walk_result best;
    hpt_error error = {0};
    assert_int_equal(hpt_walk(&best, &shape, NULL, &options, &error), HPT_OK);
    assert_true(best.reached);
    assert_int_equal(best.value, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seven_products_two_ways),     cmocka_unit_test(test_six_products_are_not_enough),
        cmocka_unit_test(test_shapes_with_a_side_of_one),   cmocka_unit_test(test_shards_merge_exactly),
        cmocka_unit_test(test_interruption_and_resumption), cmocka_unit_test(test_moves_keep_the_tensor),
        cmocka_unit_test(test_walks_reach_known_ranks),     cmocka_unit_test(test_walks_lower_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
