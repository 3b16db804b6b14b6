/* agree: the same package on two sides, a GPU and the emulator unless told otherwise, on the same inputs.
 *
 *   agree FOLDER M N K      FOLDER: what `heptane emit` wrote (--op gemm, or --op mlp: M tokens, N hidden, K
 * intermediate)
 *
 * Prints one row of a Markdown table, or JSON: how many elements are equal bit for bit, the relative Frobenius
 * difference, and the largest difference as a part of what is allowed for its element. For a gemm that is 2^-22 sum |a|
 * |b| over the products that flow into the element plus one unit in the last place per write, from the actual forms and
 * values: allowance.c says how, and why. FOLDER/plan.json holds the plan (`heptane emit ... --dump=plan` with the same
 * options). An MLP block has roundings of activations between its products, each of which may turn over and then goes
 * through a whole product: its two outputs may differ, relatively and as matrices, by the rounding error that the
 * package expects. Exit code: 0 within, 1 not, 5 no GPU, or that of the error.
 */
#include "agree_run.h"
#include "cli.h"
#include "launch/launch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    hpt_data data;
    const char *sides, *other, *plan;
    int64_t seed;
    bool json;
} options;

typedef struct comparison {
    int64_t equal, total;
    double difference, worst; /* relative Frobenius; the largest part of an allowance */
    hpt_number_type type_c;
} comparison;

static hpt_status read_options(options *o, const char **folder, int argc, char **argv, bool *helped, hpt_error *error) {
    hpt_status status = HPT_OK;
    int first;
    const int64_t most = (int64_t)1 << 24;
    hpt_shape *s = &o->data.shape;
    const hpt_option table[] = {
        {"seed", 0, HPT_OPTION_INTEGER, &o->seed, "S", "of the data (default 1)", 0, 0},
        {"batch", 0, HPT_OPTION_INTEGER, &s->batch, "B", "independent products (default 1)", 1, most},
        {"ldx", 0, HPT_OPTION_INTEGER, &s->ldx, "LD", "leading dimension of X in elements", 1, most},
        {"ldy", 0, HPT_OPTION_INTEGER, &s->ldy, "LD", "leading dimension of Y in elements", 1, most},
        {"ldc", 0, HPT_OPTION_INTEGER, &s->ldc, "LD", "leading dimension of C in elements", 1, most},
        {"alpha", 0, HPT_OPTION_REAL, &o->data.alpha, "A", "C = A XY + B C (default 1)", 0, 0},
        {"beta", 0, HPT_OPTION_REAL, &o->data.beta, "B", "(default 0: C is not read)", 0, 0},
        {"bias", 0, HPT_OPTION_FLAG, &o->data.with_bias, NULL, "add a random bias to every row of C", 0, 0},
        {"residual", 0, HPT_OPTION_FLAG, &o->data.with_residual, NULL, "add a random matrix to C", 0, 0},
        {"set", 0, HPT_OPTION_TEXT, &o->data.settings, "NAME=N,...", "parameters of the operation (default cut=0)", 0,
         0},
        {"sides", 0, HPT_OPTION_TEXT, &o->sides, "A,B", "gpu or emulator, twice (default gpu,emulator)", 0, 0},
        {"other", 0, HPT_OPTION_TEXT, &o->other, "FOLDER", "the second side runs this package", 0, 0},
        {"plan", 0, HPT_OPTION_TEXT, &o->plan, "FILE", "(default FOLDER/plan.json)", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &o->json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"agree",
                             "FOLDER M N K [options]",
                             "Compares one package's output on two sides, element by element.",
                             "agree op 600 520 712\nagree op 600 520 712 --sides emulator,emulator",
                             4,
                             4,
                             table,
                             HPT_COUNT(table)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, helped, error));
    if (*helped) goto done;
    *folder = argv[first];
    s->m = atoll(argv[first + 1]), s->n = atoll(argv[first + 2]), s->k = atoll(argv[first + 3]);
    HPT_FAIL_IF(s->m < 1 || s->n < 1 || s->k < 1, HPT_USAGE, "", "M, N and K are positive integers.");
    o->data.seed = (uint64_t)o->seed;
done:
    return status;
}

/* "gpu,emulator": two emulators take different seeds */
static hpt_status read_sides(agree_side side[2], const options *o, const char *folder, hpt_error *error) {
    static const char *const names[] = {"gpu", "emulator"};
    const char *at = o->sides;
    for (int i = 0; i < 2; i++) {
        const size_t length = strcspn(at, ",");
        side[i] = (agree_side){.folder = i && o->other ? o->other : folder, .seed = (uint64_t)i + 1};
        for (size_t k = 0; k < HPT_COUNT(names); k++)
            if (strlen(names[k]) == length && strncmp(at, names[k], length) == 0) side[i].backend = names[k];
        if (!side[i].backend || at[length] != (i ? '\0' : ','))
            return hpt_error_set(error, HPT_USAGE, "--sides", "\"%s\" is not gpu or emulator, twice.", o->sides);
        at += length + 1;
    }
    return HPT_OK;
}

