/* Data handed from cluster to cluster through global memory, and from launch to launch where launches overlap: what is
 * not ordered is named, on every seed on which the reader sees the data; what is ordered never is. */
#include "emulator_fixture.h"

enum { SEEDS = 12, THREADS = 64 };

/* q1: data, q2: flag, q3: out; p1: thread 0; p2: CTA 0 */
static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 "
    "out) {\n"
    ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %q<8>; .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;\n"
    "ld.param.u64 %q1, [data]; ld.param.u64 %q2, [flag]; ld.param.u64 %q3, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, "
    "%ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; mul.wide.u32 %q4, %r1, 4; add.u64 %q4, %q4, %q1; "
    "xor.b32 %r3, "
    "%r1, 32; mul.wide.u32 %q5, %r3, 4; add.u64 %q6, %q5, %q3; add.u64 %q5, %q5, %q1; mov.u32 %r10, bar; mov.u32 %r11, "
    "tile;\n";

typedef struct kernel {
    const char *name, *body;
    int fault; /* -1: none */
} kernel;

#define WRITE "@!%p2 bra READER; st.global.u32 [%q4], %r1; bar.sync 0;\n"
#define READ "bar.sync 0; ld.global.u32 %r5, [%q5]; st.global.u32 [%q6], %r5; ret;\n"
#define SPIN(load) "READER: @!%p1 bra IN; L: " load " %r4, [%q2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra L; IN:\n"
#define BULK                                                                                                           \
    "@%p1 mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster; bar.sync 0; @%p1 "             \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256; @%p1 "                                                  \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%q1], 256, [%r10]; W: "                \
    "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0; @!%p4 bra W; ret;\n"

static const kernel handovers[] = {
    {"release and acquire",
     WRITE "@%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") READ, -1},
    {"an atomic that releases",
     WRITE "@%p1 red.release.gpu.global.add.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") READ, -1},
    {"fences beside relaxed accesses",
     WRITE "fence.acq_rel.gpu; @%p1 st.relaxed.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.relaxed.gpu.global.u32") "fence.acq_rel.gpu;\n" READ,
     -1},
    {"membar and volatile",
     WRITE "membar.gl; @%p1 st.volatile.global.u32 [%q2], 1; ret;\n" SPIN("ld.volatile.global.u32") "membar.gl;\n" READ,
     -1},
    {"no release", WRITE "@%p1 st.relaxed.gpu.global.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") READ,
     HPT_EMU_RACE},
    {"no acquire", WRITE "@%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN("ld.relaxed.gpu.global.u32") READ,
     HPT_EMU_RACE},
    {"a release for the own CTA only",
     WRITE "@%p1 st.release.cta.global.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") READ, HPT_EMU_RACE},
    {"a fence of the own CTA only",
     WRITE "fence.acq_rel.cta; @%p1 st.relaxed.gpu.global.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") READ,
     HPT_EMU_RACE},
    {"a release before the others have written",
     "@!%p2 bra READER; st.global.u32 [%q4], %r1; @%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.acquire.gpu.global.u32") READ,
     HPT_EMU_RACE},
    {"a reader that did not wait for the one who acquired",
     WRITE "@%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.acquire.gpu.global.u32") "ld.global.u32 %r5, [%q5]; st.global.u32 [%q6], %r5; ret;\n",
     HPT_EMU_RACE},
    {"a bulk load with the fence at the writer",
     WRITE "fence.proxy.async; bar.sync 0; @%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.acquire.gpu.global.u32") BULK,
     -1},
    {"a bulk load with the fence at the reader",
     WRITE "@%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.acquire.gpu.global.u32") "fence.proxy.async.global;\n" BULK,
     -1},
    {"a bulk load without the fence",
     WRITE "@%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN("ld.acquire.gpu.global.u32") BULK, HPT_EMU_PROXY},
    {"a bulk load with a fence of shared memory only",
     WRITE "fence.proxy.async.shared::cta; bar.sync 0; @%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.acquire.gpu.global.u32") BULK,
     HPT_EMU_PROXY},
    {"a bulk load without acquire",
     WRITE "fence.proxy.async; bar.sync 0; @%p1 st.release.gpu.global.u32 [%q2], 1; ret;\n" SPIN(
         "ld.relaxed.gpu.global.u32") BULK,
     HPT_EMU_RACE},
    {"from warp to warp without a barrier",
     "@!%p2 ret; st.global.u32 [%q4], %r1; ld.volatile.global.u32 %r4, [%q2]; ld.global.u32 %r5, [%q5]; st.global.u32 "
     "[%q6], %r5; ret;\n",
     HPT_EMU_RACE},
    {"from warp to warp with one",
     "@!%p2 ret; st.global.u32 [%q4], %r1; bar.sync 0; ld.global.u32 %r5, [%q5]; st.global.u32 [%q6], %r5; ret;\n", -1},
};

typedef struct buffers {
    hpt_device_ptr data, flag, out;
} buffers;

/* Launches without waiting for the end, as a stream's kernels come one behind the other. */
static hpt_status run_body(emulated *e, const buffers *b, const char *body, uint32_t ctas, bool overlap) {
    hpt_text ptx = {0};
    hpt_text_printf(&ptx, "%s%s}\n", head, body);
    emulated_load(e, ptx.data);
    hpt_text_clear(&ptx);
    const void *args[] = {&b->data, &b->flag, &b->out};
    const hpt_launch launch = {{ctas, 1, 1}, {THREADS, 1, 1}, {1, 1, 1}, 0, overlap, args, 3, NULL};
    return emulator->launch(e->module, &launch, NULL, &e->error);
}

