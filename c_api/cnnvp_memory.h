/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory alone: runs traces of bursts through its model without a platform. */
#ifndef CNNVP_MEMORY_H
#define CNNVP_MEMORY_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct cnnvp_memory_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_memory_options) */
    uint32_t outstanding; /* largest number of reads in flight, 1 or more; values above 1024 count as 1024 */
    const char *trace;    /* NULL, or a file for a trace of the bandwidth: .pftrace, .vcd, .fst */
    int untimed;          /* 1: ignores the times in the trace */
};

struct cnnvp_memory_result {
    uint64_t reads; /* bursts of 64 bytes */
    uint64_t writes;
    uint64_t clocks; /* memory clocks until the last data crossed the buses; to the line E, or the last burst, if there
                        is one */
    uint64_t time_ps;
    double bytes_per_s;
    double mean_read_latency_ps; /* from the controller's acceptance of a read to its last data */
    uint64_t row_hits, row_misses, row_conflicts;
    uint64_t forwarded; /* reads answered from the write queue */
    uint64_t merged;    /* writes that replaced a queued write to the same burst */
    uint64_t refreshes;
    uint64_t turnarounds;
};

/*
 * Replays a trace through the configuration's off-chip memory (instance `dram`) alone.
 *
 * Each line `R ADDRESS` or `W ADDRESS` is one burst, decimal or 0x..., in the program order of one requester. Each
 * burst is sent as soon as the controllers accept it. A time in ps may follow the address, as in the memory trace of a
 * run; such a burst is sent at the clock of that time, however many are in flight. A line `Z TIME` is a reset,
 * which forgets the bursts that wait. A line `E TIME` ends such a trace; it gives the time at which the run's
 * statistics ended. Either all bursts have a time, of up to 100 s, or none.
 *
 * Addresses are offsets in the memory; addresses beyond the capacity wrap around. Empty lines and comments (#) are
 * ignored. `json` (may be NULL) receives statistics as of a run; free with free().
 */
CNNVP_MUST_USE cnnvp_result cnnvp_memory_replay(
    const cnnvp_config *config, const char *file, const struct cnnvp_memory_options *options,
    struct cnnvp_memory_result *result, char **json, struct cnnvp_error *error);

/* Patterns of bursts. MIXED: consecutive, every third is a write. STRIDED: one burst every 4 KiB. */
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
    double peak; /* peak bandwidth of the data buses, bytes/s */
    double bytes_per_s[CNNVP_MEMORY_PATTERNS];
};

/* Measures the bandwidth of the part that `dram.preset` selects, or of every part if it is not set; the memory's other
 * parameters stay as configured. Each pattern runs through the memory alone, with at most `outstanding` reads in flight
 * (1 to 1024). After one warm-up refresh interval it is measured over as many whole refresh intervals as fit into 65536
 * clocks, at least one. Fills *count entries, at most `room`. Parts that the other parameters do not allow are left
 * out. BAD_INPUT: the platform has no such memory, or no part is possible. */
CNNVP_MUST_USE cnnvp_result cnnvp_memory_stream(const cnnvp_config *config, uint32_t outstanding,
                                                struct cnnvp_memory_streams *streams, size_t room, size_t *count,
                                                struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
