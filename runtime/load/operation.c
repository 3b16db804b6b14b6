#include "load/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const roles[] = {"input", "output", "prepared", "workspace"};
static const char *const phases[] = {"prepare", "run"};

static int find_word(const char *const *words, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) return (int)i;
    return -1;
}

static hpt_status derived_name(int *slot, const hpt_reader *r, const char *prefix, const char *name) {
    char text[120];
    snprintf(text, sizeof text, "%s_%.100s", prefix, name);
    return hpt_reader_name(slot, r, text, name);
}

static hpt_status read_params(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    static const char *const keys[] = {"name", "help", "min", "default", NULL};
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    json_t *list;
    HPT_TRY(hpt_reader_list(&list, &o->param_count, r, root, "params", true));
    HPT_FAIL_NO_MEMORY(o->param = hpt_arena_alloc(o->arena, o->param_count + 1, sizeof *o->param));
    for (size_t i = 0; i < o->param_count; i++) { /* all names first: a default may use any of them */
        const json_t *item = json_array_get(list, i);
        HPT_TRY(hpt_reader_keys(r, item, "params", keys));
        HPT_TRY(hpt_reader_string(&o->param[i].name, r, item, "name", NULL));
        HPT_TRY(hpt_reader_string(&o->param[i].help, r, item, "help", ""));
        HPT_TRY(hpt_reader_name(&o->param[i].slot, r, o->param[i].name, "params"));
    }
    for (size_t i = 0; i < o->param_count; i++) {
        const json_t *item = json_array_get(list, i);
        HPT_TRY(hpt_reader_formula(&o->param[i].min, r, json_object_get(item, "min"), o->param[i].name, false));
        HPT_TRY(
            hpt_reader_formula(&o->param[i].fallback, r, json_object_get(item, "default"), o->param[i].name, false));
    }
done:
    return status;
}

static hpt_status read_scalars(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    static const char *const keys[] = {"name", "help", "default", NULL};
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    json_t *list;
    HPT_TRY(hpt_reader_list(&list, &o->scalar_count, r, root, "scalars", false));
    HPT_FAIL_NO_MEMORY(o->scalar = hpt_arena_alloc(o->arena, o->scalar_count + 1, sizeof *o->scalar));
    for (size_t i = 0; i < o->scalar_count; i++) {
        const json_t *item = json_array_get(list, i), *fallback = json_object_get(item, "default");
        hpt_operation_scalar *s = &o->scalar[i];
        HPT_TRY(hpt_reader_keys(r, item, "scalars", keys));
        HPT_TRY(hpt_reader_string(&s->name, r, item, "name", NULL));
        if (!json_is_number(fallback))
            HPT_TRY(hpt_reader_fail(r, s->name, "A scalar needs a default that is a number."));
        s->fallback = json_number_value(fallback);
        HPT_TRY(derived_name(&s->one, r, "one", s->name));
        HPT_TRY(derived_name(&s->zero, r, "zero", s->name));
    }
done:
    return status;
}

/* Buffers come in two passes: their has_ and align_ names belong above the lets, their formulas may use the lets. */
static hpt_status read_buffers(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    static const char *const keys[] = {"name", "role", "type", "bytes", "optional", "zero", "help", NULL};
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    json_t *list;
    const char *text;
    HPT_TRY(hpt_reader_list(&list, &o->buffer_count, r, root, "buffers", true));
    HPT_FAIL_NO_MEMORY(o->buffer = hpt_arena_alloc(o->arena, o->buffer_count + 1, sizeof *o->buffer));
    for (size_t i = 0; i < o->buffer_count; i++) {
        const json_t *item = json_array_get(list, i);
        hpt_operation_buffer *b = &o->buffer[i];
        HPT_TRY(hpt_reader_keys(r, item, "buffers", keys));
        HPT_TRY(hpt_reader_string(&b->name, r, item, "name", NULL));
        HPT_TRY(hpt_reader_string(&b->type, r, item, "type", NULL));
        if (hpt_type_bytes(b->type) == 0) HPT_TRY(hpt_reader_fail(r, b->name, "There is no type of this name."));
        HPT_TRY(hpt_reader_string(&text, r, item, "role", NULL));
        int role = find_word(roles, HPT_COUNT(roles), text);
        if (role < 0) HPT_TRY(hpt_reader_fail(r, b->name, "A role is input, output, prepared or workspace."));
        b->role = (hpt_role)role;
        HPT_TRY(hpt_reader_bool(&b->zero, r, item, "zero", false));
        HPT_TRY(derived_name(&b->has, r, "has", b->name));
        HPT_TRY(derived_name(&b->align, r, "align", b->name));
    }
done:
    return status;
}

