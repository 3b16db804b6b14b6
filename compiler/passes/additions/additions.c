/* Greedy elimination of common pairs: the pair (variable, variable, ratio of coefficients) that occurs in most rows
 * becomes a new variable; ties are broken at random, and the best of many runs counts. */
#include "passes/additions/additions.h"
#include "passes/additions/pairs.h"
#include "scheme/modular.h"
#include <stdlib.h>
#include <string.h>

static const int64_t DEFAULT_EFFORT = 12000000;
enum { MAX_RUNS = 4000 };

typedef struct entry {
    int32_t variable;
    uint32_t coefficient; /* modulo the prime */
} entry;

typedef struct row {
    entry *entries; /* by rising variable */
    int32_t count;
} row;

typedef struct reducer {
    row *rows;
    entry *storage, *original; /* rows x width; the second is what every run starts from */
    int32_t *counts;           /* of the original rows */
    int32_t row_count, width, variables, inputs;
    hpt_pairs pairs;
    int64_t limit; /* of the changes in all runs together */
} reducer;

static uint32_t ratio_of(uint32_t second, uint32_t first) {
    if (first == 1) return second;
    if (first == HPT_MODULAR_PRIME - 1) return HPT_MODULAR_PRIME - second;
    if (first == second) return 1;
    return hpt_modular_mul(second, hpt_modular_inverse(first));
}

/* All pairs of entry i with those from `from` on. */
static void change_pairs(reducer *d, const row *w, int32_t i, int32_t from, int32_t by) {
    for (int32_t j = from; j < w->count; j++) {
        if (j == i) continue;
        const entry *a = &w->entries[i < j ? i : j], *b = &w->entries[i < j ? j : i];
        hpt_pairs_change(&d->pairs, a->variable, b->variable, ratio_of(b->coefficient, a->coefficient), by);
    }
}

/* In one row, the pair at i and j gives way to the new variable, whose number is the largest. */
static void substitute_in(reducer *d, row *w, int32_t i, int32_t j, int32_t variable) {
    uint32_t coefficient = w->entries[i].coefficient;
    change_pairs(d, w, j, 0, -1);
    memmove(&w->entries[j], &w->entries[j + 1], (size_t)(w->count - j - 1) * sizeof(entry));
    w->count--;
    change_pairs(d, w, i, 0, -1);
    memmove(&w->entries[i], &w->entries[i + 1], (size_t)(w->count - i - 1) * sizeof(entry));
    w->entries[w->count - 1] = (entry){variable, coefficient};
    change_pairs(d, w, w->count - 1, 0, 1);
}

static int32_t position(const row *w, int32_t variable) {
    int32_t low = 0, high = w->count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (w->entries[middle].variable < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->count && w->entries[low].variable == variable ? low : -1;
}

/* Replaces the pair by a new variable, first + ratio second, wherever it occurs. */
static void substitute(reducer *d, const hpt_pair *p) {
    int32_t variable = d->variables++;
    for (int32_t r = 0; r < d->row_count; r++) {
        row *w = &d->rows[r];
        int32_t i = position(w, p->first), j = i < 0 ? -1 : position(w, p->second);
        if (j >= 0 && ratio_of(w->entries[j].coefficient, w->entries[i].coefficient) == p->ratio)
            substitute_in(d, w, i, j, variable);
    }
}

static int64_t run_once(reducer *d, bool loose) {
    memcpy(d->storage, d->original, (size_t)d->row_count * (size_t)d->width * sizeof(entry));
    hpt_pairs_reset(&d->pairs);
    for (int32_t r = 0; r < d->row_count; r++) {
        d->rows[r].count = d->counts[r];
        for (int32_t i = 0; i < d->rows[r].count; i++) change_pairs(d, &d->rows[r], i, i + 1, 1);
    }
    d->variables = d->inputs;
    hpt_pair best;
    while (d->pairs.steps < d->limit && hpt_pairs_best(&best, &d->pairs, loose && hpt_pairs_random(&d->pairs) % 8 == 0))
        substitute(d, &best);
    int64_t additions = d->variables - d->inputs;
    for (int32_t r = 0; r < d->row_count; r++)
        if (d->rows[r].count > 1) additions += d->rows[r].count - 1;
    return additions;
}

static void clear(reducer *d) {
    free(d->rows);
    free(d->storage);
    free(d->original);
    free(d->counts);
    hpt_pairs_clear(&d->pairs);
}

/* matrix: outputs x inputs residues. */
static bool prepare(reducer *d, const uint32_t *matrix, int32_t outputs, int32_t inputs, bool transposed) {
    int32_t rows = transposed ? inputs : outputs, columns = transposed ? outputs : inputs;
    *d = (reducer){.row_count = rows, .inputs = columns, .pairs.random = 1};
    d->counts = calloc((size_t)rows, sizeof *d->counts);
    if (!d->counts) return false;
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) d->counts[r] += matrix[transposed ? c * inputs + r : r * inputs + c] != 0;
        if (d->counts[r] > d->width) d->width = d->counts[r];
    }
    d->rows = calloc((size_t)rows, sizeof *d->rows);
    d->storage = calloc((size_t)rows * (size_t)d->width + 1, sizeof *d->storage);
    d->original = calloc((size_t)rows * (size_t)d->width + 1, sizeof *d->original);
    if (!d->rows || !d->storage || !d->original) return false;
    for (int32_t r = 0; r < rows; r++) {
        int32_t k = 0;
        d->rows[r].entries = d->storage + (size_t)r * (size_t)d->width;
        for (int32_t c = 0; c < columns; c++) {
            uint32_t residue = matrix[transposed ? c * inputs + r : r * inputs + c];
            if (residue) d->original[r * d->width + k++] = (entry){c, residue};
        }
    }
    return true;
}

