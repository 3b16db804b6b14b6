/* The emulator's asynchronous machine: tensor copies with every swizzle and clipping, reductions, multicast, wgmma in
 * its layouts; each against its definition, on several schedules. */
#include "emulator_fixture.h"
#include <math.h>

enum { SEEDS = 4 };

/* ---- loads: one box into shared memory, then its bytes to global memory ---- */
static const char load_head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 pout, .param .u32 bytes, .param .u32 extent, .param "
    ".u32 c0, .param .u32 c1, "
    ".param .u32 c2, .param .u32 c3, .param .u32 c4) {\n.shared .align 8 .b64 bar; .reg .pred %p<4>; .reg .b32 %r<32>; "
    ".reg .b64 %q<8>;\n"
    "ld.param.u64 %q1, [pout]; ld.param.u32 %r1, [bytes]; ld.param.u32 %r14, [extent]; ld.param.u32 %r2, [c0]; "
    "ld.param.u32 %r3, [c1]; "
    "ld.param.u32 %r4, [c2]; ld.param.u32 %r5, [c3]; ld.param.u32 %r6, [c4];\n"
    "mov.u32 %r7, %tid.x; mov.u32 %r8, smem; mov.u32 %r9, bar; mov.b64 %q2, map; cvta.param.u64 %q3, %q2;\n"
    "setp.ne.u32 %p1, %r7, 0; @%p1 bra WAIT;\n"
    "mov.u32 %r15, 0; mov.u32 %r17, 0;\nCLEAR: add.u32 %r16, %r8, %r15; st.shared.u32 [%r16], %r17; add.u32 %r15, "
    "%r15, 4; "
    "setp.lt.u32 %p2, %r15, %r14; @%p2 bra CLEAR;\nfence.proxy.async.shared::cta;\n"
    "mbarrier.init.shared::cta.b64 [%r9], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], %r1;\n";
static const char load_tail[] =
    "WAIT: bar.sync 0;\nSPIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra SPIN;\n"
    "mov.u32 %r10, %ntid.x; shl.b32 %r10, %r10, 2; shl.b32 %r11, %r7, 2;\n"
    "COPY: setp.ge.u32 %p3, %r11, %r14; @%p3 bra END; add.u32 %r12, %r8, %r11; ld.shared.u32 %r13, [%r12]; cvt.u64.u32 "
    "%q4, %r11; "
    "add.u64 %q5, %q1, %q4; st.global.u32 [%q5], %r13; add.u32 %r11, %r11, %r10; bra COPY;\nEND: ret; }\n";

static const char *const coordinates[] = {"{%r2}", "{%r2, %r3}", "{%r2, %r3, %r4}", "{%r2, %r3, %r4, %r5}",
                                          "{%r2, %r3, %r4, %r5, %r6}"};

typedef struct load_case {
    hpt_tensor_map map; /* without its address */
    int32_t at[5];
} load_case;

static uint8_t element_at(const uint8_t *tensor, const hpt_tensor_map *m, const int64_t at[5], uint32_t size,
                          uint32_t byte) {
    uint64_t offset = 0;
    for (int d = 0; d < m->rank; d++) {
        if (at[d] < 0 || at[d] >= (int64_t)m->dim[d]) return 0;
        offset += (uint64_t)at[d] * (d ? m->stride[d] : size);
    }
    return tensor[offset + byte];
}

/* the definition: element by element; a swizzle permutes the 16-byte units of a row by the row's number, and rows are
 * as far apart as its span */
