#include "load/formula.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    NUMBER,
    NAME,
    NEGATE,
    NOT,
    CHOOSE, /* CHOOSE: c ? a : b */
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    ADD,
    SUBTRACT,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    NOT_EQUAL,
    AND,
    OR,
    MIN,
    MAX,
    CEIL_DIV,
    ROUND_UP
} kind;

typedef struct node {
    kind kind;
    int64_t number; /* NUMBER: the value; NAME: the slot */
    const struct node *a, *b, *c;
} node;

struct hpt_formula {
    const node *root;
    const char *text, *where;
};

/* Binary operators by precedence, C's order; longer spellings first so that "<=" is not read as "<". */
static const struct {
    const char *text;
    kind kind;
    int level;
} operators[] = {{"||", OR, 1},         {"&&", AND, 2},           {"==", EQUAL, 3},   {"!=", NOT_EQUAL, 3},
                 {"<=", LESS_EQUAL, 4}, {">=", GREATER_EQUAL, 4}, {"<", LESS, 4},     {">", GREATER, 4},
                 {"+", ADD, 5},         {"-", SUBTRACT, 5},       {"*", MULTIPLY, 6}, {"/", DIVIDE, 6},
                 {"%", REMAINDER, 6}};

static const struct {
    const char *name;
    kind kind;
} functions[] = {{"min", MIN}, {"max", MAX}, {"ceil_div", CEIL_DIV}, {"round_up", ROUND_UP}};

/* ---- names ---- */
int hpt_names_find(const hpt_names *names, const char *name) {
    for (size_t i = names->count; i-- > 0;)
        if (strcmp(names->name[i], name) == 0) return (int)i;
    return -1;
}

int hpt_names_add(hpt_names *names, const char *name) {
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 32;
        const char **grown = hpt_arena_alloc(names->arena, capacity, sizeof *grown);
        if (!grown) return -1;
        if (names->count) memcpy(grown, names->name, names->count * sizeof *grown);
        names->name = grown;
        names->capacity = capacity;
    }
    char *copy = hpt_arena_strdup(names->arena, name);
    if (!copy) return -1;
    names->name[names->count] = copy;
    return (int)names->count++;
}

/* ---- parser: precedence climbing ---- */
typedef struct parser {
    hpt_arena *arena;
    const hpt_names *names;
    const char *text, *at, *where;
    int depth;
    hpt_error *error;
} parser;

static hpt_status complain(const parser *p, hpt_status code, const char *reason) {
    return hpt_error_set(p->error, code, p->where, "In the formula \"%s\", column %d: %s.", p->text,
                         (int)(p->at - p->text) + 1, reason);
}

static void skip(parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n') p->at++;
}

