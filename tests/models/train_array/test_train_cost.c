/* SPDX-License-Identifier: Apache-2.0 */
/* The published closed forms of the training engine's cycles: VGG16 for 32x32 images, LeNet-5, fully connected
 * layers. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vgg16),
        cmocka_unit_test(test_lenet5),
        cmocka_unit_test(test_connected),
        cmocka_unit_test(test_utilisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
