/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform's side of a third-party model: an off-chip memory (S003's external data memory), a device on the bus, or
 * a link between two units. Behind the port `socket` lies a TLM-2.0 initiator socket that a C++ program binds
 * (cnnvp_systemc.h). The program also drives the interrupt `irq` and receives that of `line`. What comes back over a
 * link, or from a bus master, goes on through `inward`: the platform handles it, and the unit does not see it.
 *
 * Modelled: requests, also strided ones, split into contiguous bursts that do not cross a multiple of `burst_bytes`;
 * requesters interleaved burst by burst; bursts in flight limited by the requester's `outstanding` and by `in_flight`;
 * errors, which end a request and which the requester reports. Not modelled: the memory itself. The reads of a
 * requester are sent in order, its writes as well; the memory decides when they return. Requests of several requesters
 * take turns. Accesses to a memory by the core and the loader cost no time and are not counted: they use direct memory,
 * or debug transport without it. The core's accesses to a device take the time that the device says.
 */
#define _DEFAULT_SOURCE /* for unit/storage.h */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "unit/bandwidth.h"
#include "unit/storage.h"

#define UNIT_DEF "memory/external/external.def"
#include "unit/unit_enums.inc"

enum { EVENT_SEND, EVENT_COUNT };
enum external_role { EXTERNAL_ROLE_memory, EXTERNAL_ROLE_device, EXTERNAL_ROLE_link };

/* Uses of a request's `scratch` words. */
enum scratch {
    NEXT,   /* next request */
    SENT,   /* bytes */
    FLYING, /* bursts in flight */
    LATENCY /* sum over bursts */
};

/* A burst at the socket. */
struct burst {
    struct cnnvp_request request;
    struct cnnvp_request *owner; /* NULL: free */
    uint32_t next_free;
};

struct external {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t size;
    uint64_t offset; /* added to addresses at the socket */
    uint64_t burst_bytes;
    uint32_t in_flight;
    uint32_t dmi;
    int is_link;
    uint8_t *data; /* NULL: the memory behind the socket keeps it */
    struct burst *bursts;
    uint32_t free;               /* first free burst, in_flight: none */
    struct cnnvp_request *first; /* requests under way, in order of arrival */
    struct cnnvp_request *turn;  /* the one that sent last, or the one before it once that is complete; NULL: none */
    struct cnnvp_bandwidth bandwidth;
};

/* ---- requests ---- */

static struct cnnvp_request *next_of(const struct cnnvp_request *request)
{
    return (struct cnnvp_request *)(uintptr_t)request->scratch[NEXT];
}

static void set_next(struct cnnvp_request *request, const struct cnnvp_request *next)
{
    request->scratch[NEXT] = (uint64_t)(uintptr_t)next;
}

static void append(struct external *self, struct cnnvp_request *request)
{
    struct cnnvp_request *last = self->first;
    memset(request->scratch, 0, sizeof request->scratch);
    while (last != NULL && next_of(last) != NULL)
        last = next_of(last);
    if (last != NULL)
        set_next(last, request);
    else
        self->first = request;
}

static void take_out(struct external *self, const struct cnnvp_request *request)
{
    struct cnnvp_request *before = NULL;
    for (struct cnnvp_request *at = self->first; at != request; at = next_of(at))
        before = at;
    if (before != NULL)
        set_next(before, next_of(request));
    else
        self->first = next_of(request);
    if (self->turn == request)
        self->turn = before;
}

static int all_sent(const struct cnnvp_request *request)
{
    return request->status != CNNVP_OK || request->scratch[SENT] == request->size * request->count;
}

/* Counts for the request's tag and for its requester: a core's traffic is not the accelerator's. */
static void count(struct external *self, const struct cnnvp_request *request, uint32_t stat, uint64_t n)
{
    self->ops->count(self->host, stat, request->tag, n);
    if (!self->is_link)
        self->ops->count_for(self->host, stat, request->initiator, n);
}

/* Counts memory traffic. A link counts none: the memory behind it does. */
static void count_memory(struct external *self, const struct cnnvp_request *request, uint32_t stat, uint64_t bytes)
{
    if (!self->is_link)
        count(self, request, stat, bytes);
}

static void finish(struct external *self, struct cnnvp_request *request)
{
    const uint32_t read = request->op == CNNVP_READ;
    take_out(self, request);
    if (request->status == CNNVP_OK) {
        if (self->data != NULL)
            cnnvp_storage_move(self->data, request);
        count_memory(self, request, read ? STAT_read_bytes : STAT_write_bytes, request->size * request->count);
        count(self, request, STAT_requests, 1);
    } else {
        count(self, request, STAT_failed, 1);
    }
    count(self, request, read ? STAT_read_latency_ps : STAT_write_latency_ps, request->scratch[LATENCY]);
    if (!request->first_data)
        request->first_data = self->ops->now(self->host);
    self->ops->crossed(self->host, request, request->size * request->count);
    (void)self->ops->complete(self->host, request);
}

/* ---- bursts ---- */

static void free_burst(struct external *self, struct burst *burst)
{
    burst->owner = NULL;
    burst->next_free = self->free;
    self->free = (uint32_t)(burst - self->bursts);
}

