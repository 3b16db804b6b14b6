#include "scheme/operations.h"
#include <stdlib.h>
#include <string.h>

static hpt_status start(hpt_builder **out, const hpt_scheme *like, int64_t n, int64_t m, int64_t p, int64_t rank,
                        hpt_error *error) {
    hpt_status status = hpt_builder_create(out, n, m, p, rank, like->name, error);
    if (status != HPT_OK) return status;
    hpt_builder_set_ring(*out, &like->ring, like->ring.kind == HPT_RING_FINITE);
    hpt_builder_set_text(*out, like->name, "memory", like->source, NULL);
    hpt_builder_allow_zero_rows(*out);
    return HPT_OK;
}

static hpt_status add_value(hpt_builder *b, hpt_factor f, int64_t r, int64_t entry, const hpt_value *value,
                            hpt_error *error) {
    return hpt_builder_term(b, f, r, entry, hpt_builder_value(b, value), "", error);
}

/* Factor f of the result is factor from[f] of s, transposed or not. */
static hpt_status permute_roles(hpt_scheme **out, const hpt_scheme *s, const int64_t shape[3], const hpt_factor from[3],
                                const bool transposed[3], hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *b = NULL;
    const int32_t rows[3] = {s->n, s->m, s->n}, columns[3] = {s->m, s->p, s->p};
    *out = NULL;
    HPT_TRY(start(&b, s, shape[0], shape[1], shape[2], s->rank, error));
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < s->rank; r++) {
            hpt_terms row = hpt_scheme_terms(s, from[f], r);
            for (size_t k = 0; k < row.count; k++) {
                int32_t i = row.index[k] / columns[from[f]], j = row.index[k] % columns[from[f]];
                int32_t entry = transposed[f] ? j * rows[from[f]] + i : row.index[k];
                HPT_TRY(add_value(b, (hpt_factor)f, r, entry, &s->values[row.value[k]], error));
            }
        }
    HPT_TRY(hpt_builder_finish(out, b, s->name, error));
done:
    hpt_builder_destroy(b);
    return status;
}

hpt_status hpt_scheme_cyclic(hpt_scheme **out, const hpt_scheme *s, hpt_error *error) {
    static const hpt_factor from[3] = {HPT_V, HPT_W, HPT_U};
    static const bool transposed[3] = {false, true, true};
    return permute_roles(out, s, (const int64_t[]){s->m, s->p, s->n}, from, transposed, error);
}

hpt_status hpt_scheme_transpose(hpt_scheme **out, const hpt_scheme *s, hpt_error *error) {
    static const hpt_factor from[3] = {HPT_V, HPT_U, HPT_W};
    static const bool transposed[3] = {true, true, true};
    return permute_roles(out, s, (const int64_t[]){s->p, s->m, s->n}, from, transposed, error);
}

/* The scheme whose ring holds the coefficients of both, or NULL. */
static const hpt_scheme *common_ring(const hpt_scheme *a, const hpt_scheme *b, hpt_error *error) {
    if (strcmp(a->ring.name, b->ring.name) == 0) return a;
    if (b->ring.kind == HPT_RING_RATIONAL && a->ring.kind != HPT_RING_FINITE) return a;
    if (a->ring.kind == HPT_RING_RATIONAL && b->ring.kind != HPT_RING_FINITE) return b;
    hpt_error_set(error, HPT_UNSUPPORTED, b->name, "A scheme over %s and one over %s have no common ring.",
                  a->ring.name, b->ring.name);
    return NULL;
}

/* Ids of products of values, found once per pair. */
typedef struct pair_table {
    int32_t *ids, columns;
    hpt_builder *builder;
    const hpt_scheme *a, *b;
    const hpt_ring *ring;
} pair_table;

static int32_t pair_id(pair_table *t, int32_t x, int32_t y) {
    int32_t *id = &t->ids[(size_t)x * (size_t)t->columns + (size_t)y];
    if (*id == INT32_MIN) {
        hpt_value product;
        hpt_value_init(&product);
        hpt_value_mul(&product, &t->a->values[x], &t->b->values[y], t->ring);
        *id = hpt_builder_value(t->builder, &product);
        hpt_value_clear(&product);
    }
    return *id;
}

static hpt_status tensor_rows(pair_table *t, hpt_factor f, int32_t r, int32_t q, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_scheme *a = t->a, *b = t->b;
    const int32_t a_columns = f == HPT_U ? a->m : a->p, b_columns = f == HPT_U ? b->m : b->p;
    const int32_t b_rows = f == HPT_V ? b->m : b->n;
    hpt_terms left = hpt_scheme_terms(a, f, r), right = hpt_scheme_terms(b, f, q);
    for (size_t i = 0; i < left.count; i++)
        for (size_t j = 0; j < right.count; j++) {
            int64_t row = (int64_t)(left.index[i] / a_columns) * b_rows + right.index[j] / b_columns;
            int64_t column = (int64_t)(left.index[i] % a_columns) * b_columns + right.index[j] % b_columns;
            HPT_TRY(hpt_builder_term(t->builder, f, (int64_t)r * b->rank + q, row * a_columns * b_columns + column,
                                     pair_id(t, left.value[i], right.value[j]), "", error));
        }
done:
    return status;
}

