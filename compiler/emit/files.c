/* files.c - what an operation consists of: templates/ops decides */
#include "emit/emit.h"
#include "emit/sandbox.h"

hpt_status hpt_emit_files_with(json_t **out, const char *op, const hpt_kernel_plan *plan, const hpt_target *target,
                               const char *overrides, const char *settings, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *argument = json_pack("{s:s,s:o,s:O,s:s,s:s,s:s}", "op", op, "plan", hpt_kernel_plan_json(plan), "target",
                                 (json_t *)(uintptr_t)target->record, "overrides", overrides ? overrides : "",
                                 "settings", settings ? settings : "", "version", HPT_VERSION);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(argument);
    HPT_TRY(hpt_sandbox_run(out, "ops/main", argument, error));
done:
    json_decref(argument);
    return status;
}

hpt_status hpt_emit_files(json_t **out, const char *op, const hpt_kernel_plan *plan, const hpt_target *target,
                          const char *overrides, hpt_error *error) {
    return hpt_emit_files_with(out, op, plan, target, overrides, NULL, error);
}
