/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded random numbers for tests. All numbers follow from the state, which a test may start with any value. */
#ifndef CNNVP_TEST_RANDOM_H
#define CNNVP_TEST_RANDOM_H

#include <stdint.h>

/* The next state of the generator; its upper bits are more random than the lower ones. */
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

/* Uniform in low .. high, both included. */
static inline uint32_t between(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + below(state, high - low + 1u);
}

/* Uniform in -1 .. 1; repetitions are very unlikely. */
static inline float next_float(uint64_t *state)
{
    return (float)((double)next_bits(state) / 2147483648.0 - 1.0);
}

#endif
