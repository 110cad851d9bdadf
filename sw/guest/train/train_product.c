/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward and error passes: sums of products of a map's channels with kernels. The passes take group after group of
 * images, in one of two orders (Part B 1-3):
 *
 *   kernel    for each tile of results, for each slice of channels: the sums stay in the intermediate buffer
 *   channel   for each channel, for each tile of results: the sums go to memory and come back (S001)
 *
 * Statistics and stores of a tile are pushed among the instructions of the next tile, so that the PEs do not wait.
 */
#include "train.h"

/* A pass over one layer. */
struct product {
    const struct cnnvp_train_layer *layer;
    int error; /* 1: terror or tback; input and output channels are exchanged */
    int adds_float;
    uint32_t in_channels, in_height, in_width;
    uint32_t out_channels, out_height, out_width;
    uint32_t unreached; /* rows of the result, at its end, that no error reaches */
    struct cnnvp_train_tiles tiles;
    uint32_t sums; /* address of the result in memory */
    uint32_t held_scale;
};

/* One tile of results. */
struct tile {
    struct cnnvp_train_cut cut;
    uint32_t half;
};

/* ---- pending work of the tile before ---- */

static void push_statistics(struct cnnvp_guest *guest, const struct cnnvp_train_pending *pending)
{
    const struct cnnvp_train_layer *layer = pending->layer;
    const uint32_t block = layer->out_block;
    const struct cnnvp_train_cut cut = pending->cut;
    const uint32_t stride = cnnvp_train_image_stride(guest, cut.channels * cut.rows * pending->map_width, SUM_BYTES);
    const uint32_t map = pending->map_height * pending->map_width;
    const uint32_t by_image = !layer->norm && block == CNNVP_TRAIN_BY_IMAGE;
    const uint32_t by_channel = layer->norm || block == CNNVP_TRAIN_BY_CHANNEL;
    struct cnnvp_train_cut part = cnnvp_train_first_part(guest, layer, &cut);
    uint32_t at = 0;
    do {
        const struct cnnvp_tstat stat = {
            .in_addr = at,
            .in_image_stride = stride,
            .images = part.images,
            .channels = part.channels,
            .size = cnnvp_train_pack(pending->map_width, cut.rows),
            .scale_addr = CNNVP_TRAIN_HELD | guest->train.binary->held_scale,
            .format = cnnvp_train_format(guest),
            .out_addr = at,
            .out_image_stride = stride,
            .entry = by_channel ? part.channel
                     : by_image ? cut.image
                                : 0,
            .entry_strides = cnnvp_train_pack(by_image, by_channel),
            .first = cut.image * map + cut.row * pending->map_width,
            .map = map,
        };
        const uint32_t status =
            !pending->integer ? 1u << CNNVP_STATUS_tstat_fp32
            : cnnvp_train_keeps_sums(guest, layer)
                ? 0
                : 1u << CNNVP_STATUS_tstat_convert;
        cnnvp_train_push(guest, CNNVP_OPCODE_tstat, status, cnnvp_train_bit(pending->half, CNNVP_TRAIN_MIDDLE),
                         CNNVP_TRAIN_BASE_STAT, &stat, sizeof stat);
    } while (cnnvp_train_next_part(guest, &cut, 1, &part, &at));
}

/* Pushes the next pending step. */
static void advance(struct cnnvp_guest *guest)
{
    struct cnnvp_train_pending *pending = &guest->train.pending;
    if (pending->steps-- == 2u) {
        push_statistics(guest, pending);
        return;
    }
    const struct cnnvp_train_box box =
        cnnvp_train_sums_box(guest, pending->layer, pending->address, pending->map_channels, pending->map_height,
                             pending->map_width, 1, &pending->cut);
    cnnvp_train_put(guest, pending->half, 0, &box);
}

static void finish(struct cnnvp_guest *guest)
{
    while (guest->train.pending.steps != 0)
        advance(guest);
}

static int is_pending(const struct cnnvp_guest *guest, const struct cnnvp_train_cut *cut)
{
    const struct cnnvp_train_cut *pending = &guest->train.pending.cut;
    return guest->train.pending.steps != 0 && pending->image == cut->image && pending->channel == cut->channel &&
           pending->row == cut->row;
}

