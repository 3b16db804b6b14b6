#include "tcgen05_unit.h"
#include <stdlib.h>
#include <string.h>

enum stream_kind { STREAM_ASYNC, STREAM_LOAD, STREAM_STORE };
enum { WARPS = 64 };
static const uint32_t NO_STREAM = UINT32_MAX;

typedef enum op_kind { OP_MMA, OP_COPY, OP_SHIFT, OP_COMMIT } op_kind;
typedef struct op {
    op_kind kind;
    hpt_tcgen05_warp who;
    uint32_t stream, number;
    uint32_t *clock; /* what its thread knew; a commit passes it on */
    hpt_mma mma;
    struct {
        hpt_tmem_copy_shape shape;
        uint32_t cta, ctas, address;
        hpt_matrix_descriptor source;
    } copy;                 /* a shift has no shape and no source */
    uint32_t address, mask; /* commit */
} op;

struct hpt_tcgen05 {
    hpt_tcgen05_host host;
    uint32_t first_cta, cta_group;
    hpt_tmem *tmem[2];
    uint32_t *known[WARPS]; /* what a warp may rely on: a clock, made on first use */
    uint32_t *issued;       /* a clock: operations of every stream so far */
    op *queue;
    size_t queued, queue_capacity;
    hpt_tcgen05_running now;
};

/* ---- clocks
 * -------------------------------------------------------------------------------------------------------------- */
static uint32_t stream_of(const hpt_tcgen05 *unit, hpt_tcgen05_warp who, enum stream_kind kind) {
    return unit->host.first + unit->host.stride * ((unit->first_cta + who.cta) * unit->host.warps_per_cta + who.warp) +
           (uint32_t)kind;
}
static enum stream_kind stream_kind(const hpt_tcgen05 *unit, uint32_t stream) {
    return (enum stream_kind)((stream - unit->host.first) % unit->host.stride);
}
static uint32_t stream_warp(const hpt_tcgen05 *unit, uint32_t stream) { /* in the cluster */
    return (stream - unit->host.first) / unit->host.stride;
}
static uint32_t stream_cta(const hpt_tcgen05 *unit, uint32_t stream) { /* in the pair */
    return stream_warp(unit, stream) / unit->host.warps_per_cta - unit->first_cta;
}

static uint32_t *clock_of(hpt_tcgen05 *unit, hpt_tcgen05_warp who) {
    return unit->host.clock(unit->host.user, who.cta, who.warp);
}
/* NULL: out of memory */
static uint32_t *known_to(hpt_tcgen05 *unit, hpt_tcgen05_warp who) {
    uint32_t **known = &unit->known[(who.cta & 1) * 32 + (who.warp & 31)];
    if (!*known) *known = calloc(unit->host.clock_size, sizeof **known);
    return *known;
}

static void clock_join(const hpt_tcgen05 *unit, uint32_t *into, const uint32_t *from) {
    for (size_t i = 0; i < unit->host.clock_size; i++)
        if (into[i] < from[i]) into[i] = from[i];
}

hpt_status hpt_tcgen05_fence_before(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error) {
    hpt_status status = HPT_OK;
    const uint32_t *known = known_to(unit, who);
    HPT_FAIL_NO_MEMORY(known);
    clock_join(unit, clock_of(unit, who), known);
done:
    return status;
}

hpt_status hpt_tcgen05_fence_after(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t *known = known_to(unit, who);
    HPT_FAIL_NO_MEMORY(known);
    for (uint32_t warp = 0; warp < 2 * unit->host.warps_per_cta; warp++) /* the streams of the pair only */
        for (uint32_t kind = 0; kind < HPT_TCGEN05_STREAMS; kind++) {
            uint32_t at = stream_of(unit, (hpt_tcgen05_warp){.warp = warp}, (enum stream_kind)kind);
            if (at < unit->host.clock_size && known[at] < clock_of(unit, who)[at]) known[at] = clock_of(unit, who)[at];
        }
done:
    return status;
}

static hpt_status wait_own(hpt_tcgen05 *unit, hpt_tcgen05_warp who, enum stream_kind kind, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t stream = stream_of(unit, who, kind), *known = known_to(unit, who);
    HPT_FAIL_NO_MEMORY(known);
    known[stream] = unit->issued[stream];
done:
    return status;
}
hpt_status hpt_tcgen05_wait_load(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error) {
    return wait_own(unit, who, STREAM_LOAD, error);
}
hpt_status hpt_tcgen05_wait_store(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error) {
    return wait_own(unit, who, STREAM_STORE, error);
}

