/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small random networks of every kind of layer: what the integer reference computes from the image lies as close to the
 * float model as 16 bits allow. Two programs that share no code agree on windows, padding, groups, slices, formats and
 * places.
 */
#include <math.h>

#include "test.h"

#include "binary_case.h"
#include "fx16_reference.h"

#define MEMORY ((size_t)16 << 20)

static size_t elements(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
        count *= array->shape[i];
    return count;
}

static void check_close(const struct cnnvp_array *fixed, const struct cnnvp_array *reference, double limit)
{
    double worst = 0.0;
    double largest = 0.0;
    for (size_t i = 0; i < elements(fixed); ++i) {
        const double x = (double)((const float *)fixed->data)[i];
        const double y = (double)((const float *)reference->data)[i];
        worst = fmax(worst, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    if (!(worst <= limit * largest) || largest == 0.0)
        fail_msg("worst difference %g, largest value %g", worst, largest);
}

/* Compiles and runs the network with the configuration; `fixed` receives the output (images, ...). */
static void run(struct builder *builder, const struct fake_config *config, double limit, struct cnnvp_array *fixed)
{
    cnnvp_network *network;
    struct cnnvp_error error = {""};
    struct cnnvp_array reference;
    const char *wrong = NULL;
    if (binary_case_build(builder, config, 0, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    memset(platform->memory, 0x5a, MEMORY); /* frames have to be cleared */
    if (cnnvp_network_load(network, platform, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    if (test_fx16_run(&memory, (uint32_t)config->acc_bits, &wrong) != 0)
        fail_msg("%s", wrong);
    assert_int_equal(cnnvp_network_output(network, platform, 0, fixed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_reference(network, 0, &reference, &error), CNNVP_DONE);
    assert_int_equal(fixed->shape[0], 2);
    check_close(fixed, &reference, limit);
    cnnvp_array_clear(&reference);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

/* With the nfu's buffers and with small ones and another array: close to float, and the same words. */
static void check(struct builder *builder, double limit)
{
    struct cnnvp_array large;
    struct cnnvp_array small;
    struct fake_config config = fake_nfu();
    config.memory_bytes = MEMORY;
    run(builder, &config, limit, &large);
    config.rows = 3;
    config.cols = 5;
    config.input_bytes = 8192;
    config.output_bytes = 6144;
    config.weight_bytes = 4096;
    run(builder, &config, limit, &small);
    assert_memory_equal(large.data, small.data, elements(&large) * sizeof(float));
    cnnvp_array_clear(&large);
    cnnvp_array_clear(&small);
    builder_free(builder);
}

static int64_t pick(struct builder *random, int64_t low, int64_t high)
{
    return low + (int64_t)(builder_next(random) % (uint64_t)(high - low + 1));
}

static void window_attributes(struct builder *builder, struct builder *random, Onnx__NodeProto *node, int dilated,
                              const int64_t *kernel)
{
    const int64_t strides[2] = {pick(random, 1, 3), pick(random, 1, 3)};
    const int64_t dilations[2] = {pick(random, 1, dilated ? 2 : 1), pick(random, 1, dilated ? 2 : 1)};
    int64_t pads[4];
    for (size_t i = 0; i < 4; ++i)
        pads[i] = pick(random, 0, kernel[i % 2] - 1);
    builder_ints(builder, node, "kernel_shape", 2, kernel);
    builder_ints(builder, node, "strides", 2, strides);
    builder_ints(builder, node, "dilations", 2, dilations);
    builder_ints(builder, node, "pads", 4, pads);
}

static void convolutions(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    for (unsigned round = 0; round < 60; ++round) {
        struct builder builder;
        static const int64_t groups[] = {1, 1, 2, 3, 6};
        const int64_t group = groups[pick(&random, 0, 4)];
        const int64_t inputs = group * pick(&random, 1, group == 6 ? 1 : 4);
        const int64_t outputs = group * pick(&random, 1, 5);
        const int64_t kernel[2] = {pick(&random, 1, 5), pick(&random, 1, 5)};
        const int64_t dims[4] = {outputs, inputs / group, kernel[0], kernel[1]};
        binary_case_begin(&builder, inputs, pick(&random, 9, 24), pick(&random, 9, 24));
        builder.random = round;
        (void)builder_random(&builder, "w", 4, dims, 0.7f);
        (void)builder_random(&builder, "b", 1, dims, 2.0f);
        Onnx__NodeProto *node = builder_node(&builder, "Conv", "c", "x", "w", round % 3 != 0 ? "b" : NULL, NULL);
        builder_int(&builder, node, "group", group);
        window_attributes(&builder, &random, node, 1, kernel);
        (void)builder_node(&builder, round % 2 == 0 ? "Relu" : "Identity", "y", "c", NULL, NULL, NULL);
        check(&builder, 0.001);
    }
    builder_free(&random);
}

static void pools(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    random.random = 77;
    for (unsigned round = 0; round < 40; ++round) {
        struct builder builder;
        const int64_t kernel[2] = {pick(&random, 1, 4), pick(&random, 1, 4)};
        binary_case_begin(&builder, pick(&random, 1, 9), pick(&random, 9, 24), pick(&random, 9, 24));
        Onnx__NodeProto *node =
            builder_node(&builder, round % 2 == 0 ? "MaxPool" : "AveragePool", "y", "x", NULL, NULL, NULL);
        window_attributes(&builder, &random, node, 0, kernel);
        if (round % 2 != 0) {
            --node->n_attribute;
            --node->n_attribute; /* before operator set 19 it has no dilations */
            const int64_t pads[4] = {0, kernel[1] - 1, kernel[0] - 1, 0};
            builder_ints(&builder, node, "pads", 4, pads);
            builder_int(&builder, node, "count_include_pad", 1);
        }
        check(&builder, 0.001);
    }
    builder_free(&random);
}

static void global_pools_and_vectors(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t dims[2] = {7, 130};
    for (int round = 0; round < 2; ++round) {
        binary_case_begin(&builder, 7, 13, 9);
        (void)builder_random(&builder, "w", 2, dims, 0.5f);
        (void)builder_random(&builder, "b", 1, dims + 1, 0.5f);
        (void)builder_node(&builder, round == 0 ? "GlobalAveragePool" : "GlobalMaxPool", "p", "x", NULL, NULL, NULL);
        (void)builder_node(&builder, "Flatten", "f", "p", NULL, NULL, NULL);
        (void)builder_node(&builder, "MatMul", "m", "f", "w", NULL, NULL);
        (void)builder_node(&builder, "Add", "y", "m", "b", NULL, NULL);
        check(&builder, 0.001);
    }
}

/* A vector longer than the buffer, more outputs than fit, both mappings. */
static void long_vectors(void **state)
{
    (void)state;
    static const char *const mappings[] = {"broadcast", "single-neuron"};
    for (size_t i = 0; i < 2; ++i) {
        struct builder builder;
        struct cnnvp_array fixed;
        struct fake_config config = fake_nfu();
        const int64_t dims[2] = {12 * 16 * 16, 77};
        config.fc_mapping = mappings[i];
        config.input_bytes = 2048;
        config.weight_bytes = 20000;
        config.output_bytes = 1024;
        binary_case_begin(&builder, 12, 16, 16);
        (void)builder_random(&builder, "w", 2, dims, 0.1f);
        (void)builder_node(&builder, "Flatten", "f", "x", NULL, NULL, NULL);
        (void)builder_node(&builder, "MatMul", "y", "f", "w", NULL, NULL);
        run(&builder, &config, 0.001, &fixed);
        cnnvp_array_clear(&fixed);
        builder_free(&builder);
    }
}

static void activations_and_norms(void **state)
{
    (void)state;
    static const char *const kinds[] = {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "BatchNormalization"};
    for (size_t i = 0; i < 6; ++i) {
        struct builder builder;
        const int64_t dims[1] = {5};
        const float low = -0.5f;
        const float high = 1.25f;
        float variance[5] = {1, 2, 3, 4, 0.5f};
        binary_case_begin(&builder, 5, 11, 17);
        (void)builder_random(&builder, "s", 1, dims, 1.5f);
        (void)builder_random(&builder, "o", 1, dims, 1.0f);
        (void)builder_random(&builder, "m", 1, dims, 1.0f);
        (void)builder_floats(&builder, "v", 1, dims, variance);
        (void)builder_floats(&builder, "low", 0, NULL, &low);
        (void)builder_floats(&builder, "high", 0, NULL, &high);
        if (i == 5) {
            Onnx__NodeProto *node = builder_node(&builder, kinds[i], "n", "x", "s", "o", "m");
            char *inputs[5] = {node->input[0], node->input[1], node->input[2], node->input[3],
                               builder_text(&builder, "v")};
            node->input = builder_alloc(&builder, sizeof inputs);
            memcpy(node->input, inputs, sizeof inputs);
            node->n_input = 5;
            (void)builder_node(&builder, "Tanh", "y", "n", NULL, NULL, NULL);
        } else {
            (void)builder_node(&builder, kinds[i], "y", "x", i == 4 ? "low" : NULL, "high", NULL);
        }
        check(&builder, i == 0 || i == 3 || i == 4 ? 0.0005 : 0.002);
    }
}

/* Residuals, a reshape to maps, softmax over rows. */
static void branches(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t dims[4] = {6, 6, 3, 3};
    const int64_t pads[4] = {1, 1, 1, 1};
    const int64_t shape[4] = {0, 12, -1, 6};
    binary_case_begin(&builder, 6, 12, 12);
    (void)builder_random(&builder, "w", 4, dims, 0.4f);
    (void)builder_int64s(&builder, "s", 4, shape);
    Onnx__NodeProto *node = builder_node(&builder, "Conv", "a", "x", "w", NULL, NULL);
    builder_ints(&builder, node, "pads", 4, pads);
    (void)builder_node(&builder, "Add", "b", "x", "a", NULL, NULL);
    node = builder_node(&builder, "Conv", "c", "b", "w", NULL, NULL);
    builder_ints(&builder, node, "pads", 4, pads);
    (void)builder_node(&builder, "Relu", "d", "c", NULL, NULL, NULL);
    (void)builder_node(&builder, "Add", "e", "d", "b", NULL, NULL);
    (void)builder_node(&builder, "Reshape", "f", "e", "s", NULL, NULL);
    (void)builder_node(&builder, "Softmax", "y", "f", NULL, NULL, NULL);
    check(&builder, 0.01);
}

/* Of one element softmax is 1 and its logarithm 0; no table comes near enough to that for what is added. */
static void logarithm_of_a_lone_share(void **state)
{
    (void)state;
    struct builder builder;
    const float little = 0.01f;
    binary_case_begin(&builder, 5, 1, 7);
    builder_int(&builder, builder_node(&builder, "LogSoftmax", "l", "x", NULL, NULL, NULL), "axis", 2);
    (void)builder_floats(&builder, "c", 0, NULL, &little);
    (void)builder_node(&builder, "Add", "y", "l", "c", NULL, NULL);
    check(&builder, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(pools),
        cmocka_unit_test(global_pools_and_vectors),
        cmocka_unit_test(long_vectors),
        cmocka_unit_test(activations_and_norms),
        cmocka_unit_test(branches),
        cmocka_unit_test(logarithm_of_a_lone_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