/* Makes the computed tile pending. Complete sums of a forward pass also need statistics. */
static void leave(struct cnnvp_guest *guest, const struct product *product, const struct tile *tile, int complete)
{
    finish(guest);
    guest->train.pending = (struct cnnvp_train_pending){
        .steps = complete && !product->error ? 2u : 1u,
        .half = tile->half,
        .address = product->sums,
        .map_channels = product->out_channels,
        .map_height = product->out_height,
        .map_width = product->out_width,
        .cut = tile->cut,
        .integer = !product->adds_float,
        .layer = product->layer,
    };
}

/* ---- operands ---- */

/* Rows of the first operand that a tile needs. Returns the rows of padding before them; in an error pass, the distance
 * of the tile's first row from result row *first * sy - py, where error row *first begins to contribute. */
static uint32_t input_rows(const struct product *product, const struct cnnvp_train_cut *out, uint32_t *first,
                           uint32_t *rows)
{
    const struct cnnvp_train_layer *layer = product->layer;
    int32_t begin;
    int32_t end;
    if (product->error) {
        /* Error row e contributes to result rows e * sy - py to e * sy - py + ky - 1. */
        const int32_t reach = (int32_t)(out->row + layer->py) - (int32_t)(layer->ky - 1u);
        begin = reach <= 0 ? 0 : (reach + (int32_t)layer->sy - 1) / (int32_t)layer->sy;
        end = (int32_t)((out->row + out->rows - 1u + layer->py) / layer->sy) + 1;
    } else {
        begin = (int32_t)(out->row * layer->sy) - (int32_t)layer->py;
        end = begin + (int32_t)((out->rows - 1u) * layer->sy + layer->ky);
    }
    if (end > (int32_t)product->in_height)
        end = (int32_t)product->in_height;
    const int32_t from = begin < 0 ? 0 : begin;
    *first = (uint32_t)from;
    *rows = (uint32_t)(end - from);
    if (product->error)
        return out->row + layer->py - *first * layer->sy;
    return (uint32_t)(from - begin);
}

/* Loads the kernels of the tile's results and the slice's channels. Returns the address of their exponents. */
static uint32_t load_kernels(struct cnnvp_guest *guest, const struct product *product,
                             const struct cnnvp_train_cut *out, uint32_t channel, uint32_t channels, uint32_t *half)
{
    const struct cnnvp_train_layer *layer = product->layer;
    const uint32_t taps = layer->kx * layer->ky * guest->train.binary->value_bytes;
    const uint32_t row_stride = layer->ci * taps;
    const uint32_t first_row = product->error ? channel : out->channel;
    const uint32_t rows = product->error ? channels : out->channels;
    const uint32_t columns = product->error ? out->channels : channels;
    const struct cnnvp_train_box box = {
        .address = layer->weights.mantissas + first_row * row_stride + (product->error ? out->channel : channel) * taps,
        .row = columns * taps,
        .rows = rows,
        .row_stride = row_stride,
        .planes = 1,
    };
    const int by_channel = guest->train.binary->block == CNNVP_TRAIN_BY_CHANNEL;
    const uint32_t exponents = cnnvp_train_even(rows * box.row);
    if (cnnvp_train_find(guest, CNNVP_TRAIN_WEIGHTS, box.address, cnnvp_train_pack(rows, columns), 0, half))
        return exponents;
    cnnvp_train_load(guest, CNNVP_TRAIN_WEIGHTS, *half, 0, &box);
    const struct cnnvp_train_box of_blocks =
        cnnvp_train_line(layer->weights.exponents + (by_channel ? first_row : 0), by_channel ? rows : 1u);
    cnnvp_train_load(guest, CNNVP_TRAIN_WEIGHTS, *half, exponents, &of_blocks);
    return exponents;
}

/* ---- commands ---- */

static uint32_t halves_of(uint32_t input, uint32_t weight, uint32_t middle)
{
    return cnnvp_train_bit(input, CNNVP_TRAIN_INPUT) | cnnvp_train_bit(weight, CNNVP_TRAIN_WEIGHTS) |
           cnnvp_train_middle(middle);
}

/* Operands of a slice's command, besides the product and the tile. */
struct slice {
    uint32_t channels;
    uint32_t pad_rows;
    uint32_t rows;
    uint32_t exponents;        /* in the input half */
    uint32_t kernel_exponents; /* in the weight half */
    uint32_t halves;
    uint32_t accumulate;
};

