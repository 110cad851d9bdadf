/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up, interrupt handling and choice of the application, for a single accelerator. */
#include "inference.h"
#include "depth.h"
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
        element = cnnvp_inference_take(guest, binary);
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
    cnnvp_inference_connect(guest, machine, element);
    return 0;
}

int cnnvp_guest_run(struct cnnvp_guest *guest)
{
    if (guest->train.binary != NULL)
        return cnnvp_train_run(guest);
    if (guest->words != NULL)
        return cnnvp_words_run(guest);
    return cnnvp_inference_run(guest);
}
