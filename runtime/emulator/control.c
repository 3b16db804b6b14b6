/* control.c - branches, exits, and the barriers of a CTA, a warp and a cluster. */
#include "decode.h"
#include "device.h"
#include "lanes.h"

static hpt_emu_fragment *current(hpt_emu_warp *w) { return &w->fragment[0]; }

hpt_emu_step hpt_emu_run_nothing(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_branch(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_fragment *f = current(w);
    if (mask == f->mask) {
        f->pc = i->target;
        return HPT_EMU_MOVED;
    }
    uint32_t stay = f->mask & ~mask;
    hpt_emu_fragment *other = &w->fragment[w->fragment_count++];
    *other = (hpt_emu_fragment){.pc = i->target, .mask = mask};
    *f = (hpt_emu_fragment){.pc = f->pc + 1, .mask = stay};
    return HPT_EMU_MOVED;
}

static hpt_emu_step run_branch_indexed(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_fragment *f = current(w);
    uint32_t left = f->mask, pc = f->pc;
    w->fragment[0] = w->fragment[--w->fragment_count];
    if (left & ~mask) w->fragment[w->fragment_count++] = (hpt_emu_fragment){.pc = pc + 1, .mask = left & ~mask};
    while (mask) {
        uint32_t lane = hpt_emu_first(mask), index = (uint32_t)hpt_emu_get(w, &i->op[0], lane), same = 0;
        HPT_FOR_LANES(other, mask) if (hpt_emu_get(w, &i->op[0], other) == index) same |= 1u << other;
        if (index >= i->op[1].count) {
            hpt_emu_report(w, i, lane, HPT_EMU_OPERAND, "The branch index %u is not below %u.", index, i->op[1].count);
            index = 0;
        }
        w->fragment[w->fragment_count++] =
            (hpt_emu_fragment){.pc = (uint32_t)i->op[1].items[index].offset, .mask = same};
        mask &= ~same;
    }
    return HPT_EMU_MOVED;
}

static hpt_emu_step run_exit(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i;
    hpt_emu_fragment *f = current(w);
    w->live &= ~mask;
    f->mask &= ~mask;
    f->pc++;
    if (!f->mask) *f = w->fragment[--w->fragment_count];
    return HPT_EMU_MOVED;
}

static hpt_emu_step run_trap(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND, "The kernel executed trap.");
    w->cta->cluster->run->stop = true;
    return HPT_EMU_NEXT;
}

hpt_emu_step hpt_emu_run_assert(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND, "An assertion of the kernel failed.");
    w->cta->cluster->run->stop = true;
    return HPT_EMU_NEXT;
}

/* ---- lanes of a warp ---- */
static hpt_emu_step run_warp_sync(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members = (uint32_t)hpt_emu_get(w, &i->op[0], hpt_emu_first(mask)) & w->live;
    if ((members & ~mask) == 0) return HPT_EMU_NEXT;
    hpt_emu_block(w, HPT_EMU_WAIT_LANES, members, 0, "bar.warp.sync");
    return HPT_EMU_PARKED;
}

/* ---- named barriers ---- */
static void release_barrier(hpt_emu_cta *cta, hpt_emu_named_barrier *b) {
    b->generation++;
    b->arrived = 0;
    b->expected = 0;
    b->result_votes = b->votes;
    b->result_voters = b->voters;
    b->votes = b->voters = 0;
    size_t bytes = cta->cluster->clock_size * sizeof *b->clock;
    memcpy(b->clock + cta->cluster->clock_size, b->clock, bytes);
    memset(b->clock, 0, bytes);
}

static uint32_t all_threads(const hpt_emu_cta *cta) { return HPT_LANES * (cta->warp_count - cta->warps_done); }

void hpt_emu_named_barrier_check(hpt_emu_cta *cta) {
    for (int k = 0; k < HPT_EMU_BARRIERS; k++) {
        hpt_emu_named_barrier *b = &cta->barriers[k];
        if (b->arrived && b->expected == UINT32_MAX && b->arrived >= all_threads(cta)) release_barrier(cta, b);
    }
}

