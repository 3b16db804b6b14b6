/* heptane tune --op mlp: for each number of tokens the fastest scheme and plan of the block on this GPU, remembered.
 *
 * As for one product (tune.c): every candidate is checked, then timed in turns with the incumbent, which starts as the
 * trivial scheme with the target's default plan. Weights are made once for all sizes, kernels are opened once. */
#include "field.h"
#include "measure.h"
#include "mlp.h"
#include "tune/width.h"
#include "tune_report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 128, MOST_SCHEMES = 8, MOST_VARIANTS = 96, LARGEST_CLASS = 16384 };

static const struct {
    const char *target;
    int64_t least, most;
    const char *scheme, *plan;
} plans[] = {
#define MLP_PLAN(target, least, most, scheme, plan) {target, least, most, scheme, plan},
#include "mlp_plans.def"
#undef MLP_PLAN
};

typedef struct tuner {
    const char *sizes, *schemes[MOST_SCHEMES];
    int64_t device, hidden, inner, size[MOST_SIZES];
    size_t scheme_count, size_count, variant_count, number; /* of the size at hand */
    double load;
    hpt_source_options source;
    hpt_context *context;
    hpt_meter *meter;
    hpt_variant variant[MOST_VARIANTS]; /* opened; op NULL: refused, not to be tried again */
    hpt_mlp_data data;
    hpt_mlp_device copies;
    void *host;
    hpt_tune_report report;
} tuner;

typedef struct champion { /* the incumbent of one size */
    const hpt_variant *variant;
    hpt_mlp_problem problem;
    double seconds, trivial_seconds;
    size_t tried;
} champion;

/* A variant opened before, or opened now. One that was refused before is NULL. */
static hpt_status find_variant(hpt_variant **out, tuner *t, const char *scheme, const char *plan, hpt_error *error) {
    *out = NULL;
    for (size_t i = 0; i < t->variant_count; i++)
        if (strcmp(t->variant[i].name, scheme) == 0 && strcmp(t->variant[i].plan, plan) == 0) {
            if (t->variant[i].op) *out = &t->variant[i];
            return HPT_OK;
        }
    if (t->variant_count == MOST_VARIANTS) return HPT_OK;
    hpt_variant *v = &t->variant[t->variant_count++];
    snprintf(v->name, sizeof v->name, "%s", scheme);
    snprintf(v->plan, sizeof v->plan, "%s", plan);
    hpt_status status = hpt_variant_open(v, t->context, &t->source, error);
    if (status == HPT_OK) *out = v;
    return status;
}

/* *out: the variant, bound and multiplying right; NULL if it was refused before. */
static hpt_status make_ready(hpt_variant **out, hpt_mlp_problem *p, tuner *t, const char *scheme, const char *plan,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_check check;
    hpt_op_info info;
    uint32_t overflow;
    HPT_TRY(find_variant(out, t, scheme, plan, error));
    if (!*out) goto done;
    hpt_progress_say(&hpt_cli_progress, "%" PRId64 " tokens (%zu of %zu): %s %s", t->data.shape.m, t->number,
                     t->size_count, scheme, plan);
    HPT_TRY(hpt_mlp_problem_create(p, (*out)->op, &t->data, &t->copies, error));
    HPT_TRY(hpt_mlp_problem_run_once(p, t->host, &overflow, hpt_meter_stream(t->meter), error));
    hpt_mlp_compare(&check, &t->data, t->data.type_c, t->host);
    hpt_op_describe((*out)->op, &info);
    HPT_TRY(hpt_check_passed(&check, info.bound, error));
    HPT_FAIL_IF(overflow, HPT_DIFFERS, "", "Forms are out of range (%u).", overflow);
done:
    return status;
}

/* Lets a candidate stand against the incumbent; as in tune.c: only what goes wrong with the device itself is an error.
 */
