/* body.c - the body of an entry: declarations, labels, nested scopes, instructions. */
#include "parser.h"
#include <stdlib.h>
#include <string.h>

static bool open_scope(hpt_ptx_parser *p) {
    if (++p->depth > HPT_PTX_MAX_DEPTH) return hpt_ptx_fail(p, HPT_MALFORMED, "Scopes are nested too deeply.");
    p->scope_parent = hpt_ptx_grow(p, p->scope_parent, p->scope_count, &p->scope_capacity, sizeof *p->scope_parent);
    if (!p->scope_parent) return false;
    p->scope_parent[p->scope_count] = p->scope;
    p->scope = (int)p->scope_count++;
    return true;
}

static bool add_label(hpt_ptx_parser *p, const char *name, hpt_ptx_operand *targets) {
    p->labels = hpt_ptx_grow(p, p->labels, p->label_count, &p->label_capacity, sizeof *p->labels);
    if (!p->labels) return false;
    p->labels[p->label_count++] = (hpt_ptx_label){name, (uint32_t)p->function->instruction_count, p->scope, targets};
    return true;
}

/* .loc file line column[, function_name NAME[+offset], inlined_at file line column] */
static bool parse_location(hpt_ptx_parser *p) {
    uint64_t file, line, column;
    if (!hpt_ptx_expect_integer(p, &file, 1 << 20) || !hpt_ptx_expect_integer(p, &line, 1 << 30) ||
        !hpt_ptx_expect_integer(p, &column, 1 << 30))
        return false;
    p->source_file = (int)file;
    p->source_line = (int)line;
    while (hpt_ptx_accept(p, ',')) {
        if (!hpt_ptx_take_word(p)) return false;
        while (p->lexer.token == HPT_PTX_NUMBER || hpt_ptx_mark(p, '+') ||
               (p->lexer.token == HPT_PTX_WORD && p->lexer.text[0] == '$' && p->lexer.at < p->lexer.end &&
                *p->lexer.at != ':'))
            hpt_ptx_lexer_next(&p->lexer);
    }
    return true;
}

/* NAME: .branchtargets A, B, C; */
static bool parse_branch_targets(hpt_ptx_parser *p, const char *name) {
    hpt_ptx_operand *list = hpt_arena_alloc(p->arena, 1, sizeof *list);
    if (!list) return hpt_ptx_fail_memory(p);
    list->kind = HPT_PTX_TARGETS;
    size_t capacity = 0;
    do {
        list->items = hpt_ptx_grow(p, list->items, list->count, &capacity, sizeof *list->items);
        if (!list->items) return false;
        list->items[list->count].kind = HPT_PTX_NAME;
        list->items[list->count].name = hpt_ptx_take_word(p);
        if (!list->items[list->count++].name) return false;
    } while (hpt_ptx_accept(p, ','));
    return add_label(p, name, list) && hpt_ptx_expect(p, ';');
}

