/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the float pass: each variant of its inner loops gives exactly the numbers that plain loops in the
 * documented order give. */
#include "test.h"

#include "float_conv.h"
#include "numbers.h"
#include "onnx_builder.h"

static uint32_t between(struct builder *random, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(builder_next(random) % (high - low + 1u));
}

static float number(struct builder *random)
{
    return (float)(int32_t)(uint32_t)builder_next(random) * 0x1p-31f;
}

static float *numbers(struct builder *random, size_t count)
{
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; ++i)
        values[i] = number(random);
    return values;
}

struct conv_case {
    struct cnnvp_graph_tensor tensors[2];
    struct cnnvp_graph_layer layer;
    struct cnnvp_graph graph;
    float *x;
    size_t results;
};

static void conv_case_init(struct conv_case *c, struct builder *random)
{
    struct cnnvp_graph_layer layer = {
        .op = CNNVP_OP_CONV,
        .in = 0,
        .in2 = CNNVP_GRAPH_NONE,
        .out = 1,
        .kx = between(random, 1, 5),
        .ky = between(random, 1, 5),
        .sx = between(random, 1, 3),
        .sy = between(random, 1, 3),
        .dx = between(random, 1, 2),
        .dy = between(random, 1, 2),
        .pad_top = between(random, 0, 3),
        .pad_left = between(random, 0, 3),
        .groups = between(random, 1, 3),
        .has_bias = between(random, 0, 1),
    };
    const uint32_t inputs = between(random, 1, 5);
    const uint32_t outputs = between(random, 1, 19);
    const uint32_t height = between(random, 1, 12);
    const uint32_t width = between(random, 1, 40);
    /* What the input reaches with padding on both sides decides how much of it there is. */
    const uint32_t rows = (height - 1) * layer.sy + (layer.ky - 1) * layer.dy + 1;
    const uint32_t columns = (width - 1) * layer.sx + (layer.kx - 1) * layer.dx + 1;
    const uint32_t in_height = rows > layer.pad_top + 1 ? between(random, 1, rows - layer.pad_top) : 1;
    const uint32_t in_width = columns > layer.pad_left + 1 ? between(random, 1, columns - layer.pad_left) : 1;
    c->tensors[0] = (struct cnnvp_graph_tensor){
        .rank = 4, .channels = inputs * layer.groups, .height = in_height, .width = in_width, .base = CNNVP_GRAPH_NONE};
    c->tensors[1] = (struct cnnvp_graph_tensor){
        .rank = 4, .channels = outputs * layer.groups, .height = height, .width = width, .base = CNNVP_GRAPH_NONE};
    layer.weights = numbers(random, (size_t)outputs * layer.groups * inputs * layer.ky * layer.kx);
    layer.bias = numbers(random, (size_t)outputs * layer.groups);
    c->layer = layer;
    c->graph = (struct cnnvp_graph){.tensors = c->tensors, .tensor_count = 2, .layers = &c->layer, .layer_count = 1};
    c->x = numbers(random, cnnvp_graph_words(&c->tensors[0]) + CNNVP_FLOAT_SLACK);
    c->results = cnnvp_graph_words(&c->tensors[1]);
}

static void conv_case_clear(struct conv_case *c)
{
    free(c->layer.weights);
    free(c->layer.bias);
    free(c->x);
}

/* Every product and every sum rounded by itself. */
static float plain_result(const struct conv_case *c, uint32_t o, uint32_t row, uint32_t column)
{
    const struct cnnvp_graph_layer *layer = &c->layer;
    const struct cnnvp_graph_tensor *in = &c->tensors[0];
    const uint32_t inputs = in->channels / layer->groups;
    const uint32_t group = o / (c->tensors[1].channels / layer->groups);
    const float *weight = layer->weights + (size_t)o * inputs * layer->ky * layer->kx;
    volatile float sum = layer->has_bias ? layer->bias[o] : 0.0f;
    for (uint32_t i = group * inputs; i < (group + 1) * inputs; ++i)
        for (uint32_t ky = 0; ky < layer->ky; ++ky)
            for (uint32_t kx = 0; kx < layer->kx; ++kx) {
                const int64_t y = (int64_t)row * layer->sy + ky * layer->dy - layer->pad_top;
                const int64_t x = (int64_t)column * layer->sx + kx * layer->dx - layer->pad_left;
                const int inside = y >= 0 && y < in->height && x >= 0 && x < in->width;
                const size_t at = inside ? ((size_t)i * in->height + (size_t)y) * in->width + (size_t)x : 0;
                const volatile float product = *weight++ * (inside ? c->x[at] : 0.0f);
                sum = sum + product;
            }
    return sum;
}

