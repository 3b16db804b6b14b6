#include "scheme/orbit_maps.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_MAPS = 1 << 20, SPACES = 3 };

/* A projective vector in one of the three spaces: from the left or right side of a factor of rank one. Primal vectors
 * are mapped by the space's map, dual ones by its inverse transpose. */
typedef struct vector {
    uint32_t x[HPT_MAP_SIDE]; /* first non-zero coordinate 1 */
    bool dual;
    uint32_t label; /* ranks of its product, and how often it occurs among them: what a map must keep */
} vector;

struct hpt_orbit_view {
    int32_t rank, rows[3], columns[3], size[SPACES];
    uint32_t *factor[3]; /* rank x rows x columns */
    uint32_t *signature; /* ranks of U_r, V_r, W_r in one number */
    vector *vectors[SPACES];
    int32_t vector_count[SPACES];
    uint64_t *products; /* sorted hashes of the normalised products */
};

/* ---- the view ---- */

static const int left_space[3] = {0, 1, 0}, right_space[3] = {1, 2, 2};
static const bool left_dual[3] = {false, false, true}, right_dual[3] = {true, true, false};

static void add_vector(hpt_orbit_view *v, int space, const uint32_t *x, bool dual, uint32_t signature) {
    vector *list = v->vectors[space];
    int32_t n = v->size[space];
    vector fresh = {.dual = dual};
    memcpy(fresh.x, x, (size_t)n * sizeof *x);
    hpt_modular_normalise(fresh.x, n);
    int32_t i = 0;
    while (i < v->vector_count[space] && (list[i].dual != dual || memcmp(list[i].x, fresh.x, sizeof fresh.x) != 0)) i++;
    if (i == v->vector_count[space]) list[v->vector_count[space]++] = fresh;
    list[i].label +=
        (signature * 2654435761u ^ signature >> 3) | 1; /* commutative: the order of products must not matter */
}

static void collect_vectors(hpt_orbit_view *v) {
    for (int32_t r = 0; r < v->rank; r++)
        for (int f = 0; f < 3; f++) {
            const uint32_t *m = v->factor[f] + (size_t)r * (size_t)(v->rows[f] * v->columns[f]);
            if (v->signature[r] / (f == 0 ? 1u : f == 1 ? 4u : 16u) % 4 != 1) continue;
            int32_t cell = 0;
            while (m[cell] == 0) cell++;
            int32_t row = cell / v->columns[f], column = cell % v->columns[f];
            uint32_t side[HPT_MAP_SIDE] = {0};
            for (int32_t i = 0; i < v->rows[f]; i++) side[i] = m[i * v->columns[f] + column];
            add_vector(v, left_space[f], side, left_dual[f], v->signature[r] * 8 + (uint32_t)f);
            memset(side, 0, sizeof side);
            for (int32_t j = 0; j < v->columns[f]; j++) side[j] = m[row * v->columns[f] + j];
            add_vector(v, right_space[f], side, right_dual[f], v->signature[r] * 8 + (uint32_t)f + 4);
        }
}

static uint64_t hash_cells(uint64_t hash, const uint32_t *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) hash = (hash ^ x[i]) * 0x100000001b3u ^ hash >> 29;
    return hash;
}

