/* Reading operation folders and turning a call into launches, with a backend that records what it is asked to do. */
#include "launch/launch.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the recording backend ---- */
enum { MOST = 8 };
static struct {
    int launches, encodes, loads, unloads;
    hpt_launch launch[MOST];
    unsigned char argument[MOST][8][128];
    hpt_tensor_map map[MOST];
    int clusters;
    uint32_t asked_cluster;
} seen;

static hpt_status fake_load(hpt_backend_device *device, hpt_backend_module **out, const void *image, size_t length,
                            const char *symbol, hpt_error *error) {
    (void)device, (void)image, (void)symbol, (void)error;
    assert_true(length > 0);
    seen.loads++;
    *out = malloc(1);
    return HPT_OK;
}
static void fake_unload(hpt_backend_module *module) {
    seen.unloads++;
    free(module);
}
static hpt_status fake_encode(hpt_backend_device *device, void *out128, const hpt_tensor_map *map, hpt_error *error) {
    (void)device, (void)error;
    memset(out128, 0xab, 128);
    seen.map[seen.encodes++] = *map;
    return HPT_OK;
}
static hpt_status fake_clusters(hpt_backend_module *module, const hpt_launch *launch, int *out, hpt_error *error) {
    (void)module, (void)error;
    seen.asked_cluster = launch->cluster[0];
    *out = seen.clusters;
    return HPT_OK;
}
static hpt_status fake_launch(hpt_backend_module *module, const hpt_launch *launch, hpt_stream stream,
                              hpt_error *error) {
    (void)module, (void)stream, (void)error;
    for (size_t i = 0; i < launch->argument_count; i++)
        memcpy(seen.argument[seen.launches][i], launch->arguments[i], launch->argument_size[i]);
    seen.launch[seen.launches++] = *launch;
    return HPT_OK;
}
static const hpt_backend fake = {.name = "fake",
                                 .wants_ptx = true,
                                 .load = fake_load,
                                 .unload = fake_unload,
                                 .encode = fake_encode,
                                 .max_clusters = fake_clusters,
                                 .launch = fake_launch};

/* ---- folders ---- */
static char folder[64];
static hpt_context context;

static const char op_json[] =
    "{\"format\":\"heptane-op/"
    "1\",\"op\":\"gemm\",\"scheme\":{\"name\":\"s\",\"hash\":\"h\",\"n\":2,\"m\":2,\"p\":2,\"rank\":7,"
    "\"writes\":7},\"target\":\"sm_90a\",\"types\":{\"x\":\"f16\",\"y\":\"f16\",\"c\":\"f16\",\"forms\":\"f16\"},"
    "\"options\":{\"trans_y\":true},"
    "\"params\":[{\"name\":\"m\",\"help\":\"rows\",\"min\":1},{\"name\":\"n\",\"min\":1,\"default\":\"m * 2\"},"
    "{\"name\":\"ldc\",\"default\":\"n\"}],"
    "\"scalars\":[{\"name\":\"alpha\",\"default\":1},{\"name\":\"beta\",\"default\":0}],"
    "\"let\":[[\"direct\",\"one_alpha && zero_beta\"],[\"aligned\",\"align_c % 16 == 0\"]],"
    "\"require\":[{\"that\":\"ldc >= n\",\"message\":\"C: ldc is smaller than a row.\"},"
    "{\"that\":\"n % 2 == 0\",\"message\":\"N must be even.\"}],"
    "\"buffers\":[{\"name\":\"x\",\"role\":\"input\",\"type\":\"f16\",\"bytes\":\"2 * m\"},"
    "{\"name\":\"c\",\"role\":\"output\",\"type\":\"f16\",\"bytes\":\"2 * m * ldc\"},"
    "{\"name\":\"bias\",\"role\":\"input\",\"type\":\"f16\",\"bytes\":\"2 * n\",\"optional\":1},"
    "{\"name\":\"ws\",\"role\":\"workspace\",\"type\":\"u32\",\"bytes\":\"direct ? 0 : 4 * m\",\"zero\":true}],"
    "\"steps\":[{\"package\":\"p\",\"phase\":\"prepare\",\"bind\":{\"rows\":1,\"in\":\"x\",\"out\":\"ws\",\"scale\":0."
    "5}},"
    "{\"package\":\"p\",\"phase\":\"run\",\"when\":\"direct\",\"bind\":{\"rows\":\"m\",\"in\":\"x\",\"out\":\"c\","
    "\"scale\":"
    "\"alpha\"}},"
    "{\"package\":\"p\",\"phase\":\"run\",\"when\":\"!direct\",\"bind\":{\"rows\":\"m + aligned + "
    "has_bias\",\"in\":\"x\","
    "\"out\":\"ws\",\"scale\":\"alpha\"}}],"
    "\"numerics\":{\"bound\":1e-3,\"growth\":12}}";
