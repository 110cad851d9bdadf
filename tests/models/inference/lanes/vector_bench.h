/* SPDX-License-Identifier: Apache-2.0 */
/* A vector unit with its three buffers on the tests' host. */
#ifndef CNNVP_VECTOR_BENCH_H
#define CNNVP_VECTOR_BENCH_H

#include "test.h"

#include "cnnvp_buffer.h"
#include "units.h"
#include "fake_host.h"
#include "instructions.h"
#include "inference/lanes/lanes.h"

extern const struct cnnvp_unit cnnvp_unit_vector;

/* Status bits, as opcodes.def has them. */
enum { IN = 0, WT = 1, OUT = 2, WIDE = 3, IMM = 3 };
#define A(source) ((uint32_t)(source))
#define B(source) ((uint32_t)(source) << 2)
#define ACCUMULATE (1u << 4)
#define STORE (1u << 5)
#define MINIMUM (1u << 6)
#define SCALE (1u << 6)
#define LIMIT (1u << 7)

#define FORMAT(shift, bias_shift, rounding) \
    (((uint32_t)(shift)&0xffu) | ((uint32_t)(bias_shift)&0xffu) << 8 | (uint32_t)(rounding) << 16)

#define BENCH_HALF 65536u
#define BENCH_CYCLE 1000u

/* Registers of the descriptor, in the order of descriptors.def. */
struct vector_tile {
    uint32_t a_addr, b_addr, c_addr, out_addr, count, repeat;
    int32_t a_stride, a_repeat, b_stride, b_repeat, c_repeat, out_repeat, immediate;
    uint32_t format, seed, limits;
};

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *vector;
    struct cnnvp_host *buffers[3];
    uint64_t sequence;
};

void bench_open(struct bench *bench, uint64_t lanes, int timing_only);
/* The same with several units of this many lanes. */
void bench_open_units(struct bench *bench, uint64_t lanes, uint64_t units, int timing_only);
/* 16 lanes with this choice of write_out. */
void bench_open_write_out(struct bench *bench, uint64_t write_out);
void bench_close(struct bench *bench);
/* Cycles that the instruction takes, or a negative status. */
int64_t bench_run(struct bench *bench, uint32_t opcode, uint32_t status, uint32_t halves,
                  const struct vector_tile *tile);
/* A half's contents. */
void *bench_data(struct bench *bench, int buffer, uint32_t half);

static inline uint32_t bench_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

#endif
