#include "launch/launch.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void unbind(hpt_call *call) {
    for (size_t i = 0; i < call->record_count; i++) hpt_record_clear(&call->record[i]);
    call->record_count = 0;
    call->bound = false;
}

hpt_status hpt_call_create(hpt_call **out, hpt_op *op, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = op->record;
    hpt_call *call = calloc(1, sizeof *call);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(call);
    call->op = op;
    HPT_FAIL_NO_MEMORY(call->param_set = calloc(o->param_count + 1, sizeof *call->param_set));
    HPT_FAIL_NO_MEMORY(call->param = calloc(o->param_count + 1, sizeof *call->param));
    HPT_FAIL_NO_MEMORY(call->scalar = calloc(o->scalar_count + 1, sizeof *call->scalar));
    HPT_FAIL_NO_MEMORY(call->buffer = calloc(o->buffer_count + 1, sizeof *call->buffer));
    HPT_FAIL_NO_MEMORY(call->record = calloc(o->step_count + 1, sizeof *call->record));
    HPT_FAIL_IF(hpt_values_init(&call->env, &o->names) != HPT_OK, HPT_NO_MEMORY, "", "Out of memory.");
    for (size_t i = 0; i < o->scalar_count; i++) call->scalar[i] = o->scalar[i].fallback;
    *out = call;
    call = NULL;
done:
    hpt_call_destroy(call);
    return status;
}

void hpt_call_destroy(hpt_call *call) {
    if (!call) return;
    if (call->record) unbind(call);
    free(call->record);
    free(call->param_set);
    free(call->param);
    free(call->scalar);
    free(call->buffer);
    hpt_values_clear(&call->env);
    free(call);
}

/* ---- setting ---- */
static hpt_status unknown(const hpt_call *call, const char *what, const char *name, hpt_error *error) {
    return hpt_error_set(error, HPT_USAGE, name, "The operation %s (%s) has no %s of this name.", call->op->record->op,
                         call->op->record->folder, what);
}

static int find_param(const hpt_call *call, const char *name) {
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < o->param_count; i++)
        if (strcmp(o->param[i].name, name) == 0) return (int)i;
    return -1;
}

static int find_buffer(const hpt_call *call, const char *name) {
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < o->buffer_count; i++)
        if (strcmp(o->buffer[i].name, name) == 0) return (int)i;
    return -1;
}

hpt_status hpt_call_set_param(hpt_call *call, const char *name, int64_t value, hpt_error *error) {
    int i = find_param(call, name);
    if (i < 0) return unknown(call, "parameter", name, error);
    unbind(call);
    call->param[i] = value;
    call->param_set[i] = true;
    return HPT_OK;
}

hpt_status hpt_call_set_scalar(hpt_call *call, const char *name, double value, hpt_error *error) {
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < o->scalar_count; i++)
        if (strcmp(o->scalar[i].name, name) == 0) {
            unbind(call);
            call->scalar[i] = value;
            return HPT_OK;
        }
    return unknown(call, "scalar", name, error);
}

hpt_status hpt_call_set_buffer(hpt_call *call, const char *name, uint64_t address, hpt_error *error) {
    int i = find_buffer(call, name);
    if (i < 0) return unknown(call, "buffer", name, error);
    unbind(call);
    call->buffer[i] = address;
    return HPT_OK;
}

/* ---- evaluating op.json ---- */
static hpt_status eval_params(hpt_call *call, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < o->param_count; i++) call->env.known[o->param[i].slot] = false;
    for (size_t i = 0; i < o->param_count; i++)
        if (call->param_set[i]) hpt_values_set(&call->env, o->param[i].slot, call->param[i]);
    for (size_t i = 0; i < o->param_count; i++) {
        int64_t value;
        if (call->param_set[i]) continue;
        HPT_FAIL_IF(!o->param[i].fallback, HPT_USAGE, o->param[i].name, "The parameter has no default and is not set.");
        HPT_TRY(hpt_formula_eval(&value, o->param[i].fallback, &o->names, &call->env, error));
        hpt_values_set(&call->env, o->param[i].slot, value);
    }
    for (size_t i = 0; i < o->param_count; i++) {
        int64_t low;
        if (!o->param[i].min) continue;
        HPT_TRY(hpt_formula_eval(&low, o->param[i].min, &o->names, &call->env, error));
        int64_t value = call->env.value[o->param[i].slot];
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
static hpt_status evaluate(hpt_call *call, bool query, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = call->op->record;
    hpt_values_set(&call->env, o->sms, call->op->context->info.sms);
    HPT_TRY(eval_params(call, error));
    for (size_t i = 0; i < o->buffer_count; i++) {
        const hpt_operation_buffer *b = &o->buffer[i];
        bool own = b->role == HPT_ROLE_PREPARED || b->role == HPT_ROLE_WORKSPACE;
        bool given = call->buffer[i] != 0 || (query && (own || !b->optional));
        hpt_values_set(&call->env, b->has, given);
        hpt_values_set(&call->env, b->align, call->buffer[i] ? alignment(call->buffer[i]) : 256);
    }
    for (size_t i = 0; i < o->scalar_count; i++) {
        hpt_values_set(&call->env, o->scalar[i].one, call->scalar[i] == 1.0);
        hpt_values_set(&call->env, o->scalar[i].zero, call->scalar[i] == 0.0);
    }
    HPT_TRY(hpt_lets_eval(o->let, o->let_count, &o->names, &call->env, false, error));
done:
    return status;
}

static hpt_status buffer_bytes(hpt_call *call, size_t i, int64_t *bytes, hpt_error *error) {
    const hpt_operation *o = call->op->record;
    hpt_status status = hpt_formula_eval(bytes, o->buffer[i].bytes, &o->names, &call->env, error);
    if (status == HPT_OK && *bytes < 0)
        status = hpt_error_set(error, HPT_UNSUPPORTED, o->buffer[i].name, "The buffer's size would be %lld bytes.",
                               (long long)*bytes);
    return status;
}

hpt_status hpt_call_bytes(hpt_call *call, const char *buffer, size_t *bytes, bool *zero, hpt_error *error) {
    int64_t value;
    int i = find_buffer(call, buffer);
    if (i < 0) return unknown(call, "buffer", buffer, error);
    hpt_status status = evaluate(call, true, error);
    if (status == HPT_OK) status = buffer_bytes(call, (size_t)i, &value, error);
    if (status != HPT_OK) return status;
    *bytes = (size_t)value;
    if (zero) *zero = call->op->record->buffer[i].zero;
    return HPT_OK;
}

hpt_status hpt_call_param(hpt_call *call, const char *name, int64_t *value, hpt_error *error) {
    int i = find_param(call, name);
    if (i < 0) return unknown(call, "parameter", name, error);
    hpt_status status = eval_params(call, error);
    if (status == HPT_OK) *value = call->env.value[call->op->record->param[i].slot];
    return status;
}

/* ---- binding and running ---- */
static hpt_status check_buffers(hpt_call *call, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < o->buffer_count; i++) {
        int64_t optional = 0, bytes;
        if (call->buffer[i]) continue;
        if (o->buffer[i].optional)
            HPT_TRY(hpt_formula_eval(&optional, o->buffer[i].optional, &o->names, &call->env, error));
        if (optional) continue;
        HPT_TRY(buffer_bytes(call, i, &bytes, error));
        HPT_FAIL_IF(bytes > 0, HPT_USAGE, o->buffer[i].name, "The buffer is not set; it needs %lld bytes.",
                    (long long)bytes);
    }
done:
    return status;
}

