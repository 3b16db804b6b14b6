/* heptane bench --op mlp: the block against cuBLASLt with fused norm and activation kernels, in turns and alone. */
#include "bench_report.h"
#include "field.h"
#include "measure.h"
#include "mlp_control.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 32, MOST_VARIANTS = 32 };

typedef struct mlp_bench {
    const char *sizes, *settings, *baseline_type, *out_file;
    int64_t device, seed, hidden, inner;
    double load, alone;
    bool json, unchained, parts, chosen, only_chosen;
    hpt_source_options source;
    hpt_context *context;
    hpt_meter *meter;
    hpt_variant variants[MOST_VARIANTS];
    size_t variant_count, size_count;
    int64_t size[MOST_SIZES];
    json_t *rows;
    bool loaded;
} mlp_bench;

static hpt_status read_options(mlp_bench *b, int argc, char **argv, bool *helped, hpt_error *error) {
    int first;
    hpt_emit_options *emit = &b->source.emit;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &emit->op, "OP", "mlp", 0, 0},
        {"sizes", 0, HPT_OPTION_TEXT, &b->sizes, "LIST", "token counts, with commas (default 8192)", 0, 0},
        {"hidden", 0, HPT_OPTION_INTEGER, &b->hidden, "H", "hidden size of the model (default 5120)", 1, 1 << 30},
        {"intermediate", 0, HPT_OPTION_INTEGER, &b->inner, "I", "intermediate size (default 17408)", 1, 1 << 30},
        {"with", 0, HPT_OPTION_TEXT, &emit->with, "NAME=VALUE,...", "settings: activation, rounding, sums", 0, 0},
        {"baseline-type", 0, HPT_OPTION_TEXT, &b->baseline_type, "T",
         "the other pipeline computes in f16 or bf16 (default: our input type)", 0, 0},
        {"set", 0, HPT_OPTION_TEXT, &b->settings, "NAME=N,...", "further parameters of the operation (cut=2)", 0, 0},
        {"unchained", 0, HPT_OPTION_FLAG, &b->unchained, NULL, "also each scheme without chaining", 0, 0},
        {"chosen", 0, HPT_OPTION_FLAG, &b->chosen, NULL,
         "what a layer takes for each size, as `heptane tune --op mlp` has found, else a default; of schemes only "
         "those that are named",
         0, 0},
        {"parts", 0, HPT_OPTION_FLAG, &b->parts, NULL, "also the time of each kernel by itself", 0, 0},
        {"load", 0, HPT_OPTION_REAL, &b->load, "S", "seconds of load before the first sample (default 2.2)", 0, 3600},
        {"alone", 0, HPT_OPTION_REAL, &b->alone, "S", "seconds timed alone (default 0.2; 0: not)", 0, 3600},
        {"device", 0, HPT_OPTION_INTEGER, &b->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"in-type", 0, HPT_OPTION_TEXT, &emit->in_type, "T", "type of X and the weights: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &emit->forms, "T", "type of the operand forms: f16 (default) or bf16", 0, 0},
        {"out-type", 0, HPT_OPTION_TEXT, &emit->out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &emit->sums, "TYPE", "in which C is added up (default: as C; f16 if C is bf16)", 0,
         0},
        {"plan", 0, HPT_OPTION_TEXT, &emit->plan, "KEY=V,...", "overrides of the tile plan", 0, 0},
        {"seed", 0, HPT_OPTION_INTEGER, &b->seed, "S", "of the random data (default 1)", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &b->out_file, "FILE", "also write the rows to FILE as they grow", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &b->json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "bench --op mlp",
        "[SCHEME[@PLAN]|FOLDER...] [options]",
        "Times an MLP block against cuBLAS with fused RMSNorm and activation kernels on a GPU.",
        "heptane bench --op mlp trivial seven-write textbook --sizes 2048,8192 --hidden 5120 "
        "--intermediate 17408\n"
        "heptane bench --op mlp seven-write --baseline-type bf16 --unchained\n"
        "heptane bench --op mlp trivial trivial@tile_n=128,cluster=1 --sizes 1,16,256   a plan each\n",
        0,
        MOST_VARIANTS / 2,
        options,
        HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status != HPT_OK || *helped) return status;
    for (int i = first; i < argc && status == HPT_OK; i++)
        for (int unchained = 0; unchained <= b->unchained && status == HPT_OK; unchained++) {
            hpt_variant *v = &b->variants[b->variant_count++];
            status = hpt_variant_parse(v, argv[i], error);
            v->unchained = unchained != 0;
        }
    b->only_chosen = b->chosen && first == argc; /* data are then made for the trivial scheme, which is not timed */
    if (first == argc)
        status = hpt_variant_parse(&b->variants[b->variant_count++], b->chosen ? "trivial" : "seven-write", error);
    if (status != HPT_OK) return status;
    return hpt_tokens_parse(b->size, &b->size_count, MOST_SIZES, b->sizes ? b->sizes : "8192", error);
}

