/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of a configuration without a simulation kernel. The host's time stands still while a question is answered.
 * It advances between questions by more than the answer, so that the unit is idle again. Each question is at a whole
 * microsecond, where every clock has an edge. Accesses go directly to the unit at the other end, marked CNNVP_ESTIMATE.
 * Counts and traces are dropped. Functions that need time to pass are not supported.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_command.h"
#include "config.h"
#include "running.h"

enum { CHAIN = 16 /* units in a chain */, MICROSECOND = 1000000 /* ps */ };

/* Target of a port of an instance. */
struct way {
    struct cnnvp_host *target; /* NULL: no unit that can be asked */
    uint32_t port;
    int bus;       /* 1: leads to the bus, and thus to the unit whose window has the address */
    uint64_t base; /* subtracted from addresses, which `size` bounds; 0: neither */
    uint64_t size;
};

struct cnnvp_host {
    struct cnnvp_units *units;
    const struct cnnvp_instance *instance;
    void *self;
    struct way *ways; /* one for each port */
    uint64_t clock_mhz;
    int initialised;
    int made; /* init has returned */
};

struct cnnvp_units {
    cnnvp_config *config;
    struct cnnvp_host *hosts;
    size_t count;
    cnnvp_time now;
    uint32_t depth;    /* nesting of units that ask units */
    uint32_t wrong;    /* parameter of config_error */
    char message[512]; /* message of config_error, or the last log line */
};

/* ---- what the host offers ---- */

static uint64_t param(struct cnnvp_host *host, uint32_t index)
{
    return index < host->instance->unit->param_count ? host->instance->values[index] : 0;
}

static const char *param_text(struct cnnvp_host *host, uint32_t index)
{
    return index < host->instance->unit->param_count ? host->instance->texts[index] : "";
}

static int config_error(struct cnnvp_host *host, uint32_t index, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(host->units->message, sizeof host->units->message, format, args);
    va_end(args);
    host->units->wrong = index;
    return CNNVP_E_INVAL;
}

static cnnvp_time now(struct cnnvp_host *host)
{
    return host->units->now;
}

static uint64_t clock_mhz(struct cnnvp_host *host)
{
    return host->clock_mhz;
}

/* The window on the bus that has the address. The bus itself takes no time. */
static struct way through_bus(const struct cnnvp_units *units, uint64_t address)
{
    for (size_t i = 0; i < units->count; ++i) {
        struct cnnvp_host *host = &units->hosts[i];
        const struct cnnvp_instance *instance = host->instance;
        if (host->made && instance->on_bus && address >= instance->base && address - instance->base < instance->size)
            return (struct way){host, instance->bus_port, 1, instance->base, instance->size};
    }
    return (struct way){.bus = 1};
}

/* Finds the target of `port` for [address, address + size). */
static int find_way(const struct cnnvp_host *host, uint32_t port, uint64_t address, uint64_t size, struct way *way)
{
    if (port >= host->instance->unit->port_count)
        return CNNVP_E_INVAL;
    *way = host->ways[port];
    if (host->made && way->bus)
        *way = through_bus(host->units, address);
    if (!host->made || way->target == NULL)
        return way->bus ? CNNVP_E_ADDR : CNNVP_E_STATE;
    const uint64_t last = size ? address + (size - 1) : address;
    if (way->size && (address < way->base || last < address || last - way->base >= way->size))
        return CNNVP_E_ADDR;
    return CNNVP_OK;
}

static int ask(struct cnnvp_host *target, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_unit *unit = target->instance->unit;
    struct cnnvp_units *units = target->units;
    if (unit->access == NULL)
        return CNNVP_E_NOSUP;
    if (units->depth == CHAIN)
        return CNNVP_E_STATE;
    ++units->depth;
    const struct cnnvp_running *before = cnnvp_running;
    const struct cnnvp_running here = {target->instance->name, "access"};
    cnnvp_running = &here;
    const int status = unit->access(target->self, port, access);
    cnnvp_running = before;
    --units->depth;
    return status;
}

