/* heptane chain: the chaining with the fewest writes, its schedule and its bound. */
#include "passes/chain/chains.h"
#include "passes/choose.h"
#include "report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_chain(int argc, char **argv, hpt_error *error);

static json_t *chain_step_json(const hpt_step *step, int32_t p) {
    json_t *writes = json_array();
    for (int32_t w = 0; w < step->write_count; w++)
        json_array_append_new(writes, json_pack("[i,i,o]", step->writes[w].c / p + 1, step->writes[w].c % p + 1,
                                                hpt_exact_json(step->writes[w].weight.text)));
    return json_pack("{s:i,s:o,s:o}", "product", step->product + 1, "scale", hpt_exact_json(step->scale.text), "writes",
                     writes);
}

static json_t *schedule_step_json(const hpt_step *step, int32_t p) {
    json_t *writes = json_array();
    for (int32_t w = 0; w < step->write_count; w++)
        json_array_append_new(
            writes, json_pack("{s:[i,i],s:o,s:b}", "c", step->writes[w].c / p + 1, step->writes[w].c % p + 1, "weight",
                              hpt_exact_json(step->writes[w].weight.text), "first", step->writes[w].first));
    return json_pack("{s:i,s:i,s:b,s:o,s:o}", "product", step->product + 1, "accumulator", step->accumulator + 1,
                     "fresh", step->fresh, "scale", hpt_exact_json(step->scale.text), "writes", writes);
}

static json_t *schedule_json(const hpt_schedule *s) {
    json_t *chains = json_array(), *steps = json_array();
    for (int32_t i = 0; i < s->chains; i++) json_array_append_new(chains, json_array());
    for (int32_t t = 0; t < s->step_count; t++) {
        json_array_append_new(json_array_get(chains, (size_t)s->steps[t].chain), chain_step_json(&s->steps[t], s->p));
        json_array_append_new(steps, schedule_step_json(&s->steps[t], s->p));
    }
    return json_pack("{s:[i,i,i],s:i,s:i,s:i,s:b,s:f,s:s,s:i,s:b,s:o,s:o}", "shape", s->n, s->m, s->p, "rank", s->rank,
                     "writes", s->writes, "lower_bound", s->lower_bound, "optimal", s->optimal, "gap",
                     (double)(s->writes - s->lower_bound) / (double)s->writes, "method", s->method, "accumulators",
                     s->accumulators, "alternates", s->alternates, "chains", chains, "schedule", steps);
}

static void print_step(const hpt_step *step, int32_t p) {
    printf("%s%s P%d", strcmp(step->scale.text, "1") == 0 ? "" : step->scale.text,
           strcmp(step->scale.text, "1") == 0 ? "" : " *", step->product + 1);
    for (int32_t w = 0; w < step->write_count; w++)
        printf("%s Z%d%d %s %s", w ? "," : "  ->", step->writes[w].c / p + 1, step->writes[w].c % p + 1,
               step->writes[w].first ? "=" : "+=", step->writes[w].weight.text);
    printf("\n");
}

static void print_schedule(const hpt_schedule *s) {
    printf("%dx%dx%d:%d  %d writes in %d chains, ", s->n, s->m, s->p, s->rank, s->writes, s->chains);
    if (s->optimal)
        printf("proved minimal (%s)\n", s->method);
    else
        printf("at least %d are needed (%s)\n", s->lower_bound, s->method);
    for (int32_t i = 0; i < s->chains; i++) {
        printf("chain %d\n", i + 1);
        for (int32_t t = 0; t < s->step_count; t++)
            if (s->steps[t].chain == i) {
                printf("  step %-3d accumulator %d  ", t + 1, s->steps[t].accumulator + 1);
                print_step(&s->steps[t], s->p);
            }
    }
    if (s->accumulators > 1)
        printf("%s\n",
               s->alternates ? "No accumulator is used twice running." : "Some accumulator is used twice running.");
}

/* Replaces *scheme by an equivalent one with fewer writes. */
static hpt_status choose(hpt_scheme **scheme, double seconds, hpt_error *error) {
    hpt_scheme *chosen = NULL;
    hpt_status status = hpt_chain_choose(&chosen, *scheme, seconds, &hpt_cli_progress, error);
    if (status != HPT_OK) return status;
    hpt_scheme_destroy(*scheme);
    *scheme = chosen;
    return HPT_OK;
}

