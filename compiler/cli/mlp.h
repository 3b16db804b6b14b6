/* mlp.h - one MLP block on random data: operands, reference, device copies, call. Shared by `run`, `bench` and
 * `tune --op mlp`. Promises:
 *   - X is N(0,1), the norm's weight 1 + N(0,1) / 8, the other weights N(0,1) / sqrt(their columns), so that gate and
 * up are about N(0,1); everything is rounded to its type.
 *   - the reference is computed in double on the values as stored, without any rounding inside: all rows, or 64 of
 * them.
 */
#ifndef HPT_CLI_MLP_H
#define HPT_CLI_MLP_H

#include "problem.h"

typedef struct hpt_mlp_shape {
    int64_t m, hidden, inner;
} hpt_mlp_shape;

typedef struct hpt_activation { /* a row of the templates' table activations.lua */
    const char *name;
    bool gated;
    double (*value)(double gate, double up);
} hpt_activation;
const hpt_activation *hpt_activation_find(const char *name);

typedef struct hpt_mlp_data { /* host copies; gate and up are one matrix, gate's rows first */
    hpt_mlp_shape shape;
    hpt_number_type type, type_c, rounding; /* of operands, of C, of values before they are stored */
    const hpt_activation *activation;
    bool with_norm, with_residual, with_bias;
    double eps;
    const char *settings; /* further parameters of the op, "cut=2"; may be NULL */
    uint64_t seed;
    void *x, *residual, *norm, *gate_up, *down, *bias; /* bias: gate's, then up's */
    hpt_reference reference;                           /* rows of C */
} hpt_mlp_data;

/* Takes types, activation and biases from an op; HPT_UNSUPPORTED if it is no mlp. */
hpt_status hpt_mlp_describe(hpt_mlp_data *data, const hpt_op *op, hpt_error *error);
/* Makes the operands and the reference from what has been filled in. */
hpt_status hpt_mlp_data_make(hpt_mlp_data *data, hpt_error *error);
/* Another number of tokens: X, residual and reference anew, the weights stay. */
hpt_status hpt_mlp_data_tokens(hpt_mlp_data *data, int64_t m, hpt_error *error);
void hpt_mlp_data_clear(hpt_mlp_data *data);
/* A downloaded C of the given type, packed, against the reference. */
void hpt_mlp_compare(hpt_check *out, const hpt_mlp_data *data, hpt_number_type type, const void *c);
/* What `heptane tune` and hpt_choose know an mlp op's types by: as hpt_tuned_types, the activation followed by
 * " gate_up T" if gate and up are not added up in f16, the default. `sums`: of --sums. */
void hpt_mlp_types(char *out, size_t room, const hpt_op *op, const char *sums);
int64_t hpt_mlp_gate_up_rows(const hpt_mlp_data *data);

typedef struct hpt_mlp_device { /* device copies of the operands, in a type of its own */
    hpt_context *context;
    hpt_number_type type;
    uint64_t x, residual, norm, gate_up, down, bias;
} hpt_mlp_device;
hpt_status hpt_mlp_upload(hpt_mlp_device *out, hpt_context *context, const hpt_mlp_data *data, hpt_number_type type,
                          hpt_error *error);
/* X and residual anew, for another number of tokens. */
hpt_status hpt_mlp_upload_tokens(hpt_mlp_device *device, const hpt_mlp_data *data, hpt_error *error);
void hpt_mlp_device_clear(hpt_mlp_device *device);

typedef struct hpt_mlp_problem { /* an op bound to a device's copies */
    hpt_context *context;
    hpt_call *call;
    const hpt_mlp_data *data;
    size_t buffer_count;
    uint64_t *buffer; /* its own, by op buffer number */
    uint64_t c, overflow;
    size_t bytes_c;
} hpt_mlp_problem;
hpt_status hpt_mlp_problem_create(hpt_mlp_problem *out, hpt_op *op, const hpt_mlp_data *data,
                                  const hpt_mlp_device *device, hpt_error *error);
void hpt_mlp_problem_clear(hpt_mlp_problem *problem);
/* Prepares, runs, downloads C; *overflow: the bits that the kernels set (1: normalised X, 2: activations, 4: weights).
 */
hpt_status hpt_mlp_problem_run_once(hpt_mlp_problem *problem, void *host, uint32_t *overflow, void *stream,
                                    hpt_error *error);

/* True if the words of a command line hold --op mlp. */
bool hpt_mlp_wanted(int argc, char **argv);
hpt_status hpt_mlp_command_run(int argc, char **argv, hpt_error *error);
hpt_status hpt_mlp_command_tune(int argc, char **argv, hpt_error *error);
hpt_status hpt_mlp_command_bench(int argc, char **argv, hpt_error *error);

#endif
