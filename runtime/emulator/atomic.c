/* atomic.c - atom and red (PTX ISA 9.7.13.5, 9.7.13.7), and the element operations that bulk reductions share. */
#include "atomic.h"
#include "lanes.h"
#include <math.h>

enum { U32, S32, U64, S64, B32, B64, F16, F16X2, BF16, BF16X2, F32, F64, B16, B128 };
#define TYPES "{.u32|.s32|.u64|.s64|.b32|.b64|.f16|.f16x2|.bf16|.bf16x2|.f32|.f64|.b16|.b128}"
#define OPERATIONS "{.and|.or|.xor|.exch|.add|.inc|.dec|.min|.max}"
static const uint8_t type_bytes[] = {4, 4, 8, 8, 4, 8, 2, 4, 2, 4, 4, 8, 2, 16};

static f32 flushed(f32 a) { return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a; }

f32 hpt_emu_add_f32_flushing(f32 a, f32 b) { return flushed(flushed(a) + flushed(b)); }

static u16 half_operation(u16 a, u16 b, hpt_emu_atomic how, bool is_bf16) {
    f32 x = is_bf16 ? hpt_bf16_to(a) : hpt_f16_to(a), y = is_bf16 ? hpt_bf16_to(b) : hpt_f16_to(b);
    f32 r = how == HPT_EMU_ATOMIC_ADD ? x + y : how == HPT_EMU_ATOMIC_MIN ? fminf(x, y) : fmaxf(x, y);
    return is_bf16 ? hpt_bf16_from(r) : hpt_f16_from_f32(r);
}

static u64 integer_operation(u64 old, u64 value, hpt_emu_atomic how, bool is_signed, uint32_t bits) {
    u64 top = bits == 64 ? ~(u64)0 : (1ull << bits) - 1;
    s64 a = bits == 64 ? (s64)old : (s64)(s32)(u32)old, b = bits == 64 ? (s64)value : (s64)(s32)(u32)value;
    switch (how) {
    case HPT_EMU_ATOMIC_AND:
        return old & value;
    case HPT_EMU_ATOMIC_OR:
        return old | value;
    case HPT_EMU_ATOMIC_XOR:
        return old ^ value;
    case HPT_EMU_ATOMIC_EXCH:
        return value;
    case HPT_EMU_ATOMIC_ADD:
        return (old + value) & top;
    case HPT_EMU_ATOMIC_INC:
        return old >= value ? 0 : old + 1;
    case HPT_EMU_ATOMIC_DEC:
        return old == 0 || old > value ? value : old - 1;
    case HPT_EMU_ATOMIC_MIN:
        return is_signed ? (a < b ? old : value) : (old < value ? old : value);
    default:
        return is_signed ? (a > b ? old : value) : (old > value ? old : value);
    }
}

static u64 operate(u64 old, u64 value, hpt_emu_atomic how, int type, bool flush) {
    f64 x, y;
    switch (type) {
    case F16:
    case BF16:
    case B16:
        return how == HPT_EMU_ATOMIC_EXCH ? value : half_operation((u16)old, (u16)value, how, type == BF16);
    case F16X2:
    case BF16X2:
        return half_operation((u16)old, (u16)value, how, type == BF16X2) |
               (u64)half_operation((u16)(old >> 16), (u16)(value >> 16), how, type == BF16X2) << 16;
    case F32: {
        f32 a = hpt_float_of((u32)old), b = hpt_float_of((u32)value);
        if (how == HPT_EMU_ATOMIC_EXCH) return value;
        if (how == HPT_EMU_ATOMIC_ADD) return hpt_bits_of(flush ? hpt_emu_add_f32_flushing(a, b) : a + b);
        return hpt_bits_of(how == HPT_EMU_ATOMIC_MIN ? fminf(a, b) : fmaxf(a, b));
    }
    case F64:
        if (how == HPT_EMU_ATOMIC_EXCH) return value;
        memcpy(&x, &old, 8);
        memcpy(&y, &value, 8);
        x = how == HPT_EMU_ATOMIC_ADD ? x + y : how == HPT_EMU_ATOMIC_MIN ? fmin(x, y) : fmax(x, y);
        memcpy(&old, &x, 8);
        return old;
    default:
        return integer_operation(old, value, how, type == S32 || type == S64, 8u * type_bytes[type]);
    }
}

/* groups: order, scope, space, operation, noftz, hint, vector, type */
static const hpt_ptx_space spaces[] = {HPT_PTX_GLOBAL, HPT_PTX_SHARED, HPT_PTX_SHARED, HPT_PTX_GENERIC};