static uint32_t status_of(const struct product *product, const struct slice *slice)
{
    return slice->accumulate << CNNVP_STATUS_tforward_accumulate |
           (product->adds_float ? 1u : 0u) << CNNVP_STATUS_tforward_fp32;
}

static uint32_t kernel_strides(const struct cnnvp_guest *guest, const struct product *product)
{
    const uint32_t by_channel = guest->train.binary->block == CNNVP_TRAIN_BY_CHANNEL;
    return product->error ? cnnvp_train_pack(0, by_channel) : cnnvp_train_pack(by_channel, 0);
}

static void push_convolution(struct cnnvp_guest *guest, const struct product *product, const struct tile *tile,
                             const struct slice *slice)
{
    const struct cnnvp_train_layer *layer = product->layer;
    const uint32_t in_plane = slice->rows * product->in_width;
    const uint32_t out_plane = tile->cut.rows * product->out_width;
    const struct cnnvp_tconv conv = {
        .in_row_stride = cnnvp_train_row_stride(guest, CNNVP_TRAIN_INPUT, product->in_width),
        .in_channel_stride = in_plane,
        .in_image_stride = cnnvp_train_map_stride(guest, CNNVP_TRAIN_INPUT, slice->channels * in_plane),
        .in_size = cnnvp_train_pack(product->in_width, slice->rows),
        .images = tile->cut.images,
        .in_channels = slice->channels,
        .out_channels = tile->cut.channels,
        .out_size = cnnvp_train_pack(product->out_width, tile->cut.rows),
        .kernel = cnnvp_train_pack(layer->kx, layer->ky),
        .stride = cnnvp_train_pack(layer->sx, layer->sy),
        .pad = cnnvp_train_pack(layer->px, slice->pad_rows),
        .out_channel_stride = cnnvp_train_channel_stride(guest, out_plane),
        .out_image_stride = cnnvp_train_image_stride(guest, tile->cut.channels * out_plane, SUM_BYTES),
        .in_exp_addr = slice->exponents,
        .in_exp_strides = cnnvp_train_exponent_strides(layer->block),
        .weight_exp_addr = slice->kernel_exponents,
        .weight_exp_strides = kernel_strides(guest, product),
        .out_exp_addr = CNNVP_TRAIN_HELD | product->held_scale,
    };
    cnnvp_train_push(guest, product->error ? CNNVP_OPCODE_terror : CNNVP_OPCODE_tforward, status_of(product, slice),
                     slice->halves, CNNVP_TRAIN_BASE_CONV, &conv, sizeof conv);
}

static void push_matrix(struct cnnvp_guest *guest, const struct product *product, const struct tile *tile,
                        const struct slice *slice)
{
    const struct cnnvp_tmatmul matmul = {
        .in_image_stride = cnnvp_train_map_stride(guest, CNNVP_TRAIN_INPUT, slice->channels),
        .images = tile->cut.images,
        .inputs = slice->channels,
        .outputs = tile->cut.channels,
        .out_image_stride = cnnvp_train_image_stride(guest, tile->cut.channels, SUM_BYTES),
        .in_exp_addr = slice->exponents,
        .in_exp_stride = product->layer->block == CNNVP_TRAIN_BY_IMAGE,
        .weight_exp_addr = slice->kernel_exponents,
        .weight_exp_strides = kernel_strides(guest, product),
        .out_exp_addr = CNNVP_TRAIN_HELD | product->held_scale,
    };
    cnnvp_train_push(guest, product->error ? CNNVP_OPCODE_tback : CNNVP_OPCODE_tmatmul, status_of(product, slice),
                     slice->halves, CNNVP_TRAIN_BASE_MATMUL, &matmul, sizeof matmul);
}

