#include "flip.h"
#include <string.h>

enum { TRIES = 20000 };

uint64_t hpt_flip_random(hpt_flip_state *s) { /* xorshift64* */
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return s->random * 0x2545F4914F6CDD1DULL;
}

static bool is_zero(hpt_ternary_vector v) { return (v.plus | v.minus) == 0; }
static bool equal(hpt_ternary_vector a, hpt_ternary_vector b) { return a.plus == b.plus && a.minus == b.minus; }
static bool opposite(hpt_ternary_vector a, hpt_ternary_vector b) { return a.plus == b.minus && a.minus == b.plus; }

static bool add(const hpt_flip_state *s, hpt_ternary_vector *out, hpt_ternary_vector a, hpt_ternary_vector b,
                bool minus) {
    return hpt_ternary_add(out, a, minus && !s->shape.modulo2 ? hpt_ternary_negate(b) : b, s->shape.modulo2);
}

/* Products i and j share factor f up to sign: adds (minus: subtracts) j's g to i's and corrects j's h. */
static bool flip(hpt_flip_state *s, int32_t i, int32_t j, int f, int g, bool minus) {
    hpt_ternary_product *x = &s->products[i], *y = &s->products[j];
    int h = 3 - f - g;
    bool negative = !equal(x->factor[f], y->factor[f]);
    hpt_ternary_vector sum, rest;
    /* y = a (x) b' (x) (+-c'): a b c + a b' c' = a (b +- b') c + a b' (c' -+ c) */
    hpt_ternary_vector theirs = negative && !s->shape.modulo2 ? hpt_ternary_negate(y->factor[h]) : y->factor[h];
    if (!add(s, &sum, x->factor[g], y->factor[g], minus) || !add(s, &rest, theirs, x->factor[h], !minus)) return false;
    x->factor[g] = sum;
    y->factor[f] = x->factor[f];
    y->factor[h] = rest;
    return true;
}

bool hpt_flip_step(hpt_flip_state *s, int32_t *first, int32_t *second) {
    uint32_t rank = (uint32_t)s->shape.rank;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t bits = hpt_flip_random(s);
        int32_t i = (int32_t)((bits & 0xFFFFF) * rank >> 20), j = (int32_t)((bits >> 20 & 0xFFFFF) * rank >> 20);
        int f = (int)((bits >> 40 & 0xFF) * 3 >> 8);
        if (i == j) continue;
        hpt_ternary_vector a = s->products[i].factor[f], b = s->products[j].factor[f];
        if (!equal(a, b) && !opposite(a, b)) continue;
        if (!flip(s, i, j, f, (f + 1 + (int)(bits >> 60 & 1)) % 3, bits >> 61 & 1)) continue;
        *first = i, *second = j;
        return true;
    }
    return false;
}

static void drop(hpt_flip_state *s, int32_t r) { s->products[r] = s->products[--s->shape.rank]; }

/* Merges j into i if they agree in two factors up to sign and the sum of the third stays in range. */
static bool merge(hpt_flip_state *s, int32_t i, int32_t j) {
    hpt_ternary_product *x = &s->products[i], *y = &s->products[j];
    for (int f = 0; f < 3; f++) {
        int g = (f + 1) % 3, h = (f + 2) % 3;
        bool same_g = equal(x->factor[g], y->factor[g]), same_h = equal(x->factor[h], y->factor[h]);
        if ((!same_g && !opposite(x->factor[g], y->factor[g])) || (!same_h && !opposite(x->factor[h], y->factor[h])))
            continue;
        hpt_ternary_vector sum;
        if (!add(s, &sum, x->factor[f], y->factor[f], same_g != same_h)) continue;
        x->factor[f] = sum;
        drop(s, j);
        return true;
    }
    return false;
}

bool hpt_flip_reduce(hpt_flip_state *s, int32_t changed) {
    const hpt_ternary_vector *f = s->products[changed].factor;
    if (is_zero(f[0]) || is_zero(f[1]) || is_zero(f[2])) {
        drop(s, changed);
        return true;
    }
    for (int32_t j = 0; j < s->shape.rank; j++) {
        if (j == changed || !merge(s, changed, j)) continue;
        int32_t kept = changed == s->shape.rank ? j : changed; /* dropping j moved the last product there */
        f = s->products[kept].factor;
        if (is_zero(f[0]) || is_zero(f[1]) || is_zero(f[2])) drop(s, kept);
        return true;
    }
    return false;
}

