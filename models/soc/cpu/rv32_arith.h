/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of RV32IM that C does not define as the ISA does (Unprivileged ISA 20191213, sections 2.4, 7.1, 7.2).
 */
#pragma once

#include <stdint.h>

static inline uint32_t rv32_less(uint32_t a, uint32_t b)
{
    return (int32_t)a < (int32_t)b;
}

static inline uint32_t rv32_sra(uint32_t a, uint32_t n)
{
    return (uint32_t)((int32_t)a >> n);
}

static inline uint32_t rv32_mulh(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

static inline uint32_t rv32_mulhsu(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)b) >> 32);
}

static inline uint32_t rv32_divu(uint32_t a, uint32_t b)
{
    return b == 0 ? UINT32_MAX : a / b;
}

static inline uint32_t rv32_remu(uint32_t a, uint32_t b)
{
    return b == 0 ? a : a % b;
}

/* Division by -1 is a case of its own: -2^31 / -1 overflows in C, and is -2^31 in the ISA. */
static inline uint32_t rv32_div(uint32_t a, uint32_t b)
{
    return b == 0 ? UINT32_MAX : b == UINT32_MAX ? 0u - a : (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t rv32_rem(uint32_t a, uint32_t b)
{
    return b == 0 ? a : b == UINT32_MAX ? 0u : (uint32_t)((int32_t)a % (int32_t)b);
}