static int compare_hashes(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted hashes of the products' normalised factors (those that `factors` has bits for) after left and right maps. */
static void hash_products(uint64_t *out, const hpt_orbit_view *v, const hpt_map *left, const hpt_map *right,
                          int factors) {
    for (int32_t r = 0; r < v->rank; r++) {
        out[r] = 0xcbf29ce484222325u ^ v->signature[r];
        for (int f = 0; f < 3; f++) {
            uint32_t m[HPT_MAP_CELLS];
            int32_t cells = v->rows[f] * v->columns[f];
            if (!(factors >> f & 1)) continue;
            hpt_map_sandwich(m, &left[f], v->factor[f] + (size_t)r * (size_t)cells, &right[f], v->rows[f],
                             v->columns[f]);
            hpt_modular_normalise(m, cells);
            out[r] = hash_cells(out[r], m, cells);
        }
    }
    qsort(out, (size_t)v->rank, sizeof *out, compare_hashes);
}

hpt_status hpt_orbit_view_create(hpt_orbit_view **out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_orbit_view *v = calloc(1, sizeof *v);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(v);
    const int32_t n = hpt_scheme_n(s), m = hpt_scheme_m(s), p = hpt_scheme_p(s);
    HPT_FAIL_IF(n > HPT_MAP_SIDE || m > HPT_MAP_SIDE || p > HPT_MAP_SIDE || !hpt_modular_possible(s), HPT_UNSUPPORTED,
                s->name, "Orbits are worked out for sizes up to %d over Z and Q.", HPT_MAP_SIDE);
    v->rank = hpt_scheme_rank(s);
    memcpy(v->rows, (const int32_t[3]){n, m, n}, sizeof v->rows);
    memcpy(v->columns, (const int32_t[3]){m, p, p}, sizeof v->columns);
    memcpy(v->size, (const int32_t[3]){n, m, p}, sizeof v->size);
    v->signature = calloc((size_t)v->rank, sizeof *v->signature);
    v->products = calloc((size_t)v->rank, sizeof *v->products);
    HPT_FAIL_IF(!v->signature || !v->products, HPT_NO_MEMORY, "", "Out of memory.");
    for (int f = 0; f < 3; f++) {
        v->factor[f] = hpt_modular_rows(s, (hpt_factor)f);
        v->vectors[f] = calloc(4 * (size_t)v->rank, sizeof *v->vectors[f]);
        HPT_FAIL_IF(!v->factor[f] || !v->vectors[f], HPT_NO_MEMORY, "", "Out of memory.");
        int32_t cells = v->rows[f] * v->columns[f];
        for (int32_t r = 0; r < v->rank; r++) {
            uint32_t copy[HPT_MAP_CELLS];
            memcpy(copy, v->factor[f] + (size_t)r * (size_t)cells, (size_t)cells * sizeof *copy);
            v->signature[r] += (uint32_t)hpt_modular_rank(copy, v->rows[f], v->columns[f]) << (2 * f);
        }
    }
    collect_vectors(v);
    *out = v;
    v = NULL;
done:
    hpt_orbit_view_destroy(v);
    return status;
}

void hpt_orbit_view_destroy(hpt_orbit_view *v) {
    if (!v) return;
    for (int f = 0; f < 3; f++) {
        free(v->factor[f]);
        free(v->vectors[f]);
    }
    free(v->signature);
    free(v->products);
    free(v);
}

bool hpt_orbit_ranks_agree(const hpt_orbit_view *a, const hpt_orbit_view *b) {
    int32_t count[64] = {0};
    if (a->rank != b->rank || memcmp(a->size, b->size, sizeof a->size) != 0) return false;
    for (int32_t r = 0; r < a->rank; r++) {
        count[a->signature[r]]++;
        count[b->signature[r]]--;
    }
    for (int i = 0; i < 64; i++)
        if (count[i]) return false;
    return true;
}

/* ---- maps of one space ---- */

/* The matrix with the vectors as columns, scaled so that their sum is the last one: maps the standard frame to them. */
static bool from_frame(hpt_map *out, const uint32_t (*x)[HPT_MAP_SIDE], int32_t n) {
    hpt_map columns = {{0}}, inverse;
    uint32_t scale[HPT_MAP_SIDE];
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) columns.cells[i * n + j] = x[j][i];
    if (!hpt_map_invert(&inverse, &columns, n)) return false;
    hpt_map_apply(scale, &inverse, x[n], n);
    for (int32_t j = 0; j < n; j++) {
        if (scale[j] == 0) return false;
        for (int32_t i = 0; i < n; i++) out->cells[i * n + j] = hpt_modular_mul(columns.cells[i * n + j], scale[j]);
    }
    return true;
}

