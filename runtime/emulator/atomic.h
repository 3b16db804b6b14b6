/* atomic.h - the element operations of atomics and bulk reductions. */
#ifndef HPT_EMULATOR_ATOMIC_H
#define HPT_EMULATOR_ATOMIC_H

#include <stdint.h>

typedef enum hpt_emu_atomic { /* in the order of the patterns */
                              HPT_EMU_ATOMIC_AND,
                              HPT_EMU_ATOMIC_OR,
                              HPT_EMU_ATOMIC_XOR,
                              HPT_EMU_ATOMIC_EXCH,
                              HPT_EMU_ATOMIC_ADD,
                              HPT_EMU_ATOMIC_INC,
                              HPT_EMU_ATOMIC_DEC,
                              HPT_EMU_ATOMIC_MIN,
                              HPT_EMU_ATOMIC_MAX
} hpt_emu_atomic;

typedef enum hpt_emu_element_type {
    HPT_EMU_U32,
    HPT_EMU_S32,
    HPT_EMU_U64,
    HPT_EMU_S64,
    HPT_EMU_F16,
    HPT_EMU_BF16,
    HPT_EMU_F32,
    HPT_EMU_F64
} hpt_emu_element_type;

/* *to = *to op *from; f32 additions flush subnormals as the hardware's in global memory do. */
void hpt_emu_reduce_element(uint8_t *to, const uint8_t *from, hpt_emu_atomic how, hpt_emu_element_type type);
float hpt_emu_add_f32_flushing(float a, float b);

#endif
