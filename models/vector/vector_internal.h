/* SPDX-License-Identifier: Apache-2.0 */
/* The vector unit's host-free parts: decoded commands, their cost, their arithmetic. Those of vpool and vconv are the
 * PE arrays', from models/fx16; only the cost is the unit's own. */
#ifndef CNNVP_VECTOR_INTERNAL_H
#define CNNVP_VECTOR_INTERNAL_H

#include <stddef.h>

#include "cnnvp_fx16.h"
#include "vector.h"

#define VECTOR_LANES 256u /* the largest value of parameter `lanes` */
#define VECTOR_CHUNK 256u /* elements handled at a time */
#define VECTOR_MOST (UINT64_C(1) << 28)

enum vector_opcode {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) VECTOR_OP_##mnemonic = (code),
#include "instruction/opcodes.def"
};

enum vector_operator {
#define CNNVP_OPERATOR(name) VECTOR_##name,
#include "vector.def"
    VECTOR_OPERATORS
};

/* Sources of operands, as in the status field. */
enum vector_source {
    VECTOR_INPUT = 0,
    VECTOR_WEIGHT = 1,
    VECTOR_OUTPUT = 2,
    VECTOR_WIDE = 3,     /* a: 64-bit slots of the output buffer */
    VECTOR_IMMEDIATE = 3 /* b */
};

/* One operand, or the results: element (o, i) at `base` + bytes * (o * repeat + i * stride) in its half. */
struct vector_operand {
    int used;
    uint32_t buffer; /* 0 .. 2 */
    uint32_t half;
    uint32_t bytes; /* of an element, 2 or 8 */
    int64_t base;
    int64_t stride;
    int64_t repeat;
    int64_t low;    /* first byte touched */
    int64_t high;   /* behind the last byte touched */
    uint64_t words; /* 16-bit words that cross the port */
    uint8_t *data;  /* of element (0, 0); NULL in timing-only */
};

/* A command, decoded. */
struct vector_job {
    uint32_t opcode;
    int accumulate;
    int minimum;
    uint32_t operator_; /* of vout */
    uint64_t count;
    uint64_t repeat;
    int32_t shift;
    int32_t bias_shift;
    uint32_t rounding;
    uint64_t seed;
    int64_t immediate;
    int in_order; /* results reach operands that are still to be read: one element at a time */
    struct vector_operand a, b, c, out;
};

struct vector_cost {
    uint64_t cycles;
    uint64_t beats;
    uint64_t elements;
    uint64_t operations[VECTOR_OPERATORS];
};

struct vector_registers {
    int64_t lane[VECTOR_OPERATORS][VECTOR_LANES];
};

/* NULL and the job, or what is wrong. `lanes` is the parameter. */
CNNVP_MUST_USE const char *vector_decode(const struct cnnvp_command *command, uint64_t lanes, struct vector_job *job);

/* How many lanes there are, and what they take. */
struct vector_shape {
    uint64_t lanes;
    uint64_t units;
    uint64_t pipeline;
    uint64_t div_cycles;
};

void vector_cost(const struct vector_job *job, const struct vector_shape *shape, struct vector_cost *cost);

/* The lanes' registers, which hold a window's sum while its taps go by. */
#define VECTOR_REGISTER_BITS 64u

static inline int vector_is_window(uint32_t opcode)
{
    return opcode == VECTOR_OP_vpool || opcode == VECTOR_OP_vconv;
}

/* The tile of vpool or vconv, or what is wrong. (vector_window.c) */
CNNVP_MUST_USE const char *vector_window_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile);
void vector_window_cost(const struct cnnvp_fx16_tile *tile, const struct vector_shape *shape, struct vector_cost *cost,
                        struct cnnvp_fx16_traffic *traffic);

/* Carries a job out on data. Returns how many results were clipped. */
uint64_t vector_execute(const struct vector_job *job, uint64_t lanes, struct vector_registers *registers);
/* The part of it that goes over a repetition as a whole: vmean, vvar, vsoftmax (vector_reduce.c). */
uint64_t vector_reduce(const struct vector_job *job);
/* Bytes of the table of vact, from its header. NULL, or what is wrong with it. */
#define VECTOR_TABLE_HEADER 8u
CNNVP_MUST_USE const char *vector_check_table(const uint8_t *header, uint64_t *table_bytes);

/* Loads elements (o, i .. i + n - 1) of an operand. */
void vector_load(const struct vector_operand *operand, uint64_t o, uint64_t i, uint64_t n, int64_t *values);
void vector_put(const struct vector_operand *out, uint64_t o, uint64_t i, uint64_t n, const int16_t *words);

/* ---- arithmetic (vector_math.c) ---- */

/* The integer nearest to numerator * 2^-shift / denominator, as vdiv defines it, within +-(2^63 - 1). denominator not
 * 0. */
int64_t vector_divide(int64_t numerator, int64_t denominator, int32_t shift, uint32_t rounding, uint64_t random);
/* round(2^exponent / sqrt(sum / count + epsilon)), at most 32767. 0 <= sum, count * epsilon < 2^62. */
int16_t vector_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int32_t exponent, uint32_t rounding);
/* 2^30 * e^(-d), d with `fraction` bits; 0 where it is below 2^-31 or so. */
uint64_t vector_exp(uint64_t d, int32_t fraction);
/* value << shift, floor(value / 2^-shift) for a negative shift; modulo 2^64. */
static inline int64_t vector_shift(int64_t value, int32_t shift)
{
    if (shift >= 0)
        return (int64_t)((uint64_t)value << shift);
    const uint64_t negative = value < 0 ? UINT64_MAX : 0;
    return (int64_t)((((uint64_t)value ^ negative) >> -shift) ^ negative);
}
static inline int64_t vector_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t vector_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

#endif
