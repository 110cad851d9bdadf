/* SPDX-License-Identifier: Apache-2.0 */
/* Host-independent parts of the lanes: decoded commands, their cost, their arithmetic. vpool and vconv use the
 * arithmetic of the PE arrays (models/inference/fx16) with a cost of their own. */
#ifndef CNNVP_LANES_INTERNAL_H
#define CNNVP_LANES_INTERNAL_H

#include <stddef.h>

#include "cnnvp_buffer.h"
#include "cnnvp_fx16.h"
#include "inference/write_out/write_out.h"
#include "lanes.h"

#define LANES_CHUNK 256u /* elements of a chunk */
#define LANES_MOST_ELEMENTS (UINT64_C(1) << 28)

/* Sources of operands, as in the status field. */
enum lanes_source {
    LANES_INPUT = 0,
    LANES_WEIGHT = 1,
    LANES_OUTPUT = 2,
    LANES_BUFFERS = 3,
    LANES_WIDE = 3,     /* as a: partial sums in the output buffer */
    LANES_IMMEDIATE = 3 /* as b */
};

/* An operand, or the results: element (o, i) is at `base` + bytes * (o * repeat + i * stride) in its half. */
struct lanes_operand {
    int used;
    uint32_t buffer; /* 0 input, 1 weight, 2 output */
    uint32_t half;
    uint32_t bytes; /* bytes of an element: 1 or 2; partial sums 2, 4, 6 or 8 */
    int wide;       /* elements are partial sums */
    int64_t base;
    int64_t stride;
    int64_t repeat;
    int64_t low;                          /* first byte of the range */
    int64_t high;                         /* end of the range */
    uint64_t words;                       /* 16-bit words that cross the port */
    uint8_t *data;                        /* element (0, 0); NULL in timing-only */
    struct cnnvp_buffer_clocks clocks[4]; /* of its words in beats */
    uint32_t clock_count;                 /* 0: words are spread evenly */
};

/* A decoded command. */
struct lanes_job {
    uint32_t opcode;
    int accumulate;
    int minimum;
    int scales;
    struct cnnvp_operand_scales operands; /* with scales */
    struct cnnvp_scale scale;             /* the same of vdiv */
    int sums;                             /* vmean and vvar: a and c are sums of parts */
    uint64_t divisor;                     /* vmean and vvar: elements of a repetition */
    uint32_t operator_;                   /* lanes_operator, of vout */
    uint64_t count;
    uint64_t repeat;
    int32_t shift;
    int32_t bias_shift;
    uint32_t rounding;
    uint32_t slot_words; /* words of a partial sum; 0: four */
    uint32_t narrow;     /* enum cnnvp_narrow */
    int32_t zero;        /* added to 8-bit results */
    uint64_t seed;
    int clips;
    int32_t low, high;
    int64_t immediate;
    uint32_t a_addr, b_addr, c_addr, out_addr; /* addresses and strides as in the descriptor */
    int64_t a_stride, a_repeat, b_stride, b_repeat, c_repeat, out_repeat;
    int in_order; /* results overwrite operands still to be read: one element at a time */
    struct lanes_operand a, b, c, out;
    char refusal[CNNVP_REFUSAL_SIZE];
};

struct lanes_cost {
    uint64_t cycles;
    uint64_t beats;
    uint64_t elements;
    uint64_t operations[LANES_OPERATORS];
    uint64_t narrow; /* 1: both factors of multiplications have 8 bits */
    uint64_t fp32;   /* multiplications and additions in binary32 */
};

/* Decodes a command into *job. Returns NULL, or why it is refused; the text is valid as long as *job. */
CNNVP_MUST_USE const char *lanes_decode(const struct cnnvp_command *command, uint64_t lanes, struct lanes_job *job);

void lanes_cost(const struct lanes_job *job, const struct lanes_shape *shape, struct lanes_cost *cost);
/* Sets the clocks of the operands. */
void lanes_clocks(const struct lanes_shape *shape, const struct lanes_cost *cost, struct lanes_job *job);

static inline uint64_t lanes_narrow(uint32_t narrow)
{
    return (narrow & (CNNVP_NARROW_A | CNNVP_NARROW_B)) == (CNNVP_NARROW_A | CNNVP_NARROW_B);
}

/* Bits of the lanes' registers, which hold a window's sum while its taps are added. */
#define LANES_REGISTER_BITS 64u

static inline int lanes_scales(const struct cnnvp_command *command)
{
    return command->opcode <= CNNVP_OPCODE_vdiv && (command->status >> CNNVP_STATUS_vmac_scale & 1u) != 0;
}

/* Cycles from the last beat to the last result. */
static inline uint64_t lanes_latency(const struct lanes_job *job, const struct lanes_shape *shape)
{
    return shape->pipeline + (job->scales ? CNNVP_OPERAND_SCALE_STAGES : 0);
}

static inline int lanes_is_window(uint32_t opcode)
{
    return opcode == CNNVP_OPCODE_vpool || opcode == CNNVP_OPCODE_vconv;
}

/* The operator that processes a window's taps. */
static inline enum lanes_operator lanes_window_operator(const struct cnnvp_fx16_tile *tile)
{
    if (tile->operation.compare)
        return LANES_cmp;
    return tile->uses_k ? LANES_mac : LANES_add;
}

/* Decodes vpool or vconv into a tile. Returns NULL, or why it is refused (lanes_window.c). */
CNNVP_MUST_USE const char *lanes_window_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile);
void lanes_window_cost(const struct cnnvp_fx16_tile *tile, const struct lanes_shape *shape, struct lanes_cost *cost,
                       struct cnnvp_fx16_traffic *traffic);

/* Executes a job on data. Returns how many results were clipped. */
uint64_t lanes_execute(const struct lanes_job *job, uint64_t lanes, struct lanes_registers *registers);
/* Executes vmean, vvar or vsoftmax, which work on a repetition as a whole (lanes_reduce.c). */
uint64_t lanes_reduce(const struct lanes_job *job);

/* Loads elements (o, i .. i + n - 1) of an operand. */
void lanes_load(const struct lanes_operand *operand, uint64_t o, uint64_t i, uint64_t n, int64_t *values);
void lanes_put(const struct lanes_operand *out, uint64_t o, uint64_t i, uint64_t n, const int16_t *words);

/* ---- arithmetic (lanes_math.c) ---- */

/* The integer nearest to numerator * 2^-shift / denominator, as vdiv defines it, limited to +-(2^63 - 1). denominator
 * is not 0. */
int64_t lanes_divide(int64_t numerator, int64_t denominator, int32_t shift, uint32_t rounding, uint64_t random);
/* round(2^exponent / sqrt(sum / count + epsilon)), at most 32767. 0 <= sum, count * epsilon < 2^62. */
int16_t lanes_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int32_t exponent, uint32_t rounding);
/* 2^30 * e^(-d), where d has `fraction` fraction bits; 0 if e^(-d) is below about 2^-31. */
uint64_t lanes_exp(uint64_t d, int32_t fraction);
/* value << shift modulo 2^64; for a negative shift floor(value / 2^-shift). */
static inline int64_t lanes_shift(int64_t value, int32_t shift)
{
    if (shift >= 0)
        return (int64_t)((uint64_t)value << shift);
    const uint64_t negative = value < 0 ? UINT64_MAX : 0;
    return (int64_t)((((uint64_t)value ^ negative) >> -shift) ^ negative);
}
static inline int64_t lanes_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t lanes_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

#endif