/* Bit by bit: zeros have signs. */
static int same_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float)) == 0;
}

static void convolutions_keep_the_order(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 31);
    for (unsigned run = 0; run < 300; ++run) {
        struct conv_case c;
        conv_case_init(&c, &random);
        struct cnnvp_float_scratch scratch = {0};
        assert_true(cnnvp_float_scratch_new(&c.graph, &scratch));
        float *y = malloc(c.results * sizeof *y);
        assert_non_null(y);
        const struct cnnvp_float_kernels *kernels;
        for (size_t v = 0; (kernels = cnnvp_float_kernels_variant(v)) != NULL; ++v) {
            memset(y, 0xff, c.results * sizeof *y);
            cnnvp_float_conv(kernels, &c.graph, &c.layer, c.x, y, &scratch);
            size_t at = 0;
            for (uint32_t o = 0; o < c.tensors[1].channels; ++o)
                for (uint32_t row = 0; row < c.tensors[1].height; ++row)
                    for (uint32_t column = 0; column < c.tensors[1].width; ++column, ++at) {
                        const float wanted = plain_result(&c, o, row, column);
                        if (!same_bits(&y[at], &wanted))
                            fail_msg("%s, run %u, result %zu: %a, not %a", kernels->name, run, at, (double)y[at],
                                     (double)wanted);
                    }
        }
        free(y);
        cnnvp_float_scratch_free(&scratch);
        conv_case_clear(&c);
    }
    builder_free(&random);
}

/* Blocks of a map are convolved with the working memory of its graph, and may need more of it than the whole map. */
static void blocks_have_room(void **state)
{
    (void)state;
    enum { INPUTS = 64, OUTPUTS = 8, SIDE = 4, TAPS = 9 };
    struct builder random;
    struct conv_case c = {
        .tensors = {{.rank = 4, .channels = INPUTS, .height = 2 * SIDE, .width = 2 * SIDE},
                    {.rank = 4, .channels = OUTPUTS, .height = 2 * SIDE, .width = 2 * SIDE}},
        .layer = {.op = CNNVP_OP_CONV,
                  .in = 0,
                  .in2 = CNNVP_GRAPH_NONE,
                  .out = 1,
                  .kx = 3,
                  .ky = 3,
                  .sx = 1,
                  .sy = 1,
                  .dx = 1,
                  .dy = 1,
                  .pad_top = 1,
                  .pad_left = 1,
                  .groups = 1,
                  .block_height = SIDE,
                  .block_width = SIDE}};
    struct cnnvp_float_scratch scratch;
    float y[OUTPUTS * SIDE * SIDE];
    builder_init(&random, 7);
    c.layer.weights = numbers(&random, OUTPUTS * INPUTS * TAPS);
    c.x = numbers(&random, INPUTS * SIDE * SIDE + CNNVP_FLOAT_SLACK);
    c.graph = (struct cnnvp_graph){.tensors = c.tensors, .tensor_count = 2, .layers = &c.layer, .layer_count = 1};
    assert_true(cnnvp_float_scratch_new(&c.graph, &scratch));
    for (uint32_t i = 0; i < 2; ++i)
        c.tensors[i].height = c.tensors[i].width = SIDE;
    cnnvp_float_conv(cnnvp_float_kernels(), &c.graph, &c.layer, c.x, y, &scratch);
    for (uint32_t o = 0; o < OUTPUTS; ++o)
        for (uint32_t i = 0; i < SIDE * SIDE; ++i)
            assert_true(y[o * SIDE * SIDE + i] == plain_result(&c, o, i / SIDE, i % SIDE));
    cnnvp_float_scratch_free(&scratch);
    conv_case_clear(&c);
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_keep_the_order),
        cmocka_unit_test(blocks_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
