/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for the core of preset nfu that drives the accelerator itself. It runs a 3x3 convolution with bias, a 2x2
 * maximum pool and a ReLU, each as one instruction, and compares the result with plain C.
 */
#include <stdio.h>

#include "kit.h"

enum { INPUTS = 2, OUTPUTS = 4, SIDE = 10, KERNEL = 3, MAP = SIDE - KERNEL + 1, POOL = 2, SMALL = MAP / POOL };
enum { INPUT_BUFFER, WEIGHT_BUFFER, OUTPUT_BUFFER, IMMEDIATE }; /* buffers of transfers and vector operands */

/* Registers of the instruction element that hold the descriptors. */
enum { WINDOW = 16, VECTOR = 40, IMAGE = 64, WEIGHTS = 80, BACK = 96, RESULT = 112 };

/* The rows of a transfer must be whole DMA words of 16 bytes. */
static int16_t image[INPUTS][SIDE][SIDE] __attribute__((aligned(64)));
static struct {
    int16_t kernel[OUTPUTS][INPUTS][KERNEL][KERNEL];
    int16_t bias[8];
} weights __attribute__((aligned(64)));
static int16_t result[OUTPUTS][SMALL][SMALL] __attribute__((aligned(64)));

static void make_data(void)
{
    for (int i = 0; i < INPUTS * SIDE * SIDE; ++i)
        (&image[0][0][0])[i] = (int16_t)(i * 7 % 41 - 20);
    for (int i = 0; i < OUTPUTS * INPUTS * KERNEL * KERNEL; ++i)
        (&weights.kernel[0][0][0][0])[i] = (int16_t)(i * 5 % 13 - 6);
    for (int i = 0; i < OUTPUTS; ++i)
        weights.bias[i] = (int16_t)(100 * i - 150);
}

/* A transfer of `bytes` between memory and a buffer, as one row. */
static struct cnnvp_transfer row(const void *memory, uint32_t buffer, uint32_t bytes, uint32_t feature_words)
{
    return (struct cnnvp_transfer){
        .memory_addr = cnnvp_kit_address(memory),
        .buffer_addr = buffer,
        .row_bytes = bytes,
        .rows = 1,
        .planes = 1,
        .feature_words = feature_words};
}

/* Each instruction waits for its unit and its buffer halves. The convolution uses the first half of each buffer; pool,
 * ReLU and store use the second halves. */
