/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that cross the ports of S000's units in each clock, as classes of clocks (cnnvp_buffer.h). Their totals are
 * the words that window_cost.c counts. Channels are assigned to banks for as many channels as the unit takes at a time,
 * also in a step with fewer.
 *
 *   input     three rows of each channel of a step of the input depth, each channel in its own banks: three columns at
 *             the first position of a row, only the new columns at later positions (dilated: always three, dx apart)
 *   weight    one tap of every channel pair: the words of an output channel side by side, in its own banks, from the
 *             start of a line; the bias of each output channel; fully connected: words of [input][output]
 *   output    the sum of each output channel in its own banks; fully connected: all sums side by side. The first pass
 *             writes it; later passes read and write it in a clock, at two addresses
 */
#include "window_tile.h"
#include "cnnvp_integer.h"

/* Adds the passes over a step of `channels` channels, where the unit takes `maps` at a time and sweeps every kernel
 * piece `sweeps` times. */
static void add_input(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_fx16_tile *tile, uint32_t maps,
                      uint32_t channels, uint64_t sweeps)
{
    const uint32_t dx = tile->kx > 1u ? tile->dx : 1u;
    const uint32_t dy = tile->ky > 1u ? tile->dy : 1u;
    const uint32_t fresh = cnnvp_minimum32(tile->sx, CNNVP_WINDOW_SIDE);
    struct cnnvp_buffer_clocks of = {
        .times = sweeps * cnnvp_divide_up(tile->ky, CNNVP_WINDOW_SIDE) * tile->out_h,
        .maps = maps,
        .rows = CNNVP_WINDOW_SIDE,
        .row_step = dy,
        .columns = CNNVP_WINDOW_SIDE,
        .column_step = dx,
        .places = tile->out_w,
        .pitch = tile->sx,
        .taps = (uint32_t)cnnvp_divide_up(tile->kx, CNNVP_WINDOW_SIDE),
        .tap_pitch = CNNVP_WINDOW_SIDE * dx,
        .words = channels * CNNVP_WINDOW_TAPS};
    if (dx == 1u && dy == 1u) {
        of.places = 1u;
        cnnvp_fx16_add(clocks, of);
        of.places = tile->out_w - 1u;
        of.times = of.places != 0 ? of.times : 0;
        of.columns = fresh;
        of.words = channels * CNNVP_WINDOW_SIDE * fresh;
        of.column = tile->sx + CNNVP_WINDOW_SIDE - fresh;
    }
    cnnvp_fx16_add(clocks, of);
}

/* Results that are updated in one clock: `sums` in all, `columns` in each of the unit's `maps` output channels. */
struct update {
    uint32_t maps, columns, sums;
};

/* Adds `times` clocks in which `read` words of each sum are read and `written` words are written. */
static void add_update(struct cnnvp_fx16_clocks *clocks, const struct update *update, uint32_t read, uint32_t written,
                       uint64_t times)
{
    cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){.times = times,
                                                        .maps = update->maps * (read != 0 ? 2u : 1u),
                                                        .columns = update->columns * (read > written ? read : written),
                                                        .words = update->sums * (read + written)});
}

static void add_updates(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_window_shape *shape,
                        const struct cnnvp_fx16_tile *tile, const struct update *update, uint64_t passes,
                        uint64_t times)
{
    const uint32_t of_sum = cnnvp_sum_words(shape->acc_bits);
    const uint32_t found = cnnvp_fx16_finds_sums(tile) ? of_sum : 0;
    const uint32_t word = cnnvp_fx16_finds_words(tile);
    const uint32_t last = tile->partial ? of_sum : 1u;
    if (passes == 1u) {
        add_update(clocks, update, found + word, last, times);
        return;
    }
    add_update(clocks, update, found, of_sum, times);
    add_update(clocks, update, of_sum, of_sum, times * (passes - 2u));
    add_update(clocks, update, of_sum + word, last, times);
}

static void window_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                          const struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic)
{
    const bool multiplies = tile->operation.product == CNNVP_FX16_PRODUCT_KA;
    const bool pairs = multiplies && !tile->per_channel;
    const uint64_t pieces = cnnvp_divide_up(tile->kx, CNNVP_WINDOW_SIDE) * cnnvp_divide_up(tile->ky, CNNVP_WINDOW_SIDE);
    const uint32_t diagonal = cnnvp_minimum32(shape->input_para, shape->output_para);
    const uint32_t record = cnnvp_fx16_record_words(tile);
    const uint32_t results = multiplies ? shape->output_para : shape->input_para; /* most results of a position */
    struct cnnvp_parts in[2], out[2];
    cnnvp_cut(tile->out_channels, pairs ? shape->output_para : multiplies ? diagonal : shape->input_para, out);
    cnnvp_cut(pairs ? tile->in_channels : 1u, pairs ? shape->input_para : 1u, in);
    for (const struct cnnvp_parts *o = out; o < out + 2; ++o) {
        if (o->count == 0)
            continue;
        for (const struct cnnvp_parts *i = in; i < in + 2; ++i)
            if (multiplies)
                cnnvp_fx16_add(&traffic->weight,
                               (struct cnnvp_buffer_clocks){.times = o->count * i->count * pieces * CNNVP_WINDOW_TAPS,
                                                            .maps = results,
                                                            .columns = i->size,
                                                            .words = o->size * i->size});
        if (tile->bias_words != 0)
            cnnvp_fx16_add(&traffic->weight,
                           (struct cnnvp_buffer_clocks){
                               .times = o->count, .maps = results, .columns = record, .words = o->size * record});
        const struct update update = {.maps = results, .columns = 1u, .sums = o->size};
        add_updates(&traffic->output, shape, tile, &update, cost->passes, o->count * tile->plane_words);
        if (!pairs)
            add_input(&traffic->input, tile, shape->input_para, o->size, o->count);
    }
    for (const struct cnnvp_parts *i = in; i < in + 2 && pairs; ++i)
        if (i->count != 0)
            add_input(&traffic->input, tile, shape->input_para, i->size, i->count * (out[0].count + out[1].count));
}

static void matmul_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                          const struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic)
{
    const uint32_t record = cnnvp_fx16_record_words(tile);
    struct cnnvp_parts out[2];
    cnnvp_cut(tile->outputs, shape->fc_para, out);
    for (const struct cnnvp_parts *o = out; o < out + 2; ++o) {
        if (o->count == 0)
            continue;
        struct cnnvp_buffer_clocks of = {
            .times = 1u,
            .column = o->first,
            .columns = o->size,
            .places = tile->inputs,
            .pitch = tile->outputs,
            .taps = (uint32_t)o->count,
            .tap_pitch = shape->fc_para};
        cnnvp_fx16_add(&traffic->weight, of);
        of.places = 1u;
        of.times = tile->bias_words != 0;
        of.column *= record;
        of.columns *= record;
        of.tap_pitch *= record;
        cnnvp_fx16_add(&traffic->weight, of);
        const struct update update = {.maps = 1u, .columns = o->size, .sums = o->size};
        add_updates(&traffic->output, shape, tile, &update, cost->passes, o->count);
    }
}

void cnnvp_window_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic)
{
    if (tile->kind == CNNVP_FX16_MATMUL)
        matmul_clocks(shape, tile, cost, traffic);
    else
        window_clocks(shape, tile, cost, traffic);
}
