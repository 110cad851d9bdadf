/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the instruction element (S003). Register offsets and fields come from the unit's own list.
 */
#include "element.h"

#include <stddef.h>

#define WORD_BYTES ((uint32_t)sizeof(struct cnnvp_word))

static uint32_t read_register(const struct cnnvp_element *element, enum cnnvp_element_register offset)
{
    return cnnvp_device_read(element->machine, element->base + (uint32_t)offset);
}

static void write_register(const struct cnnvp_element *element, enum cnnvp_element_register offset, uint32_t value)
{
    cnnvp_device_write(element->machine, element->base + (uint32_t)offset, value);
}

void cnnvp_element_init(struct cnnvp_element *element, const struct cnnvp_machine *machine, uint32_t base)
{
    *element = (struct cnnvp_element){.machine = machine, .base = base};
    write_register(element, CNNVP_ELEMENT_CTRL, CNNVP_ELEMENT_CTRL_reset);
    write_register(element, CNNVP_ELEMENT_CTRL, CNNVP_ELEMENT_CTRL_enable);
    write_register(element, CNNVP_ELEMENT_IRQ_ENABLE,
                   CNNVP_ELEMENT_IRQ_STATUS_event | CNNVP_ELEMENT_IRQ_STATUS_error | CNNVP_ELEMENT_IRQ_STATUS_space |
                       CNNVP_ELEMENT_IRQ_STATUS_refused);
}

void cnnvp_element_interrupt(struct cnnvp_element *element)
{
    const uint32_t causes = read_register(element, CNNVP_ELEMENT_IRQ_STATUS);
    if ((causes & (CNNVP_ELEMENT_IRQ_STATUS_error | CNNVP_ELEMENT_IRQ_STATUS_refused)) != 0) {
        element->failed = 1;
        /* The error stays set and keeps the element stopped. Only its interrupts are disabled. */
        write_register(element, CNNVP_ELEMENT_IRQ_ENABLE, 0);
    }
    write_register(element, CNNVP_ELEMENT_IRQ_STATUS, causes & ~(uint32_t)CNNVP_ELEMENT_IRQ_STATUS_error);
    element->interrupts = element->interrupts + 1u;
}

void cnnvp_element_read(struct cnnvp_element *element, uint32_t address, uint32_t count)
{
    element->free = 0;
    write_register(element, CNNVP_ELEMENT_FETCH_ADDR, address);
    write_register(element, CNNVP_ELEMENT_FETCH_WORDS, count);
}

uint32_t cnnvp_element_status(const struct cnnvp_element *element)
{
    return read_register(element, CNNVP_ELEMENT_STATUS);
}

uint32_t cnnvp_element_event(const struct cnnvp_element *element)
{
    return read_register(element, CNNVP_ELEMENT_EVENT);
}

/* Sleeps until the queue has room for `words`. Returns 0 if they are not to be pushed: words are collected, or the
 * element has failed. After a failure nothing executes any more; cnnvp_element_finish reports it. */
static int wait_for_room(struct cnnvp_element *element, uint32_t words)
{
    if (element->capture != NULL)
        return 0;
    if (element->place_end != 0) {
        element->room = (element->place_end - element->place) / WORD_BYTES;
        if (element->room < words)
            element->failed = CNNVP_ELEMENT_NO_LIST;
        return element->room >= words;
    }
    while (element->free < words) {
        const uint32_t last = element->interrupts; /* read first: an interrupt after it ends the sleep */
        element->free = read_register(element, CNNVP_ELEMENT_FREE);
        if (element->failed != 0)
            return 0;
        if (element->free >= words)
            break;
        const uint32_t half = read_register(element, CNNVP_ELEMENT_QUEUE_DEPTH) / 2u;
        write_register(element, CNNVP_ELEMENT_SPACE_THRESHOLD, half > words ? half : words);
        cnnvp_machine_sleep(element->machine, &element->interrupts, last);
    }
    return 1;
}

/* ---- words that are collected ---- */

static uint32_t operand_a(uint32_t high)
{
    return high >> (CNNVP_WORD_A - 32) & 0xffu;
}

static void capture(const struct cnnvp_element *element, uint32_t high, uint32_t low)
{
    struct cnnvp_capture *to = element->capture;
    if (to->overflow)
        return;
    if (to->count == to->capacity)
        to->overflow = 1;
    else
        to->words[to->count++] = (struct cnnvp_word){high, low};
}