static void expected_load(uint8_t *out, const uint8_t *tensor, const load_case *c, uint32_t size) {
    const hpt_tensor_map *m = &c->map;
    static const uint32_t shift[] = {0, 2, 1, 0}, modulus[] = {1, 2, 4, 8};
    uint32_t row_bytes = m->box[0] * size, pitch = m->swizzle ? 16u << m->swizzle : row_bytes, rows = 1;
    for (int d = 1; d < m->rank; d++) rows *= m->box[d];
    for (uint32_t row = 0; row < rows; row++) {
        int64_t at[5];
        uint32_t rest = row;
        for (int d = 1; d < m->rank; d++) {
            at[d] = c->at[d] + (int64_t)(rest % m->box[d]);
            rest /= m->box[d];
        }
        for (uint32_t x = 0; x < row_bytes; x++) {
            at[0] = c->at[0] + (int64_t)(x / size);
            uint32_t unit = x / 16,
                     swizzled = m->swizzle ? unit ^ (row >> shift[m->swizzle]) % modulus[m->swizzle] : unit;
            out[row * pitch + swizzled * 16 + x % 16] = element_at(tensor, m, at, size, x % size);
        }
    }
}

static void check_load(const load_case *c, uint64_t seed) {
    static uint8_t tensor[1 << 16], got[1 << 16], want[1 << 16];
    static const uint32_t sizes[] = {2, 2, 4, 1, 1, 1, 4};
    uint64_t state = seed;
    for (size_t k = 0; k < sizeof tensor; k++) tensor[k] = (uint8_t)hpt_emu_draw(&state);
    emulated e = emulated_open("sm_90a", seed);
    hpt_text ptx = {0};
    hpt_text_printf(&ptx,
                    "%scp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r8], "
                    "[%%q3, %s], [%%r9];\n%s",
                    load_head, c->map.rank, coordinates[c->map.rank - 1], load_tail);
    emulated_load(&e, ptx.data);
    hpt_text_clear(&ptx);
    uint32_t size = sizes[c->map.element], bytes = size;
    for (int d = 0; d < c->map.rank; d++) bytes *= c->map.box[d];
    uint32_t row = c->map.box[0] * size, extent = c->map.swizzle ? bytes / row * (16u << c->map.swizzle) : bytes;
    hpt_tensor_map map = c->map;
    map.address = emulated_upload(&e, tensor, sizeof tensor);
    hpt_device_ptr out = emulated_alloc(&e, extent);
    _Alignas(64) uint8_t encoded[128];
    assert_int_equal(emulator->encode(e.device, encoded, &map, &e.error), HPT_OK);
    const void *args[] = {encoded, &out, &bytes, &extent, &c->at[0], &c->at[1], &c->at[2], &c->at[3], &c->at[4]};
    hpt_launch launch = {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, extent, false, args, 9, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, got, out, extent, &e.error);
    memset(want, 0, sizeof want);
    expected_load(want, tensor, c, size);
    assert_memory_equal(got, want, extent);
    emulated_close(&e);
}

static void test_loads(void **unused) {
    (void)unused;
    static const load_case cases[] = {
        {{HPT_U8, 1, 0, {100}, {0}, {64}, HPT_SWIZZLE_NONE, 0}, {16}},
        {{HPT_F16, 2, 0, {64, 32}, {0, 128}, {64, 16}, HPT_SWIZZLE_128B, 0}, {0, 8}},
        {{HPT_F16, 2, 0, {61, 31}, {0, 144}, {64, 32}, HPT_SWIZZLE_128B, 0}, {0, 0}},
        {{HPT_BF16, 2, 0, {100, 40}, {0, 208}, {32, 16}, HPT_SWIZZLE_64B, 0}, {-8, 33}},
        {{HPT_F16, 2, 0, {100, 40}, {0, 208}, {16, 24}, HPT_SWIZZLE_32B, 0}, {88, -3}},
        {{HPT_F32, 2, 0, {40, 40}, {0, 160}, {32, 8}, HPT_SWIZZLE_128B, 0}, {24, 36}},
        {{HPT_F16, 2, 0, {64, 32}, {0, 128}, {16, 16}, HPT_SWIZZLE_128B, 0},
         {8, 4}}, /* rows shorter than the swizzle */
        {{HPT_F16, 2, 0, {64, 32}, {0, 128}, {48, 16}, HPT_SWIZZLE_128B, 0}, {40, 4}},
        {{HPT_F16, 2, 0, {64, 32}, {0, 128}, {16, 16}, HPT_SWIZZLE_64B, 0}, {8, 4}},
        {{HPT_F16, 3, 0, {64, 10, 6}, {0, 128, 1280}, {64, 3, 2}, HPT_SWIZZLE_128B, 0}, {0, 8, 5}},
        {{HPT_U32, 4, 0, {12, 5, 4, 3}, {0, 48, 240, 960}, {4, 2, 3, 2}, HPT_SWIZZLE_NONE, 0}, {8, 4, -1, 2}},
        {{HPT_E4M3, 5, 0, {48, 3, 4, 2, 5}, {0, 48, 144, 576, 1152}, {32, 2, 2, 2, 3}, HPT_SWIZZLE_NONE, 0},
         {-16, 2, 3, 1, 3}},
    };
    for (size_t k = 0; k < HPT_COUNT(cases); k++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) check_load(&cases[k], seed);
}

