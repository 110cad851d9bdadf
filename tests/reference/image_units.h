/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a loaded network image: which unit calculates the windows of its layers. */
#ifndef TEST_IMAGE_UNITS_H
#define TEST_IMAGE_UNITS_H

#include <stdint.h>

enum test_image_windows {
    TEST_IMAGE_CONVOLUTIONS = 1u << 0,
    TEST_IMAGE_POOLS = 1u << 1,
    TEST_IMAGE_WINDOWS = TEST_IMAGE_CONVOLUTIONS | TEST_IMAGE_POOLS
};

/* The named kinds of layers run on the vector unit, in chains too, all others on the array. memory: from address
 * 0x80000000 on. Returns how many layers run on the vector unit. */
uint32_t test_image_to_vector(uint8_t *memory, uint32_t windows);

#endif
