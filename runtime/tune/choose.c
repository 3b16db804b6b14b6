/* Which variant for how many rows: what was tuned here, else the table of defaults. */
#include "backend/driver.h"
#include "launch/launch.h"
#include "tune/tuned.h"
#include "tune/width.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *op, *target; /* target "": any */
    int64_t rows, widest, outputs;
    const char *scheme, *plan;
} defaults[] = {
#define CHOICE(op, target, rows, widest, outputs, scheme, plan) {op, target, rows, widest, outputs, scheme, plan},
#include "tune/choices.def"
#undef CHOICE
};

void hpt_tuned_types(char *out, size_t room, const hpt_op_info *info, const char *variety, const char *sums) {
    snprintf(out, room, "%s %s %s %s %s%s%s", info->type_x, info->type_y, info->type_c, info->type_forms, variety,
             sums ? " sums " : "", sums ? sums : "");
}

hpt_status hpt_tuned_key_make(hpt_tuned_key *out, const hpt_context *context, const char *op, const char *types,
                              int64_t m, int64_t n, int64_t k, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_driver *driver;
    hpt_context_info device;
    hpt_context_describe(context, &device);
    *out = (hpt_tuned_key){.m = m, .n = n, .k = k};
    HPT_FAIL_IF(strlen(op) >= sizeof out->op || strlen(types) >= sizeof out->types, HPT_USAGE, op,
                "The name or the types are too long: \"%s\".", types);
    if (strcmp(device.backend, "gpu") == 0) {
        HPT_TRY(hpt_driver_open(&driver, error));
        out->driver = driver->version;
    }
    snprintf(out->device, sizeof out->device, "%s", device.device);
    snprintf(out->target, sizeof out->target, "%s", device.target);
    snprintf(out->op, sizeof out->op, "%s", op);
    snprintf(out->types, sizeof out->types, "%s", types);
done:
    return status;
}

/* out->rows, the class of m, is cut down to what the row holds for. */
static bool choose_default(hpt_choice *out, const char *op, const char *target, int64_t m, int64_t columns) {
    for (size_t i = 0; i < HPT_COUNT(defaults); i++) {
        const int64_t most = defaults[i].outputs / columns;
        const int64_t rows = most < defaults[i].rows ? most : defaults[i].rows;
        if (strcmp(defaults[i].op, op) != 0 || m > rows || hpt_width_of_fewest(m) > defaults[i].widest) continue;
        if (defaults[i].target[0] && strcmp(defaults[i].target, target) != 0) continue;
        snprintf(out->scheme, sizeof out->scheme, "%s", defaults[i].scheme);
        hpt_width_fill(out->plan, sizeof out->plan, defaults[i].plan, m);
        if (rows < out->rows) out->rows = rows;
        return true;
    }
    return false;
}

hpt_status hpt_choose(hpt_choice *out, const hpt_context *context, const char *op, const char *types, int64_t m,
                      int64_t n, int64_t k, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_tuned_key key;
    hpt_tuned_choice tuned;
    *out = (hpt_choice){.rows = hpt_tuned_class(m)};
    HPT_FAIL_IF(m < 1 || n < 1 || k < 1, HPT_USAGE, op, "Sizes must be at least 1.");
    HPT_TRY(hpt_tuned_key_make(&key, context, op, types, m, n, k, error));
    if (hpt_tuned_find(&tuned, context->cache, &key)) {
        memcpy(out->scheme, tuned.scheme, sizeof tuned.scheme);
        memcpy(out->plan, tuned.plan, sizeof tuned.plan);
        memcpy(out->settings, tuned.settings, sizeof tuned.settings);
        out->unchained = tuned.unchained;
        out->tuned = true;
        goto done;
    }
    HPT_FAIL_IF(!choose_default(out, op, key.target, m, n), HPT_UNSUPPORTED, op,
                "There are no defaults for this operation (mlp and gemm have some).");
done:
    return status;
}
