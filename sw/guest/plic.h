/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the interrupt controller (standard RISC-V layout, context 0). `plic` is the address of its registers. */
#ifndef CNNVP_GUEST_PLIC_H
#define CNNVP_GUEST_PLIC_H

#include "machine.h"

#define CNNVP_PLIC_PRIORITY(line) ((line)*4u)
#define CNNVP_PLIC_ENABLE 0x2000u
#define CNNVP_PLIC_THRESHOLD 0x200000u
#define CNNVP_PLIC_CLAIM 0x200004u

/* Enables a line from 1 to 31, in addition to those enabled before. */
static inline void cnnvp_plic_enable(const struct cnnvp_machine *machine, uint32_t plic, uint32_t line)
{
    const uint32_t enabled = cnnvp_device_read(machine, plic + CNNVP_PLIC_ENABLE);
    cnnvp_device_write(machine, plic + CNNVP_PLIC_PRIORITY(line), 1);
    cnnvp_device_write(machine, plic + CNNVP_PLIC_ENABLE, enabled | 1u << line);
    cnnvp_device_write(machine, plic + CNNVP_PLIC_THRESHOLD, 0);
}

/* Returns the line to serve; 0: none. Call cnnvp_plic_complete when its cause has been cleared. */
static inline uint32_t cnnvp_plic_claim(const struct cnnvp_machine *machine, uint32_t plic)
{
    return cnnvp_device_read(machine, plic + CNNVP_PLIC_CLAIM);
}

static inline void cnnvp_plic_complete(const struct cnnvp_machine *machine, uint32_t plic, uint32_t line)
{
    cnnvp_device_write(machine, plic + CNNVP_PLIC_CLAIM, line);
}

#endif
