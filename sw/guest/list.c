/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction lists (--issue list): instructions stay in memory, as with drivers of real accelerators. For the first
 * batch the layer functions run as always. For the next two, their words go to memory while the batch before executes.
 * The element reads these words, and reads them again for later batches. Only words that depend on the image differ,
 * addresses and seeds, and they grow by a constant from batch to batch. So there are two copies: one is patched while
 * the element reads the other. If the copies differ in more, the functions run for the rest. At the start of each batch
 * the driver assumes nothing about what the buffers hold, except for weights that always stay in the weight buffer.
 */
#include "list.h"

#include "pipeline.h"
#include "schedule.h"

/* Makes the driver forget what lies on chip. */
static void forget(struct cnnvp_guest *guest)
{
    cnnvp_forget_inputs(guest);
    cnnvp_forget_weights(guest);
    guest->group_weights = 0;
    guest->element.tag = UINT32_MAX;
}

/* Pushes the words of the batch that begins with image `first`. Each batch starts from the same state of the driver. */
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

/* Writes the words of the batch that begins with image `first` to a copy at `copy`, and has the element read them.
 * Returns the copy's bytes. */
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
    if (whole < 4u) /* no words would be read a second time */
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
    /* If memory had no room, the element has not read the words, and its registers differ from what the driver
     * believes. */
    return element->failed != 0 ? binary->images : first + step;
}
