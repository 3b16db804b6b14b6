/* Perminov's JSON: n = [n, m, p], m = rank, and full tables u, v, w (or u_sparse, ...); w is over C^T. The text fields
 * are ambiguous above index 9 and are not read. Files of the MMC collection have the same keys. */
#include "formats/dense.h"
#include "formats/json.h"
#include <stdio.h>
#include <string.h>

int hpt_perminov_detect(const hpt_input *source);
hpt_status hpt_perminov_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_perminov_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

int hpt_perminov_detect(const hpt_input *source) {
    bool keys = hpt_json_has(source, "\"n\"") && hpt_json_has(source, "\"m\"") &&
                (hpt_json_has(source, "\"u\"") || hpt_json_has(source, "\"u_sparse\""));
    return hpt_json_looks(source) && keys && !hpt_json_has(source, "\"u_fresh\"") ? 70 : 0;
}

hpt_status hpt_perminov_header(int64_t shape[3], int64_t *rank, json_t *document, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *sizes = json_object_get(document, "n");
    json_t *commutative = json_object_get(document, "commutative");
    HPT_FAIL_IF(json_is_true(commutative), HPT_UNSUPPORTED, path,
                "The scheme needs commuting entries (\"commutative\": true), so it cannot be used on blocks.");
    for (size_t i = 0; i < 3; i++) {
        if (json_is_integer(sizes)) {
            shape[i] = json_integer_value(sizes);
            continue;
        }
        HPT_FAIL_IF(!json_is_array(sizes) || json_array_size(sizes) != 3, HPT_MALFORMED, path,
                    "The key \"n\" must hold the three sizes.");
        HPT_TRY(hpt_json_integer(&shape[i], json_array_get(sizes, i), path, error));
    }
    HPT_TRY(hpt_json_key(rank, document, "m", path, error));
done:
    return status;
}

static hpt_status read_dense(hpt_dense *dense, json_t *table, hpt_factor f, int64_t entries, int64_t rank,
                             hpt_builder *builder, const hpt_ring *ring, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%.200s: %s", path, hpt_factor_name(f));
    HPT_FAIL_IF(!json_is_array(table), HPT_MALFORMED, where, "This must be a list of rows.");
    HPT_FAIL_IF((int64_t)json_array_size(table) != rank, HPT_LIES, where,
                "The rank is given as %lld, but there are %zu rows.", (long long)rank, json_array_size(table));
    for (size_t r = 0; r < json_array_size(table); r++) {
        json_t *row = json_array_get(table, r);
        snprintf(where, sizeof where, "%.200s: %s[%zu]", path, hpt_factor_name(f), r + 1);
        HPT_FAIL_IF(!json_is_array(row) || (int64_t)json_array_size(row) != entries, HPT_LIES, where,
                    "A row of %lld coefficients is expected.", (long long)entries);
        for (size_t k = 0; k < json_array_size(row); k++) {
            int32_t id;
            if (!json_is_integer(json_array_get(row, k)))
                snprintf(where, sizeof where, "%.200s: %s[%zu][%zu]", path, hpt_factor_name(f), r + 1, k + 1);
            HPT_TRY(hpt_json_value(&id, builder, ring, json_array_get(row, k), where, error));
            HPT_FAIL_IF(!hpt_dense_push(dense, (int)f, id), HPT_NO_MEMORY, "", "Out of memory.");
        }
    }
done:
    return status;
}

/* {"0": {"i": [entries], "c": [coefficients]}, ...}, products and entries from 0. */
static hpt_status read_sparse(hpt_builder *builder, json_t *table, hpt_factor f, const int64_t shape[3],
                              const hpt_ring *ring, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *key;
    json_t *row;
    char where[HPT_ERROR_WHERE];
    json_object_foreach(table, key, row) {
        int64_t product, entry;
        char end;
        snprintf(where, sizeof where, "%.200s: %s_sparse.%.20s", path, hpt_factor_name(f), key);
        long long parsed;
        HPT_FAIL_IF(sscanf(key, "%18lld%c", &parsed, &end) != 1, HPT_MALFORMED, where,
                    "The key is not a product's number.");
        product = parsed;
        json_t *indices = json_object_get(row, "i"), *values = json_object_get(row, "c");
        HPT_FAIL_IF(!json_is_array(indices) || json_array_size(indices) != json_array_size(values), HPT_MALFORMED,
                    where, "\"i\" and \"c\" must be lists of one length.");
        for (size_t k = 0; k < json_array_size(indices); k++) {
            int32_t id;
            HPT_TRY(hpt_json_integer(&entry, json_array_get(indices, k), where, error));
            HPT_TRY(hpt_json_value(&id, builder, ring, json_array_get(values, k), where, error));
            HPT_FAIL_IF(entry < 0 || (f == HPT_W && entry >= shape[0] * shape[2]), HPT_LIES, where,
                        "There is no entry %lld.", (long long)entry);
            if (f == HPT_W) entry = entry % shape[0] * shape[2] + entry / shape[0];
            HPT_TRY(hpt_builder_term(builder, f, product, entry, id, where, error));
        }
    }
done:
    return status;
}

hpt_status hpt_perminov_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *document = NULL;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_ring ring;
    hpt_dense_layout layout = {.transposed = true};
    static const char *const sparse[3] = {"u_sparse", "v_sparse", "w_sparse"};
    hpt_ring_init(&ring);
    HPT_TRY(hpt_json_load(&document, source, error));
    HPT_TRY(hpt_ring_parse(&ring, "Q(i)", "", error));
    HPT_TRY(hpt_perminov_header(layout.shape, &layout.rank, document, source->path, error));
    const int64_t *s = layout.shape;
    HPT_TRY(hpt_reader_start(&builder, source, "perminov-json", s[0], s[1], s[2], layout.rank, "Q(i)", error));
    const int64_t entries[3] = {s[0] * s[1], s[1] * s[2], s[0] * s[2]};
    if (json_object_get(document, sparse[0])) {
        hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_TRANSPOSED);
        for (int f = 0; f < 3; f++)
            HPT_TRY(read_sparse(builder, json_object_get(document, sparse[f]), (hpt_factor)f, s, &ring, source->path,
                                error));
        HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
        goto done;
    }
    for (int f = 0; f < 3; f++)
        HPT_TRY(read_dense(&dense, json_object_get(document, hpt_factor_name((hpt_factor)f)), (hpt_factor)f, entries[f],
                           layout.rank, builder, &ring, source->path, error));
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    json_decref(document);
    return status;
}

hpt_status hpt_perminov_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_dense_style style = {"        [", "]", ",\n", ", ", true, true};
    HPT_FAIL_IF(s->ring.kind != HPT_RING_RATIONAL && s->ring.characteristic != 2, HPT_UNSUPPORTED, "--to",
                "The format perminov-json is written for Z, Q and GF(2), not %s.", s->ring.name);
    hpt_text_printf(out, "{\n    \"n\": [%d, %d, %d],\n    \"m\": %d,\n    \"z2\": %s", s->n, s->m, s->p, s->rank,
                    s->ring.characteristic == 2 ? "true" : "false");
    for (int f = 0; f < 3; f++) {
        hpt_text_printf(out, ",\n    \"%s\": [\n", hpt_factor_name((hpt_factor)f));
        HPT_TRY(hpt_dense_write(out, s, (hpt_factor)f, &style, error));
        hpt_text_puts(out, "\n    ]");
    }
    hpt_text_puts(out, "\n}\n");
done:
    return status;
}
