/* bulk_linear.c - bulk copies and reductions of plain ranges of bytes (PTX ISA 9.7.9.25), and cache policies. */
#include "bulk.h"
#include "lanes.h"

static bool check_size(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t bytes, uint64_t global) {
    if (bytes && bytes % 16 == 0 && global % 16 == 0) return true;
    hpt_emu_report(w, i, lane, HPT_EMU_ALIGNMENT,
                   "A bulk copy of %llu bytes at 0x%llx: size and address must be multiples of 16.",
                   (unsigned long long)bytes, (unsigned long long)global);
    return false;
}

/* global to shared; groups: destination, multicast, hint */
static hpt_emu_step run_load(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) {
        hpt_emu_load load = {.align = 16, .multicast = i->modifier[1] == 0};
        load.box.address = hpt_emu_address(w, &i->op[1], lane);
        load.box.bytes = load.extent = (u32)hpt_emu_get(w, &i->op[2], lane);
        load.destination = hpt_emu_address(w, &i->op[0], lane);
        load.mbarrier = hpt_emu_address(w, &i->op[3], lane);
        if (load.multicast) load.mask = (u16)hpt_emu_get(w, &i->op[4], lane);
        if (check_size(w, i, lane, load.extent, load.box.address)) hpt_emu_start_load(w, i, lane, &load);
    }
    return HPT_EMU_NEXT;
}

static const hpt_emu_atomic operations[] = {HPT_EMU_ATOMIC_ADD, HPT_EMU_ATOMIC_MIN, HPT_EMU_ATOMIC_MAX,
                                            HPT_EMU_ATOMIC_INC, HPT_EMU_ATOMIC_DEC, HPT_EMU_ATOMIC_AND,
                                            HPT_EMU_ATOMIC_OR,  HPT_EMU_ATOMIC_XOR};
#define OPERATIONS "{.add|.min|.max|.inc|.dec|.and|.or|.xor}"
static const hpt_emu_element_type elements[] = {HPT_EMU_U32,  HPT_EMU_S32, HPT_EMU_U64, HPT_EMU_S64, HPT_EMU_F16,
                                                HPT_EMU_BF16, HPT_EMU_F32, HPT_EMU_F64, HPT_EMU_U32, HPT_EMU_U64};
#define ELEMENTS "{.u32|.s32|.u64|.s64|.f16|.bf16|.f32|.f64|.b32|.b64}"

/* shared to the shared memory of another CTA; groups: [operation, element] */
static hpt_emu_step run_shared(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool reduces = i->source->opcode[3] == 'r';
    HPT_FOR_LANES(lane, mask) {
        uint32_t offset;
        uint64_t bytes = (u32)hpt_emu_get(w, &i->op[2], lane);
        hpt_emu_cta *cta = hpt_emu_bulk_range(w, i, lane, hpt_emu_address(w, &i->op[1], lane), bytes, 16, &offset);
        if (!cta || !check_size(w, i, lane, bytes, 0)) continue;
        hpt_emu_load load = {.align = 16, .extent = bytes, .reduces = reduces};
        load.box.bytes = bytes;
        load.destination = hpt_emu_address(w, &i->op[0], lane);
        load.mbarrier = hpt_emu_address(w, &i->op[3], lane);
        load.source = cta->shared + offset;
        if (reduces) {
            load.operation = operations[(int)i->modifier[0]];
            load.element = elements[(int)i->modifier[1]];
        }
        hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
        who.async = true;
        who.what = "A bulk copy";
        hpt_emu_shared_read(cta, offset, (uint32_t)bytes, &who);
        hpt_emu_start_load(w, i, lane, &load);
    }
    return HPT_EMU_NEXT;
}

/* shared to global; groups: hint, [operation, noftz, element] */
static hpt_emu_step run_store(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    bool reduces = i->source->opcode[3] == 'r';
    HPT_FOR_LANES(lane, mask) {
        uint32_t offset;
        uint64_t address = hpt_emu_address(w, &i->op[0], lane), bytes = (u32)hpt_emu_get(w, &i->op[2], lane);
        if (!check_size(w, i, lane, bytes, address)) continue;
        hpt_emu_cta *cta = hpt_emu_bulk_range(w, i, lane, hpt_emu_address(w, &i->op[1], lane), bytes, 16, &offset);
        hpt_emu_copy *copy = cta ? hpt_emu_copy_create(w, i, lane) : NULL;
        if (!copy) continue;
        copy->box.address = address;
        copy->box.bytes = bytes;
        copy->cta = cta;
        copy->offset = offset;
        copy->reduces = reduces;
        if (reduces) {
            copy->operation = operations[(int)i->modifier[1]];
            copy->element = elements[(int)i->modifier[3]];
        }
        hpt_emu_copy_start_store(copy);
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_nothing(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return HPT_EMU_NEXT;
}
/* A cache policy has no effect here; its register gets a recognisable value. */
static hpt_emu_step run_policy(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, 0x10f0000000000000ull);
    return HPT_EMU_NEXT;
}

#define EVICT "{.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged}"
const hpt_emu_row hpt_emu_rows_bulk_linear[] = {
    {"cp.async.bulk{.shared::cluster|.shared::cta}.global.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_"
     "hint]",
     "m,m,s4,m,?sx,?s8", run_load, 0, NULL},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "m,m,s4,m", run_shared, 0, NULL},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" OPERATIONS ELEMENTS, "m,m,s4,m",
     run_shared, 0, NULL},
    {"cp.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint]", "m,m,s4,?s8", run_store, 0, NULL},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint]" OPERATIONS "[.noftz]" ELEMENTS, "m,m,s4,?s8",
     run_store, 0, NULL},
    {"cp.async.bulk.prefetch.L2.global[.L2::cache_hint]", "m,s4,?s8", run_nothing, 0, NULL},
    {"createpolicy.fractional" EVICT "[.L2::evict_unchanged|.L2::evict_first].b64", "d8,?s4f", run_policy, 0, NULL},
    {"createpolicy.range[.global]" EVICT "[.L2::evict_unchanged|.L2::evict_first].b64", "d8,m,s4,s4", run_policy, 0,
     NULL},
    {"createpolicy.cvt.L2.b64", "d8,s8", run_policy, 0, NULL},
    HPT_EMU_LAST_ROW,
};
