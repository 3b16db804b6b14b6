/* flip.h - the moves of the flip graph on one scheme. Each returns whether it could be made; none changes the tensor.
 */
#ifndef HPT_FLIP_H
#define HPT_FLIP_H

#include "ternary.h"

typedef struct hpt_flip_state {
    hpt_ternary_shape shape; /* rank changes */
    hpt_ternary_product products[HPT_TERNARY_RANK];
    uint64_t random;
} hpt_flip_state;

uint64_t hpt_flip_random(hpt_flip_state *s);
/* A random flip. Sets *first and *second to the products it changed. */
bool hpt_flip_step(hpt_flip_state *s, int32_t *first, int32_t *second);
/* Drops zero products and merges ones that agree in two factors, as far as the changed product goes; true if the rank
 * fell. */
bool hpt_flip_reduce(hpt_flip_state *s, int32_t changed);
/* A random change of basis X -> L X M^-1, Y -> M Y N^-1 with one elementary matrix; false (and nothing changed) if a
 * coefficient would leave -1 .. 1. */
bool hpt_flip_sandwich(hpt_flip_state *s);
/* Rank + 1. */
bool hpt_flip_plus(hpt_flip_state *s);

#endif
