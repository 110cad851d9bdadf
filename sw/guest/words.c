/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program of raw instruction words: the element reads it from memory, and the core waits for its end. */
#include "guest.h"

/* Number of the irq instruction that follows the program's last word. */
#define LAST_IRQ 0xffffffffu

/* 1: the program has a halt instruction, which raises no interrupt. */
static int halts(const struct cnnvp_guest *guest)
{
    const struct cnnvp_word_pair {
        uint32_t low, high;
    } *words = cnnvp_memory(guest->machine, CNNVP_BINARY_ADDRESS + CNNVP_WORDS_OFFSET);
    for (uint32_t i = 0; i < guest->words->count; ++i)
        if (cnnvp_word_read((uint64_t)words[i].high << 32).opcode == CNNVP_OPCODE_halt)
            return 1;
    return 0;
}

/* Waits until nothing is left to do: sleeps, or polls if the program may halt. Returns 0, or -1 if the element has
 * failed. */
static int wait_for_end(struct cnnvp_element *element, int may_halt)
{
    for (;;) {
        const uint32_t last = element->interrupts;
        const uint32_t status = cnnvp_element_status(element);
        if (element->failed != 0)
            return -1;
        if ((status & CNNVP_ELEMENT_STATUS_halted) != 0 ||
            ((status & CNNVP_ELEMENT_STATUS_empty) != 0 &&
             (status & (CNNVP_ELEMENT_STATUS_busy | CNNVP_ELEMENT_STATUS_fetching)) == 0))
            return 0;
        if (!may_halt && cnnvp_element_event(element) != LAST_IRQ)
            cnnvp_machine_sleep(element->machine, &element->interrupts, last);
    }
}

int cnnvp_words_run(struct cnnvp_guest *guest)
{
    struct cnnvp_element *element = &guest->element;
    const int may_halt = halts(guest);
    cnnvp_element_read(element, CNNVP_BINARY_ADDRESS + CNNVP_WORDS_OFFSET, guest->words->count);
    if (!may_halt)
        cnnvp_element_irq(element, LAST_IRQ);
    if (wait_for_end(element, may_halt) == 0)
        return 0;
    cnnvp_element_explain(element);
    return 1;
}
