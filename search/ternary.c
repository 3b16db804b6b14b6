#include "ternary.h"
#include "passes/cover/cover.h"
#include "scheme/scheme.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hpt_ternary_shape_equal(const hpt_ternary_shape *a, const hpt_ternary_shape *b) {
    return a->n == b->n && a->m == b->m && a->p == b->p && a->rank == b->rank && a->modulo2 == b->modulo2;
}

int32_t hpt_ternary_entries(const hpt_ternary_shape *s, hpt_factor factor) {
    return factor == HPT_U ? s->n * s->m : factor == HPT_V ? s->m * s->p : s->n * s->p;
}

hpt_ternary_vector hpt_ternary_negate(hpt_ternary_vector v) { return (hpt_ternary_vector){v.minus, v.plus}; }

bool hpt_ternary_add(hpt_ternary_vector *out, hpt_ternary_vector a, hpt_ternary_vector b, bool modulo2) {
    if (modulo2) {
        *out = (hpt_ternary_vector){a.plus ^ b.plus, 0};
        return true;
    }
    if ((a.plus & b.plus) | (a.minus & b.minus)) return false;
    uint64_t plus = a.plus | b.plus, minus = a.minus | b.minus;
    *out = (hpt_ternary_vector){plus & ~minus, minus & ~plus};
    return true;
}

static bool leads_negative(hpt_ternary_vector v) {
    uint64_t all = v.plus | v.minus;
    return (v.minus & all & (~all + 1)) != 0;
}

int hpt_ternary_compare(const hpt_ternary_product *a, const hpt_ternary_product *b) {
    for (int f = 0; f < 3; f++) {
        const hpt_ternary_vector *x = &a->factor[f], *y = &b->factor[f];
        if (x->plus != y->plus) return x->plus < y->plus ? -1 : 1;
        if (x->minus != y->minus) return x->minus < y->minus ? -1 : 1;
    }
    return 0;
}

static int compare_products(const void *a, const void *b) { return hpt_ternary_compare(a, b); }

void hpt_ternary_normalise(hpt_ternary_product *products, int32_t rank) {
    for (int32_t r = 0; r < rank; r++)
        for (int f = HPT_U; f <= HPT_V; f++)
            if (leads_negative(products[r].factor[f])) {
                products[r].factor[f] = hpt_ternary_negate(products[r].factor[f]);
                products[r].factor[HPT_W] = hpt_ternary_negate(products[r].factor[HPT_W]);
            }
    qsort(products, (size_t)rank, sizeof *products, compare_products);
}

static int value_at(hpt_ternary_vector v, int32_t entry) {
    return (int)(v.plus >> entry & 1) - (int)(v.minus >> entry & 1);
}

bool hpt_ternary_check(const hpt_ternary_product *products, const hpt_ternary_shape *s) {
    int32_t us = s->n * s->m, vs = s->m * s->p, ws = s->n * s->p;
    for (int32_t a = 0; a < us; a++)
        for (int32_t b = 0; b < vs; b++)
            for (int32_t c = 0; c < ws; c++) {
                int sum = 0, want = a % s->m == b / s->p && a / s->m == c / s->p && b % s->p == c % s->p;
                for (int32_t r = 0; r < s->rank; r++)
                    sum += value_at(products[r].factor[0], a) * value_at(products[r].factor[1], b) *
                           value_at(products[r].factor[2], c);
                if (s->modulo2 ? (sum - want) & 1 : sum != want) return false;
            }
    return true;
}

void hpt_ternary_textbook(hpt_ternary_product *products, const hpt_ternary_shape *s) {
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < s->m; j++)
            for (int32_t k = 0; k < s->p; k++, products++)
                *products = (hpt_ternary_product){{{(uint64_t)1 << (i * s->m + j), 0},
                                                   {(uint64_t)1 << (j * s->p + k), 0},
                                                   {(uint64_t)1 << (i * s->p + k), 0}}};
}

int32_t hpt_ternary_nonzeros(const hpt_ternary_product *products, int32_t rank, hpt_factor factor) {
    int32_t count = 0;
    for (int32_t r = 0; r < rank; r++)
        count += __builtin_popcountll(products[r].factor[factor].plus | products[r].factor[factor].minus);
    return count;
}

