#include "launch/launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job { /* one package compiled by one thread */
    hpt_context *context;
    const hpt_manifest *manifest;
    hpt_kernel *kernel;
    hpt_build build;
    hpt_status status;
    hpt_error error;
    pthread_t thread;
    bool started;
} job;

static void *build_one(void *argument) {
    job *j = argument;
    j->status = hpt_jit_build(&j->build, j->kernel->source_hash, j->context, j->manifest, &j->error);
    return NULL;
}

/* The first step that launches the same package. */
static size_t first_of(const hpt_operation *record, size_t step) {
    size_t i = 0;
    while (record->step[i].package != record->step[step].package) i++;
    return i;
}

/* A backend knows an image as "PTX", with a line; here it gets the file that it came from. */
static void name_image(hpt_error *error, const job *j) {
    char where[HPT_ERROR_WHERE];
    const bool ahead = strcmp(j->build.origin, "package") == 0;
    if (!error || strncmp(error->where, "PTX", 3) != 0) return;
    snprintf(where, sizeof where, "%.240s/kernel.%.20s%.20s", j->manifest->folder, ahead ? j->manifest->target : "cu",
             ahead ? ".ptx" : " as PTX");
    snprintf(where + strlen(where), sizeof where - strlen(where), "%.20s", error->where + 3);
    memcpy(error->where, where, sizeof where);
}

static hpt_status load_one(job *j, hpt_error *error) {
    const hpt_backend *backend = j->context->backend;
    const hpt_build *b = &j->build;
    j->kernel->registers = b->registers;
    j->kernel->spill_bytes = b->spill_stores + b->spill_loads;
    j->kernel->origin = b->origin;
    const hpt_status status =
        backend->load(j->context->device, &j->kernel->module, backend->wants_ptx ? b->ptx : b->cubin,
                      backend->wants_ptx ? b->ptx_length : b->cubin_length, j->manifest->symbol, error);
    if (status != HPT_OK) name_image(error, j);
    return status;
}

/* Packages compile side by side; loading is quick and follows in order. */
static hpt_status build_all(hpt_op *op, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t count = op->record->step_count;
    job *jobs = calloc(count + 1, sizeof *jobs);
    HPT_FAIL_NO_MEMORY(jobs);
    for (size_t i = 0; i < count; i++) {
        jobs[i].context = op->context;
        jobs[i].manifest = op->record->step[i].package;
        jobs[i].kernel = &op->kernel[i];
        if (first_of(op->record, i) != i) continue; /* compiled by an earlier step */
        jobs[i].started = i + 1 < count && pthread_create(&jobs[i].thread, NULL, build_one, &jobs[i]) == 0;
        if (!jobs[i].started) build_one(&jobs[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (jobs[i].started) pthread_join(jobs[i].thread, NULL);
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].status != HPT_OK && error) *error = jobs[i].error;
        HPT_TRY(jobs[i].status);
        size_t first = first_of(op->record, i);
        if (first != i)
            op->kernel[i] = op->kernel[first];
        else
            HPT_TRY(load_one(&jobs[i], error));
    }
done:
    for (size_t i = 0; jobs && i < count; i++) hpt_build_clear(&jobs[i].build);
    free(jobs);
    return status;
}

hpt_status hpt_op_read(hpt_op **out, hpt_context *context, const char *folder, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_op *op = calloc(1, sizeof *op);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(op);
    op->context = context;
    HPT_TRY(hpt_operation_read(&op->record, folder, error));
    for (size_t i = 0; i < op->record->step_count; i++) {
        const hpt_manifest *m = op->record->step[i].package;
        HPT_FAIL_IF(!hpt_target_fits(m->target, context->info.target), HPT_UNSUPPORTED, m->folder,
                    "The package is for %s, this device is %s (%s).", m->target, context->info.target,
                    context->info.name);
    }
    HPT_FAIL_NO_MEMORY(op->kernel = calloc(op->record->step_count + 1, sizeof *op->kernel));
    *out = op;
    op = NULL;
done:
    hpt_op_close(op);
    return status;
}

hpt_status hpt_op_open(hpt_op **out, hpt_context *context, const char *folder, hpt_error *error) {
    hpt_status status = hpt_op_read(out, context, folder, error);
    if (status != HPT_OK) return status;
    status = build_all(*out, error);
    if (status == HPT_OK) {
        (*out)->built = true;
        return HPT_OK;
    }
    hpt_op_close(*out);
    *out = NULL;
    return status;
}

void hpt_op_close(hpt_op *op) {
    if (!op) return;
    for (size_t i = 0; op->kernel && i < op->record->step_count; i++)
        if (op->kernel[i].module && first_of(op->record, i) == i) op->context->backend->unload(op->kernel[i].module);
    free(op->kernel);
    hpt_operation_destroy(op->record);
    free(op);
}

void hpt_op_describe(const hpt_op *op, hpt_op_info *out) {
    const hpt_operation *r = op->record;
    *out = (hpt_op_info){r->op,     r->target, r->scheme,     r->scheme_hash, r->type_x,
                         r->type_y, r->type_c, r->type_forms, r->n,           r->m,
                         r->p,      r->rank,   r->writes,     r->bound,       (int)r->step_count,
                         -1,        0};
    for (size_t i = 0; op->built && i < r->step_count; i++) {
        if (op->kernel[i].registers > out->registers) out->registers = op->kernel[i].registers;
        if (op->kernel[i].spill_bytes > out->spill_bytes) out->spill_bytes = op->kernel[i].spill_bytes;
    }
}

const char *hpt_op_param(const hpt_op *op, size_t i, const char **help) {
    if (i >= op->record->param_count) return NULL;
    if (help) *help = op->record->param[i].help;
    return op->record->param[i].name;
}

const char *hpt_op_buffer(const hpt_op *op, size_t i, const char **role, const char **type) {
    static const char *const names[] = {"input", "output", "prepared", "workspace"};
    if (i >= op->record->buffer_count) return NULL;
    if (role) *role = names[op->record->buffer[i].role];
    if (type) *type = op->record->buffer[i].type;
    return op->record->buffer[i].name;
}

const char *hpt_op_scalar(const hpt_op *op, size_t i, double *fallback) {
    if (i >= op->record->scalar_count) return NULL;
    if (fallback) *fallback = op->record->scalar[i].fallback;
    return op->record->scalar[i].name;
}

bool hpt_op_option(const hpt_op *op, const char *name) {
    const json_t *value = json_object_get(op->record->options, name);
    return json_is_true(value) || (json_is_integer(value) && json_integer_value(value) != 0);
}
