#include "jit/nvrtc.h"
#include <dlfcn.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NVRTC_SUCCESS = 0, NVRTC_INVALID_OPTION = 5, MAX_OPTIONS = 64 };

typedef struct program_s *program; /* nvrtcProgram */

struct hpt_nvrtc {
    void *library;
    char path[PATH_MAX];
    int version;
    int (*Version)(int *, int *);
    int (*CreateProgram)(program *, const char *, const char *, int, const char *const *, const char *const *);
    int (*DestroyProgram)(program *);
    int (*CompileProgram)(program, int, const char *const *);
    int (*GetPTXSize)(program, size_t *);
    int (*GetPTX)(program, char *);
    int (*GetCUBINSize)(program, size_t *);
    int (*GetCUBIN)(program, char *);
    int (*GetProgramLogSize)(program, size_t *);
    int (*GetProgramLog)(program, char *);
    const char *(*GetErrorString)(int);
};

/* ---- finding it ---- */
static void preload_builtins(const char *library) {
    char pattern[PATH_MAX + 32], folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", library);
    snprintf(pattern, sizeof pattern, "%s/libnvrtc-builtins.so.*", dirname(folder));
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
    globfree(&found);
}

static bool bind(hpt_nvrtc *n) {
#define BIND(name) (*(void **)&n->name = dlsym(n->library, "nvrtc" #name)) != NULL
    return BIND(Version) && BIND(CreateProgram) && BIND(DestroyProgram) && BIND(CompileProgram) && BIND(GetPTXSize) &&
           BIND(GetPTX) && BIND(GetCUBINSize) && BIND(GetCUBIN) && BIND(GetProgramLogSize) && BIND(GetProgramLog) &&
           BIND(GetErrorString);
#undef BIND
}

static bool try_file(hpt_nvrtc *n, const char *file) {
    if (strchr(file, '/')) preload_builtins(file);
    n->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) return false;
    int major, minor;
    if (!bind(n) || n->Version(&major, &minor) != NVRTC_SUCCESS) {
        dlclose(n->library);
        n->library = NULL;
        return false;
    }
    n->version = 1000 * major + 10 * minor;
    Dl_info info; /* where the loader found it, for doctor and for its builtins */
    if (dladdr(*(void **)&n->Version, &info) && info.dli_fname) {
        if (!realpath(info.dli_fname, n->path)) snprintf(n->path, sizeof n->path, "%s", info.dli_fname);
        preload_builtins(n->path);
    }
    return true;
}

/* Tries the newest library that a glob pattern matches and notes the pattern. */
static bool try_pattern(hpt_nvrtc *n, hpt_text *looked, const char *pattern) {
    hpt_text_printf(looked, "%s%s", looked->length ? ", " : "", pattern);
    glob_t found;
    bool ok = false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !ok;) ok = try_file(n, found.gl_pathv[i]);
    globfree(&found);
    return ok;
}

static bool try_folder(hpt_nvrtc *n, hpt_text *looked, const char *folder, const char *below) {
    char pattern[PATH_MAX + 128];
    snprintf(pattern, sizeof pattern, "%s%s/libnvrtc.so*", folder, below);
    return try_pattern(n, looked, pattern);
}

static bool try_environment(hpt_nvrtc *n, hpt_text *looked, const char *value) {
    struct stat info;
    if (stat(value, &info) == 0 && S_ISDIR(info.st_mode)) return try_folder(n, looked, value, "");
    hpt_text_printf(looked, "HEPTANE_NVRTC=%s", value);
    return try_file(n, value);
}

static bool try_beside_program(hpt_nvrtc *n, hpt_text *looked) {
    char program_path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    if (length <= 0) return false;
    program_path[length] = '\0';
    char *folder = dirname(program_path);
    static const char *const below[] = {"", "/../lib", "/../.venv/lib/python3*/site-packages/nvidia/*/lib",
                                        "/../../.venv/lib/python3*/site-packages/nvidia/*/lib",
                                        "/../../../.venv/lib/python3*/site-packages/nvidia/*/lib"};
    for (size_t i = 0; i < HPT_COUNT(below); i++)
        if (try_folder(n, looked, folder, below[i])) return true;
    return false;
}