static hpt_status read_buffer_formulas(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    hpt_status status = HPT_OK;
    const json_t *list = json_object_get(root, "buffers");
    for (size_t i = 0; i < o->buffer_count; i++) {
        const json_t *item = json_array_get(list, i);
        hpt_operation_buffer *b = &o->buffer[i];
        HPT_TRY(hpt_reader_formula(&b->bytes, r, json_object_get(item, "bytes"), b->name, true));
        const json_t *optional = json_object_get(item, "optional");
        if (json_is_boolean(optional))
            HPT_TRY(hpt_formula_constant(&b->optional, o->arena, json_is_true(optional)));
        else
            HPT_TRY(hpt_reader_formula(&b->optional, r, optional, b->name, false));
    }
done:
    return status;
}

static int find_op_buffer(const hpt_operation *o, const char *name) {
    for (size_t i = 0; name && i < o->buffer_count; i++)
        if (strcmp(o->buffer[i].name, name) == 0) return (int)i;
    return -1;
}

static int find_op_scalar(const hpt_operation *o, const char *name) {
    for (size_t i = 0; name && i < o->scalar_count; i++)
        if (strcmp(o->scalar[i].name, name) == 0) return (int)i;
    return -1;
}

static hpt_status unbound(const hpt_reader *r, const hpt_manifest *m, const char *what, const char *name) {
    char reason[320];
    snprintf(reason, sizeof reason,
             "The step of package \"%.100s\" does not bind its %s \"%.100s\" to anything usable.", m->kernel, what,
             name);
    return hpt_reader_fail(r, "steps", reason);
}

static bool package_has(const hpt_manifest *m, const char *key) {
    for (size_t i = 0; i < m->param_count; i++)
        if (strcmp(m->names.name[i], key) == 0) return true;
    for (size_t i = 0; i < m->buffer_count; i++)
        if (strcmp(m->buffer[i].name, key) == 0) return true;
    for (size_t i = 0; i < m->scalar_count; i++)
        if (strcmp(m->scalar[i], key) == 0) return true;
    return false;
}

static hpt_status read_bindings(hpt_operation_step *s, const hpt_operation *o, const hpt_reader *r,
                                const json_t *bind) {
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    const hpt_manifest *m = s->package;
    HPT_FAIL_NO_MEMORY(s->param = hpt_arena_alloc(o->arena, m->param_count + 1, sizeof *s->param));
    HPT_FAIL_NO_MEMORY(s->buffer = hpt_arena_alloc(o->arena, m->buffer_count + 1, sizeof *s->buffer));
    HPT_FAIL_NO_MEMORY(s->scalar = hpt_arena_alloc(o->arena, m->scalar_count + 1, sizeof *s->scalar));
    for (size_t i = 0; i < m->param_count; i++) {
        const json_t *value = json_object_get(bind, m->names.name[i]);
        if (!value) HPT_TRY(unbound(r, m, "parameter", m->names.name[i]));
        HPT_TRY(hpt_reader_formula(&s->param[i], r, value, m->names.name[i], true));
    }
    for (size_t i = 0; i < m->buffer_count; i++) {
        s->buffer[i] = find_op_buffer(o, json_string_value(json_object_get(bind, m->buffer[i].name)));
        if (s->buffer[i] < 0) HPT_TRY(unbound(r, m, "buffer", m->buffer[i].name));
    }
    for (size_t i = 0; i < m->scalar_count; i++) {
        const json_t *value = json_object_get(bind, m->scalar[i]);
        s->scalar[i] = (hpt_step_scalar){find_op_scalar(o, json_string_value(value)), json_number_value(value)};
        if (s->scalar[i].index < 0 && !json_is_number(value)) HPT_TRY(unbound(r, m, "scalar", m->scalar[i]));
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)bind, key, value) {
        if (!package_has(m, key)) HPT_TRY(unbound(r, m, "(missing) name", key));
    }
done:
    return status;
}

/* Steps that launch the same package share its record. */
static hpt_manifest *shared_package(const hpt_operation *o, size_t before, const char *folder) {
    for (size_t i = 0; i < before; i++)
        if (strcmp(o->step[i].package->folder, folder) == 0) return o->step[i].package;
    return NULL;
}

