/* type.c - names and precision of the element types */
#include "plan/plan.h"
#include <string.h>

static const struct {
    const char *name;
    double roundoff;
    int parts;
} types[] = {
    [HPT_TYPE_F16] = {"f16", 0x1p-11, 4},
    [HPT_TYPE_BF16] = {"bf16", 0x1p-8, 1},
    [HPT_TYPE_F32] = {"f32", 0x1p-24, 8},
};

const char *hpt_type_name(hpt_type type) { return types[type].name; }

double hpt_type_roundoff(hpt_type type) { return types[type].roundoff; }

int hpt_type_parts(hpt_type type) { return types[type].parts; }

bool hpt_type_find(hpt_type *out, const char *name) {
    for (size_t i = 0; i < HPT_COUNT(types); i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *out = (hpt_type)i;
        return true;
    }
    return false;
}
