/* SPDX-License-Identifier: Apache-2.0 */
/* Trains of reads. Host-free. */
#ifndef CNNVP_DRAM_TRAIN_H
#define CNNVP_DRAM_TRAIN_H

#include "dram_run.h"

/* `next`, of a waiting burst, belongs to the window that `columns` counts. If from it on RDs follow each other at one
 * spacing, those of one bank group or of two by turns: makes those of the bursts that wait, with what enters meanwhile,
 * and returns 1. */
int dram_train(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

#endif
