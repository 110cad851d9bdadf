/* SPDX-License-Identifier: Apache-2.0 */
/* The layer functions of S000, except normalisation.c and softmax.c, and elementwise arithmetic; see layers.h. */
#include "layers_internal.h"

#include <stddef.h>

/* Seed of stochastic rounding, different for each layer, image and step. 0 if rounding is not stochastic. */
static uint32_t step_seed(const struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                          const struct cnnvp_step *step)
{
    if (!cnnvp_rounds_by_chance(layer))
        return 0;
    return layer->seed + guest->image_number * CNNVP_IMAGE_SEEDS + step->seed + step->output.channel * 0x85ebca6bu +
           (uint32_t)step->output.row * 0xc2b2ae35u + (uint32_t)step->output.column * 0x27d4eb2fu;
}

static __attribute__((noinline)) struct cnnvp_epilogue *begin_after_flush(
    struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    cnnvp_make_room(guest);
    return cnnvp_begin_results(guest, layer, step);
}

struct cnnvp_epilogue *cnnvp_begin_results(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                           const struct cnnvp_step *step)
{
    if (!cnnvp_has_room(guest))
        return begin_after_flush(guest, layer, step);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_step(guest);
    epilogue->layer = layer;
    epilogue->channels = step->output.channels;
    epilogue->height = step->output.rows;
    epilogue->width = step->output.columns;
    epilogue->more_images = step->more_images;
    epilogue->result_address = 0;
    epilogue->address = cnnvp_results_address(guest, layer, step);
    epilogue->seed = step_seed(guest, layer, step);
    epilogue->store_at = guest->store_at;
    epilogue->again = 0;
    return epilogue;
}

void cnnvp_find_table(struct cnnvp_epilogue *epilogue, uint32_t half, uint32_t table_address)
{
    /* cppcheck-suppress [nullPointer, ctunullpointer] ; each step has a slice, whose results it has begun */
    const struct cnnvp_layer *layer = epilogue->layer;
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind == CNNVP_POST_TABLE)
            epilogue->needs |= CNNVP_NEEDS(CNNVP_BUFFER_WEIGHT, half);
    epilogue->weight_half = half;
    epilogue->table_address = table_address;
}

/* Input box of an output box for a sliding window of kx columns and ky rows. */
static inline struct cnnvp_box window_input(const struct cnnvp_layer *layer, uint32_t kx, uint32_t ky,
                                            const struct cnnvp_box *output, uint32_t channel, uint32_t channels)
{
    return (struct cnnvp_box){
        .channel = channel,
        .channels = channels,
        .row = output->row * (int32_t)layer->sy - (int32_t)layer->pad_top,
        .rows = (output->rows - 1u) * layer->sy + (ky - 1u) * layer->dy + 1u,
        .column = output->column * (int32_t)layer->sx - (int32_t)layer->pad_left,
        .columns = (output->columns - 1u) * layer->sx + (kx - 1u) * layer->dx + 1u,
    };
}

static inline __attribute__((always_inline)) struct cnnvp_window window_of(
    const struct cnnvp_layer *layer, uint32_t kx, uint32_t ky, const struct cnnvp_box *output,
    const struct cnnvp_input_tile *tile)
{
    struct cnnvp_window window = cnnvp_layer_window(layer, kx, ky, output->rows, output->columns);
    window.in_addr = tile->address;
    window.in_row_stride = tile->stride.row;
    window.in_channel_stride = tile->stride.channel;
    return window;
}

/* Pushes the windows of a layer that is folded or tabled or added to words: each row in folded parts, then the rest.
 * With CNNVP_ONE_PART there is one part. `results`: where added words lie in the output half. */
