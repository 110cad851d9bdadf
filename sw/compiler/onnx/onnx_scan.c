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

enum message { MODEL, GRAPH, FUNCTION, NODE, ATTRIBUTE, TENSOR, VALUE_INFO, TYPE, MESSAGES };

/* What happens to a field. Fields that are not in a message's list are left out. */
enum action { COPY, RAW, DESCEND };

struct rule {
    uint32_t field;
    enum action action;
    enum message message; /* the nested message, for DESCEND */
};

#define RULES 11

static const struct rule rules[MESSAGES][RULES] = {
    [MODEL] = {{1, COPY, 0}, {8, COPY, 0}, {7, DESCEND, GRAPH}, {25, DESCEND, FUNCTION}},
    [FUNCTION] = {{1, COPY, 0},
                  {4, COPY, 0},
                  {5, COPY, 0},
                  {7, DESCEND, NODE},
                  {9, COPY, 0},
                  {10, COPY, 0},
                  {11, DESCEND, ATTRIBUTE},
                  {13, COPY, 0}},
    [GRAPH] = {{1, DESCEND, NODE},
               {2, COPY, 0},
               {5, DESCEND, TENSOR},
               {11, DESCEND, VALUE_INFO},
               {12, DESCEND, VALUE_INFO},
               {13, DESCEND, VALUE_INFO}},
    [NODE] =
        {{1, COPY, 0}, {2, COPY, 0}, {3, COPY, 0}, {4, COPY, 0}, {7, COPY, 0}, {8, COPY, 0}, {5, DESCEND, ATTRIBUTE}},
    [ATTRIBUTE] = {{1, COPY, 0},
                   {20, COPY, 0},
                   {21, COPY, 0},
                   {2, COPY, 0},
                   {3, COPY, 0},
                   {4, COPY, 0},
                   {5, DESCEND, TENSOR},
                   {6, DESCEND, GRAPH},
                   {7, COPY, 0},
                   {8, COPY, 0}},
    [TENSOR] = {{1, COPY, 0},
                {2, COPY, 0},
                {4, COPY, 0},
                {5, COPY, 0},
                {7, COPY, 0},
                {8, COPY, 0},
                {9, RAW, 0},
                {10, COPY, 0},
                {11, COPY, 0},
                {13, COPY, 0},
                {14, COPY, 0}},
    [VALUE_INFO] = {{1, COPY, 0}, {2, DESCEND, TYPE}},
    [TYPE] = {{1, COPY, 0}},
};

struct scan {
    const uint8_t *file;
    struct cnnvp_wire_buffer out;
    size_t bad;         /* offset of damage; SIZE_MAX: none */
    unsigned graphs;    /* graphs around the current position */
    XXH3_state_t *hash; /* hash of the bytes before offset `hashed` */
    size_t hashed;
};

static const struct rule *rule_of(enum message message, uint64_t field)
{
    for (size_t i = 0; i < RULES && rules[message][i].field != 0; ++i)
        if (rules[message][i].field == field)
            return &rules[message][i];
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
static int descend(struct scan *scan, const struct rule *rule, size_t begin, size_t end)
{
    const size_t start = scan->out.used;
    if (!scan_message(scan, rule->message, begin, end))
        return 0;
    const size_t size = scan->out.used - start;
    if (!cnnvp_wire_put_varint(&scan->out, size))
        return 0;
    const size_t length_size = scan->out.used - start - size;
    uint8_t length[10];
    uint8_t *message = scan->out.bytes + start;
    memcpy(length, message + size, length_size);
    memmove(message + length_size, message, size);
    memcpy(message, length, length_size);
    return 1;
}

/* Recursion is bounded: the rules nest at most five messages, and three more for each nested graph. */
static int scan_message(struct scan *scan, enum message message, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end) {
        struct cnnvp_wire_field field;
        if (!cnnvp_wire_next(scan->file, &at, end, &field)) {
            scan->bad = field.begin;
            return 0;
        }
        const struct rule *rule = rule_of(message, field.number);
        const uint64_t key = field.number << 3 | field.wire;
        const int is_graph = rule != NULL && rule->action == DESCEND && rule->message == GRAPH;
        int done = 1;
        if (rule == NULL || (is_graph && scan->graphs == GRAPHS_MAX)) {
            continue;
        } else if (rule->action == COPY || field.wire != CNNVP_WIRE_BYTES) {
            done = cnnvp_wire_put(&scan->out, scan->file + field.begin, field.end - field.begin);
        } else if (rule->action == RAW) {
            hash_around(scan, &field);
            const uint64_t place[2] = {field.value_begin, field.end - field.value_begin};
            done = cnnvp_wire_put_varint(&scan->out, key) && cnnvp_wire_put_varint(&scan->out, sizeof place) &&
                   cnnvp_wire_put(&scan->out, place, sizeof place);
        } else {
            scan->graphs += is_graph != 0;
            done = cnnvp_wire_put_varint(&scan->out, key) && descend(scan, rule, field.value_begin, field.end);
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
    if (scan.hash == NULL)
        return cnnvp_compiler_no_memory(error);
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
    if (scan.bad == SIZE_MAX)
        return cnnvp_compiler_no_memory(error);
    if (scan.bad == 0)
        return cnnvp_compiler_error(error, "%s: not an ONNX file: it begins with something else", name);
    return cnnvp_compiler_error(
        error, "%s: not a complete ONNX file: damaged or cut off at byte %zu of %zu", name, scan.bad, size);
}
