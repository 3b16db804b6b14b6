/* What `heptane tune` remembers. */
#include "launch/launch.h"
#include "tune/tuned.h"
#include "tune/width.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_class(void **state) {
    (void)state;
    assert_int_equal(hpt_tuned_class(1), 1);
    assert_int_equal(hpt_tuned_class(2), 2);
    assert_int_equal(hpt_tuned_class(3), 3);
    assert_int_equal(hpt_tuned_class(5), 6);
    assert_int_equal(hpt_tuned_class(7), 8);
    assert_int_equal(hpt_tuned_class(16), 16);
    assert_int_equal(hpt_tuned_class(17), 32);
    assert_int_equal(hpt_tuned_class(129), 144);
    assert_int_equal(hpt_tuned_class(193), 208);
    assert_int_equal(hpt_tuned_class(257), 288);
    assert_int_equal(hpt_tuned_class(2049), 3072);
    for (int64_t m = 32; m <= 2048; m *= 2) { /* the older classes are still some */
        assert_int_equal(hpt_tuned_class(m), m);
        assert_true(m == 2048 || hpt_tuned_class(m / 2 * 3) == m / 2 * 3);
    }
    assert_int_equal(hpt_tuned_class(4096), 4096);
    assert_int_equal(hpt_tuned_class(4097), 6144);
    assert_true(hpt_tuned_class(INT64_MAX) > 0);
    int classes = 0;
    for (int64_t m = 0; m < 16384; classes++) m = hpt_tuned_class(m + 1);
    assert_int_equal(classes, 77); /* what `heptane tune --op mlp` says and takes by default */
}

/* Of all widths the one with the fewest rows; every number of rows up to these has the same. */
static void test_width(void **state) {
    (void)state;
    char plan[64];
    for (int64_t m = 1; m <= HPT_WIDTH_ROWS; m++) {
        const int64_t width = hpt_width(m), rows = hpt_width_rows(m), fewest = (m + 255) / 256;
        assert_true(width % 16 == 0 && width <= 256 && rows % width == 0 && rows >= m && rows <= HPT_WIDTH_ROWS);
        for (int64_t w = 16; w <= 256; w += 16) {
            const int64_t tiles = (m + w - 1) / w;
            if (tiles == fewest || w >= 160)
                assert_true(rows < tiles * w || (rows == tiles * w && rows / width <= tiles));
        }
        for (int64_t more = m; more <= rows; more++)
            assert_true(hpt_width(more) == width && hpt_width_rows(more) == rows);
    }
    assert_int_equal(hpt_width(100000), 256);
    hpt_width_fill(plan, sizeof plan, "turned=*,tile_n=128", 300);
    assert_string_equal(plan, "turned=160,tile_n=128");
    hpt_width_fill(plan, sizeof plan, "group=4", 300);
    assert_string_equal(plan, "group=4");
}

