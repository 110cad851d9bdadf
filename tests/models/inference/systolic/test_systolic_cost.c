/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of the systolic array against SCALE-Sim's formulas (A. Samajdar et al., ISPASS 2020), and against counts worked
 * out here fold by fold: which operand lies in which PE, and when what it works on can be loaded, streamed, drained.
 */
#include "nfu_case.h"
#include "random.h"
#include "inference/systolic/systolic_tile.h"

#include "test.h"

enum { WS, OS, IS };
enum { SINGLE, DOUBLE, PIPELINED };

static uint64_t parts_of(uint64_t all, uint64_t part)
{
    return all / part + (all % part != 0);
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct cnnvp_fx16_cost closed_cost(const struct cnnvp_systolic_shape *shape, const struct nfu_case *c,
                                          struct cnnvp_fx16_traffic *traffic)
{
    struct cnnvp_fx16_cost cost;
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    *traffic = (struct cnnvp_fx16_traffic){0};
    cnnvp_systolic_cost(shape, &tile, &cost, traffic);
    return cost;
}

/* ---- SCALE-Sim ---- */

/* Inputs and outputs, rows and columns of results, side of the kernel, stride; matmul: inputs and outputs, 0 rows. */
static const uint32_t layers[][6] = {
    {3, 96, 55, 55, 11, 4},   {96, 256, 27, 27, 5, 1},  {256, 384, 13, 13, 3, 1},
    {384, 384, 13, 13, 3, 1}, /* AlexNet */
    {384, 256, 13, 13, 3, 1}, {9216, 4096, 0, 0, 0, 0}, {4096, 1000, 0, 0, 0, 0},
    {3, 64, 112, 112, 7, 2},  {64, 64, 56, 56, 3, 1},   {64, 128, 28, 28, 3, 2},
    {128, 128, 28, 28, 3, 1}, /* ResNet */
    {64, 128, 28, 28, 1, 2},  {256, 512, 7, 7, 3, 2},   {512, 512, 7, 7, 3, 1},
    {64, 256, 56, 56, 1, 1},  {512, 2048, 7, 7, 1, 1},  {512, 1000, 0, 0, 0, 0},
    {3, 32, 112, 112, 3, 2},  {16, 96, 112, 112, 1, 1}, {24, 144, 56, 56, 1, 1},
    {160, 960, 7, 7, 1, 1}, /* MobileNet */
    {320, 1280, 7, 7, 1, 1},  {1, 6, 28, 28, 5, 1},     {6, 16, 10, 10, 5, 1},
    {400, 120, 0, 0, 0, 0},   {5, 3, 1, 1, 2, 1},
};

static struct nfu_case layer_case(const uint32_t layer[6])
{
    if (layer[2] == 0)
        return (struct nfu_case){.opcode = OP_MATMUL, .in_channels = layer[0], .out_channels = layer[1]};
    return nfu_case_window(OP_CONV, layer[0], layer[1], layer[3], layer[2], layer[4], layer[4], layer[5], layer[5]);
}

/* Runtime of all folds: (2 R + C + T - 2) ceil(Sr / R) ceil(Sc / C), their table 1 says what Sr, Sc and T are. */
static uint64_t scale_sim(const uint32_t layer[6], uint32_t dataflow, uint64_t rows, uint64_t cols)
{
    const uint64_t pixels = layer[2] == 0 ? 1u : (uint64_t)layer[2] * layer[3];
    const uint64_t window = layer[2] == 0 ? layer[0] : (uint64_t)layer[0] * layer[4] * layer[4];
    const uint64_t filters = layer[1];
    const uint64_t table[][3] = {{window, filters, pixels}, {pixels, filters, window}, {window, pixels, filters}};
    const uint64_t *s = table[dataflow];
    return (2u * rows + cols + s[2] - 2u) * parts_of(s[0], rows) * parts_of(s[1], cols);
}

static void test_scale_sim(void **state)
{
    static const uint32_t arrays[][2] = {{8, 8}, {16, 16}, {32, 8}, {12, 14}, {128, 128}, {1, 1}};
    (void)state;
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; ++a)
        for (uint32_t dataflow = WS; dataflow <= IS; ++dataflow)
            for (size_t l = 0; l < sizeof layers / sizeof layers[0]; ++l) {
                const struct cnnvp_systolic_shape shape = {
                    .rows = arrays[a][0],
                    .cols = arrays[a][1],
                    .dataflow = dataflow,
                    .sum_words = 3,
                    .depth = 1u << 20};
                struct nfu_case c = layer_case(layers[l]);
                struct cnnvp_fx16_traffic traffic;
                const struct cnnvp_fx16_cost cost = closed_cost(&shape, &c, &traffic);
                const uint64_t expected = scale_sim(layers[l], dataflow, shape.rows, shape.cols);
                if (cost.compute_cycles + cost.fill_cycles != expected || cost.accumulator_cycles != 0)
                    fail_msg("layer %zu on %ux%u, dataflow %u: %llu cycles, %llu in SCALE-Sim", l, shape.rows,
                             shape.cols, dataflow, (unsigned long long)(cost.compute_cycles + cost.fill_cycles),
                             (unsigned long long)expected);
            }
}

