/* The emulator's instruction semantics against direct C computations, on random and corner operands. */
#include "emulator_fixture.h"
#include <math.h>

enum { THREADS = 1024 };
static uint64_t state;

static uint64_t draw(void) { return hpt_emu_draw(&state); }

/* ---- operands: corners first, then random bits ---- */
static const uint64_t corners[] = {0,
                                   1,
                                   2,
                                   3,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x3f800000,
                                   0xbf800000,
                                   0x7f800000,
                                   0x7fc00000,
                                   0x00000001,
                                   0x80000001,
                                   0x3c00,
                                   0xbc00,
                                   0x7c00,
                                   0x0001,
                                   0x3555};

static uint64_t operand(int thread, int which) {
    size_t n = HPT_COUNT(corners);
    size_t first = (size_t)thread % n, second = (size_t)thread / n % n;
    if (thread < (int)(n * n) && thread < THREADS / 2)
        return corners[which == 0 ? first : which == 1 ? second : (first + second) % n];
    uint64_t bits = draw();
    return bits >> (draw() % 5 * 8);
}

typedef uint64_t (*reference)(uint64_t a, uint64_t b, uint64_t c);
typedef struct form {
    const char *instruction; /* "add.s32" */
    int out, a, b, c;        /* bytes; 0: no such operand */
    reference expected;
    bool is_float; /* any NaN equals any other */
} form;

static float f32_of(uint64_t bits) { return hpt_float_of((uint32_t)bits); }
static uint64_t of_f32(float value) { return hpt_bits_of(value); }
#define REF(name, expression)                                                                                          \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) {                                                         \
        (void)a, (void)b, (void)c;                                                                                     \
        return (uint64_t)(expression);                                                                                 \
    }
typedef uint32_t u32;
typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t u64;
typedef uint16_t u16;
typedef int16_t s16;

