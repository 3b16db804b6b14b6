/* integer.c - integer and bit instructions; the rows are in integer.def. */
#include "lanes.h"

static inline s32 hpt_saturate_s32(s64 value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (s32)value;
}
static inline s32 hpt_relu_s32(s32 value) { return value < 0 ? 0 : value; }

static inline u64 hpt_mul_hi_u64(u64 a, u64 b) {
    u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    u64 middle = ah * bl + (al * bl >> 32), cross = al * bh + (u32)middle;
    return ah * bh + (middle >> 32) + (cross >> 32);
}

static inline u32 hpt_reverse_u32(u32 a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static inline u32 hpt_find_bit(u64 a, u32 width, bool shift_amount) {
    if (a == 0) return 0xffffffff;
    u32 at = 63 - (u32)__builtin_clzll(a);
    return shift_amount ? width - 1 - at : at;
}

static inline u32 hpt_low_bits(u32 count) { return count > 31 ? 0xffffffff : (1u << count) - 1; }

/* bfe: `length` bits from `at`; beyond the top the sign (or zero) goes on */
static inline u64 hpt_extract(u64 a, u32 at, u32 length, u32 width, bool is_signed) {
    at &= 255;
    length &= 255;
    if (length == 0) return 0;
    u32 top = at + length - 1 > width - 1 ? width - 1 : at + length - 1;
    u64 sign = is_signed && (a >> top & 1) ? ~(u64)0 : 0;
    if (at >= width) return sign;
    u32 have = top - at + 1;
    u64 field = have > 63 ? a >> at : a >> at & ((1ull << have) - 1);
    return have > 63 ? field : field | sign << have;
}

static inline u32 hpt_permute(u32 a, u32 b, u32 selector, int8_t mode) {
    u64 bytes = (u64)b << 32 | a;
    u32 result = 0, s = selector & 3;
    for (u32 k = 0; k < 4; k++) {
        u32 pick;
        switch (mode) {
        case 0:
            pick = s + k;
            break; /* f4e */
        case 1:
            pick = (s - k) & 7;
            break; /* b4e */
        case 2:
            pick = s;
            break; /* rc8 */
        case 3:
            pick = k < s ? s : k;
            break; /* ecl */
        case 4:
            pick = k > s ? s : k;
            break; /* ecr */
        case 5:
            pick = (s & 1) * 2 + (k & 1);
            break; /* rc16 */
        default:
            pick = selector >> 4 * k & 15;
            break;
        }
        u32 byte = (u32)(bytes >> 8 * (pick & 7)) & 255;
        if (mode < 0 && pick & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * k;
    }
    return result;
}

static inline u32 hpt_dot4(u32 a, u32 b, bool a_signed, bool b_signed) {
    u32 sum = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 x = a >> 8 * k & 255, y = b >> 8 * k & 255;
        if (a_signed) x = (u32)(s32)(s8)x;
        if (b_signed) y = (u32)(s32)(s8)y;
        sum += x * y;
    }
    return sum;
}

#define UNARY HPT_FUNCTION_UNARY
#define BINARY HPT_FUNCTION_BINARY
#define TERNARY HPT_FUNCTION_TERNARY
#include "integer.def"
#undef UNARY
#undef BINARY
#undef TERNARY

/* bfi d, a, b, at, length: the low bits of a go into b */
static u64 insert(u64 a, u64 b, u32 at, u32 length, u32 width) {
    at &= 255;
    length &= 255;
    if (at >= width || length == 0) return b;
    u32 have = at + length > width ? width - at : length;
    u64 field = (have > 63 ? ~(u64)0 : (1ull << have) - 1) << at;
    return (b & ~field) | (a << at & field);
}
static hpt_emu_step run_bfi(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t width = 8u * i->op[0].bytes;
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane,
                insert(hpt_emu_get(w, &i->op[1], lane), hpt_emu_get(w, &i->op[2], lane),
                       (u32)hpt_emu_get(w, &i->op[3], lane), (u32)hpt_emu_get(w, &i->op[4], lane), width));
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_lop3(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    u32 *d = hpt_emu_at(w, &i->op[0]);
    const u32 *a = hpt_emu_at(w, &i->op[1]), *b = hpt_emu_at(w, &i->op[2]), *c = hpt_emu_at(w, &i->op[3]);
    const u32 *table = hpt_emu_at(w, &i->op[4]);
    HPT_FOR_LANES(lane, mask) {
        u32 t = table[lane], result = 0, x = a[lane], y = b[lane], z = c[lane];
        for (u32 k = 0; k < 8; k++)
            if (t >> k & 1) result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        d[lane] = result;
    }
    return HPT_EMU_NEXT;
}

/* The carry flag: one bit per lane. add.cc sets it, addc reads it; subtraction keeps it as borrow. */
static hpt_emu_step run_carry(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool subtracts = i->source->opcode[0] == 's', reads = i->source->opcode[3] == 'c';
    bool writes = !reads || i->modifier[0] == 0;
    bool wide = i->op[0].bytes == 8;
    HPT_FOR_LANES(lane, mask) {
        u64 a = hpt_emu_get(w, &i->op[1], lane), b = hpt_emu_get(w, &i->op[2], lane);
        u64 carry = reads && w->carry >> lane & 1, result, out;
        if (subtracts) {
            result = a - b - carry;
            out = a < b || (carry && a == b);
        } else {
            result = a + b + carry;
            out = wide ? (result < a || (carry && result == a)) : result >> 32 & 1;
        }
        hpt_emu_set(w, &i->op[0], lane, result);
        if (writes) w->carry = (w->carry & ~(1u << lane)) | (u32)out << lane;
    }
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_integer[] = {
#define UNARY HPT_ROW_UNARY
#define BINARY HPT_ROW_BINARY
#define TERNARY HPT_ROW_TERNARY
#include "integer.def"
    {"bfi.b32", "d4,s4,s4,s4,s4", run_bfi, 0, NULL},          {"bfi.b64", "d8,s8,s8,s4,s4", run_bfi, 0, NULL},
    {"lop3.b32", "d4,s4,s4,s4,s4", run_lop3, 0, NULL},        {"add.cc{.u32|.s32}", "d4,s4,s4", run_carry, 0, NULL},
    {"add.cc{.u64|.s64}", "d8,s8,s8", run_carry, 0, NULL},    {"addc[.cc]{.u32|.s32}", "d4,s4,s4", run_carry, 0, NULL},
    {"addc[.cc]{.u64|.s64}", "d8,s8,s8", run_carry, 0, NULL}, {"sub.cc{.u32|.s32}", "d4,s4,s4", run_carry, 0, NULL},
    {"sub.cc{.u64|.s64}", "d8,s8,s8", run_carry, 0, NULL},    {"subc[.cc]{.u32|.s32}", "d4,s4,s4", run_carry, 0, NULL},
    {"subc[.cc]{.u64|.s64}", "d8,s8,s8", run_carry, 0, NULL}, HPT_EMU_LAST_ROW,
};
