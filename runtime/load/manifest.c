#include "load/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    hpt_element element;
    size_t bytes;
} types[] = {{"f16", HPT_F16, 2},   {"bf16", HPT_BF16, 2}, {"f32", HPT_F32, 4}, {"e4m3", HPT_E4M3, 1},
             {"e5m2", HPT_E5M2, 1}, {"u8", HPT_U8, 1},     {"u32", HPT_U32, 4}};

static const struct {
    const char *name;
    hpt_argument_kind kind;
} kinds[] = {{"tensormap", HPT_ARG_TENSORMAP},
             {"pointer", HPT_ARG_POINTER},
             {"i32", HPT_ARG_I32},
             {"u32", HPT_ARG_U32},
             {"i64", HPT_ARG_I64},
             {"f32", HPT_ARG_F32}};

static const char *const swizzles[] = {"none", "32B", "64B", "128B"};

size_t hpt_type_bytes(const char *type) {
    for (size_t i = 0; i < HPT_COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0) return types[i].bytes;
    return 0;
}

bool hpt_type_element(hpt_element *out, const char *type) {
    for (size_t i = 0; i < HPT_COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0) {
            *out = types[i].element;
            return true;
        }
    return false;
}

static int find_buffer(const hpt_manifest *m, const char *name) {
    for (size_t i = 0; i < m->buffer_count; i++)
        if (strcmp(m->buffer[i].name, name) == 0) return (int)i;
    return -1;
}

static hpt_status read_three(const hpt_formula *out[3], const hpt_reader *r, const json_t *launch, const char *key) {
    json_t *list;
    size_t count;
    hpt_status status = hpt_reader_list(&list, &count, r, launch, key, true);
    if (status == HPT_OK && count != 3) status = hpt_reader_fail(r, key, "Three formulas are needed.");
    for (size_t i = 0; i < 3 && status == HPT_OK; i++)
        status = hpt_reader_formula(&out[i], r, json_array_get(list, i), key, true);
    return status;
}

static hpt_status read_formulas(const hpt_formula *out[5], const hpt_reader *r, const json_t *arg, const char *key,
                                size_t first, size_t rank) {
    json_t *list;
    size_t count;
    hpt_status status = hpt_reader_list(&list, &count, r, arg, key, true);
    if (status == HPT_OK && count != rank - first)
        status = hpt_reader_fail(r, key, "The list's length does not fit the number of dims.");
    for (size_t i = first; i < rank && status == HPT_OK; i++)
        status = hpt_reader_formula(&out[i], r, json_array_get(list, i - first), key, true);
    return status;
}

static hpt_status read_tensormap(hpt_argument *a, const hpt_reader *r, const json_t *arg) {
    hpt_status status = HPT_OK;
    const char *text;
    size_t rank = json_array_size(json_object_get(arg, "dims"));
    if (rank < 1 || rank > 5) return hpt_reader_fail(r, "dims", "A tensor map has 1 to 5 dims.");
    a->rank = (int)rank;
    HPT_TRY(hpt_reader_string(&text, r, arg, "element", NULL));
    if (!hpt_type_element(&a->element, text)) HPT_TRY(hpt_reader_fail(r, "element", "There is no type of this name."));
    HPT_TRY(read_formulas(a->dim, r, arg, "dims", 0, rank));
    HPT_TRY(read_formulas(a->stride, r, arg, "strides", 1, rank));
    HPT_TRY(read_formulas(a->box, r, arg, "box", 0, rank));
    HPT_TRY(hpt_reader_string(&text, r, arg, "swizzle", "none"));
    size_t s = 0;
    while (s < HPT_COUNT(swizzles) && strcmp(swizzles[s], text) != 0) s++;
    if (s == HPT_COUNT(swizzles)) HPT_TRY(hpt_reader_fail(r, "swizzle", "It is none, 32B, 64B or 128B."));
    a->swizzle = (hpt_swizzle)s;
    json_int_t l2 = json_integer_value(json_object_get(arg, "l2"));
    if (l2 != 0 && l2 != 64 && l2 != 128 && l2 != 256) HPT_TRY(hpt_reader_fail(r, "l2", "It is 0, 64, 128 or 256."));
    a->l2 = (uint32_t)l2;
done:
    return status;
}