static void push_layers(struct cnnvp_element *element)
{
    const uint32_t second = CNNVP_HALF_INPUT | CNNVP_HALF_OUTPUT;
    const struct cnnvp_transfer load = row(image, 0, sizeof image, INPUTS * SIDE * SIDE);
    const struct cnnvp_transfer load_weights = row(&weights, 0, sizeof weights, 0);
    CNNVP_KIT_PUSH(element, request, INPUT_BUFFER << CNNVP_STATUS_request_buffer, 0, IMAGE, &load);
    CNNVP_KIT_PUSH(element, request, WEIGHT_BUFFER << CNNVP_STATUS_request_buffer, 0, WEIGHTS, &load_weights);
    CNNVP_KIT_PUSH(element, receive, INPUT_BUFFER << CNNVP_STATUS_receive_buffer, 0, IMAGE, &load);
    CNNVP_KIT_PUSH(element, receive, WEIGHT_BUFFER << CNNVP_STATUS_receive_buffer, 0, WEIGHTS, &load_weights);

    const struct cnnvp_window conv = {
        .in_row_stride = SIDE,
        .in_channel_stride = SIDE * SIDE,
        .in_channels = INPUTS,
        .out_channels = OUTPUTS,
        .out_h = MAP,
        .out_w = MAP,
        .out_channel_stride = MAP * MAP,
        .kernel = cnnvp_pack(KERNEL, KERNEL),
        .stride = cnnvp_pack(1, 1),
        .dilation = cnnvp_pack(1, 1),
        .bias_addr = sizeof weights.kernel};
    cnnvp_kit_layer(&(struct cnnvp_kit_layer){
        .tag = 1, .name = "conv", .op = "conv", .macs = OUTPUTS * MAP * MAP * INPUTS * KERNEL * KERNEL});
    CNNVP_KIT_PUSH(element, conv, 1 << CNNVP_STATUS_conv_bias, 0, WINDOW, &conv);

    struct cnnvp_transfer back = row(NULL, 0, OUTPUTS * MAP * MAP * 2, OUTPUTS * MAP * MAP);
    CNNVP_KIT_PUSH(element, move, INPUT_BUFFER << CNNVP_STATUS_move_buffer | OUTPUT_BUFFER << CNNVP_STATUS_move_source,
                   CNNVP_HALF_INPUT, BACK, &back);

    const struct cnnvp_window pool = {
        .in_row_stride = MAP,
        .in_channel_stride = MAP * MAP,
        .in_channels = OUTPUTS,
        .out_h = SMALL,
        .out_w = SMALL,
        .out_channel_stride = SMALL * SMALL,
        .kernel = cnnvp_pack(POOL, POOL),
        .stride = cnnvp_pack(POOL, POOL),
        .dilation = cnnvp_pack(1, 1),
        .valid_rows = cnnvp_pack(0, MAP),
        .valid_cols = cnnvp_pack(0, MAP)};
    cnnvp_kit_layer(&(struct cnnvp_kit_layer){.tag = 2, .name = "pool", .op = "pool"});
    CNNVP_KIT_PUSH(element, pool, 0, second, WINDOW, &pool);

    const uint32_t words = OUTPUTS * SMALL * SMALL;
    const struct cnnvp_vector relu = {.out_addr = words * 2, .count = words, .repeat = 1, .a_stride = 1};
    cnnvp_kit_layer(&(struct cnnvp_kit_layer){.tag = 3, .name = "relu", .op = "activation"});
    CNNVP_KIT_PUSH(
        element, vcmp,
        OUTPUT_BUFFER << CNNVP_STATUS_vcmp_a | IMMEDIATE << CNNVP_STATUS_vcmp_b | 1 << CNNVP_STATUS_vcmp_store, second,
        VECTOR, &relu);

    const struct cnnvp_transfer store = row(result, words * 2, sizeof result, words);
    CNNVP_KIT_PUSH(element, store, OUTPUT_BUFFER << CNNVP_STATUS_store_buffer, second, RESULT, &store);
}

/* ---- the same layers in plain C ---- */

static int convolved(int channel, int y, int x)
{
    int sum = weights.bias[channel];
    for (int i = 0; i < INPUTS; ++i)
        for (int ky = 0; ky < KERNEL; ++ky)
            for (int kx = 0; kx < KERNEL; ++kx)
                sum += image[i][y + ky][x + kx] * weights.kernel[channel][i][ky][kx];
    return sum;
}

static int expected(int channel, int y, int x)
{
    int most = 0; /* ReLU: at least 0 */
    for (int ky = 0; ky < POOL; ++ky)
        for (int kx = 0; kx < POOL; ++kx) {
            const int value = convolved(channel, y * POOL + ky, x * POOL + kx);
            most = value > most ? value : most;
        }
    return most;
}

int main(void)
{
    make_data();
    const uint64_t begin = cnnvp_kit_cycles();
    push_layers(cnnvp_kit_element());
    if (cnnvp_kit_finish() != 0)
        return 1;
    const uint64_t cycles = cnnvp_kit_cycles() - begin;
    for (int channel = 0; channel < OUTPUTS; ++channel)
        for (int y = 0; y < SMALL; ++y)
            for (int x = 0; x < SMALL; ++x)
                if (result[channel][y][x] != expected(channel, y, x)) {
                    printf("channel %d, row %d, column %d: %d, not %d\n", channel, y, x, result[channel][y][x],
                           expected(channel, y, x));
                    return 1;
                }
    cnnvp_kit_report("core_cycles", (int64_t)cycles);
    printf("%d results as expected, %lu cycles of the core\n", OUTPUTS * SMALL * SMALL, (unsigned long)cycles);
    return 0;
}
