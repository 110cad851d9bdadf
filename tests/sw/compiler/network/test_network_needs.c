/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the outputs depend on, by trial: a word is needed if, and only if, the float model's outputs are others when it
 * is another number. Random networks without maxima, with weights above 0, so that nothing hides a change.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "network.h"
#include "numbers.h"

#define NETWORKS 400
#define LAYERS 5
#define SIDE 7 /* of the input at most */

static struct cnnvp_graph graph;
static uint64_t state_of_random;

static uint32_t draw(uint32_t low, uint32_t high)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (uint32_t)(state_of_random >> 33) % (high - low + 1);
}

/* Above 0; sums of so many stay about 1. */
static float *numbers(size_t count, size_t added)
{
    float *values = cnnvp_arena_alloc(&graph.arena, count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; ++i)
        values[i] = (0.25f + (float)draw(0, 1000) / 1000.0f) / (float)added;
    return values;
}

static struct cnnvp_graph_tensor shape_of(int32_t tensor)
{
    return graph.tensors[tensor];
}

/* A layer and its result. */
static struct cnnvp_graph_layer *layer_of(enum cnnvp_layer_op op, int32_t in, uint32_t channels, uint32_t height,
                                          uint32_t width)
{
    const int32_t out = cnnvp_graph_tensor_add(&graph, "t", 4, channels, height, width);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, op, "layer", "Node");
    assert_non_null(layer);
    layer->in = in;
    layer->out = out;
    return layer;
}

/* What a layer takes out (a sum, a mean, a common addend) may be what another has put in: not after a function. */
static void bend(struct cnnvp_graph_layer *layer)
{
    layer->post_count = 1;
    layer->posts[0].kind = CNNVP_GRAPH_HARD_SWISH;
}

