/* SPDX-License-Identifier: Apache-2.0 */
/* What binds: sums of compute cycles and stall causes (stats.def). */
#include "stats_builder.h"

void cnnvp_bounds_add(struct cnnvp_bounds *bounds, const uint64_t *sums)
{
    bounds->compute += sums[CNNVP_COLUMN_COMPUTE];
#define CNNVP_STALL(cause, bound, help) bounds->bound += sums[CNNVP_COLUMN_STALL_##cause];
#include "stats.def"
}

const char *cnnvp_bounds_largest(const struct cnnvp_bounds *bounds)
{
    const char *name = "";
    uint64_t most = 0;
#define CNNVP_BOUND(candidate, help) \
    if (bounds->candidate > most) {  \
        most = bounds->candidate;    \
        name = #candidate;           \
    }
#include "stats.def"
    return name;
}
