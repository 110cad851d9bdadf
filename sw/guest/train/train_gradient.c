/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients and updates (S001 D-emb grad-1 to grad-7): for each group of activation channels, for each group of error
 * channels, images innermost. Results accumulate in one half of the intermediate buffer. Meanwhile the weights to be
 * updated, and their velocities, are loaded into the idle half; they are updated there and stored. At the end the block
 * floating point copy, which the passes compute with, is made from them.
 *
 * The update of a tile is pushed after the first loads of the next tile, its stores after that tile's first
 * calculation.
 */
#include "train.h"

struct tile {
    uint32_t in, ins;   /* activation channels */
    uint32_t out, outs; /* error channels */
    int valid;
};

/* Addresses of a tile's values: gradients in the working half, weights in the idle half, or behind the gradients if
 * there is only one half. */
struct places {
    uint32_t gradient, bias_gradient;                    /* working half */
    uint32_t value, velocity, bias_value, bias_velocity; /* idle half */
    uint32_t narrow, exponents; /* idle half: weights in block floating point, before decoding (CNNVP_TRAIN_NARROW) */
};

struct work {
    struct cnnvp_guest *guest;
    const struct cnnvp_train_layer *layer;
    uint32_t taps;
    uint32_t working, idle;
    int adds_float;
};

static int has_bias(const struct work *work, const struct tile *tile)
{
    return work->layer->bias && tile->in == 0;
}

static struct places places_of(const struct work *work, const struct tile *tile)
{
    const uint32_t values = tile->ins * tile->outs * work->taps;
    const uint32_t bytes = cnnvp_train_region(values * SUM_BYTES);
    const uint32_t bias = has_bias(work, tile) ? cnnvp_train_region(tile->outs * SUM_BYTES) : 0;
    const int alone = work->guest->train.binary->output_halves == 1u;
    struct places places = {.gradient = 0, .bias_gradient = bytes};
    places.value = alone ? bytes + bias : 0;
    places.velocity = places.value + bytes;
    places.bias_value = places.velocity + bytes;
    places.bias_velocity = places.bias_value + bias;
    places.narrow = places.bias_velocity + bias;
    places.exponents = places.narrow + values * work->guest->train.binary->value_bytes;
    return places;
}

static uint32_t has_momentum(const struct work *work)
{
    return work->guest->train.binary->momentum != 0;
}

/* Box of a tile in a matrix [co][ci * taps] of values of `bytes`. */
static struct cnnvp_train_box matrix_box(const struct work *work, const struct tile *tile, uint32_t address,
                                         uint32_t bytes)
{
    const uint32_t stride = work->layer->ci * work->taps * bytes;
    return (struct cnnvp_train_box){
        address + tile->out * stride + tile->in * work->taps * bytes,
        tile->ins * work->taps * bytes,
        tile->outs,
        stride,
        1,
        0,
        0,
        0,
        0};
}

static struct cnnvp_train_box vector_box(const struct tile *tile, uint32_t address)
{
    return cnnvp_train_line(address + tile->out * SUM_BYTES, tile->outs * SUM_BYTES);
}

/* ---- loads and stores of weights ---- */

static void decode(const struct work *work, const struct tile *tile, const struct places *places)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    const int by_channel = binary->block == CNNVP_TRAIN_BY_CHANNEL;
    const struct cnnvp_train_box box = matrix_box(work, tile, work->layer->weights.mantissas, binary->value_bytes);
    const struct cnnvp_train_box of_blocks =
        cnnvp_train_line(work->layer->weights.exponents + (by_channel ? tile->out : 0), by_channel ? tile->outs : 1u);
    const struct cnnvp_tdecode descriptor = {
        .in_addr = places->narrow,
        .in_stride = tile->ins * work->taps,
        .channels = tile->outs,
        .values = tile->ins * work->taps,
        .exp_addr = places->exponents,
        .exp_stride = (uint32_t)by_channel,
        .format = cnnvp_train_format(work->guest),
        .out_addr = places->value,
        .out_stride = tile->ins * work->taps,
    };
    cnnvp_train_load(work->guest, CNNVP_TRAIN_MIDDLE, work->idle, places->narrow, &box);
    cnnvp_train_load(work->guest, CNNVP_TRAIN_MIDDLE, work->idle, places->exponents, &of_blocks);
    cnnvp_train_push(work->guest, CNNVP_OPCODE_tdecode, 0, cnnvp_train_middle(work->idle), CNNVP_TRAIN_BASE_DECODE,
                     &descriptor, sizeof descriptor);
}

