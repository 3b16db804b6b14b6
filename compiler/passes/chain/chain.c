#include "chains.h"

/* Every product costs at least its cheapest continuation. */
static int32_t easy_bound(const hpt_chain_matrix *m) {
    int32_t bound = 0;
    for (int32_t r = 0; r < m->count; r++) {
        int32_t low = m->end[r];
        for (int32_t s = 0; s < m->count; s++) {
            int32_t join = m->join[(size_t)r * (size_t)m->count + (size_t)s];
            if (s != r && join < low) low = join;
        }
        bound += low;
    }
    return bound;
}

static hpt_status refuse_unusable(const hpt_scheme *scheme, hpt_error *error) {
    if (!hpt_scheme_is_real(scheme))
        return hpt_error_set(error, HPT_UNSUPPORTED, hpt_scheme_name(scheme),
                             "Chaining needs real coefficients; this scheme is over %s.", hpt_scheme_ring(scheme));
    for (int32_t r = 0; r < hpt_scheme_rank(scheme); r++)
        for (int factor = HPT_U; factor <= HPT_W; factor++)
            if (hpt_scheme_terms(scheme, (hpt_factor)factor, r).count == 0)
                return hpt_error_set(error, HPT_UNSUPPORTED, hpt_scheme_name(scheme),
                                     "Product %d has a zero factor (%c): it contributes nothing; remove it.", r + 1,
                                     "UVW"[factor]);
    return HPT_OK;
}

hpt_status hpt_chain_with_proof(hpt_schedule **out, hpt_chain_proof *proof, const hpt_scheme *scheme,
                                const hpt_chain_options *options, const hpt_progress *progress, hpt_error *error) {
    static const hpt_chain_options defaults = {0};
    hpt_status status = HPT_OK;
    hpt_numbers *numbers = NULL;
    hpt_cover cover = {0};
    hpt_chain_matrix matrix;
    hpt_chain_list list;
    const hpt_chain_options *o = options ? options : &defaults;
    int32_t accumulators = o->accumulators ? o->accumulators : 2;
    hpt_arena *scratch = hpt_arena_create(), *owner = hpt_arena_create();
    *out = NULL;
    HPT_FAIL_IF(!scratch || !owner, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_FAIL_IF(accumulators < 1 || accumulators > 8, HPT_USAGE, "accumulators",
                "There can be 1 to 8 accumulators, not %d.", accumulators);
    HPT_TRY(refuse_unusable(scheme, error));
    HPT_TRY(hpt_numbers_create(&numbers, scheme, error));
    HPT_TRY(hpt_chain_matrix_build(&matrix, numbers, scheme, scratch, error));
    int32_t *order = hpt_arena_alloc(scratch, (size_t)matrix.count, sizeof *order);
    uint8_t *last = hpt_arena_alloc(scratch, (size_t)matrix.count, 1);
    HPT_FAIL_IF(!order || !last, HPT_NO_MEMORY, "", "Out of memory.");
    if (o->unchained) {
        for (int32_t r = 0; r < matrix.count; r++) order[r] = r, last[r] = 1;
        cover.lower_bound = easy_bound(&matrix);
    } else {
        hpt_cover_problem problem = {matrix.count, matrix.join,   matrix.end,    matrix.odd, matrix.plain,
                                     accumulators, o->time_limit, proof != NULL, o->any,     progress};
        HPT_TRY(hpt_cover_solve(&cover, &problem, error));
        for (int32_t t = 0; t < matrix.count; t++) order[t] = cover.order[t], last[t] = cover.last[t];
    }
    HPT_TRY(hpt_chain_list_build(&list, numbers, &matrix, order, last, scratch, error));
    HPT_TRY(hpt_schedule_build(out, &list, numbers, scheme, accumulators, owner, error));
    (*out)->lower_bound = cover.lower_bound;
    (*out)->optimal = cover.lower_bound == list.writes;
    (*out)->method = o->unchained ? "none" : cover.method;
    (*out)->owner = owner;
    HPT_TRY(hpt_schedule_check(*out, scheme, error));
    if (proof) { /* hand it over */
        *proof =
            (hpt_chain_proof){cover.lower_bound == matrix.count && easy_bound(&matrix) >= matrix.count, cover.tree};
        cover.tree = (hpt_bound_tree){0};
    }
done:
    if (status != HPT_OK) {
        hpt_arena_destroy(owner);
        *out = NULL;
    }
    hpt_cover_clear(&cover);
    hpt_numbers_destroy(numbers);
    hpt_arena_destroy(scratch);
    return status;
}

hpt_status hpt_chain(hpt_schedule **out, const hpt_scheme *scheme, const hpt_chain_options *options, hpt_error *error) {
    return hpt_chain_with_proof(out, NULL, scheme, options, NULL, error);
}

void hpt_schedule_destroy(hpt_schedule *schedule) {
    if (schedule) hpt_arena_destroy(schedule->owner);
}
