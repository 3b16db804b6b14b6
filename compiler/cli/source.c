#include "source.h"
#include "report.h"
#include "targets/target.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void hpt_folder_remove(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

hpt_status hpt_parse_three(int64_t out[3], const char *text, const char *where, hpt_error *error) {
    long long a, b, c;
    char rest;
    if (sscanf(text, "%lld%*1[,x]%lld%*1[,x]%lld%c", &a, &b, &c, &rest) != 3 || a < 1 || b < 1 || c < 1)
        return hpt_error_set(error, HPT_USAGE, where, "\"%s\" is not three positive numbers like 2,2,2.", text);
    out[0] = a;
    out[1] = b;
    out[2] = c;
    return HPT_OK;
}

static bool is_operation(const char *path) {
    char file[4096];
    struct stat info;
    int length = snprintf(file, sizeof file, "%s/op.json", path);
    return length > 0 && (size_t)length < sizeof file && stat(file, &info) == 0;
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static hpt_status emit_into(const char *folder, const char *name, const hpt_source_options *o, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    hpt_schedule *schedule = NULL;
    hpt_read_options reading = {.ring = o->ring, .format = o->format, .progress = &hpt_cli_progress};
    hpt_chain_options chaining = {.time_limit = o->time_limit};
    const char *target = o->emit.target ? o->emit.target : "sm_90a";
    if (o->shape) {
        int64_t shape[3] = {0};
        HPT_TRY(hpt_parse_three(shape, o->shape, "--shape", error));
        reading.n = (int32_t)shape[0];
        reading.m = (int32_t)shape[1];
        reading.p = (int32_t)shape[2];
    }
    HPT_TRY(hpt_scheme_read_proved(&scheme, name, &reading, error));
    chaining.accumulators = hpt_target_accumulators(target);
    if (chaining.accumulators < 1) {
        const hpt_target *ignored;
        HPT_TRY(hpt_target_find(&ignored, target, error)); /* says which there are */
    }
    HPT_FAIL_IF(o->chain && strcmp(o->chain, "none") != 0 && strcmp(o->chain, "optimal") != 0, HPT_USAGE, "--chain",
                "It is optimal or none.");
    chaining.unchained = o->chain && strcmp(o->chain, "none") == 0;
    HPT_TRY(hpt_cli_chain(&schedule, scheme, &chaining, error));
    HPT_TRY(hpt_emit(folder, scheme, schedule, &o->emit, error));
done:
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
    return status;
}

/* The folder of an operation, which may be made for this. */
typedef struct source {
    char folder[256];
    bool temporary;
} source;

static void clear(source *s) {
    if (!s->temporary) return;
    hpt_files_hold(); /* an interrupt that ends the process removes the folder too, but not at the same time */
    hpt_folder_remove(s->folder);
    hpt_cli_leave_nothing(NULL);
    hpt_files_release();
}

static hpt_status make_temporary(source *out, hpt_error *error) {
    const char *base = getenv("TMPDIR");
    snprintf(out->folder, sizeof out->folder, "%.200s/heptane-XXXXXX", base && *base ? base : "/tmp");
    hpt_files_hold();
    out->temporary = mkdtemp(out->folder) != NULL;
    if (out->temporary) hpt_cli_leave_nothing(out->folder);
    hpt_files_release();
    return out->temporary ? HPT_OK : hpt_error_set(error, HPT_IO, out->folder, "Cannot create a temporary folder.");
}

static hpt_status find(source *out, const char *name, const hpt_source_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    if (is_operation(name)) {
        int length = snprintf(out->folder, sizeof out->folder, "%s", name);
        HPT_FAIL_IF(length >= (int)sizeof out->folder, HPT_TOO_LARGE, name, "The folder's name is too long.");
        goto done;
    }
    HPT_FAIL_IF(is_folder(name), HPT_UNSUPPORTED, name,
                "This folder holds no op.json; name the folder that heptane emit wrote, not a package in it.");
    HPT_TRY(make_temporary(out, error));
    HPT_TRY(emit_into(out->folder, name, options, error));
done:
    return status;
}

hpt_status hpt_source_open(hpt_op **out, hpt_context *context, const char *name, const hpt_source_options *options,
                           hpt_error *error) {
    const char *plan = options->emit.plan;
    source s = {0};
    *out = NULL;
    hpt_status status = find(&s, name, options, error);
    if (status == HPT_OK) {
        hpt_progress_say(&hpt_cli_progress, "compiling %s%s%s ...", name, plan ? " " : "", plan ? plan : "");
        status = hpt_op_open(out, context, s.folder, error);
    }
    clear(&s);
    return status;
}

hpt_status hpt_source_refuse(const char *name, const hpt_source_options *o, hpt_error *error) {
    const struct {
        const char *option;
        bool given;
    } emitting[] = {{"--chain", o->chain},
                    {"--in-type", o->emit.in_type},
                    {"--forms", o->emit.forms},
                    {"--out-type", o->emit.out_type},
                    {"--sums", o->emit.sums},
                    {"--with", o->emit.with},
                    {"--plan", o->emit.plan},
                    {"--trans-x", o->emit.x_transposed},
                    {"--no-trans-y", o->emit.y_untransposed},
                    {"--shape", o->shape},
                    {"--ring", o->ring},
                    {"--from", o->format}};
    for (size_t i = 0; is_operation(name) && i < HPT_COUNT(emitting); i++)
        if (emitting[i].given)
            return hpt_error_set(error, HPT_USAGE, emitting[i].option,
                                 "This says how to emit a scheme; the kernels in %s are emitted already.", name);
    return HPT_OK;
}

/* The target of an operation folder; false for anything else, which hpt_op_open explains. */
static bool folder_target(char *out, size_t room, const char *path) {
    enum { LIMIT = 1 << 26 };
    char file[4096], *text = NULL;
    size_t length;
    if (!is_operation(path)) return false;
    snprintf(file, sizeof file, "%s/op.json", path);
    if (hpt_file_read(&text, &length, file, LIMIT, NULL) != HPT_OK) return false;
    json_t *op = json_loadb(text, length, 0, NULL);
    const char *target = json_string_value(json_object_get(op, "target"));
    if (target) snprintf(out, room, "%s", target);
    json_decref(op);
    free(text);
    return target != NULL;
}

hpt_status hpt_source_context(hpt_context **out, const char *name, const char *backend, int64_t device,
                              hpt_source_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context_info info;
    char own[64];
    HPT_TRY(hpt_context_open(out, backend, (int)device, options->emit.target, error));
    hpt_context_describe(*out, &info);
    if (!options->emit.target && strcmp(info.backend, "emulator") == 0 && folder_target(own, sizeof own, name) &&
        strcmp(own, info.target) != 0) {
        hpt_context_close(*out);
        HPT_TRY(hpt_context_open(out, backend, (int)device, own, error));
        hpt_context_describe(*out, &info);
    }
    HPT_FAIL_IF(!options->emit.target && hpt_target_accumulators(info.target) < 1, HPT_NO_DEVICE, info.device,
                "There are no kernels for this kind of GPU (%s); --backend emulator runs those for others.",
                info.target);
    if (!options->emit.target) options->emit.target = info.target;
done:
    return status;
}
