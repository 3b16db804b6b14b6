/* Multiplies two matrices of ones with an operation folder that `heptane emit` wrote: every element of C is K.
 *   heptane emit strassen --op gemm --target sm_90a -o strassen-gemm && example_gemm strassen-gemm 512 512 512
 * Everything that needs releasing is left to the end of the program; a real caller checks and closes. */
#include <heptane/rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hpt_error error;
#define DO(call)                                                                                                       \
    if ((call) != HPT_OK)                                                                                              \
    return fprintf(stderr, "%s: %s\n", error.where, error.message), hpt_status_exit_code(error.code)

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: example_gemm FOLDER M N K\n"), 2;
    hpt_context *context;
    hpt_op *gemm;
    hpt_call *call;
    static const char *const sizes[] = {"m", "n", "k"};
    DO(hpt_context_open(&context, "auto", 0, NULL, &error));
    DO(hpt_op_open(&gemm, context, argv[1], &error));
    DO(hpt_call_create(&call, gemm, &error));
    for (int i = 0; i < 3; i++) DO(hpt_call_set_param(call, sizes[i], atoll(argv[2 + i]), &error));

    uint64_t c = 0, memory[16];
    size_t bytes_c = 0, count = 0;
    const char *name, *role;
    for (size_t i = 0; (name = hpt_op_buffer(gemm, i, &role, NULL)); i++) { /* give it every buffer that it asks for */
        size_t bytes;
        uint64_t address;
        if (strcmp(name, "bias") == 0 || strcmp(name, "residual") == 0) continue; /* optional */
        DO(hpt_call_bytes(call, name, &bytes, NULL, &error));
        if (!bytes) continue;
        unsigned short *host = calloc(1, bytes + 2);
        for (size_t j = 0; strcmp(role, "input") == 0 && j < bytes / 2; j++) host[j] = 0x3c00; /* 1.0 in f16 */
        DO(hpt_device_alloc(context, &address, bytes, &error));
        memory[count++] = address; /* gemm has fewer than 16 buffers */
        DO(hpt_device_upload(context, address, host, bytes, &error));
        DO(hpt_call_set_buffer(call, name, address, &error));
        if (strcmp(role, "output") == 0) c = address, bytes_c = bytes;
        free(host);
    }
    DO(hpt_call_bind(call, &error));
    DO(hpt_call_prepare(call, NULL, &error)); /* once per weight */
    DO(hpt_call_run(call, NULL, &error));     /* as often as wanted */
    DO(hpt_device_synchronize(context, NULL, &error));

    unsigned short *host = malloc(bytes_c);
    DO(hpt_device_download(context, host, c, bytes_c, &error));
    for (size_t i = 1; i < bytes_c / 2; i++)
        if (host[i] != host[0]) return fprintf(stderr, "element %zu differs\n", i), 1;
    printf("every element of C is 0x%04x in f16\n", host[0]); /* 0x6000 is 512 */
    free(host);
    hpt_call_destroy(call);
    while (count) hpt_device_free(context, memory[--count]);
    hpt_op_close(gemm);
    hpt_context_close(context);
    return 0;
}
