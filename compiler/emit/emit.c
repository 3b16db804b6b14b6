/* emit.c - hpt_emit: check, plan, render, write */
#include "emit/emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *or_default(const char *text, const char *fallback) { return text ? text : fallback; }

static hpt_status type_option(hpt_type *out, const char *name, const char *option, bool f32_too, hpt_error *error) {
    if (hpt_type_find(out, name) && (f32_too || *out != HPT_TYPE_F32)) return HPT_OK;
    return hpt_error_set(error, HPT_USAGE, option, "\"%s\" is not a type for this; f16%s bf16%s are.", name,
                         f32_too ? "," : " and", f32_too ? " and f32" : "");
}

static hpt_status row_read(hpt_row *row, hpt_arena *arena, const hpt_scheme *scheme, hpt_factor factor, int32_t product,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_terms terms = hpt_scheme_terms(scheme, factor, product);
    double *weight = hpt_arena_alloc(arena, terms.count + 1, sizeof *weight);
    HPT_FAIL_NO_MEMORY(weight);
    for (size_t i = 0; i < terms.count; i++) weight[i] = hpt_scheme_value_double(scheme, terms.value[i]);
    *row = (hpt_row){(int32_t)terms.count, terms.index, weight};
done:
    return status;
}

/* A scheme's name without folders or ".json": what is emitted must not depend on where the file lies. */
static char *short_name(hpt_arena *arena, const char *name) {
    const char *last = name;
    for (const char *at = name; *at && *at != '#'; at++)
        if (*at == '/') last = at + 1;
    char *copy = hpt_arena_strdup(arena, last);
    char *dot = copy ? strstr(copy, ".json") : NULL;
    if (dot && (dot[5] == 0 || dot[5] == '#')) memmove(dot, dot + 5, strlen(dot + 5) + 1);
    json_t *string = copy ? json_string(copy) : NULL; /* it goes into JSON, which is UTF-8, ... */
    for (char *at = copy; at && *at; at++)            /* ... and into a comment line */
        if ((unsigned char)*at < 32 || *at == '\\' || (!string && *at & 0x80)) *at = '_';
    json_decref(string);
    return copy;
}

/* Operations that add up blocks of C. */
static bool writes_c(const char *op) {
    static const char *const ops[] = {"gemm", "down", "mlp"};
    for (size_t i = 0; i < HPT_COUNT(ops); i++)
        if (strcmp(op, ops[i]) == 0) return true;
    return false;
}

/* Adding blocks up in bf16 costs more accuracy than all else; f16 takes no more memory, and what it is made of
 * fits f16. Blocks that are written once are not added up: they are C. */
static hpt_type sums_default(const hpt_plan_request *request) {
    const hpt_schedule *s = request->schedule;
    const bool once = s->writes == s->n * s->p;
    return !once && request->c == HPT_TYPE_BF16 && request->forms == HPT_TYPE_F16 ? HPT_TYPE_F16 : request->c;
}

static hpt_status sums_option(hpt_type *out, const hpt_plan_request *request, const hpt_emit_options *options,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *op = or_default(options->op, "gemm");
    *out = request->c;
    HPT_FAIL_IF(options->sums && !writes_c(op), HPT_USAGE, "--sums",
                "The operation %s writes no C, whose sums this is about.", op);
    if (!writes_c(op)) goto done;
    *out = sums_default(request);
    if (options->sums) HPT_TRY(type_option(out, options->sums, "--sums", true, error));
done:
    return status;
}

