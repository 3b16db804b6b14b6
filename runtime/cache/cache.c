#include "cache/cache.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "heptane-cache/1"
static const char suffix[] = ".hptc";
enum { HEADER_LIMIT = 1024, ENTRY_LIMIT = 256 * 1024 * 1024 };

struct hpt_cache {
    char folder[PATH_MAX];
    char problem[PATH_MAX + 256];
};

static bool find_folder(char *out, size_t room, const char *folder) {
    const char *own = getenv("HEPTANE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (folder)
        length = snprintf(out, room, "%s", folder);
    else if (own && *own)
        length = snprintf(out, room, "%s", own);
    else if (xdg && *xdg == '/')
        length = snprintf(out, room, "%s/heptane", xdg);
    else {
        const struct passwd *user = home && *home ? NULL : getpwuid(getuid());
        if (user) home = user->pw_dir;
        if (!home || !*home) return false;
        length = snprintf(out, room, "%s/.cache/heptane", home);
    }
    return length > 0 && (size_t)length < room;
}

/* A new folder is private whatever the umask says. */
static hpt_status create_folder(const char *folder, hpt_error *error) {
    struct stat info;
    bool new_folder = stat(folder, &info) != 0 && errno == ENOENT;
    hpt_status status = hpt_folder_create(folder, error);
    if (status == HPT_OK && new_folder) chmod(folder, 0700);
    return status;
}

static void examine(hpt_cache *c) {
    hpt_error error = {0};
    struct stat info;
    if (strcmp(c->folder, "off") == 0) {
        snprintf(c->problem, sizeof c->problem, "The cache is switched off (HEPTANE_CACHE=off).");
    } else if (create_folder(c->folder, &error) != HPT_OK) {
        snprintf(c->problem, sizeof c->problem, "%s: %s", error.where, error.message);
    } else if (stat(c->folder, &info) != 0 || access(c->folder, W_OK | X_OK) != 0) {
        snprintf(c->problem, sizeof c->problem, "The cache folder %s cannot be written: %s.", c->folder,
                 strerror(errno));
    } else if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(c->problem, sizeof c->problem,
                 "Others can write to the cache folder %s, so kernels in it cannot be trusted (chmod go-w).",
                 c->folder);
    } else if (info.st_uid != geteuid()) {
        snprintf(c->problem, sizeof c->problem, "The cache folder %s belongs to another user.", c->folder);
    }
}

hpt_cache *hpt_cache_open(const char *folder) {
    hpt_cache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    if (find_folder(c->folder, sizeof c->folder, folder))
        examine(c);
    else
        snprintf(c->problem, sizeof c->problem, "There is no home folder for the cache; set HEPTANE_CACHE.");
    return c;
}

void hpt_cache_close(hpt_cache *cache) { free(cache); }
const char *hpt_cache_folder(const hpt_cache *cache) { return cache->folder; }
const char *hpt_cache_problem(const hpt_cache *cache) { return cache->problem; }

void hpt_cache_key(char out[HPT_HASH_LENGTH], const char *source, const char *target, const char *const *options,
                   size_t option_count, int nvrtc_version) {
    hpt_text text = {0};
    hpt_text_printf(&text, "%s\nnvrtc %d\ntarget %s\n", MAGIC, nvrtc_version, target);
    for (size_t i = 0; i < option_count; i++) hpt_text_printf(&text, "option %s\n", options[i]);
    hpt_text_printf(&text, "source %zu\n", strlen(source));
    hpt_text_puts(&text, source);
    if (text.failed)
        out[0] = '\0'; /* no key: get and put then do nothing */
    else
        hpt_sha256_hex(out, text.data, text.length);
    hpt_text_clear(&text);
}

static bool entry_path(char *out, size_t room, const hpt_cache *cache, const char *key) {
    if (cache->problem[0] || !key[0]) return false;
    int length = snprintf(out, room, "%s/%s%s", cache->folder, key, suffix);
    return length > 0 && (size_t)length < room;
}

/* An entry: two header lines (magic, checksum of the rest; sizes, figures and label), then cubin, PTX and log. */
static bool take(char **out, size_t *length, const char **at, const char *end, size_t count) {
    if ((size_t)(end - *at) < count || !(*out = malloc(count + 1))) return false;
    memcpy(*out, *at, count);
    (*out)[count] = '\0';
    *length = count;
    *at += count;
    return true;
}

static bool decode(hpt_build *out, const char *bytes, size_t length) {
    char checksum[HPT_HASH_LENGTH], actual[HPT_HASH_LENGTH];
    int header = 0, sizes = 0;
    if (sscanf(bytes, MAGIC " %64[0-9a-f]%n", checksum, &header) != 1 || (size_t)header >= length ||
        bytes[header] != '\n')
        return false;
    const char *body = bytes + header + 1, *end = bytes + length;
    hpt_sha256_hex(actual, body, (size_t)(end - body));
    if (strcmp(actual, checksum) != 0) return false;
    size_t cubin, ptx, log;
    hpt_build b = {.origin = "cache"};
    if (sscanf(body, "%zu %zu %zu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "%n", &cubin, &ptx, &log, &b.registers,
               &b.spill_stores, &b.spill_loads, &b.nvrtc, &sizes) != 7)
        return false;
    const char *at = memchr(body, '\n', (size_t)(end - body));
    if (!at) return false;
    at++;
    if (take(&b.cubin, &b.cubin_length, &at, end, cubin) && take(&b.ptx, &b.ptx_length, &at, end, ptx) &&
        take(&b.log, &b.log_length, &at, end, log) && at == end) {
        *out = b;
        return true;
    }
    hpt_build_clear(&b);
    return false;
}

