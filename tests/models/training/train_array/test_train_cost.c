/* SPDX-License-Identifier: Apache-2.0 */
/* The published closed forms of the training engine's cycles (VGG16 for 32x32 images, LeNet-5, fully connected layers),
 * and counts worked out here from S001's loops, pass by pass. */
#include "cnnvp_integer.h"
#include "random.h"
#include "train_case.h"

#include "test.h"

static const struct cnnvp_train_shape engine = {.arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = 8};

static const struct {
    uint32_t in, out, side;
} vgg16[] = {{3, 64, 32},   {64, 64, 32},  {64, 128, 16}, {128, 128, 16}, {128, 256, 8}, {256, 256, 8}, {256, 256, 8},
             {256, 512, 4}, {512, 512, 4}, {512, 512, 4}, {512, 512, 2},  {512, 512, 2}, {512, 512, 2}};

/* A tile as the decoder would describe it; costs look at nothing else. */
static uint64_t compute_cycles(const struct cnnvp_train_shape *shape, uint32_t opcode, uint32_t images, uint32_t in,
                               uint32_t out, uint32_t side, uint32_t kernel)
{
    const struct cnnvp_train_tile tile = {
        .kind = opcode == T_GRADIENT || opcode == T_OUTER ? CNNVP_TRAIN_GRADIENT
                : opcode == T_ERROR || opcode == T_BACK   ? CNNVP_TRAIN_ERROR
                                                          : CNNVP_TRAIN_FORWARD,
        .connected = opcode >= T_MATMUL,
        .images = images,
        .in_channels = in,
        .out_channels = out,
        .out_h = side,
        .out_w = side,
        .kx = kernel,
        .ky = kernel,
    };
    struct cnnvp_train_cost cost;
    cnnvp_train_cost(shape, &tile, &cost);
    return cost.compute_cycles;
}

static uint64_t whole_vgg16(const struct cnnvp_train_shape *shape, uint32_t opcode, uint32_t images)
{
    uint64_t cycles = 0;
    for (size_t i = 0; i < sizeof vgg16 / sizeof vgg16[0]; ++i) {
        const bool error = opcode == T_ERROR;
        if (error && i == 0) /* nothing wants the error of the image itself */
            continue;
        cycles += compute_cycles(shape, opcode, images, error ? vgg16[i].out : vgg16[i].in,
                                 error ? vgg16[i].in : vgg16[i].out, vgg16[i].side, 3);
    }
    return cycles;
}

static void test_vgg16(void **state)
{
    struct cnnvp_train_shape adder = engine;
    (void)state;
    adder.gradient_adder = true;
    assert_int_equal(whole_vgg16(&engine, T_FORWARD, 4), 3262464);
    assert_int_equal(whole_vgg16(&engine, T_FORWARD, 1), 3262464);
    assert_int_equal(whole_vgg16(&engine, T_FORWARD, 5), 2 * 3262464);
    assert_int_equal(whole_vgg16(&engine, T_ERROR, 4), 3244032);
    assert_int_equal(whole_vgg16(&engine, T_GRADIENT, 1), 817152);
    assert_int_equal(whole_vgg16(&engine, T_GRADIENT, 4), 4 * 817152);
    assert_int_equal(whole_vgg16(&adder, T_GRADIENT, 1), 1029312);
}

static void test_lenet5(void **state)
{
    (void)state;
    /* 1 -> 6 of 28x28 and 6 -> 16 of 10x10, 5x5 kernels in four pieces */
    assert_int_equal(compute_cycles(&engine, T_FORWARD, 4, 1, 6, 28, 5), 9408);
    assert_int_equal(compute_cycles(&engine, T_FORWARD, 4, 6, 16, 10, 5), 7200);
    assert_int_equal(compute_cycles(&engine, T_FORWARD, 4, 10, 32, 10, 1), 10 * 100 * 3);
}

static void test_connected(void **state)
{
    struct cnnvp_train_shape all = engine;
    (void)state;
    all.fc_all_rows = true;
    assert_int_equal(compute_cycles(&engine, T_MATMUL, 4, 512, 96, 1, 1), 3 * 512);
    assert_int_equal(compute_cycles(&all, T_MATMUL, 4, 512, 96, 1, 1), 512);
    assert_int_equal(compute_cycles(&engine, T_MATMUL, 4, 512, 10, 1, 1), 512);
    assert_int_equal(compute_cycles(&engine, T_MATMUL, 8, 400, 120, 1, 1), 2 * 400 * 4);
    assert_int_equal(compute_cycles(&engine, T_BACK, 4, 10, 512, 1, 1), 10 * 16);
    assert_int_equal(compute_cycles(&engine, T_OUTER, 1, 512, 10, 1, 1), 128);
    assert_int_equal(compute_cycles(&all, T_OUTER, 4, 400, 120, 1, 1), 4 * 100 * 4);
}

