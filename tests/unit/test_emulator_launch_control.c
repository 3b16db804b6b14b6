/* Cluster launch control: CTAs that run take over those that wait, each index is worked on once, and what may not be
 * asked is found. */
#include "emulator_fixture.h"

/* out[ctaid] += 1; then the next CTA, until a request is refused. */
static const char kernel[] =
    ".version 8.8\n"
    ".target sm_100a\n"
    ".address_size 64\n"
    ".visible .entry k(.param .u64 out)\n"
    ".maxntid 32\n"
    "{\n"
    ".reg .pred %p<8>;\n"
    ".reg .b32 %r<20>;\n"
    ".reg .b64 %rd<8>;\n"
    ".reg .b128 %q<2>;\n"
    ".shared .align 16 .b8 answer[16];\n"
    ".shared .align 8 .b64 bar;\n"
    "mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, bar;\n"
    "mov.u32 %r2, answer;\n"
    "mov.u32 %r9, 0;\n"
    "mov.u32 %r10, %tid.x;\n"
    "setp.ne.u32 %p0, %r10, 0;\n"
    "@%p0 bra END;\n"
    "mbarrier.init.shared::cta.b64 [%r1], 1;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "fence.proxy.async.shared::cta;\n"
    "NEXT:\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;\n"
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r1];\n"
    "ld.param.u64 %rd0, [out];\n"
    "cvta.to.global.u64 %rd0, %rd0;\n"
    "mul.wide.u32 %rd1, %r0, 4;\n"
    "add.s64 %rd0, %rd0, %rd1;\n"
    "red.global.add.u32 [%rd0], 1;\n"
    "WAIT:\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r9;\n"
    "@!%p1 bra WAIT;\n"
    "xor.b32 %r9, %r9, 1;\n"
    "ld.shared.b128 %q0, [%r2];\n"
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n"
    "@!%p2 bra END;\n"
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r5, %r6, _}, %q0;\n"
    "fence.proxy.async.shared::cta;\n"
    "bra NEXT;\n"
    "END:\n"
    "ret;\n"
    "}\n";

enum { CTAS = 13 };

static void run(const char *text, uint64_t seed, int sms, uint32_t out[CTAS], emulated *e) {
    *e = emulated_open("sm_100a", seed);
    hpt_emu_options options;
    hpt_emu_get_options(e->device, &options);
    options.sms = sms;
    hpt_emu_set_options(e->device, &options);
    emulated_load(e, text);
    memset(out, 0, CTAS * sizeof *out);
    hpt_device_ptr at = emulated_upload(e, out, CTAS * sizeof *out);
    const void *arguments[] = {&at};
    hpt_launch launch = {.grid = {CTAS, 1, 1},
                         .block = {32, 1, 1},
                         .cluster = {1, 1, 1},
                         .shared_bytes = 200 * 1024, /* one at a time on a multiprocessor */
                         .arguments = arguments,
                         .argument_count = 1};
    hpt_status status = emulated_launch(e, &launch, false);
    assert_int_equal(status == HPT_OK, hpt_emu_finding_count(e->device) == 0);
    assert_int_equal(emulator->download(e->device, out, at, CTAS * sizeof *out, &e->error), HPT_OK);
}

static void test_takes_over(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int sms = 1; sms <= 4; sms += 3) {
            uint32_t out[CTAS];
            emulated e;
            run(kernel, seed, sms, out, &e);
            assert_int_equal(hpt_emu_finding_count(e.device), 0);
            for (int i = 0; i < CTAS; i++) assert_int_equal(out[i], 1);
            emulated_close(&e);
        }
}

static char *with(const char *old, const char *new) {
    char *text = malloc(sizeof kernel + strlen(new));
    const char *at = strstr(kernel, old);
    assert_non_null(text);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - kernel), kernel, new, at + strlen(old));
    return text;
}

static void test_misuse(void **state) {
    (void)state;
    static const struct {
        const char *old, *new;
        hpt_emu_fault fault;
    } changes[] = {
        {"@!%p2 bra END;",
         "@!%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r1];\n"
         "@!%p2 bra END;",
         HPT_EMU_OPERAND}, /* asks again */
        {"@!%p2 bra END;",
         "@!%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %q0;\n@!%p2 bra END;",
         HPT_EMU_OPERAND}, /* asks a refusal for its CTA */
        {"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r9;", "setp.eq.u32 %p1, 0, 0;", HPT_EMU_RACE},
    };
    for (size_t i = 0; i < HPT_COUNT(changes); i++) {
        uint32_t out[CTAS];
        emulated e;
        char *text = with(changes[i].old, changes[i].new);
        run(text, 3, 1, out, &e);
        assert_true(emulated_found(&e, changes[i].fault));
        emulated_close(&e);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_takes_over), cmocka_unit_test(test_misuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
