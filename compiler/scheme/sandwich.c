/* Changes of basis: X -> L X M^-1, Y -> M Y N^-1, Z -> L^-1 Z N. */
#include "scheme/operations.h"
#include <stdlib.h>
#include <string.h>

hpt_status hpt_matrix_init(hpt_matrix *out, int32_t size, hpt_error *error) {
    out->size = size;
    out->cells = malloc((size_t)size * (size_t)size * sizeof *out->cells);
    if (!out->cells) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t i = 0; i < size * size; i++) {
        hpt_value_init(&out->cells[i]);
        hpt_value_set_si(&out->cells[i], i % (size + 1) == 0);
    }
    return HPT_OK;
}

void hpt_matrix_clear(hpt_matrix *m) {
    for (int32_t i = 0; m->cells && i < m->size * m->size; i++) hpt_value_clear(&m->cells[i]);
    free(m->cells);
    *m = (hpt_matrix){0};
}

hpt_status hpt_matrix_parse(hpt_matrix *out, const char *text, int32_t size, const hpt_ring *ring, const char *where,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t cell = 0;
    HPT_TRY(hpt_matrix_init(out, size, error));
    for (const char *at = text; cell < size * size; cell++) {
        size_t length = strcspn(at, ",;");
        HPT_TRY(hpt_value_parse(&out->cells[cell], ring, at, length, NULL, where, error));
        char expected = cell + 1 == size * size ? '\0' : (cell + 1) % size == 0 ? ';' : ',';
        HPT_FAIL_IF(at[length] != expected, HPT_USAGE, where,
                    "\"%.80s\" should be %d rows of %d numbers, like 1,0;0,1.", text, size, size);
        at += length + 1;
    }
done:
    return status;
}

void hpt_matrix_print(hpt_text *out, const hpt_matrix *m, const char *generator) {
    for (int32_t i = 0; i < m->size * m->size; i++) {
        if (i > 0) hpt_text_puts(out, i % m->size ? "," : ";");
        hpt_value_print(out, &m->cells[i], generator);
    }
}

/* row[to] += factor row[from] */
static void add_row(hpt_matrix *m, int32_t to, int32_t from, const hpt_value *factor, const hpt_ring *ring) {
    hpt_value product;
    hpt_value_init(&product);
    for (int32_t j = 0; j < m->size; j++) {
        hpt_value_mul(&product, &m->cells[from * m->size + j], factor, ring);
        hpt_value_add(&m->cells[to * m->size + j], &m->cells[to * m->size + j], &product, ring);
    }
    hpt_value_clear(&product);
}

static void swap_rows(hpt_matrix *m, int32_t a, int32_t b) {
    for (int32_t j = 0; j < m->size; j++) {
        hpt_value keep = m->cells[a * m->size + j];
        m->cells[a * m->size + j] = m->cells[b * m->size + j];
        m->cells[b * m->size + j] = keep;
    }
}

/* Gauss and Jordan; `out` holds the identity, `m` is worked on. */
static bool eliminate(hpt_matrix *out, hpt_matrix *m, const hpt_ring *ring) {
    hpt_value factor, one;
    bool regular = true;
    hpt_value_init(&factor);
    hpt_value_init(&one);
    hpt_value_set_si(&one, 1);
    for (int32_t c = 0; c < m->size && regular; c++) {
        int32_t pivot = c;
        while (pivot < m->size && !hpt_value_div(&factor, &one, &m->cells[pivot * m->size + c], ring)) pivot++;
        regular = pivot < m->size;
        if (!regular) break;
        swap_rows(m, c, pivot);
        swap_rows(out, c, pivot);
        for (int32_t j = 0; j < m->size; j++) {
            hpt_value_mul(&m->cells[c * m->size + j], &m->cells[c * m->size + j], &factor, ring);
            hpt_value_mul(&out->cells[c * m->size + j], &out->cells[c * m->size + j], &factor, ring);
        }
        for (int32_t r = 0; r < m->size; r++) {
            if (r == c || hpt_value_is_zero(&m->cells[r * m->size + c])) continue;
            hpt_value_neg(&factor, &m->cells[r * m->size + c], ring);
            add_row(m, r, c, &factor, ring);
            add_row(out, r, c, &factor, ring);
        }
    }
    hpt_value_clear(&one);
    hpt_value_clear(&factor);
    return regular;
}

