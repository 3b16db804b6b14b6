#include "emit/emit.h"
#include "emit_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static json_t *files_of(const fixture *f, hpt_plan_request types, const char *overrides) {
    hpt_error error = {0};
    hpt_kernel_plan *plan;
    const hpt_target *target;
    json_t *files = NULL;
    assert_int_equal(fixture_plan(&plan, f, types, &error), HPT_OK);
    assert_int_equal(hpt_target_find(&target, "sm_90a", &error), HPT_OK);
    if (hpt_emit_files(&files, "gemm", plan, target, overrides, &error) != HPT_OK)
        fail_msg("%s: %s", error.where, error.message);
    hpt_kernel_plan_destroy(plan);
    return files;
}

static void test_fixtures_are_schemes(void **state) {
    (void)state;
    for (size_t i = 0; i < HPT_COUNT(fixtures); i++) assert_int_equal(fixture_failing(fixtures[i]), 0);
}

static void test_emits(void **state) {
    (void)state;
    const char *folder = getenv("HEPTANE_TEST_OUT");
    for (size_t i = 0; i < HPT_COUNT(fixtures); i++) {
        json_t *files = files_of(fixtures[i], (hpt_plan_request){0}, ""), *content;
        const char *path;
        json_object_foreach(files, path, content) {
            if (!folder) continue;
            char full[512];
            snprintf(full, sizeof full, "%s/%s/%s", folder, fixtures[i]->name, path);
            *strrchr(full, '/') = 0;
            hpt_folder_create(full, NULL);
            snprintf(full, sizeof full, "%s/%s/%s", folder, fixtures[i]->name, path);
            if (json_is_string(content)) {
                hpt_file_write(full, json_string_value(content), json_string_length(content), NULL);
            } else {
                json_dump_file(content, full, JSON_INDENT(1) | JSON_SORT_KEYS);
            }
        }
        assert_true(json_is_string(json_object_get(files, "gemm/kernel.cu")));
        json_decref(files);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixtures_are_schemes), cmocka_unit_test(test_emits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
