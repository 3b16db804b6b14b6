/* reader.h - strict access to JSON: every getter checks key, type and place. Used by manifest.c and operation.c only.
 */
#ifndef HPT_READER_H
#define HPT_READER_H

#include "load/package.h"

typedef struct hpt_reader {
    const char *file;
    hpt_arena *arena;
    hpt_names *names;
    hpt_error *error;
} hpt_reader;

hpt_status hpt_reader_open(json_t **out, const hpt_reader *r, const char *format);
/* An error at file: key. */
hpt_status hpt_reader_fail(const hpt_reader *r, const char *place, const char *reason);
hpt_status hpt_reader_string(const char **out, const hpt_reader *r, const json_t *object, const char *key,
                             const char *fallback); /* fallback NULL: required */
hpt_status hpt_reader_bool(bool *out, const hpt_reader *r, const json_t *object, const char *key, bool fallback);
/* A list ([] if it is absent and not required). */
hpt_status hpt_reader_list(json_t **out, size_t *count, const hpt_reader *r, const json_t *object, const char *key,
                           bool required);
hpt_status hpt_reader_strings(const char ***out, size_t *count, const hpt_reader *r, const json_t *object,
                              const char *key);
/* A formula or integer; absent and not required: *out is NULL. */
hpt_status hpt_reader_formula(const hpt_formula **out, const hpt_reader *r, const json_t *value, const char *place,
                              bool required);
hpt_status hpt_reader_lets(hpt_let **out, size_t *count, const hpt_reader *r, const json_t *object);
hpt_status hpt_reader_requirements(hpt_requirement **out, size_t *count, const hpt_reader *r, const json_t *object);
/* Refuses keys that are not in `allowed` (NULL-terminated). */
hpt_status hpt_reader_keys(const hpt_reader *r, const json_t *object, const char *place, const char *const *allowed);
/* Adds a name that must be new and an identifier. */
hpt_status hpt_reader_name(int *slot, const hpt_reader *r, const char *name, const char *place);

#endif
