/* dense.h - factors given as full tables of coefficients. Promises:
 *   - values are interned while the file is read; shape and rank may be learnt later.
 *   - tables are product by product, or entry by entry (matrices whose columns are products).
 */
#ifndef HPT_FORMATS_DENSE_H
#define HPT_FORMATS_DENSE_H

#include "formats/formats.h"

typedef struct hpt_dense {
    int32_t *ids[3];
    size_t count[3], capacity[3];
} hpt_dense;

typedef struct hpt_dense_layout {
    int64_t shape[3], rank;
    bool by_entry;   /* cell order: entry, then product */
    bool transposed; /* the third factor is indexed by C^T (p x n, row-major) */
} hpt_dense_layout;

HPT_NODISCARD bool hpt_dense_push(hpt_dense *dense, int factor, int32_t id);
void hpt_dense_clear(hpt_dense *dense);
/* Checks the counts and hands the scheme over. */
hpt_status hpt_dense_finish(hpt_scheme **out, const hpt_dense *dense, hpt_builder *builder, const hpt_input *source,
                            const hpt_dense_layout *layout, hpt_error *error);
/* The same where each factor is a matrix, size[factor] its rows and columns: they tell the shape, and whether the third
 * is transposed. */
hpt_status hpt_dense_finish_matrices(hpt_scheme **out, const hpt_dense *dense, hpt_builder *builder,
                                     const hpt_input *source, int64_t size[3][2], int64_t rank, hpt_error *error);
/* n, m, p from nm, mp, np: n^2 = nm np / mp. HPT_UNSUPPORTED if there are none. */
hpt_status hpt_shape_from_entries(int64_t shape[3], const int64_t entries[3], const hpt_input *source,
                                  hpt_error *error);
/* The coefficient's text, "0" where there is none. */
const char *hpt_dense_cell(const hpt_scheme *scheme, hpt_factor factor, int32_t product, int32_t entry);
/* Prints the factor as rows of `separator`-separated numbers; see dense.c. */
typedef struct hpt_dense_style {
    const char *row_open, *row_close, *row_separator, *cell_separator;
    bool transposed, quote; /* third factor over C^T; fractions as JSON strings */
} hpt_dense_style;
hpt_status hpt_dense_write(hpt_text *out, const hpt_scheme *scheme, hpt_factor factor, const hpt_dense_style *style,
                           hpt_error *error);

#endif
