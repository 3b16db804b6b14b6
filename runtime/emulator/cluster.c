/* cluster.c - makes a cluster of CTAs and schedules it: warps run for random stretches, asynchronous operations land at
 * random moments, both drawn from the seed. When no warp can go on and nothing is in flight, that is a deadlock. */
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t hpt_emu_draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

uint64_t hpt_emu_random_next(hpt_emu_random *random) { return hpt_emu_draw(&random->state); }

uint32_t hpt_emu_random_below(hpt_emu_random *random, uint32_t limit) {
    return (uint32_t)((hpt_emu_random_next(random) >> 32) * limit >> 32);
}

void hpt_emu_async_add(hpt_emu_cluster *k, hpt_emu_async *op) {
    if (k->async_count == k->async_capacity) {
        size_t more = k->async_capacity ? 2 * k->async_capacity : 64;
        hpt_emu_async **bigger = realloc(k->async, more * sizeof *bigger);
        if (!bigger) {
            k->out_of_memory = true;
            op->release(op);
            return;
        }
        k->async = bigger;
        k->async_capacity = more;
    }
    op->cluster = k;
    k->async[k->async_count++] = op;
}

static void note_change(hpt_emu_cluster *k) {
    k->epoch++;
    k->quiet = 0;
    __atomic_fetch_add(&k->run->changes, 1, __ATOMIC_RELAXED);
}

/* One part of one operation in flight, chosen at random. */
static void land_one(hpt_emu_cluster *k) {
    size_t pick = hpt_emu_random_below(&k->random, (uint32_t)k->async_count);
    hpt_emu_async *op = k->async[pick];
    note_change(k);
    if (!op->land(op)) return;
    k->async[pick] = k->async[--k->async_count];
    op->release(op);
}

/* ---- making and unmaking ---- */
static void fill_special(hpt_emu_warp *w, hpt_emu_special which) {
    hpt_emu_cta *c = w->cta;
    hpt_emu_cluster *k = c->cluster;
    const hpt_launch *n = k->run->launch;
    uint8_t *at = w->registers + k->run->program->special_at[which];
    for (uint32_t lane = 0; lane < HPT_LANES; lane++) {
        uint32_t t = w->index * HPT_LANES + lane;
        (void)t;
        switch (which) {
#define SPECIAL(name, id, bytes, value)                                                                                \
    case HPT_EMU_SPECIAL_##id: {                                                                                       \
        uint64_t bits = (uint64_t)(value);                                                                             \
        memcpy(at + (bytes)*lane, &bits, bytes);                                                                       \
        break;                                                                                                         \
    }
#include "special.def"
#undef SPECIAL
        default:
            break;
        }
    }
}

static void fill_constants(hpt_emu_warp *w) {
    const hpt_emu_program *p = w->cta->cluster->run->program;
    for (size_t i = 0; i < p->constant_count; i++) {
        const hpt_emu_constant *c = &p->constants[i];
        uint64_t bits = c->bits + (c->shared ? (uint64_t)w->cta->rank << 24 : 0);
        if (c->bytes == 0)
            memcpy(w->registers + c->at, &bits, 4);
        else
            for (uint32_t lane = 0; lane < HPT_LANES; lane++)
                memcpy(w->registers + c->at + c->bytes * lane, &bits, c->bytes > 8 ? 8 : c->bytes);
    }
    for (int s = 0; s < HPT_EMU_SPECIALS; s++)
        if (p->special_at[s] >= 0) fill_special(w, (hpt_emu_special)s);
}

static bool make_warp(hpt_emu_warp *w, hpt_emu_cta *cta, uint32_t index, uint32_t threads) {
    hpt_emu_cluster *k = cta->cluster;
    const hpt_emu_program *p = k->run->program;
    w->cta = cta;
    w->index = index;
    w->number = cta->rank * k->warps_per_cta + index;
    w->registers = aligned_alloc(64, (p->register_bytes + 63) / 64 * 64 + 64);
    w->local = calloc(HPT_LANES, p->function->local_bytes + 1);
    w->clock = calloc(k->clock_size, sizeof *w->clock);
    if (!w->registers || !w->local || !w->clock) return false;
    memset(w->registers, 0, p->register_bytes);
    uint32_t lanes = threads - index * HPT_LANES;
    w->live = lanes >= HPT_LANES ? 0xffffffffu : (1u << lanes) - 1;
    w->fragment[0] = (hpt_emu_fragment){.pc = 0, .mask = w->live};
    w->fragment_count = 1;
    w->clock[hpt_emu_component_warp(w)] = 1;
    k->live_threads += (uint32_t)__builtin_popcount(w->live);
    fill_constants(w);
    return true;
}

