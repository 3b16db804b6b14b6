/* emit.h - from a plan to the files of an operation. Promises:
 *   - which files there are and what is in them is decided by templates/ops/OP.lua; C only carries and writes.
 *   - files are written only when all of them could be made.
 */
#ifndef HPT_EMIT_INTERNAL_H
#define HPT_EMIT_INTERNAL_H

#include "plan/plan.h"
#include "targets/target.h"
#include <heptane/emit.h>

/* The files of an operation as {"path": text or JSON}, a new reference. `overrides` as hpt_emit_options.plan. */
hpt_status hpt_emit_files(json_t **out, const char *op, const hpt_kernel_plan *plan, const hpt_target *target,
                          const char *overrides, hpt_error *error);
/* With hpt_emit_options.with too. */
hpt_status hpt_emit_files_with(json_t **out, const char *op, const hpt_kernel_plan *plan, const hpt_target *target,
                               const char *overrides, const char *settings, hpt_error *error);
/* Verifies, plans and renders; nothing is written. The plan is handed out too if `plan` is not NULL. */
hpt_status hpt_emit_make(json_t **files, hpt_kernel_plan **plan, const hpt_scheme *scheme, const hpt_schedule *schedule,
                         const hpt_emit_options *options, hpt_error *error);
hpt_status hpt_emit_write(const char *folder, const json_t *files, hpt_error *error);
hpt_status hpt_emit_plan(hpt_kernel_plan **out, const hpt_scheme *scheme, const hpt_schedule *schedule,
                         const hpt_emit_options *options, hpt_error *error);

#endif
