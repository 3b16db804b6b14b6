/* Rings by name. A new ring kind is one row in `parsers`. */
#include "value.h"
#include <ctype.h>
#include <flint/fmpz_poly.h>
#include <flint/fmpz_poly_factor.h>
#include <flint/nmod_poly.h>
#include <flint/nmod_poly_factor.h>
#include <flint/ulong_extras.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hpt_ring_init(hpt_ring *ring) {
    *ring = (hpt_ring){.kind = HPT_RING_RATIONAL, .name = "Q", .real = true, .root = NAN};
    fmpq_poly_init(ring->modulus);
}

void hpt_ring_clear(hpt_ring *ring) { fmpq_poly_clear(ring->modulus); }

/* Back to Q, keeping the polynomial's storage. */
static void reset(hpt_ring *ring) {
    hpt_ring_clear(ring);
    hpt_ring_init(ring);
}

void hpt_ring_set(hpt_ring *out, const hpt_ring *ring) {
    if (out == ring) return;
    hpt_ring copy = *ring;
    reset(out);
    memcpy(copy.modulus, out->modulus, sizeof copy.modulus); /* the record is copied, the storage stays out's own */
    *out = copy;
    fmpq_poly_set(out->modulus, ring->modulus);
}

slong hpt_ring_degree(const hpt_ring *ring) {
    if (ring->kind == HPT_RING_LAURENT) return 0;
    return fmpq_poly_is_zero(ring->modulus) ? 1 : fmpq_poly_length(ring->modulus) - 1;
}

