/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lone request that reads along an open row: after each RD the next follows at the spacing of reads of a bank
 * group, and a burst enters when its stream may send it. That is how weights arrive, and most bursts are weights. Once
 * the data of the bursts on their way end at that spacing too, each period of it is as the one before, and all that
 * fit before the row, the request or the time ends are made in one step.
 */
#include "dram_row.h"

/* RDs that the window which `reads` counts takes, the first of them at `ready`. */
static uint64_t in_window(const struct dram_run *run, uint64_t ready)
{
    const uint64_t room = dram_window_room(run, ready);
    return room ? (room - 1u) / run->spacing + 1u : 0;
}

/* Periods that fit. What waits may have been classified before, so it has to leave in the first window. */
static uint64_t periods(const struct dram_run *run, uint64_t ready, uint64_t enters, uint64_t left)
{
    const uint64_t fit = cnnvp_minimum((run->last - cnnvp_maximum(enters, ready)) / run->spacing + 1u, left);
    const uint64_t first = in_window(run, ready);
    return first < run->channel->count[0] ? cnnvp_minimum(fit, first) : fit;
}

/* `count` RDs of which the first is at `ready`, window by window. */
static void tell(struct dram_run *run, uint64_t ready, uint64_t count)
{
    for (uint64_t left = count;;) {
        const uint64_t some = cnnvp_minimum(left, in_window(run, ready));
        run->columns.bursts += some;
        run->columns.hits += some;
        left -= some;
        ready += some * run->spacing;
        if (!left)
            return;
        dram_begin_window(run, run->columns.tag, run->columns.source, ready, ready + run->latency);
    }
}

/* The places in the queue of those that issue go to those that enter. Returns the sum of the clocks at which what
 * issues has entered. */
static uint64_t turn_over(struct dram_run *run, uint64_t enters, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    struct dram_list *list = &channel->list[0][run->stream->place.bank];
    const uint64_t places = cnnvp_minimum(count, list->count), through = count - places;
    uint64_t sum = through * enters + run->spacing * (through * (through - 1u) / 2u);
    uint8_t next = list->first, last = DRAM_NONE;
    uint64_t entered = enters + through * run->spacing, order = channel->order + through;
    uint32_t column = run->stream->place.column + (uint32_t)through;
    for (uint64_t i = 0; i < places; ++i, entered += run->spacing) {
        struct dram_entry *entry = &channel->entry[next];
        sum += entry->entered;
        run->columns.hits -= entry->classified;
        entry->classified = 0;
        entry->entered = entered;
        entry->order = ++order;
        entry->column = column++;
        last = next;
        next = entry->next;
    }
    if (next != DRAM_NONE) { /* those that stay go first now */
        channel->entry[list->last].next = list->first;
        channel->entry[last].next = DRAM_NONE;
        list->first = next;
        list->last = last;
    }
    list->hit = list->first;
    list->first_order = list->hit_order = channel->entry[list->first].order;
    return sum;
}

/* `count` bursts enter and as many issue, by turns: what that means for the channel. */
static void repeat(struct dram_run *run, uint64_t ready, uint64_t enters, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    const uint64_t span = count * run->spacing, bl = channel->timing->t[DRAM_T_bl];
    const uint64_t issues = count * ready + run->spacing * (count * (count - 1u) / 2u);
    run->columns.queue_clocks += issues - turn_over(run, enters, count);
    tell(run, ready, count);
    channel->counts.data_clocks += count * bl;
    channel->counts.row_clocks += count * (run->spacing - bl);
    channel->bus_end += span;
    channel->returned += span;
    channel->order += count;
    channel->write_mode = 0;
    channel->plan.valid = 0;
    channel->clock = cnnvp_maximum(enters + span - run->spacing, ready + span - run->spacing + 1u);
    dram_hold_bus(channel, ready + span - run->spacing);
    dram_space_read(channel, run->stream->place.bank, ready + span - run->spacing);
}

int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t left = dram_row_left(run->queue, stream);
    if (left < 4)
        return 0;
    const uint64_t count = periods(run, next->clock, enters, left), span = count * run->spacing;
    const uint64_t latency = run->channel->returned + run->spacing - stream->ends[stream->end_first]; /* of each */
    repeat(run, next->clock, enters, count);
    dram_advance_periodic(run, enters + span - run->spacing, count, span, latency * count);
    return 1;
}
