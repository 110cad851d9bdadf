/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units that take the place of built-in ones, with nothing but the public headers: `late_commands` and `late_words`
 * pass on what comes, later (in front of the vector unit, the DMA, a buffer); `slow_relu` is a block of the
 * multi-function module that takes several cycles for each value; `flat_memory` is an off-chip memory that does one
 * request after the other, this many bytes in a nanosecond each.
 */
#include <stdlib.h>
#include <string.h>

#include "cnnvp_command.h"
#include "cnnvp_tile.h"

#define PS_A_NS 1000u

/* ---- late_commands, late_words ---- */

struct late {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    cnnvp_time lag;
};

enum { LATE_IN, LATE_TO };

static int late_init(void *self, const struct cnnvp_init *init)
{
    struct late *late = self;
    *late = (struct late){init->host, init->ops, init->ops->param(init->host, 0) * PS_A_NS};
    return CNNVP_OK;
}

static void nothing(void *self)
{
    (void)self;
}

static int late_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct late *late = self;
    const struct cnnvp_command *command = access->data;
    const int forget = access->op == CNNVP_COMMAND && access->size == sizeof *command && command != NULL &&
                       command->opcode == CNNVP_COMMAND_FORGET;
    (void)port;
    if (!(access->flags & (CNNVP_DEBUG | CNNVP_UNTIMED)) && !forget)
        access->delay += late->lag;
    return late->ops->access(late->host, LATE_TO, access);
}

#define LAG                                                                                   \
    {                                                                                         \
        "lag", CNNVP_PARAM_UINT, "ns", "0", 0, 1000000, NULL, "by which each access is later" \
    }

static const struct cnnvp_param late_params[] = {LAG};
static const struct cnnvp_param buffer_params[] = {
    LAG,
    {"size", CNNVP_PARAM_SIZE, "bytes", "64KiB", 64, 1u << 30, NULL, "of both halves"},
    {"pingpong", CNNVP_PARAM_ENUM, "", "on", 0, 0, "off|on", "two halves"},
};
static const struct cnnvp_port commands_ports[] = {
    {"in", CNNVP_PORT_TARGET, CNNVP_PORT_COMMANDS, UINT64_C(1) << 32, 0, "from the instruction element"},
    {"to", CNNVP_PORT_INITIATOR, CNNVP_PORT_COMMANDS, 0, 0, "to the unit that does them"},
};
static const struct cnnvp_port words_ports[] = {
    {"in", CNNVP_PORT_TARGET, CNNVP_PORT_WORDS, UINT64_C(1) << 32, 0, "from units"},
    {"to", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "to the buffer that has them"},
};

#define LATE(name, ports_, params_)                                                                                   \
    {                                                                                                                 \
        .struct_size = sizeof(struct cnnvp_unit), .abi_major = CNNVP_ABI_MAJOR, .abi_minor = CNNVP_ABI_MINOR,         \
        .kind = name, .version = "1", .summary = "passes on what comes, later", .instance_size = sizeof(struct late), \
        .params = params_, .param_count = sizeof params_ / sizeof params_[0], .ports = ports_,                        \
        .port_count = sizeof ports_ / sizeof ports_[0], .init = late_init, .fini = nothing, .reset = nothing,         \
        .access = late_access,                                                                                        \
    }

/* ---- process_commands: passes them on as a thread of control of its own ---- */

struct process {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_command command;
    int holds;
};

enum { PROCESS_IN, PROCESS_TO, PROCESS_DONE };

static int process_init(void *self, const struct cnnvp_init *init)
{
    struct process *process = self;
    process->host = init->host;
    process->ops = init->ops;
    return CNNVP_OK;
}

static void process_reset(void *self)
{
    ((struct process *)self)->holds = 0;
}

static int process_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct process *process = self;
    (void)port;
    if (access->flags & CNNVP_ESTIMATE)
        return process->ops->access(process->host, PROCESS_TO, access);
    if (process->holds)
        return CNNVP_E_STATE;
    memcpy(&process->command, access->data, sizeof process->command);
    process->holds = 1;
    process->ops->wake(process->host);
    return CNNVP_PENDING;
}

static void process_process(void *self)
{
    struct process *process = self;
    while (process->ops->wait_wake(process->host) == CNNVP_OK) {
        struct cnnvp_access access = {
            .op = CNNVP_COMMAND,
            .tag = process->command.tag,
            .flow = process->command.sequence,
            .data = &process->command,
            .size = sizeof process->command};
        struct cnnvp_completion completion = {
            process->command.sequence, process->ops->access(process->host, PROCESS_TO, &access), 0};
        if (process->ops->wait(process->host, access.delay) != CNNVP_OK)
            return;
        access = (struct cnnvp_access){.op = CNNVP_COMMAND, .data = &completion, .size = sizeof completion};
        process->holds = 0;
        (void)process->ops->access(process->host, PROCESS_DONE, &access);
    }
}

