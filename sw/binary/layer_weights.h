/* SPDX-License-Identifier: Apache-2.0 */
/* The weight tiles of a layer with weights, by what they hold (layer.h): for the guest, which looks for one, and for
 * the compiler, which fills them. */
#ifndef CNNVP_LAYER_WEIGHTS_H
#define CNNVP_LAYER_WEIGHTS_H

#include "cnnvp_integer.h"
#include "layer.h"

struct cnnvp_weight_tile_part {
    uint32_t in, inputs; /* first one, and how many */
    uint32_t out, outputs;
    uint32_t last; /* 1: of the input slices: biases and table follow */
};

/* Inputs of a layer as slices count them: channels, or words of a fully connected layer. */
static inline uint32_t cnnvp_layer_inputs(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_FC ? layer->in.channels * layer->in.height * layer->in.width : layer->in.channels;
}

/* Output slices of a group of this many outputs. */
static inline uint32_t cnnvp_output_slices(const struct cnnvp_layer *layer, uint32_t outputs)
{
    return cnnvp_divide_up32(outputs, layer->tile_out);
}

/* Depthwise, an output has the one input of its number. */
static inline uint32_t cnnvp_input_slices(const struct cnnvp_layer *layer)
{
    return layer->depthwise != 0 ? 1u : cnnvp_divide_up32(cnnvp_layer_inputs(layer), layer->tile_in);
}

/* Weight tiles of a group with all its outputs; only the last one may have fewer. */
static inline uint32_t cnnvp_group_weight_tiles(const struct cnnvp_layer *layer)
{
    return cnnvp_input_slices(layer) * cnnvp_output_slices(layer, layer->group_out);
}

/* Outputs of the group that begins at output `first`. */
static inline uint32_t cnnvp_group_outputs(const struct cnnvp_layer *layer, uint32_t first)
{
    return cnnvp_minimum32(layer->group_out, layer->out.channels - first);
}

/* The number of the weight tile whose slice begins at input `in` and at output `out` of the group that begins at
 * `first`. */
static inline uint32_t cnnvp_weight_tile_number(const struct cnnvp_layer *layer, uint32_t first, uint32_t in,
                                                uint32_t out)
{
    return layer->first_weight_tile + first / layer->group_out * cnnvp_group_weight_tiles(layer) +
           in / layer->tile_in * cnnvp_output_slices(layer, cnnvp_group_outputs(layer, first)) + out / layer->tile_out;
}

/* What the layer's weight tile `index` holds, from 0 on. */
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
