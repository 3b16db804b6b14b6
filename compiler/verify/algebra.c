#include "verify/algebra.h"
#include <stdlib.h>

/* Which values a factor uses. */
static bool *used_values(const hpt_scheme *s, int f) {
    bool *used = calloc((size_t)s->value_count, sizeof *used);
    if (used)
        for (size_t i = 0; i < s->start[f][s->rank]; i++) used[s->value[f][i]] = true;
    return used;
}

/* Lowest shift and highest power among the used values of a Laurent factor. */
static void laurent_range(slong *low, slong *high, const hpt_scheme *s, const bool *used) {
    bool first = true;
    *low = *high = 0;
    for (int32_t v = 0; v < s->value_count; v++) {
        if (!used[v]) continue;
        slong from = s->values[v].shift, to = from + fmpq_poly_length(s->values[v].poly) - 1;
        if (first || from < *low) *low = from;
        if (first || to > *high) *high = to;
        first = false;
    }
}

/* value * t^j as d rational components; Laurent values are moved up by -low. */
static void multiple(fmpq_poly_t out, const hpt_scheme *s, const hpt_value *value, slong j, slong low) {
    const hpt_ring *ring = &s->ring;
    slong up = j + (ring->kind == HPT_RING_LAURENT ? value->shift - low : 0);
    fmpq_poly_shift_left(out, value->poly, up);
    if (!fmpq_poly_is_zero(ring->modulus)) {
        hpt_value reduced;
        hpt_value_init(&reduced);
        fmpq_poly_set(reduced.poly, out);
        hpt_value_reduce(&reduced, ring);
        fmpq_poly_set(out, reduced.poly);
        hpt_value_clear(&reduced);
    }
}

static void factor_scale(hpt_algebra *a, const hpt_scheme *s, int f, const bool *used, slong low, slong columns) {
    fmpq_poly_t product;
    fmpq_poly_init(product);
    fmpz_one(a->scale[f]);
    for (int32_t v = 0; v < s->value_count; v++)
        for (slong j = 0; used[v] && j < columns; j++) {
            multiple(product, s, &s->values[v], j, low);
            fmpz_lcm(a->scale[f], a->scale[f], fmpq_poly_denref(product));
        }
    fmpq_poly_clear(product);
}

static void factor_fill(hpt_algebra *a, const hpt_scheme *s, int f, const bool *used, slong low, slong columns) {
    slong d = a->dimension;
    fmpq_poly_t product;
    fmpq_t component;
    fmpq_poly_init(product);
    fmpq_init(component);
    for (int32_t v = 0; v < s->value_count; v++)
        for (slong j = 0; used[v] && j < columns; j++) {
            multiple(product, s, &s->values[v], j, low);
            slong length = fmpq_poly_length(product);
            for (slong k = 0; k < d && k < length; k++) {
                fmpz *cell = a->exact[f] + ((slong)v * d + k) * columns + j;
                fmpq_poly_get_coeff_fmpq(component, product, k);
                fmpz_divexact(cell, a->scale[f], fmpq_denref(component));
                fmpz_mul(cell, cell, fmpq_numref(component));
            }
        }
    fmpq_clear(component);
    fmpq_poly_clear(product);
}

/* Largest entry of a vector (columns == 1), or largest row sum of absolute values of a matrix, for each value. */
static void norms(fmpz *out, const hpt_algebra *a, int f, int32_t count, slong columns) {
    fmpz_t sum;
    fmpz_init(sum);
    for (int32_t v = 0; v < count; v++)
        for (slong k = 0; k < a->dimension; k++) {
            fmpz_zero(sum);
            for (slong j = 0; j < columns; j++) {
                const fmpz *cell = a->exact[f] + ((slong)v * a->dimension + k) * columns + j;
                if (fmpz_sgn(cell) < 0)
                    fmpz_sub(sum, sum, cell);
                else
                    fmpz_add(sum, sum, cell);
            }
            if (fmpz_cmp(sum, out + v) > 0) fmpz_set(out + v, sum);
        }
    fmpz_clear(sum);
}

/* Sum over the products of the largest |u|, |v| and |w|, and the scaled 1 that sums are compared with. */
static hpt_status find_bound(hpt_algebra *a, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    fmpz *norm[3] = {NULL, NULL, NULL};
    fmpz_t term, largest;
    fmpz_init(term);
    fmpz_init(largest);
    for (int f = 0; f < 3; f++) {
        norm[f] = calloc((size_t)s->value_count, sizeof *norm[f]); /* zero bytes are the fmpz 0 */
        HPT_FAIL_NO_MEMORY(norm[f]);
        norms(norm[f], a, f, s->value_count, f == HPT_U ? 1 : a->dimension);
    }
    fmpz_mul(a->bound, a->scale[0], a->scale[1]);
    fmpz_mul(a->bound, a->bound, a->scale[2]);
    for (int32_t r = 0; r < s->rank; r++) {
        fmpz_one(term);
        for (int f = 0; f < 3; f++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            fmpz_zero(largest);
            for (size_t i = 0; i < row.count; i++)
                if (fmpz_cmp(norm[f] + row.value[i], largest) > 0) fmpz_set(largest, norm[f] + row.value[i]);
            fmpz_mul(term, term, largest);
        }
        fmpz_add(a->bound, a->bound, term);
    }
done:
    for (int f = 0; f < 3; f++) {
        for (int32_t v = 0; norm[f] && v < s->value_count; v++) fmpz_clear(norm[f] + v);
        free(norm[f]);
    }
    fmpz_clear(largest);
    fmpz_clear(term);
    return status;
}

