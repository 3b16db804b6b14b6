/* core.h - the small things every module shares. Promises:
 *   - HPT_TRY / HPT_FAIL_IF: the one error style; both jump to a label `done:` with `status` set.
 *   - hpt_arena: memory of one job, freed at once; allocation failure returns NULL, never aborts.
 *   - hpt_text: a growable string, for writers and messages.
 *   - checked arithmetic: every product of dimensions goes through hpt_mul_size / hpt_mul_i64.
 *   - hpt_sha256_hex: identity of schemes and sources (libmd does the work).
 * No GMP, FLINT, Lua or CUDA in here: the runtime links it too.
 */
#ifndef HPT_CORE_H
#define HPT_CORE_H

#include <heptane/progress.h>
#include <heptane/status.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HPT_NODISCARD __attribute__((warn_unused_result))
#define HPT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runs a call that returns hpt_status; on failure keeps the status and leaves by `done`. */
#define HPT_TRY(call)                                                                                                  \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != HPT_OK) goto done;                                                                               \
    } while (0)
/* HPT_FAIL_IF(condition, code, where, "format", ...): fills `error` and leaves by `done`. */
#define HPT_FAIL_IF(condition, code, where, ...)                                                                       \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            status = hpt_error_set(error, (code), (where), __VA_ARGS__);                                               \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
#define HPT_FAIL_NO_MEMORY(pointer) HPT_FAIL_IF(!(pointer), HPT_NO_MEMORY, "", "Out of memory.")

/* ---- arena.c ---- */
typedef struct hpt_arena hpt_arena;
hpt_arena *hpt_arena_create(void);
void hpt_arena_destroy(hpt_arena *arena); /* NULL is fine */
/* Zeroed, 16-byte aligned memory that lives as long as the arena; NULL when there is none or the product overflows. */
void *hpt_arena_alloc(hpt_arena *arena, size_t count, size_t size);
char *hpt_arena_strdup(hpt_arena *arena, const char *text);
char *hpt_arena_printf(hpt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- text.c ---- */
/* Zero-initialise; hpt_text_clear frees. `data` is NUL-terminated once anything was added. After a failed allocation
 * `failed` stays true and further additions do nothing: check once at the end. */
typedef struct hpt_text {
    char *data;
    size_t length, capacity;
    bool failed;
} hpt_text;
void hpt_text_add(hpt_text *text, const char *bytes, size_t count);
void hpt_text_puts(hpt_text *text, const char *string);
void hpt_text_printf(hpt_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hpt_text_clear(hpt_text *text);

/* ---- checked.c ---- */
HPT_NODISCARD bool hpt_mul_size(size_t *out, size_t a, size_t b);   /* false on overflow */
HPT_NODISCARD bool hpt_mul_i64(int64_t *out, int64_t a, int64_t b); /* false on overflow */
HPT_NODISCARD bool hpt_add_i64(int64_t *out, int64_t a, int64_t b); /* false on overflow */

/* ---- file.c ---- */
/* Reads a whole file ("-" is standard input) of at most `limit` bytes into malloc'd memory with a NUL behind it. */
hpt_status hpt_file_read(char **out, size_t *length, const char *path, size_t limit, hpt_error *error);
/* Writes through a temporary file and rename, so that no reader ever sees half a file. */
hpt_status hpt_file_write(const char *path, const char *bytes, size_t length, hpt_error *error);
/* Between these, which may nest, hpt_files_finish waits. Writing a file and making a folder are held by themselves. */
void hpt_files_hold(void);
void hpt_files_release(void);
/* Before a process ends while threads are at work: waits until no file is half written, and lets none be begun. */
void hpt_files_finish(void);
/* mkdir -p */
hpt_status hpt_folder_create(const char *path, hpt_error *error);

/* ---- data.c ---- */
/* The folder of a part of the data ("templates", "schemes"): beside the program, ../share/heptane from it, `source` if
 * it is there, else `installed`. Lives as long as the process. */
const char *hpt_data_folder(const char *part, const char *source, const char *installed);

/* ---- hash.c ---- */
enum { HPT_HASH_LENGTH = 65 };
void hpt_sha256_hex(char out[HPT_HASH_LENGTH], const void *bytes, size_t length);

/* ---- progress.c ---- */
/* The library only calls the hook; the command line installs one that writes to a terminal. NULL is fine. */
void hpt_progress_say(const hpt_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hpt_progress_end(const hpt_progress *progress); /* says the empty line */
bool hpt_progress_interrupted(const hpt_progress *progress);
/* True if a new line is due, which moves the time of the next one; start from hpt_progress_first(). */
bool hpt_progress_due(double *next);
double hpt_progress_first(void);
double hpt_clock(void); /* CLOCK_MONOTONIC in seconds */

#endif
