/* PLinOpt's sparse matrices NAME_L.sms, NAME_R.sms, NAME_P.sms: "rows columns LETTER", then "i j value" from 1, then
 * "0 0 0". L and R have a row per product, P a row per entry of C itself. A comment may declare an integer to be a
 * placeholder for a square root ("1013 is a placeholder for sqrt(3)"), or X^2 = 3. An alternative basis is six files:
 * L = ALT_L CoB_L, R = ALT_R CoB_R, P = CoB_P ALT_P. */
#include "formats/cursor.h"
#include "formats/dense.h"
#include "formats/siblings.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hpt_sms_detect(const hpt_input *source);
hpt_status hpt_sms_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

enum { MAX_CELLS = 1 << 24 };

typedef struct triple {
    int64_t row, column; /* from 0 */
    hpt_value value;
} triple;

typedef struct matrix {
    int64_t rows, columns;
    triple *items;
    size_t count, capacity;
} matrix;

typedef struct placeholder {
    int64_t number, square; /* number stands for the root of square; 0: there is none */
    bool letter;            /* the letter X does */
} placeholder;

static void skip(hpt_cursor *c) {
    hpt_cursor_skip_spaces(c);
    while (hpt_cursor_peek(c) == '#') {
        hpt_cursor_skip_line(c);
        hpt_cursor_skip_spaces(c);
    }
}

int hpt_sms_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    int64_t number;
    skip(&c);
    for (int i = 0; i < 2; i++) {
        if (hpt_cursor_integer(&number, &c, NULL) != HPT_OK) return 0;
        hpt_cursor_skip_blanks(&c);
    }
    return isalpha((unsigned char)hpt_cursor_peek(&c)) ? 80 : 0;
}

/* The square that follows "sqrt(" or "square root of" in a comment line. */
static bool find_square(int64_t *square, const char *line, const char *end) {
    static const char *const words[] = {"sqrt(", "square root of ", "root of "};
    for (size_t i = 0; i < HPT_COUNT(words); i++) {
        const char *at = memmem(line, (size_t)(end - line), words[i], strlen(words[i]));
        if (!at) continue;
        char digits[24] = "";
        at += strlen(words[i]);
        for (size_t k = 0; k + 1 < sizeof digits && at < end && (isdigit((unsigned char)*at) || *at == '-'); k++)
            digits[k] = *at++;
        *square = strtoll(digits, NULL, 10);
        return *square != 0;
    }
    return false;
}

/* Looks through the comment lines. */
static void find_placeholder(placeholder *out, const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_peek(&c) != '#') continue;
        const char *line = c.text + c.at, *end = memchr(line, '\n', c.length - c.at);
        if (!end) end = c.text + c.length;
        const char *word = memmem(line, (size_t)(end - line), " is a place", 11);
        const char *equation = memmem(line, (size_t)(end - line), "X^2", 3);
        int64_t square;
        if (word && find_square(&square, word, end)) {
            const char *first = word;
            while (first > line && isdigit((unsigned char)first[-1])) first--;
            out->number = strtoll(first, NULL, 10);
            out->square = square;
        } else if (equation) {
            const char *digits = equation + 3;
            while (digits < end && !isdigit((unsigned char)*digits)) digits++;
            bool plus = memchr(equation, '+', (size_t)(digits - equation)) != NULL;
            bool minus = memchr(equation, '=', (size_t)(digits - equation)) != NULL && digits[-1] == '-';
            out->letter = true;
            out->square = strtoll(digits, NULL, 10) * (plus || minus ? -1 : 1);
        }
    }
}

/* 2026/3 with 1013 for the root is 2/3 of it; a remainder stays rational. */
static void put_root(hpt_value *value, const placeholder *p, const hpt_ring *ring) {
    fmpq_t number, part;
    fmpz_t quotient, rest;
    hpt_value root;
    fmpq_init(number);
    fmpq_init(part);
    fmpz_init(quotient);
    fmpz_init(rest);
    hpt_value_init(&root);
    if (hpt_value_get_fmpq(number, value)) {
        fmpz_t divisor;
        fmpz_init_set_si(divisor, p->number);
        fmpz_ndiv_qr(quotient, rest, fmpq_numref(number), divisor);
        fmpz_clear(divisor);
        fmpq_set_fmpz_frac(part, quotient, fmpq_denref(number));
        hpt_value_set_generator(&root, part, 1);
        hpt_value_reduce(&root, ring);
        fmpq_set_fmpz_frac(part, rest, fmpq_denref(number));
        hpt_value_set_fmpq(value, part);
        hpt_value_add(value, value, &root, ring);
    }
    hpt_value_clear(&root);
    fmpz_clear(rest);
    fmpz_clear(quotient);
    fmpq_clear(part);
    fmpq_clear(number);
}