static void collect(struct cnnvp_element *element, uint32_t high, uint32_t immediate, const uint32_t *descriptor,
                    uint32_t count, uint32_t always)
{
    struct cnnvp_capture *to = element->capture;
    if (to == NULL)
        return;
    const uint32_t base = operand_a(high);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = base + i;
        const uint32_t pushed = always >> i & 1u;
        capture(element, cnnvp_word_high(CNNVP_OPCODE_set, 0, number, pushed * to->keep), descriptor[i]);
        to->touched[number / 32u] |= 1u << (number % 32u);
    }
    capture(element, high, immediate);
}

void cnnvp_element_capture(struct cnnvp_element *element, struct cnnvp_capture *capture)
{
    element->capture = capture;
    element->free = 0;
}

void cnnvp_element_wait_read(struct cnnvp_element *element)
{
    (void)wait_for_room(element, 1);
}

/* ---- words in memory ---- */

void cnnvp_element_write(struct cnnvp_element *element, uint32_t address, uint32_t end)
{
    element->place = address;
    element->place_end = end;
    element->free = element->room = 0;
}

int cnnvp_element_compare(const struct cnnvp_element *element, struct cnnvp_program *program)
{
    const struct cnnvp_machine *machine = element->machine;
    const uint32_t first = program->address, second = first + program->bytes;
    for (uint32_t byte = 0; byte != program->bytes; byte += WORD_BYTES) {
        const uint32_t growth = cnnvp_device_read(machine, second + byte) - cnnvp_device_read(machine, first + byte);
        if (growth == 0)
            continue;
        const uint32_t high = cnnvp_device_read(machine, first + byte + 4u);
        if (high != cnnvp_device_read(machine, second + byte + 4u) ||
            high != cnnvp_word_high(CNNVP_OPCODE_set, 0, operand_a(high), 0) ||
            program->patches - second - program->bytes < WORD_BYTES)
            return 0;
        program->patches -= WORD_BYTES;
        cnnvp_element_put(machine, program->patches, growth, byte);
    }
    return 1;
}

void cnnvp_element_patch(struct cnnvp_element *element, const struct cnnvp_program *program, uint32_t copy)
{
    const struct cnnvp_machine *machine = element->machine;
    for (uint32_t patch = program->end; patch != program->patches;) {
        patch -= WORD_BYTES;
        const uint32_t at = copy + cnnvp_device_read(machine, patch);
        const uint32_t low = cnnvp_device_read(machine, at) + 2u * cnnvp_device_read(machine, patch + 4u);
        cnnvp_device_write(machine, at, low);
        element->value[operand_a(cnnvp_device_read(machine, at + 4u))] = low;
    }
}

/* ---- words that are pushed ---- */

/* cnnvp_element_put_tile for any number of registers. */
static uint32_t put_registers(struct cnnvp_element *element, uint32_t place, uint32_t step, uint32_t high,
                              uint32_t immediate, const uint32_t *descriptor, uint32_t count, uint32_t always)
{
    const uint32_t base = operand_a(high);
    const uint32_t *const end = descriptor + count;
    uint32_t *value = &element->value[base];
    uint32_t set = cnnvp_word_high(CNNVP_OPCODE_set, 0, base, 0);
    for (; descriptor != end; ++descriptor, ++value, always >>= 1, set += cnnvp_word_high(0, 0, 1, 0)) {
        if ((always & 1u) == 0 && *value == *descriptor) /* in this order: the core's time must not depend on data */
            continue;
        *value = *descriptor;
        cnnvp_element_put(element->machine, place, set, *descriptor);
        place += step;
    }
    cnnvp_element_put(element->machine, place, high, immediate);
    return place + step;
}

void cnnvp_element_push_slowly(struct cnnvp_element *element, uint32_t high, uint32_t immediate,
                               const uint32_t *descriptor, uint32_t count, uint32_t always)
{
    if (element->free <= count && !wait_for_room(element, count + 1u)) {
        collect(element, high, immediate, descriptor, count, always);
        return;
    }
    const int writes = element->place_end != 0;
    const uint32_t end = put_registers(element, writes ? element->place : element->base + CNNVP_ELEMENT_PUSH_LO,
                                       writes ? WORD_BYTES : 0, high, immediate, descriptor, count, always);
    *(writes ? &element->room : &element->free) -= count + 1u;
    if (writes)
        element->place = end;
}

