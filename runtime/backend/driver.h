/* driver.h - libcuda without its headers: one table of functions, opened once per process and never closed (the driver
 * does not survive being unloaded). Used by gpu.c, doctor and bench. Layouts are those of cuda.h (CUDA 12.0 and later).
 */
#ifndef HPT_DRIVER_H
#define HPT_DRIVER_H

#include "core.h"

typedef struct hpt_launch_attribute { /* CUlaunchAttribute */
    int id;
    int padding;
    union {
        char bytes[64];
        struct {
            unsigned x, y, z;
        } cluster;
        int allowed;
    } value;
} hpt_launch_attribute;

typedef struct hpt_launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    hpt_launch_attribute *attributes;
    unsigned attribute_count;
} hpt_launch_config;

typedef struct hpt_driver {
#define DRIVER(name, symbol, parameters) int(*name) parameters;
#include "backend/driver.def"
#undef DRIVER
    int version; /* 1000 major + 10 minor */
} hpt_driver;

/* HPT_NO_DEVICE with the reason if there is no usable driver. */
hpt_status hpt_driver_open(const hpt_driver **out, hpt_error *error);
/* A status for a driver call: HPT_OK for 0, else HPT_DRIVER (or HPT_NO_DEVICE, HPT_NO_MEMORY) naming call and error. */
hpt_status hpt_driver_check(const hpt_driver *driver, int code, const char *call, hpt_error *error);
/* Exact target of a device ("sm_90a"), or "" if it is of a kind that no kernel is made for. */
const char *hpt_driver_target(int major, int minor);

#endif
