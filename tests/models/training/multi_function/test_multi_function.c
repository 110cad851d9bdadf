/* SPDX-License-Identifier: Apache-2.0 */
/* * Instructions of the multi-function module one by one: what the training step's test does not reach, closed forms of
 * time, the same without data, and whatever a guest can write into a descriptor. */
#include "function_case.h"

/* Cycles of the last command at 200 MHz. */
static uint64_t cycles(const struct machine *m)
{
    assert_int_equal(m->delay % 5000u, 0);
    return m->delay / 5000u;
}

static void check_time(uint32_t sets, uint32_t lanes, bool timing_only)
{
    const struct machine_options options = {.bits = 8, .sets = sets, .lanes = lanes, .timing_only = timing_only};
    struct machine m;
    machine_begin(&m, &options);
    const uint64_t turns = cnnvp_divide_up(IMAGES, sets);
    const uint64_t tile = turns * cnnvp_divide_up(CHANNELS * PLANE, lanes);
    struct machine_tpost d = post();
    struct machine_tpostback b = {
        .in_image_stride = CHANNELS * POOLED,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .x_addr = 0x8000,
        .x_image_stride = CHANNELS * PLANE,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x3000,
        .mask_addr = 0x10000,
        .mask_image_stride = 1000,
        .id_addr = 0x20000,
        .id_image_stride = 1000,
        .pool = 0x02020202};
    d.mask_addr = 0x10000;
    d.id_addr = 0x20000;
    d.mask_image_stride = d.id_image_stride = 1000;
    d.pool = 0x02020202;
    /* the module 2, quantise 2, encode 1 */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d);
    assert_int_equal(cycles(&m), tile + 5u);
    /* and batch norm 3, ReLU 1, max pool 2 */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_pool | ST_tpost_keep, d);
    assert_int_equal(cycles(&m), tile + 11u);
    /* the module 2, encode 1, max pool back 2, ReLU back 1, batch norm 3, quantise 2, encode 1 */
    const uint32_t all = ST_tpostback_fp32 | ST_tpostback_norm | ST_tpostback_relu | ST_tpostback_pool;
    MACHINE_DO(&m, OP_tpostback, all, b);
    assert_int_equal(cycles(&m), tile + 12u);
    /* the matrices, a bit for each value and two for each window, come to encode, the errors to max pool back */
    const uint64_t planes = IMAGES * CHANNELS;
    assert_int_equal(fake_carried(m.units[M_MODULE], "encode"),
                     planes * (cnnvp_tile_packed(PLANE, 1u) + cnnvp_tile_packed(POOLED, 2u)));
    assert_int_equal(fake_carried(m.units[M_MODULE], "max_pool_back"), planes * POOLED * 4u);
    /* statistics 2 in place of quantise and encode */
    b.block = 100;
    MACHINE_DO(&m, OP_tpostback, all | ST_tpostback_reduce, b);
    assert_int_equal(cycles(&m), tile + 11u);
    const struct machine_tstat stat = {
        .in_image_stride = CHANNELS * PLANE, .images = IMAGES, .channels = CHANNELS, .size = W | H << 16};
    MACHINE_DO(&m, OP_tstat, ST_tstat_fp32, stat);
    assert_int_equal(cycles(&m), tile + 6u);
    MACHINE_DO(&m, OP_tstat, ST_tstat_fp32 | ST_tstat_squares, stat);
    assert_int_equal(cycles(&m), tile + 4u);
    const struct machine_tcoef coef = {.channels = 100};
    MACHINE_DO(&m, OP_tcoef, 0, coef);
    assert_int_equal(cycles(&m), cnnvp_divide_up(100, sets * lanes) * 16u + 3u);
    const struct machine_texp exponent = {.channels = 100, .out_addr = CNNVP_TILE_HELD | 0x9000};
    MACHINE_DO(&m, OP_texp, ST_texp_map | ST_texp_each, exponent);
    assert_int_equal(cycles(&m), cnnvp_divide_up(100, sets * lanes) + 2u);
    const struct machine_tsoftmax softmax = {
        .in_image_stride = 10,
        .images = IMAGES,
        .classes = 10,
        .label_addr = 0x100,
        .out_addr = 0x200,
        .out_image_stride = 10};
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, softmax);
    assert_int_equal(cycles(&m), turns * cnnvp_divide_up(10, lanes) * 17u + 2u + 8u + 2u);
    const struct machine_tupdate update = {
        .in_stride = 9, .channels = 20, .values = 9, .value_addr = 0x1000, .velocity_addr = 0x2000, .value_stride = 9};
    MACHINE_DO(&m, OP_tupdate, ST_tupdate_fp32 | ST_tupdate_momentum, update);
    assert_int_equal(cycles(&m), cnnvp_divide_up(180, sets * lanes) + 2u + 4u + 2u);
    const struct machine_tbnupdate norm = {.channels = 30};
    MACHINE_DO(&m, OP_tbnupdate, 0, norm);
    assert_int_equal(cycles(&m), cnnvp_divide_up(60, sets * lanes) + 4u);
    const struct machine_tdecode decode = {
        .in_stride = 9, .channels = 20, .values = 9, .out_addr = 0x1000, .out_stride = 9, .exp_addr = CNNVP_TILE_HELD};
    MACHINE_DO(&m, OP_tdecode, 0, decode);
    assert_int_equal(cycles(&m), cnnvp_divide_up(180, sets * lanes) + 2u);
    const struct machine_theld held = {.bytes = 160};
    MACHINE_DO(&m, OP_tclear, 0, held);
    assert_int_equal(cycles(&m), cnnvp_divide_up(40, sets * lanes));
    MACHINE_DO(&m, OP_tload, 0, held);
    assert_int_equal(cycles(&m), cnnvp_divide_up(40, sets * lanes) + 2u);
    assert_int_equal(fake_count(m.units[M_MODULE], "commands"), 14);
    /* every cycle of the module is in the sum of its commands */
    assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles") * 5000u, m.sim.now);
    machine_end(&m);
}

