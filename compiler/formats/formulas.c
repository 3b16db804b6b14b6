/* Schemes as programs: "P1 := (a21 + a22) * b22;" ... "c11 := P2 + P5;" (yacas scripts), or the same with "=" and one
 * statement per line (Python). Temporaries may hold forms. Statements that only check or print are passed over. */
#include "formats/products.h"
#include "formats/variables.h"
#include <ctype.h>
#include <string.h>

int hpt_formulas_detect(const hpt_input *source);
hpt_status hpt_formulas_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

enum { A = 0, B = 1, P = 2 };

typedef struct program {
    hpt_variables names;
    hpt_products products; /* forms A and B; the third form is collected from the outputs */
    hpt_ring ring;
} program;

/* Lines that carry no scheme. */
static bool passed_over(const hpt_cursor *c) {
    static const char *const starts[] = {
        "#", "Simplify(", "c =", "c=", "class ", "@", "C =", "C=", "return", "import ", "from ", "def ", "//"};
    for (size_t i = 0; i < HPT_COUNT(starts); i++) {
        size_t length = strlen(starts[i]);
        if (c->length - c->at >= length && memcmp(c->text + c->at, starts[i], length) == 0) return true;
    }
    return false;
}

/* The first statement is NAME := or NAME =, with an entry of a or b behind it. */
int hpt_formulas_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_spaces(&c);
        if (hpt_cursor_done(&c)) return 0;
        if (passed_over(&c)) continue;
        char name[HPT_VARIABLES_LENGTH];
        if (hpt_variables_scan(name, &c, NULL) != HPT_OK) return 0;
        hpt_cursor_skip_blanks(&c);
        if (!hpt_cursor_take(&c, ":=") && !hpt_cursor_take(&c, "=")) return 0;
        for (; !hpt_cursor_at_line_end(&c) && hpt_cursor_peek(&c) != ';'; c.at++)
            if (strchr("aAbB", hpt_cursor_peek(&c)) && c.at + 1 < c.length && strchr("0123456789[_", c.text[c.at + 1]))
                return 65;
        return 0;
    }
    return 0;
}

/* a11 or b_1_2; or one digit, as some programs number the blocks of 2 x 2 matrices: a0 to a3. */
static hpt_status scan_entry(int64_t *key, hpt_cursor *c, hpt_error *error) {
    bool one_digit =
        isdigit((unsigned char)hpt_cursor_peek(c)) &&
        (c->at + 1 >= c->length || (!isdigit((unsigned char)c->text[c->at + 1]) && c->text[c->at + 1] != '_'));
    if (!one_digit) return hpt_entry_scan(key, c, error);
    int digit = hpt_cursor_peek(c) - '0';
    if (digit > 3)
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "Blocks with one digit are 0 to 3, of 2 x 2 matrices.");
    *key = digit / 2 * HPT_KEY_COLUMNS + digit % 2;
    c->at++;
    return HPT_OK;
}

/* Entries; anything else must have been assigned. */
static hpt_status variable(void *user, hpt_expression *out, hpt_cursor *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    program *p = user;
    char here = (char)tolower((unsigned char)hpt_cursor_peek(c)), name[HPT_VARIABLES_LENGTH];
    char behind = c->at + 1 < c->length ? c->text[c->at + 1] : '\0';
    if ((here == 'a' || here == 'b') && (isdigit((unsigned char)behind) || behind == '[' || behind == '_')) {
        int64_t key;
        c->at++;
        HPT_TRY(scan_entry(&key, c, error));
        HPT_FAIL_IF(!hpt_expression_set_variable(out, here - 'a', key), HPT_NO_MEMORY, "", "Out of memory.");
        goto done;
    }
    size_t from = c->at;
    HPT_TRY(hpt_variables_scan(name, c, error));
    const hpt_expression *value = hpt_variables_find(&p->names, name);
    if (!value) {
        c->at = from;
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "\"%s\" has no value yet.", name);
        goto done;
    }
    HPT_FAIL_IF(!hpt_expression_set(out, value), HPT_NO_MEMORY, "", "Out of memory.");
done:
    return status;
}

