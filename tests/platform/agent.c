/* SPDX-License-Identifier: Apache-2.0 */
/* The test unit, see agent.h. */
#include "agent.h"

#include <stdlib.h>
#include <string.h>

void agent_note(struct agent *agent, int value)
{
    if (agent->noted >= AGENT_LOG)
        return;
    agent->times[agent->noted] = agent->ops->now(agent->host);
    agent->values[agent->noted++] = value;
}

/* -- ready-made behaviours -- */

int agent_memory_access(struct agent *agent, uint32_t port, struct cnnvp_access *access)
{
    (void)port;
    if (access->size > AGENT_STORE_SIZE || access->address > AGENT_STORE_SIZE - access->size)
        return CNNVP_E_ADDR;
    if (access->op == CNNVP_READ && access->data != NULL)
        memcpy(access->data, agent->store + access->address, (size_t)access->size);
    else if (access->op == CNNVP_WRITE && access->data != NULL)
        memcpy(agent->store + access->address, access->data, (size_t)access->size);
    else if (access->op == CNNVP_BORROW_READ)
        access->data = agent->store + access->address;
    else if (access->data != NULL)
        return CNNVP_E_NOSUP;
    access->delay += 1000;
    return CNNVP_OK;
}

int agent_memory_request(struct agent *agent, uint32_t port, struct cnnvp_request *request)
{
    (void)port;
    if (agent->held_count == AGENT_HELD)
        return CNNVP_E_STATE;
    agent->held[agent->held_count++] = request;
    return agent->ops->notify(agent->host, 0, agent->ops->now(agent->host) + 100000);
}

void agent_memory_event(struct agent *agent, uint32_t event)
{
    (void)event;
    for (uint32_t i = 0; i < agent->held_count; ++i) {
        struct cnnvp_request *request = agent->held[i];
        for (uint64_t segment = 0; request->data != NULL && segment < request->count; ++segment) {
            uint8_t *here = agent->store + (request->address + (uint64_t)((int64_t)segment * request->stride));
            uint8_t *there = (uint8_t *)request->data + segment * request->size;
            memcpy(request->op == CNNVP_READ ? there : here, request->op == CNNVP_READ ? here : there,
                   (size_t)request->size);
        }
        request->status = CNNVP_OK;
        request->first_data = agent->ops->now(agent->host);
        agent_note(agent, agent->ops->complete(agent->host, request));
    }
    agent->held_count = 0;
}

void agent_wait_process(struct agent *agent)
{
    char *memory = malloc(100);

    while (agent->ops->wait(agent->host, 10000) == CNNVP_OK)
        agent_note(agent, 0);
    /* After the first refusal every blocking call refuses. */
    agent_note(agent, agent->ops->wait(agent->host, 10000));
    ++agent->cleanups;
    free(memory);
}

void agent_sleep_process(struct agent *agent)
{
    char *memory = malloc(100);

    while (agent->ops->wait_wake(agent->host) == CNNVP_OK)
        agent_note(agent, 1);
    ++agent->cleanups;
    free(memory);
}

static int read_word(struct agent *agent)
{
    struct cnnvp_access access = {.op = CNNVP_READ, .data = agent->data, .size = 4};

    memcpy(&access.address, agent->context, sizeof access.address);
    return agent->ops->access(agent->host, AGENT_OUT, &access);
}

void agent_read_process(struct agent *agent)
{
    int status;

    do {
        status = read_word(agent);
        agent_note(agent, status);
    } while (status != CNNVP_E_STOPPED && agent->ops->wait(agent->host, 10000) == CNNVP_OK);
    ++agent->cleanups;
}

void agent_read_once_process(struct agent *agent)
{
    agent->ops->finish(agent->host, -read_word(agent), "the read failed");
}

void agent_request_process(struct agent *agent)
{
    agent_note(agent, agent->ops->request(agent->host, AGENT_MEM, &agent->own));
    while (agent->ops->wait_wake(agent->host) == CNNVP_OK)
        agent_note(agent, 77);
    ++agent->cleanups;
}

void agent_note_complete(struct agent *agent, uint32_t port, struct cnnvp_request *request)
{
    (void)port;
    agent_note(agent, request->status);
    agent->ops->wake(agent->host);
}

/* -- unit -- */

static int init(void *instance, const struct cnnvp_init *init)
{
    struct agent *agent = instance;

    agent->ops = init->ops;
    agent->host = init->host;
    agent->number = init->instance;
    agent->size = init->ops->param(init->host, 0);
    if (agent->size == 13)
        return init->ops->config_error(init->host, 0, "%d brings bad luck", 13);
    agent->store = calloc(1, AGENT_STORE_SIZE);
    return agent->store != NULL ? CNNVP_OK : CNNVP_E_NOMEM;
}

static void fini(void *instance)
{
    struct agent *agent = instance;

    free(agent->store);
}

static void reset(void *instance)
{
    struct agent *agent = instance;

    ++agent->resets;
    agent->held_count = 0;
    memset(agent->levels, 0, sizeof agent->levels);
    if (agent->on_reset != NULL)
        agent->on_reset(agent);
}

