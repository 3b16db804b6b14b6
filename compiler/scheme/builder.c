/* Collects terms, then sorts them into sparse rows. Values are interned by their text in an open hash table. */
#include "scheme/scheme.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 128, NO_VALUE = -1, NO_MEMORY = -2, UNKNOWN = -3 };

typedef struct term {
    int32_t product, entry, value;
} term;

typedef struct term_list {
    term *data;
    size_t count, capacity;
} term_list;

struct hpt_builder {
    hpt_scheme *scheme; /* owns ring, values and texts while it is built */
    term_list terms[3];
    int32_t *table; /* value ids, UNKNOWN where free */
    size_t table_size;
    int32_t value_capacity;
    int32_t small[2 * SMALL + 1]; /* ids of small integers, UNKNOWN at first */
    bool zero_rows;
    const hpt_progress *progress; /* may be NULL */
};

static uint64_t hash_text(const char *text) { /* FNV-1a */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static bool grow_table(hpt_builder *b) {
    size_t size = b->table_size ? b->table_size * 2 : 64;
    int32_t *table = malloc(size * sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < size; i++) table[i] = UNKNOWN;
    for (int32_t id = 0; id < b->scheme->value_count; id++) {
        size_t at = hash_text(b->scheme->texts[id]) & (size - 1);
        while (table[at] != UNKNOWN) at = (at + 1) & (size - 1);
        table[at] = id;
    }
    free(b->table);
    b->table = table;
    b->table_size = size;
    return true;
}

static bool grow_values(hpt_builder *b) {
    int32_t capacity = b->value_capacity ? b->value_capacity * 2 : 16;
    hpt_value *values = realloc(b->scheme->values, (size_t)capacity * sizeof *values);
    if (values) b->scheme->values = values;
    char **texts = realloc(b->scheme->texts, (size_t)capacity * sizeof *texts);
    if (texts) b->scheme->texts = texts;
    if (!values || !texts) return false;
    b->value_capacity = capacity;
    return true;
}

int32_t hpt_builder_value(hpt_builder *b, const hpt_value *value) {
    hpt_scheme *s = b->scheme;
    if (hpt_value_is_zero(value)) return NO_VALUE;
    hpt_text text = {0};
    hpt_value_print(&text, value, s->ring.generator);
    if (text.failed) {
        hpt_text_clear(&text);
        return NO_MEMORY;
    }
    size_t at = hash_text(text.data) & (b->table_size - 1);
    for (; b->table[at] != UNKNOWN; at = (at + 1) & (b->table_size - 1))
        if (strcmp(s->texts[b->table[at]], text.data) == 0) {
            hpt_text_clear(&text);
            return b->table[at];
        }
    if (s->value_count == b->value_capacity && !grow_values(b)) {
        hpt_text_clear(&text);
        return NO_MEMORY;
    }
    int32_t id = s->value_count++;
    hpt_value_init(&s->values[id]);
    hpt_value_set(&s->values[id], value);
    s->texts[id] = text.data;
    b->table[at] = id;
    if ((size_t)s->value_count * 2 > b->table_size && !grow_table(b)) return NO_MEMORY;
    return id;
}

int32_t hpt_builder_integer(hpt_builder *b, int64_t number) {
    bool small = number >= -SMALL && number <= SMALL;
    if (small && b->small[number + SMALL] != UNKNOWN) return b->small[number + SMALL];
    hpt_value value;
    hpt_value_init(&value);
    hpt_value_set_si(&value, number);
    hpt_value_reduce(&value, &b->scheme->ring);
    int32_t id = hpt_builder_value(b, &value);
    hpt_value_clear(&value);
    if (small) b->small[number + SMALL] = id;
    return id;
}

static hpt_status check_shape(int64_t n, int64_t m, int64_t p, int64_t rank, const char *where, hpt_error *error) {
    const int64_t sides[3] = {n, m, p};
    for (int i = 0; i < 3; i++) {
        if (sides[i] < 1)
            return hpt_error_set(error, HPT_MALFORMED, where, "The shape %lld x %lld x %lld is not positive.",
                                 (long long)n, (long long)m, (long long)p);
        if (sides[i] > HPT_SCHEME_SIDE)
            return hpt_error_set(error, HPT_TOO_LARGE, where, "The shape %lld x %lld x %lld is over the limit of %d.",
                                 (long long)n, (long long)m, (long long)p, HPT_SCHEME_SIDE);
    }
    if (n * m > HPT_SCHEME_ENTRIES || m * p > HPT_SCHEME_ENTRIES || n * p > HPT_SCHEME_ENTRIES)
        return hpt_error_set(error, HPT_TOO_LARGE, where,
                             "A matrix of the shape %lld x %lld x %lld has over %d entries.", (long long)n,
                             (long long)m, (long long)p, HPT_SCHEME_ENTRIES);
    if (rank < 1) return hpt_error_set(error, HPT_MALFORMED, where, "A scheme has at least one product.");
    if (rank > HPT_SCHEME_RANK)
        return hpt_error_set(error, HPT_TOO_LARGE, where, "The rank %lld is over the limit of %d.", (long long)rank,
                             HPT_SCHEME_RANK);
    return HPT_OK;
}

hpt_status hpt_builder_create(hpt_builder **out, int64_t n, int64_t m, int64_t p, int64_t rank, const char *where,
                              hpt_error *error) {
    *out = NULL;
    hpt_status status = check_shape(n, m, p, rank, where, error);
    if (status != HPT_OK) return status;
    hpt_builder *b = calloc(1, sizeof *b);
    hpt_scheme *s = calloc(1, sizeof *s);
    if (s) {
        s->n = (int32_t)n, s->m = (int32_t)m, s->p = (int32_t)p, s->rank = (int32_t)rank;
        hpt_ring_init(&s->ring);
        pthread_mutex_init(&s->lock, NULL);
    }
    if (b) {
        b->scheme = s;
        for (size_t i = 0; i < HPT_COUNT(b->small); i++) b->small[i] = UNKNOWN;
    }
    if (!b || !s || !grow_table(b) || hpt_builder_integer(b, 1) != 0) {
        if (!b) hpt_scheme_destroy(s);
        hpt_builder_destroy(b);
        return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    }
    *out = b;
    return HPT_OK;
}

hpt_status hpt_builder_reshape(hpt_builder *b, int64_t n, int64_t m, int64_t p, int64_t rank, const char *where,
                               hpt_error *error) {
    hpt_status status = check_shape(n, m, p, rank, where, error);
    if (status != HPT_OK) return status;
    b->scheme->n = (int32_t)n, b->scheme->m = (int32_t)m, b->scheme->p = (int32_t)p, b->scheme->rank = (int32_t)rank;
    return HPT_OK;
}

void hpt_builder_destroy(hpt_builder *b) {
    if (!b) return;
    for (int f = 0; f < 3; f++) free(b->terms[f].data);
    free(b->table);
    hpt_scheme_destroy(b->scheme);
    free(b);
}

void hpt_builder_set_ring(hpt_builder *b, const hpt_ring *ring, bool forced) {
    hpt_ring_set(&b->scheme->ring, ring);
    b->scheme->forced_ring = forced;
}

static void replace(char **text, const char *with) {
    if (!with) return;
    free(*text);
    *text = strdup(with);
}

void hpt_builder_set_text(hpt_builder *b, const char *name, const char *format, const char *source,
                          const char *convention) {
    replace(&b->scheme->name, name);
    replace(&b->scheme->format, format);
    replace(&b->scheme->source, source);
    replace(&b->scheme->convention, convention);
}

void hpt_builder_watch(hpt_builder *b, const hpt_progress *progress) { b->progress = progress; }

hpt_status hpt_reading_interrupted(const char *where, hpt_error *error) {
    return hpt_error_set(error, HPT_INTERRUPTED, where, "Interrupted while the scheme was read: nothing is proved.");
}

void hpt_builder_set_decimal(hpt_builder *b) { b->scheme->decimal = true; }
void hpt_builder_allow_zero_rows(hpt_builder *b) { b->zero_rows = true; }

hpt_status hpt_builder_term(hpt_builder *b, hpt_factor factor, int64_t product, int64_t entry, int32_t id,
                            const char *where, hpt_error *error) {
    if (id == NO_MEMORY) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    if (hpt_progress_interrupted(b->progress)) return hpt_reading_interrupted(where, error);
    if (product < 0 || product >= b->scheme->rank)
        return hpt_error_set(error, HPT_LIES, where, "Product %lld is outside 1 .. %d, the rank.",
                             (long long)product + 1, b->scheme->rank);
    if (entry < 0 || entry >= hpt_scheme_entries(b->scheme, factor))
        return hpt_error_set(error, HPT_LIES, where,
                             "Entry %lld of factor %s is outside 1 .. %d, its number of entries.", (long long)entry + 1,
                             hpt_factor_name(factor), hpt_scheme_entries(b->scheme, factor));
    if (id == NO_VALUE) return HPT_OK;
    term_list *list = &b->terms[factor];
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        term *data = realloc(list->data, capacity * sizeof *data);
        if (!data) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
        list->data = data;
        list->capacity = capacity;
    }
    list->data[list->count++] = (term){(int32_t)product, (int32_t)entry, id};
    return HPT_OK;
}

