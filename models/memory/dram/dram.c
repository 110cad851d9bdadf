/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Off-chip memory behind split requests (S003's external data memory; S000's off-chip storage, where a request and its
 * data are two steps).
 *
 * Modelled: storage; arbitration between requesters burst by burst (dram_queue.h); controller, banks, rows and refresh
 * command by command (dram_channel.h) with the timings of a named part (dram.def). Not modelled: see dram_channel.h.
 * The core and the loader use `access` and direct memory, which cost no time and are not counted if marked as untimed.
 * A timed access takes as long as one to a closed bank, and does not compete with requests.
 *
 * Commands are computed up to the next event that the kernel has pending, so one call schedules a transfer that is
 * alone. A write is complete when the controllers have taken it, a read with its last data. Data move when a request
 * completes, so requests see each other's data in the order of completion.
 */
#define _DEFAULT_SOURCE /* for unit/storage.h */
#include "units.h"
#include "dram_power.h"

#include <stdlib.h>
#include <string.h>

#include "unit/storage.h"
#include "dram_counts.h"
#include "dram_queue.h"
#include "dram_shares.h"
#include "dram_windows.h"

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

enum { EVENT_WORK, EVENT_COUNT };

/* Counters of row classes, from COUNTER_row_hits on. */
enum { ROW_CLASSES = COUNTER_row_conflicts - COUNTER_row_hits + 1 };

/* Traffic of one tag, not yet reported. */
struct traffic {
    uint32_t tag;
    struct dram_traffic all;
};

/* Counts of one requester's reads, or of its writes, not yet reported. */
struct requester {
    struct dram_traffic traffic;
    uint64_t turnarounds, queue_clocks;
    uint64_t waited; /* ps of its stream that have been reported */
};

/* Bursts of an incomplete request that the statistics already have. */
struct early {
    const struct cnnvp_request *request;
    uint64_t bursts;
};

struct dram {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint8_t *data;
    uint64_t size;
    struct dram_queue queue;
    struct dram_queue trial; /* for estimates */
    int trial_made;
    cnnvp_time notified;
    struct dram_windows windows;
    struct requester requesters[DRAM_STREAMS]; /* indexed like the queue's streams */
    struct dram_shares shares;                 /* from the parameter */
    int burst_trace;                           /* the host listens to bursts */
    struct traffic traffic;
    struct early *early;
    uint32_t early_count, early_room;
    struct dram_issued *waiting; /* commands that would classify the bursts that wait; the statistics have them */
    uint32_t waiting_count, waiting_room;
    int peak_counted;
    struct dram_counts counted; /* channel counts that the statistics already have */
    uint64_t standby;           /* ps of ranks in standby that they have */
};

/* ---- helpers ---- */

static void show_window(void *context, uint32_t counter, cnnvp_time at, uint64_t value)
{
    struct dram *self = context;
    self->ops->counter(self->host, counter, at, value);
}

/* The owner of counts. */
struct owner {
    struct dram *self;
    uint32_t number; /* a tag, or an instance */
};

static void count_of_tag(void *context, uint32_t stat, uint64_t n)
{
    const struct owner *owner = context;
    owner->self->ops->count(owner->self->host, stat, owner->number, n);
}

static void count_of_requester(void *context, uint32_t stat, uint64_t n)
{
    const struct owner *owner = context;
    owner->self->ops->count_for(owner->self->host, stat, owner->number, n);
}

static void count_traffic(struct dram *self)
{
    struct owner owner = {self, self->traffic.tag};
    const struct dram_counter counter = {count_of_tag, &owner};
    cnnvp_dram_count_traffic(&counter, &self->traffic.all);
    self->traffic.all = (struct dram_traffic){0};
}

static uint32_t share_of(void *context, uint32_t initiator)
{
    const struct dram *self = context;
    return cnnvp_dram_share(&self->shares, initiator);
}

