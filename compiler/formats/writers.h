/* writers.h - the formats that can be written; rows of formats.def name them. */
#ifndef HPT_FORMATS_WRITERS_H
#define HPT_FORMATS_WRITERS_H

#include "formats/formats.h"

hpt_status hpt_heptane_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_perminov_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_mathematica_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_exp_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_uvw_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_perminov_txt_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_maple_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);
hpt_status hpt_bini_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

#endif
