/* clock.c - vector clocks: what a warp knows of the others through barriers. */
#include "machine.h"

void hpt_emu_clock_join(hpt_emu_cluster *cluster, hpt_emu_time *into, const hpt_emu_time *from) {
    into[0] = hpt_emu_view_join(cluster, into[0], from[0]);
    for (uint32_t k = 1; k < cluster->clock_size; k++) into[k] = into[k] > from[k] ? into[k] : from[k];
}

void hpt_emu_clock_release(hpt_emu_warp *w, hpt_emu_time *into) {
    hpt_emu_clock_join(w->cta->cluster, into, w->clock);
    w->clock[hpt_emu_component_warp(w)]++;
}

void hpt_emu_clock_acquire(hpt_emu_warp *w, const hpt_emu_time *from) {
    hpt_emu_clock_join(w->cta->cluster, w->clock, from);
}