/* Row (or column) `to` of a matrix plus or minus row (or column) `from`. */
static bool add_line(const hpt_flip_state *s, hpt_ternary_vector *v, int32_t rows, int32_t columns, bool by_rows,
                     int32_t to, int32_t from, bool minus) {
    hpt_ternary_vector moved = {0, 0};
    int32_t count = by_rows ? columns : rows;
    for (int32_t k = 0; k < count; k++) {
        int32_t source = by_rows ? from * columns + k : k * columns + from;
        int32_t target = by_rows ? to * columns + k : k * columns + to;
        moved.plus |= (v->plus >> source & 1) << target;
        moved.minus |= (v->minus >> source & 1) << target;
    }
    return add(s, v, *v, moved, minus);
}

bool hpt_flip_sandwich(hpt_flip_state *s) {
    static const int factors[3][2] = {
        {HPT_U, HPT_W}, {HPT_V, HPT_U}, {HPT_W, HPT_V}}; /* one gains what the other loses */
    const int32_t rows[3] = {s->shape.n, s->shape.m, s->shape.n}, columns[3] = {s->shape.m, s->shape.p, s->shape.p};
    const int32_t sides[3] = {s->shape.n, s->shape.m, s->shape.p};
    uint64_t bits = hpt_flip_random(s);
    int side = (int)((bits >> 40 & 0xFF) * 3 >> 8);
    int32_t size = sides[side], i = (int32_t)((bits & 0xFFFF) * (uint32_t)size >> 16);
    int32_t j = (int32_t)((bits >> 16 & 0xFFFF) * (uint32_t)size >> 16);
    bool minus = bits >> 60 & 1;
    if (i == j) return false;
    hpt_ternary_product changed[HPT_TERNARY_RANK];
    for (int32_t r = 0; r < s->shape.rank; r++) {
        changed[r] = s->products[r];
        int gains = factors[side][0], loses = factors[side][1];
        bool gain_rows = side < 2,
             lose_rows = side == 0; /* X's rows and Z's; Y's rows and X's columns; Z's columns and Y's */
        if (!add_line(s, &changed[r].factor[gains], rows[gains], columns[gains], gain_rows, j, i, minus) ||
            !add_line(s, &changed[r].factor[loses], rows[loses], columns[loses], lose_rows, i, j, !minus))
            return false;
    }
    memcpy(s->products, changed, (size_t)s->shape.rank * sizeof *changed);
    return true;
}

bool hpt_flip_plus(hpt_flip_state *s) {
    if (s->shape.rank + 1 > HPT_TERNARY_RANK) return false;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t bits = hpt_flip_random(s);
        uint32_t rank = (uint32_t)s->shape.rank;
        int32_t i = (int32_t)((bits & 0xFFFFF) * rank >> 20), j = (int32_t)((bits >> 20 & 0xFFFFF) * rank >> 20);
        int a = (int)((bits >> 40 & 0xFF) * 3 >> 8), b = (a + 1 + (int)(bits >> 60 & 1)) % 3, c = 3 - a - b;
        if (i == j) continue;
        hpt_ternary_product x = s->products[i], y = s->products[j], first = x, second = x, third = y;
        /* a1 b1 c1 + a2 b2 c2 = a1 (b1 + b2) c1 + a1 b2 (c2 - c1) + (a2 - a1) b2 c2 */
        second.factor[b] = y.factor[b];
        if (!add(s, &first.factor[b], x.factor[b], y.factor[b], false) ||
            !add(s, &second.factor[c], y.factor[c], x.factor[c], true) ||
            !add(s, &third.factor[a], y.factor[a], x.factor[a], true))
            continue;
        if (is_zero(first.factor[b]) || is_zero(second.factor[c]) || is_zero(third.factor[a])) continue;
        s->products[i] = first, s->products[j] = second;
        s->products[s->shape.rank++] = third;
        return true;
    }
    return false;
}
