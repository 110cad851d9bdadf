/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of the NFU against the published figures and against formulas and counts worked out here tile by tile. Every
 * shape is also stepped where it is small enough.
 */
#include "inference/nfu/nfu_cycle.h"
#include "cnnvp_integer.h"
#include "nfu_case.h"

#include "test.h"

static struct cnnvp_nfu_shape array_of(uint32_t cols, uint32_t rows)
{
    return (struct cnnvp_nfu_shape){
        .rows = rows, .cols = cols, .acc_bits = 48, .pipeline = 3, .fifo_stride = 4, .propagation = true};
}

static struct cnnvp_fx16_cost closed_cost(const struct cnnvp_nfu_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_fx16_cost cost;
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    cnnvp_nfu_cost(shape, &tile, &cost);
    return cost;
}

static struct cnnvp_fx16_cost stepped_cost(const struct cnnvp_nfu_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_fx16_cost cost;
    struct cnnvp_nfu_array array = {0};
    struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS] = {0};
    const struct cnnvp_fx16_data nothing = {0};
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    assert_int_equal(cnnvp_nfu_cycle(shape, &tile, &nothing, &array, &cost, ports), CNNVP_OK);
    cnnvp_nfu_array_free(&array);
    return cost;
}

static uint32_t over(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

/* ---- expectation for one connection, PE tile by PE tile ---- */

/* Different inputs that a w x h tile of windows covers. */
static uint64_t distinct_inputs(uint32_t w, uint32_t h, uint32_t kx, uint32_t ky, uint32_t sx, uint32_t sy)
{
    static uint8_t seen[128][128];
    uint64_t count = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t y = 0; y < h; ++y)
        for (uint32_t x = 0; x < w; ++x)
            for (uint32_t j = 0; j < ky; ++j)
                for (uint32_t i = 0; i < kx; ++i)
                    seen[y * sy + j][x * sx + i] = 1;
    for (uint32_t y = 0; y < 128u; ++y)
        for (uint32_t x = 0; x < 128u; ++x)
            count += seen[y][x];
    return count;
}

/* Words for one tile and one piece: the published formula; the extended FIFO-V reads every input once. */
static uint64_t tile_words(const struct cnnvp_nfu_shape *shape, uint32_t w, uint32_t h, uint32_t kx, uint32_t ky,
                           uint32_t sx, uint32_t sy)
{
    if (!shape->propagation || sx > shape->fifo_stride || sy > shape->fifo_stride)
        return (uint64_t)kx * ky * w * h;
    if (shape->extended_fifo_v)
        return distinct_inputs(w, h, kx, ky, sx, sy);
    return (uint64_t)cnnvp_minimum32(sx, kx) * cnnvp_minimum32(sy, ky) * w * h + (uint64_t)over(kx, sx) * ky * h +
           (uint64_t)cnnvp_minimum32(sx, kx) * over(ky, sy) * w;
}

static void expected(const struct cnnvp_nfu_shape *shape, const struct nfu_case *c, uint64_t *cycles, uint64_t *words)
{
    const uint32_t piece = shape->kernel_piece;
    *cycles = 0;
    *words = 0;
    for (uint32_t y = 0; y < c->out_h; y += shape->rows)
        for (uint32_t x = 0; x < c->out_w; x += shape->cols)
            for (uint32_t py = 0; py < c->ky; py += piece != 0 ? piece : c->ky)
                for (uint32_t px = 0; px < c->kx; px += piece != 0 ? piece : c->kx) {
                    const uint32_t kx = piece != 0 ? 3u : c->kx;
                    const uint32_t ky = piece != 0 ? 3u : c->ky;
                    *cycles += (uint64_t)kx * ky;
                    *words += tile_words(shape, cnnvp_minimum32(shape->cols, c->out_w - x),
                                         cnnvp_minimum32(shape->rows, c->out_h - y), kx, ky, c->sx, c->sy);
                }
}

