#include "cover.h"
#include <stdlib.h>
#include <string.h>

enum { LOCAL_STARTS = 6, LOCAL_SWEEPS = 60, PREFER_STARTS = 4, PREFER_SWEEPS = 200, SMALL_NODES = 20000 };

void hpt_cover_clear(hpt_cover *cover) {
    free(cover->order);
    free(cover->last);
    hpt_bound_tree_clear(&cover->tree);
    memset(cover, 0, sizeof *cover);
}

typedef struct best {
    int32_t *order, *trial;
    uint8_t *last, *trial_last;
} best;

/* Anneals from the seeds `from` .. `to` - 1 and keeps the cheapest. */
static hpt_status local_search(hpt_cover *out, best *b, const hpt_cover_problem *problem, int32_t effort, uint64_t from,
                               uint64_t to, double deadline, hpt_error *error) {
    size_t n = (size_t)problem->count;
    for (uint64_t start = from; start < to && (start == 0 || hpt_clock() < deadline); start++) {
        for (size_t t = 0; t < n; t++) b->trial[t] = (int32_t)t, b->trial_last[t] = 1;
        int32_t sweeps = effort * (problem->count > 100 ? LOCAL_SWEEPS / 10 : LOCAL_SWEEPS);
        hpt_status status = hpt_cover_anneal(b->trial, b->trial_last, problem, sweeps, false,
                                             0x9E3779B97F4A7C15ULL * (start + (uint64_t)effort), deadline, error);
        if (status != HPT_OK) return status;
        int32_t cost = hpt_cover_cost(b->trial, b->trial_last, problem);
        if (cost >= out->cost) continue;
        out->cost = cost;
        memcpy(out->order, b->trial, n * sizeof *out->order);
        memcpy(out->last, b->trial_last, n);
    }
    return HPT_OK;
}

/* Among covers of the cost found, looks for one that kernels like better. */
static hpt_status prefer(hpt_cover *out, const hpt_cover_problem *problem, double deadline, hpt_error *error) {
    int32_t sweeps = problem->count > 100 ? PREFER_SWEEPS / 20 : PREFER_SWEEPS;
    for (uint64_t start = 0; start < PREFER_STARTS; start++) {
        hpt_status status = hpt_cover_anneal(out->order, out->last, problem, sweeps, true,
                                             0xD1B54A32D192ED03ULL * (start + 1), deadline, error);
        if (status != HPT_OK) return status;
    }
    out->cost = hpt_cover_cost(out->order, out->last, problem);
    return HPT_OK;
}

hpt_status hpt_cover_solve(hpt_cover *out, const hpt_cover_problem *problem, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t n = (size_t)problem->count;
    double seconds = problem->seconds > 0 ? problem->seconds : 60, start = hpt_clock();
    double deadline = start + 0.8 * seconds; /* the rest is for the choice among equals */
    hpt_bound_limits limits = {SMALL_NODES, deadline, problem->progress};
    const hpt_bound_limits root_only = {0, deadline, problem->progress};
    best b = {0};
    memset(out, 0, sizeof *out);
    HPT_FAIL_IF(problem->count < 1, HPT_USAGE, "", "There are no products to chain.");
    out->count = problem->count;
    out->order = malloc(n * sizeof *out->order);
    out->last = malloc(n);
    b.trial = malloc(n * sizeof *b.trial);
    b.trial_last = malloc(n);
    HPT_FAIL_IF(!out->order || !out->last || !b.trial || !b.trial_last, HPT_NO_MEMORY, "", "Out of memory.");
    out->cost = INT32_MAX;
    /* where any cover will do, one seed is often enough for the root to prove it */
    for (uint64_t seeds = problem->any ? 1 : LOCAL_STARTS, from = 0;
         from < LOCAL_STARTS && out->lower_bound < out->cost; from = seeds, seeds = LOCAL_STARTS) {
        HPT_TRY(local_search(out, &b, problem, 1, from, seeds, deadline, error));
        HPT_TRY(hpt_bound_search(&out->lower_bound, &out->tree, out->order, out->last, &out->cost, problem->count,
                                 problem->join, problem->end, &root_only, error));
    }
    if (out->lower_bound < out->cost) HPT_TRY(local_search(out, &b, problem, 5, 0, LOCAL_STARTS, deadline, error));
    bool small = !problem->by_tree && problem->count <= HPT_SUBSET_LIMIT && out->cost <= 254;
    if (!small) limits.nodes = INT64_MAX;
    if (out->lower_bound < out->cost)
        HPT_TRY(hpt_bound_search(&out->lower_bound, &out->tree, out->order, out->last, &out->cost, problem->count,
                                 problem->join, problem->end, &limits, error));
    out->method = "branch and bound";
    if (out->lower_bound < out->cost && small && !hpt_progress_interrupted(problem->progress)) {
        status = hpt_cover_subsets(out->order, out->last, problem, error);
        if (status == HPT_OK) {
            out->cost = out->lower_bound = hpt_cover_cost(out->order, out->last, problem);
            out->method = "subset dynamic programming";
        } else if (status != HPT_INTERRUPTED) { /* an interruption keeps what the tree has */
            goto done;
        }
    }
    if (!problem->any) HPT_TRY(prefer(out, problem, start + seconds, error));
done:
    hpt_progress_end(problem->progress);
    free(b.trial);
    free(b.trial_last);
    if (status != HPT_OK) hpt_cover_clear(out);
    return status;
}
