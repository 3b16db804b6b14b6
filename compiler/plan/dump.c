/* dump.c - the plan as JSON: what --dump=plan prints and what templates see, word for word */
#include "plan/plan.h"

static json_t *slot_json(const hpt_slot *slot) {
    json_t *terms = json_array();
    for (int32_t i = 0; i < slot->count; i++)
        json_array_append_new(terms, json_pack("{s:i,s:i,s:f}", "row", slot->terms[i].row, "col", slot->terms[i].col,
                                               "weight", slot->terms[i].weight));
    return json_pack("{s:b,s:o}", "plain", slot->plain, "terms", terms);
}

static json_t *operand_json(const hpt_operand *operand, const char *type, const char *letter, bool transposed) {
    json_t *slots = json_array();
    for (int32_t i = 0; i < operand->slot_count; i++) json_array_append_new(slots, slot_json(&operand->slots[i]));
    return json_pack("{s:s,s:s,s:b,s:i,s:i,s:i,s:o}", "name", letter, "type", type, "rows_contiguous", transposed,
                     "rows", operand->rows, "cols", operand->cols, "computed", operand->computed, "slots", slots);
}

static json_t *steps_json(const hpt_kernel_plan *plan) {
    json_t *steps = json_array();
    for (int32_t i = 0; i < plan->step_count; i++) {
        const hpt_plan_step *step = &plan->steps[i];
        json_array_append_new(steps, json_pack("{s:i,s:i,s:i,s:b,s:i,s:i,s:i,s:i}", "product", step->product,
                                               "accumulator", step->accumulator, "chain", step->chain, "fresh",
                                               step->fresh, "x_slot", step->x_slot, "y_slot", step->y_slot,
                                               "first_fill", step->first_fill, "fill_count", step->fill_count));
    }
    return steps;
}

static json_t *fills_json(const hpt_kernel_plan *plan) {
    json_t *fills = json_array();
    for (int32_t i = 0; i < plan->fill_count; i++)
        json_array_append_new(fills,
                              json_pack("{s:f,s:i,s:i}", "weight", plan->fills[i].weight, "first_target",
                                        plan->fills[i].first_target, "target_count", plan->fills[i].target_count));
    return fills;
}

static json_t *targets_json(const hpt_kernel_plan *plan) {
    json_t *targets = json_array();
    for (int32_t i = 0; i < plan->target_count; i++)
        json_array_append_new(targets,
                              json_pack("{s:i,s:i,s:b,s:i}", "row", plan->targets[i].row, "col", plan->targets[i].col,
                                        "add", plan->targets[i].add, "index", plan->targets[i].index));
    return targets;
}

static json_t *sections_json(const hpt_kernel_plan *plan) {
    json_t *sections = json_array();
    for (int32_t i = 0; i < plan->section_count; i++)
        json_array_append_new(sections, json_pack("{s:i,s:i}", "first_step", plan->sections[i].first_step, "steps",
                                                  plan->sections[i].steps));
    return sections;
}

json_t *hpt_kernel_plan_json(const hpt_kernel_plan *plan) {
    json_t *scheme = json_pack("{s:s,s:s,s:i,s:i,s:i,s:i}", "name", plan->name, "hash", plan->hash, "n", plan->n, "m",
                               plan->m, "p", plan->p, "rank", plan->rank);
    json_t *chain = json_pack("{s:s,s:i,s:i,s:i,s:i,s:b,s:b}", "method", plan->method, "accumulators",
                              plan->accumulators, "chains", plan->chains, "writes", plan->writes, "lower_bound",
                              plan->lower_bound, "optimal", plan->optimal, "alternates", plan->alternates);
    json_t *numerics = json_pack("{s:f,s:f,s:f,s:f}", "growth", plan->numerics.growth, "expected",
                                 plan->numerics.expected, "bound", plan->numerics.bound, "finished",
                                 plan->numerics.finished);
    return json_pack("{s:o,s:o,s:o,s:s,s:s,s:s,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:i}", "scheme", scheme, "chain", chain,
                     "numerics", numerics, "c_type", hpt_type_name(plan->c_type), "forms_type",
                     hpt_type_name(plan->forms_type), "sums_type", hpt_type_name(plan->sums_type), "x",
                     operand_json(&plan->x, hpt_type_name(plan->x_type), "X", plan->x_transposed), "y",
                     operand_json(&plan->y, hpt_type_name(plan->y_type), "Y", plan->y_untransposed), "unit_weights",
                     plan->unit_weights, "steps", steps_json(plan), "fills", fills_json(plan), "targets",
                     targets_json(plan), "chains", sections_json(plan), "most_parts", hpt_type_parts(plan->sums_type));
}
