/* bulk_box.c - moves a box of a tensor, or a range of bytes, between global memory and shared memory: clipping, zero
 * fill, swizzles, reductions. The swizzles permute 16-byte units by address bits, as the hardware's do: with 128 B,
 * bits 4-6 ^= bits 7-9; with 64 B bits 4-5 ^= bits 7-8; with 32 B bit 4 ^= bit 7. */
#include "bulk.h"
#include "device.h"
#include <string.h>

uint64_t hpt_emu_box_bytes(const hpt_emu_box *box) {
    if (!box->map.magic) return box->bytes;
    uint64_t bytes = box->map.element_bytes;
    for (int d = 0; d < box->map.rank; d++) bytes *= box->map.box[d];
    return bytes;
}

static uint32_t row_pitch(const hpt_emu_map *map) {
    return map->swizzle ? 16u << map->swizzle : (uint32_t)map->box[0] * map->element_bytes;
}

uint64_t hpt_emu_box_extent(const hpt_emu_box *box) {
    if (!box->map.magic) return box->bytes;
    uint64_t rows = 1;
    for (int d = 1; d < box->map.rank; d++) rows *= box->map.box[d];
    return rows * row_pitch(&box->map);
}

static uint32_t swizzled(uint32_t address, uint8_t swizzle) {
    static const uint32_t bits[] = {0, 0x10, 0x30, 0x70};
    return address ^ (address >> 3 & bits[swizzle]);
}

/* One row of the box: where it is in global memory, and which part of it exists. */
typedef struct row {
    uint64_t address;      /* of element `first` */
    uint32_t first, count; /* elements of the row that exist; count 0: none */
    uint32_t linear;       /* its place in the box, before swizzling, in bytes */
} row;

/* The k-th row; false past the last. */
static bool row_of(const hpt_emu_box *box, uint32_t number, row *out) {
    const hpt_emu_map *m = &box->map;
    uint32_t rest = number;
    uint64_t address = m->address;
    bool inside = true;
    for (int d = 1; d < m->rank; d++) {
        int64_t at = (int64_t)box->at[d] + rest % m->box[d];
        rest /= m->box[d];
        inside = inside && at >= 0 && at <= (int64_t)m->last[d];
        address += inside ? (uint64_t)at * m->stride[d - 1] : 0;
    }
    if (rest) return false;
    int64_t from = box->at[0] < 0 ? -(int64_t)box->at[0] : 0, to = (int64_t)m->last[0] + 1 - box->at[0];
    if (to > m->box[0]) to = m->box[0];
    out->linear = number * row_pitch(m);
    out->first = (uint32_t)from;
    out->count = inside && to > from ? (uint32_t)(to - from) : 0;
    out->address = out->count ? address + (uint64_t)(box->at[0] + from) * m->element_bytes : 0;
    return true;
}

static void touch(const hpt_emu_copy *copy, uint32_t offset, uint32_t bytes, const hpt_emu_who *who, bool writes) {
    if (writes)
        hpt_emu_shared_write(copy->cta, offset, bytes, who);
    else
        hpt_emu_shared_read(copy->cta, offset, bytes, who);
}

void hpt_emu_box_touch(const hpt_emu_copy *copy, const hpt_emu_who *who, bool writes) {
    const hpt_emu_box *box = &copy->box;
    uint64_t bytes = hpt_emu_box_bytes(box);
    row r;
    if (!box->map.magic || (writes && bytes == hpt_emu_box_extent(box))) {
        touch(copy, copy->offset, (uint32_t)bytes, who, writes);
        return;
    }
    uint32_t size = box->map.element_bytes;
    for (uint32_t number = 0; row_of(box, number, &r); number++) { /* a store does not need what it clips */
        uint32_t from = writes ? 0 : r.first * size, to = writes ? box->map.box[0] * size : (r.first + r.count) * size;
        if (!writes && !r.count) continue;
        if (!box->map.swizzle) {
            touch(copy, copy->offset + r.linear + from, to - from, who, writes);
            continue;
        }
        for (uint32_t b = from / 16 * 16; b < to; b += 16)
            touch(copy, swizzled(copy->offset + r.linear + b, box->map.swizzle), 16, who, writes);
    }
}

static uint8_t *resolve(const hpt_emu_copy *copy, uint64_t address, uint64_t bytes, uint8_t **state,
                        hpt_emu_allocation **owner, bool writes) {
    uint8_t *data = hpt_emu_global(copy->async.cluster->run->device, address, bytes, state, owner);
    if (data && !(writes && (*owner)->read_only)) return data;
    hpt_emu_report(
        copy->async.warp, copy->async.instruction, copy->async.lane, HPT_EMU_BOUNDS,
        "A bulk copy %s %llu bytes at 0x%llx, which %s: the tensor map's extents, strides or address are wrong.",
        writes ? "writes" : "reads", (unsigned long long)bytes, (unsigned long long)address,
        data ? "are read-only" : "are not inside one allocation");
    return NULL;
}

/* The one whose access to global memory is judged; what it knew of other clusters is what was known at the issue. */
static hpt_emu_who who_copies(const hpt_emu_copy *copy, const char *what) {
    hpt_emu_warp *w = copy->async.warp;
    return (hpt_emu_who){.warp = w,
                         .instruction = copy->async.instruction,
                         .lane = copy->async.lane,
                         .component = hpt_emu_component_written(w),
                         .time = copy->time,
                         .knows = w->clock,
                         .async = true,
                         .what = what};
}