/* Fills in the request's next burst. */
static void fill_burst(const struct external *self, const struct cnnvp_request *request, struct burst *burst)
{
    const uint64_t segment = request->scratch[SENT] / request->size, offset = request->scratch[SENT] % request->size;
    const uint64_t address = self->offset + request->address + segment * (uint64_t)request->stride + offset;
    const uint64_t room = self->burst_bytes - address % self->burst_bytes;
    const uint64_t left = request->size - offset;
    /* if the platform keeps the data, it reads them itself: the memory's response only tells when */
    uint8_t *data = self->data != NULL && request->op == CNNVP_READ ? NULL : request->data;
    burst->request = (struct cnnvp_request){
        .op = request->op,
        .initiator = request->initiator,
        .tag = request->tag,
        .flow = request->flow,
        .address = address,
        .data = data != NULL ? data + request->scratch[SENT] : NULL,
        .size = left < room ? left : room,
        .count = 1,
        .burst_bytes = (uint32_t)self->burst_bytes,
        .outstanding = request->outstanding,
    };
}

static void fail(struct external *self, struct cnnvp_request *request, const struct cnnvp_request *burst, int status)
{
    count(self, request, STAT_errors, 1);
    if (request->status != CNNVP_OK)
        return;
    self->ops->log(self->host, CNNVP_LOG_WARNING, "%s of %llu bytes at 0x%llx: the memory at the socket answered: %s%s",
                   burst->op == CNNVP_READ ? "read" : "write", (unsigned long long)burst->size,
                   (unsigned long long)burst->address, cnnvp_status_text(status),
                   status == CNNVP_E_ACCESS ? "; burst_bytes sets the longest transaction" : "");
    request->status = status;
}

static void send_burst(struct external *self, struct cnnvp_request *request)
{
    struct burst *burst = &self->bursts[self->free];
    fill_burst(self, request, burst);
    self->free = burst->next_free;
    burst->owner = request;
    request->scratch[SENT] += burst->request.size;
    ++request->scratch[FLYING];
    self->turn = request;
    const int status = self->ops->request(self->host, PORT_socket, &burst->request);
    if (status != CNNVP_OK) {
        --request->scratch[FLYING];
        free_burst(self, burst);
        fail(self, request, &burst->request, status);
    }
}

/* 1 if the request can send a burst now. Requests of one requester in one direction send in order, and have at most
 * `outstanding` bursts in flight together. */
static int can_send(const struct external *self, const struct cnnvp_request *request)
{
    uint64_t flying = 0;
    int before = 1;
    if (all_sent(request))
        return 0;
    for (const struct cnnvp_request *at = self->first; at != NULL; at = next_of(at)) {
        before = before && at != request;
        if (at->initiator != request->initiator || at->op != request->op)
            continue;
        if (before && !all_sent(at))
            return 0;
        flying += at->scratch[FLYING];
    }
    return flying < request->outstanding;
}

/* The next request that can send a burst, in turn after the one that sent last. */
static struct cnnvp_request *choose(const struct external *self)
{
    struct cnnvp_request *begin = self->turn != NULL ? next_of(self->turn) : self->first;
    for (struct cnnvp_request *at = begin; at != NULL; at = next_of(at))
        if (can_send(self, at))
            return at;
    for (struct cnnvp_request *at = self->first; at != NULL && at != begin; at = next_of(at))
        if (can_send(self, at))
            return at;
    return NULL;
}

static void advance(struct external *self)
{
    struct cnnvp_request *request;
    while (self->free < self->in_flight && (request = choose(self)) != NULL)
        send_burst(self, request);
    for (struct cnnvp_request *at = self->first, *next; at != NULL; at = next) {
        next = next_of(at);
        if (all_sent(at) && !at->scratch[FLYING])
            finish(self, at);
    }
}

static void external_complete(void *instance, uint32_t port, struct cnnvp_request *done)
{
    struct external *self = instance;
    struct burst *burst = (struct burst *)(void *)done; /* the request is its first member */
    struct cnnvp_request *request = burst->owner;
    const cnnvp_time now = self->ops->now(self->host);
    (void)port;
    --request->scratch[FLYING];
    if (done->status == CNNVP_OK) {
        const uint32_t read = done->op == CNNVP_READ;
        request->scratch[LATENCY] += now - done->issued;
        if (!request->first_data)
            request->first_data = now;
        count(self, request, STAT_bursts, 1);
        count_memory(self, request, STAT_burst_bytes, done->size);
        if (read)
            count(self, request, STAT_reads, 1);
        cnnvp_bandwidth_add(&self->bandwidth, now, done->size);
    } else {
        fail(self, request, done, done->status);
    }
    free_burst(self, burst);
    advance(self);
}

static void show_bandwidth(void *context, uint32_t counter, cnnvp_time at, uint64_t value)
{
    struct external *self = context;
    self->ops->counter(self->host, counter, at, value);
}

/* ---- callbacks ---- */