static hpt_emu_named_barrier *arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, int count_at,
                                     uint32_t number) {
    hpt_emu_cta *cta = w->cta;
    hpt_emu_named_barrier *b = &cta->barriers[number];
    uint32_t expected = UINT32_MAX;
    if (count_at < i->count) {
        expected = (uint32_t)hpt_emu_uniform(w, i, &i->op[count_at], mask);
        if (expected == 0 || expected % HPT_LANES || expected > HPT_LANES * cta->warp_count) {
            hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND,
                           "Barrier %u is used with %u threads; it must be a multiple of 32 within the CTA.", number,
                           expected);
            expected = UINT32_MAX;
        }
    }
    if (b->arrived && b->expected != expected)
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND,
                       "Barrier %u is used with different numbers of threads at the same time.", number);
    b->expected = expected;
    b->arrived += HPT_LANES;
    hpt_emu_clock_release(w, b->clock);
    return b;
}

static void complete(hpt_emu_cta *cta, hpt_emu_named_barrier *b) {
    uint32_t expected = b->expected == UINT32_MAX ? all_threads(cta) : b->expected;
    if (b->arrived >= expected) release_barrier(cta, b);
}

static bool barrier_number(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, int at, uint32_t *out) {
    uint64_t number = hpt_emu_uniform(w, i, &i->op[at], mask);
    *out = (uint32_t)number;
    if (number < HPT_EMU_BARRIERS) return true;
    hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND, "There is no barrier %llu; a CTA has 16.",
                   (unsigned long long)number);
    return false;
}

/* Arrives and waits. `predicate_at`: of barrier.red, else -1. */
static hpt_emu_step synchronize(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask, int number_at,
                                int predicate_at) {
    hpt_emu_fragment *f = current(w);
    uint32_t number;
    if (!barrier_number(w, i, mask, number_at, &number)) return HPT_EMU_NEXT;
    hpt_emu_named_barrier *b = &w->cta->barriers[number];
    if (!f->entered) {
        f->entered = true;
        f->kept = b->generation;
        int count_at = number_at + 1;
        if (predicate_at >= 0) {
            b->votes += (uint32_t)__builtin_popcount(hpt_emu_predicate(w, &i->op[predicate_at]) & mask);
            b->voters += (uint32_t)__builtin_popcount(mask);
            if (predicate_at == count_at) count_at = HPT_EMU_OPERANDS;
        }
        arrive(w, i, mask, count_at, number);
        w->cta->cluster->counters.barrier_waits++;
        complete(w->cta, b);
        w->progress++;
    }
    if (b->generation == (uint32_t)f->kept) return hpt_emu_block(w, HPT_EMU_WAIT_BARRIER, number, f->kept, NULL);
    f->entered = false;
    hpt_emu_clock_acquire(w, b->clock + w->cta->cluster->clock_size);
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_bar_sync(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    return synchronize(w, i, mask, 0, -1);
}
/* Without .aligned the lanes may come one by one: they are gathered first. */
static hpt_emu_step run_barrier_sync(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    if (mask == w->live || current(w)->entered) return synchronize(w, i, mask, 0, -1);
    hpt_emu_block(w, HPT_EMU_WAIT_LANES, w->live, 0, i->source->opcode);
    return HPT_EMU_PARKED;
}
static hpt_emu_step run_bar_arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t number;
    if (!barrier_number(w, i, mask, 0, &number)) return HPT_EMU_NEXT;
    arrive(w, i, mask, 1, number);
    complete(w->cta, &w->cta->barriers[number]);
    w->progress++;
    return HPT_EMU_NEXT;
}
/* groups: operation */
static hpt_emu_step run_bar_red(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_step step = synchronize(w, i, mask, 1, i->count - 1);
    if (step != HPT_EMU_NEXT) return step;
    const hpt_emu_named_barrier *b = &w->cta->barriers[(uint32_t)hpt_emu_get(w, &i->op[1], hpt_emu_first(mask)) & 15];
    if (i->op[0].bytes)
        HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, b->result_votes);
    else
        hpt_emu_set_predicate(
            w, &i->op[0], (i->modifier[0] == 0 ? b->result_votes == b->result_voters : b->result_votes > 0) ? ~0u : 0,
            mask);
    return HPT_EMU_NEXT;
}

