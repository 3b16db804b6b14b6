/* backend.c - the emulator as a backend of the runtime (runtime/backend/backend.h). */
#include "device.h"
#include "tensor_map.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_THREADS = 1024,
    SM_THREADS = 2048,
    SM_CTAS = 32,
    SM_SHARED = 228 << 10,
    CTA_SHARED = 227 << 10,
    MAX_FINDINGS = 1024
};

struct hpt_backend_module {
    hpt_emu_device *device;
    hpt_arena *arena;
    hpt_emu_program *program;
    hpt_device_ptr *variables;
    size_t variable_count;
};

/* ---- device ---- */
static const hpt_emu_options default_options = {
    .seed = 1, .sms = 4, .threads = 1, .max_findings = 32, .patience = 20000000};

static void emu_close(hpt_backend_device *device) {
    if (!device) return;
    while (device->count) hpt_emu_free(device, device->allocations[device->count - 1]->address);
    free(device->allocations);
    free(device->findings);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* Read when a device is opened; hpt_emu_set_options has the last word. */
static void read_environment(hpt_emu_options *options) {
    const char *seed = getenv("HEPTANE_EMULATOR_SEED"), *sms = getenv("HEPTANE_EMULATOR_SMS");
    if (seed && *seed) options->seed = strtoull(seed, NULL, 10);
    long count = sms ? strtol(sms, NULL, 10) : 0;
    if (count > 0 && count <= 1024) options->sms = (int)count;
}

static hpt_status emu_open(hpt_backend_device **out, int ordinal, const char *target, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_backend_device *device = NULL;
    if (!target) target = "sm_90a";
    HPT_FAIL_IF(ordinal != 0, HPT_NO_DEVICE, "", "The emulator has one device, number 0, not %d.", ordinal);
    HPT_FAIL_IF(strncmp(target, "sm_", 3) != 0 || strlen(target) > 10, HPT_USAGE, "target",
                "The emulator cannot be \"%.40s\".", target);
    device = calloc(1, sizeof *device);
    HPT_FAIL_NO_MEMORY(device);
    pthread_mutex_init(&device->lock, NULL);
    snprintf(device->target, sizeof device->target, "%s", target);
    device->options = default_options;
    read_environment(&device->options);
    device->findings = calloc(MAX_FINDINGS, sizeof *device->findings);
    HPT_FAIL_NO_MEMORY(device->findings);
    *out = device;
    device = NULL;
done:
    emu_close(device);
    return status;
}

static void emu_info(const hpt_backend_device *device, hpt_device_info *out) {
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "Heptane emulator of %s", device->target);
    snprintf(out->target, sizeof out->target, "%s", device->target);
    out->sms = device->options.sms;
    out->memory_bytes = (int64_t)1 << 40;
}

void hpt_emu_set_options(hpt_emu_device *device, const hpt_emu_options *options) {
    device->options = *options;
    if (device->options.sms < 1) device->options.sms = 1;
    if (device->options.max_findings < 1) device->options.max_findings = 1;
    if (device->options.max_findings > MAX_FINDINGS) device->options.max_findings = MAX_FINDINGS;
}
void hpt_emu_get_options(const hpt_emu_device *device, hpt_emu_options *options) { *options = device->options; }
void hpt_emu_get_counters(const hpt_emu_device *device, hpt_emu_counters *out) { *out = device->counters; }
size_t hpt_emu_finding_count(const hpt_emu_device *device) { return device->finding_count; }
const hpt_emu_finding *hpt_emu_finding_get(const hpt_emu_device *device, size_t index) {
    return index < device->finding_count ? &device->findings[index] : NULL;
}
void hpt_emu_reset(hpt_emu_device *device) {
    memset(&device->counters, 0, sizeof device->counters);
    device->finding_count = 0;
    for (size_t k = 0; k < device->count; k++)
        memset(device->allocations[k]->landed, 0,
               (device->allocations[k]->bytes / HPT_EMU_LINE + 1) * sizeof(uint64_t));
}

/* ---- memory ---- */
static hpt_status emu_alloc(hpt_backend_device *device, hpt_device_ptr *out, size_t bytes, hpt_error *error) {
    hpt_emu_allocation *a;
    hpt_status status = hpt_emu_alloc(device, &a, bytes, error);
    if (status == HPT_OK) *out = a->address;
    return status;
}
static void emu_release(hpt_backend_device *device, hpt_device_ptr pointer) { hpt_emu_free(device, pointer); }

