/* Schemes in memory: exact values, building, hashing, and the verifier against a direct evaluation of the equations. */
#include "scheme/scheme.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *printed(const hpt_value *value, const hpt_ring *ring) {
    hpt_text text = {0};
    hpt_value_print(&text, value, ring->generator);
    return text.data;
}

/* Parses, prints, and compares with what is expected. */
static void assert_value(const char *ring_name, const char *text, const char *expected) {
    hpt_ring ring;
    hpt_value value;
    hpt_error error = {0};
    hpt_ring_init(&ring);
    hpt_value_init(&value);
    assert_int_equal(hpt_ring_parse(&ring, ring_name, "test", &error), HPT_OK);
    hpt_status status = hpt_value_parse(&value, &ring, text, strlen(text), NULL, "test", &error);
    if (expected) {
        assert_int_equal(status, HPT_OK);
        char *got = printed(&value, &ring);
        assert_string_equal(got, expected);
        free(got);
    } else {
        assert_int_not_equal(status, HPT_OK);
        assert_true(error.message[0] != '\0');
    }
    hpt_value_clear(&value);
    hpt_ring_clear(&ring);
}

static void test_values(void **state) {
    (void)state;
    assert_value("Q", "-6/4", "-3/2");
    assert_value("Q", "0.125", "1/8");
    assert_value("Q", "-4.5e-1", "-9/20");
    assert_value("Q(i)", "0.5-0.5j", "1/2-1/2i");
    assert_value("Q(i)", "-i", "-i");
    assert_value("Q(sqrt(3))", "1/2*sqrt(3)", "1/2*sqrt(3)");
    assert_value("Q(sqrt(3))", "sqrt(3)^2", "3");
    assert_value("Q[x]/(x^4 - 4/3)", "x^5", "4/3*x");
    assert_value("Q[x,1/x]", "-2/3*x^-2 + x", "-2/3*x^-2+x");
    assert_value("GF(2)", "3", "1");
    assert_value("GF(4)", "x^2", "1+x");
    assert_value("GF(7)", "1/2", "4");
    assert_value("GF(3)", "1+x", NULL);
    assert_value("Q", "1/0", NULL);
    assert_value("Q", "nan", NULL);
    assert_value("Q", "1e999999999", NULL);
    assert_value("Q", "1--", NULL);
    assert_value("Q", "", NULL);
    assert_value("Q", "2x", NULL);
    assert_value("Z", "1+", NULL);
}

static void test_rings(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        double root;
    } good[] = {{"Qi", "Q(i)", NAN},
                {"Q[x]/(x^2 - 3)", "Q(sqrt(3))", 1.7320508075688772},
                {"Q[x]/(x^4-4/3)", "Q[x]/(x^4 - 4/3)", 1.0745699318235418},
                {"Q[x]/(x^3 - x - 1)", "Q[x]/(x^3 - x - 1)", 1.3247179572447460},
                {"GF(9)", "GF(9)", NAN}};
    static const char *const bad[] = {"R", "GF(6)", "GF(1)", "GF(", "Q[x]/(x^2 - 4)", "Q(sqrt(4))", "Q[x]/(", ""};
    hpt_ring ring;
    hpt_ring_init(&ring);
    for (size_t i = 0; i < HPT_COUNT(good); i++) {
        assert_int_equal(hpt_ring_parse(&ring, good[i].text, "test", NULL), HPT_OK);
        assert_string_equal(ring.name, good[i].name);
        if (!isnan(good[i].root)) assert_float_equal(ring.root, good[i].root, 1e-12);
    }
    for (size_t i = 0; i < HPT_COUNT(bad); i++)
        assert_int_not_equal(hpt_ring_parse(&ring, bad[i], "test", NULL), HPT_OK);
    hpt_ring_clear(&ring);
}

/* a / a = 1 and (a / b) b = a in every ring with division. */
static void test_division(void **state) {
    (void)state;
    static const char *const cases[][3] = {{"Q", "3/4", "-5"},       {"Q(i)", "1+2i", "3-i"},
                                           {"GF(4)", "x", "1+x"},    {"Q[x]/(x^4 - 4/3)", "1+x^3", "2-x"},
                                           {"GF(7)", "3", "5"},      {"Q[x,1/x]", "1+x", "2*x^-3"},
                                           {"GF(9)", "1+x", "2+2*x"}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_ring ring;
        hpt_value a, b, c;
        hpt_ring_init(&ring);
        hpt_value_init(&a);
        hpt_value_init(&b);
        hpt_value_init(&c);
        assert_int_equal(hpt_ring_parse(&ring, cases[i][0], "test", NULL), HPT_OK);
        assert_int_equal(hpt_value_parse(&a, &ring, cases[i][1], strlen(cases[i][1]), NULL, "", NULL), HPT_OK);
        assert_int_equal(hpt_value_parse(&b, &ring, cases[i][2], strlen(cases[i][2]), NULL, "", NULL), HPT_OK);
        assert_true(hpt_value_div(&c, &b, &b, &ring));
        assert_true(hpt_value_is_one(&c));
        assert_true(hpt_value_div(&c, &a, &b, &ring));
        hpt_value_mul(&c, &c, &b, &ring);
        assert_true(hpt_value_equal(&c, &a));
        hpt_value_set_si(&b, 0);
        assert_false(hpt_value_div(&c, &a, &b, &ring));
        hpt_value_clear(&c);
        hpt_value_clear(&b);
        hpt_value_clear(&a);
        hpt_ring_clear(&ring);
    }
}

