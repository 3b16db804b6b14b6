#include "formats/products.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_expression *hpt_products_add(hpt_products *p) {
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 32;
        hpt_expression *items = realloc(p->items, capacity * sizeof *items);
        if (!items) return NULL;
        p->items = items;
        p->capacity = capacity;
    }
    hpt_expression_init(&p->items[p->count]);
    return &p->items[p->count++];
}

void hpt_products_clear(hpt_products *p) {
    for (size_t i = 0; i < p->count; i++) hpt_expression_clear(&p->items[i]);
    free(p->items);
    *p = (hpt_products){0};
}

hpt_status hpt_entry_scan(int64_t *key, hpt_cursor *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t row = 0, column = 0;
    if (isdigit((unsigned char)hpt_cursor_peek(c))) {
        size_t digits = 0;
        while (c->at + digits < c->length && isdigit((unsigned char)c->text[c->at + digits])) digits++;
        bool separated = c->at + digits < c->length && c->text[c->at + digits] == '_';
        if (!separated) {
            if (digits != 2)
                return hpt_cursor_fail(c, HPT_MALFORMED, error,
                                       "An entry has exactly two digits, row and column; %zu cannot be told apart.",
                                       digits);
            row = c->text[c->at] - '0';
            column = c->text[c->at + 1] - '0';
            c->at += 2;
        } else {
            HPT_TRY(hpt_cursor_integer(&row, c, error));
            c->at++;
            HPT_TRY(hpt_cursor_integer(&column, c, error));
        }
    } else if (hpt_cursor_take(c, "_")) {
        HPT_TRY(hpt_cursor_integer(&row, c, error));
        if (!hpt_cursor_take(c, "_"))
            return hpt_cursor_fail(c, HPT_MALFORMED, error, "\"_\" and a column are expected.");
        HPT_TRY(hpt_cursor_integer(&column, c, error));
    } else if (hpt_cursor_take(c, "[")) {
        HPT_TRY(hpt_cursor_integer(&row, c, error));
        if (!hpt_cursor_take(c, ",")) return hpt_cursor_fail(c, HPT_MALFORMED, error, "A comma is expected here.");
        hpt_cursor_skip_blanks(c);
        HPT_TRY(hpt_cursor_integer(&column, c, error));
        if (!hpt_cursor_take(c, "]")) return hpt_cursor_fail(c, HPT_MALFORMED, error, "\"]\" is expected here.");
    } else {
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "A row and a column are expected here.");
    }
    if (row < 1 || column < 1 || row > HPT_SCHEME_SIDE || column > HPT_SCHEME_SIDE)
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "Rows and columns count from 1 to %d.", HPT_SCHEME_SIDE);
    *key = (row - 1) * HPT_KEY_COLUMNS + column - 1;
done:
    return status;
}

/* Largest row and column of a kind. */
static void extent(int64_t size[2], const hpt_products *p, int kind) {
    size[0] = size[1] = 0;
    for (size_t r = 0; r < p->count; r++)
        for (size_t i = 0; i < p->items[r].form[kind].count; i++) {
            int64_t key = p->items[r].form[kind].terms[i].key;
            if (key / HPT_KEY_COLUMNS + 1 > size[0]) size[0] = key / HPT_KEY_COLUMNS + 1;
            if (key % HPT_KEY_COLUMNS + 1 > size[1]) size[1] = key % HPT_KEY_COLUMNS + 1;
        }
}

static hpt_status find_shape(int64_t shape[3], bool *transposed, const hpt_products *p, const hpt_input *source,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t a[2], b[2], c[2];
    const hpt_read_options *wanted = source->options;
    extent(a, p, 0);
    extent(b, p, 1);
    extent(c, p, 2);
    bool plain = c[0] == a[0] && c[1] == b[1], turned = c[0] == b[1] && c[1] == a[0];
    HPT_FAIL_IF(a[1] != b[0] || !(plain || turned), HPT_UNSUPPORTED, source->path,
                "The entries span A %lld x %lld, B %lld x %lld, C %lld x %lld, which is not a product of matrices.",
                (long long)a[0], (long long)a[1], (long long)b[0], (long long)b[1], (long long)c[0], (long long)c[1]);
    if (!(plain && turned)) *transposed = turned;
    shape[0] = a[0], shape[1] = a[1], shape[2] = b[1];
    HPT_FAIL_IF(wanted->n && (wanted->n != shape[0] || wanted->m != shape[1] || wanted->p != shape[2]), HPT_LIES,
                source->path, "The file holds a scheme for %lld x %lld x %lld, not for %d x %d x %d.",
                (long long)shape[0], (long long)shape[1], (long long)shape[2], wanted->n, wanted->m, wanted->p);
done:
    return status;
}

/* The scalar of a product goes to its third factor. */
static hpt_status add_product(hpt_builder *builder, hpt_expression *item, size_t r, const int64_t shape[3],
                              bool transposed, const hpt_ring *ring, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t columns[3] = {shape[1], shape[2], shape[2]};
    hpt_value value;
    hpt_value_init(&value);
    for (int f = 0; f < 3; f++)
        for (size_t i = 0; i < item->form[f].count; i++) {
            hpt_monomial *term = &item->form[f].terms[i];
            int64_t row = term->key / HPT_KEY_COLUMNS, column = term->key % HPT_KEY_COLUMNS;
            hpt_value_set(&value, &term->coefficient);
            if (f == HPT_W) hpt_value_mul(&value, &value, &item->scalar, ring);
            int64_t entry = f == HPT_W && transposed ? column * columns[f] + row : row * columns[f] + column;
            HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, (int64_t)r, entry, hpt_builder_value(builder, &value),
                                     path, error));
        }
done:
    hpt_value_clear(&value);
    return status;
}

hpt_status hpt_products_finish(hpt_scheme **out, hpt_products *p, const hpt_input *source, const char *format,
                               const char *ring_name, bool transposed, bool decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    int64_t shape[3] = {0, 0, 0};
    hpt_ring_init(&ring);
    HPT_FAIL_IF(p->count == 0, HPT_MALFORMED, source->path, "There are no products in this file.");
    HPT_TRY(hpt_ring_parse(&ring, ring_name, "", error));
    HPT_TRY(find_shape(shape, &transposed, p, source, error));
    HPT_TRY(
        hpt_reader_start(&builder, source, format, shape[0], shape[1], shape[2], (int64_t)p->count, ring_name, error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, transposed ? HPT_OUTPUT_TRANSPOSED : HPT_OUTPUT_PLAIN);
    if (decimal) hpt_builder_set_decimal(builder);
    for (size_t r = 0; r < p->count; r++)
        HPT_TRY(add_product(builder, &p->items[r], r, shape, transposed, &ring, source->path, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}