hpt_status hpt_scheme_tensor(hpt_scheme **out, const hpt_scheme *a, const hpt_scheme *b, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    pair_table table = {.columns = b->value_count, .a = a, .b = b};
    size_t pairs = 0;
    *out = NULL;
    const hpt_scheme *ring = common_ring(a, b, error);
    if (!ring) return HPT_UNSUPPORTED;
    HPT_FAIL_IF(!hpt_mul_size(&pairs, (size_t)a->value_count, (size_t)b->value_count) || pairs > (size_t)1 << 26,
                HPT_TOO_LARGE, b->name, "The schemes have too many different coefficients.");
    HPT_TRY(start(&builder, ring, (int64_t)a->n * b->n, (int64_t)a->m * b->m, (int64_t)a->p * b->p,
                  (int64_t)a->rank * b->rank, error));
    table.builder = builder;
    table.ring = &ring->ring;
    table.ids = malloc(pairs * sizeof *table.ids);
    HPT_FAIL_NO_MEMORY(table.ids);
    for (size_t i = 0; i < pairs; i++) table.ids[i] = INT32_MIN;
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < a->rank; r++)
            for (int32_t q = 0; q < b->rank; q++) HPT_TRY(tensor_rows(&table, (hpt_factor)f, r, q, error));
    HPT_TRY(hpt_builder_finish(out, builder, a->name, error));
done:
    free(table.ids);
    hpt_builder_destroy(builder);
    return status;
}

/* Puts s into the builder with its products from `first` on and its blocks moved by (dn, dm, dp). */
static hpt_status place(hpt_builder *b, const hpt_scheme *s, int32_t first, const int32_t shape[3], int32_t dn,
                        int32_t dm, int32_t dp, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int32_t row_shift[3] = {dn, dm, dn}, column_shift[3] = {dm, dp, dp};
    const int32_t columns[3] = {s->m, s->p, s->p}, width[3] = {shape[1], shape[2], shape[2]};
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < s->rank; r++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count; k++) {
                int32_t i = row.index[k] / columns[f] + row_shift[f], j = row.index[k] % columns[f] + column_shift[f];
                HPT_TRY(add_value(b, (hpt_factor)f, first + r, i * width[f] + j, &s->values[row.value[k]], error));
            }
        }
done:
    return status;
}

hpt_status hpt_scheme_sum(hpt_scheme **out, const hpt_scheme *a, const hpt_scheme *b, char axis, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    int32_t shape[3] = {a->n, a->m, a->p};
    const int32_t other[3] = {b->n, b->m, b->p};
    *out = NULL;
    const char *axes = "nmp", *found = axis ? strchr(axes, axis) : NULL;
    HPT_FAIL_IF(!found, HPT_USAGE, "--along", "The axis is n, m or p.");
    int along = (int)(found - axes);
    for (int i = 0; i < 3; i++)
        HPT_FAIL_IF(i != along && shape[i] != other[i], HPT_USAGE, "--along",
                    "Along %c, %d x %d x %d and %d x %d x %d do not fit together.", axis, shape[0], shape[1], shape[2],
                    other[0], other[1], other[2]);
    int32_t shift[3] = {0, 0, 0};
    shift[along] = shape[along];
    shape[along] += other[along];
    const hpt_scheme *ring = common_ring(a, b, error);
    if (!ring) return HPT_UNSUPPORTED;
    HPT_TRY(start(&builder, ring, shape[0], shape[1], shape[2], (int64_t)a->rank + b->rank, error));
    HPT_TRY(place(builder, a, 0, shape, 0, 0, 0, error));
    HPT_TRY(place(builder, b, a->rank, shape, shift[0], shift[1], shift[2], error));
    HPT_TRY(hpt_builder_finish(out, builder, a->name, error));
done:
    hpt_builder_destroy(builder);
    return status;
}

/* The number of terms of product r that lie in the smaller shape, for each factor; 0 if any factor has none. */
static bool survives(const hpt_scheme *s, int32_t r, const int32_t rows[3], const int32_t columns[3]) {
    const int32_t old[3] = {s->m, s->p, s->p};
    for (int f = 0; f < 3; f++) {
        hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
        bool any = false;
        for (size_t k = 0; k < row.count; k++)
            any = any || (row.index[k] / old[f] < rows[f] && row.index[k] % old[f] < columns[f]);
        if (!any) return false;
    }
    return true;
}

