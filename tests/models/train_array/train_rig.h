/* SPDX-License-Identifier: Apache-2.0 */
/* A PE module between its buffers. */
#ifndef CNNVP_TESTS_TRAIN_RIG_H
#define CNNVP_TESTS_TRAIN_RIG_H

#include "buffer/buffer.h"
#include "fake_host.h"
#include "train_array/train_array.h"
#include "train_case.h"

#include "cnnvp_tile.h"

#include <math.h>

#include "test.h"

enum { HALF_BYTES = 1 << 20 };

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *array;
    struct cnnvp_host *input;
    struct cnnvp_host *weight;
    struct cnnvp_host *output;
};

void begin(struct bench *b, uint64_t mhz, int timing_only);

void start(struct bench *b);

void end(struct bench *b);

/* Debug access to a buffer's storage from the start of a half. */
char *half_of(struct cnnvp_host *buffer, uint32_t half);

void load(struct bench *b, const struct train_case *c, uint32_t halves);

int send(struct bench *b, struct cnnvp_command *command, cnnvp_time *delay);

/* 6 -> 40 maps of 10x10, 5x5 kernels, five images: partial groups everywhere. */
struct train_case layer(uint32_t opcode);

#endif
