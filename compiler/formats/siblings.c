#include "formats/siblings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hpt_siblings_clear(hpt_siblings *s) {
    for (int f = 0; f < 3; f++) {
        free((char *)s->source[f].path);
        free((char *)s->source[f].bytes);
    }
    *s = (hpt_siblings){0};
}

static hpt_status read_one(hpt_input *out, const char *path, const hpt_input *like, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *bytes = NULL;
    for (size_t i = 0; i < like->beside_count && !bytes; i++) {
        const hpt_input *other = &like->beside[i];
        if (strcmp(other->path, path) != 0) continue;
        bytes = calloc(other->length + 1, 1);
        HPT_FAIL_NO_MEMORY(bytes);
        memcpy(bytes, other->bytes, other->length);
        out->length = other->length;
    }
    if (!bytes) HPT_TRY(hpt_file_read(&bytes, &out->length, path, HPT_FILE_LIMIT, error));
    out->bytes = bytes;
    out->options = like->options;
    out->beside = like->beside;
    out->beside_count = like->beside_count;
    out->path = strdup(path);
    HPT_FAIL_NO_MEMORY(out->path);
done:
    return status;
}

hpt_status hpt_siblings_read(hpt_siblings *out, const hpt_input *source, const char *extension, hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[HPT_SIBLINGS_PATH];
    size_t length = strlen(source->path), tail = strlen(extension);
    *out = (hpt_siblings){0};
    HPT_FAIL_IF(length >= sizeof path || length < tail + 2 || strcmp(source->path + length - tail, extension) != 0 ||
                    source->path[length - tail - 2] != '_' || !strchr("LRP", source->path[length - tail - 1]),
                HPT_UNSUPPORTED, source->path,
                "A scheme of this format is three files, NAME_L%s, NAME_R%s and NAME_P%s; name the first.", extension,
                extension, extension);
    memcpy(path, source->path, length + 1);
    for (int f = 0; f < 3; f++) {
        path[length - tail - 1] = "LRP"[f];
        HPT_TRY(read_one(&out->source[f], path, source, error));
    }
done:
    if (status != HPT_OK) hpt_siblings_clear(out);
    return status;
}

hpt_status hpt_siblings_other(hpt_siblings *out, const hpt_siblings *these, const char *from, const char *to,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[HPT_SIBLINGS_PATH];
    *out = (hpt_siblings){0};
    for (int f = 0; f < 3; f++) {
        const char *old = these->source[f].path, *at = strstr(old, from);
        for (const char *next = at; next; next = strstr(next + 1, from)) at = next; /* the last one */
        HPT_FAIL_IF(!at || snprintf(path, sizeof path, "%.*s%s%s", (int)(at - old), old, to, at + strlen(from)) >=
                               (int)sizeof path,
                    HPT_UNSUPPORTED, old, "The name has no \"%s\" in it.", from);
        HPT_TRY(read_one(&out->source[f], path, &these->source[f], error));
    }
done:
    if (status != HPT_OK) hpt_siblings_clear(out);
    return status;
}