static hpt_status require_kernels(const hpt_op *op, hpt_error *error) {
    if (op->built) return HPT_OK;
    return hpt_error_set(error, HPT_USAGE, op->record->op,
                         "The operation was read without compiling its kernels (hpt_op_read).");
}

hpt_status hpt_call_bind(hpt_call *call, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = call->op->record;
    hpt_text violations = {0};
    unbind(call);
    HPT_TRY(require_kernels(call->op, error));
    HPT_TRY(evaluate(call, false, error));
    HPT_TRY(check_buffers(call, error));
    HPT_TRY(hpt_requirements_check(&violations, o->require, o->require_count, &o->names, &call->env, error));
    for (size_t i = 0; i < o->step_count && !violations.length; i++) {
        bool skipped;
        HPT_TRY(hpt_record_build(&call->record[call->record_count], &skipped, call, i, &violations, error));
        if (!skipped) call->record_count++;
    }
    HPT_FAIL_IF(violations.failed, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_FAIL_IF(violations.length, HPT_UNSUPPORTED, o->op, "%s", violations.data);
    call->bound = true;
done:
    if (status != HPT_OK) unbind(call);
    hpt_text_clear(&violations);
    return status;
}

static hpt_status launch_phase(const hpt_call *call, hpt_phase phase, void *stream, hpt_error *error) {
    if (!call->bound) return hpt_error_set(error, HPT_USAGE, "call", "The call is not bound (hpt_call_bind).");
    const hpt_backend *backend = call->op->context->backend;
    for (size_t i = 0; i < call->record_count; i++) {
        const hpt_record *r = &call->record[i];
        if (r->phase != phase) continue;
        hpt_status status = backend->launch(r->module, &r->launch, stream, error);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_call_prepare(const hpt_call *call, void *stream, hpt_error *error) {
    return launch_phase(call, HPT_PHASE_PREPARE, stream, error);
}

hpt_status hpt_call_run(const hpt_call *call, void *stream, hpt_error *error) {
    return launch_phase(call, HPT_PHASE_RUN, stream, error);
}

/* The name is enough: a finishing pass is a package of its own, every operation that can have one calls it so
 * (templates/kernels/finish), and a call has records only of the steps that it launches. */
double hpt_call_error_bound(const hpt_call *call) {
    const hpt_operation *o = call->op->record;
    for (size_t i = 0; i < call->record_count; i++)
        if (strcmp(call->record[i].package, "finish") == 0) return o->bound_finished;
    return o->bound;
}

int hpt_call_launches(const hpt_call *call) {
    int count = 0;
    for (size_t i = 0; i < call->record_count; i++) count += call->record[i].phase == HPT_PHASE_RUN;
    return count;
}

hpt_status hpt_call_stamp(hpt_call *call, char out[65], hpt_error *error) {
    const hpt_operation *o = call->op->record;
    hpt_status status = require_kernels(call->op, error);
    if (status == HPT_OK) status = eval_params(call, error);
    if (status != HPT_OK) return status;
    hpt_text text = {0};
    hpt_text_printf(&text, "heptane-prepared/1 %s %s %s %s %s %s\n", o->op, o->scheme_hash, o->type_x, o->type_y,
                    o->type_c, o->type_forms);
    for (size_t i = 0; i < o->param_count; i++)
        if (strcmp(o->param[i].name, "m") != 0) /* rows of activations do not shape a weight's forms */
            hpt_text_printf(&text, "%s %" PRId64 "\n", o->param[i].name, call->env.value[o->param[i].slot]);
    for (size_t i = 0; i < o->step_count; i++)
        if (o->step[i].phase == HPT_PHASE_PREPARE) hpt_text_printf(&text, "%s\n", call->op->kernel[i].source_hash);
    if (text.failed)
        status = hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    else
        hpt_sha256_hex(out, text.data, text.length);
    hpt_text_clear(&text);
    return status;
}
