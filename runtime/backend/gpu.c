/* The CUDA driver as a backend. Every function makes the device's primary context current for its own duration only, so
 * the caller's context is never changed. */
#include "backend/backend.h"
#include "backend/driver.h"
#include "jit/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* values of cuda.h */
       ATTRIBUTE_CLOCK = 13,
       ATTRIBUTE_SMS = 16,
       ATTRIBUTE_MAJOR = 75,
       ATTRIBUTE_MINOR = 76,
       ATTRIBUTE_SHARED_OPTIN = 97,
       FUNCTION_SHARED = 1,
       FUNCTION_MAX_DYNAMIC_SHARED = 8,
       FUNCTION_NON_PORTABLE_CLUSTER = 14,
       LAUNCH_CLUSTER = 4,
       LAUNCH_OVERLAP = 6,
       EVENT_DEFAULT = 0,
       NO_BINARY_FOR_GPU = 209,
       UNSUPPORTED_PTX = 222
};

struct hpt_backend_device {
    const hpt_driver *driver;
    int device;
    void *context;
    hpt_device_info info;
    int shared_limit;
};

struct hpt_backend_module {
    hpt_backend_device *device;
    void *library, *function;
    char symbol[128];
};

#define CALL(name, ...) hpt_driver_check(d->driver, d->driver->name(__VA_ARGS__), "cu" #name, error)

static hpt_status enter(hpt_backend_device *d, hpt_error *error) { return CALL(CtxPushCurrent, d->context); }
static void leave(hpt_backend_device *d) {
    void *old;
    d->driver->CtxPopCurrent(&old);
}
/* Runs one driver call with the context current. */
#define WITHIN(name, ...)                                                                                              \
    do {                                                                                                               \
        hpt_status status_ = enter(d, error);                                                                          \
        if (status_ != HPT_OK) return status_;                                                                         \
        status_ = CALL(name, __VA_ARGS__);                                                                             \
        leave(d);                                                                                                      \
        return status_;                                                                                                \
    } while (0)

static hpt_status fill_info(hpt_backend_device *d, hpt_error *error) {
    hpt_status status = HPT_OK;
    int major = 0, minor = 0;
    size_t memory = 0;
    HPT_TRY(CALL(DeviceGetName, d->info.name, (int)sizeof d->info.name, d->device));
    HPT_TRY(CALL(DeviceGetAttribute, &d->info.sms, ATTRIBUTE_SMS, d->device));
    HPT_TRY(CALL(DeviceGetAttribute, &d->info.clock_khz, ATTRIBUTE_CLOCK, d->device));
    HPT_TRY(CALL(DeviceGetAttribute, &major, ATTRIBUTE_MAJOR, d->device));
    HPT_TRY(CALL(DeviceGetAttribute, &minor, ATTRIBUTE_MINOR, d->device));
    HPT_TRY(CALL(DeviceGetAttribute, &d->shared_limit, ATTRIBUTE_SHARED_OPTIN, d->device));
    HPT_TRY(CALL(DeviceTotalMem, &memory, d->device));
    d->info.memory_bytes = (int64_t)memory;
    const char *target = hpt_driver_target(major, minor);
    if (target[0])
        snprintf(d->info.target, sizeof d->info.target, "%s", target);
    else
        snprintf(d->info.target, sizeof d->info.target, "sm_%d%d", major % 100, minor % 10);
done:
    return status;
}

static void gpu_close(hpt_backend_device *d) {
    if (!d) return;
    if (d->context) d->driver->PrimaryCtxRelease(d->device);
    free(d);
}

