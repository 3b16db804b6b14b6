#include "formats/npy.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hpt_npy_type_parse(hpt_npy_type *out, const char *text, size_t length) {
    size_t at = 0;
    *out = (hpt_npy_type){0};
    if (length > 0 && strchr("<>|=", text[0]) && text[0]) {
        out->big_endian = text[0] == '>';
        at = 1;
    }
    if (at >= length || !strchr("iufbO", text[at]) || !text[at]) return false;
    out->kind = text[at++];
    if (out->kind == 'O') return true; /* "O" or "O8" */
    if (at + 1 != length || !isdigit((unsigned char)text[at])) return false;
    out->size = text[at] - '0';
    if (out->kind == 'f') return out->size == 4 || out->size == 8;
    if (out->kind == 'b') return out->size == 1;
    return out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8;
}

bool hpt_npy_value(hpt_value *out, const hpt_npy_array *a, int64_t row, int64_t column, bool *fraction) {
    int64_t cell = a->by_columns ? column * a->shape[0] + row : row * a->shape[1] + column;
    const unsigned char *from = a->data + cell * a->type.size;
    uint64_t bits = 0;
    for (int i = 0; i < a->type.size; i++) bits = bits << 8 | from[a->type.big_endian ? i : a->type.size - 1 - i];
    if (a->type.kind == 'f') {
        double number;
        if (a->type.size == 4) {
            uint32_t half = (uint32_t)bits;
            float single;
            memcpy(&single, &half, sizeof single);
            number = (double)single;
        } else {
            memcpy(&number, &bits, sizeof number);
        }
        if (!isfinite(number)) return false;
        mpq_t rational;
        fmpq_t exact;
        mpq_init(rational);
        fmpq_init(exact);
        mpq_set_d(rational, number);
        fmpq_set_mpq(exact, rational);
        hpt_value_set_fmpq(out, exact);
        fmpq_clear(exact);
        mpq_clear(rational);
        *fraction = number != floor(number);
        return true;
    }
    int unused = 64 - 8 * a->type.size;
    int64_t number = a->type.kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    hpt_value_set_si(out, number);
    return true;
}

/* The text behind 'key': in the header, which is a Python dictionary. */
static const char *find_key(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == ':') at++;
    return at;
}

static hpt_status read_header(hpt_npy_array *whole, int64_t shape[3], int *dimensions, const char *header,
                              const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *type = find_key(header, "'descr'"), *order = find_key(header, "'fortran_order'"),
               *sizes = find_key(header, "'shape'");
    HPT_FAIL_IF(!type || !order || !sizes || *type != '\'' || *sizes != '(', HPT_MALFORMED, where,
                "The .npy header does not give descr, fortran_order and shape.");
    size_t length = strcspn(type + 1, "'");
    HPT_FAIL_IF(!hpt_npy_type_parse(&whole->type, type + 1, length), HPT_UNSUPPORTED, where,
                "Numbers of type \"%.*s\" are not read.", (int)(length < 40 ? length : 40), type + 1);
    whole->by_columns = strncmp(order, "True", 4) == 0;
    *dimensions = 0;
    for (const char *at = sizes + 1; *at && *at != ')';) {
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        char *end;
        HPT_FAIL_IF(*dimensions == 3, HPT_UNSUPPORTED, where, "The array has more than three dimensions.");
        shape[(*dimensions)++] = strtoll(at, &end, 10);
        at = end;
    }
done:
    return status;
}

hpt_status hpt_npy_read(hpt_npy_array out[3], const char *bytes, size_t length, const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_npy_array whole = {0};
    int64_t shape[3] = {0, 0, 0};
    int dimensions;
    char header[512];
    HPT_FAIL_IF(length < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0, HPT_MALFORMED, where, "This is not a .npy array.");
    const unsigned char *u = (const unsigned char *)bytes;
    size_t start = u[6] == 1 ? 10 : 12,
           size = u[6] == 1 ? u[8] + 256u * u[9] : u[8] + 256u * u[9] + 65536u * u[10] + 16777216u * (size_t)u[11];
    HPT_FAIL_IF(size >= sizeof header || start + size > length, HPT_MALFORMED, where, "The .npy header is damaged.");
    memcpy(header, bytes + start, size);
    header[size] = '\0';
    HPT_TRY(read_header(&whole, shape, &dimensions, header, where, error));
    bytes += start + size;
    length -= start + size;
    if (whole.type.kind == 'O') return hpt_pickle_read(out, bytes, length, where, error);
    HPT_FAIL_IF(dimensions != 3 || shape[0] != 3 || shape[1] < 1 || shape[2] < 1 || shape[1] > 1 << 20 ||
                    shape[2] > 1 << 24,
                HPT_UNSUPPORTED, where, "The array should have the shape (3, entries, rank).");
    HPT_FAIL_IF(whole.by_columns, HPT_UNSUPPORTED, where, "Three-dimensional arrays in Fortran order are not read.");
    size_t one = (size_t)shape[1] * (size_t)shape[2] * (size_t)whole.type.size;
    HPT_FAIL_IF(length != 3 * one, HPT_LIES, where, "%zu bytes of numbers are expected, %zu are there.", 3 * one,
                length);
    for (int f = 0; f < 3; f++) {
        out[f] = whole;
        out[f].shape[0] = shape[1], out[f].shape[1] = shape[2];
        out[f].data = (const unsigned char *)bytes + (size_t)f * one;
    }
done:
    return status;
}