static hpt_status write_scheme(const char *path, const hpt_scheme *scheme, hpt_error *error) {
    char *text = NULL;
    size_t length;
    hpt_status status = hpt_scheme_write(&text, &length, scheme, "heptane", error);
    if (status == HPT_OK) status = hpt_file_write(path, text, length, error);
    free(text);
    return status;
}

static hpt_status write_certificate(const char *path, const hpt_schedule *schedule, const hpt_chain_proof *proof,
                                    const hpt_scheme *scheme, hpt_error *error) {
    hpt_text text = {0};
    hpt_status status = hpt_chain_certify(&text, schedule, proof, scheme, error);
    if (status == HPT_OK) status = hpt_file_write(path, text.data, text.length, error);
    hpt_text_clear(&text);
    return status;
}

hpt_status hpt_command_chain(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    hpt_schedule *schedule = NULL;
    hpt_chain_proof proof = {0};
    const char *kind = "optimal", *certificate = NULL, *output = NULL;
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    bool json = false, prove = false, equivalent = false, helped = false;
    int64_t accumulators = 2;
    double seconds = 60;
    int first = 0;
    const hpt_option options[] = {
        {"accumulators", 0, HPT_OPTION_INTEGER, &accumulators, "N", "accumulators to interleave over (default 2)", 1,
         8},
        {"chain", 0, HPT_OPTION_TEXT, &kind, "KIND", "optimal (default) or none: every product by itself", 0, 0},
        {"time-limit", 0, HPT_OPTION_REAL, &seconds, "S", "seconds for the proof of optimality (default 60)", 0, 0},
        {"prove", 0, HPT_OPTION_FLAG, &prove, NULL, "exit with 7 unless the number of writes is proved minimal", 0, 0},
        {"certificate", 0, HPT_OPTION_TEXT, &certificate, "FILE", "write a proof that heptane-check checks", 0, 0},
        {"equivalent", 0, HPT_OPTION_FLAG, &equivalent, NULL, "choose an equivalent scheme with fewer writes", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &output, "FILE", "write the scheme that was chained (with --equivalent)", 0,
         0},
        HPT_SCHEME_OPTIONS(arguments),
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"chain",
                             "FILE [options]",
                             "Finds the chaining of a scheme's products with the fewest writes to memory.",
                             "heptane chain strassen                    ten writes instead of twelve\n"
                             "heptane chain my.json --accumulators 1    for a target with one accumulator\n"
                             "heptane chain strassen --equivalent -o seven.json   seven, in another basis\n"
                             "heptane chain my.json --prove --certificate my.cert   and a proof to check",
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    bool unchained = strcmp(kind, "none") == 0;
    HPT_FAIL_IF(!unchained && strcmp(kind, "optimal") != 0, HPT_USAGE, "--chain", "\"%s\" is neither optimal nor none.",
                kind);
    HPT_FAIL_IF(seconds <= 0, HPT_USAGE, "--time-limit", "The time limit must be positive.");
    HPT_FAIL_IF(unchained && certificate, HPT_USAGE, "--certificate", "There is nothing to prove without chaining.");
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    HPT_TRY(hpt_scheme_read_proved(&scheme, argv[first], &reading, error));
    if (equivalent) HPT_TRY(choose(&scheme, seconds, error));
    if (output) HPT_TRY(write_scheme(output, scheme, error));
    hpt_chain_options chain = {.accumulators = (int32_t)accumulators, .unchained = unchained, .time_limit = seconds};
    HPT_TRY(hpt_chain_with_proof(&schedule, certificate ? &proof : NULL, scheme, &chain, &hpt_cli_progress, error));
    if (certificate) HPT_TRY(write_certificate(certificate, schedule, &proof, scheme, error));
    if (json)
        HPT_TRY(hpt_json_print(schedule_json(schedule), error));
    else
        print_schedule(schedule);
    HPT_FAIL_IF(prove && !schedule->optimal, HPT_UNDECIDED, argv[first],
                "%d writes were found and at least %d are needed; what lies between is not decided.", schedule->writes,
                schedule->lower_bound);
    if (hpt_progress_interrupted(&hpt_cli_progress)) status = HPT_INTERRUPTED; /* what was found is printed */
done:
    hpt_bound_tree_clear(&proof.tree);
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
    return status;
}