static const char manifest_json[] =
    "{\"format\":\"heptane-package/"
    "1\",\"kernel\":\"k\",\"symbol\":\"k\",\"scheme\":\"s\",\"scheme_hash\":\"h\",\"target\":"
    "\"sm_90a\",\"features\":[],\"nvrtc\":[],\"params\":[\"rows\"],\"buffers\":[{\"name\":\"in\",\"type\":\"f16\","
    "\"role\":\"in\"},"
    "{\"name\":\"out\",\"type\":\"f16\",\"role\":\"out\"}],\"scalars\":[{\"name\":\"scale\",\"type\":\"f32\"}],"
    "\"let\":[[\"tiles\",\"ceil_div(rows, 128)\"],[\"grid_x\",\"2 * min(tiles, max_clusters)\"],[\"wide\",\"2\"]],"
    "\"require\":[{\"that\":\"rows < 100000\",\"message\":\"Too many rows.\"}],"
    "\"args\":[{\"type\":\"tensormap\",\"buffer\":\"in\",\"element\":\"f16\",\"offset\":32,\"dims\":[64,\"rows\"],"
    "\"strides\":[128],"
    "\"box\":[64,\"min(rows, "
    "128)\"],\"swizzle\":\"128B\",\"l2\":256},{\"type\":\"pointer\",\"buffer\":\"out\",\"offset\":\"2 * 8\"},"
    "{\"type\":\"i32\",\"value\":\"-rows\"},{\"type\":\"i64\",\"value\":\"rows * "
    "4294967296\"},{\"type\":\"u32\",\"value\":\"sms\"},"
    "{\"type\":\"f32\",\"scalar\":\"scale\"}],"
    "\"launch\":{\"grid\":[\"grid_x\",1,1],\"block\":[128,1,1],\"cluster\":[\"wide\",1,1],\"shared\":\"1024 * "
    "wide\",\"overlap\":true},"
    "\"skip\":\"rows == 0\",\"numerics\":{},\"plan\":{}}";

static void write_text(const char *path, const char *text) {
    char full[256];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    assert_int_equal(hpt_file_write(full, text, strlen(text), NULL), HPT_OK);
}

static void write_good(void) {
    char path[256];
    snprintf(path, sizeof path, "%s/p", folder);
    mkdir(path, 0777);
    write_text("op.json", op_json);
    write_text("p/manifest.json", manifest_json);
    write_text("p/kernel.sm_90a.json",
               "{\"source\":\"-\",\"registers\":168,\"spill_stores\":0,\"spill_loads\":0,\"nvrtc\":13000}");
    write_text("p/kernel.sm_90a.ptx", ".version 9.0\n");
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/heptane-launch-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    write_good();
    context = (hpt_context){.backend = &fake, .lock = PTHREAD_MUTEX_INITIALIZER};
    strcpy(context.info.target, "sm_90a");
    strcpy(context.info.name, "fake");
    context.info.sms = 132;
    return 0;
}

static void reset(void) {
    memset(&seen, 0, sizeof seen);
    seen.clusters = 5;
}

