/* Runs an op's package on one side. */
#include "agree_run.h"
#include "emulator/emulator.h"
#include "launch/launch.h"
#include <stdlib.h>
#include <string.h>

static hpt_status open_side(hpt_context **context, hpt_op **op, const agree_side *side, const char *target,
                            hpt_error *error) {
    const bool emulated = strcmp(side->backend, "emulator") == 0;
    hpt_status status = hpt_context_open(context, side->backend, 0, emulated ? target : NULL, error);
    if (status == HPT_OK && emulated) {
        hpt_emu_options options;
        hpt_emu_get_options((*context)->device, &options);
        options.seed = side->seed;
        hpt_emu_set_options((*context)->device, &options);
    }
    if (status == HPT_OK) status = hpt_op_open(op, *context, side->folder, error);
    return status;
}

/* A value that op.json computes from the shape. */
static hpt_status let_value(int64_t *out, const hpt_call *call, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int slot = hpt_names_find(&call->op->record->names, name);
    HPT_FAIL_IF(slot < 0 || !call->env.known[slot], HPT_UNSUPPORTED, "op.json", "It does not compute %s.", name);
    *out = call->env.value[slot];
done:
    return status;
}

hpt_status agree_run_gemm(agree_output *out, const agree_side *side, const char *target, hpt_data *data,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_problem problem = {0};
    HPT_TRY(open_side(&context, &op, side, target, error));
    HPT_TRY(hpt_data_describe(data, op, error));
    if (!data->x) HPT_TRY(hpt_data_make(data, error));
    /* a cut last wave depends on the number of multiprocessors, which is not the same on both sides */
    if (!data->settings && hpt_op_has_param(op, "cut")) data->settings = "cut=0";
    HPT_TRY(hpt_problem_create(&problem, context, op, data, 0, 0, 0, error));
    HPT_TRY(let_value(&out->blocks.m, problem.call, "block_m", error));
    HPT_TRY(let_value(&out->blocks.n, problem.call, "block_n", error));
    HPT_TRY(let_value(&out->blocks.k, problem.call, "block_k", error));
    HPT_FAIL_NO_MEMORY(out->c = malloc(problem.bytes_c));
    HPT_TRY(hpt_problem_run_once(&problem, out->c, NULL, error));
done:
    hpt_problem_clear(&problem);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}

hpt_status agree_run_mlp(agree_output *out, const agree_side *side, const char *target, hpt_mlp_data *data,
                         hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_mlp_device device = {0};
    hpt_mlp_problem problem = {0};
    uint32_t overflow = 0;
    HPT_TRY(open_side(&context, &op, side, target, error));
    HPT_TRY(hpt_mlp_describe(data, op, error));
    if (!data->x) HPT_TRY(hpt_mlp_data_make(data, error));
    HPT_TRY(hpt_mlp_upload(&device, context, data, data->type, error));
    HPT_TRY(hpt_mlp_problem_create(&problem, op, data, &device, error));
    HPT_FAIL_NO_MEMORY(out->c = malloc(problem.bytes_c));
    HPT_TRY(hpt_mlp_problem_run_once(&problem, out->c, &overflow, NULL, error));
    HPT_FAIL_IF(overflow, HPT_DIFFERS, side->backend, "The kernels report that a form left the range of f16 (%u).",
                overflow);
done:
    hpt_mlp_problem_clear(&problem);
    hpt_mlp_device_clear(&device);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}
