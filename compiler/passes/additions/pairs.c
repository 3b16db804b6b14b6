#include "passes/additions/pairs.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 };

uint64_t hpt_pairs_random(hpt_pairs *p) { /* splitmix64 */
    uint64_t z = p->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void hpt_pairs_reset(hpt_pairs *p) {
    for (size_t i = 0; i < p->size; i++) p->table[i].count = -1;
    p->used = p->heap_count = 0;
}

void hpt_pairs_clear(hpt_pairs *p) {
    free(p->table);
    free(p->heap);
    *p = (hpt_pairs){0};
}

static size_t slot_of(const hpt_pairs *p, const hpt_pair *pair) {
    uint64_t hash = (uint64_t)(uint32_t)pair->first * 0x9e3779b97f4a7c15u ^
                    (uint64_t)(uint32_t)pair->second * 0xc2b2ae3d27d4eb4fu ^
                    (uint64_t)pair->ratio * 0x165667b19e3779f9u;
    size_t at = (size_t)(hash >> 24) & (p->size - 1);
    while (p->table[at].count >= 0 && (p->table[at].first != pair->first || p->table[at].second != pair->second ||
                                       p->table[at].ratio != pair->ratio))
        at = (at + 1) & (p->size - 1);
    return at;
}

/* A larger table without the pairs that have gone. */
static void grow(hpt_pairs *p) {
    hpt_pair *old = p->table;
    size_t old_size = p->size;
    size_t size = old_size ? old_size * 2 : FIRST_SIZE;
    hpt_pair *table = malloc(size * sizeof *table);
    if (!table) {
        p->failed = true;
        return;
    }
    p->table = table;
    p->size = size;
    p->used = 0;
    for (size_t i = 0; i < size; i++) table[i].count = -1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].count > 0) {
            table[slot_of(p, &old[i])] = old[i];
            p->used++;
        }
    free(old);
}

static bool above(const hpt_candidate *a, const hpt_candidate *b) {
    return a->pair.count != b->pair.count ? a->pair.count > b->pair.count : a->random > b->random;
}

static void push(hpt_pairs *p, const hpt_pair *pair) {
    if (p->heap_count == p->heap_capacity) {
        size_t capacity = p->heap_capacity ? p->heap_capacity * 2 : FIRST_SIZE;
        hpt_candidate *heap = realloc(p->heap, capacity * sizeof *heap);
        if (!heap) {
            p->failed = true;
            return;
        }
        p->heap = heap;
        p->heap_capacity = capacity;
    }
    hpt_candidate fresh = {*pair, (uint32_t)hpt_pairs_random(p)};
    size_t at = p->heap_count++;
    for (; at > 0 && above(&fresh, &p->heap[(at - 1) / 2]); at = (at - 1) / 2) p->heap[at] = p->heap[(at - 1) / 2];
    p->heap[at] = fresh;
}

static hpt_candidate pop(hpt_pairs *p) {
    hpt_candidate top = p->heap[0], last = p->heap[--p->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < p->heap_count; at = child) {
        if (child + 1 < p->heap_count && above(&p->heap[child + 1], &p->heap[child])) child++;
        if (!above(&p->heap[child], &last)) break;
        p->heap[at] = p->heap[child];
    }
    if (p->heap_count > 0) p->heap[at] = last;
    return top;
}

void hpt_pairs_change(hpt_pairs *p, int32_t first, int32_t second, uint32_t ratio, int32_t by) {
    p->steps++;
    if (2 * (p->used + 1) > p->size) grow(p);
    if (p->failed) return;
    const hpt_pair wanted = {first, second, ratio, 0};
    hpt_pair *pair = &p->table[slot_of(p, &wanted)];
    if (pair->count < 0) {
        *pair = wanted;
        p->used++;
    }
    pair->count += by;
    if (by > 0 && pair->count >= 2) push(p, pair);
}

/* Pops until the top is up to date. */
static bool pop_current(hpt_candidate *out, hpt_pairs *p) {
    while (p->heap_count > 0 && !p->failed) {
        *out = pop(p);
        int32_t now = p->table[slot_of(p, &out->pair)].count;
        if (now == out->pair.count) return true;
        if (now < out->pair.count && now >= 2) { /* it lost some: back to where it belongs */
            out->pair.count = now;
            push(p, &out->pair);
        }
    }
    return false;
}

bool hpt_pairs_best(hpt_pair *out, hpt_pairs *p, bool second) {
    hpt_candidate best, next;
    if (!pop_current(&best, p)) return false;
    if (second && pop_current(&next, p)) {
        push(p, &best.pair);
        best = next;
    }
    *out = best.pair;
    return true;
}
