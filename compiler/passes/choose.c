/* Equivalent schemes with fewer writes: a beam search over changes of basis by elementary matrices on the two sides
 * that Z has, starting from the role symmetries that keep the shape. A candidate is judged by the root bound of its
 * writes, which is nearly always exact, then by its number of non-zeros. */
#include "choose.h"
#include "chain/chains.h"
#include "scheme/operations.h"
#include <math.h>
#include <string.h>

typedef struct worth { /* less is better, in this order */
    int64_t writes, nonzeros;
} worth;

static bool better(worth a, worth b) {
    return a.writes < b.writes || (a.writes == b.writes && a.nonzeros < b.nonzeros);
}

static int64_t nonzeros(const hpt_scheme *s) {
    return (int64_t)(hpt_scheme_nonzeros(s, HPT_U) + hpt_scheme_nonzeros(s, HPT_V) + hpt_scheme_nonzeros(s, HPT_W));
}

static hpt_status judge(worth *out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_numbers *numbers = NULL;
    hpt_chain_matrix matrix;
    hpt_bound_tree tree = {0};
    hpt_arena *arena = hpt_arena_create();
    const hpt_bound_limits root_only = {0, HUGE_VAL, NULL};
    int32_t lower, cost = 0;
    HPT_FAIL_NO_MEMORY(arena);
    int32_t *order = hpt_arena_alloc(arena, (size_t)hpt_scheme_rank(s), sizeof *order);
    uint8_t *last = hpt_arena_alloc(arena, (size_t)hpt_scheme_rank(s), 1);
    HPT_FAIL_IF(!order || !last, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_TRY(hpt_numbers_create(&numbers, s, error));
    HPT_TRY(hpt_chain_matrix_build(&matrix, numbers, s, arena, error));
    for (int32_t r = 0; r < matrix.count; r++) order[r] = r, last[r] = 1, cost += matrix.end[r];
    HPT_TRY(
        hpt_bound_search(&lower, &tree, order, last, &cost, matrix.count, matrix.join, matrix.end, &root_only, error));
    *out = (worth){lower, nonzeros(s)};
done:
    hpt_bound_tree_clear(&tree);
    hpt_numbers_destroy(numbers);
    hpt_arena_destroy(arena);
    return status;
}

/* Row (left) or column operations of Z: L or N is the identity plus `sign` at (i, j). */
static hpt_status change_basis(hpt_scheme **out, const hpt_scheme *s, bool left, int32_t i, int32_t j, int sign,
                               hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_matrix l = {0}, m = {0}, n = {0};
    HPT_TRY(hpt_matrix_init(&l, hpt_scheme_n(s), error));
    HPT_TRY(hpt_matrix_init(&m, hpt_scheme_m(s), error));
    HPT_TRY(hpt_matrix_init(&n, hpt_scheme_p(s), error));
    hpt_matrix *changed = left ? &l : &n;
    hpt_value_set_si(&changed->cells[i * changed->size + j], sign);
    HPT_TRY(hpt_scheme_sandwich(out, s, &l, &m, &n, error));
done:
    hpt_matrix_clear(&l);
    hpt_matrix_clear(&m);
    hpt_matrix_clear(&n);
    return status;
}

/* ---- the beam: the best candidates so far, best first, all different ---- */
enum { BEAM = 12, DEPTH = 4 };

typedef struct beam {
    hpt_scheme *scheme[BEAM + 1];
    worth worth[BEAM + 1];
    int32_t count;
} beam;

static void beam_clear(beam *b) {
    for (int32_t i = 0; i < b->count; i++) hpt_scheme_destroy(b->scheme[i]);
    b->count = 0;
}

/* Takes the scheme over. */
static hpt_status beam_add(beam *b, hpt_scheme *scheme, hpt_error *error) {
    worth value;
    hpt_status status = judge(&value, scheme, error);
    bool known = false;
    for (int32_t i = 0; i < b->count && status == HPT_OK; i++)
        known |= !better(value, b->worth[i]) && !better(b->worth[i], value) &&
                 strcmp(hpt_scheme_hash(b->scheme[i]), hpt_scheme_hash(scheme)) == 0;
    if (status != HPT_OK || known) {
        hpt_scheme_destroy(scheme);
        return status;
    }
    int32_t at = b->count++;
    for (; at > 0 && better(value, b->worth[at - 1]); at--)
        b->scheme[at] = b->scheme[at - 1], b->worth[at] = b->worth[at - 1];
    b->scheme[at] = scheme, b->worth[at] = value;
    if (b->count > BEAM) hpt_scheme_destroy(b->scheme[--b->count]);
    return HPT_OK;
}

/* All single steps from one scheme. */
static hpt_status expand(beam *out, const hpt_scheme *s, const hpt_progress *progress, double deadline,
                         hpt_error *error) {
    for (int side = 0; side < 2; side++) {
        int32_t size = side == 0 ? hpt_scheme_n(s) : hpt_scheme_p(s);
        for (int32_t step = 0; step < 2 * size * size; step++) {
            int32_t i = step / 2 / size, j = step / 2 % size;
            hpt_scheme *trial = NULL;
            if (i == j) continue;
            if (hpt_progress_interrupted(progress) || hpt_clock() > deadline) return HPT_OK;
            hpt_status status = change_basis(&trial, s, side == 0, i, j, step % 2 ? -1 : 1, error);
            if (status == HPT_OK) status = beam_add(out, trial, error);
            if (status != HPT_OK) return status;
        }
    }
    return HPT_OK;
}

/* Role symmetry number k (0: none) of `s`; *out stays NULL if it changes the shape. */
static hpt_status role(hpt_scheme **out, const hpt_scheme *s, int k, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *now = NULL, *then = NULL;
    for (int turn = 0; turn < k % 3; turn++) {
        HPT_TRY(hpt_scheme_cyclic(&then, now ? now : s, error));
        hpt_scheme_destroy(now);
        now = then, then = NULL;
    }
    if (k >= 3) {
        HPT_TRY(hpt_scheme_transpose(&then, now ? now : s, error));
        hpt_scheme_destroy(now);
        now = then, then = NULL;
    }
    if (!now || hpt_scheme_n(now) != hpt_scheme_n(s) || hpt_scheme_m(now) != hpt_scheme_m(s) ||
        hpt_scheme_p(now) != hpt_scheme_p(s))
        goto done;
    *out = now;
    now = NULL;
done:
    hpt_scheme_destroy(now);
    return status;
}

hpt_status hpt_chain_choose(hpt_scheme **out, const hpt_scheme *scheme, double seconds, const hpt_progress *progress,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *start = NULL;
    beam now = {.count = 0}, then = {.count = 0}, best = {.count = 0};
    double deadline = hpt_clock() + seconds;
    *out = NULL;
    for (int k = 0; k < 6; k++) {
        start = NULL;
        if (k > 0)
            HPT_TRY(role(&start, scheme, k, error));
        else
            HPT_TRY(change_basis(&start, scheme, true, 0, 0, 1, error)); /* the identity: a copy */
        if (start) HPT_TRY(beam_add(&now, start, error));
    }
    for (int32_t depth = 0; depth <= DEPTH && now.count > 0; depth++) {
        if (best.count == 0 || better(now.worth[0], best.worth[0])) {
            beam_clear(&best);
            HPT_TRY(change_basis(&start, now.scheme[0], true, 0, 0, 1, error));
            HPT_TRY(beam_add(&best, start, error));
        }
        hpt_progress_say(progress, "choosing: depth %d, %lld writes", depth, (long long)best.worth[0].writes);
        for (int32_t i = 0; i < now.count && depth < DEPTH; i++)
            HPT_TRY(expand(&then, now.scheme[i], progress, deadline, error));
        beam_clear(&now);
        now = then;
        then.count = 0;
    }
    *out = best.scheme[0];
    best.count = 0;
done:
    beam_clear(&now);
    beam_clear(&then);
    beam_clear(&best);
    return status;
}
