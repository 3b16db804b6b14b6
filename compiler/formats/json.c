#include "formats/json.h"
#include <stdio.h>
#include <string.h>

bool hpt_json_looks(const hpt_input *source) {
    size_t i = strspn(source->bytes, " \t\r\n\xef\xbb\xbf");
    return source->bytes[i] == '{' || source->bytes[i] == '[';
}

bool hpt_json_has(const hpt_input *source, const char *quoted) {
    return memmem(source->bytes, source->length, quoted, strlen(quoted)) != NULL;
}

hpt_status hpt_json_load(json_t **out, const hpt_input *source, hpt_error *error) {
    json_error_t problem;
    size_t skip = source->length >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *out = json_loadb(source->bytes + skip, source->length - skip, JSON_REJECT_DUPLICATES, &problem);
    if (*out) return HPT_OK;
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%.200s:%d:%d", source->path, problem.line, problem.column);
    return hpt_error_set(error, HPT_MALFORMED, where, "This is not JSON: %s.", problem.text);
}

hpt_status hpt_json_integer(int64_t *out, const json_t *value, const char *where, hpt_error *error) {
    if (!json_is_integer(value)) return hpt_error_set(error, HPT_MALFORMED, where, "An integer is expected here.");
    *out = json_integer_value(value);
    return HPT_OK;
}

hpt_status hpt_json_key(int64_t *out, const json_t *object, const char *key, const char *where, hpt_error *error) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return hpt_error_set(error, HPT_MALFORMED, where, "The key \"%s\" must hold an integer.", key);
    *out = json_integer_value(value);
    return HPT_OK;
}

hpt_status hpt_json_value(int32_t *id, hpt_builder *builder, const hpt_ring *ring, const json_t *value,
                          const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    char real[64];
    const char *text = json_string_value(value);
    bool decimal = false;
    hpt_value exact;
    hpt_value_init(&exact);
    if (json_is_integer(value)) {
        *id = hpt_builder_integer(builder, json_integer_value(value));
        goto done;
    }
    if (json_is_real(value)) {
        snprintf(real, sizeof real, "%.17g", json_real_value(value));
        text = real;
        decimal = true;
    }
    HPT_FAIL_IF(!text, HPT_MALFORMED, where, "A coefficient is a number or a string.");
    HPT_TRY(hpt_value_parse(&exact, ring, text, strlen(text), &decimal, where, error));
    if (decimal) hpt_builder_set_decimal(builder);
    *id = hpt_builder_value(builder, &exact);
done:
    hpt_value_clear(&exact);
    return status;
}
