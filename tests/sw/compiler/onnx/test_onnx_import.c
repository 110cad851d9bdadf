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

#include "numbers.h"
#include "onnx_builder.h"
#include "onnx.h"

static const int64_t map4[4] = {-1, 2, 6, 6};
static const int64_t flat2[2] = {-1, 6};

/* Imports and simplifies bytes; on failure the message is in *error. */
static cnnvp_result import_bytes(const uint8_t *bytes, size_t size, int weightless, struct cnnvp_graph *graph,
                                 struct cnnvp_error *error)
{
    char name[64];
    builder_write(bytes, size, name);
    cnnvp_result result = cnnvp_onnx_import(name, weightless, graph, error);
    if (result == CNNVP_DONE) {
        result = cnnvp_graph_simplify(graph, error);
        if (result != CNNVP_DONE)
            cnnvp_graph_clear(graph);
    }
    (void)unlink(name);
    return result;
}

static cnnvp_result import_built(struct builder *builder, int weightless, struct cnnvp_graph *graph,
                                 struct cnnvp_error *error)
{
    size_t size;
    uint8_t *bytes = builder_pack(builder, &size);
    const cnnvp_result result = import_bytes(bytes, size, weightless, graph, error);
    free(bytes);
    return result;
}

static void must_import(struct builder *builder, struct cnnvp_graph *graph)
{
    struct cnnvp_error error = {""};
    if (import_built(builder, 0, graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

/* The import fails and its message holds the text. */
static void must_fail(struct builder *builder, const char *text)
{
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(import_built(builder, 0, &graph, &error), CNNVP_BAD_INPUT);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}

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
        if (import_bytes(bytes, length, 0, &graph, &error) != CNNVP_BAD_INPUT)
            fail_msg("a file of the first %zu bytes of %zu was taken", length, size);
        assert_true(strlen(error.text) > 10);
    }
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(import_bytes(bytes, size, 0, &graph, &error), CNNVP_DONE);
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
        if (import_bytes(bytes, size, round % 3 == 0, &graph, &error) == CNNVP_DONE) {
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
    if (import_bytes(both, end + room - at, 0, &graph, &error) == CNNVP_DONE)
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
    must_fail(&builder, "operator set 5; sets 6 to 21");
    builder.opset.version = 22;
    must_fail(&builder, "operator set 22");
    builder.opset.version = 13;
    builder.model.ir_version = 2;
    must_fail(&builder, "IR version 2");
    builder.model.ir_version = 3;
    builder.model.n_opset_import = 0;
    must_fail(&builder, "operator set");
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

/* A network of one node on x (N, 2, 6, 6) or, rank 2, (N, 6). */
static Onnx__NodeProto *one_node(struct builder *builder, size_t rank, const char *op_type, const char *weights)
{
    builder_init(builder, 13);
    builder_input(builder, "x", rank, rank == 4 ? map4 : flat2);
    Onnx__NodeProto *node = builder_node(builder, op_type, "y", "x", weights, NULL, NULL);
    builder_output(builder, "y");
    return node;
}

static void unknown_operators_name_the_node(void **state)
{
    (void)state;
    struct builder builder;
    (void)one_node(&builder, 4, "LayerNormalization", NULL);
    must_fail(&builder, ": node \"y\" (LayerNormalization): this operator is not supported");
    builder_free(&builder);
    Onnx__NodeProto *node = one_node(&builder, 4, "Relu", NULL);
    node->domain = builder_text(&builder, "com.example");
    must_fail(&builder, "domain \"com.example\"");
    builder_free(&builder);
    (void)one_node(&builder, 4, "Relu", NULL);
    builder.graph.node[0]->input[0] = builder_text(&builder, "z");
    must_fail(&builder, "input \"z\" is neither");
    builder_free(&builder);
}

static void bad_convolutions_say_why(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t narrow[4] = {4, 3, 3, 3};
    Onnx__NodeProto *node = one_node(&builder, 4, "Conv", "w");
    must_fail(&builder, "input \"w\" is neither");
    (void)builder_random(&builder, "w", 4, narrow, 1.0f);
    must_fail(&builder, "shape (4, 3, 3, 3); with 2 input channels in 1 groups the second number must be 2");
    builder_int(&builder, node, "group", 3);
    must_fail(&builder, "3 groups do not divide 2 input and 4 output channels");
    builder_free(&builder);

    const int64_t large[4] = {4, 2, 7, 3};
    node = one_node(&builder, 4, "Conv", "w");
    Onnx__TensorProto *w = builder_random(&builder, "w", 4, large, 1.0f);
    must_fail(&builder, "the kernel reaches over 7 positions, the padded input has 6");
    const int64_t pads[4] = {1, 0, 0, 0};
    builder_ints(&builder, node, "pads", 4, pads);
    const int64_t dilations[2] = {1, 0};
    builder_ints(&builder, node, "dilations", 2, dilations);
    must_fail(&builder, "attribute dilations holds 0; 1 to 32767");
    --node->n_attribute;
    w->raw_data.len -= 4;
    must_fail(&builder, "tensor \"w\" has 167 elements where its shape says 168");
    w->raw_data.len += 4;
    ((float *)(void *)w->raw_data.data)[5] = NAN;
    must_fail(&builder, "element 5 of tensor \"w\" is not a finite number");
    w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
    must_fail(&builder, "data type 8");
    w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    w->has_data_location = 1;
    w->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    must_fail(&builder, "a file in the network's folder is needed");
    builder_free(&builder);
}

static void other_bad_nodes_say_why(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t matrix[2] = {7, 5};
    (void)one_node(&builder, 2, "MatMul", "w");
    (void)builder_random(&builder, "w", 2, matrix, 1.0f);
    must_fail(&builder, "shape (7, 5); with 6 inputs it must be (inputs, outputs)");
    builder_free(&builder);
    (void)one_node(&builder, 4, "Gemm", "w");
    (void)builder_random(&builder, "w", 2, matrix, 1.0f);
    must_fail(&builder, "has 4 dimensions; 2 are needed");
    builder_free(&builder);
    Onnx__NodeProto *node = one_node(&builder, 4, "AveragePool", NULL);
    const int64_t kernel[2] = {2, 2};
    const int64_t pads[4] = {1, 1, 1, 1};
    must_fail(&builder, "kernel_shape is missing");
    builder_ints(&builder, node, "kernel_shape", 2, kernel);
    builder_ints(&builder, node, "pads", 4, pads);
    struct cnnvp_graph graph;
    must_import(&builder, &graph);
    assert_int_equal(graph.layers[0].by_position, 1);
    assert_int_equal(graph.layers[0].count_top, 0);
    assert_int_equal(graph.layers[0].count_bottom, 6);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    node = one_node(&builder, 4, "MaxPool", NULL);
    const int64_t strides[2] = {4, 4};
    builder_ints(&builder, node, "kernel_shape", 2, kernel);
    builder_ints(&builder, node, "strides", 2, strides);
    builder_int(&builder, node, "ceil_mode", 1);
    must_import(&builder, &graph); /* 6 = 2 + 4: nothing overhangs */
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, 2);
    cnnvp_graph_clear(&graph);
    builder.graph.node[0]->attribute[1]->ints[0] = 5;
    must_import(&builder, &graph); /* the second window begins with the last row */
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, 2);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    node = one_node(&builder, 4, "Softmax", NULL);
    builder_int(&builder, node, "axis", 0);
    must_fail(&builder, "axis 0 of 4 dimensions would mix the images of the batch; it is supported where");
    builder_free(&builder);
    const int64_t shape[2] = {0, 71};
    (void)one_node(&builder, 4, "Reshape", "s");
    (void)builder_int64s(&builder, "s", 2, shape);
    must_fail(&builder, "the shape holds 71 elements an image, the input has 72");
    builder_free(&builder);
    (void)one_node(&builder, 4, "Shape", NULL);
    must_fail(&builder, "the network's output \"y\" is a constant");
    builder_free(&builder);
}

/* ---- what operators become ---- */

/* Runs x = 0.25, 0.5, ... (in order) through the network in float. */
static void run_float(const struct cnnvp_graph *graph, float *output)
{
    struct cnnvp_floatref run;
    struct cnnvp_error error;
    const size_t words = cnnvp_graph_words(&graph->tensors[graph->input]);
    float *input = malloc(words * sizeof *input);
    for (size_t i = 0; i < words; ++i)
        input[i] = 0.25f * (float)(i + 1);
    assert_int_equal(cnnvp_floatref_new(graph, &run, &error), CNNVP_DONE);
    cnnvp_floatref_image(&run, input);
    memcpy(output, run.data[graph->outputs[0].tensor],
           cnnvp_graph_words(&graph->tensors[graph->outputs[0].tensor]) * sizeof *output);
    cnnvp_floatref_clear(&run);
    free(input);
}

static void gemm_scales_and_transposes(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t dims[2] = {2, 6}, one[1] = {1};
    const float w[12] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, b[1] = {10};
    float y[2];
    Onnx__NodeProto *node = one_node(&builder, 2, "Gemm", "w");
    node->input[1] = builder_text(&builder, "w");
    builder.graph.node[0] = node;
    (void)builder_floats(&builder, "w", 2, dims, w);
    (void)builder_floats(&builder, "b", 1, one, b);
    char *inputs[3] = {node->input[0], node->input[1], builder_text(&builder, "b")};
    node->input = inputs;
    node->n_input = 3;
    builder_int(&builder, node, "transB", 1);
    builder_float(&builder, node, "alpha", 4.0f);
    builder_float(&builder, node, "beta", 0.5f);
    must_import(&builder, &graph);
    run_float(&graph, y);
    assert_true(fabsf(y[0] - (4 * 0.25f + 5)) < 1e-6f);
    assert_true(fabsf(y[1] - (4 * 2 * 1.5f + 5)) < 1e-6f);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

/* 1 - x / 2 by constants folds into the matrix product before; ReLU and a limit too. */
static void arithmetic_folds(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t square[2] = {6, 6};
    float identity[36] = {0};
    const float two = 2.0f, one = 1.0f, high = 0.7f;
    float y[6];
    for (size_t i = 0; i < 6; ++i)
        identity[i * 7] = 1.0f;
    builder_init(&builder, 13);
    builder_input(&builder, "x", 2, flat2);
    (void)builder_floats(&builder, "w", 2, square, identity);
    (void)builder_floats(&builder, "two", 0, NULL, &two);
    (void)builder_floats(&builder, "one", 0, NULL, &one);
    (void)builder_floats(&builder, "high", 0, NULL, &high);
    (void)builder_node(&builder, "MatMul", "a", "x", "w", NULL, NULL);
    (void)builder_node(&builder, "Div", "b", "a", "two", NULL, NULL);
    (void)builder_node(&builder, "Identity", "b2", "b", NULL, NULL, NULL);
    (void)builder_node(&builder, "Sub", "c", "one", "b2", NULL, NULL);
    (void)builder_node(&builder, "Relu", "d", "c", NULL, NULL, NULL);
    (void)builder_node(&builder, "Clip", "y", "d", "", "high", NULL);
    builder_output(&builder, "y");
    must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 1);
    assert_int_equal(graph.layers[0].post_count, 2);
    run_float(&graph, y);
    for (size_t i = 0; i < 6; ++i)
        assert_true(fabsf(y[i] - fminf(0.7f, fmaxf(0.0f, 1 - 0.125f * (float)(i + 1)))) < 1e-6f);
    cnnvp_graph_clear(&graph);
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
    must_import(&builder, &graph);
    run_float(&graph, y);
    assert_float_equal(y[0], 0.25f + 0.5f * FILES * (FILES + 1), 0);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    for (size_t i = 0; i < FILES; ++i)
        (void)unlink(files[i]);
}

/* A result with two readers is not folded away. */
static void shared_results_stay(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t dims[4] = {2, 2, 1, 1};
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    (void)builder_random(&builder, "w", 4, dims, 1.0f);
    (void)builder_node(&builder, "Conv", "a", "x", "w", NULL, NULL);
    (void)builder_node(&builder, "Relu", "b", "a", NULL, NULL, NULL);
    (void)builder_node(&builder, "Add", "y", "a", "b", NULL, NULL);
    (void)builder_node(&builder, "Relu", "unused", "a", NULL, NULL, NULL);
    builder_output(&builder, "y");
    must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 3);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

/* One tensor that a padded convolution and a flattening both read: a copy takes the frame. */
static void borders_and_vectors_are_separated(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t conv[4] = {2, 2, 3, 3};
    const int64_t dense[2] = {72, 5};
    const int64_t pads[4] = {1, 1, 1, 1};
    const int64_t both[2] = {5, 5};
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    (void)builder_random(&builder, "w", 4, conv, 1.0f);
    (void)builder_random(&builder, "v", 2, dense, 1.0f);
    (void)builder_random(&builder, "u", 2, both, 1.0f);
    (void)builder_node(&builder, "Relu", "a", "x", NULL, NULL, NULL);
    Onnx__NodeProto *node = builder_node(&builder, "Conv", "b", "a", "w", NULL, NULL);
    builder_ints(&builder, node, "pads", 4, pads);
    (void)builder_node(&builder, "Flatten", "c", "b", NULL, NULL, NULL);
    (void)builder_node(&builder, "MatMul", "d", "c", "v", NULL, NULL);
    (void)builder_node(&builder, "Flatten", "e", "a", NULL, NULL, NULL);
    (void)builder_node(&builder, "MatMul", "f", "e", "v", NULL, NULL);
    (void)builder_node(&builder, "Add", "y", "d", "f", NULL, NULL);
    builder_output(&builder, "y");
    must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 6);
    assert_string_equal(graph.layers[1].name, "a.copy");
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
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
        (void)one_node(&builder, 2, "MatMul", "w");
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
        must_import(&builder, &graph);
        run_float(&graph, &y[kind]);
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
    (void)one_node(&builder, 2, "MatMul", "w");
    (void)builder_random(&builder, "w", 2, dims, 1.0f);
    builder_input(&builder, "w", 2, dims);
    must_import(&builder, &graph);
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].channels, 3);
    cnnvp_graph_clear(&graph);
    builder_input(&builder, "z", 2, dims);
    must_fail(&builder, "several inputs (\"x\", \"z\")");
    builder_free(&builder);
}

