/* Heptane's own format: JSON with sparse rows. Specified in schemes/README.md. */
#include "formats/formats.h"
#include "formats/json.h"
#include <stdio.h>
#include <string.h>

int hpt_heptane_detect(const hpt_input *source);
hpt_status hpt_heptane_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_heptane_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

int hpt_heptane_detect(const hpt_input *source) {
    return hpt_json_looks(source) && hpt_json_has(source, "\"heptane-scheme\"") ? 100 : 0;
}

/* One term [i, j, coefficient] of an n x m matrix's form. */
static hpt_status read_term(hpt_builder *builder, const hpt_ring *ring, json_t *term, hpt_factor factor,
                            int64_t product, int64_t rows, int64_t columns, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t i, j;
    int32_t id;
    HPT_FAIL_IF(!json_is_array(term) || json_array_size(term) != 3, HPT_MALFORMED, where,
                "A term is [row, column, coefficient].");
    HPT_TRY(hpt_json_integer(&i, json_array_get(term, 0), where, error));
    HPT_TRY(hpt_json_integer(&j, json_array_get(term, 1), where, error));
    HPT_FAIL_IF(i < 1 || i > rows || j < 1 || j > columns, HPT_LIES, where,
                "Entry (%lld, %lld) is outside the %lld x %lld matrix.", (long long)i, (long long)j, (long long)rows,
                (long long)columns);
    HPT_TRY(hpt_json_value(&id, builder, ring, json_array_get(term, 2), where, error));
    HPT_FAIL_IF(id == -1, HPT_MALFORMED, where, "A term's coefficient is zero.");
    HPT_TRY(hpt_builder_term(builder, factor, product, (i - 1) * columns + j - 1, id, where, error));
done:
    return status;
}

static hpt_status read_products(hpt_builder *builder, const hpt_ring *ring, json_t *products, const int64_t shape[3],
                                const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t rows[3] = {shape[0], shape[1], shape[0]}, columns[3] = {shape[1], shape[2], shape[2]};
    char where[HPT_ERROR_WHERE];
    for (size_t r = 0; r < json_array_size(products); r++)
        for (int f = 0; f < 3; f++) {
            json_t *form = json_object_get(json_array_get(products, r), hpt_factor_name((hpt_factor)f));
            snprintf(where, sizeof where, "%.200s: products[%zu].%s", source->path, r + 1,
                     hpt_factor_name((hpt_factor)f));
            HPT_FAIL_IF(!json_is_array(form), HPT_MALFORMED, where, "This must be a list of terms.");
            for (size_t k = 0; k < json_array_size(form); k++) {
                snprintf(where, sizeof where, "%.200s: products[%zu].%s[%zu]", source->path, r + 1,
                         hpt_factor_name((hpt_factor)f), k + 1);
                HPT_TRY(read_term(builder, ring, json_array_get(form, k), (hpt_factor)f, (int64_t)r, rows[f],
                                  columns[f], where, error));
            }
        }
done:
    return status;
}

/* "ring", and "generator" where the field's generator has a name of its own. */
static hpt_status read_ring(hpt_ring *ring, json_t *document, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *name = json_string_value(json_object_get(document, "ring"));
    const char *generator = json_string_value(json_object_get(document, "generator"));
    HPT_FAIL_IF(!name, HPT_MALFORMED, source->path, "The key \"ring\" must hold the ring's name.");
    HPT_TRY(hpt_ring_parse(ring, name, source->path, error));
    if (generator && ring->kind == HPT_RING_FIELD) {
        size_t length = strlen(generator), good = strspn(generator, "abcdefghijklmnopqrstuvwxyz");
        HPT_FAIL_IF(length == 0 || length != good || length >= sizeof ring->generator, HPT_MALFORMED, source->path,
                    "The key \"generator\" must be a short word of small letters.");
        strcpy(ring->generator, generator);
    }
done:
    return status;
}

