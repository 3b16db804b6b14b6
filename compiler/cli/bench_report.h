/* bench_report.h - the rows of `heptane bench` as text lines, CSV and an SVG plot of ratio against size. */
#ifndef HPT_CLI_BENCH_REPORT_H
#define HPT_CLI_BENCH_REPORT_H

#include "measure.h"
#include <jansson.h>

/* HPT_SAMPLES times in seconds as a list of milliseconds. */
json_t *hpt_samples_json(const double *seconds);
void hpt_bench_print_row(const json_t *row);
/* Takes `row` to the others and writes all to a file; path NULL: none. */
hpt_status hpt_bench_keep_row(json_t *rows, json_t *row, const char *path, hpt_error *error);
hpt_status hpt_bench_write_csv(const char *path, const json_t *rows, hpt_error *error);
/* One line per scheme, chaining and treatment of the forms; the size is the cube root of M N K. */
hpt_status hpt_bench_write_svg(const char *path, const json_t *rows, hpt_error *error);

#endif
