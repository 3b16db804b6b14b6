/* parser.c - the module level of PTX, and the small helpers of the parser. */
#include "parser.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hpt_ptx_fail(hpt_ptx_parser *p, hpt_status code, const char *format, ...) {
    if (p->status != HPT_OK) return false;
    char where[HPT_ERROR_WHERE], message[HPT_ERROR_MESSAGE];
    snprintf(where, sizeof where, "%s:%d", p->file, p->lexer.line);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->status = hpt_error_set(p->error, code, where, "%s", message);
    return false;
}

bool hpt_ptx_fail_memory(hpt_ptx_parser *p) { return hpt_ptx_fail(p, HPT_NO_MEMORY, "Out of memory."); }

bool hpt_ptx_mark(const hpt_ptx_parser *p, char mark) {
    return p->lexer.token == HPT_PTX_MARK && p->lexer.mark == mark;
}

bool hpt_ptx_accept(hpt_ptx_parser *p, char mark) {
    if (!hpt_ptx_mark(p, mark)) return false;
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

bool hpt_ptx_expect(hpt_ptx_parser *p, char mark) {
    if (hpt_ptx_accept(p, mark)) return true;
    int length = p->lexer.length > 40 ? 40 : (int)p->lexer.length;
    return hpt_ptx_fail(p, HPT_MALFORMED, "Expected '%c' but found \"%.*s\".", mark, length, p->lexer.text);
}

bool hpt_ptx_expect_integer(hpt_ptx_parser *p, uint64_t *out, uint64_t limit) {
    if (p->lexer.token != HPT_PTX_NUMBER) return hpt_ptx_fail(p, HPT_MALFORMED, "Expected an integer.");
    if (p->lexer.bits > limit)
        return hpt_ptx_fail(p, HPT_TOO_LARGE, "%llu is over the limit of %llu.", (unsigned long long)p->lexer.bits,
                            (unsigned long long)limit);
    *out = p->lexer.bits;
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

char *hpt_ptx_take_word(hpt_ptx_parser *p) {
    if (p->lexer.token != HPT_PTX_WORD) {
        hpt_ptx_fail(p, HPT_MALFORMED, "Expected a name.");
        return NULL;
    }
    char *word = hpt_arena_alloc(p->arena, p->lexer.length + 1, 1);
    if (!word) {
        hpt_ptx_fail_memory(p);
        return NULL;
    }
    memcpy(word, p->lexer.text, p->lexer.length);
    hpt_ptx_lexer_next(&p->lexer);
    return word;
}

void *hpt_ptx_grow(hpt_ptx_parser *p, void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return array;
    size_t more = *capacity ? 2 * *capacity : 16;
    void *bigger = hpt_arena_alloc(p->arena, more, size);
    if (!bigger) {
        hpt_ptx_fail_memory(p);
        return NULL;
    }
    if (count) memcpy(bigger, array, count * size);
    *capacity = more;
    return bigger;
}

bool hpt_ptx_skip_braces(hpt_ptx_parser *p) {
    int depth = 0;
    do {
        if (p->lexer.token == HPT_PTX_END) return hpt_ptx_fail(p, HPT_MALFORMED, "A '{' is never closed.");
        if (hpt_ptx_mark(p, '{')) depth++;
        if (hpt_ptx_mark(p, '}')) depth--;
        hpt_ptx_lexer_next(&p->lexer);
    } while (depth > 0);
    return true;
}

static bool parse_version(hpt_ptx_parser *p) {
    if (p->lexer.token != HPT_PTX_REAL) return hpt_ptx_fail(p, HPT_MALFORMED, "Expected a version like 9.0.");
    double value;
    memcpy(&value, &p->lexer.bits, sizeof value);
    if (value < 1 || value > 99) return hpt_ptx_fail(p, HPT_MALFORMED, "There is no such PTX version.");
    p->module->version_major = (int)value;
    p->module->version_minor = (int)((value - p->module->version_major) * 10 + 0.5);
    hpt_ptx_lexer_next(&p->lexer);
    return true;
}

static bool parse_target(hpt_ptx_parser *p) {
    p->module->target = hpt_ptx_take_word(p);
    while (p->module->target && hpt_ptx_accept(p, ','))
        if (!hpt_ptx_take_word(p)) return false;
    return p->module->target != NULL;
}

/* .file 1 "name"[, time, size] */
static bool parse_file(hpt_ptx_parser *p) {
    uint64_t number = 0;
    if (!hpt_ptx_expect_integer(p, &number, 1 << 20)) return false;
    if (p->lexer.token != HPT_PTX_STRING) return hpt_ptx_fail(p, HPT_MALFORMED, "Expected a file name.");
    hpt_ptx_file *file = hpt_arena_alloc(p->arena, 1, sizeof *file);
    char *name = hpt_arena_alloc(p->arena, p->lexer.length + 1, 1);
    if (!file || !name) return hpt_ptx_fail_memory(p);
    memcpy(name, p->lexer.text, p->lexer.length);
    *file = (hpt_ptx_file){(int)number, name, p->module->files};
    p->module->files = file;
    hpt_ptx_lexer_next(&p->lexer);
    while (hpt_ptx_accept(p, ','))
        if (!hpt_ptx_expect_integer(p, &number, UINT64_MAX)) return false;
    return true;
}

static bool parse_triple(hpt_ptx_parser *p, uint32_t out[3]) {
    for (int i = 0; i < 3; i++) out[i] = 1;
    int i = 0;
    do {
        uint64_t value = 0;
        if (i == 3 || !hpt_ptx_expect_integer(p, &value, UINT32_MAX))
            return hpt_ptx_fail(p, HPT_MALFORMED, "Expected at most three extents.");
        if (value == 0) return hpt_ptx_fail(p, HPT_MALFORMED, "An extent must not be zero.");
        out[i++] = (uint32_t)value;
    } while (hpt_ptx_accept(p, ','));
    return true;
}

/* the directives between an entry's parameters and its body */
static bool parse_entry_directives(hpt_ptx_parser *p) {
    uint32_t ignored[3];
    while (p->lexer.token == HPT_PTX_WORD) {
        uint32_t *triple = hpt_ptx_lexer_is(&p->lexer, ".maxntid")             ? p->function->max_threads
                           : hpt_ptx_lexer_is(&p->lexer, ".reqntid")           ? p->function->required_threads
                           : hpt_ptx_lexer_is(&p->lexer, ".reqnctapercluster") ? p->function->required_cluster
                                                                               : ignored;
        if (p->lexer.text[0] != '.') return hpt_ptx_fail(p, HPT_MALFORMED, "Expected a directive or '{'.");
        hpt_ptx_lexer_next(&p->lexer);
        if (p->lexer.token == HPT_PTX_NUMBER && !parse_triple(p, triple)) return false;
        if (p->lexer.token == HPT_PTX_STRING) {
            hpt_ptx_lexer_next(&p->lexer);
            if (!hpt_ptx_expect(p, ';')) return false;
        }
    }
    return true;
}

static bool parse_params(hpt_ptx_parser *p) {
    if (!hpt_ptx_accept(p, '(')) return true;
    while (!hpt_ptx_accept(p, ')')) {
        if (p->function->param_count && !hpt_ptx_expect(p, ',')) return false;
        if (!hpt_ptx_lexer_is(&p->lexer, ".param")) return hpt_ptx_fail(p, HPT_MALFORMED, "Expected .param.");
        hpt_ptx_lexer_next(&p->lexer);
        if (!hpt_ptx_parse_variable(p, HPT_PTX_PARAM, true, &p->function->params)) return false;
        p->function->param_count++;
    }
    uint64_t at = 0;
    for (hpt_ptx_variable *v = p->function->params; v; v = v->next) {
        at = (at + v->align - 1) / v->align * v->align;
        v->address = at;
        at += v->bytes;
    }
    p->function->param_bytes = at;
    return true;
}

static bool parse_entry(hpt_ptx_parser *p) {
    hpt_ptx_function *function = hpt_arena_alloc(p->arena, 1, sizeof *function);
    if (!function) return hpt_ptx_fail_memory(p);
    p->function = function;
    p->declarations = NULL;
    p->declaration_count = p->declaration_capacity = 0;
    p->labels = NULL;
    p->label_count = p->label_capacity = p->instruction_capacity = p->register_capacity = 0;
    p->scope_parent = NULL;
    p->scope_count = p->scope_capacity = p->instruction_scope_capacity = 0;
    p->source_file = p->source_line = 0;
    function->name = hpt_ptx_take_word(p);
    if (!function->name || !parse_params(p) || !parse_entry_directives(p)) return false;
    if (!hpt_ptx_mark(p, ';') && !hpt_ptx_parse_body(p)) return false;
    bool declared_only = hpt_ptx_accept(p, ';');
    if (declared_only) return true;
    hpt_ptx_function **last = &p->module->functions;
    while (*last) last = &(*last)->next;
    *last = function;
    p->function = NULL;
    return true;
}

/* Device functions are skipped: code that calls one is refused at the call. */
static bool skip_function(hpt_ptx_parser *p) {
    while (!hpt_ptx_mark(p, '{') && !hpt_ptx_mark(p, ';')) {
        if (p->lexer.token == HPT_PTX_END) return hpt_ptx_fail(p, HPT_MALFORMED, "The function has no end.");
        hpt_ptx_lexer_next(&p->lexer);
    }
    if (hpt_ptx_accept(p, ';')) return true;
    return hpt_ptx_skip_braces(p) && (hpt_ptx_accept(p, ';') || true);
}

static bool skip_statement(hpt_ptx_parser *p) {
    while (!hpt_ptx_accept(p, ';')) {
        if (p->lexer.token == HPT_PTX_END) return hpt_ptx_fail(p, HPT_MALFORMED, "A ';' is missing.");
        hpt_ptx_lexer_next(&p->lexer);
    }
    return true;
}

static bool skip_section(hpt_ptx_parser *p) {
    while (!hpt_ptx_mark(p, '{')) {
        if (p->lexer.token == HPT_PTX_END) return hpt_ptx_fail(p, HPT_MALFORMED, "The section has no body.");
        hpt_ptx_lexer_next(&p->lexer);
    }
    return hpt_ptx_skip_braces(p);
}

static bool skip_address_size(hpt_ptx_parser *p) {
    uint64_t bits = 0;
    if (!hpt_ptx_expect_integer(p, &bits, 64)) return false;
    return bits == 64 || hpt_ptx_fail(p, HPT_UNSUPPORTED, "Only 64-bit addresses are supported.");
}

static bool parse_global(hpt_ptx_parser *p) {
    return hpt_ptx_parse_variable(p, HPT_PTX_GLOBAL, false, &p->module->variables);
}
static bool parse_const(hpt_ptx_parser *p) {
    return hpt_ptx_parse_variable(p, HPT_PTX_CONST, false, &p->module->variables);
}
static bool parse_shared(hpt_ptx_parser *p) {
    return hpt_ptx_parse_variable(p, HPT_PTX_SHARED, false, &p->module->variables);
}
static bool nothing(hpt_ptx_parser *p) {
    (void)p;
    return true;
}

static const struct {
    const char *word;
    bool (*parse)(hpt_ptx_parser *p);
} directives[] = {
    {".version", parse_version}, {".target", parse_target},   {".address_size", skip_address_size},
    {".file", parse_file},       {".entry", parse_entry},     {".func", skip_function},
    {".global", parse_global},   {".const", parse_const},     {".shared", parse_shared},
    {".section", skip_section},  {".pragma", skip_statement}, {".alias", skip_statement},
    {".visible", nothing},       {".extern", nothing},        {".weak", nothing},
    {".common", nothing},
};

static bool parse_item(hpt_ptx_parser *p) {
    for (size_t i = 0; i < HPT_COUNT(directives); i++)
        if (hpt_ptx_lexer_is(&p->lexer, directives[i].word)) {
            hpt_ptx_lexer_next(&p->lexer);
            return directives[i].parse(p);
        }
    int length = p->lexer.length > 40 ? 40 : (int)p->lexer.length;
    return hpt_ptx_fail(p, HPT_MALFORMED, "\"%.*s\" does not begin a PTX directive.", length, p->lexer.text);
}

hpt_status hpt_ptx_parse(hpt_ptx_module **out, hpt_arena *arena, const char *text, size_t length, const char *name,
                         hpt_error *error) {
    hpt_ptx_parser parser = {.arena = arena, .file = name, .error = error};
    hpt_status status = HPT_OK;
    parser.module = hpt_arena_alloc(arena, 1, sizeof *parser.module);
    HPT_FAIL_NO_MEMORY(parser.module);
    hpt_ptx_lexer_start(&parser.lexer, text, length);
    while (parser.lexer.token != HPT_PTX_END)
        if (!parse_item(&parser)) return parser.status;
    HPT_FAIL_IF(!parser.module->target, HPT_MALFORMED, name, "The text has no .target: it is no PTX module.");
    *out = parser.module;
done:
    return status;
}

const hpt_ptx_function *hpt_ptx_find(const hpt_ptx_module *module, const char *entry) {
    if (!entry) return module->functions && !module->functions->next ? module->functions : NULL;
    for (const hpt_ptx_function *f = module->functions; f; f = f->next)
        if (strcmp(f->name, entry) == 0) return f;
    return NULL;
}