/* ---- stores and reductions: a box of shared memory (a copy of `in`) into a tensor ---- */
static const char store_head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 pin, .param .u32 bytes, .param .u32 c0, .param .u32 "
    "c1) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %q<8>;\n"
    "ld.param.u64 %q1, [pin]; ld.param.u32 %r1, [bytes]; ld.param.u32 %r2, [c0]; ld.param.u32 %r3, [c1];\n"
    "mov.u32 %r7, %tid.x; mov.u32 %r8, smem; mov.b64 %q2, map; cvta.param.u64 %q3, %q2; mov.u32 %r10, %ntid.x; shl.b32 "
    "%r10, %r10, 2; shl.b32 %r11, %r7, 2;\n"
    "COPY: setp.ge.u32 %p3, %r11, %r1; @%p3 bra FULL; cvt.u64.u32 %q4, %r11; add.u64 %q5, %q1, %q4; ld.global.u32 "
    "%r13, [%q5]; "
    "add.u32 %r12, %r8, %r11; st.shared.u32 [%r12], %r13; add.u32 %r11, %r11, %r10; bra COPY;\n"
    "FULL: fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r7, 0; @%p1 bra END;\n";
static const char store_tail[] = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret; }\n";

static float value_of(const uint8_t *at, hpt_element element) {
    uint16_t half;
    float value;
    memcpy(&half, at, 2);
    memcpy(&value, at, 4);
    return element == HPT_F16 ? hpt_f16_to(half) : element == HPT_BF16 ? hpt_bf16_to(half) : value;
}

