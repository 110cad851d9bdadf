/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the end of one row to the next. Host-free. */
#ifndef CNNVP_DRAM_CHANGE_H
#define CNNVP_DRAM_CHANGE_H

#include "dram_run.h"

/* If bursts of one row enter and issue by turns (dram_is_periodic()), and the next burst is the first of a row whose
 * bank is closed: goes on to where it is so again in that row, as it went the last time that it was like that, and
 * returns 1. */
int dram_row_change(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* It is so in the next burst's row: if that was changed to since dram_row_change() was asked, keeps how. */
void dram_change_learn(struct dram_run *run, uint64_t ready);

#endif
