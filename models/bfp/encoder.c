/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding module: bit strings of fixed width. See encoder.h. */
#include "encoder.h"

#include <string.h>

uint64_t cnnvp_encoder_bytes(uint64_t n, uint32_t width)
{
    const uint64_t eights = n / 8u; /* eight values fill `width` bytes */
    if (eights > (UINT64_MAX - 32u) / width)
        return UINT64_MAX;
    return eights * width + (n % 8u * width + 7u) / 8u;
}

struct writer {
    uint8_t *out;
    uint64_t bits; /* not yet written, from bit 0 */
    uint32_t count;
};

static void put(struct writer *writer, uint32_t value, uint32_t width)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1u;
    writer->bits |= (value & mask) << writer->count;
    writer->count += width;
    while (writer->count >= 8u) {
        *writer->out++ = (uint8_t)(writer->bits & 0xffu);
        writer->bits >>= 8;
        writer->count -= 8u;
    }
}

static void finish(struct writer *writer)
{
    if (writer->count != 0)
        *writer->out = (uint8_t)(writer->bits & 0xffu);
}

struct reader {
    const uint8_t *in;
    uint64_t bits;
    uint32_t count;
};

static uint32_t get(struct reader *reader, uint32_t width)
{
    while (reader->count < width) {
        reader->bits |= (uint64_t)*reader->in++ << reader->count;
        reader->count += 8u;
    }
    const uint32_t value = (uint32_t)(reader->bits & ((UINT64_C(1) << width) - 1u));
    reader->bits >>= width;
    reader->count -= width;
    return value;
}

static int32_t sign_extend(uint32_t value, uint32_t width)
{
    const uint32_t sign = 1u << (width - 1u);
    return (int32_t)((int64_t)(value ^ sign) - (int64_t)sign);
}

void cnnvp_encoder_pack(const int8_t *mantissas, uint64_t n, uint32_t width, uint8_t *packed)
{
    struct writer writer = {.out = packed};
    if (width == 8u) {
        if (n != 0)
            memcpy(packed, mantissas, n);
        return;
    }
    for (uint64_t i = 0; i < n; ++i)
        put(&writer, (uint32_t)mantissas[i], width);
    finish(&writer);
}

void cnnvp_encoder_unpack(const uint8_t *packed, uint64_t n, uint32_t width, int8_t *mantissas)
{
    struct reader reader = {.in = packed};
    if (width == 8u) {
        if (n != 0)
            memcpy(mantissas, packed, n);
        return;
    }
    for (uint64_t i = 0; i < n; ++i)
        mantissas[i] = (int8_t)sign_extend(get(&reader, width), width);
}

void cnnvp_encoder_pack_wide(const int32_t *mantissas, uint64_t n, uint32_t width, uint8_t *packed)
{
    struct writer writer = {.out = packed};
    for (uint64_t i = 0; i < n; ++i)
        put(&writer, (uint32_t)mantissas[i], width);
    finish(&writer);
}

void cnnvp_encoder_unpack_wide(const uint8_t *packed, uint64_t n, uint32_t width, int32_t *mantissas)
{
    struct reader reader = {.in = packed};
    for (uint64_t i = 0; i < n; ++i)
        mantissas[i] = sign_extend(get(&reader, width), width);
}

void cnnvp_encoder_pack_bits(const uint8_t *values, uint64_t n, uint32_t width, uint8_t *packed)
{
    struct writer writer = {.out = packed};
    for (uint64_t i = 0; i < n; ++i)
        put(&writer, values[i], width);
    finish(&writer);
}

void cnnvp_encoder_unpack_bits(const uint8_t *packed, uint64_t n, uint32_t width, uint8_t *values)
{
    struct reader reader = {.in = packed};
    for (uint64_t i = 0; i < n; ++i)
        values[i] = (uint8_t)get(&reader, width);
}