static int access_port(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct agent *agent = instance;

    return agent->on_access != NULL ? agent->on_access(agent, port, access) : CNNVP_E_ADDR;
}

static int request_port(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct agent *agent = instance;

    return agent->on_request != NULL ? agent->on_request(agent, port, request) : CNNVP_E_NOSUP;
}

static void complete(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct agent *agent = instance;

    if (agent->on_complete != NULL)
        agent->on_complete(agent, port, request);
}

static int dmi(void *instance, uint32_t port, uint64_t address, struct cnnvp_dmi *piece)
{
    struct agent *agent = instance;

    if (port != AGENT_STORE || address >= AGENT_STORE_SIZE)
        return CNNVP_E_NOSUP;
    piece->data = agent->store;
    piece->start = 0;
    piece->end = AGENT_STORE_SIZE - 1;
    return CNNVP_OK;
}

static void event(void *instance, uint32_t number)
{
    struct agent *agent = instance;

    if (agent->on_event != NULL)
        agent->on_event(agent, number);
}

static void signal_changed(void *instance, uint32_t port, uint32_t line, int level)
{
    struct agent *agent = instance;

    agent->levels[line] = level;
    if (agent->on_signal != NULL)
        agent->on_signal(agent, port, line, level);
}

static void process(void *instance)
{
    struct agent *agent = instance;

    ++agent->processes;
    if (agent->on_process != NULL)
        agent->on_process(agent);
}

/* Notes: a register's number + 10 when it is read, its old value when it is written. */
static int reg_read(void *instance, uint32_t reg)
{
    struct agent *agent = instance;

    agent_note(agent, (int)reg + 10);
    return CNNVP_OK;
}

static int reg_written(void *instance, uint32_t reg, uint32_t old)
{
    struct agent *agent = instance;

    agent_note(agent, (int)old);
    return reg == AGENT_RW && agent->reg[AGENT_RW] == 0xbad ? CNNVP_E_INVAL : CNNVP_OK;
}

static const struct cnnvp_param params[] = {
    {"size", CNNVP_PARAM_SIZE, "bytes", "64KiB", 0, 1 << 20, NULL, "size of the memory"},
    {"clock_mhz", CNNVP_PARAM_UINT, "MHz", "500", 1, 10000, NULL, "clock"},
};

static const struct cnnvp_port ports[] = {
    [AGENT_REGS] = {"regs", CNNVP_PORT_TARGET, CNNVP_PORT_OPTIONAL, 0x1000, 0, "registers"},
    [AGENT_OUT] = {"out", CNNVP_PORT_INITIATOR, CNNVP_PORT_OPTIONAL, 0, 0, "accesses"},
    [AGENT_MEM] = {"mem", CNNVP_PORT_MEM_INITIATOR, CNNVP_PORT_OPTIONAL, 0, 0, "requests"},
    [AGENT_IRQ] = {"irq", CNNVP_PORT_IRQ_OUT, CNNVP_PORT_OPTIONAL, 0, 0, "a level"},
    [AGENT_LINES] = {"lines", CNNVP_PORT_IRQ_IN, CNNVP_PORT_OPTIONAL, 0, 4, "levels"},
    [AGENT_STORE] = {"store", CNNVP_PORT_MEM_TARGET, CNNVP_PORT_OPTIONAL, AGENT_STORE_SIZE, 0, "memory"},
};

static const struct cnnvp_register registers[] = {
    {"RW", 0x0, CNNVP_REG_RW, 0x12345678, 0xffff, offsetof(struct agent, reg[AGENT_RW]), "low half writable"},
    {"RO", 0x4, CNNVP_REG_RO, 0xcafe, 0, offsetof(struct agent, reg[AGENT_RO]), "read-only"},
    {"WO", 0x10, CNNVP_REG_WO, 0, 0xffffffff, offsetof(struct agent, reg[AGENT_WO]), "write-only"},
    {"W1C", 0x20, CNNVP_REG_W1C, 0xff, 0x0f, offsetof(struct agent, reg[AGENT_W1C]), "write one to clear"},
    {"RWE", 0x24, CNNVP_REG_RWE, 0x42, 0xff, offsetof(struct agent, reg[AGENT_RWE]), "reading has an effect"},
};

static const struct cnnvp_stat stats[] = {{"things", "things", NULL, NULL, "things counted"}};

const struct cnnvp_unit cnnvp_unit_agent = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "agent",
    .version = "1.0",
    .summary = "does what a test says",
    .instance_size = sizeof(struct agent),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .ports = ports,
    .port_count = AGENT_PORTS,
    .registers = registers,
    .register_count = AGENT_REGISTERS,
    .register_port = AGENT_REGS,
    .stats = stats,
    .stat_count = 1,
    .event_count = AGENT_EVENTS,
    .init = init,
    .fini = fini,
    .reset = reset,
    .access = access_port,
    .reg_read = reg_read,
    .reg_written = reg_written,
    .request = request_port,
    .complete = complete,
    .dmi = dmi,
    .event = event,
    .signal = signal_changed,
    .process = process,
};
