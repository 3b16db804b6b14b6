/* What the runtime's header promises, on whatever device is there: prepared weights can be saved and loaded, two
 * threads can use one op, and (on a GPU) bind and run can be captured in a CUDA graph that outlives the call.
 *   device_api FOLDER M N K      a gemm emitted for this device */
#include <dlfcn.h>
#include <heptane/rt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 16 };

static hpt_error error;
#define DO(call)                                                                                                       \
    if ((call) != HPT_OK) {                                                                                            \
        fprintf(stderr, "%s:%d: %s: %s\n", #call, __LINE__, error.where, error.message);                               \
        exit(hpt_status_exit_code(error.code));                                                                        \
    }
#define EXPECT(what)                                                                                                   \
    if (!(what)) {                                                                                                     \
        fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what);                                                     \
        exit(1);                                                                                                       \
    }

typedef struct product { /* one call with its own buffers */
    hpt_context *context;
    hpt_op *op;
    hpt_call *call;
    uint64_t address[MOST_BUFFERS];
    size_t bytes[MOST_BUFFERS];
    int prepared, output;
} product;

static unsigned short value(size_t i) { /* small multiples of 1/8 in f16, of both signs */
    static const unsigned short table[] = {0x0000, 0x3000, 0x3400, 0x3600, 0x3800, 0xb000, 0xb400, 0xb800};
    return table[(i * 2654435761u >> 13) % 8];
}

static void make(product *p, hpt_context *context, hpt_op *op, const long long shape[3]) {
    static const char *const names[] = {"m", "n", "k"};
    const char *name, *role;
    *p = (product){.context = context, .op = op, .prepared = -1, .output = -1};
    DO(hpt_call_create(&p->call, op, &error));
    for (int i = 0; i < 3; i++) DO(hpt_call_set_param(p->call, names[i], shape[i], &error));
    for (int i = 0; (name = hpt_op_buffer(op, (size_t)i, &role, NULL)); i++) {
        if (strcmp(name, "bias") == 0 || strcmp(name, "residual") == 0) continue;
        DO(hpt_call_bytes(p->call, name, &p->bytes[i], NULL, &error));
        if (!p->bytes[i]) continue;
        unsigned short *host = calloc(1, p->bytes[i] + 2);
        for (size_t j = 0; strcmp(role, "input") == 0 && j < p->bytes[i] / 2; j++) host[j] = value(j);
        DO(hpt_device_alloc(context, &p->address[i], p->bytes[i], &error));
        DO(hpt_device_upload(context, p->address[i], host, p->bytes[i], &error));
        DO(hpt_call_set_buffer(p->call, name, p->address[i], &error));
        if (strcmp(role, "prepared") == 0) p->prepared = i;
        if (strcmp(role, "output") == 0) p->output = i;
        free(host);
    }
    DO(hpt_call_bind(p->call, &error));
}

static void release(product *p) {
    hpt_call_destroy(p->call);
    for (int i = 0; i < MOST_BUFFERS; i++) hpt_device_free(p->context, p->address[i]);
}

static unsigned char *fetch(const product *p, int buffer) {
    unsigned char *host = malloc(p->bytes[buffer]);
    DO(hpt_device_synchronize(p->context, NULL, &error));
    DO(hpt_device_download(p->context, host, p->address[buffer], p->bytes[buffer], &error));
    return host;
}

static void poison(const product *p) {
    DO(hpt_device_fill(p->context, p->address[p->output], 0xff, p->bytes[p->output], NULL, &error));
}

/* ---- saved and loaded ---- */
static void check_saved(hpt_context *context, hpt_op *op, const long long shape[3], const unsigned char *want) {
    product first, second;
    char stamp[65], other[65];
    make(&first, context, op, shape);
    DO(hpt_call_prepare(first.call, NULL, &error));
    if (first.prepared < 0) { /* the trivial scheme multiplies the weights where they lie */
        release(&first);
        return;
    }
    unsigned char *saved = fetch(&first, first.prepared);
    DO(hpt_call_stamp(first.call, stamp, &error));
    release(&first);
    make(&second, context, op, shape);
    DO(hpt_call_stamp(second.call, other, &error));
    EXPECT(strcmp(stamp, other) == 0);
    DO(hpt_device_upload(context, second.address[second.prepared], saved, second.bytes[second.prepared], &error));
    poison(&second);
    DO(hpt_call_run(second.call, NULL, &error)); /* never prepared here */
    unsigned char *got = fetch(&second, second.output);
    EXPECT(memcmp(got, want, second.bytes[second.output]) == 0);
    release(&second);
    free(saved);
    free(got);
}