static uint32_t outs(uint32_t size, uint32_t kernel, uint32_t stride, uint32_t dilation, uint32_t pads)
{
    return (size + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

/* A convolution of any group, or an average pool. */
static void add_window(int32_t in, int pools)
{
    const struct cnnvp_graph_tensor from = shape_of(in);
    const uint32_t ky = draw(1, 3 < from.height ? 3 : from.height), kx = draw(1, 3 < from.width ? 3 : from.width);
    const uint32_t sy = draw(1, 3), sx = draw(1, 3), top = draw(0, ky - 1), left = draw(0, kx - 1);
    const uint32_t dy = (ky - 1) * 2 < from.height ? draw(1, 2) : 1, dx = (kx - 1) * 2 < from.width ? draw(1, 2) : 1;
    const uint32_t groups = pools || draw(0, 1) ? from.channels : 1;
    const uint32_t channels = groups == 1 && !pools ? draw(1, 3) : from.channels;
    struct cnnvp_graph_layer *layer = layer_of(pools ? CNNVP_OP_POOL : CNNVP_OP_CONV, in, channels,
                                               outs(from.height, ky, sy, dy, top), outs(from.width, kx, sx, dx, left));
    layer->kx = kx, layer->ky = ky, layer->sx = sx, layer->sy = sy, layer->dx = dx, layer->dy = dy;
    layer->pad_top = top, layer->pad_left = left;
    layer->pool = CNNVP_POOL_AVERAGE;
    bend(layer);
    if (pools)
        return;
    layer->groups = groups;
    layer->depthwise = groups != 1;
    const size_t added = (size_t)(from.channels / groups) * ky * kx;
    layer->weights = numbers(channels * added, added);
}

/* A part of the maps, somewhere in larger ones or by itself. */
static void add_moved(int32_t in, int places)
{
    const struct cnnvp_graph_tensor from = shape_of(in);
    const uint32_t row = draw(0, from.height - 1), height = draw(1, from.height - row);
    const uint32_t column = draw(0, from.width - 1), width = draw(1, from.width - column);
    const uint32_t down = places ? draw(0, 2) : 0, right = places ? draw(0, 2) : 0, more = places ? draw(0, 2) : 0;
    struct cnnvp_graph_layer *layer =
        layer_of(CNNVP_OP_ACTIVATION, in, from.channels, height + down + more, width + right + more);
    layer->cropped = 1, layer->crop_row = row, layer->crop_column = column;
    layer->crop_height = height, layer->crop_width = width;
    layer->placed = (uint32_t)places, layer->place_row = down, layer->place_column = right;
}

static void add_permuted(int32_t in)
{
    static const uint32_t orders[3][3] = {{1, 2, 0}, {2, 0, 1}, {0, 2, 1}};
    const struct cnnvp_graph_tensor from = shape_of(in);
    const uint32_t sizes[3] = {from.channels, from.height, from.width};
    const uint32_t *order = orders[draw(0, 2)];
    struct cnnvp_graph_layer *layer =
        layer_of(CNNVP_OP_ACTIVATION, in, sizes[order[0]], sizes[order[1]], sizes[order[2]]);
    layer->permuted = 1;
    memcpy(layer->from, order, sizeof layer->from);
}

/* With the means of its rows, columns, or maps. */
static void add_sum(int32_t in)
{
    const struct cnnvp_graph_tensor from = shape_of(in);
    const int rows = (int)draw(0, 1), columns = (int)draw(0, 1);
    struct cnnvp_graph_layer *mean =
        layer_of(CNNVP_OP_POOL, in, from.channels, rows ? 1 : from.height, columns ? 1 : from.width);
    mean->ky = rows ? from.height : 1, mean->kx = columns ? from.width : 1;
    mean->pool = CNNVP_POOL_AVERAGE;
    const int32_t second = mean->out;
    struct cnnvp_graph_layer *sum = layer_of(CNNVP_OP_ADD, in, from.channels, from.height, from.width);
    sum->in2 = second;
    bend(sum);
}

static void add_line(int32_t in, int softmax)
{
    const struct cnnvp_graph_tensor from = shape_of(in);
    if (from.channels < 2 || from.height < 2 || from.width < 2)
        return;
    struct cnnvp_graph_layer *layer =
        layer_of(softmax ? CNNVP_OP_SOFTMAX : CNNVP_OP_NORM, in, from.channels, from.height, from.width);
    layer->axis = (enum cnnvp_layer_axis)draw(0, 2);
    layer->norm = CNNVP_NORM_DATA;
    layer->epsilon = 0.1f;
    layer->weights = numbers(from.channels, 1);
    layer->bias = numbers(from.channels, 1);
    bend(layer);
}

static void add_dense(int32_t in)
{
    const uint32_t results = draw(1, 4);
    struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_FC, in, results, 1, 1);
    const size_t words = cnnvp_graph_words(&graph.tensors[in]);
    layer->weights = numbers(results * words, words);
}

/* Reads the last tensor, some of its channels, or one before. */
static void add_layer(void)
{
    const int32_t last = graph.layer_count != 0 ? graph.layers[graph.layer_count - 1].out : 0;
    int32_t in =
        draw(0, 4) == 0 && graph.layer_count != 0 ? graph.layers[draw(0, (uint32_t)graph.layer_count - 1)].in : last;
    const uint32_t channels = shape_of(in).channels;
    if (draw(0, 4) == 0 && graph.tensors[in].base == CNNVP_GRAPH_NONE) {
        const uint32_t first = draw(0, channels - 1);
        in = cnnvp_graph_channel_view(&graph, in, first, draw(1, channels - first));
        assert_true(in != CNNVP_GRAPH_NONE);
    }
    const uint32_t kind = draw(0, 13);
    if (kind < 7)
        add_window(in, kind > 3);
    else if (kind < 9)
        add_moved(in, kind == 8);
    else if (kind == 9)
        add_permuted(in);
    else if (kind == 10)
        add_sum(in);
    else if (kind < 13)
        add_line(in, kind == 11);
    else
        add_dense(in);
}

/* ---- by trial ---- */

/* Which word of which tensor is another number; before which layer. */
struct change {
    struct cnnvp_floatref *run;
    int32_t tensor;
    size_t word, layer;
    float by;
};

static void change_it(void *context, size_t layer)
{
    const struct change *change = context;
    if (layer == change->layer)
        change->run->data[change->tensor][change->word] += change->by;
}

static size_t maker_of(int32_t tensor)
{
    size_t i = 0;
    while (i < graph.layer_count && graph.layers[i].out != tensor)
        ++i;
    return i;
}

/* What one change leaves as it was by chance another does not. */
static int counts(struct change *change, const float *input, const float *expected)
{
    static const float by[] = {0.75f, -3, 11};
    const int32_t output = graph.outputs[0].tensor;
    const size_t bytes = cnnvp_graph_words(&graph.tensors[output]) * sizeof *expected;
    float *word = &change->run->data[change->tensor][change->word];
    int other = 0;
    for (size_t i = 0; i < sizeof by / sizeof by[0] && !other; ++i) {
        const float before = *word; /* beside a part that is placed it is written once alone */
        change->by = by[i];
        cnnvp_floatref_images(change->run, 1, input);
        other = memcmp(expected, change->run->data[output], bytes) != 0;
        *word = before;
    }
    return other;
}

/* Words of the tensor that the output depends on. */
static uint64_t words_that_count(struct cnnvp_floatref *run, int32_t tensor, const float *input)
{
    const int32_t output = graph.outputs[0].tensor;
    const size_t results = cnnvp_graph_words(&graph.tensors[output]), maker = maker_of(tensor);
    static struct change change; /* the run keeps its address */
    change = (struct change){run, tensor, 0, SIZE_MAX, 0};
    float *expected = malloc(results * sizeof *expected);
    uint64_t count = 0;
    run->begins = change_it;
    run->context = &change;
    cnnvp_floatref_images(run, 1, input);
    memcpy(expected, run->data[output], results * sizeof *expected);
    change.layer = maker < graph.layer_count ? maker + 1 : 0;
    for (; change.word < cnnvp_graph_words(&graph.tensors[tensor]); ++change.word)
        count += (uint64_t)counts(&change, input, expected);
    free(expected);
    return count;
}

static void needs_are_what_a_change_shows(void **state)
{
    (void)state;
    size_t partly = 0;
    state_of_random = 17;
    for (size_t n = 0; n < NETWORKS; ++n) {
        struct cnnvp_network_needs needs;
        struct cnnvp_floatref run;
        struct cnnvp_error error;
        graph = (struct cnnvp_graph){.file = "random"};
        graph.input = cnnvp_graph_tensor_add(&graph, "x", 4, draw(1, 3), draw(2, SIDE), draw(2, SIDE));
        for (size_t i = draw(1, LAYERS); i > 0 || graph.layer_count == 0; i -= i > 0)
            add_layer();
        struct cnnvp_graph_output output = {"y", graph.layers[graph.layer_count - 1].out};
        graph.outputs = &output;
        graph.output_count = 1;
        const float *input = numbers(cnnvp_graph_words(&graph.tensors[graph.input]), 1);
        assert_int_equal(cnnvp_network_needs_find(&graph, &graph.arena, &needs, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &run, &error), CNNVP_DONE);
        for (int32_t t = 0; t < (int32_t)graph.tensor_count; ++t) {
            if (graph.tensors[t].base != CNNVP_GRAPH_NONE || t == output.tensor)
                continue;
            const uint64_t count = words_that_count(&run, t, input);
            partly += count != 0 && count < cnnvp_graph_words(&graph.tensors[t]);
            if (needs.read[t] != count)
                for (size_t q = 0; q < graph.layer_count; ++q) {
                    struct cnnvp_graph_layer *l = &graph.layers[q];
                    printf("op %d in %d (%u %u %u) out %d (%u %u %u) k %u %u s %u %u d %u %u pad %u %u g %u axis %d\n",
                           l->op, l->in, shape_of(l->in).channels, shape_of(l->in).height, shape_of(l->in).width,
                           l->out, shape_of(l->out).channels, shape_of(l->out).height, shape_of(l->out).width, l->ky,
                           l->kx, l->sy, l->sx, l->dy, l->dx, l->pad_top, l->pad_left, l->groups, l->axis);
                }
            if (needs.read[t] != count)
                fail_msg("network %zu: %llu words of tensor %d count, not %llu", n, (unsigned long long)count, (int)t,
                         (unsigned long long)needs.read[t]);
            const size_t maker = maker_of(t);
            if (maker < graph.layer_count && graph.layers[maker].placed == 0)
                assert_int_equal(needs.layers[maker].made, count);
        }
        cnnvp_floatref_clear(&run);
        cnnvp_graph_clear(&graph);
    }
    assert_true(partly > NETWORKS / 4);
}

/* 1x1, then a mean of 2x2 of 5 x 7: the last row and column count nowhere. */
static void products_are_those_that_count(void **state)
{
    (void)state;
    struct cnnvp_network_needs needs;
    struct cnnvp_error error;
    graph = (struct cnnvp_graph){.file = "drops"};
    graph.input = cnnvp_graph_tensor_add(&graph, "x", 4, 3, 5, 7);
    struct cnnvp_graph_layer *conv = layer_of(CNNVP_OP_CONV, graph.input, 8, 5, 7);
    struct cnnvp_graph_layer *pool = layer_of(CNNVP_OP_POOL, conv->out, 8, 2, 3);
    pool->kx = pool->ky = pool->sx = pool->sy = 2;
    struct cnnvp_graph_output output = {"y", pool->out};
    graph.outputs = &output;
    graph.output_count = 1;
    assert_int_equal(cnnvp_network_needs_find(&graph, &graph.arena, &needs, &error), CNNVP_DONE);
    assert_int_equal(needs.read[graph.input], 3 * 4 * 6);
    assert_int_equal(needs.layers[0].in, 3 * 4 * 6);
    assert_int_equal(needs.layers[0].made, 8 * 4 * 6);
    assert_int_equal((long long)needs.layers[0].products, 3 * 8 * 4 * 6);
    assert_int_equal(needs.layers[1].in, 8 * 4 * 6);
    assert_int_equal(needs.layers[1].made, 8 * 2 * 3);
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_are_what_a_change_shows),
        cmocka_unit_test(products_are_those_that_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