bool hpt_matrix_invert(hpt_matrix *out, const hpt_matrix *matrix, const hpt_ring *ring) {
    hpt_matrix work = {0};
    if (hpt_matrix_init(out, matrix->size, NULL) != HPT_OK) return false;
    bool good = hpt_matrix_init(&work, matrix->size, NULL) == HPT_OK;
    for (int32_t i = 0; good && i < matrix->size * matrix->size; i++) hpt_value_set(&work.cells[i], &matrix->cells[i]);
    good = good && eliminate(out, &work, ring);
    hpt_matrix_clear(&work);
    return good;
}

/* Row r of a factor becomes left (row as a matrix) right, where left(i, a) is `left` or its transpose, and so right. */
typedef struct side {
    const hpt_matrix *left, *right;
    bool left_transposed, right_transposed;
} side;

static const hpt_value *cell(const hpt_matrix *m, bool transposed, int32_t i, int32_t j) {
    return &m->cells[transposed ? j * m->size + i : i * m->size + j];
}

static hpt_status apply(hpt_builder *b, const hpt_scheme *s, hpt_factor f, int32_t r, const side *t, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int32_t rows[3] = {s->n, s->m, s->n}, columns[3] = {s->m, s->p, s->p};
    hpt_terms terms = hpt_scheme_terms(s, f, r);
    hpt_value sum, product;
    hpt_value_init(&sum);
    hpt_value_init(&product);
    for (int32_t i = 0; i < rows[f]; i++)
        for (int32_t j = 0; j < columns[f]; j++) {
            hpt_value_set_si(&sum, 0);
            for (size_t k = 0; k < terms.count; k++) {
                int32_t a = terms.index[k] / columns[f], c = terms.index[k] % columns[f];
                hpt_value_mul(&product, cell(t->left, t->left_transposed, i, a), &s->values[terms.value[k]], &s->ring);
                hpt_value_mul(&product, &product, cell(t->right, t->right_transposed, c, j), &s->ring);
                hpt_value_add(&sum, &sum, &product, &s->ring);
            }
            HPT_TRY(hpt_builder_term(b, f, r, (int64_t)i * columns[f] + j, hpt_builder_value(b, &sum), "", error));
        }
done:
    hpt_value_clear(&product);
    hpt_value_clear(&sum);
    return status;
}

hpt_status hpt_scheme_sandwich(hpt_scheme **out, const hpt_scheme *s, const hpt_matrix *l, const hpt_matrix *m,
                               const hpt_matrix *n, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_matrix l_inverse = {0}, m_inverse = {0}, n_inverse = {0};
    *out = NULL;
    HPT_FAIL_IF(!hpt_matrix_invert(&l_inverse, l, &s->ring) || !hpt_matrix_invert(&m_inverse, m, &s->ring) ||
                    !hpt_matrix_invert(&n_inverse, n, &s->ring),
                HPT_USAGE, "sandwich", "A matrix has no inverse over %s.", s->ring.name);
    /* <u, L X M^-1> = <L^T u M^-T, X>, and so on; Z = L^-1 (L Z N^-1) N */
    const side sides[3] = {{l, &m_inverse, true, true}, {m, &n_inverse, true, true}, {&l_inverse, n, false, false}};
    HPT_TRY(hpt_builder_create(&builder, s->n, s->m, s->p, s->rank, s->name, error));
    hpt_builder_set_ring(builder, &s->ring, s->ring.kind == HPT_RING_FINITE);
    hpt_builder_set_text(builder, s->name, "memory", s->source, NULL);
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < s->rank; r++) HPT_TRY(apply(builder, s, (hpt_factor)f, r, &sides[f], error));
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
done:
    hpt_matrix_clear(&l_inverse);
    hpt_matrix_clear(&m_inverse);
    hpt_matrix_clear(&n_inverse);
    hpt_builder_destroy(builder);
    return status;
}