static hpt_status gpu_open(hpt_backend_device **out, int ordinal, const char *target, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_driver *driver;
    hpt_backend_device *d = NULL;
    int count = 0;
    (void)target; /* a GPU is what it is; the caller compares */
    HPT_TRY(hpt_driver_open(&driver, error));
    HPT_FAIL_NO_MEMORY(d = calloc(1, sizeof *d));
    d->driver = driver;
    HPT_TRY(CALL(DeviceGetCount, &count));
    HPT_FAIL_IF(count == 0, HPT_NO_DEVICE, "gpu", "The driver sees no GPU.");
    HPT_FAIL_IF(ordinal < 0 || ordinal >= count, HPT_NO_DEVICE, "gpu", "There is no GPU %d; the driver sees %d.",
                ordinal, count);
    HPT_TRY(CALL(DeviceGet, &d->device, ordinal));
    HPT_TRY(fill_info(d, error));
    HPT_TRY(CALL(PrimaryCtxRetain, &d->context, d->device));
    *out = d;
    d = NULL;
done:
    gpu_close(d);
    return status;
}

static void gpu_info(const hpt_backend_device *d, hpt_device_info *out) { *out = d->info; }

static hpt_status gpu_alloc(hpt_backend_device *d, hpt_device_ptr *out, size_t bytes, hpt_error *error) {
    WITHIN(MemAlloc, out, bytes ? bytes : 1);
}

static void gpu_release(hpt_backend_device *d, hpt_device_ptr pointer) {
    if (!pointer || enter(d, NULL) != HPT_OK) return;
    d->driver->MemFree(pointer);
    leave(d);
}

static hpt_status gpu_upload(hpt_backend_device *d, hpt_device_ptr to, const void *from, size_t bytes,
                             hpt_error *error) {
    WITHIN(MemcpyHtoD, to, from, bytes);
}

static hpt_status gpu_download(hpt_backend_device *d, void *to, hpt_device_ptr from, size_t bytes, hpt_error *error) {
    WITHIN(MemcpyDtoH, to, from, bytes);
}

static hpt_status gpu_fill(hpt_backend_device *d, hpt_device_ptr to, int byte, size_t bytes, hpt_stream stream,
                           hpt_error *error) {
    WITHIN(MemsetD8Async, to, (unsigned char)byte, bytes, stream);
}

/* ---- modules ---- */
static void gpu_unload(hpt_backend_module *m) {
    if (!m) return;
    if (m->library) m->device->driver->LibraryUnload(m->library);
    free(m);
}

static hpt_status load_failed(const hpt_backend_device *d, int code, const void *image, const char *symbol,
                              hpt_error *error) {
    const char *name = NULL;
    d->driver->GetErrorName(code, &name);
    int driver_version = d->driver->version;
    int ptx = ((const char *)image)[0] == 0x7f ? 0 : hpt_ptx_version(image), needs = ptx ? hpt_ptx_needs_cuda(ptx) : 0;
    if (code == UNSUPPORTED_PTX || needs > driver_version)
        return hpt_error_set(
            error, HPT_LOAD, symbol,
            "The kernel is newer than the driver: PTX %d.%d needs a driver of CUDA %d.%d, this one is of "
            "CUDA %d.%d. Use an older NVRTC (HEPTANE_NVRTC) or a newer driver.",
            ptx / 10, ptx % 10, needs / 1000, needs % 1000 / 10, driver_version / 1000, driver_version % 1000 / 10);
    if (code == NO_BINARY_FOR_GPU)
        return hpt_error_set(error, HPT_LOAD, symbol, "The kernel was compiled for another GPU than this one (%s, %s).",
                             d->info.name, d->info.target);
    return hpt_error_set(error, HPT_LOAD, symbol, "The driver cannot load the kernel: %s (%d), driver of CUDA %d.%d.",
                         name ? name : "unknown error", code, driver_version / 1000, driver_version % 1000 / 10);
}

/* Dynamic shared memory up to the device's limit and clusters above eight are granted once, at loading. */
static hpt_status allow_resources(hpt_backend_module *m, hpt_error *error) {
    hpt_backend_device *d = m->device;
    hpt_status status = HPT_OK;
    int fixed = 0;
    HPT_TRY(CALL(FuncGetAttribute, &fixed, FUNCTION_SHARED, m->function));
    HPT_TRY(CALL(FuncSetAttribute, m->function, FUNCTION_MAX_DYNAMIC_SHARED, d->shared_limit - fixed));
    HPT_TRY(CALL(FuncSetAttribute, m->function, FUNCTION_NON_PORTABLE_CLUSTER, 1));
done:
    return status;
}

