/* lanes.h - makes functions over the lanes of a warp from the rows of integer.def, floating.def and the like.
 * A file defines UNARY, BINARY, TERNARY as HPT_FUNCTION_*, includes its .def, defines them as HPT_ROW_* and includes it
 * again as the body of its table. In a row's expression a, b, c are the sources and `m` the chosen modifiers. */
#ifndef HPT_EMULATOR_LANES_H
#define HPT_EMULATOR_LANES_H

#include "half.h"
#include "machine.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef uint16_t f16;
typedef uint16_t bf16;

/* widths in signatures (decode_operand.c) */
#define HPT_WIDTH_u8 "1"
#define HPT_WIDTH_u16 "2"
#define HPT_WIDTH_s16 "2"
#define HPT_WIDTH_u32 "4"
#define HPT_WIDTH_s32 "4"
#define HPT_WIDTH_u64 "8"
#define HPT_WIDTH_s64 "8"
#define HPT_WIDTH_f32 "4f"
#define HPT_WIDTH_f64 "8f"
#define HPT_WIDTH_f16 "2h"
#define HPT_WIDTH_bf16 "2b"

#define HPT_PASTE2(a, b) a##b
#define HPT_PASTE(a, b) HPT_PASTE2(a, b)
#define HPT_RUN_NAME HPT_PASTE(run_line_, __LINE__)

/* `statement` for every lane of the mask; the full mask is a plain loop that the compiler vectorises */
#define HPT_LANES_DO(mask, statement)                                                                                  \
    do {                                                                                                               \
        if ((mask) == 0xffffffffu) {                                                                                   \
            for (uint32_t lane = 0; lane < HPT_LANES; lane++) {                                                        \
                statement;                                                                                             \
            }                                                                                                          \
        } else {                                                                                                       \
            HPT_FOR_LANES(lane, mask) { statement; }                                                                   \
        }                                                                                                              \
    } while (0)

#define HPT_FUNCTION_UNARY(pattern, R, A, expression)                                                                  \
    static hpt_emu_step HPT_RUN_NAME(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {                   \
        R *d = hpt_emu_at(w, &i->op[0]);                                                                               \
        const A *pa = hpt_emu_at(w, &i->op[1]);                                                                        \
        const int8_t *m = i->modifier;                                                                                 \
        (void)m;                                                                                                       \
        HPT_LANES_DO(mask, A a = pa[lane]; d[lane] = (R)(expression));                                                 \
        return HPT_EMU_NEXT;                                                                                           \
    }
#define HPT_FUNCTION_BINARY(pattern, R, A, B, expression)                                                              \
    static hpt_emu_step HPT_RUN_NAME(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {                   \
        R *d = hpt_emu_at(w, &i->op[0]);                                                                               \
        const A *pa = hpt_emu_at(w, &i->op[1]);                                                                        \
        const B *pb = hpt_emu_at(w, &i->op[2]);                                                                        \
        const int8_t *m = i->modifier;                                                                                 \
        (void)m;                                                                                                       \
        HPT_LANES_DO(mask, A a = pa[lane]; B b = pb[lane]; d[lane] = (R)(expression));                                 \
        return HPT_EMU_NEXT;                                                                                           \
    }
#define HPT_FUNCTION_TERNARY(pattern, R, A, B, C, expression)                                                          \
    static hpt_emu_step HPT_RUN_NAME(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {                   \
        R *d = hpt_emu_at(w, &i->op[0]);                                                                               \
        const A *pa = hpt_emu_at(w, &i->op[1]);                                                                        \
        const B *pb = hpt_emu_at(w, &i->op[2]);                                                                        \
        const C *pc = hpt_emu_at(w, &i->op[3]);                                                                        \
        const int8_t *m = i->modifier;                                                                                 \
        (void)m;                                                                                                       \
        HPT_LANES_DO(mask, A a = pa[lane]; B b = pb[lane]; C c = pc[lane]; d[lane] = (R)(expression));                 \
        return HPT_EMU_NEXT;                                                                                           \
    }

#define HPT_ROW_UNARY(pattern, R, A, expression) {pattern, "d" HPT_WIDTH_##R ",s" HPT_WIDTH_##A, HPT_RUN_NAME, 0, NULL},
#define HPT_ROW_BINARY(pattern, R, A, B, expression)                                                                   \
    {pattern, "d" HPT_WIDTH_##R ",s" HPT_WIDTH_##A ",s" HPT_WIDTH_##B, HPT_RUN_NAME, 0, NULL},
#define HPT_ROW_TERNARY(pattern, R, A, B, C, expression)                                                               \
    {pattern, "d" HPT_WIDTH_##R ",s" HPT_WIDTH_##A ",s" HPT_WIDTH_##B ",s" HPT_WIDTH_##C, HPT_RUN_NAME, 0, NULL},

#define HPT_NO_ROW                                                                                                     \
    { NULL, NULL, NULL, 0, NULL }

#endif
