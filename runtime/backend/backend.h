/* backend.h - what runs kernels: the CUDA driver, or the emulator. Promises:
 *   - the runtime above is the same for both; a backend is one const table of functions and one row in backends.def.
 *   - device pointers are 64-bit numbers in the backend's own address space.
 *   - a tensor map is described by fields (hpt_tensor_map); each backend encodes it into the 128 opaque bytes it wants.
 *   - launches are asynchronous on a stream for the driver, complete on return for the emulator.
 * Field meanings and limits: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA section 5.5 (tensors).
 */
#ifndef HPT_BACKEND_H
#define HPT_BACKEND_H

#include "core.h"

typedef uint64_t hpt_device_ptr;

typedef enum hpt_element { HPT_F16, HPT_BF16, HPT_F32, HPT_E4M3, HPT_E5M2, HPT_U8, HPT_U32 } hpt_element;
typedef enum hpt_swizzle { HPT_SWIZZLE_NONE, HPT_SWIZZLE_32B, HPT_SWIZZLE_64B, HPT_SWIZZLE_128B } hpt_swizzle;

typedef struct hpt_tensor_map { /* dimension 0 is contiguous */
    hpt_element element;
    int rank; /* 1 .. 5 */
    hpt_device_ptr address;
    uint64_t dim[5];
    uint64_t stride[5]; /* bytes; stride[0] is ignored */
    uint32_t box[5];
    hpt_swizzle swizzle;
    uint32_t l2_promotion; /* 0, 64, 128 or 256 bytes */
} hpt_tensor_map;

typedef struct hpt_launch {
    uint32_t grid[3], block[3], cluster[3]; /* cluster {1,1,1}: none */
    uint32_t shared_bytes;                  /* dynamic */
    bool overlap;                           /* programmatic dependent launch: may start before its predecessor ends */
    const void *const *arguments;           /* one pointer per kernel parameter, as cuLaunchKernel takes them */
    size_t argument_count;
    const size_t *argument_size;
} hpt_launch;

typedef struct hpt_device_info {
    char name[128];
    char target[16]; /* exact target of this device: "sm_90a", "sm_100a", ... */
    int sms;
    int clock_khz;
    int64_t memory_bytes;
} hpt_device_info;

typedef struct hpt_backend_module hpt_backend_module;
typedef struct hpt_backend_device hpt_backend_device;
typedef void *hpt_stream;
typedef void *hpt_event;

typedef struct hpt_backend {
    const char *name; /* "gpu", "emulator" */
    hpt_status (*open)(hpt_backend_device **out, int ordinal, const char *target, hpt_error *error);
    void (*close)(hpt_backend_device *device);
    void (*info)(const hpt_backend_device *device, hpt_device_info *out);

    hpt_status (*alloc)(hpt_backend_device *device, hpt_device_ptr *out, size_t bytes, hpt_error *error);
    void (*release)(hpt_backend_device *device, hpt_device_ptr pointer);
    hpt_status (*upload)(hpt_backend_device *device, hpt_device_ptr to, const void *from, size_t bytes,
                         hpt_error *error);
    hpt_status (*download)(hpt_backend_device *device, void *to, hpt_device_ptr from, size_t bytes, hpt_error *error);
    hpt_status (*fill)(hpt_backend_device *device, hpt_device_ptr to, int byte, size_t bytes, hpt_stream stream,
                       hpt_error *error);

    /* `image`: a cubin for the driver, NUL-terminated PTX for the emulator (wants_ptx says which). */
    bool wants_ptx;
    hpt_status (*load)(hpt_backend_device *device, hpt_backend_module **out, const void *image, size_t length,
                       const char *symbol, hpt_error *error);
    void (*unload)(hpt_backend_module *module);
    hpt_status (*encode)(hpt_backend_device *device, void *out128, const hpt_tensor_map *map, hpt_error *error);
    /* How many clusters of this launch shape can be resident at once. */
    hpt_status (*max_clusters)(hpt_backend_module *module, const hpt_launch *launch, int *out, hpt_error *error);
    hpt_status (*launch)(hpt_backend_module *module, const hpt_launch *launch, hpt_stream stream, hpt_error *error);
    hpt_status (*synchronize)(hpt_backend_device *device, hpt_stream stream, hpt_error *error);
    /* events: seconds between two points of a stream; the emulator reports host time. An event that *out holds already
     * is recorded again, NULL makes a new one. */
    hpt_status (*event_record)(hpt_backend_device *device, hpt_event *out, hpt_stream stream, hpt_error *error);
    hpt_status (*event_seconds)(hpt_backend_device *device, double *out, hpt_event from, hpt_event to,
                                hpt_error *error);
    void (*event_release)(hpt_backend_device *device, hpt_event event);
    /* Bytes that kernels' stores and reduce-adds landed in [address, address + bytes) since the device was opened,
     * zeroing and clipped parts excluded. NULL where nothing is counted (the driver). */
    hpt_status (*written)(hpt_backend_device *device, hpt_device_ptr address, size_t bytes, uint64_t *out,
                          hpt_error *error);
} hpt_backend;

/* backends.def lists them in order of preference. NULL if there is none of that name. */
const hpt_backend *hpt_backend_find(const char *name);

extern const hpt_backend hpt_backend_gpu, hpt_backend_emulator;

#endif
