#include "scheme/orbit.h"
#include "scheme/orbit_maps.h"
#include <stdlib.h>
#include <string.h>

void hpt_orbit_clear(hpt_orbit *o) {
    hpt_matrix_clear(&o->left);
    hpt_matrix_clear(&o->middle);
    hpt_matrix_clear(&o->right);
}

/* `cyclic` turns, then perhaps a transposition. */
static hpt_status play_roles(hpt_scheme **out, const hpt_scheme *s, int cyclic, bool transpose, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *now = NULL, *next = NULL;
    HPT_TRY(hpt_scheme_project(&now, s, hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s), error)); /* a copy */
    for (int step = 0; step < cyclic + transpose; step++) {
        HPT_TRY(step < cyclic ? hpt_scheme_cyclic(&next, now, error) : hpt_scheme_transpose(&next, now, error));
        hpt_scheme_destroy(now);
        now = next;
        next = NULL;
    }
    *out = now;
    now = NULL;
done:
    hpt_scheme_destroy(now);
    return status;
}

static bool same_shape(const hpt_scheme *a, const hpt_scheme *b) {
    return hpt_scheme_n(a) == hpt_scheme_n(b) && hpt_scheme_m(a) == hpt_scheme_m(b) &&
           hpt_scheme_p(a) == hpt_scheme_p(b);
}

/* The transposed map as exact rational numbers: L = G^T and so on. */
static bool lift_map(hpt_matrix *out, const hpt_map *map, int32_t n) {
    bool good = hpt_matrix_init(out, n, NULL) == HPT_OK;
    fmpz_t residue, prime;
    fmpq_t number;
    fmpz_init(residue);
    fmpz_init_set_ui(prime, HPT_MODULAR_PRIME);
    fmpq_init(number);
    for (int32_t i = 0; i < n && good; i++)
        for (int32_t j = 0; j < n && good; j++) {
            fmpz_set_ui(residue, map->cells[j * n + i]);
            good = fmpq_reconstruct_fmpz(number, residue, prime);
            if (good) hpt_value_set_fmpq(&out->cells[i * n + j], number);
        }
    fmpq_clear(number);
    fmpz_clear(prime);
    fmpz_clear(residue);
    return good;
}

typedef struct witness_search {
    hpt_orbit *out;
    const hpt_scheme *from, *to;
} witness_search;

/* Checks a map found modulo the prime exactly; true asks for more. */
static bool check_witness(void *user, const hpt_map map[3]) {
    witness_search *w = user;
    hpt_scheme *image = NULL;
    hpt_orbit_clear(w->out);
    bool good = lift_map(&w->out->left, &map[0], hpt_scheme_n(w->from)) &&
                lift_map(&w->out->middle, &map[1], hpt_scheme_m(w->from)) &&
                lift_map(&w->out->right, &map[2], hpt_scheme_p(w->from)) &&
                hpt_scheme_sandwich(&image, w->from, &w->out->left, &w->out->middle, &w->out->right, NULL) == HPT_OK &&
                strcmp(hpt_scheme_hash(image), hpt_scheme_hash(w->to)) == 0;
    hpt_scheme_destroy(image);
    if (good) w->out->equivalent = HPT_YES;
    return !good;
}

/* One choice of roles; *complete becomes false if "no" would not be certain. */
static hpt_status compare_roles(hpt_orbit *out, const hpt_scheme *a, const hpt_scheme *b, bool *complete, bool *ranks,
                                hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_orbit_view *from = NULL, *to = NULL;
    witness_search w = {out, a, b};
    bool all;
    HPT_TRY(hpt_orbit_view_create(&from, a, error));
    HPT_TRY(hpt_orbit_view_create(&to, b, error));
    if (!hpt_orbit_ranks_agree(from, to)) goto done;
    *ranks = true;
    HPT_TRY(hpt_orbit_search(from, to, &all, check_witness, &w, error));
    *complete = *complete && all;
done:
    hpt_orbit_view_destroy(from);
    hpt_orbit_view_destroy(to);
    return status;
}

static hpt_status set_identities(hpt_orbit *out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(hpt_matrix_init(&out->left, hpt_scheme_n(s), error));
    HPT_TRY(hpt_matrix_init(&out->middle, hpt_scheme_m(s), error));
    HPT_TRY(hpt_matrix_init(&out->right, hpt_scheme_p(s), error));
done:
    return status;
}

hpt_status hpt_orbit_compare(hpt_orbit *out, const hpt_scheme *a, const hpt_scheme *b, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *turned = NULL;
    bool complete = true, ranks = false, tried = false;
    hpt_error refusal = {0};
    *out = (hpt_orbit){.equivalent = HPT_NO, .reason = ""};
    out->same = strcmp(hpt_scheme_hash(a), hpt_scheme_hash(b)) == 0 ? HPT_YES : HPT_NO;
    if (out->same == HPT_YES) {
        out->equivalent = HPT_YES;
        return set_identities(out, a, error);
    }
    out->reason = "The ranks differ.";
    if (hpt_scheme_rank(a) != hpt_scheme_rank(b)) return HPT_OK;
    for (int code = 0; code < 6 && out->equivalent != HPT_YES; code++) {
        hpt_scheme_destroy(turned);
        turned = NULL;
        HPT_TRY(play_roles(&turned, a, code % 3, code >= 3, error));
        if (!same_shape(turned, b)) continue;
        tried = true;
        out->cyclic = code % 3;
        out->transpose = code >= 3;
        status = compare_roles(out, turned, b, &complete, &ranks, &refusal);
        if (status == HPT_UNSUPPORTED) {
            out->equivalent = HPT_UNKNOWN;
            out->reason = "Orbits are worked out for sizes up to 3 over Z and Q with small coefficients.";
            status = HPT_OK;
            goto done;
        }
        HPT_TRY(status);
    }
    if (out->equivalent == HPT_YES) goto done;
    out->reason = !tried   ? "The shapes differ."
                  : !ranks ? "The ranks of the factors' matrices differ."
                           : "No change of basis maps the vectors of one scheme's factors to the other's.";
    if (tried && ranks && !complete) {
        out->equivalent = HPT_UNKNOWN;
        out->reason =
            "The schemes' vectors contain no frame, so infinitely many changes of basis would have to be tried.";
    }
done:
    if (out->equivalent != HPT_YES) hpt_orbit_clear(out);
    hpt_scheme_destroy(turned);
    return status;
}

static bool count_one(void *user, const hpt_map map[3]) {
    (void)map;
    ++*(int64_t *)user;
    return true;
}

hpt_status hpt_orbit_symmetries(int64_t *out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_orbit_view *from = NULL, *to = NULL;
    hpt_scheme *turned = NULL;
    bool complete = true;
    *out = 0;
    status = hpt_orbit_view_create(&to, s, NULL);
    if (status == HPT_UNSUPPORTED) return HPT_OK;
    for (int code = 0; code < 6 && complete && status == HPT_OK; code++) {
        HPT_TRY(play_roles(&turned, s, code % 3, code >= 3, error));
        if (same_shape(turned, s)) {
            HPT_TRY(hpt_orbit_view_create(&from, turned, error));
            if (hpt_orbit_ranks_agree(from, to)) HPT_TRY(hpt_orbit_search(from, to, &complete, count_one, out, error));
            hpt_orbit_view_destroy(from);
            from = NULL;
        }
        hpt_scheme_destroy(turned);
        turned = NULL;
    }
    if (!complete) *out = 0;
done:
    hpt_orbit_view_destroy(from);
    hpt_orbit_view_destroy(to);
    hpt_scheme_destroy(turned);
    return status;
}