/* ---- the barrier of the cluster ---- */
static void complete_cluster(hpt_emu_cluster *k) {
    if (k->cluster_arrived < k->live_threads || k->cluster_arrived == 0) return;
    k->cluster_arrived = 0;
    k->cluster_generation++;
    memcpy(k->cluster_clock_done, k->cluster_clock, k->clock_size * sizeof *k->cluster_clock);
    memset(k->cluster_clock, 0, k->clock_size * sizeof *k->cluster_clock);
}

void hpt_emu_cluster_barrier_check(hpt_emu_cluster *k) { complete_cluster(k); }

static hpt_emu_step run_cluster_arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_cluster *k = w->cta->cluster;
    if (w->cluster_arrived & mask)
        hpt_emu_report(w, i, hpt_emu_first(w->cluster_arrived & mask), HPT_EMU_PHASE,
                       "barrier.cluster.arrive is executed twice without a barrier.cluster.wait between.");
    w->cluster_arrived |= mask;
    w->cluster_phase = k->cluster_generation;
    k->cluster_arrived += (uint32_t)__builtin_popcount(mask);
    hpt_emu_clock_release(w, k->cluster_clock);
    complete_cluster(k);
    w->progress++;
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_cluster_wait(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_cluster *k = w->cta->cluster;
    if ((w->cluster_arrived & mask) != mask) {
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_PHASE,
                       "barrier.cluster.wait is executed without a barrier.cluster.arrive before it.");
        return HPT_EMU_NEXT;
    }
    if (w->cluster_phase == k->cluster_generation)
        return hpt_emu_block(w, HPT_EMU_WAIT_CLUSTER, 0, k->cluster_generation, NULL);
    k->counters.barrier_waits++;
    w->cluster_arrived &= ~mask;
    hpt_emu_clock_acquire(w, k->cluster_clock_done);
    return HPT_EMU_NEXT;
}

/* ---- fences ---- */
static hpt_emu_step run_proxy_fence(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) w->fence_tick[lane] = ++w->cta->cluster->tick;
    if (i->modifier[0] <= 0) hpt_emu_global_fence(w); /* .global, or everything */
    return HPT_EMU_NEXT;
}

/* Memory is sequentially consistent here: what a fence does is say what is known to others. groups: order, scope */
static hpt_emu_step run_fence(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)mask;
    if (i->modifier[1] >= 2) hpt_emu_handover_fence(w);
    return HPT_EMU_NEXT;
}
/* groups: scope */
static hpt_emu_step run_membar(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)mask;
    if (i->modifier[0] >= 1) hpt_emu_handover_fence(w);
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_grid_wait(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    w->clock[hpt_emu_component_grid(w->cta->cluster)] = 1;
    w->cta->cluster->run->waited = true;
    return HPT_EMU_NEXT;
}
/* The next launch starts when all CTAs have come here or ended; if one had waited by then, so has that launch. */
static hpt_emu_step run_launch_dependents(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    w->triggered = w->cta->cluster->run->triggered = true;
    if (hpt_emu_grid_waited(w)) w->cta->cluster->run->settled = true;
    return HPT_EMU_NEXT;
}

/* setmaxnreg moves registers between warps and the pool of the CTA; taking blocks until there are enough. How many a
 * CTA starts with is known where the kernel states its number of threads: then all of the multiprocessor's. */
