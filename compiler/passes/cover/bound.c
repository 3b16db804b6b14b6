/* Branch and bound over spanning trees of the products and a depot (see bound.h). */
#include "bound.h"
#include <stdlib.h>
#include <string.h>

enum { FREE = 0, FORCED = 1, FORBIDDEN = 2, ROOT_ROUNDS = 1500, CHILD_ROUNDS = 60 };
static const int64_t INFINITE = (int64_t)1 << 50, PULL = (int64_t)1 << 40;

typedef struct search {
    int32_t n;     /* products; the depot is number n */
    int32_t width; /* n + 1 */
    const int32_t *join, *end;
    const hpt_bound_limits *limits;
    hpt_bound_tree *tree;
    int32_t *order, *cost; /* the best cover */
    uint8_t *last;
    int64_t nodes;
    double next_line;
    bool stopped;
    /* scratch of one spanning tree */
    int64_t *key;
    int32_t *parent, *degree, *stack;
    bool *done;
    hpt_error *error;
} search;

typedef struct level {  /* what is forced and forbidden, and good multipliers */
    uint8_t *edge;      /* width x width */
    int32_t *pi;        /* n */
    int32_t *component; /* width: of the forced edges */
    int32_t *forced;    /* n: forced degree */
} level;

void hpt_bound_tree_clear(hpt_bound_tree *tree) {
    free(tree->nodes);
    free(tree->multipliers);
    memset(tree, 0, sizeof *tree);
}

static int32_t edge_cost(const search *s, int32_t a, int32_t b) {
    if (a == s->n) return s->end[b];
    if (b == s->n) return s->end[a];
    return s->join[(size_t)a * (size_t)s->n + (size_t)b];
}

static uint8_t *edge_at(const search *s, const level *l, int32_t a, int32_t b) {
    return &l->edge[(size_t)a * (size_t)s->width + (size_t)b];
}

/* ---- recording ---- */
static hpt_status add_node(search *s, int32_t a, int32_t b, const int32_t *pi) {
    hpt_status status = HPT_OK;
    hpt_bound_tree *t = s->tree;
    if (t->node_count == t->node_capacity) {
        size_t capacity = t->node_capacity ? 2 * t->node_capacity : 64;
        hpt_bound_node *nodes = realloc(t->nodes, capacity * sizeof *nodes);
        if (!nodes) return hpt_error_set(s->error, HPT_NO_MEMORY, "", "Out of memory.");
        t->nodes = nodes, t->node_capacity = capacity;
    }
    size_t n = (size_t)s->n;
    if (pi && t->multiplier_count + n > t->multiplier_capacity) {
        size_t capacity = 2 * (t->multiplier_capacity + n);
        int32_t *multipliers = realloc(t->multipliers, capacity * sizeof *multipliers);
        if (!multipliers) return hpt_error_set(s->error, HPT_NO_MEMORY, "", "Out of memory.");
        t->multipliers = multipliers, t->multiplier_capacity = capacity;
    }
    t->nodes[t->node_count++] = (hpt_bound_node){a, b, t->multiplier_count};
    if (pi) {
        memcpy(t->multipliers + t->multiplier_count, pi, n * sizeof *pi);
        t->multiplier_count += n;
    }
    return status;
}

/* ---- one spanning tree ---- */
/* Prim. Returns the bound in units of 1/SCALE, INFINITE if every tree needs a forbidden edge. */
static int64_t spanning_bound(search *s, const level *l, const int32_t *pi) {
    int64_t total = 0;
    for (int32_t v = 0; v < s->width; v++)
        s->key[v] = INFINITE, s->done[v] = false, s->degree[v] = 0, s->parent[v] = -1;
    for (int32_t v = 0; v < s->n; v++) total -= 2 * (int64_t)pi[v];
    s->key[s->n] = 0;
    for (int32_t round = 0; round < s->width; round++) {
        int32_t near = -1;
        for (int32_t v = 0; v < s->width; v++)
            if (!s->done[v] && (near < 0 || s->key[v] < s->key[near])) near = v;
        if (s->key[near] >= INFINITE) return INFINITE;
        s->done[near] = true;
        if (s->parent[near] >= 0) {
            total += s->key[near];
            if (*edge_at(s, l, near, s->parent[near]) == FORCED) total += PULL;
            s->degree[near]++, s->degree[s->parent[near]]++;
        }
        const uint8_t *edges = &l->edge[(size_t)near * (size_t)s->width];
        int64_t mine = near < s->n ? pi[near] : 0;
        for (int32_t v = 0; v < s->width; v++) {
            if (s->done[v] || edges[v] == FORBIDDEN) continue;
            int64_t cost = (int64_t)edge_cost(s, near, v) * HPT_BOUND_SCALE + mine + (v < s->n ? pi[v] : 0);
            if (edges[v] == FORCED) cost -= PULL;
            if (cost < s->key[v]) s->key[v] = cost, s->parent[v] = near;
        }
    }
    return total;
}

