/* machine.h - the emulated GPU: what every file of the interpreter shares. Promises:
 *   - a program is decoded once (decode.c) and run many times; running allocates nothing per instruction.
 *   - registers are typed by width only: one register of a warp is 32 lanes side by side, a predicate is one 32-bit
 * mask.
 *   - an instruction is one function over a warp and a mask of lanes; rows of the .def files bind names to functions.
 *   - a warp is a set of fragments (lanes at the same place); the one earliest in program order runs, so that lanes
 *     meet again where control flow joins (order.c).
 *   - clusters do not share state but global memory, so each can be run by itself (cluster.c).
 *   - every fault of the kernel is a finding with its line (findings.c); a run never touches memory that is not its
 * own.
 */
#ifndef HPT_EMULATOR_MACHINE_H
#define HPT_EMULATOR_MACHINE_H

#include "emulator.h"
#include "ptx.h"

#define HPT_LANES 32u

typedef struct hpt_emu_warp hpt_emu_warp;
typedef struct hpt_emu_cta hpt_emu_cta;
typedef struct hpt_emu_cluster hpt_emu_cluster;
typedef struct hpt_emu_run hpt_emu_run;
typedef struct hpt_emu_instruction hpt_emu_instruction;

/* What a step did: NEXT goes on behind the instruction; MOVED has set the place itself; BLOCKED comes back to the same
 * instruction when what it waits for may have happened; PARKED waits for other lanes of its own warp. */
typedef enum hpt_emu_step { HPT_EMU_NEXT, HPT_EMU_MOVED, HPT_EMU_BLOCKED, HPT_EMU_PARKED } hpt_emu_step;

typedef struct hpt_emu_operand {
    int32_t at;     /* byte offset in the warp's register file */
    uint8_t bytes;  /* per lane; 0: a predicate */
    bool negated;   /* a predicate with ! */
    bool constant;  /* an immediate, or the address of a variable */
    bool sink;      /* a destination that nobody reads */
    uint16_t count; /* of items: a vector, coordinates, or a pair */
    uint8_t space;  /* of memory whose base is a variable */
    int64_t offset; /* memory: added to the base */
    const struct hpt_emu_operand *items;
} hpt_emu_operand;

enum { HPT_EMU_OPERANDS = 8, HPT_EMU_MODIFIERS = 14 };
enum {                       /* flags of a row */
       HPT_EMU_ALIGNED = 1,  /* all live lanes of the warp must execute it together */
       HPT_EMU_COPIES = 2,   /* moves registers without looking at them */
       HPT_EMU_ASYNC_ACC = 4 /* may name accumulators that are in flight */
};

struct hpt_emu_instruction {
    hpt_emu_step (*run)(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);
    int32_t guard; /* offset of the predicate, or -1 */
    bool guard_negated;
    bool touches_accumulator; /* names a register that some wgmma uses */
    uint8_t flags;
    uint8_t count;
    int8_t modifier[HPT_EMU_MODIFIERS]; /* which alternative of each group of the pattern; -1: none */
    uint32_t target;                    /* of a branch */
    uint32_t rank;                      /* place in the order of reconvergence */
    hpt_emu_operand op[HPT_EMU_OPERANDS];
    const void *data; /* of rows that decode more */
    const hpt_ptx_instruction *source;
};

typedef struct hpt_emu_decoder hpt_emu_decoder;

typedef struct hpt_emu_row {
    const char *pattern;  /* "add.{s32|u32}": {} one of, [] one of or nothing */
    const char *operands; /* see decode_operand.c */
    hpt_emu_step (*run)(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask);
    uint32_t flags;
    bool (*decode)(hpt_emu_decoder *d,
                   hpt_emu_instruction *i); /* may be NULL; fills data, or fails with hpt_emu_refuse */
} hpt_emu_row;

#define HPT_EMU_LAST_ROW                                                                                               \
    { NULL, NULL, NULL, 0, NULL } /* ends a table */

typedef struct hpt_emu_constant {
    int32_t at;
    uint8_t bytes;
    bool shared;                          /* the CTA's shared window is added */
    const hpt_ptx_variable *extern_array; /* resolved when all of the static shared memory is placed */
    uint64_t bits;
} hpt_emu_constant;