static void same_padding_is_split(void **state)
{
    (void)state;
    static const char *const modes[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    static const uint32_t sizes[] = {3, 3, 2};
    static const uint32_t tops[] = {0, 1, 0};
    const int64_t dims[4] = {4, 2, 3, 3};
    const int64_t strides[2] = {2, 2};
    for (size_t i = 0; i < 3; ++i) {
        struct builder builder;
        struct cnnvp_graph graph;
        Onnx__NodeProto *node = one_node(&builder, 4, "Conv", "w");
        (void)builder_random(&builder, "w", 4, dims, 1.0f);
        builder_ints(&builder, node, "strides", 2, strides);
        builder_string(&builder, node, "auto_pad", modes[i]);
        must_import(&builder, &graph);
        assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, sizes[i]);
        assert_int_equal(graph.layers[0].pad_top, tops[i]);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_refused),       cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(deep_nesting_does_no_harm),     cmocka_unit_test(wrong_versions_are_named),
        cmocka_unit_test(missing_files_are_named),       cmocka_unit_test(unknown_operators_name_the_node),
        cmocka_unit_test(bad_convolutions_say_why),      cmocka_unit_test(other_bad_nodes_say_why),
        cmocka_unit_test(gemm_scales_and_transposes),    cmocka_unit_test(arithmetic_folds),
        cmocka_unit_test(shared_results_stay),           cmocka_unit_test(borders_and_vectors_are_separated),
        cmocka_unit_test(data_types_are_converted),      cmocka_unit_test(initializers_may_be_inputs),
        cmocka_unit_test(each_weight_may_have_its_file), cmocka_unit_test(same_padding_is_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
