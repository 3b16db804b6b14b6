/* Operations keep schemes correct; orbits come with witnesses; additions, growth and stored forms have the known
 * values; and the verifier agrees with a direct evaluation of the equations on random schemes over every kind of ring.
 */
#include "passes/additions/additions.h"
#include "scheme/generating.h"
#include "scheme/lift.h"
#include "scheme/operations.h"
#include "scheme/orbit.h"
#include "verify/growth.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static hpt_scheme *get(const char *name) {
    hpt_scheme *s;
    hpt_error error = {0};
    if (hpt_scheme_read(&s, name, NULL, &error) != HPT_OK) fail_msg("%s: %s: %s", name, error.where, error.message);
    return s;
}

static void assert_scheme(hpt_scheme *s, int32_t n, int32_t m, int32_t p, int32_t rank) {
    hpt_verification v;
    assert_non_null(s);
    assert_int_equal(hpt_scheme_n(s), n);
    assert_int_equal(hpt_scheme_m(s), m);
    assert_int_equal(hpt_scheme_p(s), p);
    assert_int_equal(hpt_scheme_rank(s), rank);
    assert_int_equal(hpt_scheme_verify(&v, s, NULL), HPT_OK);
    assert_int_equal(v.verdict, HPT_VERDICT_PROVED);
}

static void test_roles(void **state) {
    (void)state;
    hpt_scheme *s = get("2x3x4:20"), *t, *u, *w;
    assert_int_equal(hpt_scheme_cyclic(&t, s, NULL), HPT_OK);
    assert_scheme(t, 3, 4, 2, 20);
    assert_int_equal(hpt_scheme_cyclic(&u, t, NULL), HPT_OK);
    assert_int_equal(hpt_scheme_cyclic(&w, u, NULL), HPT_OK); /* three turns are none */
    assert_string_equal(hpt_scheme_hash(w), hpt_scheme_hash(s));
    hpt_scheme_destroy(t);
    hpt_scheme_destroy(u);
    hpt_scheme_destroy(w);
    assert_int_equal(hpt_scheme_transpose(&t, s, NULL), HPT_OK);
    assert_scheme(t, 4, 3, 2, 20);
    assert_int_equal(hpt_scheme_transpose(&u, t, NULL), HPT_OK);
    assert_string_equal(hpt_scheme_hash(u), hpt_scheme_hash(s));
    hpt_scheme_destroy(t);
    hpt_scheme_destroy(u);
    hpt_scheme_destroy(s);
}

static void test_products_and_sums(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int32_t n, m, p, rank;
    } tensor[] = {{"strassen", "strassen", 4, 4, 4, 49},          {"2x2x3:11", "3x2x2:11", 6, 4, 6, 121},
                  {"4x4x4:48-complex", "strassen", 8, 8, 8, 336}, {"strassen", "2x2x2:7-accurate", 4, 4, 4, 49},
                  {"trivial", "laderman", 3, 3, 3, 23},           {"4x4x4:47-gf2", "2x3x2:11-gf2", 8, 12, 8, 517}};
    for (size_t i = 0; i < HPT_COUNT(tensor); i++) {
        hpt_scheme *a = get(tensor[i].a), *b = get(tensor[i].b), *t;
        assert_int_equal(hpt_scheme_tensor(&t, a, b, NULL), HPT_OK);
        assert_scheme(t, tensor[i].n, tensor[i].m, tensor[i].p, tensor[i].rank);
        hpt_scheme_destroy(a);
        hpt_scheme_destroy(b);
        hpt_scheme_destroy(t);
    }
    hpt_scheme *a = get("strassen"), *b = get("2x2x3:11"), *t, *u;
    assert_int_equal(hpt_scheme_sum(&t, a, b, 'p', NULL), HPT_OK);
    assert_scheme(t, 2, 2, 5, 18);
    assert_int_equal(hpt_scheme_sum(&u, a, b, 'n', NULL), HPT_USAGE);
    assert_null(u);
    assert_int_equal(hpt_scheme_project(&u, t, 2, 2, 2, NULL), HPT_OK); /* what the sum put aside */
    assert_string_equal(hpt_scheme_hash(u), hpt_scheme_hash(a));
    hpt_scheme_destroy(u);
    assert_int_equal(hpt_scheme_extend(&u, a, 3, 4, 5, NULL), HPT_OK);
    assert_scheme(u, 3, 4, 5, 60 - 8 + 7);
    hpt_scheme_destroy(u);
    hpt_scheme_destroy(t);
    hpt_scheme_destroy(b);
    b = get("4x4x4:47-gf2");
    assert_int_equal(hpt_scheme_tensor(&t, a, b, NULL), HPT_UNSUPPORTED); /* no common ring */
    hpt_scheme_destroy(b);
    hpt_scheme_destroy(a);
}

