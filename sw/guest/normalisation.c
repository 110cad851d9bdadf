/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch normalisation, S000 algorithm 4. Stored statistics take one sweep. Statistics of the data take the three sweeps
 * of A4 over the input buffer: mean, variance, then normalise and transform. Their length is one channel of one image,
 * or of all images of the batch, which then lie one after the other in the buffer (Part B 0-10, 0-11). If the array
 * sums values and squares of an image (S002, Part B 2-3), mean and variance are made from these sums, with
 * bit-identical results.
 */
#include "layers_internal.h"

/* x * scale[c] + offset[c]. The weight tile holds the scales of all channels, then the offsets. */
static void normalise_stored(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box *box = &step->output;
    const struct cnnvp_input_tile tile = cnnvp_bring_input(guest, &layer->in, box);
    uint32_t scales = 0;
    const uint32_t weight_half = cnnvp_load_weight_tile(guest, layer->first_weight_tile, &scales);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_results(guest, layer, step);
    const uint32_t status = cnnvp_norm_operation(layer, CNNVP_NORM_TRANSFORM).status;
    const uint32_t halves = cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half);
    const uint32_t plane = box->rows * box->columns;
    const uint32_t offsets = scales + layer->in.channels * CNNVP_WORD_BYTES;
    struct cnnvp_vector vector = {
        .a_stride = 1,
        .b_stride = (uint32_t)layer->in.zero,
        .format = layer->format,
        .seed = epilogue->seed,
        .limits = layer->limits,
        .b_repeat = 1,
        .c_repeat = 1,
        .a_repeat = tile.stride.channel,
        .out_repeat = plane,
    };
    /* Channels are repetitions. If a channel is not contiguous, each row takes an instruction. */
    const int whole = tile.stride.row == box->columns;
    vector.count = whole ? plane : box->columns;
    vector.repeat = box->channels;
    for (uint32_t row = 0; row < (whole ? 1u : box->rows); ++row) {
        vector.a_addr = tile.address + (row * tile.stride.row << layer->in.word_shift);
        vector.out_addr = row * box->columns * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
        vector.b_addr = scales + box->channel * CNNVP_WORD_BYTES;
        vector.c_addr = offsets + box->channel * CNNVP_WORD_BYTES;
        cnnvp_push_vector(guest, CNNVP_OPCODE_vnorm, status, halves, &vector);
        vector.seed = cnnvp_part_seed(vector.seed, 1u);
    }
    cnnvp_use_table(epilogue, weight_half, offsets + layer->in.channels * CNNVP_WORD_BYTES);
    cnnvp_end_step(guest);
}

static void push_step(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, enum cnnvp_norm_step step,
                      uint32_t halves, const struct cnnvp_vector *vector)
{
    const struct cnnvp_operation operation = cnnvp_norm_operation(layer, step);
    cnnvp_push_vector(guest, operation.opcode, operation.status, halves, vector);
}

/* Addresses in the output half of the vectors with one word per channel. */
struct norm_scratch {
    uint32_t mean, inverse, scale, product, offset;
};

/* scale = gamma * inverse, offset = beta - mean * scale, for all channels of the step. */
static void push_transform(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct norm_scratch *at,
                           uint32_t gamma, uint32_t beta, uint32_t halves, uint32_t channels, uint32_t seed)
{
    const struct cnnvp_layer_norm_data *formats = &layer->norm_data;
    struct cnnvp_vector vector = {
        .a_addr = gamma,
        .b_addr = at->inverse,
        .out_addr = at->scale,
        .count = channels,
        .repeat = 1,
        .a_stride = 1,
        .b_stride = 1,
        .format = formats->scale,
        .seed = seed,
    };
    push_step(guest, layer, CNNVP_NORM_SCALE, halves, &vector);
    vector.a_addr = at->mean;
    vector.b_addr = at->scale;
    vector.out_addr = at->product;
    vector.format = formats->product;
    push_step(guest, layer, CNNVP_NORM_PRODUCT, halves, &vector);
    vector.a_addr = beta;
    vector.b_addr = at->product;
    vector.out_addr = at->offset;
    vector.format = formats->offset;
    push_step(guest, layer, CNNVP_NORM_OFFSET, halves, &vector);
}

