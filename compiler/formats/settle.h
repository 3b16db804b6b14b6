/* settle.h - what a file leaves open, decided by checking: the ring, and how the factors are laid out. */
#ifndef HPT_FORMATS_SETTLE_H
#define HPT_FORMATS_SETTLE_H

#include "formats/formats.h"

/* Replaces *scheme by itself over options->ring; else, if it is refuted as it stands, by the one reading (each factor
 * by rows or by columns) that is a correct scheme, if there is one; by itself over GF(2) if its zeros and ones hold
 * only there; or, if it has rounded decimals, by exact numbers near them that make it correct. The verdict stays with
 * it. */
hpt_status hpt_scheme_settle(hpt_scheme **scheme, const hpt_read_options *options, hpt_error *error);

#endif
