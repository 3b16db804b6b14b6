/* Greedy elimination of common pairs from many random starts, then undoing and redoing parts of the best program. */
#include "passes/additions/additions.h"
#include "passes/additions/program.h"
#include "scheme/modular.h"
#include <stdlib.h>

static const int64_t DEFAULT_EFFORT = 12000000, EFFORT_PER_TERM = 10000;
enum { MAX_RUNS = 4000, MAX_MENDS = 20000, MOST_UNDONE = 6 };

/* Greedy runs from the original; the best program stays in *best. */
static void restart(hpt_program *best, const hpt_program *original, int64_t limit, const hpt_progress *progress) {
    hpt_program trial = {0};
    hpt_pairs pairs = {.random = 1};
    for (int run = 0; run < MAX_RUNS && pairs.steps < limit && !pairs.failed && !trial.failed && !best->failed; run++) {
        if (hpt_progress_interrupted(progress)) break;
        hpt_program_copy(&trial, original);
        hpt_program_reduce(&trial, &pairs, limit, run % 2);
        if (hpt_program_additions(&trial) < hpt_program_additions(best)) hpt_program_copy(best, &trial);
    }
    best->failed |= pairs.failed || trial.failed;
    hpt_pairs_clear(&pairs);
    hpt_program_clear(&trial);
}

/* Inlines a few variables of the best program and shares pairs anew; what is no worse is kept. Terms that cancel when a
 * variable is inlined are found this way, too. */
static void mend(hpt_program *best, int64_t limit, const hpt_progress *progress) {
    hpt_program trial = {0};
    hpt_pairs pairs = {.random = 2};
    hpt_program_tidy(best);
    for (int turn = 0; turn < MAX_MENDS && pairs.steps < limit && !pairs.failed && !trial.failed && !best->failed;
         turn++) {
        int32_t variables = best->count - best->outputs;
        if (variables < 1 || hpt_progress_interrupted(progress)) break;
        hpt_program_copy(&trial, best);
        for (uint64_t undone = 1 + hpt_pairs_random(&pairs) % MOST_UNDONE; undone > 0; undone--)
            hpt_program_inline(&trial, trial.outputs + (int32_t)(hpt_pairs_random(&pairs) % (uint64_t)variables));
        hpt_program_reduce(&trial, &pairs, limit, turn % 2);
        hpt_program_tidy(&trial);
        pairs.steps += trial.count; /* copying and tidying take time, too */
        if (hpt_program_additions(&trial) > hpt_program_additions(best)) continue;
        hpt_program held = *best;
        *best = trial, trial = held;
    }
    best->failed |= pairs.failed || trial.failed;
    hpt_pairs_clear(&pairs);
    hpt_program_clear(&trial);
}

/* The fewest additions found for outputs x inputs, in either direction. */
static hpt_status reduce(int64_t *out, const uint32_t *matrix, int32_t outputs, int32_t inputs, int64_t effort,
                         const hpt_progress *progress, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_program original = {0}, best = {0};
    for (int transposed = 0; transposed < 2; transposed++) {
        hpt_program_start(&original, matrix, outputs, inputs, transposed);
        hpt_program_copy(&best, &original);
        bool small = hpt_program_pairs(&original) <= effort / 2; /* else counting alone is too much */
        if (small) restart(&best, &original, effort / 16, progress);
        if (small) mend(&best, effort / 16 * 7, progress);
        HPT_FAIL_NO_MEMORY(!original.failed && !best.failed);
        HPT_FAIL_IF(hpt_progress_interrupted(progress), HPT_INTERRUPTED, "", "Interrupted.");
        HPT_FAIL_IF(!hpt_program_agrees(&best, &original), HPT_INTERNAL, "additions",
                    "A program with fewer additions computes something else.");
        int64_t additions = hpt_program_additions(&best) + (transposed ? inputs - outputs : 0);
        if (additions < *out) *out = additions;
        hpt_program_clear(&original);
        hpt_program_clear(&best);
    }
done:
    hpt_program_clear(&original);
    hpt_program_clear(&best);
    return status;
}

/* W's rows are products; its outputs are the columns. */
static void transpose(uint32_t *out, const uint32_t *in, int32_t rows, int32_t columns) {
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) out[c * rows + r] = in[r * columns + c];
}

static hpt_status reduce_factor(int64_t *out, const hpt_scheme *s, hpt_factor f, int64_t effort,
                                const hpt_progress *progress, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t entries = hpt_scheme_entries(s, f), rank = hpt_scheme_rank(s);
    uint32_t *rows = hpt_modular_rows(s, f), *turned = malloc((size_t)entries * (size_t)rank * sizeof *turned);
    HPT_FAIL_IF(!rows || !turned, HPT_NO_MEMORY, "", "Out of memory.");
    transpose(turned, rows, rank, entries);
    if (f == HPT_W)
        HPT_TRY(reduce(out, turned, entries, rank, effort, progress, error));
    else
        HPT_TRY(reduce(out, rows, rank, entries, effort, progress, error));
done:
    free(turned);
    free(rows);
    return status;
}

hpt_status hpt_additions_count(hpt_additions *out, const hpt_scheme *s, int64_t effort, const hpt_progress *progress,
                               hpt_error *error) {
    hpt_status status = HPT_OK;
    bool possible = hpt_modular_possible(s);
    for (int f = 0; f < 3; f++) {
        int64_t terms = (int64_t)hpt_scheme_nonzeros(s, (hpt_factor)f);
        int64_t forms = f == HPT_W ? hpt_scheme_entries(s, HPT_W) : hpt_scheme_rank(s);
        out->naive[f] = out->reduced[f] = terms - forms;
        if (possible)
            HPT_TRY(reduce_factor(&out->reduced[f], s, (hpt_factor)f,
                                  effort ? effort : DEFAULT_EFFORT + EFFORT_PER_TERM * terms, progress, error));
    }
done:
    return status;
}
