/* Greedy elimination of common pairs: the pair (variable, variable, ratio of coefficients) that occurs in most rows
 * becomes a new variable; ties are broken at random, and the best of many runs counts. */
#include "passes/additions/additions.h"
#include "scheme/modular.h"
#include <stdlib.h>
#include <string.h>

static const int64_t DEFAULT_EFFORT = 40000000;
enum { MAX_RUNS = 4000 };

typedef struct entry {
    int32_t variable;
    uint32_t coefficient; /* modulo the prime */
} entry;

typedef struct row {
    entry *entries; /* by rising variable */
    int32_t count;
} row;

typedef struct pair {
    int32_t first, second;
    uint32_t ratio; /* coefficient of second / of first */
    int32_t count;  /* rows it occurs in; 0: a free slot */
} pair;

typedef struct reducer {
    row *rows;
    entry *storage, *original; /* rows x width; the second is what every run starts from */
    int32_t *counts;           /* of the original rows */
    int32_t row_count, width, variables, inputs;
    pair *table;
    size_t table_size;
    uint32_t *inverse; /* by coefficient, a small cache */
    uint64_t random;
    int64_t steps;
} reducer;

static uint64_t next_random(reducer *d) { /* splitmix64 */
    uint64_t z = d->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t ratio_of(uint32_t second, uint32_t first) {
    if (first == 1) return second;
    if (first == HPT_MODULAR_PRIME - 1) return HPT_MODULAR_PRIME - second;
    if (first == second) return 1;
    return hpt_modular_mul(second, hpt_modular_inverse(first));
}

static pair *find(reducer *d, int32_t first, int32_t second, uint32_t ratio) {
    uint64_t hash = ((uint64_t)(uint32_t)first * 0x9e3779b1u ^ (uint64_t)(uint32_t)second * 0x85ebca77u ^ ratio) *
                    0xff51afd7ed558ccdu;
    size_t at = (size_t)(hash >> 20) & (d->table_size - 1);
    for (; d->table[at].count > 0; at = (at + 1) & (d->table_size - 1)) {
        pair *p = &d->table[at];
        if (p->first == first && p->second == second && p->ratio == ratio) return p;
    }
    d->table[at] = (pair){first, second, ratio, 0};
    return &d->table[at];
}

/* Counts all pairs of all rows and returns the best, or NULL if none occurs twice. */
static const pair *best_pair(reducer *d, bool loose) {
    const pair *best = NULL;
    uint32_t ties = 0;
    int32_t wanted = 2;
    memset(d->table, 0, d->table_size * sizeof *d->table);
    for (int32_t r = 0; r < d->row_count; r++)
        for (int32_t i = 0; i < d->rows[r].count; i++)
            for (int32_t j = i + 1; j < d->rows[r].count; j++) {
                const entry *a = &d->rows[r].entries[i], *b = &d->rows[r].entries[j];
                pair *p = find(d, a->variable, b->variable, ratio_of(b->coefficient, a->coefficient));
                p->count++;
                if (p->count > wanted) wanted = p->count;
                d->steps++;
            }
    if (loose && wanted > 2 && next_random(d) % 8 == 0) wanted--; /* not always the greediest choice */
    for (size_t i = 0; i < d->table_size; i++) {
        if (d->table[i].count < wanted) continue;
        ties++;
        if (next_random(d) % ties == 0) best = &d->table[i];
    }
    return best;
}

/* Replaces the pair by a new variable, wherever it occurs; the variable is first + ratio second. */
static void substitute(reducer *d, pair p) {
    int32_t variable = d->variables++;
    for (int32_t r = 0; r < d->row_count; r++) {
        row *w = &d->rows[r];
        int32_t i = 0, j;
        while (i < w->count && w->entries[i].variable < p.first) i++;
        if (i == w->count || w->entries[i].variable != p.first) continue;
        for (j = i + 1; j < w->count && w->entries[j].variable < p.second; j++) continue;
        if (j == w->count || w->entries[j].variable != p.second) continue;
        uint32_t coefficient = w->entries[i].coefficient;
        if (ratio_of(w->entries[j].coefficient, coefficient) != p.ratio) continue;
        memmove(&w->entries[j], &w->entries[j + 1], (size_t)(w->count - j - 1) * sizeof(entry));
        memmove(&w->entries[i], &w->entries[i + 1], (size_t)(w->count - i - 2) * sizeof(entry));
        w->entries[w->count - 2] = (entry){variable, coefficient}; /* the largest number comes last */
        w->count--;
    }
}

static int64_t run_once(reducer *d, bool loose) {
    memcpy(d->storage, d->original, (size_t)d->row_count * (size_t)d->width * sizeof(entry));
    for (int32_t r = 0; r < d->row_count; r++) d->rows[r].count = d->counts[r];
    d->variables = d->inputs;
    for (const pair *p; (p = best_pair(d, loose));) substitute(d, *p);
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
    free(d->table);
}

/* matrix: outputs x inputs residues. */
static bool prepare(reducer *d, const uint32_t *matrix, int32_t outputs, int32_t inputs, bool transposed) {
    int32_t rows = transposed ? inputs : outputs, columns = transposed ? outputs : inputs;
    size_t pairs = 0;
    *d = (reducer){.row_count = rows, .inputs = columns, .random = 1};
    d->counts = calloc((size_t)rows, sizeof *d->counts);
    if (!d->counts) return false;
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) d->counts[r] += matrix[transposed ? c * inputs + r : r * inputs + c] != 0;
        if (d->counts[r] > d->width) d->width = d->counts[r];
        pairs += (size_t)d->counts[r] * (size_t)d->counts[r] / 2;
    }
    for (d->table_size = 64; d->table_size < 2 * pairs + 64;) d->table_size *= 2;
    d->rows = calloc((size_t)rows, sizeof *d->rows);
    d->storage = calloc((size_t)rows * (size_t)d->width + 1, sizeof *d->storage);
    d->original = calloc((size_t)rows * (size_t)d->width + 1, sizeof *d->original);
    d->table = malloc(d->table_size * sizeof *d->table);
    if (!d->rows || !d->storage || !d->original || !d->table) return false;
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

/* The fewest additions found for outputs x inputs, in either direction. */
static hpt_status reduce(int64_t *out, const uint32_t *matrix, int32_t outputs, int32_t inputs, int64_t effort,
                         hpt_error *error) {
    hpt_status status = HPT_OK;
    for (int transposed = 0; transposed < 2; transposed++) {
        reducer d;
        bool ready = prepare(&d, matrix, outputs, inputs, transposed);
        for (int run = 0; ready && run < MAX_RUNS && d.steps < effort / 2; run++) {
            int64_t additions = run_once(&d, run % 2) + (transposed ? inputs - outputs : 0);
            if (additions < *out) *out = additions;
        }
        clear(&d);
        HPT_FAIL_IF(!ready, HPT_NO_MEMORY, "", "Out of memory.");
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
