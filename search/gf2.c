/* All decompositions of a matrix-multiplication tensor over GF(2), by backtracking.
 *
 * Write the tensor as matrices T_f (V x W), one per functional f on U's space: contracting sum_r alpha_r (x) M_r, where
 * M_r = beta_r (x) rho_r has rank one, with f gives the sum of M_r over the r with f(alpha_r) = 1. So
 *   (1) at least rank(T_f) of the alpha_r have f(alpha_r) = 1, which leaves few multisets of alphas: the tasks;
 *   (2) while M's are chosen, T_f minus the chosen ones must have rank at most the number still free: the pruning;
 *   (3) once one is free in some f, it is forced.
 */
#include "exhaust.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 6, FUNCTIONALS = 1 << MOST_BITS, MOST_TASKS = 1000000, MOST_MATRICES = 1 << 16 };

typedef struct tensor {
    int32_t u, v, w; /* dimensions */
    uint64_t slice[FUNCTIONALS];
    int32_t rank[FUNCTIONALS];
} tensor;

static int32_t rank_of(uint64_t matrix, int32_t rows, int32_t columns) {
    uint64_t row[HPT_TERNARY_ENTRIES], mask = columns == 64 ? ~(uint64_t)0 : ((uint64_t)1 << columns) - 1;
    int32_t rank = 0, live = 0;
    for (int32_t i = 0; i < rows; i++) {
        row[live] = matrix >> (i * columns) & mask;
        live += row[live] != 0;
    }
    for (int32_t i = 0; i < live; i++) {
        if (!row[i]) continue;
        uint64_t pivot = row[i] & (~row[i] + 1);
        rank++;
        for (int32_t j = i + 1; j < live; j++)
            if (row[j] & pivot) row[j] ^= row[i];
    }
    return rank;
}

static hpt_status make_tensor(tensor *t, const hpt_ternary_shape *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    t->u = s->n * s->m, t->v = s->m * s->p, t->w = s->n * s->p;
    HPT_FAIL_IF(t->u > MOST_BITS || t->v * t->w > 64 || t->v > 16 || t->w > 16, HPT_TOO_LARGE, "--shape",
                "An exhaustive search takes n m <= %d and m p n p <= 64.", MOST_BITS);
    memset(t->slice, 0, sizeof t->slice);
    for (int32_t f = 1; f < 1 << t->u; f++) {
        for (int32_t i = 0; i < s->n; i++)
            for (int32_t j = 0; j < s->m; j++)
                for (int32_t k = 0; k < s->p && (f >> (i * s->m + j) & 1); k++)
                    t->slice[f] ^= (uint64_t)1 << ((j * s->p + k) * t->w + i * s->p + k);
        t->rank[f] = rank_of(t->slice[f], t->v, t->w);
    }
done:
    return status;
}

static bool odd(int32_t f, int32_t alpha) { return __builtin_parity((unsigned)(f & alpha)) != 0; }

/* ---- tasks ---- */
typedef struct task_list {
    const tensor *t;
    int32_t rank;
    hpt_gf2_task *tasks;
    int64_t count, capacity, visited;
    const hpt_progress *progress;
    hpt_error *error;
} task_list;

