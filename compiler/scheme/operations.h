/* operations.h - schemes out of schemes. Promises:
 *   - a correct scheme gives a correct scheme; nothing is assumed about the input, and nothing is verified here.
 *   - shapes follow the trace form tr(X Y Z'): with U n x m, V m x p, W n x p (W is indexed by Z itself).
 *   - two schemes meet in the smallest ring that holds both; HPT_UNSUPPORTED where there is none.
 * Source: the symmetries of the matrix-multiplication tensor, DESIGN section 2 (lifting).
 */
#ifndef HPT_OPERATIONS_H
#define HPT_OPERATIONS_H

#include "scheme/scheme.h"

/* (n, m, p) -> (m, p, n): U, V, W play the roles V, W^T, U^T. */
hpt_status hpt_scheme_cyclic(hpt_scheme **out, const hpt_scheme *s, hpt_error *error);
/* (n, m, p) -> (p, m, n): Z^T = Y^T X^T. */
hpt_status hpt_scheme_transpose(hpt_scheme **out, const hpt_scheme *s, hpt_error *error);
/* Both for blocks of blocks: (n n', m m', p p'), rank R R'. */
hpt_status hpt_scheme_tensor(hpt_scheme **out, const hpt_scheme *a, const hpt_scheme *b, hpt_error *error);
/* Side by side along one axis ('n', 'm' or 'p'), the other two sizes being equal: rank R + R'. */
hpt_status hpt_scheme_sum(hpt_scheme **out, const hpt_scheme *a, const hpt_scheme *b, char axis, hpt_error *error);
/* Rows and columns beyond (n, m, p) are taken for zero; products that then vanish are dropped. */
hpt_status hpt_scheme_project(hpt_scheme **out, const hpt_scheme *s, int32_t n, int32_t m, int32_t p, hpt_error *error);
/* The larger shape, the rest multiplied in the textbook way. */
hpt_status hpt_scheme_extend(hpt_scheme **out, const hpt_scheme *s, int32_t n, int32_t m, int32_t p, hpt_error *error);
/* Rank n m p over Z. */
hpt_status hpt_scheme_textbook(hpt_scheme **out, int32_t n, int32_t m, int32_t p, hpt_error *error);
/* Product r (from 0): u times a, v times b, w divided by a b. */
hpt_status hpt_scheme_scale(hpt_scheme **out, const hpt_scheme *s, int32_t r, const hpt_value *a, const hpt_value *b,
                            hpt_error *error);

/* A square matrix of values, row-major. */
typedef struct hpt_matrix {
    int32_t size;
    hpt_value *cells;
} hpt_matrix;
hpt_status hpt_matrix_init(hpt_matrix *out, int32_t size, hpt_error *error); /* the identity */
void hpt_matrix_clear(hpt_matrix *matrix);
/* "1,0;1/2,-1" */
hpt_status hpt_matrix_parse(hpt_matrix *out, const char *text, int32_t size, const hpt_ring *ring, const char *where,
                            hpt_error *error);
void hpt_matrix_print(hpt_text *out, const hpt_matrix *matrix, const char *generator);
HPT_NODISCARD bool hpt_matrix_invert(hpt_matrix *out, const hpt_matrix *matrix,
                                     const hpt_ring *ring); /* false: singular */
/* X -> L X M^-1, Y -> M Y N^-1 inside the forms, Z -> L^-1 Z N outside; L n x n, M m x m, N p x p over the scheme's
 * ring. */
hpt_status hpt_scheme_sandwich(hpt_scheme **out, const hpt_scheme *s, const hpt_matrix *l, const hpt_matrix *m,
                               const hpt_matrix *n, hpt_error *error);

#endif