static hpt_status read_argument(hpt_argument *a, const hpt_manifest *m, const hpt_reader *r, const json_t *arg) {
    static const char *const keys[] = {"type",    "buffer", "element", "offset", "dims", "strides", "box",
                                       "swizzle", "l2",     "value",   "scalar", "name", "comment", NULL};
    hpt_status status = HPT_OK;
    const char *text;
    HPT_TRY(hpt_reader_keys(r, arg, "args", keys));
    HPT_TRY(hpt_reader_string(&text, r, arg, "type", NULL));
    size_t k = 0;
    while (k < HPT_COUNT(kinds) && strcmp(kinds[k].name, text) != 0) k++;
    if (k == HPT_COUNT(kinds)) return hpt_reader_fail(r, "args", "There is no argument type of this name.");
    a->kind = kinds[k].kind;
    a->buffer = a->scalar = -1;
    if (a->kind == HPT_ARG_TENSORMAP || a->kind == HPT_ARG_POINTER) {
        HPT_TRY(hpt_reader_string(&text, r, arg, "buffer", NULL));
        a->buffer = find_buffer(m, text);
        if (a->buffer < 0) return hpt_reader_fail(r, "args", "An argument names a buffer that is not listed.");
        HPT_TRY(hpt_reader_formula(&a->value, r, json_object_get(arg, "offset"), "offset", false));
        if (a->kind == HPT_ARG_TENSORMAP) HPT_TRY(read_tensormap(a, r, arg));
    } else if (a->kind == HPT_ARG_F32) {
        HPT_TRY(hpt_reader_string(&text, r, arg, "scalar", NULL));
        for (size_t i = 0; i < m->scalar_count; i++)
            if (strcmp(m->scalar[i], text) == 0) a->scalar = (int)i;
        if (a->scalar < 0) return hpt_reader_fail(r, "args", "An argument names a scalar that is not listed.");
    } else {
        HPT_TRY(hpt_reader_formula(&a->value, r, json_object_get(arg, "value"), "value", true));
    }
done:
    return status;
}

static hpt_status read_slots(hpt_manifest *m, const hpt_reader *r, const json_t *root) {
    static const char *const buffer_keys[] = {"name", "type", "role", "comment", NULL};
    static const char *const scalar_keys[] = {"name", "type", "comment", NULL};
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    const char **params, *text;
    json_t *list;
    HPT_TRY(hpt_reader_strings(&params, &m->param_count, r, root, "params"));
    for (size_t i = 0; i < m->param_count; i++) {
        int slot;
        HPT_TRY(hpt_reader_name(&slot, r, params[i], "params"));
    }
    HPT_TRY(hpt_reader_name(&m->sms, r, "sms", "params"));
    HPT_TRY(hpt_reader_name(&m->max_clusters, r, "max_clusters", "params"));
    HPT_TRY(hpt_reader_list(&list, &m->buffer_count, r, root, "buffers", true));
    HPT_FAIL_NO_MEMORY(m->buffer = hpt_arena_alloc(m->arena, m->buffer_count + 1, sizeof *m->buffer));
    for (size_t i = 0; i < m->buffer_count; i++) {
        const json_t *item = json_array_get(list, i);
        HPT_TRY(hpt_reader_keys(r, item, "buffers", buffer_keys));
        HPT_TRY(hpt_reader_string(&m->buffer[i].name, r, item, "name", NULL));
        HPT_TRY(hpt_reader_string(&m->buffer[i].type, r, item, "type", NULL));
        HPT_TRY(hpt_reader_string(&m->buffer[i].role, r, item, "role", "in"));
        if (hpt_type_bytes(m->buffer[i].type) == 0)
            HPT_TRY(hpt_reader_fail(r, "buffers", "There is no type of this name."));
    }
    HPT_TRY(hpt_reader_list(&list, &m->scalar_count, r, root, "scalars", false));
    HPT_FAIL_NO_MEMORY(m->scalar = hpt_arena_alloc(m->arena, m->scalar_count + 1, sizeof *m->scalar));
    for (size_t i = 0; i < m->scalar_count; i++) {
        const json_t *item = json_array_get(list, i);
        HPT_TRY(hpt_reader_keys(r, item, "scalars", scalar_keys));
        HPT_TRY(hpt_reader_string(&m->scalar[i], r, item, "name", NULL));
        HPT_TRY(hpt_reader_string(&text, r, item, "type", "f32"));
        if (strcmp(text, "f32") != 0) HPT_TRY(hpt_reader_fail(r, "scalars", "Scalars are f32."));
    }
done:
    return status;
}

