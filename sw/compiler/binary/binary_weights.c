/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the words of weight tiles: weights and biases of a slice, normalisation parameters, function tables. */
#include <math.h>
#include <string.h>

#include "cnnvp_command.h"
#include "cnnvp_words.h"
#include "numbers.h"
#include "binary_internal.h"
#include "binary/layer_command.h"

struct fill {
    const struct cnnvp_graph *graph;
    const struct cnnvp_graph_layer *source;
    const struct cnnvp_layer *layer;
    const int16_t *table;
    uint8_t *at;
};

static void put_word(struct fill *fill, int16_t word)
{
    fill->at[0] = (uint8_t)((uint16_t)word & 0xffu);
    fill->at[1] = (uint8_t)((uint16_t)word >> 8);
    fill->at += CNNVP_WORD_BYTES;
}

static void put_biases(struct fill *fill, uint32_t first, uint32_t count)
{
    const int32_t frac =
        fill->graph->tensors[fill->source->in].frac + fill->source->weight_frac - fill->source->bias_shift;
    const int32_t to = fill->source->bias_to;
    for (uint32_t o = first; o < first + count; ++o) {
        const float words = ldexpf(fill->source->bias[o], frac);
        put_word(fill, cnnvp_quantise(to > 0 ? ceilf(words) : to < 0 ? floorf(words) : words, 0));
    }
}

static int is_scaled(const struct fill *fill)
{
    return fill->layer->bias == CNNVP_SCALE_WORDS;
}

/* The nearest whole number; the step is rounded, so the quotient is not exact. */
static int16_t whole_weight(float weight, float step)
{
    return (int16_t)lrintf(weight / step);
}

/* What the zero point of the input's words adds to the sums of an output. Words of the frame are the zero point, too,
 * so it is the same for all positions. */
static int64_t zero_sum(const struct fill *fill, uint32_t output)
{
    const size_t each = cnnvp_output_weights(fill->layer, cnnvp_layer_inputs(fill->layer));
    const float step = cnnvp_graph_weight_step(fill->graph, fill->source, output);
    int64_t sum = 0;
    for (size_t i = 0; i < each && fill->layer->in.zero != 0; ++i)
        sum += whole_weight(fill->source->weights[output * each + i], step);
    return sum * fill->layer->in.zero;
}

/* The whole number that is added to the sums of an output: the file's own, or the nearest one to the float bias. */
static int64_t whole_bias(const struct fill *fill, uint32_t output)
{
    const struct cnnvp_graph_layer *source = fill->source;
    if (source->steps.bias != NULL || source->bias == NULL)
        return source->steps.bias != NULL ? source->steps.bias[output] : 0;
    const float whole = source->bias[output] / cnnvp_graph_weight_step(fill->graph, source, output);
    return llrintf(fminf(fmaxf(whole, -0x1.fffffep30f), 0x1.fffffep30f));
}

/* Writes the offset (32 bits) and the multiplier (binary32) of each output: struct cnnvp_scale. */
static void put_scales(struct fill *fill, uint32_t first, uint32_t count)
{
    for (uint32_t o = first; o < first + count; ++o) {
        const int64_t bias = whole_bias(fill, o) - zero_sum(fill, o);
        const uint32_t bits = cnnvp_float_bits(cnnvp_graph_multiplier(fill->source, o));
        put_word(fill, (int16_t)(uint64_t)bias);
        put_word(fill, (int16_t)((uint64_t)bias >> 16));
        put_word(fill, (int16_t)bits);
        put_word(fill, (int16_t)(bits >> 16));
    }
}

/* Writes the weights of one output as words of so many bytes. If the layer is scaled, the words are the weights divided
 * by the output's step. */
static void quantise(const struct fill *fill, uint32_t output, const float *weights, size_t count, uint32_t bytes,
                     uint8_t *to)
{
    if (!is_scaled(fill)) {
        cnnvp_quantise_to(weights, count, fill->source->weight_frac, 0, bytes, to);
        return;
    }
    const float step = cnnvp_graph_weight_step(fill->graph, fill->source, output);
    for (size_t i = 0; i < count; ++i) {
        const int16_t word = whole_weight(weights[i], step);
        cnnvp_put_words(to + i * bytes, &word, 1, bytes);
    }
}

