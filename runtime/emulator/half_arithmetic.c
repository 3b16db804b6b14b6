/* half_arithmetic.c - f16, bf16 and their pairs; the rows are in half.def. */
#include "lanes.h"
#include <math.h>

static inline f64 hpt_least(f64 a, f64 b, bool keeps_nan) {
    if (isnan(a) || isnan(b)) return keeps_nan || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

typedef f64 (*half_function)(f64 a, f64 b, f64 c, const int8_t *m);

static inline f64 read_half(u16 bits, bool is_bf16, bool flush) {
    if (flush && (bits & 0x7c00) == 0 && !is_bf16) bits &= 0x8000;
    return (f64)(is_bf16 ? hpt_bf16_to(bits) : hpt_f16_to(bits));
}

static inline u16 write_half(f64 value, bool is_bf16, const int8_t *m) {
    if (m[2] == 0) value = value >= 1.0 ? 1.0 : value > 0.0 ? value : 0.0;
    u16 bits = is_bf16 ? hpt_bf16_from_f64(value) : hpt_f16_from(value);
    if (m[1] == 0 && (bits & 0x7c00) == 0 && !is_bf16) bits &= 0x8000;
    return bits;
}

static hpt_emu_step over_halves(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, half_function f,
                                bool relu) {
    bool is_bf16 = i->modifier[3] == 1, flush = i->modifier[1] == 0;
    uint32_t each = i->op[0].bytes / 2u;
    u16 *d = hpt_emu_at(w, &i->op[0]);
    const u16 *pa = hpt_emu_at(w, &i->op[1]);
    const u16 *pb = i->count > 2 ? hpt_emu_at(w, &i->op[2]) : pa, *pc = i->count > 3 ? hpt_emu_at(w, &i->op[3]) : pa;
    HPT_FOR_LANES(lane, mask)
    for (uint32_t k = each * lane; k < each * (lane + 1); k++) {
        f64 value = f(read_half(pa[k], is_bf16, flush), read_half(pb[k], is_bf16, flush),
                      read_half(pc[k], is_bf16, flush), i->modifier);
        if (relu && i->modifier[2] == 1 && value < 0) value = 0;
        d[k] = write_half(value, is_bf16, i->modifier);
    }
    return HPT_EMU_NEXT;
}

#define HALF_FUNCTION(pattern, expression)                                                                             \
    static f64 HPT_PASTE(value_line_, __LINE__)(f64 a, f64 b, f64 c, const int8_t *m) {                                \
        (void)a, (void)b, (void)c, (void)m;                                                                            \
        return expression;                                                                                             \
    }                                                                                                                  \
    static hpt_emu_step HPT_RUN_NAME(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {                   \
        return over_halves(w, i, mask, HPT_PASTE(value_line_, __LINE__), strchr(pattern, 'u') != NULL);                \
    }
#define HALF_UNARY HALF_FUNCTION
#define HALF_BINARY HALF_FUNCTION
#define HALF_TERNARY HALF_FUNCTION
#include "half.def"
#undef HALF_UNARY
#undef HALF_BINARY
#undef HALF_TERNARY

const hpt_emu_row hpt_emu_rows_half[] = {
#define HALF_ROWS(pattern, one, two)                                                                                   \
    {pattern "{.f16|.bf16}", one, HPT_RUN_NAME, 0, NULL}, {pattern "{.f16x2|.bf16x2}", two, HPT_RUN_NAME, 0, NULL},
#define HALF_UNARY(pattern, expression) HALF_ROWS(pattern, "d2,s2h", "d4,s4")
#define HALF_BINARY(pattern, expression) HALF_ROWS(pattern, "d2,s2h,s2h", "d4,s4,s4")
#define HALF_TERNARY(pattern, expression) HALF_ROWS(pattern, "d2,s2h,s2h,s2h", "d4,s4,s4,s4")
#include "half.def"
    HPT_EMU_LAST_ROW,
};
