/* heptane bench: against cuBLASLt's best heuristic and the trivial scheme, in turns and alone, on checked outputs. */
#include "bench_kinds.h"
#include "bench_report.h"
#include "cublas.h"
#include "field.h"
#include "measure.h"
#include "mlp.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_bench(int argc, char **argv, hpt_error *error);

enum { MOST_SIZES = 64, MOST_VARIANTS = 64 };

typedef struct bench {
    /* options */
    const char *sizes, *baseline_type, *out_file, *csv, *svg, *settings;
    int64_t device, seed, ld_multiple;
    double load, alone;
    bool json, unchained, fresh, no_control, tuned;
    hpt_source_options source;
    /* state */
    hpt_context *context;
    hpt_meter *meter;
    hpt_cublas *cublas;
    hpt_variant variants[MOST_VARIANTS];
    size_t variant_count;
    hpt_shape size[MOST_SIZES];
    size_t size_count;
    json_t *rows;
    double copy;           /* bytes/s of a large copy */
    double baseline_error; /* of the size at hand; NaN if it wrote nothing */
    bool loaded;           /* the first measurement brings the chip to its limit for longer */
} bench;

static const char *const examples =
    "heptane bench strassen seven-write --sizes 4096,8192,16384    three square sizes against cuBLAS\n"
    "heptane bench seven-write --sizes 8192x34816x5120 --unchained the same scheme unchained as a control\n"
    "heptane bench seven-write --baseline-type bf16 --json         f16 forms against a bf16 product\n";

/* ---- options ---- */
static void add_variant(bench *b, const char *name, bool unchained) {
    if (b->variant_count == MOST_VARIANTS) return;
    hpt_variant *v = &b->variants[b->variant_count++];
    snprintf(v->name, sizeof v->name, "%s", name);
    v->unchained = unchained;
}

static hpt_status read_options(bench *b, int argc, char **argv, bool *helped, hpt_error *error) {
    int first;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &b->source.emit.op, "OP", "gemm (default); mlp has options of its own", 0, 0},
        {"sizes", 0, HPT_OPTION_TEXT, &b->sizes, "LIST", "4096 or MxNxK, with commas (default 4096,8192,16384)", 0, 0},
        {"baseline-type", 0, HPT_OPTION_TEXT, &b->baseline_type, "T",
         "cuBLAS multiplies in f16 or bf16 (default: our input type)", 0, 0},
        {"unchained", 0, HPT_OPTION_FLAG, &b->unchained, NULL, "also each scheme without chaining", 0, 0},
        {"tuned", 0, HPT_OPTION_FLAG, &b->tuned, NULL, "also what `heptane tune` chose for each size", 0, 0},
        {"fresh", 0, HPT_OPTION_FLAG, &b->fresh, NULL, "also with the forms of Y made each time", 0, 0},
        {"no-control", 0, HPT_OPTION_FLAG, &b->no_control, NULL, "leave out the trivial scheme", 0, 0},
        {"load", 0, HPT_OPTION_REAL, &b->load, "S", "seconds of load before the first sample (default 2.2)", 0, 3600},
        {"alone", 0, HPT_OPTION_REAL, &b->alone, "S", "seconds timed alone (default 0.2; 0: not)", 0, 3600},
        {"device", 0, HPT_OPTION_INTEGER, &b->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"in-type", 0, HPT_OPTION_TEXT, &b->source.emit.in_type, "T", "type of X and Y: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &b->source.emit.forms, "T", "type of the operand forms: f16 (default) or bf16", 0,
         0},
        {"out-type", 0, HPT_OPTION_TEXT, &b->source.emit.out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &b->source.emit.sums, "TYPE",
         "in which C is added up (default: as C; f16 if C is bf16)", 0, 0},
        {"plan", 0, HPT_OPTION_TEXT, &b->source.emit.plan, "KEY=V,...", "overrides of the tile plan", 0, 0},
        {"set", 0, HPT_OPTION_TEXT, &b->settings, "NAME=V,...", "further parameters of the operation (cut, beside)", 0,
         0},
        {"ld-multiple", 0, HPT_OPTION_INTEGER, &b->ld_multiple, "E",
         "leading dimensions up to a multiple of E elements (default 1: packed)", 1, 65536},
        {"seed", 0, HPT_OPTION_INTEGER, &b->seed, "S", "of the random data (default 1)", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &b->out_file, "FILE", "also write the JSON to FILE, row by row as it grows", 0,
         0},
        {"csv", 0, HPT_OPTION_TEXT, &b->csv, "FILE", "also write a table", 0, 0},
        {"svg", 0, HPT_OPTION_TEXT, &b->svg, "FILE", "also draw ratio against size", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &b->json, NULL, "print JSON with every sample", 0, 0}};
    const hpt_usage usage = {"bench",
                             "[SCHEME|FOLDER...] [options]",
                             "Times operations against cuBLAS and the trivial scheme on a GPU.",
                             examples,
                             0,
                             20,
                             options,
                             HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status == HPT_OK && !*helped) status = hpt_timed_op_check(b->source.emit.op, error);
    if (status != HPT_OK || *helped) return status;
    if (!b->no_control || (b->tuned && first == argc)) add_variant(b, "trivial", false);
    for (int i = first; i < argc; i++) {
        add_variant(b, argv[i], false);
        if (b->unchained) add_variant(b, argv[i], true);
    }
    if (first == argc && !b->tuned) add_variant(b, "seven-write", false);
    return hpt_sizes_parse(b->size, &b->size_count, MOST_SIZES, b->sizes ? b->sizes : "4096,8192,16384", error);
}

