/* a1880's dump of the Brent equations: a line per equation, "111111: [ 1* 1* 1]+ -1* 1* 0 ... = 1": the six digits are
 * the entries of A, B and C, then come the three coefficients of every product. Each coefficient stands in many lines;
 * all of them must agree. Whatever follows "=" is the file's claim and not believed. */
#include "formats/cursor.h"
#include "formats/dense.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int hpt_brent_detect(const hpt_input *source);
hpt_status hpt_brent_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

enum { DIGITS = 6, SIDE = 10, UNSET = INT32_MIN };

/* At a line "dddddd:"? Its digits are read if it is. */
static bool take_label(int label[DIGITS], hpt_cursor *c) {
    if (c->length - c->at < DIGITS + 1 || c->text[c->at + DIGITS] != ':') return false;
    for (int i = 0; i < DIGITS; i++) {
        char digit = c->text[c->at + (size_t)i];
        if (digit < '1' || digit > '9') return false;
        label[i] = digit - '1';
    }
    c->at += DIGITS + 1;
    return true;
}

int hpt_brent_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    int label[DIGITS];
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_at_line_end(&c) || hpt_cursor_peek(&c) == '#') continue;
        return take_label(label, &c) ? 90 : 0;
    }
    return 0;
}

typedef struct table {
    int64_t shape[3], rank;
    int32_t *ids[3]; /* rank x 100: entries row * SIDE + column */
    int64_t capacity;
} table;

static hpt_status set(table *t, int f, int64_t r, int row, int column, int32_t id, const hpt_cursor *c,
                      hpt_error *error) {
    if (r >= t->capacity) {
        int64_t capacity = t->capacity ? t->capacity * 2 : 32;
        for (int k = 0; k < 3; k++) {
            int32_t *ids = realloc(t->ids[k], (size_t)capacity * SIDE * SIDE * sizeof *ids);
            if (!ids) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
            t->ids[k] = ids;
            for (int64_t i = t->capacity * SIDE * SIDE; i < capacity * SIDE * SIDE; i++) ids[i] = UNSET;
        }
        t->capacity = capacity;
    }
    int32_t *cell = &t->ids[f][r * SIDE * SIDE + row * SIDE + column];
    if (*cell != UNSET && *cell != id)
        return hpt_cursor_fail(c, HPT_LIES, error,
                               "Before this place, product %lld has another coefficient than above.", (long long)r + 1);
    *cell = id;
    return HPT_OK;
}

static void skip_noise(hpt_cursor *c) {
    while (!hpt_cursor_at_line_end(c) && strchr(" \t[]+", hpt_cursor_peek(c)) && hpt_cursor_peek(c)) c->at++;
}

/* The products of one equation, up to "=". */
static hpt_status read_equation(table *t, const int label[DIGITS], hpt_cursor *c, hpt_builder *builder,
                                const hpt_ring *ring, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t r = 0;
    for (;; r++) {
        skip_noise(c);
        if (hpt_cursor_peek(c) == '=') break;
        for (int f = 0; f < 3; f++) {
            int32_t id;
            hpt_cursor_skip_blanks(c);
            HPT_TRY(hpt_cursor_value(&id, c, f < 2 ? "* \t" : " \t]+=\r\n", builder, ring, error));
            HPT_TRY(set(t, f, r, label[2 * f], label[2 * f + 1], id, c, error));
            hpt_cursor_skip_blanks(c);
            if (f < 2 && !hpt_cursor_take(c, "*"))
                return hpt_cursor_fail(c, HPT_MALFORMED, error, "\"*\" is expected here.");
        }
    }
    if (t->rank == 0) t->rank = r;
    if (r != t->rank || r == 0)
        return hpt_cursor_fail(c, HPT_LIES, error, "This equation has %lld products, those above have %lld.",
                               (long long)r, (long long)t->rank);
done:
    return status;
}

static hpt_status build(hpt_scheme **out, const table *t, hpt_builder *builder, const hpt_input *source,
                        hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_dense dense = {0};
    const int64_t rows[3] = {t->shape[0], t->shape[1], t->shape[0]},
                  columns[3] = {t->shape[1], t->shape[2], t->shape[2]};
    for (int f = 0; f < 3; f++)
        for (int64_t r = 0; r < t->rank; r++)
            for (int64_t e = 0; e < rows[f] * columns[f]; e++) {
                int32_t id = t->ids[f][r * SIDE * SIDE + e / columns[f] * SIDE + e % columns[f]];
                HPT_FAIL_IF(id == UNSET, HPT_LIES, source->path, "The equations do not mention every coefficient.");
                HPT_FAIL_IF(!hpt_dense_push(&dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
            }
    const hpt_dense_layout layout = {{t->shape[0], t->shape[1], t->shape[2]}, t->rank, false, false};
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    return status;
}

hpt_status hpt_brent_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    table t = {{0, 0, 0}, 0, {NULL, NULL, NULL}, 0};
    int label[DIGITS], rows[3] = {0, 0, 0}, columns[3] = {0, 0, 0};
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&ring);
    HPT_TRY(hpt_reader_start(&builder, source, "brent", 1, 1, 1, 1, "Q", error));
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (!take_label(label, &c)) continue;
        for (int f = 0; f < 3; f++) {
            if (label[2 * f] >= rows[f]) rows[f] = label[2 * f] + 1;
            if (label[2 * f + 1] >= columns[f]) columns[f] = label[2 * f + 1] + 1;
        }
        HPT_TRY(read_equation(&t, label, &c, builder, &ring, error));
    }
    HPT_FAIL_IF(columns[0] != rows[1] || rows[0] != rows[2] || columns[1] != columns[2], HPT_UNSUPPORTED, source->path,
                "Matrices of %d x %d, %d x %d and %d x %d do not belong to a product of matrices.", rows[0], columns[0],
                rows[1], columns[1], rows[2], columns[2]);
    t.shape[0] = rows[0], t.shape[1] = columns[0], t.shape[2] = columns[1];
    HPT_FAIL_IF(t.rank == 0, HPT_MALFORMED, source->path, "There are no equations.");
    HPT_TRY(build(out, &t, builder, source, error));
done:
    for (int f = 0; f < 3; f++) free(t.ids[f]);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}