static void push_parts(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, struct cnnvp_operation operation,
                       uint32_t halves, const struct cnnvp_window *window, uint32_t results)
{
    struct cnnvp_window part = *window;
    const uint32_t is_added = cnnvp_is_added(layer);
    const uint32_t with_write_out = cnnvp_is_tabled(layer) | is_added;
    if (cnnvp_is_tabled(layer))
        cnnvp_set_table(layer, &part);
    if (is_added) {
        cnnvp_set_addition(layer, &part);
        part.out_addr += results;
    }
    if (layer->folded == CNNVP_ONE_PART) {
        cnnvp_push_window_with_write_out(guest, operation.opcode, operation.status, halves, &part, is_added);
        return;
    }
    for (uint32_t left = window->out_w; left != 0;) {
        const uint32_t count = cnnvp_row_part(layer, left);
        cnnvp_fold_row(layer, count, &part);
        if (with_write_out)
            cnnvp_push_window_with_write_out(guest, operation.opcode, operation.status, halves, &part, is_added);
        else
            cnnvp_push_window(guest, operation.opcode, operation.status, halves, &part);
        part.in_addr += count << layer->in.word_shift;
        part.out_addr += count * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
        part.acc_addr += count * layer->sum_bytes;
        if (!is_added)
            part.seed = cnnvp_part_seed(part.seed, layer->out.channels); /* distinct from those of the output slices */
        left -= count;
    }
}

/* Pushes the same windows for the batch's other images. `seed`: of the first of them. `slice`: first output of the
 * slice. */
static __attribute__((noinline)) void push_more_images(
    struct cnnvp_guest *guest, const struct cnnvp_layer *layer, uint32_t images, struct cnnvp_operation operation,
    uint32_t halves, const struct cnnvp_window *first, uint32_t image_bytes, uint32_t seed, uint32_t slice)
{
    const uint32_t high = cnnvp_word_high(operation.opcode, operation.status, guest->window_at, halves);
    struct cnnvp_window window = *first;
    for (; images != 0; --images, seed = cnnvp_image_seed(layer, seed, 1)) {
        window.in_addr += image_bytes;
        window.out_addr += layer->image_bytes;
        window.acc_addr += layer->image_bytes;
        window.seed = cnnvp_part_seed(seed, slice);
        if (layer->folded != 0 && layer->folded != CNNVP_NOT_FOLDED)
            push_parts(guest, layer, operation, halves, &window, 0);
        else
            cnnvp_push_window_again(guest, high, &window);
    }
}

/* 1: the next step of the layer may be the same elsewhere: one slice of inputs, and equal ones of outputs. */
static inline int is_alike(const struct cnnvp_layer *layer, const struct cnnvp_step *step, uint32_t last_outputs)
{
    return layer->tile_in >= (layer->depthwise ? step->output.channels : layer->in.channels) &&
           last_outputs == cnnvp_minimum32(layer->tile_out, step->output.channels) && step->more_images == 0 &&
           (layer->folded == 0 || (layer->folded == CNNVP_NOT_FOLDED && layer->product == 0));
}

/* `any` and `one` are constants at each call, so that the compiler specialises the code. `any` 0: the layer has no
 * tensor as weights, and is neither folded nor scaled nor tabled nor added to words. `one` 1: the step has one slice of
 * one image. */
