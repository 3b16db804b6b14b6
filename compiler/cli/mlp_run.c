/* heptane run --op mlp: an MLP block on random data against a reference in double. */
#include "launch/launch.h"
#include "mlp.h"
#include "source.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mlp_options {
    const char *backend, *settings;
    hpt_mlp_shape shape;
    int64_t device, seed, repeat;
    bool json, residual;
    hpt_source_options source;
} mlp_options;

typedef struct mlp_result {
    hpt_check check;
    double bound, seconds, writes; /* writes: blocks of C; NaN where they are not counted */
    uint32_t overflow;
    bool identical, ok;
    int launches;
} mlp_result;

bool hpt_mlp_wanted(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--op=mlp") == 0) return true;
        if (strcmp(argv[i], "--op") == 0 && i + 1 < argc && strcmp(argv[i + 1], "mlp") == 0) return true;
    }
    return false;
}

static hpt_status read_options(mlp_options *o, const char **name, int argc, char **argv, bool *helped,
                               hpt_error *error) {
    int first;
    const int64_t most = (int64_t)1 << 30;
    hpt_emit_options *emit = &o->source.emit;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &emit->op, "OP", "mlp", 0, 0},
        {"rows", 'm', HPT_OPTION_INTEGER, &o->shape.m, "T", "tokens: rows of X (default 512)", 1, most},
        {"hidden", 0, HPT_OPTION_INTEGER, &o->shape.hidden, "H", "columns of X and C (default 512)", 1, most},
        {"intermediate", 0, HPT_OPTION_INTEGER, &o->shape.inner, "I", "rows of gate and up (default 1536)", 1, most},
        {"residual", 0, HPT_OPTION_FLAG, &o->residual, NULL, "X and a residual are added first", 0, 0},
        {"with", 0, HPT_OPTION_TEXT, &emit->with, "NAME=VALUE,...", "settings: activation, rounding, sums, bias", 0, 0},
        {"set", 0, HPT_OPTION_TEXT, &o->settings, "NAME=N,...", "further parameters of the operation (cut=2)", 0, 0},
        {"target", 't', HPT_OPTION_TEXT, &emit->target, "T", "exact target; default: the GPU's, else sm_90a", 0, 0},
        {"backend", 0, HPT_OPTION_TEXT, &o->backend, "B", "auto, gpu or emulator", 0, 0},
        {"device", 0, HPT_OPTION_INTEGER, &o->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"chain", 0, HPT_OPTION_TEXT, &o->source.chain, "C", "optimal (default) or none", 0, 0},
        {"in-type", 0, HPT_OPTION_TEXT, &emit->in_type, "T", "type of X and the weights: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &emit->forms, "T", "type of the operand forms: f16 (default) or bf16", 0, 0},
        {"out-type", 0, HPT_OPTION_TEXT, &emit->out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &emit->sums, "TYPE", "in which C is added up (default: as C; f16 if C is bf16)", 0,
         0},
        {"plan", 0, HPT_OPTION_TEXT, &emit->plan, "KEY=V,...", "overrides of the tile plan", 0, 0},
        {"seed", 0, HPT_OPTION_INTEGER, &o->seed, "S", "of the random data (default 1)", 0, 0},
        {"repeat", 0, HPT_OPTION_INTEGER, &o->repeat, "R", "run R times and compare bit by bit (default 1)", 1, 1000},
        {"json", 0, HPT_OPTION_FLAG, &o->json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "run --op mlp",
        "SCHEME|FOLDER -m T --hidden H --intermediate I [options]",
        "Runs RMSNorm, gate and up, activation and down on random data and checks the result.",
        "heptane run seven-write --op mlp -m 8192 --hidden 5120 --intermediate 17408\n"
        "heptane run trivial --op mlp -m 17 --hidden 576 --intermediate 1536 --with activation=geglu\n",
        1,
        1,
        options,
        HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status == HPT_OK && !*helped) *name = argv[first];
    return status;
}

/* The first run: timed, and the bytes that land in C counted where the backend can. */
static hpt_status run_first(mlp_result *r, hpt_mlp_problem *p, const hpt_op_info *info, void *host, hpt_error *error) {
    const hpt_backend *backend = p->context->backend;
    hpt_backend_device *device = p->context->device;
    const hpt_mlp_shape *s = &p->data->shape;
    hpt_event from = NULL, to = NULL;
    uint64_t before = 0, after = 0;
    hpt_status status = HPT_OK;
    r->writes = NAN;
    if (backend->written) HPT_TRY(backend->written(device, p->c, p->bytes_c, &before, error));
    HPT_TRY(backend->event_record(device, &from, NULL, error));
    HPT_TRY(hpt_mlp_problem_run_once(p, host, &r->overflow, NULL, error));
    HPT_TRY(backend->event_record(device, &to, NULL, error));
    HPT_TRY(backend->event_seconds(device, &r->seconds, from, to, error));
    if (!backend->written) goto done;
    HPT_TRY(backend->written(device, p->c, p->bytes_c, &after, error));
    r->writes = (double)(after - before) * (double)(info->n * info->p) /
                ((double)s->m * (double)s->hidden * (double)hpt_number_type_bytes(p->data->type_c));
done:
    if (from) backend->event_release(device, from);
    if (to) backend->event_release(device, to);
    return status;
}

