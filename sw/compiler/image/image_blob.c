/* SPDX-License-Identifier: Apache-2.0 */
/* The words of blobs: weights and biases of one slice, normalisation parameters, tables. */
#include <string.h>

#include "numbers.h"
#include "image_internal.h"

#define WORD_BYTES 2u

/* What part of a layer a blob holds. */
struct slice {
    uint32_t out;
    uint32_t outputs;
    uint32_t in;
    uint32_t inputs;
    int last;         /* of the input slices: biases and table follow */
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

typedef cnnvp_result (*slice_function)(void *context, const struct slice *slice);

/* All slices of a layer with weights, in the order of the guest's loops. */
static cnnvp_result each_slice(const struct cnnvp_image_layer *layer, slice_function function, void *context)
{
    const uint32_t depth = cnnvp_plan_inputs(layer);
    for (uint32_t group = 0; group < layer->out.channels; group += layer->group_out) {
        const uint32_t outputs = smaller(layer->group_out, layer->out.channels - group);
        const uint32_t inputs = layer->depthwise != 0 ? outputs : depth;
        for (uint32_t in = 0; in < inputs; in += layer->tile_in) {
            for (uint32_t out = 0; out < outputs; out += layer->tile_out) {
                struct slice slice = {.out = group + out,
                                      .outputs = smaller(layer->tile_out, outputs - out),
                                      .in = in,
                                      .inputs = smaller(layer->tile_in, inputs - in)};
                slice.last = in + slice.inputs == inputs;
                const cnnvp_result result = function(context, &slice);
                if (result != CNNVP_DONE)
                    return result;
            }
        }
    }
    return CNNVP_DONE;
}

static int has_weights(const struct cnnvp_image_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

static uint64_t slice_weights(const struct cnnvp_image_layer *layer, const struct slice *slice)
{
    const uint64_t taps = layer->op == CNNVP_OP_CONV ? (uint64_t)layer->kx * layer->ky : 1;
    return slice->outputs * taps * (layer->depthwise != 0 ? 1u : slice->inputs);
}

struct sizes {
    const struct cnnvp_image_layer *layer;
    cnnvp_result (*function)(void *context, uint64_t bytes);
    void *context;
};

static cnnvp_result size_slice(void *context, const struct slice *slice)
{
    const struct sizes *sizes = context;
    uint64_t words = slice_weights(sizes->layer, slice);
    if (slice->last)
        words += (sizes->layer->bias != 0 ? slice->outputs : 0) + cnnvp_plan_table_words(sizes->layer);
    return sizes->function(sizes->context, words * WORD_BYTES);
}

cnnvp_result cnnvp_image_each_blob(const struct cnnvp_image_layer *layer,
                                   cnnvp_result (*function)(void *context, uint64_t bytes), void *context)
{
    struct sizes sizes = {layer, function, context};
    if (has_weights(layer))
        return each_slice(layer, size_slice, &sizes);
    uint64_t words = cnnvp_plan_table_words(layer);
    if (layer->op == CNNVP_OP_NORM)
        words += 2u * (uint64_t)layer->in.channels;
    return words != 0 ? function(context, words * WORD_BYTES) : CNNVP_DONE;
}

struct fill {
    const struct cnnvp_graph *graph;
    const struct cnnvp_graph_layer *source;
    const struct cnnvp_image_layer *layer;
    const struct cnnvp_image_blob *blob; /* the next one */
    const int16_t *table;
    uint8_t *image;
    uint8_t *at;
};

static void put_word(struct fill *fill, int16_t word)
{
    fill->at[0] = (uint8_t)((uint16_t)word & 0xffu);
    fill->at[1] = (uint8_t)((uint16_t)word >> 8);
    fill->at += WORD_BYTES;
}

static void put_biases(struct fill *fill, uint32_t first, uint32_t count)
{
    const int32_t frac = fill->graph->tensors[fill->source->in].frac + fill->source->weight_frac -
                         fill->source->bias_shift;
    for (uint32_t o = first; o < first + count; ++o)
        put_word(fill, cnnvp_quantise(fill->source->bias[o], frac));
}

static void put_table(struct fill *fill)
{
    const uint32_t words = cnnvp_plan_table_words(fill->layer);
    for (uint32_t i = 0; i < words; ++i)
        put_word(fill, fill->table[i]);
}

/* A word for each output of one input after the other. They are read the other way round, so by blocks. */
static void put_transposed(struct fill *fill, const struct slice *slice)
{
    enum { BLOCK = 64 };
    int16_t block[BLOCK];
    const size_t pitch = cnnvp_plan_inputs(fill->layer);
    int16_t *words = (int16_t *)(void *)fill->at;
    for (uint32_t first = 0; first < slice->inputs; first += BLOCK) {
        const uint32_t count = smaller(BLOCK, slice->inputs - first);
        for (uint32_t o = 0; o < slice->outputs; ++o) {
            cnnvp_quantise_all(fill->source->weights + (slice->out + o) * pitch + slice->in + first, count,
                               fill->source->weight_frac, block);
            for (uint32_t i = 0; i < count; ++i)
                words[(size_t)(first + i) * slice->outputs + o] = block[i];
        }
    }
    fill->at += (size_t)slice->inputs * slice->outputs * WORD_BYTES;
}

static void put_weights(struct fill *fill, const struct slice *slice)
{
    const struct cnnvp_image_layer *layer = fill->layer;
    const float *weights = fill->source->weights;
    const int32_t frac = fill->source->weight_frac;
    if (layer->op == CNNVP_OP_FC) {
        put_transposed(fill, slice);
        return;
    }
    const size_t taps = (size_t)layer->kx * layer->ky;
    const size_t depth = layer->depthwise != 0 ? 1 : layer->in.channels;
    const size_t first = layer->depthwise != 0 ? 0 : slice->in;
    const size_t count = layer->depthwise != 0 ? taps : slice->inputs * taps;
    for (uint32_t o = slice->out; o < slice->out + slice->outputs; ++o) {
        cnnvp_quantise_all(weights + (o * depth + first) * taps, count, frac, (int16_t *)(void *)fill->at);
        fill->at += count * WORD_BYTES;
    }
}

static void begin_blob(struct fill *fill)
{
    fill->at = fill->image + (fill->blob->address - CNNVP_IMAGE_ADDRESS);
    ++fill->blob;
}

static void end_blob(struct fill *fill)
{
    const size_t beyond = (size_t)(fill->at - fill->image) % CNNVP_IMAGE_ALIGNMENT;
    memset(fill->at, 0, (CNNVP_IMAGE_ALIGNMENT - beyond) % CNNVP_IMAGE_ALIGNMENT);
}

static cnnvp_result fill_slice(void *context, const struct slice *slice)
{
    struct fill *fill = context;
    begin_blob(fill);
    put_weights(fill, slice);
    if (slice->last) {
        if (fill->layer->bias != 0)
            put_biases(fill, slice->out, slice->outputs);
        put_table(fill);
    }
    end_blob(fill);
    return CNNVP_DONE;
}

void cnnvp_image_fill_blobs(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer,
                            uint8_t *image)
{
    if (build->layers[layer].blob_count == 0)
        return;
    struct fill fill = {.graph = graph,
                        .source = &graph->layers[layer],
                        .layer = &build->layers[layer],
                        .blob = &build->blobs[build->layers[layer].first_blob],
                        .table = build->tables[layer],
                        .image = image};
    if (has_weights(fill.layer)) {
        (void)each_slice(fill.layer, fill_slice, &fill);
        return;
    }
    begin_blob(&fill);
    if (fill.layer->op == CNNVP_OP_NORM) {
        for (uint32_t c = 0; c < fill.layer->in.channels; ++c)
            put_word(&fill, cnnvp_quantise(fill.source->weights[c], fill.source->weight_frac));
        put_biases(&fill, 0, fill.layer->in.channels);
    }
    put_table(&fill);
    end_blob(&fill);
}
