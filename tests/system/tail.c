/* SPDX-License-Identifier: Apache-2.0 */
/* Writes 4 KiB off chip in its first microseconds, then computes for a long time. */
#include <stdint.h>

__attribute__((section(".tohost"))) volatile uint64_t tohost;

void _start(void);

__attribute__((section(".text.start"), naked)) void _start(void)
{
    __asm__ volatile("li sp, 0x80004000\n"
                     "j tail\n");
}

__attribute__((used)) static void tail(void)
{
    volatile uint32_t *const far = (volatile uint32_t *)0x88000000u;
    for (uint32_t i = 0; i < 1024; ++i)
        far[i] = i;
    for (uint32_t i = 0; i < 100000; ++i)
        __asm__ volatile("nop");
    tohost = 1;
    for (;;)
        ;
}
