/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit for tests of the platform: every callback goes to a function that the test sets. Compiled as C, so that what
 * it tests is a real C frame. Ports, events and registers are enough for each mechanism of the ABI.
 */
#ifndef CNNVP_TEST_AGENT_H
#define CNNVP_TEST_AGENT_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agent_port {
    AGENT_REGS,  /* TARGET with registers */
    AGENT_OUT,   /* INITIATOR */
    AGENT_MEM,   /* MEM_INITIATOR */
    AGENT_IRQ,   /* IRQ_OUT */
    AGENT_LINES, /* IRQ_IN, 4 lines */
    AGENT_STORE, /* MEM_TARGET */
    AGENT_PORTS
};

enum agent_register { AGENT_RW, AGENT_RO, AGENT_WO, AGENT_W1C, AGENT_RWE, AGENT_REGISTERS };

enum { AGENT_EVENTS = 4, AGENT_LOG = 64, AGENT_HELD = 8, AGENT_STORE_SIZE = 0x10000 };

struct agent {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t number;
    uint32_t reg[AGENT_REGISTERS];
    uint64_t size; /* parameters */

    int (*on_init)(struct agent *agent);
    void (*on_reset)(struct agent *agent);
    int (*on_access)(struct agent *agent, uint32_t port, struct cnnvp_access *access);
    int (*on_request)(struct agent *agent, uint32_t port, struct cnnvp_request *request);
    void (*on_complete)(struct agent *agent, uint32_t port, struct cnnvp_request *request);
    void (*on_event)(struct agent *agent, uint32_t event);
    void (*on_signal)(struct agent *agent, uint32_t port, uint32_t line, int level);
    void (*on_process)(struct agent *agent);
    void *context;
    struct agent *peer;

    /* what has happened, for the test to look at */
    cnnvp_time times[AGENT_LOG];
    int values[AGENT_LOG];
    uint32_t noted;
    int levels[4];
    uint32_t resets, processes, cleanups;
    struct cnnvp_request *held[AGENT_HELD];
    uint32_t held_count;
    struct cnnvp_request own;
    uint8_t data[256];
    uint8_t *store; /* allocated by init, freed by fini */
};

extern const struct cnnvp_unit cnnvp_unit_agent;

/* Writes down a value and the time. */
void agent_note(struct agent *agent, int value);

/* Ready-made behaviours. */
int agent_memory_access(struct agent *agent, uint32_t port, struct cnnvp_access *access);
/* Holds the request and completes it, with its data, when event 0 is due after 100 ns. */
int agent_memory_request(struct agent *agent, uint32_t port, struct cnnvp_request *request);
void agent_memory_event(struct agent *agent, uint32_t event);
/* Allocates, waits without end, and frees when told to stop. */
void agent_wait_process(struct agent *agent);
void agent_sleep_process(struct agent *agent);
/* One read of 4 bytes at the address in `context`; notes the status; again every 10 ns until it is stopped. */
void agent_read_process(struct agent *agent);
/* A read by the process, then the end of the run with the status as its code. */
void agent_read_once_process(struct agent *agent);
/* One request for `own`; notes the status. */
void agent_request_process(struct agent *agent);
void agent_note_complete(struct agent *agent, uint32_t port, struct cnnvp_request *request);

#ifdef __cplusplus
}
#endif

#endif
