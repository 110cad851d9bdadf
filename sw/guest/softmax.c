/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax on the vector unit (vsoftmax). One instruction takes several groups of words and writes each group's results
 * contiguously. If groups are not rows, these results are transposed; a second instruction puts them right. */
#include "layers_internal.h"

/* The summed axis and the other axis, each with its stride in the input tile (words). */
struct groups {
    uint32_t count;
    uint32_t stride;
    uint32_t groups;
    uint32_t group_stride;
};

/* Pushes the softmax of groups of words, from address `from` in the input half to `to` in the output half. */
static void push_groups(struct cnnvp_guest *guest, const struct groups *groups, const struct cnnvp_vector *base,
                        uint32_t halves, uint32_t from, uint32_t to)
{
    struct cnnvp_vector vector = *base;
    vector.a_addr = from;
    vector.out_addr = to;
    vector.count = groups->count;
    vector.repeat = groups->groups;
    vector.a_stride = groups->stride;
    vector.a_repeat = groups->group_stride;
    vector.out_repeat = groups->count;
    cnnvp_push_vector(guest, CNNVP_OPCODE_vsoftmax, 0, halves, &vector);
}

/* Copies [group][position] at `from` to [position][group], with `position_stride`, at `to`. max{x, lowest word} = x, so
 * vcmp copies. */
static void push_transpose(struct cnnvp_guest *guest, const struct groups *groups, uint32_t halves, uint32_t from,
                           uint32_t to, uint32_t position_stride, uint32_t word_shift)
{
    const struct cnnvp_vector vector = {
        .a_addr = from,
        .out_addr = to,
        .count = groups->groups,
        .repeat = groups->count,
        .a_stride = groups->count,
        .a_repeat = 1,
        .out_repeat = position_stride,
        .immediate = (uint32_t)INT16_MIN,
        .format = word_shift != 0 ? 0 : (uint32_t)(CNNVP_NARROW_A | CNNVP_NARROW_OUT) << CNNVP_NARROW_LSB,
    };
    cnnvp_push_vector(guest, CNNVP_OPCODE_vcmp,
                      2u << CNNVP_STATUS_vcmp_a | 3u << CNNVP_STATUS_vcmp_b | 1u << CNNVP_STATUS_vcmp_store, halves,
                      &vector);
}

void cnnvp_softmax(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box box = step->output;
    const uint32_t plane = box.rows * box.columns;
    const uint32_t words = box.channels * plane;
    const int position = layer->out.height == 1 && layer->out.width == 1;
    const struct cnnvp_input_tile tile = cnnvp_bring_words(guest, layer, &box);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_results(guest, layer, step);
    const uint32_t halves = cnnvp_slice_halves(tile.half, 0, epilogue->output_half);
    const uint32_t in = layer->in.word_shift, out = layer->out.word_shift;
    const struct cnnvp_vector base = {.format = layer->format, .seed = epilogue->seed};
    if (layer->axis == CNNVP_AXIS_CHANNELS) {
        /* One row of positions at a time: rows need not follow each other. */
        const struct groups groups = {box.channels, tile.stride.channel, box.columns, 1};
        epilogue->result_address = words << out;
        for (uint32_t row = 0; row < box.rows; ++row) {
            const uint32_t to = row * box.columns * box.channels << out;
            push_groups(guest, &groups, &base, halves, tile.address + (row * tile.stride.row << in), to);
            push_transpose(guest, &groups, halves, to, epilogue->result_address + (row * box.columns << out), plane,
                           out);
        }
    } else if (layer->axis == CNNVP_AXIS_ROWS) {
        const struct groups groups = {box.rows, tile.stride.row, box.columns, 1};
        epilogue->result_address = words << out;
        for (uint32_t channel = 0; channel < box.channels; ++channel) {
            const uint32_t to = channel * plane << out;
            push_groups(guest, &groups, &base, halves, tile.address + (channel * tile.stride.channel << in), to);
            push_transpose(guest, &groups, halves, to, epilogue->result_address + to, box.columns, out);
        }
    } else if (position) {
        const struct groups groups = {box.channels, tile.stride.channel, 1, 0};
        push_groups(guest, &groups, &base, halves, tile.address, 0);
    } else if (box.rows == 1) {
        const struct groups groups = {box.columns, tile.stride.column, box.channels, tile.stride.channel};
        push_groups(guest, &groups, &base, halves, tile.address, 0);
    } else {
        const struct groups groups = {box.columns, tile.stride.column, box.rows, tile.stride.row};
        for (uint32_t channel = 0; channel < box.channels; ++channel)
            push_groups(guest, &groups, &base, halves, tile.address + (channel * tile.stride.channel << in),
                        channel * plane << out);
    }
    cnnvp_end_step(guest);
}