/* ---- conflicts
 * ------------------------------------------------------------------------------------------------------------- */
typedef struct region {
    uint32_t cta, first_quarter, quarters, column, width;
} region;

/* What a warp would have had to do before it touches what `touch` may still be using. */
static const char *missing(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_tmem_touch touch) {
    if (clock_of(unit, who)[touch.agent] >= touch.operation) return "tcgen05.fence::after_thread_sync is missing";
    switch (stream_kind(unit, touch.agent)) {
    case STREAM_LOAD:
        return "it needs tcgen05.wait::ld, fence::before_thread_sync and a barrier first";
    case STREAM_STORE:
        return "it needs tcgen05.wait::st (and, from another warp, fences around a barrier) first";
    case STREAM_ASYNC:
        break;
    }
    for (size_t i = 0; i < unit->queued; i++)
        if (unit->queue[i].kind == OP_COMMIT && unit->queue[i].stream == touch.agent &&
            unit->queue[i].number >= touch.operation)
            return "its commit has not completed: wait for the mbarrier";
    return "it was not committed to an mbarrier that this warp waited for";
}

static hpt_status conflict(hpt_tcgen05 *unit, const char *what, hpt_tcgen05_warp who, const region *at,
                           uint32_t quarter, uint32_t column, hpt_tmem_touch touch, hpt_error *error) {
    static const char *const names[HPT_TCGEN05_STREAMS] = {"tcgen05.mma or cp", "tcgen05.ld", "tcgen05.st"};
    return hpt_error_set(
        error, HPT_EMULATOR, "in flight",
        "%s: column %u of tensor memory (CTA %u, lanes %u to %u) may still be in use by %s number %u of warp %u of "
        "CTA %u: %s.",
        what, column, unit->first_cta + at->cta, 32 * quarter, 32 * quarter + 31, names[stream_kind(unit, touch.agent)],
        touch.operation, stream_warp(unit, touch.agent) % unit->host.warps_per_cta,
        unit->first_cta + stream_cta(unit, touch.agent), missing(unit, who, touch));
}

/* Checks that `who` may touch the region now; what `mma_stream` (or NO_STREAM) did is in order by itself. */
static hpt_status region_check(hpt_tcgen05 *unit, const char *what, hpt_tcgen05_warp who, const region *at, bool writes,
                               uint32_t mma_stream, hpt_error *error) {
    hpt_status status = HPT_OK;
    const uint32_t *known = known_to(unit, who);
    const hpt_tmem *tmem = unit->tmem[at->cta];
    HPT_FAIL_NO_MEMORY(known);
    for (uint32_t q = at->first_quarter; q < at->first_quarter + at->quarters; q++)
        for (uint32_t c = at->column; c < at->column + at->width; c++) {
            hpt_tmem_touch writer = tmem->writer[q][c], reader = tmem->reader[q][c];
            if (writer.operation > known[writer.agent] && writer.agent != mma_stream)
                HPT_TRY(conflict(unit, what, who, at, q, c, writer, error));
            if (writes && reader.operation > known[reader.agent] && reader.agent != mma_stream)
                HPT_TRY(conflict(unit, what, who, at, q, c, reader, error));
        }
done:
    return status;
}

static void region_touch(hpt_tcgen05 *unit, const region *at, bool writes, uint32_t stream) {
    hpt_tmem *tmem = unit->tmem[at->cta];
    hpt_tmem_touch touch = {stream, unit->issued[stream]};
    for (uint32_t q = at->first_quarter; q < at->first_quarter + at->quarters; q++)
        for (uint32_t c = at->column; c < at->column + at->width; c++) {
            if (writes)
                tmem->writer[q][c] = touch;
            else
                tmem->reader[q][c] = touch;
        }
}

/* ---- the unit
 * ----------------------------------------------------------------------------------------------------------------- */
hpt_tcgen05 *hpt_tcgen05_create(const hpt_tcgen05_host *host, uint32_t first_cta) {
    hpt_tcgen05 *unit = calloc(1, sizeof *unit);
    if (!unit) return NULL;
    unit->host = *host;
    unit->first_cta = first_cta;
    unit->issued = calloc(host->clock_size, sizeof *unit->issued);
    for (size_t i = 0; i < 2; i++) unit->tmem[i] = calloc(1, sizeof **unit->tmem);
    if (unit->issued && unit->tmem[0] && unit->tmem[1]) return unit;
    hpt_tcgen05_destroy(unit);
    return NULL;
}

