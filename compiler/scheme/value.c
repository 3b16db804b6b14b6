#include "value.h"
#include <math.h>

void hpt_value_init(hpt_value *value) {
    fmpq_poly_init(value->poly);
    value->shift = 0;
}

void hpt_value_clear(hpt_value *value) { fmpq_poly_clear(value->poly); }

void hpt_value_set(hpt_value *out, const hpt_value *a) {
    fmpq_poly_set(out->poly, a->poly);
    out->shift = a->shift;
}

void hpt_value_set_si(hpt_value *out, slong a) {
    fmpq_poly_set_si(out->poly, a);
    out->shift = 0;
}

void hpt_value_set_fmpq(hpt_value *out, const fmpq_t a) {
    fmpq_poly_set_fmpq(out->poly, a);
    out->shift = 0;
}

void hpt_value_set_generator(hpt_value *out, const fmpq_t coefficient, slong power) {
    fmpq_poly_set_fmpq(out->poly, coefficient);
    out->shift = fmpq_is_zero(coefficient) ? 0 : power;
}

/* Each rational coefficient a/b becomes a b^-1 mod p; a denominator that p divides cannot occur: readers refuse it. */
static void reduce_modulo_prime(fmpq_poly_t poly, int64_t prime) {
    fmpq_t coefficient;
    fmpz_t modulus, number;
    fmpq_init(coefficient);
    fmpz_init_set_si(modulus, prime);
    fmpz_init(number);
    for (slong i = fmpq_poly_length(poly) - 1; i >= 0; i--) {
        fmpq_poly_get_coeff_fmpq(coefficient, poly, i);
        if (!fmpz_is_one(fmpq_denref(coefficient)) && fmpz_invmod(number, fmpq_denref(coefficient), modulus))
            fmpz_mul(number, number, fmpq_numref(coefficient));
        else
            fmpz_set(number, fmpq_numref(coefficient));
        fmpz_mod(number, number, modulus);
        fmpq_poly_set_coeff_fmpz(poly, i, number);
    }
    fmpz_clear(number);
    fmpz_clear(modulus);
    fmpq_clear(coefficient);
}

/* Moves powers of t from the polynomial to the shift, so that equal Laurent polynomials have equal representations. */
static void normalise_shift(hpt_value *value) {
    if (fmpq_poly_is_zero(value->poly)) {
        value->shift = 0;
        return;
    }
    fmpq_t coefficient;
    fmpq_init(coefficient);
    slong low = 0;
    for (;; low++) {
        fmpq_poly_get_coeff_fmpq(coefficient, value->poly, low);
        if (!fmpq_is_zero(coefficient)) break;
    }
    fmpq_clear(coefficient);
    if (low > 0) fmpq_poly_shift_right(value->poly, value->poly, low);
    value->shift += low;
}

void hpt_value_reduce(hpt_value *value, const hpt_ring *ring) {
    if (ring->kind == HPT_RING_LAURENT) {
        normalise_shift(value);
        return;
    }
    if (value->shift > 0) { /* readers write c t^k this way */
        fmpq_poly_shift_left(value->poly, value->poly, value->shift);
        value->shift = 0;
    }
    if (!fmpq_poly_is_zero(ring->modulus) && fmpq_poly_length(value->poly) >= fmpq_poly_length(ring->modulus))
        fmpq_poly_rem(value->poly, value->poly, ring->modulus);
    if (ring->characteristic) reduce_modulo_prime(value->poly, ring->characteristic);
}

bool hpt_value_is_zero(const hpt_value *a) { return fmpq_poly_is_zero(a->poly); }
bool hpt_value_is_one(const hpt_value *a) { return a->shift == 0 && fmpq_poly_is_one(a->poly); }
bool hpt_value_is_rational(const hpt_value *a) { return a->shift == 0 && fmpq_poly_length(a->poly) <= 1; }

bool hpt_value_equal(const hpt_value *a, const hpt_value *b) {
    return a->shift == b->shift && fmpq_poly_equal(a->poly, b->poly);
}

bool hpt_value_get_fmpq(fmpq_t out, const hpt_value *a) {
    if (!hpt_value_is_rational(a)) return false;
    fmpq_poly_get_coeff_fmpq(out, a->poly, 0);
    return true;
}

void hpt_value_add(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring) {
    if (a->shift == b->shift || hpt_value_is_zero(a) || hpt_value_is_zero(b)) {
        slong shift = hpt_value_is_zero(a) ? b->shift : a->shift;
        fmpq_poly_add(out->poly, a->poly, b->poly);
        out->shift = shift;
    } else {
        const hpt_value *low = a->shift < b->shift ? a : b, *high = low == a ? b : a;
        slong shift = low->shift;
        fmpq_poly_t moved;
        fmpq_poly_init(moved);
        fmpq_poly_shift_left(moved, high->poly, high->shift - shift);
        fmpq_poly_add(out->poly, low->poly, moved);
        fmpq_poly_clear(moved);
        out->shift = shift;
    }
    hpt_value_reduce(out, ring);
}