static int32_t round_up(int64_t bound) { /* costs are integers */
    if (bound >= INFINITE) return INT32_MAX;
    return bound <= 0 ? 0 : (int32_t)((bound + HPT_BOUND_SCALE - 1) / HPT_BOUND_SCALE);
}

static bool tree_is_cover(const search *s) {
    for (int32_t v = 0; v < s->n; v++)
        if (s->degree[v] > 2) return false;
    return true;
}

/* The tree in `parent` has degrees at most two: keep its cover if it is the best so far. */
static void keep_cover(search *s) {
    int32_t cost = 0, position = 0;
    for (int32_t v = 0; v < s->n; v++) cost += edge_cost(s, v, s->parent[v]);
    if (cost >= *s->cost) return;
    *s->cost = cost;
    for (int32_t v = 0; v < s->n; v++) { /* walk from each far end to the depot: that is the path's own direction */
        if (s->degree[v] != 1) continue;
        int32_t start = position;
        for (int32_t u = v; u != s->n; u = s->parent[u]) s->order[position] = u, s->last[position++] = 0;
        if (position > start) s->last[position - 1] = 1;
    }
}

/* Subgradient ascent from l->pi, which it improves. Ends with the tree of the best multipliers in the scratch. */
static int64_t ascend(search *s, level *l, int32_t rounds) {
    size_t bytes = (size_t)s->n * sizeof(int32_t);
    int32_t *pi = s->stack; /* n entries are free here */
    memcpy(pi, l->pi, bytes);
    int64_t best = -INFINITE;
    double step = 2.0;
    int32_t stale = 0;
    for (int32_t round = 0; round < rounds; round++) {
        if ((round & 15) == 15 && (hpt_clock() > s->limits->deadline || hpt_progress_interrupted(s->limits->progress)))
            break;
        int64_t bound = spanning_bound(s, l, pi);
        if (bound > best) {
            best = bound, stale = 0;
            memcpy(l->pi, pi, bytes);
        } else if (++stale >= 12) {
            step *= 0.7, stale = 0;
        }
        if (bound >= INFINITE) return bound;
        if (tree_is_cover(s)) keep_cover(s);
        if (round_up(best) >= *s->cost) return best;
        int64_t square = 0;
        for (int32_t v = 0; v < s->n; v++)
            if (s->degree[v] > 2 || pi[v] > 0) square += (int64_t)(s->degree[v] - 2) * (s->degree[v] - 2);
        if (square == 0) break; /* optimal for this relaxation */
        double gap = (double)*s->cost * HPT_BOUND_SCALE - (double)bound;
        double length = step * (gap > HPT_BOUND_SCALE ? gap : HPT_BOUND_SCALE) / (double)square;
        if (length < 0.6) break;
        for (int32_t v = 0; v < s->n; v++) {
            double moved = pi[v] + length * (s->degree[v] - 2);
            pi[v] = moved < 0 ? 0 : moved > 1e6 ? 1000000 : (int32_t)moved;
        }
    }
    spanning_bound(s, l, l->pi);
    return best;
}

/* ---- branching ---- */
static void forbid(const search *s, level *l, int32_t a, int32_t b) {
    *edge_at(s, l, a, b) = *edge_at(s, l, b, a) = FORBIDDEN;
}

static void forbid_free_at(const search *s, level *l, int32_t v) {
    for (int32_t u = 0; u < s->width; u++)
        if (u != v && *edge_at(s, l, v, u) == FREE) forbid(s, l, v, u);
}

static void force(const search *s, level *l, int32_t a, int32_t b) {
    *edge_at(s, l, a, b) = *edge_at(s, l, b, a) = FORCED;
    if (a < s->n && ++l->forced[a] == 2) forbid_free_at(s, l, a);
    if (b < s->n && ++l->forced[b] == 2) forbid_free_at(s, l, b);
    int32_t from = l->component[b], to = l->component[a];
    for (int32_t v = 0; v < s->width; v++)
        if (l->component[v] == from) l->component[v] = to;
    for (int32_t v = 0; v < s->width; v++)
        for (int32_t u = 0; u < v; u++)
            if (l->component[u] == to && l->component[v] == to && *edge_at(s, l, u, v) == FREE) forbid(s, l, u, v);
}

