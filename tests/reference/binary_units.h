/* SPDX-License-Identifier: Apache-2.0 */
/* Changes which unit computes the windows of the layers in a loaded network binary. */
#ifndef TEST_BINARY_UNITS_H
#define TEST_BINARY_UNITS_H

#include <stdint.h>

enum test_binary_windows {
    TEST_BINARY_CONVOLUTIONS = 1u << 0,
    TEST_BINARY_POOLS = 1u << 1,
    TEST_BINARY_WINDOWS = TEST_BINARY_CONVOLUTIONS | TEST_BINARY_POOLS,
    TEST_BINARY_SAME_SUMS = 1u << 2 /* do not change the size of partial sums: for binaries that are not executed */
};

/* Moves the named kinds of layers to the vector unit, also in chains, and all other layers to the array. `memory`
 * starts at address 0x80000000. Returns the number of layers on the vector unit. */
uint32_t test_binary_to_vector(uint8_t *memory, uint32_t windows);

#endif
