/* Orbits by union-find over generators: exchanging two neighbouring rows or changing a row's sign on each of the three
 * sides, and the role symmetries that keep the shape. */
#include "exhaust.h"
#include <stdlib.h>
#include <string.h>

static uint64_t bit(int32_t row, int32_t column, int32_t columns) { return (uint64_t)1 << (row * columns + column); }

/* Rows i and i + 1 exchanged, or (exchange false) row i negated. */
static hpt_ternary_vector act_rows(hpt_ternary_vector v, int32_t rows, int32_t columns, int32_t i, bool exchange) {
    hpt_ternary_vector out = {0, 0};
    for (int32_t r = 0; r < rows; r++) {
        int32_t from = !exchange ? r : r == i ? i + 1 : r == i + 1 ? i : r;
        for (int32_t c = 0; c < columns; c++) {
            bool plus = v.plus & bit(from, c, columns), minus = v.minus & bit(from, c, columns);
            bool swap = !exchange && r == i;
            if (swap ? minus : plus) out.plus |= bit(r, c, columns);
            if (swap ? plus : minus) out.minus |= bit(r, c, columns);
        }
    }
    return out;
}

static hpt_ternary_vector act(hpt_ternary_vector v, int32_t rows, int32_t columns, bool on_rows, int32_t i,
                              bool exchange) {
    if (on_rows) return act_rows(v, rows, columns, i, exchange);
    return hpt_ternary_transpose(act_rows(hpt_ternary_transpose(v, rows, columns), columns, rows, i, exchange), columns,
                                 rows);
}

/* side 0: n (rows of U and W), 1: m (columns of U, rows of V), 2: p (columns of V and W). */
static void act_side(hpt_ternary_product *x, const hpt_ternary_shape *s, int side, int32_t i, bool exchange) {
    if (side == 0) {
        x->factor[0] = act(x->factor[0], s->n, s->m, true, i, exchange);
        x->factor[2] = act(x->factor[2], s->n, s->p, true, i, exchange);
    } else if (side == 1) {
        x->factor[0] = act(x->factor[0], s->n, s->m, false, i, exchange);
        x->factor[1] = act(x->factor[1], s->m, s->p, true, i, exchange);
    } else {
        x->factor[1] = act(x->factor[1], s->m, s->p, false, i, exchange);
        x->factor[2] = act(x->factor[2], s->n, s->p, false, i, exchange);
    }
}

/* Symmetry number `k` of the roles applied to a scheme; false if it changes the shape. */
static bool act_roles(hpt_ternary_product *products, const hpt_ternary_shape *shape, int k) {
    hpt_ternary_shape s = *shape;
    for (int turn = 0; turn < k % 3; turn++) hpt_ternary_rotate(products, &s);
    if (k >= 3) hpt_ternary_reflect(products, &s);
    return s.n == shape->n && s.m == shape->m && s.p == shape->p;
}

static int32_t root_of(int32_t *parent, int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static hpt_status merge(int32_t *parent, const hpt_ternary_list *set, size_t i, hpt_ternary_product *image,
                        hpt_error *error) {
    hpt_ternary_normalise(image, set->rank);
    size_t j = hpt_ternary_list_find(set, image);
    if (j == set->count)
        return hpt_error_set(error, HPT_INTERNAL, "search", "The set of schemes is not closed under its symmetries.");
    int32_t a = root_of(parent, (int32_t)i), b = root_of(parent, (int32_t)j);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
    return HPT_OK;
}

static hpt_status unite(int32_t *parent, const hpt_ternary_list *set, const hpt_ternary_shape *shape,
                        hpt_error *error) {
    hpt_ternary_product image[HPT_TERNARY_RANK];
    const int32_t sides[3] = {shape->n, shape->m, shape->p};
    size_t bytes = (size_t)shape->rank * sizeof *image;
    hpt_status status = HPT_OK;
    for (size_t i = 0; i < set->count; i++) {
        for (int side = 0; side < 3; side++)
            for (int32_t row = 0; row < sides[side]; row++)
                for (int exchange = 0; exchange <= (row + 1 < sides[side]); exchange++) {
                    memcpy(image, hpt_ternary_list_at(set, i), bytes);
                    for (int32_t r = 0; r < shape->rank; r++) act_side(&image[r], shape, side, row, exchange);
                    HPT_TRY(merge(parent, set, i, image, error));
                }
        for (int k = 1; k < 6; k++) {
            memcpy(image, hpt_ternary_list_at(set, i), bytes);
            if (act_roles(image, shape, k)) HPT_TRY(merge(parent, set, i, image, error));
        }
    }
done:
    return status;
}

hpt_status hpt_classify(hpt_classification *out, const hpt_ternary_list *set, const hpt_ternary_shape *shape,
                        bool whole, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t count = set->count;
    memset(out, 0, sizeof *out);
    out->orbit = malloc((count + 1) * sizeof *out->orbit);
    out->chained = malloc((count + 1) * sizeof *out->chained);
    out->unchained = malloc((count + 1) * sizeof *out->unchained);
    HPT_FAIL_IF(!out->orbit || !out->chained || !out->unchained, HPT_NO_MEMORY, "", "Out of memory.");
    for (size_t i = 0; i < count; i++) {
        const hpt_ternary_product *x = hpt_ternary_list_at(set, i);
        out->orbit[i] = (int32_t)i;
        out->unchained[i] = hpt_ternary_nonzeros(x, shape->rank, HPT_W);
        HPT_TRY(hpt_ternary_writes(&out->chained[i], x, shape, true, error));
    }
    if (!whole) {
        free(out->orbit);
        out->orbit = NULL;
        goto done;
    }
    HPT_TRY(unite(out->orbit, set, shape, error));
    for (size_t i = 0; i < count; i++) out->orbit[i] = root_of(out->orbit, (int32_t)i);
    for (size_t i = 0; i < count; i++) /* roots are first members: number them in order */
        out->orbit[i] = out->orbit[i] == (int32_t)i ? (int32_t)out->orbits++ : out->orbit[out->orbit[i]];
done:
    if (status != HPT_OK) hpt_classification_clear(out);
    return status;
}

void hpt_classification_clear(hpt_classification *c) {
    free(c->orbit);
    free(c->chained);
    free(c->unchained);
    memset(c, 0, sizeof *c);
}
