/* clang-format off */
/* heptane/rt.h - runs operation folders that `heptane emit` wrote, on a GPU or in the emulator.
 *
 *   hpt_context *context;  hpt_op *gemm;  hpt_call *call;      (errors left out; runtime/example/gemm.c is complete)
 *   hpt_context_open(&context, "auto", 0, NULL, &error);
 *   hpt_op_open(&gemm, context, "strassen-gemm", &error);      compiles, unless the folder or the cache has cubins
 *   hpt_call_create(&call, gemm, &error);
 *   hpt_call_set_param(call, "m", 4096, &error);               n, k, leading dimensions, batch: hpt_op_param
 *   hpt_call_set_buffer(call, "X", x, &error);                 device addresses; Y, C: hpt_op_buffer
 *   hpt_call_bytes(call, "AX", &bytes, NULL, &error);          what the caller has to allocate: hpt_op_buffer's role
 *   hpt_call_bind(call, &error);                               formulas evaluated, tensor maps encoded, shapes checked
 *   hpt_call_prepare(call, stream, &error);                    once per weight: the forms of Y
 *   hpt_call_run(call, stream, &error);                        as often as wanted
 *
 * Units: sizes in elements unless a name says bytes. Streams are CUstream (cudaStream_t); NULL is the legacy stream.
 * Threads: a context and an op may be used by any number of threads. A call is built by one thread; once bound, prepare
 *   and run may be called from any (two runs of one call write the same output, so order them by stream).
 * Memory: the caller owns all device memory and keeps it alive and in place while a bound call is used. Bind and run
 *   allocate no device memory and never synchronise: both are safe during CUDA graph capture; open the op before (it
 *   compiles and loads). A captured graph holds copies of all arguments: it may outlive the call, not op or memory.
 * Devices: a context belongs to one device and uses its primary context (as the CUDA runtime and PyTorch do); calls
 *   leave the thread's current context as it was.
 * Errors: every function returns hpt_status; `error` may be NULL. Nothing is printed, nothing aborts.
 * This library needs libc, Jansson and libmd; CUDA is opened at run time.
 */
/* clang-format on */
#ifndef HEPTANE_RT_H
#define HEPTANE_RT_H

#include <heptane/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPT_RT_VERSION 1

typedef struct hpt_context hpt_context;
typedef struct hpt_op hpt_op;
typedef struct hpt_call hpt_call;

/* ---- a device ---------------------------------------------------------------------------------------------------- */
/* `backend`: "gpu", "emulator", or "auto" (NULL): the first that works. `target`: the exact target that the emulator
 * stands for ("sm_90a"); NULL: the device's own, sm_90a in the emulator. A GPU of another target is refused
 * (HPT_NO_DEVICE). */
hpt_status hpt_context_open(hpt_context **out, const char *backend, int device, const char *target, hpt_error *error);
void hpt_context_close(hpt_context *context); /* NULL is fine; close ops first */

typedef struct hpt_context_info {
    const char *backend; /* "gpu", "emulator" */
    const char *device;  /* its name */
    const char *target;
    int sms;
    int64_t memory_bytes;
} hpt_context_info;
void hpt_context_describe(const hpt_context *context, hpt_context_info *out);

/* Of the library: "0.1.0". */
const char *hpt_version(void);

/* Device memory, for callers that have no allocator of their own. Addresses are 256-byte aligned at least. */
hpt_status hpt_device_alloc(hpt_context *context, uint64_t *out, size_t bytes, hpt_error *error);
void hpt_device_free(hpt_context *context, uint64_t address);
hpt_status hpt_device_upload(hpt_context *context, uint64_t to, const void *from, size_t bytes, hpt_error *error);
hpt_status hpt_device_download(hpt_context *context, void *to, uint64_t from, size_t bytes, hpt_error *error);
hpt_status hpt_device_fill(hpt_context *context, uint64_t to, int byte, size_t bytes, void *stream, hpt_error *error);
hpt_status hpt_device_synchronize(hpt_context *context, void *stream, hpt_error *error);

/* ---- an operation ------------------------------------------------------------------------------------------------ */
/* Reads FOLDER/op.json and its packages, compiles what the folder or the cache does not hold, and loads it. */
hpt_status hpt_op_open(hpt_op **out, hpt_context *context, const char *folder, hpt_error *error);
/* The same without compiling and loading: what the op has, and how many bytes its buffers need, can be asked for.
 * HPT_USAGE where kernels are needed: to bind a call or stamp it. */
hpt_status hpt_op_read(hpt_op **out, hpt_context *context, const char *folder, hpt_error *error);
void hpt_op_close(hpt_op *op); /* NULL is fine; destroy plans first */

