/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tensors lie in memory: frames as wide as the windows that read them reach beyond the map, found tap by tap; no
 * two places of any image on the same bytes; a memory that is too small is named with what would be enough.
 */

#include "test.h"

#include "binary_internal.h"

#include "binary_internal.h"
#include "random.h"

#define TENSORS 5u
#define PLACES 64u

/* Results of a window over `in` lines with this padding before and after. */
static uint32_t results(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation, uint32_t before,
                        uint32_t after)
{
    return (in + before + after - (kernel - 1) * dilation - 1) / stride + 1;
}

/* A chain of TENSORS - 1 convolutions, and where it is asked for a second reader of each map. */
static void draw_graph(uint64_t *random, struct cnnvp_graph *graph)
{
    *graph = (struct cnnvp_graph){.file = "test.onnx"};
    uint32_t height = 12 + below(random, 20), width = 12 + below(random, 20);
    graph->input = cnnvp_graph_tensor_add(graph, "input", 4, 1 + below(random, 4), height, width);
    for (uint32_t i = 1; i < TENSORS; ++i) {
        struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(graph, CNNVP_OP_CONV, "conv", "Conv");
        layer->in = (int32_t)i - 1;
        layer->in2 = CNNVP_GRAPH_NONE;
        layer->ky = 1 + below(random, 3);
        layer->kx = 1 + below(random, 3);
        layer->sy = 1 + below(random, 2);
        layer->sx = 1 + below(random, 2);
        layer->dy = layer->dx = 1 + below(random, 2);
        layer->pad_top = below(random, 3);
        layer->pad_left = below(random, 3);
        const uint32_t bottom = below(random, 3), right = below(random, 3);
        height = results(height, layer->ky, layer->sy, layer->dy, layer->pad_top, bottom);
        width = results(width, layer->kx, layer->sx, layer->dx, layer->pad_left, right);
        if (height < 6 || width < 6)
            height = width = 6; /* of a layer with another map: what it reads is all that counts here */
        const int32_t out = cnnvp_graph_tensor_add(graph, "map", 4, 1 + below(random, 4), height, width);
        graph->layers[i - 1].out = out;
    }
}

/* Lines that the taps touch after the map, and before it. */
static void touched(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int rows, uint32_t *before,
                    uint32_t *after)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in], *out = &graph->tensors[layer->out];
    const int64_t size = rows ? in->height : in->width, count = rows ? out->height : out->width;
    const int64_t kernel = rows ? layer->ky : layer->kx, stride = rows ? layer->sy : layer->sx;
    const int64_t dilation = rows ? layer->dy : layer->dx, pad = rows ? layer->pad_top : layer->pad_left;
    *before = *after = 0;
    for (int64_t result = 0; result < count; ++result)
        for (int64_t tap = 0; tap < kernel; ++tap) {
            const int64_t at = result * stride + tap * dilation - pad;
            if (at < 0 && -at > *before)
                *before = (uint32_t)-at;
            if (at >= size && at - size + 1 > *after)
                *after = (uint32_t)(at - size + 1);
        }
}

static void check_frames(const struct cnnvp_graph *graph, const struct cnnvp_build *build)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const struct cnnvp_tensor *tensor = &build->tensors[layer->in];
        uint32_t before, after;
        touched(graph, layer, 1, &before, &after);
        assert_int_equal(tensor->border_top, layer->pad_top);
        assert_true(tensor->border_top >= before);
        assert_int_equal(tensor->border_bottom, after);
        touched(graph, layer, 0, &before, &after);
        assert_true(tensor->border_left >= before);
        assert_int_equal(tensor->border_right, after);
        assert_int_equal(tensor->row_stride, tensor->border_left + tensor->width + tensor->border_right);
        assert_int_equal(tensor->channel_stride,
                         tensor->row_stride * (tensor->border_top + tensor->height + tensor->border_bottom));
    }
}

struct place {
    uint64_t begin, end;
    size_t tensor;
    uint32_t image;
};

