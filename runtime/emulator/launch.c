/* launch.c - the clusters of one launch, dealt out to threads of the host. */
#include "device.h"
#include "handover.h"
#include <stdlib.h>

static void add_counters(hpt_emu_device *device, const hpt_emu_counters *from) {
    pthread_mutex_lock(&device->lock);
#define COUNTER(name, meaning) device->counters.name += from->name;
#include "counters.def"
#undef COUNTER
    pthread_mutex_unlock(&device->lock);
}

/* One host thread's share: clusters first, first + step, ...; at most `resident` at once, in turns. */
typedef struct share {
    hpt_emu_run *run;
    uint64_t first, step, total;
    uint32_t resident;
    bool no_memory;
} share;

enum { PICKS_PER_TURN = 64 };

static void *run_share(void *argument) {
    share *s = argument;
    uint64_t next = s->first;
    if (s->step == 1) s->run->next_cluster = &next; /* the only share: its clusters may take over waiting ones */
    hpt_emu_cluster **clusters = calloc(s->resident, sizeof *clusters);
    uint32_t active = 0;
    s->no_memory = !clusters;
    while (clusters && !s->run->stop && (active || next < s->total)) {
        for (uint32_t k = 0; k < s->resident && !s->run->stop; k++) {
            if (!clusters[k] && next < s->total) {
                clusters[k] = hpt_emu_cluster_create(s->run, next);
                next += s->step;
                active += clusters[k] != NULL;
                if (!clusters[k]) s->run->stop = s->no_memory = true;
            }
            if (!clusters[k] || !hpt_emu_cluster_run(clusters[k], PICKS_PER_TURN)) continue;
            add_counters(s->run->device, &clusters[k]->counters);
            hpt_emu_cluster_destroy(clusters[k]);
            clusters[k] = NULL;
            active--;
        }
    }
    if (s->step == 1) s->run->next_cluster = NULL;
    for (uint32_t k = 0; clusters && k < s->resident; k++) {
        if (clusters[k]) {
            s->no_memory |= clusters[k]->out_of_memory;
            add_counters(s->run->device, &clusters[k]->counters);
        }
        hpt_emu_cluster_destroy(clusters[k]);
    }
    free(clusters);
    return NULL;
}

enum { MAX_HOST_THREADS = 16 };

bool hpt_emu_run_launch(hpt_emu_run *run, uint64_t total, uint32_t resident) {
    int threads = run->device->options.threads;
    if (run->program->uses_global_atomics || threads < 1) threads = 1;
    if (threads > MAX_HOST_THREADS) threads = MAX_HOST_THREADS;
    if ((uint64_t)threads > total) threads = (int)total;
    if ((uint32_t)threads > resident) threads = (int)resident;
    if (threads == 1 && !(run->handovers = hpt_emu_handovers_create())) return false;
    share shares[MAX_HOST_THREADS];
    pthread_t handles[MAX_HOST_THREADS];
    bool started[MAX_HOST_THREADS] = {false}, no_memory = false;
    for (int t = 0; t < threads; t++)
        shares[t] = (share){run, (uint64_t)t, (uint64_t)threads, total, resident / (uint32_t)threads, false};
    for (int t = 1; t < threads; t++) started[t] = pthread_create(&handles[t], NULL, run_share, &shares[t]) == 0;
    run_share(&shares[0]);
    for (int t = 1; t < threads; t++) {
        if (started[t])
            pthread_join(handles[t], NULL);
        else
            run_share(&shares[t]);
    }
    for (int t = 0; t < threads; t++) no_memory |= shares[t].no_memory;
    hpt_emu_handovers_destroy(run->handovers);
    run->handovers = NULL;
    return !no_memory;
}