static hpt_call *make_call(hpt_op *op, int64_t m) {
    hpt_call *call;
    assert_int_equal(hpt_call_create(&call, op, NULL), HPT_OK);
    assert_int_equal(hpt_call_set_param(call, "m", m, NULL), HPT_OK);
    assert_int_equal(hpt_call_set_buffer(call, "x", 0x1000, NULL), HPT_OK);
    assert_int_equal(hpt_call_set_buffer(call, "c", 0x2008, NULL), HPT_OK);
    return call;
}

static void test_call(void **state) {
    (void)state;
    reset();
    hpt_op *op;
    hpt_error error = {0};
    if (hpt_op_open(&op, &context, folder, &error) != HPT_OK) fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(seen.loads, 1); /* three steps share one package */
    hpt_op_info info;
    hpt_op_describe(op, &info);
    assert_int_equal(info.registers, 168);
    assert_int_equal(info.rank, 7);
    assert_true(hpt_op_option(op, "trans_y"));
    assert_false(hpt_op_option(op, "trans_x"));

    hpt_call *call = make_call(op, 1000);
    size_t bytes;
    bool zero;
    int64_t value;
    assert_int_equal(hpt_call_bytes(call, "c", &bytes, NULL, NULL), HPT_OK);
    assert_int_equal(bytes, 2 * 1000 * 2000);
    assert_int_equal(hpt_call_bytes(call, "ws", &bytes, &zero, NULL), HPT_OK);
    assert_int_equal(bytes, 0);
    assert_true(zero);
    assert_int_equal(hpt_call_param(call, "ldc", &value, NULL), HPT_OK);
    assert_int_equal(value, 2000);
    assert_int_equal(hpt_call_run(call, NULL, &error), HPT_USAGE); /* not bound */
    if (hpt_call_bind(call, &error) != HPT_OK) fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(hpt_call_launches(call), 1);
    assert_int_equal(hpt_call_prepare(call, NULL, NULL), HPT_OK);
    assert_int_equal(seen.launches, 1);
    assert_int_equal(hpt_call_run(call, NULL, NULL), HPT_OK);
    assert_int_equal(seen.launches, 2);

    const hpt_launch *launch = &seen.launch[1];
    assert_int_equal(seen.asked_cluster, 2);
    assert_int_equal(launch->grid[0], 10); /* 8 tiles, 5 clusters fit */
    assert_int_equal(launch->cluster[0], 2);
    assert_int_equal(launch->shared_bytes, 2048);
    assert_true(launch->overlap);
    assert_int_equal(launch->argument_count, 6);
    const hpt_tensor_map *map = &seen.map[1];
    assert_int_equal(map->address, 0x1020);
    assert_int_equal(map->rank, 2);
    assert_int_equal(map->dim[1], 1000);
    assert_int_equal(map->stride[1], 128);
    assert_int_equal(map->box[1], 128);
    assert_int_equal(map->swizzle, HPT_SWIZZLE_128B);
    assert_int_equal(map->l2_promotion, 256);
    uint64_t pointer;
    int32_t i32;
    int64_t i64;
    uint32_t u32;
    float f32;
    memcpy(&pointer, seen.argument[1][1], 8);
    memcpy(&i32, seen.argument[1][2], 4);
    memcpy(&i64, seen.argument[1][3], 8);
    memcpy(&u32, seen.argument[1][4], 4);
    memcpy(&f32, seen.argument[1][5], 4);
    assert_int_equal(seen.argument[1][0][127], 0xab);
    assert_int_equal(pointer, 0x2008 + 16);
    assert_int_equal(i32, -1000);
    assert_true(i64 == 1000 * 4294967296);
    assert_int_equal(u32, 132);
    assert_true(f32 == 1.0f);
    memcpy(&f32, seen.argument[0][5], 4); /* the prepare step binds a number */
    assert_true(f32 == 0.5f);
    hpt_call_destroy(call);

    call = make_call(op, 1000); /* another scalar takes another way, needs workspace, sees alignment */
    assert_int_equal(hpt_call_set_scalar(call, "alpha", 2.0, NULL), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_USAGE);
    assert_string_equal(error.where, "ws");
    assert_int_equal(hpt_call_set_buffer(call, "ws", 0x4000, NULL), HPT_OK);
    assert_int_equal(hpt_call_set_buffer(call, "bias", 0x5000, NULL), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_OK);
    reset();
    assert_int_equal(hpt_call_run(call, NULL, NULL), HPT_OK);
    memcpy(&i32, seen.argument[0][2], 4);
    assert_int_equal(i32, -1001); /* c at 0x2008 is not aligned to 16; bias is there */
    char stamp[65], other[65];
    assert_int_equal(hpt_call_stamp(call, stamp, NULL), HPT_OK);
    assert_int_equal(hpt_call_set_param(call, "m", 7, NULL), HPT_OK);
    assert_int_equal(hpt_call_run(call, NULL, &error), HPT_USAGE); /* setting unbinds */
    assert_int_equal(hpt_call_set_param(call, "n", 2000, NULL), HPT_OK);
    assert_int_equal(hpt_call_stamp(call, other, NULL), HPT_OK);
    assert_string_equal(stamp, other); /* M does not shape a weight's forms */
    assert_int_equal(hpt_call_set_param(call, "n", 14, NULL), HPT_OK);
    assert_int_equal(hpt_call_stamp(call, other, NULL), HPT_OK);
    assert_string_not_equal(stamp, other);
    hpt_call_destroy(call);
    hpt_op_close(op);
    assert_int_equal(seen.unloads, 1);
}

