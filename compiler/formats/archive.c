#include "formats/archive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

/* The wanted member's number: NAME or NAME.npy; the only one if no name was given. */
static hpt_status find_member(zip_uint64_t *index, zip_t *archive, const hpt_input *input, hpt_error *error) {
    hpt_status status = HPT_OK;
    zip_int64_t count = zip_get_num_entries(archive, 0);
    char name[256];
    const char *first = count > 0 ? zip_get_name(archive, 0, 0) : NULL;
    HPT_FAIL_IF(!input->member && count != 1, HPT_USAGE, input->path,
                "The archive has %lld members; name one as FILE#MEMBER, for instance #%.100s.", (long long)count,
                first ? first : "");
    *index = 0;
    if (!input->member) goto done;
    snprintf(name, sizeof name, "%.200s.npy", input->member);
    zip_int64_t found = zip_name_locate(archive, input->member, 0);
    if (found < 0) found = zip_name_locate(archive, name, 0);
    HPT_FAIL_IF(found < 0, HPT_NOT_FOUND, input->path, "The archive has no member \"%.100s\".", input->member);
    *index = (zip_uint64_t)found;
done:
    return status;
}

static hpt_status unpack_member(char **out, size_t *length, zip_t *archive, zip_uint64_t index, const hpt_input *input,
                                hpt_error *error) {
    hpt_status status = HPT_OK;
    zip_stat_t about;
    zip_file_t *file = NULL;
    HPT_FAIL_IF(zip_stat_index(archive, index, 0, &about) != 0 || !(about.valid & ZIP_STAT_SIZE), HPT_MALFORMED,
                input->path, "The archive does not tell the member's size.");
    HPT_FAIL_IF(about.size > HPT_MEMBER_LIMIT, HPT_TOO_LARGE, input->path,
                "The member unpacks to %llu bytes; the limit is %d.", (unsigned long long)about.size, HPT_MEMBER_LIMIT);
    file = zip_fopen_index(archive, index, 0);
    HPT_FAIL_IF(!file, HPT_MALFORMED, input->path, "The member cannot be unpacked: %s.", zip_strerror(archive));
    *out = malloc((size_t)about.size + 1);
    HPT_FAIL_NO_MEMORY(*out);
    zip_int64_t got = zip_fread(file, *out, about.size);
    HPT_FAIL_IF(got < 0 || (zip_uint64_t)got != about.size, HPT_MALFORMED, input->path,
                "The member is damaged: it unpacks to %lld of %llu bytes.", (long long)got,
                (unsigned long long)about.size);
    (*out)[about.size] = '\0';
    *length = (size_t)about.size;
done:
    if (file) zip_fclose(file);
    return status;
}

static hpt_status unpack_zip(char **out, size_t *length, const hpt_input *input, hpt_error *error) {
    hpt_status status = HPT_OK;
    zip_error_t problem;
    zip_uint64_t index;
    zip_t *archive = NULL;
    zip_error_init(&problem);
    zip_source_t *bytes = zip_source_buffer_create(input->bytes, input->length, 0, &problem);
    HPT_FAIL_NO_MEMORY(bytes);
    archive = zip_open_from_source(bytes, ZIP_RDONLY, &problem);
    if (!archive) zip_source_free(bytes);
    HPT_FAIL_IF(!archive, HPT_MALFORMED, input->path, "The zip archive is damaged: %s.", zip_error_strerror(&problem));
    HPT_TRY(find_member(&index, archive, input, error));
    HPT_TRY(unpack_member(out, length, archive, index, input, error));
done:
    if (archive) zip_discard(archive);
    zip_error_fini(&problem);
    return status;
}

static hpt_status unpack_gzip(char **out, size_t *length, const hpt_input *input, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text text = {0};
    unsigned char buffer[65536];
    z_stream stream = {.next_in = (unsigned char *)input->bytes, .avail_in = (unsigned)input->length};
    HPT_FAIL_IF(inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK, HPT_NO_MEMORY, "", "Out of memory.");
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = buffer;
        stream.avail_out = sizeof buffer;
        result = inflate(&stream, Z_NO_FLUSH);
        hpt_text_add(&text, (char *)buffer, sizeof buffer - stream.avail_out);
        HPT_FAIL_IF(text.length > HPT_MEMBER_LIMIT, HPT_TOO_LARGE, input->path,
                    "The file unpacks to more than %d bytes, the limit.", HPT_MEMBER_LIMIT);
        HPT_FAIL_IF(text.failed, HPT_NO_MEMORY, "", "Out of memory.");
    }
    HPT_FAIL_IF(result != Z_STREAM_END, HPT_MALFORMED, input->path,
                "The gzip file is damaged after %zu unpacked bytes.", text.length);
    *out = text.data;
    *length = text.length;
    text = (hpt_text){0};
done:
    inflateEnd(&stream);
    hpt_text_clear(&text);
    return status;
}

hpt_status hpt_archive_unpack(hpt_input *out, char **bytes, char **path, const hpt_input *input, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text name = {0};
    *out = *input;
    *bytes = *path = NULL;
    bool zip = input->length >= 4 && memcmp(input->bytes, "PK\3\4", 4) == 0;
    bool gzip = input->length >= 3 && memcmp(input->bytes, "\x1f\x8b\x08", 3) == 0;
    if (!zip && !gzip) return HPT_OK;
    HPT_TRY(zip ? unpack_zip(bytes, &out->length, input, error) : unpack_gzip(bytes, &out->length, input, error));
    hpt_text_puts(&name, input->path);
    if (zip && input->member) hpt_text_printf(&name, "#%s", input->member);
    HPT_FAIL_IF(name.failed, HPT_NO_MEMORY, "", "Out of memory.");
    *path = name.data;
    name = (hpt_text){0};
    out->bytes = *bytes;
    out->path = *path;
    if (zip) out->member = NULL;
done:
    hpt_text_clear(&name);
    if (status != HPT_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}
