/* npy.h - arrays in NumPy's .npy format: little-endian, C order, any of the types below. NumPy has no bf16: such data
 * is stored as u2, and the launch file says what it is. Format: numpy.lib.format, versions 1 to 3. */
#ifndef HPT_EMULATOR_NPY_H
#define HPT_EMULATOR_NPY_H

#include "core.h"

enum { HPT_EMU_NPY_DIMENSIONS = 8 };

typedef struct hpt_emu_npy {
    char kind; /* 'f', 'i', 'u' or 'b' */
    int bytes; /* per element */
    int dimensions;
    uint64_t extent[HPT_EMU_NPY_DIMENSIONS];
    uint64_t count; /* of elements */
    uint8_t *data;  /* malloc'd: hpt_emu_npy_clear */
} hpt_emu_npy;

hpt_status hpt_emu_npy_read(hpt_emu_npy *out, const char *path, hpt_error *error);
hpt_status hpt_emu_npy_write(const char *path, const hpt_emu_npy *array, hpt_error *error);
void hpt_emu_npy_clear(hpt_emu_npy *array);

#endif
