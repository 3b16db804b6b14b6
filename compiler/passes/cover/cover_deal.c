/* Dealing paths to accumulators. A sequence that never uses one twice running exists exactly if no accumulator gets
 * more than half of the products, rounded up. With two accumulators that is a subset-sum question; with three or more,
 * longest first into the emptiest always fits unless one path alone is too long. */
#include "cover.h"
#include <stdlib.h>
#include <string.h>

static bool deal_two(int32_t *group, const int32_t *length, int32_t paths, int32_t total) {
    size_t width = (size_t)total + 1;
    int32_t half = (total + 1) / 2, best = 0;
    uint8_t *reach = calloc((size_t)paths + 1, width); /* reach[i][sum]: the first i paths can make sum */
    if (!reach) return false;
    reach[0] = 1;
    for (int32_t i = 0; i < paths; i++)
        for (int32_t sum = 0; sum <= half; sum++) {
            if (!reach[(size_t)i * width + (size_t)sum]) continue;
            reach[((size_t)i + 1) * width + (size_t)sum] = 1;
            if (sum + length[i] <= half) reach[((size_t)i + 1) * width + (size_t)(sum + length[i])] = 1;
        }
    for (int32_t sum = 0; sum <= half; sum++)
        if (reach[(size_t)paths * width + (size_t)sum]) best = sum;
    for (int32_t i = paths - 1, sum = best; i >= 0; i--) {
        bool without = reach[(size_t)i * width + (size_t)sum];
        group[i] = without; /* 0 holds the larger half */
        if (!without) sum -= length[i];
    }
    free(reach);
    return total - best <= half;
}

/* The yes or no of deal_two, without a table of who goes where. */
static bool can_deal_two(const int32_t *length, int32_t paths, int32_t total) {
    enum { MOST = 2049 };
    uint8_t reach[MOST] = {1};
    int32_t half = (total + 1) / 2;
    if (half >= MOST) return false;
    for (int32_t i = 0; i < paths; i++)
        for (int32_t sum = half - length[i]; sum >= 0; sum--)
            if (reach[sum]) reach[sum + length[i]] = 1;
    for (int32_t sum = total - half; sum <= half; sum++)
        if (reach[sum]) return true;
    return false;
}

static bool deal_many(int32_t *group, const int32_t *length, int32_t paths, int32_t total, int32_t accumulators) {
    int32_t load[8] = {0}, most = 0;
    if (accumulators > 8) accumulators = 8;
    for (int32_t want = total; want >= 1; want--) /* longest first */
        for (int32_t i = 0; i < paths; i++) {
            if (length[i] != want) continue;
            int32_t low = 0;
            for (int32_t a = 1; a < accumulators; a++)
                if (load[a] < load[low]) low = a;
            load[low] += want;
            if (group) group[i] = low;
            if (load[low] > most) most = load[low];
        }
    return most <= (total + 1) / 2;
}

bool hpt_cover_alternates(int32_t *group, const int32_t *length, int32_t paths, int32_t accumulators) {
    int32_t total = 0;
    for (int32_t i = 0; i < paths; i++) total += length[i];
    if (accumulators == 1) {
        if (group) memset(group, 0, (size_t)paths * sizeof *group);
        return total <= 1;
    }
    if (accumulators == 2 && !group) return can_deal_two(length, paths, total);
    return accumulators == 2 ? deal_two(group, length, paths, total)
                             : deal_many(group, length, paths, total, accumulators);
}