/* Images of one batch are at work at the same time; the input and the outputs stay for all. */
static void check_apart(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint32_t images,
                        uint64_t begin)
{
    struct place places[PLACES];
    size_t count = 0;
    for (size_t t = 0; t < graph->tensor_count; ++t) {
        const struct cnnvp_tensor *tensor = &build->tensors[t];
        const int stays = (int32_t)t == graph->input || cnnvp_graph_is_output(graph, (int32_t)t);
        for (uint32_t image = 0; image < (stays ? images : build->header->batch); ++image) {
            const uint64_t at = cnnvp_binary_image_address(build, tensor, image) - cnnvp_binary_frame_lead(tensor);
            assert_int_equal(at % CNNVP_BINARY_ALIGNMENT, 0);
            assert_true(at >= begin && at + cnnvp_binary_frame_bytes(tensor) <= build->end);
            for (size_t p = 0; p < count; ++p)
                if (at < places[p].end && places[p].begin < at + cnnvp_binary_frame_bytes(tensor))
                    fail_msg("tensor %zu, image %u, lies on tensor %zu, image %u", t, image, places[p].tensor,
                             places[p].image);
            assert_true(count < PLACES);
            places[count++] = (struct place){at, at + cnnvp_binary_frame_bytes(tensor), t, image};
        }
    }
}

static void random_graphs(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 500; ++round) {
        struct cnnvp_graph graph;
        struct cnnvp_tensor tensors[TENSORS];
        struct cnnvp_graph_output output = {"y", TENSORS - 1};
        const struct cnnvp_target target = {.memory_base = 0x80000000u, .memory_size = 64u << 20};
        const uint64_t begin = target.memory_base + 0x1000u;
        struct cnnvp_binary header = {0};
        struct cnnvp_build build = {.header = &header, .tensors = tensors, .end = begin, .shares = {.count = 1}};
        struct cnnvp_error error = {""};
        const uint32_t images = 1 + below(&random, 6);
        build.header->images = images;
        build.header->batch = 1 + below(&random, images);
        draw_graph(&random, &graph);
        graph.outputs = &output;
        graph.output_count = 1;
        cnnvp_binary_shape_tensors(&graph, &build);
        check_frames(&graph, &build);
        assert_int_equal(cnnvp_binary_place_tensors(&graph, &target, images, &build, &error), CNNVP_DONE);
        check_apart(&graph, &build, images, begin);
        graph.outputs = NULL;
        cnnvp_graph_clear(&graph);
    }
}

static void a_memory_that_is_too_small_is_named(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test.onnx"};
    struct cnnvp_tensor tensors[2];
    struct cnnvp_graph_output output = {"y", 1};
    const struct cnnvp_target target = {.memory_base = 0x80000000u, .memory_size = 1u << 20};
    struct cnnvp_binary header = {0};
    struct cnnvp_build build = {
        .header = &header, .tensors = tensors, .end = target.memory_base, .shares = {.count = 1}};
    struct cnnvp_error error = {""};
    build.header->batch = 1;
    graph.input = cnnvp_graph_tensor_add(&graph, "input", 4, 1, 256, 256);
    (void)cnnvp_graph_tensor_add(&graph, "y", 4, 1, 256, 256);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "relu", "Relu");
    layer->in2 = CNNVP_GRAPH_NONE;
    layer->out = 1;
    graph.outputs = &output;
    graph.output_count = 1;
    cnnvp_binary_shape_tensors(&graph, &build);
    assert_int_equal(cnnvp_binary_place_tensors(&graph, &target, 4, &build, &error), CNNVP_DONE); /* exactly full */
    build.end = target.memory_base + 64;
    assert_int_equal(cnnvp_binary_place_tensors(&graph, &target, 4, &build, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "need 1048640 bytes of memory, dram has 1048576; use fewer images or -s "
                                       "dram.size=2MiB"));
    graph.outputs = NULL;
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(a_memory_that_is_too_small_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
