#include "launch/launch.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void unbind(hpt_plan *plan) {
    for (size_t i = 0; i < plan->record_count; i++) hpt_record_clear(&plan->record[i]);
    plan->record_count = 0;
    plan->bound = false;
}

hpt_status hpt_plan_create(hpt_plan **out, hpt_op *op, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = op->record;
    hpt_plan *plan = calloc(1, sizeof *plan);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(plan);
    plan->op = op;
    HPT_FAIL_NO_MEMORY(plan->param_set = calloc(o->param_count + 1, sizeof *plan->param_set));
    HPT_FAIL_NO_MEMORY(plan->param = calloc(o->param_count + 1, sizeof *plan->param));
    HPT_FAIL_NO_MEMORY(plan->scalar = calloc(o->scalar_count + 1, sizeof *plan->scalar));
    HPT_FAIL_NO_MEMORY(plan->buffer = calloc(o->buffer_count + 1, sizeof *plan->buffer));
    HPT_FAIL_NO_MEMORY(plan->record = calloc(o->step_count + 1, sizeof *plan->record));
    HPT_FAIL_IF(hpt_values_init(&plan->env, &o->names) != HPT_OK, HPT_NO_MEMORY, "", "Out of memory.");
    for (size_t i = 0; i < o->scalar_count; i++) plan->scalar[i] = o->scalar[i].fallback;
    *out = plan;
    plan = NULL;
done:
    hpt_plan_destroy(plan);
    return status;
}

void hpt_plan_destroy(hpt_plan *plan) {
    if (!plan) return;
    if (plan->record) unbind(plan);
    free(plan->record);
    free(plan->param_set);
    free(plan->param);
    free(plan->scalar);
    free(plan->buffer);
    hpt_values_clear(&plan->env);
    free(plan);
}

/* ---- setting ---- */
static hpt_status unknown(const hpt_plan *plan, const char *what, const char *name, hpt_error *error) {
    return hpt_error_set(error, HPT_USAGE, name, "The operation %s (%s) has no %s of this name.", plan->op->record->op,
                         plan->op->record->folder, what);
}

static int find_param(const hpt_plan *plan, const char *name) {
    const hpt_operation *o = plan->op->record;
    for (size_t i = 0; i < o->param_count; i++)
        if (strcmp(o->param[i].name, name) == 0) return (int)i;
    return -1;
}

static int find_buffer(const hpt_plan *plan, const char *name) {
    const hpt_operation *o = plan->op->record;
    for (size_t i = 0; i < o->buffer_count; i++)
        if (strcmp(o->buffer[i].name, name) == 0) return (int)i;
    return -1;
}

hpt_status hpt_plan_set_param(hpt_plan *plan, const char *name, int64_t value, hpt_error *error) {
    int i = find_param(plan, name);
    if (i < 0) return unknown(plan, "parameter", name, error);
    unbind(plan);
    plan->param[i] = value;
    plan->param_set[i] = true;
    return HPT_OK;
}

hpt_status hpt_plan_set_scalar(hpt_plan *plan, const char *name, double value, hpt_error *error) {
    const hpt_operation *o = plan->op->record;
    for (size_t i = 0; i < o->scalar_count; i++)
        if (strcmp(o->scalar[i].name, name) == 0) {
            unbind(plan);
            plan->scalar[i] = value;
            return HPT_OK;
        }
    return unknown(plan, "scalar", name, error);
}

hpt_status hpt_plan_set_buffer(hpt_plan *plan, const char *name, uint64_t address, hpt_error *error) {
    int i = find_buffer(plan, name);
    if (i < 0) return unknown(plan, "buffer", name, error);
    unbind(plan);
    plan->buffer[i] = address;
    return HPT_OK;
}

