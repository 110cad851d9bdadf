/* SPDX-License-Identifier: Apache-2.0 */
/* Reads along one row. Host-free. */
#ifndef CNNVP_DRAM_ROW_H
#define CNNVP_DRAM_ROW_H

#include "dram_run.h"

/* Bursts of one row enter and issue by turns (dram_is_periodic()): makes all that fit before the row, the request or
 * the time ends, and returns 1; 0 if there are few. */
int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

#endif