static inline __attribute__((always_inline)) void convolve(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                           const struct cnnvp_step *step, const int any, const int one)
{
    const struct cnnvp_box *output = &step->output;
    /* Depthwise: each output channel has its own input channel, so the group's channels are one slice. */
    const uint32_t first_in = layer->depthwise ? output->channel : 0;
    const uint32_t inputs = layer->depthwise ? output->channels : layer->in.channels;
    const uint32_t outputs = output->channels;
    const uint32_t plane = output->rows * output->columns;
    const uint32_t plane_bytes = plane * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
    const uint32_t tile_in = one ? inputs : layer->tile_in;
    const uint32_t tile_out = one ? outputs : layer->tile_out;
    const uint32_t more_images = one ? 0 : step->more_images;
    const int by_chance = cnnvp_rounds_by_chance(layer);
    uint32_t weight_tile = cnnvp_weight_tile_number(layer, output->channel, 0, 0);
    uint32_t weight_half = 0;
    struct cnnvp_box *const box = &guest->window_box;
    struct cnnvp_window *const window = &guest->window;
    struct cnnvp_epilogue *epilogue = NULL;
    *box = window_input(layer, layer->kx, layer->ky, output, first_in, tile_in);
    uint32_t in = 0;
    do {
        box->channel = first_in + in;
        box->channels = cnnvp_minimum32(tile_in, inputs - in);
        const struct cnnvp_input_tile tile = cnnvp_bring_images(guest, &layer->in, box, more_images);
        if (in == 0)
            *window = window_of(layer, layer->kx, layer->ky, output, &tile);
        window->in_channels = box->channels;
        struct cnnvp_operation operation = cnnvp_conv_operation(layer, in == 0, in + box->channels == inputs);
        if (any)
            operation.status = cnnvp_scaled_status(layer, operation.status);
        const uint32_t high = cnnvp_word_high(operation.opcode, operation.status, guest->window_at, 0);
        const uint32_t weights = cnnvp_output_weights(layer, box->channels);
        uint32_t out = 0;
        do {
            window->out_channels = cnnvp_minimum32(tile_out, outputs - out);
            weight_half = any && layer->product
                              ? cnnvp_load_tensor_weight_tile(guest, &layer->in2, weight_tile, &window->weight_addr)
                              : cnnvp_load_weight_tile(guest, weight_tile, &window->weight_addr);
            ++weight_tile;
            if (one || epilogue == NULL) {
                epilogue = cnnvp_begin_results(guest, layer, step);
                if (any && cnnvp_is_added(layer)) {
                    epilogue->result_address = cnnvp_added_at(layer, outputs * plane);
                    cnnvp_load_results(guest, &layer->in2, output, epilogue->output_half, epilogue->result_address);
                }
            }
            window->bias_addr = window->weight_addr + cnnvp_weight_bytes(layer, window->out_channels * weights);
            if (!one) {
                window->in_addr = tile.address;
                window->out_addr = out * plane_bytes;
                window->acc_addr = out * plane * layer->sum_bytes;
            }
            const uint32_t halves = cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half);
            if (by_chance)
                window->seed = cnnvp_part_seed(epilogue->seed, out);
            if (any && layer->folded != CNNVP_NOT_FOLDED)
                push_parts(guest, layer, operation, halves, window, epilogue->result_address);
            else if (in != 0 || out != 0)
                cnnvp_push_window_again(guest, high | halves, window);
            else
                cnnvp_push_window(guest, operation.opcode, operation.status, halves, window);
            if (more_images != 0)
                push_more_images(guest, layer, more_images, operation, halves, window, tile.image_bytes,
                                 by_chance ? epilogue->seed + CNNVP_IMAGE_SEEDS : 0, out);
            out += tile_out;
        } while (!one && out < outputs);
        in += tile_in;
    } while (!one && in < inputs);
    const uint32_t table = window->bias_addr + layer->bias * window->out_channels * CNNVP_WORD_BYTES;
    if (any) /* maybe the write-out's */
        cnnvp_find_table(epilogue, weight_half, table);
    else
        cnnvp_use_table(epilogue, weight_half, table);
    const uint32_t added = layer->added.tag;
    if (added != 0 && !cnnvp_is_added(layer)) {
        epilogue->operand = cnnvp_bring_input(guest, &layer->in2, output);
        if (!layer->in2.on_chip)
            epilogue->needs |= CNNVP_NEEDS(CNNVP_BUFFER_INPUT, epilogue->operand.half);
    }
    cnnvp_end_step(guest);
    const int alike =
        epilogue->needs == 0 && !by_chance && added == 0 && (one || is_alike(layer, step, window->out_channels));
    guest->window_of = alike ? layer : NULL;
    guest->window_outputs = outputs;
}

/* 1: the step differs from the one before only in its place and its group of channels. */
static inline int is_elsewhere(const struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                               const struct cnnvp_step *step)
{
    return guest->window_of == layer && step->output.rows == guest->window.out_h &&
           step->output.columns == guest->window.out_w && step->output.channels == guest->window_outputs &&
           step->more_images == 0;
}

/* 1: the step has one slice of one image. */
static inline int is_one(const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    return (layer->depthwise ? step->output.channels : layer->in.channels) <= layer->tile_in &&
           step->output.channels <= layer->tile_out && step->more_images == 0;
}

