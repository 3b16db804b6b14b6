#include "report.h"
#include <stdio.h>
#include <string.h>

hpt_status hpt_command_verify(int argc, char **argv, hpt_error *error);

static hpt_status verify_one(const char *name, const hpt_read_options *reading, bool json, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    hpt_verification verdict;
    HPT_TRY(hpt_scheme_read(&scheme, name, reading, error));
    HPT_TRY(hpt_scheme_verify(&verdict, scheme, error));
    if (json)
        HPT_TRY(hpt_json_print(hpt_verdict_json(scheme, &verdict), error));
    else
        hpt_verdict_print(name, scheme, &verdict);
    HPT_TRY(hpt_verdict_status(name, &verdict, error));
done:
    hpt_scheme_destroy(scheme);
    return status;
}

static void print_problem(const hpt_error *problem) {
    fprintf(stderr, "heptane: %s: %s\n", problem->where, problem->message);
}

/* Every file is looked at; the first failure decides the exit code, the others are printed as they come. An
 * interruption ends it there and decides the exit code: what comes after was not looked at. */
hpt_status hpt_command_verify(int argc, char **argv, hpt_error *error) {
    bool json = false, helped;
    int first;
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    const hpt_option options[] = {HPT_SCHEME_OPTIONS(arguments),
                                  {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON, one line per file", 0, 0}};
    const hpt_usage usage = {"verify",
                             "FILE... [options]",
                             "Checks exactly that a scheme multiplies matrices (every Brent equation).",
                             "heptane verify strassen            a scheme of the catalogue\n"
                             "heptane verify scheme.exp --json   a file in any known format\n"
                             "heptane verify s.txt --ring 'GF(2)'  over another ring",
                             1,
                             -1,
                             options,
                             HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    status = hpt_scheme_options(&reading, &arguments, error);
    if (status != HPT_OK) return status;
    for (int i = first; i < argc; i++) {
        hpt_error problem = {0};
        hpt_status this = verify_one(argv[i], &reading, json, &problem);
        if (this == HPT_OK) continue;
        if (status != HPT_OK) print_problem(this == HPT_INTERRUPTED ? error : &problem);
        if (status == HPT_OK || this == HPT_INTERRUPTED) {
            status = this;
            *error = problem;
        }
        if (this == HPT_INTERRUPTED) break;
    }
    return status;
}
