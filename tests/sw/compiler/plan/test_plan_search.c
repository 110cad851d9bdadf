/* SPDX-License-Identifier: Apache-2.0 */
/* Which tilings there are. */

#include "test.h"

#include "plan_cases.h"

/* Only the smallest tile decides: with room for it, a layer is planned. */
static void the_smallest_tile_suffices(void **state)
{
    (void)state;
    struct cnnvp_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_tensor){.column_stride = 1, .word_shift = 1, .channels = 512, .height = 226, .width = 226};
    layer.out =
        (struct cnnvp_tensor){.column_stride = 1, .word_shift = 1, .channels = 512, .height = 224, .width = 224};
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_plan_limits *limits = &target.limits;
    limits->input_bytes = 10 * 10 * 2;
    limits->weight_bytes = 9 * 2;
    limits->output_bytes = 8 * 8 * 8;
    struct cnnvp_error error = {""};
    assert_int_equal(cases_plan(&layer, "L", limits, &error), CNNVP_DONE);
    assert_int_equal(layer.tile_h * layer.tile_w, 64);
    --limits->weight_bytes;
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest = {0};
    assert_int_equal(cnnvp_plan_layer(&layer, "L", limits, &finalists, &smallest, &error), CNNVP_DONE);
    assert_int_equal(finalists.count, 0);
    assert_int_equal(smallest.weight_bytes, 18);
    cnnvp_target_clear(&target);
}

/* Twice as many rows take about twice as long, up to maps that fill the address space. */
static void large_maps_take_their_time(void **state)
{
    (void)state;
    for (int window = 0; window < 2; ++window) {
        struct fake_config config = window ? fake_window() : fake_nfu();
        config.memory_bytes = UINT64_C(2) << 30;
        struct cnnvp_target target = cases_target(&config);
        double last = 0;
        for (uint32_t height = 64; height <= 8192; height *= 2) {
            struct cnnvp_layer layer = {.op = CNNVP_OP_ADD, CNNVP_ONE_TAP};
            struct cnnvp_plan_finalists finalists;
            struct cnnvp_plan_use smallest;
            struct cnnvp_error error = {""};
            layer.in = (struct cnnvp_tensor){
                .column_stride = 1, .word_shift = 1, .channels = 64, .height = height, .width = 1024};
            layer.in2 = layer.out = layer.in;
            assert_int_equal(cnnvp_plan_layer(&layer, "L", &target.limits, &finalists, &smallest, &error), CNNVP_DONE);
            for (size_t i = 0; i < finalists.count; ++i)
                if (finalists.all[i].taken.ps < last * 1.5)
                    fail_msg("%u rows: %.0f ps, half as many %.0f", height, finalists.all[i].taken.ps, last);
            last = finalists.all[0].taken.ps;
        }
        cnnvp_target_clear(&target);
    }
}

/* An instruction says in 16 bits which columns of a pool's input hold data: longer maps are cut. */
static void pools_are_cut_at_65535_columns(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_plan_limits *limits = &target.limits;
    limits->input_bytes = limits->output_bytes = UINT64_C(1) << 22;
    struct cnnvp_layer layer = {.op = CNNVP_OP_POOL, .kx = 3, .ky = 1, .sx = 2, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_tensor){.column_stride = 1, .word_shift = 1, .channels = 1, .height = 1, .width = 80001};
    layer.out = (struct cnnvp_tensor){.column_stride = 1, .word_shift = 1, .channels = 1, .height = 1, .width = 40000};
    struct cnnvp_error error = {""};
    for (int on_chip = 0; on_chip < 2; ++on_chip) {
        layer.in.on_chip = (uint32_t)on_chip;
        assert_int_equal(cnnvp_plan_whole(&layer, "L", limits, &error), CNNVP_DONE);
        assert_int_equal(layer.tile_w, 20000);
        assert_int_equal(cases_plan(&layer, "L", limits, &error), CNNVP_DONE);
        assert_in_range(2u * layer.tile_w + 1u, 3, UINT16_MAX);
    }
    layer.tile_w = 40000;
    assert_int_not_equal(cnnvp_plan_check(&layer, "L", NULL, limits, &error), CNNVP_DONE);
    assert_non_null(strstr(error.text, CNNVP_PLAN_NO_VALID_RANGE));
    layer.dx = 32767;
    layer.kx = 4;
    layer.out.width = 1;
    assert_int_not_equal(cnnvp_plan_whole(&layer, "L", limits, &error), CNNVP_DONE);
    cnnvp_target_clear(&target);
}