static hpt_status read_launch(hpt_manifest *m, const hpt_reader *r, const json_t *root) {
    static const char *const keys[] = {"grid", "block", "cluster", "shared", "overlap", NULL};
    hpt_status status = HPT_OK;
    const json_t *launch = json_object_get(root, "launch");
    HPT_TRY(hpt_reader_keys(r, launch, "launch", keys));
    HPT_TRY(read_three(m->grid, r, launch, "grid"));
    HPT_TRY(read_three(m->block, r, launch, "block"));
    HPT_TRY(read_three(m->cluster, r, launch, "cluster"));
    HPT_TRY(hpt_reader_formula(&m->shared, r, json_object_get(launch, "shared"), "launch.shared", true));
    HPT_TRY(hpt_reader_bool(&m->overlap, r, launch, "overlap", false));
    HPT_TRY(hpt_reader_formula(&m->skip, r, json_object_get(root, "skip"), "skip", false));
done:
    return status;
}

hpt_status hpt_manifest_read(hpt_manifest **out, const char *folder, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *root = NULL, *list;
    hpt_manifest *m = NULL;
    hpt_arena *arena = hpt_arena_create();
    *out = NULL;
    HPT_FAIL_NO_MEMORY(arena);
    HPT_FAIL_NO_MEMORY(m = hpt_arena_alloc(arena, 1, sizeof *m));
    m->arena = arena;
    m->names.arena = arena;
    m->folder = hpt_arena_strdup(arena, folder);
    const char *file = hpt_arena_printf(arena, "%s/manifest.json", folder);
    HPT_FAIL_IF(!m->folder || !file, HPT_NO_MEMORY, folder, "Out of memory.");
    hpt_reader r = {file, arena, &m->names, error};
    HPT_TRY(hpt_reader_open(&root, &r, "heptane-package/1"));
    HPT_TRY(hpt_reader_string(&m->kernel, &r, root, "kernel", NULL));
    HPT_TRY(hpt_reader_string(&m->symbol, &r, root, "symbol", NULL));
    HPT_TRY(hpt_reader_string(&m->scheme, &r, root, "scheme", ""));
    HPT_TRY(hpt_reader_string(&m->scheme_hash, &r, root, "scheme_hash", ""));
    HPT_TRY(hpt_reader_string(&m->target, &r, root, "target", NULL));
    HPT_TRY(hpt_reader_strings(&m->feature, &m->feature_count, &r, root, "features"));
    HPT_TRY(hpt_reader_strings(&m->nvrtc, &m->nvrtc_count, &r, root, "nvrtc"));
    HPT_TRY(read_slots(m, &r, root));
    HPT_TRY(hpt_reader_lets(&m->let, &m->let_count, &r, root));
    HPT_TRY(hpt_reader_requirements(&m->require, &m->require_count, &r, root));
    HPT_TRY(hpt_reader_list(&list, &m->arg_count, &r, root, "args", true));
    HPT_FAIL_NO_MEMORY(m->arg = hpt_arena_alloc(arena, m->arg_count + 1, sizeof *m->arg));
    for (size_t i = 0; i < m->arg_count; i++) HPT_TRY(read_argument(&m->arg[i], m, &r, json_array_get(list, i)));
    HPT_TRY(read_launch(m, &r, root));
    *out = m;
    m = NULL;
    arena = NULL;
done:
    json_decref(root);
    hpt_arena_destroy(arena);
    return status;
}

void hpt_manifest_destroy(hpt_manifest *manifest) {
    if (manifest) hpt_arena_destroy(manifest->arena);
}
