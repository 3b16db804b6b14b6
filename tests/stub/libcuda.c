/* A CUDA driver without a GPU, for tests of the code that calls one: memory is host memory, kernels do nothing, events
 * tell the host's time, and every launch is checked as far as its fields go. STUB_FAIL=NAME makes that driver call fail
 * with error 999, STUB_TARGET=10.0 changes the compute capability, STUB_DRIVER=12040 the driver's version. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct {
        int id, pad;
        unsigned value[16];
    } * attributes;
    unsigned count;
} config;

enum { CONTEXTS = 8 };
static _Thread_local void *stack[CONTEXTS];
static _Thread_local int depth;
static int primary;

static int fails(const char *name) {
    const char *wanted = getenv("STUB_FAIL");
    return wanted && strcmp(wanted, name) == 0 ? 999 : 0;
}
#define FAIL(name)                                                                                                     \
    if (fails(#name)) return fails(#name)
#define NEED_CONTEXT                                                                                                   \
    if (depth == 0) return 201

int cuInit(unsigned flags) {
    FAIL(cuInit);
    return flags == 0 ? 0 : 1;
}
int cuDriverGetVersion(int *version) {
    const char *wanted = getenv("STUB_DRIVER");
    *version = wanted ? atoi(wanted) : 13000;
    return 0;
}
int cuGetErrorName(int error, const char **name) {
    *name = error == 201 ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_STUB";
    return 0;
}
int cuGetErrorString(int error, const char **text) {
    (void)error;
    *text = "the stub was told to fail";
    return 0;
}
int cuDeviceGetCount(int *count) {
    *count = getenv("STUB_NONE") ? 0 : 1;
    return 0;
}
int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}
int cuDeviceGetName(char *name, int length, int device) {
    (void)device;
    snprintf(name, (size_t)length, "Stub GPU");
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    const char *target = getenv("STUB_TARGET");
    (void)device;
    switch (attribute) {
    case 13:
        *value = 1980000;
        break;
    case 16:
        *value = 132;
        break;
    case 75:
        *value = target ? atoi(target) : 9;
        break;
    case 76:
        *value = target && strchr(target, '.') ? atoi(strchr(target, '.') + 1) : 0;
        break;
    case 97:
        *value = 232448;
        break;
    default:
        return 1;
    }
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)141 << 30;
    return 0;
}
int cuDeviceGetPCIBusId(char *bus, int length, int device) {
    (void)device;
    snprintf(bus, (size_t)length, "0000:00:00.0");
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = &primary;
    primary++;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    return --primary < 0 ? 201 : 0;
}
int cuCtxGetCurrent(void **context) {
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}
int cuCtxPushCurrent_v2(void *context) {
    if (!context || depth == CONTEXTS) return 1;
    stack[depth++] = context;
    return 0;
}
int cuCtxPopCurrent_v2(void **context) {
    NEED_CONTEXT;
    *context = stack[--depth];
    return 0;
}
int cuMemAlloc_v2(uint64_t *out, size_t bytes) {
    NEED_CONTEXT;
    FAIL(cuMemAlloc);
    if (bytes == 0) return 1;
    void *memory = aligned_alloc(512, (bytes + 511) / 512 * 512);
    *out = (uint64_t)(uintptr_t)memory;
    return memory ? 0 : 2;
}
int cuMemFree_v2(uint64_t address) {
    NEED_CONTEXT;
    free((void *)(uintptr_t)address);
    return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    NEED_CONTEXT;
    FAIL(cuMemcpyHtoD);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    NEED_CONTEXT;
    FAIL(cuMemcpyDtoH);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    NEED_CONTEXT;
    return to && from && bytes ? 0 : 1;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream) {
    (void)stream;
    NEED_CONTEXT;
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}
int cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count, int *more,
                      void **rest, unsigned last) {
    (void)options, (void)values, (void)count, (void)more, (void)rest, (void)last;
    NEED_CONTEXT;
    FAIL(cuLibraryLoadData);
    if (memcmp(image,
               "\x7f"
               "ELF",
               4) != 0)
        return strstr(image, ".version") ? 222 : 200;
    *library = malloc(1);
    return 0;
}
int cuLibraryUnload(void *library) {
    free(library);
    return 0;
}
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    (void)library;
    FAIL(cuLibraryGetKernel);
    *kernel = (void *)(uintptr_t)1;
    return name && *name ? 0 : 500;
}
int cuKernelGetFunction(void **function, void *kernel) {
    NEED_CONTEXT;
    *function = kernel;
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)attribute, (void)function;
    *value = 0;
    return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    if (attribute == 8 && value > 232448) return 1;
    return attribute == 8 || attribute == 14 ? 0 : 1;
}
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int l2, int fill) {
    FAIL(cuTensorMapEncodeTiled);
    if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5 || interleave || fill) return 1;
    if (type < 0 || type > 12 || swizzle < 0 || swizzle > 3 || l2 < 0 || l2 > 3) return 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (!dims[i] || !box[i] || box[i] > 256 || element_strides[i] != 1) return 1;
        if (i + 1 < rank && (strides[i] % 16 || strides[i] >> 40)) return 1;
    }
    memset(map, 1, 128);
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    (void)function;
    *blocks = threads <= 1024 && shared <= 232448 ? 1 : 0;
    return 0;
}

static int check(const config *c) {
    unsigned cluster = 1;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->attributes[i].id == 4) {
            for (int d = 0; d < 3; d++) {
                if (!c->attributes[i].value[d] || c->grid[d] % c->attributes[i].value[d]) return 1;
                cluster *= c->attributes[i].value[d];
            }
        } else if (c->attributes[i].id != 6 || c->attributes[i].value[0] != 1) {
            return 1;
        }
    }
    if (!c->grid[0] || !c->grid[1] || !c->grid[2] || cluster > 16 || c->shared > 232448) return 1;
    return c->block[0] * c->block[1] * c->block[2] > 1024 ? 1 : 0;
}

int cuOccupancyMaxActiveClusters(int *clusters, void *function, const config *c) {
    (void)function;
    if (check(c)) return 1;
    *clusters = 66;
    return 0;
}
int cuLaunchKernelEx(const config *c, void *function, void **arguments, void **extra) {
    NEED_CONTEXT;
    FAIL(cuLaunchKernelEx);
    return !function || !arguments || extra ? 1 : check(c);
}
int cuStreamCreate(void **stream, unsigned flags) {
    NEED_CONTEXT;
    *stream = malloc(1);
    return flags <= 1 ? 0 : 1;
}
int cuStreamDestroy_v2(void *stream) {
    free(stream);
    return 0;
}
int cuStreamSynchronize(void *stream) {
    (void)stream;
    NEED_CONTEXT;
    FAIL(cuStreamSynchronize);
    return 0;
}
int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    NEED_CONTEXT;
    *event = calloc(1, sizeof(struct timespec));
    return *event ? 0 : 2;
}
int cuEventRecord(void *event, void *stream) {
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, event);
    return 0;
}
int cuEventSynchronize(void *event) { return event ? 0 : 400; }
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
    const struct timespec *a = from, *b = to;
    *milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6) + 1e-3f;
    return 0;
}
int cuEventDestroy_v2(void *event) {
    free(event);
    return 0;
}