void cnnvp_element_irq(struct cnnvp_element *element, uint32_t number)
{
    ++element->events;
    cnnvp_element_push_word(element, cnnvp_word_high(CNNVP_OPCODE_irq, 0, 0, 0), number);
}

void cnnvp_element_tile_again(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                              uint32_t immediate, uint32_t base)
{
    cnnvp_element_push_word(element, cnnvp_word_high(opcode, status, base, halves), immediate);
}

void cnnvp_element_tile(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                        uint32_t immediate, uint32_t base, const uint32_t *descriptor, uint32_t count)
{
    const uint32_t high = cnnvp_word_high(opcode, status, base, halves);
    if (element->free <= count) {
        cnnvp_element_push_slowly(element, high, immediate, descriptor, count, 0);
        return;
    }
    element->free -= count + 1u;
    (void)cnnvp_element_put_tile(
        element, element->base + CNNVP_ELEMENT_PUSH_LO, 0, base, high, immediate, descriptor, count, 1, UINT32_MAX, 0);
}

void cnnvp_element_set(struct cnnvp_element *element, uint32_t number, uint32_t wanted)
{
    if (element->value[number] == wanted)
        return;
    element->value[number] = wanted;
    cnnvp_element_push_word(element, cnnvp_word_high(CNNVP_OPCODE_set, 0, number, 0), wanted);
}

void cnnvp_element_restore(struct cnnvp_element *element, const uint32_t *touched)
{
    element->free = 0;
    element->tag = UINT32_MAX;
    for (uint32_t i = 0; i < 256u; ++i)
        if ((touched[i / 32u] >> (i % 32u) & 1u) != 0)
            cnnvp_element_push_word(element, cnnvp_word_high(CNNVP_OPCODE_set, 0, i, 0), element->value[i]);
}

int cnnvp_element_finish(struct cnnvp_element *element)
{
    for (;;) {
        const uint32_t last = element->interrupts;
        if (element->failed != 0)
            return -1;
        if (read_register(element, CNNVP_ELEMENT_EVENT_COUNT) >= element->events)
            return 0;
        cnnvp_machine_sleep(element->machine, &element->interrupts, last);
    }
}

static void print_text(const struct cnnvp_machine *machine, const char *text)
{
    for (; *text != '\0'; ++text)
        cnnvp_console(machine, *text);
}

static void print_hex(const struct cnnvp_machine *machine, const char *name, uint32_t value)
{
    print_text(machine, name);
    for (int shift = 28; shift >= 0; shift -= 4)
        cnnvp_console(machine, "0123456789abcdef"[(value >> shift) & 15u]);
}

void cnnvp_element_explain(const struct cnnvp_element *element)
{
    const struct cnnvp_machine *machine = element->machine;
    const uint32_t cause = read_register(element, CNNVP_ELEMENT_ERROR_CAUSE);
    if (element->failed == CNNVP_ELEMENT_NO_TABLE) {
        print_text(machine, "guest: the scheduler's table has no room for the instructions of a chain; use "
                            "-s scheduler.table_words=\n");
        return;
    }
    if (element->failed == CNNVP_ELEMENT_NO_LIST) {
        print_text(machine, "guest: memory has no room for the instructions of a batch (--issue list); use a larger "
                            "dram.size\n");
        return;
    }
    print_text(machine, "guest: the instruction element stopped: ");
    switch (cause) {
#define EXPLAIN(name, value, help) \
    case value:                    \
        print_text(machine, help); \
        break;
        CNNVP_ELEMENT_ERRORS(EXPLAIN)
#undef EXPLAIN
    default:
        print_text(machine, "a word was refused");
        break;
    }
    print_hex(machine, "; word 0x", read_register(element, CNNVP_ELEMENT_ERROR_WORD_HI));
    print_hex(machine, "", read_register(element, CNNVP_ELEMENT_ERROR_WORD_LO));
    print_hex(machine, " at 0x", read_register(element, CNNVP_ELEMENT_ERROR_PC));
    print_hex(machine, ", status 0x", read_register(element, CNNVP_ELEMENT_ERROR_STATUS));
    print_text(machine, "\n");
}
