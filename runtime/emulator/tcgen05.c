/* tcgen05.c - the instructions of the tensor core of Blackwell: operands, who executes them, findings. What they do is
 * in tcgen05_unit.c. One unit serves a pair of CTAs (ranks 2i and 2i + 1 of a cluster), made when either first needs
 * it. */
#include "machine.h"
#include "tcgen05_unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tensor_pair {
    hpt_emu_cluster *cluster;
    uint32_t first;
    hpt_tcgen05 *unit;
} tensor_pair;

/* A load whose values have not arrived: registers hold rubbish until tcgen05.wait::ld. */
typedef struct late_load {
    struct late_load *next;
    const hpt_emu_operand *to;
    uint32_t values[]; /* [thread][register] */
} late_load;

enum { RUBBISH = 0x7FC0DEAD };

/* ---- what the unit needs ------------------------------------------------------------------------------------------
 */
static hpt_emu_warp *warp_of(tensor_pair *pair, hpt_tcgen05_warp who) {
    return &pair->cluster->ctas[pair->first + who.cta].warps[who.warp];
}

static hpt_status host_fetch(void *user, uint32_t cta, uint32_t address, uint8_t out[16], hpt_error *error) {
    tensor_pair *pair = user;
    hpt_emu_cta *at = &pair->cluster->ctas[pair->first + cta];
    hpt_tcgen05_running now = hpt_tcgen05_now(pair->unit);
    if (address + 16 > at->shared_bytes || address < HPT_EMU_RESERVED_SHARED)
        return hpt_error_set(error, HPT_EMULATOR, "bounds",
                             "A matrix descriptor leads to shared address 0x%x of CTA %u, outside of its %u bytes.",
                             address, at->rank, at->shared_bytes);
    hpt_emu_who who = {.warp = warp_of(pair, now.who),
                       .instruction = now.who.tag,
                       .lane = now.who.lane,
                       .component = (uint16_t)now.stream,
                       .time = now.number,
                       .knows = now.clock,
                       .async = true,
                       .what = "tcgen05.mma"};
    hpt_emu_shared_read(at, address, 16, &who);
    memcpy(out, at->shared + address, 16);
    return HPT_OK;
}

static hpt_status host_arrive(void *user, uint32_t cta, uint32_t address, const uint32_t *clock, hpt_error *error) {
    tensor_pair *pair = user;
    hpt_tcgen05_running now = hpt_tcgen05_now(pair->unit);
    if (cta >= pair->cluster->size)
        return hpt_error_set(error, HPT_EMULATOR, "operand", "The mask of a commit names CTA %u of a cluster of %u.",
                             cta, pair->cluster->size);
    hpt_emu_who who = {.warp = warp_of(pair, now.who),
                       .instruction = now.who.tag,
                       .lane = now.who.lane,
                       .component = (uint16_t)now.stream,
                       .time = now.number,
                       .async = true,
                       .what = "tcgen05.commit"};
    hpt_emu_mbarrier_arrive(&pair->cluster->ctas[cta], address, 1, clock, &who);
    return HPT_OK;
}

static uint32_t host_random(void *user, uint32_t bound) {
    return hpt_emu_random_below(&((tensor_pair *)user)->cluster->random, bound);
}

static uint32_t *host_clock(void *user, uint32_t cta, uint32_t warp) {
    tensor_pair *pair = user;
    return pair->cluster->ctas[pair->first + cta].warps[warp].clock;
}

static tensor_pair *pair_of(hpt_emu_warp *w) {
    hpt_emu_cta *cta = w->cta;
    hpt_emu_cluster *cluster = cta->cluster;
    if (cta->tensor_memory) return cta->tensor_memory;
    tensor_pair *pair = calloc(1, sizeof *pair);
    if (!pair) return NULL;
    pair->cluster = cluster;
    pair->first = cta->rank & ~1u;
    hpt_tcgen05_host host = {.user = pair,
                             .fetch = host_fetch,
                             .arrive = host_arrive,
                             .random = host_random,
                             .clock = host_clock,
                             .clock_size = cluster->clock_size,
                             .first = HPT_EMU_TENSOR_COMPONENT,
                             .stride = HPT_EMU_ENGINES,
                             .warps_per_cta = cluster->warps_per_cta};
    pair->unit = hpt_tcgen05_create(&host, pair->first);
    if (!pair->unit) {
        free(pair);
        return NULL;
    }
    for (uint32_t rank = pair->first; rank < pair->first + 2 && rank < cluster->size; rank++)
        cluster->ctas[rank].tensor_memory = pair;
    return pair;
}

