/* One step of an operation, for one shape: the package's names get values, the launch and every argument are computed.
 */
#include "launch/launch.h"
#include <stdlib.h>
#include <string.h>

enum { MAP_BYTES = 128, MAP_ALIGN = 64 };

typedef struct scope { /* what evaluating a package's formulas needs */
    const hpt_manifest *m;
    hpt_values values;
    hpt_error *error;
} scope;

static hpt_status eval(int64_t *out, const scope *s, const hpt_formula *formula) {
    *out = 0;
    return formula ? hpt_formula_eval(out, formula, &s->m->names, &s->values, s->error) : HPT_OK;
}

static hpt_status eval_range(int64_t *out, const scope *s, const hpt_formula *formula, int64_t low, int64_t high,
                             const char *what) {
    hpt_status status = eval(out, s, formula);
    if (status == HPT_OK && (*out < low || *out > high))
        status = hpt_error_set(s->error, HPT_UNSUPPORTED, s->m->folder, "%s would be %lld; it must be %lld to %lld.",
                               what, (long long)*out, (long long)low, (long long)high);
    return status;
}

static hpt_status eval_u32(uint32_t *out, const scope *s, const hpt_formula *formula, int64_t low, int64_t high,
                           const char *what) {
    int64_t value;
    hpt_status status = eval_range(&value, s, formula, low, high, what);
    *out = (uint32_t)value;
    return status;
}

/* ---- the launch shape ---- */
static bool same_shape(const hpt_fit *fit, const hpt_launch *launch) {
    return fit->clusters > 0 && fit->shared_bytes == launch->shared_bytes &&
           memcmp(fit->block, launch->block, sizeof fit->block) == 0 &&
           memcmp(fit->cluster, launch->cluster, sizeof fit->cluster) == 0;
}

static hpt_status count_clusters(int *out, hpt_context *context, hpt_kernel *kernel, const hpt_launch *launch,
                                 hpt_error *error) {
    hpt_status status = HPT_OK;
    pthread_mutex_lock(&context->lock);
    if (!same_shape(&kernel->fit, launch)) {
        int clusters = 0;
        status = context->backend->max_clusters(kernel->module, launch, &clusters, error);
        kernel->fit = (hpt_fit){.shared_bytes = launch->shared_bytes, .clusters = status == HPT_OK ? clusters : 0};
        memcpy(kernel->fit.block, launch->block, sizeof kernel->fit.block);
        memcpy(kernel->fit.cluster, launch->cluster, sizeof kernel->fit.cluster);
    }
    *out = kernel->fit.clusters;
    pthread_mutex_unlock(&context->lock);
    return status;
}

static hpt_status launch_shape(hpt_launch *launch, scope *s, hpt_context *context, hpt_kernel *kernel) {
    hpt_status status = HPT_OK;
    hpt_error *error = s->error;
    const hpt_manifest *m = s->m;
    int clusters = 0;
    HPT_TRY(hpt_lets_eval(m->let, m->let_count, &m->names, &s->values, true, error));
    for (int i = 0; i < 3; i++) {
        HPT_TRY(eval_u32(&launch->block[i], s, m->block[i], 1, 1024, "A block dimension"));
        HPT_TRY(eval_u32(&launch->cluster[i], s, m->cluster[i], 1, 16, "A cluster dimension"));
        launch->grid[i] = launch->cluster[i];
    }
    HPT_TRY(eval_u32(&launch->shared_bytes, s, m->shared, 0, 1 << 20, "Dynamic shared memory"));
    launch->overlap = m->overlap;
    HPT_TRY(count_clusters(&clusters, context, kernel, launch, error));
    HPT_FAIL_IF(clusters < 1, HPT_UNSUPPORTED, m->folder,
                "The kernel does not fit on this device (%u bytes of shared memory, clusters of %u).",
                launch->shared_bytes, launch->cluster[0] * launch->cluster[1] * launch->cluster[2]);
    hpt_values_set(&s->values, m->max_clusters, clusters);
    HPT_TRY(hpt_lets_eval(m->let, m->let_count, &m->names, &s->values, false, error));
done:
    return status;
}

static hpt_status grid_shape(hpt_launch *launch, const scope *s) {
    hpt_status status = HPT_OK;
    hpt_error *error = s->error;
    for (int i = 0; i < 3; i++) {
        HPT_TRY(eval_u32(&launch->grid[i], s, s->m->grid[i], 1, i ? 65535 : INT32_MAX, "A grid dimension"));
        HPT_FAIL_IF(launch->grid[i] % launch->cluster[i], HPT_UNSUPPORTED, s->m->folder,
                    "The grid (%u) is not a multiple of the cluster (%u).", launch->grid[i], launch->cluster[i]);
    }
done:
    return status;
}

/* ---- arguments ---- */
static const size_t sizes[] = {[HPT_ARG_TENSORMAP] = MAP_BYTES,
                               [HPT_ARG_POINTER] = 8,
                               [HPT_ARG_I32] = 4,
                               [HPT_ARG_U32] = 4,
                               [HPT_ARG_I64] = 8,
                               [HPT_ARG_F32] = 4};

