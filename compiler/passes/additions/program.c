#include "passes/additions/program.h"
#include "scheme/modular.h"
#include <stdlib.h>
#include <string.h>

void hpt_program_clear(hpt_program *p) {
    for (int32_t r = 0; r < p->capacity; r++) free(p->rows[r].entries);
    free(p->rows);
    *p = (hpt_program){0};
}

static bool reserve(hpt_row *row, int32_t count) {
    if (count <= row->capacity) return true;
    int32_t capacity = count + count / 2 + 4;
    hpt_entry *entries = realloc(row->entries, (size_t)capacity * sizeof *entries);
    if (!entries) return false;
    row->entries = entries;
    row->capacity = capacity;
    return true;
}

/* One more row with room for `count` entries; NULL when memory ran out. */
static hpt_row *add_row(hpt_program *p, int32_t count) {
    if (p->count == p->capacity) {
        int32_t capacity = p->capacity ? p->capacity * 2 : 64;
        hpt_row *rows = realloc(p->rows, (size_t)capacity * sizeof *rows);
        p->failed |= !rows;
        if (!rows) return NULL;
        memset(rows + p->capacity, 0, (size_t)(capacity - p->capacity) * sizeof *rows);
        p->rows = rows;
        p->capacity = capacity;
    }
    hpt_row *row = &p->rows[p->count];
    p->failed |= !reserve(row, count);
    if (p->failed) return NULL;
    p->count++;
    row->count = 0;
    return row;
}

void hpt_program_start(hpt_program *p, const uint32_t *matrix, int32_t outputs, int32_t inputs, bool transposed) {
    int32_t rows = transposed ? inputs : outputs, columns = transposed ? outputs : inputs;
    *p = (hpt_program){.inputs = columns, .outputs = rows};
    for (int32_t r = 0; r < rows; r++) {
        hpt_row *row = add_row(p, columns);
        if (!row) return;
        for (int32_t c = 0; c < columns; c++) {
            uint32_t residue = matrix[transposed ? c * inputs + r : r * inputs + c];
            if (residue) row->entries[row->count++] = (hpt_entry){c, residue};
        }
    }
}

void hpt_program_copy(hpt_program *to, const hpt_program *from) {
    to->inputs = from->inputs, to->outputs = from->outputs, to->count = 0;
    for (int32_t r = 0; r < from->count; r++) {
        hpt_row *row = add_row(to, from->rows[r].count);
        if (!row) return;
        row->count = from->rows[r].count;
        if (row->count) memcpy(row->entries, from->rows[r].entries, (size_t)row->count * sizeof *row->entries);
    }
}

int64_t hpt_program_additions(const hpt_program *p) {
    int64_t additions = 0;
    for (int32_t r = 0; r < p->count; r++)
        if (p->rows[r].count > 1) additions += p->rows[r].count - 1;
    return additions;
}

int64_t hpt_program_pairs(const hpt_program *p) {
    int64_t count = 0;
    for (int32_t r = 0; r < p->count; r++) count += (int64_t)p->rows[r].count * (p->rows[r].count - 1) / 2;
    return count;
}

