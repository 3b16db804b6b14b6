/* heptane emulate: any PTX kernel on the CPU, with every fault that the emulator knows. */
#include "cli.h"
#include "emulator/launch_file.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEDS = 100000, MAX_THREADS = 64, MAX_FINDINGS = 256, TARGET = 16 };

typedef struct merged { /* the same fault at the same line, on any number of seeds; as the lowest of them shows it */
    hpt_emu_finding finding;
    int seeds;
} merged;

typedef struct emulation {
    const hpt_emu_launch_file *file;
    const char *ptx;
    size_t length;
    char target[TARGET];
    int64_t seed, seeds, sms, threads;
    pthread_mutex_t lock;
    int64_t next; /* seed to be run */
    hpt_emu_counters counters;
    merged findings[MAX_FINDINGS];
    size_t finding_count;
    int64_t faulty; /* seeds with findings */
    hpt_status status;
    hpt_error *error;
} emulation;

/* the word behind .target */
static void find_target(char out[TARGET], const char *ptx) {
    const char *at = strstr(ptx, ".target");
    snprintf(out, TARGET, "sm_90a");
    if (!at) return;
    at += strlen(".target");
    at += strspn(at, " \t\r\n");
    size_t length = strcspn(at, ", \t\r\n;");
    if (length > 3 && length < TARGET) snprintf(out, TARGET, "%.*s", (int)length, at);
}

static merged *find_merged(emulation *e, const hpt_emu_finding *new) {
    for (size_t k = 0; k < e->finding_count; k++) {
        const hpt_emu_finding *old = &e->findings[k].finding;
        if (old->fault == new->fault && old->line == new->line) return &e->findings[k];
    }
    if (e->finding_count == MAX_FINDINGS) return NULL;
    merged *fresh = &e->findings[e->finding_count++];
    *fresh = (merged){*new, 0};
    return fresh;
}

static void collect(emulation *e, const hpt_backend_device *device, bool first) {
    if (first) hpt_emu_get_counters(device, &e->counters);
    e->faulty += hpt_emu_finding_count(device) > 0;
    for (size_t k = 0; k < hpt_emu_finding_count(device); k++) {
        const hpt_emu_finding *new = hpt_emu_finding_get(device, k);
        merged *m = find_merged(e, new);
        if (!m) return;
        if (new->seed < m->finding.seed) m->finding = *new;
        m->seeds++;
    }
}

static int by_place(const void *a, const void *b) {
    const hpt_emu_finding *x = &((const merged *)a)->finding, *y = &((const merged *)b)->finding;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->fault > y->fault) - (x->fault < y->fault);
}

/* A seed on a device of its own; the first one also writes the outputs. */
static void run_seed(emulation *e, int64_t seed) {
    hpt_error error = {0};
    hpt_backend_device *device = NULL;
    bool first = seed == e->seed;
    hpt_status status = hpt_backend_emulator.open(&device, 0, e->target, &error);
    if (status == HPT_OK) {
        hpt_emu_options options;
        hpt_emu_get_options(device, &options);
        options.seed = (uint64_t)seed;
        options.sms = (int)e->sms;
        if (e->seeds == 1) options.threads = (int)e->threads;
        hpt_emu_set_options(device, &options);
        status = hpt_emu_launch_file_run(e->file, device, e->ptx, e->length, first, &error);
    }
    pthread_mutex_lock(&e->lock);
    if (status == HPT_OK || status == HPT_EMULATOR) {
        collect(e, device, first);
    } else if (e->status == HPT_OK) {
        e->status = status;
        if (e->error) *e->error = error;
    }
    pthread_mutex_unlock(&e->lock);
    if (device) hpt_backend_emulator.close(device);
}

static void *work(void *argument) {
    emulation *e = argument;
    for (;;) {
        pthread_mutex_lock(&e->lock);
        int64_t seed = e->next++;
        bool more = seed < e->seed + e->seeds && e->status == HPT_OK && !hpt_progress_interrupted(&hpt_cli_progress);
        if (more && e->seeds > 1)
            hpt_progress_say(&hpt_cli_progress, "seed %lld, %lld with findings", (long long)seed, (long long)e->faulty);
        pthread_mutex_unlock(&e->lock);
        if (!more) return NULL;
        run_seed(e, seed);
    }
}

static void run_seeds(emulation *e) {
    pthread_t handles[MAX_THREADS];
    int started = 0;
    int64_t wanted = e->threads < e->seeds ? e->threads : e->seeds;
    while (started + 1 < wanted && started < MAX_THREADS && pthread_create(&handles[started], NULL, work, e) == 0)
        started++;
    work(e);
    while (started) pthread_join(handles[--started], NULL);
}

