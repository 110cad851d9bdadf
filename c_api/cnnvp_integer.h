/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers: what models, platform, compiler and guest software count with. */
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

/* The same in 32 bits, as the guest's core has them. */
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

/* a + b - 1 fits into 32 bits. */
static inline uint32_t cnnvp_divide_up32(uint32_t a, uint32_t b)
{
    return (a + b - 1u) / b;
}

/* A number of elements in parts of `size`, and what is left: alike ones together. */
struct cnnvp_parts {
    uint64_t first; /* element of the first part */
    uint64_t count; /* of parts; 0 where nothing is left */
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
