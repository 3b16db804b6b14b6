/* The lifting method over all tasks of a shard: threads, progress, interruption. */
#include "exhaust.h"
#include "checkpoint.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256, SAVE_SECONDS = 5 };

typedef struct pool {
    pthread_mutex_t lock;
    const hpt_exhaust_options *options;
    hpt_ternary_shape shape, turned; /* as asked; and with its largest matrix first, which is what gets searched */
    int32_t turns;
    const hpt_gf2_task *tasks;
    hpt_checkpoint *state;
    int64_t next;
    time_t saved;
    hpt_status status;
    hpt_error error;
} pool;

/* The rotation that brings the largest matrix within reach to the front: fewest choices are left to the other two. */
static int32_t best_rotation(const hpt_ternary_shape *s) {
    const int32_t size[3] = {s->n * s->m, s->m * s->p, s->n * s->p};
    int32_t best = 0;
    for (int32_t k = 1; k < 3; k++)
        if (size[k] <= 6 && size[k] > size[best]) best = k;
    return best; /* one step makes V the first matrix, two make W the first */
}

static hpt_ternary_shape turned_shape(hpt_ternary_shape s, int32_t turns) {
    for (; turns > 0; turns--) s = (hpt_ternary_shape){s.m, s.p, s.n, s.rank, s.modulo2};
    return s;
}

/* Solves a task into `found`, in the shape as asked. */
static hpt_status run_task(hpt_ternary_list *found, int64_t *modulo2, const pool *p, int64_t task, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_ternary_list decompositions = {.rank = p->shape.rank};
    hpt_ternary_product back[HPT_TERNARY_RANK];
    HPT_TRY(hpt_gf2_solve(&decompositions, &p->tasks[task], &p->turned, p->options->progress, error));
    hpt_ternary_list_set(&decompositions);
    *modulo2 = (int64_t)decompositions.count;
    for (size_t i = 0; i < decompositions.count; i++) {
        hpt_ternary_shape shape = p->turned;
        memcpy(back, hpt_ternary_list_at(&decompositions, i), (size_t)shape.rank * sizeof *back);
        for (int32_t turn = p->turns; turn < 3; turn++) hpt_ternary_rotate(back, &shape); /* three turns are none */
        if (p->shape.modulo2)
            HPT_TRY(hpt_ternary_list_add(found, back, error));
        else
            HPT_TRY(hpt_lift_signs(found, back, &p->shape, error));
    }
done:
    hpt_ternary_list_clear(&decompositions);
    return status;
}

/* Under the lock: books a task's results and saves now and then. */
static hpt_status book(pool *p, int64_t task, const hpt_ternary_list *found, int64_t modulo2) {
    hpt_status status = HPT_OK;
    for (size_t i = 0; i < found->count; i++)
        HPT_TRY(hpt_ternary_list_add(&p->state->schemes, hpt_ternary_list_at(found, i), &p->error));
    p->state->finished[task] = 1;
    p->state->done++;
    p->state->modulo2 += modulo2;
    hpt_progress_say(p->options->progress, "search: %lld of %lld tasks, %zu schemes", (long long)p->state->done,
                     (long long)p->state->mine, p->state->schemes.count);
    if (p->options->checkpoint && time(NULL) - p->saved >= SAVE_SECONDS) {
        p->saved = time(NULL);
        HPT_TRY(hpt_checkpoint_write(p->state, p->options->checkpoint, &p->error));
    }
done:
    return status;
}

static int64_t next_task(pool *p) {
    while (p->next < p->state->tasks) {
        int64_t task = p->next++;
        if (hpt_checkpoint_owns(p->state, task) && !p->state->finished[task]) return task;
    }
    return -1;
}

static void *work(void *argument) {
    pool *p = argument;
    for (;;) {
        hpt_ternary_list found = {.rank = p->shape.rank};
        hpt_error error = {0};
        int64_t modulo2 = 0;
        pthread_mutex_lock(&p->lock);
        int64_t task = p->status == HPT_OK ? next_task(p) : -1;
        pthread_mutex_unlock(&p->lock);
        if (task < 0) return NULL;
        hpt_status status = hpt_progress_interrupted(p->options->progress)
                                ? HPT_INTERRUPTED
                                : run_task(&found, &modulo2, p, task, &error);
        pthread_mutex_lock(&p->lock);
        if (status == HPT_OK)
            status = book(p, task, &found, modulo2);
        else if (p->status == HPT_OK)
            p->error = error;
        if (p->status == HPT_OK) p->status = status;
        pthread_mutex_unlock(&p->lock);
        hpt_ternary_list_clear(&found);
    }
}

