/* copy_async.c - cp.async of sm_80: small asynchronous copies of a warp's threads, their groups, and their arrival on
 * an mbarrier. One instruction is one operation in flight for all of its lanes. */
#include "bulk.h"
#include "lanes.h"
#include <stdlib.h>

typedef struct small_copy {
    hpt_emu_async async;
    struct small_copy *next; /* of the warp, newest first */
    uint32_t mask, bytes, group, references;
    hpt_emu_time time;
    bool done;
    uint64_t source[HPT_LANES];
    uint32_t offset[HPT_LANES], count[HPT_LANES];
} small_copy;

typedef struct small_copies {
    small_copy *newest;
    uint32_t group;
} small_copies;

typedef struct late_arrival {
    hpt_emu_async async;
    uint32_t offset;
    hpt_emu_time time;
} late_arrival;

static void drop(small_copy *c) {
    if (--c->references == 0) free(c);
}
static void release_copy(hpt_emu_async *op) { drop((small_copy *)op); }
static void release_plain(hpt_emu_async *op) { free(op); }

static small_copies *copies_of(hpt_emu_warp *w) {
    if (!w->small) w->small = calloc(1, sizeof(small_copies));
    if (!w->small) w->cta->cluster->out_of_memory = true;
    if (!w->bulk) w->bulk = calloc(1, sizeof *w->bulk);
    if (!w->bulk) w->cta->cluster->out_of_memory = true;
    return w->bulk ? w->small : NULL;
}

void hpt_emu_small_copies_free(hpt_emu_warp *w) {
    small_copies *all = w->small;
    while (all && all->newest) {
        small_copy *c = all->newest;
        all->newest = c->next;
        drop(c);
    }
    free(all);
    w->small = NULL;
}

static bool land(hpt_emu_async *op) {
    small_copy *c = (small_copy *)op;
    HPT_FOR_LANES(lane, c->mask) {
        uint8_t *to = op->warp->cta->shared + c->offset[lane];
        memset(to, 0, c->bytes);
        if (!c->count[lane]) continue;
        uint8_t *from = hpt_emu_access_lane(op->warp, op->instruction, lane, HPT_PTX_GLOBAL, c->source[lane], c->bytes,
                                            HPT_EMU_READ);
        if (from) memcpy(to, from, c->count[lane]);
    }
    c->done = true;
    return true;
}

/* groups: cache, space, hint, prefetch */
static hpt_emu_step run_copy(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    small_copies *all = copies_of(w);
    small_copy *c = calloc(1, sizeof *c);
    if (!all || !c) {
        w->cta->cluster->out_of_memory = true;
        free(c);
        return HPT_EMU_NEXT;
    }
    c->async =
        (hpt_emu_async){.land = land, .release = release_copy, .warp = w, .instruction = i, .cluster = w->cta->cluster};
    c->bytes = (uint32_t)hpt_emu_get(w, &i->op[2], hpt_emu_first(mask));
    c->group = all->group;
    c->time = ++w->bulk->issued;
    c->references = 2;
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_cta *cta =
            hpt_emu_bulk_range(w, i, lane, hpt_emu_address(w, &i->op[0], lane), c->bytes, c->bytes, &c->offset[lane]);
        bool shortened = i->count > 3 && i->op[3].bytes == 4;
        c->source[lane] = hpt_emu_address(w, &i->op[1], lane);
        c->count[lane] = shortened ? (uint32_t)hpt_emu_get(w, &i->op[3], lane) : c->bytes;
        if (c->count[lane] > c->bytes) c->count[lane] = c->bytes;
        if (!cta) continue;
        c->mask |= 1u << lane;
        hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
        who.what = "cp.async";
        who.component = hpt_emu_component_bulk(w);
        who.time = c->time;
        hpt_emu_shared_write(cta, c->offset[lane], c->bytes, &who);
    }
    c->next = all->newest;
    all->newest = c;
    hpt_emu_async_add(w->cta->cluster, &c->async);
    return HPT_EMU_NEXT;
}

