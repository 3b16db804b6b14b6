/* Emitted operations against the driver's rules: every catalogue scheme, many shapes and alignments, bound with a
 * backend that checks each tensor map and launch as cuTensorMapEncodeTiled and cuLaunchKernelEx would. No GPU and no
 * NVRTC needed. */
#include "launch/launch.h"
#include <heptane/emit.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *broken; /* the first rule that was broken */
static int maps;

static hpt_status check_load(hpt_backend_device *device, hpt_backend_module **out, const void *image, size_t length,
                             const char *symbol, hpt_error *error) {
    (void)device, (void)image, (void)length, (void)symbol, (void)error;
    *out = malloc(1);
    return HPT_OK;
}
static void check_unload(hpt_backend_module *module) { free(module); }

#define RULE(holds)                                                                                                    \
    if (!(holds) && !broken) broken = #holds

static hpt_status check_encode(hpt_backend_device *device, void *out128, const hpt_tensor_map *map, hpt_error *error) {
    static const uint32_t swizzle_bytes[] = {0, 32, 64, 128}, element_bytes[] = {2, 2, 4, 1, 1, 1, 4};
    (void)device, (void)error;
    memset(out128, 0, 128);
    maps++;
    uint32_t bytes = element_bytes[map->element];
    RULE(map->rank >= 1 && map->rank <= 5);
    RULE(map->address % 16 == 0);
    RULE(map->swizzle == HPT_SWIZZLE_NONE || map->box[0] * bytes <= swizzle_bytes[map->swizzle]);
    RULE(map->box[0] * bytes % 16 == 0);
    uint64_t covered = bytes;
    for (int i = 0; i < map->rank; i++) {
        RULE(map->dim[i] >= 1 && map->dim[i] <= (uint64_t)1 << 32);
        RULE(map->box[i] >= 1 && map->box[i] <= 256);
        if (i == 0) continue;
        RULE(map->stride[i] % 16 == 0 && map->stride[i] < (uint64_t)1 << 40);
        covered *= map->dim[i - 1];
        RULE(map->dim[i] == 1 || map->rank > 2 || map->stride[i] >= covered);
    }
    return HPT_OK;
}
static hpt_status check_clusters(hpt_backend_module *module, const hpt_launch *launch, int *out, hpt_error *error) {
    (void)module, (void)error;
    RULE(launch->shared_bytes <= 232448); /* HARDWARE: opt-in limit of sm_90 and sm_100 */
    RULE(launch->block[0] * launch->block[1] * launch->block[2] <= 1024);
    *out = 66;
    return HPT_OK;
}
static hpt_status check_launch(hpt_backend_module *module, const hpt_launch *launch, hpt_stream stream,
                               hpt_error *error) {
    (void)module, (void)stream, (void)error;
    RULE(launch->grid[0] >= 1 && launch->grid[1] <= 65535 && launch->grid[2] <= 65535);
    RULE(launch->grid[0] % launch->cluster[0] == 0);
    return HPT_OK;
}
static const hpt_backend checker = {.name = "checker",
                                    .wants_ptx = true,
                                    .load = check_load,
                                    .unload = check_unload,
                                    .encode = check_encode,
                                    .max_clusters = check_clusters,
                                    .launch = check_launch};

static char folder[64];

/* Pretends that the packages are compiled. */
static void compile_nothing(const char *target) {
    static const char *const packages[] = {"gemm", "forms_x", "forms_y", "finish"};
    for (size_t i = 0; i < HPT_COUNT(packages); i++) {
        char path[256], hash[HPT_HASH_LENGTH], stamp[256], *source;
        size_t length;
        snprintf(path, sizeof path, "%s/%s/kernel.cu", folder, packages[i]);
        if (hpt_file_read(&source, &length, path, HPT_PACKAGE_LIMIT, NULL) != HPT_OK) continue;
        hpt_sha256_hex(hash, source, length);
        free(source);
        snprintf(stamp, sizeof stamp, "{\"source\":\"%s\"}", hash);
        snprintf(path, sizeof path, "%s/%s/kernel.%s.json", folder, packages[i], target);
        assert_int_equal(hpt_file_write(path, stamp, strlen(stamp), NULL), HPT_OK);
        snprintf(path, sizeof path, "%s/%s/kernel.%s.ptx", folder, packages[i], target);
        assert_int_equal(hpt_file_write(path, ".version 9.0\n", 13, NULL), HPT_OK);
    }
}

static void emit(const char *scheme_name, hpt_emit_options *options) {
    hpt_error error = {0};
    hpt_scheme *scheme;
    hpt_schedule *schedule;
    hpt_read_options reading = {0};
    hpt_chain_options chaining = {.accumulators = hpt_target_accumulators(options->target)};
    if (hpt_scheme_read(&scheme, scheme_name, &reading, &error) != HPT_OK ||
        hpt_chain(&schedule, scheme, &chaining, &error) != HPT_OK ||
        hpt_emit(folder, scheme, schedule, options, &error) != HPT_OK)
        fail_msg("%s: %s: %s", scheme_name, error.where, error.message);
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
    compile_nothing(options->target);
}

