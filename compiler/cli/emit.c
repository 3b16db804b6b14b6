/* heptane emit: a folder with an operation's kernels and manifests. */
#include "emit/emit.h"
#include "report.h"
#include <heptane/chain.h>
#include <heptane/emit.h>
#include <stdio.h>
#include <string.h>

hpt_status hpt_command_emit(int argc, char **argv, hpt_error *error);

static json_t *schedule_dump(const hpt_schedule *schedule) {
    json_t *steps = json_array();
    for (int32_t t = 0; t < schedule->step_count; t++) {
        const hpt_step *step = &schedule->steps[t];
        json_t *writes = json_array();
        for (int32_t i = 0; i < step->write_count; i++)
            json_array_append_new(writes, json_pack("{s:[i,i],s:o,s:b}", "c", step->writes[i].c / schedule->p + 1,
                                                    step->writes[i].c % schedule->p + 1, "weight",
                                                    hpt_exact_json(step->writes[i].weight.text), "first",
                                                    step->writes[i].first));
        json_array_append_new(steps, json_pack("{s:i,s:i,s:b,s:o,s:o}", "product", step->product + 1, "accumulator",
                                               step->accumulator + 1, "fresh", step->fresh, "scale",
                                               hpt_exact_json(step->scale.text), "writes", writes));
    }
    return json_pack("{s:i,s:i,s:b,s:s,s:i,s:o}", "writes", schedule->writes, "lower_bound", schedule->lower_bound,
                     "optimal", schedule->optimal, "method", schedule->method, "accumulators", schedule->accumulators,
                     "schedule", steps);
}

static json_t *manifest_dump(const json_t *files) {
    json_t *out = json_object(), *content;
    const char *path;
    json_object_foreach((json_t *)(uintptr_t)files, path, content) {
        if (!json_is_string(content)) json_object_set(out, path, content);
    }
    return out;
}

static hpt_status dump(const char *what, const hpt_schedule *schedule, const hpt_kernel_plan *plan, const json_t *files,
                       hpt_error *error) {
    if (strcmp(what, "schedule") == 0) return hpt_json_print(schedule_dump(schedule), error);
    if (strcmp(what, "plan") == 0) return hpt_json_print(hpt_kernel_plan_json(plan), error);
    if (strcmp(what, "manifest") == 0) return hpt_json_print(manifest_dump(files), error);
    return hpt_error_set(error, HPT_USAGE, "--dump", "\"%s\" is none of schedule, plan and manifest.", what);
}

/* Packages are the folders that hold a manifest; the operation's own kernel gives the symbol. */
static hpt_status report(const char *folder, const char *op, const char *target, const json_t *files, bool json,
                         hpt_error *error) {
    json_t *packages = json_array(), *content;
    const char *path, *symbol = "";
    json_object_foreach((json_t *)(uintptr_t)files, path, content) {
        const char *slash = strrchr(path, '/');
        if (!slash || strcmp(slash, "/manifest.json") != 0) continue;
        json_array_append_new(packages, json_stringn(path, (size_t)(slash - path)));
        const bool own = strncmp(path, op, (size_t)(slash - path)) == 0 && op[slash - path] == 0;
        if (own || !*symbol) symbol = json_string_value(json_object_get(content, "symbol"));
    }
    if (json)
        return hpt_json_print(json_pack("{s:s,s:o,s:s,s:s,s:o}", "op", op, "folder", hpt_json_text(folder), "target",
                                        target, "symbol", symbol, "packages", packages),
                              error);
    printf("%s for %s in %s:", op, target, folder);
    for (size_t i = 0; i < json_array_size(packages); i++)
        printf(" %s", json_string_value(json_array_get(packages, i)));
    printf("\n");
    json_decref(packages);
    return HPT_OK;
}

static hpt_status chain_option(hpt_chain_options *out, const char *chain, const char *target, double limit,
                               hpt_error *error) {
    *out = (hpt_chain_options){.accumulators = hpt_target_accumulators(target), .time_limit = limit};
    if (out->accumulators == 0) {
        const hpt_target *ignored;
        return hpt_target_find(&ignored, target, error);
    }
    out->unchained = strcmp(chain, "none") == 0;
    if (!out->unchained && strcmp(chain, "optimal") != 0)
        return hpt_error_set(error, HPT_USAGE, "--chain", "\"%s\" is neither optimal nor none.", chain);
    return HPT_OK;
}

