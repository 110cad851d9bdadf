/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that stay in memory (--issue list), as drivers of accelerators have them. The layer functions run for
 * the first batch as always. For the next two, while the one before is worked on, their words go to memory, from where
 * the element reads them, and reads them again for later batches. Words that differ are those that depend on the image,
 * addresses and seeds, and grow by as much from each batch to the next. So there are two copies: one is made ready
 * while the element reads the other. No half of a buffer is taken to hold anything when a batch begins, but for
 * the weights that stay in the weight buffer throughout.
 */
#include "list.h"

#include "pipeline.h"
#include "schedule.h"

/* What the element holds is not what the functions last believed. */
static void forget(struct cnnvp_guest *guest)
{
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
    guest->chain_weights = 0;
    guest->element.tag = UINT32_MAX;
}

/* The words of the batch that begins with image `first`. */
static void collect(struct cnnvp_guest *guest, struct cnnvp_capture *to, uint32_t first)
{
    const uint32_t next[] = {guest->next_input, guest->next_weight, guest->next_output};
    for (uint32_t i = 0; i < 8u; ++i)
        to->touched[i] = 0;
    to->count = 0;
    forget(guest);
    guest->image_number = guest->batch_first = first;
    guest->batch_images = guest->binary->batch;
    cnnvp_element_capture(&guest->element, to);
    cnnvp_schedule_layers(guest);
    cnnvp_schedule_settle(guest);
    cnnvp_element_capture(&guest->element, NULL);
    guest->next_input = next[0];
    guest->next_weight = next[1];
    guest->next_output = next[2];
}

uint32_t cnnvp_list_run(struct cnnvp_guest *guest, uint32_t first, uint32_t step)
{
    const struct cnnvp_binary *binary = guest->binary;
    struct cnnvp_element *element = &guest->element;
    const uint32_t end = binary->list + binary->list_bytes;
    struct cnnvp_program program = {.address = binary->list, .patches = end, .end = end};
    struct cnnvp_capture capture = {.list = &program};
    uint32_t whole = 0;
    for (uint32_t at = first; at < binary->images && binary->images - at >= binary->batch; at += step)
        ++whole;
    if (whole < 4u) /* nothing would be read again */
        return first;
    guest->image_number = guest->batch_first = first;
    guest->batch_images = binary->batch;
    cnnvp_schedule_layers(guest);
    cnnvp_schedule_settle(guest);
    for (uint32_t run = 0; run + 1u < whole && !capture.overflow && element->failed == 0; ++run) {
        first += step;
        program.again = run != 0;
        if (run < 2u)
            collect(guest, &capture, first);
        else
            cnnvp_element_patch(element, &program, run);
        if (run == 1u && program.high[0] != program.high[1])
            capture.overflow = 1;
        if (run != 0)
            cnnvp_element_wait_read(element);
        if (!capture.overflow)
            cnnvp_element_read(element, cnnvp_program_copy(&program, run), program.words);
    }
    first += step;
    if (capture.overflow)
        element->failed = CNNVP_ELEMENT_NO_LIST;
    if (first < binary->images)
        cnnvp_element_restore(element, capture.touched);
    forget(guest);
    return first;
}