static int do_access(struct cnnvp_host *host, uint32_t port, struct cnnvp_access *access)
{
    struct way way;
    const int status = find_way(host, port, access->address, access->size, &way);
    if (status != CNNVP_OK)
        return status;
    struct cnnvp_access passed = *access;
    passed.flags |= CNNVP_ESTIMATE;
    passed.address -= way.base;
    const int answer = ask(way.target, way.port, &passed);
    access->delay = passed.delay;
    if (access->op == CNNVP_BORROW_READ || access->op == CNNVP_BORROW_WRITE)
        access->data = NULL;
    return answer;
}

static int estimate(struct cnnvp_host *host, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration)
{
    struct way way;
    const int status = find_way(host, port, request->address, request->size, &way);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_unit *unit = way.target->instance->unit;
    if (unit->estimate == NULL)
        return CNNVP_E_NOSUP;
    struct cnnvp_request passed = *request;
    passed.address -= way.base;
    const struct cnnvp_running *before = cnnvp_running;
    const struct cnnvp_running here = {way.target->instance->name, "estimate"};
    cnnvp_running = &here;
    const int answer = unit->estimate(way.target->self, way.port, &passed, duration);
    cnnvp_running = before;
    return answer;
}

/* The log line of a unit that refuses is the reason of the refusal. */
static void log_line(struct cnnvp_host *host, enum cnnvp_log_level level, const char *format, ...)
{
    va_list args;
    if (level > CNNVP_LOG_WARNING)
        return;
    va_start(args, format);
    (void)vsnprintf(host->units->message, sizeof host->units->message, format, args);
    va_end(args);
}

static int connected(struct cnnvp_host *host, uint32_t port)
{
    if (port >= host->instance->unit->port_count)
        return CNNVP_E_INVAL;
    return host->ways[port].bus || host->ways[port].target != NULL;
}

static const struct cnnvp_instruction *instructions(struct cnnvp_host *host, uint32_t port, size_t *count)
{
    return cnnvp_instance_instructions(cnnvp_config_resolved(host->units->config), host->instance, port, count);
}

static const char *instance_name(struct cnnvp_host *host, uint32_t instance)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(host->units->config);
    return instance < resolved->instance_count ? resolved->instances[instance].name : NULL;
}

static int asks(struct cnnvp_host *host, uint32_t instance)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(host->units->config);
    return instance < resolved->instance_count &&
           cnnvp_instance_asks(resolved, &resolved->instances[instance], host->instance->number);
}