static void check_store(hpt_element element, hpt_swizzle swizzle, bool adds, uint64_t seed) {
    enum { WIDTH = 70, HEIGHT = 21, ROWS = 16 };
    uint32_t size = element == HPT_F32 ? 4 : 2, box = swizzle ? (16u << swizzle) / size : 48, pitch = WIDTH * 4 + 8;
    static uint8_t before[HEIGHT * (WIDTH * 4 + 8)], after[sizeof before], in[1 << 14];
    emulated e = emulated_open("sm_90a", seed);
    hpt_text ptx = {0};
    hpt_text_printf(&ptx, "%s%s [%%q3, {%%r2, %%r3}], [%%r8];\n%s", store_head,
                    adds ? "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
                         : "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
                    store_tail);
    emulated_load(&e, ptx.data);
    hpt_text_clear(&ptx);
    uint64_t state = seed;
    for (uint32_t k = 0; k < sizeof before / size; k++) {
        float value = (float)(int)(hpt_emu_draw(&state) % 513) - 256;
        uint16_t half = element == HPT_F16 ? hpt_f16_from_f32(value) : hpt_bf16_from(value);
        memcpy(before + k * size, size == 4 ? (void *)&value : (void *)&half, size);
        if (k * size < sizeof in) memcpy(in + k * size, before + k * size, size);
    }
    hpt_tensor_map map = {element, 2, 0, {WIDTH, HEIGHT}, {0, pitch}, {box, ROWS}, swizzle, 0};
    map.address = emulated_upload(&e, before, sizeof before);
    uint32_t bytes = box * ROWS * size;
    int32_t at[2] = {WIDTH - 14, HEIGHT - 9};
    hpt_device_ptr from = emulated_upload(&e, in, sizeof in);
    _Alignas(64) uint8_t encoded[128];
    assert_int_equal(emulator->encode(e.device, encoded, &map, &e.error), HPT_OK);
    const void *args[] = {encoded, &from, &bytes, &at[0], &at[1]};
    hpt_launch launch = {{1, 1, 1}, {96, 1, 1}, {1, 1, 1}, bytes, false, args, 5, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, after, map.address, sizeof after, &e.error);
    static const uint32_t shift[] = {0, 2, 1, 0}, modulus[] = {1, 2, 4, 8};
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            const uint8_t *old = before + y * pitch + x * size, *now = after + y * pitch + x * size;
            bool inside =
                x >= (uint32_t)at[0] && y >= (uint32_t)at[1] && x < (uint32_t)at[0] + box && y < (uint32_t)at[1] + ROWS;
            if (!inside) {
                assert_memory_equal(now, old, size);
                continue;
            }
            uint32_t row = y - (uint32_t)at[1], byte = (x - (uint32_t)at[0]) * size, unit = byte / 16;
            unit = swizzle ? unit ^ (row >> shift[swizzle]) % modulus[swizzle] : unit;
            const uint8_t *sent = in + row * box * size + unit * 16 + byte % 16;
            if (!adds) {
                assert_memory_equal(now, sent, size);
                continue;
            }
            float sum = value_of(old, element) + value_of(sent, element);
            uint16_t half = element == HPT_F16 ? hpt_f16_from_f32(sum) : hpt_bf16_from(sum);
            assert_memory_equal(now, size == 4 ? (void *)&sum : (void *)&half, size);
        }
    if (!emulated_on_gpu())
        assert_int_equal(hpt_emu_landed_bytes(e.device, map.address, sizeof before), (box < 14 ? box : 14) * 9 * size);
    emulated_close(&e);
}

static void test_stores(void **unused) {
    (void)unused;
    static const hpt_element elements[] = {HPT_F16, HPT_BF16, HPT_F32};
    for (size_t k = 0; k < HPT_COUNT(elements); k++)
        for (int swizzle = 0; swizzle < 4; swizzle++)
            for (uint64_t seed = 1; seed <= 2; seed++) {
                check_store(elements[k], (hpt_swizzle)swizzle, false, seed);
                check_store(elements[k], (hpt_swizzle)swizzle, true, seed);
            }
}

/* what begins between two units of 16 bytes is refused; on hardware it is an illegal instruction */
static void test_misplaced_box(void **unused) {
    (void)unused;
    if (emulated_on_gpu()) skip(); /* it would end the GPU's context */
    static uint8_t tensor[4096];
    emulated e = emulated_open("sm_90a", 1);
    hpt_text ptx = {0};
    hpt_text_printf(&ptx,
                    "%scp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r8], [%%q3, "
                    "{%%r2, %%r3}], [%%r9];\n%s",
                    load_head, load_tail);
    emulated_load(&e, ptx.data);
    hpt_text_clear(&ptx);
    hpt_tensor_map map = {HPT_F16,          2, emulated_upload(&e, tensor, sizeof tensor), {64, 32}, {0, 128}, {64, 8},
                          HPT_SWIZZLE_128B, 0};
    _Alignas(64) uint8_t encoded[128];
    assert_int_equal(emulator->encode(e.device, encoded, &map, &e.error), HPT_OK);
    hpt_device_ptr out = emulated_alloc(&e, 1024);
    uint32_t bytes = 1024;
    int32_t x = 4, zero = 0;
    const void *args[] = {encoded, &out, &bytes, &bytes, &x, &zero, &zero, &zero, &zero};
    hpt_launch launch = {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, bytes, false, args, 9, NULL};
    assert_int_equal(emulated_launch(&e, &launch, false), HPT_EMULATOR);
    assert_true(emulated_found(&e, HPT_EMU_ALIGNMENT));
    emulated_close(&e);
}