static hpt_status put_map(void *to, const scope *s, const hpt_argument *a, hpt_device_ptr address,
                          const hpt_call *call) {
    hpt_status status = HPT_OK;
    const hpt_context *c = call->op->context;
    hpt_tensor_map map = {
        .element = a->element, .rank = a->rank, .address = address, .swizzle = a->swizzle, .l2_promotion = a->l2};
    int64_t value;
    for (int i = 0; i < a->rank; i++) {
        HPT_TRY(eval_range(&value, s, a->dim[i], 1, (int64_t)1 << 32, "A tensor map's dimension"));
        map.dim[i] = (uint64_t)value;
        HPT_TRY(eval_u32(&map.box[i], s, a->box[i], 1, 256, "A tensor map's box"));
        if (i == 0) continue;
        HPT_TRY(eval_range(&value, s, a->stride[i], 0, ((int64_t)1 << 40) - 1, "A tensor map's stride"));
        map.stride[i] = (uint64_t)value;
    }
    HPT_TRY(c->backend->encode(c->device, to, &map, s->error));
done:
    return status;
}

static hpt_status put_argument(void *to, const scope *s, const hpt_argument *a, const hpt_call *call,
                               const hpt_operation_step *step) {
    int64_t value = 0;
    hpt_status status = eval(&value, s, a->value);
    if (status != HPT_OK) return status;
    hpt_device_ptr address = a->buffer >= 0 ? call->buffer[step->buffer[a->buffer]] : 0;
    if (address) address += (uint64_t)value;
    switch (a->kind) {
    case HPT_ARG_TENSORMAP: /* of a buffer that was left out: zeros, which the kernel must not touch */
        return address ? put_map(to, s, a, address, call) : HPT_OK;
    case HPT_ARG_POINTER:
        memcpy(to, &address, 8);
        return HPT_OK;
    case HPT_ARG_I64:
        memcpy(to, &value, 8);
        return HPT_OK;
    case HPT_ARG_I32:
    case HPT_ARG_U32: {
        uint32_t bits;
        bool is_signed = a->kind == HPT_ARG_I32;
        status = eval_range(&value, s, a->value, is_signed ? INT32_MIN : 0, is_signed ? INT32_MAX : (int64_t)UINT32_MAX,
                            "A 32-bit kernel argument");
        bits = (uint32_t)value;
        memcpy(to, &bits, 4);
        return status;
    }
    case HPT_ARG_F32: {
        const hpt_step_scalar *bound = &step->scalar[a->scalar];
        float number = (float)(bound->index >= 0 ? call->scalar[bound->index] : bound->number);
        memcpy(to, &number, 4);
        return HPT_OK;
    }
    }
    return HPT_INTERNAL;
}

static hpt_status put_arguments(hpt_record *record, const scope *s, const hpt_call *call,
                                const hpt_operation_step *step) {
    hpt_status status = HPT_OK;
    hpt_error *error = s->error;
    const hpt_manifest *m = s->m;
    HPT_FAIL_NO_MEMORY(record->storage = aligned_alloc(MAP_ALIGN, MAP_BYTES * (m->arg_count + 1)));
    HPT_FAIL_NO_MEMORY(record->argument = calloc(m->arg_count + 1, sizeof *record->argument));
    HPT_FAIL_NO_MEMORY(record->size = calloc(m->arg_count + 1, sizeof *record->size));
    memset(record->storage, 0, MAP_BYTES * (m->arg_count + 1));
    for (size_t i = 0; i < m->arg_count; i++) {
        void *to = (char *)record->storage + MAP_BYTES * i;
        HPT_TRY(put_argument(to, s, &m->arg[i], call, step));
        record->argument[i] = to;
        record->size[i] = sizes[m->arg[i].kind];
    }
    record->launch.arguments = record->argument;
    record->launch.argument_size = record->size;
    record->launch.argument_count = m->arg_count;
done:
    return status;
}

hpt_status hpt_record_build(hpt_record *out, bool *skipped, const hpt_call *call, size_t index, hpt_text *violations,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_operation *o = call->op->record;
    const hpt_operation_step *step = &o->step[index];
    const hpt_manifest *m = step->package;
    hpt_record record = {.phase = step->phase, .module = call->op->kernel[index].module, .package = m->kernel};
    scope s = {.m = m, .error = error};
    int64_t value = 1;
    *skipped = true;
    HPT_FAIL_IF(hpt_values_init(&s.values, &m->names) != HPT_OK, HPT_NO_MEMORY, m->folder, "Out of memory.");
    if (step->when) HPT_TRY(hpt_formula_eval(&value, step->when, &o->names, &call->env, error));
    if (!value) goto done;
    for (size_t i = 0; i < m->param_count; i++) {
        HPT_TRY(hpt_formula_eval(&value, step->param[i], &o->names, &call->env, error));
        hpt_values_set(&s.values, (int)i, value);
    }
    hpt_values_set(&s.values, m->sms, call->op->context->info.sms);
    HPT_TRY(launch_shape(&record.launch, &s, call->op->context, &call->op->kernel[index]));
    size_t before = violations->length;
    HPT_TRY(hpt_requirements_check(violations, m->require, m->require_count, &m->names, &s.values, error));
    HPT_TRY(eval(&value, &s, m->skip));
    if (value || violations->length > before) goto done;
    HPT_TRY(grid_shape(&record.launch, &s));
    HPT_TRY(put_arguments(&record, &s, call, step));
    *skipped = false;
    *out = record;
    record = (hpt_record){0};
done:
    hpt_values_clear(&s.values);
    hpt_record_clear(&record);
    return status;
}

void hpt_record_clear(hpt_record *record) {
    free(record->storage);
    free(record->argument);
    free(record->size);
    *record = (hpt_record){0};
}
