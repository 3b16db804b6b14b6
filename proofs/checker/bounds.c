/* The lower bound. Path covers with a depot are spanning trees in which every product has at most two edges; a tree of
 * forced and forbidden edges is walked, and every leaf must prove the bound by a minimum spanning tree (Kruskal) under
 * costs raised by its multipliers. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct edge {
    int a, b;
    int64_t cost;
} edge;

typedef struct walker {
    const certificate *c;
    int n;                       /* products; the depot is number n */
    int64_t *cost;               /* (n + 1)^2, in writes */
    signed char *fixed;          /* (n + 1)^2: 1 forced, -1 forbidden by a branch */
    int *degree, *part, *parent; /* of forced edges; scratch */
    int64_t *pi;
    edge *edges;
    int at;
} walker;

/* Outputs where rho(r) and mu rho(s) differ for the best mu: whether mu is the ratio at output e is tried for every e.
 */
static int64_t join_cost(const scheme *s, int r, int q) {
    int best = 0, both_zero = 0;
    mpq_t left, right;
    mpq_inits(left, right, NULL);
    const mpq_t *x = scheme_row(s, 2, r), *y = scheme_row(s, 2, q);
    for (int e = 0; e < s->entries[2]; e++) {
        if (mpq_sgn(x[e]) == 0 && mpq_sgn(y[e]) == 0) both_zero++;
        if (mpq_sgn(x[e]) == 0 || mpq_sgn(y[e]) == 0) continue;
        int same = 0;
        for (int f = 0; f < s->entries[2]; f++) {
            if (mpq_sgn(x[f]) == 0 || mpq_sgn(y[f]) == 0) continue;
            mpq_mul(left, x[f], y[e]);
            mpq_mul(right, y[f], x[e]);
            same += mpq_equal(left, right) != 0;
        }
        if (same > best) best = same;
    }
    mpq_clears(left, right, NULL);
    return s->entries[2] - both_zero - best;
}

static int64_t end_cost(const scheme *s, int r) {
    int64_t count = 0;
    for (int e = 0; e < s->entries[2]; e++) count += mpq_sgn(scheme_row(s, 2, r)[e]) != 0;
    return count;
}

static size_t cell(const walker *w, int a, int b) { return (size_t)a * (size_t)(w->n + 1) + (size_t)b; }

static int root(const int *parent, int v) {
    while (parent[v] != v) v = parent[v];
    return v;
}

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->a != y->a ? x->a - y->a : x->b - y->b;
}

/* Twice the usual care: degrees and components of the forced edges; false if they fit no path cover. */
static bool forced_parts(walker *w) {
    for (int v = 0; v <= w->n; v++) w->part[v] = v, w->degree[v] = 0;
    for (int a = 0; a <= w->n; a++)
        for (int b = 0; b < a; b++) {
            if (w->fixed[cell(w, a, b)] != 1) continue;
            int x = root(w->part, a), y = root(w->part, b);
            if (x == y) return false; /* a cycle */
            w->part[x] = y;
            w->degree[a]++, w->degree[b]++;
        }
    for (int v = 0; v < w->n; v++)
        if (w->degree[v] > 2) return false;
    return true;
}

/* The bound of a leaf, in units; INT64_MAX if no path cover fits what is forced and forbidden. */
static int64_t leaf_bound(walker *w) {
    if (!forced_parts(w)) return INT64_MAX;
    int64_t total = 0;
    size_t count = 0;
    int joined = 0;
    for (int v = 0; v < w->n; v++) total -= 2 * w->pi[v];
    for (int v = 0; v <= w->n; v++) w->parent[v] = v;
    for (int a = 0; a <= w->n; a++)
        for (int b = 0; b < a; b++) {
            int64_t cost = w->cost[cell(w, a, b)] * w->c->unit + (a < w->n ? w->pi[a] : 0) + w->pi[b];
            int kind = w->fixed[cell(w, a, b)];
            if (kind == 1) {
                total += cost;
                w->parent[root(w->parent, a)] = root(w->parent, b);
                joined++;
            } else if (kind == 0 && w->degree[b] < 2 && (a == w->n || w->degree[a] < 2) &&
                       root(w->part, a) != root(w->part, b)) {
                w->edges[count++] = (edge){a, b, cost};
            }
        }
    qsort(w->edges, count, sizeof *w->edges, compare_edges);
    for (size_t i = 0; i < count && joined < w->n; i++) {
        int x = root(w->parent, w->edges[i].a), y = root(w->parent, w->edges[i].b);
        if (x == y) continue;
        w->parent[x] = y;
        total += w->edges[i].cost;
        joined++;
    }
    return joined == w->n ? total : INT64_MAX;
}