/* Worked out by hand: 2 -> 5 maps of 2x3, 1x1, on 2x4 PEs: two folds of 6 positions; is: 2 folds of 5 outputs. */
static void test_by_hand(void **state)
{
    static const uint32_t layer[] = {2, 5, 2, 3, 1, 1};
    static const struct {
        uint32_t dataflow, folds;
        uint64_t compute, fill;
    } known[] = {
        {WS, SINGLE, 12, 2 * (2 + 4)}, {WS, DOUBLE, 12, 2 + 2 * 4}, {WS, PIPELINED, 12, 2 + 4},
        {IS, PIPELINED, 10, 2 + 4},    {OS, SINGLE, 12, 6 * 6},     {OS, PIPELINED, 12, 2 + 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        const struct cnnvp_systolic_shape shape = {
            .rows = 2, .cols = 4, .dataflow = known[i].dataflow, .folds = known[i].folds, .sum_words = 3, .depth = 64};
        struct nfu_case c = layer_case(layer);
        struct cnnvp_fx16_traffic traffic;
        const struct cnnvp_fx16_cost cost = closed_cost(&shape, &c, &traffic);
        assert_int_equal(cost.compute_cycles, known[i].compute);
        assert_int_equal(cost.fill_cycles, known[i].fill);
    }
}

/* ---- fold by fold ---- */

/* What waits for what, as PE (0, 0) sees it: a shift takes as many cycles as the array has rows. */
struct times {
    uint64_t rows, skew;
    uint32_t folds;
    bool drains;       /* what stays leaves after its fold, in place of entering before it */
    uint64_t shifted;  /* end of the last shift */
    uint64_t streamed; /* end of the last stream */
    uint64_t taken;    /* the register that shifts is free from here on */
    bool any;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void fold_in_time(struct times *t, uint64_t length)
{
    if (t->folds == SINGLE) {
        t->streamed += length + t->rows + t->skew;
        t->shifted = t->streamed;
    } else if (t->drains) {
        const uint64_t begin = t->streamed + (t->any && t->folds == DOUBLE ? t->skew : 0);
        t->streamed = later(begin + length, t->shifted);
        t->shifted = t->streamed + t->rows;
    } else {
        const uint64_t ready = t->streamed + (t->any && t->folds == DOUBLE ? t->skew : 0);
        t->shifted = later(t->shifted, t->taken) + t->rows;
        t->taken = later(ready, t->shifted);
        t->streamed = t->taken + length;
    }
    t->any = true;
}

static uint64_t end_of(const struct times *t)
{
    return t->folds == SINGLE ? t->streamed : (t->drains ? t->shifted : t->streamed) + t->skew;
}

struct product {
    uint64_t k, n, p;
    bool own_words; /* each PE reads one, in place of each row */
};

static void count_product(const struct cnnvp_systolic_shape *shape, const struct product *m, uint32_t bias,
                          struct times *t, struct cnnvp_fx16_cost *count)
{
    const uint64_t along_rows = shape->dataflow == OS ? m->p : m->k;
    const uint64_t along_cols = shape->dataflow == IS ? m->p : m->n;
    const uint64_t streamed = shape->dataflow == WS ? m->p : shape->dataflow == OS ? m->k : m->n;
    const uint64_t row_folds = parts_of(along_rows, shape->rows);
    const bool kept = shape->dataflow != OS && row_folds > 1u;
    uint64_t part = streamed;
    for (uint64_t parts = 1; kept && part > shape->depth;)
        part = parts_of(streamed, ++parts);
    for (uint64_t first = 0; first < streamed; first += part)
        for (uint64_t col = 0; col < along_cols; col += shape->cols)
            for (uint64_t row = 0; row < along_rows; row += shape->rows) {
                const uint64_t length = at_most(part, streamed - first);
                const uint64_t cols = at_most(shape->cols, along_cols - col),
                               rows = at_most(shape->rows, along_rows - row);
                const bool reads = kept && row != 0, writes = kept && row + rows < along_rows,
                           last = row + rows == along_rows;
                const uint64_t wait = reads && writes && shape->one_at_a_time ? length : 0;
                fold_in_time(t, length + wait);
                count->compute_cycles += length;
                count->accumulator_cycles += wait;
                count->macs += length * cols * rows;
                count->accumulator_words += length * cols * ((reads ? 1u : 0) + (writes ? 1u : 0)) * shape->sum_words;
                const uint64_t words = m->own_words ? rows * cols : rows;
                uint64_t hops = 0;
                for (uint64_t r = 1; r < shape->rows; ++r)
                    hops += r * cols;
                count->input_words += shape->dataflow == IS ? rows * cols : words * length;
                count->weight_words +=
                    shape->dataflow == WS ? rows * cols : (shape->dataflow == OS ? cols : rows) * length;
                count->passed_words +=
                    hops * (shape->dataflow == OS ? shape->sum_words : 1u) +
                    length * rows * cols * ((m->own_words ? 0 : 1u) + (shape->dataflow == OS ? 1u : shape->sum_words));
                if (last || shape->dataflow == OS)
                    count->bias_words += bias * (shape->dataflow == IS ? length : cols);
            }
}

static uint64_t words_of(const struct cnnvp_fx16_clocks *clocks)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < clocks->count; ++i) {
        const struct cnnvp_buffer_clocks *c = &clocks->classes[i];
        const uint64_t each = c->words != 0 ? c->words : (uint64_t)c->columns;
        words += c->times * later(c->places, 1) * later(c->taps, 1) * each;
    }
    return words;
}