/* Moves values between memory and the idle half. */
static void move(const struct work *work, int stores, uint32_t at, struct cnnvp_train_box box)
{
    if (stores)
        cnnvp_train_put(work->guest, work->idle, at, &box);
    else
        cnnvp_train_load(work->guest, CNNVP_TRAIN_MIDDLE, work->idle, at, &box);
}

static void move_weights(const struct work *work, const struct tile *tile, int stores)
{
    const struct cnnvp_train_layer *layer = work->layer;
    const struct places places = places_of(work, tile);
    if (!stores && cnnvp_train_has(work->guest, CNNVP_TRAIN_NARROW))
        decode(work, tile, &places);
    else
        move(work, stores, places.value, matrix_box(work, tile, layer->master.values, SUM_BYTES));
    if (has_momentum(work))
        move(work, stores, places.velocity, matrix_box(work, tile, layer->master.velocity, SUM_BYTES));
    if (!has_bias(work, tile))
        return;
    move(work, stores, places.bias_value, vector_box(tile, layer->bias_master.values));
    if (has_momentum(work))
        move(work, stores, places.bias_velocity, vector_box(tile, layer->bias_master.velocity));
}

/* ---- update ---- */

/* Entries of the max-min buffer for the weights. The biases have the next entry. */
static uint32_t weight_entries(const struct work *work)
{
    return work->guest->train.binary->block == CNNVP_TRAIN_BY_CHANNEL ? work->layer->co : 1u;
}

static void push_update(const struct work *work, const struct cnnvp_tupdate *what)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    struct cnnvp_tupdate update = *what;
    update.format = cnnvp_train_format(work->guest);
    update.rate = binary->rate;
    update.momentum = binary->momentum;
    const uint32_t status = (work->adds_float ? 1u : 0u) << CNNVP_STATUS_tupdate_fp32 |
                            has_momentum(work) << CNNVP_STATUS_tupdate_momentum |
                            (binary->output_halves == 1u ? 0u : 1u) << CNNVP_STATUS_tupdate_idle;
    cnnvp_train_push(work->guest, CNNVP_OPCODE_tupdate, status, cnnvp_train_middle(work->working),
                     CNNVP_TRAIN_BASE_UPDATE, &update, sizeof update);
}

static void update_tile(const struct work *work, const struct tile *tile)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    const struct places places = places_of(work, tile);
    const uint32_t by_channel = binary->block == CNNVP_TRAIN_BY_CHANNEL;
    const struct cnnvp_tupdate weights = {
        .in_addr = places.gradient,
        .in_stride = tile->ins * work->taps,
        .channels = tile->outs,
        .values = tile->ins * work->taps,
        .scale_addr = CNNVP_TRAIN_HELD | binary->held_scale,
        .value_addr = places.value,
        .velocity_addr = places.velocity,
        .value_stride = tile->ins * work->taps,
        .entry = by_channel ? tile->out : 0,
        .entry_stride = by_channel,
    };
    push_update(work, &weights);
    if (!has_bias(work, tile))
        return;
    const struct cnnvp_tupdate biases = {
        .in_addr = places.bias_gradient,
        .in_stride = tile->outs,
        .channels = 1,
        .values = tile->outs,
        .scale_addr = CNNVP_TRAIN_HELD | binary->held_back,
        .value_addr = places.bias_value,
        .velocity_addr = places.bias_velocity,
        .value_stride = tile->outs,
        .entry = weight_entries(work),
    };
    push_update(work, &biases);
}

/* ---- gradient ---- */

/* Operands of a command. */
struct operands {
    struct cnnvp_train_cut in, error;
    uint32_t pad_rows;
    uint32_t in_exponents, error_exponents;
    uint32_t input, weight; /* halves */
    uint32_t accumulate;
};

static uint32_t halves_of(const struct work *work, const struct operands *o)
{
    return cnnvp_train_bit(o->input, CNNVP_TRAIN_INPUT) | cnnvp_train_bit(o->weight, CNNVP_TRAIN_WEIGHTS) |
           cnnvp_train_middle(work->working);
}

static uint32_t status_of(const struct work *work, const struct operands *o)
{
    return o->accumulate << CNNVP_STATUS_tgradient_accumulate |
           (work->adds_float ? 1u : 0u) << CNNVP_STATUS_tgradient_fp32;
}