static hpt_status challenge(tuner *t, champion *c, const char *scheme, const char *plan, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_mlp_problem p = {0};
    hpt_pair pair;
    hpt_variant *v;
    hpt_error why = {0};
    HPT_TRY(hpt_tune_interrupted(error));
    if (make_ready(&v, &p, t, scheme, plan, &why) != HPT_OK) {
        HPT_TRY(hpt_tune_interrupted(error));
        if (!plan[0]) hpt_tune_pass_over(scheme, &why);
        v = NULL;
    }
    if (!v) goto done;
    c->tried++;
    const hpt_runnable challenger = {hpt_run_call, p.call};
    const hpt_runnable incumbent = c->variant ? (hpt_runnable){hpt_run_call, c->problem.call} : challenger;
    HPT_TRY(hpt_measure_pair(&pair, t->meter, incumbent, challenger, c->variant ? t->load / 8 : t->load, error));
    if (!c->variant) c->trivial_seconds = pair.median_b; /* the first is the trivial scheme */
    if (c->variant && !hpt_challenger_wins(&pair)) goto done;
    hpt_mlp_problem_clear(&c->problem);
    c->variant = v;
    c->seconds = pair.median_b;
    c->problem = p;
    p = (hpt_mlp_problem){0};
done:
    hpt_mlp_problem_clear(&p);
    return status;
}

static hpt_status find_champion(tuner *t, champion *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t m = t->data.shape.m;
    for (size_t i = 0; i < HPT_COUNT(plans); i++) {
        if (plans[i].target[0] && strcmp(plans[i].target, t->source.emit.target) != 0) continue;
        if (m < plans[i].least || m > plans[i].most) continue;
        char plan[HPT_TUNED_TEXT];
        hpt_width_fill(plan, sizeof plan, plans[i].plan, m);
        if (plans[i].scheme[0]) HPT_TRY(challenge(t, c, plans[i].scheme, plan, error));
        for (size_t s = 0; !plans[i].scheme[0] && s < t->scheme_count; s++)
            HPT_TRY(challenge(t, c, t->schemes[s], plan, error));
    }
    HPT_FAIL_IF(!c->variant, HPT_DIFFERS, "", "No candidate ran and multiplied right.");
done:
    return status;
}

static hpt_status remember(tuner *t, const champion *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_tuned_key key;
    char types[64];
    const hpt_mlp_shape *s = &t->data.shape;
    hpt_mlp_types(types, sizeof types, c->variant->op, t->source.emit.sums);
    hpt_tuned_choice choice = {.ms = c->seconds * 1e3, .trivial_ms = c->trivial_seconds * 1e3};
    snprintf(choice.scheme, sizeof choice.scheme, "%s", c->variant->name);
    snprintf(choice.plan, sizeof choice.plan, "%s", c->variant->plan);
    HPT_TRY(hpt_tuned_key_make(&key, t->context, "mlp", types, s->m, s->inner, s->hidden, error));
    HPT_TRY(hpt_tune_keep(&t->report, t->context, &key, &choice, c->tried, error));
done:
    return status;
}

static hpt_status tune_size(tuner *t, int64_t m, hpt_error *error) {
    hpt_status status = HPT_OK;
    champion c = {0};
    if (m != t->data.shape.m) {
        hpt_progress_say(&hpt_cli_progress, "%" PRId64 " tokens (%zu of %zu): data and reference ...", m, t->number,
                         t->size_count);
        HPT_TRY(hpt_mlp_data_tokens(&t->data, m, error));
        HPT_TRY(hpt_mlp_upload_tokens(&t->copies, &t->data, error));
    }
    free(t->host);
    HPT_FAIL_NO_MEMORY(t->host = malloc((size_t)m * (size_t)t->hidden * sizeof(float)));
    HPT_TRY(find_champion(t, &c, error));
    HPT_TRY(remember(t, &c, error));
done:
    hpt_mlp_problem_clear(&c.problem);
    return status;
}

/* The largest number of tokens of each class; test_tuned.c counts them. */
static hpt_status every_class(tuner *t, hpt_error *error) {
    int64_t m = 0;
    while (m < LARGEST_CLASS) {
        m = hpt_tuned_class(m + 1);
        if (t->size_count == MOST_SIZES)
            return hpt_error_set(error, HPT_INTERNAL, "", "There are more than %d classes of tokens.", MOST_SIZES);
        t->size[t->size_count++] = m;
    }
    return HPT_OK;
}

