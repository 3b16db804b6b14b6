/* planted: puts one fault at a time into an emitted kernel and looks whether the emulator finds and names it.
 *
 *   planted KERNEL FOLDER [SEEDS [WORK [CONTROL [STEP]]]]   FOLDER: what `heptane emit --op gemm --target TARGET` wrote
 *
 * KERNEL: the target, and "delivering" behind it if C has another type than its sums: which rows of the table to try.
 * SEEDS: at most so many per fault (8; 0: no faults); CONTROL: seeds of the untouched kernels in each call (8); STEP:
 * only every so many-th fault (1); WORK: a folder to work in.
 *
 * Prints a Markdown table. Exit code 0: the untouched kernels have no finding on any seed, and every fault was found
 * and named as expected on at least one. A row of the tables is an edit of a kernel.cu's text (see faults.def). */
#include "cli/problem.h"
#include "emulator/emulator.h"
#include "launch/launch.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONTROL_SEEDS = 8 };

typedef struct call { /* how the op is called; sms 0: the emulator's default */
    const char *name, *settings;
    int m, n, k, sms;
} call;

static const call calls[] = {
    {"plain", NULL, 520, 520, 264, 0},
    {"beside", "beside=2", 520, 520, 264, 0}, /* the gemm kernel makes the forms of X itself */
    {"cut", "cut=1", 264, 264, 1032, 6},      /* three clusters share the chains of one tile */
    {"finish", NULL, 264, 261, 264, 0},       /* rows of C that are not aligned */
};

typedef struct fault {
    const char *kernel, *package, *call, *name, *from, *to;
    int which; /* occurrence from 1 on; 0: all */
    const char *expected;
} fault;

static const fault faults[] = {
#define PLANTED_IN(kernel, package, call, name, which, from, to, expected)                                             \
    {kernel, package, call, name, from, to, which, expected},
#define PLANTED(kernel, name, which, from, to, expected)                                                               \
    PLANTED_IN(kernel, "gemm", "plain", name, which, from, to, expected)
#include "faults.def"
#undef PLANTED
#undef PLANTED_IN
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
    snprintf(o->first, sizeof o->first, "%.399s", message);
}

static void collect(outcome *o, const char *expected, const hpt_emu_device *device) {
    for (size_t k = 0; k < hpt_emu_finding_count(device); k++) {
        const hpt_emu_finding *f = hpt_emu_finding_get(device, k);
        note(o, expected, hpt_emu_fault_name(f->fault), f->message);
    }
}

/* One seed: opens the op anew, runs it, compares. Faults in the kernel are an outcome, all else is an error. */
static hpt_status run_seed(outcome *o, const char *expected, const char *target, const char *folder, const call *how,
                           uint64_t seed, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context *context = NULL;
    hpt_op *op = NULL;
    hpt_data data = {
        .shape = {.m = how->m, .n = how->n, .k = how->k, .batch = 1}, .alpha = 1, .seed = 1, .settings = how->settings};
    hpt_problem problem = {0};
    void *host = NULL;
    hpt_op_info info;
    HPT_TRY(hpt_context_open(&context, "emulator", 0, target, error));
    hpt_emu_options options;
    hpt_emu_get_options(context->device, &options);
    options.seed = seed;
    options.patience = 3000000; /* clusters may spin while others work */
    if (how->sms) options.sms = how->sms;
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
                            const call *how, int seeds, bool all, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (*tried = 0; *tried < seeds && status == HPT_OK && (all || !o->named);)
        status = run_seed(o, expected, target, folder, how, (uint64_t)++ * tried, error);
    return status;
}

static const call *call_of(const char *name) {
    for (size_t k = 0; k < HPT_COUNT(calls); k++)
        if (strcmp(calls[k].name, name) == 0) return &calls[k];
    return &calls[0];
}

