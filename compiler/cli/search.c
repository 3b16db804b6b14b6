/* heptane search: every scheme of a small shape, or walks in the flip graph for the rest. */
#include "passes/chain/chains.h"
#include "report.h"
#include "search/exhaust.h"
#include "search/walk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hpt_status hpt_command_search(int argc, char **argv, hpt_error *error);

typedef struct search_options {
    const char *shape, *coefficients, *shard, *checkpoint, *objective, *output;
    int64_t rank, threads, seed, walkers, rounds, goal;
    double seconds;
    bool merge, walk, json, certificates;
    bool folder; /* a walk whose output is a folder, as an exhaustive search's is */
} search_options;

/* ---- output ---- */
static json_t *histogram(const int32_t *values, size_t count) {
    json_t *object = json_object();
    int32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > most) most = values[i];
    for (int32_t value = 0; value <= most; value++) {
        json_int_t times = 0;
        for (size_t i = 0; i < count; i++) times += values[i] == value;
        char key[16];
        snprintf(key, sizeof key, "%d", value);
        if (times > 0) json_object_set_new(object, key, json_integer(times));
    }
    return object;
}

static hpt_status write_scheme(const char *path, const hpt_ternary_product *products, const hpt_ternary_shape *shape,
                               const char *source, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    char *text = NULL;
    size_t length = 0;
    HPT_TRY(hpt_ternary_to_scheme(&scheme, products, shape, source, error));
    HPT_TRY(hpt_scheme_write(&text, &length, scheme, "heptane", error));
    HPT_TRY(hpt_file_write(path, text, length, error));
done:
    free(text);
    hpt_scheme_destroy(scheme);
    return status;
}

/* The proof that the scheme's chaining is minimal, beside its file. */
static hpt_status write_certificate(const char *path, const hpt_ternary_product *products,
                                    const hpt_ternary_shape *shape, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    hpt_schedule *schedule = NULL;
    hpt_chain_proof proof = {0};
    hpt_text text = {0};
    HPT_TRY(hpt_ternary_to_scheme(&scheme, products, shape, "exhaustive search", error));
    HPT_TRY(hpt_chain_with_proof(&schedule, &proof, scheme, NULL, &hpt_cli_progress, error));
    HPT_TRY(hpt_chain_certify(&text, schedule, &proof, scheme, error));
    HPT_TRY(hpt_file_write(path, text.data, text.length, error));
done:
    hpt_text_clear(&text);
    hpt_bound_tree_clear(&proof.tree);
    hpt_schedule_destroy(schedule);
    hpt_scheme_destroy(scheme);
    return status;
}

static hpt_status write_set(const char *folder, const hpt_ternary_list *set, const hpt_ternary_shape *shape,
                            bool certificates, hpt_error *error) {
    hpt_status status = hpt_folder_create(folder, error);
    char path[4096];
    for (size_t i = 0; i < set->count && status == HPT_OK; i++) {
        snprintf(path, sizeof path, "%s/%dx%dx%d-%d-%05zu.json", folder, shape->n, shape->m, shape->p, shape->rank,
                 i + 1);
        status = write_scheme(path, hpt_ternary_list_at(set, i), shape, "exhaustive search", error);
        memcpy(strrchr(path, '.'), ".cert", sizeof ".cert");
        if (certificates && status == HPT_OK)
            status = write_certificate(path, hpt_ternary_list_at(set, i), shape, error);
    }
    return status;
}

static void add_shape(json_t *document, const hpt_ternary_shape *shape) {
    json_object_set_new(document, "shape", json_pack("[i,i,i]", shape->n, shape->m, shape->p));
    json_object_set_new(document, "rank", json_integer(shape->rank));
    json_object_set_new(document, "coefficients", json_string(shape->modulo2 ? "gf2" : "ternary"));
}

static void print_histogram(const char *name, json_t *object) {
    const char *key;
    json_t *value;
    printf("%s:", name);
    json_object_foreach(object, key, value) printf("  %s: %lld", key, (long long)json_integer_value(value));
    printf("\n");
}

/* ---- exhaustive ---- */
/* A second method where there is one; NULL in *method where there is none. */
static hpt_status second_method(hpt_ternary_list *out, const char **method, const hpt_ternary_shape *shape,
                                hpt_error *error) {
    *method = NULL;
    if (shape->modulo2) return HPT_OK;
    if (shape->n == 2 && shape->m == 2 && shape->p == 2 && shape->rank == 7) {
        *method = "orbit of Strassen's scheme";
        return hpt_exhaust_orbit(out, error);
    }
    int32_t size = shape->n * shape->m * shape->p;
    if ((shape->n == 1 || shape->m == 1 || shape->p == 1) && shape->rank == size && size <= 4) {
        *method = "bases of rank-one matrices";
        return hpt_exhaust_bases(out, shape, error);
    }
    return HPT_OK;
}

