/* build.h - a compiled kernel: what NVRTC, the disk cache and ahead-of-time files all yield. */
#ifndef HPT_BUILD_H
#define HPT_BUILD_H

#include "core.h"

typedef struct hpt_build {
    char *cubin;
    size_t cubin_length;
    char *ptx; /* NUL-terminated */
    size_t ptx_length;
    char *log; /* NVRTC's and ptxas' messages */
    size_t log_length;
    int64_t registers;    /* most of any kernel in it; -1 if the log did not say */
    int64_t spill_stores; /* bytes */
    int64_t spill_loads;
    int64_t nvrtc;      /* 1000 major + 10 minor, as CUDA counts */
    const char *origin; /* "nvrtc", "cache", "package" */
} hpt_build;

void hpt_build_clear(hpt_build *build);
/* Reads registers and spills out of ptxas' messages in build->log. */
void hpt_build_read_log(hpt_build *build);
/* True if ptxas says that it serialised wgmma instructions (slow, never wanted). */
bool hpt_build_serialised(const hpt_build *build);
/* PTX ISA version of a PTX text as 10 major + minor (90 for 9.0); 0 if it states none. */
int hpt_ptx_version(const char *ptx);
/* The CUDA version (1000 major + 10 minor) whose driver first took that PTX ISA version. */
int hpt_ptx_needs_cuda(int ptx_version);

#endif
