/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of requests in front of the channels (dram_queue.h): the burst that each sends next, the places of those on
 * their way, and requests from one list to the next. Host-free.
 */
#ifndef CNNVP_DRAM_STREAM_H
#define CNNVP_DRAM_STREAM_H

#include "cnnvp_model.h"
#include "dram_columns.h"

#define DRAM_STREAMS 64u
#define DRAM_SHARE 64u /* most */
#define DRAM_FAIR (UINT64_C(1) << 20)

/* What the queue keeps in a request's `scratch`. */
enum dram_scratch {
    DRAM_NEXT,    /* request after it */
    DRAM_TIME,    /* of arrival until its first burst is due, then the end of its data so far */
    DRAM_BURSTS,  /* bursts << 24 | number of its stream << 16 | bursts on their way whose end is not known */
    DRAM_LATENCY, /* sum of ends less sum of times at which bursts could be sent */
};

/* Read commands that the queue has issued one after the other, all in one window of time (unit/bandwidth.h) and their
 * data too, of one source and tag. Their rows were open: what is no hit has been classified before. */
struct dram_columns {
    uint64_t bursts, hits, queue_clocks;
    uint64_t clock, done; /* of the first */
    uint32_t tag;
    uint32_t source;
    int turned; /* the first has changed the direction of the data bus */
};

struct dram_stream {
    struct cnnvp_request *first; /* waiting requests, in order */
    struct cnnvp_request *last;
    uint64_t segment;     /* of the first request: place of its next burst */
    uint64_t segment_end; /* address */
    uint64_t address;
    struct dram_place place;
    uint32_t most;          /* reads that the first request may have on their way */
    cnnvp_time arrival;     /* of the first request */
    uint64_t arrival_clock; /* the clock that it lies in */
    cnnvp_time taken;       /* when the last burst entered */
    uint64_t served;        /* number of the stream's last burst among all bursts */
    uint64_t fair;          /* its bursts so far, each DRAM_FAIR / share, and idle time (dram_arbiter.c) */
    uint64_t waited;        /* ps, of bursts that have entered, from when they could be sent */
    uint32_t share;
    uint32_t initiator;
    uint32_t op;
    uint32_t on_their_way; /* reads, and those that have ended and whose place no other has taken */
    uint32_t end_first, end_count;
    uint64_t *ends; /* clocks of those whose end is known, ascending, in a ring */
};

enum { DRAM_CHANGES = 4 };

/* What a lone request's way from one row to the next depends on. */
struct dram_change_kind {
    uint32_t waiting, ends; /* bursts that wait and those whose end is known, before and after; 0: nothing is kept */
    uint64_t ahead;         /* clocks from the next burst's entering to a spacing after the next RD */
    int same_group;
};

/* That way (dram_change.c), in clocks from when the next RD was due. */
struct dram_change {
    struct dram_change_kind kind;
    uint64_t span; /* until all is as before, in the next row */
    uint64_t act;
    uint64_t last;                          /* RD of the row before */
    uint64_t clock;                         /* up to which things are decided then */
    uint64_t count;                         /* bursts that have entered, and as many have issued */
    uint64_t queue_clocks, latency, waited; /* of those; queue_clocks without what lies before */
    uint64_t entered[DRAM_QUEUE];           /* those that wait then */
};

/* A change while it is learned: how things were before. */
struct dram_change_begun {
    const struct cnnvp_request *request; /* NULL: none is */
    struct dram_change_kind kind;
    uint64_t ready;
    uint64_t address, bursts;
    struct dram_place place;
    uint32_t bank; /* before */
    uint64_t served, latency, waited, queue_clocks;
    struct dram_counts counts;
};

