/* tcgen05 instructions as PTX on the emulator: a small kernel that is right, then without each of the steps that make
 * it so, and what the emulator says about that. The kernel multiplies A (128 x 16, all 1) by B (16 x 16, all 2), one
 * CTA. */
#include "emulator/emulator.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kernel[] = ".version 8.8\n"
                             ".target sm_100a\n"
                             ".address_size 64\n"
                             ".visible .entry k(.param .u64 out)\n"
                             ".maxntid 128\n"
                             "{\n"
                             ".reg .pred %p<8>;\n"
                             ".reg .b32 %r<40>;\n"
                             ".reg .b64 %rd<16>;\n"
                             ".reg .f32 %f<4>;\n"
                             ".shared .align 1024 .b8 a[4096];\n"
                             ".shared .align 1024 .b8 b[1024];\n"
                             ".shared .align 8 .b64 bar;\n"
                             ".shared .align 4 .b32 slot;\n"
                             "mov.u32 %r0, %tid.x;\n"
                             "shr.u32 %r1, %r0, 5;\n"
                             "// A: 128 rows of 16 f16, without swizzle: A[i][k] = 1; row i of core matrix, two "
                             "16-byte columns 2048 bytes apart\n"
                             "mov.u32 %r2, a;\n"
                             "shl.b32 %r3, %r0, 4;\n"
                             "add.u32 %r2, %r2, %r3;\n"
                             "mov.b32 %r4, 0x3C003C00;\n"
                             "st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4};\n"
                             "st.shared.v4.b32 [%r2+2048], {%r4, %r4, %r4, %r4};\n"
                             "// B: 16 columns of 16 f16: B[j][k] = 2\n"
                             "setp.lt.u32 %p0, %r0, 32;\n"
                             "mov.u32 %r5, b;\n"
                             "add.u32 %r5, %r5, %r3;\n"
                             "mov.b32 %r6, 0x40004000;\n"
                             "@%p0 st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6};\n"
                             "fence.proxy.async.shared::cta; // PROXY\n"
                             "setp.eq.u32 %p1, %r0, 0;\n"
                             "mov.u32 %r7, bar;\n"
                             "@%p1 mbarrier.init.shared::cta.b64 [%r7], 1;\n"
                             "@%p1 fence.mbarrier_init.release.cluster;\n"
                             "setp.ne.u32 %p2, %r1, 0;\n"
                             "@%p2 bra ALLOCATED;\n"
                             "mov.u32 %r8, slot;\n"
                             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r8], 32;\n"
                             "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
                             "ALLOCATED:\n"
                             "tcgen05.fence::before_thread_sync;\n"
                             "bar.sync 0;\n"
                             "tcgen05.fence::after_thread_sync;\n"
                             "ld.shared.b32 %r9, [slot];\n"
                             "@!%p1 bra ISSUED;\n"
                             "// K-major without swizzle: LBO 2048 (next 16 bytes along k), SBO 128 (next 8 rows)\n"
                             "mov.u32 %r10, a;\n"
                             "shr.u32 %r10, %r10, 4;\n"
                             "cvt.u64.u32 %rd0, %r10;\n"
                             "or.b64 %rd0, %rd0, 0x0000400800800000;\n"
                             "mov.u32 %r11, b;\n"
                             "shr.u32 %r11, %r11, 4;\n"
                             "cvt.u64.u32 %rd1, %r11;\n"
                             "or.b64 %rd1, %rd1, 0x0000400800100000;\n"
                             "mov.b32 %r12, 0x08040010; // D f32, A and B f16, N = 16, M = 128\n"
                             "setp.ne.u32 %p3, %r0, %r0;\n"
                             "tcgen05.mma.cta_group::1.kind::f16 [%r9], %rd0, %rd1, %r12, %p3;\n"
                             "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r7]; // COMMIT\n"
                             "ISSUED:\n"
                             "WAIT: // WAITBAR\n"
                             "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r7], 0; // WAITBAR\n"
                             "@!%p4 bra WAIT; // WAITBAR\n"
                             "tcgen05.fence::after_thread_sync; // FENCE\n"
                             "shl.b32 %r13, %r1, 21;\n"
                             "add.u32 %r13, %r13, %r9;\n"
                             "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r14}, [%r13];\n"
                             "tcgen05.wait::ld.sync.aligned; // WAITLD\n"
                             "ld.param.u64 %rd2, [out];\n"
                             "cvta.to.global.u64 %rd2, %rd2;\n"
                             "mul.wide.u32 %rd3, %r0, 4;\n"
                             "add.s64 %rd2, %rd2, %rd3;\n"
                             "st.global.b32 [%rd2], %r14;\n"
                             "tcgen05.fence::before_thread_sync; // DONE\n"
                             "bar.sync 0;\n"
                             "tcgen05.fence::after_thread_sync;\n"
                             "@%p2 bra END;\n"
                             "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 32; // DEALLOC\n"
                             "END:\n"
                             "ret;\n"
                             "}\n";

