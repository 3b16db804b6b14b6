#include "launch_file.h"
#include "half.h"
#include "npy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30, MAX_ARGUMENTS = 256 };

struct hpt_emu_launch_file {
    char *path, *folder;
    json_t *root;
};

/* ---- element types ---- */
typedef struct element {
    const char *name;
    int bytes;
    char kind;
    int map; /* hpt_element of a tensor map, or -1 */
} element;
static const element elements[] = {{"f16", 2, 'f', HPT_F16},   {"bf16", 2, 'u', HPT_BF16}, {"f32", 4, 'f', HPT_F32},
                                   {"f64", 8, 'f', -1},        {"u8", 1, 'u', HPT_U8},     {"i8", 1, 'i', HPT_U8},
                                   {"e4m3", 1, 'u', HPT_E4M3}, {"e5m2", 1, 'u', HPT_E5M2}, {"u16", 2, 'u', -1},
                                   {"i16", 2, 'i', -1},        {"u32", 4, 'u', HPT_U32},   {"i32", 4, 'i', HPT_U32},
                                   {"u64", 8, 'u', -1},        {"i64", 8, 'i', -1}};

static const element *find_element(const char *name) {
    for (size_t i = 0; name && i < HPT_COUNT(elements); i++)
        if (strcmp(elements[i].name, name) == 0) return &elements[i];
    return NULL;
}

static void put(uint8_t *to, const element *e, double value) {
    uint16_t half;
    float single;
    int64_t whole;
    if (e->map == HPT_F16 || e->map == HPT_BF16) {
        half = e->map == HPT_F16 ? hpt_f16_from(value) : hpt_bf16_from_f64(value);
        memcpy(to, &half, 2);
    } else if (e->kind == 'f' && e->bytes == 4) {
        single = (float)value;
        memcpy(to, &single, 4);
    } else if (e->kind == 'f') {
        memcpy(to, &value, 8);
    } else {
        whole = (int64_t)value;
        memcpy(to, &whole, (size_t)e->bytes);
    }
}

/* ---- reading ---- */
hpt_status hpt_emu_launch_file_read(hpt_emu_launch_file **out, const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *text = NULL;
    size_t length;
    json_error_t reason;
    hpt_emu_launch_file *file = calloc(1, sizeof *file);
    HPT_FAIL_NO_MEMORY(file);
    HPT_TRY(hpt_file_read(&text, &length, path, 1 << 24, error));
    file->path = strdup(path);
    file->folder = strdup(path);
    HPT_FAIL_IF(!file->path || !file->folder, HPT_NO_MEMORY, "", "Out of memory.");
    char *slash = strrchr(file->folder, '/');
    if (slash)
        slash[1] = '\0';
    else
        file->folder[0] = '\0';
    file->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%.250s:%d:%d", path, reason.line, reason.column);
    HPT_FAIL_IF(!file->root, HPT_MALFORMED, where, "%s.", reason.text);
    HPT_FAIL_IF(!json_is_object(file->root), HPT_MALFORMED, path, "A launch is a JSON object.");
    *out = file;
    file = NULL;
done:
    hpt_emu_launch_file_close(file);
    free(text);
    return status;
}

void hpt_emu_launch_file_close(hpt_emu_launch_file *file) {
    if (!file) return;
    json_decref(file->root);
    free(file->path);
    free(file->folder);
    free(file);
}

const char *hpt_emu_launch_file_target(const hpt_emu_launch_file *file) {
    return json_string_value(json_object_get(file->root, "target"));
}

/* ---- one run ---- */
typedef struct buffer {
    const char *name;
    const element *type;
    hpt_emu_npy array;
    hpt_device_ptr address;
    bool unwritten;
    const char *save;
} buffer;

typedef struct run {
    const hpt_emu_launch_file *file;
    hpt_emu_device *device;
    buffer *buffers;
    size_t buffer_count;
    uint8_t (*values)[128];
    const void *arguments[MAX_ARGUMENTS];
    size_t sizes[MAX_ARGUMENTS], argument_count;
    hpt_error *error;
} run;

static hpt_status wrong(const run *r, const char *what, const char *format, const char *name) {
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%.200s: %.100s", r->file->path, what);
    return hpt_error_set(r->error, HPT_MALFORMED, where, format, name);
}

