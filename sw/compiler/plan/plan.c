/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that follow from how a layer is cut: tiles, weight tiles and bytes in the buffers. */
#include "plan.h"

#include <string.h>

#include "binary/layer_command.h"
#include "cost_query.h"

#define NORM_VECTORS 5u /* vectors of one word a channel: mean, 1 / sigma, scale, product, offset */

uint32_t cnnvp_plan_table_words(const struct cnnvp_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind == CNNVP_POST_TABLE)
            return layer->posts[i].table_words;
    return 0;
}

uint32_t cnnvp_plan_operand_words(const struct cnnvp_layer *layer)
{
    return layer->added.written_out != CNNVP_ADDED_BY_VECTOR && layer->operands.divisor != 0 ? CNNVP_OPERAND_WORDS : 0;
}

uint64_t cnnvp_plan_input_rows(const struct cnnvp_layer *layer, uint32_t rows)
{
    return (uint64_t)(rows - 1u) * layer->sy + (uint64_t)(cnnvp_window_rows(layer) - 1u) * layer->dy + 1u;
}

uint64_t cnnvp_plan_input_columns(const struct cnnvp_layer *layer, uint32_t columns)
{
    return (uint64_t)(columns - 1u) * layer->sx + (uint64_t)(cnnvp_window_columns(layer) - 1u) * layer->dx + 1u;
}

struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_layer *layer)
{
    struct cnnvp_plan_counts counts = {.input_slices = 1, .output_slices = 1};
    counts.groups = cnnvp_divide_up32(layer->out.channels, layer->group_out);
    counts.tiles =
        cnnvp_divide_up32(layer->out.height, layer->tile_h) * cnnvp_divide_up32(layer->out.width, layer->tile_w);
    if (!cnnvp_plan_is_channelwise(layer)) {
        counts.input_slices = cnnvp_divide_up32(cnnvp_layer_inputs(layer), layer->tile_in);
        counts.output_slices = cnnvp_divide_up32(layer->group_out, layer->tile_out);
    }
    counts.weight_tiles = cnnvp_plan_weight_tile_count(layer);
    return counts;
}

uint32_t cnnvp_plan_weight_tile_count(const struct cnnvp_layer *layer)
{
    if (cnnvp_plan_has_weights(layer))
        return layer->out.channels / layer->group_out * cnnvp_group_weight_tiles(layer) +
               cnnvp_input_slices(layer) * cnnvp_output_slices(layer, layer->out.channels % layer->group_out);
    return layer->op == CNNVP_OP_NORM || cnnvp_plan_table_words(layer) != 0 ? 1 : 0;
}

uint64_t cnnvp_plan_weight_tile_bytes(const struct cnnvp_layer *layer, uint32_t index)
{
    if (!cnnvp_plan_has_weights(layer))
        return cnnvp_plan_weight_tile_words(layer, 0, 0, 1) * CNNVP_WORD_BYTES;
    const struct cnnvp_weight_tile_part slice = cnnvp_weight_tile_part(layer, index);
    return cnnvp_plan_weight_tile_words(layer, slice.inputs, slice.outputs, slice.last != 0) * CNNVP_WORD_BYTES;
}

uint64_t cnnvp_plan_weight_tile_words(const struct cnnvp_layer *layer, uint32_t in, uint32_t out, int last)
{
    const uint64_t taps = layer->op == CNNVP_OP_CONV ? (uint64_t)layer->kx * layer->ky : 1u;
    const uint64_t table = last ? cnnvp_plan_table_words(layer) : 0;
    if (layer->op == CNNVP_OP_NORM)
        return table + 2u * (uint64_t)layer->in.channels;
    if (!cnnvp_plan_has_weights(layer))
        return table;
    const uint64_t weights = out * taps * (layer->depthwise != 0 ? 1u : in);
    const uint32_t bytes = cnnvp_format_bytes(layer->format, CNNVP_NARROW_B);
    return table + cnnvp_divide_up(weights * bytes, CNNVP_WORD_BYTES) +
           (last ? (uint64_t)layer->bias * out + cnnvp_plan_operand_words(layer) : 0);
}

uint64_t cnnvp_plan_weight_words(const struct cnnvp_layer *layer)
{
    const uint32_t inputs = cnnvp_plan_is_channelwise(layer) ? layer->out.channels : cnnvp_layer_inputs(layer);
    return cnnvp_plan_weight_tile_words(layer, inputs, layer->out.channels, 1);
}

static int is_swept_in_parts(const struct cnnvp_layer *layer)
{
    return cnnvp_window_rows(layer) < layer->ky || cnnvp_window_columns(layer) < layer->kx;
}

