/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of inner loops for the host's vector units, and the choice among them at run time. A variant is a constant
 * table of functions; all variants of a table give the same bits. Users: fx16, bfp, train_array, the compiler's float
 * pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* CNNVP_SIMD_X86: variants for x86-64 can be built. The attributes and pragmas are for the functions of a variant. */
#if defined(__x86_64__) && defined(__GNUC__)
#define CNNVP_SIMD_X86
#endif

#ifdef __clang__
#define CNNVP_SIMD_UNROLL(times) _Pragma("unroll")
#define CNNVP_SIMD_WIDE ""
#else
#define CNNVP_SIMD_PRAGMA(text) _Pragma(#text)
#define CNNVP_SIMD_UNROLL(times) CNNVP_SIMD_PRAGMA(GCC unroll times)
#define CNNVP_SIMD_WIDE ",prefer-vector-width=512"
#endif
#define CNNVP_SIMD_AVX512_NAMES "avx512f,avx512bw,avx512dq,avx512vl"
#define CNNVP_TARGET_AVX2 __attribute__((target("avx2")))
#define CNNVP_TARGET_AVX512 __attribute__((target(CNNVP_SIMD_AVX512_NAMES CNNVP_SIMD_WIDE)))
#define CNNVP_TARGET_AVX512VNNI __attribute__((target(CNNVP_SIMD_AVX512_NAMES ",avx512vnni" CNNVP_SIMD_WIDE)))

enum cnnvp_simd_level {
    CNNVP_SIMD_PLAIN, /* every host */
    CNNVP_SIMD_AVX2,
    CNNVP_SIMD_AVX512,
    CNNVP_SIMD_AVX512VNNI
};

struct cnnvp_simd_variant {
    enum cnnvp_simd_level level;
    const void *table;
};

static inline bool cnnvp_simd_runs(enum cnnvp_simd_level level)
{
#ifdef CNNVP_SIMD_X86
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return level == CNNVP_SIMD_AVX512VNNI ? avx512 && __builtin_cpu_supports("avx512vnni")
           : level == CNNVP_SIMD_AVX512   ? avx512
           : level == CNNVP_SIMD_AVX2     ? __builtin_cpu_supports("avx2") != 0
                                          : true;
#else
    return level == CNNVP_SIMD_PLAIN;
#endif
}

/* The table of the index-th variant that this machine runs, NULL after the last. `variants`: fastest first, `count`
 * of them. */
static inline const void *cnnvp_simd_pick(const struct cnnvp_simd_variant *variants, size_t count, size_t index)
{
    size_t found = 0;
    for (size_t i = 0; i < count; ++i)
        if (cnnvp_simd_runs(variants[i].level) && found++ == index)
            return variants[i].table;
    return NULL;
}

/* The choice among `variants` (simd_variants.inc): name##_variant(index) and name(), the fastest. */
#define CNNVP_SIMD_CHOICE(type, name)                                                  \
    const type *name##_variant(size_t index)                                           \
    {                                                                                  \
        return cnnvp_simd_pick(variants, sizeof variants / sizeof variants[0], index); \
    }                                                                                  \
    const type *name(void)                                                             \
    {                                                                                  \
        return name##_variant(0);                                                      \
    }
