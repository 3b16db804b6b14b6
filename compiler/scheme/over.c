/* A scheme's coefficients in another ring: Q into GF(p), a field's rational elements into Q, and so on. */
#include "scheme/scheme.h"
#include <string.h>

static bool denominators_invertible(const hpt_value *a, int64_t prime) {
    bool yes = true;
    fmpq_t coefficient;
    fmpq_init(coefficient);
    for (slong i = 0; i < fmpq_poly_length(a->poly) && yes; i++) {
        fmpq_poly_get_coeff_fmpq(coefficient, a->poly, i);
        yes = !fmpz_divisible_si(fmpq_denref(coefficient), prime);
    }
    fmpq_clear(coefficient);
    return yes;
}

/* True if `a` of ring `from` has an image in `to`; *out is that image. */
static bool convert(hpt_value *out, const hpt_value *a, const hpt_ring *from, const hpt_ring *to) {
    bool same_field = from->kind == to->kind && fmpq_poly_equal(from->modulus, to->modulus);
    if (from->kind == HPT_RING_FINITE) {
        if (to->characteristic != from->characteristic || !(same_field || hpt_value_is_rational(a))) return false;
    } else if (!hpt_value_is_rational(a) && !same_field && to->kind != HPT_RING_LAURENT) {
        return false;
    }
    if (to->kind == HPT_RING_LAURENT && from->kind != HPT_RING_LAURENT && !hpt_value_is_rational(a)) return false;
    if (to->characteristic && !denominators_invertible(a, to->characteristic)) return false;
    if (to->integral && !fmpz_is_one(fmpq_poly_denref(a->poly))) return false;
    hpt_value_set(out, a);
    hpt_value_reduce(out, to);
    return true;
}

hpt_status hpt_scheme_over(hpt_scheme **out, const hpt_scheme *scheme, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    hpt_value image;
    *out = NULL;
    hpt_ring_init(&ring);
    hpt_value_init(&image);
    HPT_TRY(hpt_ring_parse(&ring, name, "--ring", error));
    HPT_TRY(hpt_builder_create(&builder, scheme->n, scheme->m, scheme->p, scheme->rank, scheme->name, error));
    hpt_builder_set_ring(builder, &ring, true);
    hpt_builder_allow_zero_rows(builder);
    hpt_builder_set_text(builder, scheme->name, scheme->format, scheme->source, scheme->convention);
    if (scheme->decimal) hpt_builder_set_decimal(builder);
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < scheme->rank; r++) {
            hpt_terms row = hpt_scheme_terms(scheme, (hpt_factor)f, r);
            for (size_t i = 0; i < row.count; i++) {
                const char *text = scheme->texts[row.value[i]];
                HPT_FAIL_IF(!convert(&image, &scheme->values[row.value[i]], &scheme->ring, &ring), HPT_UNSUPPORTED,
                            scheme->name, "The coefficient %.80s in factor %s of product %d is not in %s.", text,
                            hpt_factor_name((hpt_factor)f), r + 1, ring.name);
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, row.index[i], hpt_builder_value(builder, &image),
                                         scheme->name, error));
            }
        }
    HPT_TRY(hpt_builder_finish(out, builder, scheme->name, error));
done:
    hpt_builder_destroy(builder);
    hpt_value_clear(&image);
    hpt_ring_clear(&ring);
    return status;
}
