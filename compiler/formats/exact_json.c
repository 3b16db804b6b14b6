/* JSON objects with factors U, V, W as rows (one per product, entries row-major, C not transposed). Entries are
 * numbers, strings, or {"exact", "coefficients": of 1, g, g^2, ...}; the generator g is a key of the document whose
 * "definition" reads "rho^4 = 4/3". A document may hold several schemes, named by their keys or by "name"; FILE#NAME or
 * FILE#k. */
#include "formats/dense.h"
#include "formats/json.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int hpt_exact_json_detect(const hpt_input *source);
hpt_status hpt_exact_json_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

int hpt_exact_json_detect(const hpt_input *source) {
    return hpt_json_looks(source) && hpt_json_has(source, "\"U\"") && hpt_json_has(source, "\"V\"") &&
                   hpt_json_has(source, "\"W\"")
               ? 70
               : 0;
}

static bool is_scheme(const json_t *object) {
    return json_is_array(json_object_get(object, "U")) && json_is_array(json_object_get(object, "V")) &&
           json_is_array(json_object_get(object, "W"));
}

typedef struct search {
    const char *wanted;
    long long number, count; /* the wanted number (0: by name), schemes seen so far */
    json_t *found;
} search;

static void consider(search *s, const char *name, json_t *object) {
    if (!is_scheme(object)) return;
    s->count++;
    const char *own = json_string_value(json_object_get(object, "name"));
    bool named = s->wanted && ((name && strcmp(name, s->wanted) == 0) || (own && strcmp(own, s->wanted) == 0));
    if (!s->found && (named || s->count == s->number)) s->found = object;
}

/* Schemes are the document, its members, or the elements of its lists. */
static hpt_status choose(json_t **out, json_t *document, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *key;
    json_t *member, *element;
    size_t i;
    search s = {.wanted = source->member, .number = source->member ? 0 : 1};
    char end;
    if (source->member && sscanf(source->member, "%12lld%c", &s.number, &end) != 1) s.number = 0;
    consider(&s, NULL, document);
    json_object_foreach(document, key, member) {
        consider(&s, key, member);
        json_array_foreach(member, i, element) consider(&s, NULL, element);
    }
    HPT_FAIL_IF(s.count == 0, HPT_MALFORMED, source->path, "No object in this document has the lists U, V and W.");
    HPT_FAIL_IF(!s.found, HPT_NOT_FOUND, source->path, "There is no scheme \"%.60s\" among the %lld here.",
                source->member, s.count);
    *out = s.found;
done:
    return status;
}

/* "rho^4 = 4/3" -> the ring Q[x]/(x^4 - 4/3) with the generator rho. */
static hpt_status read_definition(hpt_ring *ring, const char *name, const char *text, const char *where,
                                  hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_ring laurent;
    hpt_value left, right;
    const char *equal = strchr(text, '=');
    hpt_ring_init(&laurent);
    hpt_value_init(&left);
    hpt_value_init(&right);
    HPT_FAIL_IF(!equal || strlen(name) >= sizeof ring->generator, HPT_UNSUPPORTED, where,
                "The definition \"%.60s\" should look like \"rho^4 = 4/3\".", text);
    HPT_TRY(hpt_ring_parse(&laurent, "Q[x,1/x]", where, error));
    strcpy(laurent.generator, name);
    HPT_TRY(hpt_value_parse(&left, &laurent, text, (size_t)(equal - text), NULL, where, error));
    HPT_TRY(hpt_value_parse(&right, &laurent, equal + 1, strlen(equal + 1), NULL, where, error));
    hpt_value_sub(&left, &left, &right, &laurent);
    HPT_FAIL_IF(left.shift != 0, HPT_UNSUPPORTED, where, "The definition \"%.60s\" is not a minimal polynomial.", text);
    HPT_TRY(hpt_ring_set_field(ring, left.poly, name, where, error));
done:
    hpt_value_clear(&right);
    hpt_value_clear(&left);
    hpt_ring_clear(&laurent);
    return status;
}