static hpt_status gpu_load(hpt_backend_device *d, hpt_backend_module **out, const void *image, size_t length,
                           const char *symbol, hpt_error *error) {
    hpt_status status = HPT_OK;
    void *kernel = NULL;
    hpt_backend_module *m = calloc(1, sizeof *m);
    bool inside = false;
    *out = NULL;
    HPT_FAIL_NO_MEMORY(m);
    HPT_FAIL_IF(length < 4, HPT_LOAD, symbol, "The compiled kernel is empty.");
    m->device = d;
    snprintf(m->symbol, sizeof m->symbol, "%s", symbol);
    HPT_TRY(enter(d, error));
    inside = true;
    int code = d->driver->LibraryLoadData(&m->library, image, NULL, NULL, 0, NULL, NULL, 0);
    if (code != 0) HPT_TRY(load_failed(d, code, image, symbol, error));
    code = d->driver->LibraryGetKernel(&kernel, m->library, symbol);
    HPT_FAIL_IF(code != 0, HPT_LOAD, symbol, "The compiled kernel has no entry of this name.");
    HPT_TRY(CALL(KernelGetFunction, &m->function, kernel));
    HPT_TRY(allow_resources(m, error));
    *out = m;
    m = NULL;
done:
    if (inside) leave(d);
    gpu_unload(m);
    return status;
}

/* ---- tensor maps ---- */
static hpt_status gpu_encode(hpt_backend_device *d, void *out128, const hpt_tensor_map *map, hpt_error *error) {
    static const int types[] = {
        [HPT_F16] = 6, [HPT_BF16] = 9, [HPT_F32] = 7, [HPT_E4M3] = 0, [HPT_E5M2] = 0, [HPT_U8] = 0, [HPT_U32] = 2};
    const uint32_t ones[5] = {1, 1, 1, 1, 1};
    int l2 = map->l2_promotion == 256 ? 3 : map->l2_promotion == 128 ? 2 : map->l2_promotion == 64 ? 1 : 0;
    _Alignas(64) unsigned char aligned[128];
    hpt_status entered = enter(d, error); /* the driver encodes nothing without a current context */
    if (entered != HPT_OK) return entered;
    int code = d->driver->TensorMapEncodeTiled(aligned, types[map->element], (uint32_t)map->rank, (void *)map->address,
                                               map->dim, map->stride + 1, map->box, ones, 0, (int)map->swizzle, l2, 0);
    leave(d);
    if (code == 0) {
        memcpy(out128, aligned, sizeof aligned);
        return HPT_OK;
    }
    hpt_text text = {0};
    hpt_text_printf(&text, "address %#llx, dims and byte strides", (unsigned long long)map->address);
    for (int i = 0; i < map->rank; i++)
        hpt_text_printf(&text, " %llu:%llu", (unsigned long long)map->dim[i],
                        (unsigned long long)(i ? map->stride[i] : 0));
    hpt_text_printf(&text, ", box");
    for (int i = 0; i < map->rank; i++) hpt_text_printf(&text, " %u", map->box[i]);
    hpt_status status =
        hpt_error_set(error, HPT_DRIVER, "cuTensorMapEncodeTiled",
                      "The driver refuses this tensor map (error %d): %s. Addresses and strides must be "
                      "multiples of 16 bytes, strides below 2^40, dims at most 2^32.",
                      code, text.failed ? "" : text.data);
    hpt_text_clear(&text);
    return status;
}

/* ---- launching ---- */
static void configure(hpt_launch_config *config, hpt_launch_attribute attributes[2], const hpt_launch *launch,
                      hpt_stream stream) {
    *config = (hpt_launch_config){.shared_bytes = launch->shared_bytes, .stream = stream, .attributes = attributes};
    memcpy(config->grid, launch->grid, sizeof config->grid);
    memcpy(config->block, launch->block, sizeof config->block);
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1) {
        hpt_launch_attribute *a = &attributes[config->attribute_count++];
        a->id = LAUNCH_CLUSTER;
        a->value.cluster.x = launch->cluster[0];
        a->value.cluster.y = launch->cluster[1];
        a->value.cluster.z = launch->cluster[2];
    }
    if (launch->overlap) {
        hpt_launch_attribute *a = &attributes[config->attribute_count++];
        a->id = LAUNCH_OVERLAP;
        a->value.allowed = 1;
    }
}

