/* SPDX-License-Identifier: Apache-2.0 */
/* What the importer cannot do, with one line that names the node and says why; and that it loops and asks for nothing
 * before. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "onnx_builder.h"
#include "onnx.h"

static const int64_t maps[4] = {-1, 4, 6, 6};
static const float tenth = 0.1f;
static const float zero = 0.0f;

static void begin(struct builder *builder, const char *input, size_t rank, const int64_t *dims)
{
    builder_init(builder, 14);
    builder_input(builder, input, rank, dims);
    builder_output(builder, "y");
}

/* The import with and without weights fails alike, and its message holds the text. */
static void must_fail(struct builder *builder, const char *text)
{
    size_t size;
    char name[64];
    uint8_t *bytes = builder_pack(builder, &size);
    builder_write(bytes, size, name);
    for (int weightless = 0; weightless < 2; ++weightless) {
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        cnnvp_result result = cnnvp_onnx_import(name, weightless, &graph, &error);
        if (result == CNNVP_DONE) {
            result = cnnvp_graph_simplify(&graph, &error);
            cnnvp_graph_clear(&graph);
        }
        assert_int_equal(result, CNNVP_BAD_INPUT);
        if (strstr(error.text, text) == NULL)
            fail_msg("\"%s\" is not in: %s", text, error.text);
    }
    (void)unlink(name);
    free(bytes);
    builder_free(builder);
}

static void quantised_tensors_stay_among_themselves(void **state)
{
    (void)state;
    struct builder b;
    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", NULL, NULL);
    (void)builder_node(&b, "Relu", "y", "q", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (Relu): input \"q\" is quantised; a DequantizeLinear is needed in front");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "DequantizeLinear", "y", "x", "s", NULL, NULL);
    must_fail(&b, "input \"x\" is not quantised; the result of a QuantizeLinear is needed");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &zero);
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL);
    must_fail(&b, "a scale is 0; 1e-30 to 1e30 is possible");

    const float scales[4] = {0.1f, 0.2f, 0.3f, 0.4f};
    const int64_t four = 4;
    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 1, &four, scales);
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL);
    must_fail(&b, "input \"s\" has 4 numbers; scales along an axis are supported for weights");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", NULL, NULL);
    (void)builder_node(&b, "Concat", "y", "q", "x", NULL, NULL);
    must_fail(&b, "the inputs are not quantised alike");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    builder_int(&b, builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL), "block_size", 16);
    must_fail(&b, "block_size is 16; one scale for the tensor or for each element of an axis is supported");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    builder_int(&b, builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL), "output_dtype", 4);
    must_fail(&b, "output_dtype is 4; 8-bit integers of the zero point's type are supported");
}

static void dimensions_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t nine[9] = {-1, 2, 3, 4, 5, 1, 1, 1, 1};
    begin(&b, "x", 9, nine);
    (void)builder_node(&b, "Relu", "y", "x", NULL, NULL, NULL);
    must_fail(&b,
              "input \"x\" has 9 dimensions; 2 to 8 are supported, such as (N, C, H, W), (N, C, W) or (N, features)");

    begin(&b, "x", 1, nine);
    (void)builder_node(&b, "Relu", "y", "x", NULL, NULL, NULL);
    must_fail(&b, "input \"x\" has 1 dimensions; 2 to 8 are supported");

    begin(&b, "x", 5, nine);
    (void)builder_node(&b, "Tanh", "g", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "DepthToSpace", "y", "g", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (DepthToSpace): input \"g\" has 5 dimensions; 4 are needed, (N, C, H, W)");

    const int64_t shape[9] = {0, 2, 2, 6, 6, 1, 1, 1, 1};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 9, shape);
    (void)builder_node(&b, "Reshape", "y", "x", "s", NULL, NULL);
    must_fail(&b, "node \"y\" (Reshape): the shape has 9 dimensions; 2 to 8 are possible");

    begin(&b, "x", 4, maps);
    (void)builder_node(&b, "MatMul", "y", "x", "x", NULL, NULL);
    must_fail(&b, "node \"y\" (MatMul): input \"x\" depends on the network's input; a constant is needed");

    const int64_t matrices[4] = {2, 4, 6, 6};
    begin(&b, "x", 4, maps);
    (void)builder_random(&b, "w", 4, matrices, 1.0f);
    (void)builder_node(&b, "MatMul", "y", "x", "w", NULL, NULL);
    must_fail(&b,
              "node \"y\" (MatMul): matrices that are not the same for all images would mix the images of the batch");
}

