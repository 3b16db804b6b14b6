/* heptane roofline: from which size on a scheme should beat the textbook algorithm, by memory and arithmetic alone.
 *
 * N x N matrices of two-byte numbers, P operations/s, B bytes/s, an n x m x p scheme of rank R (the paper, section 2.2,
 * for any shape): the textbook algorithm takes max(2 N^3 / P, 4 N^2 / B); the scheme first makes its forms, which reads
 * X and Y and writes R/(nm) and R/(mp) times as much, then takes max(2 R N^3 / (nmp P), 2 (R/(nm) + R/(mp)) N^2 / B).
 * In the compute-bound regime it wins for N > (P/B) (traffic of the forms in units of 2 N^2 bytes) / (1 - R/(nmp)).
 * With Y's forms prepared only X's count; with X's forms fused into the operation before, none do, and it wins as soon
 * as reading the forms is hidden: N > (P/B) (R/(nm) + R/(mp)). */
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_roofline(int argc, char **argv, hpt_error *error);

enum { MOST_GPUS = 64, MOST_SCHEMES = 32 };

typedef struct gpu {
    char name[48];
    int year;
    double operations, bytes, sustained;
} gpu;

typedef struct shape {
    char name[64];
    double n, m, p, rank;
} shape;

typedef struct cutoff { /* sizes; INFINITY if never */
    double standalone, prepared, fused;
} cutoff;

static const gpu known[] = {
#define GPU(name, year, operations, bytes, sustained) {name, year, operations, bytes, sustained},
#include "gpus.def"
#undef GPU
};

static cutoff find_cutoff(const gpu *g, double operations, const shape *s) {
    double ratio = operations / g->bytes, saved = 1 - s->rank / (s->n * s->m * s->p);
    double forms_x = s->rank / (s->n * s->m), forms_y = s->rank / (s->m * s->p);
    if (saved <= 0) return (cutoff){INFINITY, INFINITY, INFINITY};
    return (cutoff){ratio * (2 + forms_x + forms_y) / saved, ratio * (1 + forms_x) / saved,
                    ratio * (forms_x + forms_y)};
}

/* ---- input ---- */
static hpt_status read_shape(shape *out, const char *name, hpt_error *error) {
    char rest;
    int n, m, p, rank;
    *out = (shape){0};
    snprintf(out->name, sizeof out->name, "%.63s", name);
    if (sscanf(name, "%dx%dx%d:%d%c", &n, &m, &p, &rank, &rest) == 4) {
        out->n = n;
        out->m = m;
        out->p = p;
        out->rank = rank;
        if (n >= 1 && m >= 1 && p >= 1 && rank >= 1) return HPT_OK;
        return hpt_error_set(error, HPT_USAGE, name, "Shape and rank must be positive (2x2x2:7).");
    }
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    HPT_TRY(hpt_scheme_read_proved(&scheme, name, NULL, error));
    out->n = hpt_scheme_n(scheme);
    out->m = hpt_scheme_m(scheme);
    out->p = hpt_scheme_p(scheme);
    out->rank = hpt_scheme_rank(scheme);
done:
    hpt_scheme_destroy(scheme);
    return status;
}

static hpt_status read_gpu(gpu *out, const char *text, hpt_error *error) {
    char rest;
    *out = (gpu){0};
    if (sscanf(text, "%47[^:]:%lf:%lf%c", out->name, &out->operations, &out->bytes, &rest) != 3 ||
        !(out->operations > 0) || !(out->bytes > 0))
        return hpt_error_set(error, HPT_USAGE, "--gpu",
                             "\"%s\" is not NAME:OPERATIONS:BYTES per second (B200:2.25e15:8e12).", text);
    return HPT_OK;
}

/* ---- output ---- */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *make_json(const gpu *gpus, size_t gpu_count, const shape *shapes, size_t shape_count) {
    json_t *rows = json_array();
    for (size_t s = 0; s < shape_count; s++)
        for (size_t g = 0; g < gpu_count; g++) {
            cutoff c = find_cutoff(&gpus[g], gpus[g].operations, &shapes[s]);
            json_t *row =
                json_pack("{s:s,s:s,s:f,s:f,s:o,s:o,s:o}", "gpu", gpus[g].name, "scheme", shapes[s].name, "operations",
                          gpus[g].operations, "bytes", gpus[g].bytes, "cutoff", number(c.standalone), "cutoff_prepared",
                          number(c.prepared), "cutoff_fused", number(c.fused));
            if (gpus[g].sustained > 0) {
                c = find_cutoff(&gpus[g], gpus[g].sustained, &shapes[s]);
                json_object_set_new(row, "sustained", json_real(gpus[g].sustained));
                json_object_set_new(row, "cutoff_sustained", number(c.standalone));
                json_object_set_new(row, "cutoff_sustained_prepared", number(c.prepared));
                json_object_set_new(row, "cutoff_sustained_fused", number(c.fused));
            }
            json_array_append_new(rows, row);
        }
    return json_pack("{s:o}", "cutoffs", rows);
}

static void print_line(const char *name, const gpu *g, double operations, const shape *s) {
    cutoff c = find_cutoff(g, operations, s);
    printf("%-22s %9.2f %8.2f %8.0f", name, operations * 1e-12, g->bytes * 1e-12, operations / g->bytes);
    if (isfinite(c.standalone))
        printf(" %10.0f %10.0f %10.0f\n", c.standalone, c.prepared, c.fused);
    else
        printf("      never      never      never\n");
}

