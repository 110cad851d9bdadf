/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory alone: traces of bursts through its model, without a platform around it. */
#ifndef CNNVP_MEMORY_H
#define CNNVP_MEMORY_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct cnnvp_memory_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_memory_options) */
    uint32_t outstanding; /* reads on their way at most, 1 or more; more than 1024 counts as that */
    const char *trace;    /* NULL, or a file for the bandwidth over time: .pftrace, .vcd, .fst */
    int untimed;          /* 1: times in the trace count for nothing */
};

struct cnnvp_memory_result {
    uint64_t reads; /* bursts of 64 bytes */
    uint64_t writes;
    uint64_t clocks; /* of the memory, until the last read data and until the last write was taken */
    uint64_t time_ps;
    double bytes_per_s;
    double mean_read_latency_ps; /* from when the controller took a read to its last data */
    uint64_t row_hits, row_misses, row_conflicts;
    uint64_t forwarded; /* reads answered from the write queue */
    uint64_t merged;    /* writes that took the place of one to the same burst there */
    uint64_t refreshes;
    uint64_t turnarounds;
};

/*
 * Replays a trace through the configuration's off-chip memory (its instance `dram`) alone: a line `R ADDRESS` or `W
 * ADDRESS` for each burst, decimal or 0x..., in the order of one requester's program, each sent as soon as the
 * controllers take it. A burst with a time in ps after the address, as a run's memory trace has it, is sent at the
 * clock of that time, however many are on their way; a line `E TIME` ends such a trace: what a run had counted by then.
 * All bursts have a time, up to 100 s, or none. Addresses are offsets in the memory; beyond the parts' capacity they
 * begin again at 0. Empty lines and comments (#) count for nothing. `json` (may be NULL) receives statistics as those
 * of a run; free with free().
 */
CNNVP_MUST_USE cnnvp_result cnnvp_memory_replay(
    const cnnvp_config *config, const char *file, const struct cnnvp_memory_options *options,
    struct cnnvp_memory_result *result, char **json, struct cnnvp_error *error);

/* Patterns of bursts. MIXED: one after the other, every third a write. STRIDED: every 4 KiB. */
enum cnnvp_memory_pattern {
    CNNVP_MEMORY_READ = 0,
    CNNVP_MEMORY_WRITE = 1,
    CNNVP_MEMORY_MIXED = 2,
    CNNVP_MEMORY_STRIDED = 3,
    CNNVP_MEMORY_RANDOM = 4,
    CNNVP_MEMORY_PATTERNS = 5
};

struct cnnvp_memory_streams {
    char preset[32];
    double peak; /* bytes/s that the data buses carry at most */
    double bytes_per_s[CNNVP_MEMORY_PATTERNS];
};

/* What the part that `dram.preset` is set to delivers, or each where it is not set, the memory's other parameters as
 * configured: each pattern through the memory alone, with at most `outstanding` reads on their way (1 to 1024), in as
 * many whole refresh intervals as 65536 clocks have, at least one, after a first one. *count of them, `room` at most,
 * without parts that cannot be as the other parameters say. BAD_INPUT: the platform has no such memory, or no part can
 * be so. */
CNNVP_MUST_USE cnnvp_result cnnvp_memory_stream(const cnnvp_config *config, uint32_t outstanding,
                                                struct cnnvp_memory_streams *streams, size_t room, size_t *count,
                                                struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
