/* Benson and Ballard's text: three blocks U, V, W; the output is not transposed. */
#include "formats/uvw.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hpt_uvw_detect(const hpt_input *source);
hpt_status hpt_uvw_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_uvw_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

int hpt_uvw_score(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    int separators = 0, rows = 0;
    while (!hpt_cursor_done(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_peek(&c) == '#') {
            if (rows > 0) separators++;
        } else {
            for (; !hpt_cursor_at_line_end(&c); c.at++)
                if (!strchr("0123456789+-/.xi()eE \t", c.text[c.at]) || c.text[c.at] == '\0') return 0;
            rows++;
        }
        hpt_cursor_skip_line(&c);
    }
    return separators >= 2 ? 60 : 0;
}

static bool names_substitutions(const hpt_cursor *c) {
    const char *end = memchr(c->text + c->at, '\n', c->length - c->at);
    size_t length = end ? (size_t)(end - c->text) - c->at : c->length - c->at;
    return memmem(c->text + c->at, length, "ubstitution", 11) != NULL;
}

static hpt_status count_row(int64_t *columns, hpt_cursor *c, hpt_error *error) {
    const char *word;
    size_t length;
    for (*columns = 0;; (*columns)++) {
        hpt_cursor_skip_blanks(c);
        if (hpt_cursor_at_line_end(c)) return HPT_OK;
        hpt_cursor_word(c, "", &word, &length);
        if (length == 0) return hpt_cursor_fail(c, HPT_MALFORMED, error, "There is a NUL byte here.");
    }
}

/* A line that starts with '#': a comment before the first block, else the end of one block and the start of the next.
 */
static hpt_status scan_separator(hpt_uvw *out, int *current, const hpt_cursor *c, hpt_error *error) {
    if (names_substitutions(c)) {
        if (*current != 2 || out->blocks[2].rows == 0)
            return hpt_cursor_fail(c, HPT_MALFORMED, error, "Substitutions must follow exactly three blocks.");
        *current = 3;
    } else if (*current >= 0 && (out->blocks[*current].rows > 0 || *current >= 3)) { /* substitutions may be empty */
        if (*current + 1 == HPT_UVW_BLOCKS)
            return hpt_cursor_fail(c, HPT_MALFORMED, error, "There are more than %d blocks.", HPT_UVW_BLOCKS);
        (*current)++;
    }
    return HPT_OK;
}

hpt_status hpt_uvw_scan(hpt_uvw *out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    *out = (hpt_uvw){0};
    hpt_cursor c = hpt_cursor_start(source);
    int current = -1;
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        hpt_cursor_skip_blanks(&c);
        if (hpt_cursor_peek(&c) == '#') {
            HPT_TRY(scan_separator(out, &current, &c, error));
            continue;
        }
        if (hpt_cursor_at_line_end(&c)) continue;
        if (current < 0) current = 0;
        hpt_uvw_block *block = &out->blocks[current];
        size_t from = c.at;
        int64_t columns;
        HPT_TRY(count_row(&columns, &c, error));
        if (block->rows > 0 && columns != block->columns) {
            c.at = from;
            status =
                hpt_cursor_fail(&c, HPT_MALFORMED, error, "This row has %lld numbers, the rows before it have %lld.",
                                (long long)columns, (long long)block->columns);
            goto done;
        }
        if (block->rows++ == 0) block->from = from;
        block->columns = columns;
        if (memchr(c.text + from, 'x', c.at - from)) out->parameter = true;
    }
    while (current >= 0 && out->blocks[current].rows == 0) current--;
    out->count = current + 1;
done:
    return status;
}

/* [+-] [number] [x [digits] [i]]; "x2i" is x^-2, "1/10x" is (1/10) x. */
static hpt_status parameter_term(hpt_value *sum, hpt_cursor *c, const hpt_ring *ring, bool *decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t used;
    slong power = 0;
    fmpq_t coefficient;
    hpt_value term;
    fmpq_init(coefficient);
    hpt_value_init(&term);
    bool minus = false;
    while (hpt_cursor_peek(c) == '+' || hpt_cursor_peek(c) == '-') { /* sums are written "1+-x3" */
        minus = minus != (hpt_cursor_peek(c) == '-');
        c->at++;
    }
    HPT_TRY(hpt_cursor_number(coefficient, c, true, &used, decimal, error));
    if (used == 0) fmpq_one(coefficient);
    if (hpt_cursor_take(c, "x")) {
        int64_t exponent = 1;
        if (isdigit((unsigned char)hpt_cursor_peek(c))) HPT_TRY(hpt_cursor_integer(&exponent, c, error));
        if (exponent > HPT_LAURENT_EXPONENT) {
            status = hpt_cursor_fail(c, HPT_TOO_LARGE, error, "A power of x is over %d.", HPT_LAURENT_EXPONENT);
            goto done;
        }
        power = hpt_cursor_take(c, "i") ? -(slong)exponent : (slong)exponent;
    } else if (used == 0) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "A coefficient is expected here.");
        goto done;
    }
    hpt_value_set_generator(&term, coefficient, power);
    hpt_value_reduce(&term, ring);
    if (minus)
        hpt_value_sub(sum, sum, &term, ring);
    else
        hpt_value_add(sum, sum, &term, ring);
done:
    hpt_value_clear(&term);
    fmpq_clear(coefficient);
    return status;
}

