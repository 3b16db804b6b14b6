#include "formats/permuted.h"
#include "formats/catalogue.h"
#include "scheme/operations.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shape after `cyclic` turns and perhaps a transposition. */
static void permute(int shape[3], int cyclic, bool transpose) {
    for (int i = 0; i < cyclic; i++) {
        int first = shape[0];
        shape[0] = shape[1], shape[1] = shape[2], shape[2] = first;
    }
    if (transpose) {
        int first = shape[0];
        shape[0] = shape[2], shape[2] = first;
    }
}

static hpt_status apply(hpt_scheme **s, int cyclic, bool transpose, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (int i = 0; i < cyclic + transpose && status == HPT_OK; i++) {
        hpt_scheme *next = NULL;
        status = i < cyclic ? hpt_scheme_cyclic(&next, *s, error) : hpt_scheme_transpose(&next, *s, error);
        if (status != HPT_OK) break;
        hpt_scheme_destroy(*s);
        *s = next;
    }
    return status;
}

hpt_status hpt_permuted_read(hpt_scheme **out, const char *name, const hpt_read_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    int wanted[3], used = 0;
    char other[128], *path = NULL;
    hpt_scheme *s = NULL;
    hpt_read_options reading = *options;
    reading.n = reading.m = reading.p = 0; /* the shape that was asked for is the permuted one */
    HPT_FAIL_IF(sscanf(name, "%4dx%4dx%4d:%n", &wanted[0], &wanted[1], &wanted[2], &used) != 3 || used == 0,
                HPT_NOT_FOUND, name, "This is no name with a shape.");
    for (int code = 1; code < 6 && !*out; code++) {
        int shape[3] = {wanted[0], wanted[1], wanted[2]};
        permute(shape, code % 3, code / 3);
        int again[3] = {shape[0], shape[1], shape[2]}, back = 0;
        for (; back < 6; back++) {
            memcpy(again, shape, sizeof again);
            permute(again, back % 3, back / 3);
            if (memcmp(again, wanted, sizeof again) == 0) break;
        }
        snprintf(other, sizeof other, "%dx%dx%d:%.80s", shape[0], shape[1], shape[2], name + used);
        if (hpt_catalogue_find(&path, other, NULL) != HPT_OK) continue;
        HPT_TRY(hpt_scheme_read(&s, path, &reading, error));
        HPT_TRY(apply(&s, back % 3, back / 3, error));
        *out = s;
        s = NULL;
    }
    HPT_FAIL_IF(!*out, HPT_NOT_FOUND, name, "No order of these sizes is in the catalogue.");
done:
    free(path);
    hpt_scheme_destroy(s);
    return status;
}
