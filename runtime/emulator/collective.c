/* collective.c - what the lanes of a warp do together: shuffles, votes, matches, reductions, election. */
#include "lanes.h"

/* All live lanes of the member mask must be here; those that are not yet are waited for. */
static bool gathered(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_operand *members_at, uint32_t mask,
                     uint32_t *members, hpt_emu_step *step) {
    uint32_t first = hpt_emu_first(mask);
    *members = (uint32_t)hpt_emu_get(w, members_at, first);
    if (!(*members >> first & 1))
        hpt_emu_report(w, i, first, HPT_EMU_CONVERGENCE,
                       "A lane executes %s whose member mask 0x%08x does not hold it.", i->source->opcode, *members);
    *members &= w->live;
    if ((*members & ~mask) == 0) {
        *members = mask;
        return true;
    }
    *step = HPT_EMU_PARKED;
    hpt_emu_block(w, HPT_EMU_WAIT_LANES, *members, 0, i->source->opcode);
    return false;
}

/* groups: mode */
static hpt_emu_step run_shuffle(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members, in_range = 0, source[HPT_LANES];
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[4], mask, &members, &step)) return step;
    const u32 *a = hpt_emu_at(w, &i->op[1]), *b = hpt_emu_at(w, &i->op[2]), *c = hpt_emu_at(w, &i->op[3]);
    u32 *d = hpt_emu_at(w, &i->op[0].items[0]), before[HPT_LANES];
    memcpy(before, a, sizeof before);
    HPT_FOR_LANES(lane, mask) {
        uint32_t clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, by = b[lane] & 31;
        uint32_t top = (lane & segment) | (clamp & ~segment), bottom = lane & segment, from = lane;
        bool ok = false;
        switch (i->modifier[0]) {
        case 0:
            from = lane - by;
            ok = (int32_t)lane - (int32_t)by >= (int32_t)top;
            break; /* up: c holds the minimum */
        case 1:
            from = lane + by;
            ok = from <= top;
            break;
        case 2:
            from = lane ^ by;
            ok = from <= top;
            break;
        default:
            from = bottom | (by & ~segment);
            ok = from <= top;
            break;
        }
        source[lane] = ok ? from : lane;
        in_range |= (uint32_t)ok << lane;
    }
    HPT_FOR_LANES(lane, mask) {
        if (!(w->live >> source[lane] & 1) || !(mask >> source[lane] & 1))
            hpt_emu_report(w, i, lane, HPT_EMU_CONVERGENCE, "A shuffle reads lane %u, which takes no part in it.",
                           source[lane]);
        d[lane] = before[source[lane]];
    }
    if (i->op[0].count > 1) hpt_emu_set_predicate(w, &i->op[0].items[1], in_range, mask);
    return HPT_EMU_NEXT;
}

/* The first of the pair is a data register, the second a predicate: the widths are checked here. */
static bool check_shuffle(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    const hpt_emu_operand *to = &i->op[0];
    if (to->count > 2 || to->items[0].bytes != 4 || (to->count == 2 && to->items[1].bytes != 0 && !to->items[1].sink))
        return hpt_emu_refuse(d, "%s: expected a 32-bit destination, or one with a predicate.", i->source->opcode);
    return true;
}

static hpt_emu_step run_vote(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members;
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[2], mask, &members, &step)) return step;
    uint32_t votes = hpt_emu_predicate(w, &i->op[1]) & members;
    if (i->op[0].bytes)
        HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, votes);
    else {
        bool answers[] = {votes == members, votes != 0, votes == 0 || votes == members};
        hpt_emu_set_predicate(w, &i->op[0], answers[(int)i->modifier[0]] ? ~0u : 0, mask);
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_match_any(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members, same[HPT_LANES] = {0};
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[2], mask, &members, &step)) return step;
    HPT_FOR_LANES(lane, mask)
    HPT_FOR_LANES(other, members)
    same[lane] |= (uint32_t)(hpt_emu_get(w, &i->op[1], lane) == hpt_emu_get(w, &i->op[1], other)) << other;
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, same[lane]);
    return HPT_EMU_NEXT;
}
static hpt_emu_step run_match_all(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members;
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[2], mask, &members, &step)) return step;
    bool all = true;
    uint64_t value = hpt_emu_get(w, &i->op[1], hpt_emu_first(mask));
    HPT_FOR_LANES(lane, members) all = all && hpt_emu_get(w, &i->op[1], lane) == value;
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0].items[0], lane, all ? members : 0);
    if (i->op[0].count > 1) hpt_emu_set_predicate(w, &i->op[0].items[1], all ? ~0u : 0, mask);
    return HPT_EMU_NEXT;
}

/* groups: operation, type */
static hpt_emu_step run_redux(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members;
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[2], mask, &members, &step)) return step;
    const u32 *a = hpt_emu_at(w, &i->op[1]);
    u32 result = a[hpt_emu_first(mask)];
    bool is_signed = i->modifier[1] == 1;
    HPT_FOR_LANES(lane, members & (members - 1)) {
        u32 v = a[lane];
        bool less = is_signed ? (s32)v < (s32)result : v < result;
        switch (i->modifier[0]) {
        case 0:
            result += v;
            break;
        case 1:
            result = less ? v : result;
            break;
        case 2:
            result = less ? result : v;
            break;
        case 3:
            result &= v;
            break;
        case 4:
            result |= v;
            break;
        default:
            result ^= v;
            break;
        }
    }
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, result);
    return HPT_EMU_NEXT;
}

/* The lowest member, which is what the hardware takes too. */
static hpt_emu_step run_elect(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t members;
    hpt_emu_step step;
    if (!gathered(w, i, &i->op[1], mask, &members, &step)) return step;
    uint32_t leader = hpt_emu_first(members);
    if (!i->op[0].items[0].sink) HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0].items[0], lane, leader);
    if (i->op[0].count > 1) hpt_emu_set_predicate(w, &i->op[0].items[1], 1u << leader, mask);
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_activemask(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    HPT_FOR_LANES(lane, mask) hpt_emu_set(w, &i->op[0], lane, mask);
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_collective[] = {
    {"shfl.sync{.up|.down|.bfly|.idx}.b32", "dvx,s4,s4,s4,s4", run_shuffle, 0, check_shuffle},
    {"vote.sync{.all|.any|.uni}.pred", "dp,sp,s4", run_vote, 0, NULL},
    {"vote{.all|.any|.uni}.sync.pred", "dp,sp,s4", run_vote, 0, NULL}, /* as older inline assembly spells it */
    {"vote.ballot.sync.b32", "d4,sp,s4", run_vote, 0, NULL},
    {"vote.sync.ballot.b32", "d4,sp,s4", run_vote, 0, NULL},
    {"match.any.sync.b32", "d4,s4,s4", run_match_any, 0, NULL},
    {"match.any.sync.b64", "d4,s8,s4", run_match_any, 0, NULL},
    {"match.all.sync.b32", "dvx,s4,s4", run_match_all, 0, check_shuffle},
    {"match.all.sync.b64", "dvx,s8,s4", run_match_all, 0, check_shuffle},
    {"redux.sync{.add|.min|.max|.and|.or|.xor}{.u32|.s32|.b32}", "d4,s4,s4", run_redux, 0, NULL},
    {"elect.sync", "dvx,s4", run_elect, 0, NULL},
    {"activemask.b32", "d4", run_activemask, 0, NULL},
    HPT_EMU_LAST_ROW,
};
