/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "fake host: %s %s\n", what, name);
    exit(99);
}

static uint64_t host_param(struct cnnvp_host *host, uint32_t index)
{
    return host->params[index];
}

static const char *host_param_text(struct cnnvp_host *host, uint32_t index)
{
    return host->texts[index];
}

static int host_config_error(struct cnnvp_host *host, uint32_t index, const char *format, ...)
{
    va_list args;
    (void)index;
    va_start(args, format);
    (void)vsnprintf(host->message, sizeof host->message, format, args);
    va_end(args);
    ++host->config_errors;
    return CNNVP_E_INVAL;
}

static int host_timing_only(struct cnnvp_host *host)
{
    return host->sim->timing_only;
}

static cnnvp_time host_now(struct cnnvp_host *host)
{
    return host->sim->now;
}

static uint64_t host_clock_mhz(struct cnnvp_host *host)
{
    return host->sim->clock_mhz;
}

static int host_notify(struct cnnvp_host *host, uint32_t event, cnnvp_time at)
{
    if (event >= host->unit->event_count)
        fail("no such event in", host->unit->kind);
    host->event_at[event] = at < host->sim->now ? host->sim->now : at;
    return CNNVP_OK;
}

static int host_cancel(struct cnnvp_host *host, uint32_t event)
{
    host->event_at[event] = CNNVP_TIME_NEVER;
    return CNNVP_OK;
}

static cnnvp_time host_next_activity(struct cnnvp_host *host)
{
    cnnvp_time next = CNNVP_TIME_NEVER;
    for (uint32_t h = 0; h < host->sim->host_count; ++h)
        for (uint32_t e = 0; e < FAKE_EVENTS; ++e)
            if (host->sim->hosts[h]->event_at[e] < next)
                next = host->sim->hosts[h]->event_at[e];
    for (uint32_t p = 0; p < host->sim->pending_count; ++p)
        if (host->sim->pending[p].at < next)
            next = host->sim->pending[p].at;
    if (host->sim->other_activity < next)
        next = host->sim->other_activity;
    return next;
}

static int host_access(struct cnnvp_host *host, uint32_t port, struct cnnvp_access *access)
{
    access->initiator = host->number;
    if (host->handler[port] != NULL)
        return host->handler[port](host->handler_context[port], access);
    if (host->target[port] == NULL)
        return CNNVP_E_STATE;
    if ((access->flags & (CNNVP_DEBUG | CNNVP_UNTIMED)) == 0)
        host->carried[port] += access->words * access->word_bytes;
    return host->target[port]->unit->access(host->target[port]->self, host->target_port[port], access);
}

/* A request to a connected memory, whose addresses start at 0. */
static int request_of_target(struct cnnvp_host *host, uint32_t port, struct cnnvp_request *request)
{
    const struct cnnvp_host *memory = host->target[port];
    request->address -= host->sim->memory_base;
    request->initiator = host->number;
    request->issued = host->sim->now;
    request->link = host;
    const int status = memory->unit->request(memory->self, host->target_port[port], request);
    if (status != CNNVP_OK)
        request->address += host->sim->memory_base;
    return status;
}

static int host_request(struct cnnvp_host *host, uint32_t port, struct cnnvp_request *request)
{
    struct fake_sim *sim = host->sim;
    if (host->target[port] != NULL)
        return request_of_target(host, port, request);
    if (sim->pending_count == FAKE_REQUESTS || sim->record_count == FAKE_SPANS)
        fail("too many requests from", host->unit->kind);
    const uint64_t last = request->address + (request->count - 1u) * (uint64_t)request->stride + request->size;
    if (request->address < sim->memory_base || last > sim->memory_base + sim->memory_size)
        return CNNVP_E_ADDR;
    const cnnvp_time begin =
        sim->memory_free > sim->now + sim->memory_latency ? sim->memory_free : sim->now + sim->memory_latency;
    sim->memory_free = begin + request->size * request->count * sim->memory_ps_per_byte;
    request->issued = sim->now;
    sim->pending[sim->pending_count++] = (struct fake_pending){host, request, port, sim->memory_free};
    sim->records[sim->record_count++] = (struct fake_record){
        request->op, request->address, request->size, request->count, request->stride, request->outstanding, sim->now};
    return CNNVP_OK;
}