static struct dram_traffic *traffic_of(struct dram *self, uint32_t tag)
{
    if (tag != self->traffic.tag) {
        count_traffic(self);
        self->traffic.tag = tag;
    }
    return &self->traffic.all;
}

static struct early *find_early(const struct dram *self, const struct cnnvp_request *request)
{
    uint32_t i = 0;
    while (i < self->early_count && self->early[i].request != request)
        ++i;
    return i < self->early_count ? &self->early[i] : NULL;
}

/* Returns the bursts of a request that the statistics already have, and forgets them. */
static uint64_t take_early(struct dram *self, const struct cnnvp_request *request)
{
    struct early *early = self->early_count ? find_early(self, request) : NULL;
    const uint64_t bursts = early != NULL ? early->bursts : 0;
    if (early != NULL)
        *early = self->early[--self->early_count];
    return bursts;
}

static struct early *add_early(struct dram *self, const struct cnnvp_request *request)
{
    if (self->early_count == self->early_room) {
        const uint32_t room = 2u * self->early_room + 16u;
        struct early *larger = realloc(self->early, room * sizeof *larger);
        if (larger == NULL)
            return NULL; /* its bursts count when it is complete */
        self->early = larger;
        self->early_room = room;
    }
    self->early[self->early_count] = (struct early){.request = request};
    return &self->early[self->early_count++];
}

/* Counts the bursts of an incomplete request that have entered, since their row classes are counted. Its bytes count
 * when it is complete. */
static void note_unfinished(void *context, const struct cnnvp_request *request)
{
    struct dram *self = context;
    struct early *early = find_early(self, request);
    struct dram_traffic done = {0};
    if (early == NULL)
        early = add_early(self, request);
    if (early == NULL)
        return;
    done.bursts[request->op == CNNVP_WRITE] = cnnvp_dram_queue_bursts(request) - early->bursts;
    early->bursts = cnnvp_dram_queue_bursts(request);
    cnnvp_dram_traffic_add(&self->requesters[cnnvp_dram_queue_stream(request)].traffic, &done);
    cnnvp_dram_traffic_add(traffic_of(self, request->tag), &done);
}

/* Counts a row class `n` times; UINT64_MAX takes it back. */
static void note_class(struct dram *self, const struct dram_issued *issued, uint64_t n)
{
    dram_traffic_classify(traffic_of(self, issued->class_tag), issued, n);
    dram_traffic_classify(&self->requesters[issued->class_source].traffic, issued, n);
}

/* Counts the row class that a waiting burst will have if nothing else arrives. */
static void note_waiting(void *context, const struct dram_issued *issued)
{
    struct dram *self = context;
    if (self->waiting_count == self->waiting_room) {
        const uint32_t room = 2u * self->waiting_room + 16u;
        struct dram_issued *larger = realloc(self->waiting, room * sizeof *larger);
        if (larger == NULL)
            return; /* it counts when a command classifies it */
        self->waiting = larger;
        self->waiting_room = room;
    }
    self->waiting[self->waiting_count++] = *issued;
    note_class(self, issued, 1);
    cnnvp_dram_windows_class(&self->windows, issued, self->ops->now(self->host));
}

/* Takes back the row classes of the bursts that waited when they were last counted. */
static void forget_waiting(struct dram *self)
{
    for (uint32_t i = 0; i < self->waiting_count; ++i)
        note_class(self, &self->waiting[i], UINT64_MAX);
    self->waiting_count = 0;
}

static void note_command(void *context, const struct dram_issued *issued)
{
    struct dram *self = context;
    cnnvp_dram_windows_command(&self->windows, issued);
    if (issued->row_class != DRAM_UNCLASSIFIED)
        note_class(self, issued, 1);
    if (cnnvp_dram_is_column(issued->command)) {
        struct requester *requester = &self->requesters[issued->entry.source];
        ++traffic_of(self, issued->entry.tag)->carried[issued->entry.write];
        ++requester->traffic.carried[issued->entry.write];
        requester->turnarounds += (uint64_t)issued->turned;
        requester->queue_clocks += issued->clock - issued->entry.entered;
    }
}

