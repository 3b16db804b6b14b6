/* wgmma.c - issue, groups and waits of warpgroup matrix instructions (PTX ISA 9.7.15), and the checks of registers that
 * are in flight. */
#include "wgmma.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hpt_emu_warp *leader_of(hpt_emu_warp *w) { return &w->cta->warps[w->index & ~3u]; }
static uint16_t component_of(hpt_emu_warp *w) { return hpt_emu_component_wgmma(leader_of(w)); }

static hpt_emu_wgmma_state *state_of(hpt_emu_warp *w) {
    if (w->wgmma) return w->wgmma;
    hpt_emu_cluster *k = w->cta->cluster;
    hpt_emu_warp *leader = leader_of(w);
    hpt_emu_wgmma_state *state = calloc(1, sizeof *state);
    if (!state) {
        k->out_of_memory = true;
        return NULL;
    }
    hpt_emu_wgmma_group *group = NULL;
    for (uint32_t v = leader->index; v < leader->index + 4 && v < w->cta->warp_count; v++)
        if (w->cta->warps[v].wgmma) group = w->cta->warps[v].wgmma->group;
    if (!group) {
        group = calloc(1, sizeof *group);
        if (group) group->knows = calloc(k->clock_size, sizeof *group->knows);
        if (!group || !group->knows) {
            free(group);
            free(state);
            k->out_of_memory = true;
            return NULL;
        }
    }
    group->members++;
    state->group = group;
    w->wgmma = state;
    return state;
}

void hpt_emu_wgmma_free(hpt_emu_warp *w) {
    if (!w->wgmma) return;
    if (--w->wgmma->group->members == 0) {
        free(w->wgmma->group->knows);
        free(w->wgmma->group);
    }
    free(w->wgmma);
    w->wgmma = NULL;
}

void hpt_emu_wgmma_release(hpt_emu_warp *w) {
    if (w->wgmma && w->wgmma->waited < w->wgmma->issued)
        hpt_emu_report(w, w->wgmma->group->flight[w->wgmma->issued % HPT_EMU_WGMMA_FLIGHT].instruction, 0, HPT_EMU_LEAK,
                       "The warp exits while its wgmma operations are in flight (wgmma.wait_group 0 is missing).");
}

/* ---- registers in flight ---- */
static bool names(const hpt_emu_operand *op, int32_t at) {
    if (op->items) {
        for (uint16_t k = 0; k < op->count; k++)
            if (names(&op->items[k], at)) return true;
        return false;
    }
    return op->bytes && op->at == at;
}

static bool instruction_names(const hpt_emu_instruction *i, int32_t at) {
    for (int o = 0; o < i->count; o++)
        if (names(&i->op[o], at)) return true;
    return false;
}

/* the newest operation in flight that uses this register; 0: none */
static uint32_t in_flight(const hpt_emu_wgmma_state *state, int32_t at) {
    for (uint32_t n = state->issued; n > state->waited; n--) {
        const hpt_emu_instruction *i = state->group->flight[n % HPT_EMU_WGMMA_FLIGHT].instruction;
        if (names(&i->op[0], at) || (((const hpt_emu_wgmma *)i->data)->a_in_registers && names(&i->op[1], at)))
            return n;
    }
    for (uint32_t c = 0; c < state->copy_count; c++)
        if (state->copies[c].at == at && state->copies[c].operation > state->waited) return state->copies[c].operation;
    return 0;
}

/* A copy of an accumulator in flight is no access: compilers rename registers so. The copy is in flight, too. */
static void note_copy(hpt_emu_wgmma_state *state, int32_t at, uint32_t operation) {
    for (uint32_t c = 0; c < state->copy_count; c++)
        if (state->copies[c].at == at || state->copies[c].operation <= state->waited) {
            state->copies[c].at = at;
            state->copies[c].operation = operation;
            return;
        }
    if (state->copy_count == HPT_COUNT(state->copies)) return;
    state->copies[state->copy_count].at = at;
    state->copies[state->copy_count++].operation = operation;
}