/* What bursts wait for in front of the controllers. */
struct dram_port {
    uint64_t burst_fs;   /* that a burst takes of it, 0: none */
    uint64_t free_fs[2]; /* [op] */
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
    uint64_t served;
    uint64_t fair;    /* of the last burst that has entered */
    uint64_t clock;   /* bursts enter at this clock or later */
    uint64_t decided; /* nothing is left to do up to this clock */
    uint32_t reads;   /* in the channels, their end not known */
    int stepwise;     /* plan every command, also where dram_columns.h could: for tests */
    /* Neighbouring bursts lie in this many bank groups by turns, in one column of rows that have the same number and
     * bank; then in the next column. 0: elsewhere. */
    uint32_t turns;
    uint64_t leaps; /* an address with none of these bits may lie elsewhere */
    struct dram_change changes[DRAM_CHANGES];
    uint32_t change_next; /* the one to replace */
    struct dram_change_begun change_begun;
    struct cnnvp_request *entered; /* reads of which every burst has entered and some wait for data */
    struct cnnvp_request *done;    /* scheduled completely, by time of completion */
    struct dram_counts before;     /* of the channels before the last reset */
    /* told of each command, but of those that the other one is told of */
    void (*issued)(void *context, const struct dram_issued *issued);
    void (*columns_issued)(void *context, const struct dram_columns *reads);
    /* told of each burst that enters a controller, may be NULL; `stream` is the burst's `source` in what is issued */
    void (*burst)(void *context, const struct dram_stream *stream, const struct cnnvp_request *request, uint64_t clock);
    /* A requester's number in `shares`; NULL: 1 */
    uint32_t (*share)(void *context, uint32_t initiator);
    void *context;
};

/* Time of the first completion that is known, CNNVP_TIME_NEVER if none. */
static inline cnnvp_time cnnvp_dram_queue_due(const struct dram_queue *queue)
{
    return queue->done != NULL ? queue->done->scratch[DRAM_TIME] : CNNVP_TIME_NEVER;
}

/* Index in `streams` of that which the request belongs to. */
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

/* Bursts on their way whose end is not known. */
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

/* Reads that a request may have on their way. */
static inline uint32_t dram_most(const struct cnnvp_request *request)
{
    return request->outstanding < DRAM_OUTSTANDING ? request->outstanding : DRAM_OUTSTANDING;
}

/* Clock at which a burst ends whose place the stream's next one takes: 0 if a place is free, DRAM_NEVER if that end is
 * not known. */
static inline uint64_t dram_free_place(const struct dram_stream *stream)
{
    if (stream->op == CNNVP_WRITE || stream->on_their_way < stream->most) /* writes: any number at one clock */
        return 0;
    const uint32_t index = stream->on_their_way - stream->most;
    if (index >= stream->end_count)
        return DRAM_NEVER;
    return stream->ends[(stream->end_first + index) % DRAM_OUTSTANDING];
}

/* Clock at which the next burst of a stream with a request can enter its queue, given its free place; DRAM_NEVER if
 * something else must happen first. Ends of bursts are whole clocks: a division here would be half of the time of a
 * sweep over streams. */
static inline uint64_t dram_entering(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    const struct dram_channel *channel = &queue->channel[stream->place.channel];
    if (place == DRAM_NEVER || !cnnvp_dram_channel_takes(channel, &stream->place, stream->op == CNNVP_WRITE))
        return DRAM_NEVER;
    const uint64_t at = cnnvp_maximum(cnnvp_maximum(stream->arrival_clock, place) + 1u, queue->clock);
    return cnnvp_maximum(at, queue->port.free[stream->op]);
}

/* When the requester could send the stream's next burst, which enters now. */
static inline cnnvp_time dram_sendable(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    return cnnvp_maximum(stream->arrival, stream->op == CNNVP_WRITE ? stream->taken : place * queue->timing.tck_ps);
}

/* Of `weighted`: what a stream has had, not less than whoever went last, so that nothing is kept for later. */
static inline uint64_t dram_fair_time(const struct dram_queue *queue, const struct dram_stream *stream)
{
    return cnnvp_maximum(queue->fair, stream->fair);
}

/* `count` bursts of the stream have entered. */
static inline void dram_stream_served(struct dram_queue *queue, struct dram_stream *stream, uint64_t count)
{
    const uint64_t each = DRAM_FAIR / stream->share, begin = dram_fair_time(queue, stream);
    stream->served = queue->served += count;
    stream->fair = begin + count * each;
    queue->fair = stream->fair - each;
}

