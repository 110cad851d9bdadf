/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ONNX files: broken ones, what is not known, what each operator becomes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "onnx_case.h"

static const int64_t map4[4] = {-1, 2, 6, 6};
static const int64_t flat2[2] = {-1, 6};

/* ---- broken files ---- */

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

static void wrong_versions_are_named(void **state)
{
    (void)state;
    struct builder builder;
    builder_init(&builder, 5);
    builder_input(&builder, "x", 4, map4);
    (void)builder_node(&builder, "Relu", "y", "x", NULL, NULL, NULL);
    builder_output(&builder, "y");
    onnx_case_must_fail(&builder, "operator set 5; sets 6 to 21");
    builder.opset.version = 22;
    onnx_case_must_fail(&builder, "operator set 22");
    builder.opset.version = 13;
    builder.model.ir_version = 2;
    onnx_case_must_fail(&builder, "IR version 2");
    builder.model.ir_version = 3;
    builder.model.n_opset_import = 0;
    onnx_case_must_fail(&builder, "operator set");
    builder_free(&builder);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_onnx_import("/nowhere/net.onnx", 0, &graph, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/nowhere/net.onnx: No such file or directory");
    assert_int_equal(cnnvp_onnx_import("/tmp", 0, &graph, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "not a regular file"));
}

/* ---- what is not known ---- */

static void unknown_operators_name_the_node(void **state)
{
    (void)state;
    struct builder builder;
    (void)onnx_case_node(&builder, 4, "LayerNormalization", NULL);
    onnx_case_must_fail(&builder, ": node \"y\" (LayerNormalization): this operator is not supported");
    builder_free(&builder);
    Onnx__NodeProto *node = onnx_case_node(&builder, 4, "Relu", NULL);
    node->domain = builder_text(&builder, "com.example");
    onnx_case_must_fail(&builder, "domain \"com.example\"");
    builder_free(&builder);
    (void)onnx_case_node(&builder, 4, "Relu", NULL);
    builder.graph.node[0]->input[0] = builder_text(&builder, "z");
    onnx_case_must_fail(&builder, "input \"z\" is neither");
    builder_free(&builder);
}

/* As exporters write large networks. */
static void each_weight_may_have_its_file(void **state)
{
    enum { FILES = 40 };
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    char files[FILES][64], names[FILES + 1][8] = {"x"};
    float y[6];
    builder_init(&builder, 13);
    builder_input(&builder, "x", 2, flat2);
    for (size_t i = 0; i < FILES; ++i) {
        const float value = (float)(i + 1);
        builder_write((const uint8_t *)&value, sizeof value, files[i]);
        const char *file = strrchr(files[i], '/') + 1;
        (void)snprintf(names[i + 1], sizeof names[i + 1], "y%zu", i + 1);
        builder_outside(&builder, builder_floats(&builder, file, 0, NULL, &value), file);
        (void)builder_node(&builder, "Add", names[i + 1], names[i], file, NULL, NULL);
    }
    builder_output(&builder, names[FILES]);
    onnx_case_must_import(&builder, &graph);
    onnx_case_run(&graph, y);
    assert_float_equal(y[0], 0.25f + 0.5f * FILES * (FILES + 1), 0);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    for (size_t i = 0; i < FILES; ++i)
        (void)unlink(files[i]);
}

/* Typed data, double and half precision give the same numbers as raw floats. */
static void data_types_are_converted(void **state)
{
    (void)state;
    const int64_t dims[2] = {6, 1};
    const float values[6] = {1.0f, -2.5f, 0.125f, 0.0f, 6.103515625e-05f, -65504.0f};
    const uint16_t halves[6] = {0x3c00, 0xc100, 0x3000, 0x0000, 0x0400, 0xfbff};
    double doubles[6];
    float y[4];
    int32_t typed_halves[6];
    for (size_t i = 0; i < 6; ++i) {
        doubles[i] = (double)values[i];
        typed_halves[i] = halves[i];
    }
    for (int kind = 0; kind < 4; ++kind) {
        struct builder builder;
        struct cnnvp_graph graph;
        (void)onnx_case_node(&builder, 2, "MatMul", "w");
        Onnx__TensorProto *w = builder_floats(&builder, "w", 2, dims, values);
        if (kind == 1) {
            w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
            w->raw_data = (ProtobufCBinaryData){sizeof doubles, (uint8_t *)doubles};
        } else if (kind == 2) {
            w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
            w->has_raw_data = 0;
            w->int32_data = typed_halves;
            w->n_int32_data = 6;
        } else if (kind == 3) {
            w->has_raw_data = 0;
            w->float_data = builder_alloc(&builder, sizeof values);
            memcpy(w->float_data, values, sizeof values);
            w->n_float_data = 6;
        }
        onnx_case_must_import(&builder, &graph);
        onnx_case_run(&graph, &y[kind]);
        assert_memory_equal(&y[kind], &y[0], sizeof y[0]);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
    assert_true(fabsf(y[0] + 98256.9f) < 1.0f);
}

static void initializers_may_be_inputs(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t dims[2] = {6, 3};
    (void)onnx_case_node(&builder, 2, "MatMul", "w");
    (void)builder_random(&builder, "w", 2, dims, 1.0f);
    builder_input(&builder, "w", 2, dims);
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].channels, 3);
    cnnvp_graph_clear(&graph);
    builder_input(&builder, "z", 2, dims);
    onnx_case_must_fail(&builder, "several inputs (\"x\", \"z\")");
    builder_free(&builder);
}

