/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a loaded network binary: which unit calculates the windows of its layers. */
#ifndef TEST_BINARY_UNITS_H
#define TEST_BINARY_UNITS_H

#include <stdint.h>

enum test_binary_windows {
    TEST_BINARY_CONVOLUTIONS = 1u << 0,
    TEST_BINARY_POOLS = 1u << 1,
    TEST_BINARY_WINDOWS = TEST_BINARY_CONVOLUTIONS | TEST_BINARY_POOLS,
    TEST_BINARY_SAME_SUMS = 1u << 2 /* sums keep their slots: for words that nothing executes */
};

/* The named kinds of layers run on the vector unit, in chains too, all others on the array. memory: from address
 * 0x80000000 on. Returns how many layers run on the vector unit. */
uint32_t test_binary_to_vector(uint8_t *memory, uint32_t windows);

#endif