static hpt_status gpu_max_clusters(hpt_backend_module *m, const hpt_launch *launch, int *out, hpt_error *error) {
    hpt_backend_device *d = m->device;
    hpt_status status = enter(d, error);
    if (status != HPT_OK) return status;
    uint32_t size = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    if (size > 1) {
        hpt_launch_config config;
        hpt_launch_attribute attributes[2] = {{0}};
        hpt_launch shape = *launch;
        shape.overlap = false;
        for (int i = 0; i < 3; i++) shape.grid[i] = shape.cluster[i]; /* any multiple of the cluster will do */
        shape.grid[0] *= ((uint32_t)d->info.sms + size - 1) / size;
        configure(&config, attributes, &shape, NULL);
        status = CALL(OccupancyMaxActiveClusters, out, m->function, &config);
    } else {
        int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
        status = CALL(OccupancyMaxActiveBlocks, out, m->function, threads, launch->shared_bytes);
        *out *= d->info.sms;
    }
    leave(d);
    return status;
}

static hpt_status gpu_launch(hpt_backend_module *m, const hpt_launch *launch, hpt_stream stream, hpt_error *error) {
    hpt_backend_device *d = m->device;
    hpt_launch_config config;
    hpt_launch_attribute attributes[2] = {{0}};
    configure(&config, attributes, launch, stream);
    void *current = NULL;
    d->driver->CtxGetCurrent(&current);
    bool switched = current != d->context;
    if (switched) {
        hpt_status status = enter(d, error);
        if (status != HPT_OK) return status;
    }
    int code = d->driver->LaunchKernelEx(&config, m->function, (void **)launch->arguments, NULL);
    if (switched) leave(d);
    return code == 0 ? HPT_OK : hpt_driver_check(d->driver, code, m->symbol, error);
}

static hpt_status gpu_synchronize(hpt_backend_device *d, hpt_stream stream, hpt_error *error) {
    WITHIN(StreamSynchronize, stream);
}

static hpt_status gpu_event_record(hpt_backend_device *d, hpt_event *out, hpt_stream stream, hpt_error *error) {
    hpt_status status = enter(d, error);
    if (status != HPT_OK) return status;
    if (!*out) status = CALL(EventCreate, out, EVENT_DEFAULT);
    if (status == HPT_OK) status = CALL(EventRecord, *out, stream);
    leave(d);
    return status;
}

static hpt_status gpu_event_seconds(hpt_backend_device *d, double *out, hpt_event from, hpt_event to,
                                    hpt_error *error) {
    float milliseconds = 0;
    hpt_status status = enter(d, error);
    if (status != HPT_OK) return status;
    status = CALL(EventSynchronize, to);
    if (status == HPT_OK) status = CALL(EventElapsedTime, &milliseconds, from, to);
    leave(d);
    *out = milliseconds / 1000.0;
    return status;
}

static void gpu_event_release(hpt_backend_device *d, hpt_event event) {
    if (!event || enter(d, NULL) != HPT_OK) return;
    d->driver->EventDestroy(event);
    leave(d);
}

const hpt_backend hpt_backend_gpu = {
    .name = "gpu",
    .open = gpu_open,
    .close = gpu_close,
    .info = gpu_info,
    .alloc = gpu_alloc,
    .release = gpu_release,
    .upload = gpu_upload,
    .download = gpu_download,
    .fill = gpu_fill,
    .wants_ptx = false,
    .load = gpu_load,
    .unload = gpu_unload,
    .encode = gpu_encode,
    .max_clusters = gpu_max_clusters,
    .launch = gpu_launch,
    .synchronize = gpu_synchronize,
    .event_record = gpu_event_record,
    .event_seconds = gpu_event_seconds,
    .event_release = gpu_event_release,
};
