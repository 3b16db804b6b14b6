/* heptane roofline: from which size on a scheme should beat the textbook algorithm, by memory, arithmetic and power
 * alone (the model is in roofline.h). */
#include "roofline.h"
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_roofline(int argc, char **argv, hpt_error *error);

enum { MOST_GPUS = 64, MOST_SCHEMES = 32 };

static const hpt_roof_gpu known[] = {
#define GPU(name, year, operations, bytes, watts, pj_operation, pj_byte, pj_written)                                   \
    {name, year, operations, bytes, watts, pj_operation, pj_byte, pj_written},
#include "gpus.def"
#undef GPU
};

/* ---- input ---- */
/* The fewest writes of a scheme that chains; of one that does not, as many as there are products. */
static double count_writes(const hpt_scheme *scheme) {
    const hpt_chain_options options = {.time_limit = 1, .any = true};
    hpt_schedule *schedule = NULL;
    double writes = hpt_scheme_rank(scheme);
    if (hpt_scheme_is_real(scheme) && hpt_chain(&schedule, scheme, &options, NULL) == HPT_OK) writes = schedule->writes;
    hpt_schedule_destroy(schedule);
    return writes;
}

static hpt_status read_scheme(hpt_roof_scheme *out, const char *name, hpt_error *error) {
    static const hpt_read_options reading = {.progress = &hpt_cli_progress};
    static const long long most = 1000000;
    char rest;
    long long n, m, p, rank;
    *out = (hpt_roof_scheme){0};
    snprintf(out->name, sizeof out->name, "%.63s", name);
    if (sscanf(name, "%lldx%lldx%lld:%lld%c", &n, &m, &p, &rank, &rest) == 4) {
        out->n = (double)n;
        out->m = (double)m;
        out->p = (double)p;
        out->rank = out->writes = (double)rank;
        if (n < 1 || m < 1 || p < 1 || rank < 1)
            return hpt_error_set(error, HPT_USAGE, name, "Shape and rank must be positive (2x2x2:7).");
        if (n > most || m > most || p > most || rank > most)
            return hpt_error_set(error, HPT_USAGE, name, "Shape and rank can be up to %lld.", most);
        return HPT_OK;
    }
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    HPT_TRY(hpt_scheme_read_proved(&scheme, name, &reading, error));
    out->n = hpt_scheme_n(scheme);
    out->m = hpt_scheme_m(scheme);
    out->p = hpt_scheme_p(scheme);
    out->rank = hpt_scheme_rank(scheme);
    out->writes = count_writes(scheme);
done:
    hpt_scheme_destroy(scheme);
    return status;
}