hpt_ternary_vector hpt_ternary_transpose(hpt_ternary_vector v, int32_t rows, int32_t columns) {
    hpt_ternary_vector out = {0, 0};
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            int from = i * columns + j, to = j * rows + i;
            out.plus |= (v.plus >> from & 1) << to;
            out.minus |= (v.minus >> from & 1) << to;
        }
    return out;
}

void hpt_ternary_rotate(hpt_ternary_product *products, hpt_ternary_shape *s) {
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_ternary_vector *f = products[r].factor;
        products[r] = (hpt_ternary_product){
            {f[1], hpt_ternary_transpose(f[2], s->n, s->p), hpt_ternary_transpose(f[0], s->n, s->m)}};
    }
    *s = (hpt_ternary_shape){s->m, s->p, s->n, s->rank, s->modulo2};
}

void hpt_ternary_reflect(hpt_ternary_product *products, hpt_ternary_shape *s) {
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_ternary_vector *f = products[r].factor;
        products[r] =
            (hpt_ternary_product){{hpt_ternary_transpose(f[1], s->m, s->p), hpt_ternary_transpose(f[0], s->n, s->m),
                                   hpt_ternary_transpose(f[2], s->n, s->p)}};
    }
    *s = (hpt_ternary_shape){s->p, s->m, s->n, s->rank, s->modulo2};
}

/* Outputs where w and mu z differ, for the better of mu = 1 and mu = -1: no other ratio occurs among -1, 0, 1. */
int32_t hpt_ternary_join(hpt_ternary_vector w, hpt_ternary_vector z) {
    int same = __builtin_popcountll((w.plus ^ z.plus) | (w.minus ^ z.minus));
    int opposite = __builtin_popcountll((w.plus ^ z.minus) | (w.minus ^ z.plus));
    return same < opposite ? same : opposite;
}

hpt_status hpt_ternary_writes(int32_t *writes, const hpt_ternary_product *products, const hpt_ternary_shape *shape,
                              bool exact, hpt_error *error) {
    int32_t join[HPT_TERNARY_RANK * HPT_TERNARY_RANK], end[HPT_TERNARY_RANK], order[HPT_TERNARY_RANK], n = shape->rank;
    uint8_t last[HPT_TERNARY_RANK];
    for (int32_t r = 0; r < n; r++) {
        order[r] = r, last[r] = 1;
        end[r] = hpt_ternary_nonzeros(products + r, 1, HPT_W);
        for (int32_t s = 0; s < n; s++)
            join[r * n + s] = hpt_ternary_join(products[r].factor[2], products[s].factor[2]);
    }
    hpt_cover_problem problem = {.count = n, .join = join, .end = end, .accumulators = 1};
    hpt_status status = exact && n <= HPT_SUBSET_LIMIT
                            ? hpt_cover_subsets(order, last, &problem, error)
                            : hpt_cover_anneal(order, last, &problem, 12, false, 1, HUGE_VAL, error);
    *writes = hpt_cover_cost(order, last, &problem);
    return status;
}

/* ---- lists ---- */
hpt_status hpt_ternary_list_add(hpt_ternary_list *list, const hpt_ternary_product *products, hpt_error *error) {
    size_t rank = (size_t)list->rank;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        hpt_ternary_product *grown = realloc(list->products, capacity * rank * sizeof *grown);
        if (!grown) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
        list->products = grown, list->capacity = capacity;
    }
    hpt_ternary_product *slot = list->products + list->count++ * rank;
    memcpy(slot, products, rank * sizeof *slot);
    hpt_ternary_normalise(slot, list->rank);
    return HPT_OK;
}

const hpt_ternary_product *hpt_ternary_list_at(const hpt_ternary_list *list, size_t i) {
    return list->products + i * (size_t)list->rank;
}

static int compare_schemes(const void *a, const void *b, void *rank) {
    const hpt_ternary_product *x = a, *y = b;
    for (int32_t r = 0; r < *(int32_t *)rank; r++) {
        int order = hpt_ternary_compare(x + r, y + r);
        if (order) return order;
    }
    return 0;
}

