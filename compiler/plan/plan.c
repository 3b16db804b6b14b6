/* plan.c - from a scheme's coefficients and its schedule to slots, steps, fills and targets */
#include "plan/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The factor of a product, lambda times whatever is moved out of a form, is free to sit in either operand. */
typedef struct product_forms {
    hpt_slot x, y;
} product_forms;

static hpt_status form_from_row(hpt_slot *slot, hpt_arena *arena, const hpt_row *row, int32_t columns, bool transposed,
                                hpt_error *error) {
    hpt_status status = HPT_OK;
    slot->count = row->count;
    slot->terms = hpt_arena_alloc(arena, (size_t)row->count, sizeof *slot->terms);
    HPT_FAIL_NO_MEMORY(slot->terms);
    for (int32_t i = 0; i < row->count; i++) {
        const int32_t high = row->index[i] / columns, low = row->index[i] % columns;
        slot->terms[i] = (hpt_form_term){transposed ? low : high, transposed ? high : low, row->weight[i]};
    }
done:
    return status;
}

static void form_scale(hpt_slot *slot, double factor) {
    for (int32_t i = 0; i < slot->count; i++) slot->terms[i].weight *= factor;
}

/* Where does the factor of a product go? A form of one block is worth keeping plain (it can be read where it is), and a
 * form of X costs time in every call while those of weights are made once: so X first. */
static void place_factor(product_forms *forms, double lambda) {
    if (forms->x.count == 1) {
        const double factor = forms->x.terms[0].weight * lambda;
        forms->x.terms[0].weight = 1;
        form_scale(&forms->y, factor);
    } else if (forms->y.count == 1) {
        const double factor = forms->y.terms[0].weight * lambda;
        forms->y.terms[0].weight = 1;
        form_scale(&forms->x, factor);
    } else {
        const double sign = forms->x.terms[0].weight < 0 ? -1 : 1; /* makes equal forms of opposite sign one slot */
        form_scale(&forms->x, sign);
        form_scale(&forms->y, sign * lambda);
    }
    forms->x.plain = forms->x.count == 1 && forms->x.terms[0].weight == 1;
    forms->y.plain = forms->y.count == 1 && forms->y.terms[0].weight == 1;
}

static bool slots_equal(const hpt_slot *a, const hpt_slot *b) {
    if (a->count != b->count) return false;
    for (int32_t i = 0; i < a->count; i++)
        if (a->terms[i].row != b->terms[i].row || a->terms[i].col != b->terms[i].col ||
            a->terms[i].weight != b->terms[i].weight)
            return false;
    return true;
}

static int32_t slot_find(const hpt_operand *operand, const hpt_slot *slot) {
    for (int32_t i = 0; i < operand->slot_count; i++)
        if (slots_equal(&operand->slots[i], slot)) return i;
    return -1;
}

/* Numbers the distinct forms of one operand: computed ones in step order, then plain ones. */
static void slots_collect(hpt_operand *operand, const product_forms *forms, int32_t count, bool y) {
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count; i++) {
            const hpt_slot *slot = y ? &forms[i].y : &forms[i].x;
            if (slot->plain == (pass == 1) && slot_find(operand, slot) < 0)
                operand->slots[operand->slot_count++] = *slot;
        }
        if (pass == 0) operand->computed = operand->slot_count;
    }
}

/* Groups the writes of one step by weight, in order of first appearance. The first touch of a block is counted anew, as
 * chains may have changed places; `touched` has one entry per output block. */
static void fills_collect(hpt_kernel_plan *plan, hpt_plan_step *step, const hpt_step *source, bool *touched) {
    step->first_fill = plan->fill_count;
    for (int32_t i = 0; i < source->write_count; i++) {
        const double weight = source->writes[i].weight.value;
        bool seen = false;
        for (int32_t j = 0; j < i; j++) seen = seen || source->writes[j].weight.value == weight;
        if (seen) continue;
        hpt_fill *fill = &plan->fills[plan->fill_count++];
        *fill = (hpt_fill){weight, plan->target_count, 0};
        for (int32_t j = i; j < source->write_count; j++) {
            const hpt_write *write = &source->writes[j];
            if (write->weight.value != weight) continue;
            plan->targets[plan->target_count++] =
                (hpt_target_block){write->c / plan->p, write->c % plan->p, touched[write->c], 0};
            touched[write->c] = true;
            fill->target_count++;
        }
        if (fabs(weight) != 1) plan->unit_weights = false;
    }
    step->fill_count = plan->fill_count - step->first_fill;
}

