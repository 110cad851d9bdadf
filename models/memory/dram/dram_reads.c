/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from open rows, which are most bursts of a network. While only one stream waits, nothing has to be chosen or
 * planned. The reads are reported in sums over a window of the statistics.
 */
#include "dram_policy.h"
#include "dram_run.h"

static inline void issue(struct dram_run *run, const struct dram_next_column *next)
{
    struct dram_channel *channel = run->channel;
    const uint64_t clock = next->clock, done = dram_done_of(run, next);
    const uint32_t index = dram_read_leaves(channel, next);
    const struct dram_entry *entry = &channel->entry[index];
    dram_count(run, next, entry);
    dram_account(channel, channel->bus, clock + channel->timing->t[DRAM_T_cl], 0, channel->bus[0].last_write == 1);
    channel->bus[0].last_write = 0;
    channel->returned = done;
    dram_space_read(channel, next->bank, clock);
    /* a burst that leaves a queue makes room at the next clock */
    run->queue->clock = cnnvp_maximum(run->queue->clock, clock + 1u);
    struct dram_stream *stream = &run->queue->streams[entry->source];
    /* ascending, because there is only one channel */
    stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = done;
    dram_note_done(run, entry->owner, done, 0, 1);
}

static inline void enter(struct dram_run *run, uint64_t clock, uint64_t place, const struct dram_next_column *next)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    dram_columns_pass(run->channel, clock, next->looked);
    dram_wake(run->channel, stream->place.bank, clock);
    if (queue->burst != NULL)
        queue->burst(queue->context, stream, stream->first, clock);
    dram_run_enter(run, clock, place);
}

static int along_rows(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_place *place = &run->stream->place;
    if (!dram_row_is_open(run->channel, place))
        return run->queue->turns == 1 && dram_row_change(run, next, enters);
    if ((run->queue->turns == 1 && place->bank != next->bank) || (run->channel->waiting[1] >> next->bank & 1u) ||
        !dram_is_periodic(run, next, enters))
        return 0;
    if (run->queue->turns == 1)
        dram_change_learn(run, next->clock);
    return dram_row_repeat(run, next, enters);
}

/* Makes successive reads, and entries meanwhile, in one step; returns 0 if they must be made one by one. */
static int repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_channel *channel = run->channel;
    if (run->queue->burst != NULL || next->active || next->clock == DRAM_NEVER || channel->bus[0].last_write)
        return 0;
    dram_count_from(run, next, &channel->entry[channel->list[0][next->bank].first]);
    return (run->stream != NULL && along_rows(run, next, enters)) || dram_train(run, next, enters);
}

static enum dram_progress run_on(struct dram_run *run)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    const struct cnnvp_request *done = queue->done;
    enum dram_progress progress = DRAM_STUCK;
    for (; queue->done == done; progress = DRAM_MOVED) {
        const struct dram_next_column next = dram_next_read(channel);
        const struct dram_stream *stream = run->stream = queue->waiting ? run->stream : NULL;
        const uint64_t place = stream != NULL ? dram_free_place(stream) : DRAM_NEVER;
        const uint64_t enters = stream != NULL ? dram_entering(queue, stream, place) : DRAM_NEVER;
        if (dram_writes_are_due(channel, &next) || dram_needs_cas(channel, DRAM_RD, next.bank, next.clock))
            return progress;
        if (cnnvp_minimum(enters, next.clock) > run->last)
            return run->cut ? progress : DRAM_DECIDED;
        if (repeat(run, &next, enters))
            continue;
        if (enters > next.clock)
            issue(run, &next);
        else if (dram_read_is_open(channel, &stream->place))
            enter(run, enters, place, &next);
        else
            return progress;
    }
    return DRAM_MOVED;
}

int dram_reads_are_possible(const struct dram_queue *queue)
{
    return !queue->stepwise && !queue->port.burst_fs && queue->map.lanes == 1 &&
           !queue->channel[0].scheduler->one_by_one && queue->options.row_policy == DRAM_ROW_POLICY_open;
}

enum dram_progress dram_reads_run(struct dram_queue *queue, uint64_t last)
{
    struct dram_channel *channel = queue->channel;
    const uint32_t *t = queue->timing.t;
    if (channel->refresh_waiting || dram_counts_reads(channel) ||
        !(channel->waiting[0] | channel->active | queue->waiting))
        return DRAM_STUCK;
    struct dram_run run = {
        .queue = queue,
        .channel = channel,
        .stream = queue->waiting ? &queue->streams[dram_lowest_bit(queue->waiting)] : NULL,
        .last = cnnvp_minimum(last, channel->refresh_at - 1u),
        .cut = last >= channel->refresh_at,
        .latency = t[DRAM_T_cl] + t[DRAM_T_bl],
        .spacing = cnnvp_maximum(t[DRAM_T_ccd_s], t[DRAM_T_ccd_l])};
    if (t[DRAM_T_wck] && run.spacing >= run.latency + t[DRAM_T_wck]) /* WCK would stop between two RDs */
        return DRAM_STUCK;
    run.pace = queue->turns > 1 ? t[DRAM_T_ccd_s] : run.spacing;
    const enum dram_progress progress = run_on(&run);
    dram_report(&run);
    return progress;
}