void hpt_value_neg(hpt_value *out, const hpt_value *a, const hpt_ring *ring) {
    fmpq_poly_neg(out->poly, a->poly);
    out->shift = a->shift;
    hpt_value_reduce(out, ring);
}

void hpt_value_sub(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring) {
    hpt_value minus;
    hpt_value_init(&minus);
    hpt_value_neg(&minus, b, ring);
    hpt_value_add(out, a, &minus, ring);
    hpt_value_clear(&minus);
}

void hpt_value_mul(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring) {
    fmpq_poly_mul(out->poly, a->poly, b->poly);
    out->shift = ring->kind == HPT_RING_LAURENT && !fmpq_poly_is_zero(out->poly) ? a->shift + b->shift : 0;
    hpt_value_reduce(out, ring);
}

/* b^(q-2) = 1/b in the field of q elements. */
static void invert_finite(hpt_value *out, const hpt_value *b, const hpt_ring *ring) {
    fmpz_t exponent;
    hpt_value base, power;
    fmpz_init_set_si(exponent, ring->characteristic);
    fmpz_pow_ui(exponent, exponent, (ulong)hpt_ring_degree(ring));
    fmpz_sub_ui(exponent, exponent, 2);
    hpt_value_init(&base);
    hpt_value_init(&power);
    hpt_value_set(&base, b);
    hpt_value_set_si(&power, 1);
    for (flint_bitcnt_t i = 0, bits = fmpz_bits(exponent); i < bits; i++) {
        if (fmpz_tstbit(exponent, i)) hpt_value_mul(&power, &power, &base, ring);
        hpt_value_mul(&base, &base, &base, ring);
    }
    hpt_value_set(out, &power);
    hpt_value_clear(&power);
    hpt_value_clear(&base);
    fmpz_clear(exponent);
}

static bool invert(hpt_value *out, const hpt_value *b, const hpt_ring *ring) {
    if (hpt_value_is_zero(b)) return false;
    if (ring->kind == HPT_RING_FINITE) {
        invert_finite(out, b, ring);
        return true;
    }
    if (fmpq_poly_length(b->poly) == 1) { /* a rational, or a monomial */
        fmpq_t coefficient;
        fmpq_init(coefficient);
        fmpq_poly_get_coeff_fmpq(coefficient, b->poly, 0);
        fmpq_inv(coefficient, coefficient);
        fmpq_poly_set_fmpq(out->poly, coefficient);
        out->shift = -b->shift;
        fmpq_clear(coefficient);
        return true;
    }
    if (ring->kind != HPT_RING_FIELD) return false;
    fmpq_poly_t gcd, cofactor, ignored;
    fmpq_poly_init(gcd);
    fmpq_poly_init(cofactor);
    fmpq_poly_init(ignored);
    fmpq_poly_xgcd(gcd, cofactor, ignored, b->poly, ring->modulus); /* monic, so the gcd is 1 */
    fmpq_poly_set(out->poly, cofactor);
    out->shift = 0;
    fmpq_poly_clear(ignored);
    fmpq_poly_clear(cofactor);
    fmpq_poly_clear(gcd);
    return true;
}

bool hpt_value_div(hpt_value *out, const hpt_value *a, const hpt_value *b, const hpt_ring *ring) {
    hpt_value inverse;
    hpt_value_init(&inverse);
    bool possible = invert(&inverse, b, ring);
    if (possible) hpt_value_mul(out, a, &inverse, ring);
    hpt_value_clear(&inverse);
    return possible;
}

double hpt_value_double(const hpt_value *a, const hpt_ring *ring) {
    slong length = fmpq_poly_length(a->poly);
    if (length == 0) return 0.0;
    if (ring->kind == HPT_RING_FINITE || ring->kind == HPT_RING_LAURENT) return NAN;
    if (length > 1 && !ring->real) return NAN;
    double sum = 0.0;
    mpq_t coefficient;
    fmpq_t exact;
    mpq_init(coefficient);
    fmpq_init(exact);
    for (slong i = length - 1; i >= 0; i--) {
        fmpq_poly_get_coeff_fmpq(exact, a->poly, i);
        fmpq_get_mpq(coefficient, exact);
        sum = mpq_get_d(coefficient) + (length > 1 ? sum * ring->root : 0.0);
    }
    fmpq_clear(exact);
    mpq_clear(coefficient);
    return sum;
}