/* The untouched kernels, in every way they are called. */
static hpt_status try_controls(int *missed, const char *target, const char *work, int seeds, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (size_t k = 0; k < HPT_COUNT(calls) && status == HPT_OK; k++) {
        outcome o = {0};
        int tried;
        status = try_fault(&o, &tried, "", target, work, &calls[k], seeds, true, error);
        if (status == HPT_OK)
            printf("| nothing | %s | %s | none of %d | %s | |\n", calls[k].name, o.names.length ? "NO" : "yes", seeds,
                   o.names.length ? o.names.data : "");
        *missed += o.names.length > 0;
        hpt_text_clear(&o.names);
    }
    return status;
}

/* Plants one fault, runs, takes it out again; prints its row. True if it was named. */
static bool try_row(const fault *f, const char *target, const char *from, const char *work, int seeds) {
    hpt_status status = HPT_OK;
    hpt_error reason = {0}, *error = &reason;
    outcome o = {0};
    char original[600], planted[600], *source = NULL, *changed = NULL;
    size_t length;
    int tried = 0;
    snprintf(original, sizeof original, "%s/%s/kernel.cu", from, f->package);
    snprintf(planted, sizeof planted, "%s/%s/kernel.cu", work, f->package);
    HPT_TRY(hpt_file_read(&source, &length, original, 1 << 26, error));
    changed = edit(source, f);
    HPT_FAIL_IF(!changed, HPT_NOT_FOUND, original, "the text to edit is not there");
    HPT_TRY(hpt_file_write(planted, changed, strlen(changed), error));
    status = try_fault(&o, &tried, f->expected, target, work, call_of(f->call), seeds, false, error);
    hpt_status restored = hpt_file_write(planted, source, length, status == HPT_OK ? error : NULL);
    if (status == HPT_OK) status = restored;
done:;
    const bool ok = status == HPT_OK && o.named;
    printf("| %s | %s | %s | %d | %s | %.300s |\n", f->name, f->call, ok ? "yes" : "NO", tried,
           o.names.data ? o.names.data : "nothing", status != HPT_OK ? reason.message : o.first);
    fflush(stdout);
    hpt_text_clear(&o.names);
    free(changed);
    free(source);
    return ok;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: planted \"sm_90a|sm_100a [delivering]\" FOLDER [SEEDS [WORK [CONTROL [STEP]]]]\n");
        return 2;
    }
    const char *kernel = argv[1], *work = argc > 4 ? argv[4] : "planted.tmp";
    int seeds = argc > 3 ? atoi(argv[3]) : 8, controls = argc > 5 ? atoi(argv[5]) : CONTROL_SEEDS,
        step = argc > 6 ? atoi(argv[6]) : 1;
    int missed = 0, rows = 0, named = 0, number = 0;
    hpt_error error = {0};
    char path[600], target[32];
    snprintf(target, sizeof target, "%.*s", (int)strcspn(kernel, " "), kernel);
    snprintf(path, sizeof path, "%s/cache", work);
    setenv("HEPTANE_CACHE", path, 1);
    printf("| planted in the kernels for %s | call | named | on seed | found | what the emulator says |\n| --- | --- | "
           "--- | "
           "--- | --- | --- |\n",
           target);
    hpt_status status = copy_op(argv[2], work, &error);
    if (status == HPT_OK) status = try_controls(&missed, target, work, controls, &error);
    if (status != HPT_OK) {
        fprintf(stderr, "planted: %s: %s\n", error.where, error.message);
        return status == HPT_NO_NVRTC ? 77 : 1;
    }
    for (size_t k = 0; seeds > 0 && k < HPT_COUNT(faults); k++) {
        if (strcmp(faults[k].kernel, kernel) != 0 || number++ % (step > 0 ? step : 1) != 0) continue;
        rows++;
        named += try_row(&faults[k], target, argv[2], work, seeds);
    }
    printf("\n%d of %d named\n", named, rows);
    return missed || named < rows ? 1 : 0;
}
