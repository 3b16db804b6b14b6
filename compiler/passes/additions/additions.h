/* additions.h - how many additions a scheme's forms and outputs take. Promises:
 *   - naive: each form and each output on its own.
 *   - reduced: after common subexpressions of two terms were shared; an upper bound that some program attains (its
 *     additions are counted, not estimated), found by randomised greedy runs and then by undoing and redoing parts
 *     of the best, with fixed seeds: deterministic. The program is expanded again and compared with the matrix.
 *   - each side is also tried transposed: a program for the transpose of a matrix, run backwards, is one for the matrix
 *     with (inputs - outputs) more additions.
 */
#ifndef HPT_ADDITIONS_H
#define HPT_ADDITIONS_H

#include "core/core.h"
#include <heptane/scheme.h>

typedef struct hpt_additions {
    int64_t naive[3], reduced[3]; /* forms of X, forms of Y, outputs */
} hpt_additions;

/* `effort` is roughly the number of elementary steps per side; 0 means the default. Coefficients that are not small
 * rationals are counted as they are (reduced = naive). HPT_INTERRUPTED after an interruption. */
hpt_status hpt_additions_count(hpt_additions *out, const hpt_scheme *scheme, int64_t effort,
                               const hpt_progress *progress, hpt_error *error);

#endif
