/* wgmma_math.c - the arithmetic of wgmma: descriptors, operands, and the product straight into the accumulators'
 * registers. Products of the inputs are exact in f32. Those of 16-bit floats are added as Hopper does (aligned_sum.h),
 * others in order of k: what the hardware does with them has not been looked into.
 */
#include "aligned_sum.h"
#include "half.h"
#include "wgmma.h"
#include <math.h>
#include <string.h>

enum { MAX_N = 256, MAX_K = 32, ROWS = 64, WARP_ROWS = 16 };
typedef hpt_emu_quad quad;

/* Exponents of the operands, where sums are aligned. */
typedef struct exponents {
    _Alignas(64) int32_t a[ROWS * MAX_K];
    _Alignas(64) int32_t b[MAX_N * MAX_K]; /* arranged as the values are */
} exponents;

/* fields as HARDWARE lists them: 0-13 start, 16-29 LBO, 32-45 SBO, 49-51 base offset, 62-63 swizzle */
static bool decode_descriptor(uint64_t bits, hpt_emu_matrix *out, const hpt_emu_who *who, const char *name) {
    static const uint8_t swizzles[] = {0, 3, 2, 1};
    out->cta = who->warp->cta;
    out->start = (uint32_t)(bits & 0x3fff) << 4;
    out->leading = (uint32_t)(bits >> 16 & 0x3fff) << 4;
    out->stride = (uint32_t)(bits >> 32 & 0x3fff) << 4;
    out->swizzle = swizzles[bits >> 62];
    if (bits & 0x3ff1c000c000c000ull)
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_DESCRIPTOR,
                       "The descriptor of %s (0x%016llx) has bits set that must be zero.", name,
                       (unsigned long long)bits);
    if (!(bits >> 49 & 7)) return true;
    hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_DESCRIPTOR,
                   "The descriptor of %s (0x%016llx) has a base offset; only patterns that begin at a multiple of "
                   "their size are modelled.",
                   name, (unsigned long long)bits);
    return false;
}

/* A in registers: four per thread, as a fragment of mma.sync */
static void read_fragment(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_wgmma *shape, float *a) {
    uint32_t each = 4 / hpt_emu_format_bytes(shape->a);
    for (uint32_t r = 0; r < 4; r++) {
        const uint32_t *words = (const uint32_t *)(const void *)(w->registers + i->op[1].items[r].at);
        for (uint32_t lane = 0; lane < HPT_LANES; lane++) {
            uint8_t bytes[16] = {0};
            float values[16];
            memcpy(bytes, &words[lane], 4);
            hpt_emu_format_unpack(shape->a, bytes, values);
            uint32_t row = lane / 4 + 8 * (r & 1), k = (lane % 4) * each + 4 * each * (r >> 1);
            for (uint32_t e = 0; e < each; e++) a[row * shape->k + k + e] = values[e];
        }
    }
}

/* b[n][k] to the order in which the accumulators want it: [n / 8][n % 2][k][n % 8 / 2] */
static void arrange_b(const float *b, uint32_t n_count, uint32_t k_count, float *out) {
    for (uint32_t n = 0; n < n_count; n++)
        for (uint32_t k = 0; k < k_count; k++)
            out[((n / 8 * 2 + n % 2) * k_count + k) * 4 + n % 8 / 2] = b[n * k_count + k];
}

/* One register of one warp: lane 4 g + q holds row g (+ 8 h), column 8 j + 2 q + e. `a` points to row 8 h. */
static void multiply(quad acc[8], const float *a, const quad *b, uint32_t k_count) {
    for (uint32_t k = 0; k < k_count; k++) {
        quad bk = b[k];
        for (uint32_t g = 0; g < 8; g++) {
            float x = a[g * k_count + k];
            acc[g] += (quad){x, x, x, x} * bk;
        }
    }
}

static void multiply_f32(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_wgmma *s, const float *a,
                         const float *b, const int32_t *exponents_a, const int32_t *exponents_b, bool keep) {
    for (uint32_t r = 0; r < s->n / 2; r++) {
        const uint32_t j = r / 4, h = r / 2 % 2, e = r % 2, at_a = 8 * h * s->k, at_b = (j * 2 + e) * s->k;
        const quad *columns = (const quad *)(const void *)b + at_b;
        quad acc[8];
        uint8_t *at = w->registers + i->op[0].items[r].at;
        if (keep)
            memcpy(acc, at, sizeof acc);
        else
            memset(acc, 0, sizeof acc);
        if (exponents_a)
            hpt_emu_aligned_sum(acc, a + at_a, exponents_a + at_a, columns,
                                (const hpt_emu_integers *)(const void *)exponents_b + at_b, s->k);
        else
            multiply(acc, a + at_a, columns, s->k);
        memcpy(at, acc, sizeof acc);
    }
}

