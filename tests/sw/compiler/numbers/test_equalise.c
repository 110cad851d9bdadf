/* SPDX-License-Identifier: Apache-2.0 */
/* Channels equalised between layers: the same function bit by bit, weights nearer to one another. */
#include <math.h>
#include <string.h>

#include "test.h"

#include "numbers.h"
#include "onnx_builder.h"

#define CHANNELS 8u
#define SIDE 6u
#define WORDS (CHANNELS * SIDE * SIDE)

enum between {
    PLAIN,
    LEAKY,
    POOLED,
    COPIED,
    ADDED,
    NESTED,
    READ_TWICE,
    BIASED,
    CLIPPED,
    RAISED,
    SHIFTED,
    GIVEN,
    ALIKE
};
enum second { POINTWISE, GROUPED, DEPTHWISE, DENSE };

static struct cnnvp_graph graph;
static struct cnnvp_error problem;

static float *random_floats(struct builder *random, size_t count)
{
    float *values = cnnvp_arena_array(&graph.arena, count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; ++i)
        values[i] = (float)((double)(int64_t)builder_next(random) / 9223372036854775808.0);
    return values;
}

static struct cnnvp_graph_layer *conv(struct builder *random, int32_t in, int32_t out, uint32_t side, uint32_t groups)
{
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_CONV, "conv", "Conv");
    assert_non_null(layer);
    const uint32_t outputs = graph.tensors[out].channels;
    layer->in = in;
    layer->out = out;
    layer->in2 = CNNVP_GRAPH_NONE;
    layer->kx = layer->ky = side;
    layer->sx = layer->sy = layer->dx = layer->dy = 1;
    layer->pad_top = layer->pad_left = layer->pad_bottom = layer->pad_right = side / 2;
    layer->groups = groups;
    layer->depthwise = groups == CHANNELS && outputs == CHANNELS;
    layer->has_bias = 1;
    layer->weights = random_floats(random, (size_t)outputs * (CHANNELS / groups) * side * side);
    layer->bias = random_floats(random, outputs);
    return layer;
}

/* x, a depthwise layer, something, a second layer with weights. Channel c of x is large where the first layer's weights
 * are small, so that all channels count. */
