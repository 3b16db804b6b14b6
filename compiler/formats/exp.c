/* One product per line, three factors, as Kauers, Moosbauer and Heule write them; also the a1880 "tensor" files. */
#include "formats/products.h"
#include <ctype.h>
#include <string.h>

int hpt_exp_detect(const hpt_input *source);
hpt_status hpt_exp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_exp_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

/* The first line that is no comment has an entry of each of a, b and c. */
int hpt_exp_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_peek(&c) == '#' || hpt_cursor_at_line_end(&c)) continue;
        bool seen[3] = {false, false, false};
        for (; !hpt_cursor_at_line_end(&c); c.at++) {
            char here = c.text[c.at];
            if (here == '=' || here == '{' || here == ';' || here == '"') return 0;
            if (here >= 'a' && here <= 'c' && c.at + 1 < c.length && isdigit((unsigned char)c.text[c.at + 1]))
                seen[here - 'a'] = true;
        }
        return seen[0] && seen[1] && seen[2] ? 80 : 0;
    }
    return 0;
}

static hpt_status entry(void *user, hpt_expression *out, hpt_cursor *c, hpt_error *error) {
    (void)user;
    hpt_status status = HPT_OK;
    int64_t key;
    int kind = hpt_cursor_peek(c) - 'a';
    if (kind < 0 || kind > 2)
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "Only entries of a, b and c may stand here.");
    c->at++;
    HPT_TRY(hpt_entry_scan(&key, c, error));
    HPT_FAIL_IF(!hpt_expression_set_variable(out, kind, key), HPT_NO_MEMORY, "", "Out of memory.");
done:
    return status;
}

static hpt_status read_line(hpt_products *products, hpt_expression_parser *parser, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = parser->cursor;
    hpt_expression *product = hpt_products_add(products);
    HPT_FAIL_NO_MEMORY(product);
    HPT_TRY(hpt_expression_parse(product, parser, error));
    hpt_cursor_skip_blanks(c);
    if (!hpt_cursor_at_line_end(c)) return hpt_cursor_fail(c, HPT_MALFORMED, error, "The product should end here.");
    if (!product->has[0] || !product->has[1] || !product->has[2])
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "This line is not a product of three forms, in a, b and c.");
    for (int f = 0; f < 3; f++)
        if (product->form[f].count == 0 || hpt_value_is_zero(&product->scalar))
            return hpt_cursor_fail(c, HPT_MALFORMED, error, "Before this place, a factor is zero.");
done:
    return status;
}

hpt_status hpt_exp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_products products = {0};
    hpt_ring ring;
    hpt_ring_init(&ring);
    HPT_TRY(hpt_ring_parse(&ring, "Q(i)", "", error));
    hpt_cursor c = hpt_cursor_start(source);
    hpt_expression_parser parser = {.cursor = &c, .ring = &ring, .variable = entry, .juxtaposition = true};
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_peek(&c) == '#' || hpt_cursor_at_line_end(&c)) continue;
        HPT_TRY(read_line(&products, &parser, error));
    }
    HPT_TRY(hpt_products_finish(out, &products, source, "exp", "Q(i)", true, parser.decimal, error));
done:
    hpt_products_clear(&products);
    hpt_ring_clear(&ring);
    return status;
}

/* "1/2-1/2i" as "1/2-1/2*1j": in this notation a number's j binds tighter than the bar. */
static void write_complex(hpt_text *out, const char *text) {
    hpt_text_puts(out, "(");
    for (const char *t = text; *t; t++) {
        if (*t != 'i')
            hpt_text_add(out, t, 1);
        else
            hpt_text_puts(out, t > text && isdigit((unsigned char)t[-1]) ? "*1j" : "1j");
    }
    hpt_text_puts(out, ")*");
}

static void write_form(hpt_text *out, const hpt_scheme *s, hpt_factor f, int32_t product) {
    hpt_terms row = hpt_scheme_terms(s, f, product);
    int32_t columns = f == HPT_U ? s->m : s->p;
    hpt_text_puts(out, "(");
    for (size_t k = 0; k < row.count; k++) {
        const char *text = s->texts[row.value[k]];
        int32_t i = row.index[k] / columns + 1, j = row.index[k] % columns + 1;
        if (strchr(text, 'i')) {
            hpt_text_puts(out, k ? "+" : "");
            write_complex(out, text);
        } else if (strcmp(text, "1") == 0 || strcmp(text, "-1") == 0) {
            hpt_text_puts(out, text[0] == '-' ? "-" : k ? "+" : "");
        } else {
            hpt_text_printf(out, "%s%s*", k && text[0] != '-' ? "+" : "", text);
        }
        hpt_text_printf(out, "%c%d%d", "abc"[f], f == HPT_W ? j : i, f == HPT_W ? i : j);
    }
    hpt_text_puts(out, ")");
}

hpt_status hpt_exp_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    if (s->n > 9 || s->m > 9 || s->p > 9)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to", "The format exp has single-digit indices only.");
    if (s->ring.kind != HPT_RING_RATIONAL && s->ring.characteristic != 2 && strcmp(s->ring.name, "Q(i)") != 0)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to", "The format exp holds Z, Q, Q(i) and GF(2), not %s.",
                             s->ring.name);
    for (int32_t r = 0; r < s->rank; r++)
        for (int f = 0; f < 3; f++) {
            write_form(out, s, (hpt_factor)f, r);
            hpt_text_puts(out, f < 2 ? "*" : "\n");
        }
    return HPT_OK;
}
