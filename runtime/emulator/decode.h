/* decode.h - the decoder's state, and the tables of rows it looks through (rows.def). */
#ifndef HPT_EMULATOR_DECODE_H
#define HPT_EMULATOR_DECODE_H

#include "half.h"
#include "machine.h"

enum { HPT_EMU_MAX_REGISTER_FILE = 64 << 20 };

struct hpt_emu_decoder {
    hpt_emu_program *program;
    hpt_arena *arena;
    const char *file;
    hpt_error *error;
    hpt_status status;
    const hpt_ptx_instruction *source; /* being decoded */
    size_t constant_capacity;
    int32_t scratch_at; /* where sinks write */
};

/* control.c */
hpt_emu_step hpt_emu_run_nothing(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);
hpt_emu_step hpt_emu_run_assert(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);

/* each ends with a row without a pattern */
#define ROWS(name) extern const hpt_emu_row hpt_emu_rows_##name[];
#include "rows.def"
#undef ROWS

#endif
