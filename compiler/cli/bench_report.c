#include "bench_report.h"
#include "cli.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *row, const char *key) { return json_string_value(json_object_get(row, key)); }
static double number_of(const json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }

json_t *hpt_samples_json(const double *seconds) {
    json_t *list = json_array();
    for (int i = 0; i < HPT_SAMPLES; i++) json_array_append_new(list, json_real(seconds[i] * 1e3));
    return list;
}

void hpt_bench_print_row(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "scheme"));
    double ms = json_real_value(json_object_get(row, "ms"));
    double flops = 2.0 * (double)json_integer_value(json_object_get(row, "m")) *
                   (double)json_integer_value(json_object_get(row, "n")) *
                   (double)json_integer_value(json_object_get(row, "k"));
    printf("%6lld %6lld %6lld  %-16s %-8s %-8s %9.4f ms %7.1f TF/s  ratio %.3f / own %.3f  error %.2e / %.2e  %4.0f "
           "MHz %3.0f W%s\n",
           (long long)json_integer_value(json_object_get(row, "m")),
           (long long)json_integer_value(json_object_get(row, "n")),
           (long long)json_integer_value(json_object_get(row, "k")), name,
           strcmp(json_string_value(json_object_get(row, "chain")), "none") == 0 ? "unchain" : "chained",
           json_string_value(json_object_get(row, "forms")), ms, flops / ms * 1e-9,
           json_real_value(json_object_get(row, "ratio")), json_number_value(json_object_get(row, "ratio_own")),
           json_real_value(json_object_get(row, "rel_error")),
           json_number_value(json_object_get(row, "baseline_rel_error")), json_real_value(json_object_get(row, "mhz")),
           json_real_value(json_object_get(row, "watt")), json_is_true(json_object_get(row, "ok")) ? "" : "  NOT OK");
    if (json_object_get(row, "forms_ms"))
        printf("%44sforms of X alone %.4f ms, %.0f%% of a copy's speed\n", "", number_of(row, "forms_ms"),
               100 * number_of(row, "forms_of_copy"));
    fflush(stdout);
}

hpt_status hpt_bench_keep_row(json_t *rows, json_t *row, const char *path, hpt_error *error) {
    json_array_append_new(rows, row);
    if (!path) return HPT_OK;
    char *text = json_dumps(rows, JSON_COMPACT);
    hpt_status status = text ? hpt_file_write(path, text, strlen(text), error)
                             : hpt_error_set(error, HPT_NO_MEMORY, path, "Out of memory.");
    free(text);
    return status;
}

/* ---- CSV ---- */
hpt_status hpt_bench_write_csv(const char *path, const json_t *rows, hpt_error *error) {
    static const char *const columns[] = {"op",
                                          "m",
                                          "n",
                                          "k",
                                          "scheme",
                                          "chain",
                                          "plan",
                                          "forms",
                                          "ms",
                                          "baseline_ms",
                                          "ratio",
                                          "own_ms",
                                          "own_baseline_ms",
                                          "ratio_own",
                                          "rel_error",
                                          "baseline_rel_error",
                                          "mhz",
                                          "watt",
                                          "baseline_mhz",
                                          "baseline_watt"};
    hpt_text text = {0};
    for (size_t c = 0; c < HPT_COUNT(columns); c++) hpt_text_printf(&text, "%s%s", c ? "," : "", columns[c]);
    hpt_text_puts(&text, "\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t c = 0; c < HPT_COUNT(columns); c++) {
            const json_t *value = json_object_get(row, columns[c]);
            if (c) hpt_text_puts(&text, ",");
            if (json_is_string(value))
                hpt_text_printf(&text, "\"%s\"", json_string_value(value));
            else if (json_is_integer(value))
                hpt_text_printf(&text, "%lld", (long long)json_integer_value(value));
            else if (json_is_real(value))
                hpt_text_printf(&text, "%.6g", json_real_value(value));
        }
        hpt_text_puts(&text, "\n");
    }
    hpt_status status = text.failed ? hpt_error_set(error, HPT_NO_MEMORY, path, "Out of memory.")
                                    : hpt_file_write(path, text.data, text.length, error);
    hpt_text_clear(&text);
    return status;
}

/* ---- SVG ---- */
enum { WIDTH = 760, HEIGHT = 440, LEFT = 60, RIGHT = 250, TOP = 30, BOTTOM = 50 };

typedef struct axes {
    double low_x, high_x, low_y, high_y;
} axes;

static double size_of(const json_t *row) {
    return log2(cbrt(number_of(row, "m") * number_of(row, "n") * number_of(row, "k")));
}