static int64_t pair_count(const reducer *d) {
    int64_t count = 0;
    for (int32_t r = 0; d->counts && r < d->row_count; r++) count += (int64_t)d->counts[r] * (d->counts[r] - 1) / 2;
    return count;
}

/* The fewest additions found for outputs x inputs, in either direction. */
static hpt_status reduce(int64_t *out, const uint32_t *matrix, int32_t outputs, int32_t inputs, int64_t effort,
                         hpt_error *error) {
    hpt_status status = HPT_OK;
    for (int transposed = 0; transposed < 2; transposed++) {
        reducer d;
        bool ready = prepare(&d, matrix, outputs, inputs, transposed);
        d.limit = effort / 2;
        if (pair_count(&d) > d.limit) d.limit = 0; /* counting alone is too much: the naive number stands */
        for (int run = 0; ready && run < MAX_RUNS && d.pairs.steps < d.limit && !d.pairs.failed; run++) {
            int64_t additions = run_once(&d, run % 2) + (transposed ? inputs - outputs : 0);
            if (additions < *out) *out = additions;
        }
        bool failed = d.pairs.failed;
        clear(&d);
        HPT_FAIL_IF(!ready || failed, HPT_NO_MEMORY, "", "Out of memory.");
    }
done:
    return status;
}

/* W's rows are products; its outputs are the columns. */
static void transpose(uint32_t *out, const uint32_t *in, int32_t rows, int32_t columns) {
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) out[c * rows + r] = in[r * columns + c];
}

static hpt_status reduce_factor(int64_t *out, const hpt_scheme *s, hpt_factor f, int64_t effort, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t entries = hpt_scheme_entries(s, f), rank = hpt_scheme_rank(s);
    uint32_t *rows = hpt_modular_rows(s, f), *turned = malloc((size_t)entries * (size_t)rank * sizeof *turned);
    HPT_FAIL_IF(!rows || !turned, HPT_NO_MEMORY, "", "Out of memory.");
    transpose(turned, rows, rank, entries);
    if (f == HPT_W)
        HPT_TRY(reduce(out, turned, entries, rank, effort, error));
    else
        HPT_TRY(reduce(out, rows, rank, entries, effort, error));
done:
    free(turned);
    free(rows);
    return status;
}

hpt_status hpt_additions_count(hpt_additions *out, const hpt_scheme *s, int64_t effort, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool possible = hpt_modular_possible(s);
    for (int f = 0; f < 3; f++) {
        int64_t forms = f == HPT_W ? hpt_scheme_entries(s, HPT_W) : hpt_scheme_rank(s);
        out->naive[f] = out->reduced[f] = (int64_t)hpt_scheme_nonzeros(s, (hpt_factor)f) - forms;
        if (possible)
            HPT_TRY(reduce_factor(&out->reduced[f], s, (hpt_factor)f, effort ? effort : DEFAULT_EFFORT, error));
    }
done:
    return status;
}