static hpt_status check_baseline(bench *b, hpt_field *f, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_data view = f->data;
    hpt_check check;
    size_t bytes = f->data.elements_c * hpt_number_type_bytes(f->baseline_out);
    void *stream = hpt_meter_stream(b->meter);
    view.type_c = f->baseline_out;
    HPT_TRY(hpt_cublas_gemm(b->cublas, &f->data, f->baseline_type, f->baseline_out, f->base_x, f->base_y, f->c, stream,
                            error));
    HPT_TRY(hpt_device_fill(b->context, f->c, 0xff, bytes, stream, error));
    HPT_TRY(hpt_cublas_run(b->cublas, stream, error));
    HPT_TRY(hpt_device_synchronize(b->context, stream, error));
    HPT_TRY(hpt_device_download(b->context, f->host, f->c, bytes, error));
    hpt_data_compare(&check, &view, f->host);
    b->baseline_error = check.bad ? NAN : check.rel_error;
done:
    return status;
}

/* ---- one size ---- */
static json_t *make_row(const bench *b, const hpt_field *f, const hpt_variant *v, const hpt_bench_kind *k,
                        const hpt_alone *baseline, const hpt_check *check, double bound, bool identical,
                        bool any_order) {
    const hpt_shape *s = &f->data.shape;
    hpt_op_info info;
    hpt_op_describe(v->op, &info);
    int choice, count;
    hpt_cublas_choice(b->cublas, &choice, &count);
    json_t *row = json_pack("{s:s,s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:f}", "op", info.op, "m",
                            (json_int_t)s->m, "n", (json_int_t)s->n, "k", (json_int_t)s->k, "scheme", v->name, "chain",
                            v->unchained ? "none" : "optimal", "plan", v->plan, "settings", v->settings, "forms",
                            k->forms, "ms", k->pair.median_b * 1e3, "baseline_ms", k->pair.median_a * 1e3, "ratio",
                            k->pair.median_a / k->pair.median_b, "own_ms", k->alone.seconds * 1e3, "own_baseline_ms",
                            baseline->seconds * 1e3);
    json_object_set_new(row, "ratio_own",
                        k->alone.seconds > 0 ? json_real(baseline->seconds / k->alone.seconds) : json_null());
    json_object_set_new(row, "rel_error", json_real(check->bad ? 99 : check->rel_error));
    json_object_set_new(row, "baseline_rel_error",
                        isfinite(b->baseline_error) ? json_real(b->baseline_error) : json_null());
    json_object_set_new(row, "bound", json_real(bound));
    const bool ok = check->bad == 0 && (identical || any_order) && check->rel_error <= bound;
    json_object_set_new(row, "ok", json_boolean(ok));
    json_object_set_new(row, "identical", json_boolean(identical));
    json_object_set_new(row, "types", json_pack("[s,s,s,s]", info.type_x, info.type_y, info.type_c, info.type_forms));
    json_object_set_new(row, "ld", json_pack("[I,I,I]", (json_int_t)s->ldx, (json_int_t)s->ldy, (json_int_t)s->ldc));
    json_object_set_new(row, "mhz", json_real(k->alone.mhz));
    json_object_set_new(row, "watt", json_real(k->alone.watt));
    json_object_set_new(row, "baseline_mhz", json_real(baseline->mhz));
    json_object_set_new(row, "baseline_watt", json_real(baseline->watt));
    json_object_set_new(row, "baseline_heuristic", json_pack("[i,i]", choice + 1, count));
    if (k->forms_seconds > 0) {
        json_object_set_new(row, "forms_ms", json_real(k->forms_seconds * 1e3));
        json_object_set_new(row, "forms_of_copy", json_real(k->forms_bytes / k->forms_seconds / b->copy));
    }
    json_object_set_new(row, "samples_ms", hpt_samples_json(k->pair.b));
    json_object_set_new(row, "baseline_samples_ms", hpt_samples_json(k->pair.a));
    return row;
}

