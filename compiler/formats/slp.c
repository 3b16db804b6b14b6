/* PLinOpt's straight-line programs NAME_L.slp, NAME_R.slp, NAME_P.slp: "o0:=i2-i0;" with inputs i0.., outputs o0.., any
 * other name a temporary; text behind ';' and lines without ":=" say nothing. C is not transposed. */
#include "formats/dense.h"
#include "formats/siblings.h"
#include "formats/variables.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hpt_slp_detect(const hpt_input *source);
hpt_status hpt_slp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

typedef struct program {
    hpt_variables names;
    int64_t inputs, outputs;
} program;

int hpt_slp_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    for (int line = 0; line < 200 && !hpt_cursor_done(&c); line++, hpt_cursor_skip_line(&c)) {
        char name[HPT_VARIABLES_LENGTH];
        hpt_cursor_skip_blanks(&c);
        if (hpt_variables_scan(name, &c, NULL) != HPT_OK) continue;
        hpt_cursor_skip_blanks(&c);
        if (!hpt_cursor_take(&c, ":=")) continue;
        while (!hpt_cursor_at_line_end(&c) && strchr(" \t-+(", hpt_cursor_peek(&c))) c.at++;
        if (hpt_cursor_peek(&c) == 'i' && c.at + 1 < c.length && isdigit((unsigned char)c.text[c.at + 1])) return 66;
    }
    return 0;
}

/* "i12" or "o3": the number; -1 for any other name. */
static int64_t numbered(const char *name, char letter) {
    if (name[0] != letter || !name[1] || strspn(name + 1, "0123456789") != strlen(name + 1) || strlen(name) > 8)
        return -1;
    return strtoll(name + 1, NULL, 10);
}

static hpt_status variable(void *user, hpt_expression *out, hpt_cursor *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    program *p = user;
    char name[HPT_VARIABLES_LENGTH];
    size_t from = c->at;
    HPT_TRY(hpt_variables_scan(name, c, error));
    const hpt_expression *value = hpt_variables_find(&p->names, name);
    int64_t input = numbered(name, 'i');
    if (value) {
        HPT_FAIL_IF(!hpt_expression_set(out, value), HPT_NO_MEMORY, "", "Out of memory.");
    } else if (input >= 0) {
        HPT_FAIL_IF(!hpt_expression_set_variable(out, 0, input), HPT_NO_MEMORY, "", "Out of memory.");
        if (input + 1 > p->inputs) p->inputs = input + 1;
    } else {
        c->at = from;
        status = hpt_cursor_fail(c, HPT_MALFORMED, error, "\"%s\" has no value yet.", name);
    }
done:
    return status;
}

static hpt_status run(program *p, const hpt_input *source, const hpt_ring *ring, bool *decimal, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor c = hpt_cursor_start(source);
    hpt_expression_parser parser = {.cursor = &c, .ring = ring, .user = p, .variable = variable};
    hpt_expression value;
    hpt_expression_init(&value);
    for (; !hpt_cursor_done(&c); hpt_cursor_skip_line(&c)) {
        char name[HPT_VARIABLES_LENGTH];
        hpt_cursor_skip_blanks(&c);
        if (hpt_variables_scan(name, &c, NULL) != HPT_OK) continue;
        hpt_cursor_skip_blanks(&c);
        if (!hpt_cursor_take(&c, ":=")) continue;
        hpt_expression_clear(&value);
        hpt_expression_init(&value);
        HPT_TRY(hpt_expression_parse(&value, &parser, error));
        hpt_cursor_skip_blanks(&c);
        if (!hpt_cursor_take(&c, ";")) {
            status = hpt_cursor_fail(&c, HPT_MALFORMED, error, "A semicolon is expected here.");
            goto done;
        }
        int64_t output = numbered(name, 'o');
        if (output + 1 > p->outputs) p->outputs = output + 1;
        HPT_TRY(hpt_variables_set(&p->names, name, &value, &c, error));
    }
    if (parser.decimal) *decimal = true;
done:
    hpt_expression_clear(&value);
    return status;
}

static hpt_status add_outputs(hpt_builder *builder, const program *p, hpt_factor f, const char *path,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    for (int64_t o = 0; o < p->outputs; o++) {
        char name[24];
        snprintf(name, sizeof name, "o%lld", (long long)o);
        const hpt_expression *value = hpt_variables_find(&p->names, name);
        HPT_FAIL_IF(!value || hpt_expression_kind(value) != 0, HPT_MALFORMED, path, "The output %s is not set.", name);
        for (size_t i = 0; i < value->form[0].count; i++) {
            const hpt_monomial *term = &value->form[0].terms[i];
            int64_t product = f == HPT_W ? term->key : o, entry = f == HPT_W ? o : term->key;
            HPT_TRY(hpt_builder_term(builder, f, product, entry, hpt_builder_value(builder, &term->coefficient), path,
                                     error));
        }
    }
done:
    return status;
}

hpt_status hpt_slp_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_siblings files = {0};
    program p[3] = {{{0}, 0, 0}};
    hpt_builder *builder = NULL;
    hpt_ring ring;
    int64_t shape[3];
    bool decimal = false;
    hpt_ring_init(&ring);
    HPT_TRY(hpt_siblings_read(&files, source, ".slp", error));
    for (int f = 0; f < 3; f++) HPT_TRY(run(&p[f], &files.source[f], &ring, &decimal, error));
    const int64_t entries[3] = {p[0].inputs, p[1].inputs, p[2].outputs};
    int64_t rank = p[0].outputs;
    HPT_FAIL_IF(p[1].outputs != rank || p[2].inputs != rank, HPT_LIES, source->path,
                "L has %lld products, R %lld and P %lld.", (long long)rank, (long long)p[1].outputs,
                (long long)p[2].inputs);
    HPT_TRY(hpt_shape_from_entries(shape, entries, source, error));
    HPT_TRY(hpt_reader_start(&builder, source, "slp", shape[0], shape[1], shape[2], rank, "Q", error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    if (decimal) hpt_builder_set_decimal(builder);
    for (int f = 0; f < 3; f++) HPT_TRY(add_outputs(builder, &p[f], (hpt_factor)f, files.source[f].path, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    for (int f = 0; f < 3; f++) hpt_variables_clear(&p[f].names);
    hpt_builder_destroy(builder);
    hpt_siblings_clear(&files);
    hpt_ring_clear(&ring);
    return status;
}