typedef enum hpt_emu_special {
#define SPECIAL(name, id, bytes, value) HPT_EMU_SPECIAL_##id,
#include "special.def"
#undef SPECIAL
    HPT_EMU_SPECIALS
} hpt_emu_special;

typedef struct hpt_emu_program {
    const hpt_ptx_module *module;
    const hpt_ptx_function *function;
    hpt_emu_instruction *code;
    uint32_t count;
    uint32_t register_bytes; /* of a warp */
    int32_t *register_at;    /* by PTX register */
    hpt_emu_constant *constants;
    size_t constant_count;
    int32_t special_at[HPT_EMU_SPECIALS]; /* -1: not used */
    uint32_t shared_static_end, shared_dynamic_align;
    bool uses_global_atomics; /* clusters may talk to each other: they must run in one thread */
} hpt_emu_program;

/* ---- vector clocks (clock.c): who knows of whose writes; one component per warp, per wgmma and bulk engine of a
 * warp, and per mbarrier ---- */
typedef uint32_t hpt_emu_time;

enum { HPT_EMU_READERS = 3 }; /* remembered per granule; with more, one is forgotten and its race not seen */

/* 16 bytes of shared memory and what is known of them */
typedef struct hpt_emu_granule {
    uint16_t written;    /* bytes that hold data */
    uint16_t write_mask; /* bytes of the last writer */
    uint16_t writer;     /* its component, 0: none */
    uint16_t write_warp; /* warp + 1 in the cluster of a generic writer; 0: the asynchronous proxy */
    hpt_emu_time write_time;
    uint32_t write_tick; /* when, in the cluster's ticks */
    uint8_t write_lane;
    uint8_t swizzle; /* 1 + that of the tensor copy that wrote it; 0: not known */
    uint16_t reader[HPT_EMU_READERS];
    uint16_t read_mask[HPT_EMU_READERS];
    hpt_emu_time read_time[HPT_EMU_READERS];
} hpt_emu_granule;

typedef struct hpt_emu_mbarrier {
    bool valid;
    uint32_t expected, pending; /* arrivals */
    int64_t tx;
    uint32_t phase;                    /* number of completed phases */
    uint16_t component;                /* 0: none was left */
    hpt_emu_time *arrived, *completed; /* clocks */
    uint16_t creator;                  /* component and time of its init */
    hpt_emu_time created;
} hpt_emu_mbarrier;

typedef struct hpt_emu_named_barrier {
    uint32_t arrived, expected; /* threads */
    uint32_t generation;
    uint32_t votes, voters; /* barrier.red: lanes whose predicate holds */
    uint32_t result_votes, result_voters;
    hpt_emu_time *clock; /* of those that have arrived; behind it that of the last generation */
} hpt_emu_named_barrier;

typedef enum hpt_emu_wait {
    HPT_EMU_WAIT_NONE,
    HPT_EMU_WAIT_BARRIER,  /* what: barrier number, value: generation */
    HPT_EMU_WAIT_MBARRIER, /* what: shared address, value: parity or phase */
    HPT_EMU_WAIT_CLUSTER,  /* value: generation */
    HPT_EMU_WAIT_BULK,     /* value: groups that may stay */
    HPT_EMU_WAIT_LANES,    /* what: mask */
    HPT_EMU_WAIT_OTHER     /* text says what */
} hpt_emu_wait;

typedef struct hpt_emu_fragment {
    uint32_t pc, mask;
    hpt_emu_wait wait;
    uint32_t what;
    uint64_t value;
    const char *text;
    bool entered;  /* the instruction at pc has done its arriving half */
    uint64_t kept; /* what it remembers between the halves */
} hpt_emu_fragment;

enum { HPT_EMU_TRACKED_MBARRIERS = 64, HPT_EMU_BARRIERS = 16, HPT_EMU_RESERVED_SHARED = 1024, HPT_EMU_MAX_CTAS = 16 };

