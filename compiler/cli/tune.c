/* heptane tune: the fastest scheme and plan for a shape on this GPU, remembered.
 *
 * Every candidate is checked against the reference first, then timed in turns with the incumbent, which starts as the
 * trivial scheme: so clocks are equal, and whatever is chosen was not slower than an ordinary product beyond the
 * spread. */
#include "field.h"
#include "measure.h"
#include "mlp.h"
#include "tune_report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_tune(int argc, char **argv, hpt_error *error);

enum { MOST_SIZES = 64, MOST_SCHEMES = 16, MOST_CANDIDATES = 128 };

static const struct {
    const char *target, *plan, *settings;
} plans[] = {
#define PLAN(target, plan, settings) {target, plan, settings},
#include "plans.def"
#undef PLAN
};

typedef struct tuner {
    const char *sizes;
    int64_t device;
    double load;
    bool unchained, list, forget;
    hpt_source_options source;
    const char *schemes[MOST_SCHEMES];
    size_t scheme_count;
    hpt_context *context;
    hpt_meter *meter;
    hpt_shape size[MOST_SIZES];
    size_t size_count, number; /* of the size at hand */
    hpt_tune_report report;
} tuner;

typedef struct champion { /* the incumbent of one size */
    hpt_variant variant;
    hpt_data data; /* the field's, with the variant's settings */
    hpt_problem problem;
    double seconds, trivial_seconds;
    size_t tried;
} champion;

static hpt_status check_right(tuner *t, const hpt_field *f, hpt_problem *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_check check;
    HPT_TRY(hpt_problem_run_once(p, f->host, hpt_meter_stream(t->meter), error));
    hpt_data_compare(&check, &f->data, f->host);
    status = hpt_check_passed(&check, hpt_call_error_bound(p->call), error);
done:
    return status;
}

/* The trivial scheme with the target's default plan: an ordinary product. */
static bool is_ordinary(const hpt_variant *v) {
    return strcmp(v->name, "trivial") == 0 && !v->plan[0] && !v->settings[0];
}

static void dethrone(champion *c) {
    hpt_problem_clear(&c->problem);
    hpt_variant_close(&c->variant);
}

static hpt_status make_ready(tuner *t, const hpt_field *f, hpt_variant *v, hpt_problem *p, const hpt_data *data,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(hpt_variant_open(v, t->context, &t->source, error));
    hpt_progress_say(&hpt_cli_progress, "%lld x %lld x %lld (%zu of %zu): %s %s%s%s", (long long)data->shape.m,
                     (long long)data->shape.n, (long long)data->shape.k, t->number, t->size_count, v->name, v->plan,
                     v->plan[0] ? " " : "", v->settings);
    HPT_TRY(hpt_variant_problem(p, v, f, data, error));
    HPT_TRY(check_right(t, f, p, error));
done:
    return status;
}

/* Opens a candidate and lets it stand against the incumbent. One that does not emit, compile, fit or multiply right is
 * passed over, with a note if it is a scheme's default: only what goes wrong with the device itself is an error. */