static buffers make_buffers(emulated *e) {
    const uint32_t zero[THREADS] = {0};
    return (buffers){emulated_alloc(e, 4 * THREADS), emulated_upload(e, zero, sizeof zero),
                     emulated_alloc(e, 4 * THREADS)};
}

static void test_handovers(void **unused) {
    (void)unused;
    for (size_t k = 0; k < HPT_COUNT(handovers); k++) {
        const kernel *h = &handovers[k];
        int named = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            emulated e = emulated_open("sm_90a", seed);
            const buffers b = make_buffers(&e);
            const hpt_status status = run_body(&e, &b, h->body, 2, false);
            if (h->fault < 0 && status != HPT_OK)
                fail_msg("\"%s\" on seed %d: %s", h->name, (int)seed, e.error.message);
            named += h->fault >= 0 && emulated_found(&e, (hpt_emu_fault)h->fault);
            emulated_close(&e);
        }
        if (h->fault >= 0 && named < SEEDS / 2)
            fail_msg("\"%s\" is reported as %s on %d of %d seeds", h->name, hpt_emu_fault_name((hpt_emu_fault)h->fault),
                     named, SEEDS);
    }
}

/* ---- launches that overlap: a first one writes, then come others ---- */
#define WRITES "st.global.u32 [%q4], %r1; ret;\n"
#define FIRST LETS WRITES
#define LOOK "ld.global.u32 %r5, [%q5]; st.global.u32 [%q6], %r5; ret;\n"
#define WAITS "griddepcontrol.wait;\n"
#define LETS "griddepcontrol.launch_dependents;\n"
/* thread 0 expects a bulk load, which it issues before or behind griddepcontrol.wait; everybody waits for it */
#define EXPECTS                                                                                                        \
    "@%p1 mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster; bar.sync 0; @%p1 "             \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
#define COPIES "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%q2], 256, [%r10];\n"
#define ARRIVES "W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0; @!%p4 bra W;\n"

typedef struct chain {
    const char *name, *first, *middle, *last; /* middle NULL: none */
    int fault;
} chain;

static const chain chains[] = {
    {"a wait", FIRST, NULL, WAITS LOOK, -1},
    {"no wait", FIRST, NULL, LOOK, HPT_EMU_RACE},
    {"another warp waits, and a barrier lies between", FIRST, NULL, "@!%p1 bra IN; " WAITS "IN: bar.sync 0;\n" LOOK,
     -1},
    {"another warp waits", FIRST, NULL, "setp.gt.u32 %p3, %r1, 31; @%p3 bra IN; " WAITS "IN:\n" LOOK, HPT_EMU_RACE},
    {"another warp waits and then loads what this one waits for", FIRST, NULL,
     EXPECTS "@!%p1 bra W; " WAITS COPIES ARRIVES LOOK, -1},
    {"another warp loads what this one waits for, and then waits", FIRST, NULL,
     EXPECTS "@!%p1 bra W; " COPIES WAITS ARRIVES LOOK, HPT_EMU_RACE},
    {"the launch between waits first", FIRST, WAITS LETS "ret;\n", LOOK, -1},
    {"the launch between waits and ends", FIRST, WAITS "ret;\n", LOOK, -1},
    {"the launch between lets others start first", FIRST, LETS WAITS "ret;\n", LOOK, HPT_EMU_RACE},
    {"the same, but the last one waits", FIRST, LETS WAITS "ret;\n", WAITS LOOK, -1},
    {"the launch between never waits", FIRST, LETS "ret;\n", WAITS LOOK, HPT_EMU_RACE},
    {"the first lets no other start before it has ended", WRITES, NULL, LOOK, -1},
    {"it lets others start when it has written", "st.global.u32 [%q4], %r1; " LETS "ret;\n", NULL, LOOK, HPT_EMU_RACE},
    {"one thread lets others start", "@!%p1 bra OUT; " LETS "OUT: " WRITES, NULL, LOOK, HPT_EMU_RACE},
    {"the first has ended, the one between waits for nothing", WRITES, LETS "ret;\n", LOOK, -1},
    {"neither lets others start", WRITES, "ret;\n", LOOK, -1},
    {"the first lets others start, the one between none, nor does it wait", FIRST, "ret;\n", LOOK, HPT_EMU_RACE},
};

static void test_chain(const chain *c, uint64_t seed) {
    emulated e = emulated_open("sm_90a", seed);
    const buffers b = make_buffers(&e);
    assert_int_equal(run_body(&e, &b, c->first, 1, false), HPT_OK);
    if (c->middle) assert_int_equal(run_body(&e, &b, c->middle, 1, true), HPT_OK);
    const hpt_status status = run_body(&e, &b, c->last, 1, true);
    if (c->fault < 0 && status != HPT_OK) fail_msg("\"%s\" on seed %d: %s", c->name, (int)seed, e.error.message);
    if (c->fault >= 0 && !emulated_found(&e, (hpt_emu_fault)c->fault))
        fail_msg("\"%s\" is not reported on seed %d", c->name, (int)seed);
    emulated_close(&e);
}

static void test_chains(void **unused) {
    (void)unused;
    for (size_t k = 0; k < HPT_COUNT(chains); k++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) test_chain(&chains[k], seed);
}

/* When the host has waited for the stream, nothing runs any more. */
static void test_drained(void **unused) {
    (void)unused;
    emulated e = emulated_open("sm_90a", 1);
    const buffers b = make_buffers(&e);
    assert_int_equal(run_body(&e, &b, FIRST, 1, false), HPT_OK);
    assert_int_equal(emulator->synchronize(e.device, NULL, &e.error), HPT_OK);
    assert_int_equal(run_body(&e, &b, LOOK, 1, true), HPT_OK);
    emulated_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_handovers), cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_drained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
