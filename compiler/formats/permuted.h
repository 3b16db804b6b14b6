/* permuted.h - catalogue names under another order of the sizes: 4x3x5:47 is 3x4x5:47 with its roles permuted. */
#ifndef HPT_FORMATS_PERMUTED_H
#define HPT_FORMATS_PERMUTED_H

#include "formats/formats.h"

/* HPT_NOT_FOUND if no order of the sizes is in the catalogue. */
hpt_status hpt_permuted_read(hpt_scheme **out, const char *name, const hpt_read_options *options, hpt_error *error);

#endif
