/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes instructions by plain loops: the judge of units (--check-results) and of tests. It is written from the
 * documents of the instruction set (opcodes.def, descriptors.def, cnnvp_command.h, inference/lanes/lanes.h,
 * multi_function.h, S002) and shares no code with units, because shared code would not be judged. Formats come from the
 * .def tables. Speed does not matter here.
 *
 * There is a reference for the instructions of a PE array on FX16 (conv, pool, matmul, step), of the vector unit (vmac
 * to vconv), of the training engine's PE module (tforward to touter) and of its multi-function module (tstat to
 * tclear).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_command.h"

/* ---- commands (reference.c) ---- */

/* Buffers, by their number in the instruction set. */
enum {
    CNNVP_REFERENCE_INPUT,
    CNNVP_REFERENCE_WEIGHT,
    CNNVP_REFERENCE_OUTPUT,
    /* buffers of the training engine's multi-function module, with a single half, in the order of tload's `buffer` */
    CNNVP_REFERENCE_MAX_MIN, /* may also hold the PE module's scales */
    CNNVP_REFERENCE_SUM,
    CNNVP_REFERENCE_NORM,
    CNNVP_REFERENCE_RELU,
    CNNVP_REFERENCE_ID,
    CNNVP_REFERENCE_CLASSES,
    CNNVP_REFERENCE_BUFFERS
};
enum { CNNVP_REFERENCE_OPERATORS = 5, CNNVP_REFERENCE_LANES = 256 };

struct cnnvp_reference_buffer {
    uint8_t *halves[2]; /* NULL: no such half */
    uint64_t half_bytes;
};

/* The parameters of a unit that its results depend on, and the buffers that its commands use. */
struct cnnvp_reference {
    uint32_t acc_bits;      /* width of a PE array's sums, 16 to 64 */
    uint32_t lanes;         /* lanes of a vector unit, up to 256; 0: unknown */
    uint32_t mantissa_bits; /* of the training engine's PE module, 2 to 24; 0: unknown */
    int zones;              /* maps lie in groups of three zones (descriptors_train.def) */
    int staged;             /* positions pass through the ReLU buffer (encode.c) */
    struct cnnvp_reference_buffer buffers[CNNVP_REFERENCE_BUFFERS];
    /* The unit's own results, or no buffers. Where the documents leave the last places open, the reference takes the
     * unit's value if it is within the tolerance. */
    struct cnnvp_reference_buffer made[CNNVP_REFERENCE_BUFFERS];
    int64_t registers[CNNVP_REFERENCE_OPERATORS][CNNVP_REFERENCE_LANES]; /* of lanes, in vout's order of operators */
};

/* Returns 1 if there is a reference for the command. If `lanes` or `mantissa_bits` is unknown, there is none for
 * commands that depend on it. */
int cnnvp_reference_covers(const struct cnnvp_reference *reference, const struct cnnvp_command *command);

/* Executes a covered command. Returns NULL, or why it cannot be executed; the contents of the buffers are then
 * undefined. */
CNNVP_MUST_USE const char *cnnvp_reference_run(struct cnnvp_reference *reference, const struct cnnvp_command *command);

/* Kinds of results, which determine their names. */
enum cnnvp_reference_kind {
    CNNVP_REFERENCE_OF_WINDOWS,
    CNNVP_REFERENCE_OF_OUTPUTS,
    CNNVP_REFERENCE_OF_VECTOR,
    CNNVP_REFERENCE_OF_IMAGES,
    CNNVP_REFERENCE_OF_GRADIENT,
    CNNVP_REFERENCE_OF_BYTES,
    CNNVP_REFERENCE_OF_VALUES,
    CNNVP_REFERENCE_OF_ENTRIES, /* entries of `columns` bytes */
    CNNVP_REFERENCE_OF_LIST
};

/* Location of a covered command's results in half `half` of a buffer: result (g, o, i) is at base + bytes * (g *
 * group_stride + o * stride + i). */
