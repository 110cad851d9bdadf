/* SPDX-License-Identifier: Apache-2.0 */
/* The calculations of a layer's tiles as instructions: what the guest software pushes, and what the planner asks the
 * units about. Addresses, strides of the input and seeds are the caller's. */
#ifndef CNNVP_LAYER_COMMAND_H
#define CNNVP_LAYER_COMMAND_H

#include "cnnvp_command.h"
#include "cnnvp_isa.h"
#include "layer.h"

struct cnnvp_operation {
    enum cnnvp_opcode opcode;
    uint32_t status;
};

/* The bit `clip`, which stands at the same place for all instructions. */
static inline uint32_t cnnvp_clip_status(uint32_t clips)
{
    return (clips != 0 ? 1u : 0u) << CNNVP_STATUS_conv_clip;
}

/* 1: the write-out of the instruction before it does this post; 0: it takes a pass of the vector unit. */
static inline int cnnvp_is_written_out(const struct cnnvp_layer *layer, uint32_t post)
{
    const uint32_t first = layer->op == CNNVP_OP_ACTIVATION;
    const uint32_t added = layer->added.first_post;
    return (post >= first && post - first < layer->clips) || (post >= added && post - added < layer->added.clips);
}

/* Of a conv or matmul instruction: partial sums are kept from slice to slice of the input depth, the last one rounds.
 * The fields stand at the same places for both. */
static inline uint32_t cnnvp_slice_status(const struct cnnvp_layer *layer, int first, int last)
{
    uint32_t status = (first ? 0u : 1u) << CNNVP_STATUS_conv_update;
    status |= (last ? 0u : 1u) << CNNVP_STATUS_conv_partial;
    status |= (last && layer->bias ? 1u : 0u) << CNNVP_STATUS_conv_bias;
    return last ? status | cnnvp_clip_status(layer->clips) : status;
}

/* That status of a layer whose results may be scaled: these have no bias. */
static inline uint32_t cnnvp_scaled_status(const struct cnnvp_layer *layer, uint32_t status)
{
    const int scaled = layer->bias > 1u && (status >> CNNVP_STATUS_conv_bias & 1u) != 0;
    return scaled ? status ^ (1u << CNNVP_STATUS_conv_bias | 1u << CNNVP_STATUS_conv_scale) : status;
}

/* Words of weights that an output of a slice of this many inputs has. All outputs' follow each other, then biases or
 * scales. */
static inline uint32_t cnnvp_output_weights(const struct cnnvp_layer *layer, uint32_t in)
{
    const uint32_t taps = layer->op == CNNVP_OP_CONV ? layer->kx * layer->ky : 1u;
    return layer->depthwise ? taps : in * taps;
}

/* Where 16-bit words may follow so many bytes. */
static inline uint32_t cnnvp_even(uint32_t bytes)
{
    return (bytes + 1u) & ~1u;
}

/* Bytes of so many weights of a weight tile, after which biases or a table follow. */
static inline uint32_t cnnvp_weight_bytes(const struct cnnvp_layer *layer, uint32_t weights)
{
    return cnnvp_even(weights * cnnvp_format_bytes(layer->format, CNNVP_NARROW_B));
}

/* The instruction that sweeps the windows of a conv or pool layer, on the unit that the layer names. `first` and `last`
 * of the input's slices; of a pooling window's parts. */
static inline struct cnnvp_operation cnnvp_window_operation(const struct cnnvp_layer *layer, int first, int last)
{
    const int on_vector = layer->unit == CNNVP_UNIT_VECTOR;
    if (layer->op == CNNVP_OP_CONV)
        return (struct cnnvp_operation){
            on_vector ? CNNVP_OPCODE_vconv : CNNVP_OPCODE_conv,
            cnnvp_slice_status(layer, first, last) | (layer->depthwise ? 1u : 0u) << CNNVP_STATUS_conv_depthwise};
    const uint32_t sum = layer->pool == CNNVP_POOL_AVERAGE;
    const uint32_t update = first ? CNNVP_UPDATE_INITIALISE : sum ? CNNVP_UPDATE_ACCUMULATE : CNNVP_UPDATE_MAXIMISE;
    return (struct cnnvp_operation){on_vector ? CNNVP_OPCODE_vpool : CNNVP_OPCODE_pool,
                                    sum << CNNVP_STATUS_pool_sum | update << CNNVP_STATUS_pool_update |
                                        (sum ? 0 : cnnvp_clip_status(layer->clips))};
}