static bool check_copy(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    const hpt_ptx_operand *size = &i->source->operands[2];
    if (size->kind != HPT_PTX_INTEGER || (size->bits != 4 && size->bits != 8 && size->bits != 16))
        return hpt_emu_refuse(d, "%s: the size must be 4, 8 or 16.", i->source->opcode);
    return true;
}

static hpt_emu_step run_commit(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    small_copies *all = copies_of(w);
    if (all) all->group++;
    return HPT_EMU_NEXT;
}

static hpt_emu_step wait_before(hpt_emu_warp *w, uint32_t group) {
    small_copies *all = copies_of(w);
    if (!all) return HPT_EMU_NEXT;
    for (const small_copy *c = all->newest; c; c = c->next)
        if (c->group < group && !c->done) return hpt_emu_block(w, HPT_EMU_WAIT_OTHER, 0, group, "its cp.async groups");
    hpt_emu_time *known = &w->clock[hpt_emu_component_bulk(w)];
    for (small_copy **at = &all->newest; *at;) {
        small_copy *c = *at;
        if (c->group >= group) {
            at = &c->next;
            continue;
        }
        if (c->time > *known) *known = c->time;
        *at = c->next;
        drop(c);
    }
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_wait_group(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    small_copies *all = copies_of(w);
    uint32_t allowed = (uint32_t)hpt_emu_get(w, &i->op[0], hpt_emu_first(mask));
    return !all || allowed >= all->group ? HPT_EMU_NEXT : wait_before(w, all->group - allowed);
}
static hpt_emu_step run_wait_all(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    return wait_before(w, UINT32_MAX);
}

/* ---- an arrival that comes when the thread's earlier copies are done ---- */
static bool land_arrival(hpt_emu_async *op) {
    late_arrival *a = (late_arrival *)op;
    small_copies *all = op->warp->small;
    for (const small_copy *c = all ? all->newest : NULL; c; c = c->next)
        if (c->time <= a->time && !c->done) return false;
    hpt_emu_cluster *k = op->cluster;
    hpt_emu_who who = hpt_emu_generic_who(op->warp, op->instruction, op->lane);
    who.what = "cp.async.mbarrier.arrive";
    hpt_emu_time *clock = calloc(k->clock_size, sizeof *clock);
    if (!clock) {
        k->out_of_memory = true;
        return true;
    }
    clock[hpt_emu_component_bulk(op->warp)] = a->time;
    hpt_emu_mbarrier_arrive(op->warp->cta, a->offset, 1, clock, &who);
    free(clock);
    return true;
}

/* groups: noinc, space */
static hpt_emu_step run_arrive(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    if (!copies_of(w)) return HPT_EMU_NEXT;
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_cta *cta;
        uint32_t offset;
        hpt_emu_mbarrier *b = hpt_emu_mbarrier_at(w, i, lane, hpt_emu_address(w, &i->op[0], lane), true, &cta, &offset);
        late_arrival *a = b ? calloc(1, sizeof *a) : NULL;
        if (!a) continue;
        if (i->modifier[0] < 0) b->pending++;
        a->async = (hpt_emu_async){.land = land_arrival,
                                   .release = release_plain,
                                   .warp = w,
                                   .lane = lane,
                                   .instruction = i,
                                   .cluster = w->cta->cluster};
        a->offset = offset;
        a->time = w->bulk->issued;
        hpt_emu_async_add(w->cta->cluster, &a->async);
    }
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_copy_async[] = {
    {"cp.async{.ca|.cg}{.shared|.shared::cta}.global[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]", "m,m,s4,?sx,?s8",
     run_copy, 0, check_copy},
    {"cp.async.commit_group", "", run_commit, 0, NULL},
    {"cp.async.wait_group", "s4", run_wait_group, 0, NULL},
    {"cp.async.wait_all", "", run_wait_all, 0, NULL},
    {"cp.async.mbarrier.arrive[.noinc][.shared|.shared::cta].b64", "m", run_arrive, 0, NULL},
    HPT_EMU_LAST_ROW,
};