static hpt_status execute(mlp_result *r, hpt_context *context, hpt_op *op, const hpt_mlp_data *data, int64_t repeat,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_mlp_device device = {0};
    hpt_mlp_problem problem = {0};
    hpt_op_info info;
    void *host = NULL, *again = NULL;
    hpt_op_describe(op, &info);
    r->bound = info.bound;
    HPT_TRY(hpt_mlp_upload(&device, context, data, data->type, error));
    HPT_TRY(hpt_mlp_problem_create(&problem, op, data, &device, error));
    HPT_FAIL_NO_MEMORY(host = malloc(problem.bytes_c));
    HPT_FAIL_NO_MEMORY(again = malloc(problem.bytes_c));
    r->launches = hpt_call_launches(problem.call);
    HPT_TRY(run_first(r, &problem, &info, host, error));
    hpt_mlp_compare(&r->check, data, data->type_c, host);
    r->identical = true;
    for (int64_t i = 1; i < repeat && r->identical; i++) {
        uint32_t overflow;
        HPT_TRY(hpt_mlp_problem_run_once(&problem, again, &overflow, NULL, error));
        r->identical = memcmp(host, again, problem.bytes_c) == 0;
    }
    if (strcmp(context->backend->name, "gpu") == 0) HPT_TRY(hpt_call_time(&r->seconds, context, problem.call, error));
    r->ok = r->check.bad == 0 && !r->overflow && r->identical && r->check.rel_error <= r->bound;
done:
    hpt_mlp_problem_clear(&problem);
    hpt_mlp_device_clear(&device);
    free(host);
    free(again);
    return status;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static hpt_status report(const mlp_result *r, const hpt_context *context, const hpt_op *op, const hpt_mlp_data *d,
                         bool json, hpt_error *error) {
    const hpt_mlp_shape *s = &d->shape;
    hpt_context_info device;
    hpt_op_info info;
    hpt_context_describe(context, &device);
    hpt_op_describe(op, &info);
    const double flops = 2.0 * (double)s->m * (double)s->hidden * (double)(hpt_mlp_gate_up_rows(d) + s->inner);
    if (json)
        return hpt_json_print(
            json_pack("{s:b,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:o,s:f,s:I,s:b,s:f,s:o,s:f,s:b,s:i,s:i,s:I,s:I}", "ok",
                      r->ok, "backend", device.backend, "device", device.device, "target", info.target, "op", info.op,
                      "scheme", info.scheme, "m", (json_int_t)s->m, "hidden", (json_int_t)s->hidden, "intermediate",
                      (json_int_t)s->inner, "activation", d->activation->name, "rel_error", number(r->check.rel_error),
                      "bound", r->bound, "bad_elements", (json_int_t)r->check.bad, "whole_reference", r->check.whole,
                      "ms", r->seconds * 1e3, "writes_executed", number(r->writes), "flops", flops, "identical",
                      r->identical, "overflow", (int)r->overflow, "launches", r->launches, "registers",
                      (json_int_t)info.registers, "spill_bytes", (json_int_t)info.spill_bytes),
            error);
    printf("mlp %s  <%" PRId64 ",%" PRId64 ",%" PRId64 ":%" PRId64 ">  %s, %s\n", info.scheme, info.n, info.m, info.p,
           info.rank, info.target, d->activation->name);
    printf("device    %s (%s)\n", device.device, device.backend);
    printf("shape     %" PRId64 " tokens, hidden %" PRId64 ", intermediate %" PRId64 "  %s -> %s, forms %s\n", s->m,
           s->hidden, s->inner, info.type_x, info.type_c, info.type_forms);
    printf("error     %.3e relative (Frobenius), bound %.1e, %s\n", r->check.rel_error, r->bound,
           r->check.whole ? "all rows" : "64 rows");
    if (r->check.bad) printf("bad       %zu elements are not finite or were never written\n", r->check.bad);
    if (r->overflow)
        printf("range     left by%s%s%s\n", r->overflow & 1 ? " the normalised X" : "",
               r->overflow & 2 ? " the activations" : "", r->overflow & 4 ? " the weights" : "");
    if (!r->identical) printf("bits      differ from run to run\n");
    if (r->seconds > 0)
        printf("time      %.4f ms, %.1f TFLOP/s of ordinary multiplication\n", r->seconds * 1e3,
               flops / r->seconds * 1e-12);
    printf("%s\n", r->ok ? "ok" : "NOT OK");
    return HPT_OK;
}

hpt_status hpt_mlp_command_run(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    mlp_options o = {.shape = {512, 512, 1536}, .seed = 1, .repeat = 1};
    mlp_result result = {0};
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_mlp_data data = {0};
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
    data = (hpt_mlp_data){
        .shape = o.shape, .eps = 1e-6, .seed = (uint64_t)o.seed, .with_residual = o.residual, .settings = o.settings};
    HPT_TRY(hpt_mlp_describe(&data, op, error));
    hpt_progress_say(&hpt_cli_progress, "making data and reference ...");
    HPT_TRY(hpt_mlp_data_make(&data, error));
    hpt_progress_say(&hpt_cli_progress, "running on %s ...", device.device);
    HPT_TRY(execute(&result, context, op, &data, o.repeat, error));
    hpt_progress_end(&hpt_cli_progress);
    HPT_TRY(report(&result, context, op, &data, o.json, error));
    HPT_FAIL_IF(
        !result.ok, HPT_DIFFERS, name,
        "The result is not within its bound (relative error %.3e, bound %.1e, %zu bad elements, overflow %u%s).",
        result.check.rel_error, result.bound, result.check.bad, result.overflow, result.identical ? "" : ", bits vary");
done:
    hpt_mlp_data_clear(&data);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}
