/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of the inner loops and the choice among them at run time. All give the same sums; the plain one is the
 * definition and runs anywhere.
 */
#include "fx16_kernels.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define FX16_X86 1
#include <immintrin.h>
#endif

/* ---- plain C ---- */

#define TARGET
#define NAME(function) plain_##function
#include "fx16_kernels_plain.inc"
#undef TARGET
#undef NAME

/* The halves of a pair. */
static int32_t first_of(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair & 0xffffu);
}

static int32_t second_of(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair >> 16);
}

static void plain_direct(const int16_t *low, const int16_t *high, const uint32_t *offsets, const int32_t *weights,
                         size_t steps, int64_t *sums)
{
    memset(sums, 0, sizeof *sums * FX16_DIRECT_CHANNELS * FX16_DIRECT_POSITIONS);
    for (size_t s = 0; s < steps; ++s) {
        const int16_t *l = low + 2u * (size_t)offsets[s];
        const int16_t *h = high + 2u * (size_t)offsets[s];
        for (size_t o = 0; o < FX16_DIRECT_CHANNELS; ++o) {
            const int32_t k0 = first_of(weights[s * FX16_DIRECT_CHANNELS + o]);
            const int32_t k1 = second_of(weights[s * FX16_DIRECT_CHANNELS + o]);
            int64_t *sum = sums + o * FX16_DIRECT_POSITIONS;
            for (size_t p = 0; p < FX16_DIRECT_POSITIONS; ++p)
                sum[p] += (int64_t)(k0 * (256 * h[2u * p] + l[2u * p])) +
                          (int64_t)(k1 * (256 * h[2u * p + 1u] + l[2u * p + 1u]));
        }
    }
}

static void plain_dot(const int16_t *weights, size_t weight_pitch, size_t outputs, const int16_t *low,
                      const int16_t *high, size_t pitch, size_t n, int64_t *sums)
{
    for (size_t o = 0; o < outputs; ++o) {
        for (size_t p = 0; p < FX16_DOT_POSITIONS; ++p) {
            int64_t sum = 0;
            for (size_t i = 0; i < n; ++i)
                sum += weights[o * weight_pitch + i] * (256 * high[p * pitch + i] + low[p * pitch + i]);
            sums[o * FX16_DOT_POSITIONS + p] += sum;
        }
    }
}

static const struct fx16_kernels plain_kernels = {"plain", plain_direct, plain_dot, plain_matmul, plain_row,
                                                  plain_split};

#ifdef FX16_X86

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define WIDE ""
#else
#define UNROLL _Pragma("GCC unroll 8")
#define WIDE ",prefer-vector-width=512"
#endif

/* ---- AVX2 ---- */

#define TARGET __attribute__((target("avx2")))
#define NAME(function) avx2_##function
#define VECTOR __m256i
#define LANES 8u
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SPREAD(x) _mm256_set1_epi32(x)
#define ZERO() _mm256_setzero_si256()
#define MULTIPLY_ADD(s, a, b) _mm256_add_epi32(s, _mm256_madd_epi16(a, b))
#define TOTAL(low, high) avx2_total(low, high)
#define CHANNELS 2u
#define VECTORS 2u
#define DOT_OUTPUTS 2u
#define DOT_POSITIONS 2u

TARGET static inline __m256i avx2_halves(__m256i v)
{
    return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)),
                            _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)));
}

TARGET static inline int64_t avx2_total(__m256i low, __m256i high)
{
    const __m256i lanes = _mm256_add_epi64(avx2_halves(low), _mm256_slli_epi64(avx2_halves(high), 8));
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
}

#include "fx16_kernels_plain.inc"
#include "fx16_kernels_x86.inc"
#undef TARGET
#undef NAME
#undef VECTOR
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef MULTIPLY_ADD
#undef TOTAL
#undef CHANNELS
#undef VECTORS
#undef DOT_OUTPUTS
#undef DOT_POSITIONS

static const struct fx16_kernels avx2_kernels = {"avx2", avx2_direct, avx2_dot, avx2_matmul, avx2_row,
                                                 avx2_split};

/* ---- AVX-512 BW, and with VNNI ---- */

#define VECTOR __m512i
#define LANES 16u
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define SPREAD(x) _mm512_set1_epi32(x)
#define ZERO() _mm512_setzero_si512()
#define TOTAL(low, high) avx512_total(low, high)
#define CHANNELS 4u
#define VECTORS 2u
#define DOT_OUTPUTS 3u
#define DOT_POSITIONS 4u

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" WIDE)))
#define NAME(function) avx512_##function
#define MULTIPLY_ADD(s, a, b) _mm512_add_epi32(s, _mm512_madd_epi16(a, b))

TARGET static inline __m512i avx512_halves(__m512i v)
{
    return _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(v)),
                            _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1)));
}

TARGET static inline int64_t avx512_total(__m512i low, __m512i high)
{
    return _mm512_reduce_add_epi64(_mm512_add_epi64(avx512_halves(low), _mm512_slli_epi64(avx512_halves(high), 8)));
}

#include "fx16_kernels_plain.inc"
#include "fx16_kernels_x86.inc"
#undef TARGET
#undef NAME
#undef MULTIPLY_ADD

static const struct fx16_kernels avx512_kernels = {"avx512",   avx512_direct, avx512_dot, avx512_matmul,
                                                   avx512_row, avx512_split};

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni" WIDE)))
#define NAME(function) vnni_##function

/* _mm512_dpwssd_epi32, around which GCC 12 copies each sum to another register and back. */
TARGET static inline __m512i vnni_multiply_add(__m512i sum, __m512i a, __m512i b)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#define MULTIPLY_ADD(s, a, b) vnni_multiply_add(s, a, b)
#include "fx16_kernels_x86.inc"

static const struct fx16_kernels vnni_kernels = {"avx512vnni", vnni_direct, vnni_dot, avx512_matmul,
                                                 avx512_row,   avx512_split};

static int runs_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static const struct fx16_kernels *supported(size_t rank)
{
    switch (rank) {
    case 0:
        return runs_avx512() && __builtin_cpu_supports("avx512vnni") ? &vnni_kernels : NULL;
    case 1:
        return runs_avx512() ? &avx512_kernels : NULL;
    case 2:
        return __builtin_cpu_supports("avx2") ? &avx2_kernels : NULL;
    default:
        return &plain_kernels;
    }
}

enum { RANKS = 4 };

#else

static const struct fx16_kernels *supported(size_t rank)
{
    (void)rank;
    return &plain_kernels;
}

enum { RANKS = 1 };

#endif

const struct fx16_kernels *cnnvp_fx16_kernels_variant(size_t index)
{
    size_t found = 0;
    for (size_t rank = 0; rank < RANKS; ++rank) {
        const struct fx16_kernels *kernels = supported(rank);
        if (kernels != NULL && found++ == index)
            return kernels;
    }
    return NULL;
}

const struct fx16_kernels *cnnvp_fx16_kernels(void)
{
    return cnnvp_fx16_kernels_variant(0);
}
