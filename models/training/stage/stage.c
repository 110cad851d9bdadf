/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the blocks of the multi-function module share. Implements stage.h. */
#include "stage.h"

#include "cnnvp_integer.h"

/* The single trace track of every block. */
enum { TRACK_work };

int cnnvp_stage_init(void *self, const struct cnnvp_init *init)
{
    struct cnnvp_stage *stage = self;
    stage->host = init->host;
    stage->ops = init->ops;
    stage->pipeline = init->ops->param(init->host, 0);
    stage->timing_only = init->ops->timing_only(init->host) != 0;
    return CNNVP_OK;
}

/* The numbers of sets and lanes are parameters of the multi-function module, upstream of the blocks. */
void cnnvp_stage_costs(const struct cnnvp_parts_row *parts, size_t count, uint64_t pipeline,
                       const struct cnnvp_costs *costs)
{
    const uint64_t sets = costs->upstream(costs->context, "sets", 1u);
    const uint64_t lanes = sets * costs->upstream(costs->context, "lanes", 1u);
    const uint64_t numbers[] = {
        [CNNVP_OF_LANES] = lanes, [CNNVP_OF_STAGES] = (pipeline + 1u) * lanes, [CNNVP_OF_SETS] = sets};
    cnnvp_say_parts(costs, parts, count, numbers);
}

/* True if the access only asks whether the tile could be processed. */
static bool asks(const struct cnnvp_access *access)
{
    return (access->flags & CNNVP_DEBUG) != 0;
}

/* ---- plans ---- */

static struct cnnvp_stage_piece *add_piece(struct cnnvp_stage_plan *plan, uint32_t port, enum cnnvp_op op,
                                           uint64_t address, uint64_t size)
{
    struct cnnvp_stage_piece *piece = &plan->pieces[plan->piece_count++];
    *piece = (struct cnnvp_stage_piece){.port = port, .op = op, .address = address, .size = size};
    return piece;
}

void cnnvp_stage_entries(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, bool change,
                         uint64_t first, uint64_t count, uint64_t entry_bytes)
{
    struct cnnvp_stage_piece *piece =
        add_piece(plan, port, CNNVP_BORROW_READ, first * entry_bytes, count * entry_bytes);
    piece->change = change;
    piece->word_bytes = 4u;
    piece->streams = 1u;
    piece->cycles = plan->interval * cnnvp_tile_beats(tile, plan->values);
}

void cnnvp_stage_matrix(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, enum cnnvp_op op,
                        uint64_t address, uint64_t bytes)
{
    struct cnnvp_stage_piece *piece = add_piece(plan, port, op, address, tile->images * bytes);
    piece->word_bytes = 2u;
    piece->streams = cnnvp_stage_streams(tile);
    piece->cycles = cnnvp_tile_beats(tile, tile->channels * tile->plane);
}

void cnnvp_stage_pass(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, uint64_t words,
                      uint32_t word_bytes)
{
    plan->passes = true;
    plan->port = port;
    plan->kind = tile->kind;
    plan->words = words;
    plan->word_bytes = word_bytes;
}

uint32_t cnnvp_stage_streams(const struct cnnvp_tile *tile)
{
    return cnnvp_minimum32(tile->images, tile->sets);
}

struct cnnvp_buffer_clocks cnnvp_stage_clocks(uint32_t streams, uint32_t ways, uint64_t words, uint64_t cycles)
{
    const uint64_t most = UINT32_MAX;
    return (struct cnnvp_buffer_clocks){
        .times = words != 0,
        .cycles = (uint32_t)cnnvp_minimum(cycles, most),
        .maps = streams * ways,
        .columns = (uint32_t)cnnvp_minimum(cnnvp_divide_up(words, streams), most),
        .words = (uint32_t)cnnvp_minimum(words, most)};
}

uint64_t cnnvp_stage_entry_span(const struct cnnvp_tile *tile)
{
    return (uint64_t)(tile->images - 1u) * tile->entry_image_stride +
           (uint64_t)(tile->channels - 1u) * tile->entry_channel_stride + 1u;
}

/* ---- runs ---- */

/* Borrows a piece for an access, or only checks it if the access only asks. *data is NULL in timing-only. Stalls at the
 * port are kept in tile->waits until charge() counts them. */
static int borrow(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                  const struct cnnvp_stage_piece *piece, enum cnnvp_op op, void **data)
{
    struct cnnvp_tile *tile = access->data;
    const uint64_t words = piece->size / piece->word_bytes;
    const struct cnnvp_buffer_clocks clocks =
        cnnvp_stage_clocks(piece->streams, piece->change ? 2u : 1u, words, piece->cycles);
    struct cnnvp_access borrow = {
        .op = (uint32_t)op,
        .flags = access->flags & CNNVP_DEBUG,
        .tag = access->tag,
        .flow = access->flow,
        .address = piece->address,
        .size = piece->size,
        .words = words,
        .word_bytes = piece->word_bytes,
        .cycles = piece->cycles,
        .clocks = &clocks,
        .clock_count = 1u,
    };
    const int status = stage->ops->access(stage->host, piece->port, &borrow);
    *data = status == CNNVP_OK ? borrow.data : NULL;
    if (borrow.delay != 0)
        tile->waits = cnnvp_maximum(tile->waits, cnnvp_delay_cycles(stage->ops->clock_mhz(stage->host),
                                                                    stage->ops->now(stage->host), borrow.delay));
    if (status == CNNVP_OK && *data == NULL && !stage->timing_only && !asks(access))
        return CNNVP_E_STATE;
    return status;
}

