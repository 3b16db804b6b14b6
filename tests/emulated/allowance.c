/* How much two correct executions of a package may differ in each element of C.
 *
 * Let an element be sum over the products r that flow into it of c(r) * (row of A(r)) (column of B(r)), with A(r)
 * and B(r) the operand forms after their rounding: both sides have exactly these (sums of a few terms in f32, rounded
 * once, in one order). What may differ:
 *   1. sums in f32, since a tensor core's order and rounding of sums are not documented. An error made while r is
 *      added stays in the accumulator until that starts afresh, so it reaches the element with the coefficient with
 *      which r itself does, c(r), however often the accumulator is written on the way; what later cancels, cancels
 *      with its errors. Hence 2^-22 * sum over r of |c(r)| * sum over k of |A(r)_k| |B(r)_k|.
 *   2. every write rounds to the type in which C is summed: what differs a little before may differ by one unit in
 *      the last place after. The unit is that of the largest number that this write has to do with (what is added,
 *      and the element before and after it), found by carrying the plan out in double; at the edge of a binade the
 *      larger unit counts, so what has been allowed until then is added to the number first.
 *   3. where C has another type than its sums, or the finishing kernel scales or adds something, C is rounded once
 *      more: one more unit, and all before it counts |alpha| times. Its own sums are the same IEEE operations in one
 *      order on both sides.
 */
#include "agree.h"
#include "launch/launch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double sums = 0x1p-22;

static double unit_in_last_place(double value, hpt_number_type type) {
    int exponent, digits = type == HPT_NUMBER_F16 ? 11 : type == HPT_NUMBER_BF16 ? 8 : 24;
    int lowest = type == HPT_NUMBER_F16 ? -24 : type == HPT_NUMBER_BF16 ? -133 : -149;
    frexp(value, &exponent);
    return ldexp(1, exponent - digits < lowest ? lowest : exponent - digits);
}

/* ---- operand forms as the kernels make them ---- */
typedef struct forms {
    double *value; /* [slot][row][k] */
    int64_t rows, k;
} forms;

static double element_x(const hpt_data *d, int64_t batch, int64_t i, int64_t k) {
    const hpt_shape *s = &d->shape;
    if (i >= s->m || k >= s->k) return 0;
    const int64_t stride = s->ldx * (d->trans_x ? s->k : s->m);
    return (double)hpt_typed_get(d->x, d->type_x,
                                 (size_t)(batch * stride + (d->trans_x ? k * s->ldx + i : i * s->ldx + k)));
}
static double element_y(const hpt_data *d, int64_t batch, int64_t j, int64_t k) {
    const hpt_shape *s = &d->shape;
    if (j >= s->n || k >= s->k) return 0;
    const int64_t stride = s->ldy * (d->trans_y ? s->n : s->k);
    return (double)hpt_typed_get(d->y, d->type_y,
                                 (size_t)(batch * stride + (d->trans_y ? j * s->ldy + k : k * s->ldy + j)));
}

static hpt_status make_forms(forms *out, const agree_plan *plan, const agree_operand *operand, const hpt_data *d,
                             int64_t batch, int64_t block_rows, int64_t block_k, hpt_error *error) {
    double (*const element)(const hpt_data *, int64_t, int64_t, int64_t) = operand == &plan->x ? element_x : element_y;
    hpt_status status = HPT_OK;
    HPT_FAIL_NO_MEMORY(out->value = calloc(operand->slots * (size_t)out->rows, (size_t)out->k * sizeof(double)));
    double *to = out->value;
    for (size_t s = 0; s < operand->slots; s++)
        for (int64_t i = 0; i < out->rows; i++)
            for (int64_t k = 0; k < out->k; k++, to++) {
                float sum = 0;
                for (size_t t = operand->first_term[s]; t < operand->first_term[s + 1]; t++) {
                    const agree_term *term = &operand->term[t];
                    sum +=
                        (float)(term->weight * element(d, batch, term->row * block_rows + i, term->col * block_k + k));
                }
                uint32_t rounded;
                hpt_typed_set(&rounded, plan->type_forms, 0, sum);
                *to = (double)hpt_typed_get(&rounded, plan->type_forms, 0);
            }
done:
    return status;
}

/* ---- one place of every output block ---- */
typedef struct job {
    double *allowed, *value; /* value: the plan carried out in double */
    const agree_plan *plan;
    const hpt_data *data;
    agree_blocks blocks;
    forms a, b;
    int64_t batch;
} job;

static void multiply(double *sum, double *sum_abs, const double *a, const double *b, int64_t count) {
    double s = 0, t = 0;
    for (int64_t k = 0; k < count; k++) {
        s += a[k] * b[k];
        t += fabs(a[k] * b[k]);
    }
    *sum = s;
    *sum_abs = t;
}

