/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of the window engine against S000's closed forms, and against counts worked out here from its loops: pass by
 * pass, position by position. Every shape is also stepped where it is small enough.
 */
#include "nfu_case.h"
#include "cnnvp_integer.h"
#include "window_engine/window_cycle.h"

#include "test.h"

static struct cnnvp_window_shape engine_of(uint32_t input_para, uint32_t output_para, uint32_t fc_para)
{
    return (struct cnnvp_window_shape){
        .input_para = input_para, .output_para = output_para, .fc_para = fc_para, .acc_bits = 48, .pipeline = 9};
}

static struct cnnvp_window_cost closed_cost(const struct cnnvp_window_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_window_cost cost;
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    cnnvp_window_cost(shape, &tile, &cost);
    return cost;
}

static struct cnnvp_window_cost stepped_cost(const struct cnnvp_window_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_window_cost cost;
    struct cnnvp_window_engine engine = {0};
    const struct cnnvp_fx16_data nothing = {0};
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &nothing, &engine, &cost), CNNVP_OK);
    cnnvp_window_engine_free(&engine);
    return cost;
}

/* ---- the loops of S000 ---- */

/* Columns of a window that were in the one before it: tap columns are `stride` apart from position to position. */
static uint32_t columns_kept(uint32_t x, uint32_t stride)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; x > 0 && c < 3u; ++c)
        for (uint32_t before = 0; before < 3u; ++before)
            kept += c + stride == before;
    return kept;
}

struct counted {
    uint64_t cycles, words, weights, loads, written;
};

/* Passes of channels in .. in + lanes to out .. out + outs, all pieces; `pairs` of them have a kernel. */
static void count_passes(const struct nfu_case *c, uint32_t lanes, uint32_t outs, uint32_t pairs, int last,
                         struct counted *count)
{
    const uint32_t pieces = (uint32_t)(cnnvp_divide_up(c->kx, 3) * cnnvp_divide_up(c->ky, 3));
    for (uint32_t piece = 0; piece < pieces; ++piece) {
        count->loads += pairs != 0;
        count->weights += 9u * (uint64_t)pairs;
        for (uint32_t y = 0; y < c->out_h; ++y)
            for (uint32_t x = 0; x < c->out_w; ++x) {
                ++count->cycles;
                count->words += (uint64_t)lanes * 3u * (3u - columns_kept(x, c->sx));
                count->written += (last && piece == pieces - 1u ? 1u : 4u) * (uint64_t)outs;
            }
    }
}

static struct counted count_loops(const struct cnnvp_window_shape *shape, const struct nfu_case *c)
{
    struct counted count = {0};
    const uint32_t alone =
        c->opcode == OP_POOL ? shape->input_para : cnnvp_minimum32(shape->input_para, shape->output_para);
    if (c->opcode == OP_POOL || (c->status & 0x20u) != 0) {
        for (uint32_t at = 0; at < c->in_channels; at += alone) {
            const uint32_t n = cnnvp_minimum32(alone, c->in_channels - at);
            count_passes(c, n, n, c->opcode == OP_POOL ? 0 : n, 1, &count);
        }
        return count;
    }
    for (uint32_t in = 0; in < c->in_channels; in += shape->input_para)
        for (uint32_t out = 0; out < c->out_channels; out += shape->output_para) {
            const uint32_t lanes = cnnvp_minimum32(shape->input_para, c->in_channels - in);
            const uint32_t outs = cnnvp_minimum32(shape->output_para, c->out_channels - out);
            count_passes(c, lanes, outs, lanes * outs, in + lanes == c->in_channels, &count);
        }
    return count;
}

static void check_shape(const struct cnnvp_window_shape *shape, const struct nfu_case *c, int stepped)
{
    const struct cnnvp_window_cost cost = closed_cost(shape, c);
    const struct counted count = count_loops(shape, c);
    assert_int_equal(cost.compute_cycles, count.cycles);
    assert_int_equal(cost.input_words, count.words);
    assert_int_equal(cost.weight_words, count.weights);
    assert_int_equal(cost.kernel_loads, count.loads);
    assert_int_equal(cost.load_cycles, 9u * count.loads);
    assert_int_equal(cost.output_words, count.written);
    assert_int_equal(cost.bias_cycles, 0);
    assert_int_equal(cost.pipeline_cycles, 8);
    if (stepped) {
        const struct cnnvp_window_cost other = stepped_cost(shape, c);
        assert_memory_equal(&cost, &other, sizeof cost);
    }
}

