#include "cublas.h"
#include "launch/launch.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* values of cublasLt.h and library_types.h */
       COMPUTE_32F = 68,
       TYPE_F32 = 0,
       TYPE_F16 = 2,
       TYPE_BF16 = 14,
       OP_N = 0,
       OP_T = 1,
       DESC_TRANSA = 3,
       DESC_TRANSB = 4,
       LAYOUT_BATCH_COUNT = 5,
       LAYOUT_BATCH_OFFSET = 6,
       PREFERENCE_WORKSPACE = 1,
       HEURISTICS = 8,
       ROUNDS = 3
};
static const size_t workspace_bytes = (size_t)128 << 20;

typedef struct heuristic { /* cublasLtMatmulHeuristicResult_t */
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} heuristic;

#define CUBLAS_FUNCTIONS(F)                                                                                            \
    F(Create, (void **))                                                                                               \
    F(Destroy, (void *))                                                                                               \
    F(MatmulDescCreate, (void **, int, int))                                                                           \
    F(MatmulDescDestroy, (void *))                                                                                     \
    F(MatmulDescSetAttribute, (void *, int, const void *, size_t))                                                     \
    F(MatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t))                                                 \
    F(MatrixLayoutDestroy, (void *))                                                                                   \
    F(MatrixLayoutSetAttribute, (void *, int, const void *, size_t))                                                   \
    F(MatmulPreferenceCreate, (void **))                                                                               \
    F(MatmulPreferenceDestroy, (void *))                                                                               \
    F(MatmulPreferenceSetAttribute, (void *, int, const void *, size_t))                                               \
    F(MatmulAlgoGetHeuristic, (void *, void *, void *, void *, void *, void *, void *, int, heuristic *, int *))       \
    F(Matmul, (void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *,   \
               void *, void *, void *, const void *, void *, size_t, void *))

struct hpt_cublas {
    void *library, *handle;
#define MEMBER(name, parameters) int(*name) parameters;
    CUBLAS_FUNCTIONS(MEMBER)
#undef MEMBER
    size_t (*GetVersion)(void);
    hpt_context *context;
    uint64_t workspace;
    void *operation, *layout_y, *layout_x, *layout_c, *preference;
    heuristic found[HEURISTICS];
    int count, choice;
    uint64_t x, y, c;
};

static hpt_status check(int code, const char *call, hpt_error *error) {
    return code == 0 ? HPT_OK : hpt_error_set(error, HPT_DRIVER, call, "cuBLASLt answered with status %d.", code);
}
#define CALL(name, ...) check(b->name(__VA_ARGS__), "cublasLt" #name, error)

static bool open_library(hpt_cublas *b) {
    const char *home = getenv("CUDA_HOME");
    char in_home[PATH_MAX];
    snprintf(in_home, sizeof in_home, "%s/lib64/libcublasLt.so", home ? home : "/usr/local/cuda");
    const char *const names[] = {getenv("HEPTANE_CUBLASLT"), "libcublasLt.so.13", "libcublasLt.so.12", in_home,
                                 "/usr/local/cuda/lib64/libcublasLt.so.13"};
    for (size_t i = 0; i < HPT_COUNT(names) && !b->library; i++)
        if (names[i]) b->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!b->library) return false;
#define BIND(name, parameters)                                                                                         \
    *(void **)&b->name = dlsym(b->library, "cublasLt" #name);                                                          \
    if (!b->name) return false;
    CUBLAS_FUNCTIONS(BIND)
    BIND(GetVersion, )
#undef BIND
    return true;
}

hpt_status hpt_cublas_open(hpt_cublas **out, hpt_context *context, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cublas *b = calloc(1, sizeof *b);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(b);
    b->context = context;
    HPT_FAIL_IF(
        !open_library(b), HPT_NO_DEVICE, "libcublasLt",
        "cuBLASLt was not found on the loader's path, in CUDA_HOME or in /usr/local/cuda; set HEPTANE_CUBLASLT to it.");
    HPT_TRY(CALL(Create, &b->handle));
    HPT_TRY(hpt_device_alloc(context, &b->workspace, workspace_bytes, error));
    *out = b;
    b = NULL;
done:
    hpt_cublas_close(b);
    return status;
}

static void drop_gemm(hpt_cublas *b) {
    if (b->operation) b->MatmulDescDestroy(b->operation);
    if (b->preference) b->MatmulPreferenceDestroy(b->preference);
    void *const layouts[] = {b->layout_x, b->layout_y, b->layout_c};
    for (size_t i = 0; i < HPT_COUNT(layouts); i++)
        if (layouts[i]) b->MatrixLayoutDestroy(layouts[i]);
    b->operation = b->preference = b->layout_x = b->layout_y = b->layout_c = NULL;
}

void hpt_cublas_close(hpt_cublas *b) {
    if (!b) return;
    drop_gemm(b);
    if (b->handle) b->Destroy(b->handle);
    if (b->workspace) hpt_device_free(b->context, b->workspace);
    free(b); /* the library stays: CUDA libraries do not survive being unloaded */
}