static hpt_status keep_row(bench *b, json_t *row, hpt_error *error) {
    if (!b->json) hpt_bench_print_row(row);
    return hpt_bench_keep_row(b->rows, row, b->out_file, error);
}

static hpt_status bench_variant(bench *b, hpt_field *f, hpt_variant *v, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_problem whole = {0}, apart = {0};
    hpt_data data = f->data, data_apart = f->data;
    char settings[256], settings_apart[272];
    hpt_check check;
    bool identical = false;
    hpt_bench_kind kinds[HPT_BENCH_KINDS];
    hpt_alone alone[HPT_BENCH_KINDS + 1] = {{0}};
    size_t count = 0;
    hpt_runnable runnables[HPT_BENCH_KINDS + 1] = {{hpt_cublas_run, b->cublas}};
    snprintf(settings, sizeof settings, "%s%s%s", v->settings, v->settings[0] && b->settings ? "," : "",
             b->settings ? b->settings : "");
    snprintf(settings_apart, sizeof settings_apart, "%s%sbeside=0", settings, settings[0] ? "," : "");
    data.settings = settings;
    data_apart.settings = hpt_op_has_param(v->op, "beside") ? settings_apart : settings;
    HPT_TRY(hpt_variant_problem(&whole, v, f, &data, error));
    HPT_TRY(hpt_bench_check(&check, &identical, f, &whole, b->meter, error));
    HPT_TRY(hpt_variant_problem(&apart, v, f, &data_apart, error));
    HPT_TRY(hpt_bench_kinds_make(kinds, &count, f, &whole, &apart, b->fresh, b->meter, error));
    for (size_t i = 0; i < count; i++) {
        hpt_progress_say(&hpt_cli_progress, "%s: in turns with cuBLAS ...", v->name);
        HPT_TRY(hpt_measure_pair(&kinds[i].pair, b->meter, runnables[0], kinds[i].runnable, b->loaded ? 0.6 : b->load,
                                 error));
        b->loaded = true;
        runnables[i + 1] = kinds[i].runnable;
    }
    if (b->alone > 0) HPT_TRY(hpt_measure_alone(alone, b->meter, runnables, count + 1, b->alone, b->alone, error));
    for (size_t i = 0; i < count; i++) {
        kinds[i].alone = alone[i + 1];
        json_t *row = make_row(b, f, v, &kinds[i], &alone[0], &check, hpt_call_error_bound(whole.call), identical,
                               hpt_call_any_order(whole.call));
        HPT_TRY(keep_row(b, row, error));
    }
done:
    hpt_problem_clear(&whole);
    hpt_problem_clear(&apart);
    return status;
}