/* A row of the border before the first one is as many words to its left. */
static void rows_begin_after_the_border(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    const struct cnnvp_layer layer = {.op = CNNVP_OP_ADD};
    struct cnnvp_cost_query *query = cnnvp_cost_query_new(&layer, "L", &target.limits);
    assert_non_null(query);
    uint64_t ps[2];
    for (uint32_t top = 0; top < 2; ++top) {
        const struct cnnvp_tensor tensor = {
            .word_shift = 1,
            .channels = 64,
            .height = 14,
            .width = 14,
            .border_top = top,
            .border_left = top != 0 ? 1u : 17u,
            .column_stride = 1,
            .row_stride = 16,
            .channel_stride = 256};
        ps[top] = cnnvp_plan_move_box(query, &tensor, 64, 2, 14).ps;
    }
    assert_true(ps[0] > 0 && ps[0] == ps[1]);
    cnnvp_cost_query_free(query);
    cnnvp_target_clear(&target);
}

/* Short pieces that begin anywhere in a burst, as those of other planes do than the first ones; all bytes of a map that
 * lies without gaps. */
static void planes_begin_anywhere(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    const struct cnnvp_layer layer = {.op = CNNVP_OP_ADD};
    struct cnnvp_cost_query *query = cnnvp_cost_query_new(&layer, "L", &target.limits);
    assert_non_null(query);
    /* rows of 14 bytes, which two of them, or 13 with a gap after each, are a piece of */
    const struct cnnvp_tensor tensor = {
        .channels = 1024, .height = 14, .width = 14, .column_stride = 1, .row_stride = 14, .channel_stride = 196};
    const uint32_t boxes[3][2] = {{2, 14}, {13, 13}, {14, 14}};
    for (size_t i = 0; i < 3; ++i) {
        uint64_t bursts = 0;
        for (uint32_t plane = 0; plane < 1024; ++plane) {
            const uint32_t first = plane * 196, last = first + (boxes[i][0] - 1) * 14 + boxes[i][1] - 1;
            bursts += last / 64 - first / 64 + (i != 2 || plane == 0 || first % 64 == 0);
        }
        const struct cnnvp_plan_moved box = cnnvp_plan_move_box(query, &tensor, 1024, boxes[i][0], boxes[i][1]);
        assert_in_range(box.bytes, bursts * 64 * 97 / 100, bursts * 64 * 103 / 100);
        const uint64_t line = cnnvp_plan_move_line(query, box.bytes).ps;
        assert_in_range(box.ps, line * 90 / 100, line * 115 / 100);
    }
    cnnvp_cost_query_free(query);
    cnnvp_target_clear(&target);
}

/* Contiguous words take as long as a line of them, also where two such planes, or not even one, fit into a half of 32
 * KiB. */
static void large_planes_take_their_time(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    const struct cnnvp_layer layer = {.op = CNNVP_OP_ADD};
    struct cnnvp_cost_query *query = cnnvp_cost_query_new(&layer, "L", &target.limits);
    assert_non_null(query);
    const struct cnnvp_tensor tensor = {
        .word_shift = 1,
        .channels = 4,
        .height = 512,
        .width = 128,
        .column_stride = 1,
        .row_stride = 128,
        .channel_stride = 65536};
    for (uint32_t rows = 32; rows <= 512; rows *= 2)
        for (uint32_t channels = 1; channels <= 2; ++channels) {
            const uint64_t ps = cnnvp_plan_move_box(query, &tensor, channels, rows, 128).ps;
            const uint64_t line = cnnvp_plan_move_line(query, channels * rows * 256).ps;
            assert_in_range(ps, line * 90 / 100, line * 110 / 100);
        }
    cnnvp_cost_query_free(query);
    cnnvp_target_clear(&target);
}

