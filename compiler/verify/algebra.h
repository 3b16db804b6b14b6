/* algebra.h - a scheme's coefficients as integer vectors and matrices. Promises:
 *   - over a ring with d components every value becomes an integer vector (U) or the integer matrix of multiplication
 * by it (V, W), scaled by one common denominator per factor, so that the Brent equations become sums of integers.
 *   - the largest integer that any of these sums can reach is bounded exactly; if it stays below 2^62 the sums are
 * taken in int64_t, else modulo enough primes below 2^31 that their product exceeds twice the bound.
 *   - Laurent polynomials are shifted to polynomials in x of bounded degree; `unit` says which component stands for
 * x^0.
 */
#ifndef HPT_ALGEBRA_H
#define HPT_ALGEBRA_H

#include "scheme/scheme.h"

enum { HPT_ALGEBRA_DIMENSION = 512 };

typedef struct hpt_algebra {
    slong dimension, unit;
    fmpz *exact[3];    /* U: count x d; V, W: count x d x d (row k, column j: component k of value * t^j) */
    size_t length[3];  /* of exact and table */
    int64_t *table[3]; /* the same, for one modulus */
    fmpz_t scale[3];   /* common denominators */
    fmpz_t bound;      /* of every component of every sum, and of what it is compared with */
    int64_t modulus;   /* of `table`; 0 means exact */
    int64_t expected;  /* what a 1 of the tensor becomes in `table` arithmetic */
} hpt_algebra;

hpt_status hpt_algebra_create(hpt_algebra **out, const hpt_scheme *scheme, hpt_error *error);
void hpt_algebra_destroy(hpt_algebra *algebra);
bool hpt_algebra_fits(const hpt_algebra *algebra); /* the bound is below 2^62 */
/* Fills `table` for a modulus (0: exact, only if it fits). */
void hpt_algebra_select(hpt_algebra *algebra, int64_t modulus);

#endif
