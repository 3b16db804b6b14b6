/* declaration.c - .reg, and variables of every state space. */
#include "parser.h"
#include <stdlib.h>
#include <string.h>

int hpt_ptx_type_bytes(const char *word, size_t length) {
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{".pred", 0},   {".b8", 1},   {".u8", 1},  {".s8", 1},  {".b16", 2}, {".u16", 2},  {".s16", 2},
                 {".f16", 2},    {".bf16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4}, {".f32", 4},  {".f16x2", 4},
                 {".bf16x2", 4}, {".b64", 8},  {".u64", 8}, {".s64", 8}, {".f64", 8}, {".b128", 16}};
    for (size_t i = 0; i < HPT_COUNT(types); i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, word, length) == 0) return types[i].bytes;
    return -1;
}

static bool add_registers(hpt_ptx_parser *p, const char *prefix, bool range, uint32_t count, int bytes) {
    hpt_ptx_function *f = p->function;
    if (f->register_count + count > HPT_PTX_MAX_REGISTERS)
        return hpt_ptx_fail(p, HPT_TOO_LARGE, "More than %d registers.", HPT_PTX_MAX_REGISTERS);
    p->declarations =
        hpt_ptx_grow(p, p->declarations, p->declaration_count, &p->declaration_capacity, sizeof *p->declarations);
    if (!p->declarations) return false;
    p->declarations[p->declaration_count++] =
        (hpt_ptx_declaration){prefix, strlen(prefix), range, (uint32_t)f->register_count, count};
    for (uint32_t i = 0; i < count; i++) {
        f->registers = hpt_ptx_grow(p, f->registers, f->register_count, &p->register_capacity, sizeof *f->registers);
        if (!f->registers) return false;
        f->registers[f->register_count++] = (hpt_ptx_register){prefix, (uint8_t)bytes};
    }
    return true;
}

bool hpt_ptx_parse_registers(hpt_ptx_parser *p) {
    int bytes = p->lexer.token == HPT_PTX_WORD ? hpt_ptx_type_bytes(p->lexer.text, p->lexer.length) : -1;
    if (bytes < 0) return hpt_ptx_fail(p, HPT_UNSUPPORTED, "Expected the type of the registers.");
    hpt_ptx_lexer_next(&p->lexer);
    do {
        const char *name = hpt_ptx_take_word(p);
        uint64_t count = 1;
        if (!name) return false;
        bool range = hpt_ptx_accept(p, '<');
        if (range && (!hpt_ptx_expect_integer(p, &count, HPT_PTX_MAX_REGISTERS) || !hpt_ptx_expect(p, '>')))
            return false;
        if (!add_registers(p, name, range, (uint32_t)count, bytes)) return false;
    } while (hpt_ptx_accept(p, ','));
    return hpt_ptx_expect(p, ';');
}

static bool parse_scalar(hpt_ptx_parser *p, uint8_t *to, int bytes) {
    bool minus = hpt_ptx_accept(p, '-');
    uint64_t bits = p->lexer.bits;
    if (p->lexer.token == HPT_PTX_REAL && bytes == 4) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        float value = (float)wide;
        uint32_t narrow;
        memcpy(&narrow, &value, sizeof narrow);
        bits = narrow;
    } else if (p->lexer.token != HPT_PTX_NUMBER && p->lexer.token != HPT_PTX_REAL && p->lexer.token != HPT_PTX_REAL32) {
        return hpt_ptx_fail(p, HPT_UNSUPPORTED, "Only numbers can initialise a variable here.");
    }
    if (minus && p->lexer.token == HPT_PTX_NUMBER)
        bits = 0 - bits;
    else if (minus)
        bits ^= 1ull << (8 * bytes - 1);
    memcpy(to, &bits, (size_t)bytes);
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