static int32_t run_threads(pool *p, int32_t wanted) {
    pthread_t thread[MOST_THREADS];
    int32_t started = 0;
    if (wanted <= 0) wanted = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    for (; started < wanted && started < MOST_THREADS; started++)
        if (pthread_create(&thread[started], NULL, work, p) != 0) break;
    if (started == 0) work(p);
    for (int32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    return started;
}

/* Hands over what a state holds. */
static void take_result(hpt_exhaust_result *out, hpt_checkpoint *state) {
    hpt_ternary_list_set(&state->schemes);
    *out = (hpt_exhaust_result){state->done == state->mine, state->mine, state->done, state->modulo2, state->schemes};
    state->schemes = (hpt_ternary_list){0};
}

hpt_status hpt_exhaust_lift(hpt_exhaust_result *out, const hpt_ternary_shape *shape, const hpt_exhaust_options *options,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_gf2_task *tasks = NULL;
    hpt_checkpoint state = {0};
    pool p = {.options = options, .shape = *shape, .state = &state, .saved = time(NULL)};
    int64_t count = 0;
    memset(out, 0, sizeof *out);
    pthread_mutex_init(&p.lock, NULL);
    p.turns = best_rotation(shape);
    p.turned = turned_shape(*shape, p.turns);
    HPT_TRY(hpt_gf2_tasks(&tasks, &count, &p.turned, options->progress, error));
    p.tasks = tasks;
    HPT_TRY(hpt_checkpoint_open(&state, shape, count, options->shard, options->shards, options->checkpoint, error));
    run_threads(&p, options->threads);
    if (p.status != HPT_OK && error) *error = p.error;
    if (options->checkpoint && (p.status == HPT_OK || p.status == HPT_INTERRUPTED))
        HPT_TRY(hpt_checkpoint_write(&state, options->checkpoint, error));
    take_result(out, &state);
    HPT_TRY(p.status);
done:
    hpt_progress_end(options->progress);
    pthread_mutex_destroy(&p.lock);
    hpt_checkpoint_clear(&state);
    free(tasks);
    return status;
}

hpt_status hpt_exhaust_merge(hpt_exhaust_result *out, hpt_ternary_shape *shape, const char *const *files, int32_t count,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_checkpoint all = {0}, one = {0};
    memset(out, 0, sizeof *out);
    for (int32_t i = 0; i < count; i++) {
        HPT_TRY(hpt_checkpoint_read(&one, files[i], error));
        HPT_FAIL_IF(one.done != one.mine, HPT_UNSUPPORTED, files[i], "This shard is not complete: resume it first.");
        if (i == 0) {
            HPT_TRY(hpt_checkpoint_open(&all, &one.shape, one.tasks, 1, 1, NULL, error));
            all.shards = one.shards;
        }
        HPT_FAIL_IF(!hpt_ternary_shape_equal(&one.shape, &all.shape) || one.tasks != all.tasks ||
                        one.shards != all.shards,
                    HPT_LIES, files[i], "This file belongs to another search than %s.", files[0]);
        for (int64_t task = 0; task < one.tasks; task++) {
            if (!hpt_checkpoint_owns(&one, task)) continue;
            HPT_FAIL_IF(all.finished[task], HPT_LIES, files[i], "Shard %d is given twice.", one.shard);
            all.finished[task] = 1;
            all.done++;
        }
        all.modulo2 += one.modulo2;
        for (size_t k = 0; k < one.schemes.count; k++)
            HPT_TRY(hpt_ternary_list_add(&all.schemes, hpt_ternary_list_at(&one.schemes, k), error));
        hpt_checkpoint_clear(&one);
    }
    *shape = all.shape;
    take_result(out, &all);
done:
    hpt_checkpoint_clear(&one);
    hpt_checkpoint_clear(&all);
    return status;
}