REF(add, a + b)
REF(sub, a - b)
REF(mul_lo, a *b)
REF(mul_hi_u32, (u64)(u32)a *(u32)b >> 32)
REF(mul_hi_s32, ((s64)(s32)a * (s32)b) >> 32)
REF(mul_hi_u64, (unsigned __int128)a *b >> 64)
REF(mul_hi_s64, ((__int128)(s64)a * (s64)b) >> 64)
REF(mul_wide_s32, (s64)(s32)a *(s32)b)
REF(mul_wide_u16, (u32)(u16)a *(u16)b)
REF(mul_wide_s16, (s32)(s16)a *(s16)b)
REF(mad_lo, a *b + c)
REF(mad_wide_u32, (u64)(u32)a *(u32)b + c)
REF(div_s32, (s32)b == 0 ? 0xffffffff : (s32)b == -1 ? 0 - a : (u64)((s32)a / (s32)b))
REF(rem_u32, (u32)b == 0 ? 0xffffffff : (u32)a % (u32)b) /* what an H200 gives; PTX leaves it open */
REF(min_s32, (s32)a < (s32)b ? a : b)
REF(max_u64, a > b ? a : b)
REF(abs_s32, (s32)a < 0 ? 0 - a : a)
REF(and_b, a &b)
REF(xor_b, a ^ b)
REF(not_b, ~a)
REF(shl_32, (u32)b > 31 ? 0 : a << ((u32)b & 31))
REF(shr_u32, (u32)b > 31 ? 0 : (u32)a >> ((u32)b & 31))
REF(shr_s32, (s32)a >> ((u32)b > 31 ? 31 : (u32)b))
REF(shr_s64, (s64)a >> ((u32)b > 63 ? 63 : (u32)b))
REF(popc, __builtin_popcount((u32)a))
REF(clz64, a ? __builtin_clzll(a) : 64)
static uint64_t brev(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    uint64_t out = 0;
    for (int k = 0; k < 32; k++) out |= (a >> k & 1) << (31 - k);
    return out;
}
static uint64_t bfe_u32(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t at = b & 255, length = c & 255, out = 0;
    for (uint64_t k = 0; k < length && k < 32; k++)
        if (at + k < 32) out |= ((u32)a >> (at + k) & 1ull) << k;
    return out;
}
static uint64_t bfe_s32(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t at = b & 255, length = c & 255, out = 0;
    uint64_t top = length == 0 ? 0 : at + length - 1 > 31 ? 31 : at + length - 1, sign = length ? (u32)a >> top & 1 : 0;
    for (uint64_t k = 0; k < 32; k++) out |= (k < length && at + k < 32 ? (u32)a >> (at + k) & 1ull : sign) << k;
    return out;
}
static uint64_t prmt(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t out = 0;
    for (int k = 0; k < 4; k++) {
        u32 pick = (u32)c >> 4 * k & 15, byte = (pick & 4 ? (u32)b : (u32)a) >> 8 * (pick & 3) & 255;
        out |= (uint64_t)(pick & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * k;
    }
    return out;
}
REF(shf_l, (c & 31) == 0 ? (u32)b : (u32)b << (c & 31) | (u32)a >> (32 - (c & 31)))
REF(shf_r_clamp, (u32)c >= 32 ? (u32)b : (c & 31) == 0 ? (u32)a : (u32)a >> (c & 31) | (u32)b << (32 - (c & 31)))
REF(dp4a, (u32)c + (u32)((a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
                         (a >> 24 & 255) * (b >> 24 & 255)))
REF(ref_fadd, of_f32(f32_of(a) + f32_of(b)))
REF(ref_fmul, of_f32(f32_of(a) * f32_of(b)))
REF(ref_ffma, of_f32(fmaf(f32_of(a), f32_of(b), f32_of(c))))
REF(ref_fdiv, of_f32(f32_of(a) / f32_of(b)))
REF(ref_fsqrt, of_f32(sqrtf(f32_of(a))))
REF(fneg, a ^ 0x80000000)
REF(fabs_, a & 0x7fffffff)
static float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
REF(fadd_ftz, of_f32(flush(flush(f32_of(a)) + flush(f32_of(b)))))
REF(fmul_sat, of_f32(fminf(fmaxf(f32_of(a) * f32_of(b), 0), 1)))
static uint64_t fmax_(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    float x = f32_of(a), y = f32_of(b);
    if (isnan(x)) return isnan(y) ? 0x7fffffff : b;
    if (isnan(y)) return a;
    if (x == y) return signbit(x) ? b : a;
    return x > y ? a : b;
}
/* 16-bit floats by way of long double, which holds all intermediate values */
static uint64_t nearest_f16(long double value) {
    uint64_t best = 0x7e00;
    if (isnan(value)) return best;
    if (fabsl(value) >= 65520) return value < 0 ? 0xfc00 : 0x7c00;
    int exponent;
    frexpl(value, &exponent);
    int step = exponent - 11 < -24 ? -24 : exponent - 11;
    long double rounded = ldexpl(rintl(ldexpl(value, -step)), step);
    float f = (float)rounded;
    for (u32 h = 0; h < 0x7c00; h++)
        if (hpt_f16_to((u16)h) == fabsf(f)) best = h;
    return best | (signbit(value) ? 0x8000 : 0);
}
REF(f16_add, nearest_f16((long double)hpt_f16_to((u16)a) + hpt_f16_to((u16)b)))
REF(f16_mul, nearest_f16((long double)hpt_f16_to((u16)a) * hpt_f16_to((u16)b)))
REF(f16_fma, nearest_f16((long double)hpt_f16_to((u16)a) * hpt_f16_to((u16)b) + hpt_f16_to((u16)c)))
REF(cvt_f16, nearest_f16(f32_of(a)))
static float f16_value(uint64_t h) {
    int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
    float size = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);
    return h & 0x8000 ? -size : size;
}
REF(cvt_from_f16, of_f32(f16_value(a)))
REF(cvt_from_bf16, (a & 0xffff) << 16)
static uint64_t cvt_bf16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    if (isnan(f32_of(a))) return 0x7fff;
    u64 low = a & 0xffff, up = (a & 0xffffffff) >> 16;
    return up + (low > 0x8000 || (low == 0x8000 && (up & 1)));
}
REF(cvt_s32_rni, isnan(f32_of(a))              ? 0
                 : f32_of(a) >= 2147483648.0f  ? 0x7fffffff
                 : f32_of(a) <= -2147483648.0f ? 0x80000000
                                               : (u32)(s32)nearbyint((double)f32_of(a)))