/* The order of steps. With several accumulators it is the schedule's. With one, whole chains may change places: those
 * that begin with the most forms of X that are plain blocks come first, so that forms can be made while they are
 * multiplied. */
static void order_choose(int32_t *order, const hpt_schedule *schedule, const product_forms *forms) {
    const int32_t count = schedule->step_count;
    for (int32_t i = 0; i < count; i++) order[i] = i;
    if (schedule->accumulators != 1) return;
    int32_t used = 0;
    for (int32_t lead = count; lead >= 0; lead--) /* lead: plain forms that a chain begins with */
        for (int32_t first = 0, next; first < count; first = next) {
            int32_t plain = 0;
            bool all = true;
            for (next = first; next == first || (next < count && !schedule->steps[next].fresh); next++) {
                all = all && forms[next].x.plain;
                plain += all;
            }
            /* a chain of plain forms only leaves the next one its turn at once: it counts as the longest lead */
            if ((all ? count : plain) != lead) continue;
            for (int32_t i = first; i < next; i++) order[used++] = i;
        }
}

/* Only of use with one accumulator, where a chain is a run of steps. */
static void sections_collect(hpt_kernel_plan *plan) {
    for (int32_t i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].fresh) plan->sections[plan->section_count++] = (hpt_plan_chain){i, 0};
        if (plan->section_count > 0) plan->sections[plan->section_count - 1].steps++;
    }
    for (int32_t i = 1; i < plan->section_count; i++) { /* stable insertion by falling length */
        const hpt_plan_chain moved = plan->sections[i];
        int32_t at = i;
        for (; at > 0 && plan->sections[at - 1].steps < moved.steps; at--) plan->sections[at] = plan->sections[at - 1];
        plan->sections[at] = moved;
    }
}

/* Fills in a target's index: how many writes its chain has made to the same block before. */
static hpt_status indices_count(hpt_kernel_plan *plan, hpt_error *error) {
    hpt_status status = HPT_OK;
    const size_t blocks = (size_t)plan->n * (size_t)plan->p;
    int32_t *in_chain = hpt_arena_alloc(plan->arena, (size_t)plan->chains * blocks, sizeof *in_chain);
    HPT_FAIL_NO_MEMORY(in_chain);
    for (int32_t s = 0; s < plan->step_count; s++) {
        const hpt_plan_step *step = &plan->steps[s];
        if (step->fill_count == 0) continue;
        const hpt_fill *last = &plan->fills[step->first_fill + step->fill_count - 1];
        for (int32_t i = plan->fills[step->first_fill].first_target; i < last->first_target + last->target_count; i++) {
            const int32_t block = plan->targets[i].row * plan->p + plan->targets[i].col;
            plan->targets[i].index = in_chain[(size_t)step->chain * blocks + (size_t)block]++;
        }
    }
done:
    return status;
}

static hpt_status check_numbers(const hpt_plan_request *request, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_schedule *schedule = request->schedule;
    HPT_FAIL_IF(schedule->step_count != schedule->rank || schedule->rank < 1, HPT_INTERNAL, "",
                "The schedule has %d steps for %d products.", schedule->step_count, schedule->rank);
    for (int32_t i = 0; i < schedule->rank; i++) {
        const hpt_step *step = &schedule->steps[i];
        HPT_FAIL_IF(step->product < 0 || step->product >= schedule->rank, HPT_INTERNAL, "",
                    "Step %d of the schedule names product %d.", i + 1, step->product + 1);
        HPT_FAIL_IF(request->u[i].count < 1 || request->v[i].count < 1, HPT_UNSUPPORTED, "",
                    "Product %d is zero: it has no entries of X or of Y.", i + 1);
        bool finite = isfinite(step->scale.value) && step->scale.value != 0;
        for (int32_t j = 0; j < request->u[i].count; j++) finite = finite && fabs(request->u[i].weight[j]) < 1e4;
        for (int32_t j = 0; j < request->v[i].count; j++) finite = finite && fabs(request->v[i].weight[j]) < 1e4;
        for (int32_t j = 0; j < step->write_count; j++) finite = finite && fabs(step->writes[j].weight.value) < 1e4;
        HPT_FAIL_IF(
            !finite || fabs(step->scale.value) >= 1e4, HPT_UNSUPPORTED, "",
            "Product %d has a coefficient, scale or weight of 10^4 or more (or none that is a real number): 16-bit "
            "forms cannot hold what it makes.",
            i + 1);
    }
done:
    return status;
}

