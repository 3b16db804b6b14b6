/* cache.h - compiled kernels on disk, by content. Promises:
 *   - the key is the SHA-256 of everything that shapes the result (source, options, exact target, NVRTC version, format
 * version) and of nothing else: no paths, no dates.
 *   - an entry is one file, written beside its place and renamed: readers see all or nothing; racing writers both win.
 *   - an entry carries its own checksum; one that does not match is removed and rebuilt, never an error.
 *   - a folder that cannot be written, or that others can write, is not used: everything works, only slower; `heptane
 * doctor` says why. Where: HEPTANE_CACHE, else $XDG_CACHE_HOME/heptane, else ~/.cache/heptane. HEPTANE_CACHE=off
 * switches it off.
 */
#ifndef HPT_CACHE_H
#define HPT_CACHE_H

#include "jit/build.h"

typedef struct hpt_cache hpt_cache;

/* `folder` NULL: from the environment. Never fails but for memory (NULL); an unusable folder gives a cache that is off.
 */
hpt_cache *hpt_cache_open(const char *folder);
void hpt_cache_close(hpt_cache *cache); /* NULL is fine */
const char *hpt_cache_folder(const hpt_cache *cache);
/* "" if the cache works, else a sentence saying why it does not. */
const char *hpt_cache_problem(const hpt_cache *cache);

void hpt_cache_key(char out[HPT_HASH_LENGTH], const char *source, const char *target, const char *const *options,
                   size_t option_count, int nvrtc_version);
bool hpt_cache_get(hpt_cache *cache, const char *key, hpt_build *out);
/* `label` is shown by list ("gemm_strassen sm_90a"). */
bool hpt_cache_put(hpt_cache *cache, const char *key, const char *label, const hpt_build *build);

typedef struct hpt_cache_entry {
    char key[HPT_HASH_LENGTH];
    char label[128];
    int64_t bytes, modified; /* seconds since 1970 */
} hpt_cache_entry;
/* All entries, newest first; *out is malloc'd. */
hpt_status hpt_cache_list(hpt_cache_entry **out, size_t *count, const hpt_cache *cache, hpt_error *error);
hpt_status hpt_cache_remove_all(size_t *removed, const hpt_cache *cache, hpt_error *error);

#endif
