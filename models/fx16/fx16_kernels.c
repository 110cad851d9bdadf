/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of the inner loops and the choice among them at run time. All give the same sums; the plain one is the
 * definition and runs anywhere.
 */
#include "fx16_kernels.h"
#include "simd.h"

#include <string.h>

#ifdef CNNVP_SIMD_X86
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
static int16_t first_of(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair & 0xffffu);
}

static int16_t second_of(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair >> 16);
}

/* As many as compilers vectorise without a rest. */
enum { PLAIN_POSITIONS = 16 };

/* `direct` of one step at PLAIN_POSITIONS. */
static void plain_step(const int16_t *low, const int16_t *high, const int32_t *weights, size_t pitch, size_t channels,
                       int64_t *sums)
{
    int16_t first[PLAIN_POSITIONS];
    int16_t second[PLAIN_POSITIONS];
    for (size_t p = 0; p < PLAIN_POSITIONS; ++p) {
        first[p] = (int16_t)(256 * high[2u * p] + low[2u * p]);
        second[p] = (int16_t)(256 * high[2u * p + 1u] + low[2u * p + 1u]);
    }
    for (size_t o = 0; o < channels; ++o, sums += FX16_DIRECT_POSITIONS) {
        const int16_t k0 = first_of(weights[o * pitch]);
        const int16_t k1 = second_of(weights[o * pitch]);
        for (size_t p = 0; p < PLAIN_POSITIONS; ++p)
            sums[p] += (int64_t)(k0 * first[p]) + (int64_t)(k1 * second[p]);
    }
}

static void plain_direct(const int16_t *low, const int16_t *high, const uint32_t *offsets, const int32_t *weights,
                         size_t pitch, size_t steps, size_t channels, size_t positions, int64_t *sums)
{
    memset(sums, 0, sizeof *sums * channels * FX16_DIRECT_POSITIONS);
    for (size_t s = 0; s < steps; ++s)
        for (size_t p = 0; p < positions; p += PLAIN_POSITIONS)
            plain_step(low + 2u * (offsets[s] + p), high + 2u * (offsets[s] + p), weights + s, pitch, channels,
                       sums + p);
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

static const struct fx16_kernels plain_kernels = {
    "plain", plain_direct, plain_dot, plain_matmul, plain_row, plain_split};

#ifdef FX16_X86

#define UNROLL CNNVP_SIMD_UNROLL(8)

/* ---- AVX2 ---- */

#define TARGET CNNVP_TARGET_AVX2
#define NAME(function) avx2_##function
#define VECTOR __m256i
#define LANES 8u
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SPREAD(x) _mm256_set1_epi32(x)
#define ZERO() _mm256_setzero_si256()
#define MULTIPLY_ADD(s, a, b) _mm256_add_epi32(s, _mm256_madd_epi16(a, b))
#define WIDEN(low, high, sums) avx2_widen(low, high, sums)
#define TOTAL(low, high) avx2_total(low, high)
#define CHANNELS 2u
#define VECTORS 2u
#define DOT_OUTPUTS 2u
#define DOT_POSITIONS 2u

/* 256 * high + low of four lanes, 64 bits. */
TARGET static inline __m256i avx2_four(__m128i low, __m128i high)
{
    return _mm256_add_epi64(_mm256_cvtepi32_epi64(low), _mm256_slli_epi64(_mm256_cvtepi32_epi64(high), 8));
}

TARGET static inline void avx2_widen(__m256i low, __m256i high, int64_t *sums)
{
    const __m256i first = avx2_four(_mm256_castsi256_si128(low), _mm256_castsi256_si128(high));
    const __m256i second = avx2_four(_mm256_extracti128_si256(low, 1), _mm256_extracti128_si256(high, 1));
    STORE(sums, _mm256_add_epi64(LOAD(sums), first));
    STORE(sums + 4, _mm256_add_epi64(LOAD(sums + 4), second));
}

TARGET static inline int64_t avx2_total(__m256i low, __m256i high)
{
    const __m256i first = avx2_four(_mm256_castsi256_si128(low), _mm256_castsi256_si128(high));
    const __m256i second = avx2_four(_mm256_extracti128_si256(low, 1), _mm256_extracti128_si256(high, 1));
    const __m256i lanes = _mm256_add_epi64(first, second);
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
#undef WIDEN
#undef TOTAL
#undef CHANNELS
#undef VECTORS
#undef DOT_OUTPUTS
#undef DOT_POSITIONS

static const struct fx16_kernels avx2_kernels = {"avx2", avx2_direct, avx2_dot, avx2_matmul, avx2_row, avx2_split};

/* ---- AVX-512 BW, and with VNNI ---- */

#define VECTOR __m512i
#define LANES 16u
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define SPREAD(x) _mm512_set1_epi32(x)
#define ZERO() _mm512_setzero_si512()
#define WIDEN(low, high, sums) avx512_widen(low, high, sums)
#define TOTAL(low, high) avx512_total(low, high)
#define CHANNELS 4u
#define VECTORS 3u
#define DOT_OUTPUTS 3u
#define DOT_POSITIONS 4u

#define TARGET CNNVP_TARGET_AVX512
#define NAME(function) avx512_##function
#define MULTIPLY_ADD(s, a, b) _mm512_add_epi32(s, _mm512_madd_epi16(a, b))

/* 256 * high + low of eight lanes, 64 bits. */
TARGET static inline __m512i avx512_eight(__m256i low, __m256i high)
{
    return _mm512_add_epi64(_mm512_cvtepi32_epi64(low), _mm512_slli_epi64(_mm512_cvtepi32_epi64(high), 8));
}

TARGET static inline void avx512_widen(__m512i low, __m512i high, int64_t *sums)
{
    const __m512i first = avx512_eight(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high));
    const __m512i second = avx512_eight(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1));
    STORE(sums, _mm512_add_epi64(LOAD(sums), first));
    STORE(sums + 8, _mm512_add_epi64(LOAD(sums + 8), second));
}

