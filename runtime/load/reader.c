#include "load/reader.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_reader_open(json_t **out, const hpt_reader *r, const char *format) {
    hpt_status status = HPT_OK;
    char *text = NULL;
    size_t length = 0;
    hpt_error *error = r->error;
    *out = NULL;
    HPT_TRY(hpt_file_read(&text, &length, r->file, HPT_PACKAGE_LIMIT, error));
    json_error_t problem;
    *out = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!*out) {
        char where[HPT_ERROR_WHERE];
        snprintf(where, sizeof where, "%s:%d:%d", r->file, problem.line, problem.column);
        HPT_FAIL_IF(true, HPT_MALFORMED, where, "The file is not valid JSON: %s.", problem.text);
    }
    HPT_FAIL_IF(!json_is_object(*out), HPT_MALFORMED, r->file, "The file does not hold a JSON object.");
    const char *found;
    HPT_TRY(hpt_reader_string(&found, r, *out, "format", NULL));
    HPT_FAIL_IF(strcmp(found, format) != 0, HPT_UNSUPPORTED, r->file,
                "The format is \"%s\"; this version reads \"%s\".", found, format);
done:
    free(text);
    if (status != HPT_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

hpt_status hpt_reader_fail(const hpt_reader *r, const char *place, const char *reason) {
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%s: %s", r->file, place);
    return hpt_error_set(r->error, HPT_MALFORMED, where, "%s", reason);
}

static hpt_status no_memory(const hpt_reader *r) {
    return hpt_error_set(r->error, HPT_NO_MEMORY, r->file, "Out of memory.");
}

hpt_status hpt_reader_string(const char **out, const hpt_reader *r, const json_t *object, const char *key,
                             const char *fallback) {
    const json_t *value = json_object_get(object, key);
    if (!value && fallback) {
        *out = fallback;
        return HPT_OK;
    }
    if (!value) return hpt_reader_fail(r, key, "The key is missing.");
    if (!json_is_string(value)) return hpt_reader_fail(r, key, "The value is not a string.");
    if (strlen(json_string_value(value)) != json_string_length(value))
        return hpt_reader_fail(r, key, "The string holds a zero byte.");
    *out = hpt_arena_strdup(r->arena, json_string_value(value));
    return *out ? HPT_OK : no_memory(r);
}

hpt_status hpt_reader_bool(bool *out, const hpt_reader *r, const json_t *object, const char *key, bool fallback) {
    const json_t *value = json_object_get(object, key);
    *out = fallback;
    if (!value) return HPT_OK;
    if (!json_is_boolean(value)) return hpt_reader_fail(r, key, "The value is not true or false.");
    *out = json_is_true(value);
    return HPT_OK;
}

hpt_status hpt_reader_list(json_t **out, size_t *count, const hpt_reader *r, const json_t *object, const char *key,
                           bool required) {
    json_t *value = json_object_get(object, key);
    *out = NULL;
    *count = 0;
    if (!value) return required ? hpt_reader_fail(r, key, "The list is missing.") : HPT_OK;
    if (!json_is_array(value)) return hpt_reader_fail(r, key, "The value is not a list.");
    *out = value;
    *count = json_array_size(value);
    return HPT_OK;
}

hpt_status hpt_reader_strings(const char ***out, size_t *count, const hpt_reader *r, const json_t *object,
                              const char *key) {
    json_t *list;
    hpt_status status = hpt_reader_list(&list, count, r, object, key, false);
    if (status != HPT_OK) return status;
    *out = hpt_arena_alloc(r->arena, *count + 1, sizeof **out);
    if (!*out) return no_memory(r);
    for (size_t i = 0; i < *count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text) return hpt_reader_fail(r, key, "The list holds something that is not a string.");
        if (!((*out)[i] = hpt_arena_strdup(r->arena, text))) return no_memory(r);
    }
    return HPT_OK;
}

hpt_status hpt_reader_formula(const hpt_formula **out, const hpt_reader *r, const json_t *value, const char *place,
                              bool required) {
    *out = NULL;
    if (!value) return required ? hpt_reader_fail(r, place, "The formula is missing.") : HPT_OK;
    if (json_is_integer(value)) {
        hpt_status status = hpt_formula_constant(out, r->arena, json_integer_value(value));
        return status == HPT_OK ? HPT_OK : no_memory(r);
    }
    if (!json_is_string(value)) return hpt_reader_fail(r, place, "A formula must be a string or an integer.");
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%s: %s", r->file, place);
    return hpt_formula_parse(out, r->arena, r->names, json_string_value(value), where, r->error);
}

hpt_status hpt_reader_name(int *slot, const hpt_reader *r, const char *name, const char *place) {
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c; c++) good = good && (isalnum((unsigned char)*c) || *c == '_');
    if (!good || strlen(name) > 100) return hpt_reader_fail(r, place, "The name is not an identifier.");
    if (hpt_names_find(r->names, name) >= 0) return hpt_reader_fail(r, place, "The name is taken already.");
    *slot = hpt_names_add(r->names, name);
    return *slot >= 0 ? HPT_OK : no_memory(r);
}

hpt_status hpt_reader_lets(hpt_let **out, size_t *count, const hpt_reader *r, const json_t *object) {
    json_t *list;
    hpt_status status = hpt_reader_list(&list, count, r, object, "let", false);
    if (status != HPT_OK) return status;
    *out = hpt_arena_alloc(r->arena, *count + 1, sizeof **out);
    if (!*out) return no_memory(r);
    for (size_t i = 0; i < *count; i++) {
        const json_t *pair = json_array_get(list, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        if (json_array_size(pair) != 2 || !name)
            return hpt_reader_fail(r, "let", "An entry is not a pair [name, formula].");
        char place[160];
        snprintf(place, sizeof place, "let %.100s", name);
        hpt_let *let = &(*out)[i];
        status = hpt_reader_formula(&let->formula, r, json_array_get(pair, 1), place, true);
        if (status == HPT_OK) status = hpt_reader_name(&let->slot, r, name, place);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_reader_requirements(hpt_requirement **out, size_t *count, const hpt_reader *r, const json_t *object) {
    static const char *const keys[] = {"that", "message", NULL};
    json_t *list;
    hpt_status status = hpt_reader_list(&list, count, r, object, "require", false);
    if (status != HPT_OK) return status;
    *out = hpt_arena_alloc(r->arena, *count + 1, sizeof **out);
    if (!*out) return no_memory(r);
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(list, i);
        status = hpt_reader_keys(r, item, "require", keys);
        if (status == HPT_OK) status = hpt_reader_string(&(*out)[i].message, r, item, "message", NULL);
        if (status == HPT_OK)
            status = hpt_reader_formula(&(*out)[i].that, r, json_object_get(item, "that"), "require", true);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_reader_keys(const hpt_reader *r, const json_t *object, const char *place, const char *const *allowed) {
    if (!json_is_object(object)) return hpt_reader_fail(r, place, "The value is not an object.");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (allowed[i] && strcmp(allowed[i], key) != 0) i++;
        if (allowed[i]) continue;
        char reason[200];
        snprintf(reason, sizeof reason, "The key \"%.100s\" is not known.", key);
        return hpt_reader_fail(r, place, reason);
    }
    return HPT_OK;
}