/* A convolution of 1x1, planned for an array of this side. */
static struct cnnvp_layer pointwise(uint32_t array, uint32_t inputs, uint32_t outputs, uint32_t rows, uint32_t columns,
                                    uint32_t stride)
{
    struct fake_config config = fake_nfu();
    config.rows = config.cols = array;
    config.wide = 1;
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {.op = CNNVP_OP_CONV, CNNVP_ONE_TAP, .bias = 1};
    struct cnnvp_error error = {""};
    layer.sx = layer.sy = stride;
    layer.in = (struct cnnvp_tensor){
        .column_stride = 1,
        .word_shift = 1,
        .channels = inputs,
        .height = rows * stride,
        .width = columns * stride,
        .row_stride = columns * stride,
        .channel_stride = rows * stride * columns * stride};
    layer.out = layer.in;
    layer.out.channels = outputs;
    layer.out.height = rows;
    layer.out.width = layer.out.row_stride = columns;
    layer.out.channel_stride = rows * columns;
    if (cases_plan(&layer, "L", &target.limits, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_target_clear(&target);
    return layer;
}

/* Buffers that hold work of few PEs of a large array: long rows rather than square tiles, in fewer bursts. */
static void strips_are_low(void **state)
{
    (void)state;
    const struct cnnvp_layer layer = pointwise(32, 256, 64, 56, 56, 1);
    assert_int_equal(layer.tile_h, 4);
    assert_true(layer.tile_w >= 16);
}

/* A transformer's positions, whose channels do not fit at once: as many as there are PEs in a tile, so that the last
 * one is small. */
static void rows_fill_the_array(void **state)
{
    (void)state;
    const struct cnnvp_layer layer = pointwise(8, 3072, 768, 1, 197, 1);
    assert_true(layer.folded == 8 && layer.tile_in < 3072);
    assert_int_equal(layer.tile_w, 64);
}

/* A classifier on the vector unit: weights of its 16 lanes' outputs lie as far apart as a slice has inputs, and the
 * weight buffer gives them at once where that is an odd number of its lines of 4 words. */
static void lanes_read_other_banks(void **state)
{
    (void)state;
    const struct cnnvp_layer layer = pointwise(8, 512, 1000, 1, 1, 1);
    assert_int_equal(layer.unit, CNNVP_UNIT_VECTOR);
    assert_int_equal(layer.tile_in % 8, 4);
}

/* Two instructions of a step would have the memory wait beside the first one: what is loaded for the next step goes
 * beside the last. */
static void loads_go_beside_the_last_slice(void **state)
{
    (void)state;
    const struct cnnvp_layer layer = pointwise(8, 64, 128, 28, 28, 2);
    assert_int_equal(layer.tile_out, layer.group_out);
}

/* Maps of rows that become channels and back: instructions, and passes over them, as the guest software pushes them. */
static void dimensions_that_change_places_take_instructions(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {.op = CNNVP_OP_ACTIVATION, .permuted = 1, .from = {1, 0, 2}, .post_count = 1};
    layer.in = (struct cnnvp_tensor){
        .column_stride = 1,
        .row_stride = 4,
        .channel_stride = 464,
        .word_shift = 1,
        .channels = 2,
        .height = 116,
        .width = 4};
    layer.out = (struct cnnvp_tensor){
        .column_stride = 1,
        .row_stride = 4,
        .channel_stride = 8,
        .word_shift = 1,
        .channels = 116,
        .height = 2,
        .width = 4};
    layer.posts[0].kind = CNNVP_POST_MAX;
    struct cnnvp_cost_query *query = cnnvp_cost_query_new(&layer, "L", &target.limits);
    assert_non_null(query);
    assert_int_equal(cnnvp_plan_vectors_of(query, 116, 2, 4).count, 116);
    assert_int_equal(cnnvp_plan_vectors_of(query, 116, 1, 4).count, 1);
    assert_true(cnnvp_plan_vectors_of(query, 116, 2, 4).ps > 4 * cnnvp_plan_vectors_of(query, 116, 1, 4).ps);
    cnnvp_cost_query_free(query);
    struct cnnvp_error error = {""};
    assert_int_equal(cases_plan(&layer, "L", &target.limits, &error), CNNVP_DONE);
    assert_int_equal(layer.tile_h, 1);
    cnnvp_target_clear(&target);
}

/* The vector unit divides the sums of an average pool, 16 in a beat and 8 more cycles of 1 ns: 2048 of them take 128
 * times 9. It takes no part in a maximum. */
static void averages_are_divided(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {CNNVP_ONE_TAP};
    layer.op = CNNVP_OP_POOL;
    layer.pool_area = layer.sum_bytes = 4;
    for (unsigned average = 0; average < 2; ++average)
        for (layer.by_position = 0; layer.by_position < 2; ++layer.by_position) {
            layer.pool = average ? CNNVP_POOL_AVERAGE : CNNVP_POOL_MAX;
            struct cnnvp_cost_query *query = cnnvp_cost_query_new(&layer, "L", &target.limits);
            assert_non_null(query);
            const struct cnnvp_plan_vectors vectors = cnnvp_plan_vectors_of(query, 8, 16, 16);
            assert_int_equal(vectors.count, average);
            assert_true(average ? vectors.ps >= 1152000 && vectors.ps < 1200000 : vectors.ps == 0);
            cnnvp_cost_query_free(query);
        }
    cnnvp_target_clear(&target);
}

/* A pool in one tile: its sums are divided after the array has added them, and no other tile hides that. */
static void nothing_hides_the_last_tile(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {CNNVP_ONE_TAP};
    struct cnnvp_plan_finalist way;
    struct cnnvp_error error = {""};
    layer.op = CNNVP_OP_POOL;
    layer.pool = CNNVP_POOL_AVERAGE;
    layer.kx = layer.ky = 4;
    layer.pool_area = 16;
    layer.sum_bytes = 4;
    layer.in = layer.out = (struct cnnvp_tensor){
        .column_stride = 1,
        .row_stride = 16,
        .channel_stride = 256,
        .word_shift = 1,
        .channels = 8,
        .height = 16,
        .width = 16};
    layer.in.height = layer.in.width = layer.in.row_stride = 19;
    layer.in.channel_stride = 19 * 19;
    const struct cnnvp_plan_cut cut = {
        .group_out = 8, .tile_h = 16, .tile_w = 16, .tile_in = 8, .tile_out = 8, .tile_images = 1};
    assert_int_equal(cnnvp_plan_again(&layer, "L", &target.limits, cut, &way, &error), CNNVP_DONE);
    assert_true(way.compute > 500000); /* 8 maps, 4 tiles of the array, 16 taps of 1 ns */
    assert_true(way.units > way.compute + way.vector + way.memory / 2);
    cnnvp_target_clear(&target);
}

/* A layer that finds its operand and its weights on chip, and leaves its results there, takes its calculations alone;
 * one whose weights are loaded waits for them first. */
static void weights_that_stay_are_not_waited_for(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {CNNVP_ONE_TAP};
    struct cnnvp_plan_finalist ways[2];
    struct cnnvp_error error = {""};
    layer.op = CNNVP_OP_CONV;
    layer.in = layer.out = (struct cnnvp_tensor){
        .column_stride = 1,
        .row_stride = 16,
        .channel_stride = 256,
        .word_shift = 1,
        .channels = 64,
        .height = 16,
        .width = 16,
        .on_chip = 1};
    const struct cnnvp_plan_cut cut = {
        .group_out = 64, .tile_h = 16, .tile_w = 16, .tile_in = 64, .tile_out = 64, .tile_images = 1};
    for (int stay = 0; stay < 2; ++stay) {
        target.limits.weights_stay = stay;
        assert_int_equal(cnnvp_plan_again(&layer, "L", &target.limits, cut, &ways[stay], &error), CNNVP_DONE);
    }
    assert_int_equal(ways[1].units, ways[1].compute);
    assert_true(ways[0].units > ways[0].compute + 64 * 64 * 2 / 64); /* weights of 2 bytes, at 64 bytes a ps at best */
    cnnvp_target_clear(&target);
}

/* Rows of 32 words that become columns of 32 maps' rows: a tile has whole rows of what it reads, which are bursts, and
 * not whole rows of what it writes, for which it would read words that lie 64 bytes apart. */
static void columns_are_read_in_bursts(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_target target = cases_target(&config);
    struct cnnvp_layer layer = {.op = CNNVP_OP_ACTIVATION, .permuted = 1, .from = {0, 2, 1}, .post_count = 1};
    layer.in = (struct cnnvp_tensor){
        .column_stride = 1, .row_stride = 32, .word_shift = 1, .channels = 1, .height = 16384, .width = 32};
    layer.out = (struct cnnvp_tensor){
        .column_stride = 1, .row_stride = 16384, .word_shift = 1, .channels = 1, .height = 32, .width = 16384};
    layer.posts[0].kind = CNNVP_POST_MAX;
    struct cnnvp_error error = {""};
    assert_int_equal(cases_plan(&layer, "L", &target.limits, &error), CNNVP_DONE);
    assert_int_equal(layer.tile_h, 32);
    cnnvp_target_clear(&target);
}

static struct cnnvp_plan_finalists finalists_of(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_plan_layer(layer, "L", limits, &finalists, &smallest, &error), CNNVP_DONE);
    return finalists;
}

/* The unit's peak only spares questions: the finalists are the same without it, and with a peak that the unit exceeds,
 * here since its clock is faster. */
static void the_peak_leaves_out_no_finalist(void **state)
{
    (void)state;
    struct builder random = {.random = 11};
    unsigned compared = 0;
    for (unsigned i = 0; i < 40; ++i) {
        const struct fake_config config = cases_config(&random);
        struct cnnvp_target target = cases_target(&config);
        const uint64_t cycle_ps = target.limits.cycle_ps;
        assert_int_equal(cycle_ps, 1000); /* 1000 MHz */
        for (unsigned n = 0; n < 8; ++n) {
            const struct cnnvp_plan_cut any = {.unit = CNNVP_PLAN_ANY_UNIT};
            struct cnnvp_layer layer = cases_layer(&random);
            struct cnnvp_error error = {""};
            if (cnnvp_plan_choose_unit(&layer, "L", &target.limits, &any, 0, NULL, &error) != CNNVP_DONE)
                continue;
            target.limits.cycle_ps = cycle_ps;
            const struct cnnvp_plan_finalists by_peak = finalists_of(&layer, &target.limits);
            target.limits.cycle_ps = 0;
            const struct cnnvp_plan_finalists all = finalists_of(&layer, &target.limits);
            target.limits.cycle_ps = 16 * cycle_ps;
            const struct cnnvp_plan_finalists by_slower = finalists_of(&layer, &target.limits);
            assert_memory_equal(&by_peak, &all, sizeof all);
            assert_memory_equal(&by_slower, &all, sizeof all);
            compared += all.count != 0;
        }
        cnnvp_target_clear(&target);
    }
    assert_true(compared > 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_tile_suffices),
        cmocka_unit_test(large_maps_take_their_time),
        cmocka_unit_test(pools_are_cut_at_65535_columns),
        cmocka_unit_test(rows_begin_after_the_border),
        cmocka_unit_test(planes_begin_anywhere),
        cmocka_unit_test(large_planes_take_their_time),
        cmocka_unit_test(strips_are_low),
        cmocka_unit_test(rows_fill_the_array),
        cmocka_unit_test(lanes_read_other_banks),
        cmocka_unit_test(loads_go_beside_the_last_slice),
        cmocka_unit_test(dimensions_that_change_places_take_instructions),
        cmocka_unit_test(averages_are_divided),
        cmocka_unit_test(nothing_hides_the_last_tile),
        cmocka_unit_test(weights_that_stay_are_not_waited_for),
        cmocka_unit_test(columns_are_read_in_bursts),
        cmocka_unit_test(the_peak_leaves_out_no_finalist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
