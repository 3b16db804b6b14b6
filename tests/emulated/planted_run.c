/* Runs a gemm or an MLP block in the emulator and notes what it finds. */
#include "planted_run.h"
#include "emulator/emulator.h"
#include "launch/launch.h"
#include "mlp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) return true;
    return false;
}

static void note(outcome *o, const char *expected, const char *name, const char *message) {
    if (!lists(o->names.data ? o->names.data : "", name))
        hpt_text_printf(&o->names, "%s%s", o->names.length ? "," : "", name);
    if (*expected && (!lists(expected, name) || o->named)) return; /* nothing is expected of untouched kernels */
    o->named = *expected != 0;
    if (*expected || !*o->first) snprintf(o->first, sizeof o->first, "%.399s", message);
}

static void collect(outcome *o, const char *expected, const hpt_emu_device *device) {
    for (size_t k = 0; k < hpt_emu_finding_count(device); k++) {
        const hpt_emu_finding *f = hpt_emu_finding_get(device, k);
        note(o, expected, hpt_emu_fault_name(f->fault), f->message);
    }
}

/* A gemm or an MLP block bound to random data. */
typedef struct bound {
    bool mlp;
    hpt_data data;
    hpt_problem problem;
    hpt_mlp_data mlp_data;
    hpt_mlp_device device;
    hpt_mlp_problem mlp_problem;
    uint32_t overflow; /* what the last run said */
    /* of whichever it is */
    hpt_context *context;
    hpt_op *op;
    hpt_call *bound_call;
    const uint64_t *buffer;
    hpt_device_ptr c;
    size_t bytes_c;
} bound;

static hpt_status bind_gemm(bound *b, hpt_context *context, hpt_op *op, const call *how, hpt_error *error) {
    hpt_status status = HPT_OK;
    b->data = (hpt_data){
        .shape = {.m = how->m, .n = how->n, .k = how->k, .batch = 1}, .alpha = 1, .seed = 1, .settings = how->settings};
    HPT_TRY(hpt_data_describe(&b->data, op, error));
    HPT_TRY(hpt_data_make(&b->data, error));
    HPT_TRY(hpt_problem_create(&b->problem, context, op, &b->data, 0, 0, 0, error));
    b->bound_call = b->problem.call, b->buffer = b->problem.buffer;
    b->c = b->problem.c, b->bytes_c = b->problem.bytes_c;
done:
    return status;
}

static hpt_status bind_mlp(bound *b, hpt_context *context, hpt_op *op, const call *how, hpt_error *error) {
    hpt_status status = HPT_OK;
    b->mlp_data = (hpt_mlp_data){.shape = {how->m, how->n, how->k}, .eps = 1e-6, .seed = 1, .settings = how->settings};
    HPT_TRY(hpt_mlp_describe(&b->mlp_data, op, error));
    HPT_TRY(hpt_mlp_data_make(&b->mlp_data, error));
    HPT_TRY(hpt_mlp_upload(&b->device, context, &b->mlp_data, b->mlp_data.type, error));
    HPT_TRY(hpt_mlp_problem_create(&b->mlp_problem, op, &b->mlp_data, &b->device, error));
    b->bound_call = b->mlp_problem.call, b->buffer = b->mlp_problem.buffer;
    b->c = b->mlp_problem.c, b->bytes_c = b->mlp_problem.bytes_c;
done:
    return status;
}

static hpt_status run_once(bound *b, void *host, hpt_error *error) {
    if (b->mlp) return hpt_mlp_problem_run_once(&b->mlp_problem, host, &b->overflow, NULL, error);
    return hpt_problem_run_once(&b->problem, host, NULL, error);
}

/* Twice, one behind the other as calls of an application are: kernels of the second may start before the first has ended. */
static hpt_status run_twice(bound *b, void *host, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(hpt_device_fill(b->context, b->c, 0xff, b->bytes_c, NULL, error));
    HPT_TRY(hpt_call_run(b->bound_call, NULL, error));
    HPT_TRY(hpt_call_run(b->bound_call, NULL, error));
    HPT_TRY(hpt_device_synchronize(b->context, NULL, error));
    HPT_TRY(hpt_device_download(b->context, host, b->c, b->bytes_c, error));
    if (b->mlp)
        HPT_TRY(hpt_device_download(b->context, &b->overflow, b->mlp_problem.overflow, sizeof b->overflow, error));
done:
    return status;
}