static hpt_status read_options(tuner *t, int argc, char **argv, bool *helped, hpt_error *error) {
    int first;
    hpt_emit_options *emit = &t->source.emit;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &emit->op, "OP", "mlp", 0, 0},
        {"sizes", 0, HPT_OPTION_TEXT, &t->sizes, "LIST",
         "token counts, with commas (default: 77 of them, the largest of every class up to 16384)", 0, 0},
        {"hidden", 0, HPT_OPTION_INTEGER, &t->hidden, "H", "hidden size of the model (default 5120)", 1, 1 << 30},
        {"intermediate", 0, HPT_OPTION_INTEGER, &t->inner, "I", "intermediate size (default 17408)", 1, 1 << 30},
        {"with", 0, HPT_OPTION_TEXT, &emit->with, "NAME=VALUE,...", "settings: activation, rounding, sums", 0, 0},
        {"dry-run", 0, HPT_OPTION_FLAG, &t->report.dry, NULL, "measure, but remember nothing", 0, 0},
        {"load", 0, HPT_OPTION_REAL, &t->load, "S", "seconds of load before a size's first sample (default 1)", 0,
         3600},
        {"device", 0, HPT_OPTION_INTEGER, &t->device, "D", "number of the GPU (default 0)", 0, 1024},
        {"in-type", 0, HPT_OPTION_TEXT, &emit->in_type, "T", "type of X and the weights: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &emit->forms, "T", "type of the operand forms: f16 (default) or bf16", 0, 0},
        {"out-type", 0, HPT_OPTION_TEXT, &emit->out_type, "T", "type of C: f16, bf16 or f32", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &emit->sums, "TYPE", "in which C is added up (default: as C; f16 if C is bf16)", 0,
         0},
        {"json", 0, HPT_OPTION_FLAG, &t->report.json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "tune --op mlp",
        "[SCHEME...] [options]",
        "Finds the fastest scheme and plan of an MLP block for numbers of tokens on this GPU and remembers them. A "
        "number stands for its class: from 17 to 2048 tokens those that one tile width fits.",
        "heptane tune --op mlp --hidden 5120 --intermediate 17408    every number of tokens up to 16384: 77 are timed\n"
        "heptane tune --op mlp seven-write two-levels --sizes 1,16,256,4096,16384 --in-type bf16    only these\n"
        "heptane bench --op mlp --chosen --sizes 256    what was chosen, against cuBLAS with fused kernels\n",
        0,
        MOST_SCHEMES,
        options,
        HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, helped, error);
    if (status != HPT_OK || *helped) return status;
    for (int i = first; i < argc; i++) t->schemes[t->scheme_count++] = argv[i];
    if (!t->scheme_count) t->schemes[t->scheme_count++] = "seven-write";
    if (t->sizes) return hpt_tokens_parse(t->size, &t->size_count, MOST_SIZES, t->sizes, error);
    return every_class(t, error);
}

static hpt_status make_weights(tuner *t, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_variant *v;
    HPT_TRY(find_variant(&v, t, "trivial", "", error));
    hpt_progress_say(&hpt_cli_progress, "weights, data and reference ...");
    t->data = (hpt_mlp_data){.shape = {t->size[0], t->hidden, t->inner}, .eps = 1e-6, .seed = 1};
    HPT_TRY(hpt_mlp_describe(&t->data, v->op, error));
    HPT_TRY(hpt_mlp_data_make(&t->data, error));
    HPT_TRY(hpt_mlp_upload(&t->copies, t->context, &t->data, t->data.type, error));
done:
    return status;
}

static void clear(tuner *t) {
    hpt_mlp_device_clear(&t->copies);
    hpt_mlp_data_clear(&t->data);
    free(t->host);
    for (size_t i = 0; i < t->variant_count; i++) hpt_variant_close(&t->variant[i]);
    hpt_meter_close(t->meter);
    hpt_context_close(t->context);
    json_decref(t->report.rows);
}

hpt_status hpt_mlp_command_tune(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool helped = false;
    tuner *t = calloc(1, sizeof *t);
    HPT_FAIL_NO_MEMORY(t);
    t->load = 1;
    t->hidden = 5120;
    t->inner = 17408;
    HPT_TRY(read_options(t, argc, argv, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_timed_gpu_open(&t->context, &t->meter, &t->source, t->device, error));
    HPT_TRY(hpt_tune_begin(&t->report, t->context, error));
    HPT_TRY(hpt_cli_end_on_interrupt(true, error)); /* nothing is measured yet */
    HPT_TRY(make_weights(t, error));
    HPT_TRY(hpt_cli_end_on_interrupt(false, error));
    while (t->number < t->size_count && status == HPT_OK) {
        t->number++;
        status = tune_size(t, t->size[t->number - 1], error);
    }
    status = hpt_tune_end(&t->report, t->context, status, error);
done:
    if (t) clear(t);
    free(t);
    return status;
}
