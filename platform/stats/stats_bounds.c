/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks: sums of compute cycles and stall causes (stats.def). */
#include "stats_builder.h"

void cnnvp_bounds_add(struct cnnvp_bounds *bounds, const uint64_t *sums, uint64_t pe_cycles, uint64_t pes)
{
    const uint64_t cycles = sums[CNNVP_COLUMN_COMPUTE];
    const uint64_t full = pes != 0 ? pe_cycles / pes + (pe_cycles % pes != 0) : 0;
    const uint64_t idle = full != 0 && full < cycles ? cycles - full : 0;
    bounds->compute += cycles - idle;
    bounds->mapping += idle;
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
