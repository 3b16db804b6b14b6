/* formula.h - the integer formulas of op.json and manifest.json. Promises:
 *   - C syntax, precedence and short circuits over 64-bit integers; min, max, ceil_div, round_up. See PACKAGE.md.
 *   - names are resolved when the formula is read (a name table gives each a slot), so evaluation is a walk over nodes.
 *   - every overflow, division by zero and unknown name is an error that quotes the formula; nothing wraps silently.
 *   - parsing is linear and bounded: at most HPT_FORMULA_LENGTH bytes and HPT_FORMULA_DEPTH levels of nesting.
 * A value may be unknown when it is evaluated (max_clusters before the launch shape is known): that is an error of its
 * own (HPT_NOT_FOUND), so that a caller can evaluate later what depends on it.
 */
#ifndef HPT_FORMULA_H
#define HPT_FORMULA_H

#include "core.h"

enum { HPT_FORMULA_LENGTH = 4096, HPT_FORMULA_DEPTH = 64 };

typedef struct hpt_names { /* slot i is called name[i]; strings live in the arena */
    hpt_arena *arena;
    size_t count, capacity;
    const char **name;
} hpt_names;

/* Adds a name and returns its slot, or -1 without memory. The newest slot of a name wins. */
int hpt_names_add(hpt_names *names, const char *name);
/* The slot of a name, -1 if there is none. */
int hpt_names_find(const hpt_names *names, const char *name);

typedef struct hpt_formula hpt_formula;

typedef struct hpt_values { /* one per slot of the name table */
    int64_t *value;
    bool *known;
} hpt_values;

/* Reads a formula; it lives as long as the arena. `where` is the place for errors ("op.json: let tiles_m"). */
hpt_status hpt_formula_parse(const hpt_formula **out, hpt_arena *arena, const hpt_names *names, const char *text,
                             const char *where, hpt_error *error);
/* A formula that is a plain number. */
hpt_status hpt_formula_constant(const hpt_formula **out, hpt_arena *arena, int64_t value);
hpt_status hpt_formula_eval(int64_t *out, const hpt_formula *formula, const hpt_names *names, const hpt_values *values,
                            hpt_error *error);

#endif