/* allowed: NULL where there is none by element */
static comparison compare(const hpt_shape *s, hpt_number_type type, const void *one, const void *two,
                          const double *allowed) {
    comparison c = {.total = s->batch * s->m * s->n, .type_c = type};
    double difference = 0, size = 0;
    for (int64_t i = 0; i < s->batch * s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            const size_t at = (size_t)(i * s->ldc + j);
            const double a = (double)hpt_typed_get(one, type, at), b = (double)hpt_typed_get(two, type, at);
            c.equal += a == b;
            size += a * a;
            if (a == b) continue;
            difference += (a - b) * (a - b);
            if (!isfinite(a) || !isfinite(b))
                c.worst = INFINITY;
            else if (allowed)
                c.worst = fmax(c.worst, fabs(a - b) / allowed[i * s->n + j]);
        }
    c.difference = size > 0 ? sqrt(difference / size) : sqrt(difference);
    return c;
}

static hpt_status agree_gemm(comparison *out, options *o, const agree_side side[2], const hpt_operation *op,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    agree_plan plan = {0};
    agree_output one = {0}, two = {0};
    hpt_data *d = &o->data;
    double *allowed = NULL;
    char path[600];
    snprintf(path, sizeof path, "%s/plan.json", side[0].folder);
    HPT_TRY(agree_plan_read(&plan, o->plan ? o->plan : path, op->scheme_hash, op->writes, error));
    HPT_TRY(agree_run_gemm(&one, &side[0], op->target, d, error));
    HPT_TRY(agree_run_gemm(&two, &side[1], op->target, d, error));
    HPT_FAIL_NO_MEMORY(allowed = malloc((size_t)(d->shape.batch * d->shape.m * d->shape.n) * sizeof *allowed));
    HPT_TRY(agree_allowances(allowed, &plan, d, one.blocks, op->bound, error));
    *out = compare(&d->shape, d->type_c, one.c, two.c, allowed);
done:
    agree_plan_clear(&plan);
    hpt_data_clear(d);
    free(allowed);
    free(one.c);
    free(two.c);
    return status;
}

/* op.json states the error that roundings are expected to make */
static double expected_error(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/op.json", folder);
    json_t *op = json_load_file(path, 0, NULL);
    const double expected = json_number_value(json_object_get(json_object_get(op, "numerics"), "expected"));
    json_decref(op);
    return expected;
}

static hpt_status agree_mlp(comparison *out, const options *o, const agree_side side[2], const hpt_operation *op,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_shape *s = &o->data.shape, packed = {.m = s->m, .n = s->n, .batch = 1, .ldc = s->n};
    agree_output one = {0}, two = {0};
    hpt_mlp_data data = {.shape = {s->m, s->n, s->k},
                         .eps = 1e-6,
                         .settings = o->data.settings,
                         .with_residual = o->data.with_residual,
                         .seed = o->data.seed};
    HPT_TRY(agree_run_mlp(&one, &side[0], op->target, &data, error));
    HPT_TRY(agree_run_mlp(&two, &side[1], op->target, &data, error));
    *out = compare(&packed, data.type_c, one.c, two.c, NULL);
    const double expected = expected_error(side[0].folder);
    HPT_FAIL_IF(!(expected > 0), HPT_UNSUPPORTED, side[0].folder, "Its op.json states no expected error.");
    out->worst = fmax(out->worst, out->difference / expected);
done:
    hpt_mlp_data_clear(&data);
    free(one.c);
    free(two.c);
    return status;
}

static hpt_status report(const comparison *c, const options *o, const hpt_operation *op, hpt_error *error) {
    const hpt_shape *s = &o->data.shape;
    const double equal = (double)c->equal / (double)c->total;
    if (o->json)
        return hpt_json_print(
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:b}", "op", op->op, "scheme",
                      op->scheme, "target", op->target, "forms", op->type_forms, "output", op->type_c, "m",
                      (json_int_t)s->m, "n", (json_int_t)s->n, "k", (json_int_t)s->k, "writes", (json_int_t)op->writes,
                      "equal", equal, "difference", c->difference, "worst",
                      isfinite(c->worst) ? json_real(c->worst) : json_null(), "within", c->worst <= 1),
            error);
    printf("| %s | %s | %s | %lld x %lld x %lld | %.3f %% | %.1e | %.3f | %s |\n", op->scheme, op->type_forms,
           op->type_c, (long long)s->m, (long long)s->n, (long long)s->k, 100 * equal, c->difference, c->worst,
           c->worst <= 1 ? "yes" : "NO");
    return HPT_OK;
}

int main(int argc, char **argv) {
    hpt_status status = HPT_OK;
    hpt_error reason = {0}, *error = &reason;
    options o = {.data = {.shape = {.batch = 1}, .alpha = 1}, .sides = "gpu,emulator", .seed = 1};
    agree_side side[2];
    hpt_operation *op = NULL;
    comparison c = {0};
    const char *folder = NULL;
    bool helped = false;
    HPT_TRY(read_options(&o, &folder, argc, argv, &helped, error));
    if (helped) return 0;
    HPT_TRY(read_sides(side, &o, folder, error));
    HPT_TRY(hpt_operation_read(&op, folder, error));
    const bool mlp = strcmp(op->op, "mlp") == 0;
    HPT_TRY(mlp ? agree_mlp(&c, &o, side, op, error) : agree_gemm(&c, &o, side, op, error));
    HPT_TRY(report(&c, &o, op, error));
done:
    hpt_operation_destroy(op);
    if (status != HPT_OK) fprintf(stderr, "agree: %s: %s\n", reason.where, reason.message);
    if (status != HPT_OK) return hpt_status_exit_code(status);
    return c.worst <= 1 ? 0 : 1;
}
