#include "operand_matrix.h"
#include "half.h"
#include "minifloat.h"

uint32_t hpt_emu_format_bytes(hpt_emu_format format) {
    static const uint8_t bytes[] = {2, 2, 4, 1, 1, 1, 1, 1, 1, 1};
    return bytes[format];
}

/* Byte offsets, elements in units of 16 bytes. K-major: the atom is 8 rows of the swizzle's span (16 bytes without),
 * SBO leads to the next 8 rows, LBO (only without swizzle) to the next 16 bytes of k. MN-major: the atom is 8 k of the
 * swizzle's span of mn; with swizzle LBO leads to the next span, SBO to the next 8 k; without it is the other way
 * round. */
uint32_t hpt_emu_matrix_address(const hpt_emu_matrix *m, uint32_t mn, uint32_t k) {
    static const uint32_t bits[] = {0, 0x10, 0x30, 0x70};
    uint32_t size = hpt_emu_format_bytes(m->format), span = m->swizzle ? 16u << m->swizzle : 16;
    uint32_t along = (m->mn_major ? mn : k) * size, across = m->mn_major ? k : mn;
    uint32_t far = along / span, near = along % span / 16 * 16, eight = across / 8, row = across % 8;
    bool swap = m->mn_major && !m->swizzle;
    uint32_t address =
        m->start + row * span + near + far * (swap ? m->stride : m->leading) + eight * (swap ? m->leading : m->stride);
    return address ^ (address >> 3 & bits[m->swizzle]);
}

uint32_t hpt_emu_format_unpack(hpt_emu_format format, const uint8_t bytes[16], float *out) {
    uint16_t half[8];
    uint32_t word[4];
    switch (format) {
    case HPT_EMU_FORMAT_F16:
        memcpy(half, bytes, 16);
        for (int e = 0; e < 8; e++) out[e] = hpt_f16_to(half[e]);
        return 8;
    case HPT_EMU_FORMAT_BF16:
        memcpy(half, bytes, 16);
        for (int e = 0; e < 8; e++) out[e] = hpt_bf16_to(half[e]);
        return 8;
    case HPT_EMU_FORMAT_TF32:
        memcpy(word, bytes, 16);
        for (int e = 0; e < 4; e++) out[e] = hpt_float_of(word[e] & ~0x1fffu);
        return 4;
    case HPT_EMU_FORMAT_S8:
        for (int e = 0; e < 16; e++) out[e] = (float)(int8_t)bytes[e];
        return 16;
    case HPT_EMU_FORMAT_U8:
        for (int e = 0; e < 16; e++) out[e] = (float)bytes[e];
        return 16;
    default:
        for (int e = 0; e < 16; e++) out[e] = hpt_minifloat_to(bytes[e], (hpt_minifloat)(format - HPT_EMU_FORMAT_E4M3));
        return 16;
    }
}

static bool in_bounds(const hpt_emu_matrix *m, uint32_t address, const hpt_emu_who *who) {
    if (address >= HPT_EMU_RESERVED_SHARED && address + 16 <= m->cta->shared_bytes) return true;
    hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_BOUNDS,
                   "%s reads 16 bytes at shared address 0x%x, outside of the CTA's memory: the matrix descriptor "
                   "(start 0x%x, LBO %u, "
                   "SBO %u) is wrong.",
                   who->what, address, m->start, m->leading, m->stride);
    return false;
}

bool hpt_emu_matrix_read(const hpt_emu_matrix *m, uint32_t mn_count, uint32_t k_count, float *out,
                         const hpt_emu_who *who) {
    uint32_t unit = 16 / hpt_emu_format_bytes(m->format);
    static const char *const names[] = {"none", "32 bytes", "64 bytes", "128 bytes"};
    bool mismatched = false;
    uint32_t mn_step = m->mn_major ? unit : 1, k_step = m->mn_major ? 1 : unit;
    for (uint32_t mn = 0; mn < mn_count; mn += mn_step)
        for (uint32_t k = 0; k < k_count; k += k_step) {
            uint32_t address = hpt_emu_matrix_address(m, mn, k);
            float values[16];
            if (!in_bounds(m, address, who)) return false;
            hpt_emu_shared_read(m->cta, address, 16, who);
            uint8_t written = m->cta->granules[address / 16].swizzle;
            if (written && written != m->swizzle + 1 && !mismatched) {
                mismatched = true;
                hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_DESCRIPTOR,
                               "%s reads shared memory at 0x%x with a swizzle of %s that a tensor copy wrote with %s.",
                               who->what, address, names[m->swizzle], names[written - 1]);
            }
            hpt_emu_format_unpack(m->format, m->cta->shared + address, values);
            if (!m->mn_major)
                memcpy(out + (size_t)mn * k_count + k, values, unit * sizeof *values);
            else
                for (uint32_t e = 0; e < unit && mn + e < mn_count; e++)
                    out[(size_t)(mn + e) * k_count + k] = values[e];
        }
    return true;
}