static void build(struct builder *random, enum between between, enum second second)
{
    static const uint32_t groups[] = {1, 2, CHANNELS, 1};
    graph = (struct cnnvp_graph){.file = "test.onnx"};
    const uint32_t side = between == POOLED ? SIDE / 2 : SIDE;
    (void)cnnvp_graph_tensor_add(&graph, "x", 4, CHANNELS, SIDE, SIDE);
    (void)cnnvp_graph_tensor_add(&graph, "middle", 4, CHANNELS, SIDE, SIDE);
    (void)cnnvp_graph_tensor_add(&graph, "before", 4, CHANNELS, side, side);
    (void)cnnvp_graph_tensor_add(&graph, "flat", 2, CHANNELS * side * side, 1, 1);
    (void)cnnvp_graph_tensor_add(&graph, "y", 4, CHANNELS, second == DENSE ? 1 : side, second == DENSE ? 1 : side);
    (void)cnnvp_graph_tensor_add(&graph, "z", 4, CHANNELS, SIDE, SIDE);
    struct cnnvp_graph_layer *first = conv(random, 0, 1, 3, CHANNELS);
    for (size_t c = 0; c < CHANNELS && between != ALIKE; ++c) {
        for (size_t t = 0; t < 9; ++t)
            first->weights[c * 9 + t] = ldexpf(first->weights[c * 9 + t], -2 * (int)c);
        first->bias[c] = between == BIASED ? 1.0f : ldexpf(first->bias[c], -2 * (int)c);
    }
    first->post_count = 1;
    first->posts[0] = (struct cnnvp_graph_post){
        between == LEAKY ? CNNVP_GRAPH_LEAKY_RELU : CNNVP_GRAPH_MAX,
        between == LEAKY    ? 0.25f
        : between == RAISED ? 0.5f
                            : 0.0f};
    if (between == CLIPPED)
        first->posts[first->post_count++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, 0.5f};
    int32_t in = 1;
    if (between == POOLED) {
        struct cnnvp_graph_layer *pool = cnnvp_graph_layer_add(&graph, CNNVP_OP_POOL, "pool", "MaxPool");
        assert_non_null(pool);
        pool->in = 1;
        pool->out = in = 2;
        pool->in2 = CNNVP_GRAPH_NONE;
        pool->pool = CNNVP_POOL_MAX;
        pool->kx = pool->ky = pool->sx = pool->sy = 2;
    }
    if (between == COPIED) {
        struct cnnvp_graph_layer *copy = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "copy", "Concat");
        assert_non_null(copy);
        copy->in = 1;
        copy->out = in = 2;
        copy->in2 = CNNVP_GRAPH_NONE;
        copy->post_count = 1;
        copy->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -INFINITY};
    }
    if (between == SHIFTED) { /* maps of words from the middle of a channel on */
        (void)cnnvp_graph_tensor_add(&graph, "maps", 4, CHANNELS + 1, SIDE, SIDE);
        (void)cnnvp_graph_tensor_add(&graph, "words", 2, WORDS + SIDE * SIDE, 1, 1);
        (void)cnnvp_graph_tensor_add(&graph, "part", 2, WORDS, 1, 1);
        graph.tensors[1].base = graph.tensors[7].base = 6;
        graph.tensors[8].base = 7;
        graph.tensors[8].base_channel = SIDE * SIDE / 2;
        graph.tensors[2].base = 8;
        in = 2;
    }
    if (between == NESTED) { /* a part of a part of maps, which is read as a part of these */
        (void)cnnvp_graph_tensor_add(&graph, "part", 4, CHANNELS, SIDE, SIDE);
        (void)cnnvp_graph_tensor_add(&graph, "maps", 4, 2 * CHANNELS, SIDE, SIDE);
        graph.tensors[1].base = 6;
        graph.tensors[2].base = graph.tensors[5].base = graph.tensors[6].base = 7;
        graph.tensors[2].base_channel = graph.tensors[6].base_channel = CHANNELS;
        (void)conv(random, 0, 5, 3, CHANNELS);
        in = 2;
    }
    if (between == ADDED) {
        struct cnnvp_graph_layer *other = conv(random, 0, 5, 3, CHANNELS);
        for (size_t i = 0; i < (size_t)CHANNELS * 9; ++i)
            other->weights[i] = ldexpf(other->weights[i], -2 * (int)(i / 9));
        for (size_t c = 0; c < CHANNELS; ++c)
            other->bias[c] = ldexpf(other->bias[c], -2 * (int)c);
        struct cnnvp_graph_layer *add = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "add", "Add");
        assert_non_null(add);
        add->in = 1;
        add->in2 = 5;
        add->out = in = 2;
    }
    struct cnnvp_graph_layer *after;
    if (second == DENSE) {
        graph.tensors[3].base = in;
        after = cnnvp_graph_layer_add(&graph, CNNVP_OP_FC, "fc", "Gemm");
        assert_non_null(after);
        after->in = 3;
        after->in2 = CNNVP_GRAPH_NONE;
        after->out = 4;
        after->weights = random_floats(random, (size_t)CHANNELS * CHANNELS * side * side);
    } else {
        after = conv(random, in, 4, second == DEPTHWISE ? 3 : 1, groups[second]);
    }
    /* What the first layer makes small, the second one makes large. */
    const size_t count = second == DENSE       ? (size_t)CHANNELS * CHANNELS * side * side
                         : second == DEPTHWISE ? CHANNELS * 9u
                                               : CHANNELS * CHANNELS / groups[second];
    const size_t taps = second == DENSE ? (size_t)side * side : second == DEPTHWISE ? 9 : 1;
    const size_t depth = second == DENSE ? CHANNELS : CHANNELS / groups[second];
    const size_t outputs = CHANNELS / (second == DENSE ? 1 : groups[second]);
    for (size_t i = 0; i < count && between != ALIKE; ++i) {
        const size_t output = i / taps / depth;
        const size_t channel = output / outputs * depth + i / taps % depth;
        after->weights[i] = ldexpf(after->weights[i], 2 * (int)channel - 14);
    }
    if (between == READ_TWICE)
        (void)conv(random, 1, 5, 1, 1);
    static struct cnnvp_graph_output given[2] = {{"y", 4}, {"middle", 1}};
    graph.outputs = given;
    graph.output_count = between == GIVEN ? 2 : 1;
}

static float largest(const float *values, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; ++i)
        most = fmaxf(most, fabsf(values[i]));
    return most;
}

/* How many times the largest weight of one channel of the first layer is that of another. */
static float spread(void)
{
    float most = 0, least = INFINITY;
    for (size_t c = 0; c < CHANNELS; ++c) {
        const float size = largest(graph.layers[0].weights + 9 * c, 9);
        most = fmaxf(most, size);
        least = fminf(least, size);
    }
    return most / least;
}

static void note_channels(const struct cnnvp_floatref *run)
{
    for (size_t t = 0; t < graph.tensor_count; ++t) {
        const struct cnnvp_graph_tensor *tensor = &graph.tensors[t];
        const size_t plane = (size_t)tensor->height * tensor->width;
        assert_true((tensor->channel_max != NULL) == (tensor->base == CNNVP_GRAPH_NONE));
        for (size_t c = 0; tensor->channel_max != NULL && c < tensor->channels; ++c)
            tensor->channel_max[c] = largest(run->data[t] + c * plane, plane);
    }
}