enum { SM_REGISTERS = 65536 };

static bool make_cta(hpt_emu_cta *cta, hpt_emu_cluster *k, uint32_t rank) {
    const hpt_launch *n = k->run->launch;
    uint32_t per[3] = {n->grid[0] / n->cluster[0], n->grid[1] / n->cluster[1], n->grid[2] / n->cluster[2]};
    uint32_t in[3] = {rank % n->cluster[0], rank / n->cluster[0] % n->cluster[1], rank / n->cluster[0] / n->cluster[1]};
    uint32_t of[3] = {(uint32_t)(k->linear % per[0]), (uint32_t)(k->linear / per[0] % per[1]),
                      (uint32_t)(k->linear / per[0] / per[1])};
    cta->cluster = k;
    cta->rank = rank;
    for (int d = 0; d < 3; d++) cta->id[d] = of[d] * n->cluster[d] + in[d];
    cta->linear = (cta->id[2] * n->grid[1] + cta->id[1]) * n->grid[0] + cta->id[0];
    cta->shared_bytes = k->run->shared_bytes;
    cta->shared = calloc(cta->shared_bytes + 16, 1);
    cta->granules = calloc(cta->shared_bytes / 16 + 1, sizeof *cta->granules);
    cta->mbarrier_at = calloc(cta->shared_bytes / 8 + 1, sizeof *cta->mbarrier_at);
    cta->warps = calloc(k->warps_per_cta, sizeof *cta->warps);
    if (!cta->shared || !cta->granules || !cta->mbarrier_at || !cta->warps) return false;
    uint32_t threads = n->block[0] * n->block[1] * n->block[2];
    for (int b = 0; b < HPT_EMU_BARRIERS; b++) {
        cta->barriers[b].clock = calloc(2 * (size_t)k->clock_size, sizeof(hpt_emu_time));
        if (!cta->barriers[b].clock) return false;
    }
    const hpt_ptx_function *f = k->run->program->function;
    uint32_t each = SM_REGISTERS / threads / 8 * 8;
    bool known = f->max_threads[0] || f->required_threads[0];
    cta->registers_free = 0;
    for (; cta->warp_count < k->warps_per_cta; cta->warp_count++)
        if (!make_warp(&cta->warps[cta->warp_count], cta, cta->warp_count, threads)) {
            cta->warp_count++;
            return false;
        }
    for (uint32_t v = 0; v < cta->warp_count; v++) cta->warps[v].register_count = !known ? 0 : each > 255 ? 255 : each;
    return true;
}

static void free_warp(hpt_emu_warp *w) {
    free(w->registers);
    free(w->local);
    free(w->clock);
    hpt_emu_bulk_free(w);
    hpt_emu_small_copies_free(w);
    hpt_emu_wgmma_free(w);
    hpt_emu_tensor_release(w);
}

void hpt_emu_cluster_destroy(hpt_emu_cluster *k) {
    if (!k) return;
    for (size_t i = 0; i < k->async_count; i++) k->async[i]->release(k->async[i]);
    free(k->async);
    if (k->ctas) hpt_emu_tensor_destroy(k);
    hpt_emu_launch_control_free(k);
    for (uint32_t c = 0; k->ctas && c < k->size; c++) {
        hpt_emu_cta *cta = &k->ctas[c];
        for (uint32_t m = 0; m < cta->mbarrier_count; m++) {
            free(cta->mbarriers[m].arrived);
            free(cta->mbarriers[m].completed);
        }
        for (uint32_t v = 0; v < cta->warp_count; v++) free_warp(&cta->warps[v]);
        for (int b = 0; b < HPT_EMU_BARRIERS; b++) free(cta->barriers[b].clock);
        free(cta->mbarriers);
        free(cta->mbarrier_at);
        free(cta->granules);
        free(cta->shared);
        free(cta->warps);
    }
    free(k->ctas);
    free(k->cluster_clock);
    free(k->cluster_clock_done);
    free(k);
}

