/* checkpoint.h - the state of one shard of an exhaustive search, in a text file that is replaced whole. Promises:
 *   - task t belongs to shard t mod shards + 1; a file names its search (shape, rank, ring, tasks) and refuses another.
 *   - reading what was written gives the same state; a damaged file is refused with its line.
 */
#ifndef HPT_CHECKPOINT_H
#define HPT_CHECKPOINT_H

#include "ternary.h"

typedef struct hpt_checkpoint {
    hpt_ternary_shape shape;
    int64_t tasks, mine, done, modulo2;
    int32_t shard, shards;
    uint8_t *finished; /* per task */
    hpt_ternary_list schemes;
} hpt_checkpoint;

/* A fresh state, or what `file` (may be NULL) holds if it exists and belongs to this search. */
hpt_status hpt_checkpoint_open(hpt_checkpoint *out, const hpt_ternary_shape *shape, int64_t tasks, int32_t shard,
                               int32_t shards, const char *file, hpt_error *error);
hpt_status hpt_checkpoint_read(hpt_checkpoint *out, const char *file, hpt_error *error);
hpt_status hpt_checkpoint_write(const hpt_checkpoint *state, const char *file, hpt_error *error);
bool hpt_checkpoint_owns(const hpt_checkpoint *state, int64_t task);
void hpt_checkpoint_clear(hpt_checkpoint *state);

#endif