/* Does the map take the vectors of a onto those of b, labels kept? */
static bool fits(const hpt_map *map, const hpt_orbit_view *a, const hpt_orbit_view *b, int space) {
    int32_t n = a->size[space];
    hpt_map dual;
    if (!hpt_map_invert(&dual, map, n)) return false;
    hpt_map_transpose(&dual, &dual, n);
    for (int32_t i = 0; i < a->vector_count[space]; i++) {
        const vector *from = &a->vectors[space][i];
        uint32_t image[HPT_MAP_SIDE] = {0};
        hpt_map_apply(image, from->dual ? &dual : map, from->x, n);
        hpt_modular_normalise(image, n);
        int32_t k = 0;
        for (; k < b->vector_count[space]; k++) {
            const vector *to = &b->vectors[space][k];
            if (to->dual == from->dual && to->label == from->label && memcmp(to->x, image, sizeof image) == 0) break;
        }
        if (k == b->vector_count[space]) return false;
    }
    return true;
}

static bool push(hpt_maps *maps, const hpt_map *map) {
    if (maps->count == MAX_MAPS) return false;
    if (maps->count == maps->capacity) {
        size_t capacity = maps->capacity ? maps->capacity * 2 : 16;
        hpt_map *items = realloc(maps->items, capacity * sizeof *items);
        if (!items) return false;
        maps->items = items;
        maps->capacity = capacity;
    }
    maps->items[maps->count++] = *map;
    return true;
}

/* A frame is n independent vectors and one in general position to them; a basis (no such vector) takes their sum. */
typedef struct frame_search {
    const hpt_orbit_view *a, *b;
    int space;
    bool dual, basis;
    int32_t frame[HPT_MAP_SIDE + 1], image[HPT_MAP_SIDE + 1];
    hpt_map base_inverse; /* of the frame's matrix */
    hpt_maps *maps;
} frame_search;

static int32_t frame_length(const frame_search *s) {
    int32_t length = s->a->size[s->space] + !s->basis;
    return length <= HPT_MAP_SIDE + 1 ? length : HPT_MAP_SIDE + 1;
}

static bool frame_map(hpt_map *out, const frame_search *s, const hpt_orbit_view *view, const int32_t *chosen) {
    int32_t n = view->size[s->space];
    uint32_t x[HPT_MAP_SIDE + 1][HPT_MAP_SIDE] = {{0}};
    for (int32_t i = 0; i < frame_length(s); i++) memcpy(x[i], view->vectors[s->space][chosen[i]].x, sizeof x[i]);
    for (int32_t i = 0; s->basis && i < n; i++)
        for (int32_t j = 0; j < n; j++) x[n][j] = hpt_modular_add(x[n][j], x[i][j]);
    return from_frame(out, x, n);
}

static bool choose_frame(frame_search *s, int32_t depth, int32_t from) {
    const vector *vectors = s->a->vectors[s->space];
    if (depth == frame_length(s) || depth > HPT_MAP_SIDE) {
        hpt_map base;
        return frame_map(&base, s, s->a, s->frame) && hpt_map_invert(&s->base_inverse, &base, s->a->size[s->space]);
    }
    for (int32_t i = from; i < s->a->vector_count[s->space]; i++) {
        if (vectors[i].dual != s->dual) continue;
        s->frame[depth] = i;
        if (choose_frame(s, depth + 1, i + 1)) return true;
    }
    return false;
}

static bool try_image(frame_search *s) {
    int32_t n = s->a->size[s->space];
    hpt_map to, map = {{0}};
    if (!frame_map(&to, s, s->b, s->image)) return true;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = 0; k < n; k++)
                map.cells[i * n + j] = hpt_modular_add(
                    map.cells[i * n + j], hpt_modular_mul(to.cells[i * n + k], s->base_inverse.cells[k * n + j]));
    if (s->dual) { /* it maps dual vectors: the space's own map is its inverse transpose */
        if (!hpt_map_invert(&map, &map, n)) return true;
        hpt_map_transpose(&map, &map, n);
    }
    hpt_modular_normalise(map.cells, n * n);
    return !fits(&map, s->a, s->b, s->space) || push(s->maps, &map);
}

static bool search_images(frame_search *s, int32_t depth) {
    if (depth == frame_length(s) || depth > HPT_MAP_SIDE) return try_image(s);
    for (int32_t k = 0; k < s->b->vector_count[s->space]; k++) {
        const vector *from = &s->a->vectors[s->space][s->frame[depth]], *to = &s->b->vectors[s->space][k];
        if (to->dual != from->dual || to->label != from->label) continue;
        bool taken = false;
        for (int32_t i = 0; i < depth; i++) taken = taken || s->image[i] == k;
        s->image[depth] = k;
        if (!taken && !search_images(s, depth + 1)) return false;
    }
    return true;
}

