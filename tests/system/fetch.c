/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest program that lets the instruction element read a program which the test has put into memory: at PROGRAM, its
 * number of words in the word before. Exit code 0 at its halt, 1 + the element's cause of an error otherwise.
 */
#include <stdint.h>

#define ELEMENT 0x10010000u
#define PROGRAM 0x80010000u

enum element_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) ELEMENT_##name = offset,
#include "instruction/instruction.def"
};

volatile uint32_t tohost __attribute__((section(".data"), aligned(64))) = 0;

static volatile uint32_t *element(enum element_register offset)
{
    return (volatile uint32_t *)(ELEMENT + (uint32_t)offset);
}

static uint32_t run(void)
{
    uint32_t status;
    *element(ELEMENT_CTRL) = 1;
    *element(ELEMENT_FETCH_ADDR) = PROGRAM;
    *element(ELEMENT_FETCH_WORDS) = *(const volatile uint32_t *)(PROGRAM - 4u);
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
