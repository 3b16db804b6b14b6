#include "launch/launch.h"
#include <stdlib.h>

hpt_status hpt_values_init(hpt_values *values, const hpt_names *names) {
    values->value = calloc(names->count + 1, sizeof *values->value);
    values->known = calloc(names->count + 1, sizeof *values->known);
    if (values->value && values->known) return HPT_OK;
    hpt_values_clear(values);
    return HPT_NO_MEMORY;
}

void hpt_values_clear(hpt_values *values) {
    free(values->value);
    free(values->known);
    *values = (hpt_values){0};
}

void hpt_values_set(hpt_values *values, int slot, int64_t value) {
    values->value[slot] = value;
    values->known[slot] = true;
}

hpt_status hpt_lets_eval(const hpt_let *let, size_t count, const hpt_names *names, hpt_values *values, bool partial,
                         hpt_error *error) {
    for (size_t i = 0; i < count; i++) {
        int64_t value = 0;
        hpt_status status = hpt_formula_eval(&value, let[i].formula, names, values, error);
        values->known[let[i].slot] = false;
        if (status == HPT_NOT_FOUND && partial) continue;
        if (status != HPT_OK) return status;
        hpt_values_set(values, let[i].slot, value);
    }
    return HPT_OK;
}

hpt_status hpt_requirements_check(hpt_text *text, const hpt_requirement *require, size_t count, const hpt_names *names,
                                  const hpt_values *values, hpt_error *error) {
    for (size_t i = 0; i < count; i++) {
        int64_t holds = 0;
        hpt_status status = hpt_formula_eval(&holds, require[i].that, names, values, error);
        if (status != HPT_OK) return status;
        if (!holds) hpt_text_printf(text, "%s%s", text->length ? " " : "", require[i].message);
    }
    return HPT_OK;
}
