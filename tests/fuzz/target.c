/* One fuzz target per format: the input is the file. Formats of several files get them out of one input, cut at the
 * byte 0xff; "archive" takes gzip and zip apart and lets any format read what is inside; "value" reads a ring and a
 * number. HPT_FUZZ_FORMAT is the format's name. */
#include "formats/archive.h"
#include "formats/formats.h"
#include "formats/settle.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 16, PARTS = 6 };
static const double CHECKED = 1e5; /* equations, up to which what was read is settled too */

static const hpt_read_options none = {0};

static void settle(hpt_scheme *s) {
    if (!s) return;
    double equations =
        (double)hpt_scheme_entries(s, HPT_U) * hpt_scheme_entries(s, HPT_V) * hpt_scheme_entries(s, HPT_W);
    if (equations <= CHECKED && s->rank <= 64) (void)hpt_scheme_settle(&s, &none, NULL);
    (void)hpt_scheme_hash(s);
    hpt_scheme_destroy(s);
}

static void read_format(const char *name, const hpt_input *input) {
    hpt_scheme *s = NULL;
    hpt_error error = {0};
    const hpt_format *format = hpt_format_find(name);
    if (!format) abort();
    (void)format->detect(input);
    if (format->read(&s, input, &error) != HPT_OK && (!error.message[0] || s)) abort(); /* refusals say why */
    settle(s);
}

/* The parts of the input under the names that the format looks for. */
static void read_files(const char *name, char *bytes, size_t size) {
    static const char *const paths[2][PARTS] = {
        {"f-ALT_L.sms", "f-ALT_R.sms", "f-ALT_P.sms", "f-CoB_L.sms", "f-CoB_R.sms", "f-CoB_P.sms"},
        {"f_L.slp", "f_R.slp", "f_P.slp", "", "", ""}};
    hpt_input parts[PARTS];
    size_t count = 0;
    for (char *at = bytes, *end = bytes + size; count < PARTS && at <= end; count++) {
        char *cut = memchr(at, 0xff, (size_t)(end - at));
        size_t length = cut ? (size_t)(cut - at) : (size_t)(end - at);
        at[length] = '\0';
        parts[count] = (hpt_input){
            .path = paths[strcmp(name, "slp") == 0][count], .bytes = at, .length = length, .options = &none};
        at += length + 1;
    }
    if (count < 3) return;
    hpt_input first = parts[0];
    first.beside = parts;
    first.beside_count = count;
    read_format(name, &first);
}

static void read_archive(const hpt_input *input) {
    hpt_input inner;
    char *bytes, *path;
    hpt_scheme *s = NULL;
    if (hpt_archive_unpack(&inner, &bytes, &path, input, NULL) == HPT_OK && inner.length <= LARGEST)
        for (size_t i = 0; hpt_format_at(i); i++)
            if (hpt_format_at(i)->detect(&inner) > 0 && hpt_format_at(i)->read(&s, &inner, NULL) == HPT_OK) {
                hpt_scheme_destroy(s);
                s = NULL;
            }
    free(bytes);
    free(path);
}

/* "RING\nVALUE" */
static void read_value(const char *text, size_t size) {
    const char *cut = memchr(text, '\n', size);
    if (!cut || cut - text > 100) return;
    char name[128] = "";
    memcpy(name, text, (size_t)(cut - text));
    hpt_ring ring;
    hpt_value value, inverse;
    hpt_ring_init(&ring);
    hpt_value_init(&value);
    hpt_value_init(&inverse);
    size_t length = size - (size_t)(cut - text) - 1;
    if (hpt_ring_parse(&ring, name, "", NULL) == HPT_OK &&
        hpt_value_parse(&value, &ring, cut + 1, length, NULL, "", NULL) == HPT_OK && length < 100) {
        hpt_value_set_si(&inverse, 1);
        if (hpt_value_div(&inverse, &inverse, &value, &ring)) {
            hpt_value_mul(&inverse, &inverse, &value, &ring);
            if (!hpt_value_is_one(&inverse)) abort();
        }
    }
    hpt_value_clear(&inverse);
    hpt_value_clear(&value);
    hpt_ring_clear(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char name[] = HPT_FUZZ_FORMAT;
    if (size > LARGEST) return 0;
    char *bytes = malloc(size + 1);
    if (!bytes) return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    const hpt_input input = {.path = "fuzz", .bytes = bytes, .length = size, .options = &none};
    if (strcmp(name, "sms") == 0 || strcmp(name, "slp") == 0)
        read_files(name, bytes, size);
    else if (strcmp(name, "archive") == 0)
        read_archive(&input);
    else if (strcmp(name, "value") == 0)
        read_value(bytes, size);
    else
        read_format(name, &input);
    free(bytes);
    return 0;
}
