/* NVRTC: skipped where there is none. */
#include "jit/nvrtc.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static hpt_nvrtc *nvrtc;

static void test_compile(void **state) {
    (void)state;
    hpt_build build = {0};
    hpt_error error = {0};
    static const char *const options[] = {"--std=c++17", "-default-device"};
    const char *source = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";
    hpt_status status = hpt_nvrtc_compile(&build, nvrtc, source, "twice", "sm_90a", options, 2, &error);
    if (status != HPT_OK) fail_msg("%s", error.message);
    assert_memory_equal(build.cubin,
                        "\x7f"
                        "ELF",
                        4);
    assert_non_null(strstr(build.ptx, ".entry twice"));
    assert_int_equal(strlen(build.ptx), build.ptx_length);
    assert_true(hpt_ptx_version(build.ptx) >= 80);
    assert_true(build.registers > 0);
    assert_int_equal(build.spill_stores + build.spill_loads, 0);
    hpt_build again = {0};
    assert_int_equal(hpt_nvrtc_compile(&again, nvrtc, source, "twice", "sm_90a", options, 2, &error), HPT_OK);
    assert_int_equal(again.cubin_length, build.cubin_length);
    assert_memory_equal(again.cubin, build.cubin, build.cubin_length); /* deterministic */
    hpt_build_clear(&again);
    hpt_build_clear(&build);
}

static void test_errors(void **state) {
    (void)state;
    hpt_build build = {0};
    hpt_error error = {0};
    static const char *const bad[] = {"--std=c++17", "--no-such-option"};
    const char *source = "extern \"C\" __global__ void f() { undeclared(); }\n";
    assert_int_equal(hpt_nvrtc_compile(&build, nvrtc, source, "f", "sm_90a", bad, 2, &error), HPT_COMPILE);
    assert_non_null(strstr(error.message, "\"--no-such-option\""));
    assert_int_equal(hpt_nvrtc_compile(&build, nvrtc, source, "f", "sm_90a", bad, 1, &error), HPT_COMPILE);
    assert_non_null(strstr(error.message, "undeclared"));
    assert_int_equal(hpt_nvrtc_compile(&build, nvrtc, "", "f", "sm_1", bad, 1, &error), HPT_COMPILE);
    assert_non_null(strstr(error.message, "sm_1"));
}

static void test_missing(void **state) {
    (void)state;
    hpt_nvrtc *none = NULL;
    hpt_error error = {0};
    setenv("HEPTANE_NVRTC", "/nonexistent/libnvrtc.so", 1);
    assert_int_equal(hpt_nvrtc_open(&none, &error), HPT_NO_NVRTC);
    assert_non_null(strstr(error.message, "/nonexistent/libnvrtc.so"));
    setenv("HEPTANE_NVRTC", "/tmp", 1); /* a folder without it */
    assert_int_equal(hpt_nvrtc_open(&none, &error), HPT_NO_NVRTC);
    setenv("HEPTANE_NVRTC", SOURCE_DIR "/CMakeLists.txt", 1); /* not a library */
    assert_int_equal(hpt_nvrtc_open(&none, &error), HPT_NO_NVRTC);
    unsetenv("HEPTANE_NVRTC");
}

int main(void) {
    hpt_error error = {0};
    if (hpt_nvrtc_open(&nvrtc, &error) != HPT_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_missing)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hpt_nvrtc_close(nvrtc);
    return failed;
}