static bool parse_initial(hpt_ptx_parser *p, hpt_ptx_variable *v, int element) {
    if (v->bytes == 0) return hpt_ptx_fail(p, HPT_UNSUPPORTED, "An array without a size cannot be initialised.");
    if (element > 8) return hpt_ptx_fail(p, HPT_UNSUPPORTED, "Variables of 128 bits cannot be initialised here.");
    uint8_t *data = hpt_arena_alloc(p->arena, v->bytes, 1);
    if (!data) return hpt_ptx_fail_memory(p);
    v->initial = data;
    uint64_t at = 0;
    int depth = 0;
    do {
        if (hpt_ptx_accept(p, '{')) {
            depth++;
        } else if (hpt_ptx_accept(p, '}')) {
            depth--;
            hpt_ptx_accept(p, ',');
        } else {
            if (at + (uint64_t)element > v->bytes) return hpt_ptx_fail(p, HPT_MALFORMED, "Too many initial values.");
            if (!parse_scalar(p, data + at, element)) return false;
            at += (uint64_t)element;
            if (depth) hpt_ptx_accept(p, ',');
        }
    } while (depth > 0);
    return true;
}

/* words between the state space and the name: .align 16 .v4 .ptr .global .b8 ... */
static bool parse_type(hpt_ptx_parser *p, int *element, int *lanes, uint64_t *align) {
    *element = -1;
    *lanes = 1;
    *align = 0;
    while (p->lexer.token == HPT_PTX_WORD && p->lexer.text[0] == '.') {
        bool is_align = hpt_ptx_lexer_is(&p->lexer, ".align");
        int bytes = hpt_ptx_type_bytes(p->lexer.text, p->lexer.length);
        if (bytes > 0) *element = bytes;
        if (hpt_ptx_lexer_is(&p->lexer, ".v2")) *lanes = 2;
        if (hpt_ptx_lexer_is(&p->lexer, ".v4")) *lanes = 4;
        hpt_ptx_lexer_next(&p->lexer);
        uint64_t value;
        if (is_align) {
            if (!hpt_ptx_expect_integer(p, &value, 1 << 16)) return false;
            if (value == 0 || (value & (value - 1)))
                return hpt_ptx_fail(p, HPT_MALFORMED, "An alignment must be a power of two.");
            if (*element < 0) *align = value; /* after the type it is the pointee's (.ptr .align) */
        }
    }
    return *element > 0 || hpt_ptx_fail(p, HPT_UNSUPPORTED, "The variable has no type of a known size.");
}

bool hpt_ptx_parse_variable(hpt_ptx_parser *p, hpt_ptx_space space, bool is_param, hpt_ptx_variable **list) {
    int element, lanes;
    uint64_t align;
    if (!parse_type(p, &element, &lanes, &align)) return false;
    while (*list) list = &(*list)->next;
    do {
        hpt_ptx_variable *v = hpt_arena_alloc(p->arena, 1, sizeof *v);
        if (!v) return hpt_ptx_fail_memory(p);
        v->space = space;
        v->line = p->lexer.line;
        v->align = align ? (uint32_t)align : (uint32_t)(element * lanes);
        uint64_t bytes = (uint64_t)(element * lanes);
        v->name = hpt_ptx_take_word(p);
        if (!v->name) return false;
        while (hpt_ptx_accept(p, '[')) {
            uint64_t count = 0;
            if (!hpt_ptx_mark(p, ']') && !hpt_ptx_expect_integer(p, &count, HPT_PTX_MAX_BYTES)) return false;
            if (!hpt_ptx_expect(p, ']')) return false;
            bytes *= count;
            if (bytes > HPT_PTX_MAX_BYTES) return hpt_ptx_fail(p, HPT_TOO_LARGE, "The variable is too large.");
        }
        v->bytes = bytes;
        if (!is_param && hpt_ptx_accept(p, '=') && !parse_initial(p, v, element)) return false;
        *list = v;
        list = &v->next;
    } while (!is_param && hpt_ptx_accept(p, ','));
    return is_param || hpt_ptx_expect(p, ';');
}
