/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that cross the ports of S001's PE module in each clock, as classes of clocks (cnnvp_buffer.h). Their totals
 * are the words that train_cost.c counts. Words are assigned to banks for all arrays and columns, also if some are
 * masked.
 *
 *   first     a map for each array, in its own banks: a mantissa of as many rows as a column has PEs. Connected: one
 *             mantissa; gradient: the arrays' inputs side by side
 *   second    weights: one for each PE of an array, in its own bank, loaded while the PEs work on the taps of the set
 *             before. Errors: a map for each column: one row or, with the adder, as many rows as PEs. Connected: a
 *             weight for each working PE; gradient: the columns' errors side by side
 *   results   a sum of each column, in its own bank, spread over the time of a pass
 */
#include "train_tile.h"
#include "cnnvp_integer.h"

static void add(struct cnnvp_train_clocks *clocks, struct cnnvp_buffer_clocks of)
{
    if (of.times != 0)
        clocks->classes[clocks->count++] = of;
}

static uint32_t shared(uint64_t cycles, uint64_t clocks)
{
    const uint64_t each = cnnvp_maximum(cycles / cnnvp_maximum(clocks, 1u), 1u);
    return (uint32_t)cnnvp_minimum(each, UINT32_MAX);
}

void cnnvp_train_clocks(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        struct cnnvp_train_port_clocks *ports)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint64_t pieces =
        tile->connected ? 1u : cnnvp_divide_up(tile->kx, CNNVP_TRAIN_TAPS) * cnnvp_divide_up(tile->ky, shape->rows);
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    const uint32_t working = tile->connected && !gradient && !shape->fc_all_rows ? 1u : shape->rows;
    struct cnnvp_parts arrays[2], columns[2];
    cnnvp_cut(gradient ? tile->in_channels : tile->images, shape->arrays, arrays);
    cnnvp_cut(tile->out_channels, tile->connected && !gradient ? shape->cols * working : shape->cols, columns);
    *ports = (struct cnnvp_train_port_clocks){0};
    for (const struct cnnvp_parts *a = arrays; a < arrays + 2; ++a)
        for (const struct cnnvp_parts *c = columns; c < columns + 2; ++c) {
            const uint64_t groups = a->count * c->count;
            struct cnnvp_buffer_clocks first = {.maps = shape->arrays}, second = {0};
            struct cnnvp_buffer_clocks sums = {.maps = shape->arrays * shape->cols, .words = a->size * c->size};
            if (tile->connected && gradient) {
                first = (struct cnnvp_buffer_clocks){.times = groups * tile->images, .columns = a->size};
                second = (struct cnnvp_buffer_clocks){.times = groups * tile->images, .columns = c->size};
                sums.times = groups * tile->images;
            } else if (tile->connected) {
                const uint64_t parts = cnnvp_train_parts(tile);
                first.times = groups * tile->in_channels;
                first.words = a->size;
                second =
                    (struct cnnvp_buffer_clocks){.times = first.times, .maps = shape->cols * working, .words = c->size};
                sums.times = groups * parts * working;
                sums.words = a->size * (uint32_t)cnnvp_divide_up(c->size, working);
                sums.cycles = shared(tile->in_channels / parts, working);
            } else if (gradient) {
                const uint64_t passes = groups * tile->images * pieces * CNNVP_TRAIN_TAPS;
                const uint32_t errors = shape->gradient_adder ? shape->rows : 1u;
                first.times = shape->gradient_adder
                                  ? passes * tile->out_w * cnnvp_divide_up(tile->out_h, shape->rows) * shape->rows
                                  : passes * area;
                first.rows = shape->rows;
                first.words = a->size * shape->rows;
                second = (struct cnnvp_buffer_clocks){
                    .times = first.times, .maps = shape->cols, .rows = errors, .words = c->size * errors};
                sums.times = passes * shape->rows;
                sums.cycles = shared(first.times, sums.times);
            } else {
                const uint64_t sets = groups * tile->in_channels * pieces;
                first.times = sets * area * CNNVP_TRAIN_TAPS;
                first.rows = shape->rows;
                first.words = a->size * shape->rows;
                second = (struct cnnvp_buffer_clocks){
                    .times = sets * CNNVP_TRAIN_TAPS,
                    .cycles = shared(area, 1u),
                    .maps = shape->cols * shape->rows,
                    .words = c->size * shape->rows};
                sums.times = sets * area;
                sums.cycles = CNNVP_TRAIN_TAPS;
            }
            add(&ports->input, first);
            add(&ports->weight, second);
            add(&ports->output, sums);
        }
}
