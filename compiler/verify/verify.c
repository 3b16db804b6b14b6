/* The verdict on a scheme: the exact check, what a refutation says, and the two cases that need more than one check
 * (coefficients 0 and 1 that hold only modulo 2; decimal fractions). */
#include "verify/slices.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decimal schemes whose sums miss by more than this are wrong, not rounded. */
static const double ROUNDED = 1e-3;

static hpt_status check(hpt_slices_result *out, const hpt_scheme *scheme, const hpt_progress *progress,
                        hpt_error *error) {
    hpt_algebra *algebra = NULL;
    hpt_status status = hpt_algebra_create(&algebra, scheme, error);
    if (status == HPT_OK) status = hpt_slices_check(out, scheme, algebra, progress, error);
    hpt_algebra_destroy(algebra);
    return status;
}

/* The coefficient of an entry in a row, or NULL. */
static const hpt_value *coefficient(const hpt_scheme *s, hpt_factor factor, int32_t product, int64_t entry) {
    hpt_terms row = hpt_scheme_terms(s, factor, product);
    size_t low = 0, high = row.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (row.index[middle] < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row.count && row.index[low] == entry ? &s->values[row.value[low]] : NULL;
}

/* The left side of one equation, straight from its definition. */
static void evaluate(hpt_value *sum, const hpt_scheme *s, const int64_t at[3]) {
    hpt_value product;
    hpt_value_init(&product);
    hpt_value_set_si(sum, 0);
    for (int32_t r = 0; r < s->rank; r++) {
        const hpt_value *u = coefficient(s, HPT_U, r, at[0]), *v = coefficient(s, HPT_V, r, at[1]),
                        *w = coefficient(s, HPT_W, r, at[2]);
        if (!u || !v || !w) continue;
        hpt_value_mul(&product, u, v, &s->ring);
        hpt_value_mul(&product, &product, w, &s->ring);
        hpt_value_add(sum, sum, &product, &s->ring);
    }
    hpt_value_clear(&product);
}

static void describe_failure(hpt_verification *out, const hpt_scheme *s, const hpt_slices_result *result) {
    const int64_t *at = result->first;
    out->a[0] = (int32_t)(at[0] / s->m), out->a[1] = (int32_t)(at[0] % s->m);
    out->b[0] = (int32_t)(at[1] / s->p), out->b[1] = (int32_t)(at[1] % s->p);
    out->c[0] = (int32_t)(at[2] / s->p), out->c[1] = (int32_t)(at[2] % s->p);
    bool one = out->a[1] == out->b[0] && out->a[0] == out->c[0] && out->b[1] == out->c[1];
    snprintf(out->expected, sizeof out->expected, "%d", one ? 1 : 0);
    hpt_value sum;
    hpt_text text = {0};
    hpt_value_init(&sum);
    evaluate(&sum, s, at);
    hpt_value_print(&text, &sum, s->ring.generator);
    snprintf(out->got, sizeof out->got, "%s", text.failed ? "?" : text.data);
    if (text.length >= sizeof out->got) memcpy(out->got + sizeof out->got - 4, "...", 4);
    hpt_text_clear(&text);
    hpt_value_clear(&sum);
    for (int i = 0; i < 2; i++) {
        out->a[i]++;
        out->b[i]++;
        out->c[i]++;
    }
}

static hpt_status holds_over(bool *out, const hpt_scheme *s, const char *ring, const hpt_progress *progress,
                             hpt_error *error) {
    hpt_scheme *reduced = NULL;
    hpt_slices_result result = {0};
    *out = false;
    hpt_status status = hpt_scheme_over(&reduced, s, ring, NULL);
    if (status == HPT_OK) {
        status = check(&result, reduced, progress, error);
        *out = status == HPT_OK && result.failing == 0;
    }
    hpt_scheme_destroy(reduced);
    return status == HPT_INTERRUPTED ? status : HPT_OK; /* where it cannot be asked, it does not hold */
}

/* Largest absolute error of any equation, in floating point: a report, never a proof. */
static double residual(const hpt_scheme *s, const hpt_progress *progress) {
    int64_t nm = hpt_scheme_entries(s, HPT_U), mp = hpt_scheme_entries(s, HPT_V), np = hpt_scheme_entries(s, HPT_W);
    double worst = 0, *sums = calloc((size_t)(mp * np), sizeof *sums);
    if (!sums) return NAN;
    for (int64_t a = 0; a < nm && !hpt_progress_interrupted(progress); a++) {
        memset(sums, 0, (size_t)(mp * np) * sizeof *sums);
        for (int32_t r = 0; r < s->rank; r++) {
            const hpt_value *u = coefficient(s, HPT_U, r, a);
            hpt_terms v = hpt_scheme_terms(s, HPT_V, r), w = hpt_scheme_terms(s, HPT_W, r);
            for (size_t k = 0; u && k < v.count; k++)
                for (size_t l = 0; l < w.count; l++)
                    sums[v.index[k] * np + w.index[l]] += hpt_value_double(u, &s->ring) *
                                                          hpt_scheme_value_double(s, v.value[k]) *
                                                          hpt_scheme_value_double(s, w.value[l]);
        }
        for (int64_t l = 0; l < s->p; l++) sums[(a % s->m * s->p + l) * np + a / s->m * s->p + l] -= 1;
        for (int64_t i = 0; i < mp * np; i++) worst = fmax(worst, fabs(sums[i]));
    }
    free(sums);
    return worst;
}

static hpt_status judge_refuted(hpt_verification *out, const hpt_scheme *s, const hpt_progress *progress,
                                hpt_error *error) {
    hpt_status status = HPT_OK;
    bool ones = s->value_count == 1; /* value 0 is 1 */
    out->verdict = HPT_VERDICT_REFUTED;
    if (s->decimal) {
        out->residual = residual(s, progress);
        HPT_FAIL_IF(hpt_progress_interrupted(progress), HPT_INTERRUPTED, s->name,
                    "Interrupted before it was known how far the sums miss: nothing is proved.");
        if (out->residual <= ROUNDED) {
            out->verdict = HPT_VERDICT_UNDECIDED;
            snprintf(out->note, sizeof out->note, "holds only numerically: the decimal coefficients are rounded");
        }
        goto done;
    }
    bool modulo_two = false;
    if (s->ring.kind == HPT_RING_RATIONAL) HPT_TRY(holds_over(&modulo_two, s, "GF(2)", progress, error));
    if (!modulo_two) goto done;
    if (ones && !s->forced_ring) {
        int64_t equations = out->equations;
        *out = (hpt_verification){.verdict = HPT_VERDICT_PROVED, .equations = equations, .ring = "GF(2)"};
        snprintf(out->note, sizeof out->note, "holds modulo 2 only");
    } else {
        snprintf(out->note, sizeof out->note, "holds modulo 2");
    }
done:
    return status;
}

hpt_status hpt_scheme_verify(hpt_verification *out, const hpt_scheme *s, hpt_error *error) {
    return hpt_scheme_verify_watched(out, s, NULL, error);
}

hpt_status hpt_scheme_verify_watched(hpt_verification *out, const hpt_scheme *s, const hpt_progress *progress,
                                     hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_slices_result result = {0};
    if (s->verified) {
        *out = s->known;
        return HPT_OK;
    }
    *out = (hpt_verification){.verdict = HPT_VERDICT_PROVED};
    snprintf(out->ring, sizeof out->ring, "%s", s->ring.name);
    int64_t pairs;
    HPT_FAIL_IF(!hpt_mul_i64(&pairs, hpt_scheme_entries(s, HPT_U), hpt_scheme_entries(s, HPT_V)) ||
                    !hpt_mul_i64(&out->equations, pairs, hpt_scheme_entries(s, HPT_W)),
                HPT_TOO_LARGE, s->name, "The scheme has more than 2^63 equations.");
    HPT_TRY(check(&result, s, progress, error));
    out->failing = result.failing;
    if (result.failing > 0) {
        describe_failure(out, s, &result);
        HPT_TRY(judge_refuted(out, s, progress, error));
    } else {
        out->border_degree = (int32_t)result.border_degree;
        if (s->ring.kind == HPT_RING_LAURENT)
            snprintf(out->note, sizeof out->note,
                     result.border_degree ? "border rank: exact only as x goes to 0" : "exact for every x");
    }
done:
    return status;
}
