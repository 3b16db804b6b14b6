/* global_shadow.c - what is known of global memory: which launch wrote it, and in this launch, who did. Judged are
 *   - reads of what an earlier launch wrote that may still run (programmatic dependent launch), and of what this launch
 *     wrote without the reader's knowing of it (clocks inside of the cluster, handover.c between clusters);
 *   - bulk reductions onto a store, and bulk stores onto anything, of another cluster that they do not know of;
 *   - bulk loads of ordinary stores without fence.proxy.async on either side.
 * Not judged: a write after a read, ordinary stores over each other, and of bytes that several wrote, all but the last.
 */
#include "device.h"
#include "handover.h"
#include <stdlib.h>
#include <string.h>

void hpt_emu_launch_begins(hpt_emu_device *device, bool overlap) {
    uint64_t running = 0, waited = 0;
    if (overlap && !device->drained && device->launches) {
        /* the last launch ends after those that some thread of it has waited for; this one starts when all CTAs of the
         * last one have let it, so after what one of them had waited for by then */
        waited = device->waited ? device->running_waited : device->running;
        running = device->settled ? device->running_waited : device->running;
        if (device->triggered) running |= hpt_emu_launch_bit(device->launches); /* else it had ended by then */
    }
    hpt_emu_next_launch(device);
    device->running = running & ~hpt_emu_launch_bit(device->launches);
    device->running_waited = waited & ~hpt_emu_launch_bit(device->launches);
    device->drained = false;
}

void hpt_emu_global_fence(hpt_emu_warp *w) {
    hpt_emu_cluster *k = w->cta->cluster;
    hpt_emu_handovers *h = k->run->handovers;
    k->run->device->proxy_fenced = true;
    if (!h) return;
    if (!h->fences) h->fences = calloc(k->run->cluster_count * k->warp_total, sizeof *h->fences);
    if (h->fences)
        h->fences[k->linear * k->warp_total + w->number] = ++h->tick;
    else
        k->out_of_memory = true;
}

static bool known(const hpt_emu_who *who, uint32_t view, const hpt_emu_writer *by) {
    const hpt_emu_cluster *k = who->warp->cta->cluster;
    if (by->cluster == k->linear) return who->knows[by->component] >= by->time;
    return hpt_emu_view_knows(k->run, view, by->cluster, by->component, by->time);
}

static uint32_t warp_of(const hpt_emu_writer *by) { return (by->component - 1u) / HPT_EMU_ENGINES; }
static bool is_ordinary(const hpt_emu_writer *by) { return (by->component - 1u) % HPT_EMU_ENGINES == 0; }

static bool fenced(const hpt_emu_who *who, const hpt_emu_writer *by) {
    const hpt_emu_cluster *k = who->warp->cta->cluster;
    const uint32_t *fences = k->run->handovers->fences;
    return fences && (fences[(uint64_t)by->cluster * k->warp_total + warp_of(by)] > by->tick ||
                      fences[k->linear * k->warp_total + who->warp->number] > by->tick);
}

static void report(const hpt_emu_who *who, hpt_emu_fault fault, uint64_t address, const hpt_emu_writer *by,
                   const char *does, const char *missing) {
    const uint32_t per = who->warp->cta->cluster->warps_per_cta;
    hpt_emu_report(
        who->warp, who->instruction, who->lane, fault,
        "%s %s global memory at 0x%llx that %s warp %u of CTA %u of cluster %u has written in this launch%s.",
        who->what, does, (unsigned long long)address, is_ordinary(by) ? "an ordinary store of" : "a bulk copy of",
        warp_of(by) % per, warp_of(by) / per, by->cluster, missing);
}
static const char unknown[] =
    ", without having waited for that (a release behind the write, an acquire before this, or the "
    "wait for its own bulk group is missing)";
static const char unfenced[] = "; fence.proxy.async is missing between";

/* Bytes of the granule at `at` that are in [at, end) and that this launch's recorded writer wrote. */
static uint16_t recorded(const hpt_emu_run *run, const hpt_emu_allocation *owner, uint64_t at, uint64_t end) {
    const uint8_t tag = hpt_emu_launch_tag(run->device->launches);
    const uint64_t first = at / 16 * 16;
    const uint16_t mask = owner->writers[at / 16].mask;
    uint16_t bytes = 0;
    for (uint64_t b = at; b < end && b < first + 16; b++)
        if ((owner->state[b] & 0xfc) == tag && mask >> (b - first) & 1) bytes |= (uint16_t)(1u << (b - first));
    return bytes;
}

