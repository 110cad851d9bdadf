/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a layer's slices to the numbers of its weight tiles, and back (layer.h). The guest uses it to find a tile, the
 * compiler to fill the tiles. */
#ifndef CNNVP_LAYER_WEIGHTS_H
#define CNNVP_LAYER_WEIGHTS_H

#include "cnnvp_integer.h"
#include "layer.h"

struct cnnvp_weight_tile_part {
    uint32_t in, inputs; /* first input of the slice, and their number */
    uint32_t out, outputs;
    uint32_t last; /* 1: last input slice of the group: biases and table follow */
};

/* Inputs that a layer's slices divide: channels, or words of a fully connected layer. */
static inline uint32_t cnnvp_layer_inputs(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_FC ? layer->in.channels * layer->in.height * layer->in.width : layer->in.channels;
}

static inline uint32_t cnnvp_output_slices(const struct cnnvp_layer *layer, uint32_t outputs)
{
    return cnnvp_divide_up32(outputs, layer->tile_out);
}

/* A depthwise layer has one input slice: each output channel reads the input channel of its own number. */
static inline uint32_t cnnvp_input_slices(const struct cnnvp_layer *layer)
{
    return layer->depthwise != 0 ? 1u : cnnvp_divide_up32(cnnvp_layer_inputs(layer), layer->tile_in);
}

/* Weight tiles of a full group. The last group may have fewer. */
static inline uint32_t cnnvp_group_weight_tiles(const struct cnnvp_layer *layer)
{
    return cnnvp_input_slices(layer) * cnnvp_output_slices(layer, layer->group_out);
}

static inline uint32_t cnnvp_group_outputs(const struct cnnvp_layer *layer, uint32_t first)
{
    return cnnvp_minimum32(layer->group_out, layer->out.channels - first);
}

/* Number of the weight tile of the slice that begins at input `in` and at output `out`. `out` counts from the group's
 * first output, `first`. */
static inline uint32_t cnnvp_weight_tile_number(const struct cnnvp_layer *layer, uint32_t first, uint32_t in,
                                                uint32_t out)
{
    const uint32_t before = first == 0 ? 0 : first / layer->group_out * cnnvp_group_weight_tiles(layer);
    return layer->first_weight_tile + before +
           in / layer->tile_in * cnnvp_output_slices(layer, cnnvp_group_outputs(layer, first)) + out / layer->tile_out;
}

/* What the layer's weight tile number `index` holds. `index` counts from the layer's first weight tile. */
static inline struct cnnvp_weight_tile_part cnnvp_weight_tile_part(const struct cnnvp_layer *layer, uint32_t index)
{
    const uint32_t first = index / cnnvp_group_weight_tiles(layer) * layer->group_out;
    const uint32_t outputs = cnnvp_group_outputs(layer, first);
    const uint32_t slices = cnnvp_output_slices(layer, outputs);
    const uint32_t inputs = layer->depthwise != 0 ? outputs : cnnvp_layer_inputs(layer);
    const uint32_t in = index % cnnvp_group_weight_tiles(layer) / slices * layer->tile_in;
    const uint32_t out = index % cnnvp_group_weight_tiles(layer) % slices * layer->tile_out;
    const uint32_t count = cnnvp_minimum32(layer->tile_in, inputs - in);
    return (struct cnnvp_weight_tile_part){
        .in = in,
        .inputs = count,
        .out = first + out,
        .outputs = cnnvp_minimum32(layer->tile_out, outputs - out),
        .last = in + count == inputs};
}

#endif
