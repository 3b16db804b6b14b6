/* Perminov's text: "n m p R", then the coefficients of u, v, w, product by product, w over C^T; '#' starts a comment.
 * A file may begin with the number of schemes in it (FILE#k names the k-th); the rational variant writes every
 * coefficient as two integers, numerator and denominator, which only the number of numbers tells. */
#include "formats/cursor.h"
#include "formats/dense.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int hpt_perminov_txt_detect(const hpt_input *source);
hpt_status hpt_perminov_txt_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_perminov_txt_write(hpt_text *out, const hpt_scheme *scheme, hpt_error *error);

static void skip(hpt_cursor *c) {
    hpt_cursor_skip_spaces(c);
    while (hpt_cursor_peek(c) == '#') {
        hpt_cursor_skip_line(c);
        hpt_cursor_skip_spaces(c);
    }
}

/* Integers only, and a first line of one or four of them. */
int hpt_perminov_txt_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    skip(&c);
    int count = 0;
    for (; !hpt_cursor_at_line_end(&c) && count < 6; count++) {
        int64_t number;
        if (hpt_cursor_integer(&number, &c, NULL) != HPT_OK || number < 1) return 0;
        hpt_cursor_skip_blanks(&c);
    }
    if (count != 1 && count != 4) return 0;
    for (; c.at < c.length && c.at < 4096; c.at++)
        if (!strchr("0123456789+- \t\r\n#", c.text[c.at])) return 0;
    return 50;
}

typedef struct record {
    int64_t shape[3], rank;
    size_t from; /* of the first coefficient */
} record;

static hpt_status read_header(record *out, hpt_cursor *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    int64_t *const numbers[4] = {&out->shape[0], &out->shape[1], &out->shape[2], &out->rank};
    for (int i = 0; i < 4; i++) {
        skip(c);
        HPT_TRY(hpt_cursor_integer(numbers[i], c, error));
        if (*numbers[i] < 1 || *numbers[i] > (i < 3 ? HPT_SCHEME_SIDE : HPT_SCHEME_RANK))
            return hpt_cursor_fail(c, HPT_TOO_LARGE, error, "The header's %s is %lld; 1 to %d is possible.",
                                   i < 3 ? "size" : "rank", (long long)*numbers[i],
                                   i < 3 ? HPT_SCHEME_SIDE : HPT_SCHEME_RANK);
    }
    skip(c);
    out->from = c->at;
done:
    return status;
}

/* Walks over `count` integers; false at anything else. */
static bool walk(hpt_cursor *c, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        skip(c);
        bool sign = hpt_cursor_peek(c) == '-';
        if (sign) c->at++;
        if (!isdigit((unsigned char)hpt_cursor_peek(c))) return false;
        while (isdigit((unsigned char)hpt_cursor_peek(c))) c->at++;
    }
    return true;
}

static int64_t coefficients(const record *r) {
    const int64_t *s = r->shape;
    return r->rank * (s[0] * s[1] + s[1] * s[2] + s[0] * s[2]);
}

/* Do all records fit the file exactly with `width` integers per coefficient? The wanted one is kept. */
static bool fits(record *wanted, hpt_cursor c, int64_t records, int64_t which, int width) {
    for (int64_t k = 1; k <= records; k++) {
        record r;
        if (read_header(&r, &c, NULL) != HPT_OK || !walk(&c, width * coefficients(&r))) return false;
        if (k == which) *wanted = r;
    }
    skip(&c);
    return hpt_cursor_done(&c);
}

