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
