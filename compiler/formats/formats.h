/* formats.h - one descriptor per scheme format. Promises:
 *   - a format is one file here and one row in formats.def.
 *   - `detect` looks at content (and never at the name alone); the highest score reads, 0 means "not mine".
 *   - readers are strict: what they do not understand is an error with a place (file:line:column or array and index).
 *   - readers see bytes in memory and execute nothing. Schemes in several files find the others beside the first
 * (siblings.h).
 */
#ifndef HPT_FORMATS_H
#define HPT_FORMATS_H

#include "scheme/scheme.h"

enum { HPT_FILE_LIMIT = 256 << 20 };

/* What readers say about the third factor (see hpt_scheme_convention). */
#define HPT_OUTPUT_PLAIN "third factor not transposed"
#define HPT_OUTPUT_TRANSPOSED "third factor transposed"

typedef struct hpt_input {
    const char *path;   /* as the user named it, without #MEMBER */
    const char *member; /* what follows '#', or NULL */
    const char *bytes;  /* NUL behind the last */
    size_t length;
    const hpt_read_options *options; /* never NULL */
    const struct hpt_input *beside;  /* files in memory that stand in for those beside `path`; NULL: only the disk */
    size_t beside_count;
} hpt_input;

typedef struct hpt_format {
    const char *name;
    const char *summary;
    int (*detect)(const hpt_input *source); /* 0 .. 100 */
    hpt_status (*read)(hpt_scheme **out, const hpt_input *source, hpt_error *error);
    hpt_status (*write)(hpt_text *out, const hpt_scheme *scheme, hpt_error *error); /* NULL: read only */
} hpt_format;

const hpt_format *hpt_format_find(const char *name); /* NULL if there is none */
const hpt_format *hpt_format_at(size_t i);           /* NULL behind the last */

/* Bytes in memory to a settled scheme: the format from its content, then ring and layout (settle.h). */
hpt_status hpt_input_read(hpt_scheme **out, const hpt_input *input, hpt_error *error);

/* Sets ring (options->ring, or `ring` if that is NULL), name and format of a new builder. */
hpt_status hpt_reader_start(hpt_builder **out, const hpt_input *source, const char *format, int64_t n, int64_t m,
                            int64_t p, int64_t rank, const char *ring, hpt_error *error);

#endif
