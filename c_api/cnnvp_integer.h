/* SPDX-License-Identifier: Apache-2.0 */
/* Integer helpers shared by models, platform, compiler and guest software. */
#ifndef CNNVP_INTEGER_H
#define CNNVP_INTEGER_H

#include <stdint.h>

static inline uint64_t cnnvp_minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t cnnvp_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a / b, rounded up; b is not 0. */
static inline uint64_t cnnvp_divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0 ? 1u : 0u);
}

static inline int cnnvp_is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1u)) == 0;
}

/* The least n with 2^n >= number; number is at most 2^63. */
static inline uint32_t cnnvp_log2_up(uint64_t number)
{
    uint32_t n = 0;
    while ((UINT64_C(1) << n) < number)
        ++n;
    return n;
}

static inline uint64_t cnnvp_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline uint32_t cnnvp_minimum32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t cnnvp_maximum32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The caller ensures that a + b - 1 fits into 32 bits. */
static inline uint32_t cnnvp_divide_up32(uint32_t a, uint32_t b)
{
    return (a + b - 1u) / b;
}

/* Equal parts of a number of elements: cnnvp_cut gives the whole parts of `size` elements, and the rest. */
struct cnnvp_parts {
    uint64_t first; /* index of the part's first element */
    uint64_t count; /* number of parts; 0 if nothing is left */
    uint32_t size;
};

static inline void cnnvp_cut(uint64_t elements, uint32_t size, struct cnnvp_parts parts[2])
{
    const uint64_t whole = elements / size;
    const uint32_t rest = (uint32_t)(elements % size);
    parts[0] = (struct cnnvp_parts){0, whole, size};
    parts[1] = (struct cnnvp_parts){whole * size, rest != 0, rest};
}

#endif
