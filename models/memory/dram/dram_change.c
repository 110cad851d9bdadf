/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single request that reads on from the end of one row to the next row, in a closed bank. Before the change bursts
 * enter and issue in steady state (dram_row.c), and soon after it they do so again. The time between, with the ACT, RDs
 * of both rows in turn and data that end at another spacing, depends on few values, so it is the same from row to row.
 * A change is learned when the slower paths have made it once, and made in one step from then on.
 */
#include "dram_run.h"

enum { MAX_CLOCKS = 1024 }; /* a longer change was disturbed by something */

static uint64_t queue_clocks(const struct dram_run *run)
{
    return run->channel->counts.queue_clocks[0] + (run->columns.bursts ? run->columns.queue_clocks : 0);
}

/* Sum of the clocks for which the bursts of a bank have waited at `clock`; DRAM_NEVER if one was classified before. */
static uint64_t waited(const struct dram_channel *channel, uint32_t bank, uint64_t clock)
{
    uint64_t sum = 0;
    for (uint32_t i = channel->list[0][bank].first; i != DRAM_NONE; i = channel->entry[i].next) {
        if (channel->entry[i].classified)
            return DRAM_NEVER;
        sum += clock - channel->entry[i].entered;
    }
    return sum;
}

/* 1 if the timings allow the ACT of the next burst's bank when that burst enters, no earlier command delays an RD
 * there, and only the next RD of the present bank decides when that bank can be closed. */
static int is_free(const struct dram_channel *channel, uint32_t present, uint32_t bank, uint64_t ready, uint64_t enters)
{
    return !(channel->open >> bank & 1u) && !channel->count[1] && channel->clock <= enters &&
           dram_act_ready(channel, bank) <= enters && dram_rank_of(channel, bank) == dram_rank_of(channel, present) &&
           (channel->group[dram_group_of(channel, bank)].column[0] <= enters ||
            dram_group_of(channel, bank) == dram_group_of(channel, present)) &&
           channel->bank[present].pre <= ready + channel->timing->t[DRAM_T_rtp];
}

/* ---- learning ---- */

static void begin(struct dram_run *run, const struct dram_change_kind *kind, const struct dram_next_column *next,
                  uint64_t before)
{
    const struct dram_stream *stream = run->stream;
    run->queue->change_begun = (struct dram_change_begun){
        .request = stream->first,
        .kind = *kind,
        .ready = next->clock,
        .address = stream->address,
        .bursts = cnnvp_dram_queue_bursts(stream->first),
        .place = stream->place,
        .bank = next->bank,
        .served = run->queue->served,
        .latency = stream->first->scratch[DRAM_LATENCY],
        .waited = stream->waited,
        .queue_clocks = queue_clocks(run) + before,
        .counts = run->channel->counts};
}

/* 1 if nothing but the change of row has happened since `begun`. The count of bursts shows that the request is the same
 * one, and not another in its place. */
static int was_change(const struct dram_run *run, const struct dram_change_begun *begun, uint64_t ready)
{
    const struct dram_stream *stream = run->stream;
    const struct dram_counts *now = &run->channel->counts, *then = &begun->counts;
    const uint64_t count = (stream->address - begun->address) / DRAM_BURST_BYTES;
    return stream->first == begun->request && stream->place.bank == begun->place.bank &&
           stream->place.row == begun->place.row && stream->place.column - begun->place.column == count &&
           run->queue->served - begun->served == count &&
           cnnvp_dram_queue_bursts(stream->first) - begun->bursts == count && ready - begun->ready <= MAX_CLOCKS &&
           run->channel->list[0][stream->place.bank].count == begun->kind.waiting &&
           stream->end_count == begun->kind.ends && !run->channel->count[1] &&
           now->commands[DRAM_ACT] - then->commands[DRAM_ACT] == 1u && now->misses - then->misses == 1u &&
           now->precharges == then->precharges && now->commands[DRAM_REF] == then->commands[DRAM_REF] &&
           now->data_clocks - then->data_clocks == count * run->channel->timing->t[DRAM_T_bl] &&
           now->idle_clocks == then->idle_clocks && now->refresh_clocks == then->refresh_clocks &&
           waited(run->channel, stream->place.bank, ready) != DRAM_NEVER;
}

void dram_change_learn(struct dram_run *run, uint64_t ready)
{
    struct dram_queue *queue = run->queue;
    struct dram_change_begun *begun = &queue->change_begun;
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const uint32_t *t = channel->timing->t;
    if (begun->request == NULL)
        return;
    if (was_change(run, begun, ready)) {
        struct dram_change *change = &queue->changes[queue->change_next++ % DRAM_CHANGES];
        change->kind = begun->kind;
        change->span = ready - begun->ready;
        change->act = channel->bank[stream->place.bank].column - t[DRAM_T_rcd] - begun->ready;
        change->last = channel->bank[begun->bank].pre - t[DRAM_T_rtp] - begun->ready;
        change->clock = channel->clock - begun->ready;
        change->count = queue->served - begun->served;
        change->queue_clocks = queue_clocks(run) - begun->queue_clocks;
        change->latency = (stream->first->scratch[DRAM_LATENCY] - begun->latency) / queue->timing.tck_ps;
        change->waited = (stream->waited - begun->waited) / queue->timing.tck_ps;
        uint32_t at = 0;
        for (uint32_t i = channel->list[0][stream->place.bank].first; i != DRAM_NONE; i = channel->entry[i].next)
            change->entered[at++] = channel->entry[i].entered - begun->ready;
    }
    begun->request = NULL;
}

