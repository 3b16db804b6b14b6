/* names.h - the variables of a straight-line program: a hash table from names to expressions, bounded in size. */
#ifndef HPT_FORMATS_NAMES_H
#define HPT_FORMATS_NAMES_H

#include "formats/expression.h"

enum { HPT_NAMES_LENGTH = 40, HPT_NAMES_TERMS = 1 << 22 };

typedef struct hpt_name {
    char text[HPT_NAMES_LENGTH];
    hpt_expression value;
} hpt_name;

typedef struct hpt_names {
    hpt_name *items;
    size_t count, capacity;
    int32_t *table; /* item numbers, -1 where free */
    size_t table_size;
    size_t terms; /* of all expressions together */
} hpt_names;

void hpt_names_clear(hpt_names *names);
/* The expression of a name, or NULL. */
const hpt_expression *hpt_names_find(const hpt_names *names, const char *text);
/* Copies the expression; a name that is there is set anew. `c` only serves to name the place in errors. */
hpt_status hpt_names_set(hpt_names *names, const char *text, const hpt_expression *value, const hpt_cursor *c,
                         hpt_error *error);
/* Letters, digits and underscores at the cursor, the first a letter. */
hpt_status hpt_names_scan(char text[HPT_NAMES_LENGTH], hpt_cursor *c, hpt_error *error);

#endif