static hpt_status level_create(level *l, const search *s, const level *from) {
    size_t w = (size_t)s->width, n = (size_t)s->n;
    *l = (level){malloc(w * w), malloc(n * sizeof(int32_t)), malloc(w * sizeof(int32_t)), malloc(n * sizeof(int32_t))};
    if (!l->edge || !l->pi || !l->component || !l->forced)
        return hpt_error_set(s->error, HPT_NO_MEMORY, "", "Out of memory.");
    if (from) {
        memcpy(l->edge, from->edge, w * w);
        memcpy(l->pi, from->pi, n * sizeof *l->pi);
        memcpy(l->component, from->component, w * sizeof *l->component);
        memcpy(l->forced, from->forced, n * sizeof *l->forced);
        return HPT_OK;
    }
    memset(l->edge, FREE, w * w);
    memset(l->pi, 0, n * sizeof *l->pi);
    memset(l->forced, 0, n * sizeof *l->forced);
    for (int32_t v = 0; v < s->width; v++) l->component[v] = v, *edge_at(s, l, v, v) = FORBIDDEN;
    return HPT_OK;
}

static void level_clear(level *l) {
    free(l->edge);
    free(l->pi);
    free(l->component);
    free(l->forced);
}

/* A free edge of the scratch's tree, at the most overloaded product; -1 if every edge of the tree is forced. */
static void choose_edge(const search *s, const level *l, int32_t *a, int32_t *b) {
    int64_t best = -1;
    *a = *b = -1;
    for (int32_t v = 0; v < s->n; v++) {
        int32_t u = s->parent[v];
        if (*edge_at(s, l, v, u) != FREE) continue;
        int64_t load = s->degree[v] > 2 ? s->degree[v] : 0;
        if (u < s->n && s->degree[u] > 2) load += s->degree[u];
        int64_t worth = load * 4096 + 2048 - edge_cost(s, v, u);
        if (worth > best) best = worth, *a = v, *b = u;
    }
}

static bool out_of_limits(const search *s) {
    return s->nodes > s->limits->nodes || ((s->nodes & 15) == 0 && hpt_clock() > s->limits->deadline) ||
           hpt_progress_interrupted(s->limits->progress);
}

static hpt_status visit(int32_t *lower, search *s, level *l, int32_t floor) {
    hpt_status status = HPT_OK;
    level child = {0};
    int64_t bound = ascend(s, l, s->nodes == 0 ? ROOT_ROUNDS : CHILD_ROUNDS);
    int32_t a = -1, b = -1, without = 0, with = 0;
    s->nodes++;
    *lower = bound >= INFINITE ? *s->cost : round_up(bound);
    if (*lower < floor) *lower = floor;
    if (round_up(bound) >= *s->cost) return add_node(s, -1, -1, l->pi);
    if (hpt_progress_due(&s->next_line))
        hpt_progress_say(s->limits->progress, "bound: %lld nodes, best %d", (long long)s->nodes, *s->cost);
    if (out_of_limits(s)) s->stopped = true;
    if (s->stopped) return add_node(s, -1, -1, l->pi);
    choose_edge(s, l, &a, &b);
    if (a < 0) { /* one cover is left; multipliers of zero prove its cost */
        memset(l->pi, 0, (size_t)s->n * sizeof *l->pi);
        *lower = round_up(spanning_bound(s, l, l->pi));
        keep_cover(s);
        return add_node(s, -1, -1, l->pi);
    }
    int32_t here = *lower;
    HPT_TRY(add_node(s, a, b, NULL));
    HPT_TRY(level_create(&child, s, l));
    forbid(s, &child, a, b);
    HPT_TRY(visit(&without, s, &child, here));
    level_clear(&child);
    child = (level){0};
    HPT_TRY(level_create(&child, s, l));
    force(s, &child, a, b);
    HPT_TRY(visit(&with, s, &child, here));
    *lower = without < with ? without : with;
done:
    level_clear(&child);
    return status;
}

hpt_status hpt_bound_search(int32_t *lower, hpt_bound_tree *tree, int32_t *order, uint8_t *last, int32_t *cost,
                            int32_t count, const int32_t *join, const int32_t *end, const hpt_bound_limits *limits,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t w = (size_t)count + 1;
    level root = {0};
    search s = {.n = count,
                .width = count + 1,
                .join = join,
                .end = end,
                .limits = limits,
                .tree = tree,
                .order = order,
                .cost = cost,
                .last = last,
                .next_line = hpt_progress_first(),
                .error = error};
    s.key = malloc(w * sizeof *s.key);
    s.parent = malloc(w * sizeof *s.parent);
    s.degree = malloc(w * sizeof *s.degree);
    s.stack = malloc(w * sizeof *s.stack);
    s.done = malloc(w * sizeof *s.done);
    HPT_FAIL_IF(!s.key || !s.parent || !s.degree || !s.stack || !s.done, HPT_NO_MEMORY, "", "Out of memory.");
    hpt_bound_tree_clear(tree);
    HPT_TRY(level_create(&root, &s, NULL));
    HPT_TRY(visit(lower, &s, &root, 0));
    if (*lower > *cost) *lower = *cost;
    tree->count = count;
    tree->bound = *lower;
done:
    level_clear(&root);
    free(s.key);
    free(s.parent);
    free(s.degree);
    free(s.stack);
    free(s.done);
    return status;
}
