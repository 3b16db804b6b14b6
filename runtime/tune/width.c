#include "tune/width.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STEP = 16, WIDEST = 256, LEAST_WIDTH = 160 };

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t width_of(int64_t m, int64_t tiles) { return ceil_div(ceil_div(m, tiles), STEP) * STEP; }

int64_t hpt_width_of_fewest(int64_t m) { return width_of(m, ceil_div(m, WIDEST)); }

/* n tiles of w rows. Why all m' from m to n w agree: ceil(m'/n) lies between w - 15 and w, so n tiles have the same
 * width for m', and n is a candidate for m' too. Other candidates are no narrower than for m; one that was none for m
 * would need a width of 160 where m needed less, and then has more rows than n w. test_tuned.c counts it out. */
static int64_t fit(int64_t m, int64_t *width) {
    const int64_t fewest = ceil_div(m, WIDEST);
    int64_t rows = 0;
    for (int64_t n = fewest;; n++) {
        const int64_t w = width_of(m, n);
        if (n > fewest && w < LEAST_WIDTH) return rows;
        if (rows && n * w >= rows) continue;
        rows = n * w;
        *width = w;
    }
}

int64_t hpt_width(int64_t m) {
    int64_t width = WIDEST;
    if (m <= HPT_WIDTH_ROWS) fit(m, &width);
    return width;
}

int64_t hpt_width_rows(int64_t m) {
    int64_t width;
    return fit(m, &width);
}

void hpt_width_fill(char *out, size_t room, const char *plan, int64_t m) {
    const char *star = strstr(plan, "turned=*");
    if (!star)
        snprintf(out, room, "%s", plan);
    else
        snprintf(out, room, "%.*s%" PRId64 "%s", (int)(star - plan) + 7, plan, hpt_width(m), star + 8);
}
