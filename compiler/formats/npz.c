/* AlphaTensor's archive: a zip of .npy files, one scheme each, named n,m,p.npy. A member is (3, entries, R) numbers, or
 * an object array (a pickle) of three such matrices; the third factor is over C^T. FILE#2,2,3 names one; bare .npy
 * files are read too. Every size is checked before anything is unpacked. */
#include "formats/dense.h"
#include "formats/npy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

int hpt_npz_detect(const hpt_input *source);
hpt_status hpt_npz_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

enum { MEMBER_LIMIT = 64 << 20 };

int hpt_npz_detect(const hpt_input *source) {
    if (source->length >= 6 && memcmp(source->bytes, "\x93NUMPY", 6) == 0) return 100;
    return source->length >= 4 && memcmp(source->bytes, "PK\3\4", 4) == 0 ? 60 : 0;
}

/* The wanted member's number: NAME or NAME.npy; the only one if no name was given. */
static hpt_status find_member(zip_uint64_t *index, zip_t *archive, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    zip_int64_t count = zip_get_num_entries(archive, 0);
    char name[256];
    HPT_FAIL_IF(!source->member && count != 1, HPT_USAGE, source->path,
                "The archive has %lld members; name one as FILE#MEMBER, for instance #%s.", (long long)count,
                count > 0 && zip_get_name(archive, 0, 0) ? zip_get_name(archive, 0, 0) : "");
    *index = 0;
    if (!source->member) goto done;
    snprintf(name, sizeof name, "%.200s.npy", source->member);
    zip_int64_t found = zip_name_locate(archive, source->member, 0);
    if (found < 0) found = zip_name_locate(archive, name, 0);
    HPT_FAIL_IF(found < 0, HPT_NOT_FOUND, source->path, "The archive has no member \"%.100s\".", source->member);
    *index = (zip_uint64_t)found;
done:
    return status;
}

static hpt_status unpack(char **out, size_t *length, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    zip_error_t problem;
    zip_stat_t about;
    zip_uint64_t index;
    zip_file_t *file = NULL;
    zip_t *archive = NULL;
    *out = NULL;
    zip_error_init(&problem);
    zip_source_t *bytes = zip_source_buffer_create(source->bytes, source->length, 0, &problem);
    HPT_FAIL_NO_MEMORY(bytes);
    archive = zip_open_from_source(bytes, ZIP_RDONLY, &problem);
    if (!archive) zip_source_free(bytes);
    HPT_FAIL_IF(!archive, HPT_MALFORMED, source->path, "The zip archive is damaged: %s.", zip_error_strerror(&problem));
    HPT_TRY(find_member(&index, archive, source, error));
    HPT_FAIL_IF(zip_stat_index(archive, index, 0, &about) != 0 || !(about.valid & ZIP_STAT_SIZE), HPT_MALFORMED,
                source->path, "The archive does not tell the member's size.");
    HPT_FAIL_IF(about.size > MEMBER_LIMIT, HPT_TOO_LARGE, source->path,
                "The member unpacks to %llu bytes; the limit is %d.", (unsigned long long)about.size, MEMBER_LIMIT);
    file = zip_fopen_index(archive, index, 0);
    HPT_FAIL_IF(!file, HPT_MALFORMED, source->path, "The member cannot be unpacked: %s.", zip_strerror(archive));
    *out = malloc((size_t)about.size + 1);
    HPT_FAIL_NO_MEMORY(*out);
    zip_int64_t got = zip_fread(file, *out, about.size);
    HPT_FAIL_IF(got < 0 || (zip_uint64_t)got != about.size, HPT_MALFORMED, source->path,
                "The member is damaged: it unpacks to %lld of %llu bytes.", (long long)got,
                (unsigned long long)about.size);
    (*out)[about.size] = '\0';
    *length = (size_t)about.size;
done:
    if (file) zip_fclose(file);
    if (archive) zip_discard(archive);
    zip_error_fini(&problem);
    if (status != HPT_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static hpt_status add_array(hpt_dense *dense, int f, const hpt_npy_array *a, hpt_builder *builder, const char *path,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_value value;
    hpt_value_init(&value);
    for (int64_t row = 0; row < a->shape[0]; row++)
        for (int64_t column = 0; column < a->shape[1]; column++) {
            bool fraction = false;
            HPT_FAIL_IF(!hpt_npy_value(&value, a, row, column, &fraction), HPT_MALFORMED, path,
                        "Factor %s holds a number that is not finite.", hpt_factor_name((hpt_factor)f));
            if (fraction) hpt_builder_set_decimal(builder);
            int32_t id = hpt_builder_value(builder, &value);
            HPT_FAIL_IF(!hpt_dense_push(dense, f, id), HPT_NO_MEMORY, "", "Out of memory.");
        }
done:
    hpt_value_clear(&value);
    return status;
}

hpt_status hpt_npz_read(hpt_scheme **out, const hpt_input *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *unpacked = NULL, where[HPT_ERROR_WHERE];
    const char *bytes = source->bytes;
    size_t length = source->length;
    hpt_npy_array arrays[3];
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_dense_layout layout = {.by_entry = true, .transposed = true};
    if (memcmp(bytes, "PK\3\4", 4) == 0) {
        HPT_TRY(unpack(&unpacked, &length, source, error));
        bytes = unpacked;
    }
    snprintf(where, sizeof where, "%.220s%s%.60s", source->path, source->member ? "#" : "",
             source->member ? source->member : "");
    HPT_TRY(hpt_npy_read(arrays, bytes, length, where, error));
    const int64_t entries[3] = {arrays[0].shape[0], arrays[1].shape[0], arrays[2].shape[0]};
    layout.rank = arrays[0].shape[1];
    HPT_FAIL_IF(arrays[1].shape[1] != layout.rank || arrays[2].shape[1] != layout.rank, HPT_LIES, where,
                "The factors have %lld, %lld and %lld products.", (long long)layout.rank, (long long)arrays[1].shape[1],
                (long long)arrays[2].shape[1]);
    HPT_TRY(hpt_shape_from_entries(layout.shape, entries, source, error));
    HPT_TRY(hpt_reader_start(&builder, source, "npz", 1, 1, 1, 1, "Q", error));
    for (int f = 0; f < 3; f++) HPT_TRY(add_array(&dense, f, &arrays[f], builder, where, error));
    HPT_TRY(hpt_dense_finish(out, &dense, builder, source, &layout, error));
done:
    hpt_dense_clear(&dense);
    hpt_builder_destroy(builder);
    free(unpacked);
    return status;
}
