/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in front of the channels: split into bursts that enter the controllers' queues one by one. Host-free.
 *
 * The reads of an initiator are one stream, its writes another; a stream sends its bursts in order. A read stream has at most
 * `outstanding` bursts on their way; a write burst is done when the controller has taken it. Of the streams whose next burst could
 * enter a queue at a clock, that which has waited longest since its last burst goes first; then the lower initiator, reads before
 * writes. Any number enters at one clock.
 * What arrives at a time can enter at the first clock edge after it, so results depend neither on the order of things within an
 * instant nor on how far the schedule is computed in one call.
 */
#ifndef CNNVP_DRAM_QUEUE_H
#define CNNVP_DRAM_QUEUE_H

#include <stdint.h>

#include "cnnvp_model.h"
#include "dram_channel.h"

#define DRAM_STREAMS 64u
#define DRAM_OUTSTANDING 1024u /* more on their way than this is never used */

/* What the queue keeps in a request's `scratch`. */
enum dram_scratch {
    DRAM_NEXT,    /* request behind it */
    DRAM_TIME,    /* of arrival until its first burst is due, then the end of its data so far */
    DRAM_BURSTS,  /* bursts << 24 | number of its stream << 16 | bursts on their way whose end is not known */
    DRAM_LATENCY, /* sum of ends less sum of times at which bursts could be sent */
};

/* Read commands that the queue has issued one after the other, all in one window of time (dram_bandwidth.h) and their data
 * too, of one source and tag. Their rows were open: what is no hit has been classified before. */
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
    uint64_t segment; /* of the first request: place of its next burst */
    uint64_t segment_end; /* address */
    uint64_t address;
    struct dram_place place;
    uint32_t most; /* reads that the first request may have on their way */
    cnnvp_time arrival; /* of the first request */
    uint64_t arrival_clock; /* the clock that it lies in */
    cnnvp_time taken;   /* when the last burst entered */
    uint64_t served;    /* number of the stream's last burst among all bursts */
    uint32_t initiator;
    uint32_t op;
    uint32_t on_their_way; /* reads, and those that have ended and whose place no other has taken */
    uint32_t end_first, end_count;
    uint64_t *ends; /* clocks of those whose end is known, ascending, in a ring */
};

enum { DRAM_CHANGES = 4 };

/* What a lone request's way from one row to the next depends on. */
struct dram_change_sort {
    uint32_t waiting, ends; /* bursts that wait and those whose end is known, before and after; 0: nothing is kept */
    uint64_t ahead;         /* clocks from the next burst's entering to a spacing behind the next RD */
    int same_group;
};

/* That way (dram_change.c), in clocks from when the next RD was due. */
struct dram_change {
    struct dram_change_sort sort;
    uint64_t span;    /* until all is as before, in the next row */
    uint64_t act;
    uint64_t last;    /* RD of the row before */
    uint64_t clock;   /* up to which things are decided then */
    uint64_t count;   /* bursts that have entered, and as many have issued */
    uint64_t queue_clocks, latency; /* of those; queue_clocks without what lies before */
    uint64_t entered[DRAM_QUEUE];   /* those that wait then */
};

/* A change while it is learned: how things were before. */
struct dram_change_begun {
    const struct cnnvp_request *request; /* NULL: none is */
    struct dram_change_sort sort;
    uint64_t ready;
    uint64_t address, bursts;
    struct dram_place place;
    uint32_t bank; /* before */
    uint64_t served, latency, queue_clocks;
    struct dram_counts counts;
};

struct dram_queue {
    struct dram_options options;
    struct dram_timing timing;
    struct dram_map map;
    struct dram_channel *channel;
    struct dram_stream streams[DRAM_STREAMS];
    uint32_t stream_count;
    uint64_t waiting;         /* streams with requests, a bit each */
    uint64_t served;
    uint64_t clock;           /* bursts enter at this clock or later */
    uint64_t decided;         /* nothing is left to do up to this clock */
    uint32_t reads;           /* in the channels, their end not known */
    int stepwise;             /* plan every command, also where dram_columns.h could: for tests */
    int columns_follow;       /* the next burst's column is the next but at a row's end */
    struct dram_change changes[DRAM_CHANGES];
    uint32_t change_next; /* the one to replace */
    struct dram_change_begun change_begun;
    struct cnnvp_request *entered; /* reads of which every burst has entered and some wait for data */
    struct cnnvp_request *done; /* scheduled completely, by time of completion */
    struct dram_counts before;  /* of the channels before the last reset */
    /* told of each command, but of those that the other one is told of */
    void (*issued)(void *context, const struct dram_issued *issued);
    void (*columns_issued)(void *context, const struct dram_columns *reads);
    /* told of each burst that enters a controller, may be NULL; `stream` is the burst's `source` in what is issued */
    void (*burst)(void *context, const struct dram_stream *stream, const struct cnnvp_request *request, uint64_t clock);
    void *context;
};

/* Timing and options have been checked. CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_dram_queue_init(struct dram_queue *queue, const struct dram_options *options,
                                         const struct dram_timing *timing);
void cnnvp_dram_queue_fini(struct dram_queue *queue);
/* Forgets every request, closes every bank. */
void cnnvp_dram_queue_reset(struct dram_queue *queue, cnnvp_time now);

/* A request arrives. Its range has been checked. CNNVP_E_NOMEM, CNNVP_E_STATE: there are too many initiators. */
CNNVP_MUST_USE int cnnvp_dram_queue_add(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time now);
/* A request that moves nothing and completes at `at`. */
void cnnvp_dram_queue_finish(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time at);

/* Schedules everything that no request arriving at `bound` or later can change, up to the first completion. */
void cnnvp_dram_queue_schedule(struct dram_queue *queue, cnnvp_time bound);
/* The same with refreshes also where nothing waits: brings the counts up to `now`. */
void cnnvp_dram_queue_catch_up(struct dram_queue *queue, cnnvp_time now);
/* Tells of the row class of each burst that waits, as it will be if nothing else arrives; it then counts as classified. */
void cnnvp_dram_queue_classify(struct dram_queue *queue, void (*classified)(void *context, const struct dram_issued *issued));
/* No request completes before this time, unless it is known (due) or has not arrived yet: it is early enough to schedule up to
 * then. CNNVP_TIME_NEVER if nothing waits. */
cnnvp_time cnnvp_dram_queue_work(struct dram_queue *queue);
/* Time of the first completion that is known, CNNVP_TIME_NEVER if none. */
static inline cnnvp_time cnnvp_dram_queue_due(const struct dram_queue *queue)
{
    return queue->done ? queue->done->scratch[DRAM_TIME] : CNNVP_TIME_NEVER;
}

/* Takes the request of that completion out. */
struct cnnvp_request *cnnvp_dram_queue_take(struct dram_queue *queue);

/* Index in `streams` of that which the request belongs to. */
static inline uint32_t cnnvp_dram_queue_stream(const struct cnnvp_request *request)
{
    return (uint32_t)(request->scratch[DRAM_BURSTS] >> 16 & 0xffu);
}

static inline uint64_t cnnvp_dram_queue_bursts(const struct cnnvp_request *request)
{
    return request->scratch[DRAM_BURSTS] >> 24;
}

/* Sums over the channels. */
void cnnvp_dram_queue_counts(const struct dram_queue *queue, struct dram_counts *counts);

#endif
