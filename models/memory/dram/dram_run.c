/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_run.h. */
#include "dram_run.h"

#include "unit/bandwidth.h"

void dram_report(struct dram_run *run)
{
    struct dram_counts *counts = &run->channel->counts;
    struct dram_columns *columns = &run->columns;
    if (!columns->bursts)
        return;
    counts->commands[DRAM_RD] += columns->bursts;
    counts->hits += columns->hits;
    counts->queue_clocks[0] += columns->queue_clocks;
    counts->turnarounds += (uint64_t)columns->turned;
    if (run->queue->columns_issued != NULL)
        run->queue->columns_issued(run->queue->context, columns);
    columns->bursts = 0;
}

void dram_begin_window(struct dram_run *run, uint32_t tag, uint32_t source, uint64_t clock, uint64_t done)
{
    const uint64_t tck = run->queue->timing.tck_ps;
    dram_report(run);
    run->columns = (struct dram_columns){
        .clock = clock, .done = done, .tag = tag, .source = source, .turned = run->channel->bus[0].last_write == 1};
    run->window_command = cnnvp_bandwidth_window_end(clock * tck) / tck;
    run->window_data = cnnvp_bandwidth_window_end(done * tck) / tck;
}

/* 1 if each bank group is ready in its turn, with its row open. */
static int are_turns_ready(const struct dram_run *run, uint64_t ready)
{
    const struct dram_channel *channel = run->channel;
    const uint64_t oldest = run->stream->address - (uint64_t)channel->count[0] * DRAM_BURST_BYTES;
    struct dram_cursor at = dram_cursor_at(run->queue, oldest);
    for (uint32_t i = 0; i < 2u * run->queue->turns; ++i) { /* by then each group has had its turn */
        if (at.place.row != run->stream->place.row)
            return 0;
        if (!dram_row_is_open(channel, &at.place) || (channel->waiting[1] >> at.place.bank & 1u) ||
            dram_column_ready(channel, at.place.bank, 0) > ready + i * run->pace)
            return 0;
        dram_cursor_step(run->queue, &at);
    }
    return 1;
}

static int is_oldest(const struct dram_channel *channel, uint32_t bank)
{
    for (uint64_t banks = channel->hits[0]; banks; banks &= banks - 1u)
        if (channel->list[0][dram_lowest_bit(banks)].hit_order < channel->list[0][bank].hit_order)
            return 0;
    return 1;
}

/* 1 if the waiting bursts are the last that the stream's first request has sent, in one bank or in rows that take
 * turns. */
static int is_row(const struct dram_run *run, const struct dram_next_column *next)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const struct dram_list *list = &channel->list[0][next->bank];
    const uint64_t start = dram_segment_start(stream->first, stream->segment);
    const uint32_t waiting = channel->count[0];
    if (waiting < 2 || channel->active_count || dram_request_pending(stream->first) != waiting ||
        !dram_counts(run, stream->first))
        return 0;
    if (run->queue->turns == 1)
        return list->count == waiting;
    return list->hit_order + waiting == channel->order + 1u && is_oldest(channel, next->bank) &&
           dram_row_behind(run->queue, stream) >= waiting &&
           stream->address / DRAM_BURST_BYTES - start / DRAM_BURST_BYTES >= waiting &&
           are_turns_ready(run, next->clock);
}

/* 1 if the data in flight end at one spacing, and a burst enters after each end. */
static int are_ends_regular(const struct dram_run *run, uint64_t ready, uint64_t enters)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const uint64_t first = stream->ends[stream->end_first];
    if (enters != first + 1u || enters > ready + run->pace || first <= stream->arrival_clock ||
        channel->bus[0].end != channel->returned || channel->bus[0].idle ||
        channel->bus[0].refresh_to > channel->bus[0].end || !stream->first->first_data)
        return 0;
    for (uint32_t i = 1; i < stream->end_count; ++i)
        if (stream->ends[(stream->end_first + i) % DRAM_OUTSTANDING] != first + i * run->pace)
            return 0;
    return first + (stream->end_count - 1u) * run->pace == channel->returned;
}

int dram_is_periodic(const struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t done = run->channel->returned + run->pace;
    /* the checks that fail most often come first */
    return stream->on_their_way == stream->most && stream->end_count && done == next->clock + run->latency &&
           done <= run->window_data && cnnvp_maximum(enters, next->clock) <= run->last && is_row(run, next) &&
           are_ends_regular(run, next->clock, enters);
}

void dram_advance_periodic(struct dram_run *run, uint64_t entered, uint64_t count, uint64_t span, uint64_t latency,
                           uint64_t waited)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    const uint64_t tck = queue->timing.tck_ps;
    request->scratch[DRAM_BURSTS] += count << 24;
    request->scratch[DRAM_LATENCY] += latency * tck;
    request->scratch[DRAM_TIME] = run->channel->returned * tck;
    for (uint32_t i = 0; i < stream->end_count; ++i)
        stream->ends[(stream->end_first + i) % DRAM_OUTSTANDING] += span;
    stream->taken = entered * tck;
    stream->waited += waited * tck;
    dram_stream_served(queue, stream, count);
    queue->clock = run->channel->clock;
    stream->address += (count - 1u) * DRAM_BURST_BYTES;
    stream->place = cnnvp_dram_map(&queue->map, stream->address);
    dram_stream_step(queue, stream);
}
