/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a layer of the graph into one of the guest software (sw/binary/layer.h): its operation and number formats. */
#include "binary_internal.h"

#include <math.h>

#include "binary/layer_command.h"
#include "group_build.h"
#include "numbers.h"
#include "plan.h"

/* ---- registers ---- */

/* Descriptor register `format`: shift in 7:0, shift of the second addend in 15:8, rounding in 17:16. */
static uint32_t pack_format(int32_t shift, int32_t bias_shift, uint32_t rounding)
{
    return ((uint32_t)shift & 0xffu) | ((uint32_t)bias_shift & 0xffu) << 8 | rounding << 16;
}

/* Bits of `format` for the zero point of results. */
static uint32_t pack_zero(int32_t zero)
{
    return ((uint32_t)zero & 0xffu) << CNNVP_ZERO_LSB;
}

/* Bits of `format` for the word sizes in bytes of operands a and b and of results. */
static uint32_t pack_words(uint32_t a, uint32_t b, uint32_t out)
{
    return ((a == 1u ? CNNVP_NARROW_A : 0u) | (b == 1u ? CNNVP_NARROW_B : 0u) | (out == 1u ? CNNVP_NARROW_OUT : 0u))
           << CNNVP_NARROW_LSB;
}

/* Bits of `format` that do not depend on number formats: word sizes, and whether results go through a table. */
static uint32_t words_of(uint32_t format)
{
    return (format >> CNNVP_NARROW_LSB << CNNVP_NARROW_LSB) | (format & 1u << CNNVP_TABLED_LSB);
}

/* Bytes of a result before post-operation `post`. A table reads 16-bit words. */
static uint32_t result_bytes(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, uint32_t post)
{
    for (uint32_t i = post; i < layer->post_count; ++i)
        if (cnnvp_graph_is_table(layer->posts[i].kind))
            return CNNVP_WORD_BYTES;
    return cnnvp_graph_word_bytes(graph, layer->out);
}

static uint32_t weight_bytes(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    return layer->in2 != CNNVP_GRAPH_NONE ? cnnvp_graph_word_bytes(graph, layer->in2)
           : layer->narrow_weights != 0   ? 1u
                                          : CNNVP_WORD_BYTES;
}

/* 1: all posts are limits that 8-bit words have anyway, since they saturate. */
static int only_saturates(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const float zero = (float)cnnvp_graph_word_zero(graph, layer->out);
    int only = layer->op != CNNVP_OP_ACTIVATION && cnnvp_graph_word_bytes(graph, layer->out) == 1u &&
               graph->tensors[cnnvp_graph_base(graph, layer->out)].whole != 0;
    for (uint32_t i = 0; i < layer->post_count; ++i)
        only &= layer->posts[i].kind == CNNVP_GRAPH_MAX ? layer->posts[i].value + zero <= INT8_MIN
                : layer->posts[i].kind == CNNVP_GRAPH_MIN
                    ? layer->posts[i].value + zero >= INT8_MAX
                    : 0;
    return only;
}

static void describe_posts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *from,
                           struct cnnvp_layer *to)
{
    to->post_count = only_saturates(graph, from)               ? 0
                     : cnnvp_graph_is_quantised_function(from) ? 1u /* with its limits */
                                                               : from->post_count;
    for (uint32_t i = 0; i < to->post_count; ++i)
        if (cnnvp_graph_is_table(from->posts[i].kind))
            to->posts[i] = (struct cnnvp_layer_post){
                .kind = CNNVP_POST_TABLE, .table_words = cnnvp_post_table_words(&from->posts[i])};
        else
            to->posts[i].kind = from->posts[i].kind == CNNVP_GRAPH_MAX ? CNNVP_POST_MAX : CNNVP_POST_MIN;
    for (uint32_t i = 0; i < CNNVP_LAYER_POSTS; ++i) {
        const int first = i == 0 && from->op == CNNVP_OP_ACTIVATION;
        const uint32_t bytes = first ? cnnvp_graph_word_bytes(graph, from->in) : result_bytes(graph, from, i);
        to->posts[i].format = pack_words(bytes, CNNVP_WORD_BYTES, result_bytes(graph, from, i + 1u));
    }
}