TARGET static inline int64_t avx512_total(__m512i low, __m512i high)
{
    const __m512i first = avx512_eight(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high));
    const __m512i second = avx512_eight(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1));
    return _mm512_reduce_add_epi64(_mm512_add_epi64(first, second));
}

#include "fx16_kernels_plain.inc"
#include "fx16_kernels_x86.inc"
#undef TARGET
#undef NAME
#undef MULTIPLY_ADD

static const struct fx16_kernels avx512_kernels = {
    "avx512", avx512_direct, avx512_dot, avx512_matmul, avx512_row, avx512_split};

#define TARGET CNNVP_TARGET_AVX512VNNI
#define NAME(function) vnni_##function

/* _mm512_dpwssd_epi32, around which GCC 12 copies each sum to another register and back. */
TARGET static inline __m512i vnni_multiply_add(__m512i sum, __m512i a, __m512i b)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#define MULTIPLY_ADD(s, a, b) vnni_multiply_add(s, a, b)
#include "fx16_kernels_x86.inc"

static const struct fx16_kernels vnni_kernels = {
    "avx512vnni", vnni_direct, vnni_dot, avx512_matmul, avx512_row, avx512_split};

#endif

static const struct cnnvp_simd_variant variants[] = {
#ifdef CNNVP_SIMD_X86
    {CNNVP_SIMD_AVX512VNNI, &vnni_kernels},
    {CNNVP_SIMD_AVX512, &avx512_kernels},
    {CNNVP_SIMD_AVX2, &avx2_kernels},
#endif
    {CNNVP_SIMD_PLAIN, &plain_kernels},
};

const struct fx16_kernels *cnnvp_fx16_kernels_variant(size_t index)
{
    return cnnvp_simd_pick(variants, sizeof variants / sizeof variants[0], index);
}

const struct fx16_kernels *cnnvp_fx16_kernels(void)
{
    return cnnvp_fx16_kernels_variant(0);
}