static hpt_emu_step run_atomic(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool returns = i->source->opcode[0] == 'a', swaps = strstr(i->source->opcode, ".cas") != NULL;
    int type = i->modifier[swaps ? 4 : 7];
    const int order = i->modifier[0], scope = i->modifier[1];
    const bool wide = scope != 0 && scope != 1; /* .gpu where nothing is said */
    uint32_t bytes = type_bytes[type];
    const hpt_emu_operand *to = &i->op[0], *address = &i->op[returns ? 1 : 0], *values = &i->op[returns ? 2 : 1];
    uint32_t count = values->count ? values->count : 1;
    hpt_ptx_space space = i->modifier[2] < 0 ? HPT_PTX_GENERIC : spaces[(int)i->modifier[2]];
    if (i->modifier[2] < 0 && address->constant && address->space) space = (hpt_ptx_space)address->space;
    HPT_FOR_LANES(lane, mask) {
        uint64_t at = hpt_emu_address(w, address, lane);
        if (i->modifier[2] == 3) at += HPT_EMU_SHARED_WINDOW;
        uint8_t *data = hpt_emu_access_lane(w, i, lane, space, at, bytes * count,
                                            HPT_EMU_READ | HPT_EMU_WRITE | HPT_EMU_SYNCHRONIZING);
        if (!data) continue;
        if (wide) hpt_emu_handover_read(w, at, order == 1 || order == 3);
        if (wide) hpt_emu_handover_write(w, at, order >= 2, true);
        bool flush = at - HPT_EMU_SHARED_WINDOW >= HPT_EMU_WINDOW_BYTES && space != HPT_PTX_SHARED;
        for (uint32_t k = 0; k < count; k++) {
            u64 old = 0, value = hpt_emu_get(w, values->count ? &values->items[k] : values, lane), result;
            memcpy(&old, data + bytes * k, bytes);
            if (swaps)
                result = old == value ? hpt_emu_get(w, &i->op[3], lane) : old;
            else
                result = operate(old, value, (hpt_emu_atomic)i->modifier[3], type, flush);
            memcpy(data + bytes * k, &result, bytes);
            if (returns) hpt_emu_set(w, to->count ? &to->items[k] : to, lane, old);
        }
    }
    return HPT_EMU_NEXT;
}

static bool check_atomic(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    bool returns = i->source->opcode[0] == 'a', swaps = strstr(i->source->opcode, ".cas") != NULL;
    uint32_t bytes = type_bytes[(int)i->modifier[swaps ? 4 : 7]];
    const hpt_emu_operand *values = &i->op[returns ? 2 : 1];
    if (bytes == 16) return hpt_emu_refuse(d, "%s: 128-bit atomics are not supported.", i->source->opcode);
    if (values->bytes < bytes || (returns && i->op[0].bytes < bytes))
        return hpt_emu_refuse(d, "%s: a register is narrower than the type.", i->source->opcode);
    if (returns && i->op[0].count != values->count)
        return hpt_emu_refuse(d, "%s: vectors of different length.", i->source->opcode);
    if (values->count * bytes > 32 || (values->count & (values->count - 1)))
        return hpt_emu_refuse(d, "%s: the vector has the wrong length.", i->source->opcode);
    return true;
}

#define ORDER                                                                                                          \
    "[.relaxed|.acquire|.release|.acq_rel][.cta|.cluster|.gpu|.sys][.global|.shared|.shared::cta|.shared::cluster]"
const hpt_emu_row hpt_emu_rows_atomic[] = {
    {"atom" ORDER "{.cas}" TYPES, "dx,m,sx,sx,?s8", run_atomic, 0, check_atomic},
    {"atom" ORDER OPERATIONS "[.noftz][.L2::cache_hint][.v2|.v4|.v8]" TYPES, "dvx,m,svx,?s8", run_atomic, 0,
     check_atomic},
    {"red" ORDER OPERATIONS "[.noftz][.L2::cache_hint][.v2|.v4|.v8]" TYPES, "m,svx,?s8", run_atomic, 0, check_atomic},
    HPT_EMU_LAST_ROW,
};

/* ---- for bulk reductions ---- */
void hpt_emu_reduce_element(uint8_t *to, const uint8_t *from, hpt_emu_atomic how, hpt_emu_element_type type) {
    static const uint8_t kinds[] = {U32, S32, U64, S64, F16, BF16, F32, F64};
    uint32_t bytes = type_bytes[kinds[type]];
    u64 old = 0, value = 0;
    memcpy(&old, to, bytes);
    memcpy(&value, from, bytes);
    u64 result = operate(old, value, how, kinds[type], true);
    memcpy(to, &result, bytes);
}
