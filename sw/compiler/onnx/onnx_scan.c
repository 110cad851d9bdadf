/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First pass over an ONNX file: builds a copy that holds only what the compiler uses, for protobuf-c to unpack. Tensor
 * bytes stay in the file; raw_data of the copy is their offset and length in the file (two 64-bit integers in the
 * host's byte order). Graphs nested more than 8 deep and types other than tensors are left out, so that no file causes
 * a deep recursion. Field numbers are those of onnx.proto.
 */
#include "onnx_read.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "onnx_wire.h"
#include "varint.h"

enum message { MODEL, GRAPH, FUNCTION, NODE, ATTRIBUTE, TENSOR, VALUE_INFO, TYPE, MESSAGES };

/* raw_data of a tensor */
enum { RAW_DATA = 9 };

#define FIELD(number) (UINT32_C(1) << (number))

/* Fields that are copied as they are. Those that are neither here nor below are left out. */
static const uint32_t copied[MESSAGES] = {
    [MODEL] = FIELD(1) | FIELD(8),
    [GRAPH] = FIELD(2),
    [FUNCTION] = FIELD(1) | FIELD(4) | FIELD(5) | FIELD(9) | FIELD(10) | FIELD(13),
    [NODE] = FIELD(1) | FIELD(2) | FIELD(3) | FIELD(4) | FIELD(7) | FIELD(8),
    [ATTRIBUTE] = FIELD(1) | FIELD(2) | FIELD(3) | FIELD(4) | FIELD(7) | FIELD(8) | FIELD(20) | FIELD(21),
    [TENSOR] =
        FIELD(1) | FIELD(2) | FIELD(4) | FIELD(5) | FIELD(7) | FIELD(8) | FIELD(10) | FIELD(11) | FIELD(13) | FIELD(14),
    [VALUE_INFO] = FIELD(1),
    [TYPE] = FIELD(1),
};

/* Fields that are messages of which a part is copied. */
static const struct nested {
    enum message outer;
    uint32_t field;
    enum message inner;
} all_nested[] = {
    {MODEL, 7, GRAPH},       {MODEL, 25, FUNCTION}, {FUNCTION, 7, NODE},     {FUNCTION, 11, ATTRIBUTE},
    {GRAPH, 1, NODE},        {GRAPH, 5, TENSOR},    {GRAPH, 11, VALUE_INFO}, {GRAPH, 12, VALUE_INFO},
    {GRAPH, 13, VALUE_INFO}, {NODE, 5, ATTRIBUTE},  {ATTRIBUTE, 5, TENSOR},  {ATTRIBUTE, 6, GRAPH},
    {VALUE_INFO, 2, TYPE},
};

struct scan {
    const uint8_t *file;
    struct cnnvp_wire_buffer out;
    size_t bad;         /* offset of damage; SIZE_MAX: none */
    unsigned graphs;    /* graphs around the current position */
    XXH3_state_t *hash; /* hash of the bytes before offset `hashed` */
    size_t hashed;
};

static int is_copied(enum message message, uint64_t field)
{
    return field < 32 && (copied[message] >> field & 1u) != 0;
}

static const struct nested *nested_in(enum message message, uint64_t field)
{
    for (size_t i = 0; i < sizeof all_nested / sizeof *all_nested; ++i)
        if (all_nested[i].outer == message && all_nested[i].field == field)
            return &all_nested[i];
    return NULL;
}

static int scan_message(struct scan *scan, enum message message, size_t begin, size_t end);

/* Most nested graphs that are read: the network's, and those of branches. */
#define GRAPHS_MAX 8u

/* Of raw data above this size, only the length is hashed. */
#define HASHED_DATA 4096u

static void hash_up_to(struct scan *scan, size_t end)
{
    (void)XXH3_64bits_update(scan->hash, scan->file + scan->hashed, end - scan->hashed);
    scan->hashed = end;
}

static void hash_around(struct scan *scan, const struct cnnvp_wire_field *field)
{
    if (field->end - field->value_begin <= HASHED_DATA)
        return;
    hash_up_to(scan, field->value_begin);
    scan->hashed = field->end;
}

/* Copies a nested message. Its length is known only afterwards, so the message is then moved up to make room for the
 * length. */
static int descend(struct scan *scan, enum message message, size_t begin, size_t end)
{
    const size_t start = scan->out.used;
    if (!scan_message(scan, message, begin, end))
        return 0;
    const size_t size = scan->out.used - start, length_size = cnnvp_varint_size(size);
    if (!cnnvp_wire_reserve(&scan->out, length_size))
        return 0;
    uint8_t *copy = scan->out.bytes + start;
    memmove(copy + length_size, copy, size);
    (void)cnnvp_varint_put(copy, size);
    scan->out.used += length_size;
    return 1;
}

/* Recursion is bounded: the messages nest five deep at most, and three more for each nested graph. */
static int scan_message(struct scan *scan, enum message message, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end) {
        struct cnnvp_wire_field field;
        if (!cnnvp_wire_next(scan->file, &at, end, &field)) {
            scan->bad = field.begin;
            return 0;
        }
        const struct nested *nested = nested_in(message, field.number);
        const int is_raw = message == TENSOR && field.number == RAW_DATA;
        const uint64_t key = field.number << 3 | field.wire;
        const int is_graph = nested != NULL && nested->inner == GRAPH;
        int done = 1;
        if (nested == NULL && !is_raw && !is_copied(message, field.number))
            continue;
        if (is_graph && scan->graphs == GRAPHS_MAX)
            continue;
        if (is_copied(message, field.number) || field.wire != CNNVP_WIRE_BYTES) {
            done = cnnvp_wire_put(&scan->out, scan->file + field.begin, field.end - field.begin);
        } else if (is_raw) {
            hash_around(scan, &field);
            const uint64_t place[2] = {field.value_begin, field.end - field.value_begin};
            done = cnnvp_wire_put_varint(&scan->out, key) && cnnvp_wire_put_varint(&scan->out, sizeof place) &&
                   cnnvp_wire_put(&scan->out, place, sizeof place);
        } else {
            scan->graphs += is_graph != 0;
            done = cnnvp_wire_put_varint(&scan->out, key) && descend(scan, nested->inner, field.value_begin, field.end);
            scan->graphs -= is_graph != 0;
        }
        if (!done)
            return 0;
    }
    return 1;
}

cnnvp_result cnnvp_onnx_scan(const char *name, const uint8_t *file, size_t size, uint8_t **skeleton,
                             size_t *skeleton_size, uint64_t *hash, struct cnnvp_error *error)
{
    struct scan scan = {.file = file, .bad = SIZE_MAX, .hash = XXH3_createState()};
    CNNVP_TRY_MEMORY(scan.hash != NULL, error);
    (void)XXH3_64bits_reset(scan.hash);
    const int done = scan_message(&scan, MODEL, 0, size) && cnnvp_wire_reserve(&scan.out, 1);
    if (done) {
        hash_up_to(&scan, size);
        *hash = XXH3_64bits_digest(scan.hash);
    }
    (void)XXH3_freeState(scan.hash);
    if (done) {
        *skeleton = scan.out.bytes;
        *skeleton_size = scan.out.used;
        return CNNVP_DONE;
    }
    free(scan.out.bytes);
    CNNVP_TRY_MEMORY(scan.bad != SIZE_MAX, error);
    if (scan.bad == 0)
        return cnnvp_compiler_error(error, "%s: not an ONNX file: it begins with something else", name);
    return cnnvp_compiler_error(
        error, "%s: not a complete ONNX file: damaged or cut off at byte %zu of %zu", name, scan.bad, size);
}
