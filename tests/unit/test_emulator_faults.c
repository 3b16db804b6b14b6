/* Small kernels with one fault each: the emulator names it. And their correct sisters, which have none on any seed. */
#include "emulator_fixture.h"

enum { THREADS = 128, SEEDS = 6 };

static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n.visible .entry k(.param "
    ".u64 pin, .param .u64 pout, .param .align 64 .b8 map[128]) {\n"
    ".shared .align 8 .b64 bar[4]; .shared .align 16 .b8 tile[1024]; .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 "
    "%r<32>; .reg .f32 %f<16>; .reg .b64 %q<16>;\n"
    "ld.param.u64 %q1, [pin]; ld.param.u64 %q2, [pout]; mov.u32 %r1, %tid.x; mad.wide.u32 %q3, %r1, 4, %q1; "
    "mad.wide.u32 %q4, %r1, 4, %q2; mov.u32 %r2, bar; mov.u32 %r3, tile;\n"
    "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r3; mov.u32 %r5, smem; mov.b64 %q5, map; cvta.param.u64 %q6, %q5; "
    "setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; mov.u32 %r9, 0;\n";

typedef struct small_kernel {
    const char *name, *body;
    int fault; /* -1: none */
} small_kernel;

#define INIT "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
#define WAIT0 "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra W;\n"
#define LOAD                                                                                                           \
    "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512; @%p1 "                                              \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%q1], 512, [%r2];\n"
#define READ "shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r5; ld.shared.u32 %r7, [%r6]; st.global.u32 [%q4], %r7;\n"
#define STAGE "st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0;\n"
#define STORE "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r3], 512; @%p1 cp.async.bulk.commit_group;\n"

static const small_kernel kernels[] = {
    {"a load that is waited for", INIT LOAD WAIT0 READ, -1},
    {"a load that is not waited for", INIT LOAD READ, HPT_EMU_RACE},
    {"a wait for the wrong parity",
     INIT LOAD "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 1; @!%p3 bra W;\n" READ, HPT_EMU_RACE},
    {"a wait for a phase that never completes", INIT WAIT0, HPT_EMU_DEADLOCK},
    {"bytes that never come", INIT "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64;\n" WAIT0,
     HPT_EMU_DEADLOCK},
    {"a polled wait that never ends", INIT "W: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra W;\n",
     HPT_EMU_DEADLOCK},
    {"one arrival too many",
     INIT
     "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64; @%p1 mbarrier.arrive.shared::cta.b64 %q7, [%r2];\n",
     HPT_EMU_PHASE},
    {"a barrier used before its initialisation is visible",
     "@%p1 mbarrier.init.shared::cta.b64 [%r2], 97; setp.gt.u32 %p4, %r1, 31; L: ld.volatile.shared.u32 %r6, [%r3]; "
     "@%p4 mbarrier.arrive.shared::cta.b64 %q7, [%r2];\n",
     HPT_EMU_RACE},
    {"no barrier there", "@%p1 mbarrier.arrive.shared::cta.b64 %q7, [%r2];\n", HPT_EMU_PHASE},
    {"an mbarrier at an odd address", "@%p1 mbarrier.init.shared::cta.b64 [%r2+4], 1;\n", HPT_EMU_ALIGNMENT},
    {"a store over a live barrier", INIT "@%p1 st.shared.u32 [%r2], %r1;\n", HPT_EMU_PHASE},
    {"shared memory nobody has written", "ld.shared.u32 %r7, [%r4]; st.global.u32 [%q4], %r7;\n", HPT_EMU_UNWRITTEN},
    {"global memory nobody has written", "ld.global.u32 %r7, [%q4]; st.global.u32 [%q4], %r7;\n", HPT_EMU_UNWRITTEN},
    {"past the end of a buffer", "ld.global.u32 %r7, [%q3+4]; st.global.u32 [%q4], %r7;\n", HPT_EMU_BOUNDS},
    {"past the end of shared memory", "st.shared.u32 [%r5+8192], %r1;\n", HPT_EMU_BOUNDS},
    {"a misaligned vector", "ld.global.v2.u32 {%r7, %r8}, [%q1+4];\n", HPT_EMU_ALIGNMENT},
    {"values exchanged through shared memory",
     "st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r6, %r1, 96; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; "
     "ld.shared.u32 %r7, [%r6]; st.global.u32 [%q4], %r7;\n",
     -1},
    {"the same without a barrier",
     "st.shared.u32 [%r4], %r1; xor.b32 %r6, %r1, 96; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; "
     "ld.volatile.shared.u32 %r8, [%r4]; ld.shared.u32 %r7, [%r6]; st.global.u32 [%q4], %r7;\n",
     HPT_EMU_RACE},
    {"half a warp at an aligned barrier",
     "and.b32 %r6, %r1, 16; setp.eq.u32 %p4, %r6, 0; @%p4 bra L; bar.sync 0; L: ret;\n", HPT_EMU_CONVERGENCE},
    {"a warp that does not come to the barrier",
     "setp.gt.u32 %p4, %r1, 95; @%p4 bra L; bar.sync 1, 128; L: bar.sync 0;\n", HPT_EMU_DEADLOCK},
    {"warps that wait for each other",
     "@%p2 bra L; bar.sync 1, 128; bar.sync 2, 128; bra E; L: bar.sync 2, 128; bar.sync 1, 128; E: ret;\n",
     HPT_EMU_DEADLOCK},
    {"a flag that nobody sets",
     "st.shared.u32 [tile], %r9; L: ld.volatile.shared.u32 %r7, [tile]; setp.eq.u32 %p4, %r7, 0; @%p4 bra L;\n",
     HPT_EMU_LIVELOCK},
    {"a bulk store", STAGE STORE "@%p1 cp.async.bulk.wait_group 0;\n", -1},
    {"a bulk store without the proxy fence",
     "st.shared.u32 [%r4], %r1; bar.sync 0;\n" STORE "@%p1 cp.async.bulk.wait_group 0;\n", HPT_EMU_PROXY},
    {"a bulk store fenced by the thread that issues it",
     "st.shared.u32 [%r4], %r1; bar.sync 0; fence.proxy.async;\n" STORE "@%p1 cp.async.bulk.wait_group 0;\n", -1},
    {"a bulk store without a barrier",
     "st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta;\n" STORE "@%p1 cp.async.bulk.wait_group 0;\n",
     HPT_EMU_RACE},
    {"its source overwritten too early",
     STAGE STORE "bar.sync 0; st.shared.u32 [%r4], %r1; @%p1 cp.async.bulk.wait_group 0;\n", HPT_EMU_RACE},
    {"its source overwritten after the wait",
     STAGE STORE
     "@%p1 cp.async.bulk.wait_group.read 0; bar.sync 0; st.shared.u32 [%r4], %r1; @%p1 cp.async.bulk.wait_group 0;\n",
     -1},
    {"a thread that leaves its bulk store behind", STAGE STORE, HPT_EMU_RACE},
    {"an add that overtakes a store",
     STAGE STORE
     "@%p1 cp.async.bulk.wait_group.read 0; @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q2], "
     "[%r3], 512; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n",
     HPT_EMU_ORDER},
    {"an add behind a store",
     STAGE STORE "@%p1 cp.async.bulk.wait_group 0; @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
                 "[%q2], [%r3], 512; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n",
     -1},
    {"bytes that are no tensor map",
     "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%q6, {%r9}], [%r3];\n", HPT_EMU_DESCRIPTOR},
    {"wgmma without its fence",
     "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.b64 %q7, 0x4000004000010040; "
     "st.shared.u32 [%r4], %r9; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %q7, %q7, %p1, 1, "
     "1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
     HPT_EMU_ACCUMULATOR},
    {"an accumulator read before the wait",
     "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.b64 %q7, 0x4000004000010040; "
     "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %q7, %q7, %p1, 1, "
     "1, 0, 0; wgmma.commit_group.sync.aligned; add.f32 %f5, %f1, %f1; wgmma.wait_group.sync.aligned 0;\n",
     HPT_EMU_ACCUMULATOR},
    {"an accumulator never waited for",
     "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.b64 %q7, 0x4000004000010040; "
     "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %q7, %q7, %p1, 1, "
     "1, 0, 0; wgmma.commit_group.sync.aligned;\n",
     HPT_EMU_LEAK},
    {"a cluster barrier waited for without arriving", "barrier.cluster.wait.aligned;\n", HPT_EMU_PHASE},
    {"a failed assertion", "@%p1 trap;\n", HPT_EMU_OPERAND},
};

