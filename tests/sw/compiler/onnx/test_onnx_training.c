/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that learn: parameters kept apart, drawn where the file has none, and put back into a copy of the file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cnnvp_data.h"
#include "numbers.h"
#include "onnx_builder.h"
#include "onnx.h"

static const char exported[] = "train_import.onnx";

#define DIMS(...)     \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }

/* Writes the builder's file under a temporary name. */
static void write_file(struct builder *b, char *name)
{
    size_t size;
    uint8_t *bytes = builder_pack(b, &size);
    builder_write(bytes, size, name);
    free(bytes);
}

static struct cnnvp_graph import(const char *file, int random, uint64_t seed)
{
    const struct cnnvp_train_import_options options = {.random_weights = random, .seed = seed};
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    if (cnnvp_onnx_import_training(file, &options, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return graph;
}

static void import_fails(struct builder *b, const char *reason)
{
    const struct cnnvp_train_import_options options = {.seed = 1};
    char name[64];
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    write_file(b, name);
    assert_int_equal(cnnvp_onnx_import_training(name, &options, &graph, &error), CNNVP_BAD_INPUT);
    if (strstr(error.text, reason) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", reason, error.text);
    (void)unlink(name);
    builder_free(b);
}

static void export(const char *from, const struct cnnvp_graph *graph)
{
    struct cnnvp_error error = {""};
    if (cnnvp_onnx_export(from, exported, graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

/* Conv, BatchNormalization, Relu, MaxPool, Flatten, Gemm, MatMul, Add. Parameters of `blank` are inputs without values;
 * gamma, beta, mean and variance share two initialisers by way of Identity, as exporters write it. */
static void make_network(struct builder *b, int blank)
{
    builder_init(b, 13);
    builder_input(b, "x", 4, DIMS(-1, 2, 4, 4));
    if (blank) {
        builder_input(b, "conv.w", 4, DIMS(3, 2, 3, 3));
        builder_input(b, "gemm.w", 2, DIMS(5, 12));
        builder_input(b, "gemm.b", 1, DIMS(5));
        builder_input(b, "matmul.w", 2, DIMS(5, 4));
        builder_input(b, "ones", 1, DIMS(3));
        builder_input(b, "zeros", 1, DIMS(3));
    } else {
        (void)builder_random(b, "conv.w", 4, DIMS(3, 2, 3, 3), 1.0f);
        (void)builder_random(b, "gemm.w", 2, DIMS(5, 12), 1.0f);
        (void)builder_random(b, "gemm.b", 1, DIMS(5), 1.0f);
        (void)builder_random(b, "matmul.w", 2, DIMS(5, 4), 1.0f);
        (void)builder_floats(b, "ones", 1, DIMS(3), (const float[]){1, 1, 1});
        (void)builder_floats(b, "zeros", 1, DIMS(3), (const float[]){0, 0, 0});
    }
    (void)builder_random(b, "add.b", 2, DIMS(1, 4), 1.0f);
    Onnx__NodeProto *conv = builder_node(b, "Conv", "conv", "x", "conv.w", NULL, NULL);
    builder_ints(b, conv, "pads", 4, DIMS(1, 1, 1, 1));
    (void)builder_node(b, "Identity", "ones_again", "ones", NULL, NULL, NULL);
    (void)builder_node(b, "Identity", "zeros_again", "zeros", NULL, NULL, NULL);
    Onnx__NodeProto *norm = builder_node(b, "BatchNormalization", "norm", "conv", "ones", "zeros", "zeros_again");
    char **inputs = builder_alloc(b, 5 * sizeof *inputs);
    memcpy(inputs, norm->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(b, "ones_again");
    norm->input = inputs;
    norm->n_input = 5;
    builder_float(b, norm, "epsilon", 0.001f);
    (void)builder_node(b, "Relu", "relu", "norm", NULL, NULL, NULL);
    Onnx__NodeProto *pool = builder_node(b, "MaxPool", "pool", "relu", NULL, NULL, NULL);
    builder_ints(b, pool, "kernel_shape", 2, DIMS(2, 2));
    builder_ints(b, pool, "strides", 2, DIMS(2, 2));
    (void)builder_node(b, "Flatten", "flat", "pool", NULL, NULL, NULL);
    Onnx__NodeProto *gemm = builder_node(b, "Gemm", "gemm", "flat", "gemm.w", "gemm.b", NULL);
    builder_int(b, gemm, "transB", 1);
    (void)builder_node(b, "MatMul", "matmul", "gemm", "matmul.w", NULL, NULL);
    (void)builder_node(b, "Add", "y", "matmul", "add.b", NULL, NULL);
    builder_output(b, "y");
}

enum { CONV = 0, NORM = 1, RELU = 2, POOL = 3, GEMM = 4, MATMUL = 5, LAYERS = 6 };

static void parameters_stay_apart(void **state)
{
    (void)state;
    struct builder b;
    char name[64];
    make_network(&b, 0);
    write_file(&b, name);
    struct cnnvp_graph graph = import(name, 0, 1);
    assert_int_equal(graph.layer_count, LAYERS);
    const struct cnnvp_graph_layer *layers = graph.layers;
    assert_int_equal(layers[CONV].op, CNNVP_OP_CONV);
    assert_int_equal(layers[CONV].has_bias, 0);
    assert_int_equal(layers[NORM].op, CNNVP_OP_NORM);
    assert_float_equal(layers[NORM].epsilon, 0.001, 1e-9);
    for (size_t c = 0; c < 3; ++c) {
        assert_float_equal(layers[NORM].weights[c], 1, 0);
        assert_float_equal(layers[NORM].bias[c], 0, 0);
        assert_float_equal(layers[NORM].mean[c], 0, 0);
        assert_float_equal(layers[NORM].variance[c], 1, 0);
    }
    for (size_t role = 0; role < CNNVP_GRAPH_ROLES; ++role)
        assert_int_equal(layers[NORM].origins[role].input, role + 1);
    assert_int_equal(layers[RELU].op, CNNVP_OP_ACTIVATION);
    assert_int_equal(layers[GEMM].op, CNNVP_OP_FC);
    assert_int_equal(layers[MATMUL].op, CNNVP_OP_FC);
    assert_int_equal(layers[MATMUL].has_bias, 1);
    assert_int_equal(layers[MATMUL].out, graph.outputs[0].tensor);
    assert_int_equal(layers[MATMUL].origins[CNNVP_GRAPH_BIAS].rank, 2);
    cnnvp_graph_clear(&graph);
    (void)unlink(name);
    builder_free(&b);
}

static double mean_of(const float *values, size_t count, double *deviation)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    *deviation = sqrt(squares / (double)count);
    return sum / (double)count;
}

static void missing_values_are_drawn(void **state)
{
    (void)state;
    struct builder b;
    char name[64];
    double deviation;
    make_network(&b, 1);
    write_file(&b, name);
    struct cnnvp_graph first = import(name, 0, 1);
    struct cnnvp_graph same = import(name, 0, 1);
    struct cnnvp_graph other = import(name, 0, 2);
    const size_t counts[LAYERS] = {[CONV] = 54, [GEMM] = 60, [MATMUL] = 20};
    const size_t inputs[LAYERS] = {[CONV] = 18, [GEMM] = 12, [MATMUL] = 5};
    for (size_t i = 0; i < LAYERS; ++i) {
        if (counts[i] == 0)
            continue;
        assert_memory_equal(first.layers[i].weights, same.layers[i].weights, counts[i] * sizeof(float));
        assert_memory_not_equal(first.layers[i].weights, other.layers[i].weights, counts[i] * sizeof(float));
        const double want = sqrt(2.0 / (double)inputs[i]);
        const double mean = mean_of(first.layers[i].weights, counts[i], &deviation);
        assert_true(fabs(mean) < 3 * want / sqrt((double)counts[i]));
        assert_true(deviation > 0.6 * want && deviation < 1.4 * want);
    }
    for (size_t c = 0; c < 5; ++c)
        assert_float_equal(first.layers[GEMM].bias[c], 0, 0);
    for (size_t c = 0; c < 3; ++c) {
        assert_float_equal(first.layers[NORM].weights[c], 1, 0);
        assert_float_equal(first.layers[NORM].bias[c], 0, 0);
        assert_float_equal(first.layers[NORM].mean[c], 0, 0);
        assert_float_equal(first.layers[NORM].variance[c], 1, 0);
    }
    /* What the file has stays, unless everything is to be drawn. */
    assert_memory_equal(first.layers[MATMUL].bias, other.layers[MATMUL].bias, 4 * sizeof(float));
    assert_true(first.layers[MATMUL].bias[0] < 0 || first.layers[MATMUL].bias[0] > 0);
    cnnvp_graph_clear(&other);
    other = import(name, 1, 1);
    assert_memory_equal(first.layers[CONV].weights, other.layers[CONV].weights, 54 * sizeof(float));
    assert_float_equal(other.layers[MATMUL].bias[0], 0, 0);
    cnnvp_graph_clear(&first);
    cnnvp_graph_clear(&same);
    cnnvp_graph_clear(&other);
    (void)unlink(name);
    builder_free(&b);
}

/* Puts value `start` + i into every parameter. */
static void number_parameters(struct cnnvp_graph *graph)
{
    const size_t counts[LAYERS][CNNVP_GRAPH_ROLES] = {
        [CONV] = {54, 0, 0, 0}, [NORM] = {3, 3, 3, 3}, [GEMM] = {60, 5, 0, 0}, [MATMUL] = {20, 4, 0, 0}};
    float next = 0.25f;
    for (size_t i = 0; i < LAYERS; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        float *const values[CNNVP_GRAPH_ROLES] = {layer->weights, layer->bias, layer->mean, layer->variance};
        for (size_t role = 0; role < CNNVP_GRAPH_ROLES; ++role)
            for (size_t k = 0; k < counts[i][role]; ++k) {
                values[role][k] = next;
                next += 0.125f;
            }
    }
}

static void check_parameters(const struct cnnvp_graph *want, const struct cnnvp_graph *have)
{
    const size_t counts[LAYERS][CNNVP_GRAPH_ROLES] = {
        [CONV] = {54, 0, 0, 0}, [NORM] = {3, 3, 3, 3}, [GEMM] = {60, 5, 0, 0}, [MATMUL] = {20, 4, 0, 0}};
    assert_int_equal(have->layer_count, LAYERS);
    for (size_t i = 0; i < LAYERS; ++i) {
        const struct cnnvp_graph_layer *a = &want->layers[i];
        const struct cnnvp_graph_layer *b = &have->layers[i];
        const float *const first[CNNVP_GRAPH_ROLES] = {a->weights, a->bias, a->mean, a->variance};
        const float *const second[CNNVP_GRAPH_ROLES] = {b->weights, b->bias, b->mean, b->variance};
        for (size_t role = 0; role < CNNVP_GRAPH_ROLES; ++role)
            if (counts[i][role] != 0)
                assert_memory_equal(first[role], second[role], counts[i][role] * sizeof(float));
    }
}

/* The output of the ordinary import, simplified. */
static void run(const char *file, float *output)
{
    struct cnnvp_graph graph;
    struct cnnvp_floatref reference;
    struct cnnvp_error error = {""};
    float input[32];
    for (size_t i = 0; i < 32; ++i)
        input[i] = cnnvp_normal(7, i);
    if (cnnvp_onnx_import(file, 0, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(cnnvp_graph_simplify(&graph, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_floatref_new(&graph, &reference, &error), CNNVP_DONE);
    cnnvp_floatref_image(&reference, input);
    memcpy(output, reference.data[graph.outputs[0].tensor], 4 * sizeof *output);
    cnnvp_floatref_clear(&reference);
    cnnvp_graph_clear(&graph);
}

static void values_come_back(void **state)
{
    (void)state;
    for (int blank = 0; blank < 2; ++blank) {
        struct builder b;
        char name[64];
        make_network(&b, blank);
        write_file(&b, name);
        struct cnnvp_graph graph = import(name, 0, 1);
        number_parameters(&graph);
        export(name, &graph);
        struct cnnvp_graph again = import(exported, 0, 1);
        check_parameters(&graph, &again);
        float output[4];
        run(exported, output); /* an ordinary network now: all inputs have values */
        assert_true(output[0] < 0 || output[0] > 0);
        /* A second time it is the same file but for names. */
        char first[64] = "train_import_1.onnx";
        assert_int_equal(rename(exported, first), 0);
        export(first, &again);
        cnnvp_graph_clear(&again);
        again = import(exported, 0, 1);
        check_parameters(&graph, &again);
        cnnvp_graph_clear(&graph);
        cnnvp_graph_clear(&again);
        (void)unlink(name);
        (void)unlink(first);
        builder_free(&b);
    }
    (void)unlink(exported);
}

/* Nothing learned, nothing changed: the same outputs, bit by bit. */
static void untouched_values_compute_the_same(void **state)
{
    (void)state;
    struct builder b;
    char name[64];
    float before[4];
    float after[4];
    make_network(&b, 0);
    write_file(&b, name);
    run(name, before);
    struct cnnvp_graph graph = import(name, 0, 1);
    export(name, &graph);
    run(exported, after);
    assert_memory_equal(before, after, sizeof before);
    cnnvp_graph_clear(&graph);
    (void)unlink(name);
    (void)unlink(exported);
    builder_free(&b);
}

static void unwritable_output_leaves_nothing(void **state)
{
    (void)state;
    struct builder b;
    char name[64];
    struct cnnvp_error error = {""};
    make_network(&b, 0);
    write_file(&b, name);
    struct cnnvp_graph graph = import(name, 0, 1);
    assert_int_equal(cnnvp_onnx_export(name, "absent_folder/x.onnx", &graph, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "absent_folder/x.onnx: cannot be written"));
    assert_int_equal(cnnvp_onnx_export("absent.onnx", exported, &graph, &error), CNNVP_BAD_INPUT);
    assert_int_not_equal(access(exported, F_OK), 0);
    cnnvp_graph_clear(&graph);
    (void)unlink(name);
    builder_free(&b);
}

static void bad_parameters_are_named(void **state)
{
    (void)state;
    struct builder b;
    make_network(&b, 0);
    builder_input(&b, "huge", 2, DIMS(12, 1 << 20));
    Onnx__NodeProto *gemm = b.graph.node[b.graph.n_node - 3];
    assert_string_equal(gemm->op_type, "Gemm");
    builder_float(&b, gemm, "alpha", 0.5f);
    import_fails(&b, "alpha is 0.5, beta 1; a layer that learns needs 1");

    make_network(&b, 0);
    builder_input(&b, "symbolic", 2, DIMS(12, -1));
    import_fails(&b, "\"symbolic\" is a parameter without values (the first input is the image); dimension 1");

    builder_init(&b, 13);
    builder_input(&b, "x", 2, DIMS(-1, 1 << 20));
    builder_input(&b, "huge", 2, DIMS(1 << 20, 1 << 10));
    (void)builder_node(&b, "MatMul", "y", "x", "huge", NULL, NULL);
    builder_output(&b, "y");
    import_fails(&b, "\"huge\" has no values, and 1073741824 are more than can be drawn");

    builder_init(&b, 13);
    builder_input(&b, "x", 4, DIMS(-1, 1, 4, 4));
    (void)builder_floats(&b, "one", 1, DIMS(1), (const float[]){1});
    (void)builder_floats(&b, "variance", 1, DIMS(1), (const float[]){-1});
    Onnx__NodeProto *norm = builder_node(&b, "BatchNormalization", "y", "x", "one", "one", "one");
    char **inputs = builder_alloc(&b, 5 * sizeof *inputs);
    memcpy(inputs, norm->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(&b, "variance");
    norm->input = inputs;
    norm->n_input = 5;
    builder_output(&b, "y");
    import_fails(&b, "variance -1 plus epsilon 1e-05 is not positive");
}

/* `count` images of zeros with labels 0, 1, ... */
static cnnvp_dataset *zero_images(uint8_t count, uint8_t height, uint8_t width)
{
    uint8_t images[16 + 4096] = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, height, 0, 0, 0, width};
    uint8_t labels[8 + 256] = {0, 0, 8, 1, 0, 0, 0, count};
    char image_name[64];
    char label_name[64];
    char text[160];
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    for (uint8_t i = 0; i < count; ++i)
        labels[8 + i] = i;
    builder_write(images, 16u + (size_t)count * height * width, image_name);
    builder_write(labels, 8u + count, label_name);
    (void)snprintf(text, sizeof text, "idx:%s,%s", image_name, label_name);
    if (cnnvp_dataset_new(text, 0, &dataset, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    (void)unlink(image_name);
    (void)unlink(label_name);
    return dataset;
}

/* A network [N, C, H, W] or [N, features] with 5 outputs, and images for it. */
static void data_sets_fit_networks(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    struct cnnvp_dataset_info info;
    for (int vector = 0; vector < 2; ++vector) {
        struct builder b;
        char name[64];
        builder_init(&b, 13);
        if (vector)
            builder_input(&b, "flat", 2, DIMS(-1, 24));
        else
            builder_input(&b, "x", 4, DIMS(-1, 1, 6, 4));
        builder_input(&b, "w", 2, DIMS(5, 24));
        if (!vector)
            (void)builder_node(&b, "Flatten", "flat", "x", NULL, NULL, NULL);
        Onnx__NodeProto *gemm = builder_node(&b, "Gemm", "y", "flat", "w", NULL, NULL);
        builder_int(&b, gemm, "transB", 1);
        builder_output(&b, "y");
        write_file(&b, name);
        cnnvp_dataset *dataset = zero_images(5, vector ? 8 : 4, 3);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_DONE);
        cnnvp_dataset_describe(dataset, &info);
        assert_int_equal(info.height, vector ? 8 : 6);
        assert_int_equal(info.width, vector ? 3 : 4);
        cnnvp_dataset_free(dataset);
        dataset = zero_images(6, 6, 4);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_BAD_INPUT);
        assert_non_null(strstr(error.text, "label 5 of image 5 is out of range; the network has 5 classes"));
        cnnvp_dataset_free(dataset);
        dataset = zero_images(5, 7, 4);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_BAD_INPUT);
        cnnvp_dataset_free(dataset);
        (void)unlink(name);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_stay_apart),
        cmocka_unit_test(missing_values_are_drawn),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(untouched_values_compute_the_same),
        cmocka_unit_test(unwritable_output_leaves_nothing),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(data_sets_fit_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
