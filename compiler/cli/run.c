/* heptane run: emit, compile, run on random data, check against a reference in double. */
#include "launch/launch.h"
#include "mlp.h"
#include "problem.h"
#include "source.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_run(int argc, char **argv, hpt_error *error);

typedef struct run_options {
    hpt_shape shape;
    const char *backend;
    int64_t device, seed, repeat;
    double alpha, beta;
    const char *settings;
    bool json, bias, residual;
    hpt_source_options source;
} run_options;

typedef struct run_result {
    hpt_check check;
    double bound, seconds;
    bool identical, ok;
    double writes; /* NaN: not counted */
    int launches;
} run_result;

static const char *const examples =
    "heptane run strassen -m 512 -n 512 -k 512          Strassen's scheme, checked against a reference in double\n"
    "heptane run my-scheme.txt -m 4096 -n 4096 -k 4096  any scheme file\n"
    "heptane run ./package -m 17 -n 4095 -k 256         an operation folder that `heptane emit` wrote\n"
    "heptane run strassen -m 300 -n 200 -k 100 --backend emulator --target sm_100a\n";

static hpt_status read_options(run_options *o, const char **name, int argc, char **argv, bool *helped,
                               hpt_error *error) {
    int first;
    const int64_t most = (int64_t)1 << 40;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &o->source.emit.op, "OP", "gemm (default); mlp has options of its own", 0, 0},
        {"rows", 'm', HPT_OPTION_INTEGER, &o->shape.m, "M", "rows of X and C (default 512)", 1, most},
        {"columns", 'n', HPT_OPTION_INTEGER, &o->shape.n, "N", "columns of Y and C (default 512)", 1, most},
        {"inner", 'k', HPT_OPTION_INTEGER, &o->shape.k, "K", "columns of X, rows of Y (default 512)", 1, most},
        {"batch", 0, HPT_OPTION_INTEGER, &o->shape.batch, "B", "independent products (default 1)", 1, most},
        {"ldx", 0, HPT_OPTION_INTEGER, &o->shape.ldx, "LD", "leading dimension of X in elements", 1, most},
        {"ldy", 0, HPT_OPTION_INTEGER, &o->shape.ldy, "LD", "leading dimension of Y in elements", 1, most},
        {"ldc", 0, HPT_OPTION_INTEGER, &o->shape.ldc, "LD", "leading dimension of C in elements", 1, most},
        {"alpha", 0, HPT_OPTION_REAL, &o->alpha, "A", "C = A XY + B C (default 1)", 0, 0},
        {"beta", 0, HPT_OPTION_REAL, &o->beta, "B", "(default 0: C is not read)", 0, 0},
        {"bias", 0, HPT_OPTION_FLAG, &o->bias, NULL, "add a random bias to every row of C", 0, 0},
        {"residual", 0, HPT_OPTION_FLAG, &o->residual, NULL, "add a random matrix to C", 0, 0},
        {"target", 't', HPT_OPTION_TEXT, &o->source.emit.target, "T", "exact target; default: the GPU's, else sm_90a",
         0, 0},
        {"backend", 0, HPT_OPTION_TEXT, &o->backend, "B", "auto, gpu or emulator", 0, 0},
        {"device", 0, HPT_OPTION_INTEGER, &o->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"chain", 0, HPT_OPTION_TEXT, &o->source.chain, "C", "optimal (default) or none", 0, 0},
        {"in-type", 0, HPT_OPTION_TEXT, &o->source.emit.in_type, "T", "type of X and Y: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &o->source.emit.forms, "T", "type of the operand forms: f16 (default) or bf16", 0,
         0},
        {"out-type", 0, HPT_OPTION_TEXT, &o->source.emit.out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &o->source.emit.sums, "TYPE",
         "in which C is added up (default: as C; f16 if C is bf16)", 0, 0},
        {"trans-x", 0, HPT_OPTION_FLAG, &o->source.emit.x_transposed, NULL, "X is stored K x M", 0, 0},
        {"no-trans-y", 0, HPT_OPTION_FLAG, &o->source.emit.y_untransposed, NULL, "Y is stored K x N (default N x K)", 0,
         0},
        {"plan", 0, HPT_OPTION_TEXT, &o->source.emit.plan, "KEY=V,...", "overrides of the tile plan", 0, 0},
        {"set", 0, HPT_OPTION_TEXT, &o->settings, "NAME=N,...", "further parameters of the operation (cut=0,beside=0)",
         0, 0},
        {"shape", 0, HPT_OPTION_TEXT, &o->source.shape, "n,m,p", "shape of the scheme where its file does not tell", 0,
         0},
        {"time-limit", 0, HPT_OPTION_REAL, &o->source.time_limit, "S", "seconds for the search of a chaining", 0,
         1000000000},
        {"ring", 0, HPT_OPTION_TEXT, &o->source.ring, "R", "check over Z, Q, Qi, GF(p), ... (default: the smallest)", 0,
         0},
        {"from", 0, HPT_OPTION_TEXT, &o->source.format, "FORMAT",
         "the scheme file's format (default: from its content)", 0, 0},
        {"seed", 0, HPT_OPTION_INTEGER, &o->seed, "S", "of the random data (default 1)", 0, 0},
        {"repeat", 0, HPT_OPTION_INTEGER, &o->repeat, "R", "run R times and compare the results bit by bit (default 1)",
         1, 1000},
        {"json", 0, HPT_OPTION_FLAG, &o->json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"run",
                             "SCHEME|FOLDER -m M -n N -k K [options]",
                             "Runs an operation on random data and checks the result against a reference in double.",
                             examples,
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status == HPT_OK && !*helped) *name = argv[first];
    return status;
}

