/* SPDX-License-Identifier: Apache-2.0 */
/* The layer schedule: cuts layers into steps, and calls groups in their place; see schedule.h. */
#include "schedule.h"

#include "depth.h"
#include "fused.h"

enum scratchpad_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) SCRATCHPAD_##name = offset,
#include "memory/buffer/scratchpad.def"
};

/* A function of layers.h. */
typedef void layer_function(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);

static inline layer_function *function_of(const struct cnnvp_layer *layer)
{
    switch (layer->op) {
    case CNNVP_OP_CONV:
        return layer->folded == 0 ? cnnvp_convolution : cnnvp_any_convolution;
    case CNNVP_OP_POOL:
        return cnnvp_pooling;
    case CNNVP_OP_FC:
        return cnnvp_fully_connected;
    case CNNVP_OP_ACTIVATION:
        return cnnvp_activation;
    case CNNVP_OP_NORM:
        return cnnvp_normalisation;
    case CNNVP_OP_ADD:
        return cnnvp_addition;
    default:
        return cnnvp_softmax;
    }
}

void cnnvp_schedule_note(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t words)
{
    guest->notes[guest->note_count++] = (struct cnnvp_note){tensor, words};
}

static __attribute__((noinline)) void push_notes(struct cnnvp_guest *guest)
{
    for (uint32_t i = 0; i < guest->note_count; ++i)
        cnnvp_push_live(guest, guest->notes[i].tensor, guest->notes[i].words, CNNVP_BASE_LIVE);
    guest->note_count = 0;
}

static inline void settle(struct cnnvp_guest *guest)
{
    cnnvp_flush_epilogues(guest, 0);
    if (guest->note_count != 0)
        push_notes(guest);
}

void cnnvp_schedule_settle(struct cnnvp_guest *guest)
{
    settle(guest);
}

static inline void begin_layer(struct cnnvp_guest *guest, const struct cnnvp_layer *layer)
{
    uint32_t address;
    cnnvp_element_layer(&guest->element, layer->tag);
    if (layer->weight_tile_count != 0)
        (void)cnnvp_load_weight_tile(guest, layer->first_weight_tile, &address);
    settle(guest);
    cnnvp_forget_inputs(guest);
}

void cnnvp_schedule_begin(struct cnnvp_guest *guest, const struct cnnvp_layer *layer)
{
    begin_layer(guest, layer);
}

/* Runs the tiles of a group of output channels, for the images in work. `step` has all but their rows and columns. */
static inline void run_tiles(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *box,
                             struct cnnvp_step *step, layer_function *function)
{
    for (uint32_t row = 0; row < box->rows; row += layer->tile_h) {
        step->output.row = box->row + (int32_t)row;
        step->output.rows = cnnvp_minimum32(layer->tile_h, box->rows - row);
        for (uint32_t column = 0; column < box->columns; column += layer->tile_w) {
            step->output.column = box->column + (int32_t)column;
            step->output.columns = cnnvp_minimum32(layer->tile_w, box->columns - column);
            function(guest, layer, step);
        }
    }
}

/* Makes the step's channels those of the group from `channel` on. */
static inline void take_group(const struct cnnvp_layer *layer, const struct cnnvp_box *box, struct cnnvp_step *step,
                              uint32_t channel)
{
    step->output.channel = channel;
    step->output.channels = cnnvp_minimum32(layer->group_out, box->channels - channel);
}

/* Runs all steps of a box for a batch of several images. */
static __attribute__((noinline)) void run_batch(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                const struct cnnvp_box *box, layer_function *function)
{
    struct cnnvp_step step = {.place = &step.output};
    const uint32_t together = layer->images_outer ? layer->tile_images : guest->batch_images;
    for (uint32_t first = 0; first < guest->batch_images; first += together) {
        const uint32_t end = first + cnnvp_minimum32(together, guest->batch_images - first);
        for (uint32_t channel = 0; channel < box->channels; channel += layer->group_out) {
            take_group(layer, box, &step, channel);
            for (uint32_t image = first; image < end; image += layer->tile_images) {
                guest->image_number = guest->batch_first + image;
                step.more_images = cnnvp_minimum32(layer->tile_images, end - image) - 1u;
                run_tiles(guest, layer, box, &step, function);
            }
        }
    }
}

/* The same for one image. */
static __attribute__((noinline)) void run_image(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                                const struct cnnvp_box *box, layer_function *function)
{
    struct cnnvp_step step = {.place = &step.output};
    guest->image_number = guest->batch_first;
    for (uint32_t channel = 0; channel < box->channels; channel += layer->group_out) {
        take_group(layer, box, &step, channel);
        run_tiles(guest, layer, box, &step, function);
    }
}

