/* pairs.h - how often each pair of variables occurs, with the most frequent one at hand. Promises:
 *   - a pair is (first, second, ratio of coefficients modulo the prime); counts go up and down by ones.
 *   - among the most frequent pairs the choice is random, from a seeded generator.
 *   - memory grows with the number of different pairs; after a failed allocation `failed` stays true.
 */
#ifndef HPT_PAIRS_H
#define HPT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hpt_pair {
    int32_t first, second;
    uint32_t ratio; /* coefficient of second / of first */
    int32_t count;  /* -1: a free slot */
} hpt_pair;

typedef struct hpt_candidate { /* in the heap; stale if the pair's count has changed since */
    hpt_pair pair;
    uint32_t random;
} hpt_candidate;

typedef struct hpt_pairs {
    hpt_pair *table; /* open addressing */
    size_t size, used;
    hpt_candidate *heap;
    size_t heap_count, heap_capacity;
    uint64_t random; /* the generator's state: set the seed here */
    int64_t steps;   /* changes of counts so far */
    bool failed;
} hpt_pairs;

uint64_t hpt_pairs_random(hpt_pairs *pairs);
void hpt_pairs_reset(hpt_pairs *pairs); /* no pairs; keeps memory, generator and steps */
void hpt_pairs_clear(hpt_pairs *pairs);
void hpt_pairs_change(hpt_pairs *pairs, int32_t first, int32_t second, uint32_t ratio, int32_t by);
/* A most frequent pair, or a next frequent one if `second` is true; false if none occurs twice. */
bool hpt_pairs_best(hpt_pair *out, hpt_pairs *pairs, bool second);

#endif
