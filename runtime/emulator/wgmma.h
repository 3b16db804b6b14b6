/* wgmma.h - warpgroup matrix instructions: their decoded form and the state of a warpgroup. An instruction is one
 * operation of four warps: it runs when the last of them has issued it, and it is known to be done only to a warp that
 * has waited for its group. */
#ifndef HPT_EMULATOR_WGMMA_H
#define HPT_EMULATOR_WGMMA_H

#include "operand_matrix.h"

typedef enum hpt_emu_wgmma_result { HPT_EMU_WGMMA_F32, HPT_EMU_WGMMA_F16, HPT_EMU_WGMMA_S32 } hpt_emu_wgmma_result;

typedef struct hpt_emu_wgmma {
    uint32_t n, k;
    hpt_emu_wgmma_result result;
    hpt_emu_format a, b;
    bool a_in_registers, a_transposed, b_transposed, negate, saturates;
} hpt_emu_wgmma;

enum { HPT_EMU_WGMMA_FLIGHT = 64, HPT_EMU_WGMMA_WARPS = 4 };

typedef struct hpt_emu_wgmma_operation {
    const hpt_emu_instruction *instruction;
    uint64_t a, b;   /* descriptors */
    bool keep;       /* scale-d */
    uint32_t issued; /* warps */
} hpt_emu_wgmma_operation;

/* Of a warpgroup; its four warps point to one. */
typedef struct hpt_emu_wgmma_group {
    hpt_emu_wgmma_operation flight[HPT_EMU_WGMMA_FLIGHT]; /* by number */
    uint32_t executed;                                    /* operations 1..executed have run */
    hpt_emu_time *knows;                                  /* of the operation being gathered */
    uint32_t members;
} hpt_emu_wgmma_group;

typedef struct hpt_emu_wgmma_state { /* of a warp */
    hpt_emu_wgmma_group *group;
    uint32_t issued, committed;            /* operations; the last one that belongs to a committed group */
    uint32_t waited;                       /* operations known to be done */
    uint32_t groups[HPT_EMU_WGMMA_FLIGHT]; /* last operation of each committed group, newest at group_count - 1 */
    uint32_t group_count;
    bool fenced; /* no accumulator was touched since the last wgmma.fence */
    struct {
        int32_t at;
        uint32_t operation;
    } copies[256]; /* registers that hold copies of accumulators in flight */
    uint32_t copy_count;
} hpt_emu_wgmma_state;

/* wgmma_math.c: runs the operation for the four warps from `warps` on. */
void hpt_emu_wgmma_execute(hpt_emu_warp *warps, const hpt_emu_wgmma_operation *operation, const hpt_emu_who *who);

#endif
