/* Every emitted kernel compiles for its target without spills and without serialised wgmma instructions. */
#include "emit/emit.h"
#include "emit_fixture.h"
#include "jit/nvrtc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static hpt_nvrtc *nvrtc;

/* setmaxnreg moves registers that the CTA has: asking for more than it was launched with waits for ever. Three
 * warpgroups, the first gives, the other two take. */
static void check_registers(const char *source, int64_t launched) {
    const char *few = strstr(source, "setmaxnreg.dec.sync.aligned.u32 "),
               *many = strstr(source, "setmaxnreg.inc.sync.aligned.u32 ");
    if (!few && !many) return;
    assert_true(few && many);
    assert_true(atoi(few + 32) + 2 * atoi(many + 32) <= 3 * launched);
}

static void compile_all(const fixture *f, hpt_plan_request types, const char *overrides, const char *target_name) {
    hpt_error error = {0};
    hpt_kernel_plan *plan;
    const hpt_target *target;
    json_t *files = NULL, *content;
    const char *path;
    assert_int_equal(fixture_plan(&plan, f, types, &error), HPT_OK);
    assert_int_equal(hpt_target_find(&target, target_name, &error), HPT_OK);
    if (hpt_emit_files(&files, "gemm", plan, target, overrides, &error) != HPT_OK)
        fail_msg("%s: %s", error.where, error.message);
    json_object_foreach(files, path, content) {
        if (!json_is_string(content)) continue;
        hpt_build build = {0};
        if (hpt_nvrtc_compile(&build, nvrtc, json_string_value(content), path, target_name, NULL, 0, &error) != HPT_OK)
            fail_msg("%s %s: %s", f->name, path, error.message);
        hpt_build_read_log(&build);
        if (build.spill_stores || build.spill_loads || hpt_build_serialised(&build) || strstr(build.log, "C75"))
            fail_msg("%s %s (%s): %s", f->name, path, overrides, build.log);
        assert_true(build.registers > 0);
        check_registers(json_string_value(content), build.registers);
        hpt_build_clear(&build);
    }
    json_decref(files);
    hpt_kernel_plan_destroy(plan);
}

static void test_types(void **state) {
    (void)state;
    const hpt_type F16 = HPT_TYPE_F16, BF16 = HPT_TYPE_BF16, F32 = HPT_TYPE_F32;
    const hpt_plan_request types[] = {
        {.x = F16, .y = F16, .c = F16, .forms = F16},
        {.x = BF16, .y = BF16, .c = F32, .forms = F16},
        {.x = BF16, .y = BF16, .c = BF16, .forms = BF16, .x_transposed = true, .y_untransposed = true}};
    for (size_t i = 0; i < HPT_COUNT(types); i++) compile_all(fixtures[(i + 2) % 4], types[i], "", "sm_90a");
}

static void test_overrides(void **state) {
    (void)state;
    compile_all(&fixture_trivial, (hpt_plan_request){0}, "cluster=1", "sm_90a");
    compile_all(&fixture_seven, (hpt_plan_request){.c = HPT_TYPE_F32}, "tile_n=128,stages=5", "sm_90a");
    compile_all(&fixture_strassen, (hpt_plan_request){0}, "tile_n=64,cluster=1,group=3", "sm_90a");
}

static void test_large(void **state) { /* tables and loops, both in constant and in ordinary memory */
    (void)state;
    const fixture *four = fixture_textbook(6, 6, 6);
    compile_all(four, (hpt_plan_request){0}, "", "sm_90a");
    compile_all(four, (hpt_plan_request){.x_transposed = true}, "", "sm_90a");
}

static void test_blackwell(void **state) {
    (void)state;
    compile_all(&fixture_seven, (hpt_plan_request){0}, "", "sm_100a");
    compile_all(&fixture_eight, (hpt_plan_request){.c = HPT_TYPE_F32, .forms = HPT_TYPE_BF16}, "tile_n=64,stages=8",
                "sm_100f");
    compile_all(fixture_textbook(6, 6, 6), (hpt_plan_request){.c = HPT_TYPE_BF16}, "tile_n=128", "sm_103a");
}

static void test_sums(void **state) { /* of another type than C: delivered by the product, or by the finishing pass */
    (void)state;
    const hpt_type F16 = HPT_TYPE_F16, BF16 = HPT_TYPE_BF16, F32 = HPT_TYPE_F32;
    const hpt_plan_request delivered = {.x = BF16, .y = BF16, .c = BF16, .sums = &F16};
    compile_all(&fixture_seven, delivered, "deliver=1", "sm_90a");
    compile_all(fixture_textbook(6, 6, 6), delivered, "tile_n=128,cluster=1,stages=5,deliver=1", "sm_90a");
    compile_all(&fixture_seven, delivered, "", "sm_90a");
    compile_all(&fixture_strassen, (hpt_plan_request){.c = BF16, .sums = &F32}, "", "sm_90a");
    compile_all(&fixture_strassen, delivered, "deliver=1", "sm_100a");
}

int main(void) {
    hpt_error error = {0};
    if (hpt_nvrtc_open(&nvrtc, &error) != HPT_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_overrides),
                                       cmocka_unit_test(test_large), cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_blackwell)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hpt_nvrtc_close(nvrtc);
    return failed;
}
