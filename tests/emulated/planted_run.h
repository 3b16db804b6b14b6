/* planted_run.h - an op with a fault in it (or without), run in the emulator on one seed. */
#ifndef PLANTED_RUN_H
#define PLANTED_RUN_H

#include "cli/problem.h"
#include <stdbool.h>

typedef struct call {
    const char *kernel; /* of which kernels; NULL: of those of schemes with several products */
    const char *name, *settings;
    int m, n, k; /* of an MLP: tokens, hidden, intermediate */
    int sms;     /* 0: the emulator's default */
    int runs;    /* one behind the other, which must give the same bits */
} call;

typedef struct outcome {
    hpt_text names;  /* of all faults found, each once */
    char first[400]; /* message of the first expected one */
    bool named;      /* as expected */
} outcome;

/* Opens the op anew, runs it, compares. Faults in the kernel are an outcome, all else is an error. `expected`: names
 * with commas between. */
hpt_status planted_run(outcome *o, const char *expected, const char *target, const char *folder, const call *how,
                       uint64_t seed, hpt_error *error);

#endif
