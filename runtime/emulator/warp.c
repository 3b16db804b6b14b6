/* warp.c - runs the instructions of one warp. */
#include "device.h"
#include <string.h>

hpt_emu_step hpt_emu_block(hpt_emu_warp *w, hpt_emu_wait wait, uint32_t what, uint64_t value, const char *text) {
    hpt_emu_fragment *f = &w->fragment[0];
    f->wait = wait;
    f->what = what;
    f->value = value;
    f->text = text;
    return HPT_EMU_BLOCKED;
}

static uint32_t rank_of(const hpt_emu_warp *w, const hpt_emu_fragment *f) {
    const hpt_emu_program *p = w->cta->cluster->run->program;
    return f->pc < p->count ? p->code[f->pc].rank : UINT32_MAX;
}

static void merge_equal(hpt_emu_warp *w) {
    for (uint32_t a = 0; a < w->fragment_count; a++)
        for (uint32_t b = a + 1; b < w->fragment_count;) {
            hpt_emu_fragment *x = &w->fragment[a], *y = &w->fragment[b];
            if (x->pc != y->pc || x->entered || y->entered) {
                b++;
                continue;
            }
            x->mask |= y->mask;
            x->wait = HPT_EMU_WAIT_NONE;
            *y = w->fragment[--w->fragment_count];
        }
}

/* bar.warp.sync may be met at different places: those who wait for each other go on together. */
static bool release_gathered(hpt_emu_warp *w) {
    for (uint32_t a = 0; a < w->fragment_count; a++) {
        const hpt_emu_fragment *f = &w->fragment[a];
        if (f->wait != HPT_EMU_WAIT_LANES || strcmp(f->text, "bar.warp.sync") != 0) continue;
        uint32_t here = 0, members = f->what & w->live;
        for (uint32_t b = 0; b < w->fragment_count; b++)
            if (w->fragment[b].wait == HPT_EMU_WAIT_LANES && strcmp(w->fragment[b].text, "bar.warp.sync") == 0)
                here |= w->fragment[b].mask;
        if (members & ~here) continue;
        for (uint32_t b = 0; b < w->fragment_count; b++)
            if (w->fragment[b].wait == HPT_EMU_WAIT_LANES && w->fragment[b].mask & members) {
                w->fragment[b].wait = HPT_EMU_WAIT_NONE;
                w->fragment[b].pc++;
            }
        return true;
    }
    return false;
}

/* Puts the fragment that is to run next first: the earliest one that does not wait for lanes of this warp. */
static bool choose_fragment(hpt_emu_warp *w) {
    if (w->relaxed) {
        merge_equal(w);
        return true;
    }
    if (w->fragment_count == 1)
        return w->fragment[0].wait != HPT_EMU_WAIT_LANES || (w->fragment[0].what & w->live & ~w->fragment[0].mask) == 0;
    merge_equal(w);
    for (int attempt = 0; attempt < 2; attempt++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t k = 0; k < w->fragment_count; k++) {
            const hpt_emu_fragment *f = &w->fragment[k];
            if (f->wait == HPT_EMU_WAIT_LANES && (f->what & w->live & ~f->mask)) continue;
            if (best == UINT32_MAX || rank_of(w, f) < rank_of(w, &w->fragment[best])) best = k;
        }
        if (best != UINT32_MAX) {
            hpt_emu_fragment first = w->fragment[best];
            w->fragment[best] = w->fragment[0];
            w->fragment[0] = first;
            return true;
        }
        if (!release_gathered(w)) return false;
    }
    return false;
}

static uint32_t earliest_other(const hpt_emu_warp *w) {
    uint32_t rank = UINT32_MAX;
    if (w->relaxed) return rank;
    for (uint32_t k = 1; k < w->fragment_count; k++) {
        uint32_t r = rank_of(w, &w->fragment[k]);
        rank = r < rank ? r : rank;
    }
    return rank;
}

static void report_divergence(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_CONVERGENCE,
                   "%s must be executed by all lanes of the warp together, but only lanes 0x%08x of 0x%08x are here.",
                   i->source->opcode, mask, w->live);
}

static void finish_lanes(hpt_emu_warp *w, uint32_t gone) {
    hpt_emu_cta *cta = w->cta;
    hpt_emu_cluster *k = cta->cluster;
    k->live_threads -= (uint32_t)__builtin_popcount(gone);
    if (!w->live) {
        cta->warps_done++;
        k->warps_done++;
        if (!w->triggered && hpt_emu_grid_waited(w)) k->run->settled = true;
        hpt_emu_bulk_release(w);
        hpt_emu_wgmma_release(w);
        hpt_emu_tensor_end(w);
        hpt_emu_named_barrier_check(cta);
    }
    hpt_emu_cluster_barrier_check(k);
    w->progress++;
}

bool hpt_emu_warp_run(hpt_emu_warp *w, uint32_t limit) {
    const hpt_emu_program *program = w->cta->cluster->run->program;
    volatile bool *stop = &w->cta->cluster->run->stop;
    if (!w->live) return false;
    if (w->relaxed && w->fragment_count > 1) {
        uint32_t pick = hpt_emu_random_below(&w->cta->cluster->random, w->fragment_count);
        hpt_emu_fragment first = w->fragment[pick];
        w->fragment[pick] = w->fragment[0];
        w->fragment[0] = first;
    }
    if (!choose_fragment(w)) return false;
    uint32_t others = earliest_other(w);
    for (; limit; limit--) {
        hpt_emu_fragment *f = &w->fragment[0];
        if (f->pc >= program->count) { /* the end of the body is a return */
            uint32_t gone = f->mask;
            w->live &= ~gone;
            w->fragment[0] = w->fragment[--w->fragment_count];
            finish_lanes(w, gone);
            return w->live != 0;
        }
        const hpt_emu_instruction *i = &program->code[f->pc];
        if (w->fragment_count > 1 && i->rank >= others) {
            if (!choose_fragment(w)) return false;
            others = earliest_other(w);
            f = &w->fragment[0];
            if (f->pc >= program->count) continue;
            i = &program->code[f->pc];
        }
        uint32_t mask = f->mask;
        if (i->guard >= 0) {
            uint32_t guard = *(const uint32_t *)(w->registers + i->guard);
            mask &= i->guard_negated ? ~guard : guard;
        }
        w->executed++;
        if (!mask) {
            f->pc++;
            continue;
        }
        if (i->flags & HPT_EMU_ALIGNED && mask != w->live) report_divergence(w, i, mask);
        if (i->touches_accumulator) hpt_emu_wgmma_check(w, i);
        f->wait = HPT_EMU_WAIT_NONE;
        uint32_t live = w->live;
        switch (i->run(w, i, mask)) {
        case HPT_EMU_NEXT:
            f->pc++;
            break;
        case HPT_EMU_MOVED:
            if (w->live != live) finish_lanes(w, live & ~w->live);
            if (!w->live) return false;
            if (!choose_fragment(w)) return false;
            others = earliest_other(w);
            break;
        case HPT_EMU_BLOCKED:
            return false;
        case HPT_EMU_PARKED:
            if (!choose_fragment(w)) return false;
            others = earliest_other(w);
            break;
        }
        if (*stop) return false;
    }
    return true;
}
