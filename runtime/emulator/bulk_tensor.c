/* bulk_tensor.c - cp.async.bulk.tensor and cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.27). */
#include "bulk.h"
#include "lanes.h"

static bool read_map(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_emu_operand *op,
                     hpt_emu_box *box) {
    const uint8_t *bytes = hpt_emu_map_bytes(w, i, hpt_emu_address(w, op, lane));
    if (!bytes) return false;
    memset(box, 0, sizeof *box);
    memcpy(&box->map, bytes, sizeof box->map);
    if (box->map.magic != HPT_EMU_MAP_MAGIC) {
        hpt_emu_report(w, i, lane, HPT_EMU_DESCRIPTOR, "The 128 bytes are no tensor map of this device.");
        return false;
    }
    if (box->map.rank != op->count) {
        hpt_emu_report(w, i, lane, HPT_EMU_DESCRIPTOR, "The tensor map has rank %u, the instruction %u coordinates.",
                       box->map.rank, op->count);
        return false;
    }
    for (uint32_t d = 0; d < op->count; d++) box->at[d] = (int32_t)(u32)hpt_emu_get(w, &op->items[d], lane);
    int64_t first = (int64_t)box->at[0] * box->map.element_bytes; /* an H200 answers with an illegal instruction */
    if (first % 16) {
        hpt_emu_report(w, i, lane, HPT_EMU_ALIGNMENT,
                       "A box begins %lld bytes into its rows; that must be a multiple of 16 (coordinate 0 is %d).",
                       (long long)first, box->at[0]);
        return false;
    }
    return true;
}

/* groups: dimensions, destination, tile, multicast, pair, hint */
static hpt_emu_step run_load(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const int8_t *m = i->modifier;
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_load load = {.align = 128, .multicast = m[3] == 0, .pair = m[4] == 1};
        if (!read_map(w, i, lane, &i->op[1], &load.box)) continue;
        load.extent = hpt_emu_box_extent(&load.box);
        load.destination = hpt_emu_address(w, &i->op[0], lane);
        load.mbarrier = hpt_emu_address(w, &i->op[2], lane);
        if (load.multicast) load.mask = (u16)hpt_emu_get(w, &i->op[3], lane);
        hpt_emu_start_load(w, i, lane, &load);
    }
    return HPT_EMU_NEXT;
}

static const hpt_emu_element_type reduced[] = {HPT_EMU_F16, HPT_EMU_BF16, HPT_EMU_F32, HPT_EMU_U32,
                                               HPT_EMU_U32, HPT_EMU_U32,  HPT_EMU_U32};

static void start_store(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, bool reduces,
                        hpt_emu_atomic operation) {
    hpt_emu_box box;
    uint32_t offset;
    if (!read_map(w, i, lane, &i->op[0], &box)) return;
    if (reduces && box.map.element_bytes == 1) {
        hpt_emu_report(w, i, lane, HPT_EMU_DESCRIPTOR, "There is no bulk reduction of 8-bit elements.");
        return;
    }
    for (int d = 0; d < box.map.rank; d++)
        if (box.at[d] < 0) {
            hpt_emu_report(w, i, lane, HPT_EMU_OPERAND,
                           "Coordinate %d of a bulk store is %d; only loads may begin below zero.", d, box.at[d]);
            return;
        }
    hpt_emu_cta *cta =
        hpt_emu_bulk_range(w, i, lane, hpt_emu_address(w, &i->op[1], lane), hpt_emu_box_extent(&box), 128, &offset);
    hpt_emu_copy *copy = cta ? hpt_emu_copy_create(w, i, lane) : NULL;
    if (!copy) return;
    copy->box = box;
    copy->cta = cta;
    copy->offset = offset;
    copy->reduces = reduces;
    copy->operation = operation;
    copy->element = reduced[box.map.element];
    hpt_emu_copy_start_store(copy);
}

static hpt_emu_step run_store(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) start_store(w, i, lane, false, HPT_EMU_ATOMIC_ADD);
    return HPT_EMU_NEXT;
}
/* groups: dimensions, operation, ... */
static hpt_emu_step run_reduce(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    static const hpt_emu_atomic operations[] = {HPT_EMU_ATOMIC_ADD, HPT_EMU_ATOMIC_MIN, HPT_EMU_ATOMIC_MAX,
                                                HPT_EMU_ATOMIC_INC, HPT_EMU_ATOMIC_DEC, HPT_EMU_ATOMIC_AND,
                                                HPT_EMU_ATOMIC_OR,  HPT_EMU_ATOMIC_XOR};
    HPT_FOR_LANES(lane, mask) start_store(w, i, lane, true, operations[(int)i->modifier[1]]);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_prefetch(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_box box;
    HPT_FOR_LANES(lane, mask) read_map(w, i, lane, &i->op[0], &box);
    return HPT_EMU_NEXT;
}

static bool check_load(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    uint32_t wants = 3u + (i->modifier[3] == 0) + (i->modifier[5] == 0);
    if (i->count != wants) return hpt_emu_refuse(d, "%s: expected %u operands.", i->source->opcode, wants);
    return true;
}

#define DIMENSIONS "{.1d|.2d|.3d|.4d|.5d}"
const hpt_emu_row hpt_emu_rows_bulk_tensor[] = {
    {"cp.async.bulk.tensor" DIMENSIONS "{.shared::cluster|.shared::cta}.global[.tile].mbarrier::complete_tx::bytes"
     "[.multicast::cluster][.cta_group::1|.cta_group::2][.L2::cache_hint]",
     "m,t,m,?sx,?s8", run_load, 0, check_load},
    {"cp.async.bulk.tensor" DIMENSIONS ".global.shared::cta[.tile].bulk_group[.L2::cache_hint]", "t,m,?s8", run_store,
     0, NULL},
    {"cp.reduce.async.bulk.tensor" DIMENSIONS
     ".global.shared::cta{.add|.min|.max|.inc|.dec|.and|.or|.xor}[.tile].bulk_group"
     "[.L2::cache_hint]",
     "t,m,?s8", run_reduce, 0, NULL},
    {"cp.async.bulk.prefetch.tensor" DIMENSIONS ".L2.global[.tile][.L2::cache_hint]", "t,?s8", run_prefetch, 0, NULL},
    HPT_EMU_LAST_ROW,
};
