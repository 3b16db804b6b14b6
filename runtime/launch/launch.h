/* launch.h - the handles of heptane/rt.h from inside. context.c: a device with cache and NVRTC; op.c: compiled and
 * loaded kernels; call.c: one shape, every formula evaluated; args.c: kernel arguments. Used by launch/ and, for
 * figures that the public header does not give, by the command line.
 */
#ifndef HPT_RUNTIME_LAUNCH_H
#define HPT_RUNTIME_LAUNCH_H

#include "backend/backend.h"
#include "cache/cache.h"
#include "jit/nvrtc.h"
#include "load/package.h"
#include <heptane/rt.h>
#include <pthread.h>

struct hpt_context {
    const hpt_backend *backend;
    hpt_backend_device *device;
    hpt_device_info info;
    hpt_cache *cache;
    pthread_mutex_t lock; /* guards nvrtc and the kernels' fit */
    hpt_nvrtc *nvrtc;     /* opened when first needed */
};

typedef struct hpt_fit { /* how many clusters of the last launch shape fit: the driver takes long to say */
    uint32_t block[3], cluster[3], shared_bytes;
    int clusters; /* 0: not asked yet */
} hpt_fit;

typedef struct hpt_kernel {
    hpt_backend_module *module;
    hpt_fit fit; /* guarded by the context's lock */
    int64_t registers, spill_bytes;
    const char *origin; /* "nvrtc", "cache", "package" */
    char source_hash[HPT_HASH_LENGTH];
} hpt_kernel;

struct hpt_op {
    hpt_context *context;
    hpt_operation *record;
    hpt_kernel *kernel; /* one per step */
    bool built;         /* the kernels are compiled and loaded */
};

typedef struct hpt_record { /* one launch of a bound call */
    hpt_phase phase;
    hpt_backend_module *module;
    hpt_launch launch;
    void *storage;         /* the arguments' bytes */
    const void **argument; /* pointers into storage */
    size_t *size;
    const char *package;
} hpt_record;

struct hpt_call {
    hpt_op *op;
    bool *param_set;
    int64_t *param;
    double *scalar;
    hpt_device_ptr *buffer;
    hpt_values env; /* of op.json */
    bool bound;
    size_t record_count;
    hpt_record *record;
};

/* jit.c: the package's kernel for its target, from the folder, the cache or NVRTC. context->backend says whether PTX
 * will do. */
hpt_status hpt_jit_build(hpt_build *out, char source_hash[HPT_HASH_LENGTH], hpt_context *context,
                         const hpt_manifest *manifest, hpt_error *error);
/* True if code for `target` runs on a device of exact target `device`. */
bool hpt_target_fits(const char *target, const char *device);

/* env.c: name tables evaluated */
hpt_status hpt_values_init(hpt_values *values, const hpt_names *names);
void hpt_values_clear(hpt_values *values);
void hpt_values_set(hpt_values *values, int slot, int64_t value);
/* Evaluates lets in order. One that needs an unknown value stays unknown if `partial`, else it is an error. */
hpt_status hpt_lets_eval(const hpt_let *let, size_t count, const hpt_names *names, hpt_values *values, bool partial,
                         hpt_error *error);
/* Adds the message of every requirement that does not hold to `text`. */
hpt_status hpt_requirements_check(hpt_text *text, const hpt_requirement *require, size_t count, const hpt_names *names,
                                  const hpt_values *values, hpt_error *error);

/* record.c: evaluates one step into a launch; *skipped if there is nothing to launch. */
hpt_status hpt_record_build(hpt_record *out, bool *skipped, const hpt_call *call, size_t step, hpt_text *violations,
                            hpt_error *error);
void hpt_record_clear(hpt_record *record);

#endif