/* Where a pooling step of this many results keeps sums: after the maxima of the window's parts before, if there are. */
static inline uint32_t cnnvp_pool_sums_at(const struct cnnvp_layer *layer, int first, uint32_t words)
{
    if (layer->pool == CNNVP_POOL_AVERAGE || first)
        return 0;
    const uint32_t bytes = words * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
    return cnnvp_even(bytes);
}

/* Rows and columns of the window that are swept at once. */
static inline uint32_t cnnvp_window_rows(const struct cnnvp_layer *layer)
{
    return layer->tile_ky != 0 ? layer->tile_ky : layer->ky;
}

static inline uint32_t cnnvp_window_columns(const struct cnnvp_layer *layer)
{
    return layer->tile_kx != 0 ? layer->tile_kx : layer->kx;
}

/* A window of kx columns and ky rows over this many positions; results are dense. All members: nothing need be cleared.
 */
static inline struct cnnvp_window cnnvp_layer_window(const struct cnnvp_layer *layer, uint32_t kx, uint32_t ky,
                                                     uint32_t rows, uint32_t columns)
{
    return (struct cnnvp_window){
        .in_addr = 0,
        .in_row_stride = 0,
        .in_channel_stride = 0,
        .in_channels = 0,
        .out_channels = 0,
        .out_h = rows,
        .out_w = columns,
        .kernel = cnnvp_pack(kx, ky),
        .stride = cnnvp_pack(layer->sx, layer->sy),
        .dilation = cnnvp_pack(layer->dx, layer->dy),
        .weight_addr = 0,
        .bias_addr = 0,
        .out_addr = 0,
        .acc_addr = 0,
        .out_channel_stride = rows * columns,
        .format = layer->format,
        .valid_rows = 0,
        .valid_cols = 0,
        .seed = 0,
        .limits = layer->limits,
    };
}

/* 1: the write-out of its conv takes results through a table. */
static inline uint32_t cnnvp_is_tabled(const struct cnnvp_layer *layer)
{
    return layer->format >> CNNVP_TABLED_LSB & 1u;
}

/* Where the table of such a layer is, after the biases of the window's outputs. */
static inline void cnnvp_set_table(const struct cnnvp_layer *layer, struct cnnvp_window *window)
{
    const struct cnnvp_layer_post *post = &layer->posts[layer->clips - 1u];
    window->valid_rows = window->bias_addr + layer->bias * window->out_channels * CNNVP_WORD_BYTES;
    window->valid_cols = cnnvp_pack(
        (post->table_words - CNNVP_TABLE_HEADER / CNNVP_WORD_BYTES) / 2u, (uint32_t)(int8_t)(post->format & 0xffu));
}

/* The layer's windows are one word each, and its positions one row, such as tokens: the words of a tile lie side by
 * side, in as many rows as one likes. */
static inline int cnnvp_is_row(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_CONV && layer->depthwise == 0 && layer->kx * layer->ky == 1u &&
           layer->sx * layer->sy == 1u && layer->in.height == 1u && layer->out.height == 1u &&
           layer->in.width == layer->out.width && layer->pad_left == 0;
}

/* The part of a row of this many positions that is taken at once: a multiple of `folded`, then what is left. All of it
 * where there are partial sums, which the results of a first part would overwrite. */
static inline uint32_t cnnvp_row_part(const struct cnnvp_layer *layer, uint32_t columns)
{
    return columns > layer->folded && layer->tile_in == layer->in.channels
               ? columns - columns % layer->folded
               : columns;
}