REF(cvt_u32_rzi, isnan(f32_of(a)) || f32_of(a) <= 0 ? 0 : f32_of(a) >= 4294967296.0f ? 0xffffffff : (u32)f32_of(a))
REF(cvt_f32_s32, of_f32((float)(s32)a))
REF(cvt_f32_u64, of_f32((float)a))
REF(cvt_s64_s32, (s64)(s32)a)
REF(cvt_u16_u32, a & 0xffff)
REF(cvt_sat_s8, (s32)a > 127 ? 127 : (s32)a < -128 ? (u32)-128 : (u32)a)

static const form forms[] = {
    {"add.s32", 4, 4, 4, 0, add, false},
    {"add.u16", 2, 2, 2, 0, add, false},
    {"add.s64", 8, 8, 8, 0, add, false},
    {"sub.u32", 4, 4, 4, 0, sub, false},
    {"mul.lo.s32", 4, 4, 4, 0, mul_lo, false},
    {"mul.lo.u64", 8, 8, 8, 0, mul_lo, false},
    {"mul.hi.u32", 4, 4, 4, 0, mul_hi_u32, false},
    {"mul.hi.s32", 4, 4, 4, 0, mul_hi_s32, false},
    {"mul.hi.u64", 8, 8, 8, 0, mul_hi_u64, false},
    {"mul.hi.s64", 8, 8, 8, 0, mul_hi_s64, false},
    {"mul.wide.s32", 8, 4, 4, 0, mul_wide_s32, false},
    {"mul.wide.u16", 4, 2, 2, 0, mul_wide_u16, false},
    {"mul.wide.s16", 4, 2, 2, 0, mul_wide_s16, false},
    {"mad.lo.s32", 4, 4, 4, 4, mad_lo, false},
    {"mad.wide.u32", 8, 4, 4, 8, mad_wide_u32, false},
    {"div.s32", 4, 4, 4, 0, div_s32, false},
    {"rem.u32", 4, 4, 4, 0, rem_u32, false},
    {"min.s32", 4, 4, 4, 0, min_s32, false},
    {"max.u64", 8, 8, 8, 0, max_u64, false},
    {"abs.s32", 4, 4, 0, 0, abs_s32, false},
    {"and.b32", 4, 4, 4, 0, and_b, false},
    {"xor.b64", 8, 8, 8, 0, xor_b, false},
    {"not.b16", 2, 2, 0, 0, not_b, false},
    {"shl.b32", 4, 4, 4, 0, shl_32, false},
    {"shr.u32", 4, 4, 4, 0, shr_u32, false},
    {"shr.s32", 4, 4, 4, 0, shr_s32, false},
    {"shr.s64", 8, 8, 4, 0, shr_s64, false},
    {"popc.b32", 4, 4, 0, 0, popc, false},
    {"clz.b64", 4, 8, 0, 0, clz64, false},
    {"brev.b32", 4, 4, 0, 0, brev, false},
    {"bfe.u32", 4, 4, 4, 4, bfe_u32, false},
    {"bfe.s32", 4, 4, 4, 4, bfe_s32, false},
    {"prmt.b32", 4, 4, 4, 4, prmt, false},
    {"shf.l.wrap.b32", 4, 4, 4, 4, shf_l, false},
    {"shf.r.clamp.b32", 4, 4, 4, 4, shf_r_clamp, false},
    {"dp4a.u32.u32", 4, 4, 4, 4, dp4a, false},
    {"add.f32", 4, 4, 4, 0, ref_fadd, true},
    {"add.ftz.f32", 4, 4, 4, 0, fadd_ftz, true},
    {"mul.f32", 4, 4, 4, 0, ref_fmul, true},
    {"mul.sat.f32", 4, 4, 4, 0, fmul_sat, true},
    {"fma.rn.f32", 4, 4, 4, 4, ref_ffma, true},
    {"div.rn.f32", 4, 4, 4, 0, ref_fdiv, true},
    {"sqrt.rn.f32", 4, 4, 0, 0, ref_fsqrt, true},
    {"neg.f32", 4, 4, 0, 0, fneg, true},
    {"abs.f32", 4, 4, 0, 0, fabs_, true},
    {"max.f32", 4, 4, 4, 0, fmax_, true},
    {"add.f16", 2, 2, 2, 0, f16_add, true},
    {"mul.f16", 2, 2, 2, 0, f16_mul, true},
    {"fma.rn.f16", 2, 2, 2, 2, f16_fma, true},
    {"cvt.rn.f16.f32", 2, 4, 0, 0, cvt_f16, true},
    {"cvt.f32.f16", 4, 2, 0, 0, cvt_from_f16, true},
    {"cvt.f32.bf16", 4, 2, 0, 0, cvt_from_bf16, true},
    {"cvt.rn.bf16.f32", 2, 4, 0, 0, cvt_bf16, true},
    {"cvt.rni.s32.f32", 4, 4, 0, 0, cvt_s32_rni, false},
    {"cvt.rzi.u32.f32", 4, 4, 0, 0, cvt_u32_rzi, false},
    {"cvt.rn.f32.s32", 4, 4, 0, 0, cvt_f32_s32, true},
    {"cvt.rn.f32.u64", 4, 8, 0, 0, cvt_f32_u64, true},
    {"cvt.s64.s32", 8, 4, 0, 0, cvt_s64_s32, false},
    {"cvt.u16.u32", 2, 4, 0, 0, cvt_u16_u32, false},
    {"cvt.sat.s8.s32", 4, 4, 0, 0, cvt_sat_s8, false},
};

