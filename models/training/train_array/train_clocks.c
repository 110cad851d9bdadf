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

/* Groups of arrays and columns with the same numbers of both at work. */
struct group {
    uint64_t times;
    uint32_t arrays, columns;
};

static void add_products(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                         const struct group *of, struct cnnvp_train_port_clocks *ports)
{
    const uint64_t times = of->times * tile->images;
    add(&ports->input, (struct cnnvp_buffer_clocks){.times = times, .columns = of->arrays});
    add(&ports->weight, (struct cnnvp_buffer_clocks){.times = times, .columns = of->columns});
    add(&ports->output, (struct cnnvp_buffer_clocks){
                            .times = times, .maps = shape->arrays * shape->cols, .words = of->arrays * of->columns});
}

/* The outputs of a row of PEs leave together, row after row. */
static void add_connected(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, uint32_t working,
                          const struct group *of, struct cnnvp_train_port_clocks *ports)
{
    const uint64_t parts = cnnvp_train_parts(tile);
    const uint64_t times = of->times * tile->in_channels;
    struct cnnvp_parts rows[2];
    cnnvp_cut(of->columns, shape->cols, rows);
    add(&ports->input, (struct cnnvp_buffer_clocks){.times = times, .maps = shape->arrays, .words = of->arrays});
    add(&ports->weight,
        (struct cnnvp_buffer_clocks){.times = times, .maps = shape->cols * working, .words = of->columns});
    for (const struct cnnvp_parts *r = rows; r < rows + 2; ++r)
        add(&ports->output, (struct cnnvp_buffer_clocks){.times = of->times * parts * r->count,
                                                         .cycles = shared(tile->in_channels / parts, working),
                                                         .maps = shape->arrays * shape->cols,
                                                         .words = of->arrays * r->size});
}

/* Gradients of positions outside the kernel do not leave. */
static void add_gradient(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, uint64_t pieces,
                         const struct group *of, struct cnnvp_train_port_clocks *ports)
{
    const bool adder = shape->gradient_adder;
    const uint64_t images = of->times * tile->images;
    const uint64_t passes = images * pieces * CNNVP_TRAIN_TAPS * (adder ? shape->rows : 1u);
    const uint64_t cycles = (adder ? cnnvp_divide_up(tile->out_h, shape->rows) : tile->out_h) * tile->out_w;
    struct cnnvp_parts errors[2], kernel[2];
    cnnvp_cut(tile->out_h, adder ? shape->rows : 1u, errors);
    cnnvp_cut(tile->ky, shape->rows, kernel);
    for (const struct cnnvp_parts *e = errors; e < errors + 2; ++e) {
        const uint64_t times = passes * e->count * tile->out_w;
        const uint32_t rows = adder ? e->size : shape->rows;
        add(&ports->input, (struct cnnvp_buffer_clocks){
                               .times = times, .maps = shape->arrays, .rows = rows, .words = of->arrays * rows});
        add(&ports->weight, (struct cnnvp_buffer_clocks){
                                .times = times, .maps = shape->cols, .rows = e->size, .words = of->columns * e->size});
    }
    for (const struct cnnvp_parts *k = kernel; k < kernel + 2; ++k)
        add(&ports->output, (struct cnnvp_buffer_clocks){.times = images * tile->kx * k->count * k->size,
                                                         .cycles = shared(cycles, adder ? 1u : k->size),
                                                         .maps = shape->arrays * shape->cols,
                                                         .words = of->arrays * of->columns});
}

static void add_convolution(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, uint64_t pieces,
                            const struct group *of, struct cnnvp_train_port_clocks *ports)
{
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    const uint64_t sets = of->times * tile->in_channels * pieces;
    add(&ports->input, (struct cnnvp_buffer_clocks){.times = sets * area * CNNVP_TRAIN_TAPS,
                                                    .maps = shape->arrays,
                                                    .rows = shape->rows,
                                                    .words = of->arrays * shape->rows});
    add(&ports->weight, (struct cnnvp_buffer_clocks){.times = sets * CNNVP_TRAIN_TAPS,
                                                     .cycles = shared(area, 1u),
                                                     .maps = shape->cols * shape->rows,
                                                     .words = of->columns * shape->rows});
    add(&ports->output, (struct cnnvp_buffer_clocks){.times = sets * area,
                                                     .cycles = CNNVP_TRAIN_TAPS,
                                                     .maps = shape->arrays * shape->cols,
                                                     .words = of->arrays * of->columns});
}

void cnnvp_train_clocks(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        struct cnnvp_train_port_clocks *ports)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint64_t pieces = cnnvp_divide_up(tile->kx, CNNVP_TRAIN_TAPS) * cnnvp_divide_up(tile->ky, shape->rows);
    const uint32_t working = tile->connected && !gradient && shape->fc_all_rows ? shape->rows : 1u;
    struct cnnvp_parts arrays[2], columns[2];
    cnnvp_cut(gradient ? tile->in_channels : tile->images, shape->arrays, arrays);
    cnnvp_cut(tile->out_channels, shape->cols * working, columns);
    *ports = (struct cnnvp_train_port_clocks){0};
    for (const struct cnnvp_parts *a = arrays; a < arrays + 2; ++a)
        for (const struct cnnvp_parts *c = columns; c < columns + 2; ++c) {
            const struct group of = {a->count * c->count, a->size, c->size};
            if (tile->connected && gradient)
                add_products(shape, tile, &of, ports);
            else if (tile->connected)
                add_connected(shape, tile, working, &of, ports);
            else if (gradient)
                add_gradient(shape, tile, pieces, &of, ports);
            else
                add_convolution(shape, tile, pieces, &of, ports);
        }
}
