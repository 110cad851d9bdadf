/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the inner loops, and the choice among them at run time. */
#include "float_kernels.h"

#include <string.h>

#define INFINITY_BITS 0x7f800000

/* The largest magnitude if there may be NaN among the values. */
static float largest_number(const float *values, size_t count)
{
    float largest = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        const float value = values[i] < 0.0f ? -values[i] : values[i];
        largest = value > largest ? value : largest;
    }
    return largest;
}

#define UNROLL CNNVP_SIMD_UNROLL(8)
#define KERNELS "compiler/base/float_kernels.inc"
#include "simd_variants.inc"

CNNVP_SIMD_CHOICE(struct cnnvp_float_kernels, cnnvp_float_kernels)