/* ---- two threads ---- */
typedef struct worker {
    hpt_context *context;
    hpt_op *op;
    const long long *shape;
    const unsigned char *want;
    int wrong;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    for (int round = 0; round < 2; round++) {
        product p;
        make(&p, w->context, w->op, w->shape);
        poison(&p);
        DO(hpt_call_prepare(p.call, NULL, &error));
        DO(hpt_call_run(p.call, NULL, &error));
        unsigned char *got = fetch(&p, p.output);
        w->wrong += memcmp(got, w->want, p.bytes[p.output]) != 0;
        free(got);
        release(&p);
    }
    return NULL;
}

static void check_threads(hpt_context *context, hpt_op *op, const long long shape[3], const unsigned char *want) {
    worker workers[2] = {{context, op, shape, want, 0}, {context, op, shape, want, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) EXPECT(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    EXPECT(workers[0].wrong + workers[1].wrong == 0);
}

/* ---- captured in a graph ---- */
static void check_graph(hpt_context *context, hpt_op *op, const long long shape[3], const unsigned char *want) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*get)(int *, int), (*retain)(void **, int), (*push)(void *), (*create)(void **, unsigned),
        (*begin)(void *, int), (*end)(void *, void **), (*instantiate)(void **, void *, unsigned long long),
        (*launch)(void *, void *), (*wait)(void *);
    EXPECT(driver);
#define FIND(variable, symbol) EXPECT((*(void **)&variable = dlsym(driver, symbol)))
    FIND(get, "cuDeviceGet");
    FIND(retain, "cuDevicePrimaryCtxRetain");
    FIND(push, "cuCtxPushCurrent_v2");
    FIND(create, "cuStreamCreate");
    FIND(begin, "cuStreamBeginCapture_v2");
    FIND(end, "cuStreamEndCapture");
    FIND(instantiate, "cuGraphInstantiateWithFlags");
    FIND(launch, "cuGraphLaunch");
    FIND(wait, "cuStreamSynchronize");
    int device;
    void *current, *stream, *graph, *executable;
    product p;
    make(&p, context, op, shape);
    EXPECT(get(&device, 0) == 0 && retain(&current, device) == 0 && push(current) == 0 && create(&stream, 1) == 0);
    DO(hpt_call_prepare(p.call, NULL, &error));
    DO(hpt_device_synchronize(context, NULL, &error));
    EXPECT(begin(stream, 2) == 0); /* relaxed */
    DO(hpt_call_bind(p.call, &error));
    DO(hpt_call_run(p.call, stream, &error));
    EXPECT(end(stream, &graph) == 0 && instantiate(&executable, graph, 0) == 0);
    hpt_call_destroy(p.call); /* the graph holds copies of all arguments */
    p.call = NULL;
    for (int i = 0; i < 3; i++) {
        poison(&p);
        DO(hpt_device_synchronize(context, NULL, &error));
        EXPECT(launch(executable, stream) == 0 && wait(stream) == 0);
        unsigned char *got = fetch(&p, p.output);
        EXPECT(memcmp(got, want, p.bytes[p.output]) == 0);
        free(got);
    }
    release(&p);
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: device_api FOLDER M N K\n"), 2;
    const long long shape[3] = {atoll(argv[2]), atoll(argv[3]), atoll(argv[4])};
    hpt_context *context;
    hpt_op *op;
    product p;
    DO(hpt_context_open(&context, "auto", 0, NULL, &error));
    DO(hpt_op_open(&op, context, argv[1], &error));
    make(&p, context, op, shape);
    poison(&p);
    DO(hpt_call_prepare(p.call, NULL, &error));
    DO(hpt_call_run(p.call, NULL, &error));
    unsigned char *want = fetch(&p, p.output);
    release(&p);
    hpt_context_info info;
    hpt_context_describe(context, &info);
    check_saved(context, op, shape, want);
    if (strcmp(info.backend, "gpu") == 0) {
        check_threads(context, op, shape, want);
        check_graph(context, op, shape, want);
        printf("ok: saved weights, two threads, captured graph\n");
    } else {
        printf("ok: saved weights (threads and graphs need a GPU)\n");
    }
    free(want);
    hpt_op_close(op);
    hpt_context_close(context);
    return 0;
}