void hpt_tcgen05_destroy(hpt_tcgen05 *unit) {
    if (!unit) return;
    free(unit->tmem[0]);
    free(unit->tmem[1]);
    free(unit->issued);
    for (size_t i = 0; i < WARPS; i++) free(unit->known[i]);
    for (size_t i = 0; i < unit->queued; i++) free(unit->queue[i].clock);
    free(unit->queue);
    free(unit);
}

hpt_tmem *hpt_tcgen05_tmem(hpt_tcgen05 *unit, uint32_t cta) { return unit->tmem[cta & 1]; }
hpt_tcgen05_running hpt_tcgen05_now(const hpt_tcgen05 *unit) { return unit->now; }

hpt_status hpt_tcgen05_group_check(hpt_tcgen05 *unit, uint32_t cta_group, hpt_error *error) {
    if (!unit->cta_group) unit->cta_group = cta_group;
    if (unit->cta_group == cta_group) return HPT_OK;
    return hpt_error_set(error, HPT_EMULATOR, "tcgen05",
                         "cta_group::%u after cta_group::%u: a kernel must use one of them throughout.", cta_group,
                         unit->cta_group);
}

hpt_status hpt_tcgen05_alloc(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t columns, uint32_t *base, bool *blocked,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_tmem *tmem = unit->tmem[who.cta & 1];
    HPT_TRY(hpt_tmem_columns_check(columns, error));
    HPT_FAIL_IF(tmem->permit_gone, HPT_EMULATOR, "allocation", "The CTA gave up its right to allocate before.");
    *blocked = !hpt_tmem_alloc(tmem, columns, base);
done:
    return status;
}

hpt_status hpt_tcgen05_dealloc(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t base, uint32_t columns,
                               hpt_error *error) {
    hpt_status status = HPT_OK;
    region all = {who.cta & 1, 0, HPT_TMEM_QUARTERS, base, columns};
    HPT_TRY(hpt_tmem_columns_check(columns, error));
    HPT_TRY(hpt_tmem_range_check(unit->tmem[who.cta & 1], base, columns, error));
    HPT_TRY(region_check(unit, "tcgen05.dealloc", who, &all, true, NO_STREAM, error));
    HPT_TRY(hpt_tmem_dealloc(unit->tmem[who.cta & 1], base, columns, error));
done:
    return status;
}

void hpt_tcgen05_relinquish(hpt_tcgen05 *unit, hpt_tcgen05_warp who) { unit->tmem[who.cta & 1]->permit_gone = true; }

/* Takes a snapshot of what the thread knows along. */
static hpt_status enqueue(hpt_tcgen05 *unit, op item, hpt_error *error) {
    hpt_status status = HPT_OK;
    item.clock = malloc(unit->host.clock_size * sizeof *item.clock);
    HPT_FAIL_NO_MEMORY(item.clock);
    memcpy(item.clock, clock_of(unit, item.who), unit->host.clock_size * sizeof *item.clock);
    if (unit->queued == unit->queue_capacity) {
        size_t capacity = unit->queue_capacity ? 2 * unit->queue_capacity : 64;
        op *grown = realloc(unit->queue, capacity * sizeof *grown);
        HPT_FAIL_NO_MEMORY(grown);
        unit->queue = grown, unit->queue_capacity = capacity;
    }
    unit->queue[unit->queued++] = item;
    item.clock = NULL;
done:
    free(item.clock);
    return status;
}

static bool columns_meet(uint32_t a, uint32_t a_width, uint32_t b, uint32_t b_width) {
    return a < b + b_width && b < a + a_width;
}

/* An accumulator still in the pipeline may only be continued by an mma of the same place and shape. */
static hpt_status pipeline_check(const hpt_tcgen05 *unit, const hpt_mma *mma, hpt_error *error) {
    for (size_t i = 0; i < unit->queued; i++) {
        const op *o = &unit->queue[i];
        if (o->kind != OP_MMA ||
            !columns_meet(o->mma.d & 0xFFFF, hpt_mma_width(&o->mma.shape), mma->d & 0xFFFF, hpt_mma_width(&mma->shape)))
            continue;
        if (o->mma.d != mma->d || o->mma.shape.m != mma->shape.m || o->mma.shape.n != mma->shape.n)
            return hpt_error_set(
                error, HPT_EMULATOR, "tcgen05.mma",
                "The accumulator at column %u overlaps one of another place or shape that is still in flight "
                "(column %u): only equal ones follow each other without a commit.",
                mma->d & 0xFFFF, o->mma.d & 0xFFFF);
    }
    return HPT_OK;
}

