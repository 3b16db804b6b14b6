/* Answers of SAT solvers about 3x3x3 schemes modulo 2: lines "v 1 -2 ... 0", where the literal 27 r + 9 f + 3 row +
 * column + 1 says that product r has that entry in factor f (A, B, C). Larger literals are the encoding's own
 * variables. */
#include "formats/cursor.h"
#include <stdlib.h>
#include <string.h>

int hpt_sat_detect(const hpt_input *source);
hpt_status hpt_sat_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

enum { SIDE = 3, ENTRIES = 9, PER_PRODUCT = 27, RANK = 23 };

/* Comment lines "c ...", then "s SATISFIABLE" or "v ". */
int hpt_sat_detect(const hpt_input *source) {
    hpt_cursor c = hpt_cursor_start(source);
    while (hpt_cursor_take(&c, "c ")) hpt_cursor_skip_line(&c);
    if (hpt_cursor_take(&c, "s SATISFIABLE")) return 90;
    int64_t literal;
    return hpt_cursor_take(&c, "v ") && hpt_cursor_integer(&literal, &c, NULL) == HPT_OK ? 90 : 0;
}

static hpt_status read_literals(hpt_builder *builder, hpt_cursor *c, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (; !hpt_cursor_done(c); hpt_cursor_skip_line(c)) {
        if (!hpt_cursor_take(c, "v")) continue;
        for (;;) {
            int64_t literal;
            hpt_cursor_skip_blanks(c);
            if (hpt_cursor_at_line_end(c)) break;
            HPT_TRY(hpt_cursor_integer(&literal, c, error));
            if (literal <= 0 || literal > PER_PRODUCT * RANK) continue;
            int64_t r = (literal - 1) / PER_PRODUCT, rest = (literal - 1) % PER_PRODUCT;
            HPT_TRY(hpt_builder_term(builder, (hpt_factor)(rest / ENTRIES), r, rest % ENTRIES, 0, c->path, error));
        }
    }
done:
    return status;
}

hpt_status hpt_sat_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    hpt_cursor c = hpt_cursor_start(source);
    HPT_TRY(hpt_reader_start(&builder, source, "sat", SIDE, SIDE, SIDE, RANK, "Q", error));
    hpt_builder_set_text(builder, NULL, NULL, NULL, HPT_OUTPUT_PLAIN);
    HPT_TRY(read_literals(builder, &c, error));
    HPT_TRY(hpt_builder_finish(out, builder, source->path, error));
done:
    hpt_builder_destroy(builder);
    return status;
}