/* VGG16 keeps every PE busy: 100 % but for the first layer's three channels of a gradient. */
static void test_utilisation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vgg16 / sizeof vgg16[0]; ++i) {
        const struct cnnvp_train_tile tile = {
            .images = 4,
            .in_channels = vgg16[i].in,
            .out_channels = vgg16[i].out,
            .out_h = vgg16[i].side,
            .out_w = vgg16[i].side,
            .kx = 3,
            .ky = 3};
        struct cnnvp_train_cost cost;
        cnnvp_train_cost(&engine, &tile, &cost);
        assert_int_equal(cost.macs, cost.compute_cycles * 384);
        assert_int_equal(cost.output_words, 4ull * vgg16[i].in * vgg16[i].out * vgg16[i].side * vgg16[i].side);
        assert_int_equal(cost.fill_cycles, 5);
        assert_int_equal(cost.writeout_cycles, 1);
    }
}

/* ---- the loops of S001 (D-emb fwd-5, grad-6), on random layers ---- */

struct counting {
    const struct cnnvp_train_shape *shape;
    const struct train_case *layer;
    uint32_t channels, outs; /* of the first operand, of the results */
    uint32_t positions;      /* of a map that is swept */
    struct cnnvp_train_cost cost;
    uint64_t clock, drained; /* cycle in which the output registers are free */
};

/* A pass is over: what it leaves goes once the registers are free. */
static void count_pass(struct counting *n, uint64_t cycles, uint64_t drain)
{
    n->cost.compute_cycles += cycles;
    n->clock += cycles;
    const uint64_t late = n->drained > n->clock ? n->drained - n->clock : 0;
    n->cost.writeout_cycles += late;
    n->clock += late;
    n->drained = n->clock + drain;
}

/* Sums that leave; the first of each place is added to what is there only where the command says so. */
static void count_sums(struct counting *n, uint64_t sums, int first)
{
    n->cost.output_words += sums;
    n->cost.partial_words += first && !n->layer->accumulate ? 0 : sums;
}

/* An image on each of `arrays`, a kernel on each of `columns`, for one input channel: kernel pieces of three columns
 * and a row for each PE, three cycles a position. */
static void count_pieces(struct counting *n, uint64_t arrays, uint64_t columns, int first_channel)
{
    const struct train_case *c = n->layer;
    const uint64_t rows = n->shape->rows;
    for (uint32_t ky = 0; ky < c->ky; ky += n->shape->rows)
        for (uint32_t kx = 0; kx < c->kx; kx += 3u) {
            const uint64_t taps = cnnvp_minimum(c->ky - ky, rows) * cnnvp_minimum(c->kx - kx, 3u);
            n->cost.weight_words += columns * 3u * rows;
            for (uint32_t i = 0; i < n->positions; ++i) {
                n->cost.input_words += arrays * 3u * rows;
                n->cost.macs += arrays * columns * taps;
                count_pass(n, 3u, 1u);
                count_sums(n, arrays * columns, first_channel && ky == 0 && kx == 0);
            }
        }
}

/* An activation's channel on each of `arrays`, an error's on each of `columns`, all three columns of a piece in turn.
 * Rows of PEs are kernel rows, or, where column adders bring them together, error rows. */
static void count_gradient(struct counting *n, uint32_t ky, uint32_t kx, uint64_t arrays, uint64_t columns, int first)
{
    const struct train_case *c = n->layer;
    const uint32_t rows = n->shape->rows;
    for (uint32_t t = 0; t < 3u; ++t) {
        const uint64_t inside = kx + t < c->kx ? cnnvp_minimum(c->ky - ky, rows) : 0;
        for (uint32_t r = 0; r < (n->shape->gradient_adder ? rows : 1u); ++r) {
            const uint64_t tall = n->shape->gradient_adder ? cnnvp_divide_up(c->oh, rows) : c->oh;
            const uint64_t kept = n->shape->gradient_adder ? r < inside : inside;
            n->cost.input_words += arrays * n->positions * (n->shape->gradient_adder ? 1u : rows);
            n->cost.weight_words += columns * n->positions;
            n->cost.macs += arrays * columns * n->positions * kept;
            count_pass(n, tall * c->ow, n->shape->gradient_adder ? 1u : rows);
            count_sums(n, arrays * columns * kept, first);
        }
    }
}

static void count_gradients(struct counting *n)
{
    const struct train_case *c = n->layer;
    const uint32_t piece_rows = n->shape->rows;
    for (uint32_t image = 0; image < c->images; ++image)
        for (uint32_t in = 0; in < c->cin; in += n->shape->arrays)
            for (uint32_t out = 0; out < c->cout; out += n->shape->cols) {
                const uint64_t arrays = cnnvp_minimum(c->cin - in, n->shape->arrays);
                const uint64_t columns = cnnvp_minimum(c->cout - out, n->shape->cols);
                if (c->opcode == T_OUTER) { /* a product each */
                    n->cost.input_words += arrays;
                    n->cost.weight_words += columns;
                    n->cost.macs += arrays * columns;
                    count_pass(n, 1u, 1u);
                    count_sums(n, arrays * columns, image == 0);
                    continue;
                }
                for (uint32_t ky = 0; ky < c->ky; ky += piece_rows)
                    for (uint32_t kx = 0; kx < c->kx; kx += 3u)
                        count_gradient(n, ky, kx, arrays, columns, image == 0);
            }
}