/* ---- evaluating op.json ---- */
static hpt_status eval_params(hpt_plan *plan, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = plan->op->record;
    for (size_t i = 0; i < o->param_count; i++) plan->env.known[o->param[i].slot] = false;
    for (size_t i = 0; i < o->param_count; i++)
        if (plan->param_set[i]) hpt_values_set(&plan->env, o->param[i].slot, plan->param[i]);
    for (size_t i = 0; i < o->param_count; i++) {
        int64_t value;
        if (plan->param_set[i]) continue;
        HPT_FAIL_IF(!o->param[i].fallback, HPT_USAGE, o->param[i].name, "The parameter has no default and is not set.");
        HPT_TRY(hpt_formula_eval(&value, o->param[i].fallback, &o->names, &plan->env, error));
        hpt_values_set(&plan->env, o->param[i].slot, value);
    }
    for (size_t i = 0; i < o->param_count; i++) {
        int64_t low;
        if (!o->param[i].min) continue;
        HPT_TRY(hpt_formula_eval(&low, o->param[i].min, &o->names, &plan->env, error));
        int64_t value = plan->env.value[o->param[i].slot];
        HPT_FAIL_IF(value < low, HPT_USAGE, o->param[i].name, "The value %lld is too small; it must be %lld at least.",
                    (long long)value, (long long)low);
    }
done:
    return status;
}

static int64_t alignment(hpt_device_ptr address) {
    int64_t align = 256;
    while (address % (uint64_t)align) align /= 2;
    return align;
}

/* In a query (before everything is set) a required, prepared or workspace buffer counts as given and aligned. */
static hpt_status evaluate(hpt_plan *plan, bool query, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = plan->op->record;
    hpt_values_set(&plan->env, o->sms, plan->op->context->info.sms);
    HPT_TRY(eval_params(plan, error));
    for (size_t i = 0; i < o->buffer_count; i++) {
        const hpt_operation_buffer *b = &o->buffer[i];
        bool own = b->role == HPT_ROLE_PREPARED || b->role == HPT_ROLE_WORKSPACE;
        bool given = plan->buffer[i] != 0 || (query && (own || !b->optional));
        hpt_values_set(&plan->env, b->has, given);
        hpt_values_set(&plan->env, b->align, plan->buffer[i] ? alignment(plan->buffer[i]) : 256);
    }
    for (size_t i = 0; i < o->scalar_count; i++) {
        hpt_values_set(&plan->env, o->scalar[i].one, plan->scalar[i] == 1.0);
        hpt_values_set(&plan->env, o->scalar[i].zero, plan->scalar[i] == 0.0);
    }
    HPT_TRY(hpt_lets_eval(o->let, o->let_count, &o->names, &plan->env, false, error));
done:
    return status;
}

static hpt_status buffer_bytes(hpt_plan *plan, size_t i, int64_t *bytes, hpt_error *error) {
    const hpt_operation *o = plan->op->record;
    hpt_status status = hpt_formula_eval(bytes, o->buffer[i].bytes, &o->names, &plan->env, error);
    if (status == HPT_OK && *bytes < 0)
        status = hpt_error_set(error, HPT_UNSUPPORTED, o->buffer[i].name, "The buffer's size would be %lld bytes.",
                               (long long)*bytes);
    return status;
}

hpt_status hpt_plan_bytes(hpt_plan *plan, const char *buffer, size_t *bytes, bool *zero, hpt_error *error) {
    int64_t value;
    int i = find_buffer(plan, buffer);
    if (i < 0) return unknown(plan, "buffer", buffer, error);
    hpt_status status = evaluate(plan, true, error);
    if (status == HPT_OK) status = buffer_bytes(plan, (size_t)i, &value, error);
    if (status != HPT_OK) return status;
    *bytes = (size_t)value;
    if (zero) *zero = plan->op->record->buffer[i].zero;
    return HPT_OK;
}

hpt_status hpt_plan_param(hpt_plan *plan, const char *name, int64_t *value, hpt_error *error) {
    int i = find_param(plan, name);
    if (i < 0) return unknown(plan, "parameter", name, error);
    hpt_status status = eval_params(plan, error);
    if (status == HPT_OK) *value = plan->env.value[plan->op->record->param[i].slot];
    return status;
}