/* Without time nothing happens, and there is no critical path. Plans are made for the hardware without speedup. */
/* NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOTHING(type, name, result, ...) \
    static type name(__VA_ARGS__)        \
    {                                    \
        return result;                   \
    }
NOTHING(int, timing_only, 1, struct cnnvp_host *host)
NOTHING(int, watched, 0, struct cnnvp_host *host)
NOTHING(cnnvp_time, next_activity, CNNVP_TIME_NEVER, struct cnnvp_host *host)
NOTHING(int, notify, CNNVP_E_NOSUP, struct cnnvp_host *host, uint32_t event, cnnvp_time at)
NOTHING(int, cancel, CNNVP_OK, struct cnnvp_host *host, uint32_t event)
NOTHING(int, no_request, CNNVP_E_NOSUP, struct cnnvp_host *host, uint32_t port, struct cnnvp_request *request)
NOTHING(int, no_complete, CNNVP_E_NOSUP, struct cnnvp_host *host, struct cnnvp_request *request)
NOTHING(int, no_dmi, CNNVP_E_NOSUP, struct cnnvp_host *host, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
NOTHING(int, irq, CNNVP_OK, struct cnnvp_host *host, uint32_t port, int level)
NOTHING(int, no_wait, CNNVP_E_NOSUP, struct cnnvp_host *host, cnnvp_time duration)
NOTHING(int, no_wait_for_others, CNNVP_E_NOSUP, struct cnnvp_host *host)
NOTHING(void, wake, , struct cnnvp_host *host)
NOTHING(void, count, , struct cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n)
NOTHING(void, span, , struct cnnvp_host *host, uint32_t track, const char *name, uint32_t tag, uint64_t flow,
        cnnvp_time begin, cnnvp_time end)
NOTHING(void, counter, , struct cnnvp_host *host, uint32_t number, cnnvp_time at, uint64_t value)
NOTHING(void, finish, , struct cnnvp_host *host, int code, const char *reason)
NOTHING(void, console_write, , struct cnnvp_host *host, const void *data, size_t size)
NOTHING(size_t, console_read, 0, struct cnnvp_host *host, void *data, size_t size)
NOTHING(int, report, 0, struct cnnvp_host *host, const char *name, int64_t value)
NOTHING(int, name_layer, 0, struct cnnvp_host *host, uint32_t tag, const char *name, const char *op, const char *phase,
        uint64_t macs)
NOTHING(void, count_for, , struct cnnvp_host *host, uint32_t stat, uint32_t requester, uint64_t n)
NOTHING(int, burst, 0, struct cnnvp_host *host, cnnvp_time at, uint64_t clock, uint32_t requester, uint32_t tag,
        uint32_t op, uint64_t address)
NOTHING(void, crossed, , struct cnnvp_host *host, const struct cnnvp_request *request, uint64_t bytes)
NOTHING(void, keep, , struct cnnvp_host *host, uint32_t slot, uint32_t from, uint32_t tag)
NOTHING(void, extend, , struct cnnvp_host *host, uint32_t slot, uint32_t tag, cnnvp_time at)
NOTHING(void, about, , struct cnnvp_host *host, const struct cnnvp_command *command)
NOTHING(void, follow_or_join, , struct cnnvp_host *host, uint32_t slot, uint32_t other)
NOTHING(uint32_t, speedup, 1, struct cnnvp_host *host)
#pragma GCC diagnostic pop
/* NOLINTEND(misc-unused-parameters) */

static const struct cnnvp_host_ops host_ops = {
    .struct_size = sizeof host_ops,
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .param = param,
    .param_text = param_text,
    .config_error = config_error,
    .timing_only = timing_only,
    .now = now,
    .clock_mhz = clock_mhz,
    .next_activity = next_activity,
    .notify = notify,
    .cancel = cancel,
    .access = do_access,
    .request = no_request,
    .complete = no_complete,
    .dmi = no_dmi,
    .irq = irq,
    .wait = no_wait,
    .wait_wake = no_wait_for_others,
    .settle = no_wait_for_others,
    .wake = wake,
    .count = count,
    .span = span,
    .counter = counter,
    .log = log_line,
    .finish = finish,
    .console_write = console_write,
    .console_read = console_read,
    .report = report,
    .name_layer = name_layer,
    .count_for = count_for,
    .burst = burst,
    .reach = no_wait,
    .estimate = estimate,
    .connected = connected,
    .instructions = instructions,
    .instance_name = instance_name,
    .crossed = crossed,
    .keep = keep,
    .follow = follow_or_join,
    .join = follow_or_join,
    .extend = extend,
    .about = about,
    .speedup = speedup,
    .asks = asks,
    .watched = watched,
};

/* ---- making ---- */

/* Connects ports as platform.cpp does: a byte of memory has only one address, its bus address. */
static void connect(struct cnnvp_units *units, const struct cnnvp_resolved *resolved, struct cnnvp_host *host)
{
    for (size_t i = 0; i < host->instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &host->instance->bindings[i];
        const struct cnnvp_instance *target = &resolved->instances[binding->target];
        host->ways[binding->port].bus = target->unit == NULL;
        if (!units->hosts[binding->target].initialised ||
            host->instance->unit->ports[binding->port].kind == CNNVP_PORT_IRQ_OUT)
            continue;
        const int is_memory = target->unit->ports[binding->target_port].kind == CNNVP_PORT_MEM_TARGET;
        const int moved = is_memory && target->on_bus && target->bus_port == binding->target_port;
        host->ways[binding->port] = (struct way){&units->hosts[binding->target], binding->target_port, 0,
                                                 moved ? target->base : 0, moved ? target->size : 0};
    }
}

