#include "launch/launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const preference[] = {"gpu", "emulator"};

static hpt_status open_backend(hpt_context *c, const char *name, int device, const char *target, hpt_error *error) {
    const hpt_backend *backend = hpt_backend_find(name);
    if (!backend)
        return hpt_error_set(error, HPT_USAGE, "backend", "There is no backend \"%s\" (auto, gpu, emulator).", name);
    hpt_status status = backend->open(&c->device, device, target, error);
    if (status != HPT_OK) return status;
    c->backend = backend;
    backend->info(c->device, &c->info);
    if (!target || hpt_target_fits(target, c->info.target)) return HPT_OK;
    status = hpt_error_set(error, HPT_NO_DEVICE, name, "Code for %s does not run on this device (%s, %s).", target,
                           c->info.name, c->info.target);
    backend->close(c->device);
    c->device = NULL;
    return status;
}

/* auto: the first backend that works; where none does, the GPU's reason is the interesting one. */
static hpt_status open_first(hpt_context *c, int device, const char *target, hpt_error *error) {
    hpt_error first = {0};
    for (size_t i = 0; i < HPT_COUNT(preference); i++) {
        hpt_error reason = {0};
        if (!hpt_backend_find(preference[i])) continue;
        if (open_backend(c, preference[i], device, target, &reason) == HPT_OK) return HPT_OK;
        if (first.code == HPT_OK) first = reason;
    }
    if (error) *error = first;
    return first.code;
}

hpt_status hpt_context_open(hpt_context **out, const char *backend, int device, const char *target, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *c = calloc(1, sizeof *c);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(c);
    pthread_mutex_init(&c->lock, NULL);
    if (!backend || strcmp(backend, "auto") == 0)
        HPT_TRY(open_first(c, device, target, error));
    else
        HPT_TRY(open_backend(c, backend, device, target, error));
    HPT_FAIL_NO_MEMORY(c->cache = hpt_cache_open(NULL));
    *out = c;
    c = NULL;
done:
    hpt_context_close(c);
    return status;
}

void hpt_context_close(hpt_context *context) {
    if (!context) return;
    if (context->device) context->backend->close(context->device);
    hpt_cache_close(context->cache);
    hpt_nvrtc_close(context->nvrtc);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

const char *hpt_version(void) { return HPT_VERSION; }

void hpt_context_describe(const hpt_context *context, hpt_context_info *out) {
    *out = (hpt_context_info){context->backend->name, context->info.name, context->info.target, context->info.sms,
                              context->info.memory_bytes};
}

hpt_status hpt_device_alloc(hpt_context *c, uint64_t *out, size_t bytes, hpt_error *error) {
    return c->backend->alloc(c->device, out, bytes, error);
}

void hpt_device_free(hpt_context *c, uint64_t address) {
    if (address) c->backend->release(c->device, address);
}

hpt_status hpt_device_upload(hpt_context *c, uint64_t to, const void *from, size_t bytes, hpt_error *error) {
    return c->backend->upload(c->device, to, from, bytes, error);
}

hpt_status hpt_device_download(hpt_context *c, void *to, uint64_t from, size_t bytes, hpt_error *error) {
    return c->backend->download(c->device, to, from, bytes, error);
}

hpt_status hpt_device_fill(hpt_context *c, uint64_t to, int byte, size_t bytes, void *stream, hpt_error *error) {
    return c->backend->fill(c->device, to, byte, bytes, stream, error);
}

hpt_status hpt_device_synchronize(hpt_context *c, void *stream, hpt_error *error) {
    return c->backend->synchronize(c->device, stream, error);
}
