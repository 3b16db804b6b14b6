#include "verify/growth.h"
#include <math.h>
#include <stdlib.h>

static double norm1(const hpt_scheme *s, hpt_factor f, int32_t r) {
    hpt_terms row = hpt_scheme_terms(s, f, r);
    double sum = 0;
    for (size_t k = 0; k < row.count; k++) sum += fabs(hpt_scheme_value_double(s, row.value[k]));
    return sum;
}

static double norm2(const hpt_scheme *s, hpt_factor f, int32_t r) {
    hpt_terms row = hpt_scheme_terms(s, f, r);
    double norm = 0; /* without squares, which overflow or vanish earlier than the norm */
    for (size_t k = 0; k < row.count; k++) norm = hypot(norm, hpt_scheme_value_double(s, row.value[k]));
    return norm;
}

double hpt_scheme_growth(const hpt_scheme *s) {
    int32_t outputs = hpt_scheme_entries(s, HPT_W);
    double *sums = calloc((size_t)outputs, sizeof *sums), worst = 0;
    if (!sums || !hpt_scheme_is_real(s)) {
        free(sums);
        return NAN;
    }
    for (int32_t r = 0; r < hpt_scheme_rank(s); r++) {
        hpt_terms row = hpt_scheme_terms(s, HPT_W, r);
        double forms = norm1(s, HPT_U, r) * norm1(s, HPT_V, r);
        for (size_t k = 0; k < row.count; k++)
            sums[row.index[k]] += fabs(hpt_scheme_value_double(s, row.value[k])) * forms;
    }
    for (int32_t c = 0; c < outputs; c++) worst = fmax(worst, sums[c]);
    free(sums);
    return worst;
}

double hpt_scheme_growth_frobenius(const hpt_scheme *s) {
    if (!hpt_scheme_is_real(s)) return NAN;
    double sum = 0;
    for (int32_t r = 0; r < hpt_scheme_rank(s); r++)
        sum += norm2(s, HPT_U, r) * norm2(s, HPT_V, r) * norm2(s, HPT_W, r);
    return sum;
}
