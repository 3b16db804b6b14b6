#include "tune/tuned.h"
#include "tune/width.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "heptane-tuned/1"
enum { FEW_ROWS = 16 }; /* one width serves them all; classes are finer only so that tuning tells them apart */

int64_t hpt_tuned_class(int64_t m) {
    int64_t class = 1;
    if (m > FEW_ROWS && m <= HPT_WIDTH_ROWS) return hpt_width_rows(m);
    while (class < m && class < (int64_t)1 << 62) class *= 2;
    return class >= 4 && m <= class / 4 * 3 ? class / 4 * 3 : class;
}

void hpt_tuned_path(char *out, size_t room, const hpt_cache *cache) {
    snprintf(out, room, "%s/tuned.json", hpt_cache_folder(cache));
}

/* A fresh document if the file is not there or damaged, which `where` then tells. */
static json_t *load(const hpt_cache *cache, json_error_t *where) {
    char path[PATH_MAX + 16];
    hpt_tuned_path(path, sizeof path, cache);
    where->text[0] = '\0';
    json_t *root = hpt_cache_problem(cache)[0] || access(path, F_OK) != 0 ? NULL : json_load_file(path, 0, where);
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format && strcmp(format, FORMAT) == 0 && json_is_object(json_object_get(root, "choices"))) return root;
    if (root) snprintf(where->text, sizeof where->text, "it is no %s", FORMAT);
    json_decref(root);
    return json_pack("{s:s,s:{}}", "format", FORMAT, "choices");
}

static void key_text(hpt_text *out, const hpt_tuned_key *key) {
    hpt_text_printf(out, "%s; %s; driver %d; %s; %s; %" PRId64 "x%" PRId64 "x%" PRId64, key->device, key->target,
                    key->driver, key->op, key->types, hpt_tuned_class(key->m), key->n, key->k);
}

/* A layer asks once for each class, a model has many layers: the document is read again only when its file has
 * changed. */
static struct {
    pthread_mutex_t lock;
    char path[PATH_MAX + 16];
    struct stat file;
    json_t *root;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Under the lock. NULL: there is no file. */
static const json_t *last_document(const hpt_cache *cache) {
    char path[PATH_MAX + 16];
    struct stat file;
    json_error_t damaged;
    hpt_tuned_path(path, sizeof path, cache);
    if (hpt_cache_problem(cache)[0] || stat(path, &file) != 0) return NULL;
    if (last.root && strcmp(path, last.path) == 0 && same_file(&file, &last.file)) return last.root;
    json_decref(last.root);
    last.root = load(cache, &damaged);
    last.file = file;
    snprintf(last.path, sizeof last.path, "%s", path);
    return last.root;
}

bool hpt_tuned_find(hpt_tuned_choice *out, const hpt_cache *cache, const hpt_tuned_key *key) {
    hpt_text name = {0};
    key_text(&name, key);
    pthread_mutex_lock(&last.lock);
    const json_t *root = last_document(cache);
    const json_t *item = name.failed ? NULL : json_object_get(json_object_get(root, "choices"), name.data);
    const char *scheme = json_string_value(json_object_get(item, "scheme"));
    const char *plan = json_string_value(json_object_get(item, "plan"));
    const char *settings = json_string_value(json_object_get(item, "settings"));
    bool found = scheme && plan && settings && strlen(scheme) < HPT_TUNED_TEXT && strlen(plan) < HPT_TUNED_TEXT &&
                 strlen(settings) < HPT_TUNED_TEXT;
    if (found) {
        *out = (hpt_tuned_choice){.unchained = json_is_true(json_object_get(item, "unchained")),
                                  .ms = json_number_value(json_object_get(item, "ms")),
                                  .trivial_ms = json_number_value(json_object_get(item, "trivial_ms"))};
        snprintf(out->scheme, sizeof out->scheme, "%s", scheme);
        snprintf(out->plan, sizeof out->plan, "%s", plan);
        snprintf(out->settings, sizeof out->settings, "%s", settings);
    }
    pthread_mutex_unlock(&last.lock);
    hpt_text_clear(&name);
    return found;
}

/* The document if it is sound: to be read by people, or added to. */
static hpt_status load_sound(json_t **out, const hpt_cache *cache, hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX + 16];
    json_error_t damaged;
    *out = NULL;
    HPT_FAIL_IF(hpt_cache_problem(cache)[0], HPT_IO, hpt_cache_folder(cache), "Choices cannot be kept. %s",
                hpt_cache_problem(cache));
    HPT_FAIL_NO_MEMORY(*out = load(cache, &damaged));
    hpt_tuned_path(path, sizeof path, cache);
    HPT_FAIL_IF(damaged.text[0], HPT_MALFORMED, path,
                "Choices cannot be kept: the file is damaged (%s). Mend it or move it away.", damaged.text);
done:
    return status;
}

hpt_status hpt_tuned_choices(json_t **out, const hpt_cache *cache, hpt_error *error) {
    json_t *root;
    hpt_status status = load_sound(&root, cache, error);
    *out = status == HPT_OK ? json_incref(json_object_get(root, "choices")) : NULL;
    json_decref(root);
    return status;
}

hpt_status hpt_tuned_forget(bool *was, const hpt_cache *cache, hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX + 16];
    *was = false;
    HPT_FAIL_IF(hpt_cache_problem(cache)[0], HPT_IO, hpt_cache_folder(cache), "No choices are kept. %s",
                hpt_cache_problem(cache));
    hpt_tuned_path(path, sizeof path, cache);
    *was = unlink(path) == 0;
    HPT_FAIL_IF(!*was && errno != ENOENT, HPT_IO, path, "Cannot remove it: %s.", strerror(errno));
done:
    return status;
}

hpt_status hpt_tuned_ready(const hpt_cache *cache, hpt_error *error) {
    json_t *root;
    hpt_status status = load_sound(&root, cache, error);
    json_decref(root);
    return status;
}

hpt_status hpt_tuned_store(const hpt_cache *cache, const hpt_tuned_key *key, const hpt_tuned_choice *choice,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX + 16], *text = NULL;
    hpt_text name = {0};
    json_t *root;
    HPT_TRY(load_sound(&root, cache, error));
    hpt_tuned_path(path, sizeof path, cache);
    key_text(&name, key);
    json_t *item =
        json_pack("{s:s,s:s,s:s,s:b,s:f,s:f}", "scheme", choice->scheme, "plan", choice->plan, "settings",
                  choice->settings, "unchained", choice->unchained, "ms", choice->ms, "trivial_ms", choice->trivial_ms);
    HPT_FAIL_IF(name.failed || !item || json_object_set_new(json_object_get(root, "choices"), name.data, item) != 0,
                HPT_NO_MEMORY, "tuned.json", "Out of memory.");
    HPT_FAIL_NO_MEMORY(text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS));
    HPT_TRY(hpt_file_write(path, text, strlen(text), error));
done:
    free(text);
    hpt_text_clear(&name);
    json_decref(root);
    return status;
}