static void put_operands(struct fill *fill)
{
    const struct cnnvp_layer_operands *operands = &fill->layer->operands;
    const uint32_t words[] = {operands->a, operands->b, operands->divisor, operands->zeros};
    for (uint32_t i = 0; i < cnnvp_plan_operand_words(fill->layer); ++i)
        put_word(fill, (int16_t)(words[i / 2u] >> 16 * (i % 2u)));
}

static void put_table(struct fill *fill)
{
    const uint32_t words = cnnvp_plan_table_words(fill->layer);
    for (uint32_t i = 0; i < words; ++i)
        put_word(fill, fill->table[i]);
}

/* Writes weights as [input][output]. The source is [output][input], so it is read in blocks of inputs. */
static void put_transposed(struct fill *fill, const struct cnnvp_weight_tile_part *slice)
{
    enum { BLOCK = 64 };
    uint8_t block[BLOCK * CNNVP_WORD_BYTES];
    const size_t pitch = cnnvp_layer_inputs(fill->layer);
    const uint32_t bytes = cnnvp_format_bytes(fill->layer->format, CNNVP_NARROW_B);
    for (uint32_t first = 0; first < slice->inputs; first += BLOCK) {
        const uint32_t count = cnnvp_minimum32(BLOCK, slice->inputs - first);
        for (uint32_t o = 0; o < slice->outputs; ++o) {
            quantise(fill, slice->out + o, fill->source->weights + (slice->out + o) * pitch + slice->in + first, count,
                     bytes, block);
            for (uint32_t i = 0; i < count; ++i)
                memcpy(fill->at + ((size_t)(first + i) * slice->outputs + o) * bytes, block + i * bytes, bytes);
        }
    }
    fill->at += (size_t)slice->inputs * slice->outputs * bytes;
}

static void put_weights(struct fill *fill, const struct cnnvp_weight_tile_part *slice)
{
    const struct cnnvp_layer *layer = fill->layer;
    const float *weights = fill->source->weights;
    if (layer->op == CNNVP_OP_FC) {
        put_transposed(fill, slice);
        return;
    }
    const uint32_t bytes = cnnvp_format_bytes(layer->format, CNNVP_NARROW_B);
    const size_t taps = (size_t)layer->kx * layer->ky;
    const size_t depth = layer->depthwise != 0 ? 1 : layer->in.channels;
    const size_t first = layer->depthwise != 0 ? 0 : slice->in;
    const size_t count = layer->depthwise != 0 ? taps : slice->inputs * taps;
    for (uint32_t o = slice->out; o < slice->out + slice->outputs; ++o) {
        quantise(fill, o, weights + (o * depth + first) * taps, count, bytes, fill->at);
        fill->at += count * bytes;
    }
}

static void put_slice(struct fill *fill, const struct cnnvp_weight_tile_part *slice)
{
    uint8_t *const begin = fill->at;
    put_weights(fill, slice);
    if (slice->last == 0)
        return;
    if ((fill->at - begin) % CNNVP_WORD_BYTES != 0)
        *fill->at++ = 0;
    if (is_scaled(fill))
        put_scales(fill, slice->out, slice->outputs);
    else if (fill->layer->bias != 0)
        put_biases(fill, slice->out, slice->outputs);
    put_operands(fill);
    put_table(fill);
}

static void put_parameters(struct fill *fill)
{
    const uint32_t channels = fill->layer->op == CNNVP_OP_NORM ? fill->layer->in.channels : 0;
    for (uint32_t c = 0; c < channels; ++c)
        put_word(fill, cnnvp_quantise(fill->source->weights[c], fill->source->weight_frac));
    put_biases(fill, 0, channels);
    put_table(fill);
}

void cnnvp_binary_fill_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer,
                                    uint8_t *binary)
{
    struct fill fill = {
        .graph = graph, .source = &graph->layers[layer], .layer = &build->layers[layer], .table = build->tables[layer]};
    for (uint32_t i = 0; i < fill.layer->weight_tile_count && fill.layer->product == 0; ++i) {
        const struct cnnvp_weight_tile_part slice = cnnvp_weight_tile_part(fill.layer, i);
        const struct cnnvp_weight_tile *weight_tile = &build->weight_tiles.all[fill.layer->first_weight_tile + i];
        uint8_t *begin = binary + (weight_tile->address - cnnvp_binary_begin(build));
        fill.at = begin;
        if (cnnvp_plan_has_weights(fill.layer))
            put_slice(&fill, &slice);
        else
            put_parameters(&fill);
        memset(fill.at, 0, cnnvp_binary_align(weight_tile->bytes) - (size_t)(fill.at - begin));
    }
}
