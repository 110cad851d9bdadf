/* SPDX-License-Identifier: Apache-2.0 */
/* Windows on the lanes of a vector unit. */
#ifndef CNNVP_TESTS_WINDOW_CASE_H
#define CNNVP_TESTS_WINDOW_CASE_H

#include "units.h"
#include "cnnvp_integer.h"
#include "nfu_case.h"
#include "vector_bench.h"

#include <string.h>

enum { WEIGHT_AT = 4096, ACC_AT = 0, OUT_AT = 40000, PIPELINE = 4, HALF_INPUT_WORDS = BENCH_HALF / 2 };

struct shape {
    uint64_t lanes, units, width; /* words of the ports of input and output */
    int timing_only;
    uint64_t banks; /* of lines of 8 words; 0: as many as any beat takes */
};

struct pair {
    struct bench bench;
    struct cnnvp_host *nfu;
    struct shape shape;
};

void pair_open(struct pair *pair, const struct shape *shape);

/* Cycles that the command takes there, or a negative status. */
int64_t run(struct pair *pair, struct cnnvp_host *unit, struct cnnvp_command *command);

struct cnnvp_command command_of(const struct nfu_case *c);

/* One that fits the halves. */
struct nfu_case random_window(uint64_t *random);

#endif