/* Such a part, if it is a multiple, as rows of `folded` positions, which keep all PEs of an array busy. */
static inline void cnnvp_fold_row(const struct cnnvp_layer *layer, uint32_t part, struct cnnvp_window *window)
{
    window->out_w = part % layer->folded == 0 ? layer->folded : part;
    window->out_h = part / window->out_w;
    window->in_row_stride = window->out_w;
}

/* An elementwise layer: both operands from the input buffer; or an addition to a convolution's results. */
static inline struct cnnvp_operation cnnvp_arithmetic_operation(const struct cnnvp_layer *layer)
{
    static const enum cnnvp_opcode opcodes[] = {
        [CNNVP_ARITHMETIC_ADD] = CNNVP_OPCODE_vadd, [CNNVP_ARITHMETIC_SUB] = CNNVP_OPCODE_vsub,
        [CNNVP_ARITHMETIC_MUL] = CNNVP_OPCODE_vmac, [CNNVP_ARITHMETIC_DIV] = CNNVP_OPCODE_vdiv,
        [CNNVP_ARITHMETIC_MAX] = CNNVP_OPCODE_vcmp, [CNNVP_ARITHMETIC_MIN] = CNNVP_OPCODE_vcmp};
    const uint32_t minimum = layer->arithmetic == CNNVP_ARITHMETIC_MIN;
    const uint32_t scale = layer->operands.divisor != 0;
    return (struct cnnvp_operation){
        opcodes[layer->arithmetic],
        1u << CNNVP_STATUS_vadd_store | minimum << CNNVP_STATUS_vcmp_minimum | scale << CNNVP_STATUS_vadd_scale |
            cnnvp_clip_status(layer->added.tag != 0 ? layer->added.clips : layer->clips)};
}

/* What its descriptor has but for addresses, strides and counts. */
static inline struct cnnvp_vector cnnvp_arithmetic_vector(const struct cnnvp_layer *layer, uint32_t seed)
{
    const int added = layer->added.tag != 0;
    return (struct cnnvp_vector){
        .c_addr = layer->operands.a,
        .c_repeat = layer->operands.b,
        .immediate = layer->operands.divisor,
        .format = added ? layer->added.format : layer->format,
        .seed = layer->operands.divisor != 0 ? layer->operands.zeros : seed,
        .limits = added ? layer->added.limits : layer->limits};
}

/* Where an addition to a convolution's results takes its operands from: these lie in the output buffer. */
static inline uint32_t cnnvp_addition_sources(const struct cnnvp_layer *layer)
{
    return 2u << (layer->added.second != 0 ? CNNVP_STATUS_vadd_b : CNNVP_STATUS_vadd_a);
}

/* Those of a tile whose dimensions change places, by the results' dimensions. */
static inline struct cnnvp_strides cnnvp_permuted_strides(const struct cnnvp_layer *layer, struct cnnvp_strides tile)
{
    const uint32_t strides[3] = {tile.channel, tile.row, tile.column};
    return (struct cnnvp_strides){strides[layer->from[0]], strides[layer->from[1]], strides[layer->from[2]]};
}

/* Those of an operand's tile: dimensions of 1 count for all positions. */
static inline struct cnnvp_strides cnnvp_spread_strides(const struct cnnvp_tensor *operand,
                                                        const struct cnnvp_tensor *out, struct cnnvp_strides tile)
{
    return (struct cnnvp_strides){
        operand->channels < out->channels ? 0 : tile.channel, operand->height < out->height ? 0 : tile.row,
        operand->width < out->width ? 0 : tile.column};
}

/* Words of a plane follow each other, or one word counts for all of them. */
static inline int cnnvp_is_plane(const struct cnnvp_strides *tile, uint32_t rows, uint32_t columns)
{
    return rows == 1 || tile->row == columns * tile->column;
}

/* Sets counts and strides of an elementwise instruction over a box of dense results. How many of them the box takes:
 * one a channel where its first row does not follow the last row of the one before as rows follow each other. */
