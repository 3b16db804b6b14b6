/* memory.c - addresses to host memory: windows, bounds, alignment, and the checks of every access; loads and stores. */
#include "device.h"
#include "lanes.h"

uint64_t hpt_emu_get(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane) {
    const uint8_t *at = hpt_emu_at(w, op);
    switch (op->bytes) {
    case 0:
        return hpt_emu_predicate(w, op) >> lane & 1;
    case 1:
        return at[lane];
    case 2:
        return ((const u16 *)at)[lane];
    case 4:
        return ((const u32 *)at)[lane];
    default:
        return ((const u64 *)at)[op->bytes == 16 ? 2 * lane : lane];
    }
}

void hpt_emu_set(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane, uint64_t bits) {
    uint8_t *at = hpt_emu_at(w, op);
    switch (op->bytes) {
    case 0:
        hpt_emu_set_predicate(w, op, bits & 1 ? ~0u : 0, 1u << lane);
        return;
    case 1:
        at[lane] = (u8)bits;
        return;
    case 2:
        ((u16 *)at)[lane] = (u16)bits;
        return;
    case 4:
        ((u32 *)at)[lane] = (u32)bits;
        return;
    default:
        ((u64 *)at)[op->bytes == 16 ? 2 * lane : lane] = bits;
        return;
    }
}

uint64_t hpt_emu_address(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane) {
    uint64_t base = hpt_emu_get(w, op, lane) + (uint64_t)op->offset;
    return op->bytes == 4 ? (u32)base : base;
}

uint64_t hpt_emu_uniform(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_operand *op, uint32_t mask) {
    uint32_t first = hpt_emu_first(mask);
    uint64_t value = hpt_emu_get(w, op, first);
    HPT_FOR_LANES(lane, mask) {
        if (hpt_emu_get(w, op, lane) == value) continue;
        hpt_emu_report(w, i, lane, HPT_EMU_CONVERGENCE,
                       "The lanes of the warp give different values to an operand that must be the same for all.");
        break;
    }
    return value;
}

uint8_t *hpt_emu_global(hpt_emu_device *device, uint64_t address, uint64_t bytes, uint8_t **state,
                        hpt_emu_allocation **owner) {
    hpt_emu_allocation *a = owner ? *owner : NULL;
    if (!a || address < a->address || address - a->address >= a->bytes) {
        size_t low = 0, high = device->count; /* the last one that begins at or before the address */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (device->allocations[middle]->address <= address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0) return NULL;
        a = device->allocations[low - 1];
    }
    uint64_t offset = address - a->address;
    if (offset > a->bytes || bytes > a->bytes - offset) return NULL;
    if (owner) *owner = a;
    if (state) *state = a->state + offset;
    return a->data + offset;
}

hpt_emu_cta *hpt_emu_shared_cta(hpt_emu_cta *from, uint64_t address, uint32_t *offset) {
    if (address >= HPT_EMU_SHARED_WINDOW) address -= HPT_EMU_SHARED_WINDOW;
    uint64_t rank = address >> 24;
    if (rank >= from->cluster->size) return NULL;
    *offset = (uint32_t)address & 0xffffff;
    return &from->cluster->ctas[rank];
}

void hpt_emu_landed(hpt_emu_allocation *owner, uint64_t address, uint64_t bytes) {
    uint64_t at = address - owner->address, end = at + bytes;
    while (at < end) {
        uint64_t next = (at / HPT_EMU_LINE + 1) * HPT_EMU_LINE;
        if (next > end) next = end;
        __atomic_fetch_add(&owner->landed[at / HPT_EMU_LINE], next - at, __ATOMIC_RELAXED);
        at = next;
    }
}

static const char *action(hpt_emu_access how) {
    return how & HPT_EMU_WRITE ? how & HPT_EMU_READ ? "An atomic" : "A store" : "A load";
}

