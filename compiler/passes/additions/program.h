/* program.h - a linear program without its order: rows that are sums of inputs and of other rows. Promises:
 *   - the first rows are the outputs; each later row defines a variable; no row depends on itself.
 *   - coefficients are residues modulo HPT_MODULAR_PRIME; a row's entries stand by rising variable, none is zero.
 *   - every operation keeps what the outputs are as combinations of the inputs.
 */
#ifndef HPT_ADDITIONS_PROGRAM_H
#define HPT_ADDITIONS_PROGRAM_H

#include "passes/additions/pairs.h"

typedef struct hpt_entry {
    int32_t variable; /* inputs first; then inputs + k is what row outputs + k defines */
    uint32_t coefficient;
} hpt_entry;

typedef struct hpt_row {
    hpt_entry *entries;
    int32_t count, capacity;
} hpt_row;

typedef struct hpt_program { /* zero-initialise */
    hpt_row *rows;
    int32_t inputs, outputs, count, capacity; /* count: of rows */
    bool failed;                              /* memory ran out: only good for clearing */
} hpt_program;

void hpt_program_clear(hpt_program *program);
/* outputs x inputs residues, or its transpose. */
void hpt_program_start(hpt_program *program, const uint32_t *matrix, int32_t outputs, int32_t inputs, bool transposed);
void hpt_program_copy(hpt_program *to, const hpt_program *from);
int64_t hpt_program_additions(const hpt_program *program);
/* Pairs of entries in all rows: what one pass of hpt_program_reduce takes at least, in steps. */
int64_t hpt_program_pairs(const hpt_program *program);

/* The most frequent pair of entries becomes a row, until none occurs twice or `pairs` has done `limit` steps. `loose`:
 * now and then the next frequent one. */
void hpt_program_reduce(hpt_program *program, hpt_pairs *pairs, int64_t limit, bool loose);
/* The variable of a row gives way to what the row says; the row is then empty. */
void hpt_program_inline(hpt_program *program, int32_t row);
/* Inlines what is used once or is a multiple of another variable, and renumbers without empty rows. */
void hpt_program_tidy(hpt_program *program);
/* True if the outputs are those of `original`, which has no rows but outputs. */
bool hpt_program_agrees(const hpt_program *program, const hpt_program *original);

#endif
