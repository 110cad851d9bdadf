/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write-out stage behind a PE array or the lanes of the vector unit: it turns sums into the words that are written
 * to the output buffer, in one pass. The parameter write_out says which functions a unit has:
 *   round   word = saturate(round(sum * 2^-shift)), cnnvp_round_fx16 (cnnvp_command.h). For results of 8 bits the zero
 *           point is added and the word saturated to 8 bits
 *   clip    also, if the command says so, low <= word <= high: ReLU, ReLU6, any limits
 *   scale   also, if the command says so, word = saturate16(round(cnnvp_scaled(sum) * 2^-shift)) with the record of the
 *           channel, before the limits apply: a quantised result, as in onnxruntime
 *   table   also, if the command says so, that word (then 16 bits without zero point) goes through a piecewise-linear
 *           function: word = saturate(round(R * 2^-table_shift) + zero), where R is that of vact
 *           (inference/lanes/lanes.h). Each lane has its own memory for the table's segments. The command loads the
 *           table before its first result
 *   add     as scale, and also, if the command says so, that word and the word at its place in the output buffer are
 *           added (struct cnnvp_addition), and the limits apply to the result: a residual connection. In arrays for
 *           words of 8 bits the command may have constants that scale both operands; they are loaded before its first
 *           result
 *   all     table and add; the table applies to the sum within its limits
 * The stage has one lane for each result of a clock.
 */
#ifndef CNNVP_WRITE_OUT_H
#define CNNVP_WRITE_OUT_H

#include "cnnvp_buffer.h"

/* In the order of the parameter's choices. */
enum cnnvp_write_out_has {
    CNNVP_WRITE_OUT_ROUNDS,
    CNNVP_WRITE_OUT_CLIPS,
    CNNVP_WRITE_OUT_SCALES,
    CNNVP_WRITE_OUT_TABLES,
    CNNVP_WRITE_OUT_ADDS,
    CNNVP_WRITE_OUT_ALL
};

static inline int cnnvp_write_out_tables(uint64_t has)
{
    return has == CNNVP_WRITE_OUT_TABLES || has == CNNVP_WRITE_OUT_ALL;
}

/* Additional pipeline stages if sums are scaled: offset and conversion to binary32, multiplier, rounding. */
#define CNNVP_WRITE_OUT_SCALE_STAGES 3u
/* Additional pipeline stages of a table: segment, line, rounding. */
#define CNNVP_WRITE_OUT_TABLE_STAGES 3u
/* Additional pipeline stages of an addition: sum, rounding. */
#define CNNVP_WRITE_OUT_ADD_STAGES 2u
/* Additional pipeline stages if operands are scaled: product, two for the sum, two for the quotient, rounding. */
#define CNNVP_OPERAND_SCALE_STAGES 6u
/* Most segments of a table. */
#define CNNVP_WRITE_OUT_TABLE_SEGMENTS 256u

/* shift: -48 .. 63; low <= high where `clips` is set. */
struct cnnvp_write_out {
    int32_t shift;
    uint32_t rounding; /* enum cnnvp_round_mode */
    uint64_t seed;     /* of stochastic rounding */
    int clips;
    int16_t low, high;
    const int16_t *scales; /* as in struct cnnvp_update; NULL: none */
    uint64_t scale_sums;
    uint32_t word_bytes; /* 1 or 2 */
    int16_t zero;        /* zero point of 8-bit results */
    const void *table;   /* as in struct cnnvp_update; NULL: none */
    int32_t table_shift;
    const int16_t *added; /* the word at the place of each result; NULL: nothing is added */
    struct cnnvp_addition addition;
    const int16_t *operands; /* as in struct cnnvp_update; they are valid */
};

/* How both operands of an elementwise instruction are scaled: see lanes.h. */
struct cnnvp_operand_scales {
    float a, b, divisor;
    int32_t a_zero, b_zero, centre;
};

/* Reads the constants of an addition whose operands are scaled: CNNVP_OPERAND_WORDS words. Returns 0 unless multipliers
 * and divisor are 2^-100 to 2^100. */
CNNVP_MUST_USE int cnnvp_read_operand_scales(const void *words, struct cnnvp_operand_scales *scales);

/* results[i] = the sum, or the product, of the numbers that a[i] and b[i] mean, in steps of the result. */
void cnnvp_combine_scaled(const struct cnnvp_operand_scales *scales, int multiplies, const int64_t *a, const int64_t *b,
                          uint64_t count, int64_t *results);

/* Reports the parts of `lanes` lanes that scale operands; `sets` sets of constants. */
void cnnvp_operand_scale_parts(const struct cnnvp_costs *costs, uint64_t lanes, uint64_t sets);

/* Converts sums[i] to words[i]. first + i is the index of the sum, which selects its scale record and the random number
 * of stochastic rounding. Returns how many words were saturated. */
uint64_t cnnvp_write_out(const struct cnnvp_write_out *stage, const int64_t *sums, uint64_t count, uint64_t first,
                         int16_t *words);

/* Evaluates the table's piecewise-linear function, before rounding: lines[i] is R of values[i]. */
void cnnvp_table_lines(const void *table, const int64_t *values, uint64_t count, int64_t *lines);

/* Reports the parts of `lanes` lanes that evaluate a table. */
void cnnvp_table_parts(const struct cnnvp_costs *costs, uint64_t lanes);

/* Reports the parts of `lanes` lanes for sums of `bits` bits. `registers` is the number of output registers, `has` is
 * of enum cnnvp_write_out_has, `narrow` is 1 if words may have 8 bits: then additions also scale their operands. */
void cnnvp_write_out_parts(const struct cnnvp_costs *costs, uint64_t has, uint32_t bits, uint64_t lanes,
                           uint64_t registers, int narrow);

#endif
