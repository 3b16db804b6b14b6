#include "report.h"
#include "passes/chain/chains.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_shape_parse(int32_t shape[3], const char *text, hpt_error *error) {
    char end;
    if (sscanf(text, "%d,%d,%d%c", &shape[0], &shape[1], &shape[2], &end) != 3 || shape[0] < 1 || shape[1] < 1 ||
        shape[2] < 1)
        return hpt_error_set(error, HPT_USAGE, "--shape", "\"%.60s\" should be three sizes, like 2,3,4.", text);
    return HPT_OK;
}

hpt_status hpt_scheme_options(hpt_read_options *out, const hpt_scheme_arguments *arguments, hpt_error *error) {
    int32_t shape[3] = {0, 0, 0};
    hpt_status status = arguments->shape ? hpt_shape_parse(shape, arguments->shape, error) : HPT_OK;
    *out = (hpt_read_options){shape[0], shape[1], shape[2], arguments->ring, arguments->from, &hpt_cli_progress};
    return status;
}

json_t *hpt_exact_json(const char *text) {
    char *end = NULL;
    size_t length = strlen(text);
    if (length > 0 && length < 18) { /* surely in 64 bits */
        long long number = strtoll(text, &end, 10);
        if (end && *end == '\0') return json_integer(number);
    }
    return json_string(text);
}

json_t *hpt_verdict_json(const hpt_scheme *s, const hpt_verification *v) {
    json_t *ok = v->verdict == HPT_VERDICT_UNDECIDED ? json_null() : json_boolean(v->verdict == HPT_VERDICT_PROVED);
    json_t *out =
        json_pack("{s:o, s:i, s:i, s:i, s:i, s:s, s:s}", "ok", ok, "n", hpt_scheme_n(s), "m", hpt_scheme_m(s), "p",
                  hpt_scheme_p(s), "rank", hpt_scheme_rank(s), "ring", v->ring, "format", hpt_scheme_format(s));
    if (!out) return NULL;
    json_object_set_new(out, "equations", json_integer(v->equations));
    if (hpt_scheme_convention(s)[0]) json_object_set_new(out, "convention", json_string(hpt_scheme_convention(s)));
    if (strcmp(v->ring, "Q[x,1/x]") == 0) json_object_set_new(out, "border_degree", json_integer(v->border_degree));
    if (v->verdict == HPT_VERDICT_UNDECIDED) json_object_set_new(out, "residual", json_real(v->residual));
    if (v->failing > 0) {
        json_object_set_new(out, "failing_count", json_integer(v->failing));
        json_object_set_new(out, "failing",
                            json_pack("{s:[i,i], s:[i,i], s:[i,i], s:o, s:o}", "a", v->a[0], v->a[1], "b", v->b[0],
                                      v->b[1], "c", v->c[0], v->c[1], "expected", hpt_exact_json(v->expected), "got",
                                      hpt_exact_json(v->got)));
    }
    if (v->note[0]) json_object_set_new(out, "note", json_string(v->note));
    return out;
}

void hpt_verdict_print(const char *name, const hpt_scheme *s, const hpt_verification *v) {
    static const char *const words[] = {"correct", "REFUTED", "UNDECIDED"};
    printf("%s: %s, %d x %d x %d, rank %d over %s (%s", name, words[v->verdict], hpt_scheme_n(s), hpt_scheme_m(s),
           hpt_scheme_p(s), hpt_scheme_rank(s), v->ring, hpt_scheme_format(s));
    if (hpt_scheme_convention(s)[0]) printf("; %s", hpt_scheme_convention(s));
    printf(")");
    if (v->verdict == HPT_VERDICT_PROVED && v->border_degree)
        printf(", up to O(x^%d)", v->border_degree);
    else if (v->verdict == HPT_VERDICT_PROVED)
        printf(", all %lld equations hold", (long long)v->equations);
    if (v->note[0]) printf("; %s", v->note);
    printf("\n");
}

hpt_status hpt_verdict_status(const char *name, const hpt_verification *v, hpt_error *error) {
    if (v->verdict == HPT_VERDICT_PROVED) return HPT_OK;
    if (v->verdict == HPT_VERDICT_UNDECIDED)
        return hpt_error_set(error, HPT_UNDECIDED, name,
                             "The decimal coefficients satisfy the equations only up to %.3g, which proves nothing.",
                             v->residual);
    return hpt_error_set(error, HPT_REFUTED, name,
                         "The scheme does not multiply matrices over %s: %lld of %lld equations fail, first "
                         "X(%d,%d) Y(%d,%d) in Z(%d,%d): expected %s, got %s.",
                         v->ring, (long long)v->failing, (long long)v->equations, v->a[0], v->a[1], v->b[0], v->b[1],
                         v->c[0], v->c[1], v->expected, v->got);
}

hpt_status hpt_cli_chain(hpt_schedule **out, const hpt_scheme *scheme, const hpt_chain_options *options,
                         hpt_error *error) {
    hpt_status status = hpt_chain_with_proof(out, NULL, scheme, options, &hpt_cli_progress, error);
    if (status == HPT_OK && hpt_progress_interrupted(&hpt_cli_progress))
        return hpt_error_set(error, HPT_INTERRUPTED, "", "Interrupted.");
    return status;
}

hpt_status hpt_scheme_read_proved(hpt_scheme **out, const char *name, const hpt_read_options *reading,
                                  hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_verification verdict;
    HPT_TRY(hpt_scheme_read(out, name, reading, error));
    HPT_TRY(hpt_scheme_verify(&verdict, *out, error));
    HPT_TRY(hpt_verdict_status(name, &verdict, error));
done:
    return status;
}
