/* The plan of a package, from the JSON that `heptane emit --dump=plan` prints. */
#include "agree.h"
#include <jansson.h>
#include <string.h>

static const char no_plan[] = "It is no plan as `heptane emit --dump=plan` prints it (%s).";

static int64_t integer(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static hpt_status read_operand(agree_operand *out, agree_plan *plan, const json_t *from, const char *path,
                               hpt_error *error) {
    hpt_status status = HPT_OK;
    const json_t *slots = json_object_get(from, "slots");
    size_t terms = 0;
    out->rows = integer(from, "rows");
    out->cols = integer(from, "cols");
    out->slots = json_array_size(slots);
    HPT_FAIL_IF(out->rows < 1 || out->cols < 1 || !out->slots, HPT_MALFORMED, path, no_plan, "x or y");
    for (size_t s = 0; s < out->slots; s++)
        terms += json_array_size(json_object_get(json_array_get(slots, s), "terms"));
    out->first_term = hpt_arena_alloc(plan->arena, out->slots + 1, sizeof *out->first_term);
    out->term = hpt_arena_alloc(plan->arena, terms + 1, sizeof *out->term);
    HPT_FAIL_IF(!out->first_term || !out->term, HPT_NO_MEMORY, path, "Out of memory.");
    terms = 0;
    for (size_t s = 0; s < out->slots; s++) {
        size_t i;
        json_t *t;
        out->first_term[s] = terms;
        json_array_foreach(json_object_get(json_array_get(slots, s), "terms"), i, t) {
            agree_term *term = &out->term[terms++];
            *term = (agree_term){integer(t, "row"), integer(t, "col"), json_number_value(json_object_get(t, "weight"))};
            HPT_FAIL_IF(term->row < 0 || term->row >= out->rows || term->col < 0 || term->col >= out->cols,
                        HPT_MALFORMED, path, no_plan, "a term");
        }
    }
    out->first_term[out->slots] = terms;
done:
    return status;
}

/* A step's fills and their targets as one list of writes. */
static hpt_status read_writes(agree_plan *plan, const json_t *root, const json_t *step, const char *path,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    const json_t *fills = json_object_get(root, "fills"), *targets = json_object_get(root, "targets");
    const int64_t first = integer(step, "first_fill"), count = integer(step, "fill_count");
    for (int64_t f = first; f < first + count; f++) {
        const json_t *fill = json_array_get(fills, (size_t)f);
        const int64_t first_target = integer(fill, "first_target"), some = integer(fill, "target_count");
        for (int64_t t = first_target; t < first_target + some; t++) {
            const json_t *target = json_array_get(targets, (size_t)t);
            const int64_t block = integer(target, "row") * plan->y.rows + integer(target, "col");
            HPT_FAIL_IF(!target || block < 0 || block >= plan->x.rows * plan->y.rows ||
                            plan->writes >= json_array_size(targets),
                        HPT_MALFORMED, path, no_plan, "a target");
            plan->write[plan->writes++] =
                (agree_write){(size_t)block, json_number_value(json_object_get(fill, "weight"))};
        }
    }
done:
    return status;
}

static hpt_status read_steps(agree_plan *plan, const json_t *root, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    const json_t *steps = json_object_get(root, "steps");
    const size_t targets = json_array_size(json_object_get(root, "targets"));
    const size_t blocks = (size_t)(plan->x.rows * plan->y.rows);
    plan->steps = json_array_size(steps);
    HPT_FAIL_IF(!plan->steps || blocks > AGREE_BLOCKS, HPT_MALFORMED, path, no_plan, "steps");
    plan->step = hpt_arena_alloc(plan->arena, plan->steps, sizeof *plan->step);
    plan->write = hpt_arena_alloc(plan->arena, targets + 1, sizeof *plan->write);
    plan->flow = hpt_arena_alloc(plan->arena, plan->steps * blocks, sizeof *plan->flow);
    HPT_FAIL_IF(!plan->step || !plan->write || !plan->flow, HPT_NO_MEMORY, path, "Out of memory.");
    for (size_t s = 0; s < plan->steps; s++) {
        const json_t *from = json_array_get(steps, s);
        agree_step *step = &plan->step[s];
        *step = (agree_step){.fresh = json_is_true(json_object_get(from, "fresh")),
                             .accumulator = (int)integer(from, "accumulator"),
                             .x_slot = (size_t)integer(from, "x_slot"),
                             .y_slot = (size_t)integer(from, "y_slot"),
                             .first_write = plan->writes};
        HPT_FAIL_IF(step->x_slot >= plan->x.slots || step->y_slot >= plan->y.slots || step->accumulator < 0 ||
                        step->accumulator >= AGREE_ACCUMULATORS,
                    HPT_MALFORMED, path, no_plan, "a step");
        HPT_TRY(read_writes(plan, root, from, path, error));
        step->writes = plan->writes - step->first_write;
    }
done:
    return status;
}

/* A product stays in its accumulator until that starts afresh, and goes out with every write till then. */
static void trace_flow(agree_plan *plan) {
    const size_t blocks = (size_t)(plan->x.rows * plan->y.rows);
    double held[AGREE_ACCUMULATORS][AGREE_BLOCKS] = {{0}};
    for (size_t s = plan->steps; s-- > 0;) {
        const agree_step *step = &plan->step[s];
        double *sum = held[step->accumulator];
        for (size_t w = step->first_write; w < step->first_write + step->writes; w++)
            sum[plan->write[w].block] += plan->write[w].weight;
        memcpy(plan->flow + s * blocks, sum, blocks * sizeof *sum);
        if (step->fresh) memset(sum, 0, blocks * sizeof *sum);
    }
}

static hpt_status check_package(const json_t *root, const char *path, const char *scheme_hash, int64_t writes,
                                hpt_error *error) {
    const char *hash = json_string_value(json_object_get(json_object_get(root, "scheme"), "hash"));
    const int64_t planned = integer(json_object_get(root, "chain"), "writes");
    if (hash && strcmp(hash, scheme_hash) == 0 && planned == writes) return HPT_OK;
    return hpt_error_set(error, HPT_DIFFERS, path,
                         "It is not the package's plan: scheme %.12s with %lld writes, not %.12s with %lld.",
                         hash ? hash : "?", (long long)planned, scheme_hash, (long long)writes);
}

hpt_status agree_plan_read(agree_plan *out, const char *path, const char *scheme_hash, int64_t writes,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    json_error_t reason;
    json_t *root = json_load_file(path, 0, &reason);
    *out = (agree_plan){0};
    HPT_FAIL_IF(!root, HPT_MALFORMED, path,
                "%s (It is made by `heptane emit SCHEME ... --dump=plan` with the options of the package.)",
                reason.text);
    HPT_TRY(check_package(root, path, scheme_hash, writes, error));
    HPT_FAIL_NO_MEMORY(out->arena = hpt_arena_create());
    const char *forms = json_string_value(json_object_get(root, "forms_type"));
    HPT_FAIL_IF(!forms || !hpt_number_type_find(&out->type_forms, forms), HPT_MALFORMED, path, no_plan, "forms_type");
    const char *sums = json_string_value(json_object_get(root, "sums_type"));
    HPT_FAIL_IF(!sums || !hpt_number_type_find(&out->type_sums, sums), HPT_MALFORMED, path, no_plan, "sums_type");
    HPT_TRY(read_operand(&out->x, out, json_object_get(root, "x"), path, error));
    HPT_TRY(read_operand(&out->y, out, json_object_get(root, "y"), path, error));
    HPT_TRY(read_steps(out, root, path, error));
    trace_flow(out);
done:
    json_decref(root);
    if (status != HPT_OK) agree_plan_clear(out);
    return status;
}

void agree_plan_clear(agree_plan *plan) {
    hpt_arena_destroy(plan->arena);
    *plan = (agree_plan){0};
}
