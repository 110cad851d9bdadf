/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf wire format: a message is a sequence of fields, each with a key (field number * 8 + wire type) before
 * its value. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CNNVP_WIRE_VARINT = 0, CNNVP_WIRE_64 = 1, CNNVP_WIRE_BYTES = 2, CNNVP_WIRE_32 = 5 };

/* One field of a message. */
struct cnnvp_wire_field {
    uint64_t number;
    unsigned wire;
    size_t begin;       /* offset of the key */
    size_t value_begin; /* offset of the value; for CNNVP_WIRE_BYTES of its bytes, after the length */
    size_t end;
};

/* Reads the field at *at and advances *at past it. Returns 0 if the field is damaged or reaches past `end`. */
int cnnvp_wire_next(const uint8_t *file, size_t *at, size_t end, struct cnnvp_wire_field *field);

/* A message under construction. The functions return 0 if there is no memory. */
struct cnnvp_wire_buffer {
    uint8_t *bytes; /* owned; release with free() */
    size_t used;
    size_t capacity;
};

int cnnvp_wire_reserve(struct cnnvp_wire_buffer *buffer, size_t bytes);
int cnnvp_wire_put(struct cnnvp_wire_buffer *buffer, const void *data, size_t size);
int cnnvp_wire_put_varint(struct cnnvp_wire_buffer *buffer, uint64_t value);
/* Appends a field of wire type CNNVP_WIRE_BYTES: key, length and bytes. */
int cnnvp_wire_put_bytes(struct cnnvp_wire_buffer *buffer, uint64_t number, const void *data, size_t size);