static cnnvp_result make(struct cnnvp_units *units, struct cnnvp_host *host, struct cnnvp_error *error)
{
    const struct cnnvp_unit *unit = host->instance->unit;
    host->self = calloc(1, unit->instance_size ? unit->instance_size : 1);
    CNNVP_TRY_MEMORY(host->self != NULL, error);
    for (size_t i = 0; i < unit->register_count; ++i)
        memcpy((char *)host->self + unit->registers[i].storage, &unit->registers[i].reset, sizeof(uint32_t));
    const struct cnnvp_init init = {sizeof init, host->instance->number, host->instance->name, host, &host_ops, 0};
    units->wrong = UINT32_MAX;
    units->message[0] = '\0';
    const struct cnnvp_running *before = cnnvp_running;
    const struct cnnvp_running here = {host->instance->name, "init"};
    cnnvp_running = &here;
    const int status = unit->init != NULL ? unit->init(host->self, &init) : CNNVP_OK;
    cnnvp_running = before;
    if (status != CNNVP_OK) {
        struct cnnvp_error unwanted;
        const char *why =
            status == CNNVP_E_NOMEM ? "there is not enough memory for it" : "the unit refused its parameters";
        cnnvp_config_place_error(
            host->instance, units->wrong, units->message[0] ? units->message : why, error != NULL ? error : &unwanted);
        return status == CNNVP_E_NOMEM ? CNNVP_FAILED : CNNVP_BAD_INPUT;
    }
    host->initialised = 1;
    return CNNVP_DONE;
}

static int takes_commands(const struct cnnvp_unit *unit)
{
    return cnnvp_unit_command_port(unit) != UINT32_MAX;
}

static int is_memory_on_bus(const struct cnnvp_instance *instance)
{
    return instance->unit != NULL && instance->on_bus &&
           instance->unit->ports[instance->bus_port].kind == CNNVP_PORT_MEM_TARGET;
}

static cnnvp_result make_target(struct cnnvp_units *units, const struct cnnvp_resolved *resolved,
                                const struct cnnvp_binding *binding, enum cnnvp_port_kind kind,
                                struct cnnvp_error *error);

/* Creates the instance and everything that its ports lead to, unless done already. Skips units that have their own
 * process and take no commands, since they cannot answer. */
static cnnvp_result make_with_others(struct cnnvp_units *units, const struct cnnvp_resolved *resolved, size_t number,
                                     struct cnnvp_error *error)
{
    struct cnnvp_host *host = &units->hosts[number];
    const struct cnnvp_unit *unit = resolved->instances[number].unit;
    if (host->instance != NULL || unit == NULL || (unit->process != NULL && !takes_commands(unit)))
        return CNNVP_DONE;
    host->units = units;
    host->instance = &resolved->instances[number];
    host->clock_mhz = cnnvp_instance_mhz(resolved, host->instance, CNNVP_DEFAULT_MHZ);
    host->ways = calloc(unit->port_count + 1, sizeof *host->ways);
    CNNVP_TRY(host->ways != NULL ? make(units, host, error) : cnnvp_config_no_memory(error));
    for (size_t i = 0; i < host->instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &host->instance->bindings[i];
        CNNVP_TRY(make_target(units, resolved, binding, unit->ports[binding->port].kind, error));
    }
    return CNNVP_DONE;
}

/* Through the bus, only memories are asked. */
static cnnvp_result make_target(struct cnnvp_units *units, const struct cnnvp_resolved *resolved,
                                const struct cnnvp_binding *binding, enum cnnvp_port_kind kind,
                                struct cnnvp_error *error)
{
    if (kind == CNNVP_PORT_IRQ_OUT)
        return CNNVP_DONE;
    if (resolved->instances[binding->target].unit != NULL)
        return make_with_others(units, resolved, binding->target, error);
    for (size_t i = 0; kind == CNNVP_PORT_MEM_INITIATOR && i < units->count; ++i)
        if (is_memory_on_bus(&resolved->instances[i]))
            CNNVP_TRY(make_with_others(units, resolved, i, error));
    return CNNVP_DONE;
}