/* Without the lines that end in "// MARK". NULL keeps all. */
static char *without(const char *mark) {
    char *text = malloc(sizeof kernel), *to = text, tail[32];
    assert_non_null(text);
    snprintf(tail, sizeof tail, "// %s\n", mark ? mark : "");
    for (const char *line = kernel; *line;) {
        const char *end = strchr(line, '\n') + 1;
        size_t length = (size_t)(end - line), tail_length = strlen(tail);
        bool drop = mark && length > tail_length && strncmp(end - tail_length, tail, tail_length) == 0;
        if (!drop) memcpy(to, line, length), to += length;
        line = end;
    }
    *to = 0;
    return text;
}

/* Runs it with a seed; *finding is the name of the first fault ("" if none). */
static void run(const char *text, uint64_t seed, float *results, char finding[64]) {
    const hpt_backend *backend = &hpt_backend_emulator;
    hpt_backend_device *device;
    hpt_backend_module *module;
    hpt_device_ptr out;
    hpt_error error = {0};
    assert_int_equal(backend->open(&device, 0, "sm_100a", &error), HPT_OK);
    hpt_emu_options options;
    hpt_emu_get_options(device, &options);
    options.seed = seed;
    options.patience = 20000;
    hpt_emu_set_options(device, &options);
    assert_int_equal(backend->alloc(device, &out, 512, &error), HPT_OK);
    if (backend->load(device, &module, text, strlen(text), "k", &error) != HPT_OK)
        fail_msg("%s: %s", error.where, error.message);
    const void *arguments[] = {&out};
    const size_t sizes[] = {sizeof out};
    hpt_launch launch = {.grid = {1, 1, 1},
                         .block = {128, 1, 1},
                         .cluster = {1, 1, 1},
                         .arguments = arguments,
                         .argument_count = 1,
                         .argument_size = sizes};
    hpt_status status = backend->launch(module, &launch, NULL, &error);
    finding[0] = 0;
    if (hpt_emu_finding_count(device)) {
        const hpt_emu_finding *first = hpt_emu_finding_get(device, 0);
        snprintf(finding, 64, "%s", hpt_emu_fault_name(first->fault));
        assert_int_equal(status, HPT_EMULATOR);
    } else if (status != HPT_OK) {
        fail_msg("%s: %s", error.where, error.message);
    } else {
        assert_int_equal(backend->download(device, results, out, 512, &error), HPT_OK);
    }
    backend->unload(module);
    backend->release(device, out);
    backend->close(device);
}

static void test_right(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        float results[128];
        char finding[64], *text = without(NULL);
        run(text, seed, results, finding);
        assert_string_equal(finding, "");
        for (int i = 0; i < 128; i++) assert_true(results[i] == 32.0f);
        free(text);
    }
}

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        const char *mark, *finding;
    } steps[] = {
        {"PROXY", "missing-proxy-fence"},
        {"COMMIT", "deadlock"},
        {"WAITBAR", "accumulator-in-flight or unwritten-read"},
        {"FENCE", "accumulator-in-flight"},
        {"WAITLD", "accumulator-in-flight"},
        {"DONE", "accumulator-in-flight"},
        {"DEALLOC", "leak"},
    };
    for (size_t i = 0; i < HPT_COUNT(steps); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            float results[128];
            char finding[64], *text = without(steps[i].mark);
            run(text, seed, results, finding);
            if (!*finding || !strstr(steps[i].finding, finding))
                fail_msg("without %s (seed %u): \"%s\" instead of \"%s\"", steps[i].mark, (unsigned)seed, finding,
                         steps[i].finding);
            free(text);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
