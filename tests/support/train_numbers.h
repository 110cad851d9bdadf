/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded numbers for the tests of the training engine's units. */
#ifndef CNNVP_TEST_NUMBERS_H
#define CNNVP_TEST_NUMBERS_H

#include <stdint.h>

static inline uint32_t next_bits(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* Uniform in -1 .. 1, never twice the same in practice. */
static inline float next_float(uint64_t *state)
{
    return (float)((double)next_bits(state) / 2147483648.0 - 1.0);
}

#endif
