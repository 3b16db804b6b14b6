/* numbers.h - the exact numbers of one chaining job, interned. Promises:
 *   - equal numbers have equal ids; 1 has id 0, -1 id 1, 0 id 2.
 *   - quotients and differences are exact, over the scheme's own ring; nothing rounds but hpt_numbers_double.
 */
#ifndef HPT_NUMBERS_H
#define HPT_NUMBERS_H

#include "core/core.h"
#include <heptane/scheme.h>

enum { HPT_NUMBER_ONE = 0, HPT_NUMBER_MINUS_ONE = 1, HPT_NUMBER_ZERO = 2 };

typedef struct hpt_numbers hpt_numbers;

/* The pool belongs to the scheme's ring; the scheme must outlive it. */
hpt_status hpt_numbers_create(hpt_numbers **out, const hpt_scheme *scheme, hpt_error *error);
void hpt_numbers_destroy(hpt_numbers *numbers);
/* A value of the scheme. HPT_NO_MEMORY at worst. */
hpt_status hpt_numbers_of_value(int32_t *id, hpt_numbers *numbers, int32_t value, hpt_error *error);
hpt_status hpt_numbers_divide(int32_t *id, hpt_numbers *numbers, int32_t a, int32_t b, hpt_error *error);
hpt_status hpt_numbers_multiply(int32_t *id, hpt_numbers *numbers, int32_t a, int32_t b, hpt_error *error);
hpt_status hpt_numbers_subtract(int32_t *id, hpt_numbers *numbers, int32_t a, int32_t b, hpt_error *error);
const char *hpt_numbers_text(const hpt_numbers *numbers, int32_t id);
double hpt_numbers_double(const hpt_numbers *numbers, int32_t id);

#endif