hpt_emu_cluster *hpt_emu_cluster_create(hpt_emu_run *run, uint64_t linear) {
    hpt_emu_cluster *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    const hpt_launch *n = run->launch;
    uint32_t threads = n->block[0] * n->block[1] * n->block[2];
    k->run = run;
    k->linear = linear;
    k->size = run->cluster_size;
    k->warps_per_cta = (threads + HPT_LANES - 1) / HPT_LANES;
    k->warp_total = k->size * k->warps_per_cta;
    k->components_used = 1u + hpt_emu_component_grid(k);
    k->clock_size = k->components_used + HPT_EMU_TRACKED_MBARRIERS * k->size;
    k->random.state = run->seed * 0x2545f4914f6cdd1dull + linear;
    k->epoch = 1;
    k->cluster_clock = calloc(k->clock_size, sizeof *k->cluster_clock);
    k->cluster_clock_done = calloc(k->clock_size, sizeof *k->cluster_clock);
    k->ctas = calloc(k->size, sizeof *k->ctas);
    bool ok = k->cluster_clock && k->cluster_clock_done && k->ctas;
    for (uint32_t c = 0; ok && c < k->size; c++) ok = make_cta(&k->ctas[c], k, c);
    if (ok) return k;
    hpt_emu_cluster_destroy(k);
    return NULL;
}

/* ---- scheduling ---- */
static hpt_emu_warp *warp_of(hpt_emu_cluster *k, uint32_t number) {
    return &k->ctas[number / k->warps_per_cta].warps[number % k->warps_per_cta];
}

static bool may_run(const hpt_emu_cluster *k, const hpt_emu_warp *w) {
    return w->live && !(w->stuck && w->blocked_epoch == k->epoch);
}

/* Some seeds favour one CTA and let one warp lag far behind, so that distances grow as they rarely do by chance. */
static void draw_favourites(hpt_emu_cluster *k) {
    enum { STRETCH = 3000 };
    k->picks_left = 1 + hpt_emu_random_below(&k->random, STRETCH);
    bool biased = k->run->seed % 3 != 0;
    k->favourite = biased ? hpt_emu_random_below(&k->random, k->size) : k->size;
    k->lazy = biased ? hpt_emu_random_below(&k->random, k->warp_total) : k->warp_total;
}

static hpt_emu_warp *choose_warp(hpt_emu_cluster *k) {
    if (k->picks_left-- == 0) draw_favourites(k);
    uint32_t start = hpt_emu_random_below(&k->random, k->warp_total);
    bool bends =
        hpt_emu_random_below(&k->random, 32) == 0; /* the rules below do not hold always, or spins would starve */
    if (!bends && k->size > 1 && k->favourite < k->size) {
        hpt_emu_cta *cta = &k->ctas[k->favourite];
        for (uint32_t n = 0; n < cta->warp_count; n++) {
            hpt_emu_warp *w = &cta->warps[(start + n) % cta->warp_count];
            if (may_run(k, w) && w->number != k->lazy) return w;
        }
    }
    hpt_emu_warp *last = NULL;
    for (uint32_t n = 0; n < k->warp_total; n++) {
        hpt_emu_warp *w = warp_of(k, (start + n) % k->warp_total);
        if (!may_run(k, w)) continue;
        if (bends || w->number != k->lazy) return w;
        last = w;
    }
    return last;
}

static const hpt_emu_instruction *place_of(const hpt_emu_warp *w) {
    const hpt_emu_program *p = w->cta->cluster->run->program;
    return w->fragment[0].pc < p->count ? &p->code[w->fragment[0].pc] : NULL;
}