static hpt_emu_step run_setmaxnreg(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_cta *cta = w->cta;
    uint64_t count = hpt_emu_uniform(w, i, &i->op[0], mask);
    bool takes = i->modifier[0] == 0;
    if (count < 24 || count > 256 || count % 8)
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND,
                       "setmaxnreg takes 24 to 256 in steps of 8, not %llu.", (unsigned long long)count);
    if (!w->register_count) return HPT_EMU_NEXT;
    if (takes ? count < w->register_count : count > w->register_count)
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND,
                       "setmaxnreg.%s %llu: the warp already has %u registers per thread.", takes ? "inc" : "dec",
                       (unsigned long long)count, w->register_count);
    if (takes && count > w->register_count && cta->registers_free < (count - w->register_count) * HPT_LANES)
        return hpt_emu_block(w, HPT_EMU_WAIT_OTHER, 0, count,
                             "registers that other warps have to give up first (setmaxnreg)");
    cta->registers_free = (uint32_t)(cta->registers_free + (w->register_count - count) * HPT_LANES);
    w->register_count = (uint32_t)count;
    w->progress++;
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_control[] = {
    {"bra[.uni]", "l", run_branch, 0, NULL},
    {"brx.idx[.uni]", "s4,b", run_branch_indexed, 0, NULL},
    {"ret[.uni]", "", run_exit, 0, NULL},
    {"exit", "", run_exit, 0, NULL},
    {"trap", "", run_trap, 0, NULL},
    {"brkpt", "", hpt_emu_run_nothing, 0, NULL},
    {"nanosleep.u32", "s4", hpt_emu_run_nothing, 0, NULL},
    {"bar.warp.sync", "s4", run_warp_sync, 0, NULL},
    {"bar[.cta].sync", "s4,?s4", run_bar_sync, HPT_EMU_ALIGNED, NULL},
    {"barrier[.cta].sync.aligned", "s4,?s4", run_bar_sync, HPT_EMU_ALIGNED, NULL},
    {"barrier[.cta].sync", "s4,?s4", run_barrier_sync, 0, NULL},
    {"bar[.cta].arrive", "s4,s4", run_bar_arrive, HPT_EMU_ALIGNED, NULL},
    {"barrier[.cta].arrive.aligned", "s4,s4", run_bar_arrive, HPT_EMU_ALIGNED, NULL},
    {"barrier[.cta].arrive", "s4,s4", run_bar_arrive, HPT_EMU_ALIGNED, NULL},
    {"bar.red{.and|.or}.pred", "dp,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"bar.red{.and|.or}.pred", "dp,s4,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"bar.red{.popc}.u32", "d4,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"bar.red{.popc}.u32", "d4,s4,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"barrier.red{.and|.or}.pred", "dp,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"barrier.red{.popc}.u32", "d4,s4,sp", run_bar_red, HPT_EMU_ALIGNED, NULL},
    {"barrier.cluster.arrive[.release|.relaxed].aligned", "", run_cluster_arrive, HPT_EMU_ALIGNED, NULL},
    {"barrier.cluster.arrive[.release|.relaxed]", "", run_cluster_arrive, 0, NULL},
    {"barrier.cluster.wait[.acquire].aligned", "", run_cluster_wait, HPT_EMU_ALIGNED, NULL},
    {"barrier.cluster.wait[.acquire]", "", run_cluster_wait, 0, NULL},
    {"membar{.cta|.gl|.sys}", "", run_membar, 0, NULL},
    {"fence[.sc|.acq_rel|.acquire|.release]{.cta|.cluster|.gpu|.sys}", "", run_fence, 0, NULL},
    {"fence{.acquire|.release}.sync_restrict{.shared::cta|.shared::cluster}.cluster", "", hpt_emu_run_nothing, 0, NULL},
    {"fence.mbarrier_init.release.cluster", "", hpt_emu_run_nothing, 0, NULL},
    {"fence.proxy.async[.global|.shared::cta|.shared::cluster]", "", run_proxy_fence, 0, NULL},
    {"fence.proxy.async::generic{.acquire|.release}.sync_restrict{.shared::cta|.shared::cluster}.cluster", "",
     run_proxy_fence, 0, NULL},
    {"fence.proxy.alias", "", hpt_emu_run_nothing, 0, NULL},
    {"fence.proxy.tensormap::generic{.acquire|.release}{.cta|.cluster|.gpu|.sys}", "?sx,?s4", hpt_emu_run_nothing, 0,
     NULL},
    {"griddepcontrol.wait", "", run_grid_wait, 0, NULL},
    {"griddepcontrol.launch_dependents", "", run_launch_dependents, 0, NULL},
    {"setmaxnreg{.inc|.dec}.sync.aligned.u32", "s4", run_setmaxnreg, HPT_EMU_ALIGNED, NULL},
    {"prefetch[.global|.local]{.L1|.L2|.L2::evict_last|.L2::evict_normal}", "m", hpt_emu_run_nothing, 0, NULL},
    {"prefetchu.L1", "m", hpt_emu_run_nothing, 0, NULL},
    {"prefetch[.param|.const].tensormap", "m", hpt_emu_run_nothing, 0, NULL},
    {"discard[.global].L2", "m,s4", hpt_emu_run_nothing, 0, NULL},
    {"applypriority[.global].L2::evict_normal", "m,s4", hpt_emu_run_nothing, 0, NULL},
    HPT_EMU_LAST_ROW,
};