static inline uint32_t cnnvp_elementwise(const struct cnnvp_strides *a, const struct cnnvp_strides *b,
                                         uint32_t channels, uint32_t rows, uint32_t columns,
                                         struct cnnvp_vector *vector)
{
    const struct cnnvp_strides *second = b != NULL ? b : a;
    const uint32_t plane = rows * columns;
    vector->a_stride = a->column;
    vector->b_stride = b != NULL ? b->column : vector->b_stride;
    if (cnnvp_is_plane(a, rows, columns) && cnnvp_is_plane(second, rows, columns)) {
        const int dense = a->column == 1 && a->channel == plane && second->column == 1 && second->channel == plane;
        vector->count = dense ? channels * plane : plane;
        vector->repeat = dense ? 1u : channels;
        vector->a_repeat = dense ? 0 : a->channel;
        vector->b_repeat = dense || b == NULL ? 0 : b->channel;
        vector->out_repeat = dense ? 0 : plane;
        return 1;
    }
    const int rows_follow = a->channel == rows * a->row && second->channel == rows * second->row;
    vector->count = vector->out_repeat = columns;
    vector->repeat = rows_follow ? channels * rows : rows;
    vector->a_repeat = a->row;
    vector->b_repeat = b != NULL ? b->row : vector->b_repeat;
    return rows_follow ? 1u : channels;
}

/* Batch normalisation, one after the other: stored statistics take the last alone. mean, variance and transform are
 * over all words of each channel, the three between them over the channels. */
enum cnnvp_norm_step {
    CNNVP_NORM_MEAN,
    CNNVP_NORM_VARIANCE,
    CNNVP_NORM_SCALE,
    CNNVP_NORM_PRODUCT,
    CNNVP_NORM_OFFSET,
    CNNVP_NORM_TRANSFORM,
    CNNVP_NORM_STEPS
};

static inline struct cnnvp_operation cnnvp_norm_operation(const struct cnnvp_layer *layer, enum cnnvp_norm_step step)
{
    const uint32_t of_data = layer->norm != CNNVP_NORM_STORED ? 2u : 1u;
    const uint32_t multiply = 1u << CNNVP_STATUS_vmac_store | 2u << CNNVP_STATUS_vmac_b;
    const uint32_t sums = layer->norm_parts != 0 ? 3u << CNNVP_STATUS_vmean_a | 1u << CNNVP_STATUS_vmean_sums : 0;
    switch (step) {
    case CNNVP_NORM_MEAN:
        return (struct cnnvp_operation){CNNVP_OPCODE_vmean, sums};
    case CNNVP_NORM_VARIANCE:
        return (struct cnnvp_operation){CNNVP_OPCODE_vvar, 2u << CNNVP_STATUS_vvar_b | sums};
    case CNNVP_NORM_SCALE:
        return (struct cnnvp_operation){CNNVP_OPCODE_vmac, multiply | 1u << CNNVP_STATUS_vmac_a};
    case CNNVP_NORM_PRODUCT:
        return (struct cnnvp_operation){CNNVP_OPCODE_vmac, multiply | 2u << CNNVP_STATUS_vmac_a};
    case CNNVP_NORM_OFFSET:
        return (struct cnnvp_operation){
            CNNVP_OPCODE_vsub, 1u << CNNVP_STATUS_vsub_store | 1u << CNNVP_STATUS_vsub_a | 2u << CNNVP_STATUS_vsub_b};
    default:
        return (struct cnnvp_operation){
            CNNVP_OPCODE_vnorm,
            of_data << CNNVP_STATUS_vnorm_b | 1u << CNNVP_STATUS_vnorm_store | cnnvp_clip_status(layer->clips)};
    }
}

