/* field.h - what bench and tune compare on: one size with its data on the device, and variants of an operation that all
 * work on it. */
#ifndef HPT_CLI_FIELD_H
#define HPT_CLI_FIELD_H

#include "measure.h"
#include "problem.h"
#include "source.h"
#include "tune/tuned.h"

typedef struct hpt_field {
    hpt_context *context;
    hpt_data data;
    hpt_number_type baseline_type, baseline_out;
    uint64_t x, y, c;        /* device memory; c has room for f32 */
    uint64_t base_x, base_y; /* the same values in the baseline's type */
    void *host;              /* room for one output */
} hpt_field;

/* Data for an op's types and layout. baseline_type NULL: the op's input type; bf16 rounds all data to bf16. */
hpt_status hpt_field_create(hpt_field *out, hpt_context *context, const hpt_op *op, const hpt_shape *shape,
                            uint64_t seed, const char *baseline_type, hpt_error *error);
void hpt_field_clear(hpt_field *field);

typedef struct hpt_variant { /* a scheme with its chaining and plan, emitted, compiled and loaded */
    char name[128], plan[128];
    char settings[128]; /* further parameters of the call */
    bool unchained;
    hpt_op *op;
} hpt_variant;

/* Name and plan from "SCHEME" or "SCHEME@PLAN". */
hpt_status hpt_variant_parse(hpt_variant *out, const char *text, hpt_error *error);
/* `options` but for chain and plan, which come from the variant where it has them. */
hpt_status hpt_variant_open(hpt_variant *variant, hpt_context *context, const hpt_source_options *options,
                            hpt_error *error);
/* All of several, up to the first that fails. */
hpt_status hpt_variants_open(hpt_variant *variants, size_t count, hpt_context *context,
                             const hpt_source_options *options, hpt_error *error);
/* The same as hpt_variant_open for what heptane tune has chosen; an error is followed to where it is remembered. */
hpt_status hpt_variant_open_tuned(hpt_variant *v, hpt_context *context, const hpt_source_options *options,
                                  hpt_error *error);
void hpt_variant_close(hpt_variant *variant);
/* A problem on the field's memory; refuses an op of other types or layout than the field's. `data` is the field's, or a
 * copy with other settings that lives as long as the problem. */
hpt_status hpt_variant_problem(hpt_problem *out, const hpt_variant *variant, const hpt_field *field,
                               const hpt_data *data, hpt_error *error);

/* Under what `heptane tune` remembers its choice for this field and an op of the same types; `sums`: of --sums. */
hpt_status hpt_field_key(hpt_tuned_key *out, const hpt_field *field, const hpt_op *op, const char *sums,
                         hpt_error *error);

/* A GPU and its meter for a command that times; schemes will be emitted for it. */
hpt_status hpt_timed_gpu_open(hpt_context **context, hpt_meter **meter, hpt_source_options *options, int64_t device,
                              hpt_error *error);
/* --op of a command that times one product; HPT_USAGE if it names something else. */
hpt_status hpt_timed_op_check(const char *op, hpt_error *error);
/* "4096,8192x34816x5120", at least one */
hpt_status hpt_sizes_parse(hpt_shape *out, size_t *count, size_t most, const char *text, hpt_error *error);
/* "1,16,4096": counts of tokens, at least one */
hpt_status hpt_tokens_parse(int64_t *out, size_t *count, size_t most, const char *text, hpt_error *error);

#endif
