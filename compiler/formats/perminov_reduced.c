/* Perminov's reduced JSON: straight-line programs. u_fresh, v_fresh and w_fresh define extra variables; fresh number q
 * has index base + q (base: entries of A, entries of B, rank); a negative index means the negated fresh variable. u and
 * v list each product's form; w lists each entry of C^T over the products. */
#include "formats/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hpt_perminov_reduced_detect(const hpt_input *source);
hpt_status hpt_perminov_reduced_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_perminov_header(int64_t shape[3], int64_t *rank, json_t *document, const char *path, hpt_error *error);

enum { MAX_CELLS = 1 << 24 };

int hpt_perminov_reduced_detect(const hpt_input *source) {
    return hpt_json_looks(source) && hpt_json_has(source, "\"u_fresh\"") && hpt_json_has(source, "\"w_fresh\"") ? 75
                                                                                                                : 0;
}

/* Dense rows over the base variables, one for each variable that exists so far. */
typedef struct program {
    int64_t base, count;
    fmpq *cells; /* count x base */
} program;

static hpt_status add_terms(fmpq *row, const program *p, json_t *terms, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    fmpq_t factor;
    fmpq_init(factor);
    HPT_FAIL_IF(!json_is_array(terms), HPT_MALFORMED, where, "A list of {\"index\", \"value\"} is expected.");
    for (size_t k = 0; k < json_array_size(terms); k++) {
        json_t *term = json_array_get(terms, k), *value = json_object_get(term, "value");
        int64_t index;
        size_t used = 0;
        HPT_TRY(hpt_json_key(&index, term, "index", where, error));
        if (json_is_integer(value)) {
            fmpq_set_si(factor, json_integer_value(value), 1);
        } else {
            const char *text = json_string_value(value);
            HPT_FAIL_IF(!text, HPT_MALFORMED, where, "\"value\" must be a number or a string.");
            bool minus = text[0] == '-';
            text += minus;
            HPT_TRY(hpt_number_scan(factor, text, strlen(text), true, &used, NULL, where, error));
            HPT_FAIL_IF(used == 0 || text[used], HPT_MALFORMED, where, "\"%.40s\" is not a number.", text);
            if (minus) fmpq_neg(factor, factor);
        }
        if (index < 0) {
            index = -index;
            fmpq_neg(factor, factor);
        }
        HPT_FAIL_IF(index >= p->count, HPT_LIES, where, "There is no variable %lld yet.", (long long)index);
        for (int64_t e = 0; e < p->base; e++) fmpq_addmul(row + e, p->cells + index * p->base + e, factor);
    }
done:
    fmpq_clear(factor);
    return status;
}

static void clear_program(program *p) {
    for (int64_t i = 0; p->cells && i < p->count * p->base; i++) fmpq_clear(p->cells + i);
    free(p->cells);
    *p = (program){0};
}

/* The base variables, then the fresh ones, each over those before it. */
static hpt_status run_program(program *p, int64_t base, json_t *fresh, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_FAIL_IF(!json_is_array(fresh), HPT_MALFORMED, where, "A list of fresh variables is expected.");
    int64_t count = base + (int64_t)json_array_size(fresh), cells;
    HPT_FAIL_IF(!hpt_mul_i64(&cells, count, base) || cells > MAX_CELLS, HPT_TOO_LARGE, where,
                "There are too many variables.");
    p->cells = calloc((size_t)cells, sizeof *p->cells);
    HPT_FAIL_NO_MEMORY(p->cells);
    for (int64_t i = 0; i < cells; i++) fmpq_init(p->cells + i);
    p->base = base;
    p->count = base;
    for (int64_t e = 0; e < base; e++) fmpq_one(p->cells + e * base + e);
    for (size_t q = 0; q < json_array_size(fresh); q++) {
        status = add_terms(p->cells + p->count * base, p, json_array_get(fresh, q), where, error);
        p->count++;
        if (status != HPT_OK) break;
    }
    if (status != HPT_OK) p->count = count;
done:
    return status;
}

/* rows[k] of the table is form k: of product k (u, v), or of an entry of C^T (w). */
static hpt_status read_factor(hpt_builder *builder, json_t *document, hpt_factor f, const int64_t shape[3],
                              int64_t rank, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    static const char *const fresh[3] = {"u_fresh", "v_fresh", "w_fresh"};
    const int64_t bases[3] = {shape[0] * shape[1], shape[1] * shape[2], rank};
    const int64_t rows[3] = {rank, rank, shape[0] * shape[2]};
    program p = {0};
    fmpq *row = NULL;
    hpt_value value;
    char where[HPT_ERROR_WHERE];
    hpt_value_init(&value);
    snprintf(where, sizeof where, "%.200s: %s", path, fresh[f]);
    json_t *table = json_object_get(document, hpt_factor_name(f));
    HPT_TRY(run_program(&p, bases[f], json_object_get(document, fresh[f]), where, error));
    HPT_FAIL_IF((int64_t)json_array_size(table) != rows[f], HPT_LIES, where, "Factor %s has %zu rows instead of %lld.",
                hpt_factor_name(f), json_array_size(table), (long long)rows[f]);
    row = calloc((size_t)bases[f], sizeof *row);
    HPT_FAIL_NO_MEMORY(row);
    for (int64_t e = 0; e < bases[f]; e++) fmpq_init(row + e);
    for (int64_t k = 0; k < rows[f]; k++) {
        snprintf(where, sizeof where, "%.200s: %s[%lld]", path, hpt_factor_name(f), (long long)k + 1);
        for (int64_t e = 0; e < bases[f]; e++) fmpq_zero(row + e);
        HPT_TRY(add_terms(row, &p, json_array_get(table, (size_t)k), where, error));
        for (int64_t e = 0; e < bases[f]; e++) {
            if (fmpq_is_zero(row + e)) continue;
            hpt_value_set_fmpq(&value, row + e);
            int64_t product = f == HPT_W ? e : k, entry = f == HPT_W ? k % shape[0] * shape[2] + k / shape[0] : e;
            HPT_TRY(hpt_builder_term(builder, f, product, entry, hpt_builder_value(builder, &value), where, error));
        }
    }
done:
    for (int64_t e = 0; row && e < bases[f]; e++) fmpq_clear(row + e);
    free(row);
    clear_program(&p);
    hpt_value_clear(&value);
    return status;
}

hpt_status hpt_perminov_reduced_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *document = NULL;
    hpt_builder *builder = NULL;
    int64_t shape[3], rank;
    HPT_TRY(hpt_json_load(&document, source, error));
    HPT_TRY(hpt_perminov_header(shape, &rank, document, source->path, error));
    HPT_TRY(
        hpt_reader_start(&builder, source, "perminov-reduced-json", shape[0], shape[1], shape[2], rank, "Q", error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_TRANSPOSED);
    for (int f = 0; f < 3; f++)
        HPT_TRY(read_factor(builder, document, (hpt_factor)f, shape, rank, source->path, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    json_decref(document);
    return status;
}
