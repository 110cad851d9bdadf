/* SPDX-License-Identifier: Apache-2.0 */
/* The guest program on the RISC-V core: traps and main. Bare metal, no libc. */
#include "tasks.h"

#include <stddef.h>

#define UART_ADDRESS 0x10000000u
#define MACHINE_EXTERNAL_INTERRUPT 0x8000000bu
#define MIE_EXTERNAL (1u << 11)
#define MSTATUS_MIE (1u << 3)

/* Exit codes in addition to those of cnnvp_guest_run. */
enum guest_exit { EXIT_NO_IMAGE = 2, EXIT_TRAP = 3 };

extern volatile uint32_t tohost[2];
_Static_assert(sizeof(struct cnnvp_guest) <= CNNVP_CONTEXT_BYTES, "larger than its section in link.ld");
_Static_assert(sizeof(struct cnnvp_word) * CNNVP_COLLECTED_WORDS <= 256u * 1024u, "larger than its room in link.ld");

int cnnvp_guest_main(void);
void cnnvp_guest_trap(uint32_t cause, struct cnnvp_guest *guest, uint32_t epc, uint32_t tval);

/* The compiler may emit calls of these functions for struct copies, and there is no libc. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

/* Mostly structs of 32-bit words are copied, so whole words go first. */
void *memcpy(void *to, const void *from, size_t size)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0) {
        for (; size >= 4u; size -= 4u, t += 4, f += 4)
            *(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
    }
    for (; size != 0; --size)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t size)
{
    uint8_t *t = to;
    if (((uintptr_t)to & 3u) == 0) {
        const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101u;
        for (; size >= 16u; size -= 16u, t += 16) {
            uint32_t *words = (uint32_t *)(void *)t;
            words[0] = words[1] = words[2] = words[3] = word;
        }
        for (; size >= 4u; size -= 4u, t += 4)
            *(uint32_t *)(void *)t = word;
    }
    for (; size != 0; --size)
        *t++ = (uint8_t)value;
    return to;
}

static void print(const struct cnnvp_machine *machine, const char *text, uint32_t value)
{
    for (; *text != '\0'; ++text)
        cnnvp_console(machine, *text);
    for (int shift = 28; shift >= 0; shift -= 4)
        cnnvp_console(machine, "0123456789abcdef"[(value >> shift) & 15u]);
}

void cnnvp_guest_trap(uint32_t cause, struct cnnvp_guest *guest, uint32_t epc, uint32_t tval)
{
    if (cause == MACHINE_EXTERNAL_INTERRUPT) {
        cnnvp_guest_interrupt(guest);
        return;
    }
    const struct cnnvp_machine machine = {UART_ADDRESS};
    __asm__ volatile("csrw mtvec, zero"); /* another trap, in this handler, ends the run */
    print(&machine, "guest: unexpected trap, mcause 0x", cause);
    print(&machine, ", mepc 0x", epc);
    print(&machine, ", mtval 0x", tval);
    cnnvp_console(&machine, '\n');
    tohost[0] = (uint32_t)EXIT_TRAP << 1 | 1u;
    for (;;)
        __asm__ volatile("wfi");
}

int cnnvp_guest_main(void)
{
    const struct cnnvp_machine machine = {UART_ADDRESS};
    struct cnnvp_guest *guest = (struct cnnvp_guest *)(void *)guest_context;
    __asm__ volatile("csrw mscratch, %0" : : "r"(guest));
    if (cnnvp_guest_init(guest, &machine, guest_collected) != 0) {
        const int code = cnnvp_tasks_main(&machine);
        if (code >= 0)
            return code;
        print(&machine, "guest: no network binary at 0x", CNNVP_BINARY_ADDRESS);
        cnnvp_console(&machine, '\n');
        return EXIT_NO_IMAGE;
    }
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_EXTERNAL));
    __asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
    return cnnvp_guest_run(guest);
}
