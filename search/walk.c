#include "walk.h"
#include "flip.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_STEPS = 200000, MOST_WALKERS = 256, PLUS_AFTER = 40000, PLUS_ROOM = 2 };

typedef struct walker {
    hpt_flip_state now, start, best; /* best: lowest rank, then lowest objective */
    int64_t best_value;              /* of the objective at best; valid at the rank that is aimed at */
    int64_t quick_low;               /* lowest quick value for which the objective was worked out */
    int64_t since;                   /* steps since the rank last fell */
    int64_t stale;                   /* rounds since best improved */
    const hpt_walk_options *options;
    int32_t aim;
    hpt_status status;
    hpt_error error;
} walker;

const char *hpt_objective_name(hpt_objective objective) {
    static const char *const names[] = {"rank", "writes", "additions", "growth"};
    return names[objective];
}

/* ---- objectives ---- */
static int64_t growth(const hpt_ternary_product *x, const hpt_ternary_shape *shape) {
    int64_t most = 0;
    for (int32_t c = 0; c < shape->n * shape->p; c++) {
        int64_t sum = 0;
        for (int32_t r = 0; r < shape->rank; r++)
            if ((x[r].factor[2].plus | x[r].factor[2].minus) >> c & 1)
                sum += hpt_ternary_nonzeros(x + r, 1, HPT_U) * hpt_ternary_nonzeros(x + r, 1, HPT_V);
        if (sum > most) most = sum;
    }
    return most;
}

static int64_t additions(const hpt_ternary_product *x, const hpt_ternary_shape *s) {
    return hpt_ternary_nonzeros(x, s->rank, HPT_U) + hpt_ternary_nonzeros(x, s->rank, HPT_V) - 2 * s->rank +
           hpt_ternary_nonzeros(x, s->rank, HPT_W) - s->n * s->p;
}

/* The minimum spanning tree with a depot: a lower bound of the writes that is cheap enough to walk by. */
static int64_t tree_bound(const hpt_ternary_product *x, const hpt_ternary_shape *s) {
    int32_t key[HPT_TERNARY_RANK];
    int64_t total = 0;
    for (int32_t r = 0; r < s->rank; r++) key[r] = hpt_ternary_nonzeros(x + r, 1, HPT_W);
    for (int32_t round = 0; round < s->rank; round++) {
        int32_t near = -1;
        for (int32_t r = 0; r < s->rank; r++)
            if (key[r] >= 0 && (near < 0 || key[r] < key[near])) near = r;
        total += key[near];
        key[near] = -1;
        for (int32_t r = 0; r < s->rank; r++) {
            int32_t join = hpt_ternary_join(x[near].factor[2], x[r].factor[2]);
            if (key[r] > join) key[r] = join;
        }
    }
    return total;
}

hpt_status hpt_objective_value(int64_t *value, hpt_objective objective, const hpt_ternary_product *products,
                               const hpt_ternary_shape *shape, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t writes = 0;
    switch (objective) {
    case HPT_OBJECTIVE_RANK:
        *value = shape->rank;
        break;
    case HPT_OBJECTIVE_ADDITIONS:
        *value = additions(products, shape);
        break;
    case HPT_OBJECTIVE_GROWTH:
        *value = growth(products, shape);
        break;
    case HPT_OBJECTIVE_WRITES:
        status = hpt_ternary_writes(&writes, products, shape, false, error);
        *value = writes;
        break;
    }
    return status;
}

static int64_t quick_value(const walker *w, const hpt_flip_state *s) {
    switch (w->options->objective) {
    case HPT_OBJECTIVE_RANK:
        return s->shape.rank;
    case HPT_OBJECTIVE_ADDITIONS:
        return additions(s->products, &s->shape);
    case HPT_OBJECTIVE_GROWTH:
        return growth(s->products, &s->shape);
    case HPT_OBJECTIVE_WRITES:
        return tree_bound(s->products, &s->shape);
    }
    return 0;
}

/* ---- one walker ---- */
static double unit(hpt_flip_state *s) { return (double)(hpt_flip_random(s) >> 11) * 0x1p-53; }

static bool reduce_changed(hpt_flip_state *s, int32_t i, int32_t j) {
    int32_t before = s->shape.rank;
    if (hpt_flip_reduce(s, i)) return true;
    if (j < s->shape.rank) hpt_flip_reduce(s, j);
    return s->shape.rank < before;
}

