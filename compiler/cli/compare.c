#include "report.h"
#include "scheme/orbit.h"
#include <stdio.h>
#include <string.h>

hpt_status hpt_command_compare(int argc, char **argv, hpt_error *error);

static hpt_status print_matrices(hpt_text text[3], const hpt_orbit *o, const hpt_scheme *s, hpt_error *error) {
    const hpt_matrix *const matrices[3] = {&o->left, &o->middle, &o->right};
    for (int i = 0; i < 3; i++) {
        hpt_matrix_print(&text[i], matrices[i], hpt_scheme_ring_record(s)->generator);
        if (text[i].failed) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    }
    return HPT_OK;
}

static json_t *answer_json(hpt_answer answer) {
    return answer == HPT_UNKNOWN ? json_null() : json_boolean(answer == HPT_YES);
}

static hpt_status print_json(const hpt_orbit *o, hpt_text text[3], hpt_error *error) {
    json_t *witness = o->equivalent != HPT_YES
                          ? json_null()
                          : json_pack("{s:i, s:b, s:s, s:s, s:s}", "cyclic", o->cyclic, "transpose", o->transpose,
                                      "left", text[0].data, "middle", text[1].data, "right", text[2].data);
    json_t *out = json_pack("{s:o, s:o, s:o}", "same", answer_json(o->same), "equivalent", answer_json(o->equivalent),
                            "witness", witness);
    if (out && o->reason[0] && o->equivalent != HPT_YES) json_object_set_new(out, "reason", json_string(o->reason));
    return hpt_json_print(out, error);
}

static void print_people(const hpt_orbit *o, hpt_text text[3]) {
    if (o->same == HPT_YES) {
        printf("the same scheme\n");
    } else if (o->equivalent == HPT_YES) {
        printf("the same orbit; the first becomes the second by heptane transform");
        static const char *const turns[3] = {"", " --cyclic", " --cyclic-back"};
        printf("%s%s --left '%s' --middle '%s' --right '%s'\n", turns[o->cyclic], o->transpose ? " --transpose" : "",
               text[0].data, text[1].data, text[2].data);
    } else {
        printf("%s: %s\n", o->equivalent == HPT_NO ? "different" : "undecided", o->reason);
    }
}

hpt_status hpt_command_compare(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped;
    int first;
    hpt_scheme *scheme[2] = {NULL, NULL};
    hpt_orbit orbit = {.reason = ""};
    hpt_text text[3] = {{0}};
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    const hpt_option options[] = {HPT_SCHEME_OPTIONS(arguments),
                                  {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "compare",
        "A B [options]",
        "Same scheme (products in any order and scaling), same orbit with a witness, or different.",
        "heptane compare strassen winograd\n"
        "heptane compare laderman my.exp --json",
        2,
        2,
        options,
        HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    for (int i = 0; i < 2; i++) {
        status = hpt_scheme_read_proved(&scheme[i], argv[first + i], &reading, error);
        if (status != HPT_OK && status != HPT_UNDECIDED) goto done; /* decimals can be compared all the same */
    }
    status = HPT_OK;
    HPT_TRY(hpt_orbit_compare(&orbit, scheme[0], scheme[1], error));
    if (orbit.equivalent == HPT_YES) HPT_TRY(print_matrices(text, &orbit, scheme[0], error));
    if (json)
        HPT_TRY(print_json(&orbit, text, error));
    else
        print_people(&orbit, text);
    HPT_FAIL_IF(orbit.equivalent == HPT_NO, HPT_DIFFERS, "", "The schemes are different: %s", orbit.reason);
    HPT_FAIL_IF(orbit.equivalent == HPT_UNKNOWN, HPT_UNDECIDED, "", "%s", orbit.reason);
done:
    for (int i = 0; i < 3; i++) hpt_text_clear(&text[i]);
    hpt_orbit_clear(&orbit);
    for (int i = 0; i < 2; i++) hpt_scheme_destroy(scheme[i]);
    return status;
}
