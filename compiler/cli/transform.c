#include "report.h"
#include "scheme/lift.h"
#include "scheme/operations.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_transform(int argc, char **argv, hpt_error *error);

typedef struct wishes {
    bool lift, cyclic, cyclic_back, transpose;
    const char *left, *middle, *right, *scale, *tensor, *sum, *along, *project, *extend;
} wishes;

static void step_to(hpt_scheme **now, hpt_scheme *next) {
    hpt_scheme_destroy(*now);
    *now = next;
}

static hpt_status sandwich(hpt_scheme **out, const hpt_scheme *s, const wishes *w, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_matrix matrix[3] = {{0}};
    const char *const texts[3] = {w->left, w->middle, w->right};
    static const char *const names[3] = {"--left", "--middle", "--right"};
    const int32_t sizes[3] = {hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s)};
    for (int i = 0; i < 3; i++) {
        if (texts[i])
            HPT_TRY(hpt_matrix_parse(&matrix[i], texts[i], sizes[i], hpt_scheme_ring_record(s), names[i], error));
        else
            HPT_TRY(hpt_matrix_init(&matrix[i], sizes[i], error));
    }
    HPT_TRY(hpt_scheme_sandwich(out, s, &matrix[0], &matrix[1], &matrix[2], error));
done:
    for (int i = 0; i < 3; i++) hpt_matrix_clear(&matrix[i]);
    return status;
}

/* "R,A,B" */
static hpt_status scale(hpt_scheme **out, const hpt_scheme *s, const char *text, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_value a, b;
    char *end;
    hpt_value_init(&a);
    hpt_value_init(&b);
    long product = strtol(text, &end, 10);
    const char *second = *end == ',' ? strchr(end + 1, ',') : NULL;
    HPT_FAIL_IF(!second || product < 1 || product > hpt_scheme_rank(s), HPT_USAGE, "--scale",
                "\"%.60s\" should be a product and two scales, like 3,-1,1/2.", text);
    HPT_TRY(
        hpt_value_parse(&a, hpt_scheme_ring_record(s), end + 1, (size_t)(second - end - 1), NULL, "--scale", error));
    HPT_TRY(hpt_value_parse(&b, hpt_scheme_ring_record(s), second + 1, strlen(second + 1), NULL, "--scale", error));
    HPT_TRY(hpt_scheme_scale(out, s, (int32_t)product - 1, &a, &b, error));
done:
    hpt_value_clear(&b);
    hpt_value_clear(&a);
    return status;
}

static hpt_status with_other(hpt_scheme **out, const hpt_scheme *s, const char *name, const char *along,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *other = NULL;
    HPT_TRY(hpt_scheme_read(&other, name, NULL, error));
    if (along)
        HPT_TRY(hpt_scheme_sum(out, s, other, along[0], error));
    else
        HPT_TRY(hpt_scheme_tensor(out, s, other, error));
done:
    hpt_scheme_destroy(other);
    return status;
}

/* The wishes in the order of the help. */
static hpt_status transform(hpt_scheme **s, const wishes *w, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *next = NULL;
    int32_t shape[3];
    if (w->lift) {
        HPT_TRY(hpt_scheme_lift(&next, *s, error));
        step_to(s, next);
    }
    if (w->cyclic) {
        HPT_TRY(hpt_scheme_cyclic(&next, *s, error));
        step_to(s, next);
    }
    for (int i = 0; w->cyclic_back && i < 2; i++) {
        HPT_TRY(hpt_scheme_cyclic(&next, *s, error));
        step_to(s, next);
    }
    if (w->transpose) {
        HPT_TRY(hpt_scheme_transpose(&next, *s, error));
        step_to(s, next);
    }
    if (w->left || w->middle || w->right) {
        HPT_TRY(sandwich(&next, *s, w, error));
        step_to(s, next);
    }
    if (w->scale) {
        HPT_TRY(scale(&next, *s, w->scale, error));
        step_to(s, next);
    }
    if (w->tensor) {
        HPT_TRY(with_other(&next, *s, w->tensor, NULL, error));
        step_to(s, next);
    }
    if (w->sum) {
        HPT_TRY(with_other(&next, *s, w->sum, w->along, error));
        step_to(s, next);
    }
    if (w->project) {
        HPT_TRY(hpt_shape_parse(shape, w->project, error));
        HPT_TRY(hpt_scheme_project(&next, *s, shape[0], shape[1], shape[2], error));
        step_to(s, next);
    }
    if (w->extend) {
        HPT_TRY(hpt_shape_parse(shape, w->extend, error));
        HPT_TRY(hpt_scheme_extend(&next, *s, shape[0], shape[1], shape[2], error));
        step_to(s, next);
    }
done:
    return status;
}

