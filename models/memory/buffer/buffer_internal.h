/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer (a scratchpad is one with several regions) and its host-free parts: updates, port timing, live values. */
#pragma once

#include "cnnvp_buffer.h"
#include "units.h"

/* ---- updates (buffer_update.c) ---- */

/* Alignment of partial sums, in bytes. */
#define BUFFER_SUM_ALIGNMENT 2u

/* Returns CNNVP_OK, or why the buffer refuses the update: CNNVP_E_INVAL malformed, CNNVP_E_ADDR outside the half,
 * CNNVP_E_ACCESS misaligned. */
CNNVP_MUST_USE int buffer_update_check(const struct cnnvp_update *update, uint64_t half_bytes);
/* Applies a checked update to the half's storage. Counts clipped words in update->saturated. */
void buffer_update_apply(struct cnnvp_update *update, uint8_t *half);

/* ---- the port (buffer_port.c) ---- */

/* Clocks in which `words` cross the port if they come evenly. */
uint64_t buffer_port_cycles(const struct cnnvp_buffer_shape *shape, uint64_t words);

/* Clocks by which a class of words of `word_bytes` is late, in all its occurrences together. `generated`: the words do
 * not come from the banks. */
uint64_t buffer_port_late(const struct cnnvp_buffer_shape *shape, const struct cnnvp_buffer_clocks *clocks,
                          uint32_t word_bytes, int generated);

/* ---- live values of a half (buffer_live.c) ---- */

/* Maximum ranges of each half; if there are more, the newest two are merged. */
#define BUFFER_RANGES 32u

struct buffer_range {
    uint64_t begin; /* bytes in the half */
    uint64_t end;
    uint64_t feature_words;
    uint64_t reader;     /* of copies of values in memory: the instruction that read them last */
    uint32_t word_bytes; /* 1, 2 or 4; of partial sums, the size of their slot */
    uint32_t copies;
    uint32_t sums; /* 1: they are partial sums */
};

/* `reader` of a range that no instruction has read. */
#define BUFFER_NO_READER UINT64_MAX

struct buffer_live {
    struct buffer_range ranges[BUFFER_RANGES];
    uint32_t count;
};

/* The DMA has written [begin, end), in place of the values there. If it has written no feature values (a border,
 * weights), live values in the range stay. */
void buffer_live_load(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                      uint32_t word_bytes, uint32_t copies);
/* Makes exactly `feature_words` values of [begin, end) live. */
void buffer_live_mark(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                      uint32_t word_bytes);
/* Instruction `reader` reads [begin, end). Returns 1 if that includes copies that it had not read before. */
int buffer_live_read(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t reader);
/* 1 if the values of the range are live while `reader` is the newest instruction that reads the buffer. */
int buffer_live_counts(const struct buffer_range *range, uint64_t reader);
/* A calculation unit has written results that span [begin, end). They replace others or, with strides between planes,
 * lie among them (the row tiles of a map). */
void buffer_live_result(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words,
                        uint32_t word_bytes);
/* The same for partial sums. */
void buffer_live_sums(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t sums, uint32_t sum_bytes);
/* A write-out has used up the partial sums at [begin, end). */
void buffer_live_drop(struct buffer_live *live, uint64_t begin, uint64_t end);
/* [begin, end) has been stored to memory or moved away: `feature_words` values have left, 0: all in the range. The
 * partial sums of the half end, too. */
void buffer_live_leave(struct buffer_live *live, uint64_t begin, uint64_t end, uint64_t feature_words);

/* ---- the unit (buffer.c) ---- */

#define BUFFER_WINDOW (UINT64_C(1) << 32) /* address range of a port */
#define BUFFER_REGIONS 3u

/* A region, which is the same part of both halves, behind the port of the same number. */
struct buffer_region {
    struct buffer_live live[2];
    uint64_t reader; /* the newest instruction of a calculation unit that reads the region */
};

/* The accesses of a command to all regions at one time, and by how much they are late so far. */
struct buffer_command {
    cnnvp_time at;
    uint64_t flow;
    uint64_t cycles, words, late;
};

struct buffer {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint8_t *storage;    /* both halves; NULL if only timing is simulated */
    uint8_t *ones;       /* a half filled with words of 1, made at the first read as ones */
    uint32_t ones_bytes; /* of each of these words */
    uint64_t half_bytes;
    uint32_t halves;
    struct cnnvp_buffer_shape shape;
    uint64_t latency;
    uint64_t clock_mhz;
    int timing_only;
    struct buffer_region regions[BUFFER_REGIONS];
    uint32_t region_count;
    uint32_t bases[BUFFER_REGIONS - 1u]; /* first byte, in a half, of the second and of the third region */
    struct buffer_command command;
};

CNNVP_MUST_USE int buffer_init(void *self, const struct cnnvp_init *init);
void buffer_fini(void *self);
void buffer_reset(void *self);
int buffer_access(void *self, uint32_t port, struct cnnvp_access *access);
void buffer_costs(const uint64_t *params, const struct cnnvp_costs *costs);
void buffer_show(void *self, const struct cnnvp_show *show);
