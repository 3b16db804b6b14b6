#include "launch/launch.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hpt_target_fits(const char *target, const char *device) {
    if (strcmp(target, device) == 0) return true;
    int code = 0, own = 0;
    char kind = 0;
    if (sscanf(target, "sm_%d%c", &code, &kind) != 2 || kind != 'f' || sscanf(device, "sm_%d", &own) != 1) return false;
    return code / 10 == own / 10 && code <= own; /* a family: same major, same or later minor */
}

/* Opens NVRTC once per context. */
static hpt_status nvrtc_of(const hpt_nvrtc **out, hpt_context *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    pthread_mutex_lock(&c->lock);
    if (!c->nvrtc) status = hpt_nvrtc_open(&c->nvrtc, error);
    *out = c->nvrtc;
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* A file that `heptane compile` left, if it belongs to this source (or there is no source to compare with). */
static bool take_ahead_of_time(hpt_build *out, const hpt_context *c, const hpt_manifest *m, const char *source_hash) {
    char path[PATH_MAX];
    hpt_build b = {.origin = "package", .registers = -1};
    snprintf(path, sizeof path, "%s/kernel.%s.json", m->folder, m->target);
    json_t *stamp = json_load_file(path, 0, NULL);
    const char *made_from = json_string_value(json_object_get(stamp, "source"));
    bool fits = made_from && (!source_hash[0] || strcmp(made_from, source_hash) == 0);
    if (fits) {
        b.registers = json_integer_value(json_object_get(stamp, "registers"));
        b.spill_stores = json_integer_value(json_object_get(stamp, "spill_stores"));
        b.spill_loads = json_integer_value(json_object_get(stamp, "spill_loads"));
        b.nvrtc = json_integer_value(json_object_get(stamp, "nvrtc"));
        snprintf(path, sizeof path, "%s/kernel.%s.%s", m->folder, m->target, c->backend->wants_ptx ? "ptx" : "cubin");
        fits = hpt_file_read(c->backend->wants_ptx ? &b.ptx : &b.cubin,
                             c->backend->wants_ptx ? &b.ptx_length : &b.cubin_length, path, HPT_PACKAGE_LIMIT,
                             NULL) == HPT_OK;
    }
    json_decref(stamp);
    if (fits) *out = b;
    return fits;
}

hpt_status hpt_jit_build(hpt_build *out, char source_hash[HPT_HASH_LENGTH], hpt_context *c, const hpt_manifest *m,
                         hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX], key[HPT_HASH_LENGTH], label[256];
    char *source = NULL;
    size_t length = 0;
    const hpt_nvrtc *nvrtc;
    source_hash[0] = '\0';
    snprintf(path, sizeof path, "%s/kernel.cu", m->folder);
    status = hpt_file_read(&source, &length, path, HPT_PACKAGE_LIMIT, error);
    if (status == HPT_OK) hpt_sha256_hex(source_hash, source, length);
    if (take_ahead_of_time(out, c, m, source_hash)) {
        status = HPT_OK;
        goto done;
    }
    HPT_TRY(status);
    HPT_FAIL_IF(strlen(source) != length, HPT_MALFORMED, path, "The source holds a zero byte.");
    HPT_TRY(nvrtc_of(&nvrtc, c, error));
    hpt_cache_key(key, source, m->target, m->nvrtc, m->nvrtc_count, hpt_nvrtc_version(nvrtc));
    if (hpt_cache_get(c->cache, key, out)) goto done;
    snprintf(label, sizeof label, "%.80s %.20s %.80s", m->symbol, m->target, m->scheme);
    HPT_TRY(hpt_nvrtc_compile(out, nvrtc, source, m->symbol, m->target, m->nvrtc, m->nvrtc_count, error));
    hpt_cache_put(c->cache, key, label, out); /* without a cache it is only slower */
done:
    free(source);
    return status;
}
