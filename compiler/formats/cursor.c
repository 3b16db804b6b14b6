#include "formats/cursor.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

hpt_cursor hpt_cursor_start(const hpt_input *source) {
    bool mark = source->length >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0;
    return (hpt_cursor){source->path, source->bytes, source->length, mark ? 3 : 0};
}

void hpt_cursor_where(char where[HPT_ERROR_WHERE], const hpt_cursor *c, size_t at) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < c->length; i++) {
        column++;
        if (c->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    snprintf(where, HPT_ERROR_WHERE, "%.240s:%zu:%zu", c->path, line, column);
}

hpt_status hpt_cursor_fail(const hpt_cursor *c, hpt_status code, hpt_error *error, const char *format, ...) {
    char where[HPT_ERROR_WHERE], message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    hpt_cursor_where(where, c, c->at);
    return hpt_error_set(error, code, where, "%s", message);
}

bool hpt_cursor_done(const hpt_cursor *c) { return c->at >= c->length; }
char hpt_cursor_peek(const hpt_cursor *c) { return c->at < c->length ? c->text[c->at] : '\0'; }

bool hpt_cursor_at_line_end(const hpt_cursor *c) {
    return c->at >= c->length || c->text[c->at] == '\n' || c->text[c->at] == '\r';
}

static bool skip_one(hpt_cursor *c, const char *set) {
    if (c->at >= c->length) return false;
    if (c->text[c->at] != '\0' && strchr(set, c->text[c->at])) {
        c->at++;
        return true;
    }
    if (c->length - c->at >= 2 && memcmp(c->text + c->at, "\xc2\xa0", 2) == 0) {
        c->at += 2;
        return true;
    }
    return false;
}

void hpt_cursor_skip_blanks(hpt_cursor *c) {
    while (skip_one(c, " \t")) continue;
}

void hpt_cursor_skip_spaces(hpt_cursor *c) {
    while (skip_one(c, " \t\r\n")) continue;
}

void hpt_cursor_skip_line(hpt_cursor *c) {
    const char *end = c->at < c->length ? memchr(c->text + c->at, '\n', c->length - c->at) : NULL;
    c->at = end ? (size_t)(end - c->text) + 1 : c->length;
}

bool hpt_cursor_take(hpt_cursor *c, const char *word) {
    size_t length = strlen(word);
    if (c->length - c->at < length || memcmp(c->text + c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

bool hpt_cursor_comma(hpt_cursor *c) {
    hpt_cursor_skip_spaces(c);
    return hpt_cursor_take(c, ",");
}

hpt_status hpt_cursor_expect(hpt_cursor *c, const char *word, hpt_error *error) {
    hpt_cursor_skip_spaces(c);
    if (hpt_cursor_take(c, word)) return HPT_OK;
    return hpt_cursor_fail(c, HPT_MALFORMED, error, "\"%s\" is expected here.", word);
}

void hpt_cursor_word(hpt_cursor *c, const char *stops, const char **word, size_t *length) {
    *word = c->text + c->at;
    while (c->at < c->length) {
        char here = c->text[c->at];
        if (strchr(" \t\r\n", here) || strchr(stops, here)) break; /* NUL bytes stop too */
        c->at++;
    }
    *length = (size_t)(c->text + c->at - *word);
}

/* Places are only worked out for errors: they take a walk through the file. */
static hpt_status place(hpt_status status, const hpt_cursor *c, const hpt_error *inner, hpt_error *error) {
    return status == HPT_OK ? HPT_OK : hpt_cursor_fail(c, status, error, "%s", inner->message);
}

hpt_status hpt_cursor_number(fmpq_t out, hpt_cursor *c, bool fraction, size_t *used, bool *decimal, hpt_error *error) {
    hpt_error inner = {0};
    hpt_status status = hpt_number_scan(out, c->text + c->at, c->length - c->at, fraction, used, decimal, "", &inner);
    if (status == HPT_OK) c->at += *used;
    return place(status, c, &inner, error);
}

hpt_status hpt_cursor_parse(hpt_value *out, const hpt_cursor *c, const hpt_ring *ring, const char *text, size_t length,
                            bool *decimal, hpt_error *error) {
    hpt_error inner = {0};
    return place(hpt_value_parse(out, ring, text, length, decimal, "", &inner), c, &inner, error);
}

hpt_status hpt_cursor_integer(int64_t *out, hpt_cursor *c, hpt_error *error) {
    size_t at = c->at;
    bool minus = at < c->length && c->text[at] == '-';
    if (at < c->length && (c->text[at] == '-' || c->text[at] == '+')) at++;
    size_t digits = 0;
    int64_t number = 0;
    for (; at < c->length && isdigit((unsigned char)c->text[at]); at++, digits++) {
        if (digits >= 18) return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "The integer here has more than 18 digits.");
        number = number * 10 + (c->text[at] - '0');
    }
    if (digits == 0) return hpt_cursor_fail(c, HPT_MALFORMED, error, "An integer is expected here.");
    *out = minus ? -number : number;
    c->at = at;
    return HPT_OK;
}

/* [-]digit followed by a separator: nearly every coefficient there is. */
static bool short_integer(int64_t *out, hpt_cursor *c, const char *stops) {
    size_t at = c->at;
    bool minus = at < c->length && c->text[at] == '-';
    if (minus) at++;
    if (at >= c->length || !isdigit((unsigned char)c->text[at])) return false;
    char behind = at + 1 < c->length ? c->text[at + 1] : ' ';
    if (stops[0] ? behind == '\0' || !strchr(stops, behind) : behind == '\0' || !strchr(" \t\r\n", behind))
        return false;
    *out = minus ? -(c->text[at] - '0') : c->text[at] - '0';
    c->at = at + 1;
    return true;
}

hpt_status hpt_cursor_value(int32_t *id, hpt_cursor *c, const char *stops, hpt_builder *builder, const hpt_ring *ring,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t integer;
    if (short_integer(&integer, c, stops)) {
        *id = hpt_builder_integer(builder, integer);
        return HPT_OK;
    }
    hpt_value value;
    hpt_value_init(&value);
    size_t from = c->at, to = from;
    bool decimal = false;
    while (to < c->length && (stops[0] ? c->text[to] != '\0' && !strchr(stops, c->text[to])
                                       : c->text[to] == '\0' || !strchr(" \t\r\n", c->text[to])))
        to++;
    if (to == from) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "A coefficient is expected here.");
        goto done;
    }
    HPT_TRY(hpt_cursor_parse(&value, c, ring, c->text + from, to - from, &decimal, error));
    c->at = to;
    if (decimal) hpt_builder_set_decimal(builder);
    *id = hpt_builder_value(builder, &value);
done:
    hpt_value_clear(&value);
    return status;
}