static void test_choices(void **state) {
    (void)state;
    char folder[] = "/tmp/heptane-tuned-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    hpt_cache *cache = hpt_cache_open(folder);
    hpt_tuned_key key = {.device = "NVIDIA H200",
                         .target = "sm_90a",
                         .op = "gemm",
                         .types = "f16 f16 f16 f16 NT",
                         .driver = 13000,
                         .m = 4000,
                         .n = 4096,
                         .k = 512};
    hpt_tuned_choice choice = {.scheme = "seven-write",
                               .plan = "group=4",
                               .settings = "cut=0",
                               .unchained = true,
                               .ms = 1.5,
                               .trivial_ms = 1.75},
                     got;
    assert_false(hpt_tuned_find(&got, cache, &key)); /* no file is no error */
    assert_int_equal(hpt_tuned_store(cache, &key, &choice, NULL), HPT_OK);
    assert_true(hpt_tuned_find(&got, cache, &key));
    assert_string_equal(got.scheme, "seven-write");
    assert_string_equal(got.plan, "group=4");
    assert_string_equal(got.settings, "cut=0");
    assert_true(got.unchained && got.ms == 1.5 && got.trivial_ms == 1.75);
    key.m = 4096; /* the same class */
    assert_true(hpt_tuned_find(&got, cache, &key));
    key.m = 4097;
    assert_false(hpt_tuned_find(&got, cache, &key));
    strcpy(choice.scheme, "trivial");
    assert_int_equal(hpt_tuned_store(cache, &key, &choice, NULL), HPT_OK);
    assert_true(hpt_tuned_find(&got, cache, &key));
    assert_string_equal(got.scheme, "trivial");
    key.m = 4096;
    assert_true(hpt_tuned_find(&got, cache, &key)); /* the other stays */
    assert_string_equal(got.scheme, "seven-write");
    key.driver = 13010;
    assert_false(hpt_tuned_find(&got, cache, &key));
    hpt_error error = {0};
    snprintf(path, sizeof path, "%s/tuned.json", folder);
    assert_int_equal(hpt_file_write(path, "{\"format\": 5", 12, NULL),
                     HPT_OK); /* damaged: ignored, but never replaced */
    assert_false(hpt_tuned_find(&got, cache, &key));
    assert_int_equal(hpt_tuned_store(cache, &key, &choice, &error), HPT_MALFORMED);
    assert_non_null(strstr(error.where, "tuned.json"));
    assert_int_equal(hpt_tuned_ready(cache, &error), HPT_MALFORMED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(hpt_tuned_ready(cache, NULL), HPT_OK);
    assert_int_equal(hpt_tuned_store(cache, &key, &choice, NULL), HPT_OK);
    assert_true(hpt_tuned_find(&got, cache, &key));
    hpt_cache_close(cache);
    cache = hpt_cache_open("off");
    assert_false(hpt_tuned_find(&got, cache, &key));
    assert_int_equal(hpt_tuned_store(cache, &key, &choice, &error), HPT_IO);
    assert_int_equal(hpt_tuned_ready(cache, &error), HPT_IO);
    hpt_cache_close(cache);
}

/* Sums that were asked for are another key, the same in all else; without them the key is as it always was. */
static void test_types(void **state) {
    (void)state;
    const hpt_op_info info = {.type_x = "bf16", .type_y = "bf16", .type_c = "bf16", .type_forms = "f16"};
    char types[64];
    hpt_tuned_types(types, sizeof types, &info, "NT", NULL);
    assert_string_equal(types, "bf16 bf16 bf16 f16 NT");
    hpt_tuned_types(types, sizeof types, &info, "NT", "f32");
    assert_string_equal(types, "bf16 bf16 bf16 f16 NT sums f32");
    hpt_tuned_types(types, sizeof types, &info, "relu_squared gate_up bf16", "bf16"); /* the longest */
    assert_string_equal(types, "bf16 bf16 bf16 f16 relu_squared gate_up bf16 sums bf16");
}

/* What is taken by default for each number of rows on Hopper: tiles, and that it holds up to choice.rows. */
static void check_defaults(hpt_context *context, int64_t inner) {
    static const struct {
        int64_t rows, outputs;
        const char *scheme, *plan;
    } want[] = {{256, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=1"},
                {480, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {512, 8000000, "trivial", "tile_n=128,cluster=1"},
                {512, INT64_MAX, "trivial", ""},
                {720, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {768, INT64_MAX, "trivial", ""},
                {960, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {1024, INT64_MAX, "trivial", ""},
                {1200, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {1280, INT64_MAX, "trivial", ""},
                {1440, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {1536, INT64_MAX, "trivial", ""},
                {1728, INT64_MAX, "trivial", "turned=*,tile_n=128,cluster=2"},
                {1792, INT64_MAX, "trivial", "turned=224,tile_n=128,cluster=2"},
                {2048, 33000000, "trivial", ""},
                {INT64_MAX, INT64_MAX, "seven-write", ""}};
    const char *types = "f16 f16 f16 f16 swiglu";
    hpt_choice got, before = {.rows = 0};
    for (int64_t m = 1; m <= 4096; m++) {
        char plan[64];
        size_t i = 0;
        while (m > want[i].rows || m * inner > want[i].outputs) i++;
        hpt_width_fill(plan, sizeof plan, want[i].plan, m);
        assert_int_equal(hpt_choose(&got, context, "mlp", types, m, inner, 576, NULL), HPT_OK);
        if (strcmp(got.scheme, want[i].scheme) != 0 || strcmp(got.plan, plan) != 0)
            fail_msg("%lld x %lld: %s \"%s\"", (long long)m, (long long)inner, got.scheme, got.plan);
        assert_true(got.rows >= m);
        if (m <= before.rows) assert_memory_equal(&got, &before, sizeof got);
        before = got;
    }
}

/* What was tuned on this device goes before the defaults, for its class of sizes alone. */
static void test_choose(void **state) {
    (void)state;
    char folder[] = "/tmp/heptane-tuned-XXXXXX";
    const char *types = "f16 f16 f16 f16 swiglu";
    hpt_context *context;
    hpt_choice got;
    hpt_tuned_key key;
    hpt_tuned_choice choice = {.scheme = "strassen", .plan = "group=4", .settings = "cut=0", .unchained = true};
    assert_non_null(mkdtemp(folder));
    setenv("HEPTANE_CACHE", folder, 1);
    assert_int_equal(hpt_context_open(&context, "emulator", 0, "sm_90a", NULL), HPT_OK);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 5, 1536, 576, NULL), HPT_OK);
    assert_true(!got.tuned && got.rows == 6 && strcmp(got.scheme, "trivial") == 0);
    assert_string_equal(got.plan, "turned=16,tile_n=128,cluster=1");
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 100000, 1536, 576, NULL), HPT_OK);
    assert_true(strcmp(got.scheme, "seven-write") == 0 && !got.plan[0]);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 2048, 1536, 576, NULL), HPT_OK);
    assert_true(strcmp(got.scheme, "trivial") == 0 && !got.plan[0]);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 2049, 1536, 576, NULL), HPT_OK);
    assert_string_equal(got.scheme, "seven-write");
    check_defaults(context, 1536);
    check_defaults(context, 17408);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 1895, 17408, 5120, NULL), HPT_OK);
    assert_true(strcmp(got.scheme, "trivial") == 0 && got.rows == 1895); /* up to 33 million elements */
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 1896, 17408, 5120, NULL), HPT_OK);
    assert_true(strcmp(got.scheme, "seven-write") == 0 && got.rows == 1920);
    assert_int_equal(hpt_tuned_key_make(&key, context, "mlp", types, 5, 1536, 576, NULL), HPT_OK);
    assert_int_equal(hpt_tuned_store(context->cache, &key, &choice, NULL), HPT_OK);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 6, 1536, 576, NULL), HPT_OK);
    assert_true(got.tuned && got.unchained && got.rows == 6 && strcmp(got.scheme, "strassen") == 0);
    assert_true(strcmp(got.plan, "group=4") == 0 && strcmp(got.settings, "cut=0") == 0);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 7, 1536, 576, NULL), HPT_OK);
    assert_false(got.tuned);
    hpt_error error = {0};
    /* of a product, the size of C decides */
    assert_int_equal(hpt_choose(&got, context, "gemm", types, 2048, 5120, 17408, NULL), HPT_OK);
    assert_string_equal(got.scheme, "trivial");
    assert_int_equal(hpt_choose(&got, context, "gemm", types, 2048, 34816, 5120, NULL), HPT_OK);
    assert_string_equal(got.scheme, "seven-write");
    assert_int_equal(hpt_choose(&got, context, "forms_x", types, 7, 1536, 576, &error), HPT_UNSUPPORTED);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 0, 1536, 576, &error), HPT_USAGE);
    hpt_context_close(context);
    assert_int_equal(hpt_context_open(&context, "emulator", 0, "sm_100a", NULL), HPT_OK);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 5, 1536, 576, NULL), HPT_OK);
    assert_true(!got.tuned && strcmp(got.scheme, "trivial") == 0 && !got.plan[0]);
    assert_int_equal(hpt_choose(&got, context, "mlp", types, 2048, 1536, 576, NULL), HPT_OK);
    assert_string_equal(got.scheme, "seven-write");
    hpt_context_close(context);
}

