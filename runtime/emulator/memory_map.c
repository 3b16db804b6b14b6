/* memory_map.c - the device's allocations, with the state of every byte. */
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { GUARD = 1 << 16 }; /* unmapped space between allocations, so that overruns are seen */

static bool make_room(hpt_emu_device *device) {
    if (device->count < device->capacity) return true;
    size_t more = device->capacity ? 2 * device->capacity : 16;
    hpt_emu_allocation **bigger = realloc(device->allocations, more * sizeof *bigger);
    if (!bigger) return false;
    device->allocations = bigger;
    device->capacity = more;
    return true;
}

static void free_allocation(hpt_emu_allocation *a) {
    if (!a) return;
    free(a->data);
    free(a->state);
    free(a->landed);
    free(a->writers);
    free(a);
}

hpt_status hpt_emu_alloc(hpt_emu_device *device, hpt_emu_allocation **out, size_t bytes, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_emu_allocation *a = NULL;
    HPT_FAIL_IF(bytes > (size_t)1 << 40, HPT_NO_MEMORY, "", "%zu bytes are more than the emulated device has.", bytes);
    HPT_FAIL_IF(!make_room(device), HPT_NO_MEMORY, "", "Out of memory.");
    a = calloc(1, sizeof *a);
    HPT_FAIL_NO_MEMORY(a);
    a->bytes = bytes;
    a->data = calloc(bytes + 1, 1);
    a->state = calloc(bytes + 1, 1);
    a->landed = calloc(bytes / HPT_EMU_LINE + 1, sizeof *a->landed);
    HPT_FAIL_IF(!a->data || !a->state || !a->landed, HPT_NO_MEMORY, "", "Out of memory for %zu bytes.", bytes);
    if (!device->next) device->next = HPT_EMU_FIRST_ADDRESS;
    a->address = device->next;
    device->next += (bytes + GUARD - 1) / 256 * 256 + GUARD; /* addresses only grow: a freed one is never valid again */
    device->allocations[device->count++] = a;
    *out = a;
    a = NULL;
done:
    free_allocation(a);
    return status;
}

void hpt_emu_free(hpt_emu_device *device, hpt_device_ptr address) {
    for (size_t k = 0; k < device->count; k++) {
        if (device->allocations[k]->address != address) continue;
        free_allocation(device->allocations[k]);
        memmove(&device->allocations[k], &device->allocations[k + 1],
                (device->count - k - 1) * sizeof *device->allocations);
        device->count--;
        return;
    }
}

uint64_t hpt_emu_landed_bytes(const hpt_emu_device *device, hpt_device_ptr address, size_t bytes) {
    uint64_t sum = 0;
    for (size_t k = 0; k < device->count; k++) {
        const hpt_emu_allocation *a = device->allocations[k];
        uint64_t from = address > a->address ? address - a->address : 0, to = address + bytes - a->address;
        if (address + bytes <= a->address || from >= a->bytes) continue;
        if (to > a->bytes) to = a->bytes;
        for (uint64_t line = from / HPT_EMU_LINE; line * HPT_EMU_LINE < to; line++) sum += a->landed[line];
    }
    return sum;
}

/* Takes the tags of one half off all memory. */
static void forget_tags(hpt_emu_device *device, bool upper) {
    for (size_t k = 0; k < device->count; k++) {
        hpt_emu_allocation *a = device->allocations[k];
        for (size_t b = 0; b < a->bytes; b++) {
            int tag = a->state[b] >> 2;
            if (tag && (tag > HPT_EMU_STATE_TAGS / 2) == upper) a->state[b] &= 3;
        }
    }
}

void hpt_emu_next_launch(hpt_emu_device *device) {
    device->launches++;
    device->proxy_fenced = false;
    /* half by half, so that the launch before, whose tag is in the other half, keeps its own */
    int place = (int)(device->launches % HPT_EMU_STATE_TAGS);
    if (place == 0) forget_tags(device, false);
    if (place == HPT_EMU_STATE_TAGS / 2) forget_tags(device, true);
}
