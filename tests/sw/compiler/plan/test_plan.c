/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of random layers for random buffers and arrays. */

#include "test.h"

#include "binary/layer_command.h"
#include "plan_cases.h"

static int multiple_or_whole(uint32_t tile, uint32_t total, uint32_t multiple)
{
    return tile <= total && tile > 0 && (tile == total || tile % multiple == 0);
}

/* A quarter of an array's side, but not of less than 8. */
static uint32_t least_edge(uint32_t side)
{
    return side <= 8 ? side : side >= 64 ? side / 8 : 8;
}

/* Half as high as the smallest tile, of an array with more rows than 8, and at least as wide as gives as many PEs. */
static int is_low(const struct cnnvp_layer *layer, const struct cnnvp_tiling *tiling)
{
    const uint32_t edge = least_edge(tiling->rows);
    return tiling->rows > 8 && layer->tile_h == edge / 2 &&
           (layer->tile_w == layer->out.width || layer->tile_w >= 2 * least_edge(tiling->cols));
}

static void check_edges(const struct cnnvp_layer *layer, const struct cnnvp_tiling *tiling)
{
    assert_true(is_low(layer, tiling) || multiple_or_whole(layer->tile_h, layer->out.height, least_edge(tiling->rows)));
    assert_true(multiple_or_whole(layer->tile_w, layer->out.width, least_edge(tiling->cols)));
    if (cnnvp_plan_is_channelwise(layer)) {
        assert_true(multiple_or_whole(layer->group_out, layer->out.channels, (tiling->out + 1) / 2));
        assert_true(layer->tile_in == layer->group_out && layer->tile_out == layer->group_out);
        return;
    }
    assert_true(multiple_or_whole(layer->group_out, layer->out.channels, tiling->out));
    assert_true(multiple_or_whole(layer->tile_in, cnnvp_layer_inputs(layer), tiling->in));
    assert_true(multiple_or_whole(layer->tile_out, layer->group_out, tiling->out));
}

/* The smallest tile with whole edges fits. */
static int whole_edges_fit(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits,
                           const struct cnnvp_tiling *tiling)
{
    struct cnnvp_layer smallest = *layer;
    smallest.tile_ky = smallest.tile_kx = 0;
    smallest.tile_h = cnnvp_minimum32(tiling->rows, layer->out.height);
    smallest.tile_w = cnnvp_minimum32(tiling->cols, layer->out.width);
    smallest.group_out = smallest.tile_out = cnnvp_minimum32(tiling->out, layer->out.channels);
    smallest.tile_in =
        cnnvp_plan_is_channelwise(layer) ? smallest.group_out : cnnvp_minimum32(tiling->in, cnnvp_layer_inputs(layer));
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(&smallest, tiling->result_bytes);
    return use.input_bytes <= limits->input_bytes && use.weight_bytes <= limits->weight_bytes &&
           use.output_bytes <= limits->output_bytes;
}

/* All weights and biases exactly once; no weight tile larger than what was planned
 * for. */
static void check_weight_tiles(const struct cnnvp_layer *layer)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < cnnvp_plan_weight_tile_count(layer); ++i) {
        const uint64_t bytes = cnnvp_plan_weight_tile_bytes(layer, i);
        assert_true(bytes <= cnnvp_plan_use_of(layer, 2).weight_bytes);
        words += bytes / 2;
    }
    if (!cnnvp_plan_has_weights(layer))
        return;
    const uint64_t depth = layer->depthwise ? 1 : cnnvp_layer_inputs(layer);
    uint64_t expected = layer->out.channels * (depth * layer->kx * layer->ky + layer->bias);
    if (layer->post_count == 0)
        assert_int_equal(words, expected);
    else
        assert_true(words > expected && (words - expected) % 516 == 0);
}

/* The map lies in memory in blocks of up to eight channels. */
static void lay_in_blocks(struct cnnvp_tensor *tensor)
{
    tensor->column_stride = 8;
    while (tensor->channels % tensor->column_stride != 0)
        --tensor->column_stride;
}

