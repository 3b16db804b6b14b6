#include "passes/additions/additions.h"
#include "report.h"
#include "scheme/generating.h"
#include "scheme/orbit.h"
#include "verify/growth.h"
#include <heptane/chain.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_info(int argc, char **argv, hpt_error *error);

enum { SHOWN_VALUES = 100 };

typedef struct facts {
    hpt_verification verdict;
    hpt_additions additions;
    hpt_generating stored; /* forms of Y */
    int64_t symmetries;    /* 0: not known */
    hpt_schedule *chained, *unchained;
} facts;

static void clear(facts *f) {
    free(f->stored.products);
    hpt_schedule_destroy(f->chained);
    hpt_schedule_destroy(f->unchained);
}

/* Chaining applies to correct schemes over real rings of moderate size; without it there are no writes to report. */
static hpt_status find_writes(facts *f, const hpt_scheme *s, double limit, hpt_error *error) {
    const hpt_chain_options best = {.time_limit = limit, .any = true}, none = {.unchained = true};
    if (f->verdict.verdict != HPT_VERDICT_PROVED || !hpt_scheme_is_real(s)) return HPT_OK;
    hpt_status status = hpt_cli_chain(&f->chained, s, &best, error);
    if (status == HPT_OK) status = hpt_chain(&f->unchained, s, &none, error);
    return status == HPT_TOO_LARGE ? HPT_OK : status;
}

static int64_t sum3(const int64_t x[3]) { return x[0] + x[1] + x[2]; }
static json_t *number_or_null(double x) { return isnan(x) ? json_null() : json_real(x); }
static double memory(const hpt_scheme *s, hpt_factor f, int32_t forms) {
    return (double)forms / (double)hpt_scheme_entries(s, f);
}

static json_t *coefficients_json(const hpt_scheme *s) {
    json_t *list = json_array();
    for (int32_t v = 0; v < hpt_scheme_value_count(s) && v < SHOWN_VALUES; v++)
        json_array_append_new(list, hpt_exact_json(hpt_scheme_value_text(s, v)));
    return list;
}

static json_t *stored_json(const hpt_scheme *s, const hpt_generating *g) {
    json_t *products = json_array();
    for (int32_t i = 0; i < g->count; i++) json_array_append_new(products, json_integer(g->products[i] + 1));
    return json_pack("{s:f, s:f, s:i, s:b, s:o}", "x", memory(s, HPT_U, hpt_scheme_rank(s)), "y",
                     memory(s, HPT_V, hpt_scheme_rank(s)), "y_generating", g->count, "smallest", g->smallest,
                     "products", products);
}

static json_t *info_json(const hpt_scheme *s, const facts *f) {
    json_t *out = hpt_verdict_json(s, &f->verdict);
    if (!out) return NULL;
    const hpt_additions *a = &f->additions;
    json_object_set_new(out, "nonzeros",
                        json_pack("{s:I, s:I, s:I}", "u", (json_int_t)hpt_scheme_nonzeros(s, HPT_U), "v",
                                  (json_int_t)hpt_scheme_nonzeros(s, HPT_V), "w",
                                  (json_int_t)hpt_scheme_nonzeros(s, HPT_W)));
    json_object_set_new(out, "additions",
                        json_pack("{s:I, s:I, s:[I,I,I], s:[I,I,I]}", "naive", (json_int_t)sum3(a->naive), "reduced",
                                  (json_int_t)sum3(a->reduced), "naive_sides", (json_int_t)a->naive[0],
                                  (json_int_t)a->naive[1], (json_int_t)a->naive[2], "reduced_sides",
                                  (json_int_t)a->reduced[0], (json_int_t)a->reduced[1], (json_int_t)a->reduced[2]));
    json_object_set_new(out, "coefficients", coefficients_json(s));
    if (f->unchained)
        json_object_set_new(out, "writes",
                            json_pack("{s:i, s:i, s:i, s:b}", "unchained", f->unchained->writes, "chained",
                                      f->chained->writes, "lower_bound", f->chained->lower_bound, "optimal",
                                      f->chained->optimal));
    json_object_set_new(out, "growth", number_or_null(hpt_scheme_growth(s)));
    json_object_set_new(out, "growth_frobenius", number_or_null(hpt_scheme_growth_frobenius(s)));
    if (f->stored.count > 0) json_object_set_new(out, "stored_forms", stored_json(s, &f->stored));
    if (f->symmetries > 0) json_object_set_new(out, "symmetries", json_integer(f->symmetries));
    if (hpt_scheme_source(s)[0]) json_object_set_new(out, "source", json_string(hpt_scheme_source(s)));
    json_object_set_new(out, "hash", json_string(hpt_scheme_hash(s)));
    return out;
}

