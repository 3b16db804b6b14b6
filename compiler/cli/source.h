/* source.h - from what a user names (an operation folder, a scheme file, a catalogue entry) to an operation folder on
 * disk, loaded. A scheme is read, chained with the target's accumulators and emitted into a temporary folder, which is
 * gone when the kernels are in memory. Shared by run, bench and tune.
 */
#ifndef HPT_CLI_SOURCE_H
#define HPT_CLI_SOURCE_H

#include "cli.h"
#include <heptane/emit.h>
#include <heptane/rt.h>

typedef struct hpt_source_options {
    hpt_emit_options emit;
    const char *chain;         /* "optimal" (NULL) or "none" */
    const char *shape;         /* "n,m,p" where a file does not tell; NULL */
    const char *ring, *format; /* of the scheme file; NULL: from its content */
    double time_limit;         /* of the chaining; 0: its default */
} hpt_source_options;

hpt_status hpt_source_open(hpt_op **out, hpt_context *context, const char *name, const hpt_source_options *options,
                           hpt_error *error);
/* The device for `name`: the one asked for, else a GPU; where there is none, an emulator of the target that the
 * operation folder was made for (sm_90a for a scheme). Fills in options->emit.target where it was left open. */
hpt_status hpt_source_context(hpt_context **out, const char *name, const char *backend, int64_t device,
                              hpt_source_options *options, hpt_error *error);
/* For a command whose options are about `name` alone: HPT_USAGE if that is a folder, which is emitted already, and
 * options for emitting are given. Before hpt_source_context. */
hpt_status hpt_source_refuse(const char *name, const hpt_source_options *options, hpt_error *error);
/* rm -r */
void hpt_folder_remove(const char *path);
/* "n,m,p" */
hpt_status hpt_parse_three(int64_t out[3], const char *text, const char *where, hpt_error *error);

#endif
