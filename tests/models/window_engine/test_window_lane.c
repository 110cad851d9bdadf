/* SPDX-License-Identifier: Apache-2.0 */
/* One input lane, cycle by cycle: what is in the registers, which words the banks give; and the trees. */
#include "window_engine/window_lane.h"

#include "test.h"

enum { SIDE = CNNVP_WINDOW_SIDE, WIDTH = 9, ROWS = 8 };

/* Word (row, column) of the map is 100 * row + column. */
static int16_t map[ROWS * WIDTH];

static struct cnnvp_fx16_tile tile_of(uint32_t stride, uint32_t dilation)
{
    for (int i = 0; i < ROWS * WIDTH; ++i)
        map[i] = (int16_t)(100 * (i / WIDTH) + i % WIDTH);
    return (struct cnnvp_fx16_tile){
        .in_row_stride = WIDTH,
        .out_h = 3,
        .out_w = 3,
        .kx = 3,
        .ky = 3,
        .sx = stride,
        .sy = stride,
        .dx = dilation,
        .dy = dilation};
}

/* All positions, whose top rows lie in each bank in turn. `fresh`: columns that the banks give within a row. */
static void check(uint32_t stride, uint32_t dilation, uint32_t fresh)
{
    const struct cnnvp_fx16_tile tile = tile_of(stride, dilation);
    struct cnnvp_window_lane lane = {.channel = map};
    for (uint32_t y = 0; y < 3; ++y)
        for (uint32_t x = 0; x < 3; ++x) {
            struct cnnvp_window_reads reads = {0};
            const uint32_t columns = x == 0 ? SIDE : fresh;
            cnnvp_window_lane_step(&lane, &tile, x, y, 0, 0, &reads);
            for (uint32_t r = 0; r < SIDE; ++r)
                for (uint32_t c = 0; c < SIDE; ++c) {
                    assert_int_equal(lane.at[r][c].value,
                                     100 * (y * stride + r * dilation) + x * stride + c * dilation);
                    assert_true(lane.at[r][c].valid);
                }
            assert_int_equal(reads.words, SIDE * columns);
            assert_int_equal(reads.reused, SIDE * (SIDE - columns));
            assert_false(reads.fault);
        }
}

static void test_positions(void **state)
{
    (void)state;
    check(1, 1, 1);
    check(2, 1, 2);
    check(1, 2, SIDE); /* dilated: nothing is shifted */
}

/* Positions outside of the rectangle are marked; words past the map read as 0, with ones all as 1. */
static void test_edges(void **state)
{
    struct cnnvp_fx16_tile tile = tile_of(1, 1);
    struct cnnvp_window_lane lane = {.channel = map};
    struct cnnvp_window_reads reads = {0};
    (void)state;
    tile.clipped = true;
    tile.valid_row_first = 1;
    tile.valid_row_end = 3;
    tile.valid_col_first = 0;
    tile.valid_col_end = 2;
    cnnvp_window_lane_step(&lane, &tile, 0, 0, 0, 0, &reads);
    for (uint32_t r = 0; r < SIDE; ++r)
        for (uint32_t c = 0; c < SIDE; ++c)
            assert_int_equal(lane.at[r][c].valid, r >= 1 && c < 2);
    cnnvp_window_lane_step(&lane, &tile, 0, 0, 3, 0, &reads); /* a piece of taps that there are not */
    assert_int_equal(lane.at[0][1].value, 4);
    assert_int_equal(lane.at[0][2].value, 0);
    tile.ones = true;
    cnnvp_window_lane_step(&lane, &tile, 0, 0, 3, 0, &reads);
    assert_int_equal(lane.at[0][2].value, 1);
    tile.ones = false;
    lane.channel = NULL;
    cnnvp_window_lane_step(&lane, &tile, 0, 0, 0, 0, &reads);
    assert_int_equal(lane.at[2][2].value, 0);
}

static void test_trees(void **state)
{
    int64_t five[] = {1, 2, 3, 4, 5}, wrapped[] = {32767, 1, 0}, pair[] = {-7, -9}, last[] = {1, 2, 9}, one[] = {32768};
    (void)state;
    assert_int_equal(cnnvp_window_tree_add(five, 5, 48), 15);
    assert_int_equal(cnnvp_window_tree_add(wrapped, 3, 16), -32768);
    assert_int_equal(cnnvp_window_tree_add(one, 1, 16), -32768);
    assert_int_equal(cnnvp_window_tree_max(pair, 2), -7);
    assert_int_equal(cnnvp_window_tree_max(last, 3), 9);
    assert_int_equal(cnnvp_window_tree_max(pair, 1), -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
