/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of random layers for random buffers and arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "image.h"
#include "onnx_builder.h"
#include "plan_time.h"

#define LAYERS 3u /* of a network */

static uint32_t between(struct builder *random, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(builder_next(random) % (high - low + 1u));
}

static void random_window(struct builder *random, struct cnnvp_image_layer *layer)
{
    layer->kx = between(random, 1, 5);
    layer->ky = between(random, 1, 5);
    layer->sx = between(random, 1, 3);
    layer->sy = between(random, 1, 3);
    layer->dx = between(random, 1, 2);
    layer->dy = between(random, 1, 2);
    layer->in.width = (layer->out.width - 1) * layer->sx + (layer->kx - 1) * layer->dx + 1;
    layer->in.height = (layer->out.height - 1) * layer->sy + (layer->ky - 1) * layer->dy + 1;
}

static cnnvp_result plan_alone(struct cnnvp_image_layer *layer, const char *name,
                               const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = NULL;
    cnnvp_result result = cnnvp_plan_new(limits, 1, &plan, error);
    if (result == CNNVP_DONE)
        result = cnnvp_plan_add(plan, layer, name, error);
    if (result == CNNVP_DONE)
        (void)cnnvp_plan_make(plan);
    cnnvp_plan_free(plan);
    return result;
}

static struct cnnvp_image_layer random_layer(struct builder *random)
{
    struct cnnvp_image_layer layer = {.kx = 1, .ky = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.op = between(random, CNNVP_OP_CONV, CNNVP_OP_SOFTMAX);
    layer.out.channels = between(random, 1, between(random, 1, 600));
    layer.out.height = between(random, 1, 70);
    layer.out.width = between(random, 1, 70);
    layer.in = layer.out;
    layer.bias = between(random, 0, 1);
    layer.pool = between(random, 0, 1);
    if (layer.op == CNNVP_OP_CONV || layer.op == CNNVP_OP_POOL)
        random_window(random, &layer);
    if (layer.op == CNNVP_OP_CONV) {
        layer.depthwise = between(random, 0, 3) == 0;
        layer.in.channels = layer.depthwise ? layer.out.channels : between(random, 1, 600);
    }
    if (layer.op == CNNVP_OP_FC) {
        layer.out.height = layer.out.width = layer.in.height = layer.in.width = 1;
        layer.in.channels = between(random, 1, 5000);
    }
    if (between(random, 0, 3) == 0 && layer.op != CNNVP_OP_SOFTMAX) {
        layer.post_count = 1;
        layer.posts[0] = (struct cnnvp_image_post){.kind = CNNVP_POST_TABLE, .table_words = 516};
    }
    if (layer.op == CNNVP_OP_ADD)
        layer.in2 = layer.in;
    return layer;
}

static struct cnnvp_engine nfu(uint32_t rows, uint32_t cols, uint32_t single_neuron)
{
    return (struct cnnvp_engine){&cnnvp_engine_nfu, {rows, cols, single_neuron}};
}

static struct cnnvp_engine window(uint32_t input_para, uint32_t output_para, uint32_t fc_para)
{
    return (struct cnnvp_engine){&cnnvp_engine_window, {input_para, output_para, fc_para}};
}

static struct cnnvp_plan_limits random_limits(struct builder *random)
{
    struct cnnvp_plan_limits limits = {
        .input_bytes = UINT64_C(16384) << between(random, 0, 5),
        .weight_bytes = UINT64_C(16384) << between(random, 0, 5),
        .output_bytes = UINT64_C(16384) << between(random, 0, 5),
        .input_halves = between(random, 1, 2),
        .weight_halves = between(random, 1, 2),
        .timing = cnnvp_plan_timing_of(NULL),
    };
    limits.engine = between(random, 0, 1) != 0
                        ? nfu(between(random, 1, 16), between(random, 1, 16), between(random, 0, 1))
                        : window(between(random, 1, 16), between(random, 1, 16), between(random, 1, 32));
    limits.output_halves = between(random, 1, 2);
    limits.timing.strict = between(random, 0, 1);
    return limits;
}

static int multiple_or_whole(uint32_t tile, uint32_t total, uint32_t multiple)
{
    return tile <= total && tile > 0 && (tile == total || tile % multiple == 0);
}

static void check_fits(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &limits->engine);
    assert_true(use.input_bytes <= limits->input_bytes);
    assert_true(use.weight_bytes <= limits->weight_bytes);
    assert_true(use.output_bytes <= limits->output_bytes);
    /* What the guest brings at least, by network_image.h, not by the planner's own count. */
    const int weighted = layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
    const uint64_t plane = (uint64_t)layer->tile_h * layer->tile_w;
    const uint32_t depth = layer->in.channels * (layer->op == CNNVP_OP_FC ? layer->in.height * layer->in.width : 1);
    const int sliced = weighted && !layer->depthwise && layer->tile_in < depth;
    const int average = layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE;
    assert_true(limits->output_bytes >= layer->group_out * plane * (sliced || average ? 8 : 2));
    const uint64_t rows = (layer->tile_h - 1) * layer->sy + (layer->ky - 1) * layer->dy + 1;
    const uint64_t cols = (layer->tile_w - 1) * layer->sx + (layer->kx - 1) * layer->dx + 1;
    const uint64_t operands = layer->op == CNNVP_OP_ADD ? 2 : 1;
    assert_true(limits->input_bytes >= 2 * operands * layer->tile_in * rows * cols);
}

