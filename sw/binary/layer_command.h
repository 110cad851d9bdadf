/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a layer's tiles into instructions: opcode, status bits and descriptor. The guest pushes them; the planner
 * asks the units what they cost. The caller adds addresses, input strides and seeds. */
#ifndef CNNVP_LAYER_COMMAND_H
#define CNNVP_LAYER_COMMAND_H

#include "cnnvp_command.h"
#include "cnnvp_isa.h"
#include "layer.h"

struct cnnvp_operation {
    enum cnnvp_opcode opcode;
    uint32_t status;
};

/* The status bit `clip`. All instructions have it at the same place. */
static inline uint32_t cnnvp_clip_status(uint32_t clips)
{
    return (clips != 0 ? 1u : 0u) << CNNVP_STATUS_conv_clip;
}

/* 1: the write-out of the layer's (or addition's) instruction does this post-operation; 0: it takes a pass of the
 * vector unit. */
static inline int cnnvp_is_written_out(const struct cnnvp_layer *layer, uint32_t post)
{
    const uint32_t first = layer->op == CNNVP_OP_ACTIVATION;
    const uint32_t added = layer->added.first_post;
    return (post >= first && post - first < layer->clips) || (post >= added && post - added < layer->added.clips);
}

/* Status of a conv or matmul instruction for one input slice. Partial sums are kept from slice to slice; the last slice
 * adds the bias and rounds. Both instructions have these fields at the same places. */
static inline uint32_t cnnvp_slice_status(const struct cnnvp_layer *layer, int first, int last)
{
    uint32_t status = (first ? 0u : 1u) << CNNVP_STATUS_conv_update;
    status |= (last ? 0u : 1u) << CNNVP_STATUS_conv_partial;
    status |= (last && layer->bias ? 1u : 0u) << CNNVP_STATUS_conv_bias;
    return last ? status | cnnvp_clip_status(layer->clips) : status;
}

/* The same status, for a layer whose results may be scaled. Scaled layers have `scale` in place of `bias`. */
static inline uint32_t cnnvp_scaled_status(const struct cnnvp_layer *layer, uint32_t status)
{
    const int scaled = layer->bias > 1u && (status >> CNNVP_STATUS_conv_bias & 1u) != 0;
    return scaled ? status ^ (1u << CNNVP_STATUS_conv_bias | 1u << CNNVP_STATUS_conv_scale) : status;
}

/* Weight words per output in a slice of `in` inputs. In a weight tile the weights of all outputs come first, then
 * biases or scales. */
static inline uint32_t cnnvp_output_weights(const struct cnnvp_layer *layer, uint32_t in)
{
    const uint32_t taps = layer->op == CNNVP_OP_CONV ? layer->kx * layer->ky : 1u;
    return layer->depthwise ? taps : in * taps;
}

/* Rounds up to the next multiple of 2, where 16-bit words may begin. */
static inline uint32_t cnnvp_even(uint32_t bytes)
{
    return (bytes + 1u) & ~1u;
}

/* Bytes that `weights` weights take in a weight tile, before biases or a table. */
static inline uint32_t cnnvp_weight_bytes(const struct cnnvp_layer *layer, uint32_t weights)
{
    return cnnvp_even(weights * cnnvp_format_bytes(layer->format, CNNVP_NARROW_B));
}

/* The instruction that sweeps a conv layer's windows, on the layer's unit. `first` and `last`: whether this is the
 * first and the last input slice. */
static inline struct cnnvp_operation cnnvp_conv_operation(const struct cnnvp_layer *layer, int first, int last)
{
    return (struct cnnvp_operation){
        layer->unit == CNNVP_UNIT_VECTOR ? CNNVP_OPCODE_vconv : CNNVP_OPCODE_conv,
        cnnvp_slice_status(layer, first, last) | (layer->depthwise ? 1u : 0u) << CNNVP_STATUS_conv_depthwise};
}

/* The same for a pool layer. `first`: whether this is the window's first part. */
static inline struct cnnvp_operation cnnvp_pool_operation(const struct cnnvp_layer *layer, int first)
{
    const uint32_t sum = layer->pool == CNNVP_POOL_AVERAGE;
    const uint32_t update = first ? CNNVP_UPDATE_INITIALISE : sum ? CNNVP_UPDATE_ACCUMULATE : CNNVP_UPDATE_MAXIMISE;
    return (struct cnnvp_operation){layer->unit == CNNVP_UNIT_VECTOR ? CNNVP_OPCODE_vpool : CNNVP_OPCODE_pool,
                                    sum << CNNVP_STATUS_pool_sum | update << CNNVP_STATUS_pool_update |
                                        (sum ? 0 : cnnvp_clip_status(layer->clips))};
}

