/* random.h - the data of run, bench and tests. Promises:
 *   - N(0,1) from a counter-based generator: any element of any matrix can be made again from (seed, matrix, index)
 * alone.
 *   - values are rounded to the type they are stored in, to nearest even; hpt_typed_get gives exactly the value stored.
 *   - hpt_parallel runs a loop on all processors.
 */
#ifndef HPT_CLI_RANDOM_H
#define HPT_CLI_RANDOM_H

#include "core.h"

typedef enum hpt_number_type { HPT_NUMBER_F16, HPT_NUMBER_BF16, HPT_NUMBER_F32 } hpt_number_type;

bool hpt_number_type_find(hpt_number_type *out, const char *name);
size_t hpt_number_type_bytes(hpt_number_type type);

float hpt_random_normal(uint64_t seed, uint64_t matrix, uint64_t index);
/* `count` elements of a matrix from index 0, rounded to `rounding`, then stored as `type`; parallel. */
void hpt_random_fill(void *out, hpt_number_type type, hpt_number_type rounding, size_t count, uint64_t seed,
                     uint64_t matrix);
/* Stores `count` elements in another type; parallel. */
void hpt_typed_convert(void *out, hpt_number_type to, const void *in, hpt_number_type from, size_t count);

uint16_t hpt_f16_from_float(float value);
float hpt_f16_to_float(uint16_t bits);
uint16_t hpt_bf16_from_float(float value);
float hpt_bf16_to_float(uint16_t bits);
float hpt_typed_get(const void *data, hpt_number_type type, size_t index);
void hpt_typed_set(void *data, hpt_number_type type, size_t index, float value);

/* Calls body(user, first, last) on ranges that cover 0 .. count - 1, side by side. */
void hpt_parallel(size_t count, void (*body)(void *user, size_t first, size_t last), void *user);

#endif
