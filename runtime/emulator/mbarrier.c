/* mbarrier.c - mbarrier objects: phases of arrivals and transaction bytes (PTX ISA 9.7.13.15). */
#include "device.h"
#include "lanes.h"
#include <stdlib.h>

enum { MAX_COUNT = (1 << 20) - 1 };

hpt_emu_mbarrier *hpt_emu_mbarrier_find(hpt_emu_cta *cta, uint32_t offset) {
    if (offset / 8 >= cta->shared_bytes / 8) return NULL;
    uint16_t at = cta->mbarrier_at[offset / 8];
    return at && cta->mbarriers[at - 1].valid ? &cta->mbarriers[at - 1] : NULL;
}

hpt_emu_mbarrier *hpt_emu_mbarrier_at(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t address,
                                      bool own, hpt_emu_cta **cta, uint32_t *offset) {
    *cta = hpt_emu_shared_cta(w->cta, address, offset);
    if (*cta && *offset % 8 != 0) {
        hpt_emu_report(w, i, lane, HPT_EMU_ALIGNMENT, "The mbarrier address 0x%x is not a multiple of 8.", *offset);
        return NULL;
    }
    if (*cta && own && *cta != w->cta) {
        hpt_emu_report(w, i, lane, HPT_EMU_PHASE, "This operation is only allowed on an mbarrier of the own CTA.");
        return NULL;
    }
    hpt_emu_mbarrier *b = *cta ? hpt_emu_mbarrier_find(*cta, *offset) : NULL;
    if (!b) {
        hpt_emu_report(w, i, lane, HPT_EMU_PHASE, "There is no initialised mbarrier at shared address 0x%llx.",
                       (unsigned long long)address);
        return NULL;
    }
    if (b->creator != hpt_emu_component_warp(w) && w->clock[b->creator] < b->created)
        hpt_emu_report(w, i, lane, HPT_EMU_RACE,
                       "The mbarrier at 0x%x is used without having waited for its initialisation "
                       "by another warp.",
                       *offset);
    return b;
}

static void complete_if_done(hpt_emu_cta *cta, hpt_emu_mbarrier *b) {
    if (b->pending || b->tx) return;
    hpt_emu_cluster *k = cta->cluster;
    b->phase++;
    b->pending = b->expected;
    if (b->component) b->arrived[b->component] = b->phase;
    hpt_emu_clock_join(k, b->completed, b->arrived);
    memset(b->arrived, 0, k->clock_size * sizeof *b->arrived);
    k->epoch++;
}

static void add_tx(hpt_emu_mbarrier *b, uint32_t offset, int64_t bytes, const hpt_emu_who *who) {
    b->tx += bytes;
    if (b->tx > MAX_COUNT || b->tx < -MAX_COUNT)
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PHASE,
                       "The transaction count of the mbarrier at 0x%x reaches %lld bytes; the limit is %d.", offset,
                       (long long)b->tx, MAX_COUNT);
}

void hpt_emu_mbarrier_complete_tx(hpt_emu_cta *cta, uint32_t offset, uint64_t bytes, bool grid_waited,
                                  const hpt_emu_who *who) {
    hpt_emu_mbarrier *b = hpt_emu_mbarrier_find(cta, offset);
    if (!b) {
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PHASE,
                       "%s completes bytes on 0x%x, where no mbarrier is (any more).", who->what, offset);
        return;
    }
    if (grid_waited) b->arrived[hpt_emu_component_grid(cta->cluster)] = 1;
    add_tx(b, offset, -(int64_t)bytes, who);
    if (b->pending == 0 && b->tx < 0)
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PHASE,
                       "%s brings %lld bytes more to the mbarrier at 0x%x than its phase expects.", who->what,
                       (long long)-b->tx, offset);
    complete_if_done(cta, b);
    cta->cluster->epoch++;
}

void hpt_emu_mbarrier_arrive(hpt_emu_cta *cta, uint32_t offset, uint32_t count, const hpt_emu_time *clock,
                             const hpt_emu_who *who) {
    hpt_emu_mbarrier *b = hpt_emu_mbarrier_find(cta, offset);
    if (!b || count > b->pending) {
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PHASE,
                       b ? "%s arrives at the mbarrier at 0x%x more often than its count of %u."
                         : "%s arrives at 0x%x, where no mbarrier is (any more).",
                       who->what, offset, b ? b->expected : 0);
        return;
    }
    if (clock) hpt_emu_clock_join(cta->cluster, b->arrived, clock);
    b->pending -= count;
    complete_if_done(cta, b);
    cta->cluster->epoch++;
}

/* ---- instructions ---- */
#define SPACE "[.shared|.shared::cta|.shared::cluster]"
#define SCOPE "[.cta|.cluster]"

