#include "mlp_control.h"
#include <stdlib.h>
#include <string.h>

static const char *type_name(hpt_number_type type) { return type == HPT_NUMBER_F16 ? "f16" : "bf16"; }

static hpt_status open_op(hpt_op **op, hpt_call **call, const hpt_mlp_control *c, const char *name,
                          const hpt_mlp_data *data, hpt_number_type type, const char *target, hpt_error *error) {
    hpt_status status = HPT_OK;
    char with[64];
    snprintf(with, sizeof with, "activation=%s,rounding=once", data->activation->name);
    const hpt_source_options options = {
        .emit = {.op = name, .target = target, .in_type = type_name(type), .forms = type_name(type), .with = with}};
    HPT_TRY(hpt_source_open(op, c->context, "trivial", &options, error));
    HPT_TRY(hpt_call_create(call, *op, error));
    HPT_TRY(hpt_call_set_param(*call, "m", data->shape.m, error));
done:
    return status;
}

static hpt_status bind_norm(hpt_mlp_control *c, const hpt_mlp_data *data, const hpt_mlp_device *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t bytes;
    HPT_TRY(hpt_call_set_param(c->norm, "hidden", data->shape.hidden, error));
    HPT_TRY(hpt_call_set_scalar(c->norm, "eps", data->eps, error));
    HPT_TRY(hpt_call_set_buffer(c->norm, "x", d->x, error));
    HPT_TRY(hpt_call_set_buffer(c->norm, "norm", d->norm, error));
    HPT_TRY(hpt_call_set_buffer(c->norm, "residual", d->residual, error));
    HPT_TRY(hpt_call_bytes(c->norm, "x_forms", &bytes, NULL, error));
    HPT_TRY(hpt_device_alloc(c->context, &c->x, bytes, error));
    HPT_TRY(hpt_call_set_buffer(c->norm, "x_forms", c->x, error));
    if (d->residual) {
        HPT_TRY(hpt_call_bytes(c->norm, "sum", &bytes, NULL, error));
        HPT_TRY(hpt_device_alloc(c->context, &c->sum, bytes, error));
        HPT_TRY(hpt_call_set_buffer(c->norm, "sum", c->sum, error));
    }
    HPT_TRY(hpt_call_bind(c->norm, error));
done:
    return status;
}

static hpt_status bind_activation(hpt_mlp_control *c, const hpt_mlp_data *data, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t bytes;
    HPT_TRY(hpt_call_set_param(c->activation, "inner", data->shape.inner, error));
    HPT_TRY(hpt_call_bytes(c->activation, "sums", &bytes, NULL, error));
    HPT_TRY(hpt_device_alloc(c->context, &c->sums, bytes, error));
    HPT_TRY(hpt_call_set_buffer(c->activation, "sums", c->sums, error));
    HPT_TRY(hpt_call_bytes(c->activation, "out", &bytes, NULL, error));
    HPT_TRY(hpt_device_alloc(c->context, &c->act, bytes, error));
    HPT_TRY(hpt_call_set_buffer(c->activation, "out", c->act, error));
    HPT_TRY(hpt_call_bind(c->activation, error));
done:
    return status;
}

static hpt_status product(hpt_cublas **out, const hpt_mlp_control *c, hpt_number_type type, int64_t m, int64_t n,
                          int64_t k, int64_t ldx, uint64_t x, uint64_t y, uint64_t z, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_data shape = {.shape = {.m = m, .n = n, .k = k, .batch = 1, .ldx = ldx, .ldy = k, .ldc = n},
                            .trans_y = true};
    HPT_TRY(hpt_cublas_open(out, c->context, error));
    HPT_TRY(hpt_cublas_gemm(*out, &shape, type, type, x, y, z, stream, error));
done:
    return status;
}

hpt_status hpt_mlp_control_create(hpt_mlp_control *out, const hpt_mlp_data *data, const hpt_mlp_device *d,
                                  const char *target, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_shape *s = &data->shape;
    const int64_t ldx = (s->hidden + 63) / 64 * 64; /* the normalised X has whole k-blocks */
    *out = (hpt_mlp_control){.context = d->context};
    HPT_FAIL_IF(data->with_bias || !data->with_norm, HPT_UNSUPPORTED, "bench",
                "The control pipeline has a norm and no biases.");
    HPT_TRY(open_op(&out->norm_op, &out->norm, out, "rmsnorm_forms", data, d->type, target, error));
    HPT_TRY(open_op(&out->activation_op, &out->activation, out, "activation", data, d->type, target, error));
    HPT_TRY(bind_norm(out, data, d, error));
    HPT_TRY(bind_activation(out, data, error));
    out->bytes_c = (size_t)s->m * (size_t)s->hidden * hpt_number_type_bytes(d->type);
    HPT_TRY(hpt_device_alloc(out->context, &out->c, out->bytes_c, error));
    HPT_TRY(product(&out->gate_up, out, d->type, s->m, hpt_mlp_gate_up_rows(data), s->hidden, ldx, out->x, d->gate_up,
                    out->sums, stream, error));
    HPT_TRY(product(&out->down, out, d->type, s->m, s->hidden, s->inner, s->inner, out->act, d->down, out->c, stream,
                    error));
done:
    if (status != HPT_OK) hpt_mlp_control_clear(out);
    return status;
}

void hpt_mlp_control_clear(hpt_mlp_control *c) {
    const uint64_t all[] = {c->x, c->sums, c->act, c->c, c->sum};
    hpt_cublas_close(c->gate_up);
    hpt_cublas_close(c->down);
    hpt_call_destroy(c->norm);
    hpt_call_destroy(c->activation);
    hpt_op_close(c->norm_op);
    hpt_op_close(c->activation_op);
    for (size_t i = 0; c->context && i < HPT_COUNT(all); i++) hpt_device_free(c->context, all[i]);
    *c = (hpt_mlp_control){0};
}

hpt_status hpt_mlp_control_run(void *control, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_control *c = control;
    HPT_TRY(hpt_call_run(c->norm, stream, error));
    HPT_TRY(hpt_cublas_run(c->gate_up, stream, error));
    HPT_TRY(hpt_call_run(c->activation, stream, error));
    HPT_TRY(hpt_cublas_run(c->down, stream, error));
done:
    return status;
}
