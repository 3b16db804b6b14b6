#include "scheme/recognise.h"
#include <math.h>

enum { DENOMINATOR = 720, ROOT_DENOMINATOR = 48 };
static const double NEAR = 1e-6;

/* The rational with the smallest denominator within NEAR of x. */
static bool near_rational(fmpq_t out, double x, int limit) {
    for (int d = 1; d <= limit; d++) {
        double scaled = x * d;
        if (fabs(scaled) > 1e9) return false;
        if (fabs(scaled - round(scaled)) <= NEAR) {
            fmpq_set_si(out, (slong)llround(scaled), (ulong)d);
            return true;
        }
    }
    return false;
}

/* a rational, or a rational times the root. */
static bool guess(hpt_value *out, double x, double root) {
    fmpq_t rational;
    fmpq_init(rational);
    bool found = true;
    if (near_rational(rational, x, root > 0 ? ROOT_DENOMINATOR : DENOMINATOR))
        hpt_value_set_fmpq(out, rational);
    else if (root > 0 && near_rational(rational, x / root, ROOT_DENOMINATOR))
        hpt_value_set_generator(out, rational, 1);
    else
        found = false;
    fmpq_clear(rational);
    return found;
}

static hpt_status rebuild(hpt_scheme **out, const hpt_scheme *s, const char *ring_name, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    hpt_value value;
    hpt_verification verdict;
    bool all = true;
    hpt_ring_init(&ring);
    hpt_value_init(&value);
    HPT_TRY(hpt_ring_parse(&ring, ring_name, "", error));
    HPT_TRY(hpt_builder_create(&builder, s->n, s->m, s->p, s->rank, s->name, error));
    hpt_builder_set_ring(builder, &ring, false);
    hpt_builder_allow_zero_rows(builder);
    hpt_builder_set_text(builder, s->name, s->format, s->source, s->convention);
    for (int f = 0; f < 3 && all; f++)
        for (int32_t r = 0; r < s->rank && all; r++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count && all; k++) {
                double x = hpt_scheme_value_double(s, row.value[k]);
                all = guess(&value, x, ring.kind == HPT_RING_FIELD ? ring.root : 0);
                hpt_value_reduce(&value, &ring);
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, row.index[k],
                                         all ? hpt_builder_value(builder, &value) : -1, s->name, error));
            }
        }
    if (!all) goto done;
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
    HPT_TRY(hpt_scheme_verify(&verdict, *out, error));
    if (verdict.verdict != HPT_VERDICT_PROVED) {
        hpt_scheme_destroy(*out);
        *out = NULL;
    }
done:
    hpt_builder_destroy(builder);
    hpt_value_clear(&value);
    hpt_ring_clear(&ring);
    return status;
}

hpt_status hpt_scheme_recognise(hpt_scheme **out, const hpt_scheme *s, hpt_error *error) {
    static const char *const rings[] = {"Q", "Q(sqrt(2))", "Q(sqrt(3))", "Q(sqrt(5))", "Q(sqrt(6))"};
    hpt_status status = HPT_OK;
    *out = NULL;
    if (s->ring.kind != HPT_RING_RATIONAL) return HPT_OK;
    for (size_t i = 0; i < HPT_COUNT(rings) && status == HPT_OK && !*out; i++)
        status = rebuild(out, s, rings[i], error);
    return status;
}