static bool same_line(const json_t *a, const json_t *b) {
    return strcmp(text_of(a, "scheme"), text_of(b, "scheme")) == 0 &&
           strcmp(text_of(a, "chain"), text_of(b, "chain")) == 0 &&
           strcmp(text_of(a, "forms"), text_of(b, "forms")) == 0;
}

static double place_x(const axes *a, double x) {
    return LEFT + (x - a->low_x) / (a->high_x - a->low_x) * (WIDTH - LEFT - RIGHT);
}
static double place_y(const axes *a, double y) {
    return HEIGHT - BOTTOM - (y - a->low_y) / (a->high_y - a->low_y) * (HEIGHT - TOP - BOTTOM);
}

static axes fit_axes(const json_t *rows) {
    axes a = {1e9, -1e9, 0.95, 1.05};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        a.low_x = fmin(a.low_x, size_of(row));
        a.high_x = fmax(a.high_x, size_of(row));
        a.low_y = fmin(a.low_y, number_of(row, "ratio"));
        a.high_y = fmax(a.high_y, number_of(row, "ratio"));
    }
    a.low_x -= 0.25;
    a.high_x += 0.25;
    a.low_y = floor(a.low_y * 20 - 0.2) / 20;
    a.high_y = ceil(a.high_y * 20 + 0.2) / 20;
    return a;
}

static void draw_axes(hpt_text *svg, const axes *a) {
    double step = a->high_y - a->low_y > 0.6 ? 0.2 : 0.05;
    for (double y = ceil(a->low_y / step) * step; y <= a->high_y + 1e-9; y += step)
        hpt_text_printf(
            svg, "<path d=\"M%d %.1fH%d\" stroke=\"%s\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.2f</text>\n",
            LEFT, place_y(a, y), WIDTH - RIGHT, fabs(y - 1) < 1e-9 ? "#555" : "#ddd", LEFT - 6, place_y(a, y) + 4, y);
    for (double x = ceil(a->low_x); x <= a->high_x; x++)
        hpt_text_printf(
            svg,
            "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            place_x(a, x), TOP, HEIGHT - BOTTOM, place_x(a, x), HEIGHT - BOTTOM + 18, exp2(x));
    hpt_text_printf(svg, "<text x=\"%d\" y=\"%d\">size (cube root of M N K)</text>\n", LEFT, HEIGHT - 12);
    hpt_text_printf(svg, "<text x=\"%d\" y=\"18\">cuBLASLt's time over ours, in turns</text>\n", LEFT);
}

static void draw_line(hpt_text *svg, const axes *a, const json_t *rows, size_t first, int number) {
    static const char *const colours[] = {"#c33", "#36c", "#393", "#c80", "#939", "#088", "#666", "#a52"};
    const char *colour = colours[(size_t)number % HPT_COUNT(colours)];
    const json_t *head = json_array_get(rows, first);
    hpt_text_printf(svg, "<g stroke=\"%s\" fill=\"none\"><path d=\"", colour);
    for (size_t i = first, n = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!same_line(row, head)) continue;
        hpt_text_printf(svg, "%s%.1f %.1f", n++ ? "L" : "M", place_x(a, size_of(row)),
                        place_y(a, number_of(row, "ratio")));
    }
    hpt_text_puts(svg, "\"/></g>\n");
    for (size_t i = first; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (same_line(row, head))
            hpt_text_printf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", place_x(a, size_of(row)),
                            place_y(a, number_of(row, "ratio")), colour);
    }
    hpt_text_printf(svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s%s, forms %s</text>\n", WIDTH - RIGHT + 12,
                    TOP + 18 * (number + 1), colour, text_of(head, "scheme"),
                    strcmp(text_of(head, "chain"), "none") == 0 ? " unchained" : "", text_of(head, "forms"));
}

hpt_status hpt_bench_write_svg(const char *path, const json_t *rows, hpt_error *error) {
    hpt_text svg = {0};
    axes a = fit_axes(rows);
    int lines = 0;
    hpt_text_printf(&svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                    WIDTH, HEIGHT);
    draw_axes(&svg, &a);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        size_t earlier = 0;
        while (!same_line(json_array_get(rows, earlier), json_array_get(rows, i))) earlier++;
        if (earlier == i) draw_line(&svg, &a, rows, i, lines++);
    }
    hpt_text_puts(&svg, "</svg>\n");
    hpt_status status = svg.failed ? hpt_error_set(error, HPT_NO_MEMORY, path, "Out of memory.")
                                   : hpt_file_write(path, svg.data, svg.length, error);
    hpt_text_clear(&svg);
    return status;
}