struct hpt_emu_warp {
    hpt_emu_cta *cta;
    uint32_t index;  /* in the CTA */
    uint32_t number; /* in the cluster */
    uint8_t *registers;
    uint8_t *local; /* 32 blocks of the function's local bytes */
    uint32_t live;
    uint32_t fragment_count;
    hpt_emu_fragment fragment[HPT_LANES]; /* [0] is the one that runs, the others in no order */
    uint32_t carry;                       /* add.cc and the like: one bit per lane */
    uint32_t register_count;              /* per thread, for setmaxnreg; 0: not modelled */
    bool relaxed;                         /* its fragments run in any order: the last resort before a deadlock */
    uint64_t blocked_epoch;               /* the cluster's when it last could not go on */
    bool stuck;
    uint32_t tries;              /* of a relaxed warp since anything changed */
    uint64_t executed, progress; /* instructions; and of those the ones that changed something others can see */
    hpt_emu_time *clock;
    uint32_t fence_tick[HPT_LANES]; /* last fence.proxy.async */
    uint32_t released, observed;    /* handover.c: what its last fence published; what relaxed reads have seen since */
    bool triggered;                 /* griddepcontrol.launch_dependents was executed */
    uint32_t cluster_phase;         /* of the last barrier.cluster.arrive */
    uint32_t cluster_arrived;       /* lanes that have arrived and not yet waited */
    struct hpt_emu_wgmma_state *wgmma;
    struct hpt_emu_bulk_state *bulk; /* of its 32 threads */
    void *small;                     /* its cp.async copies */
    void *tensor_state;              /* tcgen05 */
};

struct hpt_emu_cta {
    hpt_emu_cluster *cluster;
    uint32_t rank;
    uint32_t id[3];
    uint32_t linear;
    uint8_t *shared; /* from address 0 of its window */
    uint32_t shared_bytes;
    hpt_emu_granule *granules;
    hpt_emu_mbarrier *mbarriers; /* one per 8 bytes of shared memory that ever held one: found through mbarrier_at */
    uint32_t mbarrier_count, mbarrier_capacity;
    uint16_t *mbarrier_at; /* by address / 8: index + 1 */
    hpt_emu_named_barrier barriers[HPT_EMU_BARRIERS];
    hpt_emu_warp *warps;
    uint32_t warp_count, warps_done;
    uint32_t registers_free; /* of the CTA's pool, for setmaxnreg */
    void *tensor_memory;     /* tcgen05: made on first use */
};

typedef struct hpt_emu_random {
    uint64_t state;
} hpt_emu_random;

/* An asynchronous operation in flight: when it is picked, `land` does one part of it and says whether that was all. */
typedef struct hpt_emu_async {
    bool (*land)(struct hpt_emu_async *op);
    void (*release)(struct hpt_emu_async *op);
    hpt_emu_cluster *cluster;
    hpt_emu_warp *warp;
    uint32_t lane;
    const hpt_emu_instruction *instruction;
} hpt_emu_async;

struct hpt_emu_cluster {
    hpt_emu_run *run;
    uint64_t linear;
    uint32_t size;
    hpt_emu_cta *ctas;
    uint32_t warps_per_cta, warp_total, warps_done;
    uint32_t clock_size, components_used;
    hpt_emu_random random;
    uint32_t tick;         /* advances with every access that the race checks date */
    hpt_emu_async **async; /* in flight, in no order */
    size_t async_count, async_capacity;
    uint64_t epoch;             /* advances with every change that a blocked warp may wait for */
    hpt_emu_allocation *recent; /* of the last global access */
    uint32_t cluster_arrived, cluster_generation;
    hpt_emu_time *cluster_clock, *cluster_clock_done;
    hpt_emu_counters counters;
    uint64_t quiet;           /* instructions since anything changed */
    uint64_t changes_seen;    /* of the run, when that was last looked at */
    uint32_t favourite, lazy; /* a CTA whose warps run more often, a warp that hardly runs; drawn anew now and then */
    uint32_t picks_left;
    uint32_t live_threads;
    bool out_of_memory;
    struct hpt_emu_response *responses; /* of cluster launch control */
    bool control_refused;               /* and a warp has seen it */
};