static const struct cnnvp_port process_ports[] = {
    {"in", CNNVP_PORT_TARGET, CNNVP_PORT_COMMANDS, UINT64_C(1) << 32, 0, "from the instruction element"},
    {"to", CNNVP_PORT_INITIATOR, CNNVP_PORT_COMMANDS, 0, 0, "to the unit that does them"},
    {"done", CNNVP_PORT_INITIATOR, CNNVP_PORT_COMPLETIONS, 0, 0, "to the instruction element"},
};

/* ---- slow_relu ---- */

struct relu {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t interval;
};

enum { RELU_TILE, RELU_BUFFER, RELU_NEXT };

static int relu_init(void *self, const struct cnnvp_init *init)
{
    struct relu *relu = self;
    *relu = (struct relu){init->host, init->ops, init->ops->param(init->host, 0)};
    return CNNVP_OK;
}

/* What is above 0, in the tile's 0/1 matrix, which begins at the ReLU buffer's begin. */
static int keep_signs(const struct relu *relu, const struct cnnvp_access *access, const struct cnnvp_tile *tile)
{
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const uint64_t row = cnnvp_tile_packed(tile->plane, 1);
    struct cnnvp_access borrow = {
        .op = CNNVP_BORROW_WRITE,
        .flags = access->flags & CNNVP_DEBUG,
        .tag = access->tag,
        .flow = access->flow,
        .size = planes * row,
        .words = planes * row / 2,
        .word_bytes = 2};
    const int status = relu->ops->access(relu->host, RELU_BUFFER, &borrow);
    uint8_t *matrix = borrow.data;
    if (status != CNNVP_OK || (access->flags & CNNVP_DEBUG) || tile->values == NULL)
        return status;
    memset(matrix, 0, planes * row);
    for (uint64_t i = 0; i < planes * tile->plane; ++i)
        if (tile->values[i] > 0.0f)
            matrix[i / tile->plane * row + i % tile->plane / 8] |= (uint8_t)(1u << i % tile->plane % 8);
    return CNNVP_OK;
}

static int relu_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct relu *relu = self;
    struct cnnvp_tile *tile = access->data;
    const int asks = (access->flags & CNNVP_DEBUG) != 0;
    (void)port;
    if (access->op != CNNVP_COMMAND || tile->kind != CNNVP_TILE_FORWARD)
        return CNNVP_E_INVAL;
    if (tile->flags & CNNVP_TILE_RELU) {
        const uint64_t values = (uint64_t)tile->images * tile->channels * tile->plane;
        const uint64_t cycles = cnnvp_tile_beats(tile, tile->channels * tile->plane) * relu->interval;
        const int status = tile->flags & CNNVP_TILE_KEEP ? keep_signs(relu, access, tile) : CNNVP_OK;
        if (status != CNNVP_OK)
            return status;
        for (uint64_t i = 0; i < values && tile->values != NULL && !asks; ++i)
            tile->values[i] = tile->values[i] > 0.0f ? tile->values[i] : 0.0f;
        tile->cycles = !asks && cycles > tile->cycles ? cycles : tile->cycles;
        tile->fill += asks ? 0 : 1;
    }
    return relu->ops->access(relu->host, RELU_NEXT, access);
}

static const struct cnnvp_param relu_params[] = {
    {"interval", CNNVP_PARAM_UINT, "cycles", "1", 1, 1000, NULL, "from one value to the next"},
};
static const struct cnnvp_port relu_ports[] = {
    {"tile", CNNVP_PORT_TARGET, CNNVP_PORT_TILES, 8, 0, "tiles from batch norm"},
    {"buffer", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "ReLU buffer"},
    {"next", CNNVP_PORT_INITIATOR, CNNVP_PORT_TILES, 0, 0, "quantiser"},
};

/* ---- flat_memory ---- */

struct flat {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint8_t *bytes;
    uint64_t size;
    uint64_t rate;               /* bytes in a nanosecond */
    struct cnnvp_request *first; /* in work; those that wait follow by their scratch */
    struct cnnvp_request *last;
};

enum { FLAT_RATE, FLAT_SIZE };

static struct cnnvp_request *next_of(const struct cnnvp_request *request)
{
    struct cnnvp_request *next;
    memcpy(&next, request->scratch, sizeof next);
    return next;
}

static void set_next(struct cnnvp_request *request, const struct cnnvp_request *next)
{
    memcpy(request->scratch, &next, sizeof next);
}

static int flat_init(void *self, const struct cnnvp_init *init)
{
    struct flat *flat = self;
    flat->host = init->host;
    flat->ops = init->ops;
    flat->rate = init->ops->param(init->host, FLAT_RATE);
    flat->size = init->ops->param(init->host, FLAT_SIZE);
    flat->bytes = calloc(flat->size, 1);
    return flat->bytes != NULL ? CNNVP_OK : CNNVP_E_NOMEM;
}

static void flat_fini(void *self)
{
    free(((struct flat *)self)->bytes);
}

static void flat_reset(void *self)
{
    struct flat *flat = self;
    flat->first = flat->last = NULL;
}

static int is_inside(const struct flat *flat, uint64_t address, uint64_t size)
{
    return address <= flat->size && size <= flat->size - address;
}