static bool parse_guard(hpt_ptx_parser *p, hpt_ptx_instruction *out) {
    out->guard = -1;
    if (!hpt_ptx_accept(p, '@')) return true;
    out->guard_negated = hpt_ptx_accept(p, '!');
    uint32_t index;
    if (p->lexer.token != HPT_PTX_WORD || !hpt_ptx_find_register(p, p->lexer.text, p->lexer.length, &index) ||
        p->function->registers[index].bytes != 0)
        return hpt_ptx_fail(p, HPT_MALFORMED, "The guard is no predicate register.");
    out->guard = (int)index;
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

static bool parse_operands(hpt_ptx_parser *p, hpt_ptx_instruction *out) {
    size_t capacity = 0;
    while (!hpt_ptx_accept(p, ';')) {
        if (out->count && !hpt_ptx_expect(p, ',')) return false;
        out->operands = hpt_ptx_grow(p, out->operands, out->count, &capacity, sizeof *out->operands);
        if (!out->operands) return false;
        if (!hpt_ptx_parse_operand(p, &out->operands[out->count], 0)) return false;
        out->count++;
    }
    return true;
}

static bool add_instruction(hpt_ptx_parser *p, const hpt_ptx_instruction *instruction) {
    hpt_ptx_function *f = p->function;
    f->instructions =
        hpt_ptx_grow(p, f->instructions, f->instruction_count, &p->instruction_capacity, sizeof *f->instructions);
    p->instruction_scope = hpt_ptx_grow(p, p->instruction_scope, f->instruction_count, &p->instruction_scope_capacity,
                                        sizeof *p->instruction_scope);
    if (!f->instructions || !p->instruction_scope) return false;
    p->instruction_scope[f->instruction_count] = p->scope;
    f->instructions[f->instruction_count++] = *instruction;
    return true;
}

static bool parse_instruction(hpt_ptx_parser *p) {
    hpt_ptx_instruction instruction = {
        .line = p->lexer.line, .source_file = p->source_file, .source_line = p->source_line};
    if (!parse_guard(p, &instruction)) return false;
    instruction.opcode = hpt_ptx_take_word(p);
    if (!instruction.opcode) return false;
    if (instruction.guard < 0 && hpt_ptx_mark(p, ':')) {
        hpt_ptx_lexer_next(&p->lexer);
        if (!hpt_ptx_lexer_is(&p->lexer, ".branchtargets")) return add_label(p, instruction.opcode, NULL);
        hpt_ptx_lexer_next(&p->lexer);
        return parse_branch_targets(p, instruction.opcode);
    }
    return parse_operands(p, &instruction) && add_instruction(p, &instruction);
}

static bool parse_directive(hpt_ptx_parser *p, bool *found) {
    static const struct {
        const char *word;
        int action; /* >= 0: a variable of that space */
    } words[] = {{".shared", HPT_PTX_SHARED},
                 {".local", HPT_PTX_LOCAL},
                 {".global", HPT_PTX_GLOBAL},
                 {".const", HPT_PTX_CONST},
                 {".param", HPT_PTX_LOCAL},
                 {".reg", -1},
                 {".loc", -2},
                 {".pragma", -3}};
    *found = false;
    for (size_t i = 0; i < HPT_COUNT(words); i++) {
        if (!hpt_ptx_lexer_is(&p->lexer, words[i].word)) continue;
        *found = true;
        hpt_ptx_lexer_next(&p->lexer);
        if (words[i].action == -1) return hpt_ptx_parse_registers(p);
        if (words[i].action == -2) return parse_location(p);
        if (words[i].action == -3) {
            hpt_ptx_lexer_next(&p->lexer);
            return hpt_ptx_expect(p, ';');
        }
        bool module_wide = words[i].action == HPT_PTX_GLOBAL || words[i].action == HPT_PTX_CONST;
        return hpt_ptx_parse_variable(p, (hpt_ptx_space)words[i].action, false,
                                      module_wide ? &p->module->variables : &p->function->variables);
    }
    return true;
}

static bool resolve_all(hpt_ptx_parser *p) {
    hpt_ptx_function *f = p->function;
    for (size_t i = 0; i < p->label_count; i++)
        if (p->labels[i].targets)
            for (size_t k = 0; k < p->labels[i].targets->count; k++)
                if (!hpt_ptx_resolve(p, &p->labels[i].targets->items[k], p->labels[i].scope, p->lexer.line))
                    return false;
    for (size_t i = 0; i < f->instruction_count; i++)
        for (size_t k = 0; strncmp(f->instructions[i].opcode, "call", 4) != 0 && k < f->instructions[i].count; k++)
            if (!hpt_ptx_resolve(p, &f->instructions[i].operands[k], p->instruction_scope[i], f->instructions[i].line))
                return false;
    for (hpt_ptx_variable *v = f->variables; v; v = v->next)
        if (v->space == HPT_PTX_LOCAL) {
            f->local_bytes = (f->local_bytes + v->align - 1) / v->align * v->align;
            v->address = f->local_bytes;
            f->local_bytes += v->bytes;
        }
    return true;
}

bool hpt_ptx_parse_body(hpt_ptx_parser *p) {
    if (!hpt_ptx_expect(p, '{')) return false;
    p->depth = 0;
    p->scope = -1;
    size_t visible[HPT_PTX_MAX_DEPTH + 2] = {0}; /* declarations before each open scope */
    if (!open_scope(p)) return false;
    while (p->depth > 0) {
        bool found = false;
        if (p->lexer.token == HPT_PTX_END)
            return hpt_ptx_fail(p, HPT_MALFORMED, "The body of %s never ends.", p->function->name);
        if (hpt_ptx_accept(p, '{')) {
            if (!open_scope(p)) return false;
            visible[p->depth] = p->declaration_count;
        } else if (hpt_ptx_accept(p, '}')) {
            p->scope = p->scope_parent[p->scope];
            p->declaration_count = visible[p->depth];
            p->depth--;
        } else if (hpt_ptx_mark(p, ';')) {
            hpt_ptx_lexer_next(&p->lexer);
        } else {
            if (p->lexer.token == HPT_PTX_WORD && !parse_directive(p, &found)) return false;
            if (!found && !parse_instruction(p)) return false;
        }
    }
    return resolve_all(p);
}
