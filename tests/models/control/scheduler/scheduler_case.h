/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler and the tables that it walks. */
#ifndef CNNVP_TESTS_SCHEDULER_CASE_H
#define CNNVP_TESTS_SCHEDULER_CASE_H

#include "test.h"

#include "fake_host.h"
#include "units.h"
#include "control/scheduler/scheduler_walk.h"
#include "steps.h"

#define TABLE 4096u
#define CYCLE UINT64_C(1000) /* ps at 1000 MHz */

/* Instructions of this test: an opcode that the unit does not know, and what it is about. */
enum kind { CALCULATE = 0xa0, AHEAD = 0xa1, GATHERED = 0xa2, EMIT = 0xa3 };

struct table {
    uint32_t words[TABLE];
    uint32_t count;
};

struct section {
    enum kind kind;
    uint32_t condition, block, gathered;
};

void make_table(const struct chain *chain, uint32_t block, struct table *table);

struct element {
    struct fake_sim sim;
    struct cnnvp_host *scheduler;
    uint32_t room; /* of the queue */
    uint32_t low;
    uint32_t high_words[65536];
    uint32_t low_words[65536];
    uint32_t count;
    int refuses;
};

struct element *open_scheduler(const struct table *table);

void close_scheduler(struct element *element);

#endif
