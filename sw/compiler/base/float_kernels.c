/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the inner loops and the choice among them at run time. */
#include "float_kernels.h"

#include <string.h>

#define INFINITY_BITS 0x7f800000

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define WIDE ""
#else
#define UNROLL _Pragma("GCC unroll 8")
#define WIDE ",prefer-vector-width=512"
#endif

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

static const struct cnnvp_float_kernels plain_kernels = {"plain",       plain_conv,    plain_dot, plain_scale,
                                                         plain_largest, plain_quantise};

#if defined(__x86_64__) && defined(__GNUC__)

#define TARGET __attribute__((target("avx2")))
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

static const struct cnnvp_float_kernels avx2_kernels = {"avx2",       avx2_conv,    avx2_dot, avx2_scale,
                                                        avx2_largest, avx2_quantise};

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" WIDE)))
#define NAME(function) avx512_##function
#define LANES 16u
#define ROWS 8u
#define COLUMNS 3u
#include "float_kernels.inc"

static const struct cnnvp_float_kernels avx512_kernels = {"avx512",       avx512_conv,    avx512_dot, avx512_scale,
                                                          avx512_largest, avx512_quantise};

static const struct cnnvp_float_kernels *supported(size_t rank)
{
    switch (rank) {
    case 0:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                   ? &avx512_kernels
                   : NULL;
    case 1:
        return __builtin_cpu_supports("avx2") ? &avx2_kernels : NULL;
    default:
        return &plain_kernels;
    }
}

enum { RANKS = 3 };

#else

static const struct cnnvp_float_kernels *supported(size_t rank)
{
    (void)rank;
    return &plain_kernels;
}

enum { RANKS = 1 };

#endif

const struct cnnvp_float_kernels *cnnvp_float_kernels_variant(size_t index)
{
    size_t found = 0;
    for (size_t rank = 0; rank < RANKS; ++rank) {
        const struct cnnvp_float_kernels *kernels = supported(rank);
        if (kernels != NULL && found++ == index)
            return kernels;
    }
    return NULL;
}

const struct cnnvp_float_kernels *cnnvp_float_kernels(void)
{
    return cnnvp_float_kernels_variant(0);
}