/* What every warp waits for; warps at the same place are named together. */
static void report_standstill(hpt_emu_cluster *k, hpt_emu_fault fault, const char *headline) {
    char text[900], wait[160];
    size_t used = 0;
    hpt_emu_warp *blamed = NULL;
    text[0] = '\0';
    for (uint32_t n = 0; n < k->warp_total; n++) {
        hpt_emu_warp *w = warp_of(k, n);
        const hpt_emu_instruction *at = place_of(w);
        if (!w->live || !at) continue;
        if (!blamed) blamed = w;
        bool named = false;
        for (uint32_t m = 0; m < n && !named; m++)
            named = warp_of(k, m)->live && place_of(warp_of(k, m)) == at &&
                    warp_of(k, m)->fragment[0].what == w->fragment[0].what && warp_of(k, m)->cta == w->cta;
        if (named || used > sizeof text - 260) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, " CTA %u", w->cta->rank);
        for (uint32_t m = n; m < k->warp_total && used < sizeof text - 230; m++) {
            const hpt_emu_warp *v = warp_of(k, m);
            if (v->live && v->cta == w->cta && place_of(v) == at && v->fragment[0].what == w->fragment[0].what)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", m == n ? " warp " : ",", v->index);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, " at line %d waits for %s;", at->source->line,
                                 hpt_emu_waiting_for(w, wait, sizeof wait));
    }
    if (blamed) hpt_emu_report(blamed, place_of(blamed), 0, fault, "%s%s", headline, text);
}

/* Nothing runs and nothing is in flight: first lanes stop waiting for their siblings, then it is a deadlock. */
static bool loosen(hpt_emu_cluster *k) {
    bool any = false;
    for (uint32_t n = 0; n < k->warp_total; n++) {
        hpt_emu_warp *w = warp_of(k, n);
        if (!w->live || w->relaxed || w->fragment_count < 2) continue;
        w->relaxed = any = true;
        w->stuck = false;
    }
    if (any) return true;
    for (uint32_t n = 0; n < k->warp_total; n++) { /* fragments are tried one at a time: give all of them a chance */
        hpt_emu_warp *w = warp_of(k, n);
        if (w->live && w->relaxed && w->tries < 64) {
            w->tries++;
            w->stuck = false;
            any = true;
        }
    }
    return any;
}

static uint32_t landing_odds(uint64_t seed) { /* one in so many picks lands something */
    static const uint32_t odds[] = {8, 2, 1000, 30};
    return odds[seed % HPT_COUNT(odds)];
}
static uint32_t longest_stretch(uint64_t seed) {
    static const uint32_t stretches[] = {200, 30, 400, 100, 1000};
    return stretches[seed % HPT_COUNT(stretches)];
}

static void run_warp(hpt_emu_cluster *k, hpt_emu_warp *w) {
    uint64_t executed = w->executed, progress = w->progress;
    bool goes_on = hpt_emu_warp_run(w, 1 + hpt_emu_random_below(&k->random, longest_stretch(k->run->seed)));
    k->counters.instructions += w->executed - executed;
    k->quiet += w->executed - executed;
    if (w->progress != progress) {
        note_change(k);
        w->tries = 0;
    }
    w->stuck = !goes_on;
    w->blocked_epoch = k->epoch;
}

/* Too long without a change, here or (what this cluster may wait for) in another one. */
static bool stands_still(hpt_emu_cluster *k) {
    if (k->quiet <= k->run->device->options.patience) return false;
    const uint64_t changes = __atomic_load_n(&k->run->changes, __ATOMIC_RELAXED);
    const bool same = changes == k->changes_seen;
    k->changes_seen = changes;
    k->quiet = 0;
    return same;
}

bool hpt_emu_cluster_run(hpt_emu_cluster *k, uint32_t picks) {
    uint32_t odds = landing_odds(k->run->seed);
    for (; picks && !k->run->stop; picks--) {
        if (k->out_of_memory) {
            k->run->stop = true;
            break;
        }
        if (k->async_count && hpt_emu_random_below(&k->random, odds) == 0) land_one(k);
        if (k->warps_done == k->warp_total) {
            while (k->async_count) land_one(k);
            return true;
        }
        hpt_emu_warp *w = choose_warp(k);
        if (w) {
            run_warp(k, w);
            if (!stands_still(k)) continue;
            report_standstill(k, HPT_EMU_LIVELOCK, "Warps run, but nothing changes any more:");
            k->run->stop = true;
        } else if (k->async_count) {
            land_one(k);
        } else if (!loosen(k)) {
            report_standstill(k, HPT_EMU_DEADLOCK, "No warp can go on:");
            k->run->stop = true;
        }
    }
    return false;
}