static bool find_maps(hpt_maps *out, const hpt_orbit_view *a, const hpt_orbit_view *b, int space) {
    hpt_map one;
    hpt_map_identity(&one, a->size[space]);
    *out = (hpt_maps){.complete = true};
    if (a->size[space] == 1) return push(out, &one);
    if (a->vector_count[space] != b->vector_count[space]) return true; /* none fits */
    for (int kind = 0; kind < 4; kind++) {
        frame_search s = {.a = a, .b = b, .space = space, .dual = kind & 1, .basis = kind & 2, .maps = out};
        if (!choose_frame(&s, 0, 0)) continue;
        out->complete = !s.basis; /* with a basis only, infinitely many maps may fit; these are some */
        return search_images(&s, 0);
    }
    out->complete = false;
    return true;
}

/* ---- all three ---- */

typedef struct join {
    const hpt_orbit_view *a, *b;
    hpt_map left[3], right[3];   /* per factor */
    uint64_t *scratch, *partial; /* partial: b's hashes over U only */
} join;

static void set_u(join *j, const hpt_map *g, const hpt_map *h) {
    j->left[0] = *g;
    hpt_map_invert(&j->right[0], h, j->a->size[1]);
}

static void set_vw(join *j, const hpt_map *g, const hpt_map *h, const hpt_map *k) {
    j->left[1] = *h;
    hpt_map_invert(&j->right[1], k, j->a->size[2]);
    hpt_map_invert(&j->left[2], g, j->a->size[0]);
    hpt_map_transpose(&j->left[2], &j->left[2], j->a->size[0]);
    hpt_map_transpose(&j->right[2], k, j->a->size[2]);
}

static bool matches(join *j, int factors, const uint64_t *wanted) {
    hash_products(j->scratch, j->a, j->left, j->right, factors);
    return memcmp(j->scratch, wanted, (size_t)j->a->rank * sizeof *wanted) == 0;
}

static bool all_triples(join *j, const hpt_maps maps[3], bool (*found)(void *, const hpt_map[3]), void *user) {
    for (size_t g = 0; g < maps[0].count; g++)
        for (size_t h = 0; h < maps[1].count; h++) {
            set_u(j, &maps[0].items[g], &maps[1].items[h]);
            if (!matches(j, 1, j->partial)) continue;
            for (size_t k = 0; k < maps[2].count; k++) {
                set_vw(j, &maps[0].items[g], &maps[1].items[h], &maps[2].items[k]);
                const hpt_map map[3] = {maps[0].items[g], maps[1].items[h], maps[2].items[k]};
                if (matches(j, 7, j->b->products) && !found(user, map)) return false;
            }
        }
    return true;
}

hpt_status hpt_orbit_search(const hpt_orbit_view *a, const hpt_orbit_view *b, bool *complete,
                            bool (*found)(void *user, const hpt_map map[3]), void *user, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_maps maps[3] = {{0}};
    join j = {.a = a, .b = b};
    hpt_map left[3], right[3];
    *complete = true;
    j.scratch = calloc((size_t)a->rank, sizeof *j.scratch);
    j.partial = calloc((size_t)b->rank, sizeof *j.partial);
    HPT_FAIL_IF(!j.scratch || !j.partial, HPT_NO_MEMORY, "", "Out of memory.");
    for (int f = 0; f < 3; f++) {
        hpt_map_identity(&left[f], b->rows[f]);
        hpt_map_identity(&right[f], b->columns[f]);
    }
    hash_products(j.partial, b, left, right, 1);
    hash_products(b->products, b, left, right, 7);
    for (int space = 0; space < SPACES; space++) {
        if (!find_maps(&maps[space], a, b, space)) maps[space].complete = false;
        *complete = *complete && maps[space].complete;
    }
    all_triples(&j, maps, found, user);
done:
    for (int space = 0; space < SPACES; space++) free(maps[space].items);
    free(j.scratch);
    free(j.partial);
    return status;
}
