/* choose.h - among equivalent schemes, one with fewer writes. Promises: the result has the same shape and rank and is
 * related to the input by role symmetries and changes of basis X -> L X M^-1, Y -> M Y N^-1 only, so it is a correct
 * scheme if the input is one, and never needs more writes; it is the best of a beam search, not proved best;
 * deterministic unless the time ran out.
 */
#ifndef HPT_CHOOSE_H
#define HPT_CHOOSE_H

#include "core/core.h"
#include <heptane/scheme.h>

hpt_status hpt_chain_choose(hpt_scheme **out, const hpt_scheme *scheme, double seconds, const hpt_progress *progress,
                            hpt_error *error);

#endif