static void check_shape(const struct cnnvp_nfu_shape *shape, const struct nfu_case *c, int stepped)
{
    uint64_t cycles;
    uint64_t words;
    const struct cnnvp_fx16_cost cost = closed_cost(shape, c);
    const uint64_t connections = c->opcode == OP_CONV ? (uint64_t)c->in_channels * c->out_channels : c->in_channels;
    expected(shape, c, &cycles, &words);
    assert_int_equal(cost.compute_cycles, connections * cycles);
    assert_int_equal(cost.input_words, connections * words);
    assert_int_equal(cost.weight_words, c->opcode == OP_CONV ? connections * cycles : 0);
    assert_int_equal(cost.macs, c->opcode == OP_CONV ? connections * c->out_h * c->out_w * c->kx * c->ky : 0);
    if (stepped) {
        const struct cnnvp_fx16_cost other = stepped_cost(shape, c);
        assert_memory_equal(&cost, &other, sizeof cost);
    }
}

/* Every stride 1..4 and kernel 1..11 on several arrays, propagation on and off, both pieces, both FIFO-Vs. */
static void test_closed_forms(void **state)
{
    static const uint32_t arrays[][2] = {{8, 8}, {4, 4}, {2, 2}, {1, 1}, {1, 8}, {16, 1}, {3, 5}, {16, 16}, {7, 2}};
    static const uint32_t maps[][2] = {{8, 8}, {1, 1}, {13, 10}, {5, 17}};
    (void)state;
    for (uint32_t n = 0; n < sizeof arrays / sizeof arrays[0]; ++n)
        for (uint32_t variant = 0; variant < 8u; ++variant)
            for (uint32_t m = 0; m < sizeof maps / sizeof maps[0]; ++m)
                for (uint32_t kx = 1; kx <= 11u; ++kx)
                    for (uint32_t sx = 1; sx <= 4u; ++sx) {
                        const uint32_t ky = 1u + (kx * 7u + sx * 3u + n) % 11u;
                        const uint32_t sy = 1u + (sx + kx + m) % 4u;
                        struct cnnvp_nfu_shape shape = array_of(arrays[n][0], arrays[n][1]);
                        shape.propagation = (variant & 1u) == 0;
                        shape.kernel_piece = (variant & 2u) != 0 ? 3u : 0;
                        shape.extended_fifo_v = (variant & 4u) != 0;
                        shape.fifo_stride = 1u + m;
                        struct nfu_case c = nfu_case_window(OP_CONV, 2, 3, maps[m][0], maps[m][1], kx, kx, sx, sx);
                        check_shape(&shape, &c, kx <= 3u);
                        c = nfu_case_window(OP_POOL, 3, 1, maps[m][0], maps[m][1], kx, ky, sx, sy);
                        check_shape(&shape, &c, kx <= 6u && n % 2u == 1u);
                    }
}

/* ---- published figures ---- */

static void test_published(void **state)
{
    struct cnnvp_nfu_shape shape = array_of(2, 2);
    struct nfu_case c = nfu_case_window(OP_CONV, 1, 1, 2, 2, 3, 3, 1, 1);
    (void)state;
    const uint64_t shared = closed_cost(&shape, &c).input_words;
    assert_int_equal(stepped_cost(&shape, &c).input_words, shared);
    shape.propagation = false;
    const uint64_t single = closed_cost(&shape, &c).input_words;
    assert_int_equal(shared, 20);
    assert_int_equal(single, 36);
    assert_int_equal((single - shared) * 1000u / single, 444); /* 44.4 % */

    shape = array_of(5, 5);
    c = nfu_case_window(OP_CONV, 1, 1, 5, 5, 5, 5, 1, 1);
    struct cnnvp_fx16_cost cost = stepped_cost(&shape, &c);
    assert_int_equal(cost.input_words + cost.weight_words, 170);
    shape.propagation = false;
    cost = stepped_cost(&shape, &c);
    assert_int_equal(cost.input_words + cost.weight_words, 650);
    assert_int_equal((650u - 170u) * 100000u / 650u, 73846); /* 73.85 % */

    shape = array_of(8, 8);
    c = nfu_case_window(OP_CONV, 1, 1, 8, 8, 5, 5, 1, 1);
    cost = stepped_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 25);
    assert_int_equal(cost.input_words, 256);
    shape.kernel_piece = 3;
    cost = stepped_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 36);
    assert_int_equal(cost.input_words, 512);
}