hpt_status hpt_emit_plan(hpt_kernel_plan **out, const hpt_scheme *scheme, const hpt_schedule *schedule,
                         const hpt_emit_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *in = or_default(options->in_type, "f16");
    const size_t rank = (size_t)hpt_scheme_rank(scheme);
    hpt_arena *arena = hpt_arena_create();
    *out = NULL;
    HPT_FAIL_NO_MEMORY(arena);
    HPT_FAIL_IF(!hpt_scheme_is_real(scheme), HPT_UNSUPPORTED, hpt_scheme_name(scheme),
                "The scheme is over %s; kernels multiply real matrices.", hpt_scheme_ring(scheme));
    HPT_FAIL_IF(strcmp(hpt_scheme_hash(scheme), schedule->scheme_hash) != 0, HPT_INTERNAL, "",
                "The schedule belongs to another scheme.");
    hpt_plan_request request = {.name = short_name(arena, hpt_scheme_name(scheme)),
                                .schedule = schedule,
                                .x_transposed = options->x_transposed,
                                .y_untransposed = options->y_untransposed};
    HPT_FAIL_NO_MEMORY(request.name);
    HPT_TRY(type_option(&request.x, in, "--in-type", false, error));
    HPT_TRY(type_option(&request.forms, or_default(options->forms, "f16"), "--forms", false, error));
    HPT_TRY(type_option(&request.c, or_default(options->out_type, in), "--out-type", true, error));
    request.y = request.x;
    hpt_type sums;
    HPT_TRY(sums_option(&sums, &request, options, error));
    request.sums = &sums;
    hpt_row *u = hpt_arena_alloc(arena, rank, sizeof *u), *v = hpt_arena_alloc(arena, rank, sizeof *v);
    HPT_FAIL_NO_MEMORY(u && v ? u : NULL);
    for (int32_t r = 0; r < (int32_t)rank; r++) {
        HPT_TRY(row_read(&u[r], arena, scheme, HPT_U, r, error));
        HPT_TRY(row_read(&v[r], arena, scheme, HPT_V, r, error));
    }
    request.u = u;
    request.v = v;
    HPT_TRY(hpt_kernel_plan_make(out, &request, error));
done:
    hpt_arena_destroy(arena);
    return status;
}

static hpt_status file_write(const char *folder, const char *path, const json_t *content, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text full = {0};
    char *encoded = NULL;
    hpt_text_printf(&full, "%s/%s", folder, path);
    HPT_FAIL_IF(full.failed, HPT_NO_MEMORY, "", "Out of memory.");
    char *slash = strrchr(full.data, '/');
    *slash = 0;
    HPT_TRY(hpt_folder_create(full.data, error));
    *slash = '/';
    if (json_is_string(content)) {
        HPT_TRY(hpt_file_write(full.data, json_string_value(content), json_string_length(content), error));
    } else {
        encoded = json_dumps(content, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
        HPT_FAIL_NO_MEMORY(encoded);
        hpt_text text = {0};
        hpt_text_printf(&text, "%s\n", encoded);
        status = text.failed ? HPT_NO_MEMORY : hpt_file_write(full.data, text.data, text.length, error);
        hpt_text_clear(&text);
    }
done:
    free(encoded);
    hpt_text_clear(&full);
    return status;
}

static hpt_status scheme_require_proved(const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_verification verification = {0};
    HPT_TRY(hpt_scheme_verify(&verification, scheme, error));
    HPT_FAIL_IF(
        verification.verdict == HPT_VERDICT_REFUTED, HPT_REFUTED, hpt_scheme_name(scheme),
        "The scheme does not multiply matrices: the equation of X_%d,%d Y_%d,%d in Z_%d,%d gives %s instead of %s.",
        verification.a[0], verification.a[1], verification.b[0], verification.b[1], verification.c[0],
        verification.c[1], verification.got, verification.expected);
    HPT_FAIL_IF(verification.verdict != HPT_VERDICT_PROVED || verification.border_degree > 0, HPT_UNDECIDED,
                hpt_scheme_name(scheme), "The scheme is only approximately correct; kernels are made of proved ones.");
done:
    return status;
}

hpt_status hpt_emit_make(json_t **files, hpt_kernel_plan **plan_out, const hpt_scheme *scheme,
                         const hpt_schedule *schedule, const hpt_emit_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_target *target;
    hpt_kernel_plan *plan = NULL;
    *files = NULL;
    HPT_TRY(scheme_require_proved(scheme, error));
    HPT_TRY(hpt_target_find(&target, or_default(options->target, "sm_90a"), error));
    HPT_TRY(hpt_emit_plan(&plan, scheme, schedule, options, error));
    HPT_TRY(
        hpt_emit_files_with(files, or_default(options->op, "gemm"), plan, target, options->plan, options->with, error));
    if (plan_out) {
        *plan_out = plan;
        plan = NULL;
    }
done:
    hpt_kernel_plan_destroy(plan);
    return status;
}

hpt_status hpt_emit_write(const char *folder, const json_t *files, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *path;
    json_t *content;
    json_object_foreach((json_t *)(uintptr_t)files, path, content) HPT_TRY(file_write(folder, path, content, error));
done:
    return status;
}

hpt_status hpt_emit(const char *folder, const hpt_scheme *scheme, const hpt_schedule *schedule,
                    const hpt_emit_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *files = NULL;
    HPT_TRY(hpt_emit_make(&files, NULL, scheme, schedule, options, error));
    HPT_TRY(hpt_emit_write(folder, files, error));
done:
    json_decref(files);
    return status;
}