static void set_buffers(hpt_call *call, hpt_op *op, uint64_t misaligned, bool bias) {
    const char *name, *role, *type;
    uint64_t address = 0x7f0000000000;
    for (size_t i = 0; (name = hpt_op_buffer(op, i, &role, &type)); i++) {
        bool own = strcmp(role, "prepared") == 0 || strcmp(role, "workspace") == 0;
        if ((strcmp(name, "bias") == 0 || strcmp(name, "residual") == 0) && !bias) continue;
        assert_int_equal(hpt_call_set_buffer(call, name, address + (own ? 0 : misaligned * hpt_type_bytes(type)), NULL),
                         HPT_OK);
        address += (uint64_t)1 << 36;
    }
}

typedef struct variation { /* of a call */
    int64_t ld, batch;
    uint64_t misaligned; /* elements off a 256-byte boundary */
    double alpha, beta;
    bool bias;
} variation;

static void bind_one(hpt_op *op, const char *what, const int64_t shape[3], const variation *v) {
    hpt_error error = {0};
    hpt_call *call;
    size_t bytes;
    const char *name;
    assert_int_equal(hpt_call_create(&call, op, &error), HPT_OK);
    hpt_call_set_param(call, "m", shape[0], NULL);
    hpt_call_set_param(call, "n", shape[1], NULL);
    hpt_call_set_param(call, "k", shape[2], NULL);
    hpt_call_set_param(call, "batch", v->batch, NULL);
    if (v->ld) {
        int64_t most = shape[0] > shape[1] ? shape[0] : shape[1];
        most = (most > shape[2] ? most : shape[2]) + v->ld;
        hpt_call_set_param(call, "ldx", most, NULL);
        hpt_call_set_param(call, "ldy", most, NULL);
        hpt_call_set_param(call, "ldc", most, NULL);
    }
    hpt_call_set_scalar(call, "alpha", v->alpha, NULL);
    hpt_call_set_scalar(call, "beta", v->beta, NULL);
    set_buffers(call, op, v->misaligned, v->bias);
    for (size_t i = 0; (name = hpt_op_buffer(op, i, NULL, NULL)); i++)
        if (hpt_call_bytes(call, name, &bytes, NULL, &error) != HPT_OK) fail_msg("%s: %s", what, error.message);
    broken = NULL;
    if (hpt_call_bind(call, &error) != HPT_OK)
        fail_msg("%s %lldx%lldx%lld: %s: %s", what, (long long)shape[0], (long long)shape[1], (long long)shape[2],
                 error.where, error.message);
    assert_true(hpt_call_launches(call) >= 1);
    assert_int_equal(hpt_call_prepare(call, NULL, &error), HPT_OK);
    assert_int_equal(hpt_call_run(call, NULL, &error), HPT_OK);
    if (broken)
        fail_msg("%s %lldx%lldx%lld: broken rule: %s", what, (long long)shape[0], (long long)shape[1],
                 (long long)shape[2], broken);
    hpt_call_destroy(call);
}

static void bind_all(const char *scheme, hpt_emit_options *options) {
    static const int64_t shapes[][3] = {{1, 1, 1},        {17, 33, 65},        {256, 256, 256},
                                        {511, 513, 504},  {4095, 4096, 4088},  {8192, 8192, 8192},
                                        {1, 34816, 5120}, {8192, 5120, 17408}, {512, 512, 511},
                                        {512, 511, 512},  {100000, 128, 7168}, {65536, 65536, 1024}};
    static const variation variations[] = {{0, 1, 0, 1, 0, false}, {8, 1, 0, 1, 0, false},  {1, 1, 0, 1, 0, false},
                                           {0, 3, 0, 1, 0, false}, {0, 1, 1, 1, 0, false},  {0, 1, 0, 0.5, 0, false},
                                           {0, 1, 0, 1, -2, true}, {3, 2, 4, 2, 0.5, false}};
    hpt_error error = {0};
    hpt_op *op;
    hpt_context context = {.backend = &checker, .lock = PTHREAD_MUTEX_INITIALIZER};
    snprintf(context.info.target, sizeof context.info.target, "%s", options->target);
    context.info.sms = 132;
    strcpy(folder, "/tmp/heptane-bind-XXXXXX");
    assert_non_null(mkdtemp(folder));
    emit(scheme, options);
    if (hpt_op_open(&op, &context, folder, &error) != HPT_OK)
        fail_msg("%s: %s: %s", scheme, error.where, error.message);
    for (size_t i = 0; i < HPT_COUNT(shapes); i++)
        for (size_t j = 0; j < HPT_COUNT(variations); j++) bind_one(op, scheme, shapes[i], &variations[j]);
    hpt_op_close(op);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_bind(void **state) {
    (void)state;
    static const char *const schemes[] = {"trivial", "strassen", "seven-write", "textbook"};
    const char *const *targets = hpt_target_names();
    maps = 0;
    for (size_t t = 0; targets[t]; t++)
        for (size_t i = 0; i < HPT_COUNT(schemes); i++) {
            hpt_emit_options options = {.op = "gemm", .target = targets[t]};
            bind_all(schemes[i], &options);
        }
    hpt_emit_options options[] = {{.op = "gemm", .target = targets[0], .out_type = "f32"},
                                  {.op = "gemm", .target = targets[0], .in_type = "bf16"},
                                  {.op = "gemm", .target = targets[0], .x_transposed = true, .y_untransposed = true}};
    for (size_t i = 0; i < HPT_COUNT(options); i++) bind_all("seven-write", &options[i]);
    assert_true(maps > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
