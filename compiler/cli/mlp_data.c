/* Operands of an MLP block and the block itself in double. */
#include "launch/launch.h"
#include "mlp.h"
#include "tune/tuned.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 16 };
enum { MATRIX_X = 11, MATRIX_RESIDUAL, MATRIX_NORM, MATRIX_GATE_UP, MATRIX_DOWN, MATRIX_BIAS };
static const double whole_limit = 0x1p31; /* multiplications */

/* ---- activations ---- */
static double swiglu(double g, double u) { return u * g / (1 + exp(-g)); }
static double geglu(double g, double u) { return u * 0.5 * g * (1 + erf(g * 0.7071067811865476)); }
static double geglu_tanh(double g, double u) {
    return u * 0.5 * g * (1 + tanh(0.7978845608028654 * (g + 0.044715 * g * g * g)));
}
static double silu(double g, double u) { return (void)g, u / (1 + exp(-u)); }
static double relu_squared(double g, double u) { return (void)g, u > 0 ? u * u : 0; }

const hpt_activation *hpt_activation_find(const char *name) {
    static const hpt_activation table[] = {{"swiglu", true, swiglu},
                                           {"geglu", true, geglu},
                                           {"geglu_tanh", true, geglu_tanh},
                                           {"silu", false, silu},
                                           {"relu_squared", false, relu_squared}};
    for (size_t i = 0; name && i < HPT_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

hpt_status hpt_mlp_describe(hpt_mlp_data *d, const hpt_op *op, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_op_info info;
    const json_t *settings = json_object_get(op->record->options, "settings");
    const char *bias = json_string_value(json_object_get(settings, "bias"));
    hpt_op_describe(op, &info);
    HPT_FAIL_IF(strcmp(info.op, "mlp") != 0, HPT_UNSUPPORTED, info.op, "This operation is no mlp.");
    HPT_FAIL_IF(!hpt_number_type_find(&d->type, info.type_x) || !hpt_number_type_find(&d->type_c, info.type_c),
                HPT_UNSUPPORTED, info.op, "Data are made of types f16, bf16 and f32 only.");
    d->activation = hpt_activation_find(json_string_value(json_object_get(settings, "activation")));
    HPT_FAIL_IF(!d->activation, HPT_UNSUPPORTED, info.op, "There is no reference for its activation.");
    const char *norm = json_string_value(json_object_get(settings, "norm"));
    d->with_norm = !norm || strcmp(norm, "none") != 0;
    HPT_FAIL_IF(d->with_residual && !d->with_norm, HPT_USAGE, "--residual",
                "With norm=none X is taken as it is; no residual is added to it.");
    d->with_bias = bias && strcmp(bias, "yes") == 0;
    d->rounding = d->type;
done:
    return status;
}

void hpt_mlp_types(char *out, size_t room, const hpt_op *op, const char *sums) {
    char variety[48];
    hpt_op_info info;
    const json_t *settings = json_object_get(op->record->options, "settings");
    const char *activation = json_string_value(json_object_get(settings, "activation")),
               *gate_up = json_string_value(json_object_get(settings, "sums"));
    const bool usual = !gate_up || strcmp(gate_up, "f16") == 0;
    snprintf(variety, sizeof variety, "%s%s%s", activation ? activation : "", usual ? "" : " gate_up ",
             usual ? "" : gate_up);
    hpt_op_describe(op, &info);
    hpt_tuned_types(out, room, &info, variety, sums);
}

int64_t hpt_mlp_gate_up_rows(const hpt_mlp_data *d) { return d->shape.inner * (d->activation->gated ? 2 : 1); }

/* ---- operands ---- */
typedef struct fill {
    void *out;
    hpt_number_type type, rounding;
    float offset, factor;
    uint64_t seed, matrix;
} fill;

static void fill_range(void *user, size_t first, size_t last) {
    const fill *f = user;
    for (size_t i = first; i < last; i++) {
        float value = f->offset + f->factor * hpt_random_normal(f->seed, f->matrix, i);
        if (f->rounding == HPT_NUMBER_BF16) value = hpt_bf16_to_float(hpt_bf16_from_float(value));
        hpt_typed_set(f->out, f->type, i, value);
    }
}

static hpt_status make_matrix(void **out, const hpt_mlp_data *d, int64_t rows, int64_t columns, double offset,
                              double factor, uint64_t matrix, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t count;
    HPT_FAIL_IF(!hpt_mul_i64(&count, rows, columns) || count > (int64_t)1 << 40, HPT_TOO_LARGE, "",
                "A matrix has more than 2^40 elements.");
    HPT_FAIL_NO_MEMORY(*out = malloc((size_t)count * hpt_number_type_bytes(d->type)));
    fill job = {*out, d->type, d->rounding, (float)offset, (float)factor, d->seed, matrix};
    hpt_parallel((size_t)count, fill_range, &job);
done:
    return status;
}

/* ---- out = in W^T: blocks of 16 rows lie side by side, [row block][column][16], so that it vectorises ---- */
typedef struct product {
    double *out;
    const double *in;
    const void *weight;
    hpt_number_type type;
    size_t blocks;
    int64_t rows, columns; /* of the weight */
} product;

static void product_range(void *user, size_t first, size_t last) {
    const product *p = user;
    double *w = malloc((size_t)p->columns * sizeof *w);
    for (size_t j = first; w && j < last; j++) {
        for (int64_t k = 0; k < p->columns; k++)
            w[k] = (double)hpt_typed_get(p->weight, p->type, j * (size_t)p->columns + (size_t)k);
        for (size_t b = 0; b < p->blocks; b++) {
            const double *in = p->in + b * ROW_BLOCK * (size_t)p->columns;
            double sum[ROW_BLOCK] = {0};
            for (int64_t k = 0; k < p->columns; k++)
                for (int r = 0; r < ROW_BLOCK; r++) sum[r] += in[k * ROW_BLOCK + r] * w[k];
            memcpy(p->out + (b * (size_t)p->rows + j) * ROW_BLOCK, sum, sizeof sum);
        }
    }
    free(w);
}

static size_t at(size_t row, int64_t column, int64_t columns) {
    return (row / ROW_BLOCK * (size_t)columns + (size_t)column) * ROW_BLOCK + row % ROW_BLOCK;
}

static double value(const hpt_mlp_data *d, const void *matrix, int64_t row, int64_t columns, int64_t column) {
    return (double)hpt_typed_get(matrix, d->type, (size_t)(row * columns + column));
}

static void normalise(double *out, const hpt_mlp_data *d) {
    const int64_t hidden = d->shape.hidden;
    for (size_t i = 0; i < d->reference.row_count; i++) {
        const int64_t row = d->reference.row[i];
        double squares = 0;
        for (int64_t j = 0; j < hidden; j++) {
            double z = value(d, d->x, row, hidden, j);
            if (d->residual) z += value(d, d->residual, row, hidden, j);
            squares += z * z;
            out[at(i, j, hidden)] = z;
        }
        const double scale = 1 / sqrt(squares / (double)hidden + d->eps);
        for (int64_t j = 0; d->with_norm && j < hidden; j++)
            out[at(i, j, hidden)] *= scale * value(d, d->norm, 0, 0, j);
    }
}

static void activate(double *out, const double *sums, const hpt_mlp_data *d) {
    const int64_t inner = d->shape.inner, columns = hpt_mlp_gate_up_rows(d), first_up = columns - inner;
    for (size_t i = 0; i < d->reference.row_count; i++)
        for (int64_t j = 0; j < inner; j++) {
            double gate = sums[at(i, j, columns)], up = sums[at(i, first_up + j, columns)];
            if (d->bias) {
                gate += value(d, d->bias, 0, 0, j);
                up += value(d, d->bias, 0, 0, first_up + j);
            }
            out[at(i, j, inner)] = d->activation->value(gate, up);
        }
}

static void choose_rows(hpt_reference *r, int64_t m) {
    for (size_t i = 0; i < r->row_count; i++) /* the first, the last, evenly between */
        r->row[i] = r->row_count < 2 ? 0 : (int64_t)((double)(m - 1) * (double)i / (double)(r->row_count - 1));
}

static hpt_status make_reference(hpt_mlp_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_shape *s = &d->shape;
    hpt_reference *r = &d->reference;
    const int64_t columns = hpt_mlp_gate_up_rows(d);
    r->whole =
        s->m <= HPT_SAMPLED_ROWS || (double)s->m * (double)s->hidden * (double)(columns + s->inner) <= whole_limit;
    r->row_count = r->whole ? (size_t)s->m : HPT_SAMPLED_ROWS;
    const size_t blocks = (r->row_count + ROW_BLOCK - 1) / ROW_BLOCK, padded = blocks * ROW_BLOCK;
    double *x = calloc(padded, (size_t)s->hidden * sizeof *x), *c = calloc(padded, (size_t)s->hidden * sizeof *c);
    double *sums = calloc(padded, (size_t)columns * sizeof *sums),
           *act = calloc(padded, (size_t)s->inner * sizeof *act);
    r->row = calloc(r->row_count, sizeof *r->row);
    r->value = calloc(r->row_count, (size_t)s->hidden * sizeof *r->value);
    HPT_FAIL_IF(!x || !c || !sums || !act || !r->row || !r->value, HPT_NO_MEMORY, "reference", "Out of memory.");
    choose_rows(r, s->m);
    normalise(x, d);
    product gate_up = {sums, x, d->gate_up, d->type, blocks, columns, s->hidden};
    hpt_parallel((size_t)columns, product_range, &gate_up);
    activate(act, sums, d);
    product down = {c, act, d->down, d->type, blocks, s->hidden, s->inner};
    hpt_parallel((size_t)s->hidden, product_range, &down);
    for (size_t i = 0; i < r->row_count; i++)
        for (int64_t j = 0; j < s->hidden; j++) r->value[i * (size_t)s->hidden + (size_t)j] = c[at(i, j, s->hidden)];
done:
    free(x);
    free(c);
    free(sums);
    free(act);
    return status;
}

static void clear_tokens(hpt_mlp_data *d) {
    void *const all[] = {d->x, d->residual, d->reference.row, d->reference.value};
    for (size_t i = 0; i < HPT_COUNT(all); i++) free(all[i]);
    d->x = d->residual = NULL;
    d->reference = (hpt_reference){0};
}

hpt_status hpt_mlp_data_tokens(hpt_mlp_data *d, int64_t m, hpt_error *error) {
    hpt_status status = HPT_OK;
    clear_tokens(d);
    d->shape.m = m;
    HPT_TRY(make_matrix(&d->x, d, m, d->shape.hidden, 0, 1, MATRIX_X, error));
    if (d->with_residual) HPT_TRY(make_matrix(&d->residual, d, m, d->shape.hidden, 0, 1, MATRIX_RESIDUAL, error));
    HPT_TRY(make_reference(d, error));
done:
    return status;
}

hpt_status hpt_mlp_data_make(hpt_mlp_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_shape *s = &d->shape;
    const int64_t columns = hpt_mlp_gate_up_rows(d);
    HPT_TRY(make_matrix(&d->norm, d, 1, s->hidden, 1, 0.125, MATRIX_NORM, error));
    HPT_TRY(make_matrix(&d->gate_up, d, columns, s->hidden, 0, 1 / sqrt((double)s->hidden), MATRIX_GATE_UP, error));
    HPT_TRY(make_matrix(&d->down, d, s->hidden, s->inner, 0, 1 / sqrt((double)s->inner), MATRIX_DOWN, error));
    if (d->with_bias) HPT_TRY(make_matrix(&d->bias, d, 1, columns, 0, 0.5, MATRIX_BIAS, error));
    HPT_TRY(hpt_mlp_data_tokens(d, s->m, error));
done:
    if (status != HPT_OK) hpt_mlp_data_clear(d);
    return status;
}

void hpt_mlp_data_clear(hpt_mlp_data *d) {
    void *const all[] = {d->norm, d->gate_up, d->down, d->bias};
    for (size_t i = 0; i < HPT_COUNT(all); i++) free(all[i]);
    d->norm = d->gate_up = d->down = d->bias = NULL;
    clear_tokens(d);
}

void hpt_mlp_compare(hpt_check *out, const hpt_mlp_data *d, hpt_number_type type, const void *c) {
    const hpt_reference *r = &d->reference;
    const size_t hidden = (size_t)d->shape.hidden, count = (size_t)d->shape.m * hidden;
    double difference = 0, norm = 0;
    *out = (hpt_check){.whole = r->whole};
    for (size_t i = 0; i < count; i++) out->bad += isfinite(hpt_typed_get(c, type, i)) ? 0 : 1;
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t j = 0; j < hidden; j++) {
            const double want = r->value[i * hidden + j];
            const double e = (double)hpt_typed_get(c, type, (size_t)r->row[i] * hidden + j) - want;
            difference += e * e;
            norm += want * want;
        }
    out->rel_error = norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}
