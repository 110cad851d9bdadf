/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_cpu: the guest software compiled for the host and run in place of the RISC-V core (--cpu host). Modelled: device
 * accesses, each of which takes access_cycles; sleeping until an interrupt. Not modelled: the time of instructions
 * between accesses. Outputs, accelerator compute cycles and traffic are those of the core (invariant 2).
 */
#include "host/host_cpu.h"

#include "guest.h"
#include "host/host_tasks.h"

/* The guest's interrupt line at the core: machine external. */
#define LINE_EXTERNAL 2u

enum host_cpu_param {
#define CNNVP_PARAM(name, type, unit, default_value, min, max, choices, help) PARAM_##name,
#include "host/host_cpu.def"
};

enum host_cpu_stat {
#define CNNVP_STAT(name, unit, layer, energy, help) STAT_##name,
#include "host/host_cpu.def"
};

enum host_cpu_port { PORT_BUS, PORT_IRQ };

struct host_cpu {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_machine machine;
    struct cnnvp_guest guest;
    struct host_tasks *tasks; /* of several accelerators, NULL: there is one */
    struct cnnvp_word collected[CNNVP_COLLECTED_WORDS];
    struct cnnvp_dmi memory;
    cnnvp_time access_time;
    int level;   /* of the external interrupt line */
    int stopped; /* the simulation ends: unwind */
};

static void stop(struct host_cpu *self)
{
    self->stopped = 1;
    self->guest.element.failed = 1; /* the guest software pushes nothing more and returns */
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
    const int status = self->ops->access(self->host, PORT_BUS, &access);
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
        if (self->ops->dmi(self->host, PORT_BUS, address, &self->memory) != CNNVP_OK)
            return NULL;
    }
    return self->memory.data + (address - self->memory.start);
}

static void console(void *host, char character)
{
    struct host_cpu *self = host;
    self->ops->console_write(self->host, &character, 1);
}

/* Serves what is pending, goes on with another task, or sleeps until the interrupt line rises. */
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

void cnnvp_machine_sleep(const struct cnnvp_machine *machine, const volatile uint32_t *seen, uint32_t last)
{
    while (*seen == last && machine->sleep(machine->host))
        continue;
}

/* The exit code, -1: there is nothing to run. */
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
        self->ops->finish(self->host, 2,
                          "no network binary in memory, or memory that gives no direct access (which "
                          "--cpu iss does not need)");
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

/* Nothing is ever requested. */
static void complete(void *instance, uint32_t port, struct cnnvp_request *request)
{
    (void)instance;
    (void)port;
    (void)request;
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

static const struct cnnvp_param params[] = {
#define CNNVP_PARAM(name, type, unit, default_value, min, max, choices, help) \
    {#name, CNNVP_PARAM_##type, unit, default_value, min, max, choices, help},
#include "host/host_cpu.def"
};

static const struct cnnvp_stat stats[] = {
#define CNNVP_STAT(name, unit, layer, energy, help) {#name, unit, layer, energy, help},
#include "host/host_cpu.def"
};

static const struct cnnvp_port ports[] = {
    {"bus", CNNVP_PORT_INITIATOR, CNNVP_PORT_PLAIN, 0, 0, "memory and devices"},
    {"irq", CNNVP_PORT_IRQ_IN, CNNVP_PORT_OPTIONAL, 0, 3, "lines 0 software, 1 timer, 2 external"},
    {"mem", CNNVP_PORT_MEM_INITIATOR, CNNVP_PORT_OPTIONAL, 0, 0, "so that a platform file fits both cores; not used"},
};

const struct cnnvp_unit cnnvp_unit_host_cpu = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "host_cpu",
    .version = "1.0",
    .summary = "guest software run natively in place of the RISC-V core",
    .instance_size = sizeof(struct host_cpu),
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .ports = ports,
    .port_count = sizeof(ports) / sizeof(ports[0]),
    .stats = stats,
    .stat_count = sizeof(stats) / sizeof(stats[0]),
    .process_stack = HOST_STACK_BYTES,
    .init = init,
    .reset = reset,
    .complete = complete,
    .signal = signal_changed,
    .process = process,
};
