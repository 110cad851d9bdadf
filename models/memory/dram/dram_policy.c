/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of dram_policy.h. */
#include "dram_policy.h"

#define DRAM_ENTRY(symbol, name, help) &dram_scheduler_##symbol,
const struct dram_scheduler *const dram_schedulers[] = {DRAM_SCHEDULERS(DRAM_ENTRY)};
#undef DRAM_ENTRY
#define DRAM_ENTRY(symbol, name, help) &dram_row_policy_##symbol,
const struct dram_row_policy *const dram_row_policies[] = {DRAM_ROW_POLICIES(DRAM_ENTRY)};
#undef DRAM_ENTRY
#define DRAM_ENTRY(symbol, name, help) &dram_refresh_##symbol,
const struct dram_refresh *const dram_refreshes[] = {DRAM_REFRESHES(DRAM_ENTRY)};
#undef DRAM_ENTRY
#define DRAM_ENTRY(symbol, name, help) &dram_arbiter_##symbol,
const struct dram_arbiter *const dram_arbiters[] = {DRAM_ARBITERS(DRAM_ENTRY)};
