/* npy.h - three matrices out of a .npy file. Promises:
 *   - either one array of shape (3, entries, R), or an object array of three matrices, whose pickle is read by a small
 *     machine that knows lists, tuples, numbers, strings and numpy's arrays, calls nothing, and stays within bounds.
 *   - arrays are views into the bytes; integers of 1 to 8 bytes and 32- or 64-bit floats, either byte order and layout.
 */
#ifndef HPT_FORMATS_NPY_H
#define HPT_FORMATS_NPY_H

#include "scheme/value.h"

typedef struct hpt_npy_type {
    char kind; /* 'i', 'u', 'f', 'b', or 'O' for objects */
    int size;
    bool big_endian;
} hpt_npy_type;

typedef struct hpt_npy_array {
    hpt_npy_type type;
    int64_t shape[2];
    bool by_columns; /* Fortran order */
    const unsigned char *data;
} hpt_npy_array;

hpt_status hpt_npy_read(hpt_npy_array out[3], const char *bytes, size_t length, const char *where, hpt_error *error);
/* The exact value of a cell; false if it is not finite. *fraction is set if it is not an integer. */
bool hpt_npy_value(hpt_value *out, const hpt_npy_array *array, int64_t row, int64_t column, bool *fraction);
/* "<i4", "|O" -> type; false if it is none that a scheme can have. */
bool hpt_npy_type_parse(hpt_npy_type *out, const char *text, size_t length);
/* The pickle of an object array of three matrices. */
hpt_status hpt_pickle_read(hpt_npy_array out[3], const char *bytes, size_t length, const char *where, hpt_error *error);

#endif
