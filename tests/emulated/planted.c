/* planted: puts one fault at a time into an emitted kernel and looks whether the emulator finds and names it.
 *
 *   planted KERNEL FOLDER [SEEDS [WORK [CONTROL [STEP]]]]   FOLDER: what `heptane emit --op gemm --target TARGET` wrote
 *
 * KERNEL: the target, and "delivering" behind it if C has another type than its sums: which rows of the table to try.
 * SEEDS: at most so many per fault (8; 0: no faults); CONTROL: seeds of the untouched kernel (8); STEP: only every so
 * many-th fault (1); WORK: a folder to work in.
 *
 * Prints a Markdown table. Exit code 0: the untouched kernel has no finding on any seed, and every fault was found and
 * named as expected on at least one. A row of the tables is an edit of kernel.cu's text (see faults.def). */
#include "cli/problem.h"
#include "emulator/emulator.h"
#include "launch/launch.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { M = 520, N = 520, K = 264, CONTROL_SEEDS = 8 };

typedef struct fault {
    const char *kernel, *name, *from, *to;
    int which; /* occurrence from 1 on; 0: all */
    const char *expected;
} fault;

static const fault faults[] = {
#define PLANTED(kernel, name, which, from, to, expected) {kernel, name, from, to, which, expected},
#include "faults.def"
#undef PLANTED
};

/* `text` with the edit made; NULL if there is nothing to edit */
static char *edit(const char *text, const fault *f) {
    hpt_text out = {0};
    int seen = 0, edits = 0;
    size_t length = strlen(f->from);
    while (*text) {
        const char *at = strstr(text, f->from);
        if (!at) break;
        hpt_text_add(&out, text, (size_t)(at - text));
        bool chosen = f->which == 0 || ++seen == f->which;
        hpt_text_puts(&out, chosen ? f->to : f->from);
        edits += chosen;
        text = at + length;
    }
    hpt_text_puts(&out, text);
    if (edits) return out.data;
    hpt_text_clear(&out);
    return NULL;
}

typedef struct outcome {
    hpt_text names;  /* of all faults found, each once */
    char first[400]; /* message of the first expected one */
    bool wrong;      /* the result differs from the reference */
    bool named;      /* as expected */
} outcome;

static bool lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) return true;
    return false;
}

static void note(outcome *o, const char *expected, const char *name, const char *message) {
    if (!lists(o->names.data ? o->names.data : "", name))
        hpt_text_printf(&o->names, "%s%s", o->names.length ? "," : "", name);
    if (!lists(expected, name) || o->named) return;
    o->named = true;
    snprintf(o->first, sizeof o->first, "%s", message);
}

static void collect(outcome *o, const char *expected, const hpt_emu_device *device) {
    for (size_t k = 0; k < hpt_emu_finding_count(device); k++) {
        const hpt_emu_finding *f = hpt_emu_finding_get(device, k);
        note(o, expected, hpt_emu_fault_name(f->fault), f->message);
    }
}

/* One seed: opens the op anew, runs it, compares. Faults in the kernel are an outcome, all else is an error. */
static hpt_status run_seed(outcome *o, const char *expected, const char *target, const char *folder, uint64_t seed,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_data data = {.shape = {.m = M, .n = N, .k = K, .batch = 1}, .alpha = 1, .seed = 1};
    hpt_problem problem = {0};
    void *host = NULL;
    hpt_op_info info;
    HPT_TRY(hpt_context_open(&context, "emulator", 0, target, error));
    hpt_emu_options options;
    hpt_emu_get_options(context->device, &options);
    options.seed = seed;
    options.patience = 300000;
    hpt_emu_set_options(context->device, &options);
    HPT_TRY(hpt_op_open(&op, context, folder, error));
    HPT_TRY(hpt_data_describe(&data, op, error));
    HPT_TRY(hpt_data_make(&data, error));
    HPT_TRY(hpt_problem_create(&problem, context, op, &data, 0, 0, 0, error));
    HPT_FAIL_NO_MEMORY(host = malloc(problem.bytes_c));
    status = hpt_problem_run_once(&problem, host, NULL, error);
    collect(o, expected, context->device);
    if (status == HPT_EMULATOR) {
        status = HPT_OK;
    } else if (status == HPT_OK) {
        hpt_check check;
        hpt_data_compare(&check, &data, host);
        hpt_op_describe(op, &info);
        o->wrong = check.bad || !(check.rel_error <= info.bound);
        if (o->wrong) note(o, expected, "wrong-result", "the result differs from the reference by more than the bound");
    }
done:
    hpt_problem_clear(&problem);
    hpt_data_clear(&data);
    hpt_op_close(op);
    hpt_context_close(context);
    free(host);
    return status;
}

