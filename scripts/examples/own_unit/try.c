/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bare-metal program that uses the adder: 3 * (1 + ... + 10) = 165. Build and run:
 *     cnnvp check adder.yaml --header adder.h
 *     riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -Os -nostdlib -nostartfiles \
 *         -Wl,-n,--no-warn-rwx-segments -Ttext=0x80000000 try.c -o try.elf
 *     cnnvp exec try.elf -p adder.yaml --stats stats.json
 */
#include "adder.h"

volatile unsigned tohost __attribute__((section(".data"), aligned(64))) = 0;

__attribute__((naked, section(".text.start"), used)) void _start(void)
{
    __asm__ volatile("la sp, 0x80010000\n j run");
}

__attribute__((used)) void run(void)
{
    volatile unsigned *const adder = (volatile unsigned *)ADDER_BASE;
    for (unsigned i = 1; i <= 10; ++i)
        adder[ADDER_ADD_OFFSET / sizeof *adder] = i;
    tohost = adder[ADDER_SUM_OFFSET / sizeof *adder] == 165 ? 1 : 2 << 1 | 1;
    for (;;)
        __asm__ volatile("wfi");
}