static void check_random(const struct cnnvp_systolic_shape *shape, const struct nfu_case *c)
{
    struct cnnvp_fx16_traffic traffic;
    const struct cnnvp_fx16_cost cost = closed_cost(shape, c, &traffic);
    struct cnnvp_fx16_cost count = {0};
    struct times t = {.rows = shape->rows,
                      .skew = shape->rows + shape->cols - 2u,
                      .folds = shape->folds,
                      .drains = shape->dataflow == OS};
    const bool dense = c->opcode == OP_MATMUL, alone = !dense && (c->status & 0x20u) != 0;
    const uint32_t bias = nfu_case_bias_words(c);
    const bool partial = (c->status & 4u) != 0, scaled = bias == 4u;
    const uint64_t taps = dense ? 1u : (uint64_t)c->kx * c->ky, positions = dense ? 1u : (uint64_t)c->out_w * c->out_h;
    const uint64_t channels = nfu_case_channels(c);
    if (alone && shape->dataflow != IS)
        count_product(shape, &(struct product){taps, channels, positions, true}, bias, &t, &count);
    for (uint64_t i = 0; alone && shape->dataflow == IS && i < channels; ++i)
        count_product(shape, &(struct product){taps, 1, positions, false}, bias, &t, &count);
    if (!alone)
        count_product(shape, &(struct product){taps * c->in_channels, channels, positions, false}, bias, &t, &count);
    count.fill_cycles =
        end_of(&t) - count.compute_cycles - count.accumulator_cycles + shape->pipeline + (scaled ? 3u : 0);
    count.weight_words += count.bias_words;
    count.output_words = channels * positions * (partial ? shape->sum_words : 1u);
    char text[64];
    (void)snprintf(text, sizeof text, "%ux%u, dataflow %u, folds %u, depth %u", shape->rows, shape->cols,
                   shape->dataflow, shape->folds, (unsigned)shape->depth);
    nfu_case_check_cost(c, text, &cost, &count, sizeof cost);
    const uint32_t update = c->status & 3u;
    assert_int_equal(words_of(&traffic.input), count.input_words);
    assert_int_equal(words_of(&traffic.weight), count.weight_words - count.bias_words);
    assert_int_equal(words_of(&traffic.output),
                     count.output_words + (update != 0 ? shape->sum_words * channels * positions : 0));
}

static void test_random(void **state)
{
    uint64_t random = 20261127;
    uint32_t commands = 0;
    (void)state;
    while (commands < 6000u) {
        const struct cnnvp_systolic_shape shape = {
            .rows = between(&random, 1, 9),
            .cols = between(&random, 1, 9),
            .dataflow = between(&random, WS, IS),
            .folds = between(&random, SINGLE, PIPELINED),
            .pipeline = between(&random, 0, 4),
            .sum_words = between(&random, 1, 4),
            .depth = between(&random, 1, 60),
            .one_at_a_time = between(&random, 0, 1) != 0,
        };
        struct nfu_case c = {0};
        nfu_case_random(&c, &random);
        if (commands % 5u == 0)
            nfu_case_scale(&c, &random);
        if (c.opcode == OP_CONV || c.opcode == OP_MATMUL) {
            check_random(&shape, &c);
            ++commands;
        }
        nfu_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale_sim), cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
