/* heptane/scheme.h - a rank-R decomposition of the (n x m) times (m x p) matrix-multiplication tensor, exact.
 *
 * A scheme holds three factors of R rows: U (alpha, over the n m entries of X), V (beta, over the m p entries of Y) and
 * W (rho, over the n p entries of Z = X Y itself, never its transpose). Entries are row-major and counted from 0 here;
 * everything a person reads counts from 1. Rows are sparse: only non-zero coefficients are kept, by rising index.
 * A coefficient is a number ("value id") in the scheme's table of distinct values, so that a scheme of a million terms
 * with four different coefficients does four pieces of exact arithmetic. Value id 0 is always 1.
 *
 * Handles are opaque and immutable once built (hpt_scheme_builder_finish); sharing one between threads is safe.
 * Source: Brent equations, DESIGN section 2.
 */
#ifndef HEPTANE_SCHEME_H
#define HEPTANE_SCHEME_H

#include <heptane/progress.h>
#include <heptane/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpt_scheme hpt_scheme;

typedef enum hpt_factor { HPT_U = 0, HPT_V = 1, HPT_W = 2 } hpt_factor;

typedef struct hpt_terms { /* one row of a factor: a view into the scheme, valid as long as it lives */
    size_t count;
    const int32_t *index; /* entry numbers, rising */
    const int32_t *value; /* value ids */
} hpt_terms;

int32_t hpt_scheme_n(const hpt_scheme *scheme);
int32_t hpt_scheme_m(const hpt_scheme *scheme);
int32_t hpt_scheme_p(const hpt_scheme *scheme);
int32_t hpt_scheme_rank(const hpt_scheme *scheme);
/* Entries of a factor's row: n m, m p or n p. */
int32_t hpt_scheme_entries(const hpt_scheme *scheme, hpt_factor factor);
hpt_terms hpt_scheme_terms(const hpt_scheme *scheme, hpt_factor factor, int32_t product);
size_t hpt_scheme_nonzeros(const hpt_scheme *scheme, hpt_factor factor);

/* Where the scheme came from: a file or catalogue name and the format that read it; "" if built in memory. */
const char *hpt_scheme_name(const hpt_scheme *scheme);
const char *hpt_scheme_format(const hpt_scheme *scheme);
/* What a reader found out by checking where the file left it open ("third factor transposed"), or "". */
const char *hpt_scheme_convention(const hpt_scheme *scheme);
/* Where the scheme was published, as its file says, or "". */
const char *hpt_scheme_source(const hpt_scheme *scheme);
/* The one thing that may be changed, and only before the scheme is shared. */
hpt_status hpt_scheme_set_source(hpt_scheme *scheme, const char *source, hpt_error *error);
/* The ring's name: "Z", "Q", "Q(i)", "Q(sqrt(3))", "Q[x]/(x^4 - 4/3)", "GF(2)", "GF(4)", "Q[x,1/x]". */
const char *hpt_scheme_ring(const hpt_scheme *scheme);
/* True if every coefficient is a real number that kernels can use (Z, Q and real number fields). */
bool hpt_scheme_is_real(const hpt_scheme *scheme);

int32_t hpt_scheme_value_count(const hpt_scheme *scheme);
/* Exact text of a value ("-1", "3/4", "1/2+1/2i", "3/4*rho^3"); lives as long as the scheme. */
const char *hpt_scheme_value_text(const hpt_scheme *scheme, int32_t value);
/* Nearest double of a real value (NaN if it is not real). */
double hpt_scheme_value_double(const hpt_scheme *scheme, int32_t value);
/* True if the value is a rational whose numerator and denominator fit; denominator > 0. */
bool hpt_scheme_value_rational(const hpt_scheme *scheme, int32_t value, int64_t *numerator, int64_t *denominator);

/* Canonical identity: 64 hexadecimal digits (SHA-256 of a canonical text), the same for every order and scaling of the
 * products and every file format, different for different sets of rank-one tensors. */
const char *hpt_scheme_hash(const hpt_scheme *scheme);

void hpt_scheme_destroy(hpt_scheme *scheme); /* NULL is fine */

/* ---- reading and writing ---------------------------------------------------------------------------------------- */
typedef struct hpt_read_options {
    int32_t n, m, p;              /* 0: from the file. Needed where neither file nor entry counts tell */
    const char *ring;             /* NULL: the smallest ring that holds the coefficients (README, "Which ring") */
    const char *format;           /* NULL: detected from content */
    const hpt_progress *progress; /* NULL: silent. Settling what a file leaves open means verifying it */
} hpt_read_options;

/* Reads one scheme. `name` is a path, FILE#MEMBER, FILE#k, "-" or a catalogue name; an existing file beats a catalogue
 * name. The scheme is NOT yet verified. On failure `error` holds file, line and column (or array and index). */
hpt_status hpt_scheme_read(hpt_scheme **out, const char *name, const hpt_read_options *options, hpt_error *error);
/* Writes in a format by its name ("heptane" if NULL). *text is malloc'd, the caller frees it. */
hpt_status hpt_scheme_write(char **text, size_t *length, const hpt_scheme *scheme, const char *format,
                            hpt_error *error);

/* ---- exact verification ----------------------------------------------------------------------------------------- */
typedef enum hpt_verdict { HPT_VERDICT_PROVED, HPT_VERDICT_REFUTED, HPT_VERDICT_UNDECIDED } hpt_verdict;

typedef struct hpt_verification {
    hpt_verdict verdict;
    char ring[160];           /* the ring it was checked over */
    int64_t equations;        /* (n m)(m p)(n p) */
    int64_t failing;          /* how many equations fail (0 if proved) */
    int32_t a[2], b[2], c[2]; /* the first failing equation, counted from 1: X_ij, Y_kl, Z_uv */
    char expected[64], got[64];
    int32_t border_degree; /* Laurent schemes: exact up to O(x^border_degree), else 0 */
    double residual;       /* decimal schemes that are not exact: largest absolute residual, else 0 */
    char note[256];        /* what a person should know ("holds mod 2"), or "" */
} hpt_verification;

/* Checks every Brent equation exactly. Returns HPT_OK whatever the verdict; an error only if it could not be checked.
 */
hpt_status hpt_scheme_verify(hpt_verification *out, const hpt_scheme *scheme, hpt_error *error);
/* The same, watched: HPT_INTERRUPTED if it was stopped; then nothing is proved and *out says nothing. */
hpt_status hpt_scheme_verify_watched(hpt_verification *out, const hpt_scheme *scheme, const hpt_progress *progress,
                                     hpt_error *error);

#ifdef __cplusplus
}
#endif
#endif
