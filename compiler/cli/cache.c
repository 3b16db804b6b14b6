/* heptane cache list|clear: compiled kernels on disk. */
#include "cache/cache.h"
#include "cli.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

hpt_status hpt_command_cache(int argc, char **argv, hpt_error *error);

static hpt_status list(const hpt_cache *cache, bool json, hpt_error *error) {
    hpt_cache_entry *entries;
    size_t count;
    int64_t total = 0;
    hpt_status status = hpt_cache_list(&entries, &count, cache, error);
    if (status != HPT_OK) return status;
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++) {
        char day[32];
        time_t when = (time_t)entries[i].modified;
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", localtime(&when));
        total += entries[i].bytes;
        json_array_append_new(rows, json_pack("{s:s,s:s,s:I}", "key", entries[i].key, "label", entries[i].label,
                                              "bytes", (json_int_t)entries[i].bytes));
        if (!json) printf("%.12s  %s  %8" PRId64 "  %s\n", entries[i].key, day, entries[i].bytes, entries[i].label);
    }
    free(entries);
    if (json)
        return hpt_json_print(
            json_pack("{s:s,s:I,s:o}", "folder", hpt_cache_folder(cache), "bytes", (json_int_t)total, "entries", rows),
            error);
    json_decref(rows);
    printf("%zu kernels, %" PRId64 " bytes in %s\n", count, total, hpt_cache_folder(cache));
    return HPT_OK;
}

static hpt_status clear(const hpt_cache *cache, bool json, hpt_error *error) {
    size_t removed;
    hpt_status status = hpt_cache_remove_all(&removed, cache, error);
    if (status != HPT_OK) return status;
    if (json) return hpt_json_print(json_pack("{s:I}", "removed", (json_int_t)removed), error);
    printf("removed %zu kernels from %s\n", removed, hpt_cache_folder(cache));
    return HPT_OK;
}

hpt_status hpt_command_cache(int argc, char **argv, hpt_error *error) {
    bool json = false, helped;
    int first;
    const hpt_option options[] = {{"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "cache",
        "list|clear [--json]",
        "Lists or removes the compiled kernels on disk (HEPTANE_CACHE, else ~/.cache/heptane). What heptane tune "
        "remembers "
        "stays.",
        "heptane cache list     what is there, newest first\nheptane cache clear    remove all of it",
        1,
        1,
        options,
        HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    bool listing = strcmp(argv[first], "list") == 0;
    if (!listing && strcmp(argv[first], "clear") != 0)
        return hpt_error_set(error, HPT_USAGE, argv[first], "The cache can be listed or cleared: list or clear.");
    hpt_cache *cache = hpt_cache_open(NULL);
    if (!cache) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    if (hpt_cache_problem(cache)[0]) fprintf(stderr, "heptane cache: note: %s\n", hpt_cache_problem(cache));
    status = listing ? list(cache, json, error) : clear(cache, json, error);
    hpt_cache_close(cache);
    return status;
}