/* Whole blocks are moved. */
static void check_blocks(const struct cnnvp_layer *layer)
{
    const uint32_t in = layer->in.column_stride, out = layer->out.column_stride;
    assert_true(multiple_or_whole(layer->group_out, layer->out.channels, out));
    assert_true(multiple_or_whole(layer->tile_in, cnnvp_layer_inputs(layer), in));
    assert_true(layer->op != CNNVP_OP_ADD ||
                multiple_or_whole(layer->group_out, layer->out.channels, layer->in2.column_stride));
}

static void random_layers_fit(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    unsigned planned = 0, whole = 0;
    for (unsigned i = 0; i < 100; ++i) {
        const struct fake_config config = cases_config(&random);
        struct cnnvp_target target = cases_target(&config);
        for (unsigned n = 0; n < 10; ++n) {
            struct cnnvp_layer layer = cases_layer(&random);
            struct cnnvp_error error = {""};
            if (n == 0 && layer.op != CNNVP_OP_FC) {
                lay_in_blocks(&layer.in);
                lay_in_blocks(i % 2 == 0 || layer.op != CNNVP_OP_ADD ? &layer.out : &layer.in2);
            }
            if (cases_plan(&layer, "L", &target.limits, &error) != CNNVP_DONE) {
                assert_string_equal(error.text, ""); /* it does not fit */
                continue;
            }
            ++planned;
            const struct cnnvp_tiling tiling = cases_tiling(&layer, &target.limits);
            cases_check_fits(&layer, &target.limits);
            check_weight_tiles(&layer);
            check_blocks(&layer);
            if (layer.op != CNNVP_OP_SOFTMAX && layer.op != CNNVP_OP_NORM &&
                whole_edges_fit(&layer, &target.limits, &tiling)) {
                check_edges(&layer, &tiling);
                ++whole;
            }
        }
        cnnvp_target_clear(&target);
    }
    /* What is refused has one tile that is too large: norms of many channels, windows over wide maps. */
    assert_true(planned > 950);
    assert_true(whole > 500);
    builder_free(&random);
}

static struct cnnvp_layer random_pool(struct builder *random)
{
    struct cnnvp_layer layer = {.op = CNNVP_OP_POOL, .pool = cases_between(random, 0, 1)};
    layer.kx = cases_between(random, 1, 14);
    layer.ky = cases_between(random, 1, 14);
    layer.sx = cases_between(random, 1, 4);
    layer.sy = cases_between(random, 1, 4);
    layer.dx = cases_between(random, 1, 3);
    layer.dy = cases_between(random, 1, 3);
    layer.out = (struct cnnvp_tensor){
        .column_stride = 1,
        .word_shift = 1,
        .channels = cases_between(random, 1, 20),
        .height = cases_between(random, 1, 20),
        .width = cases_between(random, 1, 20)};
    layer.in = layer.out;
    layer.in.width = (layer.out.width - 1) * layer.sx + (layer.kx - 1) * layer.dx + 1;
    layer.in.height = (layer.out.height - 1) * layer.sy + (layer.ky - 1) * layer.dy + 1;
    return layer;
}

/* Kernel pieces that an array takes for a window's side, cut into parts of `part`. */
static uint32_t pieces_of(uint32_t side, uint32_t part, uint32_t piece)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < side; at += part)
        count += (cnnvp_minimum32(part, side - at) + piece - 1u) / piece;
    return count;
}

/* Bytes of the input for one result and one kernel piece. */
static uint64_t input_of_a_piece(const struct cnnvp_layer *layer, uint32_t piece)
{
    return UINT64_C(2) * ((cnnvp_minimum32(layer->ky, piece) - 1u) * layer->dy + 1u) *
           ((cnnvp_minimum32(layer->kx, piece) - 1u) * layer->dx + 1u);
}

/* Windows that do not fit whole are swept in parts, which take as many kernel pieces as the whole ones. What the array
 * refuses has one piece that does not fit. */
