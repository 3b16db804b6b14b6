/* generating.h - storing fewer forms (the paper, section 6). Promises:
 *   - the set returned generates: every form outside it is a multiple of one form in it or a combination of two.
 *   - `smallest` is true if no smaller set exists: either its size is the rank of all forms, or all smaller sets were
 * tried.
 */
#ifndef HPT_GENERATING_H
#define HPT_GENERATING_H

#include <heptane/scheme.h>

typedef struct hpt_generating {
    int32_t count; /* forms to store; 0 if it was not worked out (coefficients that are not small rationals) */
    int32_t rank;  /* of all forms: nothing below can generate them */
    bool smallest;
    int32_t *products; /* which, from 0; free it */
} hpt_generating;

hpt_status hpt_scheme_generating(hpt_generating *out, const hpt_scheme *scheme, hpt_factor factor, hpt_error *error);

#endif
