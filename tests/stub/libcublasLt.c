/* cuBLASLt that offers two algorithms and multiplies nothing, for tests of `heptane bench`. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int cublasLtCreate(void **h) { return *h = malloc(1), 0; }
int cublasLtDestroy(void *h) { return free(h), 0; }
int cublasLtMatmulDescCreate(void **d, int compute, int scale) {
    return *d = malloc(1), compute == 68 && scale == 0 ? 0 : 7;
}
int cublasLtMatmulDescDestroy(void *d) { return free(d), 0; }
int cublasLtMatmulDescSetAttribute(void *d, int what, const void *value, size_t size) {
    return d && value && size == 4 && (what == 3 || what == 4) ? 0 : 7;
}
int cublasLtMatrixLayoutCreate(void **l, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    *l = malloc(1);
    return (type == 0 || type == 2 || type == 14) && rows && columns && ld >= (int64_t)rows ? 0 : 7;
}
int cublasLtMatrixLayoutDestroy(void *l) { return free(l), 0; }
int cublasLtMatrixLayoutSetAttribute(void *l, int what, const void *value, size_t size) {
    return l && value && ((what == 5 && size == 4) || (what == 6 && size == 8)) ? 0 : 7;
}
int cublasLtMatmulPreferenceCreate(void **p) { return *p = malloc(1), 0; }
int cublasLtMatmulPreferenceDestroy(void *p) { return free(p), 0; }
int cublasLtMatmulPreferenceSetAttribute(void *p, int what, const void *value, size_t size) {
    return p && value && what == 1 && size == 8 ? 0 : 7;
}
int cublasLtMatmulAlgoGetHeuristic(void *h, void *d, void *a, void *b, void *c, void *e, void *p, int most, void *found,
                                   int *count) {
    if (!h || !d || !a || !b || !c || !e || !p || most < 2) return 7;
    memset(found, 0, 2 * 96);
    *count = 2;
    return 0;
}
int cublasLtMatmul(void *h, void *d, const void *alpha, const void *a, void *la, const void *b, void *lb,
                   const void *beta, const void *c, void *lc, void *out, void *lout, const void *algorithm,
                   void *workspace, size_t bytes, void *stream) {
    (void)stream;
    return h && d && alpha && a && la && b && lb && beta && c && lc && out && lout && algorithm && workspace && bytes
               ? 0
               : 7;
}
size_t cublasLtGetVersion(void) { return 130000; }
