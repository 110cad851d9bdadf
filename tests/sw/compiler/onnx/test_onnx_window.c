/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and pools: padding by name, taps that count, windows that overhang, and what is wrong. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* Weights whose tensor is none. */
static void bad_weights_say_why(void **state)
{
    (void)state;
    struct builder builder;
    onnx_case_parse(&builder, 13, "float[N, 2, 6, 6] x float[4, 2, 3, 3] w = {} y = Conv(x, w)");
    Onnx__TensorProto *w = builder.graph.initializer[0];
    w->raw_data.len -= 4;
    onnx_case_must_fail(&builder, "tensor \"w\" has 71 elements where its shape says 72");
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
    struct cnnvp_graph graph;
    onnx_case_import_text(13, "float[N, 2, 6, 6] x y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)",
                          &graph);
    assert_int_equal(graph.layers[0].by_position, 1);
    assert_int_equal(graph.layers[0].count_top, 0);
    assert_int_equal(graph.layers[0].count_bottom, 6);
    cnnvp_graph_clear(&graph);
    static const char *const pools[] = {
        /* 6 = 2 + 4: nothing overhangs; the second window begins with the last row */
        "float[N, 2, 6, 6] x y = MaxPool <kernel_shape = [2, 2], strides = [4, 4], ceil_mode = 1> (x)",
        "float[N, 2, 6, 6] x y = MaxPool <kernel_shape = [2, 2], strides = [5, 4], ceil_mode = 1> (x)",
    };
    for (size_t i = 0; i < 2; ++i) {
        onnx_case_import_text(13, pools[i], &graph);
        assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, 2);
        cnnvp_graph_clear(&graph);
    }
}

#define SAME(mode) \
    "float[N, 2, 6, 6] x float[4, 2, 3, 3] w = {} y = Conv <strides = [2, 2], auto_pad = \"" mode "\"> (x, w)"

static void same_padding_is_split(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        uint32_t size, top;
    } cases[] = {{SAME("SAME_UPPER"), 3, 0}, {SAME("SAME_LOWER"), 3, 1}, {SAME("VALID"), 2, 0}};
    for (size_t i = 0; i < 3; ++i) {
        struct cnnvp_graph graph;
        onnx_case_import_text(13, cases[i].network, &graph);
        assert_int_equal(graph.tensors[graph.outputs[0].tensor].height, cases[i].size);
        assert_int_equal(graph.layers[0].pad_top, cases[i].top);
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_weights_say_why),
        cmocka_unit_test(pools_count_and_overhang),
        cmocka_unit_test(same_padding_is_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
