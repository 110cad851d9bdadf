/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the conversions' loops and the choice among them at run time. */
#include "bfp_kernels.h"
#include "simd.h"

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

static const struct bfp_kernels plain_kernels = {"plain", plain_max_bits, plain_floats};

#ifdef CNNVP_SIMD_X86

#define TARGET CNNVP_TARGET_AVX2
#define NAME(function) avx2_##function
#include "bfp_loops.inc"
#undef TARGET
#undef NAME

static const struct bfp_kernels avx2_kernels = {"avx2", avx2_max_bits, avx2_floats};

#define TARGET CNNVP_TARGET_AVX512
#define NAME(function) avx512_##function
#include "bfp_loops.inc"

static const struct bfp_kernels avx512_kernels = {"avx512", avx512_max_bits, avx512_floats};

#endif

static const struct cnnvp_simd_variant variants[] = {
#ifdef CNNVP_SIMD_X86
    {CNNVP_SIMD_AVX512, &avx512_kernels},
    {CNNVP_SIMD_AVX2, &avx2_kernels},
#endif
    {CNNVP_SIMD_PLAIN, &plain_kernels},
};

const struct bfp_kernels *cnnvp_bfp_kernels_variant(size_t index)
{
    return cnnvp_simd_pick(variants, sizeof variants / sizeof variants[0], index);
}

const struct bfp_kernels *cnnvp_bfp_kernels(void)
{
    return cnnvp_bfp_kernels_variant(0);
}
