/* ptx.h - PTX text as a tree: what the parser hands to the decoder. Promises:
 *   - any text gives a module or an error with its line; no crash, no hang, no recursion without a bound.
 *   - names are resolved: registers are numbers, labels are instruction indices, variables and parameters are pointers;
 *     nested scopes ({ ... } with their own registers and labels, as inline assembly makes them) are flattened.
 *   - nothing here knows what an instruction means: opcodes are text, operands are shapes.
 * Grammar: PTX ISA chapters 4 (syntax), 5 (state spaces), 11 (directives).
 */
#ifndef HPT_EMULATOR_PTX_H
#define HPT_EMULATOR_PTX_H

#include "core.h"

typedef enum hpt_ptx_space {
    HPT_PTX_GENERIC,
    HPT_PTX_GLOBAL,
    HPT_PTX_SHARED,
    HPT_PTX_CONST,
    HPT_PTX_LOCAL,
    HPT_PTX_PARAM
} hpt_ptx_space;

typedef struct hpt_ptx_variable {
    const char *name;
    hpt_ptx_space space;
    uint32_t align;
    uint64_t bytes;         /* 0: an extern array, its size is the launch's */
    const uint8_t *initial; /* `bytes` bytes, or NULL: zero */
    uint64_t address; /* params and locals: offset in their block; shared: offset; global and const: set on load */
    int line;
    struct hpt_ptx_variable *next;
} hpt_ptx_variable;

typedef struct hpt_ptx_register {
    const char *name;
    uint8_t bytes; /* per thread; 0: a predicate */
} hpt_ptx_register;

typedef enum hpt_ptx_kind {
    HPT_PTX_SINK,       /* _ */
    HPT_PTX_REGISTER,   /* index */
    HPT_PTX_SPECIAL,    /* name: %tid.x */
    HPT_PTX_INTEGER,    /* bits */
    HPT_PTX_FLOAT,      /* bits of a double */
    HPT_PTX_FLOAT_BITS, /* bits of a float: 0f3F800000 */
    HPT_PTX_VARIABLE,   /* variable + offset */
    HPT_PTX_LABEL,      /* index of an instruction */
    HPT_PTX_TARGETS,    /* items: the labels of a .branchtargets list */
    HPT_PTX_VECTOR,     /* items: { ... } */
    HPT_PTX_MEMORY,     /* items[0] + offset is the base, items[1] (if any) the coordinates */
    HPT_PTX_PAIR,       /* items[0] | items[1] */
    HPT_PTX_NAME        /* while parsing only */
} hpt_ptx_kind;

typedef struct hpt_ptx_operand {
    hpt_ptx_kind kind;
    bool negated; /* !p */
    uint32_t index;
    uint64_t bits;
    int64_t offset;
    const char *name;
    hpt_ptx_variable *variable;
    struct hpt_ptx_operand *items;
    size_t count;
} hpt_ptx_operand;

typedef struct hpt_ptx_instruction {
    const char *opcode; /* with all modifiers */
    hpt_ptx_operand *operands;
    size_t count;
    int guard; /* predicate register, or -1 */
    bool guard_negated;
    int line;                     /* of the PTX text, from 1 */
    int source_file, source_line; /* of the last .loc; 0: none */
} hpt_ptx_instruction;

typedef struct hpt_ptx_function {
    const char *name;
    hpt_ptx_variable *params; /* in order */
    size_t param_count;
    uint64_t param_bytes, local_bytes;
    hpt_ptx_variable *variables; /* of the body: shared and local */
    hpt_ptx_register *registers;
    size_t register_count;
    hpt_ptx_instruction *instructions;
    size_t instruction_count;
    uint32_t max_threads[3], required_threads[3], required_cluster[3]; /* 0: not given */
    struct hpt_ptx_function *next;
} hpt_ptx_function;

typedef struct hpt_ptx_file {
    int number;
    const char *name;
    struct hpt_ptx_file *next;
} hpt_ptx_file;

typedef struct hpt_ptx_module {
    int version_major, version_minor;
    const char *target; /* "sm_90a" */
    hpt_ptx_variable *variables;
    hpt_ptx_function *functions; /* entries only */
    hpt_ptx_file *files;
} hpt_ptx_module;

/* Everything lives in `arena`. `name` is for messages. */
hpt_status hpt_ptx_parse(hpt_ptx_module **out, hpt_arena *arena, const char *text, size_t length, const char *name,
                         hpt_error *error);
const hpt_ptx_function *hpt_ptx_find(const hpt_ptx_module *module, const char *entry); /* NULL name: the only one */

/* ---- lexer.c ---- */
typedef enum hpt_ptx_token {
    HPT_PTX_END,
    HPT_PTX_WORD,   /* identifier, register, directive or opcode */
    HPT_PTX_NUMBER, /* integer: bits */
    HPT_PTX_REAL,   /* bits of a double */
    HPT_PTX_REAL32, /* bits of a float */
    HPT_PTX_STRING, /* text without quotes */
    HPT_PTX_MARK,   /* one character: mark */
    HPT_PTX_BAD
} hpt_ptx_token;

typedef struct hpt_ptx_lexer {
    const char *at, *end;
    int line;
    hpt_ptx_token token;
    const char *text; /* of the token */
    size_t length;
    uint64_t bits;
    char mark;
} hpt_ptx_lexer;

void hpt_ptx_lexer_start(hpt_ptx_lexer *lexer, const char *text, size_t length);
void hpt_ptx_lexer_next(hpt_ptx_lexer *lexer);
bool hpt_ptx_lexer_is(const hpt_ptx_lexer *lexer, const char *word); /* the token is this word */

#endif