static void push_convolution(const struct work *work, const struct tile *tile, const struct operands *o, int bias)
{
    const struct cnnvp_train_layer *layer = work->layer;
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    const uint32_t strides = cnnvp_train_exponent_strides(layer->block);
    const uint32_t plane = o->error.rows * layer->wo;
    const uint32_t size = cnnvp_train_pack(layer->wo, o->error.rows);
    const uint32_t one = cnnvp_train_pack(1, 1);
    const struct cnnvp_tgradient gradient = {
        .in_row_stride = cnnvp_train_row_stride(work->guest, CNNVP_TRAIN_INPUT, layer->wi),
        .in_channel_stride = cnnvp_train_map_stride(work->guest, CNNVP_TRAIN_INPUT, o->in.rows * layer->wi),
        .in_image_stride = tile->ins * o->in.rows * layer->wi,
        .in_size = bias ? size : cnnvp_train_pack(layer->wi, o->in.rows),
        .images = o->in.images,
        .in_channels = bias ? 1u : tile->ins,
        .out_channels = tile->outs,
        .error_row_stride = cnnvp_train_row_stride(work->guest, CNNVP_TRAIN_WEIGHTS, layer->wo),
        .error_channel_stride = cnnvp_train_map_stride(work->guest, CNNVP_TRAIN_WEIGHTS, plane),
        .error_image_stride = tile->outs * plane,
        .error_size = size,
        .kernel = bias ? one : cnnvp_train_pack(layer->kx, layer->ky),
        .stride = bias ? one : cnnvp_train_pack(layer->sx, layer->sy),
        .pad = bias ? 0 : cnnvp_train_pack(layer->px, o->pad_rows),
        .out_addr = bias ? places_of(work, tile).bias_gradient : 0,
        .out_channel_stride = bias ? 1u : tile->ins * work->taps,
        .in_exp_addr = o->in_exponents,
        .in_exp_strides = strides,
        .error_exp_addr = o->error_exponents,
        .error_exp_strides = strides >> 16 | strides << 16, /* channel | image << 16 */
        .out_exp_addr = CNNVP_TRAIN_HELD | (bias ? binary->held_back : binary->held_scale),
    };
    cnnvp_train_push(work->guest, CNNVP_OPCODE_tgradient,
                     status_of(work, o) | (bias ? 1u : 0u) << CNNVP_STATUS_tgradient_bias, halves_of(work, o),
                     CNNVP_TRAIN_BASE_GRADIENT, &gradient, sizeof gradient);
}

static void push_matrix(const struct work *work, const struct tile *tile, const struct operands *o, int bias)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    const uint32_t by_image = work->layer->block == CNNVP_TRAIN_BY_IMAGE;
    const struct cnnvp_touter outer = {
        .in_image_stride = cnnvp_train_map_stride(work->guest, CNNVP_TRAIN_INPUT, tile->ins),
        .images = o->in.images,
        .inputs = bias ? 1u : tile->ins,
        .outputs = tile->outs,
        .error_image_stride = cnnvp_train_map_stride(work->guest, CNNVP_TRAIN_WEIGHTS, tile->outs),
        .out_addr = bias ? places_of(work, tile).bias_gradient : 0,
        .out_stride = bias ? 1u : tile->ins,
        .in_exp_addr = o->in_exponents,
        .in_exp_stride = by_image,
        .error_exp_addr = o->error_exponents,
        .error_exp_stride = by_image,
        .out_exp_addr = CNNVP_TRAIN_HELD | (bias ? binary->held_back : binary->held_scale),
    };
    cnnvp_train_push(work->guest, CNNVP_OPCODE_touter,
                     status_of(work, o) | (bias ? 1u : 0u) << CNNVP_STATUS_touter_bias, halves_of(work, o),
                     CNNVP_TRAIN_BASE_OUTER, &outer, sizeof outer);
}

static void load_operands(const struct work *work, const struct tile *tile, struct operands *o)
{
    const struct cnnvp_train_layer *layer = work->layer;
    const int32_t begin = (int32_t)(o->error.row * layer->sy) - (int32_t)layer->py;
    int32_t end = begin + (int32_t)((o->error.rows - 1u) * layer->sy + layer->ky);
    if (end > (int32_t)layer->hi)
        end = (int32_t)layer->hi;
    const int32_t from = begin < 0 ? 0 : begin;
    o->in = (struct cnnvp_train_cut){
        o->error.image, o->error.images, tile->in, tile->ins, (uint32_t)from, (uint32_t)(end - from)};
    o->pad_rows = (uint32_t)(from - begin);
    o->in_exponents = cnnvp_train_load_inputs(work->guest, layer, &o->in, &o->input);
    o->error_exponents = cnnvp_train_load_errors(work->guest, layer, &o->error, CNNVP_TRAIN_WEIGHTS, &o->weight);
}

