/* The canonical identity: every product is scaled so that the first coefficients of U and V are 1 (W takes the
 * scalars), printed, the products are sorted, and the SHA-256 of shape, ring and products is the hash. Over Q[x,1/x]
 * only units can be moved, so the first coefficient's lowest term becomes 1. */
#include "scheme/scheme.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scalar to divide a row by. */
static void leading_unit(hpt_value *out, const hpt_value *first, const hpt_ring *ring) {
    if (ring->kind != HPT_RING_LAURENT) {
        hpt_value_set(out, first);
        return;
    }
    fmpq_t lowest;
    fmpq_init(lowest);
    fmpq_poly_get_coeff_fmpq(lowest, first->poly, 0);
    hpt_value_set_generator(out, lowest, first->shift);
    fmpq_clear(lowest);
}

typedef struct printer {
    const hpt_scheme *scheme;
    hpt_value unit[3], scaled;
    bool rational; /* every coefficient so far */
} printer;

static void print_row(hpt_text *out, printer *c, hpt_factor factor, int32_t product) {
    const hpt_ring *ring = &c->scheme->ring;
    hpt_terms row = hpt_scheme_terms(c->scheme, factor, product);
    bool plain = hpt_value_is_one(&c->unit[factor]);
    for (size_t i = 0; i < row.count; i++) {
        const hpt_value *value = &c->scheme->values[row.value[i]];
        hpt_text_printf(out, "%d:", row.index[i]);
        if (plain) {
            hpt_value_set(&c->scaled, value);
        } else {
            bool divided = factor == HPT_W ? (hpt_value_mul(&c->scaled, value, &c->unit[HPT_W], ring), true)
                                           : hpt_value_div(&c->scaled, value, &c->unit[factor], ring);
            if (!divided) hpt_text_puts(out, "?"); /* cannot be: units divide */
        }
        c->rational = c->rational && hpt_value_is_rational(&c->scaled);
        hpt_value_print(out, &c->scaled, "t");
        hpt_text_puts(out, ",");
    }
    hpt_text_puts(out, factor == HPT_W ? "\n" : "|");
}

static void print_product(hpt_text *out, printer *c, int32_t product) {
    const hpt_ring *ring = &c->scheme->ring;
    hpt_value_set_si(&c->unit[HPT_W], 1);
    for (int f = HPT_U; f <= HPT_V; f++) {
        hpt_terms row = hpt_scheme_terms(c->scheme, (hpt_factor)f, product);
        if (row.count > 0)
            leading_unit(&c->unit[f], &c->scheme->values[row.value[0]], ring);
        else
            hpt_value_set_si(&c->unit[f], 1);
        hpt_value_mul(&c->unit[HPT_W], &c->unit[HPT_W], &c->unit[f], ring);
    }
    for (int f = 0; f < 3; f++) print_row(out, c, (hpt_factor)f, product);
}

static int compare_strings(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The ring's part in the identity: Z and Q are one, and a field that only rational numbers use is Q. */
static void print_ring(hpt_text *out, const hpt_ring *ring, bool rational) {
    bool plain = ring->kind == HPT_RING_RATIONAL || (rational && ring->kind != HPT_RING_FINITE);
    hpt_text_puts(out, plain ? "Q" : ring->name);
}

static void compute(hpt_scheme *s) {
    printer c = {.scheme = s, .rational = true};
    for (int f = 0; f < 3; f++) hpt_value_init(&c.unit[f]);
    hpt_value_init(&c.scaled);
    hpt_text text = {0};
    char **lines = calloc((size_t)s->rank, sizeof *lines);
    bool failed = !lines;
    for (int32_t r = 0; r < s->rank && !failed; r++) {
        hpt_text line = {0};
        print_product(&line, &c, r);
        lines[r] = line.data;
        failed = line.failed;
    }
    if (!failed) {
        qsort(lines, (size_t)s->rank, sizeof *lines, compare_strings);
        hpt_text_printf(&text, "heptane scheme 1\n%d %d %d %d ", s->n, s->m, s->p, s->rank);
        print_ring(&text, &s->ring, c.rational);
        hpt_text_puts(&text, "\n");
        for (int32_t r = 0; r < s->rank; r++) hpt_text_puts(&text, lines[r]);
    }
    if (!failed && !text.failed) hpt_sha256_hex(s->hash, text.data, text.length);
    for (int32_t r = 0; lines && r < s->rank; r++) free(lines[r]);
    free(lines);
    hpt_text_clear(&text);
    hpt_value_clear(&c.scaled);
    for (int f = 0; f < 3; f++) hpt_value_clear(&c.unit[f]);
}

const char *hpt_scheme_hash(const hpt_scheme *scheme) {
    hpt_scheme *s = (hpt_scheme *)scheme; /* the hash is a cache: the scheme stays the same to every caller */
    pthread_mutex_lock(&s->lock);
    if (s->hash[0] == '\0') compute(s);
    pthread_mutex_unlock(&s->lock);
    return s->hash;
}
