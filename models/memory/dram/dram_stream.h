/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of requests in front of the channels (dram_queue.h): each stream's next burst and bursts in flight, and the
 * lists that requests move through. Host-free.
 */
#pragma once

#include "cnnvp_model.h"
#include "dram_columns.h"

#define DRAM_STREAMS 64u
#define DRAM_SHARE 64u                /* maximum share of a stream */
#define DRAM_FAIR (UINT32_C(1) << 20) /* virtual time of a burst of a stream with share 1 */

/* Uses of a request's `scratch` words by the queue. */
enum dram_scratch {
    DRAM_NEXT,    /* next request in its list */
    DRAM_TIME,    /* arrival until it is the first of its stream, then end of its data so far */
    DRAM_BURSTS,  /* bursts sent << 24 | number of its stream << 16 | bursts in flight whose end is not known */
    DRAM_LATENCY, /* sum of ends minus sum of times at which bursts could be sent */
};

/* RDs that issued one after the other, of one source and tag, all in one window of time (unit/bandwidth.h), and their
 * data in one window, too. Their rows were open: a burst that is not a hit was classified before. */
struct dram_columns {
    uint64_t bursts, hits, queue_clocks;
    uint64_t clock, done; /* of the first */
    uint32_t tag;
    uint32_t source;
    int turned; /* the first one changed the direction of the data bus */
};

struct dram_stream {
    struct cnnvp_request *first; /* waiting requests, in order */
    struct cnnvp_request *last;
    uint64_t segment;     /* of the first request: segment of its next burst */
    uint64_t segment_end; /* its end address */
    uint64_t address;
    struct dram_place place;
    uint32_t most;          /* maximum reads of the first request in flight */
    cnnvp_time arrival;     /* of the first request */
    uint64_t arrival_clock; /* the clock that contains it */
    cnnvp_time taken;       /* time when the last burst entered */
    uint64_t served;        /* number of its last burst among the bursts of all streams */
    uint64_t fair;          /* virtual time: `each` for each burst so far, and idle time (dram_arbiter.c) */
    uint64_t waited;        /* ps; sum over entered bursts from when they could be sent */
    uint32_t each;          /* DRAM_FAIR / share: the larger the share, the less */
    uint32_t initiator;
    uint32_t op;
    uint32_t on_their_way; /* reads in flight, and ended reads whose place no other has taken */
    uint32_t end_first, end_count;
    uint64_t *ends; /* clocks of the known ends, ascending, in a ring */
};

enum { DRAM_CHANGES = 4 };

/* What the change of a single request from one row to the next depends on. */
struct dram_change_kind {
    uint32_t waiting, ends; /* waiting bursts and known ends, the same before and after; 0: the slot is empty */
    uint64_t ahead;         /* clocks from the entry of the next burst to one spacing after the next RD */
    int same_group;
};

/* A learned change of row (dram_change.c). Clocks count from the next RD at its start. */
struct dram_change {
    struct dram_change_kind kind;
    uint64_t span;                          /* until the steady state in the next row */
    uint64_t act;                           /* ACT of the next row */
    uint64_t last;                          /* last RD of the old row */
    uint64_t clock;                         /* up to which the channel is decided at the end */
    uint64_t count;                         /* bursts that enter, and as many that issue */
    uint64_t queue_clocks, latency, waited; /* sums over these bursts; queue_clocks without the time before */
    uint64_t entered[DRAM_QUEUE];           /* entries of the bursts that wait at the end */
};

/* A change of row that is being learned: the state at its start. */
struct dram_change_begun {
    const struct cnnvp_request *request; /* NULL: none is being learned */
    struct dram_change_kind kind;
    uint64_t ready;
    uint64_t address, bursts;
    struct dram_place place;
    uint32_t bank; /* of the old row */
    uint64_t served, latency, waited, queue_clocks;
    struct dram_counts counts;
};

/* The port in front of the controllers. */
struct dram_port {
    uint64_t burst_fs;   /* for which a burst occupies it; 0: no port */
    uint64_t free_fs[2]; /* [op] time at which it is free */
    uint64_t free[2];    /* first clock after that */
};

