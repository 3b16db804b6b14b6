/* matrix.c - matrix instructions of one warp: ldmatrix, stmatrix, movmatrix, mma.sync (PTX ISA 9.7.14). */
#include "lanes.h"
#include "operand_matrix.h"
#include <stdio.h>

/* ---- 8 x 8 matrices of 16-bit elements: lane l holds row l / 4, columns 2 (l % 4) and the next ---- */
static void place(uint32_t lane, uint32_t part, bool transposed, uint32_t *row, uint32_t *column) {
    *row = transposed ? 2 * (lane % 4) + part : lane / 4;
    *column = transposed ? lane / 4 : 2 * (lane % 4) + part;
}

static void count_conflicts(hpt_emu_warp *w, const uint8_t *const row[8], const uint8_t *base) {
    uint32_t used[8] = {0}, worst = 1; /* a row of 16 bytes covers four of the 32 banks */
    for (int r = 0; r < 8; r++) {
        uint32_t bank = row[r] ? (uint32_t)(row[r] - base) / 16 % 8 : 0;
        if (++used[bank] > worst) worst = used[bank];
    }
    w->cta->cluster->counters.bank_conflicts += worst - 1;
}

/* groups: count, transposed, space */
static hpt_emu_step move_matrices(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, bool loads) {
    const hpt_emu_operand *address = &i->op[loads ? 1 : 0], *values = &i->op[loads ? 0 : 1];
    bool transposed = i->modifier[1] == 0;
    for (uint32_t m = 0; m < values->count; m++) {
        uint8_t *row[8];
        u32 *to = hpt_emu_at(w, &values->items[m]);
        for (uint32_t r = 0; r < 8; r++) {
            uint32_t lane = 8 * m + r;
            row[r] = mask >> lane & 1
                         ? hpt_emu_access_lane(w, i, lane, HPT_PTX_SHARED, hpt_emu_address(w, address, lane), 16,
                                               loads ? HPT_EMU_READ : HPT_EMU_WRITE)
                         : NULL;
        }
        count_conflicts(w, (const uint8_t *const *)row, w->cta->shared);
        HPT_FOR_LANES(lane, mask)
        for (uint32_t part = 0; part < 2; part++) {
            uint32_t r, c;
            place(lane, part, transposed, &r, &c);
            if (!row[r]) continue;
            u16 *element = (u16 *)(void *)row[r] + c, *half = (u16 *)&to[lane] + part;
            if (loads)
                *half = *element;
            else
                *element = *half;
        }
    }
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_ldmatrix(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    return move_matrices(w, i, mask, true);
}
static hpt_emu_step run_stmatrix(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    return move_matrices(w, i, mask, false);
}

static bool check_count(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    bool loads = i->source->opcode[0] == 'l';
    if (i->op[loads ? 0 : 1].count != 1u << i->modifier[0])
        return hpt_emu_refuse(d, "%s: the vector has the wrong length.", i->source->opcode);
    return true;
}

static hpt_emu_step run_movmatrix(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    u16 matrix[8][8];
    u32 *d = hpt_emu_at(w, &i->op[0]);
    const u32 *a = hpt_emu_at(w, &i->op[1]);
    for (uint32_t lane = 0; lane < HPT_LANES; lane++)
        for (uint32_t part = 0; part < 2; part++) matrix[lane / 4][2 * (lane % 4) + part] = (u16)(a[lane] >> 16 * part);
    HPT_FOR_LANES(lane, mask)
    d[lane] = matrix[2 * (lane % 4)][lane / 4] | (u32)matrix[2 * (lane % 4) + 1][lane / 4] << 16;
    return HPT_EMU_NEXT;
}

/* ---- mma.sync: 16 x 8 x k; fragments as PTX ISA 9.7.14.5 draws them ---- */
typedef struct mma {
    uint32_t k;
    hpt_emu_format a, b;
    bool half_result, integer, saturates;
} mma;

enum { MAX_K = 32 };

static void read_words(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t r, uint32_t lane, hpt_emu_format format,
                       float *out) {
    uint8_t bytes[16] = {0};
    float values[16];
    uint32_t word = ((const u32 *)hpt_emu_at(w, &op->items[r]))[lane], each = 4 / hpt_emu_format_bytes(format);
    memcpy(bytes, &word, 4);
    hpt_emu_format_unpack(format, bytes, values);
    memcpy(out, values, each * sizeof *out);
}

static float accumulator(hpt_emu_warp *w, const hpt_emu_operand *c, const mma *s, uint32_t lane, uint32_t e) {
    if (s->half_result) return hpt_f16_to(((const u16 *)hpt_emu_at(w, &c->items[e / 2]))[2 * lane + e % 2]);
    u32 bits = ((const u32 *)hpt_emu_at(w, &c->items[e]))[lane];
    return s->integer ? 0 : hpt_float_of(bits);
}

static hpt_emu_step run_mma(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const mma *s = i->data;
    static _Thread_local float a[16][MAX_K], b[8][MAX_K];
    uint32_t each = 4 / hpt_emu_format_bytes(s->a);
    float result[HPT_LANES][4];
    (void)mask;
    for (uint32_t lane = 0; lane < HPT_LANES; lane++) {
        for (uint32_t r = 0; r < i->op[1].count; r++)
            read_words(w, &i->op[1], r, lane, s->a, &a[lane / 4 + 8 * (r & 1)][lane % 4 * each + 4 * each * (r >> 1)]);
        for (uint32_t r = 0; r < i->op[2].count; r++)
            read_words(w, &i->op[2], r, lane, s->b, &b[lane / 4][lane % 4 * each + 4 * each * r]);
    }
    for (uint32_t lane = 0; lane < HPT_LANES; lane++)
        for (uint32_t e = 0; e < 4; e++) {
            float sum = accumulator(w, &i->op[3], s, lane, e);
            for (uint32_t k = 0; k < s->k; k++) sum += a[lane / 4 + 8 * (e / 2)][k] * b[2 * (lane % 4) + e % 2][k];
            result[lane][e] = sum;
        }
    for (uint32_t lane = 0; lane < HPT_LANES; lane++)
        for (uint32_t e = 0; e < 4; e++) {
            if (s->half_result) {
                ((u16 *)hpt_emu_at(w, &i->op[0].items[e / 2]))[2 * lane + e % 2] = hpt_f16_from_f32(result[lane][e]);
                continue;
            }
            u32 *d = hpt_emu_at(w, &i->op[0].items[e]);
            if (!s->integer) {
                d[lane] = hpt_bits_of(result[lane][e]);
                continue;
            }
            s64 total = (s64)(s32)((const u32 *)hpt_emu_at(w, &i->op[3].items[e]))[lane] + (s64)result[lane][e];
            if (s->saturates) total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
            d[lane] = (u32)(u64)total;
        }
    w->cta->cluster->counters.mma_operations++;
    w->cta->cluster->counters.mma_flops += 2ull * 16 * 8 * s->k;
    return HPT_EMU_NEXT;
}

/* groups: shape, satfinite, D, A, B, C */
static bool decode_mma(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    static const hpt_emu_format formats[] = {HPT_EMU_FORMAT_F16,  HPT_EMU_FORMAT_BF16, HPT_EMU_FORMAT_TF32,
                                             HPT_EMU_FORMAT_E4M3, HPT_EMU_FORMAT_E5M2, HPT_EMU_FORMAT_S8,
                                             HPT_EMU_FORMAT_U8};
    const int8_t *m = i->modifier;
    mma *s = hpt_arena_alloc(hpt_emu_decoder_arena(d), 1, sizeof *s);
    if (!s) return hpt_emu_refuse(d, "Out of memory.");
    if (sscanf(i->source->opcode, "mma.sync.aligned.m16n8k%u", &s->k) != 1 || s->k > MAX_K || s->k % 4)
        return hpt_emu_refuse(d, "%s: the shape is not supported.", i->source->opcode);
    s->a = formats[m[3]];
    s->b = formats[m[4]];
    s->half_result = m[2] == 1;
    s->integer = m[2] == 2;
    s->saturates = m[1] == 0;
    bool integers = m[3] >= 5;
    uint32_t bytes = hpt_emu_format_bytes(s->a), results = s->half_result ? 2 : 4;
    if (bytes != hpt_emu_format_bytes(s->b) || m[2] != m[5] || integers != s->integer || integers != (m[4] >= 5))
        return hpt_emu_refuse(d, "%s: these types do not go together.", i->source->opcode);
    if (i->op[1].count * 8 != s->k * bytes || i->op[2].count * 16 != s->k * bytes || i->op[0].count != results ||
        i->op[3].count != results)
        return hpt_emu_refuse(d, "%s: a fragment has the wrong number of registers.", i->source->opcode);
    i->data = s;
    return true;
}

#define INPUTS "{.f16|.bf16|.tf32|.e4m3|.e5m2|.s8|.u8}"
const hpt_emu_row hpt_emu_rows_matrix[] = {
    {"ldmatrix.sync.aligned.m8n8{.x1|.x2|.x4}[.trans]{.shared|.shared::cta}.b16", "dv4,m", run_ldmatrix,
     HPT_EMU_ALIGNED, check_count},
    {"stmatrix.sync.aligned.m8n8{.x1|.x2|.x4}[.trans]{.shared|.shared::cta}.b16", "m,sv4", run_stmatrix,
     HPT_EMU_ALIGNED, check_count},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "d4,s4", run_movmatrix, HPT_EMU_ALIGNED, NULL},
    {"mma.sync.aligned{.m16n8k#}.row.col[.satfinite]{.f32|.f16|.s32}" INPUTS INPUTS "{.f32|.f16|.s32}",
     "dv4,sv4,sv4,sv4", run_mma, HPT_EMU_ALIGNED, decode_mma},
    HPT_EMU_LAST_ROW,
};