/* Descriptor register `limits` of the write-out: the limits of all posts that it applies, combined. */
static uint32_t pack_limits(const struct cnnvp_layer *layer)
{
    int32_t low = INT16_MIN, high = INT16_MAX;
    for (uint32_t i = 0; i < layer->post_count; ++i) {
        const int32_t value = layer->posts[i].value;
        if (!cnnvp_is_written_out(layer, i) || layer->posts[i].kind == CNNVP_POST_TABLE)
            continue;
        const int maximum = layer->posts[i].kind == CNNVP_POST_MAX;
        low = (low > value) == maximum ? low : value;
        high = (high > value) == maximum ? high : value;
    }
    return cnnvp_pack((uint32_t)low & 0xffffu, (uint32_t)high);
}

/* A comparison of scores with infinity: between the largest one and the words of masks, of which the format has twice
 * as much (cnnvp_floatref_scores). */
static struct cnnvp_graph_post compared_post(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                                             const struct cnnvp_graph_post *post)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
    struct cnnvp_graph_post compared = *post;
    if (in->scores != 0 && cnnvp_graph_asks_infinity(layer) && post == layer->posts)
        compared.value = copysignf(0.75f * in->max_abs, post->value);
    return compared;
}

static cnnvp_result format_posts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *from,
                                 uint32_t rounding, struct cnnvp_arena *arena, struct cnnvp_layer *to, int16_t **table,
                                 struct cnnvp_error *error)
{
    int32_t frac = from->pre_frac;
    const int32_t zero = cnnvp_graph_word_zero(graph, from->out);
    for (uint32_t i = 0; i < to->post_count; ++i) {
        struct cnnvp_layer_post *post = &to->posts[i];
        if (cnnvp_graph_converts(from))
            post->format = pack_format(cnnvp_formats_shift(from->dropped), 0, rounding) | words_of(post->format);
        if (post->kind != CNNVP_POST_TABLE) {
            post->value = cnnvp_quantise(from->posts[i].value, frac) + zero;
            post->value = post->value < INT16_MIN ? INT16_MIN : post->value;
            continue;
        }
        const int32_t out_frac = graph->tensors[from->out].frac;
        *table = cnnvp_arena_array(arena, post->table_words, sizeof **table);
        CNNVP_TRY_MEMORY(*table != NULL, error);
        uint32_t format = 0;
        const struct cnnvp_graph_post compared = compared_post(graph, from, &from->posts[i]);
        if (cnnvp_graph_is_quantised_function(from))
            cnnvp_quantised_table(from, cnnvp_graph_word_zero(graph, from->in), zero, *table);
        else
            CNNVP_TRY(cnnvp_post_table(&compared, from->pre_max_abs, frac, out_frac, rounding, *table, &format, error));
        post->format = format | words_of(post->format);
        frac = out_frac;
    }
    to->limits = to->clips != 0 ? pack_limits(to) : 0;
    return CNNVP_DONE;
}

/* The part of a tensor that a placed copy writes to, or a cropped copy reads. The rest counts as its frame. */
static struct cnnvp_tensor part_of(const struct cnnvp_tensor *whole, uint32_t row, uint32_t column, uint32_t height,
                                   uint32_t width)
{
    struct cnnvp_tensor part = *whole;
    part.address += (row * whole->row_stride + column) << whole->word_shift;
    part.height = height;
    part.width = width;
    part.border_top += row;
    part.border_left += column;
    part.border_bottom += whole->height - row - height;
    part.border_right += whole->width - column - width;
    return part;
}

/* 1: the tensors have words in common. Views of channels with a step have none with others. */
static int share_words(const struct cnnvp_graph *graph, int32_t a, int32_t b)
{
    if (graph->tensors[a].channel_step > 1 || graph->tensors[b].channel_step > 1)
        return a == b;
    const size_t from_a = cnnvp_graph_offset(graph, a), from_b = cnnvp_graph_offset(graph, b);
    return cnnvp_graph_base(graph, a) == cnnvp_graph_base(graph, b) &&
           from_a < from_b + cnnvp_graph_words(&graph->tensors[b]) &&
           from_b < from_a + cnnvp_graph_words(&graph->tensors[a]);
}