static void note_columns(void *context, const struct dram_columns *columns)
{
    struct dram *self = context;
    struct requester *requester = &self->requesters[columns->source];
    struct dram_traffic *all = traffic_of(self, columns->tag);
    all->hits += columns->hits;
    all->carried[0] += columns->bursts;
    requester->traffic.hits += columns->hits;
    requester->traffic.carried[0] += columns->bursts;
    requester->queue_clocks += columns->queue_clocks;
    requester->turnarounds += (uint64_t)columns->turned;
    cnnvp_dram_windows_columns(&self->windows, columns);
}

static void note_burst(void *context, const struct dram_stream *stream, const struct cnnvp_request *request,
                       uint64_t clock)
{
    struct dram *self = context;
    if (self->burst_trace)
        self->burst_trace = self->ops->burst(self->host, clock * self->queue.timing.tck_ps, clock, stream->initiator,
                                             request->tag, stream->op, stream->address);
    if (!self->burst_trace)
        self->queue.burst = NULL;
}

/* Reports each requester's part of the totals. */
static void count_requesters(struct dram *self)
{
    for (uint32_t i = 0; i < self->queue.stream_count; ++i) {
        const struct dram_stream *stream = &self->queue.streams[i];
        struct requester *shares = &self->requesters[i];
        struct owner owner = {self, stream->initiator}, nobody = {self, 0};
        const struct dram_counter counter = {count_of_requester, &owner}, all = {count_of_tag, &nobody};
        shares->traffic.waited = stream->waited - shares->waited;
        cnnvp_dram_count_traffic(&counter, &shares->traffic);
        cnnvp_dram_count(&counter, STAT_turnarounds, shares->turnarounds);
        cnnvp_dram_count(&counter, stream->op == CNNVP_READ ? STAT_read_queue_clocks : STAT_write_queue_clocks,
                         shares->queue_clocks);
        cnnvp_dram_count(&all, STAT_wait_ps, shares->traffic.waited);
        *shares = (struct requester){.waited = stream->waited};
    }
}

/* Brings the statistics up to the present. */
static void count_channels(struct dram *self)
{
    struct owner nobody = {self, 0};
    const struct dram_counter counter = {count_of_tag, &nobody};
    const struct dram_queue *queue = &self->queue;
    const cnnvp_time time = self->ops->now(self->host);
    struct dram_counts now;
    cnnvp_dram_queue_catch_up(&self->queue, time);
    cnnvp_dram_queue_counts(queue, &now);
    cnnvp_dram_count_channels(&counter, &self->counted, &now, &queue->timing);
    self->counted = now;
    cnnvp_dram_count_standby(&counter, &now, &queue->options, &queue->timing, time, &self->standby);
}

/* Computes the schedule when a completion may be due, not at each command: nobody sees commands, and each event of this
 * unit would end a run of the core. */
static void schedule(struct dram *self)
{
    const cnnvp_time now = self->ops->now(self->host);
    cnnvp_time at = cnnvp_dram_queue_due(&self->queue);
    if (at > (self->queue.decided + 1u) * self->queue.timing.tck_ps) /* else nothing completes before it */
        at = cnnvp_minimum(at, cnnvp_maximum(cnnvp_dram_queue_work(&self->queue), now + 1u));
    if (at == self->notified)
        return;
    self->notified = at;
    if (at == CNNVP_TIME_NEVER)
        (void)self->ops->cancel(self->host, EVENT_WORK);
    else
        (void)self->ops->notify(self->host, EVENT_WORK, at);
}