static void print_table(const gpu *gpus, size_t count, const shape *s) {
    printf("%s: size from which it should beat the textbook algorithm (square, two-byte numbers)\n\n", s->name);
    printf("%-22s %9s %8s %8s %10s %10s %10s\n", "GPU", "Tera-op/s", "TB/s", "op/byte", "alone", "Y prepared",
           "and X fused");
    for (size_t g = 0; g < count; g++) {
        print_line(gpus[g].name, &gpus[g], gpus[g].operations, s);
        if (gpus[g].sustained > 0) print_line("  at its power limit", &gpus[g], gpus[g].sustained, s);
    }
    printf("\n");
}

/* One group of three bars per GPU; sizes on a logarithmic axis. */
static void draw_group(hpt_text *svg, int y, const char *name, const cutoff *c, double scale, double low) {
    static const char *const colours[] = {"#c44", "#e93", "#494"};
    const double sizes[] = {c->standalone, c->prepared, c->fused};
    hpt_text_printf(svg, "<text x=\"120\" y=\"%d\" text-anchor=\"end\">%s</text>\n", y + 21, name);
    for (int i = 0; i < 3; i++) {
        double width = sizes[i] > low ? scale * log2(sizes[i] / low) : 0;
        if (!isfinite(width)) continue;
        hpt_text_printf(svg, "<rect x=\"130\" y=\"%d\" width=\"%.1f\" height=\"9\" fill=\"%s\"/>\n", y + 10 * i, width,
                        colours[i]);
        hpt_text_printf(svg, "<text x=\"%.1f\" y=\"%d\" font-size=\"9\">%.0f</text>\n", 134 + width, y + 10 * i + 8,
                        sizes[i]);
    }
}

static hpt_status write_svg(const char *path, const gpu *gpus, size_t count, const shape *s, hpt_error *error) {
    static const char *const legend[] = {"forms made alone", "forms of Y prepared", "and forms of X fused"};
    static const char *const colours[] = {"#c44", "#e93", "#494"};
    const double low = 16, scale = 40;
    const int height = 80 + 40 * (int)count;
    hpt_text svg = {0};
    hpt_text_printf(
        &svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"%d\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"130\" y=\"20\" font-size=\"14\">Size from which %s beats the textbook algorithm</text>\n",
        height, s->name);
    for (int i = 0; i < 3; i++)
        hpt_text_printf(
            &svg, "<rect x=\"%d\" y=\"30\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"39\">%s</text>\n",
            130 + 165 * i, colours[i], 145 + 165 * i, legend[i]);
    for (double size = 64; size <= 32768; size *= 8) {
        double x = 130 + scale * log2(size / low);
        hpt_text_printf(
            &svg,
            "<path d=\"M%.1f 52V%d\" stroke=\"#ccc\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            x, height - 24, x, height - 8, size);
    }
    for (size_t g = 0; g < count; g++) {
        cutoff c = find_cutoff(&gpus[g], gpus[g].operations, s);
        draw_group(&svg, 58 + 40 * (int)g, gpus[g].name, &c, scale, low);
    }
    hpt_text_puts(&svg, "</svg>\n");
    hpt_status status = svg.failed ? hpt_error_set(error, HPT_NO_MEMORY, path, "Out of memory.")
                                   : hpt_file_write(path, svg.data, svg.length, error);
    hpt_text_clear(&svg);
    return status;
}

hpt_status hpt_command_roofline(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped = false;
    const char *svg = NULL, *extra = NULL;
    gpu gpus[MOST_GPUS];
    shape shapes[MOST_SCHEMES];
    size_t gpu_count = HPT_COUNT(known), shape_count = 0;
    int first;
    const hpt_option options[] = {
        {"gpu", 0, HPT_OPTION_TEXT, &extra, "NAME:P:B", "another GPU: operations/s and bytes/s", 0, 0},
        {"svg", 0, HPT_OPTION_TEXT, &svg, "FILE", "draw the first scheme's sizes", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "roofline",
        "[SCHEME|NxMxP:R...] [options]",
        "The paper's model: from which size on a scheme beats the textbook algorithm.",
        "heptane roofline                             a 2x2x2:7 scheme on the GPUs that the paper names\n"
        "heptane roofline 3x3x3:23 4x4x4:49           other shapes, with or without a scheme file\n"
        "heptane roofline --gpu mine:2.5e15:8e12 --svg roofline.svg\n",
        0,
        MOST_SCHEMES,
        options,
        HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    memcpy(gpus, known, sizeof known);
    if (extra) HPT_TRY(read_gpu(&gpus[gpu_count++], extra, error));
    for (int i = first; i < argc; i++) HPT_TRY(read_shape(&shapes[shape_count++], argv[i], error));
    if (shape_count == 0) HPT_TRY(read_shape(&shapes[shape_count++], "2x2x2:7", error));
    if (svg) HPT_TRY(write_svg(svg, gpus, gpu_count, &shapes[0], error));
    if (json)
        HPT_TRY(hpt_json_print(make_json(gpus, gpu_count, shapes, shape_count), error));
    else
        for (size_t s = 0; s < shape_count; s++) print_table(gpus, gpu_count, &shapes[s]);
done:
    return status;
}