static hpt_status run_kernel(emulated *e, const small_kernel *k, const uint32_t *in) {
    hpt_text ptx = {0};
    hpt_text_printf(&ptx, "%s%sret;\n}\n", head, k->body);
    emulated_load(e, ptx.data);
    hpt_text_clear(&ptx);
    hpt_device_ptr from = emulated_upload(e, in, THREADS * 4), to = emulated_alloc(e, THREADS * 4);
    _Alignas(64) uint8_t map[128] = {0};
    const void *args[] = {&from, &to, map};
    hpt_launch launch = {{1, 1, 1}, {THREADS, 1, 1}, {1, 1, 1}, 4096, false, args, 3, NULL};
    return emulated_launch(e, &launch, k->fault < 0);
}

static void test_faults(void **unused) {
    (void)unused;
    uint32_t in[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) in[t] = t;
    for (size_t k = 0; k < HPT_COUNT(kernels); k++) {
        bool named = false;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            emulated e = emulated_open("sm_90a", seed);
            hpt_status status = run_kernel(&e, &kernels[k], in);
            if (kernels[k].fault < 0 && status != HPT_OK)
                fail_msg("\"%s\" has a finding on seed %d", kernels[k].name, (int)seed);
            if (kernels[k].fault >= 0 && emulated_found(&e, (hpt_emu_fault)kernels[k].fault)) {
                const hpt_emu_finding *f = hpt_emu_finding_get(e.device, 0);
                named = status == HPT_EMULATOR && f->line > 0 && f->message[0];
            }
            emulated_close(&e);
        }
        if (kernels[k].fault >= 0 && !named)
            fail_msg("\"%s\" is not reported as %s", kernels[k].name,
                     hpt_emu_fault_name((hpt_emu_fault)kernels[k].fault));
    }
}

/* the same seed gives the same run, another seed another one */
static void test_determinism(void **unused) {
    (void)unused;
    uint32_t in[THREADS] = {0}, lines[3];
    static const small_kernel race = {
        "",
        "st.shared.u32 [%r4], %r1; xor.b32 %r6, %r1, 96; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; "
        "atom.shared.add.u32 %r8, [tile+512], 1; ld.shared.u32 %r7, [%r6];\n",
        HPT_EMU_RACE};
    uint64_t counts[3] = {0};
    for (int k = 0; k < 3; k++) {
        emulated e = emulated_open("sm_90a", k < 2 ? 7 : 8);
        run_kernel(&e, &race, in);
        for (size_t f = 0; f < hpt_emu_finding_count(e.device); f++)
            counts[k] = counts[k] * 1000 + hpt_emu_finding_get(e.device, f)->count;
        lines[k] = hpt_emu_finding_get(e.device, 0)->warp;
        emulated_close(&e);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_int_equal(lines[0], lines[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults), cmocka_unit_test(test_determinism)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
