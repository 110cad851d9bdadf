/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of the PE module's inner loops and the choice among them at run time. All give the same sums; the
 * plain one is the definition and runs anywhere.
 */
#include "train_kernels.h"
#include "simd.h"

#include <string.h>

#ifdef CNNVP_SIMD_X86
#define TRAIN_X86 1
#include <immintrin.h>
#endif

/* ---- plain C ---- */

#define TARGET
#define NAME(function) plain_##function
#include "train_kernels_plain.inc"
#undef TARGET
#undef NAME

static void plain_panel(const uint8_t *panel, const int8_t *const *rows, const uint32_t *offsets, size_t quads,
                        size_t vectors, int32_t *tile)
{
    for (size_t r = 0; r < TRAIN_ROWS; ++r) {
        uint32_t sums[TRAIN_COLUMNS] = {0}; /* unsigned: wraps */
        for (size_t q = 0; q < quads; ++q) {
            const uint8_t *columns = panel + q * 4u * TRAIN_COLUMNS;
            const int8_t *row = rows[r] + offsets[q];
            for (size_t c = 0; c < 16u * vectors; ++c)
                sums[c] += (uint32_t)(columns[4u * c] * row[0] + columns[4u * c + 1u] * row[1] +
                                      columns[4u * c + 2u] * row[2] + columns[4u * c + 3u] * row[3]);
        }
        memcpy(tile + r * TRAIN_COLUMNS, sums, 16u * vectors * sizeof *tile);
    }
}

static void plain_transpose(const uint8_t *columns, size_t pitch, size_t quads, uint8_t *panel)
{
    for (size_t q = 0; q < quads; ++q)
        for (size_t c = 0; c < TRAIN_STAGE; ++c)
            memcpy(panel + 4u * (q * TRAIN_COLUMNS + c), columns + c * pitch + 4u * q, 4u);
}

static void plain_spread(const uint8_t *values, const struct train_segment *segments, size_t count, uint8_t *out)
{
    for (size_t s = 0; s < count; ++s)
        for (size_t i = 0; i < segments[s].length; ++i)
            memcpy(out + 4u * (segments[s].to + i), values + segments[s].from + i, 4u);
}

static const struct train_kernels plain_kernels = {
    "plain",      plain_panel,   plain_sum,        plain_add,      plain_interleave,
    plain_spread, plain_replace, plain_accumulate, plain_transpose};

#ifdef TRAIN_X86

#define UNROLL CNNVP_SIMD_UNROLL(16)

/* ---- SSE2, which every x86-64 has ---- */

#define TARGET CNNVP_TARGET_SSE2
#define NAME(function) sse2_##function
#define VECTOR __m128i
#define LANES 4u
#define LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define SPREAD(x) _mm_set1_epi32(x)
#define ZERO() _mm_setzero_si128()
#define ADD(a, b) _mm_add_epi32(a, b)
#define MADD(a, b) _mm_madd_epi16(a, b)
#define EVEN_U(v) _mm_and_si128(v, _mm_set1_epi16(255))
#define ODD_U(v) _mm_srli_epi16(v, 8)
#define EVEN_S(v) _mm_srai_epi16(_mm_slli_epi16(v, 8), 8)
#define ODD_S(v) _mm_srai_epi16(v, 8)
#define ROWS 4u
#define VECTORS 2u
#include "train_kernels_madd.inc"
#undef TARGET
#undef NAME
#undef VECTOR
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef ADD
#undef MADD
#undef EVEN_U
#undef ODD_U
#undef EVEN_S
#undef ODD_S

/* Four columns and four quads at a time; every variant of x86 uses it. */
CNNVP_TARGET_SSE2 static void sse2_transpose(const uint8_t *columns, size_t pitch, size_t quads, uint8_t *panel)
{
    for (size_t q = 0; q < quads; q += 4u)
        for (size_t c = 0; c < TRAIN_STAGE; c += 4u) {
            const uint8_t *from = columns + c * pitch + 4u * q;
            uint8_t *to = panel + 4u * (q * TRAIN_COLUMNS + c);
            const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
            const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + pitch));
            const __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 2u * pitch));
            const __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(from + 3u * pitch));
            const __m128i ab_low = _mm_unpacklo_epi32(a, b);
            const __m128i ab_high = _mm_unpackhi_epi32(a, b);
            const __m128i de_low = _mm_unpacklo_epi32(d, e);
            const __m128i de_high = _mm_unpackhi_epi32(d, e);
            const size_t step = 4u * TRAIN_COLUMNS;
            _mm_storeu_si128((__m128i *)(void *)to, _mm_unpacklo_epi64(ab_low, de_low));
            _mm_storeu_si128((__m128i *)(void *)(to + step), _mm_unpackhi_epi64(ab_low, de_low));
            _mm_storeu_si128((__m128i *)(void *)(to + 2u * step), _mm_unpacklo_epi64(ab_high, de_high));
            _mm_storeu_si128((__m128i *)(void *)(to + 3u * step), _mm_unpackhi_epi64(ab_high, de_high));
        }
}

static const struct train_kernels sse2_kernels = {
    "sse2",       sse2_panel,    plain_sum,        plain_add,     plain_interleave,
    plain_spread, plain_replace, plain_accumulate, sse2_transpose};

/* ---- AVX2 ---- */

