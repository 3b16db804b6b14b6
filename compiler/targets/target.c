/* target.c - the table of targets, filled on first use and kept for the life of the process */
#include "targets/target.h"
#include "emit/sandbox.h"
#include <dirent.h>
#include <heptane/emit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TARGETS = 31 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hpt_target targets[MOST_TARGETS];
static const char *names[MOST_TARGETS + 1];
static size_t target_count;
static hpt_status load_status;
static hpt_error load_error;

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hpt_status target_load(hpt_target *target, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    char module[HPT_ERROR_WHERE];
    json_t *record = NULL;
    snprintf(module, sizeof module, "targets/%s/target", name);
    HPT_TRY(hpt_sandbox_run(&record, module, NULL, error));
    const char *own = json_string_value(json_object_get(record, "name"));
    const json_int_t accumulators = json_integer_value(json_object_get(record, "accumulators"));
    HPT_FAIL_IF(!own || strcmp(own, name) != 0 || accumulators < 1 || accumulators > 8, HPT_TEMPLATE, module,
                "A target needs its folder's name as `name` and 1 to 8 `accumulators`.");
    *target = (hpt_target){own, (int32_t)accumulators, record};
    record = NULL;
done:
    json_decref(record);
    return status;
}

static void targets_load(void) {
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/targets", hpt_templates_folder());
    DIR *handle = opendir(folder);
    if (!handle) {
        load_status = hpt_error_set(&load_error, HPT_IO, folder, "There is no folder of targets.");
        return;
    }
    size_t found = 0;
    for (struct dirent *entry; (entry = readdir(handle)) && found < MOST_TARGETS;) {
        char file[1400];
        snprintf(file, sizeof file, "%s/%s/target.lua", folder, entry->d_name);
        FILE *probe = entry->d_name[0] == '.' ? NULL : fopen(file, "rb");
        if (!probe) continue;
        fclose(probe);
        if ((names[found] = strdup(entry->d_name))) found++;
    }
    closedir(handle);
    qsort(names, found, sizeof *names, compare_names);
    for (size_t i = 0; i < found && load_status == HPT_OK; i++)
        load_status = target_load(&targets[i], names[i], &load_error);
    if (load_status == HPT_OK) target_count = found;
}

hpt_status hpt_target_find(const hpt_target **out, const char *name, hpt_error *error) {
    pthread_once(&once, targets_load);
    *out = NULL;
    if (load_status != HPT_OK) return hpt_error_set(error, load_status, load_error.where, "%s", load_error.message);
    char list[256] = "";
    for (size_t i = 0; i < target_count; i++) {
        if (strcmp(targets[i].name, name) == 0) {
            *out = &targets[i];
            return HPT_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", targets[i].name);
    }
    return hpt_error_set(error, HPT_USAGE, "--target", "There is no target \"%s\"; there are %s.", name, list);
}

int32_t hpt_target_accumulators(const char *target) {
    const hpt_target *found;
    return hpt_target_find(&found, target, NULL) == HPT_OK ? found->accumulators : 0;
}

const char *const *hpt_target_names(void) {
    pthread_once(&once, targets_load);
    return names;
}
