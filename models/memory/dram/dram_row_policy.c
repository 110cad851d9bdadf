/* SPDX-License-Identifier: Apache-2.0 */
/* Page policies. */
#include "dram_policy.h"

static int never(const struct dram_channel *channel, uint32_t bank)
{
    (void)channel, (void)bank;
    return 0;
}

static int without_hits(const struct dram_channel *channel, uint32_t bank)
{
    return !((channel->hits[0] | channel->hits[1]) >> bank & 1u);
}

const struct dram_row_policy dram_row_policy_open = {.closes = never};
const struct dram_row_policy dram_row_policy_closed = {.closes = without_hits};