static hpt_status report_set(json_t *document, const hpt_exhaust_result *found, const hpt_ternary_shape *shape,
                             bool whole, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_classification classes = {0};
    hpt_ternary_list other = {0};
    const char *method;
    json_object_set_new(document, "complete", json_boolean(found->complete && whole));
    json_object_set_new(document, "schemes", json_integer((json_int_t)found->schemes.count));
    json_object_set_new(document, "modulo2", json_integer(found->modulo2));
    json_object_set_new(document, "tasks",
                        json_pack("{s:I,s:I}", "done", (json_int_t)found->done, "all", (json_int_t)found->tasks));
    HPT_TRY(hpt_classify(&classes, &found->schemes, shape, found->complete && whole, error));
    json_object_set_new(document, "orbits", classes.orbit ? json_integer(classes.orbits) : json_null());
    json_object_set_new(document, "writes", histogram(classes.chained, found->schemes.count));
    json_object_set_new(document, "writes_unchained", histogram(classes.unchained, found->schemes.count));
    if (!found->complete || !whole) goto done;
    HPT_TRY(second_method(&other, &method, shape, error));
    if (!method) goto done;
    bool agree = hpt_ternary_list_equal(&other, &found->schemes);
    json_object_set_new(
        document, "second_method",
        json_pack("{s:s,s:I,s:b}", "name", method, "schemes", (json_int_t)other.count, "agrees", agree));
    HPT_FAIL_IF(!agree, HPT_INTERNAL, "search", "The two methods do not give the same set.");
done:
    hpt_classification_clear(&classes);
    hpt_ternary_list_clear(&other);
    return status;
}

static void print_set(const json_t *d) {
    const json_t *orbits = json_object_get(d, "orbits"), *second = json_object_get(d, "second_method");
    printf("%lld schemes%s", (long long)json_integer_value(json_object_get(d, "schemes")),
           json_is_true(json_object_get(d, "complete")) ? ", complete" : ", not complete");
    if (json_is_integer(orbits)) printf(", %lld orbits", (long long)json_integer_value(orbits));
    printf("\n");
    print_histogram("fewest writes", json_object_get(d, "writes"));
    print_histogram("unchained", json_object_get(d, "writes_unchained"));
    if (second) printf("the same set by a second method: %s\n", json_string_value(json_object_get(second, "name")));
}

static hpt_status exhaust(const search_options *o, const hpt_ternary_shape *asked, char **files, int count,
                          hpt_error *error) {
    hpt_status status = HPT_OK, ended = HPT_OK;
    hpt_exhaust_result found = {0};
    hpt_ternary_shape shape = *asked;
    json_t *document = json_object();
    hpt_exhaust_options options = {(int32_t)o->threads, 1, 1, o->checkpoint, &hpt_cli_progress};
    char rest;
    HPT_FAIL_IF(o->shard && (sscanf(o->shard, "%d/%d%c", &options.shard, &options.shards, &rest) != 2 ||
                             options.shard < 1 || options.shard > options.shards),
                HPT_USAGE, "--shard", "\"%s\" is not a part like 1/4.", o->shard);
    if (o->merge)
        HPT_TRY(hpt_exhaust_merge(&found, &shape, (const char *const *)files, count, error));
    else
        ended = hpt_exhaust_lift(&found, &shape, &options, error);
    if (ended != HPT_OK && ended != HPT_INTERRUPTED) HPT_TRY(ended);
    add_shape(document, &shape);
    HPT_TRY(report_set(document, &found, &shape, options.shards == 1, error));
    if (o->output) HPT_TRY(write_set(o->output, &found.schemes, &shape, o->certificates, error));
    if (o->json)
        HPT_TRY(hpt_json_print(json_incref(document), error));
    else
        print_set(document);
    status = ended;
done:
    json_decref(document);
    hpt_ternary_list_clear(&found.schemes);
    return status;
}

/* ---- walks ---- */
static hpt_status start_of(hpt_ternary_product *products, hpt_ternary_shape *shape, const char *name,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *scheme = NULL;
    HPT_TRY(hpt_scheme_read_proved(&scheme, name, NULL, error));
    HPT_TRY(hpt_ternary_of_scheme(products, shape, scheme, error));
done:
    hpt_scheme_destroy(scheme);
    return status;
}

