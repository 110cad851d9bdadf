/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest program that lets the instruction element read a program which the test has put into memory: at PROGRAM, its
 * number of words in the word before. Exit code 0 at its halt, 1 + the element's cause of an error otherwise.
 *
 * Where the word before that is not 0, the program first runs until this many of its instructions are complete, and as
 * many polls of STATUS more as the word before says; then the element is reset, what was under way ends unseen, the
 * data are put back, and the program runs from its beginning.
 */
#include <stdint.h>

#define ELEMENT 0x10010000u
#define PROGRAM 0x80010000u
#define DATA 0x80020000u
#define COPY 0x80040000u

enum { DATA_WORDS = 0x10000 / 4, SETTLED = 2000 };

enum element_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) ELEMENT_##name = offset,
#include "control/instruction/instruction.def"
};

volatile uint32_t tohost __attribute__((section(".data"), aligned(64))) = 0;

static volatile uint32_t *element(enum element_register offset)
{
    return (volatile uint32_t *)(ELEMENT + (uint32_t)offset);
}

static uint32_t parameter(uint32_t words_before)
{
    return *(const volatile uint32_t *)(PROGRAM - 4u * words_before);
}

static void copy(uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < DATA_WORDS; ++i)
        ((volatile uint32_t *)to)[i] = ((const volatile uint32_t *)from)[i];
}

static void begin(void)
{
    *element(ELEMENT_CTRL) = 1;
    *element(ELEMENT_FETCH_ADDR) = PROGRAM;
    *element(ELEMENT_FETCH_WORDS) = parameter(1);
}

static void poll(uint32_t times)
{
    for (uint32_t i = 0; i < times; ++i)
        (void)*element(ELEMENT_STATUS);
}

static void interrupt_program(uint32_t completed, uint32_t polls)
{
    copy(DATA, COPY);
    begin();
    while (*element(ELEMENT_COMPLETED) < completed && (*element(ELEMENT_STATUS) & 0x18u) == 0) {
    }
    poll(polls);
    *element(ELEMENT_CTRL) = 2;
    poll(SETTLED);
    copy(COPY, DATA);
}

static uint32_t run(void)
{
    uint32_t status;
    if (parameter(2) != 0)
        interrupt_program(parameter(2), parameter(3));
    begin();
    do
        status = *element(ELEMENT_STATUS);
    while ((status & 0x18u) == 0); /* halted or error */
    return (status & 0x8u) != 0 ? 1u + *element(ELEMENT_ERROR_CAUSE) : 0;
}

__attribute__((used)) void start(void)
{
    tohost = run() << 1 | 1u;
    for (;;)
        __asm__ volatile("wfi");
}

__attribute__((naked, section(".text.start"), used)) void _start(void)
{
    __asm__ volatile("la sp, 0x80008000\n j start");
}