static void check_source(const hpt_emu_copy *copy, uint64_t address, const uint8_t *state, uint64_t bytes,
                         hpt_emu_allocation *owner) {
    const hpt_emu_who who = who_copies(copy, "A bulk load");
    uint8_t all = HPT_EMU_STATE_WRITTEN;
    for (uint64_t b = 0; b < bytes; b++) all &= state[b];
    if (!all)
        hpt_emu_report(who.warp, who.instruction, who.lane, HPT_EMU_UNWRITTEN,
                       "A bulk load reads global memory at 0x%llx that nothing has written.",
                       (unsigned long long)address);
    hpt_emu_global_read(&who, copy->view, copy->grid_waited, owner, address, bytes);
}

static void to_shared(const hpt_emu_copy *copy, const row *r, uint8_t *to, const uint8_t *bytes, uint32_t count) {
    for (uint32_t b = 0; b < count; b += 16) {
        uint32_t place = swizzled(copy->offset + r->linear + b, copy->box.map.swizzle) - copy->offset;
        memcpy(to + place, bytes + b, 16);
    }
}
static void from_shared(const hpt_emu_copy *copy, const row *r, const uint8_t *from, uint8_t *bytes, uint32_t count) {
    for (uint32_t b = 0; b < count; b += 16) {
        uint32_t place = swizzled(copy->offset + r->linear + b, copy->box.map.swizzle) - copy->offset;
        memcpy(bytes + b, from + place, 16);
    }
}

void hpt_emu_box_load(const hpt_emu_copy *copy, uint8_t *to) {
    const hpt_emu_box *box = &copy->box;
    hpt_emu_allocation *owner = NULL;
    uint8_t *state;
    if (!box->map.magic) {
        uint8_t *data = resolve(copy, box->address, box->bytes, &state, &owner, false);
        if (!data) return;
        check_source(copy, box->address, state, box->bytes, owner);
        memcpy(to, data, box->bytes);
        return;
    }
    uint32_t size = box->map.element_bytes, row_bytes = box->map.box[0] * size;
    row r;
    for (uint32_t number = 0; row_of(box, number, &r); number++) {
        uint8_t line[256 * 8] = {0};
        if (r.count) {
            uint8_t *data = resolve(copy, r.address, (uint64_t)r.count * size, &state, &owner, false);
            if (!data) return;
            check_source(copy, r.address, state, (uint64_t)r.count * size, owner);
            memcpy(line + r.first * size, data, r.count * size);
        }
        to_shared(copy, &r, to, line, row_bytes);
    }
}

static uint32_t reduced_bytes(hpt_emu_element_type type) {
    static const uint8_t bytes[] = {4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[type];
}

/* A contiguous piece of global memory takes its data. */
static bool land(const hpt_emu_copy *copy, uint64_t address, const uint8_t *bytes, uint64_t count,
                 hpt_emu_allocation **owner) {
    hpt_emu_cluster *k = copy->async.cluster;
    uint8_t *state, *data = resolve(copy, address, count, &state, owner, true);
    if (!data) return false;
    if (copy->reduces) {
        uint32_t size = reduced_bytes(copy->element);
        for (uint64_t b = 0; b < count; b++)
            if (!(state[b] & HPT_EMU_STATE_WRITTEN)) {
                hpt_emu_report(copy->async.warp, copy->async.instruction, copy->async.lane, HPT_EMU_UNWRITTEN,
                               "A bulk reduction adds to global memory at 0x%llx that nothing has written.",
                               (unsigned long long)(address + b));
                break;
            }
        for (uint64_t b = 0; b < count; b += size)
            hpt_emu_reduce_element(data + b, bytes + b, copy->operation, copy->element);
        k->counters.bulk_reduction_bytes += count;
    } else {
        memcpy(data, bytes, count);
        k->counters.bulk_store_bytes += count;
    }
    const hpt_emu_who who = who_copies(copy, copy->reduces ? "A bulk reduction" : "A bulk store");
    hpt_emu_global_write(&who, copy->view, *owner, address, count, copy->reduces);
    hpt_emu_landed(*owner, address, count);
    return true;
}

void hpt_emu_box_store(const hpt_emu_copy *copy) {
    const hpt_emu_box *box = &copy->box;
    hpt_emu_counters *counters = &copy->async.cluster->counters;
    hpt_emu_allocation *owner = NULL;
    if (copy->reduces)
        counters->bulk_reductions++;
    else
        counters->bulk_stores++;
    if (!box->map.magic) {
        land(copy, box->address, copy->staged, box->bytes, &owner);
        return;
    }
    uint32_t size = box->map.element_bytes, row_bytes = box->map.box[0] * size;
    row r;
    for (uint32_t number = 0; row_of(box, number, &r); number++) {
        uint8_t line[256 * 8];
        if (!r.count) continue;
        from_shared(copy, &r, copy->staged, line, row_bytes);
        if (!land(copy, r.address, line + r.first * size, (uint64_t)r.count * size, &owner)) return;
    }
}

bool hpt_emu_boxes_overlap(const hpt_emu_box *a, const hpt_emu_box *b) {
    if (a->map.magic != b->map.magic) return false;
    if (!a->map.magic) return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
    if (a->map.address != b->map.address || a->map.rank != b->map.rank ||
        a->map.element_bytes != b->map.element_bytes || memcmp(a->map.stride, b->map.stride, sizeof a->map.stride) != 0)
        return false;
    for (int d = 0; d < a->map.rank; d++)
        if ((int64_t)a->at[d] + a->map.box[d] <= b->at[d] || (int64_t)b->at[d] + b->map.box[d] <= a->at[d])
            return false;
    return true;
}