static hpt_status write_out(const hpt_scheme *s, const char *out, const char *format, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *text = NULL;
    size_t length;
    HPT_TRY(hpt_scheme_write(&text, &length, s, format, error));
    if (strcmp(out, "-") == 0)
        HPT_FAIL_IF(fwrite(text, 1, length, stdout) != length, HPT_IO, "standard output", "Cannot write.");
    else
        HPT_TRY(hpt_file_write(out, text, length, error));
done:
    free(text);
    return status;
}

hpt_status hpt_command_transform(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool helped, json = false, unchecked = false;
    int first;
    const char *out = NULL, *format = NULL;
    hpt_scheme *scheme = NULL;
    hpt_verification verdict;
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    wishes w = {.along = "n"};
    const hpt_option options[] = {
        {"lift", 0, HPT_OPTION_FLAG, &w.lift, NULL, "from modulo 2 to Z or Q (Hensel)", 0, 0},
        {"cyclic", 0, HPT_OPTION_FLAG, &w.cyclic, NULL, "(n,m,p) to (m,p,n)", 0, 0},
        {"cyclic-back", 0, HPT_OPTION_FLAG, &w.cyclic_back, NULL, "(n,m,p) to (p,n,m)", 0, 0},
        {"transpose", 0, HPT_OPTION_FLAG, &w.transpose, NULL, "(n,m,p) to (p,m,n)", 0, 0},
        {"left", 0, HPT_OPTION_TEXT, &w.left, "L", "X becomes L X M^-1, as in 1,1;0,1", 0, 0},
        {"middle", 0, HPT_OPTION_TEXT, &w.middle, "M", "Y becomes M Y N^-1", 0, 0},
        {"right", 0, HPT_OPTION_TEXT, &w.right, "N", "Z becomes L^-1 Z N", 0, 0},
        {"scale", 0, HPT_OPTION_TEXT, &w.scale, "R,A,B", "product R: u times A, v times B", 0, 0},
        {"tensor", 0, HPT_OPTION_TEXT, &w.tensor, "FILE", "blocks of blocks: this scheme of that one", 0, 0},
        {"sum", 0, HPT_OPTION_TEXT, &w.sum, "FILE", "beside another scheme, --along n, m or p", 0, 0},
        {"along", 0, HPT_OPTION_TEXT, &w.along, "AXIS", "the axis of --sum (default n)", 0, 0},
        {"project", 0, HPT_OPTION_TEXT, &w.project, "N,M,P", "to a smaller shape", 0, 0},
        {"extend", 0, HPT_OPTION_TEXT, &w.extend, "N,M,P", "to a larger shape, textbook for the rest", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &out, "OUT", "the file to write; - is standard output", 0, 0},
        {"to", 0, HPT_OPTION_TEXT, &format, "FORMAT", "the format to write (default heptane)", 0, 0},
        {"unchecked", 0, HPT_OPTION_FLAG, &unchecked, NULL, "do not verify the result", 0, 0},
        HPT_SCHEME_OPTIONS(arguments),
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print the result's verdict as JSON", 0, 0}};
    const hpt_usage usage = {"transform",
                             "FILE [operations] [-o OUT]",
                             "Makes schemes out of schemes; operations are done in the order of the options below.",
                             "heptane transform strassen --tensor strassen -o 4x4x4-49.json   two levels\n"
                             "heptane transform 2x3x3:15 --cyclic -o 3x3x2.json               other roles\n"
                             "heptane transform winograd --left '1,1;0,1' -o w.json           another basis\n"
                             "heptane transform mod2.exp --lift -o lifted.json                from GF(2) to Z",
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    HPT_TRY(hpt_scheme_read(&scheme, argv[first], &reading, error));
    HPT_TRY(hpt_scheme_verify(&verdict, scheme, error));
    if (verdict.verdict == HPT_VERDICT_REFUTED) HPT_TRY(hpt_verdict_status(argv[first], &verdict, error));
    HPT_TRY(transform(&scheme, &w, error));
    if (!unchecked) {
        HPT_TRY(hpt_scheme_verify_watched(&verdict, scheme, &hpt_cli_progress, error));
        if (json)
            HPT_TRY(hpt_json_print(hpt_verdict_json(scheme, &verdict), error));
        else if (out && strcmp(out, "-") != 0)
            hpt_verdict_print(out, scheme, &verdict);
        if (verdict.verdict == HPT_VERDICT_REFUTED) HPT_TRY(hpt_verdict_status(argv[first], &verdict, error));
    }
    if (out || !json) HPT_TRY(write_out(scheme, out ? out : "-", format, error));
done:
    hpt_scheme_destroy(scheme);
    return status;
}
