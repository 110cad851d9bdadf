/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and pools: padding by name, taps that count, windows that overhang, and what is wrong. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static void bad_convolutions_say_why(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t narrow[4] = {4, 3, 3, 3};
    Onnx__NodeProto *node = onnx_case_node(&builder, 4, "Conv", "w");
    onnx_case_must_fail(&builder, "input \"w\" is neither");
    (void)builder_random(&builder, "w", 4, narrow, 1.0f);
    onnx_case_must_fail(&builder, "shape (4, 3, 3, 3); with 2 input channels in 1 groups the second number must be 2");
    builder_int(&builder, node, "group", 3);
    onnx_case_must_fail(&builder, "3 groups do not divide 2 input and 4 output channels");
    builder_free(&builder);

    const int64_t large[4] = {4, 2, 7, 3};
    node = onnx_case_node(&builder, 4, "Conv", "w");
    Onnx__TensorProto *w = builder_random(&builder, "w", 4, large, 1.0f);
    onnx_case_must_fail(&builder, "the kernel reaches over 7 positions, the padded input has 6");
    const int64_t pads[4] = {1, 0, 0, 0};
    builder_ints(&builder, node, "pads", 4, pads);
    const int64_t dilations[2] = {1, 0};
    builder_ints(&builder, node, "dilations", 2, dilations);
    onnx_case_must_fail(&builder, "attribute dilations holds 0; 1 to 32767");
    --node->n_attribute;
    w->raw_data.len -= 4;
    onnx_case_must_fail(&builder, "tensor \"w\" has 167 elements where its shape says 168");
    w->raw_data.len += 4;
    ((float *)(void *)w->raw_data.data)[5] = NAN;
    onnx_case_must_fail(&builder, "element 5 of tensor \"w\" is not a finite number");
    w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
    onnx_case_must_fail(&builder, "data type 8");
    w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    w->has_data_location = 1;
    w->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    onnx_case_must_fail(&builder, "a file in the network's folder is needed");
    builder_free(&builder);
}

static void pools_count_and_overhang(void **state)
{
    (void)state;
    struct builder builder;
    Onnx__NodeProto *node = onnx_case_node(&builder, 4, "AveragePool", NULL);
    const int64_t kernel[2] = {2, 2};
    const int64_t pads[4] = {1, 1, 1, 1};
    onnx_case_must_fail(&builder, "kernel_shape is missing");
    builder_ints(&builder, node, "kernel_shape", 2, kernel);
    builder_ints(&builder, node, "pads", 4, pads);
    struct cnnvp_graph graph;
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.layers[0].by_position, 1);
    assert_int_equal(graph.layers[0].count_top, 0);
    assert_int_equal(graph.layers[0].count_bottom, 6);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    node = onnx_case_node(&builder, 4, "MaxPool", NULL);
    const int64_t strides[2] = {4, 4};
    builder_ints(&builder, node, "kernel_shape", 2, kernel);
    builder_ints(&builder, node, "strides", 2, strides);
    builder_int(&builder, node, "ceil_mode", 1);
    onnx_case_must_import(&builder, &graph); /* 6 = 2 + 4: nothing overhangs */
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, 2);
    cnnvp_graph_clear(&graph);
    builder.graph.node[0]->attribute[1]->ints[0] = 5;
    onnx_case_must_import(&builder, &graph); /* the second window begins with the last row */
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, 2);
    cnnvp_graph_clear(&graph);
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
        Onnx__NodeProto *node = onnx_case_node(&builder, 4, "Conv", "w");
        (void)builder_random(&builder, "w", 4, dims, 1.0f);
        builder_ints(&builder, node, "strides", 2, strides);
        builder_string(&builder, node, "auto_pad", modes[i]);
        onnx_case_must_import(&builder, &graph);
        assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, sizes[i]);
        assert_int_equal(graph.layers[0].pad_top, tops[i]);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
}

/* One layer a group: a short file must not become a million of them. */
static void layers_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t wide[4] = {-1, 16384, 1, 1};
    const int64_t weights[4] = {8192, 2, 1, 1};
    onnx_case_begin(&b, "x", 4, wide);
    (void)builder_random(&b, "w", 4, weights, 1.0f);
    Onnx__NodeProto *node = builder_node(&b, "Conv", "y", "x", "w", NULL, NULL);
    builder_int(&b, node, "group", 8192);
    onnx_case_refused(&b, "8192 groups of 1 outputs would become too many layers; up to 4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_convolutions_say_why),
        cmocka_unit_test(pools_count_and_overhang),
        cmocka_unit_test(same_padding_is_split),
        cmocka_unit_test(layers_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
