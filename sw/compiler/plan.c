/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#define WORD_BYTES 2u
#define SUM_BYTES 8u
#define NORM_VECTORS 5u /* of one word a channel: mean, 1 / sigma, scale, product, offset */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1u) / b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

int cnnvp_plan_has_weights(const struct cnnvp_image_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

int cnnvp_plan_is_channelwise(const struct cnnvp_image_layer *layer)
{
    return !cnnvp_plan_has_weights(layer) || (layer->op == CNNVP_OP_CONV && layer->depthwise != 0);
}

uint32_t cnnvp_plan_table_words(const struct cnnvp_image_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind == CNNVP_POST_TABLE)
            return layer->posts[i].table_words;
    return 0;
}

uint32_t cnnvp_plan_window_rows(const struct cnnvp_image_layer *layer)
{
    return layer->tile_ky != 0 ? layer->tile_ky : layer->ky;
}

uint32_t cnnvp_plan_window_columns(const struct cnnvp_image_layer *layer)
{
    return layer->tile_kx != 0 ? layer->tile_kx : layer->kx;
}

uint64_t cnnvp_plan_input_rows(const struct cnnvp_image_layer *layer, uint32_t rows)
{
    return (uint64_t)(rows - 1u) * layer->sy + (uint64_t)(cnnvp_plan_window_rows(layer) - 1u) * layer->dy + 1u;
}

uint64_t cnnvp_plan_input_columns(const struct cnnvp_image_layer *layer, uint32_t columns)
{
    return (uint64_t)(columns - 1u) * layer->sx + (uint64_t)(cnnvp_plan_window_columns(layer) - 1u) * layer->dx + 1u;
}

struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_image_layer *layer)
{
    struct cnnvp_plan_counts counts = {.input_slices = 1, .output_slices = 1};
    counts.groups = divide_up(layer->out.channels, layer->group_out);
    counts.tiles = divide_up(layer->out.height, layer->tile_h) * divide_up(layer->out.width, layer->tile_w);
    if (!cnnvp_plan_is_channelwise(layer)) {
        counts.input_slices = divide_up(cnnvp_engine_inputs(layer), layer->tile_in);
        counts.output_slices = divide_up(layer->group_out, layer->tile_out);
    }
    const uint32_t rest = layer->out.channels - (counts.groups - 1u) * layer->group_out;
    if (cnnvp_plan_has_weights(layer))
        counts.blobs = counts.input_slices *
                       ((counts.groups - 1u) * counts.output_slices + divide_up(rest, layer->tile_out));
    else
        counts.blobs = layer->op == CNNVP_OP_NORM || cnnvp_plan_table_words(layer) != 0 ? 1 : 0;
    return counts;
}

static uint64_t blob_words(const struct cnnvp_image_layer *layer)
{
    uint64_t words = cnnvp_plan_table_words(layer);
    const uint64_t taps = (uint64_t)layer->kx * layer->ky;
    if (cnnvp_plan_has_weights(layer) && layer->bias != 0)
        words += layer->tile_out;
    if (layer->op == CNNVP_OP_CONV)
        words += layer->depthwise != 0 ? layer->tile_out * taps : (uint64_t)layer->tile_out * layer->tile_in * taps;
    else if (layer->op == CNNVP_OP_FC)
        words += (uint64_t)layer->tile_out * layer->tile_in;
    else if (layer->op == CNNVP_OP_NORM)
        words += 2u * (uint64_t)layer->in.channels;
    return words;
}

uint64_t cnnvp_plan_blob_bytes(const struct cnnvp_image_layer *layer)
{
    return blob_words(layer) * WORD_BYTES;
}

static int is_swept_in_parts(const struct cnnvp_image_layer *layer)
{
    return cnnvp_plan_window_rows(layer) < layer->ky || cnnvp_plan_window_columns(layer) < layer->kx;
}

struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine)
{
    const uint64_t plane = (uint64_t)layer->tile_h * layer->tile_w;
    const uint64_t words = layer->group_out * plane;
    struct cnnvp_plan_use use = {.weight_bytes = blob_words(layer) * WORD_BYTES};
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_POOL:
        use.input_bytes =
            layer->tile_in * cnnvp_plan_input_rows(layer, layer->tile_h) *
            cnnvp_plan_input_columns(layer, layer->tile_w) * WORD_BYTES;
        break;
    case CNNVP_OP_FC:
        use.input_bytes = (uint64_t)layer->tile_in * WORD_BYTES;
        break;
    case CNNVP_OP_ADD:
        use.input_bytes = 2u * words * WORD_BYTES;
        break;
    default:
        use.input_bytes = words * WORD_BYTES;
        break;
    }
    const int sums = (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE) ||
                     (cnnvp_plan_has_weights(layer) && cnnvp_plan_counts_of(layer).input_slices > 1) ||
                     engine->kind->keeps_sums(engine, layer);
    use.output_bytes = words * (sums ? SUM_BYTES : WORD_BYTES);
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE && layer->by_position != 0)
        use.output_bytes += words * WORD_BYTES;
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX && is_swept_in_parts(layer))
        use.output_bytes += use.output_bytes;
    if (layer->op == CNNVP_OP_SOFTMAX && layer->axis != CNNVP_AXIS_LAST)
        use.output_bytes += words * WORD_BYTES;
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA)
        use.output_bytes += NORM_VECTORS * (uint64_t)layer->group_out * WORD_BYTES;
    return use;
}

void cnnvp_plan_whole(struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    layer->group_out = layer->out.channels;
    layer->tile_h = layer->out.height;
    layer->tile_w = layer->out.width;
    layer->tile_in = cnnvp_plan_is_channelwise(layer) ? layer->group_out : cnnvp_engine_inputs(layer);
    layer->tile_out = layer->group_out;
    if (layer->op == CNNVP_OP_FC)
        layer->tile_out =
            smaller(layer->group_out, limits->engine.kind->edges(&limits->engine, layer, 0).out);
}
