/* SPDX-License-Identifier: Apache-2.0 */
/* A machine for the guest software that only notes the words of the instruction element: always room, everything done
 * at once. */
#ifndef FAKE_ELEMENT_H
#define FAKE_ELEMENT_H

#include <stddef.h>

#include "element.h"

struct fake_element {
    uint8_t *memory; /* from 0x80000000 */
    uint32_t low;
    struct cnnvp_word *words; /* to be given back with free() */
    size_t count;
    size_t capacity;
};

/* A guest that sleeps fails the test. */
struct cnnvp_machine fake_element_machine(struct fake_element *element);

#endif
