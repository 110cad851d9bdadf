/* SPDX-License-Identifier: Apache-2.0 */
/* vpool and vconv: pool and conv of the PE arrays, decoded, computed and linked to the buffers by
 * models/inference/fx16. Only their cost is calculated here, see lanes.h. */
#include "lanes_internal.h"
#include "cnnvp_integer.h"

#define SUM_WORDS cnnvp_sum_words(LANES_REGISTER_BITS)

_Static_assert((int)CNNVP_STATUS_MASK_vpool == (int)CNNVP_STATUS_MASK_pool &&
                   (int)CNNVP_STATUS_vpool_update == (int)CNNVP_STATUS_pool_update &&
                   (int)CNNVP_STATUS_vpool_sum == (int)CNNVP_STATUS_pool_sum,
               "vpool has the status of pool");
_Static_assert(((int)CNNVP_STATUS_MASK_vconv | 1 << (int)CNNVP_STATUS_conv_scale) == (int)CNNVP_STATUS_MASK_conv &&
                   (int)CNNVP_STATUS_vconv_update == (int)CNNVP_STATUS_conv_update &&
                   (int)CNNVP_STATUS_vconv_partial == (int)CNNVP_STATUS_conv_partial &&
                   (int)CNNVP_STATUS_vconv_bias == (int)CNNVP_STATUS_conv_bias &&
                   (int)CNNVP_STATUS_vconv_ones == (int)CNNVP_STATUS_conv_ones &&
                   (int)CNNVP_STATUS_vconv_depthwise == (int)CNNVP_STATUS_conv_depthwise,
               "vconv has the status of conv, but for scale");

const char *lanes_window_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile)
{
    const int pool = command->opcode == CNNVP_OPCODE_vpool;
    struct cnnvp_command of_array = *command;
    const char *reason = NULL;
    of_array.opcode = pool ? CNNVP_OPCODE_pool : CNNVP_OPCODE_conv;
    if ((command->status & ~(uint32_t)(pool ? CNNVP_STATUS_MASK_vpool : CNNVP_STATUS_MASK_vconv)) != 0)
        return "vpool and vconv have the status bits of pool and conv";
    return cnnvp_fx16_decode(&of_array, tile, &reason) == CNNVP_OK ? NULL : reason;
}

/* Number of pairs of a group of lanes and a channel that the group works on, in one unit. A boundary between channels
 * inside a group adds one to the number of groups. */
static uint64_t channel_groups(uint64_t channels, uint64_t plane, uint64_t lanes)
{
    if (channels == 0)
        return 0;
    const uint64_t between_groups = (channels - 1u) / (lanes / cnnvp_common_divisor(plane, lanes));
    return cnnvp_divide_up(channels * plane, lanes) + channels - 1u - between_groups;
}

/* `times` equal groups of results: `results` in each unit but the last, `words` in all units together. */
struct group {
    uint64_t times, results, words;
};

/*
 * Adds the words that a group of lanes takes from the banks. Its results are assumed to be the first rows of a channel,
 * or whole channels. Channels lie in banks of their own if each has its own input. The weights of two channels are as
 * far apart as a channel has weights; biases and results are contiguous.
 */