/* Completes the first request that is due. */
static void complete_one(struct dram *self)
{
    struct cnnvp_request *request = cnnvp_dram_queue_take(&self->queue);
    if (request->status == CNNVP_OK) {
        struct dram_traffic done = {.requests = 1};
        const uint32_t write = request->op == CNNVP_WRITE;
        done.bytes[write] = request->size * request->count;
        done.bursts[write] = cnnvp_dram_queue_bursts(request) - take_early(self, request);
        done.latency[write] = request->scratch[DRAM_LATENCY];
        cnnvp_dram_traffic_add(&self->requesters[cnnvp_dram_queue_stream(request)].traffic, &done);
        cnnvp_storage_move(self->data, request);
        cnnvp_dram_traffic_add(traffic_of(self, request->tag), &done);
    } else {
        self->ops->count(self->host, STAT_failed, request->tag, 1);
    }
    self->ops->crossed(self->host, request, cnnvp_dram_queue_bursts(request) * DRAM_BURST_BYTES);
    (void)self->ops->complete(self->host, request);
}

/* ---- callbacks ---- */

static int dram_init(void *instance, const struct cnnvp_init *init)
{
    struct dram *self = instance;
    self->host = init->host;
    self->ops = init->ops;
    struct dram_options options;
    struct dram_timing timing;
    char message[256];
    uint32_t wrong;
    uint64_t values[PARAM_COUNT];
    for (uint32_t i = 0; i < PARAM_COUNT; ++i)
        values[i] = init->ops->param(init->host, i);
    cnnvp_dram_options_read(values, &options);
    if (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) != CNNVP_OK)
        return init->ops->config_error(init->host, wrong, "%s", message);
    cnnvp_dram_timing_speed_up(&timing, init->ops->speedup(init->host));
    int status = cnnvp_dram_shares_read(init, PARAM_shares, &self->shares);
    if (status != CNNVP_OK)
        return status;
    self->size = init->ops->param(init->host, PARAM_size);
    const uint64_t capacity = cnnvp_dram_capacity(&options, &timing);
    if (self->size > capacity)
        return init->ops->config_error(
            init->host, PARAM_size, "%llu bytes are more than the %llu of its channels and ranks",
            (unsigned long long)self->size, (unsigned long long)capacity);
    self->data = cnnvp_storage_make(self->size);
    if (self->data == NULL)
        return CNNVP_E_NOMEM;
    status = cnnvp_dram_queue_init(&self->queue, &options, &timing);
    if (status != CNNVP_OK) {
        cnnvp_storage_free(self->data, self->size);
        self->data = NULL;
        return status;
    }
    cnnvp_dram_windows_init(&self->windows, &timing, show_window, self);
    cnnvp_dram_queue_show(&self->queue, init->ops->watched(init->host) ? &self->windows : NULL);
    self->burst_trace = 1;
    self->queue.issued = note_command;
    self->queue.columns_issued = note_columns;
    self->queue.burst = note_burst;
    self->queue.share = share_of;
    self->queue.context = self;
    return CNNVP_OK;
}

static void dram_fini(void *instance)
{
    struct dram *self = instance;
    cnnvp_dram_queue_fini(&self->queue);
    if (self->trial_made)
        cnnvp_dram_queue_fini(&self->trial);
    free(self->early);
    free(self->waiting);
    cnnvp_dram_windows_fini(&self->windows);
    cnnvp_storage_free(self->data, self->size);
    self->data = NULL;
}

/* Counts a timed access, which is in no queue. */
static void count_access(struct dram *self, const struct cnnvp_access *access, uint64_t bursts, cnnvp_time latency)
{
    struct owner owner = {self, access->initiator};
    const struct dram_counter counter = {count_of_requester, &owner};
    const uint32_t write = access->op == CNNVP_WRITE;
    struct dram_traffic done = {0};
    done.bytes[write] = access->size;
    done.bursts[write] = done.carried[write] = bursts;
    done.latency[write] = latency;
    cnnvp_dram_traffic_add(traffic_of(self, access->tag), &done);
    cnnvp_dram_count_traffic(&counter, &done);
}