/* The stream's next read, which enters now, takes the place of one that has ended; what else has ended keeps its own
 * for those after, so that each could be sent at an end of its own. */
static inline void dram_take_place(struct dram_stream *stream)
{
    for (; stream->on_their_way >= stream->most; --stream->on_their_way) {
        stream->end_first = (stream->end_first + 1u) % DRAM_OUTSTANDING;
        --stream->end_count;
    }
    ++stream->on_their_way;
}

/* Continues with the burst after it, which is not the next one of the row: a request that has no more moves to the
 * completions when the end of its data is known. */
void dram_stream_leap(struct dram_queue *queue, struct dram_stream *stream);

/* Bursts of the same rows before the next one. */
static inline uint64_t dram_row_behind(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t turn = stream->address / DRAM_BURST_BYTES & (queue->turns - 1u);
    return (uint64_t)stream->place.column * queue->turns + turn;
}

/* Continues with the burst after it. */
static inline void dram_stream_step(struct dram_queue *queue, struct dram_stream *stream)
{
    const uint64_t behind = stream->address + DRAM_BURST_BYTES;
    if (behind >= stream->segment_end || !queue->turns || !(behind & queue->leaps)) {
        dram_stream_leap(queue, stream);
        return;
    }
    stream->address = behind;
    stream->place.column += (behind / DRAM_BURST_BYTES & (queue->turns - 1u)) == 0;
    if (queue->turns > 1) {
        const uint32_t group = stream->place.bank >> queue->map.bank_bits, turns = queue->turns - 1u;
        stream->place.bank += (((group + 1u) & turns) - (group & turns)) << queue->map.bank_bits;
    }
}

/* Bursts that the stream sends before the rows or its request's segment ends, without the request's last: what follows
 * that one may not have to wait for a place. */
static inline uint64_t dram_row_left(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t last = stream->segment + 1u == stream->first->count;
    const uint64_t of_segment = (stream->segment_end - stream->address + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
    const uint64_t of_row = (queue->map.mask[DRAM_COLUMN] + UINT64_C(1)) * queue->turns;
    return queue->turns ? cnnvp_minimum(of_segment - last, of_row - dram_row_behind(queue, stream)) : 0;
}

/* The data of the last burst of a request, all of which have entered, end. */
void dram_stream_end(struct dram_queue *queue, struct cnnvp_request *request);

/* A request, NULL for none, becomes the stream's first. */
void dram_stream_begin(struct dram_queue *queue, struct dram_stream *stream, struct cnnvp_request *request);

/* A request completes at `at`, also one that is in no stream. */
void dram_stream_finish(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time at);

/* ---- reads of a lone stream from open rows, in short: dram_reads.c ---- */

enum dram_progress {
    DRAM_STUCK,   /* nothing was done */
    DRAM_MOVED,   /* something was */
    DRAM_DECIDED, /* nothing is left to do up to `last` */
};

/* 1 if the options allow for it. */
int dram_reads_are_possible(const struct dram_queue *queue);

/* 1 if none but a stream that reads waits in front of the channels, and in the first only reads of open rows go next.
 */
static inline int dram_reads_are_next(const struct dram_queue *queue)
{
    const uint64_t waiting = queue->waiting;
    return !(waiting & (waiting - 1u)) && (!waiting || queue->streams[dram_lowest_bit(waiting)].op == CNNVP_READ) &&
           dram_reads_are_open(&queue->channel[0]);
}

/* Where both are so: goes on to `last`, or as far as a lone stream reads from open rows, or to a new first completion.
 */
enum dram_progress dram_reads_run(struct dram_queue *queue, uint64_t last);

/* ---- how long nothing completes for certain: dram_work.c ---- */

/* A clock before which no request of those that wait or have entered completes, `start` being that of the next thing
 * that happens. */
uint64_t dram_work(const struct dram_queue *queue, uint64_t start);

#endif
