/* SPDX-License-Identifier: Apache-2.0 */
/* What is folded into the layer before, with which numbers, and what stays a layer of its own. */

#include "test.h"

#include "graph_edit.h"

#define CHANNELS 2u
#define SIDE 3u

/* input, a 1x1 convolution of CHANNELS maps with weights 1, 2, 3, 4, and its result. */
static int32_t begin(struct cnnvp_graph *graph)
{
    memset(graph, 0, sizeof *graph);
    graph->input = cnnvp_graph_tensor_add(graph, "input", 4, CHANNELS, SIDE, SIDE);
    const int32_t out = cnnvp_graph_tensor_add(graph, "conv", 4, CHANNELS, SIDE, SIDE);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(graph, CNNVP_OP_CONV, "conv", "Conv");
    assert_non_null(layer);
    layer->in = graph->input;
    layer->out = out;
    layer->kx = layer->ky = layer->sx = layer->sy = layer->dx = layer->dy = layer->groups = 1;
    layer->uniform = 1.0f;
    layer->weights = cnnvp_arena_array(&graph->arena, CHANNELS * CHANNELS, sizeof *layer->weights);
    assert_non_null(layer->weights);
    for (uint32_t i = 0; i < CHANNELS * CHANNELS; ++i)
        layer->weights[i] = (float)(i + 1);
    return out;
}

/* One more layer that reads the tensor; its result. */
static int32_t follow(struct cnnvp_graph *graph, enum cnnvp_layer_op op, int32_t in, const char *name)
{
    const int32_t out = cnnvp_graph_tensor_add(graph, name, 4, CHANNELS, SIDE, SIDE);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(graph, op, name, name);
    assert_non_null(layer);
    layer->in = in;
    layer->out = out;
    return out;
}

static int32_t function(struct cnnvp_graph *graph, int32_t in, enum cnnvp_graph_post_kind kind, float value)
{
    const int32_t out = follow(graph, CNNVP_OP_ACTIVATION, in, "function");
    struct cnnvp_graph_layer *layer = &graph->layers[graph->layer_count - 1];
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){kind, value};
    return out;
}

/* x * scale[channel] + offset[channel] */
static int32_t norm(struct cnnvp_graph *graph, int32_t in, const float scale[CHANNELS], const float offset[CHANNELS],
                    float uniform)
{
    const int32_t out = follow(graph, CNNVP_OP_NORM, in, "norm");
    struct cnnvp_graph_layer *layer = &graph->layers[graph->layer_count - 1];
    layer->norm = CNNVP_NORM_STORED;
    layer->uniform = uniform;
    layer->weights = cnnvp_arena_array(&graph->arena, CHANNELS, sizeof *layer->weights);
    layer->bias = cnnvp_arena_array(&graph->arena, CHANNELS, sizeof *layer->bias);
    assert_true(layer->weights != NULL && layer->bias != NULL);
    memcpy(layer->weights, scale, CHANNELS * sizeof *scale);
    memcpy(layer->bias, offset, CHANNELS * sizeof *offset);
    return out;
}

