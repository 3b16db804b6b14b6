/* variables.h - the variables of a straight-line program: a hash table from names to expressions, bounded in size. */
#ifndef HPT_FORMATS_NAMES_H
#define HPT_FORMATS_NAMES_H

#include "formats/expression.h"

enum { HPT_VARIABLES_LENGTH = 40, HPT_VARIABLES_TERMS = 1 << 22 };

typedef struct hpt_variable {
    char text[HPT_VARIABLES_LENGTH];
    hpt_expression value;
} hpt_variable;

typedef struct hpt_variables {
    hpt_variable *items;
    size_t count, capacity;
    int32_t *table; /* item numbers, -1 where free */
    size_t table_size;
    size_t terms; /* of all expressions together */
} hpt_variables;

void hpt_variables_clear(hpt_variables *names);
/* The expression of a name, or NULL. */
const hpt_expression *hpt_variables_find(const hpt_variables *names, const char *text);
/* Copies the expression; a name that is there is set anew. `c` only serves to name the place in errors. */
hpt_status hpt_variables_set(hpt_variables *names, const char *text, const hpt_expression *value, const hpt_cursor *c,
                             hpt_error *error);
/* Letters, digits and underscores at the cursor, the first a letter. */
hpt_status hpt_variables_scan(char text[HPT_VARIABLES_LENGTH], hpt_cursor *c, hpt_error *error);

#endif
