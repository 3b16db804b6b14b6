/* heptane compile: ahead of time, so that no NVRTC is needed where a package runs. */
#include "cli.h"
#include "jit/nvrtc.h"
#include "load/package.h"
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

hpt_status hpt_command_compile(int argc, char **argv, hpt_error *error);

typedef struct job {
    char *folder; /* of a package */
    char target[32];
    hpt_build build; /* texts are freed, figures stay */
    bool serialised;
    hpt_status status;
    hpt_error error;
} job;

typedef struct batch {
    job *jobs;
    size_t count, room, next;
    const hpt_nvrtc *nvrtc;
    const char *target; /* NULL: each package's own */
    pthread_mutex_t lock;
} batch;

/* ---- which packages ---- */
static hpt_status add_package(batch *b, const char *folder, hpt_error *error) {
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->jobs[i].folder, folder) == 0) return HPT_OK;
    if (b->count == b->room) {
        size_t room = b->room ? 2 * b->room : 16;
        job *grown = realloc(b->jobs, room * sizeof *grown);
        if (!grown) return hpt_error_set(error, HPT_NO_MEMORY, folder, "Out of memory.");
        b->jobs = grown;
        b->room = room;
    }
    b->jobs[b->count] = (job){.folder = strdup(folder)};
    if (!b->jobs[b->count].folder) return hpt_error_set(error, HPT_NO_MEMORY, folder, "Out of memory.");
    b->count++;
    return HPT_OK;
}

/* A package, or an operation, which stands for all its packages. */
static hpt_status add_folder(batch *b, const char *folder, hpt_error *error) {
    char path[PATH_MAX];
    struct stat info;
    hpt_operation *operation;
    snprintf(path, sizeof path, "%s/op.json", folder);
    if (stat(path, &info) != 0) return add_package(b, folder, error);
    hpt_status status = hpt_operation_read(&operation, folder, error);
    if (status != HPT_OK) return status;
    for (size_t i = 0; i < operation->step_count && status == HPT_OK; i++)
        status = add_package(b, operation->step[i].package->folder, error);
    hpt_operation_destroy(operation);
    return status;
}

/* ---- compiling ---- */
static hpt_status write_part(const char *folder, const char *target, const char *kind, const char *bytes, size_t length,
                             hpt_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/kernel.%s.%s", folder, target, kind);
    return hpt_file_write(path, bytes, length, error);
}

static hpt_status write_parts(const job *j, const hpt_build *build, const char *source, size_t length,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    char hash[HPT_HASH_LENGTH];
    char *text = NULL;
    hpt_sha256_hex(hash, source, length);
    json_t *stamp = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I}", "source", hash, "target", j->target, "nvrtc",
                              (json_int_t)build->nvrtc, "registers", (json_int_t)build->registers, "spill_stores",
                              (json_int_t)build->spill_stores, "spill_loads", (json_int_t)build->spill_loads);
    text = stamp ? json_dumps(stamp, JSON_INDENT(1)) : NULL;
    HPT_FAIL_NO_MEMORY(text);
    HPT_TRY(write_part(j->folder, j->target, "cubin", build->cubin, build->cubin_length, error));
    HPT_TRY(write_part(j->folder, j->target, "ptx", build->ptx, build->ptx_length, error));
    HPT_TRY(write_part(j->folder, j->target, "json", text, strlen(text), error)); /* last: it vouches for the others */
done:
    free(text);
    json_decref(stamp);
    return status;
}

static hpt_status compile_one(job *j, const batch *b, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_manifest *m = NULL;
    char path[PATH_MAX], *source = NULL;
    size_t length;
    hpt_build build = {0};
    HPT_TRY(hpt_manifest_read(&m, j->folder, error));
    snprintf(j->target, sizeof j->target, "%.31s", b->target ? b->target : m->target);
    HPT_FAIL_IF(strcmp(j->target, m->target) != 0, HPT_UNSUPPORTED, j->folder,
                "The package was emitted for %s and cannot be compiled for %s.", m->target, j->target);
    snprintf(path, sizeof path, "%s/kernel.cu", j->folder);
    HPT_TRY(hpt_file_read(&source, &length, path, HPT_PACKAGE_LIMIT, error));
    HPT_TRY(hpt_nvrtc_compile(&build, b->nvrtc, source, m->symbol, j->target, m->nvrtc, m->nvrtc_count, error));
    hpt_files_hold(); /* all parts or none */
    status = write_parts(j, &build, source, length, error);
    hpt_files_release();
    HPT_TRY(status);
    j->serialised = hpt_build_serialised(&build);
    j->build = (hpt_build){.registers = build.registers,
                           .spill_stores = build.spill_stores,
                           .spill_loads = build.spill_loads,
                           .cubin_length = build.cubin_length};
done:
    hpt_build_clear(&build);
    hpt_manifest_destroy(m);
    free(source);
    return status;
}

