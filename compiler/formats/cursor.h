/* cursor.h - reading text with places. Promises:
 *   - never reads behind the end; every error names file, line and column (columns count bytes from 1).
 *   - numbers are exact; small integers take a short cut.
 *   - line ends are LF, CR LF or CR CR LF; spaces include tabs, CR and the UTF-8 no-break space.
 */
#ifndef HPT_FORMATS_CURSOR_H
#define HPT_FORMATS_CURSOR_H

#include "formats/formats.h"

typedef struct hpt_cursor {
    const char *path, *text;
    size_t length, at;
} hpt_cursor;

hpt_cursor hpt_cursor_start(const hpt_input *source); /* behind a byte-order mark */
void hpt_cursor_where(char where[HPT_ERROR_WHERE], const hpt_cursor *c, size_t at);
/* Fills the error with the place of the current position. */
hpt_status hpt_cursor_fail(const hpt_cursor *c, hpt_status code, hpt_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool hpt_cursor_done(const hpt_cursor *c);
char hpt_cursor_peek(const hpt_cursor *c);             /* '\0' at the end */
void hpt_cursor_skip_blanks(hpt_cursor *c);            /* within the line */
void hpt_cursor_skip_spaces(hpt_cursor *c);            /* over lines too */
void hpt_cursor_skip_line(hpt_cursor *c);              /* to behind the next LF */
bool hpt_cursor_take(hpt_cursor *c, const char *word); /* exactly here */
bool hpt_cursor_comma(hpt_cursor *c);                  /* takes one behind any space */
/* Behind any space; HPT_MALFORMED if something else is there. */
hpt_status hpt_cursor_expect(hpt_cursor *c, const char *word, hpt_error *error);
bool hpt_cursor_at_line_end(const hpt_cursor *c); /* LF, CR or the end */
/* The next word: up to space, or one of the stop characters. Empty at the end. */
void hpt_cursor_word(hpt_cursor *c, const char *stops, const char **word, size_t *length);
/* hpt_number_scan at the cursor, which moves behind the number; *used is its length. */
hpt_status hpt_cursor_number(fmpq_t out, hpt_cursor *c, bool fraction, size_t *used, bool *decimal, hpt_error *error);
/* hpt_value_parse of some text that stands at the cursor. */
hpt_status hpt_cursor_parse(hpt_value *out, const hpt_cursor *c, const hpt_ring *ring, const char *text, size_t length,
                            bool *decimal, hpt_error *error);
/* [+-]digits */
hpt_status hpt_cursor_integer(int64_t *out, hpt_cursor *c, hpt_error *error);
/* A coefficient in the ring's notation that ends at space or a stop character (spaces inside stay if stops is given).
 */
hpt_status hpt_cursor_value(int32_t *id, hpt_cursor *c, const char *stops, hpt_builder *builder, const hpt_ring *ring,
                            hpt_error *error);

#endif
