#include "formats/catalogue.h"
#include "report.h"
#include <heptane/chain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_list(int argc, char **argv, hpt_error *error);

enum { CHAIN_RANK = 26 }; /* up to here, chaining takes no noticeable time */

/* The writes of the best chaining, -1 where chains do not apply or the scheme is large. */
static int32_t count_writes(const hpt_scheme *scheme) {
    hpt_schedule *schedule = NULL;
    const hpt_chain_options options = {.time_limit = 1, .any = true};
    int32_t writes = -1;
    if (hpt_scheme_is_real(scheme) && hpt_scheme_rank(scheme) <= CHAIN_RANK &&
        hpt_chain(&schedule, scheme, &options, NULL) == HPT_OK)
        writes = schedule->writes;
    hpt_schedule_destroy(schedule);
    return writes;
}

static json_t *describe(const char *name, const hpt_scheme *s, int32_t writes) {
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s, s:o, s:s}", "name", name, "n", hpt_scheme_n(s), "m",
                     hpt_scheme_m(s), "p", hpt_scheme_p(s), "rank", hpt_scheme_rank(s), "ring", hpt_scheme_ring(s),
                     "writes", writes < 0 ? json_null() : json_integer(writes), "source", hpt_scheme_source(s));
}

static void print_line(const char *name, const hpt_scheme *s, int32_t writes) {
    char count[16] = "-";
    if (writes >= 0) snprintf(count, sizeof count, "%d", writes);
    printf("%-24s %d x %d x %d  rank %-4d %-10s %5s  %s\n", name, hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s),
           hpt_scheme_rank(s), hpt_scheme_ring(s), count, hpt_scheme_source(s));
}

static hpt_status list_one(json_t *list, const char *path, const int32_t shape[3], hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *s = NULL;
    char *name = hpt_catalogue_name(path);
    HPT_FAIL_NO_MEMORY(name);
    HPT_TRY(hpt_scheme_read(&s, path, NULL, error));
    if (shape[0] && (shape[0] != hpt_scheme_n(s) || shape[1] != hpt_scheme_m(s) || shape[2] != hpt_scheme_p(s)))
        goto done;
    int32_t writes = count_writes(s);
    if (list)
        json_array_append_new(list, describe(name, s, writes));
    else
        print_line(name, s, writes);
done:
    hpt_scheme_destroy(s);
    free(name);
    return status;
}

hpt_status hpt_command_list(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped;
    int first;
    const char *wanted = NULL;
    char **paths = NULL;
    int32_t shape[3] = {0, 0, 0};
    json_t *list = NULL;
    const hpt_option options[] = {{"shape", 0, HPT_OPTION_TEXT, &wanted, "N,M,P", "only schemes of this shape", 0, 0},
                                  {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"list",
                             "[--shape N,M,P]",
                             "Lists the catalogue: names that can stand wherever a scheme file can.",
                             "heptane list                  all of it\n"
                             "heptane list --shape 3,3,3    one shape",
                             0,
                             0,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    if (wanted) HPT_TRY(hpt_shape_parse(shape, wanted, error));
    HPT_TRY(hpt_catalogue_list(&paths, error));
    if (json) list = json_array();
    for (size_t i = 0; paths[i]; i++) HPT_TRY(list_one(list, paths[i], shape, error));
    if (json) HPT_TRY(hpt_json_print(json_pack("{s:O}", "schemes", list), error));
done:
    json_decref(list);
    hpt_catalogue_free(paths);
    return status;
}