static hpt_status objective_of(hpt_objective *out, const char *name, hpt_error *error) {
    for (int i = HPT_OBJECTIVE_RANK; i <= HPT_OBJECTIVE_GROWTH; i++)
        if (strcmp(name, hpt_objective_name((hpt_objective)i)) == 0) {
            *out = (hpt_objective)i;
            return HPT_OK;
        }
    return hpt_error_set(error, HPT_USAGE, "--objective", "\"%s\" is none of rank, writes, additions, growth.", name);
}

static hpt_status report_walk(json_t *document, const hpt_walk_result *best, const search_options *o,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    add_shape(document, &best->shape);
    json_object_set_new(document, "complete", json_false());
    json_object_set_new(document, "schemes", json_integer(1));
    json_object_set_new(document, "orbits", json_integer(1));
    json_object_set_new(document, "reached", json_boolean(best->reached));
    json_object_set_new(document, "rounds", json_integer(best->rounds));
    json_object_set_new(document, "seed", json_integer(o->seed));
    for (int i = HPT_OBJECTIVE_WRITES; i <= HPT_OBJECTIVE_GROWTH; i++) {
        int64_t value;
        HPT_TRY(hpt_objective_value(&value, (hpt_objective)i, best->products, &best->shape, error));
        if (i == HPT_OBJECTIVE_WRITES) {
            int32_t writes = (int32_t)value;
            json_object_set_new(document, "writes", histogram(&writes, 1));
        } else {
            json_object_set_new(document, hpt_objective_name((hpt_objective)i), json_integer(value));
        }
    }
done:
    return status;
}

static hpt_status write_walked(const search_options *o, const hpt_walk_result *best, hpt_error *error) {
    if (!o->folder) return write_scheme(o->output, best->products, &best->shape, "flip-graph walk", error);
    char path[4096];
    hpt_status status = hpt_folder_create(o->output, error);
    snprintf(path, sizeof path, "%s/%dx%dx%d-%d.json", o->output, best->shape.n, best->shape.m, best->shape.p,
             best->shape.rank);
    return status != HPT_OK ? status : write_scheme(path, best->products, &best->shape, "flip-graph walk", error);
}

static hpt_status walk(const search_options *o, const hpt_ternary_shape *asked, const char *start, hpt_error *error) {
    hpt_status status = HPT_OK, ended;
    hpt_walk_result best;
    hpt_ternary_shape shape = *asked;
    hpt_ternary_product products[HPT_TERNARY_RANK];
    hpt_walk_options options = {.rank = asked->rank,
                                .seed = (uint64_t)o->seed,
                                .walkers = (int32_t)o->walkers,
                                .threads = (int32_t)o->threads,
                                .rounds = o->rounds,
                                .seconds = o->seconds,
                                .goal = o->goal,
                                .progress = &hpt_cli_progress};
    json_t *document = json_object();
    HPT_TRY(objective_of(&options.objective, o->objective, error));
    shape.rank = shape.n * shape.m * shape.p;
    if (start) HPT_TRY(start_of(products, &shape, start, error));
    ended = hpt_walk(&best, &shape, start ? products : NULL, &options, error);
    if (ended != HPT_OK && ended != HPT_INTERRUPTED) HPT_TRY(ended);
    HPT_TRY(report_walk(document, &best, o, error));
    if (o->output) HPT_TRY(write_walked(o, &best, error));
    if (o->json) {
        HPT_TRY(hpt_json_print(json_incref(document), error));
    } else {
        printf("%dx%dx%d:%d after %lld rounds\n", best.shape.n, best.shape.m, best.shape.p, best.shape.rank,
               (long long)best.rounds);
        print_histogram("writes after chaining", json_object_get(document, "writes"));
        printf("additions: %lld\ngrowth: %lld\n", (long long)json_integer_value(json_object_get(document, "additions")),
               (long long)json_integer_value(json_object_get(document, "growth")));
    }
    HPT_TRY(ended);
    HPT_FAIL_IF(asked->rank > 0 && best.shape.rank > asked->rank, HPT_NOT_FOUND, "",
                "No scheme of rank %d was found; the best has rank %d.", asked->rank, best.shape.rank);
done:
    json_decref(document);
    return status;
}