static uint64_t address_of(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane) {
    return hpt_emu_address(w, op, lane);
}

static uint16_t new_component(hpt_emu_cluster *k) {
    return k->components_used < k->clock_size ? (uint16_t)k->components_used++ : 0;
}

static hpt_emu_mbarrier *create(hpt_emu_cta *cta, uint32_t offset) {
    hpt_emu_cluster *k = cta->cluster;
    uint16_t at = cta->mbarrier_at[offset / 8];
    if (at) return &cta->mbarriers[at - 1];
    if (cta->mbarrier_count == UINT16_MAX - 1) return NULL;
    if (cta->mbarrier_count == cta->mbarrier_capacity) {
        uint32_t more = cta->mbarrier_capacity ? 2 * cta->mbarrier_capacity : 32;
        hpt_emu_mbarrier *bigger = realloc(cta->mbarriers, more * sizeof *bigger);
        if (!bigger) return NULL;
        cta->mbarriers = bigger;
        cta->mbarrier_capacity = more;
    }
    hpt_emu_mbarrier *b = &cta->mbarriers[cta->mbarrier_count];
    *b = (hpt_emu_mbarrier){.component = new_component(k)};
    b->arrived = calloc(k->clock_size, sizeof *b->arrived);
    b->completed = calloc(k->clock_size, sizeof *b->completed);
    cta->mbarrier_at[offset / 8] = (uint16_t)++cta->mbarrier_count;
    return b->arrived && b->completed ? b : NULL;
}

static hpt_emu_step run_init(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) {
        uint32_t offset;
        uint64_t address = address_of(w, &i->op[0], lane), count = hpt_emu_get(w, &i->op[1], lane);
        hpt_emu_cta *cta = hpt_emu_shared_cta(w->cta, address, &offset);
        if (!cta || cta != w->cta || offset % 8 || offset < HPT_EMU_RESERVED_SHARED || offset + 8 > cta->shared_bytes) {
            hpt_emu_report(w, i, lane, offset % 8 ? HPT_EMU_ALIGNMENT : HPT_EMU_BOUNDS,
                           "An mbarrier cannot be at shared address 0x%llx.", (unsigned long long)address);
            continue;
        }
        if (count == 0 || count > MAX_COUNT)
            hpt_emu_report(w, i, lane, HPT_EMU_PHASE, "An mbarrier's count must be 1 to %d, not %llu.", MAX_COUNT,
                           (unsigned long long)count);
        if (hpt_emu_mbarrier_find(cta, offset))
            hpt_emu_report(w, i, lane, HPT_EMU_PHASE,
                           "The mbarrier at 0x%x is initialised again without mbarrier.inval.", offset);
        hpt_emu_mbarrier *b = create(cta, offset);
        if (!b) {
            w->cta->cluster->out_of_memory = true;
            continue;
        }
        b->valid = true;
        b->expected = b->pending = (uint32_t)count;
        b->tx = 0;
        b->phase = 0;
        memset(b->arrived, 0, cta->cluster->clock_size * sizeof *b->arrived);
        hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
        hpt_emu_shared_write(cta, offset, 8, &who);
        b->creator = who.component;
        b->created = who.time;
        w->progress++;
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_inval(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_cta *cta;
        uint32_t offset;
        hpt_emu_mbarrier *b = hpt_emu_mbarrier_at(w, i, lane, address_of(w, &i->op[0], lane), true, &cta, &offset);
        if (b) b->valid = false;
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_who arriving(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane) {
    hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
    who.what = "The thread";
    return who;
}

/* Takes `count` arrivals of one lane; `expect` adds transaction bytes first. */
static void arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_emu_operand *state,
                   const hpt_emu_operand *address, uint32_t count, int64_t expect, bool drops,
                   const hpt_emu_mbarrier **last) {
    hpt_emu_cta *cta;
    uint32_t offset;
    hpt_emu_mbarrier *b = hpt_emu_mbarrier_at(w, i, lane, address_of(w, address, lane), false, &cta, &offset);
    if (!b) return;
    hpt_emu_who who = arriving(w, i, lane);
    if (cta->warps_done == cta->warp_count)
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS, "The thread arrives at an mbarrier of a CTA that has exited.");
    if (state && !state->sink) hpt_emu_set(w, state, lane, b->phase);
    if (expect) add_tx(b, offset, expect, &who);
    if (*last != b) hpt_emu_clock_release(w, b->arrived);
    *last = b;
    if (drops) {
        if (b->expected < count) count = b->expected;
        b->expected -= count;
    }
    hpt_emu_mbarrier_arrive(cta, offset, count, NULL, &who);
    w->progress++;
}