/* A product of a form in A and a form in B becomes a variable of its own. */
static hpt_status make_product(program *p, hpt_expression *value, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_expression *product = hpt_products_add(&p->products);
    HPT_FAIL_NO_MEMORY(product);
    HPT_FAIL_IF(!hpt_expression_set(product, value), HPT_NO_MEMORY, "", "Out of memory.");
    hpt_value_set_si(&product->scalar, 1);
    hpt_value scalar;
    hpt_value_init(&scalar);
    hpt_value_set(&scalar, &value->scalar);
    bool made = hpt_expression_set_variable(value, P, (int64_t)p->products.count - 1);
    hpt_value_set(&value->scalar, &scalar);
    hpt_value_clear(&scalar);
    HPT_FAIL_IF(!made, HPT_NO_MEMORY, "", "Out of memory.");
    hpt_expression_fold(value, &p->ring);
done:
    return status;
}

/* c11 := sum of products: the coefficient of product r goes into its third form. */
static hpt_status set_output(program *p, int64_t key, const hpt_expression *value, const hpt_cursor *c,
                             hpt_error *error) {
    if (hpt_expression_kind(value) != P)
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "Before this place, an entry of C is not a sum of products.");
    for (size_t i = 0; i < value->form[P].count; i++) {
        hpt_expression *product = &p->products.items[value->form[P].terms[i].key];
        hpt_expression one;
        hpt_expression_init(&one);
        bool good = hpt_expression_set_variable(&one, P, key);
        if (good) hpt_value_set(&one.form[P].terms[0].coefficient, &value->form[P].terms[i].coefficient);
        good = good && hpt_form_add(&product->form[P], &one.form[P], &p->ring);
        product->has[P] = true;
        hpt_expression_clear(&one);
        if (!good) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    }
    return HPT_OK;
}

static hpt_status read_statement(program *p, hpt_expression_parser *parser, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = parser->cursor;
    char name[HPT_VARIABLES_LENGTH];
    int64_t key = -1;
    hpt_expression value;
    hpt_expression_init(&value);
    bool output = (hpt_cursor_peek(c) == 'c' || hpt_cursor_peek(c) == 'C') && c->at + 1 < c->length &&
                  strchr("0123456789[_", c->text[c->at + 1]);
    if (output) {
        c->at++;
        HPT_TRY(scan_entry(&key, c, error));
        memcpy(name, "c", 2);
    } else {
        HPT_TRY(hpt_variables_scan(name, c, error));
    }
    hpt_cursor_skip_blanks(c);
    parser->newlines = hpt_cursor_take(c, ":=");
    if (!parser->newlines && !hpt_cursor_take(c, "=")) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "\":=\" or \"=\" is expected here.");
        goto done;
    }
    HPT_TRY(hpt_expression_parse(&value, parser, error));
    if (value.has[A] && value.has[B] && !value.has[P]) HPT_TRY(make_product(p, &value, error));
    if (output)
        HPT_TRY(set_output(p, key, &value, c, error));
    else
        HPT_TRY(hpt_variables_set(&p->names, name, &value, c, error));
    hpt_cursor_skip_spaces(c);
    bool ended = hpt_cursor_take(c, ";");
    if (parser->newlines && !ended) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "A semicolon is expected here.");
        goto done;
    }
done:
    hpt_expression_clear(&value);
    return status;
}

hpt_status hpt_formulas_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    program p = {.products = {NULL, 0, 0}};
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&p.ring);
    HPT_TRY(hpt_ring_parse(&p.ring, "Q(i)", "", error));
    hpt_expression_parser parser = {.cursor = &c, .ring = &p.ring, .user = &p, .variable = variable};
    for (;;) {
        hpt_cursor_skip_spaces(&c);
        if (hpt_cursor_done(&c)) break;
        if (passed_over(&c))
            hpt_cursor_skip_line(&c);
        else
            HPT_TRY(read_statement(&p, &parser, error));
    }
    HPT_TRY(hpt_products_finish(out, &p.products, source, "formulas", "Q(i)", false, parser.decimal, error));
done:
    hpt_products_clear(&p.products);
    hpt_variables_clear(&p.names);
    hpt_ring_clear(&p.ring);
    return status;
}
