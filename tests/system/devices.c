/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest program for check_parameters.py, which uses what no network does: it waits for a byte typed, for the timer's
 * and its own clock, and has the instruction element read a program from memory, whose transfers the core's loads
 * hinder. Exit code 0 where the element has halted.
 */
#include <stdint.h>

#define ELEMENT 0x10010000u
#define UART_IER 0x10000001u
#define PLIC 0x0c000000u
#define MTIME 0x0200bff8u
#define FAR 0x81000000u /* outside of the core's memory */

enum { UART_LINE = 10, TICKS = 20, TRANSFERS = 16, BYTES = 2048, LINE = 64, BASE = 16, ERROR = 0x8, HALTED = 0x10 };

enum element_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) ELEMENT_##name = offset,
#include "control/instruction/instruction.def"
};

enum opcode {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) OPCODE_##mnemonic = code,
#include "isa/opcodes.def"
};

#include "isa/descriptors.def"
enum transfer {
#define MEMBER(name, help, fields) TRANSFER_##name,
    CNNVP_DESCRIPTOR_TRANSFER(MEMBER)
};

volatile uint32_t tohost __attribute__((section(".data"), aligned(64))) = 0;

static struct {
    uint32_t low, high;
} program[128] __attribute__((aligned(64)));

static volatile uint32_t *word(uint32_t address)
{
    return (volatile uint32_t *)address;
}

/* Asleep until the serial port's line is up. */
static void wait_for_byte(void)
{
    *word(PLIC + 4u * UART_LINE) = 1;
    *word(PLIC + 0x2000u) = 1u << UART_LINE;
    *(volatile uint8_t *)UART_IER = 1;
    __asm__ volatile("csrs mie, %0\n wfi" ::"r"(1u << 11));
}

static void wait_for_clocks(void)
{
    const uint32_t begin = *word(MTIME);
    uint32_t now;
    while (*word(MTIME) - begin < TICKS) {
    }
    const uint32_t end = begin + 2u * TICKS;
    do
        __asm__ volatile("rdtime %0" : "=r"(now));
    while (now < end);
}

static uint32_t add(uint32_t at, enum opcode opcode, uint32_t reg, uint32_t immediate)
{
    program[at].low = immediate;
    program[at].high = (uint32_t)opcode << 24 | reg << 8;
    return at + 1u;
}

static uint32_t make_program(void)
{
    uint32_t words = 0;
    words = add(words, OPCODE_set, BASE + TRANSFER_memory_addr, FAR);
    words = add(words, OPCODE_set, BASE + TRANSFER_row_bytes, BYTES);
    words = add(words, OPCODE_set, BASE + TRANSFER_rows, 1);
    words = add(words, OPCODE_set, BASE + TRANSFER_planes, 1);
    for (uint32_t i = 0; i < TRANSFERS; ++i) {
        words = add(words, OPCODE_request, BASE, 0);
        words = add(words, OPCODE_receive, BASE, 0);
        words = add(words, OPCODE_store, BASE, 0);
    }
    return add(words, OPCODE_halt, 0, 0);
}

static uint32_t run(void)
{
    const uint32_t words = make_program();
    uint32_t status;
    *word(ELEMENT + ELEMENT_CTRL) = 1;
    *word(ELEMENT + ELEMENT_FETCH_ADDR) = (uint32_t)program;
    *word(ELEMENT + ELEMENT_FETCH_WORDS) = words;
    for (uint32_t at = FAR; ((status = *word(ELEMENT + ELEMENT_STATUS)) & (HALTED | ERROR)) == 0; at += LINE)
        (void)*word(at);
    return (status & ERROR) != 0;
}

__attribute__((used)) void start(void)
{
    wait_for_byte();
    wait_for_clocks();
    tohost = run() << 1 | 1u;
    for (;;)
        __asm__ volatile("wfi");
}

__attribute__((naked, section(".text.start"), used)) void _start(void)
{
    __asm__ volatile("la sp, 0x80008000\n j start");
}
