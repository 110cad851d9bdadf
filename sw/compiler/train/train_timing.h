/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_COMPILER_TRAIN_TIMING_H
#define CNNVP_COMPILER_TRAIN_TIMING_H

#include "compiler.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t cnnvp_divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1u) / b;
}

/* What the estimate of a layer's time is made from; ps are picoseconds. */
struct cnnvp_train_timing {
    uint32_t cycle;            /* ps of the accelerator's */
    uint32_t core;             /* ps of the core's */
    uint32_t strict;           /* 1: each instruction waits for the one before */
    uint32_t burst;            /* ps of 64 bytes that follow others */
    uint32_t read;             /* the same of reads: so many may be on their way */
    uint32_t bus;              /* ps of 64 bytes on the bus, where bank groups take turns */
    uint32_t turning;          /* the same, reads and writes between each other */
    uint32_t refresh;          /* 1024ths of the time */
    uint32_t row;              /* ps from opening a row to opening another one of its bank */
    uint32_t reopen;           /* ps from the last burst of a row to the first of another one of its bank */
    uint32_t most_hidden;      /* ps of that, and of a burst, that others' bursts hide at most */
    uint32_t row_bytes;
    uint32_t banks;
    uint32_t latency;          /* ps from a read to its data */
    uint32_t hit;              /* the same where the row is open */
    uint32_t write_latency;    /* ps until the memory has taken a write */
    uint32_t outstanding;      /* bursts that are read and on their way, at most */
    uint32_t queued;           /* bursts that wait in the memory while it writes */
    uint64_t posted;           /* ps of writing that the memory has taken and not done yet, at most */
    uint64_t posted_rest;      /* of these, what reads need not wait for */
    uint32_t port;             /* ps of 64 bytes at the DMA's port */
    uint32_t ahead;            /* bursts that are read before the buffer is free */
    uint64_t lead;             /* ps that the core may be ahead when the layer begins */
    uint64_t most_lead;        /* until the element's queue is full */
    uint32_t load_core, calculate_core, post_core, store_core; /* cycles of the core */
};


/* From the platform's memory, DMA and clocks; what it has not counts as the presets' own. */
struct cnnvp_train_timing cnnvp_train_timing_of(const cnnvp_config *config);

/* Busy time of the memory, in ps: pieces of so many bytes, whose starts lie so many apart, read or written. */
uint64_t cnnvp_train_pieces_ps(const struct cnnvp_train_timing *timing, uint64_t pieces, uint64_t bytes,
                               uint64_t distance, int written);

/* What loads and stores that run beside each other for so long take more. */
uint64_t cnnvp_train_shared_ps(const struct cnnvp_train_timing *timing, uint64_t busy);

#endif