/* Does such a step: all but addresses is in guest->window and in the registers. */
static void convolve_elsewhere(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                               const struct cnnvp_step *step)
{
    const struct cnnvp_box *output = &step->output;
    struct cnnvp_box *box = &guest->window_box;
    struct cnnvp_window *window = &guest->window;
    const uint32_t weight_bytes = window->bias_addr - window->weight_addr;
    uint32_t weight_tile = cnnvp_weight_tile_number(layer, output->channel, 0, 0);
    box->channel = layer->depthwise ? output->channel : 0;
    box->row = output->row * (int32_t)layer->sy - (int32_t)layer->pad_top;
    box->column = output->column * (int32_t)layer->sx - (int32_t)layer->pad_left;
    const struct cnnvp_input_tile tile = cnnvp_bring_input(guest, &layer->in, box);
    struct cnnvp_epilogue *epilogue = NULL;
    window->in_addr = tile.address;
    window->out_addr = window->acc_addr = 0;
    for (uint32_t left = output->channels;; ++weight_tile) {
        const uint32_t weight_half = cnnvp_load_weight_tile(guest, weight_tile, &window->weight_addr);
        if (epilogue == NULL)
            epilogue = cnnvp_begin_results(guest, layer, step);
        window->bias_addr = window->weight_addr + weight_bytes;
        cnnvp_push_window_elsewhere(guest, cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half));
        left -= window->out_channels;
        if (left == 0)
            break;
        const uint32_t words = window->out_channels * window->out_channel_stride;
        window->out_addr += words * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
        window->acc_addr += words * layer->sum_bytes;
    }
    cnnvp_end_step(guest);
}

static __attribute__((noinline)) void convolve_slices(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                      const struct cnnvp_step *step)
{
    convolve(guest, layer, step, 0, 0);
}

static __attribute__((noinline)) void convolve_anew(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                    const struct cnnvp_step *step)
{
    if (is_one(layer, step))
        convolve(guest, layer, step, 0, 1);
    else
        convolve_slices(guest, layer, step);
}

static __attribute__((noinline)) void convolve_any(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                   const struct cnnvp_step *step)
{
    convolve(guest, layer, step, 1, 0);
}

void cnnvp_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    if (is_elsewhere(guest, layer, step))
        convolve_elsewhere(guest, layer, step);
    else
        convolve_anew(guest, layer, step);
}

void cnnvp_any_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    if (is_elsewhere(guest, layer, step))
        convolve_elsewhere(guest, layer, step);
    else
        convolve_any(guest, layer, step);
}

/* The part of a pooling window that one instruction sweeps: rows and columns of taps from (ky, kx) on. */
struct window_part {
    uint32_t ky, rows;
    uint32_t kx, columns;
};

/* Input box of such a part. */
static inline __attribute__((always_inline)) struct cnnvp_box part_input(
    const struct cnnvp_layer *layer, const struct cnnvp_box *output, const struct window_part *part)
{
    struct cnnvp_box box = window_input(layer, part->columns, part->rows, output, output->channel, output->channels);
    box.row += (int32_t)(part->ky * layer->dy);
    box.column += (int32_t)(part->kx * layer->dx);
    return box;
}

/* The first of `count` positions from `first` on that lies in [0, size), and the one after the last, packed. */
static inline uint32_t valid(int32_t first, uint32_t count, uint32_t size)
{
    if (first >= 0 && (uint32_t)first + count <= size)
        return cnnvp_pack(0, count);
    const int32_t left = (int32_t)size - first;
    return cnnvp_pack(cnnvp_minimum32(first < 0 ? (uint32_t)-first : 0, count),
                      cnnvp_minimum32(count, left > 0 ? (uint32_t)left : 0));
}