/* ---- one size ---- */
typedef struct field {
    hpt_mlp_data data;
    hpt_mlp_device ours, theirs;
    hpt_number_type theirs_type;
    hpt_mlp_control control;
    hpt_check control_check;
    void *host;
} field;

static void clear_field(field *f) {
    hpt_mlp_control_clear(&f->control);
    hpt_mlp_device_clear(&f->ours);
    hpt_mlp_device_clear(&f->theirs);
    hpt_mlp_data_clear(&f->data);
    free(f->host);
}

/* Weights, for all sizes. */
static hpt_status make_field(mlp_bench *b, field *f, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_mlp_data *d = &f->data;
    *d = (hpt_mlp_data){
        .shape = {b->size[0], b->hidden, b->inner}, .eps = 1e-6, .seed = (uint64_t)b->seed, .settings = b->settings};
    HPT_TRY(hpt_mlp_describe(d, b->variants[0].op, error));
    f->theirs_type = d->type;
    HPT_FAIL_IF(b->baseline_type && !hpt_number_type_find(&f->theirs_type, b->baseline_type), HPT_USAGE,
                "--baseline-type", "It is f16 or bf16.");
    if (f->theirs_type == HPT_NUMBER_BF16) d->rounding = HPT_NUMBER_BF16; /* the same values for both */
    HPT_TRY(hpt_mlp_data_make(d, error));
    HPT_TRY(hpt_mlp_upload(&f->ours, b->context, d, d->type, error));
    HPT_TRY(hpt_mlp_upload(&f->theirs, b->context, d, f->theirs_type, error));
done:
    return status;
}

/* X, the other pipeline and its result for one size. */
static hpt_status set_tokens(mlp_bench *b, field *f, int64_t m, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_mlp_data *d = &f->data;
    void *stream = hpt_meter_stream(b->meter);
    if (m != d->shape.m) {
        HPT_TRY(hpt_mlp_data_tokens(d, m, error));
        HPT_TRY(hpt_mlp_upload_tokens(&f->ours, d, error));
        HPT_TRY(hpt_mlp_upload_tokens(&f->theirs, d, error));
    }
    hpt_mlp_control_clear(&f->control);
    HPT_TRY(hpt_mlp_control_create(&f->control, d, &f->theirs, b->source.emit.target, stream, error));
    free(f->host);
    HPT_FAIL_NO_MEMORY(f->host = malloc((size_t)m * (size_t)b->hidden * 4));
    HPT_TRY(hpt_device_fill(b->context, f->control.c, 0xff, f->control.bytes_c, stream, error));
    HPT_TRY(hpt_mlp_control_run(&f->control, stream, error));
    HPT_TRY(hpt_device_synchronize(b->context, stream, error));
    HPT_TRY(hpt_device_download(b->context, f->host, f->control.c, f->control.bytes_c, error));
    hpt_mlp_compare(&f->control_check, d, f->theirs_type, f->host);
done:
    return status;
}

typedef struct one_launch {
    const hpt_call *call;
    size_t record;
} one_launch;
static hpt_status run_one(void *user, void *stream, hpt_error *error) {
    const one_launch *one = user;
    const hpt_record *r = &one->call->record[one->record];
    return one->call->op->context->backend->launch(r->module, &r->launch, stream, error);
}

