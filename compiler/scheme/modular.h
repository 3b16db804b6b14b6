/* modular.h - a scheme's factors modulo the prime 2^31 - 1, dense: for searches whose findings are checked exactly, or
 * whose numbers are so small that equality modulo the prime is equality. Promises:
 *   - only rational schemes whose numerators and denominators are below 2^15 (hpt_modular_possible), so that products
 * of two coefficients are told apart by their residues.
 */
#ifndef HPT_MODULAR_H
#define HPT_MODULAR_H

#include "scheme/scheme.h"

#define HPT_MODULAR_PRIME 2147483647u

bool hpt_modular_possible(const hpt_scheme *scheme);
/* rank x entries residues (malloc'd), NULL without memory. */
uint32_t *hpt_modular_rows(const hpt_scheme *scheme, hpt_factor factor);

static inline uint32_t hpt_modular_mul(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b % HPT_MODULAR_PRIME);
}
static inline uint32_t hpt_modular_add(uint32_t a, uint32_t b) {
    return (uint32_t)(((uint64_t)a + b) % HPT_MODULAR_PRIME);
}
static inline uint32_t hpt_modular_sub(uint32_t a, uint32_t b) {
    return (uint32_t)(((uint64_t)a + HPT_MODULAR_PRIME - b) % HPT_MODULAR_PRIME);
}
uint32_t hpt_modular_inverse(uint32_t a); /* a != 0 */
/* Rank of a rows x columns matrix; the matrix is used up. */
int32_t hpt_modular_rank(uint32_t *matrix, int32_t rows, int32_t columns);

#endif