/* Every stride 1..4 and kernel 1..11 on several engines. */
static void test_loops(void **state)
{
    static const uint32_t engines[][2] = {{8, 8}, {1, 1}, {4, 2}, {2, 4}, {3, 5}, {16, 16}};
    static const uint32_t maps[][2] = {{8, 8}, {1, 1}, {13, 10}, {5, 17}};
    (void)state;
    for (uint32_t n = 0; n < sizeof engines / sizeof engines[0]; ++n)
        for (uint32_t m = 0; m < sizeof maps / sizeof maps[0]; ++m)
            for (uint32_t kx = 1; kx <= 11u; ++kx)
                for (uint32_t sx = 1; sx <= 4u; ++sx) {
                    const uint32_t ky = 1u + (kx * 7u + sx * 3u + n) % 11u;
                    const uint32_t sy = 1u + (sx + kx + m) % 4u;
                    const struct cnnvp_window_shape shape = engine_of(engines[n][0], engines[n][1], 16);
                    struct nfu_case c = nfu_case_window(OP_CONV, 9, 11, maps[m][0], maps[m][1], kx, ky, sx, sy);
                    check_shape(&shape, &c, kx <= 4u && m % 2u == 1u);
                    c.status = 0x20u;
                    check_shape(&shape, &c, kx <= 4u);
                    c = nfu_case_window(OP_POOL, 10, 1, maps[m][0], maps[m][1], kx, ky, sx, sy);
                    check_shape(&shape, &c, kx <= 6u);
                }
}

/* ---- S000's closed forms ---- */

static void test_closed_forms(void **state)
{
    (void)state;
    for (uint32_t para = 1; para <= 16u; para *= 2u)
        for (uint32_t k = 1; k <= 11u; ++k)
            for (uint32_t channels = 1; channels <= 40u; channels += 13u) {
                const struct cnnvp_window_shape shape = engine_of(para, 2u * para, 4u * para);
                const uint64_t pieces = cnnvp_divide_up(k, 3) * cnnvp_divide_up(k, 3);
                struct nfu_case c = nfu_case_window(OP_CONV, channels, 2u * channels + 1u, 20, 7, k, k, 2, 1);
                assert_int_equal(closed_cost(&shape, &c).compute_cycles,
                                 cnnvp_divide_up(channels, para) * cnnvp_divide_up(2u * channels + 1u, 2u * para) *
                                     pieces * 7u * 20u);
                assert_int_equal(closed_cost(&shape, &c).macs, channels * (2u * channels + 1u) * k * k * 140u);
                c = nfu_case_window(OP_POOL, channels, 1, 20, 7, k, k, 3, 2);
                assert_int_equal(closed_cost(&shape, &c).compute_cycles,
                                 cnnvp_divide_up(channels, para) * pieces * 7u * 20u);
                assert_int_equal(closed_cost(&shape, &c).macs, 0);
                c = (struct nfu_case){
                    .opcode = OP_MATMUL, .in_channels = 31u * channels, .out_channels = 7u * channels};
                assert_int_equal(closed_cost(&shape, &c).compute_cycles,
                                 31u * channels * cnnvp_divide_up(7u * channels, 4u * para));
                assert_int_equal(closed_cost(&shape, &c).input_words, 31u * channels);
                assert_int_equal(closed_cost(&shape, &c).weight_words, 217u * channels * channels);
            }
}

/* LeNet-5, dense, one image, by hand. */
static void test_lenet(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    struct nfu_case c = nfu_case_window(OP_CONV, 1, 6, 28, 28, 5, 5, 1, 1);
    (void)state;
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 3136); /* 4 pieces * 784 */
    assert_int_equal(closed_cost(&shape, &c).input_words, 4 * 28 * (9 + 27 * 3));
    assert_int_equal(closed_cost(&shape, &c).weight_words, 6 * 4 * 9);
    c = nfu_case_window(OP_POOL, 6, 1, 14, 14, 2, 2, 2, 2);
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 196);
    assert_int_equal(closed_cost(&shape, &c).input_words, 6 * 14 * (9 + 13 * 6));
    c = nfu_case_window(OP_CONV, 6, 16, 10, 10, 5, 5, 1, 1);
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 800);
    c = (struct nfu_case){.opcode = OP_MATMUL, .in_channels = 400, .out_channels = 120};
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 3200);
}