static void try(enum between between, enum second second, int equalises)
{
    struct builder random;
    struct cnnvp_floatref before, after;
    int changed;
    builder_init(&random, 7);
    build(&random, between, second);
    const float *x = random_floats(&random, WORDS);
    assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &before, &problem), CNNVP_DONE);
    cnnvp_floatref_images(&before, 1, x);
    assert_int_equal(cnnvp_equalise_watch(&graph, &problem), CNNVP_DONE);
    note_channels(&before);
    const float was = spread();
    const float size = largest(graph.layers[0].weights, (size_t)CHANNELS * 9);
    assert_int_equal(cnnvp_equalise(&graph, &changed, &problem), CNNVP_DONE);
    assert_int_equal(changed, equalises);
    if (equalises) {
        const int last = between == ADDED ? 5 : between == POOLED || between == COPIED || between == NESTED ? 2 : 1;
        assert_true(spread() * 256 < was);
        assert_true(largest(graph.layers[0].weights, (size_t)CHANNELS * 9) <= size);
        assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &after, &problem), CNNVP_DONE);
        cnnvp_floatref_images(&after, 1, x);
        for (int32_t tensor = 4; tensor <= (between == READ_TWICE ? 5 : 4); ++tensor) {
            assert_memory_equal(before.data[tensor], after.data[tensor],
                                cnnvp_graph_words(&graph.tensors[tensor]) * sizeof(float));
            assert_null(graph.tensors[tensor].powers);
        }
        assert_true(largest(after.data[1], WORDS) <= largest(before.data[1], WORDS));
        for (int32_t tensor = 1; tensor <= last; tensor += tensor == 2 ? 3 : 1) {
            const size_t plane = (size_t)graph.tensors[tensor].height * graph.tensors[tensor].width;
            assert_non_null(graph.tensors[tensor].powers);
            for (size_t i = 0; i < CHANNELS * plane; ++i) {
                const float value = ldexpf(after.data[tensor][i], -graph.tensors[tensor].powers[i / plane]);
                assert_memory_equal(&value, &before.data[tensor][i], sizeof value);
            }
        }
        cnnvp_floatref_clear(&after);
    }
    cnnvp_floatref_clear(&before);
    graph.outputs = NULL;
    cnnvp_graph_clear(&graph);
    builder_free(&random);
}

static void channels_are_equalised(void **state)
{
    (void)state;
    for (enum between between = PLAIN; between <= READ_TWICE; ++between)
        for (enum second second = POINTWISE; second <= DENSE; ++second)
            try(between, second, between != NESTED || second != DENSE);
}

/* Biases become no larger than the largest is; a limit other than 0 is not the same for scaled channels, nor are
 * words of two channels that are read as one; what a user sees keeps its values; alike ones gain nothing.
 */
static void others_stay(void **state)
{
    (void)state;
    for (enum between between = BIASED; between <= ALIKE; ++between)
        try(between, POINTWISE, 0);
}

#define ZERO 2u
#define TIMES 4096.0f

/* A channel that is always 0, read by weights that are TIMES as large as those beside them. */
static void zeros_limit_no_other_weights(void **state)
{
    (void)state;
    for (uint32_t scaled = 0; scaled < 2; ++scaled) {
        struct builder random;
        struct cnnvp_floatref before, after;
        float was[CHANNELS * CHANNELS];
        int changed;
        builder_init(&random, 7);
        build(&random, ALIKE, POINTWISE);
        float *weights = graph.layers[1].weights;
        for (size_t o = 0; o < CHANNELS; ++o)
            weights[o * CHANNELS + ZERO] *= TIMES;
        for (size_t t = 0; t < 9; ++t)
            graph.layers[0].weights[ZERO * 9 + t] = 0.0f;
        graph.layers[0].bias[ZERO] = -1.0f / (4.0f * TIMES); /* with ReLU */
        graph.layers[0].scaled = graph.layers[1].scaled = scaled;
        memcpy(was, weights, sizeof was);
        const float *x = random_floats(&random, WORDS);
        assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &before, &problem), CNNVP_DONE);
        cnnvp_floatref_images(&before, 1, x);
        assert_int_equal(cnnvp_equalise_watch(&graph, &problem), CNNVP_DONE);
        note_channels(&before);
        assert_int_equal(cnnvp_equalise(&graph, &changed, &problem), CNNVP_DONE);
        assert_int_equal(changed, 1);
        for (size_t o = 0; o < CHANNELS; ++o) {
            float beside = 0.0f;
            for (size_t i = 0; i < CHANNELS; ++i)
                beside = i != ZERO ? fmaxf(beside, fabsf(weights[o * CHANNELS + i])) : beside;
            assert_true(fabsf(weights[o * CHANNELS + ZERO]) <= beside || scaled == 0);
            assert_true(fabsf(weights[o * CHANNELS + ZERO]) < fabsf(was[o * CHANNELS + ZERO]) / (TIMES / 8.0f));
        }
        assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &after, &problem), CNNVP_DONE);
        cnnvp_floatref_images(&after, 1, x);
        assert_memory_equal(before.data[4], after.data[4], sizeof(float) * WORDS);
        cnnvp_floatref_clear(&after);
        cnnvp_floatref_clear(&before);
        graph.outputs = NULL;
        cnnvp_graph_clear(&graph);
        builder_free(&random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_equalised),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(zeros_limit_no_other_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