static hpt_status copy_file(const char *from, const char *to, hpt_error *error) {
    char *text;
    size_t length;
    hpt_status status = hpt_file_read(&text, &length, from, 1 << 26, error);
    if (status != HPT_OK) return status;
    status = hpt_file_write(to, text, length, error);
    free(text);
    return status;
}

/* op.json and every package that is there */
static hpt_status copy_op(const char *from, const char *to, hpt_error *error) {
    static const char *const packages[] = {"forms_x", "forms_y", "gemm", "finish"};
    static const char *const files[] = {"kernel.cu", "manifest.json"};
    char a[512], b[512];
    snprintf(a, sizeof a, "%s/op.json", from);
    snprintf(b, sizeof b, "%s/op.json", to);
    hpt_status status = hpt_folder_create(to, error);
    if (status == HPT_OK) status = copy_file(a, b, error);
    for (size_t p = 0; p < HPT_COUNT(packages) && status == HPT_OK; p++) {
        struct stat is;
        snprintf(a, sizeof a, "%s/%s", from, packages[p]);
        if (stat(a, &is) != 0) continue;
        snprintf(b, sizeof b, "%s/%s", to, packages[p]);
        status = hpt_folder_create(b, error);
        for (size_t f = 0; f < HPT_COUNT(files) && status == HPT_OK; f++) {
            snprintf(a, sizeof a, "%s/%s/%s", from, packages[p], files[f]);
            snprintf(b, sizeof b, "%s/%s/%s", to, packages[p], files[f]);
            status = copy_file(a, b, error);
        }
    }
    return status;
}

/* Seeds until the fault is named; returns how many of them found something. */
static hpt_status try_fault(outcome *o, int *tried, const char *expected, const char *target, const char *folder,
                            int seeds, bool all, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (*tried = 0; *tried < seeds && status == HPT_OK && (all || !o->named);)
        status = run_seed(o, expected, target, folder, (uint64_t)++ * tried, error);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: planted \"sm_90a|sm_100a [delivering]\" FOLDER [SEEDS [WORK [CONTROL [STEP]]]]\n");
        return 2;
    }
    const char *kernel = argv[1], *work = argc > 4 ? argv[4] : "planted.tmp";
    int seeds = argc > 3 ? atoi(argv[3]) : 8, controls = argc > 5 ? atoi(argv[5]) : CONTROL_SEEDS,
        step = argc > 6 ? atoi(argv[6]) : 1;
    int tried, missed = 0, rows = 0, number = 0;
    hpt_error error = {0};
    char path[600], target[32], *source = NULL;
    size_t length;
    snprintf(target, sizeof target, "%.*s", (int)strcspn(kernel, " "), kernel);
    snprintf(path, sizeof path, "%s/cache", work);
    setenv("HEPTANE_CACHE", path, 1);
    outcome control = {0};
    hpt_status status = copy_op(argv[2], work, &error);
    snprintf(path, sizeof path, "%s/gemm/kernel.cu", work);
    if (status == HPT_OK) status = hpt_file_read(&source, &length, path, 1 << 26, &error);
    if (status == HPT_OK) status = try_fault(&control, &tried, "", target, work, controls, true, &error);
    if (status != HPT_OK) {
        fprintf(stderr, "planted: %s: %s\n", error.where, error.message);
        free(source);
        return status == HPT_NO_NVRTC ? 77 : 1;
    }
    printf("| planted in the gemm kernel for %s (%d x %d x %d) | named | on seed | found | what the emulator says |\n| "
           "--- | --- | --- | --- | --- |\n",
           kernel, M, N, K);
    printf("| nothing | %s | none of %d | %s | |\n", control.names.length ? "NO" : "yes", controls,
           control.names.length ? control.names.data : "");
    missed += control.names.length > 0;
    for (size_t k = 0; seeds > 0 && k < HPT_COUNT(faults); k++) {
        if (strcmp(faults[k].kernel, kernel) != 0 || number++ % (step > 0 ? step : 1) != 0) continue;
        outcome o = {0};
        char *changed = edit(source, &faults[k]);
        hpt_error reason = {0};
        rows++;
        if (changed) {
            status = hpt_file_write(path, changed, strlen(changed), &reason);
            if (status == HPT_OK)
                status = try_fault(&o, &tried, faults[k].expected, target, work, seeds, false, &reason);
        }
        bool ok = changed && status == HPT_OK && o.named;
        missed += !ok;
        printf("| %s | %s | %d | %s | %.300s |\n", faults[k].name, ok ? "yes" : "NO", changed ? tried : 0,
               o.names.data ? o.names.data : "nothing",
               !changed           ? "the text to edit is not there"
               : status != HPT_OK ? reason.message
                                  : o.first);
        fflush(stdout);
        hpt_text_clear(&o.names);
        free(changed);
    }
    printf("\n%d of %d named\n", rows - missed, rows);
    hpt_text_clear(&control.names);
    free(source);
    return missed ? 1 : 0;
}
