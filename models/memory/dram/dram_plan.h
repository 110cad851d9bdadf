/* SPDX-License-Identifier: Apache-2.0 */
/* Which command a channel issues next, and when. Host-free. */
#ifndef CNNVP_DRAM_PLAN_H
#define CNNVP_DRAM_PLAN_H

#include "dram_state.h"

void dram_plan_make(struct dram_channel *channel);

/* Takes what was planned for the clocks before `clock` as decided, and makes the plan anew when it is asked for. */
void dram_plan_pass(struct dram_channel *channel, uint64_t clock);

/* A burst has entered at `clock`; `behind`: others of its bank go before it. The next command stays what it is where
 * that burst neither can be it nor changes which queue is served. */
void dram_plan_enter(struct dram_channel *channel, uint64_t clock, int behind);

#endif