static int flat_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct flat *flat = self;
    (void)port;
    if (!is_inside(flat, access->address, access->size))
        return CNNVP_E_ADDR;
    if (access->data != NULL && access->op == CNNVP_READ)
        memcpy(access->data, flat->bytes + access->address, access->size);
    else if (access->data != NULL)
        memcpy(flat->bytes + access->address, access->data, access->size);
    return CNNVP_OK;
}

static int flat_dmi(void *self, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    const struct flat *flat = self;
    (void)port, (void)address;
    *dmi = (struct cnnvp_dmi){flat->bytes, 0, flat->size - 1};
    return CNNVP_OK;
}

static cnnvp_time time_of(const struct flat *flat, const struct cnnvp_request *request)
{
    return (request->size * request->count * PS_A_NS + flat->rate - 1) / flat->rate;
}

static int flat_estimate(void *self, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration)
{
    (void)port;
    *duration = time_of(self, request);
    return CNNVP_OK;
}

static void begin(const struct flat *flat)
{
    (void)flat->ops->notify(flat->host, 0, flat->ops->now(flat->host) + time_of(flat, flat->first));
}

static int flat_request(void *self, uint32_t port, struct cnnvp_request *request)
{
    struct flat *flat = self;
    (void)port;
    for (uint64_t i = 0; i < request->count; ++i)
        if (!is_inside(flat, request->address + i * (uint64_t)request->stride, request->size))
            return CNNVP_E_ADDR;
    set_next(request, NULL);
    if (flat->first != NULL)
        set_next(flat->last, request);
    flat->last = request;
    if (flat->first == NULL) {
        flat->first = request;
        begin(flat);
    }
    return CNNVP_OK;
}

static void flat_event(void *self, uint32_t event)
{
    struct flat *flat = self;
    struct cnnvp_request *request = flat->first;
    (void)event;
    for (uint64_t i = 0; i < request->count && request->data != NULL; ++i) {
        uint8_t *here = flat->bytes + request->address + i * (uint64_t)request->stride;
        uint8_t *there = (uint8_t *)request->data + i * request->size;
        memcpy(request->op == CNNVP_READ ? there : here, request->op == CNNVP_READ ? here : there, request->size);
    }
    flat->first = next_of(request);
    request->status = CNNVP_OK;
    request->first_data = flat->ops->now(flat->host);
    (void)flat->ops->complete(flat->host, request);
    if (flat->first != NULL)
        begin(flat);
}

static const struct cnnvp_param flat_params[] = {
    {"rate", CNNVP_PARAM_UINT, "bytes/ns", "16", 1, 1024, NULL, "bandwidth"},
    {"size", CNNVP_PARAM_SIZE, "bytes", "64MiB", 4096, UINT64_C(1) << 30, NULL, "bytes"},
};
static const struct cnnvp_port flat_ports[] = {
    {"mem", CNNVP_PORT_MEM_TARGET, 0, 0, 0, "requests"},
};

/* ---- */

static const struct cnnvp_unit units[] = {
    {
        .struct_size = sizeof(struct cnnvp_unit),
        .abi_major = CNNVP_ABI_MAJOR,
        .abi_minor = CNNVP_ABI_MINOR,
        .kind = "process_commands",
        .version = "1",
        .summary = "passes on commands in a thread of control of its own",
        .instance_size = sizeof(struct process),
        .ports = process_ports,
        .port_count = sizeof process_ports / sizeof process_ports[0],
        .init = process_init,
        .reset = process_reset,
        .access = process_access,
        .process = process_process,
    },
    LATE("late_commands", commands_ports, late_params),
    LATE("late_words", words_ports, buffer_params),
    {
        .struct_size = sizeof(struct cnnvp_unit),
        .abi_major = CNNVP_ABI_MAJOR,
        .abi_minor = CNNVP_ABI_MINOR,
        .kind = "slow_relu",
        .version = "1",
        .summary = "ReLU, some cycles for each value",
        .instance_size = sizeof(struct relu),
        .params = relu_params,
        .param_count = sizeof relu_params / sizeof relu_params[0],
        .ports = relu_ports,
        .port_count = sizeof relu_ports / sizeof relu_ports[0],
        .init = relu_init,
        .fini = nothing,
        .reset = nothing,
        .access = relu_access,
    },
    {
        .struct_size = sizeof(struct cnnvp_unit),
        .abi_major = CNNVP_ABI_MAJOR,
        .abi_minor = CNNVP_ABI_MINOR,
        .kind = "flat_memory",
        .version = "1",
        .summary = "one request after the other",
        .instance_size = sizeof(struct flat),
        .params = flat_params,
        .param_count = sizeof flat_params / sizeof flat_params[0],
        .ports = flat_ports,
        .port_count = sizeof flat_ports / sizeof flat_ports[0],
        .event_count = 1,
        .init = flat_init,
        .fini = flat_fini,
        .reset = flat_reset,
        .access = flat_access,
        .request = flat_request,
        .dmi = flat_dmi,
        .event = flat_event,
        .estimate = flat_estimate,
    },
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index < sizeof units / sizeof units[0] ? &units[index] : NULL;
}
