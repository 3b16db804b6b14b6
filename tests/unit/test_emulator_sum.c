/* The sum of Hopper's tensor cores: examples by hand, and random addends against the rule in 64-bit integers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */
#include "emulator/aligned_sum.h"
#include <math.h>
#include <string.h>

enum { K = 16, ROWS = 8, COLUMNS = 4 };

/* row 0 and column 0 of acc + a b */
static float sum_of(float start, const float a[K], const float b[K]) {
    float rows[ROWS * K] = {0};
    hpt_emu_quad acc[ROWS] = {{start}}, columns[K] = {{0}};
    int32_t of_rows[ROWS * K];
    hpt_emu_integers of_columns[K];
    memcpy(rows, a, K * sizeof *a);
    for (int k = 0; k < K; k++) columns[k][0] = b[k];
    hpt_emu_exponents(of_rows, rows, ROWS * K);
    hpt_emu_exponents((int32_t *)of_columns, (const float *)columns, K * COLUMNS);
    hpt_emu_aligned_sum(acc, rows, of_rows, columns, of_columns, K);
    return acc[0][0];
}

static float by_the_rule(float start, const float a[K], const float b[K]) {
    int top = start == 0 ? -1000 : ilogbf(start);
    for (int k = 0; k < K; k++)
        if (a[k] != 0 && b[k] != 0 && ilogbf(a[k]) + ilogbf(b[k]) > top) top = ilogbf(a[k]) + ilogbf(b[k]);
    if (top == -1000) return start;
    int64_t sum = (int64_t)ldexp((double)start, 25 - top);
    for (int k = 0; k < K; k++) sum += (int64_t)ldexp((double)a[k] * (double)b[k], 25 - top);
    while (sum >= 1 << 24 || sum <= -(1 << 24)) sum = sum / 2, top++; /* towards zero */
    return (float)ldexp((double)sum, top - 25);
}

static void examples(void **state) {
    (void)state;
    const float one[K] = {1, 1, 1, 1};
    const float small[K] = {0x1p-24f, 0x1p-24f, 0x1p-25f, 0x1p-26f};
    /* 2^-24 + 2^-24 + 2^-25 are kept and add up to 2^-23 and something; 2^-26 is cut off, then what f32 cannot hold */
    assert_true(sum_of(1, one, small) == 1 + 0x1p-23f);
    assert_true(sum_of(-1, one, small) == -1 + 3 * 0x1p-24f); /* towards zero: 2^24 - 2.5 units are 2^24 - 3 */
    const float lost[K] = {0x1.8p-24f};
    assert_true(sum_of(1, one, lost) == 1);
    assert_true(sum_of(0, one, lost) == 0x1.8p-24f);
    const float three[K] = {1.5f, 0x1p-12f}, two[K] = {1.5f, 0x1p-13f}; /* 2.25 counts as 2^0: 2^-25 stays, then goes */
    assert_true(sum_of(0, three, two) == 2.25f);
    assert_true(sum_of(-2.25f, three, two) == 0); /* below 2^-24 of the accumulator's 2^1 */
    const float cancels[K] = {-2.25f, 1, 1, 1, 1};
    assert_true(sum_of(2.25f, cancels, one) == 3);
    const float huge[K] = {0x1p100f}, infinite[K] = {INFINITY};
    assert_true(isinf(sum_of(0, huge, huge)));
    assert_true(isinf(sum_of(1, infinite, one)));
    assert_true(isnan(sum_of(-INFINITY, infinite, one)));
    assert_true(sum_of(0, (const float[K]){0}, one) == 0);
}

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return z ^ z >> 27;
}
/* 11 bits, as f16 has, over `spread` binades; now and then zero */
static float number(uint64_t *state, int spread) {
    const uint64_t bits = draw(state);
    if (bits % 19 == 0) return 0;
    const float value = ldexpf((float)(1024 + bits % 1024), (int)(bits >> 20 & 0xffff) % spread - spread / 2 - 10);
    return bits >> 40 & 1 ? -value : value;
}

static void random_addends(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        float a[K], b[K];
        const int spread = 1 + round % 14;
        for (int k = 0; k < K; k++) a[k] = number(&seed, spread), b[k] = number(&seed, spread);
        const float start = number(&seed, 3 * spread) * (1 + 0x1p-23f * (float)(draw(&seed) % 4096));
        assert_true(sum_of(start, a, b) == by_the_rule(start, a, b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(random_addends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
