/* uvw.h - blocks of numbers between lines that start with '#': rows are entries, columns are products. */
#ifndef HPT_FORMATS_UVW_H
#define HPT_FORMATS_UVW_H

#include "formats/cursor.h"
#include "formats/dense.h"

enum { HPT_UVW_BLOCKS = 6 };

typedef struct hpt_uvw_block {
    size_t from;           /* first byte */
    int64_t rows, columns; /* of numbers; 0 x 0 for an empty block */
} hpt_uvw_block;

typedef struct hpt_uvw {
    hpt_uvw_block blocks[HPT_UVW_BLOCKS];
    int count;
    bool parameter; /* the letter x occurs */
} hpt_uvw;

/* Finds the blocks and counts their rows and columns; every row of a block must have as many numbers. */
hpt_status hpt_uvw_scan(hpt_uvw *out, const hpt_input *source, hpt_error *error);
/* The letter-free grammar's extension: [-][num]x[d][i], sums in parentheses. */
hpt_status hpt_uvw_value(int32_t *id, hpt_cursor *c, hpt_builder *builder, const hpt_ring *ring, hpt_error *error);
int hpt_uvw_score(const hpt_input *source);

#endif
