/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_element.h"

#include "test.h"

#include "binary/network_binary.h"

enum element_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) ELEMENT_##name = 0x10010000 + (offset),
#include "control/instruction/instruction.def"
};

static uint32_t read_device(void *host, uint32_t address)
{
    (void)host;
    if (address == ELEMENT_FREE)
        return 4096;
    return address == ELEMENT_EVENT_COUNT ? UINT32_MAX : 0;
}

static void write_device(void *host, uint32_t address, uint32_t value)
{
    struct fake_element *element = host;
    if (address == ELEMENT_PUSH_LO)
        element->low = value;
    if (address != ELEMENT_PUSH_HI)
        return;
    if (element->count == element->capacity) {
        element->capacity = element->capacity * 2 + 1024;
        element->words = realloc(element->words, element->capacity * sizeof *element->words);
        assert_non_null(element->words);
    }
    element->words[element->count++] = (struct cnnvp_word){value, element->low};
}

static const void *memory_at(void *host, uint32_t address)
{
    const struct fake_element *element = host;
    return element->memory + (address - CNNVP_MEMORY_BASE);
}

static void print_nothing(void *host, char character)
{
    (void)host;
    (void)character;
}

static int never_sleep(void *host)
{
    (void)host;
    fail();
    return 0;
}

struct cnnvp_machine fake_element_machine(struct fake_element *element)
{
    return (struct cnnvp_machine){element, read_device, write_device, memory_at, print_nothing, never_sleep};
}
