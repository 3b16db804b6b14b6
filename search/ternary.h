/* ternary.h - schemes with coefficients -1, 0, 1 (or 0, 1 over GF(2)) as bit masks, for searching. Promises:
 *   - a product holds three vectors of at most 64 entries, each as the masks of its +1 and its -1 (over GF(2): plus
 * only).
 *   - normal form of a product: the first non-zero entries of U and V are +1; equal rank-one tensors have equal normal
 *     forms. Normal form of a scheme: normal products, sorted. So sets of rank-one tensors compare with memcmp.
 *   - checks are exact: every Brent equation.
 */
#ifndef HPT_TERNARY_H
#define HPT_TERNARY_H

#include "core.h"
#include <heptane/scheme.h>

enum { HPT_TERNARY_RANK = 128, HPT_TERNARY_ENTRIES = 64 };

typedef struct hpt_ternary_vector {
    uint64_t plus, minus;
} hpt_ternary_vector;

typedef struct hpt_ternary_product {
    hpt_ternary_vector factor[3]; /* U, V, W */
} hpt_ternary_product;

typedef struct hpt_ternary_shape {
    int32_t n, m, p, rank;
    bool modulo2; /* over GF(2) */
} hpt_ternary_shape;

bool hpt_ternary_shape_equal(const hpt_ternary_shape *a, const hpt_ternary_shape *b);
int32_t hpt_ternary_entries(const hpt_ternary_shape *shape, hpt_factor factor);
hpt_ternary_vector hpt_ternary_negate(hpt_ternary_vector v);
/* a + b or a - b, false if an entry leaves -1 .. 1. */
bool hpt_ternary_add(hpt_ternary_vector *out, hpt_ternary_vector a, hpt_ternary_vector b, bool modulo2);
void hpt_ternary_normalise(hpt_ternary_product *products, int32_t rank);
int hpt_ternary_compare(const hpt_ternary_product *a, const hpt_ternary_product *b);
/* Every Brent equation, over Z or GF(2). */
bool hpt_ternary_check(const hpt_ternary_product *products, const hpt_ternary_shape *shape);
void hpt_ternary_textbook(hpt_ternary_product *products, const hpt_ternary_shape *shape); /* rank n m p */
hpt_ternary_vector hpt_ternary_transpose(hpt_ternary_vector v, int32_t rows, int32_t columns);
/* The roles of the three matrices, on a whole scheme: one step of the cycle makes <n,m,p> <m,p,n>; reflection (Z = X Y
 * read as Z^T = Y^T X^T) makes it <p,m,n>. */
void hpt_ternary_rotate(hpt_ternary_product *products, hpt_ternary_shape *shape);
void hpt_ternary_reflect(hpt_ternary_product *products, hpt_ternary_shape *shape);
/* Fewest writes (by annealing, an upper bound; by dynamic programming if exact and rank <= 23), and without chaining.
 */
hpt_status hpt_ternary_writes(int32_t *writes, const hpt_ternary_product *products, const hpt_ternary_shape *shape,
                              bool exact, hpt_error *error);
int32_t hpt_ternary_join(hpt_ternary_vector w, hpt_ternary_vector z); /* what chaining them costs */
int32_t hpt_ternary_nonzeros(const hpt_ternary_product *products, int32_t rank, hpt_factor factor);

/* To and from the scheme record. */
hpt_status hpt_ternary_to_scheme(hpt_scheme **out, const hpt_ternary_product *products, const hpt_ternary_shape *shape,
                                 const char *source, hpt_error *error);
/* HPT_UNSUPPORTED if a coefficient is not -1, 0, 1 or a side is too large. */
hpt_status hpt_ternary_of_scheme(hpt_ternary_product *products, hpt_ternary_shape *shape, const hpt_scheme *scheme,
                                 hpt_error *error);

/* A growing list of schemes of one shape, normalised; `set` sorts and drops equals. */
typedef struct hpt_ternary_list {
    int32_t rank;
    size_t count, capacity;
    hpt_ternary_product *products; /* count x rank */
} hpt_ternary_list;
hpt_status hpt_ternary_list_add(hpt_ternary_list *list, const hpt_ternary_product *products, hpt_error *error);
void hpt_ternary_list_set(hpt_ternary_list *list);
const hpt_ternary_product *hpt_ternary_list_at(const hpt_ternary_list *list, size_t i);
/* In a set: its index, or list->count. */
size_t hpt_ternary_list_find(const hpt_ternary_list *list, const hpt_ternary_product *products);
bool hpt_ternary_list_equal(const hpt_ternary_list *a, const hpt_ternary_list *b); /* two sets */
void hpt_ternary_list_clear(hpt_ternary_list *list);

#endif
