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

typedef struct stream {
    const hpt_input *source;
    size_t at;
    double next_line;
} stream;

/* Hands the text out in pieces, so that a large file shows its progress and can be interrupted. */
static size_t next_piece(void *buffer, size_t room, void *user) {
    stream *s = user;
    const hpt_progress *progress = s->source->options->progress;
    size_t rest = s->source->length - s->at, count = rest < room ? rest : room;
    if (hpt_progress_interrupted(progress)) return (size_t)-1;
    if (hpt_progress_due(&s->next_line))
        hpt_progress_say(progress, "reading: %.0f%%", 100 * (double)s->at / (double)s->source->length);
    memcpy(buffer, s->source->bytes + s->at, count);
    s->at += count;
    return count;
}

hpt_status hpt_json_load(json_t **out, const hpt_input *source, hpt_error *error) {
    json_error_t problem;
    size_t skip = source->length >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    stream pieces = {source, skip, hpt_progress_first()};
    *out = json_load_callback(next_piece, &pieces, JSON_REJECT_DUPLICATES, &problem);
    hpt_progress_end(source->options->progress);
    if (*out) return HPT_OK;
    if (hpt_progress_interrupted(source->options->progress)) return hpt_reading_interrupted(source->path, error);
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
