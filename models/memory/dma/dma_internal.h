/* SPDX-License-Identifier: Apache-2.0 */
/* The DMA's state: a read and a write channel, each a queue of transfers that share the channel's bursts in flight. */
#pragma once

#include "dma.h"
#include "cnnvp_command.h"
#include "dma_geometry.h"

#define UNIT_DEF "memory/dma/dma.def"
#include "unit/unit_enums.inc"

#define DMA_SLOTS 64u  /* maximum of the parameter `requests` */
#define DMA_PIECES 16u /* maximum memory requests of a channel in flight */
#define DMA_BUFFERS 3u

/* Memory that grows on demand and is kept. */
struct dma_store {
    uint8_t *data;
    uint64_t capacity;
};

/* One request with its receive, or one store. */
struct dma_transfer {
    struct dma_shape memory;
    struct dma_shape buffer;
    struct cnnvp_command command; /* its request or store; the sequence is that of the command to complete, 0: it is a
                                     forgotten request */
    uint32_t index;               /* buffer: 0 input, 1 weight, 2 output */
    uint32_t half;
    uint64_t bytes;
    uint64_t feature_words;
    uint32_t word_bytes;
    uint32_t interleaved;   /* planes interleaved word by word in memory; 1: none */
    uint64_t order;         /* program order of the request or store */
    uint64_t receive_order; /* program order of the receive */
    uint64_t flow;          /* sequence number of the request or store */
    uint32_t tag;
    uint32_t receive_tag;
    int received;     /* 1 for stores */
    int from_memory;  /* the words written to the buffer are copies of words in memory */
    cnnvp_time waits; /* since when it waits for another transfer; CNNVP_TIME_NEVER: it does not */
    int waited;       /* its wait has been counted */
    int in_buffer;    /* the data have been written to the buffer */
    int status;
    uint64_t posted; /* bytes requested from memory */
    uint32_t flying; /* pieces in flight */
    cnnvp_time started;
    cnnvp_time port_from; /* when it may use the buffer's port at the earliest */
    cnnvp_time data;      /* when memory completed its requests; CNNVP_TIME_NEVER: not yet */
    int at_port;          /* it has entered the port */
    cnnvp_time finish;    /* when it will complete; CNNVP_TIME_NEVER: not yet known */
    struct dma_store staging;
};

struct dma_piece {
    struct cnnvp_request request;
    uint32_t slot;
    uint64_t bursts; /* at the memory; 0: the piece is free */
};

/* Moments of the critical path, for each channel and each of its slots: the request or store, the receive, and the
 * completion by memory. */
enum dma_moment { MOMENT_ASKED, MOMENT_ISSUED, MOMENT_DATA, DMA_SLOT_MOMENTS };
enum { MOMENT_PORT, MOMENT_DONE, MOMENT_SLOTS, DMA_MOMENTS = MOMENT_SLOTS + DMA_SLOT_MOMENTS * DMA_SLOTS };

struct dma_channel {
    struct dma_transfer slots[DMA_SLOTS];
    uint32_t first;
    uint32_t count;
    struct dma_piece pieces[DMA_PIECES];
    uint64_t bursts; /* of the pieces in flight */
    uint64_t newest; /* of the newest piece */
    cnnvp_time port_free;
    cnnvp_time track_end;
};

enum { DMA_READ = 0, DMA_WRITE = 1, DMA_CHANNELS = 2 }; /* channel numbers, event numbers, first two tracks */

/* Choices of `arbiter`. */
enum dma_arbiter { DMA_ARBITER_separate, DMA_ARBITER_round_robin, DMA_ARBITER_priority, DMA_ARBITER_weighted };

/* The oldest transfer of a channel at the port, in clock edges and cycles. */
struct dma_crossing {
    uint64_t since;
    uint64_t cycles;
    uint64_t left;
    uint64_t end; /* valid if left is 0 or no other transfer comes */
};

