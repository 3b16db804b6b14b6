/* tcgen05_unit.h - the tensor cores and tensor memories of one CTA pair in time. Promises:
 *   - asynchronous operations wait in a queue and happen late, in an order drawn from the seed, as far as the rules of
 * the PTX ISA leave it open: mma after mma only for the same accumulator and shape; copy before mma; shift and mma in
 * order; a commit after all that its thread issued before.
 *   - every rule that needs a wait or a fence is checked when the operation is issued, with vector clocks, so that a
 * missing one is found in whatever order things happened to run: an accumulator read in flight, overwritten while it is
 * drained, stored to without tcgen05.wait::st, freed too early.
 *   - the unit knows neither warps' program counters nor PTX text; its host gives it shared memory, mbarriers and
 * chance.
 *
 * Clocks: every warp has three streams of operations (mma and copy; load; store), each a component of the cluster's
 * vector clocks. A warp's clock carries, as for every other component, what its signals pass on; what it may *rely* on
 * is kept here: fence::after_thread_sync takes in what the clock brought, fence::before_thread_sync offers what the
 * warp knows to what it signals next, commit attaches its stream's number to the mbarrier. Source: PTX
 * ISA 9.x, 9.7.16.6 (memory consistency), .11 (fences), .12 (commit).
 */
#ifndef HPT_TCGEN05_UNIT_H
#define HPT_TCGEN05_UNIT_H

#include "tcgen05.h"

enum { HPT_TCGEN05_STREAMS = 3 }; /* per warp */
typedef struct hpt_tcgen05_host {
    void *user;
    hpt_mma_fetch fetch;
    /* One arrival (count 1) at an mbarrier of a CTA of the *cluster*, which takes in the clock. */
    hpt_status (*arrive)(void *user, uint32_t cta, uint32_t address, const uint32_t *clock, hpt_error *error);
    uint32_t (*random)(void *user, uint32_t bound); /* 0 .. bound - 1 */
    /* Clocks: component of stream s of warp w = first + stride * w + s, where w counts through the cluster. */
    uint32_t *(*clock)(void *user, uint32_t cta, uint32_t warp);
    uint32_t clock_size, first, stride, warps_per_cta;
} hpt_tcgen05_host;

typedef struct hpt_tcgen05 hpt_tcgen05;
/* `first_cta`: rank in the cluster of the pair's even CTA. NULL: no memory. */
hpt_tcgen05 *hpt_tcgen05_create(const hpt_tcgen05_host *host, uint32_t first_cta);
void hpt_tcgen05_destroy(hpt_tcgen05 *unit);
hpt_tmem *hpt_tcgen05_tmem(hpt_tcgen05 *unit, uint32_t cta);

typedef struct hpt_tcgen05_warp { /* who acts */
    uint32_t cta;                 /* 0 or 1: rank in the pair */
    uint32_t warp;                /* in its CTA, below 32 */
    uint32_t lane;                /* the issuing one, for the host */
    const void *tag;              /* the host's: which instruction; comes back with late operations */
} hpt_tcgen05_warp;

/* The queued operation that is happening now: what `fetch` and errors of hpt_tcgen05_step are about. */
typedef struct hpt_tcgen05_running {
    hpt_tcgen05_warp who;
    uint32_t stream, number; /* its component, and its time there */
    const uint32_t *clock;   /* what its thread knew when it was issued */
} hpt_tcgen05_running;
hpt_tcgen05_running hpt_tcgen05_now(const hpt_tcgen05 *unit);

/* All instructions of a kernel must name one cta_group; call first for each of them that has one. */
hpt_status hpt_tcgen05_group_check(hpt_tcgen05 *unit, uint32_t cta_group, hpt_error *error);

hpt_status hpt_tcgen05_alloc(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t columns, uint32_t *base, bool *blocked,
                             hpt_error *error);
hpt_status hpt_tcgen05_dealloc(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t base, uint32_t columns,
                               hpt_error *error);
void hpt_tcgen05_relinquish(hpt_tcgen05 *unit, hpt_tcgen05_warp who);

hpt_status hpt_tcgen05_mma(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_mma *mma, hpt_error *error);
typedef enum hpt_tmem_copy_shape {
    HPT_COPY_128X256B,
    HPT_COPY_128X128B,
    HPT_COPY_64X128B_02_13,
    HPT_COPY_64X128B_01_23,
    HPT_COPY_32X128B_X4
} hpt_tmem_copy_shape;
hpt_status hpt_tcgen05_copy(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_tmem_copy_shape shape, uint32_t cta_group,
                            uint32_t address, uint64_t source, hpt_error *error);
/* Rows of 32 bytes of the 32 lanes from the address's lane on move down by one, but for the last. `cta_group`: in one
 * CTA's memory or in both. */
hpt_status hpt_tcgen05_shift(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t cta_group, uint32_t address,
                             hpt_error *error);
/* Arrives at the mbarrier at `address` of every CTA in `mask` (bit = rank in the cluster). */
hpt_status hpt_tcgen05_commit(hpt_tcgen05 *unit, hpt_tcgen05_warp who, uint32_t address, uint32_t mask,
                              hpt_error *error);
hpt_status hpt_tcgen05_load(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_tmem_access *access, uint32_t *registers,
                            hpt_error *error);
hpt_status hpt_tcgen05_store(hpt_tcgen05 *unit, hpt_tcgen05_warp who, const hpt_tmem_access *access,
                             const uint32_t *registers, hpt_error *error);
hpt_status hpt_tcgen05_wait_load(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error);
hpt_status hpt_tcgen05_wait_store(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error);

hpt_status hpt_tcgen05_fence_before(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error);
hpt_status hpt_tcgen05_fence_after(hpt_tcgen05 *unit, hpt_tcgen05_warp who, hpt_error *error);

/* Lets one queued operation happen, if any can; *pending says whether any is left. */
hpt_status hpt_tcgen05_step(hpt_tcgen05 *unit, bool *pending, hpt_error *error);
/* Call when a CTA exits: leaked tensor memory, operations still in flight. */
hpt_status hpt_tcgen05_exit(hpt_tcgen05 *unit, uint32_t cta, hpt_error *error);

#endif
