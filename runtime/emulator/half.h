/* half.h - 16-bit floats: f16 and bf16 to f32 and back, rounding to nearest even. */
#ifndef HPT_EMULATOR_HALF_H
#define HPT_EMULATOR_HALF_H

#include <stdint.h>
#include <string.h>

static inline float hpt_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t hpt_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exact. The multiplication moves the exponent and turns subnormals into normal numbers. */
static inline float hpt_f16_to(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t bits = hpt_bits_of(hpt_float_of(magnitude) * 0x1p112f);
    bits |= (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
    return hpt_float_of(bits | (uint32_t)(half & 0x8000) << 16);
}
static inline float hpt_bf16_to(uint16_t half) { return hpt_float_of((uint32_t)half << 16); }

uint16_t hpt_f16_from(double value); /* rounded once */
uint16_t hpt_bf16_from_f64(double value);
uint16_t hpt_f16_from_toward_zero(float value);
/* Of an f32; NaN becomes 0x7fff. */
static inline uint16_t hpt_f16_from_f32(float value) {
    uint32_t bits = hpt_bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and above round to infinity */
    if (magnitude < 0x38800000) { /* subnormal: adding 0.5 leaves multiples of 2^-24 in the low bits */
        float sum = hpt_float_of(magnitude) + 0.5f;
        return (uint16_t)(sign | (hpt_bits_of(sum) - 0x3f000000u));
    }
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}
static inline uint16_t hpt_bf16_from(float value) {
    uint32_t bits = hpt_bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