struct cnnvp_reference_results {
    enum cnnvp_reference_kind kind;
    char what[24]; /* what the results are; "": no particular name */
    uint32_t buffer, half;
    uint64_t groups, outer, inner; /* if one of them is 0, the command writes nothing */
    int64_t base, group_stride, stride;
    uint32_t bytes; /* bytes of a result: 1, 2, 4 or 8 */
    uint32_t columns;
    int sums;                      /* results are partial sums */
    int floating;                  /* results are binary32 or binary64 */
    uint64_t working, working_end; /* byte range of the partial sums that the command reads and may overwrite */
};
/* Gets location number `index`, from 0 on. Returns 0 if the command has fewer. */
int cnnvp_reference_locate(const struct cnnvp_reference *reference, const struct cnnvp_command *command, uint32_t index,
                           struct cnnvp_reference_results *results);

/* Writes the name of a result, such as "channel 3, row 0, column 7". */
void cnnvp_reference_name(const struct cnnvp_reference_results *results, uint64_t g, uint64_t o, uint64_t i, char *text,
                          size_t size);

/* Writes the instruction in the disassembler's form, without the base register: "conv.update=1.bias i0 w1 o0". */
void cnnvp_reference_instruction(const struct cnnvp_command *command, char *text, size_t size);

/* ---- single words (reference_words.c) ---- */

/* word = saturate16(round(sum * 2^-shift)). rounding: 0 toward zero, 1 to nearest with ties to even, 2 stochastic by
 * `random`, 3 down. */
int16_t cnnvp_reference_round(int64_t sum, int shift, uint32_t rounding, uint64_t random);
/* The random number of word `index` (cnnvp_round_random). */
uint64_t cnnvp_reference_random(uint64_t seed, uint64_t index);
/* The low `bits` bits, sign-extended. */
int64_t cnnvp_reference_wrap(int64_t sum, uint32_t bits);
/* value * 2^shift, floor for negative shifts; modulo 2^64. */
int64_t cnnvp_reference_shift(int64_t value, int shift);
/* The word of a scaled sum, before limits: (sum + offset) in binary32 times the binary32 multiplier of the record's
 * four words, each step rounded to nearest with ties to even; then times 2^-shift as in cnnvp_reference_round. 0 if the
 * product is not finite. */
int16_t cnnvp_reference_scale(int64_t sum, const int16_t record[4], int shift, uint32_t rounding, uint64_t random);
/* round(sum * 2^-shift / divisor), rounded once, limited to +-(2^63 - 1). Division by 0 gives the largest word with the
 * sum's sign, or 0 if the sum is 0. */
int64_t cnnvp_reference_quotient(int64_t sum, int64_t divisor, int shift, uint32_t rounding, uint64_t random);
/* The same, saturated to 16 bits. */
int16_t cnnvp_reference_divide(int64_t sum, int64_t divisor, int shift, uint32_t rounding, uint64_t random);
/* 2^exponent / sqrt(sum / count + epsilon), at most 32767; rounding 0 and 3: down, others: to nearest. */
int16_t cnnvp_reference_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int exponent, uint32_t rounding);
/* The piecewise-linear function of vact before write-out, and its word. */
int64_t cnnvp_reference_line(const int16_t *table, int64_t x);
int16_t cnnvp_reference_table(const int16_t *table, int16_t x, uint32_t format);

/* vsoftmax: the state after its first two sweeps, and the word of the third. */
struct cnnvp_reference_softmax {
    int64_t largest;
    uint64_t sum;
    int fraction;
    uint64_t log2_e;
    uint64_t points[65];
};
void cnnvp_reference_softmax_begin(struct cnnvp_reference_softmax *softmax, const int64_t *x, size_t count,
                                   int fraction);
int16_t cnnvp_reference_softmax_word(const struct cnnvp_reference_softmax *softmax, int64_t x, uint32_t bits,
                                     int32_t shift);