/* One layer a group: a short file must not become a million of them. */
static void layers_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t wide[4] = {-1, 16384, 1, 1};
    const int64_t weights[4] = {8192, 2, 1, 1};
    begin(&b, "x", 4, wide);
    (void)builder_random(&b, "w", 4, weights, 1.0f);
    Onnx__NodeProto *node = builder_node(&b, "Conv", "y", "x", "w", NULL, NULL);
    builder_int(&b, node, "group", 8192);
    must_fail(&b, "8192 groups of 1 outputs would become too many layers; up to 4096");
}

static void parts_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t reflect[8] = {0, 0, 6, 0, 0, 0, 0, 0};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, reflect);
    builder_string(&b, builder_node(&b, "Pad", "y", "x", "p", NULL, NULL), "mode", "reflect");
    must_fail(&b, "6 and 0 lines cannot be added to 6");

    const int64_t away[8] = {0, 0, -4, 0, 0, 0, -2, 0};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, away);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    must_fail(&b, "pads take all of dimension 2 away");

    const int64_t border[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    const float lowest = -3.4e38f;
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, border);
    (void)builder_floats(&b, "v", 0, NULL, &lowest);
    (void)builder_node(&b, "Pad", "q", "x", "p", "v", NULL);
    (void)builder_node(&b, "Relu", "y", "q", NULL, NULL, NULL);
    must_fail(&b, "padding with the lowest number is only known in front of one MaxPool");
}

/* Elements from `from` to `to` of an axis of x. */
static void slice_must_fail(size_t rank, const int64_t *dims, int64_t from, int64_t to, int64_t axis, int64_t step,
                            const char *text)
{
    struct builder b;
    begin(&b, "x", rank, dims);
    (void)builder_int64s(&b, "a", 1, &from);
    (void)builder_int64s(&b, "e", 1, &to);
    (void)builder_int64s(&b, "c", 1, &axis);
    (void)builder_int64s(&b, "s", 1, &step);
    Onnx__NodeProto *node = builder_node(&b, "Slice", "y", "x", "a", "e", "c");
    char **inputs = builder_alloc(&b, 5 * sizeof *inputs);
    memcpy(inputs, node->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(&b, "s");
    node->input = inputs;
    node->n_input = 5;
    must_fail(&b, text);
}

static void slices_have_limits(void **state)
{
    (void)state;
    const int64_t rows[3] = {-1, 2, 2000};
    slice_must_fail(4, maps, 0, 4, 1, 0, "a step is 0; 1 to 32767 and -1 to -32767 are possible");
    slice_must_fail(4, maps, 4, 9, 1, 1, "the network's output \"y\" has no elements: its shape is [N,0,6,6]");
    slice_must_fail(3, rows, -1, -3000, 2, -1, "2000 elements with a step of -1 are too many; up to 1024 are possible");
}

/* What stands in an attribute of one node over `x`. */
static void node_must_fail(const char *op, const char *attribute, int64_t value, const char *text)
{
    struct builder b;
    begin(&b, "x", 4, maps);
    builder_int(&b, builder_node(&b, op, "y", "x", NULL, NULL, NULL), attribute, value);
    must_fail(&b, text);
}

static void blocks_and_reductions_have_limits(void **state)
{
    (void)state;
    struct builder gelu;
    begin(&gelu, "x", 4, maps);
    builder_string(&gelu, builder_node(&gelu, "Gelu", "y", "x", NULL, NULL, NULL), "approximate", "sigmoid");
    must_fail(&gelu, "approximate is none of none, tanh");
    node_must_fail("DepthToSpace", "blocksize", 0, "blocksize is 0; 1 to 32767 is possible");
    node_must_fail("DepthToSpace", "blocksize", 32768, "blocksize is 32768; 1 to 32767 is possible");
    node_must_fail("DepthToSpace", "blocksize", 32767, "4 channels are not divided by the square of the blocksize");
    node_must_fail("SpaceToDepth", "blocksize", 4, "maps of 6 x 6 are not divided by the blocksize, 4");
    node_must_fail("ReduceSum", "keepdims", 1,
                   "a reduction of all dimensions would mix the images of the batch; it is supported where the first");

    struct builder b;
    const int64_t batch[2] = {2, -4};
    begin(&b, "x", 4, maps);
    builder_ints(&b, builder_node(&b, "ReduceMean", "y", "x", NULL, NULL, NULL), "axes", 2, batch);
    must_fail(&b, "axis -4 of 4 dimensions would mix the images of the batch");

    const int64_t large[4] = {-1, 200, 200, 4};
    const int64_t rows[2] = {1, 2};
    begin(&b, "x", 4, large);
    builder_ints(&b, builder_node(&b, "ReduceMax", "y", "x", NULL, NULL, NULL), "axes", 2, rows);
    must_fail(&b, "40000 x 1 words are too many to reduce at once; up to 32767 x 32767 are possible");
}

static void expansion_has_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t large[4] = {1, 4, 6, 12}, other[4] = {1, 4, 6, 5}, more[5] = {1, 1, 4, 6, 6};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 4, large);
    (void)builder_node(&b, "GlobalMaxPool", "g", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "Expand", "e", "g", "s", NULL, NULL);
    (void)builder_node(&b, "Mul", "y", "x", "e", NULL, NULL);
    must_fail(&b, "dimension 3 of the inputs is 6 and 12; they must be the same, or 1 where one counts for all");

    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 4, other);
    (void)builder_node(&b, "Expand", "y", "x", "s", NULL, NULL);
    must_fail(&b, "number 5 of the shape does not fit to dimension 3 of the input, 6");

    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 5, more);
    (void)builder_node(&b, "Expand", "y", "x", "s", NULL, NULL);
    must_fail(&b, "a shape with more numbers than the input has dimensions would mix the images of the batch");
}

