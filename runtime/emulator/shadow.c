/* shadow.c - what is known of every 16 bytes of shared memory: which bytes hold data, who wrote them last, who read
 * them since. An access must come after the earlier ones that it conflicts with: its clock has to know of them. The
 * writes of a TMA load are known through its mbarrier, the reads of wgmma and of bulk stores through their waits; that
 * is how a missing wait shows whatever the schedule was. Data that one side touched through the generic and the other
 * through the asynchronous proxy also needs fence.proxy.async between. */
#include "machine.h"
#include <string.h>

static bool knows(const hpt_emu_who *who, uint16_t component, hpt_emu_time time) {
    return component == 0 || component == who->component || !who->knows || who->knows[component] >= time;
}

static const char *component_name(const hpt_emu_cta *cta, uint16_t component, char *text, size_t size) {
    uint32_t warps = cta->cluster->warp_total;
    if (component > HPT_EMU_ENGINES * warps) { /* those of griddepcontrol access nothing */
        snprintf(text, size, "a bulk copy that completes on an mbarrier");
    } else {
        static const char *const kinds[] = {"warp",
                                            "wgmma of warp",
                                            "bulk store of warp",
                                            "tcgen05.mma of warp",
                                            "tcgen05.ld of warp",
                                            "tcgen05.st of warp",
                                            "bulk store of warp"};
        uint32_t number = (component - 1u) / HPT_EMU_ENGINES, per = cta->cluster->warps_per_cta;
        snprintf(text, size, "%s %u of CTA %u of the cluster", kinds[(component - 1) % HPT_EMU_ENGINES], number % per,
                 number / per);
    }
    return text;
}

static void report_race(hpt_emu_cta *cta, const hpt_emu_who *who, uint32_t offset, uint16_t component, bool other_reads,
                        bool reads) {
    char name[96];
    bool copy = component > HPT_EMU_ENGINES * cta->cluster->warp_total;
    hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_RACE,
                   "%s %s shared memory at 0x%x that %s has %s, without having waited for that%s.", who->what,
                   reads ? "reads" : "overwrites", offset, component_name(cta, component, name, sizeof name),
                   other_reads ? "read" : "written",
                   copy ? " (the wait for its mbarrier phase is missing or has the wrong parity)" : "");
}

/* A generic write must be fenced, by its writer or by the reader, before the asynchronous proxy looks at it. */
static bool fenced(hpt_emu_cta *cta, const hpt_emu_granule *g, const hpt_emu_who *who) {
    const hpt_emu_cluster *k = cta->cluster;
    uint32_t number = g->write_warp - 1u;
    const hpt_emu_warp *writer = &k->ctas[number / k->warps_per_cta].warps[number % k->warps_per_cta];
    if (who->warp && who->warp->fence_tick[who->lane] > g->write_tick) return true;
    return writer->fence_tick[g->write_lane] > g->write_tick;
}

static void note_reader(hpt_emu_granule *g, const hpt_emu_who *who, uint16_t mask) {
    int slot = -1;
    for (int k = 0; k < HPT_EMU_READERS; k++)
        if (g->reader[k] == who->component) slot = k;
    for (int k = 0; k < HPT_EMU_READERS && slot < 0; k++)
        if (g->reader[k] == 0) slot = k;
    if (slot < 0) slot = (int)(who->component % HPT_EMU_READERS);
    g->read_mask[slot] = g->reader[slot] == who->component ? g->read_mask[slot] | mask : mask;
    g->reader[slot] = who->component;
    g->read_time[slot] = who->time;
}

static uint16_t bytes_mask(uint32_t from, uint32_t to) { return (uint16_t)(((1u << (to - from)) - 1) << from); }

/* calls `visit` with every granule of a range and the mask of its bytes */
#define FOR_GRANULES(cta, offset, bytes)                                                                               \
    for (uint32_t at = (offset), end = (offset) + (bytes), next, mask; at < end; at = next)                            \
        if (next = (at / 16 + 1) * 16, mask = bytes_mask(at % 16, (next < end ? next : end) - at / 16 * 16), true)

void hpt_emu_shared_read(hpt_emu_cta *cta, uint32_t offset, uint32_t bytes, const hpt_emu_who *who) {
    bool raced = false, unwritten = false, unfenced = false;
    FOR_GRANULES(cta, offset, bytes) {
        hpt_emu_granule *g = &cta->granules[at / 16];
        if ((g->written & mask) != mask && !unwritten) {
            unwritten = true;
            hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_UNWRITTEN,
                           "%s reads shared memory at 0x%x that nothing has written.", who->what,
                           at + (uint32_t)__builtin_ctz((uint32_t)(mask & ~g->written) >> at % 16));
        }
        if ((g->write_mask & mask) && !raced && !knows(who, g->writer, g->write_time)) {
            raced = true;
            report_race(cta, who, at, g->writer, false, true);
        }
        if (who->async && g->write_warp && (g->write_mask & mask) && !unfenced && !fenced(cta, g, who)) {
            unfenced = true;
            hpt_emu_report(who->warp, who->instruction, who->lane, HPT_EMU_PROXY,
                           "%s reads shared memory at 0x%x that warp %u has written with ordinary stores; "
                           "fence.proxy.async is missing between.",
                           who->what, at, (g->write_warp - 1u) % cta->cluster->warps_per_cta);
        }
        note_reader(g, who, (uint16_t)mask);
    }
}

void hpt_emu_shared_write(hpt_emu_cta *cta, uint32_t offset, uint32_t bytes, const hpt_emu_who *who) {
    bool raced = false;
    uint32_t tick = ++cta->cluster->tick;
    FOR_GRANULES(cta, offset, bytes) {
        hpt_emu_granule *g = &cta->granules[at / 16];
        if ((g->write_mask & mask) && !raced && !knows(who, g->writer, g->write_time)) {
            raced = true;
            report_race(cta, who, at, g->writer, false, false);
        }
        for (int k = 0; k < HPT_EMU_READERS; k++) {
            if (!(g->read_mask[k] & mask) || raced || knows(who, g->reader[k], g->read_time[k])) continue;
            raced = true;
            report_race(cta, who, at, g->reader[k], true, false);
        }
        for (int k = 0; k < HPT_EMU_READERS; k++) {
            g->read_mask[k] &= (uint16_t)~mask;
            if (!g->read_mask[k]) g->reader[k] = 0;
        }
        bool same = g->writer == who->component && g->write_time == who->time;
        g->write_mask = same ? g->write_mask | (uint16_t)mask : (uint16_t)mask;
        g->written |= (uint16_t)mask;
        g->writer = who->component;
        g->write_time = who->time;
        g->write_tick = tick;
        g->write_warp = who->async ? 0 : (uint16_t)(who->warp->number + 1);
        g->write_lane = (uint8_t)who->lane;
        g->swizzle = who->swizzle;
    }
}

hpt_emu_who hpt_emu_generic_who(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane) {
    uint16_t component = hpt_emu_component_warp(w);
    return (hpt_emu_who){.warp = w,
                         .instruction = i,
                         .lane = lane,
                         .component = component,
                         .time = w->clock[component],
                         .knows = w->clock,
                         .what = "An access"};
}