static double normal(uint64_t *state) {
    double u = ((double)(hpt_emu_draw(state) >> 11) + 1) * 0x1p-53, v = (double)(hpt_emu_draw(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static hpt_status fill_random(const run *r, buffer *b, const json_t *spec) {
    const char *how = json_string_value(json_object_get(spec, "random"));
    uint64_t state = (uint64_t)json_integer_value(json_object_get(spec, "seed")) * 0x9e3779b97f4a7c15ull + 1;
    const json_t *low_value = json_object_get(spec, "low"), *high_value = json_object_get(spec, "high");
    double low = low_value ? json_number_value(low_value) : -4, high = high_value ? json_number_value(high_value) : 4;
    for (uint64_t k = 0; k < b->array.count; k++) {
        double unit = (double)(hpt_emu_draw(&state) >> 11) * 0x1p-53, value;
        if (strcmp(how, "normal") == 0)
            value = normal(&state);
        else if (strcmp(how, "uniform") == 0)
            value = low + (high - low) * unit;
        else if (strcmp(how, "integers") == 0)
            value = floor(low + (high - low + 1) * unit);
        else
            return wrong(r, b->name, "\"random\" is normal, uniform or integers, not \"%s\".", how);
        put(b->array.data + k * (uint64_t)b->type->bytes, b->type, value);
    }
    return HPT_OK;
}

static hpt_status make_shape(const run *r, buffer *b, const json_t *shape) {
    size_t index;
    json_t *extent;
    if (!json_is_array(shape) || json_array_size(shape) == 0 || json_array_size(shape) > HPT_EMU_NPY_DIMENSIONS)
        return wrong(r, b->name, "\"shape\" must be a list of 1 to 8 integers.%s", "");
    b->array.count = 1;
    b->array.kind = b->type->kind;
    b->array.bytes = b->type->bytes;
    json_array_foreach((json_t *)(uintptr_t)shape, index, extent) {
        json_int_t value = json_integer_value(extent);
        if (value < 1 || (uint64_t)value > MAX_BYTES)
            return wrong(r, b->name, "An extent of \"shape\" is out of range.%s", "");
        b->array.extent[index] = (uint64_t)value;
        b->array.dimensions = (int)index + 1;
        b->array.count *= (uint64_t)value;
        if (b->array.count * (uint64_t)b->type->bytes > MAX_BYTES)
            return wrong(r, b->name, "The buffer is too large.%s", "");
    }
    b->array.data = calloc(b->array.count + 1, (size_t)b->type->bytes);
    return b->array.data ? HPT_OK : hpt_error_set(r->error, HPT_NO_MEMORY, "", "Out of memory.");
}

static char *beside(const run *r, const char *name) {
    hpt_text path = {0};
    if (name[0] != '/') hpt_text_puts(&path, r->file->folder);
    hpt_text_puts(&path, name);
    return path.data;
}

static hpt_status make_buffer(run *r, buffer *b, const char *name, const json_t *spec) {
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    char *path = NULL;
    const char *file = json_string_value(json_object_get(spec, "file")),
               *type = json_string_value(json_object_get(spec, "type"));
    b->name = name;
    b->save = json_string_value(json_object_get(spec, "save"));
    b->type = find_element(type);
    if (type && !b->type) HPT_TRY(wrong(r, name, "There is no element type \"%s\".", type));
    if (file) {
        path = beside(r, file);
        HPT_FAIL_NO_MEMORY(path);
        HPT_TRY(hpt_emu_npy_read(&b->array, path, r->error));
        for (size_t k = 0; !b->type && k < HPT_COUNT(elements); k++)
            if (elements[k].bytes == b->array.bytes && elements[k].kind == b->array.kind && elements[k].map != HPT_BF16)
                b->type = &elements[k];
        if (!b->type || b->type->bytes != b->array.bytes)
            HPT_TRY(wrong(r, name, "\"type\" does not fit the file %s.", file));
    } else {
        if (!b->type) HPT_TRY(wrong(r, name, "A buffer without a \"file\" needs a \"type\".%s", ""));
        HPT_TRY(make_shape(r, b, json_object_get(spec, "shape")));
        const json_t *fill = json_object_get(spec, "fill");
        b->unwritten = !fill && !json_object_get(spec, "random");
        if (json_is_number(fill))
            for (uint64_t k = 0; k < b->array.count; k++)
                put(b->array.data + k * (uint64_t)b->type->bytes, b->type, json_number_value(fill));
        if (json_is_string(json_object_get(spec, "random"))) HPT_TRY(fill_random(r, b, spec));
    }
    size_t bytes = (size_t)b->array.count * (size_t)b->array.bytes;
    HPT_TRY(hpt_backend_emulator.alloc(r->device, &b->address, bytes, r->error));
    if (!b->unwritten) HPT_TRY(hpt_backend_emulator.upload(r->device, b->address, b->array.data, bytes, r->error));
done:
    free(path);
    return status;
}

static buffer *find_buffer(run *r, const char *name) {
    for (size_t k = 0; name && k < r->buffer_count; k++)
        if (strcmp(r->buffers[k].name, name) == 0) return &r->buffers[k];
    return NULL;
}

static void read_list(const json_t *list, uint64_t *out, size_t from, size_t limit) {
    for (size_t k = 0; k < json_array_size(list) && k + from < limit; k++)
        out[k + from] = (uint64_t)json_integer_value(json_array_get(list, k));
}

static hpt_status make_map(run *r, const json_t *spec, uint8_t *out, const char *where) {
    static const char *const swizzles[] = {"none", "32B", "64B", "128B"};
    const buffer *b = find_buffer(r, json_string_value(json_object_get(spec, "buffer")));
    const element *type = find_element(json_string_value(json_object_get(spec, "element")));
    if (!b) return wrong(r, where, "The tensor map names no buffer of the launch.%s", "");
    if (!type) type = b->type;
    if (type->map < 0) return wrong(r, where, "A tensor map cannot have elements of type %s.", type->name);
    hpt_tensor_map map = {.element = (hpt_element)type->map,
                          .rank = (int)json_array_size(json_object_get(spec, "dims"))};
    uint64_t box[5] = {0};
    map.address = b->address + (uint64_t)json_integer_value(json_object_get(spec, "offset"));
    read_list(json_object_get(spec, "dims"), map.dim, 0, 5);
    read_list(json_object_get(spec, "strides"), map.stride, 1, 5);
    read_list(json_object_get(spec, "box"), box, 0, 5);
    if (map.rank > 5 || json_array_size(json_object_get(spec, "box")) != (size_t)map.rank ||
        json_array_size(json_object_get(spec, "strides")) + 1 != (size_t)map.rank)
        return wrong(r, where, "\"box\" needs as many entries as \"dims\", \"strides\" one less.%s", "");
    for (int d = 0; d < map.rank; d++) map.box[d] = box[d] > UINT32_MAX ? UINT32_MAX : (uint32_t)box[d];
    const char *swizzle = json_string_value(json_object_get(spec, "swizzle"));
    size_t which = 0;
    while (swizzle && which < HPT_COUNT(swizzles) && strcmp(swizzles[which], swizzle) != 0) which++;
    if (which == HPT_COUNT(swizzles))
        return wrong(r, where, "\"swizzle\" is none, 32B, 64B or 128B, not \"%s\".", swizzle);
    map.swizzle = (hpt_swizzle)which;
    return hpt_backend_emulator.encode(r->device, out, &map, r->error);
}

static hpt_status make_bytes(run *r, const char *hex, uint8_t *out, size_t *size, const char *where) {
    size_t digits = strlen(hex);
    if (digits % 2 || digits / 2 > 128 || strspn(hex, "0123456789abcdefABCDEF") != digits)
        return wrong(r, where, "\"bytes\" takes at most 128 bytes as pairs of hexadecimal digits.%s", "");
    for (size_t k = 0; k < digits / 2; k++) {
        char pair[3] = {hex[2 * k], hex[2 * k + 1], '\0'};
        out[k] = (uint8_t)strtoul(pair, NULL, 16);
    }
    *size = digits / 2;
    return HPT_OK;
}

static hpt_status make_argument(run *r, size_t index, const json_t *spec) {
    char where[40];
    snprintf(where, sizeof where, "argument %zu", index + 1);
    uint8_t *out = r->values[index];
    const json_t *name = json_object_get(spec, "buffer"), *map = json_object_get(spec, "tensormap"),
                 *bytes = json_object_get(spec, "bytes");
    r->arguments[index] = out;
    if (map) {
        r->sizes[index] = 128;
        return make_map(r, map, out, where);
    }
    if (bytes)
        return make_bytes(r, json_string_value(bytes) ? json_string_value(bytes) : "?", out, &r->sizes[index], where);
    if (name) {
        const buffer *b = find_buffer(r, json_string_value(name));
        if (!b)
            return wrong(r, where, "There is no buffer \"%s\".",
                         json_string_value(name) ? json_string_value(name) : "");
        uint64_t address = b->address + (uint64_t)json_integer_value(json_object_get(spec, "offset"));
        memcpy(out, &address, 8);
        r->sizes[index] = 8;
        return HPT_OK;
    }
    for (size_t k = 0; k < HPT_COUNT(elements); k++) {
        const json_t *value = json_object_get(spec, elements[k].name);
        if (!json_is_number(value)) continue;
        if (json_is_integer(value) && elements[k].kind != 'f') {
            json_int_t whole = json_integer_value(value);
            memcpy(out, &whole, (size_t)elements[k].bytes);
        } else {
            put(out, &elements[k], json_number_value(value));
        }
        r->sizes[index] = (size_t)elements[k].bytes;
        return HPT_OK;
    }
    return wrong(
        r, where,
        "An argument is {\"buffer\"}, {\"tensormap\"}, {\"bytes\"} or a number with its type, as {\"i32\": 5}.%s", "");
}

static hpt_status read_triple(const run *r, const char *key, uint32_t out[3], bool needed) {
    const json_t *list = json_object_get(r->file->root, key);
    for (int d = 0; d < 3; d++) out[d] = 1;
    if (!list && !needed) return HPT_OK;
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > 3)
        return wrong(r, key, "\"%s\" must be a list of one to three integers.", key);
    for (size_t d = 0; d < json_array_size(list); d++) {
        json_int_t value = json_integer_value(json_array_get(list, d));
        if (value < 1 || value > INT32_MAX)
            return wrong(r, key, "\"%s\" must be a list of one to three positive integers.", key);
        out[d] = (uint32_t)value;
    }
    return HPT_OK;
}

static hpt_status make_all(run *r, hpt_launch *launch) {
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    json_t *buffers = json_object_get(r->file->root, "buffers"), *arguments = json_object_get(r->file->root, "args"),
           *spec;
    const char *name;
    size_t index;
    HPT_FAIL_NO_MEMORY(r->buffers = calloc(json_object_size(buffers) + 1, sizeof *r->buffers));
    json_object_foreach(buffers, name, spec) HPT_TRY(make_buffer(r, &r->buffers[r->buffer_count++], name, spec));
    r->argument_count = json_array_size(arguments);
    if (r->argument_count > MAX_ARGUMENTS) HPT_TRY(wrong(r, "args", "More than 256 arguments.%s", ""));
    HPT_FAIL_NO_MEMORY(r->values = calloc(r->argument_count + 1, sizeof *r->values));
    json_array_foreach(arguments, index, spec) HPT_TRY(make_argument(r, index, spec));
    HPT_TRY(read_triple(r, "grid", launch->grid, true));
    HPT_TRY(read_triple(r, "block", launch->block, true));
    HPT_TRY(read_triple(r, "cluster", launch->cluster, false));
    launch->shared_bytes = (uint32_t)json_integer_value(json_object_get(r->file->root, "shared"));
    launch->overlap = json_is_true(json_object_get(r->file->root, "overlap"));
    launch->arguments = r->arguments;
    launch->argument_count = r->argument_count;
    launch->argument_size = r->sizes;
done:
    return status;
}

static hpt_status save_all(run *r) {
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    for (size_t k = 0; k < r->buffer_count; k++) {
        buffer *b = &r->buffers[k];
        if (!b->save) continue;
        HPT_TRY(hpt_backend_emulator.download(r->device, b->array.data, b->address,
                                              (size_t)b->array.count * (size_t)b->array.bytes, r->error));
        char *path = beside(r, b->save);
        HPT_FAIL_NO_MEMORY(path);
        status = hpt_emu_npy_write(path, &b->array, r->error);
        free(path);
        if (status != HPT_OK) goto done;
    }
done:
    return status;
}

hpt_status hpt_emu_launch_file_run(const hpt_emu_launch_file *file, hpt_emu_device *device, const char *ptx,
                                   size_t length, bool save, hpt_error *error) {
    hpt_status status = HPT_OK, result = HPT_OK;
    run r = {.file = file, .device = device, .error = error};
    hpt_launch launch = {0};
    hpt_backend_module *module = NULL;
    HPT_TRY(hpt_backend_emulator.load(device, &module, ptx, length,
                                      json_string_value(json_object_get(file->root, "entry")), error));
    HPT_TRY(make_all(&r, &launch));
    result = hpt_backend_emulator.launch(module, &launch, NULL, error);
    if (result != HPT_OK && result != HPT_EMULATOR) HPT_TRY(result);
    if (save) HPT_TRY(save_all(&r));
done:
    hpt_backend_emulator.unload(module);
    for (size_t k = 0; k < r.buffer_count; k++) {
        hpt_backend_emulator.release(device, r.buffers[k].address);
        hpt_emu_npy_clear(&r.buffers[k].array);
    }
    free(r.buffers);
    free(r.values);
    return status == HPT_OK ? result : status;
}
