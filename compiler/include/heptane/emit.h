/* heptane/emit.h - from a verified scheme and its schedule to packages of CUDA C.
 *
 * hpt_emit writes an operation folder as runtime/PACKAGE.md describes it: op.json and one folder per kernel. Equal
 * inputs give byte-identical files: no dates, no paths. A scheme that has not been proved never reaches this function's
 * body: it verifies again (cheap) and returns HPT_REFUTED.
 *
 * Source: DESIGN sections 3 and 5.
 */
#ifndef HEPTANE_EMIT_H
#define HEPTANE_EMIT_H

#include <heptane/chain.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpt_emit_options {
    const char *op;       /* "gemm", "forms_x", "forms_y", ... ; NULL means "gemm" */
    const char *target;   /* exact name, "sm_90a"; NULL means "sm_90a" */
    const char *in_type;  /* X and Y: "f16" or "bf16"; NULL means "f16" */
    const char *forms;    /* operand forms: "f16" or "bf16"; NULL means "f16" */
    const char *out_type; /* Z: "f16", "bf16" or "f32"; NULL means in_type */
    bool x_transposed;    /* X is stored K x M (op T); default M x K */
    bool y_untransposed;  /* Y is stored K x N; default N x K, as models store weights (op T) */
    const char *plan;     /* overrides for the tuner, "stages=3,cluster=1,group=4"; NULL: the target's defaults */
    const char *sums;     /* output blocks until their last write: "f16", "bf16" or "f32". NULL: as Z, but f16 for
                                 bf16 with f16 forms. Blocks that are written once have no sums. Ops gemm, down, mlp */
    const char *with;     /* settings of an MLP's operations, "activation=geglu,rounding=twice"; NULL: the defaults */
} hpt_emit_options;

hpt_status hpt_emit(const char *folder, const hpt_scheme *scheme, const hpt_schedule *schedule,
                    const hpt_emit_options *options, hpt_error *error);

/* How many accumulators a target's kernels alternate between (sm_90a 1, sm_100a 2); 0 if there is no such target. */
int32_t hpt_target_accumulators(const char *target);
/* Names of all targets, NULL-terminated. */
const char *const *hpt_target_names(void);

#ifdef __cplusplus
}
#endif
#endif