static void test_refusals(void **state) {
    (void)state;
    reset();
    hpt_op *op;
    hpt_error error = {0};
    assert_int_equal(hpt_op_open(&op, &context, folder, &error), HPT_OK);
    hpt_call *call = make_call(op, 10);
    assert_int_equal(hpt_call_set_param(call, "q", 1, &error), HPT_USAGE);
    assert_int_equal(hpt_call_set_buffer(call, "q", 1, &error), HPT_USAGE);
    assert_int_equal(hpt_call_set_scalar(call, "q", 1, &error), HPT_USAGE);
    assert_int_equal(hpt_call_set_param(call, "n", 21, &error), HPT_OK);
    assert_int_equal(hpt_call_set_param(call, "ldc", 3, &error), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_UNSUPPORTED); /* every violated rule at once */
    assert_non_null(strstr(error.message, "ldc is smaller"));
    assert_non_null(strstr(error.message, "must be even"));
    assert_int_equal(hpt_call_set_param(call, "m", 0, &error), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_USAGE);
    assert_string_equal(error.where, "m");
    assert_int_equal(hpt_call_set_param(call, "m", 200000, &error), HPT_OK);
    assert_int_equal(hpt_call_set_param(call, "n", 2, &error), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "Too many rows"));
    assert_int_equal(hpt_call_set_param(call, "m", INT64_MAX, &error), HPT_OK);
    assert_int_not_equal(hpt_call_bind(call, &error), HPT_OK); /* overflow is an error */
    assert_int_equal(hpt_call_set_param(call, "m", 10, &error), HPT_OK);
    assert_int_equal(hpt_call_set_buffer(call, "x", 0, &error), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_USAGE);
    assert_string_equal(error.where, "x");
    hpt_call_destroy(call);
    hpt_op_close(op);
    assert_int_equal(hpt_op_open(&op, &context, folder, &error), HPT_OK);
    call = make_call(op, 10);
    seen.clusters = 0; /* nothing fits */
    assert_int_equal(hpt_call_set_buffer(call, "x", 0x1000, &error), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_UNSUPPORTED);
    hpt_call_destroy(call);
    hpt_op_close(op);
    strcpy(context.info.target, "sm_100a");
    assert_int_equal(hpt_op_open(&op, &context, folder, &error), HPT_UNSUPPORTED);
    strcpy(context.info.target, "sm_90a");
    assert_int_equal(hpt_op_open(&op, &context, "/nonexistent", &error), HPT_IO);
}

