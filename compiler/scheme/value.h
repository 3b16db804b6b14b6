/* value.h - exact coefficients. Promises:
 *   - one representation for every ring: a polynomial with rational coefficients in the ring's generator t, times
 * t^shift. Rationals are constants; number fields are reduced modulo their monic minimal polynomial; finite fields hold
 * integers 0..p-1, reduced modulo a monic polynomial for p^k; only Laurent polynomials in x use the shift.
 *   - values are always reduced, so equality is equality of representations.
 *   - nothing here rounds, except hpt_value_double.
 * Values are init/clear; rings are plain records that own one polynomial, also init/clear. Outputs may alias inputs.
 */
#ifndef HPT_VALUE_H
#define HPT_VALUE_H

#include "core.h"
#include <gmp.h> /* before FLINT, whose conversions from and to GMP need it */

#include <flint/flint.h>
#include <flint/fmpq.h>
#include <flint/fmpq_poly.h>
#include <flint/fmpz.h>

typedef enum hpt_ring_kind {
    HPT_RING_RATIONAL, /* Z or Q */
    HPT_RING_FIELD,    /* Q[t]/(modulus), irreducible */
    HPT_RING_FINITE,   /* GF(p) or GF(p^k) */
    HPT_RING_LAURENT   /* Q[x,1/x] */
} hpt_ring_kind;

enum {
    HPT_RING_NAME = 160,
    HPT_RING_GENERATOR = 32,
    HPT_RING_DEGREE = 16,        /* highest degree of a modulus */
    HPT_VALUE_DIGITS = 4096,     /* longest number, in digits, and largest decimal exponent */
    HPT_LAURENT_EXPONENT = 1000, /* largest power of x in a file */
    HPT_CHARACTERISTIC = 2147483647
};

typedef struct hpt_ring {
    hpt_ring_kind kind;
    bool integral;                      /* RATIONAL only: the name is Z */
    int64_t characteristic;             /* prime p of a finite field, else 0 */
    char name[HPT_RING_NAME];           /* "Q(sqrt(3))" */
    char generator[HPT_RING_GENERATOR]; /* how t is printed: "i", "sqrt(3)", "rho", "x" */
    fmpq_poly_t modulus;                /* monic; zero where there is none */
    bool real;                          /* the root that t stands for is real */
    double root;                        /* that root (the largest real one), NaN if none is real */
} hpt_ring;

void hpt_ring_init(hpt_ring *ring); /* Q */
void hpt_ring_clear(hpt_ring *ring);
void hpt_ring_set(hpt_ring *out, const hpt_ring *ring);
/* "Z", "Q", "Qi", "Q(i)", "Q(sqrt(d))", "GF(q)", "Q[x]/(x^4 - 4/3)", "Q[x,1/x]"; the ring must be initialised. */
hpt_status hpt_ring_parse(hpt_ring *ring, const char *text, const char *where, hpt_error *error);
/* Q[t]/(modulus) with the generator's printed name; refuses reducible polynomials. */
hpt_status hpt_ring_set_field(hpt_ring *ring, const fmpq_poly_t modulus, const char *generator, const char *where,
                              hpt_error *error);
/* Number of rational (or mod p) components of a value; 0 for Laurent polynomials, which have no bound. */
slong hpt_ring_degree(const hpt_ring *ring);

typedef struct hpt_value {
    fmpq_poly_t poly;
    slong shift; /* of the lowest term, Laurent only; else 0 */
} hpt_value;

void hpt_value_init(hpt_value *value); /* zero */
void hpt_value_clear(hpt_value *value);
void hpt_value_set(hpt_value *out, const hpt_value *a);
void hpt_value_set_si(hpt_value *out, slong a); /* reduce it in a finite field with hpt_value_reduce */
void hpt_value_set_fmpq(hpt_value *out, const fmpq_t a);
void hpt_value_set_generator(hpt_value *out, const fmpq_t coefficient,
                             slong power);                     /* coefficient * t^power, unreduced */
void hpt_value_reduce(hpt_value *value, const hpt_ring *ring); /* into the ring's normal form */
bool hpt_value_is_zero(const hpt_value *a);
bool hpt_value_is_one(const hpt_value *a);
bool hpt_value_is_rational(const hpt_value *a);
bool hpt_value_equal(const hpt_value *a, const hpt_value *b);
bool hpt_value_get_fmpq(fmpq_t out, const hpt_value *a); /* false if it is not rational */
void hpt_value_add(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring);
void hpt_value_sub(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring);
void hpt_value_neg(hpt_value *out, const hpt_value *a, const hpt_ring *ring);
void hpt_value_mul(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring);
/* a / b; false where b has no inverse (zero, or a Laurent polynomial of more than one term). */
HPT_NODISCARD bool hpt_value_div(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring);
double hpt_value_double(const hpt_value *a, const hpt_ring *ring); /* NaN if it is not a real number */

/* ---- text ("-1", "3/4", "1/2+1/2i", "3/4*rho^3", "x^-1") ---- */
void hpt_value_print(hpt_text *out, const hpt_value *a,
                     const char *generator); /* generator "i" is printed without '*' */
/* Reads a sum of terms in the ring's generator; decimals are read exactly and set *decimal (if not NULL). */
hpt_status hpt_value_parse(hpt_value *out, const hpt_ring *ring, const char *text, size_t length, bool *decimal,
                           const char *where, hpt_error *error);
/* One unsigned number at the start of `text`: 12, 3/4 (if `fraction`), 0.5, 1e-3. *used is its length, 0 if there is
 * none. *decimal is set if it is written with a point or an exponent. */
hpt_status hpt_number_scan(fmpq_t out, const char *text, size_t length, bool fraction, size_t *used, bool *decimal,
                           const char *where, hpt_error *error);

#endif