/* Entries -2 .. 2 until the matrix has an inverse. */
static void random_matrix(hpt_matrix *out, int32_t size, const hpt_ring *ring, unsigned *seed) {
    hpt_matrix inverse = {0};
    assert_int_equal(hpt_matrix_init(out, size, NULL), HPT_OK);
    bool regular;
    do {
        for (int32_t i = 0; i < size * size; i++) hpt_value_set_si(&out->cells[i], rand_r(seed) % 5 - 2);
        regular = hpt_matrix_invert(&inverse, out, ring);
        hpt_matrix_clear(&inverse);
    } while (!regular);
}

/* A random member of the orbit compares as equivalent; its witness is checked by the comparison itself. */
static void test_orbits(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    static const char *const names[] = {"strassen", "winograd", "laderman", "2x2x3:11", "textbook", "2x3x3:15"};
    for (size_t i = 0; i < HPT_COUNT(names); i++) {
        hpt_scheme *s = get(names[i]), *turned, *t;
        hpt_matrix m[3];
        hpt_orbit o;
        assert_int_equal(hpt_scheme_cyclic(&turned, s, NULL), HPT_OK);
        random_matrix(&m[0], hpt_scheme_n(turned), hpt_scheme_ring_record(s), &seed);
        random_matrix(&m[1], hpt_scheme_m(turned), hpt_scheme_ring_record(s), &seed);
        random_matrix(&m[2], hpt_scheme_p(turned), hpt_scheme_ring_record(s), &seed);
        assert_int_equal(hpt_scheme_sandwich(&t, turned, &m[0], &m[1], &m[2], NULL), HPT_OK);
        assert_scheme(t, hpt_scheme_n(turned), hpt_scheme_m(turned), hpt_scheme_p(turned), hpt_scheme_rank(s));
        assert_int_equal(hpt_orbit_compare(&o, s, t, NULL), HPT_OK);
        assert_int_equal(o.equivalent, HPT_YES);
        hpt_orbit_clear(&o);
        for (int k = 0; k < 3; k++) hpt_matrix_clear(&m[k]);
        hpt_scheme_destroy(turned);
        hpt_scheme_destroy(t);
        hpt_scheme_destroy(s);
    }
}

static void test_different_orbits(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        hpt_answer same, equivalent;
    } cases[] = {{"strassen", "winograd", HPT_NO, HPT_YES},    {"strassen", "strassen", HPT_YES, HPT_YES},
                 {"laderman", "3x3x3:23", HPT_NO, HPT_NO},     {"strassen", "textbook", HPT_NO, HPT_NO},
                 {"strassen", "laderman", HPT_NO, HPT_NO},     {"laderman", "3x3x3:23-catalogue", HPT_NO, HPT_YES},
                 {"strassen", "seven-write", HPT_NO, HPT_YES}, {"4x4x4:49", "4x4x4:49-flips", HPT_NO, HPT_UNKNOWN}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *a = get(cases[i].a), *b = get(cases[i].b);
        hpt_orbit o;
        assert_int_equal(hpt_orbit_compare(&o, a, b, NULL), HPT_OK);
        assert_int_equal(o.same, cases[i].same);
        assert_int_equal(o.equivalent, cases[i].equivalent);
        if (o.equivalent != HPT_YES) assert_true(o.reason[0]);
        hpt_orbit_clear(&o);
        hpt_scheme_destroy(a);
        hpt_scheme_destroy(b);
    }
}

/* Known groups: S3 x S3 for Strassen's scheme, S4 for Laderman's (V. P. Burichenko, 2014 and 2015). */
static void test_symmetries(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t order;
    } cases[] = {{"strassen", 36}, {"winograd", 36}, {"laderman", 24}, {"textbook", 0}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *s = get(cases[i].name);
        int64_t order;
        assert_int_equal(hpt_orbit_symmetries(&order, s, NULL), HPT_OK);
        assert_int_equal(order, cases[i].order);
        hpt_scheme_destroy(s);
    }
}

