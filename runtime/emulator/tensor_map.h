/* tensor_map.h - the emulator's own encoding of a tensor map into its 128 bytes. */
#ifndef HPT_EMULATOR_TENSOR_MAP_H
#define HPT_EMULATOR_TENSOR_MAP_H

#include "backend/backend.h"

enum { HPT_EMU_MAP_MAGIC = 0x4d545048 };

typedef struct hpt_emu_map {
    uint32_t magic;
    uint8_t element, rank, swizzle, element_bytes;
    uint64_t address;
    uint64_t stride[4]; /* of dimensions 1..4, bytes */
    uint32_t last[5];   /* extent - 1 */
    uint16_t box[5];
    uint8_t reserved[46];
} hpt_emu_map;

/* Refuses what cuTensorMapEncodeTiled would refuse, naming the rule. */
hpt_status hpt_emu_map_encode(void *out128, const hpt_tensor_map *map, hpt_error *error);

#endif