static const char *register_of(int bytes) { return bytes == 2 ? "%h" : bytes == 4 ? "%r" : "%q"; }

/* a kernel that applies one instruction to three arrays of 8-byte cells */
static void write_kernel(char *out, size_t size, const form *f) {
    char sources[96] = "";
    const int widths[3] = {f->a, f->b, f->c};
    for (int k = 0; k < 3; k++)
        if (widths[k])
            snprintf(sources + strlen(sources), sizeof sources - strlen(sources), ", %s%d", register_of(widths[k]),
                     k + 1);
    snprintf(out, size,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1) {\n"
             ".reg .b16 %%h<4>; .reg .b32 %%r<8>; .reg .b64 %%q<12>;\n"
             "ld.param.u64 %%q4, [p0]; ld.param.u64 %%q5, [p1]; mov.u32 %%r4, %%tid.x;\n"
             "mad.wide.u32 %%q6, %%r4, 24, %%q4; mad.wide.u32 %%q7, %%r4, 8, %%q5;\n"
             "ld.global.u64 %%q1, [%%q6]; ld.global.u64 %%q2, [%%q6+8]; ld.global.u64 %%q3, [%%q6+16];\n"
             "cvt.u32.u64 %%r1, %%q1; cvt.u32.u64 %%r2, %%q2; cvt.u32.u64 %%r3, %%q3;\n"
             "cvt.u16.u32 %%h1, %%r1; cvt.u16.u32 %%h2, %%r2; cvt.u16.u32 %%h3, %%r3;\n"
             "%s %s0%s;\nst.global.b%d [%%q7], %s0;\nret;\n}\n",
             f->instruction, register_of(f->out), sources, 8 * f->out, register_of(f->out));
}

static bool is_nan(uint64_t bits, int bytes) { return bytes == 4 ? isnan(f32_of(bits)) : (bits & 0x7fff) > 0x7c00; }

/* false if some thread has another result than expected; the first such is printed */
static bool check_form(const form *f) {
    bool wrong = false;
    char ptx[2048];
    static uint64_t in[THREADS][3], out[THREADS];
    write_kernel(ptx, sizeof ptx, f);
    emulated e = emulated_open("sm_90", 1);
    emulated_load(&e, ptx);
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < 3; k++) in[t][k] = operand(t, k);
    memset(out, 0, sizeof out);
    hpt_device_ptr from = emulated_upload(&e, in, sizeof in), to = emulated_upload(&e, out, sizeof out);
    const void *args[] = {&from, &to};
    hpt_launch launch = {{1, 1, 1}, {THREADS, 1, 1}, {1, 1, 1}, 0, false, args, 2, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, out, to, sizeof out, &e.error);
    uint64_t mask = f->out == 8 ? ~(uint64_t)0 : (1ull << 8 * f->out) - 1;
    bool bf16 = strstr(f->instruction, "bf16") != NULL;
    for (int t = 0; t < THREADS; t++) {
        uint64_t want = f->expected(in[t][0], in[t][1], in[t][2]) & mask;
        if (f->is_float && f->out < 8 && !bf16 && is_nan(want, f->out) && is_nan(out[t], f->out)) continue;
        if (out[t] == want) continue;
        print_error("%s of %llx, %llx, %llx gives %llx, not %llx\n", f->instruction, (unsigned long long)in[t][0],
                    (unsigned long long)in[t][1], (unsigned long long)in[t][2], (unsigned long long)out[t],
                    (unsigned long long)want);
        wrong = true;
        break;
    }
    emulated_close(&e);
    return !wrong;
}

