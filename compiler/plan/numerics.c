/* numerics.c - growth factor and error model of a schedule
 *
 * Data are independent N(0,1), so an element of a block's product has variance K/m, here taken as 1, and a linear
 * combination of products has the squared norm of its coefficients in the basis X_ij Y_kl. Rounding to a type with unit
 * roundoff u makes an independent error of root mean square 0.425 u relative to the value (measured: 1.66e-3 for bf16,
 * 2.1e-4 for f16). Errors added up: rounding of operand forms, rounding of the prefix sum at every write, and rounding
 * of the output block after every add, and delivering C where its type is not the sums'. The bound is 1.5 times the
 * worst output block. A kernel that cuts its last wave adds every write in up to hpt_type_parts parts, which rounds the
 * output more often. DESIGN section 6.
 */
#include "plan/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_MODEL = 1 << 24 }; /* numbers kept: one X_ij Y_kl combination per output block */
static const double rms_of_roundoff = 0.425;
/* Tensor cores cut off what does not fit their f32 sums, so that error grows with K, at most in proportion: measured on
 * an H200 2.4e-6 at K = 2048. This covers K up to 24576. */
static const double accumulation = 3e-5;

static double norm1(const hpt_row *row) {
    double sum = 0;
    for (int32_t i = 0; i < row->count; i++) sum += fabs(row->weight[i]);
    return sum;
}

static double norm2(const hpt_row *row) {
    double sum = 0;
    for (int32_t i = 0; i < row->count; i++) sum += row->weight[i] * row->weight[i];
    return sum;
}

static double dot_self(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sum;
}

/* Does making this form round at all? */
static bool form_rounds(const hpt_slot *slot, hpt_type in, hpt_type forms) {
    if (in == HPT_TYPE_F16 && forms == HPT_TYPE_BF16) return true;
    int exponent;
    return slot->count > 1 || fabs(frexp(slot->terms[0].weight, &exponent)) != 0.5;
}

/* rho as the schedule has it: the coefficient of step t's product in block c is lambda_t times the sum of the weights
 * of the writes at and after t in its chain. */
typedef struct error_model {
    size_t combination, blocks;
    double *sum;    /* prefix sums, one per accumulator */
    double *output; /* what has been written to each block */
    double *error;  /* variance of each block's rounding at writes */
    double *cut;    /* the same with every write in parts */
    double *rho;    /* steps x blocks */
    int32_t *at;    /* the plan's step of a product: chains may have changed places */
} error_model;

static void product_add(double *sum, const hpt_row *u, const hpt_row *v, double scale, size_t v_entries) {
    for (int32_t i = 0; i < u->count; i++)
        for (int32_t j = 0; j < v->count; j++)
            sum[(size_t)u->index[i] * v_entries + (size_t)v->index[j]] += scale * u->weight[i] * v->weight[j];
}

static void schedule_walk(const error_model *model, const hpt_kernel_plan *plan, const hpt_plan_request *request,
                          bool full) {
    const double out_variance = pow(rms_of_roundoff * hpt_type_roundoff(plan->sums_type), 2);
    const double parts = hpt_type_parts(plan->sums_type);
    const size_t v_entries = (size_t)plan->m * (size_t)plan->p;
    for (int32_t t = 0; t < plan->step_count; t++) {
        const hpt_step *step = &request->schedule->steps[t];
        double *sum = full ? model->sum + (size_t)step->accumulator * model->combination : NULL;
        if (full) {
            if (step->fresh) memset(sum, 0, model->combination * sizeof *sum);
            product_add(sum, &request->u[step->product], &request->v[step->product], step->scale.value, v_entries);
        }
        const double sum_variance = full ? dot_self(sum, model->combination) : 0;
        for (int32_t i = 0; i < step->write_count; i++) {
            const hpt_write *write = &step->writes[i];
            const double weight = write->weight.value;
            for (int32_t s = t; s >= 0; s--) { /* every product of this chain up to here is in the prefix sum */
                const hpt_step *earlier = &request->schedule->steps[s];
                if (earlier->chain != step->chain) continue;
                model->rho[(size_t)s * model->blocks + (size_t)write->c] += weight * earlier->scale.value;
                if (earlier->fresh) break;
            }
            if (!full) continue;
            double *output = model->output + (size_t)write->c * model->combination;
            for (size_t e = 0; e < model->combination; e++) output[e] += weight * sum[e];
            model->error[write->c] += out_variance * weight * weight * sum_variance;
            const double output_variance = dot_self(output, model->combination);
            if (!write->first) model->error[write->c] += out_variance * output_variance;
            model->cut[write->c] += out_variance * weight * weight * sum_variance;
            if (!write->first || parts > 1) model->cut[write->c] += out_variance * output_variance * (parts + 1) / 2;
        }
    }
}