/* Folds; how many layers are left. */
static size_t fold(struct cnnvp_graph *graph, int32_t output)
{
    struct cnnvp_graph_output outputs[1] = {{"output", output}};
    struct cnnvp_error error = {""};
    graph->outputs = outputs;
    graph->output_count = 1;
    if (cnnvp_graph_fold(graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    graph->outputs = NULL;
    graph->output_count = 0;
    return graph->layer_count;
}

static void post_is(const struct cnnvp_graph_post *post, enum cnnvp_graph_post_kind kind, float value)
{
    assert_int_equal(post->kind, kind);
    assert_true(post->value == value);
}

static void norms_become_weights(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    const int32_t conv = begin(&graph);
    const int32_t out = norm(&graph, conv, (const float[]){2.0f, -0.5f}, (const float[]){1.0f, 8.0f}, 0.0f);
    assert_int_equal(fold(&graph, out), 1);
    const struct cnnvp_graph_layer *layer = &graph.layers[0];
    static const float weights[] = {2.0f, 4.0f, -1.5f, -2.0f};
    assert_memory_equal(layer->weights, weights, sizeof weights);
    assert_true(layer->has_bias != 0 && layer->bias[0] == 1.0f && layer->bias[1] == 8.0f);
    assert_int_equal(layer->out, out);
    cnnvp_graph_clear(&graph);
}

/* After a limit: one positive number scales it; scales by channel cannot. */
static void limits_are_scaled_by_one_number(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t at = function(&graph, begin(&graph), CNNVP_GRAPH_MIN, 6.0f);
    assert_int_equal(fold(&graph, norm(&graph, at, (const float[]){3.0f, 3.0f}, (const float[]){0.0f, 0.0f}, 3.0f)), 1);
    assert_int_equal(graph.layers[0].post_count, 1);
    post_is(&graph.layers[0].posts[0], CNNVP_GRAPH_MIN, 18.0f);
    assert_true(graph.layers[0].weights[3] == 12.0f);
    cnnvp_graph_clear(&graph);
    at = function(&graph, begin(&graph), CNNVP_GRAPH_MIN, 6.0f);
    assert_int_equal(fold(&graph, norm(&graph, at, (const float[]){3.0f, 2.0f}, (const float[]){0.0f, 0.0f}, 0.0f)), 2);
    cnnvp_graph_clear(&graph);
    at = function(&graph, begin(&graph), CNNVP_GRAPH_MIN, 6.0f);
    assert_int_equal(fold(&graph, norm(&graph, at, (const float[]){-1.0f, -1.0f}, (const float[]){0.0f, 0.0f}, -1.0f)),
                     2);
    cnnvp_graph_clear(&graph);
}

static void limits_join(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t at = begin(&graph);
    at = function(&graph, at, CNNVP_GRAPH_MAX, 0.0f);
    at = function(&graph, at, CNNVP_GRAPH_MIN, 6.0f);
    at = function(&graph, at, CNNVP_GRAPH_MAX, -1.0f); /* changes nothing */
    at = function(&graph, at, CNNVP_GRAPH_MIN, 4.0f);
    assert_int_equal(fold(&graph, at), 1);
    assert_int_equal(graph.layers[0].post_count, 2);
    post_is(&graph.layers[0].posts[0], CNNVP_GRAPH_MAX, 0.0f);
    post_is(&graph.layers[0].posts[1], CNNVP_GRAPH_MIN, 4.0f);
    cnnvp_graph_clear(&graph);
}

static void second_tables_stay(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t at = function(&graph, begin(&graph), CNNVP_GRAPH_SIGMOID, 0.0f);
    at = function(&graph, at, CNNVP_GRAPH_TANH, 0.0f);
    assert_int_equal(fold(&graph, at), 2);
    post_is(&graph.layers[0].posts[0], CNNVP_GRAPH_SIGMOID, 0.0f);
    post_is(&graph.layers[1].posts[0], CNNVP_GRAPH_TANH, 0.0f);
    cnnvp_graph_clear(&graph);
}

static void shared_results_stay(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    const int32_t conv = begin(&graph);
    const int32_t relu = function(&graph, conv, CNNVP_GRAPH_MAX, 0.0f);
    const int32_t sum = follow(&graph, CNNVP_OP_ADD, conv, "sum");
    graph.layers[2].in2 = relu;
    assert_int_equal(fold(&graph, sum), 3);
    cnnvp_graph_clear(&graph);
}

/* (q - zero) * 0.25 before a convolution: the weights take the scale, the whole numbers are read as they are. */
static void scales_of_whole_numbers_become_weights(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    (void)begin(&graph);
    graph.tensors[graph.input].whole = 1;
    const int32_t scaled = norm(&graph, graph.input, (const float[]){0.25f, 0.25f}, (const float[]){0.0f, 0.0f}, 0.25f);
    const struct cnnvp_graph_layer conv = graph.layers[0];
    graph.layers[0] = graph.layers[1];
    graph.layers[1] = conv;
    graph.layers[1].in = scaled;
    assert_int_equal(fold(&graph, conv.out), 1);
    assert_int_equal(graph.layers[0].in, graph.input);
    static const float weights[] = {0.25f, 0.5f, 0.75f, 1.0f};
    assert_memory_equal(graph.layers[0].weights, weights, sizeof weights);
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_become_weights), cmocka_unit_test(limits_are_scaled_by_one_number),
        cmocka_unit_test(limits_join),          cmocka_unit_test(second_tables_stay),
        cmocka_unit_test(shared_results_stay),  cmocka_unit_test(scales_of_whole_numbers_become_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
