/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding of protobuf: fields of a message one after the other, a key (number * 8 + wire type) before each
 * value. */
#ifndef CNNVP_COMPILER_ONNX_WIRE_H
#define CNNVP_COMPILER_ONNX_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { CNNVP_WIRE_VARINT = 0, CNNVP_WIRE_64 = 1, CNNVP_WIRE_BYTES = 2, CNNVP_WIRE_32 = 5 };

/* One field of a message. */
struct cnnvp_wire_field {
    uint64_t number;
    unsigned wire;
    size_t begin;       /* of the field, key included */
    size_t value_begin; /* of its value; of its bytes for CNNVP_WIRE_BYTES */
    size_t end;
};

/* Reads the field at *at and moves *at after it. 0: damaged or longer than `end`. */
int cnnvp_wire_next(const uint8_t *file, size_t *at, size_t end, struct cnnvp_wire_field *field);

/* A message that is being written. Functions return 0 where there is no memory. */
struct cnnvp_wire_buffer {
    uint8_t *bytes; /* free() */
    size_t used;
    size_t capacity;
};

int cnnvp_wire_reserve(struct cnnvp_wire_buffer *buffer, size_t bytes);
int cnnvp_wire_put(struct cnnvp_wire_buffer *buffer, const void *data, size_t size);
int cnnvp_wire_put_varint(struct cnnvp_wire_buffer *buffer, uint64_t value);
/* Key, length and bytes of a field of wire type CNNVP_WIRE_BYTES. */
int cnnvp_wire_put_bytes(struct cnnvp_wire_buffer *buffer, uint64_t number, const void *data, size_t size);

#endif
