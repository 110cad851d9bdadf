/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping on the RISC-V core. */
#include "machine.h"

#define MSTATUS_MIE (1u << 3)

void cnnvp_machine_sleep(const struct cnnvp_machine *machine, const volatile uint32_t *seen, uint32_t last)
{
    (void)machine;
    /* wfi wakes on a pending interrupt even with interrupts off, so none is lost between the test and the wfi. */
    while (*seen == last) {
        __asm__ volatile("csrc mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
        if (*seen == last)
            __asm__ volatile("wfi" : : : "memory");
        __asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
    }
}
