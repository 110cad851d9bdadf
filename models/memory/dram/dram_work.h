/* SPDX-License-Identifier: Apache-2.0 */
/* How long nothing completes for certain. Host-free. */
#ifndef CNNVP_DRAM_WORK_H
#define CNNVP_DRAM_WORK_H

#include "dram_stream.h"

/* A clock before which no request of those that wait or have entered completes, `start` being that of the next thing
 * that happens. */
uint64_t dram_work(const struct dram_queue *queue, uint64_t start);

#endif
