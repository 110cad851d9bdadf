/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of a lone stream from open rows, in short. Host-free. */
#ifndef CNNVP_DRAM_READS_H
#define CNNVP_DRAM_READS_H

#include "dram_stream.h"

enum dram_progress {
    DRAM_STUCK,   /* nothing was done */
    DRAM_MOVED,   /* something was */
    DRAM_DECIDED, /* nothing is left to do up to `last` */
};

/* Goes on to `last`, or as far as a lone stream reads from open rows, or to a new first completion. */
enum dram_progress dram_reads_run(struct dram_queue *queue, uint64_t last);

#endif
