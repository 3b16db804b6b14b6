/* bulk.c - the life of a bulk copy: issue, landing, groups and waits (PTX ISA 9.7.9.25). */
#include "bulk.h"
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 256 }; /* finished stores per thread that are kept for the order check until they are waited for */

static void drop(hpt_emu_copy *copy) {
    if (--copy->references) return;
    free(copy->staged);
    free(copy);
}
static void release_async(hpt_emu_async *op) { drop((hpt_emu_copy *)op); }

hpt_emu_copy *hpt_emu_copy_create(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane) {
    hpt_emu_copy *copy = calloc(1, sizeof *copy);
    if (!w->bulk) w->bulk = calloc(1, sizeof *w->bulk);
    if (!copy || !w->bulk) {
        w->cta->cluster->out_of_memory = true;
        free(copy);
        return NULL;
    }
    copy->async = (hpt_emu_async){
        .release = release_async, .cluster = w->cta->cluster, .warp = w, .lane = lane, .instruction = i};
    copy->references = 1;
    copy->grid_waited = hpt_emu_grid_waited(w);
    copy->view = w->clock[0];
    return copy;
}

hpt_emu_cta *hpt_emu_bulk_range(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t address,
                                uint64_t bytes, uint32_t align, uint32_t *offset) {
    hpt_emu_cta *cta = hpt_emu_shared_cta(w->cta, address, offset);
    if (!cta || *offset < HPT_EMU_RESERVED_SHARED || *offset + bytes > cta->shared_bytes) {
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS,
                       "A bulk copy of %llu bytes at shared address 0x%llx leaves the CTA's memory (it ends at 0x%x).",
                       (unsigned long long)bytes, (unsigned long long)address, w->cta->shared_bytes);
        return NULL;
    }
    if (*offset % align) {
        hpt_emu_report(w, i, lane, HPT_EMU_ALIGNMENT,
                       "The shared address 0x%x of a bulk copy must be a multiple of %u.", *offset, align);
        return NULL;
    }
    return cta;
}

/* ---- stores ---- */
static bool land_store(hpt_emu_async *op) {
    hpt_emu_copy *copy = (hpt_emu_copy *)op;
    if (!copy->read) {
        uint64_t bytes = hpt_emu_box_extent(&copy->box);
        copy->staged = malloc(bytes);
        if (!copy->staged)
            op->cluster->out_of_memory = true;
        else
            memcpy(copy->staged, copy->cta->shared + copy->offset, bytes);
        copy->read = true;
        return false;
    }
    if (copy->staged) hpt_emu_box_store(copy);
    free(copy->staged);
    copy->staged = NULL;
    copy->done = true;
    return true;
}

/* Whatever this cluster sends to the same place, or reads from it, must have been waited for; adds may meet. */
static void check_order(const hpt_emu_copy *new, bool loads) {
    const hpt_emu_cluster *k = new->async.cluster;
    for (uint32_t n = 0; n < k->warp_total; n++) {
        const hpt_emu_warp *w = &k->ctas[n / k->warps_per_cta].warps[n % k->warps_per_cta];
        for (uint32_t lane = 0; w->bulk && lane < HPT_LANES; lane++)
            for (const hpt_emu_copy *old = w->bulk->copies[lane]; old; old = old->next) {
                if ((old->reduces && new->reduces && !loads) || !hpt_emu_boxes_overlap(&old->box, &new->box)) continue;
                hpt_emu_report(new->async.warp, new->async.instruction, new->async.lane, HPT_EMU_ORDER,
                               "A bulk %s global memory that an earlier bulk %s of warp %u (line %d) writes, "
                               "which nobody has "
                               "waited for with cp.async.bulk.wait_group (without .read).",
                               loads          ? "load reads"
                               : new->reduces ? "reduction goes to"
                                              : "store goes to",
                               old->reduces ? "reduction" : "store", w->index, old->async.instruction->source->line);
                return;
            }
    }
}

static void forget_old(hpt_emu_bulk_state *state, uint32_t lane) {
    uint32_t kept = 0;
    for (hpt_emu_copy **at = &state->copies[lane]; *at;) {
        hpt_emu_copy *copy = *at;
        if (copy->done && ++kept > REMEMBERED) {
            *at = copy->next;
            drop(copy);
        } else {
            at = &copy->next;
        }
    }
}

