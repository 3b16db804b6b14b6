/* Every allocation fails once: reading an operation, opening it, binding and running a call must then answer with an
 * error, leak nothing and crash nowhere. Allocations of our own code are wrapped by the linker (--wrap), Jansson's by
 * its own hook. */
#include "launch/launch.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long left = -1; /* allocations until one fails; negative: none does */

static bool fails(void) { return left >= 0 && left-- == 0; }
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }

/* ---- a backend without a device ---- */
static hpt_status no_load(hpt_backend_device *device, hpt_backend_module **out, const void *image, size_t length,
                          const char *symbol, hpt_error *error) {
    (void)device, (void)image, (void)length, (void)symbol;
    *out = malloc(1);
    return *out ? HPT_OK : hpt_error_set(error, HPT_NO_MEMORY, symbol, "Out of memory.");
}
static void no_unload(hpt_backend_module *module) { free(module); }
static hpt_status no_encode(hpt_backend_device *device, void *out128, const hpt_tensor_map *map, hpt_error *error) {
    (void)device, (void)map, (void)error;
    memset(out128, 0, 128);
    return HPT_OK;
}
static hpt_status no_clusters(hpt_backend_module *module, const hpt_launch *launch, int *out, hpt_error *error) {
    (void)module, (void)launch, (void)error;
    *out = 66;
    return HPT_OK;
}
static hpt_status no_launch(hpt_backend_module *module, const hpt_launch *launch, hpt_stream stream, hpt_error *error) {
    (void)module, (void)launch, (void)stream, (void)error;
    assert_int_equal(left, -2); /* a launch never follows a failed allocation, and allocates nothing itself */
    return HPT_OK;
}
static const hpt_backend none = {.name = "none",
                                 .wants_ptx = true,
                                 .load = no_load,
                                 .unload = no_unload,
                                 .encode = no_encode,
                                 .max_clusters = no_clusters,
                                 .launch = no_launch};

static char folder[64];

static void write_text(const char *path, const char *text) {
    char full[256];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    assert_int_equal(hpt_file_write(full, text, strlen(text), NULL), HPT_OK);
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/heptane-memory-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    char path[128];
    snprintf(path, sizeof path, "%s/p", folder);
    mkdir(path, 0777);
    write_text(
        "op.json",
        "{\"format\":\"heptane-op/1\",\"op\":\"gemm\",\"target\":\"sm_90a\",\"params\":[{\"name\":\"m\",\"min\":1}],"
        "\"scalars\":[{\"name\":\"alpha\",\"default\":1}],\"let\":[[\"double\",\"2 * m\"]],"
        "\"require\":[{\"that\":\"m < 100\",\"message\":\"Too large.\"}],"
        "\"buffers\":[{\"name\":\"x\",\"role\":\"input\",\"type\":\"f16\",\"bytes\":\"double\"}],"
        "\"steps\":[{\"package\":\"p\",\"bind\":{\"rows\":\"m\",\"x\":\"x\",\"scale\":\"alpha\"}}]}");
    write_text("p/manifest.json",
               "{\"format\":\"heptane-package/"
               "1\",\"kernel\":\"k\",\"symbol\":\"k\",\"target\":\"sm_90a\",\"params\":[\"rows\"],"
               "\"buffers\":[{\"name\":\"x\",\"type\":\"f16\"}],\"scalars\":[{\"name\":\"scale\"}],"
               "\"args\":[{\"type\":\"tensormap\",\"buffer\":\"x\",\"element\":\"f16\",\"dims\":[64,\"rows\"],"
               "\"strides\":[128],\"box\":[64,1]},"
               "{\"type\":\"f32\",\"scalar\":\"scale\"}],"
               "\"launch\":{\"grid\":[\"max_clusters\",1,1],\"block\":[128,1,1],\"cluster\":[1,1,1],\"shared\":0}}");
    write_text("p/kernel.sm_90a.json", "{\"source\":\"-\"}");
    write_text("p/kernel.sm_90a.ptx", ".version 9.0\n");
    json_set_alloc_funcs(__wrap_malloc, free);
    return 0;
}

/* The whole way once; HPT_OK only if nothing failed. */
static hpt_status whole_way(hpt_context *context, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_op *op = NULL;
    hpt_call *call = NULL;
    HPT_TRY(hpt_op_open(&op, context, folder, error));
    HPT_TRY(hpt_call_create(&call, op, error));
    HPT_TRY(hpt_call_set_param(call, "m", 7, error));
    HPT_TRY(hpt_call_set_buffer(call, "x", 0x1000, error));
    HPT_TRY(hpt_call_bind(call, error));
    left = -2;
    HPT_TRY(hpt_call_run(call, NULL, error));
done:
    hpt_call_destroy(call);
    hpt_op_close(op);
    return status;
}

static void test_every_allocation(void **state) {
    (void)state;
    hpt_context context = {.backend = &none, .lock = PTHREAD_MUTEX_INITIALIZER};
    strcpy(context.info.target, "sm_90a");
    context.info.sms = 132;
    long failing = 0;
    for (;; failing++) {
        hpt_error error = {0};
        left = failing;
        hpt_status status = whole_way(&context, &error);
        bool over = left == -2;
        left = -1;
        if (over) {
            assert_int_equal(status, HPT_OK);
            break;
        }
        assert_int_not_equal(status, HPT_OK);
        assert_true(error.message[0] != '\0');
        assert_true(failing < 10000);
    }
    print_message("%ld allocations\n", failing);
    assert_true(failing > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
