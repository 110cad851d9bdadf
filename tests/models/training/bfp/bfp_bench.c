/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how fast the conversions work on this machine. Not a test of speed. */
#include "training/bfp/bfp_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALUES = 65536, RUNS = 200 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
    static float values[VALUES];
    static int8_t mantissas[VALUES];
    static const char *const names[] = {"truncate", "nearest", "stochastic", "floor"};
    const struct bfp_kernels *kernels;
    for (int i = 0; i < VALUES; ++i)
        values[i] = (float)((int32_t)(cnnvp_round_random(1, (uint64_t)i) >> 40) - (1 << 23)) * 1e-6f;
    for (size_t v = 0; (kernels = cnnvp_bfp_kernels_variant(v)) != NULL; ++v) {
        const struct bfp_run floats = {3 - 6 + 150, 127};
        struct bfp_tally tally = {0};
        uint32_t max = 0;
        double begin = seconds();
        for (int r = 0; r < RUNS; ++r)
            max ^= kernels->max_bits(values, VALUES - (size_t)(r & 1));
        printf("%-8s max          %6.2f G values/s (%u)\n", kernels->name, VALUES * 1e-9 * RUNS / (seconds() - begin),
               (unsigned)max);
        for (uint32_t rounding = 0; rounding < 4; ++rounding) {
            begin = seconds();
            for (int r = 0; r < RUNS; ++r)
                kernels->floats(&floats, rounding, 1, (uint64_t)r, values, VALUES, mantissas, &tally);
            printf("%-8s %-10s %8.2f G floats/s\n", kernels->name, names[rounding],
                   VALUES * 1e-9 * RUNS / (seconds() - begin));
        }
    }
    return EXIT_SUCCESS;
}