/* Sweeps a part, whose input is on chip, over the step's positions. Results go to address 0 of the output half. */
static inline __attribute__((always_inline)) void push_pool_part(
    struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *output,
    const struct window_part *part, const struct cnnvp_box *box, const struct cnnvp_input_tile *tile,
    const struct cnnvp_epilogue *epilogue)
{
    struct cnnvp_window window = window_of(layer, part->columns, part->rows, output, tile);
    window.in_channels = output->channels;
    window.out_channels = output->channels;
    /* The frame holds zeros, which must not win a maximum: only valid rows and columns count. */
    window.valid_rows = valid(box->row, box->rows, layer->in.height);
    window.valid_cols = valid(box->column, box->columns, layer->in.width);
    const int first = part->ky == 0 && part->kx == 0;
    window.acc_addr = cnnvp_pool_sums_at(layer, first, output->channels * output->rows * output->columns);
    window.seed = epilogue->seed;
    const struct cnnvp_operation operation = cnnvp_pool_operation(layer, first);
    cnnvp_push_window(guest, operation.opcode, operation.status,
                      cnnvp_slice_halves(tile->half, 0, epilogue->output_half), &window);
}

/* Goes to the window's next part. Returns 0 if there is none. */
static __attribute__((noinline)) int next_part(const struct cnnvp_layer *layer, struct window_part *part)
{
    part->kx += part->columns;
    if (part->kx == layer->kx) {
        part->kx = 0;
        part->ky += part->rows;
    }
    part->rows = cnnvp_minimum32(cnnvp_window_rows(layer), layer->ky - part->ky);
    part->columns = cnnvp_minimum32(cnnvp_window_columns(layer), layer->kx - part->kx);
    return part->rows != 0;
}

void cnnvp_pooling(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box *output = &step->output;
    struct cnnvp_epilogue *epilogue = NULL;
    uint32_t table = 0;
    uint32_t weight_half = 0;
    struct window_part part = {.rows = cnnvp_window_rows(layer), .columns = cnnvp_window_columns(layer)};
    do {
        const struct cnnvp_box box = part_input(layer, output, &part);
        const struct cnnvp_input_tile tile = cnnvp_bring_input(guest, &layer->in, &box);
        if (epilogue == NULL) { /* load before the step before is flushed (pipeline.h) */
            if (layer->weight_tile_count != 0)
                weight_half = cnnvp_load_weight_tile(guest, layer->first_weight_tile, &table);
            epilogue = cnnvp_begin_results(guest, layer, step);
        }
        push_pool_part(guest, layer, output, &part, &box, &tile, epilogue);
    } while ((part.rows < layer->ky || part.columns < layer->kx) && next_part(layer, &part));
    if (layer->pool == CNNVP_POOL_AVERAGE && layer->by_position) {
        epilogue->row = output->row;
        epilogue->column = output->column;
        epilogue->result_address = output->channels * output->rows * output->columns * layer->sum_bytes;
    }
    cnnvp_use_table(epilogue, weight_half, table);
    cnnvp_end_step(guest);
}

/* Pushes the same products for the batch's other images; see push_more_images. */
static __attribute__((noinline)) void push_more_rows(
    struct cnnvp_guest *guest, const struct cnnvp_layer *layer, uint32_t images, uint32_t status, uint32_t halves,
    const struct cnnvp_matmul *first, uint32_t image_bytes, uint32_t seed, uint32_t slice)
{
    struct cnnvp_matmul matmul = *first;
    for (; images != 0; --images, seed = cnnvp_image_seed(layer, seed, 1)) {
        matmul.in_addr += image_bytes;
        matmul.out_addr += layer->image_bytes;
        matmul.acc_addr += layer->image_bytes;
        matmul.seed = cnnvp_part_seed(seed, slice);
        cnnvp_push_matmul(guest, status, halves, &matmul);
    }
}

