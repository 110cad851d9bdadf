/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the image that an instruction works for. If a transfer's bytes belong to one image (inputs and outputs of a
 * network), its address tells. Other instructions belong to the image whose input was read last, in the order of
 * instructions. This holds only if every stored output belongs to that image too, so that images are processed one by
 * one and do not go through a layer together.
 */
#include "trace_cursor.h"

#include "isa/isa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cnnvp_trace_moves(const struct cnnvp_command *command, struct cnnvp_transfer *transfer)
{
    const int moves = command->opcode == ISA_request || command->opcode == ISA_receive || command->opcode == ISA_store;
    if (!moves || command->count * sizeof(uint32_t) != sizeof *transfer)
        return 0;
    memcpy(transfer, command->descriptor, sizeof *transfer);
    return 1;
}

uint64_t cnnvp_trace_channel(const struct cnnvp_place_info *place, uint64_t offset, uint64_t interleaved)
{
    const uint64_t in_image = place->image_stride != 0 ? offset % place->image_stride : offset;
    const uint64_t block = interleaved * place->channel_stride;
    return place->channel + (block != 0 ? in_image / block * interleaved : 0);
}

static void add_mark(struct cnnvp_trace *trace, const struct cnnvp_image_mark *mark)
{
    struct cnnvp_image_mark *marks = cnnvp_grow(trace->marks, trace->mark_count, sizeof *marks);
    if (marks == NULL) {
        trace->error = ENOMEM;
        return;
    }
    trace->marks = marks;
    marks[trace->mark_count++] = *mark;
}

/* Notes a stream that fills buffers. Returns 0 if it belongs to another instance than the earlier ones, or if there are
 * too many. */
static int add_dma(struct cnnvp_trace *trace, uint32_t number)
{
    const uint32_t count = trace->dma_count;
    if (count == CNNVP_DMA_STREAMS ||
        (count != 0 && trace->streams[trace->dma_streams[0]].instance != trace->streams[number].instance))
        return 0;
    trace->dma_streams[trace->dma_count++] = number;
    return 1;
}

/* Notes the image transfers of a stream. Returns 0 if several instances fill buffers. */
static int mark_stream(struct cnnvp_trace *trace, uint32_t number)
{
    const uint32_t first = trace->mark_count;
    int fills = 0;
    struct cnnvp_cursor cursor;
    struct cnnvp_transfer transfer;
    cnnvp_cursor_init(&cursor, trace, number);
    while (cnnvp_cursor_advance(&cursor)) {
        const struct cnnvp_event *event = &cursor.event;
        fills |= cnnvp_trace_fills(event);
        if (event->type != CNNVP_EVENT_BEGIN || event->about == NULL || !cnnvp_trace_moves(event->about, &transfer))
            continue;
        const struct cnnvp_place_info *place = trace->place_at(trace->layer_context, transfer.memory_addr);
        if (place == NULL || place->image_stride == 0)
            continue;
        const struct cnnvp_image_mark mark = {
            event->flow, (transfer.memory_addr - place->address) / place->image_stride,
            event->about->opcode == ISA_store};
        const struct cnnvp_image_mark *last = trace->mark_count != first ? &trace->marks[trace->mark_count - 1] : NULL;
        if (last == NULL || last->image != mark.image || last->is_output != mark.is_output)
            add_mark(trace, &mark);
    }
    cnnvp_cursor_fini(&cursor);
    return !fills || add_dma(trace, number);
}

static int by_flow(const void *left, const void *right)
{
    const struct cnnvp_image_mark *a = left, *b = right;
    return a->flow < b->flow ? -1 : a->flow > b->flow;
}

void cnnvp_trace_find_images(struct cnnvp_trace *trace)
{
    uint32_t inputs = 0;
    int has_one_dma = 1;
    trace->mark_count = trace->dma_count = 0;
    for (uint32_t i = 0; i < trace->fixed_streams; ++i)
        if (trace->streams[i].kind == CNNVP_STREAM_TRACK && !mark_stream(trace, i))
            has_one_dma = 0;
    trace->dma_count = has_one_dma ? trace->dma_count : 0;
    if (trace->mark_count != 0)
        qsort(trace->marks, trace->mark_count, sizeof *trace->marks, by_flow);
    for (uint32_t i = 0; i < trace->mark_count; ++i) {
        const struct cnnvp_image_mark mark = trace->marks[i];
        if (!mark.is_output) {
            trace->marks[inputs++] = mark;
        } else if (inputs == 0 || trace->marks[inputs - 1].image != mark.image) {
            inputs = 0;
            break;
        }
    }
    trace->mark_count = inputs;
}

int cnnvp_trace_image(const struct cnnvp_trace *trace, uint64_t flow, uint64_t *image)
{
    uint32_t low = 0, high = trace->mark_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (trace->marks[middle].flow <= flow)
            low = middle + 1;
        else
            high = middle;
    }
    *image = low != 0 ? trace->marks[low - 1].image : 0;
    return low != 0;
}
