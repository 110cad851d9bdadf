/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine under the guest software: device registers, memory, sleeping until an interrupt, and the end of the run.
 * Only here does the RISC-V program differ from the native build and from cores with their own MMIO layer
 * (cnnvp_runtime.h; on RISC-V with -DCNNVP_MMIO). Everything above is the same source. Guest addresses are uint32_t
 * everywhere and become pointers only here.
 */
#ifndef CNNVP_GUEST_MACHINE_H
#define CNNVP_GUEST_MACHINE_H

#include <stdint.h>

#if defined(__riscv) && !defined(CNNVP_MMIO)

struct cnnvp_machine {
    uint32_t console; /* address of the UART, 0: none */
};

static inline uint32_t cnnvp_device_read(const struct cnnvp_machine *machine, uint32_t address)
{
    (void)machine;
    return *(volatile const uint32_t *)(uintptr_t)address;
}

static inline void cnnvp_device_write(const struct cnnvp_machine *machine, uint32_t address, uint32_t value)
{
    (void)machine;
    *(volatile uint32_t *)(uintptr_t)address = value;
}

static inline const void *cnnvp_memory(const struct cnnvp_machine *machine, uint32_t address)
{
    (void)machine;
    return (const void *)(uintptr_t)address;
}

/* One character to the terminal. Does not block. */
static inline void cnnvp_console(const struct cnnvp_machine *machine, char character)
{
    if (machine->console != 0)
        *(volatile uint8_t *)(uintptr_t)machine->console = (uint8_t)character;
}

/*
 * Sleeps until an interrupt has been handled (cnnvp_guest_interrupt has run) since *seen was last read as `last`;
 * returns at once if it has. Blocks; not for use in an interrupt handler.
 */
void cnnvp_machine_sleep(const struct cnnvp_machine *machine, const volatile uint32_t *seen, uint32_t last);

#else

struct cnnvp_machine {
    void *host;
    uint32_t (*read)(void *host, uint32_t address);
    void (*write)(void *host, uint32_t address, uint32_t value);
    const void *(*memory)(void *host, uint32_t address);
    void (*console)(void *host, char character);
    int (*sleep)(void *host); /* returns when something may have happened; 0: the simulation ends, stop waiting */
};

static inline uint32_t cnnvp_device_read(const struct cnnvp_machine *machine, uint32_t address)
{
    return machine->read(machine->host, address);
}

static inline void cnnvp_device_write(const struct cnnvp_machine *machine, uint32_t address, uint32_t value)
{
    machine->write(machine->host, address, value);
}

static inline const void *cnnvp_memory(const struct cnnvp_machine *machine, uint32_t address)
{
    return machine->memory(machine->host, address);
}

static inline void cnnvp_console(const struct cnnvp_machine *machine, char character)
{
    machine->console(machine->host, character);
}

static inline void cnnvp_machine_sleep(const struct cnnvp_machine *machine, const volatile uint32_t *seen,
                                       uint32_t last)
{
    while (*seen == last && machine->sleep(machine->host))
        continue;
}

#endif

#endif