/* `one` is a constant at each call. 1: the step has one slice of outputs, of one image. */
static inline __attribute__((always_inline)) void multiply(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                           const struct cnnvp_step *step, const int one)
{
    const uint32_t inputs = cnnvp_layer_inputs(layer);
    const uint32_t outputs = step->output.channels;
    const uint32_t tile_in = layer->tile_in;
    const uint32_t tile_out = one ? outputs : layer->tile_out;
    const uint32_t more_images = one ? 0 : step->more_images;
    uint32_t weight_tile = cnnvp_weight_tile_number(layer, step->output.channel, 0, 0);
    uint32_t weight_half = 0;
    struct cnnvp_epilogue *epilogue = NULL;
    struct cnnvp_box box = {.channels = 1, .rows = 1};
    struct cnnvp_matmul matmul = {.outputs = outputs, .format = layer->format, .limits = layer->limits};
    const uint32_t weight_bytes = cnnvp_format_bytes(layer->format, CNNVP_NARROW_B);
    uint32_t input_bytes = outputs * weight_bytes;
    uint32_t memory = cnnvp_tensor_address(guest, &layer->in, &box);
    const uint32_t memory_step = tile_in * layer->in.column_stride << layer->in.word_shift;
    uint32_t in = 0;
    do {
        box.column = (int32_t)in;
        box.columns = matmul.inputs = cnnvp_minimum32(tile_in, inputs - in);
        const struct cnnvp_input_tile tile =
            layer->in.on_chip ? cnnvp_chip_tile(&layer->in, &box)
                              : cnnvp_loaded_tile(&layer->in, &box,
                                                  cnnvp_load_images_from(guest, &layer->in, &box, more_images, memory));
        const uint32_t status =
            cnnvp_scaled_status(layer, cnnvp_slice_status(layer, in == 0, in + matmul.inputs == inputs));
        matmul.in_addr = tile.address;
        uint32_t out = 0;
        do {
            if (!one) {
                matmul.outputs = cnnvp_minimum32(tile_out, outputs - out);
                input_bytes = matmul.outputs * weight_bytes;
            }
            weight_half = cnnvp_load_weight_tile(guest, weight_tile, &matmul.weight_addr);
            ++weight_tile;
            if (epilogue == NULL) {
                epilogue = cnnvp_begin_results(guest, layer, step);
                matmul.seed = epilogue->seed;
            }
            matmul.bias_addr = matmul.weight_addr + cnnvp_even(matmul.inputs * input_bytes);
            const uint32_t halves = cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half);
            if (!one) {
                matmul.out_addr = out * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT);
                matmul.acc_addr = out * layer->sum_bytes;
                matmul.seed = cnnvp_part_seed(epilogue->seed, out);
            }
            if (one && in != 0)
                cnnvp_push_matmul_again(guest, status, halves, &matmul);
            else
                cnnvp_push_matmul(guest, status, halves, &matmul);
            if (more_images != 0)
                push_more_rows(guest, layer, more_images, status, halves, &matmul, tile.image_bytes,
                               cnnvp_image_seed(layer, epilogue->seed, 1), out);
            out += tile_out;
        } while (!one && out < outputs);
        in += tile_in;
        memory += memory_step;
    } while (in < inputs);
    cnnvp_use_table(epilogue, weight_half, matmul.bias_addr + layer->bias * matmul.outputs * CNNVP_WORD_BYTES);
    cnnvp_end_step(guest);
}

static __attribute__((noinline)) void multiply_any(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                   const struct cnnvp_step *step)
{
    multiply(guest, layer, step, 0);
}

/* S000 streams weights past the buffer (A5 L6-L8). Here slices of weights are loaded into one half of the weight buffer
 * while the other half is in use: long bursts instead of one request per input. */
void cnnvp_fully_connected(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    if (step->output.channels <= layer->tile_out && step->more_images == 0)
        multiply(guest, layer, step, 1);
    else
        multiply_any(guest, layer, step);
}

struct cnnvp_input_tile cnnvp_bring_words(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                          const struct cnnvp_box *output)
{
    if (layer->permuted == 0)
        return cnnvp_bring_input(guest, &layer->in, output);
    const int32_t first[3] = {(int32_t)output->channel, output->row, output->column};
    const uint32_t count[3] = {output->channels, output->rows, output->columns};
    int32_t from[3] = {0, 0, 0};
    uint32_t size[3] = {1, 1, 1};
    for (uint32_t i = 0; i < 3; ++i) {
        from[layer->from[i]] = first[i];
        size[layer->from[i]] = count[i];
    }
    const struct cnnvp_box box = {(uint32_t)from[0], size[0], from[1], size[1], from[2], size[2]};
    struct cnnvp_input_tile tile = cnnvp_bring_input(guest, &layer->in, &box);
    tile.stride = cnnvp_permuted_strides(layer, tile.stride);
    return tile;
}

/* S000 reads data straight from off-chip storage (A3 L4-L5). Here tiles pass through the input buffer, whose second
 * half hides the memory's latency. */
