#include "report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

hpt_status hpt_command_convert(int argc, char **argv, hpt_error *error);

/* What the target format does not keep, said on standard error. */
static hpt_status check_lossless(const hpt_scheme *scheme, const char *path, const char *format, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *again = NULL;
    hpt_read_options reading = {
        .n = hpt_scheme_n(scheme), .m = hpt_scheme_m(scheme), .p = hpt_scheme_p(scheme), .progress = &hpt_cli_progress};
    if (strncmp(hpt_scheme_ring(scheme), "GF(", 3) == 0) reading.ring = hpt_scheme_ring(scheme);
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return HPT_OK; /* a pipe or a device cannot be read back */
    reading.format = format;
    HPT_TRY(hpt_scheme_read(&again, path, &reading, error));
    HPT_FAIL_IF(strcmp(hpt_scheme_hash(again), hpt_scheme_hash(scheme)) != 0, HPT_INTERNAL, path,
                "What was written does not read back as the same scheme.");
done:
    hpt_scheme_destroy(again);
    return status;
}

hpt_status hpt_command_convert(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped;
    int first;
    const char *out = NULL, *format = NULL, *source = NULL;
    char *text = NULL;
    size_t length = 0;
    hpt_scheme *scheme = NULL;
    hpt_verification verdict;
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    const hpt_option options[] = {
        HPT_SCHEME_OPTIONS(arguments),
        {"output", 'o', HPT_OPTION_TEXT, &out, "OUT", "the file to write; - is standard output", 0, 0},
        {"to", 0, HPT_OPTION_TEXT, &format, "FORMAT", "heptane (default), exp, uvw-txt, mathematica, ...", 0, 0},
        {"source", 0, HPT_OPTION_TEXT, &source, "TEXT", "who published it, and where (heptane format only)", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"convert",
                             "FILE -o OUT [--to FORMAT]",
                             "Writes a scheme in another format; what was written is read back and compared.",
                             "heptane convert scheme.exp -o scheme.json           into Heptane's own format\n"
                             "heptane convert strassen -o - --to mathematica      to standard output",
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    HPT_FAIL_IF(!out, HPT_USAGE, "-o", "Where to? Give -o OUT, or -o - for standard output.");
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    HPT_TRY(hpt_scheme_read(&scheme, argv[first], &reading, error));
    HPT_TRY(hpt_scheme_verify(&verdict, scheme, error));
    if (verdict.verdict == HPT_VERDICT_REFUTED) HPT_TRY(hpt_verdict_status(argv[first], &verdict, error));
    if (source) HPT_TRY(hpt_scheme_set_source(scheme, source, error));
    HPT_TRY(hpt_scheme_write(&text, &length, scheme, format, error));
    if (strcmp(out, "-") == 0) {
        HPT_FAIL_IF(fwrite(text, 1, length, stdout) != length, HPT_IO, "standard output", "Cannot write.");
        goto done;
    }
    HPT_TRY(hpt_file_write(out, text, length, error));
    HPT_TRY(check_lossless(scheme, out, format ? format : "heptane", error));
    if (json)
        HPT_TRY(hpt_json_print(json_pack("{s:s, s:s, s:s, s:s}", "from", hpt_scheme_format(scheme), "to",
                                         format ? format : "heptane", "output", out, "hash", hpt_scheme_hash(scheme)),
                               error));
done:
    free(text);
    hpt_scheme_destroy(scheme);
    return status;
}
