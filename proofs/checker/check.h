/* check.h - heptane-check, which trusts nobody. Promises:
 *   - shares no code with compiler/: its own reader (Jansson parses the JSON), its own arithmetic on GMP, its own
 * bounds.
 *   - every function either returns or ends the program through `reject` (the claim is false, exit 1) or `refuse` (the
 *     input cannot be read, exit 3); there is no third way out, so what is printed at the end has been checked.
 * Numbers are rationals. Products and outputs count from 0 here, from 1 in files and messages.
 */
#ifndef CHECK_H
#define CHECK_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PRODUCTS = 4096, MOST_SIDE = 256 };

typedef struct scheme {
    int n, m, p, rank;
    int entries[3];   /* n m, m p, n p */
    mpq_t *factor[3]; /* rank x entries */
} scheme;

typedef struct certificate {
    char digest[65];
    long writes;
    int chains;
    int *first;   /* chains + 1: where each begins in product[] */
    int *product; /* in chain order */
    mpq_t *scale;
    long bound;
    bool distinct; /* the bound is the number of products, since no two rho are proportional */
    long unit;     /* multipliers are in units of 1 / unit */
    char **tree;   /* the lines of the bound tree */
    int tree_lines;
    int first_tree_line; /* for messages */
} certificate;

_Noreturn void reject(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *need(size_t count, size_t size); /* zeroed memory or exit 4 */

/* scheme.c */
void scheme_read(scheme *out, const char *path);
void scheme_verify(const scheme *s);               /* every Brent equation */
void scheme_digest(char out[65], const scheme *s); /* order and scaling included */
bool scheme_products_independent(const scheme *s); /* as bilinear forms; false also when that was not shown */
mpq_t *scheme_row(const scheme *s, int factor, int product);
bool parse_number(mpq_t out, const char *text); /* "-3", "3/4" */

/* certificate.c */
void certificate_read(certificate *out, const scheme *s, const char *path);
/* chains.c */
long chains_count_writes(const certificate *c, const scheme *s);
/* bounds.c: rejects unless the certificate's bound is proved. */
void bounds_check(const certificate *c, const scheme *s);

#endif
