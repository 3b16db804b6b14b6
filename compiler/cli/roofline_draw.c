/* The cut-offs as an SVG: bars on a logarithmic axis of sizes. */
#include "roofline.h"
#include <math.h>
#include <stdio.h>

enum { LEFT = 160, TOP = 58, GROUP = 40, BAR = 10, WIDTH = 690, BELOW = 24 };
static const double low = 16, scale = 40; /* size at the axis; pixels per doubling */
static const char *const colours[HPT_ROOF_CASES] = {"#c44", "#e93", "#494"};
static const char *const legend[HPT_ROOF_CASES] = {"forms made alone", "forms of Y prepared", "and forms of X fused"};

static void add_escaped(hpt_text *svg, const char *text) {
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : NULL;
        if (entity)
            hpt_text_puts(svg, entity);
        else
            hpt_text_add(svg, text, 1);
    }
}

static void draw_group(hpt_text *svg, int y, const char *name, const char *below, const hpt_roof_gpu *g,
                       const hpt_roof_scheme *s) {
    hpt_text_printf(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 10, y + 14);
    add_escaped(svg, name);
    hpt_text_puts(svg, "</text>\n");
    hpt_text_printf(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"9\" fill=\"#666\">%s</text>\n",
                    LEFT - 10, y + 26, below);
    for (int i = 0; i < HPT_ROOF_CASES; i++) {
        double size = hpt_roof_cutoff(g, s, (hpt_roof_case)i), width = size > low ? scale * log2(size / low) : 0;
        if (!isfinite(width)) continue;
        hpt_text_printf(svg, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", LEFT, y + BAR * i,
                        width, BAR - 1, colours[i]);
        hpt_text_printf(svg, "<text x=\"%.1f\" y=\"%d\" font-size=\"9\">%.0f</text>\n", LEFT + 4 + width,
                        y + BAR * i + 8, size);
    }
}

static void draw_frame(hpt_text *svg, int height, const hpt_roof_scheme *s) {
    hpt_text_printf(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                    "<text x=\"%d\" y=\"20\" font-size=\"14\">Size from which ",
                    WIDTH, height, LEFT);
    add_escaped(svg, s->name);
    hpt_text_puts(svg, " beats the textbook algorithm</text>\n");
    for (int i = 0; i < HPT_ROOF_CASES; i++)
        hpt_text_printf(
            svg, "<rect x=\"%d\" y=\"30\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"39\">%s</text>\n",
            LEFT + 165 * i, colours[i], LEFT + 15 + 165 * i, legend[i]);
    for (double size = 64; size <= 32768; size *= 8) {
        double x = LEFT + scale * log2(size / low);
        hpt_text_printf(
            svg,
            "<path d=\"M%.1f 52V%d\" stroke=\"#ccc\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            x, height - BELOW, x, height - 8, size);
    }
}

hpt_status hpt_roof_draw(const char *path, const hpt_roof_gpu *gpus, size_t count, const hpt_roof_scheme *s,
                         hpt_error *error) {
    hpt_text svg = {0};
    char below[64];
    int groups = 0, at = 0;
    for (size_t g = 0; g < count; g++) groups += gpus[g].watts > 0 ? 2 : 1;
    draw_frame(&svg, TOP + GROUP * groups + BELOW - 2, s);
    for (size_t g = 0; g < count; g++) {
        hpt_roof_gpu plain = hpt_roof_unlimited(&gpus[g]);
        below[0] = '\0';
        if (plain.year) snprintf(below, sizeof below, "%d", plain.year);
        draw_group(&svg, TOP + GROUP * at++, plain.name, below, &plain, s);
        if (!(gpus[g].watts > 0)) continue;
        snprintf(below, sizeof below, "at its power limit, %.0f W", gpus[g].watts);
        draw_group(&svg, TOP + GROUP * at++, gpus[g].name, below, &gpus[g], s);
    }
    hpt_text_puts(&svg, "</svg>\n");
    hpt_status status = svg.failed ? hpt_error_set(error, HPT_NO_MEMORY, path, "Out of memory.")
                                   : hpt_file_write(path, svg.data, svg.length, error);
    hpt_text_clear(&svg);
    return status;
}