static void add_clocks(const struct cnnvp_fx16_tile *tile, const struct group *group, uint32_t taps,
                       struct cnnvp_fx16_traffic *traffic)
{
    const uint32_t units = (uint32_t)cnnvp_divide_up(group->words, group->results);
    const uint32_t channels = (uint32_t)cnnvp_divide_up(group->results, tile->plane_words);
    const uint32_t columns = (uint32_t)cnnvp_minimum(group->results, tile->out_w);
    const uint32_t rows = (uint32_t)cnnvp_divide_up(group->results, columns);
    const uint32_t sums = (cnnvp_fx16_finds_sums(tile) ? SUM_WORDS : tile->of_words) + (tile->partial ? SUM_WORDS : 1u);
    const struct cnnvp_buffer_clocks input = {
        .times = group->times * (taps / tile->kx),
        .maps = tile->per_channel ? channels * units : 1u,
        .rows = cnnvp_minimum32(rows, tile->out_h),
        .row_step = tile->sy,
        .columns = columns,
        .column_step = tile->sx,
        .taps = tile->kx,
        .tap_pitch = tile->dx,
        .words = (uint32_t)group->words};
    const struct cnnvp_buffer_clocks weights = {
        .times = group->times, .columns = channels * units, .column_step = taps, .places = taps, .pitch = 1u};
    const struct cnnvp_buffer_clocks biases = {.times = group->times, .columns = channels * units};
    const struct cnnvp_buffer_clocks output = {
        .times = group->times, .cycles = taps, .columns = (uint32_t)group->words * sums};
    cnnvp_fx16_add(&traffic->input, input);
    if (tile->uses_k)
        cnnvp_fx16_add(&traffic->weight, weights);
    if (tile->bias)
        cnnvp_fx16_add(&traffic->weight, biases);
    cnnvp_fx16_add(&traffic->output, output);
}

/* Splits the work into equal groups: the last group of a unit may be smaller, and the last unit may end earlier. */
static void add_groups(const struct cnnvp_fx16_tile *tile, uint64_t lanes, uint64_t turns, uint32_t taps,
                       struct cnnvp_fx16_traffic *traffic)
{
    const uint64_t of_unit = turns * tile->plane_words, units = tile->planes / turns;
    const uint64_t of_last = tile->planes % turns * tile->plane_words;
    const uint64_t ends[] = {
        of_last / lanes, cnnvp_divide_up(of_last, lanes), of_unit / lanes, cnnvp_divide_up(of_unit, lanes)};
    uint64_t begin = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
        if (ends[i] <= begin)
            continue;
        const uint64_t done = begin * lanes, results = cnnvp_minimum(lanes, of_unit - done);
        const uint64_t last = of_last > done ? cnnvp_minimum(lanes, of_last - done) : 0;
        const struct group group = {ends[i] - begin, results, units * results + last};
        add_clocks(tile, &group, taps, traffic);
        begin = ends[i];
    }
}

void lanes_window_cost(const struct cnnvp_fx16_tile *tile, const struct lanes_shape *shape, struct lanes_cost *cost,
                       struct cnnvp_fx16_traffic *traffic)
{
    const uint64_t lanes = shape->lanes;
    const uint64_t plane = tile->plane_words;
    const uint64_t taps = (uint64_t)tile->kx * tile->ky * (tile->per_channel ? 1u : tile->in_channels);
    const uint64_t results = tile->planes * plane;
    const uint64_t turns = cnnvp_divide_up(tile->planes, shape->units); /* channels of a unit; fewer in the last */
    const uint64_t groups =
        tile->planes / turns * channel_groups(turns, plane, lanes) + channel_groups(tile->planes % turns, plane, lanes);
    const uint64_t parameters = (tile->uses_k ? taps : 0u) + (tile->bias ? 1u : 0u);
    const uint64_t beats = cnnvp_divide_up(turns * plane, lanes) * taps;
    *cost = (struct lanes_cost){.cycles = beats + shape->pipeline, .beats = beats, .elements = results * taps};
    cost->operations[lanes_window_operator(tile)] = cost->elements;
    cost->narrow = lanes_narrow(tile->narrow);
    cost->operations[LANES_cmp] += cnnvp_fx16_limited_words(tile);
    *traffic = (struct cnnvp_fx16_traffic){
        .input_words = cost->elements,
        .input_cycles = beats,
        .weight_words = groups * parameters,
        .weight_cycles = beats,
        .bias_words = tile->bias ? groups : 0,
        .output_words = results * (tile->partial ? SUM_WORDS : 1u),
        .output_cycles = beats,
        .passes = 1,
    };
    add_groups(tile, lanes, turns, (uint32_t)taps, traffic);
}
