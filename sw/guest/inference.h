/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an inference run, for loops over batches of images. They are inline, so that the run of one accelerator
 * has no calls. */
#ifndef CNNVP_GUEST_INFERENCE_H
#define CNNVP_GUEST_INFERENCE_H

#include "cnnvp_integer.h"
#include "list.h"
#include "plic.h"
#include "schedule.h"

/* Takes a network's binary into the context. Returns the address of the instruction element. */
static inline uint32_t cnnvp_inference_take(struct cnnvp_guest *guest, const struct cnnvp_binary *binary)
{
    guest->binary = binary;
    guest->weight_tiles = cnnvp_memory(guest->machine, binary->weight_tiles);
    guest->other_input = binary->input_halves - 1u;
    guest->other_weight = binary->weight_halves - 1u;
    guest->other_output = binary->output_halves - 1u;
    guest->plic = binary->plic;
    guest->element_irq = binary->element_irq;
    guest->scheduler_irq = binary->scheduler != 0 ? binary->scheduler_irq : 0;
    return binary->element;
}

static inline void cnnvp_inference_open(struct cnnvp_guest *guest, const struct cnnvp_machine *machine,
                                        uint32_t element)
{
    cnnvp_use_ordinary_set(guest);
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
    cnnvp_element_init(&guest->element, machine, element);
}

/* Opens the element, and enables interrupts at the platform's controller. */
static inline void cnnvp_inference_connect(struct cnnvp_guest *guest, const struct cnnvp_machine *machine,
                                           uint32_t element)
{
    cnnvp_inference_open(guest, machine, element);
    cnnvp_plic_enable(machine, guest->plic, guest->element_irq);
    if (guest->scheduler_irq != 0)
        cnnvp_plic_enable(machine, guest->plic, guest->scheduler_irq);
}

static inline void cnnvp_inference_begin(struct cnnvp_guest *guest)
{
    if (guest->binary->scratchpad != 0)
        cnnvp_schedule_divide(guest, 0);
    if ((guest->binary->flags & CNNVP_BINARY_PRELOAD) != 0)
        cnnvp_schedule_preload(guest);
}

/* Pushes the batch that begins with image `first` of `images`. */
static inline void cnnvp_inference_batch(struct cnnvp_guest *guest, uint32_t first, uint32_t images)
{
    guest->image_number = guest->batch_first = first;
    guest->batch_images = cnnvp_minimum32(guest->binary->batch, images - first);
    cnnvp_schedule_layers(guest);
}

/* Runs batches from image `first` on from an instruction list, if there is one. Returns the first image that is left to
 * the layer functions. */
static inline uint32_t cnnvp_inference_first(struct cnnvp_guest *guest, uint32_t first, uint32_t step)
{
    return guest->binary->list != 0 ? cnnvp_list_run(guest, first, step) : first;
}

/* Sleeps until all work is done. Returns the exit code. */
static inline int cnnvp_inference_end(struct cnnvp_guest *guest)
{
    cnnvp_flush_epilogues(guest, 0);
    cnnvp_element_layer(&guest->element, 0);
    cnnvp_element_irq(&guest->element, guest->binary->images);
    if (cnnvp_element_finish(&guest->element) == 0)
        return 0;
    cnnvp_element_explain(&guest->element);
    return 1;
}

/* A whole run on one accelerator. */
static inline int cnnvp_inference_run(struct cnnvp_guest *guest)
{
    cnnvp_inference_begin(guest);
    const uint32_t images = guest->binary->images;
    uint32_t first = cnnvp_inference_first(guest, 0, guest->binary->batch);
    for (; first < images; first += guest->batch_images)
        cnnvp_inference_batch(guest, first, images);
    return cnnvp_inference_end(guest);
}

#endif
