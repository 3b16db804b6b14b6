/* report.h - what the commands about schemes share: the options that read a scheme, the fields of its verdict. */
#ifndef HPT_CLI_REPORT_H
#define HPT_CLI_REPORT_H

#include "cli.h"
#include <heptane/chain.h>
#include <heptane/scheme.h>

/* Text options that every command with a scheme argument takes; parse them with hpt_scheme_options. */
typedef struct hpt_scheme_arguments {
    const char *ring, *shape, *from;
} hpt_scheme_arguments;

#define HPT_SCHEME_OPTIONS(arguments)                                                                                  \
    {"ring", 0, HPT_OPTION_TEXT, &(arguments).ring, "R", "check over Z, Q, Qi, GF(p), ... (default: the smallest)",    \
     0,      0},                                                                                                       \
        {"shape", 0, HPT_OPTION_TEXT, &(arguments).shape, "N,M,P", "the shape, where the file does not tell", 0, 0}, { \
        "from", 0, HPT_OPTION_TEXT, &(arguments).from, "FORMAT", "the file's format (default: from its content)", 0, 0 \
    }

hpt_status hpt_scheme_options(hpt_read_options *out, const hpt_scheme_arguments *arguments, hpt_error *error);
/* "2,3,4" */
hpt_status hpt_shape_parse(int32_t shape[3], const char *text, hpt_error *error);

/* Reads a scheme and lets only a proved one through: HPT_REFUTED or HPT_UNDECIDED else. Destroy *out in any case. */
hpt_status hpt_scheme_read_proved(hpt_scheme **out, const char *name, const hpt_read_options *reading,
                                  hpt_error *error);

/* hpt_chain with the progress line; HPT_INTERRUPTED after Ctrl-C. Destroy *out in any case. */
hpt_status hpt_cli_chain(hpt_schedule **out, const hpt_scheme *scheme, const hpt_chain_options *options,
                         hpt_error *error);

/* An exact value: a JSON number if it is an integer (of 64 bits), else a string like "1/2". A new reference. */
json_t *hpt_exact_json(const char *text);

/* ok, n, m, p, rank, ring, format and what belongs to the verdict. A new reference. */
json_t *hpt_verdict_json(const hpt_scheme *scheme, const hpt_verification *verdict);
/* One line for people. */
void hpt_verdict_print(const char *name, const hpt_scheme *scheme, const hpt_verification *verdict);
/* HPT_OK, HPT_REFUTED or HPT_UNDECIDED with a sentence that names the failing equation. */
hpt_status hpt_verdict_status(const char *name, const hpt_verification *verdict, hpt_error *error);

#endif