static hpt_status count_writes(run_result *r, const hpt_problem *p, uint64_t before, hpt_error *error) {
    const hpt_shape *s = &p->data->shape;
    hpt_op_info info;
    uint64_t after;
    hpt_op_describe(p->op, &info);
    hpt_status status = p->context->backend->written(p->context->device, p->c, p->bytes_c, &after, error);
    double block = (double)s->m * (double)s->n * (double)s->batch * (double)hpt_number_type_bytes(p->data->type_c) /
                   (double)(info.n * info.p);
    if (status == HPT_OK) r->writes = (double)(after - before) / block;
    return status;
}

static hpt_status run_timed_once(run_result *r, hpt_problem *p, void *host, hpt_error *error) {
    const hpt_backend *backend = p->context->backend;
    hpt_backend_device *device = p->context->device;
    hpt_event from = NULL, to = NULL;
    uint64_t before = 0;
    hpt_status status = HPT_OK;
    if (backend->written) HPT_TRY(backend->written(device, p->c, p->bytes_c, &before, error));
    HPT_TRY(backend->event_record(device, &from, NULL, error));
    HPT_TRY(hpt_problem_run_once(p, host, NULL, error));
    HPT_TRY(backend->event_record(device, &to, NULL, error));
    HPT_TRY(backend->event_seconds(device, &r->seconds, from, to, error));
    if (backend->written) HPT_TRY(count_writes(r, p, before, error));
done:
    if (from) backend->event_release(device, from);
    if (to) backend->event_release(device, to);
    return status;
}

static hpt_status check_repeats(run_result *r, hpt_problem *p, const void *first, int64_t repeat, hpt_error *error) {
    hpt_status status = HPT_OK;
    void *host = malloc(p->bytes_c);
    HPT_FAIL_NO_MEMORY(host);
    r->identical = true;
    for (int64_t i = 1; i < repeat && r->identical; i++) {
        HPT_TRY(hpt_problem_run_once(p, host, NULL, error));
        r->identical = memcmp(host, first, p->bytes_c) == 0;
    }
done:
    free(host);
    return status;
}

/* The emulator does about half a GFLOP/s. */
static void warn_if_slow(const run_options *o, const hpt_context *context) {
    const hpt_shape *s = &o->shape;
    double minutes = 2.0 * (double)s->m * (double)s->n * (double)s->k * (double)s->batch / 0.5e9 / 60;
    if (strcmp(context->backend->name, "emulator") == 0 && minutes > 1)
        fprintf(stderr, "heptane run: note: the emulator will need about %.0f minutes for this size.\n", minutes);
}

static hpt_status execute(run_result *r, hpt_context *context, hpt_op *op, const hpt_data *data, const run_options *o,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_problem problem = {0};
    hpt_op_info info;
    void *host = NULL;
    hpt_op_describe(op, &info);
    r->writes = NAN;
    HPT_FAIL_IF(!(info.bound > 0), HPT_MALFORMED, "op.json",
                "numerics: The bound is missing, so nothing can be checked.");
    HPT_TRY(hpt_problem_create(&problem, context, op, data, 0, 0, 0, error));
    r->bound = hpt_call_error_bound(problem.call);
    HPT_FAIL_NO_MEMORY(host = malloc(problem.bytes_c));
    r->launches = hpt_call_launches(problem.call);
    HPT_TRY(run_timed_once(r, &problem, host, error));
    hpt_data_compare(&r->check, data, host);
    HPT_TRY(check_repeats(r, &problem, host, o->repeat, error));
    if (strcmp(context->backend->name, "gpu") == 0) {
        HPT_TRY(hpt_call_run(problem.call, NULL, error));
        HPT_TRY(hpt_call_time(&r->seconds, context, problem.call, error));
    }
    r->ok = r->check.bad == 0 && r->identical && r->check.rel_error <= r->bound;
done:
    hpt_problem_clear(&problem);
    free(host);
    return status;
}