struct dram_queue {
    struct dram_options options;
    struct dram_timing timing;
    struct dram_map map;
    struct dram_channel *channel;
    struct dram_port port;
    struct dram_stream streams[DRAM_STREAMS];
    uint32_t stream_count;
    uint64_t waiting; /* streams with requests, a bit each */
    uint64_t served;  /* bursts that have entered so far */
    uint64_t fair;    /* virtual time of the last burst that entered */
    uint64_t clock;   /* bursts enter at this clock or later */
    uint64_t decided; /* everything up to this clock is decided */
    uint32_t reads;   /* reads in the channels whose end is not known */
    int stepwise;     /* plan every command, also where dram_columns.h has a shortcut: for tests */
    /* Neighbouring bursts lie in this many bank groups in turn, at the same column of rows with the same number and
     * bank; then at the next column. 0: in another order. */
    uint32_t turns;
    uint64_t leaps; /* at an address with none of these bits, the row or the order of groups may change */
    struct dram_change changes[DRAM_CHANGES];
    uint32_t change_next; /* the slot to replace next */
    struct dram_change_begun change_begun;
    struct cnnvp_request *entered; /* read requests whose bursts have all entered, and that wait for data */
    struct cnnvp_request *done;    /* completely scheduled requests, by time of completion */
    struct dram_counts before;     /* counts of the channels before the last reset */
    /* called for each command, except for those that columns_issued is called for */
    void (*issued)(void *context, const struct dram_issued *issued);
    void (*columns_issued)(void *context, const struct dram_columns *reads);
    /* called for each burst that enters a controller, may be NULL; `stream` is the burst's `source` in struct
     * dram_issued */
    void (*burst)(void *context, const struct dram_stream *stream, const struct cnnvp_request *request, uint64_t clock);
    /* returns a requester's number in `shares`; NULL: all have 1 */
    uint32_t (*share)(void *context, uint32_t initiator);
    void *context;
};

/* Time of the first completion that is known, CNNVP_TIME_NEVER if none. */
static inline cnnvp_time cnnvp_dram_queue_due(const struct dram_queue *queue)
{
    return queue->done != NULL ? queue->done->scratch[DRAM_TIME] : CNNVP_TIME_NEVER;
}

/* Index in `streams` of the request's stream. */
static inline uint32_t cnnvp_dram_queue_stream(const struct cnnvp_request *request)
{
    return (uint32_t)(request->scratch[DRAM_BURSTS] >> 16 & 0xffu);
}

static inline uint64_t cnnvp_dram_queue_bursts(const struct cnnvp_request *request)
{
    return request->scratch[DRAM_BURSTS] >> 24;
}

static inline struct cnnvp_request *dram_request_next(const struct cnnvp_request *request)
{
    return (struct cnnvp_request *)(uintptr_t)request->scratch[DRAM_NEXT];
}

/* Bursts in flight whose end is not known. */
static inline uint32_t dram_request_pending(const struct cnnvp_request *request)
{
    return (uint32_t)(request->scratch[DRAM_BURSTS] & 0xffffu);
}

static inline void dram_set_next(struct cnnvp_request *request, const struct cnnvp_request *next)
{
    request->scratch[DRAM_NEXT] = (uint64_t)(uintptr_t)next;
}

static inline uint64_t dram_segment_start(const struct cnnvp_request *request, uint64_t segment)
{
    return request->address + segment * (uint64_t)request->stride;
}

/* ---- a stream's next burst ---- */

/* Maximum reads of a request in flight. */
static inline uint32_t dram_most(const struct cnnvp_request *request)
{
    return request->outstanding < DRAM_OUTSTANDING ? request->outstanding : DRAM_OUTSTANDING;
}

/* Clock at which the stream's next burst gets a place among its `most` reads in flight, which is the end of an earlier
 * read; 0 if a place is free, DRAM_NEVER if that end is not known. */
static inline uint64_t dram_free_place(const struct dram_stream *stream)
{
    if (stream->op == CNNVP_WRITE || stream->on_their_way < stream->most) /* writes need no place */
        return 0;
    const uint32_t index = stream->on_their_way - stream->most;
    if (index >= stream->end_count)
        return DRAM_NEVER;
    return stream->ends[(stream->end_first + index) % DRAM_OUTSTANDING];
}

/* Clock at which the stream's next burst can enter its queue, with `place` from dram_free_place(); DRAM_NEVER if
 * something else must happen first. Ends of bursts are whole clocks, because a division here would take half of the
 * time of a sweep over the streams. */
static inline uint64_t dram_entering(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    const struct dram_channel *channel = &queue->channel[stream->place.channel];
    if (place == DRAM_NEVER || !cnnvp_dram_channel_takes(channel, &stream->place, stream->op == CNNVP_WRITE))
        return DRAM_NEVER;
    const uint64_t at = cnnvp_maximum(cnnvp_maximum(stream->arrival_clock, place) + 1u, queue->clock);
    return cnnvp_maximum(at, queue->port.free[stream->op]);
}

/* Time at which the requester could send the stream's next burst, which enters now. */
static inline cnnvp_time dram_sendable(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    return cnnvp_maximum(stream->arrival, stream->op == CNNVP_WRITE ? stream->taken : place * queue->timing.tck_ps);
}

/* Virtual time of a stream for the arbiter `weighted`: at least that of the last burst, so that idle streams save
 * nothing up. */