void cnnvp_activation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_layer_post *function = &layer->posts[0];
    const struct cnnvp_input_tile tile = cnnvp_bring_words(guest, layer, &step->output);
    struct cnnvp_vector vector = {.limits = layer->limits};
    uint32_t weight_half = 0;
    if (layer->weight_tile_count != 0)
        weight_half = cnnvp_load_weight_tile(guest, layer->first_weight_tile, &vector.b_addr);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_results(guest, layer, step);
    vector.seed = epilogue->seed;
    const struct cnnvp_operation operation = cnnvp_post_operation(function, &vector);
    cnnvp_push_elementwise(
        guest, operation.opcode, operation.status | cnnvp_clip_status(layer->clips),
        cnnvp_slice_halves(tile.half, weight_half, epilogue->output_half), &vector, &step->output, &tile, NULL);
    cnnvp_use_table(epilogue, weight_half, vector.b_addr);
    cnnvp_end_step(guest);
}

/* The part of an operand that a box of the result needs. Dimensions of 1 are broadcast. */
static struct cnnvp_box operand_box(const struct cnnvp_tensor *operand, const struct cnnvp_tensor *out,
                                    const struct cnnvp_box *box)
{
    struct cnnvp_box part = *box;
    if (operand->channels < out->channels) {
        part.channel = 0;
        part.channels = 1;
    }
    if (operand->height < out->height) {
        part.row = 0;
        part.rows = 1;
    }
    if (operand->width < out->width) {
        part.column = 0;
        part.columns = 1;
    }
    return part;
}

static struct cnnvp_input_tile load_beside(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                           const struct cnnvp_box *box, uint32_t half, uint32_t at)
{
    cnnvp_load_box_into(guest, tensor, box, half, at);
    return (struct cnnvp_input_tile){half, at, {box->rows * box->columns, box->columns, 1}, 0};
}

/* Brings both operands into one half: that of the operand on chip, if there is one. Of two operands from memory, the
 * second lies behind the first. */
static void bring_operands(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *box,
                           struct cnnvp_input_tile *a, struct cnnvp_input_tile *b)
{
    const struct cnnvp_box a_box = operand_box(&layer->in, &layer->out, box);
    const struct cnnvp_box b_box = operand_box(&layer->in2, &layer->out, box);
    if (!layer->in.on_chip && layer->in2.on_chip) {
        *a = load_beside(guest, &layer->in, &a_box, layer->in2.chip_half, layer->in.chip_address);
        *b = cnnvp_bring_input(guest, &layer->in2, &b_box);
    } else {
        const uint32_t bytes =
            layer->in.on_chip ? 0 : cnnvp_even(a_box.channels * a_box.rows * a_box.columns << layer->in.word_shift);
        *a = cnnvp_bring_input(guest, &layer->in, &a_box);
        *b = layer->in2.on_chip ? cnnvp_bring_input(guest, &layer->in2, &b_box)
                                : load_beside(guest, &layer->in2, &b_box, a->half, layer->in2.chip_address + bytes);
    }
    a->stride = cnnvp_spread_strides(&layer->in, &layer->out, a->stride);
    b->stride = cnnvp_spread_strides(&layer->in2, &layer->out, b->stride);
}

void cnnvp_addition(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box *box = &step->output;
    struct cnnvp_input_tile a, b;
    bring_operands(guest, layer, box, &a, &b);
    uint32_t table = 0;
    uint32_t weight_half = 0;
    if (layer->weight_tile_count != 0)
        weight_half = cnnvp_load_weight_tile(guest, layer->first_weight_tile, &table);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_results(guest, layer, step);
    const struct cnnvp_vector vector = cnnvp_arithmetic_vector(layer, epilogue->seed);
    const struct cnnvp_operation operation = cnnvp_arithmetic_operation(layer);
    cnnvp_push_elementwise(guest, operation.opcode, operation.status,
                           cnnvp_slice_halves(a.half, 0, epilogue->output_half), &vector, box, &a, &b);
    cnnvp_use_table(epilogue, weight_half, table);
    cnnvp_end_step(guest);
}
