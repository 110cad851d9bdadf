/* SPDX-License-Identifier: Apache-2.0 */
/* A PE module between its buffers. */
#ifndef CNNVP_TESTS_TRAIN_RIG_H
#define CNNVP_TESTS_TRAIN_RIG_H

#include "array_rig.h"
#include "cnnvp_buffer.h"
#include "units.h"
#include "units.h"
#include "train_case.h"

#include "cnnvp_tile.h"

#include <math.h>

#include "test.h"

enum { HALF_BYTES = 1 << 20 };

void begin(struct array_rig *b, uint64_t mhz, int timing_only);

/* Debug access to a buffer's storage from the start of a half. */
char *half_of(struct cnnvp_host *buffer, uint32_t half);

void load(struct array_rig *b, const struct train_case *c, uint32_t halves);

/* 6 -> 40 maps of 10x10, 5x5 kernels, five images: partial groups everywhere. */
struct train_case layer(uint32_t opcode);

#endif
