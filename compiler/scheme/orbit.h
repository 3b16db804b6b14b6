/* orbit.h - are two schemes the same up to symmetry? Promises:
 *   - "yes" comes with a witness that was applied exactly: the transformed first scheme has the second one's hash.
 *   - "no" is said when the ranks of the factors' matrices differ, or when no change of basis maps the vectors of the
 *     rank-one factors of one scheme to those of the other; the search is complete for sizes up to 3 and schemes whose
 *     vectors contain a projective frame in every space, and is done modulo 2^31 - 1.
 *   - everything else is "undecided": larger sizes, rings other than Z and Q, schemes without frames that do not match.
 * The group: L, M, N of the sandwich, the six roles, and the scaling and order of products (which the hash ignores).
 * Source: H. F. de Groote, On varieties of optimal algorithms for the computation of bilinear mappings (1978).
 */
#ifndef HPT_ORBIT_H
#define HPT_ORBIT_H

#include "scheme/operations.h"

typedef enum hpt_answer { HPT_NO, HPT_YES, HPT_UNKNOWN } hpt_answer;

typedef struct hpt_orbit { /* first scheme: `cyclic` times hpt_scheme_cyclic, then transpose, then the sandwich */
    hpt_answer same, equivalent;
    int cyclic;
    bool transpose;
    hpt_matrix left, middle, right; /* set if equivalent is HPT_YES */
    const char *reason;             /* a sentence about "no" and "undecided" */
} hpt_orbit;

hpt_status hpt_orbit_compare(hpt_orbit *out, const hpt_scheme *a, const hpt_scheme *b, hpt_error *error);
void hpt_orbit_clear(hpt_orbit *orbit);
/* Number of symmetries of the scheme onto itself (scalars counted once); 0 if it is not finite or not known. */
hpt_status hpt_orbit_symmetries(int64_t *out, const hpt_scheme *scheme, hpt_error *error);

#endif
