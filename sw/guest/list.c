/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that stay in memory (--issue list), as drivers of accelerators have them. The layer functions run for
 * the first batch as always. For the next two, while the one before is worked on, their words go to memory, from where
 * the element reads them, and reads them again for later batches. Words that differ are those that depend on the image,
 * addresses and seeds, and grow by as much from each batch to the next. So there are two copies: one is made ready
 * while the element reads the other. Should they differ in more, the functions run for the rest. No half of a buffer is
 * taken to hold anything when a batch begins, but for the weights that stay in the weight buffer throughout.
 */
#include "list.h"

#include "pipeline.h"
#include "schedule.h"

/* What lies on chip is not what the functions last believed. */
static void forget(struct cnnvp_guest *guest)
{
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
    guest->chain_weights = 0;
    guest->element.tag = UINT32_MAX;
}

/* Pushes the words of the batch that begins with image `first`, from the same state of the driver for each batch. */
static void run_batch(struct cnnvp_guest *guest, uint32_t first)
{
    const uint32_t next[] = {guest->next_input, guest->next_weight, guest->next_output};
    forget(guest);
    guest->image_number = guest->batch_first = first;
    guest->batch_images = guest->binary->batch;
    cnnvp_schedule_layers(guest);
    cnnvp_schedule_settle(guest);
    guest->next_input = next[0];
    guest->next_weight = next[1];
    guest->next_output = next[2];
}

static void read_copy(struct cnnvp_element *element, uint32_t address, uint32_t bytes)
{
    cnnvp_element_wait_read(element);
    if (element->failed == 0)
        cnnvp_element_read(element, address, bytes / (uint32_t)sizeof(struct cnnvp_word));
}

/* The words of the batch that begins with image `first` become a copy at `copy`, and are read. Returns its bytes. */
static uint32_t write_copy(struct cnnvp_guest *guest, uint32_t first, uint32_t copy, uint32_t end)
{
    struct cnnvp_element *element = &guest->element;
    cnnvp_element_write(element, copy, end);
    run_batch(guest, first);
    const uint32_t bytes = element->place - copy;
    cnnvp_element_write(element, 0, 0);
    read_copy(element, copy, bytes);
    return bytes;
}

uint32_t cnnvp_list_run(struct cnnvp_guest *guest, uint32_t first, uint32_t step)
{
    const struct cnnvp_binary *binary = guest->binary;
    struct cnnvp_element *element = &guest->element;
    const uint32_t end = binary->list + binary->list_bytes;
    struct cnnvp_program program = {.address = binary->list, .patches = end, .end = end};
    uint32_t whole = 0;
    for (uint32_t at = first; at < binary->images && binary->images - at >= binary->batch; at += step)
        ++whole;
    if (whole < 4u) /* nothing would be read again */
        return first;
    run_batch(guest, first);
    program.bytes = write_copy(guest, first += step, program.address, end);
    const int alike = write_copy(guest, first += step, program.address + program.bytes, end) == program.bytes &&
                      cnnvp_element_compare(element, &program);
    for (uint32_t run = 2; alike && run + 1u < whole && element->failed == 0; ++run) {
        const uint32_t copy = program.address + run % 2u * program.bytes;
        first += step;
        cnnvp_element_patch(element, &program, copy);
        read_copy(element, copy, program.bytes);
    }
    forget(guest);
    /* What has no room in memory is not known to the element, whose registers do not hold it. */
    return element->failed != 0 ? binary->images : first + step;
}