static hpt_status keep_best(walker *w) {
    int64_t value = 0;
    if (w->now.shape.rank > w->best.shape.rank) return HPT_OK;
    hpt_status status = HPT_OK;
    if (w->now.shape.rank <= w->aim)
        status = hpt_objective_value(&value, w->options->objective, w->now.products, &w->now.shape, &w->error);
    bool rank_fell = w->now.shape.rank < w->best.shape.rank;
    if (rank_fell || value < w->best_value) {
        w->best = w->now, w->best_value = value, w->stale = 0;
        if (rank_fell) w->quick_low = INT64_MAX;
    }
    return status;
}

static void go_to_best(walker *w) {
    uint64_t random = w->now.random;
    w->now = w->best;
    w->now.random = random;
}

/* How far plus transitions may climb: not far above the best; a walk that aims lower for another scheme of the best
 * rank may come from the start. */
static int32_t highest_rank(const walker *w) {
    int32_t room = w->best.shape.rank + PLUS_ROOM;
    return w->best.shape.rank <= w->aim && w->start.shape.rank > room ? w->start.shape.rank + 1 : room;
}

/* Towards a lower rank: flips at random, plus transitions when nothing has happened for long. */
static hpt_status lower_rank(walker *w) {
    int32_t i, j;
    for (int64_t step = 0; step < ROUND_STEPS && w->now.shape.rank > w->aim; step++) {
        bool moved = hpt_flip_step(&w->now, &i, &j);
        if (moved && reduce_changed(&w->now, i, j)) {
            w->since = 0;
            if (w->now.shape.rank < w->best.shape.rank) {
                hpt_status status = keep_best(w);
                if (status != HPT_OK) return status;
            }
            continue;
        }
        if (!moved || ++w->since % PLUS_AFTER == 0) {
            if (w->now.shape.rank == w->best.shape.rank) w->best = w->now; /* drift: come back to here */
            if (w->now.shape.rank >= highest_rank(w))
                go_to_best(w);
            else
                hpt_flip_plus(&w->now);
        }
    }
    return HPT_OK;
}

/* At the rank that is aimed at: annealing over flips and changes of basis, one cooling per round. */
static hpt_status lower_objective(walker *w) {
    enum { STEPS = ROUND_STEPS / 8 };
    hpt_flip_state *s = &w->now;
    int64_t here = quick_value(w, s);
    hpt_ternary_product before[HPT_TERNARY_RANK];
    for (int64_t step = 0; step < STEPS; step++) {
        double heat = 1.2 * (1 - (double)step / STEPS) + 0.05;
        size_t bytes = (size_t)s->shape.rank * sizeof *before;
        int32_t i = 0, j = 0;
        memcpy(before, s->products, bytes);
        if (hpt_flip_random(s) >> 58 == 0) { /* one in 64 */
            if (!hpt_flip_sandwich(s)) continue;
        } else {
            if (!hpt_flip_step(s, &i, &j)) break;
            if (reduce_changed(s, i, j)) {
                w->since = 0;
                return keep_best(w);
            }
        }
        int64_t there = quick_value(w, s);
        if (there > here && unit(s) >= exp((double)(here - there) / heat)) {
            memcpy(s->products, before, bytes);
            continue;
        }
        here = there;
        /* the objective itself is dear: only at new lows of the quick value, and now and then at the lowest */
        if (there < w->best_value &&
            (there < w->quick_low || (there == w->quick_low && hpt_flip_random(s) >> 56 == 0))) {
            w->quick_low = there;
            hpt_status status = keep_best(w);
            if (status != HPT_OK) return status;
        }
    }
    return HPT_OK;
}

/* A walk that does not improve leaves its part of the graph: over a higher rank, from the best again, from the start.
 */
static void look_elsewhere(walker *w) {
    if (w->options->objective == HPT_OBJECTIVE_RANK || w->now.shape.rank > w->aim) return;
    if (w->stale % 64 == 0) {
        uint64_t random = w->now.random;
        w->now = w->start;
        w->now.random = random;
    } else if (w->stale % 16 == 0) {
        go_to_best(w);
    }
    if (w->stale % 4 == 0)
        for (int64_t k = 0; k <= w->stale / 4 % 3; k++) hpt_flip_plus(&w->now);
}

static void run_round(walker *w) {
    w->stale++;
    look_elsewhere(w);
    if (w->now.shape.rank > w->aim)
        w->status = lower_rank(w);
    else if (w->options->objective != HPT_OBJECTIVE_RANK)
        w->status = lower_objective(w);
}

/* ---- all walkers ---- */
typedef struct crowd {
    walker *walkers;
    int32_t count;
    int32_t next;
    pthread_mutex_t lock;
} crowd;

static void *work(void *argument) {
    crowd *c = argument;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        int32_t mine = c->next < c->count ? c->next++ : -1;
        pthread_mutex_unlock(&c->lock);
        if (mine < 0) return NULL;
        run_round(&c->walkers[mine]);
    }
}