static hpt_status find(hpt_backend_device *device, hpt_device_ptr at, size_t bytes, uint8_t **data, uint8_t **state,
                       hpt_error *error) {
    *data = hpt_emu_global(device, at, bytes, state, NULL);
    if (*data) return HPT_OK;
    return hpt_error_set(error, HPT_USAGE, "", "%zu bytes at device address 0x%llx are not inside one allocation.",
                         bytes, (unsigned long long)at);
}
static hpt_status emu_upload(hpt_backend_device *device, hpt_device_ptr to, const void *from, size_t bytes,
                             hpt_error *error) {
    uint8_t *data, *state;
    hpt_status status = bytes ? find(device, to, bytes, &data, &state, error) : HPT_OK;
    if (status != HPT_OK || !bytes) return status;
    memcpy(data, from, bytes);
    memset(state, HPT_EMU_STATE_WRITTEN, bytes);
    return HPT_OK;
}
static hpt_status emu_download(hpt_backend_device *device, void *to, hpt_device_ptr from, size_t bytes,
                               hpt_error *error) {
    uint8_t *data, *state;
    hpt_status status = bytes ? find(device, from, bytes, &data, &state, error) : HPT_OK;
    if (status == HPT_OK && bytes) memcpy(to, data, bytes);
    return status;
}
static hpt_status emu_fill(hpt_backend_device *device, hpt_device_ptr to, int byte, size_t bytes, hpt_stream stream,
                           hpt_error *error) {
    (void)stream;
    uint8_t *data, *state;
    hpt_status status = bytes ? find(device, to, bytes, &data, &state, error) : HPT_OK;
    if (status != HPT_OK || !bytes) return status;
    memset(data, byte, bytes);
    memset(state, HPT_EMU_STATE_WRITTEN, bytes);
    return HPT_OK;
}

/* ---- modules ---- */
static void emu_unload(hpt_backend_module *module) {
    if (!module) return;
    for (size_t k = 0; k < module->variable_count; k++) hpt_emu_free(module->device, module->variables[k]);
    hpt_arena_destroy(module->arena);
    free(module);
}

static hpt_status place_variables(hpt_backend_module *module, hpt_ptx_module *ptx, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t count = 0;
    for (hpt_ptx_variable *v = ptx->variables; v; v = v->next) count++;
    module->variables = hpt_arena_alloc(module->arena, count + 1, sizeof *module->variables);
    HPT_FAIL_NO_MEMORY(module->variables);
    for (hpt_ptx_variable *v = ptx->variables; v; v = v->next) {
        if (v->space != HPT_PTX_GLOBAL && v->space != HPT_PTX_CONST) continue;
        hpt_emu_allocation *a;
        HPT_TRY(hpt_emu_alloc(module->device, &a, v->bytes, error));
        module->variables[module->variable_count++] = v->address = a->address;
        a->read_only = v->space == HPT_PTX_CONST;
        memset(a->state, HPT_EMU_STATE_WRITTEN, v->bytes);
        if (v->initial) memcpy(a->data, v->initial, v->bytes);
    }
done:
    return status;
}

/* An `a` target runs only on exactly that chip, an `f` target on its family, a plain one on anything newer. */
static bool runs_on(const char *ptx, const char *device) {
    size_t length = strlen(ptx);
    if (length < 4) return false;
    char suffix = ptx[length - 1];
    long wants = strtol(ptx + 3, NULL, 10), has = strtol(device + 3, NULL, 10);
    if (suffix == 'a') return strcmp(ptx, device) == 0;
    if (suffix == 'f') return wants / 10 == has / 10 && has >= wants;
    return has >= wants;
}

static hpt_status emu_load(hpt_backend_device *device, hpt_backend_module **out, const void *image, size_t length,
                           const char *symbol, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_ptx_module *ptx;
    hpt_backend_module *module = calloc(1, sizeof *module);
    HPT_FAIL_NO_MEMORY(module);
    module->device = device;
    module->arena = hpt_arena_create();
    HPT_FAIL_NO_MEMORY(module->arena);
    if (length && ((const char *)image)[length - 1] == '\0') length--;
    HPT_TRY(hpt_ptx_parse(&ptx, module->arena, image, length, "PTX", error));
    HPT_FAIL_IF(!runs_on(ptx->target, device->target), HPT_LOAD, "PTX", "The code is for %s, the device is %s.",
                ptx->target, device->target);
    const hpt_ptx_function *function = hpt_ptx_find(ptx, symbol);
    HPT_FAIL_IF(!function && symbol, HPT_LOAD, symbol, "There is no such entry in the PTX.");
    HPT_FAIL_IF(!function, HPT_LOAD, "PTX",
                ptx->functions ? "There are several entries: name one." : "There is no entry.");
    HPT_TRY(place_variables(module, ptx, error));
    HPT_TRY(hpt_emu_decode(&module->program, module->arena, ptx, function, "PTX", error));
    *out = module;
    module = NULL;
done:
    emu_unload(module);
    return status;
}