static const char *next_node(walker *w) {
    if (w->at == w->c->tree_lines) reject("bound: the tree ends before all its branches are closed.");
    return w->c->tree[w->at++];
}

static void read_multipliers(walker *w, const char *line) {
    const char *from = line + strlen("leaf");
    for (int v = 0; v < w->n; v++) {
        char *end;
        w->pi[v] = strtoll(from, &end, 10);
        if (end == from) refuse("Line %d has fewer multipliers than products.", w->c->first_tree_line + w->at - 1);
        if (w->pi[v] < 0) reject("bound: a multiplier is negative (line %d).", w->c->first_tree_line + w->at - 1);
        if (w->pi[v] > 1000000000)
            refuse("Line %d has a multiplier that is too large.", w->c->first_tree_line + w->at - 1);
        from = end;
    }
    if (*from != '\0') refuse("Line %d has more multipliers than products.", w->c->first_tree_line + w->at - 1);
}

static void check_leaf(walker *w, const char *line) {
    read_multipliers(w, line);
    int64_t units = leaf_bound(w);
    if (units == INT64_MAX) return;
    int64_t proved = units <= 0 ? 0 : (units + w->c->unit - 1) / w->c->unit; /* numbers of writes are integers */
    if (proved < w->c->bound)
        reject("bound: the leaf in line %d proves %lld writes, not %ld.", w->c->first_tree_line + w->at - 1,
               (long long)proved, w->c->bound);
}

static void fix(walker *w, int a, int b, signed char kind) { w->fixed[cell(w, a, b)] = w->fixed[cell(w, b, a)] = kind; }

/* An explicit stack of branches: those whose forbidden side is being walked, and those whose forced side is. */
static void walk_tree(walker *w) {
    typedef struct branch {
        int a, b;
        bool forced;
    } branch;
    branch *open = need((size_t)w->c->tree_lines + 1, sizeof *open);
    int depth = 0;
    for (;;) {
        const char *line = next_node(w);
        int a, b, used = 0;
        if (strncmp(line, "branch ", 7) == 0) {
            if (sscanf(line, "branch %d %d%n", &a, &b, &used) != 2 || line[used] != '\0' || a < 0 || b < 0 ||
                a > w->n || b > w->n || a == b)
                refuse("Line %d is no branch.", w->c->first_tree_line + w->at - 1);
            a = a == 0 ? w->n : a - 1, b = b == 0 ? w->n : b - 1;
            if (w->fixed[cell(w, a, b)] != 0)
                reject("bound: line %d branches on an edge that is decided.", w->c->first_tree_line + w->at - 1);
            open[depth++] = (branch){a, b, false};
            fix(w, a, b, -1);
            continue;
        }
        check_leaf(w, line);
        while (depth > 0 && open[depth - 1].forced) {
            depth--;
            fix(w, open[depth].a, open[depth].b, 0);
        }
        if (depth == 0) break;
        open[depth - 1].forced = true;
        fix(w, open[depth - 1].a, open[depth - 1].b, 1);
    }
    if (w->at != w->c->tree_lines) reject("bound: lines follow the end of the tree.");
    free(open);
}

void bounds_check(const certificate *c, const scheme *s) {
    size_t width = (size_t)s->rank + 1;
    walker w = {.c = c, .n = s->rank};
    w.cost = need(width * width, sizeof *w.cost);
    for (int r = 0; r < s->rank; r++) {
        w.cost[cell(&w, r, w.n)] = w.cost[cell(&w, w.n, r)] = end_cost(s, r);
        for (int q = 0; q < r; q++) w.cost[cell(&w, r, q)] = w.cost[cell(&w, q, r)] = join_cost(s, r, q);
    }
    if (c->distinct) {
        for (int a = 0; a <= w.n; a++)
            for (int b = 0; b < a; b++)
                if (w.cost[cell(&w, a, b)] == 0) {
                    if (a == w.n) reject("bound: rho of product %d is zero.", b + 1);
                    reject("bound: rho of products %d and %d are proportional.", b + 1, a + 1);
                }
        free(w.cost);
        return;
    }
    w.fixed = need(width * width, sizeof *w.fixed);
    w.degree = need(width, sizeof *w.degree);
    w.part = need(width, sizeof *w.part);
    w.parent = need(width, sizeof *w.parent);
    w.pi = need(width, sizeof *w.pi);
    w.edges = need(width * width / 2 + 1, sizeof *w.edges);
    walk_tree(&w);
    free(w.cost);
    free(w.fixed);
    free(w.degree);
    free(w.part);
    free(w.parent);
    free(w.pi);
    free(w.edges);
}
