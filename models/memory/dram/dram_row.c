/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single request that reads along an open row, or along rows of all bank groups in turn. RDs follow each other at one
 * spacing, and a burst enters when its stream may send it. Weights arrive in this way, and most bursts are weights.
 * Once the data of the bursts in flight end at that spacing, too, the stream is in steady state: every period is like
 * the one before. All periods that fit before the row, the request or the time ends are made in one step.
 */
#include "dram_run.h"

/* RDs that fit in the window of `columns`, the first at `ready`. */
static uint64_t in_window(const struct dram_run *run, uint64_t ready)
{
    const uint64_t room = dram_window_room(run, ready);
    return room ? (room - 1u) / run->pace + 1u : 0;
}

/* Periods that fit. A waiting burst may have been classified before, so all of these have to leave in the first
 * window. */
static uint64_t periods(const struct dram_run *run, uint64_t ready, uint64_t enters, uint64_t left)
{
    const uint64_t fit = cnnvp_minimum((run->last - cnnvp_maximum(enters, ready)) / run->pace + 1u, left);
    const uint64_t first = in_window(run, ready);
    return first < run->channel->count[0] ? cnnvp_minimum(fit, first) : fit;
}

/* Counts `count` RDs, the first at `ready`, window by window. */
static void tell(struct dram_run *run, uint64_t ready, uint64_t count)
{
    for (uint64_t left = count;;) {
        const uint64_t some = cnnvp_minimum(left, in_window(run, ready));
        run->columns.bursts += some;
        run->columns.hits += some;
        left -= some;
        ready += some * run->pace;
        if (!left)
            return;
        dram_begin_window(run, run->columns.tag, run->columns.source, ready, ready + run->latency);
    }
}

/* The burst this many after the stream's next one. */
static struct dram_cursor burst_after(const struct dram_run *run, uint64_t after)
{
    return dram_cursor_at(run->queue, run->stream->address + after * DRAM_BURST_BYTES);
}

/* Bank of a waiting burst. In a single row they may be in any order, and of several segments. */
static uint32_t bank_of(const struct dram_run *run, const struct dram_cursor *waits)
{
    return run->queue->turns > 1 ? waits->place.bank : run->stream->place.bank;
}

/* `count` bursts issue and as many enter, the first at `enters`; bursts that do both are skipped. Returns the sum of
 * the clocks at which the issued bursts entered. */
static uint64_t turn_over(struct dram_run *run, uint64_t enters, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const struct cnnvp_request *request = stream->first;
    const uint64_t waiting = channel->count[0], places = cnnvp_minimum(count, waiting), through = count - places;
    uint64_t sum = through * enters + run->pace * (through * (through - 1u) / 2u);
    struct dram_cursor leaves = burst_after(run, 0u - waiting), comes = burst_after(run, through);
    channel->order += through;
    for (uint64_t i = 0; i < places; ++i) {
        const uint8_t index = dram_take_read(channel, bank_of(run, &leaves));
        sum += channel->entry[index].entered;
        run->columns.hits -= channel->entry[index].classified;
        channel->free[channel->free_count++] = index;
        dram_read_enters(channel, &comes.place, enters + (through + i) * run->pace, stream->first, request->tag,
                         channel->entry[index].source);
        dram_cursor_step(run->queue, &leaves);
        dram_cursor_step(run->queue, &comes);
    }
    return sum;
}

/* Updates the channel for `count` bursts that enter and as many that issue, in turn. */
static void repeat(struct dram_run *run, uint64_t ready, uint64_t enters, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    const uint64_t span = count * run->pace, bl = channel->timing->t[DRAM_T_bl], last = ready + span - run->pace;
    const uint64_t end = count - channel->count[0]; /* end of what issues, relative to the next burst */
    run->columns.queue_clocks +=
        count * ready + run->pace * (count * (count - 1u) / 2u) - turn_over(run, enters, count);
    tell(run, ready, count);
    channel->counts.data_clocks += count * bl;
    channel->counts.row_clocks += count * (run->pace - bl);
    channel->bus[0].end += span;
    channel->returned += span;
    dram_serve(channel, 0);
    channel->plan.valid = 0;
    channel->clock = cnnvp_maximum(enters + span - run->pace, last + 1u);
    dram_hold_bus(channel, last);
    const uint64_t turns = run->queue->turns == 1 ? 1 : cnnvp_minimum(count, 2u * run->queue->turns);
    struct dram_cursor at = burst_after(run, end - turns);
    for (uint64_t left = turns; left-- != 0; dram_cursor_step(run->queue, &at))
        dram_space_read(channel, bank_of(run, &at), last - left * run->pace);
}

int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t left = dram_row_left(run->queue, stream);
    if (left < 4)
        return 0;
    const uint64_t count = periods(run, next->clock, enters, left), span = count * run->pace;
    const uint64_t latency = run->channel->returned + run->pace - stream->ends[stream->end_first]; /* of each burst */
    repeat(run, next->clock, enters, count);
    /* each burst is sent when the data of another end, and enters a clock later */
    dram_advance_periodic(run, enters + span - run->pace, count, span, latency * count, count);
    return 1;
}