/* Channel pairs are side by side: slices of them are multiples of the engine's, so that they cost no cycles. */
static void check_window_edges(const struct cnnvp_image_layer *layer, const uint32_t *number)
{
    const uint32_t diagonal = number[0] < number[1] ? number[0] : number[1];
    uint32_t out = 1;
    if (layer->op == CNNVP_OP_CONV && layer->depthwise == 0) {
        assert_true(multiple_or_whole(layer->tile_in, layer->in.channels, number[0]));
        out = number[1];
    } else if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL) {
        out = layer->op == CNNVP_OP_CONV ? diagonal : number[0];
    } else if (layer->op == CNNVP_OP_FC) {
        out = number[2];
    }
    assert_true(multiple_or_whole(layer->group_out, layer->out.channels, out));
    assert_true(multiple_or_whole(layer->tile_out, layer->group_out, out));
}

static void check_edges(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const uint32_t *number = limits->engine.number;
    const int is_nfu = limits->engine.kind == &cnnvp_engine_nfu;
    const uint32_t pes = number[0] * number[1];
    const uint32_t inputs = cnnvp_engine_inputs(layer);
    assert_true(multiple_or_whole(layer->tile_h, layer->out.height, is_nfu ? number[0] : 1));
    assert_true(multiple_or_whole(layer->tile_w, layer->out.width, is_nfu ? number[1] : 1));
    assert_true(multiple_or_whole(layer->group_out, layer->out.channels, 1));
    assert_true(multiple_or_whole(layer->tile_in, inputs, 1));
    assert_true(multiple_or_whole(layer->tile_out, layer->group_out, 1));
    if (!is_nfu)
        check_window_edges(layer, number);
    if (layer->op != CNNVP_OP_FC) {
        if (layer->op != CNNVP_OP_CONV || layer->depthwise)
            assert_true(layer->tile_in == layer->group_out && layer->tile_out == layer->group_out);
        return;
    }
    if (!is_nfu)
        return;
    /* The direction on the array is a multiple of its PEs, so that slices cost no cycles. */
    if (number[2] != 0) {
        assert_true(multiple_or_whole(layer->tile_in, inputs, pes));
    } else {
        assert_true(multiple_or_whole(layer->group_out, layer->out.channels, pes));
        assert_true(multiple_or_whole(layer->tile_out, layer->group_out, pes));
    }
}

struct blobs {
    uint32_t count;
    uint64_t words;
    uint64_t largest;
};

static cnnvp_result count_blob(void *context, uint64_t bytes)
{
    struct blobs *blobs = context;
    ++blobs->count;
    blobs->words += bytes / 2;
    blobs->largest = bytes > blobs->largest ? bytes : blobs->largest;
    return CNNVP_DONE;
}