/* Adds the bias: one more input channel, of ones (Part B 0-8). */
static void push_bias(struct cnnvp_guest *guest, const struct product *product, const struct tile *tile)
{
    const struct cnnvp_train_layer *layer = product->layer;
    const uint32_t bytes = guest->train.binary->value_bytes;
    struct slice slice = {.channels = 1, .rows = tile->cut.rows, .accumulate = 1};
    const struct cnnvp_train_box box =
        cnnvp_train_line(layer->biases.mantissas + tile->cut.channel * bytes, tile->cut.channels * bytes);
    const struct cnnvp_train_box exponent = cnnvp_train_line(layer->biases.exponents, 1);
    uint32_t half;
    slice.kernel_exponents = cnnvp_train_even(box.row);
    if (!cnnvp_train_find(guest, CNNVP_TRAIN_WEIGHTS, box.address, cnnvp_train_pack(tile->cut.channels, 1), 0, &half)) {
        cnnvp_train_load(guest, CNNVP_TRAIN_WEIGHTS, half, 0, &box);
        cnnvp_train_load(guest, CNNVP_TRAIN_WEIGHTS, half, slice.kernel_exponents, &exponent);
    }
    slice.halves = halves_of(0, half, tile->half);
    const uint32_t status = status_of(product, &slice) | 1u << CNNVP_STATUS_tforward_bias;
    const uint32_t plane = tile->cut.rows * product->out_width;
    if (layer->op == CNNVP_TRAIN_FC) {
        const struct cnnvp_tmatmul matmul = {
            .images = tile->cut.images,
            .inputs = 1,
            .outputs = tile->cut.channels,
            .out_image_stride = cnnvp_train_image_stride(guest, tile->cut.channels, SUM_BYTES),
            .weight_exp_addr = slice.kernel_exponents,
            .out_exp_addr = CNNVP_TRAIN_HELD | product->held_scale,
        };
        cnnvp_train_push(guest, CNNVP_OPCODE_tmatmul, status, slice.halves, CNNVP_TRAIN_BASE_MATMUL, &matmul,
                         sizeof matmul);
        return;
    }
    const uint32_t size = cnnvp_train_pack(product->out_width, tile->cut.rows);
    const struct cnnvp_tconv conv = {
        .in_size = size,
        .images = tile->cut.images,
        .in_channels = 1,
        .out_channels = tile->cut.channels,
        .out_size = size,
        .kernel = cnnvp_train_pack(1, 1),
        .stride = cnnvp_train_pack(1, 1),
        .out_channel_stride = cnnvp_train_channel_stride(guest, plane),
        .out_image_stride = cnnvp_train_image_stride(guest, tile->cut.channels * plane, SUM_BYTES),
        .weight_exp_addr = slice.kernel_exponents,
        .out_exp_addr = CNNVP_TRAIN_HELD | product->held_scale,
    };
    cnnvp_train_push(guest, CNNVP_OPCODE_tforward, status, slice.halves, CNNVP_TRAIN_BASE_CONV, &conv, sizeof conv);
}

/* Pushes the product of a slice of channels of the first operand with the kernels of a tile. `reload`: the tile's sums
 * come back from memory for each slice. */
static void push_slice(struct cnnvp_guest *guest, const struct product *product, struct tile *tile, uint32_t channel,
                       int reload)
{
    struct cnnvp_train_cut in = {.image = tile->cut.image, .images = tile->cut.images, .channel = channel};
    struct slice slice = {.accumulate = channel != 0};
    uint32_t input = 0;
    uint32_t weight = 0;
    in.channels = cnnvp_minimum32(product->tiles.in, product->in_channels - channel);
    slice.pad_rows = input_rows(product, &tile->cut, &in.row, &in.rows);
    slice.exponents = product->error ? cnnvp_train_load_errors(guest, product->layer, &in, CNNVP_TRAIN_INPUT, &input)
                                     : cnnvp_train_load_inputs(guest, product->layer, &in, &input);
    slice.kernel_exponents = load_kernels(guest, product, &tile->cut, channel, in.channels, &weight);
    if (channel == 0 || reload) {
        /* With one half, the pending tile must leave it first. */
        if (guest->train.binary->output_halves == 1u)
            finish(guest);
        tile->half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
    }
    if (channel != 0 && reload) {
        /* The sums to load may be pending, not yet stored. */
        if (is_pending(guest, &tile->cut))
            finish(guest);
        const struct cnnvp_train_box box =
            cnnvp_train_sums_box(guest, product->layer, product->sums, product->out_channels, product->out_height,
                                 product->out_width, 1, &tile->cut);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, tile->half, 0, &box);
    }
    slice.channels = in.channels;
    slice.rows = in.rows;
    slice.halves = halves_of(input, weight, tile->half);
    if (product->layer->op == CNNVP_TRAIN_FC)
        push_matrix(guest, product, tile, &slice);
    else
        push_convolution(guest, product, tile, &slice);
}