struct dma_port {
    uint64_t edge; /* up to which `crossing` and `had` are computed */
    struct dma_crossing crossing[DMA_CHANNELS];
    uint64_t had[DMA_CHANNELS]; /* of the cycles that both channels wanted */
};

struct dma {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t burst_bytes;
    uint64_t outstanding;
    uint64_t port_bytes;
    uint64_t transpose_words;
    uint64_t arbiter;
    uint64_t share[DMA_CHANNELS];
    struct dma_port port;
    uint32_t word_bytes;
    uint64_t clock_mhz;
    uint32_t slots;
    int timing_only;
    uint64_t order; /* program order of the commands so far */
    uint64_t ahead; /* bytes requested from memory ahead of their receives */
    uint64_t peak;  /* most bursts in flight so far */
    cnnvp_time copy_end, copy_track_end;
    struct dma_store scratch; /* for moves */
    struct dma_channel channels[DMA_CHANNELS];
    char refusal[CNNVP_REFUSAL_SIZE];
};

/* The time `cycles` cycles after the first clock edge at or after `time`. */
cnnvp_time dma_after(const struct dma *dma, cnnvp_time time, uint64_t cycles);
/* Cycles that `bytes` of the transfer take at the port. */
uint64_t dma_port_cycles(const struct dma *dma, const struct dma_transfer *transfer, uint64_t bytes);
/* Copies a transfer's words from its staging memory to the range of a buffer that begins at `base`, or back. */
void dma_cross(const struct dma_transfer *transfer, uint8_t *base, int to_buffer);
/* The oldest transfer of a channel wants the port from this time on. (dma_port.c) */
void dma_port_enter(struct dma *dma, uint32_t number, cnnvp_time from, const struct dma_transfer *transfer);
/* The clock edge at which that transfer is through, if no other one comes. */
uint64_t dma_port_end(const struct dma *dma, uint32_t number);
/* Time of a transfer that runs alone, for CNNVP_ESTIMATE. (dma_estimate.c) */
CNNVP_MUST_USE int dma_estimate(struct dma *dma, uint32_t index, uint32_t half, const struct dma_transfer *whose,
                                const struct dma_shape *memory, const struct dma_shape *buffer, cnnvp_time *delay);
/* Accesses the range of a buffer that `shape` spans; only the bytes of `shape` cross the port. */
CNNVP_MUST_USE int dma_buffer_access(struct dma *dma, enum cnnvp_op op, uint32_t flags, uint32_t index, uint32_t half,
                                     const struct dma_shape *shape, const struct dma_transfer *whose,
                                     struct cnnvp_access *access);

static inline struct dma_transfer *dma_slot(struct dma *dma, struct dma_channel *channel, uint32_t place)
{
    return &channel->slots[(channel->first + place) % dma->slots];
}

static inline uint32_t dma_channel_moment(uint32_t number, uint32_t moment)
{
    return number * DMA_MOMENTS + moment;
}

static inline uint32_t dma_slot_moment(const struct dma *dma, uint32_t number, const struct dma_transfer *transfer,
                                       enum dma_moment moment)
{
    const uint32_t slot = (uint32_t)(transfer - dma->channels[number].slots);
    return dma_channel_moment(number, MOMENT_SLOTS + slot * DMA_SLOT_MOMENTS + moment);
}

static inline void dma_keep(const struct dma *dma, uint32_t number, const struct dma_transfer *transfer,
                            enum dma_moment moment)
{
    dma->ops->keep(dma->host, dma_slot_moment(dma, number, transfer, moment), CNNVP_PATH_NOW, transfer->receive_tag);
}

/* Sends all memory requests that can be sent now, on both channels, and finds out when transfers complete. */
void dma_advance(struct dma *dma);
/* Callbacks of the unit: a memory request is complete; shows a line for each transfer under way; the oldest transfer of
 * the channel with the event's number is due. */
void dma_complete(void *self, uint32_t port, struct cnnvp_request *request);
void dma_show(void *self, const struct cnnvp_show *show);
void dma_event(void *self, uint32_t number);
