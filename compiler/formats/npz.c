/* numpy's .npy, as in AlphaTensor's archive, a zip of them (archive.h) named n,m,p.npy: (3, entries, R) numbers, or an
 * object array (a pickle) of three such matrices; the third factor is over C^T. */
#include "formats/dense.h"
#include "formats/npy.h"
#include <string.h>

int hpt_npz_detect(const hpt_input *source);
hpt_status hpt_npz_read(hpt_scheme **out, const hpt_input *source, hpt_error *error);

int hpt_npz_detect(const hpt_input *source) {
    return source->length >= 6 && memcmp(source->bytes, "\x93NUMPY", 6) == 0 ? 100 : 0;
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
    const char *where = source->path;
    hpt_npy_array arrays[3];
    hpt_builder *builder = NULL;
    hpt_dense dense = {0};
    hpt_dense_layout layout = {.by_entry = true, .transposed = true};
    HPT_TRY(hpt_npy_read(arrays, source->bytes, source->length, where, error));
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
    return status;
}