static hpt_status read_steps(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    static const char *const keys[] = {"package", "phase", "when", "bind", NULL};
    hpt_status status = HPT_OK;
    hpt_error *error = r->error;
    json_t *list;
    const char *text;
    HPT_TRY(hpt_reader_list(&list, &o->step_count, r, root, "steps", true));
    HPT_FAIL_NO_MEMORY(o->step = hpt_arena_alloc(o->arena, o->step_count + 1, sizeof *o->step));
    for (size_t i = 0; i < o->step_count; i++) {
        const json_t *item = json_array_get(list, i);
        hpt_operation_step *s = &o->step[i];
        HPT_TRY(hpt_reader_keys(r, item, "steps", keys));
        HPT_TRY(hpt_reader_string(&text, r, item, "phase", "run"));
        int phase = find_word(phases, HPT_COUNT(phases), text);
        if (phase < 0) HPT_TRY(hpt_reader_fail(r, "steps", "A phase is prepare or run."));
        s->phase = (hpt_phase)phase;
        HPT_TRY(hpt_reader_formula(&s->when, r, json_object_get(item, "when"), "when", false));
        HPT_TRY(hpt_reader_string(&text, r, item, "package", NULL));
        if (strstr(text, "..") || text[0] == '/')
            HPT_TRY(hpt_reader_fail(r, "steps", "A package is a folder inside the operation's folder."));
        char *folder = hpt_arena_printf(o->arena, "%s/%s", o->folder, text);
        HPT_FAIL_NO_MEMORY(folder);
        s->package = shared_package(o, i, folder);
        if (!s->package) HPT_TRY(hpt_manifest_read(&s->package, folder, error));
        HPT_TRY(read_bindings(s, o, r, json_object_get(item, "bind")));
    }
done:
    return status;
}

static hpt_status read_heading(hpt_operation *o, const hpt_reader *r, const json_t *root) {
    hpt_status status = HPT_OK;
    const json_t *scheme = json_object_get(root, "scheme"), *types = json_object_get(root, "types"),
                 *numerics = json_object_get(root, "numerics");
    HPT_TRY(hpt_reader_string(&o->op, r, root, "op", NULL));
    HPT_TRY(hpt_reader_string(&o->target, r, root, "target", NULL));
    HPT_TRY(hpt_reader_string(&o->scheme, r, scheme, "name", ""));
    HPT_TRY(hpt_reader_string(&o->scheme_hash, r, scheme, "hash", ""));
    o->n = json_integer_value(json_object_get(scheme, "n"));
    o->m = json_integer_value(json_object_get(scheme, "m"));
    o->p = json_integer_value(json_object_get(scheme, "p"));
    o->rank = json_integer_value(json_object_get(scheme, "rank"));
    o->writes = json_integer_value(json_object_get(scheme, "writes"));
    HPT_TRY(hpt_reader_string(&o->type_x, r, types, "x", "f16"));
    HPT_TRY(hpt_reader_string(&o->type_y, r, types, "y", o->type_x));
    HPT_TRY(hpt_reader_string(&o->type_c, r, types, "c", o->type_x));
    HPT_TRY(hpt_reader_string(&o->type_forms, r, types, "forms", o->type_x));
    o->options = json_incref(json_object_get(root, "options"));
    o->bound = json_number_value(json_object_get(numerics, "bound"));
    json_t *finished = json_object_get(numerics, "bound_finished");
    o->bound_finished = finished ? json_number_value(finished) : o->bound;
    o->growth = json_number_value(json_object_get(numerics, "growth"));
done:
    return status;
}

hpt_status hpt_operation_read(hpt_operation **out, const char *folder, hpt_error *error) {
    hpt_status status = HPT_OK;
    json_t *root = NULL;
    hpt_operation *o = NULL;
    hpt_arena *arena = hpt_arena_create();
    *out = NULL;
    HPT_FAIL_NO_MEMORY(arena);
    o = hpt_arena_alloc(arena, 1, sizeof *o);
    if (!o) hpt_arena_destroy(arena);
    HPT_FAIL_NO_MEMORY(o);
    o->arena = arena;
    o->names.arena = arena;
    o->folder = hpt_arena_strdup(arena, folder);
    const char *file = hpt_arena_printf(arena, "%s/op.json", folder);
    HPT_FAIL_IF(!o->folder || !file, HPT_NO_MEMORY, folder, "Out of memory.");
    hpt_reader r = {file, arena, &o->names, error};
    HPT_TRY(hpt_reader_open(&root, &r, "heptane-op/1"));
    HPT_TRY(read_heading(o, &r, root));
    HPT_TRY(hpt_reader_name(&o->sms, &r, "sms", "params"));
    HPT_TRY(read_params(o, &r, root));
    HPT_TRY(read_scalars(o, &r, root));
    HPT_TRY(read_buffers(o, &r, root));
    HPT_TRY(hpt_reader_lets(&o->let, &o->let_count, &r, root));
    HPT_TRY(hpt_reader_requirements(&o->require, &o->require_count, &r, root));
    HPT_TRY(read_buffer_formulas(o, &r, root));
    HPT_TRY(read_steps(o, &r, root));
    *out = o;
    o = NULL;
done:
    json_decref(root);
    hpt_operation_destroy(o);
    return status;
}

void hpt_operation_destroy(hpt_operation *operation) {
    if (!operation) return;
    for (size_t i = operation->step ? operation->step_count : 0; i-- > 0;) {
        hpt_manifest *package = operation->step[i].package;
        if (package && !shared_package(operation, i, package->folder)) hpt_manifest_destroy(package);
    }
    json_decref(operation->options);
    hpt_arena_destroy(operation->arena);
}