static void push_gradient(const struct work *work, const struct tile *tile, const struct operands *o, int bias)
{
    if (work->layer->op == CNNVP_TRAIN_FC)
        push_matrix(work, tile, o, bias);
    else
        push_convolution(work, tile, o, bias);
}

/* Accumulates all images and rows of a tile. `before` is the tile before, whose update is still to be pushed. */
static void accumulate_tile(const struct work *work, const struct tile *tile, const struct tile *before)
{
    const struct cnnvp_train_tiles *tiles = &work->layer->gradient;
    const uint32_t images = work->guest->train.images;
    const int alone = work->guest->train.binary->output_halves == 1u;
    struct operands o = {.accumulate = 0};
    for (uint32_t image = 0; image < images; image += tiles->images)
        for (uint32_t row = 0; row < work->layer->ho; row += tiles->rows) {
            o.error = (struct cnnvp_train_cut){
                .image = image,
                .images = cnnvp_minimum32(tiles->images, images - image),
                .channel = tile->out,
                .channels = tile->outs,
                .row = row,
                .rows = cnnvp_minimum32(tiles->rows, work->layer->ho - row),
            };
            load_operands(work, tile, &o);
            if (!o.accumulate && before->valid)
                update_tile(work, before);
            if (!o.accumulate && before->valid && alone)
                move_weights(work, before, 1);
            push_gradient(work, tile, &o, 0);
            if (has_bias(work, tile))
                push_gradient(work, tile, &o, 1);
            if (!o.accumulate && before->valid && !alone)
                move_weights(work, before, 1);
            if (!o.accumulate)
                move_weights(work, tile, 0);
            o.accumulate = 1;
        }
}

static void accumulate(const struct work *work)
{
    const struct cnnvp_train_layer *layer = work->layer;
    struct tile before = {0};
    for (uint32_t in = 0; in < layer->ci; in += layer->gradient.in)
        for (uint32_t out = 0; out < layer->co; out += layer->gradient.out) {
            const struct tile tile = {
                .in = in,
                .ins = cnnvp_minimum32(layer->gradient.in, layer->ci - in),
                .out = out,
                .outs = cnnvp_minimum32(layer->gradient.out, layer->co - out),
                .valid = 1,
            };
            accumulate_tile(work, &tile, &before);
            before = tile;
        }
    update_tile(work, &before);
    move_weights(work, &before, 1);
}

/* ---- the block floating point copy ---- */

/* Rows of binary32 values, quantised with exponents from the max-min buffer. */
struct copy {
    uint32_t from, to;     /* addresses in memory */
    uint32_t rows, values; /* values per row */
    uint32_t kernel;       /* a row counts as a map of this width, which divides `values`; the height has 16 bits */
    uint32_t rows_at_once;
    uint32_t by_channel;
    uint32_t seed;
};

static struct cnnvp_train_box rows_box(uint32_t address, uint32_t row, uint32_t first, uint32_t rows)
{
    return (struct cnnvp_train_box){address + first * row, row, rows, row, 1, 0, 0, 0, 0};
}

/* Rows of a copy that are in a half. */
struct piece {
    uint32_t row, rows, half;
};

static uint32_t piece_address(const struct copy *copy, const struct piece *piece)
{
    return cnnvp_train_region(piece->rows * copy->values * SUM_BYTES);
}

/* Pushes the quantisation of a piece. The module's parallel sets take rows side by side, as they take images. */
static void quantise_piece(const struct work *work, const struct copy *copy, const struct piece *piece, uint32_t sets)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    const uint32_t of_set = piece->rows / sets;
    const struct cnnvp_tpost post = {
        .in_image_stride = of_set * copy->values,
        .images = sets,
        .channels = of_set,
        .size = cnnvp_train_pack(copy->kernel, copy->values / copy->kernel),
        .out_addr = piece_address(copy, piece),
        .out_image_stride = of_set * copy->values,
        .block = CNNVP_TRAIN_HELD | (binary->held_exponents + (copy->by_channel ? piece->row : 0)),
        .block_strides = copy->by_channel ? cnnvp_train_pack(of_set, 1) : 0,
        .format = cnnvp_train_format(work->guest),
        .seed = copy->seed,
        .first = piece->row * copy->values,
        .tensor_image_stride = of_set * copy->values,
    };
    cnnvp_train_push(work->guest, CNNVP_OPCODE_tpost, 1u << CNNVP_STATUS_tpost_fp32, cnnvp_train_middle(piece->half),
                     CNNVP_TRAIN_BASE_POST, &post, sizeof post);
}

