/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that cross the NFU's ports in each clock, as classes of clocks (cnnvp_buffer.h). Their totals are the words
 * that nfu_cost.c counts:
 *   load        every PE from the row input: the rows and columns of a PE tile, Sy and Sx apart
 *   move right  the right-most column: a word of each row. With the extended FIFO-V, in the lower rows of a window, one
 *               word, which is never late
 *   move down   the bottom row: its columns, Sx apart
 *   scales      the record of a channel, in the clock of its bias
 *   write-out   the results of a PE tile, or their partial sums; before that, the old words or sums that it reads
 * A map's rows begin at a line. The first column of a PE tile is a multiple of the array's width times Sx, plus the
 * column of the tap or of its piece. Fully connected: words are contiguous: inputs, results, and weights [input]
 * [output], or [output][input] for fc_mapping single-neuron.
 */
#include "nfu_tile.h"
#include "cnnvp_integer.h"

/* Adds clocks that read the row input: for each piece of the kernel, `taps` taps from the first column of the piece
 * on. */
static void add_row_input(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_nfu_shape *shape,
                          const struct cnnvp_fx16_tile *tile, struct cnnvp_buffer_clocks of, uint32_t taps,
                          uint32_t tap_pitch)
{
    const uint32_t piece = shape->kernel_piece;
    if (piece == 0 || tile->kx <= piece) {
        of.taps = taps;
        of.tap_pitch = tap_pitch;
        cnnvp_fx16_add(clocks, of);
        return;
    }
    of.taps = (uint32_t)cnnvp_divide_up(tile->kx, piece);
    of.tap_pitch = piece * tap_pitch;
    for (uint32_t t = 0; t < taps; ++t, of.column += tap_pitch)
        cnnvp_fx16_add(clocks, of);
}

static void window_input(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_parts x[2], const struct cnnvp_parts y[2], struct cnnvp_fx16_clocks *clocks)
{
    const bool moves = cnnvp_nfu_propagates(shape, tile);
    const uint32_t kx = shape->kernel_piece != 0 ? shape->kernel_piece : tile->kx;
    const uint32_t ky = shape->kernel_piece != 0 ? shape->kernel_piece : tile->ky;
    const uint32_t first_x = moves ? cnnvp_minimum32(kx, tile->sx) : kx;
    const uint32_t first_y = moves ? cnnvp_minimum32(ky, tile->sy) : ky;
    const uint32_t step = tile->kx > 1u ? tile->dx : 1u; /* columns from one tap to the next */
    const uint64_t connections = (uint64_t)tile->out_channels * (tile->per_channel ? 1u : tile->in_channels);
    const uint64_t sweeps = connections * cnnvp_divide_up(tile->ky, ky);
    const uint64_t rows = shape->extended_fifo_v ? first_y : ky; /* rows of taps in which a column moves right */
    for (const struct cnnvp_parts *w = x; w < x + 2; ++w) {
        struct cnnvp_buffer_clocks row = {
            .column = w->first * tile->sx,
            .row_step = tile->sy,
            .columns = w->size,
            .column_step = tile->sx,
            .places = (uint32_t)w->count,
            .pitch = shape->cols * tile->sx};
        if (w->count == 0)
            continue;
        for (const struct cnnvp_parts *h = y; h < y + 2; ++h) {
            row.rows = h->size;
            row.times = sweeps * h->count * first_y;
            add_row_input(clocks, shape, tile, row, first_x, step);
        }
        row.rows = 1u;
        row.times = sweeps * (y[0].count + y[1].count) * (ky - first_y);
        add_row_input(clocks, shape, tile, row, first_x, step);
    }
    for (const struct cnnvp_parts *h = y; h < y + 2; ++h)
        cnnvp_fx16_add(
            clocks, (struct cnnvp_buffer_clocks){.times = sweeps * cnnvp_divide_up(tile->kx, kx) *
                                                          (x[0].count + x[1].count) * h->count * (kx - first_x) * rows,
                                                 .rows = h->size,
                                                 .row_step = tile->sy});
}

/* Each clock reads a weight or a bias, which is never late, or the record of a channel's scale. */
static void window_weights(const struct cnnvp_fx16_tile *tile, uint64_t tiles, struct cnnvp_fx16_clocks *clocks)
{
    const uint32_t words = cnnvp_fx16_record_words(tile);
    if (tile->scaled)
        cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){
                                   .times = tiles, .columns = words, .places = tile->out_channels, .pitch = words});
}

