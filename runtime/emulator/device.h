/* device.h - the emulated device: its memory and what is remembered between launches. */
#ifndef HPT_EMULATOR_DEVICE_H
#define HPT_EMULATOR_DEVICE_H

#include "machine.h"
#include <pthread.h>

enum { HPT_EMU_LINE = 128 }; /* landed bytes are counted by lines of so many bytes */

/* State of a byte of global memory: bit 0: it holds data; bit 1: a bulk copy wrote it; the others: the tag of the
 * launch that wrote it last, 0 for none. */
enum { HPT_EMU_STATE_WRITTEN = 1, HPT_EMU_STATE_TAGS = 62, HPT_EMU_STATE_ASYNC = 2 };

struct hpt_emu_allocation {
    hpt_device_ptr address;
    size_t bytes;
    uint8_t *data, *state;
    uint64_t *landed; /* per line */
    bool read_only;
};

struct hpt_backend_device {
    char target[16];
    hpt_emu_options options;
    hpt_emu_allocation **allocations; /* by address */
    size_t count, capacity;
    hpt_device_ptr next;
    hpt_emu_counters counters;
    hpt_emu_finding *findings;
    size_t finding_count;
    pthread_mutex_t lock; /* findings, while a launch runs */
    uint64_t launches;
    bool proxy_fenced; /* some thread of this launch executed fence.proxy.async */
};

static inline uint8_t hpt_emu_launch_tag(uint64_t launch) { return (uint8_t)((launch % HPT_EMU_STATE_TAGS + 1) << 2); }
/* Begins a launch: its number, and no byte of memory with its tag from a launch long ago. */
void hpt_emu_next_launch(hpt_emu_device *device);
/* The byte comes from the launch before this one, which may still run: nothing of it is visible before
 * griddepcontrol.wait. */
static inline bool hpt_emu_too_early(const hpt_emu_run *run, bool waited, uint8_t state) {
    return run->overlap && !waited && (state & 0xfc) == hpt_emu_launch_tag(run->device->launches - 1);
}

hpt_status hpt_emu_alloc(hpt_emu_device *device, hpt_emu_allocation **out, size_t bytes, hpt_error *error);
void hpt_emu_free(hpt_emu_device *device, hpt_device_ptr address);

#endif