static void store_piece(const struct work *work, const struct copy *copy, const struct piece *piece)
{
    const struct cnnvp_train_box to =
        rows_box(copy->to, copy->values * work->guest->train.binary->value_bytes, piece->row, piece->rows);
    if (piece->rows != 0)
        cnnvp_train_put(work->guest, piece->half, piece_address(copy, piece), &to);
}

/* Quantises all rows. A piece is stored after the load of the next piece. */
static void quantise_rows(const struct work *work, const struct copy *copy)
{
    const struct cnnvp_train_binary *binary = work->guest->train.binary;
    struct piece before = {.rows = 0};
    for (uint32_t row = 0; row < copy->rows;) {
        struct piece piece = {.row = row, .rows = cnnvp_minimum32(copy->rows_at_once, copy->rows - row)};
        const uint32_t sets = piece.rows >= binary->arrays ? binary->arrays : 1u;
        piece.rows -= piece.rows % sets;
        piece.half = cnnvp_train_next(work->guest, CNNVP_TRAIN_MIDDLE);
        const struct cnnvp_train_box from = rows_box(copy->from, copy->values * SUM_BYTES, row, piece.rows);
        if (binary->output_halves == 1u) {
            store_piece(work, copy, &before);
            before.rows = 0;
        }
        cnnvp_train_load(work->guest, CNNVP_TRAIN_MIDDLE, piece.half, 0, &from);
        store_piece(work, copy, &before);
        quantise_piece(work, copy, &piece, sets);
        before = piece;
        row += piece.rows;
    }
    store_piece(work, copy, &before);
}

static void hold_exponents(const struct work *work, uint32_t entry, uint32_t entries, uint32_t address)
{
    cnnvp_train_push_exponents(work->guest, 1u << CNNVP_STATUS_texp_each, entry, entries);
    cnnvp_train_save_held(work->guest, CNNVP_TRAIN_EXTREMES, work->guest->train.binary->held_exponents, entries,
                          address);
}

static void quantise(const struct work *work)
{
    const struct cnnvp_train_layer *layer = work->layer;
    const uint32_t entries = weight_entries(work);
    const struct copy weights = {
        .from = layer->master.values,
        .to = layer->weights.mantissas,
        .rows = layer->co,
        .values = layer->ci * work->taps,
        .kernel = layer->ci * layer->ky <= UINT16_MAX ? layer->kx : work->taps,
        .rows_at_once = layer->quantise_rows,
        .by_channel = work->guest->train.binary->block == CNNVP_TRAIN_BY_CHANNEL,
        .seed = cnnvp_train_seed_of(work->guest, layer, CNNVP_TRAIN_SEED_WEIGHT),
    };
    hold_exponents(work, 0, entries, layer->weights.exponents);
    quantise_rows(work, &weights);
    if (!layer->bias)
        return;
    const struct copy biases = {
        .from = layer->bias_master.values,
        .to = layer->biases.mantissas,
        .rows = 1,
        .values = layer->co,
        .kernel = layer->co,
        .rows_at_once = 1,
        .seed = cnnvp_train_seed_of(work->guest, layer, CNNVP_TRAIN_SEED_BIAS),
    };
    hold_exponents(work, entries, 1, layer->biases.exponents);
    quantise_rows(work, &biases);
}

void cnnvp_train_learn(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    const struct work work = {
        .guest = guest,
        .layer = layer,
        .taps = layer->kx * layer->ky,
        .working = 0,
        .idle = guest->train.binary->output_halves - 1u,
        .adds_float = cnnvp_train_adds_float(guest),
    };
    cnnvp_train_forget(guest);
    cnnvp_train_clear_held(
        guest, CNNVP_TRAIN_EXTREMES, 0, (weight_entries(&work) + layer->bias) * CNNVP_TRAIN_EXTREME_BYTES);
    accumulate(&work);
    quantise(&work);
}