/* Creates the units that take commands, and everything that they may ask. */
static cnnvp_result make_all(struct cnnvp_units *units, const struct cnnvp_resolved *resolved,
                             struct cnnvp_error *error)
{
    units->hosts = calloc(resolved->instance_count, sizeof *units->hosts);
    CNNVP_TRY_MEMORY(units->hosts != NULL, error);
    units->count = resolved->instance_count;
    for (size_t i = 0; i < units->count; ++i)
        if (takes_commands(resolved->instances[i].unit))
            CNNVP_TRY(make_with_others(units, resolved, i, error));
    for (size_t i = 0; i < units->count; ++i) {
        struct cnnvp_host *host = &units->hosts[i];
        if (!host->initialised)
            continue;
        connect(units, resolved, host);
        host->made = 1;
        if (host->instance->unit->reset != NULL)
            host->instance->unit->reset(host->self);
    }
    return CNNVP_DONE;
}

CNNVP_DROP(cnnvp_units)

cnnvp_result cnnvp_units_new(const cnnvp_config *config, cnnvp_units **units, struct cnnvp_error *error)
{
    *units = NULL;
    CNNVP_SCOPED(cnnvp_units_drop) cnnvp_units *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    made->config = cnnvp_config_copy(config);
    const struct cnnvp_resolved *resolved = made->config != NULL ? cnnvp_config_resolved(made->config) : NULL;
    if (resolved == NULL) {
        (void)cnnvp_config_error(error, NULL, "the configuration has not been resolved");
        return CNNVP_FAILED;
    }
    CNNVP_TRY(make_all(made, resolved, error));
    *units = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_units_free(cnnvp_units *units)
{
    if (units == NULL)
        return;
    for (size_t i = units->count; i-- > 0;) {
        struct cnnvp_host *host = &units->hosts[i];
        if (host->initialised && host->instance->unit->fini != NULL)
            host->instance->unit->fini(host->self);
        free(host->self);
        free(host->ways);
    }
    free(units->hosts);
    cnnvp_config_free(units->config);
    free(units);
}

/* ---- questions ---- */

/* Finds an instance and its port for commands. */
static struct cnnvp_host *find(const cnnvp_units *units, const char *instance, uint32_t *port)
{
    for (size_t i = 0; i < units->count; ++i) {
        struct cnnvp_host *host = &units->hosts[i];
        if (!host->made || strcmp(host->instance->name, instance) != 0)
            continue;
        *port = cnnvp_unit_command_port(host->instance->unit);
        return *port != UINT32_MAX ? host : NULL;
    }
    return NULL;
}

static cnnvp_result no_commands(const char *instance, struct cnnvp_error *error)
{
    return cnnvp_config_error(
        error, NULL, "the platform has no instance %s with a port for commands (CNNVP_PORT_COMMANDS)", instance);
}

const char *cnnvp_units_at(const cnnvp_units *units, const char *instance, const char *port)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(units->config);
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *from = &resolved->instances[i];
        for (size_t b = 0; strcmp(from->name, instance) == 0 && b < from->binding_count; ++b)
            if (strcmp(from->unit->ports[from->bindings[b].port].name, port) == 0)
                return resolved->instances[from->bindings[b].target].name;
    }
    return NULL;
}

static cnnvp_result no_status(const char *instance, const char *callback, const struct cnnvp_command *command,
                              int status, struct cnnvp_error *error)
{
    return cnnvp_config_error(
        error, NULL, "%s: opcode 0x%02" PRIx32 ": `%s` returns %d, which is none of enum cnnvp_status (cnnvp_model.h)",
        instance, command->opcode, callback, status);
}

/* Advances time until the unit has finished. */
static void pass(struct cnnvp_units *units, cnnvp_time delay)
{
    if (delay < CNNVP_TIME_NEVER / 4 && units->now < CNNVP_TIME_NEVER / 4)
        units->now = ((units->now + delay) / MICROSECOND + 1u) * MICROSECOND;
}

