/* SPDX-License-Identifier: Apache-2.0 */
/* Extremes of values and their positions. Implements extremes.h. */
#include "extremes.h"

#include <float.h>
#include <math.h>

enum { LANES = 16 };

/* Takes a value into each of the lanes. Comparisons with NaN are false; the bounds exclude infinities. */
static inline void take(const float *x, unsigned lanes, float *low, float *high)
{
    for (unsigned l = 0; l < lanes; ++l) {
        const float value = x[l];
        low[l] = value < low[l] && value >= -FLT_MAX ? value : low[l];
        high[l] = value > high[l] && value <= FLT_MAX ? value : high[l];
    }
}

/* Finds the least and the greatest finite value. If there is none, the greatest is below the least. */
static void sweep(const float *x, uint64_t n, float *least, float *greatest)
{
    float low[LANES];
    float high[LANES];
    for (unsigned l = 0; l < LANES; ++l) {
        low[l] = INFINITY;
        high[l] = -INFINITY;
    }
    for (uint64_t i = 0; i < n; i += LANES) {
        if (n - i >= LANES)
            take(x + i, LANES, low, high);
        else
            take(x + i, (unsigned)(n - i), low, high);
    }
    for (unsigned l = 1; l < LANES; ++l) {
        low[0] = low[l] < low[0] ? low[l] : low[0];
        high[0] = high[l] > high[0] ? high[l] : high[0];
    }
    *least = low[0];
    *greatest = high[0];
}

/* Updates the extreme with the first value equal to `found`, unless the extreme has the same value and a smaller
 * number. */
static void keep(const float *x, float found, uint64_t first, float *extreme, uint32_t *extreme_at)
{
    uint64_t i = 0;
    while (!(x[i] == found))
        ++i;
    if (found == *extreme && first + i >= *extreme_at)
        return;
    *extreme = x[i];
    *extreme_at = (uint32_t)(first + i);
}

void cnnvp_extremes_add(const float *x, uint64_t n, uint64_t first, struct cnnvp_extremes *extremes)
{
    float least;
    float greatest;
    sweep(x, n, &least, &greatest);
    /* If there is no finite value, least and greatest are infinite. An equal value replaces the extreme if its number
     * is smaller. */
    if (least <= FLT_MAX && (least < extremes->min || (least <= extremes->min && first < extremes->min_at)))
        keep(x, least, first, &extremes->min, &extremes->min_at);
    if (greatest >= -FLT_MAX && (greatest > extremes->max || (greatest >= extremes->max && first < extremes->max_at)))
        keep(x, greatest, first, &extremes->max, &extremes->max_at);
}

void cnnvp_extremes_add_apart(const float *x, uint64_t n, uint64_t first, uint64_t a, uint64_t b,
                              struct cnnvp_extremes *extremes)
{
    const uint64_t end = first + n;
    const uint64_t cuts[2] = {a < b ? a : b, a < b ? b : a};
    uint64_t from = first;
    for (unsigned i = 0; i < 2u; ++i) {
        if (cuts[i] < from || cuts[i] >= end)
            continue;
        cnnvp_extremes_add(x + (from - first), cuts[i] - from, from, extremes);
        from = cuts[i] + 1u;
    }
    cnnvp_extremes_add(x + (from - first), end - from, from, extremes);
}

float cnnvp_extremes_magnitude(const struct cnnvp_extremes *extremes)
{
    if (!(extremes->min <= extremes->max))
        return 0.0f;
    const float low = extremes->min < 0.0f ? -extremes->min : extremes->min;
    const float high = extremes->max < 0.0f ? -extremes->max : extremes->max;
    return low > high ? low : high;
}
