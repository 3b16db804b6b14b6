/* move.c - moves, selections and comparisons, and the conversions between address spaces. */
#include "lanes.h"
#include <math.h>

static hpt_emu_step run_move(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint8_t *d = hpt_emu_at(w, &i->op[0]);
    const uint8_t *s = hpt_emu_at(w, &i->op[1]);
    size_t bytes = i->op[0].bytes;
    if (mask == 0xffffffffu)
        memmove(d, s, bytes * HPT_LANES);
    else
        HPT_FOR_LANES(lane, mask) memmove(d + bytes * lane, s + bytes * lane, bytes);
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_move_predicate(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_set_predicate(w, &i->op[0], hpt_emu_predicate(w, &i->op[1]), mask);
    return HPT_EMU_NEXT;
}

/* mov.b64 {lo, hi}, d and mov.b64 d, {lo, hi}; sinks among the parts are fine */
static hpt_emu_step run_unpack(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const hpt_emu_operand *parts = &i->op[0];
    uint32_t bytes = i->op[1].bytes, part = bytes / parts->count;
    HPT_FOR_LANES(lane, mask) {
        uint8_t whole[16];
        memcpy(whole, (uint8_t *)hpt_emu_at(w, &i->op[1]) + bytes * lane, bytes);
        for (uint32_t k = 0; k < parts->count; k++)
            memcpy((uint8_t *)hpt_emu_at(w, &parts->items[k]) + part * lane, whole + part * k, part);
    }
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_pack(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const hpt_emu_operand *parts = &i->op[1];
    uint32_t bytes = i->op[0].bytes, part = bytes / parts->count;
    HPT_FOR_LANES(lane, mask) {
        uint8_t whole[16];
        for (uint32_t k = 0; k < parts->count; k++)
            memcpy(whole + part * k, (uint8_t *)hpt_emu_at(w, &parts->items[k]) + part * lane, part);
        memcpy((uint8_t *)hpt_emu_at(w, &i->op[0]) + bytes * lane, whole, bytes);
    }
    return HPT_EMU_NEXT;
}

/* mov of any width: whole, packing or unpacking, told apart by the operands */
static bool decode_move(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    static const uint8_t widths[] = {2, 4, 8, 16};
    uint32_t bytes = widths[i->modifier[0] / 4];
    hpt_emu_operand *to = &i->op[0], *from = &i->op[1];
    bool unpacks = i->source->operands[0].kind == HPT_PTX_VECTOR, packs = i->source->operands[1].kind == HPT_PTX_VECTOR;
    if ((unpacks && to->count == 0) || (packs && from->count == 0) || (unpacks && packs))
        return hpt_emu_refuse(d, "%s: the operands have the wrong shape.", i->source->opcode);
    if (packs && !hpt_emu_set_width(d, i, 1, (int)(bytes / from->count), 0)) return false;
    const hpt_emu_operand *parts = unpacks ? to : from;
    for (uint32_t k = 0; (unpacks || packs) && k < parts->count; k++)
        if (parts->items[k].bytes * parts->count != bytes && !parts->items[k].sink)
            return hpt_emu_refuse(d, "%s: the parts do not add up to its width.", i->source->opcode);
    if (!packs && !hpt_emu_set_width(d, i, 1, (int)bytes, bytes == 2 ? 'h' : 'f')) return false;
    if ((!unpacks && to->bytes != bytes) || (!packs && from->bytes != bytes && !from->constant))
        return hpt_emu_refuse(d, "%s: a register has the wrong width.", i->source->opcode);
    i->run = unpacks ? run_unpack : packs ? run_pack : run_move;
    if (!unpacks && !packs) {
        i->flags |= HPT_EMU_COPIES;
        i->op[0].items = i->op[1].items = NULL;
    }
    return true;
}

/* ---- selections ---- */
static hpt_emu_step run_selp(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t choose = hpt_emu_predicate(w, &i->op[3]);
    uint8_t *d = hpt_emu_at(w, &i->op[0]);
    const uint8_t *a = hpt_emu_at(w, &i->op[1]), *b = hpt_emu_at(w, &i->op[2]);
    size_t bytes = i->op[0].bytes;
    HPT_FOR_LANES(lane, mask) memmove(d + bytes * lane, (choose >> lane & 1 ? a : b) + bytes * lane, bytes);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_slct(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool by_float =
        i->op[3].bytes == 4 && strstr(i->source->opcode, ".f32") == i->source->opcode + strlen(i->source->opcode) - 4;
    HPT_FOR_LANES(lane, mask) {
        uint32_t bits = (uint32_t)hpt_emu_get(w, &i->op[3], lane);
        bool first = by_float ? hpt_float_of(bits) >= 0 : (int32_t)bits >= 0;
        hpt_emu_set(w, &i->op[0], lane, hpt_emu_get(w, &i->op[first ? 1 : 2], lane));
    }
    return HPT_EMU_NEXT;
}

/* ---- comparisons ---- */
#define COMPARISONS "{.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan}"
#define COMBINE "[.and|.or|.xor]"
enum { EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NANS };

static inline bool compare_f64(f64 a, f64 b, int how) {
    bool unordered = isnan(a) || isnan(b);
    switch (how) {
    case EQ:
        return a == b;
    case NE:
        return !unordered && a != b;
    case LT:
        return a < b;
    case LE:
        return a <= b;
    case GT:
        return a > b;
    case GE:
        return a >= b;
    case EQU:
        return unordered || a == b;
    case NEU:
        return unordered || a != b;
    case LTU:
        return unordered || a < b;
    case LEU:
        return unordered || a <= b;
    case GTU:
        return unordered || a > b;
    case GEU:
        return unordered || a >= b;
    case NUM:
        return !unordered;
    default:
        return unordered;
    }
}
static inline bool compare_u64(u64 a, u64 b, int how) {
    switch (how) {
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case LT:
    case LO:
        return a < b;
    case LE:
    case LS:
        return a <= b;
    case GT:
    case HI:
        return a > b;
    default:
        return a >= b;
    }
}
static inline bool compare_s64(s64 a, s64 b, int how) {
    switch (how) {
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case LT:
        return a < b;
    case LE:
        return a <= b;
    case GT:
        return a > b;
    default:
        return a >= b;
    }
}

enum { T_B16, T_B32, T_B64, T_U16, T_U32, T_U64, T_S16, T_S32, T_S64, T_F16, T_BF16, T_F32, T_F64, T_F16X2, T_BF16X2 };
#define COMPARED "{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f16|.bf16|.f32|.f64|.f16x2|.bf16x2}"

#define EACH(T, PROMOTED, function)                                                                                    \
    {                                                                                                                  \
        const T *a = hpt_emu_at(w, pa), *b = hpt_emu_at(w, pb);                                                        \
        HPT_FOR_LANES(lane, mask) bits |= (uint32_t)function((PROMOTED)a[lane], (PROMOTED)b[lane], how) << lane;       \
    }                                                                                                                  \
    break

/* one bit per lane; `high`: of the second half of a pair */
static uint32_t compare(hpt_emu_warp *w, const hpt_emu_operand *pa, const hpt_emu_operand *pb, uint32_t mask, int how,
                        int type, bool flush, bool high) {
    uint32_t bits = 0;
    if (type == T_F32 && flush) {
        const f32 *a = hpt_emu_at(w, pa), *b = hpt_emu_at(w, pb);
        HPT_FOR_LANES(lane, mask) {
            f32 x = fabsf(a[lane]) < 0x1p-126f ? 0 : a[lane], y = fabsf(b[lane]) < 0x1p-126f ? 0 : b[lane];
            bits |= (uint32_t)compare_f64((f64)x, (f64)y, how) << lane;
        }
        return bits;
    }
    switch (type) {
    case T_B16:
    case T_U16:
        EACH(u16, u64, compare_u64);
    case T_B32:
    case T_U32:
        EACH(u32, u64, compare_u64);
    case T_B64:
    case T_U64:
        EACH(u64, u64, compare_u64);
    case T_S16:
        EACH(s16, s64, compare_s64);
    case T_S32:
        EACH(s32, s64, compare_s64);
    case T_S64:
        EACH(s64, s64, compare_s64);
    case T_F32:
        EACH(f32, f64, compare_f64);
    case T_F64:
        EACH(f64, f64, compare_f64);
    default: {
        bool is_bf16 = type == T_BF16 || type == T_BF16X2, pair = type == T_F16X2 || type == T_BF16X2;
        const u16 *a = hpt_emu_at(w, pa), *b = hpt_emu_at(w, pb);
        HPT_FOR_LANES(lane, mask) {
            uint32_t k = pair ? 2 * lane + high : lane;
            f32 x = is_bf16 ? hpt_bf16_to(a[k]) : hpt_f16_to(a[k]), y = is_bf16 ? hpt_bf16_to(b[k]) : hpt_f16_to(b[k]);
            bits |= (uint32_t)compare_f64((f64)x, (f64)y, how) << lane;
        }
    }
    }
    return bits;
}

static uint32_t combine(hpt_emu_warp *w, uint32_t bits, const hpt_emu_operand *with, int how) {
    if (how < 0) return bits;
    uint32_t c = hpt_emu_predicate(w, with);
    return how == 0 ? bits & c : how == 1 ? bits | c : bits ^ c;
}

/* groups: comparison, combination, ftz, type */
static hpt_emu_step run_setp(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const int8_t *m = i->modifier;
    bool pair = m[3] >= T_F16X2;
    uint32_t bits = compare(w, &i->op[1], &i->op[2], mask, m[0], m[3], m[2] == 0, false);
    uint32_t other = pair ? compare(w, &i->op[1], &i->op[2], mask, m[0], m[3], m[2] == 0, true) : ~bits;
    uint32_t first = combine(w, bits, &i->op[3], m[1]), second = combine(w, other, &i->op[3], m[1]);
    hpt_emu_set_predicate(w, &i->op[0].items[0], first, mask);
    if (i->op[0].count > 1) hpt_emu_set_predicate(w, &i->op[0].items[1], second, mask);
    return HPT_EMU_NEXT;
}
/* groups: comparison, combination, ftz, result type, type */
static hpt_emu_step run_set(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const int8_t *m = i->modifier;
    uint32_t bits = combine(w, compare(w, &i->op[1], &i->op[2], mask, m[0], m[4], m[2] == 0, false), &i->op[3], m[1]);
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane, !(bits >> lane & 1) ? 0 : m[3] == 2 ? 0x3f800000u : 0xffffffffu);
    return HPT_EMU_NEXT;
}
/* f16x2 results: 1.0 in each half that holds; groups as run_set, the result type first */
static hpt_emu_step run_set_half(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const int8_t *m = i->modifier;
    bool is_bf16 = m[3] == 1 || m[3] == 3, pair = m[3] >= 2;
    static const int types[] = {T_F16, T_BF16, T_F16X2, T_BF16X2};
    uint32_t one = is_bf16 ? 0x3f80 : 0x3c00;
    uint32_t low =
        combine(w, compare(w, &i->op[1], &i->op[2], mask, m[0], types[m[3]], m[2] == 0, false), &i->op[3], m[1]);
    uint32_t high =
        !pair ? 0
              : combine(w, compare(w, &i->op[1], &i->op[2], mask, m[0], types[m[3]], m[2] == 0, true), &i->op[3], m[1]);
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane, (low >> lane & 1 ? one : 0) | (high >> lane & 1 ? one << 16 : 0));
    return HPT_EMU_NEXT;
}
static bool check_halves(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    if ((i->modifier[1] >= 0) != (i->count == 4) || i->modifier[3] != i->modifier[4])
        return hpt_emu_refuse(d, "%s: the types or operands do not go together.", i->source->opcode);
    return true;
}
static bool check_compared(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    static const uint8_t bytes[] = {2, 4, 8, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 4, 4};
    int type = i->modifier[3];
    if (strncmp(i->source->opcode, "setp", 4) != 0) type = i->modifier[4];
    for (int k = 1; k < 3; k++) {
        if (!hpt_emu_set_width(d, i, k, bytes[type], type == T_F16 ? 'h' : type == T_BF16 ? 'b' : 'f')) return false;
        if (i->op[k].bytes != bytes[type])
            return hpt_emu_refuse(d, "%s: an operand has the wrong width.", i->source->opcode);
    }
    if ((i->modifier[1] >= 0) != (i->count == 4))
        return hpt_emu_refuse(d, "%s: wrong number of operands.", i->source->opcode);
    return true;
}

/* ---- predicates ---- */
static hpt_emu_step run_logic(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t a = hpt_emu_predicate(w, &i->op[1]), b = i->count > 2 ? hpt_emu_predicate(w, &i->op[2]) : 0;
    char kind = i->source->opcode[0];
    hpt_emu_set_predicate(w, &i->op[0], kind == 'a' ? a & b : kind == 'o' ? a | b : kind == 'x' ? a ^ b : ~a, mask);
    return HPT_EMU_NEXT;
}

/* ---- addresses ---- */
static const u64 windows[] = {0,
                              0,
                              HPT_EMU_SHARED_WINDOW,
                              HPT_EMU_SHARED_WINDOW,
                              HPT_EMU_SHARED_WINDOW,
                              HPT_EMU_LOCAL_WINDOW,
                              HPT_EMU_PARAM_WINDOW,
                              HPT_EMU_PARAM_WINDOW};
#define SPACES "{.global|.const|.shared|.shared::cta|.shared::cluster|.local|.param|.param::entry}"

static hpt_emu_step run_cvta(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane, hpt_emu_get(w, &i->op[1], lane) + windows[(int)i->modifier[0]]);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_cvta_to(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane, hpt_emu_get(w, &i->op[1], lane) - windows[(int)i->modifier[0]]);
    return HPT_EMU_NEXT;
}
static bool in_window(u64 address, u64 window) { return address >= window && address - window < HPT_EMU_WINDOW_BYTES; }

