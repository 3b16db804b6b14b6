/* recognise.h - exact numbers behind rounded decimals. Promises:
 *   - what it returns is verified exactly; a guess that does not check out is never returned.
 *   - tries rationals with small denominators, then one square root for the whole scheme.
 */
#ifndef HPT_RECOGNISE_H
#define HPT_RECOGNISE_H

#include "scheme/scheme.h"

/* *out is NULL if nothing fits. */
hpt_status hpt_scheme_recognise(hpt_scheme **out, const hpt_scheme *scheme, hpt_error *error);

#endif
