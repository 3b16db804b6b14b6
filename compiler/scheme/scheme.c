#include "scheme/scheme.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int32_t hpt_scheme_n(const hpt_scheme *scheme) { return scheme->n; }
int32_t hpt_scheme_m(const hpt_scheme *scheme) { return scheme->m; }
int32_t hpt_scheme_p(const hpt_scheme *scheme) { return scheme->p; }
int32_t hpt_scheme_rank(const hpt_scheme *scheme) { return scheme->rank; }

int32_t hpt_scheme_entries(const hpt_scheme *scheme, hpt_factor factor) {
    switch (factor) {
    case HPT_U:
        return scheme->n * scheme->m;
    case HPT_V:
        return scheme->m * scheme->p;
    case HPT_W:
        return scheme->n * scheme->p;
    }
    return 0;
}

hpt_terms hpt_scheme_terms(const hpt_scheme *scheme, hpt_factor factor, int32_t product) {
    size_t from = scheme->start[factor][product], to = scheme->start[factor][product + 1];
    return (hpt_terms){to - from, scheme->index[factor] + from, scheme->value[factor] + from};
}

size_t hpt_scheme_nonzeros(const hpt_scheme *scheme, hpt_factor factor) { return scheme->start[factor][scheme->rank]; }

const char *hpt_scheme_name(const hpt_scheme *scheme) { return scheme->name; }
const char *hpt_scheme_format(const hpt_scheme *scheme) { return scheme->format; }
const char *hpt_scheme_convention(const hpt_scheme *scheme) { return scheme->convention; }
const char *hpt_scheme_source(const hpt_scheme *scheme) { return scheme->source; }
const char *hpt_scheme_ring(const hpt_scheme *scheme) { return scheme->ring.name; }
const hpt_ring *hpt_scheme_ring_record(const hpt_scheme *scheme) { return &scheme->ring; }
const hpt_value *hpt_scheme_value(const hpt_scheme *scheme, int32_t value) { return &scheme->values[value]; }

bool hpt_scheme_is_real(const hpt_scheme *scheme) {
    return scheme->ring.kind == HPT_RING_RATIONAL || (scheme->ring.kind == HPT_RING_FIELD && scheme->ring.real);
}

hpt_status hpt_scheme_set_source(hpt_scheme *scheme, const char *source, hpt_error *error) {
    char *copy = strdup(source);
    if (!copy) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    free(scheme->source);
    scheme->source = copy;
    return HPT_OK;
}

int32_t hpt_scheme_value_count(const hpt_scheme *scheme) { return scheme->value_count; }
const char *hpt_scheme_value_text(const hpt_scheme *scheme, int32_t value) { return scheme->texts[value]; }

double hpt_scheme_value_double(const hpt_scheme *scheme, int32_t value) {
    return hpt_value_double(&scheme->values[value], &scheme->ring);
}

bool hpt_scheme_value_rational(const hpt_scheme *scheme, int32_t value, int64_t *numerator, int64_t *denominator) {
    bool fits = false;
    fmpq_t exact;
    fmpq_init(exact);
    if (scheme->ring.kind != HPT_RING_FINITE && hpt_value_get_fmpq(exact, &scheme->values[value]) &&
        fmpz_fits_si(fmpq_numref(exact)) && fmpz_fits_si(fmpq_denref(exact))) {
        *numerator = fmpz_get_si(fmpq_numref(exact));
        *denominator = fmpz_get_si(fmpq_denref(exact));
        fits = true;
    }
    fmpq_clear(exact);
    return fits;
}

const char *hpt_factor_name(hpt_factor factor) {
    static const char *const names[] = {"u", "v", "w"};
    return names[factor];
}

void hpt_scheme_destroy(hpt_scheme *scheme) {
    if (!scheme) return;
    for (int f = 0; f < 3; f++) {
        free(scheme->start[f]);
        free(scheme->index[f]);
        free(scheme->value[f]);
    }
    for (int32_t i = 0; i < scheme->value_count; i++) {
        if (scheme->values) hpt_value_clear(&scheme->values[i]);
        if (scheme->texts) free(scheme->texts[i]);
    }
    free(scheme->values);
    free(scheme->texts);
    free(scheme->name);
    free(scheme->format);
    free(scheme->source);
    free(scheme->convention);
    hpt_ring_clear(&scheme->ring);
    pthread_mutex_destroy(&scheme->lock);
    free(scheme);
}