/* One of the two. */
static inline struct cnnvp_operation cnnvp_window_operation(const struct cnnvp_layer *layer, int first, int last)
{
    return layer->op == CNNVP_OP_CONV ? cnnvp_conv_operation(layer, first, last) : cnnvp_pool_operation(layer, first);
}

/* Offset of the partial sums of a pooling step with `words` results. Maxima of the window's earlier parts lie before
 * them. */
static inline uint32_t cnnvp_pool_sums_at(const struct cnnvp_layer *layer, int first, uint32_t words)
{
    if (layer->pool == CNNVP_POOL_AVERAGE || first)
        return 0;
    const uint32_t bytes = words * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
    return cnnvp_even(bytes);
}

/* Rows and columns of a pooling window that one instruction sweeps. */
static inline uint32_t cnnvp_window_rows(const struct cnnvp_layer *layer)
{
    return layer->tile_ky != 0 ? layer->tile_ky : layer->ky;
}

static inline uint32_t cnnvp_window_columns(const struct cnnvp_layer *layer)
{
    return layer->tile_kx != 0 ? layer->tile_kx : layer->kx;
}

/* Descriptor of a window of kx columns and ky rows over rows x columns positions, with dense results. Every member is
 * set, so that the compiler emits no clearing. */
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

/* 1: the write-out of the layer's conv passes results through a table. */
static inline uint32_t cnnvp_is_tabled(const struct cnnvp_layer *layer)
{
    return layer->format >> CNNVP_TABLED_LSB & 1u;
}

/* 1: the write-out of the layer's conv adds its results to the operand in2. */
static inline uint32_t cnnvp_is_added(const struct cnnvp_layer *layer)
{
    return layer->added.tag != 0 && layer->added.written_out != CNNVP_ADDED_BY_VECTOR;
}

/* Offset in the output half of the results of a step with `words` words: after the partial sums, which must not
 * overwrite words that results are added to. */
static inline uint32_t cnnvp_added_at(const struct cnnvp_layer *layer, uint32_t words)
{
    const uint32_t inputs = layer->depthwise ? layer->tile_in : layer->in.channels;
    return cnnvp_is_added(layer) && (layer->added.written_out == CNNVP_ADDED_BEHIND_SUMS || layer->tile_in < inputs)
               ? words * layer->sum_bytes
               : 0;
}

/* Makes the instruction of such a layer add. */
static inline void cnnvp_set_addition(const struct cnnvp_layer *layer, struct cnnvp_window *window)
{
    window->format |= 1u << CNNVP_ADDED_LSB;
    window->seed = layer->added.format | layer->added.second << CNNVP_SWAPPED_LSB |
                   (layer->operands.divisor != 0 ? 1u << CNNVP_SCALED_LSB : 0);
}

/* Sets where the table of such a layer lies: after the biases of the window's outputs. */
static inline void cnnvp_set_table(const struct cnnvp_layer *layer, struct cnnvp_window *window)
{
    const struct cnnvp_layer_post *post = &layer->posts[layer->clips - 1u];
    window->valid_rows = window->bias_addr + layer->bias * window->out_channels * CNNVP_WORD_BYTES;
    window->valid_cols = cnnvp_pack(
        (post->table_words - CNNVP_TABLE_HEADER / CNNVP_WORD_BYTES) / 2u, (uint32_t)(int8_t)(post->format & 0xffu));
}

/* 1: a 1x1 convolution, stride 1, over a single row of positions, such as tokens. Its tile is contiguous, so it may be
 * folded into any number of rows. */
static inline int cnnvp_is_row(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_CONV && layer->depthwise == 0 && layer->kx * layer->ky == 1u &&
           layer->sx * layer->sy == 1u && layer->in.height == 1u && layer->out.height == 1u &&
           layer->in.width == layer->out.width && layer->pad_left == 0;
}