static void test_time(void **state)
{
    static const uint32_t shapes[][2] = {{4, 1}, {1, 1}, {2, 3}, {4, 32}, {3, 256}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
        for (int timing_only = 0; timing_only < 2; ++timing_only)
            check_time(shapes[i][0], shapes[i][1], timing_only != 0);
}

/* Each image has lines of its own: a single bank gives them one after the other, a value of 32 bits each. */
static void test_bank(void **state)
{
    const struct machine_options options = {.bits = 8, .sets = 4, .banks = 1};
    struct machine m;
    struct machine_tpost d = post();
    (void)state;
    machine_begin(&m, &options);
    for (d.images = 1; d.images <= IMAGES; ++d.images) {
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d);
        assert_int_equal(cycles(&m), d.images * CHANNELS * PLANE + 5u);
    }
    machine_end(&m);
}

/* A narrow port of the intermediate buffer lengthens a tile, the same at each edge, which are not whole ps apart. */
static void test_port(void **state)
{
    struct machine m;
    struct machine_tpost d = post();
    (void)state;
    const struct machine_options options = {.bits = 8, .sets = 4, .lanes = 8, .width_words = 2};
    machine_begin(&m, &options);
    m.sim.clock_mhz = 700;
    fake_reset(m.units[M_INTERMEDIATE]);
    for (uint64_t n = 1; n < 8; ++n) {
        fake_run(&m.sim, cnnvp_edge_time(700, n * 1000u));
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d); /* 2 words of 16 bits for each value in */
        assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles"), n * (ALL + 5u));
        assert_int_equal(fake_count(m.units[M_MODULE], "port_cycles"),
                         n * (ALL - cnnvp_divide_up(CHANNELS * PLANE, 8)));
    }
    machine_end(&m);
}

/* The blocks' buffers lengthen a tile by what their ports, banks and latency say. */
static void check_held(uint32_t banks, uint32_t latency, bool timing_only)
{
    const struct machine_options options = {
        .bits = 8, .timing_only = timing_only, .sets = 4, .lanes = 16, .held_banks = banks, .held_latency = latency};
    struct machine m;
    machine_begin(&m, &options);
    /* Each image has a 0/1 matrix, 2 words a plane, of its own: three are written side by side, in 8 cycles. */
    struct machine_tpost d = post();
    d.mask_addr = 0x10000;
    d.mask_image_stride = 1000;
    const uint64_t matrices = CHANNELS * cnnvp_divide_up(IMAGES, banks); /* a line a plane */
    const uint64_t tile = cnnvp_divide_up(CHANNELS * PLANE, 16);
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_keep, d);
    assert_int_equal(fake_count(m.units[M_RELU], "busy_cycles"), (matrices > tile ? matrices : tile) + 1u);
    /* The encoder reads them again. */
    assert_int_equal(cycles(&m), (matrices > tile ? matrices : tile) + latency + 6u);
    assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles") * 5000u, m.sim.now);
    machine_end(&m);
}

static void test_held(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; ++i)
        check_held((i & 1u) != 0 ? 1u : 4u, (i & 2u) != 0 ? 7u : 0, (i & 4u) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_bank),
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
