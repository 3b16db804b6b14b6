#include "scheme/generating.h"
#include "scheme/modular.h"
#include <stdlib.h>
#include <string.h>

enum { EXACT_FORMS = 32, ALL_PAIRS = 200 };
static const int64_t MAX_SETS = 20000000;

/* pairs[t]: the sets {i, j} (i == j for a multiple) that generate form t. */
typedef struct pair {
    int32_t i, j;
} pair;

typedef struct problem {
    int32_t forms, entries;
    uint32_t *rows;
    pair *pairs;
    size_t *start; /* forms + 1 */
} problem;

static bool generates(const problem *p, int32_t t, int32_t i, int32_t j, uint32_t *scratch) {
    size_t width = (size_t)p->entries, bytes = width * sizeof *scratch;
    int32_t count = i == j ? 1 : 2;
    memcpy(scratch, p->rows + (size_t)i * width, bytes);
    memcpy(scratch + width, p->rows + (size_t)j * width, bytes);
    memcpy(scratch + (size_t)count * width, p->rows + (size_t)t * width, bytes);
    return hpt_modular_rank(scratch, count + 1, p->entries) <= count;
}

static hpt_status find_pairs(problem *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t count = 0, capacity = 0;
    uint32_t *scratch = malloc(3 * (size_t)p->entries * sizeof *scratch);
    p->start = calloc((size_t)p->forms + 1, sizeof *p->start);
    HPT_FAIL_IF(!scratch || !p->start, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t t = 0; t < p->forms; t++) {
        for (int32_t i = 0; i < p->forms; i++)
            for (int32_t j = i; j < p->forms; j++) {
                if (i == t || j == t || !generates(p, t, i, j, scratch)) continue;
                if (count == capacity) {
                    capacity = capacity ? capacity * 2 : 256;
                    pair *pairs = realloc(p->pairs, capacity * sizeof *pairs);
                    HPT_FAIL_NO_MEMORY(pairs);
                    p->pairs = pairs;
                }
                p->pairs[count++] = (pair){i, j};
            }
        p->start[t + 1] = count;
    }
done:
    free(scratch);
    return status;
}

static bool covered(const problem *p, int32_t t, const bool *in) {
    if (in[t]) return true;
    for (size_t k = p->start[t]; k < p->start[t + 1]; k++)
        if (in[p->pairs[k].i] && in[p->pairs[k].j]) return true;
    return false;
}

static bool all_covered(const problem *p, const bool *in) {
    for (int32_t t = 0; t < p->forms; t++)
        if (!covered(p, t, in)) return false;
    return true;
}

/* Drops forms one by one while the rest generates. */
static int32_t greedy(const problem *p, bool *in, bool backwards) {
    int32_t count = p->forms;
    for (int32_t t = 0; t < p->forms; t++) in[t] = true;
    for (int32_t k = 0; k < p->forms; k++) {
        int32_t t = backwards ? p->forms - 1 - k : k;
        in[t] = false;
        if (all_covered(p, in))
            count--;
        else
            in[t] = true;
    }
    return count;
}

/* Every set of `size` forms, by bits; MAX_SETS is shared by all sizes. */
static bool exhaustive(const problem *p, bool *in, int32_t size, int64_t *budget) {
    uint64_t set = ((uint64_t)1 << size) - 1, end = (uint64_t)1 << p->forms;
    while (set < end && (*budget)-- > 0) {
        bool good = true;
        for (int32_t t = 0; t < p->forms && good; t++) {
            if (set >> t & 1) continue;
            good = false;
            for (size_t k = p->start[t]; k < p->start[t + 1] && !good; k++)
                good = (set >> p->pairs[k].i & 1) && (set >> p->pairs[k].j & 1);
        }
        if (good) {
            for (int32_t t = 0; t < p->forms; t++) in[t] = set >> t & 1;
            return true;
        }
        uint64_t low = set & (~set + 1), ripple = set + low; /* the next set of equal size */
        set = ripple | ((set ^ ripple) / low >> 2);
    }
    return false;
}

static void search(hpt_generating *out, const problem *p, bool *in, bool *other) {
    int32_t count = greedy(p, in, false), back = greedy(p, other, true);
    int64_t budget = MAX_SETS;
    if (back < count) {
        count = back;
        memcpy(in, other, (size_t)p->forms * sizeof *in);
    }
    out->smallest = count == out->rank;
    if (p->forms <= EXACT_FORMS)
        for (int32_t size = out->rank; !out->smallest && budget > 0; size++) {
            if (size == count) {
                out->smallest = true;
            } else if (exhaustive(p, in, size, &budget)) {
                count = size;
                out->smallest = true;
            }
        }
    out->count = count;
}

hpt_status hpt_scheme_generating(hpt_generating *out, const hpt_scheme *s, hpt_factor f, hpt_error *error) {
    hpt_status status = HPT_OK;
    problem p = {.forms = hpt_scheme_rank(s), .entries = hpt_scheme_entries(s, f)};
    bool *in = NULL, *other = NULL;
    uint32_t *copy = NULL;
    *out = (hpt_generating){0};
    if (!hpt_modular_possible(s) || p.forms > ALL_PAIRS) return HPT_OK;
    p.rows = hpt_modular_rows(s, f);
    copy = hpt_modular_rows(s, f);
    in = calloc((size_t)p.forms, sizeof *in);
    other = calloc((size_t)p.forms, sizeof *other);
    out->products = calloc((size_t)p.forms, sizeof *out->products);
    HPT_FAIL_IF(!p.rows || !copy || !in || !other || !out->products, HPT_NO_MEMORY, "", "Out of memory.");
    out->rank = hpt_modular_rank(copy, p.forms, p.entries);
    HPT_TRY(find_pairs(&p, error));
    search(out, &p, in, other);
    for (int32_t t = 0, k = 0; t < p.forms; t++)
        if (in[t]) out->products[k++] = t;
done:
    free(p.rows);
    free(p.pairs);
    free(p.start);
    free(copy);
    free(in);
    free(other);
    if (status != HPT_OK) {
        free(out->products);
        out->products = NULL;
    }
    return status;
}
