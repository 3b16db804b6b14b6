/* agree.h - what the files of `agree` share: a package's plan, and the difference that each element of its output may
 * have between two executions. Promises:
 *   - the plan is what `heptane emit --dump=plan` printed with the options that made the package; that it belongs to
 * the package is checked: carried out in double on the data, it must give the reference.
 *   - allowances come from the actual data: operand forms as the kernels round them, the output's value after every
 * write.
 */
#ifndef AGREE_H
#define AGREE_H

#include "problem.h"

enum { AGREE_ACCUMULATORS = 2, AGREE_BLOCKS = 64 };

typedef struct agree_term { /* of a form: a block of the operand and its weight */
    int64_t row, col;
    double weight;
} agree_term;

typedef struct agree_operand {
    int64_t rows, cols; /* blocks; Y's are those of its transpose */
    size_t slots;
    size_t *first_term; /* slots + 1 of them */
    agree_term *term;
} agree_operand;

typedef struct agree_step { /* one product */
    bool fresh;             /* its accumulator starts from zero */
    int accumulator;
    size_t x_slot, y_slot, first_write, writes;
} agree_step;

typedef struct agree_write {
    size_t block; /* of the output, row-major */
    double weight;
} agree_write;

typedef struct agree_plan {
    hpt_arena *arena;
    hpt_number_type type_forms, type_sums; /* type_sums: of C until it is delivered */
    agree_operand x, y;
    size_t steps, writes;
    agree_step *step;
    agree_write *write;
    double *flow; /* [step][block]: the coefficient with which a product reaches an output block in the end */
} agree_plan;

/* HPT_DIFFERS: it is of another scheme than the package, or writes another number of times. */
hpt_status agree_plan_read(agree_plan *out, const char *path, const char *scheme_hash, int64_t writes,
                           hpt_error *error);
void agree_plan_clear(agree_plan *plan);

typedef struct agree_blocks { /* extents of a block of X, Y and C */
    int64_t m, n, k;
} agree_blocks;

/* allowed[i * n + j], rows of all matrices of the batch. HPT_DIFFERS: the plan does not give the reference. */
hpt_status agree_allowances(double *allowed, const agree_plan *plan, const hpt_data *data, agree_blocks blocks,
                            double bound, hpt_error *error);

#endif
