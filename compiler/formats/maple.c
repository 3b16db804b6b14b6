/* Maple files of the catalogue of fast matrix multiplication: TriadSet([Triad([Matrix(n, m, [[...]]), Matrix(m, p,
 * ...), Matrix(p, n, ...)]), ...]). Entries may be arithmetic that nobody evaluated: -(1*1-0*0), +-1/8*1+1/8*0, 0**2*0.
 */
#include "formats/dense.h"
#include "formats/expression.h"
#include <string.h>

int hpt_maple_detect(const hpt_input *source);
hpt_status hpt_maple_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_maple_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

int hpt_maple_detect(const hpt_input *source) { return memmem(source->bytes, source->length, "TriadSet(", 9) ? 95 : 0; }

/* The words in order, with any space between them. */
static hpt_status expect(hpt_cursor *c, const char *const *words, size_t count, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (size_t i = 0; i < count && status == HPT_OK; i++) status = hpt_cursor_expect(c, words[i], error);
    return status;
}

#define EXPECT(c, ...)                                                                                                 \
    HPT_TRY(expect(c, (const char *const[]){__VA_ARGS__}, HPT_COUNT(((const char *const[]){__VA_ARGS__})), error))

/* [-]digit before a comma or bracket needs no parser. */
static bool short_entry(int64_t *out, hpt_cursor *c) {
    size_t at = c->at;
    bool minus = at < c->length && c->text[at] == '-';
    if (minus) at++;
    if (at + 1 >= c->length || c->text[at] < '0' || c->text[at] > '9') return false;
    if (c->text[at + 1] != ',' && c->text[at + 1] != ']') return false;
    *out = minus ? -(c->text[at] - '0') : c->text[at] - '0';
    c->at = at + 1;
    return true;
}

static hpt_status read_entry(int32_t *id, hpt_builder *builder, hpt_expression_parser *parser, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t integer;
    hpt_expression value;
    hpt_expression_init(&value);
    hpt_cursor_skip_spaces(parser->cursor);
    if (short_entry(&integer, parser->cursor)) {
        *id = hpt_builder_integer(builder, integer);
        goto done;
    }
    HPT_TRY(hpt_expression_parse(&value, parser, error));
    *id = hpt_builder_value(builder, &value.scalar);
done:
    hpt_expression_clear(&value);
    return status;
}

/* Matrix(rows, columns, [[...], ...]) */
static hpt_status read_matrix(hpt_dense *dense, int f, int64_t size[2], hpt_builder *builder,
                              hpt_expression_parser *parser, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor *c = parser->cursor;
    int64_t found[2];
    EXPECT(c, "Matrix", "(");
    for (int i = 0; i < 2; i++) {
        hpt_cursor_skip_spaces(c);
        HPT_TRY(hpt_cursor_integer(&found[i], c, error));
        if (size[i] == 0) size[i] = found[i];
        if (found[i] != size[i] || found[i] < 1 || found[i] > HPT_SCHEME_SIDE)
            return hpt_cursor_fail(c, HPT_LIES, error, "A size of %lld is expected here.", (long long)size[i]);
        EXPECT(c, ",");
    }
    EXPECT(c, "[");
    for (int64_t row = 0; row < size[0]; row++) {
        if (row > 0) EXPECT(c, ",");
        EXPECT(c, "[");
        for (int64_t column = 0; column < size[1]; column++) {
            int32_t id;
            if (column > 0) EXPECT(c, ",");
            HPT_TRY(read_entry(&id, builder, parser, error));
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
        }
        EXPECT(c, "]");
    }
    EXPECT(c, "]", ")");
done:
    return status;
}

hpt_status hpt_maple_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_ring ring;
    int64_t size[3][2] = {{0, 0}, {0, 0}, {0, 0}}, rank = 0;
    hpt_cursor c = hpt_cursor_start(source);
    hpt_expression_parser parser = {.cursor = &c, .ring = &ring, .newlines = true};
    hpt_ring_init(&ring);
    HPT_TRY(hpt_reader_start(&builder, source, "maple", 1, 1, 1, 1, "Q", error));
    const char *start = memmem(source->bytes, source->length, "TriadSet(", 9);
    HPT_FAIL_IF(!start, HPT_MALFORMED, source->path, "There is no TriadSet(...) in this file.");
    c.at = (size_t)(start - source->bytes) + strlen("TriadSet(");
    EXPECT(&c, "[");
    do {
        EXPECT(&c, "Triad", "(", "[");
        for (int f = 0; f < 3; f++) {
            if (f > 0) EXPECT(&c, ",");
            HPT_TRY(read_matrix(&dense, f, size[f], builder, &parser, error));
        }
        EXPECT(&c, "]", ")");
        rank++;
    } while (hpt_cursor_comma(&c));
    EXPECT(&c, "]", ")");
    HPT_TRY(hpt_dense_finish_matrices(out, &dense, builder, source, size, rank, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

hpt_status hpt_maple_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    const int32_t rows[3] = {s->n, s->m, s->p}, columns[3] = {s->m, s->p, s->n};
    if (s->ring.kind != HPT_RING_RATIONAL && s->ring.characteristic != 2)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to", "The format maple is written for Z, Q and GF(2), not %s.",
                             s->ring.name);
    hpt_text_puts(out, "Tensor:=TriadSet([");
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_text_puts(out, r ? ", Triad([" : "Triad([");
        for (int f = 0; f < 3; f++) {
            hpt_text_printf(out, "%sMatrix(%d, %d, [", f ? ", " : "", rows[f], columns[f]);
            for (int32_t i = 0; i < rows[f]; i++)
                for (int32_t j = 0; j < columns[f]; j++)
                    hpt_text_printf(out, "%s%s%s",
                                    j   ? ","
                                    : i ? ",["
                                        : "[",
                                    hpt_dense_cell(s, (hpt_factor)f, r, f == HPT_W ? j * s->p + i : i * columns[f] + j),
                                    j + 1 < columns[f] ? "" : "]");
            hpt_text_puts(out, "])");
        }
        hpt_text_puts(out, "])");
    }
    hpt_text_puts(out, "]):\n");
    return HPT_OK;
}