static hpt_emu_step run_isspacep(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t bits = 0;
    u64 window = windows[(int)i->modifier[0]];
    HPT_FOR_LANES(lane, mask) {
        u64 address = hpt_emu_get(w, &i->op[1], lane);
        bool any = in_window(address, HPT_EMU_SHARED_WINDOW) || in_window(address, HPT_EMU_LOCAL_WINDOW) ||
                   in_window(address, HPT_EMU_PARAM_WINDOW);
        bool is = window ? in_window(address, window) : !any;
        if (is && (i->modifier[0] == 2 || i->modifier[0] == 3)) is = (address >> 24 & 255) == w->cta->rank;
        bits |= (uint32_t)is << lane;
    }
    hpt_emu_set_predicate(w, &i->op[0], bits, mask);
    return HPT_EMU_NEXT;
}

/* mapa: the same offset in another CTA of the cluster; 32-bit shared or 64-bit generic addresses */
static hpt_emu_step run_mapa(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) {
        u64 address = hpt_emu_get(w, &i->op[1], lane), rank = hpt_emu_get(w, &i->op[2], lane);
        if (rank >= w->cta->cluster->size)
            hpt_emu_report(w, i, lane, HPT_EMU_OPERAND, "There is no CTA %llu in a cluster of %u.",
                           (unsigned long long)rank, w->cta->cluster->size);
        hpt_emu_set(w, &i->op[0], lane, (address & ~0xff000000ull) | (rank & 255) << 24);
    }
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_getctarank(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, hpt_emu_get(w, &i->op[1], lane) >> 24 & 255);
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_move[] = {
    {"mov{.b16|.u16|.s16|.f16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64|.b128}", "dvx,svx", run_move, 0, decode_move},
    {"mov.pred", "dp,sp", run_move_predicate, 0, NULL},
    {"selp{.b16|.u16|.s16|.f16|.bf16}", "d2,s2h,s2h,sp", run_selp, 0, NULL},
    {"selp{.b32|.u32|.s32|.f32}", "d4,s4f,s4f,sp", run_selp, 0, NULL},
    {"selp{.b64|.u64|.s64|.f64}", "d8,s8f,s8f,sp", run_selp, 0, NULL},
    {"slct[.ftz]{.b32|.u32|.s32|.f32}{.s32|.f32}", "d4,s4,s4,s4", run_slct, 0, NULL},
    {"slct[.ftz]{.b64|.u64|.s64|.f64}{.s32|.f32}", "d8,s8,s8,s4", run_slct, 0, NULL},
    {"setp" COMPARISONS COMBINE
     "[.ftz]{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f16|.bf16|.f32|.f64|.f16x2|.bf16x2}",
     "dq,sx,sx,?sp", run_setp, 0, check_compared},
    {"set" COMPARISONS COMBINE "[.ftz]{.u32|.s32|.f32}" COMPARED, "d4,sx,sx,?sp", run_set, 0, check_compared},
    {"set" COMPARISONS COMBINE "[.ftz]{.f16|.bf16}{.f16|.bf16}", "d2,s2h,s2h,?sp", run_set_half, 0, check_halves},
    {"set" COMPARISONS COMBINE "[.ftz]{.~|.~|.f16x2|.bf16x2}{.~|.~|.f16x2|.bf16x2}", "d4,s4,s4,?sp", run_set_half, 0,
     check_halves},
    {"and.pred", "dp,sp,sp", run_logic, 0, NULL},
    {"or.pred", "dp,sp,sp", run_logic, 0, NULL},
    {"xor.pred", "dp,sp,sp", run_logic, 0, NULL},
    {"not.pred", "dp,sp", run_logic, 0, NULL},
    {"cvta" SPACES ".u64", "d8,s8", run_cvta, 0, NULL},
    {"cvta.to" SPACES ".u64", "d8,s8", run_cvta_to, 0, NULL},
    {"isspacep" SPACES, "dp,s8", run_isspacep, 0, NULL},
    {"mapa.shared::cluster.u32", "d4,s4,s4", run_mapa, 0, NULL},
    {"mapa.shared::cluster.u64", "d8,s8,s4", run_mapa, 0, NULL},
    {"mapa.u64", "d8,s8,s4", run_mapa, 0, NULL},
    {"getctarank.shared::cluster.u32", "d4,s4", run_getctarank, 0, NULL},
    {"getctarank.u64", "d4,s8", run_getctarank, 0, NULL},
    HPT_EMU_LAST_ROW,
};