static int borrow_pieces(const struct cnnvp_stage_plan *plan, struct cnnvp_stage_call *call)
{
    int status = CNNVP_OK;
    for (uint32_t i = 0; i < plan->piece_count && status == CNNVP_OK; ++i) {
        const struct cnnvp_stage_piece *piece = &plan->pieces[i];
        status = borrow(call->self, call->access, piece, piece->op, &call->data[i]);
        if (status == CNNVP_OK && piece->change)
            status = borrow(call->self, call->access, piece, CNNVP_BORROW_WRITE, &call->data[i]);
    }
    return status;
}

void cnnvp_stage_count(const struct cnnvp_stage_call *call, uint32_t stat, uint64_t n)
{
    const struct cnnvp_stage *stage = call->self;
    if (n != 0)
        stage->ops->count(stage->host, stat, call->access->tag, n);
}

/* Adds the block's part of the tile's time, its span in the trace and its statistics. Its busy cycles include stalls at
 * the buffers' ports. */
static void charge(const struct cnnvp_stage_plan *plan, const struct cnnvp_stage_call *call)
{
    const struct cnnvp_stage *stage = call->self;
    const struct cnnvp_access *access = call->access;
    struct cnnvp_tile *tile = access->data;
    const uint64_t mhz = stage->ops->clock_mhz(stage->host);
    const uint64_t edge = cnnvp_edge_at_or_after(mhz, stage->ops->now(stage->host) + access->delay) + tile->fill;
    const uint64_t works = plan->interval * cnnvp_tile_beats(tile, plan->values);
    const uint64_t cycles = works + tile->waits;
    tile->waits = 0;
    tile->fill += stage->pipeline;
    tile->cycles = cnnvp_maximum(tile->cycles, works);
    tile->waiting_cycles = cnnvp_maximum(tile->waiting_cycles, cycles);
    cnnvp_stage_count(call, plan->busy_stat, cycles + stage->pipeline);
    cnnvp_stage_count(call, plan->work.stat, plan->work.n);
    if (plan->name != NULL)
        stage->ops->span(stage->host, TRACK_work, plan->name, access->tag, access->flow, cnnvp_edge_time(mhz, edge),
                         cnnvp_edge_time(mhz, edge + cycles + stage->pipeline));
}

/* Passes the tile to the next block. Afterwards the tile is as before, except for what later blocks have left in it. */
static int pass(const struct cnnvp_stage *stage, struct cnnvp_access *access, const struct cnnvp_stage_plan *plan)
{
    struct cnnvp_tile *tile = access->data;
    const struct cnnvp_tile kept = *tile;
    struct cnnvp_access next = {
        .op = CNNVP_COMMAND,
        .flags = access->flags & CNNVP_DEBUG,
        .tag = access->tag,
        .flow = access->flow,
        .data = tile,
        .size = sizeof *tile,
        .words = plan->words,
        .word_bytes = plan->word_bytes,
        .delay = access->delay,
    };
    tile->kind = plan->kind;
    tile->flags |= plan->flags;
    tile->values = plan->of_errors ? tile->errors : tile->values;
    const int status = stage->ops->access(stage->host, plan->port, &next);
    tile->kind = kept.kind;
    tile->flags = kept.flags;
    tile->values = kept.values;
    access->delay = next.delay;
    return status;
}

int cnnvp_stage_run(void *self, struct cnnvp_access *access, cnnvp_stage_plan_fn plan_of)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile = access->data;
    struct cnnvp_stage_plan plan = {.interval = 1u};
    struct cnnvp_stage_call call = {.self = self, .access = access};
    if (access->op != CNNVP_COMMAND)
        return CNNVP_E_ACCESS;
    if (tile == NULL || access->size != sizeof *tile)
        return CNNVP_E_INVAL;
    int status = plan_of(self, tile, &plan);
    if (status == CNNVP_OK)
        status = borrow_pieces(&plan, &call);
    if (status != CNNVP_OK)
        return status;
    if (!asks(access)) {
        if (plan.compute != NULL && !stage->timing_only)
            plan.compute(&call, tile);
        if (plan.compute != NULL)
            charge(&plan, &call);
        for (unsigned i = 0; i < sizeof plan.counts / sizeof plan.counts[0]; ++i)
            cnnvp_stage_count(&call, plan.counts[i].stat, plan.counts[i].n);
    }
    return plan.passes ? pass(stage, access, &plan) : CNNVP_OK;
}