/* NAME:P:B or NAME:P:B:WATTS:PJ:PJ:PJ */
static hpt_status read_gpu(hpt_roof_gpu *out, const char *text, hpt_error *error) {
    enum { PLAIN = 2, WITH_POWER = 6 };
    double numbers[WITH_POWER] = {0};
    size_t name = strcspn(text, ":"), count = 0;
    const char *at = text + name;
    while (*at == ':' && count < WITH_POWER) {
        char *end;
        numbers[count] = strtod(at + 1, &end);
        if (end == at + 1 || !(numbers[count] > 0) || !isfinite(numbers[count])) break;
        count++;
        at = end;
    }
    if (*at || name == 0 || name >= sizeof out->name || (count != PLAIN && count != WITH_POWER))
        return hpt_error_set(error, HPT_USAGE, "--gpu",
                             "\"%s\" is not NAME:OPERATIONS:BYTES per second (B200:2.25e15:8e12), with or without "
                             ":WATTS and picojoules per operation, byte read and byte written (:692:0.95:78:230).",
                             text);
    *out = (hpt_roof_gpu){"", 0, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    memcpy(out->name, text, name);
    return HPT_OK;
}

/* ---- output ---- */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* cutoff, cutoff_prepared, cutoff_fused; at a size also ratio, ratio_prepared, ratio_fused. */
static void add_figures(json_t *row, const hpt_roof_gpu *g, const hpt_roof_scheme *s, double size) {
    static const char *const suffix[HPT_ROOF_CASES] = {"", "_prepared", "_fused"};
    char key[32];
    for (int i = 0; i < HPT_ROOF_CASES; i++) {
        snprintf(key, sizeof key, "cutoff%s", suffix[i]);
        json_object_set_new(row, key, number(hpt_roof_cutoff(g, s, (hpt_roof_case)i)));
        if (size <= 0) continue;
        snprintf(key, sizeof key, "ratio%s", suffix[i]);
        json_object_set_new(row, key, json_real(hpt_roof_ratio(g, s, (hpt_roof_case)i, size)));
    }
}

static json_t *make_row(const hpt_roof_gpu *g, const hpt_roof_scheme *s, double size) {
    hpt_roof_gpu plain = hpt_roof_unlimited(g);
    json_t *row = json_pack("{s:o,s:o,s:f,s:f}", "gpu", hpt_json_text(g->name), "scheme", hpt_json_text(s->name),
                            "operations", g->operations, "bytes", g->bytes);
    if (size > 0) json_object_set_new(row, "size", json_integer((json_int_t)size));
    add_figures(row, &plain, s, size);
    if (g->watts > 0) {
        json_t *power = json_pack("{s:f,s:f,s:f,s:f,s:f}", "watts", g->watts, "pj_operation", g->pj_operation,
                                  "pj_byte", g->pj_byte, "pj_written", g->pj_written, "writes", s->writes);
        add_figures(power, g, s, size);
        json_object_set_new(row, "power", power);
    }
    return row;
}

static void print_row(const char *name, const hpt_roof_gpu *g, const hpt_roof_scheme *s, double size) {
    double limit = g->watts > 0 ? fmin(g->operations, 1e12 * g->watts / g->pj_operation) : g->operations;
    printf("%-22s %9.2f %8.2f %8.0f", name, limit * 1e-12, g->bytes * 1e-12, limit / g->bytes);
    for (int i = 0; i < HPT_ROOF_CASES; i++) {
        double cutoff = hpt_roof_cutoff(g, s, (hpt_roof_case)i);
        if (isfinite(cutoff))
            printf(" %10.0f", cutoff);
        else
            printf(" %10s", "never");
    }
    for (int i = 0; i < HPT_ROOF_CASES && size > 0; i++)
        printf("%s%6.3f", i ? " " : "    ", hpt_roof_ratio(g, s, (hpt_roof_case)i, size));
    printf("\n");
}

static void print_table(const hpt_roof_gpu *gpus, size_t count, const hpt_roof_scheme *s, double size) {
    printf("%s: size from which it should beat the textbook algorithm (square, two-byte numbers)", s->name);
    if (size > 0) printf(";\nlast: the textbook algorithm's time over its time at %.0f", size);
    printf("\n\n%-22s %9s %8s %8s %10s %10s %10s%s\n", "GPU", "Tera-op/s", "TB/s", "op/byte", "alone", "Y prepared",
           "and X fused", size > 0 ? "     alone  Y    and X" : "");
    for (size_t g = 0; g < count; g++) {
        hpt_roof_gpu plain = hpt_roof_unlimited(&gpus[g]);
        print_row(plain.name, &plain, s, size);
        if (gpus[g].watts > 0) print_row("  at its power limit", &gpus[g], s, size);
    }
    printf("\n");
}

hpt_status hpt_command_roofline(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped = false;
    const char *svg = NULL, *extra = NULL;
    hpt_roof_gpu gpus[MOST_GPUS];
    hpt_roof_scheme schemes[MOST_SCHEMES];
    size_t gpu_count = HPT_COUNT(known), scheme_count = 0;
    int64_t size = 0;
    int first;
    const hpt_option options[] = {
        {"gpu", 0, HPT_OPTION_TEXT, &extra, "NAME:P:B",
         "another GPU: operations/s and bytes/s; with a power limit NAME:P:B:W:E:R:O: watts, and picojoules per "
         "operation, "
         "byte read and byte of output written",
         0, 0},
        {"size", 0, HPT_OPTION_INTEGER, &size, "N", "also the predicted speed-up at N x N x N", 1, 1 << 30},
        {"svg", 0, HPT_OPTION_TEXT, &svg, "FILE", "draw the first scheme's sizes", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "roofline",
        "[SCHEME|NxMxP:R...] [options]",
        "The paper's model: from which size on a scheme beats the textbook algorithm; with it power.",
        "heptane roofline                             a 2x2x2:7 scheme on the GPUs that the paper names\n"
        "heptane roofline 3x3x3:23 4x4x4:49           other shapes, with or without a scheme file\n"
        "heptane roofline seven-write --size 16384    predicted speed-ups at a size, and under the power limit\n"
        "heptane roofline --gpu mine:2.5e15:8e12 --svg roofline.svg\n",
        0,
        MOST_SCHEMES,
        options,
        HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    memcpy(gpus, known, sizeof known);
    if (extra) HPT_TRY(read_gpu(&gpus[gpu_count++], extra, error));
    for (int i = first; i < argc; i++) HPT_TRY(read_scheme(&schemes[scheme_count++], argv[i], error));
    if (scheme_count == 0) HPT_TRY(read_scheme(&schemes[scheme_count++], "2x2x2:7", error));
    if (svg) HPT_TRY(hpt_roof_draw(svg, gpus, gpu_count, &schemes[0], error));
    if (json) {
        json_t *rows = json_array();
        for (size_t s = 0; s < scheme_count; s++)
            for (size_t g = 0; g < gpu_count; g++)
                json_array_append_new(rows, make_row(&gpus[g], &schemes[s], (double)size));
        HPT_TRY(hpt_json_print(json_pack("{s:o}", "cutoffs", rows), error));
    } else {
        for (size_t s = 0; s < scheme_count; s++) print_table(gpus, gpu_count, &schemes[s], (double)size);
    }
done:
    return status;
}
