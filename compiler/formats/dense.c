#include "formats/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hpt_dense_push(hpt_dense *d, int factor, int32_t id) {
    if (d->count[factor] == d->capacity[factor]) {
        size_t capacity = d->capacity[factor] ? d->capacity[factor] * 2 : 256;
        int32_t *ids = realloc(d->ids[factor], capacity * sizeof *ids);
        if (!ids) return false;
        d->ids[factor] = ids;
        d->capacity[factor] = capacity;
    }
    d->ids[factor][d->count[factor]++] = id;
    return true;
}

void hpt_dense_clear(hpt_dense *d) {
    for (int f = 0; f < 3; f++) free(d->ids[f]);
    *d = (hpt_dense){0};
}

static int64_t exact_root(int64_t square) {
    int64_t root = (int64_t)llround(sqrt((double)square));
    return root * root == square ? root : 0;
}

hpt_status hpt_shape_from_entries(int64_t shape[3], const int64_t entries[3], const hpt_input *source,
                                  hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_read_options *wanted = source->options;
    int64_t n = 0, nm = entries[0], mp = entries[1], np = entries[2];
    for (int f = 0; f < 3; f++)
        HPT_FAIL_IF(entries[f] < 1 || entries[f] > HPT_SCHEME_ENTRIES, HPT_TOO_LARGE, source->path,
                    "Factor %s has %lld entries; 1 to %d are possible.", hpt_factor_name((hpt_factor)f),
                    (long long)entries[f], HPT_SCHEME_ENTRIES);
    if (nm * np % mp == 0) n = exact_root(nm * np / mp);
    HPT_FAIL_IF(n == 0 || nm % n != 0 || np % n != 0 || nm / n * (np / n) != mp, HPT_UNSUPPORTED, source->path,
                "Factors of %lld, %lld and %lld entries do not belong to a product of matrices (n m, m p, n p).",
                (long long)nm, (long long)mp, (long long)np);
    shape[0] = n, shape[1] = nm / n, shape[2] = np / n;
    HPT_FAIL_IF(wanted->n && (wanted->n != shape[0] || wanted->m != shape[1] || wanted->p != shape[2]), HPT_LIES,
                source->path, "The file holds a scheme for %lld x %lld x %lld, not for %d x %d x %d.",
                (long long)shape[0], (long long)shape[1], (long long)shape[2], wanted->n, wanted->m, wanted->p);
done:
    return status;
}

hpt_status hpt_dense_finish(hpt_scheme **out, const hpt_dense *d, hpt_builder *builder, const hpt_input *source,
                            const hpt_dense_layout *l, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t n = l->shape[0], m = l->shape[1], p = l->shape[2], rank = l->rank;
    HPT_TRY(hpt_builder_reshape(builder, n, m, p, rank, source->path, error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, l->transposed ? HPT_OUTPUT_TRANSPOSED : HPT_OUTPUT_PLAIN);
    const int64_t entries[3] = {n * m, m * p, n * p};
    for (int f = 0; f < 3; f++) {
        HPT_FAIL_IF(d->count[f] != (size_t)(entries[f] * rank), HPT_LIES, source->path,
                    "Factor %s has %zu coefficients; %lld products of %lld entries need %lld.",
                    hpt_factor_name((hpt_factor)f), d->count[f], (long long)rank, (long long)entries[f],
                    (long long)(entries[f] * rank));
        for (int64_t r = 0; r < rank; r++)
            for (int64_t e = 0; e < entries[f]; e++) {
                int64_t cell = l->by_entry ? e * rank + r : r * entries[f] + e;
                int64_t entry = f == HPT_W && l->transposed ? e % n * p + e / n : e;
                int32_t id = d->ids[f][cell];
                if (id == -1) continue;
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, entry, id, source->path, error));
            }
    }
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    return status;
}

/* One row per product. */
hpt_status hpt_dense_write(hpt_text *out, const hpt_scheme *s, hpt_factor f, const hpt_dense_style *style,
                           hpt_error *error) {
    int32_t entries = hpt_scheme_entries(s, f);
    int32_t *row = malloc((size_t)entries * sizeof *row);
    if (!row) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_terms terms = hpt_scheme_terms(s, f, r);
        for (int32_t e = 0; e < entries; e++) row[e] = -1;
        for (size_t k = 0; k < terms.count; k++) {
            int32_t e = terms.index[k];
            row[f == HPT_W && style->transposed ? e % s->p * s->n + e / s->p : e] = terms.value[k];
        }
        hpt_text_printf(out, "%s%s", r ? style->row_separator : "", style->row_open);
        for (int32_t e = 0; e < entries; e++) {
            const char *text = row[e] < 0 ? "0" : s->texts[row[e]];
            bool integer = strspn(text + (*text == '-'), "0123456789") == strlen(text + (*text == '-'));
            hpt_text_printf(out, style->quote && !integer ? "%s\"%s\"" : "%s%s", e ? style->cell_separator : "", text);
        }
        hpt_text_puts(out, style->row_close);
    }
    free(row);
    return HPT_OK;
}

hpt_status hpt_dense_finish_matrices(hpt_scheme **out, const hpt_dense *dense, hpt_builder *builder,
                                     const hpt_input *source, int64_t size[3][2], int64_t rank, hpt_error *error) {
    int64_t n = size[0][0], m = size[0][1], p = size[1][1];
    bool transposed = size[2][0] == p && size[2][1] == n, plain = size[2][0] == n && size[2][1] == p;
    if (size[1][0] != m || !(transposed || plain))
        return hpt_error_set(
            error, HPT_UNSUPPORTED, source->path,
            "Matrices of %lld x %lld, %lld x %lld and %lld x %lld do not belong to a product of matrices.",
            (long long)n, (long long)m, (long long)size[1][0], (long long)p, (long long)size[2][0],
            (long long)size[2][1]);
    const hpt_dense_layout layout = {{n, m, p}, rank, false, transposed};
    return hpt_dense_finish(out, dense, builder, source, &layout, error);
}

const char *hpt_dense_cell(const hpt_scheme *s, hpt_factor f, int32_t r, int32_t entry) {
    hpt_terms row = hpt_scheme_terms(s, f, r);
    for (size_t k = 0; k < row.count && row.index[k] <= entry; k++)
        if (row.index[k] == entry) return s->texts[row.value[k]];
    return "0";
}