static void *work(void *argument) {
    batch *b = argument;
    for (;;) {
        pthread_mutex_lock(&b->lock);
        size_t i = b->next++;
        pthread_mutex_unlock(&b->lock);
        if (i >= b->count) return NULL;
        hpt_progress_say(&hpt_cli_progress, "compiling %zu of %zu", i + 1, b->count);
        b->jobs[i].status = compile_one(&b->jobs[i], b, &b->jobs[i].error);
    }
}

static void compile_all(batch *b, int64_t threads) {
    pthread_t thread[256];
    int64_t started = 0;
    while (started + 1 < threads && pthread_create(&thread[started], NULL, work, b) == 0) started++;
    work(b);
    for (int64_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

/* ---- reporting ---- */
static hpt_status print_results(const batch *b, bool json, hpt_error *error) {
    json_t *cubins = json_array(), *packages = json_array();
    int64_t registers = 0, spills = 0;
    for (size_t i = 0; i < b->count; i++) {
        const job *j = &b->jobs[i];
        char path[PATH_MAX];
        int64_t spill = j->build.spill_stores + j->build.spill_loads;
        if (j->status != HPT_OK) continue;
        snprintf(path, sizeof path, "%s/kernel.%s.cubin", j->folder, j->target);
        json_array_append_new(cubins, hpt_json_text(path));
        json_array_append_new(packages, json_pack("{s:o,s:s,s:I,s:I,s:b}", "package", hpt_json_text(j->folder),
                                                  "target", j->target, "registers", (json_int_t)j->build.registers,
                                                  "spills", (json_int_t)spill, "wgmma_serialised", j->serialised));
        if (j->build.registers > registers) registers = j->build.registers;
        spills += spill;
        if (!json)
            printf("%-8s %4" PRId64 " registers %6" PRId64 " bytes spilled%s  %s\n", j->target, j->build.registers,
                   spill, j->serialised ? "  wgmma SERIALISED" : "", path);
    }
    if (json)
        return hpt_json_print(json_pack("{s:o,s:I,s:I,s:o}", "cubins", cubins, "registers", (json_int_t)registers,
                                        "spills", (json_int_t)spills, "packages", packages),
                              error);
    json_decref(cubins);
    json_decref(packages);
    return HPT_OK;
}

hpt_status hpt_command_compile(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped = false;
    int first;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t threads = processors > 0 ? processors : 1;
    hpt_nvrtc *nvrtc = NULL;
    batch b = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const hpt_option options[] = {
        {"target", 't', HPT_OPTION_TEXT, &b.target, "T", "exact target; default: each package's own", 0, 0},
        {"jobs", 'j', HPT_OPTION_INTEGER, &threads, "J", "packages compiled at once (default: processors)", 1, 256},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"compile",
                             "FOLDER... [options]",
                             "Compiles packages ahead of time: cubin and PTX go into each package.",
                             "heptane compile strassen-gemm            all packages of an operation\n"
                             "heptane compile */ -j 8 --json           many, with registers and spills\n",
                             1,
                             -1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    for (int i = first; i < argc; i++) HPT_TRY(add_folder(&b, argv[i], error));
    HPT_TRY(hpt_nvrtc_open(&nvrtc, error));
    b.nvrtc = nvrtc;
    HPT_TRY(hpt_cli_end_on_interrupt(true, error)); /* packages that are compiled stay */
    compile_all(&b, threads);
    hpt_progress_end(&hpt_cli_progress);
    HPT_TRY(print_results(&b, json, error));
    for (size_t i = 0; i < b.count; i++) {
        if (b.jobs[i].status != HPT_OK) *error = b.jobs[i].error;
        HPT_TRY(b.jobs[i].status);
    }
done:
    for (size_t i = 0; i < b.count; i++) free(b.jobs[i].folder);
    free(b.jobs);
    hpt_nvrtc_close(nvrtc);
    return status;
}