#define TARGET CNNVP_TARGET_AVX2
#define NAME(function) avx2_##function
#define VECTOR __m256i
#define LANES 8u
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SPREAD(x) _mm256_set1_epi32(x)
#define ZERO() _mm256_setzero_si256()
#define ADD(a, b) _mm256_add_epi32(a, b)
#define MADD(a, b) _mm256_madd_epi16(a, b)
#define EVEN_U(v) _mm256_and_si256(v, _mm256_set1_epi16(255))
#define ODD_U(v) _mm256_srli_epi16(v, 8)
#define EVEN_S(v) _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8)
#define ODD_S(v) _mm256_srai_epi16(v, 8)
#include "train_kernels_plain.inc"
#include "train_kernels_madd.inc"
#undef TARGET
#undef NAME
#undef VECTOR
#undef LANES
#undef LOAD
#undef STORE
#undef SPREAD
#undef ZERO
#undef ADD
#undef MADD
#undef EVEN_U
#undef ODD_U
#undef EVEN_S
#undef ODD_S
#undef VECTORS

/* Four columns at a time; what they write beyond a segment the next one replaces. */
CNNVP_TARGET_AVX2 static void avx2_spread(const uint8_t *values, const struct train_segment *segments, size_t count,
                                          uint8_t *out)
{
    const __m128i neighbours = _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
    for (size_t s = 0; s < count; ++s) {
        const uint8_t *from = values + segments[s].from;
        uint8_t *to = out + 4u * segments[s].to;
        for (size_t i = 0; i < segments[s].length; i += 4u) {
            const __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(from + i));
            _mm_storeu_si128((__m128i *)(void *)(to + 4u * i), _mm_shuffle_epi8(eight, neighbours));
        }
    }
}

static const struct train_kernels avx2_kernels = {
    "avx2",      avx2_panel,   avx2_sum,        avx2_add,      avx2_interleave,
    avx2_spread, avx2_replace, avx2_accumulate, sse2_transpose};

/* ---- AVX-512 BW ---- */

#define TARGET CNNVP_TARGET_AVX512
#define NAME(function) avx512_##function
#define VECTOR __m512i
#define LANES 16u
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define SPREAD(x) _mm512_set1_epi32(x)
#define ZERO() _mm512_setzero_si512()
#define ADD(a, b) _mm512_add_epi32(a, b)
#define MADD(a, b) _mm512_madd_epi16(a, b)
#define EVEN_U(v) _mm512_and_si512(v, _mm512_set1_epi16(255))
#define ODD_U(v) _mm512_srli_epi16(v, 8)
#define EVEN_S(v) _mm512_srai_epi16(_mm512_slli_epi16(v, 8), 8)
#define ODD_S(v) _mm512_srai_epi16(v, 8)
#define VECTORS 1u
#include "train_kernels_plain.inc"
#include "train_kernels_madd.inc"
#undef TARGET
#undef ROWS
#undef VECTORS

static const struct train_kernels avx512_kernels = {
    "avx512",    avx512_panel,   avx512_sum,        avx512_add,    avx512_interleave,
    avx2_spread, avx512_replace, avx512_accumulate, sse2_transpose};

/* ---- AVX-512 VNNI: four products of bytes at once. ROWS x VECTORS sums stay in registers. ---- */

#define TARGET CNNVP_TARGET_AVX512VNNI

#define ROWS 12u
#define VECTORS 1u
#define NAME_PART vnni_12x1
#include "train_kernels_vnni.inc"
#undef VECTORS
#undef NAME_PART
#define VECTORS 2u
#define NAME_PART vnni_12x2
#include "train_kernels_vnni.inc"
#undef ROWS
#undef VECTORS
#undef NAME_PART
#define ROWS 6u
#define VECTORS 4u
#define NAME_PART vnni_6x4
#include "train_kernels_vnni.inc"

TARGET static void vnni_panel(const uint8_t *panel, const int8_t *const *rows, const uint32_t *offsets, size_t quads,
                              size_t vectors, int32_t *tile)
{
    if (vectors == 1u) {
        vnni_12x1(panel, rows, offsets, quads, tile);
    } else if (vectors == 2u) {
        vnni_12x2(panel, rows, offsets, quads, tile);
    } else {
        vnni_6x4(panel, rows, offsets, quads, tile);
        vnni_6x4(panel, rows + 6, offsets, quads, tile + 6u * TRAIN_COLUMNS);
    }
}

static const struct train_kernels vnni_kernels = {
    "avx512vnni", vnni_panel,     avx512_sum,        avx512_add,    avx512_interleave,
    avx2_spread,  avx512_replace, avx512_accumulate, sse2_transpose};

#endif

static const struct cnnvp_simd_variant variants[] = {
#ifdef CNNVP_SIMD_X86
    {CNNVP_SIMD_AVX512VNNI, &vnni_kernels}, {CNNVP_SIMD_AVX512, &avx512_kernels},
    {CNNVP_SIMD_AVX2, &avx2_kernels},       {CNNVP_SIMD_SSE2, &sse2_kernels},
#endif
    {CNNVP_SIMD_PLAIN, &plain_kernels},
};

const struct train_kernels *cnnvp_train_kernels_variant(size_t index)
{
    return cnnvp_simd_pick(variants, sizeof variants / sizeof variants[0], index);
}

const struct train_kernels *cnnvp_train_kernels(void)
{
    return cnnvp_train_kernels_variant(0);
}