static void test_lift(void **state) {
    (void)state;
    static const struct {
        const char *name;
        hpt_status status;
    } cases[] = {{"2x3x2:11-gf2", HPT_OK}, {"strassen", HPT_OK}, {"4x4x4:47-gf2", HPT_NOT_FOUND}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *s = get(cases[i].name), *lifted, *modulo, *back;
        assert_int_equal(hpt_scheme_lift(&lifted, s, NULL), cases[i].status);
        if (cases[i].status == HPT_OK) {
            assert_scheme(lifted, hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s), hpt_scheme_rank(s));
            assert_int_equal(hpt_scheme_over(&back, lifted, "GF(2)", NULL), HPT_OK);
            assert_int_equal(hpt_scheme_over(&modulo, s, "GF(2)", NULL), HPT_OK);
            assert_string_equal(hpt_scheme_hash(back), hpt_scheme_hash(modulo));
            hpt_scheme_destroy(back);
            hpt_scheme_destroy(modulo);
        }
        hpt_scheme_destroy(lifted);
        hpt_scheme_destroy(s);
    }
}

static void test_reports(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t naive, reduced;
        double growth, frobenius;
        int32_t stored;
    } cases[] = {{"strassen", 18, 18, 12, 14.8284, 4},
                 {"winograd", 24, 15, 18, 17.8530, 4},
                 {"textbook", 4, 4, 2, 8, 4},
                 {"3x3x3:23", 120, 58, -1, -1, -1},
                 {"3x3x3:23-additions60", 97, 60, -1, -1, -1},
                 {"5x5x5:93-alphaevolve", 846, 379, -1, -1, -1}, /* greedy runs alone: 386 */
                 {"laderman", 98, 62, 35, -1, 13},
                 {"2x2x2:7-accurate", 45, 45, -1, 12.0660, 0}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *s = get(cases[i].name);
        hpt_additions a;
        hpt_generating g;
        assert_int_equal(hpt_additions_count(&a, s, 0, NULL, NULL), HPT_OK);
        assert_int_equal(a.naive[0] + a.naive[1] + a.naive[2], cases[i].naive);
        assert_int_equal(a.reduced[0] + a.reduced[1] + a.reduced[2], cases[i].reduced);
        if (cases[i].growth >= 0) assert_float_equal(hpt_scheme_growth(s), cases[i].growth, 1e-9);
        if (cases[i].frobenius >= 0) assert_float_equal(hpt_scheme_growth_frobenius(s), cases[i].frobenius, 1e-4);
        assert_int_equal(hpt_scheme_generating(&g, s, HPT_V, NULL), HPT_OK);
        if (cases[i].stored >= 0) assert_int_equal(g.count, cases[i].stored);
        free(g.products);
        hpt_scheme_destroy(s);
    }
}

/* ---- the verifier against a direct evaluation ---- */

static const char *const rings[] = {"Z",     "Q",     "Q(i)",  "Q(sqrt(2))",    "Q[x]/(x^3 - x - 1)",
                                    "GF(2)", "GF(5)", "GF(4)", "GF(2147483647)"};

static void random_value(hpt_value *out, const hpt_ring *ring, unsigned *seed) {
    fmpq_t number;
    hpt_value part;
    fmpq_init(number);
    hpt_value_init(&part);
    hpt_value_set_si(out, 0);
    for (slong k = 0; k < hpt_ring_degree(ring); k++) {
        bool whole = ring->integral || ring->characteristic;
        fmpq_set_si(number, rand_r(seed) % 7 - 3, whole ? 1 : (ulong)(rand_r(seed) % 3 + 1));
        hpt_value_set_generator(&part, number, k);
        hpt_value_reduce(&part, ring);
        hpt_value_add(out, out, &part, ring);
    }
    hpt_value_clear(&part);
    fmpq_clear(number);
}

static const hpt_value *entry(const hpt_scheme *s, hpt_factor f, int32_t r, int32_t e) {
    hpt_terms row = hpt_scheme_terms(s, f, r);
    for (size_t k = 0; k < row.count; k++)
        if (row.index[k] == e) return hpt_scheme_value(s, row.value[k]);
    return NULL;
}