/* Compute cycles of LeNet-5 (60 connections in C3) and CNP on 8x8 PEs: connections, kernel, results, two mappings. */
struct ideal {
    uint32_t opcode;
    uint32_t connections, kx, ky, out_maps, out_h, out_w;
    uint64_t broadcast, single;
};

static const struct ideal ideals[] = {
    {OP_CONV, 6, 7, 7, 6, 36, 36, 7350, 7350},     {OP_POOL, 6, 2, 2, 6, 18, 18, 216, 216},
    {OP_CONV, 61, 7, 7, 16, 12, 12, 11956, 11956}, {OP_POOL, 16, 2, 2, 16, 6, 6, 64, 64},
    {OP_MATMUL, 1280, 6, 6, 80, 1, 1, 1152, 720},  {OP_MATMUL, 160, 1, 1, 2, 1, 1, 80, 4},
    {OP_CONV, 6, 5, 5, 6, 28, 28, 2400, 2400},     {OP_POOL, 6, 2, 2, 6, 14, 14, 96, 96},
    {OP_CONV, 60, 5, 5, 16, 10, 10, 6000, 6000},   {OP_POOL, 16, 2, 2, 16, 5, 5, 64, 64},
    {OP_MATMUL, 1920, 5, 5, 120, 1, 1, 800, 840},  {OP_MATMUL, 10080, 1, 1, 84, 1, 1, 240, 168},
    {OP_MATMUL, 840, 1, 1, 10, 1, 1, 84, 20},
};

static void test_ideal_cycles(void **state)
{
    struct cnnvp_nfu_shape shape = array_of(8, 8);
    (void)state;
    for (size_t i = 0; i < sizeof ideals / sizeof ideals[0]; ++i) {
        const struct ideal *row = &ideals[i];
        struct nfu_case c;
        if (row->opcode == OP_MATMUL)
            c = (struct nfu_case){.opcode = OP_MATMUL,
                                  .out_channels = row->out_maps,
                                  .in_channels = row->connections / row->out_maps * row->kx * row->ky};
        else
            c = nfu_case_window(row->opcode, row->connections, 1, row->out_w, row->out_h, row->kx, row->ky, 1, 1);
        shape.single_neuron = false;
        assert_int_equal(closed_cost(&shape, &c).compute_cycles, row->broadcast);
        assert_int_equal(stepped_cost(&shape, &c).compute_cycles, row->broadcast);
        shape.single_neuron = true;
        assert_int_equal(closed_cost(&shape, &c).compute_cycles, row->single);
        assert_int_equal(stepped_cost(&shape, &c).compute_cycles, row->single);
    }
}

/* ---- the other causes ---- */

static void test_matmul_words(void **state)
{
    struct cnnvp_nfu_shape shape = array_of(8, 8);
    struct nfu_case c = {.opcode = OP_MATMUL, .status = 8u, .in_channels = 100, .out_channels = 70};
    (void)state;
    struct cnnvp_fx16_cost cost = closed_cost(&shape, &c);
    assert_int_equal(cost.input_words, 200);
    assert_int_equal(cost.weight_words, 7000 + 70);
    assert_int_equal(cost.bias_words, 70);
    assert_int_equal(cost.bias_cycles, 2);
    assert_int_equal(cost.writeout_cycles, 2);
    assert_int_equal(cost.output_words, 70);
    shape.single_neuron = true;
    cost = closed_cost(&shape, &c);
    assert_int_equal(cost.input_words, 7000);
    assert_int_equal(cost.weight_words, 7000 + 70);
    assert_int_equal(cost.bias_cycles, 70);
    assert_int_equal(cost.writeout_cycles, 70 * (6 + 1)); /* a tree of log2 64 additions, then the result */
    shape = array_of(3, 3);
    shape.single_neuron = true;
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, 70 * (4 + 1));
    shape = array_of(1, 1);
    shape.single_neuron = true;
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, 70);
}

