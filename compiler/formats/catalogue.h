/* catalogue.h - the schemes that come with Heptane. Promises:
 *   - names are "strassen" or "3x3x3:23"; files are schemes/NxMxP/NAME.json, NAME without the shape.
 *   - found beside the sources or in the installed data folder, whatever the working directory.
 */
#ifndef HPT_CATALOGUE_H
#define HPT_CATALOGUE_H

#include "core.h"

/* The file of a catalogue name (malloc'd); HPT_NOT_FOUND says what was looked for. */
hpt_status hpt_catalogue_find(char **path, const char *name, hpt_error *error);
/* All files, sorted by shape and name: a NULL-terminated list to free with hpt_catalogue_free. */
hpt_status hpt_catalogue_list(char ***paths, hpt_error *error);
void hpt_catalogue_free(char **paths);
/* "3x3x3:23" or "strassen" for a catalogue file (malloc'd). */
char *hpt_catalogue_name(const char *path);

#endif