/* Where pip puts the wheel: an active environment, the user's packages, the machine's. */
static bool try_wheels(hpt_nvrtc *n, hpt_text *looked) {
    static const char below[] = "/lib/python3*/*-packages/nvidia/*/lib";
    const char *active = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
    char own[PATH_MAX];
    if (active && *active && try_folder(n, looked, active, below)) return true;
    if (home && *home && (size_t)snprintf(own, sizeof own, "%s/.local", home) < sizeof own &&
        try_folder(n, looked, own, below))
        return true;
    return try_folder(n, looked, "/usr/local", below);
}

static bool try_system(hpt_nvrtc *n, hpt_text *looked) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    for (size_t i = 0; i < HPT_COUNT(variables); i++) {
        const char *home = getenv(variables[i]);
        if (home && *home && (try_folder(n, looked, home, "/lib64") || try_folder(n, looked, home, "/lib")))
            return true;
    }
    hpt_text_puts(looked, ", the loader's path");
    for (size_t i = 0; i < HPT_COUNT(sonames); i++)
        if (try_file(n, sonames[i])) return true;
    return try_folder(n, looked, "/usr/local/cuda", "/lib64") || try_wheels(n, looked);
}

hpt_status hpt_nvrtc_open(hpt_nvrtc **out, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text looked = {0};
    hpt_nvrtc *n = calloc(1, sizeof *n);
    HPT_FAIL_NO_MEMORY(n);
    const char *chosen = getenv("HEPTANE_NVRTC");
    bool found = chosen && *chosen ? try_environment(n, &looked, chosen)
                                   : try_beside_program(n, &looked) || try_system(n, &looked);
    HPT_FAIL_IF(
        !found, HPT_NO_NVRTC, "libnvrtc",
        "NVRTC was not found. Looked at: %s. Install the CUDA toolkit or the Python wheel nvidia-cuda-nvrtc, or set "
        "HEPTANE_NVRTC to the library.",
        looked.failed ? "?" : looked.data);
    *out = n;
    n = NULL;
done:
    hpt_text_clear(&looked);
    free(n);
    return status;
}

/* The library itself stays loaded: it keeps memory and threads that do not survive being unloaded. */
void hpt_nvrtc_close(hpt_nvrtc *nvrtc) { free(nvrtc); }

const char *hpt_nvrtc_path(const hpt_nvrtc *nvrtc) { return nvrtc->path; }
int hpt_nvrtc_version(const hpt_nvrtc *nvrtc) { return nvrtc->version; }

/* ---- compiling ---- */
/* Texts come with the NUL that ends them, which does not count. */
static size_t without_nul(const char *text, size_t length) {
    return length && text[length - 1] == '\0' ? length - 1 : length;
}

static hpt_status fetch(char **out, size_t *length, const hpt_nvrtc *n, program p, int (*size)(program, size_t *),
                        int (*get)(program, char *), const char *name, hpt_error *error) {
    size_t bytes = 0;
    int code = size(p, &bytes);
    char *data = code == NVRTC_SUCCESS ? calloc(1, bytes + 1) : NULL;
    if (code == NVRTC_SUCCESS && !data) return hpt_error_set(error, HPT_NO_MEMORY, name, "Out of memory.");
    if (code == NVRTC_SUCCESS && bytes) code = get(p, data);
    if (code != NVRTC_SUCCESS) {
        free(data);
        return hpt_error_set(error, HPT_COMPILE, name, "NVRTC gave no result: %s.", n->GetErrorString(code));
    }
    *out = data;
    *length = bytes;
    return HPT_OK;
}