static uint8_t *global_lane(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t address,
                            uint32_t bytes, hpt_emu_access how) {
    hpt_emu_cluster *k = w->cta->cluster;
    uint8_t *state, *data = hpt_emu_global(k->run->device, address, bytes, &state, &k->recent);
    if (!data || (how & HPT_EMU_WRITE && k->recent->read_only)) {
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS, "%s of %u bytes at 0x%llx is %s.", action(how), bytes,
                       (unsigned long long)address,
                       data ? "a write to constant memory" : "outside of every allocation");
        return NULL;
    }
    hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
    who.what = action(how);
    if (how & HPT_EMU_SYNCHRONIZING) who.knows = NULL;
    if (how & HPT_EMU_READ) {
        k->counters.load_bytes += bytes;
        hpt_emu_global_read(&who, w->clock[0], hpt_emu_grid_waited(w), k->recent, address, bytes);
        for (uint32_t b = 0; b < bytes; b++) {
            if (state[b] & HPT_EMU_STATE_WRITTEN) continue;
            hpt_emu_report(w, i, lane, HPT_EMU_UNWRITTEN, "%s reads global memory at 0x%llx that nothing has written.",
                           action(how), (unsigned long long)address + b);
            break;
        }
    }
    if (how & HPT_EMU_WRITE) {
        hpt_emu_global_write(&who, w->clock[0], k->recent, address, bytes, how & HPT_EMU_READ);
        k->counters.store_bytes += bytes;
        hpt_emu_landed(k->recent, address, bytes);
        w->progress++;
    }
    return data;
}

static uint8_t *shared_lane(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, bool own, uint64_t address,
                            uint32_t bytes, hpt_emu_access how) {
    uint32_t offset;
    hpt_emu_cta *cta = hpt_emu_shared_cta(w->cta, address, &offset);
    if (!cta || offset < HPT_EMU_RESERVED_SHARED || offset + bytes > cta->shared_bytes) {
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS,
                       "%s of %u bytes at shared address 0x%llx is outside of the CTA's %u bytes.", action(how), bytes,
                       (unsigned long long)address, w->cta->shared_bytes - HPT_EMU_RESERVED_SHARED);
        return NULL;
    }
    if (own && cta != w->cta) {
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS,
                       "A shared::cta access uses an address of another CTA of the cluster.");
        return NULL;
    }
    if (cta->warps_done == cta->warp_count && cta != w->cta)
        hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS, "%s goes to the shared memory of a CTA that has exited.",
                       action(how));
    if (how & HPT_EMU_WRITE && hpt_emu_mbarrier_find(cta, offset & ~7u))
        hpt_emu_report(w, i, lane, HPT_EMU_PHASE, "%s overwrites a live mbarrier at 0x%x.", action(how), offset & ~7u);
    hpt_emu_who who = hpt_emu_generic_who(w, i, lane);
    who.what = action(how);
    if (how & HPT_EMU_SYNCHRONIZING) who.knows = NULL;
    if (how & HPT_EMU_READ) hpt_emu_shared_read(cta, offset, bytes, &who);
    if (how & HPT_EMU_WRITE) {
        hpt_emu_shared_write(cta, offset, bytes, &who);
        w->progress++;
    }
    return cta->shared + offset;
}

uint8_t *hpt_emu_access_lane(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, hpt_ptx_space space,
                             uint64_t address, uint32_t bytes, hpt_emu_access how) {
    const hpt_emu_run *run = w->cta->cluster->run;
    bool own = space == HPT_PTX_SHARED;
    if (address & (bytes - 1)) {
        hpt_emu_report(w, i, lane, HPT_EMU_ALIGNMENT, "%s of %u bytes at 0x%llx is not aligned to its size.",
                       action(how), bytes, (unsigned long long)address);
        return NULL;
    }
    if (space == HPT_PTX_GENERIC) {
        if (address - HPT_EMU_SHARED_WINDOW < HPT_EMU_WINDOW_BYTES)
            return shared_lane(w, i, lane, false, address, bytes, how);
        if (address - HPT_EMU_LOCAL_WINDOW < HPT_EMU_WINDOW_BYTES) {
            space = HPT_PTX_LOCAL;
            address -= HPT_EMU_LOCAL_WINDOW;
        } else if (address - HPT_EMU_PARAM_WINDOW < HPT_EMU_WINDOW_BYTES) {
            space = HPT_PTX_PARAM;
            address -= HPT_EMU_PARAM_WINDOW;
        }
    }
    uint64_t size = space == HPT_PTX_LOCAL ? run->program->function->local_bytes : run->program->function->param_bytes;
    switch (space) {
    case HPT_PTX_SHARED:
        return shared_lane(w, i, lane, own, address, bytes, how);
    case HPT_PTX_LOCAL:
    case HPT_PTX_PARAM:
        if (address > size || bytes > size - address || (space == HPT_PTX_PARAM && how & HPT_EMU_WRITE)) {
            hpt_emu_report(w, i, lane, HPT_EMU_BOUNDS,
                           "%s of %u bytes at %s address 0x%llx is outside of its %llu bytes.", action(how), bytes,
                           space == HPT_PTX_LOCAL ? "local" : "parameter", (unsigned long long)address,
                           (unsigned long long)size);
            return NULL;
        }
        if (space == HPT_PTX_LOCAL) return w->local + size * lane + address;
        return (uint8_t *)(uintptr_t)run->params + address;
    default:
        return global_lane(w, i, lane, address, bytes, how);
    }
}

