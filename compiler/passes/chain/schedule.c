/* Interleaving: chains are dealt to accumulators, each accumulator runs its chains one after another, longest first,
 * and at every step the accumulator with most left to do goes next unless it went last. */
#include "chains.h"

typedef struct lane { /* one accumulator's chains, in order */
    int32_t *chain;
    int32_t chains, at, step, left;
} lane;

static int32_t length_of(const hpt_chain_list *list, int32_t chain) {
    return list->first[chain + 1] - list->first[chain];
}

static void sort_longest_first(lane *l,
                               const hpt_chain_list *list) { /* stable insertion: equal chains keep their order */
    for (int32_t i = 1; i < l->chains; i++) {
        int32_t held = l->chain[i], j = i;
        for (; j > 0 && length_of(list, l->chain[j - 1]) < length_of(list, held); j--) l->chain[j] = l->chain[j - 1];
        l->chain[j] = held;
    }
}

static hpt_status fill_lanes(lane *lanes, int32_t accumulators, const hpt_chain_list *list, hpt_arena *arena,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t *group = hpt_arena_alloc(arena, (size_t)list->chains, sizeof *group);
    int32_t *length = hpt_arena_alloc(arena, (size_t)list->chains, sizeof *length);
    HPT_FAIL_IF(!group || !length, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t i = 0; i < list->chains; i++) length[i] = length_of(list, i);
    hpt_cover_alternates(group, length, list->chains, accumulators);
    for (int32_t a = 0; a < accumulators; a++) {
        lanes[a].chain = hpt_arena_alloc(arena, (size_t)list->chains, sizeof(int32_t));
        HPT_FAIL_NO_MEMORY(lanes[a].chain);
    }
    for (int32_t i = 0; i < list->chains; i++) {
        lane *l = &lanes[group[i]];
        l->chain[l->chains++] = i;
        l->left += length[i];
    }
    for (int32_t a = 0; a < accumulators; a++) sort_longest_first(&lanes[a], list);
done:
    return status;
}

static int32_t next_lane(const lane *lanes, int32_t accumulators, int32_t before) {
    int32_t best = -1;
    for (int32_t a = 0; a < accumulators; a++)
        if (a != before && lanes[a].left > 0 && (best < 0 || lanes[a].left > lanes[best].left)) best = a;
    return best < 0 ? before : best;
}

static hpt_status text_of(hpt_number *out, const hpt_numbers *numbers, int32_t id, hpt_arena *arena, hpt_error *error) {
    *out = (hpt_number){hpt_arena_strdup(arena, hpt_numbers_text(numbers, id)), hpt_numbers_double(numbers, id)};
    return out->text ? HPT_OK : hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
}

static hpt_status place(hpt_step *out, const hpt_chain_step *step, bool *touched, const hpt_numbers *numbers,
                        hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_write *writes = hpt_arena_alloc(arena, (size_t)step->write_count, sizeof *writes);
    HPT_FAIL_IF(!writes && step->write_count, HPT_NO_MEMORY, "", "Out of memory.");
    out->product = step->product;
    HPT_TRY(text_of(&out->scale, numbers, step->scale, arena, error));
    for (int32_t i = 0; i < step->write_count; i++) {
        writes[i].c = step->output[i];
        writes[i].first = !touched[step->output[i]];
        touched[step->output[i]] = true;
        HPT_TRY(text_of(&writes[i].weight, numbers, step->weight[i], arena, error));
    }
    out->write_count = step->write_count;
    out->writes = writes;
done:
    return status;
}

hpt_status hpt_schedule_build(hpt_schedule **out, const hpt_chain_list *list, const hpt_numbers *numbers,
                              const hpt_scheme *scheme, int32_t accumulators, hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    lane lanes[8] = {{0}};
    hpt_schedule *s = hpt_arena_alloc(arena, 1, sizeof *s);
    hpt_step *steps = hpt_arena_alloc(arena, (size_t)list->count, sizeof *steps);
    bool *touched = hpt_arena_alloc(arena, (size_t)hpt_scheme_entries(scheme, HPT_W), sizeof *touched);
    HPT_FAIL_IF(!s || !steps || !touched, HPT_NO_MEMORY, "", "Out of memory.");
    *s = (hpt_schedule){.n = hpt_scheme_n(scheme),
                        .m = hpt_scheme_m(scheme),
                        .p = hpt_scheme_p(scheme),
                        .rank = list->count,
                        .accumulators = accumulators,
                        .step_count = list->count,
                        .steps = steps,
                        .writes = list->writes,
                        .alternates = true};
    for (int i = 0; i < 64; i++) s->scheme_hash[i] = hpt_scheme_hash(scheme)[i];
    HPT_TRY(fill_lanes(lanes, accumulators, list, arena, error));
    for (int32_t t = 0, before = -1; t < list->count; t++) {
        int32_t a = next_lane(lanes, accumulators, before);
        lane *l = &lanes[a];
        int32_t chain = l->chain[l->at];
        s->alternates &= a != before;
        HPT_TRY(place(&steps[t], &list->steps[list->first[chain] + l->step], touched, numbers, arena, error));
        steps[t].accumulator = a;
        steps[t].fresh = l->step == 0;
        steps[t].chain = steps[t].fresh ? s->chains++ : -1;
        for (int32_t back = t - 1; steps[t].chain < 0; back--)
            if (steps[back].accumulator == a) steps[t].chain = steps[back].chain;
        l->left--;
        if (++l->step == length_of(list, chain)) l->step = 0, l->at++;
        before = a;
    }
    *out = s;
done:
    return status;
}