static hpt_status challenge(tuner *t, const hpt_field *f, champion *c, const char *scheme, const char *plan,
                            const char *settings, bool unchained, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_variant v = {.unchained = unchained};
    hpt_data data = f->data;
    hpt_problem p = {0};
    hpt_pair pair;
    hpt_error why = {0};
    HPT_TRY(hpt_tune_interrupted(error));
    snprintf(v.name, sizeof v.name, "%s", scheme);
    snprintf(v.plan, sizeof v.plan, "%s", plan);
    snprintf(v.settings, sizeof v.settings, "%s", settings);
    data.settings = v.settings[0] ? v.settings : NULL;
    if (make_ready(t, f, &v, &p, &data, &why) != HPT_OK) {
        HPT_TRY(hpt_tune_interrupted(error));
        if (!plan[0] && !settings[0]) hpt_tune_pass_over(scheme, &why);
        goto done;
    }
    c->tried++;
    if (!c->variant.op) {
        hpt_runnable own = {hpt_run_call, p.call};
        HPT_TRY(hpt_measure_pair(&pair, t->meter, own, own, t->load, error));
        if (is_ordinary(&v)) c->trivial_seconds = pair.median_b;
    } else {
        hpt_runnable incumbent = {hpt_run_call, c->problem.call}, challenger = {hpt_run_call, p.call};
        HPT_TRY(hpt_measure_pair(&pair, t->meter, incumbent, challenger, 0.3, error));
        if (is_ordinary(&c->variant)) c->trivial_seconds = pair.median_a;
        if (!hpt_challenger_wins(&pair)) goto done;
    }
    dethrone(c);
    c->seconds = pair.median_b;
    c->variant = v;
    c->data = data;
    c->data.settings = NULL; /* bound already */
    c->problem = p;
    c->problem.data = &c->data;
    v = (hpt_variant){0};
    p = (hpt_problem){0};
done:
    hpt_problem_clear(&p);
    if (v.op) hpt_variant_close(&v);
    return status;
}

/* First the schemes with the target's default plan, then other plans of the winner. */
static hpt_status find_champion(tuner *t, const hpt_field *f, champion *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(challenge(t, f, c, "trivial", "", "", false, error));
    for (size_t i = 0; i < t->scheme_count; i++) {
        HPT_TRY(challenge(t, f, c, t->schemes[i], "", "", false, error));
        if (t->unchained) HPT_TRY(challenge(t, f, c, t->schemes[i], "", "", true, error));
    }
    HPT_FAIL_IF(!c->variant.op, HPT_DIFFERS, "", "No candidate ran and multiplied right.");
    char winner[sizeof c->variant.name];
    snprintf(winner, sizeof winner, "%s", c->variant.name);
    bool unchained = c->variant.unchained;
    hpt_context_info device;
    hpt_context_describe(t->context, &device);
    for (size_t i = 0; i < HPT_COUNT(plans); i++)
        if (strcmp(plans[i].target, device.target) == 0)
            HPT_TRY(challenge(t, f, c, winner, plans[i].plan, plans[i].settings, unchained, error));
done:
    return status;
}

static hpt_status tune_size(tuner *t, const hpt_op *op, const hpt_shape *shape, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_field f = {0};
    champion c = {0};
    hpt_tuned_key key;
    hpt_progress_say(&hpt_cli_progress, "%lld x %lld x %lld (%zu of %zu): data and reference ...", (long long)shape->m,
                     (long long)shape->n, (long long)shape->k, t->number, t->size_count);
    HPT_TRY(hpt_field_create(&f, t->context, op, shape, 1, NULL, error));
    HPT_TRY(find_champion(t, &f, &c, error));
    HPT_TRY(hpt_field_key(&key, &f, c.variant.op, t->source.emit.sums, error));
    hpt_tuned_choice choice = {
        .unchained = c.variant.unchained, .ms = c.seconds * 1e3, .trivial_ms = c.trivial_seconds * 1e3};
    snprintf(choice.scheme, sizeof choice.scheme, "%s", c.variant.name);
    snprintf(choice.plan, sizeof choice.plan, "%s", c.variant.plan);
    snprintf(choice.settings, sizeof choice.settings, "%s", c.variant.settings);
    HPT_TRY(hpt_tune_keep(&t->report, t->context, &key, &choice, c.tried, error));
done:
    dethrone(&c);
    hpt_field_clear(&f);
    return status;
}