/* ---- repeating a learned change ---- */

/* Gives the queue entries of the waiting bursts to those that wait after the change. */
static void turn_over(struct dram_run *run, const struct dram_change *change, uint32_t present, uint64_t ready)
{
    struct dram_channel *channel = run->channel;
    const struct dram_place *place = &run->stream->place;
    struct dram_list *list = &channel->list[0][place->bank];
    const uint64_t behind = change->count - change->kind.waiting;
    uint32_t at = 0;
    *list = channel->list[0][present];
    channel->list[0][present] =
        (struct dram_list){.first = DRAM_NONE, .last = DRAM_NONE, .hit = DRAM_NONE, .other = DRAM_NONE};
    channel->waiting[0] = channel->hits[0] = UINT64_C(1) << place->bank;
    for (uint32_t i = list->first; i != DRAM_NONE; i = channel->entry[i].next, ++at) {
        struct dram_entry *entry = &channel->entry[i];
        entry->entered = ready + change->entered[at];
        entry->order = channel->order + behind + at + 1u;
        entry->row = place->row;
        entry->column = place->column + (uint32_t)behind + at;
        entry->bank = (uint8_t)place->bank;
    }
    list->first_order = list->hit_order = channel->order + behind + 1u;
}

/* Issues the ACT. The first burst of the row counts as a miss. */
static void open_row(struct dram_run *run, uint64_t clock)
{
    const struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    const struct dram_place *place = &run->stream->place;
    const struct dram_issued issued = {
        .command = DRAM_ACT,
        .clock = clock,
        .rank = dram_rank_of(channel, place->bank),
        .bank = place->bank,
        .row = place->row,
        .class_tag = run->columns.tag,
        .class_source = run->columns.source,
        .row_class = DRAM_MISS};
    dram_open_bank(channel, place->bank, place->row, clock);
    ++channel->counts.commands[DRAM_ACT];
    ++channel->counts.misses;
    if (queue->issued != NULL)
        queue->issued(queue->context, &issued);
}

static void repeat(struct dram_run *run, const struct dram_change *change, uint32_t present, uint64_t ready)
{
    struct dram_channel *channel = run->channel;
    const uint32_t bank = run->stream->place.bank;
    const uint64_t data_clocks = change->count * channel->timing->t[DRAM_T_bl];
    turn_over(run, change, present, ready);
    open_row(run, ready + change->act);
    run->columns.bursts += change->count;
    run->columns.hits += change->count - 1u;
    channel->counts.data_clocks += data_clocks;
    channel->counts.row_clocks += change->span - data_clocks;
    channel->bus[0].end += change->span;
    channel->returned += change->span;
    channel->order += change->count;
    dram_serve(channel, 0);
    channel->plan.valid = 0;
    channel->clock = ready + change->clock;
    dram_hold_bus(channel, ready + change->span - run->spacing);
    dram_space_read(channel, present, ready + change->last);
    dram_space_read(channel, bank, ready + change->span - run->spacing);
}

static const struct dram_change *find(const struct dram_queue *queue, const struct dram_change_kind *kind)
{
    for (uint32_t i = 0; i < DRAM_CHANGES; ++i) {
        const struct dram_change_kind *known = &queue->changes[i].kind;
        if (known->waiting == kind->waiting && known->ends == kind->ends && known->ahead == kind->ahead &&
            known->same_group == kind->same_group)
            return &queue->changes[i];
    }
    return NULL;
}

int dram_row_change(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const uint32_t bank = stream->place.bank;
    const uint64_t ready = next->clock;
    /* an RD of the next row may come before `ready`, but not before an RD that has been counted */
    if (!run->columns.bursts || bank == next->bank || !dram_is_periodic(run, next, enters) ||
        !is_free(channel, next->bank, bank, ready, enters))
        return 0;
    const uint64_t before = waited(channel, next->bank, ready), left = dram_row_left(run->queue, stream);
    const struct dram_change_kind kind = {
        .waiting = channel->list[0][next->bank].count,
        .ends = stream->end_count,
        .ahead = ready + run->spacing - enters,
        .same_group = dram_group_of(channel, bank) == dram_group_of(channel, next->bank)};
    if (before == DRAM_NEVER || kind.waiting > DRAM_QUEUE)
        return 0;
    const struct dram_change *change = find(run->queue, &kind);
    if (change == NULL) {
        begin(run, &kind, next, before);
        return 0;
    }
    const uint64_t again = ready + change->span;
    if (left < change->count || cnnvp_maximum(again, again + run->spacing - kind.ahead) > run->last ||
        !dram_window_room(run, again - run->spacing))
        return 0;
    repeat(run, change, next->bank, ready);
    run->columns.queue_clocks += change->queue_clocks + before;
    dram_advance_periodic(run, ready + change->entered[kind.waiting - 1u], change->count, change->span, change->latency,
                          change->waited);
    return 1;
}
