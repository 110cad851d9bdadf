/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the channels that a calculation reads: those that earlier DMA transfers left in its halves of the buffers. The
 * channel is unknown for data that were moved or set on chip. Nothing is known if several DMAs fill buffers, because
 * instructions of different elements have the same numbers.
 */
#include "trace_cursor.h"

#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

#define BUFFERS 3u
#define HALVES 2u

/* Bytes [begin, end) of a half, as one DMA instruction left them. */
struct filled {
    uint64_t begin, end;
    uint64_t channel; /* channel of the first byte */
    uint64_t plane;   /* bytes from one channel to the next; 0: one channel only */
    int is_known;
};

/* The newest entry is last. */
struct half {
    struct filled *all;
    uint32_t count;
};

struct cnnvp_trace_buffers {
    struct cnnvp_trace *trace;
    struct cnnvp_cursor dma[CNNVP_DMA_STREAMS]; /* each positioned at its next unused event */
    int is_open[CNNVP_DMA_STREAMS];
    struct half halves[BUFFERS][HALVES];
};

int cnnvp_trace_fills(const struct cnnvp_event *event)
{
    if (event->type != CNNVP_EVENT_BEGIN || event->about == NULL)
        return 0;
    const uint32_t opcode = event->about->opcode;
    return opcode == ISA_receive || opcode == ISA_move || opcode == ISA_fill;
}

static void advance(struct cnnvp_trace_buffers *buffers, uint32_t stream)
{
    struct cnnvp_cursor *cursor = &buffers->dma[stream];
    do
        buffers->is_open[stream] = cnnvp_cursor_advance(cursor);
    while (buffers->is_open[stream] && !cnnvp_trace_fills(&cursor->event));
    if (!buffers->is_open[stream])
        cnnvp_cursor_fini(cursor);
}

struct cnnvp_trace_buffers *cnnvp_trace_buffers_new(struct cnnvp_trace *trace)
{
    struct cnnvp_trace_buffers *buffers = trace->dma_count != 0 ? calloc(1, sizeof *buffers) : NULL;
    if (buffers == NULL)
        return NULL;
    buffers->trace = trace;
    for (uint32_t i = 0; i < trace->dma_count; ++i) {
        cnnvp_cursor_init(&buffers->dma[i], trace, trace->dma_streams[i]);
        advance(buffers, i);
    }
    return buffers;
}

void cnnvp_trace_buffers_free(struct cnnvp_trace_buffers *buffers)
{
    if (buffers == NULL)
        return;
    for (uint32_t i = 0; i < BUFFERS * HALVES; ++i)
        free(buffers->halves[i / HALVES][i % HALVES].all);
    for (uint32_t i = 0; i < CNNVP_DMA_STREAMS; ++i)
        if (buffers->is_open[i])
            cnnvp_cursor_fini(&buffers->dma[i]);
    free(buffers);
}

static struct filled filled_by(const struct cnnvp_trace *trace, const struct cnnvp_command *command)
{
    const struct cnnvp_place_info *place = NULL;
    struct cnnvp_transfer transfer;
    memcpy(&transfer, command->descriptor, sizeof transfer);
    if (command->opcode == ISA_receive)
        place = trace->place_at(trace->layer_context, transfer.memory_addr);
    return (struct filled){
        .begin = transfer.buffer_addr,
        .end = transfer.buffer_addr + (uint64_t)(transfer.planes - 1u) * transfer.buffer_plane_stride +
               (uint64_t)(transfer.rows - 1u) * transfer.buffer_row_stride + transfer.row_bytes,
        .channel = place != NULL ? cnnvp_trace_channel(place, transfer.memory_addr - place->address,
                                                       command->immediate != 0 ? command->immediate : 1u)
                                 : 0,
        .plane = transfer.planes > 1u ? transfer.buffer_plane_stride : 0,
        .is_known = place != NULL};
}

/* Adds an entry and removes the entries that it covers. */
static int put(struct half *half, const struct filled *filled)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < half->count; ++i)
        if (half->all[i].begin < filled->begin || half->all[i].end > filled->end)
            half->all[kept++] = half->all[i];
    half->count = kept;
    struct filled *all = cnnvp_grow(half->all, half->count, sizeof *all);
    if (all == NULL)
        return 0;
    half->all = all;
    all[half->count++] = *filled;
    return 1;
}

/* Applies the DMA instructions before this one. Returns 0 if out of memory. */
static int follow(struct cnnvp_trace_buffers *buffers, uint64_t flow)
{
    for (;;) {
        const struct cnnvp_event *next = NULL;
        uint32_t stream = 0;
        for (uint32_t i = 0; i < CNNVP_DMA_STREAMS; ++i)
            if (buffers->is_open[i] && buffers->dma[i].event.flow < (next != NULL ? next->flow : flow)) {
                next = &buffers->dma[i].event;
                stream = i;
            }
        if (next == NULL)
            return 1;
        const uint32_t buffer = next->about->status & 3u;
        const struct filled filled = filled_by(buffers->trace, next->about);
        if (buffer < BUFFERS && !put(&buffers->halves[buffer][next->about->halves >> buffer & 1u], &filled))
            return 0;
        advance(buffers, stream);
    }
}

int cnnvp_trace_operand(struct cnnvp_trace_buffers *buffers, const struct cnnvp_event *event, uint32_t buffer,
                        uint64_t *channel)
{
    const struct cnnvp_command *command = event->about;
    const struct cnnvp_word_parts parts = {
        .opcode = command->opcode, .status = command->status, .halves = command->halves};
    const uint32_t number = cnnvp_isa_operand(&parts, buffer);
    if (buffers == NULL || number >= command->count || !follow(buffers, event->flow))
        return 0;
    const uint64_t address = command->descriptor[number];
    const struct half *half = &buffers->halves[buffer][command->halves >> buffer & 1u];
    for (uint32_t i = half->count; i-- != 0;) {
        const struct filled *filled = &half->all[i];
        if (address < filled->begin || address >= filled->end)
            continue;
        *channel = filled->channel + (filled->plane != 0 ? (address - filled->begin) / filled->plane : 0);
        return filled->is_known;
    }
    return 0;
}
