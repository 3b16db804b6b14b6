/* A restricted reader of pickles, protocols 2 to 5: a stack machine whose only "calls" are numpy's array and dtype
 * constructors, which it recognises and performs itself. Nothing is ever imported or executed. Opcodes: Python's
 * Lib/pickletools.py, which documents them. */
#include "formats/npy.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 1 << 16, MAX_STACK = 1 << 12, MAX_MEMO = 1 << 14 };

typedef enum item_kind {
    MARK,
    OTHER,
    NUMBER,
    STRING,
    TUPLE,
    LIST,
    GLOBAL_ARRAY,
    GLOBAL_TYPE,
    GLOBAL_RECONSTRUCT,
    ARRAY,
    TYPE
} item_kind;

typedef struct item {
    item_kind kind;
    int64_t number;     /* NUMBER */
    const char *bytes;  /* STRING */
    size_t length;      /* of STRING, TUPLE, LIST */
    struct item **list; /* TUPLE, LIST */
    size_t capacity;
    hpt_npy_array array;   /* ARRAY */
    bool whole;            /* ARRAY: its state was set */
    struct item *contents; /* ARRAY of objects: the list */
    hpt_npy_type type;     /* TYPE */
} item;

typedef struct machine {
    const unsigned char *at, *end;
    item *stack[MAX_STACK], *memo[MAX_MEMO], *items[MAX_ITEMS];
    size_t depth, item_count, memo_next;
    const char *where;
    hpt_error *error;
} machine;

static hpt_status bad(machine *m, const char *what) {
    return hpt_error_set(m->error, HPT_MALFORMED, m->where, "The pickled array cannot be read: %s.", what);
}

static item *new_item(machine *m, item_kind kind) {
    if (m->item_count == MAX_ITEMS || m->depth == MAX_STACK) return NULL;
    item *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    i->kind = kind;
    m->items[m->item_count++] = i;
    m->stack[m->depth++] = i;
    return i;
}

static bool append(item *to, item *what) {
    if (to->length == to->capacity) {
        size_t capacity = to->capacity ? to->capacity * 2 : 4;
        item **list = realloc(to->list, capacity * sizeof *list);
        if (!list) return false;
        to->list = list;
        to->capacity = capacity;
    }
    to->list[to->length++] = what;
    return true;
}

static bool take(machine *m, size_t count, uint64_t *out) { /* little-endian */
    if ((size_t)(m->end - m->at) < count) return false;
    *out = 0;
    for (size_t i = 0; i < count; i++) *out |= (uint64_t)m->at[i] << (8 * i);
    m->at += count;
    return true;
}

static hpt_status push_number(machine *m, size_t bytes, bool is_signed) {
    uint64_t raw;
    if (!take(m, bytes, &raw)) return bad(m, "it ends early");
    item *i = new_item(m, NUMBER);
    if (!i) return bad(m, "it is too large");
    i->number = is_signed && bytes == 4 ? (int32_t)raw : (int64_t)raw;
    return HPT_OK;
}

static hpt_status push_string(machine *m, size_t length_bytes) {
    uint64_t length;
    if (!take(m, length_bytes, &length) || length > (uint64_t)(m->end - m->at)) return bad(m, "it ends early");
    item *i = new_item(m, STRING);
    if (!i) return bad(m, "it is too large");
    i->bytes = (const char *)m->at;
    i->length = (size_t)length;
    m->at += length;
    return HPT_OK;
}