static const float tenth = 0.1f;
static const float zero = 0.0f;

static void names_are_given_once(void **state)
{
    (void)state;
    struct builder b;
    onnx_case_begin(&b, "x", 4, map4);
    (void)builder_node(&b, "Relu", "y", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "Tanh", "y", "y", NULL, NULL, NULL);
    onnx_case_refused(&b,
                      "node \"y\" (Tanh): output \"y\" is already an input or weight of the graph or the result of an");

    onnx_case_begin(&b, "y", 4, map4);
    (void)builder_node(&b, "Relu", "y", "y", NULL, NULL, NULL);
    onnx_case_refused(&b, "output \"y\" is already an input");

    onnx_case_begin(&b, "x", 4, map4);
    (void)builder_floats(&b, "w", 0, NULL, &zero);
    (void)builder_floats(&b, "w", 0, NULL, &tenth);
    (void)builder_node(&b, "Add", "y", "x", "w", NULL, NULL);
    onnx_case_refused(&b, "two weights are named \"w\"");
}

/* More weights than are read at a time, in raw bytes and in the typed field. */
static void one_weight_that_is_not_finite_is_found_among_many(void **state)
{
    (void)state;
    static const size_t places[] = {0, 4095, 4096, 9999};
    static const float numbers[] = {NAN, INFINITY, -INFINITY, NAN};
    const int64_t input[4] = {-1, 100, 2, 2};
    const int64_t weights[4] = {100, 100, 1, 1};
    for (size_t i = 0; i < 2 * sizeof places / sizeof places[0]; ++i) {
        struct builder b;
        onnx_case_begin(&b, "x", 4, input);
        Onnx__TensorProto *w = builder_random(&b, "w", 4, weights, 1.0f);
        (void)builder_node(&b, "Conv", "y", "x", "w", NULL, NULL);
        float *values = builder_alloc(&b, w->raw_data.len);
        memcpy(values, w->raw_data.data, w->raw_data.len);
        if (i % 2 != 0) {
            w->has_raw_data = 0;
            w->n_float_data = 10000;
            w->float_data = values;
        } else {
            w->raw_data.data = (uint8_t *)values;
        }
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        char text[100];
        assert_int_equal(onnx_case_import(&b, 0, &graph, &error), CNNVP_DONE);
        assert_memory_equal(graph.layers[0].weights, values, 10000 * sizeof *values);
        cnnvp_graph_clear(&graph);
        values[places[i / 2]] = numbers[i / 2];
        assert_int_equal(onnx_case_import(&b, 0, &graph, &error), CNNVP_BAD_INPUT);
        (void)snprintf(text, sizeof text, "element %zu of tensor \"w\" is not a finite number", places[i / 2]);
        assert_non_null(strstr(error.text, text));
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(deep_nesting_does_no_harm),
        cmocka_unit_test(wrong_versions_are_named),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(unknown_operators_name_the_node),
        cmocka_unit_test(data_types_are_converted),
        cmocka_unit_test(initializers_may_be_inputs),
        cmocka_unit_test(each_weight_may_have_its_file),
        cmocka_unit_test(names_are_given_once),
        cmocka_unit_test(one_weight_that_is_not_finite_is_found_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
