/* parser.h - shared by the files of the parser: its state, and the way it fails.
 * A failing function has filled `error` (once) and returned false; callers just return false. */
#ifndef HPT_EMULATOR_PARSER_H
#define HPT_EMULATOR_PARSER_H

#include "ptx.h"

enum { HPT_PTX_MAX_REGISTERS = 1 << 20, HPT_PTX_MAX_DEPTH = 64, HPT_PTX_MAX_BYTES = 1 << 28 };

/* one name or one range of names (%r<550>) of a .reg directive */
typedef struct hpt_ptx_declaration {
    const char *prefix;
    size_t prefix_length;
    bool range;
    uint32_t first, count;
} hpt_ptx_declaration;

typedef struct hpt_ptx_label {
    const char *name;
    uint32_t index;
    int scope;
    hpt_ptx_operand *targets; /* of a .branchtargets list */
} hpt_ptx_label;

typedef struct hpt_ptx_parser {
    hpt_ptx_lexer lexer;
    hpt_arena *arena;
    const char *file;
    hpt_error *error;
    hpt_status status;
    hpt_ptx_module *module;
    /* of the function being parsed */
    hpt_ptx_function *function;
    hpt_ptx_declaration *declarations;
    size_t declaration_count, declaration_capacity;
    hpt_ptx_label *labels;
    size_t label_count, label_capacity;
    size_t instruction_capacity, register_capacity;
    int *scope_parent; /* of every scope of the function */
    int *instruction_scope;
    size_t scope_count, scope_capacity, instruction_scope_capacity;
    int scope, depth;
    int source_file, source_line;
} hpt_ptx_parser;

/* ---- parser.c ---- */
bool hpt_ptx_fail(hpt_ptx_parser *p, hpt_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool hpt_ptx_fail_memory(hpt_ptx_parser *p);
bool hpt_ptx_mark(const hpt_ptx_parser *p, char mark); /* is the token this character? */
bool hpt_ptx_accept(hpt_ptx_parser *p, char mark);     /* skip it if so */
bool hpt_ptx_expect(hpt_ptx_parser *p, char mark);
bool hpt_ptx_expect_integer(hpt_ptx_parser *p, uint64_t *out, uint64_t limit);
char *hpt_ptx_take_word(hpt_ptx_parser *p); /* NULL after a failure */
/* Room for one more item of an array in the arena. */
void *hpt_ptx_grow(hpt_ptx_parser *p, void *array, size_t count, size_t *capacity, size_t size);
bool hpt_ptx_skip_braces(hpt_ptx_parser *p);

/* ---- declaration.c ---- */
/* Size of a type word (".b32"); 0 for .pred; -1 if it is no type. */
int hpt_ptx_type_bytes(const char *word, size_t length);
bool hpt_ptx_parse_registers(hpt_ptx_parser *p); /* after .reg */
/* After the state space word; `list` is where variables are linked in, in order. */
bool hpt_ptx_parse_variable(hpt_ptx_parser *p, hpt_ptx_space space, bool is_param, hpt_ptx_variable **list);

/* ---- operand.c ---- */
bool hpt_ptx_parse_operand(hpt_ptx_parser *p, hpt_ptx_operand *out, int depth);
bool hpt_ptx_find_register(const hpt_ptx_parser *p, const char *name, size_t length, uint32_t *out);
bool hpt_ptx_resolve(hpt_ptx_parser *p, hpt_ptx_operand *operand, int scope, int line); /* NAME into what it names */

/* ---- body.c ---- */
bool hpt_ptx_parse_body(hpt_ptx_parser *p);

#endif