/* ---- multicast: each CTA of a cluster loads its part and gives it to all ---- */
static void test_multicast(void **unused) {
    (void)unused;
    static const char ptx[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 pout) .reqnctapercluster 4, 1, 1 {\n.shared "
        ".align 8 .b64 bar;\n"
        ".reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<32>; .reg .b64 %q<8>;\n"
        "ld.param.u64 %q1, [pout]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r7, %tid.x; mov.u32 %r8, smem; mov.u32 %r9, "
        "bar; mov.b64 %q2, map; cvta.param.u64 %q3, %q2;\n"
        "setp.ne.u32 %p1, %r7, 0; @%p1 bra INIT;\nmbarrier.init.shared::cta.b64 [%r9], 1; "
        "fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 2048;\n"
        "INIT: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p1 bra WAIT;\n"
        "mul.lo.u32 %r2, %r1, 512; add.u32 %r2, %r2, %r8; mul.lo.u32 %r3, %r1, 8; mov.u32 %r4, 0; mov.u16 %h1, 15;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r2], "
        "[%q3, {%r4, %r3}], [%r9], %h1;\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra WAIT;\n"
        "mad.lo.u32 %r10, %r7, 16, %r8; ld.shared.v4.u32 {%r11,%r12,%r13,%r14}, [%r10]; mad.lo.u32 %r15, %r1, 128, "
        "%r7; mad.wide.u32 %q4, %r15, 16, %q1;\n"
        "st.global.v4.u32 [%q4], {%r11,%r12,%r13,%r14};\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
        "ret; }\n";
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static uint8_t in[2048], out[4][2048];
        for (size_t k = 0; k < sizeof in; k++) in[k] = (uint8_t)(k * 31 + k / 256);
        emulated e = emulated_open("sm_90a", seed);
        emulated_load(&e, ptx);
        hpt_tensor_map map = {HPT_F16, 2, 0, {32, 32}, {0, 64}, {32, 8}, HPT_SWIZZLE_NONE, 0};
        map.address = emulated_upload(&e, in, sizeof in);
        hpt_device_ptr to = emulated_alloc(&e, sizeof out);
        _Alignas(64) uint8_t encoded[128];
        assert_int_equal(emulator->encode(e.device, encoded, &map, &e.error), HPT_OK);
        const void *args[] = {encoded, &to};
        hpt_launch launch = {{4, 1, 1}, {128, 1, 1}, {4, 1, 1}, 2048, false, args, 2, NULL};
        assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
        emulator->download(e.device, out, to, sizeof out, &e.error);
        for (int c = 0; c < 4; c++) assert_memory_equal(out[c], in, sizeof in);
        emulated_close(&e);
    }
}

/* ---- wgmma: operands laid out by the host, 64 x N x K of one instruction ---- */
typedef struct wgmma_case {
    const char *type; /* "f16.f16" */
    uint32_t n, k;
    int swizzle; /* 0 none, 1 32 B, 2 64 B, 3 128 B: of A and B */
    bool a_transposed, b_transposed;
    const char *immediates; /* ", 1, 1, 0, 0" */
    float scale;
} wgmma_case;

enum { A_AT = 0, B_AT = 16384, OPERANDS = 16384 + 65536 };

static float read_type(const char *type, uint8_t bits8, uint16_t bits16) {
    (void)bits8;
    return type[0] == 'f' ? hpt_f16_to(bits16) : hpt_bf16_to(bits16);
}

