/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write-out stage behind a PE array or the lanes of the vector unit: what a sum goes through on its way to the
 * output buffer, in one pass. The parameter write_out says what a unit has of it:
 *   round   word = saturate(round(sum * 2^-shift)), cnnvp_round_fx16 (cnnvp_command.h); where words have 8 bits their
 *           zero point is added, and saturated to 8 bits
 *   clip    the same, then low <= word <= high where the command says so: ReLU, ReLU6, any limits
 *   scale   besides, where the command says so, word = saturate16(round(cnnvp_scaled(sum) * 2^-shift)) by the record of
 *           its channel, before the limits: a quantised result, as onnxruntime has it
 *   table   besides, where the command says so, that word, which has 16 bits then and no zero point, goes through a
 *           piecewise-linear function: word = saturate(round(R * 2^-table_shift) + zero), R of vact
 *           (inference/lanes/lanes.h). Each lane has the table's segments in a memory of its own, which the command
 *           loads before its first result
 * It takes a set of results in a clock, each by a lane of its own.
 */
#ifndef CNNVP_WRITE_OUT_H
#define CNNVP_WRITE_OUT_H

#include "cnnvp_buffer.h"

/* In the order of the parameter's choices. */
enum cnnvp_write_out_has {
    CNNVP_WRITE_OUT_ROUNDS,
    CNNVP_WRITE_OUT_CLIPS,
    CNNVP_WRITE_OUT_SCALES,
    CNNVP_WRITE_OUT_TABLES
};

/* Stages that a sum which is scaled takes more: offset and binary32, multiplier, rounding. */
#define CNNVP_WRITE_OUT_SCALE_STAGES 3u
/* And one that a table takes: segment, line, rounding. */
#define CNNVP_WRITE_OUT_TABLE_STAGES 3u
/* Segments that a table has room for. */
#define CNNVP_WRITE_OUT_TABLE_SEGMENTS 256u

/* shift: -48 .. 63; low <= high where `clips` is set. */
struct cnnvp_write_out {
    int32_t shift;
    uint32_t rounding; /* enum cnnvp_round_mode */
    uint64_t seed;     /* of stochastic rounding */
    int clips;
    int16_t low, high;
    const int16_t *scales; /* struct cnnvp_update */
    uint64_t scale_sums;
    uint32_t word_bytes; /* 1 or 2 */
    int16_t zero;        /* of words of 8 bits */
    const void *table;   /* struct cnnvp_update */
    int32_t table_shift;
};

/* words[i] is what comes of sums[i], whose random number, and number of a sum, is first + i. Returns how many words
 * were saturated. */
uint64_t cnnvp_write_out(const struct cnnvp_write_out *stage, const int64_t *sums, uint64_t count, uint64_t first,
                         int16_t *words);

/* lines[i] is R of values[i], by the table. */
void cnnvp_table_lines(const void *table, const int64_t *values, uint64_t count, int64_t *lines);

/* The operators of lanes for it. */
void cnnvp_table_parts(const struct cnnvp_costs *costs, uint64_t lanes);

/* What `lanes` lanes for sums of `bits` are made of, `registers` of which have one for their word; `has`: of enum
 * cnnvp_write_out_has. */
void cnnvp_write_out_parts(const struct cnnvp_costs *costs, uint64_t has, uint32_t bits, uint64_t lanes,
                           uint64_t registers);

#endif
