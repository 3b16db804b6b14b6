/* operand.c - operands of instructions, and what their names mean. */
#include "parser.h"
#include <stdlib.h>
#include <string.h>

bool hpt_ptx_find_register(const hpt_ptx_parser *p, const char *name, size_t length, uint32_t *out) {
    for (size_t i = p->declaration_count; i-- > 0;) {
        const hpt_ptx_declaration *d = &p->declarations[i];
        if (length < d->prefix_length || memcmp(name, d->prefix, d->prefix_length) != 0) continue;
        if (!d->range) {
            if (length != d->prefix_length) continue;
            *out = d->first;
            return true;
        }
        if (length == d->prefix_length || length - d->prefix_length > 7) continue;
        uint32_t number = 0;
        bool digits = true;
        for (size_t k = d->prefix_length; k < length && digits; k++) {
            digits = name[k] >= '0' && name[k] <= '9';
            number = number * 10 + (uint32_t)(name[k] - '0');
        }
        if (!digits || number >= d->count) continue;
        *out = d->first + number;
        return true;
    }
    return false;
}

static bool parse_list(hpt_ptx_parser *p, hpt_ptx_operand *out, char close, int depth) {
    size_t capacity = 0;
    out->kind = HPT_PTX_VECTOR;
    if (hpt_ptx_accept(p, close)) return true;
    do {
        out->items = hpt_ptx_grow(p, out->items, out->count, &capacity, sizeof *out->items);
        if (!out->items) return false;
        if (!hpt_ptx_parse_operand(p, &out->items[out->count], depth + 1)) return false;
        out->count++;
    } while (hpt_ptx_accept(p, ','));
    return hpt_ptx_expect(p, close);
}