hpt_status hpt_tcgen05_mma(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_mma *mma, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t stream = stream_of(unit, who, STREAM_ASYNC), pair = mma->shape.cta_group == 2;
    op item = {.kind = OP_MMA, .who = who, .stream = stream, .mma = *mma};
    HPT_FAIL_IF(pair && who.cta & 1, HPT_EMULATOR, "tcgen05.mma",
                "cta_group::2 is issued by the even CTA of the pair only; this is CTA %u.", unit->first_cta + who.cta);
    HPT_TRY(pipeline_check(unit, mma, error));
    item.number = ++unit->issued[stream];
    for (uint32_t i = 0; i <= pair; i++) {
        region d = {pair ? i : who.cta & 1, 0, HPT_TMEM_QUARTERS, mma->d & 0xFFFF, hpt_mma_width(&mma->shape)};
        region a = {d.cta, 0, HPT_TMEM_QUARTERS, mma->a_tmem & 0xFFFF, mma->shape.k * mma->shape.element / 4};
        HPT_TRY(hpt_tmem_range_check(unit->tmem[d.cta], d.column, d.width, error));
        HPT_TRY(region_check(unit, "tcgen05.mma", who, &d, true, stream, error));
        region_touch(unit, &d, true, stream);
        if (!mma->a_in_tmem) continue;
        HPT_TRY(hpt_tmem_range_check(unit->tmem[d.cta], a.column, a.width, error));
        HPT_TRY(region_check(unit, "tcgen05.mma", who, &a, false, stream, error));
        region_touch(unit, &a, false, stream);
    }
    HPT_TRY(enqueue(unit, item, error));
done:
    return status;
}

static const struct {
    uint32_t rows, bytes, times, first[4][2]; /* row block of 32 -> quarters */
} copies[] = {
    [HPT_COPY_128X256B] = {128, 32, 1, {{0}, {1}, {2}, {3}}},
    [HPT_COPY_128X128B] = {128, 16, 1, {{0}, {1}, {2}, {3}}},
    [HPT_COPY_64X128B_02_13] = {64, 16, 2, {{0, 2}, {1, 3}}},
    [HPT_COPY_64X128B_01_23] = {64, 16, 2, {{0, 1}, {2, 3}}},
    [HPT_COPY_32X128B_X4] = {32, 16, 4, {{0}}},
};

hpt_status hpt_tcgen05_copy(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_tmem_copy_shape shape, uint32_t cta_group,
                            uint32_t address, uint64_t source, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t stream = stream_of(unit, who, STREAM_ASYNC), width = copies[shape].bytes / 4;
    op item = {.kind = OP_COPY, .who = who, .stream = stream};
    item.copy.shape = shape, item.copy.address = address, item.copy.ctas = cta_group, item.copy.cta = who.cta & 1;
    HPT_FAIL_IF(address >> 16, HPT_EMULATOR, "tcgen05.cp", "The address must name lane 0, not %u.", address >> 16);
    HPT_TRY(hpt_matrix_descriptor_decode(&item.copy.source, source, error));
    item.number = ++unit->issued[stream];
    for (uint32_t i = 0; i < cta_group; i++) {
        region to = {cta_group == 2 ? i : who.cta & 1, 0, HPT_TMEM_QUARTERS, address & 0xFFFF, width};
        HPT_TRY(hpt_tmem_range_check(unit->tmem[to.cta], to.column, to.width, error));
        HPT_TRY(region_check(unit, "tcgen05.cp", who, &to, true, NO_STREAM, error));
        region_touch(unit, &to, true, stream);
    }
    HPT_TRY(enqueue(unit, item, error));
done:
    return status;
}