static int64_t count_failing(const hpt_scheme *s) {
    const hpt_ring *ring = hpt_scheme_ring_record(s);
    int64_t failing = 0;
    hpt_value sum, product;
    hpt_value_init(&sum);
    hpt_value_init(&product);
    for (int32_t a = 0; a < hpt_scheme_entries(s, HPT_U); a++)
        for (int32_t b = 0; b < hpt_scheme_entries(s, HPT_V); b++)
            for (int32_t c = 0; c < hpt_scheme_entries(s, HPT_W); c++) {
                bool one = a % hpt_scheme_m(s) == b / hpt_scheme_p(s) && a / hpt_scheme_m(s) == c / hpt_scheme_p(s) &&
                           b % hpt_scheme_p(s) == c % hpt_scheme_p(s);
                hpt_value_set_si(&sum, one ? -1 : 0);
                hpt_value_reduce(&sum, ring);
                for (int32_t r = 0; r < hpt_scheme_rank(s); r++) {
                    const hpt_value *u = entry(s, HPT_U, r, a), *v = entry(s, HPT_V, r, b), *w = entry(s, HPT_W, r, c);
                    if (!u || !v || !w) continue;
                    hpt_value_mul(&product, u, v, ring);
                    hpt_value_mul(&product, &product, w, ring);
                    hpt_value_add(&sum, &sum, &product, ring);
                }
                if (!hpt_value_is_zero(&sum)) failing++;
            }
    hpt_value_clear(&product);
    hpt_value_clear(&sum);
    return failing;
}

static void test_two_verifiers(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    for (int round = 0; round < 90; round++) {
        hpt_ring ring;
        hpt_value value;
        hpt_builder *b;
        hpt_scheme *s;
        hpt_verification v;
        const int32_t n = 1 + rand_r(&seed) % 3, m = 1 + rand_r(&seed) % 3, p = 1 + rand_r(&seed) % 3;
        const int32_t rank = 1 + rand_r(&seed) % 6, entries[3] = {n * m, m * p, n * p};
        hpt_ring_init(&ring);
        hpt_value_init(&value);
        assert_int_equal(hpt_ring_parse(&ring, rings[(size_t)round % HPT_COUNT(rings)], "", NULL), HPT_OK);
        assert_int_equal(hpt_builder_create(&b, n, m, p, rank, "random", NULL), HPT_OK);
        hpt_builder_set_ring(b, &ring, true);
        hpt_builder_allow_zero_rows(b);
        for (int f = 0; f < 3; f++)
            for (int32_t r = 0; r < rank; r++)
                for (int32_t e = 0; e < entries[f]; e++) {
                    if (rand_r(&seed) % 2) continue;
                    random_value(&value, &ring, &seed);
                    assert_int_equal(hpt_builder_term(b, (hpt_factor)f, r, e, hpt_builder_value(b, &value), "", NULL),
                                     HPT_OK);
                }
        assert_int_equal(hpt_builder_finish(&s, b, "random", NULL), HPT_OK);
        assert_int_equal(hpt_scheme_verify(&v, s, NULL), HPT_OK);
        assert_int_equal(v.failing, count_failing(s));
        hpt_scheme_destroy(s);
        hpt_builder_destroy(b);
        hpt_value_clear(&value);
        hpt_ring_clear(&ring);
    }
}

static void count_lines(void *user, const char *line) { *(int *)user += line[0] != '\0'; }

static void test_interruption(void **state) {
    (void)state;
    volatile int interrupted = 1;
    int lines = 0;
    const hpt_progress progress = {count_lines, &lines, &interrupted};
    const hpt_read_options reading = {.progress = &progress};
    hpt_scheme *s = NULL, *pair = NULL;
    hpt_verification v;
    hpt_error error = {0};
    assert_int_equal(hpt_scheme_read(&s, "strassen", &reading, &error), HPT_INTERRUPTED);
    assert_null(s);
    assert_non_null(strstr(error.message, "nothing is proved"));
    assert_int_equal(hpt_scheme_read(&s, "strassen", NULL, &error), HPT_OK);
    assert_int_equal(hpt_scheme_tensor(&pair, s, s, &error), HPT_OK); /* not verified yet */
    assert_int_equal(hpt_scheme_verify_watched(&v, pair, &progress, &error), HPT_INTERRUPTED);
    assert_non_null(strstr(error.message, "nothing is proved"));
    hpt_additions additions;
    assert_int_equal(hpt_additions_count(&additions, s, 0, &progress, &error), HPT_INTERRUPTED);
    interrupted = 0;
    assert_int_equal(hpt_scheme_verify_watched(&v, pair, &progress, &error), HPT_OK);
    assert_int_equal(v.verdict, HPT_VERDICT_PROVED);
    assert_int_equal(lines, 0); /* too short for one */
    hpt_scheme_destroy(pair);
    hpt_scheme_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_roles),       cmocka_unit_test(test_products_and_sums),
                                       cmocka_unit_test(test_orbits),      cmocka_unit_test(test_different_orbits),
                                       cmocka_unit_test(test_symmetries),  cmocka_unit_test(test_lift),
                                       cmocka_unit_test(test_reports),     cmocka_unit_test(test_two_verifiers),
                                       cmocka_unit_test(test_interruption)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