/* Runs all steps of the box of results that `step` has. */
static inline void run_box(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_box *box = &step->output;
    layer_function *const function = function_of(layer);
    if (guest->batch_images != 1u) {
        run_batch(guest, layer, box, function);
        return;
    }
    /* One step is frequent, and takes no loops. */
    if (layer->group_out < box->channels || layer->tile_h < box->rows || layer->tile_w < box->columns ||
        box->channels == 0) {
        run_image(guest, layer, box, function);
        return;
    }
    guest->image_number = guest->batch_first;
    function(guest, layer, step);
}

void cnnvp_schedule_box(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *box)
{
    const struct cnnvp_step step = {.output = *box, .place = &step.output};
    run_box(guest, layer, &step);
}

/* Begins a layer whose weights are a tensor. They are loaded only after the layer that makes the tensor is done. */
static __attribute__((noinline)) void begin_product(struct cnnvp_guest *guest, const struct cnnvp_layer *layer)
{
    cnnvp_element_layer(&guest->element, layer->tag);
    cnnvp_schedule_settle(guest);
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
}

static inline void run_layer(struct cnnvp_guest *guest, const struct cnnvp_binary_layer *entry,
                             struct cnnvp_step *whole)
{
    const struct cnnvp_layer *layer = &entry->plan;
    const struct cnnvp_tensor *out = &layer->out;
    whole->output.channels = out->channels;
    whole->output.rows = out->height;
    whole->output.columns = out->width;
    if (layer->product == 0)
        begin_layer(guest, layer);
    else
        begin_product(guest, layer);
    if (out->on_chip && entry->fill)
        cnnvp_fill_chip_tensor(guest, out);
    run_box(guest, layer, whole);
}

static const struct cnnvp_binary_layer *layer_table(const struct cnnvp_guest *guest)
{
    return cnnvp_memory(guest->machine, guest->binary->layers);
}

int cnnvp_schedule_begin_group(struct cnnvp_guest *guest, const struct cnnvp_binary_group *group, uint32_t number)
{
    const uint32_t wanted = group->resident != 0 ? number : 0;
    const int anew = wanted != 0 && guest->group_weights != wanted;
    guest->in_group = 1;
    guest->group_weights = wanted;
    if (!anew)
        return 0;
    guest->group_loaded = 0;
    cnnvp_forget_weights(guest);
    return 1;
}

void cnnvp_schedule_divide(struct cnnvp_guest *guest, uint32_t layer)
{
    const struct cnnvp_binary_regions *regions = cnnvp_memory(guest->machine, guest->binary->regions);
    const struct cnnvp_binary_regions wanted = regions[layer];
    if (wanted.weight_base == guest->regions.weight_base && wanted.output_base == guest->regions.output_base)
        return;
    cnnvp_schedule_settle(guest);
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
    cnnvp_element_irq(&guest->element, layer);
    (void)cnnvp_element_finish(&guest->element);
    cnnvp_device_write(guest->machine, guest->binary->scratchpad + SCRATCHPAD_WEIGHT_BASE, wanted.weight_base);
    cnnvp_device_write(guest->machine, guest->binary->scratchpad + SCRATCHPAD_OUTPUT_BASE, wanted.output_base);
    guest->regions = wanted;
}

void cnnvp_schedule_layers(struct cnnvp_guest *guest)
{
    const struct cnnvp_binary_layer *layers = layer_table(guest);
    struct cnnvp_step whole = {.place = &whole.output};
    if (guest->binary->input.on_chip) {
        cnnvp_element_layer(&guest->element, layers[0].plan.tag);
        cnnvp_schedule_settle(guest);
        cnnvp_load_chip_tensor(guest, &guest->binary->input);
    }
    for (uint32_t i = 0; i < guest->binary->layer_count; ++i) {
        const uint32_t group = layers[i].plan.group;
        if (guest->binary->scratchpad != 0)
            cnnvp_schedule_divide(guest, i);
        if (group == 0)
            run_layer(guest, &layers[i], &whole);
        else if (!layers[i].plan.depth_first)
            i += cnnvp_fused(guest, group) - 1u;
        else if (cnnvp_schedule_group(guest, group)->first_layer == i)
            cnnvp_depth_first(guest, group);
    }
}

void cnnvp_schedule_load_staying(struct cnnvp_guest *guest, const struct cnnvp_layer *layer)
{
    uint32_t address;
    for (uint32_t weight_tile = layer->first_weight_tile;
         weight_tile < layer->first_weight_tile + layer->weight_tile_count; ++weight_tile)
        if (guest->weight_tiles[weight_tile].stays)
            (void)cnnvp_load_weight_tile(guest, weight_tile, &address);
}

void cnnvp_schedule_load(struct cnnvp_guest *guest, const struct cnnvp_binary_layer *layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        cnnvp_element_layer(&guest->element, layers[i].plan.tag);
        cnnvp_schedule_load_staying(guest, &layers[i].plan);
    }
}

void cnnvp_schedule_preload(struct cnnvp_guest *guest)
{
    cnnvp_schedule_load(guest, layer_table(guest), guest->binary->layer_count);
}
