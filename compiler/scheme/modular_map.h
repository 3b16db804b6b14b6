/* modular_map.h - matrices of up to 3 x 3 modulo the prime of modular.h. */
#ifndef HPT_MODULAR_MAP_H
#define HPT_MODULAR_MAP_H

#include "scheme/modular.h"

enum { HPT_MAP_SIDE = 3, HPT_MAP_CELLS = 9 };

typedef struct hpt_map { /* size x size in the first cells, row-major */
    uint32_t cells[HPT_MAP_CELLS];
} hpt_map;

/* Scales numbers so that the first that is not zero becomes 1. */
void hpt_modular_normalise(uint32_t *x, int32_t count);

void hpt_map_identity(hpt_map *out, int32_t n);
/* False if there is no inverse. `out` may be `map`, here and below. */
bool hpt_map_invert(hpt_map *out, const hpt_map *map, int32_t n);
void hpt_map_transpose(hpt_map *out, const hpt_map *map, int32_t n);
/* out := map x */
void hpt_map_apply(uint32_t *out, const hpt_map *map, const uint32_t *x, int32_t n);
/* out := left m right; m is rows x columns */
void hpt_map_sandwich(uint32_t *out, const hpt_map *left, const uint32_t *m, const hpt_map *right, int32_t rows,
                      int32_t columns);

#endif
