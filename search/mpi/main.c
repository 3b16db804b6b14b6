/* heptane-search-mpi: the search of `heptane search` over the ranks of an MPI job, one shard or one crowd of walkers
 * each.
 *
 *   mpirun -n 8 heptane-search-mpi all N M P RANK STATE        every ternary scheme; STATE.1 .. STATE.8 are checkpoints
 * on a shared file system, from which an interrupted job resumes mpirun -n 8 heptane-search-mpi walk N M P RANK
 * OBJECTIVE ROUNDS OUT.json    walks with different seeds; the best is kept
 */
#include "search/exhaust.h"
#include "search/walk.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank_of_job, size_of_job;

static int fail(const hpt_error *error) {
    fprintf(stderr, "heptane-search-mpi (rank %d): %s%s%s\n", rank_of_job, error->where, error->where[0] ? ": " : "",
            error->message);
    MPI_Abort(MPI_COMM_WORLD, hpt_status_exit_code(error->code));
    return 1;
}

/* ---- every scheme ---- */
static int merge_and_print(const char *state) {
    hpt_exhaust_result all;
    hpt_ternary_shape shape;
    hpt_error error = {0};
    char **files = calloc((size_t)size_of_job, sizeof *files);
    for (int i = 0; files && i < size_of_job; i++)
        if (asprintf(&files[i], "%s.%d", state, i + 1) < 0) return 1;
    if (!files || hpt_exhaust_merge(&all, &shape, (const char *const *)files, size_of_job, &error) != HPT_OK)
        return fail(&error);
    printf("{\"complete\":%s,\"schemes\":%zu,\"modulo2\":%lld,\"ranks\":%d}\n", all.complete ? "true" : "false",
           all.schemes.count, (long long)all.modulo2, size_of_job);
    hpt_ternary_list_clear(&all.schemes);
    for (int i = 0; i < size_of_job; i++) free(files[i]);
    free(files);
    return 0;
}

static int search_all(const hpt_ternary_shape *shape, const char *state) {
    hpt_exhaust_result part;
    hpt_error error = {0};
    char file[4096];
    snprintf(file, sizeof file, "%s.%d", state, rank_of_job + 1);
    const hpt_exhaust_options options = {1, rank_of_job + 1, size_of_job, file, NULL};
    if (hpt_exhaust_lift(&part, shape, &options, &error) != HPT_OK) return fail(&error);
    hpt_ternary_list_clear(&part.schemes);
    MPI_Barrier(MPI_COMM_WORLD);
    return rank_of_job == 0 ? merge_and_print(state) : 0;
}

/* ---- walks ---- */
static int write_best(const hpt_walk_result *best, const char *path) {
    hpt_scheme *scheme = NULL;
    hpt_error error = {0};
    char *text = NULL;
    size_t length;
    if (hpt_ternary_to_scheme(&scheme, best->products, &best->shape, "flip-graph walk", &error) != HPT_OK ||
        hpt_scheme_write(&text, &length, scheme, "heptane", &error) != HPT_OK ||
        hpt_file_write(path, text, length, &error) != HPT_OK)
        return fail(&error);
    free(text);
    hpt_scheme_destroy(scheme);
    return 0;
}

static int search_walks(const hpt_ternary_shape *shape, const char *objective, int64_t rounds, const char *path) {
    hpt_walk_options options = {.rank = shape->rank,
                                .seed = (uint64_t)rank_of_job + 1,
                                .walkers = 2,
                                .threads = 1,
                                .rounds = rounds,
                                .goal = -1};
    hpt_walk_result best;
    hpt_error error = {0};
    hpt_ternary_shape textbook = *shape;
    textbook.rank = shape->n * shape->m * shape->p;
    while (strcmp(objective, hpt_objective_name(options.objective)) != 0)
        if (options.objective++ == HPT_OBJECTIVE_GROWTH) {
            hpt_error_set(&error, HPT_USAGE, "", "There is no objective \"%s\".", objective);
            return fail(&error);
        }
    if (hpt_walk(&best, &textbook, NULL, &options, &error) != HPT_OK) return fail(&error);
    struct {
        double value;
        int rank;
    } mine = {(double)best.shape.rank * 1e9 + (double)best.value, rank_of_job}, least;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    if (least.rank != rank_of_job) return 0;
    printf("{\"rank\":%d,\"%s\":%lld,\"ranks\":%d}\n", best.shape.rank, objective, (long long)best.value, size_of_job);
    return write_best(&best, path);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_job);
    MPI_Comm_size(MPI_COMM_WORLD, &size_of_job);
    int code = 2;
    hpt_ternary_shape shape = {0};
    if (argc >= 6) shape = (hpt_ternary_shape){atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), false};
    bool good =
        shape.n > 0 && shape.m > 0 && shape.p > 0 && shape.rank > 0 && shape.n <= 64 && shape.m <= 64 && shape.p <= 64;
    if (good && argc == 7 && strcmp(argv[1], "all") == 0)
        code = search_all(&shape, argv[6]);
    else if (good && argc == 9 && strcmp(argv[1], "walk") == 0)
        code = search_walks(&shape, argv[6], atoll(argv[7]), argv[8]);
    else if (rank_of_job == 0)
        fprintf(stderr, "usage: heptane-search-mpi all N M P RANK STATE\n"
                        "       heptane-search-mpi walk N M P RANK rank|writes|additions|growth ROUNDS OUT.json\n");
    MPI_Finalize();
    return code;
}
