/* operand_matrix.h - operands of matrix instructions in shared memory, described by matrix descriptors. wgmma and
 * tcgen05 share the strides and swizzles (HARDWARE: PTX ISA 9.7.15.5 and 9.7.16.4), only the places of the fields
 * differ. */
#ifndef HPT_EMULATOR_OPERAND_MATRIX_H
#define HPT_EMULATOR_OPERAND_MATRIX_H

#include "machine.h"

typedef enum hpt_emu_format {
    HPT_EMU_FORMAT_F16,
    HPT_EMU_FORMAT_BF16,
    HPT_EMU_FORMAT_TF32,
    HPT_EMU_FORMAT_E4M3,
    HPT_EMU_FORMAT_E5M2,
    HPT_EMU_FORMAT_E2M3,
    HPT_EMU_FORMAT_E3M2,
    HPT_EMU_FORMAT_E2M1, /* in a byte of its own */
    HPT_EMU_FORMAT_S8,
    HPT_EMU_FORMAT_U8
} hpt_emu_format;

typedef struct hpt_emu_matrix {
    hpt_emu_cta *cta;
    uint32_t start;           /* byte offset in the CTA's shared memory */
    uint32_t leading, stride; /* LBO and SBO in bytes */
    uint8_t swizzle;          /* 0 none, 1 32 B, 2 64 B, 3 128 B */
    bool mn_major;            /* "transposed": the M or N index is contiguous, not K */
    hpt_emu_format format;
} hpt_emu_matrix;

uint32_t hpt_emu_format_bytes(hpt_emu_format format);
/* Shared-memory offset of the 16 bytes that hold element (mn, k); those bytes run along k, or along mn if mn_major. */
uint32_t hpt_emu_matrix_address(const hpt_emu_matrix *matrix, uint32_t mn, uint32_t k);
/* out[mn * k_count + k] for all of the operand, as f32 (exact for every format). Checks bounds, written bytes, races
 * and proxies on behalf of `who`; false after a finding that makes the data meaningless. */
bool hpt_emu_matrix_read(const hpt_emu_matrix *matrix, uint32_t mn_count, uint32_t k_count, float *out,
                         const hpt_emu_who *who);
/* 16 bytes of elements to f32; returns how many. */
uint32_t hpt_emu_format_unpack(hpt_emu_format format, const uint8_t bytes[16], float *out);

#endif