/* 1: the frame of the layer's output on chip has to be filled with zeros. Only the first layer that writes to the
 * tensor or to a view of it does that: what others wrote may lie in the frame. */
static int needs_fill(const struct cnnvp_graph *graph, const struct cnnvp_tensor *out, size_t index)
{
    if (cnnvp_graph_is_output(graph, graph->layers[index].out))
        return 0; /* it goes to memory */
    if (out->border_top + out->border_left + out->border_bottom + out->border_right == 0)
        return 0;
    for (size_t i = 0; i < index; ++i)
        if (share_words(graph, graph->layers[i].out, graph->layers[index].out))
            return 0;
    return 1;
}

void cnnvp_binary_refer_to_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build, size_t index)
{
    const struct cnnvp_graph_layer *from = &graph->layers[index];
    struct cnnvp_layer *to = &build->layers[index];
    to->in = build->tensors[from->in];
    to->out = build->tensors[from->out];
    if (from->cropped != 0)
        to->in = part_of(&to->in, from->crop_row, from->crop_column, from->crop_height, from->crop_width);
    if (from->op == CNNVP_OP_FC) {
        to->in.width *= to->in.channels * to->in.height;
        to->in.channels = to->in.height = 1;
    }
    if (from->placed != 0)
        to->out = part_of(&to->out, from->place_row, from->place_column, to->in.height, to->in.width);
    if (from->in2 != CNNVP_GRAPH_NONE)
        to->in2 = build->tensors[from->in2];
}

/* A shift that makes every mean 0. */
#define MEAN_OF_ZERO 63

/* See layer.h for the formats: F is the fraction bits `data`, I `inverse`, S `scale`, G weight_frac, O offset_frac. */
static struct cnnvp_layer_norm_data describe_norm(const struct cnnvp_graph *graph,
                                                  const struct cnnvp_graph_layer *layer, uint32_t rounding)
{
    const uint32_t words = pack_words(cnnvp_graph_word_bytes(graph, layer->in), 2u, 2u);
    const int32_t data = graph->tensors[layer->in].frac;
    const int32_t inverse = layer->inverse_frac;
    const int32_t scale = layer->scale_frac;
    return (struct cnnvp_layer_norm_data){
        .epsilon = cnnvp_formats_epsilon(layer->epsilon, data),
        .mean =
            (layer->about_zero ? pack_format(MEAN_OF_ZERO, 0, CNNVP_ROUNDING_NEAREST) : pack_format(0, 0, rounding)) |
            words,
        .inverse = pack_format(-(data + inverse), 0, rounding) | words,
        .scale = pack_format(layer->weight_frac + inverse - scale, 0, rounding),
        .product = pack_format(data + scale - layer->offset_frac, 0, rounding),
        .offset = pack_format(0, 0, rounding),
    };
}

/* Registers of an average that scales its sums, or of an addition that scales its operands. */
static struct cnnvp_layer_operands describe_operands(const struct cnnvp_graph *graph,
                                                     const struct cnnvp_graph_layer *layer)
{
    if (layer->op == CNNVP_OP_POOL) {
        const uint32_t area = layer->kx * layer->ky;
        return (struct cnnvp_layer_operands){
            .a = 0u - area * (uint32_t)cnnvp_graph_word_zero(graph, layer->in),
            .divisor = cnnvp_float_bits(layer->steps.in / (layer->steps.out * (float)area))};
    }
    const uint32_t a = (uint32_t)cnnvp_graph_word_zero(graph, layer->in) & 0xffu;
    const uint32_t b = (uint32_t)cnnvp_graph_word_zero(graph, layer->in2) & 0xffu;
    return (struct cnnvp_layer_operands){
        cnnvp_float_bits(layer->steps.in),
        cnnvp_float_bits(layer->steps.in2),
        cnnvp_float_bits(layer->steps.out),
        a | b << 8 | (uint32_t)layer->steps.centre << 16,
        {0, 0}};
}