static bool push(matrix *m, int64_t row, int64_t column, const hpt_value *value) {
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? m->capacity * 2 : 64;
        triple *items = realloc(m->items, capacity * sizeof *items);
        if (!items) return false;
        m->items = items;
        m->capacity = capacity;
    }
    triple *t = &m->items[m->count++];
    t->row = row, t->column = column;
    hpt_value_init(&t->value);
    hpt_value_set(&t->value, value);
    return true;
}

static void clear_matrix(matrix *m) {
    for (size_t i = 0; i < m->count; i++) hpt_value_clear(&m->items[i].value);
    free(m->items);
    *m = (matrix){0};
}

/* A value in the ring; "X" is written for the generator when the comment says so. */
static hpt_status read_value(hpt_value *value, hpt_cursor *c, const hpt_ring *ring, const placeholder *p, bool *decimal,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *word;
    size_t length;
    hpt_text text = {0};
    hpt_cursor_word(c, "#", &word, &length);
    for (size_t i = 0; i < length; i++) {
        if (word[i] == 'X' && p->letter)
            hpt_text_puts(&text, ring->generator);
        else
            hpt_text_add(&text, word + i, 1);
    }
    HPT_FAIL_IF(text.failed, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_TRY(hpt_cursor_parse(value, c, ring, text.data ? text.data : "", text.length, decimal, error));
    if (p->number) put_root(value, p, ring);
done:
    hpt_text_clear(&text);
    return status;
}

static hpt_status read_matrix(matrix *m, const hpt_input *source, const hpt_ring *ring, const placeholder *p,
                              bool *decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *word;
    size_t length;
    int64_t row, column;
    hpt_cursor c = hpt_cursor_start(source);
    hpt_value value;
    hpt_value_init(&value);
    skip(&c);
    HPT_TRY(hpt_cursor_integer(&m->rows, &c, error));
    hpt_cursor_skip_blanks(&c);
    HPT_TRY(hpt_cursor_integer(&m->columns, &c, error));
    hpt_cursor_skip_blanks(&c);
    hpt_cursor_word(&c, "", &word, &length); /* the type letter */
    HPT_FAIL_IF(m->rows < 1 || m->columns < 1 || m->rows > HPT_SCHEME_RANK || m->columns > HPT_SCHEME_RANK,
                HPT_TOO_LARGE, source->path, "A matrix of %lld x %lld is not possible.", (long long)m->rows,
                (long long)m->columns);
    for (;;) {
        skip(&c);
        HPT_TRY(hpt_cursor_integer(&row, &c, error));
        hpt_cursor_skip_blanks(&c);
        HPT_TRY(hpt_cursor_integer(&column, &c, error));
        hpt_cursor_skip_blanks(&c);
        if (row == 0 && column == 0) break;
        if (row < 1 || row > m->rows || column < 1 || column > m->columns) {
            status = hpt_cursor_fail(&c, HPT_LIES, error, "Entry (%lld, %lld) is outside the %lld x %lld matrix.",
                                     (long long)row, (long long)column, (long long)m->rows, (long long)m->columns);
            goto done;
        }
        HPT_TRY(read_value(&value, &c, ring, p, decimal, error));
        HPT_FAIL_IF(!push(m, row - 1, column - 1, &value), HPT_NO_MEMORY, "", "Out of memory.");
    }
done:
    hpt_value_clear(&value);
    return status;
}

/* left := left right */
static hpt_status multiply(matrix *left, const matrix *right, const hpt_ring *ring, const char *path,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t cells;
    hpt_value *sums = NULL, product;
    matrix out = {.rows = left->rows, .columns = right->columns};
    hpt_value_init(&product);
    HPT_FAIL_IF(left->columns != right->rows, HPT_LIES, path, "A %lld x %lld and a %lld x %lld matrix do not multiply.",
                (long long)left->rows, (long long)left->columns, (long long)right->rows, (long long)right->columns);
    HPT_FAIL_IF(!hpt_mul_i64(&cells, out.rows, out.columns) || cells > MAX_CELLS, HPT_TOO_LARGE, path,
                "A change of basis is too large.");
    sums = malloc((size_t)cells * sizeof *sums);
    HPT_FAIL_NO_MEMORY(sums);
    for (int64_t i = 0; i < cells; i++) hpt_value_init(&sums[i]);
    for (size_t i = 0; i < left->count; i++)
        for (size_t j = 0; j < right->count; j++) {
            const triple *a = &left->items[i], *b = &right->items[j];
            if (a->column != b->row) continue;
            hpt_value *sum = &sums[a->row * out.columns + b->column];
            hpt_value_mul(&product, &a->value, &b->value, ring);
            hpt_value_add(sum, sum, &product, ring);
        }
    for (int64_t i = 0; i < cells; i++)
        if (!hpt_value_is_zero(&sums[i]))
            HPT_FAIL_IF(!push(&out, i / out.columns, i % out.columns, &sums[i]), HPT_NO_MEMORY, "", "Out of memory.");
    clear_matrix(left);
    *left = out;
    out = (matrix){0};
done:
    for (int64_t i = 0; sums && i < cells; i++) hpt_value_clear(&sums[i]);
    free(sums);
    clear_matrix(&out);
    hpt_value_clear(&product);
    return status;
}

static hpt_status change_basis(matrix m[3], const hpt_siblings *files, const hpt_ring *ring, const placeholder *p,
                               bool *decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_siblings other = {0};
    matrix change[3] = {{0}};
    HPT_TRY(hpt_siblings_other(&other, files, "-ALT", "-CoB", error));
    for (int f = 0; f < 3; f++) {
        HPT_TRY(read_matrix(&change[f], &other.source[f], ring, p, decimal, error));
        if (f == HPT_W) { /* P = CoB_P ALT_P */
            matrix swap = m[f];
            m[f] = change[f];
            change[f] = swap;
        }
        HPT_TRY(multiply(&m[f], &change[f], ring, other.source[f].path, error));
    }
done:
    for (int f = 0; f < 3; f++) clear_matrix(&change[f]);
    hpt_siblings_clear(&other);
    return status;
}

static hpt_status build(hpt_scheme **out, const matrix m[3], const hpt_input *source, const char *ring_name,
                        bool decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    int64_t shape[3], rank = m[0].rows;
    const int64_t entries[3] = {m[0].columns, m[1].columns, m[2].rows};
    HPT_FAIL_IF(m[1].rows != rank || m[2].columns != rank, HPT_LIES, source->path,
                "L has %lld products, R %lld and P %lld.", (long long)rank, (long long)m[1].rows,
                (long long)m[2].columns);
    HPT_TRY(hpt_shape_from_entries(shape, entries, source, error));
    HPT_TRY(hpt_reader_start(&builder, source, "sms", shape[0], shape[1], shape[2], rank, ring_name, error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    if (decimal) hpt_builder_set_decimal(builder);
    for (int f = 0; f < 3; f++)
        for (size_t i = 0; i < m[f].count; i++) {
            const triple *t = &m[f].items[i];
            int64_t product = f == HPT_W ? t->column : t->row, entry = f == HPT_W ? t->row : t->column;
            HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, product, entry, hpt_builder_value(builder, &t->value),
                                     source->path, error));
        }
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    return status;
}

hpt_status hpt_sms_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_siblings files = {0};
    matrix m[3] = {{0}};
    placeholder root = {0};
    hpt_ring ring;
    char ring_name[48] = "Q";
    const char *asked = source->options->ring;
    bool decimal = false;
    hpt_ring_init(&ring);
    HPT_TRY(hpt_siblings_read(&files, source, ".sms", error));
    for (int f = 0; f < 3; f++) find_placeholder(&root, &files.source[f]);
    if (asked && (strcmp(asked, "Q") == 0 || strcmp(asked, "Z") == 0)) root = (placeholder){0}; /* read literally */
    if (root.square) snprintf(ring_name, sizeof ring_name, "Q(sqrt(%lld))", (long long)root.square);
    HPT_TRY(hpt_ring_parse(&ring, ring_name, files.source[0].path, error));
    for (int f = 0; f < 3; f++) HPT_TRY(read_matrix(&m[f], &files.source[f], &ring, &root, &decimal, error));
    if (strstr(files.source[0].path, "-ALT_")) HPT_TRY(change_basis(m, &files, &ring, &root, &decimal, error));
    HPT_TRY(build(out, m, source, ring_name, decimal, error));
done:
    for (int f = 0; f < 3; f++) clear_matrix(&m[f]);
    hpt_siblings_clear(&files);
    hpt_ring_clear(&ring);
    return status;
}