hpt_status hpt_uvw_value(int32_t *id, hpt_cursor *c, hpt_builder *builder, const hpt_ring *ring, hpt_error *error) {
    if (ring->kind != HPT_RING_LAURENT) return hpt_cursor_value(id, c, "", builder, ring, error);
    hpt_status status = HPT_OK;
    bool decimal = false, minus = false;
    hpt_value sum;
    hpt_value_init(&sum);
    if (hpt_cursor_take(c, "-(")) minus = true;
    bool bracket = minus || hpt_cursor_take(c, "(");
    do {
        HPT_TRY(parameter_term(&sum, c, ring, &decimal, error));
    } while (bracket && (hpt_cursor_peek(c) == '+' || hpt_cursor_peek(c) == '-'));
    if (bracket && !hpt_cursor_take(c, ")")) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "A closing parenthesis is missing here.");
        goto done;
    }
    if (!hpt_cursor_at_line_end(c) && !strchr(" \t", hpt_cursor_peek(c))) {
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "The coefficient should end here.");
        goto done;
    }
    if (minus) hpt_value_neg(&sum, &sum, ring);
    if (decimal) hpt_builder_set_decimal(builder);
    *id = hpt_builder_value(builder, &sum);
done:
    hpt_value_clear(&sum);
    return status;
}

int hpt_uvw_detect(const hpt_input *source) {
    return !memmem(source->bytes, source->length, "ubstitution", 11) ? hpt_uvw_score(source) : 0;
}

hpt_status hpt_uvw_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    hpt_uvw uvw;
    int64_t shape[3];
    hpt_ring_init(&ring);
    HPT_TRY(hpt_uvw_scan(&uvw, source, error));
    HPT_FAIL_IF(uvw.count != 3, HPT_MALFORMED, source->path, "Three blocks of numbers are needed, not %d.", uvw.count);
    const int64_t entries[3] = {uvw.blocks[0].rows, uvw.blocks[1].rows, uvw.blocks[2].rows};
    for (int f = 1; f < 3; f++)
        HPT_FAIL_IF(uvw.blocks[f].columns != uvw.blocks[0].columns, HPT_LIES, source->path,
                    "Factor u has %lld products (columns), factor %s has %lld.", (long long)uvw.blocks[0].columns,
                    hpt_factor_name((hpt_factor)f), (long long)uvw.blocks[f].columns);
    HPT_TRY(hpt_shape_from_entries(shape, entries, source, error));
    const char *ring_name = uvw.parameter ? "Q[x,1/x]" : "Q";
    HPT_TRY(hpt_ring_parse(&ring, ring_name, "", error));
    HPT_TRY(hpt_reader_start(&builder, source, "uvw-txt", shape[0], shape[1], shape[2], uvw.blocks[0].columns,
                             ring_name, error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    for (int f = 0; f < 3; f++) {
        hpt_cursor c = hpt_cursor_start(source);
        c.at = uvw.blocks[f].from;
        for (int64_t row = 0; row < uvw.blocks[f].rows; row++)
            for (int64_t r = 0; r < uvw.blocks[f].columns; r++) {
                int32_t id;
                hpt_cursor_skip_spaces(&c);
                HPT_TRY(hpt_uvw_value(&id, &c, builder, &ring, error));
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, row, id, source->path, error));
            }
    }
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

/* "-2/3*x^-2+x" is "(-2/3x2i+x)" in this format. */
static void write_parameter(hpt_text *out, const char *text) {
    bool sum = strpbrk(text + 1, "+-") != NULL &&
               !(strstr(text, "^-") == strpbrk(text + 1, "+-") - 1 && !strpbrk(strpbrk(text + 1, "+-") + 1, "+-"));
    if (sum) hpt_text_puts(out, "(");
    for (const char *t = text; *t;) {
        if (*t == '*') {
            t++;
        } else if (t[0] == '-' && t > text) {
            hpt_text_puts(out, "+-");
            t++;
        } else if (*t == 'x' && t[1] == '^') {
            bool negative = t[2] == '-';
            t += negative ? 3 : 2;
            size_t digits = strspn(t, "0123456789");
            hpt_text_puts(out, "x");
            if (!(digits == 1 && *t == '1')) hpt_text_add(out, t, digits);
            if (negative) hpt_text_puts(out, "i");
            t += digits;
        } else {
            hpt_text_add(out, t++, 1);
        }
    }
    if (sum) hpt_text_puts(out, ")");
}

hpt_status hpt_uvw_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    if (s->ring.kind != HPT_RING_RATIONAL && s->ring.kind != HPT_RING_LAURENT)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to", "The format uvw-txt holds Z, Q and Q[x,1/x], not %s.",
                             s->ring.name);
    hpt_text_printf(out, "# %d x %d x %d, rank %d\n", s->n, s->m, s->p, s->rank);
    size_t *next = malloc((size_t)s->rank * sizeof *next);
    if (!next) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    for (int f = 0; f < 3; f++) {
        if (f > 0) hpt_text_puts(out, "#\n");
        memcpy(next, s->start[f], (size_t)s->rank * sizeof *next);
        for (int32_t entry = 0; entry < hpt_scheme_entries(s, (hpt_factor)f); entry++)
            for (int32_t r = 0; r < s->rank; r++) {
                bool here = next[r] < s->start[f][r + 1] && s->index[f][next[r]] == entry;
                const char *text = here ? s->texts[s->value[f][next[r]++]] : "0";
                if (s->ring.kind == HPT_RING_LAURENT)
                    write_parameter(out, text);
                else
                    hpt_text_puts(out, text);
                hpt_text_puts(out, r + 1 < s->rank ? " " : "\n");
            }
    }
    free(next);
    return HPT_OK;
}