static double evaluate(const double *c, slong degree, double x) {
    double sum = 0;
    for (slong i = degree; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

/* The largest real root, by bisection between the extrema, which are the derivative's roots, found the same way. */
static slong real_roots(double *roots, const double *c, slong degree) {
    double bound = 1;
    for (slong i = 0; i < degree; i++) bound = fmax(bound, 1 + fabs(c[i] / c[degree]));
    double derivative[HPT_RING_DEGREE + 1], edges[HPT_RING_DEGREE + 2];
    slong count = 0, between = 0;
    edges[between++] = -bound;
    if (degree > 1) {
        for (slong i = 1; i <= degree; i++) derivative[i - 1] = c[i] * (double)i;
        between += real_roots(edges + 1, derivative, degree - 1);
    }
    edges[between++] = bound;
    for (slong k = 0; k + 1 < between; k++) {
        double low = edges[k], high = edges[k + 1], at_low = evaluate(c, degree, low);
        if ((at_low < 0) == (evaluate(c, degree, high) < 0)) continue;
        for (int step = 0; step < 200; step++) {
            double middle = low + (high - low) / 2;
            if ((evaluate(c, degree, middle) < 0) == (at_low < 0))
                low = middle;
            else
                high = middle;
        }
        roots[count++] = high;
    }
    return count;
}

static void choose_real_root(hpt_ring *ring) {
    slong degree = fmpq_poly_length(ring->modulus) - 1;
    double c[HPT_RING_DEGREE + 1], roots[HPT_RING_DEGREE];
    fmpq_t coefficient;
    mpq_t exact;
    fmpq_init(coefficient);
    mpq_init(exact);
    for (slong i = 0; i <= degree; i++) {
        fmpq_poly_get_coeff_fmpq(coefficient, ring->modulus, i);
        fmpq_get_mpq(exact, coefficient);
        c[i] = mpq_get_d(exact);
    }
    mpq_clear(exact);
    fmpq_clear(coefficient);
    slong count = real_roots(roots, c, degree);
    ring->real = count > 0;
    ring->root = count > 0 ? roots[count - 1] : NAN;
}

static bool irreducible(const fmpq_poly_t modulus) {
    fmpz_poly_t integral;
    fmpz_poly_factor_t factors;
    fmpz_poly_init(integral);
    fmpz_poly_factor_init(factors);
    fmpq_poly_get_numerator(integral, modulus);
    fmpz_poly_factor(factors, integral);
    bool yes = factors->num == 1 && factors->exp[0] == 1;
    fmpz_poly_factor_clear(factors);
    fmpz_poly_clear(integral);
    return yes;
}

/* "x^4 - 4/3": the polynomial with spaces around the signs. */
static void print_modulus(hpt_text *out, const fmpq_poly_t modulus, const char *variable) {
    fmpq_t coefficient;
    fmpq_init(coefficient);
    for (slong i = fmpq_poly_length(modulus) - 1; i >= 0; i--) {
        fmpq_poly_get_coeff_fmpq(coefficient, modulus, i);
        if (fmpq_is_zero(coefficient)) continue;
        bool negative = fmpq_sgn(coefficient) < 0;
        if (out->length > 0)
            hpt_text_puts(out, negative ? " - " : " + ");
        else if (negative)
            hpt_text_puts(out, "-");
        fmpq_abs(coefficient, coefficient);
        if (i == 0 || !fmpq_is_one(coefficient)) {
            char *text = fmpq_get_str(NULL, 10, coefficient);
            hpt_text_printf(out, "%s%s", text, i > 0 ? "*" : "");
            flint_free(text);
        }
        if (i > 0) hpt_text_puts(out, variable);
        if (i > 1) hpt_text_printf(out, "^%ld", (long)i);
    }
    fmpq_clear(coefficient);
}

/* t^2 - d with an integer d: the square root's customary name. */
static bool square_root_of(slong *d, const fmpq_poly_t modulus) {
    if (fmpq_poly_length(modulus) != 3) return false;
    fmpq_t coefficient;
    fmpq_init(coefficient);
    fmpq_poly_get_coeff_fmpq(coefficient, modulus, 1);
    bool yes = fmpq_is_zero(coefficient);
    fmpq_poly_get_coeff_fmpq(coefficient, modulus, 0);
    yes = yes && fmpz_is_one(fmpq_denref(coefficient)) && fmpz_fits_si(fmpq_numref(coefficient));
    if (yes) *d = -fmpz_get_si(fmpq_numref(coefficient));
    fmpq_clear(coefficient);
    return yes;
}

hpt_status hpt_ring_set_field(hpt_ring *ring, const fmpq_poly_t modulus, const char *generator, const char *where,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text name = {0};
    slong degree = fmpq_poly_length(modulus) - 1, d = 0;
    HPT_FAIL_IF(degree < 2 || degree > HPT_RING_DEGREE, HPT_UNSUPPORTED, where,
                "A number field's degree must be 2 to %d, not %ld.", HPT_RING_DEGREE, (long)degree);
    HPT_FAIL_IF(!irreducible(modulus), HPT_MALFORMED, where,
                "The field's polynomial is reducible, so it does not define a field.");
    reset(ring);
    ring->kind = HPT_RING_FIELD;
    fmpq_poly_make_monic(ring->modulus, modulus);
    if (square_root_of(&d, ring->modulus)) {
        if (d == -1) {
            snprintf(ring->name, sizeof ring->name, "Q(i)");
            generator = "i";
        } else {
            snprintf(ring->name, sizeof ring->name, "Q(sqrt(%ld))", (long)d);
            snprintf(ring->generator, sizeof ring->generator, "sqrt(%ld)", (long)d);
            generator = NULL;
        }
    } else {
        print_modulus(&name, ring->modulus, "x");
        HPT_FAIL_IF(name.failed, HPT_NO_MEMORY, "", "Out of memory.");
        HPT_FAIL_IF(name.length + 8 > sizeof ring->name, HPT_TOO_LARGE, where, "The field's polynomial is too long.");
        snprintf(ring->name, sizeof ring->name, "Q[x]/(%s)", name.data);
        if (!generator) generator = "x";
    }
    if (generator) snprintf(ring->generator, sizeof ring->generator, "%s", generator);
    choose_real_root(ring);
done:
    hpt_text_clear(&name);
    return status;
}

static hpt_status parse_rational(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    (void)where, (void)error;
    reset(ring);
    ring->integral = text[0] == 'Z';
    if (ring->integral) strcpy(ring->name, "Z");
    return HPT_OK;
}

static hpt_status parse_laurent(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    (void)text, (void)where, (void)error;
    reset(ring);
    ring->kind = HPT_RING_LAURENT;
    ring->real = false;
    strcpy(ring->name, "Q[x,1/x]");
    strcpy(ring->generator, "x");
    return HPT_OK;
}

static hpt_status parse_square_root(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    slong d = -1;
    if (strncmp(text, "Q(sqrt(", 7) == 0) {
        char *end;
        d = strtol(text + 7, &end, 10);
        if (end == text + 7 || strcmp(end, "))") != 0 || d < -1000000000 || d > 1000000000)
            return hpt_error_set(error, HPT_MALFORMED, where, "\"%s\" should look like Q(sqrt(3)).", text);
    }
    fmpq_poly_t modulus;
    fmpq_poly_init(modulus);
    fmpq_poly_set_coeff_si(modulus, 2, 1);
    fmpq_poly_set_coeff_si(modulus, 0, -d);
    hpt_status status = hpt_ring_set_field(ring, modulus, NULL, where, error);
    fmpq_poly_clear(modulus);
    return status;
}

/* The first monic irreducible polynomial of degree k over GF(p), counting coefficients upwards in base p. */
static bool find_irreducible(fmpq_poly_t out, mp_limb_t prime, slong k) {
    nmod_poly_t candidate;
    nmod_poly_init(candidate, prime);
    bool found = false;
    for (mp_limb_t code = 1; !found && code < 100000; code++) {
        nmod_poly_zero(candidate);
        mp_limb_t rest = code;
        for (slong i = 0; i < k; i++, rest /= prime) nmod_poly_set_coeff_ui(candidate, i, rest % prime);
        nmod_poly_set_coeff_ui(candidate, k, 1);
        found = rest == 0 && nmod_poly_is_irreducible(candidate);
    }
    if (found)
        for (slong i = 0; i <= k; i++) fmpq_poly_set_coeff_si(out, i, (slong)nmod_poly_get_coeff_ui(candidate, i));
    nmod_poly_clear(candidate);
    return found;
}

static hpt_status parse_finite(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *end;
    unsigned long long size = strtoull(text + 3, &end, 10);
    HPT_FAIL_IF(!isdigit((unsigned char)text[3]) || strcmp(end, ")") != 0, HPT_MALFORMED, where,
                "\"%s\" should look like GF(2) or GF(4).", text);
    HPT_FAIL_IF(size < 2 || size > HPT_CHARACTERISTIC, HPT_UNSUPPORTED, where, "GF(q) needs 2 <= q < 2^31.");
    slong k = 1;
    mp_limb_t prime = 0;
    for (; k <= HPT_RING_DEGREE; k++) {
        mp_limb_t root = n_root((mp_limb_t)size, (mp_limb_t)k);
        if (n_pow(root, (ulong)k) == size && n_is_prime(root)) {
            prime = root;
            break;
        }
    }
    HPT_FAIL_IF(prime == 0, HPT_UNSUPPORTED, where, "%llu is not a power of a prime, so there is no GF(%llu).", size,
                size);
    reset(ring);
    ring->kind = HPT_RING_FINITE;
    ring->real = false;
    ring->characteristic = (int64_t)prime;
    snprintf(ring->name, sizeof ring->name, "GF(%llu)", size);
    if (k > 1) strcpy(ring->generator, "x"); /* a prime field has no generator to write */
    HPT_FAIL_IF(k > 1 && !find_irreducible(ring->modulus, prime, k), HPT_UNSUPPORTED, where,
                "No small irreducible polynomial found for GF(%llu).", size);
done:
    return status;
}

static hpt_status parse_quotient(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_ring laurent;
    hpt_value polynomial;
    hpt_ring_init(&laurent);
    hpt_value_init(&polynomial);
    size_t length = strlen(text);
    HPT_TRY(parse_laurent(&laurent, "", where, error));
    HPT_FAIL_IF(length < 8 || text[length - 1] != ')', HPT_MALFORMED, where,
                "\"%s\" should look like Q[x]/(x^4 - 4/3).", text);
    HPT_TRY(hpt_value_parse(&polynomial, &laurent, text + 6, length - 7, NULL, where, error));
    HPT_FAIL_IF(polynomial.shift != 0, HPT_MALFORMED, where, "The field's polynomial is reducible or not one.");
    HPT_TRY(hpt_ring_set_field(ring, polynomial.poly, NULL, where, error));
done:
    hpt_value_clear(&polynomial);
    hpt_ring_clear(&laurent);
    return status;
}

static const struct {
    const char *prefix;
    bool whole; /* the prefix is the whole name */
    hpt_status (*parse)(hpt_ring *, const char *, const char *, hpt_error *);
} parsers[] = {
    {"Z", true, parse_rational},       {"Q", true, parse_rational},       {"Qi", true, parse_square_root},
    {"Q(i)", true, parse_square_root}, {"Q[i]", true, parse_square_root}, {"Q(sqrt(", false, parse_square_root},
    {"Q[x,1/x]", true, parse_laurent}, {"Q[x]/(", false, parse_quotient}, {"GF(", false, parse_finite},
};

hpt_status hpt_ring_parse(hpt_ring *ring, const char *text, const char *where, hpt_error *error) {
    for (size_t i = 0; i < HPT_COUNT(parsers); i++) {
        size_t length = strlen(parsers[i].prefix);
        if (strncmp(text, parsers[i].prefix, length) == 0 && (!parsers[i].whole || text[length] == '\0'))
            return parsers[i].parse(ring, text, where, error);
    }
    return hpt_error_set(error, HPT_MALFORMED, where,
                         "Unknown ring \"%.60s\"; there are Z, Q, Qi, Q(sqrt(d)), Q[x]/(...), GF(q) and Q[x,1/x].",
                         text);
}