static int dram_access(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct dram *self = instance;
    (void)port;
    if (access->op > CNNVP_WRITE)
        return CNNVP_E_ACCESS;
    if (!cnnvp_storage_has(self->size, access->address, access->size))
        return CNNVP_E_ADDR;
    if (!access->size)
        return CNNVP_OK;
    cnnvp_storage_copy(self->data + access->address, access->data, access->size, access->op);
    if (access->flags & (CNNVP_DEBUG | CNNVP_UNTIMED))
        return CNNVP_OK;
    const uint64_t first = access->address / DRAM_BURST_BYTES;
    const uint64_t bursts = (access->address + access->size - 1u) / DRAM_BURST_BYTES - first + 1u;
    const struct dram_timing *timing = &self->queue.timing;
    const uint32_t *t = timing->t;
    const cnnvp_time time = (t[DRAM_T_rcd] + t[DRAM_T_cl] + bursts * t[DRAM_T_bl]) * timing->tck_ps;
    access->delay += time;
    count_access(self, access, bursts, bursts * time);
    cnnvp_dram_windows_data(&self->windows, self->ops->now(self->host) + access->delay, bursts);
    return CNNVP_OK;
}

static int dram_request(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct dram *self = instance;
    const cnnvp_time now = self->ops->now(self->host);
    (void)port;
    request->status = cnnvp_storage_check(self->size, request);
    request->first_data = 0;
    if (request->status == CNNVP_OK) {
        const int status = cnnvp_dram_queue_add(&self->queue, request, now);
        if (status != CNNVP_OK)
            return status;
    } else {
        self->ops->log(
            self->host, CNNVP_LOG_WARNING,
            "request for %llu x %llu bytes at 0x%llx, stride %lld, is outside the memory's 0x%llx bytes",
            (unsigned long long)request->count, (unsigned long long)request->size, (unsigned long long)request->address,
            (long long)request->stride, (unsigned long long)self->size);
        request->first_data = now;
        dram_stream_finish(&self->queue, request, now + self->queue.timing.tck_ps);
    }
    /* the request has no effect before the next clock */
    if (self->notified > (now / self->queue.timing.tck_ps + 1u) * self->queue.timing.tck_ps)
        schedule(self);
    return CNNVP_OK;
}

/* Runs the request in a separate queue with channels of its own, idle when it arrives. */
static int dram_estimate(void *instance, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration)
{
    struct dram *self = instance;
    struct cnnvp_request alone = *request;
    (void)port;
    int status = cnnvp_storage_check(self->size, request);
    if (status == CNNVP_OK && !self->trial_made) {
        status = cnnvp_dram_queue_init(&self->trial, &self->queue.options, &self->queue.timing);
        self->trial_made = status == CNNVP_OK;
    }
    if (status != CNNVP_OK)
        return status;
    cnnvp_dram_queue_reset(&self->trial, 0);
    alone.data = NULL;
    alone.initiator = 0;
    status = cnnvp_dram_queue_add(&self->trial, &alone, 0);
    if (status != CNNVP_OK)
        return status;
    cnnvp_dram_queue_schedule(&self->trial, CNNVP_TIME_NEVER);
    *duration = cnnvp_dram_queue_due(&self->trial);
    (void)cnnvp_dram_queue_take(&self->trial);
    return *duration == CNNVP_TIME_NEVER ? CNNVP_E_FATAL : CNNVP_OK;
}

static int dram_dmi(void *instance, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    struct dram *self = instance;
    (void)port;
    if (!cnnvp_storage_has(self->size, address, 1))
        return CNNVP_E_ADDR;
    *dmi = (struct cnnvp_dmi){.data = self->data, .start = 0, .end = self->size - 1u};
    return CNNVP_OK;
}