hpt_status hpt_command_search(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    search_options o = {
        .coefficients = "ternary", .objective = "rank", .seed = 1, .walkers = 4, .goal = -1, .seconds = 60};
    bool helped = false;
    int first = 0;
    int32_t sides[3] = {0, 0, 0};
    const hpt_option options[] = {
        {"shape", 0, HPT_OPTION_TEXT, &o.shape, "n,m,p", "X is n x m, Y is m x p", 0, 0},
        {"rank", 0, HPT_OPTION_INTEGER, &o.rank, "R", "number of products", 1, HPT_TERNARY_RANK},
        {"coefficients", 0, HPT_OPTION_TEXT, &o.coefficients, "RING", "ternary (-1, 0, 1; default) or gf2", 0, 0},
        {"output", 'o', HPT_OPTION_TEXT, &o.output, "PATH",
         "write every scheme into this folder; with --walk the best to this file", 0, 0},
        {"certificates", 0, HPT_OPTION_FLAG, &o.certificates, NULL,
         "and a certificate of each (heptane-check) beside it", 0, 0},
        {"threads", 0, HPT_OPTION_INTEGER, &o.threads, "N", "default: one per processor", 1, 256},
        {"shard", 0, HPT_OPTION_TEXT, &o.shard, "i/n", "only part i of n (keep its result with --checkpoint)", 0, 0},
        {"checkpoint", 0, HPT_OPTION_TEXT, &o.checkpoint, "FILE", "state of the search: resumed if it exists", 0, 0},
        {"merge", 0, HPT_OPTION_FLAG, &o.merge, NULL, "join the checkpoints of all shards, given as arguments", 0, 0},
        {"walk", 0, HPT_OPTION_FLAG, &o.walk, NULL, "walk in the flip graph, from FILE or the textbook scheme", 0, 0},
        {"objective", 0, HPT_OPTION_TEXT, &o.objective, "WHAT",
         "walks lower rank (default), writes, additions or growth", 0, 0},
        {"goal", 0, HPT_OPTION_INTEGER, &o.goal, "N", "walks stop when the objective is that low", 0, 1000000},
        {"seed", 0, HPT_OPTION_INTEGER, &o.seed, "S", "of the walks (default 1)", 0, 1000000000},
        {"walkers", 0, HPT_OPTION_INTEGER, &o.walkers, "N", "independent walks (default 4)", 1, 256},
        {"rounds", 0, HPT_OPTION_INTEGER, &o.rounds, "N", "walks stop after N rounds: reproducible", 1, 1000000000},
        {"seconds", 0, HPT_OPTION_REAL, &o.seconds, "S", "walks stop after S seconds (default 60)", 0, 0},
        {"json", 0, HPT_OPTION_FLAG, &o.json, NULL, "print JSON", 0, 0}};
    const hpt_usage usage = {
        "search",
        "--shape n,m,p --rank R [options] [FILE...]",
        "Finds every scheme of a small shape; walks in the flip graph where that is out of reach.",
        "heptane search --shape 2,2,2 --rank 7                       all ternary seven-product schemes\n"
        "heptane search --walk --shape 3,3,3 --rank 23 -o best.json  from the textbook scheme to rank 23\n"
        "heptane search --walk best.json --rank 23 --objective writes --seconds 600 -o fewer.json\n"
        "heptane search --shape 2,2,2 --rank 7 --shard 1/2 --checkpoint a; ... ; heptane search --merge a b",
        0,
        -1,
        options,
        HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    int files = argc - first;
    bool modulo2 = strcmp(o.coefficients, "gf2") == 0;
    HPT_FAIL_IF(!modulo2 && strcmp(o.coefficients, "ternary") != 0, HPT_USAGE, "--coefficients",
                "\"%s\" is neither ternary nor gf2.", o.coefficients);
    if (o.shape) HPT_TRY(hpt_shape_parse(sides, o.shape, error));
    hpt_ternary_shape shape = {sides[0], sides[1], sides[2], (int32_t)o.rank, modulo2};
    if (o.merge)
        HPT_FAIL_IF(files == 0, HPT_USAGE, "--merge", "Name the checkpoints of all shards.");
    else
        HPT_FAIL_IF(files > (o.walk ? 1 : 0), HPT_USAGE, "", "Usage: heptane %s %s", usage.name, usage.arguments);
    HPT_FAIL_IF(!o.merge && !o.shape && files == 0, HPT_USAGE, "--shape", "The shape is needed, as in --shape 2,2,2.");
    HPT_FAIL_IF(!o.merge && !o.walk && o.rank == 0, HPT_USAGE, "--rank", "The rank is needed, as in --rank 7.");
    HPT_FAIL_IF(o.seconds <= 0, HPT_USAGE, "--seconds", "The time must be positive.");
    if (!o.walk) status = exhaust(&o, &shape, argv + first, files, error);
    if (status == HPT_TOO_LARGE && !o.merge && !o.shard && !o.checkpoint) {
        fprintf(stderr, "heptane search: %s Walking in the flip graph instead.\n", error->message);
        o.walk = o.folder = true;
    }
    if (o.walk) status = walk(&o, &shape, files ? argv[first] : NULL, error);
done:
    return status;
}
