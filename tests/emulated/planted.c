/* planted: puts one fault at a time into an emitted kernel and looks whether the emulator finds and names it.
 *
 *   planted KERNEL FOLDER [SEEDS [WORK [CONTROL [STEP [WORD]]]]]   FOLDER: what `heptane emit --target TARGET` wrote
 *
 * KERNEL: which rows of the tables to try: the target, and behind it "delivering" if C has another type than its sums,
 * "targets" if products go to several blocks, in several rounds, or what shared.def has. SEEDS: at most so many per fault (8; 0: no faults); CONTROL: seeds of the untouched kernels
 * in each call (8); STEP: only every so many-th fault (1); WORD: only faults with this in their name; WORK: a folder to work in.
 *
 * Prints a Markdown table. Exit code 0: the untouched kernels have no finding on any seed, and every fault was found
 * and named as expected on at least one. A row of the tables is an edit of a kernel.cu's text (see faults.def,
 * shared.def). */
#include "planted_run.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONTROL_SEEDS = 8 };

static const call calls[] = {
    {NULL, "plain", NULL, 520, 520, 264, 0, 1},
    {NULL, "beside", "beside=2", 520, 520, 264, 0, 1}, /* the gemm kernel makes the forms of X itself */
    {NULL, "cut", "cut=1", 264, 264, 1032, 6, 1},      /* three clusters share the chains of one tile */
    {NULL, "finish", NULL, 264, 261, 264, 0, 1},       /* rows of C that are not aligned */
#define CALL(kernel, name, settings, m, n, k, sms, runs) {kernel, name, settings, m, n, k, sms, runs},
#include "shared.def"
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
#include "shared.def"
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
    static const char *const packages[] = {"forms_x",       "forms_y", "gemm", "finish",
                                           "rmsnorm_forms", "gate_up", "down", "gate_up_swiglu_forms"};
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
        status = planted_run(o, expected, target, folder, how, (uint64_t)++ * tried, error);
    return status;
}

/* Whether kernels of this name are called so. */
static bool is_call_of(const call *c, const char *kernel) {
    return c->kernel ? strcmp(c->kernel, kernel) == 0 : !strstr(kernel, "shared");
}

static const call *call_of(const fault *f) {
    for (size_t k = 0; k < HPT_COUNT(calls); k++)
        if (is_call_of(&calls[k], f->kernel) && strcmp(calls[k].name, f->call) == 0) return &calls[k];
    return &calls[0];
}

/* The untouched kernels, in every way they are called. */
static hpt_status try_controls(int *missed, const char *kernel, const char *target, const char *work, int seeds,
                               hpt_error *error) {
    hpt_status status = HPT_OK;
    for (size_t k = 0; k < HPT_COUNT(calls) && status == HPT_OK; k++) {
        if (!is_call_of(&calls[k], kernel)) continue;
        outcome o = {0};
        int tried;
        status = try_fault(&o, &tried, "", target, work, &calls[k], seeds, true, error);
        if (status == HPT_OK)
            printf("| nothing | %s | %s | none of %d | %s | %.300s |\n", calls[k].name, o.names.length ? "NO" : "yes", seeds,
                   o.names.length ? o.names.data : "", o.first);
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
    status = try_fault(&o, &tried, f->expected, target, work, call_of(f), seeds, false, error);
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
        fprintf(stderr,
                "usage: planted \"sm_90a|sm_100a [delivering|targets|shared ...]\" FOLDER [SEEDS [WORK [CONTROL [STEP [WORD]]]]]\n");
        return 2;
    }
    const char *kernel = argv[1], *work = argc > 4 ? argv[4] : "planted.tmp", *word = argc > 7 ? argv[7] : "";
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
    if (status == HPT_OK) status = try_controls(&missed, kernel, target, work, controls, &error);
    if (status != HPT_OK) {
        fprintf(stderr, "planted: %s: %s\n", error.where, error.message);
        return status == HPT_NO_NVRTC ? 77 : 1;
    }
    for (size_t k = 0; seeds > 0 && k < HPT_COUNT(faults); k++) {
        if (strcmp(faults[k].kernel, kernel) != 0 || number++ % (step > 0 ? step : 1) != 0) continue;
        if (!strstr(faults[k].name, word)) continue;
        rows++;
        named += try_row(&faults[k], target, argv[2], work, seeds);
    }
    printf("\n%d of %d named\n", named, rows);
    return missed || named < rows ? 1 : 0;
}