/* Milliseconds of each kernel, run again and again by itself. */
static json_t *parts_of(const mlp_bench *b, const hpt_call *call, hpt_error *error) {
    json_t *parts = json_object();
    for (size_t i = 0; i < call->record_count; i++) {
        one_launch one = {call, i};
        double seconds;
        if (call->record[i].phase != HPT_PHASE_RUN) continue;
        if (hpt_measure_quick(&seconds, b->meter, (hpt_runnable){run_one, &one}, 9, error) == HPT_OK)
            json_object_set_new(parts, call->record[i].package, json_real(seconds * 1e3));
    }
    return parts;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static void print_row(const json_t *row) {
    char *parts = json_dumps(json_object_get(row, "parts_ms"), JSON_COMPACT | JSON_REAL_PRECISION(4));
    printf("%6lld  %-16s %-9s %-12s %9.4f ms  baseline %9.4f ms  ratio %.3f / own %.3f  error %.2e / %.2e%s  %s\n",
           (long long)json_integer_value(json_object_get(row, "m")), json_string_value(json_object_get(row, "scheme")),
           json_string_value(json_object_get(row, "chain")), json_string_value(json_object_get(row, "plan")),
           json_number_value(json_object_get(row, "ms")), json_number_value(json_object_get(row, "baseline_ms")),
           json_number_value(json_object_get(row, "ratio")), json_number_value(json_object_get(row, "ratio_own")),
           json_number_value(json_object_get(row, "rel_error")),
           json_number_value(json_object_get(row, "baseline_rel_error")),
           json_is_true(json_object_get(row, "ok")) ? "" : "  NOT OK", parts ? parts : "");
    fflush(stdout);
    free(parts);
}

static hpt_status keep_row(mlp_bench *b, json_t *row, hpt_error *error) {
    if (!b->json) print_row(row);
    return hpt_bench_keep_row(b->rows, row, b->out_file, error);
}

static hpt_status bench_variant(mlp_bench *b, field *f, hpt_variant *v, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_mlp_problem problem = {0};
    hpt_check check;
    hpt_pair pair;
    hpt_alone alone[2] = {{0}};
    uint32_t overflow = 0, overflow_again;
    void *stream = hpt_meter_stream(b->meter), *again = NULL;
    hpt_op_info info;
    hpt_op_describe(v->op, &info);
    HPT_TRY(hpt_mlp_problem_create(&problem, v->op, &f->data, &f->ours, error));
    HPT_FAIL_NO_MEMORY(again = malloc(problem.bytes_c));
    HPT_TRY(hpt_mlp_problem_run_once(&problem, f->host, &overflow, stream, error));
    HPT_TRY(hpt_mlp_problem_run_once(&problem, again, &overflow_again, stream, error));
    const bool identical = memcmp(again, f->host, problem.bytes_c) == 0;
    hpt_mlp_compare(&check, &f->data, f->data.type_c, f->host);
    const hpt_runnable both[] = {{hpt_mlp_control_run, &f->control}, {hpt_run_call, problem.call}};
    hpt_progress_say(&hpt_cli_progress, "%s: in turns ...", v->name);
    HPT_TRY(hpt_measure_pair(&pair, b->meter, both[0], both[1], b->loaded ? fmin(0.6, b->load) : b->load, error));
    b->loaded = true;
    if (b->alone > 0) HPT_TRY(hpt_measure_alone(alone, b->meter, both, 2, b->alone, b->alone, error));
    const bool repeats = identical || hpt_call_any_order(problem.call);
    const bool ok = check.bad == 0 && !overflow && repeats && check.rel_error <= info.bound;
    json_t *row = json_pack(
        "{s:s,s:I,s:I,s:I,s:s,s:s,s:f,s:f,s:f,s:o,s:o,s:o,s:f,s:b,s:b,s:i,s:[s,s,s],s:f,s:f,s:f,s:f}", "op", "mlp", "m",
        (json_int_t)f->data.shape.m, "hidden", (json_int_t)f->data.shape.hidden, "intermediate",
        (json_int_t)f->data.shape.inner, "scheme", v->name, "chain", v->unchained ? "none" : "optimal", "ms",
        pair.median_b * 1e3, "baseline_ms", pair.median_a * 1e3, "ratio", pair.median_a / pair.median_b, "ratio_own",
        number(alone[0].seconds / alone[1].seconds), "rel_error", number(check.bad ? INFINITY : check.rel_error),
        "baseline_rel_error", number(f->control_check.bad ? INFINITY : f->control_check.rel_error), "bound", info.bound,
        "ok", ok, "identical", identical, "overflow", (int)overflow, "types", info.type_x, info.type_c, info.type_forms,
        "own_ms", alone[1].seconds * 1e3, "own_baseline_ms", alone[0].seconds * 1e3, "mhz", alone[1].mhz,
        "baseline_mhz", alone[0].mhz);
    HPT_FAIL_NO_MEMORY(row);
    json_object_set_new(row, "n", json_integer(f->data.shape.inner)); /* as every row has: of gate and up */
    json_object_set_new(row, "k", json_integer(f->data.shape.hidden));
    json_object_set_new(row, "plan", json_string(v->plan));
    json_object_set_new(row, "samples_ms", hpt_samples_json(pair.b));
    json_object_set_new(row, "baseline_samples_ms", hpt_samples_json(pair.a));
    if (b->parts) json_object_set_new(row, "parts_ms", parts_of(b, problem.call, error));
    HPT_TRY(keep_row(b, row, error));
done:
    hpt_mlp_problem_clear(&problem);
    free(again);
    return status;
}

/* The variant that hpt_choose names for this size. */
static hpt_status bench_chosen(mlp_bench *b, field *f, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mlp_shape *s = &f->data.shape;
    hpt_choice choice;
    hpt_variant v = {0};
    char types[64];
    hpt_mlp_types(types, sizeof types, b->variants[0].op, b->source.emit.sums);
    HPT_TRY(hpt_choose(&choice, b->context, "mlp", types, s->m, s->inner, s->hidden, error));
    memcpy(v.name, choice.scheme, sizeof choice.scheme);
    memcpy(v.plan, choice.plan, sizeof choice.plan);
    v.unchained = choice.unchained;
    HPT_TRY((choice.tuned ? hpt_variant_open_tuned : hpt_variant_open)(&v, b->context, &b->source, error));
    HPT_TRY(bench_variant(b, f, &v, error));
    json_t *row = json_array_get(b->rows, json_array_size(b->rows) - 1);
    json_object_set_new(row, "chosen", json_string(choice.tuned ? "tuned" : "default"));
done:
    if (v.op) hpt_variant_close(&v);
    return status;
}

static hpt_status bench_size(mlp_bench *b, field *f, int64_t m, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_progress_say(&hpt_cli_progress, "%" PRId64 " tokens: data and reference ...", m);
    HPT_TRY(set_tokens(b, f, m, error));
    for (size_t i = b->only_chosen ? b->variant_count : 0; i < b->variant_count; i++) {
        HPT_FAIL_IF(hpt_progress_interrupted(&hpt_cli_progress), HPT_INTERRUPTED, "",
                    "Interrupted; the rows so far stand.");
        HPT_TRY(bench_variant(b, f, &b->variants[i], error));
    }
    if (b->chosen) HPT_TRY(bench_chosen(b, f, error));
done:
    return status;
}

hpt_status hpt_mlp_command_bench(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool helped = false;
    hpt_context_info device = {0};
    field f = {0};
    mlp_bench *b = calloc(1, sizeof *b);
    HPT_FAIL_NO_MEMORY(b);
    b->seed = 1;
    b->hidden = 5120;
    b->inner = 17408;
    b->load = 2.2;
    b->alone = 0.2;
    HPT_FAIL_NO_MEMORY(b->rows = json_array());
    HPT_TRY(read_options(b, argc, argv, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_timed_gpu_open(&b->context, &b->meter, &b->source, b->device, error));
    hpt_context_describe(b->context, &device);
    HPT_TRY(hpt_cli_end_on_interrupt(true, error)); /* nothing is measured yet */
    HPT_TRY(hpt_variants_open(b->variants, b->variant_count, b->context, &b->source, error));
    HPT_TRY(make_field(b, &f, error));
    HPT_TRY(hpt_cli_end_on_interrupt(false, error));
    for (size_t i = 0; i < b->size_count && status == HPT_OK; i++) status = bench_size(b, &f, b->size[i], error);
    if (b->json && json_array_size(b->rows)) {
        hpt_status printed = hpt_json_print(
            json_pack("{s:s,s:s,s:O}", "device", device.device, "target", device.target, "rows", b->rows), error);
        if (status == HPT_OK) status = printed;
    }
done:
    clear_field(&f);
    if (b) {
        for (size_t i = 0; i < b->variant_count; i++) hpt_variant_close(&b->variants[i]);
        hpt_meter_close(b->meter);
        hpt_context_close(b->context);
        json_decref(b->rows);
    }
    free(b);
    return status;
}
