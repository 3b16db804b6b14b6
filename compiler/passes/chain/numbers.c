#include "numbers.h"
#include "scheme/scheme.h"
#include <stdlib.h>
#include <string.h>

struct hpt_numbers {
    const hpt_scheme *scheme;
    const hpt_ring *ring;
    hpt_value *values;
    char **texts;
    int32_t count, capacity;
    int32_t *slots; /* open addressing by text; -1 is empty */
    size_t slot_count;
    hpt_value scratch;
};

static uint64_t hash_of(const char *text) { /* FNV-1a */
    uint64_t hash = 0xCBF29CE484222325ULL;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3ULL;
    return hash;
}

static int32_t *slot_of(const hpt_numbers *p, const char *text) {
    size_t at = (size_t)hash_of(text) & (p->slot_count - 1);
    while (p->slots[at] >= 0 && strcmp(p->texts[p->slots[at]], text) != 0) at = (at + 1) & (p->slot_count - 1);
    return &p->slots[at];
}

static hpt_status grow(hpt_numbers *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t capacity = p->capacity ? 2 * p->capacity : 64;
    hpt_value *values = realloc(p->values, (size_t)capacity * sizeof *values);
    if (values) p->values = values;
    char **texts = realloc(p->texts, (size_t)capacity * sizeof *texts);
    if (texts) p->texts = texts;
    int32_t *slots = malloc(2 * (size_t)capacity * sizeof *slots);
    if (!values || !texts || !slots) free(slots);
    HPT_FAIL_IF(!values || !texts || !slots, HPT_NO_MEMORY, "", "Out of memory.");
    free(p->slots);
    p->slots = slots, p->slot_count = 2 * (size_t)capacity, p->capacity = capacity;
    memset(slots, -1, p->slot_count * sizeof *slots);
    for (int32_t id = 0; id < p->count; id++) *slot_of(p, p->texts[id]) = id;
done:
    return status;
}

static hpt_status intern(int32_t *id, hpt_numbers *p, const hpt_value *value, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text text = {0};
    if (p->count == p->capacity) HPT_TRY(grow(p, error));
    hpt_value_print(&text, value, p->ring->generator);
    HPT_FAIL_IF(text.failed || !text.data, HPT_NO_MEMORY, "", "Out of memory.");
    int32_t *slot = slot_of(p, text.data);
    if (*slot < 0) {
        *slot = p->count;
        hpt_value_init(&p->values[p->count]);
        hpt_value_set(&p->values[p->count], value);
        p->texts[p->count++] = text.data;
        text = (hpt_text){0};
    }
    *id = *slot;
done:
    hpt_text_clear(&text);
    return status;
}

hpt_status hpt_numbers_create(hpt_numbers **out, const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_numbers *p = calloc(1, sizeof *p);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(p);
    p->scheme = scheme;
    p->ring = hpt_scheme_ring_record(scheme);
    hpt_value_init(&p->scratch);
    static const int64_t known[] = {1, -1, 0}; /* the fixed ids, in order */
    for (size_t i = 0; i < HPT_COUNT(known); i++) {
        int32_t id;
        hpt_value_set_si(&p->scratch, known[i]);
        HPT_TRY(intern(&id, p, &p->scratch, error));
    }
    *out = p;
    p = NULL;
done:
    hpt_numbers_destroy(p);
    return status;
}

void hpt_numbers_destroy(hpt_numbers *p) {
    if (!p) return;
    for (int32_t id = 0; id < p->count; id++) {
        hpt_value_clear(&p->values[id]);
        free(p->texts[id]);
    }
    hpt_value_clear(&p->scratch);
    free(p->values);
    free(p->texts);
    free(p->slots);
    free(p);
}

hpt_status hpt_numbers_of_value(int32_t *id, hpt_numbers *p, int32_t value, hpt_error *error) {
    return intern(id, p, hpt_scheme_value(p->scheme, value), error);
}

hpt_status hpt_numbers_divide(int32_t *id, hpt_numbers *p, int32_t a, int32_t b, hpt_error *error) {
    if (b == HPT_NUMBER_ONE || a == HPT_NUMBER_ZERO) {
        *id = a;
        return HPT_OK;
    }
    if (!hpt_value_div(&p->scratch, &p->values[a], &p->values[b], p->ring))
        return hpt_error_set(error, HPT_INTERNAL, "", "Division of %s by %s.", p->texts[a], p->texts[b]);
    return intern(id, p, &p->scratch, error);
}

hpt_status hpt_numbers_multiply(int32_t *id, hpt_numbers *p, int32_t a, int32_t b, hpt_error *error) {
    hpt_value_mul(&p->scratch, &p->values[a], &p->values[b], p->ring);
    return intern(id, p, &p->scratch, error);
}

hpt_status hpt_numbers_subtract(int32_t *id, hpt_numbers *p, int32_t a, int32_t b, hpt_error *error) {
    if (b == HPT_NUMBER_ZERO) {
        *id = a;
        return HPT_OK;
    }
    hpt_value_sub(&p->scratch, &p->values[a], &p->values[b], p->ring);
    return intern(id, p, &p->scratch, error);
}

const char *hpt_numbers_text(const hpt_numbers *p, int32_t id) { return p->texts[id]; }

double hpt_numbers_double(const hpt_numbers *p, int32_t id) { return hpt_value_double(&p->values[id], p->ring); }