static int external_init(void *instance, const struct cnnvp_init *init)
{
    struct external *self = instance;
    self->host = init->host;
    self->ops = init->ops;
    self->is_link = init->ops->param(init->host, PARAM_role) == EXTERNAL_ROLE_link;
    self->size = self->is_link ? UINT64_MAX : init->ops->param(init->host, PARAM_size);
    self->offset = init->ops->param(init->host, PARAM_offset);
    self->burst_bytes = init->ops->param(init->host, PARAM_burst_bytes);
    self->in_flight = (uint32_t)init->ops->param(init->host, PARAM_in_flight);
    self->dmi =
        init->ops->param(init->host, PARAM_dmi) && init->ops->param(init->host, PARAM_role) != EXTERNAL_ROLE_device;
    if (self->burst_bytes & (self->burst_bytes - 1u))
        return init->ops->config_error(
            init->host, PARAM_burst_bytes, "%llu is not a power of two", (unsigned long long)self->burst_bytes);
    if (init->ops->param(init->host, PARAM_role) && init->ops->param(init->host, PARAM_storage))
        return init->ops->config_error(
            init->host, PARAM_storage, "the platform keeps the data of a memory alone: storage: target");
    self->bursts = calloc(self->in_flight, sizeof *self->bursts);
    if (init->ops->param(init->host, PARAM_storage))
        self->data = cnnvp_storage_make(self->size);
    self->bandwidth = (struct cnnvp_bandwidth){
        .scale = CNNVP_BANDWIDTH_SCALE, .counter = COUNTER_bandwidth, .show = show_bandwidth, .context = self};
    if (self->bursts != NULL && (self->data != NULL || !init->ops->param(init->host, PARAM_storage)))
        return CNNVP_OK;
    free(self->bursts);
    cnnvp_storage_free(self->data, self->size);
    return CNNVP_E_NOMEM;
}

static void external_fini(void *instance)
{
    struct external *self = instance;
    free(self->bursts);
    cnnvp_storage_free(self->data, self->size);
}

/* Contents survive. The host drops the bursts in flight. */
static void external_reset(void *instance)
{
    struct external *self = instance;
    self->first = self->turn = NULL;
    self->free = self->in_flight;
    for (uint32_t i = self->in_flight; i-- > 0;)
        free_burst(self, &self->bursts[i]);
    (void)self->ops->cancel(self->host, EVENT_SEND);
}

static int external_access(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct external *self = instance;
    (void)port;
    if (access->op > CNNVP_WRITE && !self->is_link)
        return CNNVP_E_ACCESS;
    if (!cnnvp_storage_has(self->size, access->address, access->size))
        return CNNVP_E_ADDR;
    if (!access->size && !self->is_link)
        return CNNVP_OK;
    if (self->data == NULL) {
        access->address += self->offset;
        return self->ops->access(self->host, PORT_socket, access);
    }
    cnnvp_storage_copy(self->data + access->address, access->data, access->size, access->op);
    return CNNVP_OK;
}

static int external_request(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct external *self = instance;
    (void)port;
    request->status = cnnvp_storage_check(self->size, request);
    request->first_data = 0;
    if (request->status != CNNVP_OK)
        self->ops->log(
            self->host, CNNVP_LOG_WARNING,
            "request for %llu x %llu bytes at 0x%llx, stride %lld, is outside the window's 0x%llx bytes",
            (unsigned long long)request->count, (unsigned long long)request->size, (unsigned long long)request->address,
            (long long)request->stride, (unsigned long long)self->size);
    append(self, request);
    /* A request may not complete inside this call. */
    (void)self->ops->notify(self->host, EVENT_SEND, self->ops->now(self->host));
    return CNNVP_OK;
}

static int external_dmi(void *instance, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    struct external *self = instance;
    (void)port;
    if (!cnnvp_storage_has(self->size, address, 1))
        return CNNVP_E_ADDR;
    if (self->data == NULL && !self->dmi)
        return CNNVP_E_NOSUP;
    if (self->data == NULL) {
        const int status = self->ops->dmi(self->host, PORT_socket, self->offset + address, dmi);
        const uint64_t before = status == CNNVP_OK && dmi->start < self->offset ? self->offset - dmi->start : 0;
        if (status == CNNVP_OK)
            *dmi = (struct cnnvp_dmi){dmi->data + before, dmi->start + before - self->offset, dmi->end - self->offset};
        return status;
    }
    *dmi = (struct cnnvp_dmi){.data = self->data, .start = 0, .end = self->size - 1u};
    return CNNVP_OK;
}

static void external_event(void *instance, uint32_t event)
{
    (void)event;
    advance(instance);
}

static void external_flush(void *instance)
{
    struct external *self = instance;
    cnnvp_bandwidth_end(&self->bandwidth);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_external = {
    UNIT_TABLES,
    .kind = "external",
    .version = "1.0",
    .summary = "Third-party memory, device, link or bus master: TLM-2.0 sockets that a C++ program binds",
    .instance_size = sizeof(struct external),
    .event_count = EVENT_COUNT,
    .init = external_init,
    .fini = external_fini,
    .reset = external_reset,
    .access = external_access,
    .request = external_request,
    .complete = external_complete,
    .dmi = external_dmi,
    .event = external_event,
    .flush = external_flush,
};
