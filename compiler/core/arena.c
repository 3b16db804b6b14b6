#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 * 1024, ALIGN = 16 };

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
} chunk;

struct hpt_arena {
    chunk *head;
};

hpt_arena *hpt_arena_create(void) { return calloc(1, sizeof(hpt_arena)); }

void hpt_arena_destroy(hpt_arena *arena) {
    if (!arena) return;
    for (chunk *c = arena->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(arena);
}

void *hpt_arena_alloc(hpt_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (!hpt_mul_size(&bytes, count, size) || bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    chunk *c = arena->head;
    if (!c || c->size - c->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;
        c = calloc(1, sizeof(chunk) + room);
        if (!c) return NULL;
        c->size = room;
        if (arena->head && bytes > CHUNK / 4) { /* a large block goes behind, the current chunk stays open */
            c->next = arena->head->next;
            arena->head->next = c;
        } else {
            c->next = arena->head;
            arena->head = c;
        }
    }
    void *out = c->bytes + c->used;
    c->used += bytes;
    return out;
}

char *hpt_arena_strdup(hpt_arena *arena, const char *text) {
    size_t length = strlen(text) + 1;
    char *out = hpt_arena_alloc(arena, length, 1);
    if (out) memcpy(out, text, length);
    return out;
}

char *hpt_arena_printf(hpt_arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *out = length < 0 ? NULL : hpt_arena_alloc(arena, (size_t)length + 1, 1);
    if (out) vsnprintf(out, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return out;
}
