/* SPDX-License-Identifier: Apache-2.0 */
/* Variable-length numbers as in protocol buffers: 7 bits per byte, low bits first, at most 10 bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline unsigned char *cnnvp_varint_put(unsigned char *p, uint64_t value)
{
    while (value >= 0x80) {
        *p++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *p++ = (unsigned char)value;
    return p;
}

/* A two's complement difference in zigzag coding: small magnitudes are short. */
static inline unsigned char *cnnvp_varint_put_signed(unsigned char *p, uint64_t difference)
{
    return cnnvp_varint_put(p, difference << 1 ^ (0 - (difference >> 63)));
}

static inline const unsigned char *cnnvp_varint_get(const unsigned char *p, uint64_t *value)
{
    uint64_t result = *p & 0x7F;
    unsigned shift = 7;

    while (*p++ & 0x80) {
        result |= (uint64_t)(*p & 0x7F) << shift;
        shift += 7;
    }
    *value = result;
    return p;
}

static inline const unsigned char *cnnvp_varint_get_signed(const unsigned char *p, uint64_t *difference)
{
    uint64_t value;

    p = cnnvp_varint_get(p, &value);
    *difference = value >> 1 ^ (0 - (value & 1));
    return p;
}

static inline size_t cnnvp_varint_size(uint64_t value)
{
    size_t size = 1;

    while (value >= 0x80) {
        value >>= 7;
        ++size;
    }
    return size;
}