static hpt_tcgen05_warp who_is(const hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane) {
    return (hpt_tcgen05_warp){.cta = w->cta->rank & 1, .warp = w->index, .lane = lane, .tag = i};
}

/* ---- findings ------------------------------------------------------------------------------------------------------
 */
static const struct {
    const char *where;
    hpt_emu_fault fault;
} faults[] = {
    {"in flight", HPT_EMU_ACCUMULATOR},
    {"unwritten", HPT_EMU_UNWRITTEN},
    {"leak", HPT_EMU_LEAK},
    {"bounds", HPT_EMU_BOUNDS},
    {"allocation", HPT_EMU_BOUNDS},
    {"lanes", HPT_EMU_BOUNDS},
    {"matrix descriptor", HPT_EMU_DESCRIPTOR},
    {"instruction descriptor", HPT_EMU_DESCRIPTOR},
};

static void complain(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_error *error) {
    hpt_emu_fault fault = HPT_EMU_OPERAND;
    for (size_t k = 0; k < HPT_COUNT(faults); k++)
        if (strcmp(error->where, faults[k].where) == 0) fault = faults[k].fault;
    hpt_emu_report(w, i, lane, fault, "%s", error->message);
}

/* Runs a call on the pair's unit; a failure becomes a finding. `pair`, `who`, `error` are in scope. */
#define UNIT(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != HPT_OK) complain(w, i, hpt_emu_first(mask), &error);                                             \
    } while (0)
#define UNIT_OR_STOP(call)                                                                                             \
    do {                                                                                                               \
        if ((call) != HPT_OK) {                                                                                        \
            complain(w, i, hpt_emu_first(mask), &error);                                                               \
            return HPT_EMU_NEXT;                                                                                       \
        }                                                                                                              \
    } while (0)
#define PREPARE                                                                                                        \
    tensor_pair *pair = pair_of(w);                                                                                    \
    hpt_tcgen05_warp who = who_is(w, i, hpt_emu_first(mask));                                                          \
    hpt_error error = {0};                                                                                             \
    (void)who;                                                                                                         \
    if (!pair) {                                                                                                       \
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND, "Out of memory.");                                  \
        return HPT_EMU_NEXT;                                                                                           \
    }

static uint32_t group_of(const hpt_emu_instruction *i) { return (uint32_t)i->modifier[0] + 1; }

/* ---- allocation -----------------------------------------------------------------------------------------------------
 */