static void windows_are_swept_in_whole_pieces(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 41);
    unsigned swept = 0;
    unsigned refused = 0;
    for (unsigned i = 0; i < 60; ++i) {
        const struct fake_config config = cases_config(&random);
        struct cnnvp_target target = cases_target(&config);
        for (unsigned n = 0; n < 20; ++n) {
            struct cnnvp_layer layer = random_pool(&random);
            target.limits.input_bytes = cases_between(&random, 4, 1000);
            struct cnnvp_error error = {""};
            if (cases_plan_on(&layer, "L", &target.limits, 1u + CNNVP_UNIT_ARRAY, &error) != CNNVP_DONE) {
                assert_true(input_of_a_piece(&layer, cases_tiling(&layer, &target.limits).side) >
                            target.limits.input_bytes);
                ++refused;
                continue;
            }
            const uint32_t piece = cases_tiling(&layer, &target.limits).side;
            const uint32_t rows = cnnvp_window_rows(&layer);
            const uint32_t columns = cnnvp_window_columns(&layer);
            assert_true(cnnvp_plan_use_of(&layer, 2).input_bytes <= target.limits.input_bytes);
            assert_int_equal(pieces_of(layer.ky, rows, piece), (layer.ky + piece - 1u) / piece);
            assert_int_equal(pieces_of(layer.kx, columns, piece), (layer.kx + piece - 1u) / piece);
            swept += rows < layer.ky || columns < layer.kx;
        }
        cnnvp_target_clear(&target);
    }
    assert_true(swept > 50);
    assert_true(refused > 10);
    builder_free(&random);
}

/* The slices of the loops that network_binary.h describes: each has a weight tile of its own, which holds it, and there
 * are no more. */
static void check_slices(const struct cnnvp_layer *layer)
{
    const uint32_t count = cnnvp_plan_weight_tile_count(layer);
    uint8_t *seen = calloc(count, 1);
    uint32_t found = 0;
    assert_non_null(seen);
    for (uint32_t group = 0; group < layer->out.channels; group += layer->group_out) {
        const uint32_t outputs = cnnvp_minimum32(layer->group_out, layer->out.channels - group);
        const uint32_t inputs = layer->depthwise ? outputs : cnnvp_layer_inputs(layer);
        for (uint32_t in = 0; in < inputs; in += layer->tile_in)
            for (uint32_t out = 0; out < outputs; out += layer->tile_out) {
                const uint32_t index = cnnvp_weight_tile_number(layer, group, in, out) - layer->first_weight_tile;
                assert_true(index < count);
                assert_int_equal(seen[index]++, 0);
                const struct cnnvp_weight_tile_part slice = cnnvp_weight_tile_part(layer, index);
                assert_int_equal(slice.in, in);
                assert_int_equal(slice.inputs, cnnvp_minimum32(layer->tile_in, inputs - in));
                assert_int_equal(slice.out, group + out);
                assert_int_equal(slice.outputs, cnnvp_minimum32(layer->tile_out, outputs - out));
                assert_int_equal(slice.last, in + slice.inputs == inputs);
                ++found;
            }
    }
    assert_int_equal(found, count);
    free(seen);
}

static void every_slice_has_its_weight_tile(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 17);
    for (unsigned i = 0; i < 3000; ++i) {
        struct cnnvp_layer layer = {
            .op = i % 3u == 0 ? CNNVP_OP_FC : CNNVP_OP_CONV, .depthwise = i % 3u == 1u, .first_weight_tile = i};
        layer.in = (struct cnnvp_tensor){
            .column_stride = 1, .word_shift = 1, .channels = cases_between(&random, 1, 40), .height = 2, .width = 3};
        layer.out.channels = layer.depthwise ? layer.in.channels : cases_between(&random, 1, 40);
        layer.group_out = cases_between(&random, 1, layer.out.channels);
        layer.tile_out = layer.depthwise ? layer.group_out : cases_between(&random, 1, layer.group_out);
        layer.tile_in = layer.depthwise ? layer.group_out : cases_between(&random, 1, cnnvp_layer_inputs(&layer));
        check_slices(&layer);
    }
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layers_fit),
        cmocka_unit_test(every_slice_has_its_weight_tile),
        cmocka_unit_test(windows_are_swept_in_whole_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
