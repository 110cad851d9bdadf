/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the conversions' loops and the choice among them at run time. */
#include "bfp_kernels.h"

#include <string.h>

#define MAGNITUDE UINT32_C(0x7fffffff)
#define INFINITE 0x7f800000
/* Random numbers that are made at a time. */
#define RANDOMS 256u

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#define TARGET
#define NAME(function) plain_##function
#include "bfp_loops.inc"
#undef TARGET
#undef NAME

static const struct bfp_kernels plain_kernels = {"plain", plain_max_bits, plain_max_sum, plain_floats, plain_sums};

#if defined(__x86_64__) && defined(__GNUC__)

#define TARGET __attribute__((target("avx2")))
#define NAME(function) avx2_##function
#include "bfp_loops.inc"
#undef TARGET
#undef NAME

static const struct bfp_kernels avx2_kernels = {"avx2", avx2_max_bits, avx2_max_sum, avx2_floats, avx2_sums};

#ifdef __clang__
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define NAME(function) avx512_##function
#include "bfp_loops.inc"

static const struct bfp_kernels avx512_kernels = {"avx512", avx512_max_bits, avx512_max_sum, avx512_floats,
                                                  avx512_sums};

static const struct bfp_kernels *supported(size_t rank)
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

static const struct bfp_kernels *supported(size_t rank)
{
    (void)rank;
    return &plain_kernels;
}

enum { RANKS = 1 };

#endif

const struct bfp_kernels *cnnvp_bfp_kernels_variant(size_t index)
{
    size_t found = 0;
    for (size_t rank = 0; rank < RANKS; ++rank) {
        const struct bfp_kernels *kernels = supported(rank);
        if (kernels != NULL && found++ == index)
            return kernels;
    }
    return NULL;
}

const struct bfp_kernels *cnnvp_bfp_kernels(void)
{
    return cnnvp_bfp_kernels_variant(0);
}
