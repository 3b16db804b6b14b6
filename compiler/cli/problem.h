/* problem.h - one gemm on random data: buffers, call and reference. Shared by run, bench and tune. Promises:
 *   - X, Y (and C where beta is not 0, and bias) are N(0,1) rounded to their types, from random.h.
 *   - the output is filled with NaN patterns before a checked run, so that an element nobody wrote is seen.
 *   - the reference is computed in double on the values as stored: all rows, or 64 of them where that would take long.
 */
#ifndef HPT_CLI_PROBLEM_H
#define HPT_CLI_PROBLEM_H

#include "random.h"
#include <heptane/rt.h>

enum { HPT_SAMPLED_ROWS = 64 };

typedef struct hpt_shape { /* 0 in a leading dimension: packed */
    int64_t m, n, k, batch, ldx, ldy, ldc;
} hpt_shape;

typedef struct hpt_reference { /* rows of the product in double */
    size_t row_count;
    int64_t *row;  /* batch * m + i, rising */
    double *value; /* row_count x n */
    bool whole;
} hpt_reference;

typedef struct hpt_data { /* host copies of the operands and the expected result; independent of any op */
    hpt_shape shape;
    hpt_number_type type_x, type_y, type_c;
    hpt_number_type rounding; /* values are rounded to this before they are stored */
    bool trans_x, trans_y;
    bool with_bias, with_residual; /* C = alpha X Y + beta C + bias (one per column) + residual (as C, packed rows) */
    double alpha, beta;
    uint64_t seed;
    const char *settings; /* further parameters of the op, "cut=0,beside=0"; may be NULL */
    size_t elements_x, elements_y, elements_c;
    void *x, *y, *c;       /* c: the start values, NULL where beta is 0 */
    void *bias, *residual; /* in C's type; NULL: none */
    hpt_reference reference;
} hpt_data;

/* Takes types and layout from an op; HPT_UNSUPPORTED if it is no gemm. */
hpt_status hpt_data_describe(hpt_data *data, const hpt_op *op, hpt_error *error);
/* Fills in packed leading dimensions, makes the operands and the reference. `free` with hpt_data_clear. */
hpt_status hpt_data_make(hpt_data *data, hpt_error *error);
void hpt_data_clear(hpt_data *data);

typedef struct hpt_check {
    double rel_error;
    size_t bad; /* elements that are not finite or were never written */
    bool whole;
} hpt_check;
/* Compares a downloaded output with the reference. */
void hpt_data_compare(hpt_check *out, const hpt_data *data, const void *c);
/* HPT_DIFFERS if a result has bad elements or is not within its bound. */
hpt_status hpt_check_passed(const hpt_check *check, double bound, hpt_error *error);

/* Sets parameters from "cut=0,beside=0"; NULL: none. */
hpt_status hpt_call_set_params(hpt_call *call, const char *settings, hpt_error *error);
/* Whether the call lets adds come in any order (cut=2), so that bits may differ from run to run. */
bool hpt_call_any_order(hpt_call *call);

/* Median of a few timed runs of a bound call on a GPU. */
hpt_status hpt_call_time(double *seconds, hpt_context *context, hpt_call *call, hpt_error *error);

typedef struct hpt_problem { /* an op bound to device copies of some data */
    hpt_context *context;
    hpt_op *op;
    hpt_call *call;
    const hpt_data *data;
    size_t buffer_count;
    uint64_t *buffer; /* device memory by op buffer number; 0: none or shared */
    uint64_t x, y, c;
    size_t bytes_c;
} hpt_problem;

bool hpt_op_has_param(const hpt_op *op, const char *name);
/* Allocates, uploads, binds. x, y, c: device addresses to share, 0: own ones. */
hpt_status hpt_problem_create(hpt_problem *out, hpt_context *context, hpt_op *op, const hpt_data *data, uint64_t x,
                              uint64_t y, uint64_t c, hpt_error *error);
void hpt_problem_clear(hpt_problem *problem);
/* Poisons (or restores) the output, prepares, runs once, downloads into host (bytes_c). */
hpt_status hpt_problem_run_once(hpt_problem *problem, void *host, void *stream, hpt_error *error);

#endif