void hpt_emu_copy_start_store(hpt_emu_copy *copy) {
    hpt_emu_warp *w = copy->async.warp;
    uint32_t lane = copy->async.lane;
    hpt_emu_bulk_state *state = w->bulk;
    copy->group = state->group[lane];
    copy->time = ++state->issued;
    copy->async.land = land_store;
    hpt_emu_who who = {.warp = w,
                       .instruction = copy->async.instruction,
                       .lane = lane,
                       .component = hpt_emu_component_bulk(w),
                       .time = copy->time,
                       .knows = w->clock,
                       .async = true,
                       .what = copy->reduces ? "A bulk reduction" : "A bulk store"};
    hpt_emu_box_touch(copy, &who, false);
    check_order(copy, false);
    copy->references = 2;
    copy->next = state->copies[lane];
    state->copies[lane] = copy;
    if (copy->group % 32 == 0) forget_old(state, lane);
    w->progress++;
    hpt_emu_async_add(copy->async.cluster, &copy->async);
}

static hpt_emu_step run_commit(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i;
    if (w->bulk) HPT_FOR_LANES(lane, mask) w->bulk->group[lane]++;
    return HPT_EMU_NEXT;
}

/* groups: read */
static hpt_emu_step run_wait_group(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    if (!w->bulk) return HPT_EMU_NEXT;
    hpt_emu_bulk_state *state = w->bulk;
    bool reads = i->modifier[0] == 0;
    uint64_t allowed = hpt_emu_get(w, &i->op[0], hpt_emu_first(mask));
    HPT_FOR_LANES(lane, mask)
    for (const hpt_emu_copy *copy = state->copies[lane]; copy; copy = copy->next)
        if (copy->group + allowed < state->group[lane] && !(reads ? copy->read : copy->done))
            return hpt_emu_block(w, HPT_EMU_WAIT_BULK, 0, allowed, NULL);
    hpt_emu_time *known = &w->clock[hpt_emu_component_bulk(w)], *written = &w->clock[hpt_emu_component_written(w)];
    HPT_FOR_LANES(lane, mask)
    for (hpt_emu_copy **at = &state->copies[lane]; *at;) {
        hpt_emu_copy *copy = *at;
        bool waited = copy->group + allowed < state->group[lane];
        if (waited && copy->time > *known) *known = copy->time;
        if (waited && !reads && copy->time > *written) *written = copy->time;
        if (waited && !reads) {
            *at = copy->next;
            drop(copy);
        } else {
            at = &copy->next;
        }
    }
    return HPT_EMU_NEXT;
}

void hpt_emu_bulk_release(hpt_emu_warp *w) {
    for (uint32_t lane = 0; w->bulk && lane < HPT_LANES; lane++)
        for (const hpt_emu_copy *copy = w->bulk->copies[lane]; copy; copy = copy->next) {
            if (w->clock[hpt_emu_component_bulk(w)] >= copy->time) continue;
            hpt_emu_report(w, copy->async.instruction, lane, HPT_EMU_RACE,
                           "The thread exits without having waited for its bulk store: its shared memory may be gone "
                           "before it is read "
                           "(cp.async.bulk.wait_group.read 0 is missing).");
            return;
        }
}

void hpt_emu_bulk_free(hpt_emu_warp *w) {
    for (uint32_t lane = 0; w->bulk && lane < HPT_LANES; lane++)
        while (w->bulk->copies[lane]) {
            hpt_emu_copy *copy = w->bulk->copies[lane];
            w->bulk->copies[lane] = copy->next;
            drop(copy);
        }
    free(w->bulk);
    w->bulk = NULL;
}

