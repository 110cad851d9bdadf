/* SPDX-License-Identifier: Apache-2.0 */
/* What was learned goes back into the file. */
#include "training_case.h"

static const char exported[] = "train_import.onnx";

static void export(const char *from, const struct cnnvp_graph *graph)
{
    struct cnnvp_error error = {""};
    if (cnnvp_onnx_export(from, exported, graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
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
    if (cnnvp_onnx_import_sized(file, NULL, 0, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(cnnvp_graph_simplify(&graph, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &reference, &error), CNNVP_DONE);
    cnnvp_floatref_images(&reference, 1, input);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(untouched_values_compute_the_same),
        cmocka_unit_test(unwritable_output_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