/* All weights and biases exactly once; no blob larger than what was planned for. */
static void check_blobs(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine)
{
    struct blobs blobs = {0};
    assert_int_equal(cnnvp_image_each_blob(layer, count_blob, &blobs), CNNVP_DONE);
    assert_int_equal(blobs.count, cnnvp_plan_counts_of(layer).blobs);
    assert_true(blobs.largest <= cnnvp_plan_use_of(layer, engine).weight_bytes);
    if (layer->op != CNNVP_OP_CONV && layer->op != CNNVP_OP_FC)
        return;
    const uint64_t depth = layer->depthwise ? 1 : cnnvp_engine_inputs(layer);
    uint64_t expected = layer->out.channels * (depth * layer->kx * layer->ky + layer->bias);
    if (layer->post_count == 0)
        assert_int_equal(blobs.words, expected);
    else
        assert_true(blobs.words > expected && (blobs.words - expected) % 516 == 0);
}

static void random_layers_fit(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    unsigned planned = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        struct cnnvp_image_layer layer = random_layer(&random);
        const struct cnnvp_plan_limits limits = random_limits(&random);
        struct cnnvp_error error = {""};
        if (plan_alone(&layer, "L", &limits, &error) != CNNVP_DONE) {
            assert_non_null(strstr(error.text, "layer \"L\": its smallest tile needs "));
            continue;
        }
        ++planned;
        check_fits(&layer, &limits);
        check_edges(&layer, &limits);
        check_blobs(&layer, &limits.engine);
    }
    /* What is refused has one tile that is too large: norms of many channels, windows over wide maps. */
    assert_true(planned > 2850);
    builder_free(&random);
}

/* Only the smallest tile decides: with room for it, a layer is planned. */
static void the_smallest_tile_suffices(void **state)
{
    (void)state;
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 512, .height = 226, .width = 226};
    layer.out = (struct cnnvp_image_tensor){.channels = 512, .height = 224, .width = 224};
    struct cnnvp_plan_limits limits = {10 * 10 * 2, 9 * 2, 8 * 8 * 8, 2, 2, 2, nfu(8, 8, 0),
                                       cnnvp_plan_timing_of(NULL)};
    struct cnnvp_error error = {""};
    assert_int_equal(plan_alone(&layer, "L", &limits, &error), CNNVP_DONE);
    assert_int_equal(layer.tile_h * layer.tile_w, 64);
    --limits.weight_bytes;
    assert_int_equal(plan_alone(&layer, "L", &limits, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "layer \"L\": its smallest tile needs 18 bytes of weight_buffer, one half of which "
                                    "holds 17; make it larger with -s weight_buffer.size=");
    ++limits.weight_bytes;
    --limits.output_bytes;
    assert_int_equal(plan_alone(&layer, "L", &limits, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "512 bytes of output_buffer"));

    struct cnnvp_image_layer dense = {.op = CNNVP_OP_FC, .kx = 1, .ky = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    dense.in = (struct cnnvp_image_tensor){.channels = 4096, .height = 1, .width = 1};
    dense.out = (struct cnnvp_image_tensor){.channels = 1000, .height = 1, .width = 1};
    limits = (struct cnnvp_plan_limits){2, 128, 512, 2, 2, 2, nfu(8, 8, 0), cnnvp_plan_timing_of(NULL)};
    assert_int_equal(plan_alone(&dense, "L", &limits, &error), CNNVP_DONE);
    assert_true(dense.tile_out % 64 == 0 && dense.tile_in == 1);
    limits.engine = nfu(8, 8, 1);
    limits.input_bytes = 128;
    assert_int_equal(plan_alone(&dense, "L", &limits, &error), CNNVP_DONE);
    assert_true(dense.tile_in % 64 == 0 && dense.tile_out == 1);
}

static struct cnnvp_image_layer random_pool(struct builder *random)
{
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_POOL, .pool = between(random, 0, 1)};
    layer.kx = between(random, 1, 14);
    layer.ky = between(random, 1, 14);
    layer.sx = between(random, 1, 4);
    layer.sy = between(random, 1, 4);
    layer.dx = between(random, 1, 3);
    layer.dy = between(random, 1, 3);
    layer.out = (struct cnnvp_image_tensor){.channels = between(random, 1, 20),
                                            .height = between(random, 1, 20),
                                            .width = between(random, 1, 20)};
    layer.in = layer.out;
    layer.in.width = (layer.out.width - 1) * layer.sx + (layer.kx - 1) * layer.dx + 1;
    layer.in.height = (layer.out.height - 1) * layer.sy + (layer.ky - 1) * layer.dy + 1;
    return layer;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Kernel pieces that an array takes for a window's side, cut into parts of `part`. */
static uint32_t pieces_of(uint32_t side, uint32_t part, uint32_t piece)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < side; at += part)
        count += (least(part, side - at) + piece - 1u) / piece;
    return count;
}

