#include "backend/driver.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_OUT_OF_MEMORY = 2, ERROR_NO_DEVICE = 100 };

static hpt_driver driver;
static hpt_status opened;
static hpt_error problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
    const char *chosen = getenv("HEPTANE_LIBCUDA"), *name = chosen && *chosen ? chosen : "libcuda.so.1";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        opened = hpt_error_set(&problem, HPT_NO_DEVICE, name, "There is no NVIDIA driver here (%s).", dlerror());
        return;
    }
#define DRIVER(name, symbol, parameters)                                                                               \
    *(void **)&driver.name = dlsym(library, #symbol);                                                                  \
    if (!driver.name) {                                                                                                \
        opened = hpt_error_set(&problem, HPT_NO_DEVICE, "libcuda.so.1",                                                \
                               "The driver is too old: it has no %s. CUDA 12.3 or later is needed.", #symbol);         \
        return;                                                                                                        \
    }
#include "backend/driver.def"
#undef DRIVER
    int code = driver.Init(0);
    if (code == 0) code = driver.DriverGetVersion(&driver.version);
    if (code != 0) {
        const char *text = NULL;
        driver.GetErrorString(code, &text);
        opened = hpt_error_set(&problem, HPT_NO_DEVICE, "libcuda.so.1", "The driver does not start: %s (error %d).",
                               text ? text : "unknown error", code);
    }
}

hpt_status hpt_driver_open(const hpt_driver **out, hpt_error *error) {
    pthread_once(&once, open_library);
    *out = opened == HPT_OK ? &driver : NULL;
    if (opened != HPT_OK && error) *error = problem;
    return opened;
}

hpt_status hpt_driver_check(const hpt_driver *d, int code, const char *call, hpt_error *error) {
    if (code == 0) return HPT_OK;
    const char *name = NULL, *text = NULL;
    d->GetErrorName(code, &name);
    d->GetErrorString(code, &text);
    hpt_status status = code == ERROR_OUT_OF_MEMORY ? HPT_NO_MEMORY
                        : code == ERROR_NO_DEVICE   ? HPT_NO_DEVICE
                                                    : HPT_DRIVER;
    return hpt_error_set(error, status, call, "The driver answered %s (%d): %s.", name ? name : "an unknown error",
                         code, text ? text : "no text");
}

const char *hpt_driver_target(int major, int minor) {
    static const struct {
        int major, minor;
        const char *target;
    } table[] = {{9, 0, "sm_90a"},   {10, 0, "sm_100a"}, {10, 3, "sm_103a"},
                 {11, 0, "sm_110a"}, {12, 0, "sm_120a"}, {12, 1, "sm_121a"}};
    for (size_t i = 0; i < HPT_COUNT(table); i++)
        if (table[i].major == major && table[i].minor == minor) return table[i].target;
    return "";
}