hpt_status hpt_kernel_plan_make(hpt_kernel_plan **out, const hpt_plan_request *request, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_schedule *schedule = request->schedule;
    hpt_kernel_plan *plan = NULL;
    hpt_arena *arena = hpt_arena_create();
    *out = NULL;
    HPT_FAIL_NO_MEMORY(arena);
    HPT_TRY(check_numbers(request, error));
    plan = hpt_arena_alloc(arena, 1, sizeof *plan);
    HPT_FAIL_NO_MEMORY(plan);
    *plan = (hpt_kernel_plan){.name = hpt_arena_strdup(arena, request->name),
                              .hash = hpt_arena_strdup(arena, schedule->scheme_hash),
                              .method = hpt_arena_strdup(arena, schedule->method),
                              .n = schedule->n,
                              .m = schedule->m,
                              .p = schedule->p,
                              .rank = schedule->rank,
                              .accumulators = schedule->accumulators,
                              .chains = schedule->chains,
                              .writes = schedule->writes,
                              .lower_bound = schedule->lower_bound,
                              .optimal = schedule->optimal,
                              .alternates = schedule->alternates,
                              .unit_weights = true,
                              .x_type = request->x,
                              .y_type = request->y,
                              .c_type = request->c,
                              .forms_type = request->forms,
                              .sums_type = request->sums ? *request->sums : request->c,
                              .x_transposed = request->x_transposed,
                              .y_untransposed = request->y_untransposed,
                              .step_count = schedule->step_count,
                              .arena = arena};
    HPT_FAIL_NO_MEMORY(plan->name && plan->hash && plan->method ? plan : NULL);

    const size_t steps = (size_t)plan->step_count;
    size_t writes = 0;
    for (int32_t i = 0; i < plan->step_count; i++) writes += (size_t)schedule->steps[i].write_count;
    product_forms *forms = hpt_arena_alloc(arena, steps, sizeof *forms);
    plan->x = (hpt_operand){.rows = plan->n, .cols = plan->m, .slots = hpt_arena_alloc(arena, steps, sizeof(hpt_slot))};
    plan->y = (hpt_operand){.rows = plan->p, .cols = plan->m, .slots = hpt_arena_alloc(arena, steps, sizeof(hpt_slot))};
    plan->steps = hpt_arena_alloc(arena, steps, sizeof *plan->steps);
    plan->fills = hpt_arena_alloc(arena, writes + 1, sizeof *plan->fills);
    plan->targets = hpt_arena_alloc(arena, writes + 1, sizeof *plan->targets);
    int32_t *order = hpt_arena_alloc(arena, steps, sizeof *order);
    bool *touched = hpt_arena_alloc(arena, (size_t)plan->n * (size_t)plan->p, sizeof *touched);
    HPT_FAIL_NO_MEMORY(order && touched ? order : NULL);
    HPT_FAIL_NO_MEMORY(forms && plan->x.slots && plan->y.slots && plan->steps && plan->fills && plan->targets ? plan
                                                                                                              : NULL);
    for (int32_t i = 0; i < plan->step_count; i++) {
        const hpt_step *step = &schedule->steps[i];
        HPT_TRY(form_from_row(&forms[i].x, arena, &request->u[step->product], plan->m, false, error));
        HPT_TRY(form_from_row(&forms[i].y, arena, &request->v[step->product], plan->p, true, error));
        place_factor(&forms[i], step->scale.value);
    }
    slots_collect(&plan->x, forms, plan->step_count, false);
    slots_collect(&plan->y, forms, plan->step_count, true);
    order_choose(order, schedule, forms);
    for (int32_t i = 0; i < plan->step_count; i++) {
        const hpt_step *source = &schedule->steps[order[i]];
        plan->steps[i] = (hpt_plan_step){.product = source->product,
                                         .accumulator = source->accumulator,
                                         .chain = source->chain,
                                         .fresh = source->fresh,
                                         .x_slot = slot_find(&plan->x, &forms[order[i]].x),
                                         .y_slot = slot_find(&plan->y, &forms[order[i]].y)};
        fills_collect(plan, &plan->steps[i], source, touched);
    }
    plan->sections = hpt_arena_alloc(arena, steps, sizeof *plan->sections);
    HPT_FAIL_NO_MEMORY(plan->sections);
    sections_collect(plan);
    HPT_TRY(indices_count(plan, error));
    HPT_TRY(hpt_kernel_plan_numerics(plan, request, error));
    *out = plan;
done:
    if (status != HPT_OK) hpt_arena_destroy(arena);
    return status;
}

void hpt_kernel_plan_destroy(hpt_kernel_plan *plan) {
    if (plan) hpt_arena_destroy(plan->arena);
}
