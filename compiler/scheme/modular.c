#include "scheme/modular.h"
#include <stdlib.h>

enum { SMALL = 1 << 15 };

bool hpt_modular_possible(const hpt_scheme *s) {
    if (s->ring.kind != HPT_RING_RATIONAL) return false;
    for (int32_t v = 0; v < s->value_count; v++) {
        int64_t numerator, denominator;
        if (!hpt_scheme_value_rational(s, v, &numerator, &denominator) || denominator >= SMALL || numerator <= -SMALL ||
            numerator >= SMALL)
            return false;
    }
    return true;
}

uint32_t hpt_modular_inverse(uint32_t a) { /* a^(p-2) */
    uint32_t out = 1;
    for (uint32_t exponent = HPT_MODULAR_PRIME - 2; exponent; exponent >>= 1) {
        if (exponent & 1) out = hpt_modular_mul(out, a);
        a = hpt_modular_mul(a, a);
    }
    return out;
}

uint32_t *hpt_modular_rows(const hpt_scheme *s, hpt_factor f) {
    size_t entries = (size_t)hpt_scheme_entries(s, f);
    uint32_t *residue = calloc((size_t)s->value_count, sizeof *residue);
    uint32_t *rows = calloc((size_t)s->rank * entries, sizeof *rows);
    if (!residue || !rows) {
        free(residue);
        free(rows);
        return NULL;
    }
    for (int32_t v = 0; v < s->value_count; v++) {
        int64_t numerator = 0, denominator = 1;
        (void)hpt_scheme_value_rational(s, v, &numerator, &denominator);
        uint32_t top = (uint32_t)(numerator < 0 ? numerator + HPT_MODULAR_PRIME : numerator);
        residue[v] = hpt_modular_mul(top, hpt_modular_inverse((uint32_t)denominator));
    }
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_terms row = hpt_scheme_terms(s, f, r);
        for (size_t k = 0; k < row.count; k++) rows[(size_t)r * entries + (size_t)row.index[k]] = residue[row.value[k]];
    }
    free(residue);
    return rows;
}

int32_t hpt_modular_rank(uint32_t *m, int32_t rows, int32_t columns) {
    int32_t rank = 0;
    for (int32_t c = 0; c < columns && rank < rows; c++) {
        int32_t pivot = rank;
        while (pivot < rows && m[pivot * columns + c] == 0) pivot++;
        if (pivot == rows) continue;
        for (int32_t j = 0; j < columns; j++) {
            uint32_t keep = m[pivot * columns + j];
            m[pivot * columns + j] = m[rank * columns + j];
            m[rank * columns + j] = keep;
        }
        uint32_t inverse = hpt_modular_inverse(m[rank * columns + c]);
        for (int32_t r = rank + 1; r < rows; r++) {
            uint32_t factor = hpt_modular_mul(m[r * columns + c], inverse);
            if (factor == 0) continue;
            for (int32_t j = c; j < columns; j++)
                m[r * columns + j] =
                    hpt_modular_sub(m[r * columns + j], hpt_modular_mul(factor, m[rank * columns + j]));
        }
        rank++;
    }
    return rank;
}
