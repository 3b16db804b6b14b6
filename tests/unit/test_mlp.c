/* The MLP operations: they compile without spills for every setting, and what cannot be is refused with its reason. */
#include "emit/emit.h"
#include "emit_fixture.h"
#include "jit/nvrtc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static hpt_nvrtc *nvrtc;

static hpt_status emit(json_t **files, const fixture *f, hpt_plan_request types, const char *op,
                       const char *target_name, const char *overrides, const char *with, hpt_error *error) {
    hpt_kernel_plan *plan;
    const hpt_target *target;
    *files = NULL;
    assert_int_equal(fixture_plan(&plan, f, types, error), HPT_OK);
    assert_int_equal(hpt_target_find(&target, target_name, error), HPT_OK);
    const hpt_status status = hpt_emit_files_with(files, op, plan, target, overrides, with, error);
    hpt_kernel_plan_destroy(plan);
    return status;
}

static void compile_for(const char *target, const fixture *f, hpt_plan_request types, const char *overrides,
                        const char *with) {
    hpt_error error = {0};
    json_t *files, *content;
    const char *path;
    if (emit(&files, f, types, "mlp", target, overrides, with, &error) != HPT_OK)
        fail_msg("%s: %s", error.where, error.message);
    json_object_foreach(files, path, content) {
        if (!json_is_string(content) || strncmp(path, "finish", 6) == 0) continue;
        hpt_build build = {0};
        if (hpt_nvrtc_compile(&build, nvrtc, json_string_value(content), path, target, NULL, 0, &error) != HPT_OK)
            fail_msg("%s %s (%s): %s", f->name, path, with, error.message);
        hpt_build_read_log(&build);
        if (build.spill_stores || build.spill_loads || hpt_build_serialised(&build) || strstr(build.log, "C75"))
            fail_msg("%s %s (%s): %s", f->name, path, with, build.log);
        hpt_build_clear(&build);
    }
    json_decref(files);
}

static void compile(const fixture *f, hpt_plan_request types, const char *overrides, const char *with) {
    compile_for("sm_90a", f, types, overrides, with);
}

static void test_compile(void **state) {
    (void)state;
    const hpt_type F16 = HPT_TYPE_F16, BF16 = HPT_TYPE_BF16, F32 = HPT_TYPE_F32;
    const hpt_plan_request types[] = {{.x = F16, .y = F16, .c = F16, .forms = F16},
                                      {.x = BF16, .y = BF16, .c = F32, .forms = F16},
                                      {.x = BF16, .y = BF16, .c = BF16, .forms = BF16}};
    compile(&fixture_seven, types[0], "", "");
    compile(&fixture_seven, types[1], "", "activation=geglu,rounding=twice,bias=yes,sums=f32");
    compile(&fixture_eight, types[2], "tile_n=128,stages=5", "activation=relu_squared,sums=bf16");
    compile(&fixture_trivial, types[1], "tile_n=64,cluster=1", "activation=silu,bias=yes");
    compile(&fixture_trivial, types[0], "turned=16,tile_n=128,cluster=1,stages=11", "activation=silu");
    compile(&fixture_trivial, types[0], "turned=192,tile_n=128,cluster=1,stages=5", "activation=swiglu");
    compile(fixture_textbook(3, 3, 3), types[0], "", "activation=geglu_tanh");
    compile(fixture_textbook(4, 4, 4), types[0], "", "sums=f32");
}

static void test_blackwell(void **state) {
    (void)state;
    compile_for("sm_100a", &fixture_seven, (hpt_plan_request){.x = HPT_TYPE_BF16, .y = HPT_TYPE_BF16}, "", "");
    compile_for("sm_100f", &fixture_eight, (hpt_plan_request){0}, "tile_n=128", "activation=geglu,sums=f32,bias=yes");
    compile_for("sm_103a", fixture_textbook(3, 3, 3), (hpt_plan_request){0}, "", "activation=silu");
}

/* The error must say `words`. */
static void refused(const fixture *f, const char *op, const char *target, const char *with, const char *words) {
    hpt_error error = {0};
    json_t *files;
    assert_int_not_equal(emit(&files, f, (hpt_plan_request){0}, op, target, "", with, &error), HPT_OK);
    if (!strstr(error.message, words)) fail_msg("%s: %s", op, error.message);
}

static void test_refusals(void **state) {
    (void)state;
    refused(fixture_textbook(2, 3, 2), "mlp", "sm_90a", "", "n x n x n");
    refused(fixture_textbook(2, 2, 3), "gate_up_swiglu_forms", "sm_90a", "", "n x n x n");
    refused(fixture_textbook(5, 5, 5), "rmsnorm_forms", "sm_90a", "", "4 x 4");
    refused(&fixture_seven, "mlp", "sm_90a", "activation=tanh", "swiglu");
    refused(&fixture_seven, "mlp", "sm_90a", "colour=red", "NAME=VALUE");
    refused(&fixture_seven, "mlps", "sm_90a", "", "mlp");
}

int main(void) {
    hpt_error error = {0};
    if (hpt_nvrtc_open(&nvrtc, &error) != HPT_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile), cmocka_unit_test(test_blackwell),
                                       cmocka_unit_test(test_refusals)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hpt_nvrtc_close(nvrtc);
    return failed;
}
