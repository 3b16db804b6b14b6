/* width.h - how wide tiles of turned roles are for so many rows (`--plan turned=W`,
 * templates/kernels/gemm/README.md). */
#ifndef HPT_WIDTH_H
#define HPT_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* The width that fits m rows: tiles of w rows, w a multiple of 16 up to 256, and as few rows of them in all as can be;
 * then as few tiles. One tile more than are needed must pay for its barriers: it has at least 160 rows. 256 for more
 * than HPT_WIDTH_ROWS. */
enum { HPT_WIDTH_ROWS = 2048 };
int64_t hpt_width(int64_t m);
/* The width that the fewest tiles would have. */
int64_t hpt_width_of_fewest(int64_t m);
/* The rows of these tiles, at least m: every number of rows from m up to them has the same width. m: up to
 * HPT_WIDTH_ROWS. */
int64_t hpt_width_rows(int64_t m);
/* A plan with the width for m rows where it says "turned=*". */
void hpt_width_fill(char *out, size_t room, const char *plan, int64_t m);

#endif