static bool parse_number(hpt_ptx_parser *p, hpt_ptx_operand *out, bool minus) {
    out->bits = p->lexer.bits;
    switch (p->lexer.token) {
    case HPT_PTX_NUMBER:
        out->kind = HPT_PTX_INTEGER;
        if (minus) out->bits = 0 - out->bits;
        break;
    case HPT_PTX_REAL:
        out->kind = HPT_PTX_FLOAT;
        if (minus) out->bits ^= 1ull << 63;
        break;
    case HPT_PTX_REAL32:
        out->kind = HPT_PTX_FLOAT_BITS;
        if (minus) out->bits ^= 1ull << 31;
        break;
    default: {
        int length = p->lexer.length > 40 ? 40 : (int)p->lexer.length;
        return hpt_ptx_fail(p, HPT_MALFORMED, "\"%.*s\" is no operand.", length, p->lexer.text);
    }
    }
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

static bool parse_name(hpt_ptx_parser *p, hpt_ptx_operand *out) {
    uint32_t index;
    if (hpt_ptx_lexer_is(&p->lexer, "_")) {
        out->kind = HPT_PTX_SINK;
        hpt_ptx_lexer_next(&p->lexer);
    } else if (hpt_ptx_find_register(p, p->lexer.text, p->lexer.length, &index)) {
        out->kind = HPT_PTX_REGISTER;
        out->index = index;
        hpt_ptx_lexer_next(&p->lexer);
    } else {
        out->kind = p->lexer.text[0] == '%' ? HPT_PTX_SPECIAL : HPT_PTX_NAME;
        out->name = hpt_ptx_take_word(p);
        if (!out->name) return false;
    }
    return true;
}

/* name + 16, name - 16, name+-16, 64 + 16 */
static bool parse_offset(hpt_ptx_parser *p, hpt_ptx_operand *out) {
    while (hpt_ptx_mark(p, '+') || hpt_ptx_mark(p, '-')) {
        bool minus = hpt_ptx_mark(p, '-');
        hpt_ptx_lexer_next(&p->lexer);
        if (hpt_ptx_accept(p, '-')) minus = !minus;
        if (p->lexer.token != HPT_PTX_NUMBER) return hpt_ptx_fail(p, HPT_MALFORMED, "Expected an integer offset.");
        uint64_t value = p->lexer.bits;
        out->offset = (int64_t)(minus ? (uint64_t)out->offset - value : (uint64_t)out->offset + value);
        hpt_ptx_lexer_next(&p->lexer);
    }
    return true;
}

static bool parse_memory(hpt_ptx_parser *p, hpt_ptx_operand *out, int depth) {
    out->kind = HPT_PTX_MEMORY;
    out->items = hpt_arena_alloc(p->arena, 2, sizeof *out->items);
    if (!out->items) return hpt_ptx_fail_memory(p);
    out->count = 1;
    if (!hpt_ptx_parse_operand(p, &out->items[0], depth + 1)) return false;
    if (hpt_ptx_accept(p, ',')) {
        out->count = 2;
        if (!hpt_ptx_parse_operand(p, &out->items[1], depth + 1)) return false;
    }
    out->offset = out->items[0].offset;
    out->items[0].offset = 0;
    return hpt_ptx_expect(p, ']');
}

bool hpt_ptx_parse_operand(hpt_ptx_parser *p, hpt_ptx_operand *out, int depth) {
    if (depth > 4) return hpt_ptx_fail(p, HPT_MALFORMED, "Operands are nested too deeply.");
    if (hpt_ptx_accept(p, '!')) out->negated = true;
    if (hpt_ptx_accept(p, '{')) return parse_list(p, out, '}', depth);
    if (hpt_ptx_accept(p, '(')) return parse_list(p, out, ')', depth);
    if (hpt_ptx_accept(p, '[')) return parse_memory(p, out, depth);
    bool minus = hpt_ptx_accept(p, '-');
    bool ok = p->lexer.token == HPT_PTX_WORD ? parse_name(p, out) : parse_number(p, out, minus);
    if (!ok || !parse_offset(p, out)) return false;
    if (out->kind == HPT_PTX_INTEGER) {
        out->bits += (uint64_t)out->offset;
        out->offset = 0;
    }
    if (hpt_ptx_accept(p, '|')) {
        hpt_ptx_operand first = *out;
        memset(out, 0, sizeof *out);
        out->kind = HPT_PTX_PAIR;
        out->count = 2;
        out->items = hpt_arena_alloc(p->arena, 2, sizeof *out->items);
        if (!out->items) return hpt_ptx_fail_memory(p);
        out->items[0] = first;
        return hpt_ptx_parse_operand(p, &out->items[1], depth + 1);
    }
    return true;
}

static bool find_label(const hpt_ptx_parser *p, const char *name, int scope, hpt_ptx_operand *out) {
    for (; scope >= 0; scope = p->scope_parent[scope])
        for (size_t i = 0; i < p->label_count; i++)
            if (p->labels[i].scope == scope && strcmp(p->labels[i].name, name) == 0) {
                out->kind = p->labels[i].targets ? HPT_PTX_TARGETS : HPT_PTX_LABEL;
                out->index = p->labels[i].index;
                if (p->labels[i].targets) {
                    out->items = p->labels[i].targets->items;
                    out->count = p->labels[i].targets->count;
                }
                return true;
            }
    return false;
}

static hpt_ptx_variable *find_variable(hpt_ptx_variable *list, const char *name) {
    for (; list; list = list->next)
        if (strcmp(list->name, name) == 0) return list;
    return NULL;
}

bool hpt_ptx_resolve(hpt_ptx_parser *p, hpt_ptx_operand *operand, int scope, int line) {
    for (size_t i = 0; i < operand->count; i++)
        if (operand->kind != HPT_PTX_TARGETS && !hpt_ptx_resolve(p, &operand->items[i], scope, line)) return false;
    if (operand->kind != HPT_PTX_NAME) return true;
    if (find_label(p, operand->name, scope, operand)) return true;
    operand->variable = find_variable(p->function->variables, operand->name);
    if (!operand->variable) operand->variable = find_variable(p->function->params, operand->name);
    if (!operand->variable) operand->variable = find_variable(p->module->variables, operand->name);
    if (!operand->variable) {
        p->lexer.line = line;
        return hpt_ptx_fail(p, HPT_MALFORMED, "Nothing is called \"%.80s\".", operand->name);
    }
    operand->kind = HPT_PTX_VARIABLE;
    return true;
}