/* The unit may change the command, so it gets a copy. */
static struct cnnvp_access command_access(struct cnnvp_command *command)
{
    return (struct cnnvp_access){
        .op = CNNVP_COMMAND,
        .flags = CNNVP_ESTIMATE,
        .tag = command->tag,
        .flow = command->sequence,
        .data = command,
        .size = sizeof *command};
}

cnnvp_result cnnvp_units_command(cnnvp_units *units, const char *instance, const struct cnnvp_command *command,
                                 struct cnnvp_cost *cost, struct cnnvp_error *error)
{
    uint32_t port;
    struct cnnvp_host *host = find(units, instance, &port);
    if (host == NULL)
        return no_commands(instance, error);
    struct cnnvp_command passed = *command;
    struct cnnvp_access access = command_access(&passed);
    units->message[0] = '\0';
    const int status = ask(host, port, &access);
    pass(units, access.delay);
    *cost = (struct cnnvp_cost){status, status == CNNVP_OK ? access.delay : 0, units->message};
    if (!cnnvp_is_status(status))
        return no_status(instance, "access", command, status, error);
    if (status > CNNVP_OK)
        return cnnvp_config_error(error, NULL,
                                  "%s: opcode 0x%02" PRIx32 ": asked what it takes, the unit answers \"pending\"; with "
                                  "CNNVP_ESTIMATE it is to answer at once",
                                  instance, command->opcode);
    return CNNVP_DONE;
}

/* Explains what is wrong with an answer; NULL: nothing. */
static const char *tiling_error(const struct cnnvp_tiling *tiling)
{
    if (!tiling->rows || !tiling->cols || !tiling->in || !tiling->out || !tiling->side)
        return "an edge of its tiles is 0; they are 1 or more";
    if (!tiling->pes)
        return "it has 0 processing elements; it has 1 or more";
    if (!tiling->word_bytes || tiling->result_bytes < tiling->word_bytes || tiling->result_bytes > 64)
        return "words have at least 1 byte, and results as many or up to 64";
    if (tiling->format == NULL || tiling->layout == NULL)
        return "the format of its words or their layout has no name";
    return NULL;
}

cnnvp_result cnnvp_units_tiling(cnnvp_units *units, const char *instance, const struct cnnvp_command *layer,
                                struct cnnvp_tiling *tiling, struct cnnvp_error *error)
{
    uint32_t port;
    struct cnnvp_host *host = find(units, instance, &port);
    if (host == NULL)
        return no_commands(instance, error);
    if (host->instance->unit->tiling == NULL)
        return cnnvp_config_error(
            error, NULL,
            "%s: model %s says nothing of tiles (`tiling` in cnnvp_model.h), so networks cannot be "
            "compiled for it",
            instance, host->instance->model);
    struct cnnvp_command passed = *layer;
    const struct cnnvp_access access = command_access(&passed);
    *tiling = (struct cnnvp_tiling){
        .struct_size = sizeof *tiling,
        .rows = 1,
        .cols = 1,
        .in = 1,
        .out = 1,
        .side = 1,
        .result_bytes = 2,
        .word_bytes = 2,
        .format = "fx16",
        .layout = "planes",
        .pes = 1};
    units->message[0] = '\0';
    const struct cnnvp_running *before = cnnvp_running;
    const struct cnnvp_running here = {host->instance->name, "tiling"};
    cnnvp_running = &here;
    const int status = host->instance->unit->tiling(host->self, port, &access, tiling);
    cnnvp_running = before;
    if (!cnnvp_is_status(status))
        return no_status(instance, "tiling", layer, status, error);
    if (status != CNNVP_OK) {
        (void)cnnvp_config_error(error, NULL, "%s", units->message[0] ? units->message : cnnvp_status_text(status));
        return CNNVP_FAILED;
    }
    const char *wrong = tiling_error(tiling);
    return wrong != NULL
               ? cnnvp_config_error(error, NULL, "%s: model %s, asked for tiles of opcode 0x%02" PRIx32 ": %s",
                                    instance, host->instance->model, layer->opcode, wrong)
               : CNNVP_DONE;
}