/* places element (mn, k) of an operand as the layouts of PTX ISA 9.7.15.5 say, strides packed; returns LBO and SBO */
static uint32_t place(bool transposed, int swizzle, uint32_t mn, uint32_t k, uint32_t mn_count, uint32_t k_count,
                      uint32_t *lbo, uint32_t *sbo) {
    uint32_t span = swizzle ? 16u << swizzle : 16, units = span / 16, per = span / 2; /* 16-bit elements */
    if (!transposed && swizzle) { /* rows of `span` bytes; only the first 2 K bytes are used */
        *lbo = 16;
        *sbo = 8 * span;
        uint32_t unit = k / 8 ^ (mn % 8 * span / 128) % units;
        return mn * span + unit * 16 + k % 8 * 2;
    }
    if (!transposed) {
        *lbo = 128 * mn_count / 8;
        *sbo = 128;
        return k / 8 * *lbo + mn / 8 * 128 + mn % 8 * 16 + k % 8 * 2;
    }
    if (swizzle) {
        *lbo = k_count / 8 * 8 * span;
        *sbo = 8 * span;
        uint32_t unit = mn % per / 8 ^ (k % 8 * span / 128) % units;
        return mn / per * *lbo + k / 8 * *sbo + k % 8 * span + unit * 16 + mn % 8 * 2;
    }
    *sbo = 128;
    *lbo = 128 * mn_count / 8;
    return k / 8 * *lbo + mn / 8 * 128 + k % 8 * 16 + mn % 8 * 2;
}

static uint64_t descriptor(uint32_t at, uint32_t lbo, uint32_t sbo, int swizzle) {
    static const uint64_t codes[] = {0, 3, 2, 1};
    return at >> 4 | (uint64_t)(lbo >> 4) << 16 | (uint64_t)(sbo >> 4) << 32 | codes[swizzle] << 62;
}

