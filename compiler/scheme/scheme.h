/* scheme.h - the scheme's record and how one is built. Promises:
 *   - a finished scheme never changes, except that its canonical hash is computed on first use (under a lock).
 *   - rows are sparse and sorted; value id 0 is 1; no stored coefficient is zero; no row is empty unless `zero_rows`
 * was asked for (reductions modulo p may lose a product).
 *   - the ring is the smallest that holds the coefficients, of the kind the builder was told: Z before Q before the
 * field. A reader makes a builder, interns values, adds terms in any order (each entry once), and finishes it. Places
 * ("where") in the builder's errors are products and entries counted from 1.
 */
#ifndef HPT_SCHEME_INTERNAL_H
#define HPT_SCHEME_INTERNAL_H

#include "scheme/value.h"
#include <heptane/scheme.h>
#include <pthread.h>

enum {
    HPT_SCHEME_SIDE = 4096,       /* largest n, m, p */
    HPT_SCHEME_ENTRIES = 1 << 16, /* most entries of a factor's row */
    HPT_SCHEME_RANK = 1 << 22
};

struct hpt_scheme {
    int32_t n, m, p, rank;
    hpt_ring ring;
    size_t *start[3];  /* rank + 1 row starts per factor */
    int32_t *index[3]; /* entries */
    int32_t *value[3]; /* value ids */
    int32_t value_count;
    hpt_value *values;
    char **texts;
    char *name, *format, *source, *convention; /* convention: what a reader found out by checking, or "" */
    bool decimal;                              /* the file held decimal fractions: not exact unless they check out */
    bool forced_ring;                          /* the caller chose the ring */
    bool verified;                             /* `known` is the verdict; set before the scheme is handed out */
    hpt_verification known;
    pthread_mutex_t lock;
    char hash[HPT_HASH_LENGTH]; /* "" until it is asked for */
};

const hpt_ring *hpt_scheme_ring_record(const hpt_scheme *scheme);
const hpt_value *hpt_scheme_value(const hpt_scheme *scheme, int32_t value);

typedef struct hpt_builder hpt_builder;

/* Checks the shape against the limits above. */
hpt_status hpt_builder_create(hpt_builder **out, int64_t n, int64_t m, int64_t p, int64_t rank, const char *where,
                              hpt_error *error);
/* Another shape, before the first term: for readers that learn it after the values. */
hpt_status hpt_builder_reshape(hpt_builder *builder, int64_t n, int64_t m, int64_t p, int64_t rank, const char *where,
                               hpt_error *error);
void hpt_builder_destroy(hpt_builder *builder); /* NULL is fine */
/* The ring of all values; Q at first. Set it before values are interned. */
void hpt_builder_set_ring(hpt_builder *builder, const hpt_ring *ring, bool forced);
void hpt_builder_set_text(hpt_builder *builder, const char *name, const char *format, const char *source,
                          const char *convention); /* NULL leaves one as it is */
/* From now on adding terms ends with HPT_INTERRUPTED after an interruption. */
void hpt_builder_watch(hpt_builder *builder, const hpt_progress *progress);
hpt_status hpt_reading_interrupted(const char *where, hpt_error *error); /* what it and the readers say then */
void hpt_builder_set_decimal(hpt_builder *builder);
void hpt_builder_allow_zero_rows(hpt_builder *builder);
/* The id of a value, -1 for zero, -2 when memory ran out. */
int32_t hpt_builder_value(hpt_builder *builder, const hpt_value *value);
int32_t hpt_builder_integer(hpt_builder *builder, int64_t value);
/* Adds a term; id -1 adds nothing, id -2 reports lack of memory. Indices count from 0. */
hpt_status hpt_builder_term(hpt_builder *builder, hpt_factor factor, int64_t product, int64_t entry, int32_t id,
                            const char *where, hpt_error *error);
/* Sorts, checks and hands over the scheme; the builder is then empty and only good for destroying. `where` is the file.
 */
hpt_status hpt_builder_finish(hpt_scheme **out, hpt_builder *builder, const char *where, hpt_error *error);

/* The same coefficients over another ring ("GF(2)", "Z", ...); HPT_UNSUPPORTED where one is not in it. */
hpt_status hpt_scheme_over(hpt_scheme **out, const hpt_scheme *scheme, const char *ring, hpt_error *error);
/* The name of a factor for messages: "u", "v", "w". */
const char *hpt_factor_name(hpt_factor factor);

#endif
