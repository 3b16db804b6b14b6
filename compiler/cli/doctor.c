/* heptane doctor: what was found on this machine, and what to do about what was not. */
#include "backend/backend.h"
#include "backend/driver.h"
#include "cache/cache.h"
#include "cli.h"
#include "jit/nvrtc.h"
#include <heptane/emit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_doctor(int argc, char **argv, hpt_error *error);

enum { MAX_GPUS = 64 };

/* One line of the report: a part, whether it is there, what it is, and the remedy. */
static void report(json_t *parts, bool json, const char *part, bool ok, const char *what, const char *remedy) {
    json_array_append_new(
        parts, json_pack("{s:s,s:b,s:s,s:s}", "part", part, "ok", ok, "what", what, "remedy", ok ? "" : remedy));
    if (json) return;
    printf("%-3s %-10s %s\n", ok ? "ok" : "no", part, what);
    if (!ok) printf("               -> %s\n", remedy);
}

static bool report_nvrtc(json_t *parts, bool json, int *version) {
    hpt_error error = {0};
    hpt_nvrtc *nvrtc = NULL;
    char what[4400];
    bool ok = hpt_nvrtc_open(&nvrtc, &error) == HPT_OK;
    if (ok)
        snprintf(what, sizeof what, "%d.%d, %s", hpt_nvrtc_version(nvrtc) / 1000, hpt_nvrtc_version(nvrtc) % 1000 / 10,
                 hpt_nvrtc_path(nvrtc));
    report(parts, json, "NVRTC", ok, ok ? what : error.message,
           "Install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`, or set HEPTANE_NVRTC to libnvrtc.so.13. "
           "Without it only packages with cubins run (heptane compile makes them).");
    *version = ok ? hpt_nvrtc_version(nvrtc) : 0;
    hpt_nvrtc_close(nvrtc);
    return ok;
}

static void report_gpus(json_t *parts, bool json, const hpt_driver *driver) {
    for (int i = 0; i < MAX_GPUS; i++) {
        hpt_backend_device *device;
        hpt_device_info info;
        hpt_error error = {0};
        char what[512], part[24];
        hpt_status status = hpt_backend_find("gpu")->open(&device, i, NULL, &error);
        if (status != HPT_OK) {
            if (i == 0) report(parts, json, "GPU", false, error.message, "Kernels run in the emulator instead.");
            return;
        }
        hpt_backend_find("gpu")->info(device, &info);
        snprintf(part, sizeof part, "GPU %d", i);
        bool known = hpt_target_accumulators(info.target) > 0;
        snprintf(what, sizeof what, "%s, %s, %d multiprocessors, %.0f GiB, driver of CUDA %d.%d", info.name,
                 info.target, info.sms, (double)info.memory_bytes / 1073741824.0, driver->version / 1000,
                 driver->version % 1000 / 10);
        report(parts, json, part, known, what, "There are no kernels for this kind of GPU.");
        hpt_backend_find("gpu")->close(device);
    }
}

/* Cubins of a newer major version of CUDA do not load. */
static void report_versions(json_t *parts, bool json, int nvrtc, int driver) {
    char what[128];
    if (nvrtc / 1000 <= driver / 1000) return;
    snprintf(what, sizeof what, "NVRTC is of CUDA %d.%d, the driver only of CUDA %d.%d", nvrtc / 1000,
             nvrtc % 1000 / 10, driver / 1000, driver % 1000 / 10);
    report(parts, json, "versions", false, what,
           "Use an NVRTC of the driver's major version (HEPTANE_NVRTC) or a newer driver.");
}

static void report_driver(json_t *parts, bool json, int nvrtc) {
    const hpt_driver *driver;
    hpt_error error = {0};
    if (hpt_driver_open(&driver, &error) != HPT_OK)
        report(parts, json, "driver", false, error.message,
               "Needed for a GPU only (an NVIDIA driver of CUDA 12.3 or later); kernels run in the emulator instead.");
    else {
        report_gpus(parts, json, driver);
        report_versions(parts, json, nvrtc, driver->version);
    }
}

static void report_cache(json_t *parts, bool json) {
    hpt_cache *cache = hpt_cache_open(NULL);
    if (!cache) return;
    const char *problem = hpt_cache_problem(cache);
    report(parts, json, "cache", !problem[0], problem[0] ? problem : hpt_cache_folder(cache),
           "Everything works, but kernels are compiled anew each time. Set HEPTANE_CACHE to a folder of your own.");
    hpt_cache_close(cache);
}

static bool report_targets(json_t *parts, bool json) {
    hpt_text names = {0};
    const char *const *list = hpt_target_names();
    for (size_t i = 0; list && list[i]; i++) hpt_text_printf(&names, "%s%s", i ? " " : "", list[i]);
    bool ok = names.length > 0;
    report(parts, json, "targets", ok, ok ? names.data : "none", "The templates were not found; reinstall Heptane.");
    hpt_text_clear(&names);
    return ok;
}

static void report_emulator(json_t *parts, bool json) {
    bool ok = hpt_backend_find("emulator") != NULL;
    report(parts, json, "emulator", ok, ok ? "built in" : "not built in", "Only a GPU can run kernels.");
}

hpt_status hpt_command_doctor(int argc, char **argv, hpt_error *error) {
    bool json = false, helped;
    int first;
    const hpt_option options[] = {{"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"doctor",
                             "[--json]",
                             "Says what was found: NVRTC, driver, GPUs, cache, targets; and what to do about the rest.",
                             "heptane doctor    ok or no for each part, with the remedy\n",
                             0,
                             0,
                             options,
                             1};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    json_t *parts = json_array();
    if (!parts) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    int version;
    bool nvrtc = report_nvrtc(parts, json, &version);
    report_driver(parts, json, version);
    report_emulator(parts, json);
    report_cache(parts, json);
    bool targets = report_targets(parts, json);
    if (json) return hpt_json_print(json_pack("{s:b,s:o}", "ok", nvrtc && targets, "parts", parts), error);
    json_decref(parts);
    return HPT_OK;
}