/* A copy with products in another order, each scaled: u by s, v by t, w by 1/(s t). `wrong` changes one coefficient. */
static hpt_scheme *scaled_copy(const hpt_scheme *s, int64_t big, bool wrong) {
    hpt_builder *builder;
    hpt_scheme *out;
    const hpt_ring *ring = hpt_scheme_ring_record(s);
    hpt_value factor[3], value;
    fmpq_t number;
    fmpq_init(number);
    hpt_value_init(&value);
    for (int f = 0; f < 3; f++) hpt_value_init(&factor[f]);
    assert_int_equal(hpt_builder_create(&builder, hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s), hpt_scheme_rank(s),
                                        "test", NULL),
                     HPT_OK);
    hpt_builder_set_ring(builder, ring, false);
    for (int32_t r = 0; r < hpt_scheme_rank(s); r++) {
        hpt_value_set_si(&factor[0], big + r);
        hpt_value_set_si(&factor[1], -3);
        hpt_value_set_si(&value, -3 * (big + r));
        hpt_value_set_si(&factor[2], 1);
        assert_true(hpt_value_div(&factor[2], &factor[2], &value, ring));
        for (int f = 0; f < 3; f++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count; k++) {
                hpt_value_mul(&value, hpt_scheme_value(s, row.value[k]), &factor[f], ring);
                if (wrong && r == 3 && f == 2 && k == 0) hpt_value_neg(&value, &value, ring);
                assert_int_equal(hpt_builder_term(builder, (hpt_factor)f, hpt_scheme_rank(s) - 1 - r, row.index[k],
                                                  hpt_builder_value(builder, &value), "test", NULL),
                                 HPT_OK);
            }
        }
    }
    assert_int_equal(hpt_builder_finish(&out, builder, "test", NULL), HPT_OK);
    hpt_builder_destroy(builder);
    for (int f = 0; f < 3; f++) hpt_value_clear(&factor[f]);
    hpt_value_clear(&value);
    fmpq_clear(number);
    return out;
}

static hpt_scheme *catalogue(const char *name) {
    hpt_scheme *s;
    hpt_error error = {0};
    if (hpt_scheme_read(&s, name, NULL, &error) != HPT_OK) fail_msg("%s: %s: %s", name, error.where, error.message);
    return s;
}

static void test_hash(void **state) {
    (void)state;
    hpt_scheme *s = catalogue("strassen"), *t = scaled_copy(s, 2, false), *w = catalogue("winograd");
    assert_int_equal(strlen(hpt_scheme_hash(s)), 64);
    assert_string_equal(hpt_scheme_hash(s), hpt_scheme_hash(t));
    assert_string_not_equal(hpt_scheme_hash(s), hpt_scheme_hash(w));
    assert_string_equal(hpt_scheme_ring(s), "Z");
    assert_string_equal(hpt_scheme_ring(t), "Q");
    hpt_scheme_destroy(w);
    hpt_scheme_destroy(t);
    hpt_scheme_destroy(s);
}

/* Small, and so large that the sums need several primes. */
static void test_verify(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 1000, 2000000000000000000};
    hpt_scheme *s = catalogue("strassen");
    for (size_t i = 0; i < HPT_COUNT(sizes); i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            hpt_scheme *t = scaled_copy(s, sizes[i], wrong);
            hpt_verification v;
            assert_int_equal(hpt_scheme_verify(&v, t, NULL), HPT_OK);
            assert_int_equal(v.verdict, wrong ? HPT_VERDICT_REFUTED : HPT_VERDICT_PROVED);
            assert_int_equal(v.equations, 64);
            if (wrong) { /* M4 = a22 (b21 - b11): its share of z11 has the wrong sign */
                assert_int_equal(v.failing, 2);
                assert_int_equal(v.a[0] * 10 + v.a[1], 22);
                assert_int_equal(v.b[0] * 10 + v.b[1], 11);
                assert_int_equal(v.c[0] * 10 + v.c[1], 11);
                assert_string_equal(v.expected, "0");
                assert_string_equal(v.got, "2");
            }
            hpt_scheme_destroy(t);
        }
    hpt_scheme_destroy(s);
}

static void test_builder_refuses(void **state) {
    (void)state;
    hpt_builder *b;
    hpt_scheme *s = NULL;
    hpt_error error = {0};
    assert_int_equal(hpt_builder_create(&b, 1000000000, 2, 2, 7, "f", &error), HPT_TOO_LARGE);
    assert_int_equal(hpt_builder_create(&b, 0, 2, 2, 7, "f", &error), HPT_MALFORMED);
    assert_int_equal(hpt_builder_create(&b, 1, 1, 1, 1, "f", &error), HPT_OK);
    assert_int_equal(hpt_builder_term(b, HPT_U, 1, 0, 0, "f", &error), HPT_LIES);
    assert_int_equal(hpt_builder_term(b, HPT_U, 0, 1, 0, "f", &error), HPT_LIES);
    assert_int_equal(hpt_builder_term(b, HPT_U, 0, 0, 0, "f", &error), HPT_OK);
    assert_int_equal(hpt_builder_term(b, HPT_V, 0, 0, 0, "f", &error), HPT_OK);
    assert_int_equal(hpt_builder_finish(&s, b, "f", &error), HPT_MALFORMED); /* factor w is zero */
    assert_null(s);
    hpt_builder_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),   cmocka_unit_test(test_rings),
                                       cmocka_unit_test(test_division), cmocka_unit_test(test_hash),
                                       cmocka_unit_test(test_verify),   cmocka_unit_test(test_builder_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