/* The time of a request on an idle memory. */
static int host_estimate(struct cnnvp_host *host, uint32_t port, const struct cnnvp_request *request,
                         cnnvp_time *duration)
{
    const struct fake_sim *sim = host->sim;
    if (host->target[port] != NULL || sim->memory_says_nothing)
        return CNNVP_E_NOSUP;
    const uint64_t burst = sim->memory_burst != 0 ? sim->memory_burst : 1u;
    const uint64_t bytes = (request->size + burst - 1u) / burst * burst;
    *duration = sim->memory_latency + bytes * request->count * sim->memory_ps_per_byte;
    return CNNVP_OK;
}

/* Reports a completed request to its issuer: the test, or the unit that is connected to this memory. */
static void tell_completion(struct cnnvp_host *host, struct cnnvp_request *request)
{
    struct cnnvp_host *maker = request->link;
    if (maker == NULL) {
        host->completed(host->completed_context, request);
        return;
    }
    uint32_t port = 0;
    while (maker->target[port] != host)
        ++port;
    request->address += host->sim->memory_base;
    maker->unit->complete(maker->self, port, request);
}

/* Completes a request at a memory target. As on the platform, the issuer is told after the event function has
 * returned. */
static int host_complete(struct cnnvp_host *host, struct cnnvp_request *request)
{
    if (request->link == NULL && host->completed == NULL)
        return CNNVP_E_NOSUP;
    if (!host->in_event) {
        tell_completion(host, request);
        return CNNVP_OK;
    }
    if (host->announced_count == FAKE_REQUESTS)
        fail("too many requests complete at once at", host->unit->kind);
    host->announced[host->announced_count++] = request;
    return CNNVP_OK;
}

static void run_event(struct cnnvp_host *host, uint32_t event)
{
    host->in_event = 1;
    host->unit->event(host->self, event);
    host->in_event = 0;
    for (uint32_t i = 0; i < host->announced_count; ++i)
        tell_completion(host, host->announced[i]);
    host->announced_count = 0;
}

static int host_no_dmi(struct cnnvp_host *host, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    (void)host;
    (void)port;
    (void)address;
    (void)dmi;
    return CNNVP_E_NOSUP;
}

static int host_irq(struct cnnvp_host *host, uint32_t port, int level)
{
    if (port >= host->unit->port_count || host->unit->ports[port].kind != CNNVP_PORT_IRQ_OUT)
        fail("no interrupt port of", host->unit->kind);
    if (level != host->irq_level[port])
        host->irq_changed[port] = host->sim->now;
    host->irq_level[port] = level;
    return CNNVP_OK;
}

static int host_no_wait(struct cnnvp_host *host, cnnvp_time duration)
{
    (void)host;
    (void)duration;
    return CNNVP_E_NOSUP;
}

static int host_no_block(struct cnnvp_host *host)
{
    (void)host;
    return CNNVP_E_NOSUP;
}

static void host_no_wake(struct cnnvp_host *host)
{
    (void)host;
}

static void host_count(struct cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n)
{
    if (stat >= host->unit->stat_count)
        fail("no such statistic in", host->unit->kind);
    host->counts[stat] += n;
    if (tag < FAKE_TAGS)
        host->tag_counts[stat][tag] += n;
}

static void host_count_for(struct cnnvp_host *host, uint32_t stat, uint32_t requester, uint64_t n)
{
    if (stat >= host->unit->stat_count)
        fail("no such statistic in", host->unit->kind);
    if (requester < FAKE_TAGS)
        host->requester_counts[stat][requester] += n;
}

static int host_burst(struct cnnvp_host *host, cnnvp_time at, uint64_t clock, uint32_t requester, uint32_t tag,
                      uint32_t op, uint64_t address)
{
    (void)at;
    (void)requester;
    (void)tag;
    (void)op;
    (void)address;
    if (clock < host->burst_clock)
        fail("bursts go back in time in", host->unit->kind);
    host->burst_clock = clock;
    ++host->burst_count;
    return 1;
}