/* Counters must be zero between launches. */
static hpt_status check_counters(outcome *o, const char *expected, const bound *b, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *name, *role;
    uint8_t *content = NULL;
    for (size_t i = 0; (name = hpt_op_buffer(b->op, i, &role, NULL)); i++) {
        size_t bytes;
        bool zero;
        HPT_TRY(hpt_call_bytes(b->bound_call, name, &bytes, &zero, error));
        if (!zero || !bytes || !b->buffer[i]) continue;
        free(content);
        HPT_FAIL_NO_MEMORY(content = malloc(bytes));
        HPT_TRY(hpt_device_download(b->context, content, b->buffer[i], bytes, error));
        for (size_t k = 0; k < bytes; k++)
            if (content[k]) {
                note(o, expected, "counters-left", "counters are not zero when the kernels have ended");
                break;
            }
    }
done:
    free(content);
    return status;
}

static void unbind(bound *b) {
    hpt_problem_clear(&b->problem);
    hpt_data_clear(&b->data);
    hpt_mlp_problem_clear(&b->mlp_problem);
    hpt_mlp_device_clear(&b->device);
    hpt_mlp_data_clear(&b->mlp_data);
}

static void compare(outcome *o, const char *expected, const bound *b, const void *host, double limit) {
    hpt_check check;
    if (b->mlp)
        hpt_mlp_compare(&check, &b->mlp_data, b->mlp_data.type_c, host);
    else
        hpt_data_compare(&check, &b->data, host);
    if (check.bad || !(check.rel_error <= limit))
        note(o, expected, "wrong-result", "the result differs from the reference by more than the bound");
    if (b->overflow) note(o, expected, "wrong-result", "the kernels say that something left the range of its type");
}

static void set_seed(hpt_context *context, uint64_t seed) {
    hpt_emu_options options;
    hpt_emu_get_options(context->device, &options);
    options.seed = seed;
    options.patience = 3000000; /* clusters may spin while others work */
    hpt_emu_set_options(context->device, &options);
}

/* Later runs are scheduled otherwise than the first. */
static hpt_status run_all(outcome *o, const char *expected, bound *b, const call *how, uint64_t seed, double limit,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    char *host = NULL, *again = NULL;
    HPT_FAIL_NO_MEMORY(host = malloc(b->bytes_c));
    HPT_FAIL_NO_MEMORY(again = malloc(b->bytes_c));
    HPT_TRY(run_once(b, host, error));
    compare(o, expected, b, host, limit);
    HPT_TRY(check_counters(o, expected, b, error));
    for (int i = 1; i < how->runs; i++) {
        set_seed(b->context, seed + 1000 * (uint64_t)i);
        HPT_TRY(run_twice(b, again, error));
        compare(o, expected, b, again, limit);
        HPT_TRY(check_counters(o, expected, b, error));
        if (memcmp(host, again, b->bytes_c) != 0)
            note(o, expected, "bits-vary", "a second run gives another result than the first");
    }
done:
    free(host);
    free(again);
    return status;
}

static hpt_status open_device(hpt_context **context, const char *target, const call *how, uint64_t seed,
                              hpt_error *error) {
    char sms[16];
    snprintf(sms, sizeof sms, "%d", how->sms);
    if (how->sms) /* before it is opened: sizes of buffers depend on it */
        setenv("HEPTANE_EMULATOR_SMS", sms, 1);
    else
        unsetenv("HEPTANE_EMULATOR_SMS");
    hpt_status status = hpt_context_open(context, "emulator", 0, target, error);
    if (status != HPT_OK) return status;
    set_seed(*context, seed);
    return status;
}

hpt_status planted_run(outcome *o, const char *expected, const char *target, const char *folder, const call *how,
                       uint64_t seed, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    bound b = {0};
    hpt_op_info info;
    HPT_TRY(open_device(&context, target, how, seed, error));
    HPT_TRY(hpt_op_open(&op, context, folder, error));
    hpt_op_describe(op, &info);
    b.mlp = strcmp(info.op, "mlp") == 0;
    b.context = context, b.op = op;
    HPT_TRY(b.mlp ? bind_mlp(&b, context, op, how, error) : bind_gemm(&b, context, op, how, error));
    status = run_all(o, expected, &b, how, seed, info.bound, error);
    collect(o, expected, context->device);
    if (status == HPT_EMULATOR) status = HPT_OK;
done:
    unbind(&b);
    hpt_op_close(op);
    hpt_context_close(context);
    return status;
}