/* ---- loads ---- */
static bool land_load(hpt_emu_async *op) {
    hpt_emu_copy *copy = (hpt_emu_copy *)op;
    uint64_t bytes = hpt_emu_box_bytes(&copy->box);
    hpt_emu_who who = {.warp = op->warp, .instruction = op->instruction, .lane = op->lane, .what = "A bulk load"};
    if (copy->cta->warps_done == copy->cta->warp_count)
        hpt_emu_report(op->warp, op->instruction, op->lane, HPT_EMU_RACE,
                       "A bulk load lands in the shared memory of a CTA that has exited: nobody waited for it.");
    if (copy->source && copy->reduces) {
        uint32_t size = copy->element == HPT_EMU_U64 || copy->element == HPT_EMU_S64 || copy->element == HPT_EMU_F64 ? 8
                        : copy->element == HPT_EMU_F16 || copy->element == HPT_EMU_BF16                              ? 2
                                                                                        : 4;
        for (uint64_t b = 0; b < bytes; b += size)
            hpt_emu_reduce_element(copy->cta->shared + copy->offset + b, copy->source + b, copy->operation,
                                   copy->element);
    } else if (copy->source) {
        memcpy(copy->cta->shared + copy->offset, copy->source, bytes);
    } else {
        hpt_emu_box_load(copy, copy->cta->shared + copy->offset);
    }
    op->cluster->counters.bulk_loads++;
    op->cluster->counters.bulk_load_bytes += bytes;
    hpt_emu_mbarrier_complete_tx(copy->signal, copy->mbarrier, bytes, copy->grid_waited, &who);
    return true;
}

void hpt_emu_copy_start_load(hpt_emu_copy *copy) {
    hpt_emu_warp *w = copy->async.warp;
    const hpt_emu_mbarrier *b = hpt_emu_mbarrier_find(copy->signal, copy->mbarrier);
    copy->async.land = land_load;
    hpt_emu_who who = {.warp = w,
                       .instruction = copy->async.instruction,
                       .lane = copy->async.lane,
                       .component = b ? b->component : 0,
                       .time = b ? b->phase + 1 : 0,
                       .knows = w->clock,
                       .async = true,
                       .what = "A bulk load"};
    who.swizzle = copy->box.map.magic ? (uint8_t)(1 + copy->box.map.swizzle) : 0;
    hpt_emu_box_touch(copy, &who, true);
    if (!copy->source) check_order(copy, true);
    w->progress++;
    hpt_emu_async_add(copy->async.cluster, &copy->async);
}

static void load_into(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_emu_load *load,
                      uint64_t destination, uint64_t mbarrier) {
    uint32_t offset, at;
    hpt_emu_cta *signal, *cta = hpt_emu_bulk_range(w, i, lane, destination, load->extent, load->align, &offset);
    if (!cta || !hpt_emu_mbarrier_at(w, i, lane, mbarrier, false, &signal, &at)) return;
    if (signal != cta && !(load->pair && (signal->rank ^ cta->rank) == 1)) {
        hpt_emu_report(w, i, lane, HPT_EMU_PHASE, "A bulk load into CTA %u signals an mbarrier of CTA %u.", cta->rank,
                       signal->rank);
        return;
    }
    hpt_emu_copy *copy = hpt_emu_copy_create(w, i, lane);
    if (!copy) return;
    copy->box = load->box;
    copy->cta = cta;
    copy->offset = offset;
    copy->signal = signal;
    copy->mbarrier = at;
    copy->source = load->source;
    copy->reduces = load->reduces;
    copy->operation = load->operation;
    copy->element = load->element;
    hpt_emu_copy_start_load(copy);
}

void hpt_emu_start_load(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_emu_load *load) {
    hpt_emu_cluster *k = w->cta->cluster;
    if (!load->multicast) {
        load_into(w, i, lane, load, load->destination, load->mbarrier);
        return;
    }
    if (load->mask >> k->size || !load->mask)
        hpt_emu_report(w, i, lane, HPT_EMU_OPERAND,
                       "The multicast mask 0x%x names no CTA, or CTAs that the cluster of %u does not have.",
                       load->mask, k->size);
    for (uint32_t rank = 0; rank < k->size; rank++) {
        if (!(load->mask >> rank & 1)) continue;
        uint64_t low = 0xffffff, parity = load->mbarrier >> 24 & 1;
        uint32_t signal = load->pair ? (rank & ~1u) | (uint32_t)parity : rank;
        load_into(w, i, lane, load, (load->destination & low) | (uint64_t)rank << 24,
                  (load->mbarrier & low) | (uint64_t)signal << 24);
    }
}

const hpt_emu_row hpt_emu_rows_bulk[] = {
    {"cp.async.bulk.commit_group", "", run_commit, 0, NULL},
    {"cp.async.bulk.wait_group[.read]", "s4", run_wait_group, 0, NULL},
    HPT_EMU_LAST_ROW,
};
