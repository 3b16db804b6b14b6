/* minifloat.h - floats of 4, 6 and 8 bits: e4m3, e5m2, e2m3, e3m2, e2m1, and tf32 rounding. */
#ifndef HPT_EMULATOR_MINIFLOAT_H
#define HPT_EMULATOR_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hpt_minifloat { HPT_MINI_E4M3, HPT_MINI_E5M2, HPT_MINI_E2M3, HPT_MINI_E3M2, HPT_MINI_E2M1 } hpt_minifloat;
float hpt_minifloat_to(uint8_t bits, hpt_minifloat format);
/* To nearest even; beyond the largest finite value: that value (satfinite). NaN stays NaN where the format has one. */
uint8_t hpt_minifloat_from(float value, hpt_minifloat format);

#endif
