/* json.h - what the readers of JSON formats share: loading with places, exact integers, coefficients. */
#ifndef HPT_FORMATS_JSON_H
#define HPT_FORMATS_JSON_H

#include "formats/formats.h"
#include <jansson.h>
#include <stdlib.h>

bool hpt_json_looks(const hpt_input *source);                   /* the first character is '{' or '[' */
bool hpt_json_has(const hpt_input *source, const char *quoted); /* the text holds this key or string */
hpt_status hpt_json_load(json_t **out, const hpt_input *source, hpt_error *error);
hpt_status hpt_json_integer(int64_t *out, const json_t *value, const char *where, hpt_error *error);
hpt_status hpt_json_key(int64_t *out, const json_t *object, const char *key, const char *where, hpt_error *error);
/* An integer, a decimal number or a string; the id of the value in the builder. */
hpt_status hpt_json_value(int32_t *id, hpt_builder *builder, const hpt_ring *ring, const json_t *value,
                          const char *where, hpt_error *error);

#endif
