/* handover.h - what a launch remembers while one host thread runs all of its clusters (handover.c, global_shadow.c). */
#ifndef HPT_EMULATOR_HANDOVER_H
#define HPT_EMULATOR_HANDOVER_H

#include "machine.h"

typedef struct hpt_emu_handovers {
    struct views *views;
    uint32_t tick;    /* advances with every write of global memory and every fence.proxy.async */
    uint32_t *fences; /* tick of the last one of each warp of the grid; NULL: none yet */
} hpt_emu_handovers;

#endif