struct hpt_emu_run {
    hpt_emu_device *device;
    const hpt_emu_program *program;
    const hpt_launch *launch;
    const uint8_t *params;
    uint32_t shared_bytes; /* end of the CTA's window: reserved, static, dynamic */
    uint32_t cluster_size;
    uint64_t seed;
    volatile bool stop;
    bool waited,
        settled,   /* some thread has executed griddepcontrol.wait; some CTA did so before it let the next launch start */
        triggered; /* some thread has let the next launch start before this one ends */
    uint64_t changes;                      /* in all clusters: one may spin while another works */
    struct hpt_emu_handovers *handovers;   /* between clusters; NULL: several host threads run them, not tracked */
    uint64_t cluster_count, *next_cluster; /* the first that is not launched yet; NULL: they cannot be taken over */
};

/* ---- registers ---- */
static inline void *hpt_emu_at(hpt_emu_warp *w, const hpt_emu_operand *op) { return w->registers + op->at; }
static inline uint32_t hpt_emu_predicate(hpt_emu_warp *w, const hpt_emu_operand *op) {
    uint32_t bits = *(const uint32_t *)hpt_emu_at(w, op);
    return op->negated ? ~bits : bits;
}
static inline void hpt_emu_set_predicate(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t bits, uint32_t mask) {
    uint32_t *to = hpt_emu_at(w, op);
    *to = (*to & ~mask) | (bits & mask);
}
/* the value of one lane, zero-extended, whatever the width */
uint64_t hpt_emu_get(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane);
void hpt_emu_set(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane, uint64_t bits);
/* address operand of one lane: base + offset */
uint64_t hpt_emu_address(hpt_emu_warp *w, const hpt_emu_operand *op, uint32_t lane);
/* the value of the first lane of the mask; where lanes differ that is a finding */
uint64_t hpt_emu_uniform(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_operand *op, uint32_t mask);
static inline uint32_t hpt_emu_first(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }
#define HPT_FOR_LANES(lane, mask)                                                                                      \
    for (uint32_t lane##_left = (mask), lane = 0; lane##_left && (lane = (uint32_t)__builtin_ctz(lane##_left), true);  \
         lane##_left &= lane##_left - 1)

/* ---- memory.c ---- */
typedef enum hpt_emu_access { HPT_EMU_READ = 1, HPT_EMU_WRITE = 2, HPT_EMU_SYNCHRONIZING = 4 } hpt_emu_access;

/* Windows of the generic address space; shared holds the CTA's rank in its cluster in bits 24 and up. */
#define HPT_EMU_SHARED_WINDOW 0x7f0000000000ull
#define HPT_EMU_LOCAL_WINDOW 0x7e0000000000ull
#define HPT_EMU_PARAM_WINDOW 0x7d0000000000ull
#define HPT_EMU_WINDOW_BYTES 0x10000000000ull

/* Host memory behind `bytes` bytes (aligned to their size) for one lane; NULL after a finding. */
uint8_t *hpt_emu_access_lane(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, hpt_ptx_space space,
                             uint64_t address, uint32_t bytes, hpt_emu_access how);
/* A shared::cluster address (or a generic one) to its CTA and offset; NULL if there is none. */
hpt_emu_cta *hpt_emu_shared_cta(hpt_emu_cta *from, uint64_t address, uint32_t *offset);
/* `bytes` bytes of global memory; NULL (and no finding) if they are not inside one allocation. */
uint8_t *hpt_emu_global(hpt_emu_device *device, uint64_t address, uint64_t bytes, uint8_t **state,
                        hpt_emu_allocation **owner);
/* 128 bytes of a tensor map at a generic address (param, const or global); NULL after a finding. */
const uint8_t *hpt_emu_map_bytes(hpt_emu_warp *w, const hpt_emu_instruction *i, uint64_t address);
void hpt_emu_landed(hpt_emu_allocation *owner, uint64_t address, uint64_t bytes);

/* ---- shadow.c: written bytes and races of shared memory ---- */
typedef struct hpt_emu_who { /* the one that reads or writes */
    hpt_emu_warp *warp;
    const hpt_emu_instruction *instruction;
    uint32_t lane;
    uint16_t component;        /* whose clock the access belongs to */
    hpt_emu_time time;         /* of that component */
    const hpt_emu_time *knows; /* what it has synchronised with; NULL: no check */
    bool async;                /* through the asynchronous proxy */
    const char *what;          /* "wgmma", "bulk store" */
    uint8_t swizzle;           /* of a tensor copy, 1 + its number */
} hpt_emu_who;
void hpt_emu_shared_read(hpt_emu_cta *cta, uint32_t offset, uint32_t bytes, const hpt_emu_who *who);
void hpt_emu_shared_write(hpt_emu_cta *cta, uint32_t offset, uint32_t bytes, const hpt_emu_who *who);
hpt_emu_who hpt_emu_generic_who(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane);

/* ---- clock.c ---- */
/* Components per warp: itself, its wgmma, what its bulk copies have read, three of the tensor core of Blackwell
 * (tcgen05_unit.h), what its bulk copies have written. One more is set where griddepcontrol.wait is known to be over;
 * then come mbarriers. In place of component 0 stands a number: what is known of other clusters (handover.c). */
enum { HPT_EMU_ENGINES = 7, HPT_EMU_TENSOR_COMPONENT = 4 /* of warp 0 */ };
static inline uint16_t hpt_emu_component_warp(const hpt_emu_warp *w) {
    return (uint16_t)(1 + HPT_EMU_ENGINES * w->number);
}
static inline uint16_t hpt_emu_component_wgmma(const hpt_emu_warp *w) {
    return (uint16_t)(2 + HPT_EMU_ENGINES * w->number);
}
static inline uint16_t hpt_emu_component_bulk(const hpt_emu_warp *w) {
    return (uint16_t)(3 + HPT_EMU_ENGINES * w->number);
}
static inline uint16_t hpt_emu_component_written(const hpt_emu_warp *w) {
    return (uint16_t)(7 + HPT_EMU_ENGINES * w->number);
}
static inline uint16_t hpt_emu_component_grid(const hpt_emu_cluster *k) {
    return (uint16_t)(1 + HPT_EMU_ENGINES * k->warp_total);
}
static inline bool hpt_emu_grid_waited(const hpt_emu_warp *w) {
    return w->clock[hpt_emu_component_grid(w->cta->cluster)] != 0;
}
void hpt_emu_clock_join(hpt_emu_cluster *cluster, hpt_emu_time *into, const hpt_emu_time *from);
void hpt_emu_clock_release(hpt_emu_warp *w, hpt_emu_time *into); /* publish what the warp did so far */
void hpt_emu_clock_acquire(hpt_emu_warp *w, const hpt_emu_time *from);

/* ---- handover.c: clusters that hand data to each other through global memory ---- */
struct hpt_emu_handovers *hpt_emu_handovers_create(void);
void hpt_emu_handovers_destroy(struct hpt_emu_handovers *handovers);
/* What both numbers stand for together. */
uint32_t hpt_emu_view_join(hpt_emu_cluster *cluster, uint32_t a, uint32_t b);
/* True if the view knows of that time of a component of another cluster. */
bool hpt_emu_view_knows(const hpt_emu_run *run, uint32_t view, uint32_t cluster, uint16_t component, hpt_emu_time time);
/* A fence of the whole device's memory. */
void hpt_emu_handover_fence(hpt_emu_warp *w);
/* A strong access to global memory, of a scope that reaches other clusters: releases or acquires say whether it does so
 * by itself, beyond what fences before or after it do. */
void hpt_emu_handover_write(hpt_emu_warp *w, uint64_t address, bool releases, bool keeps);
void hpt_emu_handover_read(hpt_emu_warp *w, uint64_t address, bool acquires);

/* ---- mbarrier.c ---- */
hpt_emu_mbarrier *hpt_emu_mbarrier_find(hpt_emu_cta *cta, uint32_t offset); /* NULL if none is valid there */
/* completes transaction bytes; `who` names the operation in findings */
/* `grid_waited`: what brings them was issued behind griddepcontrol.wait; whoever waits for it comes behind that too. */
void hpt_emu_mbarrier_complete_tx(hpt_emu_cta *cta, uint32_t offset, uint64_t bytes, bool grid_waited,
                                  const hpt_emu_who *who);
/* one arrival without a thread of the CTA (commits of asynchronous work); `clock` may be NULL */
void hpt_emu_mbarrier_arrive(hpt_emu_cta *cta, uint32_t offset, uint32_t count, const hpt_emu_time *clock,
                             const hpt_emu_who *who);
/* Address operand to CTA and offset of a live mbarrier (8-byte aligned), or NULL after a finding. */
hpt_emu_mbarrier *hpt_emu_mbarrier_at(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, uint64_t address,
                                      bool own, hpt_emu_cta **cta, uint32_t *offset);

/* ---- cluster.c: scheduling ---- */
uint64_t hpt_emu_random_next(hpt_emu_random *random);
uint32_t hpt_emu_random_below(hpt_emu_random *random, uint32_t limit);
void hpt_emu_async_add(hpt_emu_cluster *cluster, hpt_emu_async *op); /* takes it over */
hpt_emu_cluster *hpt_emu_cluster_create(hpt_emu_run *run, uint64_t linear);
void hpt_emu_cluster_destroy(hpt_emu_cluster *cluster);
bool hpt_emu_cluster_run(hpt_emu_cluster *cluster, uint32_t picks); /* true: it is done */
/* after threads have left */
void hpt_emu_named_barrier_check(hpt_emu_cta *cta);
void hpt_emu_cluster_barrier_check(hpt_emu_cluster *cluster);

/* ---- warp.c ---- */
/* Runs up to `limit` instructions; false: the warp cannot go on now (or is done). */
bool hpt_emu_warp_run(hpt_emu_warp *w, uint32_t limit);
hpt_emu_step hpt_emu_block(hpt_emu_warp *w, hpt_emu_wait wait, uint32_t what, uint64_t value, const char *text);

/* ---- bulk.c, wgmma.c: state of a warp ---- */
void hpt_emu_bulk_release(hpt_emu_warp *w); /* at the end of the warp: what is still open is a finding */
void hpt_emu_wgmma_release(hpt_emu_warp *w);
void hpt_emu_bulk_free(hpt_emu_warp *w);
void hpt_emu_small_copies_free(hpt_emu_warp *w);
void hpt_emu_wgmma_free(hpt_emu_warp *w);
void hpt_emu_wgmma_check(hpt_emu_warp *w, const hpt_emu_instruction *i); /* operands that are in flight */

/* ---- tcgen05.c ---- */
void hpt_emu_tensor_release(hpt_emu_warp *w); /* frees what a warp has */
void hpt_emu_tensor_end(hpt_emu_warp *w);     /* a warp has ended; checks it, and its CTA with the last one */
void hpt_emu_tensor_destroy(hpt_emu_cluster *cluster);

/* ---- launch_control.c ---- */
void hpt_emu_launch_control_free(hpt_emu_cluster *cluster);

/* ---- findings.c ---- */
void hpt_emu_report(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, hpt_emu_fault fault,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
const char *hpt_emu_waiting_for(const hpt_emu_warp *w, char *buffer, size_t size);

/* ---- decode.c ---- */
bool hpt_emu_refuse(hpt_emu_decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
hpt_arena *hpt_emu_decoder_arena(hpt_emu_decoder *d);
/* Gives an immediate that was decoded without a width ("sx"), or those of a vector, the width and format of the
 * instruction. */
bool hpt_emu_set_width(hpt_emu_decoder *d, hpt_emu_instruction *i, int operand, int bytes, char format);
hpt_status hpt_emu_decode(hpt_emu_program **out, hpt_arena *arena, const hpt_ptx_module *module,
                          const hpt_ptx_function *function, const char *file, hpt_error *error);
/* ---- match.c ---- */
bool hpt_emu_match(const char *pattern, const char *opcode, int8_t modifier[HPT_EMU_MODIFIERS]);
/* ---- order.c: ranks of instructions, so that lanes meet again as early as possible ---- */
hpt_status hpt_emu_order(hpt_emu_program *program, hpt_arena *arena, hpt_error *error);

#endif
