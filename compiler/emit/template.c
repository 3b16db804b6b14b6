/* template.c - from template text to a Lua chunk that puts it out, line for line */
#include "emit/sandbox.h"
#include <string.h>

static void put_literal(hpt_text *out, const char *bytes, size_t count) {
    if (count == 0) return;
    hpt_text_puts(out, "_put(\"");
    for (size_t i = 0; i < count; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (byte == '"' || byte == '\\') {
            hpt_text_printf(out, "\\%c", byte);
        } else if (byte < 32) {
            hpt_text_printf(out, "\\%03d", byte);
        } else {
            hpt_text_add(out, bytes + i, 1);
        }
    }
    hpt_text_puts(out, "\") ");
}

/* Length of the expression in "$(...)" that starts at `text`, or 0 if its parentheses do not close on this line. */
static size_t expression_length(const char *text, const char *end) {
    int depth = 0;
    for (const char *at = text + 1; at < end; at++) {
        if (*at == '(') depth++;
        if (*at == ')' && --depth == 0) return (size_t)(at + 1 - text);
    }
    return 0;
}

static void put_line(hpt_text *out, const char *line, const char *end) {
    const char *start = line;
    for (const char *at = line; at < end; at++) {
        if (at[0] != '$' || at + 1 >= end || at[1] != '(') continue;
        const size_t length = expression_length(at, end);
        put_literal(out, start, (size_t)(at - start));
        if (length == 0) { /* left for Lua to complain about, at this line */
            hpt_text_puts(out, "error('$( without its closing parenthesis') ");
            return;
        }
        hpt_text_puts(out, "_put(_value(");
        hpt_text_add(out, at + 2, length - 3);
        hpt_text_puts(out, ")) ");
        start = at + length;
        at = start - 1;
    }
    put_literal(out, start, (size_t)(end - start));
    hpt_text_puts(out, "_put(\"\\n\")");
}

void hpt_template_translate(hpt_text *out, const char *text) {
    while (*text) {
        const char *end = strchr(text, '\n');
        const char *next = end ? end + 1 : text + strlen(text);
        if (!end) end = next;
        const char *first = text;
        while (first < end && (*first == ' ' || *first == '\t')) first++;
        if (first < end && *first == '@') {
            hpt_text_add(out, first + 1, (size_t)(end - first - 1));
        } else {
            put_line(out, text, end);
        }
        hpt_text_puts(out, "\n");
        text = next;
    }
}
