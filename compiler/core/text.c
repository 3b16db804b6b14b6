#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(hpt_text *text, size_t more) {
    if (text->failed || more >= SIZE_MAX / 4 || text->length >= SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->capacity) return true;
    size_t capacity = text->capacity * 2 > need ? text->capacity * 2 : need < 256 ? 256 : need;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void hpt_text_add(hpt_text *text, const char *bytes, size_t count) {
    if (!reserve(text, count)) return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void hpt_text_puts(hpt_text *text, const char *string) { hpt_text_add(text, string, strlen(string)); }

void hpt_text_printf(hpt_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void hpt_text_clear(hpt_text *text) {
    free(text->data);
    *text = (hpt_text){0};
}