static void check_writers(const hpt_emu_who *who, uint32_t view, const hpt_emu_allocation *owner, uint64_t from,
                          uint64_t to) {
    const hpt_emu_run *run = who->warp->cta->cluster->run;
    bool raced = false, open = false;
    for (uint64_t at = from; at < to; at = (at / 16 + 1) * 16) {
        const hpt_emu_writer *by = &owner->writers[at / 16];
        if (!recorded(run, owner, at, to)) continue;
        if (!raced && !known(who, view, by)) {
            raced = true;
            report(who, HPT_EMU_RACE, owner->address + at, by, "reads", unknown);
        }
        if (!open && who->async && is_ordinary(by) && !fenced(who, by)) {
            open = true;
            report(who, HPT_EMU_PROXY, owner->address + at, by, "reads", unfenced);
        }
    }
}

void hpt_emu_global_read(const hpt_emu_who *who, uint32_t view, bool grid_waited, const hpt_emu_allocation *owner,
                         uint64_t address, uint64_t bytes) {
    const hpt_emu_run *run = who->warp->cta->cluster->run;
    const uint64_t from = address - owner->address,
                   running = grid_waited ? run->device->running_waited : run->device->running;
    const uint8_t tag = hpt_emu_launch_tag(run->device->launches);
    bool fresh = false, ordinary = false, early = false;
    for (uint64_t b = from; b < from + bytes; b++) {
        const uint8_t by = owner->state[b] & 0xfc;
        if (by == tag) {
            fresh = true;
            ordinary |= !(owner->state[b] & HPT_EMU_STATE_ASYNC);
        } else if (by && running >> ((by >> 2) - 1) & 1) {
            early = true;
        }
    }
    if (early)
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_RACE,
                       grid_waited
                           ? "%s reads global memory at 0x%llx that a launch before the last one writes: the last one "
                             "did not wait for that with griddepcontrol.wait."
                           : "%s reads global memory at 0x%llx that a launch before this one writes, which may still "
                             "run, before griddepcontrol.wait.",
                       who->what, (unsigned long long)address);
    if (!fresh || !who->knows) return;
    if (run->handovers && owner->writers)
        check_writers(who, view, owner, from, from + bytes);
    else if (!run->handovers && who->async && ordinary && !run->device->proxy_fenced)
        hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PROXY,
                       "%s reads global memory at 0x%llx that this launch has written with ordinary stores%s.",
                       who->what, (unsigned long long)address, unfenced);
}

/* Bulk writes over those of another cluster: additions in any order, everything else one behind the other. */
static void check_order(const hpt_emu_who *who, uint32_t view, const hpt_emu_allocation *owner, uint64_t from,
                        uint64_t to, bool adds) {
    const hpt_emu_cluster *k = who->warp->cta->cluster;
    for (uint64_t at = from; at < to; at = (at / 16 + 1) * 16) {
        const hpt_emu_writer *by = &owner->writers[at / 16];
        if (by->cluster == k->linear || (adds && by->adds) || !recorded(k->run, owner, at, to)) continue;
        if (known(who, view, by)) continue;
        report(who, adds ? HPT_EMU_RACE : HPT_EMU_ORDER, owner->address + at, by, adds ? "adds to" : "overwrites",
               unknown);
        return;
    }
}

static void remember(const hpt_emu_who *who, hpt_emu_allocation *owner, uint64_t from, uint64_t to, bool adds) {
    const hpt_emu_cluster *k = who->warp->cta->cluster;
    const uint32_t tick = ++k->run->handovers->tick;
    for (uint64_t at = from; at < to; at = (at / 16 + 1) * 16) {
        hpt_emu_writer *by = &owner->writers[at / 16];
        const uint64_t first = at / 16 * 16, end = to < first + 16 ? to : first + 16;
        const uint16_t mask = (uint16_t)(((1u << (end - at)) - 1) << (at - first));
        const bool same = by->cluster == k->linear && by->component == who->component && by->time == who->time;
        if (!who->knows) { /* strong accesses are never part of a race */
            by->mask &= (uint16_t)~mask;
            continue;
        }
        *by = (hpt_emu_writer){.cluster = (uint32_t)k->linear,
                               .tick = tick,
                               .time = who->time,
                               .component = who->component,
                               .mask = same ? by->mask | mask : mask,
                               .adds = who->async && adds};
    }
}

void hpt_emu_global_write(const hpt_emu_who *who, uint32_t view, hpt_emu_allocation *owner, uint64_t address,
                          uint64_t bytes, bool adds) {
    const hpt_emu_run *run = who->warp->cta->cluster->run;
    const uint64_t from = address - owner->address;
    if (run->handovers) {
        if (!owner->writers) owner->writers = calloc(owner->bytes / 16 + 1, sizeof *owner->writers);
        if (owner->writers) {
            if (who->async) check_order(who, view, owner, from, from + bytes, adds);
            remember(who, owner, from, from + bytes, adds);
        } else {
            who->warp->cta->cluster->out_of_memory = true;
        }
    }
    memset(owner->state + from,
           HPT_EMU_STATE_WRITTEN | (who->async ? HPT_EMU_STATE_ASYNC : 0) | hpt_emu_launch_tag(run->device->launches),
           bytes);
}
