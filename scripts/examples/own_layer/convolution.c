/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convolution of S000 (algorithm 1) with its two loops over slices exchanged: output slices outside, input slices
 * inside. Each slice of the outputs is completed before the next one begins, so the input slices are loaded again for
 * each of them. Sums are exact, so the results are bit-identical.
 */
#include "layers_internal.h"

#include <stddef.h>

/* The part of some input channels that the outputs of a step need. */
static struct cnnvp_box input_of(const struct cnnvp_layer *layer, const struct cnnvp_box *output, uint32_t channel,
                                 uint32_t channels)
{
    return (struct cnnvp_box){
        .channel = channel,
        .channels = channels,
        .row = output->row * (int32_t)layer->sy - (int32_t)layer->pad_top,
        .rows = (output->rows - 1u) * layer->sy + (layer->ky - 1u) * layer->dy + 1u,
        .column = output->column * (int32_t)layer->sx - (int32_t)layer->pad_left,
        .columns = (output->columns - 1u) * layer->sx + (layer->kx - 1u) * layer->dx + 1u};
}

/* A slice: input channels from `in` on, and output channels of the step from `out` on. */
struct slice {
    uint32_t in, inputs, all_inputs;
    uint32_t out, outputs;
};

/* Brings the slice's inputs and weights on chip, and makes its window over all positions. Returns the half of the
 * weight buffer with its weights. */
static uint32_t bring(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                      const struct slice *slice, struct cnnvp_input_tile *tile, struct cnnvp_window *window)
{
    const struct cnnvp_box *output = &step->output;
    const uint32_t first = layer->depthwise ? output->channel : 0;
    const struct cnnvp_box box = input_of(layer, output, first + slice->in, slice->inputs);
    *tile = cnnvp_bring_images(guest, &layer->in, &box, step->more_images);
    *window = cnnvp_layer_window(layer, layer->kx, layer->ky, output->rows, output->columns);
    window->in_row_stride = tile->stride.row;
    window->in_channel_stride = tile->stride.channel;
    window->in_channels = slice->inputs;
    window->out_channels = slice->outputs;
    const uint32_t half = cnnvp_load_weight_tile(
        guest, cnnvp_weight_tile_number(layer, output->channel, slice->in, slice->out), &window->weight_addr);
    window->bias_addr =
        window->weight_addr + cnnvp_weight_bytes(layer, slice->outputs * cnnvp_output_weights(layer, slice->inputs));
    return half;
}

/* Pushes one instruction for each image of the step. */
static void push(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                 const struct slice *slice, const struct cnnvp_input_tile *tile, uint32_t weight_half,
                 const struct cnnvp_epilogue *epilogue, struct cnnvp_window *window)
{
    const int last = slice->in + slice->inputs == slice->all_inputs;
    struct cnnvp_operation operation = cnnvp_window_operation(layer, slice->in == 0, last);
    operation.status = cnnvp_scaled_status(layer, operation.status);
    const uint32_t first = slice->out * step->output.rows * step->output.columns;
    for (uint32_t image = 0; image <= step->more_images; ++image) {
        const uint32_t results = image * layer->image_bytes;
        window->in_addr = tile->address + image * tile->image_bytes;
        window->out_addr = results + first * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
        window->acc_addr = results + first * layer->sum_bytes;
        window->seed = cnnvp_part_seed(cnnvp_image_seed(layer, epilogue->seed, image), slice->out);
        cnnvp_push_window(guest, operation.opcode, operation.status,
                          cnnvp_slice_halves(tile->half, weight_half, epilogue->output_half), window);
    }
}

void cnnvp_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    struct slice slice = {.all_inputs = layer->depthwise ? step->output.channels : layer->in.channels};
    struct cnnvp_epilogue *epilogue = NULL;
    uint32_t weight_half = 0, table = 0;
    for (slice.out = 0; slice.out < step->output.channels; slice.out += layer->tile_out) {
        slice.outputs = cnnvp_minimum32(layer->tile_out, step->output.channels - slice.out);
        for (slice.in = 0; slice.in < slice.all_inputs; slice.in += layer->tile_in) {
            struct cnnvp_input_tile tile;
            struct cnnvp_window window;
            slice.inputs = cnnvp_minimum32(layer->tile_in, slice.all_inputs - slice.in);
            weight_half = bring(guest, layer, step, &slice, &tile, &window);
            if (slice.in == 0 && slice.out == 0)
                epilogue = cnnvp_begin_results(guest, layer, step);
            push(guest, layer, step, &slice, &tile, weight_half, epilogue, &window);
            table = window.bias_addr + layer->bias * slice.outputs * CNNVP_WORD_BYTES;
        }
    }
    cnnvp_use_table(epilogue, weight_half, table);
    cnnvp_end_step(guest);
}