static hpt_emu_step run_alloc(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    uint32_t lane = hpt_emu_first(mask), base = 0;
    uint32_t columns = (uint32_t)hpt_emu_uniform(w, i, &i->op[1], mask);
    bool blocked = false;
    UNIT_OR_STOP(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    UNIT_OR_STOP(hpt_tcgen05_alloc(pair->unit, who, columns, &base, &blocked, &error));
    if (blocked) return hpt_emu_block(w, HPT_EMU_WAIT_OTHER, 0, columns, "columns of tensor memory");
    uint8_t *to =
        hpt_emu_access_lane(w, i, lane, HPT_PTX_SHARED, hpt_emu_address(w, &i->op[0], lane), 4, HPT_EMU_WRITE);
    if (to) memcpy(to, &base, 4);
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_dealloc(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    uint32_t base = (uint32_t)hpt_emu_uniform(w, i, &i->op[0], mask);
    uint32_t columns = (uint32_t)hpt_emu_uniform(w, i, &i->op[1], mask);
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    UNIT(hpt_tcgen05_dealloc(pair->unit, who, base, columns, &error));
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_relinquish(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    hpt_tcgen05_relinquish(pair->unit, who);
    return HPT_EMU_NEXT;
}

/* ---- operations in flight
 * ---------------------------------------------------------------------------------------------- */
typedef struct tensor_tick { /* one chance for one queued operation of the unit */
    hpt_emu_async async;
    tensor_pair *pair;
} tensor_tick;

static bool tick_land(hpt_emu_async *async) {
    tensor_pair *pair = ((tensor_tick *)async)->pair;
    hpt_error error = {0};
    bool pending;
    if (hpt_tcgen05_step(pair->unit, &pending, &error) != HPT_OK) {
        hpt_tcgen05_running now = hpt_tcgen05_now(pair->unit);
        complain(warp_of(pair, now.who), now.who.tag, now.who.lane, &error);
    }
    return true;
}
static void tick_release(hpt_emu_async *async) { free(async); }

static void tick_add(tensor_pair *pair, hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane) {
    tensor_tick *tick = calloc(1, sizeof *tick);
    if (!tick) {
        hpt_emu_report(w, i, lane, HPT_EMU_OPERAND, "Out of memory.");
        return;
    }
    tick->async = (hpt_emu_async){.land = tick_land,
                                  .release = tick_release,
                                  .cluster = w->cta->cluster,
                                  .warp = w,
                                  .lane = lane,
                                  .instruction = i};
    tick->pair = pair;
    hpt_emu_async_add(w->cta->cluster, &tick->async);
}

typedef struct mma_operands {
    const hpt_emu_operand *skip, *scale; /* NULL: not given */
    const hpt_emu_operand *enable;
} mma_operands;

/* [d], a or [a], b, idesc, {disable-output-lane}?, enable-input-d, scale-input-d? */
static bool decode_mma(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    mma_operands *more = hpt_arena_alloc(hpt_emu_decoder_arena(d), 1, sizeof *more);
    uint8_t at = 4;
    if (!more) return hpt_emu_refuse(d, "Out of memory.");
    if (i->source->operands[at].kind == HPT_PTX_VECTOR) more->skip = &i->op[at++];
    if (at == i->count) return hpt_emu_refuse(d, "tcgen05.mma: enable-input-d is missing.");
    more->enable = &i->op[at++];
    if (more->enable->bytes) return hpt_emu_refuse(d, "tcgen05.mma: enable-input-d is no predicate.");
    if (at < i->count) more->scale = &i->op[at++];
    if (at < i->count) return hpt_emu_refuse(d, "tcgen05.mma: too many operands.");
    if (more->skip && more->skip->count != 4u * group_of(i))
        return hpt_emu_refuse(d, "tcgen05.mma: disable-output-lane takes %u registers.", 4 * group_of(i));
    i->data = more;
    return true;
}

static hpt_emu_step run_mma(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    const mma_operands *more = i->data;
    hpt_emu_counters *counters = &w->cta->cluster->counters;
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    HPT_FOR_LANES(lane, mask) {
        who.lane = lane;
        hpt_mma mma = {.d = (uint32_t)hpt_emu_address(w, &i->op[0], lane), .b = hpt_emu_get(w, &i->op[2], lane)};
        mma.a_in_tmem = i->source->operands[1].kind == HPT_PTX_MEMORY;
        if (mma.a_in_tmem)
            mma.a_tmem = (uint32_t)hpt_emu_address(w, &i->op[1], lane);
        else
            mma.a = hpt_emu_get(w, &i->op[1], lane);
        mma.accumulate = hpt_emu_predicate(w, more->enable) >> lane & 1;
        if (more->scale) mma.scale = (uint32_t)hpt_emu_get(w, more->scale, lane);
        for (uint16_t k = 0; more->skip && k < more->skip->count; k++)
            mma.skip[k] = (uint32_t)hpt_emu_get(w, &more->skip->items[k], lane);
        uint32_t bits = (uint32_t)hpt_emu_get(w, &i->op[3], lane);
        UNIT_OR_STOP(hpt_mma_shape_decode(&mma.shape, (hpt_mma_kind)i->modifier[1], group_of(i), bits, &error));
        UNIT_OR_STOP(hpt_tcgen05_mma(pair->unit, who, &mma, &error));
        tick_add(pair, w, i, lane);
        counters->mma_operations++;
        counters->mma_flops += 2ull * mma.shape.m * mma.shape.n * mma.shape.k;
    }
    return HPT_EMU_NEXT;
}

static bool decode_copy(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    static const struct {
        int8_t shape, spread;
        hpt_tmem_copy_shape is;
    } shapes[] = {{0, -1, HPT_COPY_128X256B},
                  {1, -1, HPT_COPY_128X128B},
                  {2, 0, HPT_COPY_64X128B_02_13},
                  {2, 1, HPT_COPY_64X128B_01_23},
                  {3, 2, HPT_COPY_32X128B_X4}};
    hpt_tmem_copy_shape *out = hpt_arena_alloc(hpt_emu_decoder_arena(d), 1, sizeof *out);
    if (!out) return hpt_emu_refuse(d, "Out of memory.");
    for (size_t k = 0; k < HPT_COUNT(shapes); k++)
        if (i->modifier[1] == shapes[k].shape && i->modifier[2] == shapes[k].spread) {
            *out = shapes[k].is;
            i->data = out;
            return true;
        }
    return hpt_emu_refuse(d, "%s: this shape and spread do not go together.", i->source->opcode);
}

static hpt_emu_step run_copy(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    HPT_FOR_LANES(lane, mask) {
        who.lane = lane;
        UNIT_OR_STOP(hpt_tcgen05_copy(pair->unit, who, *(const hpt_tmem_copy_shape *)i->data, group_of(i),
                                      (uint32_t)hpt_emu_address(w, &i->op[0], lane), hpt_emu_get(w, &i->op[1], lane),
                                      &error));
        tick_add(pair, w, i, lane);
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_shift(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    HPT_FOR_LANES(lane, mask) {
        who.lane = lane;
        UNIT_OR_STOP(
            hpt_tcgen05_shift(pair->unit, who, group_of(i), (uint32_t)hpt_emu_address(w, &i->op[0], lane), &error));
        tick_add(pair, w, i, lane);
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_commit(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    UNIT(hpt_tcgen05_group_check(pair->unit, group_of(i), &error));
    HPT_FOR_LANES(lane, mask) {
        who.lane = lane;
        uint32_t offset = 0, ctas;
        uint64_t address = hpt_emu_address(w, &i->op[0], lane);
        hpt_emu_cta *at = hpt_emu_shared_cta(w->cta, address, &offset);
        if (!at) {
            hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS, "Address 0x%llx is in no CTA's shared memory.",
                           (unsigned long long)address);
            return HPT_EMU_NEXT;
        }
        ctas = i->count > 1 ? (uint32_t)hpt_emu_get(w, &i->op[1], lane) & 0xFFFF : 1u << at->rank;
        UNIT_OR_STOP(hpt_tcgen05_commit(pair->unit, who, offset, ctas, &error));
        tick_add(pair, w, i, lane);
    }
    return HPT_EMU_NEXT;
}

/* ---- between tensor memory and registers
 * --------------------------------------------------------------------------------- */
static hpt_tmem_access access_of(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_operand *address,
                                 uint32_t mask) {
    return (hpt_tmem_access){.shape = (hpt_tmem_shape)i->modifier[0],
                             .repeat = 1u << i->modifier[1],
                             .half = i->modifier[2] >= 0,
                             .address = (uint32_t)(hpt_emu_uniform(w, i, address, mask) + (uint64_t)address->offset)};
}

static bool decode_access(hpt_emu_decoder *d, hpt_emu_instruction *i, const hpt_emu_operand *vector) {
    hpt_tmem_access access = {.shape = (hpt_tmem_shape)i->modifier[0], .repeat = 1u << i->modifier[1]};
    uint32_t count = hpt_tmem_registers(&access);
    if (count > 128) return hpt_emu_refuse(d, "%s: there is no such repetition.", i->source->opcode);
    if (i->modifier[2] >= 0 && access.shape != HPT_TMEM_32X32B)
        return hpt_emu_refuse(d, "%s: packing is modelled for .32x32b only.", i->source->opcode);
    if (vector->count != count) return hpt_emu_refuse(d, "%s: takes %u registers.", i->source->opcode, count);
    return true;
}
static bool decode_load(hpt_emu_decoder *d, hpt_emu_instruction *i) { return decode_access(d, i, &i->op[0]); }
static bool decode_store(hpt_emu_decoder *d, hpt_emu_instruction *i) { return decode_access(d, i, &i->op[1]); }

static void deliver(hpt_emu_warp *w, const hpt_emu_operand *to, const uint32_t *values) {
    for (uint32_t lane = 0; lane < HPT_LANES; lane++)
        for (uint16_t r = 0; r < to->count; r++)
            hpt_emu_set(w, &to->items[r], lane, values ? values[lane * to->count + r] : RUBBISH);
}

static hpt_emu_step run_load(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    hpt_tmem_access access = access_of(w, i, &i->op[1], mask);
    late_load *late = calloc(1, sizeof *late + HPT_LANES * i->op[0].count * sizeof(uint32_t));
    if (!late) {
        hpt_emu_report(w, i, hpt_emu_first(mask), HPT_EMU_OPERAND, "Out of memory.");
        return HPT_EMU_NEXT;
    }
    late->to = &i->op[0];
    UNIT(hpt_tcgen05_load(pair->unit, who, &access, late->values, &error));
    deliver(w, late->to, NULL);
    late_load **last = (late_load **)&w->tensor_state;
    while (*last) last = &(*last)->next;
    *last = late;
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_store(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    hpt_tmem_access access = access_of(w, i, &i->op[0], mask);
    const hpt_emu_operand *from = &i->op[1];
    uint32_t values[HPT_LANES * 128];
    for (uint32_t lane = 0; lane < HPT_LANES; lane++)
        for (uint16_t r = 0; r < from->count; r++)
            values[lane * from->count + r] = (uint32_t)hpt_emu_get(w, &from->items[r], lane);
    UNIT(hpt_tcgen05_store(pair->unit, who, &access, values, &error));
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_wait(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    if (i->modifier[0] == 1) {
        UNIT(hpt_tcgen05_wait_store(pair->unit, who, &error));
        return HPT_EMU_NEXT;
    }
    UNIT(hpt_tcgen05_wait_load(pair->unit, who, &error));
    while (w->tensor_state) {
        late_load *late = w->tensor_state;
        deliver(w, late->to, late->values);
        w->tensor_state = late->next;
        free(late);
    }
    return HPT_EMU_NEXT;
}

static hpt_emu_step run_fence(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    PREPARE
    if (i->modifier[0] == 0)
        UNIT(hpt_tcgen05_fence_before(pair->unit, who, &error));
    else
        UNIT(hpt_tcgen05_fence_after(pair->unit, who, &error));
    return HPT_EMU_NEXT;
}

/* ---- the end
 * -------------------------------------------------------------------------------------------------------------- */
void hpt_emu_tensor_release(hpt_emu_warp *w) {
    while (w->tensor_state) {
        late_load *late = w->tensor_state;
        w->tensor_state = late->next;
        free(late);
    }
}

void hpt_emu_tensor_end(hpt_emu_warp *w) {
    tensor_pair *pair = w->cta->tensor_memory;
    const hpt_emu_program *program = w->cta->cluster->run->program;
    const hpt_emu_instruction *end = &program->code[program->count - 1];
    hpt_error error = {0};
    if (w->tensor_state)
        hpt_emu_report(w, end, 0, HPT_EMU_ACCUMULATOR,
                       "Warp %u ends with a tcgen05.ld that no tcgen05.wait::ld followed.", w->index);
    if (!pair || w->cta->warps_done < w->cta->warp_count) return;
    if (hpt_tcgen05_exit(pair->unit, w->cta->rank & 1, &error) != HPT_OK) complain(w, end, 0, &error);
}

void hpt_emu_tensor_destroy(hpt_emu_cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->size; rank += 2) {
        tensor_pair *pair = cluster->ctas[rank].tensor_memory;
        if (!pair) continue;
        hpt_tcgen05_destroy(pair->unit);
        free(pair);
    }
}

#define GROUP "{.cta_group::1|.cta_group::2}"
#define KIND "{.kind::f16|.kind::tf32|.kind::f8f6f4}"
#define COLLECTOR "[.collector::a::fill|.collector::a::use|.collector::a::lastuse|.collector::a::discard]"
#define SHAPE "{.32x32b|.16x64b|.16x128b|.16x256b}{.x1|.x2|.x4|.x8|.x16|.x32|.x64|.x128}"
const hpt_emu_row hpt_emu_rows_tcgen05[] = {
    {"tcgen05.alloc" GROUP ".sync.aligned[.shared::cta].b32", "m,s4", run_alloc, HPT_EMU_ALIGNED, NULL},
    {"tcgen05.dealloc" GROUP ".sync.aligned.b32", "s4,s4", run_dealloc, HPT_EMU_ALIGNED, NULL},
    {"tcgen05.relinquish_alloc_permit" GROUP ".sync.aligned", "", run_relinquish, HPT_EMU_ALIGNED, NULL},
    {"tcgen05.mma" GROUP KIND COLLECTOR, "m,a,s8,s4,a,?a,?a", run_mma, 0, decode_mma},
    {"tcgen05.commit" GROUP ".mbarrier::arrive::one[.shared::cluster].b64", "m", run_commit, 0, NULL},
    {"tcgen05.commit" GROUP ".mbarrier::arrive::one[.shared::cluster].multicast::cluster.b64", "m,s2", run_commit, 0,
     NULL},
    {"tcgen05.cp" GROUP "{.128x256b|.128x128b|.64x128b|.32x128b}[.warpx2::02_13|.warpx2::01_23|.warpx4]", "m,s8",
     run_copy, 0, decode_copy},
    {"tcgen05.shift" GROUP ".down", "m", run_shift, 0, NULL},
    {"tcgen05.ld.sync.aligned" SHAPE "[.pack::16b].b32", "dv4,m", run_load, HPT_EMU_ALIGNED, decode_load},
    {"tcgen05.st.sync.aligned" SHAPE "[.unpack::16b].b32", "m,sv4", run_store, HPT_EMU_ALIGNED, decode_store},
    {"tcgen05.wait{::ld|::st}.sync.aligned", "", run_wait, HPT_EMU_ALIGNED, NULL},
    {"tcgen05.fence{::before_thread_sync|::after_thread_sync}", "", run_fence, 0, NULL},
    HPT_EMU_LAST_ROW,
};
