#include "cli.h"
#include <stdio.h>

hpt_status hpt_command_version(int argc, char **argv, hpt_error *error);

hpt_status hpt_command_version(int argc, char **argv, hpt_error *error) {
    bool json = false, helped;
    int first;
    const hpt_option options[] = {{"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"version", "[--json]", "Prints the version.", "heptane version", 0, 0, options, 1};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    if (json) return hpt_json_print(json_pack("{s:s}", "version", HPT_VERSION), error);
    printf("heptane %s\n", HPT_VERSION);
    return HPT_OK;
}