void hpt_ternary_list_set(hpt_ternary_list *list) {
    size_t bytes = (size_t)list->rank * sizeof *list->products, kept = 0;
    if (list->count == 0) return;
    qsort_r(list->products, list->count, bytes, compare_schemes, &list->rank);
    for (size_t i = 1; i < list->count; i++)
        if (compare_schemes(hpt_ternary_list_at(list, i), hpt_ternary_list_at(list, kept), &list->rank) != 0)
            memmove(list->products + ++kept * (size_t)list->rank, hpt_ternary_list_at(list, i), bytes);
    list->count = kept + 1;
}

size_t hpt_ternary_list_find(const hpt_ternary_list *list, const hpt_ternary_product *products) {
    size_t low = 0, high = list->count;
    int32_t rank = list->rank;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_schemes(hpt_ternary_list_at(list, middle), products, &rank);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return list->count;
}

bool hpt_ternary_list_equal(const hpt_ternary_list *a, const hpt_ternary_list *b) {
    if (a->count != b->count || a->rank != b->rank) return false;
    return a->count == 0 || memcmp(a->products, b->products, a->count * (size_t)a->rank * sizeof *a->products) == 0;
}

void hpt_ternary_list_clear(hpt_ternary_list *list) {
    free(list->products);
    list->products = NULL;
    list->count = list->capacity = 0;
}

/* ---- the scheme record ---- */
hpt_status hpt_ternary_to_scheme(hpt_scheme **out, const hpt_ternary_product *products, const hpt_ternary_shape *shape,
                                 const char *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    hpt_ring_init(&ring);
    HPT_TRY(hpt_builder_create(&builder, shape->n, shape->m, shape->p, shape->rank, "search", error));
    if (shape->modulo2) {
        HPT_TRY(hpt_ring_parse(&ring, "GF(2)", "search", error));
        hpt_builder_set_ring(builder, &ring, true);
    }
    hpt_builder_set_text(builder, "", "heptane", source, NULL);
    for (int32_t r = 0; r < shape->rank; r++)
        for (int f = 0; f < 3; f++)
            for (int32_t e = 0; e < hpt_ternary_entries(shape, (hpt_factor)f); e++) {
                int value = value_at(products[r].factor[f], e);
                if (value)
                    HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, e, hpt_builder_integer(builder, value),
                                             "search", error));
            }
    HPT_TRY(hpt_builder_finish(out, builder, "search", error));
done:
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

hpt_status hpt_ternary_of_scheme(hpt_ternary_product *products, hpt_ternary_shape *shape, const hpt_scheme *scheme,
                                 hpt_error *error) {
    *shape = (hpt_ternary_shape){hpt_scheme_n(scheme), hpt_scheme_m(scheme), hpt_scheme_p(scheme),
                                 hpt_scheme_rank(scheme), strcmp(hpt_scheme_ring(scheme), "GF(2)") == 0};
    if (shape->rank > HPT_TERNARY_RANK)
        return hpt_error_set(error, HPT_UNSUPPORTED, hpt_scheme_name(scheme), "Searching takes at most %d products.",
                             HPT_TERNARY_RANK);
    memset(products, 0, (size_t)shape->rank * sizeof *products);
    for (int32_t r = 0; r < shape->rank; r++)
        for (int f = 0; f < 3; f++) {
            if (hpt_ternary_entries(shape, (hpt_factor)f) > HPT_TERNARY_ENTRIES)
                return hpt_error_set(error, HPT_UNSUPPORTED, hpt_scheme_name(scheme),
                                     "Searching takes at most %d entries per matrix.", HPT_TERNARY_ENTRIES);
            hpt_terms row = hpt_scheme_terms(scheme, (hpt_factor)f, r);
            for (size_t i = 0; i < row.count; i++) {
                int64_t up = 0, down = 0;
                hpt_scheme_value_rational(scheme, row.value[i], &up, &down);
                if (down != 1 || (up != 1 && up != -1))
                    return hpt_error_set(error, HPT_UNSUPPORTED, hpt_scheme_name(scheme),
                                         "Searching takes the coefficients -1, 0, 1 only, not %s.",
                                         hpt_scheme_value_text(scheme, row.value[i]));
                uint64_t bit = (uint64_t)1 << row.index[i];
                if (up > 0)
                    products[r].factor[f].plus |= bit;
                else
                    products[r].factor[f].minus |= bit;
            }
        }
    return HPT_OK;
}