static hpt_status push_global(machine *m, const char *module, size_t module_length, const char *name,
                              size_t name_length) {
    static const struct {
        const char *module, *name;
        item_kind kind;
    } known[] = {{"numpy.core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
                 {"numpy._core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
                 {"numpy", "ndarray", GLOBAL_ARRAY},
                 {"numpy", "dtype", GLOBAL_TYPE}};
    for (size_t k = 0; k < HPT_COUNT(known); k++)
        if (strlen(known[k].module) == module_length && memcmp(known[k].module, module, module_length) == 0 &&
            strlen(known[k].name) == name_length && memcmp(known[k].name, name, name_length) == 0)
            return new_item(m, known[k].kind) ? HPT_OK : bad(m, "it is too large");
    return bad(m, "it names something that is not numpy's array or dtype, which will not be called");
}

static hpt_status read_global(machine *m) {
    const char *module = (const char *)m->at, *end = (const char *)m->end;
    const char *first = memchr(module, '\n', (size_t)(end - module));
    const char *second = first ? memchr(first + 1, '\n', (size_t)(end - first - 1)) : NULL;
    if (!second) return bad(m, "it ends early");
    m->at = (const unsigned char *)second + 1;
    return push_global(m, module, (size_t)(first - module), first + 1, (size_t)(second - first - 1));
}

static item *pop(machine *m) { return m->depth > 0 ? m->stack[--m->depth] : NULL; }

/* The top `count` items, or those above the mark if count is SIZE_MAX, into a tuple or onto a list below the mark. */
static hpt_status gather(machine *m, size_t count, bool onto_list) {
    size_t from = m->depth;
    bool marked = count == SIZE_MAX;
    if (marked) {
        while (from > 0 && m->stack[from - 1]->kind != MARK) from--;
        if (from == 0) return bad(m, "a mark is missing");
    } else {
        if (count > m->depth) return bad(m, "its stack is empty");
        from = m->depth - count;
    }
    size_t to = m->depth, below = marked ? from - 1 : from;
    item *target;
    if (onto_list) {
        target = below > 0 ? m->stack[below - 1] : NULL;
        if (!target || target->kind != LIST) return bad(m, "it appends to something that is no list");
    } else {
        target = new_item(m, TUPLE);
        if (!target) return bad(m, "it is too large");
    }
    for (size_t i = from; i < to; i++)
        if (!append(target, m->stack[i])) return hpt_error_set(m->error, HPT_NO_MEMORY, "", "Out of memory.");
    m->depth = below;
    if (!onto_list) m->stack[m->depth++] = target;
    return HPT_OK;
}

static hpt_status reduce(machine *m) {
    item *arguments = pop(m), *function = pop(m);
    if (!function || arguments->kind != TUPLE) return bad(m, "a call is malformed");
    if (function->kind == GLOBAL_RECONSTRUCT) return new_item(m, ARRAY) ? HPT_OK : bad(m, "it is too large");
    if (function->kind != GLOBAL_TYPE || arguments->length < 1 || arguments->list[0]->kind != STRING)
        return bad(m, "it calls something that is not allowed");
    item *type = new_item(m, TYPE);
    if (!type) return bad(m, "it is too large");
    if (!hpt_npy_type_parse(&type->type, arguments->list[0]->bytes, arguments->list[0]->length))
        return bad(m, "numbers of this type are not read");
    return HPT_OK;
}

/* (version, shape, dtype, fortran_order, data) */
static hpt_status build_array(machine *m, item *a, const item *state) {
    if (state->length != 5 || state->list[1]->kind != TUPLE || state->list[2]->kind != TYPE ||
        state->list[3]->kind != NUMBER)
        return bad(m, "an array's state is malformed");
    const item *shape = state->list[1], *data = state->list[4];
    a->array.type = state->list[2]->type;
    a->array.by_columns = state->list[3]->number != 0;
    a->whole = true;
    if (a->array.type.kind == 'O') {
        if (data->kind != LIST) return bad(m, "an object array has no list");
        a->contents = state->list[4];
        return HPT_OK;
    }
    if (shape->length != 2 || shape->list[0]->kind != NUMBER || shape->list[1]->kind != NUMBER || data->kind != STRING)
        return bad(m, "a matrix is malformed");
    for (int i = 0; i < 2; i++) {
        a->array.shape[i] = shape->list[i]->number;
        if (a->array.shape[i] < 1 || a->array.shape[i] > 1 << 24) return bad(m, "a matrix has an impossible size");
    }
    if (data->length != (size_t)a->array.shape[0] * (size_t)a->array.shape[1] * (size_t)a->array.type.size)
        return bad(m, "a matrix has the wrong number of bytes");
    a->array.data = (const unsigned char *)data->bytes;
    return HPT_OK;
}

static hpt_status build(machine *m) {
    item *state = pop(m), *object = m->depth > 0 ? m->stack[m->depth - 1] : NULL;
    if (!object || state->kind != TUPLE) return bad(m, "a state is malformed");
    if (object->kind == ARRAY) return build_array(m, object, state);
    if (object->kind != TYPE || state->length < 2 || state->list[1]->kind != STRING || state->list[1]->length != 1)
        return bad(m, "a state belongs to nothing");
    object->type.big_endian = state->list[1]->bytes[0] == '>';
    return HPT_OK;
}

static hpt_status put(machine *m, uint64_t index) {
    if (index >= MAX_MEMO || m->depth == 0) return bad(m, "its memo is too large");
    m->memo[index] = m->stack[m->depth - 1];
    return HPT_OK;
}

static hpt_status get(machine *m, size_t bytes) {
    uint64_t index;
    if (!take(m, bytes, &index) || index >= MAX_MEMO || !m->memo[index] || m->depth == MAX_STACK)
        return bad(m, "it uses a memo that was not set");
    m->stack[m->depth++] = m->memo[index];
    return HPT_OK;
}

static hpt_status put_sized(machine *m, size_t bytes) {
    uint64_t index;
    return take(m, bytes, &index) ? put(m, index) : bad(m, "it ends early");
}

static hpt_status push_constant(machine *m, item_kind kind, int64_t number) {
    item *i = new_item(m, kind);
    if (!i) return bad(m, "it is too large");
    i->number = number;
    return HPT_OK;
}

static hpt_status skip_bytes(machine *m, size_t count) {
    uint64_t ignored;
    return take(m, count, &ignored) ? HPT_OK : bad(m, "it ends early");
}

static hpt_status stack_global(machine *m) {
    item *name = pop(m), *module = pop(m);
    if (!module || module->kind != STRING || name->kind != STRING) return bad(m, "a name is malformed");
    return push_global(m, module->bytes, module->length, name->bytes, name->length);
}

static hpt_status step(machine *m, unsigned char code) {
    switch (code) {
    case 0x80:
        return skip_bytes(m, 1); /* PROTO */
    case 0x95:
        return skip_bytes(m, 8); /* FRAME */
    case 'c':
        return read_global(m);
    case 0x93:
        return stack_global(m);
    case 'q':
        return put_sized(m, 1);
    case 'r':
        return put_sized(m, 4);
    case 0x94:
        return put(m, m->memo_next++); /* MEMOIZE */
    case 'h':
        return get(m, 1);
    case 'j':
        return get(m, 4);
    case 'K':
        return push_number(m, 1, false);
    case 'M':
        return push_number(m, 2, false);
    case 'J':
        return push_number(m, 4, true);
    case 'N':
        return push_constant(m, OTHER, 0);
    case 0x88:
        return push_constant(m, NUMBER, 1);
    case 0x89:
        return push_constant(m, NUMBER, 0);
    case '(':
        return push_constant(m, MARK, 0);
    case ']':
        return push_constant(m, LIST, 0);
    case ')':
        return gather(m, 0, false);
    case 0x85:
        return gather(m, 1, false);
    case 0x86:
        return gather(m, 2, false);
    case 0x87:
        return gather(m, 3, false);
    case 't':
        return gather(m, SIZE_MAX, false);
    case 'a':
        return gather(m, 1, true);
    case 'e':
        return gather(m, SIZE_MAX, true);
    case 'X':
    case 'B':
        return push_string(m, 4);
    case 0x8c:
    case 'C':
        return push_string(m, 1);
    case 0x8d:
    case 0x8e:
        return push_string(m, 8);
    case 'R':
        return reduce(m);
    case 'b':
        return build(m);
    default:
        return bad(m, "it has an operation that is not allowed");
    }
}

static hpt_status finish(hpt_npy_array out[3], machine *m) {
    item *top = pop(m);
    if (!top || top->kind != ARRAY || !top->contents || top->contents->length != 3)
        return bad(m, "it is not an object array of three matrices");
    for (size_t f = 0; f < 3; f++) {
        const item *matrix = top->contents->list[f];
        if (matrix->kind != ARRAY || !matrix->whole || !matrix->array.data)
            return bad(m, "it is not an object array of three matrices");
        out[f] = matrix->array;
    }
    return HPT_OK;
}

hpt_status hpt_pickle_read(hpt_npy_array out[3], const char *bytes, size_t length, const char *where,
                           hpt_error *error) {
    machine *m = calloc(1, sizeof *m);
    if (!m) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    m->at = (const unsigned char *)bytes;
    m->end = m->at + length;
    m->where = where;
    m->error = error;
    hpt_status status = HPT_OK;
    bool stopped = false;
    while (status == HPT_OK && m->at < m->end && !stopped) {
        unsigned char code = *m->at++;
        stopped = code == '.';
        if (!stopped) status = step(m, code);
    }
    if (status == HPT_OK) status = stopped ? finish(out, m) : bad(m, "it ends early");
    for (size_t i = 0; i < m->item_count; i++) {
        free(m->items[i]->list);
        free(m->items[i]);
    }
    free(m);
    return status;
}
