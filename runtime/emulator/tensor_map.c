#include "tensor_map.h"
#include <string.h>

_Static_assert(sizeof(hpt_emu_map) == 128, "a tensor map has 128 bytes");

static uint8_t element_bytes(hpt_element element) {
    static const uint8_t bytes[] = {2, 2, 4, 1, 1, 1, 4};
    return element < (hpt_element)HPT_COUNT(bytes) ? bytes[element] : 0;
}

hpt_status hpt_emu_map_encode(void *out128, const hpt_tensor_map *map, hpt_error *error) {
    hpt_status status = HPT_OK;
    const char *where = "tensor map";
    uint64_t bytes = element_bytes(map->element);
    hpt_emu_map out = {.magic = HPT_EMU_MAP_MAGIC,
                       .element = (uint8_t)map->element,
                       .rank = (uint8_t)map->rank,
                       .swizzle = (uint8_t)map->swizzle,
                       .element_bytes = (uint8_t)bytes,
                       .address = map->address};
    HPT_FAIL_IF(bytes == 0, HPT_USAGE, where, "Unknown element type.");
    HPT_FAIL_IF(map->rank < 1 || map->rank > 5, HPT_USAGE, where, "The rank must be 1 to 5, not %d.", map->rank);
    HPT_FAIL_IF(map->swizzle > HPT_SWIZZLE_128B, HPT_USAGE, where, "Unknown swizzle.");
    HPT_FAIL_IF(map->address % 16, HPT_USAGE, where, "The address 0x%llx is not a multiple of 16.",
                (unsigned long long)map->address);
    for (int d = 0; d < map->rank; d++) {
        HPT_FAIL_IF(map->dim[d] == 0 || map->dim[d] > 1ull << 32, HPT_USAGE, where, "Extent %d must be 1 to 2^32.", d);
        HPT_FAIL_IF(map->box[d] == 0 || map->box[d] > 256, HPT_USAGE, where,
                    "The box's extent %d must be 1 to 256, not %u.", d, map->box[d]);
        out.last[d] = (uint32_t)(map->dim[d] - 1);
        out.box[d] = (uint16_t)map->box[d];
        if (d == 0) continue;
        HPT_FAIL_IF(map->stride[d] % 16 || map->stride[d] >= 1ull << 40, HPT_USAGE, where,
                    "Stride %d (%llu bytes) must be a multiple of 16 below 2^40.", d,
                    (unsigned long long)map->stride[d]);
        out.stride[d - 1] = map->stride[d];
    }
    uint64_t inner = map->box[0] * bytes, span = map->swizzle == HPT_SWIZZLE_NONE ? 0 : 16ull << map->swizzle;
    HPT_FAIL_IF(inner % 16, HPT_USAGE, where, "A box row of %llu bytes is not a multiple of 16.",
                (unsigned long long)inner);
    HPT_FAIL_IF(span && inner > span, HPT_USAGE, where, "A box row of %llu bytes is longer than the swizzle of %llu.",
                (unsigned long long)inner, (unsigned long long)span);
    memcpy(out128, &out, sizeof out);
done:
    return status;
}
