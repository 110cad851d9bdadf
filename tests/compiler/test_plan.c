/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of random layers for random buffers and arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan_cases.h"
#include "plan_cost.h"

static int multiple_or_whole(uint32_t tile, uint32_t total, uint32_t multiple)
{
    return tile <= total && tile > 0 && (tile == total || tile % multiple == 0);
}

/* Channel pairs are side by side: slices of them are multiples of the engine's,
 * so that they cost no cycles. */
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
    /* The direction on the array is a multiple of its PEs, so that slices cost no
     * cycles. */
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

/* All weights and biases exactly once; no blob larger than what was planned
 * for. */
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
        struct cnnvp_image_layer layer = cases_layer(&random);
        const struct cnnvp_plan_limits limits = cases_limits(&random);
        struct cnnvp_error error = {""};
        if (cases_plan(&layer, "L", &limits, &error) != CNNVP_DONE) {
            assert_non_null(strstr(error.text, "layer \"L\": its smallest tile needs "));
            continue;
        }
        ++planned;
        cases_check_fits(&layer, &limits);
        check_edges(&layer, &limits);
        check_blobs(&layer, &limits.engine);
    }
    /* What is refused has one tile that is too large: norms of many channels,
     * windows over wide maps. */
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
    struct cnnvp_plan_limits limits = {10 * 10 * 2, 9 * 2, 8 * 8 * 8,          2,
                                       2,           2,     cases_nfu(8, 8, 0), cnnvp_plan_timing_of(NULL)};
    struct cnnvp_error error = {""};
    assert_int_equal(cases_plan(&layer, "L", &limits, &error), CNNVP_DONE);
    assert_int_equal(layer.tile_h * layer.tile_w, 64);
    --limits.weight_bytes;
    assert_int_equal(cases_plan(&layer, "L", &limits, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "layer \"L\": its smallest tile needs 18 bytes of "
                                    "weight_buffer, one half of which "
                                    "holds 17; make it larger with -s weight_buffer.size=");
    ++limits.weight_bytes;
    --limits.output_bytes;
    assert_int_equal(cases_plan(&layer, "L", &limits, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "512 bytes of output_buffer"));

    struct cnnvp_image_layer dense = {.op = CNNVP_OP_FC, .kx = 1, .ky = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    dense.in = (struct cnnvp_image_tensor){.channels = 4096, .height = 1, .width = 1};
    dense.out = (struct cnnvp_image_tensor){.channels = 1000, .height = 1, .width = 1};
    limits = (struct cnnvp_plan_limits){2, 128, 512, 2, 2, 2, cases_nfu(8, 8, 0), cnnvp_plan_timing_of(NULL)};
    assert_int_equal(cases_plan(&dense, "L", &limits, &error), CNNVP_DONE);
    assert_true(dense.tile_out % 64 == 0 && dense.tile_in == 1);
    limits.engine = cases_nfu(8, 8, 1);
    limits.input_bytes = 128;
    assert_int_equal(cases_plan(&dense, "L", &limits, &error), CNNVP_DONE);
    assert_true(dense.tile_in % 64 == 0 && dense.tile_out == 1);
}

static struct cnnvp_image_layer random_pool(struct builder *random)
{
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_POOL, .pool = cases_between(random, 0, 1)};
    layer.kx = cases_between(random, 1, 14);
    layer.ky = cases_between(random, 1, 14);
    layer.sx = cases_between(random, 1, 4);
    layer.sy = cases_between(random, 1, 4);
    layer.dx = cases_between(random, 1, 3);
    layer.dy = cases_between(random, 1, 3);
    layer.out = (struct cnnvp_image_tensor){.channels = cases_between(random, 1, 20),
                                            .height = cases_between(random, 1, 20),
                                            .width = cases_between(random, 1, 20)};
    layer.in = layer.out;
    layer.in.width = (layer.out.width - 1) * layer.sx + (layer.kx - 1) * layer.dx + 1;
    layer.in.height = (layer.out.height - 1) * layer.sy + (layer.ky - 1) * layer.dy + 1;
    return layer;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Kernel pieces that an array takes for a window's side, cut into parts of
 * `part`. */
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

/* Windows that do not fit whole are swept in parts, which take as many kernel
 * pieces, and so cycles, as the whole ones. What is refused has one piece that
 * does not fit. */
static void parts_of_windows_cost_no_cycles(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 41);
    unsigned swept = 0;
    unsigned refused = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        struct cnnvp_image_layer layer = random_pool(&random);
        struct cnnvp_plan_limits limits = cases_limits(&random);
        const uint32_t piece = limits.engine.kind == &cnnvp_engine_window || i % 2u == 0 ? 3u : 1u;
        if (limits.engine.kind == &cnnvp_engine_nfu)
            limits.engine.number[4] = piece == 3u ? 3u : 0; /* pe_array.kernel_piece */
        limits.input_bytes = cases_between(&random, 20, 2000);
        struct cnnvp_error error = {""};
        if (cases_plan(&layer, "L", &limits, &error) != CNNVP_DONE) {
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

/* Dimensions that change places: what is read is the input's box, in its own rows; one instruction copies planes or
 * rows that lie alike, else one a channel. */
static void turned_boxes(void **state)
{
    static const struct {
        uint32_t from[3];
        uint64_t instructions;
    } turns[] = {{{0, 1, 2}, 1}, {{1, 2, 0}, 1}, {{2, 0, 1}, 1}, {{0, 2, 1}, 6}, {{1, 0, 2}, 6}, {{2, 1, 0}, 6}};
    const uint32_t sizes[3] = {24, 50, 36};      /* of the result */
    const struct cnnvp_plan_extent tile = {6, 10, 36}; /* of it */
    const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    (void)state;
    for (size_t t = 0; t < sizeof turns / sizeof turns[0]; ++t) {
        uint32_t in[3], box[3];
        const uint32_t parts[3] = {tile.channels, tile.rows, tile.columns};
        for (size_t i = 0; i < 3; ++i) {
            in[turns[t].from[i]] = sizes[i];
            box[turns[t].from[i]] = parts[i];
        }
        const struct cnnvp_image_tensor from = {.channels = in[0], .height = in[1], .width = in[2],
                                                .row_stride = in[2], .channel_stride = in[1] * in[2]};
        struct cnnvp_image_layer turned = {
            .op = CNNVP_OP_ACTIVATION, .in = from, .permuted = 1, .group_out = tile.channels, .tile_h = tile.rows,
            .tile_w = tile.columns, .out = {.channels = sizes[0], .height = sizes[1], .width = sizes[2]}};
        memcpy(turned.from, turns[t].from, sizeof turned.from);
        const struct cnnvp_image_layer plain = {.op = CNNVP_OP_ACTIVATION, .in = from, .out = from,
                                                .group_out = box[0], .tile_h = box[1], .tile_w = box[2]};
        const struct cnnvp_plan_extent read = {box[0], box[1], box[2]};
        assert_int_equal(cnnvp_plan_operand_ps(&turned, &timing, &from, &tile, tile.channels),
                         cnnvp_plan_operand_ps(&plain, &timing, &from, &read, read.channels));
        const struct cnnvp_plan_sweeps sweeps = cnnvp_plan_main_sweeps(&turned, &timing, &tile);
        assert_int_equal(sweeps.instructions, turns[t].instructions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layers_fit),
        cmocka_unit_test(the_smallest_tile_suffices),
        cmocka_unit_test(parts_of_windows_cost_no_cycles),
        cmocka_unit_test(turned_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