static void write_wgmma(hpt_text *ptx, const wgmma_case *c) {
    hpt_text_printf(ptx,
                    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
                    ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 da, .param .u64 db) {\n"
                    ".reg .pred %%p<4>; .reg .b32 %%r<32>; .reg .b64 %%q<12>; .reg .f32 %%f<%u>;\n"
                    "ld.param.u64 %%q1, [pin]; ld.param.u64 %%q2, [pout]; ld.param.u64 %%q3, [da]; ld.param.u64 %%q4, "
                    "[db]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, smem;\n"
                    "shl.b32 %%r3, %%r1, 4;\nCOPY: setp.ge.u32 %%p1, %%r3, %d; @%%p1 bra FULL; cvt.u64.u32 %%q5, %%r3; "
                    "add.u64 %%q5, %%q5, %%q1;\n"
                    "ld.global.v4.u32 {%%r4,%%r5,%%r6,%%r7}, [%%q5]; add.u32 %%r8, %%r2, %%r3; st.shared.v4.u32 "
                    "[%%r8], {%%r4,%%r5,%%r6,%%r7}; add.u32 %%r3, %%r3, 2048; bra COPY;\n"
                    "FULL: fence.proxy.async.shared::cta; bar.sync 0;\nand.b32 %%r9, %%r2, 0x3ffff; shr.u32 %%r9, "
                    "%%r9, 4; cvt.u64.u32 %%q6, %%r9; add.u64 %%q3, %%q3, %%q6; add.u64 %%q4, %%q4, %%q6;\n",
                    c->n / 2 + 1, OPERANDS);
    for (uint32_t r = 0; r < c->n / 2; r++) hpt_text_printf(ptx, "mov.f32 %%f%u, 0f40000000;\n", r);
    hpt_text_puts(ptx, "setp.eq.u32 %p2, 0, 0; wgmma.fence.sync.aligned;\n");
    hpt_text_printf(ptx, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s {", c->n, c->k, c->type);
    for (uint32_t r = 0; r < c->n / 2; r++) hpt_text_printf(ptx, "%s%%f%u", r ? "," : "", r);
    hpt_text_printf(ptx,
                    "}, %%q3, %%q4, %%p2%s;\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned "
                    "0;\nmad.wide.u32 %%q7, %%r1, %u, %%q2;\n",
                    c->immediates, c->n * 2);
    for (uint32_t r = 0; r < c->n / 2; r++) hpt_text_printf(ptx, "st.global.f32 [%%q7+%u], %%f%u;\n", 4 * r, r);
    hpt_text_puts(ptx, "ret; }\n");
}

static void check_wgmma(const wgmma_case *c, uint64_t seed) {
    static float a[64][16], b[256][16], out[128][128];
    static uint16_t bits[OPERANDS / 2];
    uint64_t state = seed;
    uint32_t a_lbo = 0, a_sbo = 0, b_lbo = 0, b_sbo = 0;
    memset(bits, 0, sizeof bits);
    for (uint32_t k = 0; k < c->k; k++) {
        for (uint32_t m = 0; m < 64; m++) {
            float value = (float)(int)(hpt_emu_draw(&state) % 33) - 16;
            uint16_t half = c->type[0] == 'f' ? hpt_f16_from_f32(value) : hpt_bf16_from(value);
            a[m][k] = read_type(c->type, 0, half);
            bits[(A_AT + place(c->a_transposed, c->swizzle, m, k, 64, c->k, &a_lbo, &a_sbo)) / 2] = half;
        }
        for (uint32_t n = 0; n < c->n; n++) {
            float value = (float)(int)(hpt_emu_draw(&state) % 33) - 16;
            uint16_t half = c->type[0] == 'f' ? hpt_f16_from_f32(value) : hpt_bf16_from(value);
            b[n][k] = read_type(c->type, 0, half);
            bits[(B_AT + place(c->b_transposed, c->swizzle, n, k, c->n, c->k, &b_lbo, &b_sbo)) / 2] = half;
        }
    }
    emulated e = emulated_open("sm_90a", seed);
    hpt_text ptx = {0};
    write_wgmma(&ptx, c);
    emulated_load(&e, ptx.data);
    hpt_text_clear(&ptx);
    hpt_device_ptr in = emulated_upload(&e, bits, sizeof bits), to = emulated_alloc(&e, 128 * c->n * 2);
    uint64_t da = descriptor(A_AT, a_lbo, a_sbo, c->swizzle), db = descriptor(B_AT, b_lbo, b_sbo, c->swizzle);
    const void *args[] = {&in, &to, &da, &db};
    hpt_launch launch = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, OPERANDS, false, args, 4, NULL};
    assert_int_equal(emulated_launch(&e, &launch, true), HPT_OK);
    emulator->download(e.device, out, to, 128 * c->n * 2, &e.error);
    for (uint32_t m = 0; m < 64; m++)
        for (uint32_t n = 0; n < c->n; n++) {
            float sum = 2;
            for (uint32_t k = 0; k < c->k; k++) sum += c->scale * a[m][k] * b[n][k];
            uint32_t thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2, r = n / 8 * 4 + m % 16 / 8 * 2 + n % 2;
            float got = ((float *)out)[thread * (c->n / 2) + r];
            if (got != sum)
                fail_msg("%s n %u swizzle %d trans %d %d: D[%u][%u] is %g, not %g", c->type, c->n, c->swizzle,
                         c->a_transposed, c->b_transposed, m, n, (double)got, (double)sum);
        }
    emulated_close(&e);
}

static void test_wgmma(void **unused) {
    (void)unused;
    for (int swizzle = 0; swizzle < 4; swizzle++)
        for (int transposed = 0; transposed < 4; transposed++) {
            bool ta = transposed & 1, tb = transposed & 2;
            char immediates[32];
            snprintf(immediates, sizeof immediates, ", 1, %d, %d, %d", swizzle == 2 ? -1 : 1, ta, tb);
            wgmma_case c = {"f16.f16", 64, 16, swizzle, ta, tb, immediates, swizzle == 2 ? -1 : 1};
            check_wgmma(&c, (uint64_t)(1 + swizzle));
            c.type = "bf16.bf16";
            c.n = tb ? 192 : 8;
            check_wgmma(&c, (uint64_t)(2 + swizzle));
        }
    static const wgmma_case wide = {"bf16.bf16", 256, 16, 3, false, false, ", 1, 1, 0, 0", 1};
    check_wgmma(&wide, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loads), cmocka_unit_test(test_stores),
                                       cmocka_unit_test(test_misplaced_box), cmocka_unit_test(test_multicast),
                                       cmocka_unit_test(test_wgmma)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
