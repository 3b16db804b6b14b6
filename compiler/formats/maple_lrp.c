/* Maple files with three lists of lists L, R, P: a row of L and R per product (A and B by columns), a row of P per
 * entry of C. */
#include "formats/dense.h"
#include "formats/expression.h"
#include <string.h>

int hpt_maple_lrp_detect(const hpt_input *source);
hpt_status hpt_maple_lrp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

/* The next "[[", or NULL. */
static const char *find_list(const hpt_input *source, size_t from) {
    return memmem(source->bytes + from, source->length - from, "[[", 2);
}

int hpt_maple_lrp_detect(const hpt_input *source) {
    size_t from = 0;
    if (!memmem(source->bytes, source->length, ":=", 2) || memmem(source->bytes, source->length, "Triad", 5)) return 0;
    for (int i = 0; i < 3; i++) {
        const char *at = find_list(source, from);
        if (!at) return 0;
        from = (size_t)(at - source->bytes) + 2;
    }
    return 55;
}

static hpt_status read_list(hpt_dense *dense, int f, int64_t size[2], hpt_builder *builder,
                            hpt_expression_parser *parser, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = parser->cursor;
    hpt_expression value;
    hpt_expression_init(&value);
    HPT_TRY(hpt_cursor_expect(c, "[", error));
    do {
        int64_t columns = 0;
        HPT_TRY(hpt_cursor_expect(c, "[", error));
        do {
            hpt_expression_clear(&value);
            hpt_expression_init(&value);
            HPT_TRY(hpt_expression_parse(&value, parser, error));
            int32_t id = hpt_builder_value(builder, &value.scalar);
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
            columns++;
        } while (hpt_cursor_comma(c));
        HPT_TRY(hpt_cursor_expect(c, "]", error));
        if (size[0] == 0) size[1] = columns;
        if (columns != size[1]) {
            status = hpt_cursor_fail(c, HPT_LIES, error, "This row has %lld numbers instead of %lld.",
                                     (long long)columns, (long long)size[1]);
            goto done;
        }
        size[0]++;
    } while (hpt_cursor_comma(c));
    HPT_TRY(hpt_cursor_expect(c, "]", error));
done:
    hpt_expression_clear(&value);
    return status;
}

/* Entry e of a product's row in the file, as the row-major entry. */
static int64_t entry_of(int f, int64_t e, const int64_t shape[3]) {
    const int64_t rows[3] = {shape[0], shape[1], shape[0]}, columns[3] = {shape[1], shape[2], shape[2]};
    return f == HPT_W ? e : e % rows[f] * columns[f] + e / rows[f];
}

hpt_status hpt_maple_lrp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_ring ring;
    int64_t size[3][2] = {{0, 0}, {0, 0}, {0, 0}}, shape[3];
    hpt_cursor c = hpt_cursor_start(source);
    hpt_expression_parser parser = {.cursor = &c, .ring = &ring, .newlines = true};
    hpt_ring_init(&ring);
    HPT_TRY(hpt_reader_start(&builder, source, "maple-lrp", 1, 1, 1, 1, "Q", error));
    for (int f = 0; f < 3; f++) {
        const char *at = find_list(source, c.at);
        HPT_FAIL_IF(!at, HPT_MALFORMED, source->path, "Three lists of lists are needed; there are %d.", f);
        c.at = (size_t)(at - source->bytes);
        HPT_TRY(read_list(&dense, f, size[f], builder, &parser, error));
    }
    int64_t rank = size[0][0];
    HPT_FAIL_IF(size[1][0] != rank || size[2][1] != rank, HPT_LIES, source->path,
                "L has %lld products, R %lld and P %lld.", (long long)rank, (long long)size[1][0],
                (long long)size[2][1]);
    HPT_TRY(hpt_shape_from_entries(shape, (const int64_t[3]){size[0][1], size[1][1], size[2][0]}, source, error));
    HPT_TRY(hpt_builder_reshape(builder, shape[0], shape[1], shape[2], rank, source->path, error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    for (int f = 0; f < 3; f++)
        for (int64_t i = 0; i < (int64_t)dense.count[f]; i++) {
            int64_t row = i / size[f][1], column = i % size[f][1];
            int64_t r = f == HPT_W ? column : row, e = f == HPT_W ? row : column;
            HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, entry_of(f, e, shape), dense.ids[f][i], source->path,
                                     error));
        }
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}
