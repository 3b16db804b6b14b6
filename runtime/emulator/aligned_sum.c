/* aligned_sum.c - four columns at a time: scaled by a power of two, what an addend keeps is the integer part. */
#include "aligned_sum.h"
#include <string.h>

typedef hpt_emu_quad quad;
typedef hpt_emu_integers integers;

enum {
    FRACTION = 25, /* bits kept below the largest addend's power of two */
    NOTHING = -1000,
    NO_NUMBER = 10000, /* infinite or not a number */
    LOWEST = -100,     /* below, the scale would leave the range of f32; so small a sum is cut off a little earlier */
    HIGHEST = 126
};

static int32_t exponent_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t field = (int32_t)(bits >> 23 & 255);
    return value == 0 ? NOTHING : field == 255 ? NO_NUMBER : field - 127;
}

void hpt_emu_exponents(int32_t *out, const float *values, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) out[k] = exponent_of(values[k]);
}

static integers larger(integers a, integers b) {
    const integers mask = a > b;
    return (a & mask) | (b & ~mask);
}

static quad power_of_two(integers exponent) {
    const integers bits = (exponent + 127) << 23;
    quad out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* Every sum is below 2^32, so exact in double; its first 24 bits stay. */
static float cut_off(double sum) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits &= ~(uint64_t)0 << 29;
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}

static quad in_order(quad acc, const float *a, const quad *b, uint32_t k_count) {
    for (uint32_t k = 0; k < k_count; k++) acc += (quad){a[k], a[k], a[k], a[k]} * b[k];
    return acc;
}

static quad add_up(quad acc, const float *a, const int32_t *a_exponents, const quad *b, const integers *b_exponents,
                   uint32_t k_count) {
    integers top, sum[2] = {{0}}; /* eight products, each below 2^27, fit 32 bits */
    for (int q = 0; q < 4; q++) top[q] = exponent_of(acc[q]);
    for (uint32_t k = 0; k < k_count; k++) top = larger(top, b_exponents[k] + a_exponents[k]);
    for (int q = 0; q < 4; q++)
        if (top[q] > HIGHEST) return in_order(acc, a, b, k_count); /* an overflow or no number, whatever the order */
    top = larger(top, (integers){LOWEST, LOWEST, LOWEST, LOWEST});
    const quad scale = power_of_two(FRACTION - top), back = power_of_two(top - FRACTION);
    for (uint32_t k = 0; k < k_count; k++)
        sum[k / 8] += __builtin_convertvector((quad){a[k], a[k], a[k], a[k]} * b[k] * scale, integers);
    const integers kept = __builtin_convertvector(acc * scale, integers);
    quad out;
    for (int q = 0; q < 4; q++) out[q] = cut_off((double)sum[0][q] + (double)sum[1][q] + (double)kept[q]);
    return out * back;
}

void hpt_emu_aligned_sum(quad acc[8], const float *a, const int32_t *a_exponents, const quad *b,
                         const integers *b_exponents, uint32_t k_count) {
    for (uint32_t g = 0; g < 8; g++)
        acc[g] = add_up(acc[g], a + g * k_count, a_exponents + g * k_count, b, b_exponents, k_count);
}