const uint8_t *hpt_emu_map_bytes(hpt_emu_warp *w, const hpt_emu_instruction *i, uint64_t address) {
    const hpt_emu_run *run = w->cta->cluster->run;
    if (address & 63) {
        hpt_emu_report(w, i, 0, HPT_EMU_ALIGNMENT, "A tensor map at 0x%llx is not aligned to 64 bytes.",
                       (unsigned long long)address);
        return NULL;
    }
    uint64_t offset = address - HPT_EMU_PARAM_WINDOW, size = run->program->function->param_bytes;
    if (offset < HPT_EMU_WINDOW_BYTES && offset <= size && 128 <= size - offset) return run->params + offset;
    uint8_t *data = hpt_emu_global(run->device, address, 128, NULL, NULL);
    if (!data)
        hpt_emu_report(w, i, 0, HPT_EMU_BOUNDS,
                       "There is no tensor map at 0x%llx: it must be a kernel parameter (with its generic "
                       "address) or in constant or global memory.",
                       (unsigned long long)address);
    return data;
}

/* ---- loads and stores ---- */
typedef struct access {
    hpt_ptx_space space;
    bool shared_cluster, is_signed, synchronizing;
    bool ordering, wide; /* releases or acquires; its scope reaches other clusters */
    uint8_t bytes, count;
} access;

static const uint8_t type_bytes[] = {1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 4, 8, 16, 2, 2};
#define TYPES "{.b8|.u8|.s8|.b16|.u16|.s16|.b32|.u32|.s32|.b64|.u64|.s64|.f32|.f64|.b128|.f16|.bf16}"
#define SPACES "[.const|.global|.local|.param|.param::entry|.shared|.shared::cta|.shared::cluster]"
#define HINTS                                                                                                          \
    "[.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate]"                       \
    "[.L2::cache_hint|.L2::evict_last|.L2::evict_normal|.L2::evict_first][.L2::64B|.L2::128B|.L2::256B]"

static const hpt_ptx_space spaces[] = {HPT_PTX_GLOBAL, HPT_PTX_GLOBAL, HPT_PTX_LOCAL,  HPT_PTX_PARAM,
                                       HPT_PTX_PARAM,  HPT_PTX_SHARED, HPT_PTX_SHARED, HPT_PTX_SHARED};

/* groups: order, scope, space, cache, nc, L1, L2, prefetch, vector, type */
static bool decode_access(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    static const uint8_t counts[] = {2, 4, 8};
    const int8_t *m = i->modifier;
    bool loads = i->source->opcode[0] == 'l';
    access *a = hpt_arena_alloc(hpt_emu_decoder_arena(d), 1, sizeof *a);
    if (!a) return hpt_emu_refuse(d, "Out of memory.");
    const hpt_emu_operand *values = &i->op[loads ? 0 : 1], *address = &i->op[loads ? 1 : 0];
    a->space = m[2] < 0 ? HPT_PTX_GENERIC : spaces[m[2]];
    if (m[2] < 0 && address->constant && address->space) a->space = (hpt_ptx_space)address->space;
    if (address->constant && address->space == HPT_PTX_LOCAL) a->space = HPT_PTX_LOCAL; /* arguments of a call */
    a->shared_cluster = m[2] == 7;
    a->synchronizing = m[0] > 0;
    a->ordering = m[0] == 3;
    a->wide = m[0] == 1 || (m[0] > 1 && m[1] != 0 && m[1] != 1); /* not .cta or .cluster; .volatile is .sys */
    a->is_signed = m[9] < 12 && m[9] % 3 == 2;
    a->bytes = type_bytes[m[9]];
    a->count = m[8] < 0 ? 1 : counts[m[8]];
    if (a->count != values->count) return hpt_emu_refuse(d, "%s: the vector has the wrong length.", i->source->opcode);
    if (a->bytes * a->count > 32) return hpt_emu_refuse(d, "%s: more than 32 bytes.", i->source->opcode);
    for (uint32_t k = 0; k < a->count; k++)
        if (values->items[k].bytes < a->bytes && !values->items[k].sink)
            return hpt_emu_refuse(d, "%s: a register is narrower than the type.", i->source->opcode);
    i->data = a;
    return true;
}

