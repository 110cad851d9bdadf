/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a training, and values that are missing. */
#include "training_case.h"

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
    builder_parse(&b, "float[N, 1048576] x float[1048576, 1024] huge y = MatMul(x, huge)");
    builder_output(&b, "y");
    import_fails(&b, "\"huge\" has no values, and 1073741824 are more than can be drawn");

    builder_init(&b, 13);
    builder_parse(&b, "float[N, 1, 4, 4] x float[1] one = {1} float[1] variance = {-1} "
                      "y = BatchNormalization(x, one, one, one, variance)");
    builder_output(&b, "y");
    import_fails(&b, "variance -1 plus epsilon 1e-05 is not positive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_stay_apart),
        cmocka_unit_test(missing_values_are_drawn),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