static hpt_status emu_encode(hpt_backend_device *device, void *out128, const hpt_tensor_map *map, hpt_error *error) {
    (void)device;
    return hpt_emu_map_encode(out128, map, error);
}

/* ---- launches ---- */
static uint32_t threads_of(const hpt_launch *launch) { return launch->block[0] * launch->block[1] * launch->block[2]; }

/* The launch as it will run: a cluster shape that the kernel demands stands for one that the launch leaves out. */
static hpt_status check_launch(hpt_backend_module *module, hpt_launch *launch, uint32_t *shared, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_ptx_function *f = module->program->function;
    uint64_t threads = 1, cluster = 1, limit = 1, grid = 1;
    bool single = launch->cluster[0] <= 1 && launch->cluster[1] <= 1 && launch->cluster[2] <= 1;
    for (int d = 0; d < 3; d++) {
        if (launch->cluster[d] == 0 || (single && f->required_cluster[0]))
            launch->cluster[d] = f->required_cluster[0] ? f->required_cluster[d] : 1;
        HPT_FAIL_IF(f->required_cluster[0] && launch->cluster[d] != f->required_cluster[d], HPT_USAGE, f->name,
                    "The kernel requires clusters of another shape.");
        HPT_FAIL_IF(launch->grid[d] == 0 || launch->block[d] == 0, HPT_USAGE, f->name,
                    "The grid and the block must not be empty.");
        HPT_FAIL_IF(launch->grid[d] % launch->cluster[d], HPT_USAGE, f->name,
                    "The grid (%u in dimension %d) is not a multiple of the cluster (%u).", launch->grid[d], d,
                    launch->cluster[d]);
        HPT_FAIL_IF(f->required_threads[0] && launch->block[d] != f->required_threads[d], HPT_USAGE, f->name,
                    "The kernel requires blocks of another shape.");
        threads *= launch->block[d];
        cluster *= launch->cluster[d];
        grid *= launch->grid[d];
        limit *= f->max_threads[0] ? f->max_threads[d] : 1;
        HPT_FAIL_IF(threads > MAX_THREADS || cluster > HPT_EMU_MAX_CTAS || grid > INT32_MAX, HPT_USAGE, f->name,
                    "Too large: %llu threads per block, %llu CTAs per cluster, %llu CTAs.", (unsigned long long)threads,
                    (unsigned long long)cluster, (unsigned long long)grid);
    }
    HPT_FAIL_IF(f->max_threads[0] && threads > limit, HPT_USAGE, f->name,
                "The kernel allows %llu threads per block, not %llu.", (unsigned long long)limit,
                (unsigned long long)threads);
    uint64_t bytes = (uint64_t)module->program->shared_static_end + launch->shared_bytes;
    HPT_FAIL_IF(bytes - HPT_EMU_RESERVED_SHARED > CTA_SHARED, HPT_USAGE, f->name,
                "The CTA needs %llu bytes of shared memory; there are %d.",
                (unsigned long long)bytes - HPT_EMU_RESERVED_SHARED, CTA_SHARED);
    *shared = (uint32_t)bytes;
done:
    return status;
}

static uint32_t resident_clusters(const hpt_backend_module *module, const hpt_launch *launch, uint32_t shared) {
    uint32_t size = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    uint32_t per_sm = SM_SHARED / shared, by_threads = SM_THREADS / threads_of(launch);
    if (by_threads < per_sm) per_sm = by_threads;
    if (SM_CTAS < per_sm) per_sm = SM_CTAS;
    uint32_t clusters = per_sm * (uint32_t)module->device->options.sms / size;
    return clusters ? clusters : 1;
}

static hpt_status emu_max_clusters(hpt_backend_module *module, const hpt_launch *launch, int *out, hpt_error *error) {
    hpt_launch checked = *launch;
    uint32_t shared;
    for (int d = 0; d < 3; d++) /* the grid may not be known yet */
        if (checked.grid[d] == 0 || (checked.cluster[d] && checked.grid[d] % checked.cluster[d]))
            checked.grid[d] = checked.cluster[d] ? checked.cluster[d] : 1;
    hpt_status status = check_launch(module, &checked, &shared, error);
    if (status == HPT_OK) *out = (int)resident_clusters(module, &checked, shared);
    return status;
}