bool hpt_cache_get(hpt_cache *cache, const char *key, hpt_build *out) {
    char path[PATH_MAX], *bytes;
    size_t length;
    if (!entry_path(path, sizeof path, cache, key)) return false;
    if (hpt_file_read(&bytes, &length, path, ENTRY_LIMIT, NULL) != HPT_OK) return false;
    bool good = decode(out, bytes, length);
    free(bytes);
    if (!good) unlink(path);
    return good;
}

bool hpt_cache_put(hpt_cache *cache, const char *key, const char *label, const hpt_build *b) {
    char path[PATH_MAX], checksum[HPT_HASH_LENGTH];
    if (!entry_path(path, sizeof path, cache, key)) return false;
    hpt_text body = {0}, file = {0};
    hpt_text_printf(&body, "%zu %zu %zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.*s\n", b->cubin_length,
                    b->ptx_length, b->log_length, b->registers, b->spill_stores, b->spill_loads, b->nvrtc,
                    (int)strcspn(label, "\n"), label);
    hpt_text_add(&body, b->cubin, b->cubin_length);
    hpt_text_add(&body, b->ptx, b->ptx_length);
    hpt_text_add(&body, b->log, b->log_length);
    bool good = !body.failed;
    if (good) {
        hpt_sha256_hex(checksum, body.data, body.length);
        hpt_text_printf(&file, MAGIC " %s\n", checksum);
        hpt_text_add(&file, body.data, body.length);
        good = !file.failed && hpt_file_write(path, file.data, file.length, NULL) == HPT_OK;
    }
    hpt_text_clear(&body);
    hpt_text_clear(&file);
    return good;
}

/* ---- listing ---- */
static bool is_entry(const char *name) {
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return length == 64 + tail && strcmp(name + 64, suffix) == 0 && strspn(name, "0123456789abcdef") == 64;
}

static void read_label(hpt_cache_entry *entry, const char *path) {
    char line[HEADER_LIMIT];
    FILE *file = fopen(path, "rb");
    if (!file) return;
    if (fgets(line, sizeof line, file) && fgets(line, sizeof line, file)) {
        const char *at = line;
        for (int i = 0; i < 7 && at; i++) at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
        if (at) snprintf(entry->label, sizeof entry->label, "%.*s", (int)strcspn(at, "\n"), at);
    }
    fclose(file);
}

static int newest_first(const void *a, const void *b) {
    const hpt_cache_entry *x = a, *y = b;
    if (x->modified != y->modified) return x->modified < y->modified ? 1 : -1;
    return strcmp(x->key, y->key);
}

hpt_status hpt_cache_list(hpt_cache_entry **out, size_t *count, const hpt_cache *cache, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cache_entry *entries = NULL;
    size_t used = 0, room = 0;
    DIR *folder = opendir(cache->folder);
    *out = NULL;
    *count = 0;
    if (!folder && errno == ENOENT) return HPT_OK;
    HPT_FAIL_IF(!folder, HPT_IO, cache->folder, "Cannot read the cache folder: %s.", strerror(errno));
    for (struct dirent *item; (item = readdir(folder));) {
        if (!is_entry(item->d_name)) continue;
        if (used == room) {
            room = room ? 2 * room : 64;
            hpt_cache_entry *grown = realloc(entries, room * sizeof *grown);
            HPT_FAIL_NO_MEMORY(grown);
            entries = grown;
        }
        char path[PATH_MAX + 300];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", cache->folder, item->d_name);
        if (stat(path, &info) != 0) continue;
        hpt_cache_entry *entry = &entries[used++];
        *entry = (hpt_cache_entry){.bytes = info.st_size, .modified = info.st_mtime};
        snprintf(entry->key, sizeof entry->key, "%.64s", item->d_name);
        read_label(entry, path);
    }
    if (used) qsort(entries, used, sizeof *entries, newest_first);
    *out = entries;
    *count = used;
    entries = NULL;
done:
    if (folder) closedir(folder);
    free(entries);
    return status;
}

hpt_status hpt_cache_remove_all(size_t *removed, const hpt_cache *cache, hpt_error *error) {
    hpt_cache_entry *entries;
    size_t count;
    *removed = 0;
    hpt_status status = hpt_cache_list(&entries, &count, cache, error);
    for (size_t i = 0; i < count && status == HPT_OK; i++) {
        char path[PATH_MAX + 80];
        snprintf(path, sizeof path, "%s/%s%s", cache->folder, entries[i].key, suffix);
        if (unlink(path) == 0)
            ++*removed;
        else if (errno != ENOENT)
            status = hpt_error_set(error, HPT_IO, path, "Cannot remove it: %s.", strerror(errno));
    }
    free(entries);
    return status;
}