static void host_span(struct cnnvp_host *host, uint32_t track, const char *name, uint32_t tag, uint64_t flow,
                      cnnvp_time begin, cnnvp_time end)
{
    if (track >= host->unit->track_count || end < begin)
        fail("bad span of", host->unit->kind);
    for (uint32_t s = 0; s < host->span_count; ++s)
        if (host->spans[s].track == track && host->spans[s].end > begin)
            fail("overlapping spans of", host->unit->kind);
    if (host->span_count < FAKE_SPANS)
        host->spans[host->span_count++] = (struct fake_span){track, name, tag, flow, begin, end};
}

static void host_counter(struct cnnvp_host *host, uint32_t counter, cnnvp_time at, uint64_t value)
{
    (void)at;
    if (counter >= host->unit->counter_count)
        fail("no such counter in", host->unit->kind);
    host->counter_value[counter] = value;
    if (value > host->counter_peak[counter])
        host->counter_peak[counter] = value;
}

static void host_log(struct cnnvp_host *host, enum cnnvp_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(host->message, sizeof host->message, format, args);
    va_end(args);
    if (level <= CNNVP_LOG_WARNING)
        ++host->warnings;
}

static void host_finish(struct cnnvp_host *host, int code, const char *reason)
{
    (void)code;
    fail(reason, host->unit->kind);
}

static void host_console_write(struct cnnvp_host *host, const void *data, size_t size)
{
    if (size >= sizeof host->output - host->output_size)
        fail("too much on the console of", host->unit->kind);
    memcpy(host->output + host->output_size, data, size);
    host->output_size += size;
}

static size_t host_console_read(struct cnnvp_host *host, void *data, size_t size)
{
    if (host->input == NULL)
        return 0;
    const size_t got = strnlen(host->input, size);
    memcpy(data, host->input, got);
    host->input += got;
    return got;
}

static int host_report(struct cnnvp_host *host, const char *name, int64_t value)
{
    (void)host, (void)name, (void)value;
    return 0;
}

static int host_name_layer(struct cnnvp_host *host, uint32_t tag, const char *name, const char *op, const char *phase,
                           uint64_t macs)
{
    (void)host, (void)tag, (void)name, (void)op, (void)phase, (void)macs;
    return 0;
}

static int host_connected(struct cnnvp_host *host, uint32_t port)
{
    return host->handler[port] != NULL || host->target[port] != NULL;
}

static const struct cnnvp_instruction *host_instructions(struct cnnvp_host *host, uint32_t port, size_t *count)
{
    const struct cnnvp_unit *unit = host->target[port] != NULL ? host->target[port]->unit : NULL;
    *count = unit != NULL ? unit->instruction_count : 0;
    return unit != NULL ? unit->instructions : NULL;
}

static const char *host_instance_name(struct cnnvp_host *host, uint32_t instance)
{
    return instance < host->sim->host_count ? host->sim->hosts[instance]->unit->kind : NULL;
}

static int host_asks(struct cnnvp_host *host, uint32_t instance)
{
    return instance < host->sim->host_count;
}

static int host_watched(struct cnnvp_host *host)
{
    return !host->sim->unwatched;
}

static void host_crossed(struct cnnvp_host *host, const struct cnnvp_request *request, uint64_t bytes)
{
    (void)request;
    host->crossed += bytes;
}

static void host_keep(struct cnnvp_host *host, uint32_t slot, uint32_t from, uint32_t tag)
{
    (void)host, (void)slot, (void)from, (void)tag;
}

static void host_join(struct cnnvp_host *host, uint32_t slot, uint32_t other)
{
    (void)host, (void)slot, (void)other;
}

static void host_extend(struct cnnvp_host *host, uint32_t slot, uint32_t tag, cnnvp_time at)
{
    (void)host, (void)slot, (void)tag, (void)at;
}

static void host_about(struct cnnvp_host *host, const struct cnnvp_command *command)
{
    (void)host, (void)command;
}

static void host_follow(struct cnnvp_host *host, uint32_t slot, uint32_t tag)
{
    (void)host, (void)slot, (void)tag;
}

static uint32_t host_speedup(struct cnnvp_host *host)
{
    (void)host;
    return 1;
}