/* An op that was only read says the same sizes as one with kernels, and compiles nothing. */
static void test_read(void **state) {
    (void)state;
    reset();
    hpt_op *read, *opened;
    hpt_op_info info;
    hpt_error error = {0};
    char stamp[65];
    assert_int_equal(hpt_op_read(&read, &context, folder, &error), HPT_OK);
    hpt_op_describe(read, &info);
    assert_int_equal(info.registers, -1);
    hpt_call *call = make_call(read, 10);
    assert_int_equal(hpt_call_set_param(call, "n", 14, NULL), HPT_OK);
    assert_int_equal(hpt_call_bind(call, &error), HPT_USAGE);
    assert_non_null(strstr(error.message, "without compiling"));
    assert_int_equal(hpt_call_stamp(call, stamp, &error), HPT_USAGE);
    assert_int_equal(seen.loads, 0);
    assert_int_equal(hpt_op_open(&opened, &context, folder, &error), HPT_OK);
    hpt_call *other = make_call(opened, 10);
    assert_int_equal(hpt_call_set_param(other, "n", 14, NULL), HPT_OK);
    const char *name;
    for (size_t i = 0; (name = hpt_op_buffer(opened, i, NULL, NULL)); i++) {
        size_t bytes, wanted;
        assert_string_equal(hpt_op_buffer(read, i, NULL, NULL), name);
        assert_int_equal(hpt_call_bytes(call, name, &bytes, NULL, &error), HPT_OK);
        assert_int_equal(hpt_call_bytes(other, name, &wanted, NULL, &error), HPT_OK);
        assert_int_equal(bytes, wanted);
    }
    hpt_call_destroy(call);
    hpt_call_destroy(other);
    hpt_op_close(read);
    hpt_op_close(opened);
    assert_int_equal(seen.unloads, 1);
    assert_int_equal(hpt_op_read(&read, &context, "/nonexistent", &error), HPT_IO);
}

static void test_targets(void **state) {
    (void)state;
    assert_true(hpt_target_fits("sm_90a", "sm_90a"));
    assert_false(hpt_target_fits("sm_90a", "sm_100a"));
    assert_true(hpt_target_fits("sm_100f", "sm_100a"));
    assert_true(hpt_target_fits("sm_100f", "sm_103a"));
    assert_false(hpt_target_fits("sm_103f", "sm_100a"));
    assert_false(hpt_target_fits("sm_100f", "sm_120a"));
    assert_false(hpt_target_fits("sm_100a", "sm_103a"));
}

/* Cuts, flips and swaps in the good files: an error with a place, or (rarely) still good; never a crash. */
static void test_damaged(void **state) {
    (void)state;
    unsigned seed = (unsigned)getpid();
    print_message("seed %u\n", seed);
    srand(seed);
    static const struct {
        const char *path, *text;
    } files[] = {{"op.json", op_json}, {"p/manifest.json", manifest_json}};
    int refused = 0;
    for (int round = 0; round < 1500; round++) {
        size_t which = (size_t)rand() % 2, length = strlen(files[which].text);
        char *text = strdup(files[which].text);
        switch (rand() % 3) {
        case 0:
            text[(size_t)rand() % length] = '\0';
            break;
        case 1:
            text[(size_t)rand() % length] = "\"{}[],:x0-"[rand() % 10];
            break;
        default: { /* a piece goes missing */
            size_t from = (size_t)rand() % length, count = (size_t)rand() % 30;
            if (from + count < length) memmove(text + from, text + from + count, length - from - count + 1);
        }
        }
        write_text(files[which].path, text);
        free(text);
        hpt_operation *operation = NULL;
        hpt_error error = {0};
        hpt_status status = hpt_operation_read(&operation, folder, &error);
        if (status != HPT_OK) {
            refused++;
            assert_true(error.message[0] && error.where[0]);
            assert_null(operation);
        }
        hpt_operation_destroy(operation);
        write_text(files[which].path, files[which].text);
    }
    assert_true(refused > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_call), cmocka_unit_test(test_refusals), cmocka_unit_test(test_read),
                                       cmocka_unit_test(test_targets), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