void hpt_emu_wgmma_check(hpt_emu_warp *w, const hpt_emu_instruction *i) {
    hpt_emu_wgmma_state *state = w->wgmma;
    if (!state || i->flags & HPT_EMU_ASYNC_ACC) return;
    if (!(i->flags & HPT_EMU_COPIES)) state->fenced = false;
    if (state->issued == state->waited) return;
    if (i->flags & HPT_EMU_COPIES && !i->op[1].constant) {
        uint32_t operation = in_flight(state, i->op[1].at);
        if (operation) {
            note_copy(state, i->op[0].at, operation);
            return;
        }
    }
    for (uint32_t n = state->issued; n > state->waited; n--) {
        const hpt_emu_instruction *running = state->group->flight[n % HPT_EMU_WGMMA_FLIGHT].instruction;
        for (uint16_t k = 0; k < running->op[0].count; k++) {
            if (!instruction_names(i, running->op[0].items[k].at)) continue;
            hpt_emu_report(
                w, i, 0, HPT_EMU_ACCUMULATOR,
                "%s touches a register of the wgmma at line %d, which is in flight: wgmma.wait_group is missing.",
                i->source->opcode, running->source->line);
            return;
        }
    }
}

/* ---- instructions ---- */
static hpt_emu_step run_fence(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    hpt_emu_wgmma_state *state = state_of(w);
    if (state) state->fenced = true;
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_commit(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    (void)i, (void)mask;
    hpt_emu_wgmma_state *state = state_of(w);
    if (!state) return HPT_EMU_NEXT;
    if (state->group_count == HPT_EMU_WGMMA_FLIGHT) {
        memmove(state->groups, state->groups + 1, (HPT_EMU_WGMMA_FLIGHT - 1) * sizeof *state->groups);
        state->group_count--;
    }
    state->groups[state->group_count++] = state->committed = state->issued;
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_wait(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_wgmma_state *state = state_of(w);
    if (!state) return HPT_EMU_NEXT;
    uint64_t allowed = hpt_emu_get(w, &i->op[0], hpt_emu_first(mask));
    if (allowed >= state->group_count) return HPT_EMU_NEXT;
    uint32_t last = state->groups[state->group_count - 1 - allowed];
    if (state->group->executed < last)
        return hpt_emu_block(w, HPT_EMU_WAIT_OTHER, 0, last,
                             "the other warps of its warpgroup to issue the same wgmma");
    state->waited = last;
    uint32_t done = state->group_count - (uint32_t)allowed;
    memmove(state->groups, state->groups + done, (size_t)allowed * sizeof *state->groups);
    state->group_count = (uint32_t)allowed;
    if (w->clock[component_of(w)] < last) w->clock[component_of(w)] = last;
    return HPT_EMU_NEXT;
}

static bool same_registers(const hpt_emu_operand *a, const hpt_emu_operand *b) {
    for (uint16_t k = 0; k < a->count && a->count == b->count; k++)
        if (a->items[k].at != b->items[k].at) return false;
    return a->count == b->count;
}

static void check_same_accumulator(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_wgmma_state *state) {
    for (uint32_t n = state->issued; n > state->waited; n--) {
        const hpt_emu_instruction *old = state->group->flight[n % HPT_EMU_WGMMA_FLIGHT].instruction;
        if (old == i || same_registers(&old->op[0], &i->op[0])) continue;
        uint16_t same = 0, count = i->op[0].count;
        for (uint16_t k = 0; k < count; k++) same = (uint16_t)(same + names(&old->op[0], i->op[0].items[k].at));
        if (same == 0 || (same == count && old->op[0].count == count)) continue;
        hpt_emu_report(w, i, 0, HPT_EMU_ACCUMULATOR,
                       "The accumulator overlaps that of the wgmma at line %d, which is in flight with another shape.",
                       old->source->line);
        return;
    }
}

static void execute(hpt_emu_warp *w, hpt_emu_wgmma_group *group, uint32_t number, const hpt_emu_instruction *i) {
    hpt_emu_who who = {.warp = w,
                       .instruction = i,
                       .component = component_of(w),
                       .time = number,
                       .knows = group->knows,
                       .async = true,
                       .what = "wgmma"};
    hpt_emu_wgmma_execute(leader_of(w), &group->flight[number % HPT_EMU_WGMMA_FLIGHT], &who);
    memset(group->knows, 0, w->cta->cluster->clock_size * sizeof *group->knows);
    group->executed = number;
    w->cta->cluster->epoch++;
}

static hpt_emu_step run_mma(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_wgmma_state *state = state_of(w);
    const hpt_emu_wgmma *shape = i->data;
    if (!state) return HPT_EMU_NEXT;
    hpt_emu_wgmma_group *group = state->group;
    if (state->issued - group->executed >= HPT_EMU_WGMMA_FLIGHT - 2 ||
        state->issued - state->waited >= HPT_EMU_WGMMA_FLIGHT - 2) {
        if (state->issued != group->executed)
            return hpt_emu_block(w, HPT_EMU_WAIT_OTHER, 0, 0, "the other warps of its warpgroup");
        hpt_emu_report(w, i, 0, HPT_EMU_ACCUMULATOR, "More than %d wgmma operations without a wait.",
                       HPT_EMU_WGMMA_FLIGHT - 2);
        state->waited = state->issued;
    }
    if (leader_of(w)->index + 4 > w->cta->warp_count) {
        hpt_emu_report(w, i, 0, HPT_EMU_CONVERGENCE, "wgmma needs a warpgroup of four whole warps.");
        return HPT_EMU_NEXT;
    }
    if (!state->fenced)
        hpt_emu_report(
            w, i, 0, HPT_EMU_ACCUMULATOR,
            "wgmma.fence is missing: registers of this wgmma were accessed by other instructions since the last one.");
    state->fenced = true;
    check_same_accumulator(w, i, state);
    uint32_t number = ++state->issued;
    hpt_emu_wgmma_operation *o = &group->flight[number % HPT_EMU_WGMMA_FLIGHT];
    uint64_t a = shape->a_in_registers ? 0 : hpt_emu_uniform(w, i, &i->op[1].items[0], mask);
    uint64_t b = hpt_emu_uniform(w, i, &i->op[2], mask);
    bool keep = hpt_emu_predicate(w, &i->op[3]) >> hpt_emu_first(mask) & 1;
    if (o->issued == 0 || o->issued == 15)
        *o = (hpt_emu_wgmma_operation){.instruction = i, .a = a, .b = b, .keep = keep};
    else if (o->instruction != i || o->a != a || o->b != b || o->keep != keep)
        hpt_emu_report(w, i, 0, HPT_EMU_CONVERGENCE,
                       "The warps of the warpgroup issue different wgmma operations (or with different descriptors).");
    o->issued |= 1u << (w->index & 3);
    hpt_emu_clock_join(w->cta->cluster, group->knows, w->clock);
    w->clock[hpt_emu_component_warp(w)]++;
    if (o->issued == 15) execute(w, group, number, i);
    return HPT_EMU_NEXT;
}

/* ---- decoding ---- */
static bool decode_mma(hpt_emu_decoder *d, hpt_emu_instruction *i, hpt_emu_wgmma_result result, hpt_emu_format a,
                       hpt_emu_format b, bool transposes) {
    hpt_emu_wgmma *s = hpt_arena_alloc(hpt_emu_decoder_arena(d), 1, sizeof *s);
    if (!s) return hpt_emu_refuse(d, "Out of memory.");
    const char *shape = strstr(i->source->opcode, ".m64n");
    if (!shape || sscanf(shape, ".m64n%uk%u", &s->n, &s->k) != 2)
        return hpt_emu_refuse(d, "%s has no shape.", i->source->opcode);
    bool integer = result == HPT_EMU_WGMMA_S32;
    if (s->n < 8 || s->n > 256 || s->n % 8 || (integer && s->n > 32 && s->n % 16) || (integer && s->n == 0))
        return hpt_emu_refuse(d, "%s: n must be 8 to 256 in steps of 8 (integers: of 16 above 32).", i->source->opcode);
    s->result = result;
    s->a = a;
    s->b = b;
    s->a_in_registers = i->op[1].count == 4;
    uint32_t registers = result == HPT_EMU_WGMMA_F16 ? s->n / 4 : s->n / 2;
    if (i->op[0].count != registers)
        return hpt_emu_refuse(d, "%s needs %u accumulator registers.", i->source->opcode, registers);
    if (i->op[1].count != 4 && (i->op[1].count != 1 || i->op[1].items[0].bytes != 8))
        return hpt_emu_refuse(d, "%s: A must be a descriptor or four registers.", i->source->opcode);
    for (uint16_t k = 0; k < i->op[1].count && s->a_in_registers; k++)
        if (i->op[1].items[k].bytes != 4)
            return hpt_emu_refuse(d, "%s: A's registers must be 32 bits wide.", i->source->opcode);
    int immediates = integer ? 0 : transposes ? (s->a_in_registers ? 3 : 4) : 2;
    if (i->count != 4 + immediates)
        return hpt_emu_refuse(d, "%s needs %d operands.", i->source->opcode, 4 + immediates);
    int64_t value[4] = {1, 1, 0, 0};
    for (int k = 0; k < immediates; k++) {
        const hpt_ptx_operand *operand = &i->source->operands[4 + k];
        if (operand->kind != HPT_PTX_INTEGER)
            return hpt_emu_refuse(d, "%s: the scales and transpositions must be immediates.", i->source->opcode);
        value[k] = (int64_t)operand->bits;
        bool scale = k < 2;
        if (scale ? value[k] != 1 && value[k] != -1 : value[k] != 0 && value[k] != 1)
            return hpt_emu_refuse(d, "%s: a scale must be 1 or -1, a transposition 0 or 1.", i->source->opcode);
    }
    s->negate = value[0] * value[1] < 0;
    s->a_transposed = !s->a_in_registers && value[2];
    s->b_transposed = s->a_in_registers ? value[2] : value[3];
    i->data = s;
    return true;
}

/* groups of all: shape, then what the rows show */
static bool decode_half(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    hpt_emu_format format = i->modifier[2] ? HPT_EMU_FORMAT_BF16 : HPT_EMU_FORMAT_F16;
    if (i->modifier[2] != i->modifier[3] || (i->modifier[1] == 1 && format == HPT_EMU_FORMAT_BF16))
        return hpt_emu_refuse(d, "%s: these types do not go together.", i->source->opcode);
    return decode_mma(d, i, i->modifier[1] ? HPT_EMU_WGMMA_F16 : HPT_EMU_WGMMA_F32, format, format, true);
}
static bool decode_tf32(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    return decode_mma(d, i, HPT_EMU_WGMMA_F32, HPT_EMU_FORMAT_TF32, HPT_EMU_FORMAT_TF32, false);
}
static bool decode_fp8(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    return decode_mma(d, i, i->modifier[1] ? HPT_EMU_WGMMA_F16 : HPT_EMU_WGMMA_F32,
                      i->modifier[2] ? HPT_EMU_FORMAT_E5M2 : HPT_EMU_FORMAT_E4M3,
                      i->modifier[3] ? HPT_EMU_FORMAT_E5M2 : HPT_EMU_FORMAT_E4M3, false);
}
static bool decode_integer(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    if (!decode_mma(d, i, HPT_EMU_WGMMA_S32, i->modifier[2] ? HPT_EMU_FORMAT_U8 : HPT_EMU_FORMAT_S8,
                    i->modifier[3] ? HPT_EMU_FORMAT_U8 : HPT_EMU_FORMAT_S8, false))
        return false;
    ((hpt_emu_wgmma *)(uintptr_t)i->data)->saturates = i->modifier[1] == 0;
    return true;
}

#define MMA "wgmma.mma_async.sync.aligned"
enum { MMA_FLAGS = HPT_EMU_ALIGNED | HPT_EMU_ASYNC_ACC };
const hpt_emu_row hpt_emu_rows_wgmma[] = {
    {MMA "{.m64n#k16}{.f32|.f16}{.f16|.bf16}{.f16|.bf16}", "dv4,svx,s8,sp,?s4,?s4,?s4,?s4", run_mma, MMA_FLAGS,
     decode_half},
    {MMA "{.m64n#k8}.f32.tf32.tf32", "dv4,svx,s8,sp,?s4,?s4", run_mma, MMA_FLAGS, decode_tf32},
    {MMA "{.m64n#k32}{.f32|.f16}{.e4m3|.e5m2}{.e4m3|.e5m2}", "dv4,svx,s8,sp,?s4,?s4", run_mma, MMA_FLAGS, decode_fp8},
    {MMA "{.m64n#k32}.s32[.satfinite]{.s8|.u8}{.s8|.u8}", "dv4,svx,s8,sp", run_mma, MMA_FLAGS, decode_integer},
    {"wgmma.fence.sync.aligned", "", run_fence, HPT_EMU_ALIGNED, NULL},
    {"wgmma.commit_group.sync.aligned", "", run_commit, HPT_EMU_ALIGNED, NULL},
    {"wgmma.wait_group.sync.aligned", "s4", run_wait, HPT_EMU_ALIGNED, NULL},
    HPT_EMU_LAST_ROW,
};