static const struct cnnvp_host_ops ops = {
    .struct_size = sizeof(struct cnnvp_host_ops),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .param = host_param,
    .param_text = host_param_text,
    .config_error = host_config_error,
    .timing_only = host_timing_only,
    .now = host_now,
    .clock_mhz = host_clock_mhz,
    .next_activity = host_next_activity,
    .notify = host_notify,
    .cancel = host_cancel,
    .access = host_access,
    .request = host_request,
    .estimate = host_estimate,
    .complete = host_complete,
    .dmi = host_no_dmi,
    .irq = host_irq,
    .wait = host_no_wait,
    .wait_wake = host_no_block,
    .settle = host_no_block,
    .reach = host_no_wait,
    .wake = host_no_wake,
    .count = host_count,
    .count_for = host_count_for,
    .burst = host_burst,
    .span = host_span,
    .counter = host_counter,
    .log = host_log,
    .finish = host_finish,
    .console_write = host_console_write,
    .console_read = host_console_read,
    .report = host_report,
    .name_layer = host_name_layer,
    .connected = host_connected,
    .instructions = host_instructions,
    .instance_name = host_instance_name,
    .crossed = host_crossed,
    .keep = host_keep,
    .follow = host_follow,
    .join = host_join,
    .extend = host_extend,
    .about = host_about,
    .speedup = host_speedup,
    .asks = host_asks,
    .watched = host_watched,
};

static uint64_t default_value(const struct cnnvp_param *param)
{
    if (param->type == CNNVP_PARAM_ENUM) {
        const char *choice = param->choices;
        const size_t length = strlen(param->default_value);
        for (uint64_t index = 0; choice != NULL && *choice != '\0'; ++index) {
            const size_t this_length = strcspn(choice, "|");
            if (this_length == length && strncmp(choice, param->default_value, length) == 0)
                return index;
            choice += this_length + (choice[this_length] == '|');
        }
        fail("default is not a choice:", param->name);
    }
    if (param->type == CNNVP_PARAM_TEXT)
        return 0;
    char *end = NULL;
    const uint64_t value = strtoull(param->default_value, &end, 0);
    return strcmp(end, "KiB") == 0 ? value << 10 : strcmp(end, "MiB") == 0 ? value << 20 : value;
}

void fake_sim_init(struct fake_sim *sim, uint64_t clock_mhz, uint64_t memory_base, uint64_t memory_size)
{
    memset(sim, 0, sizeof *sim);
    sim->clock_mhz = clock_mhz;
    sim->memory = calloc(1, memory_size == 0 ? 1u : memory_size);
    sim->memory_base = memory_base;
    sim->memory_size = memory_size;
    sim->memory_error_address = UINT64_MAX;
    sim->memory_error = CNNVP_E_MEMORY;
    sim->other_activity = CNNVP_TIME_NEVER;
    if (sim->memory == NULL)
        fail("out of memory for", "memory");
}

void fake_sim_free(struct fake_sim *sim)
{
    for (uint32_t h = 0; h < sim->host_count; ++h) {
        struct cnnvp_host *host = sim->hosts[h];
        if (host->self != NULL && host->unit->fini != NULL && host->number != UINT32_MAX)
            host->unit->fini(host->self);
        free(host->self);
        free(host);
    }
    free(sim->memory);
}

struct cnnvp_host *fake_add(struct fake_sim *sim, const struct cnnvp_unit *unit)
{
    struct cnnvp_host *host = calloc(1, sizeof *host);
    if (host == NULL || sim->host_count == FAKE_HOSTS || unit->stat_count > FAKE_STATS ||
        unit->param_count > FAKE_PARAMS || unit->port_count > FAKE_PORTS || unit->event_count > FAKE_EVENTS ||
        unit->counter_count > FAKE_COUNTERS)
        fail("no room for", unit->kind);
    host->sim = sim;
    host->unit = unit;
    host->number = UINT32_MAX; /* not started */
    for (uint32_t p = 0; p < unit->param_count; ++p) {
        host->params[p] = default_value(&unit->params[p]);
        host->texts[p] = unit->params[p].default_value;
    }
    for (uint32_t e = 0; e < FAKE_EVENTS; ++e)
        host->event_at[e] = CNNVP_TIME_NEVER;
    sim->hosts[sim->host_count++] = host;
    return host;
}

