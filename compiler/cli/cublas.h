/* cublas.h - the baseline: cuBLASLt, found at run time, its best heuristic by measurement. Never linked, only measured.
 */
#ifndef HPT_CLI_CUBLAS_H
#define HPT_CLI_CUBLAS_H

#include "problem.h"

typedef struct hpt_cublas hpt_cublas;

/* HPT_NO_DEVICE with what was tried if it is not there. The device's context must be current. */
hpt_status hpt_cublas_open(hpt_cublas **out, hpt_context *context, hpt_error *error);
void hpt_cublas_close(hpt_cublas *cublas); /* NULL is fine */
size_t hpt_cublas_version(const hpt_cublas *cublas);

/* Sets up C = X Y for data's shape on device matrices of the given types and picks the fastest of eight heuristics.
 * Replaces what was set up before. */
hpt_status hpt_cublas_gemm(hpt_cublas *cublas, const hpt_data *data, hpt_number_type type_in, hpt_number_type type_out,
                           uint64_t x, uint64_t y, uint64_t c, void *stream, hpt_error *error);
hpt_status hpt_cublas_run(void *cublas, void *stream, hpt_error *error);
/* Which heuristic won, of how many. */
void hpt_cublas_choice(const hpt_cublas *cublas, int *choice, int *count);

#endif