/* ---- bias, sums, dilation ---- */

static void test_bias(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    struct nfu_case c = nfu_case_window(OP_CONV, 8, 20, 10, 9, 3, 3, 1, 1);
    (void)state;
    c.status = 8u;
    struct cnnvp_window_cost cost = closed_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 3 * 90); /* as without */
    assert_int_equal(cost.bias_cycles, 3 * (90 + 1));
    assert_int_equal(cost.bias_words, 20);
    assert_int_equal(cost.weight_words, 8 * 20 * 9 + 20);
    assert_int_equal(cost.passes, 2);
    assert_int_equal(cost.output_words, 20 * 90 * (4 + 1)); /* a sum by the first pass, a word by the bias's */
    c = (struct nfu_case){.opcode = OP_MATMUL, .status = 8u, .in_channels = 100, .out_channels = 70};
    cost = closed_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 500);
    assert_int_equal(cost.bias_cycles, 5);
    assert_int_equal(cost.weight_words, 7070);
    assert_int_equal(cost.passes, 101);
    assert_int_equal(cost.output_words, 70 * (4 * 100 + 1));
}

static void test_sums(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    struct nfu_case c = nfu_case_window(OP_CONV, 8, 8, 10, 10, 3, 3, 1, 1);
    (void)state;
    assert_int_equal(closed_cost(&shape, &c).passes, 1);
    assert_int_equal(closed_cost(&shape, &c).output_words, 800);
    c.status = 4u; /* partial */
    assert_int_equal(closed_cost(&shape, &c).output_words, 3200);
    c = nfu_case_window(OP_CONV, 17, 8, 10, 10, 5, 5, 1, 1);
    assert_int_equal(closed_cost(&shape, &c).passes, 12);
    assert_int_equal(closed_cost(&shape, &c).output_words, 800 * (11 * 4 + 1));
}

static void test_dilation(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    struct nfu_case c = nfu_case_window(OP_CONV, 1, 1, 8, 8, 3, 3, 1, 1);
    (void)state;
    c.dx = 2;
    c.in_row_stride = 12;
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 64);
    assert_int_equal(closed_cost(&shape, &c).input_words, 9 * 64);
    assert_int_equal(closed_cost(&shape, &c).reused_words, 0);
    assert_int_equal(stepped_cost(&shape, &c).input_words, 9 * 64);
    c.kx = 1; /* dilation of a kernel of one column says nothing */
    assert_int_equal(closed_cost(&shape, &c).input_words, 8 * (9 + 7 * 3));
    assert_int_equal(stepped_cost(&shape, &c).input_words, 8 * (9 + 7 * 3));
}

/* A rotated window: rows 1, 2, 3 come from banks 1, 2, 0 and stand in order. */
static void test_rotation(void **state)
{
    static const int16_t map[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const struct nfu_case c = {
        .opcode = OP_CONV,
        .in_channels = 1,
        .out_channels = 1,
        .out_h = 2,
        .out_w = 2,
        .kx = 3,
        .ky = 3,
        .sx = 1,
        .sy = 1,
        .dx = 1,
        .dy = 1,
        .in_row_stride = 4,
        .in_channel_stride = 16};
    const struct cnnvp_fx16_tile tile = nfu_case_tile(&c);
    struct cnnvp_window_lane lane = {.channel = map};
    struct cnnvp_window_reads reads = {0};
    (void)state;
    cnnvp_window_lane_step(&lane, &tile, 0, 1, 0, 0, &reads);
    assert_int_equal(reads.words, 9);
    cnnvp_window_lane_step(&lane, &tile, 1, 1, 0, 0, &reads);
    assert_int_equal(reads.words, 12);
    assert_int_equal(reads.reused, 6);
    assert_false(reads.fault);
    for (uint32_t y = 0; y < 3u; ++y)
        for (uint32_t x = 0; x < 3u; ++x)
            assert_int_equal(lane.at[y][x].value, map[(1u + y) * 4u + 1u + x]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),    cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_lenet),
        cmocka_unit_test(test_bias),     cmocka_unit_test(test_sums),         cmocka_unit_test(test_dilation),
        cmocka_unit_test(test_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