static hpt_status read_coefficients(hpt_dense *dense, const record *r, int width, hpt_cursor *c, hpt_builder *builder,
                                    const hpt_ring *ring, hpt_error *error) {
    hpt_status status = HPT_OK;
    const int64_t *s = r->shape;
    const int64_t counts[3] = {r->rank * s[0] * s[1], r->rank * s[1] * s[2], r->rank * s[0] * s[2]};
    hpt_value value, divisor;
    hpt_value_init(&value);
    hpt_value_init(&divisor);
    c->at = r->from;
    for (int f = 0; f < 3; f++)
        for (int64_t i = 0; i < counts[f]; i++) {
            int32_t id;
            int64_t numerator, denominator;
            skip(c);
            if (width == 1) {
                HPT_TRY(hpt_cursor_value(&id, c, "", builder, ring, error));
            } else {
                HPT_TRY(hpt_cursor_integer(&numerator, c, error));
                skip(c);
                HPT_TRY(hpt_cursor_integer(&denominator, c, error));
                hpt_value_set_si(&value, numerator);
                hpt_value_set_si(&divisor, denominator);
                if (!hpt_value_div(&value, &value, &divisor, ring)) {
                    status = hpt_cursor_fail(c, HPT_MALFORMED, error, "A denominator is zero.");
                    goto done;
                }
                id = hpt_builder_value(builder, &value);
            }
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
        }
done:
    hpt_value_clear(&divisor);
    hpt_value_clear(&value);
    return status;
}

static hpt_status choose(record *r, int *width, const hpt_cursor *start, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_cursor c = *start, behind;
    int64_t first, records = 1, which = 1;
    skip(&c);
    behind = c;
    HPT_TRY(hpt_cursor_integer(&first, &behind, error));
    hpt_cursor_skip_blanks(&behind);
    if (hpt_cursor_at_line_end(&behind)) { /* alone on its line: how many schemes follow */
        records = first;
        c = behind;
    }
    HPT_FAIL_IF(records < 1 || records > 1000000, HPT_MALFORMED, source->path, "%lld schemes are too many.",
                (long long)records);
    if (source->member) {
        char *end;
        which = strtoll(source->member, &end, 10);
        HPT_FAIL_IF(*end || which < 1 || which > records, HPT_NOT_FOUND, source->path,
                    "There is no scheme \"%.40s\"; there are 1 to %lld.", source->member, (long long)records);
    }
    for (*width = 1; *width <= 2; (*width)++)
        if (fits(r, c, records, which, *width)) return HPT_OK;
    HPT_TRY(read_header(r, &c, error));
    size_t from = c.at;
    int64_t count = 0;
    while (walk(&c, 1)) count++;
    skip(&c);
    if (!hpt_cursor_done(&c)) return hpt_cursor_fail(&c, HPT_MALFORMED, error, "An integer is expected here.");
    c.at = from;
    return hpt_cursor_fail(&c, HPT_LIES, error,
                           "%lld products of this shape need %lld coefficients, but %lld numbers follow.",
                           (long long)r->rank, (long long)coefficients(r), (long long)count);
done:
    return status;
}

hpt_status hpt_perminov_txt_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    record r;
    int width;
    hpt_ring ring;
    hpt_cursor c = hpt_cursor_start(source);
    hpt_ring_init(&ring);
    HPT_TRY(choose(&r, &width, &c, source, error));
    HPT_TRY(hpt_reader_start(&builder, source, "perminov-txt", r.shape[0], r.shape[1], r.shape[2], r.rank, "Q", error));
    HPT_TRY(read_coefficients(&dense, &r, width, &c, builder, &ring, error));
    const hpt_dense_layout layout = {{r.shape[0], r.shape[1], r.shape[2]}, r.rank, false, true};
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    hpt_ring_clear(&ring);
    return status;
}

hpt_status hpt_perminov_txt_write(hpt_text *out, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_dense_style style = {"", "", " ", " ", true, false};
    HPT_FAIL_IF(!s->ring.integral && s->ring.characteristic != 2, HPT_UNSUPPORTED, "--to",
                "The format perminov-txt is written for Z and GF(2), not %s.", s->ring.name);
    hpt_text_printf(out, "%d %d %d %d\n", s->n, s->m, s->p, s->rank);
    for (int f = 0; f < 3; f++) {
        HPT_TRY(hpt_dense_write(out, s, (hpt_factor)f, &style, error));
        hpt_text_puts(out, "\n");
    }
done:
    return status;
}