static hpt_status read_ring(hpt_ring *ring, json_t *document, const hpt_input *source, hpt_error *error) {
    const char *key;
    json_t *member;
    json_object_foreach(document, key, member) {
        const char *definition = json_string_value(json_object_get(member, "definition"));
        bool word = key[0] && strspn(key, "abcdefghijklmnopqrstuvwxyz") == strlen(key);
        if (definition && word && !is_scheme(member))
            return read_definition(ring, key, definition, source->path, error);
    }
    return HPT_OK;
}

static hpt_status read_entry(int32_t *id, json_t *entry, hpt_builder *builder, const hpt_ring *ring, const char *where,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *coefficients = json_object_get(entry, "coefficients"), *exact = json_object_get(entry, "exact");
    if (!json_is_object(entry)) return hpt_json_value(id, builder, ring, entry, where, error);
    if (!json_is_array(coefficients)) return hpt_json_value(id, builder, ring, exact, where, error);
    hpt_value sum, part;
    hpt_value_init(&sum);
    hpt_value_init(&part);
    for (size_t k = 0; k < json_array_size(coefficients); k++) {
        const char *text = json_string_value(json_array_get(coefficients, k));
        HPT_FAIL_IF(!text || k > HPT_RING_DEGREE, HPT_MALFORMED, where,
                    "\"coefficients\" must be a short list of strings.");
        HPT_TRY(hpt_value_parse(&part, ring, text, strlen(text), NULL, where, error));
        part.shift = (slong)k;
        hpt_value_reduce(&part, ring);
        hpt_value_add(&sum, &sum, &part, ring);
    }
    *id = hpt_builder_value(builder, &sum);
done:
    hpt_value_clear(&part);
    hpt_value_clear(&sum);
    return status;
}

static hpt_status read_factor(hpt_dense *dense, int f, int64_t *entries, int64_t *rank, json_t *rows,
                              hpt_builder *builder, const hpt_ring *ring, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    char where[HPT_ERROR_WHERE];
    *rank = (int64_t)json_array_size(rows);
    *entries = 0;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        json_t *row = json_array_get(rows, r);
        snprintf(where, sizeof where, "%.200s: %c[%zu]", path, "UVW"[f], r + 1);
        if (r == 0) *entries = (int64_t)json_array_size(row);
        HPT_FAIL_IF(!json_is_array(row) || (int64_t)json_array_size(row) != *entries, HPT_LIES, where,
                    "A row of %lld entries is expected.", (long long)*entries);
        for (size_t k = 0; k < json_array_size(row); k++) {
            int32_t id;
            snprintf(where, sizeof where, "%.200s: %c[%zu][%zu]", path, "UVW"[f], r + 1, k + 1);
            HPT_TRY(read_entry(&id, json_array_get(row, k), builder, ring, where, error));
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
        }
    }
done:
    return status;
}

hpt_status hpt_exact_json_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    static const char *const names[3] = {"U", "V", "W"};
    json_t *document = NULL, *object = NULL;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_dense_layout layout = {.transposed = false};
    hpt_ring ring;
    int64_t entries[3], ranks[3];
    hpt_ring_init(&ring);
    HPT_TRY(hpt_json_load(&document, source, error));
    HPT_TRY(choose(&object, document, source, error));
    HPT_TRY(read_ring(&ring, document, source, error));
    HPT_TRY(hpt_reader_start(&builder, source, "exact-json", 1, 1, 1, 1, "Q", error));
    hpt_builder_set_ring(builder, &ring, false);
    for (int f = 0; f < 3; f++)
        HPT_TRY(read_factor(&dense, f, &entries[f], &ranks[f], json_object_get(object, names[f]), builder, &ring,
                            source->path, error));
    HPT_FAIL_IF(ranks[1] != ranks[0] || ranks[2] != ranks[0], HPT_LIES, source->path,
                "U has %lld rows, V %lld and W %lld.", (long long)ranks[0], (long long)ranks[1], (long long)ranks[2]);
    HPT_TRY(hpt_shape_from_entries(layout.shape, entries, source, error));
    layout.rank = ranks[0];
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    json_decref(document);
    return status;
}
