/* Dynamic programming over subsets: best[S][r] = cheapest way to order the products of S with r last, where a neighbour
 * is joined or, if that is cheaper, its path ended before it. One byte per state, rows padded so that the inner minimum
 * vectorises: 2^23 rows of 24 bytes are 192 MiB. */
#include "cover.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 24, FULL = 255 };

typedef struct table {
    int32_t count;
    uint8_t step[HPT_SUBSET_LIMIT][WIDTH]; /* step[s][r]: cost of s right after r */
    uint8_t *best;
} table;

static uint8_t add(uint8_t a, uint8_t b) { return (uint8_t)(a + b > FULL ? FULL : a + b); }

/* False: interrupted, and the table is not complete. */
static bool fill(table *t, const hpt_progress *progress) {
    memset(t->best, FULL, ((size_t)1 << t->count) * WIDTH);
    for (int32_t r = 0; r < t->count; r++) t->best[((size_t)1 << r) * WIDTH + (size_t)r] = 0;
    for (size_t set = 1; set < (size_t)1 << t->count; set++) {
        if ((set & (set - 1)) == 0) continue;
        if ((set & 4095) == 4095 && hpt_progress_interrupted(progress)) return false;
        for (size_t rest = set; rest; rest &= rest - 1) {
            int s = __builtin_ctzll(rest);
            const uint8_t *row = &t->best[(set ^ ((size_t)1 << s)) * WIDTH];
            uint8_t low = FULL;
            for (int r = 0; r < WIDTH; r++) {
                unsigned sum = (unsigned)row[r] + t->step[s][r];
                uint8_t clipped = (uint8_t)(sum > FULL ? FULL : sum);
                low = clipped < low ? clipped : low;
            }
            t->best[set * WIDTH + (size_t)s] = low;
        }
    }
    return true;
}

static void walk_back(const table *t, int32_t *order, uint8_t *last, const hpt_cover_problem *problem) {
    int32_t n = t->count;
    size_t set = ((size_t)1 << n) - 1;
    int32_t s = 0;
    for (int32_t r = 1; r < n; r++)
        if (t->best[set * WIDTH + (size_t)r] + problem->end[r] < t->best[set * WIDTH + (size_t)s] + problem->end[s])
            s = r;
    for (int32_t position = n - 1; position >= 0; position--) {
        order[position] = s;
        last[position] =
            position == n - 1 || problem->end[s] < problem->join[(size_t)s * (size_t)n + (size_t)order[position + 1]];
        if (position == 0) break;
        uint8_t want = t->best[set * WIDTH + (size_t)s];
        set ^= (size_t)1 << s;
        for (int32_t r = 0; r < n; r++)
            if ((set >> r & 1) && add(t->best[set * WIDTH + (size_t)r], t->step[s][r]) == want) {
                s = r;
                break;
            }
    }
}

hpt_status hpt_cover_subsets(int32_t *order, uint8_t *last, const hpt_cover_problem *problem, hpt_error *error) {
    hpt_status status = HPT_OK;
    table t = {.count = problem->count};
    size_t n = (size_t)problem->count;
    HPT_FAIL_IF(problem->count < 1 || problem->count > HPT_SUBSET_LIMIT, HPT_TOO_LARGE, "",
                "Dynamic programming over subsets takes 1 to %d products, not %d.", HPT_SUBSET_LIMIT, problem->count);
    for (size_t s = 0; s < n; s++)
        for (size_t r = 0; r < n; r++) {
            int32_t join = problem->join[r * n + s], cost = join < problem->end[r] ? join : problem->end[r];
            t.step[s][r] = (uint8_t)(r == s || cost > FULL ? FULL : cost);
        }
    t.best = malloc(((size_t)1 << n) * WIDTH);
    HPT_FAIL_NO_MEMORY(t.best);
    if (!fill(&t, problem->progress)) {
        status = HPT_INTERRUPTED; /* no error: the caller goes on with what it has */
        goto done;
    }
    uint8_t low = FULL;
    for (size_t r = 0; r < n; r++) {
        uint8_t cost = t.best[(((size_t)1 << n) - 1) * WIDTH + r];
        if (cost < low) low = cost;
    }
    HPT_FAIL_IF(low == FULL, HPT_TOO_LARGE, "", "Dynamic programming over subsets counts to 254 writes only.");
    walk_back(&t, order, last, problem);
done:
    free(t.best);
    return status;
}
