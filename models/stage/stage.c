/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of the multi-function module have in common. See stage.h. */
#include "stage.h"

#include "step.h"

#include "cnnvp_integer.h"

/* Every block has one row in the trace. */
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

int cnnvp_stage_tile(const struct cnnvp_access *access, struct cnnvp_tile **tile)
{
    if (access->op != CNNVP_COMMAND)
        return CNNVP_E_ACCESS;
    if (access->data == NULL || access->size != sizeof **tile)
        return CNNVP_E_INVAL;
    *tile = access->data;
    return CNNVP_OK;
}

/* What of a piece crosses the port, and when. */
struct traffic {
    uint64_t words, cycles;
};

static int borrow(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                  const struct cnnvp_stage_piece *piece, const struct traffic *traffic, void **data)
{
    struct cnnvp_access borrow = {
        .op = (uint32_t)piece->op,
        .flags = access->flags & CNNVP_DEBUG,
        .tag = access->tag,
        .flow = access->flow,
        .address = piece->address,
        .size = piece->size,
        .words = traffic->words,
        .word_bytes = piece->word_bytes,
        .cycles = traffic->cycles,
        .streams = piece->streams,
    };
    const int status = stage->ops->access(stage->host, piece->port, &borrow);
    *data = status == CNNVP_OK ? borrow.data : NULL;
    if (borrow.delay != 0) {
        struct cnnvp_tile *tile = access->data;
        const uint64_t waits =
            cnnvp_delay_cycles(stage->ops->clock_mhz(stage->host), stage->ops->now(stage->host), borrow.delay);
        tile->waits = cnnvp_maximum(tile->waits, waits);
    }
    if (status == CNNVP_OK && *data == NULL && cnnvp_stage_computes(stage, access))
        return CNNVP_E_STATE;
    return status;
}

int cnnvp_stage_borrow(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                       const struct cnnvp_stage_piece *piece, void **data)
{
    struct traffic traffic;
    const int status = cnnvp_stage_cross(access, piece, &traffic.words, &traffic.cycles);
    return status != CNNVP_OK ? status : borrow(stage, access, piece, &traffic, data);
}

int cnnvp_stage_entries(const struct cnnvp_stage *stage, const struct cnnvp_access *access, uint32_t port, bool change,
                        uint64_t first, uint64_t count, uint64_t entry_bytes, const struct cnnvp_stage_flow *flow,
                        void **data)
{
    struct cnnvp_stage_piece piece = {
        .port = port,
        .op = CNNVP_BORROW_READ,
        .address = first * entry_bytes,
        .size = count * entry_bytes,
        .word_bytes = 4u,
        .unit_bytes = entry_bytes,
        .flow = *flow,
        .streams = change ? 2u : 1u};
    struct traffic traffic;
    int status = cnnvp_stage_cross(access, &piece, &traffic.words, &traffic.cycles);
    if (status == CNNVP_OK)
        status = borrow(stage, access, &piece, &traffic, data);
    if (status != CNNVP_OK || !change)
        return status;
    piece.op = CNNVP_BORROW_WRITE;
    return borrow(stage, access, &piece, &traffic, data);
}

uint32_t cnnvp_stage_streams(const struct cnnvp_tile *tile)
{
    return cnnvp_minimum32(tile->images, tile->sets);
}

uint64_t cnnvp_stage_entry_span(const struct cnnvp_tile *tile)
{
    return (uint64_t)(tile->images - 1u) * tile->entry_image_stride +
           (uint64_t)(tile->channels - 1u) * tile->entry_channel_stride + 1u;
}

uint64_t cnnvp_reach_bit(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    return plane * cnnvp_tile_packed(tile->plane, 1u) + index % tile->plane / 8u + 1u;
}

/* Windows of a plane that have begun. */
static uint64_t begun(const struct cnnvp_tile *tile, uint64_t index)
{
    const uint64_t y = cnnvp_minimum(index % tile->plane / tile->width / tile->sy, tile->pooled_height - 1u);
    const uint64_t x = cnnvp_minimum(index % tile->plane % tile->width / tile->sx, tile->pooled_width - 1u);
    return y * tile->pooled_width + x + 1u;
}

uint64_t cnnvp_reach_window(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    return plane * cnnvp_tile_pooled(tile) + begun(tile, index);
}

uint64_t cnnvp_reach_position(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    return plane * cnnvp_tile_packed(cnnvp_tile_pooled(tile), bits) + cnnvp_divide_up(begun(tile, index) * bits, 8u);
}

uint64_t cnnvp_reach_entry(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    return (uint64_t)image * tile->entry_image_stride + index / tile->plane * tile->entry_channel_stride + 1u;
}

uint64_t cnnvp_reach_channel(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    (void)image;
    return index / tile->plane + 1u;
}

uint64_t cnnvp_reach_value(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    (void)tile;
    (void)image;
    return index + 1u;
}

void cnnvp_stage_count(const struct cnnvp_stage *stage, const struct cnnvp_access *access, uint32_t stat, uint64_t n)
{
    if (n != 0 && !cnnvp_stage_asks(access))
        stage->ops->count(stage->host, stat, access->tag, n);
}

void cnnvp_stage_charge(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile,
                        const struct cnnvp_stage_work *work)
{
    if (cnnvp_stage_asks(access))
        return;
    const uint64_t mhz = stage->ops->clock_mhz(stage->host);
    const cnnvp_time now = stage->ops->now(stage->host);
    const uint64_t edge = cnnvp_edge_at_or_after(mhz, now + access->delay) + tile->fill;
    const uint64_t cycles = work->cycles + tile->waits;
    tile->waits = 0;
    tile->fill += stage->pipeline;
    tile->cycles = cnnvp_maximum(tile->cycles, work->cycles);
    tile->waiting_cycles = cnnvp_maximum(tile->waiting_cycles, cycles);
    cnnvp_stage_count(stage, access, work->busy_stat, cycles + stage->pipeline);
    cnnvp_stage_count(stage, access, work->work_stat, work->work);
    if (work->name == NULL)
        return;
    stage->ops->span(stage->host, TRACK_work, work->name, access->tag, access->flow, cnnvp_edge_time(mhz, edge),
                     cnnvp_edge_time(mhz, edge + cycles + stage->pipeline));
}

int cnnvp_stage_pass(const struct cnnvp_stage *stage, struct cnnvp_access *access, uint32_t port,
                     struct cnnvp_tile *tile, uint64_t words, uint32_t word_bytes)
{
    struct cnnvp_access next = {
        .op = CNNVP_COMMAND,
        .flags = access->flags & CNNVP_DEBUG,
        .tag = access->tag,
        .flow = access->flow,
        .data = tile,
        .size = sizeof *tile,
        .words = words,
        .word_bytes = word_bytes,
        .delay = access->delay,
    };
    const int status = stage->ops->access(stage->host, port, &next);
    access->delay = next.delay;
    return status;
}
