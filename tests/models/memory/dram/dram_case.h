/* SPDX-License-Identifier: Apache-2.0 */
/* Off-chip memory and requesters of bursts. */
#ifndef CNNVP_TESTS_DRAM_CASE_H
#define CNNVP_TESTS_DRAM_CASE_H

#include "test.h"

#include "units.h"
#include "memory/dram/dram_replay.h"
#include "fake_host.h"

#define REQUESTS 256u
/* ddr4-2400 */
#define TCK ((cnnvp_time)833)
#define RCD 16u
#define CL 16u
#define BL 4u

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *dram;
    struct cnnvp_request requests[REQUESTS];
    cnnvp_time done[REQUESTS]; /* 0: not yet */
    uint32_t order[REQUESTS];  /* completion order */
    uint32_t completed;
    uint32_t count;
    uint32_t chain; /* requests that follow at once when one of initiator 1 completes */
};

void completed(void *context, struct cnnvp_request *request);

/* With rows of one bank after another, unless `param` is the mapping: what the tests state. */
struct bench *bench_new(const char *param, uint64_t value);

void bench_free(struct bench *bench);

struct cnnvp_request *add(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
                          uint32_t outstanding);

void send(struct bench *bench, struct cnnvp_request *request);

void send_new(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
              uint32_t outstanding);

void run_to_end(struct bench *bench);

/* Random arrivals; `pace`: something else happens so often, 0 never. */
struct bench *random_run(uint64_t seed, cnnvp_time pace);

void set_text(struct cnnvp_host *host, const char *name, const char *text);

/* Without refreshes, whose time would count too. */
struct bench *bench_port(uint64_t bytes, uint64_t mhz, const char *which, const char *shares);

#endif