static void multiply_s32(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_wgmma *s, const float *a,
                         const float *b, bool keep) {
    for (uint32_t r = 0; r < s->n / 2; r++) {
        quad acc[8] = {{0}};
        multiply(acc, a + 8 * (r / 2 % 2) * s->k, (const quad *)(const void *)b + (r / 4 * 2 + r % 2) * s->k, s->k);
        int32_t *at = (int32_t *)(void *)(w->registers + i->op[0].items[r].at);
        const float *sum = (const float *)acc;
        for (uint32_t lane = 0; lane < HPT_LANES; lane++) {
            int64_t total = (keep ? (int64_t)at[lane] : 0) + (int64_t)sum[lane];
            if (s->saturates) total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
            at[lane] = (int32_t)(uint32_t)(uint64_t)total;
        }
    }
}

/* f16 accumulators: a register holds the columns e = 0 and 1 */
static void multiply_f16(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_wgmma *s, const float *a,
                         const float *b, bool keep) {
    for (uint32_t r = 0; r < s->n / 4; r++) {
        uint16_t *at = (uint16_t *)(void *)(w->registers + i->op[0].items[r].at);
        for (uint32_t e = 0; e < 2; e++) {
            float acc[HPT_LANES];
            quad sums[8];
            for (uint32_t lane = 0; lane < HPT_LANES; lane++) acc[lane] = keep ? hpt_f16_to(at[2 * lane + e]) : 0;
            memcpy(sums, acc, sizeof sums);
            multiply(sums, a + 8 * (r % 2) * s->k, (const quad *)(const void *)b + (r / 2 * 2 + e) * s->k, s->k);
            memcpy(acc, sums, sizeof sums);
            for (uint32_t lane = 0; lane < HPT_LANES; lane++) at[2 * lane + e] = hpt_f16_from_f32(acc[lane]);
        }
    }
}

void hpt_emu_wgmma_execute(hpt_emu_warp *warps, const hpt_emu_wgmma_operation *operation, const hpt_emu_who *who) {
    static _Thread_local _Alignas(64) float a[ROWS * MAX_K], b[MAX_N * MAX_K], arranged[MAX_N * MAX_K];
    const hpt_emu_instruction *i = operation->instruction;
    const hpt_emu_wgmma *s = i->data;
    hpt_emu_matrix ma = {.format = s->a, .mn_major = s->a_transposed},
                   mb = {.format = s->b, .mn_major = s->b_transposed};
    if (!decode_descriptor(operation->b, &mb, who, "B") || !hpt_emu_matrix_read(&mb, s->n, s->k, b, who)) return;
    if (!s->a_in_registers &&
        (!decode_descriptor(operation->a, &ma, who, "A") || !hpt_emu_matrix_read(&ma, ROWS, s->k, a, who)))
        return;
    for (uint32_t v = 0; s->a_in_registers && v < HPT_EMU_WGMMA_WARPS; v++)
        read_fragment(&warps[v], i, s, a + v * WARP_ROWS * s->k);
    for (uint32_t e = 0; s->negate && e < ROWS * s->k; e++) a[e] = -a[e];
    arrange_b(b, s->n, s->k, arranged);
    static _Thread_local exponents of;
    const bool aligned = s->a == HPT_EMU_FORMAT_F16 || s->a == HPT_EMU_FORMAT_BF16;
    if (aligned && s->result == HPT_EMU_WGMMA_F32) {
        hpt_emu_exponents(of.a, a, ROWS * s->k);
        hpt_emu_exponents(of.b, arranged, s->n * s->k);
    }
    for (uint32_t v = 0; v < HPT_EMU_WGMMA_WARPS; v++) {
        const float *rows = a + v * WARP_ROWS * s->k;
        if (s->result == HPT_EMU_WGMMA_F32)
            multiply_f32(&warps[v], i, s, rows, arranged, aligned ? of.a + v * WARP_ROWS * s->k : NULL, of.b,
                         operation->keep);
        else if (s->result == HPT_EMU_WGMMA_S32)
            multiply_s32(&warps[v], i, s, rows, arranged, operation->keep);
        else
            multiply_f16(&warps[v], i, s, rows, arranged, operation->keep);
    }
    hpt_emu_counters *counters = &who->warp->cta->cluster->counters;
    counters->mma_operations++;
    counters->mma_flops += 2ull * ROWS * s->n * s->k;
}
