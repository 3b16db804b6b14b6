/* bench_kinds.h - the ways to run a product that `heptane bench` times: with the forms of X made each time, without,
 * and with those of Y made each time as well. */
#ifndef HPT_CLI_BENCH_KINDS_H
#define HPT_CLI_BENCH_KINDS_H

#include "field.h"
#include "measure.h"

enum { HPT_BENCH_KINDS = 3 };
typedef struct hpt_bench_kind {
    const char *forms;     /* "included", "excluded", "fresh"; "none": the product needs none */
    hpt_runnable runnable; /* lives as long as the problems it was made of */
    hpt_pair pair;
    hpt_alone alone;
    double forms_seconds, forms_bytes; /* of making all forms of X by themselves; 0: not measured */
} hpt_bench_kind;

/* Runs a problem twice: the result against the reference, and whether both are the same to the last bit. */
hpt_status hpt_bench_check(hpt_check *out, bool *identical, const hpt_field *field, hpt_problem *problem,
                           hpt_meter *meter, hpt_error *error);
/* `apart`: the same product as a problem of its own that makes all forms of X before the product; cleared if there are
 * none. */
hpt_status hpt_bench_kinds_make(hpt_bench_kind out[HPT_BENCH_KINDS], size_t *count, const hpt_field *field,
                                hpt_problem *whole, hpt_problem *apart, bool fresh, hpt_meter *meter, hpt_error *error);

#endif
