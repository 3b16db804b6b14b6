/* tuned.h - which variant of an operation is fastest for a shape on a device, remembered on disk. Promises:
 *   - a choice is keyed by exact device name, target, driver version, operation, types and layout, N, K, and the class
 * of M (hpt_tuned_class): kernels do not depend on M, so a few classes suffice. Types of sums are part of the key where
 * they were asked for; a key without them stands for the defaults.
 *   - the file is JSON that a person can read, one record a choice, in the cache's folder; written through a rename.
 *   - no file is no error: there is just no choice. A damaged file is ignored when choosing, and never replaced.
 */
#ifndef HPT_TUNED_H
#define HPT_TUNED_H

#include "cache/cache.h"
#include <heptane/rt.h>
#include <jansson.h>

enum { HPT_TUNED_TEXT = HPT_CHOICE_TEXT };

typedef struct hpt_tuned_key {
    char device[HPT_TUNED_TEXT], target[16], op[32], types[64]; /* types: hpt_tuned_types */
    int driver;                                                 /* 1000 major + 10 minor */
    int64_t m, n, k;                                            /* any m: its class is taken */
} hpt_tuned_key;

typedef struct hpt_tuned_choice {
    char scheme[HPT_TUNED_TEXT], plan[HPT_TUNED_TEXT], settings[HPT_TUNED_TEXT]; /* settings: parameters of the call */
    bool unchained;
    double ms, trivial_ms; /* as measured when it was chosen */
} hpt_tuned_choice;

/* The types of a key: of X, Y, C and the forms; the layout or activation ("NT", "swiglu"); and in what C is added up,
 * as --sums names it, NULL if it does not: "f16 f16 f16 f16 NT", "f16 f16 f16 f16 NT sums f32". An op does not tell
 * whether its sums were asked for: the default depends on the scheme. */
void hpt_tuned_types(char *out, size_t room, const hpt_op_info *info, const char *variety, const char *sums);
/* The key for an operation on a context's device. */
hpt_status hpt_tuned_key_make(hpt_tuned_key *out, const hpt_context *context, const char *op, const char *types,
                              int64_t m, int64_t n, int64_t k, hpt_error *error);
/* The largest number of rows that shares its choice with m. From 17 to 2048: the rows of the tiles that fit m
 * (tune/width.h); elsewhere the smallest power of two, or three times one, that is at least m. */
int64_t hpt_tuned_class(int64_t m);
bool hpt_tuned_find(hpt_tuned_choice *out, const hpt_cache *cache, const hpt_tuned_key *key);
/* The file's name. */
void hpt_tuned_path(char *out, size_t room, const hpt_cache *cache);
/* All choices, an object with the text of a key for each; for the caller to decref. Errors as hpt_tuned_ready. */
hpt_status hpt_tuned_choices(json_t **out, const hpt_cache *cache, hpt_error *error);
/* Removes the file; *was: whether there was one. */
hpt_status hpt_tuned_forget(bool *was, const hpt_cache *cache, hpt_error *error);
/* Whether choices can be kept: HPT_IO with the cache's problem where there is no usable folder, HPT_MALFORMED where the
 * file is damaged. */
hpt_status hpt_tuned_ready(const hpt_cache *cache, hpt_error *error);
/* Replaces an older choice for the same key. Errors as above; a damaged file is left as it is. */
hpt_status hpt_tuned_store(const hpt_cache *cache, const hpt_tuned_key *key, const hpt_tuned_choice *choice,
                           hpt_error *error);

#endif
