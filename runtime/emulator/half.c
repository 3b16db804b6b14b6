/* half.c - the conversions to 16-bit floats that are not worth inlining. */
#include "half.h"
#include <math.h>

/* To f32 with its lost bits made sticky, so that a second rounding is right. */
static float to_odd(double value) {
    float narrow = (float)value;
    if ((double)narrow == value || !isfinite(value)) return narrow;
    uint32_t bits = hpt_bits_of(narrow);
    if (fabs((double)narrow) > fabs(value)) bits--;
    return hpt_float_of(bits | 1);
}

uint16_t hpt_f16_from(double value) { return hpt_f16_from_f32(to_odd(value)); }
uint16_t hpt_bf16_from_f64(double value) { return hpt_bf16_from(to_odd(value)); }

uint16_t hpt_f16_from_toward_zero(float value) {
    uint16_t nearest = hpt_f16_from_f32(value);
    if (!isfinite(value)) return nearest;
    float back = hpt_f16_to(nearest);
    return fabsf(back) > fabsf(value) ? (uint16_t)(nearest - 1) : nearest;
}
