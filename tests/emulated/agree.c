/* agree: the same package on a GPU and in the emulator, on the same inputs.
 *
 *   agree FOLDER M N K [SEED]      FOLDER: what `heptane emit --op gemm` wrote for the GPU's target
 *
 * Prints one row of a Markdown table: how many elements are equal bit for bit, the relative Frobenius difference, and
 * the largest difference as a part of what is allowed for its element: 2^-22 sum |a| |b|, where the sum over the
 * products is bounded by the scheme's growth factor times sum |x| |y|, plus per write to the output one unit in the
 * last place of the largest element, since what is written on the way is as large as that.
 */
#include "cli/problem.h"
#include "emulator/emulator.h"
#include "launch/launch.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hpt_status run_on(void **out, size_t *bytes, hpt_op_info *info, hpt_data *data, const char *backend,
                         const char *target, const char *folder, hpt_error *error) {
    hpt_status status = HPT_OK;
    static char text[3][64];
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_problem problem = {0};
    HPT_TRY(hpt_context_open(&context, backend, 0, target, error));
    HPT_TRY(hpt_op_open(&op, context, folder, error));
    HPT_TRY(hpt_data_describe(data, op, error));
    if (!data->x) HPT_TRY(hpt_data_make(data, error));
    HPT_TRY(hpt_problem_create(&problem, context, op, data, 0, 0, 0, error));
    HPT_FAIL_NO_MEMORY(*out = malloc(problem.bytes_c));
    HPT_TRY(hpt_problem_run_once(&problem, *out, NULL, error));
    *bytes = problem.bytes_c;
    hpt_op_describe(op, info);
    snprintf(text[0], sizeof text[0], "%s", info->scheme);
    snprintf(text[1], sizeof text[1], "%s", info->type_forms);
    snprintf(text[2], sizeof text[2], "%s", info->type_c);
    info->scheme = text[0];
    info->type_forms = text[1];
    info->type_c = text[2];
done:
    hpt_problem_clear(&problem);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}

static double unit_in_last_place(double value, hpt_number_type type) {
    int exponent, digits = type == HPT_NUMBER_F16 ? 11 : type == HPT_NUMBER_BF16 ? 8 : 24;
    int lowest = type == HPT_NUMBER_F16 ? -24 : -149;
    frexp(value, &exponent);
    return ldexp(1, exponent - digits < lowest ? lowest : exponent - digits);
}

/* sum |x| |y| of one element */
static double magnitude(const hpt_data *d, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < d->shape.k; k++) {
        size_t x = (size_t)(d->trans_x ? k * d->shape.ldx + i : i * d->shape.ldx + k);
        size_t y = (size_t)(d->trans_y ? j * d->shape.ldy + k : k * d->shape.ldy + j);
        sum += fabs((double)hpt_typed_get(d->x, d->type_x, x) * (double)hpt_typed_get(d->y, d->type_y, y));
    }
    return sum;
}

static double largest(const hpt_data *d, const void *c) {
    double most = 0;
    for (int64_t i = 0; i < d->shape.m; i++)
        for (int64_t j = 0; j < d->shape.n; j++)
            most = fmax(most, fabs((double)hpt_typed_get(c, d->type_c, (size_t)(i * d->shape.ldc + j))));
    return most;
}

/* op.json states it */
static double growth_of(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/op.json", folder);
    json_t *op = json_load_file(path, 0, NULL);
    double growth = json_number_value(json_object_get(json_object_get(op, "numerics"), "growth"));
    json_decref(op);
    return growth > 0 ? growth : 1;
}

static int compare(const hpt_data *d, const hpt_op_info *info, double growth, const void *gpu, const void *emulated) {
    int64_t equal = 0, total = d->shape.m * d->shape.n;
    double worst = 0, difference = 0, size = 0;
    double unit = (double)info->writes * unit_in_last_place(largest(d, gpu), d->type_c);
    for (int64_t i = 0; i < d->shape.m; i++)
        for (int64_t j = 0; j < d->shape.n; j++) {
            size_t at = (size_t)(i * d->shape.ldc + j);
            double a = (double)hpt_typed_get(gpu, d->type_c, at), b = (double)hpt_typed_get(emulated, d->type_c, at);
            equal += a == b;
            size += a * a;
            if (a == b) continue;
            difference += (a - b) * (a - b);
            worst = fmax(worst, fabs(a - b) / (ldexp(growth * magnitude(d, i, j), -22) + unit));
            if (isnan(a) || isnan(b)) worst = INFINITY;
        }
    printf("| %s | %s | %s | %lld x %lld x %lld | %.3f %% | %.1e | %.3f | %s |\n", info->scheme, info->type_forms,
           info->type_c, (long long)d->shape.m, (long long)d->shape.n, (long long)d->shape.k,
           100.0 * (double)equal / (double)total, sqrt(difference / size), worst, worst <= 1 ? "yes" : "NO");
    return worst <= 1 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: agree FOLDER M N K [SEED]\n");
        return 2;
    }
    hpt_data data = {.shape = {.m = atoll(argv[2]), .n = atoll(argv[3]), .k = atoll(argv[4]), .batch = 1},
                     .alpha = 1,
                     .seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1};
    hpt_error error = {0};
    hpt_op_info info;
    void *gpu = NULL, *emulated = NULL;
    size_t bytes;
    hpt_context *context = NULL;
    hpt_context_info device;
    char target[32];
    hpt_status status = hpt_context_open(&context, "gpu", 0, NULL, &error);
    if (status == HPT_OK) {
        hpt_context_describe(context, &device);
        snprintf(target, sizeof target, "%s", device.target);
        hpt_context_close(context);
        status = run_on(&gpu, &bytes, &info, &data, "gpu", NULL, argv[1], &error);
    }
    if (status == HPT_OK) status = run_on(&emulated, &bytes, &info, &data, "emulator", target, argv[1], &error);
    int code =
        status == HPT_OK ? compare(&data, &info, growth_of(argv[1]), gpu, emulated) : hpt_status_exit_code(status);
    if (status != HPT_OK) fprintf(stderr, "agree: %s: %s\n", error.where, error.message);
    hpt_data_clear(&data);
    free(gpu);
    free(emulated);
    return code;
}