static void print_coefficients(const hpt_scheme *s) {
    printf("coefficients   ");
    for (int32_t v = 0; v < hpt_scheme_value_count(s) && v < SHOWN_VALUES; v++)
        printf("%s%s", v ? ", " : "", hpt_scheme_value_text(s, v));
    printf("%s\n", hpt_scheme_value_count(s) > SHOWN_VALUES ? ", ..." : "");
}

static void info_print(const char *name, const hpt_scheme *s, const facts *f) {
    const hpt_additions *a = &f->additions;
    hpt_verdict_print(name, s, &f->verdict);
    if (hpt_scheme_source(s)[0]) printf("source         %s\n", hpt_scheme_source(s));
    printf("non-zeros      u %zu, v %zu, w %zu\n", hpt_scheme_nonzeros(s, HPT_U), hpt_scheme_nonzeros(s, HPT_V),
           hpt_scheme_nonzeros(s, HPT_W));
    print_coefficients(s);
    printf("additions      %lld naive, %lld reduced (forms of X %lld, forms of Y %lld, outputs %lld)\n",
           (long long)sum3(a->naive), (long long)sum3(a->reduced), (long long)a->reduced[0], (long long)a->reduced[1],
           (long long)a->reduced[2]);
    if (f->unchained)
        printf("writes         %d unchained, %d chained, at least %d%s\n", f->unchained->writes, f->chained->writes,
               f->chained->lower_bound, f->chained->optimal ? " (optimal)" : "");
    if (!isnan(hpt_scheme_growth(s)))
        printf("growth         %.6g in the maximum norm, %.6g in the Frobenius norm\n", hpt_scheme_growth(s),
               hpt_scheme_growth_frobenius(s));
    printf("stored forms   X %.3g, Y %.3g times the matrix", memory(s, HPT_U, hpt_scheme_rank(s)),
           memory(s, HPT_V, hpt_scheme_rank(s)));
    if (f->stored.count > 0)
        printf("; %d of Y generate the rest (%.3g times)%s", f->stored.count, memory(s, HPT_V, f->stored.count),
               f->stored.smallest ? ", and no fewer do" : "");
    if (f->symmetries > 0) printf("\nsymmetries     %lld", (long long)f->symmetries);
    printf("\nhash           %s\n", hpt_scheme_hash(s));
}

hpt_status hpt_command_info(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool json = false, helped;
    int first;
    double limit = 10;
    hpt_scheme *scheme = NULL;
    facts f = {0};
    hpt_scheme_arguments arguments = {0};
    hpt_read_options reading;
    const hpt_option options[] = {
        HPT_SCHEME_OPTIONS(arguments),
        {"time-limit", 0, HPT_OPTION_REAL, &limit, "S", "seconds for the chaining (default 10)", 0, 1000000000},
        {"json", 0, HPT_OPTION_FLAG, &json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {"info",
                             "FILE [options]",
                             "Everything about a scheme: verdict, additions, writes, growth, hash.",
                             "heptane info laderman          a scheme of the catalogue\n"
                             "heptane info s.exp --json      for scripts",
                             1,
                             1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    HPT_TRY(hpt_scheme_options(&reading, &arguments, error));
    HPT_TRY(hpt_scheme_read(&scheme, argv[first], &reading, error));
    HPT_TRY(hpt_scheme_verify(&f.verdict, scheme, error));
    HPT_TRY(hpt_additions_count(&f.additions, scheme, 0, &hpt_cli_progress, error));
    HPT_TRY(hpt_scheme_generating(&f.stored, scheme, HPT_V, error));
    HPT_TRY(hpt_orbit_symmetries(&f.symmetries, scheme, error));
    HPT_TRY(find_writes(&f, scheme, limit, error));
    if (json)
        HPT_TRY(hpt_json_print(info_json(scheme, &f), error));
    else
        info_print(argv[first], scheme, &f);
    HPT_TRY(hpt_verdict_status(argv[first], &f.verdict, error));
done:
    clear(&f);
    hpt_scheme_destroy(scheme);
    return status;
}