typedef struct hpt_op_info {
    const char *op, *target, *scheme, *scheme_hash;
    const char *type_x, *type_y, *type_c, *type_forms; /* "f16", "bf16", "f32" */
    int64_t n, m, p, rank, writes;                     /* of the scheme */
    double bound;                                      /* stated relative Frobenius error; 0 if none */
    int kernels;
    int64_t registers, spill_bytes; /* largest of any kernel; -1: not known */
} hpt_op_info;
void hpt_op_describe(const hpt_op *op, hpt_op_info *out);
/* What the op calls its i-th parameter, buffer or scalar; NULL when i is too large. `role` (may be NULL) gets "input",
 * "output", "prepared" or "workspace", `type` its element type. */
const char *hpt_op_param(const hpt_op *op, size_t i, const char **help);
const char *hpt_op_buffer(const hpt_op *op, size_t i, const char **role, const char **type);
const char *hpt_op_scalar(const hpt_op *op, size_t i, double *fallback);
/* An option that the op was emitted with: true if it is set ("trans_x"). */
bool hpt_op_option(const hpt_op *op, const char *name);

/* ---- which variant of an operation ------------------------------------------------------------------------------- */
enum { HPT_CHOICE_TEXT = 128 };
typedef struct hpt_choice {
    char scheme[HPT_CHOICE_TEXT], plan[HPT_CHOICE_TEXT]; /* heptane emit SCHEME --plan PLAN */
    char settings[HPT_CHOICE_TEXT];                      /* parameters of the call: "cut=0" */
    bool unchained;                                      /* emit --chain none */
    bool tuned;                                          /* `heptane tune` measured it here; else a default */
    int64_t rows;                                        /* it holds up to this many rows */
} hpt_choice;
/* What is fastest for `m` rows on this device, as far as is known: what `heptane tune` remembers for exactly this
 * device and driver, else a default. `types`: of X, Y, C and the forms, then the layout of "gemm" or the activation of
 * "mlp": "f16 f16 f16 f16 NT", "bf16 bf16 bf16 f16 swiglu"; then, where emit is told --sums T, "sums T": "f16 f16 f16
 * f16 NT sums f32" (of mlp, with --with sums=T other than f16, "gate_up T" before it). n, k: columns of C and X;
 * intermediate and hidden size. */
hpt_status hpt_choose(hpt_choice *out, const hpt_context *context, const char *op, const char *types, int64_t m,
                      int64_t n, int64_t k, hpt_error *error);

/* ---- one shape --------------------------------------------------------------------------------------------------- */
hpt_status hpt_call_create(hpt_call **out, hpt_op *op, hpt_error *error);
void hpt_call_destroy(hpt_call *call); /* NULL is fine */
/* Setting anything unbinds the call. A parameter that is not set takes the op's default (leading dimensions: packed).
 */
hpt_status hpt_call_set_param(hpt_call *call, const char *name, int64_t value, hpt_error *error);
hpt_status hpt_call_set_scalar(hpt_call *call, const char *name, double value, hpt_error *error);
hpt_status hpt_call_set_buffer(hpt_call *call, const char *name, uint64_t address, hpt_error *error); /* 0: left out */
/* Bytes that a buffer must have at least for the parameters set so far. Prepared and workspace buffers that are not set
 * count as given. 0: it is not needed and may stay unset. *zero (may be NULL): it must be zero before its first use. */
hpt_status hpt_call_bytes(hpt_call *call, const char *buffer, size_t *bytes, bool *zero, hpt_error *error);
/* The value of a parameter as the call has it (default included). */
hpt_status hpt_call_param(hpt_call *call, const char *name, int64_t *value, hpt_error *error);
/* HPT_UNSUPPORTED with every violated rule, the operand and the multiple that it needs. */
hpt_status hpt_call_bind(hpt_call *call, hpt_error *error);
hpt_status hpt_call_prepare(const hpt_call *call, void *stream, hpt_error *error);
hpt_status hpt_call_run(const hpt_call *call, void *stream, hpt_error *error);
int hpt_call_launches(const hpt_call *call); /* kernels that one run launches */
/* The relative Frobenius error that a bound call's result stays within, for N(0,1) data: hpt_op_info's, or more where a
 * finishing pass rounds C once more. 0 if none is stated. */
double hpt_call_error_bound(const hpt_call *call);

/* Prepared buffers are plain bytes for one op, shape and device kind: they can be downloaded, kept in a file and
 * uploaded again. The stamp says whether they fit: 64 hexadecimal digits of op, scheme, types, parameters and kernels'
 * sources. It does not cover what was prepared: weights, a norm's weight that is part of them, scalars such as
 * gate_up_scale and norm_offset. A kernel of the caller's own that writes prepared buffers must not let the next kernel
 * start early (griddepcontrol.launch_dependents): a run may load weights before the kernel before it has ended. */
hpt_status hpt_call_stamp(hpt_call *call, char out[65], hpt_error *error);

#ifdef __cplusplus
}
#endif
#endif