static void error_sum_up(hpt_numerics *numerics, const error_model *model, const hpt_kernel_plan *plan,
                         const hpt_plan_request *request) {
    const double forms_variance = pow(rms_of_roundoff * hpt_type_roundoff(plan->forms_type), 2);
    const double rounded_once = pow(rms_of_roundoff * hpt_type_roundoff(plan->c_type), 2);
    const double delivered = plan->sums_type == plan->c_type ? 0 : rounded_once * plan->m; /* a block has variance m */
    double worst = 0, worst_cut = 0, total = 0;
    for (size_t c = 0; c < model->blocks; c++) {
        double growth = 0, variance = delivered;
        for (int32_t t = 0; t < plan->step_count; t++) {
            const int32_t product = request->schedule->steps[t].product;
            const hpt_row *u = &request->u[product], *v = &request->v[product];
            const double rho = model->rho[(size_t)t * model->blocks + c];
            const int roundings =
                form_rounds(&plan->x.slots[plan->steps[model->at[product]].x_slot], plan->x_type, plan->forms_type) +
                form_rounds(&plan->y.slots[plan->steps[model->at[product]].y_slot], plan->y_type, plan->forms_type);
            growth += fabs(rho) * norm1(u) * norm1(v);
            variance += roundings * forms_variance * rho * rho * norm2(u) * norm2(v);
        }
        numerics->growth = fmax(numerics->growth, growth);
        worst = fmax(worst, (variance + model->error[c]) / plan->m);
        worst_cut = fmax(worst_cut, (variance + model->cut[c]) / plan->m);
        total += (variance + model->error[c]) / plan->m;
    }
    numerics->expected = sqrt(total / (double)model->blocks);
    const double more = delivered > 0 ? 0 : rounded_once; /* by a finishing pass, that is not yet in the variances */
    numerics->bound = fmax(1.5 * sqrt(worst), 1.25 * sqrt(worst_cut)) + accumulation;
    numerics->finished = fmax(1.5 * sqrt(worst + more), 1.25 * sqrt(worst_cut + more)) + accumulation;
}

hpt_status hpt_kernel_plan_numerics(hpt_kernel_plan *plan, const hpt_plan_request *request, hpt_error *error) {
    hpt_status status = HPT_OK;
    error_model model = {.combination = (size_t)plan->n * (size_t)plan->m * (size_t)plan->m * (size_t)plan->p,
                         .blocks = (size_t)plan->n * (size_t)plan->p};
    size_t numbers;
    const bool full = hpt_mul_size(&numbers, model.combination, model.blocks) && numbers <= LARGEST_MODEL;
    model.error = calloc(model.blocks, sizeof(double));
    model.cut = calloc(model.blocks, sizeof(double));
    model.at = calloc((size_t)plan->step_count, sizeof *model.at);
    model.rho = calloc(model.blocks * (size_t)plan->step_count, sizeof(double));
    if (full) {
        model.sum = calloc(model.combination * (size_t)plan->accumulators, sizeof(double));
        model.output = calloc(numbers, sizeof(double));
    }
    HPT_FAIL_IF(!model.error || !model.cut || !model.rho || !model.at || (full && (!model.sum || !model.output)),
                HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t t = 0; t < plan->step_count; t++) model.at[plan->steps[t].product] = t;
    schedule_walk(&model, plan, request, full);
    error_sum_up(&plan->numerics, &model, plan, request);
    if (!full) { /* too large to follow: the growth factor bounds every partial sum */
        const double roundings = hpt_type_roundoff(plan->sums_type) * sqrt((double)plan->writes / (double)model.blocks);
        plan->numerics.bound += plan->numerics.growth * roundings;
        plan->numerics.finished += plan->numerics.growth * roundings;
        plan->numerics.expected += plan->numerics.growth * roundings * rms_of_roundoff / sqrt((double)plan->m);
    }
done:
    free(model.sum);
    free(model.output);
    free(model.error);
    free(model.cut);
    free(model.rho);
    free(model.at);
    return status;
}