/* Tuning starts from the defaults: what is taken without it for so many tokens is among the plans that it tries for
 * them. */
static void test_defaults_are_tried(void **state) {
    (void)state;
    static const struct {
        const char *op, *target;
        int64_t rows;
        const char *scheme, *plan;
    } defaults[] = {
#define CHOICE(op, target, rows, widest, outputs, scheme, plan) {op, target, rows, scheme, plan},
#include "tune/choices.def"
#undef CHOICE
    };
    static const struct {
        const char *target;
        int64_t least, most;
        const char *scheme, *plan;
    } tried[] = {
#define MLP_PLAN(target, least, most, scheme, plan) {target, least, most, scheme, plan},
#include "cli/mlp_plans.def"
#undef MLP_PLAN
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        bool found = strcmp(defaults[i].op, "mlp") != 0;
        for (size_t j = 0; j < sizeof tried / sizeof *tried; j++)
            found |= (!tried[j].target[0] || strcmp(tried[j].target, defaults[i].target) == 0) &&
                     tried[j].least <= defaults[i].rows && defaults[i].rows <= tried[j].most &&
                     (!tried[j].scheme[0] || strcmp(tried[j].scheme, defaults[i].scheme) == 0) &&
                     strcmp(tried[j].plan, defaults[i].plan) == 0;
        if (!found)
            fail_msg("%s %s, %lld rows: \"%s\"", defaults[i].op, defaults[i].target, (long long)defaults[i].rows,
                     defaults[i].plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_class),   cmocka_unit_test(test_width),
                                       cmocka_unit_test(test_choices), cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_choose),  cmocka_unit_test(test_defaults_are_tried)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
