/* SPDX-License-Identifier: Apache-2.0 */
/* What crosses links to the blocks, a clock whose edges are not whole ps apart, and buffers with a latency; all else of
 * time and words: test_machine_words.c. */
#include "function_case.h"

/* Cycles of the last command at 200 MHz. */
static uint64_t cycles(const struct machine *m)
{
    assert_int_equal(m->delay % 5000u, 0);
    return m->delay / 5000u;
}

/* Matrices, a bit for each value and two for each window, come to encode, the errors to max pool back. */
static void test_carried(void **state)
{
    const uint64_t planes = IMAGES * CHANNELS;
    const struct machine_tpostback d = {
        .in_image_stride = CHANNELS * POOLED,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x3000,
        .mask_addr = 0x10000,
        .mask_image_stride = 1000,
        .id_addr = 0x20000,
        .id_image_stride = 1000,
        .pool = 0x02020202};
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    MACHINE_DO(&m, OP_tpostback, ST_tpostback_fp32 | ST_tpostback_relu | ST_tpostback_pool, d);
    assert_int_equal(fake_carried(m.units[M_MODULE], "encode"),
                     planes * (cnnvp_tile_packed(PLANE, 1u) + cnnvp_tile_packed(POOLED, 2u)));
    assert_int_equal(fake_carried(m.units[M_MODULE], "max_pool_back"), planes * POOLED * 4u);
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
        cmocka_unit_test(test_carried),
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
