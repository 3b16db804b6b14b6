/* A notebook cell: name = (np.array([[...]]), np.array(...), np.array(...)); rows are entries, columns are products,
 * the third factor is over C^T. Numbers are Python's: 0., -0., 0.5+0.5j, "0. -0.5j". */
#include "formats/cursor.h"
#include "formats/dense.h"
#include <stdlib.h>
#include <string.h>

int hpt_numpy_text_detect(const hpt_input *source);
hpt_status hpt_numpy_text_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

static const char *find_array(const hpt_input *source, size_t from) {
    return memmem(source->bytes + from, source->length - from, "np.array([[", 11);
}

int hpt_numpy_text_detect(const hpt_input *source) {
    size_t from = 0;
    for (int i = 0; i < 3; i++) {
        const char *at = find_array(source, from);
        if (!at) return 0;
        from = (size_t)(at - source->bytes) + 1;
    }
    return 85;
}

static hpt_status read_array(hpt_dense *dense, int f, int64_t *rows, int64_t *columns, hpt_cursor *c,
                             hpt_builder *builder, const hpt_ring *ring, hpt_error *error) {
    hpt_status status = HPT_OK;
    *rows = 0;
    HPT_TRY(hpt_cursor_expect(c, "[", error));
    do {
        int64_t count = 0;
        HPT_TRY(hpt_cursor_expect(c, "[", error));
        do {
            int32_t id;
            hpt_cursor_skip_spaces(c);
            HPT_TRY(hpt_cursor_value(&id, c, ",]", builder, ring, error));
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
            count++;
        } while (hpt_cursor_comma(c));
        HPT_TRY(hpt_cursor_expect(c, "]", error));
        if (*columns == 0) *columns = count;
        if (count != *columns)
            return hpt_cursor_fail(c, HPT_LIES, error, "This row has %lld numbers instead of %lld.", (long long)count,
                                   (long long)*columns);
        (*rows)++;
    } while (hpt_cursor_comma(c));
    HPT_TRY(hpt_cursor_expect(c, "]", error));
done:
    return status;
}

/* FILE#k: over the arrays of the k - 1 schemes before. */
static hpt_status skip_schemes(hpt_cursor *c, const hpt_input *source, hpt_error *error) {
    char *end;
    long which = source->member ? strtol(source->member, &end, 10) : 1;
    if (which < 1 || (source->member && *end))
        return hpt_error_set(error, HPT_NOT_FOUND, source->path, "There is no scheme \"%.40s\".", source->member);
    for (long i = 0; i < 3 * (which - 1); i++) {
        const char *at = find_array(source, c->at);
        if (!at) return hpt_error_set(error, HPT_NOT_FOUND, source->path, "There are only %ld schemes here.", i / 3);
        c->at = (size_t)(at - source->bytes) + 1;
    }
    return HPT_OK;
}

hpt_status hpt_numpy_text_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_ring ring;
    int64_t entries[3], rank = 0;
    hpt_dense_layout layout = {.by_entry = true, .transposed = true};
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&ring);
    HPT_TRY(hpt_ring_parse(&ring, "Q(i)", "", error));
    HPT_TRY(hpt_reader_start(&builder, source, "numpy-text", 1, 1, 1, 1, "Q(i)", error));
    HPT_TRY(skip_schemes(&c, source, error));
    for (int f = 0; f < 3; f++) {
        const char *at = find_array(source, c.at);
        HPT_FAIL_IF(!at, HPT_MALFORMED, source->path, "Three arrays are needed; there are %d.", f);
        c.at = (size_t)(at - source->bytes) + strlen("np.array(");
        HPT_TRY(read_array(&dense, f, &entries[f], &rank, &c, builder, &ring, error));
    }
    HPT_TRY(hpt_shape_from_entries(layout.shape, entries, source, error));
    layout.rank = rank;
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}
