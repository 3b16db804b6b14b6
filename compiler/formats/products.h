/* products.h - schemes given as formulas: a list of products with forms in the entries of A, B and C. */
#ifndef HPT_FORMATS_PRODUCTS_H
#define HPT_FORMATS_PRODUCTS_H

#include "formats/expression.h"

typedef struct hpt_products {
    hpt_expression *items; /* kinds: 0 = A, 1 = B, 2 = C; keys row * HPT_KEY_COLUMNS + column, from 0 */
    size_t count, capacity;
} hpt_products;

/* A new product, 0 at first; NULL without memory. The pointer is good until the next call. */
hpt_expression *hpt_products_add(hpt_products *products);
void hpt_products_clear(hpt_products *products);
/* Reads "11", "1_2", "_1_2", "[1,2]" after a letter; exactly two digits, since "111" is ambiguous. */
hpt_status hpt_entry_scan(int64_t *key, hpt_cursor *c, hpt_error *error);
/* The shape from the largest indices; `transposed` is what the format says of C where the shape does not tell. */
hpt_status hpt_products_finish(hpt_scheme **out, hpt_products *products, const hpt_input *source, const char *format,
                               const char *ring, bool transposed, bool decimal, hpt_error *error);

#endif