static hpt_status fill(hpt_algebra *a, const hpt_scheme *s, bool *const used[3], hpt_error *error) {
    hpt_status status = HPT_OK;
    slong low[3] = {0, 0, 0}, high[3];
    a->dimension = hpt_ring_degree(&s->ring);
    if (s->ring.kind == HPT_RING_LAURENT) {
        a->dimension = 1;
        for (int f = 0; f < 3; f++) {
            laurent_range(&low[f], &high[f], s, used[f]);
            a->dimension += high[f] - low[f];
            a->unit -= low[f];
        }
        if (a->unit < 0 || a->unit >= a->dimension) { /* make room for x^0 among the components */
            slong extra = a->unit < 0 ? -a->unit : a->unit + 1 - a->dimension;
            if (a->unit < 0) {
                low[0] -= extra;
                a->unit = 0;
            }
            a->dimension += extra;
        }
    }
    HPT_FAIL_IF(a->dimension > HPT_ALGEBRA_DIMENSION, HPT_TOO_LARGE, s->name,
                "The powers of x span %ld degrees; the limit is %d.", (long)a->dimension, HPT_ALGEBRA_DIMENSION);
    for (int f = 0; f < 3; f++) {
        slong columns = f == HPT_U ? 1 : a->dimension;
        a->length[f] = (size_t)s->value_count * (size_t)a->dimension * (size_t)columns;
        HPT_FAIL_IF(a->length[f] > (size_t)1 << 26, HPT_TOO_LARGE, s->name,
                    "%d different coefficients of %ld components are too many.", s->value_count, (long)a->dimension);
        a->exact[f] = calloc(a->length[f], sizeof *a->exact[f]);
        a->table[f] = calloc(a->length[f], sizeof *a->table[f]);
        HPT_FAIL_IF(!a->exact[f] || !a->table[f], HPT_NO_MEMORY, "", "Out of memory.");
        factor_scale(a, s, f, used[f], low[f], columns);
        factor_fill(a, s, f, used[f], low[f], columns);
    }
    HPT_TRY(find_bound(a, s, error));
done:
    return status;
}

hpt_status hpt_algebra_create(hpt_algebra **out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool *used[3] = {used_values(s, 0), used_values(s, 1), used_values(s, 2)};
    hpt_algebra *a = calloc(1, sizeof *a);
    *out = NULL;
    if (a) {
        for (int f = 0; f < 3; f++) fmpz_init(a->scale[f]);
        fmpz_init(a->bound);
    }
    HPT_FAIL_IF(!a || !used[0] || !used[1] || !used[2], HPT_NO_MEMORY, "", "Out of memory.");
    HPT_TRY(fill(a, s, used, error));
    *out = a;
    a = NULL;
done:
    for (int f = 0; f < 3; f++) free(used[f]);
    hpt_algebra_destroy(a);
    return status;
}

void hpt_algebra_destroy(hpt_algebra *a) {
    if (!a) return;
    for (int f = 0; f < 3; f++) {
        for (size_t i = 0; a->exact[f] && i < a->length[f]; i++) fmpz_clear(a->exact[f] + i);
        free(a->exact[f]);
        free(a->table[f]);
        fmpz_clear(a->scale[f]);
    }
    fmpz_clear(a->bound);
    free(a);
}

bool hpt_algebra_fits(const hpt_algebra *a) { return fmpz_bits(a->bound) <= 62; }

void hpt_algebra_select(hpt_algebra *a, int64_t modulus) {
    fmpz_t expected;
    a->modulus = modulus;
    for (int f = 0; f < 3; f++)
        for (size_t i = 0; i < a->length[f]; i++)
            a->table[f][i] =
                modulus ? (int64_t)fmpz_fdiv_ui(a->exact[f] + i, (ulong)modulus) : fmpz_get_si(a->exact[f] + i);
    fmpz_init(expected);
    fmpz_mul(expected, a->scale[0], a->scale[1]);
    fmpz_mul(expected, expected, a->scale[2]);
    a->expected = modulus ? (int64_t)fmpz_fdiv_ui(expected, (ulong)modulus) : fmpz_get_si(expected);
    fmpz_clear(expected);
}
