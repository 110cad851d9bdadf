/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up and interrupt handling of all applications; inference: the loop over batches of images. */
#include "cnnvp_integer.h"
#include "depth.h"
#include "plic.h"
#include "schedule.h"
#include "train/train.h"

#include <stddef.h>

void cnnvp_guest_interrupt(struct cnnvp_guest *guest)
{
    const uint32_t line = cnnvp_plic_claim(guest->machine, guest->plic);
    if (line == 0)
        return;
    if (line == guest->element_irq)
        cnnvp_element_interrupt(&guest->element);
    else if (line == guest->scheduler_irq)
        cnnvp_scheduler_interrupt(guest);
    cnnvp_plic_complete(guest->machine, guest->plic, line);
}

int cnnvp_guest_init(struct cnnvp_guest *guest, const struct cnnvp_machine *machine, struct cnnvp_word *collected)
{
    const struct cnnvp_binary *binary = cnnvp_memory(machine, CNNVP_BINARY_ADDRESS);
    *guest = (struct cnnvp_guest){.machine = machine, .collected = collected};
    if (binary == NULL)
        return -1;
    uint32_t element;
    if (binary->magic == CNNVP_BINARY_MAGIC && binary->version == CNNVP_BINARY_VERSION) {
        guest->binary = binary;
        guest->blobs = cnnvp_memory(machine, binary->blobs);
        guest->plic = binary->plic;
        guest->element_irq = binary->element_irq;
        guest->scheduler_irq = binary->scheduler != 0 ? binary->scheduler_irq : 0;
        element = binary->element;
    } else if (binary->magic == CNNVP_WORDS_BINARY_MAGIC && binary->version == CNNVP_WORDS_BINARY_VERSION) {
        guest->words = (const void *)binary;
        guest->plic = guest->words->plic;
        guest->element_irq = guest->words->element_irq;
        element = guest->words->element;
    } else {
        const struct cnnvp_train_binary *train = (const void *)binary;
        if (train->magic != CNNVP_TRAIN_BINARY_MAGIC || train->version != CNNVP_TRAIN_BINARY_VERSION)
            return -1;
        guest->train.binary = train;
        guest->train.layers = cnnvp_memory(machine, train->layers);
        guest->plic = train->plic;
        guest->element_irq = train->element_irq;
        element = train->element;
    }
    cnnvp_use_ordinary_set(guest);
    cnnvp_element_init(&guest->element, machine, element);
    cnnvp_plic_enable(machine, guest->plic, guest->element_irq);
    if (guest->scheduler_irq != 0)
        cnnvp_plic_enable(machine, guest->plic, guest->scheduler_irq);
    return 0;
}

int cnnvp_guest_run(struct cnnvp_guest *guest)
{
    if (guest->train.binary != NULL)
        return cnnvp_train_run(guest);
    if (guest->words != NULL)
        return cnnvp_words_run(guest);
    if ((guest->binary->flags & CNNVP_BINARY_PRELOAD) != 0)
        cnnvp_schedule_preload(guest);
    const uint32_t images = guest->binary->images;
    for (uint32_t first = 0; first < images; first += guest->batch_images) {
        guest->image_number = guest->batch_first = first;
        guest->batch_images = cnnvp_minimum32(guest->binary->batch, images - first);
        cnnvp_schedule_layers(guest);
    }
    cnnvp_flush_epilogues(guest, 0);
    cnnvp_element_layer(&guest->element, 0);
    cnnvp_element_irq(&guest->element, guest->binary->images);
    if (cnnvp_element_finish(&guest->element) == 0)
        return 0;
    cnnvp_element_explain(&guest->element);
    return 1;
}
