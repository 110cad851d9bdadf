/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_wire.h"

#include <stdlib.h>
#include <string.h>

#include "varint.h"

static int get_varint(const uint8_t *file, size_t *at, size_t end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = file[(*at)++];
        *value |= (uint64_t)(byte & 0x7fu) << shift;
        if ((byte & 0x80u) == 0)
            return 1;
    }
    return 0;
}

int cnnvp_wire_next(const uint8_t *file, size_t *at, size_t end, struct cnnvp_wire_field *field)
{
    uint64_t key, size;
    field->begin = *at;
    if (!get_varint(file, at, end, &key))
        return 0;
    field->number = key >> 3;
    field->wire = (unsigned)(key & 7u);
    field->value_begin = *at;
    if (field->wire == CNNVP_WIRE_VARINT) {
        if (!get_varint(file, at, end, &size))
            return 0;
        size = 0;
    } else if (field->wire == CNNVP_WIRE_BYTES) {
        if (!get_varint(file, at, end, &size))
            return 0;
        field->value_begin = *at;
    } else if (field->wire == CNNVP_WIRE_64 || field->wire == CNNVP_WIRE_32) {
        size = field->wire == CNNVP_WIRE_64 ? 8 : 4;
    } else {
        return 0;
    }
    if (size > end - *at)
        return 0;
    *at += (size_t)size;
    field->end = *at;
    return 1;
}

int cnnvp_wire_reserve(struct cnnvp_wire_buffer *buffer, size_t bytes)
{
    if (buffer->capacity - buffer->used >= bytes)
        return 1;
    const size_t capacity = (buffer->used + bytes) * 2 + 256;
    uint8_t *larger = realloc(buffer->bytes, capacity);
    if (larger == NULL)
        return 0;
    buffer->bytes = larger;
    buffer->capacity = capacity;
    return 1;
}

int cnnvp_wire_put(struct cnnvp_wire_buffer *buffer, const void *data, size_t size)
{
    if (!cnnvp_wire_reserve(buffer, size))
        return 0;
    if (size != 0)
        memcpy(buffer->bytes + buffer->used, data, size);
    buffer->used += size;
    return 1;
}

int cnnvp_wire_put_varint(struct cnnvp_wire_buffer *buffer, uint64_t value)
{
    uint8_t bytes[10];
    return cnnvp_wire_put(buffer, bytes, (size_t)(cnnvp_varint_put(bytes, value) - bytes));
}

int cnnvp_wire_put_bytes(struct cnnvp_wire_buffer *buffer, uint64_t number, const void *data, size_t size)
{
    return cnnvp_wire_put_varint(buffer, number << 3 | CNNVP_WIRE_BYTES) && cnnvp_wire_put_varint(buffer, size) &&
           cnnvp_wire_put(buffer, data, size);
}
