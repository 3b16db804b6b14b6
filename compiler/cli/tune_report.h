/* tune_report.h - what `heptane tune` says of its work and keeps of it, the same for every operation. */
#ifndef HPT_CLI_TUNE_REPORT_H
#define HPT_CLI_TUNE_REPORT_H

#include "cli.h"
#include "tune/tuned.h"

typedef struct hpt_tune_report {
    bool json, dry; /* dry: nothing is kept */
    json_t *rows;
} hpt_tune_report;

/* Before anything is measured: whether it could be kept. */
hpt_status hpt_tune_begin(hpt_tune_report *report, const hpt_context *context, hpt_error *error);
/* Keeps what was chosen for one size, and prints it unless all is printed at the end, as JSON. */
hpt_status hpt_tune_keep(hpt_tune_report *report, const hpt_context *context, const hpt_tuned_key *key,
                         const hpt_tuned_choice *choice, size_t tried, hpt_error *error);
/* The document, or where the choices are kept; nothing if there are none. Returns `so_far`, or why that failed. */
hpt_status hpt_tune_end(hpt_tune_report *report, const hpt_context *context, hpt_status so_far, hpt_error *error);

/* A candidate that is not timed, and why. */
void hpt_tune_pass_over(const char *scheme, const hpt_error *why);
/* HPT_INTERRUPTED after Ctrl-C. */
hpt_status hpt_tune_interrupted(hpt_error *error);

/* heptane tune --list, --forget */
hpt_status hpt_tune_list(bool json, hpt_error *error);
hpt_status hpt_tune_forget(bool json, hpt_error *error);

#endif