/* Words of a result that are written, and those of its old sum and its old word, which are read before that. Each takes
 * a clock. */
static void result_words(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile, uint32_t words[3])
{
    const uint32_t of_sum = cnnvp_sum_words(shape->acc_bits);
    words[0] = tile->partial ? of_sum : 1u;
    words[1] = cnnvp_fx16_finds_sums(tile) ? of_sum : 0;
    words[2] = cnnvp_fx16_finds_words(tile);
}

static void window_output(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                          const struct cnnvp_parts x[2], const struct cnnvp_parts y[2],
                          struct cnnvp_fx16_clocks *clocks)
{
    uint32_t words[3];
    result_words(shape, tile, words);
    for (unsigned i = 0; i < 3u; ++i)
        for (const struct cnnvp_parts *w = x; w < x + 2; ++w)
            for (const struct cnnvp_parts *h = y; h < y + 2 && w->count != 0; ++h)
                cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){
                                           .times = words[i] != 0 ? tile->out_channels * h->count : 0,
                                           .column = w->first * words[i],
                                           .cycles = words[i],
                                           .rows = h->size,
                                           .columns = w->size * words[i],
                                           .places = (uint32_t)w->count,
                                           .pitch = shape->cols * words[i]});
}

/* Adds `cycles` clocks for each `at_a_time` of `count` contiguous items of `words` words; the whole run `times`
 * times. */
static void add_run(struct cnnvp_fx16_clocks *clocks, uint64_t count, uint32_t at_a_time, uint32_t words,
                    uint32_t cycles, uint64_t times)
{
    struct cnnvp_parts parts[2];
    cnnvp_cut(count, at_a_time, parts);
    for (const struct cnnvp_parts *part = parts; part < parts + 2; ++part)
        cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){
                                   .times = part->count != 0 ? times : 0,
                                   .column = part->first * words,
                                   .cycles = cycles,
                                   .columns = part->size * words,
                                   .places = (uint32_t)part->count,
                                   .pitch = at_a_time * words});
}

static void matmul_clocks(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                          struct cnnvp_fx16_traffic *traffic)
{
    const uint32_t pes = shape->rows * shape->cols;
    const uint32_t neurons = shape->single_neuron ? 1u : pes; /* neurons at once */
    uint32_t words[3];
    result_words(shape, tile, words);
    struct cnnvp_parts parts[2];
    cnnvp_cut(shape->single_neuron ? tile->inputs : tile->outputs, pes, parts);
    for (const struct cnnvp_parts *part = parts; part < parts + 2; ++part)
        cnnvp_fx16_add(
            &traffic->weight,
            (struct cnnvp_buffer_clocks){
                .times = part->count != 0,
                .column = part->first,
                .columns = part->size,
                .places = shape->single_neuron ? (uint32_t)part->count : tile->inputs,
                .pitch = shape->single_neuron ? pes : tile->outputs,
                .taps = shape->single_neuron ? tile->outputs : (uint32_t)part->count,
                .tap_pitch = shape->single_neuron ? tile->inputs : pes});
    if (shape->single_neuron)
        add_run(&traffic->input, tile->inputs, pes, 1u, 1u, tile->outputs);
    if (tile->bias_words != 0)
        add_run(&traffic->weight, tile->outputs, neurons, cnnvp_fx16_record_words(tile), tile->bias_words, 1u);
    for (unsigned i = 0; i < 3u; ++i)
        add_run(&traffic->output, tile->outputs, neurons, words[i], words[i], words[i] != 0);
}

void cnnvp_nfu_clocks(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                      struct cnnvp_fx16_traffic *traffic)
{
    if (tile->kind == CNNVP_FX16_MATMUL) {
        matmul_clocks(shape, tile, traffic);
        return;
    }
    struct cnnvp_parts x[2], y[2];
    cnnvp_cut(tile->out_w, shape->cols, x);
    cnnvp_cut(tile->out_h, shape->rows, y);
    window_input(shape, tile, x, y, &traffic->input);
    window_weights(tile, (x[0].count + x[1].count) * (y[0].count + y[1].count), &traffic->weight);
    window_output(shape, tile, x, y, &traffic->output);
}
