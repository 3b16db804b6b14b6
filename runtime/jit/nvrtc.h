/* nvrtc.h - NVRTC without its headers. Promises:
 *   - found at run time: HEPTANE_NVRTC (file or folder), beside the program, the project's .venv, CUDA_HOME, the
 * loader's path, /usr/local/cuda. Its builtins library is loaded from the same folder first, so NVRTC finds it whatever
 * LD_LIBRARY_PATH says.
 *   - an option that NVRTC refuses is named; a compile error carries NVRTC's log.
 *   - compiling is safe from several threads at once.
 */
#ifndef HPT_NVRTC_H
#define HPT_NVRTC_H

#include "jit/build.h"

typedef struct hpt_nvrtc hpt_nvrtc;

hpt_status hpt_nvrtc_open(hpt_nvrtc **out, hpt_error *error); /* HPT_NO_NVRTC: the message lists where it looked */
void hpt_nvrtc_close(hpt_nvrtc *nvrtc);                       /* NULL is fine */
const char *hpt_nvrtc_path(const hpt_nvrtc *nvrtc);
int hpt_nvrtc_version(const hpt_nvrtc *nvrtc); /* 1000 major + 10 minor */

/* Compiles CUDA C for one exact target; `name` stands in messages. */
hpt_status hpt_nvrtc_compile(hpt_build *out, const hpt_nvrtc *nvrtc, const char *source, const char *name,
                             const char *target, const char *const *options, size_t option_count, hpt_error *error);

#endif
