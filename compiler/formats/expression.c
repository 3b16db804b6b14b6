#include "formats/expression.h"
#include <ctype.h>
#include <flint/fmpz_vec.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 1 << 17 };

static void form_clear(hpt_form *form) {
    for (size_t i = 0; i < form->count; i++) hpt_value_clear(&form->terms[i].coefficient);
    free(form->terms);
    *form = (hpt_form){0};
}

void hpt_expression_init(hpt_expression *e) {
    *e = (hpt_expression){0};
    hpt_value_init(&e->scalar);
}

void hpt_expression_clear(hpt_expression *e) {
    for (int k = 0; k < HPT_KINDS; k++) form_clear(&e->form[k]);
    hpt_value_clear(&e->scalar);
}

static bool form_push(hpt_form *form, int64_t key, const hpt_value *coefficient) {
    if (form->count == form->capacity) {
        size_t capacity = form->capacity ? form->capacity * 2 : 4;
        hpt_monomial *terms = realloc(form->terms, capacity * sizeof *terms);
        if (!terms) return false;
        form->terms = terms;
        form->capacity = capacity;
    }
    hpt_monomial *term = &form->terms[form->count++];
    term->key = key;
    hpt_value_init(&term->coefficient);
    hpt_value_set(&term->coefficient, coefficient);
    return true;
}

bool hpt_expression_set(hpt_expression *out, const hpt_expression *e) {
    hpt_value_set(&out->scalar, &e->scalar);
    for (int k = 0; k < HPT_KINDS; k++) {
        form_clear(&out->form[k]);
        out->has[k] = e->has[k];
        for (size_t i = 0; i < e->form[k].count; i++)
            if (!form_push(&out->form[k], e->form[k].terms[i].key, &e->form[k].terms[i].coefficient)) return false;
    }
    return true;
}

bool hpt_expression_set_variable(hpt_expression *out, int kind, int64_t key) {
    hpt_value one;
    hpt_value_init(&one);
    hpt_value_set_si(&one, 1);
    hpt_value_set(&out->scalar, &one);
    for (int k = 0; k < HPT_KINDS; k++) {
        form_clear(&out->form[k]);
        out->has[k] = k == kind;
    }
    bool good = form_push(&out->form[kind], key, &one);
    hpt_value_clear(&one);
    return good;
}

int hpt_expression_kind(const hpt_expression *e) {
    int kind = -1;
    for (int k = 0; k < HPT_KINDS; k++)
        if (e->has[k]) {
            if (kind >= 0) return -1;
            kind = k;
        }
    return kind;
}

static void form_scale(hpt_form *form, const hpt_value *by, const hpt_ring *ring) {
    size_t kept = 0;
    for (size_t i = 0; i < form->count; i++) {
        hpt_monomial term = form->terms[i];
        hpt_value_mul(&term.coefficient, &term.coefficient, by, ring);
        if (hpt_value_is_zero(&term.coefficient))
            hpt_value_clear(&term.coefficient);
        else
            form->terms[kept++] = term;
    }
    form->count = kept;
}

void hpt_expression_fold(hpt_expression *e, const hpt_ring *ring) {
    int kind = hpt_expression_kind(e);
    if (kind < 0 || hpt_value_is_one(&e->scalar)) return;
    form_scale(&e->form[kind], &e->scalar, ring);
    hpt_value_set_si(&e->scalar, 1);
}

bool hpt_form_add(hpt_form *left, const hpt_form *right, const hpt_ring *ring) {
    hpt_form sum = {0};
    hpt_value both;
    hpt_value_init(&both);
    size_t i = 0, j = 0;
    bool good = true;
    while (good && (i < left->count || j < right->count)) {
        const hpt_monomial *a = i < left->count ? &left->terms[i] : NULL;
        const hpt_monomial *b = j < right->count ? &right->terms[j] : NULL;
        if (a && b && a->key == b->key) {
            hpt_value_add(&both, &a->coefficient, &b->coefficient, ring);
            if (!hpt_value_is_zero(&both)) good = form_push(&sum, a->key, &both);
            i++, j++;
        } else if (a && (!b || a->key < b->key)) {
            good = form_push(&sum, a->key, &a->coefficient);
            i++;
        } else {
            good = form_push(&sum, b->key, &b->coefficient);
            j++;
        }
    }
    hpt_value_clear(&both);
    form_clear(left);
    *left = sum;
    return good;
}

