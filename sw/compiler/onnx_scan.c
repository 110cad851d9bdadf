/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers are those of onnx.proto, wire types those of the protobuf encoding. */
#include "onnx_scan.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

enum message { MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, VALUE_INFO, TYPE, MESSAGES };

/* What happens to a field; fields that are not in a message's list are left out. */
enum action { COPY, RAW, DESCEND };

struct rule {
    uint32_t field;
    enum action action;
    enum message message; /* DESCEND */
};

#define RULES 10

static const struct rule rules[MESSAGES][RULES] = {
    [MODEL] = {{1, COPY, 0}, {8, COPY, 0}, {7, DESCEND, GRAPH}},
    [GRAPH] = {{1, DESCEND, NODE}, {2, COPY, 0}, {5, DESCEND, TENSOR}, {11, DESCEND, VALUE_INFO},
               {12, DESCEND, VALUE_INFO}},
    [NODE] = {{1, COPY, 0}, {2, COPY, 0}, {3, COPY, 0}, {4, COPY, 0}, {7, COPY, 0}, {5, DESCEND, ATTRIBUTE}},
    [ATTRIBUTE] = {{1, COPY, 0}, {20, COPY, 0}, {2, COPY, 0}, {3, COPY, 0}, {4, COPY, 0}, {5, DESCEND, TENSOR},
                   {7, COPY, 0}, {8, COPY, 0}},
    [TENSOR] = {{1, COPY, 0}, {2, COPY, 0}, {4, COPY, 0}, {5, COPY, 0}, {7, COPY, 0}, {8, COPY, 0}, {9, RAW, 0},
                {10, COPY, 0}, {13, COPY, 0}, {14, COPY, 0}},
    [VALUE_INFO] = {{1, COPY, 0}, {2, DESCEND, TYPE}},
    [TYPE] = {{1, COPY, 0}},
};

struct scan {
    const uint8_t *file;
    uint8_t *out;
    size_t used;
    size_t capacity;
    size_t bad;       /* offset of damage */
    int no_memory;
};

static int reserve(struct scan *scan, size_t bytes)
{
    if (scan->capacity - scan->used >= bytes)
        return 1;
    const size_t capacity = (scan->used + bytes) * 2 + 256;
    uint8_t *out = realloc(scan->out, capacity);
    if (out == NULL) {
        scan->no_memory = 1;
        return 0;
    }
    scan->out = out;
    scan->capacity = capacity;
    return 1;
}

static int put(struct scan *scan, const void *data, size_t size)
{
    if (!reserve(scan, size))
        return 0;
    if (size != 0)
        memcpy(scan->out + scan->used, data, size);
    scan->used += size;
    return 1;
}

static int put_varint(struct scan *scan, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (uint8_t)(value & 0x7fu);
        value >>= 7;
        if (value != 0)
            bytes[count] |= 0x80u;
        ++count;
    } while (value != 0);
    return put(scan, bytes, count);
}

static int get_varint(const struct scan *scan, size_t *at, size_t end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = scan->file[(*at)++];
        *value |= (uint64_t)(byte & 0x7fu) << shift;
        if ((byte & 0x80u) == 0)
            return 1;
    }
    return 0;
}

/* Moves *at behind a field's value; for WIRE_BYTES *begin is where its bytes begin. */
static int skip_value(const struct scan *scan, unsigned wire, size_t *at, size_t end, size_t *begin)
{
    uint64_t value;
    *begin = *at;
    if (wire == WIRE_VARINT)
        return get_varint(scan, at, end, &value);
    if (wire == WIRE_BYTES) {
        if (!get_varint(scan, at, end, &value))
            return 0;
        *begin = *at;
    } else if (wire == WIRE_64 || wire == WIRE_32) {
        value = wire == WIRE_64 ? 8 : 4;
    } else {
        return 0;
    }
    if (value > end - *at)
        return 0;
    *at += (size_t)value;
    return 1;
}

static const struct rule *rule_of(enum message message, uint64_t field)
{
    for (size_t i = 0; i < RULES && rules[message][i].field != 0; ++i)
        if (rules[message][i].field == field)
            return &rules[message][i];
    return NULL;
}

static int scan_message(struct scan *scan, enum message message, size_t begin, size_t end);

/* A nested message: its length is known when it has been written, so it is moved up by the length's own bytes. */
static int descend(struct scan *scan, const struct rule *rule, size_t begin, size_t end)
{
    const size_t start = scan->used;
    if (!scan_message(scan, rule->message, begin, end))
        return 0;
    const size_t size = scan->used - start;
    if (!put_varint(scan, size))
        return 0;
    const size_t length_size = scan->used - start - size;
    uint8_t length[10];
    memcpy(length, scan->out + start + size, length_size);
    memmove(scan->out + start + length_size, scan->out + start, size);
    memcpy(scan->out + start, length, length_size);
    return 1;
}

/* The message rules nest five deep at most. */
static int scan_message(struct scan *scan, enum message message, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end) {
        const size_t field_begin = at;
        uint64_t key;
        size_t value_begin = 0;
        if (!get_varint(scan, &at, end, &key) ||
            !skip_value(scan, (unsigned)(key & 7u), &at, end, &value_begin)) {
            scan->bad = field_begin;
            return 0;
        }
        const struct rule *rule = rule_of(message, key >> 3);
        int done = 1;
        if (rule == NULL) {
            continue;
        } else if (rule->action == COPY || (key & 7u) != WIRE_BYTES) {
            done = put(scan, scan->file + field_begin, at - field_begin);
        } else if (rule->action == RAW) {
            const uint64_t place[2] = {value_begin, at - value_begin};
            done = put_varint(scan, key) && put_varint(scan, sizeof place) && put(scan, place, sizeof place);
        } else {
            done = put_varint(scan, key) && descend(scan, rule, value_begin, at);
        }
        if (!done)
            return 0;
    }
    return 1;
}

cnnvp_result cnnvp_onnx_scan(const char *name, const uint8_t *file, size_t size, uint8_t **skeleton,
                             size_t *skeleton_size, struct cnnvp_error *error)
{
    struct scan scan = {.file = file};
    if (scan_message(&scan, MODEL, 0, size) && reserve(&scan, 1)) {
        *skeleton = scan.out;
        *skeleton_size = scan.used;
        return CNNVP_DONE;
    }
    free(scan.out);
    if (scan.no_memory)
        return cnnvp_compiler_no_memory(error);
    return cnnvp_compiler_error(error, "%s: not a complete ONNX file: damaged or cut off at byte %zu of %zu", name,
                                scan.bad, size);
}
