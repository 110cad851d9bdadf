/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the inner loops and the choice among them at run time. */
#include "float_kernels.h"
#include "simd.h"

#include <string.h>

#define INFINITY_BITS 0x7f800000

#define UNROLL CNNVP_SIMD_UNROLL(8)

/* With NaN among the values. */
static float largest_number(const float *values, size_t count)
{
    float largest = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        const float value = values[i] < 0.0f ? -values[i] : values[i];
        largest = value > largest ? value : largest;
    }
    return largest;
}

/* ---- whatever the compiler builds for ---- */

#define TARGET
#define NAME(function) plain_##function
#define LANES 4u
#define ROWS 4u
#define COLUMNS 2u
#include "float_kernels.inc"
#undef TARGET
#undef NAME
#undef LANES
#undef ROWS
#undef COLUMNS

static const struct cnnvp_float_kernels plain_kernels = {
    "plain", plain_conv, plain_dot, plain_scale, plain_largest, plain_quantise};

#ifdef CNNVP_SIMD_X86

#define TARGET CNNVP_TARGET_AVX2
#define NAME(function) avx2_##function
#define LANES 8u
#define ROWS 4u
#define COLUMNS 2u
#include "float_kernels.inc"
#undef TARGET
#undef NAME
#undef LANES
#undef ROWS
#undef COLUMNS

static const struct cnnvp_float_kernels avx2_kernels = {
    "avx2", avx2_conv, avx2_dot, avx2_scale, avx2_largest, avx2_quantise};

#define TARGET CNNVP_TARGET_AVX512
#define NAME(function) avx512_##function
#define LANES 16u
#define ROWS 8u
#define COLUMNS 3u
#include "float_kernels.inc"

static const struct cnnvp_float_kernels avx512_kernels = {
    "avx512", avx512_conv, avx512_dot, avx512_scale, avx512_largest, avx512_quantise};

#endif

static const struct cnnvp_simd_variant variants[] = {
#ifdef CNNVP_SIMD_X86
    {CNNVP_SIMD_AVX512, &avx512_kernels},
    {CNNVP_SIMD_AVX2, &avx2_kernels},
#endif
    {CNNVP_SIMD_PLAIN, &plain_kernels},
};

const struct cnnvp_float_kernels *cnnvp_float_kernels_variant(size_t index)
{
    return cnnvp_simd_pick(variants, sizeof variants / sizeof variants[0], index);
}

const struct cnnvp_float_kernels *cnnvp_float_kernels(void)
{
    return cnnvp_float_kernels_variant(0);
}
