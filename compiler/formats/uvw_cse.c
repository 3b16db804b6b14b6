/* uvw-txt after elimination of common subexpressions: U and V have more rows and W more columns than the scheme, for
 * temporaries that three further blocks define over the plain entries and products. */
#include "formats/uvw.h"
#include <stdlib.h>
#include <string.h>

int hpt_uvw_cse_detect(const hpt_input *source);
hpt_status hpt_uvw_cse_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

int hpt_uvw_cse_detect(const hpt_input *source) {
    return memmem(source->bytes, source->length, "# Substitution", 14) ? hpt_uvw_score(source) : 0;
}

/* A dense block of exact numbers. */
typedef struct dense {
    int64_t rows, columns;
    fmpq *cells;
} dense;

static hpt_status read_dense(dense *out, const hpt_uvw_block *block, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t count;
    HPT_FAIL_IF(!hpt_mul_size(&count, (size_t)block->rows, (size_t)block->columns), HPT_TOO_LARGE, source->path,
                "A block is too large.");
    out->cells = calloc(count + 1, sizeof *out->cells);
    HPT_FAIL_NO_MEMORY(out->cells);
    out->rows = block->rows, out->columns = block->columns;
    for (size_t i = 0; i < count; i++) fmpq_init(out->cells + i);
    hpt_cursor c = hpt_cursor_start(source);
    c.at = block->from;
    for (size_t i = 0; i < count; i++) {
        size_t used;
        hpt_cursor_skip_spaces(&c);
        bool minus = hpt_cursor_take(&c, "-");
        HPT_TRY(hpt_cursor_number(out->cells + i, &c, true, &used, NULL, error));
        if (used == 0 || (!hpt_cursor_at_line_end(&c) && !strchr(" \t", hpt_cursor_peek(&c)))) {
            status = hpt_cursor_fail(&c, HPT_MALFORMED, error, "A number is expected here.");
            goto done;
        }
        if (minus) fmpq_neg(out->cells + i, out->cells + i);
    }
done:
    return status;
}

static void clear_dense(dense *d) {
    for (int64_t i = 0; d->cells && i < d->rows * d->columns; i++) fmpq_clear(d->cells + i);
    free(d->cells);
}

/* entry e of product r: the plain cell plus the temporaries' shares. */
static void expand(fmpq_t out, const dense *block, const dense *substitution, int f, int64_t e, int64_t r,
                   int64_t plain) {
    fmpq_set(out, block->cells + e * block->columns + r);
    for (int64_t q = 0; q < substitution->rows; q++) {
        const fmpq *share =
            f < 2 ? block->cells + (plain + q) * block->columns + r : block->cells + e * block->columns + plain + q;
        fmpq_addmul(out, share, substitution->cells + q * substitution->columns + (f < 2 ? e : r));
    }
}

static hpt_status fill(hpt_builder *builder, const dense *blocks, const int64_t entries[3], int64_t rank,
                       const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_value value;
    fmpq_t cell;
    hpt_value_init(&value);
    fmpq_init(cell);
    for (int f = 0; f < 3; f++)
        for (int64_t r = 0; r < rank; r++)
            for (int64_t e = 0; e < entries[f]; e++) {
                expand(cell, &blocks[f], &blocks[f + 3], f, e, r, f < 2 ? entries[f] : rank);
                hpt_value_set_fmpq(&value, cell);
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, e, hpt_builder_value(builder, &value), source->path,
                                         error));
            }
done:
    fmpq_clear(cell);
    hpt_value_clear(&value);
    return status;
}

hpt_status hpt_uvw_cse_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_uvw uvw;
    dense blocks[HPT_UVW_BLOCKS] = {{0, 0, NULL}};
    int64_t shape[3];
    HPT_TRY(hpt_uvw_scan(&uvw, source, error));
    HPT_FAIL_IF(uvw.count < 3 || uvw.parameter, HPT_MALFORMED, source->path,
                "Three blocks of numbers and three of substitutions are needed.");
    const hpt_uvw_block *b = uvw.blocks;
    int64_t rank = b[0].columns;
    const int64_t entries[3] = {b[0].rows - b[3].rows, b[1].rows - b[4].rows, b[2].rows};
    HPT_FAIL_IF(b[1].columns != rank || b[2].columns - b[5].rows != rank, HPT_LIES, source->path,
                "The blocks have %lld, %lld and %lld - %lld products (columns).", (long long)rank,
                (long long)b[1].columns, (long long)b[2].columns, (long long)b[5].rows);
    HPT_TRY(hpt_shape_from_entries(shape, entries, source, error));
    const int64_t widths[3] = {entries[0], entries[1], rank};
    for (int f = 0; f < 3; f++)
        HPT_FAIL_IF(b[f + 3].rows > 0 && b[f + 3].columns != widths[f], HPT_LIES, source->path,
                    "The substitutions of factor %s have %lld columns, not %lld.", hpt_factor_name((hpt_factor)f),
                    (long long)b[f + 3].columns, (long long)widths[f]);
    HPT_TRY(hpt_reader_start(&builder, source, "uvw-txt-cse", shape[0], shape[1], shape[2], rank, "Q", error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    for (int i = 0; i < HPT_UVW_BLOCKS; i++) HPT_TRY(read_dense(&blocks[i], &b[i], source, error));
    HPT_TRY(fill(builder, blocks, entries, rank, source, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    for (int i = 0; i < HPT_UVW_BLOCKS; i++) clear_dense(&blocks[i]);
    hpt_builder_destroy(builder);
    return status;
}
