/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host of the model ABI for unit tests, without SystemC: instances, time, events, direct connections between ports,
 * and one memory with a fixed latency and bandwidth. An error in a test's own set-up ends the program with a message.
 */
#ifndef CNNVP_FAKE_HOST_H
#define CNNVP_FAKE_HOST_H

#include "cnnvp_model.h"

#define FAKE_HOSTS 32u
#define FAKE_PORTS 24u
#define FAKE_EVENTS 16u
#define FAKE_STATS 128u
#define FAKE_PARAMS 64u
#define FAKE_SPANS 256u
#define FAKE_COUNTERS 16u
#define FAKE_REQUESTS 64u
#define FAKE_TAGS 16u

struct fake_sim;

typedef int (*fake_access_fn)(void *context, struct cnnvp_access *access);

struct fake_span {
    uint32_t track;
    const char *name;
    uint32_t tag;
    uint64_t flow;
    cnnvp_time begin;
    cnnvp_time end;
};

/* One instance of a unit. Tests read the members; functions change them. */
struct cnnvp_host {
    struct fake_sim *sim;
    const struct cnnvp_unit *unit;
    void *self;
    uint32_t number;
    uint64_t params[FAKE_PARAMS];
    const char *texts[FAKE_PARAMS];
    struct cnnvp_host *target[FAKE_PORTS]; /* connected instance */
    uint32_t target_port[FAKE_PORTS];
    uint64_t carried[FAKE_PORTS];       /* bytes to and from the connected instance */
    fake_access_fn handler[FAKE_PORTS]; /* function of the test that takes the accesses instead; NULL: none */
    void *handler_context[FAKE_PORTS];
    cnnvp_time event_at[FAKE_EVENTS]; /* CNNVP_TIME_NEVER: not pending */
    uint64_t counts[FAKE_STATS];
    uint64_t tag_counts[FAKE_STATS][FAKE_TAGS];
    uint64_t requester_counts[FAKE_STATS][FAKE_TAGS]; /* by instance */
    uint64_t burst_count, burst_clock;
    uint64_t crossed;          /* bytes that a memory reported as transferred at its pins */
    int irq_level[FAKE_PORTS]; /* level of IRQ_OUT ports, and time of its last change */
    cnnvp_time irq_changed[FAKE_PORTS];
    void (*completed)(void *context, struct cnnvp_request *request); /* for the test's requests to a memory target */
    void *completed_context;
    struct cnnvp_request *announced[FAKE_REQUESTS]; /* completed in the unit's event; reported afterwards */
    uint32_t announced_count;
    int in_event;
    struct fake_span spans[FAKE_SPANS];
    uint32_t span_count;
    uint64_t counter_value[FAKE_COUNTERS];
    uint64_t counter_peak[FAKE_COUNTERS];
    char output[64]; /* console output, and console input (NULL: none) */
    size_t output_size;
    const char *input;
    uint32_t warnings;
    uint32_t config_errors;
    char message[256]; /* last log line or configuration error */
};

struct fake_pending {
    struct cnnvp_host *host;
    struct cnnvp_request *request;
    uint32_t port;
    cnnvp_time at;
};

/* One record for each memory request made. */
struct fake_record {
    uint32_t op;
    uint64_t address, size, count;
    int64_t stride;
    uint32_t outstanding;
    cnnvp_time issued;
};

struct fake_sim {
    cnnvp_time now;
    uint64_t clock_mhz;
    cnnvp_time other_activity; /* time of an activity of the test itself, which next_activity reports to the units */
    int timing_only;
    int unwatched; /* 1: nobody looks at counters */
    struct cnnvp_host *hosts[FAKE_HOSTS];
    uint32_t host_count;
    /* The memory behind every MEM_INITIATOR port that is not connected. Connected memories also start at
     * memory_base. */
    uint8_t *memory;
    uint64_t memory_base;
    uint64_t memory_size;
    cnnvp_time memory_latency;
    cnnvp_time memory_ps_per_byte;
    cnnvp_time memory_free; /* time when the memory is free: transfers are served one by one, latencies overlap */
    uint64_t memory_error_address; /* a request that covers it completes with memory_error; UINT64_MAX: none */
    int memory_error;              /* initially CNNVP_E_MEMORY */
    uint64_t memory_burst;         /* bytes of a burst; estimates count whole bursts; 0: single bytes */
    int memory_says_nothing;       /* 1: gives no estimates, like a connected memory */
    struct fake_pending pending[FAKE_REQUESTS];
    uint32_t pending_count;
    struct fake_record records[FAKE_SPANS];
    uint32_t record_count;
};

void fake_sim_init(struct fake_sim *sim, uint64_t clock_mhz, uint64_t memory_base, uint64_t memory_size);
void fake_sim_free(struct fake_sim *sim);

/* A new instance with default parameters. Owned by the simulation. */
struct cnnvp_host *fake_add(struct fake_sim *sim, const struct cnnvp_unit *unit);
void fake_set(struct cnnvp_host *host, const char *param, uint64_t value);
/* Calls init, then reset. Returns the status of init. */
int fake_start(struct cnnvp_host *host);
void fake_reset(struct cnnvp_host *host);
void fake_connect(struct cnnvp_host *from, const char *port, struct cnnvp_host *to, const char *to_port);
void fake_handle(struct cnnvp_host *from, const char *port, fake_access_fn handler, void *context);

/* Writes or reads a register by name, with the access rules of the unit's register table. */
int fake_write(struct cnnvp_host *host, const char *name, uint32_t value);
uint32_t fake_read(struct cnnvp_host *host, const char *name);

/* Bytes transferred between a unit and the instance at its port. */
uint64_t fake_carried(const struct cnnvp_host *host, const char *port);

/* An access at a target port, as from an initiator. */
int fake_access(struct cnnvp_host *host, const char *port, struct cnnvp_access *access);
/* Runs events and completions up to and including `until`, and sets the time to `until`. */
void fake_run(struct fake_sim *sim, cnnvp_time until);
/* Statistics and counters by name. */
uint64_t fake_count(const struct cnnvp_host *host, const char *stat);
uint64_t fake_requester_count(const struct cnnvp_host *host, const char *stat, uint32_t requester);
uint64_t fake_tag_count(const struct cnnvp_host *host, const char *stat, uint32_t tag);
uint64_t fake_counter(const struct cnnvp_host *host, const char *counter);

#endif
