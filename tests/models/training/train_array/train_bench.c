/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how fast the training engine's fast kernels work on this machine, four images a pass. Not a test of speed. */
#include "training/train_array/train_job.h"
#include "train_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    uint32_t opcode, in, out, side;
} layers[] = {
    {T_FORWARD, 3, 64, 32},    {T_FORWARD, 64, 64, 32},    {T_FORWARD, 64, 128, 16},  {T_FORWARD, 128, 128, 16},
    {T_FORWARD, 128, 256, 8},  {T_FORWARD, 256, 256, 8},   {T_FORWARD, 256, 512, 4},  {T_FORWARD, 512, 512, 4},
    {T_FORWARD, 512, 512, 2},  {T_FORWARD, 1, 32, 32},     {T_FORWARD, 4, 32, 16},    {T_FORWARD, 16, 32, 8},
    {T_FORWARD, 64, 32, 4},    {T_FORWARD, 128, 32, 2},    {T_ERROR, 64, 64, 32},     {T_ERROR, 128, 128, 16},
    {T_ERROR, 256, 256, 8},    {T_ERROR, 512, 512, 4},     {T_ERROR, 512, 512, 2},    {T_GRADIENT, 3, 64, 32},
    {T_GRADIENT, 64, 64, 32},  {T_GRADIENT, 128, 128, 16}, {T_GRADIENT, 256, 256, 8}, {T_GRADIENT, 512, 512, 4},
    {T_GRADIENT, 512, 512, 2}, {T_MATMUL, 512, 512, 1},    {T_BACK, 512, 512, 1},     {T_OUTER, 512, 512, 1},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Best of several runs, in GMAC/s. */
static double measure(const struct train_kernels *kernels, const struct cnnvp_train_shape *shape,
                      const struct cnnvp_train_tile *tile, const struct cnnvp_train_data *data, uint64_t macs)
{
    struct cnnvp_train_scratch scratch = {0};
    uint64_t saturated = 0;
    double best = 1e9;
    for (int run = 0; run < 5; ++run) {
        const double begin = seconds();
        if (cnnvp_train_compute_with(kernels, shape, tile, data, &scratch, &saturated) != CNNVP_OK)
            exit(1);
        const double taken = seconds() - begin;
        best = taken < best ? taken : best;
    }
    cnnvp_train_scratch_free(&scratch);
    return (double)macs / best * 1e-9;
}

int main(void)
{
    static const char *const names[] = {"forward", "error", "gradient", "matmul", "back", "outer"};
    const struct cnnvp_train_shape shape = {.arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = 8};
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; ++i) {
        const struct train_kernels *kernels;
        const uint32_t k = layers[i].opcode >= T_MATMUL ? 1u : 3u;
        struct cnnvp_train_tile tile;
        struct cnnvp_train_cost cost;
        const char *reason = "";
        struct train_case c =
            train_case_same(layers[i].opcode, 4, layers[i].in, layers[i].out, layers[i].side, layers[i].side, k);
        train_case_fill(&c, &random, false, false);
        if (cnnvp_train_decode(&shape, &c.command, &tile, &reason) != CNNVP_OK) {
            fprintf(stderr, "%s\n", reason);
            return EXIT_FAILURE;
        }
        cnnvp_train_cost(&shape, &tile, &cost);
        const struct cnnvp_train_data data = {c.in_raw, c.second_raw, c.before, c.in_exps, c.second_exps};
        printf("%-8s %3u -> %3u, %2ux%-2u ", names[layers[i].opcode - T_FORWARD], layers[i].in, layers[i].out,
               layers[i].side, layers[i].side);
        for (size_t v = 0; (kernels = cnnvp_train_kernels_variant(v)) != NULL; ++v)
            printf(" %s %.1f", kernels->name, measure(kernels, &shape, &tile, &data, cost.macs));
        printf(" GMAC/s\n");
        train_case_free(&c);
    }
    return EXIT_SUCCESS;
}