/* Bytes of the input for one tile of the array and one kernel piece. */
static uint64_t least_input(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine, uint32_t piece)
{
    const int is_nfu = engine->kind == &cnnvp_engine_nfu;
    const uint32_t rows = least(layer->out.height, is_nfu ? engine->number[0] : 1u);
    const uint32_t cols = least(layer->out.width, is_nfu ? engine->number[1] : 1u);
    const uint32_t channels = least(layer->out.channels, is_nfu ? 1u : engine->number[0]);
    return UINT64_C(2) * channels * ((rows - 1u) * layer->sy + (least(layer->ky, piece) - 1u) * layer->dy + 1u) *
           ((cols - 1u) * layer->sx + (least(layer->kx, piece) - 1u) * layer->dx + 1u);
}

/* Windows that do not fit whole are swept in parts, which take as many kernel pieces, and so cycles, as the whole ones.
 * What is refused has one piece that does not fit. */
static void parts_of_windows_cost_no_cycles(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 41);
    unsigned swept = 0;
    unsigned refused = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        struct cnnvp_image_layer layer = random_pool(&random);
        struct cnnvp_plan_limits limits = random_limits(&random);
        const uint32_t piece = limits.engine.kind == &cnnvp_engine_window || i % 2u == 0 ? 3u : 1u;
        if (limits.engine.kind == &cnnvp_engine_nfu)
            limits.engine.number[4] = piece == 3u ? 3u : 0; /* pe_array.kernel_piece */
        limits.input_bytes = between(&random, 20, 2000);
        struct cnnvp_error error = {""};
        if (plan_alone(&layer, "L", &limits, &error) != CNNVP_DONE) {
            assert_non_null(strstr(error.text, "bytes of input_buffer"));
            assert_true(least_input(&layer, &limits.engine, piece) > limits.input_bytes);
            ++refused;
            continue;
        }
        const uint32_t rows = cnnvp_plan_window_rows(&layer);
        const uint32_t columns = cnnvp_plan_window_columns(&layer);
        assert_true(cnnvp_plan_use_of(&layer, &limits.engine).input_bytes <= limits.input_bytes);
        assert_int_equal(pieces_of(layer.ky, rows, piece), (layer.ky + piece - 1u) / piece);
        assert_int_equal(pieces_of(layer.kx, columns, piece), (layer.kx + piece - 1u) / piece);
        swept += rows < layer.ky || columns < layer.kx;
    }
    assert_true(swept > 300);
    assert_true(refused > 300);
    builder_free(&random);
}

/* Words that cross the memory's port, counted from the guest's loops. */
static uint64_t traffic(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &limits->engine);
    const uint64_t blobs_a_group = (uint64_t)counts.input_slices * counts.output_slices;
    const uint64_t weights =
        blobs_a_group <= limits->weight_halves ? counts.groups : (uint64_t)counts.groups * counts.tiles;
    const uint64_t inputs = counts.tiles == 1 && counts.input_slices <= limits->input_halves ? 1 : counts.groups;
    return weights * blobs_a_group * use.weight_bytes + inputs * counts.tiles * counts.input_slices * use.input_bytes;
}