/* ---- binding and running ---- */
static hpt_status check_buffers(hpt_plan *plan, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = plan->op->record;
    for (size_t i = 0; i < o->buffer_count; i++) {
        int64_t optional = 0, bytes;
        if (plan->buffer[i]) continue;
        if (o->buffer[i].optional)
            HPT_TRY(hpt_formula_eval(&optional, o->buffer[i].optional, &o->names, &plan->env, error));
        if (optional) continue;
        HPT_TRY(buffer_bytes(plan, i, &bytes, error));
        HPT_FAIL_IF(bytes > 0, HPT_USAGE, o->buffer[i].name, "The buffer is not set; it needs %lld bytes.",
                    (long long)bytes);
    }
done:
    return status;
}

hpt_status hpt_plan_bind(hpt_plan *plan, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = plan->op->record;
    hpt_text violations = {0};
    unbind(plan);
    HPT_TRY(evaluate(plan, false, error));
    HPT_TRY(check_buffers(plan, error));
    HPT_TRY(hpt_requirements_check(&violations, o->require, o->require_count, &o->names, &plan->env, error));
    for (size_t i = 0; i < o->step_count && !violations.length; i++) {
        bool skipped;
        HPT_TRY(hpt_record_build(&plan->record[plan->record_count], &skipped, plan, i, &violations, error));
        if (!skipped) plan->record_count++;
    }
    HPT_FAIL_IF(violations.failed, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_FAIL_IF(violations.length, HPT_UNSUPPORTED, o->op, "%s", violations.data);
    plan->bound = true;
done:
    if (status != HPT_OK) unbind(plan);
    hpt_text_clear(&violations);
    return status;
}

static hpt_status launch_phase(const hpt_plan *plan, hpt_phase phase, void *stream, hpt_error *error) {
    if (!plan->bound) return hpt_error_set(error, HPT_USAGE, "plan", "The plan is not bound (hpt_plan_bind).");
    const hpt_backend *backend = plan->op->context->backend;
    for (size_t i = 0; i < plan->record_count; i++) {
        const hpt_record *r = &plan->record[i];
        if (r->phase != phase) continue;
        hpt_status status = backend->launch(r->module, &r->launch, stream, error);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_plan_prepare(const hpt_plan *plan, void *stream, hpt_error *error) {
    return launch_phase(plan, HPT_PHASE_PREPARE, stream, error);
}

hpt_status hpt_plan_run(const hpt_plan *plan, void *stream, hpt_error *error) {
    return launch_phase(plan, HPT_PHASE_RUN, stream, error);
}

int hpt_plan_launches(const hpt_plan *plan) {
    int count = 0;
    for (size_t i = 0; i < plan->record_count; i++) count += plan->record[i].phase == HPT_PHASE_RUN;
    return count;
}

hpt_status hpt_plan_stamp(hpt_plan *plan, char out[65], hpt_error *error) {
    const hpt_operation *o = plan->op->record;
    hpt_status status = eval_params(plan, error);
    if (status != HPT_OK) return status;
    hpt_text text = {0};
    hpt_text_printf(&text, "heptane-prepared/1 %s %s %s %s %s %s\n", o->op, o->scheme_hash, o->type_x, o->type_y,
                    o->type_c, o->type_forms);
    for (size_t i = 0; i < o->param_count; i++)
        if (strcmp(o->param[i].name, "m") != 0) /* rows of activations do not shape a weight's forms */
            hpt_text_printf(&text, "%s %" PRId64 "\n", o->param[i].name, plan->env.value[o->param[i].slot]);
    for (size_t i = 0; i < o->step_count; i++)
        if (o->step[i].phase == HPT_PHASE_PREPARE) hpt_text_printf(&text, "%s\n", plan->op->kernel[i].source_hash);
    if (text.failed)
        status = hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    else
        hpt_sha256_hex(out, text.data, text.length);
    hpt_text_clear(&text);
    return status;
}
