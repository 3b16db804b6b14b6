/* aligned_sum.h - how the tensor cores of Hopper add the products of 16-bit floats in f32. An instruction adds its
 * products along k (16 of them) and the accumulator in one go:
 *   - every addend is exact, then cut off (towards zero) below 2^-25 of the largest one's power of two; that of a
 * product is the sum of its factors' exponents, so its significand is below 4.
 *   - what is left is added exactly; the sum is cut off to f32.
 * Sources of the rule: "MMA-Sim" (arXiv 2511.10909) and "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004); on
 * an H200 the results of whole gemms bear it out (tests/emulated/AGREEMENT.md).
 */
#ifndef HPT_EMULATOR_ALIGNED_SUM_H
#define HPT_EMULATOR_ALIGNED_SUM_H

#include <stdint.h>

typedef float hpt_emu_quad __attribute__((vector_size(16)));
typedef int32_t hpt_emu_integers __attribute__((vector_size(16)));

/* Exponents of `count` floats, as the sum below wants them. */
void hpt_emu_exponents(int32_t *out, const float *values, uint32_t count);
/* acc[g][q] += sum over k of a[g * k_count + k] * b[k][q] for g < 8; k_count: at most 16. */
void hpt_emu_aligned_sum(hpt_emu_quad acc[8], const float *a, const int32_t *a_exponents, const hpt_emu_quad *b,
                         const hpt_emu_integers *b_exponents, uint32_t k_count);

#endif