/* Larger buffers are used: less traffic for a layer that waits for it. */
static void larger_buffers_save_traffic(void **state)
{
    (void)state;
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 256, .height = 58, .width = 58};
    layer.out = (struct cnnvp_image_tensor){.channels = 256, .height = 56, .width = 56};
    uint64_t first = 0;
    uint64_t last = 0;
    for (uint64_t kib = 8; kib <= 1024; kib *= 2) {
        const struct cnnvp_plan_limits limits = {kib * 1024,   kib * 2048, kib * 1024, 2, 2, 2,
                                                 window(8, 8, 16), cnnvp_plan_timing_of(NULL)};
        struct cnnvp_image_layer planned = layer;
        struct cnnvp_error error = {""};
        assert_int_equal(plan_alone(&planned, "L", &limits, &error), CNNVP_DONE);
        last = traffic(&planned, &limits);
        first = first == 0 ? last : first;
    }
    assert_true(last < first / 2);
}

/* Slices that the core sequences for a layer of 32x32 maps on the window engine. */
static uint32_t slices_with(const struct cnnvp_plan_timing *timing)
{
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 64, .height = 34, .width = 34};
    layer.out = (struct cnnvp_image_tensor){.channels = 64, .height = 32, .width = 32};
    const struct cnnvp_plan_limits limits = {65536, 65536, 65536, 2, 2, 2, window(8, 8, 16), *timing};
    struct cnnvp_error error = {""};
    assert_int_equal(plan_alone(&layer, "L", &limits, &error), CNNVP_DONE);
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(&layer);
    return counts.groups * counts.tiles * counts.input_slices * counts.output_slices;
}

/* The estimate is of the platform's own core. */
static void a_slow_core_gets_fewer_slices(void **state)
{
    (void)state;
    struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    const uint32_t slices = slices_with(&timing);
    timing.core *= 10u;
    assert_true(slices_with(&timing) < slices);
}

/* One channel of DDR4-2400: 64 bytes in six clocks of 833 ps from one bank group, in four on the bus, and a tenth more
 * where reads and writes turn it round; 52 clocks to the data of a row of a bank where another one was open. */
static void the_presets_timing_is_the_default(void **state)
{
    (void)state;
    const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    assert_int_equal(timing.burst, 4998);
    assert_int_equal(timing.read, timing.burst);
    assert_int_equal(timing.bus, 3332);
    assert_int_equal(timing.turning, 3332 + 333);
    assert_int_equal(timing.latency, 52 * 833);
    assert_int_equal(timing.ahead, 16);
    assert_int_equal(timing.cycle, 1000);
    assert_int_equal(timing.core, 1000);
    assert_int_equal(timing.lanes, 16);
}

/* What two images of a network take by the estimate, with halves of so many bytes; UINT64_MAX: a layer does not fit. */
static uint64_t ps_with(const struct cnnvp_image_layer layers[LAYERS], struct cnnvp_plan_limits limits,
                        const uint32_t powers[3])
{
    struct cnnvp_image_layer planned[LAYERS];
    struct cnnvp_error error = {""};
    struct cnnvp_plan *plan = NULL;
    uint64_t ps = UINT64_MAX;
    limits.input_bytes = UINT64_C(1) << powers[0];
    limits.weight_bytes = UINT64_C(1) << powers[1];
    limits.output_bytes = UINT64_C(1) << powers[2];
    memcpy(planned, layers, sizeof planned);
    cnnvp_result result = cnnvp_plan_new(&limits, LAYERS, &plan, &error);
    for (size_t i = 0; i < LAYERS && result == CNNVP_DONE; ++i)
        result = cnnvp_plan_add(plan, &planned[i], "L", &error);
    if (result == CNNVP_DONE)
        ps = cnnvp_plan_make(plan);
    cnnvp_plan_free(plan);
    for (size_t i = 0; i < LAYERS && ps != UINT64_MAX; ++i)
        check_fits(&planned[i], &limits);
    return ps;
}

/* Buffers one by one and all together through powers of two, whatever order the element issues in: by the estimate, no
 * size is slower than the smaller ones, but by a trifle where traffic falls for it (plan_choice.c). */
