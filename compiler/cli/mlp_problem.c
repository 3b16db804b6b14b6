/* An mlp op on device copies of an MLP's operands. */
#include "mlp.h"
#include <stdlib.h>
#include <string.h>

/* ---- operands on the device ---- */
static hpt_status upload(const hpt_mlp_device *device, uint64_t *out, const hpt_mlp_data *d, const void *host,
                         int64_t elements, hpt_error *error) {
    hpt_status status = HPT_OK;
    const size_t count = (size_t)elements, bytes = count * hpt_number_type_bytes(device->type);
    void *converted = NULL;
    if (!host) return HPT_OK;
    if (device->type != d->type) {
        HPT_FAIL_NO_MEMORY(converted = malloc(bytes));
        hpt_typed_convert(converted, device->type, host, d->type, count);
    }
    HPT_TRY(hpt_device_alloc(device->context, out, bytes, error));
    HPT_TRY(hpt_device_upload(device->context, *out, converted ? converted : host, bytes, error));
done:
    free(converted);
    return status;
}

hpt_status hpt_mlp_upload_tokens(hpt_mlp_device *device, const hpt_mlp_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t elements = d->shape.m * d->shape.hidden;
    hpt_device_free(device->context, device->x);
    hpt_device_free(device->context, device->residual);
    device->x = device->residual = 0;
    HPT_TRY(upload(device, &device->x, d, d->x, elements, error));
    HPT_TRY(upload(device, &device->residual, d, d->residual, elements, error));
done:
    return status;
}

hpt_status hpt_mlp_upload(hpt_mlp_device *out, hpt_context *context, const hpt_mlp_data *d, hpt_number_type type,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_shape *s = &d->shape;
    const int64_t columns = hpt_mlp_gate_up_rows(d);
    *out = (hpt_mlp_device){.context = context, .type = type};
    HPT_TRY(hpt_mlp_upload_tokens(out, d, error));
    HPT_TRY(upload(out, &out->norm, d, d->norm, s->hidden, error));
    HPT_TRY(upload(out, &out->gate_up, d, d->gate_up, columns * s->hidden, error));
    HPT_TRY(upload(out, &out->down, d, d->down, s->hidden * s->inner, error));
    HPT_TRY(upload(out, &out->bias, d, d->bias, columns, error));
done:
    if (status != HPT_OK) hpt_mlp_device_clear(out);
    return status;
}

void hpt_mlp_device_clear(hpt_mlp_device *d) {
    const uint64_t all[] = {d->x, d->residual, d->norm, d->gate_up, d->down, d->bias};
    for (size_t i = 0; d->context && i < HPT_COUNT(all); i++) hpt_device_free(d->context, all[i]);
    *d = (hpt_mlp_device){0};
}

/* ---- the call ---- */
static uint64_t operand(const hpt_mlp_data *data, const hpt_mlp_device *d, const char *name) {
    const uint64_t element = hpt_number_type_bytes(d->type), inner = (uint64_t)data->shape.inner;
    const uint64_t first_up = data->activation->gated ? inner : 0;
    const struct {
        const char *name;
        uint64_t address;
    } all[] = {{"x", d->x},
               {"residual", d->residual},
               {"norm", d->norm},
               {"gate", d->gate_up},
               {"up", d->gate_up + element * first_up * (uint64_t)data->shape.hidden},
               {"down", d->down},
               {"gate_bias", d->bias},
               {"up_bias", d->bias ? d->bias + element * first_up : 0}};
    for (size_t i = 0; i < HPT_COUNT(all); i++)
        if (strcmp(all[i].name, name) == 0) return all[i].address;
    return 0;
}

static hpt_status own_buffer(hpt_mlp_problem *p, size_t i, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t bytes;
    bool zero;
    HPT_TRY(hpt_call_bytes(p->call, name, &bytes, &zero, error));
    if (strcmp(name, "c") == 0) p->bytes_c = bytes;
    if (!bytes) goto done;
    HPT_TRY(hpt_device_alloc(p->context, &p->buffer[i], bytes, error));
    HPT_TRY(hpt_device_fill(p->context, p->buffer[i], zero ? 0 : 0xff, bytes, NULL, error));
    HPT_TRY(hpt_call_set_buffer(p->call, name, p->buffer[i], error));
    if (strcmp(name, "c") == 0) p->c = p->buffer[i];
    if (strcmp(name, "overflow") == 0) p->overflow = p->buffer[i];
done:
    return status;
}

hpt_status hpt_mlp_problem_create(hpt_mlp_problem *out, hpt_op *op, const hpt_mlp_data *data,
                                  const hpt_mlp_device *device, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *role, *name;
    *out = (hpt_mlp_problem){.context = device->context, .data = data};
    while (hpt_op_buffer(op, out->buffer_count, NULL, NULL)) out->buffer_count++;
    HPT_FAIL_NO_MEMORY(out->buffer = calloc(out->buffer_count + 1, sizeof *out->buffer));
    HPT_TRY(hpt_call_create(&out->call, op, error));
    HPT_TRY(hpt_call_set_param(out->call, "m", data->shape.m, error));
    HPT_TRY(hpt_call_set_param(out->call, "hidden", data->shape.hidden, error));
    HPT_TRY(hpt_call_set_param(out->call, "inner", data->shape.inner, error));
    HPT_TRY(hpt_call_set_params(out->call, data->settings, error));
    if (data->with_norm) HPT_TRY(hpt_call_set_scalar(out->call, "eps", data->eps, error));
    for (size_t i = 0; (name = hpt_op_buffer(op, i, &role, NULL)); i++) /* inputs first: others' sizes depend on them */
        if (strcmp(role, "input") == 0)
            HPT_TRY(hpt_call_set_buffer(out->call, name, operand(data, device, name), error));
    for (size_t i = 0; (name = hpt_op_buffer(op, i, &role, NULL)); i++)
        if (strcmp(role, "input") != 0) HPT_TRY(own_buffer(out, i, name, error));
    HPT_TRY(hpt_device_synchronize(device->context, NULL, error));
    HPT_TRY(hpt_call_bind(out->call, error));
done:
    if (status != HPT_OK) hpt_mlp_problem_clear(out);
    return status;
}

void hpt_mlp_problem_clear(hpt_mlp_problem *p) {
    hpt_call_destroy(p->call);
    for (size_t i = 0; p->buffer && i < p->buffer_count; i++) hpt_device_free(p->context, p->buffer[i]);
    free(p->buffer);
    *p = (hpt_mlp_problem){0};
}

hpt_status hpt_mlp_problem_run_once(hpt_mlp_problem *p, void *host, uint32_t *overflow, void *stream,
                                    hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(hpt_device_fill(p->context, p->c, 0xff, p->bytes_c, stream, error));
    HPT_TRY(hpt_device_fill(p->context, p->overflow, 0, sizeof *overflow, stream, error));
    HPT_TRY(hpt_call_prepare(p->call, stream, error));
    HPT_TRY(hpt_call_run(p->call, stream, error));
    HPT_TRY(hpt_device_synchronize(p->context, stream, error));
    HPT_TRY(hpt_device_download(p->context, host, p->c, p->bytes_c, error));
    HPT_TRY(hpt_device_download(p->context, overflow, p->overflow, sizeof *overflow, error));
done:
    return status;
}