static hpt_status add(hpt_expression *left, hpt_expression *right, bool minus, hpt_expression_parser *p,
                      hpt_error *error) {
    const hpt_cursor *c = p->cursor;
    if (minus) hpt_value_neg(&right->scalar, &right->scalar, p->ring);
    int k = hpt_expression_kind(left), l = hpt_expression_kind(right);
    bool left_scalar = !left->has[0] && !left->has[1] && !left->has[2];
    bool right_scalar = !right->has[0] && !right->has[1] && !right->has[2];
    if (left_scalar && right_scalar) {
        hpt_value_add(&left->scalar, &left->scalar, &right->scalar, p->ring);
        return HPT_OK;
    }
    if (right_scalar && hpt_value_is_zero(&right->scalar)) return HPT_OK;
    if (left_scalar && hpt_value_is_zero(&left->scalar))
        return hpt_expression_set(left, right) ? HPT_OK : hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    if (k < 0 || k != l)
        return hpt_cursor_fail(c, HPT_MALFORMED, error,
                               "Before this place, things are added that do not add up to a linear form.");
    hpt_expression_fold(left, p->ring);
    hpt_expression_fold(right, p->ring);
    return hpt_form_add(&left->form[k], &right->form[k], p->ring)
               ? HPT_OK
               : hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
}

/* Products and powers of numbers in a hostile file may not grow without bound. */
static hpt_status check_size(const hpt_value *value, const hpt_cursor *c, hpt_error *error) {
    slong size = _fmpz_vec_max_bits(fmpq_poly_numref(value->poly), fmpq_poly_length(value->poly));
    if (labs(size) > MAX_BITS || fmpz_bits(fmpq_poly_denref(value->poly)) > MAX_BITS)
        return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "Before this place, a number has more than %d bits.", MAX_BITS);
    return HPT_OK;
}

static hpt_status multiply(hpt_expression *left, hpt_expression *right, hpt_expression_parser *p, hpt_error *error) {
    hpt_value_mul(&left->scalar, &left->scalar, &right->scalar, p->ring);
    for (int k = 0; k < HPT_KINDS; k++) {
        if (!right->has[k]) continue;
        if (left->has[k])
            return hpt_cursor_fail(p->cursor, HPT_MALFORMED, error,
                                   "Before this place, two forms in the same variables are multiplied.");
        left->has[k] = true;
        left->form[k] = right->form[k];
        right->form[k] = (hpt_form){0};
        right->has[k] = false;
    }
    return check_size(&left->scalar, p->cursor, error);
}

static hpt_status divide(hpt_expression *left, const hpt_expression *right, hpt_expression_parser *p,
                         hpt_error *error) {
    if (right->has[0] || right->has[1] || right->has[2])
        return hpt_cursor_fail(p->cursor, HPT_MALFORMED, error, "Before this place, something is divided by a form.");
    if (!hpt_value_div(&left->scalar, &left->scalar, &right->scalar, p->ring))
        return hpt_cursor_fail(p->cursor, HPT_MALFORMED, error, "Before this place, something is divided by zero.");
    return HPT_OK;
}

static void skip(hpt_expression_parser *p) {
    if (p->newlines)
        hpt_cursor_skip_spaces(p->cursor);
    else
        hpt_cursor_skip_blanks(p->cursor);
}

static hpt_status parse_sum(hpt_expression *out, hpt_expression_parser *p, hpt_error *error);

static hpt_status parse_number(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = p->cursor;
    size_t used;
    fmpq_t number;
    fmpq_init(number);
    HPT_TRY(hpt_cursor_number(number, c, false, &used, &p->decimal, error));
    bool imaginary = strcmp(p->ring->generator, "i") == 0 && (hpt_cursor_take(c, "j") || hpt_cursor_take(c, "I"));
    hpt_value_set_generator(&out->scalar, number, imaginary ? 1 : 0);
    hpt_value_reduce(&out->scalar, p->ring);
done:
    fmpq_clear(number);
    return status;
}