static void larger_buffers_are_never_slower(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 29);
    unsigned faster = 0;
    for (unsigned i = 0; i < 12; ++i) {
        struct cnnvp_image_layer layers[LAYERS];
        for (size_t n = 0; n < LAYERS; ++n)
            layers[n] = random_layer(&random);
        layers[LAYERS - 1u] = layers[0];
        struct cnnvp_plan_limits limits = random_limits(&random);
        limits.timing.lead = between(&random, 0, 1) != 0 ? between(&random, 0, 100000000) : 0;
        for (uint32_t buffer = 0; buffer < 4; ++buffer) {
            uint32_t powers[3] = {between(&random, 12, 16), between(&random, 12, 16), between(&random, 12, 16)};
            uint64_t least = UINT64_MAX;
            for (uint32_t size = 0; size < 6; ++size) {
                for (uint32_t b = 0; b < 3; ++b)
                    powers[b] += buffer == b || buffer == 3 ? 1u : 0;
                const uint64_t ps = ps_with(layers, limits, powers);
                assert_true(least == UINT64_MAX || ps <= least + least / 1024u);
                faster += least != UINT64_MAX && ps < least;
                least = ps < least ? ps : least;
            }
        }
    }
    assert_true(faster > 24);
    builder_free(&random);
}

/* A layer that takes less than what the estimate may be wrong by keeps the tiles that the smallest buffers gave it. */
static void tiny_layers_keep_their_tiles(void **state)
{
    (void)state;
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 16, .height = 18, .width = 18};
    layer.out = (struct cnnvp_image_tensor){.channels = 16, .height = 16, .width = 16};
    struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    timing.cycle = timing.core = timing.burst = timing.read = timing.bus = timing.turning = 1;
    timing.row = timing.reopen = timing.latency = timing.write_latency = timing.port = 1;
    struct cnnvp_image_layer first = layer;
    for (uint64_t kib = 4; kib <= 64; kib *= 2) {
        const struct cnnvp_plan_limits limits = {kib * 1024, kib * 1024, 4096, 2, 2, 2, window(8, 8, 16), timing};
        struct cnnvp_image_layer planned = layer;
        struct cnnvp_error error = {""};
        assert_int_equal(plan_alone(&planned, "L", &limits, &error), CNNVP_DONE);
        const struct cnnvp_plan_time time = cnnvp_plan_time_of(&planned, &limits);
        assert_true(cnnvp_plan_preference(&time) < 360000);
        if (kib == 4)
            first = planned;
        assert_memory_equal(&planned, &first, sizeof first);
        /* A larger output buffer may bring another one of the smallest's ways, but none that is slower. */
        const struct cnnvp_plan_limits all = {kib * 1024, kib * 1024, kib * 1024, 2, 2, 2, window(8, 8, 16), timing};
        planned = layer;
        assert_int_equal(plan_alone(&planned, "L", &all, &error), CNNVP_DONE);
        assert_true(cnnvp_plan_time_of(&planned, &all).ps <= time.ps);
    }
}

/* Sums of all slices one by one. */
static void add_slices(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                       const struct cnnvp_plan_extent *step, struct cnnvp_plan_time *sum)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const uint32_t inputs = layer->depthwise != 0 ? step->channels : cnnvp_engine_inputs(layer);
    sum->core_ps += (cnnvp_plan_step_core(layer, timing) + timing->store_core) * timing->core;
    sum->core_ps += layer->post_count * (uint64_t)timing->post_core * timing->core;
    sum->memory_ps += cnnvp_plan_store_ps(layer, timing, step);
    for (uint32_t in = 0; in < inputs; in += layer->tile_in) {
        const uint32_t depth = in + layer->tile_in < inputs ? layer->tile_in : inputs - in;
        sum->memory_ps += cnnvp_plan_operand_ps(layer, timing, &layer->in, step, depth);
        sum->core_ps += (uint64_t)timing->load_core * timing->core;
        for (uint32_t out = 0; out < step->channels; out += layer->tile_out) {
            const uint32_t outputs = out + layer->tile_out < step->channels ? layer->tile_out : step->channels - out;
            const int last = in + depth == inputs;
            const struct cnnvp_engine_slice slice = {step->rows, step->columns, depth, outputs, in == 0, last};
            sum->compute_ps += limits->engine.kind->slice(&limits->engine, layer, &slice) * timing->cycle;
            sum->memory_ps +=
                cnnvp_plan_weights_ps(timing, cnnvp_plan_slice_bytes(layer, depth, outputs, last));
            sum->core_ps += (uint64_t)(timing->load_core + timing->calculate_core) * timing->core;
        }
    }
}

