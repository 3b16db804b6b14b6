/* convert.c - cvt in all its forms (PTX ISA 9.7.9.21). */
#include "lanes.h"
#include "minifloat.h"
#include <math.h>

enum { U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, TF32 };
enum { RN, RZ, RM, RP, RNI, RZI, RMI, RPI, RNA };
#define TYPES "{.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64|.f16|.bf16|.f32|.f64|.tf32}"
/* groups: rounding, relu, ftz, saturation, destination, source */

static bool is_float(int type) { return type >= F16; }
static bool is_signed(int type) { return type < F16 && (type & 1); }
static uint32_t size_of(int type) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 4};
    return sizes[type];
}

static f64 read_float(u64 bits, int type) {
    f64 wide;
    switch (type) {
    case F16:
        return (f64)hpt_f16_to((u16)bits);
    case BF16:
        return (f64)hpt_bf16_to((u16)bits);
    case F64:
        memcpy(&wide, &bits, 8);
        return wide;
    default:
        return (f64)hpt_float_of((u32)bits);
    }
}

static f64 round_whole(f64 value, int mode) {
    switch (mode) {
    case RZ:
    case RZI:
        return trunc(value);
    case RM:
    case RMI:
        return floor(value);
    case RP:
    case RPI:
        return ceil(value);
    default:
        return nearbyint(value);
    }
}

/* f64 to f32 in any direction */
static f32 narrow(f64 value, int mode) {
    f32 nearest = (f32)value;
    if ((f64)nearest == value || isnan(value)) return nearest;
    bool over = (f64)nearest > value;
    if (mode == RM || (mode == RZ && value > 0)) return over ? nextafterf(nearest, -INFINITY) : nearest;
    if (mode == RP || (mode == RZ && value < 0)) return over ? nearest : nextafterf(nearest, INFINITY);
    return nearest;
}

static u64 write_float(f64 value, int type, int mode, bool flush) {
    u64 bits = 0;
    f32 single;
    switch (type) {
    case F16:
        return mode == RZ ? hpt_f16_from_toward_zero((f32)value) : hpt_f16_from(value);
    case BF16:
        return mode == RZ && !isnan(value) ? hpt_bits_of(narrow(value, RZ)) >> 16 : hpt_bf16_from_f64(value);
    case F64:
        memcpy(&bits, &value, 8);
        return bits;
    case TF32: {
        u32 b = hpt_bits_of((f32)value); /* rna: ties away; rn: ties to even */
        return mode == RZ ? b & ~0x1fffu : (b + (mode == RN ? 0xfff + (b >> 13 & 1) : 0x1000)) & ~0x1fffu;
    }
    default:
        single = narrow(value, mode);
        if (flush && fabsf(single) < 0x1p-126f) single = copysignf(0, single);
        return hpt_bits_of(single);
    }
}

static u64 float_to_integer(f64 value, int type, int mode) {
    if (isnan(value)) return size_of(type) == 8 ? 1ull << 63 : 0;
    value = round_whole(value, mode);
    int bits = (int)(8 * size_of(type));
    if (is_signed(type)) {
        f64 top = ldexp(1, bits - 1);
        if (value >= top) return (1ull << (bits - 1)) - 1;
        if (value <= -top) return ~(u64)0 << (bits - 1);
        return (u64)(s64)value;
    }
    if (value <= 0) return 0;
    if (value >= ldexp(1, bits)) return bits == 64 ? ~(u64)0 : (1ull << bits) - 1;
    return (u64)value;
}

static u64 extend(u64 bits, int type) {
    switch (type) {
    case U8:
        return (u8)bits;
    case S8:
        return (u64)(s64)(s8)bits;
    case U16:
        return (u16)bits;
    case S16:
        return (u64)(s64)(s16)bits;
    case U32:
        return (u32)bits;
    case S32:
        return (u64)(s64)(s32)bits;
    default:
        return bits;
    }
}

