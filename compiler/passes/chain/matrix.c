#include "chains.h"
#include <string.h>

/* Ids of the quotients of W's values, computed when first needed: -1 means not yet. */
typedef struct quotients {
    hpt_numbers *numbers;
    int32_t values;
    const int32_t *id; /* number id of each value of the scheme */
    int32_t *table;
} quotients;

static hpt_status quotient(int32_t *out, quotients *q, int32_t a, int32_t b, hpt_error *error) {
    int32_t *slot = &q->table[(size_t)a * (size_t)q->values + (size_t)b];
    if (*slot < 0) {
        hpt_status status = hpt_numbers_divide(slot, q->numbers, q->id[a], q->id[b], error);
        if (status != HPT_OK) return status;
    }
    *out = *slot;
    return HPT_OK;
}

/* The ratio that most shared outputs agree on, and how many do. `ratio` is scratch. */
static hpt_status best_ratio(int32_t *mu, int32_t *agree, int32_t *shared, quotients *q, hpt_terms r, hpt_terms s,
                             int32_t *ratio, hpt_error *error) {
    size_t i = 0, j = 0;
    *shared = *agree = 0;
    *mu = HPT_NUMBER_ONE;
    while (i < r.count && j < s.count) {
        if (r.index[i] < s.index[j])
            i++;
        else if (r.index[i] > s.index[j])
            j++;
        else {
            hpt_status status = quotient(&ratio[(*shared)++], q, r.value[i++], s.value[j++], error);
            if (status != HPT_OK) return status;
        }
    }
    for (int32_t a = 0; a < *shared; a++) {
        int32_t same = 0;
        for (int32_t b = 0; b < *shared; b++) same += ratio[a] == ratio[b];
        if (same > *agree || (same == *agree && ratio[a] < *mu)) *agree = same, *mu = ratio[a];
    }
    return HPT_OK;
}

static bool is_plain(const hpt_scheme *scheme, int32_t product) {
    hpt_terms row = hpt_scheme_terms(scheme, HPT_U, product);
    int64_t up, down;
    return row.count == 1 && hpt_scheme_value_rational(scheme, row.value[0], &up, &down) && down == 1 &&
           (up == 1 || up == -1);
}

hpt_status hpt_chain_matrix_build(hpt_chain_matrix *out, hpt_numbers *numbers, const hpt_scheme *scheme,
                                  hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t rank = hpt_scheme_rank(scheme), outputs = hpt_scheme_entries(scheme, HPT_W);
    size_t n = (size_t)rank, values = (size_t)hpt_scheme_value_count(scheme);
    HPT_FAIL_IF(rank > HPT_CHAIN_PRODUCTS || values > HPT_CHAIN_VALUES, HPT_TOO_LARGE, hpt_scheme_name(scheme),
                "Chaining takes up to %d products and %d different coefficients; this scheme has %d and %zu.",
                HPT_CHAIN_PRODUCTS, HPT_CHAIN_VALUES, rank, values);
    *out = (hpt_chain_matrix){rank,
                              outputs,
                              hpt_arena_alloc(arena, n * n, sizeof(int32_t)),
                              hpt_arena_alloc(arena, n, sizeof(int32_t)),
                              hpt_arena_alloc(arena, n * n, sizeof(int32_t)),
                              hpt_arena_alloc(arena, n * n, 1),
                              hpt_arena_alloc(arena, n, 1),
                              hpt_arena_alloc(arena, n * (size_t)outputs, sizeof(int32_t))};
    int32_t *id = hpt_arena_alloc(arena, values, sizeof *id),
            *ratio = hpt_arena_alloc(arena, (size_t)outputs, sizeof *ratio);
    quotients q = {numbers, (int32_t)values, id, hpt_arena_alloc(arena, values * values, sizeof(int32_t))};
    HPT_FAIL_IF(!out->join || !out->end || !out->mu || !out->odd || !out->plain || !out->rho || !id || !ratio ||
                    !q.table,
                HPT_NO_MEMORY, "", "Out of memory.");
    memset(q.table, -1, values * values * sizeof *q.table);
    for (int32_t v = 0; v < (int32_t)values; v++) HPT_TRY(hpt_numbers_of_value(&id[v], numbers, v, error));
    for (int32_t r = 0; r < rank; r++) {
        hpt_terms row = hpt_scheme_terms(scheme, HPT_W, r);
        int32_t *rho = &out->rho[(size_t)r * (size_t)outputs];
        for (int32_t c = 0; c < outputs; c++) rho[c] = HPT_NUMBER_ZERO;
        for (size_t i = 0; i < row.count; i++) rho[row.index[i]] = id[row.value[i]];
        out->end[r] = (int32_t)row.count;
        out->plain[r] = is_plain(scheme, r);
        for (int32_t s = 0; s < rank; s++) {
            if (s == r) continue;
            hpt_terms other = hpt_scheme_terms(scheme, HPT_W, s);
            size_t at = (size_t)r * n + (size_t)s;
            int32_t agree, shared;
            HPT_TRY(best_ratio(&out->mu[at], &agree, &shared, &q, row, other, ratio, error));
            out->join[at] = (int32_t)(row.count + other.count) - shared - agree;
            out->odd[at] = out->mu[at] > HPT_NUMBER_MINUS_ONE;
        }
    }
done:
    return status;
}
