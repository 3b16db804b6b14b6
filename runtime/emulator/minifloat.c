#include "minifloat.h"
#include <math.h>

static const struct {
    int exponent_bits, mantissa_bits, bias;
    uint8_t largest, nan; /* nan 0: the format has none */
} formats[] = {
    {4, 3, 7, 0x7e, 0x7f}, {5, 2, 15, 0x7b, 0x7f}, {2, 3, 1, 0x1f, 0}, {3, 2, 3, 0x1f, 0}, {2, 1, 1, 0x07, 0}};

float hpt_minifloat_to(uint8_t bits, hpt_minifloat format) {
    int m = formats[format].mantissa_bits, e = formats[format].exponent_bits;
    int mantissa = bits & ((1 << m) - 1), exponent = bits >> m & ((1 << e) - 1);
    bool negative = bits >> (m + e) & 1;
    float value;
    if (format == HPT_MINI_E5M2 && exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else if (format == HPT_MINI_E4M3 && (bits & 0x7f) == 0x7f)
        value = NAN;
    else if (exponent == 0)
        value = ldexpf((float)mantissa, 1 - formats[format].bias - m);
    else
        value = ldexpf((float)(mantissa + (1 << m)), exponent - formats[format].bias - m);
    return negative ? -value : value;
}

uint8_t hpt_minifloat_from(float value, hpt_minifloat format) {
    int m = formats[format].mantissa_bits, e = formats[format].exponent_bits;
    uint8_t sign = (uint8_t)(signbit(value) ? 1 << (m + e) : 0);
    float size = fabsf(value);
    if (isnan(value)) return formats[format].nan ? formats[format].nan : formats[format].largest;
    if (size >= hpt_minifloat_to(formats[format].largest, format)) return (uint8_t)(sign | formats[format].largest);
    int exponent = 0;
    if (size > 0) frexpf(size, &exponent);
    int lowest = 1 - formats[format].bias;
    int at = exponent - 1 < lowest ? lowest : exponent - 1;
    float steps = rintf(ldexpf(size, m - at)); /* may carry into the next exponent, which is right */
    int code = (int)steps + ((at - lowest) << m);
    return (uint8_t)(sign | (uint8_t)code);
}