hpt_status hpt_command_emit(int argc, char **argv, hpt_error *error) {
    bool json = false, helped;
    int first;
    const char *folder = NULL, *chain = "optimal", *dumped = NULL;
    double limit = 0;
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    hpt_chain_options chaining;
    hpt_emit_options emitting = {.op = "gemm", .target = "sm_90a"};
    hpt_scheme *scheme = NULL;
    hpt_schedule *schedule = NULL;
    hpt_kernel_plan *plan = NULL;
    json_t *files = NULL;
    const hpt_option options[] = {
        {"op", 0, HPT_OPTION_TEXT, &emitting.op, "OP", "gemm (default), forms_x, forms_y, mlp and its parts", 0, 0},
        {"target", 0, HPT_OPTION_TEXT, &emitting.target, "T", "exact GPU target (default sm_90a)", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &folder, "DIR", "folder to write to", 0, 0},
        {"chain", 0, HPT_OPTION_TEXT, &chain, "HOW", "optimal (default) or none: every product by itself", 0, 0},
        {"time-limit", 0, HPT_OPTION_REAL, &limit, "S", "seconds for the search of a chaining", 0, 1000000000},
        {"in-type", 0, HPT_OPTION_TEXT, &emitting.in_type, "TYPE", "X and Y: f16 (default) or bf16", 0, 0},
        {"forms", 0, HPT_OPTION_TEXT, &emitting.forms, "TYPE", "operand forms: f16 (default) or bf16", 0, 0},
        {"out-type", 0, HPT_OPTION_TEXT, &emitting.out_type, "TYPE", "C: f16, bf16 or f32 (default: as X)", 0, 0},
        {"sums", 0, HPT_OPTION_TEXT, &emitting.sums, "TYPE", "in which C is added up (default: as C; f16 if C is bf16)",
         0, 0},
        {"trans-x", 0, HPT_OPTION_FLAG, &emitting.x_transposed, NULL, "X is stored K x M", 0, 0},
        {"no-trans-y", 0, HPT_OPTION_FLAG, &emitting.y_untransposed, NULL, "Y is stored K x N (default N x K)", 0, 0},
        {"plan", 0, HPT_OPTION_TEXT, &emitting.plan, "NAME=N,...",
         "plan parameters, as the tuner sets them; deliver=1: no finishing pass for sums of another type than C", 0, 0},
        {"with", 0, HPT_OPTION_TEXT, &emitting.with, "NAME=VALUE,...", "settings of an MLP: activation, rounding, ...",
         0, 0},
        {"dump", 0, HPT_OPTION_TEXT, &dumped, "WHAT", "print schedule, plan or manifest; write nothing", 0, 0},
        HPT_SCHEME_OPTIONS(arguments),
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"emit",
                             "FILE -o DIR [options]",
                             "Writes CUDA kernels that multiply matrices by a scheme, with what is needed to run them.",
                             "heptane emit strassen -o strassen-gemm\n"
                             "heptane emit scheme.exp --in-type bf16 --out-type f32 -o folder\n"
                             "heptane emit strassen --dump=plan           what the templates see",
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    HPT_FAIL_IF((!folder || !*folder) && !dumped, HPT_USAGE, "-o", "Say where the packages should go: -o DIR.");
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    HPT_TRY(chain_option(&chaining, chain, emitting.target, limit, error));
    HPT_TRY(hpt_scheme_read_proved(&scheme, argv[first], &reading, error));
    HPT_TRY(hpt_cli_chain(&schedule, scheme, &chaining, error));
    HPT_TRY(hpt_emit_make(&files, &plan, scheme, schedule, &emitting, error));
    if (dumped) {
        status = dump(dumped, schedule, plan, files, error);
        goto done;
    }
    HPT_TRY(hpt_emit_write(folder, files, error));
    status = report(folder, emitting.op, emitting.target, files, json, error);
done:
    json_decref(files);
    hpt_kernel_plan_destroy(plan);
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
    return status;
}