static void run_all(crowd *c, int32_t threads) {
    pthread_t thread[MOST_WALKERS];
    int32_t started = 0;
    c->next = 0;
    for (; started < threads - 1 && started < MOST_WALKERS; started++)
        if (pthread_create(&thread[started], NULL, work, c) != 0) break;
    work(c);
    for (int32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

static const walker *best_of(const crowd *c) { /* the first of equals: independent of threads */
    const walker *best = c->walkers;
    for (int32_t i = 1; i < c->count; i++) {
        const walker *w = &c->walkers[i];
        if (w->best.shape.rank < best->best.shape.rank ||
            (w->best.shape.rank == best->best.shape.rank && w->best_value < best->best_value))
            best = w;
    }
    return best;
}

static void start_walkers(crowd *c, const hpt_ternary_shape *shape, const hpt_ternary_product *start,
                          const hpt_walk_options *options) {
    for (int32_t i = 0; i < c->count; i++) {
        walker *w = &c->walkers[i];
        w->options = options;
        w->aim = options->rank > 0 ? options->rank : 1;
        w->now.shape = *shape;
        if (start)
            memcpy(w->now.products, start, (size_t)shape->rank * sizeof *start);
        else
            hpt_ternary_textbook(w->now.products, shape);
        w->now.random = (options->seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)i * UINT64_C(0xD1B54A32D192ED03);
        w->now.random |= 1;
        for (int warm = 0; warm < 8; warm++) hpt_flip_random(&w->now);
        w->best = w->start = w->now;
        w->best_value = w->quick_low = INT64_MAX;
        if (w->now.shape.rank <= w->aim) w->status = keep_best(w);
    }
}

hpt_status hpt_walk(hpt_walk_result *out, const hpt_ternary_shape *shape, const hpt_ternary_product *start,
                    const hpt_walk_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    crowd c = {.count = options->walkers > 0 ? options->walkers : 4};
    int32_t threads = options->threads > 0 ? options->threads : (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    memset(out, 0, sizeof *out);
    pthread_mutex_init(&c.lock, NULL);
    c.walkers = calloc((size_t)c.count, sizeof *c.walkers);
    HPT_FAIL_NO_MEMORY(c.walkers);
    HPT_FAIL_IF(shape->rank > HPT_TERNARY_RANK || shape->n * shape->m > HPT_TERNARY_ENTRIES ||
                    shape->m * shape->p > HPT_TERNARY_ENTRIES || shape->n * shape->p > HPT_TERNARY_ENTRIES,
                HPT_TOO_LARGE, "--shape", "Walks take at most %d entries per matrix and %d products.",
                HPT_TERNARY_ENTRIES, HPT_TERNARY_RANK);
    start_walkers(&c, shape, start, options);
    bool finished = false;
    while (!finished) {
        const walker *best = best_of(&c);
        clock_gettime(CLOCK_MONOTONIC, &now);
        double seconds = (double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec);
        out->reached =
            options->rank > 0 && best->best.shape.rank <= options->rank &&
            (options->objective == HPT_OBJECTIVE_RANK || (options->goal >= 0 && best->best_value <= options->goal));
        hpt_progress_say(options->progress, "walk: %.0f s, rank %d, %s %lld", seconds, best->best.shape.rank,
                         hpt_objective_name(options->objective),
                         best->best_value == INT64_MAX ? -1LL : (long long)best->best_value);
        finished = out->reached || (options->rounds > 0 && out->rounds >= options->rounds) ||
                   (options->seconds > 0 && seconds >= options->seconds) || hpt_progress_interrupted(options->progress);
        if (finished) break;
        run_all(&c, threads);
        out->rounds++;
        for (int32_t i = 0; i < c.count; i++) {
            if (c.walkers[i].status != HPT_OK && error) *error = c.walkers[i].error;
            HPT_TRY(c.walkers[i].status);
        }
    }
    const walker *best = best_of(&c);
    out->shape = best->best.shape;
    memcpy(out->products, best->best.products, (size_t)out->shape.rank * sizeof *out->products);
    out->value = best->best_value == INT64_MAX ? 0 : best->best_value;
    HPT_FAIL_IF(!hpt_ternary_check(out->products, &out->shape), HPT_INTERNAL, "search", "A walk left the tensor.");
    if (hpt_progress_interrupted(options->progress)) status = HPT_INTERRUPTED;
done:
    hpt_progress_end(options->progress);
    free(c.walkers);
    pthread_mutex_destroy(&c.lock);
    return status;
}