static int compare_terms(const void *left, const void *right) {
    const term *a = left, *b = right;
    if (a->product != b->product) return a->product < b->product ? -1 : 1;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

static bool sorted(const term_list *list) {
    for (size_t i = 1; i < list->count; i++)
        if (compare_terms(&list->data[i - 1], &list->data[i]) >= 0) return false;
    return true;
}

static hpt_status finish_factor(hpt_builder *b, hpt_factor f, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *s = b->scheme;
    term_list *list = &b->terms[f];
    if (list->count > 1 && !sorted(list)) qsort(list->data, list->count, sizeof *list->data, compare_terms);
    s->start[f] = calloc((size_t)s->rank + 1, sizeof *s->start[f]);
    s->index[f] = malloc((list->count + 1) * sizeof *s->index[f]);
    s->value[f] = malloc((list->count + 1) * sizeof *s->value[f]);
    HPT_FAIL_IF(!s->start[f] || !s->index[f] || !s->value[f], HPT_NO_MEMORY, "", "Out of memory.");
    for (size_t i = 0; i < list->count; i++) {
        const term *t = &list->data[i];
        HPT_FAIL_IF(i > 0 && compare_terms(t - 1, t) == 0, HPT_MALFORMED, where,
                    "Product %d gives entry %d of factor %s twice.", t->product + 1, t->entry + 1, hpt_factor_name(f));
        s->index[f][i] = t->entry;
        s->value[f][i] = t->value;
        s->start[f][t->product + 1]++;
    }
    for (int32_t r = 0; r < s->rank; r++) {
        HPT_FAIL_IF(s->start[f][r + 1] == 0 && !b->zero_rows, HPT_MALFORMED, where,
                    "Factor %s of product %d is zero, so the product contributes nothing.", hpt_factor_name(f), r + 1);
        s->start[f][r + 1] += s->start[f][r];
    }
done:
    return status;
}

/* Q becomes Z, and a field becomes Q or Z, if the coefficients allow it and nobody asked for the ring. */
static void shrink_ring(hpt_scheme *s) {
    bool rational = true, integral = true;
    if (s->ring.kind == HPT_RING_FINITE || s->forced_ring) return;
    fmpq_t exact;
    fmpq_init(exact);
    for (int32_t i = 0; i < s->value_count && rational; i++) {
        rational = hpt_value_get_fmpq(exact, &s->values[i]);
        integral = integral && rational && fmpz_is_one(fmpq_denref(exact));
    }
    fmpq_clear(exact);
    if (rational) hpt_ring_parse(&s->ring, integral ? "Z" : "Q", "", NULL);
}

hpt_status hpt_builder_finish(hpt_scheme **out, hpt_builder *b, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *s = b->scheme;
    *out = NULL;
    for (int f = 0; f < 3; f++) HPT_TRY(finish_factor(b, (hpt_factor)f, where, error));
    shrink_ring(s);
    char **texts[] = {&s->name, &s->format, &s->source, &s->convention};
    for (size_t i = 0; i < HPT_COUNT(texts); i++) {
        if (!*texts[i]) *texts[i] = strdup("");
        HPT_FAIL_NO_MEMORY(*texts[i]);
    }
    *out = s;
    b->scheme = NULL;
done:
    return status;
}
