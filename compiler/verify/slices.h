/* slices.h - the sums of the Brent equations, a slice at a time. Promises:
 *   - for each X-entry a (and block of Y-entries b) all sums over the products are accumulated in one dense buffer of
 * at most HPT_SLICE_BYTES per thread, touching only products that use a; untouched rows cost nothing.
 *   - says how far it is and ends soon after an interruption, with HPT_INTERRUPTED.
 *   - counts the failing equations and finds the first in the order (a, b, c), whatever the number of threads.
 */
#ifndef HPT_SLICES_H
#define HPT_SLICES_H

#include "verify/algebra.h"

enum { HPT_SLICE_BYTES = 64 << 20 };

typedef struct hpt_slices_result {
    int64_t failing;
    int64_t first[3];    /* entries a, b, c counted from 0; meaningful if failing > 0 */
    slong border_degree; /* Laurent: lowest power of x left over, 0 if nothing is left over */
} hpt_slices_result;

hpt_status hpt_slices_check(hpt_slices_result *out, const hpt_scheme *scheme, hpt_algebra *algebra,
                            const hpt_progress *progress, hpt_error *error);

#endif
