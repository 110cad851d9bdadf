/* SPDX-License-Identifier: Apache-2.0 */
/* Feature-image convolution: runs one layer of a chain, a convolution or a maximum pool, on one block. S004 has both in
 * one module. */
#include "depth.h"

/* 1: the next block's step will differ only in where its results go. */
static int is_repeated(const struct cnnvp_guest *guest, const struct cnnvp_layer *layer, uint32_t windows)
{
    if (guest->element.capture != NULL || windows != 1 || cnnvp_rounds_by_chance(layer))
        return 0;
    for (uint32_t i = 0; i < layer->weight_tile_count; ++i)
        if (!guest->weight_tiles[layer->first_weight_tile + i].stays)
            return 0;
    return 1;
}

/* Repeats the step. Of the instruction, only the output half changes. */
static void convolve_again(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                           struct cnnvp_repeat *repeat)
{
    cnnvp_make_room(guest);
    struct cnnvp_epilogue *epilogue = cnnvp_begin_step(guest);
    const uint32_t output_half = epilogue->output_half;
    *epilogue = repeat->epilogue;
    epilogue->output_half = output_half;
    epilogue->address = cnnvp_results_address(guest, layer, step);
    cnnvp_element_push_word(
        &guest->element, (repeat->window & ~cnnvp_slice_halves(0, 0, 1)) | cnnvp_slice_halves(0, 0, output_half),
        guest->block);
    cnnvp_end_step(guest);
}

void cnnvp_convolve_block(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                          struct cnnvp_repeat *repeat)
{
    const uint32_t windows = guest->windows;
    if (repeat != NULL && repeat->stands != 0) {
        convolve_again(guest, layer, step, repeat);
        return;
    }
    if (layer->op == CNNVP_OP_CONV && layer->folded == 0)
        cnnvp_convolution(guest, layer, step);
    else if (layer->op == CNNVP_OP_CONV)
        cnnvp_any_convolution(guest, layer, step);
    else
        cnnvp_pooling(guest, layer, step);
    if (repeat == NULL || !is_repeated(guest, layer, guest->windows - windows))
        return;
    repeat->stands = 1;
    repeat->window = guest->last_window;
    repeat->epilogue = guest->waiting[(guest->waiting_end - 1u) % CNNVP_EPILOGUES];
    repeat->epilogue.again = 1;
}