static inline uint64_t dram_fair_time(const struct dram_queue *queue, const struct dram_stream *stream)
{
    return cnnvp_maximum(queue->fair, stream->fair);
}

/* Accounts for `count` bursts of the stream that have entered. */
static inline void dram_stream_served(struct dram_queue *queue, struct dram_stream *stream, uint64_t count)
{
    const uint64_t begin = dram_fair_time(queue, stream);
    stream->served = queue->served += count;
    stream->fair = begin + count * stream->each;
    queue->fair = stream->fair - stream->each;
}

/* Gives the stream's next read, which enters now, the place of one that has ended. Other ended reads keep their places
 * for the reads after it, so that each of those can be sent at an end of its own. */
static inline void dram_take_place(struct dram_stream *stream)
{
    for (; stream->on_their_way >= stream->most; --stream->on_their_way) {
        stream->end_first = (stream->end_first + 1u) % DRAM_OUTSTANDING;
        --stream->end_count;
    }
    ++stream->on_their_way;
}

/* Moves on to a next burst that does not follow in the row. A request without further bursts moves to `done`, or to
 * `entered` while the end of its data is not known. */
void dram_stream_leap(struct dram_queue *queue, struct dram_stream *stream);

/* Bursts of the row, or of the rows in turn, before the stream's next one. */
static inline uint64_t dram_row_behind(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t turn = stream->address / DRAM_BURST_BYTES & (queue->turns - 1u);
    return (uint64_t)stream->place.column * queue->turns + turn;
}

/* Moves a location to that of the next burst, at `address`, where neither the row nor the order of groups changes. */
static inline void dram_follow(const struct dram_queue *queue, uint64_t address, struct dram_place *place)
{
    place->column += (address / DRAM_BURST_BYTES & (queue->turns - 1u)) == 0;
    if (queue->turns > 1) {
        const uint32_t group = place->bank >> queue->map.bank_bits, turns = queue->turns - 1u;
        place->bank += (((group + 1u) & turns) - (group & turns)) << queue->map.bank_bits;
    }
}

/* Moves on to the next burst of the stream. */
static inline void dram_stream_step(struct dram_queue *queue, struct dram_stream *stream)
{
    const uint64_t behind = stream->address + DRAM_BURST_BYTES;
    if (behind >= stream->segment_end || !queue->turns || !(behind & queue->leaps)) {
        dram_stream_leap(queue, stream);
        return;
    }
    stream->address = behind;
    dram_follow(queue, behind, &stream->place);
}

/* Bursts that the stream sends before the row or its request's segment ends, without the request's last: the burst
 * after that one may not have to wait for a place. */
static inline uint64_t dram_row_left(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t last = stream->segment + 1u == stream->first->count;
    const uint64_t of_segment = (stream->segment_end - stream->address + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
    const uint64_t of_row = (queue->map.mask[DRAM_COLUMN] + UINT64_C(1)) * queue->turns;
    return queue->turns ? cnnvp_minimum(of_segment - last, of_row - dram_row_behind(queue, stream)) : 0;
}

/* Moves a request from `entered` to `done`: the end of its last data is known. */
void dram_stream_end(struct dram_queue *queue, struct cnnvp_request *request);

/* Makes a request, or NULL, the first of the stream. */
void dram_stream_begin(struct dram_queue *queue, struct dram_stream *stream, struct cnnvp_request *request);

/* Puts a request in `done`, to complete at `at`. It may be in no stream. */
void dram_stream_finish(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time at);

/* ---- shortcuts for the reads of a single stream from open rows: dram_reads.c ---- */

enum dram_progress {
    DRAM_STUCK,   /* nothing was done */
    DRAM_MOVED,   /* something was done */
    DRAM_DECIDED, /* everything up to `last` is decided */
};

/* 1 if the options allow these shortcuts. */
int dram_reads_are_possible(const struct dram_queue *queue);

/* 1 if at most one stream waits in front of the channels, it reads, and the next commands of the first channel are RDs
 * of open rows. */
static inline int dram_reads_are_next(const struct dram_queue *queue)
{
    const uint64_t waiting = queue->waiting;
    return dram_reads_are_open(&queue->channel[0]) && !(waiting & (waiting - 1u)) &&
           (!waiting || queue->streams[dram_lowest_bit(waiting)].op == CNNVP_READ);
}

/* If both are so: goes on to `last`, as far as a single stream reads from open rows, or to a new first completion. */
enum dram_progress dram_reads_run(struct dram_queue *queue, uint64_t last);

/* ---- lower bound on the next completion: dram_work.c ---- */

/* A clock before which no waiting or entered request completes; `start` is the clock of the next entry or command. */
uint64_t dram_work(const struct dram_queue *queue, uint64_t start);