static hpt_status read_options(tuner *t, int argc, char **argv, bool *helped, hpt_error *error) {
    int first;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &t->source.emit.op, "OP", "gemm (default), or mlp, which has options of its own", 0,
         0},
        {"sizes", 0, HPT_OPTION_TEXT, &t->sizes, "LIST", "4096 or MxNxK, with commas (default 4096,8192,16384)", 0, 0},
        {"unchained", 0, HPT_OPTION_FLAG, &t->unchained, NULL, "also try each scheme without chaining", 0, 0},
        {"dry-run", 0, HPT_OPTION_FLAG, &t->report.dry, NULL, "measure, but remember nothing", 0, 0},
        {"list", 0, HPT_OPTION_FLAG, &t->list, NULL, "print what is remembered, of all operations and devices, and end",
         0, 0},
        {"forget", 0, HPT_OPTION_FLAG, &t->forget, NULL, "remove what is remembered, all of it, and end", 0, 0},
        {"load", 0, HPT_OPTION_REAL, &t->load, "S", "seconds of load before the first sample (default 2.2)", 0, 3600},
        {"device", 0, HPT_OPTION_INTEGER, &t->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"in-type", 0, HPT_OPTION_TEXT, &t->source.emit.in_type, "T", "type of X and Y: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &t->source.emit.forms, "T", "type of the operand forms: f16 (default) or bf16", 0,
         0},
        {"out-type", 0, HPT_OPTION_TEXT, &t->source.emit.out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &t->source.emit.sums, "TYPE",
         "in which C is added up (default: as C; f16 if C is bf16)", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &t->report.json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "tune",
        "[SCHEME...] [options]",
        "Finds the fastest scheme and plan for shapes on this GPU and remembers it, beside the compiled kernels.",
        "heptane tune --sizes 4096,8192,16384                 seven-write and strassen, for square sizes\n"
        "heptane tune seven-write --sizes 8192x34816x5120     one scheme, for a layer of a model\n"
        "heptane bench --tuned --sizes 8192                   what was chosen, against cuBLAS\n"
        "heptane tune --op mlp --hidden 5120 --intermediate 17408   an MLP block, for every number of tokens\n"
        "heptane tune --list                                  what is remembered, and where\n",
        0,
        MOST_SCHEMES,
        options,
        HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status == HPT_OK && !*helped) status = hpt_timed_op_check(t->source.emit.op, error);
    if (status != HPT_OK || *helped) return status;
    for (int i = first; i < argc; i++) t->schemes[t->scheme_count++] = argv[i];
    if (!t->scheme_count) {
        t->schemes[t->scheme_count++] = "seven-write";
        t->schemes[t->scheme_count++] = "strassen";
    }
    return hpt_sizes_parse(t->size, &t->size_count, MOST_SIZES, t->sizes ? t->sizes : "4096,8192,16384", error);
}

hpt_status hpt_command_tune(int argc, char **argv, hpt_error *error) {
    if (hpt_mlp_wanted(argc, argv)) return hpt_mlp_command_tune(argc, argv, error);
    hpt_status status = HPT_OK;
    bool helped = false;
    hpt_variant base = {.name = "trivial"};
    tuner *t = calloc(1, sizeof *t);
    HPT_FAIL_NO_MEMORY(t);
    t->load = 2.2;
    HPT_TRY(read_options(t, argc, argv, &helped, error));
    if (helped) goto done;
    if (t->list || t->forget) {
        status = (t->list ? hpt_tune_list : hpt_tune_forget)(t->report.json, error);
        goto done;
    }
    HPT_TRY(hpt_timed_gpu_open(&t->context, &t->meter, &t->source, t->device, error));
    HPT_TRY(hpt_tune_begin(&t->report, t->context, error));
    HPT_TRY(hpt_cli_end_on_interrupt(true, error)); /* nothing is measured yet */
    HPT_TRY(hpt_variant_open(&base, t->context, &t->source, error));
    HPT_TRY(hpt_cli_end_on_interrupt(false, error));
    while (t->number < t->size_count && status == HPT_OK) {
        t->number++;
        status = tune_size(t, base.op, &t->size[t->number - 1], error);
    }
    status = hpt_tune_end(&t->report, t->context, status, error);
done:
    if (t) {
        hpt_variant_close(&base);
        hpt_meter_close(t->meter);
        hpt_context_close(t->context);
        json_decref(t->report.rows);
    }
    free(t);
    return status;
}
