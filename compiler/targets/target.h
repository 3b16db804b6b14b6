/* target.h - GPU kinds as const records, read from templates/targets/NAME/target.lua once. Promises:
 *   - a target is feature bits and limits; nothing anywhere compares architecture numbers.
 *   - names are exact, with their a or f suffix ("sm_90a"): code for one never runs on another by accident.
 */
#ifndef HPT_TARGET_H
#define HPT_TARGET_H

#include "core.h"
#include <jansson.h>

typedef struct hpt_target {
    const char *name;
    int32_t accumulators;
    const json_t *record; /* everything target.lua says; templates see it as `target` */
} hpt_target;

/* HPT_USAGE if there is no such target; the message lists those that there are. */
hpt_status hpt_target_find(const hpt_target **out, const char *name, hpt_error *error);

#endif