enum { SHIFT_COLUMNS = 8 }; /* 32 bytes of each row */
hpt_status hpt_tcgen05_shift(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t cta_group, uint32_t address,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t stream = stream_of(unit, who, STREAM_ASYNC), lane = address >> 16;
    op item = {.kind = OP_SHIFT, .who = who, .stream = stream};
    item.copy.address = address, item.copy.ctas = cta_group, item.copy.cta = who.cta & 1;
    HPT_FAIL_IF(lane % 32 || lane >= 32 * HPT_TMEM_QUARTERS, HPT_EMULATOR, "tcgen05.shift",
                "The address must name the first lane of a warp's quarter, not %u.", lane);
    item.number = ++unit->issued[stream];
    for (uint32_t i = 0; i < cta_group; i++) {
        region rows = {cta_group == 2 ? i : who.cta & 1, lane / 32, 1, address & 0xFFFF, SHIFT_COLUMNS};
        HPT_TRY(hpt_tmem_range_check(unit->tmem[rows.cta], rows.column, rows.width, error));
        HPT_TRY(region_check(unit, "tcgen05.shift", who, &rows, true, stream, error));
        region_touch(unit, &rows, true, stream);
    }
    HPT_TRY(enqueue(unit, item, error));
done:
    return status;
}

hpt_status hpt_tcgen05_commit(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t address, uint32_t mask,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t stream = stream_of(unit, who, STREAM_ASYNC);
    op item = {.kind = OP_COMMIT, .who = who, .stream = stream, .address = address, .mask = mask};
    item.number = unit->issued[stream];
    HPT_TRY(hpt_tcgen05_fence_before(unit, who, error)); /* a commit implies it */
    HPT_TRY(enqueue(unit, item, error));
    uint32_t *clock = unit->queue[unit->queued - 1].clock;
    if (clock[stream] < item.number) clock[stream] = item.number;
done:
    return status;
}

static region access_region(hpt_tcgen05_warp who, const hpt_tmem_access *access) {
    return (region){who.cta & 1, access->address >> 21, 1, access->address & 0xFFFF, hpt_tmem_width(access)};
}

hpt_status hpt_tcgen05_load(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_tmem_access *access, uint32_t *registers,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_tmem *tmem = unit->tmem[who.cta & 1];
    uint32_t stream = stream_of(unit, who, STREAM_LOAD);
    region from = access_region(who, access);
    HPT_TRY(hpt_tmem_access_check(tmem, access, who.warp % 4, error));
    HPT_TRY(region_check(unit, "tcgen05.ld", who, &from, false, NO_STREAM, error));
    HPT_TRY(hpt_tmem_load(tmem, access, registers, error));
    unit->issued[stream]++;
    region_touch(unit, &from, false, stream);
done:
    return status;
}

hpt_status hpt_tcgen05_store(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_tmem_access *access,
                             const uint32_t *registers, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_tmem *tmem = unit->tmem[who.cta & 1];
    uint32_t stream = stream_of(unit, who, STREAM_STORE);
    region to = access_region(who, access);
    HPT_TRY(hpt_tmem_access_check(tmem, access, who.warp % 4, error));
    HPT_TRY(region_check(unit, "tcgen05.st", who, &to, true, NO_STREAM, error));
    hpt_tmem_store(tmem, access, registers);
    unit->issued[stream]++;
    region_touch(unit, &to, true, stream);
done:
    return status;
}

/* ---- what happens late
 * ---------------------------------------------------------------------------------------------------------- */
/* Whether an operation may happen before an earlier one of its stream. Commits promise nothing about each other. */
static bool overtakes(const op *item, const op *before) {
    if (before->kind == OP_COMMIT) return true;
    if (item->kind != OP_MMA || before->kind != OP_MMA) return false; /* copies, shifts and commits keep their place */
    return before->mma.d != item->mma.d && !before->mma.a_in_tmem && !item->mma.a_in_tmem;
}

static bool may_run(const hpt_tcgen05 *unit, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (unit->queue[i].stream == unit->queue[index].stream && !overtakes(&unit->queue[index], &unit->queue[i]))
            return false;
    return true;
}

static hpt_status copy_run(hpt_tcgen05 *unit, const op *item, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t rows = copies[item->copy.shape].rows, times = copies[item->copy.shape].times;
    for (uint32_t i = 0; i < item->copy.ctas; i++) {
        uint32_t cta = item->copy.ctas == 2 ? i : item->copy.cta;
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t byte = 0; byte < copies[item->copy.shape].bytes; byte += 16) {
                uint8_t unit16[16];
                uint32_t from = hpt_matrix_address_k_major(&item->copy.source, row, byte);
                HPT_TRY(unit->host.fetch(unit->host.user, cta, from, unit16, error));
                for (uint32_t t = 0; t < times; t++) {
                    uint32_t quarter = times == 4 ? t : copies[item->copy.shape].first[row / 32][t];
                    uint32_t lane = quarter * 32 + row % 32, column = (item->copy.address & 0xFFFF) + byte / 4;
                    memcpy(&unit->tmem[cta]->cell[lane][column], unit16, 16);
                    memset(&unit->tmem[cta]->written[lane][column], true, 4 * sizeof(bool));
                }
            }
    }