/* Passes beyond the first that the banks need; 8- and 16-byte accesses go in halves and quarters of the warp. */
static void count_conflicts(hpt_emu_warp *w, const uint32_t *word, uint32_t mask, uint32_t bytes) {
    uint32_t group = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32, words = bytes < 4 ? 1 : bytes / 4;
    for (uint32_t first = 0; first < HPT_LANES; first += group) {
        uint32_t used[HPT_LANES] = {0}, seen[HPT_LANES], worst = 1;
        for (uint32_t lane = first; lane < first + group; lane++)
            for (uint32_t k = 0; k < words && mask >> lane & 1; k++) {
                uint32_t at = word[lane] + k, bank = at % HPT_LANES;
                if (used[bank] && seen[bank] == at) continue; /* a broadcast */
                seen[bank] = at;
                if (++used[bank] > worst) worst = used[bank];
            }
        w->cta->cluster->counters.bank_conflicts += worst - 1;
    }
}

static hpt_emu_step run_access(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    const access *a = i->data;
    bool loads = i->source->opcode[0] == 'l';
    const hpt_emu_operand *values = &i->op[loads ? 0 : 1], *address = &i->op[loads ? 1 : 0];
    uint32_t bytes = a->bytes, total = bytes * a->count, shared_mask = 0, word[HPT_LANES] = {0};
    hpt_ptx_space space = a->shared_cluster ? HPT_PTX_GENERIC : a->space;
    hpt_emu_access how = (loads ? HPT_EMU_READ : HPT_EMU_WRITE) | (a->synchronizing ? HPT_EMU_SYNCHRONIZING : 0);
    HPT_FOR_LANES(lane, mask) {
        uint64_t at = hpt_emu_address(w, address, lane);
        if (a->shared_cluster) at += HPT_EMU_SHARED_WINDOW;
        if (a->wide && !loads) hpt_emu_handover_write(w, at, a->ordering, false);
        uint8_t *data = hpt_emu_access_lane(w, i, lane, space, at, total, how);
        if (a->wide && loads) hpt_emu_handover_read(w, at, a->ordering);
        if (a->space == HPT_PTX_SHARED ||
            (space == HPT_PTX_GENERIC && at - HPT_EMU_SHARED_WINDOW < HPT_EMU_WINDOW_BYTES)) {
            shared_mask |= 1u << lane;
            word[lane] = ((uint32_t)at & 0xffffff) / 4;
        }
        for (uint32_t k = 0; k < a->count; k++) {
            const hpt_emu_operand *v = &values->items[k];
            uint8_t *register_at = (uint8_t *)hpt_emu_at(w, v) + v->bytes * lane;
            uint64_t bits = 0;
            if (!loads) {
                if (data) memcpy(data + bytes * k, register_at, bytes);
                continue;
            }
            if (bytes == 16) {
                if (data && !v->sink) memcpy(register_at, data, 16);
                continue;
            }
            if (data) memcpy(&bits, data + bytes * k, bytes);
            if (a->is_signed && bytes < 8 && bits >> (8 * bytes - 1) & 1) bits |= ~(u64)0 << 8 * bytes;
            hpt_emu_set(w, v, lane, bits);
        }
    }
    if (shared_mask) count_conflicts(w, word, shared_mask, total);
    return HPT_EMU_NEXT;
}

const hpt_emu_row hpt_emu_rows_memory[] = {
    {"ld[.weak|.volatile|.relaxed|.acquire|.mmio][.cta|.cluster|.gpu|.sys]" SPACES "[.ca|.cg|.cs|.lu|.cv][.nc]" HINTS
     "[.v2|.v4|.v8]" TYPES,
     "dvx,m,?s8", run_access, 0, decode_access},
    {"st[.weak|.volatile|.relaxed|.release|.mmio][.cta|.cluster|.gpu|.sys]" SPACES "[.wb|.cg|.cs|.wt][.nc]" HINTS
     "[.v2|.v4|.v8]" TYPES,
     "m,svx,?s8", run_access, 0, decode_access},
    HPT_EMU_LAST_ROW,
};
