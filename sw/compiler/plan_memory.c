/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's estimate of what transfers cost: how long they keep the memory busy. */
#include "plan_cost.h"

#define WORD_BYTES 2u
#define BURST_BYTES 64u

/* How many of `count` steps by so many bytes lead to another row of the memory, in 1024ths. */
static uint64_t row_changes(const struct cnnvp_plan_timing *timing, uint64_t count, uint64_t bytes)
{
    return count * sooner(bytes * 1024u / timing->row_bytes, 1024u);
}

/* The largest power of two up to a burst that divides all of what has been or-ed together. */
static uint64_t grid_of(uint64_t distances)
{
    const uint64_t bits = distances | BURST_BYTES;
    return bits & (~bits + 1u);
}

/* Bursts of one kind that follow each other, and how many of them the memory chooses from. */
struct stream {
    uint64_t burst_ps, many;
    int awaited; /* 1: a burst is among those until its data are there */
};

static struct stream stream_of(const struct cnnvp_plan_timing *timing, int written)
{
    return written ? (struct stream){timing->burst, timing->queued, 0}
                   : (struct stream){timing->read, timing->outstanding, 1};
}

/*
 * A stream's bursts that come to so many rows, in 1024ths. What is on its way keeps the memory busy while the next row
 * opens; where it is less than that takes, the rest is lost. Where it is more, bursts of both rows wait, and since the
 * rows lie in different bank groups they follow each other, two by two, as closely as the bus allows. Where rows are
 * left before so many have come, each burst waits for its own row.
 */
static uint64_t stream_ps(const struct cnnvp_plan_timing *timing, const struct stream *stream, uint64_t bursts,
                          uint64_t rows)
{
    const uint64_t burst = stream->burst_ps;
    const uint64_t ahead = sooner(stream->many * burst, timing->most_hidden);
    const uint64_t opening = timing->reopen + timing->burst;
    uint64_t ps = bursts * burst;
    if (ahead < opening) {
        ps += rows * (opening - ahead) / 1024u;
    } else if (burst == timing->burst) {
        const uint64_t mixed = rows * 2u * (ahead - opening) / timing->burst;
        const int waits = stream->awaited && bursts * 1024u <= rows * stream->many;
        const uint64_t closest = waits ? (timing->reopen + timing->hit) / stream->many : 0;
        ps -= sooner(mixed, bursts * 1024u) * (burst - sooner(later(closest, timing->bus), burst)) / 1024u;
    }
    return ps + ps / 1024u * timing->refresh;
}

/* At least so long for rows, in 1024ths, so many bytes apart: of those in one bank one follows the other. */
static uint64_t rows_ps(const struct cnnvp_plan_timing *timing, uint64_t bursts, uint64_t rows, uint64_t distance)
{
    /* Rows and banks are counted in powers of two, so this is how many steps lead back to the first bank. */
    const uint64_t all = (uint64_t)timing->row_bytes * timing->banks;
    const uint64_t both = distance | all;
    const uint64_t banks = sooner(all / (both & (~both + 1u)), timing->banks);
    if (banks == 1u)
        return later(rows * timing->row, bursts * timing->burst * 1024u + rows * timing->reopen) / 1024u;
    const uint64_t ahead = timing->ahead * rows / 1024u / bursts + 2u;
    return rows * timing->row / sooner(banks, ahead) / 1024u;
}

/* The port of the buffer on the other side takes as long for what is asked for. */
static uint64_t port_ps(const struct cnnvp_plan_timing *timing, enum cnnvp_engine_port port, uint64_t bytes)
{
    return bytes * timing->sides[port] / BURST_BYTES;
}

/* A box of a tensor: its size, the distance of its first word from the frame's, and from there to the next box's. */
struct box {
    uint64_t channels, rows, columns;
    uint64_t first;
    uint64_t step;
    int written;
};

/* Stretches begin `offset` behind multiples of `grid` bytes, with gaps of so many between them: bursts that end one and
 * begin the next, on average, in bytes. */
static uint64_t common_bytes(uint64_t gaps, uint64_t gap, uint64_t grid, uint64_t offset)
{
    const uint64_t apart = (gap + grid - offset) / grid * grid;
    return apart < BURST_BYTES ? gaps * (BURST_BYTES - apart) : 0;
}

static uint64_t box_ps(const struct cnnvp_plan_timing *timing, const struct cnnvp_image_tensor *tensor,
                       const struct box *box)
{
    const uint64_t row_stride = tensor->row_stride != 0 ? tensor->row_stride : tensor->width;
    const uint64_t channel_stride = tensor->channel_stride != 0 ? tensor->channel_stride : row_stride * tensor->height;
    uint64_t planes = box->channels;
    uint64_t stretches = planes * box->rows;
    uint64_t bytes = box->columns * WORD_BYTES;
    if (box->columns == row_stride || box->rows == 1u) {
        stretches = planes;
        bytes *= box->rows;
        if (box->rows * box->columns == channel_stride) {
            stretches = planes = 1u;
            bytes *= box->channels;
        }
    }
    const uint64_t grid = grid_of((row_stride | box->step | (planes > 1u ? channel_stride : 0)) * WORD_BYTES);
    const uint64_t changes = 1024u + row_changes(timing, planes - 1u, channel_stride * WORD_BYTES) +
                             row_changes(timing, stretches - planes, row_stride * WORD_BYTES);
    /* Stretches begin at multiples of `grid` behind the first, each as often: bursts that they touch, on average. */
    const uint64_t offset = box->first * WORD_BYTES % grid;
    const uint64_t last = offset + bytes + grid - 1u;
    uint64_t burst_bytes = stretches * (last / grid * grid + BURST_BYTES - grid);
    if (box->written && stretches > 1u) {
        /* The memory's queue of writes merges those to one burst. */
        const uint64_t row_gap = (row_stride - box->columns) * WORD_BYTES;
        const uint64_t plane_gap = channel_stride * WORD_BYTES - (box->rows - 1u) * row_stride * WORD_BYTES -
                                   box->columns * WORD_BYTES;
        burst_bytes -= common_bytes(stretches - planes, row_gap, grid, offset) +
                       common_bytes(planes - 1u, plane_gap, grid, offset);
    }
    const uint64_t rows = later(changes, burst_bytes * 1024u / timing->row_bytes);
    const uint64_t bursts = burst_bytes / BURST_BYTES;
    const uint64_t distance = (planes > 1u ? channel_stride : row_stride) * WORD_BYTES;
    /* In strict order nothing is on its way when the first row opens. */
    const uint64_t behind = timing->strict ? rows - 1024u : rows;
    const struct stream stream = stream_of(timing, box->written);
    const enum cnnvp_engine_port port = box->written ? CNNVP_ENGINE_OUTPUT : CNNVP_ENGINE_INPUT;
    const uint64_t memory =
        later(stream_ps(timing, &stream, bursts, behind), rows_ps(timing, bursts, rows, distance));
    return later(port_ps(timing, port, stretches * bytes), memory);
}