/* Chooses alpha[at ..] from `low` upwards; lack[f]: how many more alphas f still needs. */
static hpt_status choose_alphas(task_list *l, hpt_gf2_task *task, int32_t at, int32_t low, const int32_t *lack) {
    int32_t left = l->rank - at, functionals = 1 << l->t->u;
    if (hpt_progress_interrupted(l->progress)) return HPT_INTERRUPTED;
    for (int32_t f = 1; f < functionals; f++)
        if (lack[f] > left) return HPT_OK;
    if (++l->visited > 5 * (int64_t)MOST_TASKS || l->count >= MOST_TASKS)
        return hpt_error_set(l->error, HPT_TOO_LARGE, "--rank", "There are too many cases for an exhaustive search.");
    if (left == 0) {
        if (l->count == l->capacity) {
            l->capacity = l->capacity ? 2 * l->capacity : 1024;
            hpt_gf2_task *grown = realloc(l->tasks, (size_t)l->capacity * sizeof *grown);
            if (!grown) return hpt_error_set(l->error, HPT_NO_MEMORY, "", "Out of memory.");
            l->tasks = grown;
        }
        l->tasks[l->count++] = *task;
        return HPT_OK;
    }
    for (int32_t alpha = low; alpha < functionals; alpha++) {
        int32_t then[FUNCTIONALS];
        for (int32_t f = 1; f < functionals; f++) then[f] = lack[f] - odd(f, alpha);
        task->alpha[at] = (uint8_t)alpha;
        hpt_status status = choose_alphas(l, task, at + 1, alpha, then);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_gf2_tasks(hpt_gf2_task **out, int64_t *count, const hpt_ternary_shape *shape,
                         const hpt_progress *progress, hpt_error *error) {
    hpt_status status = HPT_OK;
    tensor t;
    hpt_gf2_task task = {{0}};
    task_list l = {.t = &t, .rank = shape->rank, .progress = progress, .error = error};
    HPT_TRY(make_tensor(&t, shape, error));
    HPT_FAIL_IF(shape->rank > HPT_TERNARY_RANK, HPT_TOO_LARGE, "--rank", "At most %d products.", HPT_TERNARY_RANK);
    HPT_TRY(choose_alphas(&l, &task, 0, 1, t.rank));
    *out = l.tasks;
    *count = l.count;
    l.tasks = NULL;
done:
    free(l.tasks);
    return status;
}

/* ---- one task ---- */
typedef struct solver {
    const tensor *t;
    const hpt_ternary_shape *shape;
    const uint8_t *alpha;
    uint64_t *matrix; /* all matrices of rank one */
    int32_t matrices;
    hpt_ternary_list *out;
    const hpt_progress *progress;
    hpt_error *error;
} solver;

typedef struct choice {         /* what is chosen so far, by value: small */
    uint64_t rest[FUNCTIONALS]; /* T_f minus the chosen M */
    int32_t unknown[FUNCTIONALS];
    uint64_t matrix[HPT_TERNARY_RANK];
    bool chosen[HPT_TERNARY_RANK];
    int32_t left;
} choice;

static uint64_t outer(uint64_t beta, uint64_t rho, int32_t v, int32_t w) {
    uint64_t matrix = 0;
    for (int32_t i = 0; i < v; i++)
        if (beta >> i & 1) matrix |= rho << (i * w);
    return matrix;
}

static void split(hpt_ternary_product *out, uint64_t matrix, int32_t alpha, const tensor *t) {
    uint64_t beta = 0, rho = 0, mask = ((uint64_t)1 << t->w) - 1;
    for (int32_t i = 0; i < t->v; i++) {
        uint64_t row = matrix >> (i * t->w) & mask;
        if (row) rho = row, beta |= (uint64_t)1 << i;
    }
    *out = (hpt_ternary_product){{{(uint64_t)alpha, 0}, {beta, 0}, {rho, 0}}};
}

/* False if the choice breaks a rank condition or the order among equal alphas. */
static bool take(const solver *s, choice *c, int32_t r, uint64_t matrix) {
    c->matrix[r] = matrix, c->chosen[r] = true, c->left--;
    for (int32_t q = 0; q < s->shape->rank; q++)
        if (q != r && c->chosen[q] && s->alpha[q] == s->alpha[r] &&
            (q < r ? c->matrix[q] >= matrix : c->matrix[q] <= matrix))
            return false;
    for (int32_t f = 1; f < 1 << s->t->u; f++) {
        if (!odd(f, s->alpha[r])) continue;
        c->rest[f] ^= matrix;
        c->unknown[f]--;
    }
    for (int32_t f = 1; f < 1 << s->t->u; f++)
        if (odd(f, s->alpha[r]) && rank_of(c->rest[f], s->t->v, s->t->w) > c->unknown[f]) return false;
    return true;
}

static int32_t first_unknown(const solver *s, const choice *c, int32_t f) {
    for (int32_t r = 0; r < s->shape->rank; r++)
        if (!c->chosen[r] && odd(f, s->alpha[r])) return r;
    return -1;
}

static hpt_status descend(const solver *s, const choice *c) {
    if (hpt_progress_interrupted(s->progress)) return HPT_INTERRUPTED;
    if (c->left == 0) {
        hpt_ternary_product products[HPT_TERNARY_RANK];
        for (int32_t r = 0; r < s->shape->rank; r++) split(&products[r], c->matrix[r], s->alpha[r], s->t);
        return hpt_ternary_list_add(s->out, products, s->error);
    }
    int32_t tight = 0;
    for (int32_t f = 1; f < 1 << s->t->u; f++) /* the functional with fewest choices left */
        if (c->unknown[f] > 0 && (!tight || c->unknown[f] < c->unknown[tight])) tight = f;
    int32_t r = first_unknown(s, c, tight);
    if (c->unknown[tight] == 1) {
        choice then = *c;
        if (rank_of(c->rest[tight], s->t->v, s->t->w) != 1 || !take(s, &then, r, c->rest[tight])) return HPT_OK;
        return descend(s, &then);
    }
    for (int32_t i = 0; i < s->matrices; i++) {
        if (rank_of(c->rest[tight] ^ s->matrix[i], s->t->v, s->t->w) >= c->unknown[tight]) continue;
        choice then = *c;
        if (!take(s, &then, r, s->matrix[i])) continue;
        hpt_status status = descend(s, &then);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_gf2_solve(hpt_ternary_list *out, const hpt_gf2_task *task, const hpt_ternary_shape *shape,
                         const hpt_progress *progress, hpt_error *error) {
    hpt_status status = HPT_OK;
    tensor t;
    choice start = {.left = shape->rank};
    solver s = {.t = &t, .shape = shape, .alpha = task->alpha, .out = out, .progress = progress, .error = error};
    HPT_TRY(make_tensor(&t, shape, error));
    int64_t matrices = (((int64_t)1 << t.v) - 1) * (((int64_t)1 << t.w) - 1);
    HPT_FAIL_IF(matrices > MOST_MATRICES, HPT_TOO_LARGE, "--shape", "There are too many matrices of rank one.");
    s.matrix = malloc((size_t)matrices * sizeof *s.matrix);
    HPT_FAIL_NO_MEMORY(s.matrix);
    for (uint64_t beta = 1; beta < (uint64_t)1 << t.v; beta++)
        for (uint64_t rho = 1; rho < (uint64_t)1 << t.w; rho++) s.matrix[s.matrices++] = outer(beta, rho, t.v, t.w);
    memcpy(start.rest, t.slice, sizeof start.rest);
    for (int32_t f = 1; f < 1 << t.u; f++)
        for (int32_t r = 0; r < shape->rank; r++) start.unknown[f] += odd(f, task->alpha[r]);
    status = descend(&s, &start);
done:
    free(s.matrix);
    return status;
}
