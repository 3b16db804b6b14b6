#include "tune_report.h"
#include "launch/launch.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

hpt_status hpt_tune_begin(hpt_tune_report *r, const hpt_context *context, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_FAIL_NO_MEMORY(r->rows = json_array());
    if (!r->dry) HPT_TRY(hpt_tuned_ready(context->cache, error));
done:
    return status;
}

/* ---- one size ---- */
static json_t *make_row(const hpt_tuned_key *key, const hpt_tuned_choice *choice, size_t tried) {
    json_t *row = json_pack("{s:s,s:I,s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:I}", "op", key->op, "m",
                            (json_int_t)key->m, "n", (json_int_t)key->n, "k", (json_int_t)key->k, "up_to",
                            (json_int_t)hpt_tuned_class(key->m), "types", key->types, "scheme", choice->scheme, "plan",
                            choice->plan, "settings", choice->settings, "chain", choice->unchained ? "none" : "optimal",
                            "ms", choice->ms, "trivial_ms", choice->trivial_ms, "tried", (json_int_t)tried);
    if (strcmp(key->op, "mlp") == 0) { /* what n and k are of it */
        json_object_set_new(row, "intermediate", json_integer(key->n));
        json_object_set_new(row, "hidden", json_integer(key->k));
    }
    return row;
}

/* "group=4 cut=0 unchained" */
static void print_way(const char *plan, const char *settings, bool unchained) {
    char way[2 * HPT_TUNED_TEXT + 16];
    snprintf(way, sizeof way, "%s%s%s%s", plan[0] ? plan : "default plan", settings[0] ? " " : "", settings,
             unchained ? " unchained" : "");
    printf(" %-44s", way);
}

static void print_row(const hpt_tuned_key *key, const hpt_tuned_choice *choice, size_t tried) {
    if (strcmp(key->op, "mlp") == 0)
        printf("%6lld tokens", (long long)key->m);
    else
        printf("%6lld %6lld %6lld", (long long)key->m, (long long)key->n, (long long)key->k);
    printf("  %-16s", choice->scheme);
    print_way(choice->plan, choice->settings, choice->unchained);
    printf(" %9.4f ms (trivial, default plan %.4f), %zu tried; up to %lld %s\n", choice->ms, choice->trivial_ms, tried,
           (long long)hpt_tuned_class(key->m), strcmp(key->op, "mlp") == 0 ? "tokens" : "rows");
    fflush(stdout);
}

hpt_status hpt_tune_keep(hpt_tune_report *r, const hpt_context *context, const hpt_tuned_key *key,
                         const hpt_tuned_choice *choice, size_t tried, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (!r->dry) HPT_TRY(hpt_tuned_store(context->cache, key, choice, error));
    json_array_append_new(r->rows, make_row(key, choice, tried));
    hpt_progress_end(&hpt_cli_progress);
    if (!r->json) print_row(key, choice, tried);
done:
    return status;
}

hpt_status hpt_tune_end(hpt_tune_report *r, const hpt_context *context, hpt_status so_far, hpt_error *error) {
    char path[PATH_MAX + 16];
    hpt_context_info device;
    if (!json_array_size(r->rows)) return so_far;
    hpt_tuned_path(path, sizeof path, context->cache);
    if (!r->json) {
        if (!r->dry) printf("remembered in %s\n", path);
        return so_far;
    }
    hpt_context_describe(context, &device);
    hpt_status printed = hpt_json_print(json_pack("{s:s,s:s,s:o,s:O}", "device", device.device, "target", device.target,
                                                  "file", r->dry ? json_null() : hpt_json_text(path), "rows", r->rows),
                                        error);
    return so_far == HPT_OK ? printed : so_far;
}

void hpt_tune_pass_over(const char *scheme, const hpt_error *why) {
    hpt_progress_end(&hpt_cli_progress);
    fprintf(stderr, "heptane tune: note: %s is passed over: %s%s%s\n", scheme, why->where, why->where[0] ? ": " : "",
            why->message);
}

hpt_status hpt_tune_interrupted(hpt_error *error) {
    if (!hpt_progress_interrupted(&hpt_cli_progress)) return HPT_OK;
    return hpt_error_set(error, HPT_INTERRUPTED, "", "Interrupted; earlier sizes are kept.");
}

/* ---- what is remembered ---- */
static void print_choice(const char *key, const json_t *choice) {
    const char *scheme = json_string_value(json_object_get(choice, "scheme")),
               *plan = json_string_value(json_object_get(choice, "plan")),
               *settings = json_string_value(json_object_get(choice, "settings"));
    printf("%s\n    %-16s", key, scheme ? scheme : "?");
    print_way(plan ? plan : "", settings ? settings : "", json_is_true(json_object_get(choice, "unchained")));
    printf(" %9.4f ms (trivial, default plan %.4f)\n", json_number_value(json_object_get(choice, "ms")),
           json_number_value(json_object_get(choice, "trivial_ms")));
}

static hpt_status list(const hpt_cache *cache, bool json, hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX + 16];
    json_t *choices = NULL, *choice;
    const char *key;
    hpt_tuned_path(path, sizeof path, cache);
    HPT_TRY(hpt_tuned_choices(&choices, cache, error));
    if (json) {
        status = hpt_json_print(json_pack("{s:o,s:O}", "file", hpt_json_text(path), "choices", choices), error);
        goto done;
    }
    json_object_foreach(choices, key, choice) print_choice(key, choice);
    printf("%zu choices in %s\n", json_object_size(choices), path);
done:
    json_decref(choices);
    return status;
}

static hpt_status forget(const hpt_cache *cache, bool json, hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX + 16];
    bool was;
    hpt_tuned_path(path, sizeof path, cache);
    HPT_TRY(hpt_tuned_forget(&was, cache, error));
    if (json)
        status = hpt_json_print(json_pack("{s:o,s:b}", "file", hpt_json_text(path), "removed", was), error);
    else
        printf(was ? "removed %s\n" : "nothing was remembered in %s\n", path);
done:
    return status;
}

static hpt_status with_cache(hpt_status (*what)(const hpt_cache *, bool, hpt_error *), bool json, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cache *cache = hpt_cache_open(NULL);
    HPT_FAIL_NO_MEMORY(cache);
    status = what(cache, json, error);
done:
    hpt_cache_close(cache);
    return status;
}

hpt_status hpt_tune_list(bool json, hpt_error *error) { return with_cache(list, json, error); }
hpt_status hpt_tune_forget(bool json, hpt_error *error) { return with_cache(forget, json, error); }
