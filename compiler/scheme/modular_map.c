#include "scheme/modular_map.h"
#include <string.h>

static uint32_t mul(uint32_t a, uint32_t b) { return hpt_modular_mul(a, b); }
static uint32_t add(uint32_t a, uint32_t b) { return hpt_modular_add(a, b); }
static uint32_t sub(uint32_t a, uint32_t b) { return hpt_modular_sub(a, b); }

void hpt_modular_normalise(uint32_t *x, int32_t count) {
    int32_t first = 0;
    while (first < count && x[first] == 0) first++;
    if (first == count || x[first] == 1) return;
    uint32_t inverse = hpt_modular_inverse(x[first]);
    for (int32_t i = first; i < count; i++) x[i] = mul(x[i], inverse);
}

bool hpt_map_invert(hpt_map *out, const hpt_map *map, int32_t n) {
    uint32_t m[HPT_MAP_SIDE][2 * HPT_MAP_SIDE] = {{0}};
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) m[i][j] = map->cells[i * n + j];
        m[i][n + i] = 1;
    }
    for (int32_t c = 0; c < n; c++) {
        int32_t pivot = c;
        while (pivot < n && m[pivot][c] == 0) pivot++;
        if (pivot == n) return false;
        for (int32_t j = 0; j < 2 * n; j++) {
            uint32_t keep = m[pivot][j];
            m[pivot][j] = m[c][j];
            m[c][j] = keep;
        }
        uint32_t inverse = hpt_modular_inverse(m[c][c]);
        for (int32_t j = 0; j < 2 * n; j++) m[c][j] = mul(m[c][j], inverse);
        for (int32_t r = 0; r < n; r++) {
            uint32_t factor = m[r][c];
            if (r == c || factor == 0) continue;
            for (int32_t j = 0; j < 2 * n; j++) m[r][j] = sub(m[r][j], mul(factor, m[c][j]));
        }
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) out->cells[i * n + j] = m[i][n + j];
    return true;
}

void hpt_map_transpose(hpt_map *out, const hpt_map *map, int32_t n) {
    hpt_map copy = *map;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) out->cells[j * n + i] = copy.cells[i * n + j];
}

void hpt_map_apply(uint32_t *out, const hpt_map *map, const uint32_t *x, int32_t n) {
    uint32_t sum[HPT_MAP_SIDE] = {0};
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) sum[i] = add(sum[i], mul(map->cells[i * n + j], x[j]));
    memcpy(out, sum, (size_t)n * sizeof *out);
}

void hpt_map_sandwich(uint32_t *out, const hpt_map *left, const uint32_t *m, const hpt_map *right, int32_t rows,
                      int32_t columns) {
    uint32_t half[HPT_MAP_CELLS] = {0};
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < rows; k++) {
            uint32_t factor = left->cells[i * rows + k];
            for (int32_t j = 0; factor && j < columns; j++)
                half[i * columns + j] = add(half[i * columns + j], mul(factor, m[k * columns + j]));
        }
    memset(out, 0, (size_t)(rows * columns) * sizeof *out);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < columns; k++)
            for (int32_t j = 0; half[i * columns + k] && j < columns; j++)
                out[i * columns + j] =
                    add(out[i * columns + j], mul(half[i * columns + k], right->cells[k * columns + j]));
}

void hpt_map_identity(hpt_map *map, int32_t n) {
    *map = (hpt_map){{0}};
    for (int32_t i = 0; i < n; i++) map->cells[i * n + i] = 1;
}