/* What `heptane tune` remembers for this size; nothing if it remembers nothing. */
static hpt_status bench_tuned(bench *b, hpt_field *f, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_tuned_key key;
    hpt_tuned_choice choice;
    hpt_variant v = {0};
    HPT_TRY(hpt_field_key(&key, f, b->variants[0].op, b->source.emit.sums, error));
    if (!hpt_tuned_find(&choice, b->context->cache, &key)) {
        fprintf(stderr, "heptane bench: note: nothing was tuned for this size (heptane tune --sizes ...).\n");
        goto done;
    }
    snprintf(v.name, sizeof v.name, "%s", choice.scheme);
    snprintf(v.plan, sizeof v.plan, "%s", choice.plan);
    snprintf(v.settings, sizeof v.settings, "%s", choice.settings);
    v.unchained = choice.unchained;
    HPT_TRY(hpt_variant_open_tuned(&v, b->context, &b->source, error));
    HPT_TRY(bench_variant(b, f, &v, error));
done:
    if (v.op) hpt_variant_close(&v);
    return status;
}

static int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static hpt_status bench_size(bench *b, const hpt_shape *shape, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_field f = {0};
    hpt_progress_say(&hpt_cli_progress, "%" PRId64 " x %" PRId64 " x %" PRId64 ": data and reference ...", shape->m,
                     shape->n, shape->k);
    hpt_shape padded = *shape;
    padded.ldx = padded.ldy = round_up(shape->k, b->ld_multiple); /* X is M x K, Y is N x K */
    padded.ldc = round_up(shape->n, b->ld_multiple);
    HPT_TRY(hpt_field_create(&f, b->context, b->variants[0].op, &padded, (uint64_t)b->seed, b->baseline_type, error));
    HPT_TRY(check_baseline(b, &f, error));
    for (size_t i = 0; i < b->variant_count; i++) {
        HPT_FAIL_IF(hpt_progress_interrupted(&hpt_cli_progress), HPT_INTERRUPTED, "",
                    "Interrupted; the rows so far stand.");
        HPT_TRY(bench_variant(b, &f, &b->variants[i], error));
    }
    if (b->tuned) HPT_TRY(bench_tuned(b, &f, error));
done:
    hpt_field_clear(&f);
    return status;
}

static hpt_status print_document(const bench *b, hpt_error *error) {
    hpt_context_info device;
    hpt_context_describe(b->context, &device);
    return hpt_json_print(json_pack("{s:s,s:s,s:i,s:f,s:O}", "device", device.device, "target", device.target,
                                    "cublaslt", (int)hpt_cublas_version(b->cublas), "copy_bytes_per_second", b->copy,
                                    "rows", b->rows),
                          error);
}

static hpt_status write_reports(const bench *b, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (b->csv) HPT_TRY(hpt_bench_write_csv(b->csv, b->rows, error));
    if (b->svg) HPT_TRY(hpt_bench_write_svg(b->svg, b->rows, error));
    if (b->json) HPT_TRY(print_document(b, error));
done:
    return status;
}

hpt_status hpt_command_bench(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (hpt_mlp_wanted(argc, argv)) return hpt_mlp_command_bench(argc, argv, error);
    bool helped = false;
    bench *b = calloc(1, sizeof *b);
    HPT_FAIL_NO_MEMORY(b);
    b->seed = 1;
    b->ld_multiple = 1;
    b->load = 2.2;
    b->alone = 0.2;
    HPT_FAIL_NO_MEMORY(b->rows = json_array());
    HPT_TRY(read_options(b, argc, argv, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_timed_gpu_open(&b->context, &b->meter, &b->source, b->device, error));
    HPT_TRY(hpt_cublas_open(&b->cublas, b->context, error));
    HPT_TRY(hpt_cli_end_on_interrupt(true, error)); /* nothing is measured yet */
    HPT_TRY(hpt_variants_open(b->variants, b->variant_count, b->context, &b->source, error));
    HPT_TRY(hpt_measure_copy(&b->copy, b->meter, error));
    HPT_TRY(hpt_cli_end_on_interrupt(false, error));
    for (size_t i = 0; i < b->size_count && status == HPT_OK; i++) status = bench_size(b, &b->size[i], error);
    if (json_array_size(b->rows)) { /* what was measured is worth having even if something failed later */
        hpt_status written = write_reports(b, error);
        if (status == HPT_OK) status = written;
    }
done:
    if (b) {
        for (size_t i = 0; i < b->variant_count; i++) hpt_variant_close(&b->variants[i]);
        hpt_cublas_close(b->cublas);
        hpt_meter_close(b->meter);
        hpt_context_close(b->context);
        json_decref(b->rows);
    }
    free(b);
    return status;
}
