/* The expected product in double, and the comparison with it. */
#include "problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 16, K_BLOCK = 512 };
static const double whole_limit = 0x1p32; /* multiplications */

/* ---- which rows ---- */
static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void choose_rows(hpt_reference *r, const hpt_data *d) {
    int64_t total = d->shape.m * d->shape.batch;
    if (r->whole) {
        for (int64_t i = 0; i < total; i++) r->row[i] = i;
        return;
    }
    r->row[0] = 0;
    r->row[1] = total - 1;
    for (int64_t i = 2; i < HPT_SAMPLED_ROWS; i++) { /* one in each stretch of rows, so that all are different */
        double at = 0.5 + 0.5 * erf((double)hpt_random_normal(d->seed, 99, (uint64_t)i) * 0.7071067811865476);
        int64_t low = 1 + (total - 2) * (i - 2) / (HPT_SAMPLED_ROWS - 2);
        int64_t high = 1 + (total - 2) * (i - 1) / (HPT_SAMPLED_ROWS - 2);
        int64_t row = low + (int64_t)(at * (double)(high - low));
        r->row[i] = row < high ? row : high - 1;
    }
    qsort(r->row, HPT_SAMPLED_ROWS, sizeof *r->row, by_number);
}

/* ---- addresses ---- */
static size_t index_x(const hpt_data *d, int64_t row, int64_t k) {
    int64_t b = row / d->shape.m, i = row % d->shape.m;
    int64_t stride = d->shape.ldx * (d->trans_x ? d->shape.k : d->shape.m);
    return (size_t)(b * stride + (d->trans_x ? k * d->shape.ldx + i : i * d->shape.ldx + k));
}

static size_t index_y(const hpt_data *d, int64_t batch, int64_t k, int64_t j) {
    int64_t stride = d->shape.ldy * (d->trans_y ? d->shape.n : d->shape.k);
    return (size_t)(batch * stride + (d->trans_y ? j * d->shape.ldy + k : k * d->shape.ldy + j));
}

static size_t index_c(const hpt_data *d, int64_t row, int64_t j) { return (size_t)(row * d->shape.ldc + j); }

/* ---- the product: blocks of 16 rows against one column of Y at a time; rows lie side by side so that it vectorises
 * ---- */
typedef struct product {
    const hpt_data *data;
    const double *x; /* [row block][k][16] */
} product;

static void dot_block(double sum[ROW_BLOCK], const double *x, const double *y, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        for (int r = 0; r < ROW_BLOCK; r++) sum[r] += x[k * ROW_BLOCK + r] * y[k];
}

static void product_columns(void *user, size_t first, size_t last) {
    const product *p = user;
    const hpt_data *d = p->data;
    const hpt_reference *ref = &d->reference;
    const int64_t K = d->shape.k;
    size_t blocks = (ref->row_count + ROW_BLOCK - 1) / ROW_BLOCK;
    double y[K_BLOCK];
    for (size_t j = first; j < last; j++)
        for (int64_t batch = 0; batch < d->shape.batch; batch++)
            for (int64_t k0 = 0; k0 < K; k0 += K_BLOCK) {
                int64_t count = K - k0 < K_BLOCK ? K - k0 : K_BLOCK;
                for (int64_t k = 0; k < count; k++)
                    y[k] = (double)hpt_typed_get(d->y, d->type_y, index_y(d, batch, k0 + k, (int64_t)j));
                for (size_t block = 0; block < blocks; block++) {
                    double sum[ROW_BLOCK] = {0};
                    size_t base = block * ROW_BLOCK;
                    size_t rows = ref->row_count - base < ROW_BLOCK ? ref->row_count - base : ROW_BLOCK;
                    if (ref->row[base] / d->shape.m > batch || ref->row[base + rows - 1] / d->shape.m < batch) continue;
                    dot_block(sum, p->x + ((size_t)K * block + (size_t)k0) * ROW_BLOCK, y, count);
                    for (size_t r = 0; r < rows; r++)
                        if (ref->row[base + r] / d->shape.m == batch)
                            ref->value[(base + r) * (size_t)d->shape.n + j] += sum[r];
                }
            }
}