static void test_forms(void **unused) {
    (void)unused;
    state = 12345;
    print_message("random seed %llu\n", (unsigned long long)state);
    size_t right = 0;
    for (size_t k = 0; k < HPT_COUNT(forms); k++) right += check_form(&forms[k]);
    assert_int_equal(right, HPT_COUNT(forms));
}

/* ---- whole small kernels ---- */
#define HEAD                                                                                                           \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0) {\n.reg .pred %p<8>; .reg .b32 " \
    "%r<32>; .reg .b64 %q<8>; .reg .f32 %f<8>;\n"                                                                      \
    "ld.param.u64 %q1, [p0]; mov.u32 %r1, %tid.x; mad.wide.u32 %q2, %r1, 4, %q1;\n"

static void run_ints(const char *body, uint32_t threads, uint32_t *out, uint64_t seed) {
    hpt_text ptx = {0};
    hpt_text_printf(&ptx, "%s%s}\n", HEAD, body);
    emulated e = emulated_open("sm_90", seed);
    emulated_load(&e, ptx.data);
    hpt_device_ptr to = emulated_upload(&e, out, 4 * threads);
    const void *args[] = {&to};
    hpt_launch launch = {{1, 1, 1}, {threads, 1, 1}, {1, 1, 1}, 0, false, args, 1, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, out, to, 4 * threads, &e.error);
    emulated_close(&e);
    hpt_text_clear(&ptx);
}

/* the Collatz length of every thread's number: loops of different length, then a shuffle that needs all lanes back */
static void test_divergence(void **unused) {
    (void)unused;
    uint32_t out[96] = {0};
    run_ints("add.u32 %r2, %r1, 1; mov.u32 %r3, 0;\n"
             "LOOP: setp.eq.u32 %p1, %r2, 1; @%p1 bra DONE;\n"
             "and.b32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra EVEN;\n"
             "mad.lo.u32 %r2, %r2, 3, 1; bra NEXT;\nEVEN: shr.u32 %r2, %r2, 1;\n"
             "NEXT: add.u32 %r3, %r3, 1; bra LOOP;\n"
             "DONE: shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1; shl.b32 %r5, %r5, 16; or.b32 %r5, %r5, %r3;\nst.global.u32 "
             "[%q2], %r5;\nret;\n",
             96, out, 3);
    uint32_t length[96];
    for (uint32_t t = 0; t < 96; t++) {
        length[t] = 0;
        for (uint32_t n = t + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) length[t]++;
    }
    for (uint32_t t = 0; t < 96; t++) assert_int_equal(out[t], length[t ^ 1] << 16 | length[t]);
}

static void test_switch(void **unused) {
    (void)unused;
    uint32_t out[32] = {0};
    run_ints(
        "and.b32 %r2, %r1, 3;\nTABLE: .branchtargets A, B, C, D;\nbrx.idx %r2, TABLE;\n"
        "A: mov.u32 %r3, 10; bra END; B: mov.u32 %r3, 11; bra END; C: mov.u32 %r3, 12; bra END; D: mov.u32 %r3, 13;\n"
        "END: st.global.u32 [%q2], %r3; ret;\n",
        32, out, 1);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], 10 + t % 4);
}