/* Reads of bytes that follow each other from the start of a burst on. */
static uint64_t line_ps(const struct cnnvp_plan_timing *timing, uint64_t bytes)
{
    const uint64_t bursts = cnnvp_divide_up(bytes, BURST_BYTES);
    const uint64_t rows = bytes * 1024u / timing->row_bytes;
    const struct stream stream = stream_of(timing, 0);
    return stream_ps(timing, &stream, bursts, rows);
}

/* The box of the input that becomes this one of the result when dimensions change places. */
static void turn(const struct cnnvp_image_layer *layer, struct box *box)
{
    const uint64_t sizes[3] = {box->channels, box->rows, box->columns};
    const uint32_t tiles[3] = {layer->group_out, layer->tile_h, layer->tile_w};
    const uint32_t all[3] = {layer->out.channels, layer->out.height, layer->out.width};
    uint64_t *const dims[3] = {&box->channels, &box->rows, &box->columns};
    for (uint32_t i = 0; i < 3; ++i) {
        *dims[layer->from[i]] = sizes[i];
        if (layer->from[i] == 2u)
            box->step = tiles[i] < all[i] ? tiles[i] : 0;
    }
}

uint64_t cnnvp_plan_operand_ps(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing,
                               const struct cnnvp_image_tensor *operand, const struct cnnvp_plan_extent *extent,
                               uint32_t depth)
{
    struct box box = {depth, extent->rows, extent->columns,
                      (uint64_t)operand->border_top * operand->row_stride + operand->border_left,
                      layer->tile_w < layer->out.width ? layer->tile_w : 0, 0};
    if (layer->op == CNNVP_OP_FC)
        return later(port_ps(timing, CNNVP_ENGINE_INPUT, (uint64_t)depth * WORD_BYTES),
                     line_ps(timing, (uint64_t)depth * WORD_BYTES));
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL) {
        box.rows = cnnvp_plan_input_rows(layer, extent->rows);
        box.columns = cnnvp_plan_input_columns(layer, extent->columns);
        box.first -= (uint64_t)layer->pad_top * operand->row_stride + layer->pad_left;
        box.step *= layer->sx;
    }
    if (layer->permuted != 0)
        turn(layer, &box);
    if (layer->op == CNNVP_OP_ADD) {
        box.channels = sooner(box.channels, operand->channels);
        box.rows = sooner(box.rows, operand->height);
        box.columns = sooner(box.columns, operand->width);
    }
    return box_ps(timing, operand, &box);
}

uint64_t cnnvp_plan_store_ps(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing,
                             const struct cnnvp_plan_extent *extent)
{
    const struct cnnvp_image_tensor *out = &layer->out;
    const struct box box = {extent->channels, extent->rows, extent->columns,
                            (uint64_t)out->border_top * out->row_stride + out->border_left,
                            layer->tile_w < out->width ? layer->tile_w : 0, 1};
    return box_ps(timing, out, &box);
}

uint64_t cnnvp_plan_weights_ps(const struct cnnvp_plan_timing *timing, uint64_t bytes)
{
    return later(port_ps(timing, CNNVP_ENGINE_WEIGHT, bytes), line_ps(timing, bytes));
}

uint64_t cnnvp_plan_pieces_ps(const struct cnnvp_plan_timing *timing, uint64_t pieces, uint64_t bytes,
                              uint64_t distance, int written)
{
    /* The next ones begin where these end. */
    const uint64_t grid = grid_of(distance | bytes);
    const uint64_t burst_bytes = pieces * ((bytes + grid - 1u) / grid * grid + BURST_BYTES - grid);
    const uint64_t changes = 1024u + row_changes(timing, pieces - 1u, distance);
    const uint64_t rows = later(changes, burst_bytes * 1024u / timing->row_bytes);
    const uint64_t bursts = burst_bytes / BURST_BYTES;
    const struct stream stream = stream_of(timing, written);
    return later(stream_ps(timing, &stream, bursts, rows), rows_ps(timing, bursts, rows, distance));
}

/* Bursts of different bank groups follow each other more closely on the bus than those of one stream do, so each takes
 * longer by less than what the other one still needs. */
uint64_t cnnvp_plan_shared_ps(const struct cnnvp_plan_timing *timing, uint64_t busy)
{
    return 2u * timing->turning > timing->read ? busy * (2u * timing->turning - timing->read) / timing->burst : 0;
}
