/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest program around vector_conv.s: makes data, lets the instruction element read its program from memory, compares
 * the result with loops of its own. Exit code 0, or 1 + the number of the first word that differs, or 100 if the
 * element failed.
 */
#include <stdint.h>

#define ELEMENT 0x10010000u

enum element_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) ELEMENT_##name = offset,
#include "control/instruction/instruction.def"
};

enum { CHANNELS = 3, SIDE = 8, OUT = 6, SHIFT = 5 };

volatile uint32_t tohost __attribute__((section(".data"), aligned(64))) = 0;
extern const uint64_t program[];
extern const uint64_t program_end[];

__asm__(".section .rodata\n .balign 8\n .globl program\nprogram:\n .incbin \"" PROGRAM "\"\n .globl program_end\n"
        "program_end:\n .text\n");

static volatile uint32_t *element(enum element_register offset)
{
    return (volatile uint32_t *)(ELEMENT + (uint32_t)offset);
}

static int32_t expected(const int16_t *input, const int16_t *kernel, int y, int x)
{
    int32_t sum = 0;
    for (int c = 0; c < CHANNELS; ++c)
        for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx)
                sum += input[(c * SIDE + y + ky) * SIDE + x + kx] * kernel[(c * 3 + ky) * 3 + kx];
    return sum / (1 << SHIFT); /* C's division truncates toward zero, as the format asks */
}

static uint32_t run(void)
{
    int16_t *input = (int16_t *)0x80020000u;
    int16_t *kernel = (int16_t *)0x80021000u;
    const volatile int16_t *result = (const volatile int16_t *)0x80022000u;
    uint32_t random = 1;
    for (int i = 0; i < CHANNELS * SIDE * SIDE; ++i)
        input[i] = (int16_t)((int32_t)((random = random * 1664525u + 1013904223u) >> 23) - 256);
    for (int i = 0; i < CHANNELS * 9; ++i)
        kernel[i] = (int16_t)((int32_t)((random = random * 1664525u + 1013904223u) >> 25) - 64);
    *element(ELEMENT_CTRL) = 1;
    *element(ELEMENT_FETCH_ADDR) = (uint32_t)(uintptr_t)program;
    *element(ELEMENT_FETCH_WORDS) = (uint32_t)(program_end - program);
    uint32_t status;
    do
        status = *element(ELEMENT_STATUS);
    while ((status & 0x18u) == 0); /* halted or error */
    if ((status & 0x8u) != 0)
        return 100;
    for (int y = 0; y < OUT; ++y)
        for (int x = 0; x < OUT; ++x)
            if (result[y * OUT + x] != expected(input, kernel, y, x))
                return (uint32_t)(1 + y * OUT + x);
    return 0;
}

__attribute__((used)) void start(void)
{
    tohost = run() << 1 | 1u;
    for (;;)
        __asm__ volatile("wfi");
}

__attribute__((naked, section(".text.start"), used)) void _start(void)
{
    __asm__ volatile("la sp, 0x80080000\n j start");
}
