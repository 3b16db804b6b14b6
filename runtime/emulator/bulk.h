/* bulk.h - asynchronous bulk copies: what their files share. A copy is an asynchronous operation in flight; those that
 * write global memory also belong to a bulk group of the thread that issued them. Data races are judged when a copy is
 * issued (shadow.c), the data itself moves when it lands. */
#ifndef HPT_EMULATOR_BULK_H
#define HPT_EMULATOR_BULK_H

#include "atomic.h"
#include "machine.h"
#include "tensor_map.h"

typedef struct hpt_emu_box { /* a box of a tensor, or a range of bytes (map.magic 0) */
    hpt_emu_map map;
    int32_t at[5];
    uint64_t address, bytes; /* of a range */
} hpt_emu_box;

typedef struct hpt_emu_copy {
    hpt_emu_async async;
    hpt_emu_box box;
    hpt_emu_cta *cta;    /* whose shared memory it touches */
    uint32_t offset;     /* there */
    hpt_emu_cta *signal; /* loads: the CTA of the mbarrier */
    uint32_t mbarrier;
    bool reduces;
    hpt_emu_atomic operation;
    hpt_emu_element_type element;
    uint64_t group; /* stores: number of the bulk group */
    hpt_emu_time time;
    bool read, done;
    bool grid_waited; /* when it was issued; and what was known of other clusters then */
    uint32_t view;
    uint8_t *staged;           /* stores: what was read from shared memory */
    const uint8_t *source;     /* copies between CTAs: shared memory of the issuer */
    struct hpt_emu_copy *next; /* stores: of the same thread */
    uint32_t references;       /* in flight, and in the thread's list */
} hpt_emu_copy;

typedef struct hpt_emu_bulk_state {
    hpt_emu_copy *copies[HPT_LANES]; /* not waited for yet; newest first */
    uint64_t group[HPT_LANES];       /* number of the group being gathered: so many are committed */
    hpt_emu_time issued;
} hpt_emu_bulk_state;

/* ---- bulk.c ---- */
hpt_emu_copy *hpt_emu_copy_create(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane);
/* Into the thread's open group and into flight; reports order violations against the copies not waited for. */
void hpt_emu_copy_start_store(hpt_emu_copy *copy);
void hpt_emu_copy_start_load(hpt_emu_copy *copy);
/* The shared-memory range of an operand; NULL after a finding. */
hpt_emu_cta *hpt_emu_bulk_range(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t address,
                                uint64_t bytes, uint32_t align, uint32_t *offset);
/* Destinations of a load: one copy per CTA of the multicast mask (mask 0: only `cta`). */
typedef struct hpt_emu_load {
    hpt_emu_box box;
    uint64_t destination, mbarrier; /* shared::cluster addresses */
    uint64_t extent;                /* bytes of shared memory */
    uint32_t align;
    bool multicast, pair; /* pair: .cta_group::2 */
    uint16_t mask;
    const uint8_t *source; /* shared memory instead of global */
    bool reduces;
    hpt_emu_atomic operation;
    hpt_emu_element_type element;
} hpt_emu_load;
void hpt_emu_start_load(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, const hpt_emu_load *load);

/* ---- bulk_box.c: moving the data ---- */
uint64_t hpt_emu_box_bytes(const hpt_emu_box *box); /* that move: the transaction bytes of a load */
/* From the first to the last byte in shared memory: under a swizzle, rows lie as far apart as its span, however long
 * they are (seen on an H200). */
uint64_t hpt_emu_box_extent(const hpt_emu_box *box);
/* Notes the copy's access to its shared memory for the race checks. */
void hpt_emu_box_touch(const hpt_emu_copy *copy, const hpt_emu_who *who, bool writes);
/* global -> `to` (hpt_emu_box_bytes of it, swizzled as shared memory at `offset` would be); findings name the copy */
void hpt_emu_box_load(const hpt_emu_copy *copy, uint8_t *to);
void hpt_emu_box_store(const hpt_emu_copy *copy);
bool hpt_emu_boxes_overlap(const hpt_emu_box *a, const hpt_emu_box *b);

#endif
