/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed forms of what a command costs on S001's PE module with Part B 1-4, 1-5, 1-7, 1-18, 1-19. A partial group costs
 * as much as a full one; masked arrays, columns and, in gradients, rows read and write nothing. A kernel is processed
 * in pieces of 3 columns and `rows` rows. Positions of a piece outside the kernel read zeros on both ports, and their
 * gradients are dropped.
 *
 * For each kind: compute cycles; below, the passes that they consist of: what a pass computes, its cycles, and the
 * cycles that its results take to drain.
 *
 *   convolution  ceil(images/arrays) * Cin * ceil(Cout/cols) * pieces * H*W * 3
 *                a pixel, 3, 1
 *   gradient     images * ceil(Cin/arrays) * ceil(Cout/cols) * pieces * 3 * H*W
 *                a kernel column, H*W, rows
 *     adder      images * ceil(Cin/arrays) * ceil(Cout/cols) * pieces * 3*rows * ceil(H/rows)*W
 *                a tap, ceil(H/rows)*W, 1
 *   connected    ceil(images/arrays) * inputs * ceil(outputs/(cols * working rows))
 *                a group of outputs, inputs, working rows
 *     gradient   images * ceil(inputs/arrays) * ceil(outputs/cols)
 *                a product, 1, 1
 *
 * Fill: the pipeline, and the first weights of a weight-stationary command (3 taps through each port; later weights are
 * loaded while PEs work). Write-out: the results of a pass go through the 32 receive ports of an array's block while
 * the next pass runs. Cycles beyond the next pass, and the drain of the last pass, are charged.
 */
#include "train_tile.h"
#include "cnnvp_integer.h"

/* The passes of a command. */
struct passes {
    uint64_t count;
    uint64_t cycles; /* cycles of a pass */
    uint64_t drain;
    uint64_t results; /* distinct results; each may leave several times (output_words) */
};

static void convolution_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                             struct passes *passes, struct cnnvp_train_cost *cost)
{
    const uint64_t pieces = cnnvp_divide_up(tile->kx, CNNVP_TRAIN_TAPS) * cnnvp_divide_up(tile->ky, shape->rows);
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    const uint64_t image_groups = cnnvp_divide_up(tile->images, shape->arrays);
    const uint64_t column_groups = cnnvp_divide_up(tile->out_channels, shape->cols);
    const uint64_t sets = tile->in_channels * pieces; /* kernel pieces that contribute to a result */
    const uint64_t results = passes->results = tile->images * (uint64_t)tile->out_channels * area;
    passes->count = image_groups * column_groups * sets * area;
    passes->cycles = CNNVP_TRAIN_TAPS;
    passes->drain = 1u;
    cost->input_words = tile->images * column_groups * sets * area * CNNVP_TRAIN_TAPS * shape->rows;
    cost->weight_words = image_groups * tile->out_channels * sets * CNNVP_TRAIN_TAPS * shape->rows;
    cost->output_words = results * sets;
    cost->macs = results * tile->in_channels * tile->kx * tile->ky;
    cost->fill_cycles = CNNVP_TRAIN_TAPS;
}

static void gradient_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                          struct passes *passes, struct cnnvp_train_cost *cost)
{
    const uint64_t pieces = cnnvp_divide_up(tile->kx, CNNVP_TRAIN_TAPS) * cnnvp_divide_up(tile->ky, shape->rows);
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    const uint64_t array_groups = cnnvp_divide_up(tile->in_channels, shape->arrays);
    const uint64_t column_groups = cnnvp_divide_up(tile->out_channels, shape->cols);
    const uint64_t blocks = tile->images * array_groups * column_groups * pieces;
    const uint64_t taps = (uint64_t)CNNVP_TRAIN_TAPS * shape->rows;
    const uint64_t results = passes->results = (uint64_t)tile->in_channels * tile->out_channels * tile->kx * tile->ky;
    if (shape->gradient_adder) {
        passes->count = blocks * taps;
        passes->cycles = cnnvp_divide_up(tile->out_h, shape->rows) * tile->out_w;
        passes->drain = 1u;
    } else {
        passes->count = blocks * CNNVP_TRAIN_TAPS;
        passes->cycles = area;
        passes->drain = shape->rows;
    }
    /* The adder mapping reads `rows` different errors where the other shares one error among the PEs of a column. */
    cost->input_words = tile->images * tile->in_channels * column_groups * pieces * taps * area;
    cost->weight_words = tile->images * array_groups * tile->out_channels * pieces * area *
                         (shape->gradient_adder ? taps : CNNVP_TRAIN_TAPS);
    cost->output_words = tile->images * results;
    cost->macs = tile->images * results * area;
}

static void connected_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                           struct passes *passes, struct cnnvp_train_cost *cost)
{
    const uint64_t rows = shape->fc_all_rows ? shape->rows : 1u;
    const uint64_t image_groups = cnnvp_divide_up(tile->images, shape->arrays);
    const uint64_t column_groups = cnnvp_divide_up(tile->out_channels, shape->cols * rows);
    /* If inputs have different exponents, each input is a pass of its own, and its products are added in binary32. */
    const uint64_t parts = cnnvp_train_parts(tile);
    passes->count = image_groups * column_groups * parts;
    passes->cycles = tile->in_channels / parts;
    passes->drain = rows;
    cost->input_words = tile->images * column_groups * tile->in_channels;
    cost->weight_words = image_groups * tile->out_channels * tile->in_channels;
    const uint64_t results = passes->results = (uint64_t)tile->images * tile->out_channels;
    cost->output_words = results * parts;
    cost->macs = results * tile->in_channels;
}

static void connected_gradient_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                                    struct passes *passes, struct cnnvp_train_cost *cost)
{
    const uint64_t array_groups = cnnvp_divide_up(tile->in_channels, shape->arrays);
    const uint64_t column_groups = cnnvp_divide_up(tile->out_channels, shape->cols);
    const uint64_t results = passes->results = (uint64_t)tile->in_channels * tile->out_channels;
    passes->count = tile->images * array_groups * column_groups;
    passes->cycles = 1u;
    passes->drain = 1u;
    cost->input_words = tile->images * tile->in_channels * column_groups;
    cost->weight_words = tile->images * array_groups * tile->out_channels;
    cost->output_words = tile->images * results;
    cost->macs = cost->output_words;
}

void cnnvp_train_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                      struct cnnvp_train_cost *cost)
{
    struct passes passes;
    *cost = (struct cnnvp_train_cost){0};
    if (tile->kind == CNNVP_TRAIN_GRADIENT && tile->connected)
        connected_gradient_cost(shape, tile, &passes, cost);
    else if (tile->kind == CNNVP_TRAIN_GRADIENT)
        gradient_cost(shape, tile, &passes, cost);
    else if (tile->connected)
        connected_cost(shape, tile, &passes, cost);
    else
        convolution_cost(shape, tile, &passes, cost);
    const uint64_t late = passes.drain > passes.cycles ? passes.drain - passes.cycles : 0;
    cost->partial_words = cost->output_words - (tile->accumulate ? 0 : passes.results);
    cost->compute_cycles = passes.count * passes.cycles;
    cost->fill_cycles += shape->pipeline - 1u;
    cost->writeout_cycles = (passes.count - 1u) * late + passes.drain;
}
