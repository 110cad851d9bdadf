/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed forms of what a command costs on the NFU: S002 with Part B 2-1, 2-4, 2-5, 2-9, 2-10.
 *
 * A PE tile is rows x cols results of one output channel. For each PE tile every connection (input channel, output
 * channel) takes one cycle a tap; for a w x h tile of active PEs and strides Sx, Sy the input buffer is read
 *   taps (kx < Sx, ky < Sy)    by every PE                         w * h words
 *   taps (kx >= Sx, any ky)    by the right-most column            h words; extended FIFO-V, ky >= Sy: 1 word
 *   taps (kx < Sx, ky >= Sy)   by the bottom row                   w words
 * and without propagation w * h words for each tap. With kernel pieces of 3x3 the same holds for each piece, taken as
 * full 3x3 (taps outside the kernel read zeros on both ports).
 *
 * Also counted: one cycle for the bias or scale record of each (output channel, PE tile), for fully connected tiles one
 * cycle for each word of it. Write-out takes one cycle for the 16-bit results of a PE tile and four for 64-bit sums,
 * and as many again if old words or sums are read. The pipeline fills once a command. With a register in the write-out
 * (pipeline 4 or more), words leave from that register, where old ones are compared with them, while the array computes
 * the next tile. Then only the write-out of the last tile counts, and the waiting of a tile that is done before the
 * register is free. Sums stay in the PEs until they have left.
 */
#include "nfu_tile.h"
#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"

static uint64_t excess(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

bool cnnvp_nfu_propagates(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile)
{
    const bool dilated = (tile->dx > 1u && tile->kx > 1u) || (tile->dy > 1u && tile->ky > 1u);
    return shape->propagation && !dilated && cnnvp_maximum32(tile->sx, tile->sy) <= shape->fifo_stride;
}

uint32_t cnnvp_nfu_writeout_steps(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile)
{
    const uint32_t of_sum = cnnvp_sum_words(shape->acc_bits);
    return (tile->partial ? of_sum : 1u) + (cnnvp_fx16_finds_sums(tile) ? of_sum : 0u) +
           (cnnvp_fx16_finds_words(tile) ? 1u : 0u);
}

/* True if results leave from the write-out's register while the array computes on. */
static bool overlaps(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile)
{
    return shape->pipeline >= CNNVP_NFU_REGISTER_STAGE && !tile->partial && !cnnvp_fx16_finds_sums(tile);
}

/* Write-out cycles of `sets` sets of results that computation does not hide. Two sets are `between` cycles apart. */
static uint64_t writeout_cycles(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile, uint64_t sets,
                                uint64_t between)
{
    const uint64_t steps = cnnvp_nfu_writeout_steps(shape, tile);
    return overlaps(shape, tile) ? steps + (sets - 1u) * excess(steps, between) : sets * steps;
}

/*
 * Sums over all PE tiles of a map are products of one-dimensional sums: the sum of w over the columns of tiles is
 * out_w, the sum of 1 is the number of columns; likewise for h.
 */
static void window_cost(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                        struct cnnvp_fx16_cost *cost)
{
    const uint64_t tiles_x = cnnvp_divide_up(tile->out_w, shape->cols);
    const uint64_t tiles_y = cnnvp_divide_up(tile->out_h, shape->rows);
    const uint64_t tiles = tiles_x * tiles_y;
    const uint64_t area = (uint64_t)tile->out_w * tile->out_h;
    const uint64_t side_w = tile->out_w * tiles_y; /* sum of w over all tiles */
    const uint64_t side_h = tile->out_h * tiles_x; /* sum of h over all tiles */
    const uint64_t channels = tile->out_channels;
    const uint64_t connections = tile->per_channel ? channels : channels * tile->in_channels;
    const uint64_t kx = shape->kernel_piece != 0 ? shape->kernel_piece : tile->kx;
    const uint64_t ky = shape->kernel_piece != 0 ? shape->kernel_piece : tile->ky;
    const uint64_t pieces = cnnvp_divide_up(tile->kx, kx) * cnnvp_divide_up(tile->ky, ky);
    const uint64_t sets = connections * pieces; /* sweeps of one piece over the map */
    const uint64_t right = excess(kx, tile->sx);
    const uint64_t down = excess(ky, tile->sy);
    const uint64_t first_x = cnnvp_minimum(kx, tile->sx);
    const uint64_t first_y = cnnvp_minimum(ky, tile->sy);

    cost->compute_cycles = sets * tiles * kx * ky;
    if (!cnnvp_nfu_propagates(shape, tile)) {
        cost->input_words = sets * kx * ky * area;
    } else {
        const uint64_t column = shape->extended_fifo_v ? first_y * side_h + down * tiles : ky * side_h;
        cost->input_words = sets * (first_x * first_y * area + right * column + first_x * down * side_w);
        cost->fifo_h_pushes = sets * right * ky * area;
        cost->fifo_v_pushes = sets * down * (first_x * area + (shape->extended_fifo_v ? right * side_h : 0));
    }
    cost->bias_words = channels * tiles * tile->bias_words;
    cost->bias_cycles = tile->bias_words != 0 ? channels * tiles : 0;
    cost->weight_words = (tile->uses_k ? cost->compute_cycles : 0) + cost->bias_words;
    cost->writeout_cycles =
        writeout_cycles(shape, tile, channels * tiles, (cost->compute_cycles + cost->bias_cycles) / (channels * tiles));
    cost->macs = tile->operation.product == CNNVP_FX16_PRODUCT_A || tile->operation.compare
                     ? 0
                     : connections * tile->kx * tile->ky * area;
}

static void matmul_cost(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                        struct cnnvp_fx16_cost *cost)
{
    const uint64_t pes = (uint64_t)shape->rows * shape->cols;
    const uint64_t products = (uint64_t)tile->inputs * tile->outputs;
    uint64_t groups; /* sets of neurons that are computed together */
    if (shape->single_neuron) {
        groups = tile->outputs;
        cost->compute_cycles = groups * cnnvp_divide_up(tile->inputs, pes);
        cost->input_words = products;
        cost->writeout_cycles = groups * cnnvp_log2_up(pes); /* the adder tree that adds up the sums of all PEs */
    } else {
        groups = cnnvp_divide_up(tile->outputs, pes);
        cost->compute_cycles = groups * tile->inputs;
        cost->input_words = cost->compute_cycles;
    }
    cost->bias_cycles = groups * tile->bias_words;
    cost->writeout_cycles += writeout_cycles(
        shape, tile, groups, (cost->compute_cycles + cost->bias_cycles + cost->writeout_cycles) / groups);
    cost->bias_words = (uint64_t)tile->outputs * tile->bias_words;
    cost->weight_words = products + cost->bias_words;
    cost->macs = products;
}

void cnnvp_nfu_cost(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                    struct cnnvp_fx16_cost *cost)
{
    *cost = (struct cnnvp_fx16_cost){0};
    if (tile->kind == CNNVP_FX16_MATMUL)
        matmul_cost(shape, tile, cost);
    else
        window_cost(shape, tile, cost);
    cost->fill_cycles = shape->pipeline - 1u + (tile->scaled ? CNNVP_WRITE_OUT_SCALE_STAGES : 0);
    cost->output_words = tile->planes * tile->plane_words * (tile->partial ? cnnvp_sum_words(shape->acc_bits) : 1u);
}
