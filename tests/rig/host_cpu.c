/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_cpu: the guest software compiled for the host and run instead of the RISC-V core, so that sanitizers can check
 * it. It accepts any program of the loader as its own. Modelled: device accesses, which take access_cycles each, and
 * sleeping until an interrupt. Not modelled: the time of instructions between accesses. Outputs, accelerator compute
 * cycles and traffic equal those with the core.
 */
#include "guest.h"
#include "host_tasks.h"

#define UNIT_DEF "host_cpu.def"
#include "unit/unit_enums.inc"

/* The core's interrupt line for machine external interrupts. */
#define LINE_EXTERNAL 2u

struct host_cpu {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_machine machine;
    struct cnnvp_guest guest;
    struct host_tasks *tasks; /* for several accelerators; NULL: there is one */
    struct cnnvp_word collected[CNNVP_COLLECTED_WORDS];
    struct cnnvp_dmi memory;
    cnnvp_time access_time;
    int level;   /* of the external interrupt line */
    int stopped; /* the simulation is ending, so all calls return */
};

static void stop(struct host_cpu *self)
{
    self->stopped = 1;
    self->guest.element.failed = 1; /* makes the guest software issue nothing more and return */
    if (self->tasks != NULL)
        host_tasks_stop(self->tasks);
}

static uint32_t device_access(struct host_cpu *self, uint32_t op, uint32_t address, uint32_t value)
{
    if (self->stopped)
        return 0;
    if (self->ops->reach(self->host, self->ops->now(self->host) + self->access_time) != CNNVP_OK) {
        stop(self);
        return 0;
    }
    struct cnnvp_access access = {
        .op = op, .flags = CNNVP_UNTIMED, .address = address, .data = &value, .size = sizeof(value)};
    self->ops->count(self->host, op == CNNVP_READ ? STAT_device_reads : STAT_device_writes, 0, 1);
    const int status = self->ops->access(self->host, PORT_bus, &access);
    if (status == CNNVP_E_STOPPED)
        stop(self);
    else if (status != CNNVP_OK)
        self->ops->log(self->host, CNNVP_LOG_WARNING, "device access at 0x%08x failed: %s", (unsigned)address,
                       cnnvp_status_text(status));
    return value;
}

static uint32_t device_read(void *host, uint32_t address)
{
    return device_access(host, CNNVP_READ, address, 0);
}

static void device_write(void *host, uint32_t address, uint32_t value)
{
    (void)device_access(host, CNNVP_WRITE, address, value);
}

static const void *memory(void *host, uint32_t address)
{
    struct host_cpu *self = host;
    if (self->memory.data == NULL || address < self->memory.start || address > self->memory.end) {
        if (self->ops->dmi(self->host, PORT_bus, address, &self->memory) != CNNVP_OK)
            return NULL;
    }
    return self->memory.data + (address - self->memory.start);
}

static void console(void *host, char character)
{
    struct host_cpu *self = host;
    self->ops->console_write(self->host, &character, 1);
}

/* Serves a pending interrupt, switches to another task, or sleeps until the interrupt line rises. Returns 0 to stop. */
static int sleep_once(void *host)
{
    struct host_cpu *self = host;
    if (self->stopped)
        return 0;
    const int awake = self->level || (self->tasks != NULL && host_tasks_ready(self->tasks));
    if (!awake && self->ops->wait_wake(self->host) != CNNVP_OK) {
        stop(self);
        return 0;
    }
    if (self->level) {
        self->ops->count(self->host, STAT_interrupts, 0, 1);
        if (self->tasks != NULL)
            host_tasks_interrupt(self->tasks);
        else
            cnnvp_guest_interrupt(&self->guest);
    }
    if (self->tasks != NULL)
        host_tasks_change(self->tasks);
    return !self->stopped;
}

/* Returns the exit code; -1: no network binary to run. */
static int run(struct host_cpu *self)
{
    if (cnnvp_guest_init(&self->guest, &self->machine, self->collected) == 0)
        return cnnvp_guest_run(&self->guest);
    const struct cnnvp_accelerators_binary *binary = cnnvp_accelerators_binary(&self->machine);
    if (binary == NULL)
        return -1;
    self->tasks = host_tasks_new(&self->machine, binary, self->collected);
    const int code = self->tasks != NULL ? host_tasks_run(self->tasks) : -1;
    host_tasks_free(self->tasks);
    self->tasks = NULL;
    return code;
}

static void process(void *instance)
{
    struct host_cpu *self = instance;
    self->memory.data = NULL;
    const int code = run(self);
    if (self->stopped)
        return;
    if (code < 0)
        self->ops->finish(self->host, 2, "no network binary in memory, or memory that gives no direct access");
    else
        self->ops->finish(self->host, code, "the guest software reports a failure");
}

static void signal_changed(void *instance, uint32_t port, uint32_t line, int level)
{
    struct host_cpu *self = instance;
    (void)port;
    if (line != LINE_EXTERNAL)
        return;
    self->level = level;
    if (level)
        self->ops->wake(self->host);
}

/* Never called, since this unit makes no requests. */
static void complete(void *instance, uint32_t port, struct cnnvp_request *request)
{
    (void)instance;
    (void)port;
    (void)request;
}

static int take_program(void *instance, uint32_t port, struct cnnvp_access *access)
{
    (void)instance;
    (void)port;
    return access->op == CNNVP_COMMAND ? CNNVP_OK : CNNVP_E_ACCESS;
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct host_cpu *self = instance;
    self->host = init->host;
    self->ops = init->ops;
    self->machine = (struct cnnvp_machine){self, device_read, device_write, memory, console, sleep_once};
    self->access_time = cnnvp_edge_time(
        self->ops->param(self->host, PARAM_clock_mhz), self->ops->param(self->host, PARAM_access_cycles));
    return CNNVP_OK;
}

static void reset(void *instance)
{
    struct host_cpu *self = instance;
    self->stopped = 0;
}

#include "unit/unit_tables.inc"

static const struct cnnvp_unit unit = {
    UNIT_TABLES,
    .kind = "host_cpu",
    .version = "1.0",
    .summary = "guest software run natively in place of the RISC-V core",
    .instance_size = sizeof(struct host_cpu),
    .process_stack = HOST_STACK_BYTES,
    .init = init,
    .reset = reset,
    .access = take_program,
    .complete = complete,
    .signal = signal_changed,
    .process = process,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &unit : NULL;
}
