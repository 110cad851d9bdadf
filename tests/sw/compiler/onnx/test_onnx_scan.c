/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are cut, damaged or nested without end. */
#include "import_case.h"

static uint8_t *read_file(const char *name, size_t *size)
{
    FILE *stream = fopen(name, "rb");
    assert_non_null(stream);
    (void)fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    (void)fseek(stream, 0, SEEK_SET);
    uint8_t *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    (void)fclose(stream);
    return bytes;
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = read_file(TEST_NETWORKS "/mixed.onnx", &size);
    for (size_t length = 0; length < size; length += length < 64 || size - length < 64 ? 1 : 131) {
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        if (onnx_case_import_bytes(bytes, length, 0, &graph, &error) != CNNVP_BAD_INPUT)
            fail_msg("a file of the first %zu bytes of %zu was taken", length, size);
        assert_true(strlen(error.text) > 10);
    }
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(onnx_case_import_bytes(bytes, size, 0, &graph, &error), CNNVP_DONE);
    cnnvp_graph_clear(&graph);
    free(bytes);
}

/* Whatever bytes change: a message or a graph, never more. */
static void damaged_bytes_do_no_harm(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = read_file(TEST_NETWORKS "/mixed.onnx", &size);
    struct builder random;
    builder_init(&random, 13);
    size_t taken = 0;
    for (unsigned round = 0; round < 1500; ++round) {
        size_t places[4];
        uint8_t old[4];
        for (size_t i = 0; i < 4; ++i) {
            /* Most of the file is weights: aim at the structure as well. */
            const size_t range = round % 2 == 0 ? size : 4000;
            places[i] = (size_t)builder_next(&random) % range;
            places[i] = round % 4 == 1 ? size - 1 - places[i] : places[i];
            old[i] = bytes[places[i]];
            bytes[places[i]] = (uint8_t)builder_next(&random);
        }
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        if (onnx_case_import_bytes(bytes, size, round % 3 == 0, &graph, &error) == CNNVP_DONE) {
            ++taken;
            cnnvp_graph_clear(&graph);
        } else {
            assert_true(strlen(error.text) > 10);
        }
        for (size_t i = 4; i-- > 0;)
            bytes[places[i]] = old[i];
    }
    assert_true(taken > 0);
    builder_free(&random);
    free(bytes);
}

/* Nested messages that a reader could run out of stack on: they are never unpacked. */
static void deep_nesting_does_no_harm(void **state)
{
    (void)state;
    /* attribute.g.node.attribute.g. ... : lengths from the inside out */
    static const uint8_t tags[] = {0x32, 0x2a, 0x0a}; /* Attribute.g, Node.attribute, Graph.node */
    const size_t room = 1 << 20;
    uint8_t *bytes = malloc(room);
    size_t at = room;
    size_t level = 0;
    while (at > 64 || level % 3 != 0) {
        uint64_t length = room - at;
        uint8_t varint[10];
        size_t count = 0;
        do {
            varint[count++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
            length >>= 7;
        } while (length != 0);
        at -= count;
        memcpy(bytes + at, varint, count);
        bytes[--at] = tags[level++ % 3];
    }
    struct builder builder;
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    Onnx__NodeProto *node = builder_node(&builder, "Relu", "y", "x", NULL, NULL, NULL);
    builder_int(&builder, node, "body", 1);
    builder_output(&builder, "y");
    size_t size;
    uint8_t *model = builder_pack(&builder, &size);
    struct cnnvp_graph graph;
    struct cnnvp_error error;
    uint8_t *both = malloc(size + 8 + room - at);
    memcpy(both, model, size);
    /* a second graph field: protobuf merges it into the first */
    size_t end = size;
    both[end++] = 0x3a;
    uint64_t length = room - at;
    do {
        both[end++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
        length >>= 7;
    } while (length != 0);
    memcpy(both + end, bytes + at, room - at);
    if (onnx_case_import_bytes(both, end + room - at, 0, &graph, &error) == CNNVP_DONE)
        cnnvp_graph_clear(&graph);
    free(both);
    free(model);
    free(bytes);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(deep_nesting_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