static u64 integer_to_integer(u64 value, int from, int to, bool saturate) {
    if (!saturate) return extend(value, to);
    int bits = (int)(8 * size_of(to));
    bool negative = is_signed(from) && (s64)value < 0;
    if (is_signed(to)) {
        s64 top = bits == 64 ? INT64_MAX : ((s64)1 << (bits - 1)) - 1;
        if (negative) return (s64)value < -top - 1 ? (u64)(-top - 1) : value;
        return value > (u64)top ? (u64)top : value;
    }
    u64 top = bits == 64 ? ~(u64)0 : (1ull << bits) - 1;
    return negative ? 0 : value > top ? top : value;
}

static f64 integer_to_float(u64 value, int from, int to, int mode) {
    bool negative = is_signed(from) && (s64)value < 0;
    u64 size = negative ? 0 - value : value;
    if (to == F32 && size >> 53) { /* more bits than a double: keep the lost ones sticky */
        int shift = 64 - __builtin_clzll(size) - 53;
        u64 kept = size >> shift, lost = size & ((1ull << shift) - 1);
        f64 wide = ldexp((f64)(kept | (lost != 0)), shift);
        return (f64)narrow(negative ? -wide : wide, mode);
    }
    return negative ? -(f64)size : (f64)size;
}

static u64 convert(u64 bits, const int8_t *m) {
    int to = m[4], from = m[5], mode = m[0] < 0 ? RN : m[0];
    bool flush = m[2] == 0, saturate = m[3] == 0;
    if (!is_float(from)) {
        u64 value = extend(bits, from);
        if (!is_float(to)) return integer_to_integer(value, from, to, saturate);
        return write_float(integer_to_float(value, from, to, mode), to, mode, false);
    }
    f64 value = read_float(bits, from);
    if (flush && from == F32 && fabs(value) < 0x1p-126) value = copysign(0, value);
    if (!is_float(to)) return float_to_integer(value, to, mode);
    if (mode >= RNI && mode <= RPI) value = round_whole(value, mode);
    if (saturate) value = value >= 1 ? 1 : value > 0 ? value : 0;
    if (m[1] == 0 && value < 0) value = 0;
    return write_float(value, to, mode, flush);
}

static hpt_emu_step run_cvt(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask)
    hpt_emu_set(w, &i->op[0], lane, convert(hpt_emu_get(w, &i->op[1], lane), i->modifier));
    return HPT_EMU_NEXT;
}

static bool check_widths(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    if (i->op[0].bytes < size_of(i->modifier[4]) || (!i->op[1].constant && i->op[1].bytes < size_of(i->modifier[5])))
        return hpt_emu_refuse(d, "%s: a register is narrower than its type.", i->source->opcode);
    if (is_float(i->modifier[4]) && i->op[0].bytes != size_of(i->modifier[4]))
        return hpt_emu_refuse(d, "%s: the destination has the wrong width.", i->source->opcode);
    return true;
}

