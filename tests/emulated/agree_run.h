/* agree_run.h - one package's output from one side: a GPU, or the emulator with a seed. */
#ifndef AGREE_RUN_H
#define AGREE_RUN_H

#include "agree.h"
#include "mlp.h"

typedef struct agree_side {
    const char *backend, *folder; /* "gpu" or "emulator" */
    uint64_t seed;                /* of the emulator */
} agree_side;

typedef struct agree_output {
    void *c;
    agree_blocks blocks;
} agree_output;

/* Makes the data on the first call (data->x is NULL then). */
hpt_status agree_run_gemm(agree_output *out, const agree_side *side, const char *target, hpt_data *data,
                          hpt_error *error);
hpt_status agree_run_mlp(agree_output *out, const agree_side *side, const char *target, hpt_mlp_data *data,
                         hpt_error *error);

#endif