static void place(const job *p, int64_t i, int64_t j, double value[AGREE_BLOCKS], double allowed[AGREE_BLOCKS]) {
    const agree_plan *plan = p->plan;
    const size_t blocks = (size_t)(plan->x.rows * plan->y.rows);
    const int64_t k = p->a.k;
    double held[AGREE_ACCUMULATORS] = {0};
    memset(value, 0, blocks * sizeof *value);
    memset(allowed, 0, blocks * sizeof *allowed);
    for (size_t s = 0; s < plan->steps; s++) {
        const agree_step *step = &plan->step[s];
        const double *a = p->a.value + ((int64_t)step->x_slot * p->a.rows + i) * k;
        const double *b = p->b.value + ((int64_t)step->y_slot * p->b.rows + j) * k;
        double product, magnitude;
        multiply(&product, &magnitude, a, b, k);
        for (size_t block = 0; block < blocks; block++)
            allowed[block] += sums * fabs(plan->flow[s * blocks + block]) * magnitude;
        held[step->accumulator] = product + (step->fresh ? 0 : held[step->accumulator]);
        for (size_t w = step->first_write; w < step->first_write + step->writes; w++) {
            const size_t block = plan->write[w].block;
            const double added = plan->write[w].weight * held[step->accumulator], after = value[block] + added;
            const double largest = fmax(fabs(added), fmax(fabs(value[block]), fabs(after)));
            allowed[block] += unit_in_last_place(largest + allowed[block], plan->type_sums);
            value[block] = after;
        }
    }
}

static void store(const job *p, int64_t row, int64_t j, double value, double allowed) {
    const hpt_data *d = p->data;
    const bool addends = d->c || d->bias || d->residual;
    const size_t at = (size_t)(row * d->shape.n + j);
    value *= d->alpha;
    if (d->c) value += d->beta * (double)hpt_typed_get(d->c, d->type_c, (size_t)(row * d->shape.ldc + j));
    if (d->bias) value += (double)hpt_typed_get(d->bias, d->type_c, (size_t)j);
    if (d->residual) value += (double)hpt_typed_get(d->residual, d->type_c, at);
    allowed *= fabs(d->alpha);
    if (addends || d->alpha != 1 || p->plan->type_sums != d->type_c)
        allowed += unit_in_last_place(fabs(value) + allowed, d->type_c);
    p->value[at] = value;
    p->allowed[at] = allowed;
}

static void rows(void *user, size_t first, size_t last) {
    const job *p = user;
    const hpt_shape *s = &p->data->shape;
    double value[AGREE_BLOCKS], allowed[AGREE_BLOCKS];
    for (int64_t i = (int64_t)first; i < (int64_t)last; i++)
        for (int64_t j = 0; j < p->b.rows; j++) {
            place(p, i, j, value, allowed);
            for (int64_t u = 0; u < p->plan->x.rows && u * p->blocks.m + i < s->m; u++)
                for (int64_t v = 0; v < p->plan->y.rows && v * p->blocks.n + j < s->n; v++) {
                    const int64_t block = u * p->plan->y.rows + v;
                    store(p, p->batch * s->m + u * p->blocks.m + i, v * p->blocks.n + j, value[block], allowed[block]);
                }
        }
}

/* The plan, carried out in double on rounded forms, is as near to the reference as the package promises to be. */
static hpt_status check_plan(const double *value, const hpt_data *d, double bound, hpt_error *error) {
    const hpt_reference *r = &d->reference;
    const size_t n = (size_t)d->shape.n;
    double difference = 0, size = 0;
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t j = 0; j < n; j++) {
            const double want = r->value[i * n + j], e = value[(size_t)r->row[i] * n + j] - want;
            difference += e * e;
            size += want * want;
        }
    if (sqrt(difference) <= bound * sqrt(size)) return HPT_OK;
    return hpt_error_set(
        error, HPT_DIFFERS, "plan.json",
        "Carried out in double, the plan differs from the reference by %.1e; the package promises %.1e.",
        sqrt(difference / size), bound);
}

hpt_status agree_allowances(double *allowed, const agree_plan *plan, const hpt_data *d, agree_blocks blocks,
                            double bound, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t m = d->shape.m < blocks.m ? d->shape.m : blocks.m, n = d->shape.n < blocks.n ? d->shape.n : blocks.n;
    job p = {.allowed = allowed, .plan = plan, .data = d, .blocks = blocks};
    HPT_FAIL_NO_MEMORY(p.value = malloc((size_t)(d->shape.batch * d->shape.m * d->shape.n) * sizeof *p.value));
    for (p.batch = 0; p.batch < d->shape.batch; p.batch++) {
        p.a = (forms){.rows = m, .k = d->shape.k < blocks.k ? d->shape.k : blocks.k};
        p.b = (forms){.rows = n, .k = p.a.k};
        HPT_TRY(make_forms(&p.a, plan, &plan->x, d, p.batch, blocks.m, blocks.k, error));
        HPT_TRY(make_forms(&p.b, plan, &plan->y, d, p.batch, blocks.n, blocks.k, error));
        hpt_parallel((size_t)m, rows, &p);
        free(p.a.value);
        free(p.b.value);
        p.a.value = p.b.value = NULL;
    }
    HPT_TRY(check_plan(p.value, d, bound, error));
done:
    free(p.a.value);
    free(p.b.value);
    free(p.value);
    return status;
}
