/* Shapes with a side of 1 and the minimal rank. One matrix G of the three (s x t) is as large as the two others'
 * vectors a (s), b (t) together, and the Brent equations say that the rank-one matrices a_r b_r^T are a basis whose
 * dual basis is G's vectors. So the ternary schemes are the bases of rank-one ternary matrices with a ternary inverse.
 */
#include "exhaust.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = 6, MOST_VECTORS = 400 };

typedef struct basis_search {
    const hpt_ternary_shape *shape;
    int32_t size;                 /* s t = rank */
    int big, left, right;         /* which factor is G, which ones are a and b */
    hpt_ternary_product *product; /* a and b of every rank-one matrix */
    int8_t (*row)[SIDE];          /* the same as a vector of G's length */
    int32_t count;
    hpt_ternary_list *out;
    hpt_error *error;
} basis_search;

static int sign_at(hpt_ternary_vector v, int32_t e) { return (int)(v.plus >> e & 1) - (int)(v.minus >> e & 1); }

static void list_rank_ones(basis_search *b, int32_t s, int32_t t) {
    int32_t most_a = 1, most_b = 1;
    for (int32_t i = 0; i < s; i++) most_a *= 3;
    for (int32_t i = 0; i < t; i++) most_b *= 3;
    for (int32_t x = 0; x < most_a * most_b; x++) {
        hpt_ternary_vector a = {0, 0}, c = {0, 0};
        int32_t digits = x;
        for (int32_t i = 0; i < s + t; i++, digits /= 3) {
            hpt_ternary_vector *v = i < s ? &a : &c;
            if (digits % 3 == 1) v->plus |= (uint64_t)1 << (i < s ? i : i - s);
            if (digits % 3 == 2) v->minus |= (uint64_t)1 << (i < s ? i : i - s);
        }
        uint64_t in_a = a.plus | a.minus, in_c = c.plus | c.minus;
        if (!in_a || !in_c || !(a.plus & in_a & (~in_a + 1)) || !(c.plus & in_c & (~in_c + 1)))
            continue; /* one sign each */
        for (int32_t i = 0; i < s; i++)
            for (int32_t j = 0; j < t; j++) b->row[b->count][i * t + j] = (int8_t)(sign_at(a, i) * sign_at(c, j));
        b->product[b->count].factor[b->left] = a;
        b->product[b->count++].factor[b->right] = c;
    }
}

static int64_t divisor(int64_t a, int64_t b) { /* Euclid */
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* Gauss-Jordan in integers on [rows | 1]: true if the inverse of the chosen rows is ternary; its transpose's rows are
 * G. */
static bool invert(const basis_search *b, const int32_t *chosen, int64_t inverse[SIDE][SIDE]) {
    int64_t m[SIDE][2 * SIDE];
    int32_t n = b->size;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < 2 * n; j++) m[i][j] = j < n ? b->row[chosen[i]][j] : j - n == i;
    for (int32_t c = 0; c < n; c++) {
        int32_t pivot = c;
        while (pivot < n && m[pivot][c] == 0) pivot++;
        if (pivot == n) return false;
        for (int32_t j = 0; j < 2 * n; j++) {
            int64_t held = m[c][j];
            m[c][j] = m[pivot][j], m[pivot][j] = held;
        }
        for (int32_t i = 0; i < n; i++) {
            int64_t factor = m[i][c];
            if (i == c || factor == 0) continue;
            for (int32_t j = 0; j < 2 * n; j++) m[i][j] = m[i][j] * m[c][c] - factor * m[c][j];
            int64_t common = 0; /* keep the numbers small */
            for (int32_t j = 0; j < 2 * n; j++) common = divisor(common, llabs(m[i][j]));
            for (int32_t j = 0; j < 2 * n && common > 1; j++) m[i][j] /= common;
        }
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            if (m[i][n + j] % m[i][i] != 0) return false;
            inverse[i][j] = m[i][n + j] / m[i][i];
            if (llabs(inverse[i][j]) > 1) return false;
        }
    return true;
}

static hpt_status choose(const basis_search *b, int32_t *chosen, int32_t depth, int32_t low) {
    if (depth == b->size) {
        int64_t inverse[SIDE][SIDE];
        hpt_ternary_product products[SIDE];
        if (!invert(b, chosen, inverse)) return HPT_OK;
        for (int32_t r = 0; r < b->size; r++) {
            products[r] = b->product[chosen[r]];
            hpt_ternary_vector g = {0, 0};
            for (int32_t e = 0; e < b->size; e++) { /* sum_r row_r[e] g_r[e'] = [e = e'] */
                if (inverse[e][r] > 0) g.plus |= (uint64_t)1 << e;
                if (inverse[e][r] < 0) g.minus |= (uint64_t)1 << e;
            }
            products[r].factor[b->big] = g;
        }
        return hpt_ternary_list_add(b->out, products, b->error);
    }
    for (int32_t i = low; i < b->count; i++) {
        chosen[depth] = i;
        hpt_status status = choose(b, chosen, depth + 1, i + 1);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_exhaust_bases(hpt_ternary_list *out, const hpt_ternary_shape *shape, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t n = shape->n, m = shape->m, p = shape->p, chosen[SIDE], s, t;
    basis_search b = {.shape = shape, .size = n * m * p, .out = out, .error = error};
    out->rank = shape->rank;
    HPT_FAIL_IF((n != 1 && m != 1 && p != 1) || shape->rank != n * m * p || b.size > SIDE, HPT_UNSUPPORTED, "--shape",
                "The method of bases needs a side of 1 and rank n m p <= %d.", SIDE);
    if (n == 1)
        b.big = HPT_V, b.left = HPT_U, b.right = HPT_W, s = m, t = p;
    else if (m == 1)
        b.big = HPT_W, b.left = HPT_U, b.right = HPT_V, s = n, t = p;
    else
        b.big = HPT_U, b.left = HPT_W, b.right = HPT_V, s = n, t = m;
    b.product = calloc(MOST_VECTORS, sizeof *b.product);
    b.row = calloc(MOST_VECTORS, sizeof *b.row);
    HPT_FAIL_IF(!b.product || !b.row, HPT_NO_MEMORY, "", "Out of memory.");
    list_rank_ones(&b, s, t);
    HPT_TRY(choose(&b, chosen, 0, 0));
    hpt_ternary_list_set(out);
done:
    free(b.product);
    free(b.row);
    return status;
}