size_t hpt_cublas_version(const hpt_cublas *cublas) { return cublas->GetVersion(); }

static int type_number(hpt_number_type type) {
    return type == HPT_NUMBER_F16 ? TYPE_F16 : type == HPT_NUMBER_BF16 ? TYPE_BF16 : TYPE_F32;
}

/* A row-major matrix is the column-major transpose: its rows are the columns of the layout. */
static hpt_status make_layout(hpt_cublas *b, void **out, hpt_number_type type, int64_t rows, int64_t columns,
                              int64_t ld, int64_t batch, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t count = (int32_t)batch;
    int64_t offset = rows * ld;
    HPT_TRY(CALL(MatrixLayoutCreate, out, type_number(type), (uint64_t)columns, (uint64_t)rows, ld));
    if (batch > 1) {
        HPT_TRY(CALL(MatrixLayoutSetAttribute, *out, LAYOUT_BATCH_COUNT, &count, sizeof count));
        HPT_TRY(CALL(MatrixLayoutSetAttribute, *out, LAYOUT_BATCH_OFFSET, &offset, sizeof offset));
    }
done:
    return status;
}

static hpt_status run_with(hpt_cublas *b, const heuristic *h, void *stream, hpt_error *error) {
    const float one = 1, zero = 0;
    return CALL(Matmul, b->handle, b->operation, &one, (void *)b->y, b->layout_y, (void *)b->x, b->layout_x, &zero,
                (void *)b->c, b->layout_c, (void *)b->c, b->layout_c, h->algorithm, (void *)b->workspace,
                workspace_bytes, stream);
}

hpt_status hpt_cublas_run(void *cublas, void *stream, hpt_error *error) {
    hpt_cublas *b = cublas;
    return run_with(b, &b->found[b->choice], stream, error);
}

static hpt_status pick_fastest(hpt_cublas *b, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_backend *backend = b->context->backend;
    hpt_event from = NULL, to = NULL;
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < b->count; i++) {
            double seconds;
            HPT_TRY(run_with(b, &b->found[i], stream, error));
            HPT_TRY(backend->event_record(b->context->device, &from, stream, error));
            for (int j = 0; j < 3; j++) HPT_TRY(run_with(b, &b->found[i], stream, error));
            HPT_TRY(backend->event_record(b->context->device, &to, stream, error));
            HPT_TRY(backend->event_seconds(b->context->device, &seconds, from, to, error));
            if (seconds < best) {
                best = seconds;
                b->choice = i;
            }
        }
done:
    backend->event_release(b->context->device, from);
    backend->event_release(b->context->device, to);
    return status;
}

hpt_status hpt_cublas_gemm(hpt_cublas *b, const hpt_data *d, hpt_number_type type_in, hpt_number_type type_out,
                           uint64_t x, uint64_t y, uint64_t c, void *stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_shape *s = &d->shape;
    int trans_y = d->trans_y ? OP_T : OP_N, trans_x = d->trans_x ? OP_T : OP_N;
    drop_gemm(b);
    b->x = x;
    b->y = y;
    b->c = c;
    b->choice = 0;
    /* C^T = Y^T X^T in column-major terms: Y comes first */
    HPT_TRY(CALL(MatmulDescCreate, &b->operation, COMPUTE_32F, TYPE_F32));
    HPT_TRY(CALL(MatmulDescSetAttribute, b->operation, DESC_TRANSA, &trans_y, sizeof trans_y));
    HPT_TRY(CALL(MatmulDescSetAttribute, b->operation, DESC_TRANSB, &trans_x, sizeof trans_x));
    HPT_TRY(make_layout(b, &b->layout_y, type_in, d->trans_y ? s->n : s->k, d->trans_y ? s->k : s->n, s->ldy, s->batch,
                        error));
    HPT_TRY(make_layout(b, &b->layout_x, type_in, d->trans_x ? s->k : s->m, d->trans_x ? s->m : s->k, s->ldx, s->batch,
                        error));
    HPT_TRY(make_layout(b, &b->layout_c, type_out, s->m, s->n, s->ldc, s->batch, error));
    HPT_TRY(CALL(MatmulPreferenceCreate, &b->preference));
    HPT_TRY(CALL(MatmulPreferenceSetAttribute, b->preference, PREFERENCE_WORKSPACE, &workspace_bytes,
                 sizeof workspace_bytes));
    HPT_TRY(CALL(MatmulAlgoGetHeuristic, b->handle, b->operation, b->layout_y, b->layout_x, b->layout_c, b->layout_c,
                 b->preference, HEURISTICS, b->found, &b->count));
    HPT_FAIL_IF(b->count < 1, HPT_UNSUPPORTED, "cublasLt", "cuBLASLt has no algorithm for this shape.");
    HPT_TRY(pick_fastest(b, stream, error));
done:
    return status;
}

void hpt_cublas_choice(const hpt_cublas *cublas, int *choice, int *count) {
    *choice = cublas->choice;
    *count = cublas->count;
}
