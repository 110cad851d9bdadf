/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how fast the NFU's fast kernels and the cycle-stepped array work on this machine. Not a test of speed. */
#include "inference/nfu/nfu_cycle.h"
#include "inference/fx16/fx16_kernels.h"
#include "nfu_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct layer {
    const char *name;
    uint32_t opcode, in, out, h, w, k, s;
};

/* Tiles as they fit into 32 KiB halves, as they are planned for VGG16 on 32x32 images, and its whole layers. */
static const struct layer layers[] = {
    {"tile 3->8 16x32 3x3", OP_CONV, 3, 8, 16, 32, 3, 1},     {"tile 64->8 8x16 3x3", OP_CONV, 64, 8, 8, 16, 3, 1},
    {"tile 128->8 8x8 3x3", OP_CONV, 128, 8, 8, 8, 3, 1},     {"tile 256->6 4x4 3x3", OP_CONV, 256, 6, 4, 4, 3, 1},
    {"tile 512->3 2x2 3x3", OP_CONV, 512, 3, 2, 2, 3, 1},     {"tile 14->4 32x32 3x3", OP_CONV, 14, 4, 32, 32, 3, 1},
    {"tile 16->16 16x16 3x3", OP_CONV, 16, 16, 16, 16, 3, 1}, {"LeNet C1 1->6 5x5", OP_CONV, 1, 6, 28, 28, 5, 1},
    {"LeNet C3 6->16 5x5", OP_CONV, 6, 16, 10, 10, 5, 1},     {"VGG 3->64 32x32", OP_CONV, 3, 64, 32, 32, 3, 1},
    {"VGG 64->64 32x32", OP_CONV, 64, 64, 32, 32, 3, 1},      {"VGG 128->128 16x16", OP_CONV, 128, 128, 16, 16, 3, 1},
    {"VGG 256->256 8x8", OP_CONV, 256, 256, 8, 8, 3, 1},      {"VGG 512->512 4x4", OP_CONV, 512, 512, 4, 4, 3, 1},
    {"VGG 512->512 2x2", OP_CONV, 512, 512, 2, 2, 3, 1},      {"ResNet 64->128 1x1 /2", OP_CONV, 64, 128, 28, 28, 1, 2},
    {"depthwise 32 56x56", OP_STEP, 32, 32, 56, 56, 3, 1},    {"fc 512->512", OP_MATMUL, 512, 512, 1, 1, 1, 1},
    {"fc 400->120", OP_MATMUL, 400, 120, 1, 1, 1, 1},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Best of several runs, in GMAC/s. */
static double measure(const struct fx16_kernels *kernels, uint32_t acc_bits, const struct cnnvp_fx16_tile *tile,
                      const struct cnnvp_fx16_data *data, uint64_t macs)
{
    struct cnnvp_fx16_scratch scratch = {0};
    double best = 1e9;
    const uint64_t repeat = 1u + 20000000u / macs;
    for (int run = 0; run < 3; ++run) {
        const double begin = seconds();
        for (uint64_t i = 0; i < repeat; ++i)
            if (cnnvp_fx16_compute_with(kernels, acc_bits, tile, data, &scratch) != CNNVP_OK)
                exit(1);
        const double taken = (seconds() - begin) / (double)repeat;
        best = taken < best ? taken : best;
    }
    cnnvp_fx16_scratch_free(&scratch);
    return (double)macs / best * 1e-9;
}

static void measure_layer(const struct layer *layer)
{
    const struct cnnvp_nfu_shape shape = {
        .rows = 8, .cols = 8, .acc_bits = 48, .pipeline = 3, .fifo_stride = 4, .propagation = true};
    uint64_t random = 5;
    struct nfu_case c = nfu_case_window(
        layer->opcode, layer->in, layer->out, layer->w, layer->h, layer->k, layer->k, layer->s, layer->s);
    struct cnnvp_fx16_tile tile;
    struct cnnvp_fx16_cost cost;
    const struct fx16_kernels *kernels;
    const char *reason = NULL;
    c.status = layer->opcode == OP_STEP ? 1u : 0;
    c.in_channel_stride = 0; /* dense */
    nfu_case_data(&c, &random);
    const struct cnnvp_command command = nfu_case_command(&c);
    if (cnnvp_fx16_decode(&command, &tile, &reason) != CNNVP_OK)
        exit(1);
    cnnvp_nfu_cost(&shape, &tile, &cost);
    const struct cnnvp_fx16_data data = {.input = c.input, .weights = c.weights, .bias = c.bias, .sums = c.sums};
    printf("%-24s", layer->name);
    for (size_t i = 0; (kernels = cnnvp_fx16_kernels_variant(i)) != NULL; ++i)
        printf("  %s %6.1f", kernels->name, measure(kernels, shape.acc_bits, &tile, &data, cost.macs));
    if (cost.macs < 3000000u) {
        struct cnnvp_nfu_array array = {0};
        struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS] = {0};
        const double begin = seconds();
        if (cnnvp_nfu_cycle(&shape, &tile, &data, &array, &cost, ports) != CNNVP_OK)
            exit(1);
        printf("  stepped %.4f", (double)cost.macs / (seconds() - begin) * 1e-9);
        cnnvp_nfu_array_free(&array);
    }
    printf("\n");
    nfu_case_free(&c);
}

int main(void)
{
    printf("GMAC/s\n");
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; ++i)
        measure_layer(&layers[i]);
    return 0;
}
