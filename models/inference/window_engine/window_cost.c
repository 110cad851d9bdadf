/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed forms of what a command costs on the window engine: S000 A1, A2, A5 with Part B 0-1 to 0-9.
 *
 * A pass is one sweep over all positions with one 3x3 kernel piece in place, for one step of the input depth
 * (input_para channels) and one of the kernel depth (output_para). It takes one result position a cycle, whatever the
 * stride. Passes of
 *   conv       ceil(Cin / input_para) * ceil(Cout / output_para) * ceil(Kx / 3) * ceil(Ky / 3)
 *   depthwise  ceil(C / min(input_para, output_para)) * ceil(Kx / 3) * ceil(Ky / 3): channel c meets channel c only, so
 *              only the diagonal of a pass's channel pairs works, one lane of each adder tree
 *   pool       ceil(C / input_para) * ceil(Kx / 3) * ceil(Ky / 3)
 * and compute cycles = passes * Ho * Wo. Fully connected: inputs * ceil(outputs / fc_para).
 *
 * Kernel pieces (A1 L10): one tap of every channel pair a cycle, 9 cycles before each pass of a convolution, cause
 * fill; 9 words for each existing channel pair, zeros beyond the kernel included (0-4).
 *
 * Input words (A1 L14, 0-9): each bank delivers up to three words of its row in a cycle. A row of positions begins
 * with a whole window, 9 words for each channel. Every further position reads its new columns, 3 * min(Sx, 3) words;
 * the others move on in the shift registers. Rows are not kept: the next row of positions reads its three rows again.
 * Columns and rows of a piece beyond the kernel are read too, because a later position needs them or the bank delivers
 * them anyway. Dilated kernels do not use the shift registers: 9 words a position. A fully connected input is read once
 * and broadcast (A5 L5).
 *
 * Bias (A1 L14, 0-8): an additional input channel that the input buffer reads as 1. It takes one more pass for each
 * step of the kernel depth, Ho * Wo words and cycles, after one cycle to load its only tap; fully connected: one more
 * input. These cycles are not compute_cycles but stalls with cause bias. Loading scale records takes the loading cycle
 * only.
 *
 * Partial sums (A1 L16): the output buffer holds them at acc_addr in whole words. Every pass but the last writes them
 * there, and every pass but the first reads them (the buffer counts the reads). The last pass rounds results as it
 * writes them, so write-out takes no cycles of its own.
 */
#include "window_tile.h"
#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"

/* True if window columns move through shift registers, that is, if the kernel is not dilated. */
static bool shifts(const struct cnnvp_fx16_tile *tile)
{
    return (tile->dx == 1u || tile->kx == 1u) && (tile->dy == 1u || tile->ky == 1u);
}

/* Words that one channel reads in one pass. */
static uint64_t pass_words(const struct cnnvp_fx16_tile *tile)
{
    const uint64_t fresh = CNNVP_WINDOW_SIDE * cnnvp_minimum32(tile->sx, CNNVP_WINDOW_SIDE);
    if (!shifts(tile))
        return (uint64_t)CNNVP_WINDOW_TAPS * tile->out_h * tile->out_w;
    return (uint64_t)tile->out_h * (CNNVP_WINDOW_TAPS + (tile->out_w - 1u) * fresh);
}

/* Adds the cost of the output port when every result takes part in `passes` passes. */
static void output_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile, uint64_t passes,
                        struct cnnvp_fx16_cost *cost)
{
    const uint64_t of_sum = cnnvp_sum_words(shape->acc_bits);
    const uint64_t results = tile->planes * tile->plane_words;
    cost->passes = passes;
    cost->output_words = results * (of_sum * (passes - 1u) + (tile->partial ? of_sum : 1u));
}

static void window_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                        struct cnnvp_fx16_cost *cost)
{
    const uint64_t positions = tile->plane_words;
    const uint64_t pieces = cnnvp_divide_up(tile->kx, CNNVP_WINDOW_SIDE) * cnnvp_divide_up(tile->ky, CNNVP_WINDOW_SIDE);
    const bool multiplies = tile->operation.product == CNNVP_FX16_PRODUCT_KA;
    uint64_t in_steps = 1;                       /* passes that add up in one result, for one kernel piece */
    uint64_t out_steps;                          /* groups of results */
    uint64_t pairs = tile->out_channels;         /* channel pairs */
    uint64_t channel_sweeps = tile->in_channels; /* channel reads of all sweeps */
    if (!multiplies) {
        out_steps = cnnvp_divide_up(tile->out_channels, shape->input_para);
    } else if (tile->per_channel) {
        out_steps = cnnvp_divide_up(tile->out_channels, cnnvp_minimum32(shape->input_para, shape->output_para));
    } else {
        in_steps = cnnvp_divide_up(tile->in_channels, shape->input_para);
        out_steps = cnnvp_divide_up(tile->out_channels, shape->output_para);
        pairs *= tile->in_channels;
        channel_sweeps *= out_steps;
    }
    const uint64_t passes = in_steps * out_steps * pieces;
    cost->compute_cycles = passes * positions;
    cost->input_words = channel_sweeps * pieces * pass_words(tile);
    cost->reused_words = channel_sweeps * pieces * positions * CNNVP_WINDOW_TAPS - cost->input_words;
    if (multiplies) {
        cost->kernel_loads = passes;
        cost->load_cycles = passes * CNNVP_WINDOW_TAPS;
        cost->weight_words = pairs * pieces * CNNVP_WINDOW_TAPS;
        cost->macs = pairs * tile->kx * tile->ky * positions;
    }
    if (tile->bias_words != 0) {
        cost->bias_loads = out_steps;
        cost->ones_words = tile->bias ? out_steps * positions : 0;
        cost->bias_cycles = out_steps + cost->ones_words;
        cost->bias_words = (uint64_t)tile->out_channels * tile->bias_words;
    }
    output_cost(shape, tile, in_steps * pieces + tile->bias, cost);
}

static void matmul_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                        struct cnnvp_fx16_cost *cost)
{
    const uint64_t steps = cnnvp_divide_up(tile->outputs, shape->fc_para);
    cost->compute_cycles = tile->inputs * steps;
    cost->input_words = tile->inputs;
    cost->weight_words = (uint64_t)tile->inputs * tile->outputs;
    cost->macs = cost->weight_words;
    cost->bias_cycles = tile->bias_words != 0 ? steps : 0;
    cost->bias_loads = cost->bias_cycles;
    cost->bias_words = (uint64_t)tile->outputs * tile->bias_words;
    cost->ones_words = tile->bias;
    output_cost(shape, tile, (uint64_t)tile->inputs + tile->bias, cost);
}

void cnnvp_window_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                       struct cnnvp_fx16_cost *cost)
{
    *cost = (struct cnnvp_fx16_cost){0};
    if (tile->kind == CNNVP_FX16_MATMUL)
        matmul_cost(shape, tile, cost);
    else
        window_cost(shape, tile, cost);
    cost->weight_words += cost->bias_words;
    cost->input_words += cost->ones_words;
    cost->fill_cycles = cost->load_cycles + shape->pipeline - 1u + (tile->scaled ? CNNVP_WRITE_OUT_SCALE_STAGES : 0);
}
