#include "problem.h"
#include "launch/launch.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static hpt_status set_shape(hpt_problem *p, hpt_error *error) {
    const hpt_shape *s = &p->data->shape;
    const struct {
        const char *name;
        int64_t value;
    } params[] = {{"m", s->m},     {"n", s->n},     {"k", s->k},    {"batch", s->batch},
                  {"ldx", s->ldx}, {"ldy", s->ldy}, {"ldc", s->ldc}};
    for (size_t i = 0;; i++) { /* an op need not have all of them, but not one that we do not know */
        const char *name = hpt_op_param(p->op, i, NULL);
        if (!name) return HPT_OK;
        for (size_t j = 0; j < HPT_COUNT(params); j++)
            if (strcmp(params[j].name, name) == 0) {
                hpt_status status = hpt_call_set_param(p->call, name, params[j].value, error);
                if (status != HPT_OK) return status;
            }
    }
}

bool hpt_op_has_param(const hpt_op *op, const char *name) {
    for (size_t i = 0; hpt_op_param(op, i, NULL); i++)
        if (strcmp(hpt_op_param(op, i, NULL), name) == 0) return true;
    return false;
}

/* Sizes and strides are those of the data, which has options of its own. */
static bool is_of_data(const char *name) {
    static const char *const names[] = {"m",   "n",        "k",        "batch",    "ldx",      "ldy",    "ldc",
                                        "ldr", "stride_x", "stride_y", "stride_c", "stride_r", "hidden", "inner"};
    for (size_t i = 0; i < HPT_COUNT(names); i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

hpt_status hpt_call_set_params(hpt_call *call, const char *settings, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *copy = NULL, *rest = NULL;
    if (!settings) return HPT_OK;
    HPT_FAIL_NO_MEMORY(copy = strdup(settings));
    for (char *pair = strtok_r(copy, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '='), *end = pair;
        const long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
        HPT_FAIL_IF(!equals || end == equals + 1 || *end, HPT_USAGE, "--set", "\"%s\" is not NAME=INTEGER.", pair);
        *equals = 0;
        HPT_FAIL_IF(is_of_data(pair), HPT_USAGE, "--set", "%s has an option of its own, or follows from the sizes.",
                    pair);
        HPT_TRY(hpt_call_set_param(call, pair, value, error));
    }
done:
    free(copy);
    return status;
}

bool hpt_call_any_order(hpt_call *call) {
    int64_t cut = 0;
    return hpt_call_param(call, "cut", &cut, NULL) == HPT_OK && cut == 2;
}

/* In the emulator the last wave is not cut unless asked: that would hide the number of writes. */
static hpt_status set_further(hpt_problem *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (strcmp(p->context->backend->name, "emulator") == 0 && hpt_op_has_param(p->op, "cut"))
        HPT_TRY(hpt_call_set_param(p->call, "cut", 0, error));
    HPT_TRY(hpt_call_set_params(p->call, p->data->settings, error));
done:
    return status;
}

static hpt_status set_scalars(hpt_problem *p, hpt_error *error) {
    for (size_t i = 0;; i++) {
        const char *name = hpt_op_scalar(p->op, i, NULL);
        if (!name) return HPT_OK;
        hpt_status status = HPT_OK;
        if (strcmp(name, "alpha") == 0) status = hpt_call_set_scalar(p->call, name, p->data->alpha, error);
        if (strcmp(name, "beta") == 0) status = hpt_call_set_scalar(p->call, name, p->data->beta, error);
        if (status != HPT_OK) return status;
    }
}

static hpt_status set_buffer(hpt_problem *p, size_t i, const char *name, uint64_t shared, const void *host,
                             size_t bytes, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint64_t address = shared;
    if (!shared) {
        HPT_TRY(hpt_device_alloc(p->context, &address, bytes, error));
        p->buffer[i] = address;
        if (host)
            HPT_TRY(hpt_device_upload(p->context, address, host, bytes, error));
        else
            HPT_TRY(hpt_device_fill(p->context, address, 0xff, bytes, NULL, error));
    }
    if (strcasecmp(name, "x") == 0) p->x = address;
    if (strcasecmp(name, "y") == 0) p->y = address;
    if (strcasecmp(name, "c") == 0) p->c = address;
    HPT_TRY(hpt_call_set_buffer(p->call, name, address, error));
done:
    return status;
}

static hpt_status set_operands(hpt_problem *p, uint64_t x, uint64_t y, uint64_t c, hpt_error *error) {
    const hpt_data *d = p->data;
    hpt_status status = HPT_OK;
    const size_t rows = (size_t)(d->shape.m * d->shape.batch);
    p->bytes_c = d->elements_c * hpt_number_type_bytes(d->type_c);
    for (size_t i = 0; i < p->buffer_count; i++) {
        const char *name = hpt_op_buffer(p->op, i, NULL, NULL);
        if (strcasecmp(name, "x") == 0)
            HPT_TRY(set_buffer(p, i, name, x, d->x, d->elements_x * hpt_number_type_bytes(d->type_x), error));
        else if (strcasecmp(name, "y") == 0)
            HPT_TRY(set_buffer(p, i, name, y, d->y, d->elements_y * hpt_number_type_bytes(d->type_y), error));
        else if (strcmp(name, "bias") == 0 && d->bias)
            HPT_TRY(set_buffer(p, i, name, 0, d->bias, (size_t)d->shape.n * hpt_number_type_bytes(d->type_c), error));
        else if (strcmp(name, "residual") == 0 && d->residual)
            HPT_TRY(set_buffer(p, i, name, 0, d->residual, rows * (size_t)d->shape.n * hpt_number_type_bytes(d->type_c),
                               error));
        else if (strcasecmp(name, "c") == 0)
            HPT_TRY(set_buffer(p, i, name, c, d->c, p->bytes_c, error));
    }
done:
    return status;
}

static hpt_status set_own_buffers(hpt_problem *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (size_t i = 0; i < p->buffer_count; i++) {
        const char *role, *name = hpt_op_buffer(p->op, i, &role, NULL);
        size_t bytes;
        bool zero;
        if (strcmp(role, "prepared") != 0 && strcmp(role, "workspace") != 0) continue;
        HPT_TRY(hpt_call_bytes(p->call, name, &bytes, &zero, error));
        if (!bytes) continue;
        HPT_TRY(set_buffer(p, i, name, 0, NULL, bytes, error));
        if (zero) HPT_TRY(hpt_device_fill(p->context, p->buffer[i], 0, bytes, NULL, error));
    }
done:
    return status;
}

hpt_status hpt_problem_create(hpt_problem *out, hpt_context *context, hpt_op *op, const hpt_data *data, uint64_t x,
                              uint64_t y, uint64_t c, hpt_error *error) {
    hpt_status status = HPT_OK;
    *out = (hpt_problem){.context = context, .op = op, .data = data};
    while (hpt_op_buffer(op, out->buffer_count, NULL, NULL)) out->buffer_count++;
    HPT_FAIL_NO_MEMORY(out->buffer = calloc(out->buffer_count + 1, sizeof *out->buffer));
    HPT_TRY(hpt_call_create(&out->call, op, error));
    HPT_TRY(set_shape(out, error));
    HPT_TRY(set_further(out, error));
    HPT_TRY(set_scalars(out, error));
    HPT_TRY(set_operands(out, x, y, c, error));
    HPT_FAIL_IF(!out->x || !out->y || !out->c, HPT_UNSUPPORTED, "op", "The operation has no buffers x, y and c.");
    HPT_TRY(set_own_buffers(out, error));
    HPT_TRY(hpt_device_synchronize(context, NULL, error));
    HPT_TRY(hpt_call_bind(out->call, error));
done:
    if (status != HPT_OK) hpt_problem_clear(out);
    return status;
}

void hpt_problem_clear(hpt_problem *problem) {
    hpt_call_destroy(problem->call);
    for (size_t i = 0; problem->buffer && i < problem->buffer_count; i++)
        hpt_device_free(problem->context, problem->buffer[i]);
    free(problem->buffer);
    *problem = (hpt_problem){0};
}

hpt_status hpt_problem_run_once(hpt_problem *p, void *host, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (p->data->c)
        HPT_TRY(hpt_device_upload(p->context, p->c, p->data->c, p->bytes_c, error));
    else
        HPT_TRY(hpt_device_fill(p->context, p->c, 0xff, p->bytes_c, stream, error));
    HPT_TRY(hpt_call_prepare(p->call, stream, error));
    HPT_TRY(hpt_call_run(p->call, stream, error));
    HPT_TRY(hpt_device_synchronize(p->context, stream, error));
    if (host) HPT_TRY(hpt_device_download(p->context, host, p->c, p->bytes_c, error));
done:
    return status;
}

hpt_status hpt_call_time(double *seconds, hpt_context *context, hpt_call *call, hpt_error *error) {
    enum { RUNS = 11 };
    const hpt_backend *backend = context->backend;
    hpt_backend_device *device = context->device;
    hpt_event from = NULL, to = NULL;
    double times[RUNS];
    hpt_status status = HPT_OK;
    for (int i = 0; i < RUNS; i++) {
        HPT_TRY(backend->event_record(device, &from, NULL, error));
        HPT_TRY(hpt_call_run(call, NULL, error));
        HPT_TRY(backend->event_record(device, &to, NULL, error));
        HPT_TRY(backend->event_seconds(device, &times[i], from, to, error));
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            double t = times[j];
            times[j] = times[j - 1];
            times[j - 1] = t;
        }
    }
    *seconds = times[RUNS / 2];
done:
    if (from) backend->event_release(device, from);
    if (to) backend->event_release(device, to);
    return status;
}