/* The whole input is one image: what takes images one by one has limits. */
static void single_images_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t many[4] = {65, 4, 6, 6};
    const int64_t vector[1] = {12};
    begin(&b, "x", 4, many);
    builder_int(&b, builder_node(&b, "Softmax", "s", "x", NULL, NULL, NULL), "axis", 0);
    (void)builder_node(&b, "GlobalMaxPool", "y", "s", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (GlobalMaxPool): it takes images one by one, and the whole input of this network is one");

    begin(&b, "x", 1, vector);
    (void)builder_node(&b, "GlobalMaxPool", "y", "x", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (GlobalMaxPool): it takes images one by one");

    /* The reading that came further has the word. */
    begin(&b, "x", 3, many + 1);
    builder_int(&b, builder_node(&b, "Softmax", "s", "x", NULL, NULL, NULL), "axis", 0);
    (void)builder_node(&b, "LSTM", "y", "s", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (LSTM): this operator is not supported; `cnnvp models onnx` lists the ");
}

static void gathering_and_channels_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t outside[2] = {3, 4}, channels[8] = {0, 1, 0, 0, 0, 0, 0, 0}, batch[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "i", 2, outside);
    builder_int(&b, builder_node(&b, "Gather", "y", "x", "i", NULL, NULL), "axis", 1);
    must_fail(&b, "index 4 is outside of the 4 elements of axis 1");

    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "i", 1, outside);
    (void)builder_node(&b, "Gather", "y", "x", "i", NULL, NULL);
    must_fail(&b, "axis 0 of 4 dimensions would mix the images of the batch");

    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, channels);
    builder_string(&b, builder_node(&b, "Pad", "y", "x", "p", NULL, NULL), "mode", "edge");
    must_fail(&b, "channels can be padded with a number from -1e30 to 1e30 only");

    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, batch);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    must_fail(&b, "pads holds 1 and 0 for dimension 0; all but the batch can be padded");

    const int64_t many[8] = {0, 2000, 0, 0, 0, 0, 0, 0};
    begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, many);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    must_fail(&b, "2000 and 0 channels cannot be added to 4; up to 256 times as many are possible");
}