hpt_status hpt_heptane_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *document = NULL;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    int64_t shape[3], rank, version;
    static const char *const sides[3] = {"n", "m", "p"};
    hpt_ring_init(&ring);
    HPT_TRY(hpt_json_load(&document, source, error));
    HPT_TRY(hpt_json_key(&version, document, "version", source->path, error));
    HPT_FAIL_IF(version != 1, HPT_UNSUPPORTED, source->path, "Version %lld of the format is newer than this program.",
                (long long)version);
    for (int i = 0; i < 3; i++) HPT_TRY(hpt_json_key(&shape[i], document, sides[i], source->path, error));
    HPT_TRY(hpt_json_key(&rank, document, "rank", source->path, error));
    json_t *products = json_object_get(document, "products");
    HPT_FAIL_IF(!json_is_array(products), HPT_MALFORMED, source->path, "The key \"products\" must hold a list.");
    HPT_TRY(read_ring(&ring, document, source, error));
    HPT_TRY(hpt_builder_create(&builder, shape[0], shape[1], shape[2], rank, source->path, error));
    hpt_builder_watch(builder, source->options->progress);
    HPT_FAIL_IF((size_t)rank != json_array_size(products), HPT_LIES, source->path,
                "The rank is given as %lld, but there are %zu products.", (long long)rank, json_array_size(products));
    hpt_builder_set_ring(builder, &ring, ring.kind == HPT_RING_FINITE);
    hpt_builder_set_text(builder, source->path, "heptane", json_string_value(json_object_get(document, "source")),
                         NULL);
    HPT_TRY(read_products(builder, &ring, products, shape, source, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    json_decref(document);
    return status;
}

/* 3 as a JSON integer, everything else as a string. */
static void write_value(hpt_text *out, const char *text) {
    bool integer =
        strlen(text) < 18 && strspn(text + (text[0] == '-'), "0123456789") == strlen(text + (text[0] == '-'));
    hpt_text_printf(out, integer ? "%s" : "\"%s\"", text);
}

static void write_form(hpt_text *out, const hpt_scheme *s, hpt_factor factor, int32_t product) {
    hpt_terms row = hpt_scheme_terms(s, factor, product);
    int32_t columns = factor == HPT_U ? s->m : s->p;
    hpt_text_printf(out, "\"%s\": [", hpt_factor_name(factor));
    for (size_t k = 0; k < row.count; k++) {
        hpt_text_printf(out, "%s[%d, %d, ", k ? ", " : "", row.index[k] / columns + 1, row.index[k] % columns + 1);
        write_value(out, s->texts[row.value[k]]);
        hpt_text_puts(out, "]");
    }
    hpt_text_puts(out, "]");
}

hpt_status hpt_heptane_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    hpt_text_puts(out, "{\n \"format\": \"heptane-scheme\", \"version\": 1,\n");
    if (s->source[0]) {
        json_t *source = json_string(s->source);
        char *quoted = source ? json_dumps(source, JSON_ENCODE_ANY) : NULL; /* NULL: not UTF-8 */
        hpt_text_printf(out, " \"source\": %s,\n", quoted ? quoted : "\"\"");
        json_decref(source);
        free(quoted);
    }
    hpt_text_printf(out, " \"n\": %d, \"m\": %d, \"p\": %d, \"rank\": %d, \"ring\": \"%s\",", s->n, s->m, s->p, s->rank,
                    s->ring.name);
    if (s->ring.kind == HPT_RING_FIELD && strncmp(s->ring.name, "Q[x]", 4) == 0)
        hpt_text_printf(out, " \"generator\": \"%s\",", s->ring.generator);
    hpt_text_puts(out, "\n \"products\": [\n");
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_text_puts(out, "  {");
        for (int f = 0; f < 3; f++) {
            if (f > 0) hpt_text_puts(out, ", ");
            write_form(out, s, (hpt_factor)f, r);
        }
        hpt_text_puts(out, r + 1 < s->rank ? "},\n" : "}\n");
    }
    hpt_text_puts(out, " ]\n}\n");
    return out->failed ? hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.") : HPT_OK;
}
