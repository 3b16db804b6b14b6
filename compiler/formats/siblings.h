/* siblings.h - schemes in three files NAME_L, NAME_R, NAME_P: the one that was named and the two beside it. */
#ifndef HPT_FORMATS_SIBLINGS_H
#define HPT_FORMATS_SIBLINGS_H

#include "formats/formats.h"

enum { HPT_SIBLINGS_PATH = 4096 };

typedef struct hpt_siblings {
    hpt_input source[3]; /* L, R, P; paths and bytes are owned here */
} hpt_siblings;

/* `extension` is ".sms" or ".slp". The source's path must end in _L, _R or _P before it. */
hpt_status hpt_siblings_read(hpt_siblings *out, const hpt_input *source, const char *extension, hpt_error *error);
/* The same file set under another stem: "-ALT" in the names becomes "-CoB". */
hpt_status hpt_siblings_other(hpt_siblings *out, const hpt_siblings *these, const char *from, const char *to,
                              hpt_error *error);
void hpt_siblings_clear(hpt_siblings *siblings);

#endif