static void scale(const hpt_data *d) {
    const hpt_reference *r = &d->reference;
    for (size_t i = 0; i < r->row_count; i++)
        for (int64_t j = 0; j < d->shape.n; j++) {
            double *value = &r->value[i * (size_t)d->shape.n + (size_t)j];
            *value *= d->alpha;
            if (d->bias) *value += (double)hpt_typed_get(d->bias, d->type_c, (size_t)j);
            if (d->residual)
                *value += (double)hpt_typed_get(d->residual, d->type_c, (size_t)(r->row[i] * d->shape.n + j));
            if (d->c) *value += d->beta * (double)hpt_typed_get(d->c, d->type_c, index_c(d, r->row[i], j));
        }
}

static hpt_status make_reference(hpt_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_reference *r = &d->reference;
    int64_t total = d->shape.m * d->shape.batch;
    r->whole = total <= HPT_SAMPLED_ROWS || (double)total * (double)d->shape.n * (double)d->shape.k <= whole_limit;
    r->row_count = r->whole ? (size_t)total : HPT_SAMPLED_ROWS;
    size_t blocks = (r->row_count + ROW_BLOCK - 1) / ROW_BLOCK;
    double *x = calloc(blocks * ROW_BLOCK, (size_t)d->shape.k * sizeof *x);
    r->row = calloc(r->row_count, sizeof *r->row);
    r->value = calloc(r->row_count, (size_t)d->shape.n * sizeof *r->value);
    HPT_FAIL_IF(!x || !r->row || !r->value, HPT_NO_MEMORY, "reference", "Out of memory.");
    choose_rows(r, d);
    for (size_t i = 0; i < r->row_count; i++)
        for (int64_t k = 0; k < d->shape.k; k++)
            x[(i / ROW_BLOCK * (size_t)d->shape.k + (size_t)k) * ROW_BLOCK + i % ROW_BLOCK] =
                (double)hpt_typed_get(d->x, d->type_x, index_x(d, r->row[i], k));
    product p = {d, x};
    hpt_parallel((size_t)d->shape.n, product_columns, &p);
    scale(d);
done:
    free(x);
    return status;
}

/* ---- operands ---- */
static bool elements(size_t *out, int64_t rows, int64_t ld, int64_t batch) {
    int64_t count;
    if (!hpt_mul_i64(&count, rows, ld) || !hpt_mul_i64(&count, count, batch) || count < 1 || count > (int64_t)1 << 40)
        return false;
    *out = (size_t)count;
    return true;
}

hpt_status hpt_data_describe(hpt_data *d, const hpt_op *op, hpt_error *error) {
    hpt_op_info info;
    hpt_op_describe(op, &info);
    if (strcmp(info.op, "gemm") != 0)
        return hpt_error_set(error, HPT_UNSUPPORTED, info.op, "There is random data and a reference for gemm only.");
    if (!hpt_number_type_find(&d->type_x, info.type_x) || !hpt_number_type_find(&d->type_y, info.type_y) ||
        !hpt_number_type_find(&d->type_c, info.type_c))
        return hpt_error_set(error, HPT_UNSUPPORTED, info.op, "There is random data of types f16, bf16 and f32 only.");
    d->rounding = d->type_x;
    d->trans_x = hpt_op_option(op, "trans_x");
    d->trans_y = hpt_op_option(op, "trans_y");
    return HPT_OK;
}

static hpt_status make_addends(hpt_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t bytes = hpt_number_type_bytes(d->type_c), columns = (size_t)d->shape.n;
    size_t rows = (size_t)(d->shape.m * d->shape.batch);
    if (d->with_bias) {
        HPT_FAIL_NO_MEMORY(d->bias = malloc(columns * bytes));
        hpt_random_fill(d->bias, d->type_c, d->rounding, columns, d->seed, 4);
    }
    if (d->with_residual) {
        HPT_FAIL_NO_MEMORY(d->residual = malloc(rows * columns * bytes));
        hpt_random_fill(d->residual, d->type_c, d->rounding, rows * columns, d->seed, 5);
    }
done:
    return status;
}

