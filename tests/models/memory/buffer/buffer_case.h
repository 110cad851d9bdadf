/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer on a host of the tests. */
#ifndef CNNVP_TESTS_BUFFER_CASE_H
#define CNNVP_TESTS_BUFFER_CASE_H

#include "test.h"

#include "cnnvp_buffer.h"
#include "units.h"
#include "fake_host.h"

#define MHZ 1000u /* a cycle is 1000 ps */
#define HALF 4096u

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *host;
};

void open_buffer(struct fixture *f, int timing_only, int pingpong);

int go(struct fixture *f, uint32_t op, uint32_t half, uint32_t offset, uint64_t size, void *data, uint32_t mode);

int16_t *borrow(struct fixture *f, uint32_t half, uint32_t offset, uint64_t size);

int update(struct fixture *f, struct cnnvp_update *u);

struct cnnvp_update plain_update(const int64_t *sums, uint64_t planes, uint64_t plane_words);

#endif