/* An output on each PE of the rows that work, an input a cycle. Inputs with exponents of their own are passes of their
 * own. */
static void count_connected(struct counting *n, uint64_t arrays)
{
    const struct train_case *c = n->layer;
    const uint32_t rows = n->shape->fc_all_rows ? n->shape->rows : 1u;
    const uint32_t passes = c->to_float && c->second_exp_part ? n->channels : 1u;
    for (uint32_t out = 0; out < n->outs; out += n->shape->cols * rows) {
        const uint64_t columns = cnnvp_minimum(n->outs - out, n->shape->cols * rows);
        for (uint32_t i = 0; i < passes; ++i) {
            const uint64_t inputs = n->channels / passes;
            n->cost.input_words += arrays * inputs;
            n->cost.weight_words += columns * inputs;
            n->cost.macs += arrays * columns * inputs;
            count_pass(n, inputs, rows);
            count_sums(n, arrays * columns, i == 0);
        }
    }
}

static struct cnnvp_train_cost count_loops(const struct cnnvp_train_shape *shape, const struct train_case *c)
{
    const int turned = c->opcode == T_ERROR || c->opcode == T_BACK;
    struct counting n = {
        .shape = shape,
        .layer = c,
        .channels = turned ? c->cout : c->cin,
        .outs = turned ? c->cin : c->cout,
        .positions = c->opcode == T_ERROR ? c->h * c->w : c->oh * c->ow,
        .cost = {.fill_cycles = shape->pipeline - 1u}};
    if (c->opcode == T_GRADIENT || c->opcode == T_OUTER) {
        count_gradients(&n);
    } else {
        n.cost.fill_cycles += c->opcode < T_MATMUL ? 3u : 0; /* the first weights */
        for (uint32_t image = 0; image < c->images; image += shape->arrays) {
            const uint64_t arrays = cnnvp_minimum(c->images - image, shape->arrays);
            if (c->opcode >= T_MATMUL)
                count_connected(&n, arrays);
            for (uint32_t channel = 0; channel < n.channels && c->opcode < T_MATMUL; ++channel)
                for (uint32_t out = 0; out < n.outs; out += shape->cols)
                    count_pieces(&n, arrays, cnnvp_minimum(n.outs - out, shape->cols), channel == 0);
        }
    }
    n.cost.writeout_cycles += n.drained - n.clock;
    return n.cost;
}

/* Words of all clocks at a port. */
static uint64_t words_of(const struct cnnvp_train_clocks *clocks)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < clocks->count; ++i) {
        const struct cnnvp_buffer_clocks *of = &clocks->classes[i];
        const uint64_t each =
            cnnvp_maximum(of->maps, 1u) * cnnvp_maximum(of->rows, 1u) * cnnvp_maximum(of->columns, 1u);
        words += of->times * (of->words != 0 ? of->words : each);
    }
    return words;
}

static void test_loops(void **state)
{
    uint64_t random = 20261120;
    (void)state;
    for (uint32_t i = 0; i < 6000u; ++i) {
        struct train_case c;
        struct cnnvp_train_tile tile;
        struct cnnvp_train_cost cost;
        const char *reason = NULL;
        const struct cnnvp_train_shape shape = {
            .arrays = between(&random, 1, 5),
            .cols = between(&random, 1, 9),
            .rows = between(&random, 0, 2) != 0 ? 3u : between(&random, 1, 5),
            .pipeline = between(&random, 1, 4),
            .mantissa_bits = 8,
            .fc_all_rows = between(&random, 0, 1) != 0,
            .gradient_adder = between(&random, 0, 1) != 0};
        train_case_random(&c, &random, 8);
        assert_int_equal(cnnvp_train_decode(&shape, &c.command, &tile, &reason), CNNVP_OK);
        cnnvp_train_cost(&shape, &tile, &cost);
        const struct cnnvp_train_cost count = count_loops(&shape, &c);
        if (memcmp(&cost, &count, sizeof cost) != 0)
            print_error("opcode %02x images %u channels %u->%u map %ux%u->%ux%u kernel %ux%u; module %ux%ux%u fc %d "
                        "adder %d\n",
                        c.opcode, c.images, c.cin, c.cout, c.w, c.h, c.ow, c.oh, c.kx, c.ky, shape.arrays, shape.cols,
                        shape.rows, shape.fc_all_rows, shape.gradient_adder);
        assert_int_equal(cost.compute_cycles, count.compute_cycles);
        assert_int_equal(cost.writeout_cycles, count.writeout_cycles);
        assert_memory_equal(&cost, &count, sizeof cost);
        struct cnnvp_train_port_clocks ports;
        cnnvp_train_clocks(&shape, &tile, &ports);
        assert_int_equal(words_of(&ports.input), cost.input_words);
        assert_int_equal(words_of(&ports.weight), cost.weight_words);
        assert_int_equal(words_of(&ports.output), cost.output_words);
        train_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vgg16),       cmocka_unit_test(test_lenet5), cmocka_unit_test(test_connected),
        cmocka_unit_test(test_utilisation), cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