static void test_bias_and_writeout(void **state)
{
    const struct cnnvp_nfu_shape shape = array_of(8, 8);
    struct nfu_case c = nfu_case_window(OP_CONV, 4, 5, 20, 9, 3, 3, 1, 1);
    const uint64_t sets = 5u * 3u * 2u; /* output channels, PE tiles across and down */
    (void)state;
    assert_int_equal(closed_cost(&shape, &c).bias_cycles, 0);
    assert_int_equal(closed_cost(&shape, &c).fill_cycles, 2);
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, sets);
    assert_int_equal(closed_cost(&shape, &c).output_words, 900);
    c.status = 8u;
    assert_int_equal(closed_cost(&shape, &c).bias_cycles, sets);
    c.status = 4u; /* partial */
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, 3u * sets);
    assert_int_equal(closed_cost(&shape, &c).output_words, 2700);
    c.status = 4u | 1u; /* accumulated */
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, 6u * sets);
    c.status = 2u; /* maximised and written */
    assert_int_equal(closed_cost(&shape, &c).writeout_cycles, 4u * sets);
    c.status = 0x20u; /* depthwise: one connection a channel */
    assert_int_equal(closed_cost(&shape, &c).compute_cycles, 4u * 6u * 9u);
}

/* With a register in the write-out words leave while the next tile is computed: what shows is that of the last tile,
 * and of tiles that take one cycle with results that take two. Sums stay in the PEs. */
static void test_overlap(void **state)
{
    struct cnnvp_nfu_shape shape = array_of(8, 8);
    struct nfu_case conv = nfu_case_window(OP_CONV, 4, 5, 20, 9, 3, 3, 1, 1);
    struct nfu_case one = nfu_case_window(OP_POOL, 3, 3, 20, 9, 1, 1, 1, 1), two = one;
    struct nfu_case dense = {.opcode = OP_MATMUL, .in_channels = 100, .out_channels = 70};
    const uint64_t sets = 5u * 3u * 2u;
    (void)state;
    shape.pipeline = 4;
    assert_int_equal(closed_cost(&shape, &conv).fill_cycles, 3);
    assert_int_equal(closed_cost(&shape, &conv).writeout_cycles, 1);
    conv.status = 4u;
    assert_int_equal(closed_cost(&shape, &conv).writeout_cycles, 3u * sets);
    conv.status = 1u;
    assert_int_equal(closed_cost(&shape, &conv).writeout_cycles, 4u * sets);
    assert_int_equal(closed_cost(&shape, &one).writeout_cycles, 1);
    one.status = 2u; /* against the words of a part before */
    assert_int_equal(closed_cost(&shape, &one).writeout_cycles, 2 + 17);
    two = nfu_case_window(OP_POOL, 3, 3, 20, 9, 1, 2, 1, 2);
    two.status = 2u;
    assert_int_equal(closed_cost(&shape, &two).writeout_cycles, 2);
    assert_int_equal(closed_cost(&shape, &dense).writeout_cycles, 1);
    shape.single_neuron = true;
    assert_int_equal(closed_cost(&shape, &dense).writeout_cycles, 70 * 6 + 1);
}

static void test_dilation(void **state)
{
    const struct cnnvp_nfu_shape shape = array_of(8, 8);
    struct nfu_case c = nfu_case_window(OP_CONV, 1, 1, 8, 8, 3, 3, 1, 1);
    (void)state;
    c.dx = 2;
    c.in_row_stride = 12;
    assert_int_equal(closed_cost(&shape, &c).input_words, 9u * 64u);
    assert_int_equal(stepped_cost(&shape, &c).input_words, 9u * 64u);
    assert_int_equal(closed_cost(&shape, &c).fifo_h_pushes, 0);
    c.kx = 1; /* dilation of a kernel of one column says nothing */
    assert_int_equal(closed_cost(&shape, &c).input_words, 64u + 2u * 8u);
    assert_int_equal(stepped_cost(&shape, &c).input_words, 64u + 2u * 8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),         cmocka_unit_test(test_ideal_cycles),
        cmocka_unit_test(test_closed_forms),      cmocka_unit_test(test_matmul_words),
        cmocka_unit_test(test_bias_and_writeout), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_dilation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