static void test_collectives(void **unused) {
    (void)unused;
    uint32_t out[64] = {0};
    run_ints("and.b32 %r2, %r1, 31; setp.gt.u32 %p1, %r2, 20; vote.sync.ballot.b32 %r3, %p1, -1;\n"
             "redux.sync.add.u32 %r4, %r2, -1; shr.u32 %r5, %r2, 3; match.any.sync.b32 %r6, %r5, -1;\n"
             "elect.sync %r7|%p2, -1; selp.u32 %r8, 1000, 0, %p2; shfl.sync.up.b32 %r9|%p3, %r2, 2, 0, -1;\n"
             "selp.u32 %r9, %r9, 77, %p3; popc.b32 %r6, %r6;\n"
             "add.u32 %r10, %r4, %r8; add.u32 %r10, %r10, %r9; add.u32 %r10, %r10, %r6; xor.b32 %r10, %r10, "
             "%r3;\nst.global.u32 [%q2], %r10; ret;\n",
             64, out, 2);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t lane = t % 32;
        uint32_t want = 496 + (lane == 0 ? 1000u : 0u) + (lane >= 2 ? lane - 2 : 77) + 8;
        assert_int_equal(out[t], want ^ 0xffe00000u);
    }
}

/* threads of all warps add into shared memory, in an order that the seed decides; integers do not mind */
static void test_atomics_and_barriers(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint32_t out[128] = {0};
        run_ints(".shared .align 4 .b32 sum;\nsetp.ne.u32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 5; st.shared.u32 "
                 "[sum], %r2;\n"
                 "A: bar.sync 0;\natom.shared.add.u32 %r3, [sum], %r1;\nbarrier.sync.aligned 1, 128;\nld.shared.u32 "
                 "%r4, [sum];\n"
                 "setp.ge.u32 %p2, %r1, 64; bar.red.popc.u32 %r5, 2, %p2; add.u32 %r4, %r4, %r5; st.global.u32 [%q2], "
                 "%r4; ret;\n",
                 128, out, seed);
        for (uint32_t t = 0; t < 128; t++) assert_int_equal(out[t], 5 + 127 * 64 + 64);
    }
}

static void test_local_and_const(void **unused) {
    (void)unused;
    uint32_t out[32] = {0};
    hpt_text ptx = {0};
    hpt_text_puts(
        &ptx,
        ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .u32 table[4] = {7, 8, 9, 10};\n"
        ".visible .entry k(.param .u64 p0) {\n.local .align 4 .b8 frame[16]; .reg .b32 %r<8>; .reg .b64 %q<8>;\n"
        "ld.param.u64 %q1, [p0]; cvta.to.global.u64 %q1, %q1; mov.u32 %r1, %tid.x; mad.wide.u32 %q2, %r1, 4, %q1;\n"
        "mov.u64 %q3, frame; cvta.local.u64 %q4, %q3; st.local.u32 [frame+4], %r1; ld.u32 %r2, [%q4+4];\n"
        "and.b32 %r3, %r1, 3; mov.u64 %q5, table; mad.wide.u32 %q5, %r3, 4, %q5; ld.const.u32 %r4, [%q5];\n"
        "mad.lo.u32 %r5, %r2, 100, %r4; st.global.u32 [%q2], %r5; ret; }\n");
    emulated e = emulated_open("sm_90", 1);
    emulated_load(&e, ptx.data);
    hpt_device_ptr to = emulated_upload(&e, out, sizeof out);
    const void *args[] = {&to};
    hpt_launch launch = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, false, args, 1, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, out, to, sizeof out, &e.error);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], 100 * t + 7 + t % 4);
    emulated_close(&e);
    hpt_text_clear(&ptx);
}

