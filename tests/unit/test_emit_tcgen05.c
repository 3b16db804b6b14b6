/* The Blackwell product kernel as text: accumulators, tables, refusals. What it computes is for the emulated tests. */
#include "emit/emit.h"
#include "emit_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The fixture's chains dealt to two accumulators: the longest chain takes every other place, the rest follow one
 * another in between. `order` gives products (from 1) as the fixture's chains name them. */
typedef struct dealt {
    const fixture *f;
    int order[16], accumulator[16];
} dealt;
static const dealt deals[] = {
    {&fixture_trivial, {1}, {0}},
    {&fixture_strassen, {1, 2, 3, 4, 5, 6, 7}, {0, 1, 0, 1, 0, 1, 0}},
    {&fixture_seven, {4, 1, 5, 6, 3, 7, 2}, {0, 1, 0, 1, 0, 1, 0}},
    {&fixture_eight, {1, 3, 2, 4, 5, 7, 6, 8}, {0, 1, 0, 1, 0, 1, 0, 1}},
};

static hpt_schedule *deal(hpt_arena *arena, const dealt *d) {
    hpt_schedule *schedule = fixture_schedule(arena, d->f);
    hpt_step *steps = hpt_arena_alloc(arena, (size_t)d->f->rank, sizeof *steps);
    bool touched[16] = {false};
    for (int t = 0; t < d->f->rank; t++) {
        for (int i = 0; i < d->f->rank; i++)
            if (schedule->steps[i].product == d->order[t] - 1) steps[t] = schedule->steps[i];
        steps[t].accumulator = d->accumulator[t];
        hpt_write *writes = (hpt_write *)(uintptr_t)steps[t].writes;
        for (int i = 0; i < steps[t].write_count; i++) {
            writes[i].first = !touched[writes[i].c];
            touched[writes[i].c] = true;
        }
    }
    schedule->steps = steps;
    schedule->accumulators = 2;
    schedule->alternates = true;
    return schedule;
}

static hpt_status files_of(json_t **files, const dealt *d, hpt_type c, const char *target_name, const char *overrides,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_arena *arena = hpt_arena_create();
    const hpt_target *target;
    hpt_kernel_plan *plan = NULL;
    hpt_plan_request request = {.c = c, .name = d->f->name};
    hpt_row *u = hpt_arena_alloc(arena, (size_t)d->f->rank, sizeof *u);
    hpt_row *v = hpt_arena_alloc(arena, (size_t)d->f->rank, sizeof *v);
    for (int r = 0; r < d->f->rank; r++) {
        u[r] = fixture_row(arena, d->f->u + r * d->f->n * d->f->m, d->f->n * d->f->m);
        v[r] = fixture_row(arena, d->f->v + r * d->f->m * d->f->p, d->f->m * d->f->p);
    }
    request.u = u, request.v = v, request.schedule = deal(arena, d);
    *files = NULL;
    HPT_TRY(hpt_kernel_plan_make(&plan, &request, error));
    HPT_TRY(hpt_target_find(&target, target_name, error));
    HPT_TRY(hpt_emit_files(files, "gemm", plan, target, overrides, error));
done:
    hpt_kernel_plan_destroy(plan);
    hpt_arena_destroy(arena);
    return status;
}

static void keep(const json_t *files, const char *name) { /* for a look: HEPTANE_TEST_OUT=folder */
    const char *folder = getenv("HEPTANE_TEST_OUT"), *path;
    json_t *content;
    if (!folder) return;
    json_object_foreach((json_t *)(uintptr_t)files, path, content) {
        char full[512];
        snprintf(full, sizeof full, "%s/%s/%s", folder, name, path);
        char *slash = strrchr(full, '/');
        *slash = 0;
        hpt_folder_create(full, NULL);
        *slash = '/';
        if (json_is_string(content))
            hpt_file_write(full, json_string_value(content), json_string_length(content), NULL);
        else
            json_dump_file(content, full, JSON_INDENT(1) | JSON_SORT_KEYS);
    }
}

static void test_kernels(void **state) {
    (void)state;
    static const char *const targets[] = {"sm_100a", "sm_100f", "sm_103a"};
    for (size_t i = 0; i < HPT_COUNT(deals); i++)
        for (size_t t = 0; t < HPT_COUNT(targets); t++)
            for (int c = HPT_TYPE_F16; c <= HPT_TYPE_F32; c++) {
                hpt_error error = {0};
                json_t *files;
                char name[64];
                if (files_of(&files, &deals[i], (hpt_type)c, targets[t], "", &error) != HPT_OK)
                    fail_msg("%s: %s", error.where, error.message);
                const char *text = json_string_value(json_object_get(files, "gemm/kernel.cu"));
                const json_t *manifest = json_object_get(files, "gemm/manifest.json");
                assert_non_null(text);
                assert_non_null(strstr(text, "tcgen05.mma.cta_group::2"));
                assert_null(strstr(text, "wgmma"));
                assert_string_equal(json_string_value(json_object_get(manifest, "target")), targets[t]);
                assert_int_equal(json_integer_value(json_array_get(
                                     json_object_get(json_object_get(manifest, "launch"), "cluster"), 0)),
                                 2);
                snprintf(name, sizeof name, "%s.%s.%s", deals[i].f->name, targets[t], hpt_type_name((hpt_type)c));
                keep(files, name);
                json_decref(files);
            }
}

static void test_refusals(void **state) {
    (void)state;
    hpt_error error = {0};
    json_t *files;
    assert_int_equal(files_of(&files, &deals[2], HPT_TYPE_F16, "sm_100a", "stages=7", &error), HPT_USAGE);
    assert_non_null(strstr(error.message, "bytes of shared memory"));
    assert_int_equal(files_of(&files, &deals[2], HPT_TYPE_F16, "sm_100a", "tile_n=96", &error), HPT_USAGE);
    assert_int_equal(files_of(&files, &deals[2], HPT_TYPE_F16, "sm_100", "", &error), HPT_USAGE);
    assert_int_not_equal(files_of(&files, &deals[2], HPT_TYPE_F16, "sm_90a", "", &error), HPT_OK);
    assert_non_null(strstr(error.message, "accumulators"));
    assert_int_equal(files_of(&files, &deals[2], HPT_TYPE_F16, "sm_100a", "tile_n=128,stages=8", &error), HPT_OK);
    json_decref(files);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