hpt_status hpt_data_make(hpt_data *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_shape *s = &d->shape;
    if (s->batch < 1) s->batch = 1;
    if (!s->ldx) s->ldx = d->trans_x ? s->m : s->k;
    if (!s->ldy) s->ldy = d->trans_y ? s->k : s->n;
    if (!s->ldc) s->ldc = s->n;
    HPT_FAIL_IF(s->ldx < (d->trans_x ? s->m : s->k), HPT_USAGE, "--ldx", "It is smaller than a row of X.");
    HPT_FAIL_IF(s->ldy < (d->trans_y ? s->k : s->n), HPT_USAGE, "--ldy", "It is smaller than a row of Y.");
    HPT_FAIL_IF(s->ldc < s->n, HPT_USAGE, "--ldc", "It is smaller than a row of C.");
    HPT_FAIL_IF(!elements(&d->elements_x, d->trans_x ? s->k : s->m, s->ldx, s->batch) ||
                    !elements(&d->elements_y, d->trans_y ? s->n : s->k, s->ldy, s->batch) ||
                    !elements(&d->elements_c, s->m, s->ldc, s->batch),
                HPT_TOO_LARGE, "", "A matrix has no elements or more than 2^40.");
    HPT_FAIL_NO_MEMORY(d->x = malloc(d->elements_x * hpt_number_type_bytes(d->type_x)));
    HPT_FAIL_NO_MEMORY(d->y = malloc(d->elements_y * hpt_number_type_bytes(d->type_y)));
    hpt_random_fill(d->x, d->type_x, d->rounding, d->elements_x, d->seed, 1);
    hpt_random_fill(d->y, d->type_y, d->rounding, d->elements_y, d->seed, 2);
    if (d->beta != 0) {
        HPT_FAIL_NO_MEMORY(d->c = malloc(d->elements_c * hpt_number_type_bytes(d->type_c)));
        hpt_random_fill(d->c, d->type_c, d->rounding, d->elements_c, d->seed, 3);
    }
    HPT_TRY(make_addends(d, error));
    HPT_TRY(make_reference(d, error));
done:
    if (status != HPT_OK) hpt_data_clear(d);
    return status;
}

void hpt_data_clear(hpt_data *d) {
    free(d->x);
    free(d->y);
    free(d->c);
    free(d->bias);
    free(d->residual);
    free(d->reference.row);
    free(d->reference.value);
    d->x = d->y = d->c = d->bias = d->residual = NULL;
    d->reference = (hpt_reference){0};
}

/* ---- comparison ---- */
typedef struct scan {
    const hpt_data *data;
    const void *c;
    size_t bad;
} scan;

static void count_bad(void *user, size_t first, size_t last) {
    scan *s = user;
    size_t bad = 0;
    for (size_t row = first; row < last; row++)
        for (int64_t j = 0; j < s->data->shape.n; j++)
            bad += isfinite(hpt_typed_get(s->c, s->data->type_c, index_c(s->data, (int64_t)row, j))) ? 0 : 1;
    if (bad) __atomic_fetch_add(&s->bad, bad, __ATOMIC_RELAXED);
}

void hpt_data_compare(hpt_check *out, const hpt_data *d, const void *c) {
    const hpt_reference *r = &d->reference;
    scan s = {d, c, 0};
    double difference = 0, norm = 0;
    hpt_parallel((size_t)(d->shape.m * d->shape.batch), count_bad, &s);
    for (size_t i = 0; i < r->row_count; i++)
        for (int64_t j = 0; j < d->shape.n; j++) {
            double want = r->value[i * (size_t)d->shape.n + (size_t)j];
            double e = (double)hpt_typed_get(c, d->type_c, index_c(d, r->row[i], j)) - want;
            difference += e * e;
            norm += want * want;
        }
    *out = (hpt_check){norm > 0 ? sqrt(difference / norm) : sqrt(difference), s.bad, r->whole};
}

hpt_status hpt_check_passed(const hpt_check *check, double bound, hpt_error *error) {
    if (check->bad == 0 && check->rel_error <= bound) return HPT_OK;
    return hpt_error_set(error, HPT_DIFFERS, "",
                         "The result is not within its bound (relative error %.3e, bound %.1e, %zu bad elements).",
                         check->rel_error, bound, check->bad);
}