/* The most bytes that a result takes in the output buffer. `of_unit` is what the unit needs while it calculates. */
static uint32_t result_bytes_of(const struct cnnvp_layer *layer, uint32_t of_unit)
{
    const uint32_t first = layer->op == CNNVP_OP_ACTIVATION ? layer->posts[0].format : layer->format;
    const uint32_t bytes = cnnvp_maximum32(cnnvp_format_bytes(first, CNNVP_NARROW_OUT), 1u << layer->out.word_shift);
    return of_unit > CNNVP_WORD_BYTES ? of_unit : bytes;
}

struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_layer *layer, uint32_t unit_bytes)
{
    const uint32_t result_bytes = result_bytes_of(layer, unit_bytes);
    const uint32_t shift = layer->in.word_shift;
    const uint64_t plane = (uint64_t)layer->tile_h * layer->tile_w;
    const uint64_t words = layer->group_out * plane;
    struct cnnvp_plan_use use = {
        .weight_bytes = cnnvp_plan_weight_tile_words(layer, layer->tile_in, layer->tile_out, 1) * CNNVP_WORD_BYTES};
    const uint64_t first = layer->in.on_chip ? 0 : 1u;
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_POOL:
        use.input_bytes = layer->tile_in * cnnvp_plan_input_rows(layer, layer->tile_h) *
                              cnnvp_plan_input_columns(layer, layer->tile_w)
                          << shift;
        break;
    case CNNVP_OP_FC:
        use.input_bytes = (uint64_t)layer->tile_in << shift;
        break;
    case CNNVP_OP_ADD:
        use.input_bytes =
            first * ((words << shift) + (words & 1u)) + (layer->in2.on_chip ? 0 : words << layer->in2.word_shift);
        break;
    default:
        use.input_bytes = words << shift;
        break;
    }
    if (layer->op != CNNVP_OP_ADD)
        use.input_bytes *= first;
    if (layer->added.tag != 0 && !layer->in2.on_chip && !cnnvp_is_added(layer))
        use.input_bytes = cnnvp_maximum(use.input_bytes, words << layer->in2.word_shift);
    const int sums = (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE) ||
                     (!cnnvp_plan_is_channelwise(layer) && layer->tile_in < cnnvp_layer_inputs(layer));
    use.output_bytes = words * (sums ? cnnvp_maximum32(layer->sum_bytes, result_bytes) : result_bytes);
    if (cnnvp_is_added(layer))
        use.output_bytes =
            words * ((sums || layer->added.written_out == CNNVP_ADDED_BEHIND_SUMS ? layer->sum_bytes : 0) +
                     result_bytes_of(layer, 0));
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE && layer->by_position != 0)
        use.output_bytes += words * result_bytes_of(layer, 0);
    if (layer->op == CNNVP_OP_POOL && is_swept_in_parts(layer) && result_bytes > CNNVP_WORD_BYTES)
        use.output_bytes += cnnvp_pool_sums_at(layer, 0, (uint32_t)words);
    if (layer->op == CNNVP_OP_SOFTMAX && layer->axis != CNNVP_AXIS_LAST)
        use.output_bytes += words << layer->out.word_shift;
    if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
        use.output_bytes += (use.output_bytes & 1u) + NORM_VECTORS * (uint64_t)layer->group_out * CNNVP_WORD_BYTES;
    use.input_bytes *= layer->tile_images;
    use.output_bytes *= layer->tile_images;
    return use;
}

int cnnvp_plan_fits(const struct cnnvp_plan_use *use, const struct cnnvp_plan_limits *limits)
{
    return use->input_bytes <= limits->input_bytes && use->weight_bytes <= limits->weight_bytes &&
           use->output_bytes <= limits->output_bytes &&
           (limits->joint_bytes == 0 || cnnvp_plan_joint_bytes(use) <= limits->joint_bytes);
}

struct cnnvp_plan_size cnnvp_plan_size(const struct cnnvp_plan_limits *limits, enum cnnvp_plan_buffer buffer,
                                       uint64_t half_bytes)
{
    const struct {
        const char *instance;
        uint32_t part, halves;
    } buffers[] = {{"input_buffer", CNNVP_PLAN_INPUT_PART, limits->input_halves},
                   {"weight_buffer", CNNVP_PLAN_WEIGHT_PART, limits->weight_halves},
                   {"output_buffer", CNNVP_PLAN_OUTPUT_PART, limits->output_halves}};
    const int is_region = limits->scratchpad_bytes != 0;
    uint64_t size = 1;
    while (size < half_bytes * (is_region && limits->joint_bytes == 0 ? buffers[buffer].part : 1u))
        size *= 2u;
    return (struct cnnvp_plan_size){is_region ? "scratchpad" : buffers[buffer].instance, buffers[buffer].halves * size};
}