static hpt_status gather_arguments(const hpt_ptx_function *f, const hpt_launch *launch, uint8_t *params,
                                   hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t at = 0;
    HPT_FAIL_IF(launch->argument_count != f->param_count, HPT_LIES, f->name, "The kernel has %zu parameters, not %zu.",
                f->param_count, launch->argument_count);
    for (const hpt_ptx_variable *v = f->params; v; v = v->next, at++) {
        size_t bytes = launch->argument_size ? launch->argument_size[at] : v->bytes;
        HPT_FAIL_IF(bytes != v->bytes, HPT_LIES, f->name, "Parameter %zu has %llu bytes, not %zu.", at,
                    (unsigned long long)v->bytes, bytes);
        memcpy(params + v->address, launch->arguments[at], bytes);
    }
done:
    return status;
}

static hpt_status emu_launch(hpt_backend_module *module, const hpt_launch *asked, hpt_stream stream, hpt_error *error) {
    (void)stream;
    hpt_status status = HPT_OK;
    hpt_emu_device *device = module->device;
    hpt_launch launch = *asked;
    uint32_t shared;
    uint8_t *params = calloc(module->program->function->param_bytes + 128, 1);
    HPT_FAIL_NO_MEMORY(params);
    HPT_TRY(check_launch(module, &launch, &shared, error));
    HPT_TRY(gather_arguments(module->program->function, &launch, params, error));
    hpt_emu_launch_begins(device, launch.overlap);
    size_t before = device->finding_count;
    hpt_emu_run run = {.device = device,
                       .program = module->program,
                       .launch = &launch,
                       .params = params,
                       .shared_bytes = (shared + 15) / 16 * 16,
                       .cluster_size = launch.cluster[0] * launch.cluster[1] * launch.cluster[2],
                       .seed = device->options.seed};
    uint64_t total = (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2] / run.cluster_size;
    run.cluster_count = total;
    bool ok = hpt_emu_run_launch(&run, total, resident_clusters(module, &launch, shared));
    device->waited = run.waited;
    device->settled = run.settled;
    device->triggered = run.triggered;
    HPT_FAIL_IF(!ok, HPT_NO_MEMORY, "", "Out of memory while emulating a launch.");
    if (device->finding_count > before || run.stop) {
        hpt_text text = {0};
        if (device->finding_count > before)
            hpt_emu_finding_print(&text, &device->findings[before]);
        else
            hpt_text_puts(&text, "the launch repeats faults found before");
        status = hpt_error_set(error, HPT_EMULATOR, module->program->function->name, "%s", text.data ? text.data : "");
        hpt_text_clear(&text);
    }
done:
    free(params);
    return status;
}

static hpt_status emu_synchronize(hpt_backend_device *device, hpt_stream stream, hpt_error *error) {
    (void)stream, (void)error;
    device->drained = true;
    return HPT_OK;
}

static hpt_status emu_written(hpt_backend_device *device, hpt_device_ptr address, size_t bytes, uint64_t *out,
                              hpt_error *error) {
    (void)error;
    *out = hpt_emu_landed_bytes(device, address, bytes);
    return HPT_OK;
}

/* ---- events: host time ---- */
static hpt_status emu_event_record(hpt_backend_device *device, hpt_event *out, hpt_stream stream, hpt_error *error) {
    (void)device, (void)stream;
    hpt_status status = HPT_OK;
    struct timespec *now = malloc(sizeof *now);
    HPT_FAIL_NO_MEMORY(now);
    clock_gettime(CLOCK_MONOTONIC, now);
    *out = now;
done:
    return status;
}
static hpt_status emu_event_seconds(hpt_backend_device *device, double *out, hpt_event from, hpt_event to,
                                    hpt_error *error) {
    (void)device, (void)error;
    const struct timespec *a = from, *b = to;
    *out = (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
    return HPT_OK;
}
static void emu_event_release(hpt_backend_device *device, hpt_event event) {
    (void)device;
    free(event);
}

const hpt_backend hpt_backend_emulator = {.name = "emulator",
                                          .open = emu_open,
                                          .close = emu_close,
                                          .info = emu_info,
                                          .alloc = emu_alloc,
                                          .release = emu_release,
                                          .upload = emu_upload,
                                          .download = emu_download,
                                          .fill = emu_fill,
                                          .wants_ptx = true,
                                          .load = emu_load,
                                          .unload = emu_unload,
                                          .encode = emu_encode,
                                          .max_clusters = emu_max_clusters,
                                          .launch = emu_launch,
                                          .synchronize = emu_synchronize,
                                          .event_record = emu_event_record,
                                          .event_seconds = emu_event_seconds,
                                          .event_release = emu_event_release,
                                          .written = emu_written};