void cnnvp_binary_describe_layer(const struct cnnvp_graph *graph, size_t index,
                                 const struct cnnvp_binary_options *options, struct cnnvp_build *build)
{
    const struct cnnvp_graph_layer *from = &graph->layers[index];
    struct cnnvp_layer *to = &build->layers[index];
    *to = (struct cnnvp_layer){
        .op = (uint32_t)from->op,
        .tag = (uint32_t)index + 1u,
        .tile_images = 1,
        .kx = from->kx,
        .ky = from->ky,
        .sx = from->sx,
        .sy = from->sy,
        .dx = from->dx,
        .dy = from->dy,
        .pad_top = from->pad_top,
        .pad_left = from->pad_left,
        .depthwise = from->depthwise,
        .product = from->product,
        .bias = from->has_bias != 0 && from->op != CNNVP_OP_NORM,
        .pool = (uint32_t)from->pool,
        .pool_area = from->op == CNNVP_OP_POOL ? from->kx * from->ky
                     : from->product != 0      ? CNNVP_NOT_FOLDED
                                               : 0,
        .by_position = from->by_position,
        .count_top = from->count_top,
        .count_bottom = from->count_bottom,
        .count_left = from->count_left,
        .count_right = from->count_right,
        .arithmetic = (uint32_t)from->arithmetic,
        .axis = (uint32_t)from->axis,
        .permuted = from->permuted,
        .from = {from->from[0], from->from[1], from->from[2]},
        .norm = (uint32_t)from->norm,
        .format = pack_format(0, 0, options->rounding) |
                  pack_words(cnnvp_graph_word_bytes(graph, from->in), weight_bytes(graph, from),
                             result_bytes(graph, from, 0)),
        .seed = options->seed * 0x9e3779b1u + (uint32_t)index * 0x85ebca77u,
    };
    cnnvp_binary_refer_to_tensors(graph, build, index);
    describe_posts(graph, from, to);
    if (from->op == CNNVP_OP_NORM && from->norm != CNNVP_NORM_STORED)
        to->norm_data = describe_norm(graph, from, options->rounding);
    if ((from->op == CNNVP_OP_ADD || from->op == CNNVP_OP_POOL) && from->steps.out > 0.0f)
        to->operands = describe_operands(graph, from);
}

static cnnvp_result format_layer(const struct cnnvp_graph *graph, size_t index, uint32_t rounding,
                                 struct cnnvp_build *build, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *from = &graph->layers[index];
    const uint32_t rounds = from->nearest ? (uint32_t)CNNVP_ROUNDING_NEAREST : rounding;
    struct cnnvp_layer *to = &build->layers[index];
    int32_t shift, bias_shift;
    cnnvp_formats_shifts(graph, from, &shift, &bias_shift);
    if (to->bias == CNNVP_SCALE_WORDS)
        shift = bias_shift = 0;
    to->format = pack_format(shift, bias_shift, rounds) | words_of(to->format);
    if (from->op != CNNVP_OP_ACTIVATION && !cnnvp_graph_moves(from))
        to->format |= pack_zero(to->out.zero);
    if (from->op == CNNVP_OP_NORM && from->norm != CNNVP_NORM_STORED)
        to->norm_data = describe_norm(graph, from, rounding);
    return format_posts(graph, from, rounding, &build->arena, to, &build->tables[index], error);
}

cnnvp_result cnnvp_binary_format_layers(const struct cnnvp_graph *graph, uint32_t rounding, struct cnnvp_build *build,
                                        struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        CNNVP_TRY(format_layer(graph, i, rounding, build, error));
    return CNNVP_DONE;
}

void cnnvp_binary_emit_layers(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        build->entries[i] = (struct cnnvp_binary_layer){
            .plan = build->layers[i], .fill = (uint32_t)needs_fill(graph, &build->layers[i].out, i)};
    if (build->groups != NULL)
        cnnvp_groups_complete(graph, build);
}
