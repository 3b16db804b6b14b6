/* archive.h - files inside gzip and zip files. Promises:
 *   - unpacked sizes are bounded (HPT_MEMBER_LIMIT) before and while unpacking: bombs are refused with little memory.
 *   - a zip member is named by FILE#MEMBER, with or without its extension .npy; the only member needs no name.
 */
#ifndef HPT_FORMATS_ARCHIVE_H
#define HPT_FORMATS_ARCHIVE_H

#include "formats/formats.h"

enum { HPT_MEMBER_LIMIT = 64 << 20 };

/* If the input is packed: *bytes and *path (malloc'd) are what is inside, `out` refers to them, and its member is
 * spent. Otherwise *out = *input and both are NULL. */
hpt_status hpt_archive_unpack(hpt_input *out, char **bytes, char **path, const hpt_input *input, hpt_error *error);

#endif