/* Their descriptor registers `format`: vectors of one word a channel have 16 bits. */
static inline uint32_t cnnvp_norm_format(const struct cnnvp_layer *layer, enum cnnvp_norm_step step)
{
    const struct cnnvp_layer_norm_data *formats = &layer->norm_data;
    switch (step) {
    case CNNVP_NORM_MEAN:
        return formats->mean;
    case CNNVP_NORM_VARIANCE:
        return formats->inverse;
    case CNNVP_NORM_SCALE:
        return formats->scale;
    case CNNVP_NORM_PRODUCT:
        return formats->product;
    case CNNVP_NORM_OFFSET:
        return formats->offset;
    default:
        return layer->format;
    }
}

/* P + A, or P + A^2, over the parts of channels (S002): sums at acc_addr, [channel][part]. */
static inline struct cnnvp_operation cnnvp_sums_operation(int squares)
{
    return (struct cnnvp_operation){
        CNNVP_OPCODE_step, (squares ? 2u : 0u) << CNNVP_STATUS_step_multiply | 1u << CNNVP_STATUS_step_partial};
}

static inline uint32_t cnnvp_norm_part_count(const struct cnnvp_layer *layer)
{
    return (layer->norm_parts & 0xffffu) * (layer->norm_parts >> 16);
}

static inline struct cnnvp_window cnnvp_sums_window(const struct cnnvp_layer *layer, uint32_t channels)
{
    const uint32_t columns = layer->norm_parts & 0xffffu;
    const uint32_t rows = layer->norm_parts >> 16;
    const uint32_t kernel = cnnvp_pack(layer->in.width / columns, layer->in.height / rows);
    return (struct cnnvp_window){
        .in_row_stride = layer->in.width,
        .in_channel_stride = layer->in.width * layer->in.height,
        .in_channels = channels,
        .out_channels = channels,
        .out_h = rows,
        .out_w = columns,
        .kernel = kernel,
        .stride = kernel,
        .dilation = cnnvp_pack(1, 1),
        .out_channel_stride = rows * columns,
        .format = layer->format & (uint32_t)CNNVP_NARROW_A << CNNVP_NARROW_LSB,
    };
}

/* The register `format` of a vector instruction that takes a layer's partial sums. */
static inline uint32_t cnnvp_sums_format(const struct cnnvp_layer *layer, uint32_t format)
{
    return format | layer->sum_bytes / CNNVP_WORD_BYTES << CNNVP_SLOT_LSB;
}

/* A vector instruction over elements becomes one over the sums of parts, which lie at 0, those of squares after them.
 */
static inline struct cnnvp_vector cnnvp_sums_vector(const struct cnnvp_layer *layer, enum cnnvp_norm_step step,
                                                    const struct cnnvp_vector *elements)
{
    struct cnnvp_vector vector = *elements;
    const uint32_t parts = cnnvp_norm_part_count(layer);
    vector.a_addr = 0;
    vector.a_repeat = vector.c_repeat = parts;
    vector.c_addr = vector.repeat * parts * layer->sum_bytes;
    vector.format = cnnvp_sums_format(layer, vector.format);
    vector.b_stride = elements->count;
    vector.immediate = step == CNNVP_NORM_MEAN ? elements->count : elements->immediate;
    vector.count = parts;
    return vector;
}

/* A function of each word that comes from operand a; sets the vector's constant and format. A table is read from the
 * weight buffer. */
static inline struct cnnvp_operation cnnvp_post_operation(const struct cnnvp_layer_post *post,
                                                          struct cnnvp_vector *vector)
{
    vector->format = post->format;
    if (post->kind == CNNVP_POST_TABLE)
        return (struct cnnvp_operation){CNNVP_OPCODE_vact, 1u << CNNVP_STATUS_vact_b};
    vector->immediate = (uint32_t)post->value;
    const uint32_t minimum = post->kind == CNNVP_POST_MIN;
    return (struct cnnvp_operation){CNNVP_OPCODE_vcmp, 3u << CNNVP_STATUS_vcmp_b | 1u << CNNVP_STATUS_vcmp_store |
                                                           minimum << CNNVP_STATUS_vcmp_minimum};
}

#endif
