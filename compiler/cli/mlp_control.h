/* mlp_control.h - the MLP block as a model server runs it: fused RMSNorm, cuBLASLt, activation kernel, cuBLASLt. The
 * small kernels are Heptane's own under the trivial scheme, bound by bandwidth.
 */
#ifndef HPT_CLI_MLP_CONTROL_H
#define HPT_CLI_MLP_CONTROL_H

#include "cublas.h"
#include "mlp.h"
#include "source.h"

typedef struct hpt_mlp_control {
    hpt_context *context;
    hpt_op *norm_op, *activation_op;
    hpt_call *norm, *activation;
    hpt_cublas *gate_up, *down;
    uint64_t x, sums, act, c, sum; /* normalised X, gate and up, activations, C, X + residual */
    size_t bytes_c;
} hpt_mlp_control;

/* Kernels and products for one shape on the device's copies, all in their type. `target`: of the GPU. */
hpt_status hpt_mlp_control_create(hpt_mlp_control *out, const hpt_mlp_data *data, const hpt_mlp_device *device,
                                  const char *target, void *stream, hpt_error *error);
void hpt_mlp_control_clear(hpt_mlp_control *control);
hpt_status hpt_mlp_control_run(void *control, void *stream, hpt_error *error);

#endif