done:
    return status;
}

/* 31 of a quarter's 32 rows move down by one, so that the first stays. */
static void shift_run(hpt_tcgen05 *unit, const op *item) {
    uint32_t first = item->copy.address >> 16, column = item->copy.address & 0xFFFF;
    for (uint32_t i = 0; i < item->copy.ctas; i++) {
        hpt_tmem *tmem = unit->tmem[item->copy.ctas == 2 ? i : item->copy.cta];
        for (uint32_t lane = first + 31; lane > first; lane--) {
            memcpy(&tmem->cell[lane][column], &tmem->cell[lane - 1][column], SHIFT_COLUMNS * sizeof tmem->cell[0][0]);
            memcpy(&tmem->written[lane][column], &tmem->written[lane - 1][column],
                   SHIFT_COLUMNS * sizeof tmem->written[0][0]);
        }
    }
}

static hpt_status mma_run(hpt_tcgen05 *unit, const op *item, hpt_error *error) {
    if (item->mma.shape.cta_group == 2)
        return hpt_mma_execute(&item->mma, unit->tmem, unit->host.fetch, unit->host.user, error);
    /* one CTA: let its memory stand for the first of the pair */
    uint32_t cta = stream_cta(unit, item->stream);
    hpt_tmem *const own[2] = {unit->tmem[cta], NULL};
    hpt_mma mma = item->mma;
    mma.first_cta = cta;
    return hpt_mma_execute(&mma, own, unit->host.fetch, unit->host.user, error);
}

static hpt_status commit_run(hpt_tcgen05 *unit, const op *item, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (uint32_t cta = 0; cta < 16; cta++) {
        if (!(item->mask >> cta & 1)) continue;
        HPT_TRY(unit->host.arrive(unit->host.user, cta, item->address, item->clock, error));
    }
done:
    return status;
}

hpt_status hpt_tcgen05_step(hpt_tcgen05 *unit, bool *pending, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t ready = 0, chosen = 0;
    for (size_t i = 0; i < unit->queued && ready < 64; i++)
        if (may_run(unit, i) && unit->host.random(unit->host.user, (uint32_t)++ready) == 0) chosen = i;
    if (ready) {
        op item = unit->queue[chosen];
        unit->queued--;
        memmove(&unit->queue[chosen], &unit->queue[chosen + 1], (unit->queued - chosen) * sizeof *unit->queue);
        unit->now = (hpt_tcgen05_running){item.who, item.stream, item.number, item.clock};
        switch (item.kind) {
        case OP_MMA:
            status = mma_run(unit, &item, error);
            break;
        case OP_COPY:
            status = copy_run(unit, &item, error);
            break;
        case OP_SHIFT:
            shift_run(unit, &item);
            break;
        case OP_COMMIT:
            status = commit_run(unit, &item, error);
            break;
        }
        free(item.clock);
        unit->now.clock = NULL;
    }
    *pending = unit->queued > 0;
    return status;
}

hpt_status hpt_tcgen05_exit(hpt_tcgen05 *unit, uint32_t cta, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t leaked = hpt_tmem_allocated(unit->tmem[cta & 1]);
    for (size_t i = 0; i < unit->queued; i++) {
        const op *item = &unit->queue[i];
        bool ours = item->kind == OP_COMMIT ? item->mask >> (unit->first_cta + (cta & 1)) & 1
                                            : unit->cta_group == 2 || stream_cta(unit, item->stream) == (cta & 1);
        HPT_FAIL_IF(ours, HPT_EMULATOR, "leak",
                    "CTA %u exits while a tcgen05 operation that uses its memory is in flight.",
                    unit->first_cta + (cta & 1));
    }
    HPT_FAIL_IF(leaked, HPT_EMULATOR, "leak", "CTA %u exits with %u columns of tensor memory still allocated.",
                unit->first_cta + (cta & 1), leaked);
done:
    return status;
}