static void names_are_given_once(void **state)
{
    (void)state;
    struct builder b;
    begin(&b, "x", 4, maps);
    (void)builder_node(&b, "Relu", "y", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "Tanh", "y", "y", NULL, NULL, NULL);
    must_fail(&b, "node \"y\" (Tanh): output \"y\" is already an input or weight of the graph or the result of an");

    begin(&b, "y", 4, maps);
    (void)builder_node(&b, "Relu", "y", "y", NULL, NULL, NULL);
    must_fail(&b, "output \"y\" is already an input");

    begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "w", 0, NULL, &zero);
    (void)builder_floats(&b, "w", 0, NULL, &tenth);
    (void)builder_node(&b, "Add", "y", "x", "w", NULL, NULL);
    must_fail(&b, "two weights are named \"w\"");
}

/* A constant e without elements as the second operand. */
static void empty_must_fail(const char *op, size_t rank, const int64_t *input, size_t empty_rank, const int64_t *empty,
                            const char *text)
{
    struct builder b;
    begin(&b, "x", rank, input);
    (void)builder_floats(&b, "e", empty_rank, empty, &zero);
    (void)builder_node(&b, op, "y", "x", "e", NULL, NULL);
    must_fail(&b, text);
}

/* Each with and without weights: timing only once divided by their number of words. */
static void nothing_is_named_with_its_shape(void **state)
{
    (void)state;
    const int64_t fixed[4] = {1, 3, 4, 4};
    const int64_t one[4] = {1, 1, 4, 4};
    const int64_t none[4] = {1, 0, 4, 4};
    const int64_t kernels[4] = {0, 3, 3, 3};
    const int64_t matrix[2] = {3, 0};
    empty_must_fail("Add", 4, fixed, 4, none, "node \"y\" (Add): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do");
    empty_must_fail("Mul", 4, fixed, 4, none, "node \"y\" (Mul): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do");
    empty_must_fail("Add", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("Sum", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("PRelu", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("Conv", 4, fixed, 4, kernels, "node \"y\" (Conv): input \"e\" has no elements: its shape is [0,3");
    empty_must_fail("MatMul", 2, fixed, 2, matrix, "node \"y\" (MatMul): input \"e\" has no elements: its shape");
    empty_must_fail("Concat", 4, fixed, 1, &none[1], "input \"e\" has another shape than the first, not only along");
}

static cnnvp_result import(struct builder *builder, struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    size_t size;
    char name[64];
    uint8_t *bytes = builder_pack(builder, &size);
    builder_write(bytes, size, name);
    const cnnvp_result result = cnnvp_onnx_import(name, 0, graph, error);
    (void)unlink(name);
    free(bytes);
    return result;
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
        begin(&b, "x", 4, input);
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
        assert_int_equal(import(&b, &graph, &error), CNNVP_DONE);
        assert_memory_equal(graph.layers[0].weights, values, 10000 * sizeof *values);
        cnnvp_graph_clear(&graph);
        values[places[i / 2]] = numbers[i / 2];
        assert_int_equal(import(&b, &graph, &error), CNNVP_BAD_INPUT);
        (void)snprintf(text, sizeof text, "element %zu of tensor \"w\" is not a finite number", places[i / 2]);
        assert_non_null(strstr(error.text, text));
        builder_free(&b);
    }
}

/* x - ConvTranspose - y with weights (4, 2, 3, 3) and an attribute of integers, or a group. */
static void transposed_must_fail(const char *attribute, size_t count, const int64_t *numbers, const char *text)
{
    struct builder b;
    const int64_t dims[4] = {4, 2, 3, 3};
    const float weights[72] = {0.0f};
    begin(&b, "x", 4, maps);
    Onnx__NodeProto *node = builder_node(&b, "ConvTranspose", "y", "x", "w", NULL, NULL);
    (void)builder_floats(&b, "w", 4, dims, weights);
    if (count == 1)
        builder_int(&b, node, attribute, numbers[0]);
    else
        builder_ints(&b, node, attribute, count, numbers);
    must_fail(&b, text);
}

static void transposed_convolutions(void **state)
{
    (void)state;
    transposed_must_fail("group", 1, (const int64_t[]){3},
                         "weights \"w\" are for 4 input channels in 3 groups; the input has 4, which the groups have");
    transposed_must_fail("strides", 2, (const int64_t[]){33, 32},
                         "strides of 33 x 32 are too large; their product may be");
    transposed_must_fail("pads", 4, (const int64_t[]){9, 0, 9, 0}, "the result has -10 rows or columns; 1 to 1048576");
    transposed_must_fail("kernel_shape", 2, (const int64_t[]){3, 2}, "kernel_shape says 2, the weights have 3");
    transposed_must_fail("output_padding", 3, (const int64_t[]){1, 1, 1}, "output_padding has 3 numbers; 2 are needed");
    transposed_must_fail("output_shape", 2, (const int64_t[]){32767, 0},
                         "output_shape holds 0; 1 to 32767 is possible");
}

/* x - Resize - y by such scales. */
static void resize_must_fail(const char *attribute, const char *value, const float scales[4], const char *text)
{
    struct builder b;
    const int64_t dims[1] = {4};
    begin(&b, "x", 4, maps);
    Onnx__NodeProto *node = builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    (void)builder_floats(&b, "s", 1, dims, scales);
    builder_string(&b, node, "mode", "linear");
    if (attribute != NULL)
        builder_string(&b, node, attribute, value);
    must_fail(&b, text);
}

static void resized_maps(void **state)
{
    (void)state;
    static const float twice[4] = {1, 1, 2, 2};
    resize_must_fail("coordinate_transformation_mode", "tf_crop_and_resize", twice,
                     "coordinate_transformation_mode is none of half_pixel,");
    resize_must_fail("keep_aspect_ratio_policy", "not_larger", twice,
                     "keep_aspect_ratio_policy is supported as stretch only");
    resize_must_fail("nearest_mode", "down", twice, "nearest_mode is none of");
    resize_must_fail(NULL, NULL, (const float[4]){2, 1, 2, 2}, "the batch cannot be resized");
    resize_must_fail(NULL, NULL, (const float[4]){1, 2, 2, 2}, "channels cannot be resized");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 0, 2}, "0 of 6 elements: 1 to 1048576 are possible");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 1, NAN}, "input 2: ");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 1, 3e5f}, "of 6 elements: 1 to 1048576 are possible");
    struct builder b;
    const int64_t dims[1] = {4};
    begin(&b, "x", 4, maps);
    (void)builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    (void)builder_floats(&b, "s", 1, dims, (const float[4]){1, 1, 1, 200});
    must_fail(&b, "1200 of 6 elements by the nearest one take 1195 copies; 1024 are possible, or a whole factor up to");
    const int64_t wide[4] = {-1, 1, 2, 64};
    begin(&b, "x", 4, wide);
    Onnx__NodeProto *node = builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    builder_string(&b, node, "mode", "cubic");
    (void)builder_floats(&b, "s", 1, dims, (const float[4]){1, 1, 1, 8192});
    must_fail(&b, "524288 of 64 elements take a matrix of more than 16777216 weights");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_reductions_have_limits),
        cmocka_unit_test(quantised_tensors_stay_among_themselves),
        cmocka_unit_test(dimensions_have_limits),
        cmocka_unit_test(layers_have_limits),
        cmocka_unit_test(parts_have_limits),
        cmocka_unit_test(slices_have_limits),
        cmocka_unit_test(nothing_is_named_with_its_shape),
        cmocka_unit_test(expansion_has_limits),
        cmocka_unit_test(single_images_have_limits),
        cmocka_unit_test(gathering_and_channels_have_limits),
        cmocka_unit_test(names_are_given_once),
        cmocka_unit_test(one_weight_that_is_not_finite_is_found_among_many),
        cmocka_unit_test(transposed_convolutions),
        cmocka_unit_test(resized_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