/* ---- orders ---- */

static void run_tile(struct cnnvp_guest *guest, const struct product *product, struct tile *tile)
{
    const uint32_t slices = (product->in_channels + product->tiles.in - 1u) / product->tiles.in;
    for (uint32_t i = 0; i < slices; ++i) {
        push_slice(guest, product, tile, i * product->tiles.in, 0);
        if (i == 0 && guest->train.pending.steps == 2u)
            advance(guest);
        else if (i == slices / 2u)
            finish(guest);
    }
    if (product->layer->bias && !product->error)
        push_bias(guest, product, tile);
    leave(guest, product, tile, 1);
}

/* Goes to the next tile of results: channels innermost, then rows. No tile begins at rows that no error reaches.
 * Returns 0 after the last. */
static int next_tile(const struct product *product, struct tile *tile)
{
    struct cnnvp_train_cut *cut = &tile->cut;
    if (cut->channels != 0) {
        cut->channel += cut->channels;
        if (cut->channel == product->out_channels) {
            cut->channel = 0;
            cut->row += cut->rows;
        }
    }
    if (cut->row == product->out_height)
        return 0;
    cut->channels = cnnvp_minimum32(product->tiles.out, product->out_channels - cut->channel);
    cut->rows = cnnvp_minimum32(product->tiles.rows, product->out_height - cut->row);
    if (product->out_height - cut->row - cut->rows <= product->unreached)
        cut->rows = product->out_height - cut->row;
    return 1;
}

static void run_group_by_kernel(struct cnnvp_guest *guest, const struct product *product, uint32_t image,
                                uint32_t images)
{
    struct tile tile = {.cut = {.image = image, .images = images}};
    while (next_tile(product, &tile))
        run_tile(guest, product, &tile);
}

static void run_group_by_channel(struct cnnvp_guest *guest, const struct product *product, uint32_t image,
                                 uint32_t images)
{
    for (uint32_t channel = 0; channel < product->in_channels; channel += product->tiles.in) {
        struct tile tile = {.cut = {.image = image, .images = images}};
        const int complete = product->in_channels - channel <= product->tiles.in;
        while (next_tile(product, &tile)) {
            push_slice(guest, product, &tile, channel, 1);
            if (complete && product->layer->bias && !product->error)
                push_bias(guest, product, &tile);
            leave(guest, product, &tile, complete);
        }
    }
}

static void run(struct cnnvp_guest *guest, const struct product *product)
{
    const uint32_t arrays = guest->train.binary->arrays;
    cnnvp_train_forget(guest);
    for (uint32_t image = 0; image < guest->train.images; image += arrays) {
        const uint32_t images = cnnvp_minimum32(arrays, guest->train.images - image);
        if (cnnvp_train_has(guest, CNNVP_TRAIN_CHANNEL_ORDER))
            run_group_by_channel(guest, product, image, images);
        else
            run_group_by_kernel(guest, product, image, images);
    }
    finish(guest);
}

void cnnvp_train_forward(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    const struct product product = {
        .layer = layer,
        .adds_float = layer->bias || cnnvp_train_adds_float(guest),
        .in_channels = layer->ci,
        .in_height = layer->hi,
        .in_width = layer->wi,
        .out_channels = layer->co,
        .out_height = layer->ho,
        .out_width = layer->wo,
        .tiles = layer->forward,
        .sums = layer->sums,
        .held_scale = guest->train.binary->held_scale,
    };
    run(guest, &product);
}

void cnnvp_train_error(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                       const struct cnnvp_train_layer *below)
{
    const struct product product = {
        .layer = layer,
        .error = 1,
        .adds_float = cnnvp_train_adds_float(guest),
        .in_channels = layer->co,
        .in_height = layer->ho,
        .in_width = layer->wo,
        .out_channels = layer->ci,
        .out_height = layer->hi,
        .out_width = layer->wi,
        .unreached = cnnvp_train_uncovered(layer->hi, layer->py, layer->ho, layer->ky, layer->sy),
        .tiles = layer->backward,
        .sums = below->back,
        .held_scale = guest->train.binary->held_back,
    };
    run(guest, &product);
}
