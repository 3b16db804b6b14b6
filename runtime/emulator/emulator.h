/* emulator.h - the emulator's own interface, beyond runtime/backend/backend.h. Promises:
 *   - a device has memory, an exact target, a seed and a small number of multiprocessors (so that persistent kernels
 *     go round more than once); the same seed gives the same run, bit for bit.
 *   - a launch that breaks a rule returns HPT_EMULATOR; its findings can be asked for, with the kernel's line, the CTA,
 *     the warp and what was missing.
 *   - counters of all launches since the last reset; bytes landed in any range of global memory.
 * Faults and counters are the tables faults.def and counters.def.
 */
#ifndef HPT_EMULATOR_EMULATOR_H
#define HPT_EMULATOR_EMULATOR_H

#include "backend/backend.h"
#include <jansson.h>

typedef struct hpt_emu_counters {
#define COUNTER(name, meaning) uint64_t name;
#include "counters.def"
#undef COUNTER
} hpt_emu_counters;

typedef enum hpt_emu_fault {
#define FAULT(id, name, meaning) HPT_EMU_##id,
#include "faults.def"
#undef FAULT
    HPT_EMU_FAULTS
} hpt_emu_fault;

typedef struct hpt_emu_finding {
    hpt_emu_fault fault;
    int line; /* of the PTX; 0: none */
    char opcode[96];
    char source[160]; /* "gemm.cu:120", "" without line information */
    char kernel[96];
    uint32_t cta[3], warp, lane;
    uint64_t seed;
    uint64_t count;     /* of this fault at this line */
    char message[1024]; /* a sentence: what happened and what was missing */
} hpt_emu_finding;

typedef struct hpt_emu_allocation hpt_emu_allocation;
typedef struct hpt_backend_device hpt_emu_device;

/* Options of a device; take effect at the next launch. */
typedef struct hpt_emu_options {
    uint64_t seed;         /* default 1 */
    int sms;               /* default 4 */
    int threads;           /* host threads for launches whose clusters cannot talk to each other; default 1 */
    uint32_t max_findings; /* a launch stops after so many different ones; default 32 */
    uint64_t patience;     /* instructions without any visible change before a livelock is reported */
} hpt_emu_options;
void hpt_emu_set_options(hpt_emu_device *device, const hpt_emu_options *options);
void hpt_emu_get_options(const hpt_emu_device *device, hpt_emu_options *options);

/* Since the device was opened or last reset. */
void hpt_emu_get_counters(const hpt_emu_device *device, hpt_emu_counters *out);
size_t hpt_emu_finding_count(const hpt_emu_device *device);
const hpt_emu_finding *hpt_emu_finding_get(const hpt_emu_device *device, size_t index);
void hpt_emu_reset(hpt_emu_device *device); /* counters, landed bytes, findings */
const char *hpt_emu_fault_name(hpt_emu_fault fault);
/* "missing-wait at k.ptx:120 (gemm.cu:33), CTA (0,0,0), warp 4: ..." */
void hpt_emu_finding_print(hpt_text *out, const hpt_emu_finding *finding);

/* Bytes that stores (of any kind) and reduce-adds have landed in [address, address + bytes), the device-side ones only:
 * uploads and fills do not count. Exact for ranges that begin and end at multiples of 128. */
uint64_t hpt_emu_landed_bytes(const hpt_emu_device *device, hpt_device_ptr address, size_t bytes);

/* splitmix64: the one random generator of the emulator */
uint64_t hpt_emu_draw(uint64_t *state);

json_t *hpt_emu_counters_json(const hpt_emu_counters *counters);
json_t *hpt_emu_finding_json(const hpt_emu_finding *finding);

#endif