/* groups: order, scope, space */
static hpt_emu_step run_arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const hpt_emu_mbarrier *last = NULL;
    bool drops = strstr(i->source->opcode, "arrive_drop") != NULL;
    HPT_FOR_LANES(lane, mask)
    arrive(w, i, lane, &i->op[0], &i->op[1], i->count > 2 ? (uint32_t)hpt_emu_get(w, &i->op[2], lane) : 1, 0, drops,
           &last);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_arrive_expect(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const hpt_emu_mbarrier *last = NULL;
    bool drops = strstr(i->source->opcode, "arrive_drop") != NULL;
    HPT_FOR_LANES(lane, mask)
    arrive(w, i, lane, &i->op[0], &i->op[1], 1, (int64_t)(u32)hpt_emu_get(w, &i->op[2], lane), drops, &last);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_transactions(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool expects = strncmp(i->source->opcode, "mbarrier.expect", 15) == 0;
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_cta *cta;
        uint32_t offset, bytes = (u32)hpt_emu_get(w, &i->op[1], lane);
        hpt_emu_mbarrier *b = hpt_emu_mbarrier_at(w, i, lane, address_of(w, &i->op[0], lane), false, &cta, &offset);
        hpt_emu_who who = arriving(w, i, lane);
        if (b && expects)
            add_tx(b, offset, bytes, &who);
        else if (b)
            hpt_emu_mbarrier_complete_tx(cta, offset, bytes, false, &who);
        w->progress++;
    }
    return HPT_EMU_NEXT;
}

/* Waits by parity or state. try_wait may give up early: now and then it says no although nobody has waited yet. */
static hpt_emu_step run_wait(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool by_parity = i->modifier[0] == 0, blocks = strncmp(i->source->opcode, "mbarrier.try", 12) == 0;
    hpt_emu_cluster *k = w->cta->cluster;
    uint32_t done = 0, first_offset = 0;
    uint64_t first_value = 0;
    const hpt_emu_mbarrier *last = NULL;
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_cta *cta;
        uint32_t offset;
        uint64_t value = hpt_emu_get(w, &i->op[2], lane);
        hpt_emu_mbarrier *b = hpt_emu_mbarrier_at(w, i, lane, address_of(w, &i->op[1], lane), true, &cta, &offset);
        if (lane == hpt_emu_first(mask)) {
            first_offset = offset;
            first_value = value;
        }
        bool complete = !b || (by_parity ? (value & 1) != (b->phase & 1) : value < b->phase);
        if (complete && b && last != b) hpt_emu_clock_acquire(w, b->completed);
        last = b;
        done |= (uint32_t)complete << lane;
    }
    if (!done && blocks) return hpt_emu_block(w, HPT_EMU_WAIT_MBARRIER, first_offset, first_value, NULL);
    if (!done && !w->fragment[0].entered) { /* test_wait: polled again when something may have changed */
        w->fragment[0].entered = true;
        return hpt_emu_block(w, HPT_EMU_WAIT_MBARRIER, first_offset, first_value, NULL);
    }
    w->fragment[0].entered = false;
    k->counters.barrier_waits++;
    hpt_emu_set_predicate(w, &i->op[0], done, mask);
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_mbarrier[] = {
    {"mbarrier.init" SPACE ".b64", "m,s4", run_init, 0, NULL},
    {"mbarrier.inval" SPACE ".b64", "m", run_inval, 0, NULL},
    {"mbarrier.arrive[.release|.relaxed]" SCOPE SPACE ".b64", "d8,m,?s4", run_arrive, 0, NULL},
    {"mbarrier.arrive.noComplete[.release]" SCOPE SPACE ".b64", "d8,m,s4", run_arrive, 0, NULL},
    {"mbarrier.arrive_drop[.release|.relaxed]" SCOPE SPACE ".b64", "d8,m,?s4", run_arrive, 0, NULL},
    {"mbarrier.arrive.expect_tx[.release|.relaxed]" SCOPE SPACE ".b64", "d8,m,s4", run_arrive_expect, 0, NULL},
    {"mbarrier.arrive_drop.expect_tx[.release|.relaxed]" SCOPE SPACE ".b64", "d8,m,s4", run_arrive_expect, 0, NULL},
    {"mbarrier.expect_tx[.relaxed]" SCOPE SPACE ".b64", "m,s4", run_transactions, 0, NULL},
    {"mbarrier.complete_tx[.relaxed]" SCOPE SPACE ".b64", "m,s4", run_transactions, 0, NULL},
    {"mbarrier.test_wait[.parity][.acquire|.relaxed]" SCOPE SPACE ".b64", "dp,m,sx", run_wait, 0, NULL},
    {"mbarrier.try_wait[.parity][.acquire|.relaxed]" SCOPE SPACE ".b64", "dp,m,sx,?s4", run_wait, 0, NULL},
    HPT_EMU_LAST_ROW,
};