hpt_status hpt_scheme_project(hpt_scheme **out, const hpt_scheme *s, int32_t n, int32_t m, int32_t p,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    const int32_t rows[3] = {n, m, n}, columns[3] = {m, p, p}, old[3] = {s->m, s->p, s->p};
    int32_t kept = 0;
    *out = NULL;
    HPT_FAIL_IF(n < 1 || m < 1 || p < 1 || n > s->n || m > s->m || p > s->p, HPT_USAGE, "--project",
                "%d x %d x %d is not inside %d x %d x %d.", n, m, p, s->n, s->m, s->p);
    for (int32_t r = 0; r < s->rank; r++) kept += survives(s, r, rows, columns);
    HPT_TRY(start(&builder, s, n, m, p, kept, error));
    for (int32_t r = 0, to = 0; r < s->rank; r++) {
        if (!survives(s, r, rows, columns)) continue;
        for (int f = 0; f < 3; f++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count; k++) {
                int32_t i = row.index[k] / old[f], j = row.index[k] % old[f];
                if (i < rows[f] && j < columns[f])
                    HPT_TRY(add_value(builder, (hpt_factor)f, to, i * columns[f] + j, &s->values[row.value[k]], error));
            }
        }
        to++;
    }
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
done:
    hpt_builder_destroy(builder);
    return status;
}

hpt_status hpt_scheme_textbook(hpt_scheme **out, int32_t n, int32_t m, int32_t p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *b = NULL;
    *out = NULL;
    HPT_TRY(hpt_builder_create(&b, n, m, p, (int64_t)n * m * p, "textbook", error));
    hpt_builder_set_text(b, "textbook", "memory", "the definition of the matrix product", NULL);
    int64_t r = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t l = 0; l < p; l++)
            for (int32_t j = 0; j < m; j++, r++) {
                HPT_TRY(hpt_builder_term(b, HPT_U, r, (int64_t)i * m + j, 0, "", error));
                HPT_TRY(hpt_builder_term(b, HPT_V, r, (int64_t)j * p + l, 0, "", error));
                HPT_TRY(hpt_builder_term(b, HPT_W, r, (int64_t)i * p + l, 0, "", error));
            }
    HPT_TRY(hpt_builder_finish(out, b, "textbook", error));
done:
    hpt_builder_destroy(b);
    return status;
}

hpt_status hpt_scheme_extend(hpt_scheme **out, const hpt_scheme *s, int32_t n, int32_t m, int32_t p, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int32_t wanted[3] = {n, m, p};
    hpt_scheme *now = NULL, *rest = NULL, *next = NULL;
    *out = NULL;
    HPT_FAIL_IF(n < s->n || m < s->m || p < s->p, HPT_USAGE, "--extend", "%d x %d x %d does not hold %d x %d x %d.", n,
                m, p, s->n, s->m, s->p);
    HPT_TRY(hpt_scheme_project(&now, s, s->n, s->m, s->p, error)); /* a copy */
    for (int axis = 0; axis < 3; axis++) {
        int32_t shape[3] = {now->n, now->m, now->p};
        shape[axis] = wanted[axis] - shape[axis];
        if (shape[axis] == 0) continue;
        HPT_TRY(hpt_scheme_textbook(&rest, shape[0], shape[1], shape[2], error));
        HPT_TRY(hpt_scheme_sum(&next, now, rest, "nmp"[axis], error));
        hpt_scheme_destroy(now);
        hpt_scheme_destroy(rest);
        now = next;
        rest = next = NULL;
    }
    *out = now;
    now = NULL;
done:
    hpt_scheme_destroy(now);
    hpt_scheme_destroy(rest);
    return status;
}

hpt_status hpt_scheme_scale(hpt_scheme **out, const hpt_scheme *s, int32_t r, const hpt_value *a, const hpt_value *b,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_value factor[3], value;
    *out = NULL;
    hpt_value_init(&value);
    for (int f = 0; f < 3; f++) hpt_value_init(&factor[f]);
    HPT_FAIL_IF(r < 0 || r >= s->rank, HPT_USAGE, "--scale", "There is no product %d.", r + 1);
    hpt_value_set(&factor[0], a);
    hpt_value_set(&factor[1], b);
    hpt_value_mul(&value, a, b, &s->ring);
    hpt_value_set_si(&factor[2], 1);
    HPT_FAIL_IF(!hpt_value_div(&factor[2], &factor[2], &value, &s->ring), HPT_USAGE, "--scale",
                "The scales have no inverse.");
    HPT_TRY(start(&builder, s, s->n, s->m, s->p, s->rank, error));
    for (int f = 0; f < 3; f++)
        for (int32_t q = 0; q < s->rank; q++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, q);
            for (size_t k = 0; k < row.count; k++) {
                hpt_value_set(&value, &s->values[row.value[k]]);
                if (q == r) hpt_value_mul(&value, &value, &factor[f], &s->ring);
                HPT_TRY(add_value(builder, (hpt_factor)f, q, row.index[k], &value, error));
            }
        }
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
done:
    for (int f = 0; f < 3; f++) hpt_value_clear(&factor[f]);
    hpt_value_clear(&value);
    hpt_builder_destroy(builder);
    return status;
}