static hpt_status parse_primary(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    hpt_cursor *c = p->cursor;
    skip(p);
    char here = hpt_cursor_peek(c);
    if (hpt_cursor_take(c, "(")) {
        if (++p->depth > HPT_EXPRESSION_DEPTH)
            return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "Parentheses are nested deeper than %d.",
                                   HPT_EXPRESSION_DEPTH);
        hpt_status status = parse_sum(out, p, error);
        if (status != HPT_OK) return status;
        p->depth--;
        skip(p);
        if (!hpt_cursor_take(c, ")"))
            return hpt_cursor_fail(c, HPT_MALFORMED, error, "A closing parenthesis is missing here.");
        hpt_expression_fold(out, p->ring); /* a number stays with the form it was written beside */
        return HPT_OK;
    }
    if (isdigit((unsigned char)here) || here == '.') return parse_number(out, p, error);
    if (isalpha((unsigned char)here) && p->variable) return p->variable(p->user, out, c, error);
    return hpt_cursor_fail(c, HPT_MALFORMED, error, "A number, a variable or a parenthesis is expected here.");
}

/* primary [^ integer]: powers of scalars only. */
static hpt_status parse_power(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = p->cursor;
    int64_t exponent;
    hpt_value base;
    hpt_value_init(&base);
    HPT_TRY(parse_primary(out, p, error));
    size_t before = c->at;
    skip(p);
    if (!hpt_cursor_take(c, "**") && !hpt_cursor_take(c, "^")) {
        c->at = before;
        goto done;
    }
    skip(p);
    HPT_TRY(hpt_cursor_integer(&exponent, c, error));
    if (out->has[0] || out->has[1] || out->has[2] || exponent < 0 || exponent > 64) {
        status =
            hpt_cursor_fail(c, HPT_MALFORMED, error, "Before this place, only a number may have a power, 0 to 64.");
        goto done;
    }
    hpt_value_set(&base, &out->scalar);
    hpt_value_set_si(&out->scalar, 1);
    for (int64_t i = 0; i < exponent; i++) {
        hpt_value_mul(&out->scalar, &out->scalar, &base, p->ring);
        HPT_TRY(check_size(&out->scalar, c, error));
    }
done:
    hpt_value_clear(&base);
    return status;
}

/* Signs bind tighter than '*' here, which is the same for numbers and forms: -(a)(b) and 2*-3. */
static hpt_status parse_signed(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    bool minus = false;
    for (skip(p); hpt_cursor_peek(p->cursor) == '+' || hpt_cursor_peek(p->cursor) == '-'; skip(p)) {
        minus = minus != (hpt_cursor_peek(p->cursor) == '-');
        p->cursor->at++;
    }
    hpt_status status = parse_power(out, p, error);
    if (status == HPT_OK && minus) hpt_value_neg(&out->scalar, &out->scalar, p->ring);
    return status;
}

static hpt_status parse_product(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = p->cursor;
    hpt_expression right;
    hpt_expression_init(&right);
    HPT_TRY(parse_signed(out, p, error));
    for (;;) {
        skip(p);
        char here = hpt_cursor_peek(c);
        bool starts = here == '(' || isalnum((unsigned char)here);
        if (here != '*' && here != '@' && here != '/' && !(p->juxtaposition && starts)) break; /* @: Python's product */
        if (!starts) c->at++;
        hpt_expression_clear(&right);
        hpt_expression_init(&right);
        HPT_TRY(starts ? parse_power(&right, p, error) : parse_signed(&right, p, error));
        HPT_TRY(here == '/' ? divide(out, &right, p, error) : multiply(out, &right, p, error));
    }
done:
    hpt_expression_clear(&right);
    return status;
}

static hpt_status parse_sum(hpt_expression *out, hpt_expression_parser *p, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_expression right;
    hpt_expression_init(&right);
    HPT_TRY(parse_product(out, p, error));
    for (;;) {
        skip(p);
        char here = hpt_cursor_peek(p->cursor);
        if (here != '+' && here != '-') break;
        p->cursor->at++;
        hpt_expression_clear(&right);
        hpt_expression_init(&right);
        HPT_TRY(parse_product(&right, p, error));
        HPT_TRY(add(out, &right, here == '-', p, error));
    }
done:
    hpt_expression_clear(&right);
    return status;
}

hpt_status hpt_expression_parse(hpt_expression *out, hpt_expression_parser *parser, hpt_error *error) {
    parser->depth = 0;
    hpt_status status = parse_sum(out, parser, error);
    if (status == HPT_OK) hpt_expression_fold(out, parser->ring);
    return status;
}