/* Where no half keeps what the next step needs, the sums are those of all slices. */
static void totals_are_the_sums_of_the_slices(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 37);
    unsigned compared = 0;
    for (unsigned i = 0; i < 600; ++i) {
        struct cnnvp_image_layer layer = random_layer(&random);
        struct cnnvp_plan_limits limits = random_limits(&random);
        struct cnnvp_error error = {""};
        if (!cnnvp_plan_has_weights(&layer) || plan_alone(&layer, "L", &limits, &error) != CNNVP_DONE)
            continue;
        const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(&layer);
        limits.input_halves = limits.weight_halves = 1;
        if (counts.tiles * counts.input_slices == 1 || counts.input_slices * counts.output_slices == 1)
            continue;
        struct cnnvp_plan_time sum = {.core_ps = (uint64_t)limits.timing.layer_core * limits.timing.core};
        for (uint32_t c = 0; c < layer.out.channels; c += layer.group_out)
            for (uint32_t y = 0; y < layer.out.height; y += layer.tile_h)
                for (uint32_t x = 0; x < layer.out.width; x += layer.tile_w) {
                    const struct cnnvp_plan_extent step = {
                        c + layer.group_out < layer.out.channels ? layer.group_out : layer.out.channels - c,
                        y + layer.tile_h < layer.out.height ? layer.tile_h : layer.out.height - y,
                        x + layer.tile_w < layer.out.width ? layer.tile_w : layer.out.width - x};
                    add_slices(&layer, &limits, &step, &sum);
                }
        const struct cnnvp_plan_time totals = cnnvp_plan_totals(&layer, &limits);
        assert_int_equal(totals.compute_ps, sum.compute_ps);
        assert_int_equal(totals.memory_ps, sum.memory_ps);
        assert_int_equal(totals.core_ps, sum.core_ps);
        ++compared;
    }
    assert_true(compared > 50);
    builder_free(&random);
}

/* The replay counts what it says: calculation without gaps where memory is fast, all of it one after the other where
 * strict. */
static void strict_order_adds_up(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 31);
    for (unsigned i = 0; i < 300; ++i) {
        struct cnnvp_image_layer layer = random_layer(&random);
        struct cnnvp_plan_limits limits = random_limits(&random);
        struct cnnvp_error error = {""};
        if (plan_alone(&layer, "L", &limits, &error) != CNNVP_DONE)
            continue;
        limits.timing.strict = 0;
        const struct cnnvp_plan_time overlap = cnnvp_plan_time_of(&layer, &limits);
        limits.timing.strict = 1;
        const struct cnnvp_plan_time strict = cnnvp_plan_time_of(&layer, &limits);
        assert_int_equal(strict.compute_ps, overlap.compute_ps);
        /* Behind nothing that is on its way, rows open later. */
        assert_true(strict.memory_ps >= overlap.memory_ps);
        /* At most as if none of them closed up; refreshes are rounded down. */
        const uint64_t apart = overlap.memory_ps / limits.timing.bus * limits.timing.burst;
        assert_true(strict.memory_ps <= apart + limits.timing.burst + overlap.memory_ps / 512u);
        /* Estimates of what is not replayed may differ by some hundredths. */
        assert_true(overlap.ps <= strict.ps + strict.ps / 16u);
        assert_true(overlap.ps >= overlap.compute_ps);
        /* Reads ahead of the receive, at most. */
        assert_true(strict.ps >= strict.compute_ps + strict.memory_ps / 2u);
    }
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layers_fit),
        cmocka_unit_test(the_smallest_tile_suffices),
        cmocka_unit_test(parts_of_windows_cost_no_cycles),
        cmocka_unit_test(larger_buffers_save_traffic),
        cmocka_unit_test(a_slow_core_gets_fewer_slices),
        cmocka_unit_test(the_presets_timing_is_the_default),
        cmocka_unit_test(larger_buffers_are_never_slower),
        cmocka_unit_test(tiny_layers_keep_their_tiles),
        cmocka_unit_test(totals_are_the_sums_of_the_slices),
        cmocka_unit_test(strict_order_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
