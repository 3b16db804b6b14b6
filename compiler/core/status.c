#include "core.h"
#include <stdio.h>

static const struct {
    hpt_status status;
    const char *name;
    int exit_code;
} table[] = {
    {HPT_OK, "ok", 0},
    {HPT_REFUTED, "refuted", 1},
    {HPT_NOT_FOUND, "not found", 1},
    {HPT_DIFFERS, "differs", 1},
    {HPT_USAGE, "usage", 2},
    {HPT_MALFORMED, "malformed", 3},
    {HPT_LIES, "lies", 3},
    {HPT_UNSUPPORTED, "unsupported", 3},
    {HPT_TOO_LARGE, "too large", 3},
    {HPT_IO, "input/output", 4},
    {HPT_NO_MEMORY, "out of memory", 4},
    {HPT_NO_DEVICE, "no device", 5},
    {HPT_NO_NVRTC, "no NVRTC", 5},
    {HPT_DRIVER, "driver", 5},
    {HPT_COMPILE, "compile", 6},
    {HPT_LOAD, "load", 6},
    {HPT_TEMPLATE, "template", 6},
    {HPT_EMULATOR, "emulator", 6},
    {HPT_UNDECIDED, "undecided", 7},
    {HPT_INTERRUPTED, "interrupted", 130},
    {HPT_INTERNAL, "internal error", 3},
};

const char *hpt_status_name(hpt_status status) {
    for (size_t i = 0; i < HPT_COUNT(table); i++)
        if (table[i].status == status) return table[i].name;
    return "unknown status";
}

int hpt_status_exit_code(hpt_status status) {
    for (size_t i = 0; i < HPT_COUNT(table); i++)
        if (table[i].status == status) return table[i].exit_code;
    return 3;
}

hpt_status hpt_error_set(hpt_error *error, hpt_status code, const char *where, const char *format, ...) {
    if (error) {
        error->code = code;
        snprintf(error->where, sizeof error->where, "%s", where ? where : "");
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}