static hpt_status print_json(const run_result *r, const hpt_context *context, const hpt_op *op, const hpt_data *data,
                             hpt_error *error) {
    const hpt_shape *s = &data->shape;
    hpt_context_info device;
    hpt_op_info info;
    hpt_context_describe(context, &device);
    hpt_op_describe(op, &info);
    double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k * (double)s->batch;
    json_t *rel = isfinite(r->check.rel_error) ? json_real(r->check.rel_error) : json_null();
    json_t *writes = isnan(r->writes) ? json_null() : json_real(r->writes);
    return hpt_json_print(
        json_pack("{s:b,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:o,s:f,s:I,s:b,s:f,s:o,s:f,s:b,s:i,s:I,s:I}", "ok", r->ok,
                  "backend", device.backend, "device", device.device, "target", info.target, "op", info.op, "scheme",
                  info.scheme, "m", (json_int_t)s->m, "n", (json_int_t)s->n, "k", (json_int_t)s->k, "batch",
                  (json_int_t)s->batch, "rel_error", rel, "bound", r->bound, "bad_elements", (json_int_t)r->check.bad,
                  "whole_reference", r->check.whole, "ms", r->seconds * 1e3, "writes_executed", writes, "flops", flops,
                  "identical", r->identical, "launches", r->launches, "registers", (json_int_t)info.registers,
                  "spill_bytes", (json_int_t)info.spill_bytes),
        error);
}

static void print_text(const run_result *r, const hpt_context *context, const hpt_op *op, const hpt_data *data) {
    const hpt_shape *s = &data->shape;
    hpt_context_info device;
    hpt_op_info info;
    hpt_context_describe(context, &device);
    hpt_op_describe(op, &info);
    double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k * (double)s->batch;
    printf("%s %s  <%" PRId64 ",%" PRId64 ",%" PRId64 ":%" PRId64 ">  %s\n", info.op, info.scheme, info.n, info.m,
           info.p, info.rank, info.target);
    printf("device    %s (%s)\n", device.device, device.backend);
    printf("shape     %" PRId64 " x %" PRId64 " x %" PRId64, s->m, s->n, s->k);
    if (s->batch > 1) printf(", %" PRId64 " times", s->batch);
    printf("  %s x %s -> %s, forms %s\n", info.type_x, info.type_y, info.type_c, info.type_forms);
    printf("error     %.3e relative (Frobenius), bound %.1e, %s\n", r->check.rel_error, r->bound,
           r->check.whole ? "all rows" : "64 rows");
    if (r->check.bad) printf("bad       %zu elements are not finite or were never written\n", r->check.bad);
    if (!r->identical) printf("bits      differ from run to run\n");
    if (!isnan(r->writes)) printf("writes    %.4g blocks of the output\n", r->writes);
    printf("time      %.4f ms", r->seconds * 1e3);
    if (strcmp(device.backend, "gpu") == 0)
        printf(", %.1f TFLOP/s of ordinary multiplication", flops / r->seconds * 1e-12);
    printf("\n%s\n", r->ok ? "ok" : "NOT OK");
}

hpt_status hpt_command_run(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (hpt_mlp_wanted(argc, argv)) return hpt_mlp_command_run(argc, argv, error);
    run_options o = {.shape = {512, 512, 512, 1, 0, 0, 0}, .seed = 1, .repeat = 1, .alpha = 1};
    run_result result = {0};
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_data data = {0};
    hpt_context_info device;
    const char *name = NULL;
    bool helped = false;
    HPT_TRY(read_options(&o, &name, argc, argv, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_source_refuse(name, &o.source, error));
    HPT_TRY(hpt_source_context(&context, name, o.backend, o.device, &o.source, error));
    hpt_context_describe(context, &device);
    HPT_TRY(hpt_cli_end_on_interrupt(true, error));
    HPT_TRY(hpt_source_open(&op, context, name, &o.source, error));
    data = (hpt_data){.shape = o.shape,
                      .alpha = o.alpha,
                      .beta = o.beta,
                      .seed = (uint64_t)o.seed,
                      .settings = o.settings,
                      .with_bias = o.bias,
                      .with_residual = o.residual};
    HPT_TRY(hpt_data_describe(&data, op, error));
    hpt_progress_say(&hpt_cli_progress, "making data and reference ...");
    HPT_TRY(hpt_data_make(&data, error));
    warn_if_slow(&o, context);
    hpt_progress_say(&hpt_cli_progress, "running on %s ...", device.device);
    HPT_TRY(execute(&result, context, op, &data, &o, error));
    hpt_progress_end(&hpt_cli_progress);
    if (o.json)
        HPT_TRY(print_json(&result, context, op, &data, error));
    else
        print_text(&result, context, op, &data);
    HPT_FAIL_IF(!result.ok, HPT_DIFFERS, name,
                "The result is not within its bound (relative error %.3e, bound %.1e, %zu bad elements%s).",
                result.check.rel_error, result.bound, result.check.bad, result.identical ? "" : ", bits vary");
done:
    hpt_data_clear(&data);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}
