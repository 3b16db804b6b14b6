#include "tcgen05.h"
#include <string.h>

enum { INSIDE = 0xFFFF, GRAINS = HPT_TMEM_COLUMNS / HPT_TMEM_GRAIN };

hpt_status hpt_tmem_columns_check(uint32_t columns, hpt_error *error) {
    if (columns >= 32 && columns <= 512 && !(columns & (columns - 1))) return HPT_OK;
    return hpt_error_set(error, HPT_EMULATOR, "allocation",
                         "%u columns of tensor memory: must be a power of two from 32 to 512.", columns);
}

bool hpt_tmem_alloc(hpt_tmem *tmem, uint32_t columns, uint32_t *base) {
    uint32_t need = columns / HPT_TMEM_GRAIN;
    for (uint32_t start = 0; start + need <= GRAINS; start += need) {
        uint32_t i = 0;
        while (i < need && !tmem->owner[start + i]) i++;
        if (i < need) continue;
        for (i = 0; i < need; i++) tmem->owner[start + i] = i ? INSIDE : (uint16_t)columns;
        *base = start * HPT_TMEM_GRAIN;
        return true;
    }
    return false;
}

hpt_status hpt_tmem_dealloc(hpt_tmem *tmem, uint32_t base, uint32_t columns, hpt_error *error) {
    uint32_t first = base / HPT_TMEM_GRAIN, column = base & 0xFFFF;
    if (base >= HPT_TMEM_COLUMNS || base % HPT_TMEM_GRAIN || tmem->owner[first] != columns)
        return hpt_error_set(error, HPT_EMULATOR, "allocation",
                             "Address 0x%08x with %u columns is not an allocation of tensor memory.", base, columns);
    for (uint32_t i = 0; i < columns / HPT_TMEM_GRAIN; i++) tmem->owner[first + i] = 0;
    for (uint32_t lane = 0; lane < HPT_TMEM_LANES; lane++)
        memset(&tmem->written[lane][column], 0, columns * sizeof tmem->written[0][0]);
    for (uint32_t quarter = 0; quarter < HPT_TMEM_QUARTERS; quarter++) {
        memset(&tmem->writer[quarter][column], 0, columns * sizeof tmem->writer[0][0]);
        memset(&tmem->reader[quarter][column], 0, columns * sizeof tmem->reader[0][0]);
    }
    return HPT_OK;
}

uint32_t hpt_tmem_allocated(const hpt_tmem *tmem) {
    uint32_t columns = 0;
    for (uint32_t i = 0; i < GRAINS; i++) columns += tmem->owner[i] ? HPT_TMEM_GRAIN : 0;
    return columns;
}

hpt_status hpt_tmem_range_check(const hpt_tmem *tmem, uint32_t column, uint32_t count, hpt_error *error) {
    for (uint32_t c = column; c < column + count; c++)
        if (c >= HPT_TMEM_COLUMNS || !tmem->owner[c / HPT_TMEM_GRAIN])
            return hpt_error_set(error, HPT_EMULATOR, "allocation",
                                 "Column %u of the accessed columns %u to %u is not allocated.", c, column,
                                 column + count - 1);
    return HPT_OK;
}

/* ---- loads and stores
 * ------------------------------------------------------------------------------------------------ */
static const struct {
    uint32_t registers, width, lanes; /* of .x1 */
} shapes[] = {
    [HPT_TMEM_32X32B] = {1, 1, 32},
    [HPT_TMEM_16X64B] = {1, 2, 16},
    [HPT_TMEM_16X128B] = {2, 4, 16},
    [HPT_TMEM_16X256B] = {4, 8, 16},
};

uint32_t hpt_tmem_registers(const hpt_tmem_access *access) { return shapes[access->shape].registers * access->repeat; }

uint32_t hpt_tmem_width(const hpt_tmem_access *access) {
    return shapes[access->shape].width * access->repeat * (access->half ? 2 : 1);
}

hpt_status hpt_tmem_access_check(const hpt_tmem *tmem, const hpt_tmem_access *access, uint32_t quarter,
                                 hpt_error *error) {
    uint32_t lane = access->address >> 16, lanes = shapes[access->shape].lanes;
    if (lane / 32 != quarter)
        return hpt_error_set(error, HPT_EMULATOR, "lanes",
                             "A warp of rank %u in its warpgroup reaches lanes %u to %u, not lane %u.", quarter,
                             32 * quarter, 32 * quarter + 31, lane);
    if (lane % lanes)
        return hpt_error_set(error, HPT_EMULATOR, "lanes",
                             "Lane %u of the address must be a multiple of %u for this shape.", lane, lanes);
    return hpt_tmem_range_check(tmem, access->address & 0xFFFF, hpt_tmem_width(access), error);
}

/* Lane and column, from the base, of register r of thread t. */
static void fragment(hpt_tmem_shape shape, uint32_t t, uint32_t r, uint32_t *lane, uint32_t *column) {
    *lane = t, *column = r;
    if (shape == HPT_TMEM_16X64B) *lane = t / 4 + 8 * (t % 2), *column = t / 2 % 2 + 2 * r;
    if (shape == HPT_TMEM_16X128B) *lane = t / 4 + 8 * (r % 2), *column = t % 4 + 4 * (r / 2);
    if (shape == HPT_TMEM_16X256B) *lane = t / 4 + 8 * (r / 2 % 2), *column = r % 2 + 2 * (t % 4) + 8 * (r / 4);
}

hpt_status hpt_tmem_load(const hpt_tmem *tmem, const hpt_tmem_access *access, uint32_t *registers, hpt_error *error) {
    uint32_t base_lane = access->address >> 16, base = access->address & 0xFFFF, count = hpt_tmem_registers(access);
    uint32_t step = access->half ? 2 : 1;
    for (uint32_t t = 0; t < 32; t++)
        for (uint32_t r = 0; r < count; r++) {
            uint32_t lane, column;
            fragment(access->shape, t, r, &lane, &column);
            lane += base_lane, column = base + column * step;
            uint32_t value = tmem->cell[lane][column];
            bool written = tmem->written[lane][column];
            if (access->half) {
                value = (value & 0xFFFF) | tmem->cell[lane][column + 1] << 16;
                written = written && tmem->written[lane][column + 1];
            }
            if (!written)
                return hpt_error_set(error, HPT_EMULATOR, "unwritten",
                                     "Lane %u, column %u of tensor memory is read but was never written.", lane,
                                     column);
            registers[t * count + r] = value;
        }
    return HPT_OK;
}

void hpt_tmem_store(hpt_tmem *tmem, const hpt_tmem_access *access, const uint32_t *registers) {
    uint32_t base_lane = access->address >> 16, base = access->address & 0xFFFF, count = hpt_tmem_registers(access);
    uint32_t step = access->half ? 2 : 1;
    for (uint32_t t = 0; t < 32; t++)
        for (uint32_t r = 0; r < count; r++) {
            uint32_t lane, column, value = registers[t * count + r];
            fragment(access->shape, t, r, &lane, &column);
            lane += base_lane, column = base + column * step;
            for (uint32_t i = 0; i < step; i++) {
                tmem->cell[lane][column + i] = access->half ? value >> (16 * i) & 0xFFFF : value;
                tmem->written[lane][column + i] = true;
            }
        }
}
