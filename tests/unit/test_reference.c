/* The command line's data and reference: number formats against the compiler's own, moments of the generator, and the
 * blocked parallel product against three plain loops. */
#include "cli/random.c"
#include "cli/reference.c"

#include <setjmp.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static void test_f16(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float value = hpt_f16_to_float((uint16_t)bits);
        _Float16 half;
        uint16_t pattern = (uint16_t)bits;
        memcpy(&half, &pattern, 2);
        if (isnan(value)) {
            assert_true(isnan((float)half));
            continue;
        }
        assert_true(value == (float)half);
        assert_int_equal(hpt_f16_from_float(value), bits);
    }
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = ((uint32_t)rand() << 16) ^ (uint32_t)rand();
        bits = (bits & 0x807fffff) | ((uint32_t)(96 + rand() % 50) << 23); /* around the range of f16 */
        float value = float_of(bits);
        _Float16 half = (_Float16)value;
        uint16_t want;
        memcpy(&want, &half, 2);
        if (hpt_f16_from_float(value) != want) fail_msg("%a", (double)value);
    }
    assert_int_equal(hpt_f16_from_float(65519.996f), 0x7bff);
    assert_int_equal(hpt_f16_from_float(65520.0f), 0x7c00);
    assert_true(isnan(hpt_f16_to_float(hpt_f16_from_float(NAN))));
    assert_true(isnan(hpt_bf16_to_float(hpt_bf16_from_float(NAN))));
    assert_int_equal(hpt_bf16_from_float(float_of(0x3f808000)), 0x3f80); /* ties to even */
    assert_int_equal(hpt_bf16_from_float(float_of(0x3f818000)), 0x3f82);
}

static void test_normal(void **state) {
    (void)state;
    enum { COUNT = 400001 };
    float *values = malloc(COUNT * sizeof *values);
    hpt_random_fill(values, HPT_NUMBER_F32, HPT_NUMBER_F32, COUNT, 7, 1);
    double sum = 0, square = 0, fourth = 0, neighbour = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double v = (double)values[i];
        sum += v;
        square += v * v;
        fourth += v * v * v * v;
        if (i) neighbour += v * (double)values[i - 1];
    }
    assert_true(fabs(sum / COUNT) < 0.01);
    assert_true(fabs(square / COUNT - 1) < 0.02);
    assert_true(fabs(fourth / COUNT - 3) < 0.1);
    assert_true(fabs(neighbour / COUNT) < 0.01);
    for (size_t i = 0; i < COUNT; i += 997) assert_true(values[i] == hpt_random_normal(7, 1, i)); /* any one, again */
    assert_true(hpt_random_normal(7, 2, 0) != values[0] && hpt_random_normal(8, 1, 0) != values[0]);
    free(values);
}

static void compare_with_loops(hpt_data d) {
    assert_int_equal(hpt_data_make(&d, NULL), HPT_OK);
    const hpt_shape *s = &d.shape;
    for (size_t r = 0; r < d.reference.row_count; r++) {
        int64_t row = d.reference.row[r], b = row / s->m, i = row % s->m;
        if (r) assert_true(row > d.reference.row[r - 1]);
        for (int64_t j = 0; j < s->n; j++) {
            double want = 0;
            for (int64_t k = 0; k < s->k; k++) {
                int64_t at_x = d.trans_x ? b * s->k * s->ldx + k * s->ldx + i : b * s->m * s->ldx + i * s->ldx + k;
                int64_t at_y = d.trans_y ? b * s->n * s->ldy + j * s->ldy + k : b * s->k * s->ldy + k * s->ldy + j;
                want += (double)hpt_typed_get(d.x, d.type_x, (size_t)at_x) *
                        (double)hpt_typed_get(d.y, d.type_y, (size_t)at_y);
            }
            want *= d.alpha;
            if (d.beta != 0)
                want += d.beta * (double)hpt_typed_get(d.c, d.type_c, (size_t)((b * s->m + i) * s->ldc + j));
            if (d.with_bias) want += (double)hpt_typed_get(d.bias, d.type_c, (size_t)j);
            if (d.with_residual) want += (double)hpt_typed_get(d.residual, d.type_c, (size_t)(row * s->n + j));
            assert_true(fabs(want - d.reference.value[r * (size_t)s->n + (size_t)j]) < 1e-9);
        }
    }
    hpt_data_clear(&d);
}

static void test_product(void **state) {
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        hpt_data d = {.shape = {37, 53, 600, 3, 0, 0, 0},
                      .trans_x = layout & 1,
                      .trans_y = layout & 2,
                      .alpha = 0.5,
                      .beta = -2,
                      .seed = 3};
        compare_with_loops(d);
        d.shape.ldx = 611, d.shape.ldy = 619, d.shape.ldc = 71;
        d.type_y = HPT_NUMBER_BF16;
        compare_with_loops(d);
    }
    hpt_data more = {.shape = {20, 9, 33, 2, 0, 0, 0}, .alpha = 1, .seed = 3, .with_bias = true, .with_residual = true};
    compare_with_loops(more);
    hpt_data one = {.shape = {1, 1, 1, 1, 0, 0, 0}, .alpha = 1, .seed = 3};
    compare_with_loops(one);
}

static void test_sampling(void **state) {
    (void)state;
    hpt_data d = {.shape = {70000, 300, 1000, 1, 0, 0, 0}, .trans_y = true, .alpha = 1, .seed = 3};
    assert_int_equal(hpt_data_make(&d, NULL), HPT_OK);
    assert_false(d.reference.whole);
    assert_int_equal(d.reference.row_count, HPT_SAMPLED_ROWS);
    assert_int_equal(d.reference.row[0], 0);
    assert_int_equal(d.reference.row[HPT_SAMPLED_ROWS - 1], 69999);
    for (size_t r = 1; r < HPT_SAMPLED_ROWS; r++) assert_true(d.reference.row[r] > d.reference.row[r - 1]);
    hpt_data_clear(&d);
    d.shape = (hpt_shape){40, 8, 16, 1, 0, 0, 0};
    d.reference = (hpt_reference){0};
    assert_int_equal(hpt_data_make(&d, NULL), HPT_OK);
    uint16_t c[320];
    hpt_check check;
    for (size_t i = 0; i < 320; i++) c[i] = hpt_f16_from_float((float)d.reference.value[i]);
    hpt_data_compare(&check, &d, c);
    assert_true(check.whole && check.bad == 0 && check.rel_error < 4e-4 && check.rel_error > 1e-5);
    c[100] = 0xffff; /* never written */
    hpt_data_compare(&check, &d, c);
    assert_int_equal(check.bad, 1);
    c[100] = 0;
    hpt_data_compare(&check, &d, c);
    assert_true(check.bad == 0 && check.rel_error > 1e-3);
    hpt_data_clear(&d);
    d.shape = (hpt_shape){(int64_t)1 << 40, (int64_t)1 << 40, 1, 1, 0, 0, 0};
    assert_int_equal(hpt_data_make(&d, NULL), HPT_TOO_LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f16), cmocka_unit_test(test_normal),
                                       cmocka_unit_test(test_product), cmocka_unit_test(test_sampling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