void fake_set(struct cnnvp_host *host, const char *param, uint64_t value)
{
    for (uint32_t p = 0; p < host->unit->param_count; ++p)
        if (strcmp(host->unit->params[p].name, param) == 0) {
            host->params[p] = value;
            return;
        }
    fail("no parameter", param);
}

static void reset_registers(struct cnnvp_host *host)
{
    for (size_t r = 0; r < host->unit->register_count; ++r)
        memcpy((char *)host->self + host->unit->registers[r].storage, &host->unit->registers[r].reset,
               sizeof(uint32_t));
}

int fake_start(struct cnnvp_host *host)
{
    if (host->self != NULL && host->unit->fini != NULL) /* restarted with other parameters */
        host->unit->fini(host->self);
    free(host->self);
    host->self = calloc(1, host->unit->instance_size);
    if (host->self == NULL)
        fail("out of memory for", host->unit->kind);
    const struct cnnvp_memory_rate unknown = {.struct_size = sizeof unknown};
    if (host->unit->fit != NULL)
        host->unit->fit(host->params, host->sim->clock_mhz, &unknown);
    const struct cnnvp_init init = {sizeof init, 0, host->unit->kind, host, &ops, 0};
    const int status = host->unit->init == NULL ? CNNVP_OK : host->unit->init(host->self, &init);
    if (status != CNNVP_OK)
        return status;
    for (uint32_t h = 0; h < host->sim->host_count; ++h)
        if (host->sim->hosts[h] == host)
            host->number = h;
    fake_reset(host);
    return CNNVP_OK;
}

void fake_reset(struct cnnvp_host *host)
{
    struct fake_sim *sim = host->sim;
    uint32_t kept = 0;
    for (uint32_t p = 0; p < sim->pending_count; ++p)
        if (sim->pending[p].host != host)
            sim->pending[kept++] = sim->pending[p];
    sim->pending_count = kept;
    for (uint32_t e = 0; e < FAKE_EVENTS; ++e)
        host->event_at[e] = CNNVP_TIME_NEVER;
    reset_registers(host);
    if (host->unit->reset != NULL)
        host->unit->reset(host->self);
}

static uint32_t find_port(const struct cnnvp_host *host, const char *name)
{
    for (uint32_t p = 0; p < host->unit->port_count; ++p)
        if (strcmp(host->unit->ports[p].name, name) == 0)
            return p;
    fail("no port", name);
    return 0;
}

void fake_connect(struct cnnvp_host *from, const char *port, struct cnnvp_host *to, const char *to_port)
{
    const uint32_t p = find_port(from, port);
    from->target[p] = to;
    from->target_port[p] = find_port(to, to_port);
}

void fake_handle(struct cnnvp_host *from, const char *port, fake_access_fn handler, void *context)
{
    const uint32_t p = find_port(from, port);
    from->handler[p] = handler;
    from->handler_context[p] = context;
}

uint64_t fake_carried(const struct cnnvp_host *host, const char *port)
{
    return host->carried[find_port(host, port)];
}

int fake_access(struct cnnvp_host *host, const char *port, struct cnnvp_access *access)
{
    return host->unit->access(host->self, find_port(host, port), access);
}

static void move_data(struct fake_sim *sim, struct cnnvp_request *request)
{
    request->status = CNNVP_OK;
    for (uint64_t i = 0; i < request->count; ++i) {
        const uint64_t at = request->address + i * (uint64_t)request->stride;
        uint8_t *memory = sim->memory + (at - sim->memory_base);
        if (sim->memory_error_address >= at && sim->memory_error_address < at + request->size)
            request->status = sim->memory_error;
        if (request->data == NULL)
            continue;
        if (request->op == CNNVP_READ)
            memcpy((uint8_t *)request->data + i * request->size, memory, request->size);
        else
            memcpy(memory, (const uint8_t *)request->data + i * request->size, request->size);
    }
}

