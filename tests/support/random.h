/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded numbers for tests: all follow from the state, which a test begins with any number. */
#ifndef CNNVP_TEST_RANDOM_H
#define CNNVP_TEST_RANDOM_H

#include <stdint.h>

/* The next state; its upper bits are the better ones. */
static inline uint64_t next_state(uint64_t *state)
{
    return *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static inline uint32_t next_bits(uint64_t *state)
{
    return (uint32_t)(next_state(state) >> 32);
}

static inline uint32_t below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(next_state(state) >> 33) % limit;
}

/* From low to high. */
static inline uint32_t between(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + below(state, high - low + 1u);
}

/* Uniform in -1 .. 1, never twice the same in practice. */
static inline float next_float(uint64_t *state)
{
    return (float)((double)next_bits(state) / 2147483648.0 - 1.0);
}

#endif