static bool accept(parser *p, char c) {
    skip(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static node *make(parser *p, kind k, const node *a, const node *b, const node *c) {
    node *n = hpt_arena_alloc(p->arena, 1, sizeof *n);
    if (n) *n = (node){k, 0, a, b, c};
    return n;
}

static hpt_status parse_choice(parser *p, const node **out);

static hpt_status parse_word(parser *p, const node **out) {
    char word[128];
    size_t length = 0;
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') {
        if (length + 1 == sizeof word) return complain(p, HPT_MALFORMED, "the name is too long");
        word[length++] = *p->at++;
    }
    word[length] = '\0';
    if (accept(p, '(')) {
        const node *a, *b;
        hpt_status status;
        for (size_t i = 0; i < HPT_COUNT(functions); i++) {
            if (strcmp(functions[i].name, word) != 0) continue;
            if ((status = parse_choice(p, &a)) != HPT_OK) return status;
            if (!accept(p, ',')) return complain(p, HPT_MALFORMED, "a comma is missing");
            if ((status = parse_choice(p, &b)) != HPT_OK) return status;
            if (!accept(p, ')')) return complain(p, HPT_MALFORMED, "a closing parenthesis is missing");
            *out = make(p, functions[i].kind, a, b, NULL);
            return *out ? HPT_OK : complain(p, HPT_NO_MEMORY, "out of memory");
        }
        p->at = start;
        return complain(p, HPT_MALFORMED, "there is no function of this name (min, max, ceil_div, round_up)");
    }
    int slot = hpt_names_find(p->names, word);
    if (slot < 0) {
        p->at = start;
        char reason[200];
        snprintf(reason, sizeof reason, "unknown name \"%s\"", word);
        return complain(p, HPT_MALFORMED, reason);
    }
    node *n = make(p, NAME, NULL, NULL, NULL);
    if (!n) return complain(p, HPT_NO_MEMORY, "out of memory");
    n->number = slot;
    *out = n;
    return HPT_OK;
}

static hpt_status parse_primary(parser *p, const node **out) {
    hpt_status status;
    skip(p);
    if (isdigit((unsigned char)*p->at)) {
        errno = 0;
        char *end;
        long long number = strtoll(p->at, &end, 10);
        if (errno) return complain(p, HPT_TOO_LARGE, "the number does not fit into 64 bits");
        if (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
            return complain(p, HPT_MALFORMED, "this is not a decimal integer");
        p->at = end;
        node *n = make(p, NUMBER, NULL, NULL, NULL);
        if (!n) return complain(p, HPT_NO_MEMORY, "out of memory");
        n->number = number;
        *out = n;
        return HPT_OK;
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_') return parse_word(p, out);
    if (accept(p, '(')) {
        if ((status = parse_choice(p, out)) != HPT_OK) return status;
        return accept(p, ')') ? HPT_OK : complain(p, HPT_MALFORMED, "a closing parenthesis is missing");
    }
    return complain(p, HPT_MALFORMED,
                    *p->at ? "a number, a name or a parenthesis should stand here" : "the formula ends too early");
}

static hpt_status parse_unary(parser *p, const node **out) {
    if (++p->depth > HPT_FORMULA_DEPTH) return complain(p, HPT_TOO_LARGE, "it is nested too deeply");
    hpt_status status = HPT_OK;
    skip(p);
    kind k = *p->at == '-' ? NEGATE : *p->at == '!' && p->at[1] != '=' ? NOT : NUMBER;
    if (k != NUMBER) {
        const node *a;
        p->at++;
        status = parse_unary(p, &a);
        if (status == HPT_OK && !(*out = make(p, k, a, NULL, NULL)))
            status = complain(p, HPT_NO_MEMORY, "out of memory");
    } else {
        status = parse_primary(p, out);
    }
    p->depth--;
    return status;
}

static hpt_status parse_binary(parser *p, int level, const node **out) {
    hpt_status status = parse_unary(p, out);
    while (status == HPT_OK) {
        size_t i;
        skip(p);
        for (i = 0; i < HPT_COUNT(operators); i++)
            if (operators[i].level >= level && strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0) break;
        if (i == HPT_COUNT(operators)) return HPT_OK;
        p->at += strlen(operators[i].text);
        const node *right;
        status = parse_binary(p, operators[i].level + 1, &right);
        if (status == HPT_OK && !(*out = make(p, operators[i].kind, *out, right, NULL)))
            status = complain(p, HPT_NO_MEMORY, "out of memory");
    }
    return status;
}

static hpt_status parse_choice(parser *p, const node **out) {
    if (++p->depth > HPT_FORMULA_DEPTH) return complain(p, HPT_TOO_LARGE, "it is nested too deeply");
    const node *a, *b;
    hpt_status status = parse_binary(p, 1, out);
    if (status == HPT_OK && accept(p, '?')) {
        if ((status = parse_choice(p, &a)) != HPT_OK) return status;
        if (!accept(p, ':')) return complain(p, HPT_MALFORMED, "a colon is missing");
        if ((status = parse_choice(p, &b)) != HPT_OK) return status;
        if (!(*out = make(p, CHOOSE, *out, a, b))) return complain(p, HPT_NO_MEMORY, "out of memory");
    }
    p->depth--;
    return status;
}

hpt_status hpt_formula_parse(const hpt_formula **out, hpt_arena *arena, const hpt_names *names, const char *text,
                             const char *where, hpt_error *error) {
    if (strlen(text) > HPT_FORMULA_LENGTH)
        return hpt_error_set(error, HPT_TOO_LARGE, where, "A formula is longer than %d bytes.", HPT_FORMULA_LENGTH);
    hpt_formula *formula = hpt_arena_alloc(arena, 1, sizeof *formula);
    char *copy = hpt_arena_strdup(arena, text), *place = hpt_arena_strdup(arena, where);
    if (!formula || !copy || !place) return hpt_error_set(error, HPT_NO_MEMORY, where, "Out of memory.");
    parser p = {arena, names, copy, copy, place, 0, error};
    hpt_status status = parse_choice(&p, &formula->root);
    if (status != HPT_OK) return status;
    skip(&p);
    if (*p.at) return complain(&p, HPT_MALFORMED, "this cannot follow");
    formula->text = copy;
    formula->where = place;
    *out = formula;
    return HPT_OK;
}

hpt_status hpt_formula_constant(const hpt_formula **out, hpt_arena *arena, int64_t value) {
    hpt_formula *formula = hpt_arena_alloc(arena, 1, sizeof *formula);
    node *n = hpt_arena_alloc(arena, 1, sizeof *n);
    if (!formula || !n) return HPT_NO_MEMORY;
    *n = (node){NUMBER, value, NULL, NULL, NULL};
    *formula = (hpt_formula){n, "", ""};
    *out = formula;
    return HPT_OK;
}

/* ---- evaluation ---- */
typedef struct evaluation {
    const hpt_names *names;
    const hpt_values *values;
    hpt_status code;
    char reason[160];
} evaluation;

static bool stop(evaluation *e, hpt_status code, const char *reason) {
    e->code = code;
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    return false;
}

static bool divide(evaluation *e, int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
    if (b == 0) return stop(e, HPT_MALFORMED, "division by zero");
    if (a == INT64_MIN && b == -1) return stop(e, HPT_TOO_LARGE, "the result does not fit into 64 bits");
    *quotient = a / b;
    *remainder = a % b;
    return true;
}

static bool ceil_div(evaluation *e, int64_t a, int64_t b, int64_t *out) {
    int64_t q, r;
    if (!divide(e, a, b, &q, &r)) return false;
    *out = q + (r != 0 && (r < 0) == (b < 0));
    return true;
}

static bool eval(evaluation *e, const node *n, int64_t *out);

static bool eval_lazy(evaluation *e, const node *n, int64_t *out) { /* ?:, && and || leave the other side alone */
    int64_t a;
    if (!eval(e, n->a, &a)) return false;
    if (n->kind == CHOOSE) return eval(e, a ? n->b : n->c, out);
    if ((n->kind == AND) == (a == 0)) {
        *out = n->kind == OR;
        return true;
    }
    if (!eval(e, n->b, &a)) return false;
    *out = a != 0;
    return true;
}

static bool eval(evaluation *e, const node *n, int64_t *out) {
    int64_t a = 0, b = 0, other;
    bool fits = true;
    switch (n->kind) {
    case NUMBER:
        *out = n->number;
        return true;
    case NAME:
        if (e->values->known && !e->values->known[n->number]) {
            char reason[160];
            snprintf(reason, sizeof reason, "the value of \"%.100s\" is not known here", e->names->name[n->number]);
            return stop(e, HPT_NOT_FOUND, reason);
        }
        *out = e->values->value[n->number];
        return true;
    case CHOOSE:
    case AND:
    case OR:
        return eval_lazy(e, n, out);
    default:
        break;
    }
    if (!eval(e, n->a, &a) || (n->b && !eval(e, n->b, &b))) return false;
    switch (n->kind) {
    case NEGATE:
        fits = !__builtin_sub_overflow((int64_t)0, a, out);
        break;
    case NOT:
        *out = !a;
        break;
    case MULTIPLY:
        fits = hpt_mul_i64(out, a, b);
        break;
    case DIVIDE:
        return divide(e, a, b, out, &other);
    case REMAINDER:
        return divide(e, a, b, &other, out);
    case ADD:
        fits = hpt_add_i64(out, a, b);
        break;
    case SUBTRACT:
        fits = !__builtin_sub_overflow(a, b, out);
        break;
    case LESS:
        *out = a < b;
        break;
    case LESS_EQUAL:
        *out = a <= b;
        break;
    case GREATER:
        *out = a > b;
        break;
    case GREATER_EQUAL:
        *out = a >= b;
        break;
    case EQUAL:
        *out = a == b;
        break;
    case NOT_EQUAL:
        *out = a != b;
        break;
    case MIN:
        *out = a < b ? a : b;
        break;
    case MAX:
        *out = a > b ? a : b;
        break;
    case CEIL_DIV:
        return ceil_div(e, a, b, out);
    case ROUND_UP:
        if (!ceil_div(e, a, b, &other)) return false;
        fits = hpt_mul_i64(out, other, b);
        break;
    default:
        return stop(e, HPT_INTERNAL, "it holds an operator that cannot be evaluated");
    }
    return fits || stop(e, HPT_TOO_LARGE, "the result does not fit into 64 bits");
}

hpt_status hpt_formula_eval(int64_t *out, const hpt_formula *formula, const hpt_names *names, const hpt_values *values,
                            hpt_error *error) {
    evaluation e = {names, values, HPT_OK, ""};
    if (eval(&e, formula->root, out)) return HPT_OK;
    return hpt_error_set(error, e.code, formula->where, "In the formula \"%s\": %s.", formula->text, e.reason);
}