static hpt_status report_json(const emulation *e, hpt_error *error) {
    json_t *findings = json_array();
    for (size_t k = 0; k < e->finding_count; k++) {
        json_t *finding = hpt_emu_finding_json(&e->findings[k].finding);
        json_object_set_new(finding, "seeds", json_integer(e->findings[k].seeds));
        json_array_append_new(findings, finding);
    }
    return hpt_json_print(json_pack("{s:b, s:s, s:I, s:I, s:I, s:o, s:o}", "ok", e->faulty == 0, "target", e->target,
                                    "seed", (json_int_t)e->seed, "seeds", (json_int_t)e->seeds, "faulty_seeds",
                                    (json_int_t)e->faulty, "counters", hpt_emu_counters_json(&e->counters), "findings",
                                    findings),
                          error);
}

static void report_text(const emulation *e) {
    for (size_t k = 0; k < e->finding_count; k++) {
        hpt_text text = {0};
        hpt_emu_finding_print(&text, &e->findings[k].finding);
        printf("%s\n", text.data ? text.data : "");
        if (e->seeds > 1) printf("    on %d of %lld seeds\n", e->findings[k].seeds, (long long)e->seeds);
        hpt_text_clear(&text);
    }
#define COUNTER(name, meaning)                                                                                         \
    if (e->counters.name) printf("%14llu  %s: %s\n", (unsigned long long)e->counters.name, #name, meaning);
#include "emulator/counters.def"
#undef COUNTER
    printf("%lld of %lld seed%s without a fault\n", (long long)(e->seeds - e->faulty), (long long)e->seeds,
           e->seeds == 1 ? "" : "s");
}

static hpt_status report(emulation *e, bool json, const char *path, hpt_error *error) {
    qsort(e->findings, e->finding_count, sizeof *e->findings, by_place);
    if (json) {
        hpt_status status = report_json(e, error);
        if (status != HPT_OK) return status;
    } else {
        report_text(e);
    }
    if (!e->faulty) return HPT_OK;
    return hpt_error_set(error, HPT_REFUTED, path, "The kernel broke a rule of the hardware in %lld of %lld runs.",
                         (long long)e->faulty, (long long)e->seeds);
}

hpt_status hpt_command_emulate(int argc, char **argv, hpt_error *error);

hpt_status hpt_command_emulate(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_emu_launch_file *file = NULL;
    char *ptx = NULL;
    size_t length;
    bool json = false, helped;
    const char *launch = NULL, *target = NULL;
    int first;
    static emulation e;
    e = (emulation){.seed = 1, .seeds = 1, .sms = 4, .threads = 2, .lock = PTHREAD_MUTEX_INITIALIZER, .error = error};
    const hpt_option options[] = {
        {"launch", 'l', HPT_OPTION_TEXT, &launch, "FILE",
         "the launch: grid, buffers, arguments (runtime/emulator/README.md)", 0, 0},
        {"target", 't', HPT_OPTION_TEXT, &target, "T", "device to emulate (default: the launch's, else the PTX's)", 0,
         0},
        {"seed", 's', HPT_OPTION_INTEGER, &e.seed, "S", "schedule of warps and asynchronous operations (default 1)", 0,
         INT32_MAX},
        {"seeds", 0, HPT_OPTION_INTEGER, &e.seeds, "N", "run N seeds from --seed on (default 1)", 1, MAX_SEEDS},
        {"sms", 0, HPT_OPTION_INTEGER, &e.sms, "N", "multiprocessors of the device (default 4)", 1, 1024},
        {"threads", 0, HPT_OPTION_INTEGER, &e.threads, "N", "host threads (default 2)", 1, MAX_THREADS},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "emulate",
        "FILE.ptx --launch LAUNCH.json [options]",
        "Runs any PTX kernel on the CPU and reports what hardware would punish.",
        "heptane emulate add.ptx --launch add.json\nheptane emulate gemm.ptx --launch gemm.json --seeds 64 --json\n",
        1,
        1,
        options,
        HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) return HPT_OK;
    HPT_FAIL_IF(!launch, HPT_USAGE, "--launch", "A launch file is needed (heptane emulate --help).");
    HPT_TRY(hpt_file_read(&ptx, &length, argv[first], (size_t)1 << 28, error));
    HPT_TRY(hpt_emu_launch_file_read(&file, launch, error));
    find_target(e.target, ptx);
    if (!target) target = hpt_emu_launch_file_target(file);
    HPT_FAIL_IF(target && strlen(target) >= TARGET, HPT_USAGE, "--target", "There is no target \"%s\".", target);
    if (target) snprintf(e.target, sizeof e.target, "%s", target);
    e.file = file;
    e.ptx = ptx;
    e.length = length;
    e.next = e.seed;
    run_seeds(&e);
    hpt_progress_end(&hpt_cli_progress);
    HPT_TRY(e.status);
    HPT_FAIL_IF(hpt_progress_interrupted(&hpt_cli_progress), HPT_INTERRUPTED, "", "Interrupted.");
    HPT_TRY(report(&e, json, argv[first], error));
done:
    hpt_emu_launch_file_close(file);
    free(ptx);
    return status;
}