/* Loads what the statistics are taken of: the tile, or the tiles of all images of the batch. */
static struct cnnvp_input_tile bring_data(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                          const struct cnnvp_step *step)
{
    const struct cnnvp_box *box = &step->output;
    const uint32_t plane = box->rows * box->columns;
    if (step->more_images == 0)
        return cnnvp_bring_input(guest, &layer->in, box);
    return (struct cnnvp_input_tile){
        cnnvp_load_batch(guest, &layer->in, box, step->more_images),
        layer->in.chip_address,
        {(step->more_images + 1u) * plane, box->columns, 1},
        plane << layer->in.word_shift};
}

/* Has S002's array sum up the parts of each channel. The sums lie where the results will be. */
static void push_sums(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_input_tile *tile,
                      uint32_t channels, uint32_t halves)
{
    struct cnnvp_window window = cnnvp_sums_window(layer, channels);
    window.in_addr = tile->address;
    window.in_row_stride = tile->stride.row;
    window.in_channel_stride = tile->stride.channel;
    for (int squares = 0; squares < 2; ++squares) {
        const struct cnnvp_operation operation = cnnvp_sums_operation(squares);
        window.acc_addr = squares ? channels * cnnvp_norm_part_count(layer) * layer->sum_bytes : 0;
        cnnvp_push_window(guest, operation.opcode, operation.status, halves, &window);
    }
}

/* Pushes mean or variance, over the elements or over their sums. */
static void push_statistics(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, enum cnnvp_norm_step step,
                            uint32_t halves, const struct cnnvp_vector *vector)
{
    const struct cnnvp_vector of_sums = layer->norm_parts != 0 ? cnnvp_sums_vector(layer, step, vector) : *vector;
    push_step(guest, layer, step, halves, &of_sums);
}

static void normalise_data(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box *box = &step->output;
    const struct cnnvp_layer_norm_data *formats = &layer->norm_data;
    const struct cnnvp_input_tile tile = bring_data(guest, layer, step);
    uint32_t gammas = 0;
    const uint32_t weight_half = cnnvp_load_weight_tile(guest, layer->first_weight_tile, &gammas);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_results(guest, layer, step);
    const uint32_t halves = cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half);
    const uint32_t plane = box->rows * box->columns;
    const uint32_t vector_bytes = box->channels * CNNVP_WORD_BYTES;
    const uint32_t scratch = cnnvp_even(box->channels * plane * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT));
    const struct norm_scratch at = {scratch, scratch + vector_bytes, scratch + 2u * vector_bytes,
                                    scratch + 3u * vector_bytes, scratch + 4u * vector_bytes};
    struct cnnvp_vector vector = {
        .a_addr = tile.address,
        .b_addr = at.mean,
        .out_addr = at.mean,
        .count = plane * (step->more_images + 1u),
        .repeat = box->channels,
        .a_stride = 1,
        .a_repeat = tile.stride.channel,
        .b_repeat = 1,
        .out_repeat = 1,
        .immediate = formats->epsilon,
        .format = formats->mean,
        .seed = epilogue->seed,
        .limits = layer->limits,
    };
    if (layer->norm_parts != 0)
        push_sums(guest, layer, &tile, box->channels, halves);
    push_statistics(guest, layer, CNNVP_NORM_MEAN, halves, &vector);
    vector.out_addr = at.inverse;
    vector.format = formats->inverse;
    push_statistics(guest, layer, CNNVP_NORM_VARIANCE, halves, &vector);
    const uint32_t gamma = gammas + box->channel * CNNVP_WORD_BYTES;
    const uint32_t beta = gamma + layer->in.channels * CNNVP_WORD_BYTES;
    push_transform(guest, layer, &at, gamma, beta, halves, box->channels, epilogue->seed);
    vector.b_addr = at.scale;
    vector.c_addr = at.offset;
    vector.c_repeat = 1;
    vector.count = vector.out_repeat = plane;
    vector.format = layer->format;
    for (uint32_t image = 0; image <= step->more_images; ++image) {
        vector.a_addr = tile.address + image * tile.image_bytes;
        vector.out_addr = image * layer->image_bytes;
        vector.seed = cnnvp_image_seed(layer, epilogue->seed, image);
        push_step(guest, layer, CNNVP_NORM_TRANSFORM, halves, &vector);
    }
    cnnvp_use_table(epilogue, weight_half, gammas + 2u * layer->in.channels * CNNVP_WORD_BYTES);
    cnnvp_end_step(guest);
}

void cnnvp_normalisation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    if (layer->norm == CNNVP_NORM_STORED)
        normalise_stored(guest, layer, step);
    else
        normalise_data(guest, layer, step);
}
