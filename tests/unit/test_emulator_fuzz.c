/* The PTX front end on damaged text: it answers with a module or an error with a line, and never crashes or hangs. What
 * still loads is decoded in full; some of it also runs, with little patience. */
#include "emulator_fixture.h"
#include <time.h>

static const char whole[] =
    "//\n// a bit of everything\n.version 8.6\n.target sm_90a, debug\n.address_size 64\n.file 1 \"k.cu\", 12, 34\n"
    ".extern .shared .align 1024 .b8 smem[];\n.global .align 4 .f32 weights[4] = {0f3F800000, 2.5, -1, 0f00000000};\n"
    ".const .align 8 .b64 table[2][2] = {{1, 2}, {0x10, 077}};\n.shared .align 16 .b8 tile[256];\n"
    ".visible .entry k(\n\t.param .align 64 .b8 map[128],\n\t.param .u64 .ptr .global .align 16 out,\n\t.param .u32 "
    "n\n)\n"
    ".maxntid 128, 1, 1\n.minnctapersm 1\n.explicitcluster\n.reqnctapercluster 1, 1, 1\n{\n"
    ".reg .pred %p<8>;\n.reg .b16 %h<4>, %i;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 %q<10>;\n.local .align 8 "
    ".b8 frame[32];\n"
    ".loc 1 10 3\n.loc 1 11 5, function_name $L__info0+4, inlined_at 1 10 3\nld.param.u64 %q1, "
    "[out];\ncvta.to.global.u64 %q2, %q1;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, smem;\nmov.b64 %q3, map;\ncvta.param.u64 %q4, %q3;\n/* a comment\nover lines "
    "*/\n"
    "setp.lt.and.u32 %p1|%p2, %r1, 7, %p3;\n@!%p1 bra $L1;\n{\n.reg .b32 inner;\nLOOP:\nmov.u32 inner, %r1;\nsub.s32 "
    "inner, inner, 1;\nsetp.ne.s32 %p4, inner, 0;\n}\n"
    "mad.wide.u32 %q5, %r1, 4, %q2;\nst.global.v2.f32 [%q5+8], {%f1, %f2};\n$L1:\nmov.b32 {%h1, %h2}, %r3;\nprmt.b32 "
    "%r4, %r5, %r6, 0x3210;\n"
    "lop3.b32 %r7, %r4, %r5, %r6, 0x96;\nshfl.sync.bfly.b32 %r8|%p5, %r7, 16, 31, -1;\nbar.sync 0;\n"
    "mbarrier.init.shared::cta.b64 [%r2], "
    "1;\nfence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%q4, "
    "{%r1, %r3}], [%r2], %h1;\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], 0;\nwgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %q6, %q7, %p6, 1, -1, 0, 1;\n"
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    "TABLE: .branchtargets $L1, $L2;\nbrx.idx %r9, "
    "TABLE;\n$L2:\ncp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%q4, {%r1, %r3}], [%r2];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\natom.global.add.f32 %f5, [%q2], 0f3F800000;\n"
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [tile+16];\ncvt.rn.f16x2.f32 %r12, %f1, "
    "%f2;\nst.local.b64 [frame], %q1;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 64;\nret;\n}\n";

static uint64_t state;
static uint64_t below(uint64_t limit) { return limit ? hpt_emu_draw(&state) % limit : 0; }