/* two f32 into a pair: a is the high half. Groups: rounding, relu, satfinite, type */
static hpt_emu_step run_pack(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    u32 *d = hpt_emu_at(w, &i->op[0]);
    const f32 *pa = hpt_emu_at(w, &i->op[1]), *pb = hpt_emu_at(w, &i->op[2]);
    bool relu = i->modifier[1] == 0, zero = i->modifier[0] == 1, is_bf16 = i->modifier[3] == 1,
         finite = i->modifier[2] == 0;
    HPT_FOR_LANES(lane, mask) {
        f32 v[2] = {pb[lane], pa[lane]};
        u32 bits[2];
        for (int k = 0; k < 2; k++) {
            if (relu && v[k] < 0) v[k] = 0;
            if (is_bf16)
                bits[k] = zero && !isnan(v[k]) ? hpt_bits_of(v[k]) >> 16 : hpt_bf16_from(v[k]);
            else
                bits[k] = zero ? hpt_f16_from_toward_zero(v[k]) : hpt_f16_from_f32(v[k]);
            u32 infinity = is_bf16 ? 0x7f80 : 0x7c00;
            if (finite && (bits[k] & 0x7fff) == infinity) bits[k]--;
        }
        d[lane] = bits[0] | bits[1] << 16;
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_widen(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    f32 *d = hpt_emu_at(w, &i->op[0]);
    const u16 *a = hpt_emu_at(w, &i->op[1]);
    if (i->modifier[0] == 0)
        HPT_LANES_DO(mask, d[lane] = hpt_f16_to(a[lane]));
    else
        HPT_LANES_DO(mask, d[lane] = hpt_bf16_to(a[lane]));
    return HPT_EMU_NEXT;
}

/* pairs of 8-bit floats. Groups of the first: rounding, satfinite, relu, type, source */
static hpt_emu_step run_pack8(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_minifloat format = (hpt_minifloat)i->modifier[1];
    bool from_half = i->count == 2;
    HPT_FOR_LANES(lane, mask) {
        f32 v[2];
        if (from_half) {
            u32 pair = (u32)hpt_emu_get(w, &i->op[1], lane);
            v[0] = hpt_f16_to((u16)pair);
            v[1] = hpt_f16_to((u16)(pair >> 16));
        } else {
            v[1] = hpt_float_of((u32)hpt_emu_get(w, &i->op[1], lane));
            v[0] = hpt_float_of((u32)hpt_emu_get(w, &i->op[2], lane));
        }
        for (int k = 0; k < 2; k++)
            if (i->modifier[0] == 0 && v[k] < 0) v[k] = 0;
        hpt_emu_set(w, &i->op[0], lane,
                    (u64)hpt_minifloat_from(v[0], format) | (u64)hpt_minifloat_from(v[1], format) << 8);
    }
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_unpack8(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_minifloat format = (hpt_minifloat)i->modifier[1];
    HPT_FOR_LANES(lane, mask) {
        u64 pair = hpt_emu_get(w, &i->op[1], lane);
        f32 v[2] = {hpt_minifloat_to((u8)pair, format), hpt_minifloat_to((u8)(pair >> 8), format)};
        for (int k = 0; k < 2; k++)
            if (i->modifier[0] == 0 && v[k] < 0) v[k] = 0;
        hpt_emu_set(w, &i->op[0], lane, (u64)hpt_f16_from_f32(v[0]) | (u64)hpt_f16_from_f32(v[1]) << 16);
    }
    return HPT_EMU_NEXT;
}

/* cvt.pack.sat.{u8,s8}.s32.b32 d, a, b, c: two saturated bytes in front of the low half of c */
static hpt_emu_step run_pack_bytes(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) {
        u32 result = (u32)hpt_emu_get(w, &i->op[3], lane) << 16;
        for (int k = 0; k < 2; k++) {
            s32 v = (s32)(u32)hpt_emu_get(w, &i->op[1 + k], lane);
            s32 low = i->modifier[0] ? -128 : 0, high = i->modifier[0] ? 127 : 255;
            v = v < low ? low : v > high ? high : v;
            result |= ((u32)v & 255) << (k ? 0 : 8);
        }
        hpt_emu_set(w, &i->op[0], lane, result);
    }
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_convert[] = {
    {"cvt.f32{.f16|.bf16}", "d4,s2h", run_widen, 0, NULL},
    {"cvt{.rn|.rz}[.relu][.satfinite]{.f16x2|.bf16x2}.f32", "d4,s4f,s4f", run_pack, 0, NULL},
    {"cvt.rn.satfinite[.relu]{.e4m3x2|.e5m2x2}.f32", "d2,s4f,s4f", run_pack8, 0, NULL},
    {"cvt.rn.satfinite[.relu]{.e4m3x2|.e5m2x2}.f16x2", "d2,s4", run_pack8, 0, NULL},
    {"cvt.rn[.relu].f16x2{.e4m3x2|.e5m2x2}", "d4,s2", run_unpack8, 0, NULL},
    {"cvt.pack.sat{.u8|.s8}.s32.b32", "d4,s4,s4,s4", run_pack_bytes, 0, NULL},
    {"cvt[.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi|.rna][.relu][.ftz][.sat|.satfinite]" TYPES TYPES, "dx,sx", run_cvt, 0,
     check_widths},
    HPT_EMU_LAST_ROW,
};
