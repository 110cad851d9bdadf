/* SPDX-License-Identifier: Apache-2.0 */
/* Random parts for the tests that hold the queue's shortcuts against planning each command, and what is compared. */
#ifndef CNNVP_TESTS_QUEUE_CASE_H
#define CNNVP_TESTS_QUEUE_CASE_H

#include "test.h"

#include "memory/dram/dram_policy.h"
#include "memory/dram/dram_queue.h"

#define REQUESTS 120u
#define ROUNDS 250u

void queue_random_options(uint64_t *random, struct dram_options *options);

void queue_mix(uint64_t *digest, uint64_t value);

/* Rows, and when each command is allowed from `clock` on, before which everything is decided. */
uint64_t queue_state(const struct dram_channel *channel, uint64_t clock);

#endif