/* Which option NVRTC refuses: each is tried alone on an empty program. */
static const char *refused_option(const hpt_nvrtc *n, const char *const *options, int count) {
    for (int i = 0; i < count; i++) {
        program p = NULL;
        if (n->CreateProgram(&p, "", "option", 0, NULL, NULL) != NVRTC_SUCCESS) return NULL;
        int code = n->CompileProgram(p, 1, &options[i]);
        n->DestroyProgram(&p);
        if (code == NVRTC_INVALID_OPTION) return options[i];
    }
    return NULL;
}

/* The first lines of a log that speak of errors, short enough for a message. */
static void first_errors(char *out, size_t room, const char *log) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *line = log; *line && used + 2 < room;) {
        size_t length = strcspn(line, "\n");
        if (memmem(line, length, "error", 5) || memmem(line, length, "fatal", 5)) {
            size_t take = length < room - used - 2 ? length : room - used - 2;
            used += (size_t)snprintf(out + used, room - used, "%s%.*s", used ? "\n" : "", (int)take, line);
        }
        line += length + (line[length] == '\n');
    }
    if (!used) snprintf(out, room, "%s", log);
}

hpt_status hpt_nvrtc_compile(hpt_build *out, const hpt_nvrtc *nvrtc, const char *source, const char *name,
                             const char *target, const char *const *options, size_t option_count, hpt_error *error) {
    hpt_status status = HPT_OK;
    program p = NULL;
    const char *all[MAX_OPTIONS];
    char arch[64];
    int count = 0;
    hpt_build build = {.origin = "nvrtc", .nvrtc = nvrtc->version};
    HPT_FAIL_IF(option_count + 2 > MAX_OPTIONS, HPT_TOO_LARGE, name, "There are more than %d NVRTC options.",
                MAX_OPTIONS - 2);
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", target);
    all[count++] = arch;
    all[count++] = "--ptxas-options=-v";
    for (size_t i = 0; i < option_count; i++) all[count++] = options[i];
    int code = nvrtc->CreateProgram(&p, source, name, 0, NULL, NULL);
    HPT_FAIL_IF(code != NVRTC_SUCCESS, HPT_COMPILE, name, "NVRTC cannot create a program: %s.",
                nvrtc->GetErrorString(code));
    code = nvrtc->CompileProgram(p, count, all);
    HPT_TRY(
        fetch(&build.log, &build.log_length, nvrtc, p, nvrtc->GetProgramLogSize, nvrtc->GetProgramLog, name, error));
    build.log_length = without_nul(build.log, build.log_length);
    if (code == NVRTC_INVALID_OPTION) {
        const char *bad = refused_option(nvrtc, all, count);
        HPT_FAIL_IF(true, HPT_COMPILE, name, "NVRTC %d.%d does not take the option \"%s\". %s", nvrtc->version / 1000,
                    nvrtc->version % 1000 / 10, bad ? bad : "(several together)", build.log);
    }
    if (code != NVRTC_SUCCESS) {
        char text[HPT_ERROR_MESSAGE - 100];
        first_errors(text, sizeof text, build.log);
        HPT_FAIL_IF(true, HPT_COMPILE, name, "The kernel does not compile for %s:\n%s", target, text);
    }
    HPT_TRY(fetch(&build.ptx, &build.ptx_length, nvrtc, p, nvrtc->GetPTXSize, nvrtc->GetPTX, name, error));
    build.ptx_length = without_nul(build.ptx, build.ptx_length);
    HPT_TRY(fetch(&build.cubin, &build.cubin_length, nvrtc, p, nvrtc->GetCUBINSize, nvrtc->GetCUBIN, name, error));
    hpt_build_read_log(&build);
    *out = build;
    build = (hpt_build){0};
done:
    if (p) nvrtc->DestroyProgram(&p);
    hpt_build_clear(&build);
    return status;
}
