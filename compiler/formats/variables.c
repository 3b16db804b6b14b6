#include "formats/variables.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *text) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return (size_t)h;
}

void hpt_variables_clear(hpt_variables *n) {
    for (size_t i = 0; i < n->count; i++) hpt_expression_clear(&n->items[i].value);
    free(n->items);
    free(n->table);
    *n = (hpt_variables){0};
}

static size_t slot(const hpt_variables *n, const char *text) {
    size_t at = hash(text) & (n->table_size - 1);
    while (n->table[at] >= 0 && strcmp(n->items[n->table[at]].text, text) != 0) at = (at + 1) & (n->table_size - 1);
    return at;
}

const hpt_expression *hpt_variables_find(const hpt_variables *n, const char *text) {
    if (n->table_size == 0) return NULL;
    int32_t item = n->table[slot(n, text)];
    return item >= 0 ? &n->items[item].value : NULL;
}

static bool grow(hpt_variables *n) {
    size_t size = n->table_size ? n->table_size * 2 : 64;
    int32_t *table = malloc(size * sizeof *table);
    hpt_variable *items = realloc(n->items, size / 2 * sizeof *items);
    if (items) n->items = items;
    if (!table || !items) {
        free(table);
        return false;
    }
    for (size_t i = 0; i < size; i++) table[i] = -1;
    free(n->table);
    n->table = table;
    n->table_size = size;
    n->capacity = size / 2;
    for (size_t i = 0; i < n->count; i++) n->table[slot(n, n->items[i].text)] = (int32_t)i;
    return true;
}

static size_t term_count(const hpt_expression *e) {
    size_t count = 1;
    for (int k = 0; k < HPT_KINDS; k++) count += e->form[k].count;
    return count;
}

hpt_status hpt_variables_set(hpt_variables *n, const char *text, const hpt_expression *value, const hpt_cursor *c,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    if (n->count == n->capacity) HPT_FAIL_IF(!grow(n), HPT_NO_MEMORY, "", "Out of memory.");
    n->terms += term_count(value);
    if (n->terms > HPT_VARIABLES_TERMS)
        return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "The variables so far have more than %d terms.",
                               HPT_VARIABLES_TERMS);
    size_t at = slot(n, text);
    if (n->table[at] < 0) {
        hpt_variable *item = &n->items[n->count];
        memset(item->text, 0, sizeof item->text);
        memcpy(item->text, text, strnlen(text, sizeof item->text - 1));
        hpt_expression_init(&item->value);
        n->table[at] = (int32_t)n->count++;
    } else {
        n->terms -= term_count(&n->items[n->table[at]].value);
    }
    HPT_FAIL_IF(!hpt_expression_set(&n->items[n->table[at]].value, value), HPT_NO_MEMORY, "", "Out of memory.");
done:
    return status;
}

hpt_status hpt_variables_scan(char text[HPT_VARIABLES_LENGTH], hpt_cursor *c, hpt_error *error) {
    size_t length = 0, from = c->at;
    while (c->at < c->length && (isalnum((unsigned char)c->text[c->at]) || c->text[c->at] == '_')) {
        if (length + 1 >= HPT_VARIABLES_LENGTH)
            return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "A name has more than %d letters.",
                                   HPT_VARIABLES_LENGTH - 1);
        text[length++] = c->text[c->at++];
    }
    text[length] = '\0';
    if (length == 0 || !isalpha((unsigned char)text[0])) {
        c->at = from;
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "A name is expected here.");
    }
    return HPT_OK;
}
