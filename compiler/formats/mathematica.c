/* Mathematica's nested lists: {{A, B, C}, ...} with A n x m, B m x p and C p x n (trace form). */
#include "formats/cursor.h"
#include "formats/dense.h"

int hpt_mathematica_detect(const hpt_input *source);
hpt_status hpt_mathematica_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_mathematica_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

/* Four opening braces, with nothing but space between them. */
int hpt_mathematica_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    for (int i = 0; i < 4; i++) {
        hpt_cursor_skip_spaces(&c);
        if (!hpt_cursor_take(&c, "{")) return 0;
    }
    return 90;
}

/* {{...}, ...}; the first one sets the size, later ones must have it. */
static hpt_status read_matrix(hpt_dense *dense, int f, int64_t size[2], hpt_cursor *c, hpt_builder *builder,
                              const hpt_ring *ring, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t rows = 0;
    HPT_TRY(hpt_cursor_expect(c, "{", error));
    do {
        int64_t columns = 0;
        HPT_TRY(hpt_cursor_expect(c, "{", error));
        do {
            int32_t id;
            hpt_cursor_skip_spaces(c);
            HPT_TRY(hpt_cursor_value(&id, c, ",{}", builder, ring, error));
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
            columns++;
        } while (hpt_cursor_comma(c));
        HPT_TRY(hpt_cursor_expect(c, "}", error));
        if (size[1] == 0) size[1] = columns;
        if (columns != size[1])
            return hpt_cursor_fail(c, HPT_LIES, error, "This row has %lld entries instead of %lld.", (long long)columns,
                                   (long long)size[1]);
        rows++;
    } while (hpt_cursor_comma(c));
    HPT_TRY(hpt_cursor_expect(c, "}", error));
    if (size[0] == 0) size[0] = rows;
    if (rows != size[0])
        return hpt_cursor_fail(c, HPT_LIES, error, "This matrix has %lld rows instead of %lld.", (long long)rows,
                               (long long)size[0]);
done:
    return status;
}

hpt_status hpt_mathematica_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_ring ring;
    int64_t size[3][2] = {{0, 0}, {0, 0}, {0, 0}}, rank = 0;
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&ring);
    HPT_TRY(hpt_ring_parse(&ring, "Q(i)", "", error));
    HPT_TRY(hpt_reader_start(&builder, source, "mathematica", 1, 1, 1, 1, "Q(i)", error));
    HPT_TRY(hpt_cursor_expect(&c, "{", error));
    do {
        HPT_TRY(hpt_cursor_expect(&c, "{", error));
        for (int f = 0; f < 3; f++) {
            if (f > 0) HPT_TRY(hpt_cursor_expect(&c, ",", error));
            HPT_TRY(read_matrix(&dense, f, size[f], &c, builder, &ring, error));
        }
        HPT_TRY(hpt_cursor_expect(&c, "}", error));
        rank++;
    } while (hpt_cursor_comma(&c));
    HPT_TRY(hpt_cursor_expect(&c, "}", error));
    hpt_cursor_skip_spaces(&c);
    if (!hpt_cursor_done(&c)) {
        status = hpt_cursor_fail(&c, HPT_MALFORMED, error, "Nothing should follow the list.");
        goto done;
    }
    HPT_TRY(hpt_dense_finish_matrices(out, &dense, builder, source, size, rank, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

static void write_matrix(hpt_text *out, const hpt_scheme *s, hpt_factor f, int32_t r) {
    const int32_t rows[3] = {s->n, s->m, s->p}, columns[3] = {s->m, s->p, s->n};
    hpt_text_puts(out, "{");
    for (int32_t i = 0; i < rows[f]; i++) {
        hpt_text_puts(out, i ? ", {" : "{");
        for (int32_t j = 0; j < columns[f]; j++)
            hpt_text_printf(out, "%s%s", j ? ", " : "",
                            hpt_dense_cell(s, f, r, f == HPT_W ? j * s->p + i : i * columns[f] + j));
        hpt_text_puts(out, "}");
    }
    hpt_text_puts(out, "}");
}

hpt_status hpt_mathematica_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    if (s->ring.kind != HPT_RING_RATIONAL && s->ring.characteristic != 2)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to",
                             "The format mathematica is written for Z, Q and GF(2), not %s.", s->ring.name);
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_text_puts(out, r ? ",\n {" : "{{");
        for (int f = 0; f < 3; f++) {
            if (f > 0) hpt_text_puts(out, ", ");
            write_matrix(out, s, (hpt_factor)f, r);
        }
        hpt_text_puts(out, "}");
    }
    hpt_text_puts(out, "}\n");
    return HPT_OK;
}