/* a 16 x 8 x 16 product of one warp: ldmatrix and mma.sync */
static void test_mma(void **unused) {
    (void)unused;
    static const char ptx[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 "
        "pd) {\n"
        ".shared .align 16 .b8 a[512]; .shared .align 16 .b8 b[256]; .reg .b32 %r<32>; .reg .b64 %q<16>; .reg .f32 "
        "%f<8>;\n"
        "ld.param.u64 %q1, [pa]; ld.param.u64 %q2, [pb]; ld.param.u64 %q3, [pd]; mov.u32 %r1, %tid.x;\n"
        "mad.wide.u32 %q4, %r1, 16, %q1; ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%q4]; mov.u32 %r6, a; mad.lo.u32 %r7, "
        "%r1, 16, %r6;\n"
        "st.shared.v4.u32 [%r7], {%r2,%r3,%r4,%r5};\n"
        "mad.wide.u32 %q5, %r1, 8, %q2; ld.global.v2.u32 {%r2,%r3}, [%q5]; mov.u32 %r8, b; mad.lo.u32 %r9, %r1, 8, "
        "%r8;\n"
        "st.shared.v2.u32 [%r9], {%r2,%r3}; bar.sync 0;\n"
        "and.b32 %r10, %r1, 15; shr.u32 %r11, %r1, 4; shl.b32 %r10, %r10, 5; shl.b32 %r11, %r11, 4; add.u32 %r10, "
        "%r10, %r11; add.u32 %r10, %r10, %r6;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12,%r13,%r14,%r15}, [%r10];\n"
        "and.b32 %r16, %r1, 7; shr.u32 %r17, %r1, 3; and.b32 %r17, %r17, 1; shl.b32 %r16, %r16, 5; shl.b32 %r17, %r17, "
        "4; add.u32 %r16, %r16, %r17; add.u32 %r16, %r16, %r8;\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r18,%r19}, [%r16];\n"
        "mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r12,%r13,%r14,%r15}, {%r18,%r19}, "
        "{%f1,%f2,%f3,%f4};\n"
        "mad.wide.u32 %q6, %r1, 16, %q3; st.global.v4.f32 [%q6], {%f1,%f2,%f3,%f4}; ret; }\n";
    uint16_t a[16][16], b[8][16];
    float d[32][4] = {{0}};
    for (int r = 0; r < 16; r++)
        for (int k = 0; k < 16; k++) a[r][k] = hpt_f16_from_f32((float)((r * 7 + k * 3) % 11 - 5));
    for (int n = 0; n < 8; n++)
        for (int k = 0; k < 16; k++) b[n][k] = hpt_f16_from_f32((float)((n * 5 + k) % 7 - 3));
    emulated e = emulated_open("sm_90", 1);
    emulated_load(&e, ptx);
    hpt_device_ptr pa = emulated_upload(&e, a, sizeof a), pb = emulated_upload(&e, b, sizeof b),
                   pd = emulated_upload(&e, d, sizeof d);
    const void *args[] = {&pa, &pb, &pd};
    hpt_launch launch = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, false, args, 3, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, d, pd, sizeof d, &e.error);
    for (int lane = 0; lane < 32; lane++)
        for (int x = 0; x < 4; x++) {
            int row = lane / 4 + 8 * (x / 2), column = 2 * (lane % 4) + x % 2;
            float sum = 1;
            for (int k = 0; k < 16; k++) sum += hpt_f16_to(a[row][k]) * hpt_f16_to(b[column][k]);
            assert_true(d[lane][x] == sum);
        }
    emulated_close(&e);
}

static void test_refusals(void **unused) {
    (void)unused;
    if (emulated_on_gpu()) skip();
    static const struct {
        const char *body, *says;
    } cases[] = {{"frobnicate.u32 %r1, %r2;", "frobnicate.u32"},
                 {"add.u32 %r1, %q1, %r2;", "32 bits"},
                 {"add.u32 %r1, %r2;", "too few"},
                 {"bra NOWHERE;", "NOWHERE"},
                 {"mov.u32 %r1, %unknown;", "%unknown"},
                 {"ld.global.v2.u32 {%r1}, [%q1];", "length"}};
    for (size_t k = 0; k < HPT_COUNT(cases); k++) {
        hpt_text ptx = {0};
        hpt_text_printf(&ptx, "%s%s\nret; }\n", HEAD, cases[k].body);
        emulated e = emulated_open("sm_90", 1);
        hpt_status status = emulator->load(e.device, &e.module, ptx.data, ptx.length, NULL, &e.error);
        assert_true(status == HPT_UNSUPPORTED || status == HPT_MALFORMED);
        if (!strstr(e.error.message, cases[k].says) || !strstr(e.error.where, "PTX:"))
            fail_msg("\"%s\" gives \"%s: %s\"", cases[k].body, e.error.where, e.error.message);
        emulated_close(&e);
        hpt_text_clear(&ptx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_divergence),
                                       cmocka_unit_test(test_switch),
                                       cmocka_unit_test(test_collectives),
                                       cmocka_unit_test(test_atomics_and_barriers),
                                       cmocka_unit_test(test_local_and_const),
                                       cmocka_unit_test(test_mma),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