static void dram_event(void *instance, uint32_t event)
{
    struct dram *self = instance;
    const cnnvp_time now = self->ops->now(self->host);
    (void)event;
    self->notified = CNNVP_TIME_NEVER;
    const cnnvp_time next = cnnvp_dram_queue_due(&self->queue) <= now ? now : self->ops->next_activity(self->host);
    cnnvp_dram_queue_schedule(&self->queue, next > now ? next : now);
    /* requesters react to completions after this call returns: nothing is computed ahead of that */
    while (cnnvp_dram_queue_due(&self->queue) <= now)
        complete_one(self);
    schedule(self);
}

static void count_peak(struct dram *self)
{
    struct owner nobody = {self, 0};
    const struct dram_counter counter = {count_of_tag, &nobody};
    if (!self->peak_counted)
        cnnvp_dram_count_peak(&counter, &self->queue.options, &self->queue.timing);
    self->peak_counted = 1;
}

static void dram_flush(void *instance)
{
    struct dram *self = instance;
    struct cnnvp_bandwidth classes[ROW_CLASSES];
    count_peak(self);
    count_channels(self);
    memcpy(classes, &self->windows.counters[COUNTER_row_hits], sizeof classes);
    forget_waiting(self);
    cnnvp_dram_queue_classify(&self->queue, note_waiting);
    cnnvp_dram_queue_unfinished(&self->queue, note_unfinished);
    count_traffic(self);
    count_requesters(self);
    cnnvp_dram_windows_end(&self->windows);
    /* the bursts that wait count again with their commands */
    for (uint32_t i = 0; i < ROW_CLASSES; ++i) {
        classes[i].shown = UINT64_MAX; /* its window is shown anew */
        classes[i].closed = self->windows.counters[COUNTER_row_hits + i].closed;
    }
    memcpy(&self->windows.counters[COUNTER_row_hits], classes, sizeof classes);
}

/* Contents survive, as in a part that is refreshed. */
static void dram_reset(void *instance)
{
    struct dram *self = instance;
    dram_flush(self); /* a reset forgets the streams, and bursts that have entered */
    cnnvp_dram_queue_reset(&self->queue, self->ops->now(self->host));
    memset(self->requesters, 0, sizeof self->requesters);
    self->early_count = self->waiting_count = 0;
    self->notified = CNNVP_TIME_NEVER;
    (void)self->ops->cancel(self->host, EVENT_WORK);
}

static void dram_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    struct dram_options options;
    cnnvp_dram_options_read(params, &options);
    cnnvp_dram_power(&options, costs);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

/* Sets a `size` of 0 to the capacity of the devices. `init` reports invalid options. */
static void dram_fit(uint64_t *values, uint64_t clock_mhz, const struct cnnvp_memory_rate *memory)
{
    struct dram_options options;
    struct dram_timing timing;
    char message[256];
    uint32_t wrong;
    (void)clock_mhz;
    (void)memory;
    if (values[PARAM_size] != 0)
        return;
    values[PARAM_size] = params[PARAM_size].max;
    cnnvp_dram_options_read(values, &options);
    if (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) == CNNVP_OK &&
        cnnvp_dram_capacity(&options, &timing) < values[PARAM_size])
        values[PARAM_size] = cnnvp_dram_capacity(&options, &timing);
}

const struct cnnvp_unit cnnvp_unit_dram = {
    UNIT_TABLES,
    .kind = "dram",
    .version = "2.0",
    .summary = "Off-chip memory: a named DRAM part and its controller, modelled command by command, for several "
               "requesters",
    .instance_size = sizeof(struct dram),
    .event_count = EVENT_COUNT,
    .init = dram_init,
    .fini = dram_fini,
    .reset = dram_reset,
    .access = dram_access,
    .request = dram_request,
    .dmi = dram_dmi,
    .event = dram_event,
    .flush = dram_flush,
    .estimate = dram_estimate,
    .costs = dram_costs,
    .rate = cnnvp_dram_rate,
    .fit = dram_fit,
};
