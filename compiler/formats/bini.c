/* The a1880 "Bini matrix format": a line "Bini n m p R", a line that names the columns, then for each product its
 * number and three groups of coefficients after semicolons: Gamma (C itself), Alpha (A), Beta (B). */
#include "formats/cursor.h"
#include "formats/dense.h"
#include <string.h>

int hpt_bini_detect(const hpt_input *source);
hpt_status hpt_bini_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_bini_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

static void skip(hpt_cursor *c) {
    hpt_cursor_skip_spaces(c);
    while (hpt_cursor_peek(c) == '#') {
        hpt_cursor_skip_line(c);
        hpt_cursor_skip_spaces(c);
    }
}

int hpt_bini_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    skip(&c);
    return hpt_cursor_take(&c, "Bini ") ? 100 : 0;
}

/* "product Gamma Alpha Beta" in any order; order[k] is the factor of group k. */
static hpt_status read_names(int order[3], hpt_cursor *c, hpt_error *error) {
    static const struct {
        const char *name;
        int factor;
    } names[3] = {{"Alpha", HPT_U}, {"Beta", HPT_V}, {"Gamma", HPT_W}};
    skip(c);
    if (!hpt_cursor_take(c, "product"))
        return hpt_cursor_fail(c, HPT_MALFORMED, error, "The line \"product Gamma Alpha Beta\" is expected here.");
    bool seen[3] = {false, false, false};
    for (int k = 0; k < 3; k++) {
        hpt_cursor_skip_blanks(c);
        order[k] = -1;
        for (int i = 0; i < 3; i++)
            if (!seen[i] && hpt_cursor_take(c, names[i].name)) {
                order[k] = names[i].factor;
                seen[i] = true;
                break;
            }
        if (order[k] < 0) return hpt_cursor_fail(c, HPT_MALFORMED, error, "Gamma, Alpha or Beta is expected here.");
    }
    return HPT_OK;
}

hpt_status hpt_bini_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_ring ring;
    int64_t header[4], number;
    int order[3];
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&ring);
    skip(&c);
    hpt_cursor_take(&c, "Bini ");
    for (int i = 0; i < 4; i++) {
        hpt_cursor_skip_blanks(&c);
        HPT_TRY(hpt_cursor_integer(&header[i], &c, error));
    }
    int64_t n = header[0], m = header[1], p = header[2], rank = header[3];
    HPT_TRY(hpt_reader_start(&builder, source, "bini", n, m, p, rank, "Q", error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    const int64_t entries[3] = {n * m, m * p, n * p};
    HPT_TRY(read_names(order, &c, error));
    for (int64_t r = 0; r < rank; r++) {
        skip(&c);
        if (hpt_cursor_integer(&number, &c, error) != HPT_OK || number != r + 1) {
            status = hpt_cursor_fail(&c, HPT_LIES, error, "Product %lld of %lld is expected here.", (long long)r + 1,
                                     (long long)rank);
            goto done;
        }
        for (int k = 0; k < 3; k++) {
            hpt_cursor_skip_blanks(&c);
            if (!hpt_cursor_take(&c, ";")) {
                status = hpt_cursor_fail(&c, HPT_MALFORMED, error, "A semicolon is expected here.");
                goto done;
            }
            for (int64_t e = 0; e < entries[order[k]]; e++) {
                int32_t id;
                hpt_cursor_skip_blanks(&c);
                HPT_TRY(hpt_cursor_value(&id, &c, "", builder, &ring, error));
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)order[k], r, e, id, source->path, error));
            }
        }
    }
    skip(&c);
    if (!hpt_cursor_done(&c)) {
        status = hpt_cursor_fail(&c, HPT_LIES, error, "Something follows product %lld, the last.", (long long)rank);
        goto done;
    }
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

hpt_status hpt_bini_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    static const hpt_factor order[3] = {HPT_W, HPT_U, HPT_V};
    if (s->ring.kind != HPT_RING_RATIONAL && s->ring.characteristic != 2)
        return hpt_error_set(error, HPT_UNSUPPORTED, "--to", "The format bini is written for Z, Q and GF(2), not %s.",
                             s->ring.name);
    hpt_text_printf(out, "Bini %d %d %d %d\n\nproduct Gamma Alpha Beta\n", s->n, s->m, s->p, s->rank);
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_text_printf(out, "%d", r + 1);
        for (int k = 0; k < 3; k++) {
            hpt_terms row = hpt_scheme_terms(s, order[k], r);
            size_t next = 0;
            hpt_text_puts(out, " ;");
            for (int32_t e = 0; e < hpt_scheme_entries(s, order[k]); e++) {
                bool here = next < row.count && row.index[next] == e;
                hpt_text_printf(out, " %s", here ? s->texts[row.value[next++]] : "0");
            }
        }
        hpt_text_puts(out, "\n");
    }
    return HPT_OK;
}
