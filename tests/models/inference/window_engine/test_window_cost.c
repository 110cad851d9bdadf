/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of the window engine against S000's closed forms, and against counts worked out here from its loops: pass by
 * pass, position by position.
 */
#include "nfu_case.h"
#include "cnnvp_integer.h"
#include "random.h"
#include "inference/window_engine/window_tile.h"
#include "memory/buffer/buffer_internal.h"

#include "test.h"

static struct cnnvp_window_shape engine_of(uint32_t input_para, uint32_t output_para, uint32_t fc_para)
{
    return (struct cnnvp_window_shape){
        .input_para = input_para, .output_para = output_para, .fc_para = fc_para, .acc_bits = 48, .pipeline = 9};
}

static struct cnnvp_fx16_cost closed_cost(const struct cnnvp_window_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_fx16_cost cost;
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    cnnvp_window_cost(shape, &tile, &cost);
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

/* The input buffer of a count, and clocks by which it is late: row r of each of input_para channels is in bank r mod B
 * of the channel's B, in lines of so many words. */
static struct {
    struct cnnvp_buffer_shape shape;
    uint64_t channels;
    uint64_t late;
} input;

/* Clocks by which a buffer of that shape is late with `words` words, which lie in the banks of `maps` maps: in those of
 * each map `columns` words side by side, from word number `first` on, in lines that rotate over the map's banks. */
static uint64_t late_words(uint64_t maps, uint64_t first, uint64_t columns, uint64_t words)
{
    uint64_t of_bank[64] = {0};
    uint64_t most = 0;
    const uint64_t each = cnnvp_maximum(input.shape.banks / maps, 1u);
    const uint64_t last_line = (first + columns - 1u) / input.shape.line_words;
    for (uint64_t map = 0; map < maps; ++map)
        for (uint64_t line = first / input.shape.line_words; line <= last_line; ++line)
            ++of_bank[(map * each + line % each) % input.shape.banks];
    for (uint64_t b = 0; b < input.shape.banks; ++b)
        most = cnnvp_maximum(most, of_bank[b]);
    return cnnvp_maximum(cnnvp_divide_up(words, input.shape.width_words), most) - 1u;
}

/* The weight port, and the output port with the passes over its sums of three words. */
static struct {
    uint64_t weight_late, late;
    uint64_t maps;         /* output channels that the engine takes at a time */
    uint64_t pass, passes; /* each sum belongs to `passes` passes */
    int finds, of_words;   /* the first pass reads sums; the last one reads the words that it compares with */
    int partial;           /* the last pass writes sums, too */
} output;

/* A pass over `sums` sums, `columns` of them in each of so many maps: the later ones read what they write. */
static void update_sums(uint64_t maps, uint64_t columns, uint64_t sums)
{
    const int last = output.pass + 1u == output.passes;
    const uint64_t written = last && !output.partial ? 1u : 3u;
    const uint64_t read = (output.pass != 0 || output.finds ? 3u : 0) + (last && output.of_words ? (uint64_t)1u : 0);
    output.late +=
        late_words(read != 0 ? 2u * maps : maps, 0, columns * cnnvp_maximum(read, written), sums * (read + written));
}

/* A position's words, three rows from `row` on, `columns` of them from `column` on. */
static void read_position(uint64_t lanes, uint64_t row, uint64_t row_step, uint64_t column, uint64_t column_step,
                          uint64_t columns)
{
    uint64_t of_bank[64] = {0};
    uint64_t lines = 0, most = 0;
    const uint64_t each = cnnvp_maximum(input.shape.banks / input.channels, 1u);
    for (uint64_t c = 0; c < columns; ++c)
        lines += c == 0 || (column + c * column_step) / input.shape.line_words !=
                               (column + (c - 1u) * column_step) / input.shape.line_words;
    for (uint64_t channel = 0; channel < input.channels; ++channel)
        for (uint64_t r = 0; r < 3u; ++r)
            of_bank[(channel * each + (row + r * row_step) % each) % input.shape.banks] += lines;
    for (uint64_t b = 0; b < input.shape.banks; ++b)
        most = cnnvp_maximum(most, of_bank[b]);
    const uint64_t crossing = cnnvp_divide_up(lanes * 3u * columns, input.shape.width_words);
    input.late += cnnvp_maximum(crossing, most) - 1u;
}

/* One sweep of the positions with a piece of the kernel, from its tap (px, py) on, in place: `lanes` input channels,
 * `outs` output channels, `pairs` of which have a kernel. */
static void count_sweep(const struct nfu_case *c, uint32_t lanes, uint32_t outs, uint32_t pairs, int writes_words,
                        uint32_t px, uint32_t py, struct cnnvp_fx16_cost *count)
{
    const int dilated = (c->dx > 1u && c->kx > 1u) || (c->dy > 1u && c->ky > 1u);
    const uint64_t taps = cnnvp_minimum(c->kx - px, 3) * cnnvp_minimum(c->ky - py, 3);
    count->kernel_loads += pairs != 0;
    count->load_cycles += pairs != 0 ? 9u : 0;
    count->weight_words += 9u * (uint64_t)pairs;
    if (pairs != 0)
        output.weight_late += 9u * late_words(output.maps, 0, pairs / outs, pairs);
    ++count->passes;
    for (uint32_t y = 0; y < c->out_h; ++y)
        for (uint32_t x = 0; x < c->out_w; ++x) {
            const uint32_t kept = dilated ? 0 : columns_kept(x, c->sx);
            const uint32_t dx = c->kx > 1u ? c->dx : 1u;
            read_position(lanes, y * c->sy, c->ky > 1u ? c->dy : 1u, x * c->sx + (px + kept) * dx, dx, 3u - kept);
            ++count->compute_cycles;
            count->input_words += lanes * 3u * (3u - kept);
            count->reused_words += lanes * 3u * kept;
            count->macs += pairs * taps;
            count->output_words += (writes_words ? 1u : 3u) * (uint64_t)outs;
            update_sums(output.maps, 1, outs);
        }
    ++output.pass;
}

static void count_pieces(const struct nfu_case *c, uint32_t lanes, uint32_t outs, uint32_t pairs, int writes_words,
                         struct cnnvp_fx16_cost *count)
{
    for (uint32_t py = 0; py < c->ky; py += 3u)
        for (uint32_t px = 0; px < c->kx; px += 3u)
            count_sweep(c, lanes, outs, pairs, writes_words && py + 3u >= c->ky && px + 3u >= c->kx, px, py, count);
}

/* One more input channel that reads as 1, with one tap. */
static void count_bias(const struct nfu_case *c, uint32_t outs, int partial, struct cnnvp_fx16_cost *count)
{
    const uint64_t positions = (uint64_t)c->out_h * c->out_w;
    ++count->bias_loads;
    ++count->passes;
    count->bias_cycles += 1u + positions;
    count->ones_words += positions;
    count->bias_words += outs;
    count->output_words += (partial ? 3u : 1u) * outs * positions;
    output.weight_late += late_words(output.maps, 0, 1, outs);
    for (uint64_t i = 0; i < positions; ++i)
        update_sums(output.maps, 1, outs);
}

/* A clock in which a group's records come. */
static void count_records(uint32_t outs, struct cnnvp_fx16_cost *count)
{
    ++count->bias_loads;
    ++count->bias_cycles;
    count->bias_words += 4u * outs;
}

static void count_window(const struct cnnvp_window_shape *shape, const struct nfu_case *c,
                         struct cnnvp_fx16_cost *count)
{
    const int pools = c->opcode == OP_POOL;
    const int alone = pools || (c->status & 0x20u) != 0;
    const int bias = !pools && (c->status & 8u) != 0;
    const int partial = (c->status & 4u) != 0;
    const uint32_t diagonal = pools ? shape->input_para : cnnvp_minimum32(shape->input_para, shape->output_para);
    const uint32_t step = alone ? diagonal : shape->output_para;
    const uint32_t channels = nfu_case_channels(c);
    uint64_t steps = 0;
    output.maps = pools ? shape->input_para : shape->output_para;
    output.passes = cnnvp_divide_up(c->kx, 3) * cnnvp_divide_up(c->ky, 3) *
                        (alone ? 1u : cnnvp_divide_up(c->in_channels, shape->input_para)) +
                    (bias ? 1u : 0);
    for (uint32_t out = 0; out < channels; out += step, ++steps) {
        const uint32_t outs = cnnvp_minimum32(step, channels - out);
        output.pass = 0;
        if (alone)
            count_pieces(c, outs, outs, pools ? 0 : outs, !bias && !partial, count);
        for (uint32_t in = 0; in < c->in_channels && !alone; in += shape->input_para) {
            const uint32_t lanes = cnnvp_minimum32(shape->input_para, c->in_channels - in);
            count_pieces(c, lanes, outs, lanes * outs, !bias && !partial && in + lanes == c->in_channels, count);
        }
        if (bias)
            count_bias(c, outs, partial, count);
        if (!pools && (c->status & SCALE) != 0) {
            count_records(outs, count);
            output.weight_late += late_words(output.maps, 0, 4, 4u * outs);
        }
    }
    count->passes /= steps; /* each result belongs to one of them */
}

static void count_matmul(const struct cnnvp_window_shape *shape, const struct nfu_case *c,
                         struct cnnvp_fx16_cost *count)
{
    const uint32_t inputs = c->in_channels + ((c->status & 8u) != 0);
    const int partial = (c->status & 4u) != 0;
    output.passes = inputs;
    for (uint32_t in = 0; in < inputs; ++in) {
        output.pass = in;
        const int one = in == c->in_channels; /* the bias's */
        ++*(one ? &count->ones_words : &count->input_words);
        ++count->passes;
        for (uint32_t out = 0; out < c->out_channels; out += shape->fc_para) {
            const uint32_t lanes = cnnvp_minimum32(shape->fc_para, c->out_channels - out);
            ++*(one ? &count->bias_cycles : &count->compute_cycles);
            *(one ? &count->bias_words : &count->weight_words) += lanes;
            count->bias_loads += one ? 1u : 0;
            count->macs += one ? 0 : lanes;
            count->output_words += (in + 1u == inputs && !partial ? 1u : 3u) * (uint64_t)lanes;
            output.weight_late += late_words(1, one ? out : in * c->out_channels + out, lanes, lanes);
            update_sums(1, lanes, lanes);
            if (in == 0 && (c->status & SCALE) != 0) {
                count_records(lanes, count);
                output.weight_late += late_words(1, 4u * out, 4u * lanes, 4u * lanes);
            }
        }
    }
}

static void check_late(const struct nfu_case *c, const char *text, const char *port,
                       const struct cnnvp_fx16_clocks *clocks, uint64_t expected)
{
    uint64_t late = 0;
    for (uint32_t i = 0; i < clocks->count; ++i)
        late += buffer_port_late(&input.shape, &clocks->classes[i], 2, 0);
    if (late != expected)
        fail_msg(
            "%s, opcode %02x, status %02x, %ux%u, stride %ux%u, dilation %ux%u, %u to %u channels, %ux%u results: %s "
            "port %llu late, not %llu; width %llu, %llu banks, lines of %llu",
            text, c->opcode, c->status, c->kx, c->ky, c->sx, c->sy, c->dx, c->dy, c->in_channels, c->out_channels,
            c->out_w, c->out_h, port, (unsigned long long)late, (unsigned long long)expected,
            (unsigned long long)input.shape.width_words, (unsigned long long)input.shape.banks,
            (unsigned long long)input.shape.line_words);
}

static void check_shape(const struct cnnvp_window_shape *shape, const struct nfu_case *c)
{
    static uint32_t buffers;
    const uint32_t update = c->status & 3u; /* 1 accumulate, 2 maximise */
    const struct cnnvp_fx16_cost cost = closed_cost(shape, c);
    struct cnnvp_fx16_cost count = {0};
    char text[64];
    (void)snprintf(text, sizeof text, "para %u %u %u", shape->input_para, shape->output_para, shape->fc_para);
    input.shape = (struct cnnvp_buffer_shape){
        .width_words = 1u + buffers % 50u,
        .banks = 1u + buffers / 50u % 33u,
        .line_words = 1u << buffers / 1650u % 5u,
        .column_step = 1};
    buffers += 41u;
    input.channels = shape->input_para;
    input.late = output.late = output.weight_late = 0;
    output.partial = (c->status & 4u) != 0;
    output.of_words = c->opcode == OP_POOL && update == 2u && !output.partial;
    output.finds = update != 0 && !output.of_words;
    if (c->opcode == OP_MATMUL)
        count_matmul(shape, c, &count);
    else
        count_window(shape, c, &count);
    count.input_words += count.ones_words;
    count.weight_words += count.bias_words;
    count.fill_cycles = count.load_cycles + shape->pipeline - 1u + (nfu_case_bias_words(c) == 4u ? 3u : 0);
    nfu_case_check_cost(c, text, &cost, &count, sizeof cost);
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    struct cnnvp_fx16_traffic traffic = {0};
    cnnvp_window_clocks(shape, &tile, &cost, &traffic);
    check_late(c, text, "input", &traffic.input, input.late);
    check_late(c, text, "weight", &traffic.weight, output.weight_late);
    check_late(c, text, "output", &traffic.output, output.late);
}

static void test_random(void **state)
{
    uint64_t random = 20240903;
    (void)state;
    for (uint32_t i = 0; i < 8000u; ++i) {
        struct cnnvp_window_shape shape =
            engine_of(between(&random, 1, 5), between(&random, 1, 5), between(&random, 1, 20));
        struct nfu_case c;
        shape.pipeline = between(&random, 1, 12);
        nfu_case_random(&c, &random);
        if (i % 5u == 0)
            nfu_case_scale(&c, &random);
        if (c.opcode != OP_STEP) /* the engine has no step */
            check_shape(&shape, &c);
        nfu_case_free(&c);
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
                    check_shape(&shape, &c);
                    c.status = 0x20u;
                    check_shape(&shape, &c);
                    c = nfu_case_window(OP_POOL, 10, 1, maps[m][0], maps[m][1], kx, ky, sx, sy);
                    check_shape(&shape, &c);
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
    struct cnnvp_fx16_cost cost = closed_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 3 * 90); /* as without */
    assert_int_equal(cost.bias_cycles, 3 * (90 + 1));
    assert_int_equal(cost.bias_words, 20);
    assert_int_equal(cost.weight_words, 8 * 20 * 9 + 20);
    assert_int_equal(cost.passes, 2);
    assert_int_equal(cost.output_words, 20 * 90 * (3 + 1)); /* a sum by the first pass, a word by the bias's */
    c = (struct nfu_case){.opcode = OP_MATMUL, .status = 8u, .in_channels = 100, .out_channels = 70};
    cost = closed_cost(&shape, &c);
    assert_int_equal(cost.compute_cycles, 500);
    assert_int_equal(cost.bias_cycles, 5);
    assert_int_equal(cost.weight_words, 7070);
    assert_int_equal(cost.passes, 101);
    assert_int_equal(cost.output_words, 70 * (3 * 100 + 1));
}

static void test_sums(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    struct nfu_case c = nfu_case_window(OP_CONV, 8, 8, 10, 10, 3, 3, 1, 1);
    (void)state;
    assert_int_equal(closed_cost(&shape, &c).passes, 1);
    assert_int_equal(closed_cost(&shape, &c).output_words, 800);
    c.status = 4u; /* partial */
    assert_int_equal(closed_cost(&shape, &c).output_words, 2400);
    c = nfu_case_window(OP_CONV, 17, 8, 10, 10, 5, 5, 1, 1);
    assert_int_equal(closed_cost(&shape, &c).passes, 12);
    assert_int_equal(closed_cost(&shape, &c).output_words, 800 * (11 * 3 + 1));
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
    c.kx = 1; /* dilation of a kernel of one column says nothing */
    assert_int_equal(closed_cost(&shape, &c).input_words, 8 * (9 + 7 * 3));
}

/* 16 outputs of one input in words of 8 bits: 16 bytes of weights in a clock, then 16 records of 8 bytes in another
 * one. A port of 8 bytes takes 2 and 16 clocks for them. Of a convolution of one tap from 8 to 8 channels: 64 and 64
 * bytes, and 64 for each of the other taps of the piece of 3x3. */
static void test_narrow_records(void **state)
{
    const struct cnnvp_window_shape shape = engine_of(8, 8, 16);
    const struct cnnvp_buffer_shape buffer = {.width_words = 4, .banks = 64, .line_words = 64, .column_step = 1};
    struct cnnvp_fx16_tile tile = {
        .operation = {.product = CNNVP_FX16_PRODUCT_KA},
        .uses_k = true,
        .inputs = 1,
        .outputs = 16,
        .in_channels = 8,
        .out_channels = 8,
        .kx = 1,
        .ky = 1,
        .sx = 1,
        .sy = 1,
        .dx = 1,
        .dy = 1,
        .out_h = 1,
        .out_w = 1,
        .plane_words = 1,
        .scaled = true,
        .bias_words = 4,
        .narrow = CNNVP_NARROW_A | CNNVP_NARROW_B | CNNVP_NARROW_OUT};
    (void)state;
    for (int dense = 0; dense < 2; ++dense) {
        struct cnnvp_fx16_traffic traffic = {0};
        struct cnnvp_fx16_cost cost;
        uint64_t late = 0;
        tile.kind = dense ? CNNVP_FX16_MATMUL : CNNVP_FX16_WINDOW;
        tile.planes = dense ? 1 : 8;
        cnnvp_window_cost(&shape, &tile, &cost);
        cnnvp_window_clocks(&shape, &tile, &cost, &traffic);
        for (uint32_t i = 0; i < traffic.weight.count; ++i)
            late += buffer_port_late(&buffer, &traffic.weight.classes[i], 1, 0);
        assert_int_equal(late, dense ? 1 + 15 : 9 * 7 + 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),  cmocka_unit_test(test_closed_forms),   cmocka_unit_test(test_lenet),
        cmocka_unit_test(test_bias),   cmocka_unit_test(test_sums),           cmocka_unit_test(test_dilation),
        cmocka_unit_test(test_random), cmocka_unit_test(test_narrow_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
