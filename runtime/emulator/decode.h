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

/* ---- decode_operand.c ---- */
/* A place for a register of so many bytes per lane; 0: a predicate. Refuses when the register file is full. */
int32_t hpt_emu_take_slot(hpt_emu_decoder *d, uint32_t bytes);
/* An address for a variable of shared memory, unless it has one. */
void hpt_emu_place_shared(hpt_emu_decoder *d, hpt_ptx_variable *variable);
/* The operands of d->source as the row wants them; false if it refuses. */
bool hpt_emu_decode_operands(hpt_emu_decoder *d, hpt_emu_instruction *i, const hpt_emu_row *row);

/* ---- control.c ---- */
hpt_emu_step hpt_emu_run_nothing(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);
hpt_emu_step hpt_emu_run_assert(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);

/* each ends with a row without a pattern */
#define ROWS(name) extern const hpt_emu_row hpt_emu_rows_##name[];
#include "rows.def"
#undef ROWS

#endif
