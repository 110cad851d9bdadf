/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the multi-function module share. */
#ifndef CNNVP_TESTS_FUNCTION_CASE_H
#define CNNVP_TESTS_FUNCTION_CASE_H

#include "machine.h"
#include "cnnvp_integer.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 5, H = 6, W = 4, PLANE = H * W, ALL = IMAGES * CHANNELS * PLANE, POOLED = PLANE / 4 };

static const struct machine_options plain = {.bits = 8};

float *floats_at(struct machine *m, uint32_t half, uint32_t address);

void fill(struct machine *m, uint64_t seed);

struct machine_tpost post(void);

#endif
