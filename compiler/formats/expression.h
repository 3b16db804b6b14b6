/* expression.h - sums and products of matrix entries, as people write schemes. Promises:
 *   - a recursive-descent parser: + - * / ** ^, juxtaposition, nested parentheses to a bounded depth, exact numbers
 *     including Python's 0.5j; what it cannot take it refuses with the place.
 *   - an expression's value is a scalar times at most one linear form in each of three kinds of variables; a sum may
 * only combine scalars, or forms of one kind. That is all a scheme needs and keeps every value small. Variables are
 * resolved by a callback, so that each format brings its own names (a11, P3, i0, t5).
 */
#ifndef HPT_FORMATS_EXPRESSION_H
#define HPT_FORMATS_EXPRESSION_H

#include "formats/cursor.h"

enum { HPT_KINDS = 3, HPT_EXPRESSION_DEPTH = 200, HPT_KEY_COLUMNS = 65536 };

typedef struct hpt_monomial {
    int64_t key; /* whatever the variables' callback says, e.g. row * HPT_KEY_COLUMNS + column */
    hpt_value coefficient;
} hpt_monomial;

typedef struct hpt_form { /* sorted by key, no zero coefficients */
    hpt_monomial *terms;
    size_t count, capacity;
} hpt_form;

typedef struct hpt_expression {
    hpt_value scalar;
    bool has[HPT_KINDS];
    hpt_form form[HPT_KINDS];
} hpt_expression;

void hpt_expression_init(hpt_expression *e); /* 0 */
void hpt_expression_clear(hpt_expression *e);
HPT_NODISCARD bool hpt_expression_set(hpt_expression *out, const hpt_expression *e); /* false: no memory */
/* 1 times one variable of a kind. */
HPT_NODISCARD bool hpt_expression_set_variable(hpt_expression *out, int kind, int64_t key);
/* Moves the scalar into the form of the only kind, if there is exactly one. */
void hpt_expression_fold(hpt_expression *e, const hpt_ring *ring);
/* The single kind of a linear form (after folding), or -1: a scalar or a product. */
int hpt_expression_kind(const hpt_expression *e);

/* left += right; false: no memory. */
HPT_NODISCARD bool hpt_form_add(hpt_form *left, const hpt_form *right, const hpt_ring *ring);

typedef struct hpt_expression_parser {
    hpt_cursor *cursor;
    const hpt_ring *ring;
    void *user;
    /* Reads a name at the cursor (which stands on a letter) and sets *out. */
    hpt_status (*variable)(void *user, hpt_expression *out, hpt_cursor *c, hpt_error *error);
    bool juxtaposition; /* "a (b + c)" is a product */
    bool newlines;      /* spaces may be line ends */
    bool decimal;       /* set when a decimal fraction was read */
    int depth;
} hpt_expression_parser;

hpt_status hpt_expression_parse(hpt_expression *out, hpt_expression_parser *parser, hpt_error *error);

#endif
