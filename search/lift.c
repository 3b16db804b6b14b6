/* Signs for a decomposition over GF(2): product after product, every sign pattern of its supports with the first
 * entries of U and V positive. An equation is given up as soon as the products left cannot bring it to its right-hand
 * side. */
#include "exhaust.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_EQUATIONS = 4096 };

typedef struct lifting {
    const hpt_ternary_product *modulo2;
    const hpt_ternary_shape *shape;
    int32_t u, v, w;
    hpt_ternary_product *chosen;
    int8_t *rest;  /* per product + 1: right-hand side minus what is chosen */
    int8_t *cover; /* per product: how many later products touch the equation */
    size_t equations;
    hpt_ternary_list *out;
    hpt_error *error;
} lifting;

static uint64_t spread(uint64_t bits, uint64_t mask) { /* deposits the low bits of `bits` into the ones of `mask` */
    uint64_t out = 0;
    for (; mask; mask &= mask - 1, bits >>= 1)
        if (bits & 1) out |= mask & (~mask + 1);
    return out;
}

static int sign_at(hpt_ternary_vector v, int32_t e) { return (int)(v.plus >> e & 1) - (int)(v.minus >> e & 1); }

/* Subtracts the product from the equations; false if one is now out of reach. */
static bool subtract(const lifting *l, int32_t r) {
    const hpt_ternary_product *x = &l->chosen[r];
    const int8_t *before = l->rest + (size_t)r * l->equations, *cover = l->cover + (size_t)r * l->equations;
    int8_t *after = l->rest + ((size_t)r + 1) * l->equations;
    memcpy(after, before, l->equations);
    for (int32_t a = 0; a < l->u; a++) {
        if (!sign_at(x->factor[0], a)) continue;
        for (int32_t b = 0; b < l->v; b++) {
            int ab = sign_at(x->factor[0], a) * sign_at(x->factor[1], b);
            for (int32_t c = 0; c < l->w && ab; c++) {
                size_t e = ((size_t)a * (size_t)l->v + (size_t)b) * (size_t)l->w + (size_t)c;
                after[e] = (int8_t)(after[e] - ab * sign_at(x->factor[2], c));
                if (abs(after[e]) > cover[e]) return false;
            }
        }
    }
    return true;
}

static hpt_status descend(const lifting *l, int32_t r) {
    if (r == l->shape->rank) return hpt_ternary_list_add(l->out, l->chosen, l->error);
    uint64_t mask[3], free_bits[3];
    int bits[3];
    for (int f = 0; f < 3; f++) {
        mask[f] = l->modulo2[r].factor[f].plus;
        free_bits[f] = f == HPT_W ? mask[f] : mask[f] & (mask[f] - 1);
        bits[f] = __builtin_popcountll(free_bits[f]);
    }
    for (uint64_t pattern = 0; pattern < (uint64_t)1 << (bits[0] + bits[1] + bits[2]); pattern++) {
        uint64_t part[3] = {pattern, pattern >> bits[0], pattern >> (bits[0] + bits[1])};
        for (int f = 0; f < 3; f++) {
            uint64_t minus = spread(part[f], free_bits[f]);
            l->chosen[r].factor[f] = (hpt_ternary_vector){mask[f] & ~minus, minus};
        }
        if (!subtract(l, r)) continue;
        hpt_status status = descend(l, r + 1);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

hpt_status hpt_lift_signs(hpt_ternary_list *out, const hpt_ternary_product *modulo2, const hpt_ternary_shape *shape,
                          hpt_error *error) {
    hpt_status status = HPT_OK;
    lifting l = {.modulo2 = modulo2,
                 .shape = shape,
                 .u = shape->n * shape->m,
                 .v = shape->m * shape->p,
                 .w = shape->n * shape->p,
                 .out = out,
                 .error = error};
    l.equations = (size_t)l.u * (size_t)l.v * (size_t)l.w;
    size_t rank = (size_t)shape->rank;
    l.chosen = calloc(rank, sizeof *l.chosen);
    l.rest = calloc(rank + 1, l.equations);
    l.cover = calloc(rank, l.equations);
    HPT_FAIL_IF(!l.chosen || !l.rest || !l.cover, HPT_NO_MEMORY, "", "Out of memory.");
    size_t e = 0;
    for (int32_t a = 0; a < l.u; a++)
        for (int32_t b = 0; b < l.v; b++)
            for (int32_t c = 0; c < l.w; c++, e++) {
                l.rest[e] =
                    a % shape->m == b / shape->p && a / shape->m == c / shape->p && b % shape->p == c % shape->p;
                int8_t later = 0;
                for (size_t r = rank; r-- > 0;) {
                    l.cover[r * l.equations + e] = later;
                    const hpt_ternary_vector *f = modulo2[r].factor;
                    later = (int8_t)(later + (int)(f[0].plus >> a & f[1].plus >> b & f[2].plus >> c & 1));
                }
            }
    status = descend(&l, 0);
done:
    free(l.chosen);
    free(l.rest);
    free(l.cover);
    return status;
}