/* One damage to `text`; returns its new length, at most `size`. */
static size_t damage(char *text, size_t length, size_t size) {
    static const char marks[] = "{}[](),;:.%$@!|+-<>=\"\\/*_0x9fFlab \n\0\xff";
    static const char *const words[] = {".reg .b32 %r<99999999>;",
                                        "%r9999999",
                                        "{{{{{{{{{{{{",
                                        "[[[[",
                                        ".align 3",
                                        "-9223372036854775808",
                                        "0xffffffffffffffffff",
                                        "@%p1",
                                        "1e999",
                                        ".entry",
                                        "bra k;",
                                        "mov.b128 ",
                                        "%tid.w",
                                        ".b8 x[2147483648][2147483648];"};
    size_t at = below(length), count = 1 + below(below(4) ? 4 : 60), from = below(length);
    if (count > length - at) count = length - at;
    switch (below(7)) {
    case 0:
        text[at] = marks[below(sizeof marks)];
        return length;
    case 1:
        text[at] = (char)(text[at] ^ (1 << below(8)));
        return length;
    case 2:
        memmove(text + at, text + at + count, length - at - count);
        return length - count;
    case 3:
        return at; /* cut off */
    case 4: {      /* a piece from elsewhere */
        char piece[64];
        if (count > length - from) count = length - from;
        if (length + count > size) return length;
        memcpy(piece, text + from, count);
        memmove(text + at + count, text + at, length - at);
        memcpy(text + at, piece, count);
        return length + count;
    }
    case 5: { /* two pieces change places */
        if (from + count > length) return length;
        for (size_t k = 0; k < count; k++) {
            char c = text[at + k];
            text[at + k] = text[from + k];
            text[from + k] = c;
        }
        return length;
    }
    default: {
        const char *word = words[below(HPT_COUNT(words))];
        size_t extra = strlen(word);
        if (length + extra > size) return length;
        memmove(text + at + extra, text + at, length - at);
        memcpy(text + at, word, extra);
        return length + extra;
    }
    }
}

static void run_what_loads(emulated *e) {
    _Alignas(64) uint8_t map[128] = {0};
    hpt_device_ptr out = emulated_alloc(e, 4096);
    uint32_t n = 5;
    const void *args[] = {map, &out, &n};
    const size_t sizes[] = {128, 8, 4};
    hpt_launch launch = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 8192, false, args, 3, sizes};
    hpt_emu_reset(e->device);
    hpt_error error = {0};
    hpt_status status = emulator->launch(e->module, &launch, NULL, &error);
    assert_true(status == HPT_OK || (error.code == status && error.message[0]));
    emulator->release(e->device, out);
}

static void test_mutations(void **unused) {
    (void)unused;
    enum { SECONDS = 4, AT_LEAST = 300 };
    const char *seed = getenv("HEPTANE_TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 20261130;
    print_message("random seed %llu (HEPTANE_TEST_SEED)\n", (unsigned long long)state);
    emulated e = emulated_open("sm_90a", 1);
    hpt_emu_options options;
    hpt_emu_get_options(e.device, &options);
    options.patience = 5000;
    options.max_findings = 4;
    hpt_emu_set_options(e.device, &options);
    char text[2 * sizeof whole];
    int tried = 0, loaded = 0, ran = 0;
    for (time_t end = time(NULL) + SECONDS; tried < AT_LEAST || time(NULL) < end; tried++) {
        size_t length = sizeof whole - 1;
        memcpy(text, whole, length);
        /* the last instruction is Blackwell's: without it the text is whole for sm_90a */
        if (below(2))
            length = (size_t)(strstr(whole, "tcgen05") - whole), memcpy(text + length, "ret;\n}\n", 7), length += 7;
        for (uint64_t n = 1 + below(3); n > 0 && length > 0; n--) length = damage(text, length, sizeof text - 1);
        hpt_backend_module *module = NULL;
        hpt_error error = {0};
        hpt_status status = emulator->load(e.device, &module, text, length, "k", &error);
        if (status != HPT_OK) {
            assert_null(module);
            assert_int_equal(error.code, status);
            assert_true(error.message[0]);
            continue;
        }
        loaded++;
        e.module = module;
        if (ran < 150) {
            run_what_loads(&e);
            ran++;
        }
        emulator->unload(module);
        e.module = NULL;
    }
    print_message("%d texts, %d load, %d ran\n", tried, loaded, ran);
    assert_true(loaded > 10 && loaded < tried);
    emulated_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
