/* Simulated annealing over orders of the products. In an order, whether a path ends between two neighbours is decided
 * by cost alone; only where both cost the same is it a matter of taste, which `last` records. */
#include "cover.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PER_SWEEP = 24 }; /* moves per product and sweep */

typedef struct state {
    const hpt_cover_problem *problem;
    int32_t n;
    bool prefer;
    uint64_t random;
    int32_t *order, *trial, *length;
    uint8_t *last, *trial_last;
} state;

static uint64_t next(state *s) { /* xorshift64* */
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return s->random * 0x2545F4914F6CDD1DULL;
}

static int32_t below(state *s, int32_t limit) { return (int32_t)((next(s) >> 33) % (uint64_t)limit); }

static int32_t join_cost(const hpt_cover_problem *p, int32_t r, int32_t s) {
    return p->join[(size_t)r * (size_t)p->count + (size_t)s];
}

int32_t hpt_cover_cost(const int32_t *order, const uint8_t *last, const hpt_cover_problem *problem) {
    int32_t cost = 0;
    for (int32_t t = 0; t < problem->count; t++)
        cost +=
            t + 1 == problem->count || last[t] ? problem->end[order[t]] : join_cost(problem, order[t], order[t + 1]);
    return cost;
}

/* Forces `last` wherever cost decides; leaves ties as they are. */
static void settle(const state *s, const int32_t *order, uint8_t *last) {
    for (int32_t t = 0; t + 1 < s->n; t++) {
        int32_t join = join_cost(s->problem, order[t], order[t + 1]), end = s->problem->end[order[t]];
        if (join != end)
            last[t] = end < join;
        else if (!s->prefer)
            last[t] = 0;
    }
    last[s->n - 1] = 1;
}

/* Wishes in one number, the more important the heavier; a path cover's cost outweighs them all. Above `give_up` the
 * cost alone is returned, which is less than the whole. */
static double score(state *s, const int32_t *order, const uint8_t *last, double give_up) {
    const hpt_cover_problem *p = s->problem;
    double cost = hpt_cover_cost(order, last, p);
    if (!s->prefer || cost > give_up) return cost;
    double odd = 0, early = 0, places = 0, held = 0;
    int32_t paths = 0, length = 0;
    for (int32_t t = 0; t < s->n; t++) {
        length++;
        if (p->early && p->early[order[t]]) early += t, places += s->n;
        held += length * (last[t] ? p->end[order[t]] : join_cost(p, order[t], order[t + 1]));
        if (last[t])
            s->length[paths++] = length, length = 0;
        else if (p->odd)
            odd += p->odd[(size_t)order[t] * (size_t)s->n + (size_t)order[t + 1]];
    }
    double taste = hpt_cover_alternates(NULL, s->length, paths, p->accumulators) ? 0 : 0.5;
    taste += 0.25 * odd / s->n;
    if (cost > 0) taste += 0.2 * held / cost / s->n / s->n;
    if (places > 0) taste += 0.03 * early / places / s->n / s->n / s->n;
    return cost + taste;
}

static void rotate(int32_t *a, int32_t from, int32_t length, int32_t to) { /* moves a segment */
    if (to == from) return;
    int32_t low = to < from ? to : from, middle = to < from ? from : from + length,
            high = to < from ? from + length : to + length;
    for (int32_t pass = 0; pass < 3; pass++) {
        int32_t i = pass == 1 ? middle : low, j = (pass == 0 ? middle : high) - 1;
        for (; i < j; i++, j--) {
            int32_t held = a[i];
            a[i] = a[j], a[j] = held;
        }
    }
}

static void move(state *s) {
    memcpy(s->trial, s->order, (size_t)s->n * sizeof *s->trial);
    memcpy(s->trial_last, s->last, (size_t)s->n);
    int32_t kind = below(s, s->prefer ? 4 : 3), i = below(s, s->n), j = below(s, s->n);
    if (kind == 0) { /* move a short segment */
        int32_t length = 1 + below(s, 4);
        if (length > s->n) length = s->n;
        rotate(s->trial, below(s, s->n - length + 1), length, below(s, s->n - length + 1));
    } else if (kind == 1) { /* reverse a segment */
        for (int32_t low = i < j ? i : j, high = i < j ? j : i; low < high; low++, high--) {
            int32_t held = s->trial[low];
            s->trial[low] = s->trial[high], s->trial[high] = held;
        }
    } else if (kind == 2) { /* swap two products */
        int32_t held = s->trial[i];
        s->trial[i] = s->trial[j], s->trial[j] = held;
    } else { /* end or do not end a path where it costs nothing */
        s->trial_last[i] ^= 1;
    }
    settle(s, s->trial, s->trial_last);
}

hpt_status hpt_cover_anneal(int32_t *order, uint8_t *last, const hpt_cover_problem *problem, int32_t sweeps,
                            bool prefer, uint64_t seed, double deadline, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t n = (size_t)problem->count;
    int32_t *numbers = malloc(3 * n * sizeof *numbers);
    uint8_t *flags = malloc(2 * n);
    HPT_FAIL_IF(!numbers || !flags, HPT_NO_MEMORY, "", "Out of memory.");
    state s = {problem, problem->count, prefer, seed | 1, numbers, numbers + n, numbers + 2 * n, flags, flags + n};
    memcpy(s.order, order, n * sizeof *order);
    memcpy(s.last, last, n);
    settle(&s, s.order, s.last);
    memcpy(last, s.last, n);
    double now = score(&s, s.order, s.last, HUGE_VAL), best = now;
    double next_line = hpt_progress_first();
    int64_t moves =
        (int64_t)sweeps * problem->count * (problem->count < MOST_PER_SWEEP ? problem->count : MOST_PER_SWEEP);
    for (int64_t step = 0; step < moves && problem->count > 1; step++) {
        double left = 1.0 - (double)step / (double)moves;
        double heat = prefer ? 0.3 * left * left * left * left + 1e-6 : left + 1e-3;
        if ((step & 1023) == 1023) {
            if (hpt_clock() > deadline || hpt_progress_interrupted(problem->progress)) break;
            if (hpt_progress_due(&next_line)) hpt_progress_say(problem->progress, "chaining: %.0f writes", floor(best));
        }
        move(&s);
        double then = score(&s, s.trial, s.trial_last, now + 10 * heat);
        if (then > now && exp((now - then) / heat) * 4294967296.0 < (double)(next(&s) >> 32)) continue;
        int32_t *held = s.order;
        uint8_t *held_last = s.last;
        s.order = s.trial, s.trial = held;
        s.last = s.trial_last, s.trial_last = held_last;
        now = then;
        if (now < best - 1e-12) {
            best = now;
            memcpy(order, s.order, n * sizeof *order);
            memcpy(last, s.last, n);
        }
    }
done:
    free(numbers);
    free(flags);
    return status;
}