/* Positions to take next of a row that has `columns` left: the largest multiple of `folded`, then the rest. With
 * partial sums the whole row is taken at once, because results of a first part would overwrite sums. */
static inline uint32_t cnnvp_row_part(const struct cnnvp_layer *layer, uint32_t columns)
{
    return columns > layer->folded && layer->tile_in == layer->in.channels
               ? columns - columns % layer->folded
               : columns;
}

/* Folds such a part into rows of `folded` positions, which keep all PEs of the array busy. The rest stays one row. */
static inline void cnnvp_fold_row(const struct cnnvp_layer *layer, uint32_t part, struct cnnvp_window *window)
{
    window->out_w = part % layer->folded == 0 ? layer->folded : part;
    window->out_h = part / window->out_w;
    window->in_row_stride = window->out_w;
}

/* Instruction of an elementwise layer with both operands in the input buffer, or of an addition to a convolution's
 * results. */
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

/* Its descriptor, without addresses, strides and counts. */
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

/* Status bits that name the operand which an addition takes from the output buffer: the convolution's results. */
static inline uint32_t cnnvp_addition_sources(const struct cnnvp_layer *layer)
{
    return 2u << (layer->added.second != 0 ? CNNVP_STATUS_vadd_b : CNNVP_STATUS_vadd_a);
}

/* Strides of a tile in the order of the results' dimensions, for a layer that permutes dimensions. */
static inline struct cnnvp_strides cnnvp_permuted_strides(const struct cnnvp_layer *layer, struct cnnvp_strides tile)
{
    const uint32_t strides[3] = {tile.channel, tile.row, tile.column};
    return (struct cnnvp_strides){strides[layer->from[0]], strides[layer->from[1]], strides[layer->from[2]]};
}

/* Strides of an operand's tile, 0 along the dimensions that are broadcast. */
static inline struct cnnvp_strides cnnvp_spread_strides(const struct cnnvp_tensor *operand,
                                                        const struct cnnvp_tensor *out, struct cnnvp_strides tile)
{
    return (struct cnnvp_strides){
        operand->channels < out->channels ? 0 : tile.channel, operand->height < out->height ? 0 : tile.row,
        operand->width < out->width ? 0 : tile.column};
}

/* 1: one stride covers a whole plane: its rows are contiguous, or one word is broadcast to all positions. */
static inline int cnnvp_is_plane(const struct cnnvp_strides *tile, uint32_t rows, uint32_t columns)
{
    return rows == 1 || tile->row == columns * tile->column;
}

/* Sets counts and strides of an elementwise instruction over a box with dense results. `b` may be NULL. Returns how
 * many instructions the box takes: one, or one per channel if the rows of a channel do not follow the rows of the
 * channel before at the same stride. */
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

/* Instructions of batch normalisation, in order. Stored statistics need the last one alone. Mean, variance and
 * transform run over all words of each channel; the three between them run over one word per channel. */
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

/* Descriptor register `format` of a step. Vectors of one word per channel have 16-bit words. */
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

/* The array's sums P + A, or P + A^2, over the parts of each channel (S002). They lie at acc_addr as
 * [channel][part]. */
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

/* Instruction of an average pool that divides partial sums. Sets all of the vector but its counts, addresses of sums
 * and results, and seed. */
static inline struct cnnvp_operation cnnvp_division_operation(const struct cnnvp_layer *layer, uint32_t divisor,
                                                              struct cnnvp_vector *vector)
{
    const uint32_t scaled = layer->operands.divisor != 0;
    vector->a_stride = 1;
    vector->immediate = scaled ? layer->operands.divisor : divisor;
    vector->c_addr = layer->operands.a;
    vector->format = cnnvp_sums_format(layer, layer->format);
    vector->limits = layer->limits;
    return (struct cnnvp_operation){
        CNNVP_OPCODE_vdiv, 3u << CNNVP_STATUS_vdiv_a | 3u << CNNVP_STATUS_vdiv_b | 1u << CNNVP_STATUS_vdiv_store |
                               scaled << CNNVP_STATUS_vdiv_scale | cnnvp_clip_status(layer->clips)};
}

/* Turns a vector instruction over elements into one over the sums of parts. The sums lie at 0, the sums of squares
 * behind them. */
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

/* Instruction of a post-operation on each word of operand a. Sets the vector's constant and format. The caller sets
 * where in the weight buffer a table lies. */
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