static const struct cnnvp_register *find_register(const struct cnnvp_host *host, const char *name, uint32_t *index)
{
    for (*index = 0; *index < host->unit->register_count; ++*index)
        if (strcmp(host->unit->registers[*index].name, name) == 0)
            return &host->unit->registers[*index];
    fail("no register", name);
    return NULL;
}

int fake_write(struct cnnvp_host *host, const char *name, uint32_t value)
{
    uint32_t index;
    const struct cnnvp_register *reg = find_register(host, name, &index);
    uint32_t *storage = (uint32_t *)(void *)((char *)host->self + reg->storage);
    const uint32_t old = *storage;
    if (reg->access == CNNVP_REG_RO)
        return CNNVP_OK;
    *storage = reg->access == CNNVP_REG_W1C ? old & ~(value & reg->mask) : (old & ~reg->mask) | (value & reg->mask);
    return host->unit->reg_written == NULL ? CNNVP_OK : host->unit->reg_written(host->self, index, old);
}

uint32_t fake_read(struct cnnvp_host *host, const char *name)
{
    uint32_t index;
    const struct cnnvp_register *reg = find_register(host, name, &index);
    if (host->unit->reg_read != NULL)
        (void)host->unit->reg_read(host->self, index);
    return reg->access == CNNVP_REG_WO ? 0u
                                       : *(const uint32_t *)(const void *)((const char *)host->self + reg->storage);
}

/* Runs the earliest event or completion that is due by `until`. Returns 0 if there is none. */
static int step(struct fake_sim *sim, cnnvp_time until)
{
    uint32_t first = UINT32_MAX;
    cnnvp_time at = until;
    for (uint32_t p = 0; p < sim->pending_count; ++p)
        if (sim->pending[p].at < at || (sim->pending[p].at == at && first == UINT32_MAX)) {
            at = sim->pending[p].at;
            first = p;
        }
    struct cnnvp_host *owner = NULL;
    uint32_t event = 0;
    for (uint32_t h = 0; h < sim->host_count; ++h)
        for (uint32_t e = 0; e < FAKE_EVENTS; ++e)
            if (sim->hosts[h]->event_at[e] < at ||
                (sim->hosts[h]->event_at[e] == at && first == UINT32_MAX && owner == NULL)) {
                at = sim->hosts[h]->event_at[e];
                owner = sim->hosts[h];
                event = e;
            }
    if (owner != NULL) {
        sim->now = at;
        owner->event_at[event] = CNNVP_TIME_NEVER;
        run_event(owner, event);
        return 1;
    }
    if (first == UINT32_MAX)
        return 0;
    const struct fake_pending done = sim->pending[first];
    sim->pending[first] = sim->pending[--sim->pending_count];
    sim->now = at;
    move_data(sim, done.request);
    done.host->unit->complete(done.host->self, done.port, done.request);
    return 1;
}

void fake_run(struct fake_sim *sim, cnnvp_time until)
{
    for (uint32_t steps = 0; step(sim, until); ++steps)
        if (steps > 10000000u)
            fail("no end of events before", "the given time");
    sim->now = until;
}

static uint32_t find_stat(const struct cnnvp_host *host, const char *name)
{
    for (uint32_t s = 0; s < host->unit->stat_count; ++s)
        if (strcmp(host->unit->stats[s].name, name) == 0)
            return s;
    fail("no statistic", name);
    return 0;
}

uint64_t fake_count(const struct cnnvp_host *host, const char *stat)
{
    return host->counts[find_stat(host, stat)];
}

uint64_t fake_requester_count(const struct cnnvp_host *host, const char *stat, uint32_t requester)
{
    return host->requester_counts[find_stat(host, stat)][requester];
}

uint64_t fake_tag_count(const struct cnnvp_host *host, const char *stat, uint32_t tag)
{
    return host->tag_counts[find_stat(host, stat)][tag];
}

uint64_t fake_counter(const struct cnnvp_host *host, const char *counter)
{
    for (uint32_t c = 0; c < host->unit->counter_count; ++c)
        if (strcmp(host->unit->counters[c].name, counter) == 0)
            return host->counter_value[c];
    fail("no counter", counter);
    return 0;
}
