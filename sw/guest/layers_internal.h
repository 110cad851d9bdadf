/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that the layer functions share. */
#ifndef CNNVP_GUEST_LAYERS_INTERNAL_H
#define CNNVP_GUEST_LAYERS_INTERNAL_H

#include "binary/layer_weights.h"
#include "binary/layer_command.h"
#include "layers.h"

/* A tile in a half of the input buffer, dense. */
static inline struct cnnvp_input_tile cnnvp_loaded_tile(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                                                        uint32_t half)
{
    const uint32_t plane = box->rows * box->columns;
    return (struct cnnvp_input_tile){
        half, tensor->chip_address, {plane, box->columns, 1}, box->channels * plane << tensor->word_shift};
}
/* A box of a tensor on chip. */
static inline struct cnnvp_input_tile cnnvp_chip_tile(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    return (struct cnnvp_input_tile){
        tensor->chip_half, cnnvp_tensor_chip_address(tensor, box), {tensor->channel_stride, tensor->row_stride, 1}, 0};
}
/* Loads the box of the image in work and of `more_images` images after it. For a tensor on chip, only says where the
 * box is. */
static inline struct cnnvp_input_tile cnnvp_bring_images(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                                         const struct cnnvp_box *box, uint32_t more_images)
{
    if (tensor->on_chip)
        return cnnvp_chip_tile(tensor, box);
    return cnnvp_loaded_tile(tensor, box, cnnvp_load_images(guest, tensor, box, more_images));
}
static inline struct cnnvp_input_tile cnnvp_bring_input(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                                        const struct cnnvp_box *box)
{
    return cnnvp_bring_images(guest, tensor, box, 0);
}

/* Loads the words that the box `output` of the results is made from, one from each, with permuted dimensions if the
 * layer permutes them; the strides are in the results' order. */
struct cnnvp_input_tile cnnvp_bring_words(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                          const struct cnnvp_box *output);

/* Address that a step's results go to, in memory or in the input buffer. */
static inline uint32_t cnnvp_results_address(const struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                             const struct cnnvp_step *step)
{
    return layer->out.on_chip ? cnnvp_tensor_chip_address(&layer->out, step->place)
                              : cnnvp_tensor_address(guest, &layer->out, step->place);
}

/* Begins a step and describes what its results, which lie at the start of the output half, need after the
 * calculation. */
struct cnnvp_epilogue *cnnvp_begin_results(struct cnnvp_guest *guest, const struct cnnvp_layer *layer,
                                           const struct cnnvp_step *step);

/* Tells the epilogue where the table of its TABLE post-operation is, if it has one. The second function is for layers
 * whose convolution passes no results through a table. */
void cnnvp_find_table(struct cnnvp_epilogue *epilogue, uint32_t half, uint32_t table_address);
static inline void cnnvp_use_table(struct cnnvp_epilogue *epilogue, uint32_t half, uint32_t table_address)
{
    const struct cnnvp_layer *layer = epilogue->layer;
    if (layer->post_count > layer->clips) /* else the write-out does them all */
        cnnvp_find_table(epilogue, half, table_address);
}

#endif
