#include "npy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { LIMIT = 1 << 30, ALIGN = 64 };

/* the text behind 'key': in the header's dictionary */
static const char *value_of(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " \t");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " \t");
}

static bool parse_shape(const char *at, hpt_emu_npy *out) {
    if (*at++ != '(') return false;
    out->count = 1;
    for (;;) {
        at += strspn(at, " \t,");
        if (*at == ')') return true;
        char *end;
        if (*at < '0' || *at > '9' || out->dimensions == HPT_EMU_NPY_DIMENSIONS) return false;
        uint64_t extent = strtoull(at, &end, 10);
        if (end == at || extent > LIMIT) return false;
        at = end;
        out->extent[out->dimensions++] = extent;
        out->count *= extent;
        if (out->count > LIMIT) return false;
    }
}

static bool parse_header(const char *header, hpt_emu_npy *out) {
    const char *type = value_of(header, "descr"), *order = value_of(header, "fortran_order"),
               *shape = value_of(header, "shape");
    if (!type || !order || !shape || *type != '\'' || strncmp(order, "False", 5) != 0) return false;
    bool little = type[1] == '<' || type[1] == '|';
    out->kind = type[2];
    out->bytes = atoi(type + 3);
    bool known = out->kind == 'f' || out->kind == 'i' || out->kind == 'u' || out->kind == 'b';
    bool size = out->bytes == 1 || out->bytes == 2 || out->bytes == 4 || out->bytes == 8;
    return little && known && size && parse_shape(shape, out);
}

hpt_status hpt_emu_npy_read(hpt_emu_npy *out, const char *path, hpt_error *error) {
    char *file = NULL, *header = NULL;
    size_t length, start, header_length;
    hpt_status status = HPT_OK;
    memset(out, 0, sizeof *out);
    HPT_TRY(hpt_file_read(&file, &length, path, (size_t)LIMIT * 8, error));
    const uint8_t *bytes = (const uint8_t *)file;
    HPT_FAIL_IF(length < 12 || memcmp(bytes, magic, 6) != 0, HPT_MALFORMED, path, "This is no .npy file.");
    start = bytes[6] == 1 ? 10 : 12;
    header_length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) header_length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    HPT_FAIL_IF(header_length > length - start, HPT_MALFORMED, path, "The file is cut off in its header.");
    header = strndup(file + start, header_length);
    HPT_FAIL_NO_MEMORY(header);
    HPT_FAIL_IF(!parse_header(header, out), HPT_UNSUPPORTED, path,
                "Only little-endian numbers in C order can be read; the header says %.200s", header);
    size_t need = (size_t)out->count * (size_t)out->bytes;
    HPT_FAIL_IF(length - start - header_length < need, HPT_LIES, path,
                "The shape needs %zu bytes of data, there are %zu.", need, length - start - header_length);
    out->data = malloc(need + 1);
    HPT_FAIL_NO_MEMORY(out->data);
    memcpy(out->data, file + start + header_length, need);
done:
    free(file);
    free(header);
    return status;
}

hpt_status hpt_emu_npy_write(const char *path, const hpt_emu_npy *array, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text text = {0}, header = {0};
    hpt_text_printf(&header, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", array->bytes == 1 ? '|' : '<',
                    array->kind, array->bytes);
    for (int d = 0; d < array->dimensions; d++)
        hpt_text_printf(&header, "%llu,%s", (unsigned long long)array->extent[d], d + 1 < array->dimensions ? " " : "");
    hpt_text_puts(&header, "), }");
    while ((10 + header.length + 1) % ALIGN && !header.failed) hpt_text_puts(&header, " ");
    hpt_text_puts(&header, "\n");
    HPT_FAIL_IF(header.failed, HPT_NO_MEMORY, "", "Out of memory.");
    const char start[4] = {1, 0, (char)(header.length & 255), (char)(header.length >> 8)};
    hpt_text_add(&text, (const char *)magic, sizeof magic);
    hpt_text_add(&text, start, sizeof start);
    hpt_text_add(&text, header.data, header.length);
    hpt_text_add(&text, (const char *)array->data, (size_t)array->count * (size_t)array->bytes);
    HPT_FAIL_IF(text.failed, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_TRY(hpt_file_write(path, text.data, text.length, error));
done:
    hpt_text_clear(&header);
    hpt_text_clear(&text);
    return status;
}

void hpt_emu_npy_clear(hpt_emu_npy *array) {
    free(array->data);
    memset(array, 0, sizeof *array);
}
