/* floating.c - f32 and f64 arithmetic; the rows are in floating.def. */
#include "lanes.h"
#include <fenv.h>
#include <math.h>

static inline f32 hpt_flush(f32 a) { return fabsf(a) < 0x1p-126f ? copysignf(0.0f, a) : a; }
static inline f32 hpt_clamp(f32 a) { return a >= 1.0f ? 1.0f : a > 0.0f ? a : 0.0f; /* NaN becomes 0 */ }

/* -0 is less than +0; NaN gives way to a number, unless .NaN asks otherwise. m: ftz, NaN */
static inline f32 hpt_min(f32 a, f32 b, const int8_t *m) {
    if (m[0] == 0) {
        a = hpt_flush(a);
        b = hpt_flush(b);
    }
    if (isnan(a) || isnan(b)) return m[1] == 0 || (isnan(a) && isnan(b)) ? hpt_float_of(0x7fffffff) : isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline f32 hpt_max(f32 a, f32 b, const int8_t *m) {
    if (m[0] == 0) {
        a = hpt_flush(a);
        b = hpt_flush(b);
    }
    if (isnan(a) || isnan(b)) return m[1] == 0 || (isnan(a) && isnan(b)) ? hpt_float_of(0x7fffffff) : isnan(a) ? b : a;
    return a > b || (a == b && signbit(b)) ? a : b;
}

/* Modes other than to-nearest are rare: the host's rounding mode is changed around the loop, and the operands go
 * through volatile so that the arithmetic cannot move out of it. */
static const int rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static hpt_emu_step directed(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, f32 (*f)(f32, f32, f32)) {
    f32 *d = hpt_emu_at(w, &i->op[0]);
    const f32 *pa = hpt_emu_at(w, &i->op[1]);
    const f32 *pb = i->count > 2 ? hpt_emu_at(w, &i->op[2]) : pa, *pc = i->count > 3 ? hpt_emu_at(w, &i->op[3]) : pa;
    int before = fegetround();
    bool approximate = strstr(i->source->opcode, ".approx") || strstr(i->source->opcode, ".full");
    if (i->modifier[0] > 0 && !approximate) fesetround(rounding[(int)i->modifier[0]]);
    HPT_FOR_LANES(lane, mask) {
        f32 a = pa[lane], b = pb[lane], c = pc[lane];
        if (i->modifier[1] == 0) {
            a = hpt_flush(a);
            b = hpt_flush(b);
            c = hpt_flush(c);
        }
        volatile f32 result = f(a, b, c);
        f32 value = result;
        if (i->modifier[1] == 0) value = hpt_flush(value);
        if (i->modifier[2] == 0) value = hpt_clamp(value);
        d[lane] = value;
    }
    fesetround(before);
    return HPT_EMU_NEXT;
}

static bool is_plain(const hpt_emu_instruction *i) {
    return i->modifier[0] <= 0 && i->modifier[1] < 0 && i->modifier[2] < 0;
}

#define FLOAT_FUNCTION(sources, expression)                                                                            \
    static __attribute__((noinline)) f32 HPT_PASTE(value_line_, __LINE__)(f32 a, f32 b, f32 c) {                       \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        return expression;                                                                                             \
    }                                                                                                                  \
    static hpt_emu_step HPT_RUN_NAME(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {                   \
        if (!is_plain(i)) return directed(w, i, mask, HPT_PASTE(value_line_, __LINE__));                               \
        f32 *d = hpt_emu_at(w, &i->op[0]);                                                                             \
        const f32 *pa = hpt_emu_at(w, &i->op[1]);                                                                      \
        const f32 *pb = sources > 1 ? hpt_emu_at(w, &i->op[2]) : pa,                                                   \
                  *pc = sources > 2 ? hpt_emu_at(w, &i->op[3]) : pa;                                                   \
        HPT_LANES_DO(mask, f32 a = pa[lane]; f32 b = pb[lane]; f32 c = pc[lane]; (void)b; (void)c;                     \
                     d[lane] = (expression));                                                                          \
        return HPT_EMU_NEXT;                                                                                           \
    }
#define FLOAT_UNARY(pattern, T, expression) FLOAT_FUNCTION(1, expression)
#define FLOAT_BINARY(pattern, T, expression) FLOAT_FUNCTION(2, expression)
#define FLOAT_TERNARY(pattern, T, expression) FLOAT_FUNCTION(3, expression)
#define UNARY HPT_FUNCTION_UNARY
#define BINARY HPT_FUNCTION_BINARY
#define TERNARY HPT_FUNCTION_TERNARY
#include "floating.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef FLOAT_UNARY
#undef FLOAT_BINARY
#undef FLOAT_TERNARY

/* two f32 in one 64-bit register (Blackwell); only round to nearest */
static hpt_emu_step run_f32x2(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    f32 *d = hpt_emu_at(w, &i->op[0]);
    const f32 *a = hpt_emu_at(w, &i->op[1]), *b = hpt_emu_at(w, &i->op[2]);
    const f32 *c = i->count > 3 ? hpt_emu_at(w, &i->op[3]) : a;
    char kind = i->source->opcode[0];
    HPT_FOR_LANES(lane, mask)
    for (uint32_t k = 2 * lane; k < 2 * lane + 2; k++) {
        f32 x = a[k], y = b[k], z = c[k];
        if (i->modifier[0] == 0) {
            x = hpt_flush(x);
            y = hpt_flush(y);
            z = hpt_flush(z);
        }
        f32 value = kind == 'a' ? x + y : kind == 's' ? x - y : kind == 'm' ? x * y : fmaf(x, y, z);
        d[k] = i->modifier[0] == 0 ? hpt_flush(value) : value;
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_testp(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const f32 *a = hpt_emu_at(w, &i->op[1]);
    uint32_t bits = 0;
    HPT_FOR_LANES(lane, mask) {
        int kind = fpclassify(a[lane]);
        bool answers[] = {isfinite(a[lane]) != 0, kind == FP_INFINITE, kind != FP_NAN,
                          kind == FP_NAN,         kind == FP_NORMAL,   kind == FP_SUBNORMAL};
        bits |= (uint32_t)answers[(int)i->modifier[0]] << lane;
    }
    hpt_emu_set_predicate(w, &i->op[0], bits, mask);
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_floating[] = {
#define UNARY HPT_ROW_UNARY
#define BINARY HPT_ROW_BINARY
#define TERNARY HPT_ROW_TERNARY
#define FLOAT_UNARY(pattern, T, expression) HPT_ROW_UNARY(pattern, T, T, expression)
#define FLOAT_BINARY(pattern, T, expression) HPT_ROW_BINARY(pattern, T, T, T, expression)
#define FLOAT_TERNARY(pattern, T, expression) HPT_ROW_TERNARY(pattern, T, T, T, T, expression)
#include "floating.def"
    {"add.rn[.ftz].f32x2", "d8,s8,s8", run_f32x2, 0, NULL},
    {"sub.rn[.ftz].f32x2", "d8,s8,s8", run_f32x2, 0, NULL},
    {"mul.rn[.ftz].f32x2", "d8,s8,s8", run_f32x2, 0, NULL},
    {"fma.rn[.ftz].f32x2", "d8,s8,s8,s8", run_f32x2, 0, NULL},
    {"testp{.finite|.infinite|.number|.notanumber|.normal|.subnormal}.f32", "dp,s4f", run_testp, 0, NULL},
    HPT_EMU_LAST_ROW,
};