static int32_t position(const hpt_row *w, int32_t variable) {
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

/* ---- sharing pairs ---- */
static uint32_t ratio_of(uint32_t second, uint32_t first) {
    if (first == 1) return second;
    if (first == HPT_MODULAR_PRIME - 1) return HPT_MODULAR_PRIME - second;
    if (first == second) return 1;
    return hpt_modular_mul(second, hpt_modular_inverse(first));
}

/* All pairs of entry i with those from `from` on. */
static void change_pairs(hpt_pairs *pairs, const hpt_row *w, int32_t i, int32_t from, int32_t by) {
    for (int32_t j = from; j < w->count; j++) {
        if (j == i) continue;
        const hpt_entry *a = &w->entries[i < j ? i : j], *b = &w->entries[i < j ? j : i];
        hpt_pairs_change(pairs, a->variable, b->variable, ratio_of(b->coefficient, a->coefficient), by);
    }
}

static void drop(hpt_row *w, int32_t i) {
    memmove(&w->entries[i], &w->entries[i + 1], (size_t)(w->count - i - 1) * sizeof *w->entries);
    w->count--;
}

/* In one row, the pair at i and j gives way to the new variable, whose number is the largest. */
static void substitute_in(hpt_pairs *pairs, hpt_row *w, int32_t i, int32_t j, int32_t variable) {
    uint32_t coefficient = w->entries[i].coefficient;
    change_pairs(pairs, w, j, 0, -1);
    drop(w, j);
    change_pairs(pairs, w, i, 0, -1);
    drop(w, i);
    w->entries[w->count++] = (hpt_entry){variable, coefficient};
    change_pairs(pairs, w, w->count - 1, 0, 1);
}

/* A new row, first + ratio second, takes the pair's place wherever it occurs. */
static void substitute(hpt_program *p, hpt_pairs *pairs, const hpt_pair *pair) {
    int32_t before = p->count, variable = p->inputs + before - p->outputs;
    hpt_row *fresh = add_row(p, 2);
    if (!fresh) return;
    fresh->entries[fresh->count++] = (hpt_entry){pair->first, 1};
    fresh->entries[fresh->count++] = (hpt_entry){pair->second, pair->ratio};
    for (int32_t r = 0; r < before; r++) {
        hpt_row *w = &p->rows[r];
        int32_t i = position(w, pair->first), j = i < 0 ? -1 : position(w, pair->second);
        if (j >= 0 && ratio_of(w->entries[j].coefficient, w->entries[i].coefficient) == pair->ratio)
            substitute_in(pairs, w, i, j, variable);
    }
}

void hpt_program_reduce(hpt_program *p, hpt_pairs *pairs, int64_t limit, bool loose) {
    hpt_pair best;
    hpt_pairs_reset(pairs);
    for (int32_t r = 0; r < p->count; r++)
        for (int32_t i = 0; i < p->rows[r].count; i++) change_pairs(pairs, &p->rows[r], i, i + 1, 1);
    while (pairs->steps < limit && !p->failed &&
           hpt_pairs_best(&best, pairs, loose && hpt_pairs_random(pairs) % 8 == 0))
        substitute(p, pairs, &best);
}

/* ---- undoing ---- */
/* into += factor * what; both by rising variable. */
static bool add_multiple(hpt_row *into, const hpt_row *what, uint32_t factor) {
    hpt_row sum = {0};
    if (!reserve(&sum, into->count + what->count)) return false;
    for (int32_t i = 0, j = 0; i < into->count || j < what->count;) {
        bool left = j == what->count || (i < into->count && into->entries[i].variable <= what->entries[j].variable);
        bool right = i == into->count || (j < what->count && what->entries[j].variable <= into->entries[i].variable);
        hpt_entry e = {left ? into->entries[i].variable : what->entries[j].variable, 0};
        if (left) e.coefficient = into->entries[i++].coefficient;
        if (right) {
            uint64_t total = (uint64_t)e.coefficient + hpt_modular_mul(what->entries[j++].coefficient, factor);
            e.coefficient = (uint32_t)(total % HPT_MODULAR_PRIME);
        }
        if (e.coefficient) sum.entries[sum.count++] = e;
    }
    free(into->entries);
    *into = sum;
    return true;
}

void hpt_program_inline(hpt_program *p, int32_t row) {
    hpt_row *what = &p->rows[row];
    for (int32_t r = 0; r < p->count && !p->failed; r++) {
        hpt_row *w = &p->rows[r];
        int32_t at = position(w, p->inputs + row - p->outputs);
        if (at < 0) continue;
        uint32_t factor = w->entries[at].coefficient;
        drop(w, at);
        p->failed |= !add_multiple(w, what, factor);
    }
    what->count = 0;
}

static void renumber(hpt_program *p, int32_t *number) {
    int32_t kept = p->outputs;
    for (int32_t r = p->outputs; r < p->count; r++) {
        if (p->rows[r].count == 0) continue;
        hpt_row held = p->rows[kept];
        p->rows[kept] = p->rows[r], p->rows[r] = held;
        number[r] = p->inputs + kept++ - p->outputs;
    }
    p->count = kept;
    for (int32_t r = 0; r < p->count; r++)
        for (int32_t i = 0; i < p->rows[r].count; i++) {
            hpt_entry *e = &p->rows[r].entries[i];
            if (e->variable >= p->inputs) e->variable = number[e->variable - p->inputs + p->outputs];
        }
}

void hpt_program_tidy(hpt_program *p) {
    int32_t *uses = malloc((size_t)p->count * sizeof *uses);
    p->failed |= !uses;
    for (bool again = true; again && !p->failed;) {
        again = false;
        memset(uses, 0, (size_t)p->count * sizeof *uses);
        for (int32_t r = 0; r < p->count; r++)
            for (int32_t i = 0; i < p->rows[r].count; i++)
                if (p->rows[r].entries[i].variable >= p->inputs)
                    uses[p->rows[r].entries[i].variable - p->inputs + p->outputs]++;
        for (int32_t r = p->outputs; r < p->count && !again; r++)
            if (p->rows[r].count > 0 && (p->rows[r].count == 1 || uses[r] < 2)) {
                hpt_program_inline(p, r); /* where nothing uses it, this only empties it */
                again = true;
            }
    }
    if (!p->failed) renumber(p, uses);
    free(uses);
}

bool hpt_program_agrees(const hpt_program *p, const hpt_program *original) {
    hpt_program flat = {0};
    hpt_program_copy(&flat, p);
    for (int32_t r = flat.outputs; r < flat.count && !flat.failed; r++) hpt_program_inline(&flat, r);
    bool same = !flat.failed && flat.outputs == original->outputs;
    for (int32_t r = 0; r < flat.outputs && same; r++) {
        const hpt_row *a = &flat.rows[r], *b = &original->rows[r];
        same = a->count == b->count;
        for (int32_t i = 0; i < a->count && same; i++)
            same = a->entries[i].variable == b->entries[i].variable &&
                   a->entries[i].coefficient == b->entries[i].coefficient;
    }
    hpt_program_clear(&flat);
    return same;
}