void cnnvp_plan_cut_layer(struct cnnvp_layer *layer, struct cnnvp_plan_cut cut)
{
    layer->group_out = cut.group_out;
    layer->tile_h = cut.tile_h;
    layer->tile_w = cut.tile_w;
    layer->tile_in = cut.tile_in;
    layer->tile_out = cut.tile_out;
    layer->tile_images = cut.tile_images;
    layer->images_outer = cut.images_outer;
    layer->image_bytes = cut.image_bytes;
    layer->tile_kx = cut.tile_kx;
    layer->tile_ky = cut.tile_ky;
}

struct cnnvp_plan_cut cnnvp_plan_cut_of(const struct cnnvp_layer *layer)
{
    const int has_choice = layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL;
    const int written_out = cnnvp_is_tabled(layer) != 0 || layer->added.written_out != CNNVP_ADDED_BY_VECTOR;
    const int has_function = layer->op == CNNVP_OP_CONV && (cnnvp_plan_table_words(layer) != 0 || written_out);
    return (struct cnnvp_plan_cut){
        has_choice ? 1u + layer->unit : CNNVP_PLAN_ANY_UNIT,
        !has_function ? CNNVP_PLAN_ANY_FUNCTION
        : written_out ? CNNVP_PLAN_WRITE_OUT_FUNCTION
                      : CNNVP_PLAN_VECTOR_FUNCTION,
        layer->group_out,
        layer->tile_h,
        layer->tile_w,
        layer->tile_in,
        layer->tile_out,
        layer->tile_images,
        layer->images_outer,
        layer->image_bytes,
        layer->tile_kx,
        layer->tile_ky};
}

int cnnvp_plan_has_valid_range(const struct cnnvp_layer *layer, uint32_t rows, uint32_t columns)
{
    return layer->op != CNNVP_OP_POOL ||
           (cnnvp_plan_input_rows(layer, rows) <= UINT16_MAX && cnnvp_plan_input_columns(layer, columns) <= UINT16_MAX);
}

cnnvp_result cnnvp_plan_whole(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_error *error)
{
    struct cnnvp_tiling tiling;
    layer->group_out = layer->out.channels;
    layer->tile_h = layer->out.height;
    layer->tile_w = layer->out.width;
    while (!cnnvp_plan_has_valid_range(layer, layer->tile_h, layer->tile_w)) {
        uint32_t *const longer = layer->tile_h > layer->tile_w ? &layer->tile_h : &layer->tile_w;
        if (*longer == 1)
            return cnnvp_compiler_error(error, "layer \"%s\": %s", name, CNNVP_PLAN_NO_VALID_RANGE);
        *longer = cnnvp_divide_up32(*longer, 2);
    }
    layer->tile_in = cnnvp_plan_is_channelwise(layer) ? layer->group_out : cnnvp_layer_inputs(layer);
    layer->tile_out = layer->group_out;
    layer->tile_images = 1;
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &tiling, error));
    if (layer->op == CNNVP_OP_FC)
        layer->tile_out = cnnvp_minimum32(layer->group_out, tiling.out);
    return CNNVP_DONE;
}

/* Clears the members that a plan does not depend on. */
static void forget_values(struct cnnvp_layer *layer)
{
    const uint32_t narrow = ~UINT32_C(0) << CNNVP_NARROW_LSB | 1u << CNNVP_TABLED_LSB;
    layer->format &= narrow;
    layer->tag = layer->group = layer->seed = layer->first_weight_tile = layer->weight_tile_count = 0;
    layer->group_out = layer->tile_h = layer->tile_w = layer->tile_in = layer->tile_out = 0;
    layer->tile_images = layer->images_outer = layer->image_bytes = 0;
    layer->tile_ky = layer->tile_kx = 0;
    layer->pool_area = layer->limits = layer->added.limits = 0;
    layer->added.format &= narrow;
    layer->added.tag = layer->added.tag != 0;
    const uint32_t scales = layer->op != CNNVP_OP_NORM && layer->operands.divisor != 0;
    layer->norm_data = (struct cnnvp_layer_norm_data){0};
    layer->operands.divisor = scales;
    struct cnnvp_tensor *const tensors[] = {&layer->in, &layer->in2, &layer->out};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i) {
        tensors[i]->address = tensors[i]->image_stride = tensors[i]->batch_stride = 0;
        tensors[i]->chip_address = tensors[i]->chip_half = 0;
    }
    for (uint32_t i = 0; i < layer->post_count; ++i) {
        layer->posts[i].value = 0;
        layer->posts[i].format &= narrow;
    }
}

int cnnvp_plan_are_alike(const struct cnnvp_layer *one, const struct cnnvp_layer *other)
{
    struct cnnvp_layer a, b;
    if (one->op != other->op || one->out.channels != other->out.channels || one->out.width != other->out.width)
        return 0;
    a = *one;
    b = *other;
    forget_values(&a);
    forget_values(&b);
    return memcmp(&a, &b, sizeof a) == 0;
}
