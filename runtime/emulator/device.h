/* device.h - the emulated device: its memory and what is remembered between launches. */
#ifndef HPT_EMULATOR_DEVICE_H
#define HPT_EMULATOR_DEVICE_H

#include "machine.h"
#include <pthread.h>

enum { HPT_EMU_LINE = 128 }; /* landed bytes are counted by lines of so many bytes */
/* Of global memory; what is below are addresses of shared memory. */
enum { HPT_EMU_FIRST_ADDRESS = 0x10000000 };

/* State of a byte of global memory: bit 0: it holds data; bit 1: a bulk copy wrote it; the others: the tag of the
 * launch that wrote it last, 0 for none. */
enum { HPT_EMU_STATE_WRITTEN = 1, HPT_EMU_STATE_TAGS = 62, HPT_EMU_STATE_ASYNC = 2 };

/* Who wrote bytes of 16 last, in the launch that their state names. */
typedef struct hpt_emu_writer {
    uint32_t cluster, tick;
    hpt_emu_time time;
    uint16_t component; /* 0: not known */
    uint16_t mask;      /* bytes */
    bool adds;          /* a bulk reduction */
} hpt_emu_writer;

struct hpt_emu_allocation {
    hpt_device_ptr address;
    size_t bytes;
    uint8_t *data, *state;
    uint64_t *landed;        /* per line */
    hpt_emu_writer *writers; /* per 16 bytes; made when first needed */
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
    bool proxy_fenced; /* some thread of this launch executed fence.proxy.async on global memory */
    /* Launches that may still run, bits by the number of their tag: before this launch has waited, and after. */
    uint64_t running, running_waited;
    bool waited, settled, triggered; /* of the last launch, as in hpt_emu_run */
    bool drained;         /* the host has waited for all launches */
};

static inline uint8_t hpt_emu_launch_tag(uint64_t launch) { return (uint8_t)((launch % HPT_EMU_STATE_TAGS + 1) << 2); }
/* Begins a launch: its number, and no byte of memory with its tag from a launch long ago. */
void hpt_emu_next_launch(hpt_emu_device *device);
static inline uint64_t hpt_emu_launch_bit(uint64_t launch) { return (uint64_t)1 << launch % HPT_EMU_STATE_TAGS; }

/* ---- global_shadow.c ---- */
/* Judges a read (who->knows NULL: only whether it comes before griddepcontrol.wait). */
void hpt_emu_global_read(const hpt_emu_who *who, uint32_t view, bool grid_waited, const hpt_emu_allocation *owner,
                         uint64_t address, uint64_t bytes);
/* Judges a bulk write, and remembers any write in `state` and `writers`. */
void hpt_emu_global_write(const hpt_emu_who *who, uint32_t view, hpt_emu_allocation *owner, uint64_t address,
                          uint64_t bytes, bool adds);
/* fence.proxy.async on global memory */
void hpt_emu_global_fence(hpt_emu_warp *w);
/* hpt_emu_next_launch, and which launches may still run when it begins; `overlap`: it does not wait for the last one to
 * end. */
void hpt_emu_launch_begins(hpt_emu_device *device, bool overlap);

/* ---- launch.c ---- */
/* Runs `total` clusters, at most `resident` of them at once; false without memory. */
bool hpt_emu_run_launch(hpt_emu_run *run, uint64_t total, uint32_t resident);

hpt_status hpt_emu_alloc(hpt_emu_device *device, hpt_emu_allocation **out, size_t bytes, hpt_error *error);
void hpt_emu_free(hpt_emu_device *device, hpt_device_ptr address);

#endif
